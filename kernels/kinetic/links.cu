/* Links as the boundary of a solid at rest: a population that would cross the surface returns to its fluid
 * node. Each cut link joins an outer node, in the fluid, to a node beyond the surface, here called the inner
 * node. The outer node pulls the returning population from the inner node. Before a step streams, this file
 * writes the returning populations to the inner nodes. Nothing else changes, and each such place belongs to
 * one link.
 *
 * The returning population is the one that left (bounce-back), plus a correction for the position of the
 * surface. For the first, this file takes the mean of this step and of the preceding step. With plain
 * bounce-back the fluid can oscillate from step to step without damping, most of all in a gap of one node,
 * where the momentum across the gap changes its sign in every step. Such an oscillation spoils forces that
 * are read every second step, and it grows where rates are near 2. The mean removes the oscillation, does
 * not change a steady flow, damps a wave of frequency w by cos(w / 2), and keeps mass: half of the
 * population that last left along each link returns one step later. Half-way links use plain bounce-back.
 *
 * In a steady flow the correction is that of multireflection (Ginzburg and d'Humieres, Phys. Rev. E 68,
 * 066614, 2003). It is exact for a velocity that is a parabola along the link and for a linear pressure.
 * With one fluid node behind the outer one, the correction is that of central linear interpolation. Applied
 * at once, it would amplify short waves at small viscosities. So it is a mean over about KF_LINK_STEPS
 * steps, and short waves meet bounce-back, which does not amplify them.
 *
 * The corrections of all links together would add mass. Each step subtracts the mean correction of the
 * preceding step, in proportion to the weights of the velocities. So a closed domain keeps its mass. */
#include "arguments.h"
typedef kf_links_arguments kf_module_arguments; /* what the functions of the headers take */

#include "load.h"

#define KF_LINK_RATE KF_R(1.0 / KF_LINK_STEPS)

/* Returns the code of a link's direction to the surface at its node number `at`: cx + 1 + 3 (cy + 1) + 9 (cz
 * + 1). */
KF_FUNCTION int kf_link_code(const kf_links_arguments *a, int link, int at) {
    return a->links.code[link] >> (KF_LINK_CODE_BITS * at) & ((1 << KF_LINK_CODE_BITS) - 1);
}

KF_FUNCTION kf_stored *kf_link_place(const kf_links_arguments *a, int link, int at, int away) {
    const int code = kf_link_code(a, link, at);
    return kf_address(a, a->populations.source, kf_directions[away ? 26 - code : code],
                      ((const kf_index *)a->links.node)[(long long)at * a->links.count + link]);
}

KF_FUNCTION kf_real kf_link_load(const kf_links_arguments *a, int link, int at, int away) {
    return kf_from_store(*kf_link_place(a, link, at, away));
}

/* Returns the correction that interpolation adds to the population that left. */
KF_FUNCTION kf_real kf_link_correction(const kf_links_arguments *a, int link, int behind) {
    const kf_real q = ((const kf_real *)a->links.share)[link];
    const kf_real first = kf_link_load(a, link, 1, 0) - kf_link_load(a, link, 0, 1);
    if (behind == 1) return (KF_R(1.0) - KF_R(2.0) * q) / (KF_R(1.0) + KF_R(2.0) * q) * first;
    const kf_real second = kf_link_load(a, link, 2, 0) - kf_link_load(a, link, 1, 1);
    const kf_real part = KF_R(1.0) / (KF_R(1.0) + q), square = part * part;
    return (KF_R(1.0) - KF_R(2.0) * q - KF_R(2.0) * q * q) * square * first + q * q * square * second;
}

/* Computes the returning populations, and their force on the solid. The items after the links reset the
 * inner nodes that the flow touches to fluid at rest, so that the inside stays at rest. */
KF_SCALAR_KERNEL(reflect_links, kf_links_arguments) {
    (void)y, (void)z;
    if (x >= a->links.count) {
        const kf_index inside = ((const kf_index *)a->links.inside)[x - a->links.count];
        for (int i = 0; i < KF_VELOCITIES; i++)
            *kf_address(a, a->populations.source, i, inside) = kf_to_store(KF_R(0.0));
        return;
    }
    kf_real *memory = (kf_real *)a->links.memory;
    const int behind = kf_link_code(a, x, KF_LINK_NODES);
    const kf_real leaves = kf_link_load(a, x, 0, 0);
    kf_real value = leaves;
    if (!a->links.at_once) {
        kf_real *left = memory + a->links.count + 1 + x;
        value = KF_R(0.5) * (leaves + *left);
        *left = leaves;
    }
    if (behind > 0) {
        const int code = kf_link_code(a, x, 0);
        const kf_real weight = KF_WEIGHT(code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1);
        const kf_real before = memory[x],
                      mean = before +
                             KF_LINK_RATE * (kf_link_correction(a, x, behind) * KF_R(1.0 / KF_UNIT) - before);
        memory[x] = mean;
        value += (mean - weight * memory[a->links.count]) * KF_R(KF_UNIT);
        if (fabs((double)mean) < KF_FORCE_LIMIT) /* in fixed point more would look like a mass */
            kf_atomic_add_int64((kf_int64 *)a->links.sums + x / 32 % KF_LOAD_SLOTS,
                                kf_fixed_point((double)mean, KF_FORCE_SCALE));
    }
    ((kf_real *)a->links.value)[x] = value;
    ((kf_real *)a->links.value)[a->links.count + x] = leaves + value;
}

/* Writes the returning populations to the inner nodes. The first item computes the mass that the next step
 * subtracts. */
KF_SCALAR_KERNEL(place_links, kf_links_arguments) {
    (void)y, (void)z;
    *kf_link_place(a, x, KF_LINK_NODES - 1, 1) = kf_to_store(((const kf_real *)a->links.value)[x]);
    if (x > 0) return;
    kf_int64 sum = 0;
    for (int slot = 0; slot < KF_LOAD_SLOTS; slot++) {
        sum += a->links.sums[slot];
        a->links.sums[slot] = 0;
    }
    ((kf_real *)a->links.memory)[a->links.count] = (kf_real)((double)sum * a->links.part_of_sum);
}

/* Sets all inner nodes to fluid at rest, once. */
KF_SCALAR_KERNEL(rest_inside, kf_links_arguments) {
    (void)y, (void)z;
    const kf_index inside = ((const kf_index *)a->links.inside)[x];
    for (int i = 0; i < KF_VELOCITIES; i++)
        *kf_address(a, a->populations.source, i, inside) = kf_to_store(KF_R(0.0));
}

/* Sums force and torque on the solid in the last step: the momentum that the links transferred. */
KF_SCALAR_KERNEL(load_links, kf_links_arguments) {
    (void)y, (void)z;
    kf_int64 load[KF_LOAD_SUMS];
    kf_begin_load(load);
    for (int n = x; n < a->links.count; n += a->extent[0]) {
        int nx, ny, nz;
        const int code = kf_link_code(a, n, 0);
        const int cx = code % 3 - 1, cy = code / 3 % 3 - 1, cz = code / 9 - 1;
        kf_position(a, ((const kf_index *)a->links.node)[n], &nx, &ny, &nz);
        const double q = ((const kf_real *)a->links.share)[n];
        const double pair = ((const kf_real *)a->links.value)[a->links.count + n] * (1.0 / KF_UNIT);
        kf_accumulate_load(load, -cx * pair, -cy * pair, -cz * pair, nx + q * cx - a->links.center[0],
                           ny + q * cy - a->links.center[1], nz + q * cz - a->links.center[2]);
    }
    kf_add_load(a, x, load);
}
