/* Tests the statistics of nights against published values and values by hand, and the error rates of the
 * whole detector on synthetic and recorded nights. Faults: a wrong formula, more false alarms or misses
 * than promised. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util/file.h"
#include "tests/tools/simulate.h"

static void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.9g is not %.9g +- %g", value, expected, tolerance);
}

/* --- Two samples --- */

static void test_share_below(void **state) {
    (void)state;
    static const double low[] = {1, 1, 1, 1, 100}, high[] = {2, 2, 2, 2, 2}, mixed[] = {1, 2};
    assert_near(kf_share_below(low, 5, high, 5), 0.8, 1e-12); /* though its mean is the higher one */
    assert_near(kf_share_below(high, 5, low, 5), 0.2, 1e-12);
    assert_near(kf_share_below(mixed, 2, mixed, 2), 0.5, 1e-12);
    assert_near(kf_share_below(mixed, 2, high, 5), 0.75, 1e-12);
    assert_near(kf_share_below(low, 0, high, 5), 0.5, 1e-12);
}

static void test_mann_whitney_exact(void **state) {
    (void)state;
    const double low[] = {1, 2, 3, 4, 5, 6, 7, 8}, high[] = {11, 12, 13, 14, 15, 16, 17, 18};
    assert_near(kf_mann_whitney(low, 5, high, 5), 2.0 / 252, 1e-12);
    assert_near(kf_mann_whitney(low, 4, high, 4), 2.0 / 70, 1e-12);
    assert_near(kf_mann_whitney(low, 8, high, 8), 2.0 / 12870, 1e-12);
    assert_near(kf_mann_whitney(low, 3, high, 5), 2.0 / 56, 1e-12);
    assert_near(kf_mann_whitney(high, 5, low, 5), 2.0 / 252, 1e-12);
    /* U = 1: one of the pairs the other way round. */
    const double nearly[] = {4.5, 12, 13, 14, 15};
    assert_near(kf_mann_whitney(low, 5, nearly, 5), 4.0 / 252, 1e-12);
    /* R: wilcox.test(c(0.8,0.83,1.89,1.04,1.45,1.38,1.91,1.64,0.73,1.46), c(1.15,0.88,0.9,0.74,1.21)): W =
     * 35, p = 0.2544. */
    const double x[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
    const double y[] = {1.15, 0.88, 0.90, 0.74, 1.21};
    assert_near(kf_mann_whitney(x, 10, y, 5), 0.2544, 5e-5);
}

static void test_mann_whitney_ties(void **state) {
    (void)state;
    const double same[] = {1, 1, 1, 1, 1};
    assert_near(kf_mann_whitney(same, 5, same, 5), 1.0, 1e-12);
    /* {1,2,2} against {2,3,3}: ranks 1,3,3,3,5.5,5.5. Of the 20 choices of three, those whose sum is as far
     * from 10.5 as 7: sums 7 (three ways) and 14 (three ways). */
    const double a[] = {1, 2, 2}, b[] = {2, 3, 3};
    assert_near(kf_mann_whitney(a, 3, b, 3), 6.0 / 20, 1e-12);
    assert_near(kf_mann_whitney(a, 0, b, 3), 1.0, 0);
}

/* Where the exact distribution ends, nothing jumps, whether values are equal or not. */
static void test_mann_whitney_of_many(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        double a[65], b[65];
        for (int i = 0; i < 65; i++) {
            const int eighth = i / 8, later = (i + (kind == 2 ? 10 : 13)) / 8;
            a[i] = kind < 2 ? i : eighth;
            b[i] = kind < 2 ? i + (kind == 0 ? 9.5 : 12.5) : later;
        }
        const double exact = kf_mann_whitney(a, 64, b, 64), many = kf_mann_whitney(a, 65, b, 65);
        if (!(exact < 0.2 && many > 0.65 * exact && many < 1.4 * exact))
            fail_msg("%d: exactly %.4g, nearly %.4g", kind, exact, many);
    }
    double same[100] = {0};
    assert_near(kf_mann_whitney(same, 100, same, 100), 1.0, 0);
}

