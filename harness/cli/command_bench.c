/* kftune bench: runs one suite and prints its figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/backend/device_json.h"
#include "harness/bench/bench.h"
#include "harness/cli/command.h"
#include "harness/util/text.h"

enum { MOST_SUITES = 32 };

static int suite_names(const char *names[MOST_SUITES]) {
    int count = 0;
    while (count < MOST_SUITES && kf_suites[count] != NULL) {
        names[count] = kf_suites[count]->name;
        count++;
    }
    return count;
}

static kf_status find_suite(const char *name, const kf_suite **suite, kf_error *error) {
    const char *names[MOST_SUITES];
    const int count = suite_names(names);
    kf_text list = {0};
    for (int i = 0; i < count; i++) {
        if (name != NULL && strcmp(names[i], name) == 0) {
            *suite = kf_suites[i];
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

/* --- output ------------------------------------------------------------------------------------------- */

static void add_number(cJSON *object, const char *key, double value) {
    if (isfinite(value))
        cJSON_AddNumberToObject(object, key, value);
    else
        cJSON_AddNullToObject(object, key);
}

static kf_status print_json(const kf_suite *suite, const kf_device_info *device, const kf_figures *figures,
                            kf_error *error) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "kftune", KF_VERSION);
    cJSON_AddStringToObject(root, "command", "bench");
    cJSON_AddItemToObject(root, "device", kf_device_to_json(device));
    cJSON_AddStringToObject(root, "suite", suite->name);
    cJSON *list = cJSON_AddArrayToObject(root, "figures");
    for (int i = 0; i < figures->count; i++) {
        const kf_figure *figure = &figures->list[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "name", figure->name);
        add_number(object, "value", figure->value);
        cJSON_AddStringToObject(object, "unit", figure->unit);
        add_number(object, "spread", figure->spread);
        add_number(object, "floor", figure->floor);
        add_number(object, "share", figure->share);
        cJSON_AddItemToArray(list, object);
    }
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (text == NULL) return kf_fail(error, KF_MACHINE, "out of memory while writing JSON");
    puts(text);
    free(text);
    return KF_OK;
}

static void print_table(const kf_suite *suite, const kf_device_info *device, const kf_figures *figures) {
    printf("suite %s on %s (%s): %s\n", suite->name, device->spec, device->name, suite->summary);
    printf("%-38s %12s %8s %12s %7s\n", "figure", "value", "spread", "floor", "share");
    for (int i = 0; i < figures->count; i++) {
        const kf_figure *figure = &figures->list[i];
        char floor_text[32] = "-", share_text[32] = "-";
        if (isfinite(figure->floor))
            snprintf(floor_text, sizeof floor_text, "%.4g %s", figure->floor, figure->unit);
        if (isfinite(figure->share)) snprintf(share_text, sizeof share_text, "%.0f %%", 100 * figure->share);
        printf("%-38s %9.4g %-3s %6.1f %% %12s %7s%s\n", figure->name, figure->value, figure->unit,
               100 * figure->spread, floor_text, share_text, figure->failed ? "  FAILED" : "");
    }
}

static kf_status bench(const kf_suite *suite, kf_backend *backend, const kf_arguments *arguments,
                       kf_error *error) {
    kf_figures figures = {0};
    kf_status status = suite->run(backend, &figures, error);
    int failed = 0;
    for (int i = 0; i < figures.count; i++)
        failed += figures.list[i].failed;
    if (status == KF_OK && kf_arguments_json(arguments))
        status = print_json(suite, kf_backend_device(backend), &figures, error);
    else if (status == KF_OK)
        print_table(suite, kf_backend_device(backend), &figures);
    free(figures.list);
    if (status == KF_OK && failed > 0)
        status = kf_fail(error, KF_GATE_FAILED, "suite %s: %d figures break the promise: %s", suite->name,
                         failed, suite->promise);
    return status;
}

static kf_status run(const kf_arguments *arguments, kf_error *error) {
    const kf_suite *suite = NULL;
    kf_backend *backend = NULL;
    KF_TRY(find_suite(kf_argument(arguments, "--suite", NULL), &suite, error));
    KF_TRY(kf_backend_open(kf_argument(arguments, "--device", NULL), &backend, error));
    const kf_status status = bench(suite, backend, arguments, error);
    kf_backend_close(backend);
    return status;
}

static const kf_option options[] = {
    {"--suite", "NAME", "the comparison to run: backend", false},
    {"--device", "cuda:N|cpu", "where to run it; the best there is if not given", false},
    {NULL, NULL, NULL, false},
};

const kf_command kf_command_bench = {
    .name = "bench",
    .summary = "run a fixed comparison on this machine",
    .synopsis = "kftune bench --suite NAME [--device cuda:N|cpu] [--json]",
    .description =
        "Runs one suite of fixed comparisons and prints, for every figure, its value, the spread of that\n"
        "value, the best that could be expected (floor) and the share of it that was reached. Suites:\n"
        "  backend  kernels written once against hand-written C loops (cpu; must be within twice their\n"
        "           time, else status 1) or against the memory's nominal bandwidth (cuda)\n"
        "  search   every search strategy on stored landscapes, against random search and what the default\n"
        "           strategy must reach; needs no device's time",
    .example = "kftune bench --suite backend --device cpu",
    .options = options,
    .positional = NULL,
    .run = run,
};
