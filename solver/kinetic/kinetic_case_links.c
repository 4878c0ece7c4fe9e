/* Solids by links: a channel between walls that lie across the grid, and a domain that keeps its mass. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "solver/kinetic/kinetic_cases.h"
#include "solver/validation/body.h"

/* --- Turned channel ------------------------------------------------------------------------------------- */

/* Channels along (2, 1, 0) in a periodic box of 2 n by n nodes: a plate and its own image bound one. */
typedef struct turned {
    int nodes; /* n */
    /* The sizes of plate and channel, in cells. */
    double thickness, width;
    double top_speed;
    /* The unit vectors along the channel and along the plate's normal. */
    double along[2], across[2];
    /* A point on the plate's middle. */
    double corner[2];
} turned;

static turned turn_channel(int nodes) {
    const double root = sqrt(5.0), share = 0.4;
    return (turned){.nodes = nodes,
                    .thickness = share * nodes * 2.0 / root,
                    .width = (1.0 - share) * nodes * 2.0 / root,
                    .top_speed = 0.02,
                    .along = {2.0 / root, 1.0 / root},
                    .across = {-1.0 / root, 2.0 / root},
                    .corner = {0.13, 0.29}};
}

/* Returns the speed at a node, which is 0 inside the plate. */
static double parabola(const turned *t, int x, int y) {
    const double period = t->thickness + t->width;
    double place = (x - t->corner[0]) * t->across[0] + (y - t->corner[1]) * t->across[1] - 0.5 * t->thickness;
    place -= period * floor(place / period);
    return place < t->width ? 4.0 * t->top_speed * place * (t->width - place) / (t->width * t->width) : 0.0;
}

static void turned_state(const void *context, int x, int y, int z, double *density, double velocity[3]) {
    const turned *t = context;
    const double speed = 0.9 * parabola(t, x, y);
    (void)z;
    *density = 1.0;
    velocity[0] = speed * t->along[0];
    velocity[1] = speed * t->along[1];
    velocity[2] = 0.0;
}

/* Makes a channel between two sheets that lies across the grid. */
static kf_scene *make_channel(const turned *t, double viscosity) {
    kf_scene *scene = kf_flow_box("turned", 2 * t->nodes, t->nodes, 1, viscosity);
    const double drive = 8.0 * viscosity * t->top_speed / (t->width * t->width);
    scene->initial_state = turned_state;
    scene->initial_context = t;
    for (int a = 0; a < 2; a++)
        scene->body_force[a] = drive * t->along[a];
    for (int side = -1; side <= 1; side += 2) {
        const double offset = 0.5 * side * t->thickness;
        kf_body_add_sheet(
            scene,
            (const double[2]){t->corner[0] + offset * t->across[0] - 8.0 * t->nodes * t->along[0],
                              t->corner[1] + offset * t->across[1] - 8.0 * t->nodes * t->along[1]},
            (const double[2]){16.0 * t->nodes * t->along[0], 16.0 * t->nodes * t->along[1]});
    }
    return scene;
}

/* Runs to a steady flow, and returns its relative L2 deviation from the parabola. */
static kf_status run_turned(const kf_validation *validation, int nodes, bool half_way, double *deviation,
                            kf_error *error) {
    const double viscosity = 0.02;
    const turned t = turn_channel(nodes);
    kf_scene *scene = make_channel(&t, viscosity);
    const uint64_t steps = (uint64_t)(10.0 * t.width * t.width / (kf_pi * kf_pi * viscosity));
    double *values = NULL, off = 0.0, all = 0.0;
    kf_plan *plan = NULL;
    kf_status status = kf_body_link(scene, half_way, error);
    if (status == KF_OK) status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, steps, error);
    if (status == KF_OK) status = kf_kinetic_read(plan, &values, error);
    const size_t count = kf_flow_count(scene);
    for (size_t n = 0; status == KF_OK && n < count; n++) {
        const double right = parabola(&t, (int)(n % (2 * (size_t)nodes)), (int)(n / (2 * (size_t)nodes)));
        if (!(right > 0.0)) continue;
        off += pow(values[count + n] - right * t.along[0], 2) +
               pow(values[2 * count + n] - right * t.along[1], 2);
        all += right * right;
    }
    *deviation = sqrt(off / all);
    free(values);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

