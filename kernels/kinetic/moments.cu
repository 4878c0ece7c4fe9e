/* The plan `moments`: streaming and collision in one pass over nine fields of moments instead of 27
 * populations (moments.h). A block walks up through the planes with a tile of nodes. It turns each plane's
 * moments into the populations that leave its nodes, and sums those that stream to each node of the tile.
 * A node's sums consist of what moves upwards in plane z - 1, stays in plane z, and moves downwards in
 * plane z + 1. So a thread keeps a few sums from plane to plane, and no populations.
 *
 * Defines that a config sets: KF_TILE_X, KF_TILE_Y, the nodes of a tile. */
#include "arguments.h"
typedef kf_flow_arguments kf_module_arguments; /* the headers' functions take this type */

#include "band.h"
#include "boundary.h"
#include "covered.h"
#include "moments.h"

enum { KF_THREADS = KF_TILE_X * KF_TILE_Y, KF_OWN_COUNT = KF_PRIVATE(KF_THREADS) };

/* The sums of 1, cx and cx cx over the three velocities with one cy and cz. */
typedef struct kf_line {
    kf_real one, x, xx;
} kf_line;
KF_FUNCTION kf_line kf_sum_line(kf_real m, kf_real z, kf_real p) {
    kf_line s;
    s.xx = p + m;
    s.x = p - m;
    s.one = s.xx + z;
    return s;
}

/* The sums of 1, cx, cy, cx cx, cy cy, cx cy over the nine velocities with one cz, from those of each cy. */
typedef struct kf_level_sums {
    kf_real one, x, y, xx, yy, xy;
} kf_level_sums;
KF_FUNCTION kf_level_sums kf_sum_level(kf_line m, kf_line z, kf_line p) {
    kf_level_sums s;
    s.yy = p.one + m.one;
    s.one = s.yy + z.one;
    s.y = p.one - m.one;
    s.x = (p.x + m.x) + z.x;
    s.xx = (p.xx + m.xx) + z.xx;
    s.xy = p.x - m.x;
    return s;
}

/* The sums that a thread keeps from plane to plane. next_: those of its node in the next plane, over the
 * populations that come from below. below_: the same of its node in this plane. The others: those of its
 * node in this plane, over these and the populations of the plane itself. staying: the populations of this
 * plane that move along z alone. */
typedef struct kf_rolling {
    kf_real next_one[KF_OWN_COUNT], next_x[KF_OWN_COUNT], next_y[KF_OWN_COUNT], next_xx[KF_OWN_COUNT],
        next_yy[KF_OWN_COUNT], next_xy[KF_OWN_COUNT];
    kf_real below_one[KF_OWN_COUNT], below_x[KF_OWN_COUNT], below_y[KF_OWN_COUNT];
    kf_real one[KF_OWN_COUNT], x[KF_OWN_COUNT], y[KF_OWN_COUNT], xx[KF_OWN_COUNT], yy[KF_OWN_COUNT],
        xy[KF_OWN_COUNT];
    kf_real staying[3][KF_OWN_COUNT];
} kf_rolling;

/* Completes the sums s of a node with `down`, the sums that come from the plane above it. */
#define KF_COMPLETE(s, r, o)                                                                                 \
    kf_sums s;                                                                                               \
    s.one = r.one[o] + down.one;                                                                             \
    s.x = r.x[o] + down.x;                                                                                   \
    s.y = r.y[o] + down.y;                                                                                   \
    s.z = r.below_one[o] - down.one;                                                                         \
    s.xx = r.xx[o] + down.xx;                                                                                \
    s.yy = r.yy[o] + down.yy;                                                                                \
    s.zz = r.below_one[o] + down.one;                                                                        \
    s.xy = r.xy[o] + down.xy;                                                                                \
    s.xz = r.below_x[o] - down.x;                                                                            \
    s.yz = r.below_y[o] - down.y;
/* Begins the sums of the node in the next plane with those that come from below. */
#define KF_ADD_NEXT(up, r, o)                                                                                \
    r.next_one[o] = up.one;                                                                                  \
    r.next_x[o] = up.x;                                                                                      \
    r.next_y[o] = up.y;                                                                                      \
    r.next_xx[o] = up.xx;                                                                                    \
    r.next_yy[o] = up.yy;                                                                                    \
    r.next_xy[o] = up.xy;
/* Adds the sums that arrive from a plane: `down` to the node of the plane below, `same` to that of the
 * plane itself, `up` to that of the next plane. */
#define KF_ADD_UP(s, r, o)                                                                                   \
    KF_COMPLETE(s, r, o)                                                                                     \
    r.below_one[o] = r.next_one[o];                                                                          \
    r.below_x[o] = r.next_x[o];                                                                              \
    r.below_y[o] = r.next_y[o];                                                                              \
    r.one[o] = r.next_one[o] + same.one;                                                                     \
    r.x[o] = r.next_x[o] + same.x;                                                                           \
    r.y[o] = r.next_y[o] + same.y;                                                                           \
    r.xx[o] = r.next_xx[o] + same.xx;                                                                        \
    r.yy[o] = r.next_yy[o] + same.yy;                                                                        \
    r.xy[o] = r.next_xy[o] + same.xy;                                                                        \
    KF_ADD_NEXT(up, r, o)

