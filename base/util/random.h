/* Reproducible random numbers: SplitMix64 (Steele, Lea, Flood 2014), one word of state. */
#ifndef KF_BASE_UTIL_RANDOM_H
#define KF_BASE_UTIL_RANDOM_H

#include <stdint.h>

static inline uint64_t kf_random_mix(uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
}

static inline uint64_t kf_random_next(uint64_t *state) {
    return kf_random_mix(*state += 0x9e3779b97f4a7c15);
}

/* Returns a number that is uniform in [0, 1). */
static inline double kf_random_unit(uint64_t *state) {
    return (double)(kf_random_next(state) >> 11) * 0x1p-53;
}

/* Returns a number that is uniform in 0 .. bound-1 (bound > 0). Words that would favour small values are
 * drawn again. */
static inline uint64_t kf_random_below(uint64_t *state, uint64_t bound) {
    uint64_t word, uneven = (0 - bound) % bound;
    do
        word = kf_random_next(state);
    while (word < uneven);
    return word % bound;
}

#endif
