/* Tests means of correlated series against AR(1) processes whose answers are known. Faults: an interval
 * that is too narrow. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/statistics/series.h"

static uint64_t state_of_numbers = 1;

static double uniform(void) {
    state_of_numbers = state_of_numbers * 6364136223846793005ULL + 1442695040888963407ULL;
    return ((double)(state_of_numbers >> 11) + 0.5) * 0x1p-53;
}

static double normal(void) {
    return sqrt(-2.0 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Fills a series with x' = mean + memory (x - mean) + noise, which starts in its stationary distribution. */
static void fill(double *values, size_t count, double mean, double memory, double noise) {
    double x = normal() * noise / sqrt(1.0 - memory * memory);
    for (size_t i = 0; i < count; i++) {
        values[i] = mean + x;
        x = memory * x + noise * normal();
    }
}

/* The variance of the mean of an AR(1) process is noise^2 / (1 - memory)^2 / n for long series. On average
 * the interval must be close to 1.96 times the root of this, and it must contain the mean about 95 times
 * in 100. */
static void test_interval_of_correlated_values(void **state) {
    (void)state;
    enum { COUNT = 4000, TRIALS = 400 };
    static double values[COUNT];
    static const double memories[] = {0.0, 0.5, 0.9, 0.98};
    for (int m = 0; m < 4; m++) {
        const double truth = 0.1 / (1.0 - memories[m]) / sqrt(COUNT);
        int held = 0;
        double half = 0.0;
        for (int t = 0; t < TRIALS; t++) {
            fill(values, COUNT, 3.0, memories[m], 0.1);
            const kf_series_mean mean = kf_series_mean_of(values, COUNT);
            held += fabs(mean.mean - 3.0) <= mean.half;
            half += mean.half / TRIALS;
        }
        print_message("memory %g: %d of %d, half %g of %g\n", memories[m], held, TRIALS, half, 1.96 * truth);
        assert_true(held >= 0.9 * TRIALS);
        assert_true(half > 1.7 * truth && half < 2.6 * truth);
    }
}

/* An exponential start is cut off for at least five of its time constants. The mean is that of what
 * follows. */
static void test_start_is_cut_off(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    static double values[COUNT];
    bool settled;
    for (int t = 0; t < 20; t++) {
        fill(values, COUNT, 0.5, 0.8, 0.01);
        for (size_t i = 0; i < COUNT; i++)
            values[i] += 2.0 * exp(-(double)i / 60.0);
        const kf_series_mean mean = kf_series_settled(values, COUNT, &settled);
        assert_true(settled);
        assert_true(mean.first >= 150 && mean.first < COUNT / 2);
        assert_true(fabs(mean.mean - 0.5) < 3.0 * mean.half);
    }
}

static void test_what_drifts_has_not_settled(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    static double values[COUNT];
    bool settled;
    fill(values, COUNT, 0.5, 0.5, 0.01);
    for (size_t i = 0; i < COUNT; i++)
        values[i] += 0.5 * (double)i / COUNT;
    (void)kf_series_settled(values, COUNT, &settled);
    assert_false(settled);
    for (size_t i = 0; i < COUNT; i++) /* still falling at the end */
        values[i] = 1.0 + exp(-(double)i / COUNT);
    (void)kf_series_settled(values, COUNT, &settled);
    assert_false(settled);
}

static void test_short_and_constant_series(void **state) {
    (void)state;
    bool settled = true;
    double few[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, same[100];
    kf_series_mean mean = kf_series_settled(few, 10, &settled);
    assert_false(settled);
    assert_true(mean.mean == 5.5 && isinf(mean.half));
    assert_true(isnan(kf_series_mean_of(few, 0).mean));
    for (int i = 0; i < 100; i++)
        same[i] = 0.25;
    mean = kf_series_settled(same, 100, &settled);
    assert_true(settled && mean.mean == 0.25 && mean.half == 0.0 && mean.rms == 0.0);
    same[70] = (double)NAN;
    assert_true(isnan(kf_series_settled(same, 100, &settled).mean) && !settled);
    /* Over twelve periods of a vortex street the mean of a sine is right, and its rms is the amplitude
     * over the root of 2. */
    static double street[1200];
    for (int i = 0; i < 1200; i++)
        street[i] = 1.3 + 0.1 * sin(6.283185307179586 * i / 100.0);
    mean = kf_series_mean_of(street, 1200);
    assert_true(fabs(mean.mean - 1.3) < 1e-9 && fabs(mean.rms - 0.1 / sqrt(2.0)) < 1e-6 && mean.half < 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interval_of_correlated_values),
        cmocka_unit_test(test_start_is_cut_off),
        cmocka_unit_test(test_what_drifts_has_not_settled),
        cmocka_unit_test(test_short_and_constant_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
