/* Tests solids that move in the finest of nested grids: turning, moved by the fluid, several beside each
 * other. Faults: a solid in the frame or units of another level. KFTUNE_TEST_DEVICE chooses the device
 * (default cpu). */
#include "tests/unit/scene_files.h"

#include "base/space/space_nearest.h"
#include "solver/flow/flow_plan.h"
#include "solver/kinetic/reference.h"
#include "tests/unit/config_changes.h"
#include "tests/unit/kinetic_fixture.h"

#define SCENE(solid, cells, faces, refine)                                                                   \
    "{" solid ", \"domain\": {\"cells\": " cells ", \"cell_size\": 1}, \"flow\": {\"speed\": 1, "            \
    "\"reynolds\": 50, \"reference_length\": 4, \"lattice_speed\": 0.04}, \"model\": {\"collision\": "       \
    "\"bgk\"}, \"sampling\": "                                                                               \
    "{\"samples_per_cell\": 2}, \"boundaries\": {" faces "}, \"refine\": " refine "}"
#define TUNNEL                                                                                               \
    "\"xmin\": \"inflow\", \"xmax\": \"outflow\", \"ymin\": \"wall\", \"ymax\": \"wall\", \"zmin\": "        \
    "\"free_slip\", \"zmax\": \"free_slip\""
#define WALLS                                                                                                \
    "\"xmin\": \"wall\", \"xmax\": \"wall\", \"ymin\": \"wall\", \"ymax\": \"wall\", \"zmin\": \"wall\", "   \
    "\"zmax\": \"wall\""
#define BOX(low, high) "[{\"box\": {\"low\": " low ", \"high\": " high "}}]"

/* A plate that turns about an axis beside it; a ball that is pushed from its place; two balls, of which
 * one turns. */
#define TURNING                                                                                              \
    "\"solid\": {\"shape\": \"torus\", \"major_radius\": 1.2, \"minor_radius\": 0.6, \"position\": [6, 6, "  \
    "6], \"motion\": {\"axis\": [0, 1, 0.5], \"angular_velocity\": 0.3, \"center\": [6.2, 6, 6]}}"
#define FREE(gravity)                                                                                        \
    "\"solid\": {\"shape\": \"ball\", \"radius\": 1.3, \"position\": [6, 6, 6.1], \"motion\": {\"free\": "   \
    "true, \"density\": 2, \"velocity\": [0.5, 0.2, -0.3], \"axis\": [1, 0, 0], \"angular_velocity\": 0.2, " \
    "\"gravity\": [0, 0, " gravity "]}}"
#define SEVERAL                                                                                              \
    "\"solids\": [{\"name\": \"one\", \"shape\": \"ball\", \"radius\": 1, \"position\": [4.5, 6, 6]}, "      \
    "{\"name\": \"two\", \"shape\": \"torus\", \"major_radius\": 0.8, \"minor_radius\": 0.5, \"position\": " \
    "[8, 6, 6], \"motion\": {\"axis\": [1, 0, 0], \"angular_velocity\": 0.3}}]"
static const char turning[] = SCENE(TURNING, "[16, 12, 12]", TUNNEL, BOX("[3, 3, 3]", "[10, 9, 9]")),
                  falling[] = SCENE(FREE("-0.5"), "[12, 12, 12]", WALLS, BOX("[3, 3, 0]", "[9, 9, 9]")),
                  several[] = SCENE(SEVERAL, "[16, 12, 12]", TUNNEL, BOX("[0, 3, 3]", "[11, 9, 9]"));

static kf_scene *open_text(const char *text) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    must(kf_scene_open(write_text("moving.json", text), NULL, &scene, &error), &error);
    scene->accuracy = 0.005;
    return scene;
}

static kf_config config_of(const kf_scene *scene, const char *plan, const char *changes) {
    const char *const fixed[] = {plan, "storage=f64"};
    kf_error error = {KF_OK, ""};
    kf_config config;
    kf_space *space = open_space_of(scene, false, fixed, 2);
    must(kf_space_nearest(space, &config, &error), &error);
    kf_space_free(space);
    change_config(&config, changes);
    return config;
}

