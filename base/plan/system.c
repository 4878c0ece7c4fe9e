#include "base/plan/system.h"

kf_status kf_problem_space(const kf_problem *problem, const kf_device_info *device, const char *const *fixed,
                           int fixed_count, kf_space **space, kf_error *error) {
    const kf_system *system = problem->system;
    kf_variables variables = {0};
    system->variables(problem, device, &variables);
    return kf_space_open(system->name, system->space_file, &variables, fixed, fixed_count, space, error);
}

kf_status kf_problem_check_config(const kf_problem *problem, const kf_device_info *device,
                                  const kf_config *config, kf_error *error) {
    kf_space *space = NULL;
    KF_TRY(kf_problem_space(problem, device, NULL, 0, &space, error));
    char why[256];
    uint64_t index;
    const bool inside = kf_space_index(space, config, &index, why, sizeof why);
    kf_space_free(space);
    return inside ? KF_OK : kf_fail(error, KF_BAD_INPUT, "config: %s", why);
}
