/* Makes flows on nested grids in memory. */
#ifndef KF_TESTS_UNIT_NESTED_STAGE_H
#define KF_TESTS_UNIT_NESTED_STAGE_H

#include <math.h>
#include <string.h>

#include "solver/kinetic/nested_reference.h"
#include "solver/validation/flow.h"

/* A flow in cells and steps of the coarsest level, and the number of a level's own cells in one of these. */
typedef struct flow {
    void (*state)(const struct flow *flow, const double at[3], double *density, double velocity[3]);
    double finer, nodes, speed, stream[3], body_force[3];
    kf_rate_rule rule;
} flow;

static inline void at_node(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const flow *f = context;
    const double at[3] = {(i + 0.5) / f->finer - 0.5, (j + 0.5) / f->finer - 0.5, (k + 0.5) / f->finer - 0.5};
    f->state(f, at, density, velocity);
    for (int a = 0; a < 3; a++) /* of which half a step's force is taken off again */
        velocity[a] += 0.5 * f->body_force[a] / f->finer;
}

static inline void uniform(const flow *f, const double at[3], double *density, double velocity[3]) {
    (void)at;
    *density = 1.0;
    memcpy(velocity, f->stream, sizeof f->stream);
}

static inline void vortices(const flow *f, const double at[3], double *density, double velocity[3]) {
    const double x = 2.0 * kf_pi * at[0] / f->nodes, y = 2.0 * kf_pi * at[1] / f->nodes;
    *density = 1.0 + 0.75 * f->speed * f->speed * (cos(2.0 * x) + cos(2.0 * y));
    velocity[0] = f->speed * sin(x) * cos(y);
    velocity[1] = -f->speed * cos(x) * sin(y);
    velocity[2] = 0.0;
}

/* A pulse of sound that goes towards larger x. */
static inline void pulse(const flow *f, const double at[3], double *density, double velocity[3]) {
    const double deviation = f->speed * exp(-pow((at[0] - 0.25 * f->nodes) / (0.08 * f->nodes), 2));
    *density = 1.0 + deviation;
    velocity[0] = deviation / sqrt(3.0);
    velocity[1] = velocity[2] = 0.0;
}

/* The levels of one flow. */
typedef struct stage {
    flow flows[KF_MOST_LEVELS];
    kf_scene *whole[KF_MOST_LEVELS];
    kf_nested *nested;
    kf_nested_run *run;
} stage;

/* Makes the domains of all levels. `nodes` are those of the coarsest. */
static inline void begin(stage *s, flow f, const int nodes[3], double viscosity, int levels) {
    memset(s, 0, sizeof *s);
    for (int l = 0; l < levels; l++) {
        const int finer = 1 << l;
        s->flows[l] = f;
        s->flows[l].finer = finer;
        s->whole[l] =
            kf_flow_box("nested", finer * nodes[0], finer * nodes[1], finer * nodes[2], finer * viscosity);
        s->whole[l]->rate_rule = f.rule;
        s->whole[l]->initial_state = at_node;
        s->whole[l]->initial_context = &s->flows[l];
        for (int a = 0; a < 3; a++)
            s->whole[l]->body_force[a] = f.body_force[a] / finer;
    }
}

static inline kf_status nest(stage *s, const kf_cell_box *boxes, int levels, kf_error *error) {
    s->whole[0]->finer_count = levels - 1;
    for (int l = 1; l < levels; l++) {
        s->whole[0]->finer[l - 1] = s->whole[l];
        s->whole[0]->boxes[l - 1] = boxes[l - 1];
    }
    return kf_nested_make(s->whole[0], &s->nested, error);
}

static inline void end(stage *s) {
    kf_nested_free(s->nested);
    s->whole[0]->finer_count = 0;
    for (int l = 0; l < KF_MOST_LEVELS; l++)
        kf_scene_free(s->whole[l]);
}

static const kf_cell_box two_boxes[] = {{{3, 3, 3}, {9, 9, 9}}, {{9, 9, 9}, {14, 14, 15}}};

#endif
