/* The command kftune bench runs one suite and prints its figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/plan/problem.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/bench/bench.h"
#include "harness/cli/command.h"
#include "harness/worker/device_lock.h"

static kf_status bench(const kf_bench_suite *suite, const kf_bench_options *options, bool json,
                       kf_figures *figures, kf_error *error) {
    kf_device_info device = {.parts = 1};
    kf_device_locks locks;
    KF_TRY(kf_devices_lock(options->device, &locks, error));
    const kf_status status = suite->run(suite, options, &device, figures, error);
    kf_devices_unlock(&locks);
    const bool interrupted =
        status == KF_INTERRUPTED &&
        figures->count > 0; /* An interrupted suite keeps the figures that it has measured. */
    if (status != KF_OK && !interrupted) return status;
    if (json)
        kf_json_print(kf_figures_to_json(suite, &device, figures));
    else
        kf_figures_print(suite, &device, figures);
    int failed = 0, known = 0;
    for (int i = 0; i < figures->count; i++) {
        failed += figures->list[i].failed;
        known += isfinite(figures->list[i].value) != 0;
    }
    if (interrupted)
        return kf_fail(error, KF_INTERRUPTED, "suite %s: interrupted after %d figures", suite->name, known);
    if (failed == 0) return KF_OK;
    return kf_fail(error, KF_GATE_FAILED, "suite %s: %d figures break the promise: %s", suite->name, failed,
                   suite->promise);
}

/* Runs kftune bench: reads the options, opens the suite, runs it and frees what it made. Only the suite
 * scaling takes a team of devices. */
static kf_status run(const kf_arguments *arguments, kf_error *error) {
    kf_bench_suite suite;
    kf_bench_options options = {.device = kf_argument_device(arguments, NULL)};
    kf_figures figures = {0};
    KF_TRY(kf_argument_grid(arguments, "--grid", options.nodes, error));
    KF_TRY(kf_argument_number(arguments, "--samples-per-cell", &options.samples_per_cell, error));
    options.figure_count = kf_argument_all(arguments, "--figure", &options.figures);
    KF_TRY(kf_bench_suite_open(kf_argument(arguments, "--suite", NULL), &suite, error));
    if (kf_argument_given(arguments, "--devices") && strcmp(suite.name, "scaling") != 0) {
        const kf_status refused =
            kf_fail(error, KF_BAD_INPUT, "--suite %s: runs on one device; --devices is for the suite scaling",
                    suite.name);
        kf_bench_suite_free(&suite);
        return refused;
    }
    const kf_status status = bench(&suite, &options, kf_arguments_json(arguments), &figures, error);
    kf_figures_free(&figures);
    kf_bench_suite_free(&suite);
    return status;
}

static const kf_option options[] = {
    {"--suite", "NAME|FILE",
     "the comparison to run: a shipped suite, or a file of this format (docs/suites.md)", KF_TEXT},
    {"--device", "cuda:N|cpu", "where to run it; the best there is if not given", KF_TEXT},
    {"--devices", "cuda:0-3|cpu,cpu", "the team of the suite scaling", KF_TEXT},
    {"--grid", "NXxNY[xNZ]", "nodes of the suite's own scene, if it has one (step)",
     KF_CHECKED(kf_value_grid)},
    {"--samples-per-cell", "R", "samples for each cell^2 of surface",
     KF_DECIMAL(KF_LEAST_SAMPLES_PER_CELL, KF_MOST_SAMPLES_PER_CELL)},
    {"--figure", "NAME", "measure only this figure, and the timings that it needs", KF_TEXTS},
    {NULL, NULL, NULL, KF_FLAG},
};

const kf_command kf_command_bench = {
    .name = "bench",
    .summary = "run a fixed comparison on this machine",
    .synopsis = "kftune bench --suite NAME [--device cuda:N|cpu] [--grid NXxNY[xNZ]] [--samples-per-cell R] "
                "[--figure NAME]... [--json]",
    .description =
        "Runs one suite of fixed comparisons. Prints for every figure its value and spread, the best\n"
        "value that can be expected (floor), and the share of it that was reached. A suite that follows a\n"
        "paper also has the paper's value; some figures have a required value. Exit status 1: a config\n"
        "failed the gate, or a figure missed a promised value. Suites:",
    .describe = kf_bench_suites_print,
    .example = "kftune bench --suite step --device cpu --figure memcpy",
    .options = options,
    .positional = NULL,
    .run = run,
};
