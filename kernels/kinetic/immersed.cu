/* The immersed boundary with the 2x2x2 hat kernel: at every sample the fluid's velocity is interpolated, the
 * penalty force g = 2 rho (u_b - u) area follows (direct forcing: with half of the force in the velocity, the
 * factor 2 makes the velocity u_b in one pass on a single sample), and is spread with the same weights. What
 * the fluid gains is exactly what the solid loses, in force and in torque, because the weights add up to one
 * and keep first moments.
 *
 * Variants: `gather` over nodes with a cell list, `scatter` over samples with atomics (whole-domain fields),
 * and band_spread, which works on the band's compact arrays alone; there the samples of a cell can be added up
 * before anything is spread: in segments made once for a static solid, in cells filled anew for a moving one. A step may hold several passes, each of
 * which takes away a part of the slip that the passes before have left (multi-direct forcing; Zhang, Pan,
 * Zhang and Haeri 2020, Comput. Phys. Commun. 248, 106980). Defines: KF_MOVING, KF_FREE, KF_FIXED_POINT_FORCE,
 * KF_CELLS 0|1, KF_SEGMENT_LENGTH, KF_WRAP (sample.h). */
#include "band.h"
#include "sample.h"
#if KF_FREE
#include "body.h"
#endif

typedef struct kf_sample {
    kf_sample_cell cell;
    kf_index corner;
#if KF_WRAP
    kf_index step[3]; /* from the corner to the cell's next node along each axis */
#endif
    kf_real area;
    kf_real bx, by, bz; /* velocity of the surface here */
} kf_sample;

#if KF_WRAP
#define KF_CELL_NODE(sample, dx, dy, dz)                                                                     \
    ((sample).corner + ((dx) ? (sample).step[0] : 0) + ((dy) ? (sample).step[1] : 0) +                       \
     ((dz) ? (sample).step[2] : 0))
/* Steps of the cell whose corner is the node (x, y, z) of the domain. */
KF_FUNCTION void kf_set_steps(const kf_kinetic_arguments *a, int x, int y, int z, kf_sample *sample) {
    sample->step[0] = kf_offset(a, x == a->nodes[0] - 1 ? -x : 1, 0, 0);
    sample->step[1] = kf_offset(a, 0, y == a->nodes[1] - 1 ? -y : 1, 0);
    sample->step[2] = kf_offset(a, 0, 0, z == a->nodes[2] - 1 ? -z : 1);
}
/* A distance along an axis to the nearest image of a point in the periodic domain. */
KF_FUNCTION double kf_nearest(int axis, double distance, int nodes) {
    return KF_WRAPS(axis) ? distance - nodes * floor(distance / nodes + 0.5) : distance;
}
#else
#define KF_CELL_NODE(sample, dx, dy, dz)  ((sample).corner + kf_offset(a, dx, dy, dz))
#define kf_nearest(axis, distance, nodes) (distance)
#endif

/* with_arm: the arm of a static sample costs divisions, so only who needs it asks. */
KF_FUNCTION kf_sample kf_load_sample(const kf_kinetic_arguments *a, int s, int with_arm) {
    kf_sample sample;
    const kf_real *xs = (const kf_real *)a->sample_x, *ys = (const kf_real *)a->sample_y,
                  *zs = (const kf_real *)a->sample_z;
    sample.area = ((const kf_real *)a->sample_area)[s];
#if KF_MOVING
    (void)with_arm;
    const kf_pose *pose = (const kf_pose *)a->pose;
    sample.cell = kf_place_moving(pose, a->nodes, (double)xs[s], (double)ys[s], (double)zs[s]);
    const int hx = kf_home(0, sample.cell.x, a->nodes[0]), hy = kf_home(1, sample.cell.y, a->nodes[1]),
              hz = kf_home(2, sample.cell.z, a->nodes[2]);
    sample.corner = kf_node(a, hx, hy, hz);
#if KF_WRAP
    kf_set_steps(a, hx, hy, hz, &sample);
#endif
    const double *w = pose->angular_velocity, *v = pose->velocity;
    sample.bx = (kf_real)v[0] + (kf_real)w[1] * sample.cell.rz - (kf_real)w[2] * sample.cell.ry;
    sample.by = (kf_real)v[1] + (kf_real)w[2] * sample.cell.rx - (kf_real)w[0] * sample.cell.rz;
    sample.bz = (kf_real)v[2] + (kf_real)w[0] * sample.cell.ry - (kf_real)w[1] * sample.cell.rx;
#else
    sample.corner = ((const kf_index *)a->sample_corner)[s];
    sample.cell.fx = xs[s];
    sample.cell.fy = ys[s];
    sample.cell.fz = zs[s];
    sample.bx = sample.by = sample.bz = KF_R(0.0);
    if (with_arm || KF_WRAP) {
        const double *center = ((const kf_pose *)a->pose)->center;
        kf_node_position(sample.corner, a->origin, a->row_pitch, a->plane_pitch, &sample.cell.x,
                         &sample.cell.y, &sample.cell.z);
        const double rx = sample.cell.x + (double)sample.cell.fx - center[0],
                     ry = sample.cell.y + (double)sample.cell.fy - center[1],
                     rz = sample.cell.z + (double)sample.cell.fz - center[2];
        sample.cell.rx = (kf_real)kf_nearest(0, rx, a->nodes[0]);
        sample.cell.ry = (kf_real)kf_nearest(1, ry, a->nodes[1]);
        sample.cell.rz = (kf_real)kf_nearest(2, rz, a->nodes[2]);
#if KF_WRAP
        kf_set_steps(a, sample.cell.x, sample.cell.y, sample.cell.z, &sample);
#endif
    }
#endif
    return sample;
}

