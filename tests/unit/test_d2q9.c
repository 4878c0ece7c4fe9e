/* Tests every variant in the space of d2q9 against the reference, with walls, solids, open faces and open
 * nodes, its state, and Table 4 of the paper. Faults: one combination of parameters and boundaries is
 * wrong. test_d2q9_paper has the paper's misprints. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "harness/validate/validate.h"
#include "scene/scene.h"
#include "solver/d2q9/d2q9_cases.h"
#include "solver/d2q9/reference.h"
#include "solver/validation/flow.h"
#include "tests/unit/d2q9_fixture.h"

/* Blocks and tiles do not divide the domain, and a temporal launch does not divide the number of steps. */
static void test_plans_of_a_cavity(void **state) {
    (void)state;
    static const char *const changes[] = {
        SOA "plan=pull",
        SOA "plan=push",
        SOA "plan=inplace",
        SOA "plan=toelke",
        SOA "plan=separate",
        SOA "plan=pull nodes_per_thread=4",
        SOA "plan=temporal steps_per_launch=3 tile_rows=32",
        SOA "plan=temporal steps_per_launch=5 tile_rows=32",
        SOA "plan=temporal steps_per_launch=5 tile_rows=128",
        "plan=pull layout=csoa alpha=32 nodes_per_thread=4",
        "plan=separate layout=aos alpha=1",
        SOA "plan=inplace storage=f64",
        SOA "plan=pull storage=f16",
        NULL,
    };
    kf_scene *scene = open_shipped_scene("cavity2d", 75 * 75);
    scene->accuracy = 0.005; /* f16 */
    verify_configs(scene, 10, changes);
    verify_configs(scene, 11, changes);
    kf_scene_free(scene);
}

/* A force along one axis alone counts. */
static void test_a_force_along_one_axis(void **state) {
    (void)state;
    static const char *const changes[] = {SOA "plan=pull", NULL};
    for (int axis = 0; axis < 2; axis++) {
        kf_scene *scene = open_shipped_scene("cavity2d", 24 * 24);
        scene->body_force[axis] = 1e-3;
        verify_configs(scene, 10, changes);
        kf_scene_free(scene);
    }
}

static void test_folded_boundaries_change_nothing(void **state) {
    (void)state;
    kf_scene *cavity = open_shipped_scene("cavity2d", 75 * 75),
             *array = open_shipped_scene("cylinder_array2d", 90 * 90);
    cavity->accuracy = 0.005;
    compare_folded(cavity, SOA "plan=pull");
    compare_folded(cavity, SOA "plan=pull storage=f64");
    compare_folded(array, "plan=pull layout=csoa alpha=32");
    compare_folded(array, SOA "plan=pull bounce_back=full_way");
    compare_folded(cavity, SOA "plan=inplace");
    compare_folded(cavity, SOA "plan=inplace storage=f64");
    compare_folded(array, "plan=inplace layout=csoa alpha=32");
    compare_folded(array, SOA "plan=inplace bounce_back=full_way");
    kf_scene_free(cavity);
    kf_scene_free(array);
}

static void test_plans_of_an_array_of_cylinders(void **state) {
    (void)state;
    static const char *const changes[] = {
        SOA "plan=pull",
        SOA "plan=push",
        SOA "plan=inplace",
        SOA "plan=pull bounce_back=full_way",
        SOA "plan=inplace bounce_back=full_way",
        SOA "plan=toelke bounce_back=full_way",
        SOA "plan=temporal steps_per_launch=3 tile_rows=32",
        SOA "plan=temporal steps_per_launch=3 tile_rows=64 bounce_back=full_way",
        NULL,
    };
    kf_scene *scene = open_shipped_scene("cylinder_array2d", 90 * 90);
    assert_true(kf_d2q9_has_solid(scene));
    verify_configs(scene, 10, changes);
    kf_scene_free(scene);
}

static void test_open_faces(void **state) {
    (void)state;
    static const char *const changes[] = {SOA "plan=pull", SOA "plan=push bounce_back=full_way",
                                          SOA "plan=inplace", NULL};
    kf_scene *scene = open_shipped_scene("cylinder2d", 90 * 40);
    assert_true(kf_d2q9_is_open(scene) && kf_d2q9_has_solid(scene));
    verify_configs(scene, 10, changes);
    scene->collision = KF_BGK;
    scene->faces[KF_YMIN] = KF_FREE_SLIP;
    scene->face_velocity[KF_YMAX][0] = 0.02;
    verify_configs(scene, 9, changes);
    scene->collision = KF_BGK_LINEAR;
    verify_configs(scene, 3, changes + 2);
    kf_scene_free(scene);
}

