/* Tests domains of more than 2^31 nodes, which several devices can hold and one cannot. Nothing of that
 * size is allocated. Faults: an index or size that overflows, or a wrong refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/backend/team/team.h"
#include "base/backend/team/world.h"
#include "harness/cli/scene_fit.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic.h"
#include "solver/systems.h"
#include "solver/validation/flow.h"

/* A box of this many nodes along each axis, between walls. */
static kf_problem *open_box(int edge) {
    kf_error error = {KF_OK, ""};
    kf_problem *problem = kf_flow_problem(NULL, kf_flow_box("box", edge, edge, edge, 0.1), true);
    kf_scene *scene = (kf_scene *)kf_problem_scene(problem);
    for (int face = 0; face < 6; face++)
        scene->faces[face] = KF_WALL;
    if (kf_system_of_scene(problem, &error) != KF_OK) fail_msg("%s", error.message);
    return problem;
}

static kf_status of_devices(const kf_problem *problem, int parts, kf_error *error) {
    const kf_device_info device = {.backend = "cuda", .parts = parts};
    *error = (kf_error){KF_OK, ""};
    return problem->system->accepts_device(problem, &device, error);
}

/* 1400^3 = 2,744,000,000 nodes are too many for one device and not for two; 1290^3 are not for one. */
static void devices_take_their_share(void **state) {
    (void)state;
    kf_error error;
    kf_problem *large = open_box(1400), *small = open_box(1290);
    assert_int_equal(of_devices(large, 1, &error), KF_MACHINE);
    assert_non_null(strstr(error.message, "the grid 1400x1400x1400 gives one device 2744000000 nodes"));
    assert_non_null(strstr(error.message, "among 2 or more (--devices)"));
    assert_int_equal(of_devices(large, 0, &error), KF_MACHINE);
    assert_int_equal(of_devices(large, 2, &error), KF_OK);
    assert_int_equal(of_devices(small, 1, &error), KF_OK);
    kf_problem_free(large);
    kf_problem_free(small);
}

/* Lays out the part of a team on GPUs in groups of 32 nodes, and returns where its nodes and values are. */
static kf_kinetic_geometry lay_out(const kf_problem *problem, int parts, int first_plane) {
    const kf_kinetic_options options = {.gpu = true,
                                        .parts = parts,
                                        .parts_y = 1,
                                        .layout = KF_CSOA,
                                        .alpha = 32,
                                        .velocities = 27,
                                        .block = {64, 1, 1},
                                        .nodes_per_thread = 1};
    kf_kinetic_geometry geometry;
    kf_kinetic_lay_out(kf_problem_scene(problem), &options, &geometry);
    kf_kinetic_lay_out_part(kf_problem_scene(problem), &options, first_plane, 0, &geometry);
    return geometry;
}

/* A part counts from its own planes, in 32 bits if its values and the whole domain's nodes are few enough.
 * The distance to the domain's first node has the same width. */
static void indices_are_wide_where_the_domain_is(void **state) {
    (void)state;
    kf_problem *large = open_box(1400), *small = open_box(1000);
    const kf_kinetic_geometry one = lay_out(large, 1, 0), last = lay_out(large, 64, 1378),
                              few = lay_out(small, 64, 984);
    assert_true(last.plane_pitch % 32 == 0 && last.plane_pitch >= 1402LL * 1402);
    assert_true(last.capacity > 2147483647LL && last.capacity >= last.plane_pitch * 1402);
    assert_true(one.index64 && one.domain_index64);
    assert_true(last.index64 && last.domain_index64);
    assert_int_equal(last.before, last.plane_pitch * 1378);
    assert_true(last.origin < -2147483648LL && kf_kinetic_origin(&last) == kf_kinetic_origin(&one));
    assert_true(few.capacity < 2147483647LL && few.domain_index64 && !few.index64);
    kf_problem_free(large);
    kf_problem_free(small);
}

/* Two devices of 80 GB have 158 GB for populations. 1100^3 nodes fit with 112 bytes on one grid, which are
 * 149 GB, and not with 220 on two. One device takes 1290^3 nodes whatever its memory. */
static void memory_holds_a_grid(void **state) {
    (void)state;
    kf_device_info device = {
        .backend = "cuda", .name = "2 x GPU", .parts = 2, .memory_free_bytes = 160000000000};
    kf_problem *problem = open_box(1100);
    kf_scene_fit fit = kf_fit_scene(kf_problem_scene(problem), &device);
    assert_true(!fit.two_grids && fit.one_grid && fit.half_grid && fit.bytes == 158e9);
    const double nodes = (double)fit.largest[0] * fit.largest[1] * fit.largest[2];
    assert_true(nodes * 112 <= 158e9 && nodes * 112 > 0.99 * 158e9);
    assert_true(kf_grid_bytes((const int[3]){1000, 1000, 1}, 2, 4) == 76e6); /* nine populations */
    device.parts = 1;
    device.memory_free_bytes *= 40;
    kf_problem *large = open_box(1400);
    fit = kf_fit_scene(kf_problem_scene(large), &device);
    assert_true(!fit.two_grids && !fit.one_grid && !fit.half_grid && fit.largest[0] == 1290);
    kf_problem_free(problem);
    kf_problem_free(large);
}

