/* Flows across the interface of nested grids, compared with a uniform fine grid: an oblique uniform flow, a
 * shear layer, and vortices in three dimensions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic_cases.h"

/* A flow in a periodic domain, in cells and steps of its coarse grid. Positions are in lengths of its edge
 * along x. */
typedef struct nested_flow {
    void (*state)(const struct nested_flow *flow, const double at[3], double velocity[3], double *density);
    int nodes[3];
    kf_cell_box box;
    double viscosity, speed, stream[3];
    const char *storage;
} nested_flow;

typedef enum grids { NESTED, FINE } grids;

/* The state of a grid with this many cells along each axis of a coarse cell. */
typedef struct grid_state {
    const nested_flow *flow;
    int finer;
} grid_state;

static void at_node(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const grid_state *s = context;
    const double cell = 1.0 / (s->finer * s->flow->nodes[0]),
                 at[3] = {(i + 0.5) * cell, (j + 0.5) * cell, (k + 0.5) * cell};
    s->flow->state(s->flow, at, velocity, density);
}

static kf_scene *make_grid(const grid_state *s) {
    const int *n = s->flow->nodes;
    kf_scene *scene = kf_flow_box("nested", n[0] * s->finer, n[1] * s->finer, n[2] * s->finer,
                                  s->flow->viscosity * s->finer);
    scene->rate_rule = KF_RATE_ONES;
    scene->initial_state = at_node;
    scene->initial_context = s;
    return scene;
}

/* Takes values at the cells of a grid from those of one with twice as many: along each axis the cubic through
 * four nodes. The caller frees. */
static double *halve(const int nodes[3], double *fine) {
    int n[3] = {2 * nodes[0], 2 * nodes[1], 2 * nodes[2]};
    for (int axis = 0; axis < 3; axis++) {
        const int long_axis = n[axis];
        const size_t before = axis == 0 ? 1 : axis == 1 ? (size_t)n[0] : (size_t)n[0] * (size_t)n[1];
        n[axis] /= 2;
        const size_t lines = (size_t)n[0] * (size_t)n[1] * (size_t)n[2] / before / (size_t)n[axis] * 4;
        double *made = kf_allocate(lines * before * (size_t)n[axis] * sizeof *made);
        for (size_t line = 0; line < lines; line++)
            for (int i = 0; i < n[axis]; i++)
                for (size_t b = 0; b < before; b++) {
                    double sum = 0.0;
                    for (int k = -1; k < 3; k++) {
                        const size_t from = (size_t)((2 * i + k + long_axis) % long_axis);
                        sum += (k == 0 || k == 1 ? 9.0 : -1.0) / 16.0 *
                               fine[(line * (size_t)long_axis + from) * before + b];
                    }
                    made[(line * (size_t)n[axis] + (size_t)i) * before + b] = sum;
                }
        free(fine);
        fine = made;
    }
    return fine;
}

/* Runs a flow for so many steps of its coarse grid, on which values are (density - 1, velocity), the
 * caller's, also after a failure. */
static kf_status run(const kf_validation *validation, const nested_flow *flow, grids on, int steps,
                     double **values, kf_error *error) {
    const char *const overrides[] = {flow->storage, NULL};
    const grid_state states[] = {{flow, on == FINE ? 2 : 1}, {flow, 2}};
    kf_scene *scene = make_grid(&states[0]);
    kf_plan *plan;
    if (on == NESTED) {
        scene->finer_count = 1;
        scene->finer[0] = make_grid(&states[1]);
        scene->boxes[0] = flow->box;
    }
    *values = NULL;
    kf_status status = kf_kinetic_case_open(validation, scene, overrides, &plan, error);
    if (status == KF_OK)
        status = kf_flow_advance(validation, plan, (uint64_t)(on == FINE ? 2 * steps : steps), error);
    if (status == KF_OK) status = kf_kinetic_read(plan, values, error);
    kf_flow_close(plan);
    kf_scene_free(scene);
    if (status == KF_OK && on == FINE) *values = halve(flow->nodes, *values);
    return status;
}

