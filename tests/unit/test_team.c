/* Tests the kinetic system on 2, 3 and 4 parts against one device, bit for bit: fields, forces and whole
 * state. Planes are read in place, or by several processes; test_team_copies.c copies them. Faults: a
 * plane that is read too early, too late, or from the wrong part. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/backend/cpu/queue.h"
#include "base/backend/team/team.h"
#include "base/backend/team/world.h"
#include "tests/unit/kinetic_teams.h"
#include "tests/unit/quick_compiler.h"

/* Compares one plan on one device and on the first `count` of the teams. */
static void compare(const kf_scene *scene, const char *const *fixed, int count) {
    outcome one, team;
    char what[1024] = "";
    for (int i = 0; fixed[i] != NULL; i++) {
        const size_t at = strlen(what);
        (void)snprintf(what + at, sizeof what - at, "%s ", fixed[i]);
    }
    run(scene, fixed, "cpu:1", &one);
    for (int t = 0; t < count; t++) {
        run(scene, fixed, teams[t], &team);
        same(&one, &team, what);
        outcome_free(&team);
    }
    outcome_free(&one);
}

static void test_two_grids(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball", 6000);
    for (size_t i = 0; i < sizeof two_grids / sizeof *two_grids; i++)
        compare(scene, two_grids[i], i == 0 ? 3 : 1);
    compare(scene, masked, 2);
    kf_scene_free(scene);
}

/* These plans are not fused: they have fields of the whole domain, cell lists and scattered forces. */
static void test_separate_passes(void **state) {
    (void)state;
    static const char *const scenes[] = {"ball", "torus"};
    for (size_t i = 0; i < 4; i++) {
        kf_scene *scene = open_scene(scenes[i % 2], 6000);
        if (i == 0) scene->immersed_passes = 2;
        compare(scene, separate[i / 2], i == 0 ? 2 : 1);
        kf_scene_free(scene);
    }
}

/* Plans have nine moments per node, without a solid and with one, at rest, moving and free. The nodes of
 * its band are in one list for all parts. */
static void test_moments_on_teams(void **state) {
    (void)state;
    static const struct {
        kf_scene *(*open)(void);
        int plan, teams, seeds;
    } cases[] = {
        {empty_scene, 0, 2, 0},    {solid_of_moments, 0, 3, SEEDS}, {moments_across_the_seam, 1, 2, 0},
        {moving_moments, 3, 3, 1}, {free_moments, 3, 2, SEEDS},     {moments_at_ends, 2, 3, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kf_scene *scene = cases[c].open();
        compare(scene, moments[cases[c].plan], cases[c].teams);
        for (int seed = 1; seed <= cases[c].seeds; seed++) {
            kf_cpu_shuffle((uint64_t)seed, -1);
            compare(scene, moments[cases[c].plan], cases[c].teams < seed ? cases[c].teams : seed);
        }
        kf_cpu_shuffle(0, -1);
        kf_scene_free(scene);
    }
}

static void test_across_the_seam(void **state) {
    (void)state;
    kf_scene *scene = seam_scene();
    compare(scene, two_grids[0], 1);
    compare(scene, two_grids[2], 1);
    kf_scene_free(scene);
}

static void test_moving_solid(void **state) {
    (void)state;
    kf_scene *scene = moving_scene();
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++)
        compare(scene, moving[i], i == 0 ? 3 : 1);
    kf_scene_free(scene);
}

static void test_free_solid(void **state) {
    (void)state;
    kf_scene *scene = free_scene();
    compare(scene, moving[0], 1);
    compare(scene, separate[1], 1);
    scene->immersed_passes = 1;
    compare(scene, moving[0], 2);
    compare(scene, moving[1], 2);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        kf_cpu_shuffle(seed, -1);
        compare(scene, moving[seed % 2], 1);
    }
    kf_cpu_shuffle(0, -1);
    kf_scene_free(scene);
}

