/* The state of the simulation: initial populations, fields for output, and checkpoints. These kernels
 * exchange rows with compact arrays. The extent is (nodes_x, rows), from first_row on. */
#include "collision.h"

KF_FUNCTION kf_index kf_post_place(const kf_d2q9_arguments *a, int i, kf_index k) {
    if (a->scheme == KF_SCHEME_SWAP) return kf_place(a, kf_opposite[i], k);
    const kf_index shift = a->scheme == KF_SCHEME_PUSHED ? KF_OFFSET(a, kf_cx[i], kf_cy[i]) : 0;
    return kf_place(a, i, k + shift);
}
#define KF_READ_POST(i, name, cx, cy, opposite)                                                              \
    f.name = kf_from_store(((const kf_stored *)a->source)[kf_post_place(a, i, k)]);
#define KF_WRITE_POST(i, name, cx, cy, opposite)                                                             \
    ((kf_stored *)a->source)[kf_post_place(a, i, k)] = kf_to_store(f.name);

#define KF_ROWS_BEGIN                                                                                        \
    (void)z;                                                                                                 \
    const kf_index k = kf_node(a, x, a->first_row + y);                                                      \
    const long long nx = a->nodes[0], n = x + nx * y, count = nx * a->extent[1];                             \
    kf_nine f;

#if KF_MODEL & KF_LINEAR_MODEL
#define KF_SQUARES(cx, cy) KF_R(0)
#else
#define KF_SQUARES(cx, cy)                                                                                   \
    (KF_R(4.5) * ((cx)*ux + (cy)*uy) * ((cx)*ux + (cy)*uy) - KF_R(1.5) * (ux * ux + uy * uy))
#endif
#define KF_SET_EQUILIBRIUM(i, name, cx, cy, opposite)                                                        \
    f.name = KF_R(kf_weight[i]) * (density + KF_R(3) * ((cx)*ux + (cy)*uy) + KF_SQUARES(cx, cy));

/* Sets all populations to the equilibrium of a density (less 1) [y][x] and a velocity [2][y][x]. */
KF_SCALAR_KERNEL(initialise, kf_d2q9_arguments) {
    KF_ROWS_BEGIN;
    const kf_real *values = (const kf_real *)a->compact;
    const kf_real density = values[n], ux = values[count + n], uy = values[2 * count + n];
    KF_D2Q9(KF_SET_EQUILIBRIUM)
    KF_D2Q9(KF_WRITE_POST)
}

/* Writes the density (less 1) [y][x] and the velocity [2][y][x] after the last step. The populations have
 * taken up the whole body force of the last step. Half of it is taken off, since the velocity is the mean
 * of those before and after the force. */
KF_SCALAR_KERNEL(read_fields, kf_d2q9_arguments) {
    KF_ROWS_BEGIN;
    kf_real *values = (kf_real *)a->compact;
    kf_real density, jx, jy;
    KF_D2Q9(KF_READ_POST)
    kf_momentum(&f, &density, &jx, &jy);
#if KF_BODY_FORCE
    jx -= KF_R(0.5) * KF_PARAMETER(a, force_x);
    jy -= KF_R(0.5) * KF_PARAMETER(a, force_y);
#endif
    values[n] = density;
    values[count + n] = jx;
    values[2 * count + n] = jy;
}

/* Write and read populations as [y][i][x], whatever the layout, so that checkpoints do not depend on it. */
#define KF_PACK_ONE(i, name, cx, cy, opposite)   compact[(i)*nx] = kf_to_store(f.name);
#define KF_UNPACK_ONE(i, name, cx, cy, opposite) f.name = kf_from_store(compact[(i)*nx]);
KF_SCALAR_KERNEL(pack, kf_d2q9_arguments) {
    KF_ROWS_BEGIN;
    (void)n, (void)count;
    kf_stored *compact = (kf_stored *)a->compact + 9 * nx * y + x;
    KF_D2Q9(KF_READ_POST)
    KF_D2Q9(KF_PACK_ONE)
}
KF_SCALAR_KERNEL(unpack, kf_d2q9_arguments) {
    KF_ROWS_BEGIN;
    (void)n, (void)count;
    const kf_stored *compact = (const kf_stored *)a->compact + 9 * nx * y + x;
    KF_D2Q9(KF_UNPACK_ONE)
    KF_D2Q9(KF_WRITE_POST)
}
