/* The plan temporal does several time steps in one pass over memory (temporal blocking). A block walks up
 * a strip of columns, one row an iteration. Each time step is a level: the first level pulls from memory,
 * a further level takes the rows of the level before from shared memory, two rows behind it, and the last
 * level writes. Row y of a level needs row y + 1 of the level before, which was computed one iteration
 * earlier, so one barrier an iteration is enough. A block also computes levels - 1 columns at either side
 * of its strip, and as many rows below and above it, which belong to its neighbours.
 *
 * A level's populations wait for the next level: those that move up for 3 iterations, those that move
 * along the row for 2, and those that move down for 1. The populations at rest and those that move
 * straight up or down reach no other column, so they stay in the thread's registers.
 *
 * The faces are periodic or walls. Defines:
 *   KF_THREADS                          threads of a block, one for each column
 *   KF_LEVELS                           most steps of a launch, at most 7
 *   KF_TILE_WIDTH                       columns that a block writes
 *   KF_PERIODIC_X, KF_PERIODIC_Y 0|1    the axis is periodic
 *   KF_HALF_WAY 0|1                     half-way bounce-back at solid nodes */
#include "collision.h"

enum { KF_RING_WIDTH = KF_THREADS + 2, KF_OWN_WIDTH = KF_PRIVATE(KF_THREADS) };

/* The post-collision populations of one level that neighbours in the strip read, by iteration. */
typedef struct kf_ring {
    kf_real sw[2][KF_RING_WIDTH], se[2][KF_RING_WIDTH];
    kf_real e[4][KF_RING_WIDTH], w[4][KF_RING_WIDTH];
    kf_real ne[4][KF_RING_WIDTH], nw[4][KF_RING_WIDTH];
} kf_ring;

/* The populations that no other thread reads. The number says how many iterations ago they were computed. */
typedef struct kf_own {
    kf_real r1[KF_OWN_WIDTH], r2[KF_OWN_WIDTH], s1[KF_OWN_WIDTH], s2[KF_OWN_WIDTH];
    kf_real n1[KF_OWN_WIDTH], n2[KF_OWN_WIDTH], n3[KF_OWN_WIDTH];
} kf_own;

/* The populations of a node between two phases of an iteration. */
#define KF_WORK_MEMBER(i, name, cx, cy, opposite) kf_real name[KF_OWN_WIDTH];
typedef struct kf_between_phases {
    KF_D2Q9(KF_WORK_MEMBER)
} kf_between_phases;
#define KF_WORK_PUT(i, name, cx, cy, opposite) work.name[o] = f.name;
#define KF_WORK_GET(i, name, cx, cy, opposite) f.name = work.name[o];

/* Returns the row or column to read from. It lies across a periodic face, or at most one ghost node
 * outside the others. */
KF_FUNCTION int kf_wrap(int position, int count, int periodic) {
    if (!periodic) return position < -1 ? -1 : position > count ? count : position;
    position %= count;
    return position < 0 ? position + count : position;
}
#define KF_COLUMN(x) kf_wrap(x, a->nodes[0], KF_PERIODIC_X)
#define KF_ROW(y)    kf_wrap(y, a->nodes[1], KF_PERIODIC_Y)

/* Returns whether the population that arrives at (x, y) along (cx, cy) bounced. *along becomes the wall's
 * velocity in that direction. */
KF_FUNCTION int kf_bounces(const kf_d2q9_arguments *a, int x, int y, int cx, int cy, kf_real *along) {
    const int sx = x - cx, sy = y - cy;
    int face = -1;
    *along = 0;
    if (!KF_PERIODIC_Y && (sy < 0 || sy >= a->nodes[1])) face = sy < 0 ? 2 : 3;
    if (!KF_PERIODIC_X && (sx < 0 || sx >= a->nodes[0])) {
        if (face >= 0) return 1; /* a corner of two walls is at rest, as in boundary.cu */
        face = sx < 0 ? 0 : 1;
    }
    if (face >= 0) {
        *along = (kf_real)(cx * a->face_velocity[face][0] + cy * a->face_velocity[face][1]);
        return 1;
    }
    return KF_HALF_WAY && (a->flags[kf_node(a, KF_COLUMN(sx), KF_ROW(sy))] & KF_NODE_SOLID_BIT) != 0;
}
/* Applies the boundary conditions. f: the populations that would have arrived without them. g: the node's
 * own populations before the step. */
