/* Tests how samples are judged by clocks and outliers, and the cache policies on a real plan. Faults: a
 * disturbed sample counts, or a sound one does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "harness/measure/measure.h"
#include "harness/measure/quality.h"
#include "scene/scene.h"
#include "tests/unit/kinetic_plan.h"

enum { SAMPLES = 20 };

/* Makes samples of about 100 us, at 1980 MHz. */
static kf_measurement make_measurement(void) {
    kf_measurement m = {.sample_count = SAMPLES};
    m.samples_us = kf_allocate(SAMPLES * sizeof *m.samples_us);
    m.clocks_mhz = kf_allocate(SAMPLES * sizeof *m.clocks_mhz);
    for (int i = 0; i < SAMPLES; i++) {
        m.samples_us[i] = 100.0 + 0.01 * (i % 5);
        m.clocks_mhz[i] = 1980.0;
    }
    return m;
}

static void test_steady_clock(void **state) {
    (void)state;
    kf_measurement m = make_measurement();
    kf_classify_clocks(&m);
    assert_int_equal(m.clock_state, KF_CLOCK_STEADY);
    assert_true(fabs(m.clock_mhz - 1980.0) < 1e-9);
    m.clocks_mhz[3] = m.clocks_mhz[9] = 1500.0; /* a tenth is tolerated, and reported */
    kf_classify_clocks(&m);
    assert_int_equal(m.clock_state, KF_CLOCK_STEADY);
    for (int i = 12; i < 17; i++)
        m.clocks_mhz[i] = 1700.0;
    kf_classify_clocks(&m);
    assert_int_equal(m.clock_state, KF_CLOCK_UNSTEADY);
    for (int i = 0; i < SAMPLES; i++)
        m.clocks_mhz[i] = (double)NAN;
    kf_classify_clocks(&m);
    assert_int_equal(m.clock_state, KF_CLOCK_UNKNOWN);
    assert_true(m.clock_mhz <= 0.0);
    kf_measurement_free(&m);
}

static void test_clock_rises(void **state) {
    (void)state;
    const double clocks[] = {345, 800, 1500, 1900, 1975, 1980, 1980, 1978, 1980};
    assert_false(kf_clock_is_steady(clocks, 4));
    assert_false(kf_clock_is_steady(clocks, 6));
    assert_false(kf_clock_is_steady(clocks, 8)); /* 1900 is 4 % off */
    assert_true(kf_clock_is_steady(clocks, 9));
    const double unknown[] = {1980, 1980, (double)NAN, 1980, 1980};
    assert_false(kf_clock_is_steady(unknown, 5));
}

static void test_outliers_are_described(void **state) {
    (void)state;
    kf_measurement m = make_measurement();
    kf_classify_clocks(&m);
    kf_describe_outliers(&m);
    assert_string_equal(m.outliers, "");
    m.samples_us[7] = 150.0;
    kf_describe_outliers(&m);
    assert_string_equal(m.outliers,
                        "1 of 20 samples far off, 1 of them very far: other work on the machine, perhaps");
    m.clocks_mhz[7] = 1300.0;
    kf_describe_outliers(&m);
    assert_non_null(strstr(m.outliers, "at another clock"));
    m.samples_us[7] = 100.0;
    m.samples_us[0] = 400.0;
    kf_describe_outliers(&m);
    assert_non_null(strstr(m.outliers, "among the first samples"));
    m.samples_us[0] = 100.0;
    m.samples_us[11] = 50.0;
    kf_describe_outliers(&m);
    assert_non_null(strstr(m.outliers, "faster than the rest"));
    kf_measurement_free(&m);
}

static void test_json_keeps_all(void **state) {
    (void)state;
    kf_measurement m = make_measurement(), copy;
    kf_error error = {0};
    m.step_us = kf_summarise(m.samples_us, m.sample_count);
    m.batch = 2;
    m.cache = KF_CACHE_COLD;
    m.energy_j = 0.25;
    m.clocks_mhz[4] = (double)NAN;
    kf_classify_clocks(&m);
    cJSON *json = kf_measurement_to_json(&m);
    if (kf_measurement_from_json(json, &copy, &error) != KF_OK) fail_msg("%s", error.message);
    cJSON_Delete(json);
    assert_int_equal(copy.cache, KF_CACHE_COLD);
    assert_int_equal(copy.clock_state, KF_CLOCK_STEADY);
    assert_true(fabs(copy.energy_j - 0.25) < 1e-12);
    assert_true(isnan(copy.clocks_mhz[4]) && fabs(copy.clocks_mhz[5] - 1980.0) < 1e-9);
    kf_measurement_free(&copy);
    kf_measurement_free(&m);
}

/* Every policy of caches gives times of the same plan, and is named. */
static void test_cache_policies(void **state) {
    (void)state;
    kinetic_plan made;
    kf_error error = {0};
    const kf_scene_options options = {.node_limit = 4000};
    if (kinetic_plan_open(&made, "cpu:1", "ball", &options, "baseline", &error) != KF_OK)
        fail_msg("%s", error.message);
    for (int cache = 0; cache < KF_CACHE_POLICIES; cache++) {
        kf_measure_policy policy = kf_policy_for(kf_backend_device(made.backend));
        policy.cache = (kf_cache_policy)cache;
        policy.time_limit_us = 5e4;
        policy.kernel_limit_us = 1e4;
        kf_measurement m = {0};
        if (kf_measure_plan(made.plan, &policy, NULL, &m, &error) != KF_OK) fail_msg("%s", error.message);
        assert_int_equal(m.state, KF_STATE_OK);
        assert_int_equal(m.cache, cache);
        assert_true(m.step_us.median > 0.0);
        assert_null(m.clocks_mhz); /* cores of a processor have no such clock */
        kf_measurement_free(&m);
    }
    kinetic_plan_close(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady_clock),           cmocka_unit_test(test_clock_rises),
        cmocka_unit_test(test_outliers_are_described), cmocka_unit_test(test_json_keeps_all),
        cmocka_unit_test(test_cache_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
