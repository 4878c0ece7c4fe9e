/* The reference solution on nested grids: one reference run for each level, and the exchanges between
 * levels, in double precision.
 *
 * Levels exchange density, velocity and the strain rate without its trace. The strain rate S comes from the
 * second moments P about the velocity after a collision, P = -(1 - w) 2 density S/(3 w), with the shear
 * relaxation rate w (Chapman and Enskog). So P changes from level to level by the factors (1 - w) and w of
 * both levels, and by two, the ratio of the time steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "solver/kinetic/nested_reference.h"
#include "solver/kinetic/reference.h"

struct kf_nested_run {
    const kf_nested *nested;
    kf_reference_run *runs[KF_MOST_LEVELS];
    double *state[KF_MOST_LEVELS];
};

/* The exchanged state of a node, in units of the coarser of the two levels. */
typedef struct node_state {
    double density, velocity[3], strain[3][3];
} node_state;

static double rate_of(const kf_scene *scene) {
    return 1.0 / (3.0 * scene->viscosity + 0.5);
}

static size_t count_of(const kf_scene *scene) {
    return (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
}

static size_t place_of(const kf_scene *scene, const int x[3]) {
    return (size_t)x[0] + (size_t)scene->nodes[0] * ((size_t)x[1] + (size_t)scene->nodes[1] * (size_t)x[2]);
}

/* Returns the ratio of the second moments after a collision to the strain rate, at density 1. */
static double left_by_strain(double omega) {
    return -(1.0 - omega) * 2.0 / (3.0 * omega);
}

/* Reads the state of node x of a level. `scale` converts strain rates from the level's units to the coarser
 * level's. */
static node_state look(const kf_nested_run *run, int level, const int x[3], double scale) {
    const kf_scene *scene = &run->nested->level[level].scene;
    node_state node;
    double j[3], second[3][3], trace = 0.0;
    node.density = kf_reference_sums(run->state[level] + place_of(scene, x), count_of(scene), j, second);
    for (int i = 0; i < 3; i++)
        node.velocity[i] = (j[i] - 0.5 * scene->body_force[i]) / node.density;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) { /* about the velocity: sum of (c - u)(c - u) f */
            second[i][k] -= node.velocity[i] * j[k] + node.velocity[k] * j[i] -
                            node.density * node.velocity[i] * node.velocity[k];
            if (i == k) trace += second[i][k];
        }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            node.strain[i][k] = scale * (second[i][k] - (i == k ? trace / 3.0 : 0.0)) /
                                (node.density * left_by_strain(rate_of(scene)));
    return node;
}

/* Sets the populations of node x of a level to this state after a collision, under the body force. About the
 * velocity, the moments of order 1 are half of the force, those of order 2 represent the strain, and all
 * others are in equilibrium. */
static void put(kf_nested_run *run, int level, const int x[3], const node_state *node, double scale) {
    const kf_scene *scene = &run->nested->level[level].scene;
    double *f = run->state[level] + place_of(scene, x);
    const double left = node->density * left_by_strain(rate_of(scene)) / scale;
    for (size_t i = 0; i < KF_REFERENCE_Q; i++) {
        const int *c = kf_reference_velocities[i];
        double factor[3][3], sum = kf_reference_equilibrium((int)i, node->density, node->velocity);
        for (int axis = 0; axis < 3; axis++) {
            const double u = node->velocity[axis];
            factor[axis][0] = c[axis] == 0 ? 2.0 / 3.0 - u * u : 0.5 * (1.0 / 3.0 + u * u + c[axis] * u);
            factor[axis][1] = c[axis] == 0 ? -2.0 * u : u + 0.5 * c[axis];
            factor[axis][2] = c[axis] == 0 ? -1.0 : 0.5;
        }
        for (int p = 0; p < 3; p++) {
            const int q = (p + 1) % 3, r = (p + 2) % 3;
            sum += left * node->strain[p][p] * factor[p][2] * factor[q][0] * factor[r][0] +
                   left * node->strain[p][q] * factor[p][1] * factor[q][1] * factor[r][0] +
                   0.5 * scene->body_force[p] * factor[p][1] * factor[q][0] * factor[r][0];
        }
        f[i * count_of(scene)] = sum;
    }
}

/* --- Crossing --------------------------------------------------------------------------------------------
 */

static void add(node_state *sum, double weight, const node_state *node) {
    sum->density += weight * node->density;
    for (int i = 0; i < 3; i++) {
        sum->velocity[i] += weight * node->velocity[i];
        for (int k = 0; k < 3; k++)
            sum->strain[i][k] += weight * node->strain[i][k];
    }
}

