/* Tests the order of samples by blocks and Morton codes. Faults: a sample that is lost or doubled, a wrong
 * key, an order that takes too long. */
#include "tests/unit/scene_files.h"

#include <math.h>
#include <time.h>

#include "base/util/memory.h"
#include "scene/ordering.h"

enum { COUNT = 20000 };
static double x[COUNT], y[COUNT], z[COUNT];
static uint32_t permutation[COUNT];

static int fill_coordinates(void **state) {
    (void)state;
    uint64_t number = 7;
    for (int i = 0; i < COUNT; i++)
        for (int a = 0; a < 3; a++) {
            number = number * 6364136223846793005ULL + 1442695040888963407ULL;
            (a == 0   ? x
             : a == 1 ? y
                      : z)[i] = -3.25 + (double)(number >> 33) / (double)(1U << 31) * (10.0 + 7.0 * a);
        }
    return 0;
}
static const double low[3] = {-3.25, -3.25, -3.25}, high[3] = {6.75, 13.75, 20.75};

/* Morton codes are computed bit by bit and keys are compared as tuples, so that nothing is shared with the
 * code under test. */
static void reference_key(int length, int morton, double px, double py, double pz, long key[4]) {
    const int cells[3] = {(int)floor(px) + 4, (int)floor(py) + 4, (int)floor(pz) + 4};
    for (int a = 0; a < 3; a++)
        key[2 - a] = cells[a] / length; /* z first */
    key[3] = 0;
    for (int bit = 0; morton && bit < 16; bit++)
        for (int a = 0; a < 3; a++)
            key[3] |= (long)(cells[a] % length >> bit & 1) << (3 * bit + a);
}

static void check_order(int length, int morton) {
    kf_ordering ordering;
    kf_ordering_begin(&ordering, length, morton, low, high);
    kf_ordering_sort(&ordering, COUNT, x, y, z, permutation);
    static unsigned char seen[COUNT];
    memset(seen, 0, sizeof seen);
    long before[4] = {-1, -1, -1, -1};
    for (uint32_t r = 0; r < COUNT; r++) {
        const uint32_t i = permutation[r];
        assert_true(i < COUNT && !seen[i]);
        seen[i] = 1;
        assert_true(kf_ordering_key(&ordering, x[i], y[i], z[i]) < ordering.key_count);
        long key[4];
        reference_key(length, morton, x[i], y[i], z[i], key);
        int difference = 0;
        for (int k = 0; k < 4 && difference == 0; k++)
            difference = key[k] < before[k] ? -1 : key[k] > before[k];
        assert_true(difference >= 0);
        if (r > 0 && difference == 0) assert_true(permutation[r - 1] < i); /* stable */
        memcpy(before, key, sizeof key);
    }
}

static void test_orders_of_every_block_length(void **state) {
    (void)state;
    static const int lengths[] = {1, 2, 3, 4, 7, 8, 16, 100};
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        check_order(lengths[l], 0);
        check_order(lengths[l], 1);
    }
}

static void test_the_box_covers_all_cells(void **state) {
    (void)state;
    kf_ordering o;
    kf_ordering_begin(&o, 4, true, low, high);
    assert_int_equal(o.origin[0], -4);
    assert_int_equal(o.cells[0], 11); /* -4 to 6 */
    assert_int_equal(o.cells[2], 25); /* -4 to 20 */
    assert_int_equal(o.blocks[0], 3);
    assert_int_equal(o.blocks[2], 7);
    assert_int_equal(o.morton_bits, 2);
    assert_int_equal(o.key_count, 3 * 5 * 7 * 64);
    kf_ordering_begin(&o, 1, true, low, high);
    assert_int_equal(o.morton_bits, 0);
    kf_ordering_begin(&o, 5, false, low, high);
    assert_int_equal(o.morton_bits, 0);
    kf_ordering_begin(&o, 5, true, low, high);
    assert_int_equal(o.morton_bits, 3);
}

/* By hand: blocks of 2 cells begin at (0,0,0). Cell (3,0,1) is in block 1, where it is (1,0,1) with code
 * 101 = 5. */
static void test_key_by_hand(void **state) {
    (void)state;
    const double from[3] = {0, 0, 0}, to[3] = {3.5, 3.5, 3.5};
    kf_ordering o;
    kf_ordering_begin(&o, 2, true, from, to);
    assert_int_equal(kf_ordering_key(&o, 3.2, 0.9, 1.0), 1 * 8 + 5);
    assert_int_equal(kf_ordering_key(&o, 0.0, 2.0, 3.0), (2 + 4) * 8 + 4);
    assert_int_equal(kf_ordering_key(&o, 3.9, 3.9, 3.9), 7 * 8 + 7);
    /* A sample that rounding puts outside the box, on either side, belongs to the outermost cell. */
    const double below = nextafter(0.0, -1.0);
    assert_int_equal(kf_ordering_key(&o, below, below, below), kf_ordering_key(&o, 0.0, 0.0, 0.0));
    assert_int_equal(kf_ordering_key(&o, 4.0, 4.0, 4.0), kf_ordering_key(&o, 3.9, 3.9, 3.9));
}

/* By hand: with 4 parts along an axis of cell (1,0,1) of a block of 2, the sample is in part (3,0,2).
 * After 101 the code has, from the high bits of the parts to the low ones, 101 and 001. */