/* The gate refuses an error of three bounds in velocity, density, force and torque, and passes a third of
 * one. */
static void test_the_gate_refuses_three_bounds(void **state) {
    (void)state;
    enum { STEPS = 10 };
    kf_error error = {0};
    kf_reference *reference;
    kf_verification verification;
    kf_scene *scene = open_shipped_scene("cylinder2d", 90 * 40);
    kf_space *space = open_space(scene);
    const kf_config config = configure(space, SOA "plan=pull");
    must(d2q9->reference(problem_of(d2q9, scene), STEPS, &reference, &error), &error);
    kf_plan *plan = open_plan(scene, &config);
    advance(plan, STEPS);
    kf_d2q9_solution *exact = &reference->solutions[0];
    const size_t count = reference->count;
    double scale[3] = {0};
    for (size_t i = 0; i < 3 * count; i++)
        scale[i / count] = fmax(scale[i / count], fabs(exact->values[i]));
    assert_true(scale[0] > 0 && scale[1] > 0 && exact->load.force[0] != 0);
    /* With 5, 6 and 7 one component alone is no number. */
    for (int what = 0; what < 8; what++)
        for (int small = 0; small < (what < 5 ? 2 : 1); small++) {
            const double bounds = small ? 1.0 / 3.0 : 3.0,
                         force = hypot(exact->load.force[0], exact->load.force[1]);
            double *values = malloc(3 * count * sizeof *values);
            const kf_solid_load load = exact->load;
            memcpy(values, exact->values, 3 * count * sizeof *values);
            for (size_t i = 0; i < count && what < 2; i++)
                for (size_t c = what == 0 ? 0 : 1; c < (what == 0 ? 1u : 3u); c++)
                    exact->values[c * count + i] *= 1.0 + 1e-4 * bounds;
            if (what == 2) exact->load.force[0] += 20e-4 * bounds * force;
            if (what == 3) exact->load.force[1] -= 20e-4 * bounds * force;
            if (what == 4)
                exact->load.torque[2] +=
                    20e-4 * bounds * force *
                    (scene->solid_high[0] - scene->solid_low[0] + scene->solid_high[1] - scene->solid_low[1]);
            if (what > 4) *(what == 7 ? &exact->load.torque[2] : &exact->load.force[what - 5]) = (double)NAN;
            const kf_status status = d2q9->verify(plan, reference, &verification, &error);
            if (what > 0 || small) /* density also has the scale of the dynamic pressure */
                if (status != (small ? KF_OK : KF_GATE_FAILED))
                    fail_msg("%d %d: %s", what, small, error.message);
            memcpy(exact->values, values, 3 * count * sizeof *values);
            exact->load = load;
            free(values);
        }
    d2q9->free_reference(reference);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_scene_free(scene);
}

/* --- Masks
 * --------------------------------------------------------------------------------------------------- */

enum { PICTURE_WIDTH = 48, PICTURE_HEIGHT = 32 };
static char picture_file[4096];

/* A channel between walls with an inflow, an outflow and a block, and one pixel of a colour of choice. */
static void write_picture(const unsigned char odd[3]) {
    static unsigned char pixels[PICTURE_HEIGHT][PICTURE_WIDTH][3];
    for (int y = 0; y < PICTURE_HEIGHT; y++)
        for (int x = 0; x < PICTURE_WIDTH; x++) {
            bool wall = y == 0 || y == PICTURE_HEIGHT - 1, block = x >= 14 && x < 20 && y >= 10 && y < 19;
            static const unsigned char white[3] = {250, 255, 255}, black[3] = {0, 10, 0},
                                       green[3] = {0, 255, 0}, red[3] = {255, 0, 0};
            const unsigned char *colour = wall || block            ? black
                                          : x == 0                 ? green
                                          : x == PICTURE_WIDTH - 1 ? red
                                                                   : white;
            memcpy(pixels[y][x], x == 30 && y == 5 ? odd : colour, 3);
        }
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = PICTURE_WIDTH,
                       .height = PICTURE_HEIGHT,
                       .format = PNG_FORMAT_RGB};
    assert_int_equal(png_image_write_to_file(&image, picture_file, 0, pixels, 0, NULL), 1);
}

