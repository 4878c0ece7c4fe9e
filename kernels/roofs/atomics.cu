/* The highest rate of atomic additions of floats, for several patterns of addresses, and a kernel that
 * does nothing. */
#include "../portable.h"
#include "arguments.h"

/* Adjacent items add to adjacent addresses. mask: number of addresses - 1. */
KF_SCALAR_KERNEL(add_neighbouring, kf_roof_arguments) {
    (void)y;
    (void)z;
    kf_atomic_add_float((float *)a->target + (x & a->mask), 1.0f);
}

/* Each item adds to an address far from its neighbour's. */
KF_SCALAR_KERNEL(add_scattered, kf_roof_arguments) {
    (void)y;
    (void)z;
    unsigned at = (unsigned)x * 2654435761u;
    at ^= at >> 15;
    kf_atomic_add_float((float *)a->target + (int)(at & (unsigned)a->mask), 1.0f);
}

/* All items add to one address. */
KF_SCALAR_KERNEL(add_together, kf_roof_arguments) {
    (void)x;
    (void)y;
    (void)z;
    kf_atomic_add_float((float *)a->target, 1.0f);
}

KF_SCALAR_KERNEL(nothing, kf_roof_arguments) {
    (void)a;
    (void)x;
    (void)y;
    (void)z;
}
