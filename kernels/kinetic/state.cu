/* The state of the simulation: initial populations, fields for output, checkpoints, and the domain
 * averages by which the adaptive relaxation rule divides. */
#include "arguments.h"
typedef kf_state_arguments kf_module_arguments; /* the headers' functions take this type */

#include "averages.h"
#include "left.h"

/* These kernels exchange a slab of planes with compact arrays. The extent is (nodes_x, nodes_y, planes),
 * from first_plane on. With cuts across y it has some rows of these planes, from first_row on. */
#if KF_CUT_Y
#define KF_SLAB_ROWS y += a->part.first_row;
#else
#define KF_SLAB_ROWS
#endif
#define KF_SLAB_BEGIN                                                                                        \
    KF_SLAB_ROWS                                                                                             \
    const kf_index k = kf_node(a, x, y, a->part.first_plane + z);                                            \
    const long long plane = (long long)a->grid.nodes[0] * a->grid.nodes[1];                                  \
    const long long in_plane = x + (long long)a->grid.nodes[0] * kf_home_row(a, y);

#if KF_MOMENTS
/* Sets moments in equilibrium with a density (less 1) [z][y][x] and a velocity [3][z][y][x]. With a body
 * force they are those about a velocity that gains half of it. (F / 2)^3 is lost, because moments of third
 * order are not stored. */
KF_SCALAR_KERNEL(initialise, kf_module_arguments) {
    KF_SLAB_BEGIN
    const long long count = plane * a->extent[2], n = plane * z + in_plane;
    const kf_real *u = (const kf_real *)a->fields.velocity;
    kf_moments m;
    m.deviation = KF_R(KF_UNIT) * ((const kf_real *)a->fields.density)[n];
    const kf_real half_per_density = KF_R(0.5) / (KF_R(KF_UNIT) + m.deviation);
    m.ux = u[n] - KF_BODY_X * half_per_density;
    m.uy = u[count + n] - KF_BODY_Y * half_per_density;
    m.uz = u[2 * count + n] - KF_BODY_Z * half_per_density;
#if KF_BODY_FORCE
    const kf_real per_density = KF_R(0.125) / (KF_R(KF_UNIT) + m.deviation);
    m.xx = KF_BODY_X * KF_BODY_X * per_density;
    m.yy = KF_BODY_Y * KF_BODY_Y * per_density;
    m.zz = KF_BODY_Z * KF_BODY_Z * per_density;
    m.xy = KF_BODY_X * KF_BODY_Y * per_density;
    m.xz = KF_BODY_X * KF_BODY_Z * per_density;
    m.yz = KF_BODY_Y * KF_BODY_Z * per_density;
#else
    m.xx = m.yy = m.xy = m.xz = m.yz = KF_R(0.0);
#endif
    kf_store_moments(a, a->populations.source, k, m);
}

/* Copies the moments' words as [z][i][y][x] to density, marks included. The list is saved beside them. */
KF_SCALAR_KERNEL(pack, kf_module_arguments) {
    KF_SLAB_BEGIN
    kf_word *compact = (kf_word *)a->fields.density + KF_NODE_WORDS * plane * z + in_plane;
    KF_UNROLL
    for (int i = 0; i < KF_NODE_WORDS; i++)
        compact[i * plane] = *kf_moment_address(a, a->populations.source, i, k);
}
KF_SCALAR_KERNEL(unpack, kf_module_arguments) {
    KF_SLAB_BEGIN
    const kf_word *compact = (const kf_word *)a->fields.density + KF_NODE_WORDS * plane * z + in_plane;
    KF_UNROLL
    for (int i = 0; i < KF_NODE_WORDS; i++)
        *kf_moment_address(a, a->populations.source, i, k) = compact[i * plane];
}
#if KF_CUT_Y
/* Begins a kernel over a box of nodes: rows from first_row on in planes from first_plane on, as
 * [i][z][y][x]. */
#define KF_BOX_BEGIN                                                                                         \
    const kf_index k = kf_node(a, x, a->part.first_row + y, a->part.first_plane + z);                        \
    const long long step = (long long)a->extent[0] * a->extent[1] * a->extent[2];                            \
    const long long place = x + a->extent[0] * (y + (long long)a->extent[1] * z);
