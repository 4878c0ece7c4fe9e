/* Butterflies: unrolled transforms of 2 to 32 values that a thread holds. Input and output are in natural
 * order. */
#ifndef KF_KERNELS_STABLE_FLUIDS_BUTTERFLIES_H
#define KF_KERNELS_STABLE_FLUIDS_BUTTERFLIES_H

#include "roots.h"

KF_FUNCTION void kf_butterfly_2(kf_wide *a) {
    const kf_wide t = a[1];
    a[1] = kf_minus(a[0], t), a[0] = kf_plus(a[0], t);
}
KF_FUNCTION void kf_butterfly_3(kf_wide *a, int sign) {
    const kf_real s = KF_R(0.86602540378443864676) * KF_R(sign);
    const kf_wide sum = kf_plus(a[1], a[2]), difference = kf_scaled(kf_minus(a[1], a[2]), s);
    const kf_wide middle = kf_minus(a[0], kf_scaled(sum, KF_R(0.5)));
    a[0] = kf_plus(a[0], sum);
    a[1] = kf_wide_of(middle.re - difference.im, middle.im + difference.re);
    a[2] = kf_wide_of(middle.re + difference.im, middle.im - difference.re);
}
KF_FUNCTION void kf_butterfly_4(kf_wide *a, int sign) {
    const kf_wide p = kf_plus(a[0], a[2]), q = kf_minus(a[0], a[2]), r = kf_plus(a[1], a[3]);
    const kf_wide s = kf_turned(kf_minus(a[1], a[3]), 360, sign);
    a[0] = kf_plus(p, r), a[1] = kf_plus(q, s), a[2] = kf_minus(p, r), a[3] = kf_minus(q, s);
}
KF_FUNCTION void kf_butterfly_5(kf_wide *a, int sign) {
    const kf_real c1 = KF_R(0.30901699437494742410), c2 = KF_R(-0.80901699437494742410);
    const kf_real s1 = KF_R(0.95105651629515357212) * KF_R(sign),
                  s2 = KF_R(0.58778525229247312917) * KF_R(sign);
    const kf_wide p1 = kf_plus(a[1], a[4]), m1 = kf_minus(a[1], a[4]);
    const kf_wide p2 = kf_plus(a[2], a[3]), m2 = kf_minus(a[2], a[3]);
    const kf_wide e1 = kf_wide_of(a[0].re + c1 * p1.re + c2 * p2.re, a[0].im + c1 * p1.im + c2 * p2.im);
    const kf_wide e2 = kf_wide_of(a[0].re + c2 * p1.re + c1 * p2.re, a[0].im + c2 * p1.im + c1 * p2.im);
    const kf_wide o1 = kf_wide_of(s1 * m1.re + s2 * m2.re, s1 * m1.im + s2 * m2.im);
    const kf_wide o2 = kf_wide_of(s2 * m1.re - s1 * m2.re, s2 * m1.im - s1 * m2.im);
    a[0] = kf_plus(a[0], kf_plus(p1, p2));
    a[1] = kf_wide_of(e1.re - o1.im, e1.im + o1.re), a[4] = kf_wide_of(e1.re + o1.im, e1.im - o1.re);
    a[2] = kf_wide_of(e2.re - o2.im, e2.im + o2.re), a[3] = kf_wide_of(e2.re + o2.im, e2.im - o2.re);
}
KF_FUNCTION void kf_butterfly_small(kf_wide *a, int radix, int sign) {
    if (radix == 2) kf_butterfly_2(a);
    if (radix == 3) kf_butterfly_3(a, sign);
    if (radix == 4) kf_butterfly_4(a, sign);
    if (radix == 5) kf_butterfly_5(a, sign);
}
/* Transforms n = p q values: p-point transforms of every q-th value, twiddle factors, then q-point
 * transforms (Cooley and Tukey 1965). */
KF_FUNCTION void kf_butterfly_product(kf_wide *a, int p, int q, int sign) {
    kf_wide b[20], c[5];
    KF_UNROLL
    for (int j = 0; j < q; j++) {
        KF_UNROLL
        for (int i = 0; i < p; i++)
            c[i] = a[q * i + j];
        kf_butterfly_small(c, p, sign);
        KF_UNROLL
        for (int k = 0; k < p; k++)
            b[j * p + k] = kf_turned(c[k], j * k * (1440 / (p * q)), sign);
    }
    KF_UNROLL
    for (int k = 0; k < p; k++) {
        KF_UNROLL
        for (int j = 0; j < q; j++)
            c[j] = b[j * p + k];
        kf_butterfly_small(c, q, sign);
        KF_UNROLL
        for (int j = 0; j < q; j++)
            a[k + p * j] = c[j];
    }
}
/* Transforms 32 values as 4 times 8, in the same way, unrolled. */
KF_FUNCTION void kf_butterfly_32(kf_wide *a, int sign) {
    kf_wide b[32], c[8];
    KF_UNROLL
    for (int j = 0; j < 4; j++) {
        KF_UNROLL
        for (int i = 0; i < 8; i++)
            c[i] = a[4 * i + j];
        kf_butterfly_product(c, 4, 2, sign);
        KF_UNROLL
        for (int k = 0; k < 8; k++)
            b[j * 8 + k] = kf_turned(c[k], j * k * (1440 / 32), sign);
    }
    KF_UNROLL
    for (int k = 0; k < 8; k++) {
        KF_UNROLL
        for (int j = 0; j < 4; j++)
            c[j] = b[j * 8 + k];
        kf_butterfly_4(c, sign);
        KF_UNROLL
        for (int j = 0; j < 4; j++)
            a[k + 8 * j] = c[j];
    }
}
/* Transforms `radix` values in place. sign -1: forward. */
KF_FUNCTION void kf_butterfly(kf_wide *a, int radix, int sign) {
    if (radix <= 5) kf_butterfly_small(a, radix, sign);
    if (radix == 6) kf_butterfly_product(a, 3, 2, sign);
    if (radix == 8) kf_butterfly_product(a, 4, 2, sign);
    if (radix == 9) kf_butterfly_product(a, 3, 3, sign);
    if (radix == 10) kf_butterfly_product(a, 5, 2, sign);
    if (radix == 12) kf_butterfly_product(a, 4, 3, sign);
    if (radix == 15) kf_butterfly_product(a, 5, 3, sign);
    if (radix == 16) kf_butterfly_product(a, 4, 4, sign);
    if (radix == 20) kf_butterfly_product(a, 5, 4, sign);
    if (radix == 32) kf_butterfly_32(a, sign);
}

#endif