static void test_a_picture_is_a_mask(void **state) {
    (void)state;
    static const unsigned char black[3] = {0, 0, 0}, blue[3] = {0, 0, 255};
    kf_error error = {0};
    kf_scene *scene;
    write_picture(black);
    must(kf_scene_open(picture_file, NULL, &scene, &error), &error);
    assert_int_equal(scene->nodes[0], PICTURE_WIDTH);
    assert_int_equal(scene->nodes[1], PICTURE_HEIGHT);
    assert_int_equal(scene->nodes[2], 1);
    assert_int_equal(scene->mask[PICTURE_WIDTH * (PICTURE_HEIGHT - 1 - 5) + 30], KF_NODE_SOLID);
    assert_int_equal(scene->mask[PICTURE_WIDTH * 5], KF_NODE_INFLOW);
    assert_int_equal(scene->mask[PICTURE_WIDTH * 6 - 1], KF_NODE_OUTFLOW);
    assert_int_equal(scene->mask[0], KF_NODE_SOLID);
    assert_true(kf_d2q9_is_open(scene));
    static const char *const changes[] = {SOA "plan=pull", SOA "plan=inplace",
                                          SOA "plan=toelke bounce_back=full_way", NULL};
    verify_configs(scene, 10, changes);
    scene->mask_has_pressure = true;
    scene->mask_density = 0.02;
    verify_configs(scene, 9, changes);
    kf_scene *reduced;
    must(kf_scene_reduce(scene, 400, &reduced, &error), &error);
    assert_true(kf_d2q9_is_open(reduced) && kf_d2q9_has_solid(reduced));
    assert_string_not_equal(reduced->hash, scene->hash);
    kf_scene_free(reduced);

    /* On finer grids each pixel covers several nodes. */
    static const int refined[] = {2, 3};
    for (int r = 0; r < 2; r++) {
        const int times = refined[r], width = times * PICTURE_WIDTH, height = times * PICTURE_HEIGHT;
        const kf_scene_options options = {.nodes = {width, height, 1}};
        kf_scene *finer;
        must(kf_scene_open(picture_file, &options, &finer, &error), &error);
        for (int y = 0; y < height; y++)
            for (int x = times; x < width - times; x++) /* the open columns are thinned */
                assert_int_equal(finer->mask[width * y + x],
                                 scene->mask[PICTURE_WIDTH * (y / times) + x / times]);
        kf_scene_free(finer);
    }
    kf_scene_free(scene);

    write_picture(blue);
    assert_int_equal(kf_scene_open(picture_file, NULL, &scene, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "(30, 5)"));
    FILE *file = fopen(picture_file, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 60, SEEK_SET), 0);
    assert_int_equal(fwrite("damage", 1, 6, file), 6);
    fclose(file);
    assert_int_equal(kf_scene_open(picture_file, NULL, &scene, &error), KF_BAD_INPUT);
}

/* Checks whether a config is accepted on a cpu and on a GPU, whichever this backend is. */
static void expect(const kf_scene *scene, const kf_config *config, bool on_cpu, bool on_gpu) {
    const kf_device_info cpu = {.backend = "cpu"}, gpu = {.backend = "cuda"};
    kf_error error = {0};
    kf_d2q9_options options;
    assert_int_equal(kf_d2q9_read_options(scene, config, &cpu, &options, &error) == KF_OK, on_cpu);
    assert_int_equal(kf_d2q9_read_options(scene, config, &gpu, &options, &error) == KF_OK, on_gpu);
}

/* A system names the boundaries that it computes; any other is refused with its word and its face. */
static void test_unknown_boundaries(void **state) {
    (void)state;
    static const kf_boundary known[] = {KF_PERIODIC, KF_WALL, KF_INFLOW};
    kf_error error = {KF_OK, ""};
    kf_scene scene = {0};
    scene.faces[KF_XMIN] = KF_INFLOW;
    scene.faces[KF_YMAX] = KF_WALL;
    assert_int_equal(kf_flow_check_faces(&scene, "d2q9", known, 3, &error), KF_OK);
    scene.faces[KF_XMAX] = KF_OUTFLOW;
    assert_int_equal(kf_flow_check_faces(&scene, "d2q9", known, 3, &error), KF_BAD_INPUT);
    assert_string_equal(error.message, "d2q9 has no boundary outflow, which the scene has at xmax");
}

