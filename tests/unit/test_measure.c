/* The measuring policy on numbers alone, measurements as JSON, and the timing of a real plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include "tests/unit/counter_system.h"

#include <cmocka.h>

#include "base/backend/team/team.h"
#include "base/util/clock.h"
#include "base/util/memory.h"
#include "harness/cli/known_config.h"
#include "harness/measure/measure.h"
#include "harness/measure/rows.h"
#include "tests/unit/full_measurement.h"

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
    /* 15 samples of 2 ms are only 30 ms of timing: 26 are needed. */
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
    /* The first launch is three times as slow for everyone. */
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

/* --- As JSON ---------------------------------------------------------------------------------------------
 */

static void fill(kf_measurement *m, double *samples) {
    memset(m, 0, sizeof *m);
    m->state = KF_STATE_WRONG_RESULT;
    m->stop = KF_STOP_TIME;
    (void)snprintf(m->reason, sizeof m->reason, "deviates \"by\" 3\nlines \\ and \t tabs");
    m->verification = (kf_verification){.worst = "node 3,4,5"};
    kf_verification_add(&m->verification, "fields", (double)NAN, 1e-5);
    kf_verification_add(&m->verification, "mass", 1e-17, 1e-5);
    m->step_us = kf_summarise(samples, 3);
    m->samples_us = samples;
    m->sample_count = 3;
    m->batch = 8;
    m->updates_per_us = 1234.5;
    m->device_before.sm_clock_mhz = (double)NAN;
    m->device_after.throttle_reasons = 0x44;
    for (int i = 0; i < 2; i++) {
        (void)kf_measurement_add_kernel(m);
        (void)snprintf(m->kernels[i].name, sizeof m->kernels[i].name, "kernel %d", i);
        m->kernels[i].time_us = kf_summarise(samples, 3);
        m->kernels[i].registers = 32 + i;
        m->kernels[i].theoretical_occupancy = (double)NAN;
    }
    memset(m->build_hash, 'a', KF_HASH_HEX - 1);
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
    kf_policy_scale(&little, 1e-6); /* however little, something is measured */
    assert_true(little.least_samples >= 2 && little.most_samples >= little.precise_samples);
    assert_true(little.kernel_repeats == 1 && little.window_steps == 1);
}

static void assert_close(double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted))) fail_msg("%.9g is not %.9g", value, wanted);
}

/* Policies are as docs/measuring.md has them. */
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
    kf_policy_ask_samples(&p, 7); /* at least so many, not only so many */
    assert_true(p.least_samples == 7 && p.slow_samples == 7 && p.precise_samples == 15 &&
                p.most_samples == 300);
    kf_policy_ask_samples(&p, 400);
    assert_true(p.least_samples == 400 && p.slow_samples == 400 && p.precise_samples == 400 &&
                p.most_samples == 400);
    /* Energy is counted some ten times a second: a second of timing, in samples of which there are not too
     * many. */
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
    /* Bits mirrored at the point. */
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

static void json_keeps_everything(void **state) {
    (void)state;
    double samples[] = {1.0 / 3.0, 2.5, 1e-9};
    kf_measurement out, in;
    fill(&out, samples);
    cJSON *json = kf_measurement_to_json(&out);
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    json = cJSON_Parse(text);
    free(text);
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_measurement_from_json(json, &in, &error), KF_OK);
    cJSON_Delete(json);
    assert_int_equal(in.state, KF_STATE_WRONG_RESULT);
    assert_int_equal(in.stop, KF_STOP_TIME);
    assert_string_equal(in.reason, out.reason);
    assert_true(isnan(in.verification.error));
    assert_string_equal(in.verification.worst, "node 3,4,5");
    assert_int_equal(in.sample_count, 3);
    assert_memory_equal(in.samples_us, samples, sizeof samples);
    assert_true(in.step_us.median == out.step_us.median && in.step_us.count == 3);
    assert_int_equal(in.batch, 8);
    assert_true(isnan(in.device_before.sm_clock_mhz));
    assert_int_equal(in.device_after.throttle_reasons, 0x44);
    assert_int_equal(in.kernel_count, 2);
    assert_string_equal(in.kernels[1].name, "kernel 1");
    assert_int_equal(in.kernels[1].registers, 33);
    assert_true(isnan(in.kernels[0].theoretical_occupancy));
    assert_string_equal(in.build_hash, out.build_hash);
    kf_measurement_free(&in);
    out.samples_us = NULL; /* this function's own */
    kf_measurement_free(&out);
}