#define KF_BOUNCE(i, name, cx, cy, opposite)                                                                 \
    if ((i) > 0 && kf_bounces(a, x, y, cx, cy, &along))                                                      \
        f.name = g.opposite + KF_R(6.0 * kf_weight[i]) * along;
KF_FUNCTION kf_nine kf_bounce(const kf_d2q9_arguments *a, int x, int y, kf_nine f, kf_nine g) {
    kf_real along;
    x = KF_PERIODIC_X ? KF_COLUMN(x) : x;
    y = KF_PERIODIC_Y ? KF_ROW(y) : y;
    KF_D2Q9(KF_BOUNCE)
    return f;
}

/* Return, for the row that the level before computed two iterations ago, the populations that arrive there
 * and those that it had itself. `now` is the iteration. */
KF_FUNCTION kf_nine kf_arrived(const kf_ring *ring, const kf_own *own, int now, int t) {
    const int o = KF_OWN(t);
    kf_nine f;
    f.r = own->r2[o], f.n = own->n3[o], f.s = own->s1[o];
    f.e = ring->e[(now - 2) & 3][t], f.w = ring->w[(now - 2) & 3][t + 2];
    f.ne = ring->ne[(now - 3) & 3][t], f.nw = ring->nw[(now - 3) & 3][t + 2];
    f.se = ring->se[(now - 1) & 1][t], f.sw = ring->sw[(now - 1) & 1][t + 2];
    return f;
}
KF_FUNCTION kf_nine kf_held(const kf_ring *ring, const kf_own *own, int now, int t) {
    const int o = KF_OWN(t);
    kf_nine g;
    g.r = own->r2[o], g.n = own->n2[o], g.s = own->s2[o];
    g.e = ring->e[(now - 2) & 3][t + 1], g.w = ring->w[(now - 2) & 3][t + 1];
    g.ne = ring->ne[(now - 2) & 3][t + 1], g.nw = ring->nw[(now - 2) & 3][t + 1];
    g.se = ring->se[now & 1][t + 1], g.sw = ring->sw[now & 1][t + 1];
    return g;
}
KF_FUNCTION void kf_publish(kf_ring *ring, kf_own *own, int now, int t, const kf_nine *f) {
    const int o = KF_OWN(t);
    ring->e[now & 3][t + 1] = f->e, ring->w[now & 3][t + 1] = f->w;
    ring->ne[now & 3][t + 1] = f->ne, ring->nw[now & 3][t + 1] = f->nw;
    ring->se[now & 1][t + 1] = f->se, ring->sw[now & 1][t + 1] = f->sw;
    own->r2[o] = own->r1[o], own->r1[o] = f->r;
    own->s2[o] = own->s1[o], own->s1[o] = f->s;
    own->n3[o] = own->n2[o], own->n2[o] = own->n1[o], own->n1[o] = f->n;
}

#define KF_FETCH(i, name, cx, cy, opposite)                                                                  \
    next.name[o] = kf_population(a, a->source, i,                                                            \
                                 row[1 - (cy)] + ((cx) > 0   ? left[o]                                       \
                                                  : (cx) < 0 ? right[o]                                      \
                                                             : middle[o]));
#define KF_NEXT(i, name, cx, cy, opposite) f.name = next.name[o];
/* Returns the flags of the row on which the level works. The thread keeps the flags of the first level's
 * rows, the newest in the lowest bits. */
#define KF_FLAGS(level) ((int)(history[o] >> (8 * (level))) & 3)

/* Does a->levels steps in one sweep upwards. A level's results stay in shared memory and registers, and
 * only the last level writes to memory. */
