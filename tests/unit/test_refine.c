/* Tests scenes with nested grids: where boxes lie, the scene in finer cells, its reduced trial, and
 * refusals. Faults: a box or number of another level. */
#include <math.h>

#include "base/util/text.h"
#include "tests/unit/scene_files.h"

#define BALL   "\"solid\": {\"shape\": \"ball\", \"radius\": 0.5, \"position\": [3, 3, 3]}, "
#define DOMAIN "\"domain\": {\"cells\": [24, 16, 16], \"cell_size\": 0.375}, "
#define FLOW   "\"flow\": {\"speed\": 1, \"reynolds\": 100, \"reference_length\": 1, \"lattice_speed\": 0.08}"
#define REFINED(refine)                                                                                      \
    "{" BALL DOMAIN FLOW ", \"sampling\": {\"samples_per_cell\": 4}, \"refine\": " refine "}"

/* Each box contains the next with its margin, and the finest the samples. There is more room for the wake
 * than in front, and no box touches the outflow. */
static void assert_nested(const kf_scene *scene) {
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_scene_check_boxes(scene, &error), KF_OK);
    for (int l = 0; l < scene->finer_count; l++) {
        assert_true(scene->boxes[l].high[0] <= (scene->nodes[0] << l) - KF_NESTED_MARGIN);
        assert_int_equal(scene->finer[l]->nodes[1], scene->nodes[1] << (l + 1));
    }
    assert_true(kf_scene_finest(scene)->samples.count > 0 && scene->samples.count == 0);
}

/* The finest scene equals the one that a file with fine cells everywhere describes: up to rounding, and
 * exactly in its samples. */
static void test_levels_are_the_same_flow(void **state) {
    (void)state;
    kf_scene *nested = open_scene_text(REFINED("{\"around\": \"body\", \"levels\": 2}"), NULL);
    kf_scene *uniform =
        open_scene_text("{" BALL "\"domain\": {\"cells\": [96, 64, 64], \"cell_size\": 0.09375}, " FLOW
                        ", \"sampling\": {\"samples_per_cell\": 4}, \"model\": {\"rates\": \"k17\"}}",
                        NULL);
    const kf_scene *finest = kf_scene_finest(nested);
    assert_nested(nested);
    assert_int_equal(nested->finer_count, 2);
    assert_int_equal(nested->rate_rule, KF_RATE_K17);
    assert_memory_equal(finest->nodes, uniform->nodes, sizeof uniform->nodes);
    assert_float_equal(finest->viscosity, uniform->viscosity, 1e-12);
    assert_float_equal(finest->time_step, uniform->time_step, 1e-12);
    assert_float_equal(finest->reference_length, uniform->reference_length, 1e-9);
    assert_float_equal(kf_scene_reference_area(finest), kf_scene_reference_area(uniform), 1e-6);
    assert_float_equal(finest->solid_area, uniform->solid_area, 1e-6);
    for (int a = 0; a < 3; a++) {
        assert_float_equal(finest->solid_low[a], uniform->solid_low[a], 1e-9);
        assert_float_equal(finest->moment_center[a], uniform->moment_center[a], 1e-9);
    }
    assert_int_equal(finest->samples.count, uniform->samples.count);
    assert_string_not_equal(nested->hash, uniform->hash);
    kf_scene_free(nested);
    kf_scene_free(uniform);
}

static void near_all(const double *fine, const double *uniform, size_t count, const char *what) {
    for (size_t i = 0; i < count; i++)
        if (!(fabs(fine[i] - uniform[i]) <= 1e-9 * fmax(fabs(uniform[i]), 1e-6)))
            fail_msg("%s %zu: %.12g, not %.12g", what, i, fine[i], uniform[i]);
}

/* So it is with whatever pushes the fluid or moves the solid, each along all axes: every such quantity of the
 * finest level is that of a file with fine cells everywhere. */
