/* The command kftune demo tunes a shipped scene on the cpu and runs it, as a user would with two commands. */
#include <stdio.h>
#include <string.h>

#include "base/util/file.h"
#include "harness/cli/command.h"
#include "harness/cli/run_duration.h"

extern const kf_command kf_command_demo, kf_command_tune, kf_command_run;

enum { MOST_WORDS = 16 };

/* Prints a command as a user would type it, and runs it. */
static kf_status type(const kf_command *command, int count, const char *const *words, kf_error *error) {
    char *typed[MOST_WORDS];
    kf_arguments arguments;
    printf("$ kftune %s", command->name);
    for (int i = 0; i < count; i++) {
        typed[i] = (char *)words[i]; /* main's argv is not const either; nothing writes to it */
        printf(" %s", words[i]);
    }
    printf("\n\n");
    (void)fflush(stdout);
    KF_TRY(kf_arguments_parse(command, count, typed, &arguments, error));
    KF_TRY(command->run(&arguments, error));
    printf("\n");
    return KF_OK;
}

/* Runs kftune demo: the commands tune and run, with their own folder, store and config. */
static kf_status run(const kf_arguments *arguments, kf_error *error) {
    if (kf_arguments_json(arguments))
        return kf_fail(error, KF_BAD_INPUT,
                       "demo: has no --json; 'kftune tune' and 'kftune run' print theirs");
    long steps = 0; /* A wrong option must be refused before tuning spends minutes. */
    KF_TRY(kf_run_steps(arguments, &steps, error));
    char folder[KF_PATH], store[KF_PATH], config[KF_PATH], output[KF_PATH];
    KF_TRY(kf_path(folder, error, "%s", kf_argument(arguments, "--output", "kftune-demo")));
    KF_TRY(kf_path(store, error, "%s/kftune.db", folder));
    KF_TRY(kf_path(config, error, "%s/ahmed.kftune.json", folder));
    KF_TRY(kf_path(output, error, "%s/run", folder));
    KF_TRY(kf_make_folders(folder, error));
    KF_TRY(kf_folder_is_own(folder, true, "give a folder of your own with --output", error));
    const char *device = kf_argument(arguments, "--device", "cpu");
    const char *tune[] = {"--scene",  "ahmed",
                          "--device", device,
                          "--grid",   kf_argument(arguments, "--grid", "96x48x48"),
                          "--budget", kf_argument(arguments, "--budget", "90s"),
                          "--store",  store,
                          "--out",    config};
    const char *run[] = {"--config", config, "--steps", kf_argument(arguments, "--steps", "200"),
                         "--output", output, "--force"};
    KF_TRY(type(&kf_command_tune, sizeof tune / sizeof *tune, tune, error));
    KF_TRY(type(&kf_command_run, sizeof run / sizeof *run, run, error));
    printf("config:        %s\nflow:          %s\nmore:          kftune plot kernels --store %s --out "
           "kernels.svg\n",
           config, output, store);
    return KF_OK;
}

static const kf_option options[] = {
    {"--output", "DIR", "folder to write into (default: kftune-demo)", KF_TEXT},
    {"--device", "cuda:N|cpu", "where to run (default: cpu)", KF_TEXT},
    {"--grid", "NXxNYxNZ", "nodes of the domain (default: 96x48x48)", KF_CHECKED(kf_value_grid)},
    {"--budget", "60s|500evals|20s-device", "what tuning may cost (default: 90s)",
     KF_CHECKED(kf_value_budget)},
    {"--steps", "N", "time steps of the run (default: 200)", KF_WHOLE(1, KF_MOST_STEPS)},
    {NULL, NULL, NULL, KF_FLAG},
};

const kf_command kf_command_demo = {
    .name = "demo",
    .summary = "tune a shipped scene on the cpu and run it, in less than five minutes",
    .synopsis = "kftune demo [options]",
    .description = "Tunes the Ahmed body, a car's simplest shape, and runs 200 steps with the best config "
                   "found. Prints\n"
                   "the two commands that do so, and where the pictures are.",
    .example = "kftune demo --budget 30s",
    .options = options,
    .run = run,
};
