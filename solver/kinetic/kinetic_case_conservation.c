/* Cases of exact conservation: mass, momentum, and the balance of force and torque between solid and fluid.
 * Also checks that results do not depend on the number of samples. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/vector.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic_cases.h"

static const char *const in_double[] = {"storage=f64", NULL};
static const char exact_source[] = "exact property of the scheme";

typedef struct totals {
    /* The mass is the deviation from the node count; the angular momentum is about a point. */
    double mass, momentum[3], angular[3];
} totals;

static kf_status read_totals(const kf_scene *scene, kf_plan *plan, const double about[3], totals *t,
                             kf_error *error) {
    const int *n = scene->nodes;
    const size_t count = kf_flow_count(scene);
    double *values;
    KF_TRY(kf_kinetic_read(plan, &values, error));
    memset(t, 0, sizeof *t);
    for (size_t node = 0; node < count; node++) {
        const size_t nx = (size_t)n[0], ny = (size_t)n[1];
        const size_t x = node % nx, y = node / nx % ny, z = node / (nx * ny);
        const double r[3] = {(double)x - about[0], (double)y - about[1], (double)z - about[2]};
        double j[3];
        for (size_t i = 0; i < 3; i++)
            j[i] = (1.0 + values[node]) * values[(i + 1) * count + node];
        t->mass += values[node];
        for (int i = 0; i < 3; i++) {
            const int k = (i + 1) % 3, l = (i + 2) % 3;
            t->momentum[i] += j[i];
            t->angular[i] += r[k] * j[l] - r[l] * j[k];
        }
    }
    free(values);
    return KF_OK;
}

/* --- Mass and momentum over many steps ------------------------------------------------------------------ */

/* Vortices and a uniform stream, on which the walls of a box would act: none are there. */
static void stirred(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const int n = *(const int *)context;
    const double x = 2.0 * kf_pi * i / n, y = 2.0 * kf_pi * j / n, z = 2.0 * kf_pi * k / n;
    velocity[0] = 0.02 + 0.05 * sin(x) * cos(y) * cos(z);
    velocity[1] = -0.01 - 0.05 * cos(x) * sin(y) * cos(z);
    velocity[2] = 0.015;
    *density = 1.0;
}

