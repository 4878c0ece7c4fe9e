/* Cut links as the boundary of a solid whose surface moves through the grid: a prescribed motion covers
 * nodes of the fluid and uncovers others. There is no list of links. The items are the nodes of a box
 * around the solid. A table of the signed distance, turned by the step's pose, tells on which side of the
 * surface a node is.
 *
 * A node that the solid uncovers (refill_nodes) gets populations in equilibrium with the velocity of the
 * surface and the mean density of its neighbours in the fluid, plus their mean deviation from equilibrium.
 *
 * reflect_moving works on the nodes inside the solid that are beside the fluid. For each link to the fluid
 * it writes to such a node the population that the outer node pulls, by linear interpolation between
 * populations that left and that are there (Bouzidi, Firdaouss and Lallemand, Phys. Fluids 13, 3452,
 * 2001). The weights are never negative, so they amplify no waves at small viscosities, and nothing from
 * earlier steps is needed. The velocity of the surface takes 6 w (c . velocity) of the density at the
 * outer node from it (Ladd, J. Fluid Mech. 271, 285, 1994). The fluid is denser before the solid than
 * behind it, and with one density for both it would lose mass. All other populations of the node are those
 * of fluid at rest. A thread writes to its own node only, and reads nodes of the fluid only.
 *
 * Interpolation and nodes that are covered or uncovered conserve mass only on average. So the solid counts
 * the mass that the fluid has gained at it, and its links return that in about KF_MOVING_MASS_STEPS steps,
 * in proportion to their weights.
 *
 * Force and torque are the momentum that links exchange as the surface sees it (Wen et al., J. Comput.
 * Phys. 266, 161, 2014). So the momentum of nodes that are covered and uncovered needs no sum of its own.
 *
 * Define: KF_BODY_FORCE 1: the body force would accelerate fluid far inside, so this is set to rest in
 * every step. */
#include "moving_links_arguments.h"
typedef kf_moving_links_arguments kf_module_arguments; /* the headers' functions take this type */

#define KF_FREE 0
#include "distance_lookup.h"
#include "load.h"
#include "prescribed.h"

enum { KF_CODES = 27, KF_MIDDLE = 13 };

KF_FUNCTION void kf_add_mass(const kf_module_arguments *a, int item, double gained, double weight) {
    kf_int64 *sums = (kf_int64 *)a->moving.mass->sums + 2 * (item % KF_LOAD_SLOTS);
    if (fabs(gained) < KF_FORCE_LIMIT) /* in fixed point a diverged value would look like a mass */
        kf_atomic_add_int64(sums, kf_fixed_point(gained, KF_FORCE_SCALE));
    if (weight > 0.0) kf_atomic_add_int64(sums + 1, kf_fixed_point(weight, KF_FORCE_SCALE));
}

/* Adds the last step's gain to the mass, and computes what links return of it. */
KF_FUNCTION void kf_weigh(const kf_module_arguments *a) {
    kf_int64 *sums = (kf_int64 *)a->moving.mass->sums, gained = 0, weight = 0;
    KF_UNROLL_BY_8
    for (int slot = 0; slot < KF_LOAD_SLOTS; slot++) {
        gained += sums[2 * slot];
        weight += sums[2 * slot + 1];
    }
    for (int i = 0; i < 2 * KF_LOAD_SLOTS; i++)
        sums[i] = 0;
    a->moving.mass->gained += (double)gained * (1.0 / KF_FORCE_SCALE);
    a->moving.mass->taken =
        weight > 0 ? a->moving.mass->gained * (KF_FORCE_SCALE / KF_MOVING_MASS_STEPS) / (double)weight : 0.0;
}

/* Computes the pose of the step that begins, keeps the one before, and empties the load and the lists. The
 * extent is the number of the load's sums. */
KF_SCALAR_KERNEL(move_links, kf_module_arguments) {
    (void)y, (void)z;
    kf_clear_load(a, x);
    if (x < 2 * KF_MOVING_SLOTS) a->moving.counts[x] = 0;
    if (x > 0) return;
    kf_pose *pose = (kf_pose *)a->moving.pose;
    kf_prescribe_pose(pose + 1, pose->step > 0 ? (double)(pose->step - 1) : 0.0);
    kf_advance_prescribed(pose);
    kf_weigh(a);
}

