/* Tests the least traffic that plans state for a step, against docs/d2q9.md, docs/stable-fluids.md and
 * docs/incompressible.md and counts by hand. Faults: wrong bytes, on which bandwidths and shares of a roof
 * rest. */
#include <math.h>

#include "solver/sph/sph_problem.h"
#include "solver/systems.h"
#include "solver/validation/flow.h"
#include "tests/unit/config_changes.h"
#include "tests/unit/plan_fixture.h"
#include "tests/unit/problem_fixture.h"

#include "solver/d2q9/d2q9.h"
#include "solver/incompressible/incompressible.h"
#include "solver/sph/sph.h"
#include "solver/stable_fluids/stable_fluids.h"

static void near(const char *what, double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * expected)) fail_msg("%s: %g, not %g", what, value, expected);
}

/* Returns the bytes of all items whose names begin with this, per step and update. */
static double bytes_of(const kf_plan *plan, const char *name) {
    double sum = 0;
    for (size_t i = 0; i < plan->item_count; i++)
        if (kf_item_is_work(&plan->items[i]) && strncmp(plan->items[i].name, name, strlen(name)) == 0)
            sum += plan->items[i].bytes / plan->items[i].period;
    return sum / plan->updates;
}

static kf_config changed(const kf_problem *problem, const char *preset, const char *changes) {
    kf_error error = {KF_OK, ""};
    kf_space *space;
    kf_config config;
    must(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), &error);
    must(kf_space_preset(space, preset, &config, &error), &error);
    kf_space_free(space);
    change_config(&config, changes);
    return config;
}

static kf_plan *plan_of(const kf_problem *problem, const char *preset, const char *changes) {
    kf_error error = {KF_OK, ""};
    kf_plan *plan;
    const kf_config config = changed(problem, preset, changes);
    must(problem->system->plan(problem, &config, backend, &plan, &error), &error);
    return plan;
}

static void bytes_of_d2q9(void **state) {
    (void)state;
    static const struct {
        const char *changes;
        double bytes, least;
    } plans[] = {
        {"plan=pull layout=soa alpha=1 folded_boundary=false", 72, 72},
        {"plan=pull layout=soa alpha=1 folded_boundary=false storage=f64", 144, 144},
        {"plan=pull layout=soa alpha=1 folded_boundary=true", 73, 72},
        {"plan=separate layout=soa alpha=1 folded_boundary=false", 144, 72},
        {"plan=inplace layout=soa alpha=1 folded_boundary=false", 72, 72},
        {"plan=temporal layout=soa alpha=1 steps_per_launch=3 tile_rows=32 threads=64 folded_boundary=false",
         73.0 / 3, 24}};
    kf_scene *scene = open_shipped_scene("cavity2d", 75 * 75);
    kf_problem *problem = kf_flow_problem(&kf_system_d2q9, scene, true);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        kf_plan *plan = plan_of(problem, "default", plans[i].changes);
        assert_true(plan->updates == (double)scene->nodes[0] * scene->nodes[1]);
        near(plans[i].changes, bytes_of(plan, ""), plans[i].bytes, 1e-9);
        near(plans[i].changes, plan->least_bytes / plan->updates, plans[i].least, 1e-9);
        kf_plan_free(plan);
    }
    kf_problem_free(problem);
}

