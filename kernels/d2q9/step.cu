/* The kernels of a step that pass over the whole grid: pull and push with streaming and collision fused,
 * in place, and streaming and collision apart.
 *
 * Defines besides those of the headers:
 *   KF_NODES 1|2|4                      nodes of a thread, along x
 *   KF_FOLDED 0|1                       these kernels compute themselves what arrives across walls and
 *                                       periodic faces and from solid nodes; otherwise the kernel
 *                                       `boundary` has stored it
 *   KF_PERIODIC_X, KF_PERIODIC_Y 0|1    with KF_FOLDED: the axis is periodic, otherwise it has walls
 *   KF_OVERLAP 0|1                      a step may start while the preceding one ends
 *   KF_ALTERNATE 0|1                    every second step visits the rows from the last to the first,
 *                                       whose data are still in the cache
 *   KF_TEAM 0|1                         the rows begin at first_row, because several devices share them */
#include "collision.h"

#if KF_FULL_WAY
#define KF_SOLID(k) ((a->flags[k] & KF_NODE_SOLID_BIT) != 0)
#else
#define KF_SOLID(k) 0
#endif

#if KF_NODES == 1

#if KF_FOLDED
#if KF_OVERLAP
#define KF_LET_NEXT   KF_LET_SUCCESSOR;
#define KF_AWAIT_LAST KF_AWAIT_PREDECESSOR;
#else
#define KF_LET_NEXT
#define KF_AWAIT_LAST
#endif
#if KF_ALTERNATE
#define KF_TURNED (a->backwards ? a->extent[1] - 1 - y : y)
#else
#define KF_TURNED y
#endif
#if KF_TEAM
#define KF_ROW (KF_TURNED + a->first_row)
#else
#define KF_ROW KF_TURNED
#endif
#define KF_BEYOND(cx, x, count) ((cx) > 0 ? (x) == 0 : (cx) < 0 && (x) == (count)-1)
/* Returns the distance in node indices to the node at (-cx, -cy), across periodic faces. */
#define KF_UPSTREAM(cx, cy)                                                                                  \
    ((KF_PERIODIC_X && KF_BEYOND(cx, x, a->nodes[0]) ? (cx)*a->nodes[0] : 0) +                               \
     (KF_PERIODIC_Y && KF_BEYOND(cy, KF_ROW, a->nodes[1]) ? (kf_index)((cy)*a->nodes[1]) * a->row_pitch      \
                                                          : 0) -                                             \
     KF_OFFSET(a, cx, cy))
#define KF_LOAD_WRAPPED(i, name, cx, cy, opposite)                                                           \
    f.name = kf_population(a, a->source, i, k + KF_UPSTREAM(cx, cy));
/* Returns the term that a moving wall adds to the population that it returns along i, with the same rule
 * as the kernel `boundary`. */
KF_FUNCTION kf_real kf_wall_gain(const kf_d2q9_arguments *a, int i, int x, int y) {
    const int from_x = x - kf_cx[i], from_y = y - kf_cy[i];
    const int side_x = KF_PERIODIC_X ? -1 : from_x < 0 ? 0 : from_x >= a->nodes[0] ? 1 : -1;
    const int side_y = KF_PERIODIC_Y ? -1 : from_y < 0 ? 2 : from_y >= a->nodes[1] ? 3 : -1;
    if ((side_x < 0) == (side_y < 0)) return KF_R(0); /* a corner of two walls is at rest */
    const int side = side_x < 0 ? side_y : side_x;
    const double *u = a->face_velocity[side];
    return KF_R(6.0 * kf_weight[i] * (kf_cx[i] * u[0] + kf_cy[i] * u[1]));
}
#define KF_BOUNCES(i) ((i) > 0 && (bounces << 1 >> (i)&1))
#define KF_BOUNCED(i, from)                                                                                  \
    kf_from_store(kf_to_store(kf_population(a, a->source, from, k) + kf_wall_gain(a, i, x, KF_ROW)))
