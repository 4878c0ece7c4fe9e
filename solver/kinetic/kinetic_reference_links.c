/* The reference's solid by links whose surface leaves its place. The distance to its mesh decides on which
 * side each node is. Nodes that become fluid are filled, and populations return from the surface. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "solver/kinetic/reference_run.h"

typedef kf_reference_run reference_run;
/* A smaller distance counts as zero. */
static const double ON_SURFACE = 1e-6,
                    /* The gained mass is returned within this number of steps. */
    MASS_STEPS = 64;

/* Returns the signed distance of a place in the pose. */
static double distance_at(const reference_run *run, const kf_reference_solid *pose, const double place[3]) {
    double arm[3], body[3];
    for (int i = 0; i < 3; i++)
        arm[i] = place[i] - pose->center[i];
    kf_reference_nearest(run->scene, arm);
    for (int i = 0; i < 3; i++) {
        body[i] = pose->start[i];
        for (int j = 0; j < 3; j++)
            body[i] += pose->rotation[3 * j + i] * arm[j];
    }
    return kf_distance_at(&run->distance, body);
}

static void place_of(const reference_run *run, size_t node, int at[3]) {
    const size_t nx = (size_t)run->n[0], ny = (size_t)run->n[1];
    at[0] = (int)(node % nx);
    at[1] = (int)(node / nx % ny);
    at[2] = (int)(node / (nx * ny));
}

/* Finds the node this many links away along velocity i. Returns whether it exists. */
static bool step_along(const reference_run *run, size_t from, int i, int links, size_t *node) {
    int at[3];
    place_of(run, from, at);
    for (int a = 0; a < 3; a++) {
        at[a] += links * kf_reference_velocities[i][a];
        if (run->scene->faces[2 * a] == KF_PERIODIC)
            at[a] = ((at[a] % run->n[a]) + run->n[a]) % run->n[a];
        else if (at[a] < 0 || at[a] >= run->n[a])
            return false;
    }
    *node = kf_reference_node(run, at);
    return true;
}

static int opposite(const reference_run *run, int i) {
    const int *c = kf_reference_velocities[i];
    return run->numbers[1 - c[0]][1 - c[1]][1 - c[2]];
}

/* Sets the distances of all nodes at a step. */
static void find_distances(const reference_run *run, int step, double *distance) {
    kf_reference_solid pose = run->solid[0];
    kf_motion_pose(&run->scene->motion, step, pose.rotation, pose.center);
    for (size_t node = 0; node < run->count; node++) {
        int at[3];
        place_of(run, node, at);
        distance[node] = distance_at(run, &pose, (const double[3]){at[0], at[1], at[2]});
    }
}

/* Finds the velocity of the solid at a place, and its arm. */
static void solid_velocity(const reference_run *run, const double place[3], double arm[3],
                           double velocity[3]) {
    const kf_reference_solid *solid = &run->solid[0];
    for (int a = 0; a < 3; a++)
        arm[a] = place[a] - solid->center[a];
    kf_reference_nearest(run->scene, arm);
    kf_cross(solid->angular_velocity, arm, velocity);
    for (int a = 0; a < 3; a++)
        velocity[a] += solid->velocity[a];
}

/* Fills a node that comes free from its neighbours that were and are in the fluid. */
static void refill(reference_run *run, size_t node, const double *distance, const double *before) {
    double beyond[KF_REFERENCE_Q] = {0}, density = 0.0, all = 0.0, arm[3], velocity[3];
    int at[3];
    for (int d = 1; d < KF_REFERENCE_Q; d++) {
        size_t beside;
        double u[3], second[3][3];
        if (!step_along(run, node, d, 1, &beside) || distance[beside] < ON_SURFACE ||
            before[beside] < ON_SURFACE)
            continue;
        const double weight = run->weights[d],
                     here = kf_reference_sums(run->f + beside, run->count, u, second);
        for (int a = 0; a < 3; a++)
            u[a] /= here;
        for (size_t i = 0; i < KF_REFERENCE_Q; i++)
            beyond[i] +=
                weight * (run->f[i * run->count + beside] - kf_reference_equilibrium((int)i, here, u));
        density += weight * (here - 1.0);
        all += weight;
    }
    place_of(run, node, at);
    solid_velocity(run, (const double[3]){at[0], at[1], at[2]}, arm, velocity);
    for (size_t i = 0; i < KF_REFERENCE_Q; i++)
        run->f[i * run->count + node] =
            kf_reference_equilibrium((int)i, all > 0.0 ? 1.0 + density / all : 1.0, velocity) +
            (all > 0.0 ? beyond[i] / all : 0.0);
}

/* Returns where the surface cuts the link from a node of the fluid along velocity i, as a share of the link.
 */
