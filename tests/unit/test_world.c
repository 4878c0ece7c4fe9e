/* Tests the processes of a run: the largest over all of each value, and the end of all when one does not
 * end. Alone this is a world of one. tests/e2e/ranks-tune.sh starts it as several processes, and with
 * "hang" as two, of which one waits for ever. Faults: a wrong maximum, or processes that wait for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/backend/team/world.h"

static void test_the_largest_of_all_processes(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    if (kf_world_is_wanted()) assert_int_equal(kf_world_open(&error), KF_OK);
    const int rank = kf_world_rank(), last = kf_world_size() - 1;
    double values[] = {1.5 * rank, -1.5 * rank, 1e-300, rank == 0 ? 7.25 : -(double)INFINITY};
    assert_int_equal(kf_world_most(values, 4, &error), KF_OK);
    assert_true(values[0] == 1.5 * last);
    assert_true(values[1] == 0.0);
    assert_true(values[2] == 1e-300);
    assert_true(values[3] == 7.25);
    kf_world_close(KF_OK, &error);
}

/* The first waits for a sum that the other never joins. The limit ends both. */
static int hang(void) {
    kf_error error = {KF_OK, ""};
    int64_t sum = 1;
    if (kf_world_open(&error) != KF_OK) return 1;
    kf_world_advise("the test is over");
    if (kf_world_rank() > 0) return pause();
    kf_world_limit(100.0, "what ends in time");
    kf_world_limit(0, "");
    kf_world_limit(0.5, "what waits for ever");
    return kf_world_sum(&sum, 1, &error) == KF_OK ? 0 : 1;
}

int main(int count, char **words) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_largest_of_all_processes)};
    if (count > 1 && strcmp(words[1], "hang") == 0) return hang();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
