/* Solids that the fluid moves: what both gain and lose, and a sphere that settles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/vector.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic_cases.h"

static const char *const in_double[] = {"storage=f64", NULL};
static const char exact_source[] = "exact property of the scheme";

/* Makes the ball of kf_flow_add_ball a free solid, with mass and inertia of a ball of that radius. `density`
 * is over the fluid's. */
static void set_free(kf_scene *scene, double radius, double density) {
    kf_motion *m = &scene->motion;
    m->moving = m->free = true;
    m->excess_mass = (density - 1.0) * 4.0 / 3.0 * kf_pi * pow(radius, 3);
    for (int i = 0; i < 3; i++)
        m->excess_inertia[4 * i] = 0.4 * m->excess_mass * radius * radius;
}

/* --- Momentum ------------------------------------------------------------------------------------------ */

/* The momentum, and the angular momentum about a point, of the fluid and of the solid's excess mass. */
typedef struct totals {
    double linear[3], angular[3];
} totals;

static void add_moments(totals *t, const double r[3], const double momentum[3]) {
    for (int i = 0; i < 3; i++) {
        const int k = (i + 1) % 3, l = (i + 2) % 3;
        t->linear[i] += momentum[i];
        t->angular[i] += r[k] * momentum[l] - r[l] * momentum[k];
    }
}

static kf_status add_solid(const kf_scene *scene, kf_plan *plan, const double about[3], totals *t,
                           kf_error *error) {
    kf_solid_pose pose;
    double momentum[3], r[3];
    KF_TRY(plan->methods->flow->pose(plan, &pose, error));
    for (int i = 0; i < 3; i++) {
        momentum[i] = scene->motion.excess_mass * pose.velocity[i];
        r[i] = pose.center[i] - about[i];
        t->angular[i] += scene->motion.excess_inertia[4 * i] * pose.angular_velocity[i]; /* a ball's */
    }
    add_moments(t, r, momentum);
    return KF_OK;
}

static kf_status read_totals(const kf_scene *scene, kf_plan *plan, const double about[3], totals *t,
                             kf_error *error) {
    const size_t nx = (size_t)scene->nodes[0], ny = (size_t)scene->nodes[1], count = kf_flow_count(scene);
    double *values;
    memset(t, 0, sizeof *t);
    KF_TRY(kf_kinetic_read(plan, &values, error));
    for (size_t node = 0; node < count; node++) {
        const size_t x = node % nx, y = node / nx % ny, z = node / (nx * ny);
        const double r[3] = {(double)x - about[0], (double)y - about[1], (double)z - about[2]};
        double momentum[3];
        for (size_t i = 0; i < 3; i++)
            momentum[i] = (1.0 + values[node]) * values[(i + 1) * count + node];
        add_moments(t, r, momentum);
    }
    free(values);
    return add_solid(scene, plan, about, t, error);
}

static kf_scene *make_thrown_ball(kf_boundary faces) {
    enum { NODES = 24 };
    const double center[3] = {11.3, 11.8, 12.1}, radius = 4.3;
    kf_scene *scene = kf_flow_box("free_solid", NODES, NODES, NODES, 0.02);
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = faces;
    kf_flow_add_ball(scene, center, radius, 20.0);
    set_free(scene, radius, 2.0);
    const kf_motion start = {.axis = {0.6, 0.0, 0.8}, .angular_speed = 0.01, .velocity = {0.05, -0.03, 0.02}};
    memcpy(scene->motion.axis, start.axis, sizeof start.axis);
    memcpy(scene->motion.velocity, start.velocity, sizeof start.velocity);
    scene->motion.angular_speed = start.angular_speed;
    return scene;
}

