/* Tests the measuring policy on numbers alone. Faults: too few samples for the wanted interval, or timing
 * that does not stop. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "harness/measure/measure.h"

static kf_measure_policy policy(void) {
    kf_device_info device = {.backend = "cpu"};
    return kf_policy_for(&device);
}

static void precise_timing_stops_early(void **state) {
    (void)state;
    kf_measure_policy p = policy();
    double samples[400];
    for (int i = 0; i < 400; i++)
        samples[i] = 1000.0 + (i % 3); /* spread of 0.1 % */
    kf_stop stop = KF_STOPS;
    assert_false(kf_policy_done(&p, NULL, samples, 0, 4, 1e12, &stop));
    assert_false(kf_policy_done(&p, NULL, samples, 14, 4, 0.0, &stop));
    assert_true(kf_policy_done(&p, NULL, samples, 15, 4, 0.0, &stop));
    assert_int_equal(stop, KF_STOP_PRECISE);
    /* 15 samples of 2 ms are only 30 ms of timing. 26 are needed. */
    assert_false(kf_policy_done(&p, NULL, samples, 24, 2, 0.0, &stop));
    assert_true(kf_policy_done(&p, NULL, samples, 26, 2, 0.0, &stop));
}

static void noisy_timing_goes_on(void **state) {
    (void)state;
    kf_measure_policy p = policy();
    double samples[300];
    for (int i = 0; i < 300; i++)
        samples[i] = i % 2 == 0 ? 1000.0 : 1500.0;
    kf_stop stop = KF_STOPS;
    assert_false(kf_policy_done(&p, NULL, samples, 299, 10, 0.0, &stop));
    assert_true(kf_policy_done(&p, NULL, samples, 300, 10, 0.0, &stop));
    assert_int_equal(stop, KF_STOP_SAMPLES);
    assert_true(kf_policy_done(&p, NULL, samples, 20, 10, p.time_limit_us, &stop));
    assert_int_equal(stop, KF_STOP_TIME);
}

static void losers_end_early(void **state) {
    (void)state;
    kf_measure_policy p = policy();
    double samples[15];
    for (int i = 0; i < 15; i++)
        samples[i] = i % 2 == 0 ? 100.0 : 120.0; /* rough, but far from 90 */
    kf_incumbent best = {2, {89.0, 89.0}, 90.0}, close = {2, {95.0, 95.0}, 96.0},
                 unknown = {2, {89.0, 89.0}, 0.0};
    kf_stop stop = KF_STOPS;
    assert_false(kf_policy_done(&p, &best, samples, 14, 2, 0.0, &stop));
    assert_true(kf_policy_done(&p, &best, samples, 15, 2, 0.0, &stop));
    assert_int_equal(stop, KF_STOP_PRECISE);
    assert_false(kf_policy_done(&p, &close, samples, 15, 2, 0.0, &stop));
    assert_false(kf_policy_done(&p, &unknown, samples, 15, 2, 0.0, &stop));
    p.lost_ratio = 0.0;
    assert_false(kf_policy_done(&p, &best, samples, 15, 2, 0.0, &stop));
}

static void slow_steps_need_few_samples(void **state) {
    (void)state;
    kf_measure_policy p = policy();
    double slow[] = {1.5e6, 1.5e6, 1.6e6, 1.4e6, 1.5e6}, quick[] = {10.0, 20.0, 30.0, 10.0, 20.0};
    kf_stop stop = KF_STOPS;
    assert_false(kf_policy_done(&p, NULL, slow, 2, 1, 1e9, &stop));
    assert_true(kf_policy_done(&p, NULL, slow, 3, 1, 1e9, &stop));
    assert_false(kf_policy_done(&p, NULL, quick, 4, 1, 1e9, &stop));
    assert_true(kf_policy_done(&p, NULL, quick, 5, 1, 1e9, &stop));
}

