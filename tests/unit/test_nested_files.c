/* Tests files of nested grids by levels, as VTK documents an OverlappingAMR. Faults: a cell in the wrong
 * place or on the wrong level. */
#include <hdf5.h>
#include <unistd.h>

#include "base/space/space_nearest.h"
#include "solver/output/vtkhdf.h"
#include "tests/unit/kinetic_fixture.h"
#include "tests/unit/levels_text.h"
#include "tests/unit/nested_stage.h"
#include "tests/unit/output_scratch.h"

enum { LEVELS = 3 };

static kf_plan *open_nested(stage *s) {
    kf_error error = {KF_OK, ""};
    kf_config config;
    static const char *const fixed[] = {"plan=fused", "storage=f32"};
    const flow f = {.state = vortices, .nodes = 12, .speed = 0.02, .stream = {0}, .rule = KF_RATE_ONES};
    begin(s, f, (const int[3]){12, 12, 12}, 0.01, LEVELS);
    for (int l = 0; l < LEVELS; l++)
        s->whole[l]->cell_size = 0.5 / (1 << l);
    must(nest(s, two_boxes, LEVELS, &error), &error);
    kf_space *space = open_space_of(s->whole[0], false, fixed, 2);
    must(kf_space_nearest(space, &config, &error), &error);
    kf_space_free(space);
    kf_plan *plan = open_plan(s->whole[0], &config);
    advance(plan, 1);
    return plan;
}

/* First cell of each level's box, in that level's own cells. */
static const int begins[LEVELS][3] = {{0, 0, 0}, {6, 6, 6}, {18, 18, 18}};
static const int sizes[LEVELS][3] = {{12, 12, 12}, {12, 12, 12}, {10, 10, 12}};

/* The finest level's values equal those of its cells in the fields on one grid, bit for bit. */
static void check_finest(kf_plan *plan, const kf_snapshot *finest) {
    kf_error error = {KF_OK, ""};
    kf_snapshot joined;
    must(kf_plan_snapshot(plan, &joined, &error), &error);
    const float *all = kf_snapshot_find(&joined, "velocity")->values,
                *own = kf_snapshot_find(finest, "velocity")->values;
    const int *n = joined.nodes, *size = sizes[LEVELS - 1], *first = begins[LEVELS - 1];
    for (int z = 0; z < size[2]; z++)
        for (int y = 0; y < size[1]; y++) {
            const int row = ((z + first[2]) * n[1] + y + first[1]) * n[0] + first[0];
            assert_memory_equal(all + 3 * (ptrdiff_t)row, own + 3 * (ptrdiff_t)((z * size[1] + y) * size[0]),
                                3 * (size_t)size[0] * sizeof *own);
        }
    kf_snapshot_free(&joined);
}

static void check_text(hid_t object, const char *name, const char *expected) {
    char text[32] = "";
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
    assert_true(attribute >= 0 && H5Tis_variable_str(type) == 0 && H5Tget_size(type) == strlen(expected));
    assert_true(H5Aread(attribute, type, text) >= 0);
    assert_string_equal(text, expected);
    H5Tclose(type);
    H5Aclose(attribute);
}

static void check_level(hid_t file, int level, const kf_snapshot *snapshot) {
    char path[64];
    int box[6];
    double spacing[3];
    (void)snprintf(path, sizeof path, "/VTKHDF/Level%d/AMRBox", level);
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_npoints(space), 6);
    assert_true(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, box) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    *strrchr(path, '/') = '\0';
    hid_t group = H5Gopen2(file, path, H5P_DEFAULT), attribute = H5Aopen(group, "Spacing", H5P_DEFAULT);
    assert_true(H5Aread(attribute, H5T_NATIVE_DOUBLE, spacing) >= 0);
    H5Aclose(attribute);
    for (int a = 0; a < 3; a++) {
        assert_int_equal(box[2 * a], begins[level][a]);
        assert_int_equal(box[2 * a + 1], begins[level][a] + sizes[level][a] - 1);
        assert_true(spacing[a] == snapshot->spacing[a] && spacing[a] == snapshot->spacing[0]);
    }
    float *values = kf_allocate(3 * snapshot->count * sizeof *values);
    set = H5Dopen2(group, "CellData/velocity", H5P_DEFAULT), space = H5Dget_space(set);
    hsize_t shape[2];
    assert_int_equal(H5Sget_simple_extent_dims(space, shape, NULL), 2);
    assert_true(shape[0] == snapshot->count && shape[1] == 3);
    assert_true(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    assert_memory_equal(values, kf_snapshot_find(snapshot, "velocity")->values,
                        3 * snapshot->count * sizeof *values);
    free(values);
    H5Sclose(space);
    H5Dclose(set);
    H5Gclose(group);
}

