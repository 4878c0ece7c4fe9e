/* Tests the quick validation cases of every system that fit into a test: flows with a known answer.
 * Faults: an error that a plan and its reference share. */
#include "harness/validate/validate.h"
#include "tests/unit/plan_fixture.h"

static volatile int never;

/* All checks of the cases pass, and there are this many. */
static void pass(const char *const *cases, int count, int checks) {
    kf_error error = {KF_OK, ""};
    kf_validate_result result;
    const kf_validate_options options = {
        .cases = cases, .case_count = count, .quick = true, .interrupted = &never};
    must(kf_validate(backend, &options, &result, &error), &error);
    for (int i = 0; i < result.check_count; i++)
        if (!result.checks[i].pass)
            print_error("%s, %s: %.6g (expected %.6g), error %.2g of %.2g\n", result.checks[i].name,
                        result.checks[i].quantity, result.checks[i].measured, result.checks[i].expected,
                        result.checks[i].error, result.checks[i].bound);
    print_message("%d cases, %d checks\n", result.cases_run, result.check_count);
    assert_int_equal(result.cases_run, count);
    assert_int_equal(result.checks_failed, 0);
    if (strcmp(kf_backend_device(backend)->backend, "cpu") == 0) assert_int_equal(result.check_count, checks);
    kf_validate_free(&result);
}

/* All kernels of these cases are compiled as for users, including lines along each axis, solids and mirror
 * images. */
static void stable_fluids(void **state) {
    (void)state;
    static const char *const cases[] = {"sf_projection", "sf_particles", "sf_walls"};
    pass(cases, sizeof cases / sizeof *cases, 17);
}
/* The same kernels run at other sizes, where nearly all time is the compiler's. */
static void small_stable_fluids(void **state) {
    (void)state;
    static const char *const cases[] = {"sf_diffusion",  "sf_energy",   "sf_shear_wave",
                                        "sf_seed_force", "sf_symmetry", "sf_numerical_viscosity"};
    pass(cases, sizeof cases / sizeof *cases, 32);
}
static void cases_of_particles(void **state) {
    (void)state;
    static const char *const cases[] = {"sph-operators", "sph-dam-break"};
    pass(cases, 2, 11);
}
static void incompressible(void **state) {
    (void)state;
    static const char *const cases[] = {"incompressible-div"};
    pass(cases, 1, 2);
}
static void cases_of_kinetic(void **state) {
    (void)state;
    static const char *const cases[] = {"outflow", "torus"};
    pass(cases, sizeof cases / sizeof *cases, 9);
}
/* These are flows along walls at rest, where nearly all time is the compiler's. */
static void cases_of_channels(void **state) {
    (void)state;
    static const char *const cases[] = {"poiseuille", "slip"};
    pass(cases, sizeof cases / sizeof *cases, 10);
}
/* Kernels as for users are in the first three tests and in test_incompressible. */
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stable_fluids),    cmocka_unit_test(cases_of_particles),
        cmocka_unit_test(cases_of_kinetic), cmocka_unit_test_setup(cases_of_channels, take_quick_compiler),
        cmocka_unit_test(incompressible),   cmocka_unit_test(small_stable_fluids)};
    return cmocka_run_group_tests(tests, open_backend, close_backend);
}
