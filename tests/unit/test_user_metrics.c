/* Tests the user's metrics and objectives. Faults: a wrong value or direction, or a wrong one that is
 * taken. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/record/user_metrics.h"

static void visit_numbers(const kf_problem *problem,
                          void (*visit)(void *context, const char *name, double value), void *context) {
    (void)problem;
    visit(context, "n", 4096);
    visit(context, "rows", 7);
}

static const kf_system numbered = {.name = "numbered", .numbers = visit_numbers};

static kf_problem problem_with_facts(void) {
    kf_problem problem = {.system = &numbered};
    kf_facts_number(&problem.facts, "node_count", 1000, "nodes");
    kf_facts_word(&problem.facts, "collision", "bgk");
    return problem;
}

static kf_config config_of(void) {
    kf_config config = {.system = "numbered"};
    kf_config_set_integer(&config, "block", 4);
    kf_config_set_boolean(&config, "fused", true);
    kf_config_set_name(&config, "ratio", "0.5");
    kf_config_set_name(&config, "plan", "paper");
    kf_config_set_integer(&config, "rows", 3);
    return config;
}

static kf_space *space_of(void) {
    const kf_config config = config_of();
    kf_space *space = NULL;
    assert_int_equal(kf_space_from_configs("here", &config, 1, &space, NULL), KF_OK);
    return space;
}

static kf_measurement measured(double time_us, double energy_j) {
    return (kf_measurement){.state = KF_STATE_OK, .step_us = {.median = time_us}, .energy_j = energy_j};
}

/* By hand: a step of 2 ms takes 0.5 J. */
static void values_are_known(void **state) {
    (void)state;
    static const struct {
        const char *definition;
        double value;
    } known[] = {
        {"rate=2*n/time", 4096000.0},
        {"seconds=time", 0.002},
        {"joules=energy", 0.5},
        {"watts=power", 250.0},
        {"product=edp", 0.001},
        {"per_block=rate/block", 1024000.0},
        {"GB/s=node_count*8/time/1e9", 0.004},
        {"half=ratio*fused", 0.5},
        {"is_paper=plan == 'paper'", 1.0},
        {"p=parameter_rows", 3.0},
        {"q=problem_rows", 7.0},
        {"hits=l2_hits / 2", 48.0},
    };
    enum { KNOWN = sizeof known / sizeof *known };
    const char *const counters[] = {"l2_hits"};
    kf_user_metrics metrics = {.count = 0};
    kf_problem problem = problem_with_facts();
    const kf_config config = config_of();
    kf_space *space = space_of();
    kf_error error = {KF_OK, ""};
    char why[KF_USER_REASON];
    for (int i = 0; i < KNOWN; i++)
        if (kf_user_metrics_add(&metrics, known[i].definition, &error) != KF_OK)
            fail_msg("%s", error.message);
    if (kf_user_metrics_check(&metrics, &problem, space, counters, 1, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_true(metrics.list[KNOWN - 1].counters && !metrics.list[0].counters);
    assert_true(kf_user_metrics_need_energy(&metrics) && !metrics.list[5].energy && metrics.list[3].energy);
    kf_measurement m = measured(2000, 0.5);
    m.counters = calloc(1, sizeof *m.counters);
    m.counter_count = 1;
    m.counters[0] = (kf_counter){.metric = "l2_hits", .value = 96};
    kf_user_metrics_compute(&metrics, &problem, &config, &m, why);
    assert_string_equal(why, "");
    assert_int_equal(m.user_value_count, KNOWN);
    for (int i = 0; i < KNOWN; i++) {
        const double value = m.user_values[i].value;
        if (!(fabs(value - known[i].value) <= 1e-12 * known[i].value))
            fail_msg("%s gives %g", known[i].definition, value);
        assert_true(kf_measurement_quantity(&m, metrics.list[i].name) == value);
    }
    /* A config that failed has none. */
    m.state = KF_STATE_CRASH;
    kf_user_metrics_compute(&metrics, &problem, &config, &m, why);
    assert_int_equal(m.user_value_count, 0);
    kf_measurement_free(&m);
    kf_user_metrics_free(&metrics);
    kf_space_free(space);
    kf_facts_free(&problem.facts);
}

/* What cannot be computed is unknown, with a reason, and is never a number. */
static void what_has_no_value_is_not_known(void **state) {
    (void)state;
    static const char *const unknown[][2] = {{"a=1/(block-4)", "zero"},
                                             {"b=energy*2", "'energy' is not known"},
                                             {"c=plan", "not a finite number"},
                                             {"d=1e308*1e308", "not a finite number"}};
    kf_problem problem = problem_with_facts();
    const kf_config config = config_of();
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        kf_user_metrics metrics = {.count = 0};
        char why[KF_USER_REASON];
        assert_int_equal(kf_user_metrics_add(&metrics, unknown[i][0], NULL), KF_OK);
        kf_measurement m = measured(10, 0);
        kf_user_metrics_compute(&metrics, &problem, &config, &m, why);
        assert_int_equal(m.user_value_count, 1);
        assert_true(isnan(m.user_values[0].value));
        if (strstr(why, unknown[i][1]) == NULL) fail_msg("%s: %s", unknown[i][0], why);
        kf_measurement_free(&m);
        kf_user_metrics_free(&metrics);
    }
    kf_facts_free(&problem.facts);
}

/* One line says what is wrong, and where in the expression. */
static void bad_metrics_are_refused(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"gflops", "give name=expression"},
        {"=3", "give name=expression"},
        {"a=", "give name=expression"},
        {"a b=3", "cannot be a metric's name"},
        {"a,b=3", "cannot be a metric's name"},
        {"time=3", "is a quantity that every config has"},
        {"first=3", "is given twice"},
        {"a=2*(3", "a: column 5"},
        {"a=2*__import__", "a: column 3: unknown name '__import__'"},
        {"a=n*blok", "a: column 3: unknown name 'blok' (did you mean 'block'?)"},
        {"block=3", "'block' is a parameter of the space"},
        {"a=2*rows", "write: parameter_rows or problem_rows"},
        {"a=collision", "unknown name 'collision'"},
        {"a=a+1", "unknown name 'a'"},
    };
    kf_problem problem = problem_with_facts();
    kf_space *space = space_of();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kf_user_metrics metrics = {.count = 0};
        kf_error error = {KF_OK, ""};
        assert_int_equal(kf_user_metrics_add(&metrics, "first=1", &error), KF_OK);
        kf_status status = kf_user_metrics_add(&metrics, bad[i][0], &error);
        if (status == KF_OK) status = kf_user_metrics_check(&metrics, &problem, space, NULL, 0, &error);
        assert_int_equal(status, KF_BAD_INPUT);
        if (strstr(error.message, bad[i][1]) == NULL) fail_msg("%s: %s", bad[i][0], error.message);
        kf_user_metrics_free(&metrics);
    }
    kf_space_free(space);
    kf_facts_free(&problem.facts);
}