/* Reads a node whose coordinate along a periodic axis may lie up to one domain length outside the grid. */
static node_state look_around(const kf_nested_run *run, int level, const int x[3], double scale) {
    const int *n = run->nested->level[level].scene.nodes;
    const int home[3] = {(x[0] + n[0]) % n[0], (x[1] + n[1]) % n[1], (x[2] + n[2]) % n[2]};
    return look(run, level, home, scale);
}

/* Interpolates a level's state to node x of the next finer level, by the parabola through the three nearest
 * nodes along each axis. */
static node_state interpolate(const kf_nested_run *run, int level, const int x[3]) {
    const kf_nested_level *finer = &run->nested->level[level + 1];
    const kf_scene *scene = &run->nested->level[level].scene;
    node_state sum = {0};
    int middle[3];
    double weight[3][3];
    for (int axis = 0; axis < 3; axis++) {
        const double place = kf_nested_place(finer, axis, x[axis]);
        middle[axis] = (int)lround(place);
        if (scene->faces[2 * axis] != KF_PERIODIC && middle[axis] < 1) middle[axis] = 1;
        if (scene->faces[2 * axis] != KF_PERIODIC && middle[axis] > scene->nodes[axis] - 2)
            middle[axis] = scene->nodes[axis] - 2;
        const double off = place - middle[axis];
        weight[axis][0] = 0.5 * off * (off - 1.0);
        weight[axis][1] = 1.0 - off * off;
        weight[axis][2] = 0.5 * off * (off + 1.0);
    }
    for (int i = 0; i < 27; i++) {
        const int d[3] = {i % 3, i / 3 % 3, i / 9};
        const int at[3] = {middle[0] + d[0] - 1, middle[1] + d[1] - 1, middle[2] + d[2] - 1};
        const node_state node = look_around(run, level, at, 1.0);
        add(&sum, weight[0][d[0]] * weight[1][d[1]] * weight[2][d[2]], &node);
    }
    return sum;
}

static bool is_ghost(const kf_nested_level *level, const int x[3]) {
    for (int axis = 0; axis < 3; axis++)
        if (x[axis] < level->ghosts[2 * axis] ||
            x[axis] >= level->scene.nodes[axis] - level->ghosts[2 * axis + 1])
            return true;
    return false;
}

/* An exchange whose planes of ghost nodes or of cells are divided among threads. */
typedef struct crossing {
    kf_nested_run *run;
    int level;
    bool rim, rest; /* which cells get means */
} crossing;
enum { FEW_PLANES = 2 };

static void fill_planes(void *data, size_t begin, size_t end) {
    const crossing *c = data;
    const kf_nested_level *finer = &c->run->nested->level[c->level];
    const int *n = finer->scene.nodes;
    int x[3];
    for (x[2] = (int)begin; x[2] < (int)end; x[2]++)
        for (x[1] = 0; x[1] < n[1]; x[1]++)
            for (x[0] = 0; x[0] < n[0]; x[0]++) {
                if (!is_ghost(finer, x)) continue;
                const node_state node = interpolate(c->run, c->level - 1, x);
                put(c->run, c->level, x, &node, 2.0);
            }
}

/* Interpolates the ghosts of a level from the coarser one. */
static void fill_ghosts(kf_nested_run *run, int level) {
    crossing c = {.run = run, .level = level};
    kf_in_parallel((size_t)run->nested->level[level].scene.nodes[2], FEW_PLANES, fill_planes, &c);
}

/* Restricts the eight nodes of a level in one cell of the coarser level: their mean, less an eighth of the
 * second difference along each axis. The difference takes four nodes in a line, all of them in the box,
 * because ghost nodes are invalid at that time. */
