#include "base/plan/system.h"

#include <stdio.h>
#include <string.h>

#include "base/util/log.h"

void kf_add_device_variables(kf_variables *variables, const kf_device_info *device) {
    kf_add_variable(variables, "multiprocessors", device->multiprocessors);
    kf_add_variable(variables, "simd_width", device->warp_size);
    kf_add_variable(variables, "memory_bytes", (double)device->memory_bytes);
    kf_add_variable(variables, "cache_bytes", (double)device->l2_bytes);
}

kf_status kf_problem_space(const kf_problem *problem, const kf_device_info *device, const char *const *fixed,
                           int fixed_count, kf_space **space, kf_error *error) {
    const kf_system *system = problem->system;
    kf_variables variables = {0};
    system->variables(problem, device, &variables);
    return kf_space_open(system->name, system->space_file, &variables, fixed, fixed_count, space, error);
}

static kf_status check_config(const kf_space *space, kf_config *config, kf_error *error) {
    char why[256];
    uint64_t index;
    kf_text notes = {0};
    const kf_status status = kf_space_update(space, config, &notes, error);
    if (notes.text != NULL) kf_info("config: %s", notes.text);
    kf_text_free(&notes);
    if (status != KF_OK) return kf_fail_context(error, "config");
    if (kf_space_index(space, config, &index, why, sizeof why)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "config: %s", why);
}

kf_status kf_problem_check_config(const kf_problem *problem, const kf_device_info *device, kf_config *config,
                                  kf_error *error) {
    kf_space *space = NULL;
    KF_TRY(kf_problem_space(problem, device, NULL, 0, &space, error));
    const kf_status status = check_config(space, config, error);
    kf_space_free(space);
    return status;
}

kf_status kf_system_check_team(const kf_system *system, const kf_device_info *device, kf_error *error) {
    if (device->parts <= 1 || system->teams) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: the system %s runs on one device: use --device", device->spec,
                   system->name);
}

static bool counts_nodes(const char *update) {
    return strcmp(update, "node") == 0;
}

char *kf_rate_unit(const char *update, char buffer[KF_RATE_TEXT]) {
    (void)snprintf(buffer, KF_RATE_TEXT, counts_nodes(update) ? "MLUPS" : "M %ss/s", update);
    return buffer;
}

char *kf_rate_text(const char *update, double updates_per_second, char buffer[KF_RATE_TEXT]) {
    char unit[KF_RATE_TEXT];
    (void)snprintf(buffer, KF_RATE_TEXT, "%.1f %.50s", 1e-6 * updates_per_second, kf_rate_unit(update, unit));
    return buffer;
}

void kf_rate_add(cJSON *object, const char *update, double updates_per_second) {
    (void)cJSON_AddNumberToObject(object, "updates_per_second", updates_per_second);
    (void)cJSON_AddStringToObject(object, "update", update);
    if (counts_nodes(update)) (void)cJSON_AddNumberToObject(object, "mlups", 1e-6 * updates_per_second);
}
