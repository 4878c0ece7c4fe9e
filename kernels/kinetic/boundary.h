/* The boundary conditions of the domain: which population a node pulls across a face.
 *
 * Walls and inflows bounce back half-way: f_i = f_opposite + 6 w_i c_i . u_face (Ladd 1994, J. Fluid Mech.
 * 271, 285). Free slip reflects specularly. At a periodic face the population comes from the opposite
 * side. At an edge or corner an inflow decides before a wall, and a wall before an outflow. So a wind
 * between walls is the same along any axis. Inflows that meet have their mean velocity there. An edge of
 * walls moves along itself as the faster of them does, because none moves through the other, and a corner of
 * three rests. Of outflows that meet the first in the order x y z counts. A wall may mirror a share of what
 * reaches it instead of sending it back (Maxwell 1879). This keeps a wall that moves with the stream stable
 * (docs/physics.md). Where such a wall meets an outflow, it mirrors what waits outside the outflow, since an
 * outflow mirrors nothing.
 *
 * At an outflow the population that enters is convected with the stream's mean speed U: g(t + 1) = (g(t) +
 * U f(t + 1)) / (1 + U). g is the population that waits outside, and f the same one at the outermost node
 * (Yang 2013, Comput. Math. Appl. 65, 160; Lou, Guo and Shi 2013, Phys. Rev. E 87, 063301). So vortices
 * leave without an echo. This alone leaves the mean density undetermined. A pull of K (density - 1) with K
 * = 0.27 c_s / length holds it (Rudy and Strikwerda 1980, J. Comput. Phys. 36, 55). g is computed after
 * each collision: by the collision itself where boundaries are folded in, otherwise by the kernel
 * convect_outflow.
 *
 * Defines that a scene sets:
 *   KF_FACE_0 .. KF_FACE_5   the kinds of the faces (choices.h)
 *   KF_SPECULAR              a bit for each face that mirrors a share
 *   KF_MIXED_EDGES           1 if walls or inflows meet of which one alone would be wrong at their edge.
 *                            Elsewhere the first in the order x y z decides, which needs less code
 *   KF_OUTFLOW_ALONE         1 in kernels that only compute what waits outside of outflows (boundary.cu) */
#ifndef KF_KERNELS_KINETIC_BOUNDARY_H
#define KF_KERNELS_KINETIC_BOUNDARY_H

#include "left.h"

#define KF_IS_SOLID_FACE(kind) ((kind) == KF_WALL_FACE || (kind) == KF_INFLOW_FACE)
#define KF_MIRRORS(face)       (KF_SPECULAR >> (face)&1)

/* Returns whether the neighbour at s = position - c along an axis is beyond the low face (-1) or the high
 * face (1), or inside (0). */
KF_FUNCTION int kf_beyond(int s, int n) {
    return s < 0 ? -1 : s >= n ? 1 : 0;
}

/* Returns the rank of a face. Of the faces that a population crosses the one with the lowest rank decides,
 * and the first in the order x y z among equals. */
#define KF_RANK(kind) ((kind) == KF_INFLOW_FACE ? 0 : 1)
#define KF_GIVES_WAY(kind, other)                                                                            \
    (KF_IS_SOLID_FACE(kind) && KF_IS_SOLID_FACE(other) && KF_RANK(other) < KF_RANK(kind))
#define KF_GIVES_WAY_TO_Z(kind) (KF_GIVES_WAY(kind, KF_FACE_4) || KF_GIVES_WAY(kind, KF_FACE_5))
#define KF_GIVES_WAY_TO_YZ(kind)                                                                             \
    (KF_GIVES_WAY(kind, KF_FACE_2) || KF_GIVES_WAY(kind, KF_FACE_3) || KF_GIVES_WAY_TO_Z(kind))
/* Chooses among values of x, y and z by the face that decides. It reads solid_x (whether the face that is
 * crossed along x is solid), kind_x (its kind), and the same for y and z. Where no face gives way to a
 * later one, the order alone decides, so that such scenes need no further code. */
#if KF_GIVES_WAY_TO_YZ(KF_FACE_0) || KF_GIVES_WAY_TO_YZ(KF_FACE_1) || KF_GIVES_WAY_TO_Z(KF_FACE_2) ||        \
    KF_GIVES_WAY_TO_Z(KF_FACE_3)