static void test_samples_within_a_cell(void **state) {
    (void)state;
    const double from[3] = {0, 0, 0}, to[3] = {3.5, 3.5, 3.5};
    kf_ordering o;
    kf_ordering_begin(&o, 2, true, from, to);
    kf_ordering_refine(&o, 2);
    assert_int_equal(o.morton_bits, 3);
    assert_int_equal(o.key_count, 8 * 512);
    assert_int_equal(kf_ordering_key(&o, 3.8, 0.1, 1.6), 1 * 512 + 5 * 64 + 5 * 8 + 1);
    assert_int_equal(kf_ordering_key(&o, nextafter(4.0, 3.0), 0.0, 1.0), 1 * 512 + 5 * 64 + 8 + 1);
    /* Blocks of one cell have an order inside the cell, too, and the samples of a cell stay together. */
    kf_ordering_begin(&o, 1, true, from, to);
    kf_ordering_refine(&o, 4);
    for (int i = 0; i < 1000; i++) {
        const double p[3] = {i % 10 * 0.39, i / 10 % 10 * 0.39,
                             i / 100 * 0.39}; /* NOLINT(bugprone-integer-division): whole steps */
        const int cell = (int)p[0] + 4 * ((int)p[1] + 4 * (int)p[2]);
        assert_int_equal(kf_ordering_key(&o, p[0], p[1], p[2]) >> 12, (uint64_t)cell);
    }
    assert_true(kf_ordering_key(&o, 0.1, 0.1, 0.1) < kf_ordering_key(&o, 0.9, 0.1, 0.1));
}

static void test_nothing_to_sort(void **state) {
    (void)state;
    kf_ordering o;
    kf_ordering_begin(&o, 2, true, low, low);
    kf_ordering_sort(&o, 0, NULL, NULL, NULL, NULL);
    uint32_t one = 9;
    kf_ordering_sort(&o, 1, x, y, z, &one);
    assert_int_equal(one, 0);
}

static void test_large_keys(void **state) {
    (void)state;
    enum { KEYS = 5000 };
    static uint64_t keys[KEYS];
    static uint32_t order[KEYS];
    uint64_t number = 3;
    for (int i = 0; i < KEYS; i++) {
        number = number * 6364136223846793005ULL + 1442695040888963407ULL;
        keys[i] = number >> (i % 3 == 0 ? 1 : 40); /* up to 2^63 */
    }
    kf_radix_order(KEYS, keys, 1ULL << 63, order);
    for (int r = 1; r < KEYS; r++)
        assert_true(keys[order[r - 1]] <= keys[order[r]]);
}

static void test_time_of_many(void **state) {
    (void)state;
    const size_t count = 1500000;
    double *many[3];
    uint32_t *order = kf_allocate(count * sizeof *order);
    uint64_t number = 5;
    for (int a = 0; a < 3; a++) {
        many[a] = kf_allocate(count * sizeof(double));
        for (size_t i = 0; i < count; i++) {
            number = number * 6364136223846793005ULL + 1442695040888963407ULL;
            many[a][i] = (double)(number >> 33) / (double)(1U << 31) * 199.0;
        }
    }
    const double from[3] = {0, 0, 0}, to[3] = {199, 199, 199};
    kf_ordering o;
    kf_ordering_begin(&o, 4, true, from, to);
    const clock_t begin = clock();
    kf_ordering_sort(&o, count, many[0], many[1], many[2], order);
    print_message("%zu samples ordered in %.3f s\n", count, (double)(clock() - begin) / CLOCKS_PER_SEC);
    for (size_t r = 1; r < count; r++) {
        const uint32_t p = order[r - 1], q = order[r];
        assert_true(kf_ordering_key(&o, many[0][p], many[1][p], many[2][p]) <=
                    kf_ordering_key(&o, many[0][q], many[1][q], many[2][q]));
    }
    for (int a = 0; a < 3; a++)
        free(many[a]);
    free(order);
}

/* A sample that rounding puts outside the box belongs to the outermost cell, on either side of every axis. */
static void test_samples_just_outside(void **state) {
    (void)state;
    for (int morton = 0; morton < 2; morton++)
        for (int axis = 0; axis < 3; axis++) {
            kf_ordering ordering;
            kf_ordering_begin(&ordering, 4, morton != 0, low, high);
            double inside[3] = {0.5, 0.5, 0.5}, outside[3] = {0.5, 0.5, 0.5};
            inside[axis] = ordering.origin[axis];
            outside[axis] = nextafter(inside[axis], -100);
            assert_true(kf_ordering_key(&ordering, outside[0], outside[1], outside[2]) ==
                        kf_ordering_key(&ordering, inside[0], inside[1], inside[2]));
            outside[axis] = ordering.origin[axis] + ordering.cells[axis];
            inside[axis] = nextafter(outside[axis], -100);
            assert_true(kf_ordering_key(&ordering, outside[0], outside[1], outside[2]) ==
                        kf_ordering_key(&ordering, inside[0], inside[1], inside[2]));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_of_every_block_length),
        cmocka_unit_test(test_the_box_covers_all_cells),
        cmocka_unit_test(test_key_by_hand),
        cmocka_unit_test(test_samples_within_a_cell),
        cmocka_unit_test(test_nothing_to_sort),
        cmocka_unit_test(test_large_keys),
        cmocka_unit_test(test_time_of_many),
        cmocka_unit_test(test_samples_just_outside),
    };
    return cmocka_run_group_tests_name("ordering", tests, fill_coordinates, NULL);
}
