/* The plan `moments`: streaming and collision in one pass over nine fields of moments instead of 27
 * populations (moments.h). A block walks up a column of planes with a tile of nodes, turns each plane's
 * moments into the populations that leave its places, and adds up what streams to every node of the tile. Of
 * what moves upwards in plane z - 1, stays in plane z and moves downwards in plane z + 1 only sums are kept.
 *
 * Defines that a config sets: KF_TILE_X, KF_TILE_Y nodes of a tile */
#include "arguments.h"
typedef kf_flow_arguments kf_module_arguments; /* what the functions of the headers take */

#include "band.h"
#include "boundary.h"
#include "covered.h"
#include "moments.h"

enum { KF_THREADS = KF_TILE_X * KF_TILE_Y, KF_OWN_COUNT = KF_PRIVATE(KF_THREADS) };

/* Sums over the three velocities of one cy and cz of 1, cx, cx cx. */
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

/* Sums over the nine velocities of one cz of 1, cx, cy, cx cx, cy cy, cx cy, from those of each cy. */
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

/* A thread keeps three kinds of sums. The first is over the populations that came from below its node in the
 * next plane. The second is over those, and those of the same plane, for its node in this plane. The third is
 * over the populations of this plane that move along z alone. */
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
/* Begins the sums of the node in the next plane with those that came from below. */
#define KF_ADD_NEXT(up, r, o)                                                                                \
    r.next_one[o] = up.one;                                                                                  \
    r.next_x[o] = up.x;                                                                                      \
    r.next_y[o] = up.y;                                                                                      \
    r.next_xx[o] = up.xx;                                                                                    \
    r.next_yy[o] = up.yy;                                                                                    \
    r.next_xy[o] = up.xy;
/* Adds the sums down, same and up that arrive from a plane to the nodes of the plane below, the same and the
 * next. */
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

/* Sets the sums to 0: nothing has come from below yet. */
#define KF_BEGIN_SUMS(r, o)                                                                                  \
    r.next_one[o] = r.next_x[o] = r.next_y[o] = r.next_xx[o] = r.next_yy[o] = r.next_xy[o] = KF_R(0.0);      \
    r.below_one[o] = r.below_x[o] = r.below_y[o] = KF_R(0.0);                                                \
    r.one[o] = r.x[o] = r.y[o] = r.xx[o] = r.yy[o] = r.xy[o] = KF_R(0.0);
/* Adds sums to those of a level, or to the sums that came from below (r, a pointer). */
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

/* Returns a coordinate on a periodic axis, within the domain. */
KF_FUNCTION int kf_home(int position, int nodes, int periodic) {
    return !periodic           ? position
           : position < 0      ? position + nodes
           : position >= nodes ? position - nodes
                               : position;
}

/* Rows of the part. Without cuts across y it has all of them, from row 0. With cuts it has memory for its own
 * rows and those beside them, which continue beyond the seam of a domain that is periodic along y. */
#if KF_CUT_Y
#define KF_FIRST_ROW(a)    ((a)->part.first_row)
#define KF_KEPT_FROM(a)    ((a)->part.rows_before)
#define KF_PART_ROWS(a)    ((a)->part.rows)
#define KF_HAS_LAST_ROW(a) ((a)->part.first_row + (a)->part.rows == (a)->grid.nodes[1])
#define kf_tile_row(y, ny) (y)
/* Returns whether a tile that ends beyond the part's rows needs this row. */
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

/* Writes velocity and density at the band's nodes (target) before the force of the solid. The collision
 * without this force leaves both unchanged. */
KF_SCALAR_KERNEL(band_macroscopic, kf_module_arguments) {
    (void)y, (void)z;
    const int place = x;
    if (!KF_IN_BAND(a, place)) return;
    const kf_moments m = kf_load_moments(a, a->populations.target, ((const kf_index *)a->band.node)[place]);
    kf_begin_band(a, place, m.deviation, m.ux, m.uy, m.uz);
}

/* Collides the band's nodes with the force that the samples spread on them. This puts them into the list. */
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