static void json_keeps_every_member(void **state) {
    (void)state;
    kf_measurement out, in;
    kf_error error = {KF_OK, ""};
    full_measurement(&out);
    cJSON *json = kf_measurement_to_json(&out);
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    json = cJSON_Parse(text);
    free(text);
    if (kf_measurement_from_json(json, &in, &error) != KF_OK) fail_msg("%s", error.message);
    assert_same_in_full(&out, &in);
    /* Clocks are as many as samples, or none; an integer fits its member. */
    cJSON *clocks = cJSON_GetObjectItem(json, "clocks_mhz");
    cJSON_DeleteItemFromArray(clocks, 0);
    kf_measurement refused;
    assert_int_equal(kf_measurement_from_json(json, &refused, &error), KF_BAD_INPUT);
    cJSON_ReplaceItemInObject(json, "clocks_mhz", cJSON_CreateArray());
    static const double batches[] = {2147483647.0, 2147483648.0, -2147483648.0};
    for (int i = 0; i < 3; i++) {
        cJSON_SetNumberHelper(cJSON_GetObjectItem(json, "batch"), batches[i]);
        assert_int_equal(kf_measurement_from_json(json, &refused, &error), i == 0 ? KF_OK : KF_BAD_INPUT);
        if (i == 0) assert_true(refused.batch == 2147483647 && refused.clocks_mhz == NULL);
        if (i == 0) kf_measurement_free(&refused);
    }
    cJSON_Delete(json);
    assert_same_value(kf_counter_value(&in, "stream", "dram_bytes"), 123456);
    assert_same_value(kf_counter_value(&in, "", "achieved_occupancy"), 43.5);
    assert_true(isnan(kf_counter_value(&in, "", "dram_bytes")));
    static const kf_objective time = {.count = 0}, energy = {.goals = {{"energy", false}}, .count = 1},
                              edp = {.goals = {{"edp", false}}, .count = 1};
    assert_same_value(kf_measurement_cost(&in, &time), in.step_us.median);
    assert_same_value(kf_measurement_cost(&in, &energy), 0.0625);
    assert_same_value(kf_measurement_cost(&in, &edp), 0.0625 * (1e-6 * in.step_us.median));
    in.energy_j = 0;
    assert_true(isinf(kf_measurement_cost(&in, &edp)) && isinf(kf_measurement_cost(&in, &energy)));
    in.state = KF_STATE_SKIPPED;
    assert_true(isinf(kf_measurement_cost(&in, &time)));
    kf_measurement_free(&in);
    kf_measurement_free(&out);
}

