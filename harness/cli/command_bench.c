/* kftune bench: runs one suite and prints its figures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/plan/problem.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/bench/bench.h"
#include "harness/cli/command.h"

enum { MOST_SUITES = 32 };

static int suite_names(const char *names[MOST_SUITES]) {
    int count = 0;
    while (count < MOST_SUITES && kf_bench_suites[count] != NULL) {
        names[count] = kf_bench_suites[count]->name;
        count++;
    }
    return count;
}

static kf_status find_suite(const char *name, const kf_bench_suite **suite, kf_error *error) {
    const char *names[MOST_SUITES];
    const int count = suite_names(names);
    kf_text list = {0};
    for (int i = 0; i < count; i++) {
        if (name != NULL && strcmp(names[i], name) == 0) {
            *suite = kf_bench_suites[i];
            kf_text_free(&list);
            return KF_OK;
        }
        kf_text_append(&list, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    const char *nearest = name != NULL ? kf_nearest(name, names, count) : NULL;
    const kf_status status =
        name == NULL
            ? kf_fail(error, KF_BAD_INPUT, "which suite? give --suite NAME; there are: %s", list.text)
        : nearest != NULL
            ? kf_fail(error, KF_BAD_INPUT, "--suite %s: no such suite; did you mean %s?", name, nearest)
            : kf_fail(error, KF_BAD_INPUT, "--suite %s: no such suite; there are: %s", name, list.text);
    kf_text_free(&list);
    return status;
}

/* --- running ------------------------------------------------------------------------------------------ */

static kf_status run_open(const kf_bench_suite *suite, const kf_bench_options *options,
                          kf_device_info *device, kf_figures *figures, kf_error *error) {
    kf_backend *backend = NULL;
    if (options->nodes[0] > 0 || options->samples_per_cell > 0 || options->figure_count > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "--suite %s: --grid, --samples-per-cell and --figure belong to the suite step",
                       suite->name);
    KF_TRY(kf_backend_open(options->device, &backend, error));
    *device = *kf_backend_device(backend);
    const kf_status status = suite->run(backend, figures, error);
    kf_backend_close(backend);
    return status;
}

static kf_status bench(const kf_bench_suite *suite, const kf_bench_options *options, bool json,
                       kf_figures *figures, kf_error *error) {
    kf_device_info device;
    KF_TRY((suite->run != NULL ? run_open(suite, options, &device, figures, error)
                               : suite->run_apart(options, &device, figures, error)));
    if (json)
        kf_json_print(kf_figures_to_json(suite, &device, figures));
    else
        kf_figures_print(suite, &device, figures);
    int failed = 0;
    for (int i = 0; i < figures->count; i++)
        failed += figures->list[i].failed;
    if (failed == 0) return KF_OK;
    return kf_fail(error, KF_GATE_FAILED, "suite %s: %d figures break the promise: %s", suite->name, failed,
                   suite->promise);
}

static kf_status run(const kf_arguments *arguments, kf_error *error) {
    const kf_bench_suite *suite = NULL;
    kf_bench_options options = {.device = kf_argument(arguments, "--device", NULL)};
    kf_figures figures = {0};
    KF_TRY(find_suite(kf_argument(arguments, "--suite", NULL), &suite, error));
    KF_TRY(kf_argument_grid(arguments, "--grid", options.nodes, error));
    KF_TRY(kf_argument_number(arguments, "--samples-per-cell", KF_LEAST_SAMPLES_PER_CELL,
                              KF_MOST_SAMPLES_PER_CELL, &options.samples_per_cell, error));
    options.figure_count = kf_argument_all(arguments, "--figure", &options.figures);
    const kf_status status = bench(suite, &options, kf_arguments_json(arguments), &figures, error);
    kf_figures_free(&figures);
    return status;
}

static void print_suites(void) {
    for (int i = 0; kf_bench_suites[i] != NULL; i++)
        printf("  %-10s%s\n", kf_bench_suites[i]->name, kf_bench_suites[i]->summary);
}

static const kf_option options[] = {
    {"--suite", "NAME", "the comparison to run", false},
    {"--device", "cuda:N|cpu", "where to run it; the best there is if not given", false},
    {"--grid", "NXxNYxNZ", "nodes of the suite step's scene; 400x400x400 on a GPU, 128x128x128 on the cpu",
     false},
    {"--samples-per-cell", "R", "samples for each cell^2 of its solid; 107 on a GPU, 25 on the cpu", false},
    {"--figure", "NAME", "only this figure of the suite step, and what it needs", true},
    {NULL, NULL, NULL, false},
};

const kf_command kf_command_bench = {
    .name = "bench",
    .summary = "run a fixed comparison on this machine",
    .synopsis = "kftune bench --suite NAME [--device cuda:N|cpu] [--grid NXxNYxNZ] [--samples-per-cell R] "
                "[--figure NAME]... [--json]",
    .description =
        "Runs one suite of fixed comparisons and prints, for every figure, its value, the spread of that\n"
        "value, the best that could be expected (floor) and the share of it that was reached; where the "
        "suite\n"
        "follows a paper, its value; and where something must be reached, whether it was. Status 1 when a\n"
        "config fails the gate or a promise is broken. Suites:",
    .describe = print_suites,
    .example = "kftune bench --suite step --device cpu --figure memcpy",
    .options = options,
    .positional = NULL,
    .run = run,
};
