/* Tests what a night prints of its verdicts. Faults: a verdict that is missing, or another's words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/util/text.h"
#include "harness/nightly/night.h"

/* From 800 us a quarter more is 200 us; from 1250 us a fifth less is 250 us. */
static void test_changes_have_their_sign(void **state) {
    (void)state;
    static const struct {
        kf_verdict_state verdict;
        double change;
        const char *shown;
    } cases[] = {
        {KF_SLOW, 0.25, "+200 us (+25 %)"}, {KF_FAST, -0.2, "-250 us (-20 %)"}, {KF_NODATA, NAN, " - "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_verdict verdict = {.state = cases[i].verdict, .time_us = 1000, .change = cases[i].change};
        kf_copy_text(verdict.benchmark, sizeof verdict.benchmark, "ball");
        kf_nightly_result result = {.night = {.id = 7}, .count = 1, .verdicts = &verdict};
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        kf_nightly_print(&result, stream);
        assert_int_equal(fclose(stream), 0);
        if (strstr(text, cases[i].shown) == NULL) fail_msg("'%s' is not in:\n%s", cases[i].shown, text);
        assert_non_null(strstr(text, kf_verdict_names[cases[i].verdict]));
        free(text);
    }
}

/* Program, label and start are each in their place. Their characters of markup are escaped. */
static void test_markup_is_escaped(void **state) {
    (void)state;
    kf_verdict verdicts[] = {{.state = KF_SLOW, .time_us = 1000, .change = 0.25, .reason = "a|b"},
                             {.state = KF_SAME, .time_us = 2000, .change = NAN, .reason = "as before"}};
    for (int i = 0; i < 2; i++)
        kf_copy_text(verdicts[i].benchmark, sizeof verdicts[i].benchmark, i == 0 ? "ball" : "car");
    static const char *const labels[][2] = {{"nightly_2", " (nightly\\_2)"}, {"", ""}};
    for (int l = 0; l < 2; l++) {
        char absent[2][KF_BENCHMARK] = {"b_1", "c"};
        kf_nightly_result result = {.night = {.id = 7},
                                    .count = 2,
                                    .verdicts = verdicts,
                                    .absent = absent,
                                    .absent_count = l == 0 ? 2 : 0,
                                    .before = 6};
        kf_copy_text(result.night.suite, sizeof result.night.suite, "small");
        kf_copy_text(result.night.program, sizeof result.night.program, "0123456789abcdef0123");
        kf_copy_text(result.night.label, sizeof result.night.label, labels[l][0]);
        kf_copy_text(result.night.started, sizeof result.night.started, "2026-01-02T03:04:05Z");
        char head[256];
        (void)snprintf(
            head, sizeof head,
            "# Night 7 of small\n\n1 SAME, 1 SLOW. Program 0123456789ab%s, begun 2026-01-02T03:04:05Z.\n",
            labels[l][1]);
        kf_text text = {0};
        kf_nightly_markdown(&result, &text);
        if (strncmp(text.text, head, strlen(head)) != 0)
            fail_msg("%s\ndoes not begin with\n%s", text.text, head);
        assert_non_null(strstr(text.text, "\n| **SLOW** | ball | 1 ms | +200 us (+25 %) | a\\|b |\n"));
        assert_non_null(strstr(text.text, "\n| SAME | car | 2 ms | - | as before |\n"));
        assert_true((strstr(text.text, "\nNot measured tonight, but in night 6: b\\_1, c. ") != NULL) ==
                    (l == 0));
        kf_text_free(&text);
    }
}

/* Each verdict that fails is counted, and no other. */
static void test_failures_add_up(void **state) {
    (void)state;
    static const kf_verdict_state states[] = {KF_SAME,  KF_SLOW,   KF_FAST,  KF_SLOW, KF_AMBIGUOUS,
                                              KF_WRONG, KF_NODATA, KF_DRIFT, KF_SAME};
    enum { COUNT = sizeof states / sizeof *states };
    kf_verdict verdicts[COUNT];
    for (int i = 0; i < COUNT; i++)
        verdicts[i] = (kf_verdict){.state = states[i]};
    static const int failures[COUNT + 1] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4};
    for (int count = 0; count <= COUNT; count++) {
        const kf_nightly_result result = {.count = count, .verdicts = verdicts};
        assert_int_equal(kf_nightly_failures(&result), failures[count]);
    }
}

/* Every value of the answer is the one that its name says. All differ, and none is left out. */
static void test_every_value_has_its_name(void **state) {
    (void)state;
    kf_verdict verdicts[] = {{.state = KF_SLOW,
                              .benchmark = "ball",
                              .reason = "slower",
                              .program = "p1",
                              .time_us = 1000,
                              .threshold = 0.02,
                              .identical = true,
                              .reference = 5,
                              .change = 0.25,
                              .change_low = 0.125,
                              .change_high = 0.5,
                              .probability = 0.0625,
                              .kernel = "step",
                              .kernel_change_us = 3,
                              .counter = "dram",
                              .counter_before = 11,
                              .counter_after = 12},
                             {.state = KF_NODATA,
                              .benchmark = "car",
                              .reason = "first",
                              .program = "p2",
                              .time_us = NAN,
                              .threshold = NAN,
                              .change = NAN,
                              .change_low = NAN,
                              .change_high = NAN,
                              .probability = NAN}};
    char absent[2][KF_BENCHMARK] = {"b_1", "c"};
    const kf_nightly_result result = {.night = {.id = 7,
                                                .suite = "small",
                                                .uuid = "u-1",
                                                .program = "0123",
                                                .label = "release 2",
                                                .started = "2026-01-02T03:04:05Z"},
                                      .resumed = true,
                                      .processes = 6,
                                      .count = 2,
                                      .verdicts = verdicts,
                                      .absent = absent,
                                      .absent_count = 2,
                                      .before = 6};
    cJSON *json = kf_nightly_to_json(&result, "n.db");
    char *text = cJSON_PrintUnformatted(json);
    const char *from = strstr(text, "\"suite\"");
    assert_non_null(from);
    assert_string_equal(
        from,
        "\"suite\":\"small\",\"store\":\"n.db\",\"night\":7,\"uuid\":\"u-1\",\"program\":\"0123\",\"label\":"
        "\"release 2\",\"started\":\"2026-01-02T03:04:05Z\",\"resumed\":true,\"processes\":6,\"failures\":1,"
        "\"verdicts\":[{\"benchmark\":\"ball\",\"verdict\":\"SLOW\",\"reason\":\"slower\",\"program\":\"p1\","
        "\"time_us\":1000,\"threshold\":0.02,\"identical\":true,\"reference_night\":5,\"change\":0.25,"
        "\"change_us\":200,\"change_ci\":[0.125,0.5],\"p\":0.0625,\"kernel\":\"step\",\"kernel_change_us\":3,"
        "\"counter\":\"dram\",\"counter_before\":11,\"counter_after\":12},{\"benchmark\":\"car\",\"verdict\":"
        "\"NODATA\",\"reason\":\"first\",\"program\":\"p2\",\"time_us\":null,\"threshold\":null,"
        "\"identical\":false,"
        "\"reference_night\":null,\"change\":null,\"change_us\":null,\"change_ci\":[],\"p\":null}],"
        "\"absent\":[\"b_1\",\"c\"]}");
    free(text);
    cJSON_Delete(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes_have_their_sign), cmocka_unit_test(test_markup_is_escaped),
        cmocka_unit_test(test_failures_add_up), cmocka_unit_test(test_every_value_has_its_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
