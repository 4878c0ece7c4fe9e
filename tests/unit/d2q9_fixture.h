/* Compares configs of d2q9 with its reference. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#ifndef KF_TESTS_UNIT_D2Q9_FIXTURE_H
#define KF_TESTS_UNIT_D2Q9_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "solver/d2q9/d2q9_cases.h"
#include "solver/d2q9/reference.h"
#include "tests/unit/config_changes.h"
#include "tests/unit/plan_fixture.h"
#include "tests/unit/problem_fixture.h"

static const kf_system *const d2q9 = &kf_system_d2q9;

static inline kf_space *open_space(const kf_scene *scene) {
    kf_error error = {0};
    kf_variables variables;
    kf_space *space;
    d2q9->variables(problem_of(d2q9, scene), kf_backend_device(backend), &variables);
    must(kf_space_open(d2q9->name, d2q9->space_file, &variables, NULL, 0, &space, &error), &error);
    return space;
}

static inline kf_plan *open_plan(const kf_scene *scene, const kf_config *config) {
    return open_plan_of(d2q9, scene, config);
}

/* Returns the default config with changes such as "plan=push storage=f64". It must be in the space. */
static inline kf_config configure(const kf_space *space, const char *changes) {
    kf_error error = {0};
    kf_config config;
    must(kf_space_preset(space, "default", &config, &error), &error);
    kf_config_set_boolean(&config, "folded_boundary", false);
    kf_config_set_boolean(&config, "overlap", false);
    kf_config_set_boolean(&config, "alternate", false);
    kf_config_set_integer(&config, "threads", 64);
    change_config_within(space, &config, changes);
    return config;
}

/* Verifies every config of the space, except those that only divide the work in other ways. Each takes the
 * compiler's time, so this is for a GPU and for nights: KFTUNE_TEST_ALL=1. */
static inline void verify_all(const kf_scene *scene, const kf_space *space, const kf_reference *reference,
                              int steps) {
    for (uint64_t i = 0; i < kf_space_size(space); i++) {
        kf_config config;
        kf_space_config(space, i, &config);
        long alpha = integer_of(&config, "alpha"), threads = integer_of(&config, "threads");
        long rows = integer_of(&config, "tile_rows");
        if ((alpha == 1 || alpha == 32) && threads == 64 && (rows == 0 || rows == 32) &&
            integer_of(&config, "resident_blocks") == 0)
            (void)verify_config(d2q9, scene, &config, reference, steps);
    }
}

static inline void verify_configs(const kf_scene *scene, int steps, const char *const *changes) {
    kf_error error = {0};
    kf_reference *reference;
    kf_space *space = open_space(scene);
    must(d2q9->reference(problem_of(d2q9, scene), steps, &reference, &error), &error);
    for (; *changes != NULL; changes++) {
        kf_config config = configure(space, *changes);
        (void)verify_config(d2q9, scene, &config, reference, steps);
    }
    if (getenv("KFTUNE_TEST_ALL") != NULL) verify_all(scene, space, reference, steps);
    d2q9->free_reference(reference);
    kf_space_free(space);
}

#define SOA "layout=soa alpha=1 "

/* Compares boundaries folded into the kernel that pulls with those of the kernel `boundary`, with a moving
 * lid, periodic faces and solid nodes. The results agree but for rounding, and bit for bit if every second
 * step runs backwards. The variant is a GPU's, but is right on the cpu, too. */
static inline void compare_folded(const kf_scene *scene, const char *changes) {
    kf_error error = {0};
    kf_space *space = open_space(scene);
    kf_config config = configure(space, changes);
    enum { APART, FOLDED, ALTERNATE, WAYS };
    double *values[WAYS];
    for (int way = 0; way < WAYS; way++) {
        kf_config_set_boolean(&config, "folded_boundary", way != APART);
        kf_config_set_boolean(&config, "alternate", way == ALTERNATE);
        kf_plan *plan = open_plan(scene, &config);
        must(kf_plan_initialise(plan, &error), &error);
        must(kf_plan_advance(plan, 17, &error), &error);
        must(kf_plan_check_buffers(plan, &error), &error);
        must(kf_d2q9_read(plan, &values[way], &error), &error);
        kf_plan_free(plan);
    }
    const size_t count = 3 * (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(values[APART][i]));
    assert_true(largest > 1e-4);
    for (size_t i = 0; i < count; i++)
        assert_true(fabs(values[APART][i] - values[FOLDED][i]) <= 1e-6 * largest);
    assert_memory_equal(values[FOLDED], values[ALTERNATE], count * sizeof(double));
    for (int way = 0; way < WAYS; way++)
        free(values[way]);
    kf_space_free(space);
}

#endif
