/* A node's moments in five words of 32 bits (KF_PACKED 1, plan `moments` with 16-bit storage), a body force's zz in a
 * sixth. What a step changes by little, density - 1 and velocity, has 20 bits in fixed point, 2^-20 apart, within
 * (-1/2, 1/2): in halves, 2^-11 of the value apart, an acceleration of less would be lost in every step. The moments of
 * order 2, which relax, are halves of 2^15 times their value, like 16-bit populations. Fixed-point numbers are rounded
 * by chance (kf_chance), so that on average nothing is lost. Beyond the range a node becomes NaN.
 *
 *     word 0: ux 20 bits | deviation, low 12        word 3: yy | xy
 *     word 1: uy 20 | xx, high 4 | deviation, high 8  word 4: xz | yz
 *     word 2: uz 20 | xx, low 12                    word 5: zz as a float
 * (the first is the high one; of words 3 and 4 the low one). */
#ifndef KF_KERNELS_KINETIC_PACKED_H
#define KF_KERNELS_KINETIC_PACKED_H

#define KF_HALF_UNIT 32768.0f
#define KF_FIXED_UNIT 1048576.0f /* 2^20 */
#define KF_FIXED_MOST 0.4999f

typedef union kf_word_float {
    unsigned word;
    float value;
} kf_word_float;
KF_FUNCTION unsigned kf_word_of(float value) {
    kf_word_float both;
    both.value = value;
    return both.word;
}
KF_FUNCTION float kf_float_of(unsigned word) {
    kf_word_float both;
    both.word = word;
    return both.value;
}

/* The low 20 bits: value in units of 2^-20, in two's complement. Added to 1.5 2^23 a float's last place is 1. */
KF_FUNCTION unsigned kf_to_fixed(float value, float chance) {
    return kf_word_of((value * KF_FIXED_UNIT + chance) + 12582912.0f) & 0xfffffu;
}
KF_FUNCTION float kf_from_fixed(unsigned bits) {
    return (kf_float_of(bits ^ 0x4b080000u) - 8912896.0f) * (1.0f / KF_FIXED_UNIT);
}
/* A number between -1/2 and 1/2 from the last 16 bits of another value of the node, which rounding has mixed, and of what
 * differs from node to node. A multiple of 2^-20 stays what it is. */
KF_FUNCTION float kf_chance(float other, unsigned of_node) {
    return (kf_float_of(((kf_word_of(other) ^ of_node) & 0xffffu) | 0x4b000000u) - 8421375.5f) * (1.0f / 65536.0f);
}
/* Differs from node to node; offset: the node's distance from the first, which is the same on any number of devices. */
KF_FUNCTION unsigned kf_of_node(long long offset) {
    const unsigned spread = (unsigned)offset * 0x9e3779b1u; /* Knuth's multiplicative hash */
    return spread ^ spread >> 16;
}

/* Two halves of a word. */
#if KF_CUDA
KF_FUNCTION unsigned kf_to_halves(float low, float high) {
    unsigned word;
    asm("{ .reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h}; }"
        : "=r"(word)
        : "f"(low * KF_HALF_UNIT), "f"(high * KF_HALF_UNIT));
    return word;
}
KF_FUNCTION void kf_from_halves(unsigned word, float *low, float *high) {
    float l, h;
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }" : "=f"(l), "=f"(h) : "r"(word));
    *low = l * (1.0f / KF_HALF_UNIT);
    *high = h * (1.0f / KF_HALF_UNIT);
}
#else
typedef union kf_half_bits {
    _Float16 value;
    unsigned short bits;
} kf_half_bits;
KF_FUNCTION unsigned kf_to_halves(float low, float high) {
    kf_half_bits l, h;
    l.value = (_Float16)(low * KF_HALF_UNIT);
    h.value = (_Float16)(high * KF_HALF_UNIT);
    return l.bits | (unsigned)h.bits << 16;
}
KF_FUNCTION void kf_from_halves(unsigned word, float *low, float *high) {
    kf_half_bits l, h;
    l.bits = (unsigned short)word;
    h.bits = (unsigned short)(word >> 16);
    *low = (float)l.value * (1.0f / KF_HALF_UNIT);
    *high = (float)h.value * (1.0f / KF_HALF_UNIT);
}
#endif

#endif
