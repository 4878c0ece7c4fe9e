/* Tests the surrogate's mathematics against differences, quadrature and a dense solution of its own.
 * Faults: a wrong derivative or factor. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/statistics/statistics.h"
#include "base/util/random.h"
#include "harness/search/surrogate.h"
#include "harness/search/trend.h"

enum { FEATURES = 3, COUNT = 9 };

static double uniform(uint64_t *random) {
    return kf_random_unit(random);
}

static void make_points(float features[COUNT][FEATURES], double targets[COUNT], kf_lengths *lengths) {
    uint64_t random = 5;
    double mean = 0;
    memset(lengths, 0, sizeof *lengths);
    for (int i = 0; i < COUNT; i++) {
        for (int f = 0; f < FEATURES; f++)
            features[i][f] = (float)uniform(&random);
        targets[i] = sin(5 * (double)features[i][0]) + (double)features[i][1] + 0.1 * uniform(&random);
        mean += targets[i] / COUNT;
    }
    for (int i = 0; i < COUNT; i++)
        targets[i] -= mean;
    for (int f = 0; f < FEATURES; f++)
        lengths->logarithm[f] = -0.7 + 0.5 * f;
    lengths->noise = 0.02;
}

static double kernel(const float *a, const float *b, const kf_lengths *lengths) {
    double square = 0, effects = 0;
    for (int f = 0; f < FEATURES; f++) {
        const double d = ((double)a[f] - (double)b[f]) / exp(lengths->logarithm[f]);
        square += d * d;
        effects += 1 / (1 + d * d) / FEATURES;
    }
    return 0.5 * effects + 0.5 * pow(1 + square / 4, -2);
}

/* Solves a x = b by elimination with pivots. Returns the logarithm of the determinant's size. */
static double solve(double a[COUNT][COUNT], double x[COUNT]) {
    double logarithm = 0;
    for (int k = 0; k < COUNT; k++) {
        int pivot = k;
        for (int i = k + 1; i < COUNT; i++)
            if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
        for (int j = 0; j < COUNT; j++) {
            const double kept = a[k][j];
            a[k][j] = a[pivot][j];
            a[pivot][j] = kept;
        }
        const double kept = x[k];
        x[k] = x[pivot];
        x[pivot] = kept;
        logarithm += log(fabs(a[k][k]));
        for (int i = k + 1; i < COUNT; i++) {
            const double share = a[i][k] / a[k][k];
            for (int j = k; j < COUNT; j++)
                a[i][j] -= share * a[k][j];
            x[i] -= share * x[k];
        }
    }
    for (int k = COUNT - 1; k >= 0; k--) {
        for (int j = k + 1; j < COUNT; j++)
            x[k] -= a[k][j] * x[j];
        x[k] /= a[k][k];
    }
    return logarithm;
}

static double fill_and_solve(float features[COUNT][FEATURES], const kf_lengths *lengths, double x[COUNT]) {
    double a[COUNT][COUNT];
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++)
            a[i][j] = kernel(features[i], features[j], lengths) + (i == j ? lengths->noise : 0);
    return solve(a, x);
}

/* The posterior is log det K / 2 + n/2 log(y K^-1 y / n), plus the beliefs that lengths are about 1, up to
 * a factor e, and noise about e^-6.9, up to e^2. */
static void the_posterior_is_that_of_a_gaussian_process(void **state) {
    (void)state;
    float features[COUNT][FEATURES];
    double targets[COUNT], solution[COUNT], gradient[FEATURES + 1], squares = 0;
    kf_lengths lengths;
    make_points(features, targets, &lengths);
    memcpy(solution, targets, sizeof solution);
    double expected = 0.5 * fill_and_solve(features, &lengths, solution);
    for (int i = 0; i < COUNT; i++)
        squares += targets[i] * solution[i];
    expected += 0.5 * COUNT * log(squares / COUNT);
    for (int f = 0; f < FEATURES; f++)
        expected += 0.5 * lengths.logarithm[f] * lengths.logarithm[f];
    expected += 0.5 * pow((log(lengths.noise) + 6.9) / 2, 2);
    const double value = kf_lengths_posterior(&lengths, FEATURES, COUNT, features[0], targets, gradient);
    assert_true(fabs(value - expected) < 1e-5);
}

static void the_gradient_is_that_of_differences(void **state) {
    (void)state;
    static const double STEP = 1e-5;
    float features[COUNT][FEATURES];
    double targets[COUNT], gradient[FEATURES + 1], unused[FEATURES + 1];
    kf_lengths lengths;
    make_points(features, targets, &lengths);
    (void)kf_lengths_posterior(&lengths, FEATURES, COUNT, features[0], targets, gradient);
    for (int p = 0; p <= FEATURES; p++) {
        double sides[2];
        for (int side = 0; side < 2; side++) {
            kf_lengths moved = lengths;
            const double by = side == 0 ? -STEP : STEP;
            if (p < FEATURES)
                moved.logarithm[p] += by;
            else
                moved.noise *= exp(by);
            sides[side] = kf_lengths_posterior(&moved, FEATURES, COUNT, features[0], targets, unused);
        }
        const double slope = (sides[1] - sides[0]) / (2 * STEP);
        assert_true(fabs(gradient[p]) > 1e-3); /* a zero would hide a wrong sign */
        assert_true(fabs(slope - gradient[p]) < 1e-5 * (1 + fabs(slope)));
    }
}

