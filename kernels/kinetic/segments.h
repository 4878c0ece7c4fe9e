/* Sums the forces of the samples in a cell of a static solid before anything is spread. An item, or a lane
 * of a warp, has a segment. Defines: those of immersed.h and band.h, and KF_SEGMENT_LENGTH, a multiple of
 * KF_SEGMENT_LANES, which is 1, or 8 or 32 on a GPU. */
#ifndef KF_KERNELS_KINETIC_SEGMENTS_H
#define KF_KERNELS_KINETIC_SEGMENTS_H

#include "band.h"
#include "immersed.h"

#if KF_FIXED_POINT_FORCE
typedef kf_int64 kf_force_sum;
/* The factor is a power of two, so the product is exact. */
#define KF_FORCE_TERM(value) ((kf_int64)((value)*KF_R(KF_SPREAD_SCALE)))
#define KF_ADD_FORCE_SUM(place, component, sum)                                                              \
    kf_atomic_add_int64((kf_int64 *)a->band.force + 4LL * (place) + (component), sum)
#else
typedef kf_real kf_force_sum;
#define KF_FORCE_TERM(value) (value)
#define KF_ADD_FORCE_SUM(place, component, sum)                                                              \
    kf_atomic_add_real((kf_real *)a->band.force + 4LL * (place) + (component), sum)
#endif

/* Interpolates at the samples of a segment, computes their penalty forces and sums them. There are no
 * atomics, and the sums are the same in every run. */
#define KF_SEGMENT_PLACE(dx, dy, dz)                                                                         \
    const int place_##dx##dy##dz = a->segments.places[(dx + 2 * dy + 4 * dz) * a->segments.count + x];
#define KF_SEGMENT_FIELD(dx, dy, dz)                                                                         \
    const kf_real4 field_##dx##dy##dz = ((const kf_real4 *)a->band.field)[place_##dx##dy##dz];               \
    kf_real sum_x_##dx##dy##dz = 0, sum_y_##dx##dy##dz = 0, sum_z_##dx##dy##dz = 0;
#define KF_SEGMENT_INTERPOLATE(dx, dy, dz)                                                                   \
    const kf_real weight_##dx##dy##dz = KF_CELL_WEIGHT(sample.cell, dx, dy, dz);                             \
    density += weight_##dx##dy##dz * field_##dx##dy##dz.w;                                                   \
    ux += weight_##dx##dy##dz * field_##dx##dy##dz.x;                                                        \
    uy += weight_##dx##dy##dz * field_##dx##dy##dz.y;                                                        \
    uz += weight_##dx##dy##dz * field_##dx##dy##dz.z;
#define KF_SEGMENT_SUM(dx, dy, dz)                                                                           \
    sum_x_##dx##dy##dz += weight_##dx##dy##dz * g.x;                                                         \
    sum_y_##dx##dy##dz += weight_##dx##dy##dz * g.y;                                                         \
    sum_z_##dx##dy##dz += weight_##dx##dy##dz * g.z;
#define KF_SEGMENT_SAMPLE(place)                                                                             \
    const kf_real4 packed = place;                                                                           \
    sample.cell.fx = packed.x;                                                                               \
    sample.cell.fy = packed.y;                                                                               \
    sample.cell.fz = packed.z;                                                                               \
    sample.area = packed.w;                                                                                  \
    kf_real density = 0, ux = 0, uy = 0, uz = 0;                                                             \
    KF_CELL_NODES(KF_SEGMENT_INTERPOLATE)                                                                    \
    const kf_real4 g = kf_penalty(&sample, density, ux, uy, uz);                                             \
    KF_CELL_NODES(KF_SEGMENT_SUM)
#define KF_SEGMENT_STORE(dx, dy, dz)                                                                         \
    {                                                                                                        \
        kf_real *out = (kf_real *)a->segments.force + 3LL * (dx + 2 * dy + 4 * dz) * a->segments.count + x;  \
        out[0] = sum_x_##dx##dy##dz;                                                                         \
        out[a->segments.count] = sum_y_##dx##dy##dz;                                                         \
        out[2 * (long long)a->segments.count] = sum_z_##dx##dy##dz;                                          \
    }
#if KF_SEGMENT_LANES > 1
/* Adds up what lanes have summed. The lanes of a warp take the samples of a segment, or of a run, in turn.
 * Then three times each lane keeps the sums of one half of the corners and gives those of the other half
 * to its neighbour, until each of eight lanes has one corner. */
#define KF_SEGMENT_GATHER(dx, dy, dz)                                                                        \
    sums[dx + 2 * dy + 4 * dz][0] = sum_x_##dx##dy##dz;                                                      \
    sums[dx + 2 * dy + 4 * dz][1] = sum_y_##dx##dy##dz;                                                      \
    sums[dx + 2 * dy + 4 * dz][2] = sum_z_##dx##dy##dz;
