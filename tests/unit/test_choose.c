/* Tests which of its results a tuning run takes for the best. Faults: noise decides, a tie is not seen, or
 * a wrong result wins. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/tune/session.h"
#include "harness/tune/tune.h"

static void put(kf_evaluations *list, long work, kf_state state, double low, double median, double high) {
    kf_measurement m = {.state = state, .step_us = {.count = 5, .median = median, .low = low, .high = high}};
    kf_config config = {.system = "counter"};
    kf_config_set_integer(&config, "work", work);
    kf_evaluations_add(list, "search", &config, &m)->eligible = true;
}

static void finals_decide_and_overlap_is_a_tie(void **state) {
    (void)state;
    kf_tune_result result = {.presets = {0, 1, -1}};
    put(&result.tried, 1, KF_STATE_OK, 99, 100, 101);
    put(&result.tried, 2, KF_STATE_OK, 197, 200, 205);
    put(&result.tried, 3, KF_STATE_OK, 88, 90, 92);  /* lucky in the search */
    put(&result.tried, 4, KF_STATE_OK, 96, 99, 101); /* overlaps the best */
    put(&result.tried, 5, KF_STATE_WRONG_RESULT, 1, 1, 1);
    put(&result.tried, 6, KF_STATE_OK, 50, 50, 50); /* fails in the final */
    put(&result.finals, 1, KF_STATE_OK, 97, 98, 100);
    put(&result.finals, 3, KF_STATE_OK, 109, 110, 111);
    put(&result.finals, 6, KF_STATE_CRASH, 50, 50, 50);
    kf_tune_choose(&result);
    assert_int_equal(result.best, 0);
    assert_true(result.best_measurement->step_us.median == 98);
    assert_true(fabs(result.gain[KF_PRESET_DEFAULT] - 1.0) < 1e-12);
    assert_true(fabs(result.gain[KF_PRESET_BASELINE] - 200.0 / 98.0) < 1e-12);
    assert_true(isnan(result.gain[KF_PRESET_PAPER]));
    assert_int_equal(result.tie_count, 1);
    assert_int_equal(result.ties[0], 3);
    kf_tune_result_free(&result);
    kf_tune_result none = {.presets = {-1, -1, -1}};
    kf_tune_choose(&none);
    assert_int_equal(none.best, -1);
}

/* The default wins where nothing is measurably faster, and only there, whatever else a search tried. */
static void the_default_wins_a_tie(void **state) {
    (void)state;
    for (int faster = 0; faster < 2; faster++) {
        kf_tune_result result = {.presets = {0, -1, -1}, .noise_floor = 0.002};
        put(&result.tried, 1, KF_STATE_OK, 99.9, 100, 100.1);
        for (int i = 0; i < 20; i++)
            put(&result.tried, 2 + i, KF_STATE_OK, 99.8 + 0.01 * i, 99.85 + 0.01 * i, 99.9 + 0.01 * i);
        put(&result.finals, 1, KF_STATE_OK, 99.9, 100, 100.1);
        put(&result.finals, 5, KF_STATE_OK, 99.6, 99.7, 99.8);
        if (faster) put(&result.finals, 6, KF_STATE_OK, 97.9, 98.0, 98.1);
        kf_tune_choose(&result);
        assert_int_equal(result.best, faster ? 5 : 0);
        /* Among twenty ties the fastest are named. */
        assert_int_equal(result.tie_count, faster ? 0 : KF_BEST_TIES);
        if (!faster) assert_int_equal(result.ties[0], 4);
        kf_tune_result_free(&result);
    }
}

/* Of these three configs one is fastest, one uses least energy, and one has the least product of both. */
static void the_objective_decides(void **state) {
    (void)state;
    static const double times[] = {100, 200, 130}, joules[] = {3.0, 1.2, 1.7};
    static const char *const objectives[] = {"time", "energy", "edp", "time,energy"};
    static const int winners[] = {0, 1, 2, 2};
    for (int objective = 0; objective < 4; objective++) {
        kf_tune_result result = {.presets = {0, -1, -1}, .noise_floor = 0.001};
        assert_int_equal(kf_objective_read(objectives[objective], NULL, &result.objective, NULL), KF_OK);
        for (int i = 0; i < 3; i++) {
            put(&result.tried, 1 + i, KF_STATE_OK, times[i] - 1, times[i], times[i] + 1);
            put(&result.finals, 1 + i, KF_STATE_OK, times[i] - 1, times[i], times[i] + 1);
            result.tried.items[i].measurement.energy_j = result.finals.items[i].measurement.energy_j =
                joules[i];
        }
        kf_tune_choose(&result);
        assert_int_equal(result.best, winners[objective]);
        assert_int_equal(result.tie_count, 0);
        kf_tune_result_free(&result);
    }
}

