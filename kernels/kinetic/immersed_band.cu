/* The immersed boundary (immersed.cu) on the compact arrays of the band alone, for the plans fused and
 * moments. It spreads sample by sample with atomics, or it first sums the forces of a cell's samples.
 * These are in segments that are made once for a static solid. For a moving solid they are in cells that
 * are filled in every step, or in the runs of its patches.
 *
 * Defines besides those of immersed.h and band.h:
 *   KF_CELLS 0|1         the samples of a moving solid's cells are summed
 *   KF_PATCH             samples of a patch; 0: there are none, and cells are filled from all samples
 *   KF_OWN_POSE 1        patch_sort computes the pose of the step that begins
 *   KF_SEGMENT_LENGTH    a multiple of KF_SEGMENT_LANES, which is 1, or 8 or 32 on a GPU
 *   KF_SOLIDS 1          there are several solids, and a patch has samples of one of them */
#include "arguments.h"
typedef kf_solid_arguments kf_module_arguments; /* the headers' functions take this type */

#include "segments.h"
#include "surface.h"
#ifndef KF_OWN_POSE
#define KF_OWN_POSE 0
#endif
#if KF_OWN_POSE
#include "prescribed.h"
#endif

#define KF_ADD_BAND_FORCE(place, component, value) KF_ADD_FORCE_SUM(place, component, KF_FORCE_TERM(value))

