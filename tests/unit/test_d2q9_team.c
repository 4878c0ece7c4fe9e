/* Tests d2q9 on 2 and 3 parts against one device, bit for bit: fields, force and whole state, also with
 * streams in random order. Faults: a part reads a row too early, too late, or from the wrong part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/cpu/queue.h"
#include "base/backend/team/team.h"
#include "base/backend/team/world.h"
#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"
#include "tests/unit/quick_compiler.h"
#include "tests/unit/team_fixture.h"

enum { STEPS = 41, MOST_SEEDS = 12 };

typedef struct outcome {
    void *state;
    size_t bytes;
    kf_solid_load load;
} outcome;

static const kf_system *const d2q9 = &kf_system_d2q9;

static void run(const kf_scene *scene, const char *const *fixed, const char *device, outcome *o) {
    kf_error error = {KF_OK, ""};
    kf_backend *backend;
    kf_plan *plan;
    must(kf_backend_open(device, &backend, &error), &error);
    const kf_config config = config_of(d2q9, scene, backend, fixed);
    must(d2q9->plan(problem_of(d2q9, scene), &config, backend, &plan, &error), &error);
    must(kf_plan_initialise(plan, &error), &error);
    must(kf_plan_advance(plan, STEPS, &error), &error);
    must(kf_backend_synchronize(backend, &error), &error);
    memset(o, 0, sizeof *o);
    must(plan->methods->flow->load(plan, &o->load, &error), &error);
    take_state(plan, &o->state, &o->bytes);
    must(kf_plan_check_buffers(plan, &error), &error);
    kf_plan_free(plan);
    kf_backend_close(backend);
}

static bool equal(const outcome *one, const outcome *team) {
    return one->bytes == team->bytes && memcmp(one->state, team->state, one->bytes) == 0 &&
           kf_solid_load_same(&one->load, &team->load);
}

#define ONE_BY_ONE                                                                                           \
    "graph=false", "overlap=false", "resident_blocks=0", "threads=64", "nodes_per_thread=1", "storage=f32"
static const char *const plans[][16] = {
    {"plan=pull", "folded_boundary=false", "alternate=false", "layout=csoa", "alpha=32",
     "bounce_back=half_way", ONE_BY_ONE, NULL},
    {"plan=push", "folded_boundary=false", "alternate=false", "layout=soa", "bounce_back=half_way",
     ONE_BY_ONE, NULL},
    {"plan=inplace", "folded_boundary=false", "alternate=false", "layout=aos", "bounce_back=half_way",
     ONE_BY_ONE, NULL},
    {"plan=separate", "folded_boundary=false", "alternate=false", "layout=soa", "bounce_back=half_way",
     ONE_BY_ONE, NULL},
    {"plan=toelke", "folded_boundary=false", "alternate=false", "layout=soa", ONE_BY_ONE, NULL},
    {"plan=pull", "folded_boundary=true", "alternate=true", "layout=soa", "bounce_back=half_way", ONE_BY_ONE,
     NULL},
    {"plan=inplace", "folded_boundary=true", "alternate=true", "layout=csoa", "alpha=32",
     "bounce_back=half_way", ONE_BY_ONE, NULL},
};
enum { PLANS = sizeof plans / sizeof *plans, FIRST_FOLDED = 5 };

static kf_scene *open_scene(const char *name, long nodes) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    const kf_scene_options options = {.node_limit = nodes};
    must(kf_scene_open(name, &options, &scene, &error), &error);
    return scene;
}

/* Compares with few rows, so that the flow has crossed all cuts, in order and in a random order that the
 * signals and awaits allow. */