/* Returns the place relative to the solid's centre, of its nearest periodic image. */
KF_FUNCTION double kf_moving_arm(const kf_module_arguments *a, const kf_pose *pose, int axis, double place) {
    const double arm = place - pose->center[axis];
    const int nodes = a->grid.nodes[axis];
    return a->moving.periodic[axis] ? arm - nodes * floor(arm / nodes + 0.5) : arm;
}

/* Returns the signed distance of a place from the surface. */
KF_FUNCTION double kf_moving_height(const kf_module_arguments *a, const kf_pose *pose, double x, double y,
                                    double z) {
    const double arm[3] = {kf_moving_arm(a, pose, 0, x), kf_moving_arm(a, pose, 1, y),
                           kf_moving_arm(a, pose, 2, z)};
    const double *r = pose->rotation;
    double body[3], share[3];
    for (int i = 0; i < 3; i++)
        body[i] = r[i] * arm[0] + r[3 + i] * arm[1] + r[6 + i] * arm[2] + pose->center_start[i];
    const float *d = kf_distances_around(&a->moving.distance, body, share);
    double sum = 0.0;
    for (int i = 0; i < 8; i++)
        sum += (double)d[kf_distance_corner(&a->moving.distance, i)] *
               ((i % 2 ? share[0] : 1.0 - share[0]) * (i / 2 % 2 ? share[1] : 1.0 - share[1]) *
                (i / 4 ? share[2] : 1.0 - share[2]));
    return sum;
}

/* A node of the box. kf_find_moving_node finds the node beside another in the direction of a code, and
 * returns whether it is in the domain. Across a periodic face its position is not brought back into the
 * domain, but its index is. */
