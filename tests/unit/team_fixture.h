/* Configs and states of plans for tests of teams of devices. */
#ifndef KF_TESTS_UNIT_TEAM_FIXTURE_H
#define KF_TESTS_UNIT_TEAM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/backend/cpu/queue.h"
#include "base/plan/plan.h"
#include "tests/unit/check.h"
#include "tests/unit/problem_fixture.h"

/* Returns the default config of the system's space with these parameters: "plan=fused", ..., up to NULL.
 * The space is a GPU's, since what pays only there is right here, too. */
static inline kf_config config_of(const kf_system *system, const kf_scene *scene, const kf_backend *backend,
                                  const char *const *fixed) {
    kf_error error = {KF_OK, ""};
    kf_variables variables = {0};
    kf_space *space;
    kf_config config;
    int count = 0;
    while (fixed[count] != NULL)
        count++;
    system->variables(problem_of(system, scene), kf_backend_device(backend), &variables);
    for (int v = 0; v < variables.count; v++)
        if (strcmp(variables.values[v].name, "gpu") == 0) variables.values[v].value = 1;
    must(kf_space_open(system->name, system->space_file, &variables, fixed, count, &space, &error), &error);
    assert_true(kf_space_size(space) > 0);
    kf_space_config(space, 0, &config);
    kf_space_free(space);
    return config;
}

/* Copies the state when all that the plan was given is done. The caller frees *state. */
static inline void take_state(kf_plan *plan, void **state, size_t *bytes) {
    kf_error error = {KF_OK, ""};
    must(kf_backend_synchronize(plan->backend, &error), &error);
    must(plan->methods->state_size(plan, bytes, &error), &error);
    *state = malloc(*bytes);
    must(plan->methods->save(plan, *state, &error), &error);
}

/* A teardown for tests that shuffle streams, so that the next tests have theirs in order even if one
 * fails. */
static inline int in_order_again(void **state) {
    (void)state;
    kf_cpu_shuffle(0, -1);
    return 0;
}

#endif