static void damaged_json_is_refused(void **state) {
    (void)state;
    double samples[] = {1.0, 2.0, 3.0};
    kf_measurement out, in;
    fill(&out, samples);
    static const char *const keys[] = {"state",      "stop",    "reason",       "batch",
                                       "samples_us", "kernels", "verification", "step_us"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (int replaced = 0; replaced < 2; replaced++) {
            cJSON *json = kf_measurement_to_json(&out);
            if (replaced)
                (void)cJSON_ReplaceItemInObject(json, keys[i], cJSON_CreateTrue());
            else
                cJSON_DeleteItemFromObject(json, keys[i]);
            kf_error error = {KF_OK, ""};
            assert_int_equal(kf_measurement_from_json(json, &in, &error), KF_BAD_INPUT);
            assert_non_null(strstr(error.message, keys[i]));
            cJSON_Delete(json);
        }
    assert_int_equal(kf_measurement_from_json(NULL, &in, NULL), KF_BAD_INPUT);
    out.samples_us = NULL; /* this function's own */
    kf_measurement_free(&out);
}

/* --- A real plan -----------------------------------------------------------------------------------------
 */

static void time_work(kf_backend *backend, long work, const kf_incumbent *incumbent, kf_measurement *m) {
    static kf_problem problem;
    counter_problem(&problem, 20000);
    kf_config config = counter_config("right", work);
    kf_plan *plan = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(counter_system.plan(&problem, &config, backend, &plan, &error), KF_OK);
    kf_measure_policy p = policy();
    p.time_limit_us = 3e5;
    memset(m, 0, sizeof *m);
    assert_int_equal(kf_measure_plan(plan, &p, incumbent, m, &error), KF_OK);
    assert_int_equal(plan->steps_done % 2, 0);
    kf_plan_free(plan);
}

static void plans_are_timed(void **state) {
    (void)state;
    kf_backend *backend = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    kf_measurement one, sixteen;
    double begin = kf_clock_seconds();
    time_work(backend, 1, NULL, &one);
    double spent_us = 1e6 * (kf_clock_seconds() - begin);
    assert_int_equal(one.state, KF_STATE_OK);
    assert_true(one.sample_count >= 5 && one.sample_count <= 300);
    assert_true(one.step_us.median > 0.0 && one.step_us.low <= one.step_us.median);
    /* The time that the samples say was spent cannot be more than what was spent. */
    assert_true(one.step_us.median * one.batch * (double)one.sample_count / 2 < spent_us);
    assert_true(one.batch * one.step_us.maximum > 400.0);
    assert_true(fabs(one.updates_per_us * one.step_us.median - 20000) < 1e-3);
    assert_int_equal(one.kernel_count, 1);
    assert_string_equal(one.kernels[0].name, "count");
    assert_true(one.kernels[0].time_us.count >= 2);
    /* The only launch of the step takes about as long as the step. */
    assert_true(one.kernels[0].time_us.minimum < 2.0 * one.step_us.minimum);
    assert_true(one.kernels[0].time_us.minimum > 0.3 * one.step_us.minimum);

    time_work(backend, 16, NULL, &sixteen);
    assert_true(sixteen.step_us.minimum > 3.0 * one.step_us.minimum);
    kf_incumbent incumbent = {2, {one.samples_us[0], one.samples_us[1]}, one.step_us.high};
    kf_measurement skipped;
    time_work(backend, 16, &incumbent, &skipped);
    assert_int_equal(skipped.state, KF_STATE_SKIPPED);
    assert_int_equal(skipped.sample_count, 2);
    assert_non_null(strstr(skipped.reason, "times as slow as the best"));
    kf_measurement_free(&one);
    kf_measurement_free(&sixteen);
    kf_measurement_free(&skipped);
    kf_backend_close(backend);
}

typedef struct rare_times {
    double step_us, ordinary_us, rare_us; /* the least seen: other programs only make times longer */
} rare_times;

/* Steps with a launch of twenty times the work at every eighth. whole: timed in whole cycles. */
static void time_rare(kf_backend *backend, bool whole, rare_times *least) {
    kf_error error = {KF_OK, ""};
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    counter_problem(problem, 20000);
    kf_config config = counter_config("right", 1);
    kf_plan *plan = NULL;
    assert_int_equal(counter_system.plan(problem, &config, backend, &plan, &error), KF_OK);
    counter_arguments arguments;
    const kf_launch *ordinary = plan->items[0].kernel;
    kf_launch rare;
    memcpy(&arguments, ordinary->arguments, sizeof arguments);
    arguments.repeats *= 20;
    kf_launch_set(&rare, "rare", ordinary->function, ordinary->block, &arguments, sizeof arguments);
    kf_item *item = kf_plan_add_kernel(plan, &rare);
    item->period = 8;
    item->phase = whole ? 0 : 5;
    kf_measure_policy p = policy();
    p.time_limit_us = 3e5;
    p.long_cycle_us = whole ? 1e9 : 0.0;
    kf_measurement m = {0};
    assert_int_equal(kf_measure_plan(plan, &p, NULL, &m, &error), KF_OK);
    assert_int_equal(m.batch % (whole ? 8 : 2), 0);
    assert_int_equal(m.kernel_count, 2);
    assert_string_equal(m.kernels[1].name, "rare");
    assert_true(m.kernels[0].launches_per_step == 1.0 && m.kernels[1].launches_per_step == 0.125);
    least->step_us = fmin(least->step_us, m.step_us.minimum);
    least->ordinary_us = fmin(least->ordinary_us, m.kernels[0].time_us.minimum);
    least->rare_us = fmin(least->rare_us, m.kernels[1].time_us.minimum);
    kf_measurement_free(&m);
    kf_plan_free(plan);
    kf_facts_free(&problem->facts);
    free(problem);
}

static bool rare_is_right(const rare_times *t) {
    double launches_us = t->ordinary_us + 0.125 * t->rare_us;
    return t->rare_us > 5.0 * t->ordinary_us && t->step_us < 2.0 * launches_us &&
           t->step_us > 0.5 * launches_us;
}

/* The step takes 1 + 20/8 times as long. A rare launch is timed also where it is not due at the beginning of
 * a cycle. On a busy machine one time may be several times too long: a few turns are made until all agree. */
static void rare_launches_count_by_their_share(void **state) {
    (void)state;
    kf_backend *backend = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    rare_times parts = {INFINITY, INFINITY, INFINITY}, whole = parts;
    bool right = false;
    for (int turn = 0; turn < 60 && !right; turn++) {
        time_rare(backend, false, &parts);
        time_rare(backend, true, &whole);
        right = rare_is_right(&parts) && rare_is_right(&whole) && parts.step_us < 1.6 * whole.step_us &&
                whole.step_us < 1.6 * parts.step_us;
    }
    if (!right)
        fail_msg("parts of cycles %g, %g, %g us, whole ones %g, %g, %g us", parts.step_us, parts.ordinary_us,
                 parts.rare_us, whole.step_us, whole.ordinary_us, whole.rare_us);
    kf_backend_close(backend);
}

/* --- Windows ---------------------------------------------------------------------------------------------
 */

enum { TURN_STEPS = 2000, SECTORS = 8 };
static int visits[SECTORS];

static kf_status note_place(kf_plan *plan, int window, double shift, kf_error *error) {
    (void)error;
    const uint64_t step = kf_plan_window_step(plan, window, shift);
    assert_true(window >= 0 && window < 5 && shift >= 0.0 && shift < 1.0 && step < TURN_STEPS);
    visits[step * SECTORS / TURN_STEPS]++;
    return KF_OK;
}

/* A sample is the mean of all windows, and timing goes on until 500 steps are measured. */
static void plans_with_windows_are_measured_in_all(void **state) {
    (void)state;
    kf_backend *backend = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    static kf_problem problem;
    counter_problem(&problem, 20000);
    kf_config config = counter_config("right", 1);
    kf_plan *plan = NULL;
    assert_int_equal(counter_system.plan(&problem, &config, backend, &plan, &error), KF_OK);
    kf_plan_methods methods = *plan->methods;
    methods.seek = note_place;
    plan->methods = &methods;
    plan->window_steps = TURN_STEPS;
    plan->windows = 5;
    kf_measure_policy p = policy();
    p.precise_samples = 2;
    p.precise_us = 0.0;
    p.halfwidth = 1e9; /* precise at once, were it not for the turn */
    p.sample_us = 1.0;
    p.time_limit_us = 1e7;
    kf_measurement m = {0};
    assert_int_equal(kf_measure_plan(plan, &p, NULL, &m, &error), KF_OK);
    assert_int_equal(m.window_steps, TURN_STEPS);
    assert_int_equal(m.windows, 5);
    assert_int_equal(m.batch % (2 * m.windows), 0);
    assert_int_equal(m.stop, KF_STOP_PRECISE);
    size_t steps = m.sample_count * (size_t)m.batch;
    assert_true(steps >= 500 && steps < 500 + (size_t)m.batch);
    int least = visits[0], most = visits[0];
    for (int i = 1; i < SECTORS; i++) {
        least = visits[i] < least ? visits[i] : least;
        most = visits[i] > most ? visits[i] : most;
    }
    assert_true(least > 0 && most <= 2 * least);
    kf_measurement_free(&m);
    kf_plan_free(plan);
    kf_backend_close(backend);
}

/* A config that was found elsewhere runs only where it is right. */
static void known_configs_are_verified(void **state) {
    (void)state;
    static const char *const behaviours[] = {"right", "wrong"};
    static kf_problem problem;
    kf_backend *backend = NULL;
    kf_error error = {KF_OK, ""};
    counter_problem(&problem, 2000);
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    for (int wrong = 0; wrong < 2; wrong++) {
        const kf_config config = counter_config(behaviours[wrong], 1);
        if (kf_known_config_verify(&problem, &config, backend, &error) != (wrong ? KF_GATE_FAILED : KF_OK))
            fail_msg("%s: %s", behaviours[wrong], error.message);
    }
    assert_non_null(strstr(error.message, "that config is not right for "));
    kf_backend_close(backend);
}

static kf_kernel_time row_of_time(double median_us, double launches, double bytes) {
    kf_kernel_time row = {.name = "flow", .launches_per_step = launches, .bytes = bytes, .registers = 7};
    row.time_us = kf_summarise(&median_us, 1);
    return row;
}

/* A row of several parts has the time of the slowest, which need not be the one with the longest launch, and
 * the bytes of all: the rate is the team's. */
static void rows_of_several_parts(void **state) {
    (void)state;
    kf_kernel_time row = row_of_time(10.0, 1.0, 4000.0);
    const kf_kernel_time faster = row_of_time(8.0, 1.0, 3000.0), often = row_of_time(6.0, 2.0, 1000.0);
    kf_rows_join(&row, &faster);
    assert_true(row.time_us.median == 10.0 && row.bytes == 7000.0 && row.fastest_us == 8.0);
    kf_rows_join(&row, &often); /* twice 6 us */
    assert_true(row.time_us.median == 6.0 && row.launches_per_step == 2.0 && row.fastest_us == 6.0);
    assert_true(row.bytes == 4500.0); /* 9000 a step, to each of two launches */
    assert_int_equal(row.registers, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_several_parts),
        cmocka_unit_test(known_configs_are_verified),
        cmocka_unit_test(precise_timing_stops_early),
        cmocka_unit_test(noisy_timing_goes_on),
        cmocka_unit_test(slow_steps_need_few_samples),
        cmocka_unit_test(losers_end_early),
        cmocka_unit_test(skipping_compares_equal_positions),
        cmocka_unit_test(batches_fill_a_sample),
        cmocka_unit_test(effort_scales_what_measuring_takes),
        cmocka_unit_test(windows_cover_a_turn),
        cmocka_unit_test(json_keeps_everything),
        cmocka_unit_test(json_keeps_every_member),
        cmocka_unit_test(policies_are_as_documented),
        cmocka_unit_test(policies_can_be_asked_for_more),
        cmocka_unit_test(damaged_json_is_refused),
        cmocka_unit_test(plans_are_timed),
        cmocka_unit_test(rare_launches_count_by_their_share),
        cmocka_unit_test(plans_with_windows_are_measured_in_all),
    };
    counter_prepare();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    counter_clean_up();
    return failed;
}