#define KF_BOUNCE(i, name, cx, cy, opposite)                                                                 \
    if (KF_BOUNCES(i)) f.name = KF_BOUNCED(i, KF_##opposite);
#define KF_BEGIN(early)                                                                                      \
    (void)z;                                                                                                 \
    const kf_index k = kf_node(a, x, KF_ROW);                                                                \
    const int bounces = a->bounces[k];                                                                       \
    early KF_AWAIT_LAST                                                                                      \
    kf_nine f;
#define KF_PULL                                                                                              \
    KF_D2Q9(KF_LOAD_WRAPPED)                                                                                 \
    if (bounces != 0) {                                                                                      \
        KF_D2Q9(KF_BOUNCE)                                                                                   \
    }
/* With half-way bounce-back no step reads a solid node. The node is left alone, since it keeps the
 * populations that its neighbours sent there, from which the force is computed. All eight bits are set in
 * a solid node, but also in a fluid node between solids, hence the second test. */
#define KF_LEAVE_SOLIDS                                                                                      \
    KF_LET_NEXT                                                                                              \
    if (!KF_FULL_WAY && bounces == 255 && (a->flags[k] & KF_NODE_SOLID_BIT)) return;
#define KF_LOAD_SWAPPED_WRAPPED(i, name, cx, cy, opposite)                                                   \
    f.name = kf_population(a, a->source, KF_##opposite, k + KF_UPSTREAM(cx, cy));
#define KF_BOUNCE_SWAPPED(i, name, cx, cy, opposite)                                                         \
    if (KF_BOUNCES(i)) f.name = KF_BOUNCED(i, i);
#define KF_PULL_SWAPPED                                                                                      \
    KF_D2Q9(KF_LOAD_SWAPPED_WRAPPED)                                                                         \
    if (bounces != 0) {                                                                                      \
        KF_D2Q9(KF_BOUNCE_SWAPPED)                                                                           \
    }
/* Stores a population where its reader expects it: across a periodic face, or in the node itself where a
 * wall or a solid node returns it. */
#define KF_STORE_ACROSS(i, name, cx, cy, opposite)                                                           \
    if ((KF_PERIODIC_X && KF_BEYOND(-(cx), x, a->nodes[0])) ||                                               \
        (KF_PERIODIC_Y && KF_BEYOND(-(cy), KF_ROW, a->nodes[1])))                                            \
        kf_set_population(a, a->target, i, k + KF_UPSTREAM(-(cx), -(cy)), f.name);
#define KF_STORE_BOUNCED(i, name, cx, cy, opposite)                                                          \
    if (KF_BOUNCES(KF_##opposite))                                                                           \
        kf_set_population(a, a->target, KF_##opposite, k,                                                    \
                          kf_from_store(kf_to_store(f.name)) + kf_wall_gain(a, KF_##opposite, x, KF_ROW));
#define KF_PUSH                                                                                              \
    KF_D2Q9(KF_STORE_PUSHED)                                                                                 \
    KF_D2Q9(KF_STORE_ACROSS)                                                                                 \
    if (bounces != 0) {                                                                                      \
        KF_D2Q9(KF_STORE_BOUNCED)                                                                            \
    }
#else
#define KF_LET_NEXT
#define KF_BEGIN(early)                                                                                      \
    (void)z;                                                                                                 \
    const kf_index k = kf_node(a, x, y);                                                                     \
    kf_nine f;
#define KF_PULL         KF_D2Q9(KF_LOAD_PULL)
#define KF_PULL_SWAPPED KF_D2Q9(KF_LOAD_SWAPPED)
#define KF_PUSH         KF_D2Q9(KF_STORE_PUSHED)
#endif

KF_KERNEL(stream_collide, kf_d2q9_arguments) {
    KF_BEGIN()
    KF_PULL
    kf_relax(a, &f, KF_SOLID(k));
    KF_LET_NEXT
    KF_D2Q9(KF_STORE_HERE)
}
KF_KERNEL(stream, kf_d2q9_arguments) {
    (void)z;
    const kf_index k = kf_node(a, x, y);
    kf_nine f;
    KF_D2Q9(KF_LOAD_PULL)
    KF_D2Q9(KF_STORE_HERE)
}
KF_KERNEL(collide, kf_d2q9_arguments) {
    (void)z;
    const kf_index k = kf_node(a, x, y);
    kf_nine f;
    KF_D2Q9(KF_LOAD_HERE)
    kf_relax(a, &f, KF_SOLID(k));
    KF_D2Q9(KF_STORE_HERE)
}
KF_KERNEL(collide_push, kf_d2q9_arguments) {
    (void)z;
    const kf_index k = kf_node(a, x, y);
    kf_nine f;
    KF_D2Q9(KF_LOAD_HERE)
    kf_relax(a, &f, KF_SOLID(k));
    KF_D2Q9(KF_STORE_PUSHED)
}

/* The AA pattern (Bailey et al. 2009) works in place: a node writes exactly the values that it has read,
 * so one grid is enough. After an even number of steps it reads and writes values of its neighbours, after
 * an odd number its own. */
KF_KERNEL(collide_neighbours, kf_d2q9_arguments) {
    KF_BEGIN(KF_LEAVE_SOLIDS)
    KF_PULL_SWAPPED
    kf_relax(a, &f, KF_SOLID(k));
    KF_PUSH
}
KF_KERNEL(collide_here, kf_d2q9_arguments) {
    KF_BEGIN(KF_LEAVE_SOLIDS)
    KF_D2Q9(KF_LOAD_HERE)
    kf_relax(a, &f, KF_SOLID(k));
    KF_D2Q9(KF_STORE_SWAPPED)
}

#else

/* A thread has KF_NODES nodes side by side. All values of a direction that do not shift along x, and all
 * results, move in one access of KF_NODES values. A direction that shifts needs one more value from the
 * side. Nodes past the end of the row are ghosts or padding. The boundaries replace what is stored in them
 * before a step reads it. */
typedef struct
#if KF_CUDA
    __align__(sizeof(kf_stored) * KF_NODES)
#endif
        kf_pack {
    kf_stored value[KF_NODES];
}
kf_pack;

KF_FUNCTION kf_pack kf_load_pack(const kf_d2q9_arguments *a, int i, kf_index k) {
    return *(const kf_pack *)((const kf_stored *)a->source + kf_place(a, i, k));
}
KF_FUNCTION void kf_store_pack(const kf_d2q9_arguments *a, int i, kf_index k, kf_pack pack) {
    *(kf_pack *)((kf_stored *)a->target + kf_place(a, i, k)) = pack;
}

#define KF_PACK_PULL(i, name, cx, cy, opposite)                                                              \
    {                                                                                                        \
        const kf_index from = k - (kf_index)(cy)*a->row_pitch;                                               \
        const kf_pack pack = kf_load_pack(a, i, from);                                                       \
        kf_stored side = pack.value[0];                                                                      \
        if ((cx) != 0)                                                                                       \
            side = ((const kf_stored *)a->source)[kf_place(a, i, (cx) > 0 ? from - 1 : from + KF_NODES)];    \
        KF_UNROLL                                                                                            \
        for (int j = 0; j < KF_NODES; j++) {                                                                 \
            const int at = j - (cx);                                                                         \
            f[j].name = kf_from_store(at < 0 || at >= KF_NODES ? side : pack.value[at & (KF_NODES - 1)]);    \
        }                                                                                                    \
    }
#define KF_PACK_HERE(i, name, cx, cy, opposite)                                                              \
    {                                                                                                        \
        const kf_pack pack = kf_load_pack(a, i, k);                                                          \
        KF_UNROLL                                                                                            \
        for (int j = 0; j < KF_NODES; j++)                                                                   \
            f[j].name = kf_from_store(pack.value[j]);                                                        \
    }
#define KF_PACK_STORE(i, name, cx, cy, opposite)                                                             \
    {                                                                                                        \
        kf_pack pack;                                                                                        \
        KF_UNROLL                                                                                            \
        for (int j = 0; j < KF_NODES; j++)                                                                   \
            pack.value[j] = kf_to_store(f[j].name);                                                          \
        kf_store_pack(a, i, k, pack);                                                                        \
    }
#if KF_FULL_WAY
#define KF_RELAX_ALL                                                                                         \
    unsigned char flags[KF_NODES];                                                                           \
    KF_UNROLL                                                                                                \
    for (int j = 0; j < KF_NODES; j++)                                                                       \
        flags[j] = a->flags[k + j];                                                                          \
    KF_UNROLL                                                                                                \
    for (int j = 0; j < KF_NODES; j++)                                                                       \
        kf_relax(a, &f[j], flags[j] & KF_NODE_SOLID_BIT);
#else
#define KF_RELAX_ALL                                                                                         \
    KF_UNROLL                                                                                                \
    for (int j = 0; j < KF_NODES; j++)                                                                       \
        kf_relax(a, &f[j], 0);
#endif

KF_SCALAR_KERNEL(stream_collide, kf_d2q9_arguments) {
    (void)z;
    const kf_index k = kf_node(a, KF_NODES * x, y);
    kf_nine f[KF_NODES];
    KF_D2Q9(KF_PACK_PULL)
    KF_RELAX_ALL
    KF_D2Q9(KF_PACK_STORE)
}
KF_SCALAR_KERNEL(stream, kf_d2q9_arguments) {
    (void)z;
    const kf_index k = kf_node(a, KF_NODES * x, y);
    kf_nine f[KF_NODES];
    KF_D2Q9(KF_PACK_PULL)
    KF_D2Q9(KF_PACK_STORE)
}
KF_SCALAR_KERNEL(collide, kf_d2q9_arguments) {
    (void)z;
    const kf_index k = kf_node(a, KF_NODES * x, y);
    kf_nine f[KF_NODES];
    KF_D2Q9(KF_PACK_HERE)
    KF_RELAX_ALL
    KF_D2Q9(KF_PACK_STORE)
}

#endif
