/* Tests the description of nested grids whose boxes differ along each axis: nodes and places of each
 * level, and the cost relative to a uniform grid. Faults: axes that are swapped, or a third one that is
 * forgotten. */
#include <math.h>

#include "tests/unit/levels_text.h"
#include "tests/unit/scene_files.h"

/* The outer box has the coarsest cells 4 to 14, 5 to 13 and 6 to 12. The inner one lies in it. */
static const char text[] =
    "{\"domain\": {\"cells\": [20, 18, 16], \"cell_size\": 0.1}, \"flow\": {\"speed\": 1, \"reynolds\": 100, "
    "\"reference_length\": 1}, \"refine\": [{\"box\": {\"low\": [0.4, 0.5, 0.6], \"high\": [1.4, 1.3, 1.2]}, "
    "\"levels\": 1}, {\"box\": {\"low\": [0.6, 0.7, 0.8], \"high\": [1.2, 1.1, 1.0]}, \"levels\": 1}]}";
enum { LEVELS = 3 };
static const int grids[LEVELS][3] = {{20, 18, 16}, {20, 16, 12}, {24, 16, 8}};
static const double lows[LEVELS][3] = {{0, 0, 0}, {0.4, 0.5, 0.6}, {0.6, 0.7, 0.8}},
                    highs[LEVELS][3] = {{2, 1.8, 1.6}, {1.4, 1.3, 1.2}, {1.2, 1.1, 1.0}};

static void check_numbers(const cJSON *level, const char *key, const double expected[3]) {
    const cJSON *list = cJSON_GetObjectItem(level, key);
    assert_int_equal(cJSON_GetArraySize(list), 3);
    for (int a = 0; a < 3; a++)
        if (fabs(cJSON_GetArrayItem(list, a)->valuedouble - expected[a]) > 1e-12)
            fail_msg("%s[%d] is %g, not %g", key, a, cJSON_GetArrayItem(list, a)->valuedouble, expected[a]);
}

static void each_level_has_its_box(void **state) {
    (void)state;
    kf_scene *scene = open_scene_text(text, NULL);
    char *said = text_of_levels(scene);
    cJSON *list = kf_scene_levels_json(scene);
    assert_int_equal(cJSON_GetArraySize(list), LEVELS);
    for (int l = 0; l < LEVELS; l++) {
        const cJSON *level = cJSON_GetArrayItem(list, l);
        const double cell = 0.1 / (1 << l), grid[3] = {grids[l][0], grids[l][1], grids[l][2]};
        char line[200];
        check_numbers(level, "grid", grid);
        check_numbers(level, "low_m", lows[l]);
        check_numbers(level, "high_m", highs[l]);
        assert_true(fabs(cJSON_GetObjectItem(level, "cell_size_m")->valuedouble - cell) < 1e-15);
        (void)snprintf(line, sizeof line,
                       "  level %d      %dx%dx%d nodes, cells of %.4g m, from %.4g %.4g %.4g to %.4g %.4g "
                       "%.4g m\n",
                       l, grids[l][0], grids[l][1], grids[l][2], cell, lows[l][0], lows[l][1], lows[l][2],
                       highs[l][0], highs[l][1], highs[l][2]);
        if (strstr(said, line) == NULL) fail_msg("'%s' is not in\n%s", line, said);
    }
    cJSON_Delete(list);
    /* There are 5760, 3840 and 3072 nodes. In a step of the coarsest level the levels take 1, 2 and 4
     * steps. */
    static const char sum[] = "  together     1.27e+04 nodes, 2.57e+04 updates a step; in the finest cells "
                              "everywhere 3.69e+05 nodes, 1.47e+06 updates (57.3 times), ";
    if (strstr(said, sum) == NULL) fail_msg("'%s' is not in\n%s", sum, said);
    if (strstr(said, "in cells of 0.025 m (those of level 2)\n") == NULL) fail_msg("%s", said);
    free(said);
    kf_scene_free(scene);
}

/* The uniform grid has 80 x 72 x 64 nodes and takes 4 steps. Its memory is proportional to its nodes. */
static void what_a_uniform_grid_costs(void **state) {
    (void)state;
    kf_scene *scene = open_scene_text(text, NULL);
    cJSON *uniform = kf_uniform_cost_json(scene);
    assert_true(cJSON_GetObjectItem(uniform, "nodes")->valuedouble == 80.0 * 72 * 64);
    assert_true(cJSON_GetObjectItem(uniform, "updates_a_step")->valuedouble == 4.0 * 80 * 72 * 64);
    /* Most of it are two grids of 27 values of 4 bytes. */
    const double populations = 2.0 * 27 * 4 * 80 * 72 * 64,
                 bytes = cJSON_GetObjectItem(uniform, "memory_bytes")->valuedouble;
    if (!(bytes >= populations && bytes < 1.5 * populations)) fail_msg("%g of %g bytes", bytes, populations);
    cJSON_Delete(uniform);
    kf_scene_free(scene);
}

/* With one grid there is no list of levels. */
static void one_grid_is_one_level(void **state) {
    (void)state;
    kf_scene *scene = open_scene_text("{\"domain\": {\"cells\": [20, 18, 16], \"cell_size\": 0.1}, \"flow\": "
                                      "{\"speed\": 1, \"reynolds\": 100, \"reference_length\": 1}}",
                                      NULL);
    char *said = text_of_levels(scene);
    assert_string_equal(said, "");
    cJSON *list = kf_scene_levels_json(scene);
    assert_int_equal(cJSON_GetArraySize(list), 1);
    check_numbers(cJSON_GetArrayItem(list, 0), "high_m", highs[0]);
    cJSON_Delete(list);
    free(said);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_level_has_its_box),
        cmocka_unit_test(what_a_uniform_grid_costs),
        cmocka_unit_test(one_grid_is_one_level),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