static void test_levels_have_the_same_forces_and_motion(void **state) {
    (void)state;
    static const char *const motions[] = {
        "\"axis\": [1, 2, 2], \"angular_velocity\": 0.7, \"center\": [3.1, 3.2, 2.9]",
        "\"free\": true, \"density\": 1.5, \"gravity\": [0.1, 0.2, -0.3], \"velocity\": [0.1, -0.2, 0.3]"};
    for (size_t m = 0; m < sizeof motions / sizeof *motions; m++) {
        kf_scene *scenes[2];
        for (int uniform = 0; uniform < 2; uniform++) {
            char text[1200];
            (void)snprintf(
                text, sizeof text,
                "{\"solid\": {\"shape\": \"plate\", \"chord\": 0.5, \"width\": 0.6, \"thickness\": 0.4, "
                "\"position\": [3, 3, 3], \"motion\": {%s}}, \"domain\": %s, \"flow\": {\"speed\": 1, "
                "\"reynolds\": 100, \"reference_length\": 1, \"lattice_speed\": 0.08, \"acceleration\": "
                "[0.1, -0.2, 0.3], \"initial_velocity\": [1, 0.1, -0.2]}, \"sampling\": "
                "{\"samples_per_cell\": 1}, %s}",
                motions[m],
                uniform ? "{\"cells\": [96, 64, 64], \"cell_size\": 0.09375}"
                        : "{\"cells\": [24, 16, 16], \"cell_size\": 0.375}",
                uniform ? "\"model\": {\"rates\": \"k17\"}"
                        : "\"refine\": {\"around\": \"body\", \"levels\": 2}");
            scenes[uniform] = open_scene_text(text, NULL);
        }
        const kf_scene *fine = kf_scene_finest(scenes[0]), *uniform = scenes[1];
        near_all(fine->body_force, uniform->body_force, 3, "body force");
        near_all(fine->initial_velocity, uniform->initial_velocity, 3, "velocity");
        near_all(fine->face_velocity[0], uniform->face_velocity[0], 3 * KF_FACES, "velocity of face");
        near_all(fine->solid_low, uniform->solid_low, 3, "lower corner");
        near_all(fine->solid_high, uniform->solid_high, 3, "upper corner");
        near_all(fine->motion.axis, uniform->motion.axis, 3, "axis");
        near_all(&fine->motion.angular_speed, &uniform->motion.angular_speed, 1, "angular speed");
        near_all(fine->motion.center, uniform->motion.center, 3, "centre");
        near_all(fine->motion.velocity, uniform->motion.velocity, 3, "velocity of the solid");
        near_all(fine->motion.gravity, uniform->motion.gravity, 3, "gravity");
        near_all(&fine->motion.excess_mass, &uniform->motion.excess_mass, 1, "mass");
        near_all(fine->motion.excess_inertia, uniform->motion.excess_inertia, 9, "inertia");
        near_all(&fine->cell_size, &uniform->cell_size, 1, "cell size");
        near_all(&fine->reference_speed, &uniform->reference_speed, 1, "speed");
        near_all(&fine->frontal_area, &uniform->frontal_area, 1, "front");
        for (int i = 0; i < 2; i++)
            kf_scene_free(scenes[i]);
    }
}

/* Scenes with different levels or boxes have different hashes. */
static void test_hashes_differ(void **state) {
    (void)state;
    static const char *const texts[] = {
        REFINED("{\"around\": \"body\", \"levels\": 1}"), REFINED("{\"around\": \"body\", \"levels\": 2}"),
        REFINED("[{\"box\": {\"low\": [2, 2, 2], \"high\": [5, 4, 4]}, \"levels\": 1}]"),
        "{" BALL DOMAIN FLOW ", \"model\": {\"rates\": \"k17\"}}",
        REFINED("{\"around\": \"body\", \"levels\": 1}, \"model\": {\"outer_rates\": \"ones\"}")};
    char hashes[5][KF_HASH_HEX];
    for (int i = 0; i < 5; i++) {
        kf_scene *scene = open_scene_text(texts[i], NULL);
        kf_copy_text(hashes[i], sizeof hashes[i], scene->hash);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(hashes[i], hashes[j]);
        kf_scene_free(scene);
    }
}

/* Levels outside the finest may have rates of 1. What cannot have them is refused. */
static void test_outer_rates(void **state) {
    (void)state;
    kf_scene *scene = open_scene_text(
        REFINED("\"body\", \"model\": {\"rates\": \"k17\", \"outer_rates\": \"ones\"}"), NULL);
    assert_true(scene->outer_ones && scene->finer[0]->outer_ones && scene->rate_rule == KF_RATE_K17);
    kf_scene_free(scene);
    scene = open_scene_text(REFINED("\"body\", \"model\": {\"rates\": \"ones\", \"outer_rates\": \"ones\"}"),
                            NULL);
    assert_false(scene->outer_ones); /* nothing is different there */
    kf_scene_free(scene);
    assert_scene_refused("{" BALL DOMAIN FLOW ", \"model\": {\"outer_rates\": \"ones\"}}", "no nested grids");
    assert_scene_refused(
        REFINED("\"body\", \"model\": {\"rates\": \"adaptive_2020\", \"outer_rates\": \"ones\"}"),
        "averages of the domain");
    assert_scene_refused(REFINED("\"body\", \"model\": {\"collision\": \"bgk\", \"outer_rates\": \"ones\"}"),
                         "acm_mrt");
    assert_scene_refused(REFINED("\"body\", \"model\": {\"outer_rates\": \"k17\"}"), "ones");
}

