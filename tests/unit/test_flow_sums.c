/* Averages of the domain that the flow's kernels add up as they write it (flow_sums) are those that another
 * kernel reads, but for rounding. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "tests/unit/kinetic_states.h"

enum {
    ROW = 2 * KF_AVERAGE_STRIDE,
    STEPS = 37,
    MORE = 20
}; /* an odd number of steps, beyond two of the averages */

/* Reciprocals of the averages that the next step reads, where it does not make others. */
static void averages_of(const kf_plan *plan, double averages[3]) {
    const kf_kinetic *kinetic = plan->system;
    float single[3] = {0};
    kf_error error = {KF_OK, ""};
    const bool twice = kinetic->real_bytes == sizeof(double);
    void *place = twice ? (void *)averages : (void *)single;
    must(kf_buffer_download(kinetic->averages, 0, place, 3 * kinetic->real_bytes, &error), &error);
    for (int i = 0; i < 3 && !twice; i++)
        averages[i] = single[i];
}

/* Other kernels round otherwise. A node left out, or added up twice, is an average's thousandth. */
static void assert_near_state(kf_plan *plan, kf_plan *other, double rounding) {
    kf_error error = {KF_OK, ""};
    kf_fields fields = {0}, others = {0};
    double averages[3], expected[3];
    averages_of(plan, averages);
    averages_of(other, expected);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(averages[i] - expected[i]) < 10 * rounding * expected[i]);
    must(plan->methods->flow->fields(plan, &fields, &error), &error);
    must(other->methods->flow->fields(other, &others, &error), &error);
    const int *n = fields.nodes;
    for (int i = 0; i < n[0] * n[1] * n[2]; i++)
        for (int axis = 0; axis < 3; axis++)
            assert_true(fabs((double)fields.velocity[axis][i] - (double)others.velocity[axis][i]) < rounding);
    kf_fields_free(&fields);
    kf_fields_free(&others);
}

/* Averages of what the flow's kernels add up as they write it, and of what another kernel reads: from the
 * first step on, beyond two of the averages, and from checkpoints in a step with averages and in one without.
 */
static void compare(const kf_scene *scene, const char *const *values, double rounding) {
    const uint64_t ends[] = {STEPS, 2 * KF_AVERAGE_PERIOD};
    kf_error error = {KF_OK, ""};
    kf_config config = default_with(scene, values);
    size_t bytes;
    double before[3], after[3];
    kf_config_set_boolean(&config, "flow_sums", false);
    kf_plan *read = open_plan(scene, &config);
    kf_config_set_boolean(&config, "flow_sums", true);
    kf_plan *written = open_plan(scene, &config);
    for (int i = 0; i < 2; i++) {
        must(kf_plan_initialise(read, &error), &error);
        must(kf_plan_initialise(written, &error), &error);
        advance(read, 1);
        advance(written, 1);
        assert_same_state(written, read);
        averages_of(written, before);
        advance(read, ends[i] - 1);
        advance(written, ends[i] - 1);
        averages_of(written, after);
        assert_true(fabs(after[1] - before[1]) > 1e-4 * before[1]);
        assert_near_state(written, read, rounding);
        void *state = save(read, &bytes);
        must(written->methods->restore(written, state, ends[i], &error), &error);
        free(state);
        advance(read, MORE);
        advance(written, MORE);
        assert_near_state(written, read, rounding);
    }
    kf_plan_free(written);
    kf_plan_free(read);
}

/* Without a solid nothing else would change the averages. */
static void swirl(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    (void)context;
    *density = 1.0 + 0.01 * cos(0.3 * i + j);
    velocity[0] = 0.05 + 0.02 * sin(0.2 * i) * cos(1.0 * k);
    velocity[1] = 0.02 * sin(0.5 * i + k);
    velocity[2] = -0.02 * cos(0.4 * i - j);
}

static void test_sums_as_written(void **state) {
    (void)state;
    static const char *const single[] = {"storage=f32", "masked_band=true", "staged_nodes=0",
                                         "boundary_kernels=1", NULL};
    static const char *const half[] = {
        "storage=f16",    "layout=csoa",    "alpha=64",           "masked_band=true",
        "alternate=true", "staged_nodes=0", "boundary_kernels=1", NULL};
    static const char *const empty[] = {"storage=f64", "staged_nodes=0", "boundary_kernels=1", NULL};
    static const char *const folded[] = {"storage=f32", NULL};
    kf_scene *scene = open_scene("ball", 12000);
    assert_true(kf_kinetic_is_adaptive(scene, 27));
    for (int axis = 1; axis < 3; axis++) /* a row that is averaged goes through the solid */
        assert_true(scene->solid_low[axis] < ROW && ROW < scene->solid_high[axis]);
    scene->faces[KF_ZMAX] = KF_OUTFLOW;
    if (strcmp(kf_backend_device(backend)->backend, "cuda") == 0) {
        compare(scene, folded, 2e-6);
    } else {
        compare(scene, single, 2e-6);
        compare(scene, half, 5e-5);
        scene->samples.count = 0;
        scene->initial_state = swirl;
        compare(scene, empty, 1e-13);
    }
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums_as_written)};
    return cmocka_run_group_tests(tests, open_backend_on_one_core, close_backend);
}
