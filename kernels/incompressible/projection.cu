/* The projection onto velocities without divergence (Chorin 1968). From a velocity it computes the
 * right-hand side of the pressure's equation, and from the pressure a velocity without divergence. */
#include "grid.h"

/* Returns the flow through a face, relative to a moving solid. A face of the domain with a prescribed
 * velocity lets fluid pass, though it is closed in the pressure's equation. There, too, the flow is relative:
 * what the solid's motion takes off all faces of an open cell sums to nothing. */
KF_FUNCTION kf_real kf_flux(const kf_grid *a, const kf_real *u, int c, int x, int y, int z, kf_index k,
                            kf_real open) {
    const int at[3] = {x, y, z};
    const int edge = !kf_is_periodic(a, c) && (at[c] == 0 || at[c] == a->cells[c]);
    if (edge && a->faces[2 * c + (at[c] > 0)] >= KF_FACE_SLIP) open = KF_R(1);
#if KF_SOLID == KF_MOVING_SOLID
    const kf_real position[3] = {KF_R(x) - (c == 0 ? KF_R(0.5) : KF_R(0)),
                                 KF_R(y) - (c == 1 ? KF_R(0.5) : KF_R(0)),
                                 KF_R(z) - (c == 2 ? KF_R(0.5) : KF_R(0))};
    return open * (u[c * a->capacity + k] - kf_solid_velocity(a, c, position));
#else
    return open * u[c * a->capacity + k];
#endif
}

/* Returns the net outflow of a cell. */
KF_FUNCTION kf_real kf_outflow(const kf_grid *a, const kf_real *u, const kf_links *l, int x, int y, int z,
                               kf_index k) {
    kf_real sum = KF_R(0);
    const int px = kf_is_periodic(a, 0) && x == a->cells[0] - 1 ? 0 : x + 1,
              py = kf_is_periodic(a, 1) && y == a->cells[1] - 1 ? 0 : y + 1,
              pz = kf_is_periodic(a, 2) && z == a->cells[2] - 1 ? 0 : z + 1;
    sum += kf_flux(a, u, 0, px, y, z, l->to[1], l->open[1]) - kf_flux(a, u, 0, x, y, z, k, l->open[0]);
    sum += kf_flux(a, u, 1, x, py, z, l->to[3], l->open[3]) - kf_flux(a, u, 1, x, y, z, k, l->open[2]);
    sum += kf_flux(a, u, 2, x, y, pz, l->to[5], l->open[5]) - kf_flux(a, u, 2, x, y, z, k, l->open[4]);
    return sum;
}

/* Computes the right-hand side, and sums it, its cells and its square. */
KF_BLOCK_KERNEL(divergence, kf_incompressible_arguments) {
    KF_SUMS_BEGIN
    const kf_real *u = KF_CONSTANTS(a->source);
    KF_EACH_CELL_BEGIN
        const kf_links l = kf_links_of(a, a->open, k, x, y, z);
        const kf_real right = l.sum > KF_R(0) ? -kf_outflow(a, u, &l, x, y, z, k) : KF_R(0);
        KF_VALUES(a->right)[k] = right;
        KF_SUM(0) += (double)right;
        KF_SUM(1) += l.sum > KF_R(0) ? 1.0 : 0.0;
        KF_SUM(2) += (double)right * (double)right;
    KF_EACH_CELL_END
    KF_SUMS_END(3, a->partial)
}

/* Subtracts the pressure gradient: target = source - gradient. If a->reflect is not 0, also predicted =
 * source - reflect gradient. Source and target may be the same. The extent is cells + 1 along each axis. */
KF_KERNEL(project, kf_incompressible_arguments) {
    const kf_index k = kf_place(a, x, y, z);
    const int at[3] = {x, y, z}, stride[3] = {1, a->row, a->plane};
    const kf_real *p = KF_CONSTANTS(a->pressure);
    KF_UNROLL
    for (int c = 0; c < 3; c++) {
        const long long i = c * a->capacity + k;
        const kf_real slope = p[k] - p[k + kf_below(a, c, at[c], stride[c])], u = KF_CONSTANTS(a->source)[i];
        kf_real held = KF_R(0);
        const int known = kf_is_held(a, c, x, y, z, k, &held);
        KF_VALUES(a->target)[i] = known ? held : u - slope;
        if (a->reflect != 0.0) KF_VALUES(a->predicted)[i] = known ? held : u - KF_R(a->reflect) * slope;
    }
}
