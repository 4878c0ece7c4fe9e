/* Solids by links that turn in place: the fluid between two cylinders that turn together, and a cylinder in a
 * stream. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/kinetic/kinetic_cases.h"
#include "solver/validation/body.h"
#include "solver/validation/tunnel.h"

/* Two cylinders along z in a periodic box of n by n nodes, with the fluid between them. The outer one almost
 * touches the box, and both turn about their axis. The fluid turns with them. In addition it has a decaying
 * Couette flow, u = amplitude Z(decay r) exp(-viscosity decay^2 t) with Z = J1 Y1(at the inner one) - Y1
 * J1(at it), or a force drives it along z. */
typedef struct cylinders {
    int nodes; /* n */
    /* The inner cylinder's values, and the outer one's. */
    double center[2], radius[2];
    /* The member `speed` is that of the outer one's surface. */
    double viscosity, speed, drive;
    /* The member `amplified` is the largest Z. */
    double decay, amplitude, amplified;
} cylinders;

static double couette(const cylinders *c, double decay, double r) {
    return j1(decay * r) * y1(decay * c->radius[0]) - y1(decay * r) * j1(decay * c->radius[0]);
}

/* Finds the slowest mode: the smallest rate at which Z is 0 at the outer cylinder, too. */
static void find_mode(cylinders *c) {
    const double gap = c->radius[1] - c->radius[0];
    double low = 0.5 * kf_pi / gap, high = 1.5 * kf_pi / gap;
    const bool above = couette(c, low, c->radius[1]) > 0.0;
    for (int k = 0; k < 60; k++) {
        const double middle = 0.5 * (low + high);
        if ((couette(c, middle, c->radius[1]) > 0.0) == above)
            low = middle;
        else
            high = middle;
    }
    c->decay = low;
    for (int k = 1; k < 100; k++) {
        const double value = couette(c, low, c->radius[0] + gap * k / 100.0);
        if (fabs(value) > fabs(c->amplified)) c->amplified = value;
    }
}

static cylinders place_cylinders(int nodes, double speed) {
    cylinders c = {.nodes = nodes,
                   .center = {0.5 * nodes - 0.37, 0.5 * nodes - 0.56},
                   .radius = {0.18 * nodes, 0.488 * nodes},
                   .viscosity = 0.005,
                   .speed = speed * 24 / nodes};
    find_mode(&c);
    return c;
}

/* Computes the flow at a node for the remaining share of the decaying part. *inside: whether the node is in
 * the fluid. */
static void flow_at(const cylinders *c, double left, int x, int y, double u[3], bool *inside) {
    const double arm[2] = {x - c->center[0], y - c->center[1]}, r = hypot(arm[0], arm[1]),
                 inner = c->radius[0], outer = c->radius[1];
    *inside = r > inner && r < outer;
    u[0] = u[1] = u[2] = 0.0;
    if (!*inside) return;
    const double around = c->speed * r / outer + left * c->amplitude * couette(c, c->decay, r) / c->amplified;
    u[0] = -around * arm[1] / r;
    u[1] = around * arm[0] / r;
    u[2] = 0.25 * c->drive / c->viscosity *
           (outer * outer - r * r - (outer * outer - inner * inner) * log(outer / r) / log(outer / inner));
}

static void turning_state(const void *context, int x, int y, int z, double *density, double velocity[3]) {
    const cylinders *c = context;
    const double r = hypot(x - c->center[0], y - c->center[1]) / c->radius[1];
    bool inside;
    (void)z;
    flow_at(c, 1.0, x, y, velocity, &inside);
    *density = inside ? exp(1.5 * c->speed * c->speed * (r * r - 0.57)) : 1.0;
}

