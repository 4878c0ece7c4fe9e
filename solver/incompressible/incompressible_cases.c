/* Validation cases of the incompressible system: vortices whose decay is known, the divergence that is left,
 * the drag of a sphere. */
#include "solver/incompressible/incompressible_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/internal.h"
#include "solver/incompressible/incompressible.h"
#include "solver/kinetic/kinetic.h"
#include "solver/validation/flow.h"
#include "solver/validation/tunnel.h"

static kf_status open_plan_of(const kf_validation *validation, const kf_system *system, kf_scene *scene,
                              const char *const *overrides, kf_problem **problem, kf_plan **plan,
                              kf_error *error) {
    kf_config config;
    *plan = NULL;
    scene->accuracy = validation->accuracy;
    *problem = kf_flow_problem(system, scene, false);
    KF_TRY(kf_validation_configure(validation, *problem, overrides, &config, error));
    KF_TRY(system->plan(*problem, &config, validation->backend, plan, error));
    return kf_plan_initialise(*plan, error);
}

static kf_status open_plan(const kf_validation *validation, kf_scene *scene, const char *const *overrides,
                           kf_problem **problem, kf_plan **plan, kf_error *error) {
    return open_plan_of(validation, &kf_system_incompressible, scene, overrides, problem, plan, error);
}

static void close_plan(kf_problem *problem, kf_plan *plan, kf_scene *scene) {
    kf_plan_free(plan);
    kf_problem_free(problem);
    kf_scene_free(scene);
}

/* --- Taylor-Green ------------------------------------------------------------------------------------------
 */

static const double courant = 0.5, decay = 0.1;

/* Vortices in the x-y plane, n cells to a period, which lose exp(-decay) of their speed in half a turnover.
 */
static kf_scene *make_vortices(int n, int depth, bool limited) {
    kf_scene *scene = kf_flow_box("taylor_green", n, n, depth, decay * n / (8.0 * kf_pi * kf_pi));
    scene->initial = KF_INITIAL_TAYLOR_GREEN_2D;
    scene->initial_velocity[0] = courant;
    scene->incompressible.unlimited = !limited;
    scene->incompressible.tolerance = 1e-6;
    return scene;
}

/* Relative to the exact solution at the end, in the L2 norm; what averages from faces to centres and back
 * does to the wave is known (cos(pi / n) each) and taken out. */
static double deviation(const kf_scene *scene, const double *values) {
    const int n = scene->nodes[0];
    const double averaged = pow(cos(kf_pi / n), 2.0), speed = courant * exp(-decay) * averaged;
    const size_t count = kf_flow_count(scene);
    double error = 0.0, scale = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double x = 2.0 * kf_pi * (double)(i % (size_t)n) / n,
                     y = 2.0 * kf_pi * (double)(i / (size_t)n % (size_t)n) / n, u = speed * sin(x) * cos(y),
                     v = -speed * cos(x) * sin(y);
        error +=
            pow(values[count + i] - u, 2) + pow(values[2 * count + i] - v, 2) + pow(values[3 * count + i], 2);
        scale += u * u + v * v;
    }
    return sqrt(error / scale);
}

static kf_status vortices(const kf_validation *validation, int n, bool limited, double *off,
                          kf_error *error) {
    kf_scene *scene = make_vortices(n, validation->gpu ? n : 8, limited);
    kf_problem *problem = NULL;
    kf_plan *plan = NULL;
    double *values = NULL;
    kf_status status = open_plan(validation, scene, NULL, &problem, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, (uint64_t)n, error);
    if (status == KF_OK) status = kf_incompressible_read(plan, &values, error);
    if (status == KF_OK) *off = deviation(scene, values);
    free(values);
    close_plan(problem, plan, scene);
    return status;
}

