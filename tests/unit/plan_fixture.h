/* Opens plans on one device for all tests of a program: KFTUNE_TEST_DEVICE, or else the cpu. Buffers begin
 * as NAN and have guards on both sides (kf_backend_suspect). */
#ifndef KF_TESTS_UNIT_PLAN_FIXTURE_H
#define KF_TESTS_UNIT_PLAN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/backend/team/team.h"
#include "base/plan/system.h"
#include "base/space/space.h"
#include "scene/scene.h"
#include "tests/unit/check.h"
#include "tests/unit/problem_fixture.h"
#include "tests/unit/quick_compiler.h"

static kf_backend *backend;

static inline int open_device_or(const char *cpu) {
    kf_error error = {KF_OK, ""};
    const char *device = getenv("KFTUNE_TEST_DEVICE");
    if (kf_backend_open(device ? device : cpu, &backend, &error) != KF_OK) {
        (void)fprintf(stderr, "%s\n", error.message);
        return -1;
    }
    kf_backend_suspect(backend, true);
    return 0;
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
/* Open the backend in the same way for tests of many variants. */
static inline int open_backend_for_variants(void **state) {
    return take_quick_compiler(state) != 0 ? -1 : open_backend_on_one_core(state);
}
static inline int open_backend_for_variants_on_all_cores(void **state) {
    return take_quick_compiler(state) != 0 ? -1 : open_backend(state);
}
static inline int close_backend(void **state) {
    (void)state;
    kf_backend_close(backend);
    return 0;
}
/* A setup of a test that needs all cores where the group has one. On small grids threads on different
 * cores wait for each other for a sixth of the time and more. */
static inline int go_on_with_all_cores(void **state) {
    return close_backend(state) != 0 ? -1 : open_backend_for_variants_on_all_cores(state);
}

static inline kf_scene *open_shipped_scene(const char *name, long nodes) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    const kf_scene_options options = {.node_limit = nodes};
    must(kf_scene_open(name, &options, &scene, &error), &error);
    return scene;
}

static inline kf_plan *open_plan_of(const kf_system *system, const kf_scene *scene, const kf_config *config) {
    kf_error error = {KF_OK, ""};
    kf_plan *plan;
    must(system->plan(problem_of(system, scene), config, backend, &plan, &error), &error);
    must(kf_plan_initialise(plan, &error), &error);
    return plan;
}

static inline void advance(kf_plan *plan, uint64_t steps) {
    kf_error error = {KF_OK, ""};
    must(kf_plan_advance(plan, steps, &error), &error);
    must(kf_backend_synchronize(backend, &error), &error);
}

/* Checks that this many steps of the config agree with the reference and stay inside of their buffers.
 * Returns the error. */
static inline double verify_config(const kf_system *system, const kf_scene *scene, const kf_config *config,
                                   const kf_reference *reference, int steps) {
    kf_error error = {KF_OK, ""};
    kf_verification verification;
    kf_plan *plan = open_plan_of(system, scene, config);
    advance(plan, (uint64_t)steps);
    kf_status status = system->verify(plan, reference, &verification, &error);
    if (status == KF_OK) status = kf_plan_check_buffers(plan, &error);
    char *summary = kf_config_summary(config);
    if (status != KF_OK) fail_msg("%s: %s", summary, error.message);
    free(summary);
    kf_plan_free(plan);
    return verification.error;
}

static inline long integer_of(const kf_config *config, const char *parameter) {
    long value = 0;
    kf_error error = {KF_OK, ""};
    must(kf_config_integer(config, parameter, &value, &error), &error);
    return value;
}

#endif
