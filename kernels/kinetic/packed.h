/* A node's moments in six words of 32 bits (KF_PACKED 1, plan `moments` with 16-bit storage), and with a
 * body force zz in a seventh. Velocity must keep small changes, so it is a float: a half resolves 2^-11 of
 * a value, and a step would lose any smaller acceleration. Density less 1, and the moments of order 2,
 * which relax, are halves of 2^15 times their value (KF_UNIT), like 16-bit populations. Density less 1 is
 * rounded at random (kf_by_chance), so that no mass is lost on average. Beyond the range of a half a node
 * becomes infinite, then NaN.
 *
 *     words 0, 1, 2: ux, uy, uz   word 3: density - 1 | xx   word 4: yy | xy   word 5: xz | yz   word 6: zz
 *     (of two halves the first is the low one) */
#ifndef KF_KERNELS_KINETIC_PACKED_H
#define KF_KERNELS_KINETIC_PACKED_H

KF_FUNCTION unsigned kf_word_of(float value) {
    return (unsigned)kf_float_bits(value);
}
KF_FUNCTION float kf_float_of(unsigned word) {
    return kf_bits_float((int)word);
}

/* Returns the value rounded down or up to a half, with the higher probability to the nearer one
 * (stochastic rounding). The random number is the last 13 bits of another value of the node, which
 * rounding errors mix, and a number that differs between nodes. A value that is a half stays unchanged. */
KF_FUNCTION float kf_by_chance(float value, unsigned chance) {
    return kf_float_of((kf_word_of(value) + (chance & 0x1fffu)) & 0xffffe000u);
}
/* Returns a number that differs between nodes. offset: the node's distance from the first node, which is
 * the same on any number of devices. */
KF_FUNCTION unsigned kf_of_node(long long offset) {
    const unsigned spread = (unsigned)offset * 0x9e3779b1u; /* Knuth's multiplicative hash */
    return spread ^ spread >> 16;
}

/* Convert two floats to the halves of a word, and back. */
#if KF_CUDA
KF_FUNCTION unsigned kf_to_halves(float low, float high) {
    unsigned word;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
}
KF_FUNCTION void kf_from_halves(unsigned word, float *low, float *high) {
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
        : "=f"(*low), "=f"(*high)
        : "r"(word));
}
#else
typedef union kf_half_bits {
    _Float16 value;
    unsigned short bits;
} kf_half_bits;
KF_FUNCTION unsigned kf_to_halves(float low, float high) {
    kf_half_bits l, h;
    l.value = (_Float16)low;
    h.value = (_Float16)high;
    return l.bits | (unsigned)h.bits << 16;
}
KF_FUNCTION void kf_from_halves(unsigned word, float *low, float *high) {
    kf_half_bits l, h;
    l.bits = (unsigned short)word;
    h.bits = (unsigned short)(word >> 16);
    *low = (float)l.value;
    *high = (float)h.value;
}
#endif

#endif
