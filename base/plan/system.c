#include "base/plan/system.h"

kf_status kf_problem_space(const kf_problem *problem, const kf_device_info *device, const char *const *fixed,
                           int fixed_count, kf_space **space, kf_error *error) {
    const kf_system *system = problem->system;
    kf_variables variables = {0};
    system->variables(problem, device, &variables);
    return kf_space_open(system->name, system->space_file, &variables, fixed, fixed_count, space, error);
}
