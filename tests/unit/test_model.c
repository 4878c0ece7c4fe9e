/* Tests the surrogate and its features. Faults: a value that is not exact where it can be, or that depends
 * on the order in which results came. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/random.h"
#include "base/util/text.h"
#include "harness/search/surrogate.h"

enum { FEATURES = 5, POINTS = 60, CANDIDATES = 200 };

static void draw(uint64_t *random, float *features) {
    for (int f = 0; f < FEATURES; f++)
        features[f] = (float)kf_random_unit(random);
}

static double truth(const float *x) {
    return 3 * (double)x[0] - 2 * cos(4 * (double)x[1]) +
           (double)(x[2] * x[3]); /* the last feature is no matter */
}

static kf_lengths lengths_of(double logarithm, double noise) {
    kf_lengths lengths = {.noise = noise};
    for (int f = 0; f < FEATURES; f++)
        lengths.logarithm[f] = logarithm;
    return lengths;
}

static void test_the_surrogate_passes_through_its_points(void **state) {
    (void)state;
    kf_surrogate *surrogate = kf_surrogate_open();
    const kf_lengths lengths = lengths_of(0, 1e-6);
    float points[POINTS][FEATURES];
    uint64_t random = 7;
    kf_surrogate_reset(surrogate, FEATURES, &lengths);
    for (int i = 0; i < POINTS; i++) {
        draw(&random, points[i]);
        assert_int_equal(kf_surrogate_add_candidate(surrogate, points[i]), i);
    }
    for (int i = 0; i < POINTS; i++)
        kf_surrogate_set_target(surrogate, kf_surrogate_add_point(surrogate, points[i]), truth(points[i]));
    for (int i = 0; i < POINTS; i++) {
        double mean, deviation;
        kf_surrogate_predict(surrogate, i, &mean, &deviation);
        assert_true(fabs(mean - truth(points[i])) < 0.02);
        assert_true(deviation < 0.1);
    }
    kf_surrogate_close(surrogate);
}

/* Candidates before points, points before candidates, and late targets give the same predictions. */
static void test_order_does_not_matter(void **state) {
    (void)state;
    const kf_lengths lengths = lengths_of(-0.3, 1e-3);
    float points[POINTS][FEATURES], candidates[CANDIDATES][FEATURES];
    uint64_t random = 3;
    for (int i = 0; i < POINTS; i++)
        draw(&random, points[i]);
    for (int i = 0; i < CANDIDATES; i++)
        draw(&random, candidates[i]);
    double means[3][CANDIDATES], deviations[3][CANDIDATES];
    for (int way = 0; way < 3; way++) {
        kf_surrogate *surrogate = kf_surrogate_open();
        kf_surrogate_reset(surrogate, FEATURES, &lengths);
        for (int i = 0; i < CANDIDATES && way != 1; i++)
            (void)kf_surrogate_add_candidate(surrogate, candidates[i]);
        for (int i = 0; i < POINTS; i++) {
            int point = kf_surrogate_add_point(surrogate, points[i]);
            if (way != 2) kf_surrogate_set_target(surrogate, point, truth(points[i]));
        }
        for (int i = 0; i < CANDIDATES && way == 1; i++)
            (void)kf_surrogate_add_candidate(surrogate, candidates[i]);
        for (int i = POINTS - 1; i >= 0 && way == 2; i--) {
            kf_surrogate_set_target(surrogate, i, truth(points[i]));
            kf_surrogate_predict(surrogate, 0, &means[2][0], &deviations[2][0]); /* half of them are known */
        }
        for (int i = 0; i < CANDIDATES; i++)
            kf_surrogate_predict(surrogate, i, &means[way][i], &deviations[way][i]);
        kf_surrogate_close(surrogate);
    }
    for (int way = 1; way < 3; way++)
        for (int i = 0; i < CANDIDATES; i++) {
            assert_true(fabs(means[way][i] - means[0][i]) < 1e-3);
            assert_true(fabs(deviations[way][i] - deviations[0][i]) < 1e-3);
        }
}