static size_t count_of(const nested_flow *flow) {
    return (size_t)flow->nodes[0] * (size_t)flow->nodes[1] * (size_t)flow->nodes[2];
}

/* --- A uniform flow --------------------------------------------------------------------------------------
 */

static void uniform(const nested_flow *flow, const double at[3], double velocity[3], double *density) {
    (void)at;
    *density = 1.0;
    for (int a = 0; a < 3; a++)
        velocity[a] = flow->stream[a];
}

/* Directions on a spiral from one pole to the other, which no face, edge or corner is across. */
static kf_status check_uniform(kf_validation *validation, kf_error *error) {
    const int directions = validation->quick ? 1 : 12;
    nested_flow flow = {.state = uniform,
                        .nodes = {12, 12, 12},
                        .box = {{3, 3, 3}, {9, 8, 9}},
                        .viscosity = 0.01,
                        .storage = "storage=f64"};
    double off = 0.0;
    for (int d = 0; d < directions; d++) {
        const double height = 1.0 - (2.0 * d + 1.0) / directions, around = 2.4 * d;
        double *values;
        flow.stream[0] = 0.05 * sqrt(1.0 - height * height) * cos(around);
        flow.stream[1] = 0.05 * sqrt(1.0 - height * height) * sin(around);
        flow.stream[2] = 0.05 * height;
        const kf_status status = run(validation, &flow, NESTED, 6, &values, error);
        const size_t count = count_of(&flow);
        for (size_t i = 0; i < 4 * count && status == KF_OK; i++)
            off = kf_worse(off, fabs(values[i] - (i < count ? 0.0 : flow.stream[i / count - 1])));
        free(values);
        KF_TRY(status);
    }
    char quantity[96];
    (void)snprintf(quantity, sizeof quantity, "uniform flow through a finer box, %d slants: what changes",
                   directions);
    kf_check_at_most(validation, quantity, "an interface that is not there changes nothing", 0.0, off, 1e-12);
    return KF_OK;
}

/* --- Beside fine cells everywhere ------------------------------------------------------------------------
 */

static void double_shear(const nested_flow *flow, const double at[3], double velocity[3], double *density) {
    velocity[0] = flow->speed * tanh(20.0 * (at[1] <= 0.5 ? at[1] - 0.25 : 0.75 - at[1]));
    velocity[1] = 0.05 * flow->speed * sin(2.0 * kf_pi * (at[0] + 0.25));
    velocity[2] = 0.0;
    *density = 1.0;
}

static void taylor_green(const nested_flow *flow, const double at[3], double velocity[3], double *density) {
    const double x = 2.0 * kf_pi * at[0], y = 2.0 * kf_pi * at[1], z = 2.0 * kf_pi * at[2];
    velocity[0] = flow->speed * sin(x) * cos(y) * cos(z);
    velocity[1] = -flow->speed * cos(x) * sin(y) * cos(z);
    velocity[2] = 0.0;
    *density =
        1.0 + 3.0 * flow->speed * flow->speed * (cos(2.0 * x) + cos(2.0 * y)) * (cos(2.0 * z) + 2.0) / 16.0;
}

/* Returns the distance of the velocities of two states, over the size of the second's. */
static double distance(const nested_flow *flow, const double *values, const double *truth) {
    const size_t count = count_of(flow);
    double off = 0.0, all = 0.0;
    for (size_t i = count; i < 4 * count; i++) {
        off += pow(values[i] - truth[i], 2);
        all += pow(truth[i], 2);
    }
    return sqrt(off / all);
}

/* Errors of a flow with a finer box. */
typedef struct outcome {
    /* The difference from the same flow in uniform fine cells. */
    double off;
    /* The mass gained, over the whole mass. */
    double gained;
    /* The momentum gained, over that of the whole mass at this speed. */
    double momentum;
} outcome;