static int asked;

static double memory_of(const void *bytes) {
    asked++;
    return *(const double *)bytes;
}

/* Opens the ball on this many nodes along each axis for devices of this memory, or only describes it. */
static kf_status open_ball(int edge, double memory, bool described, kf_scene **scene, kf_error *error) {
    const kf_scene_options options = {
        .nodes = {edge, edge, edge}, .memory = memory_of, .memory_context = &memory, .described = described};
    *error = (kf_error){KF_OK, ""};
    asked = 0;
    return kf_scene_open("ball", &options, scene, error);
}

/* A scene that no config can hold is refused before its millions of samples are placed. If it is only
 * described, its samples are counted. Small scenes are not affected. */
static void what_does_not_fit_is_not_made(void **state) {
    (void)state;
    static const double small = 3e10, large = 1e12, unknown = 0.0;
    kf_error error;
    kf_scene *scene;
    assert_int_equal(open_ball(1290, small, false, &scene, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "2.15e+09 nodes, which take 32 GiB at least"));
    const double memories[] = {large, unknown};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(open_ball(1290, memories[i], true, &scene, &error), KF_OK);
        assert_int_equal(scene->samples.count, 0);
        assert_string_equal(scene->hash, "");
        assert_true(scene->frontal_area > 20000.0);
        assert_non_null(strstr(scene->notes, "samples: about 2.02e+06"));
        kf_scene_free(scene);
    }
    assert_int_equal(open_ball(32, small, true, &scene, &error), KF_OK);
    assert_true(scene->samples.count > 100 && strlen(scene->hash) == KF_HASH_HEX - 1);
    assert_int_equal(asked, 0);
    kf_scene_free(scene);
}

/* The cpus of a team have the host's memory together. The memory of what is no device is unknown. */
static void memory_of_devices(void **state) {
    (void)state;
    const double cpu = kf_device_memory("cpu");
    assert_true(cpu > 1e8);
    assert_true(kf_device_memory("cpu:1,cpu:1") == cpu && kf_device_memory("cpu:2") == cpu);
    assert_true(kf_device_memory(NULL) >= cpu);
    assert_true(kf_device_memory("tpu") == 0.0);
}

/* The memory of each host counts once for several processes, whoever started them: seven on hosts of three
 * are three hosts. Where the variables do not tell, each process may be on a host of its own. */
static void memory_of_hosts(void **state) {
    (void)state;
    static const struct {
        const char *variables[6];
        int processes, hosts;
    } starts[] = {
        {{"OMPI_COMM_WORLD_SIZE", "7", "OMPI_COMM_WORLD_LOCAL_SIZE", "3"}, 7, 3},
        {{"OMPI_COMM_WORLD_SIZE", "2", "OMPI_COMM_WORLD_LOCAL_SIZE", "2"}, 2, 1},
        {{"PMI_SIZE", "8", "MPI_LOCALNRANKS", "4"}, 8, 2},
        {{"PMI_SIZE", "5"}, 5, 5},
        {{"PMIX_RANK", "1", "SLURM_NTASKS", "6", "SLURM_STEP_NUM_NODES", "2"}, 6, 2},
        {{"SLURM_NTASKS", "6", "SLURM_STEP_NUM_NODES", "2"},
         1,
         1}, /* of a job, in which this was started alone */
        {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}, 1, 1},
    };
    const double one = kf_device_memory("cpu");
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        int processes, hosts;
        for (int v = 0; v < 6 && starts[i].variables[v] != NULL; v += 2)
            assert_int_equal(setenv(starts[i].variables[v], starts[i].variables[v + 1], 1), 0);
        kf_world_wanted(&processes, &hosts);
        const double told = kf_device_memory("cpu:1,cpu:1");
        for (int v = 0; v < 6 && starts[i].variables[v] != NULL; v += 2)
            assert_int_equal(unsetenv(starts[i].variables[v]), 0);
        if (processes != starts[i].processes || hosts != starts[i].hosts || told != hosts * one)
            fail_msg("start %zu: %d processes on %d hosts with %g bytes", i, processes, hosts, told);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_take_their_share), cmocka_unit_test(indices_are_wide_where_the_domain_is),
        cmocka_unit_test(memory_holds_a_grid),      cmocka_unit_test(what_does_not_fit_is_not_made),
        cmocka_unit_test(memory_of_devices),        cmocka_unit_test(memory_of_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