enum { KF_NO_RANK = 3 };
#define KF_DECIDING_RANK(axis) (solid_##axis ? KF_RANK(kind_##axis) : KF_NO_RANK)
#define KF_X_DECIDES                                                                                         \
    (KF_DECIDING_RANK(x) <= KF_DECIDING_RANK(y) && KF_DECIDING_RANK(x) <= KF_DECIDING_RANK(z))
#define KF_DECIDING(of_x, of_y, of_z)                                                                        \
    (KF_X_DECIDES ? (of_x) : KF_DECIDING_RANK(y) <= KF_DECIDING_RANK(z) ? (of_y) : (of_z))
#else
#define KF_DECIDING(of_x, of_y, of_z) (solid_x ? (of_x) : solid_y ? (of_y) : (of_z))
#endif

#if KF_MIXED_EDGES
/* The faces that decide about a population: one, or several of the kind that comes first. */
typedef struct kf_deciding {
    int of[3]; /* whether the face across x, y or z is one of them */
    int face[3], inflows;
    kf_real part; /* one divided by their number */
} kf_deciding;
KF_FUNCTION kf_deciding kf_deciding_faces(int solid_x, int solid_y, int solid_z, int kind_x, int kind_y,
                                          int kind_z, int face_x, int face_y, int face_z) {
    kf_deciding d;
    d.inflows = (solid_x && kind_x == KF_INFLOW_FACE) || (solid_y && kind_y == KF_INFLOW_FACE) ||
                (solid_z && kind_z == KF_INFLOW_FACE);
    const int kind = d.inflows ? KF_INFLOW_FACE : KF_WALL_FACE;
    d.of[0] = solid_x && kind_x == kind;
    d.of[1] = solid_y && kind_y == kind;
    d.of[2] = solid_z && kind_z == kind;
    d.face[0] = face_x;
    d.face[1] = face_y;
    d.face[2] = face_z;
    const int count = d.of[0] + d.of[1] + d.of[2];
    d.part = KF_R(1.0) / (kf_real)(count > 0 ? count : 1);
    return d;
}
/* Returns c . u with the velocity u of the deciding faces. Walls that move against each other with one speed
 * are together at rest. */
KF_FUNCTION kf_real kf_along(const kf_module_arguments *a, kf_deciding d, int cx, int cy, int cz) {
    const int c[3] = {cx, cy, cz}, several = d.of[0] + d.of[1] + d.of[2] > 1;
    kf_real sum = KF_R(0.0);
    KF_UNROLL
    for (int i = 0; i < 3; i++) {
        kf_real mean = KF_R(0.0), fastest = KF_R(0.0);
        KF_UNROLL
        for (int f = 0; f < 3; f++) {
            const kf_real u = d.of[f] ? KF_FACE_VELOCITY(a)[d.face[f]][i] : KF_R(0.0);
            mean += d.part * u;
            fastest = u * u > fastest * fastest ? u : u == -fastest ? KF_R(0.0) : fastest;
        }
        const kf_real along_edge = several && d.of[i] ? KF_R(0.0) : fastest;
        sum += (kf_real)c[i] * (d.inflows ? mean : along_edge);
    }
    return sum;
}
/* Returns the mean share that the deciding faces mirror. */
KF_FUNCTION kf_real kf_mirrored_share(const kf_module_arguments *a, kf_deciding d) {
    kf_real share = KF_R(0.0);
    KF_UNROLL
    for (int f = 0; f < 3; f++)
        share += d.of[f] ? (kf_real)a->faces.specular_share[d.face[f]] : KF_R(0.0);
    return d.part * share;
}
#endif

/* Returns a value as a ghost node would store it, rounded to the storage type. */
KF_FUNCTION kf_real kf_as_stored(kf_real value) {
    return kf_from_store(kf_to_store(value));
}

/* Returns the place in the outflow's array of population (cx, cy, cz), which enters across the axis. u, v:
 * the node on the face, in the order of the axes x, y, z. */
