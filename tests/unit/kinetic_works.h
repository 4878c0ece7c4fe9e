/* Scenes and configs with work that test_cost_kinetic.c and test_cost_kinetic_solid.c count by hand. */
#ifndef KF_TESTS_UNIT_KINETIC_WORKS_H
#define KF_TESTS_UNIT_KINETIC_WORKS_H

#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/kinetic_cost.h"
#include "solver/systems.h"
#include "tests/unit/config_changes.h"
#include "tests/unit/problem_fixture.h"
#include "tests/unit/works_by_hand.h"

enum { NX = 64, NY = 48, NZ = 40 };
static const double N = (double)NX * NY * NZ;

static kf_device_info gpu = {.backend = "cuda",
                             .spec = "cuda:0",
                             .name = "test",
                             .peak_bandwidth = 4.8e12,
                             .multiprocessors = 100,
                             .warp_size = 32};

static inline kf_works works_of(const kf_scene *scene, const kf_config *config) {
    return works_of_model(&kf_cost_kinetic, problem_of(&kf_system_kinetic, scene), &gpu, config);
}

static inline void check(const kf_scene *scene, const kf_config *config, const expected *wanted,
                         size_t count) {
    kf_works works = works_of(scene, config);
    compare_all(&works, wanted, count);
    kf_works_free(&works);
}
#define CHECK(scene, config, wanted) check(scene, config, wanted, sizeof(wanted) / sizeof *(wanted))

/* One launch of a config. */
static inline void check_launch(const kf_scene *scene, const kf_config *config, const expected *wanted) {
    kf_works works = works_of(scene, config);
    compare_one(&works, wanted);
    kf_works_free(&works);
}

/* Opens a scene whose faces all have free slip, without a solid unless `solid` is set. */
static inline kf_scene *opened(bool solid) {
    const kf_scene_options options = {.nodes = {NX, NY, NZ}};
    kf_error error = {KF_OK, ""};
    kf_scene *scene = NULL;
    if (kf_scene_open("ball", &options, &scene, &error) != KF_OK) fail_msg("%s", error.message);
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_FREE_SLIP;
    scene->collision = KF_BGK;
    scene->immersed_passes = 1;
    assert_true(scene->samples.count > 1000);
    if (!solid) scene->samples.count = 0;
    return scene;
}

static inline kf_config config_of(const char *plan, const char *immersed) {
    kf_config config = {.system = "kinetic"};
    kf_config_set_name(&config, "plan", plan);
    kf_config_set_name(&config, "immersed_boundary", immersed);
    change_config(&config, "layout=soa storage=f32 streaming=two_grids collision_form=factorised "
                           "boundary_kernels=1 block_x=32 block_y=4");
    return config;
}

/* Blocks of 4 warps in a grid of 2 x 12 x 40. A quarter of the register file holds 16384 / (32 x registers)
 * warps. The device has 100 multiprocessors. */
static const double BLOCKS = 2.0 * 12 * NZ / 100;
#define PLAIN .efficiency = 0.88, .blocks = BLOCKS, .waits = 0.3

#endif
