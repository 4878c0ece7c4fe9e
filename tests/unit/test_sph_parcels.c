/* Tests particles on teams of devices that send parcels, directly or through the host, against one device
 * bit for bit. tests/e2e/mpi.sh and hosts.sh start it as several processes. Faults: a particle or value
 * that is lost, doubled or late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "tests/unit/quick_compiler.h"
#include "tests/unit/sph_team_fixture.h"

static const char *const transfers[] = {"copies", "host"};

/* Every scene runs on at least one team, by both transfers. The first two, whose particles cross cuts, run
 * on all. */
static void test_is_one_device(void **state) {
    (void)state;
    for (int c = 0; c < CASES; c++) {
        kf_problem *problem = problem_from(cases[c].text);
        outcome one;
        run(problem, cases[c].fixed, "cpu:1", STEPS, &one);
        for (int t = 0; t < TEAMS; t++)
            if (c < 3 || t == c % TEAMS) run_as_alone(c, teams[t], transfers[(c + t) % 2], &one, problem);
        free(one.state);
        kf_problem_free(problem);
    }
}

/* Cuts follow the water, so that many particles change devices at once. A state continues on other teams. */
static void test_cuts_move(void **state) {
    (void)state;
    enum { BEGIN = 620, MORE = 120 };
    kf_error error = {KF_OK, ""};
    kf_problem *problem = problem_from(column);
    outcome one, begun, team;
    team_transfer = "host";
    run(problem, staged, "cpu:1", BEGIN + MORE, &one);
    kf_plan *plan = open_plan(problem, staged, teams[0]);
    assert_true(((const kf_sph *)plan->system)->packs);
    const kf_sph_share begin = share_of(plan, 1);
    advance(plan, BEGIN);
    look(plan, &begun);
    const kf_sph_share end = share_of(plan, 1);
    assert_true(end.cut[1] > begin.cut[1] || end.cut[2] > begin.cut[2]);
    int all = 0;
    for (int part = 0; part < 3; part++) {
        const kf_sph_share share = share_of(plan, part);
        assert_memory_equal(share.cut, end.cut, sizeof share.cut);
        all += share.inside + share.outside;
    }
    assert_int_equal(all, 200);
    close_plan(plan);
    team_transfer = "copies";
    plan = open_plan(problem, staged, teams[2]);
    must(plan->methods->restore(plan, begun.state, BEGIN, &error), &error);
    plan->steps_done = BEGIN;
    advance(plan, MORE);
    look(plan, &team);
    close_plan(plan);
    assert_true(equal(&one, &team));
    free(one.state);
    free(begun.state);
    free(team.state);
    kf_problem_free(problem);
}

/* The gate's own search for neighbours finds those of all parts. */
static void test_neighbours_are_found(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_problem *problem = problem_from(block);
    kf_reference *reference;
    kf_verification verification;
    team_transfer = "host";
    must(kf_system_sph.reference(problem, 2, &reference, &error), &error);
    kf_plan *plan = open_plan(problem, masks, teams[1]);
    advance(plan, 2);
    must(kf_system_sph.verify(plan, reference, &verification, &error), &error);
    close_plan(plan);
    kf_system_sph.free_reference(reference);
    kf_problem_free(problem);
}

/* Particles for which a transfer has no room end the run, and are not dropped. */
static void test_room_ends(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_problem *problem = problem_from(tank);
    team_transfer = "copies";
    kf_plan *plan = open_plan(problem, rows, teams[1]);
    advance(plan, 3);
    ((kf_sph *)plan->system)->room = 3;
    kf_status status = KF_OK;
    for (int step = 0; step < 3 && status == KF_OK; step++)
        status = kf_plan_advance(plan, 1, &error);
    assert_int_equal(status, KF_GATE_FAILED);
    assert_non_null(strstr(error.message, "than its memory can hold"));
    close_plan(plan);
    kf_problem_free(problem);
}

static void test_refuses_nccl_here(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_problem *problem = problem_from(column);
    team_transfer = "direct";
    kf_plan *one = open_plan(problem, staged, teams[1]), *plan;
    kf_config config = one->config;
    kf_config_set_name(&config, "transfer", "nccl");
    assert_int_equal(kf_system_sph.plan(problem, &config, one->backend, &plan, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "this device is the cpu; use another transfer"));
    close_plan(one);
    kf_problem_free(problem);
}

/* mpirun starts two processes with a device or two each (tests/e2e/mpi.sh). Parcels arrive by both
 * transfers, also where the processes report different hosts. */
static void test_in_several_processes(void **state) {
    (void)state;
    static const char *const ways[] = {"direct", "host"};
    hold_in_two_processes(ways);
}

int main(void) {
    const struct CMUnitTest of_several[] = {cmocka_unit_test(test_in_several_processes)};
    if (kf_world_is_wanted()) return cmocka_run_group_tests(of_several, take_quick_compiler, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_one_device),        cmocka_unit_test(test_cuts_move),
        cmocka_unit_test(test_neighbours_are_found), cmocka_unit_test(test_room_ends),
        cmocka_unit_test(test_refuses_nccl_here),
    };
    return cmocka_run_group_tests(tests, take_quick_compiler, NULL);
}