/* Streams run in random order, as far as the plan's signals and awaits allow, and end with the same bits.
 * With awaits left out they do not, so none is superfluous. */
static void test_streams_in_random_order(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball", 6000);
    const char *const *const plans[] = {two_grids[0], two_grids[2], separate[1]};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        outcome one, team;
        run(scene, plans[i], "cpu:1", &one);
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            kf_cpu_shuffle(seed, -1);
            run(scene, plans[i], teams[seed % 3], &team);
            same(&one, &team, "in random order");
            outcome_free(&team);
        }
        for (int dropped = 0; dropped < KF_CPU_DROPS; dropped++) {
            bool noticed = false;
            for (uint64_t seed = 1; seed <= MOST_SEEDS && !noticed; seed++) {
                kf_cpu_shuffle(seed, dropped);
                run(scene, plans[i], teams[2], &team);
                noticed = !equal(&one, &team);
                outcome_free(&team);
            }
            if (!noticed) fail_msg("plan %zu: awaits %d of %d are not missed", i, dropped, KF_CPU_DROPS);
        }
        kf_cpu_shuffle(0, -1);
        outcome_free(&one);
    }
    kf_scene_free(scene);
}

/* The gate's second run spoils a grid before the step that writes it. All devices read that grid in the
 * step before, which must have ended on all of them, because one device spoils the whole grid. */
static void test_spoilt_in_random_order(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball", 6000);
    kf_error error = {KF_OK, ""};
    outcome one;
    run(scene, two_grids[0], "cpu:1", &one);
    for (uint64_t seed = 1; seed <= 3 * SEEDS; seed++) {
        kf_backend *backend;
        outcome team;
        kf_cpu_shuffle(seed, -1);
        must(kf_backend_open(teams[seed % 3], &backend, &error), &error);
        kf_plan *plan = open_plan(scene, two_grids[0], backend);
        must(kf_plan_advance(plan, 3, &error), &error); /* some of its steps are left when it begins again */
        must(kf_plan_initialise(plan, &error), &error);
        for (int step = 0; step < STEPS; step++) {
            must(kf_plan_spoil(plan, &error), &error);
            must(kf_plan_advance(plan, 1, &error), &error);
        }
        finish(plan, &team);
        kf_plan_free(plan);
        kf_backend_close(backend);
        same(&one, &team, "spoilt, in random order");
        outcome_free(&team);
    }
    kf_cpu_shuffle(0, -1);
    outcome_free(&one);
    kf_scene_free(scene);
}

static void test_cuts_follow_the_cost(void **state) {
    (void)state;
    int first[KF_MOST_PARTS + 1];
    kf_scene *scene = open_scene("ball", 6000);
    for (int parts = 1; parts <= kf_kinetic_most_parts(scene); parts++) {
        kf_kinetic_cut(scene, 0.8, 2, parts, first);
        assert_int_equal(first[0], 0);
        assert_int_equal(first[parts], scene->nodes[2]);
        for (int part = 0; part < parts; part++)
            assert_true(first[part + 1] - first[part] >= 3);
    }
    /* The more expensive a sample is, the thinner is the slab with most of them, in the middle. */
    int dearer[KF_MOST_PARTS + 1];
    kf_kinetic_cut(scene, 0.0, 2, 3, first);
    kf_kinetic_cut(scene, 10.0, 2, 3, dearer);
    assert_true(dearer[2] - dearer[1] < first[2] - first[1]);
    /* With two parts across y and three across z each node belongs to one part, and parts side by side
     * have the same planes. */
    const kf_kinetic_options options = {.parts = 6, .parts_y = 2, .sample_cost = 0.8};
    kf_kinetic_box boxes[KF_MOST_PARTS];
    kf_kinetic_cut_all(scene, &options, boxes);
    kf_kinetic_cut(scene, 0.8, 2, 3, first);
    for (int part = 0; part < 6; part++) {
        const kf_kinetic_box *box = &boxes[part];
        assert_int_equal(box->first[1], first[part / 2]);
        assert_int_equal(box->count[1], first[part / 2 + 1] - first[part / 2]);
        assert_int_equal(box->first[0], part % 2 == 0 ? 0 : boxes[0].count[0]);
    }
    assert_int_equal(boxes[0].count[0] + boxes[1].count[0], scene->nodes[1]);
    /* With the largest number of parts each node still belongs to one part. */
    const kf_kinetic_options most = {.parts = KF_MOST_PARTS, .parts_y = 32, .sample_cost = 0.8};
    scene->nodes[1] = scene->nodes[2] = 32 * 5 + 3;
    kf_kinetic_cut_all(scene, &most, boxes);
    long long nodes = 0;
    for (int part = 0; part < KF_MOST_PARTS; part++) {
        nodes += (long long)boxes[part].count[0] * boxes[part].count[1];
        assert_true(boxes[part].count[0] >= 3 && boxes[part].count[1] >= 3);
    }
    assert_int_equal(nodes, (long long)scene->nodes[1] * scene->nodes[2]);
    kf_scene_free(scene);
}

