/* Tests teams of devices that copy planes, and rows where they are cut across y, against one device bit
 * for bit. Faults: a population that is not copied, or late. */
#include "base/backend/cpu/queue.h"
#include "base/backend/team/nccl.h"
#include "base/backend/team/team.h"
#include "tests/unit/kinetic_teams.h"
#include "tests/unit/quick_compiler.h"

static const char *const nineteen[] = {"plan=fused",          "layout=csoa",        "alpha=32",
                                       "storage=f32",         "velocities=19",      "nodes_per_thread=1",
                                       "streaming=two_grids", "boundary_kernels=0", NULL};

/* Planes are copied from device to device and through the host, in plans with two grids and with one, with
 * and without masks for the band. There are static, moving and free solids, periodic domains, moments, and
 * parts that are too thin for any work during a copy. */
static void test_copied_planes(void **state) {
    (void)state;
    static const char *const concurrent[] = {FUSED,
                                             "layout=csoa",
                                             "alpha=32",
                                             "storage=f32",
                                             "streaming=two_grids",
                                             "boundary_kernels=0",
                                             "immersed_boundary=aggregated",
                                             "concurrent_solid=true",
                                             NULL};
    static const struct {
        kf_scene *(*open)(void);
        const char *const *plan;
        int team;
    } cases[] = {{ball_scene, two_grids[0], 0},     {ball_scene, two_grids[1], 2},
                 {ball_scene, one_grid[2], 1},      {seam_scene, one_grid[0], 0},
                 {moving_scene, moving[1], 1},      {free_scene, moving[0], 1},
                 {ball_scene, masked, 1},           {on_a_wall_across_y, two_grids[0], 0},
                 {solid_of_moments, moments[0], 2}, {moments_across_the_seam, moments[1], 1},
                 {free_moments, moments[3], 0},     {moments_at_ends, moments[2], 2},
                 {ball_scene, concurrent, 2},       {empty_scene, moments[0], 2},
                 {ball_scene, one_grid[0], 2},      {seam_scene, two_grids[0], 1},
                 {moving_scene, moving[0], 0},      {solid_of_moments, moments[0], 0},
                 {moving_moments, moments[3], 1}};
    for (size_t c = 0; c < cases_taken(13, sizeof cases / sizeof *cases); c++)
        holds_in_any_order(cases[c].open(), cases[c].plan, NULL, teams[cases[c].team], c);
}

/* Runs a plan of two grids with a single shifted grid instead. */
static void run_shifted(const kf_scene *scene, const char *const *two, const char *slab, const char *transfer,
                        const char *device, outcome *o) {
    const char *with[32];
    int count = 0;
    for (; two[count] != NULL; count++)
        with[count] = strcmp(two[count], "slab=0") == 0                ? slab
                      : strcmp(two[count], "streaming=two_grids") == 0 ? "streaming=shift"
                                                                       : two[count];
    with[count++] = transfer;
    with[count] = NULL;
    run(scene, with, device, o);
}

/* Shifted grids stay within each part's memory: with open and periodic ends, with static, moving and free
 * solids, with one slab and several. */
