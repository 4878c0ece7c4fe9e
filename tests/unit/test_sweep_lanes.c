/* Tests the devices of a sweep. Faults: a run on the wrong device, one that does not begin in the flow of
 * the one before, or others that continue or end wrongly when one fails. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util/log.h"
#include "base/util/text.h"
#include "harness/cli/sweep_lanes.h"

enum { ITEMS = 7 };

/* All processes write into this. */
typedef struct board {
    int done[ITEMS], before[ITEMS];
    char devices[ITEMS][32];
    int fails, as; /* this item fails, with this status; with -1 its process ends */
} board;

static kf_status work(void *context, int item, int before, const char *devices, kf_error *error) {
    board *b = context;
    b->done[item]++;
    b->before[item] = before;
    kf_copy_text(b->devices[item], sizeof b->devices[item], devices);
    if (item != b->fails) return KF_OK;
    if (b->as < 0) abort();
    return kf_fail(error, (kf_status)b->as, "item %d failed", item);
}

static const char *name(void *context, int item) {
    static char text[32];
    (void)context;
    (void)snprintf(text, sizeof text, "item %d", item);
    return text;
}

static kf_status run(board *b, const char *spec, int each, int fails, int as, kf_error *error) {
    kf_sweep_lanes lanes;
    memset(b, 0, sizeof *b);
    b->fails = fails;
    b->as = as;
    assert_int_equal(kf_sweep_lanes_open(&lanes, spec, each, error), KF_OK);
    return kf_sweep_lanes_run(&lanes, ITEMS, work, name, b, error);
}

static board *shared(void) {
    const int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
    assert_true(zero >= 0);
    void *at = mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED, zero, 0);
    (void)close(zero);
    assert_true(at != MAP_FAILED);
    return at;
}

/* Each device has one piece of the values, so that neighbours follow each other. A single device has all. */
static void test_each_device_has_its_piece(void **state) {
    (void)state;
    board *b = shared();
    kf_error error;
    const char *const specs[] = {"cpu:3,cpu:1,cpu:2", "cpu:1", NULL};
    const int firsts[][ITEMS] = {{1, 0, 1, 0, 1, 0, 0}, {1, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0}};
    for (int s = 0; s < 3; s++) {
        assert_int_equal(run(b, specs[s], 1, -1, 0, &error), KF_OK);
        for (int i = 0; i < ITEMS; i++) {
            assert_int_equal(b->done[i], 1);
            assert_int_equal(b->before[i], firsts[s][i] ? -1 : i - 1);
            assert_string_equal(b->devices[i], s > 0 ? "" : i < 2 ? "cpu:3" : i < 4 ? "cpu:1" : "cpu:2");
        }
    }
    assert_int_equal(run(b, "cpu:3,cpu:1,cpu:2,cpu:4", 2, -1, 0, &error), KF_OK);
    assert_string_equal(b->devices[0], "cpu:3,cpu:1");
    assert_string_equal(b->devices[ITEMS - 1], "cpu:2,cpu:4");
    munmap(b, sizeof *b);
}

/* A failure, or the end of its process, affects only that run. The next begins in the flow of the one
 * before it. */
static void test_one_that_fails_keeps_no_other(void **state) {
    (void)state;
    board *b = shared();
    const int ways[] = {KF_GATE_FAILED, KF_MACHINE, -1};
    const char *const specs[] = {"cpu:1,cpu:1", "cpu:1"};
    for (int way = 0; way < 3; way++)
        for (int s = 0; s < (ways[way] < 0 ? 1 : 2); s++) {
            kf_error error;
            const kf_status status = run(b, specs[s], 1, 1, ways[way], &error);
            assert_int_equal(status, ways[way] < 0 ? KF_MACHINE : ways[way]);
            assert_non_null(strstr(error.message, ways[way] < 0 ? "ended the process" : "item 1 failed"));
            for (int i = 0; i < ITEMS; i++)
                assert_int_equal(b->done[i], 1);
            assert_int_equal(b->before[2], 0);
        }
    munmap(b, sizeof *b);
}

/* What is refused for one is refused for all. */
static void test_a_refusal_ends_all(void **state) {
    (void)state;
    board *b = shared();
    const char *const specs[] = {"cpu:1,cpu:1", "cpu:1"};
    for (int s = 0; s < 2; s++) {
        kf_error error;
        assert_int_equal(run(b, specs[s], 1, 0, KF_BAD_INPUT, &error), KF_BAD_INPUT);
        assert_string_equal(error.message, "item 0 failed");
        assert_int_equal(b->done[ITEMS / 2 - 1], 0);
    }
    munmap(b, sizeof *b);
}

static void test_devices_are_named(void **state) {
    (void)state;
    kf_sweep_lanes lanes;
    kf_error error;
    assert_int_equal(kf_sweep_lanes_open(&lanes, "cuda:1-4", 2, &error), KF_OK);
    assert_int_equal(lanes.count, 2);
    assert_string_equal(lanes.devices[1], "cuda:3-4");
    assert_int_equal(kf_sweep_lanes_open(&lanes, "cuda:0,cuda:2,cuda:5", 1, &error), KF_OK);
    assert_string_equal(lanes.devices[2], "cuda:5");
    assert_int_equal(kf_sweep_lanes_open(&lanes, "cuda:0-4", 2, &error), KF_BAD_INPUT);
    assert_int_equal(kf_sweep_lanes_open(&lanes, "cuda:0-x", 1, &error), KF_BAD_INPUT);
}

int main(void) {
    kf_log_set_level(KF_LOG_QUIET);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_device_has_its_piece),
        cmocka_unit_test(test_one_that_fails_keeps_no_other),
        cmocka_unit_test(test_a_refusal_ends_all),
        cmocka_unit_test(test_devices_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
