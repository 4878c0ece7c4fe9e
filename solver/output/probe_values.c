/* Interpolates velocity and pressure between the nodes of a plan's state. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/flow/flow_plan.h"
#include "solver/output/prober.h"

/* The nodes around a point, and their weights. */
typedef struct surroundings {
    size_t node[KF_CORNERS];
    double weight[KF_CORNERS];
    /* The nearest wall's share of the velocity. */
    double wall_share;
    double wall_velocity[3]; /* m/s */
} surroundings;

/* The nodes of any system. */
typedef struct lattice {
    int nodes[3];
    double origin[3], spacing[3];
    bool periodic[3];
    /* NULL when nothing is known of its faces. */
    const kf_scene *scene;
} lattice;

/* Looks for a wall within half a cell, where no node lies beyond the point. The velocity then approaches that
 * of the wall. */
static void look_for_wall(const lattice *l, int axis, double at, surroundings *s) {
    const kf_scene *scene = l->scene;
    const bool low = at < 0.0;
    const double share = low ? -2.0 * at : 2.0 * (at - (l->nodes[axis] - 1.0));
    const int face = 2 * axis + (low ? 0 : 1);
    if (share <= s->wall_share || scene == NULL || scene->faces[face] != KF_WALL) return;
    s->wall_share = fmin(share, 1.0);
    for (int a = 0; a < 3; a++)
        s->wall_velocity[a] = scene->face_velocity[face][a] * scene->cell_size / scene->time_step;
}

/* Finds the nodes around a point. Across a periodic face they are those of the other side. */
static void surround(const lattice *l, const double point[3], surroundings *s) {
    size_t low[3], high[3];
    double share[3];
    s->wall_share = 0.0;
    for (int a = 0; a < 3; a++) {
        const double last = l->nodes[a] - 1.0;
        const bool periodic = l->periodic[a];
        double at = (point[a] - l->origin[a]) / l->spacing[a];
        if (!periodic && (at < 0.0 || at > last)) look_for_wall(l, a, at, s);
        if (!periodic) at = fmin(fmax(at, 0.0), last);
        const double cell = floor(at);
        share[a] = at - cell;
        low[a] = (size_t)((int)(cell + l->nodes[a]) % l->nodes[a]);
        high[a] = share[a] > 0.0 ? (low[a] + 1) % (size_t)l->nodes[a] : low[a];
    }
    const size_t row = (size_t)l->nodes[0], plane = row * (size_t)l->nodes[1];
    for (size_t k = 0; k < KF_CORNERS; k++) {
        const bool up[3] = {(k & 1) != 0, (k & 2) != 0, (k & 4) != 0};
        s->weight[k] = 1.0;
        for (int a = 0; a < 3; a++)
            s->weight[k] *= up[a] ? share[a] : 1.0 - share[a];
        s->node[k] = (up[0] ? high[0] : low[0]) + row * (up[1] ? high[1] : low[1]) +
                     plane * (up[2] ? high[2] : low[2]);
    }
}

double kf_pressure_between(const double weight[KF_CORNERS], const float pressure[KF_CORNERS]) {
    double sum = 0.0, fluid = 0.0;
    for (size_t k = 0; k < KF_CORNERS; k++) {
        const double p = (double)pressure[k];
        if (!(weight[k] > 0.0) || p == 0.0) continue;
        sum += weight[k] * p;
        fluid += weight[k];
    }
    return fluid > 0.0 ? sum / fluid : 0.0;
}

static void interpolate(const surroundings *s, size_t count, float (*const at_corners)[KF_PROBED],
                        double (*values)[KF_PROBED]) {
    float pressure[KF_CORNERS];
    for (size_t i = 0; i < count; i++) {
        for (int a = 0; a < KF_PROBED - 1; a++) {
            double sum = 0.0;
            for (size_t k = 0; k < KF_CORNERS; k++)
                if (s[i].weight[k] > 0.0) sum += s[i].weight[k] * (double)at_corners[KF_CORNERS * i + k][a];
            values[i][a] = (1.0 - s[i].wall_share) * sum +
                           s[i].wall_share * (s[i].wall_share > 0.0 ? s[i].wall_velocity[a] : 0.0);
        }
        for (size_t k = 0; k < KF_CORNERS; k++)
            pressure[k] = at_corners[KF_CORNERS * i + k][KF_PROBED - 1];
        values[i][KF_PROBED - 1] = kf_pressure_between(s[i].weight, pressure);
    }
}

static int by_number(const void *one, const void *other) {
    const size_t a = *(const size_t *)one, b = *(const size_t *)other;
    return (a > b) - (a < b);
}