/* Fitted lengths leave out what has no effect, and predict better than the first guess. */
static void test_fitted_lengths_predict_better(void **state) {
    (void)state;
    float features[POINTS * FEATURES];
    double targets[POINTS], mean = 0, variance = 0;
    uint64_t random = 11;
    for (int i = 0; i < POINTS; i++) {
        draw(&random, features + (size_t)i * FEATURES);
        targets[i] = truth(features + (size_t)i * FEATURES);
        mean += targets[i] / POINTS;
    }
    for (int i = 0; i < POINTS; i++)
        variance += (targets[i] - mean) * (targets[i] - mean) / POINTS;
    for (int i = 0; i < POINTS; i++)
        targets[i] = (targets[i] - mean) / sqrt(variance);
    kf_lengths lengths = lengths_of(0, 1e-3);
    kf_lengths_fit(&lengths, FEATURES, POINTS, features, targets, 40);
    assert_true(lengths.logarithm[4] > lengths.logarithm[1] + 0.5);
    assert_true(lengths.logarithm[4] > lengths.logarithm[0]);
    assert_true(lengths.noise > 0 && lengths.noise < 0.05);
    double errors[2] = {0, 0};
    for (int fitted = 0; fitted < 2; fitted++) {
        const kf_lengths first = lengths_of(0, 1e-3);
        kf_surrogate *surrogate = kf_surrogate_open();
        kf_surrogate_reset(surrogate, FEATURES, fitted ? &lengths : &first);
        for (int i = 0; i < POINTS; i++)
            kf_surrogate_set_target(
                surrogate, kf_surrogate_add_point(surrogate, features + (size_t)i * FEATURES), targets[i]);
        uint64_t other = 99;
        for (int i = 0; i < CANDIDATES; i++) {
            float x[FEATURES];
            double predicted, deviation;
            draw(&other, x);
            kf_surrogate_predict(surrogate, kf_surrogate_add_candidate(surrogate, x), &predicted, &deviation);
            errors[fitted] += fabs(predicted - (truth(x) - mean) / sqrt(variance)) / CANDIDATES;
        }
        kf_surrogate_close(surrogate);
    }
    print_message("mean error: lengths of 1 %.3f, fitted %.3f\n", errors[0], errors[1]);
    assert_true(errors[1] < errors[0]);
}

/* A candidate beside failures is not chosen although it promises as much. */
static void test_failures_are_learnt(void **state) {
    (void)state;
    const float left[FEATURES] = {0.1F}, right[FEATURES] = {0.9F}, middle[FEATURES] = {0.5F};
    const float offsets[2] = {0};
    const bool skip[2] = {false};
    const kf_lengths lengths = lengths_of(-1.5, 1e-3);
    for (int failing = 0; failing < 2; failing++) {
        kf_surrogate *surrogate = kf_surrogate_open();
        kf_surrogate_reset(surrogate, FEATURES, &lengths);
        (void)kf_surrogate_add_candidate(surrogate, left);
        (void)kf_surrogate_add_candidate(surrogate, right);
        kf_surrogate_set_target(surrogate, kf_surrogate_add_point(surrogate, middle), 0);
        kf_surrogate_vote(surrogate, middle, true);
        kf_surrogate_vote(surrogate, failing == 0 ? left : right, false);
        assert_int_equal(kf_surrogate_choose(surrogate, 0, offsets, skip, 1), 1 - failing);
        kf_surrogate_close(surrogate);
    }
}

static void test_features_have_the_logarithm_of_a_block(void **state) {
    (void)state;
    static const long blocks[] = {32, 48, 64};
    kf_config configs[12];
    int count = 0;
    for (int b = 0; b < 3; b++)
        for (int t = 1; t <= 2; t++)
            for (int k = 0; k < 2; k++) {
                memset(&configs[count], 0, sizeof configs[count]);
                kf_copy_text(configs[count].system, sizeof configs[count].system, "s");
                kf_config_set_integer(&configs[count], "block", blocks[b]);
                kf_config_set_integer(&configs[count], "constant", 7);
                kf_config_set_integer(&configs[count], "tile", t);
                kf_config_set_name(&configs[count++], "kind", k == 0 ? "x" : "y");
            }
    kf_space *space = NULL;
    assert_int_equal(kf_space_from_configs("test", configs, (size_t)count, &space, NULL), KF_OK);
    kf_features *features = kf_features_open(space);
    /* block has its logarithm and its powers of two, kind and tile have two values each, constant has one. */
    assert_int_equal(kf_features_count(features), 4);
    float values[KF_FEATURES], low[KF_FEATURES] = {0}, high[KF_FEATURES] = {0};
    for (uint64_t i = 0; i < kf_space_size(space); i++) {
        int positions[KF_CONFIG_VALUES];
        kf_space_positions(space, i, positions);
        kf_features_of(features, positions, values);
        for (int f = 0; f < 4; f++) {
            assert_true(values[f] >= 0 && values[f] <= 1);
            low[f] = i == 0 ? values[f] : fminf(low[f], values[f]);
            high[f] = i == 0 ? values[f] : fmaxf(high[f], values[f]);
        }
    }
    for (int f = 0; f < 4; f++)
        assert_true(low[f] == 0 && high[f] == 1);
    kf_features_close(features);
    kf_space_free(space);
}

