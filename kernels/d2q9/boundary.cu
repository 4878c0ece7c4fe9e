/* Applies the boundary conditions. Kernels compute the populations that arrive from outside the domain,
 * from solid nodes and at open nodes inside it, and store them where the next step reads them. P_i is a
 * population after the collision, w_i its weight, e_i its velocity:
 *
 *   wall       P_opposite(x) + 6 w_i e_i . u(wall), half-way bounce-back; the wall may move
 *   free slip  the mirrored population of the mirrored node
 *   inflow     P_i + 3 w_i e_i . (u(given) - j) of the nearest inner node, whose momentum is j
 *   outflow    P_i - w_i density of the nearest inner node, which makes its density the reference
 *
 * Where the node that a face mirrors or continues is solid, the population bounces back half-way.
 *
 * Defines that a config sets:
 *   KF_FACE_0 .. KF_FACE_3  the kinds of the faces xmin, xmax, ymin, ymax (choices.h)
 *   KF_PARABOLIC 0|1        the velocity at an inflow is a parabola, whose mean is the face's velocity
 *   KF_SOLID_BEYOND 0|1     some node that a face mirrors or continues, or one at a periodic face, is solid
 *   KF_SLAB 0|1             the domain is the rows from first_row on; other slabs have the rows beside them
 */
#include "lattice.h"

#if KF_SLAB
#define KF_FIRST_ROW a->first_row
#define KF_ROWS      a->rows
#else
#define KF_FIRST_ROW 0
#define KF_ROWS      ny
#endif
#define KF_RING (KF_FACE_2 == KF_COPIED_FACE)

/* Read and write P_i of node k, and write the population that arrives at node k along i, wherever the
 * scheme stores them. */
KF_FUNCTION kf_real kf_post(const kf_d2q9_arguments *a, int i, kf_index k) {
    if (a->scheme == KF_SCHEME_SWAP) return kf_population(a, a->source, kf_opposite[i], k);
    const kf_index shift = a->scheme == KF_SCHEME_PUSHED ? KF_OFFSET(a, kf_cx[i], kf_cy[i]) : 0;
    return kf_population(a, a->source, i, k + shift);
}
KF_FUNCTION void kf_set_post(const kf_d2q9_arguments *a, int i, kf_index k, kf_real value) {
    const kf_index shift = a->scheme == KF_SCHEME_PUSHED ? KF_OFFSET(a, kf_cx[i], kf_cy[i]) : 0;
    kf_set_population(a, a->source, a->scheme == KF_SCHEME_SWAP ? kf_opposite[i] : i, k + shift, value);
}
KF_FUNCTION void kf_set_arriving(const kf_d2q9_arguments *a, int i, kf_index k, kf_real value) {
    const kf_index shift = a->scheme == KF_SCHEME_PUSHED ? 0 : KF_OFFSET(a, kf_cx[i], kf_cy[i]);
    kf_set_population(a, a->source, a->scheme == KF_SCHEME_SWAP ? kf_opposite[i] : i, k - shift, value);
}

KF_FUNCTION void kf_post_moments(const kf_d2q9_arguments *a, kf_index k, kf_real *density, kf_real *jx,
                                 kf_real *jy) {
    *density = *jx = *jy = 0;
    for (int i = 0; i < 9; i++) {
        const kf_real value = kf_post(a, i, k);
        *density += value;
        *jx += (kf_real)kf_cx[i] * value;
        *jy += (kf_real)kf_cy[i] * value;
    }
}

typedef struct kf_traced {
    int position, component, bounces, inflow, outflow;
} kf_traced;

/* Follows a population backwards along one axis, from a place that may lie beyond the domain, to the node
 * that it left. */
KF_FUNCTION kf_traced kf_trace_axis(int position, int component, int count, int low, int high) {
    kf_traced trace = {position, component, 0, 0, 0};
    if (position >= 0 && position < count) return trace;
    const int kind = position < 0 ? low : high;
    if (kind == KF_COPIED_FACE) return trace;
    trace.position = kind == KF_PERIODIC_FACE ? (position < 0 ? count - 1 : 0) : position < 0 ? 0 : count - 1;
    if (kind == KF_WALL_FACE) trace.bounces = 1;
    if (kind == KF_FREE_SLIP_FACE) trace.component = -component;
    if (kind == KF_INFLOW_FACE) trace.inflow = 1;
    if (kind == KF_OUTFLOW_FACE) trace.outflow = 1;
    return trace;
}

#if KF_PARABOLIC
#define KF_PROFILE(s, count) (6.0 * ((s) + 0.5) / (count) * (1.0 - ((s) + 0.5) / (count)))
#else
#define KF_PROFILE(s, count) 1.0
#endif

/* Returns the population that arrives at node (x, y) along i. It left a neighbour after the neighbour's
 * collision. At a wall it is this node's own, bounced half-way. At an inflow or outflow it is that of the
 * nearest node, changed to the prescribed velocity or density. Corners treat both axes alike, so that a
 * scene that is turned by 90 degrees has the same flow: a corner of two walls bounces like walls at rest,
 * and a corner of two inflows has the mean of their velocities. */