/* "body" makes the body as many cells long as it says, and a box of two levels has room for both. */
static void test_ways_to_ask(void **state) {
    (void)state;
    kf_scene *scene = open_scene_text(REFINED("{\"around\": \"body\", \"cells_a_length\": 10}"), NULL);
    assert_int_equal(scene->finer_count, 2);
    assert_nested(scene);
    kf_scene_free(scene);
    scene = open_scene_text(
        REFINED("[{\"box\": {\"low\": [2.25, 2.25, 2.25], \"high\": [4.5, 3.75, 3.75]}, \"levels\": 2}]"),
        NULL);
    assert_int_equal(scene->finer_count, 2);
    assert_int_equal(scene->boxes[1].low[0], 12);
    assert_int_equal(scene->boxes[1].high[0], 24);
    assert_nested(scene);
    kf_scene_free(scene);
    scene = open_scene_text(REFINED("[{\"box\": {\"low\": [1.125, 1.5, 1.5], \"high\": [6, 4.5, 4.5]}}, "
                                    "{\"box\": {\"low\": [2.25, 2.25, 2.25], \"high\": [4.5, 3.75, 3.75]}}]"),
                            NULL);
    assert_int_equal(scene->finer_count, 2);
    assert_nested(scene);
    kf_scene_free(scene);
}

/* A box that reaches the outflow ends before it, and so does the box around it. */
static void test_a_box_ends_before_the_outflow(void **state) {
    (void)state;
    kf_scene *scene = open_scene_text(
        REFINED("[{\"box\": {\"low\": [2, 2, 2], \"high\": [9, 4, 4]}, \"levels\": 2}]"), NULL);
    assert_int_equal(scene->finer_count, 2);
    assert_nested(scene);
    assert_int_equal(scene->boxes[1].high[0], 48 - 9);
    assert_int_equal(scene->boxes[0].high[0], 24 - 3);
    assert_non_null(strstr(scene->notes, "before the outflow at xmax"));
    kf_scene_free(scene);
}

/* A number of nodes for all levels gives as many levels as fit. With a given number of levels the boxes
 * shrink. */
static void test_levels_fit_a_number_of_nodes(void **state) {
    (void)state;
    kf_scene *scene = open_scene_text(REFINED("{\"around\": \"body\", \"levels\": 2}"), NULL), *fewer;
    const double nodes = kf_scene_all_nodes(scene);
    fewer = open_scene_text(REFINED("{\"around\": \"body\", \"nodes\": 30000}"), NULL);
    assert_int_equal(fewer->finer_count, 1);
    kf_scene_free(fewer);
    fewer = open_scene_text(REFINED("{\"around\": \"body\", \"nodes\": 60000}"), NULL);
    assert_int_equal(fewer->finer_count, 2);
    assert_true(kf_scene_all_nodes(fewer) == nodes);
    kf_scene_free(fewer);
    fewer = open_scene_text(REFINED("{\"around\": \"body\", \"levels\": 2, \"nodes\": 30000}"), NULL);
    assert_int_equal(fewer->finer_count, 2);
    assert_nested(fewer);
    assert_true(kf_scene_all_nodes(fewer) <= 30000.0);
    kf_scene_free(fewer);
    kf_scene_free(scene);
    assert_scene_refused(REFINED("{\"around\": \"body\", \"levels\": 3, \"nodes\": 9000}"), "nodes at least");
    assert_scene_refused(REFINED("{\"around\": \"body\", \"nodes\": 0}"), "nodes");
}

/* A trial has fewer nodes, at most three grids, and boxes that keep their required distances. */
static void test_a_trial_keeps_its_distances(void **state) {
    (void)state;
    static const char *const texts[] = {
        REFINED("{\"around\": \"body\", \"levels\": 1}"), REFINED("{\"around\": \"body\", \"levels\": 4}"),
        "{" BALL "\"domain\": {\"cells\": [96, 64, 64], \"cell_size\": 0.09375}, " FLOW
        ", \"boundaries\": {\"xmin\": \"inflow\", \"xmax\": \"outflow\", \"ymin\": \"periodic\", \"ymax\": "
        "\"periodic\", \"zmin\": \"wall\", \"zmax\": \"free_slip\"}, "
        "\"refine\": {\"around\": \"body\", \"levels\": 2}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kf_scene *scene = open_scene_text(texts[i], NULL), *reduced = NULL;
        kf_error error = {KF_OK, ""};
        assert_int_equal(kf_scene_reduce(scene, 24000, &reduced, &error), KF_OK);
        assert_nested(scene);
        assert_nested(reduced);
        assert_int_equal(reduced->finer_count, scene->finer_count < 2 ? scene->finer_count : 2);
        assert_true(kf_scene_step_updates(reduced) < 400000.0);
        assert_true(kf_scene_step_updates(reduced) <= kf_scene_step_updates(scene));
        assert_float_equal(kf_scene_finest(reduced)->reynolds, 100.0, 1e-9);
        kf_scene_free(reduced);
        kf_scene_free(scene);
    }
}

