/* Domain boundaries: what a node at the shell of the domain pulls from outside. Walls and inflow: half-way
 * bounce-back, f_i = f_opposite + 6 w_i c_i . u_face (Ladd 1994). Free slip: specular reflection. Outflow:
 * the population of the outermost node in that row; and once collided, an outflow node's density is set back
 * to 1 in its equilibrium, velocity and non-equilibrium kept (after Guo, Zheng and Shi 2002). Periodic: the
 * opposite side. At edges and corners the first wall or inflow that a population crosses, in the order x y z,
 * decides. A wall may mirror a share of what reaches it instead of sending it back (Maxwell 1879), which keeps
 * a wall that moves with the stream stable (docs/physics.md).
 *
 * Defines that a scene sets: KF_FACE_0 .. KF_FACE_5, each 0 periodic | 1 wall | 2 free slip | 3 inflow | 4
 * outflow. KF_SPECULAR 0|1: whether a wall mirrors a share. */
#ifndef KF_KERNELS_KINETIC_BOUNDARY_H
#define KF_KERNELS_KINETIC_BOUNDARY_H

#include "collision.h"

#define KF_IS_SOLID_FACE(kind) ((kind) == 1 || (kind) == 3)

/* Along one axis: whether the neighbour at s = position - c lies beyond the low face (-1) or the high face
 * (+1). */
KF_FUNCTION int kf_beyond(int s, int n) {
    return s < 0 ? -1 : s >= n ? 1 : 0;
}

/* What a ghost would keep of a value. */
KF_FUNCTION kf_real kf_as_stored(kf_real value) {
    return kf_from_store(kf_to_store(value));
}

/* The population that left node (x, y, z) with velocity (cx, cy, cz). */
KF_FUNCTION kf_real kf_leaving(const kf_kinetic_arguments *a, int cx, int cy, int cz, int x, int y, int z) {
    return kf_from_store(*kf_kept(a, a->source, kf_direction(cx, cy, cz), kf_node(a, x, y, z), cx, cy, cz));
}

#if KF_SPECULAR
/* What arrives of a population that is mirrored at each face it crosses, periodic ones apart. */
KF_FUNCTION kf_real kf_mirrored(const kf_kinetic_arguments *a, int cx, int cy, int cz, int x, int y, int z) {
    const int bx = kf_beyond(x - cx, a->nodes[0]), by = kf_beyond(y - cy, a->nodes[1]),
              bz = kf_beyond(z - cz, a->nodes[2]);
    const int mx = bx != 0 && KF_FACE_0 != 0, my = by != 0 && KF_FACE_2 != 0, mz = bz != 0 && KF_FACE_4 != 0;
    const int sx = mx ? x : x - cx - bx * a->nodes[0], sy = my ? y : y - cy - by * a->nodes[1],
              sz = mz ? z : z - cz - bz * a->nodes[2];
    return kf_leaving(a, mx ? -cx : cx, my ? -cy : cy, mz ? -cz : cz, sx, sy, sz);
}
#endif

/* The population of velocity (cx, cy, cz) that node (x, y, z) pulls, whether or not it comes from outside. */
KF_FUNCTION kf_real kf_incoming(const kf_kinetic_arguments *a, int cx, int cy, int cz, int x, int y, int z) {
    int sx = x - cx, sy = y - cy, sz = z - cz;
    const int bx = kf_beyond(sx, a->nodes[0]), by = kf_beyond(sy, a->nodes[1]),
              bz = kf_beyond(sz, a->nodes[2]);
    const int kind_x = bx < 0 ? KF_FACE_0 : KF_FACE_1, kind_y = by < 0 ? KF_FACE_2 : KF_FACE_3,
              kind_z = bz < 0 ? KF_FACE_4 : KF_FACE_5;
    const int solid_x = bx != 0 && KF_IS_SOLID_FACE(kind_x), solid_y = by != 0 && KF_IS_SOLID_FACE(kind_y),
              solid_z = bz != 0 && KF_IS_SOLID_FACE(kind_z);
    if (solid_x || solid_y || solid_z) {
        const int face = solid_x ? (bx > 0) : solid_y ? 2 + (by > 0) : 4 + (bz > 0);
        const double *u = a->face_velocity[face];
        const kf_real along = (kf_real)(cx * u[0] + cy * u[1] + cz * u[2]);
        const kf_real back =
            kf_leaving(a, -cx, -cy, -cz, x, y, z) + KF_R(6.0 * KF_UNIT) * KF_WEIGHT(cx, cy, cz) * along;
#if KF_SPECULAR
        const kf_real share = (kf_real)a->specular_share[face];
        return kf_as_stored(back + share * (kf_mirrored(a, cx, cy, cz, x, y, z) - back));
#else
        return kf_as_stored(back);
#endif
    }
    if (bx != 0) {
        sx = kind_x == 0 ? sx - bx * a->nodes[0] : x;
        cx = kind_x == 2 ? -cx : cx;
    }
    if (by != 0) {
        sy = kind_y == 0 ? sy - by * a->nodes[1] : y;
        cy = kind_y == 2 ? -cy : cy;
    }
    if (bz != 0) {
        sz = kind_z == 0 ? sz - bz * a->nodes[2] : z;
        cz = kind_z == 2 ? -cz : cz;
    }
    return kf_leaving(a, cx, cy, cz, sx, sy, sz);
}