KF_BLOCK_KERNEL(temporal, kf_d2q9_arguments) {
    KF_SHARED kf_ring rings[KF_LEVELS - 1];
    kf_own owns[KF_LEVELS - 1];
    kf_between_phases next, work;
    int left[KF_OWN_WIDTH], middle[KF_OWN_WIDTH], right[KF_OWN_WIDTH];
    kf_uint64 history[KF_OWN_WIDTH];
    const int first_column = block_x * KF_TILE_WIDTH - (KF_LEVELS - 1), begin = block_y * a->tile_rows;
    const int last = a->levels - 1, end = begin + a->tile_rows;
    const int write_end = end < a->nodes[1] ? end : a->nodes[1];
    int below = KF_ROW(begin - last - 1), here = KF_ROW(begin - last);
    KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
        const int o = KF_OWN(t);
        left[o] = KF_COLUMN(first_column + t - 1);
        middle[o] = KF_COLUMN(first_column + t);
        right[o] = KF_COLUMN(first_column + t + 1);
        history[o] = 0;
    }
    for (int now = 0; now < a->tile_rows + 3 * last; now++) {
        const int top = begin - last + now; /* row of the first level */
        const int above = KF_PERIODIC_Y ? (here + 1 == a->nodes[1] ? 0 : here + 1) : KF_ROW(top + 1);
        const kf_index row[3] = {kf_node(a, 0, below), kf_node(a, 0, here), kf_node(a, 0, above)};
        KF_EACH_THREAD(t, KF_THREADS) { /* loads that the first level uses when the other levels are done */
            const int o = KF_OWN(t);
            KF_D2Q9(KF_FETCH)
        }
        KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
            const int o = KF_OWN(t);
            history[o] = history[o] << 4 | (a->flags[row[1] + middle[o]] & 3);
        }
        KF_UNROLL
        for (int level = KF_LEVELS - 1; level >= 0; level--) {
            if (level > last || now < 3 * level || now >= a->tile_rows + 2 * last + level) continue;
            const int y = top - 2 * level;
            KF_EACH_THREAD(t, KF_THREADS) {
                const int o = KF_OWN(t);
                kf_nine f;
                if (level == 0) {
                    KF_D2Q9(KF_NEXT)
                } else {
                    f = kf_arrived(&rings[level - (level > 0)], &owns[level - (level > 0)], now, t);
                }
                KF_D2Q9(KF_WORK_PUT)
            }
            KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
                const int o = KF_OWN(t);
                if ((KF_FLAGS(level) & KF_NODE_LINK_BIT) == 0) continue;
                kf_nine f, g;
                KF_D2Q9(KF_WORK_GET)
                if (level == 0) {
                    const kf_index k = row[1] + middle[o];
#define KF_HELD(i, name, cx, cy, opposite) g.name = kf_population(a, a->source, i, k);
                    KF_D2Q9(KF_HELD)
                } else {
                    g = kf_held(&rings[level - (level > 0)], &owns[level - (level > 0)], now, t);
                }
                f = kf_bounce(a, first_column + t, y, f, g);
                KF_D2Q9(KF_WORK_PUT)
            }
            if (level < last) {
                KF_EACH_THREAD(t, KF_THREADS) {
                    const int o = KF_OWN(t);
                    kf_nine f;
                    KF_D2Q9(KF_WORK_GET)
                    kf_relax(a, &f, KF_FLAGS(level) & KF_NODE_SOLID_BIT);
                    kf_publish(&rings[level - (level == KF_LEVELS - 1)],
                               &owns[level - (level == KF_LEVELS - 1)], now, t, &f);
                }
            } else if (y >= begin && y < write_end) {
                KF_EACH_THREAD(t, KF_THREADS) {
                    const int o = KF_OWN(t);
                    kf_nine f;
                    KF_D2Q9(KF_WORK_GET)
                    kf_relax(a, &f, KF_FLAGS(level) & KF_NODE_SOLID_BIT);
                    KF_D2Q9(KF_WORK_PUT)
                }
                KF_EACH_THREAD_SCALAR(t, KF_THREADS) {
                    const int o = KF_OWN(t), x = first_column + t;
                    if (t < KF_LEVELS - 1 || t >= KF_LEVELS - 1 + KF_TILE_WIDTH || x >= a->nodes[0]) continue;
                    const kf_index k = kf_node(a, x, y);
                    kf_nine f;
                    KF_D2Q9(KF_WORK_GET)
                    KF_D2Q9(KF_STORE_HERE)
                }
            }
        }
        below = here;
        here = above;
        KF_BARRIER;
    }
}