/* The fit ends with a better posterior than its start. */
static void fitting_descends(void **state) {
    (void)state;
    float features[COUNT][FEATURES];
    double targets[COUNT], gradient[FEATURES + 1];
    kf_lengths lengths;
    make_points(features, targets, &lengths);
    const double before = kf_lengths_posterior(&lengths, FEATURES, COUNT, features[0], targets, gradient);
    kf_lengths_fit(&lengths, FEATURES, COUNT, features[0], targets, 60);
    const double after = kf_lengths_posterior(&lengths, FEATURES, COUNT, features[0], targets, gradient);
    assert_true(after < before - 0.1);
    for (int f = 0; f < FEATURES; f++)
        assert_true(fabs(gradient[f]) < 0.1);
}

/* Predictions with points one by one, before and after the candidate was added, agree with one dense
 * solution. */
static void predictions_are_those_of_a_dense_solution(void **state) {
    (void)state;
    float features[COUNT][FEATURES];
    double targets[COUNT], solution[COUNT], covariance[COUNT], mean = 0, explained = 0, signal = 0;
    kf_lengths lengths;
    make_points(features, targets, &lengths);
    const float candidate[FEATURES] = {0.31F, 0.62F, 0.17F};
    kf_surrogate *surrogate = kf_surrogate_open();
    kf_surrogate_reset(surrogate, FEATURES, &lengths);
    int number = -1, late = -1;
    for (int i = 0; i < COUNT; i++) {
        if (i == 3) number = kf_surrogate_add_candidate(surrogate, candidate);
        kf_surrogate_set_target(surrogate, kf_surrogate_add_point(surrogate, features[i]), targets[i]);
    }
    late = kf_surrogate_add_candidate(surrogate, candidate);
    memcpy(solution, targets, sizeof solution);
    (void)fill_and_solve(features, &lengths, solution);
    for (int i = 0; i < COUNT; i++) {
        covariance[i] = kernel(features[i], candidate, &lengths);
        mean += covariance[i] * solution[i];
        signal += targets[i] * solution[i] / COUNT;
    }
    double inverse[COUNT];
    memcpy(inverse, covariance, sizeof inverse);
    (void)fill_and_solve(features, &lengths, inverse);
    for (int i = 0; i < COUNT; i++)
        explained += covariance[i] * inverse[i];
    for (int which = 0; which < 2; which++) {
        double value, deviation;
        kf_surrogate_predict(surrogate, which == 0 ? number : late, &value, &deviation);
        assert_true(fabs(value - mean) < 1e-4);
        assert_true(fabs(deviation - sqrt(signal * (1 - explained))) < 1e-3);
    }
    kf_surrogate_close(surrogate);
}

/* Each point is predicted by a dense solution in which its own equation gives it no weight. */
static void agreement_is_that_of_leaving_one_out(void **state) {
    (void)state;
    float features[COUNT][FEATURES];
    double targets[COUNT], predicted[COUNT];
    kf_lengths lengths;
    make_points(features, targets, &lengths);
    kf_surrogate *surrogate = kf_surrogate_open();
    kf_surrogate_reset(surrogate, FEATURES, &lengths);
    assert_true(isnan(kf_surrogate_agreement(surrogate)));
    for (int i = 0; i < COUNT; i++) /* a mean of 3, which must not matter */
        kf_surrogate_set_target(surrogate, kf_surrogate_add_point(surrogate, features[i]), targets[i] + 3);
    for (int left = 0; left < COUNT; left++) {
        double matrix[COUNT][COUNT], solution[COUNT];
        memcpy(solution, targets, sizeof solution);
        solution[left] = 0;
        for (int i = 0; i < COUNT; i++)
            for (int j = 0; j < COUNT; j++) {
                const double own = i == j ? 1.0 : 0.0;
                matrix[i][j] = i == left || j == left
                                   ? own
                                   : kernel(features[i], features[j], &lengths) + lengths.noise * own;
            }
        (void)solve(matrix, solution);
        predicted[left] = 0;
        for (int i = 0; i < COUNT; i++)
            if (i != left) predicted[left] += kernel(features[left], features[i], &lengths) * solution[i];
    }
    const double found = kf_rank_correlation(targets, predicted, COUNT);
    assert_true(found > 0 && found < 1); /* otherwise nothing would have been compared */
    assert_true(fabs(kf_surrogate_agreement(surrogate) - found) < 1e-9);
    kf_surrogate_close(surrogate);
}

