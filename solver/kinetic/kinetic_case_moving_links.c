/* Solids by links whose surface leaves its place: a box that the fluid travels with, a ball that travels
 * through it, a spheroid that tumbles in it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "solver/kinetic/kinetic_cases.h"
#include "solver/validation/body.h"

enum { LOOKS = 25 };

/* Opens a plan of a body in a periodic box of fluid that flows along x. The caller frees both. */
static kf_status open_moving(const kf_validation *validation, kf_scene *scene, double speed, kf_plan **plan,
                             kf_error *error) {
    scene->initial_velocity[0] = speed;
    KF_TRY(kf_body_link(scene, false, error));
    return kf_kinetic_case_open(validation, scene, NULL, plan, error);
}

/* Advances by so many steps and returns the mean force along x, and the mean torque about the motion's axis,
 * in the last of them. */
static kf_status mean_load(const kf_validation *validation, kf_plan *plan, uint64_t steps, double *force,
                           double *torque, kf_error *error) {
    const double *axis = kf_plan_scene(plan)->motion.axis;
    *force = *torque = 0.0;
    KF_TRY(kf_flow_advance(validation, plan, steps - LOOKS, error));
    for (int look = 0; look < LOOKS; look++) {
        kf_solid_load load;
        KF_TRY(kf_flow_advance(validation, plan, 1, error));
        KF_TRY(plan->methods->flow->load(plan, &load, error));
        *force += load.force[0] / LOOKS;
        for (int a = 0; a < 3; a++)
            *torque += axis[a] * load.torque[a] / LOOKS;
    }
    return KF_OK;
}

/* Moves a box obliquely to the grid at the fluid's speed. Nothing must change. */
static kf_status check_carried(kf_validation *validation, kf_error *error) {
    enum { NODES = 24, STEPS = 400 };
    const double speed = 0.05;
    kf_scene *scene = kf_flow_box("carried", NODES, NODES, NODES, 0.01);
    const size_t count = kf_flow_count(scene);
    kf_body_add_box(scene, (const double[3]){-3.1, -2.4, -4.3}, (const double[3]){3.1, 2.4, 4.3});
    const double turn[9] = {0.8, -0.6, 0.0, 0.48, 0.64, -0.6, 0.36, 0.48, 0.8},
                 center[3] = {0.481 * NODES, 0.493 * NODES, 0.512 * NODES};
    kf_body_place(scene, turn, center);
    scene->motion = (kf_motion){.moving = true, .velocity = {speed, 0.0, 0.0}};
    memcpy(scene->motion.center, center, sizeof center);
    kf_plan *plan = NULL;
    double *values = NULL, off = 0.0, force = 0.0, torque = 0.0;
    kf_status status = open_moving(validation, scene, speed, &plan, error);
    if (status == KF_OK) status = mean_load(validation, plan, STEPS, &force, &torque, error);
    if (status == KF_OK) status = kf_kinetic_read(plan, &values, error);
    if (status == KF_OK) {
        size_t fluid = 0;
        /* Nodes inside are at rest. */
        for (size_t n = 0; n < count; n++) {
            double square = 0.0;
            for (size_t a = 0; a < 3; a++)
                square += pow(values[(a + 1) * count + n] - (a == 0 ? speed : 0.0), 2);
            if (values[count + n] == 0.0) continue;
            off += square;
            fluid++;
        }
        kf_check_at_most(validation, "box that travels with the fluid: L2 deviation of the velocity",
                         "exact: none", 0.0, sqrt(off / (double)fluid) / speed, 1e-4);
    }
    free(values);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* Measures the force on a ball that moves through a fluid at rest, or rests in a fluid that flows at this
 * speed. */
static kf_status measure_ball(const kf_validation *validation, int nodes, bool travels, uint64_t steps,
                              double *force, kf_error *error) {
    const double speed = 0.04, center[3] = {0.487 * nodes, 0.49 * nodes, 0.51 * nodes};
    kf_scene *scene = kf_flow_box("travelling", nodes, nodes, nodes, 0.05);
    double torque;
    kf_body_set_ball(scene, center, 0.2 * nodes);
    scene->motion = (kf_motion){.moving = travels, .velocity = {-speed, 0.0, 0.0}};
    memcpy(scene->motion.center, center, sizeof center);
    kf_plan *plan = NULL;
    kf_status status = open_moving(validation, scene, travels ? 0.0 : speed, &plan, error);
    if (status == KF_OK) status = mean_load(validation, plan, steps, force, &torque, error);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

static kf_status check_travelling(kf_validation *validation, kf_error *error) {
    const int nodes = validation->quick ? 20 : 32;
    const uint64_t steps = validation->quick ? 210 : 410;
    double force[2];
    for (int travels = 0; travels < 2; travels++)
        KF_TRY(measure_ball(validation, nodes, travels == 1, steps, &force[travels], error));
    kf_check_relative(validation, "ball that travels through a fluid at rest: force", "at rest in a stream",
                      force[0], force[1], 0.01);
    return KF_OK;
}

/* Measures the torque on a prolate spheroid in a periodic box. It tumbles about an oblique diameter across
 * its long axis. The expected torque is that of an unbounded fluid over 1 - its share of the box. */
static kf_status check_tumbling(kf_validation *validation, kf_error *error) {
    static const char source[] = "Jeffery, Proc. R. Soc. A 102 (1922) 161";
    const int nodes = validation->gpu ? 64 : 32;
    const double length = 0.1875 * nodes, radius = 0.6 * length, viscosity = 0.1,
                 speed = 0.036 / (length * length), center[3] = {0.487 * nodes, 0.49 * nodes, 0.51 * nodes},
                 zero[3] = {0.0, 0.0, 0.0};
    const double e = sqrt(1.0 - pow(radius / length, 2)), l = log((1.0 + e) / (1.0 - e)),
                 shape = 4.0 / 3.0 * pow(e, 3) * (2.0 - e * e) / ((1.0 + e * e) * l - 2.0 * e),
                 share = 4.0 / 3.0 * kf_pi * length * radius * radius / pow(nodes, 3),
                 exact = 8.0 * kf_pi * viscosity * pow(length, 3) * shape * speed / (1.0 - share);
    kf_scene *scene = kf_flow_box("tumbling", nodes, nodes, nodes, viscosity);
    kf_body_set_ball(scene, zero, 1.0);
    kf_body_place(scene, (const double[9]){length, 0, 0, 0, radius, 0, 0, 0, radius}, center);
    scene->motion = (kf_motion){.moving = true, .axis = {0.0, 0.6, 0.8}, .angular_speed = speed};
    memcpy(scene->motion.center, center, sizeof center);
    kf_plan *plan = NULL;
    double force = 0.0, torque = 0.0;
    kf_status status = open_moving(validation, scene, 0.0, &plan, error);
    if (status == KF_OK)
        status = mean_load(validation, plan, (uint64_t)(4.0 * length * length / viscosity), &force, &torque,
                           error);
    if (status == KF_OK)
        kf_check_relative(validation, "spheroid that tumbles: torque", source, exact, -torque, 0.04);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

kf_status kf_case_moving_links(kf_validation *validation, kf_error *error) {
    KF_TRY(check_carried(validation, error));
    KF_TRY(check_travelling(validation, error));
    return validation->quick ? KF_OK : check_tumbling(validation, error);
}
