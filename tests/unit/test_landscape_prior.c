/* Tests searches on a landscape that begin with what tuning knows before. Faults: a prior that is not used
 * or makes a search slower, or one of another problem. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/text.h"
#include "harness/replay/landscape_prior.h"
#include "harness/replay/replay.h"

static kf_landscape *open_landscape(const char *path) {
    kf_landscape *landscape = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_landscape_open(path, &landscape, &error) != KF_OK) fail_msg("%s", error.message);
    return landscape;
}

static void a_prior_leads_where_tuning_has_one(void **state) {
    (void)state;
    kf_landscape *landscape = open_landscape("tests/data/landscape-of-random-configs.json.gz");
    kf_landscape_prior prior;
    kf_replay_result plain, led;
    kf_error error = {KF_OK, ""};
    kf_replay_request request = {landscape, "local", 12, 20, 1, NULL};
    assert_true(kf_landscape_prior_open(landscape, &prior));
    if (kf_replay(&request, &plain, &error) != KF_OK) fail_msg("%s", error.message);
    request.prior = &prior.prior;
    if (kf_replay(&request, &led, &error) != KF_OK) fail_msg("%s", error.message);
    assert_true(led.means[11] < plain.means[11]);
    kf_replay_free(&plain);
    kf_replay_free(&led);
    kf_landscape_prior_close(&prior);
    /* Tuning on the cpu has none. */
    kf_copy_text(landscape->backend, sizeof landscape->backend, "cpu");
    assert_false(kf_landscape_prior_open(landscape, &prior));
    kf_landscape_free(landscape);
}

static void strategies_say_whether_they_are_led(void **state) {
    (void)state;
    assert_true(kf_strategy_uses_prior("model:points=100"));
    assert_true(kf_strategy_uses_prior("local"));
    assert_false(kf_strategy_uses_prior("random"));
}

static void searches_come_near_the_best_in_time(void **state) {
    (void)state;
    /* [evaluation][search]: the first is there at once, the second after two, the third after three, the last
     * never. */
    double regrets[] = {0.05, 0.5, 0.6, 0.9, 0.04, 0.01, 0.6, 0.9, 0.0, 0.01, 0.05, 0.9};
    double spent[] = {1, 2, 3, 4, 2, 4, 6, 8, 3, 6, 9, 12}, seconds[] = {2.5, 5, 7.5};
    kf_replay_result result = {
        .evaluations = 3, .repeats = 4, .regrets = regrets, .spent = spent, .seconds = seconds};
    kf_replay_within within = kf_replay_time_to(&result, 0.05);
    assert_int_equal(within.reached, 3);
    assert_true(within.evaluations == 3 && within.seconds == 9);
    within = kf_replay_time_to(&result, 0.01);
    assert_int_equal(within.reached, 2);
    assert_true(isinf(within.evaluations) && isinf(within.seconds));
    seconds[2] = (double)NAN;
    assert_true(isnan(kf_replay_time_to(&result, 0.05).seconds));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prior_leads_where_tuning_has_one),
        cmocka_unit_test(strategies_say_whether_they_are_led),
        cmocka_unit_test(searches_come_near_the_best_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
