/* Tests suites of fixed comparisons: scenes, configs, figures and JSON, with `step` on a small grid of the
 * cpu. Faults: a wrong ratio or unit. Their files have test_bench_files. */
#include "tests/unit/bench_suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "tests/unit/quick_compiler.h"
#include "tests/unit/small_memory.h"

/* Roofs of copying take an eighth of the free memory. */
enum { SMALL_MEMORY = 1 << 30 };
static kf_device_info device;
static const kf_bench_options small = {.device = "cpu", .nodes = {48, 24, 24}, .samples_per_cell = 20};
static const kf_bench_options measured = {.device = "cpu:1", .nodes = {24, 16, 16}, .samples_per_cell = 20};
static const kf_device_info gpu = {.backend = "cuda",
                                   .architecture = "sm_90",
                                   .multiprocessors = 132,
                                   .warp_size = 32,
                                   .max_threads_per_block = 1024,
                                   .memory_bytes = UINT64_C(140) << 30,
                                   .memory_free_bytes = UINT64_C(140) << 30,
                                   .l2_bytes = UINT64_C(50) << 20};

static int scene_of(const kf_suite_file *file, const char *name) {
    for (int i = 0; i < file->scene_count; i++)
        if (strcmp(file->scenes[i].name, name) == 0) return i;
    fail_msg("no scene %s", name);
    return -1;
}

/* --- Scenes and configs --- */

/* Opens scenes of `step`. `names` ends with NULL. */
static void open_scenes(kf_bench_suite *suite, const char *const *names, kf_suite_problems *problems) {
    kf_error error = {KF_OK, ""};
    bool wanted[64] = {false};
    open_suite("step", suite);
    assert_true(suite->file->scene_count < 64);
    for (; *names != NULL; names++)
        wanted[scene_of(suite->file, *names)] = true;
    if (kf_suite_problems_open(suite->file, &device, &small, wanted, problems, &error) != KF_OK)
        fail_msg("%s", error.message);
}

static const kf_scene *scene(const kf_suite_problems *problems, const char *name) {
    const kf_problem *problem = problems->list[scene_of(problems->file, name)].problem;
    return problem != NULL ? kf_problem_scene(problem) : NULL;
}

static const kf_scene *trial(kf_suite_problems *problems, const char *name) {
    kf_error error = {KF_OK, ""};
    kf_trial *made = NULL;
    if (kf_suite_trial(problems, scene_of(problems->file, name), &made, &error) != KF_OK)
        fail_msg("%s", error.message);
    return kf_problem_scene(made->problem);
}

static void close_scenes(kf_bench_suite *suite, kf_suite_problems *problems) {
    kf_suite_problems_close(problems);
    kf_bench_suite_free(suite);
}

static void test_scenes_differ_in_one_thing(void **state) {
    (void)state;
    static const char *const names[] = {"bgk", "cached", "odd", "wide", NULL};
    kf_bench_suite suite;
    kf_suite_problems problems;
    open_scenes(&suite, names, &problems);
    const kf_scene *first = scene(&problems, "main");
    assert_int_equal(scene(&problems, "bgk")->collision, KF_BGK);
    assert_int_equal(first->collision, KF_ACM_MRT);
    assert_true(first->accuracy == 0.03);
    assert_int_equal(scene(&problems, "bgk")->samples.count, first->samples.count);
    assert_int_equal(scene(&problems, "odd")->nodes[0], first->nodes[0] - 3);
    assert_int_equal(scene(&problems, "odd")->nodes[1], first->nodes[1] + 1);
    assert_null(scene(&problems, "wide")); /* only on a GPU */
    assert_string_not_equal(problems.list[scene_of(suite.file, "wide")].reason, "");
    /* It is verified on the trial of another scene, which was not asked for. */
    assert_int_equal(trial(&problems, "cached")->samples.count, 0);
    assert_ptr_equal(trial(&problems, "cached"), trial(&problems, "empty"));
    close_scenes(&suite, &problems);
}

static void test_dense_scene(void **state) {
    (void)state;
    static const char *const names[] = {"dense", NULL};
    kf_bench_suite suite;
    kf_suite_problems problems;
    open_scenes(&suite, names, &problems);
    const kf_scene *dense = scene(&problems, "dense"), *first = scene(&problems, "main");
    const double density =
        kf_facts_value(&problems.list[scene_of(suite.file, "dense")].problem->facts, "samples_in_a_cell");
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
    close_scenes(&suite, &problems);
}