static kf_scene *make_cylinders(const cylinders *c, kf_error *error) {
    kf_scene *scene = kf_flow_box("turning", c->nodes, c->nodes, 1, c->viscosity);
    scene->initial_state = turning_state;
    scene->initial_context = c;
    scene->body_force[2] = c->drive;
    scene->motion = (kf_motion){.moving = true,
                                .center = {c->center[0], c->center[1], 0.0},
                                .axis = {0.0, 0.0, 1.0},
                                .angular_speed = c->speed / c->radius[1]};
    for (int k = 0; k < 2; k++)
        kf_body_add_tube(scene, c->center, c->radius[k]);
    if (kf_body_link(scene, false, error) == KF_OK) return scene;
    kf_scene_free(scene);
    return NULL;
}

/* Runs so many steps and returns the relative L2 deviation of the flow, and of its part along z. */
static kf_status run_cylinders(const kf_validation *validation, const cylinders *c, uint64_t steps,
                               double deviation[2], kf_error *error) {
    kf_scene *scene = make_cylinders(c, error);
    if (scene == NULL) return error->status;
    const size_t count = kf_flow_count(scene);
    const double left = exp(-c->viscosity * c->decay * c->decay * (double)steps);
    double *values = NULL, off[2] = {0.0, 0.0}, all[2] = {0.0, 0.0};
    kf_plan *plan = NULL;
    kf_status status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, steps, error);
    if (status == KF_OK) status = kf_kinetic_read(plan, &values, error);
    for (size_t n = 0; status == KF_OK && n < count; n++) {
        double right[3];
        bool inside;
        flow_at(c, left, (int)n % c->nodes, (int)n / c->nodes, right, &inside);
        for (size_t a = 0; a < 3 && inside; a++) {
            off[a / 2] += pow(values[(a + 1) * count + n] - right[a], 2);
            all[a / 2] += right[a] * right[a];
        }
    }
    for (int k = 0; k < 2; k++)
        deviation[k] = all[k] == 0.0 ? 0.0 : sqrt(off[k] / all[k]);
    free(values);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* Checks the flow that turns with both cylinders, and the decaying Couette flow in it, on two grids at one
 * Reynolds number. */
static kf_status check_couette(kf_validation *validation, kf_error *error) {
    static const char source[] = "exact: Bessel functions";
    double off[2][2] = {{0}};
    for (int fine = 0; fine < 2; fine++) {
        cylinders c = place_cylinders(24 << fine, 0.02);
        c.amplitude = -0.5 * c.speed;
        const uint64_t steps = (uint64_t)(1.0 / (c.viscosity * c.decay * c.decay));
        KF_TRY(run_cylinders(validation, &c, steps, off[fine], error));
    }
    kf_check_at_most(validation, "Couette flow between cylinders that turn, gap 15 cells: L2 deviation",
                     source, 0.0, off[1][0], 2e-3);
    kf_check_at_most(validation, "the same over that on a grid half as fine", "second order: 0.25", 0.0,
                     off[1][0] / off[0][0], 0.35);
    cylinders c = place_cylinders(24, 0.02);
    c.drive = 0.16 * c.viscosity / pow(c.radius[1] - c.radius[0], 2);
    KF_TRY(run_cylinders(validation, &c, 3000, off[0], error));
    kf_check_at_most(validation, "gap 7 cells: L2 deviation of the flow that turns with both", "exact: rigid",
                     0.0, off[0][0], 1e-2);
    kf_check_at_most(validation, "the same: of the flow along them", "exact: a parabola and a logarithm", 0.0,
                     off[0][1], 1e-2);
    return KF_OK;
}

/* Sums the mass of the fluid between the cylinders, and its angular momentum about their axis. */
static kf_status sum_fluid(const kf_scene *scene, kf_plan *plan, double *mass, double *momentum,
                           kf_error *error) {
    const size_t count = kf_flow_count(scene), nx = (size_t)scene->nodes[0];
    const double *center = scene->motion.center;
    double *values;
    *mass = *momentum = 0.0;
    KF_TRY(kf_kinetic_read(plan, &values, error));
    for (size_t i = 0; i < scene->links.inside_count; i++) {
        const size_t node = (size_t)scene->links.inside[i][0] + nx * (size_t)scene->links.inside[i][1];
        values[node] = values[count + node] = values[2 * count + node] = 0.0;
    }
    for (size_t n = 0; n < count; n++) {
        const size_t row = n / nx;
        const double x = (double)(n % nx) - center[0], y = (double)row - center[1];
        *mass += values[n];
        *momentum += (1.0 + values[n]) * (x * values[2 * count + n] - y * values[count + n]);
    }
    free(values);
    return KF_OK;
}

