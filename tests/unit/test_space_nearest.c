/* Tests the config nearest to the default that keeps what is fixed, which `kftune run --fix` runs, also on
 * a GPU without one. Faults: a nearer one is missed, or a rate of the scene is not followed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/plan/system.h"
#include "base/space/space_nearest.h"
#include "scene/scene.h"
#include "solver/systems.h"
#include "tests/unit/modelled_gpu.h"

enum { MOST_FIXED = 8 };

/* Opens a space with the rates that the plan moments needs. No other plan depends on them. */
static kf_status open_space(const kf_problem *problem, const char *const *fixed, int count, kf_space **space,
                            kf_error *error) {
    kf_scene scene = *(const kf_scene *)problem->own;
    kf_problem with_rates = *problem;
    scene.rate_rule = KF_RATE_ONES;
    with_rates.own = &scene;
    return kf_problem_space(&with_rates, &gpu, fixed, count, space, error);
}

/* Returns how many values differ from the default. Every "name=value" of `fixed` must be among the
 * config's. */
static int changes(const char *scene, double accuracy, const char *const fixed[MOST_FIXED]) {
    const kf_problem_options options = {
        .nodes = {64, 64, 32}, .samples_per_cell = 2, .accuracy = accuracy, .seed = 1};
    kf_problem *problem = NULL;
    kf_space *space = NULL, *whole = NULL;
    kf_error error;
    kf_config found, usual;
    int count = 0, differ = 0;
    while (fixed[count] != NULL)
        count++;
    if (kf_problem_open(scene, "kinetic", &options, &problem, &error) != KF_OK ||
        open_space(problem, fixed, count, &space, &error) != KF_OK ||
        open_space(problem, NULL, 0, &whole, &error) != KF_OK ||
        kf_space_preset(whole, "default", &usual, &error) != KF_OK ||
        kf_space_nearest(space, &found, &error) != KF_OK)
        fail_msg("%s: %s", scene, error.message);
    char *text = kf_config_relative(&found, &usual, "default");
    for (int i = 0; i < count; i++)
        if (strstr(text, fixed[i]) == NULL) fail_msg("%s lacks %s: %s", scene, fixed[i], text);
    for (const char *at = text; (at = strchr(at, '=')) != NULL; at++)
        differ++;
    free(text);
    kf_space_free(space);
    kf_space_free(whole);
    kf_problem_free(problem);
    return differ;
}

/* All values that scripts/gpu/paper.sh fixes for its runs in 16 bits exist for each of its scenes. */
static void test_sixteen_bits(void **state) {
    (void)state;
    static const char *const scenes[] = {"vortices", "spinning_torus", "car", "aircraft", "architecture"};
    static const char *const fixed[MOST_FIXED] = {"storage=f16", "nodes_per_thread=2", "alpha=64",
                                                  "block_x=16", "block_y=4"};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        assert_true(changes(scenes[i], 0.03, fixed) == 6);
}

static void test_no_more_than_needed(void **state) {
    (void)state;
    assert_int_equal(changes("ball", 0, (const char *[MOST_FIXED]){NULL}), 0);
    assert_int_equal(changes("ball", 0, (const char *[MOST_FIXED]){"block_x=64"}), 1);
}

/* On a small grid with a solid the default has many parameters that the plan moments lacks. */
static void test_many_changes(void **state) {
    (void)state;
    assert_true(changes("ball", 0, (const char *[MOST_FIXED]){"plan=moments"}) > 6);
    assert_true(changes("ball", 0, (const char *[MOST_FIXED]){"plan=baseline"}) > 6);
}

/* A GPU's default is the plan on nine moments where all rates are 1, except on small and thin grids. */
static void test_default_with_rates_of_one(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        int nodes[3], march; /* 0: another plan */
    } cases[] = {{"ball", {64, 64, 64}, 0},           {"ball", {96, 96, 96}, 8},
                 {"ball", {160, 160, 160}, 16},       {"ball", {320, 160, 16}, 0},
                 {"spinning_torus", {96, 96, 96}, 0}, {"spinning_torus", {128, 128, 128}, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int *n = cases[i].nodes;
        const kf_problem_options options = {.nodes = {n[0], n[1], n[2]}, .samples_per_cell = 2, .seed = 1};
        kf_problem *problem = NULL;
        kf_space *space = NULL;
        kf_error error;
        kf_config config;
        const char *plan = NULL;
        long march = 0;
        if (kf_problem_open(cases[i].scene, "kinetic", &options, &problem, &error) != KF_OK ||
            open_space(problem, NULL, 0, &space, &error) != KF_OK ||
            kf_space_preset(space, "default", &config, &error) != KF_OK ||
            kf_config_name(&config, "plan", &plan, &error) != KF_OK ||
            kf_config_integer(&config, "march", &march, &error) != KF_OK)
            fail_msg("%s: %s", cases[i].scene, error.message);
        assert_string_equal(plan, cases[i].march > 0 ? "moments" : "fused");
        assert_int_equal(march, cases[i].march);
        kf_space_free(space);
        kf_problem_free(problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sixteen_bits), cmocka_unit_test(test_no_more_than_needed),
        cmocka_unit_test(test_many_changes), cmocka_unit_test(test_default_with_rates_of_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
