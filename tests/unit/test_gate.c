/* Tests the gate's measure of how far a plan is from the reference (docs/gate.md). Faults: a wrong value,
 * a NaN or a value where nothing happens that passes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "solver/flow/gate.h"

enum { COUNT = 1000, COMPONENTS = 3 };
static double reference[(1 + COMPONENTS) * COUNT], values[(1 + COMPONENTS) * COUNT];

/* Returns the deviation of a stream along x of density 1 with an error in density and velocity of every
 * node. */
static kf_field_deviation stream(double speed, double density_error, double velocity_error) {
    memset(reference, 0, sizeof reference);
    for (size_t n = 0; n < COUNT; n++)
        reference[COUNT + n] = speed;
    memcpy(values, reference, sizeof values);
    for (size_t n = 0; n < COUNT; n++) {
        values[n] += n % 2 == 0 ? density_error : -density_error;
        values[2 * COUNT + n] += velocity_error;
    }
    return kf_compare_fields(values, reference, COUNT, COMPONENTS);
}

static bool near_to(double value, double expected) {
    return fabs(value - expected) <= 1e-6 * expected;
}

static void a_uniform_stream_is_held_against_its_dynamic_pressure(void **state) {
    (void)state;
    const kf_field_deviation rounding = stream(0.05, 1e-8, 0.0), wrong = stream(0.05, 3e-6, 2e-5);
    assert_true(near_to(rounding.density, 1e-8 / (1.5 * 0.05 * 0.05)));
    assert_true(rounding.velocity == 0.0 && rounding.mass < 1e-15);
    assert_true(near_to(wrong.density, 3e-6 / (1.5 * 0.05 * 0.05)));
    assert_true(near_to(wrong.velocity, 2e-5 / 0.05));
}

static void fluid_at_rest_has_an_absolute_scale(void **state) {
    (void)state;
    const kf_field_deviation rest = stream(0.0, 1e-8, 2e-8);
    assert_true(near_to(rest.density, 1e-4));
    assert_true(near_to(rest.velocity, 2e-4));
}

static void what_is_not_a_number_does_not_pass(void **state) {
    (void)state;
    const kf_field_deviation lost = stream(0.05, (double)NAN, 0.0);
    kf_verification verification = {.count = 0};
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_judge(&lost, 0.0, 1e-4, &verification, &error), KF_GATE_FAILED);
    const kf_field_deviation right = stream(0.05, 1e-8, 0.0);
    verification = (kf_verification){.count = 0};
    assert_int_equal(kf_judge(&right, 0.0, 1e-4, &verification, &error), KF_OK);
    verification = (kf_verification){.count = 0};
    assert_int_equal(kf_judge(&right, 3e-3, 1e-4, &verification, &error), KF_GATE_FAILED);
    const kf_deviation *last = &verification.deviations[verification.count - 1];
    assert_string_equal(last->name, "force");
    assert_true(last->value == 3e-3);
    assert_non_null(strstr(error.message, "force deviates from the reference"));
}

/* The quantity that is farthest beyond its bound is named first, and a NaN before all. */
static void the_farthest_deviation_is_named(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_verification v = {.worst = "here"};
    kf_verification_add(&v, "fields", 2e-4, 1e-4);
    kf_verification_add(&v, "divergence", 5e-3, 1e-3);
    kf_verification_add(&v, "mass", 0.0, 0.0);
    assert_true(v.error == 2e-4 && v.bound == 1e-4 && v.count == 3);
    assert_int_equal(kf_verification_judge(&v, &error), KF_GATE_FAILED);
    assert_string_equal(error.message,
                        "divergence deviates from the reference: fields 0.0002 (bound 0.0001), divergence "
                        "0.005 (bound 0.001), mass 0 (bound 0); here");
    kf_verification_add(&v, "momentum", (double)NAN, 1.0);
    assert_int_equal(kf_verification_judge(&v, &error), KF_GATE_FAILED);
    assert_non_null(strstr(error.message, "momentum deviates"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_uniform_stream_is_held_against_its_dynamic_pressure),
        cmocka_unit_test(fluid_at_rest_has_an_absolute_scale),
        cmocka_unit_test(what_is_not_a_number_does_not_pass),
        cmocka_unit_test(the_farthest_deviation_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
