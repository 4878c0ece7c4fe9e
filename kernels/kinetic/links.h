/* Computes the effect of a cut link in a step, for the kernels of links.cu and, with a law of the wall, of
 * wall.cu. */
#ifndef KF_KERNELS_KINETIC_LINKS_H
#define KF_KERNELS_KINETIC_LINKS_H

#include "load.h"

#define KF_LINK_RATE KF_R(1.0 / KF_LINK_STEPS)
#ifndef KF_TURNING
#define KF_TURNING 0
#endif

/* Returns the code of a link's direction to the surface at its node number `at`: cx + 1 + 3 (cy + 1) + 9
 * (cz + 1). `word` is the link's entry in links.code. */
KF_FUNCTION int kf_link_code(int word, int at) {
    return word >> (KF_LINK_CODE_BITS * at) & ((1 << KF_LINK_CODE_BITS) - 1);
}

KF_FUNCTION kf_index kf_link_node(const kf_module_arguments *a, int link, int at) {
    return kf_load_constant((const kf_index *)a->links.node + (long long)at * a->links.count + link);
}

KF_FUNCTION kf_stored *kf_link_place(const kf_module_arguments *a, int word, int link, int at, int away) {
    const int code = kf_link_code(word, at);
    return kf_address(a, a->populations.source, kf_directions[away ? 26 - code : code],
                      kf_link_node(a, link, at));
}

KF_FUNCTION kf_real kf_link_load(const kf_module_arguments *a, int word, int link, int at, int away) {
    return kf_from_store(*kf_link_place(a, word, link, at, away));
}

/* Write a returning population to the inner node. */
KF_FUNCTION void kf_put_back_at(const kf_module_arguments *a, int word, kf_index inner, kf_real value) {
    const int code = 26 - kf_link_code(word, KF_LINK_NODES - 1);
    *kf_address(a, a->populations.source, kf_directions[code], inner) = kf_to_store(value);
}
KF_FUNCTION void kf_put_back(const kf_module_arguments *a, int word, int link, kf_real value) {
    kf_put_back_at(a, word, kf_link_node(a, link, KF_LINK_NODES - 1), value);
}

#if KF_TURNING
/* Returns what the surface's motion takes from a link's returning population: 6 w (c . velocity). */
KF_FUNCTION kf_real kf_link_drive(const kf_module_arguments *a, int link) {
    return KF_R(KF_UNIT) * kf_load_constant((const kf_real *)a->links.share + a->links.count + link);
}
#define KF_LESS_DRIVE(a, link) -kf_link_drive(a, link)
#else
#define KF_LESS_DRIVE(a, link)
#endif

/* Returns the correction that interpolation adds to the population that left. If a link has one node
 * behind the outer one, the host lists the outer node twice, so that all loads have a place. */
KF_FUNCTION kf_real kf_link_correction(const kf_module_arguments *a, int word, int link, int behind) {
    const kf_real q = kf_load_constant((const kf_real *)a->links.share + link);
    const kf_real first =
        kf_link_load(a, word, link, 1, 0) - kf_link_load(a, word, link, 0, 1) KF_LESS_DRIVE(a, link);
    const kf_real second =
        kf_link_load(a, word, link, 2, 0) - kf_link_load(a, word, link, 1, 1) KF_LESS_DRIVE(a, link);
    if (behind == 1) return (KF_R(1.0) - KF_R(2.0) * q) / (KF_R(1.0) + KF_R(2.0) * q) * first;
    const kf_real part = KF_R(1.0) / (KF_R(1.0) + q), square = part * part;
    return (KF_R(1.0) - KF_R(2.0) * q - KF_R(2.0) * q * q) * square * first + q * q * square * second;
}

/* Computes a link's returning population, and stores its sum with the one that left, which gives the
 * force. All loads come before the first store, so that none waits for another. */
KF_FUNCTION kf_real kf_reflect_link(const kf_module_arguments *a, int x, int word) {
    kf_real *memory = (kf_real *)a->links.memory, *left = memory + a->links.count + 1 + x;
    const int behind = word >> (KF_LINK_CODE_BITS * KF_LINK_NODES);
    const kf_real leaves = kf_link_load(a, word, x, 0, 0), before = memory[x],
                  taken_back = memory[a->links.count], last = *left;
    kf_real value = a->links.at_once ? leaves : KF_R(0.5) * (leaves + last);
    kf_int64 sum = 0;
#if KF_TURNING
    value -= kf_link_drive(a, x);
#endif
    if (behind > 0) {
        const int code = kf_link_code(word, 0);
        const kf_real weight = KF_WEIGHT(code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1);
        const kf_real mean =
            before + KF_LINK_RATE * (kf_link_correction(a, word, x, behind) * KF_R(1.0 / KF_UNIT) - before);
        memory[x] = mean;
        value += (mean - weight * taken_back) * KF_R(KF_UNIT);
        if (fabs((double)mean) < KF_FORCE_LIMIT) /* in fixed point a diverged value would look like a mass */
            sum = kf_fixed_point((double)mean, KF_FORCE_SCALE);
#if KF_TEAM /* the link of a copied node counts on the part that has the node */
        if (!kf_is_own(a, kf_link_node(a, x, 0))) sum = 0;
#endif
    }
    if (!a->links.at_once) *left = leaves;
    kf_atomic_add_int64_of_warp((kf_int64 *)a->links.sums + x / 32 % KF_LOAD_SLOTS, sum);
    ((kf_real *)a->links.value)[a->links.count + x] = leaves + value;
    return value;
}

/* Adds the force on the fluid at a place to the load, with its arm about the solid's centre. */
KF_FUNCTION void kf_load_at(const kf_module_arguments *a, kf_int64 *load, double gx, double gy, double gz,
                            double x, double y, double z) {
    kf_accumulate_load(load, gx, gy, gz, kf_from_center(0, x - a->links.center[0], a->grid.nodes[0]),
                       kf_from_center(1, y - a->links.center[1], a->grid.nodes[1]),
                       kf_from_center(2, z - a->links.center[2], a->grid.nodes[2]));
}

/* Resets an inner node to fluid at rest. */
KF_FUNCTION void kf_rest_node(const kf_module_arguments *a, int number) {
    const kf_index inside = ((const kf_index *)a->links.inside)[number];
    for (int i = 0; i < KF_VELOCITIES; i++)
        *kf_address(a, a->populations.source, i, inside) = kf_to_store(KF_R(0.0));
}

#endif
