/* Velocities, pressures and loads for the host and for the smoke. The results are rows in single
 * precision, and sums. */
#include "float4.h"
#include "grid.h"

KF_FUNCTION kf_real kf_centred(const kf_grid *a, int c, int at, kf_index k, int stride) {
    const kf_real *u = KF_CONSTANTS(a->target) + c * a->capacity;
    return KF_R(0.5) * (u[k] + u[k + kf_above(a, c, at, stride)]);
}

/* Writes the velocity at the cells' centres, [z][y][x][4]. The extent is cells. */
KF_SCALAR_KERNEL(velocity, kf_incompressible_arguments) {
    const kf_index k = kf_place(a, x, y, z);
    kf_float4 value;
    value.x = (float)kf_centred(a, 0, x, k, 1);
    value.y = (float)kf_centred(a, 1, y, k, a->row);
    value.z = (float)kf_centred(a, 2, z, k, a->plane);
    value.w = 0.0f;
    ((kf_float4 *)a->compact)[x + a->cells[0] * (y + (long long)a->cells[1] * z)] = value;
}

/* Sums the remaining divergence: its square, the number of cells, and its absolute value. Its maximum
 * would need an atomic. */
KF_BLOCK_KERNEL(left_divergence, kf_incompressible_arguments) {
    KF_SUMS_BEGIN
    const kf_real *u = KF_CONSTANTS(a->target);
    KF_EACH_CELL_BEGIN
        const kf_links l = kf_links_of(a, a->open, k, x, y, z);
        const int at[3] = {x, y, z}, stride[3] = {1, a->row, a->plane};
        kf_real sum = KF_R(0);
        for (int c = 0; c < 3; c++) {
            const int up = k + kf_above(a, c, at[c], stride[c]);
            const int low_edge = !kf_is_periodic(a, c) && at[c] == 0 && a->faces[2 * c] >= KF_FACE_SLIP,
                      high_edge = !kf_is_periodic(a, c) && at[c] == a->cells[c] - 1 &&
                                  a->faces[2 * c + 1] >= KF_FACE_SLIP;
            kf_real below[3] = {KF_R(x), KF_R(y), KF_R(z)}, above[3] = {KF_R(x), KF_R(y), KF_R(z)};
            below[c] -= KF_R(0.5);
            above[c] += KF_R(0.5);
            const kf_real *v = u + c * a->capacity;
            sum += (high_edge ? KF_R(1) : l.open[2 * c + 1]) * (v[up] - kf_solid_velocity(a, c, above));
            sum -= (low_edge ? KF_R(1) : l.open[2 * c]) * (v[k] - kf_solid_velocity(a, c, below));
        }
        if (l.sum > KF_R(0)) {
            KF_SUM(0) += (double)sum * (double)sum;
            KF_SUM(1) += 1.0;
            KF_SUM(2) += (double)sum;
        }
    KF_EACH_CELL_END
    KF_SUMS_END(3, a->partial)
}
