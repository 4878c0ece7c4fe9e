/* Reads any words, one per line, as the command line of any command. They are read or refused, and each
 * value is read as every kind of value that there is. No command runs. */
#include "tests/fuzz/fuzz_file.h"

#include "base/backend/backend.h"
#include "base/backend/team/team.h"
#include "harness/cli/command.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/run_duration.h"
#include "harness/cli/run_pictures.h"
#include "harness/cli/run_probes.h"
#include "solver/systems.h"

enum { MOST_WORDS = 64 };

/* Calls each reader of a single option, for every option that is given. */
static void read_values(const kf_arguments *arguments) {
    for (int i = 0; i < arguments->option_count; i++) {
        const char *name = arguments->options[i].name;
        kf_error error = {KF_OK, ""};
        long integer = 0;
        double number = 0.0;
        int nodes[3] = {0};
        kf_budget budget = {0};
        if (arguments->given[i].count == 0) continue;
        fuzz_check(kf_argument_integer(arguments, name, &integer, &error), &error);
        fuzz_check(kf_argument_number(arguments, name, &number, &error), &error);
        fuzz_check(kf_argument_grid(arguments, name, nodes, &error), &error);
        fuzz_check(kf_argument_budget(arguments, name, &budget, &error), &error);
        fuzz_check(kf_argument_share(arguments, name, 0.0, 1.0, &number, &error), &error);
    }
}

/* Calls readers of several options of a command that runs a flow. */
static void read_run(const kf_arguments *arguments, const kf_problem *problem) {
    kf_error error = {KF_OK, ""};
    kf_production_options how = {.steps = 1000, .record_every = 10};
    kf_run_probes probes = {.count = 0};
    long steps = 1000;
    fuzz_check(kf_run_duration(arguments, problem, &steps, &how, &error), &error);
    fuzz_check(kf_run_pictures(arguments, kf_run_scene(problem), &how, &error), &error);
    fuzz_check(kf_run_probes_read(arguments, problem, NULL, &probes, &how, &error), &error);
    kf_run_probes_free(&probes);
}

static void read_all(const kf_arguments *arguments, const kf_problem *problem) {
    kf_error error = {KF_OK, ""};
    kf_placement placement;
    kf_user_metrics metrics = {0};
    double accuracy = 0.0;
    read_values(arguments);
    fuzz_check(kf_argument_placement(arguments, &placement, &error), &error);
    fuzz_check(kf_argument_accuracy(arguments, &accuracy, &error), &error);
    fuzz_check(kf_argument_metrics(arguments, &metrics, &error), &error);
    kf_user_metrics_free(&metrics);
    fuzz_check(kf_device_check(kf_argument_device(arguments, NULL), NULL, &error), &error);
    if (kf_argument_given(arguments, "--picture") || kf_argument_given(arguments, "--steps") ||
        kf_argument_given(arguments, "--probe"))
        read_run(arguments, problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static kf_problem *problem;
    static int commands;
    kf_error error = {KF_OK, ""};
    if (problem == NULL) {
        const kf_problem_options options = {.nodes = {24, 16, 16}, .samples_per_cell = 1.0};
        if (kf_problem_open("ball", "kinetic", &options, &problem, &error) != KF_OK) abort();
        while (kf_commands[commands] != NULL)
            commands++;
    }
    if (size < 2) return 0;
    char *text = malloc(size), *words[MOST_WORDS], *at = text;
    int count = 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    for (char *word; count < MOST_WORDS && (word = strsep(&at, "\n")) != NULL;)
        words[count++] = word;
    kf_arguments *arguments = malloc(sizeof *arguments);
    const kf_status status =
        kf_arguments_parse(kf_commands[data[0] % commands], count, words, arguments, &error);
    fuzz_check(status, &error);
    if (status == KF_OK) read_all(arguments, problem);
    free(arguments);
    free(text);
    return 0;
}
