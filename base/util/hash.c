#include "base/util/hash.h"

#include <string.h>

#include "base/util/hash_block.h"

/* FIPS 180-4, section 4.2.2: the fractional parts of the cube roots of the first 64 primes. */
const uint32_t kf_hash_round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t word, unsigned bits) {
    return word >> bits | word << (32 - bits);
}

static void expand_schedule(const uint8_t block[64], uint32_t schedule[64]) {
    for (int i = 0; i < 16; i++)
        schedule[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                      (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t near = schedule[i - 15], far = schedule[i - 2];
        uint32_t sigma0 = rotate_right(near, 7) ^ rotate_right(near, 18) ^ near >> 3;
        uint32_t sigma1 = rotate_right(far, 17) ^ rotate_right(far, 19) ^ far >> 10;
        schedule[i] = schedule[i - 16] + sigma0 + schedule[i - 7] + sigma1;
    }
}

/* One round of section 6.2.2, step 3. The working variables a to h are not moved. The next round uses them
 * under their new names. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                     \
    do {                                                                                                     \
        const uint32_t sum1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);                \
        const uint32_t sum0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);                \
        const uint32_t choice = ((e) & (f)) ^ (~(e) & (g));                                                  \
        const uint32_t majority = ((a) & (b)) ^ ((a) & (c)) ^ ((b) & (c));                                   \
        const uint32_t t1 = (h) + sum1 + choice + kf_hash_round_constants[i] + schedule[i];                  \
        (d) += t1;                                                                                           \
        (h) = t1 + sum0 + majority;                                                                          \
    } while (0)

/* The 64 rounds of FIPS 180-4, section 6.2.2. The macro renames the eight words in each round and does not
 * move them. */
void kf_hash_block_plain(uint32_t state[8], const uint8_t block[64]) {
    uint32_t schedule[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    expand_schedule(block, schedule);
    for (int i = 0; i < 64; i += 8) {
        ROUND(a, b, c, d, e, f, g, h, i);
        ROUND(h, a, b, c, d, e, f, g, i + 1);
        ROUND(g, h, a, b, c, d, e, f, i + 2);
        ROUND(f, g, h, a, b, c, d, e, i + 3);
        ROUND(e, f, g, h, a, b, c, d, i + 4);
        ROUND(d, e, f, g, h, a, b, c, i + 5);
        ROUND(c, d, e, f, g, h, a, b, i + 6);
        ROUND(b, c, d, e, f, g, h, a, i + 7);
    }
    const uint32_t sum[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        state[i] += sum[i];
}
#undef ROUND

/* Hashes a block. Opening a plan hashes all sources and compiled code of its kernels. The processor's
 * instructions need a fifth of the time. */
static void compress(uint32_t state[8], const uint8_t block[64]) {
    if (kf_hash_has_instructions())
        kf_hash_block_by_instructions(state, block);
    else
        kf_hash_block_plain(state, block);
}

void kf_hash_begin(kf_hasher *hasher) {
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(hasher, 0, sizeof *hasher);
    memcpy(hasher->state, start, sizeof start);
}

void kf_hash_add(kf_hasher *hasher, const void *data, size_t size) {
    const uint8_t *bytes = data;
    while (size > 0) {
        size_t used = (size_t)(hasher->length % 64);
        size_t take = size < 64 - used ? size : 64 - used;
        memcpy(hasher->block + used, bytes, take);
        hasher->length += take;
        bytes += take;
        size -= take;
        if (used + take == 64) compress(hasher->state, hasher->block);
    }
}

void kf_hash_add_string(kf_hasher *hasher, const char *text) {
    kf_hash_add(hasher, text, strlen(text) + 1);
}

void kf_hash_end(kf_hasher *hasher, char hex[KF_HASH_HEX]) {
    static const uint8_t padding[64] = {0x80};
    static const char digits[] = "0123456789abcdef";
    uint64_t bits = hasher->length * 8;
    size_t used = (size_t)(hasher->length % 64);
    kf_hash_add(hasher, padding, used < 56 ? 56 - used : 120 - used);
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    kf_hash_add(hasher, length, sizeof length);
    for (int i = 0; i < 64; i++)
        hex[i] = digits[hasher->state[i / 8] >> (28 - 4 * (i % 8)) & 0xf];
    hex[64] = '\0';
}

void kf_hash_bytes(const void *data, size_t size, char hex[KF_HASH_HEX]) {
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add(&hasher, data, size);
    kf_hash_end(&hasher, hex);
}

void kf_hash_text(const char *text, char hex[KF_HASH_HEX]) {
    kf_hash_bytes(text, strlen(text) + 1, hex);
}

/* Ends a name that is too long with eight digits of its hash, so that two long names stay two. */
void kf_copy_name(char *target, size_t size, const char *source) {
    enum { DIGITS = 8 };
    const size_t length = strlen(source);
    if (length < size) {
        memcpy(target, source, length + 1);
        return;
    }
    char hex[KF_HASH_HEX];
    kf_hash_text(source, hex);
    size_t head = size - 2 - DIGITS;
    while (head > 0 && ((unsigned char)source[head] & 0xc0) == 0x80)
        /* No part of a UTF-8 character stays. */
        head--;
    memcpy(target, source, head);
    target[head] = '~';
    memcpy(target + head + 1, hex, DIGITS);
    target[head + 1 + DIGITS] = '\0';
}
