/* Tests order statistics against values by hand. Faults: a wrong rank or interval. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/statistics/cholesky.h"
#include "base/statistics/statistics.h"

static void expect(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected)))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

static void test_nothing_gives_nan(void **state) {
    (void)state;
    kf_summary summary = kf_summarise(NULL, 0);
    assert_int_equal(summary.count, 0);
    assert_true(isnan(summary.median) && isnan(summary.q1) && isnan(summary.q3));
    assert_true(isnan(summary.minimum) && isnan(summary.maximum) && isnan(summary.low) &&
                isnan(summary.high));
    assert_true(isnan(kf_median(NULL, 0)));
    assert_true(isnan(kf_summary_halfwidth(&summary)));
}

static void test_one_value_is_everything(void **state) {
    (void)state;
    double value = 3.5;
    kf_summary summary = kf_summarise(&value, 1);
    expect(summary.median, 3.5);
    expect(summary.q1, 3.5);
    expect(summary.q3, 3.5);
    expect(summary.low, 3.5);
    expect(summary.high, 3.5);
    assert_true(kf_summary_halfwidth(&summary) == 0);
}

static void test_values_keep_their_order(void **state) {
    (void)state;
    double values[] = {4, 1, 3, 2};
    kf_summary summary = kf_summarise(values, 4);
    expect(summary.median, 2.5);
    expect(summary.q1, 1.75); /* place 0.75 between 1 and 2 */
    expect(summary.q3, 3.25);
    expect(summary.minimum, 1);
    expect(summary.maximum, 4);
    expect(kf_median(values, 4), 2.5);
    expect(kf_median(values, 3), 3);
    assert_true(values[0] == 4 && values[1] == 1 && values[2] == 3 && values[3] == 2);
}

/* n = 15: 1.96 sqrt 15 = 7.591, so ranks floor(3.70) = 3 and ceil(12.30) = 13.
 * n = 25: 9.8, ranks floor(7.6) = 7 and ceil(18.4) = 19.  n = 100: 19.6, ranks floor(40.2) = 40 and
 * ceil(60.8) = 61. n = 4: 3.92, ranks floor(0.04) = 0 and ceil(4.96) = 5, both clamped. */
static void test_interval_of_the_median(void **state) {
    (void)state;
    static const struct {
        size_t count;
        double low, high;
    } cases[] = {{4, 1, 4}, {5, 1, 5}, {15, 3, 13}, {25, 7, 19}, {100, 40, 61}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        double values[100];
        for (size_t i = 0; i < cases[c].count; i++) /* ranks 1..n in a scrambled order */
            values[i] = (double)(i * 7 % cases[c].count + 1);
        if (cases[c].count % 7 == 0) fail();
        kf_summary summary = kf_summarise(values, cases[c].count);
        expect(summary.low, cases[c].low);
        expect(summary.high, cases[c].high);
        expect(summary.median, ((double)cases[c].count + 1) / 2);
        expect(kf_summary_halfwidth(&summary), (cases[c].high - cases[c].low) / ((double)cases[c].count + 1));
    }
}

static void test_infinite_and_missing_values(void **state) {
    (void)state;
    double values[] = {INFINITY, 1, 2, 3, 4};
    kf_summary summary = kf_summarise(values, 5);
    expect(summary.median, 3);
    expect(summary.q3, 4);
    assert_true(isinf(summary.maximum));
    double missing[] = {NAN, 2, 1};
    expect(kf_median(missing, 3), 2); /* a NAN ranks last */
}

static void test_rank_correlation(void **state) {
    (void)state;
    const double up[] = {1, 2, 3, 4, 5}, squares[] = {1, 4, 9, 16, 25}, down[] = {5, 4, 3, 2, 1};
    const double tied[] = {1, 2, 2, 3, 4}, mixed[] = {2, 1, 4, 3, 5};
    assert_true(fabs(kf_rank_correlation(up, squares, 5) - 1) < 1e-12);
    assert_true(fabs(kf_rank_correlation(up, down, 5) + 1) < 1e-12);
    assert_true(fabs(kf_rank_correlation(up, mixed, 5) - 0.8) < 1e-12); /* 1 - 6*4/(5*24) */
    assert_true(fabs(kf_rank_correlation(up, tied, 5) - 9.5 / sqrt(10 * 9.5)) < 1e-12);
    assert_true(isnan(kf_rank_correlation(up, down, 1)));
}

/* These are quantiles for 0.05 from published tables. */
static void test_student_as_in_tables(void **state) {
    (void)state;
    const double quantiles[] = {12.7062, 4.30265, 3.18245, 2.77645, 2.57058}, large[] = {2.22814, 2.13145};
    for (int freedom = 1; freedom <= 5; freedom++)
        assert_true(fabs(kf_student_outside(quantiles[freedom - 1], freedom) - 0.05) < 1e-6);
    assert_true(fabs(kf_student_outside(large[0], 10) - 0.05) < 1e-6);
    assert_true(fabs(kf_student_outside(large[1], 15) - 0.05) < 1e-6);
    assert_true(fabs(kf_student_outside(0, 7) - 1) < 1e-12);
    assert_true(kf_student_outside(1e6, 20) >= 0);
}

/* A = B B^T + I of numbers that do not repeat. Its factor reproduces it, and its inverse times A is the
 * unit matrix. */
static void test_cholesky_reproduces_its_matrix(void **state) {
    (void)state;
    enum { N = 13 };
    double matrix[N * N], factor[N * N], inverse[N * N], wanted[N], right[N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            matrix[i * N + j] = i == j ? 1 : 0;
            for (int k = 0; k < N; k++)
                matrix[i * N + j] += sin(i * N + k + 1) * sin(j * N + k + 1);
        }
    memcpy(factor, matrix, sizeof matrix);
    assert_true(kf_cholesky_factor(N, factor));
    for (int i = 0; i < N; i++) {
        right[i] = 0;
        wanted[i] = cos(i);
        for (int j = 0; j < N; j++)
            right[i] += matrix[i * N + j] * cos(j);
    }
    kf_cholesky_solve(N, factor, right);
    memcpy(inverse, factor, sizeof factor);
    kf_cholesky_invert(N, inverse);
    for (int i = 0; i < N; i++) {
        assert_true(fabs(right[i] - wanted[i]) < 1e-12);
        for (int j = 0; j < N; j++) {
            double product = 0;
            for (int k = 0; k < N; k++)
                product += matrix[i * N + k] * inverse[j > k ? j * N + k : k * N + j];
            assert_true(fabs(product - (i == j ? 1 : 0)) < 1e-12);
        }
    }
    const double bad[4] = {1, 2, 2, 1};
    memcpy(factor, bad, sizeof bad);
    assert_false(kf_cholesky_factor(2, factor));
    factor[0] = (double)NAN;
    assert_false(kf_cholesky_factor(1, factor));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank_correlation),
        cmocka_unit_test(test_student_as_in_tables),
        cmocka_unit_test(test_cholesky_reproduces_its_matrix),
        cmocka_unit_test(test_nothing_gives_nan),
        cmocka_unit_test(test_one_value_is_everything),
        cmocka_unit_test(test_values_keep_their_order),
        cmocka_unit_test(test_interval_of_the_median),
        cmocka_unit_test(test_infinite_and_missing_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