KF_FUNCTION kf_index kf_outflow_place(const kf_module_arguments *a, int axis, int high, int cx, int cy,
                                      int cz, int u, int v) {
    const int c1 = axis == 0 ? cy : cx, c2 = axis == 2 ? cy : cz;
    const int width = a->grid.nodes[axis == 0 ? 1 : 0], height = a->grid.nodes[axis == 2 ? 1 : 2];
    return (kf_index)a->outflow.start[2 * axis + high] +
           ((kf_index)((c1 + 1) + 3 * (c2 + 1)) * height + (axis == 2 ? kf_home_row(a, v) : v)) * width +
           (axis == 0 ? kf_home_row(a, u) : u);
}
/* The unit of the populations that wait outside of outflows. Plan moments copies them to where populations
 * are. */
#if KF_MOMENTS
#define KF_WAITING_UNIT KF_UNIT
#else
#define KF_WAITING_UNIT 1.0
#endif
KF_FUNCTION kf_real kf_outflow(const kf_module_arguments *a, int axis, int high, int cx, int cy, int cz,
                               int u, int v) {
    return kf_as_stored(
        KF_R(KF_UNIT / KF_WAITING_UNIT) *
        ((const kf_real *)a->outflow.waiting)[kf_outflow_place(a, axis, high, cx, cy, cz, u, v)]);
}

/* Hands what waits outside of row z to a neighbouring part. Near a cut its nodes, and those beside its
 * solid, read this too. With cuts across y the host sends it instead (pack_outflow in boundary.cu). */
KF_FUNCTION void kf_hand_outflow(const kf_module_arguments *a, int z, kf_index place, kf_real value) {
#if KF_TEAM && !KF_CUT_Y
    const int beside = a->part.reach + 2;
    if (a->outflow.below && z < a->part.first_plane + beside) ((kf_real *)a->outflow.below)[place] = value;
    if (a->outflow.above && z >= a->part.first_plane + a->part.planes - beside)
        ((kf_real *)a->outflow.above)[place] = value;
#else
    (void)a, (void)z, (void)place, (void)value;
#endif
}

/* kf_load_kept loads a waiting population. The load need not wait for earlier stores where the populations
 * of the next step have another array, or where each thread overwrites only what it has read itself. Pairs
 * of nodes have registers for such loads only if boundary rows have a kernel of their own. */
#if KF_OUTFLOW_ALONE || (KF_FOLDED_BOUNDARY && (KF_NODES_PER_THREAD != 2 || KF_BOUNDARY_ROWS_APART))
#define kf_load_kept kf_load_constant
#else
#define kf_load_kept(place) (*(place))
#endif
/* Stores the population outside the outflow for the next step. It follows from the populations f_* that
 * have just left a node of the face, and from their density deviation. u, v: as for kf_outflow_place. */