static void test_holm_corrects_by_hand(void **state) {
    (void)state;
    /* 0.01 * 4, 0.013 * 3 (not below the one before), 0.03 * 2, 0.2. */
    double p[] = {0.03, 0.01, 0.2, 0.013};
    kf_holm(p, 4);
    assert_near(p[1], 0.04, 1e-12);
    assert_near(p[3], 0.04, 1e-12);
    assert_near(p[0], 0.06, 1e-12);
    assert_near(p[2], 0.2, 1e-12);
    double all[] = {0.9, 0.8};
    kf_holm(all, 2);
    assert_near(all[1], 1.0, 0);
    kf_holm(NULL, 0);
}

static void test_shift_of_two_samples_by_hand(void **state) {
    (void)state;
    const double a[] = {1, 2, 3, 4, 5}, b[] = {11, 12, 13, 14, 15};
    kf_comparison c = kf_compare(a, 5, b, 5);
    assert_near(c.shift, 10, 1e-12);
    /* Ordered differences 6 7 7 8 8 8 ...: the 3rd and the 23rd of 25 (96.8 %). */
    assert_near(c.low, 7, 1e-12);
    assert_near(c.high, 13, 1e-12);
    assert_near(c.probability, 2.0 / 252, 1e-12);
    c = kf_compare(a, 0, b, 5);
    assert_true(isnan(c.shift));
}

/* The interval covers the truth as often as it says: 96.8 % for 5 against 5. */
static void test_intervals_cover_as_often_as_they_say(void **state) {
    (void)state;
    kf_noise_model model = {.process_deviation = 0.01, .seed = 5};
    kf_time_source source = kf_noise_source(&model);
    int covered = 0, count = 4000;
    for (int i = 0; i < count; i++) {
        double a[5], b[5];
        for (int k = 0; k < 5; k++) {
            a[k] = log(source.time(&model, false));
            b[k] = log(source.time(&model, false));
        }
        kf_comparison c = kf_compare(a, 5, b, 5);
        covered += c.low <= 0 && 0 <= c.high;
    }
    assert_near((double)covered / count, 0.968, 0.01);
}