static kf_status case_taylor_green(kf_validation *validation, kf_error *error) {
    const int grids = validation->gpu ? 3 : validation->quick ? 2 : 3, first = validation->gpu ? 32 : 16;
    for (int limited = 0; limited < 2; limited++) {
        double before = 0.0, off = 0.0;
        for (int grid = 0; grid < grids; grid++) {
            const int n = first << grid;
            char quantity[96];
            before = off;
            KF_TRY(vortices(validation, n, limited != 0, &off, error));
            if (grid == 0) continue;
            (void)snprintf(quantity, sizeof quantity,
                           "CFL %g, limiter %s, error %.3g at %d, %.3g at %d: order", courant,
                           limited != 0 ? "on" : "off", before, n / 2, off, n);
            if (limited == 0)
                kf_check_at_least(validation, quantity, "published: first order at least", 0.9,
                                  log2(before / off), 0.0);
            else
                kf_check_at_least(validation, quantity, "it clips the vortices' tops", 0.5,
                                  log2(before / off), 0.0);
        }
    }
    return KF_OK;
}

/* --- divergence --------------------------------------------------------------------------------------------
 */

static kf_status case_divergence(kf_validation *validation, kf_error *error) {
    static const char *const overrides[] = {"storage=f64", NULL};
    const kf_scene_options options = {.node_limit = validation->gpu ? 2000000 : 60000};
    kf_scene *scene = NULL;
    kf_problem *problem = NULL;
    kf_plan *plan = NULL;
    kf_solve_state states[KF_HALVES];
    double left = (double)NAN;
    KF_TRY(kf_scene_open("ball", &options, &scene, error));
    kf_status status = open_plan(validation, scene, overrides, &problem, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, 5, error);
    if (status == KF_OK) status = kf_incompressible_solves(plan, states, error);
    if (status == KF_OK) status = kf_incompressible_divergence(plan, &left, error);
    if (status == KF_OK) {
        kf_check_at_most(validation, "ball: divergence after the last projection / before it",
                         "the solver's tolerance", KF_DEFAULT_TOLERANCE,
                         left / sqrt(states[1].divergence / states[1].cells), 1e-2);
        kf_check_at_most(validation, "ball: residual that the solver says it reached",
                         "the solver's tolerance", KF_DEFAULT_TOLERANCE,
                         fmax(states[0].residual, states[1].residual), 0.0);
    }
    close_plan(problem, plan, scene);
    return status;
}

/* --- drag --------------------------------------------------------------------------------------------------
 */

static kf_scene *make_tunnel(const kf_tunnel *t) {
    kf_scene *scene = kf_tunnel_scene(t);
    const double *center = scene->motion.center, radius = 0.5 * t->diameter,
                 identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int shape = 0; shape < KF_SHAPES; shape++)
        if (strcmp(kf_shapes[shape].name, "ball") == 0)
            kf_shape_mesh(&kf_shapes[shape], &radius, &scene->mesh);
    kf_mesh_transform(&scene->mesh, identity, center);
    return scene;
}

/* Corrected for the walls. */
static kf_status measure_drag(kf_validation *validation, const kf_system *system, const kf_tunnel *t,
                              double *corrected, kf_error *error) {
    enum { LOOKS = 20 };
    const double travel = t->diameter / t->speed;
    kf_scene *scene = make_tunnel(t);
    kf_problem *problem = NULL;
    kf_plan *plan = NULL;
    double drag = 0.0;
    kf_status status = open_plan_of(validation, system, scene, NULL, &problem, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, (uint64_t)(t->settle * travel), error);
    for (int look = 0; look < LOOKS && status == KF_OK; look++) {
        kf_solid_load load;
        status = kf_flow_advance(validation, plan, (uint64_t)(t->watch * travel / LOOKS) + 1, error);
        if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
        if (status == KF_OK) drag += kf_tunnel_coefficient(t, load.force[0]) / LOOKS;
    }
    close_plan(problem, plan, scene);
    *corrected = drag / kf_tunnel_blockage(t, drag);
    return status;
}

