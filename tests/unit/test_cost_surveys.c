/* Tests the cost models against random surveys of an H200 (results/measured): the rank correlation of each
 * without calibration, also with rates chosen on the system's other surveys. Faults: a change that makes
 * the order of configs worse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tools/surveys.h"

static const struct {
    const char *name;
    double least, left_out; /* 0: its model has no rates to choose */
} bounds[] = {{"survey-cavity2d-1536x1536x1", 0.93, 0},
              {"survey-cylinder_array2d-1280x1280x1", 0.93, 0},
              {"survey-cavity2d-1024x1024x1", 0.97, 0},
              {"survey-cylinder_array2d-1792x1792x1", 0.9, 0},
              {"decay-512x512x1", 0.95, 0.95},
              {"decay-1536x1536x1", 0.88, 0.89},
              {"survey-decay-768x768x1", 0.85, 0.85},
              {"survey-decay-1024x1024x1", 0.89, 0.88},
              {"survey-decay-1280x1280x1", 0.85, 0.84},
              {"survey-decay-2048x2048x1", 0.77, 0.77},
              {"survey-decay-2304x2304x1", 0.88, 0.87},
              {"survey-decay-3072x3072x1", 0.89, 0.89},
              {"survey-particles_32-80x80x80", 0.93, 0.93},
              {"survey-particles_32-96x96x96", 0.83, 0.83},
              {"survey-particles_80-72x72x72", 0.88, 0.87},
              {"survey-particles_bingham-64x64x64", 0.88, 0.85},
              {"survey-avalanche-300x300x150", 0.93, 0.91},
              {"survey-dam_break_3d-120x120x120", 0.93, 0.91},
              {"survey-ball-128x112x96", 0.95, 0},
              {"survey-ball-160x96x80", 0.95, 0}};
enum { BOUNDS = sizeof bounds / sizeof *bounds };

static int survey_of(const char *name) {
    for (int i = 0; i < KF_SURVEYS; i++)
        if (strcmp(kf_surveys[i].name, name) == 0) return i;
    fail_msg("%s: no such survey", name);
    return -1;
}

static void surveys_of_an_h200(void **state) {
    (void)state;
    for (int i = 0; i < BOUNDS; i++) {
        const double correlation = kf_survey_predict(&kf_surveys[survey_of(bounds[i].name)]);
        if (!(correlation >= bounds[i].least))
            fail_msg("%s: rank correlation %.4f", bounds[i].name, correlation);
    }
}

static void left_out(void **state) {
    (void)state;
    for (int i = 0; i < BOUNDS; i++) {
        const int which = survey_of(bounds[i].name);
        kf_chosen_rates chosen;
        const bool can = kf_surveys_choose(kf_surveys[which].system, which, &chosen);
        assert_int_equal(can, bounds[i].left_out > 0);
        if (!can) continue;
        const double correlation = kf_survey_predict(&kf_surveys[which]);
        kf_surveys_restore(&chosen);
        if (!(correlation >= bounds[i].left_out))
            fail_msg("%s, left out: rank correlation %.4f", bounds[i].name, correlation);
    }
}

static int opened(void **state) {
    (void)state;
    kf_surveys_open(NULL);
    return 0;
}
static int closed(void **state) {
    (void)state;
    kf_surveys_close();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(surveys_of_an_h200), cmocka_unit_test(left_out)};
    return cmocka_run_group_tests(tests, opened, closed);
}
