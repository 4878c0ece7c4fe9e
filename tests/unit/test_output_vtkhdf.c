/* Field files hold what VTK's documentation asks of an ImageData in VTKHDF, in SI units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <hdf5.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scene/scene.h"
#include "solver/output/sanity.h"
#include "solver/output/vtkhdf.h"
#include "tests/unit/output_scene.h"
#include "tests/unit/output_scratch.h"

/* --- reading ---------------------------------------------------------------------------------------------
 */

static void check_numbers(hid_t object, const char *name, H5T_class_t kind, int count,
                          const double *expected) {
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    assert_true(attribute >= 0);
    hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    assert_int_equal(H5Sget_simple_extent_ndims(space), 1);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count);
    assert_int_equal(H5Tget_class(type), kind);
    double values[9];
    assert_true(H5Aread(attribute, H5T_NATIVE_DOUBLE, values) >= 0);
    for (int i = 0; i < count; i++)
        assert_true(fabs(values[i] - expected[i]) < 1e-12);
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(attribute);
}

/* VTK compares the bytes of a fixed-length ASCII string. */
static void check_type_attribute(hid_t root) {
    hid_t attribute = H5Aopen(root, "Type", H5P_DEFAULT);
    assert_true(attribute >= 0);
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    assert_int_equal(H5Tget_class(type), H5T_STRING);
    assert_int_equal(H5Tis_variable_str(type), 0);
    assert_int_equal(H5Tget_cset(type), H5T_CSET_ASCII);
    assert_int_equal(H5Tget_size(type), 9);
    assert_int_equal(H5Sget_simple_extent_type(space), H5S_SCALAR);
    char text[10] = "";
    assert_true(H5Aread(attribute, type, text) >= 0);
    assert_string_equal(text, "ImageData");
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
}

/* The set's values as float; shape must be as given. Caller frees. */
static float *read_set(hid_t file, const char *path, int rank, const hsize_t *shape) {
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(set >= 0);
    hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
    assert_true(H5Tequal(type, H5T_IEEE_F32LE) > 0);
    hsize_t found[4];
    H5Sget_simple_extent_dims(space, found, NULL);
    size_t count = 1;
    for (int i = 0; i < rank; i++) {
        assert_int_equal(found[i], shape[i]);
        count *= shape[i];
    }
    float *values = kf_allocate(count * sizeof *values);
    assert_true(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(set);
    return values;
}

static double read_single(hid_t file, const char *path) {
    double value = -1;
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0);
    H5Dclose(set);
    return value;
}

/* --- tests -----------------------------------------------------------------------------------------------
 */