typedef struct kf_moving_node {
    int at[3];
    kf_index index;
} kf_moving_node;
KF_FUNCTION int kf_find_moving_node(const kf_module_arguments *a, const int from[3], int code,
                                    kf_moving_node *node) {
    const int c[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
    int home[3];
    for (int i = 0; i < 3; i++) {
        const int nodes = a->grid.nodes[i];
        node->at[i] = home[i] = from[i] + c[i];
        if (home[i] >= 0 && home[i] < nodes) continue;
        if (!a->moving.periodic[i]) return 0;
        home[i] -= nodes * (int)floor((double)home[i] / nodes);
    }
    node->index = kf_node(a, home[0], home[1], home[2]);
    return 1;
}
KF_FUNCTION double kf_height_of_node(const kf_module_arguments *a, const kf_pose *pose,
                                     const kf_moving_node *node) {
    return kf_moving_height(a, pose, node->at[0], node->at[1], node->at[2]);
}

/* Finds the node with this number in the box. Returns whether it is in the domain. */
KF_FUNCTION int kf_begin_moving(const kf_module_arguments *a, int number, kf_moving_node *node) {
    const double *center = ((const kf_pose *)a->moving.pose)->center, *below = a->moving.below;
    const int row = number / a->moving.box[0], plane = row / a->moving.box[1];
    const int from[3] = {(int)floor(center[0] - below[0]) + number - row * a->moving.box[0],
                         (int)floor(center[1] - below[1]) + row - plane * a->moving.box[1],
                         (int)floor(center[2] - below[2]) + plane};
    return kf_find_moving_node(a, from, KF_MIDDLE, node);
}
KF_FUNCTION int kf_number_of(const kf_module_arguments *a, int x, int y, int z) {
    return x + a->moving.box[0] * (y + a->moving.box[1] * z);
}

/* Returns the velocity of the solid at a place. */
KF_FUNCTION void kf_moving_velocity(const kf_pose *pose, const double arm[3], double velocity[3]) {
    const double *w = pose->angular_velocity;
    velocity[0] = pose->velocity[0] + w[1] * arm[2] - w[2] * arm[1];
    velocity[1] = pose->velocity[1] + w[2] * arm[0] - w[0] * arm[2];
    velocity[2] = pose->velocity[2] + w[0] * arm[1] - w[1] * arm[0];
}

KF_FUNCTION double kf_weight_of(int code) {
    return KF_WEIGHT_1D(code % 3 - 1) * KF_WEIGHT_1D(code / 3 % 3 - 1) * KF_WEIGHT_1D(code / 9 - 1);
}

/* Returns the part of an equilibrium factor that is due to the velocity, for the component c of a
 * population. */
KF_FUNCTION kf_real kf_factor(int c, kf_real u) {
    return c == 0 ? -u * u : KF_R(0.5) * (u * u + c * u);
}
/* Returns the equilibrium of a population at density 1 + deviation, less its value at rest. */
KF_FUNCTION kf_real kf_moving_equilibrium(int code, kf_real deviation, const kf_real u[3]) {
    const int cx = code % 3 - 1, cy = code / 3 % 3 - 1, cz = code / 9 - 1;
    const kf_real ex = kf_factor(cx, u[0]), ey = kf_factor(cy, u[1]), ez = kf_factor(cz, u[2]);
    const kf_real wx = KF_R(KF_WEIGHT_1D(cx)), wy = KF_R(KF_WEIGHT_1D(cy)), wz = KF_R(KF_WEIGHT_1D(cz));
    const kf_real xy = ex * (wy + ey) + wx * ey;
    const kf_real xyz = xy * (wz + ez) + wx * wy * ez;
    return xyz + deviation * (wx * wy * wz + xyz);
}

/* Returns a node's density less 1. */
KF_FUNCTION kf_real kf_moving_deviation(const kf_module_arguments *a, kf_index node) {
    kf_real sum = KF_R(0.0);
    KF_UNROLL
    for (int i = 0; i < KF_VELOCITIES; i++)
        sum += kf_population(a, a->populations.source, i, node);
    return sum * KF_R(1.0 / KF_UNIT);
}

/* The contributions of the neighbours of an uncovered node. */
typedef struct kf_refill {
    kf_real weight, deviation; /* sums of the weights, and of the densities less 1 */
    kf_real beyond[KF_CODES];  /* sums of the populations' deviations from equilibrium */
} kf_refill;

/* Adds a neighbour's density and its populations' deviations from equilibrium, times its weight. */
KF_FUNCTION void kf_add_neighbour(const kf_module_arguments *a, int beside, kf_index node, kf_refill *sum) {
    const kf_real weight = KF_R(kf_weight_of(beside));
    kf_real f[KF_CODES], deviation = KF_R(0.0), u[3] = {KF_R(0.0), KF_R(0.0), KF_R(0.0)};
    for (int code = 0; code < KF_CODES; code++) {
        f[code] = kf_population(a, a->populations.source, kf_directions[code], node) * KF_R(1.0 / KF_UNIT);
        deviation += f[code];
        u[0] += (code % 3 - 1) * f[code];
        u[1] += (code / 3 % 3 - 1) * f[code];
        u[2] += (code / 9 - 1) * f[code];
    }
    for (int i = 0; i < 3; i++)
        u[i] /= KF_R(1.0) + deviation;
    sum->weight += weight;
    sum->deviation += weight * deviation;
    for (int code = 0; code < KF_CODES; code++)
        sum->beyond[code] += weight * (f[code] - kf_moving_equilibrium(code, deviation, u));
}

/* Lists the nodes at which the step has work. An uncovered node is less than a cell from the surface. A
 * node that is covered takes its mass from the fluid here, before it is reset. The extent is the box. */
KF_SCALAR_KERNEL(list_moving, kf_module_arguments) {
    const kf_pose *pose = (const kf_pose *)a->moving.pose;
    const int number = kf_number_of(a, x, y, z), slot = number % KF_MOVING_SLOTS;
    kf_moving_node node;
    if (!kf_begin_moving(a, number, &node)) return;
    const double height = kf_height_of_node(a, pose, &node);
    const int inside = height < KF_MOVING_SURFACE;
    if (height > 1.0 || (!KF_BODY_FORCE && height <= -0.97 * KF_MOVING_FAR)) return;
    const int was_inside = height <= -1.0 || kf_height_of_node(a, pose + 1, &node) < KF_MOVING_SURFACE;
    if (!inside && !was_inside) return;
    if (inside && !was_inside) kf_add_mass(a, number, -(double)kf_moving_deviation(a, node.index), 0.0);
    const int place = kf_atomic_add_int(a->moving.counts + !inside * KF_MOVING_SLOTS + slot, 1);
    a->moving.list[slot * a->moving.room + (inside ? place : a->moving.room - 1 - place)] = number;
}

/* Fills a node that the solid has uncovered since the step before. Neighbours that were uncovered too
 * contribute nothing. */
KF_FUNCTION void kf_refill_node(const kf_module_arguments *a, int number) {
    const kf_pose *pose = (const kf_pose *)a->moving.pose;
    kf_moving_node node, beside;
    kf_begin_moving(a, number, &node);
    kf_refill sum = {KF_R(0.0), KF_R(0.0), {KF_R(0.0)}};
    for (int code = 0; code < KF_CODES; code++)
        if (code != KF_MIDDLE && kf_find_moving_node(a, node.at, code, &beside) &&
            kf_height_of_node(a, pose, &beside) >= KF_MOVING_SURFACE &&
            kf_height_of_node(a, pose + 1, &beside) >= KF_MOVING_SURFACE)
            kf_add_neighbour(a, code, beside.index, &sum);
    const kf_real per_weight = sum.weight > KF_R(0.0) ? KF_R(1.0) / sum.weight : KF_R(0.0);
    double arm[3], velocity[3];
    kf_real u[3];
    for (int i = 0; i < 3; i++)
        arm[i] = kf_moving_arm(a, pose, i, node.at[i]);
    kf_moving_velocity(pose, arm, velocity);
    for (int i = 0; i < 3; i++)
        u[i] = (kf_real)velocity[i];
    double gained = 0.0;
    for (int code = 0; code < KF_CODES; code++) {
        const kf_real value =
            kf_moving_equilibrium(code, sum.deviation * per_weight, u) + sum.beyond[code] * per_weight;
        gained += (double)value;
        kf_set_population(a, a->populations.source, kf_directions[code], node.index, KF_R(KF_UNIT) * value);
    }
    kf_add_mass(a, number, gained, 0.0);
}

/* Fills all uncovered nodes. The extent is KF_MOVING_SLOTS times the number of nodes that each part of the
 * list handles at once. */
KF_SCALAR_KERNEL(refill_nodes, kf_module_arguments) {
    (void)y, (void)z;
    const int slot = x % KF_MOVING_SLOTS, count = a->moving.counts[KF_MOVING_SLOTS + slot];
    for (int place = x / KF_MOVING_SLOTS; place < count; place += a->extent[0] / KF_MOVING_SLOTS)
        kf_refill_node(a, a->moving.list[(slot + 1) * a->moving.room - 1 - place]);
}

/* Returns the share of a link outside of the surface, from the distances at its outer and its inner node.
 * As the surface is curved, it also uses the distance at the place that these give. */
KF_FUNCTION double kf_moving_share(const kf_module_arguments *a, const kf_pose *pose, const int outer[3],
                                   const int c[3], double out, double in) {
    if (a->moving.half_way) return 0.5;
    if (in > 0.0) in = 0.0; /* the node is on the surface */
    const double q = out / (out - in);
    const double there =
        kf_moving_height(a, pose, outer[0] + q * c[0], outer[1] + q * c[1], outer[2] + q * c[2]);
    return there > 0.0 ? q + (1.0 - q) * (there / (there - in)) : q * (out / (out - there));
}

/* The sums over the links of an inner node. */
typedef struct kf_moving_sums {
    kf_int64 load[KF_LOAD_SUMS];
    double gained, weight; /* the mass that the fluid gains, and the weights of the links */
} kf_moving_sums;

/* Computes the population that returns to the outer node of a link, and adds its force and its mass.
 * `code` is that of the direction from the inner node to the outer one. */
KF_FUNCTION kf_real kf_return_to(const kf_module_arguments *a, const kf_pose *pose, int code,
                                 const kf_moving_node *outer, double out, double in, kf_moving_sums *sums) {
    const int c[3] = {1 - code % 3, 1 - code / 3 % 3, 1 - code / 9};
    const double share = kf_moving_share(a, pose, outer->at, c, out, in);
    const kf_real leaves =
        kf_population(a, a->populations.source, kf_directions[KF_CODES - 1 - code], outer->index);
    kf_moving_node behind;
    double arm[3], velocity[3];
    for (int i = 0; i < 3; i++)
        arm[i] = kf_moving_arm(a, pose, i, outer->at[i] + share * c[i]);
    kf_moving_velocity(pose, arm, velocity);
    const double along = c[0] * velocity[0] + c[1] * velocity[1] + c[2] * velocity[2];
    const kf_real q = (kf_real)share, drive = KF_R(KF_UNIT * 6.0 * kf_weight_of(code) * along) *
                                              (KF_R(1.0) + kf_moving_deviation(a, outer->index));
    kf_real value = leaves - drive;
    if (share > 0.5) {
        const kf_real part = KF_R(0.5) / q;
        value = part * value + (KF_R(1.0) - part) *
                                   kf_population(a, a->populations.source, kf_directions[code], outer->index);
    } else if (share < 0.5 && kf_find_moving_node(a, outer->at, code, &behind) &&
               kf_height_of_node(a, pose, &behind) >= KF_MOVING_SURFACE) {
        value += (KF_R(1.0) - KF_R(2.0) * q) *
                 (kf_population(a, a->populations.source, kf_directions[KF_CODES - 1 - code], behind.index) -
                  leaves);
    }
    value -= KF_R(KF_UNIT * kf_weight_of(code) * a->moving.mass->taken);
    const double both = (double)(leaves + value) * (1.0 / KF_UNIT),
                 lost = (double)(leaves - value) * (1.0 / KF_UNIT);
    sums->gained -= lost;
    sums->weight += kf_weight_of(code);
    kf_accumulate_load(sums->load, velocity[0] * lost - c[0] * both, velocity[1] * lost - c[1] * both,
                       velocity[2] * lost - c[2] * both, arm[0], arm[1], arm[2]);
    return value;
}

/* Sets a share of the populations of a node inside the solid to those of fluid at rest, except for those
 * that nodes of the fluid pull from it. */
KF_FUNCTION void kf_reflect_at(const kf_module_arguments *a, int number, int share) {
    const kf_pose *pose = (const kf_pose *)a->moving.pose;
    kf_moving_node node, outer;
    kf_moving_sums sums;
    kf_begin_moving(a, number, &node);
    const double in = kf_height_of_node(a, pose, &node);
    kf_begin_load(sums.load);
    sums.gained = sums.weight = 0.0;
    for (int i = 0; i < KF_CODES / KF_MOVING_SHARES; i++) {
        const int code = KF_CODES / KF_MOVING_SHARES * share + i;
        kf_real value = KF_R(0.0);
        if (code != KF_MIDDLE && kf_find_moving_node(a, node.at, code, &outer)) {
            const double out = kf_height_of_node(a, pose, &outer);
            if (out >= KF_MOVING_SURFACE) value = kf_return_to(a, pose, code, &outer, out, in, &sums);
        }
        kf_set_population(a, a->populations.source, kf_directions[code], node.index, value);
    }
    if (!(sums.weight > 0.0)) return;
    kf_add_load(a, number, sums.load);
    kf_add_mass(a, number, sums.gained, sums.weight);
}

/* Does this for all nodes inside that are near the surface. The extent is KF_MOVING_SLOTS times
 * KF_MOVING_SHARES times the number of nodes that each part of the list handles at once. */
KF_SCALAR_KERNEL(reflect_moving, kf_module_arguments) {
    (void)y, (void)z;
    const int slot = x % KF_MOVING_SLOTS, count = a->moving.counts[slot], rest = x / KF_MOVING_SLOTS;
    for (int place = rest / KF_MOVING_SHARES; place < count;
         place += a->extent[0] / (KF_MOVING_SLOTS * KF_MOVING_SHARES))
        kf_reflect_at(a, a->moving.list[slot * a->moving.room + place], rest % KF_MOVING_SHARES);
}

/* Sets all nodes inside to fluid at rest, before the state is read and once at the start. The extent is
 * the box. */
KF_SCALAR_KERNEL(rest_moving, kf_module_arguments) {
    kf_moving_node node;
    if (!kf_begin_moving(a, kf_number_of(a, x, y, z), &node) ||
        kf_height_of_node(a, (const kf_pose *)a->moving.pose, &node) >= KF_MOVING_SURFACE)
        return;
    for (int i = 0; i < KF_VELOCITIES; i++)
        kf_set_population(a, a->populations.source, i, node.index, KF_R(0.0));
}
