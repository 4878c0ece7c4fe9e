#include "harness/cli/problem_argument.h"

#include <string.h>

#include "base/backend/team/team.h"
#include "base/util/log.h"
#include "harness/cli/placement_argument.h"
#include "solver/systems.h"

kf_status kf_argument_problem(const kf_arguments *arguments, const kf_command *command, const char *source,
                              const char *system, const kf_problem_options *known, kf_problem **problem,
                              kf_error *error) {
    kf_problem_options options = *known;
    *problem = NULL;
    KF_TRY(kf_argument_grid(arguments, "--grid", options.nodes, error));
    KF_TRY(kf_argument_number(arguments, "--samples-per-cell", &options.samples_per_cell, error));
    KF_TRY(kf_argument_accuracy(arguments, &options.accuracy, error));
    source = kf_argument(arguments, "--scene", source);
    if (source == NULL)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: option '--scene FILE|NAME' is missing; 'kftune list scenes' names the shipped ones",
            command->name);
    KF_TRY(kf_argument_placed(arguments, options.nodes, options.samples_per_cell, NULL, &source, error));
    return kf_problem_open(source, kf_argument(arguments, "--system", system), &options, problem, error);
}

static double memory_of_devices(const void *spec) {
    return kf_device_memory(spec);
}

void kf_argument_memory(const kf_arguments *arguments, const char *fallback, kf_problem_options *options) {
    options->memory = memory_of_devices;
    options->memory_context = kf_argument_device(arguments, fallback);
}

void kf_problem_print_notes(const kf_problem *problem) {
    const char *line = problem->notes.length > 0 ? problem->notes.text : "";
    while (*line != '\0') {
        const size_t length = strcspn(line, "\n");
        if (length > 0) kf_info("scene: %.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}
