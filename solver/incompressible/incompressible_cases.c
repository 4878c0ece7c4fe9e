/* Validation cases of the incompressible system: vortices with a known decay, the remaining divergence, and
 * the drag of a sphere. */
#include "solver/incompressible/incompressible_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/internal.h"
#include "solver/incompressible/incompressible.h"
#include "solver/validation/flow.h"
#include "solver/validation/tunnel.h"

/* --- Taylor-Green ------------------------------------------------------------------------------------------
 */

static const double courant = 0.5, decay = 0.1;

/* Vortices in the x-y plane, n cells to a period, which lose exp(-decay) of their speed in half a turnover.
 */
static kf_scene *make_vortices(int n, int depth, bool limited) {
    kf_scene *scene = kf_flow_box("taylor_green", n, n, depth, decay * n / (8.0 * kf_pi * kf_pi));
    scene->initial = KF_INITIAL_TAYLOR_GREEN_2D;
    scene->initial_velocity[0] = courant;
    kf_incompressible_own_model(scene)->unlimited = !limited;
    kf_incompressible_own_model(scene)->tolerance = 1e-6;
    return scene;
}

/* Returns the relative deviation from the exact solution at the end, in the L2 norm. Averages from faces to
 * centres and back change the wave by a known factor, cos(pi / n) each, which is divided out. */
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
    kf_plan *plan = NULL;
    double *values = NULL;
    kf_status status = kf_flow_open(validation, &kf_system_incompressible, scene, NULL, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, (uint64_t)n, error);
    if (status == KF_OK) status = kf_incompressible_read(plan, &values, error);
    if (status == KF_OK) *off = deviation(scene, values);
    free(values);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* The Taylor-Green vortices' error must fall with first order at least as the grid is refined, with and
 * without the limiter. */
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

/* --- Divergence --------------------------------------------------------------------------------------------
 */

/* Checks that the divergence after a projection, and the residual that the solver reports, meet the
 * tolerance. */
static kf_status case_divergence(kf_validation *validation, kf_error *error) {
    static const char *const overrides[] = {"storage=f64", NULL};
    const kf_scene_options options = {.node_limit = validation->gpu ? 2000000 : 60000};
    kf_scene *scene = NULL;
    kf_plan *plan = NULL;
    kf_solve_state states[KF_HALVES];
    double left = (double)NAN;
    KF_TRY(kf_scene_open("ball", &options, &scene, error));
    kf_status status = kf_flow_open(validation, &kf_system_incompressible, scene, overrides, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, 5, error);
    if (status == KF_OK) status = kf_incompressible_solves(plan, states, error);
    if (status == KF_OK) status = kf_incompressible_divergence(plan, &left, error);
    if (status == KF_OK) {
        kf_check_at_most(validation, "ball: divergence after the last projection / before it",
                         "the solver's tolerance", KF_DEFAULT_TOLERANCE,
                         left / sqrt(states[1].divergence / states[1].cells), 1e-2);
        kf_check_at_most(validation, "ball: residual that the solver says it reached",
                         "the solver's tolerance", KF_DEFAULT_TOLERANCE,
                         kf_worse(states[0].residual, states[1].residual), 0.0);
    }
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* --- Drag --------------------------------------------------------------------------------------------------
 */

static kf_status sphere(kf_validation *validation, const kf_tunnel *t, double published, const char *source,
                        kf_error *error) {
    double drag;
    KF_TRY(kf_tunnel_measure(validation, &kf_system_incompressible, t, &drag, error));
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

const kf_case kf_incompressible_cases[] = {
    {"incompressible-tg", "decaying vortices at a fixed CFL number: order of the scheme", false,
     case_taylor_green, 0},
    {"incompressible-div", "divergence after a step beside the tolerance", false, case_divergence, 0},
    {"incompressible-sphere", "drag of a sphere at Re 100 and 300", true, case_sphere, 0},
    {NULL, NULL, false, NULL, 0},
};