static void skipping_compares_equal_positions(void **state) {
    (void)state;
    kf_measure_policy p = policy();
    /* The first launch takes three times as long for every config. */
    kf_incumbent best = {.count = 2, .samples_us = {300.0, 100.0}};
    double slowdown = 0.0;
    double slower[] = {480.0, 160.0}, once[] = {480.0, 120.0}, equal[] = {310.0, 101.0};
    assert_true(kf_policy_skips(&p, &best, slower, 2, &slowdown));
    assert_true(fabs(slowdown - 1.6) < 1e-9);
    assert_false(kf_policy_skips(&p, &best, slower, 1, &slowdown));
    assert_false(kf_policy_skips(&p, &best, once, 2, &slowdown));
    assert_false(kf_policy_skips(&p, &best, equal, 2, &slowdown));
    assert_false(kf_policy_skips(&p, NULL, slower, 2, &slowdown));
    kf_incumbent none = {0};
    assert_false(kf_policy_skips(&p, &none, slower, 2, &slowdown));
    p.skip_ratio = 2.0;
    assert_false(kf_policy_skips(&p, &best, slower, 2, &slowdown));
    p.skip_ratio = 0.0;
    assert_false(kf_policy_skips(&p, &best, slower, 2, &slowdown));
}

static void batches_fill_a_sample(void **state) {
    (void)state;
    kf_measure_policy p = policy();
    p.sample_us = 200.0;
    assert_int_equal(kf_policy_batch(&p, 2, 5000.0), 2);
    assert_int_equal(kf_policy_batch(&p, 2, 100.0), 2);
    assert_int_equal(kf_policy_batch(&p, 2, 30.0), 8);
    assert_int_equal(kf_policy_batch(&p, 6, 30.0), 12);
    assert_true(kf_policy_batch(&p, 2, 0.0) <= 20000);
    p.queue = 16;
    assert_int_equal(kf_policy_queue(&p, 200.0), 16);
    assert_int_equal(kf_policy_queue(&p, 5000.0), 4);
    assert_int_equal(kf_policy_queue(&p, 1e6), 1);
}

static void effort_scales_what_measuring_takes(void **state) {
    (void)state;
    const kf_measure_policy full = policy();
    kf_measure_policy little = full;
    kf_policy_scale(&little, 0.1);
    assert_true(fabs(little.time_limit_us - 0.1 * full.time_limit_us) < 1e-6);
    assert_true(fabs(little.warm_up_us - 0.1 * full.warm_up_us) < 1e-6);
    assert_true(little.precise_samples == 3 && little.least_samples == 2 && little.most_samples == 30);
    assert_true(little.halfwidth > 3.0 * full.halfwidth && little.halfwidth < 3.3 * full.halfwidth);
    assert_true(little.kernel_repeats == 2 && little.window_steps == 50 &&
                little.skip_ratio == full.skip_ratio);
    kf_measure_policy same = full;
    kf_policy_scale(&same, 1.0);
    assert_memory_equal(&same, &full, sizeof full);
    kf_policy_scale(&little, 1e-6); /* even with hardly any effort something is measured */
    assert_true(little.least_samples >= 2 && little.most_samples >= little.precise_samples);
    assert_true(little.kernel_repeats == 1 && little.window_steps == 1);
}

static void assert_close(double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted))) fail_msg("%.9g is not %.9g", value, wanted);
}

/* Policies agree with docs/measuring.md. */
static void policies_are_as_documented(void **state) {
    (void)state;
    const kf_device_info gpu = {.backend = "cuda"};
    for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
        const kf_measure_policy p = on_gpu ? kf_policy_for(&gpu) : policy();
        assert_int_equal(p.warm_up_steps, 3);
        assert_close(p.warm_up_us, on_gpu ? 50e3 : 20e3);
        assert_close(p.warm_up_limit_us, 1e6);
        assert_int_equal(p.queue, on_gpu ? 16 : 1);
        assert_close(p.queue_us, 20e3);
        assert_close(p.sample_us, on_gpu ? 200 : 1000);
        assert_close(p.long_cycle_us, 50e3);
        assert_true(p.least_samples == 5 && p.precise_samples == 15 && p.most_samples == 300);
        assert_close(p.precise_us, 50e3);
        assert_close(p.halfwidth, 0.005);
        assert_close(p.lost_ratio, 1.05);
        assert_close(p.time_limit_us, on_gpu ? 2e6 : 1.5e6);
        assert_close(p.slow_us, 1e6);
        assert_int_equal(p.slow_samples, 3);
        assert_close(p.skip_ratio, 1.5);
        assert_close(p.pause_us, 0.5e6);
        assert_close(p.reading_us, 5e3);
        assert_int_equal(p.window_steps, 500);
        assert_int_equal(p.kernel_repeats, 15);
        assert_close(p.kernel_limit_us, 0.3e6);
    }
}

