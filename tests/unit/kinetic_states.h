/* Compares states of kinetic plans, and makes configs that differ from the default in some values. */
#ifndef KF_TESTS_UNIT_KINETIC_STATES_H
#define KF_TESTS_UNIT_KINETIC_STATES_H

#include <stdlib.h>
#include <string.h>

#include "tests/unit/kinetic_variants.h"

static inline void set_values(kf_config *config, const char *const *values) {
    for (; *values != NULL; values++) {
        char name[32], *end;
        const char *value = strchr(*values, '=') + 1;
        (void)snprintf(name, sizeof name, "%.*s", (int)(value - *values - 1), *values);
        const long number = strtol(value, &end, 10);
        const bool staged = strcmp(name, "staged_nodes") == 0;
        if (staged && strcmp(kf_backend_device(backend)->backend, "cpu") != 0) continue; /* 0 there */
        if (staged && number == 0)
            kf_config_set_integer(config, "prefetch_rows", 0); /* of rows that are staged */
        if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
            kf_config_set_boolean(config, name, *value == 't');
        else if (*end == '\0')
            kf_config_set_integer(config, name, number);
        else
            kf_config_set_name(config, name, value);
    }
}

static inline void *save(kf_plan *plan, size_t *bytes) {
    kf_error error = {KF_OK, ""};
    must(plan->methods->state_size(plan, bytes, &error), &error);
    void *state = malloc(*bytes);
    assert_non_null(state);
    must(plan->methods->save(plan, state, &error), &error);
    must(kf_plan_check_buffers(plan, &error), &error);
    return state;
}

static inline void assert_same_state(kf_plan *plan, kf_plan *other) {
    size_t bytes, other_bytes;
    void *state = save(plan, &bytes), *other_state = save(other, &other_bytes);
    assert_int_equal(bytes, other_bytes);
    assert_memory_equal(state, other_state, bytes);
    free(state);
    free(other_state);
}

/* Checks that both plans have the same state after this number of steps, bit for bit, and frees them. */
static inline void assert_same_run(kf_plan *plan, kf_plan *other, uint64_t steps) {
    advance(plan, steps);
    advance(other, steps);
    assert_same_state(plan, other);
    kf_plan_free(plan);
    kf_plan_free(other);
}

/* Returns the device's default config of the scene with these values. */
static inline kf_config default_with(const kf_scene *scene, const char *const *values) {
    kf_error error = {KF_OK, ""};
    kf_config config;
    kf_space *space = open_space_of(scene, false, NULL, 0);
    must(kf_space_preset(space, "default", &config, &error), &error);
    kf_space_free(space);
    set_values(&config, values);
    const char *streaming = "";
    must(kf_config_name(&config, "streaming", &streaming, &error), &error);
    static const char *const of_two_grids[] = {"alternate",        "masked_band",         "overlap",
                                               "concurrent_solid", "boundary_rows_apart", "band_chain"};
    for (int i = 0; i < 6 && strcmp(streaming, "two_grids") != 0; i++) /* what a GPU's default has there */
        kf_config_set_boolean(&config, of_two_grids[i], false);
    return config;
}

/* Opens a plan with the preset `default`, as the space has it. */
static inline kf_plan *open_default(const kf_scene *scene) {
    kf_config config;
    kf_space *space = open_space(scene);
    take_preset(space, "default", &config);
    kf_space_free(space);
    return open_plan(scene, &config);
}

#endif
