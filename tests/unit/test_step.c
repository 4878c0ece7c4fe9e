/* The suite `step`: its scenes, its configs, its figures and their JSON, on a small grid of the cpu. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/text.h"
#include "harness/bench/step_figures.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"

static kf_device_info device;
static const kf_bench_options small = {.device = "cpu", .nodes = {48, 24, 24}, .samples_per_cell = 20};

/* --- scenes and configs ----------------------------------------------------------------------------------
 */

static void open_scenes(kf_step_scenes *scenes, unsigned wanted) {
    kf_error error = {KF_OK, ""};
    if (kf_step_scenes_open(scenes, &device, &small, wanted, &error) != KF_OK) fail_msg("%s", error.message);
}

static void test_scenes_differ_in_one_thing(void **state) {
    (void)state;
    kf_step_scenes scenes;
    open_scenes(&scenes, 1U << KF_STEP_BGK | 1U << KF_STEP_CACHED | 1U << KF_STEP_ODD | 1U << KF_STEP_WIDE);
    const kf_scene *first = scenes.list[KF_STEP_MAIN].scene;
    assert_int_equal(scenes.list[KF_STEP_BGK].scene->collision, KF_BGK);
    assert_int_equal(first->collision, KF_ACM_MRT);
    assert_int_equal(scenes.list[KF_STEP_BGK].scene->samples.count, first->samples.count);
    assert_int_equal(scenes.list[KF_STEP_ODD].scene->nodes[0], first->nodes[0] - 3);
    assert_null(scenes.list[KF_STEP_WIDE].scene); /* only on a GPU */
    assert_string_not_equal(scenes.list[KF_STEP_WIDE].reason, "");
    /* Its reduced form is another scene's, which nobody asked for. */
    assert_non_null(scenes.list[KF_STEP_EMPTY].trial.problem);
    assert_int_equal(kf_problem_scene(scenes.list[KF_STEP_EMPTY].trial.problem)->samples.count, 0);
    kf_step_scenes_close(&scenes);
}

static void test_dense_scene(void **state) {
    (void)state;
    kf_step_scenes scenes;
    open_scenes(&scenes, 1U << KF_STEP_DENSE);
    const kf_scene *dense = scenes.list[KF_STEP_DENSE].scene, *first = scenes.list[KF_STEP_MAIN].scene;
    const double density = kf_step_samples_per_cell(dense);
    assert_true(density >= 25 && density <= 35);
    assert_int_equal(dense->samples.count, first->samples.count);
    double area = 0;
    for (size_t s = 0; s < dense->samples.count; s++) {
        const double position[3] = {dense->samples.x[s], dense->samples.y[s], dense->samples.z[s]};
        area += dense->samples.area[s];
        for (int a = 0; a < 3; a++)
            assert_true(position[a] > 1 && position[a] < dense->nodes[a] - 2);
    }
    assert_true(fabs(area / dense->solid_area - 1) < 1e-6);
    kf_step_scenes_close(&scenes);
}

/* A turn in 500 steps, reduced or not; every sample keeps its distance from the axis and so stays inside. */
static void test_rotating_scene(void **state) {
    (void)state;
    kf_step_scenes scenes;
    open_scenes(&scenes, 1U << KF_STEP_ROTATING);
    const kf_scene *turning = scenes.list[KF_STEP_ROTATING].scene;
    const kf_scene *reduced = kf_problem_scene(scenes.list[KF_STEP_ROTATING].trial.problem);
    assert_true(turning->motion.moving && reduced->motion.moving);
    assert_true(fabs(turning->motion.angular_speed * KF_STEP_TURN - 6.283185307) < 1e-6);
    assert_true(fabs(reduced->motion.angular_speed * KF_STEP_TURN - 6.283185307) < 1e-6);
    assert_false(scenes.list[KF_STEP_MAIN].scene->motion.moving);
    for (size_t s = 0; s < turning->samples.count; s++) {
        const double y = turning->samples.y[s] - turning->motion.center[1];
        const double z = turning->samples.z[s] - turning->motion.center[2];
        assert_true(hypot(y, z) < 0.5 * (turning->nodes[2] - 1));
    }
    kf_step_scenes_close(&scenes);
}