/* Integrates (u - t) over the normal density below u, by Simpson's rule from 30 deviations on. */
static double improvement_by_quadrature(double u) {
    enum { STEPS = 40000 };
    const double low = u - 30 < -40 ? u - 30 : -40, h = (u - low) / STEPS;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double t = low + i * h, weight = i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * (u - t) * exp(-0.5 * t * t) * 0.3989422804014327;
    }
    return sum * h / 3;
}

static void improvement_is_that_of_quadrature(void **state) {
    (void)state;
    for (int k = -18; k <= 24; k++) {
        const double u = 0.25 * k;
        const double expected = log(improvement_by_quadrature(u)),
                     value = (double)kf_log_improvement((float)u);
        /* Single precision, and the 1e-12 that keeps the logarithm finite, matter most at the far end. */
        assert_true(fabs(value - expected) < (u < -3.5 ? 0.05 : 2e-3));
    }
    for (int k = 0; k < 10; k++) {
        const double u = 1.5 * k - 20;
        assert_true(fabs((double)kf_log_improvement((float)u) - log(improvement_by_quadrature(u))) < 0.01);
    }
    for (int k = -900; k < 600; k++)
        assert_true(kf_log_improvement(0.01F * (float)k) <
                    kf_log_improvement(0.01F * (float)(k + 1)) + 1e-3F);
}

/* Expected improvement prefers the better mean where deviations are alike, and the more uncertain
 * candidate where means are. */
static void the_choice_weighs_mean_and_deviation(void **state) {
    (void)state;
    kf_lengths lengths = {.noise = 1e-3};
    const float points[2][1] = {{0.0F}, {1.0F}}, candidates[3][1] = {{0.1F}, {0.5F}, {0.9F}};
    const float offsets[3] = {0, 0, 0};
    bool skip[3] = {false, true, false};
    kf_surrogate *surrogate = kf_surrogate_open();
    kf_surrogate_reset(surrogate, 1, &lengths);
    for (int i = 0; i < 3; i++)
        kf_surrogate_add_candidate(surrogate, candidates[i]);
    for (int i = 0; i < 2; i++)
        kf_surrogate_set_target(surrogate, kf_surrogate_add_point(surrogate, points[i]), i == 0 ? 1 : -1);
    assert_int_equal(kf_surrogate_choose(surrogate, -1, offsets, skip, 1), 2);
    skip[1] = false;
    assert_int_equal(kf_surrogate_choose(surrogate, -1, offsets, skip, 100), 1);
    kf_surrogate_vote(surrogate, candidates[2], false);
    kf_surrogate_vote(surrogate, candidates[2], false);
    skip[1] = true;
    const float led[3] = {-3, 0, 0};
    assert_int_equal(kf_surrogate_choose(surrogate, -1, led, skip, 1), 0);
    kf_surrogate_close(surrogate);
}

/* Ridge regression towards slope 1 is solved by hand: x = -1, 0, 1 and y = slope x + 3. */
static void a_trend_is_the_line_of_least_squares(void **state) {
    (void)state;
    enum { MANY = 300 };
    const double x[3] = {-1, 0, 1}, up[3] = {1, 3, 5}, down[3] = {4, 3, 2}, right[3] = {2, 3, 4};
    const double variance = 2.0 / 3, belief = 2 * (variance + 0.01);
    kf_trend trend = kf_trend_fit(x, right, 3);
    assert_true(fabs(trend.slope - 1) < 1e-12 && fabs(trend.offset - 3) < 1e-12);
    trend = kf_trend_fit(x, up, 3);
    assert_true(fabs(trend.slope - (3 * 2 * variance + belief) / (3 * variance + belief)) < 1e-12);
    assert_true(fabs(trend.offset - 3) < 1e-12);
    trend = kf_trend_fit(x, down, 3); /* -1 with three points, 1 believed as two more: not below 0 */
    assert_true(trend.slope == 0 && fabs(trend.offset - 3) < 1e-12);
    double prior[MANY], measured[MANY];
    for (int i = 0; i < MANY; i++) {
        prior[i] = 5 + 0.01 * i;
        measured[i] = 2 + 0.4 * prior[i] + (i % 2 == 0 ? 0.05 : -0.05);
    }
    trend = kf_trend_fit(prior, measured, MANY);
    assert_true(fabs(trend.slope - 0.4) < 0.01);
    assert_true(fabs(trend.offset + trend.slope * 6.5 - (2 + 0.4 * 6.5)) < 0.01);
    trend = kf_trend_fit(NULL, NULL, 0);
    assert_true(trend.slope == 0 && trend.offset == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_posterior_is_that_of_a_gaussian_process),
        cmocka_unit_test(the_gradient_is_that_of_differences),
        cmocka_unit_test(fitting_descends),
        cmocka_unit_test(predictions_are_those_of_a_dense_solution),
        cmocka_unit_test(agreement_is_that_of_leaving_one_out),
        cmocka_unit_test(improvement_is_that_of_quadrature),
        cmocka_unit_test(the_choice_weighs_mean_and_deviation),
        cmocka_unit_test(a_trend_is_the_line_of_least_squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
