/* The config that a case runs with. */
#include <string.h>

#include "base/space/space_nearest.h"
#include "solver/validation/validation.h"

enum { MOST_FIXED = 32 };

/* Returns the length of the parameter's name in "name=value". */
static size_t name_length(const char *fixed) {
    const char *equals = strchr(fixed, '=');
    return equals != NULL ? (size_t)(equals - fixed) : strlen(fixed);
}

static bool names_same(const char *left, const char *right) {
    size_t length = name_length(left);
    return length == name_length(right) && strncmp(left, right, length) == 0;
}

/* Collects the case's overrides and the user's. The user's override of the same parameter replaces that of
 * the case. */
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

kf_status kf_validation_configure(const kf_validation *validation, const kf_problem *problem,
                                  const char *const *overrides, kf_config *config, kf_error *error) {
    const char *fixed[MOST_FIXED];
    int count = gather_fixed(validation, overrides, fixed);
    kf_space *space;
    KF_TRY(kf_problem_space(problem, kf_backend_device(validation->backend), fixed, count, &space, error));
    kf_status status = kf_space_nearest(space, config, error);
    kf_space_free(space);
    return status;
}