#define KF_KEEP_OUTSIDE(i, name, cx, cy, cz)                                                                 \
    if ((axis == 0 ? (cx) : axis == 1 ? (cy) : (cz)) == (high ? -1 : 1)) {                                   \
        const kf_index place = kf_outflow_place(a, axis, high, cx, cy, cz, u, v);                            \
        const kf_real now = KF_R(KF_WAITING_UNIT / KF_UNIT) * kf_as_stored(f_##name);                        \
        const kf_real before =                                                                               \
            share < KF_R(1.0) ? kf_load_kept((const kf_real *)a->outflow.waiting + place) : now;             \
        const kf_real next = kf_multiply_add(-(pull * KF_WEIGHT(cx, cy, cz)), deviation,                     \
                                             kf_multiply_add(share, now - before, before));                  \
        ((kf_real *)a->outflow.next)[place] = next;                                                          \
        if (axis != 2) kf_hand_outflow(a, v, place, next);                                                   \
    }
#define KF_KEEP_OUTFLOW(axis_, high_, u_, v_)                                                                \
    {                                                                                                        \
        const int axis = axis_, high = high_, u = u_, v = v_;                                                \
        const kf_real share = KF_R(a->outflow.take[2 * axis + high]);                                        \
        const kf_real pull = KF_R(a->outflow.pull[2 * axis + high] * (KF_WAITING_UNIT / KF_UNIT));           \
        KF_EACH_VELOCITY(KF_KEEP_OUTSIDE)                                                                    \
    }
/* Of faces that are no outflows the preprocessor leaves out the text, because all six would be half of a
 * module's text. The numbers are the kinds of faces. */
#define KF_KEEP_0(...)
#define KF_KEEP_1(...)
#define KF_KEEP_2(...)
#define KF_KEEP_3(...)
#define KF_KEEP_4(at_face, axis, high, u, v)                                                                 \
    if (at_face) KF_KEEP_OUTFLOW(axis, high, u, v)
#define KF_KEEP_OF(kind, ...) KF_KEEP_##kind(__VA_ARGS__)
#define KF_KEEP_AT(kind, ...) KF_KEEP_OF(kind, __VA_ARGS__)
#define KF_KEEP_OUTFLOWS                                                                                     \
    KF_KEEP_AT(KF_FACE_0, x == 0, 0, 0, y, z)                                                                \
    KF_KEEP_AT(KF_FACE_1, x == a->grid.nodes[0] - 1, 0, 1, y, z)                                             \
    KF_KEEP_AT(KF_FACE_2, y == 0, 1, 0, x, z)                                                                \
    KF_KEEP_AT(KF_FACE_3, y == a->grid.nodes[1] - 1, 1, 1, x, z)                                             \
    KF_KEEP_AT(KF_FACE_4, z == 0, 2, 0, x, y)                                                                \
    KF_KEEP_AT(KF_FACE_5, z == a->grid.nodes[2] - 1, 2, 1, x, y)

/* Inlined, this function costs pairs of nodes 96 registers instead of 80. Not inlined, it costs single
 * nodes 2 % of their speed. */
#if defined(KF_NODES_PER_THREAD) && KF_NODES_PER_THREAD == 2
#define KF_MIRRORED_FUNCTION KF_RARE_FUNCTION
#else
#define KF_MIRRORED_FUNCTION KF_FUNCTION
#endif

/* Returns the population of velocity (cx, cy, cz) that node (x, y, z) pulls, if the faces that it crosses
 * are periodic or outflows, or else mirrors. */
KF_MIRRORED_FUNCTION kf_real kf_mirrored(const kf_module_arguments *a, int cx, int cy, int cz, int x, int y,
                                         int z) {
    int sx = x - cx, sy = y - cy, sz = z - cz;
    const int bx = kf_beyond(sx, a->grid.nodes[0]), by = kf_beyond(sy, a->grid.nodes[1]),
              bz = kf_beyond(sz, a->grid.nodes[2]);
    const int kind_x = bx < 0 ? KF_FACE_0 : KF_FACE_1, kind_y = by < 0 ? KF_FACE_2 : KF_FACE_3,
              kind_z = bz < 0 ? KF_FACE_4 : KF_FACE_5;
    if (bx != 0) {
        sx = kind_x == KF_PERIODIC_FACE ? sx - bx * a->grid.nodes[0] : x;
        cx = kind_x == KF_PERIODIC_FACE || kind_x == KF_OUTFLOW_FACE ? cx : -cx;
    }
    if (by != 0) {
        sy = kind_y == KF_PERIODIC_FACE ? sy - by * a->grid.nodes[1] : y;
        cy = kind_y == KF_PERIODIC_FACE || kind_y == KF_OUTFLOW_FACE ? cy : -cy;
    }
    if (bz != 0) {
        sz = kind_z == KF_PERIODIC_FACE ? sz - bz * a->grid.nodes[2] : z;
        cz = kind_z == KF_PERIODIC_FACE || kind_z == KF_OUTFLOW_FACE ? cz : -cz;
    }
    if (bx != 0 && kind_x == KF_OUTFLOW_FACE) return kf_outflow(a, 0, bx > 0, cx, cy, cz, sy, sz);
    if (by != 0 && kind_y == KF_OUTFLOW_FACE) return kf_outflow(a, 1, by > 0, cx, cy, cz, sx, sz);
    if (bz != 0 && kind_z == KF_OUTFLOW_FACE) return kf_outflow(a, 2, bz > 0, cx, cy, cz, sx, sy);
#if KF_SLABS /* the plane at the other end may be overwritten; a copy of it is outside of this one */
    if (bz != 0 && kind_z == KF_PERIODIC_FACE) sz += bz * a->grid.nodes[2];
#endif
#if KF_CUT_Y /* the row across the seam is stored outside of this one */
    if (by != 0 && kind_y == KF_PERIODIC_FACE) sy += by * a->grid.nodes[1];
#endif
    return kf_leaving(a, cx, cy, cz, sx, sy, sz);
}

/* Returns the population of velocity (cx, cy, cz) that node (x, y, z) pulls from inside, or across the
 * domain's faces at the sides bx, by, bz (kf_beyond). */
KF_FUNCTION kf_real kf_incoming_across(const kf_module_arguments *a, int cx, int cy, int cz, int x, int y,
                                       int z, int bx, int by, int bz) {
    const int kind_x = bx < 0 ? KF_FACE_0 : KF_FACE_1, kind_y = by < 0 ? KF_FACE_2 : KF_FACE_3,
              kind_z = bz < 0 ? KF_FACE_4 : KF_FACE_5;
    const int solid_x = bx != 0 && KF_IS_SOLID_FACE(kind_x), solid_y = by != 0 && KF_IS_SOLID_FACE(kind_y),
              solid_z = bz != 0 && KF_IS_SOLID_FACE(kind_z);
    if (!solid_x && !solid_y && !solid_z) return kf_mirrored(a, cx, cy, cz, x, y, z);
    const int face_x = bx > 0, face_y = 2 + (by > 0), face_z = 4 + (bz > 0);
#if KF_MIXED_EDGES
    const kf_deciding d =
        kf_deciding_faces(solid_x, solid_y, solid_z, kind_x, kind_y, kind_z, face_x, face_y, face_z);
    const kf_real along = kf_along(a, d, cx, cy, cz);
#define KF_MIRRORS_HERE KF_SPECULAR
#define KF_SHARE_HERE   kf_mirrored_share(a, d)
#else
    const int face = KF_DECIDING(face_x, face_y, face_z);
    const kf_real *u = KF_FACE_VELOCITY(a)[face];
    const kf_real along = cx * u[0] + cy * u[1] + cz * u[2];
#define KF_MIRRORS_HERE KF_MIRRORS(face)
#define KF_SHARE_HERE   (kf_real) a->faces.specular_share[face]
#endif
    const kf_real back =
        kf_leaving(a, -cx, -cy, -cz, x, y, z) + KF_R(6.0 * KF_UNIT) * KF_WEIGHT(cx, cy, cz) * along;
    if (!KF_MIRRORS_HERE) return kf_as_stored(back);
    const kf_real share = KF_SHARE_HERE;
    return kf_as_stored(back + share * (kf_mirrored(a, cx, cy, cz, x, y, z) - back));
}

/* Returns the population that streams to the node with velocity (cx, cy, cz), from inside the domain or
 * across any of its faces. */
KF_FUNCTION kf_real kf_incoming(const kf_module_arguments *a, int cx, int cy, int cz, int x, int y, int z) {
    return kf_incoming_across(a, cx, cy, cz, x, y, z, kf_beyond(x - cx, a->grid.nodes[0]),
                              kf_beyond(y - cy, a->grid.nodes[1]), kf_beyond(z - cz, a->grid.nodes[2]));
}

#if !KF_MOMENTS
/* Returns the same as kf_incoming for a velocity that is known at compile time. It selects addresses
 * instead of branching, so that the loads of all velocities are in flight together. With branches one
 * would wait for the other. */
#define KF_FLIPPED(fx, fy, fz) kf_direction((fx) ? -cx : cx, (fy) ? -cy : cy, (fz) ? -cz : cz)
KF_FUNCTION kf_real kf_incoming_at_boundary(const kf_module_arguments *a, int i, int cx, int cy, int cz,
                                            int x, int y, int z) {
    const int kind_x = cx > 0 ? KF_FACE_0 : KF_FACE_1, kind_y = cy > 0 ? KF_FACE_2 : KF_FACE_3,
              kind_z = cz > 0 ? KF_FACE_4 : KF_FACE_5;
    const int out_x = cx > 0 ? x == 0 : cx < 0 && x == a->grid.nodes[0] - 1,
              out_y = cy > 0 ? y == 0 : cy < 0 && y == a->grid.nodes[1] - 1,
              out_z = cz > 0 ? z == 0 : cz < 0 && z == a->grid.nodes[2] - 1;
    const int flip_x = out_x && kind_x != KF_PERIODIC_FACE && kind_x != KF_OUTFLOW_FACE,
              flip_y = out_y && kind_y != KF_PERIODIC_FACE && kind_y != KF_OUTFLOW_FACE,
              flip_z = out_z && kind_z != KF_PERIODIC_FACE && kind_z != KF_OUTFLOW_FACE;
    const int solid_x = out_x && KF_IS_SOLID_FACE(kind_x), solid_y = out_y && KF_IS_SOLID_FACE(kind_y),
              solid_z = out_z && KF_IS_SOLID_FACE(kind_z), solid = solid_x || solid_y || solid_z;
    /* Where walls mirror the population, it comes from this offset and has this number there. */
    const int dx = !out_x                       ? -cx
                   : kind_x == KF_PERIODIC_FACE ? cx * (a->grid.nodes[0] - 1)
                                                : 0,
              dy = !out_y                       ? -cy
                   : kind_y == KF_PERIODIC_FACE ? cy * (a->grid.nodes[1] - 1)
                                                : 0,
              dz = !out_z                       ? -cz
                   : kind_z == KF_PERIODIC_FACE ? cz * (a->grid.nodes[2] - 1)
                                                : 0;
    const int number = flip_z   ? flip_y   ? flip_x ? KF_FLIPPED(1, 1, 1) : KF_FLIPPED(0, 1, 1)
                                    : flip_x ? KF_FLIPPED(1, 0, 1)
                                           : KF_FLIPPED(0, 0, 1)
                         : flip_y ? flip_x ? KF_FLIPPED(1, 1, 0) : KF_FLIPPED(0, 1, 0)
                         : flip_x ? KF_FLIPPED(1, 0, 0)
                                : i;
#if KF_SLABS /* periodic along z: a copy of the plane at the other end */
    const int from_z = out_z && kind_z == KF_PERIODIC_FACE ? -cz : dz;
#else
    const int from_z = dz;
#endif
#if KF_CUT_Y
    const int from_y = out_y && kind_y == KF_PERIODIC_FACE ? -cy : dy;
#else
    const int from_y = dy;
#endif
    const kf_index k = kf_node(a, x, y, z), from = k + (kf_index)(dx + (long long)a->grid.row_pitch * from_y +
                                                                  a->memory.plane_pitch * from_z);
    const int mirrors = (cx != 0 && KF_MIRRORS(cx < 0)) || (cy != 0 && KF_MIRRORS(2 + (cy < 0))) ||
                        (cz != 0 && KF_MIRRORS(4 + (cz < 0)));
    const int bounced = solid && !mirrors;
    kf_real value = kf_from_store(
        *kf_address(a, a->populations.source, bounced ? KF_OPPOSITE(i) : number, bounced ? k : from));
    if ((cx != 0 && kind_x == KF_OUTFLOW_FACE) || (cy != 0 && kind_y == KF_OUTFLOW_FACE) ||
        (cz != 0 && kind_z == KF_OUTFLOW_FACE)) {
        const int waits_x = out_x && kind_x == KF_OUTFLOW_FACE, waits_y = out_y && kind_y == KF_OUTFLOW_FACE,
                  waits_z = out_z && kind_z == KF_OUTFLOW_FACE;
        const int gx = flip_x ? -cx : cx, gy = flip_y ? -cy : cy, gz = flip_z ? -cz : cz;
        const kf_index place = waits_x   ? kf_outflow_place(a, 0, cx < 0, gx, gy, gz, y + dy, z + dz)
                               : waits_y ? kf_outflow_place(a, 1, cy < 0, gx, gy, gz, x + dx, z + dz)
                               : waits_z ? kf_outflow_place(a, 2, cz < 0, gx, gy, gz, x + dx, y + dy)
                                         : 0;
        const kf_real waiting =
            kf_as_stored(KF_R(KF_UNIT / KF_WAITING_UNIT) * ((const kf_real *)a->outflow.waiting)[place]);
        value = (waits_x || waits_y || waits_z) && !bounced ? waiting : value;
    }
    if ((cx != 0 && KF_IS_SOLID_FACE(kind_x)) || (cy != 0 && KF_IS_SOLID_FACE(kind_y)) ||
        (cz != 0 && KF_IS_SOLID_FACE(kind_z))) {
#if KF_MIXED_EDGES
        const kf_deciding d = kf_deciding_faces(solid_x, solid_y, solid_z, kind_x, kind_y, kind_z, cx < 0,
                                                2 + (cy < 0), 4 + (cz < 0));
#define KF_ALONG_THERE kf_along(a, d, cx, cy, cz)
#define KF_SHARE_THERE kf_mirrored_share(a, d)
#else
        const kf_real *u_x = KF_FACE_VELOCITY(a)[cx > 0 ? 0 : 1], *u_y = KF_FACE_VELOCITY(a)[cy > 0 ? 2 : 3],
                      *u_z = KF_FACE_VELOCITY(a)[cz > 0 ? 4 : 5];
        const kf_real along_x = cx * u_x[0] + cy * u_x[1] + cz * u_x[2],
                      along_y = cx * u_y[0] + cy * u_y[1] + cz * u_y[2],
                      along_z = cx * u_z[0] + cy * u_z[1] + cz * u_z[2];
        const int face_x = cx < 0, face_y = 2 + (cy < 0), face_z = 4 + (cz < 0);
#define KF_ALONG_THERE KF_DECIDING(along_x, along_y, along_z)
#define KF_SHARE_THERE (kf_real) a->faces.specular_share[KF_DECIDING(face_x, face_y, face_z)]
#endif
        const kf_real gain = KF_R(6.0 * KF_UNIT) * KF_WEIGHT(cx, cy, cz) * KF_ALONG_THERE;
        if (mirrors) {
            const kf_real back =
                kf_from_store(*kf_address(a, a->populations.source, KF_OPPOSITE(i), k)) + gain;
            const kf_real share = KF_SHARE_THERE;
            value = solid ? kf_as_stored(back + share * (value - back)) : value;
        } else {
            value = solid ? kf_as_stored(value + gain) : value;
        }
    }
    return value;
}
#endif

/* Returns the same as kf_incoming at node k of a row (y, z) whose neighbours along y and z are inside.
 * low, high: whether k is the first or the last node of its row. It selects between two addresses instead
 * of branching. */
KF_FUNCTION kf_real kf_incoming_in_row(const kf_module_arguments *a, int i, int cx, int cy, int cz,
                                       kf_index k, int low, int high, int y, int z) {
    const kf_index inside = k - kf_offset(a, cx, cy, cz);
    const kf_stored *here = kf_pulled(a, i, k, cx, cy, cz);
    if (cx == 0) return kf_from_store(*here);
    const int outside = cx > 0 ? low : high, kind = cx > 0 ? KF_FACE_0 : KF_FACE_1;
    const kf_index beside = k - kf_offset(a, 0, cy, cz);
    if (kind == KF_OUTFLOW_FACE) {
        const kf_index start = (kf_index)a->outflow.start[cx < 0];
        const kf_index place = kf_outflow_place(a, 0, cx < 0, cx, cy, cz, y - cy, z - cz);
        const kf_real value = kf_from_store(*here);
        const kf_real waiting = ((const kf_real *)a->outflow.waiting)[outside ? place : start];
        return outside ? kf_as_stored(KF_R(KF_UNIT / KF_WAITING_UNIT) * waiting) : value;
    }
    const kf_stored *other = here;
    if (kind == KF_PERIODIC_FACE)
        other = kf_address(a, a->populations.source, i, inside + cx * a->grid.nodes[0]);
    else if (kind == KF_FREE_SLIP_FACE)
        other = kf_address(a, a->populations.source, kf_direction(-cx, cy, cz), beside);
    else
        other = kf_address(a, a->populations.source, kf_direction(-cx, -cy, -cz), k);
    const kf_real value = kf_from_store(*(outside ? other : here));
    if (!KF_IS_SOLID_FACE(kind)) return value;
    const kf_real *u = KF_FACE_VELOCITY(a)[cx > 0 ? 0 : 1];
    const kf_real along = cx * u[0] + cy * u[1] + cz * u[2];
    const kf_real back = value + KF_R(6.0 * KF_UNIT) * KF_WEIGHT(cx, cy, cz) * along;
    if (!KF_MIRRORS(cx < 0)) return outside ? kf_as_stored(back) : value;
    const kf_real share = (kf_real)a->faces.specular_share[cx > 0 ? 0 : 1];
    const kf_real mirrored =
        kf_from_store(*kf_address(a, a->populations.source, kf_direction(-cx, cy, cz), beside));
    return outside ? kf_as_stored(back + share * (mirrored - back)) : value;
}

#endif
