/* Tests particles on teams of devices against one device, bit for bit: state, energies and gauges, for any
 * parts and particles, also with streams in random order. Faults: a sum in another order, or a particle
 * that two parts own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/cpu/queue.h"
#include "base/backend/team/world.h"
#include "tests/unit/quick_compiler.h"
#include "tests/unit/sph_team_fixture.h"

enum { MOST_SEEDS = 12 };

/* Each scene runs with streams in order on one team, and in random orders on the others. */
static void test_is_one_device(void **state) {
    (void)state;
    for (int c = 0; c < CASES; c++) {
        kf_problem *problem = problem_from(cases[c].text);
        outcome one, team;
        run(problem, cases[c].fixed, "cpu:1", STEPS, &one);
        for (int t = 0; t < TEAMS; t++) {
            kf_cpu_shuffle((uint64_t)t, -1);
            run(problem, cases[c].fixed, teams[t], STEPS, &team);
            kf_cpu_shuffle(0, -1);
            if (!equal(&one, &team)) fail_msg("%s on %s: not one device's", cases[c].name, teams[t]);
            free(team.state);
        }
        free(one.state);
        kf_problem_free(problem);
    }
}

/* The slabs follow the water. No part has more than one and a half times its share, as far as planes
 * allow. */
static void test_cuts_move(void **state) {
    (void)state;
    enum { LONG = 900 };
    kf_problem *problem = problem_from(column);
    outcome one, team;
    run(problem, staged, "cpu:1", LONG, &one);
    kf_plan *plan = open_plan(problem, staged, teams[0]);
    const kf_sph_share begin = share_of(plan, 1);
    advance(plan, LONG);
    const kf_sph_share end = share_of(plan, 1);
    assert_true(end.cut[1] > begin.cut[1] || end.cut[2] > begin.cut[2]);
    int all = 0;
    for (int part = 0; part < 3; part++) {
        const kf_sph_share share = share_of(plan, part);
        assert_memory_equal(share.cut, end.cut, sizeof share.cut);
        assert_in_range(share.inside, 20, 120); /* of 200 */
        all += share.inside + share.outside;
    }
    assert_int_equal(all, 200);
    look(plan, &team);
    close_plan(plan);
    assert_true(equal(&one, &team));
    free(one.state);
    free(team.state);
    kf_problem_free(problem);
}

/* As far as planes allow, the most expensive part costs at most 5 % more than its share. */
static void test_parts_may_be_empty(void **state) {
    (void)state;
    kf_problem *problem = problem_from(needle);
    kf_plan *plan = open_plan(problem, staged, teams[2]);
    advance(plan, 20);
    int empty = 0, most = 0, all = 0;
    for (int part = 0; part < 4; part++) {
        const kf_sph_share share = share_of(plan, part);
        empty += share.inside == 0;
        most = share.inside > most ? share.inside : most;
        all += share.inside;
    }
    assert_true(empty >= 1);
    assert_true(most >= all / 2);
    close_plan(plan);
    kf_problem_free(problem);
}

/* A state continues with any number of parts, also from the middle of steps that share a list. */
static void test_restarts_with_other_parts(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_problem *problem = problem_from(column);
    for (int kept = 0; kept < 2; kept++) {
        const char *const *fixed = kept ? lists : staged;
        outcome begun, ends[3];
        run(problem, fixed, teams[0], 30, &begun);
        for (int t = 0; t < 3; t++) {
            kf_plan *plan = open_plan(problem, fixed, t == 0 ? "cpu:1" : teams[t]);
            advance(plan, 3);
            must(plan->methods->restore(plan, begun.state, 30, &error), &error);
            plan->steps_done = 30;
            advance(plan, 21);
            look(plan, &ends[t]);
            close_plan(plan);
        }
        assert_true(equal(&ends[0], &ends[1]));
        assert_true(equal(&ends[0], &ends[2]));
        for (int t = 0; t < 3; t++)
            free(ends[t].state);
        free(begun.state);
    }
    kf_problem_free(problem);
}