KF_FUNCTION kf_real kf_arriving(const kf_d2q9_arguments *a, int i, int x, int y) {
    const int sx = x - kf_cx[i], sy = y - kf_cy[i];
    const kf_traced tx = kf_trace_axis(sx, kf_cx[i], a->nodes[0], KF_FACE_0, KF_FACE_1);
    const kf_traced ty = kf_trace_axis(sy, kf_cy[i], a->nodes[1], KF_FACE_2, KF_FACE_3);
    if (tx.bounces && ty.bounces) return kf_post(a, kf_opposite[i], kf_node(a, x, y));
    if (tx.bounces || ty.bounces) {
        const double *u = a->face_velocity[tx.bounces ? (sx < 0 ? 0 : 1) : (sy < 0 ? 2 : 3)];
        return kf_post(a, kf_opposite[i], kf_node(a, x, y)) +
               KF_R(6.0 * kf_weight[i] * (kf_cx[i] * u[0] + kf_cy[i] * u[1]));
    }
    const kf_index k = kf_node(a, tx.position, ty.position);
    const int direction = kf_direction_of[tx.component + 1 + 3 * (ty.component + 1)];
    const kf_real value = kf_post(a, direction, k);
    if (!(tx.inflow || tx.outflow || ty.inflow || ty.outflow)) return value;
    kf_real density, jx, jy;
    kf_post_moments(a, k, &density, &jx, &jy);
    kf_real change = tx.outflow || ty.outflow ? -density : KF_R(0);
    if (tx.inflow || ty.inflow) {
        const double *u = a->face_velocity[tx.inflow ? (sx < 0 ? 0 : 1) : (sy < 0 ? 2 : 3)];
        const double profile =
            tx.inflow
                ? KF_PROFILE(KF_RING ? (ty.position + a->nodes[1]) % a->nodes[1] : ty.position, a->nodes[1])
                : KF_PROFILE(tx.position, a->nodes[0]);
        double ux = u[0] * profile, uy = u[1] * profile;
        if (tx.inflow && ty.inflow) {
            const double *other = a->face_velocity[sy < 0 ? 2 : 3];
            const double share = KF_PROFILE(tx.position, a->nodes[0]);
            ux = 0.5 * (ux + other[0] * share), uy = 0.5 * (uy + other[1] * share);
        }
        change +=
            KF_R(3) * ((kf_real)tx.component * (KF_R(ux) - jx) + (kf_real)ty.component * (KF_R(uy) - jy));
    }
    return value + KF_R(kf_weight[i]) * change;
}

/* The extent is 2 (nodes_x + rows) + links: the nodes of rows ymin and ymax, of columns xmin and xmax,
 * then the populations that arrive from solid nodes. */
KF_SCALAR_KERNEL(boundary, kf_d2q9_arguments) {
    (void)y, (void)z;
    const int nx = a->nodes[0], ny = a->nodes[1];
    int item = x;
    if (item >= 2 * (nx + KF_ROWS)) {
        const long long link = a->links[item - 2 * (nx + KF_ROWS)];
        const int direction = (int)(link & 15);
        const kf_index k = (kf_index)(link >> 4);
        kf_set_arriving(a, direction, k, kf_post(a, kf_opposite[direction], k));
        return;
    }
    const int along_x = item < 2 * nx;
    if (!along_x) item -= 2 * nx;
    const int count = along_x ? nx : KF_ROWS, high = item >= count, at = high ? item - count : item;
    const int inward = high ? -1 : 1;
    const int px = along_x ? at : (high ? nx - 1 : 0), py = along_x ? (high ? ny - 1 : 0) : KF_FIRST_ROW + at;
#if KF_SLAB
    if (along_x && (KF_RING || py < KF_FIRST_ROW || py >= KF_FIRST_ROW + KF_ROWS)) return;
#endif
    for (int aside = -1; aside <= 1; aside++) {
        /* The rows already have the diagonal that enters through a corner. */
        if (!along_x && !KF_RING && (KF_FIRST_ROW + at - aside < 0 || KF_FIRST_ROW + at - aside >= ny))
            continue;
        const int i = along_x ? kf_direction_of[aside + 1 + 3 * (inward + 1)]
                              : kf_direction_of[inward + 1 + 3 * (aside + 1)];
#if KF_SOLID_BEYOND
        const int place = along_x ? item : 2 * nx + (high ? ny : 0) + (KF_FIRST_ROW + at + ny) % ny;
        /* Its link stores it at the same time. At a solid node nothing reads it. */
        if (a->beyond != NULL && a->beyond[place] >> (aside + 1) & 1) continue;
#endif
        kf_set_arriving(a, i, kf_node(a, px, py), kf_arriving(a, i, px, py));
    }
}

/* Sets the populations of the open nodes inside the domain. It runs before `boundary`, which may read
 * them. */
