/* The reference of nested grids: a reference run a level, and what crosses between them, in double precision.
 *
 * A node says density, velocity and the rate of strain without its trace. The last comes from the second
 * moments P about the velocity that a collision leaves: (1 - w) times what it found, which is
 * -2 density/(3 w) times the rate (Chapman and Enskog; w is the shear rate). So it changes from level to
 * level by (1 - w) and w of each and by a factor of two in time. Interpolation is compact (Geier, Greiner,
 * Krafczyk 2009): from eight nodes, with the second derivatives that strain rates and mixed differences of
 * velocities give. It is exact for velocities of second degree. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/kinetic/nested_reference.h"
#include "solver/kinetic/reference.h"

struct kf_nested_run {
    const kf_nested *nested;
    kf_reference_run *runs[KF_MOST_LEVELS];
    double *state[KF_MOST_LEVELS];
};

/* What a node says, in units of the coarser of the two levels. */
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

/* Second moments a rate of strain leaves after a collision, over that rate, at density 1. */
static double left_by_strain(double omega) {
    return -(1.0 - omega) * 2.0 / (3.0 * omega);
}

/* Reads node x of a level; scale: strain rates in its own units times this are in the coarser level's. */
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

/* Gives node x of a level the populations of that state after a collision, under the body force: about the
 * velocity, moments of order 1 are half of the force, those of order 2 stand for the strain, and others are
 * those of equilibrium. */
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

/* --- Interpolation ---------------------------------------------------------------------------------------
 */

/* Value of a component of the eight corners, number b of corner axis (b >> axis & 1). */
static double *component(node_state *node, int number) {
    return number == 0  ? &node->density
           : number < 4 ? &node->velocity[number - 1]
                        : &node->strain[(number - 4) / 3][(number - 4) % 3];
}

/* Means over the corners of component, with sign + or - along the axes that differences is a mask of: the
 * mixed difference along those, at the middle. */
static double difference(node_state corners[8], int number, int axes) {
    double sum = 0.0;
    for (int b = 0; b < 8; b++) {
        double sign = 1.0;
        for (int axis = 0; axis < 3; axis++)
            if (axes >> axis & 1) sign *= b >> axis & 1 ? 2.0 : -2.0;
        sum += 0.125 * sign * *component(&corners[b], number);
    }
    return sum;
}

/* Second derivative of velocity u along an axis, from rates of strain and mixed differences. */
static double curvature(node_state corners[8], int u, int axis) {
    const int strain = 4 + 3 * u + axis;
    if (u != axis)
        return 2.0 * difference(corners, strain, 1 << axis) -
               difference(corners, 1 + axis, 1 << u | 1 << axis);
    double mixed = 0.0;
    for (int other = 0; other < 3; other++)
        if (other != u) mixed += difference(corners, 1 + other, 1 << u | 1 << other);
    return 1.5 * difference(corners, strain, 1 << axis) + 0.5 * mixed;
}

/* State at the place at (0 to 1 along each axis between the corners; a little outside where there is none
 * beyond). */