/* Without one of their awaits parts end in another state, so none is superfluous. */
static void test_awaits(void **state) {
    (void)state;
    kf_problem *problem = problem_from(tank);
    outcome one, team;
    run(problem, staged, "cpu:1", 9, &one);
    for (int dropped = 0; dropped < KF_CPU_DROPS; dropped++) {
        bool noticed = false;
        for (uint64_t seed = 1; seed <= MOST_SEEDS && !noticed; seed++) {
            kf_error error = {KF_OK, ""};
            kf_cpu_shuffle(seed, -1); /* so that its memory begins as zeros */
            kf_plan *plan = open_plan(problem, staged, teams[0]);
            kf_backend *backend = plan->backend;
            must(kf_backend_synchronize(backend, &error), &error);
            kf_cpu_shuffle(seed, dropped);
            noticed =
                kf_plan_advance(plan, 9, &error) != KF_OK || kf_backend_synchronize(backend, &error) != KF_OK;
            kf_cpu_shuffle(0, -1);
            if (!noticed) {
                take_state(plan, &team.state, &team.bytes);
                noticed = memcmp(one.state, team.state, one.bytes) != 0;
                free(team.state);
            }
            kf_plan_free(plan);
            kf_backend_close(backend);
        }
        if (!noticed) fail_msg("awaits %d of %d are not missed", dropped, KF_CPU_DROPS);
    }
    free(one.state);
    kf_problem_free(problem);
}

static void test_refuses_what_repeats_no_order(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_problem *problem = problem_from(column);
    kf_plan *alone = open_plan(problem, staged, "cpu:1"), *plan;
    kf_config config = alone->config;
    kf_backend *team;
    kf_config_set_name(&config, "order", "atomic");
    must(kf_backend_open(teams[1], &team, &error), &error);
    assert_int_equal(kf_system_sph.plan(problem, &config, team, &plan, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "order ranked"));
    kf_backend_close(team);
    close_plan(alone);
    kf_problem_free(problem);
}

static kf_status prebuild(const kf_source *source, void *device, kf_error *error) {
    kf_build build;
    return kf_source_prebuild(device, source, &build, error);
}

/* The kernels for GPUs of a team are also valid CUDA C. */
static void test_kernels_compile_for_gpus(void **state) {
    (void)state;
    kf_device_info device = {
        .spec = "cuda:0-1", .backend = "cuda", .architecture = "sm_90", .parts = 2, .warp_size = 32};
    kf_error error = {KF_OK, ""};
    kf_variables variables;
    kf_space *space;
    kf_config config;
    kf_problem *problem = problem_from(hill);
    kf_system_sph.variables(problem, &device, &variables);
    must(kf_space_open("sph", kf_system_sph.space_file, &variables, NULL, 0, &space, &error), &error);
    must(kf_space_preset(space, "baseline", &config, &error), &error);
    const kf_status status = kf_system_sph.sources(problem, &config, &device, prebuild, &device, &error);
    kf_space_free(space);
    kf_problem_free(problem);
    if (status == KF_OK) return;
    if (!strstr(error.message, "libnvrtc") && !strstr(error.message, "without CUDA"))
        fail_msg("%s", error.message);
    skip();
}

/* mpirun starts two processes with a device or two each (tests/e2e/mpi.sh). */
static void test_in_several_processes(void **state) {
    (void)state;
    static const char *const ways[] = {"direct", "direct"};
    hold_in_two_processes(ways);
}

int main(void) {
    const struct CMUnitTest of_several[] = {cmocka_unit_test(test_in_several_processes)};
    if (kf_world_is_wanted()) return cmocka_run_group_tests(of_several, take_quick_compiler, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_is_one_device, in_order_again),
        cmocka_unit_test(test_cuts_move),
        cmocka_unit_test(test_parts_may_be_empty),
        cmocka_unit_test(test_restarts_with_other_parts),
        cmocka_unit_test_teardown(test_awaits, in_order_again),
        cmocka_unit_test(test_refuses_what_repeats_no_order),
        cmocka_unit_test(test_kernels_compile_for_gpus),
    };
    return cmocka_run_group_tests(tests, take_quick_compiler, NULL);
}