KF_SCALAR_KERNEL(open_boundary, kf_d2q9_arguments) {
    (void)y, (void)z;
    const int *open = a->open_nodes + 5 * x;
    const kf_index k = kf_node(a, open[0], open[1]), from = kf_node(a, open[2], open[3]);
    kf_real density, jx, jy;
    kf_post_moments(a, from, &density, &jx, &jy);
    const kf_real given = open[4] == KF_OPEN_DENSITY ? KF_R(a->open_density) : KF_R(0);
    for (int i = 0; i < 9; i++) {
        const kf_real along = (kf_real)kf_cx[i] * (KF_R(a->open_velocity[0]) - jx) +
                              (kf_real)kf_cy[i] * (KF_R(a->open_velocity[1]) - jy);
        const kf_real change = open[4] == KF_OPEN_VELOCITY ? KF_R(3) * along : given - density;
        kf_set_post(a, i, k, kf_post(a, i, from) + KF_R(kf_weight[i]) * change);
    }
}

#if KF_SLAB
/* Writes to `compact` the populations that leave along the slab's links. The kernel `load` then adds them
 * up in the order of one device, so that the force is the same. */
KF_SCALAR_KERNEL(read_links, kf_d2q9_arguments) {
    (void)y, (void)z;
    const long long link = a->links[x];
    ((kf_real *)a->compact)[x] = kf_post(a, kf_opposite[link & 15], (kf_index)(link >> 4));
}
#define KF_LEAVING(n, direction, k) (((const kf_real *)a->compact)[n])
#else
#define KF_LEAVING(n, direction, k) kf_post(a, direction, (kf_index)(k))
#endif

#if KF_SOLID_BEYOND
/* Return the direction of the force of a link that may cross a face. A population that hits the mirror
 * image of a solid beyond a free-slip face hits the solid itself from the mirrored side. The image beyond
 * an inflow or outflow is no part of the solid. */
#define KF_CROSSED(position, count, low, high)                                                               \
    ((position) < 0 ? (low) : (position) >= (count) ? (high) : KF_PERIODIC_FACE)
#define KF_LINK_ROW ((k - a->origin) / a->row_pitch)
#define KF_CROSSED_X                                                                                         \
    KF_CROSSED(k - a->origin - KF_LINK_ROW * a->row_pitch + kf_cx[back], a->nodes[0], KF_FACE_0, KF_FACE_1)
#define KF_CROSSED_Y     KF_CROSSED(KF_LINK_ROW - 1 + kf_cy[back], a->nodes[1], KF_FACE_2, KF_FACE_3)
#define KF_IS_OPEN(kind) ((kind) == KF_INFLOW_FACE || (kind) == KF_OUTFLOW_FACE)
#define KF_FORCE_ON(component, crossed)                                                                      \
    (KF_IS_OPEN(KF_CROSSED_X) || KF_IS_OPEN(KF_CROSSED_Y) ? 0                                                \
     : (crossed) == KF_FREE_SLIP_FACE                     ? -(component)                                     \
                                                          : (component))
#define KF_FORCE_ON_X KF_FORCE_ON(kf_cx[back], KF_CROSSED_X)
#define KF_FORCE_ON_Y KF_FORCE_ON(kf_cy[back], KF_CROSSED_Y)
#else
#define KF_FORCE_ON_X kf_cx[back]
#define KF_FORCE_ON_Y kf_cy[back]
#endif

/* Sums force and torque on the solid by momentum exchange (Toelke 2008, Eq. 10): twice the momentum that
 * each link's population carries into the solid. */
KF_SCALAR_KERNEL(load, kf_d2q9_arguments) {
    (void)y, (void)z;
    double sums[3];
    sums[0] = sums[1] = sums[2] = 0;
    for (int n = KF_D2Q9_LOAD_CHUNK * x; n < KF_D2Q9_LOAD_CHUNK * (x + 1) && n < a->link_count; n++) {
        const int back = kf_opposite[a->links[n] & 15];
        const long long k = a->links[n] >> 4;
        const double amount = 2.0 * (double)KF_LEAVING(n, back, k);
        const double fx = KF_FORCE_ON_X * amount, fy = KF_FORCE_ON_Y * amount;
        const long long row = (k - a->origin) / a->row_pitch;
        const double px = (double)(k - a->origin - row * a->row_pitch) + 0.5 * kf_cx[back];
        const double py = (double)(row - 1) + 0.5 * kf_cy[back];
        sums[0] += fx;
        sums[1] += fy;
        sums[2] += (px - a->load_centre[0]) * fy - (py - a->load_centre[1]) * fx;
    }
    kf_int64 *slot = (kf_int64 *)a->load_sums + 4 * (x % KF_D2Q9_LOAD_SLOTS);
    if (!(fabs(sums[0]) + fabs(sums[1]) <
          /* Converted to fixed point, a diverged sum would look like a valid force. */
          KF_D2Q9_FORCE_LIMIT)) {
        kf_atomic_add_int64(slot + 3, 1);
        return;
    }
    kf_atomic_add_int64(slot, (kf_int64)(sums[0] * KF_D2Q9_FORCE_SCALE));
    kf_atomic_add_int64(slot + 1, (kf_int64)(sums[1] * KF_D2Q9_FORCE_SCALE));
    kf_atomic_add_int64(slot + 2, (kf_int64)(sums[2] * KF_D2Q9_TORQUE_SCALE));
}
