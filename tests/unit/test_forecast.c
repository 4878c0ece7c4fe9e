/* Tests what a few measured configs say about the others of a stored landscape. Faults: a forecast that is
 * no better than the mean, or one of another landscape. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/statistics/statistics.h"
#include "base/util/memory.h"
#include "harness/replay/landscape.h"
#include "harness/search/forecast.h"
#include "harness/search/strategy.h"

enum { KNOWN = 50 };

static kf_landscape *star(void) {
    kf_landscape *landscape = NULL;
    kf_error error;
    if (kf_landscape_open("results/landscapes/h200-star-256x256x128.json.gz", &landscape, &error) != KF_OK)
        fail_msg("%s", error.message);
    return landscape;
}

/* Configs that work in random order, and their times. */
static size_t shuffled(const kf_landscape *landscape, uint64_t *indices, double *times_us) {
    size_t count = 0;
    for (uint64_t i = 0; i < landscape->size; i++) {
        const uint64_t index = kf_shuffled(landscape->size, 1, i);
        if (landscape->states[index] != KF_STATE_OK) continue;
        times_us[count] = landscape->times_us[index];
        indices[count++] = index;
    }
    return count;
}

/* Learned from 50 configs, the order of the others is close. In another unit it is the same but for
 * rounding. */
static void test_order_of_others(void **state) {
    (void)state;
    kf_landscape *landscape = star();
    uint64_t *indices = kf_allocate(landscape->size * sizeof *indices);
    double *times = kf_allocate(landscape->size * sizeof *times);
    double *predicted = kf_allocate(landscape->size * sizeof *predicted);
    double *again = kf_allocate(landscape->size * sizeof *again), scaled[KNOWN];
    const size_t count = shuffled(landscape, indices, times);
    kf_forecast(landscape->space, indices, times, KNOWN, indices, count, predicted);
    const double correlation = kf_rank_correlation(predicted + KNOWN, times + KNOWN, count - KNOWN);
    print_message("rank correlation of %zu others: %.3f\n", count - KNOWN, correlation);
    assert_true(correlation > 0.85);
    for (int i = 0; i < KNOWN; i++) {
        assert_true(fabs(predicted[i] / times[i] - 1) < 0.1);
        scaled[i] = 1024 * times[i];
    }
    kf_forecast(landscape->space, indices, scaled, KNOWN, indices, count, again);
    for (size_t i = 0; i < count; i++)
        assert_true(fabs(again[i] / predicted[i] / 1024 - 1) < 1e-2);
    free(indices);
    free(times);
    free(predicted);
    free(again);
    kf_landscape_free(landscape);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order_of_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