/* X(dx, dy, dz) for the eight nodes of a cell, and the hat weight of each. */
#define KF_CELL_NODES(X)                                                                                     \
    X(0, 0, 0) X(1, 0, 0) X(0, 1, 0) X(1, 1, 0) X(0, 0, 1) X(1, 0, 1) X(0, 1, 1) X(1, 1, 1)
#define KF_HAT(d, fraction)           ((d) ? (fraction) : KF_R(1.0) - (fraction))
#define KF_CELL_WEIGHT(c, dx, dy, dz) (KF_HAT(dx, (c).fx) * KF_HAT(dy, (c).fy) * KF_HAT(dz, (c).fz))

/* The sums of the step before make room for this step's. */
KF_FUNCTION void kf_clear_load(const kf_kinetic_arguments *a, int item) {
    for (int i = item; i < 6 * KF_LOAD_SLOTS; i += a->extent[0])
        a->load_sums[i] = 0;
}

KF_FUNCTION kf_real4 kf_penalty(const kf_sample *sample, kf_real density, kf_real ux, kf_real uy,
                                kf_real uz) {
    const kf_real strength = KF_R(2.0) * density * sample->area;
    kf_real4 g;
    g.x = strength * (sample->bx - ux);
    g.y = strength * (sample->by - uy);
    g.z = strength * (sample->bz - uz);
    g.w = KF_R(0.0);
    return g;
}

/* Penalty force at every sample from the whole-domain fields, in a later pass with what the force of those
 * before adds to the velocity. */
#define KF_INTERPOLATE(dx, dy, dz)                                                                           \
    {                                                                                                        \
        const kf_index k = KF_CELL_NODE(sample, dx, dy, dz);                                                 \
        const kf_real weight = KF_CELL_WEIGHT(sample.cell, dx, dy, dz);                                      \
        const kf_real here = ((const kf_real *)a->density)[k];                                               \
        deviation += weight * here;                                                                          \
        ux += weight * kf_component(a, a->velocity, 0, k);                                                   \
        uy += weight * kf_component(a, a->velocity, 1, k);                                                   \
        uz += weight * kf_component(a, a->velocity, 2, k);                                                   \
        if (a->pass > 0) {                                                                                   \
            const kf_real share = weight * KF_R(0.5) / (KF_R(1.0) + here);                                   \
            ux += share * kf_component(a, a->force, 0, k);                                                   \
            uy += share * kf_component(a, a->force, 1, k);                                                   \
            uz += share * kf_component(a, a->force, 2, k);                                                   \
        }                                                                                                    \
    }
KF_SCALAR_KERNEL(penalty, kf_kinetic_arguments) {
    (void)y, (void)z;
    if (a->pass == 0) kf_clear_load(a, x);
    const kf_sample sample = kf_load_sample(a, x, 0);
    kf_real deviation = 0, ux = 0, uy = 0, uz = 0;
    KF_CELL_NODES(KF_INTERPOLATE)
    const kf_real4 g = kf_penalty(&sample, KF_R(1.0) + deviation, ux, uy, uz);
    kf_real *force = (kf_real *)a->sample_force;
    force[x] = g.x;
    force[(long long)a->sample_count + x] = g.y;
    force[2LL * a->sample_count + x] = g.z;
}

