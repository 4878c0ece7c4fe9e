/* Lists the samples by cell, for the plan gather of the immersed boundary. It is a counting sort, whose
 * passes have one item for each sample or key. The samples of a cell keep the sampling order, so the list
 * is the same whatever the order of the atomics. */
#include "arguments.h"
typedef kf_state_arguments kf_module_arguments; /* the headers' functions take this type */

#include "sample.h"

/* Computes the key of every sample, and sets the counters to 0. Item x has sample x and counter x. The
 * extent is max(samples, keys + 1). */
KF_SCALAR_KERNEL(order_keys, kf_order_arguments) {
    (void)y, (void)z;
    if (x <= a->key_count) a->start[x] = 0;
    if (x >= a->samples.count) return;
    const kf_pose *pose = (const kf_pose *)a->samples.pose;
#if KF_MOVING
    const kf_sample_cell cell = kf_place_moving(
        KF_POSE_OF(a, x), a->grid.nodes, (double)((const kf_real *)a->samples.x)[x],
        (double)((const kf_real *)a->samples.y)[x], (double)((const kf_real *)a->samples.z)[x]);
    int cx = cell.x, cy = cell.y, cz = cell.z;
#else
    int cx, cy, cz;
    kf_node_position(((const kf_index *)a->samples.corner)[x], a->memory.origin, a->grid.row_pitch,
                     a->memory.plane_pitch, &cx, &cy, &cz);
#endif
    cx = kf_home(0, cx - pose->box_origin[0], a->grid.nodes[0]);
    cy = kf_home(1, cy - pose->box_origin[1], a->grid.nodes[1]);
    cz = kf_home(2, cz - pose->box_origin[2], a->grid.nodes[2]);
    a->keys[x] = cx + a->samples.box[0] * (cy + a->samples.box[1] * cz);
}

/* Counts the samples of each key, one place further on, so that the scan leaves every key's first rank. */
KF_SCALAR_KERNEL(order_count, kf_order_arguments) {
    (void)y, (void)z;
    kf_atomic_add_int(a->start + a->keys[x] + 1, 1);
}

/* The inclusive scan of start[1 .. key_count] takes three passes: scans of chunks, a scan of their sums,
 * and the addition of these. */
KF_SCALAR_KERNEL(order_scan_chunks, kf_order_arguments) {
    (void)y, (void)z;
    int sum = 0;
    for (int i = x * KF_SCAN_CHUNK + 1; i <= a->key_count && i <= (x + 1) * KF_SCAN_CHUNK; i++) {
        sum += a->start[i];
        a->start[i] = sum;
    }
    a->chunk_sums[x] = sum;
}
KF_SCALAR_KERNEL(order_scan_sums, kf_order_arguments) {
    (void)x, (void)y, (void)z;
    int sum = 0;
    for (int i = 0; i < a->chunk_count; i++) {
        const int chunk = a->chunk_sums[i];
        a->chunk_sums[i] = sum;
        sum += chunk;
    }
}
/* The extent is key_count. */
KF_SCALAR_KERNEL(order_scan_add, kf_order_arguments) {
    (void)y, (void)z;
    a->start[x + 1] += a->chunk_sums[x / KF_SCAN_CHUNK];
}

/* Set the next free place of each key, and then give every sample one. The extents are key_count and
 * samples. */
KF_SCALAR_KERNEL(order_begin_place, kf_order_arguments) {
    (void)y, (void)z;
    a->next[x] = a->start[x];
}
KF_SCALAR_KERNEL(order_place, kf_order_arguments) {
    (void)y, (void)z;
    a->order[kf_atomic_add_int(a->next + a->keys[x], 1)] = x;
}

/* Sorts the samples of a key by their sampling order. An insertion sort is enough for tens of samples. The
 * extent is key_count. */
KF_SCALAR_KERNEL(order_break_ties, kf_order_arguments) {
    (void)y, (void)z;
    const int first = a->start[x], end = a->start[x + 1];
    for (int i = first + 1; i < end; i++) {
        const int sample = a->order[i], rank = a->identity[sample];
        int j = i;
        for (; j > first && a->identity[a->order[j - 1]] > rank; j--)
            a->order[j] = a->order[j - 1];
        a->order[j] = sample;
    }
}