static void stable_fluids(void **state) {
    (void)state;
    static const int flat[3] = {32, 40, 1}, deep[3] = {16, 20, 24};
    static const struct {
        const char *preset;
        int dimensions;
        const char *changes;
        double bytes;
    } plans[] = {{"default", 2, "plan=paper fft=own", 128},  {"default", 2, "plan=separate fft=own", 112},
                 {"default", 2, "plan=packed fft=own", 112}, {"default", 2, "plan=batched fft=own", 112},
                 {"default", 2, "plan=fused fft=own", 48},   {"default", 3, "plan=fused fft=own", 120}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        kf_fluid *f = kf_fluid_make(plans[i].dimensions, plans[i].dimensions == 3 ? deep : flat);
        kf_fluid_finish(f);
        kf_problem *problem = kf_fluid_problem(f, true);
        kf_plan *plan = plan_of(problem, plans[i].preset, plans[i].changes);
        assert_true(plan->updates == (double)kf_fluid_cell_count(f));
        /* With separate transforms there are rows of n / 2 + 1 modes. */
        near(plans[i].changes, bytes_of(plan, ""), plans[i].bytes,
             plans[i].bytes > 48 && plans[i].dimensions == 2 ? 0.02 : 0.001);
        near(plans[i].changes, plan->least_bytes / plan->updates, plans[i].dimensions == 3 ? 120 : 48, 1e-9);
        kf_plan_free(plan);
        kf_problem_free(problem);
    }
}

/* Advection, divergence and gradient of both half steps have the table's numbers of words, with 4 bytes
 * each, and values of 4 bytes. */
static void bytes_of_advection_and_gradient(void **state) {
    (void)state;
    kf_scene *scene = kf_flow_box("box", 32, 16, 16, 0.05);
    kf_problem *problem = kf_flow_problem(&kf_system_incompressible, scene, true);
    for (int wide = 0; wide < 2; wide++) {
        const double n = wide ? 8 : 4, w = 4;
        kf_plan *plan =
            plan_of(problem, "default",
                    wide ? "solver=cg iterations=5 storage=f64" : "solver=cg iterations=5 storage=f32");
        near("advection", bytes_of(plan, "predict") + bytes_of(plan, "correct"), (15 + 21) * n + 4 * w, 1e-9);
        near("divergence", bytes_of(plan, "divergence"), 8 * n + 2 * w, 1e-9);
        near("gradient", bytes_of(plan, "project"), 17 * n + 2 * w, 1e-9);
        /* Each half step has one residual and five iterations of 44 + 3 w bytes. */
        near("direct", bytes_of(plan, "direct"), 10 * (3 * n + w), 1e-9);
        near("apply", bytes_of(plan, "apply"), 10 * (2 * n + w), 1e-9);
        near("advance", bytes_of(plan, "advance"), 10 * (6 * n + w), 1e-9);
        near("residual", bytes_of(plan, "residual"), 2 * (3 * n + w), 1e-9);
        near("least", plan->least_bytes / plan->updates, 44 * n + 8 * w, 1e-9);
        assert_true(plan->updates == 32 * 16 * 16);
        kf_plan_free(plan);
    }
    kf_problem_free(problem);
}

/* A pressure solve moves as many bytes as the plan's items say. The values of a cell are counted by hand.
 * The multigrid of 32 x 16 x 16 cells has 1024, 128 and 16 further ones, of which the last level's sweeps
 * stay in the cache. */