/* A turn takes 500 steps, on the reduced grid, too. Every sample keeps its distance from the axis and so
 * stays inside. */
static void test_rotating_scene(void **state) {
    (void)state;
    enum { TURN = 500 };
    static const char *const names[] = {"rotating", NULL};
    kf_bench_suite suite;
    kf_suite_problems problems;
    open_scenes(&suite, names, &problems);
    const kf_scene *turning = scene(&problems, "rotating"), *reduced = trial(&problems, "rotating");
    assert_true(turning->motion.moving && reduced->motion.moving);
    assert_true(fabs(turning->motion.angular_speed * TURN - 6.283185307) < 1e-6);
    assert_true(fabs(reduced->motion.angular_speed * TURN - 6.283185307) < 1e-6);
    assert_false(scene(&problems, "main")->motion.moving);
    for (size_t s = 0; s < turning->samples.count; s++) {
        const double y = turning->samples.y[s] - turning->motion.center[1];
        const double z = turning->samples.z[s] - turning->motion.center[2];
        assert_true(hypot(y, z) < 0.5 * (turning->nodes[2] - 1));
    }
    close_scenes(&suite, &problems);
}

static bool configure(const kf_space *space, const kf_problem *problem, const char *with, const char *only,
                      kf_config *config, char reason[320]) {
    const kf_suite_timing timing = {.preset = "default"};
    cJSON *values = cJSON_Parse(with), *facts = only != NULL ? cJSON_Parse(only) : NULL;
    const kf_candidate candidate = {.name = "test", .with = values, .only = facts};
    const bool made = kf_suite_configure(space, problem, &timing, NULL, &candidate, config, reason, 320);
    cJSON_Delete(values);
    cJSON_Delete(facts);
    return made;
}

static void test_configs_say_what_is_missing(void **state) {
    (void)state;
    static const char *const names[] = {"main", NULL};
    kf_bench_suite suite;
    kf_suite_problems problems;
    const kf_space *space = NULL;
    kf_error error = {KF_OK, ""};
    kf_config config;
    char reason[320] = "";
    long block = 0;
    open_scenes(&suite, names, &problems);
    const int main_scene = scene_of(suite.file, "main");
    const kf_problem *problem = problems.list[main_scene].problem;
    assert_int_equal(kf_suite_space(&problems, main_scene, &space, &error), KF_OK);
    assert_true(
        configure(space, problem, "{\"block_x\": 64, \"sample_block_length\": 3}", NULL, &config, reason));
    assert_int_equal(kf_config_integer(&config, "block_x", &block, &error), KF_OK);
    assert_int_equal(block, 64);
    /* Values that are only for other problems are left out. */
    assert_true(configure(space, problem, "{\"colour\": 1}", "{\"solid\": \"none\"}", &config, reason));
    assert_false(configure(space, problem, "{\"colour\": 1}", "{\"solid\": \"static\"}", &config, reason));
    assert_non_null(strstr(reason, "no parameter colour"));
    assert_false(configure(space, problem, "{\"storage\": \"f8\"}", NULL, &config, reason));
    assert_non_null(strstr(reason, "storage has no value \"f8\""));
    assert_false(configure(space, problem, "{\"layout\": \"csoa\"}", NULL, &config, reason));
    assert_non_null(strstr(reason, "csoa")); /* the constraint's own reason */
    close_scenes(&suite, &problems);
}

/* Every value that a suite requests of a GPU's space, and that the space has, is in the candidate. */
static void check_candidates(kf_suite_problems *problems, const kf_suite_timing *timing) {
    kf_error error = {KF_OK, ""};
    const kf_space *space = NULL;
    const kf_problem *problem = problems->list[timing->scene].problem;
    assert_non_null(problem);
    assert_int_equal(kf_suite_space(problems, timing->scene, &space, &error), KF_OK);
    for (int c = 0; c < timing->candidate_count; c++) {
        char reason[320] = "";
        kf_config config;
        if (kf_suite_configure(space, problem, timing, NULL, &timing->candidates[c], &config, reason,
                               sizeof reason))
            continue;
        if (strstr(reason, "has no parameter") == NULL && strstr(reason, "has no value") == NULL)
            fail_msg("%s, %s: %s", timing->name, timing->candidates[c].name, reason);
    }
}

/* Checks a suite for a GPU. With on_small_grids it uses the grids of the cpu, because the suite's own take
 * minutes to sample. */