static kf_status check_turned(kf_validation *validation, bool half_way, kf_error *error) {
    double coarse, fine;
    char quantity[96];
    const char *name = half_way ? "half-way" : "interpolated";
    static const char source[] = "exact: a parabola";
    KF_TRY(run_turned(validation, 10, half_way, &coarse, error));
    KF_TRY(run_turned(validation, 20, half_way, &fine, error));
    (void)snprintf(quantity, sizeof quantity, "turned channel 10.7 cells wide, %s: L2 deviation", name);
    kf_check_at_most(validation, quantity, source, 0.0, fine, half_way ? 0.15 : 5e-4);
    (void)snprintf(quantity, sizeof quantity, "the same, 5.4 cells wide");
    if (!half_way) kf_check_at_most(validation, quantity, source, 0.0, coarse, 5e-4);
    return KF_OK;
}

/* --- Balances ------------------------------------------------------------------------------------------- */

/* Makes a box with a ball through which a force drives the fluid, between walls or periodic. */
static kf_scene *make_box(bool walls) {
    kf_scene *scene = kf_flow_box("links", 24, 16, 16, 0.005);
    for (int face = KF_YMIN; face < KF_FACES; face++)
        scene->faces[face] = walls ? KF_WALL : KF_PERIODIC;
    kf_body_set_ball(scene, (const double[3]){10.2, 7.6, 8.1}, 3.3);
    scene->body_force[0] = 2e-5;
    /* The force of a fluid at rest between walls. */
    scene->body_force[2] = walls ? 1e-5 : 0.0;
    return scene;
}

/* Sums over the nodes of the fluid. */
typedef struct fluid_sums {
    double nodes, mass, momentum;
} fluid_sums;

/* Sums mass and momentum along x of the nodes that are fluid. */
static kf_status sum_fluid(const kf_scene *scene, kf_plan *plan, fluid_sums *sums, kf_error *error) {
    const size_t count = kf_flow_count(scene), nx = (size_t)scene->nodes[0], ny = (size_t)scene->nodes[1];
    double *values;
    KF_TRY(kf_kinetic_read(plan, &values, error));
    for (size_t i = 0; i < scene->links.inside_count; i++) {
        const int *at = scene->links.inside[i];
        const size_t node = (size_t)at[0] + nx * ((size_t)at[1] + ny * (size_t)at[2]);
        values[node] = values[count + node] = 0.0;
    }
    *sums = (fluid_sums){.nodes = (double)(count - scene->links.inside_count)};
    for (size_t node = 0; node < count; node++) {
        sums->mass += values[node];
        sums->momentum += (1.0 + values[node]) * values[count + node];
    }
    free(values);
    return KF_OK;
}

/* Checks the mass that the fluid gains while the stream crosses the box ten times. */
static kf_status check_mass(kf_validation *validation, kf_error *error) {
    const uint64_t steps = validation->quick ? 1500 : 10000;
    kf_scene *scene = make_box(true);
    kf_plan *plan = NULL;
    fluid_sums before, after;
    char quantity[96];
    kf_status status = kf_body_link(scene, false, error);
    if (status == KF_OK) status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, 200, error);
    if (status == KF_OK) status = sum_fluid(scene, plan, &before, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, steps, error);
    if (status == KF_OK) status = sum_fluid(scene, plan, &after, error);
    (void)snprintf(quantity, sizeof quantity, "ball between walls: mass gained in %d steps, of all",
                   (int)steps);
    if (status == KF_OK)
        kf_check_absolute(validation, quantity, "exact", 0.0, (after.mass - before.mass) / after.nodes, 1e-5);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* Checks that the fluid of a periodic box gains per step the momentum of the driving force less the force on
 * the solid. */
static kf_status check_force(kf_validation *validation, kf_error *error) {
    static const char *const in_double[] = {"storage=f64", NULL};
    kf_scene *scene = make_box(false);
    kf_plan *plan = NULL;
    fluid_sums before, after;
    kf_solid_load load;
    kf_status status = kf_body_link(scene, false, error);
    if (status == KF_OK) status = kf_kinetic_case_open(validation, scene, in_double, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, 300, error);
    if (status == KF_OK) status = sum_fluid(scene, plan, &before, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, 1, error);
    if (status == KF_OK) status = sum_fluid(scene, plan, &after, error);
    if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
    if (status == KF_OK)
        kf_check_relative(validation, "ball in a periodic box: force, of what the fluid loses", "balance",
                          scene->body_force[0] * after.nodes - (after.momentum - before.momentum),
                          load.force[0], 1e-6);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* Solids by links: second order where the wall lies across the grid, mass and momentum. */
kf_status kf_case_links(kf_validation *validation, kf_error *error) {
    KF_TRY(check_turned(validation, false, error));
    KF_TRY(check_turned(validation, true, error));
    KF_TRY(check_force(validation, error));
    return check_mass(validation, error);
}