static void compare(kf_scene *scene, int first, int last) {
    for (int i = first; i < last; i++) {
        outcome one, team;
        run(scene, plans[i], "cpu:1", &one);
        for (int turn = 0; turn < 3; turn++) {
            kf_cpu_shuffle((uint64_t)turn, -1);
            run(scene, plans[i], turn == 1 ? "cpu:1,cpu:1,cpu:1" : "cpu:1,cpu:1", &team);
            kf_cpu_shuffle(0, -1);
            if (!equal(&one, &team)) fail_msg("%s, plan %d, %d: not one device's", scene->name, i, turn);
            free(team.state);
        }
        free(one.state);
    }
    kf_scene_free(scene);
}

static void test_open_faces_and_a_solid(void **state) {
    (void)state;
    compare(open_scene("cylinder2d", 600), 0, FIRST_FOLDED);
}

/* Solid nodes at inflow, outflow and free slip, in rows of every part. */
static void test_solids_at_faces(void **state) {
    (void)state;
    kf_scene *scene = open_scene("cylinder2d", 600);
    const int *n = scene->nodes;
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_FREE_SLIP;
    for (int y = 0; y < n[1]; y++)
        for (int x = 0; x < n[0]; x++)
            if (x % (n[0] - 2) < 2 ? y % 3 == 1 : y % (n[1] - 2) < 2 && x % 4 == 0)
                scene->mask[n[0] * y + x] = KF_NODE_SOLID;
    compare(scene, 0, FIRST_FOLDED);
}

static void test_walls(void **state) {
    (void)state;
    compare(open_scene("cavity2d", 600), FIRST_FOLDED - 1, PLANS);
}

/* Without one of their awaits parts end differently, so none is superfluous. */
static void test_awaits(void **state) {
    (void)state;
    kf_scene *scene = open_scene("cavity2d", 600);
    outcome one, team;
    run(scene, plans[FIRST_FOLDED], "cpu:1", &one);
    for (int i = 0; i < 2 * KF_CPU_DROPS; i++) {
        const int dropped = i % KF_CPU_DROPS;
        bool noticed = false;
        for (uint64_t seed = 1; seed <= MOST_SEEDS && !noticed; seed++) {
            kf_cpu_shuffle(seed, dropped);
            run(scene, plans[FIRST_FOLDED], i < KF_CPU_DROPS ? "cpu:1,cpu:1" : "cpu:1,cpu:1,cpu:1,cpu:1",
                &team);
            noticed = !equal(&one, &team);
            free(team.state);
        }
        if (!noticed) fail_msg("awaits %d of %d are not missed", dropped, KF_CPU_DROPS);
    }
    kf_cpu_shuffle(0, -1);
    free(one.state);
    kf_scene_free(scene);
}

static void test_refuses_tiles(void **state) {
    (void)state;
    static const char *const temporal[] = {"plan=temporal", "graph=false", "resident_blocks=0", "storage=f32",
                                           NULL};
    kf_error error = {KF_OK, ""};
    kf_backend *backend;
    kf_plan *plan;
    kf_scene *scene = open_scene("cavity2d", 600);
    must(kf_backend_open("cpu:1,cpu:1", &backend, &error), &error);
    const kf_config config = config_of(d2q9, scene, backend, temporal);
    assert_int_equal(d2q9->plan(problem_of(d2q9, scene), &config, backend, &plan, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "plan temporal runs on one device"));
    kf_backend_close(backend);
    kf_scene_free(scene);
}

#define SOLIDS "bounce_back=half_way", ONE_BY_ONE, NULL
static const char *const of_processes[][16] = {
    {"plan=pull", "folded_boundary=false", "alternate=false", "layout=csoa", "alpha=32", SOLIDS},
    {"plan=push", "folded_boundary=false", "alternate=false", "layout=soa", SOLIDS},
    {"plan=inplace", "folded_boundary=false", "alternate=false", "layout=aos", SOLIDS},
    {"plan=separate", "folded_boundary=false", "alternate=false", "layout=soa", SOLIDS},
    {"plan=toelke", "folded_boundary=false", "alternate=false", "layout=soa", "bounce_back=full_way",
     ONE_BY_ONE, NULL},
    {"plan=pull", "folded_boundary=true", "alternate=true", "layout=soa", SOLIDS},
    {"plan=inplace", "folded_boundary=true", "alternate=true", "layout=csoa", "alpha=32",
     "bounce_back=full_way", ONE_BY_ONE, NULL},
};
enum { OF_PROCESSES = sizeof of_processes / sizeof *of_processes };

