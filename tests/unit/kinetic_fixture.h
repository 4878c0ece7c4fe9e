/* The kinetic system on one device for all tests of a program: KFTUNE_TEST_DEVICE, else the cpu. */
#ifndef KF_TESTS_UNIT_KINETIC_FIXTURE_H
#define KF_TESTS_UNIT_KINETIC_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/search/space.h"
#include "solver/system.h"

static kf_backend *backend;
static const kf_system *kinetic_system;

static inline void must(kf_status status, const kf_error *error) {
    if (status != KF_OK) fail_msg("%s", error->message);
}

static inline int open_device_or(const char *cpu) {
    kf_error error = {KF_OK, ""};
    const char *device = getenv("KFTUNE_TEST_DEVICE");
    if (kf_system_find("kinetic", &kinetic_system, &error) != KF_OK) return -1;
    if (kf_backend_open(device ? device : cpu, &backend, &error) == KF_OK) return 0;
    (void)fprintf(stderr, "%s\n", error.message);
    return -1;
}

/* Group setups and their teardown. */
static inline int open_backend(void **state) {
    (void)state;
    return open_device_or("cpu");
}
static inline int open_backend_on_one_core(void **state) {
    (void)state;
    return open_device_or("cpu:1");
}
static inline int close_backend(void **state) {
    (void)state;
    kf_backend_close(backend);
    return 0;
}

/* With the variants that only pay on a GPU: they are right on the cpu too. */
static inline kf_space *open_space_with_gpu(const kf_scene *scene, const char *const *fixed, int count) {
    kf_error error = {KF_OK, ""};
    kf_variables variables;
    kf_space *space;
    kinetic_system->variables(scene, kf_backend_device(backend), &variables);
    for (int v = 0; v < variables.count; v++)
        if (strcmp(variables.values[v].name, "gpu") == 0) variables.values[v].value = 1;
    must(kf_space_open(kinetic_system, &variables, fixed, count, &space, &error), &error);
    return space;
}

static inline kf_plan *open_plan(const kf_scene *scene, const kf_config *config) {
    kf_error error = {KF_OK, ""};
    kf_plan *plan;
    must(kinetic_system->plan(scene, config, backend, &plan, &error), &error);
    must(kf_plan_initialise(plan, &error), &error);
    return plan;
}

static inline void advance(kf_plan *plan, uint64_t steps) {
    kf_error error = {KF_OK, ""};
    must(kf_plan_advance(plan, steps, &error), &error);
    must(kf_backend_synchronize(backend, &error), &error);
}

static inline long integer_of(const kf_config *config, const char *parameter) {
    long value = 0;
    kf_error error = {KF_OK, ""};
    must(kf_config_integer(config, parameter, &value, &error), &error);
    return value;
}

#endif