/* Outputs are on the finest level, or on one whose grid of the whole domain is not too large. */
static void test_outputs_are_on_a_level_that_fits(void **state) {
    (void)state;
    kf_scene *scene = open_scene_text(REFINED("{\"around\": \"body\", \"levels\": 4}"), NULL);
    assert_int_equal(kf_scene_output_level(scene), 4);
    assert_ptr_equal(kf_scene_of_outputs(scene), kf_scene_finest(scene));
    for (int a = 0; a < 3; a++)
        scene->nodes[a] *= 4;
    assert_int_equal(kf_scene_output_level(scene), 2);
    for (int a = 0; a < 3; a++)
        scene->nodes[a] /= 4;
    kf_scene_free(scene);
}

/* Every kind of error in "refine" is reported with its place. */
static void test_errors_of_refine_are_named_with_their_place(void **state) {
    (void)state;
    static const struct {
        const char *refine, *part;
    } wrong[] = {
        {"5", "must be \"body\""},
        {"\"bod\"", "must be \"body\""},
        {"[]", "1 to 4 boxes"},
        {"[3]", "refine[0]"},
        {"[{\"levels\": 1}]", "box"},
        {"[{\"box\": {\"low\": [2, 2, 2], \"high\": [4, 4, 4]}, \"levels\": 5}]", "levels"},
        {"[{\"box\": {\"low\": [2, 2, 2], \"high\": [4, 2, 4]}}]", "along y"},
        {"[{\"box\": {\"low\": [2, 2, 2], \"high\": [4, 4, 9]}}]", "out of the domain"},
        {"[{\"box\": {\"low\": [2, 2, 2], \"high\": [4, 4, 4], \"size\": 1}}]", "size"},
        {"[{\"box\": {\"low\": [4, 2, 2], \"high\": [6, 4, 4]}}]", "the finest box has to hold the solid"},
        {"[{\"box\": {\"low\": [2, 2, 0.5], \"high\": [5, 4, 4]}}]", "from the domain's face"},
        {"[{\"box\": {\"low\": [2, 2, 2], \"high\": [5, 4, 4]}}, {\"box\": {\"low\": [2, 2, 2], \"high\": "
         "[4, 4, "
         "4]}}]",
         "from the box around it"},
        {"[{\"box\": {\"low\": [2, 2, 2], \"high\": [4, 4, 4]}}, {\"box\": {\"low\": [5, 2.5, 2.5], "
         "\"high\": "
         "[5.5, 3.5, 3.5]}}]",
         "box 2 reaches 8 cells out of the box around it across x: each box must lie in the one before"},
        {"{\"around\": \"body\", \"cells_a_length\": 1000}", "make 42.67 cells of 2.667 at most, not 1000"},
        {"{\"around\": \"wake\"}", "around"},
        {"{\"around\": \"body\", \"levels\": 2, \"cells_a_length\": 20}", "not both"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kf_text text = {0};
        kf_text_append(&text, "{" BALL DOMAIN FLOW ", \"refine\": %s}", wrong[i].refine);
        assert_scene_refused(text.text, wrong[i].part);
        kf_text_free(&text);
    }
    assert_scene_refused("{" DOMAIN FLOW ", \"refine\": \"body\"}", "no solid to refine around");
    assert_scene_refused(
        "{\"solid\": {\"shape\": \"ball\", \"radius\": 0.5, \"position\": [8.2, 3, 3]}, " DOMAIN FLOW
        ", \"refine\": \"body\"}",
        "too near the outflow");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_are_the_same_flow),
        cmocka_unit_test(test_levels_have_the_same_forces_and_motion),
        cmocka_unit_test(test_hashes_differ),
        cmocka_unit_test(test_outer_rates),
        cmocka_unit_test(test_ways_to_ask),
        cmocka_unit_test(test_a_box_ends_before_the_outflow),
        cmocka_unit_test(test_levels_fit_a_number_of_nodes),
        cmocka_unit_test(test_a_trial_keeps_its_distances),
        cmocka_unit_test(test_outputs_are_on_a_level_that_fits),
        cmocka_unit_test(test_errors_of_refine_are_named_with_their_place),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