static void test_configs_say_what_is_missing(void **state) {
    (void)state;
    kf_step_scenes scenes;
    kf_space *space = NULL;
    kf_error error = {KF_OK, ""};
    kf_config config;
    char reason[320] = "";
    long block = 0;
    static const char *const good[] = {"block_x=64", "morton=false"}, *const unknown[] = {"colour=red"},
                             *const no_value[] = {"storage=f8"}, *const excluded[] = {"layout=csoa"};
    open_scenes(&scenes, 0);
    assert_int_equal(kf_problem_space(scenes.list[KF_STEP_MAIN].problem, &device, NULL, 0, &space, &error),
                     KF_OK);
    assert_true(kf_step_configure(space, "default", good, 2, &config, reason, sizeof reason));
    assert_int_equal(kf_config_integer(&config, "block_x", &block, &error), KF_OK);
    assert_int_equal(block, 64);
    assert_false(kf_step_configure(space, "default", unknown, 1, &config, reason, sizeof reason));
    assert_non_null(strstr(reason, "no parameter colour"));
    assert_false(kf_step_configure(space, "default", no_value, 1, &config, reason, sizeof reason));
    assert_non_null(strstr(reason, "storage has no value f8"));
    assert_false(kf_step_configure(space, "default", excluded, 1, &config, reason, sizeof reason));
    assert_non_null(strstr(reason, "csoa")); /* the constraint's own reason */
    kf_space_free(space);
    kf_step_scenes_close(&scenes);
}

/* What the table asks of a GPU's space that it has the values for, it also gets. */
static void check_candidates(const kf_step_scenes *scenes, const kf_step_plan *plan, const kf_space *space) {
    const kf_scene *scene = scenes->list[plan->scene].scene;
    for (const kf_step_candidate *c = plan->candidates; c->name != NULL; c++) {
        const char *overrides[KF_STEP_ALL_OVERRIDES];
        char reason[320] = "";
        kf_config config;
        const int count = kf_step_overrides(plan, NULL, c, scene, overrides);
        if (kf_step_configure(space, plan->preset, overrides, count, &config, reason, sizeof reason))
            continue;
        if (strstr(reason, "has no parameter") == NULL && strstr(reason, "has no value") == NULL)
            fail_msg("%s, %s: %s", plan->name, c->name, reason);
    }
}

static void test_candidates_of_a_gpu(void **state) {
    (void)state;
    kf_step_scenes scenes;
    kf_error error = {KF_OK, ""};
    const kf_device_info gpu = {.backend = "cuda",
                                .architecture = "sm_90",
                                .multiprocessors = 132,
                                .warp_size = 32,
                                .max_threads_per_block = 1024,
                                .memory_bytes = UINT64_C(140) << 30,
                                .memory_free_bytes = UINT64_C(140) << 30,
                                .l2_bytes = UINT64_C(50) << 20};
    if (kf_step_scenes_open(&scenes, &gpu, &small, (1U << KF_STEP_SCENES) - 1, &error) != KF_OK)
        fail_msg("%s", error.message);
    for (int time = 0; time < KF_TIMES; time++) {
        kf_space *space = NULL;
        assert_non_null(scenes.list[kf_step_plans[time].scene].scene);
        assert_int_equal(
            kf_problem_space(scenes.list[kf_step_plans[time].scene].problem, &gpu, NULL, 0, &space, &error),
            KF_OK);
        check_candidates(&scenes, &kf_step_plans[time], space);
        kf_space_free(space);
    }
    kf_step_scenes_close(&scenes);
}

/* --- figures ---------------------------------------------------------------------------------------------
 */

static const kf_figure *find(const kf_figures *figures, const char *name) {
    for (int i = 0; i < figures->count; i++)
        if (strcmp(figures->list[i].name, name) == 0) return &figures->list[i];
    fail_msg("no figure %s", name);
    return NULL;
}

static void check_rate(const kf_figure *figure, double copy_gb_s) {
    assert_true(isfinite(figure->value) && figure->value > 0);
    assert_true(figure->verdict->low <= figure->value && figure->value <= figure->verdict->high);
    assert_true(fabs(figure->floor * 216 / copy_gb_s - 1) < 1e-9); /* least bytes of a node in f32 */
    assert_true(fabs(figure->share * figure->floor / figure->value - 1) < 1e-9);
    assert_int_equal(kf_figure_met(figure), figure->share >= figure->verdict->must);
    assert_non_null(figure->verdict->config);
}

