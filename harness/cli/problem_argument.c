#include "harness/cli/problem_argument.h"

#include <string.h>
#include <unistd.h>

#include "base/util/log.h"
#include "base/util/text.h"
#include "harness/cli/placement_argument.h"
#include "solver/systems.h"

void kf_argument_tell_grid(const int nodes[3]) {
    static const double LARGE = 1e8, FIELD_BYTES = 16; /* density and velocity, single precision */
    const double count = (double)nodes[0] * nodes[1] * nodes[2];
    char fields[32], memory[32];
    if (count < LARGE) return;
    kf_human_bytes(FIELD_BYTES * count, fields);
    kf_human_bytes((double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), memory);
    kf_info("--grid %dx%dx%d: %.3g nodes, of which density and velocity alone are %s; this machine has %s. "
            "What lies "
            "on the grid is placed first, which may take minutes",
            nodes[0], nodes[1], nodes[2], count, fields, memory);
}

kf_status kf_argument_problem(const kf_arguments *arguments, const kf_command *command, const char *source,
                              const kf_problem_options *known, kf_problem **problem, kf_error *error) {
    kf_problem_options options = *known;
    *problem = NULL;
    KF_TRY(kf_argument_grid(arguments, "--grid", options.nodes, error));
    kf_argument_tell_grid(options.nodes);
    KF_TRY(kf_argument_number(arguments, "--samples-per-cell", KF_LEAST_SAMPLES_PER_CELL,
                              KF_MOST_SAMPLES_PER_CELL, &options.samples_per_cell, error));
    KF_TRY(kf_argument_accuracy(arguments, &options.accuracy, error));
    source = kf_argument(arguments, "--scene", source);
    if (source == NULL)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: option '--scene FILE|NAME' is missing; 'kftune list scenes' names the shipped ones",
            command->name);
    KF_TRY(kf_argument_placed(arguments, options.nodes, options.samples_per_cell, NULL, &source, error));
    return kf_problem_open(source, kf_argument(arguments, "--system", NULL), &options, problem, error);
}

void kf_problem_print_notes(const kf_problem *problem) {
    const char *line = problem->notes != NULL ? problem->notes : "";
    while (*line != '\0') {
        const size_t length = strcspn(line, "\n");
        if (length > 0) kf_info("scene: %.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}
