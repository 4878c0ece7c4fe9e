/* Opens plans of the kinetic system (plan_fixture.h). */
#ifndef KF_TESTS_UNIT_KINETIC_FIXTURE_H
#define KF_TESTS_UNIT_KINETIC_FIXTURE_H

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic.h"
#include "tests/unit/config_pairs.h"
#include "tests/unit/plan_fixture.h"
#include "tests/unit/problem_fixture.h"

static const kf_system *const kinetic_system = &kf_system_kinetic;

/* Opens the space for the device, or for a GPU. Variants that pay only on a GPU are right on the cpu, too. */
static inline kf_space *open_space_of(const kf_scene *scene, bool gpu, const char *const *fixed, int count) {
    kf_error error = {KF_OK, ""};
    kf_variables variables;
    kf_space *space;
    kinetic_system->variables(problem_of(kinetic_system, scene), kf_backend_device(backend), &variables);
    for (int v = 0; v < variables.count; v++)
        if (gpu && strcmp(variables.values[v].name, "gpu") == 0) variables.values[v].value = 1;
    must(kf_space_open(kinetic_system->name, kinetic_system->space_file, &variables, fixed, count, &space,
                       &error),
         &error);
    return space;
}

static inline kf_space *open_space_with_gpu(const kf_scene *scene, const char *const *fixed, int count) {
    return open_space_of(scene, true, fixed, count);
}

static inline kf_plan *open_plan(const kf_scene *scene, const kf_config *config) {
    return open_plan_of(kinetic_system, scene, config);
}

/* Verifies configs of the space that a filter wants, after this number of steps, and frees the space. It
 * takes enough of them to have every pair of values that the wanted ones have, or every value if the pairs
 * were verified with another scene (config_pairs.h). Each call begins with another config. Returns how
 * many it verified. */
typedef bool (*config_filter)(const kf_scene *scene, const kf_config *config);
static inline int verify_configs(const kf_scene *scene, kf_space *space, int steps, config_filter wanted,
                                 bool pairs) {
    static size_t calls;
    kf_error error = {KF_OK, ""};
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), steps, &reference, &error), &error);
    kf_config config, *configs = NULL;
    size_t count = 0, first = 7 * calls++;
    for (uint64_t index = 0; index < kf_space_size(space); index++) {
        kf_space_config(space, index, &config);
        if (!wanted(scene, &config)) continue;
        configs = kf_reallocate(configs, (count + 1) * sizeof *configs);
        configs[count++] = config;
    }
    if (configs == NULL) fail_msg("no config of the space is wanted");
    first %= count;
    config = configs[0];
    configs[0] = configs[first];
    configs[first] = config;
    const size_t kept = keep_values(configs, count, values_alone || !pairs);
    for (size_t c = 0; c < kept; c++)
        (void)verify_config(kinetic_system, scene, &configs[c], reference, steps);
    print_message("%zu of %zu configs verified\n", kept, count);
    free(configs);
    kf_space_free(space);
    kinetic_system->free_reference(reference);
    return (int)kept;
}

/* Returns a plan's state after its steps, as a checkpoint stores it. The caller frees it. */
static inline void *state_of(kf_plan *plan, size_t *bytes) {
    kf_error error = {KF_OK, ""};
    must(plan->methods->state_size(plan, bytes, &error), &error);
    void *state = kf_allocate(*bytes);
    must(plan->methods->save(plan, state, &error), &error);
    return state;
}

/* Checks that a run of three steps that is saved, opened again and continued ends in the bits of a run of
 * four steps, also if fields were read before it was saved. */
static inline void assert_goes_on(const kf_scene *scene, const kf_config *config) {
    kf_error error = {KF_OK, ""};
    size_t bytes;
    kf_fields fields = {.density = NULL};
    kf_plan *whole = open_plan(scene, config), *parts = open_plan(scene, config);
    advance(whole, 4);
    advance(parts, 3);
    must(parts->methods->flow->fields(parts, &fields, &error), &error);
    kf_fields_free(&fields);
    void *middle = state_of(parts, &bytes);
    kf_plan_free(parts);
    parts = open_plan(scene, config);
    must(parts->methods->restore(parts, middle, 3, &error), &error);
    advance(parts, 1);
    void *one = state_of(whole, &bytes), *other = state_of(parts, &bytes);
    assert_memory_equal(one, other, bytes);
    free(middle), free(one), free(other);
    kf_plan_free(whole);
    kf_plan_free(parts);
}

#endif