/* Checks the torque by what the fluid gains in a step while it starts to turn, and the mass that it gains. */
static kf_status check_balance(kf_validation *validation, kf_error *error) {
    static const char *const in_double[] = {"storage=f64", NULL};
    enum { STEPS = 400 };
    cylinders c = place_cylinders(24, 0.02);
    c.amplitude = c.speed;
    kf_scene *scene = make_cylinders(&c, error);
    if (scene == NULL) return error->status;
    double mass[3], momentum[3];
    kf_plan *plan = NULL;
    kf_solid_load load;
    kf_status status = kf_kinetic_case_open(validation, scene, in_double, &plan, error);
    for (int k = 0; k < 3; k++) {
        if (status == KF_OK) status = kf_flow_advance(validation, plan, k == 2 ? 1 : STEPS, error);
        if (status == KF_OK) status = sum_fluid(scene, plan, &mass[k], &momentum[k], error);
    }
    if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
    if (status == KF_OK) {
        kf_check_relative(validation, "cylinders that turn: torque, of what the fluid gains", "balance",
                          momentum[1] - momentum[2], load.torque[2], 1e-6);
        kf_check_absolute(validation, "the same: mass gained in 400 steps, cells", "exact", 0.0,
                          mass[1] - mass[0], 1e-3);
    }
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* Checks drag and lift of a cylinder in a stream, with a surface as fast as the stream. */
static kf_status check_stream(kf_validation *validation, kf_error *error) {
    static const char source[] = "Ingham & Tang, J. Comput. Phys. 87 (1990) 91";
    static const kf_tunnel coarse = {true, 8, 0.05, 20, 8, 12, 24, 20, 3, 0.1},
                           fine = {true, 16, 0.05, 20, 15, 25, 40, 60, 3, 0.1};
    const kf_tunnel *t = validation->gpu ? &fine : &coarse;
    kf_scene *scene = kf_tunnel_scene(t);
    scene->motion.moving = true;
    memcpy(scene->motion.axis, (const double[3]){0.0, 0.0, 1.0}, sizeof scene->motion.axis);
    scene->motion.angular_speed = 2.0 * t->speed / t->diameter;
    kf_plan *plan = NULL;
    kf_solid_load load;
    kf_status status = kf_tunnel_link(t, false, scene, error);
    if (status == KF_OK) status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    if (status == KF_OK)
        status = kf_flow_advance(validation, plan, (uint64_t)(t->settle * t->diameter / t->speed), error);
    if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
    if (status == KF_OK) {
        const double drag = kf_tunnel_coefficient(t, load.force[0]), blockage = kf_tunnel_blockage(t, drag);
        kf_check_relative(validation, "cylinder that turns in a stream, Re 20: Cd, blockage corrected",
                          source, 1.925, drag / blockage, t->bound);
        kf_check_relative(validation, "the same: Cl", source, 2.617,
                          -kf_tunnel_coefficient(t, load.force[1]) / blockage, t->bound);
    }
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* Checks turning solids by links: the order of the walls' velocity, momentum and mass, and lift. Also checks
 * solids that leave their place. */
kf_status kf_case_turning_links(kf_validation *validation, kf_error *error) {
    KF_TRY(check_couette(validation, error));
    KF_TRY(check_balance(validation, error));
    KF_TRY(kf_case_moving_links(validation, error));
    return validation->quick ? KF_OK : check_stream(validation, error);
}