/* Reads from a flow just the nodes that are needed, in ascending order, in the units of its snapshots. */
static kf_status read_some(kf_plan *plan, const surroundings *s, size_t count, float (*at_corners)[KF_PROBED],
                           kf_error *error) {
    kf_flow_units units;
    kf_flow_units_of(kf_plan_scene(plan), &units);
    size_t *nodes = kf_allocate(KF_CORNERS * count * sizeof *nodes + 1), different = 0;
    for (size_t i = 0; i < KF_CORNERS * count; i++)
        nodes[i] = s[i / KF_CORNERS].node[i % KF_CORNERS];
    qsort(nodes, KF_CORNERS * count, sizeof *nodes, by_number);
    for (size_t i = 0; i < KF_CORNERS * count; i++)
        if (different == 0 || nodes[different - 1] != nodes[i]) nodes[different++] = nodes[i];
    float(*raw)[4] = kf_allocate(different * sizeof *raw + 1);
    const kf_status status = plan->methods->flow->nodes(plan, nodes, different, raw, error);
    for (size_t i = 0; i < KF_CORNERS * count && status == KF_OK; i++) {
        const size_t node = s[i / KF_CORNERS].node[i % KF_CORNERS];
        const size_t *found = bsearch(&node, nodes, different, sizeof *nodes, by_number);
        const float *value = raw[found - nodes];
        for (int a = 0; a < 3; a++)
            at_corners[i][a] = (float)(value[a + 1] * units.velocity);
        at_corners[i][3] = (float)((value[0] - 1.0) * units.pressure);
    }
    free(nodes);
    free(raw);
    return status;
}

static void take_from_snapshot(const kf_snapshot *snapshot, const char *pressure, const surroundings *s,
                               size_t count, float (*at_corners)[KF_PROBED]) {
    const float *velocity = kf_snapshot_find(snapshot, "velocity")->values,
                *p = pressure != NULL ? kf_snapshot_find(snapshot, pressure)->values : NULL;
    for (size_t i = 0; i < KF_CORNERS * count; i++) {
        const size_t node = s[i / KF_CORNERS].node[i % KF_CORNERS];
        for (size_t a = 0; a < 3; a++)
            at_corners[i][a] = velocity[3 * node + a];
        at_corners[i][3] = p != NULL ? p[node] : NAN;
    }
}

/* Makes the values of a flow, which reads the nodes around the points alone where its system can. */
static kf_status flow_values(kf_plan *plan, const surroundings *s, size_t count,
                             float (*at_corners)[KF_PROBED], const char *pressure, kf_error *error) {
    kf_snapshot snapshot = {.count = 0};
    if (plan->methods->flow->nodes != NULL) return read_some(plan, s, count, at_corners, error);
    const kf_status status = kf_plan_snapshot(plan, &snapshot, error);
    if (status == KF_OK) take_from_snapshot(&snapshot, pressure, s, count, at_corners);
    kf_snapshot_free(&snapshot);
    return status;
}

static void surround_all(const lattice *l, const double (*points)[3], size_t count, surroundings *s) {
    for (size_t i = 0; i < count; i++)
        surround(l, points[i], &s[i]);
}

/* Makes the values of a system whose snapshots are on nodes and have a velocity. */
static kf_status other_values(kf_plan *plan, const double (*points)[3], size_t count, surroundings *s,
                              float (*at_corners)[KF_PROBED], kf_error *error) {
    kf_snapshot snapshot = {.count = 0};
    kf_status status = kf_plan_snapshot(plan, &snapshot, error);
    if (status == KF_OK && (snapshot.on != KF_ON_NODES || kf_snapshot_find(&snapshot, "velocity") == NULL))
        status = kf_fail(error, KF_BAD_INPUT, "%s has no velocity at nodes that a probe could show",
                         plan->problem->name);
    if (status == KF_OK) {
        lattice l = {.scene = NULL};
        memcpy(l.nodes, snapshot.nodes, sizeof l.nodes);
        memcpy(l.periodic, snapshot.periodic, sizeof l.periodic);
        memcpy(l.origin, snapshot.origin, sizeof l.origin);
        memcpy(l.spacing, snapshot.spacing, sizeof l.spacing);
        surround_all(&l, points, count, s);
        take_from_snapshot(&snapshot, NULL, s, count, at_corners);
    }
    kf_snapshot_free(&snapshot);
    return status;
}

kf_status kf_probe_values(kf_plan *plan, const double (*points)[3], size_t count, double (*values)[KF_PROBED],
                          const char **pressure, const char **unit, kf_error *error) {
    surroundings *s = kf_allocate(count * sizeof *s + 1);
    float(*at_corners)[KF_PROBED] = kf_allocate(KF_CORNERS * count * sizeof *at_corners + 1);
    kf_status status;
    *pressure = *unit = NULL;
    if (plan->methods->flow != NULL) {
        const kf_scene *scene = kf_scene_of_outputs(kf_plan_scene(plan));
        const double h = scene->cell_size;
        lattice l = {.origin = {h / 2, h / 2, h / 2}, .spacing = {h, h, h}, .scene = scene};
        kf_flow_units units;
        memcpy(l.nodes, scene->nodes, sizeof l.nodes);
        for (int a = 0; a < 3; a++)
            l.periodic[a] = scene->faces[2 * a] == KF_PERIODIC;
        kf_flow_units_of(scene, &units);
        *pressure = units.pressure_name;
        *unit = units.pressure_unit;
        surround_all(&l, points, count, s);
        status = flow_values(plan, s, count, at_corners, *pressure, error);
    } else {
        status = other_values(plan, points, count, s, at_corners, error);
    }
    if (status == KF_OK) interpolate(s, count, at_corners, values);
    free(s);
    free(at_corners);
    return status;
}