/* 32 planes of 16 nodes are cut in two, with 80 samples in the first plane. The cut depends on the cost of
 * a sample: the scene's own, which is 4 planes at rest and 12 when moving, or tenths that a config sets. */
static void test_cost_of_a_sample(void **state) {
    (void)state;
    static const struct {
        bool moving;
        long tenths;
        int first;
    } cases[] = {{false, 0, 14}, {true, 0, 10}, {false, 1, 16}, {true, 1, 16}, {false, 40, 6}, {true, 40, 6}};
    double middle[80] = {0.0};
    kf_scene scene = {.nodes = {4, 4, 32},
                      .samples = {.count = 80, .x = middle, .y = middle, .z = middle, .area = middle}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int first[KF_MOST_PARTS + 1];
        scene.motion.moving = cases[c].moving;
        kf_kinetic_cut(&scene, kf_kinetic_sample_cost(&scene, cases[c].tenths), 2, 2, first);
        assert_int_equal(first[1], cases[c].first);
    }
}

static void test_impossible_teams_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *spec, *says;
    } wrong[] = {{"cuda:3-1", "no range"},     {"cpu,cuda:0", "one kind"}, {"cuda:0-", "no range"},
                 {"cpu:0-3", "as in cpu,cpu"}, {"cpu,,cpu", "not known"},  {"cpu,gpu", "did you mean"}};
    kf_error error = {KF_OK, ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(kf_device_check(wrong[i].spec, NULL, &error), KF_BAD_INPUT);
        if (strstr(error.message, wrong[i].says) == NULL) fail_msg("%s", error.message);
    }
    int parts = 0;
    assert_int_equal(kf_device_check("cuda:0-3,cuda:6", &parts, &error), KF_OK);
    assert_int_equal(parts, 5);
    kf_backend *backend;
    must(kf_backend_open("cpu:1,cpu:1", &backend, &error), &error);
    assert_int_equal(kf_backend_device(backend)->parts, 2);
    static const char *const shift[] = {FUSED, "layout=soa", "storage=f32", "streaming=two_grids", NULL};
    kf_scene *scene = open_scene("ball", 6000);
    kf_config config = config_of(kinetic, scene, backend, shift);
    kf_config_set_name(&config, "streaming", "shift");
    kf_config_set_integer(&config, "slab", 4);
    kf_plan *plan = NULL;
    assert_int_equal(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "use transfer=copies"));
    kf_config_set_name(&config, "transfer", "copies");
    kf_config_set_integer(&config, "slab", 2);
    assert_int_equal(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "at least 3 planes"));
    kf_config_set_name(&config, "streaming", "two_grids");
    kf_config_set_integer(&config, "slab", 0);
    kf_config_set_integer(&config, "boundary_kernels", 1);
    assert_int_equal(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "use transfer=direct"));
    kf_config_set_integer(&config, "boundary_kernels", 0);
    kf_config_set_name(&config, "transfer", "nccl");
    assert_int_equal(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "between GPUs"));
    kf_scene_free(scene);
    kf_backend_close(backend);
}