/* Each way of summing forces is right, with the motion's kernels in a lane of their own. */
static void test_against_reference(void **state) {
    (void)state;
    enum { STEPS = 3 };
    static const char patches[] = "immersed_boundary=aggregated patch_length=256 concurrent_solid=true";
    static const struct {
        const char *text, *plan[3], *changes[3];
    } cases[] = {
        {turning,
         {"plan=fused", "plan=fused", "plan=baseline"},
         {patches, "immersed_boundary=scatter patch_length=0 force_sum=fixed", ""}},
        {falling, {"plan=fused", "plan=paper"}, {patches, ""}},
        {several, {"plan=fused"}, {patches}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_error error = {KF_OK, ""};
        kf_reference *reference;
        kf_scene *scene = open_text(cases[i].text);
        must(kinetic_system->reference(problem_of(kinetic_system, scene), STEPS, &reference, &error), &error);
        for (int c = 0; (size_t)c < cases_taken(1, 3) && cases[i].changes[c] != NULL; c++) {
            const kf_config config = config_of(scene, cases[i].plan[c], cases[i].changes[c]);
            assert_true(verify_config(kinetic_system, scene, &config, reference, STEPS) < 1e-10);
        }
        kinetic_system->free_reference(reference);
        kf_scene_free(scene);
    }
}

/* Several solids have the same places in the finest level's scene as in the coarsest one's, after the same
 * steps of the coarsest. */
static void compare_placed(void) {
    kf_scene *scene = open_text(several);
    const kf_scene *finest = kf_scene_finest(scene), *coarse = kf_scene_placed(scene, 7.0),
                   *fine = kf_scene_placed(finest, 7.0);
    double turned = 0.0;
    for (size_t v = 0; v < scene->mesh.vertex_count; v++) {
        double place[3];
        kf_scene_place_on_level(finest, coarse->mesh.vertices + 3 * v, place);
        for (size_t a = 0; a < 3; a++) {
            assert_true(fabs(place[a] - fine->mesh.vertices[3 * v + a]) < 1e-9);
            turned = fmax(turned, fabs(fine->mesh.vertices[3 * v + a] - finest->mesh.vertices[3 * v + a]));
        }
    }
    assert_true(turned > 0.01);
    kf_scene_free_placed(scene, coarse);
    kf_scene_free_placed(finest, fine);
    kf_scene_free(scene);
}

/* The motion on the finest level is the coarsest one's in its cells and steps. What a plan reports of it
 * agrees with one grid: after the same number of coarse steps a solid has moved as far and turned as much. */
static void test_motions_are_in_units_of_each_level(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_text(turning);
    const kf_scene *finest = kf_scene_finest(scene);
    double rotation[9], center[3];
    kf_motion_pose(&finest->motion, 2.0 * 7, rotation, center);
    kf_solid_pose pose;
    const kf_config config = config_of(scene, "plan=fused", "");
    kf_plan *plan = open_plan(scene, &config);
    plan->steps_done = 7;
    must(kf_flow_pose_on(plan, finest, &pose, &error), &error);
    for (int i = 0; i < 9; i++)
        assert_true(fabs(pose.rotation[i] - rotation[i]) < 1e-12);
    for (int a = 0; a < 3; a++)
        assert_true(fabs(pose.center[a] - center[a]) < 1e-12);
    assert_true(plan->windows > 1);
    compare_placed();
    must(plan->methods->seek(plan, 1, 0.0, &error), &error);
    kf_plan_free(plan);
    kf_scene_free(scene);

    scene = open_text(falling);
    const kf_config of_free = config_of(scene, "plan=fused", "");
    plan = open_plan(scene, &of_free);
    must(plan->methods->flow->pose(plan, &pose, &error), &error);
    for (int a = 0; a < 3; a++) {
        assert_true(fabs(pose.center[a] - scene->motion.center[a]) < 1e-12);
        assert_true(fabs(pose.velocity[a] - scene->motion.velocity[a]) < 1e-12);
        assert_true(fabs(pose.angular_velocity[a] - scene->motion.angular_speed * scene->motion.axis[a]) <
                    1e-12);
    }
    assert_true(fabs(kf_scene_finest(scene)->motion.excess_mass - 8.0 * scene->motion.excess_mass) < 1e-9);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* A free solid and a turning one continue from a checkpoint bit for bit. */
static void test_a_checkpoint_continues_bit_for_bit(void **state) {
    (void)state;
    const char *const texts[] = {turning, falling};
    for (int i = 0; i < 2; i++) {
        kf_scene *scene = open_text(texts[i]);
        const kf_config config = config_of(scene, "plan=fused", "force_sum=fixed");
        assert_goes_on(scene, &config);
        kf_scene_free(scene);
    }
}

/* A free solid that reaches a side of the finest box ends the run, whether the side lies inside the domain
 * or on a face of it. */
static void test_leaves_box(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {SCENE(FREE("60"), "[12, 12, 12]", WALLS, BOX("[3, 3, 0]", "[9, 9, 9]")), "edge of the finest box"},
        {SCENE(FREE("60"), "[12, 12, 12]", WALLS, BOX("[3, 3, 3]", "[9, 9, 12]")), "edge of the finest box"},
    };
    double height[2];
    for (int i = 0; i < 2; i++) {
        kf_error error = {KF_OK, ""};
        kf_solid_load load;
        kf_solid_pose pose;
        kf_scene *scene = open_text(cases[i].text);
        const kf_config config = config_of(scene, "plan=fused", "");
        kf_plan *plan = open_plan(scene, &config);
        kf_status status = KF_OK;
        for (int step = 0; step < 40 && status == KF_OK; step++) {
            advance(plan, 1);
            must(plan->methods->flow->pose(plan, &pose, &error), &error);
            status = plan->methods->flow->load(plan, &load, &error);
        }
        assert_int_equal(status, KF_BAD_INPUT);
        if (strstr(error.message, cases[i].why) == NULL) fail_msg("%s", error.message);
        height[i] = pose.center[2];
        kf_plan_free(plan);
        kf_scene_free(scene);
    }
    /* The ball's top is as far below as its depth. At a side inside the domain it stays one cell lower
     * than the box reaches. */
    assert_true(height[0] > 5.9 && height[0] < 9.0 - 1.0 - 1.3 + 0.5);
    assert_true(height[1] > height[0] + 2.0 && height[1] < 12.0 - 1.3 + 0.5);
}

/* NVRTC, where it is installed, compiles the check that a free solid leaves the box. */
static kf_status compile_immersed(const kf_source *source, void *data, kf_error *error) {
    static const kf_device_info gpu = {.spec = "cuda:0", .backend = "cuda", .architecture = "sm_90"};
    kf_build build;
    if (strstr(source->file, "immersed") == NULL) return KF_OK;
    for (int i = 0; i < source->define_count; i++)
        *(int *)data += strcmp(source->defines[i].name, "KF_INNER_SIDES") == 0;
    return kf_source_prebuild(&gpu, source, &build, error);
}
static void test_compiles_for_cuda(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    int defined = 0;
    kf_scene *scene = open_text(falling);
    const kf_config config = config_of(scene, "plan=fused", "");
    const kf_status status =
        kinetic_system->sources(problem_of(kinetic_system, scene), &config, kf_backend_device(backend),
                                compile_immersed, &defined, &error);
    const bool missing = strstr(error.message, "libnvrtc") || strstr(error.message, "without CUDA");
    if (status != KF_OK && !missing) fail_msg("%s", error.message);
    assert_int_equal(defined, 1);
    kf_scene_free(scene);
}

/* The finest box must hold a solid wherever its motion takes it, not only where it begins. */
static void test_a_solid_must_stay_in_the_finest_box(void **state) {
    (void)state;
#define LONG_PLATE(motion)                                                                                   \
    "\"solid\": {\"shape\": \"plate\", \"chord\": 7, \"width\": 2, \"thickness\": 2, \"position\": [8, 6, "  \
    "6], \"motion\": {" motion "}}"
#define PERIODIC                                                                                             \
    "\"xmin\": \"periodic\", \"xmax\": \"periodic\", \"ymin\": \"wall\", \"ymax\": \"wall\", \"zmin\": "     \
    "\"wall\", \"zmax\": \"wall\""
    assert_scene_refused(SCENE(LONG_PLATE("\"axis\": [0, 0, 1], \"angular_velocity\": 0.1"), "[16, 12, 12]",
                               TUNNEL, BOX("[3, 3, 3]", "[13, 9, 9]")),
                         "across y the solid leaves it");
    assert_scene_refused(SCENE(LONG_PLATE("\"velocity\": [1, 0, 0]"), "[16, 12, 12]", PERIODIC,
                               BOX("[3, 3, 3]", "[13, 9, 9]")),
                         "travels along x and leaves the finest box");
    kf_scene_free(open_text(SCENE(LONG_PLATE("\"velocity\": [1, 0, 0]"), "[16, 12, 12]", PERIODIC,
                                  BOX("[0, 3, 3]", "[16, 9, 9]"))));
    kf_scene *scene = open_text(SCENE(LONG_PLATE("\"velocity\": [1, 0, 0]"), "[16, 16, 16]", PERIODIC,
                                      "{\"around\": \"body\", \"levels\": 1}"));
    assert_int_equal(scene->boxes[0].low[0], 0);
    assert_int_equal(scene->boxes[0].high[0], 16);
    kf_scene_free(scene);
}

static int setup(void **state) {
    return make_test_folder(state) != 0 ? -1 : open_backend_for_variants(state);
}
static int teardown(void **state) {
    close_backend(state);
    return remove_test_folder(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_motions_are_in_units_of_each_level),
        cmocka_unit_test(test_a_checkpoint_continues_bit_for_bit),
        cmocka_unit_test(test_leaves_box),
        cmocka_unit_test(test_compiles_for_cuda),
        cmocka_unit_test(test_a_solid_must_stay_in_the_finest_box),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
