/* What a night prints of its verdicts. */
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

/* A quarter more than 800 us are 200 us, a fifth less than 1250 us are 250 us. */
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_changes_have_their_sign)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