static void check_suite_of_a_gpu(const char *name, const kf_bench_options *options, bool on_small_grids) {
    kf_bench_suite suite;
    kf_suite_problems problems;
    kf_error error = {KF_OK, ""};
    bool wanted[64];
    memset(wanted, true, sizeof wanted);
    open_suite(name, &suite);
    for (int i = 0; on_small_grids && i < suite.file->scene_count; i++)
        suite.file->scenes[i].gpu = suite.file->scenes[i].cpu;
    if (kf_suite_problems_open(suite.file, &gpu, options, wanted, &problems, &error) != KF_OK)
        fail_msg("%s", error.message);
    for (int i = 0; i < suite.file->timing_count; i++)
        check_candidates(&problems, &suite.file->timings[i]);
    close_scenes(&suite, &problems);
}

static void test_candidates_of_a_gpu(void **state) {
    (void)state;
    check_suite_of_a_gpu("step", &small, false);
    check_suite_of_a_gpu("toelke", &(kf_bench_options){.device = "cpu"}, false);
    check_suite_of_a_gpu("kinetic-paper", &(kf_bench_options){.device = "cpu"}, true);
    check_suite_of_a_gpu("rtfluids", &(kf_bench_options){.device = "cpu"}, false);
}

/* 32 x 32 nodes of 100 bytes and 1000 bytes for each of 32 columns are 134400 bytes. */
static void test_scenes_that_do_not_fit(void **state) {
    (void)state;
    static const char text[] = "{\"suite\": \"s\", \"scenes\": [{\"name\": \"a\", \"scene\": \"cavity2d\", "
                               "\"system\": \"d2q9\", \"grid\": [32, "
                               "32, 1], \"memory\": {\"node_count\": 100, \"size_x\": 1000}}], \"figures\": "
                               "[{\"name\": \"c\", \"kind\": \"copy\"}]}";
    kf_error error = {KF_OK, ""};
    kf_bench_suite suite;
    char path[KF_PATH];
    const char *base = getenv("TMPDIR");
    assert_int_equal(kf_path(path, NULL, "%s/fits-%d.json", base != NULL ? base : "/tmp", (int)getpid()),
                     KF_OK);
    assert_int_equal(kf_file_write_atomic(path, text, strlen(text), NULL), KF_OK);
    open_suite(path, &suite);
    assert_int_equal(unlink(path), 0);
    for (uint64_t lacking = 0; lacking < 2; lacking++) {
        kf_device_info tight = gpu;
        kf_suite_problems problems;
        bool wanted[1] = {true};
        tight.memory_free_bytes = 134400 - lacking;
        const kf_bench_options options = {.device = "cpu"};
        if (kf_suite_problems_open(suite.file, &tight, &options, wanted, &problems, &error) != KF_OK)
            fail_msg("%s", error.message);
        assert_string_equal(problems.list[0].reason,
                            lacking == 0 ? "" : "it needs 131 KiB of memory, and 131 KiB are free");
        kf_suite_problems_close(&problems);
    }
    kf_bench_suite_free(&suite);
}

/* --- Figures --- */

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
    assert_int_equal(kf_figure_met(figure), -1); /* nothing is required of a cpu */
    assert_non_null(strstr(figure->verdict->note, "asked of an H200"));
    assert_non_null(figure->verdict->config);
}

static void check_json(const kf_bench_suite *suite, const kf_figures *figures) {
    enum { SAMPLES = 50 };
    cJSON *root = kf_figures_to_json(suite, &device, figures);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    root = cJSON_Parse(text);
    assert_non_null(root);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(root, "suite")), "step");
    const cJSON *facts = cJSON_GetObjectItem(root, "facts");
    assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(facts, "samples_in_a_cell")) > 1);
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
            assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(step, "samples")) >= SAMPLES);
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
    kf_bench_options options = measured;
    kf_error error = {KF_OK, ""};
    kf_figures figures = {0};
    kf_bench_suite suite;
    open_suite("step", &suite);
    options.figures = names;
    options.figure_count = sizeof names / sizeof *names;
    leave_memory(SMALL_MEMORY);
    if (suite.run(&suite, &options, &device, &figures, &error) != KF_OK) fail_msg("%s", error.message);
    leave_memory(0);
    kf_figures_print(&suite, &device, &figures);
    assert_int_equal(figures.count, options.figure_count);
    for (int i = 0; i < figures.count; i++)
        assert_false(figures.list[i].failed);
    const double copy = cJSON_GetNumberValue(cJSON_GetObjectItem(figures.about, "limit_gb_s"));
    assert_true(copy >= find(&figures, "memcpy")->value);
    check_rate(find(&figures, "step_f32_acm"), copy);
    static const char *const shares[] = {"ib_share_static", "ib_share_rotating"};
    for (int i = 0; i < 2; i++) {
        const double share = find(&figures, shares[i])->value;
        assert_true(share > 0 && share < 200); /* times of kernels are measured separately from the step's */
    }
    assert_true(find(&figures, "ib_throughput")->value > 0);
    assert_true(find(&figures, "rotating_over_static")->value > 0);
    assert_true(isnan(find(&figures, "step_f32_wide")->value));
    assert_non_null(strstr(find(&figures, "step_f32_wide")->verdict->note, "not available"));
    check_json(&suite, &figures);
    kf_figures_free(&figures);
    kf_bench_suite_free(&suite);
}

