#include "harness/validate/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/space/space.h"
#include "base/util/clock.h"
#include "base/util/log.h"
#include "base/util/text.h"
#include "scene/scene.h"

/* --- configs ------------------------------------------------------------------------------------------- */

enum { MOST_FIXED = 32 };

/* The parameter's name in "name=value". */
static size_t name_length(const char *fixed) {
    const char *equals = strchr(fixed, '=');
    return equals != NULL ? (size_t)(equals - fixed) : strlen(fixed);
}

static bool names_same(const char *left, const char *right) {
    size_t length = name_length(left);
    return length == name_length(right) && strncmp(left, right, length) == 0;
}

/* The case's overrides, unless the user fixed the same parameter, and the user's. */
static int gather_fixed(const kf_validation *validation, const char *const *overrides,
                        const char *fixed[MOST_FIXED]) {
    int count = 0;
    for (int i = 0; overrides != NULL && overrides[i] != NULL && count < MOST_FIXED; i++) {
        bool replaced = false;
        for (int j = 0; j < validation->fixed_count; j++)
            replaced = replaced || names_same(overrides[i], validation->fixed[j]);
        if (!replaced) fixed[count++] = overrides[i];
    }
    for (int j = 0; j < validation->fixed_count && count < MOST_FIXED; j++)
        fixed[count++] = validation->fixed[j];
    return count;
}

/* Positions of a config's values in the space; of a value that is not there, the first. */
static void find_positions(const kf_space *space, const kf_config *config, int *positions) {
    for (int p = 0; p < kf_space_parameter_count(space); p++) {
        positions[p] = 0;
        for (int i = 0; i < kf_space_domain_size(space, p); i++) {
            kf_value value;
            kf_space_value(space, p, i, &value);
            for (int v = 0; v < config->count; v++)
                if (strcmp(config->values[v].parameter, value.parameter) == 0 &&
                    config->values[v].integer == value.integer &&
                    strcmp(config->values[v].name, value.name) == 0)
                    positions[p] = i;
        }
    }
}

/* Changes exactly so many of the values from parameter `first` on until the constraints are kept. */
static bool change_values(const kf_space *space, int *positions, int first, int changes, uint64_t *index) {
    if (changes == 0) return kf_space_positions_index(space, positions, index);
    for (int p = first; p < kf_space_parameter_count(space); p++) {
        const int wanted = positions[p];
        for (int i = 0; i < kf_space_domain_size(space, p); i++) {
            if (i == wanted) continue;
            positions[p] = i;
            if (change_values(space, positions, p + 1, changes - 1, index)) return true;
        }
        positions[p] = wanted;
    }
    return false;
}

/* The config of the space that differs from the preset in the fewest values. Spaces are too large to look at
 * every one. */
static kf_status choose_config(const kf_space *space, kf_config *config, kf_error *error) {
    enum { MOST_CHANGES = 6 };
    kf_config preset;
    uint64_t index;
    int positions[KF_CONFIG_VALUES] = {0};
    KF_TRY(kf_space_preset(space, "default", &preset, error));
    if (kf_space_size(space) == 0)
        return kf_fail(error, KF_BAD_INPUT, "--fix: the space has no config with these values");
    find_positions(space, &preset, positions);
    for (int changes = 0; changes <= MOST_CHANGES; changes++)
        if (change_values(space, positions, 0, changes, &index)) {
            kf_space_config(space, index, config);
            return KF_OK;
        }
    return kf_fail(
        error, KF_BAD_INPUT,
        "--fix: with these values more than %d others would have to differ from the preset: fix them too",
        MOST_CHANGES);
}

kf_status kf_validate_configure(const kf_validation *validation, const kf_problem *problem,
                                const char *const *overrides, kf_config *config, kf_error *error) {
    const char *fixed[MOST_FIXED];
    int count = gather_fixed(validation, overrides, fixed);
    kf_space *space;
    KF_TRY(kf_problem_space(problem, kf_backend_device(validation->backend), fixed, count, &space, error));
    kf_status status = choose_config(space, config, error);
    kf_space_free(space);
    return status;
}

/* --- cases --------------------------------------------------------------------------------------------- */

enum { MOST_CASES = 128 };

static int list_cases(const kf_case *list[MOST_CASES]) {
    int count = 0;
    for (const kf_case *const *table = kf_case_tables; *table != NULL; table++)
        for (const kf_case *one = *table; one->name != NULL && count < MOST_CASES; one++)
            list[count++] = one;
    return count;
}

static kf_status check_names(const kf_validate_options *options, const kf_case *const *list, int count,
                             kf_error *error) {
    const char *names[MOST_CASES];
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

/* Cases asked for by name run also where --quick would leave them out. */
static bool is_wanted(const kf_validate_options *options, const kf_case *one) {
    if (options->case_count == 0) return !(options->quick && one->slow);
    for (int i = 0; i < options->case_count; i++)
        if (strcmp(options->cases[i], one->name) == 0) return true;
    return false;
}

/* Appends a case's name to a list in a text of 512 bytes, the first with its reason. */
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
    if (status == KF_MACHINE || status == KF_GATE_FAILED) {
        note(result->unfinished, one->name, &problem);
        return KF_OK;
    }
    return kf_fail(error, status, "%s: %s", one->name, problem.message);
}

kf_status kf_validate(kf_backend *backend, const kf_validate_options *options, kf_validate_result *result,
                      kf_error *error) {
    const kf_case *list[MOST_CASES];
    const int count = list_cases(list);
    memset(result, 0, sizeof *result);
    KF_TRY(check_names(options, list, count, error));
    kf_validation validation = {.backend = backend,
                                .quick = options->quick,
                                .gpu = strcmp(kf_backend_device(backend)->backend, "cuda") == 0,
                                .pictures = options->pictures,
                                .interrupted = options->interrupted,
                                .configure = kf_validate_configure,
                                .fixed = options->fixed,
                                .fixed_count = options->fixed_count};
    kf_status status = KF_OK;
    for (int i = 0; i < count && status == KF_OK; i++)
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
