/* Tests kftune validate: cases, configs, verdicts, and the cheapest cases. Faults: a failed case that
 * passes, or a case that is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/validate/validate.h"
#include "scene/scene.h"
#include "solver/systems.h"
#include "solver/validation/data.h"
#include "solver/validation/flow.h"
#include "tests/unit/plan_fixture.h"
#include "tests/unit/problem_fixture.h"

static volatile int never;

static kf_status validate(const char *const *cases, int case_count, const char *const *fixed, int fixed_count,
                          kf_validate_result *result, kf_error *error) {
    const kf_validate_options options = {.cases = cases,
                                         .case_count = case_count,
                                         .fixed = fixed,
                                         .fixed_count = fixed_count,
                                         .quick = true,
                                         .interrupted = &never};
    return kf_validate(backend, &options, result, error);
}

/* An interrupt ends the case that notices it and those after it. Checks that were done are kept. */
static void test_an_interrupt_keeps_finished_checks(void **state) {
    (void)state;
    static const volatile int at_once = 1;
    static const char *const cases[] = {"sph-operators", "incompressible-tg", "incompressible-wake"};
    kf_error error = {KF_OK, ""};
    kf_validate_result result;
    const kf_validate_options options = {
        .cases = cases, .case_count = 3, .quick = true, .interrupted = &at_once};
    if (kf_validate(backend, &options, &result, &error) != KF_OK) fail_msg("%s", error.message);
    assert_true(result.interrupted);
    assert_true(result.check_count > 0);
    assert_int_equal(result.cases_run, 2);
    assert_int_equal(strncmp(result.unfinished, "incompressible-tg (", 19), 0);
    for (int i = 0; i < result.check_count; i++)
        assert_string_equal(result.checks[i].name, "sph-operators");
    kf_validate_free(&result);
}