static void test_what_d2q9_lacks_is_refused(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_shipped_scene("cavity2d", 400);
    scene->collision = KF_ACM_MRT;
    assert_int_equal(d2q9->accepts(problem_of(d2q9, scene), &error), KF_BAD_INPUT);
    scene->collision = KF_MRT;
    scene->nodes[2] = 2;
    assert_int_equal(d2q9->accepts(problem_of(d2q9, scene), &error), KF_BAD_INPUT);
    scene->nodes[2] = 1;
    kf_space *space = open_space(scene);
    kf_config config;
    must(kf_space_preset(space, "default", &config, &error), &error);
    const bool gpu = strcmp(kf_backend_device(backend)->backend, "cuda") == 0;
    expect(scene, &config, !gpu, true); /* the default of a GPU has a graph */
    kf_config_set_boolean(&config, "folded_boundary", false);
    kf_config_set_boolean(&config, "overlap", false);
    kf_config_set_boolean(&config, "alternate", true);
    expect(scene, &config, false, false);
    kf_config_set_boolean(&config, "alternate", false);
    kf_config_set_boolean(&config, "folded_boundary", true);
    expect(scene, &config, !gpu, true);
    kf_config_set_name(&config, "plan", "push");
    expect(scene, &config, false, false);
    kf_config_set_name(&config, "plan", "pull");
    kf_config_set_boolean(&config, "folded_boundary", false);
    kf_config_set_boolean(&config, "graph", true);
    expect(scene, &config, false, true);
    kf_config_set_boolean(&config, "graph", false);
    expect(scene, &config, true, true);
    kf_config_set_name(&config, "storage", "f16");
    expect(scene, &config, false, false);
    kf_config_set_name(&config, "storage", "f32");
    kf_config_set_name(&config, "layout", "soa");
    kf_config_set_integer(&config, "alpha", 1);
    kf_config_set_name(&config, "plan", "temporal"); /* without steps and tiles */
    expect(scene, &config, false, false);
    kf_config_set_integer(&config, "steps_per_launch", 7);
    kf_config_set_integer(&config, "tile_rows", 64);
    kf_config_set_integer(&config, "threads", 128); /* too much shared memory */
    expect(scene, &config, false, false);
    kf_config_set_integer(&config, "threads", 96);
    expect(scene, &config, true, true);
    scene->faces[KF_XMAX] = KF_OUTFLOW;
    expect(scene, &config, false, false);
    kf_space_free(space);
    kf_scene_free(scene);
}

/* --- State
 * --------------------------------------------------------------------------------------------------- */

