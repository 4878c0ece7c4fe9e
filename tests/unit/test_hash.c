/* Tests SHA-256 against the examples of FIPS 180-4 and NIST's example vectors. Faults: a wrong digest at
 * one length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/hash.h"
#include "base/util/hash_block.h"

static const struct {
    const char *text, *hex;
} published[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrs"
     "tnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

static void matches_published_vectors(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        kf_hasher hasher;
        char hex[KF_HASH_HEX];
        kf_hash_begin(&hasher);
        kf_hash_add(&hasher, published[i].text, strlen(published[i].text));
        kf_hash_end(&hasher, hex);
        assert_string_equal(hex, published[i].hex);
    }
}

static void hashes_a_million_letters(void **state) {
    (void)state;
    kf_hasher hasher;
    char hex[KF_HASH_HEX], letters[1000];
    memset(letters, 'a', sizeof letters);
    kf_hash_begin(&hasher);
    for (int i = 0; i < 1000; i++)
        kf_hash_add(&hasher, letters, sizeof letters);
    kf_hash_end(&hasher, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* The hash of a message does not depend on how it is cut into pieces. The lengths cross every block and
 * padding edge. */
static void pieces_do_not_matter(void **state) {
    (void)state;
    char message[200];
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (char)(i * 7);
    for (size_t length = 0; length <= sizeof message; length++) {
        kf_hasher whole, pieces;
        char expected[KF_HASH_HEX], got[KF_HASH_HEX];
        kf_hash_begin(&whole);
        kf_hash_add(&whole, message, length);
        kf_hash_end(&whole, expected);
        kf_hash_begin(&pieces);
        for (size_t at = 0, piece = 1; at < length; at += piece, piece = piece % 13 + 1) {
            if (piece > length - at) piece = length - at;
            kf_hash_add(&pieces, message + at, piece);
        }
        kf_hash_end(&pieces, got);
        assert_string_equal(got, expected);
    }
}

static void strings_do_not_run_together(void **state) {
    (void)state;
    kf_hasher left, right;
    char left_hex[KF_HASH_HEX], right_hex[KF_HASH_HEX];
    kf_hash_begin(&left);
    kf_hash_add_string(&left, "ab");
    kf_hash_add_string(&left, "c");
    kf_hash_end(&left, left_hex);
    kf_hash_begin(&right);
    kf_hash_add_string(&right, "a");
    kf_hash_add_string(&right, "bc");
    kf_hash_end(&right, right_hex);
    assert_string_not_equal(left_hex, right_hex);
}

/* C and the processor's instructions compute the same, block after block from each other's state. */
static void both_ways_give_the_same(void **state) {
    (void)state;
    if (!kf_hash_has_instructions()) skip();
    uint32_t plain[8] = {1, 2, 3, 4, 5, 6, 7, 8}, other[8], random = 1;
    memcpy(other, plain, sizeof other);
    for (int i = 0; i < 1000; i++) {
        uint8_t block[64];
        for (size_t k = 0; k < sizeof block; k++) {
            random = random * 1664525U + 1013904223U;
            block[k] = (uint8_t)(random >> 24);
        }
        kf_hash_block_plain(plain, block);
        kf_hash_block_by_instructions(other, block);
        assert_memory_equal(plain, other, sizeof plain);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_published_vectors), cmocka_unit_test(hashes_a_million_letters),
        cmocka_unit_test(pieces_do_not_matter),      cmocka_unit_test(strings_do_not_run_together),
        cmocka_unit_test(both_ways_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
