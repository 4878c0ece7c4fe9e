/* Tests measurements as JSON. Faults: a member that is lost or changed, or damaged JSON that is taken. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/record/measurement.h"
#include "tests/unit/full_measurement.h"

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
    /* There are as many clocks as samples, or none. An integer fits its member. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_keeps_everything),
        cmocka_unit_test(json_keeps_every_member),
        cmocka_unit_test(damaged_json_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