#define KF_INTERPOLATE_BAND(dx, dy, dz)                                                                      \
    const int place_##dx##dy##dz = a->band.of[KF_CELL_NODE(sample, dx, dy, dz)];                             \
    const kf_real weight_##dx##dy##dz = KF_CELL_WEIGHT(sample.cell, dx, dy, dz);                             \
    if (place_##dx##dy##dz >= 0) {                                                                           \
        const kf_real4 field = ((const kf_real4 *)a->band.field)[place_##dx##dy##dz];                        \
        density += weight_##dx##dy##dz * field.w;                                                            \
        ux += weight_##dx##dy##dz * field.x;                                                                 \
        uy += weight_##dx##dy##dz * field.y;                                                                 \
        uz += weight_##dx##dy##dz * field.z;                                                                 \
    }
#define KF_SPREAD_BAND(dx, dy, dz)                                                                           \
    if (place_##dx##dy##dz >= 0) {                                                                           \
        KF_ADD_BAND_FORCE(place_##dx##dy##dz, 0, weight_##dx##dy##dz *g.x);                                  \
        KF_ADD_BAND_FORCE(place_##dx##dy##dz, 1, weight_##dx##dy##dz *g.y);                                  \
        KF_ADD_BAND_FORCE(place_##dx##dy##dz, 2, weight_##dx##dy##dz *g.z);                                  \
    }

#if !KF_SEGMENTS && !KF_PATCH
/* Interpolates at a sample, computes its penalty force and spreads it on the band. */
KF_FUNCTION void kf_spread_sample(const kf_module_arguments *a, int s) {
    const kf_sample sample = kf_load_sample(a, s, 0);
    if (!kf_is_near(a, &sample)) return;
    kf_real density = 0, ux = 0, uy = 0, uz = 0;
    KF_CELL_NODES(KF_INTERPOLATE_BAND)
    const kf_real4 g = kf_penalty(&sample, density, ux, uy, uz);
    KF_CELL_NODES(KF_SPREAD_BAND)
}
#if !KF_CELLS
KF_SCALAR_KERNEL(band_spread, kf_module_arguments) {
    (void)y, (void)z;
    kf_clear_load(a, x);
    kf_spread_sample(a, x);
}
#endif
#endif

/* Ends a pass that others follow. It adds the pass's force to that of the passes before, and its change to
 * the velocity field, and sets the force to 0 for the next pass. The extent is band_capacity. */
KF_SCALAR_KERNEL(band_join, kf_module_arguments) {
    (void)y, (void)z;
    if (!KF_IN_BAND(a, x)) return;
    const kf_real4 force = kf_band_force(a, x);
    kf_real4 *field = (kf_real4 *)a->band.field + x;
    const kf_real half_per_density = KF_R(0.5) / field->w;
    field->x += half_per_density * force.x;
    field->y += half_per_density * force.y;
    field->z += half_per_density * force.z;
#if KF_FIXED_POINT_FORCE
    long long *added = (long long *)a->band.force + 4LL * x, *total = (long long *)a->band.total + 4LL * x;
    for (int i = 0; i < 3; i++) {
        total[i] = (a->body.pass == 0 ? 0 : total[i]) + added[i];
        added[i] = 0;
    }
#else
    kf_real4 *added = (kf_real4 *)a->band.force + x, *total = (kf_real4 *)a->band.total + x;
    kf_real4 sum;
    sum.x = sum.y = sum.z = sum.w = KF_R(0.0);
    *added = sum;
    if (a->body.pass > 0) sum = *total;
    sum.x += force.x;
    sum.y += force.y;
    sum.z += force.z;
    *total = sum;
#endif
}

#if KF_CELLS
#define KF_CELL_FIELD(dx, dy, dz)                                                                            \
    const int place_##dx##dy##dz = a->band.of[KF_CELL_NODE(sample, dx, dy, dz)];                             \
    const kf_real4 field_##dx##dy##dz =                                                                      \
        place_##dx##dy##dz < 0 ? nothing : ((const kf_real4 *)a->band.field)[place_##dx##dy##dz];            \
    kf_force_sum sum_x_##dx##dy##dz = 0, sum_y_##dx##dy##dz = 0, sum_z_##dx##dy##dz = 0;
#define KF_CELL_SUM(dx, dy, dz)                                                                              \
    sum_x_##dx##dy##dz += KF_FORCE_TERM(weight_##dx##dy##dz * g.x);                                          \
    sum_y_##dx##dy##dz += KF_FORCE_TERM(weight_##dx##dy##dz * g.y);                                          \
    sum_z_##dx##dy##dz += KF_FORCE_TERM(weight_##dx##dy##dz * g.z);
#define KF_CELL_SPREAD(dx, dy, dz)                                                                           \
    if (place_##dx##dy##dz >= 0) {                                                                           \
        KF_ADD_FORCE_SUM(place_##dx##dy##dz, 0, sum_x_##dx##dy##dz);                                         \
        KF_ADD_FORCE_SUM(place_##dx##dy##dz, 1, sum_y_##dx##dy##dz);                                         \
        KF_ADD_FORCE_SUM(place_##dx##dy##dz, 2, sum_z_##dx##dy##dz);                                         \
    }

/* The values that the samples of a cell share: its corner, with the arm and the velocity of the surface
 * there. */
typedef struct kf_cell {
    kf_sample corner;
    kf_real arm_x, arm_y, arm_z, vx, vy, vz, wx, wy, wz;
} kf_cell;
KF_FUNCTION kf_sample kf_corner_of(const kf_module_arguments *a, kf_index corner) {
    kf_sample sample;
    sample.corner = corner;
    kf_position(a, corner, &sample.cell.x, &sample.cell.y, &sample.cell.z);
    sample.cell.y = kf_home_row(a, sample.cell.y);
#if KF_WRAP
    kf_set_steps(a, sample.cell.x, sample.cell.y, sample.cell.z, &sample);
#endif
    return sample;
}
/* With several solids a further argument is one of the cell's samples, which tells whose pose applies. */
#if KF_SOLIDS
#define KF_AND_SAMPLE , int one_of_it
#define KF_GIVE(s)    , s
#else
#define KF_AND_SAMPLE
#define KF_GIVE(s)
#endif
/* Returns the cell with this corner. A solid is shorter than the periodic domain, so one image serves a
 * whole cell. */
KF_FUNCTION kf_cell kf_cell_at(const kf_module_arguments *a, kf_index corner KF_AND_SAMPLE) {
    const kf_pose *pose = KF_POSE_OF(a, one_of_it);
    kf_cell cell;
    cell.corner = kf_corner_of(a, corner);
    cell.arm_x = (kf_real)kf_nearest(0, cell.corner.cell.x - pose->center[0], a->grid.nodes[0]);
    cell.arm_y = (kf_real)kf_nearest(1, cell.corner.cell.y - pose->center[1], a->grid.nodes[1]);
    cell.arm_z = (kf_real)kf_nearest(2, cell.corner.cell.z - pose->center[2], a->grid.nodes[2]);
    cell.vx = (kf_real)pose->velocity[0];
    cell.vy = (kf_real)pose->velocity[1];
    cell.vz = (kf_real)pose->velocity[2];
    cell.wx = (kf_real)pose->angular_velocity[0];
    cell.wy = (kf_real)pose->angular_velocity[1];
    cell.wz = (kf_real)pose->angular_velocity[2];
    return cell;
}
/* Adds a sample's force to the sums of its cell, `of`. The fields and sums of the cell's nodes are in
 * scope. */
#define KF_CELL_SAMPLE(of, place)                                                                            \
    const kf_real4 packed = place;                                                                           \
    sample.cell.fx = packed.x;                                                                               \
    sample.cell.fy = packed.y;                                                                               \
    sample.cell.fz = packed.z;                                                                               \
    sample.area = packed.w;                                                                                  \
    const kf_real rx = of.arm_x + packed.x, ry = of.arm_y + packed.y, rz = of.arm_z + packed.z;              \
    sample.bx = of.vx + of.wy * rz - of.wz * ry;                                                             \
    sample.by = of.vy + of.wz * rx - of.wx * rz;                                                             \
    sample.bz = of.vz + of.wx * ry - of.wy * rx;                                                             \
    kf_real density = 0, ux = 0, uy = 0, uz = 0;                                                             \
    KF_CELL_NODES(KF_SEGMENT_INTERPOLATE)                                                                    \
    const kf_real4 g = kf_penalty(&sample, density, ux, uy, uz);                                             \
    KF_CELL_NODES(KF_CELL_SUM)

#if !KF_PATCH
/* Computes and spreads the force of up to KF_SEGMENT_LENGTH samples of a cell, whose corner has the place
 * `place` in the band. */
KF_FUNCTION void kf_spread_cell(const kf_module_arguments *a, int place, int row) {
    const kf_index corner = ((const kf_index *)a->band.node)[place];
    int count = a->patches.cell_count[corner] - row * KF_SEGMENT_LENGTH;
    if (count <= 0) return;
    if (count > KF_SEGMENT_LENGTH) count = KF_SEGMENT_LENGTH;
    const kf_cell cell = kf_cell_at(a, corner KF_GIVE(0));
    kf_sample sample = cell.corner;
    kf_real4 nothing;
    nothing.x = nothing.y = nothing.z = nothing.w = KF_R(0.0);
    KF_CELL_NODES(KF_CELL_FIELD)
    const kf_real4 *samples = (const kf_real4 *)a->segments.samples +
                              ((long long)row * a->band.capacity + place) * KF_SEGMENT_LENGTH;
    for (int i = 0; i < count; i++) {
        KF_CELL_SAMPLE(cell, samples[i])
    }
    KF_CELL_NODES(KF_CELL_SPREAD)
}

/* Sums the forces of each cell's samples and spreads the sums, then does the samples that found no room in
 * their cell. The extent is cell_rows * band_capacity. */
KF_SCALAR_KERNEL(cell_forces, kf_module_arguments) {
    (void)y, (void)z;
    kf_clear_load(a, x);
    const int place = x % a->band.capacity;
    if (place < a->band.count[0]) kf_spread_cell(a, place, x / a->band.capacity);
    for (int i = x; i < a->band.count[2]; i += a->extent[0])
        kf_spread_sample(a, a->patches.crowded[i]);
}
#else
/* The samples of a moving solid are stored in an order in which samples that are close on the surface are
 * close in memory, however the solid turns. So a patch of KF_PATCH samples touches few cells. A block
 * sorts a patch by cells. Each cell's samples then follow each other, in runs of up to KF_SEGMENT_LENGTH,
 * and KF_SEGMENT_LANES lanes sum a run. Sums of integers over a cell do not depend on the order. */
#define KF_PATCH_THREADS 128
/* The table finds cells by their corners. Its size is a power of two, and no patch has more cells. */
#define KF_PATCH_TABLE   KF_PATCH
#define KF_PATCH_RUNS    (2 * KF_PATCH + 2)
#define KF_NO_CELL       (-2147483647 - 1)
#define KF_RUNS(samples) (((samples) + KF_SEGMENT_LENGTH - 1) / KF_SEGMENT_LENGTH)
/* The number of runs of a patch that patch_forces sums at the same time. Most patches have fewer. An item
 * without a run ends at once, while an item with two holds up the others of its block. */
#if KF_CUDA
#define KF_PATCH_TOGETHER 32
#else
#define KF_PATCH_TOGETHER 1
#endif
#define KF_PATCH_ITEMS (KF_PATCH_TOGETHER * KF_SEGMENT_LANES)

/* Sums the forces of a run's samples, and spreads the sum on the nodes of its cell. It loads the first
 * samples before the cell's nodes. */
KF_FUNCTION void kf_spread_run(const kf_module_arguments *a, kf_index corner, const kf_real4 *samples,
                               int count, int lane KF_AND_SAMPLE) {
    enum {
        TOGETHER = KF_FIXED_POINT_FORCE ? 2 : 4
    }; /* loads in flight; 64-bit sums leave few registers for them */
    kf_real4 loaded[TOGETHER], nothing;
    nothing.x = nothing.y = nothing.z = nothing.w = KF_R(0.0);
    KF_UNROLL
    for (int i = 0; i < TOGETHER; i++)
        loaded[i] = lane + i * KF_SEGMENT_LANES < count ? samples[lane + i * KF_SEGMENT_LANES] : nothing;
    const kf_cell cell = kf_cell_at(a, corner KF_GIVE(one_of_it));
    kf_sample sample = cell.corner;
    KF_CELL_NODES(KF_CELL_FIELD)
    for (int round = 0; round < KF_SEGMENT_LENGTH; round += TOGETHER * KF_SEGMENT_LANES) {
        const int first = lane + round, next = first + TOGETHER * KF_SEGMENT_LANES;
        if (first >= count) break;
        KF_UNROLL
        for (int i = 0; i < TOGETHER; i++) {
            if (first + i * KF_SEGMENT_LANES >= count) continue;
            KF_CELL_SAMPLE(cell, loaded[i])
        }
        if (round + TOGETHER * KF_SEGMENT_LANES >= KF_SEGMENT_LENGTH) break;
        KF_UNROLL
        for (int i = 0; i < TOGETHER; i++)
            loaded[i] = next + i * KF_SEGMENT_LANES < count ? samples[next + i * KF_SEGMENT_LANES] : nothing;
    }
#if KF_SEGMENT_LANES > 1
    const unsigned lanes = kf_lanes_beside(lane);
    KF_ADD_UP_LANES
    if (lane >= 8) return;
    const int place = a->band.of[KF_CELL_NODE(sample, lane & 1, lane >> 1 & 1, lane >> 2)];
    if (place < 0) return;
#if KF_FIXED_POINT_FORCE || KF_STORAGE == KF_F64_STORAGE
    KF_UNROLL
    for (int i = 0; i < 3; i++)
        KF_ADD_FORCE_SUM(place, i, sums[0][i]);
#else
    kf_atomic_add_three((float *)a->band.force + 4LL * place, sums[0][0], sums[0][1], sums[0][2]);
#endif
#else
    KF_CELL_NODES(KF_CELL_SPREAD)
#endif
}

/* The extent is KF_PATCH_ITEMS for each patch, in small blocks that end soon. */
KF_SCALAR_KERNEL(patch_forces, kf_module_arguments) {
    (void)y, (void)z;
    if (x < KF_LOAD_SUMS * KF_LOAD_SLOTS) kf_clear_load(a, x);
    const int patch = x / KF_PATCH_ITEMS, item = x % KF_PATCH_ITEMS, lane = item % KF_SEGMENT_LANES;
    const int *runs = a->patches.runs + (long long)patch * KF_PATCH_RUNS;
    const kf_real4 *samples = (const kf_real4 *)a->segments.samples + (long long)patch * KF_PATCH;
    const int count = runs[0];
    int run = item / KF_SEGMENT_LANES, corner = runs[2 + 2 * run],
        span = runs[3 + 2 * run]; /* loads without waiting for the count */
    while (run < count) {
        kf_spread_run(a, (kf_index)corner, samples + (span & 0xffff), span >> 16,
                      lane KF_GIVE(patch * KF_PATCH));
        run += KF_PATCH_TOGETHER;
        if (run >= count) break;
        corner = runs[2 + 2 * run];
        span = runs[3 + 2 * run];
    }
}
#endif
#endif

/* Sums force and torque on the solid from the band's forces. The extent is as for load_samples, over
 * band_capacity. */
KF_SCALAR_KERNEL(load_band, kf_module_arguments) {
    (void)y, (void)z;
    const double *center = ((const kf_pose *)a->samples.pose)->center;
    kf_int64 load[KF_LOAD_SUMS];
    kf_begin_load(load);
    for (int n = x; n < a->band.count[0]; n += a->extent[0]) {
        int nx, ny, nz;
        kf_position(a, ((const kf_index *)a->band.node)[n], &nx, &ny, &nz);
        if (!kf_is_own_row(a, ny, nz)) continue;
#if KF_FIXED_POINT_FORCE
        const long long *force = (const long long *)a->band.force + 4LL * n;
        const double gx = (double)force[0] / KF_SPREAD_SCALE, gy = (double)force[1] / KF_SPREAD_SCALE,
                     gz = (double)force[2] / KF_SPREAD_SCALE;
#else
        const kf_real4 force = ((const kf_real4 *)a->band.force)[n];
        const double gx = (double)force.x, gy = (double)force.y, gz = (double)force.z;
#endif
        kf_accumulate_load(load, gx, gy, gz, kf_nearest(0, nx - center[0], a->grid.nodes[0]),
                           kf_nearest(1, ny - center[1], a->grid.nodes[1]),
                           kf_nearest(2, nz - center[2], a->grid.nodes[2]));
    }
    kf_add_load(a, x, load);
}

#if KF_SOLIDS
/* Sums force and torque on each of several solids, about its own centre. It computes the samples' forces
 * again, from the velocities from which they were made. The extent is as for load_samples. An item visits
 * one solid after the other. */
KF_SCALAR_KERNEL(load_solids, kf_module_arguments) {
    (void)y, (void)z;
    kf_int64 load[KF_LOAD_SUMS];
    kf_begin_load(load);
    for (int s = x; s < a->samples.count; s += a->extent[0]) {
        const kf_sample sample = kf_load_sample(a, s, 1);
        kf_real density = 0, ux = 0, uy = 0, uz = 0;
        KF_CELL_NODES(KF_INTERPOLATE_BAND)
        const kf_real4 g = kf_penalty(&sample, density, ux, uy, uz);
        kf_add_to_solid(a, x, s, s + a->extent[0], &sample.cell, (double)g.x, (double)g.y, (double)g.z, load);
    }
}
#endif

#include "moving_band.h"

#if KF_FREE
/* Sums what the solid's equations of motion need (body.h), from the band. The extent is ceil(samples /
 * KF_BODY_CHUNK), with a stride between an item's samples. */
KF_SCALAR_KERNEL(band_body_sums, kf_module_arguments) {
    (void)y, (void)z;
    kf_body_share share = kf_no_body_share();
    for (int s = x; s < a->samples.count; s += a->extent[0]) {
        const kf_sample sample = kf_load_sample(a, s, 0);
        if (!kf_is_own_row(a, kf_sample_row(a, sample.cell.y), kf_home(2, sample.cell.z, a->grid.nodes[2])))
            continue; /* the part that has the corner of the cell counts the sample */
        kf_real density = 0, ux = 0, uy = 0, uz = 0;
        KF_CELL_NODES(KF_INTERPOLATE_BAND)
        kf_add_sample_to_body(a, &sample, &share, (double)density, (double)ux, (double)uy, (double)uz);
    }
    kf_add_body_share(a, x, &share);
}
#endif