/* Returns how a process ends that shares this many files and may open as many, or raise its limit to the
 * second. 0 is success. */
static int share_files(int files, rlim_t soft, rlim_t hard) {
    const struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
    kf_error error = {KF_OK, ""};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 9;
    int *given = calloc((size_t)files, sizeof *given), *taken = calloc((size_t)files, sizeof *taken);
    const kf_status status = kf_world_give_files(KF_OK, given, &files, taken, &error);
    free(given);
    free(taken);
    if (status == KF_OK) return 0;
    return status == KF_MACHINE && strstr(error.message, "raise `ulimit -n` to 364, or use") != NULL ? 1 : 2;
}

/* A process that may not open as many files as others give to it says so. A soft limit it raises itself. */
static void test_limits_of_open_files(void **state) {
    (void)state;
    static const struct {
        rlim_t soft, hard;
        int ends;
    } cases[] = {{1000, 1000, 0}, {100, 1000, 0}, {100, 100, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) _exit(share_files(300, cases[c].soft, cases[c].hard));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cases[c].ends);
    }
}

static kf_status compile(const kf_source *source, void *device, kf_error *error) {
    kf_build build;
    return kf_source_prebuild(device, source, &build, error);
}

/* A team's kernels are also CUDA C. They are compiled for a GPU where there is a compiler for it. */
static void test_compiles_for_a_gpu(void **state) {
    (void)state;
    kf_device_info gpu = {
        .spec = "cuda:0-1", .backend = "cuda", .architecture = "sm_90", .parts = 2, .warp_size = 32};
    static const char *const fixed[][24] = {
        {FUSED, "layout=csoa", "alpha=32", "storage=f32", "streaming=two_grids", "boundary_kernels=0",
         "immersed_boundary=aggregated", NULL},
        {"plan=fused", "streaming=shift", "slab=16", "transfer=copies", "prefetch_rows=32",
         "nodes_per_thread=1", "layout=csoa", "alpha=32", "storage=f32", "boundary_kernels=0",
         "immersed_boundary=aggregated", NULL},
        {"plan=paper", "layout=csoa", "alpha=32", "collision_split=2", SEPARATE, "immersed_boundary=gather",
         NULL},
    };
    static const char *const scenes[] = {"torus", "ball"};
    kf_error error = {KF_OK, ""};
    for (int i = 0; i < 5; i++) { /* of the last plan only the moving solid */
        kf_backend *cpu;
        must(kf_backend_open("cpu:1,cpu:1", &cpu, &error), &error);
        kf_scene *scene = open_scene(scenes[i % 2], 6000);
        const kf_config config = config_of(kinetic, scene, cpu, fixed[i / 2]);
        kf_backend_close(cpu);
        const kf_status status =
            kinetic->sources(problem_of(kinetic, scene), &config, &gpu, compile, &gpu, &error);
        kf_scene_free(scene);
        if (status != KF_OK && (strstr(error.message, "libnvrtc") || strstr(error.message, "without CUDA"))) {
            print_message("%s\n", error.message);
            skip();
        }
        must(status, &error);
    }
}

/* mpirun starts two processes (tests/e2e/mpi.sh) with a device or two each. On both the result is that of
 * one device. */
