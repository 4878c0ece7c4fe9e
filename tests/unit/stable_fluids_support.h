/* Opens plans of the stable fluids system. */
#ifndef KF_TESTS_STABLE_FLUIDS_SUPPORT_H
#define KF_TESTS_STABLE_FLUIDS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/backend/fft.h"
#include "base/util/text.h"
#include "solver/stable_fluids/stable_fluids.h"
#include "tests/unit/config_changes.h"
#include "tests/unit/plan_fixture.h"

/* Makes a config from "key=value key=value" and values that fit any small grid. */
static inline void test_config(kf_config *config, const char *changes) {
    static const struct {
        const char *name, *text;
        long number;
        int kind; /* 0 name, 1 integer, 2 boolean */
    } base[] = {{"plan", "fused", 0, 0},
                {"fft", "own", 0, 0},
                {"storage_velocity", "f32", 0, 0},
                {"storage_spectrum", "f32", 0, 0},
                {"twiddles", "table", 0, 0},
                {"points_rows", "", 8, 1},
                {"points_columns", "", 8, 1},
                {"points_inverse", "", 8, 1},
                {"rows_per_block", "", 4, 1},
                {"columns_per_block", "", 4, 1},
                {"component_per_thread", "", 0, 2},
                {"tile_columns", "", 0, 1},
                {"pad", "", 0, 1},
                {"exchange_buffers", "", 1, 1},
                {"resident_rows", "", 0, 1},
                {"resident_columns", "", 0, 1},
                {"block_x", "", 64, 1},
                {"block_y", "", 4, 1},
                {"steps_per_launch", "", 1, 1},
                {"ahead_rows", "", 0, 1},
                {"ahead_columns", "", 0, 1},
                {"graph", "", 0, 2},
                {"overlap", "", 0, 2}};
    memset(config, 0, sizeof *config);
    kf_copy_text(config->system, sizeof config->system, "stable_fluids");
    for (size_t i = 0; i < sizeof base / sizeof *base; i++) {
        if (base[i].kind == 0) kf_config_set_name(config, base[i].name, base[i].text);
        if (base[i].kind == 1) kf_config_set_integer(config, base[i].name, base[i].number);
        if (base[i].kind == 2) kf_config_set_boolean(config, base[i].name, base[i].number != 0);
    }
    change_config(config, changes);
}

static inline kf_fluid *box(int nx, int ny, int nz) {
    const int cells[3] = {nx, ny, nz};
    kf_fluid *f = kf_fluid_make(nz > 1 ? 3 : 2, cells);
    f->viscosity = 0.01;
    f->start = KF_START_RANDOM;
    f->start_amplitude = 1.5;
    f->start_velocity[0] = 0.4;
    return f;
}

/* Runs the config for some steps and compares it with the reference. It frees the fluid. */
static inline void holds(kf_fluid *fluid, const char *changes, int steps) {
    kf_error error = {KF_OK, ""};
    kf_problem problem = {.own = fluid, .system = &kf_system_stable_fluids};
    kf_config config;
    kf_plan *plan = NULL;
    kf_reference *reference = NULL;
    kf_verification v;
    kf_fluid_finish(fluid);
    test_config(&config, changes);
    kf_status status = kf_fluid_make_plan(&problem, &config, backend, &plan, &error);
    if (status == KF_OK) status = kf_plan_initialise(plan, &error);
    if (status == KF_OK) status = kf_plan_advance(plan, (uint64_t)steps, &error);
    if (status == KF_OK) status = kf_fluid_reference(&problem, steps, &reference, &error);
    if (status == KF_OK) status = kf_fluid_verify(plan, reference, &v, &error);
    if (status == KF_OK) status = kf_plan_check_buffers(plan, &error);
    if (status != KF_OK) print_error("%s: %s\n", changes, error.message);
    assert_int_equal(status, KF_OK);
    kf_fluid_free_reference(reference);
    kf_plan_free(plan);
    kf_fluid_free(fluid);
}
#define F64 "storage_velocity=f64 storage_spectrum=f64 "

#endif
