/* Tests scene files that are made of meshes. Faults: a scene that is read back differently, a change that
 * differs from having said it at first, a file that is overwritten. */
#include <math.h>

#include "scene/document.h"
#include "tests/unit/placed_box.h"

static void test_written_scene_is_the_same(void **state) {
    (void)state;
    const char *mesh = write_box("box.obj"), *file = test_path("box.scene.json");
    const kf_placement said = {
        .wind = {1, 1}, .length = 0.37, .yaw = 7.0, .road = KF_ROAD_YES, .nodes = {60, 32, 24}};
    const kf_scene_options options = {.nodes = {60, 32, 24}};
    kf_scene *placed = NULL, *read = NULL;
    kf_error error;
    assert_int_equal(kf_scene_open_placed(mesh, &said, &options, &placed, &error), KF_OK);
    char *notes = NULL;
    cJSON *document = NULL;
    bool replaced = true;
    assert_int_equal(kf_scene_of_mesh(mesh, &said, &document, &notes, &error), KF_OK);
    assert_non_null(strstr(notes, "the wind blows towards +y"));
    assert_non_null(strstr(notes, "domain: 60x32x24 cells"));
    free(notes);
    assert_int_equal(kf_scene_document_write(document, file, &replaced, &error), KF_OK);
    assert_false(replaced);
    assert_int_equal(kf_scene_document_write(document, file, &replaced, &error), KF_OK);
    assert_false(replaced);
    if (kf_scene_open(file, NULL, &read, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_equal(placed->hash, read->hash);
    assert_true(fabs(placed->solid_low[2] + 0.5) < 1e-12); /* it stands on the road */
    cJSON_Delete(document);
    kf_scene_free(placed);
    kf_scene_free(read);
}

static cJSON *part(cJSON *document, const char *section, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(document, section), key);
}

static cJSON *make_scene(const char *mesh, const kf_placement *said) {
    cJSON *document = NULL;
    kf_error error;
    if (kf_scene_of_mesh(mesh, said, &document, NULL, &error) != KF_OK) fail_msg("%s", error.message);
    return document;
}

/* With levels around it a mesh keeps its cells, in a domain of coarser ones. The written scene is the
 * same. */
static void test_refined_placement(void **state) {
    (void)state;
    const char *mesh = write_box("changed.obj"), *file = test_path("refined.scene.json");
    const kf_placement coarse = {.wind = {0, 1}, .up = {2, 1}, .cells = 24.0},
                       said = {.wind = {0, 1}, .up = {2, 1}, .cells = 24.0, .refine = KF_REFINE_BODY};
    kf_scene *one = NULL, *placed = NULL, *read = NULL;
    kf_error error;
    bool replaced;
    assert_int_equal(kf_scene_open_placed(mesh, &coarse, NULL, &one, &error), KF_OK);
    assert_int_equal(kf_scene_open_placed(mesh, &said, NULL, &placed, &error), KF_OK);
    assert_int_equal(placed->finer_count, 1);
    assert_true(fabs(kf_scene_finest(placed)->cell_size / one->cell_size - 1.0) < 1e-9);
    assert_true(fabs(kf_scene_finest(placed)->reference_length - 24.0) < 1e-6);
    cJSON *document = make_scene(mesh, &said);
    assert_int_equal(kf_scene_document_write(document, file, &replaced, &error), KF_OK);
    if (kf_scene_open(file, NULL, &read, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_equal(placed->hash, read->hash);
    cJSON_Delete(document);
    kf_scene_free(one);
    kf_scene_free(placed);
    kf_scene_free(read);
}

/* A value that is changed later has the same effect as one that was given at first, except for the tunnel,
 * which stays. */
static void test_a_written_scene_is_changed_with_all_that_follows(void **state) {
    (void)state;
    const char *mesh = write_box("changed.obj");
    const kf_placement first = {
        .wind = {0, 1}, .up = {2, 1}, .road = KF_ROAD_YES, .speed = 30.0, .cells = 20.0};
    kf_placement whole = first;
    const kf_placement said[] = {{.speed = 40.0},
                                 {.viscosity = 0.25},
                                 {.cells = 28.0},
                                 {.road = KF_ROAD_NO},
                                 {.yaw = 5.0, .yaw_given = true},
                                 {.yaw = 0.0, .yaw_given = true},
                                 {.length = 3.0},
                                 {.refine = 1},
                                 {.refine = KF_REFINE_BODY},
                                 {.refine = KF_REFINE_NONE}};
    cJSON *document = make_scene(mesh, &first);
    assert_true(cJSON_GetArrayItem(part(document, "boundaries", "zmin"), 1)->child->valuedouble == 30.0);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        kf_text notes = {0}, difference = {0};
        kf_error error;
        kf_placement_change(&whole, &said[i]);
        cJSON *anew = make_scene(mesh, &whole);
        if (kf_scene_document_change("box.json", document, &said[i], &notes, &error) != KF_OK)
            fail_msg("%s", error.message);
        kf_scene_document_difference(document, anew, &difference);
        if (difference.length > 0) fail_msg("change %zu: %s", i, difference.text);
        assert_true(notes.text == NULL || strstr(notes.text, "by hand") == NULL);
        assert_true(cJSON_Compare(cJSON_GetObjectItemCaseSensitive(document, "placed"),
                                  cJSON_GetObjectItemCaseSensitive(anew, "placed"), true));
        if (i == 0)
            assert_true(cJSON_GetArrayItem(part(document, "boundaries", "zmin"), 1)->child->valuedouble ==
                        40.0);
        if (i == 4) assert_true(part(document, "solid", "yaw")->valuedouble == 5.0);
        cJSON_Delete(anew);
        kf_text_free(&notes);
        kf_text_free(&difference);
    }
    assert_null(part(document, "flow", "reynolds"));
    cJSON_Delete(document);
}

/* A written scene has one tunnel for all angles: its grid does not depend on the yaw. */
static void test_the_yaw_leaves_the_tunnel_alone(void **state) {
    (void)state;
    const char *mesh = write_box("changed.obj");
    const kf_placement first = {.wind = {0, 1}, .up = {2, 1}, .road = KF_ROAD_YES, .cells = 20.0};
    cJSON *straight = make_scene(mesh, &first);
    for (int yaw = -30; yaw <= 30; yaw += 15) {
        const kf_placement turn = {.yaw = yaw, .yaw_given = true};
        kf_text notes = {0};
        kf_error error;
        cJSON *turned = cJSON_Duplicate(straight, true);
        assert_int_equal(kf_scene_document_change("box.json", turned, &turn, &notes, &error), KF_OK);
        assert_true(cJSON_Compare(cJSON_GetObjectItemCaseSensitive(straight, "domain"),
                                  cJSON_GetObjectItemCaseSensitive(turned, "domain"), true));
        cJSON_Delete(turned);
        kf_text_free(&notes);
    }
    cJSON_Delete(straight);
}

static void test_what_was_changed_by_hand_stays(void **state) {
    (void)state;
    const char *mesh = write_box("changed.obj");
    const kf_placement first = {.wind = {0, 1},
                                .up = {2, 1},
                                .road = KF_ROAD_YES,
                                .speed = 30.0,
                                .cells = 20.0},
                       faster = {.speed = 40.0};
    cJSON *document = make_scene(mesh, &first);
    kf_text notes = {0};
    kf_error error;
    cJSON_AddNumberToObject(cJSON_GetObjectItemCaseSensitive(document, "flow"), "reference_area", 0.4);
    cJSON_SetNumberValue(part(document, "sampling", "seed"), 7);
    assert_int_equal(kf_scene_document_change("box.json", document, &faster, &notes, &error), KF_OK);
    assert_true(part(document, "flow", "reference_area")->valuedouble == 0.4);
    assert_true(part(document, "sampling", "seed")->valuedouble == 7.0);
    assert_null(strstr(notes.text, "by hand"));
    kf_text_free(&notes);
    /* An option overrides a change by hand. A line names the former value. */
    const kf_placement fastest = {.speed = 50.0};
    cJSON_SetNumberValue(part(document, "flow", "speed"), 45);
    assert_int_equal(kf_scene_document_change("box.json", document, &fastest, &notes, &error), KF_OK);
    assert_true(part(document, "flow", "speed")->valuedouble == 50.0);
    assert_non_null(strstr(notes.text, "flow.speed: was changed by hand, to 45; is now 50"));
    kf_text_free(&notes);
    cJSON_Delete(document);
}

static void test_any_scene_of_a_flow_is_changed_in_its_flow(void **state) {
    (void)state;
    static const char *const text =
        "{\"solid\":{\"shape\":\"plate\",\"length\":2,\"position\":[4,2,0.5]},\"domain\":{\"cells\":[80,40,"
        "20],"
        "\"cell_size\":0.1},\"boundaries\":{\"xmin\":\"inflow\",\"xmax\":\"outflow\",\"ymin\":\"free_slip\","
        "\"ymax\":\"free_slip\",\"zmin\":{\"type\":\"wall\",\"velocity\":[10,0,0]},\"zmax\":\"free_slip\"},"
        "\"flow\":{\"speed\":10,\"reynolds\":300}}";
    const char *file = write_text("any.scene.json", text);
    const kf_placement said = {.speed = 15.0, .viscosity = 0.1, .yaw = 30.0, .yaw_given = true};
    const kf_placement refined = {.refine = 1}, not_refined = {.refine = KF_REFINE_NONE};
    const kf_placement misplaced[] = {{.cells = 10.0}, {.length = 2.0}, {.road = KF_ROAD_NO}, {.up = {2, 1}}};
    cJSON *document = NULL;
    kf_text notes = {0};
    kf_error error;
    kf_scene *scene = NULL;
    assert_int_equal(kf_scene_document_read(file, &document, &error), KF_OK);
    for (size_t i = 0; i < sizeof misplaced / sizeof *misplaced; i++) {
        assert_int_equal(kf_scene_document_change(file, document, &misplaced[i], &notes, &error),
                         KF_BAD_INPUT);
        assert_non_null(strstr(error.message, "places a mesh"));
    }
    cJSON_AddStringToObject(cJSON_AddObjectToObject(document, "model"), "rates", "adaptive_2020");
    assert_int_equal(kf_scene_document_change(file, document, &refined, &notes, &error), KF_OK);
    assert_true(part(document, "refine", "levels")->valuedouble == 1.0);
    assert_string_equal(part(document, "model", "rates")->valuestring, "k17");
    assert_non_null(strstr(notes.text, "k17 instead of adaptive_2020"));
    cJSON_AddStringToObject(cJSON_GetObjectItem(document, "model"), "outer_rates", "ones");
    assert_int_equal(kf_scene_document_change(file, document, &not_refined, &notes, &error), KF_OK);
    assert_null(part(document, "model", "outer_rates"));
    assert_null(cJSON_GetObjectItemCaseSensitive(document, "refine"));
    assert_int_equal(kf_scene_document_change(file, document, &said, &notes, &error), KF_OK);
    assert_true(part(document, "flow", "speed")->valuedouble == 15.0);
    assert_null(part(document, "flow", "reynolds"));
    char kept[KF_PATH];
    setenv("XDG_DATA_HOME", test_folder, 1);
    assert_int_equal(kf_scene_document_keep(document, "any-yaw30", kept, NULL, &error), KF_OK);
    if (kf_scene_open(kept, NULL, &scene, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_equal(scene->name, "any-yaw30");
    assert_true(fabs(scene->face_velocity[KF_ZMIN][0] - scene->reference_speed) < 1e-12);
    /* Turned, the square plate keeps its length. */
    const double turned = 2.0 * (cos(acos(-1.0) / 6.0) + 0.5) / scene->cell_size;
    assert_true(fabs(scene->solid_high[0] - scene->solid_low[0] - turned) < 1e-6);
    kf_scene_free(scene);
    cJSON_Delete(document);
    kf_text_free(&notes);
}

/* A stored scene recognises its mesh. */
static void test_a_kept_scene_refuses_another_mesh(void **state) {
    (void)state;
    const char *mesh = write_box("changed.obj");
    const kf_placement said = {.wind = {0, 1}, .up = {2, 1}, .road = KF_ROAD_NO, .cells = 20.0};
    cJSON *document = make_scene(mesh, &said);
    setenv("XDG_DATA_HOME", test_folder, 1);
    char kept[KF_PATH];
    kf_scene *scene = NULL;
    kf_error error;
    assert_int_equal(kf_scene_document_pin(document, &error), KF_OK);
    assert_int_equal(kf_scene_document_keep(document, "box", kept, NULL, &error), KF_OK);
    assert_int_equal(kf_scene_open(kept, NULL, &scene, &error), KF_OK);
    kf_scene_free(scene);
    FILE *file = fopen(mesh, "a");
    assert_non_null(file);
    fputs("# a remark\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(kf_scene_open(kept, NULL, &scene, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "is not the mesh from which this scene was made"));
    cJSON_Delete(document);
}

/* A scene file that kftune made is replaced by another one, but not if somebody changed it. */
static void test_no_work_is_overwritten(void **state) {
    (void)state;
    const char *mesh = write_box("changed.obj"), *file = test_path("way.scene.json");
    const kf_placement one = {.wind = {0, 1}, .up = {2, 1}, .cells = 20.0},
                       two = {.wind = {0, 1}, .up = {2, 1}, .cells = 20.0, .speed = 12.0};
    cJSON *first = make_scene(mesh, &one), *second = make_scene(mesh, &two);
    bool replaced = false;
    kf_error error;
    assert_int_equal(kf_scene_document_write(first, file, &replaced, &error), KF_OK);
    assert_int_equal(kf_scene_document_write(second, file, &replaced, &error), KF_OK);
    assert_true(replaced);
    cJSON_SetNumberValue(part(first, "flow", "speed"), 11.5);
    (void)unlink(file);
    assert_int_equal(kf_scene_document_write(first, file, &replaced, &error), KF_OK);
    assert_int_equal(kf_scene_document_write(second, file, &replaced, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "exists with other content"));
    assert_non_null(strstr(error.message, "flow.speed is 11.5 and 12"));
    cJSON_Delete(first);
    cJSON_Delete(second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_scene_is_the_same),
        cmocka_unit_test(test_refined_placement),
        cmocka_unit_test(test_a_written_scene_is_changed_with_all_that_follows),
        cmocka_unit_test(test_the_yaw_leaves_the_tunnel_alone),
        cmocka_unit_test(test_what_was_changed_by_hand_stays),
        cmocka_unit_test(test_any_scene_of_a_flow_is_changed_in_its_flow),
        cmocka_unit_test(test_a_kept_scene_refuses_another_mesh),
        cmocka_unit_test(test_no_work_is_overwritten),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