/* Flows that are compared have no momentum as a whole. */
static kf_status compare(const kf_validation *validation, const nested_flow *flow, int steps, outcome *o,
                         kf_error *error) {
    double *nested, *fine = NULL, sum[4] = {0.0, 0.0, 0.0, 0.0};
    kf_status status = run(validation, flow, NESTED, steps, &nested, error);
    if (status == KF_OK) status = run(validation, flow, FINE, steps, &fine, error);
    const size_t count = count_of(flow);
    for (size_t i = 0; i < 4 * count && status == KF_OK; i++)
        sum[i / count] += (i < count ? 1.0 : 1.0 + nested[i % count]) * nested[i] / (double)count;
    if (status == KF_OK) o->off = distance(flow, nested, fine);
    o->gained = fabs(sum[0]);
    o->momentum = sqrt(sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3]) / flow->speed;
    free(nested);
    free(fine);
    return status;
}

/* Compares a flow with this many coarse nodes along its edge, and with twice as many. One half along x is in
 * a finer box. The run takes this many times its edge over its speed. */
static kf_status check_beside(kf_validation *validation, const char *name, nested_flow flow, int nodes,
                              double times, kf_error *error) {
    outcome o[2];
    char quantity[112];
    const bool deep = flow.nodes[2] == flow.nodes[1];
    const double viscosity = flow.viscosity;
    for (int i = 0; i < 2; i++) {
        const int edge = nodes << i, depth = deep ? edge : flow.nodes[2];
        flow.nodes[0] = flow.nodes[1] = edge;
        flow.nodes[2] = depth;
        flow.box = (kf_cell_box){{edge / 4, 0, 0}, {3 * edge / 4, edge, depth}};
        flow.viscosity = viscosity * edge;
        KF_TRY(compare(validation, &flow, (int)(times * edge / flow.speed), &o[i], error));
    }
    (void)snprintf(quantity, sizeof quantity, "%s half in a finer box, %d to %d nodes: order", name, nodes,
                   2 * nodes);
    kf_check_at_least(validation, quantity, "second order, beside fine cells everywhere", 2.0,
                      log2(o[0].off / o[1].off), 0.2);
    (void)snprintf(quantity, sizeof quantity, "%s, %d nodes: mass gained, over the pressure's amplitude",
                   name, 2 * nodes);
    kf_check_at_most(validation, quantity, "kept but for what the grid does not resolve", 0.0,
                     o[1].gained / (3.0 * flow.speed * flow.speed), 0.05);
    (void)snprintf(quantity, sizeof quantity, "%s, %d nodes: momentum gained, over that at its speed", name,
                   2 * nodes);
    kf_check_at_most(validation, quantity, "kept but for what the grid does not resolve", 0.0, o[1].momentum,
                     5e-4);
    return KF_OK;
}

/* Runs a uniform flow. Longer runs add flows and compare them with uniform fine cells. */
kf_status kf_case_nested_flows(kf_validation *validation, kf_error *error) {
    /* At Reynolds numbers of 1000 with the edge and 100 with the wave's; viscosities over the edge. */
    const nested_flow shear = {.state = double_shear,
                               .nodes = {1, 1, 4},
                               .viscosity = 0.04 / 1000.0,
                               .speed = 0.04},
                      decay = {.state = taylor_green,
                               .nodes = {1, 1, 1},
                               .viscosity = 0.05 / (2.0 * kf_pi) / 100.0,
                               .speed = 0.05};
    KF_TRY(check_uniform(validation, error));
    if (validation->quick) return KF_OK;
    KF_TRY(check_beside(validation, "shear layer", shear, 16, 0.25, error));
    return check_beside(validation, "Taylor-Green vortices", decay, 12, 1.0 / kf_pi, error);
}
