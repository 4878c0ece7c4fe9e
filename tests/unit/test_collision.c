/* Tests every collision model, rate rule, basis, form and split of the kinetic system against the
 * reference, which computes each in another way. Faults: a wrong term in one combination.
 * KFTUNE_TEST_DEVICE chooses the device (default cpu). */
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
#include "solver/kinetic/kinetic_cases.h"
#include "tests/unit/kinetic_fixture.h"
#include "tests/unit/problem_fixture.h"

static volatile int never;

enum { STEPS = 12 };

/* A sheared, pressed stream between walls: all moments differ from zero. */
static void lively(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    (void)context;
    const double x = 2.0 * kf_pi * i / 12, y = 2.0 * kf_pi * j / 10, z = 2.0 * kf_pi * k / 8;
    *density = 1.0 + 0.01 * cos(x + y);
    velocity[0] = 0.05 + 0.03 * sin(y) * cos(z);
    velocity[1] = 0.04 * sin(x + z);
    velocity[2] = -0.03 * cos(x) * sin(y);
}

static kf_scene *make_scene(kf_collision collision, kf_rate_rule rule, kf_moment_basis basis) {
    kf_scene *scene = kf_flow_box("collision", 12, 10, 8, 0.01);
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_WALL;
    scene->initial_state = lively;
    scene->collision = collision;
    scene->rate_rule = rule;
    scene->basis = basis;
    scene->high_order_rate = 1.7;
    scene->body_force[0] = 2e-4;
    scene->body_force[1] = -1e-4;
    scene->body_force[2] = 3e-4;
    return scene;
}