/* Returns the largest relative change of the ball's initial momentum. */
static kf_status follow_totals(const kf_validation *validation, kf_boundary faces, int looks, uint64_t stride,
                               double change[2], kf_error *error) {
    kf_scene *scene = make_thrown_ball(faces);
    const double *about = scene->motion.center;
    totals first = {{0}, {0}}, now;
    kf_plan *plan;
    kf_status status = kf_kinetic_case_open(validation, scene, in_double, &plan, error);
    if (status == KF_OK) status = read_totals(scene, plan, about, &first, error);
    change[0] = change[1] = 0;
    for (int look = 0; look < looks && status == KF_OK; look++) {
        status = kf_flow_advance(validation, plan, stride, error);
        if (status == KF_OK) status = read_totals(scene, plan, about, &now, error);
        if (status != KF_OK) break;
        double difference[2][3];
        for (int i = 0; i < 3; i++) {
            difference[0][i] = now.linear[i] - first.linear[i];
            difference[1][i] = now.angular[i] - first.angular[i];
        }
        change[0] = kf_worse(change[0], kf_length(difference[0]) / kf_length(first.linear));
        change[1] = kf_worse(change[1], kf_length(difference[1]) / kf_length(first.angular));
    }
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* Throws a ball into fluid at rest. In a periodic box the momentum of both together is conserved. The angular
 * momentum is conserved until the first sound reaches a wall. */
static kf_status check_momentum(kf_validation *validation, kf_error *error) {
    double change[2];
    KF_TRY(follow_totals(validation, KF_PERIODIC, 20, 100, change, error));
    kf_check_absolute(validation, "momentum of fluid + free ball, 2000 steps, f64, relative change",
                      exact_source, 0.0, change[0], 2e-9);
    KF_TRY(follow_totals(validation, KF_WALL, 6, 1, change, error));
    kf_check_absolute(validation, "angular momentum of fluid + free ball, 6 steps, f64, relative",
                      exact_source, 0.0, change[1], 1e-9);
    return KF_OK;
}

/* --- Settling ------------------------------------------------------------------------------------------ */

/* A sphere of 15 mm and 1120 kg/m^3, released 120 mm above the bottom of a box of 100 x 100 x 160 mm of
 * silicon oil. speed: that of the same sphere in unbounded oil. */
typedef struct settling {
    /* In kg/m^3, Pa s, m/s. */
    double density, viscosity, speed;
    /* The largest measured velocity over speed. */
    double fastest;
} settling;

static const char settling_source[] =
    "ten Cate et al., Phys. Fluids 14 (2002) 4012: measured largest velocity";

static kf_scene *make_box(const settling *s, double diameter, double lattice_speed) {
    const double cell = 0.015 / diameter, step = lattice_speed * cell / s->speed;
    const int width = (int)lround(0.1 / cell), height = (int)lround(0.16 / cell);
    kf_scene *scene =
        kf_flow_box("settling", width, width, height, s->viscosity / s->density * step / (cell * cell));
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_WALL;
    const double center[3] = {0.5 * (width - 1), 0.5 * (width - 1), 0.1275 / cell - 0.5};
    kf_flow_add_ball(scene, center, 0.5 * diameter, 20.0);
    set_free(scene, 0.5 * diameter, 1120.0 / s->density);
    scene->motion.gravity[2] = -9.81 * step * step / cell;
    return scene;
}

static kf_status run_settling(kf_validation *validation, const settling *s, double diameter,
                              double lattice_speed, double bound, kf_error *error) {
    kf_scene *scene = make_box(s, diameter, lattice_speed);
    const uint64_t stride = (uint64_t)(0.1 * diameter / lattice_speed);
    double fastest = 0;
    kf_solid_pose pose = {.center = {0, 0, scene->motion.center[2]}};
    kf_solid_load load;
    kf_plan *plan;
    kf_status status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    /* The run ends when the sphere is a diameter above the bottom, or after three times the expected time. */
    for (int look = 0; look < 300 && status == KF_OK && pose.center[2] > 1.5 * diameter; look++) {
        status = kf_flow_advance(validation, plan, stride, error);
        if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
        if (status == KF_OK) status = plan->methods->flow->pose(plan, &pose, error);
        fastest = kf_worse(fastest, -pose.velocity[2]);
    }
    kf_flow_close(plan);
    kf_scene_free(scene);
    KF_TRY(status);
    char quantity[96];
    (void)snprintf(quantity, sizeof quantity,
                   "sphere of %g cells, Re %.1f: largest velocity / in unbounded oil", diameter,
                   s->speed * 0.015 * s->density / s->viscosity);
    kf_check_relative(validation, quantity, settling_source, s->fastest, fastest / lattice_speed, bound);
    return KF_OK;
}

kf_status kf_case_free_solid(kf_validation *validation, kf_error *error) {
    static const settling oils[] = {{970, 0.373, 0.038, 0.947},
                                    {965, 0.212, 0.060, 0.953},
                                    {962, 0.113, 0.091, 0.959},
                                    {960, 0.058, 0.128, 0.955}};
    KF_TRY(check_momentum(validation, error));
    if (validation->quick) return run_settling(validation, &oils[3], 6, 0.06, 0.1, error);
    for (int i = 0; i < 4; i++)
        KF_TRY(run_settling(validation, &oils[i], validation->gpu ? 16 : 8, 0.03, 0.06, error));
    return KF_OK;
}