/* Fine features follow the coarse ones: a quotient, which is equal where as many nodes fall to a thread,
 * and a coordinate for each value of a code. */
static void test_fine_features(void **state) {
    (void)state;
    enum { NUMBERS = 3 };
    static const long codes[] = {0, 1, 2}, threads[] = {32, 64, 128}, tiles[] = {128, 256, 512};
    kf_config configs[27];
    for (int i = 0; i < 27; i++) {
        memset(&configs[i], 0, sizeof configs[i]);
        kf_copy_text(configs[i].system, sizeof configs[i].system, "s");
        kf_config_set_integer(&configs[i], "a_code", codes[i / 9]);
        kf_config_set_integer(&configs[i], "threads", threads[i / 3 % 3]);
        kf_config_set_integer(&configs[i], "tile", tiles[i % 3]);
    }
    kf_space *space = NULL;
    assert_int_equal(kf_space_from_configs("test", configs, 27, &space, NULL), KF_OK);
    kf_features *features = kf_features_open(space);
    const int coarse = kf_features_coarse_count(features), all = kf_features_count(features);
    assert_int_equal(coarse, NUMBERS + 3); /* and their products */
    assert_int_equal(all, coarse + 3 + 3); /* the code's values, quotients */
    float values[27][KF_FEATURES];
    for (int i = 0; i < 27; i++) {
        uint64_t index = 0;
        int positions[KF_CONFIG_VALUES];
        assert_true(kf_space_index(space, &configs[i], &index, NULL, 0));
        kf_space_positions(space, index, positions);
        kf_features_of(features, positions, values[i]);
        for (int f = 0; f < all; f++)
            assert_true(values[i][f] >= 0 && values[i][f] <= 1);
    }
    const int quotient = all - 1; /* of threads and tile */
    for (int i = 0; i < 27; i++)
        for (int j = 0; j < 27; j++) {
            double square = 0;
            for (int f = coarse; f < coarse + 3; f++)
                square += (double)((values[i][f] - values[j][f]) * (values[i][f] - values[j][f]));
            assert_true(fabs(square - (i / 9 == j / 9 ? 0.0 : 1.0)) < 1e-6);
            const bool same = tiles[i % 3] * threads[j / 3 % 3] == tiles[j % 3] * threads[i / 3 % 3];
            assert_int_equal(fabsf(values[i][quotient] - values[j][quotient]) < 1e-6F, same);
        }
    kf_features_close(features);
    kf_space_free(space);
}

/* After a reset with fewer features the others have no effect, and with more they do. */
static void test_as_many_features_as_asked_for(void **state) {
    (void)state;
    const kf_lengths lengths = lengths_of(-1, 1e-3);
    const float point[FEATURES] = {0}, near[FEATURES] = {0}, far[FEATURES] = {[FEATURES - 1] = 1};
    kf_surrogate *surrogate = kf_surrogate_open();
    for (int count = FEATURES - 1; count <= FEATURES; count++) {
        double mean[2], deviation[2];
        kf_surrogate_reset(surrogate, count, &lengths);
        (void)kf_surrogate_add_candidate(surrogate, near);
        (void)kf_surrogate_add_candidate(surrogate, far);
        kf_surrogate_set_target(surrogate, kf_surrogate_add_point(surrogate, point), 1);
        for (int i = 0; i < 2; i++)
            kf_surrogate_predict(surrogate, i, &mean[i], &deviation[i]);
        assert_int_equal(deviation[1] > 2 * deviation[0], count == FEATURES);
        if (count < FEATURES) assert_true(fabs(mean[0] - mean[1]) < 1e-6);
    }
    kf_surrogate_close(surrogate);
}

/* --- Against plain formulas --- */

/* The negative logarithm of the posterior of lengths and noise, up to a constant: surrogate.h's kernel, the
 * signal's variance at its best value, and the beliefs of surrogate_fit.c. */