static kf_status drift(kf_validation *validation, const char *const *overrides, const char *label,
                       double mass_bound, double momentum_bound, kf_error *error) {
    static const int nodes = 16;
    enum { STEPS = 10000 };
    kf_scene *scene = kf_flow_box("conservation", nodes, nodes, nodes, 0.001);
    scene->initial_state = stirred;
    scene->initial_context = &nodes;
    const double nowhere[3] = {0, 0, 0};
    totals before, after;
    char quantity[96];
    kf_plan *plan;
    kf_status status = kf_kinetic_case_open(validation, scene, overrides, &plan, error);
    if (status == KF_OK) status = read_totals(scene, plan, nowhere, &before, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, STEPS, error);
    if (status == KF_OK) status = read_totals(scene, plan, nowhere, &after, error);
    if (status == KF_OK) {
        const double count = (double)kf_flow_count(scene);
        double change[3];
        for (int i = 0; i < 3; i++)
            change[i] = after.momentum[i] - before.momentum[i];
        (void)snprintf(quantity, sizeof quantity, "mass after %d steps, %s, relative change", STEPS, label);
        kf_check_absolute(validation, quantity, exact_source, 0.0, (after.mass - before.mass) / count,
                          mass_bound);
        (void)snprintf(quantity, sizeof quantity, "momentum after %d steps, %s, relative change", STEPS,
                       label);
        kf_check_absolute(validation, quantity, exact_source, 0.0,
                          kf_length(change) / kf_length(before.momentum), momentum_bound);
    }
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

kf_status kf_case_conservation(kf_validation *validation, kf_error *error) {
    KF_TRY(drift(validation, in_double, "f64", 1e-13, 1e-11, error));
    return drift(validation, NULL, "default storage", 1e-6, 1e-3, error);
}

/* --- Force and torque ------------------------------------------------------------------------------------
 */

/* A ball starts to move and turn in fluid at rest. Nothing has reached the walls yet, so only the ball's
 * forces change the fluid's momentum and angular momentum. */
kf_status kf_case_force_balance(kf_validation *validation, kf_error *error) {
    enum { STEPS = 6, NODES = 32 };
    const double center[3] = {15.3, 15.8, 16.1};
    kf_scene *scene = kf_flow_box("force_balance", NODES, NODES, NODES, 0.02);
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_WALL;
    kf_flow_add_ball(scene, center, 5.3, 20.0);
    scene->motion = (kf_motion){
        .moving = true, .axis = {0.6, 0.0, 0.8}, .angular_speed = 0.01, .velocity = {0.03, -0.02, 0.01}};
    memcpy(scene->motion.center, center, sizeof center);
    totals now, before = {0};
    kf_solid_load load;
    double worst_force = 0, worst_torque = 0, mass = 0;
    kf_plan *plan;
    kf_status status = kf_kinetic_case_open(validation, scene, in_double, &plan, error);
    for (int step = 0; step < STEPS && status == KF_OK; step++) {
        double pose_center[3], rotation[9], change[2][3];
        kf_motion_pose(&scene->motion, step, rotation, pose_center);
        status = kf_flow_advance(validation, plan, 1, error);
        if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
        if (status == KF_OK) status = read_totals(scene, plan, center, &now, error);
        if (status != KF_OK) break;
        for (int i = 0; i < 3; i++) {
            const int k = (i + 1) % 3, l = (i + 2) % 3;
            /* The torque about the ball's centre is moved to the reference point of the totals. */
            const double torque = load.torque[i] + (pose_center[k] - center[k]) * load.force[l] -
                                  (pose_center[l] - center[l]) * load.force[k];
            change[0][i] = now.momentum[i] - before.momentum[i] + load.force[i];
            change[1][i] = now.angular[i] - before.angular[i] + torque;
        }
        worst_force = kf_worse(worst_force, kf_length(change[0]) / kf_length(load.force));
        worst_torque = kf_worse(worst_torque, kf_length(change[1]) / kf_length(load.torque));
        mass = kf_worse(mass, fabs(now.mass));
        before = now;
    }
    kf_flow_close(plan);
    kf_scene_free(scene);
    KF_TRY(status);
    kf_check_absolute(validation, "force on the ball + change of the fluid's momentum, f64, relative",
                      exact_source, 0.0, worst_force, 1e-9);
    kf_check_absolute(validation, "torque on the ball + change of angular momentum, f64, relative",
                      exact_source, 0.0, worst_torque, 1e-8);
    kf_check_absolute(validation, "change of mass in those steps", exact_source, 0.0, mass, 1e-9);
    return KF_OK;
}

/* --- Slip ------------------------------------------------------------------------------------------------
 */

/* Returns the velocity at a sample by the hat function. It is the mean of the velocity before the step,
 * uniform along x, and after it. */
static double slip_at(const kf_scene *scene, const double *values, size_t sample, double before) {
    const double position[3] = {scene->samples.x[sample], scene->samples.y[sample], scene->samples.z[sample]};
    const size_t nx = (size_t)scene->nodes[0], ny = (size_t)scene->nodes[1], count = kf_flow_count(scene);
    double u[3] = {0, 0, 0};
    for (int corner = 0; corner < 8; corner++) {
        size_t at[3];
        double weight = 1.0;
        for (int i = 0; i < 3; i++) {
            const double cell = floor(position[i]), fraction = position[i] - cell;
            const int up = corner >> i & 1;
            at[i] = (size_t)cell + (size_t)up;
            weight *= up ? fraction : 1.0 - fraction;
        }
        for (size_t i = 0; i < 3; i++)
            u[i] += weight * values[(i + 1) * count + at[0] + nx * (at[1] + ny * at[2])];
    }
    u[0] = 0.5 * (u[0] + before);
    u[1] *= 0.5;
    u[2] *= 0.5;
    return kf_length(u);
}

/* Puts a sphere into a uniform stream. The passes of the first step leave a share of the slip at its surface,
 * measured at the velocity that contains half of the force. */
static kf_status slip_after(const kf_validation *validation, int passes, double *slip, kf_error *error) {
    const double center[3] = {15.3, 15.6, 15.8}, speed = 0.01;
    kf_scene *scene = kf_flow_box("slip", 32, 32, 32, 0.02);
    /* The samples are at radius 8. */
    kf_flow_add_ball(scene, center, 8.0 + kf_scene_surface_depth(scene, 3.0 / 8.5), 60.0);
    scene->initial_velocity[0] = speed;
    scene->immersed_passes = passes;
    double *values = NULL, sum = 0;
    const size_t samples = scene->samples.count;
    kf_plan *plan;
    kf_status status = kf_kinetic_case_open(validation, scene, in_double, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, 1, error);
    if (status == KF_OK) status = kf_kinetic_read(plan, &values, error);
    for (size_t s = 0; status == KF_OK && s < samples; s++)
        sum += pow(slip_at(scene, values, s, speed), 2);
    *slip = sqrt(sum / (double)samples) / speed;
    free(values);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

kf_status kf_case_slip(kf_validation *validation, kf_error *error) {
    static const double expected[] = {0.338, 0.150, 0.10, 0.087, 0.079};
    for (int passes = 1; passes <= 5; passes++) {
        char quantity[96];
        double slip;
        KF_TRY(slip_after(validation, passes, &slip, error));
        (void)snprintf(quantity, sizeof quantity,
                       "slip on a sphere of 16 cells over that before, L2: passes %d", passes);
        kf_check_absolute(validation, quantity,
                          "direct forcing with area weights, an independent program (docs/physics.md)",
                          expected[passes - 1], slip, 0.02);
    }
    return KF_OK;
}

/* --- Sampling density --------------------------------------------------------------------------------------
 */

static kf_status drag_at_density(const kf_validation *validation, double samples_per_cell, double *drag,
                                 kf_error *error) {
    const double center[3] = {15.5, 15.5, 15.5};
    kf_scene *scene = kf_flow_box("sampling_density", 48, 32, 32, 0.02);
    kf_flow_add_ball(scene, center, 5.0, samples_per_cell);
    scene->faces[KF_XMIN] = KF_INFLOW;
    scene->faces[KF_XMAX] = KF_OUTFLOW;
    scene->face_velocity[KF_XMIN][0] = scene->initial_velocity[0] = 0.05;
    kf_solid_load load = {{0}, {0}};
    kf_plan *plan;
    kf_status status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, 400, error);
    if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
    *drag = load.force[0];
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* A ball's drag with 5, 10 and 25 samples per cell must equal that with 60. Forces are weighted by area, so
 * the number of samples does not matter. */
kf_status kf_case_sampling_density(kf_validation *validation, kf_error *error) {
    static const double densities[] = {5.0, 10.0, 25.0, 60.0};
    double reference = 0;
    for (int i = 3; i >= 0; i--) {
        double drag;
        char quantity[96];
        KF_TRY(drag_at_density(validation, densities[i], &drag, error));
        if (i == 3) {
            reference = drag;
            continue;
        }
        (void)snprintf(quantity, sizeof quantity, "drag with %g samples a cell over that with 60",
                       densities[i]);
        kf_check_relative(validation, quantity, "area weights: the surface counts, not its samples", 1.0,
                          drag / reference, 0.005);
    }
    return KF_OK;
}

/* --- Torus
 * --------------------------------------------------------------------------------------------------- */

/* A torus spins about its axis in a closed box of fluid at rest. Until the walls take some of it, the fluid's
 * angular momentum equals the sum of the torus's torque over the steps. */
kf_status kf_case_torus(kf_validation *validation, kf_error *error) {
    enum { NODES = 32, BALANCE = 40, STEADY = 1200, LOOKS = 60 };
    const double center[3] = {15.5, 15.5, 15.5};
    kf_scene *scene = kf_flow_box("torus", NODES, NODES, NODES, 0.08);
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_WALL;
    kf_flow_add_torus(scene, center, 6.0, 3.1, 20.0);
    scene->motion.moving = true;
    scene->motion.angular_speed = 0.005;
    double impulse = 0, mean = 0, least = INFINITY, most = -INFINITY;
    totals fluid = {0};
    kf_solid_load load;
    kf_plan *plan;
    kf_status status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    for (int step = 0; step < BALANCE && status == KF_OK; step++) {
        status = kf_flow_advance(validation, plan, 1, error);
        if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
        if (status == KF_OK) impulse += load.torque[2];
    }
    if (status == KF_OK) status = read_totals(scene, plan, center, &fluid, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, STEADY, error);
    for (int look = 0; look < LOOKS && status == KF_OK; look++) {
        status = kf_flow_advance(validation, plan, 7, error);
        if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
        if (status != KF_OK) break;
        mean += load.torque[2] / LOOKS;
        least = fmin(least, load.torque[2]);
        most = fmax(most, load.torque[2]);
    }
    kf_flow_close(plan);
    kf_scene_free(scene);
    KF_TRY(status);
    kf_check_relative(validation, "fluid's angular momentum over minus the torque's impulse, 40 steps",
                      exact_source, 1.0, -fluid.angular[2] / impulse, 1e-3);
    kf_check_absolute(validation, "steady torque: (most - least) / mean over 420 steps",
                      "a body of revolution, steady flow", 0.0, (most - least) / fabs(mean), 0.02);
    return KF_OK;
}