/* Three of five configs are on the front of time and energy, in the order of time. One that cannot win and
 * one without a known energy are not. */
static void the_front_has_what_none_beats(void **state) {
    (void)state;
    static const double times[] = {200, 100, 130, 210, 90, 80}, joules[] = {1.2, 3.0, 1.7, 1.2, 0.1, 0.0};
    static const int front[] = {1, 2, 0};
    kf_tune_result result = {.presets = {0, -1, -1}, .noise_floor = 0.001};
    assert_int_equal(kf_objective_read("time,energy", NULL, &result.objective, NULL), KF_OK);
    for (int i = 0; i < 6; i++) {
        put(&result.tried, 1 + i, KF_STATE_OK, times[i] - 1, times[i], times[i] + 1);
        result.tried.items[i].measurement.energy_j = joules[i];
    }
    result.tried.items[4].eligible = false;
    kf_tune_choose(&result);
    assert_int_equal(result.front_count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(result.front[i], front[i]);
    kf_tune_result_free(&result);
}

/* Only configs that may win are named as ties, and speed is that of the objective: a default that takes
 * twice the time wins where energy is sought and it takes no more of it. */
static void ties_are_of_what_may_win_and_is_sought(void **state) {
    (void)state;
    static const double times[] = {200, 100, 101, 102}, joules[] = {1.001, 1.0, 1.002, 1.004};
    kf_tune_result result = {.presets = {0, -1, -1}, .noise_floor = 0.001};
    assert_int_equal(kf_objective_read("energy", NULL, &result.objective, NULL), KF_OK);
    for (int i = 0; i < 4; i++) {
        put(&result.tried, 1 + i, KF_STATE_OK, times[i] - 1, times[i], times[i] + 1);
        put(&result.finals, 1 + i, KF_STATE_OK, times[i] - 1, times[i], times[i] + 1);
        result.tried.items[i].measurement.energy_j = result.finals.items[i].measurement.energy_j = joules[i];
    }
    kf_tune_choose(&result);
    assert_int_equal(result.best, 0);
    assert_int_equal(result.tie_count, 3);
    assert_true(result.ties[0] == 1 && result.ties[1] == 2 && result.ties[2] == 3);
    result.tried.items[2].eligible = false;
    kf_tune_choose(&result);
    assert_int_equal(result.tie_count, 2);
    assert_true(result.ties[0] == 1 && result.ties[1] == 3);
    kf_tune_result_free(&result);
}

/* Time is reserved for the final by the number of configs that will be in it: one takes 0.3 s again, and a
 * worker takes 2 s to open. */
static void time_is_kept_for_who_will_join(void **state) {
    (void)state;
    static const struct {
        double budget;
        uint64_t space;
        int rounds;
        double seconds;
    } finals[] = {
        {30, 1000, 0, 3 * (2 + 4 * 0.3)},   /* three contenders and the default */
        {100, 1000, 0, 3 * (2 + 6 * 0.3)},  /* and the two other presets */
        {300, 1000, 0, 5 * (2 + 11 * 0.3)}, /* eight contenders and three presets */
        {300, 1000, 2, 2 * (2 + 11 * 0.3)}, {300, 1000, -1, 0},
        {30, 3, 0, 3 * (2 + 0.3)}, /* in such a small space no other config */
        {30, 4, 0, 3 * (2 + 4 * 0.3)},
    };
    for (size_t i = 0; i < sizeof finals / sizeof *finals; i++) {
        kf_tune_result result = {.presets = {0, -1, -1}, .space_size = finals[i].space};
        const kf_tune_request request = {.budget.seconds = finals[i].budget, .rounds = finals[i].rounds};
        const kf_session session = {.request = &request, .result = &result, .opening = 2.0, .overhead = 0.1};
        put(&result.tried, 1, KF_STATE_OK, 99, 100, 101);
        result.tried.items[0].measurement.measure_seconds = 0.2;
        const double seconds = kf_tune_final_seconds(&session);
        if (!(fabs(seconds - finals[i].seconds) < 1e-9))
            fail_msg("final %zu: %g s, not %g", i, seconds, finals[i].seconds);
        kf_tune_result_free(&result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finals_decide_and_overlap_is_a_tie),
        cmocka_unit_test(the_default_wins_a_tie),
        cmocka_unit_test(the_objective_decides),
        cmocka_unit_test(the_front_has_what_none_beats),
        cmocka_unit_test(ties_are_of_what_may_win_and_is_sought),
        cmocka_unit_test(time_is_kept_for_who_will_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
