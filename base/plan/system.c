#include "base/plan/system.h"

#include <stdio.h>
#include <string.h>

void kf_add_device_variables(kf_variables *variables, const kf_device_info *device) {
    kf_add_variable(variables, "multiprocessors", device->multiprocessors);
    kf_add_variable(variables, "simd_width", device->warp_size);
    kf_add_variable(variables, "memory_bytes", (double)device->memory_bytes);
}

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

static bool counts_nodes(const kf_system *system) {
    return strcmp(system->update, "node") == 0;
}

char *kf_rate_text(const kf_system *system, double updates_per_second, char buffer[KF_RATE_TEXT]) {
    if (counts_nodes(system))
        (void)snprintf(buffer, KF_RATE_TEXT, "%.1f MLUPS", 1e-6 * updates_per_second);
    else
        (void)snprintf(buffer, KF_RATE_TEXT, "%.1f M %ss/s", 1e-6 * updates_per_second, system->update);
    return buffer;
}

void kf_rate_add(cJSON *object, const kf_system *system, double updates_per_second) {
    (void)cJSON_AddNumberToObject(object, "updates_per_second", updates_per_second);
    (void)cJSON_AddStringToObject(object, "update", system->update);
    if (counts_nodes(system)) (void)cJSON_AddNumberToObject(object, "mlups", 1e-6 * updates_per_second);
}
