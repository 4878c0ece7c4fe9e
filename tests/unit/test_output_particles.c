/* Tests the VTKHDF file of particles, read by HDF5 alone. Faults: a value of another particle, or a wrong
 * unit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/output/vtkhdf.h"
#include "tests/unit/output_scratch.h"
#include "tests/unit/vtkhdf_file.h"

enum { PARTICLES = 70000 }; /* more than one portion of compressed data */

static void make_particles(kf_snapshot *snapshot) {
    kf_snapshot_of_particles(snapshot, PARTICLES);
    float *position = kf_snapshot_add(snapshot, "position", "m", 3);
    float *density = kf_snapshot_add(snapshot, "density", "kg/m^3", 1);
    float *velocity = kf_snapshot_add(snapshot, "velocity", "m/s", 3);
    for (size_t i = 0; i < PARTICLES; i++) {
        density[i] = 1000 + 0.25F * (float)i;
        for (size_t c = 0; c < 3; c++) {
            position[3 * i + c] = 0.5F * (float)i + 0.125F * (float)c;
            velocity[3 * i + c] = -(float)(3 * i + c);
        }
    }
    snapshot->step = 40;
    snapshot->time = 0.25;
}

static void check_integers(hid_t file, const char *path, size_t count, const int64_t *expected) {
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(set >= 0);
    hid_t space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_ndims(space), 1);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count);
    int64_t *values = kf_allocate((count + 1) * sizeof *values);
    if (count > 0) assert_true(H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    assert_memory_equal(values, expected, count * sizeof *values);
    free(values);
    H5Sclose(space);
    H5Dclose(set);
}

static void check_cells(hid_t file, const char *kind, size_t count, const int64_t *numbers) {
    static const char *const sizes[] = {"NumberOfCells", "NumberOfConnectivityIds"};
    const int64_t cells = (int64_t)count;
    char path[64];
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "/VTKHDF/%s/%s", kind, sizes[i]);
        check_integers(file, path, 1, &cells);
    }
    (void)snprintf(path, sizeof path, "/VTKHDF/%s/Offsets", kind);
    check_integers(file, path, count + 1, numbers);
    (void)snprintf(path, sizeof path, "/VTKHDF/%s/Connectivity", kind);
    check_integers(file, path, count, numbers);
}

static void check_points(hid_t file, const kf_snapshot *snapshot) {
    const hsize_t count = PARTICLES;
    float *points = read_set(file, "/VTKHDF/Points", 2, (hsize_t[]){count, 3}),
          *density = read_set(file, "/VTKHDF/PointData/density", 1, &count),
          *velocity = read_set(file, "/VTKHDF/PointData/velocity", 2, (hsize_t[]){count, 3});
    assert_memory_equal(points, snapshot->quantities[0].values, 3 * count * sizeof(float));
    assert_memory_equal(density, snapshot->quantities[1].values, count * sizeof(float));
    assert_memory_equal(velocity, snapshot->quantities[2].values, 3 * count * sizeof(float));
    free(points);
    free(density);
    free(velocity);
}

/* The file is a PolyData with a vertex at each particle, plain and compressed. */
static void test_each_particle_is_a_vertex(void **state) {
    (void)state;
    kf_error error;
    kf_snapshot snapshot;
    make_particles(&snapshot);
    int64_t *numbers = kf_allocate((PARTICLES + 1) * sizeof *numbers);
    for (int64_t i = 0; i <= PARTICLES; i++)
        numbers[i] = i;
    for (int compression = 0; compression < 2; compression++) {
        const char *path = in_scratch("particles.vtkhdf");
        assert_int_equal(kf_vtkhdf_write(path, &snapshot, compression, &error), KF_OK);
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), root = H5Gopen2(file, "VTKHDF", H5P_DEFAULT);
        assert_true(root >= 0);
        check_type_attribute(root, "PolyData");
        check_numbers(root, "Version", H5T_INTEGER, 2, (double[]){2, 0});
        check_integers(file, "/VTKHDF/NumberOfPoints", 1, &(int64_t){PARTICLES});
        check_points(file, &snapshot);
        check_cells(file, "Vertices", PARTICLES, numbers);
        check_cells(file, "Lines", 0, numbers);
        check_cells(file, "Polygons", 0, numbers);
        check_cells(file, "Strips", 0, numbers);
        assert_true(H5Lexists(file, "/VTKHDF/PointData/position", H5P_DEFAULT) == 0);
        assert_true(fabs(read_single(file, "/VTKHDF/FieldData/time") - 0.25) < 1e-12);
        assert_true(fabs(read_single(file, "/VTKHDF/FieldData/step") - 40) < 1e-12);
        H5Gclose(root);
        H5Fclose(file);
    }
    free(numbers);
    kf_snapshot_free(&snapshot);
}

static void test_no_particles_at_all(void **state) {
    (void)state;
    kf_error error;
    kf_snapshot snapshot;
    kf_snapshot_of_particles(&snapshot, 0);
    assert_int_equal(kf_vtkhdf_write(in_scratch("lost.vtkhdf"), &snapshot, 0, &error), KF_MACHINE);
    (void)kf_snapshot_add(&snapshot, "position", "m", 3);
    assert_int_equal(kf_vtkhdf_write(in_scratch("lost.vtkhdf"), &snapshot, 1, &error), KF_OK);
    kf_snapshot_free(&snapshot);
}

static void test_values_that_are_not_finite(void **state) {
    (void)state;
    kf_error error;
    kf_snapshot snapshot;
    make_particles(&snapshot);
    assert_int_equal(kf_snapshot_check(&snapshot, &error), KF_OK);
    snapshot.quantities[2].values[3 * 17 + 1] = NAN;
    assert_int_equal(kf_snapshot_check(&snapshot, &error), KF_GATE_FAILED);
    assert_non_null(strstr(error.message, "step 40, particle 17: velocity"));
    kf_snapshot_free(&snapshot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_particle_is_a_vertex),
        cmocka_unit_test(test_no_particles_at_all),
        cmocka_unit_test(test_values_that_are_not_finite),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