static void policies_can_be_asked_for_more(void **state) {
    (void)state;
    const kf_measure_policy full = policy();
    kf_measure_policy half = full, p = full;
    kf_policy_scale(&half, 0.5);
    assert_close(half.warm_up_us, 10e3);
    assert_close(half.warm_up_limit_us, 0.5e6);
    assert_close(half.pause_us, 0.25e6);
    assert_close(half.reading_us, 2.5e3);
    assert_true(half.least_samples == 3 && half.precise_samples == 8 && half.most_samples == 150 &&
                half.slow_samples == 2);
    assert_close(half.precise_us, 25e3);
    assert_close(half.halfwidth, 0.005 * sqrt(2));
    assert_close(half.time_limit_us, 0.75e6);
    assert_close(half.kernel_limit_us, 0.15e6);
    assert_true(half.kernel_repeats == 8 && half.window_steps == 250);
    kf_policy_scale(&half, 0.01);
    assert_close(half.reading_us, 1e3); /* a thousand ticks of the clock */
    assert_true(half.least_samples == 2 && half.precise_samples == 3 && half.most_samples == 3 &&
                half.slow_samples == 1);
    kf_policy_ask_samples(&p, 7); /* at least as many, not only as many */
    assert_true(p.least_samples == 7 && p.slow_samples == 7 && p.precise_samples == 15 &&
                p.most_samples == 300);
    kf_policy_ask_samples(&p, 400);
    assert_true(p.least_samples == 400 && p.slow_samples == 400 && p.precise_samples == 400 &&
                p.most_samples == 400);
    /* Energy is read some ten times a second. Its timing therefore takes a second, with a bounded number
     * of samples. */
    p = full;
    kf_policy_ask_energy(&p);
    assert_close(p.precise_us, 1e6);
    assert_close(p.time_limit_us, 1.5e6);
    assert_close(p.sample_us, 2e6 / 300);
    p.precise_us = 3e6;
    p.time_limit_us = 5e6;
    kf_policy_ask_energy(&p);
    assert_close(p.precise_us, 3e6);
    assert_close(p.time_limit_us, 5e6);
    assert_close(p.sample_us, 6e6 / 300);
    /* The bits are mirrored at the point. */
    static const double places[] = {0, 0.5, 0.25, 0.75, 0.125, 0.625};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        assert_close(kf_policy_shift(i), places[i]);
}

/* However many samples there are, their windows are spread evenly: no gap is more than twice the mean. */
static void windows_cover_a_turn(void **state) {
    (void)state;
    enum { TURN = 1000, WINDOWS = 5, MOST = 37 };
    kf_plan plan = {.windows = WINDOWS, .window_steps = TURN};
    for (size_t samples = 1; samples <= MOST; samples++) {
        bool seen[TURN] = {false};
        for (size_t sample = 0; sample < samples; sample++)
            for (int window = 0; window < WINDOWS; window++)
                seen[kf_plan_window_step(&plan, window, kf_policy_shift(sample))] = true;
        int gap = 0, longest = 0;
        for (int step = 0; step < 2 * TURN; step++, gap++)
            if (seen[step % TURN]) {
                longest = gap > longest && step >= TURN ? gap : longest;
                gap = 0;
            }
        assert_true(longest <= 2 * TURN / (int)(samples * WINDOWS) + 2);
    }
    plan.window_steps = 1;
    assert_int_equal(kf_plan_window_step(&plan, 4, kf_policy_shift(3)), 0);
    plan.window_steps = 1000000000;
    assert_true(kf_plan_window_step(&plan, 4, kf_policy_shift(1000)) < 1000000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precise_timing_stops_early),
        cmocka_unit_test(noisy_timing_goes_on),
        cmocka_unit_test(slow_steps_need_few_samples),
        cmocka_unit_test(losers_end_early),
        cmocka_unit_test(skipping_compares_equal_positions),
        cmocka_unit_test(batches_fill_a_sample),
        cmocka_unit_test(effort_scales_what_measuring_takes),
        cmocka_unit_test(windows_cover_a_turn),
        cmocka_unit_test(policies_are_as_documented),
        cmocka_unit_test(policies_can_be_asked_for_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