static void objectives_are_read(void **state) {
    (void)state;
    static const char *const good[][2] = {{"time", "time"},
                                          {"min:energy", "energy"},
                                          {"max:rate", "max:rate"},
                                          {"time,max:rate,edp", "time,max:rate,edp"}};
    static const char *const bad[][2] = {{"speed", "unknown 'speed'"},
                                         {"max:rat", "did you mean 'rate'"},
                                         {"time,", "unknown ''"},
                                         {"time,min:time", "given twice"},
                                         {"maximum:rate", "unknown 'maximum:rate'"},
                                         {"time,energy,edp,power,rate", "at most 4"}};
    kf_user_metrics metrics = {.count = 0};
    kf_objective objective, again;
    kf_error error;
    char text[KF_OBJECTIVE_TEXT];
    assert_int_equal(kf_user_metrics_add(&metrics, "rate=1/time", NULL), KF_OK);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(kf_objective_read(good[i][0], &metrics, &objective, NULL), KF_OK);
        assert_string_equal(kf_objective_text(&objective, text), good[i][1]);
        kf_objective_of_text(text, &again);
        assert_int_equal(again.count, objective.count);
        assert_memory_equal(again.goals, objective.goals, sizeof again.goals);
        assert_true(objective.energy == (i % 2 == 1)); /* they alternate */
        assert_true(kf_objective_is_time(&objective) == (i == 0));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(kf_objective_read(bad[i][0], &metrics, &objective, &error), KF_BAD_INPUT);
        if (strstr(error.message, bad[i][1]) == NULL) fail_msg("%s: %s", bad[i][0], error.message);
    }
    kf_user_metrics_free(&metrics);
}

/* A cost falls where a quantity to be maximised grows. Several goals have the geometric mean of theirs. */
static void costs_follow_the_goals(void **state) {
    (void)state;
    kf_objective one = {.goals = {{"rate", true}}, .count = 1};
    kf_objective both = {.goals = {{"time", false}, {"energy", false}}, .count = 2};
    kf_user_value value = {"rate", 8.0};
    kf_measurement m = measured(100, 4);
    m.user_values = &value;
    m.user_value_count = 1;
    assert_true(fabs(kf_measurement_cost(&m, &one) - 0.125) < 1e-15);
    assert_true(fabs(kf_measurement_cost(&m, &both) - 20.0) < 1e-12);
    value.value = 0.0;
    assert_true(isinf(kf_measurement_cost(&m, &one)));
    value.value = (double)NAN;
    assert_true(isinf(kf_measurement_cost(&m, &one)));
    m.energy_j = 0.0;
    assert_true(isinf(kf_measurement_cost(&m, &both)));
    static const double a[] = {1, 2}, b[] = {1, 3}, c[] = {2, 1};
    assert_true(kf_costs_dominate(a, b, 2) && !kf_costs_dominate(b, a, 2));
    assert_true(!kf_costs_dominate(a, c, 2) && !kf_costs_dominate(c, a, 2) && !kf_costs_dominate(a, a, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_known),        cmocka_unit_test(what_has_no_value_is_not_known),
        cmocka_unit_test(bad_metrics_are_refused), cmocka_unit_test(objectives_are_read),
        cmocka_unit_test(costs_follow_the_goals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