static void test_false_discovery(void **state) {
    (void)state;
    /* Benjamini and Hochberg 1995, section 3.2: 15 probabilities, rate 0.05, the first four are accepted. */
    const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                        0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    bool accepted[15];
    kf_false_discovery(p, 15, 0.05, accepted);
    for (int i = 0; i < 15; i++)
        assert_int_equal(accepted[i], i < 4);
    /* One true among many candidates of 5 against 5 cannot pass, of 8 against 8 it can. */
    double many[7] = {2.0 / 252, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
    kf_false_discovery(many, 7, 0.05, accepted);
    assert_false(accepted[0]);
    many[0] = 2.0 / 12870;
    kf_false_discovery(many, 7, 0.05, accepted);
    assert_true(accepted[0]);
    kf_false_discovery(many, 0, 0.05, accepted);
}

/* --- Change points --- */

/* One night of its own between two levels. */
static void test_a_level_of_one_night(void **state) {
    (void)state;
    enum { NIGHTS = 25, LONELY = 12 };
    double values[NIGHTS];
    kf_change_point points[NIGHTS];
    for (int i = 0; i < NIGHTS; i++)
        values[i] = (i < LONELY ? 1.0 : i == LONELY ? 5.0 : 2.0) + 0.01 * (i % 3);
    assert_int_equal(kf_change_points(values, NIGHTS, 0.001, 0.01, points), 2);
    assert_int_equal(points[0].at, LONELY);
    assert_true(fabs(points[0].shift - (5.0 - 1.01)) < 1e-9);
    assert_int_equal(points[1].at, LONELY + 1);
    assert_true(fabs(points[1].shift - (2.01 - 5.0)) < 1e-9);
}

static void test_change_points(void **state) {
    (void)state;
    double values[40];
    kf_change_point points[40];
    kf_noise_model model = {.process_deviation = 0.002, .seed = 11};
    kf_time_source source = kf_noise_source(&model);
    for (int i = 0; i < 40; i++)
        values[i] = log(source.time(&model, false)) + (i >= 12 ? 0.02 : 0) + (i >= 30 ? -0.03 : 0);
    assert_int_equal(kf_change_points(values, 40, 0.001, 0.01, points), 2);
    assert_int_equal(points[0].at, 12);
    assert_int_equal(points[1].at, 30);
    assert_near(points[0].shift, 0.02, 0.002);
    assert_near(points[1].shift, -0.03, 0.002);
    assert_true(points[0].probability < 1e-6);
    /* A level between two others, whose mean is that of the first. */
    for (int i = 0; i < 40; i++)
        values[i] = log(source.time(&model, false)) + (i < 25 ? 0 : i < 33 ? 0.03 : -0.02);
    assert_int_equal(kf_change_points(values, 40, 0.001, 0.01, points), 2);
    assert_int_equal(points[0].at, 25);
    assert_int_equal(points[1].at, 33);
    /* The last night alone is enough when it is clear. */
    for (int i = 0; i < 40; i++)
        values[i] = log(source.time(&model, false)) + (i == 39 ? 0.02 : 0);
    assert_int_equal(kf_change_points(values, 40, 0.001, 0.01, points), 1);
    assert_int_equal(points[0].at, 39);
    /* A difference that is smaller than asked for is no change, however certain. */
    for (int i = 0; i < 40; i++)
        values[i] = i < 20 ? 0 : 0.005;
    assert_int_equal(kf_change_points(values, 40, 0.001, 0.01, points), 0);
    assert_int_equal(kf_change_points(values, 40, 0.001, 0.004, points), 1);
    assert_int_equal(kf_change_points(values, 2, 0.001, 0.0, points), 0);
    for (int i = 0; i < 40; i++)
        values[i] = 1;
    assert_int_equal(kf_change_points(values, 40, 0.001, 0.01, points), 0);
}

static void test_noise_floor(void **state) {
    (void)state;
    kf_night_level nights[40];
    for (int i = 0; i < 40; i++) {
        /* Identical nights alternate by 0.2 %, the others jump by a percent more. */
        bool identical = i % 3 != 0;
        nights[i] = (kf_night_level){.level = 0.002 * (i % 2) + (identical ? 0 : 0.02),
                                     .spread = 0.0,
                                     .processes = 5,
                                     .identical = false};
    }
    double noisy = kf_noise_floor(nights, 40);
    for (int i = 0; i < 40; i++) {
        nights[i].level = 0.002 * (i % 2);
        nights[i].identical = true;
    }
    double quiet = kf_noise_floor(nights, 40);
    assert_near(quiet, 1.4826 * 0.002 / sqrt(2.0), 1e-6); /* differences are +-0.002 */
    assert_true(noisy > 2 * quiet);
    /* A young series is judged by the spread of its processes. */
    nights[0].spread = 0.01;
    assert_near(kf_noise_floor(nights, 1), 0.01 * sqrt(3.14159265 / 10), 1e-6);
    assert_near(kf_noise_floor(nights, 0), 0.0, 0.0);
}

static void test_a_step_makes_a_candidate(void **state) {
    (void)state;
    kf_night_level nights[70];
    for (int i = 0; i < 70; i++)
        nights[i] = (kf_night_level){.level = 0.001 * ((i * 7) % 5), .spread = 0.001, .processes = 5};
    kf_screening s = kf_screen(nights, 70, &kf_standard_rules);
    assert_false(s.candidate);
    nights[69].level += 0.03;
    s = kf_screen(nights, 70, &kf_standard_rules);
    assert_true(s.candidate);
    assert_int_equal(s.before, 68);
    assert_near(s.shift, 0.03, 0.004);
    /* Three slow nights are compared with the level before them. A fourth is history. */
    nights[68].level += 0.03;
    nights[67].level += 0.03;
    s = kf_screen(nights, 70, &kf_standard_rules);
    assert_true(s.candidate);
    assert_int_equal(s.before, 66);
    nights[66].level += 0.03;
    s = kf_screen(nights, 70, &kf_standard_rules);
    assert_false(s.candidate);
    /* The first nights. */
    s = kf_screen(nights, 1, &kf_standard_rules);
    assert_false(s.candidate);
    assert_int_equal(s.before, -1);
    nights[1].level = nights[0].level + 0.2;
    s = kf_screen(nights, 2, &kf_standard_rules);
    assert_true(s.candidate);
    assert_int_equal(s.before, 0);
}

/* --- Error rates --- */

/* The noise of the reference study: processes 0.4 % (the sampling within them included), every tenth 0.8 %
 * slower, 3 % of the nights disturbed by 1.5 %. */
static const kf_noise_model study = {.process_deviation = 0.00405,
                                     .bad_night_share = 0.03,
                                     .bad_night_deviation = 0.015,
                                     .slow_mode_share = 0.1,
                                     .slow_mode_shift = 0.008};

static double found_share(const kf_time_source *source, int trials) {
    int found = 0;
    for (int i = 0; i < trials; i++)
        found += kf_simulate_change(source, 30, &kf_standard_rules) == KF_FINDING_SLOWER;
    return (double)found / trials;
}

static void test_rates_of_the_model(void **state) {
    (void)state;
    kf_noise_model model = study;
    model.seed = 1;
    kf_time_source source = kf_noise_source(&model);
    kf_alarms alarms = kf_simulate_nights(&source, 20, 20000, &kf_standard_rules);
    printf(
        "synthetic: %d unchanged nights: %.1f of 1000 compared again, %.2f of 1000 falsely SLOW, %.2f FAST\n",
        alarms.nights, 1000.0 * alarms.candidates / alarms.nights, 1000.0 * alarms.slower / alarms.nights,
        1000.0 * alarms.faster / alarms.nights);
    assert_true(alarms.slower <= 20); /* 1 of 1000; the comparison alone would give 5 */
    static const double percents[] = {1, 2, 3, 5};
    double found[4];
    for (int i = 0; i < 4; i++) {
        model.change = log1p(percents[i] / 100);
        found[i] = found_share(&source, 300);
        printf("synthetic: %g %% slower: found the same night in %.1f %% of 300, missed in %.1f %%\n",
               percents[i], 100 * found[i], 100 - 100 * found[i]);
    }
    assert_true(found[1] > 0.85);
    assert_true(found[2] > 0.97);
    assert_true(found[3] > 0.99);
}

static void print_recording(const kf_recording *recording) {
    kf_resampler resampler = {.recording = recording, .planted = -1, .seed = 3};
    kf_time_source source = kf_resampled_source(&resampler);
    kf_alarms alarms = kf_simulate_nights(&source, 20, 2000, &kf_standard_rules);
    printf("%s on %s, %d nights recorded, 2000 resampled: %d falsely SLOW, %d FAST\n", recording->benchmark,
           recording->device, recording->nights, alarms.slower, alarms.faster);
    assert_true(alarms.slower <= 2);
    for (int i = 0; i < recording->planted_count; i++) {
        resampler.planted = i;
        const double share = found_share(&source, 400);
        printf("  planted %.2f %% slower: found the same night in %.1f %% of 400\n",
               recording->planted[i].percent, 100 * share);
        /* This is promised for a quiet machine. One that others use at the same time cannot keep it. */
        const bool quiet = strcmp(recording->backend, "cuda") == 0;
        assert_true(!quiet || recording->planted[i].percent < 2.0 || share >= 0.95);
    }
    resampler.planted = -1;
    for (int percent = 1; percent <= 5; percent++) {
        resampler.change = log1p(percent / 100.0);
        printf("  shifted %d %%: found the same night in %.1f %% of 400\n", percent,
               100 * found_share(&source, 400));
    }
}

static void test_rates_of_recordings(void **state) {
    (void)state;
    static const char *const files[] = {"tests/data/nights-cpu.json", "tests/data/nights-h200.json"};
    int seen = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (access(files[i], R_OK) != 0) continue;
        kf_recording *recordings = NULL;
        int count = 0;
        kf_error error = {0};
        if (kf_recording_read(files[i], &recordings, &count, &error) != KF_OK) fail_msg("%s", error.message);
        for (int k = 0; k < count; k++)
            print_recording(&recordings[k]);
        free(recordings);
        seen++;
    }
    if (seen == 0) skip();
}

