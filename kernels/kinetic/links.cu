/* A static solid by links: what the fluid's nodes send across its surface comes back. Before a step streams,
 * the populations that would arrive from inside are replaced, at the inner node, where the outer one pulls
 * them from: nothing else changes, and every such place belongs to one link. With the share q of a link that
 * lies outside, f the populations after the collision and i the direction to the surface (Bouzidi, Firdaouss
 * and Lallemand, Phys. Fluids 13, 3452, 2001):
 *   q < 1/2: 2 q f_i(x) + (1 - 2 q) f_i(x - c_i)
 *   q >= 1/2: f_i(x) / (2 q) + (2 q - 1) / (2 q) f_-i(x)
 * and f_i(x), as of a surface half-way, where the node behind is none of the fluid's. */
#include "immersed.h"

KF_FUNCTION void kf_link_direction(int code, int *cx, int *cy, int *cz) {
    *cx = code % 3 - 1;
    *cy = code / 3 % 3 - 1;
    *cz = code / 9 % 3 - 1;
}

/* Works out what comes back, and what the solid feels of it. The items behind the links empty the inner nodes
 * beside the surface: the fluid at rest, so that the inside stays so. */
KF_SCALAR_KERNEL(reflect_links, kf_kinetic_arguments) {
    (void)y, (void)z;
    if (x >= a->link_count) {
        const kf_index inside = ((const kf_index *)a->link_inside)[x - a->link_count];
        for (int i = 0; i < KF_VELOCITIES; i++)
            *kf_address(a, a->source, i, inside) = kf_to_store(KF_R(0.0));
        return;
    }
    int cx, cy, cz;
    const int code = a->link_code[x];
    kf_link_direction(code, &cx, &cy, &cz);
    const kf_index k = ((const kf_index *)a->link_node)[x];
    const int i = kf_direction(cx, cy, cz), back = kf_direction(-cx, -cy, -cz);
    const kf_real q = ((const kf_real *)a->link_share)[x];
    const kf_real there = kf_from_store(*kf_address(a, a->source, i, k));
    kf_real value = there;
    if (code < 27 && q < KF_R(0.5)) {
        const kf_real behind = kf_from_store(*kf_address(a, a->source, i, k - kf_offset(a, cx, cy, cz)));
        value = behind + KF_R(2.0) * q * (there - behind);
    } else if (code < 27) {
        const kf_real here = kf_from_store(*kf_address(a, a->source, back, k));
        value = here + (there - here) * (KF_R(0.5) / q);
    }
    ((kf_real *)a->link_value)[x] = value;
    ((kf_real *)a->link_value)[a->link_count + x] = there + value;
}

KF_SCALAR_KERNEL(place_links, kf_kinetic_arguments) {
    (void)y, (void)z;
    int cx, cy, cz;
    kf_link_direction(a->link_code[x], &cx, &cy, &cz);
    const kf_index k = ((const kf_index *)a->link_node)[x] + kf_offset(a, cx, cy, cz);
    *kf_address(a, a->source, kf_direction(-cx, -cy, -cz), k) =
        kf_to_store(((const kf_real *)a->link_value)[x]);
}

/* Empties all inner nodes, once. */
KF_SCALAR_KERNEL(rest_inside, kf_kinetic_arguments) {
    (void)y, (void)z;
    const kf_index inside = ((const kf_index *)a->link_inside)[x];
    for (int i = 0; i < KF_VELOCITIES; i++)
        *kf_address(a, a->source, i, inside) = kf_to_store(KF_R(0.0));
}

/* Force and torque (about node 0) on the solid in the last step: the momentum that its surface sent back. */
KF_SCALAR_KERNEL(load_links, kf_kinetic_arguments) {
    (void)y, (void)z;
    kf_int64 load[KF_LOAD_SUMS];
    for (int i = 0; i < KF_LOAD_SUMS; i++)
        load[i] = 0;
    for (int n = x; n < a->link_count; n += a->extent[0]) {
        int cx, cy, cz, nx, ny, nz;
        kf_link_direction(a->link_code[n], &cx, &cy, &cz);
        const kf_index k = ((const kf_index *)a->link_node)[n];
        kf_position(a, k, &nx, &ny, &nz);
        const double q = ((const kf_real *)a->link_share)[n];
        const double pair = ((const kf_real *)a->link_value)[a->link_count + n] * (1.0 / KF_UNIT);
        kf_accumulate_load(load, -cx * pair, -cy * pair, -cz * pair, nx + q * cx, ny + q * cy, nz + q * cz);
    }
    kf_add_load(a, x, load);
}