/* 16-bit storage is refused where it is not accurate enough, and measured there on request. */
static void test_half_precision(void **state) {
    (void)state;
    static const char *const cases[] = {"galilean", "taylor_green_2d"}, *const fixed[] = {"storage=f16"},
                             *const both[] = {"galilean", "force_balance"}, *const wrong[] = {"storage=f15"};
    kf_error error = {KF_OK, ""};
    kf_validate_result result;
    if (validate(cases, 2, fixed, 1, &result, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(result.cases_refused, 1);
    assert_non_null(strstr(result.refused, "galilean ("));
    assert_non_null(strstr(result.refused, "accuracy"));
    assert_null(strstr(result.refused, "taylor_green"));
    assert_int_equal(result.checks_failed, 0);
    kf_validate_free(&result);
    assert_int_equal(validate(cases, 1, fixed, 1, &result, &error), KF_BAD_INPUT);
    assert_int_equal(validate(cases, 2, wrong, 1, &result, &error), KF_BAD_INPUT);

    const kf_validate_options anyway = {.cases = both,
                                        .case_count = 2,
                                        .fixed = fixed,
                                        .fixed_count = 1,
                                        .accuracy = 0.1,
                                        .quick = true,
                                        .interrupted = &never};
    if (kf_validate(backend, &anyway, &result, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(result.cases_refused, 0);
    int failed = 0;
    for (int i = 0; i < result.check_count; i++)
        failed += !result.checks[i].pass;
    assert_int_equal(result.checks_failed, failed);
    assert_true(failed > 1);
    kf_validate_free(&result);
}

static void test_cheap_cases_pass(void **state) {
    (void)state;
    static const char *const cases[] = {"taylor_green_2d", "galilean", "force_balance"};
    kf_error error = {KF_OK, ""};
    kf_validate_result result;
    if (validate(cases, 3, NULL, 0, &result, &error) != KF_OK) fail_msg("%s", error.message);
    for (int i = 0; i < result.check_count; i++)
        print_message("%s, %s: %.6g (expected %.6g), error %.2g of %.2g\n", result.checks[i].name,
                      result.checks[i].quantity, result.checks[i].measured, result.checks[i].expected,
                      result.checks[i].error, result.checks[i].bound);
    assert_int_equal(result.cases_run, 3);
    assert_true(result.check_count >= 11);
    assert_int_equal(result.checks_failed, 0);
    assert_string_equal(result.unfinished, "");
    kf_validate_free(&result);
}

static void test_unknown_case_is_named(void **state) {
    (void)state;
    static const char *const cases[] = {"poisseuille"};
    kf_error error = {KF_OK, ""};
    kf_validate_result result;
    assert_int_equal(validate(cases, 1, NULL, 0, &result, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "did you mean poiseuille?"));
}

static void test_fixed_parameters(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    static const char *const fixed[] = {"plan=paper"};
    static const char *const overrides[] = {"storage=f64", "plan=fused", NULL};
    const kf_system *system;
    const char *plan, *storage;
    kf_config config;
    kf_validation validation = {.backend = backend, .fixed = fixed, .fixed_count = 1};
    assert_int_equal(kf_system_find("kinetic", &system, &error), KF_OK);
    kf_scene *scene = kf_flow_box("box", 8, 8, 8, 0.1);
    if (kf_validation_configure(&validation, problem_of(system, scene), overrides, &config, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(kf_config_name(&config, "plan", &plan, &error), KF_OK);
    assert_int_equal(kf_config_name(&config, "storage", &storage, &error), KF_OK);
    assert_string_equal(plan, "paper"); /* the user's choice overrides the case's */
    assert_string_equal(storage, "f64");
    static const char *const wrong[] = {"storage=f63"};
    validation.fixed = wrong;
    assert_int_equal(kf_validation_configure(&validation, problem_of(system, scene), NULL, &config, &error),
                     KF_BAD_INPUT);
    kf_scene_free(scene);
}

static void test_checks_pass_within_their_bounds(void **state) {
    (void)state;
    kf_validation validation = {.case_name = "verdicts"};
    kf_check_relative(&validation, "a", "", 2.0, 2.02, 0.0101);
    kf_check_relative(&validation, "b", "", 2.0, 2.03, 0.0101);
    kf_check_absolute(&validation, "c", "", 0.0, NAN, 1e9);
    kf_check_at_least(&validation, "d", "", 2.0, 2.5, 0.0);
    kf_check_at_least(&validation, "e", "", 2.0, NAN, 0.1);
    kf_check_at_most(&validation, "f", "", 1.0, 1.2, 0.1);
    static const bool expected[] = {true, false, false, true, false, false};
    assert_int_equal(validation.check_count, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(validation.checks[i].pass, expected[i]);
    free(validation.checks);
}

/* The tables agree with numbers that their sources state in the text. */
static void test_reference_data(void **state) {
    (void)state;
    assert_true(fabs(kf_taylor_green_energy[0] - 0.125) < 1e-9);
    assert_true(fabs(kf_taylor_green_energy[36] - 0.086404) < 1e-6);
    for (int i = 1; i < KF_TAYLOR_GREEN_ROWS; i++)
        assert_true(kf_taylor_green_energy[i] < kf_taylor_green_energy[i - 1]);
    double least = 0;
    for (int i = 0; i < KF_ALBENSOEDER_V; i++)
        least = fmin(least, kf_albensoeder_v_1000[i].velocity);
    assert_true(fabs(least + 0.43423) < 1e-6);
}

/* Samples cover the whole surface, and none has more than its share. */
static void test_made_surfaces(void **state) {
    (void)state;
    kf_scene *ball = kf_flow_box("ball", 32, 32, 32, 0.1), *torus = kf_flow_box("torus", 32, 32, 32, 0.1);
    const double center[3] = {15, 16, 14};
    kf_flow_add_ball(ball, center, 5.0, 10.0);
    kf_flow_add_torus(torus, center, 8.0, 3.0, 10.0);
    assert_true(fabs(ball->solid_area / (4.0 * kf_pi * pow(5.0 - ball->surface_depth, 2)) - 1.0) < 1e-9);
    assert_true(fabs(torus->solid_area / (4.0 * kf_pi * kf_pi * 8.0 * (3.0 - torus->surface_depth)) - 1.0) <
                1e-9);
    for (size_t s = 0; s < ball->samples.count; s++)
        assert_true(
            fabs(hypot(hypot(ball->samples.x[s] - 15, ball->samples.y[s] - 16), ball->samples.z[s] - 14) -
                 (5.0 - ball->surface_depth)) < 1e-9);
    assert_true(ball->surface_depth > 0.3 && ball->surface_depth < 0.6);
    kf_scene_free(ball);
    kf_scene_free(torus);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cheap_cases_pass), cmocka_unit_test(test_an_interrupt_keeps_finished_checks),
        cmocka_unit_test(test_half_precision),   cmocka_unit_test(test_unknown_case_is_named),
        cmocka_unit_test(test_fixed_parameters), cmocka_unit_test(test_checks_pass_within_their_bounds),
        cmocka_unit_test(test_reference_data),   cmocka_unit_test(test_made_surfaces),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
