/* SHA-256 (FIPS 180-4): names configs, kernel builds and scenes by their content. */
#ifndef KF_BASE_UTIL_HASH_H
#define KF_BASE_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { KF_HASH_HEX = 65 }; /* 64 hexadecimal digits and the terminating zero */

typedef struct kf_hasher {
    uint32_t state[8];
    uint64_t length; /* bytes hashed so far */
    uint8_t block[64];
} kf_hasher;

/* Hash bytes in any number of pieces: begin, add, end. kf_hash_end writes the digits. */
void kf_hash_begin(kf_hasher *hasher);
void kf_hash_add(kf_hasher *hasher, const void *data, size_t size);
void kf_hash_add_string(kf_hasher *hasher,
                        /* It hashes the terminating zero too, so that two neighbouring fields cannot run
                         * together. */
                        const char *text);
void kf_hash_end(kf_hasher *hasher, char hex[KF_HASH_HEX]);
/* Hashes bytes in one piece: the digits are those of sha256sum. */
void kf_hash_bytes(const void *data, size_t size, char hex[KF_HASH_HEX]);
/* Hashes a text with its terminating zero. */
void kf_hash_text(const char *text, char hex[KF_HASH_HEX]);

/* Copies a name that must stay another than all others: one that does not fit keeps its beginning, and "~"
 * with eight digits of its hash stands for the rest. size is 16 or more. */
void kf_copy_name(char *target, size_t size, const char *source);

#endif