/* The same for a node k whose neighbours along y and z lie inside, low and high telling whether it is the
 * first or the last of its row: two addresses and a choice instead of branches. */
KF_FUNCTION kf_real kf_incoming_in_row(const kf_kinetic_arguments *a, int i, int cx, int cy, int cz,
                                       kf_index k, int low, int high) {
    const kf_index inside = k - kf_offset(a, cx, cy, cz);
    if (cx == 0) return kf_population(a, a->source, i, inside);
    const int outside = cx > 0 ? low : high, kind = cx > 0 ? KF_FACE_0 : KF_FACE_1;
    const kf_index beside = k - kf_offset(a, 0, cy, cz);
    kf_index place = kf_place(a, 27, i, inside), other;
    if (kind == 0)
        other = kf_place(a, 27, i, inside + cx * a->nodes[0]);
    else if (kind == 2)
        other = kf_place(a, 27, kf_direction(-cx, cy, cz), beside);
    else if (kind == 4)
        other = kf_place(a, 27, i, beside);
    else
        other = kf_place(a, 27, kf_direction(-cx, -cy, -cz), k);
    place = outside ? other : place;
    const kf_real value = kf_from_store(((const kf_store *)a->source)[place]);
    if (!KF_IS_SOLID_FACE(kind)) return value;
    const double *u = a->face_velocity[cx > 0 ? 0 : 1];
    const kf_real along = (kf_real)(cx * u[0] + cy * u[1] + cz * u[2]);
    const kf_real back = value + KF_R(6.0 * KF_UNIT) * KF_WEIGHT(cx, cy, cz) * along;
#if KF_SPECULAR
    const kf_real share = (kf_real)a->specular_share[cx > 0 ? 0 : 1];
    const kf_real mirrored = kf_population(a, a->source, kf_direction(-cx, cy, cz), beside);
    return outside ? kf_as_stored(back + share * (mirrored - back)) : value;
#else
    return outside ? kf_as_stored(back) : value;
#endif
}

#define KF_IS_OUTFLOW(a, x, y, z)                                                                            \
    ((KF_FACE_0 == 4 && (x) == 0) || (KF_FACE_1 == 4 && (x) == (a)->nodes[0] - 1) ||                         \
     (KF_FACE_2 == 4 && (y) == 0) || (KF_FACE_3 == 4 && (y) == (a)->nodes[1] - 1) ||                         \
     (KF_FACE_4 == 4 && (z) == 0) || (KF_FACE_5 == 4 && (z) == (a)->nodes[2] - 1))

#define KF_HAS_OUTFLOW                                                                                       \
    (KF_FACE_0 == 4 || KF_FACE_1 == 4 || KF_FACE_2 == 4 || KF_FACE_3 == 4 || KF_FACE_4 == 4 || KF_FACE_5 == 4)

/* Takes the equilibrium of the density deviation d at velocity u out of f_*. */
#define KF_TAKE_OUT(i, name, cx, cy, cz)                                                                     \
    f_##name -= d * ((KF_W1(cx) + KF_E(x, cx)) * (KF_W1(cy) + KF_E(y, cy)) * (KF_W1(cz) + KF_E(z, cz)));
#define KF_ANCHOR_DENSITY(d_here, u, v, w)                                                                   \
    do {                                                                                                     \
        const kf_real d = d_here;                                                                            \
        KF_EQUILIBRIUM_FACTORS(x, u)                                                                         \
        KF_EQUILIBRIUM_FACTORS(y, v)                                                                         \
        KF_EQUILIBRIUM_FACTORS(z, w)                                                                         \
        KF_D3Q27(KF_TAKE_OUT)                                                                                \
    } while (0)

#endif