static double plain_posterior(const kf_lengths *lengths, const float *features, const double *targets) {
    double factor[POINTS][POINTS], solution[POINTS], value = 0, squares = 0;
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j <= i; j++) {
            double square = 0, effects = 0;
            for (int f = 0; f < FEATURES; f++) {
                const double own = (double)(features[i * FEATURES + f] - features[j * FEATURES + f]) /
                                   exp(lengths->logarithm[f]);
                square += own * own;
                effects += 1 / (1 + own * own) / FEATURES;
            }
            double sum = 0.5 * pow(1 + square / 4, -2) + 0.5 * effects + (i == j ? lengths->noise : 0);
            for (int k = 0; k < j; k++)
                sum -= factor[i][k] * factor[j][k];
            factor[i][j] = i == j ? sqrt(sum) : sum / factor[j][j];
        }
    for (int i = 0; i < POINTS; i++) {
        solution[i] = targets[i];
        for (int k = 0; k < i; k++)
            solution[i] -= factor[i][k] * solution[k];
        solution[i] /= factor[i][i];
        squares += solution[i] * solution[i];
        value += log(factor[i][i]);
    }
    value += 0.5 * POINTS * log(squares / POINTS);
    for (int f = 0; f < FEATURES; f++)
        value += 0.5 * lengths->logarithm[f] * lengths->logarithm[f];
    const double off = (log(lengths->noise) + 6.9) / 2.0;
    return value + 0.5 * off * off;
}

/* The fit ends in a minimum along every length and the noise, so it followed the right slope. */
static void test_fit_ends_in_a_minimum(void **state) {
    (void)state;
    float features[POINTS * FEATURES];
    double targets[POINTS];
    uint64_t random = 5;
    for (int i = 0; i < POINTS; i++) {
        draw(&random, features + (size_t)i * FEATURES);
        targets[i] =
            (truth(features + (size_t)i * FEATURES) - 1.2) / 1.6 + 0.1 * (kf_random_unit(&random) - 0.5);
    }
    kf_lengths lengths = lengths_of(0, 1e-3);
    kf_lengths_fit(&lengths, FEATURES, POINTS, features, targets, 400);
    const double least = plain_posterior(&lengths, features, targets);
    assert_true(least < plain_posterior(&(kf_lengths){.noise = 1e-3}, features, targets) - 1);
    for (int f = 0; f <= FEATURES; f++)
        for (int side = -1; side <= 1; side += 2) {
            kf_lengths beside = lengths;
            if (f < FEATURES)
                beside.logarithm[f] += 0.02 * side;
            else
                beside.noise *= exp(0.02 * side);
            assert_true(plain_posterior(&beside, features, targets) > least);
        }
}

/* The chosen candidate has the largest expected improvement, by the integral over its possible values. */
static void test_chosen_improves_most(void **state) {
    (void)state;
    const kf_lengths lengths = lengths_of(-0.5, 1e-3);
    static const bool skip[CANDIDATES];
    float offsets[CANDIDATES];
    uint64_t random = 21;
    for (int round = 0; round < 20; round++) {
        kf_surrogate *surrogate = kf_surrogate_open();
        kf_surrogate_reset(surrogate, FEATURES, &lengths);
        float x[FEATURES];
        double best = INFINITY;
        for (int i = 0; i < 12; i++) {
            draw(&random, x);
            kf_surrogate_set_target(surrogate, kf_surrogate_add_point(surrogate, x), truth(x) - 1.2);
            best = fmin(best, truth(x) - 1.2);
        }
        for (int i = 0; i < CANDIDATES; i++) {
            draw(&random, x);
            (void)kf_surrogate_add_candidate(surrogate, x);
            offsets[i] = 0.3F * (float)kf_random_unit(&random);
        }
        double improvements[CANDIDATES], most = 0;
        const int chosen = kf_surrogate_choose(surrogate, best, offsets, skip, 1);
        for (int i = 0; i < CANDIDATES; i++) {
            double mean, deviation;
            kf_surrogate_predict(surrogate, i, &mean, &deviation);
            mean += (double)offsets[i];
            improvements[i] = 0;
            for (int k = -8000; k < 8000; k++) {
                const double z = 1e-3 * k;
                improvements[i] +=
                    fmax(0, best - mean - deviation * z) * exp(-0.5 * z * z) * 1e-3 / 2.5066283;
            }
            most = fmax(most, improvements[i]);
        }
        assert_true(improvements[chosen] > 0.999 * most);
        kf_surrogate_close(surrogate);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_surrogate_passes_through_its_points),
        cmocka_unit_test(test_order_does_not_matter),
        cmocka_unit_test(test_fitted_lengths_predict_better),
        cmocka_unit_test(test_failures_are_learnt),
        cmocka_unit_test(test_features_have_the_logarithm_of_a_block),
        cmocka_unit_test(test_fine_features),
        cmocka_unit_test(test_as_many_features_as_asked_for),
        cmocka_unit_test(test_fit_ends_in_a_minimum),
        cmocka_unit_test(test_chosen_improves_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
