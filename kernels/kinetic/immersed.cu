/* The immersed boundary with the 2x2x2 hat kernel. At every sample the fluid's velocity u is interpolated,
 * and gives the penalty force g = 2 rho (u_b - u) area, with u_b the surface's velocity. It is spread with
 * the same weights. This is direct forcing: since the velocity contains half of the force, the factor 2
 * makes it u_b in one pass on a single sample. The weights add up to one and keep first moments, so the
 * fluid gains exactly what the solid loses, in force and in torque. A step may have several passes. Each
 * takes away a part of the slip that is left (multi-direct forcing; Zhang, Pan, Zhang and Haeri 2020,
 * Comput. Phys. Commun. 248, 106980).
 *
 * These kernels work on fields of the whole domain, for the unfused plans: `gather` over nodes with a list
 * of samples by cell, or `scatter` over samples with atomics. Those in immersed_band.cu work on the band
 * alone. Defines: those of immersed.h. */
#include "arguments.h"
typedef kf_solid_arguments kf_module_arguments; /* the headers' functions take this type */

#include "surface.h"

/* Computes the penalty force at every sample from the fields of the whole domain. A pass after the first
 * adds the change of velocity by the forces of the passes before. */
#define KF_INTERPOLATE(dx, dy, dz)                                                                           \
    {                                                                                                        \
        const kf_index k = KF_CELL_NODE(sample, dx, dy, dz);                                                 \
        const kf_real weight = KF_CELL_WEIGHT(sample.cell, dx, dy, dz);                                      \
        const kf_real here = ((const kf_real *)a->fields.density)[k];                                        \
        deviation += weight * here;                                                                          \
        ux += weight * kf_component(a, a->fields.velocity, 0, k);                                            \
        uy += weight * kf_component(a, a->fields.velocity, 1, k);                                            \
        uz += weight * kf_component(a, a->fields.velocity, 2, k);                                            \
        if (a->body.pass > 0) {                                                                              \
            const kf_real share = weight * KF_R(0.5) / (KF_R(1.0) + here);                                   \
            ux += share * kf_component(a, a->fields.force, 0, k);                                            \
            uy += share * kf_component(a, a->fields.force, 1, k);                                            \
            uz += share * kf_component(a, a->fields.force, 2, k);                                            \
        }                                                                                                    \
    }
KF_SCALAR_KERNEL(penalty, kf_module_arguments) {
    (void)y, (void)z;
    if (a->body.pass == 0) kf_clear_load(a, x);
    const kf_sample sample = kf_load_sample(a, x, 0);
    if (!kf_is_near(a, &sample)) return;
    kf_real deviation = 0, ux = 0, uy = 0, uz = 0;
    KF_CELL_NODES(KF_INTERPOLATE)
    const kf_real4 g = kf_penalty(&sample, KF_R(1.0) + deviation, ux, uy, uz);
    kf_real *force = (kf_real *)a->samples.force;
    force[x] = g.x;
    force[(long long)a->samples.count + x] = g.y;
    force[2LL * a->samples.count + x] = g.z;
}

/* Spreads the samples' forces on the whole-domain force field with atomics (the paper's section 4.3.2). */
#define KF_SCATTER(dx, dy, dz)                                                                               \
    {                                                                                                        \
        const kf_index k = KF_CELL_NODE(sample, dx, dy, dz);                                                 \
        const kf_real weight = KF_CELL_WEIGHT(sample.cell, dx, dy, dz);                                      \
        kf_real *field = (kf_real *)a->fields.force;                                                         \
        if (kf_has_forces(a, kf_plane_of(a, k))) {                                                           \
            kf_atomic_add_real(field + kf_place(a, 3, 0, k), weight * gx);                                   \
            kf_atomic_add_real(field + kf_place(a, 3, 1, k), weight * gy);                                   \
            kf_atomic_add_real(field + kf_place(a, 3, 2, k), weight * gz);                                   \
        }                                                                                                    \
    }
KF_SCALAR_KERNEL(scatter, kf_module_arguments) {
    (void)y, (void)z;
    const kf_sample sample = kf_load_sample(a, x, 0);
    if (!kf_is_near(a, &sample)) return;
    const kf_real *force = (const kf_real *)a->samples.force;
    const kf_real gx = force[x], gy = force[(long long)a->samples.count + x],
                  gz = force[2LL * a->samples.count + x];
    KF_CELL_NODES(KF_SCATTER)
}

/* Gathers for every node of the solid's box the forces of the samples in the eight cells around it (the
 * paper's section 3.2). The extent is box + 1 nodes along each axis. */