static void test_shifted_grids(void **state) {
    (void)state;
    static const struct {
        kf_scene *(*open)(void);
        const char *const *plan;
        const char *slab, *cut;
        int team;
    } cases[] = {{ball_scene, two_grids[0], "slab=4", NULL, 0},
                 {ball_scene, two_grids[1], "slab=8", NULL, 2},
                 {ball_scene, two_grids[1], "slab=4", "parts_y=2", 2},
                 {seam_scene, two_grids[0], "slab=8", NULL, 1},
                 {seam_across_y, two_grids[0], "slab=8", "parts_y=2", 2},
                 {moving_scene, moving[0], "slab=4", NULL, 1},
                 {moving_on_a_torus, moving[0], "slab=4", "parts_y=2", 2},
                 {free_scene, moving[0], "slab=8", NULL, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        outcome one;
        const char *cut[32];
        kf_scene *scene = cases[c].open();
        run(scene, cases[c].plan, "cpu:1", &one);
        add_to(cases[c].plan, cases[c].cut, cut);
        for (int t = 0; t < 2; t++) {
            char what[64];
            (void)snprintf(what, sizeof what, "shifted, case %zu, %s", c, transfers[t]);
            holds(run_shifted, scene, cut, cases[c].slab, transfers[t], teams[cases[c].team],
                  t == 0 ? c + 1 : 0, &one, what);
        }
        outcome_free(&one);
        kf_scene_free(scene);
    }
}

/* Makes a scene without a solid, which 19 velocities allow. */
static kf_scene *coarse_scene(void) {
    kf_scene *scene = empty_scene();
    scene->accuracy = KF_ACCURACY_OF_19;
    return scene;
}

/* Makes a scene with room for eight parts, and outflows along y. */
static kf_scene *large_ball(void) {
    kf_scene *scene = open_scene("ball", 20000);
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_OUTFLOW;
    return scene;
}

/* Domains are cut across y and z, with the solid across both, up to 4 x 2 parts, in order and in random
 * order. */
static void test_cuts_across_y(void **state) {
    (void)state;
    static const struct {
        kf_scene *(*open)(void);
        const char *const *plan, *cut;
        int team;
    } cases[] = {{ball_scene, two_grids[0], "parts_y=2", 0},
                 {ball_scene, two_grids[1], "parts_y=4", 2},
                 {seam_scene, two_grids[0], "parts_y=2", 2},
                 {ball_scene, masked, "parts_y=2", 2},
                 {on_the_ground, two_grids[0], "parts_y=2", 2},
                 {coarse_scene, nineteen, "parts_y=2", 2},
                 {free_between_mirrors, moving[0], "parts_y=2", 2},
                 {open_and_periodic, doubles, "parts_y=2", 2},
                 {moving_on_a_torus, moving[0], "parts_y=2", 2},
                 {open_ends, one_grid[2], "parts_y=2", 2},
                 {seam_across_y, one_grid[0], "parts_y=2", 2},
                 {moments_at_ends, moments[2], "parts_y=2", 2},
                 {solid_of_moments, moments[0], "parts_y=4", 2},
                 {moments_across_y, moments[1], "parts_y=2", 2},
                 {moments_on_a_torus, moments[3], "parts_y=2", 2},
                 {large_ball, two_grids[0], "parts_y=2", 3},
                 {on_a_wall_across_y, two_grids[1], "parts_y=2", 2},
                 {large_ball, one_grid[0], "parts_y=4", 3},
                 {ball_scene, two_grids[0], "parts_y=2", 2},
                 {ball_scene, two_grids[1], "parts_y=2", 2},
                 {on_the_ground, two_grids[0], "parts_y=2", 0},
                 {open_ends, doubles, "parts_y=2", 2},
                 {open_ends, two_grids[0], "parts_y=4", 2},
                 {moving_scene, moving[0], "parts_y=2", 2},
                 {seam_across_y, two_grids[0], "parts_y=2", 0},
                 {seam_across_y, two_grids[1], "parts_y=2", 2},
                 {free_on_a_torus, moving[0], "parts_y=2", 2},
                 {ball_scene, one_grid[0], "parts_y=2", 2},
                 {ball_scene, one_grid[2], "parts_y=4", 2},
                 {on_the_ground, one_grid[0], "parts_y=2", 2},
                 {seam_scene, one_grid[2], "parts_y=2", 2},
                 {moving_on_a_torus, moving[1], "parts_y=2", 2},
                 {empty_scene, moments[0], "parts_y=2", 2},
                 {solid_of_moments, moments[0], "parts_y=2", 2},
                 {moments_across_the_seam, moments[1], "parts_y=2", 2},
                 {moments_between_mirrors, moments[3], "parts_y=2", 2}};
    for (size_t c = 0; c < cases_taken(16, sizeof cases / sizeof *cases); c++)
        holds_in_any_order(cases[c].open(), cases[c].plan, cases[c].cut, teams[cases[c].team], c);
}

/* None of the copies' awaits is superfluous, in slabs and in boxes, and in slabs of moments. */
static void test_awaits_of_copies(void **state) {
    (void)state;
    static const struct {
        kf_scene *(*open)(void);
        const char *const *plan, *cut;
    } cases[] = {{ball_scene, two_grids[0], NULL},
                 {ball_scene, two_grids[0], "parts_y=2"},
                 {ball_scene, one_grid[0], "parts_y=2"},
                 {solid_of_moments, moments[0], NULL},
                 {solid_of_moments, moments[0], "parts_y=2"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        outcome one;
        kf_scene *scene = cases[c].open();
        run(scene, cases[c].plan, "cpu:1", &one);
        for (int t = 0; t < 2; t++) {
            if (!copies_alike(scene, cases[c].plan, cases[c].cut, transfers[t], teams[2], &one, SEEDS, -1))
                fail_msg("%s, case %zu: another result in random order", transfers[t], c);
            for (int dropped = 0; dropped < KF_CPU_DROPS; dropped++)
                if (copies_alike(scene, cases[c].plan, cases[c].cut, transfers[t], teams[2], &one, MOST_SEEDS,
                                 dropped))
                    fail_msg("%s, case %zu: awaits %d of %d are not missed", transfers[t], c, dropped,
                             KF_CPU_DROPS);
        }
        outcome_free(&one);
        kf_scene_free(scene);
    }
}

static void test_restart_on_any_number(void **state) {
    (void)state;
    static const struct {
        kf_scene *(*open)(void);
        const char *const *plan, *cut, *transfer;
    } cases[] = {{ball_scene, two_grids[0], NULL, NULL},
                 {ball_scene, two_grids[0], "parts_y=2", "transfer=copies"},
                 {ball_scene, two_grids[0], "parts_y=4", "transfer=copies"},
                 {ball_scene, one_grid[2], "parts_y=2", "transfer=copies"},
                 {moving_on_a_torus, moving[0], "parts_y=2", "transfer=copies"},
                 {solid_of_moments, moments[0], NULL, NULL},
                 {solid_of_moments, moments[0], NULL, "transfer=copies"},
                 {solid_of_moments, moments[0], "parts_y=2", "transfer=copies"},
                 {moments_across_y, moments[1], "parts_y=2", "transfer=copies"},
                 {moments_across_the_seam, moments[1], NULL, "transfer=copies"},
                 {moving_moments, moments[3], NULL, NULL},
                 {moving_moments, moments[3], NULL, "transfer=copies"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        outcome one, last;
        char what[64];
        kf_scene *scene = cases[c].open();
        (void)snprintf(what, sizeof what, "restarted, case %zu", c);
        run(scene, cases[c].plan, "cpu:1", &one);
        run_restarted(scene, cases[c].plan, cases[c].cut, cases[c].transfer, &last);
        same(&one, &last, what);
        outcome_free(&last);
        outcome_free(&one);
        kf_scene_free(scene);
    }
}

/* Smoke reads the velocity of all nodes on the first device, which equals that of the fields. */
static void test_velocity_for_smoke(void **state) {
    (void)state;
    static const char *const cuts[] = {NULL, "parts_y=2", "parts_y=4"};
    kf_error error = {KF_OK, ""};
    kf_scene *scene = ball_scene();
    const size_t nodes = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    float *velocity = malloc(nodes * 4 * sizeof *velocity);
    for (int c = 0; c < 6; c++) {
        kf_backend *backend;
        kf_buffer *buffer;
        kf_fields fields = {0};
        const char *with[32], *cut[32];
        must(kf_backend_open(teams[2], &backend, &error), &error);
        must(kf_buffer_create(backend, nodes * 4 * sizeof *velocity, &buffer, &error), &error);
        add_to(c < 3 ? two_grids[1] : doubles, cuts[c % 3], cut);
        add_to(cut, transfers[0], with);
        kf_plan *plan = open_plan(scene, with, backend);
        must(kf_plan_advance(plan, 11, &error), &error);
        must(plan->methods->flow->velocity(plan, buffer, &error), &error);
        must(plan->methods->flow->fields(plan, &fields, &error), &error);
        must(kf_plan_advance(plan, 1, &error), &error); /* smoke does not overtake the step */
        must(kf_buffer_download(buffer, 0, velocity, nodes * 4 * sizeof *velocity, &error), &error);
        for (size_t i = 0; i < nodes; i++)
            for (size_t a = 0; a < 3; a++)
                assert_true(velocity[4 * i + a] == fields.velocity[a][i]);
        kf_fields_free(&fields);
        kf_plan_free(plan);
        kf_buffer_free(buffer);
        kf_backend_close(backend);
    }
    free(velocity);
    kf_scene_free(scene);
}

/* Checks the message about a config for four devices with parts_y=2 and another value. */
static void refused(const kf_scene *scene, const char *device, const char *name, const char *value,
                    long number, const char *says) {
    kf_error error = {KF_OK, ""};
    kf_backend *backend;
    kf_plan *plan = NULL;
    must(kf_backend_open(device, &backend, &error), &error);
    kf_config config = config_of(kinetic, scene, backend, two_grids[0]);
    kf_config_set_name(&config, "transfer", "copies");
    kf_config_set_integer(&config, "parts_y", 2);
    if (value != NULL)
        kf_config_set_name(&config, name, value);
    else if (name != NULL)
        kf_config_set_integer(&config, name, number);
    assert_int_equal(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error),
                     KF_BAD_INPUT);
    if (strstr(error.message, says) == NULL) fail_msg("%s", error.message);
    kf_backend_close(backend);
}

static void test_refusals_of_cuts(void **state) {
    (void)state;
    kf_scene *scene = ball_scene();
    refused(scene, teams[1], NULL, NULL, 0, "3 devices cannot be arranged with 2 along y");
    refused(scene, teams[2], "transfer", "direct", 0, "need copies of rows: use transfer=copies");
    refused(scene, teams[2], "boundary_kernels", NULL, 1, "with boundary_kernels=0");
    refused(scene, teams[3], "parts_y", NULL, 8, "8 devices along y and 1 along z are too many");
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_PERIODIC;
    refused(scene, teams[2], "parts_y", NULL, 4, "at least 4 rows and 3 planes");
    kf_scene_free(scene);
}

/* Without the library one line says how to get it. */
static void test_without_nccl(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_nccl_available("cpu", &error), KF_BAD_INPUT);
    setenv("KFTUNE_NCCL", "/nowhere/libnccl.so.2", 1);
    assert_int_equal(kf_nccl_available("cuda", &error), KF_MACHINE);
    assert_true(strstr(error.message, "$KFTUNE_NCCL") != NULL ||
                strstr(error.message, "without CUDA") != NULL);
    unsetenv("KFTUNE_NCCL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_copied_planes, in_order_again),
        cmocka_unit_test_teardown(test_cuts_across_y, in_order_again),
        cmocka_unit_test_teardown(test_shifted_grids, in_order_again),
        cmocka_unit_test_teardown(test_awaits_of_copies, in_order_again),
        cmocka_unit_test(test_restart_on_any_number),
        cmocka_unit_test(test_velocity_for_smoke),
        cmocka_unit_test(test_without_nccl),
        cmocka_unit_test(test_refusals_of_cuts),
    };
    return cmocka_run_group_tests(tests, take_quick_compiler, NULL);
}