static void test_bad_recordings(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"recordings\": []}",
        "{\"recordings\": [{\"benchmark\": \"b\", \"device\": \"d\", \"step_us\": 1, \"nights\": [[1]]}]}",
        "{\"recordings\": [{\"benchmark\": \"b\", \"device\": {\"name\": \"d\", \"backend\": \"cpu\"}, "
        "\"step_us\": 1, \"nights\": [[1, "
        "-1]]}]}",
        "{\"recordings\": [{\"benchmark\": \"b\", \"device\": {\"name\": \"d\", \"backend\": \"cpu\"}, "
        "\"step_us\": 1, \"nights\": [[]]}]}",
        "{\"recordings\": [{\"benchmark\": \"b\", \"device\": {\"name\": \"d\", \"backend\": \"cpu\"}, "
        "\"step_us\": 1}]}",
        "{\"recordings\": [{\"benchmark\": \"b\", \"device\": {\"name\": \"d\", \"backend\": \"cpu\"}, "
        "\"step_us\": 1, \"nights\": [[1]], "
        "\"planted\": [{\"percent\": 1, \"times_us\": []}]}]}",
    };
    char path[] = "/tmp/kftune-recording-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *stream = fopen(path, "w");
        fputs(texts[i], stream);
        fclose(stream);
        kf_recording *recordings = NULL;
        int count = 0;
        kf_error error = {0};
        assert_int_equal(kf_recording_read(path, &recordings, &count, &error), KF_BAD_INPUT);
        assert_null(recordings);
    }
    unlink(path);
}

