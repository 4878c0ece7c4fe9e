/* One block of SHA-256, in C and by the processor's own instructions; for hash.c and its test. */
#ifndef KF_BASE_UTIL_HASH_BLOCK_H
#define KF_BASE_UTIL_HASH_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Adds 64 bytes to the state a to h (FIPS 180-4, section 6.2.2), on any machine. */
void kf_hash_block_plain(uint32_t state[8], const uint8_t block[64]);

/* The round constants of section 4.2.2. */
extern const uint32_t kf_hash_round_constants[64];

/* Returns whether this processor has instructions for SHA-256. Without them the next function must not be
 * called. */
bool kf_hash_has_instructions(void);
void kf_hash_block_by_instructions(uint32_t state[8], const uint8_t block[64]);

#endif
