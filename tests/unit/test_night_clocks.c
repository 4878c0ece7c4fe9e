/* Tests nights on a device that slows down, or whose clock differs. Faults: time that the device loses is
 * blamed on the program. */
#include <math.h>

#include "base/util/log.h"
#include "harness/nightly/steady.h"
#include "tests/unit/night_stage.h"

/* Five of twenty samples are at a lower clock. */
static void test_samples_are_left_out(void **state) {
    (void)state;
    kf_measurement m;
    fixture_measurement(&m, 100.0, 20);
    m.clocks_mhz = kf_allocate(20 * sizeof *m.clocks_mhz);
    for (int i = 0; i < 20; i++) {
        const bool low = i % 4 == 1;
        m.clocks_mhz[i] = low ? 1400.0 : 1980.0 - i % 3;
        m.samples_us[i] = low ? 140.0 : 100.0 + 0.01 * i;
    }
    m.step_us = kf_summarise(m.samples_us, 20);
    m.clock_mhz = 1979.0;
    const double work = m.updates_per_us * m.step_us.median;
    assert_int_equal(kf_leave_out_throttled(&m), 5);
    assert_int_equal(m.sample_count, 15);
    assert_true(m.state == KF_STATE_OK && m.step_us.count == 15 && m.step_us.maximum < 101.0);
    assert_true(m.clock_mhz > 1977.0 && m.clock_mhz < 1981.0);
    assert_true(fabs(m.updates_per_us * m.step_us.median - work) < 1e-9 * work);
    assert_string_equal(m.outliers, "5 of 20 samples left out: the device throttled");
    assert_int_equal(kf_leave_out_throttled(&m), 0);
    /* The device was hot at both ends of the measurement. The cap of its power alone is no fault. */
    m.device_before.throttle_reasons = m.device_after.throttle_reasons = 0x4;
    assert_int_equal(kf_leave_out_throttled(&m), 0);
    m.device_before.throttle_reasons = m.device_after.throttle_reasons = 0x44;
    assert_int_equal(kf_leave_out_throttled(&m), 15);
    assert_true(m.state == KF_STATE_SKIPPED && m.sample_count == 0);
    assert_non_null(strstr(m.reason, "0x44"));
    kf_measurement_free(&m);
    /* Without clocks one end is enough, because nothing tells which samples were affected. */
    fixture_measurement(&m, 100.0, 3);
    m.device_after.throttle_reasons = 0x20;
    assert_int_equal(kf_leave_out_throttled(&m), 3);
    kf_measurement_free(&m);
}

/* Every third process runs on a hot device. */
static void test_throttled_processes_are_measured_again(void **state) {
    (void)state;
    stage *s = new_stage("hot-nights");
    char program[KF_PATH], name[32];
    s->throttled_each = 3;
    for (int night = 0; night < 8; night++) {
        (void)snprintf(name, sizeof name, "hot-%d", night);
        write_program(s, name, night < 7 ? 10000 : 11000, (char)('0' + night), KF_STATE_OK, program);
        const kf_verdict verdict = play(s, program);
        assert_verdict(&verdict, night == 0 ? KF_NODATA : night < 7 ? KF_SAME : KF_SLOW);
        assert_non_null(strstr(verdict.reason, "left out, as the device throttled"));
        assert_true(verdict.time_us < 11200.0);
    }
    s->throttled_each = 1;
    write_program(s, "too-hot", 10000, 'f', KF_STATE_OK, program);
    const kf_verdict verdict = play(s, program);
    assert_verdict(&verdict, KF_NODATA);
    assert_non_null(strstr(verdict.reason, "only 0 processes"));
    free_stage(s);
}

/* A program that takes the same cycles at a lower clock is not slower; one that takes more cycles is. */
static void test_times_are_confirmed_in_cycles(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        stage *s = new_stage(more != 0 ? "more-cycles" : "another-clock");
        char program[KF_PATH], name[32];
        s->clock_mhz = 1980.0;
        for (int night = 0; night < 6; night++) {
            (void)snprintf(name, sizeof name, "clock-%d", night);
            write_program(s, name, 10000, (char)('0' + night), KF_STATE_OK, program);
            const kf_verdict verdict = play(s, program);
            assert_verdict(&verdict, night == 0 ? KF_NODATA : KF_SAME);
        }
        if (more == 0) s->clock_mhz = 1800.0;
        write_program(s, "clock-9", 11000, 'f', KF_STATE_OK, program);
        const kf_verdict verdict = play(s, program);
        assert_verdict(&verdict, more != 0 ? KF_SLOW : KF_AMBIGUOUS);
        if (more == 0)
            assert_non_null(strstr(verdict.reason, "not in cycles: 1980 MHz then, 1800 MHz tonight"));
        free_stage(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_are_left_out),
        cmocka_unit_test(test_throttled_processes_are_measured_again),
        cmocka_unit_test(test_times_are_confirmed_in_cycles),
    };
    kf_log_set_level(KF_LOG_QUIET);
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