static void check_json(const kf_figures *figures) {
    cJSON *root = kf_figures_to_json(&kf_suite_step, &device, figures);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    root = cJSON_Parse(text);
    assert_non_null(root);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(root, "suite")), "step");
    assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(root, "samples_per_cell")) > 1);
    const cJSON *list = cJSON_GetObjectItem(root, "figures"), *figure;
    assert_int_equal(cJSON_GetArraySize(list), figures->count);
    cJSON_ArrayForEach(figure, list) {
        static const char *const keys[] = {"name", "value", "unit", "spread",   "floor", "share",
                                           "must", "aim",   "met",  "interval", "note"};
        const bool available = cJSON_IsNumber(cJSON_GetObjectItem(figure, "value"));
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (strcmp(keys[i], "note") != 0 || !available)
                assert_non_null(cJSON_GetObjectItem(figure, keys[i]));
        if (available &&
            strncmp(cJSON_GetStringValue(cJSON_GetObjectItem(figure, "name")), "step_", 5) == 0) {
            const cJSON *step = cJSON_GetObjectItem(figure, "step_us");
            assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(step, "samples")) >= KF_STEP_SAMPLES);
            assert_non_null(cJSON_GetObjectItem(figure, "config"));
            assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(figure, "kernels")) > 3);
        }
    }
    cJSON_Delete(root);
    free(text);
}

static void test_suite_on_a_small_grid(void **state) {
    (void)state;
    static const char *const names[] = {
        "memcpy",        "step_f32_acm",         "ib_share_static", "ib_share_rotating",
        "ib_throughput", "rotating_over_static", "step_f32_wide"};
    kf_bench_options options = small;
    kf_error error = {KF_OK, ""};
    kf_figures figures = {0};
    options.figures = names;
    options.figure_count = sizeof names / sizeof *names;
    if (kf_suite_step.run_apart(&options, &device, &figures, &error) != KF_OK) fail_msg("%s", error.message);
    kf_figures_print(&kf_suite_step, &device, &figures);
    assert_int_equal(figures.count, options.figure_count);
    for (int i = 0; i < figures.count; i++)
        assert_false(figures.list[i].failed);
    const double copy = cJSON_GetNumberValue(cJSON_GetObjectItem(figures.about, "limit_gb_s"));
    assert_true(copy >= find(&figures, "memcpy")->value);
    check_rate(find(&figures, "step_f32_acm"), copy);
    static const char *const shares[] = {"ib_share_static", "ib_share_rotating"};
    for (int i = 0; i < 2; i++) {
        const double share = find(&figures, shares[i])->value;
        assert_true(share > 0 && share < 200); /* kernel times are taken apart from the step's */
    }
    assert_true(find(&figures, "ib_throughput")->value > 0);
    assert_true(find(&figures, "rotating_over_static")->value > 0.1);
    assert_true(isnan(find(&figures, "step_f32_wide")->value));
    assert_non_null(strstr(find(&figures, "step_f32_wide")->verdict->note, "not available"));
    check_json(&figures);
    kf_figures_free(&figures);
}

static void test_unknown_figure(void **state) {
    (void)state;
    static const char *const names[] = {"step_f32_amc"};
    kf_bench_options options = small;
    kf_error error = {KF_OK, ""};
    kf_figures figures = {0};
    options.figures = names;
    options.figure_count = 1;
    assert_int_equal(kf_suite_step.run_apart(&options, &device, &figures, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "did you mean step_f32_acm?"));
    kf_figures_free(&figures);
}

/* Every name of the table that the figures are published in. */
static void test_names(void **state) {
    (void)state;
    static const char *const published[] = {
        "step_f32_acm",    "acm_over_bgk",      "step_f16_acm",        "step_inplace_f32",
        "ib_share_static", "ib_share_rotating", "ib_throughput",       "step_moments_f32",
        "over_paper",      "over_baseline",     "graph_over_launches", "rotating_over_static"};
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const kf_step_figure *row = kf_step_figures;
        while (row->name != NULL && strcmp(row->name, published[i]) != 0)
            row++;
        assert_non_null(row->name);
        assert_true(isfinite(row->must));
    }
}

static int describe_device(void **state) {
    (void)state;
    kf_error error;
    return kf_cpu_device_describe(&device, &error) == KF_OK ? 0 : 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes_differ_in_one_thing),
        cmocka_unit_test(test_dense_scene),
        cmocka_unit_test(test_rotating_scene),
        cmocka_unit_test(test_configs_say_what_is_missing),
        cmocka_unit_test(test_candidates_of_a_gpu),
        cmocka_unit_test(test_unknown_figure),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_suite_on_a_small_grid),
    };
    return cmocka_run_group_tests(tests, describe_device, NULL);
}