static void test_geometry(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_fields fields;
    make_fields(scene, &fields);
    kf_error error;
    assert_int_equal(kf_vtkhdf_write(in_scratch("geometry.vtkhdf"), scene, &fields, NULL, 250, 0, &error),
                     KF_OK);
    hid_t file = H5Fopen(in_scratch("geometry.vtkhdf"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    hid_t root = H5Gopen2(file, "VTKHDF", H5P_DEFAULT);
    assert_true(root >= 0);
    check_type_attribute(root);
    check_numbers(root, "Version", H5T_INTEGER, 2, (double[]){2, 0});
    check_numbers(root, "WholeExtent", H5T_INTEGER, 6, (double[]){0, 47, 0, 23, 0, 19});
    check_numbers(root, "Origin", H5T_FLOAT, 3, (double[]){0.025, 0.025, 0.025});
    check_numbers(root, "Spacing", H5T_FLOAT, 3, (double[]){0.05, 0.05, 0.05});
    check_numbers(root, "Direction", H5T_FLOAT, 9, (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1});
    assert_true(fabs(read_single(file, "/VTKHDF/FieldData/time") - 0.5) < 1e-12);
    assert_true(fabs(read_single(file, "/VTKHDF/FieldData/step") - 250) < 1e-12);
    H5Gclose(root);
    H5Fclose(file);
    kf_fields_free(&fields);
    free_scene(scene);
}

static void check_values(const char *path, const kf_scene *scene) {
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    float *velocity = read_set(file, "/VTKHDF/PointData/velocity", 4, (hsize_t[]){20, 24, 48, 3});
    float *pressure = read_set(file, "/VTKHDF/PointData/pressure_coefficient", 3, (hsize_t[]){20, 24, 48});
    const double unit = scene->cell_size / scene->time_step;
    for (int k = 0; k < 20; k += 3) {
        for (int j = 0; j < 24; j += 5) {
            for (int i = 0; i < 48; i += 7) {
                size_t node = ((size_t)k * 24 + (size_t)j) * 48 + (size_t)i;
                double density, wanted[3], square = 0;
                node_flow((double[3]){i, j, k}, &density, wanted);
                for (size_t a = 0; a < 3; a++) {
                    assert_true(fabs(velocity[3 * node + a] - wanted[a] * unit) < 1e-5);
                    square += wanted[a] * wanted[a];
                }
                /* Bernoulli: pressure coefficient 1 - (u/U)^2. */
                assert_true(fabs(pressure[node] - (1 - square / (inflow_speed * inflow_speed))) < 1e-4);
            }
        }
    }
    free(pressure);
    free(velocity);
    H5Fclose(file);
}

static void test_values_plain_and_compressed(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_fields fields;
    make_fields(scene, &fields);
    kf_error error;
    struct stat plain, compressed;
    assert_int_equal(kf_vtkhdf_write(in_scratch("fields.vtkhdf"), scene, &fields, NULL, 1, 0, &error), KF_OK);
    check_values(in_scratch("fields.vtkhdf"), scene);
    assert_int_equal(stat(in_scratch("fields.vtkhdf"), &plain), 0);
    assert_int_equal(kf_vtkhdf_write(in_scratch("fields.vtkhdf"), scene, &fields, NULL, 1, 1, &error), KF_OK);
    check_values(in_scratch("fields.vtkhdf"), scene);
    assert_int_equal(stat(in_scratch("fields.vtkhdf"), &compressed), 0);
    assert_true(compressed.st_size < plain.st_size);
    kf_fields_free(&fields);
    free_scene(scene);
}

static void test_kinematic_pressure_without_reference(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    scene->reference_speed = 0;
    kf_fields fields;
    make_fields(scene, &fields);
    kf_error error;
    assert_int_equal(kf_vtkhdf_write(in_scratch("kinematic.vtkhdf"), scene, &fields, NULL, 1, 0, &error),
                     KF_OK);
    hid_t file = H5Fopen(in_scratch("kinematic.vtkhdf"), H5F_ACC_RDONLY, H5P_DEFAULT);
    float *pressure = read_set(file, "/VTKHDF/PointData/kinematic_pressure", 3, (hsize_t[]){20, 24, 48});
    double unit = scene->cell_size / scene->time_step;
    for (size_t node = 0; node < 48; node++)
        assert_true(fabs(pressure[node] - (fields.density[node] - 1) * unit * unit / 3) < 1e-3);
    assert_true(H5Lexists(file, "/VTKHDF/PointData/pressure_coefficient", H5P_DEFAULT) == 0);
    free(pressure);
    H5Fclose(file);
    kf_fields_free(&fields);
    free_scene(scene);
}

static int file_count(void) {
    int count = 0;
    DIR *entries = opendir(scratch);
    while (readdir(entries))
        count++;
    closedir(entries);
    return count;
}

static void test_refused_and_left_clean(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_fields fields;
    make_fields(scene, &fields);
    kf_error error;
    assert_int_equal(kf_vtkhdf_write(in_scratch("no/such/folder.vtkhdf"), scene, &fields, NULL, 1, 0, &error),
                     KF_MACHINE);
    assert_non_null(strstr(error.message, "no/such/folder.vtkhdf"));
    /* The target is a folder: the data is written, but cannot take its place. */
    assert_int_equal(mkdir(in_scratch("taken"), 0700), 0);
    int before = file_count();
    assert_int_equal(kf_vtkhdf_write(in_scratch("taken"), scene, &fields, NULL, 1, 0, &error), KF_MACHINE);
    assert_int_equal(file_count(), before);
    kf_fields_free(&fields);
    free_scene(scene);
}

static void test_blown_up_fields(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_fields fields;
    make_fields(scene, &fields);
    kf_error error;
    assert_int_equal(kf_fields_check(&fields, 7, &error), KF_OK);
    size_t node = ((size_t)3 * 24 + 2) * 48 + 1;
    float kept = fields.velocity[1][node];
    fields.velocity[1][node] = 0.6F;
    assert_int_equal(kf_fields_check(&fields, 7, &error), KF_GATE_FAILED);
    assert_non_null(strstr(error.message, "step 7, node (1,2,3)"));
    fields.velocity[1][node] = kept;
    fields.density[node] = INFINITY;
    assert_int_equal(kf_fields_check(&fields, 8, &error), KF_GATE_FAILED);
    assert_non_null(strstr(error.message, "step 8, node (1,2,3)"));
    fields.density[node] = 1;
    fields.velocity[2][node] = NAN;
    assert_int_equal(kf_fields_check(&fields, 9, &error), KF_GATE_FAILED);
    kf_fields_free(&fields);
    free_scene(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_geometry),
        cmocka_unit_test(test_values_plain_and_compressed),
        cmocka_unit_test(test_kinematic_pressure_without_reference),
        cmocka_unit_test(test_refused_and_left_clean),
        cmocka_unit_test(test_blown_up_fields),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
