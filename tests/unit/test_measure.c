/* Tests the times of real plans: of steps, rare launches, and windows of a run. Faults: a launch that is
 * timed twice or never, or with the wrong weight. */
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

static void time_work(kf_backend *backend, long work, const kf_incumbent *incumbent, kf_measurement *m) {
    static kf_problem problem;
    counter_problem(&problem, 20000);
    kf_config config = counter_config("right", work);
    kf_plan *plan = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(counter_system.plan(&problem, &config, backend, &plan, &error), KF_OK);
    kf_measure_policy p = kf_policy_for(kf_backend_device(backend));
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
    /* A cpu has no such numbers, which is not the same as none of them. */
    assert_true(isnan(one.kernels[0].theoretical_occupancy));
    assert_string_equal(one.kernels[0].occupancy_limit, "");
    assert_int_equal(one.kernels[0].registers, 0);
    assert_int_equal(one.kernels[0].block_threads, 0);
    assert_true(one.kernels[0].fastest_us == 0.0);
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

/* Times steps with a launch of twenty times the work at every eighth. whole: in whole cycles. */
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
    kf_measure_policy p = kf_policy_for(kf_backend_device(backend));
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

enum { TURN_STEPS = 2000, SECTORS = 8 };
static int visits[SECTORS];

static kf_status note_place(kf_plan *plan, int window, double shift, kf_error *error) {
    (void)error;
    const uint64_t step = kf_plan_window_step(plan, window, shift);
    assert_true(window >= 0 && window < 5 && shift >= 0.0 && shift < 1.0 && step < TURN_STEPS);
    visits[step * SECTORS / TURN_STEPS]++;
    return KF_OK;
}

/* A sample is the mean of all windows, and timing continues until 500 steps are measured. */
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
    kf_measure_policy p = kf_policy_for(kf_backend_device(backend));
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

/* A config from elsewhere is timed only where it is right. */
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

/* A row of several parts has the time of the slowest part, which need not be the one with the longest
 * launch, and the bytes of all. The rate is the team's. */
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
        cmocka_unit_test(plans_are_timed),
        cmocka_unit_test(rare_launches_count_by_their_share),
        cmocka_unit_test(plans_with_windows_are_measured_in_all),
    };
    counter_prepare();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    counter_clean_up();
    return failed;
}
