/* The command kftune validate compares the physics with analytic and published results. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/backend/device_json.h"
#include "base/backend/team/team.h"
#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/validate/validate.h"
#include "scene/scene.h"
#include "solver/compare/comparisons.h"

/* Prints the device and all checks with their bounds as one JSON object, together with what was refused or
 * not finished. */
static void print_json(const kf_device_info *device, const kf_validate_result *result, bool quick) {
    cJSON *root = kf_json_answer("validate");
    cJSON_AddItemToObject(root, "device", kf_device_to_json(device));
    cJSON_AddBoolToObject(root, "quick", quick);
    if (result->unfinished[0] != '\0') cJSON_AddStringToObject(root, "unfinished", result->unfinished);
    if (result->refused[0] != '\0') cJSON_AddStringToObject(root, "refused", result->refused);
    cJSON *list = cJSON_AddArrayToObject(root, "cases");
    for (int i = 0; i < result->check_count; i++) {
        const kf_check *check = &result->checks[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "name", check->name);
        cJSON_AddStringToObject(object, "quantity", check->quantity);
        kf_json_add_number(object, "expected", check->expected);
        cJSON_AddStringToObject(object, "source", check->source);
        kf_json_add_number(object, "measured", check->measured);
        kf_json_add_number(object, "error", check->error);
        kf_json_add_number(object, "bound", check->bound);
        cJSON_AddBoolToObject(object, "pass", check->pass);
        cJSON_AddItemToArray(list, object);
    }
    kf_json_print(root);
}

/* Prints all checks as a table, then each source of the expected values once. */
static void print_table(const kf_device_info *device, const kf_validate_result *result) {
    printf("validation on %s (%s)\n", device->spec, device->name);
    printf("%-20s %-58s %11s %11s %9s %9s\n", "case", "quantity", "expected", "measured", "error", "bound");
    for (int i = 0; i < result->check_count; i++) {
        const kf_check *check = &result->checks[i];
        printf("%-20s %-58s %11.6g %11.6g %9.2g %9.2g%s\n", check->name, check->quantity, check->expected,
               check->measured, check->error, check->bound, check->pass ? "" : "  FAILED");
    }
    printf("expected values:\n");
    for (int i = 0; i < result->check_count; i++) {
        const kf_check *check = &result->checks[i];
        if (i == 0 || strcmp(check->source, check[-1].source) != 0 ||
            strcmp(check->name, check[-1].name) != 0)
            printf("  %-20s %s\n", check->name, check->source);
    }
}

static kf_status report(const kf_arguments *arguments, const kf_device_info *device,
                        const kf_validate_result *result, kf_error *error) {
    if (kf_arguments_json(arguments))
        print_json(device, result, kf_argument_given(arguments, "--quick"));
    else
        print_table(device, result);
    if (result->interrupted)
        return kf_fail(error, KF_INTERRUPTED, "stopped in %s: checks from there on are missing",
                       result->unfinished);
    if (result->checks_failed > 0)
        return kf_fail(error, KF_GATE_FAILED, "%d of %d checks are out of their bounds",
                       result->checks_failed, result->check_count);
    if (result->unfinished[0] != '\0')
        return kf_fail(error, KF_MACHINE, "not run to the end: %s", result->unfinished);
    if (result->refused[0] != '\0')
        return kf_fail(error, KF_GATE_FAILED, "refused by the gate: %s", result->refused);
    return KF_OK;
}

/* Validates on the backend as the options say, and prints the result. Pictures go into their own folder. */
static kf_status validate(const kf_arguments *arguments, kf_backend *backend, kf_error *error) {
    kf_validate_options options = {.quick = kf_argument_given(arguments, "--quick"),
                                   .pictures = kf_argument(arguments, "--pictures", NULL),
                                   .interrupted = &kf_interrupted};
    options.case_count = kf_argument_all(arguments, "--case", &options.cases);
    options.fixed_count = kf_argument_all(arguments, "--fix", &options.fixed);
    if (options.pictures != NULL) {
        KF_TRY(kf_make_folders(options.pictures, error));
        KF_TRY(kf_folder_is_own(options.pictures, true, "give a folder of your own with --pictures", error));
    }
    KF_TRY(kf_argument_number(arguments, "--accuracy", &options.accuracy, error));
    kf_validate_result result;
    KF_TRY(kf_validate(backend, &options, &result, error));
    kf_status status = report(arguments, kf_backend_device(backend), &result, error);
    kf_validate_free(&result);
    return status;
}

/* Lists the cases of all systems, as text or JSON, and marks those that --quick leaves out. */
static void list_cases(bool as_json) {
    cJSON *root = kf_json_answer("validate"), *cases = cJSON_AddArrayToObject(root, "cases");
    const kf_case *list[KF_MOST_CASES];
    const int count = kf_cases_of_all(list);
    for (int i = 0; i < count; i++) {
        const kf_case *one = list[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "name", one->name);
        cJSON_AddStringToObject(item, "summary", one->summary);
        cJSON_AddBoolToObject(item, "quick", !one->slow);
        cJSON_AddItemToArray(cases, item);
        if (!as_json) printf("%-22s %s%s\n", one->name, one->summary, one->slow ? " (not with --quick)" : "");
    }
    if (as_json)
        kf_json_print(root);
    else
        cJSON_Delete(root);
}

static kf_status run(const kf_arguments *arguments, kf_error *error) {
    kf_backend *backend = NULL;
    if (kf_argument_given(arguments, "--list")) {
        list_cases(kf_arguments_json(arguments));
        return KF_OK;
    }
    KF_TRY(kf_backend_open(kf_argument(arguments, "--device", NULL), &backend, error));
    const kf_status status = validate(arguments, backend, error);
    kf_backend_close(backend);
    return status;
}

static const kf_option options_of_validate[] = {
    {"--case", "NAME", "one case; without it, all", KF_TEXTS},
    {"--quick", NULL, "small grids only: a few minutes on two cores", KF_FLAG},
    {"--device", "cuda:N|cpu", "device to run on; the best there is if not given", KF_TEXT},
    {"--fix", "KEY=VALUE", "a parameter of the space, instead of its default", KF_ALL_CHECKED(kf_value_pair)},
    {"--accuracy", "A",
     "relative error that storage may add, in all cases; 0.1 allows f16 everywhere (default: each case's "
     "own)",
     KF_DECIMAL(KF_DEFAULT_ACCURACY, 0.1)},
    {"--pictures", "DIR", "write pictures of the flows into this folder", KF_TEXT},
    {"--list", NULL, "list the cases and run nothing", KF_FLAG},
    {NULL, NULL, NULL, KF_FLAG},
};

const kf_command kf_command_validate = {
    .name = "validate",
    .summary = "check the physics against analytic and published results",
    .synopsis = "kftune validate [--case NAME]... [--quick] [options]",
    .description =
        "Runs flows whose solution is known, with ordinary plans (preset default, changed by --fix), and\n"
        "compares the results. Exit status 1: a check exceeds its bound. --list names the cases.",
    .example = "kftune validate --quick",
    .options = options_of_validate,
    .run = run,
};