/* A plan that is saved and restored at any step continues bit for bit, also within a temporal launch. */
static void test_a_checkpoint_continues_bit_for_bit(void **state) {
    (void)state;
    static const char *const changes[] = {
        SOA "plan=toelke bounce_back=full_way",
        SOA "plan=push",
        SOA "plan=inplace",
        SOA "plan=temporal steps_per_launch=3 tile_rows=32",
        SOA "plan=temporal steps_per_launch=3 tile_rows=64 bounce_back=full_way",
        SOA "plan=inplace"};
    enum { BEFORE = 7, AFTER = 9, FOLDED = 5 };
    kf_scene *scene = open_shipped_scene("cylinder_array2d", 50 * 50);
    size_t values = 3 * (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    kf_space *space = open_space(scene);
    for (int p = 0; p < 6; p++) {
        kf_error error = {0};
        kf_config config = configure(space, changes[p]);
        kf_config_set_boolean(&config, "folded_boundary", p == FOLDED);
        size_t bytes;
        double *whole, *restored;
        kf_plan *plan = open_plan(scene, &config);
        advance(plan, BEFORE);
        must(plan->methods->state_size(plan, &bytes, &error), &error);
        void *saved = malloc(bytes);
        assert_non_null(saved);
        must(plan->methods->save(plan, saved, &error), &error);
        advance(plan, AFTER);
        must(kf_d2q9_read(plan, &whole, &error), &error);
        kf_plan *other = open_plan(scene, &config);
        must(other->methods->restore(other, saved, BEFORE, &error), &error);
        advance(other, AFTER);
        must(kf_d2q9_read(other, &restored, &error), &error);
        assert_memory_equal(whole, restored, values * sizeof(double));
        free(whole);
        free(restored);
        free(saved);
        kf_plan_free(plan);
        kf_plan_free(other);
    }
    kf_space_free(space);
    kf_scene_free(scene);
}

/* A start that is the same in all rows is copied to the device once. The last block of rows is shorter. */
static void test_start_in_blocks(void **state) {
    (void)state;
    enum { NX = 8192, NY = 600 };
    kf_error error = {0};
    double *values;
    kf_scene *scene = kf_flow_box("box", NX, NY, 1, 0.1);
    scene->collision = KF_MRT;
    scene->initial_velocity[0] = 0.01;
    scene->initial_velocity[1] = -0.02;
    scene->accuracy = 0.01;
    kf_space *space = open_space(scene);
    kf_config config = configure(space, SOA "plan=pull storage=f16");
    kf_space_free(space);
    kf_plan *plan = open_plan(scene, &config);
    assert_true(NY > ((const kf_d2q9 *)plan->system)->rows_at_once);
    must(kf_d2q9_read(plan, &values, &error), &error);
    double off = 0;
    for (size_t n = 0; n < (size_t)NX * NY; n++)
        off = fmax(off, fabs(values[n]) + fabs(values[(size_t)NX * NY + n] - 0.01) +
                            fabs(values[2 * (size_t)NX * NY + n] + 0.02));
    assert_true(off < 1e-4);
    free(values);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* --- The paper
 * ----------------------------------------------------------------------------------------------- */

/* The solid fractions of Table 4, to the last digit printed. */
static void test_table_4(void **state) {
    (void)state;
    for (int row = 0; row < KF_TABLE_4_ROWS; row++) {
        const double printed = kf_table_4[row].fraction;
        char ours[16], theirs[16];
        (void)snprintf(ours, sizeof ours, "%.2e", kf_table_4_fraction_error(kf_table_4[row].mesh));
        (void)snprintf(theirs, sizeof theirs, "%.2e", printed);
        assert_string_equal(ours, theirs);
    }
}

/* The cases, at reduced cost. */
static void test_validation_cases_pass(void **state) {
    (void)state;
    static const volatile int interrupted;
    kf_error error = {0};
    kf_validation validation = {.backend = backend, .quick = true, .interrupted = &interrupted};
    kf_array_errors errors;
    must(kf_d2q9_array_errors(&validation, 128, &errors, &error), &error);
    assert_true(errors.force < 1e-3);
    assert_true(fabs(errors.k - 0.22919) < 1e-3); /* as on an H200; 0.206 in Table 4 */
    validation.case_name = "d2q9-poiseuille";
    must(kf_case_d2q9_poiseuille(&validation, &error), &error);
    assert_int_equal(validation.check_count, 2);
    assert_true(validation.checks[0].pass && validation.checks[1].pass);
    free(validation.checks);
}

static int setup(void **state) {
    const char *scratch = getenv("KFTUNE_SCRATCH");
    (void)snprintf(picture_file, sizeof picture_file, "%.4000s/d2q9-mask.png",
                   scratch == NULL ? "/tmp" : scratch);
    return open_backend_for_variants_on_all_cores(state);
}

static int teardown(void **state) {
    (void)remove(picture_file);
    return close_backend(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_of_a_cavity),
        cmocka_unit_test(test_a_force_along_one_axis),
        cmocka_unit_test(test_folded_boundaries_change_nothing),
        cmocka_unit_test(test_plans_of_an_array_of_cylinders),
        cmocka_unit_test(test_open_faces),
        cmocka_unit_test(test_the_gate_refuses_three_bounds),
        cmocka_unit_test(test_a_picture_is_a_mask),
        cmocka_unit_test(test_what_d2q9_lacks_is_refused),
        cmocka_unit_test(test_unknown_boundaries),
        cmocka_unit_test(test_a_checkpoint_continues_bit_for_bit),
        cmocka_unit_test(test_start_in_blocks),
        cmocka_unit_test(test_table_4),
        cmocka_unit_test(test_validation_cases_pass),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