static const kf_suite_figure *row_of(const kf_bench_suite *suite, const char *name) {
    for (int i = 0; i < suite->file->figure_count; i++)
        if (strcmp(suite->file->figures[i].name, name) == 0) return &suite->file->figures[i];
    fail_msg("no figure %s", name);
    return NULL;
}

/* Checks counts of loops and sums of kernels. The plans have the kernels that the figures name. */
static void test_figures_of_the_kinetic_paper(void **state) {
    (void)state;
    static const char *const names[] = {"table_1_gather_least",     "table_1_gather_most",
                                        "table_1_scatter_most",     "table_1_gather",
                                        "table_1_scatter",          "table_1_gather_over_scatter",
                                        "figure_14_collision_with", "table_3_figure_23b"};
    kf_bench_options options = {
        .device = "cpu:1", .figures = names, .figure_count = sizeof names / sizeof *names};
    kf_error error = {KF_OK, ""};
    kf_figures figures = {0};
    kf_bench_suite suite;
    open_suite("kinetic-paper", &suite);
    for (int i = 0; i < suite.file->scene_count; i++)
        memcpy(suite.file->scenes[i].cpu.nodes, (const int[3]){24, 16, 16}, sizeof(int[3]));
    leave_memory(SMALL_MEMORY);
    if (suite.run(&suite, &options, &device, &figures, &error) != KF_OK) fail_msg("%s", error.message);
    leave_memory(0);
    for (int i = 0; i < figures.count; i++)
        assert_false(figures.list[i].failed || !(figures.list[i].value > 0));
    assert_true(find(&figures, "table_1_gather_least")->value >= 1);
    assert_true(find(&figures, "table_1_gather_most")->value > find(&figures, "table_1_gather_least")->value);
    assert_true(find(&figures, "table_1_scatter_most")->value == 8);
    assert_true(row_of(&suite, "table_1_gather")->published == 53900);
    assert_true(find(&figures, "table_1_gather")->published == 0); /* a GPU's figure: nothing of a cpu */
    const double quotient =
        find(&figures, "table_1_gather")->value / find(&figures, "table_1_scatter")->value;
    assert_true(fabs(find(&figures, "table_1_gather_over_scatter")->value / quotient - 1) < 1e-9);
    assert_true(row_of(&suite, "table_3_figure_23b_times")->gpu_only);
    kf_figures_free(&figures);
    kf_bench_suite_free(&suite);
}

static void test_unknown_figure(void **state) {
    (void)state;
    static const char *const names[] = {"step_f32_amc"};
    kf_bench_options options = small;
    kf_error error = {KF_OK, ""};
    kf_figures figures = {0};
    kf_bench_suite suite;
    open_suite("step", &suite);
    options.figures = names;
    options.figure_count = 1;
    assert_int_equal(suite.run(&suite, &options, &device, &figures, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "did you mean 'step_f32_acm'?"));
    kf_figures_free(&figures);
    kf_bench_suite_free(&suite);
}

static int describe_device(void **state) {
    kf_error error;
    return take_quick_compiler(state) == 0 && kf_cpu_device_describe(&device, &error) == KF_OK ? 0 : 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes_that_do_not_fit),
        cmocka_unit_test(test_scenes_differ_in_one_thing),
        cmocka_unit_test(test_dense_scene),
        cmocka_unit_test(test_rotating_scene),
        cmocka_unit_test(test_configs_say_what_is_missing),
        cmocka_unit_test(test_candidates_of_a_gpu),
        cmocka_unit_test(test_unknown_figure),
        cmocka_unit_test(test_suite_on_a_small_grid),
        cmocka_unit_test(test_figures_of_the_kinetic_paper),
    };
    return cmocka_run_group_tests(tests, describe_device, NULL);
}