static void bytes_of_a_pressure_solve(void **state) {
    (void)state;
    static const struct {
        const char *changes;
        double fine[2], coarse[2], least[2], least_coarse[2]; /* values, words */
    } solvers[] = {
        {"solver=cg iterations=5", {11, 3}, {0, 0}, {8, 1}, {0, 0}},
        {"solver=incomplete_cg iterations=5 storage=f64", {19, 7}, {0, 0}, {10, 2}, {0, 0}},
        {"solver=multigrid_cg sweeps=2 iterations=5", {24.25, 8}, {12.25, 5}, {10, 2}, {2, 1}},
        {"solver=multigrid_cg sweeps=1 iterations=5", {21.25, 7}, {9.25, 4}, {10, 2}, {2, 1}},
        {"solver=multigrid sweeps=2 iterations=5 storage=f64", {18.25, 7}, {12.25, 5}, {7, 2}, {2, 1}},
    };
    const double fine = 32 * 16 * 16, coarse = 1024 + 128, coarsest = 16, w = 4;
    kf_scene *scene = kf_flow_box("box", 32, 16, 16, 0.05);
    kf_problem *problem = kf_flow_problem(&kf_system_incompressible, scene, true);
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        kf_plan *plan = plan_of(problem, "default", solvers[i].changes);
        const kf_incompressible *system = plan->system;
        const double n = (double)system->real_bytes;
        const kf_solve_bytes bytes = kf_incompressible_solve_bytes(scene, &system->options);
        near(solvers[i].changes, bytes.start, fine * (3 * n + w), 1e-9);
        near(solvers[i].changes, bytes.moved,
             fine * (solvers[i].fine[0] * n + solvers[i].fine[1] * w) +
                 coarse * (solvers[i].coarse[0] * n + solvers[i].coarse[1] * w),
             1e-9);
        near(solvers[i].changes, bytes.least,
             fine * (solvers[i].least[0] * n + solvers[i].least[1] * w) +
                 (coarse + coarsest) * (solvers[i].least_coarse[0] * n + solvers[i].least_coarse[1] * w),
             1e-9);
        const double others = bytes_of(plan, "predict") + bytes_of(plan, "correct") +
                              bytes_of(plan, "divergence") + bytes_of(plan, "project");
        near("all but that", plan->updates * (bytes_of(plan, "") - others),
             2 * (bytes.start + 5 * bytes.moved), 1e-9);
        kf_plan_free(plan);
    }
    kf_problem_free(problem);
}

/* A state has position, velocity and rate of 16 bytes each and a number of 4; a stress has 5 further
 * values. */
static void bytes_of_particles(void **state) {
    (void)state;
    static const char *const laws[] = {"\"viscosity\": 2",
                                       "\"law\": \"bingham\", \"viscosity\": 2, \"yield_stress\": 300"};
    for (int stress = 0; stress < 2; stress++) {
        char text[600];
        kf_particle_scene *scene = NULL;
        kf_error error = {KF_OK, ""};
        (void)snprintf(
            text, sizeof text,
            "{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [1.4, 0.7, 1.2]}, \"material\": "
            "{\"density\": 300, \"sound_speed\": 20, %s}, \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0, "
            "0], \"high\": [0.8, 0.7, 0.9]}]}",
            laws[stress]);
        must(kf_particle_scene_parse("bytes.json", text, NULL, &scene, &error), &error);
        kf_problem *problem = kf_sph_problem(scene);
        kf_plan *plan = plan_of(problem, "default", "search=rows fuse_count=false");
        const double own = 52 + (stress ? 4.0 * KF_SPH_STRESSES : 0);
        assert_true(plan->updates == 8 * 7 * 9);
        near("count", bytes_of(plan, "count_cells"), 24, 1e-9);
        near("place", bytes_of(plan, "place"), 20, 1e-9);
        near("rank", bytes_of(plan, "rank"), 16 + 2 * own, 1e-9);
        if (stress) {
            near("strain", bytes_of(plan, "strain"), 48 + 8.0 * KF_SPH_STRESSES, 1e-9);
            near("motion", bytes_of(plan, "motion"), 16 + 2 * own, 1e-9);
        } else {
            near("flow", bytes_of(plan, "flow"), 2 * own, 1e-9);
        }
        near("least", plan->least_bytes / plan->updates, stress ? 344 : 200, 1e-9);
        size_t kept = 0;
        for (size_t i = 0; i < plan->buffer_count; i++)
            kept += kf_buffer_size(plan->buffers[i]);
        assert_true((double)kept >= KF_PARTICLE_LEAST_BYTES * plan->updates);
        kf_plan_free(plan);
        kf_problem_free(problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_of_d2q9), cmocka_unit_test(stable_fluids),
                                       cmocka_unit_test(bytes_of_advection_and_gradient),
                                       cmocka_unit_test(bytes_of_a_pressure_solve),
                                       cmocka_unit_test(bytes_of_particles)};
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