#if KF_STORAGE == 2
#define kf_atomic_add_real kf_atomic_add_double
#else
#define kf_atomic_add_real kf_atomic_add_float
#endif

/* Spreads the samples' forces on the whole-domain force field with atomics (the paper's section 4.3.2). */
#define KF_SCATTER(dx, dy, dz)                                                                               \
    {                                                                                                        \
        const kf_index k = KF_CELL_NODE(sample, dx, dy, dz);                                                 \
        const kf_real weight = KF_CELL_WEIGHT(sample.cell, dx, dy, dz);                                      \
        kf_real *field = (kf_real *)a->force;                                                                \
        kf_atomic_add_real(field + kf_place(a, 3, 0, k), weight * gx);                                       \
        kf_atomic_add_real(field + kf_place(a, 3, 1, k), weight * gy);                                       \
        kf_atomic_add_real(field + kf_place(a, 3, 2, k), weight * gz);                                       \
    }
KF_SCALAR_KERNEL(scatter, kf_kinetic_arguments) {
    (void)y, (void)z;
    const kf_sample sample = kf_load_sample(a, x, 0);
    const kf_real *force = (const kf_real *)a->sample_force;
    const kf_real gx = force[x], gy = force[(long long)a->sample_count + x],
                  gz = force[2LL * a->sample_count + x];
    KF_CELL_NODES(KF_SCATTER)
}

/* Gathers on every node of the solid's box the forces of the samples in the eight cells around it (the
 * paper's section 3.2). Extent: box + 1 nodes along each axis. */
KF_SCALAR_KERNEL(gather, kf_kinetic_arguments) {
    const int *low = ((const kf_pose *)a->pose)->box_origin;
    const int nx = kf_home(0, low[0] + x, a->nodes[0]), ny = kf_home(1, low[1] + y, a->nodes[1]),
              nz = kf_home(2, low[2] + z, a->nodes[2]);
    if (nx < 0 || ny < 0 || nz < 0 || nx >= a->nodes[0] || ny >= a->nodes[1] || nz >= a->nodes[2]) return;
    const kf_real *force = (const kf_real *)a->sample_force;
    kf_real gx = 0, gy = 0, gz = 0;
    for (int corner = 0; corner < 8; corner++) {
        const int dx = corner & 1, dy = corner >> 1 & 1, dz = corner >> 2;
        const int cx = x - dx, cy = y - dy, cz = z - dz;
        if (cx < 0 || cy < 0 || cz < 0 || cx >= a->box[0] || cy >= a->box[1] || cz >= a->box[2]) continue;
        const int cell = cx + a->box[0] * (cy + a->box[1] * cz);
        for (int i = a->cell_start[cell]; i < a->cell_start[cell + 1]; i++) {
            const int s = a->cell_samples[i];
            const kf_sample sample = kf_load_sample(a, s, 0);
            const kf_real weight = KF_CELL_WEIGHT(sample.cell, dx, dy, dz);
            gx += weight * force[s];
            gy += weight * force[(long long)a->sample_count + s];
            gz += weight * force[2LL * a->sample_count + s];
        }
    }
    const kf_index k = kf_node(a, nx, ny, nz);
    if (a->pass > 0) {
        gx += kf_component(a, a->force, 0, k);
        gy += kf_component(a, a->force, 1, k);
        gz += kf_component(a, a->force, 2, k);
    }
    kf_set_component(a, a->force, 0, k, gx);
    kf_set_component(a, a->force, 1, k, gy);
    kf_set_component(a, a->force, 2, k, gz);
}

/* Fixed-point sums do not depend on the order of the additions: what is reproducible stays so. */
KF_FUNCTION void kf_add_load(const kf_kinetic_arguments *a, int item, const double *load) {
    kf_int64 *slot = (kf_int64 *)a->load_sums + 6 * (item % KF_LOAD_SLOTS);
    for (int i = 0; i < 6; i++)
        kf_atomic_add_int64(slot + i, (kf_int64)(load[i] * (i < 3 ? KF_FORCE_SCALE : KF_TORQUE_SCALE)));
}
KF_FUNCTION void kf_accumulate_load(double *load, double gx, double gy, double gz, double rx, double ry,
                                    double rz) {
    load[0] -= gx;
    load[1] -= gy;
    load[2] -= gz;
    load[3] -= ry * gz - rz * gy;
    load[4] -= rz * gx - rx * gz;
    load[5] -= rx * gy - ry * gx;
}