static double find_share(const reference_run *run, const double from[3], int i, double out, double in) {
    if (run->scene->half_way) return 0.5;
    const double inner = fmin(in, 0.0), first = out / (out - inner);
    double place[3];
    for (int a = 0; a < 3; a++)
        place[a] = from[a] + first * kf_reference_velocities[i][a];
    const double there = distance_at(run, &run->solid[0], place);
    if (there > 0.0) return first + (1.0 - first) * there / (there - inner);
    return first * out / (out - there);
}

/* Puts what returns to a node of the fluid along a cut link where it will be streamed from. i: the velocity
 * to the surface. */
static void return_along(reference_run *run, size_t node, size_t inner, int i, const double *distance) {
    const int back = opposite(run, i), *c = kf_reference_velocities[i];
    const double *f = run->f;
    double place[3], arm[3], velocity[3], force[3], moment[3];
    int at[3];
    size_t behind;
    place_of(run, node, at);
    for (int a = 0; a < 3; a++)
        place[a] = at[a];
    const double q = find_share(run, place, i, distance[node], distance[inner]);
    for (int a = 0; a < 3; a++)
        place[a] += q * c[a];
    solid_velocity(run, place, arm, velocity);
    const double along = c[0] * velocity[0] + c[1] * velocity[1] + c[2] * velocity[2],
                 left = f[(size_t)i * run->count + node];
    double momentum[3], second[3][3];
    const double drive =
        6.0 * run->weights[i] * along * kf_reference_sums(f + node, run->count, momentum, second);
    double value = left - drive;
    if (q > 0.5)
        value = (value + (2.0 * q - 1.0) * f[(size_t)back * run->count + node]) / (2.0 * q);
    else if (q < 0.5 && step_along(run, node, back, 1, &behind) && distance[behind] >= ON_SURFACE)
        value = 2.0 * q * left + (1.0 - 2.0 * q) * f[(size_t)i * run->count + behind] - drive;
    value -= run->weights[i] * run->moving_taken;
    run->moving_gained += value - left;
    run->moving_weights += run->weights[i];
    run->f[(size_t)back * run->count + inner] = value;
    for (int a = 0; a < 3; a++)
        force[a] = c[a] * (left + value - 2.0 * run->weights[i]) - velocity[a] * (left - value);
    kf_cross(arm, force, moment);
    for (int a = 0; a < 3; a++) {
        run->load.force[a] += force[a];
        run->load.torque[a] += moment[a];
    }
}

static void rest(reference_run *run, const double *distance) {
    for (size_t node = 0; node < run->count; node++)
        for (size_t i = 0; i < KF_REFERENCE_Q && distance[node] < ON_SURFACE; i++)
            run->f[i * run->count + node] = run->weights[i];
}

/* Returns a node's density - 1. */
static double excess(const reference_run *run, size_t node) {
    double momentum[3], second[3][3];
    return kf_reference_sums(run->f + node, run->count, momentum, second) - 1.0;
}

void kf_reference_rest_moving(reference_run *run, int step) {
    double *distance = kf_allocate(run->count * sizeof *distance);
    if (run->distance.values == NULL) kf_scene_distance(run->scene, &run->distance);
    find_distances(run, step, distance);
    rest(run, distance);
    free(distance);
}

/* Counts the mass of nodes that are covered or come free, then reflects at every link of the new surface. */
void kf_reference_move_links(reference_run *run, int step) {
    double *distance = kf_allocate(run->count * sizeof *distance),
           *before = kf_allocate(run->count * sizeof *before);
    find_distances(run, step, distance);
    find_distances(run, step > 0 ? step - 1 : 0, before);
    kf_motion_pose(&run->scene->motion, step, run->solid[0].rotation, run->solid[0].center);
    memset(&run->load, 0, sizeof run->load);
    run->moving_taken =
        run->moving_weights > 0.0 ? run->moving_gained / MASS_STEPS / run->moving_weights : 0.0;
    run->moving_weights = 0.0;
    for (size_t node = 0; node < run->count; node++) {
        const bool in = distance[node] < ON_SURFACE, was_in = before[node] < ON_SURFACE;
        if (!in && was_in) refill(run, node, distance, before);
        if (in != was_in) run->moving_gained += in ? -excess(run, node) : excess(run, node);
    }
    rest(run, distance);
    for (size_t node = 0; node < run->count; node++)
        for (int i = 1; i < KF_REFERENCE_Q && distance[node] >= ON_SURFACE; i++) {
            size_t inner;
            if (step_along(run, node, i, 1, &inner) && distance[inner] < ON_SURFACE)
                return_along(run, node, inner, i, distance);
        }
    free(distance);
    free(before);
}
