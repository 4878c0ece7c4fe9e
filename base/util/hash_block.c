#include "base/util/hash_block.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

/* Returns whether the processor has the instructions. It asks once, because in a virtual machine CPUID is
 * slow. */
bool kf_hash_has_instructions(void) {
    enum { UNKNOWN, NO, YES };
    static atomic_int known = UNKNOWN;
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == UNKNOWN) {
        enum { FEATURES = 7, SHA = 29 }; /* Intel's manual, CPUID: leaf 7, bit 29 of EBX */
        unsigned a, b = 0, c, d;
        const bool told = __get_cpuid_count(FEATURES, 0, &a, &b, &c, &d) != 0;
        answer = told && (b >> SHA & 1U) != 0 && __builtin_cpu_supports("sse4.1") ? YES : NO;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == YES;
}

/* Hashes a block by instructions. They take the state as (a b e f) and (c d g h), the first in the highest
 * lane. Each does two rounds and returns the new (a b e f); the old one is the new (c d g h). */
__attribute__((target("sha,sse4.1"))) void kf_hash_block_by_instructions(uint32_t state[8],
                                                                         const uint8_t block[64]) {
    const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    __m128i abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    __m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
    const __m128i abef_before = abef, cdgh_before = cdgh;
    /* The last 16 words of the schedule, in a ring. */
    __m128i w[4];
    for (int i = 0; i < 4; i++)
        w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i_u *)(block + 16 * i)), big_endian);
    for (int i = 0; i < 16; i++) {
        /* Computes words 4 i to 4 i + 3 from those 16, 15, 7 and 2 before. */
        if (i >= 4) {
            const __m128i seven = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);
            const __m128i near = _mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]);
            w[i % 4] = _mm_sha256msg2_epu32(_mm_add_epi32(near, seven), w[(i + 3) % 4]);
        }
        const __m128i constants = _mm_loadu_si128((const __m128i_u *)(kf_hash_round_constants + 4 * i));
        const __m128i words = _mm_add_epi32(w[i % 4], constants);
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, words);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(words, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
    state[0] = (uint32_t)_mm_extract_epi32(abef, 3);
    state[1] = (uint32_t)_mm_extract_epi32(abef, 2);
    state[4] = (uint32_t)_mm_extract_epi32(abef, 1);
    state[5] = (uint32_t)_mm_extract_epi32(abef, 0);
    state[2] = (uint32_t)_mm_extract_epi32(cdgh, 3);
    state[3] = (uint32_t)_mm_extract_epi32(cdgh, 2);
    state[6] = (uint32_t)_mm_extract_epi32(cdgh, 1);
    state[7] = (uint32_t)_mm_extract_epi32(cdgh, 0);
}
#else
bool kf_hash_has_instructions(void) {
    return false;
}
void kf_hash_block_by_instructions(uint32_t state[8], const uint8_t block[64]) {
    kf_hash_block_plain(state, block);
}
#endif