/* Force and torque on the solid, minus the sum of the samples' forces. Extent: ceil(samples / KF_LOAD_CHUNK);
 * an item strides over the samples so that neighbours read neighbours. */
KF_SCALAR_KERNEL(load_samples, kf_kinetic_arguments) {
    (void)y, (void)z;
    const kf_real *force = (const kf_real *)a->sample_force;
    double load[6];
    for (int i = 0; i < 6; i++)
        load[i] = 0;
    for (int s = x; s < a->sample_count; s += a->extent[0]) {
        const kf_sample sample = kf_load_sample(a, s, 1);
        kf_accumulate_load(load, (double)force[s], (double)force[(long long)a->sample_count + s],
                           (double)force[2LL * a->sample_count + s], (double)sample.cell.rx,
                           (double)sample.cell.ry, (double)sample.cell.rz);
    }
    kf_add_load(a, x, load);
}

/* --- the band ---------------------------------------------------------------------------------------------
 */

#if KF_FIXED_POINT_FORCE
typedef kf_int64 kf_force_sum;
#define KF_FORCE_TERM(value) ((kf_int64)((double)(value)*KF_SPREAD_SCALE))
#define KF_ADD_FORCE_SUM(place, component, sum)                                                              \
    kf_atomic_add_int64((kf_int64 *)a->band_force + 4LL * (place) + (component), sum)
#else
typedef kf_real kf_force_sum;
#define KF_FORCE_TERM(value) (value)
#define KF_ADD_FORCE_SUM(place, component, sum)                                                              \
    kf_atomic_add_real((kf_real *)a->band_force + 4LL * (place) + (component), sum)
#endif
#define KF_ADD_BAND_FORCE(place, component, value) KF_ADD_FORCE_SUM(place, component, KF_FORCE_TERM(value))

