/* Tests nested grids on 2, 3 and 4 parts against one device, bit for bit, with the parts' independent work
 * in random order. Faults: an exchange between levels or parts that comes too early or late. */
#include "tests/unit/scene_files.h"

#include "solver/kinetic/nested_plan.h"
#include "tests/unit/kinetic_teams.h"
#include "tests/unit/quick_compiler.h"

#define SCENE(solid, cells, faces, refine)                                                                   \
    "{" solid ", \"domain\": {\"cells\": " cells ", \"cell_size\": 1}, \"flow\": {\"speed\": 1, "            \
    "\"reynolds\": 50, \"reference_length\": 4, \"lattice_speed\": 0.04}, \"sampling\": "                    \
    "{\"samples_per_cell\": 2}, \"boundaries\": {" faces "}, \"refine\": " refine "}"
#define TUNNEL                                                                                               \
    "\"xmin\": \"inflow\", \"xmax\": \"outflow\", \"ymin\": \"wall\", \"ymax\": \"wall\", \"zmin\": "        \
    "\"free_slip\", \"zmax\": \"free_slip\""
#define PERIODIC                                                                                             \
    "\"xmin\": \"periodic\", \"xmax\": \"periodic\", \"ymin\": \"periodic\", \"ymax\": \"periodic\", "       \
    "\"zmin\": \"periodic\", \"zmax\": \"periodic\""
#define BALL "\"shape\": \"ball\", \"radius\": 0.9, \"position\": [6, 6, 6]"
#define BOXES                                                                                                \
    "[{\"box\": {\"low\": [3, 3, 0], \"high\": [12, 9, 11]}}, {\"box\": {\"low\": [4.5, 4.5, 3], \"high\": " \
    "[8, 7.5, 9]}}]"
/* The finest of three levels has a ball at rest, one that turns about a point beside it, or one that is
 * thrown through two periodic faces. */
static const char resting[] = SCENE("\"solid\": {" BALL "}", "[18, 12, 14]", TUNNEL, BOXES),
                  turning[] = SCENE(
                      "\"solid\": {" BALL ", \"motion\": {\"axis\": [0, 1, 0], \"angular_velocity\": 0.3, "
                      "\"center\": [6.2, 6, 6]}}",
                      "[18, 12, 14]", TUNNEL, "[{\"box\": {\"low\": [3, 3, 3], \"high\": [12, 9, 9]}}]"),
                  thrown[] = SCENE("\"solid\": {" BALL
                                   ", \"motion\": {\"free\": true, \"density\": 2, \"velocity\": [0, 0, "
                                   "1]}}",
                                   "[12, 12, 12]", PERIODIC,
                                   "[{\"box\": {\"low\": [3, 3, 0], \"high\": [9, 9, 12]}}]");

/* Opens the text with this collision, or with the one that compiles soonest. */
static kf_scene *open_text(const char *text, kf_collision collision, kf_rate_rule rule) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    must(kf_scene_open(write_text("nested.json", text), NULL, &scene, &error), &error);
    for (int l = 0; l <= scene->finer_count; l++) {
        kf_scene *level = l == 0 ? scene : scene->finer[l - 1];
        level->accuracy = 0.02;
        level->collision = collision;
        level->rate_rule = rule;
    }
    return scene;
}

/* Runs three steps of the coarsest level. */
static void run_nested(const kf_scene *scene, const char *const *fixed, const char *device, outcome *o) {
    run_steps(scene, fixed, device, 3, o);
}

/* Each plan and each motion gives the same bits on teams of up to four. */
static void test_same_bits(void **state) {
    (void)state;
    static const struct {
        const char *text;
        kf_collision collision;
        kf_rate_rule rule;
        const char *const *fixed;
        int teams;
    } cases[] = {
        {resting, KF_BGK, KF_RATE_ONES, two_grids[0], 3}, {thrown, KF_ACM_MRT, KF_RATE_ONES, moments[3], 1},
        {resting, KF_BGK, KF_RATE_ONES, masked, 1},       {resting, KF_ACM_MRT, KF_RATE_ONES, moments[0], 2},
        {resting, KF_BGK, KF_RATE_ONES, separate[0], 1},  {turning, KF_BGK, KF_RATE_ONES, moving[2], 1},
        {thrown, KF_BGK, KF_RATE_ONES, moving[0], 1}};
    for (size_t c = 0; c < cases_taken(2, sizeof cases / sizeof *cases); c++) {
        kf_scene *scene = open_text(cases[c].text, cases[c].collision, cases[c].rule);
        outcome one, team;
        run_nested(scene, cases[c].fixed, "cpu:1", &one);
        for (int t = 0; t < cases[c].teams; t++) {
            run_nested(scene, cases[c].fixed, teams[t], &team);
            same(&one, &team, cases[c].fixed[0]);
            outcome_free(&team);
        }
        outcome_free(&one);
        kf_scene_free(scene);
    }
}

/* The order that a plan asks for is sufficient and necessary. Parts whose work comes in a random order end
 * with the same bits, and do not when a seventh of the awaits is left out. */
static void test_order(void **state) {
    (void)state;
    kf_scene *scene = open_text(resting, KF_BGK, KF_RATE_ONES);
    outcome one, team;
    run_nested(scene, two_grids[0], "cpu:1", &one);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        kf_cpu_shuffle(seed, -1);
        run_nested(scene, two_grids[0], teams[seed % 3], &team);
        same(&one, &team, "in random order");
        outcome_free(&team);
    }
    bool noticed = false;
    for (uint64_t seed = 1; seed <= MOST_SEEDS && !noticed; seed++) {
        kf_cpu_shuffle(seed, 0);
        run_nested(scene, two_grids[0], teams[2], &team);
        noticed = !equal(&one, &team);
        outcome_free(&team);
    }
    kf_cpu_shuffle(0, -1);
    assert_true(noticed);
    outcome_free(&one);
    kf_scene_free(scene);
}

static void test_averages_on_a_team_are_refused(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_backend *backend;
    must(kf_backend_open(teams[0], &backend, &error), &error);
    kf_scene *scene = open_text(resting, KF_ACM_MRT, KF_RATE_ADAPTIVE_2020);
    assert_int_equal(kinetic->accepts_device(problem_of(kinetic, scene), kf_backend_device(backend), &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "averages over all of nested grids"));
    kf_scene_free(scene);
    kf_backend_close(backend);
}

static int setup(void **state) {
    return make_test_folder(state) != 0 ? -1 : take_quick_compiler(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test_teardown(test_order, in_order_again),
        cmocka_unit_test(test_averages_on_a_team_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, remove_test_folder);
}
