#include "harness/validate/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/clock.h"
#include "base/util/log.h"
#include "base/util/text.h"
#include "scene/scene.h"
#include "solver/compare/comparisons.h"

/* --- Cases --------------------------------------------------------------------------------------------- */

static kf_status check_names(const kf_validate_options *options, const kf_case *const *list, int count,
                             kf_error *error) {
    const char *names[KF_MOST_CASES];
    for (int i = 0; i < count; i++)
        names[i] = list[i]->name;
    for (int wanted = 0; wanted < options->case_count; wanted++) {
        bool known = false;
        for (int i = 0; i < count; i++)
            known = known || strcmp(names[i], options->cases[wanted]) == 0;
        if (known) continue;
        const char *nearest = kf_nearest(options->cases[wanted], names, count);
        return kf_fail(error, KF_BAD_INPUT,
                       "--case %s: no such case%s%s%s; 'kftune validate --list' names them",
                       options->cases[wanted], nearest ? " (did you mean " : "", nearest ? nearest : "",
                       nearest ? "?)" : "");
    }
    return KF_OK;
}

/* Returns whether a case runs. A case that is named runs even if --quick leaves it out. */
static bool is_wanted(const kf_validate_options *options, const kf_case *one) {
    if (options->case_count == 0) return !(options->quick && one->slow);
    for (int i = 0; i < options->case_count; i++)
        if (strcmp(options->cases[i], one->name) == 0) return true;
    return false;
}

/* Appends a case's name to a list in a text of 512 bytes, the first one with its reason. */
static void note(char list[512], const char *name, const kf_error *error) {
    size_t length = strlen(list);
    if (length == 0)
        (void)snprintf(list, 512, "%s (%.300s)", name, error->message);
    else
        (void)snprintf(list + length, 512 - length, ", %s", name);
}

static kf_status run_case(kf_validation *validation, const kf_validate_options *options, const kf_case *one,
                          kf_validate_result *result, kf_error *error) {
    double begin = kf_clock_seconds();
    int first = validation->check_count;
    validation->case_name = one->name;
    if (options->accuracy > 0)
        validation->accuracy = options->accuracy;
    else
        validation->accuracy = one->accuracy > 0 ? one->accuracy : KF_DEFAULT_ACCURACY;
    kf_progress(false, "%s: %s", one->name, one->summary);
    kf_error problem = {KF_OK, ""};
    kf_status status = one->run(validation, &problem);
    int failed = 0;
    for (int i = first; i < validation->check_count; i++)
        failed += !validation->checks[i].pass;
    result->cases_run++;
    result->checks_failed += failed;
    kf_progress(true, "%-22s %5.1f s   %d of %d checks pass%s%s", one->name, kf_clock_seconds() - begin,
                validation->check_count - first - failed, validation->check_count - first,
                status == KF_OK ? "" : "   ", status == KF_OK ? "" : problem.message);
    if (status == KF_OK) return KF_OK;
    if (status == KF_BAD_INPUT && options->fixed_count > 0) {
        note(result->refused, one->name, &problem);
        result->cases_refused++;
        return KF_OK;
    }
    if (status == KF_MACHINE || status == KF_GATE_FAILED || status == KF_INTERRUPTED) {
        note(result->unfinished, one->name, &problem);
        result->interrupted = status == KF_INTERRUPTED;
        return KF_OK;
    }
    return kf_fail(error, status, "%s: %s", one->name, problem.message);
}

kf_status kf_validate(kf_backend *backend, const kf_validate_options *options, kf_validate_result *result,
                      kf_error *error) {
    const kf_case *list[KF_MOST_CASES];
    const int count = kf_cases_of_all(list);
    memset(result, 0, sizeof *result);
    KF_TRY(check_names(options, list, count, error));
    kf_validation validation = {.backend = backend,
                                .quick = options->quick,
                                .gpu = kf_device_is_gpu(kf_backend_device(backend)),
                                .pictures = options->pictures,
                                .interrupted = options->interrupted,
                                .fixed = options->fixed,
                                .fixed_count = options->fixed_count};
    kf_status status = KF_OK;
    for (int i = 0; i < count && status == KF_OK && !result->interrupted; i++)
        if (is_wanted(options, list[i])) status = run_case(&validation, options, list[i], result, error);
    if (status == KF_OK && result->cases_refused > 0 && result->cases_refused == result->cases_run)
        status = kf_fail(error, KF_BAD_INPUT, "%s", result->refused);
    result->checks = validation.checks;
    result->check_count = validation.check_count;
    if (status != KF_OK) kf_validate_free(result);
    return status;
}

void kf_validate_free(kf_validate_result *result) {
    free(result->checks);
    memset(result, 0, sizeof *result);
}
