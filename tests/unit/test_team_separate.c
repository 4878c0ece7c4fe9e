/* Tests plans of several passes on teams that copy planes once a step, as Chen et al. 2021 do, against one
 * device bit for bit. Faults: a pass that reads a plane before it comes. */
#include "tests/unit/kinetic_teams.h"
#include "tests/unit/quick_compiler.h"

/* The paper's plan, in one collision and in three, and without a solid. */
static const char *const paper[][24] = {
    {"plan=paper", "layout=soa", "collision_split=1", "storage=f64", "sample_block_length=1", "block_x=64",
     "block_y=2", "boundary_kernels=6", "immersed_boundary=gather", NULL},
    {"plan=paper", "layout=csoa", "alpha=1024", "collision_split=3", SEPARATE, "immersed_boundary=gather",
     NULL},
    {"plan=paper", "layout=csoa", "alpha=32", "collision_split=2", "storage=f32", "block_x=64", "block_y=2",
     "boundary_kernels=1", NULL},
};

static kf_scene *in_two_passes(void) {
    kf_scene *scene = ball_scene();
    scene->immersed_passes = 2;
    return scene;
}

/* Its collision has no moments to split. */
static kf_scene *bgk_scene(void) {
    kf_scene *scene = ball_scene();
    scene->collision = KF_BGK;
    return scene;
}

/* Static, moving and free solids cross the cuts, on walls and across the seam, in one pass and in two,
 * with open ends and with none. */
static void test_copied_once_a_step(void **state) {
    (void)state;
    static const struct {
        kf_scene *(*open)(void);
        const char *const *plan;
        int team;
    } cases[] = {{ball_scene, separate[1], 1},         {in_two_passes, separate[0], 0},
                 {moving_scene, separate[1], 1},       {seam_scene, paper[1], 1},
                 {free_scene, separate[1], 0},         {open_ends, separate[0], 2},
                 {on_a_wall_across_y, separate[1], 0}, {moving_on_a_torus, separate[0], 1},
                 {bgk_scene, separate[1], 0},          {empty_scene, paper[2], 2},
                 {moving_scene, paper[0], 0},          {on_the_ground, paper[0], 1},
                 {seam_scene, separate[0], 1},         {ball_scene, paper[1], 2}};
    for (size_t c = 0; c < cases_taken(7, sizeof cases / sizeof *cases); c++)
        holds_in_any_order(cases[c].open(), cases[c].plan, NULL, teams[cases[c].team], c);
}

/* None of their awaits is superfluous. */
static void test_no_await_is_superfluous(void **state) {
    (void)state;
    outcome one;
    kf_scene *scene = ball_scene();
    run(scene, separate[1], "cpu:1", &one);
    for (int t = 0; t < 2; t++) {
        assert_true(copies_alike(scene, separate[1], NULL, transfers[t], teams[2], &one, SEEDS, -1));
        for (int dropped = 0; dropped < KF_CPU_DROPS; dropped++)
            if (copies_alike(scene, separate[1], NULL, transfers[t], teams[2], &one, MOST_SEEDS, dropped))
                fail_msg("%s: awaits %d of %d are not missed", transfers[t], dropped, KF_CPU_DROPS);
    }
    outcome_free(&one);
    kf_scene_free(scene);
}

/* A step sends to each side of a cut, once, 27 of the 54 populations of two planes. With two passes of the
 * solid's forces it sends 54 of the 81 of three. */
static void test_what_travels(void **state) {
    (void)state;
    enum { PARTS = 3, MESSAGES = 2 * (PARTS - 1) };
    kf_scene *scenes[2] = {ball_scene(), in_two_passes()};
    static const int crossing[2] = {27, 54};
    for (int s = 0; s < 2; s++) {
        kf_error error = {KF_OK, ""};
        kf_backend *backend;
        const char *with[32];
        double bytes = 0;
        int messages = 0;
        add_to(separate[1], transfers[1], with);
        must(kf_backend_open(teams[PARTS - 2], &backend, &error), &error);
        kf_plan *plan = open_plan(scenes[s], with, backend);
        for (size_t i = 0; i < plan->item_count; i++) {
            if (strcmp(plan->items[i].name, "to_host") != 0 || !kf_item_is_due(&plan->items[i], 0)) continue;
            messages++;
            bytes += plan->items[i].bytes;
        }
        assert_int_equal(messages, MESSAGES);
        const double face = (double)scenes[s]->nodes[0] * scenes[s]->nodes[1];
        assert_true(bytes == MESSAGES * crossing[s] * face * (double)sizeof(float));
        kf_plan_free(plan);
        kf_backend_close(backend);
        kf_scene_free(scenes[s]);
    }
}

/* Without ghosts, kernels of one pass copy planes. With ghosts they are refused, and so are other plans
 * across y. */
static void test_what_ghosts_exclude_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *const *plan;
        const char *name;
        long value;
        const char *says;
    } cases[] = {{two_grids[0], "boundary_kernels", 1, "plans fused and moments copy planes with"},
                 {separate[1], "parts_y", 2, "cuts across y need plan fused or moments"}};
    kf_error error = {KF_OK, ""};
    kf_scene *scene = ball_scene();
    kf_backend *backend;
    must(kf_backend_open(teams[2], &backend, &error), &error);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kf_plan *plan = NULL;
        kf_config config = config_of(kinetic, scene, backend, cases[c].plan);
        kf_config_set_name(&config, "transfer", "host");
        kf_config_set_integer(&config, cases[c].name, cases[c].value);
        assert_int_equal(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error),
                         KF_BAD_INPUT);
        if (strstr(error.message, cases[c].says) == NULL) fail_msg("%s", error.message);
    }
    kf_backend_close(backend);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copied_once_a_step), cmocka_unit_test(test_no_await_is_superfluous),
        cmocka_unit_test(test_what_travels), cmocka_unit_test(test_what_ghosts_exclude_is_refused)};
    return cmocka_run_group_tests(tests, take_quick_compiler, NULL);
}