static kf_status sphere(kf_validation *validation, const kf_tunnel *t, double published, const char *source,
                        kf_error *error) {
    double drag;
    KF_TRY(measure_drag(validation, &kf_system_incompressible, t, &drag, error));
    char quantity[96];
    (void)snprintf(quantity, sizeof quantity, "Re %g, %g cells a diameter, %g wide: Cd, blockage corrected",
                   t->reynolds, t->diameter, t->width);
    kf_check_relative(validation, quantity, source, published, drag, t->bound);
    return KF_OK;
}

static const char johnson[] = "Johnson & Patel, J. Fluid Mech. 378 (1999) 19";

static kf_status case_sphere(kf_validation *validation, kf_error *error) {
    static const kf_tunnel small = {false, 8, 0.3, 100, 3, 3, 5, 6, 1, 0.2},
                           steady = {false, 24, 0.25, 100, 5, 7, 8, 14, 2, 0.05},
                           shedding = {false, 24, 0.25, 300, 5, 9, 8, 25, 15, 0.1};
    if (!validation->gpu) return sphere(validation, &small, 1.087, johnson, error);
    KF_TRY(sphere(validation, &steady, 1.087, johnson, error));
    return validation->quick ? KF_OK : sphere(validation, &shedding, 0.656, johnson, error);
}

/* One sphere in one tunnel on one grid: by the kinetic system, and by this one with steps of that length, 10
 * and 40 times as long. */
static kf_status case_beside(kf_validation *validation, kf_error *error) {
    enum { FLOWS = 2, RUNS = 4 };
    static const struct {
        const kf_system *system;
        double ratio, bound;
    } runs[RUNS] = {{&kf_system_kinetic, 1, 0.1},
                    {&kf_system_incompressible, 10, 0.2},
                    {&kf_system_incompressible, 40, 0.2},
                    {&kf_system_incompressible, 1, 0.2}};
    static const double published[FLOWS] = {1.087, 0.656};
    static const kf_tunnel small[FLOWS] = {{false, 8, 0.05, 100, 3, 3, 5, 6, 1, 0},
                                           {false, 8, 0.05, 300, 3, 3, 5, 8, 2, 0}},
                           large[FLOWS] = {{false, 16, 0.05, 100, 5, 7, 8, 14, 2, 0},
                                           {false, 16, 0.05, 300, 5, 9, 8, 25, 5, 0}};
    for (int flow = 0; flow < FLOWS; flow++)
        for (int run = 0; run < (validation->gpu ? RUNS : RUNS - 1); run++) {
            kf_tunnel t = validation->gpu ? large[flow] : small[flow];
            char quantity[96];
            double drag;
            t.speed *= runs[run].ratio;
            KF_TRY(measure_drag(validation, runs[run].system, &t, &drag, error));
            (void)snprintf(quantity, sizeof quantity, "Re %g, %g cells a diameter, %s, steps %gx: Cd",
                           t.reynolds, t.diameter, runs[run].system->name, runs[run].ratio);
            kf_check_relative(validation, quantity, johnson, published[flow], drag, runs[run].bound);
        }
    return KF_OK;
}

const kf_case kf_incompressible_cases[] = {
    {"incompressible-tg", "decaying vortices at a fixed CFL number: order of the scheme", false,
     case_taylor_green, 0},
    {"incompressible-div", "divergence after a step beside the tolerance", false, case_divergence, 0},
    {"incompressible-wake", "the wake of a ball beside the kinetic solver's: energy over wavelengths", true,
     kf_case_incompressible_wake, 0},
    {"incompressible-sphere", "drag of a sphere at Re 100 and 300", true, case_sphere, 0},
    {"incompressible-beside",
     "drag of a sphere beside the kinetic solver's on the same grid, by length of step", true, case_beside,
     0},
    {NULL, NULL, false, NULL, 0},
};