#define KF_HALVE(half)                                                                                       \
    KF_UNROLL                                                                                                \
    for (int c = 0; c < (half); c++)                                                                         \
        KF_UNROLL                                                                                            \
    for (int i = 0; i < 3; i++) {                                                                            \
        const kf_force_sum kept = lane & (half) ? sums[c + (half)][i] : sums[c][i],                          \
                           given = lane & (half) ? sums[c][i] : sums[c + (half)][i];                         \
        sums[c][i] = kept + __shfl_xor_sync(lanes, given, half);                                             \
    }
#define KF_ADD_UP_LANES                                                                                      \
    kf_force_sum sums[8][3];                                                                                 \
    KF_CELL_NODES(KF_SEGMENT_GATHER)                                                                         \
    KF_HALVE(4)                                                                                              \
    KF_HALVE(2)                                                                                              \
    KF_HALVE(1)                                                                                              \
    KF_UNROLL                                                                                                \
    for (int others = 8; others < KF_SEGMENT_LANES; others *= 2)                                             \
        KF_UNROLL                                                                                            \
    for (int i = 0; i < 3; i++)                                                                              \
        sums[0][i] += __shfl_xor_sync(lanes, sums[0][i], others);
/* Returns the lanes that share a segment with this one, as bits. */
KF_FUNCTION unsigned kf_lanes_beside(int lane) {
    return (0xffffffffU >> (32 - KF_SEGMENT_LANES)) << (threadIdx.x % 32 - lane);
}
#endif
#define KF_SEGMENT_ROUNDS (KF_SEGMENT_LENGTH / KF_SEGMENT_LANES)
#define KF_TAKE_SAMPLES_FROM(round, stride)                                                                  \
    KF_UNROLL_BY_4                                                                                           \
    for (int i = KF_SEGMENT_LANES * (round); i < KF_SEGMENT_LENGTH; i += KF_SEGMENT_LANES) {                 \
        KF_SEGMENT_SAMPLE(samples[i * (stride)])                                                             \
    }
/* An item loads its first samples before it waits for other parts of the kernel. */
#if KF_BAND_CHAIN
#define KF_EARLY_SAMPLES (KF_SEGMENT_ROUNDS < 4 ? KF_SEGMENT_ROUNDS : 4)
#define KF_ASK_FOR_SAMPLES(stride)                                                                           \
    kf_real4 early[KF_EARLY_SAMPLES];                                                                        \
    KF_UNROLL                                                                                                \
    for (int i = 0; i < KF_EARLY_SAMPLES; i++)                                                               \
        early[i] = samples[KF_SEGMENT_LANES * i * (stride)];
#define KF_TAKE_SAMPLES(stride)                                                                              \
    KF_UNROLL                                                                                                \
    for (int i = 0; i < KF_EARLY_SAMPLES; i++) {                                                             \
        KF_SEGMENT_SAMPLE(early[i])                                                                          \
    }                                                                                                        \
    KF_TAKE_SAMPLES_FROM(KF_EARLY_SAMPLES, stride)
#else
#define KF_ASK_FOR_SAMPLES(stride)
#define KF_TAKE_SAMPLES(stride) KF_TAKE_SAMPLES_FROM(0, stride)
#endif
#if KF_SEGMENTS && KF_SEGMENT_LANES > 1
/* Computes the forces of a segment's samples. Each lane has its own samples. The lanes add up their sums
 * in pairs, and each of the first eight writes the sum of a node. */
KF_BAND_PART(segment_forces) {
    (void)y, (void)z;
    const int item = x;
    const int lane = item % KF_SEGMENT_LANES;
    x = item / KF_SEGMENT_LANES;
    const unsigned lanes = kf_lanes_beside(lane);
    const kf_real4 *samples = (const kf_real4 *)a->segments.samples + (long long)x * KF_SEGMENT_LENGTH + lane;
    KF_LET_FORCES
    KF_CELL_NODES(KF_SEGMENT_PLACE)
    KF_ASK_FOR_SAMPLES(1)
    KF_AWAIT_FORCES
    KF_CELL_NODES(KF_SEGMENT_FIELD)
    kf_sample sample;
    sample.bx = sample.by = sample.bz = KF_R(0.0);
    KF_TAKE_SAMPLES(1)
    KF_ADD_UP_LANES
    if (lane >= 8) return;
    kf_real *out = (kf_real *)a->segments.force + 24LL * x + 3 * lane;
    KF_UNROLL
    for (int i = 0; i < 3; i++)
        out[i] = sums[0][i];
}
#elif KF_SEGMENTS
KF_BAND_PART(segment_forces) {
    (void)y, (void)z;
    const kf_real4 *samples = (const kf_real4 *)a->segments.samples + x;
    KF_LET_FORCES
    KF_CELL_NODES(KF_SEGMENT_PLACE)
    KF_ASK_FOR_SAMPLES((long long)a->segments.count)
    KF_AWAIT_FORCES
    KF_CELL_NODES(KF_SEGMENT_FIELD)
    kf_sample sample;
    sample.bx = sample.by = sample.bz = KF_R(0.0);
    KF_TAKE_SAMPLES((long long)a->segments.count)
    KF_CELL_NODES(KF_SEGMENT_STORE)
}
#endif

#endif