KF_SCALAR_KERNEL(gather, kf_module_arguments) {
    const int *low = ((const kf_pose *)a->samples.pose)->box_origin;
    const int nx = kf_home(0, low[0] + x, a->grid.nodes[0]), ny = kf_home(1, low[1] + y, a->grid.nodes[1]),
              nz = kf_home(2, low[2] + z, a->grid.nodes[2]);
    if (nx < 0 || ny < 0 || nz < 0 || nx >= a->grid.nodes[0] || ny >= a->grid.nodes[1] ||
        nz >= a->grid.nodes[2])
        return;
    if (!kf_has_forces(a, nz)) return;
    const kf_real *force = (const kf_real *)a->samples.force;
    kf_real gx = 0, gy = 0, gz = 0;
    for (int corner = 0; corner < 8; corner++) {
        const int dx = corner & 1, dy = corner >> 1 & 1, dz = corner >> 2;
        const int cx = x - dx, cy = y - dy, cz = z - dz;
        if (cx < 0 || cy < 0 || cz < 0 || cx >= a->samples.box[0] || cy >= a->samples.box[1] ||
            cz >= a->samples.box[2])
            continue;
        const int cell = cx + a->samples.box[0] * (cy + a->samples.box[1] * cz);
        for (int i = a->samples.cell_start[cell]; i < a->samples.cell_start[cell + 1]; i++) {
            const int s = a->samples.cell_samples[i];
            const kf_sample sample = kf_load_sample(a, s, 0);
            const kf_real weight = KF_CELL_WEIGHT(sample.cell, dx, dy, dz);
            gx += weight * force[s];
            gy += weight * force[(long long)a->samples.count + s];
            gz += weight * force[2LL * a->samples.count + s];
        }
    }
    const kf_index k = kf_node(a, nx, ny, nz);
    if (a->body.pass > 0) {
        gx += kf_component(a, a->fields.force, 0, k);
        gy += kf_component(a, a->fields.force, 1, k);
        gz += kf_component(a, a->fields.force, 2, k);
    }
    kf_set_component(a, a->fields.force, 0, k, gx);
    kf_set_component(a, a->fields.force, 1, k, gy);
    kf_set_component(a, a->fields.force, 2, k, gz);
}

/* Sums force and torque on the solid, which are minus the samples' forces. The extent is ceil(samples /
 * KF_LOAD_CHUNK). An item's samples have a stride, so that adjacent items read adjacent samples. */
KF_SCALAR_KERNEL(load_samples, kf_module_arguments) {
    (void)y, (void)z;
    const kf_real *force = (const kf_real *)a->samples.force;
    kf_int64 load[KF_LOAD_SUMS];
    kf_begin_load(load);
    for (int s = x; s < a->samples.count; s += a->extent[0]) {
        kf_sample sample = kf_load_sample(a, s, 1);
        if (!kf_is_own_plane(a, kf_home(2, sample.cell.z, a->grid.nodes[2])))
            continue; /* the part that has the corner of the cell counts the sample */
#if KF_SOLIDS
        kf_turn_arm_to_all(a, &sample);
#endif
        kf_accumulate_load(load, (double)force[s], (double)force[(long long)a->samples.count + s],
                           (double)force[2LL * a->samples.count + s], (double)sample.cell.rx,
                           (double)sample.cell.ry, (double)sample.cell.rz);
    }
    kf_add_load(a, x, load);
}

#if KF_SOLIDS
/* Sums force and torque on each of several solids, about its own centre. The extent is as for
 * load_samples. */
KF_SCALAR_KERNEL(load_solids, kf_module_arguments) {
    (void)y, (void)z;
    const kf_real *force = (const kf_real *)a->samples.force;
    kf_int64 load[KF_LOAD_SUMS];
    kf_begin_load(load);
    for (int s = x; s < a->samples.count; s += a->extent[0]) {
        const kf_sample sample = kf_load_sample(a, s, 1);
        kf_add_to_solid(a, x, s, s + a->extent[0], &sample.cell, (double)force[s],
                        (double)force[(long long)a->samples.count + s],
                        (double)force[2LL * a->samples.count + s], load);
    }
}
#endif

#if KF_FREE
/* Sums what the solid's equations of motion need (body.h), from the fields of the whole domain. The extent
 * is ceil(samples / KF_BODY_CHUNK), with a stride between an item's samples. */
KF_SCALAR_KERNEL(body_sums, kf_module_arguments) {
    (void)y, (void)z;
    kf_body_share share = kf_no_body_share();
    for (int s = x; s < a->samples.count; s += a->extent[0]) {
        const kf_sample sample = kf_load_sample(a, s, 0);
        if (!kf_is_own_plane(a, kf_home(2, sample.cell.z, a->grid.nodes[2])))
            continue; /* the part that has the corner of the cell counts the sample */
        kf_real deviation = 0, ux = 0, uy = 0, uz = 0;
        KF_CELL_NODES(KF_INTERPOLATE)
        kf_add_sample_to_body(a, &sample, &share, 1.0 + (double)deviation, (double)ux, (double)uy,
                              (double)uz);
    }
    kf_add_body_share(a, x, &share);
}
#endif
