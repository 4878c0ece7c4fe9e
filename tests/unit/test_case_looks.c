/* Tests at which moment of a flow a validation case takes its figure. The flows are made up of vortices
 * whose number and strength the test chooses. Faults: the figure of another moment counts, or that of a
 * flow that has blown up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/memory.h"
#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/kinetic_cases.h"
#include "tests/tools/recording_backend.h"

enum { LOOKS = 20 };

static int plans, looks; /* of the case that runs: plans, and looks at the last */
static const kf_plan *watched;

kf_status __wrap_kf_plan_advance(kf_plan *plan, uint64_t steps, kf_error *error);
kf_status __wrap_kf_plan_initialise(kf_plan *plan, kf_error *error);
kf_status __wrap_kf_kinetic_read(kf_plan *plan, double **values, kf_error *error);

kf_status __wrap_kf_plan_advance(kf_plan *plan, uint64_t steps, kf_error *error) {
    (void)error;
    plan->steps_done += steps;
    return KF_OK;
}

kf_status __wrap_kf_plan_initialise(kf_plan *plan, kf_error *error) {
    (void)error;
    plan->steps_done = 0;
    return KF_OK;
}

/* The first plan blows up at the look after 55 % of the time. The second is strongest in the middle and
 * weakest at the end, where alone it has two vortices. */
kf_status __wrap_kf_kinetic_read(kf_plan *plan, double **values, kf_error *error) {
    (void)error;
    const int *n = kf_plan_scene(plan)->nodes;
    const size_t count = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    if (plan != watched || looks > LOOKS || plan->steps_done == 0) {
        plans++;
        looks = 0;
    }
    watched = plan;
    const bool last = looks == LOOKS;
    const double strength = looks == 7 ? 1.3 : last ? 0.5 : 1.0, waves = last ? 2.0 : 4.0;
    *values = kf_allocate(4 * count * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        const double x = (double)(i % (size_t)n[0]) / n[0],
                     y = (double)(i / (size_t)n[0] % (size_t)n[1]) / n[1];
        (*values)[i] = 1.0;
        (*values)[count + i] = 0.02 * strength * sin(waves * 3.141592653589793 * y) / waves;
        (*values)[2 * count + i] = 0.02 * strength * sin(waves * 3.141592653589793 * x) / waves;
        (*values)[3 * count + i] = plans == 1 && looks == 12 ? (double)NAN : 0.0;
    }
    looks++;
    return KF_OK;
}

static double measured(const kf_validation *validation, const char *beginning) {
    for (int i = 0; i < validation->check_count; i++)
        if (strncmp(validation->checks[i].quantity, beginning, strlen(beginning)) == 0)
            return validation->checks[i].measured;
    fail_msg("no check begins so: %s", beginning);
    return NAN;
}

/* The case reports the time of the first look at which the flow is no number, the largest vorticity of all
 * looks over that of the first, and the vortices of the last. */
static void a_shear_layer_is_watched(void **state) {
    (void)state;
    static const int never = 0;
    kf_error error = {KF_OK, ""};
    kf_backend *backend = recording_open(&recording_host);
    recording_of(backend)->most_bytes = (size_t)56 << 20;
    kf_validation validation = {.backend = backend,
                                .quick = true,
                                .interrupted = &never,
                                .accuracy = KF_DEFAULT_ACCURACY,
                                .case_name = "shear_layer"};
    if (kf_case_shear_layer(&validation, &error) != KF_OK) fail_msg("%s", error.message);
    assert_true(fabs(measured(&validation, "BGK on 128^2 blows up") - 0.6) < 1e-12);
    assert_true(measured(&validation, "ACM-MRT on 128^2 blows up") == 0.0);
    assert_true(measured(&validation, "ACM-MRT: vortices") == 2.0);
    const double ratio = measured(&validation, "ACM-MRT: largest vorticity");
    if (!(fabs(ratio - 1.3) < 1e-3)) fail_msg("largest vorticity over the first: %g", ratio);
    free(validation.checks);
    kf_backend_close(backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_shear_layer_is_watched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