enum { CYLINDER, CAVITY, ARRAY, PUSHED_BLOCKS = 4, FOLDED = 5 };

/* Open faces are not folded, and a cavity has nothing to bounce back from in the domain. */
static bool is_possible(int scene, int plan) {
    return scene != CYLINDER || plan < FOLDED;
}

static const char *const *plan_of(int scene, int plan) {
    static const char *const walls[][16] = {
        [PUSHED_BLOCKS] = {"plan=toelke", "folded_boundary=false", "alternate=false", "layout=soa",
                           ONE_BY_ONE, NULL},
        [FOLDED + 1] = {"plan=inplace", "folded_boundary=true", "alternate=true", "layout=csoa", "alpha=32",
                        ONE_BY_ONE, NULL}};
    const bool without = scene == CAVITY && (plan == PUSHED_BLOCKS || plan == FOLDED + 1);
    return without ? walls[plan] : of_processes[plan];
}

/* An outcome whose state is of the first process alone, where each has only its rows. */
static bool agrees(const outcome *one, const outcome *team, bool whole) {
    return (!whole || (one->bytes == team->bytes && memcmp(one->state, team->state, one->bytes) == 0)) &&
           kf_solid_load_same(&one->load, &team->load);
}

/* mpirun starts this as two processes (tests/e2e/mpi.sh) with one device or four each, of one host or
 * pretending to be two. They give one device's results with open faces, between walls, and in a domain
 * that wraps around solids. */
static void test_in_several_processes(void **state) {
    (void)state;
    static const char *const scenes[] = {"cylinder2d", "cavity2d", "cylinder_array2d"};
    enum { SCENES = sizeof scenes / sizeof *scenes };
    kf_error error = {KF_OK, ""};
    outcome alone[SCENES][OF_PROCESSES], together;
    kf_scene *opened[SCENES];
    for (int c = 0; c < SCENES; c++) {
        opened[c] = open_scene(scenes[c], 2000);
        for (int i = 0; i < OF_PROCESSES; i++)
            if (is_possible(c, i)) run(opened[c], plan_of(c, i), "cpu:1", &alone[c][i]);
    }
    must(kf_world_open(&error), &error);
    assert_int_equal(kf_world_size(), 2);
    for (int c = 0; c < SCENES; c++)
        for (int i = 0; i < OF_PROCESSES; i++)
            for (int many = 0; many < 2 && is_possible(c, i); many++) {
                run(opened[c], plan_of(c, i), many ? "cpu:1,cpu:1,cpu:1,cpu:1" : "cpu:1", &together);
                if (!agrees(&alone[c][i], &together, kf_world_rank() == 0))
                    fail_msg("two processes, %s, plan %d, %d: not one device's", scenes[c], i, many);
                free(together.state);
            }
    for (int c = 0; c < SCENES; c++) {
        for (int i = 0; i < OF_PROCESSES; i++)
            if (is_possible(c, i)) free(alone[c][i].state);
        kf_scene_free(opened[c]);
    }
    kf_world_close(KF_OK, &error);
}

int main(void) {
    const struct CMUnitTest of_several[] = {cmocka_unit_test(test_in_several_processes)};
    if (kf_world_is_wanted()) return cmocka_run_group_tests(of_several, take_quick_compiler, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_open_faces_and_a_solid, in_order_again),
        cmocka_unit_test_teardown(test_solids_at_faces, in_order_again),
        cmocka_unit_test_teardown(test_walls, in_order_again),
        cmocka_unit_test_teardown(test_awaits, in_order_again),
        cmocka_unit_test(test_refuses_tiles),
    };
    return cmocka_run_group_tests(tests, take_quick_compiler, NULL);
}