/* Sets the sums to 0, before anything has come from below. */
#define KF_BEGIN_SUMS(r, o)                                                                                  \
    r.next_one[o] = r.next_x[o] = r.next_y[o] = r.next_xx[o] = r.next_yy[o] = r.next_xy[o] = KF_R(0.0);      \
    r.below_one[o] = r.below_x[o] = r.below_y[o] = KF_R(0.0);                                                \
    r.one[o] = r.x[o] = r.y[o] = r.xx[o] = r.yy[o] = r.xy[o] = KF_R(0.0);
/* Add sums to those of a level, or to the sums that come from below (r is a pointer). */
#define KF_ADD_LEVEL(to, more)                                                                               \
    {                                                                                                        \
        const kf_level_sums level = more;                                                                    \
        to.one += level.one;                                                                                 \
        to.x += level.x;                                                                                     \
        to.y += level.y;                                                                                     \
        to.xx += level.xx;                                                                                   \
        to.yy += level.yy;                                                                                   \
        to.xy += level.xy;                                                                                   \
    }
#define KF_ADD_FROM_BELOW(more, r, o)                                                                        \
    {                                                                                                        \
        const kf_level_sums level = more;                                                                    \
        (r)->next_one[o] += level.one;                                                                       \
        (r)->next_x[o] += level.x;                                                                           \
        (r)->next_y[o] += level.y;                                                                           \
        (r)->next_xx[o] += level.xx;                                                                         \
        (r)->next_yy[o] += level.yy;                                                                         \
        (r)->next_xy[o] += level.xy;                                                                         \
    }

/* Returns a coordinate on a periodic axis within the domain. */
KF_FUNCTION int kf_home(int position, int nodes, int periodic) {
    return !periodic           ? position
           : position < 0      ? position + nodes
           : position >= nodes ? position - nodes
                               : position;
}

/* The rows of the part. Without cuts across y it has all rows, from row 0. With cuts it stores its own
 * rows and those beside them, which continue across a periodic face. */
#if KF_CUT_Y
#define KF_FIRST_ROW(a)    ((a)->part.first_row)
#define KF_KEPT_FROM(a)    ((a)->part.rows_before)
#define KF_PART_ROWS(a)    ((a)->part.rows)
#define KF_HAS_LAST_ROW(a) ((a)->part.first_row + (a)->part.rows == (a)->grid.nodes[1])
#define kf_tile_row(y, ny) (y)
/* Return whether a tile that ends beyond the part's rows needs this row, and whether the row belongs to
 * the part. */
#define KF_IS_REACHED(a, y)    ((y) <= (a)->part.first_row + (a)->part.rows)
#define KF_IS_TARGET(a, y, ny) ((y) >= (a)->part.first_row && (y) < (a)->part.first_row + (a)->part.rows)
#define kf_beyond_rows(y, ny)  (KF_FACE_2 == KF_PERIODIC_FACE ? 0 : kf_beyond(y, ny))
#else
#define KF_FIRST_ROW(a)        0
#define KF_KEPT_FROM(a)        0
#define KF_PART_ROWS(a)        ((a)->grid.nodes[1])
#define KF_HAS_LAST_ROW(a)     1
#define kf_tile_row(y, ny)     kf_home(y, ny, KF_FACE_2 == KF_PERIODIC_FACE)
#define KF_IS_REACHED(a, y)    1
#define KF_IS_TARGET(a, y, ny) (kf_beyond(y, ny) == 0)
#define kf_beyond_rows(y, ny)  kf_beyond(y, ny)
#endif

#include "moments_tile.h"

/* Writes velocity and density at the band's nodes (in target) before the solid's force. The collision
 * without this force leaves both unchanged. */
KF_SCALAR_KERNEL(band_macroscopic, kf_module_arguments) {
    (void)y, (void)z;
    const int place = x;
    if (!KF_IN_BAND(a, place)) return;
    const kf_moments m = kf_load_moments(a, a->populations.target, ((const kf_index *)a->band.node)[place]);
    kf_begin_band(a, place, m.deviation, m.ux, m.uy, m.uz);
}

/* Collides the band's nodes with the force that the samples spread on them, which puts them into the list. */
KF_SCALAR_KERNEL(band_collide, kf_module_arguments) {
    (void)y, (void)z;
    const int place = x;
    if (!KF_IN_BAND(a, place)) return;
    const kf_index k = ((const kf_index *)a->band.node)[place];
    if (!kf_is_own(a, k)) return;
    const kf_bits listed = (kf_bits)(place + a->band.listed_from);
    const kf_real4 force = kf_band_force(a, place);
    const kf_moments m =
        kf_add_force(a, kf_load_moments(a, a->populations.target, k), force.x, force.y, force.z);
    kf_real populations[27];
    kf_to_populations(&m, 1, KF_BODY_X + force.x, KF_BODY_Y + force.y, KF_BODY_Z + force.z, populations, 1);
    KF_UNROLL
    for (int i = 0; i < 27; i++)
        *kf_listed(a, i, listed) = populations[i];
    kf_mark_listed(a, a->populations.target, k, listed);
}