#define KF_INTERPOLATE_BAND(dx, dy, dz)                                                                      \
    const int place_##dx##dy##dz = a->band_of[KF_CELL_NODE(sample, dx, dy, dz)];                             \
    const kf_real weight_##dx##dy##dz = KF_CELL_WEIGHT(sample.cell, dx, dy, dz);                             \
    if (place_##dx##dy##dz >= 0) {                                                                           \
        const kf_real4 field = ((const kf_real4 *)a->band_field)[place_##dx##dy##dz];                        \
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

/* Interpolates, computes the penalty force and spreads it on the band alone. */
KF_FUNCTION void kf_spread_sample(const kf_kinetic_arguments *a, int s) {
    const kf_sample sample = kf_load_sample(a, s, 0);
    kf_real density = 0, ux = 0, uy = 0, uz = 0;
    KF_CELL_NODES(KF_INTERPOLATE_BAND)
    const kf_real4 g = kf_penalty(&sample, density, ux, uy, uz);
    KF_CELL_NODES(KF_SPREAD_BAND)
}
KF_SCALAR_KERNEL(band_spread, kf_kinetic_arguments) {
    (void)y, (void)z;
    kf_clear_load(a, x);
    kf_spread_sample(a, x);
}

/* After a pass of several: its force joins those before, its velocity the field, and the next starts from
 * zero. Extent: band_capacity. */
KF_SCALAR_KERNEL(band_join, kf_kinetic_arguments) {
    (void)y, (void)z;
    if (x >= a->band_count[0]) return;
    const kf_real4 force = kf_band_force(a, x);
    kf_real4 *field = (kf_real4 *)a->band_field + x;
    const kf_real half_per_density = KF_R(0.5) / field->w;
    field->x += half_per_density * force.x;
    field->y += half_per_density * force.y;
    field->z += half_per_density * force.z;
#if KF_FIXED_POINT_FORCE
    long long *added = (long long *)a->band_force + 4LL * x, *total = (long long *)a->band_total + 4LL * x;
    for (int i = 0; i < 3; i++) {
        total[i] = (a->pass == 0 ? 0 : total[i]) + added[i];
        added[i] = 0;
    }
#else
    kf_real4 *added = (kf_real4 *)a->band_force + x, *total = (kf_real4 *)a->band_total + x;
    kf_real4 sum;
    sum.x = sum.y = sum.z = sum.w = KF_R(0.0);
    *added = sum;
    if (a->pass > 0) sum = *total;
    sum.x += force.x;
    sum.y += force.y;
    sum.z += force.z;
    *total = sum;
#endif
}

/* Interpolates, computes the penalty forces and adds them up for the samples of a segment: no atomics, and
 * the same sums in every run. Static solids. */
#define KF_SEGMENT_FIELD(dx, dy, dz)                                                                         \
    const kf_real4 field_##dx##dy##dz =                                                                      \
        ((const kf_real4 *)a->band_field)[a->segment_places[(dx + 2 * dy + 4 * dz) * a->segment_count + x]]; \
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
#define KF_SEGMENT_STORE(dx, dy, dz)                                                                         \
    {                                                                                                        \
        kf_real *out = (kf_real *)a->segment_force + 3LL * (dx + 2 * dy + 4 * dz) * a->segment_count + x;    \
        out[0] = sum_x_##dx##dy##dz;                                                                         \
        out[a->segment_count] = sum_y_##dx##dy##dz;                                                          \
        out[2 * (long long)a->segment_count] = sum_z_##dx##dy##dz;                                           \
    }
#if !KF_MOVING
KF_SCALAR_KERNEL(segment_forces, kf_kinetic_arguments) {
    (void)y, (void)z;
    KF_CELL_NODES(KF_SEGMENT_FIELD)
    kf_sample sample;
    sample.bx = sample.by = sample.bz = KF_R(0.0);
    KF_UNROLL_BY_4
    for (int i = 0; i < KF_SEGMENT_LENGTH; i++) {
        const kf_real4 packed = ((const kf_real4 *)a->segment_samples)[(long long)i * a->segment_count + x];
        sample.cell.fx = packed.x;
        sample.cell.fy = packed.y;
        sample.cell.fz = packed.z;
        sample.area = packed.w;
        kf_real density = 0, ux = 0, uy = 0, uz = 0;
        KF_CELL_NODES(KF_SEGMENT_INTERPOLATE)
        const kf_real4 g = kf_penalty(&sample, density, ux, uy, uz);
        KF_CELL_NODES(KF_SEGMENT_SUM)
    }
    KF_CELL_NODES(KF_SEGMENT_STORE)
}
#endif

#if KF_CELLS
#define KF_CELL_FIELD(dx, dy, dz)                                                                            \
    const int place_##dx##dy##dz = a->band_of[KF_CELL_NODE(sample, dx, dy, dz)];                             \
    const kf_real4 field_##dx##dy##dz = place_##dx##dy##dz < 0                                               \
                                            ? nothing                                                        \
                                            : ((const kf_real4 *)a->band_field)[place_##dx##dy##dz];         \
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

/* The force of up to KF_SEGMENT_LENGTH samples of the cell whose corner has that place in the band. */
KF_FUNCTION void kf_spread_cell(const kf_kinetic_arguments *a, int place, int row) {
    const kf_index corner = ((const kf_index *)a->band_node)[place];
    int count = a->cell_count[corner] - row * KF_SEGMENT_LENGTH;
    if (count <= 0) return;
    if (count > KF_SEGMENT_LENGTH) count = KF_SEGMENT_LENGTH;
    const kf_pose *pose = (const kf_pose *)a->pose;
    kf_sample sample;
    sample.corner = corner;
    kf_node_position(corner, a->origin, a->row_pitch, a->plane_pitch, &sample.cell.x, &sample.cell.y,
                     &sample.cell.z);
#if KF_WRAP
    kf_set_steps(a, sample.cell.x, sample.cell.y, sample.cell.z, &sample);
#endif
    /* A solid is shorter than the domain that it wraps around: one image serves the whole cell. */
    const kf_real arm_x = (kf_real)kf_nearest(0, sample.cell.x - pose->center[0], a->nodes[0]),
                  arm_y = (kf_real)kf_nearest(1, sample.cell.y - pose->center[1], a->nodes[1]),
                  arm_z = (kf_real)kf_nearest(2, sample.cell.z - pose->center[2], a->nodes[2]);
    const kf_real vx = (kf_real)pose->velocity[0], vy = (kf_real)pose->velocity[1],
                  vz = (kf_real)pose->velocity[2], wx = (kf_real)pose->angular_velocity[0],
                  wy = (kf_real)pose->angular_velocity[1], wz = (kf_real)pose->angular_velocity[2];
    kf_real4 nothing;
    nothing.x = nothing.y = nothing.z = nothing.w = KF_R(0.0);
    KF_CELL_NODES(KF_CELL_FIELD)
    const kf_real4 *samples = (const kf_real4 *)a->segment_samples +
                              ((long long)row * a->band_capacity + place) * KF_SEGMENT_LENGTH;
    for (int i = 0; i < count; i++) {
        const kf_real4 packed = samples[i];
        sample.cell.fx = packed.x;
        sample.cell.fy = packed.y;
        sample.cell.fz = packed.z;
        sample.area = packed.w;
        const kf_real rx = arm_x + packed.x, ry = arm_y + packed.y, rz = arm_z + packed.z;
        sample.bx = vx + wy * rz - wz * ry;
        sample.by = vy + wz * rx - wx * rz;
        sample.bz = vz + wx * ry - wy * rx;
        kf_real density = 0, ux = 0, uy = 0, uz = 0;
        KF_CELL_NODES(KF_SEGMENT_INTERPOLATE)
        const kf_real4 g = kf_penalty(&sample, density, ux, uy, uz);
        KF_CELL_NODES(KF_CELL_SUM)
    }
    KF_CELL_NODES(KF_CELL_SPREAD)
}

/* Adds up the forces of each cell's samples and spreads the sums; then those of the samples for which no
 * place was left. Extent: cell_rows * band_capacity. */
KF_SCALAR_KERNEL(cell_forces, kf_kinetic_arguments) {
    (void)y, (void)z;
    kf_clear_load(a, x);
    const int place = x % a->band_capacity;
    if (place < a->band_count[0]) kf_spread_cell(a, place, x / a->band_capacity);
    for (int i = x; i < a->band_count[2]; i += a->extent[0])
        kf_spread_sample(a, a->crowded[i]);
}
#endif

/* Force and torque on the solid from the band's forces. Extent as for load_samples, over band_capacity. */
KF_SCALAR_KERNEL(load_band, kf_kinetic_arguments) {
    (void)y, (void)z;
    const double *center = ((const kf_pose *)a->pose)->center;
    double load[6];
    for (int i = 0; i < 6; i++)
        load[i] = 0;
    for (int n = x; n < a->band_count[0]; n += a->extent[0]) {
        int nx, ny, nz;
        kf_node_position(((const kf_index *)a->band_node)[n], a->origin, a->row_pitch, a->plane_pitch, &nx,
                         &ny, &nz);
#if KF_FIXED_POINT_FORCE
        const long long *force = (const long long *)a->band_force + 4LL * n;
        const double gx = (double)force[0] / KF_SPREAD_SCALE, gy = (double)force[1] / KF_SPREAD_SCALE,
                     gz = (double)force[2] / KF_SPREAD_SCALE;
#else
        const kf_real4 force = ((const kf_real4 *)a->band_force)[n];
        const double gx = (double)force.x, gy = (double)force.y, gz = (double)force.z;
#endif
        kf_accumulate_load(load, gx, gy, gz, kf_nearest(0, nx - center[0], a->nodes[0]),
                           kf_nearest(1, ny - center[1], a->nodes[1]),
                           kf_nearest(2, nz - center[2], a->nodes[2]));
    }
    kf_add_load(a, x, load);
}

/* --- a moving solid ---------------------------------------------------------------------------------------
 */

#if !KF_FREE
/* The prescribed pose at time t (Rodrigues). */
KF_FUNCTION void kf_prescribe_pose(kf_pose *pose, double t) {
    const double *n = pose->axis;
    const double angle = pose->angular_speed * t, c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            pose->rotation[3 * i + j] = (i == j ? c : 0.0) + (1.0 - c) * n[i] * n[j];
        pose->center[i] = pose->center_start[i] + pose->velocity[i] * t;
        pose->angular_velocity[i] = pose->angular_speed * n[i];
    }
    pose->rotation[1] -= s * n[2];
    pose->rotation[2] += s * n[1];
    pose->rotation[3] += s * n[2];
    pose->rotation[5] -= s * n[0];
    pose->rotation[6] -= s * n[1];
    pose->rotation[7] += s * n[0];
}
#endif

/* The pose of the step that begins, and the band emptied. One item. */
KF_SCALAR_KERNEL(advance_pose, kf_kinetic_arguments) {
    (void)x, (void)y, (void)z;
    kf_pose *pose = (kf_pose *)a->pose;
#if KF_FREE
    if (pose->step > 0) kf_move_body(pose);
#else
    kf_prescribe_pose(pose, (double)pose->step);
#endif
    for (int i = 0; i < 3; i++)
        pose->box_origin[i] = (int)floor(pose->center[i] - pose->radius);
    pose->step += 1;
    if (a->band_count) a->band_count[0] = a->band_count[2] = 0;
}

/* The next step begins at a->pose_step of the prescribed motion. One item. */
KF_SCALAR_KERNEL(set_pose_step, kf_kinetic_arguments) {
    (void)x, (void)y, (void)z;
    ((kf_pose *)a->pose)->step = a->pose_step;
}

/* Takes the old band's nodes out of the map. Extent: band_capacity. */
KF_SCALAR_KERNEL(band_release, kf_kinetic_arguments) {
    (void)y, (void)z;
    if (x >= a->band_count[0]) return;
    const kf_index k = ((const kf_index *)a->band_node)[x];
    a->band_of[k] = -1;
#if KF_CELLS
    a->cell_count[k] = 0;
#endif
}

/* Puts every node of a sample's cell into the band once. -2 marks a node that somebody is just adding. */
KF_FUNCTION void kf_mark_cell(const kf_kinetic_arguments *a, const kf_sample *sample) {
    for (int corner = 0; corner < 8; corner++) {
        const kf_index k = KF_CELL_NODE(*sample, corner & 1, corner >> 1 & 1, corner >> 2);
        if (a->band_of[k] != -1 || kf_atomic_compare_swap_int(a->band_of + k, -1, -2) != -1) continue;
        const int place = kf_atomic_add_int(a->band_count, 1);
        if (place < a->band_capacity) {
            ((kf_index *)a->band_node)[place] = k;
            a->band_of[k] = place;
        } else {
            kf_atomic_add_int(a->band_count, -1);
            kf_atomic_add_int(a->band_count + 1, 1);
            a->band_of[k] = -1;
        }
    }
}
#if KF_CELLS
/* The first sample of a cell marks it. Who comes first differs between runs: only sums of integers of what
 * lies in a cell are the same. */
KF_SCALAR_KERNEL(cell_mark, kf_kinetic_arguments) {
    (void)y, (void)z;
    const kf_sample sample = kf_load_sample(a, x, 0);
    const int rank = kf_atomic_count(a->cell_count + sample.corner);
    a->sample_rank[x] = rank;
    if (rank == 0) kf_mark_cell(a, &sample);
}

/* Brings the samples of a cell together, those without a place there into a list. */
KF_SCALAR_KERNEL(cell_fill, kf_kinetic_arguments) {
    (void)y, (void)z;
    const kf_sample sample = kf_load_sample(a, x, 0);
    const int rank = a->sample_rank[x], row = rank / KF_SEGMENT_LENGTH, place = a->band_of[sample.corner];
    if (row >= a->cell_rows || place < 0) {
        a->crowded[kf_atomic_add_int(a->band_count + 2, 1)] = x;
        return;
    }
    kf_real4 packed;
    packed.x = sample.cell.fx;
    packed.y = sample.cell.fy;
    packed.z = sample.cell.fz;
    packed.w = sample.area;
    const long long segment = (long long)row * a->band_capacity + place;
    ((kf_real4 *)a->segment_samples)[segment * KF_SEGMENT_LENGTH + rank % KF_SEGMENT_LENGTH] = packed;
}
#else
KF_SCALAR_KERNEL(band_mark, kf_kinetic_arguments) {
    (void)y, (void)z;
    const kf_sample sample = kf_load_sample(a, x, 0);
    kf_mark_cell(a, &sample);
}
#endif

/* --- a free solid -----------------------------------------------------------------------------------------
 */

#if KF_FREE
/* Whether a sample lies beyond the outermost nodes between faces. */
KF_FUNCTION int kf_has_left(const kf_kinetic_arguments *a, const kf_sample_cell *cell) {
    const kf_real least = KF_R(0.0), most = KF_R(1.0);
    return (!KF_WRAPS(0) && (cell->fx < least || cell->fx > most)) ||
           (!KF_WRAPS(1) && (cell->fy < least || cell->fy > most)) ||
           (!KF_WRAPS(2) && (cell->fz < least || cell->fz > most));
}
KF_FUNCTION void kf_add_body_sums(const kf_kinetic_arguments *a, int item, const double *sums, int left) {
    kf_int64 *slot = (kf_int64 *)a->body_sums + KF_BODY_SUMS * (item % KF_LOAD_SLOTS);
    for (int i = 0; i < KF_BODY_SUMS; i++)
        kf_atomic_add_int64(slot + i, (kf_int64)floor(sums[i] * KF_BODY_SCALE + 0.5)); /* without a bias */
    if (left > 0) kf_atomic_add_int64((kf_int64 *)a->body_sums + KF_BODY_SUMS * KF_LOAD_SLOTS, left);
}
KF_FUNCTION void kf_add_sample_to_body(const kf_kinetic_arguments *a, const kf_sample *sample, double *sums,
                                       double density, double ux, double uy, double uz) {
    const double per_radius = 1.0 / ((const kf_pose *)a->pose)->radius;
    kf_add_to_body(sums, 2.0 * density * (double)sample->area, per_radius * (double)sample->cell.rx,
                   per_radius * (double)sample->cell.ry, per_radius * (double)sample->cell.rz, ux, uy, uz);
}

/* The sums that the solid's equations of motion need (body.h), from the whole-domain fields or from the band.
 * An item strides over the samples. Extent: ceil(samples / KF_BODY_CHUNK). */
KF_SCALAR_KERNEL(body_sums, kf_kinetic_arguments) {
    (void)y, (void)z;
    double sums[KF_BODY_SUMS];
    int left = 0;
    for (int i = 0; i < KF_BODY_SUMS; i++)
        sums[i] = 0.0;
    for (int s = x; s < a->sample_count; s += a->extent[0]) {
        const kf_sample sample = kf_load_sample(a, s, 0);
        kf_real deviation = 0, ux = 0, uy = 0, uz = 0;
        KF_CELL_NODES(KF_INTERPOLATE)
        kf_add_sample_to_body(a, &sample, sums, 1.0 + (double)deviation, (double)ux, (double)uy, (double)uz);
        left += kf_has_left(a, &sample.cell);
    }
    kf_add_body_sums(a, x, sums, left);
}
KF_SCALAR_KERNEL(band_body_sums, kf_kinetic_arguments) {
    (void)y, (void)z;
    double sums[KF_BODY_SUMS];
    int left = 0;
    for (int i = 0; i < KF_BODY_SUMS; i++)
        sums[i] = 0.0;
    for (int s = x; s < a->sample_count; s += a->extent[0]) {
        const kf_sample sample = kf_load_sample(a, s, 0);
        kf_real density = 0, ux = 0, uy = 0, uz = 0;
        KF_CELL_NODES(KF_INTERPOLATE_BAND)
        kf_add_sample_to_body(a, &sample, sums, (double)density, (double)ux, (double)uy, (double)uz);
        left += kf_has_left(a, &sample.cell);
    }
    kf_add_body_sums(a, x, sums, left);
}

/* The velocities of this step, before the forces are spread; the sums are left empty. A solid that has
 * touched a face is held where it is. One block. */
KF_BLOCK_KERNEL(solve_body, kf_kinetic_arguments) {
    (void)block_x, (void)block_y;
    KF_SHARED double sums[KF_BODY_THREADS];
    KF_EACH_THREAD_SCALAR(t, KF_BODY_THREADS) {
        double sum = 0.0;
        for (int i = t; i < KF_LOAD_SLOTS * KF_BODY_SUMS; i += KF_BODY_THREADS) {
            sum += (double)a->body_sums[i];
            a->body_sums[i] = 0;
        }
        sums[t] = sum * (1.0 / KF_BODY_SCALE);
    }
    KF_BARRIER;
    KF_EACH_THREAD_SCALAR(t, KF_BODY_THREADS) {
        kf_pose *pose = (kf_pose *)a->pose;
        if (t != 0) continue;
        for (int i = 0; i < KF_BODY_SUMS; i++)
            sums[i] += sums[KF_BODY_SUMS + i];
        if (pose->left_at < 0 && a->body_sums[KF_LOAD_SLOTS * KF_BODY_SUMS] > 0)
            pose->left_at = pose->step - 1;
        if (pose->left_at < 0)
            kf_solve_body(pose, sums, a->pass);
        else
            for (int i = 0; i < 3; i++)
                pose->velocity[i] = pose->angular_velocity[i] = pose->angular_momentum[i] = 0.0;
    }
}
#endif