static void test_in_several_processes(void **state) {
    (void)state;
    static const struct {
        kf_scene *(*open)(void);
        const char *const *plan;
        const char *transfer; /* read in place, or copied; each is also sent through MPI */
        const char *cut;      /* NULL: in slabs */
    } cases[] = {{ball_scene, two_grids[0], direct, NULL},
                 {ball_scene, masked, direct, NULL},
                 {solid_of_moments, moments[0], direct, NULL},
                 {moving_moments, moments[3], direct, NULL},
                 {free_moments, moments[3], direct, NULL},
                 {moments_at_ends, moments[2], copies, NULL},
                 {seam_scene, one_grid[0], copies, NULL},
                 {moving_scene, moving[1], copies, NULL},
                 {free_scene, moving[0], direct, NULL},
                 {ball_scene, two_grids[1], copies, "parts_y=4"},
                 {open_ends, doubles, copies, "parts_y=2"},
                 {free_between_mirrors, moving[0], copies, "parts_y=2"},
                 {seam_across_y, one_grid[0], copies, "parts_y=2"},
                 {moments_across_y, moments[1], copies, "parts_y=2"},
                 {ball_scene, two_grids[1], direct, NULL},
                 {ball_scene, one_grid[1], copies, NULL},
                 {ball_scene, one_grid[2], copies, NULL},
                 {empty_scene, moments[0], direct, NULL},
                 {seam_scene, two_grids[0], direct, NULL},
                 {moving_scene, moving[0], direct, NULL},
                 {ball_scene, two_grids[0], copies, NULL},
                 {ball_scene, two_grids[0], copies, "parts_y=2"},
                 {seam_across_y, two_grids[0], copies, "parts_y=2"},
                 {open_ends, one_grid[2], copies, "parts_y=2"},
                 {moving_on_a_torus, moving[0], copies, "parts_y=2"},
                 {moments_on_a_torus, moments[3], copies, "parts_y=2"}};
    enum { CASES = sizeof cases / sizeof *cases };
    const int taken = (int)cases_taken(14, CASES);
    kf_error error = {KF_OK, ""};
    outcome alone[CASES];
    for (int c = 0; c < taken; c++) {
        kf_scene *scene = cases[c].open();
        run(scene, cases[c].plan, "cpu:1", &alone[c]);
        kf_scene_free(scene);
    }
    must(kf_world_open(&error), &error);
    assert_int_equal(kf_world_size(), 2);
    for (int c = 0; c < taken; c++) {
        kf_scene *scene = cases[c].open();
        const char *device = kf_kinetic_most_parts(scene) < 4 ? "cpu:1" : teams[2];
        for (int mpi = 0; mpi < 2; mpi++) {
            outcome together;
            char what[64];
            const char *transfer = mpi == 0 ? cases[c].transfer : transfers[1];
            (void)snprintf(what, sizeof what, "processes, case %d, %s", c, transfer);
            run_cut(scene, cases[c].plan, cases[c].cut, transfer, device, &together);
            same(&alone[c], &together, what);
            outcome_free(&together);
        }
        outcome_free(&alone[c]);
        kf_scene_free(scene);
    }
    kf_backend *backend;
    int first, reached;
    must(kf_backend_open("cpu:1", &backend, &error), &error);
    kf_backend_near(backend, &first, &reached); /* the processes of a host share memory */
    assert_int_equal(first, 0);
    assert_int_equal(reached, 2);
    kf_backend_close(backend);
    kf_world_close(KF_OK, &error);
}

int main(void) {
    const struct CMUnitTest of_several[] = {cmocka_unit_test(test_in_several_processes)};
    if (kf_world_is_wanted()) return cmocka_run_group_tests(of_several, take_quick_compiler, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_grids),
        cmocka_unit_test(test_separate_passes),
        cmocka_unit_test(test_moments_on_teams),
        cmocka_unit_test(test_across_the_seam),
        cmocka_unit_test(test_moving_solid),
        cmocka_unit_test(test_free_solid),
        cmocka_unit_test_teardown(test_streams_in_random_order, in_order_again),
        cmocka_unit_test_teardown(test_spoilt_in_random_order, in_order_again),
        cmocka_unit_test(test_cuts_follow_the_cost),
        cmocka_unit_test(test_cost_of_a_sample),
        cmocka_unit_test(test_impossible_teams_are_refused),
        cmocka_unit_test(test_limits_of_open_files),
        cmocka_unit_test(test_compiles_for_a_gpu),
    };
    return cmocka_run_group_tests(tests, take_quick_compiler, NULL);
}
