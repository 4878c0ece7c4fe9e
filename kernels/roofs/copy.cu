/* The highest rates of copying: in device memory, in the last-level cache, and in the memory nearest to a
 * core. A word is what one thread moves best at once. It is 16 bytes on a GPU. On the cpu the compiler
 * makes vectors. */
#include "../portable.h"
#include "arguments.h"

#if KF_CUDA
typedef float4 roof_word;
#define ROOF_ADD(sum, word) (sum).x += (word).x + (word).y + (word).z + (word).w
#else
typedef float roof_word;
#define ROOF_ADD(sum, word) (sum) += (word)
#endif

KF_KERNEL(copy_words, kf_roof_arguments) {
    const roof_word *source = (const roof_word *)a->source;
    roof_word *target = (roof_word *)a->target;
    const kf_int64 i = x + (kf_int64)a->extent[0] * y;
    (void)z;
    target[i] = source[i];
}

#if !KF_CUDA
/* Copies with stores that bypass the caches and read no cache line first. An item is a run of `shift`
 * words. */
KF_SCALAR_KERNEL(copy_past, kf_roof_arguments) {
    const kf_int64 i = (x + (kf_int64)a->extent[0] * y) * a->shift;
    (void)z;
    kf_stream_bytes((roof_word *)a->target + i, (const roof_word *)a->source + i,
                    a->shift * (kf_int64)sizeof(roof_word));
    KF_STREAM_END;
}
#endif

/* Moves the memory of a D3Q27 step in the soa layout, without its arithmetic. */
KF_KERNEL(copy_streams, kf_roof_arguments) {
    const float *source = (const float *)a->source;
    float *target = (float *)a->target;
    const kf_int64 i = x + (kf_int64)a->extent[0] * y, n = a->count;
    (void)z;
    KF_UNROLL
    for (int stream = 0; stream < KF_ROOF_STREAMS; stream++)
        target[stream * n + i] = source[stream * n + i];
}

/* Copies within a working set that the last-level cache holds. Each repeat takes other words, so that no
 * nearer cache serves them. On a GPU the loads bypass the L1 cache. mask: words of the set - 1. */
KF_SCALAR_KERNEL(copy_cached, kf_roof_arguments) {
    const roof_word *source = (const roof_word *)a->source;
    roof_word *target = (roof_word *)a->target;
    (void)y;
    (void)z;
#if KF_CUDA
    /* Four loads come before four stores, since the compiler may not reorder them itself. */
    int at = x;
    for (int repeat = 0; repeat < a->repeats; repeat += 4) {
        roof_word words[4];
        int places[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            places[k] = at;
            words[k] = __ldcg(source + at);
            at = (at + a->shift) & a->mask;
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
            target[places[k]] = words[k];
    }
#else
    /* An item is a run of `shift` words. All items together are the set. */
    for (int repeat = 0; repeat < a->repeats; repeat++) {
        const int at = ((x + repeat) * a->shift) & a->mask;
        for (int k = 0; k < a->shift; k++)
            target[at + k] = source[at + k];
    }
#endif
}

/* Loads from the L1 cache: a block reads its own tile of mask + 1 words again and again. */
KF_BLOCK_KERNEL(load_near, kf_roof_arguments) {
    const roof_word *tile = (const roof_word *)a->source + (kf_int64)block_x * (a->mask + 1);
    roof_word *target = (roof_word *)a->target + (kf_int64)block_x * KF_ROOF_THREADS;
    (void)block_y;
    KF_EACH_THREAD_SCALAR(t, KF_ROOF_THREADS) {
        roof_word sum = tile[t];
        int at = t;
        KF_UNROLL
        for (int repeat = 0; repeat < 8 * (a->repeats / 8); repeat++) {
            at = (at + a->shift) & a->mask;
            ROOF_ADD(sum, tile[at]);
        }
        target[t] = sum;
    }
}

/* Copies between two tiles in the block's shared memory. On the cpu they are in the L1 cache. */
KF_BLOCK_KERNEL(copy_near, kf_roof_arguments) {
    /* At a distance of 4 KiB they would alias. */
    KF_SHARED roof_word tiles[2][KF_ROOF_TILES][KF_ROOF_THREADS + 16];
    const roof_word *source = (const roof_word *)a->source;
    roof_word *target = (roof_word *)a->target + (kf_int64)block_x * KF_ROOF_THREADS;
    (void)block_y;
    KF_EACH_THREAD(t, KF_ROOF_THREADS) {
        KF_UNROLL
        for (int k = 0; k < KF_ROOF_TILES; k++)
            tiles[0][k][t] = source[k * KF_ROOF_THREADS + t];
    }
    KF_BARRIER;
    for (int repeat = 0; repeat < a->repeats; repeat++) {
        /* Each word comes from another one than in the last repeat, so that the compiler cannot keep it in
         * a register. */
        KF_EACH_THREAD(t, KF_ROOF_THREADS) {
            KF_UNROLL
            for (int k = 0; k < KF_ROOF_TILES; k++)
                tiles[1][k][t] = tiles[0][(k + 1) % KF_ROOF_TILES][t];
        }
        KF_BARRIER;
        KF_EACH_THREAD(t, KF_ROOF_THREADS) {
            KF_UNROLL
            for (int k = 0; k < KF_ROOF_TILES; k++)
                tiles[0][k][t] = tiles[1][(k + 1) % KF_ROOF_TILES][t];
        }
        KF_BARRIER;
    }
    KF_EACH_THREAD(t, KF_ROOF_THREADS) {
        target[t] = tiles[0][0][t];
    }
}
