/* Cut links as the boundary of a solid that stays in place: a population that would cross the surface
 * returns to its fluid node. Each cut link joins an outer node, in the fluid, to a node beyond the
 * surface, here called the inner node. The outer node pulls the returning population from the inner node.
 * Before a step streams, these kernels write the returning populations to the inner nodes. No other value
 * changes, and each such place belongs to one link.
 *
 * The returning population is the one that left (bounce-back), plus a correction for the position of the
 * surface. For the population that left, the kernels take the mean of this step and the preceding step.
 * With plain bounce-back the fluid can oscillate from step to step without damping, most of all in a gap
 * of one node, where the momentum across the gap changes its sign in every step. Such an oscillation
 * spoils forces that are read every second step, and it grows where rates are near 2. The mean removes the
 * oscillation, does not change a steady flow, and damps a wave of frequency w by cos(w / 2). It also keeps
 * mass: half of the population that last left along each link returns one step later. Half-way links use
 * plain bounce-back.
 *
 * In a steady flow the correction is that of multireflection (Ginzburg and d'Humieres, Phys. Rev. E 68,
 * 066614, 2003). It is exact for a velocity that is a parabola along the link and for a linear pressure.
 * With one fluid node behind the outer one, it is that of central linear interpolation. Applied at once it
 * would amplify short waves at small viscosities. So it is a mean over about KF_LINK_STEPS steps, and
 * short waves meet bounce-back, which does not amplify them.
 *
 * The corrections of all links together would add mass. Each step subtracts the mean correction of the
 * preceding step, in proportion to the weights of the velocities. So a closed domain keeps its mass.
 *
 * KF_TURNING 1: the surface turns in place. Its velocity takes 6 w (c . velocity) from the population that
 * returns half-way (Ladd, J. Fluid Mech. 271, 285, 1994). The correction is that of the flow as the
 * surface sees it, so that a fluid that turns with the solid has none. */
#include "arguments.h"
typedef kf_links_arguments kf_module_arguments; /* the headers' functions take this type */

#include "links.h"

/* Computes the returning populations, and their force on the solid. The items after the links reset the
 * inner nodes beside the fluid to fluid at rest, so that the inside stays at rest. */
KF_SCALAR_KERNEL(reflect_links, kf_links_arguments) {
    (void)y, (void)z;
    if (x >= a->links.count) {
        kf_rest_node(a, x - a->links.count);
        return;
    }
    const int word = kf_load_constant(a->links.code + x);
    const kf_real value = kf_reflect_link(a, x, word);
    if (a->links.direct)
        kf_put_back(a, word, x, value);
    else
        ((kf_real *)a->links.value)[x] = value;
}

/* Computes the mass that the next step subtracts. On a team it sums copies of all parts' sums. */
KF_FUNCTION void kf_balance_links(const kf_links_arguments *a) {
    kf_int64 sum = 0;
#if KF_TEAM
    for (int slot = 0; slot < KF_LOAD_SLOTS * a->part.parts; slot++)
        sum += a->links.sums[slot];
#else
    for (int slot = 0; slot < KF_LOAD_SLOTS; slot++)
        sum += a->links.sums[slot];
    for (int slot = 0; slot < KF_LOAD_SLOTS; slot++)
        a->links.sums[slot] = 0;
#endif
    ((kf_real *)a->links.memory)[a->links.count] = (kf_real)((double)sum * a->links.part_of_sum);
}

/* Writes the returning populations to the inner nodes. On one device the first item computes the mass that
 * the next step subtracts. */
KF_SCALAR_KERNEL(place_links, kf_links_arguments) {
    (void)y, (void)z;
    kf_put_back(a, kf_load_constant(a->links.code + x), x, ((const kf_real *)a->links.value)[x]);
#if !KF_TEAM
    if (x == 0) kf_balance_links(a);
#endif
}

/* Computes the mass that the next step subtracts, where another kernel has written the returning
 * populations, and on a team. */
KF_SCALAR_KERNEL(balance_links, kf_links_arguments) {
    (void)x, (void)y, (void)z;
    kf_balance_links(a);
}

/* Sets all inner nodes to fluid at rest, once. */
KF_SCALAR_KERNEL(rest_inside, kf_links_arguments) {
    (void)y, (void)z;
    kf_rest_node(a, x);
}

/* Sums force and torque on the solid in the last step, which are the momentum that the links transferred. */
KF_SCALAR_KERNEL(load_links, kf_links_arguments) {
    (void)y, (void)z;
    kf_int64 load[KF_LOAD_SUMS];
    kf_begin_load(load);
    for (int n = x; n < a->links.count; n += a->extent[0]) {
        int nx, ny, nz;
        if (!kf_is_own(a, ((const kf_index *)a->links.node)[n])) continue;
        const int code = kf_link_code(a->links.code[n], 0);
        const int cx = code % 3 - 1, cy = code / 3 % 3 - 1, cz = code / 9 - 1;
        kf_position(a, ((const kf_index *)a->links.node)[n], &nx, &ny, &nz);
        const double q = ((const kf_real *)a->links.share)[n];
        const double pair = ((const kf_real *)a->links.value)[a->links.count + n] * (1.0 / KF_UNIT);
        kf_load_at(a, load, -cx * pair, -cy * pair, -cz * pair, nx + q * cx, ny + q * cy, nz + q * cz);
    }
    kf_add_load(a, x, load);
}