KF_SCALAR_KERNEL(pack_box, kf_module_arguments) {
    KF_BOX_BEGIN
    kf_word *compact = (kf_word *)a->fields.density + place;
    KF_UNROLL
    for (int i = 0; i < KF_NODE_WORDS; i++)
        compact[i * step] = *kf_moment_address(a, a->populations.source, i, k);
}
KF_SCALAR_KERNEL(unpack_box, kf_module_arguments) {
    KF_BOX_BEGIN
    const kf_word *compact = (const kf_word *)a->fields.density + place;
    KF_UNROLL
    for (int i = 0; i < KF_NODE_WORDS; i++)
        *kf_moment_address(a, a->populations.source, i, k) = compact[i * step];
}
#endif
#else
#define KF_SET_EQUILIBRIUM(i, name, cx, cy, cz)                                                              \
    *kf_address(a, a->populations.source, i, k) = kf_to_store(kf_equilibrium_deviation(                      \
        KF_W1(cx), KF_E(x, cx), KF_W1(cy), KF_E(y, cy), KF_W1(cz), KF_E(z, cz), deviation));

#define KF_NOTHING(i, name, cx, cy, cz) kf_real f_##name = KF_R(0.0);
#define KF_STORE_SOURCE(i, name, cx, cy, cz)                                                                 \
    *kf_address(a, a->populations.source, i, k) = kf_to_store(f_##name);

/* Sets populations in equilibrium with a density (less 1) [z][y][x] and a velocity [3][z][y][x]. */
KF_SCALAR_KERNEL(initialise, kf_module_arguments) {
    KF_SLAB_BEGIN
    const long long count = plane * a->extent[2], n = plane * z + in_plane;
    const kf_real deviation = ((const kf_real *)a->fields.density)[n];
    const kf_real *u = (const kf_real *)a->fields.velocity;
#if KF_VELOCITIES == 19
    const kf_real ux = u[n], uy = u[count + n], uz = u[2 * count + n], keep = KF_R(0.0);
    const kf_real q_x = KF_R(0.0), q_y = KF_R(0.0), q_z = KF_R(0.0), a_xx = KF_R(0.0), a_yy = KF_R(0.0),
                  a_zz = KF_R(0.0), a_xy = KF_R(0.0), a_xz = KF_R(0.0), a_yz = KF_R(0.0);
    KF_EACH_VELOCITY(KF_NOTHING)
    KF_REBUILD_19(keep, KF_R(1.0), deviation)
    KF_EACH_VELOCITY(KF_STORE_SOURCE)
#else
    KF_EQUILIBRIUM_FACTORS(x, u[n])
    KF_EQUILIBRIUM_FACTORS(y, u[count + n])
    KF_EQUILIBRIUM_FACTORS(z, u[2 * count + n])
    KF_EACH_VELOCITY(KF_SET_EQUILIBRIUM)
#endif
}

/* Copy populations to and from density as [z][i][y][x], whatever the layout, so that checkpoints do not
 * depend on it. */
#define KF_PACK(i, name, cx, cy, cz)   compact[(i)*plane] = *kf_address(a, a->populations.source, i, k);
#define KF_UNPACK(i, name, cx, cy, cz) *kf_address(a, a->populations.source, i, k) = compact[(i)*plane];
KF_SCALAR_KERNEL(pack, kf_module_arguments) {
    KF_SLAB_BEGIN
    kf_stored *compact = (kf_stored *)a->fields.density + KF_VELOCITIES * plane * z + in_plane;
    KF_EACH_VELOCITY(KF_PACK)
}
KF_SCALAR_KERNEL(unpack, kf_module_arguments) {
    KF_SLAB_BEGIN
    const kf_stored *compact = (const kf_stored *)a->fields.density + KF_VELOCITIES * plane * z + in_plane;
    KF_EACH_VELOCITY(KF_UNPACK)
}

/* With KF_BOUNCED_Y or KF_BOUNCED_Z the band beside a cut across y or z has nodes at walls, which send
 * back what left them. So all populations are needed except in the farthest plane. */
#ifndef KF_BOUNCED_Y
#define KF_BOUNCED_Y 0
#endif
#ifndef KF_BOUNCED_Z
#define KF_BOUNCED_Z 0
#endif
/* Beside a cut a part gets only the populations that its nodes pull from beyond it: those that move
 * towards the reader. If the velocities of a band are computed beyond the cut (in several planes), all but
 * the farthest plane also give the populations that stay in their plane, and all but the two farthest
 * those that move the other way. The values are in density plane by plane, [value][y][x]. cut_side 1: the
 * reader is above; -1: below. */
#define KF_COUNT_UP(i, name, cx, cy, cz)    +((cz) > 0)
#define KF_COUNT_LEVEL(i, name, cx, cy, cz) +((cz) == 0)
enum { KF_UP = 0 KF_EACH_VELOCITY(KF_COUNT_UP), KF_LEVEL = 0 KF_EACH_VELOCITY(KF_COUNT_LEVEL) };
KF_FUNCTION int kf_planes_beyond(const kf_module_arguments *a, int z) {
    return a->part.cut_side > 0 ? z : a->extent[2] - 1 - z; /* planes farther from the cut than the first */
}
KF_FUNCTION long long kf_values_before(const kf_module_arguments *a, int z) {
    long long values = 0;
    for (int q = 0; q < z; q++) {
        const int beyond = kf_planes_beyond(a, q);
        values += KF_UP + (beyond > 0 ? KF_LEVEL : 0) + (beyond > !KF_BOUNCED_Z ? KF_UP : 0);
    }
    return values;
}
/* Returns whether a population with this velocity along z is needed, `beyond` planes farther from the cut
 * than the first. */
#define KF_CROSSES(cz)                                                                                       \
    ((cz)*a->part.cut_side > 0 || /* towards the reader */                                                   \
     ((cz) == 0 && beyond > 0) || beyond > !KF_BOUNCED_Z)
#define KF_PACK_CUT(i, name, cx, cy, cz)                                                                     \
    if (KF_CROSSES(cz)) compact[value++ * plane] = *kf_address(a, a->populations.source, i, k);
#define KF_UNPACK_CUT(i, name, cx, cy, cz)                                                                   \
    if (KF_CROSSES(cz)) *kf_address(a, a->populations.source, i, k) = compact[value++ * plane];
KF_SCALAR_KERNEL(pack_cut, kf_module_arguments) {
    KF_SLAB_BEGIN
    const int beyond = kf_planes_beyond(a, z);
    kf_stored *compact = (kf_stored *)a->fields.density + kf_values_before(a, z) * plane + in_plane;
    int value = 0;
    KF_EACH_VELOCITY(KF_PACK_CUT)
}
KF_SCALAR_KERNEL(unpack_cut, kf_module_arguments) {
    KF_SLAB_BEGIN
    const int beyond = kf_planes_beyond(a, z);
    const kf_stored *compact =
        (const kf_stored *)a->fields.density + kf_values_before(a, z) * plane + in_plane;
    int value = 0;
    KF_EACH_VELOCITY(KF_UNPACK_CUT)
}

#if KF_CUT_Y
/* Packs and unpacks a box of nodes beside a cut across z (cut_side), across y (cut_row), or where both
 * meet. The extent is (nodes_x, rows, planes), from first_row and first_plane on. Along a cut axis rows or
 * planes follow each other, each with its own number of values. Along the other axis all have the same
 * number and are stored together: [value][the other][x]. */
KF_FUNCTION int kf_is_pulled(int c, int side, int beyond, int bounced) {
    return side == 0 || c * side > 0 || (c == 0 && beyond > 0) || beyond > !bounced;
}
KF_FUNCTION int kf_rows_beyond(const kf_module_arguments *a, int y) {
    return a->part.cut_row > 0 ? y : a->extent[1] - 1 - y;
}
#define KF_PULLED(cy, cz)                                                                                    \
    (kf_is_pulled(cy, a->part.cut_row, beyond_y, KF_BOUNCED_Y) &&                                            \
     kf_is_pulled(cz, a->part.cut_side, beyond_z, KF_BOUNCED_Z))
#define KF_COUNT_PULLED(i, name, cx, cy, cz) +KF_PULLED(cy, cz)
/* Returns the place of a node's first value, and sets step to the distance between its values. */
KF_FUNCTION long long kf_box_place(const kf_module_arguments *a, int x, int y, int z, long long *step) {
    const int ny = a->part.cut_row != 0 ? a->extent[1] : 1, nz = a->part.cut_side != 0 ? a->extent[2] : 1;
    const int row = a->part.cut_row != 0 ? y : 0, plane = a->part.cut_side != 0 ? z : 0;
    long long values = 0;
    for (int q = 0; q < nz; q++)
        for (int r = 0; r < ny; r++) {
            const int beyond_y = kf_rows_beyond(a, r), beyond_z = kf_planes_beyond(a, q);
            if (q < plane || (q == plane && r < row)) values += 0 KF_EACH_VELOCITY(KF_COUNT_PULLED);
        }
    *step = (long long)a->extent[0] * (a->extent[1] / ny) * (a->extent[2] / nz);
    return values * *step + x + (long long)a->extent[0] * (y - row + z - plane);
}
#define KF_BOX_BEGIN                                                                                         \
    const kf_index k = kf_node(a, x, a->part.first_row + y, a->part.first_plane + z);                        \
    const int beyond_y = kf_rows_beyond(a, y), beyond_z = kf_planes_beyond(a, z);                            \
    int value = 0;                                                                                           \
    long long step;                                                                                          \
    const long long place = kf_box_place(a, x, y, z, &step);
#define KF_PACK_BOX(i, name, cx, cy, cz)                                                                     \
    if (KF_PULLED(cy, cz)) compact[value++ * step] = *kf_address(a, a->populations.source, i, k);
#define KF_UNPACK_BOX(i, name, cx, cy, cz)                                                                   \
    if (KF_PULLED(cy, cz)) *kf_address(a, a->populations.source, i, k) = compact[value++ * step];
KF_SCALAR_KERNEL(pack_box, kf_module_arguments) {
    KF_BOX_BEGIN
    kf_stored *compact = (kf_stored *)a->fields.density + place;
    KF_EACH_VELOCITY(KF_PACK_BOX)
}
KF_SCALAR_KERNEL(unpack_box, kf_module_arguments) {
    KF_BOX_BEGIN
    const kf_stored *compact = (const kf_stored *)a->fields.density + place;
    KF_EACH_VELOCITY(KF_UNPACK_BOX)
}
#endif

#endif

/* Writes the density (less 1) [z][y][x] and the velocity [3][z][y][x] after the last step. The velocity
 * includes half of the body force. */
KF_SCALAR_KERNEL(read_fields, kf_module_arguments) {
    KF_SLAB_BEGIN
    const long long count = plane * a->extent[2], n = plane * z + in_plane;
    KF_LOAD_LEFT
    KF_DECLARE_STATE(-KF_BODY_X, -KF_BODY_Y, -KF_BODY_Z)
    kf_real *u = (kf_real *)a->fields.velocity;
    ((kf_real *)a->fields.density)[n] = KF_R(1.0 / KF_UNIT) * deviation;
    u[n] = ux;
    u[count + n] = uy;
    u[2 * count + n] = uz;
}

/* Sums over every fourth row along y and z (averages.h). An item takes rows with a stride. The extent is
 * (nodes_x, items along y). */
KF_SCALAR_KERNEL(average_sum, kf_module_arguments) {
    (void)z;
    const int rows_y = (a->grid.nodes[1] + KF_AVERAGE_STRIDE - 1) / KF_AVERAGE_STRIDE;
    const int rows_z = (a->grid.nodes[2] + KF_AVERAGE_STRIDE - 1) / KF_AVERAGE_STRIDE;
    long long sums[3];
    sums[0] = sums[1] = sums[2] = 0;
    for (int row = y; row < rows_y * rows_z; row += a->extent[1]) {
        if (!kf_is_own_row(a, row % rows_y * KF_AVERAGE_STRIDE, row / rows_y * KF_AVERAGE_STRIDE)) continue;
        const kf_index k = kf_node(a, x, row % rows_y * KF_AVERAGE_STRIDE, row / rows_y * KF_AVERAGE_STRIDE);
        KF_LOAD_LEFT
        kf_real given[KF_VELOCITIES];
        KF_EACH_VELOCITY(KF_GIVE_POPULATION)
        kf_sum_node(given, sums);
    }
    kf_add_to_averages(a, x + 31 * y, sums);
}

/* Computes the reciprocals of the averages, and sets the sums to 0. A fluid at rest has no mean momentum.
 * Its reciprocal is 0, which leaves the momentum out of the rule. The extent is one block of
 * KF_AVERAGE_SLOTS threads. */
KF_BLOCK_KERNEL(average_finish, kf_module_arguments) {
    KF_SHARED long long sums[3][KF_AVERAGE_SLOTS];
    (void)block_x, (void)block_y;
    KF_EACH_THREAD_SCALAR(t, KF_AVERAGE_SLOTS) {
        for (int i = 0; i < 3; i++) {
            sums[i][t] = a->fields.average_sums[3 * t + i];
            a->fields.average_sums[3 * t + i] = 0;
#if KF_TEAM
            for (int part = 1; part < a->part.parts; part++)
                sums[i][t] += a->fields.average_sums[3 * (part * KF_AVERAGE_SLOTS + t) + i];
#endif
        }
    }
    for (int half = KF_AVERAGE_SLOTS / 2; half > 0; half /= 2) {
        KF_BARRIER;
        KF_EACH_THREAD_SCALAR(t, KF_AVERAGE_SLOTS) {
            for (int i = 0; i < 3; i++)
                if (t < half) sums[i][t] += sums[i][t + half];
        }
    }
    KF_BARRIER;
    KF_EACH_THREAD_SCALAR(t, KF_AVERAGE_SLOTS) {
        const long long rows_y = (a->grid.nodes[1] + KF_AVERAGE_STRIDE - 1) / KF_AVERAGE_STRIDE;
        const long long rows_z = (a->grid.nodes[2] + KF_AVERAGE_STRIDE - 1) / KF_AVERAGE_STRIDE;
        const double count = (double)(rows_y * rows_z * a->grid.nodes[0]) * KF_AVERAGE_SCALE;
        if (t < 3) {
            const double average = (double)sums[t][0] / count;
            ((kf_real *)a->fields.averages)[t] = (kf_real)(average > 1e-9 ? 1.0 / average : 0.0);
        }
    }
}