/* --- The divergence, term by term --- */

static double mean_distance(const double *values, int begin, int end, int other_begin, int other_end) {
    double sum = 0;
    for (int i = begin; i < end; i++)
        for (int k = other_begin; k < other_end; k++)
            sum += fabs(values[i] - values[k]);
    return sum;
}

/* Matteson and James 2014, eq. 5 with alpha 1: n m / (n + m) times twice the mean distance between the parts
 * less the mean distances within. */
static double plain_divergence(const double *values, int split, int end) {
    const double n = split, m = end - split;
    double q = 2 * mean_distance(values, 0, split, split, end) / (n * m);
    if (n > 1) q -= mean_distance(values, 0, split, 0, split) / (n * (n - 1));
    if (m > 1) q -= mean_distance(values, split, end, split, end) / (m * (m - 1));
    return n * m / (n + m) * q;
}

/* First levels are short, so the terms within decide their place. */
static void test_place_of_a_change(void **state) {
    (void)state;
    enum { COUNT = 24, ROUNDS = 300 };
    double values[COUNT];
    kf_change_point points[COUNT];
    int compared = 0;
    for (unsigned seed = 1; seed <= ROUNDS; seed++) {
        kf_noise_model model = {.process_deviation = 0.01, .seed = seed};
        kf_time_source source = kf_noise_source(&model);
        const int level = 2 + (int)(seed % 4);
        for (int i = 0; i < COUNT; i++)
            values[i] = log(source.time(&model, false)) + (i >= level ? 0.04 : 0);
        double most = -1;
        int place = 0;
        for (int split = 1; split < COUNT; split++)
            for (int end = split + 1; end <= COUNT; end++) {
                const double q = plain_divergence(values, split, end);
                if (q > most) most = q, place = split;
            }
        if (kf_change_points(values, COUNT, 1e-6, 0.0, points) != 1) continue;
        assert_int_equal(points[0].at, place);
        compared++;
    }
    print_message("%d of %d series have one change\n", compared, ROUNDS);
    assert_true(compared > ROUNDS / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share_below),
        cmocka_unit_test(test_mann_whitney_exact),
        cmocka_unit_test(test_mann_whitney_ties),
        cmocka_unit_test(test_mann_whitney_of_many),
        cmocka_unit_test(test_holm_corrects_by_hand),
        cmocka_unit_test(test_shift_of_two_samples_by_hand),
        cmocka_unit_test(test_intervals_cover_as_often_as_they_say),
        cmocka_unit_test(test_false_discovery),
        cmocka_unit_test(test_a_level_of_one_night),
        cmocka_unit_test(test_change_points),
        cmocka_unit_test(test_noise_floor),
        cmocka_unit_test(test_a_step_makes_a_candidate),
        cmocka_unit_test(test_rates_of_the_model),
        cmocka_unit_test(test_rates_of_recordings),
        cmocka_unit_test(test_bad_recordings),
        cmocka_unit_test(test_place_of_a_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