static node_state between(node_state corners[8], const double at[3], const double of_density[3]) {
    node_state node;
    for (int number = 0; number < 13; number++) {
        double *value = component(&node, number);
        *value = 0.0;
        for (int b = 0; b < 8; b++) {
            double weight = 1.0;
            for (int axis = 0; axis < 3; axis++)
                weight *= b >> axis & 1 ? at[axis] : 1.0 - at[axis];
            *value += weight * *component(&corners[b], number);
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        const double bulge = 0.5 * at[axis] * (1.0 - at[axis]);
        node.density -= bulge * of_density[axis];
        for (int u = 0; u < 3; u++)
            node.velocity[u] -= bulge * curvature(corners, u, axis);
    }
    return node;
}

/* --- Crossing --------------------------------------------------------------------------------------------
 */

/* A cube of nodes of a level: its lowest corner, and the nodes of the grid that are right. */
typedef struct cube {
    int level, low[3], first[3], end[3];
} cube;

static void wrap(const kf_scene *scene, int x[3]) {
    for (int axis = 0; axis < 3; axis++)
        x[axis] = (x[axis] + 2 * scene->nodes[axis]) % scene->nodes[axis];
}

/* Second differences of the density along each axis: the means over the four edges of a cube and the next
 * nodes of their lines. Beside nodes that are not right they are taken as far off as needed. */
static void bend(const kf_nested_run *run, const cube *in, double of_density[3]) {
    const kf_scene *scene = &run->nested->level[in->level].scene;
    for (int axis = 0; axis < 3; axis++) {
        const bool around = scene->faces[2 * axis] == KF_PERIODIC;
        int from = in->low[axis] - 1;
        if (!around && from > in->end[axis] - 4) from = in->end[axis] - 4;
        if (!around && from < in->first[axis]) from = in->first[axis];
        of_density[axis] = 0.0;
        for (int edge = 0; edge < 4; edge++)
            for (int k = 0; k < 4; k++) {
                int x[3] = {in->low[0], in->low[1], in->low[2]};
                x[axis] = from + k;
                x[(axis + 1) % 3] += edge & 1;
                x[(axis + 2) % 3] += edge >> 1;
                wrap(scene, x);
                double j[3], second[3][3];
                of_density[axis] +=
                    (k == 0 || k == 3 ? 0.125 : -0.125) *
                    kf_reference_sums(run->state[in->level] + place_of(scene, x), count_of(scene), j, second);
            }
    }
}

/* State at a place of a cube, 0 to 1 along each axis. */
static node_state within(const kf_nested_run *run, const cube *in, const double at[3]) {
    const kf_scene *scene = &run->nested->level[in->level].scene;
    node_state corners[8];
    double of_density[3];
    for (int b = 0; b < 8; b++) {
        int x[3];
        for (int axis = 0; axis < 3; axis++)
            x[axis] = in->low[axis] + (b >> axis & 1);
        wrap(scene, x);
        corners[b] = look(run, in->level, x, 1.0);
    }
    bend(run, in, of_density);
    return between(corners, at, of_density);
}

static bool is_ghost(const kf_nested_level *level, const int x[3]) {
    for (int axis = 0; axis < 3; axis++)
        if (x[axis] < level->ghosts[2 * axis] ||
            x[axis] >= level->scene.nodes[axis] - level->ghosts[2 * axis + 1])
            return true;
    return false;
}

/* State of a level at the place of node x of the next finer one. At a face the last nodes serve places
 * beyond them. */
static node_state state_below(const kf_nested_run *run, int level, const int x[3]) {
    const kf_nested_level *finer = &run->nested->level[level + 1];
    const kf_scene *scene = &run->nested->level[level].scene;
    cube in = {.level = level, .end = {scene->nodes[0], scene->nodes[1], scene->nodes[2]}};
    double at[3];
    for (int axis = 0; axis < 3; axis++) {
        const double place = kf_nested_place(finer, axis, x[axis]);
        int low = (int)floor(place);
        if (scene->faces[2 * axis] != KF_PERIODIC) {
            if (low > in.end[axis] - 2) low = in.end[axis] - 2;
            if (low < 0) low = 0;
        }
        in.low[axis] = low;
        at[axis] = place - low;
    }
    return within(run, &in, at);
}

/* Interpolates the ghosts of a level from the coarser one. */
static void fill_ghosts(kf_nested_run *run, int level) {
    const kf_nested_level *finer = &run->nested->level[level];
    const int *n = finer->scene.nodes;
    int x[3];
    for (x[2] = 0; x[2] < n[2]; x[2]++)
        for (x[1] = 0; x[1] < n[1]; x[1]++)
            for (x[0] = 0; x[0] < n[0]; x[0]++) {
                if (!is_ghost(finer, x)) continue;
                const node_state node = state_below(run, level - 1, x);
                put(run, level, x, &node, 2.0);
            }
}

/* State at the middle of the eight nodes of a level that a cell of the coarser level covers. Its ghosts are
 * not right any more. */
static node_state middle_of(const kf_nested_run *run, int level, const int cell[3]) {
    const kf_nested_level *finer = &run->nested->level[level];
    static const double middle[3] = {0.5, 0.5, 0.5};
    cube in = {.level = level};
    for (int axis = 0; axis < 3; axis++) {
        in.low[axis] = 2 * (cell[axis] - finer->first[axis]) + finer->ghosts[2 * axis];
        in.first[axis] = finer->ghosts[2 * axis];
        in.end[axis] = finer->scene.nodes[axis] - finer->ghosts[2 * axis + 1];
    }
    return within(run, &in, middle);
}

/* Gives cells of the coarser level the means of a level's nodes: those of the rim, or all. */
static void take_means(kf_nested_run *run, int level, bool all) {
    const kf_nested_level *finer = &run->nested->level[level];
    int i[3];
    for (i[2] = 0; i[2] < finer->cells[2]; i[2]++)
        for (i[1] = 0; i[1] < finer->cells[1]; i[1]++)
            for (i[0] = 0; i[0] < finer->cells[0]; i[0]++) {
                const int cell[3] = {finer->first[0] + i[0], finer->first[1] + i[1], finer->first[2] + i[2]};
                if (!all && !kf_nested_is_rim(finer, cell)) continue;
                const node_state middle = middle_of(run, level, cell);
                put(run, level - 1, cell, &middle, 0.5);
            }
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
    if (!finer) return;
    advance(run, level + 1, 2 * step);
    advance(run, level + 1, 2 * step + 1);
    take_means(run, level + 1, false);
}

void kf_nested_advance(kf_nested_run *run, int step) {
    advance(run, 0, step);
}

void kf_nested_end(kf_nested_run *run, kf_reference_result results[KF_MOST_LEVELS]) {
    for (int l = run->nested->count - 1; l > 0; l--)
        take_means(run, l, true);
    for (int l = 0; l < run->nested->count; l++)
        results[l] = kf_reference_end(run->runs[l]);
    free(run);
}

double kf_nested_mass(const kf_nested_run *run) {
    double mass = 0.0, size = 1.0;
    for (int l = 0; l < run->nested->count; l++, size *= 0.125) {
        const kf_nested_level *level = &run->nested->level[l];
        int x[3];
        for (x[2] = 0; x[2] < level->scene.nodes[2]; x[2]++)
            for (x[1] = 0; x[1] < level->scene.nodes[1]; x[1]++)
                for (x[0] = 0; x[0] < level->scene.nodes[0]; x[0]++) {
                    if (l > 0 && is_ghost(level, x)) continue;
                    if (l + 1 < run->nested->count && kf_nested_covers(level + 1, x)) continue;
                    mass += size * look(run, l, x, 1.0).density;
                }
    }
    return mass;
}