static void test_the_levels_are_those_of_one_grid(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    stage s;
    kf_plan *plan = open_nested(&s);
    kf_snapshot levels[LEVELS];
    for (int l = 0; l < LEVELS; l++)
        must(kf_flow_level_snapshot(plan, l, &levels[l], &error), &error);
    assert_true(levels[1].spacing[0] == levels[2].spacing[0] * 2.0);
    check_finest(plan, &levels[LEVELS - 1]);
    for (int compression = 0; compression < 2; compression++) {
        const char *path = in_scratch("levels.vtkhdf");
        must(kf_vtkhdf_write_levels(path, levels, LEVELS, compression, &error), &error);
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), root = H5Gopen2(file, "VTKHDF", H5P_DEFAULT);
        check_text(root, "Type", "OverlappingAMR");
        check_text(root, "GridDescription", "XYZ");
        for (int l = 0; l < LEVELS; l++)
            check_level(file, l, &levels[l]);
        H5Gclose(root);
        H5Fclose(file);
    }
    for (int l = 0; l < LEVELS; l++)
        kf_snapshot_free(&levels[l]);
    kf_plan_free(plan);
    end(&s);
}

static int open_all(void **state) {
    return make_scratch(state) != 0 || open_backend_for_variants(state) != 0;
}
static int close_all(void **state) {
    return close_backend(state) != 0 || remove_scratch(state) != 0;
}

/* Levels are described in words and in JSON, each box by its lower and its upper corner. */
static void test_levels_as_said(void **state) {
    (void)state;
    stage s;
    kf_plan *plan = open_nested(&s);
    const kf_scene *scene = s.whole[0];
    char *text = text_of_levels(scene);
    cJSON *list = kf_scene_levels_json(scene);
    assert_int_equal(cJSON_GetArraySize(list), LEVELS);
    for (int l = 0; l < LEVELS; l++) {
        const cJSON *level = cJSON_GetArrayItem(list, l);
        const double cell = scene->cell_size / (1 << l);
        double corners[2][3];
        for (int a = 0; a < 3; a++) {
            corners[0][a] = begins[l][a] * cell;
            corners[1][a] = (begins[l][a] + sizes[l][a]) * cell;
            assert_int_equal(cJSON_GetArrayItem(cJSON_GetObjectItem(level, "grid"), a)->valueint,
                             sizes[l][a]);
            assert_near(cJSON_GetArrayItem(cJSON_GetObjectItem(level, "low_m"), a)->valuedouble,
                        corners[0][a], 1e-12);
            assert_near(cJSON_GetArrayItem(cJSON_GetObjectItem(level, "high_m"), a)->valuedouble,
                        corners[1][a], 1e-12);
        }
        char said[160];
        (void)snprintf(said, sizeof said, "from %.4g %.4g %.4g to %.4g %.4g %.4g m\n", corners[0][0],
                       corners[0][1], corners[0][2], corners[1][0], corners[1][1], corners[1][2]);
        if (strstr(text, said) == NULL) fail_msg("level %d is not \"%s\" in:\n%s", l, said, text);
    }
    cJSON_Delete(list);
    free(text);
    kf_plan_free(plan);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_levels_are_those_of_one_grid),
                                       cmocka_unit_test(test_levels_as_said)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
