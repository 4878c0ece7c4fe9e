/* Prefetches for the plan `fused`, so that loads wait for a cache instead of for memory. With single nodes
 * it is the last-level cache of a GPU, and with parts of rows the second-level cache of a core. Define
 * that a config sets: KF_PREFETCH_ROWS, how many rows ahead. */
#ifndef KF_KERNELS_KINETIC_PREFETCH_H
#define KF_KERNELS_KINETIC_PREFETCH_H

#include "lattice.h"

#if KF_PREFETCH_ROWS && KF_CUDA
/* Prefetches a line of 128 bytes. On an H200 a load from a prefetched line takes 375 cycles instead of
 * 690. */
KF_FUNCTION void kf_prefetch_line(const void *place) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(place));
}
enum { KF_LINE = 128 };

#define KF_BIT_UP(i, name, cx, cy, cz)   | ((cz) > 0 ? 1u << (i) : 0u)
#define KF_BIT_DOWN(i, name, cx, cy, cz) | ((cz) < 0 ? 1u << (i) : 0u)
/* Returns the index up to which prefetching is allowed. A part's memory reaches only one plane beyond
 * those of a launch for certain. */
KF_FUNCTION long long kf_prefetch_end(const kf_module_arguments *a) {
#if KF_TEAM
    return kf_node(a, 0, a->part.first_row + a->part.rows, a->part.first_plane + a->part.planes);
#else
    return a->memory.capacity;
#endif
}

/* Prefetches into the last-level cache what the nodes KF_PREFETCH_ROWS rows ahead will stream in. Each of
 * a warp's first lanes does this for one population of the warp's nodes. */
KF_FUNCTION void kf_prefetch_rows(const kf_module_arguments *a, int x, int y, int z) {
    const unsigned up = 0 KF_EACH_VELOCITY(KF_BIT_UP), down = 0 KF_EACH_VELOCITY(KF_BIT_DOWN);
    const int along_x = KF_LANES_ALONG_X, bytes = (int)sizeof(kf_stored) * along_x;
    const int lane_x = (int)threadIdx.x % along_x, lane_y = (int)threadIdx.y % (32 / along_x);
    const int i = lane_x + along_x * lane_y;
    if (i >= KF_VELOCITIES) return;
    kf_index k =
        kf_node(a, x - lane_x, y - lane_y + KF_PREFETCH_ROWS, z + (int)(down >> i & 1) - (int)(up >> i & 1));
    for (int row = 0; row < 32 / along_x; row++) {
        const char *place =
            (const char *)((const kf_stored *)a->populations.source + kf_place(a, KF_VELOCITIES, i, k));
        if (k < kf_prefetch_end(a))
            for (int byte = 0; byte < bytes; byte += KF_LINE)
                kf_prefetch_line(place + byte);
        k += a->grid.row_pitch;
    }
}
#define KF_PREFETCH_AHEAD kf_prefetch_rows(a, x, y, z);
#else
#define KF_PREFETCH_AHEAD
#endif

#if KF_PREFETCH_ROWS && !KF_CUDA
enum { KF_LINE = 64 };
KF_FUNCTION void kf_prefetch_part(const kf_stored *part, int nodes) {
    for (const char *line = (const char *)part; line < (const char *)(part + nodes); line += KF_LINE)
        __builtin_prefetch(line, 0, 2);
}
#define KF_PREFETCH_POPULATION(i, name, cx, cy, cz)                                                          \
    kf_prefetch_part(                                                                                        \
        kf_pulled(a, i, kf_node(a, x0, y, z) + (kf_index)KF_PREFETCH_ROWS * a->grid.row_pitch, cx, cy, cz),  \
        x1 - x0);
#define KF_PREFETCH_PART KF_EACH_VELOCITY(KF_PREFETCH_POPULATION)
#else
#define KF_PREFETCH_PART
#endif

#endif