static node_state middle_of(const kf_nested_run *run, int level, const int cell[3]) {
    const kf_nested_level *finer = &run->nested->level[level];
    node_state sum = {0};
    int low[3];
    for (int axis = 0; axis < 3; axis++)
        low[axis] = 2 * (cell[axis] - finer->first[axis]) + finer->ghosts[2 * axis];
    for (int b = 0; b < 8; b++) {
        const int x[3] = {low[0] + (b & 1), low[1] + (b >> 1 & 1), low[2] + (b >> 2)};
        const node_state node = look_around(run, level, x, 2.0);
        add(&sum, 0.125, &node);
    }
    for (int axis = 0; axis < 3; axis++) {
        const int first = finer->ghosts[2 * axis],
                  end = finer->scene.nodes[axis] - finer->ghosts[2 * axis + 1];
        int from = low[axis] - 1;
        if (finer->scene.faces[2 * axis] != KF_PERIODIC) {
            if (from > end - 4) from = end - 4;
            if (from < first) from = first;
        }
        for (int i = 0; i < 16; i++) {
            int x[3] = {low[0], low[1], low[2]};
            x[axis] = from + i % 4;
            x[(axis + 1) % 3] += i / 4 % 2;
            x[(axis + 2) % 3] += i / 8;
            const node_state node = look_around(run, level, x, 2.0);
            add(&sum, i % 4 == 0 || i % 4 == 3 ? -0.125 * 0.125 : 0.125 * 0.125, &node);
        }
    }
    return sum;
}

static void take_planes(void *data, size_t begin, size_t end) {
    const crossing *c = data;
    const kf_nested_level *finer = &c->run->nested->level[c->level];
    int i[3];
    for (i[2] = (int)begin; i[2] < (int)end; i[2]++)
        for (i[1] = 0; i[1] < finer->cells[1]; i[1]++)
            for (i[0] = 0; i[0] < finer->cells[0]; i[0]++) {
                const int cell[3] = {finer->first[0] + i[0], finer->first[1] + i[1], finer->first[2] + i[2]};
                if (!(kf_nested_is_rim(finer, cell) ? c->rim : c->rest)) continue;
                const node_state middle = middle_of(c->run, c->level, cell);
                put(c->run, c->level - 1, cell, &middle, 1.0);
            }
}

/* Restricts a level to cells of the coarser level: to those of the rim, and to the rest. */
static void take_means(kf_nested_run *run, int level, bool rim, bool rest) {
    crossing c = {.run = run, .level = level, .rim = rim, .rest = rest};
    kf_in_parallel((size_t)run->nested->level[level].cells[2], FEW_PLANES, take_planes, &c);
}

/* --- The run ---------------------------------------------------------------------------------------------
 */

kf_nested_run *kf_nested_begin(const kf_nested *nested) {
    kf_nested_run *run = kf_allocate_zeroed(1, sizeof *run);
    run->nested = nested;
    for (int l = 0; l < nested->count; l++) {
        run->runs[l] = kf_reference_begin(&nested->level[l].scene, false);
        run->state[l] = kf_reference_state(run->runs[l]);
    }
    return run;
}

static void advance(kf_nested_run *run, int level, int step) {
    const bool finer = level + 1 < run->nested->count;
    if (finer) fill_ghosts(run, level + 1);
    kf_reference_advance(run->runs[level], step);
    for (int l = 1; l < run->nested->count && level == 0; l++)
        kf_reference_give_averages(run->runs[l], run->runs[0]);
    if (!finer) return;
    advance(run, level + 1, 2 * step);
    advance(run, level + 1, 2 * step + 1);
    take_means(run, level + 1, true, false);
}

/* Averages over the domain are those of the coarsest grid. So the step first restricts finer levels to all
 * covered cells if averages are due. */
void kf_nested_advance(kf_nested_run *run, int step) {
    for (int l = run->nested->count - 1; l > 0 && kf_reference_averages_at(step); l--)
        take_means(run, l, false, true);
    advance(run, 0, step);
}

void kf_nested_end(kf_nested_run *run, kf_reference_result results[KF_MOST_LEVELS]) {
    kf_reference_rest_inside(run->runs[run->nested->count - 1]); /* the finest has the solid */
    for (int l = run->nested->count - 1; l > 0; l--)
        take_means(run, l, true, true);
    for (int l = 0; l < run->nested->count; l++)
        results[l] = kf_reference_end(run->runs[l]);
    free(run);
}

double kf_nested_mass(const kf_nested_run *run) {
    double mass = 0.0;
    for (int l = 0; l < run->nested->count; l++) {
        const kf_nested_level *level = &run->nested->level[l];
        int x[3];
        for (x[2] = 0; x[2] < level->scene.nodes[2]; x[2]++)
            for (x[1] = 0; x[1] < level->scene.nodes[1]; x[1]++)
                for (x[0] = 0; x[0] < level->scene.nodes[0]; x[0]++) {
                    if (l > 0 && is_ghost(level, x)) continue;
                    if (l + 1 < run->nested->count && kf_nested_covers(level + 1, x)) continue;
                    mass += ldexp(1.0, -3 * l) * look(run, l, x, 1.0).density;
                }
    }
    return mass;
}