/* Returns the largest relative deviation from the reference after STEPS steps. */
static double deviation(kf_scene *scene, const kf_reference *reference, const char *const *overrides) {
    kf_error error = {KF_OK, ""};
    const kf_validation validation = {.backend = backend, .interrupted = &never};
    kf_plan *plan;
    if (kf_kinetic_case_open(&validation, scene, overrides, &plan, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(kf_flow_advance(&validation, plan, STEPS, &error), KF_OK);
    kf_verification verification;
    if (kinetic_system->verify(plan, reference, &verification, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_flow_close(plan);
    return verification.error;
}

static kf_reference *make_reference(const kf_scene *scene) {
    kf_error error = {KF_OK, ""};
    kf_reference *reference;
    assert_int_equal(kinetic_system->reference(problem_of(kinetic_system, scene), STEPS, &reference, &error),
                     KF_OK);
    return reference;
}

static void test_every_model(void **state) {
    (void)state;
    static const char *const in_double[] = {"storage=f64", NULL};
    int models = 0;
    for (int collision = 0; collision < KF_COLLISIONS; collision++)
        for (int rule = 0; rule < KF_RATE_RULES; rule++)
            for (int basis = 0; basis < KF_BASES; basis++) {
                if (collision != KF_ACM_MRT && basis != 0) continue;
                if (collision == KF_BGK && rule != 0) continue;
                kf_error error = {KF_OK, ""};
                kf_scene *scene =
                    make_scene((kf_collision)collision, (kf_rate_rule)rule, (kf_moment_basis)basis);
                if (kinetic_system->accepts(problem_of(kinetic_system, scene), &error) == KF_OK) {
                    kf_reference *reference = make_reference(scene);
                    const double error_here = deviation(scene, reference, in_double);
                    print_message("%s %s %s: %.2g\n", kf_collision_names[collision],
                                  collision == KF_BGK ? "" : kf_rate_rule_names[rule],
                                  collision == KF_ACM_MRT ? kf_moment_basis_names[basis] : "", error_here);
                    assert_true(error_here < 1e-9);
                    kinetic_system->free_reference(reference);
                    models++;
                }
                kf_scene_free(scene);
            }
    /* These are bgk, rm_mrt with three rules, acm_mrt with six and, in the basis raw, four. */
    assert_int_equal(models, 14);
}

static void test_forms_and_splits(void **state) {
    (void)state;
    static const char *const variants[][5] = {
        {"storage=f64", "collision_form=factorised", NULL},
        {"storage=f64", "collision_form=expanded", NULL},
        {"storage=f64", "collision_form=shared", NULL},
        {"storage=f64", "plan=paper", "collision_split=3", "collision_form=factorised", NULL},
        {"storage=f64", "plan=paper", "collision_split=4", "collision_form=factorised", NULL},
        {"storage=f64", "plan=paper", "collision_split=2", "collision_form=shared", NULL},
    };
    kf_scene *scene = make_scene(KF_ACM_MRT, KF_RATE_CONSTANT, KF_BASIS_HERMITE);
    kf_reference *reference = make_reference(scene);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        assert_true(deviation(scene, reference, variants[i]) < 1e-10);
    kinetic_system->free_reference(reference);
    kf_scene_free(scene);
}

/* The form low_order agrees for every rule that has one rate for the orders 3 to 6, forces included. */
static void test_low_order_form(void **state) {
    (void)state;
    static const kf_rate_rule rules[] = {KF_RATE_ADAPTIVE_2020, KF_RATE_CONSTANT, KF_RATE_ONES};
    static const char *const two_grids[] = {"storage=f64", "collision_form=low_order", NULL};
    static const char *const one_grid[] = {"storage=f64", "collision_form=low_order", "streaming=shift",
                                           "slab=4", NULL};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        kf_scene *scene = make_scene(KF_ACM_MRT, rules[i], KF_BASIS_HERMITE);
        kf_reference *reference = make_reference(scene);
        const double first = deviation(scene, reference, two_grids),
                     second = deviation(scene, reference, one_grid);
        print_message("low_order %s: %.2g, on one grid %.2g\n", kf_rate_rule_names[rules[i]], first, second);
        assert_true(first < 1e-10 && second < 1e-10);
        kinetic_system->free_reference(reference);
        kf_scene_free(scene);
    }
}

/* A stream of 0.1 cells a step along x with noise that differs from node to node. */
static void noisy(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    (void)context;
    const unsigned place = (unsigned)(i + 31 * (j + 37 * k));
    *density = 1.0;
    for (unsigned a = 0; a < 3; a++) {
        unsigned bits = (3 * place + a) * 0x9e3779b1u;
        bits = (bits ^ bits >> 15) * 0x846ca68bu;
        velocity[a] = (a == 0 ? 0.1 : 0.0) + 1e-7 * ((double)(bits >> 8) / 16777216.0 - 0.5);
    }
}

/* Returns the root mean square of the velocity's difference from the stream. */
static double noise(const kf_scene *scene, kf_plan *plan) {
    kf_error error = {KF_OK, ""};
    double *values = NULL, sum = 0;
    assert_int_equal(kf_kinetic_read(plan, &values, &error), KF_OK);
    const size_t count = kf_flow_count(scene);
    for (size_t n = 0; n < count; n++)
        sum +=
            pow(values[count + n] - 0.1, 2) + pow(values[2 * count + n], 2) + pow(values[3 * count + n], 2);
    free(values);
    return sqrt(sum / (double)count);
}

/* Returns how much the noise grows in a step, between two moments at which its fastest wave has long
 * outgrown the others. */
static double growth(kf_collision collision, kf_rate_rule rule, double high_order_rate, double viscosity) {
    enum { EARLY = 600, LATE = 900 };
    static const char *const in_double[] = {"storage=f64", NULL};
    const kf_validation validation = {.backend = backend, .interrupted = &never};
    kf_error error = {KF_OK, ""};
    kf_scene *scene = kf_flow_box("growth", 12, 12, 12, viscosity);
    kf_plan *plan;
    scene->collision = collision;
    scene->rate_rule = rule;
    scene->high_order_rate = high_order_rate;
    scene->initial_state = noisy;
    if (kf_kinetic_case_open(&validation, scene, in_double, &plan, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(kf_flow_advance(&validation, plan, EARLY, &error), KF_OK);
    const double before = noise(scene, plan);
    assert_int_equal(kf_flow_advance(&validation, plan, LATE - EARLY, &error), KF_OK);
    const double result = log(noise(scene, plan) / before) / (LATE - EARLY);
    kf_flow_close(plan);
    kf_scene_free(scene);
    print_message("%s %s %g: noise grows by %.2g a step\n", kf_collision_names[collision],
                  kf_rate_rule_names[rule], viscosity, result);
    return result;
}

/* In a stream of 0.1 cells a step raw moments amplify short waves at a viscosity of 1e-4, and do not at
 * 2e-3. So do those that the paper cites. Central moments do not, nor those of k17 up to the largest
 * viscosity that is not refused (docs/physics.md). */
static void test_raw_moments_amplify_waves(void **state) {
    (void)state;
    assert_true(growth(KF_RM_MRT, KF_RATE_CONSTANT, 1.4, 1e-4) > 1e-3);
    assert_true(growth(KF_RM_MRT, KF_RATE_SUGA_2015, 1.4, 1e-4) > 1e-3);
    assert_true(growth(KF_RM_MRT, KF_RATE_CONSTANT, 1.4, 2e-3) < 0);
    assert_true(growth(KF_RM_MRT, KF_RATE_SUGA_2015, 1.4, 2e-3) < 0);
    assert_true(growth(KF_ACM_MRT, KF_RATE_CONSTANT, 1.98, 1e-4) < 0);
    assert_true(growth(KF_ACM_MRT, KF_RATE_K17, 1.0, 0.0238) < 0); /* at 0.025 noise grows by 1.4 % a step */
}

/* Rates that would blow up are refused with the reason, at the limits that were found (docs/physics.md). */
static void test_unstable_rates_are_refused(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = make_scene(KF_ACM_MRT, KF_RATE_CONSTANT, KF_BASIS_RAW);
    scene->high_order_rate = 1.98;
    scene->viscosity = (1.0 / 1.64 - 0.5) / 3.0;
    assert_int_equal(kinetic_system->accepts(problem_of(kinetic_system, scene), &error), KF_OK);
    scene->viscosity = (1.0 / 1.62 - 0.5) / 3.0;
    assert_int_equal(kinetic_system->accepts(problem_of(kinetic_system, scene), &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "unstable"));
    scene->basis = KF_BASIS_HERMITE;
    assert_int_equal(kinetic_system->accepts(problem_of(kinetic_system, scene), &error), KF_OK);
    scene->rate_rule = KF_RATE_K17;
    scene->viscosity = 0.0238; /* 1/42 and less */
    assert_int_equal(kinetic_system->accepts(problem_of(kinetic_system, scene), &error), KF_OK);
    scene->viscosity = 0.0239;
    assert_int_equal(kinetic_system->accepts(problem_of(kinetic_system, scene), &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "'k17' blows up at a lattice viscosity above 0.0238"));
    scene->viscosity = 0.01;
    scene->collision = KF_RM_MRT;
    assert_int_equal(kinetic_system->accepts(problem_of(kinetic_system, scene), &error), KF_BAD_INPUT);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_model),
        cmocka_unit_test(test_forms_and_splits),
        cmocka_unit_test(test_low_order_form),
        cmocka_unit_test(test_raw_moments_amplify_waves),
        cmocka_unit_test(test_unstable_rates_are_refused),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
