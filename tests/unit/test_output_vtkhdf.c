/* Tests field files against VTK's documentation of an ImageData in VTKHDF. Faults: a wrong unit, order of
 * axes or type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/output/vtkhdf.h"
#include "solver/output/vtkhdf_read.h"
#include "solver/picture/picture.h"
#include "tests/unit/output_scene.h"
#include "tests/unit/output_scratch.h"
#include "tests/unit/vtkhdf_file.h"

static void test_the_geometry_is_as_vtk_reads_it(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_snapshot snapshot;
    make_snapshot(scene, 250, &snapshot);
    kf_error error;
    assert_int_equal(kf_vtkhdf_write(in_scratch("geometry.vtkhdf"), &snapshot, 0, &error), KF_OK);
    hid_t file = H5Fopen(in_scratch("geometry.vtkhdf"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    hid_t root = H5Gopen2(file, "VTKHDF", H5P_DEFAULT);
    assert_true(root >= 0);
    check_type_attribute(root, "ImageData");
    check_numbers(root, "Version", H5T_INTEGER, 2, (double[]){2, 0});
    check_numbers(root, "WholeExtent", H5T_INTEGER, 6, (double[]){0, 47, 0, 23, 0, 19});
    check_numbers(root, "Origin", H5T_FLOAT, 3, (double[]){0.025, 0.025, 0.025});
    check_numbers(root, "Spacing", H5T_FLOAT, 3, (double[]){0.05, 0.05, 0.05});
    check_numbers(root, "Direction", H5T_FLOAT, 9, (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1});
    assert_true(fabs(read_single(file, "/VTKHDF/FieldData/time") - 0.5) < 1e-12);
    assert_true(fabs(read_single(file, "/VTKHDF/FieldData/step") - 250) < 1e-12);
    H5Gclose(root);
    H5Fclose(file);
    kf_snapshot_free(&snapshot);
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
                /* By Bernoulli the pressure coefficient is 1 - (u/U)^2. */
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
    kf_snapshot snapshot;
    make_snapshot(scene, 1, &snapshot);
    kf_error error;
    struct stat plain, compressed;
    assert_int_equal(kf_vtkhdf_write(in_scratch("fields.vtkhdf"), &snapshot, 0, &error), KF_OK);
    check_values(in_scratch("fields.vtkhdf"), scene);
    assert_int_equal(stat(in_scratch("fields.vtkhdf"), &plain), 0);
    assert_int_equal(kf_vtkhdf_write(in_scratch("fields.vtkhdf"), &snapshot, 1, &error), KF_OK);
    check_values(in_scratch("fields.vtkhdf"), scene);
    assert_int_equal(stat(in_scratch("fields.vtkhdf"), &compressed), 0);
    assert_true(compressed.st_size < plain.st_size);
    kf_snapshot_free(&snapshot);
    free_scene(scene);
}

static void test_kinematic_pressure_without_reference(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    scene->reference_speed = 0;
    kf_fields fields;
    make_fields(scene, &fields);
    kf_snapshot snapshot;
    make_snapshot(scene, 1, &snapshot);
    kf_error error;
    assert_int_equal(kf_vtkhdf_write(in_scratch("kinematic.vtkhdf"), &snapshot, 0, &error), KF_OK);
    hid_t file = H5Fopen(in_scratch("kinematic.vtkhdf"), H5F_ACC_RDONLY, H5P_DEFAULT);
    float *pressure = read_set(file, "/VTKHDF/PointData/kinematic_pressure", 3, (hsize_t[]){20, 24, 48});
    double unit = scene->cell_size / scene->time_step;
    for (size_t node = 0; node < 48; node++)
        assert_true(fabs(pressure[node] - (fields.density[node] - 1) * unit * unit / 3) < 1e-3);
    assert_true(H5Lexists(file, "/VTKHDF/PointData/pressure_coefficient", H5P_DEFAULT) == 0);
    free(pressure);
    H5Fclose(file);
    kf_fields_free(&fields);
    kf_snapshot_free(&snapshot);
    free_scene(scene);
}

/* Writes a snapshot of such nodes, whose values say where they are, and checks extent, shapes and values
 * by the rules of VTK's readers. No axis of one node is at the end, and an axis has two nodes where one
 * would come first. */
static void check_flat(const int nodes[3], const double extent[6], int rank, const hsize_t *shape) {
    kf_snapshot snapshot;
    kf_error error;
    kf_snapshot_of_nodes(&snapshot, nodes, 0.5, 1.0);
    float *p = kf_snapshot_add(&snapshot, "pressure_coefficient", "1", 1),
          *u = kf_snapshot_add(&snapshot, "velocity", "m/s", 3);
    for (size_t i = 0; i < snapshot.count; i++) {
        const size_t x = i % (size_t)nodes[0], y = i / (size_t)nodes[0] % (size_t)nodes[1],
                     z = i / (size_t)nodes[0] / (size_t)nodes[1];
        p[i] = (float)(100 * z + 10 * y + x);
        for (int a = 0; a < 3; a++)
            u[3 * i + (size_t)a] = p[i] + 0.25F * (float)a;
    }
    for (int compression = 0; compression < 2; compression++) {
        assert_int_equal(kf_vtkhdf_write(in_scratch("flat.vtkhdf"), &snapshot, compression, &error), KF_OK);
        hid_t file = H5Fopen(in_scratch("flat.vtkhdf"), H5F_ACC_RDONLY, H5P_DEFAULT);
        hid_t root = H5Gopen2(file, "VTKHDF", H5P_DEFAULT);
        check_numbers(root, "WholeExtent", H5T_INTEGER, 6, extent);
        hsize_t vectors[4] = {0};
        memcpy(vectors, shape, (size_t)rank * sizeof *shape);
        vectors[rank] = 3;
        float *pressure = read_set(file, "/VTKHDF/PointData/pressure_coefficient", rank, shape),
              *velocity = read_set(file, "/VTKHDF/PointData/velocity", rank + 1, vectors);
        const size_t wide[2] = {(size_t)extent[1] + 1, (size_t)extent[3] + 1};
        size_t count = 1;
        for (int r = 0; r < rank; r++)
            count *= shape[r];
        for (size_t i = 0; i < count; i++) {
            const size_t x = nodes[0] == 1 ? 0 : i % wide[0], y = nodes[1] == 1 ? 0 : i / wide[0] % wide[1],
                         z = i / wide[0] / wide[1];
            assert_true(pressure[i] == (float)(100 * z + 10 * y + x));
            assert_true(velocity[3 * i + 2] == pressure[i] + 0.5F);
        }
        free(pressure);
        free(velocity);
        H5Gclose(root);
        H5Fclose(file);
    }
    kf_snapshot_free(&snapshot);
}

static void test_flat_grids(void **state) {
    (void)state;
    check_flat((const int[3]){5, 4, 1}, (const double[6]){0, 4, 0, 3, 0, 0}, 2, (const hsize_t[]){4, 5});
    check_flat((const int[3]){5, 1, 1}, (const double[6]){0, 4, 0, 0, 0, 0}, 1, (const hsize_t[]){5});
    check_flat((const int[3]){1, 4, 3}, (const double[6]){0, 1, 0, 3, 0, 2}, 3, (const hsize_t[]){3, 4, 2});
    check_flat((const int[3]){5, 1, 3}, (const double[6]){0, 4, 0, 1, 0, 2}, 3, (const hsize_t[]){3, 2, 5});
    check_flat((const int[3]){1, 4, 1}, (const double[6]){0, 1, 0, 3, 0, 0}, 2, (const hsize_t[]){4, 2});
    /* A plane that is read back is the plane that was written. */
    kf_snapshot snapshot, again;
    kf_error error;
    kf_snapshot_of_nodes(&snapshot, (const int[3]){5, 4, 1}, 0.5, 1.0);
    float *u = kf_snapshot_add(&snapshot, "velocity", "m/s", 3);
    for (int i = 0; i < 60; i++)
        u[i] = (float)i;
    assert_int_equal(kf_vtkhdf_write(in_scratch("flat.vtkhdf"), &snapshot, 1, &error), KF_OK);
    assert_int_equal(kf_vtkhdf_read(in_scratch("flat.vtkhdf"), &again, &error), KF_OK);
    assert_true(again.nodes[0] == 5 && again.nodes[1] == 4 && again.nodes[2] == 1);
    assert_memory_equal(kf_snapshot_find(&again, "velocity")->values, u, 60 * sizeof *u);
    kf_snapshot_free(&snapshot);
    kf_snapshot_free(&again);
}

/* Fields that are read back are equal to those written, bit for bit. A picture of how far they exceed a
 * copy with a Cp that is less by 0.25 has that range. Files of other kinds are refused. */
static void test_read_again(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_snapshot snapshot, again;
    kf_error error;
    make_snapshot(scene, 7, &snapshot);
    assert_int_equal(kf_vtkhdf_write(in_scratch("again.vtkhdf"), &snapshot, 1, &error), KF_OK);
    assert_int_equal(kf_vtkhdf_read(in_scratch("again.vtkhdf"), &again, &error), KF_OK);
    assert_int_equal(again.step, 7);
    assert_true(again.count == snapshot.count && again.quantity_count == snapshot.quantity_count);
    for (size_t q = 0; q < again.quantity_count; q++) {
        const kf_quantity *one = &snapshot.quantities[q], *other = kf_snapshot_find(&again, one->name);
        assert_non_null(other);
        assert_memory_equal(one->values, other->values,
                            again.count * (size_t)one->components * sizeof *one->values);
    }
    float *pressure = kf_snapshot_find(&again, "pressure_coefficient")->values;
    for (size_t i = 0; i < again.count; i++)
        pressure[i] -= 0.25F;
    kf_picture_view view = {.field = KF_PICTURE_PRESSURE, .normal = KF_AXIS_AUTO, .minus = &again};
    double low, high;
    assert_int_equal(kf_picture_range(scene, &snapshot, &view, &low, &high, &error), KF_OK);
    assert_true(high == -low && high >= 0.25 && high < 0.26);
    kf_snapshot_free(&again);
    FILE *file = fopen(in_scratch("again.vtkhdf"), "r+");
    assert_int_equal(fseek(file, 0, SEEK_SET), 0);
    (void)fputs("this is no HDF5 file", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(kf_vtkhdf_read(in_scratch("again.vtkhdf"), &again, &error), KF_BAD_INPUT);
    kf_snapshot_free(&snapshot);
    free_scene(scene);
}

/* Puts a set of this many values into the file in the place of the velocity. `made` is the set's storage. */
static void put_velocity(const char *path, hid_t made, hsize_t count) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate_simple(1, &count, NULL);
    assert_true(file >= 0 && H5Ldelete(file, "VTKHDF/PointData/velocity", H5P_DEFAULT) >= 0);
    const hid_t set = H5Dcreate2(file, "VTKHDF/PointData/velocity", H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                                 made, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
}

/* Makes the file refer to the other one in one of three ways. With way 0 it has a velocity of its own, all
 * zeros. */
static void name_other(const char *path, const char *other, int way, hsize_t count) {
    const hid_t made = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &count, NULL);
    if (way == 1) assert_true(H5Pset_external(made, other, 0, count * sizeof(float)) >= 0);
    if (way == 2) assert_true(H5Pset_virtual(made, space, other, "values", space) >= 0);
    if (way < 3) put_velocity(path, made, count);
    if (way == 3) {
        const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(H5Ldelete(file, "VTKHDF/PointData", H5P_DEFAULT) >= 0);
        assert_true(H5Lcreate_external(other, "VTKHDF/PointData", file, "VTKHDF/PointData", H5P_DEFAULT,
                                       H5P_DEFAULT) >= 0);
        H5Fclose(file);
    }
    H5Sclose(space);
    H5Pclose(made);
}

/* A file of fields is read alone: not another file to which it refers as its storage, as a source of its
 * values or by a link, and not a plug-in for a filter that it names. */
static void test_names_no_other_file(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_snapshot snapshot, again;
    kf_error error;
    char other[512], path[512];
    make_snapshot(scene, 7, &snapshot);
    (void)snprintf(other, sizeof other, "%s", in_scratch("other.vtkhdf"));
    (void)snprintf(path, sizeof path, "%s", in_scratch("names.vtkhdf"));
    assert_int_equal(kf_vtkhdf_write(other, &snapshot, 1, &error), KF_OK);
    for (int way = 3; way >= 0; way--) {
        assert_int_equal(kf_vtkhdf_write(path, &snapshot, 1, &error), KF_OK);
        name_other(path, other, way, 3 * snapshot.count);
        const kf_status status = kf_vtkhdf_read(path, &again, &error);
        if (status != (way == 0 ? KF_OK : KF_BAD_INPUT)) fail_msg("way %d: %d", way, (int)status);
    }
    kf_snapshot_free(&again);
    unsigned loading = 1;
    assert_true(H5PLget_loading_state(&loading) >= 0);
    assert_int_equal(loading, 0);
    kf_snapshot_free(&snapshot);
    free_scene(scene);
}

/* A file of a few kilobytes can claim values of terabytes that it does not hold. No memory is taken for
 * them. */
static void test_claims_are_held(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_snapshot snapshot, again;
    kf_error error;
    make_snapshot(scene, 7, &snapshot);
    const char *path = in_scratch("claims.vtkhdf");
    assert_int_equal(kf_vtkhdf_write(path, &snapshot, 1, &error), KF_OK);
    static const int64_t extent[6] = {0, 65000, 0, 65000, 0, 100};
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), root = H5Gopen2(file, "VTKHDF", H5P_DEFAULT),
                at = H5Aopen(root, "WholeExtent", H5P_DEFAULT);
    assert_true(H5Awrite(at, H5T_NATIVE_INT64, extent) >= 0);
    H5Aclose(at);
    H5Gclose(root);
    H5Fclose(file);
    const hid_t made = H5Pcreate(H5P_DATASET_CREATE);
    put_velocity(path, made, (hsize_t)3 * 65001 * 65001 * 101);
    H5Pclose(made);
    assert_int_equal(kf_vtkhdf_read(path, &again, &error), KF_BAD_INPUT);
    kf_snapshot_free(&snapshot);
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
    kf_snapshot snapshot;
    make_snapshot(scene, 1, &snapshot);
    kf_error error;
    assert_int_equal(kf_vtkhdf_write(in_scratch("no/such/folder.vtkhdf"), &snapshot, 0, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "no/such/folder.vtkhdf"));
    assert_int_equal(mkdir(in_scratch("taken"), 0700), 0);
    int before = file_count();
    assert_int_equal(kf_vtkhdf_write(in_scratch("taken"), &snapshot, 0, &error), KF_BAD_INPUT);
    assert_int_equal(file_count(), before);
    kf_snapshot_free(&snapshot);
    free_scene(scene);
}

/* Writes a file in a child whose files may have at most this many bytes. The child ends as programs do. */
static int write_with_room(const kf_snapshot *snapshot, const char *path, rlim_t bytes) {
    const pid_t child = fork();
    if (child == 0) {
        kf_error error = {0};
        (void)signal(SIGXFSZ, SIG_IGN);
        (void)setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
        const kf_status status = kf_vtkhdf_write(path, snapshot, 0, &error);
        const bool said = status == KF_OK || (status == KF_HOST && strstr(error.message, path) != NULL &&
                                              strstr(error.message, "File too large") != NULL);
        exit(said ? (int)status : 99); /* not _exit: libraries' exit handlers run */
    }
    int ending = 0;
    assert_int_equal(waitpid(child, &ending, 0), child);
    assert_true(WIFEXITED(ending));
    return WEXITSTATUS(ending);
}

/* Kind of fault: a library's exit handler that fails because of an output that failed. */
static void test_no_room_at_any_place(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_snapshot snapshot;
    make_snapshot(scene, 1, &snapshot);
    const char *path = in_scratch("full.vtkhdf");
    struct stat whole;
    kf_error error;
    assert_int_equal(kf_vtkhdf_write(path, &snapshot, 0, &error), KF_OK);
    assert_int_equal(stat(path, &whole), 0);
    assert_int_equal(remove(path), 0);
    const int before = file_count();
    for (off_t bytes = 0; bytes < whole.st_size; bytes += whole.st_size / 40)
        assert_int_equal(write_with_room(&snapshot, path, (rlim_t)bytes), KF_HOST);
    assert_int_equal(file_count(), before);
    assert_int_equal(write_with_room(&snapshot, path, (rlim_t)whole.st_size + (4 << 20)), KF_OK);
    kf_snapshot_free(&snapshot);
    free_scene(scene);
}

static void test_blown_up_fields(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_fields fields;
    make_fields(scene, &fields);
    kf_error error;
    assert_int_equal(kf_fields_check(scene, &fields, 7, &error), KF_OK);
    size_t node = ((size_t)3 * 24 + 2) * 48 + 1;
    float kept = fields.velocity[1][node];
    fields.velocity[1][node] = 0.6F;
    assert_int_equal(kf_fields_check(scene, &fields, 7, &error), KF_GATE_FAILED);
    assert_non_null(strstr(error.message, "step 7, node (1,2,3)"));
    fields.velocity[1][node] = kept;
    fields.density[node] = INFINITY;
    assert_int_equal(kf_fields_check(scene, &fields, 8, &error), KF_GATE_FAILED);
    assert_non_null(strstr(error.message, "step 8, node (1,2,3)"));
    fields.density[node] = 1;
    fields.velocity[2][node] = NAN;
    assert_int_equal(kf_fields_check(scene, &fields, 9, &error), KF_GATE_FAILED);
    kf_fields_free(&fields);
    free_scene(scene);
}

/* HDF5 does nothing when the program ends. A file that could not be closed, as on a full disk, is not
 * closed again by its exit handler. This needs a process in which HDF5 has not begun. */
static void test_exit_closes_nothing(void **state) {
    (void)state;
    const char *path = in_scratch("left.h5");
    int ended = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        kf_error error;
        kf_snapshot snapshot;
        kf_snapshot_of_particles(&snapshot, 0);
        (void)kf_snapshot_add(&snapshot, "position", "m", 3);
        if (kf_vtkhdf_write(in_scratch("first.vtkhdf"), &snapshot, 0, &error) != KF_OK) _exit(1);
        const hid_t left = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        if (left < 0) _exit(2);
        exit(0);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    assert_true(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_closes_nothing),
        cmocka_unit_test(
            /* This makes a link, which HDF5 refuses once it has read a file. */
            test_names_no_other_file),
        cmocka_unit_test(test_the_geometry_is_as_vtk_reads_it),
        cmocka_unit_test(test_flat_grids),
        cmocka_unit_test(test_values_plain_and_compressed),
        cmocka_unit_test(test_kinematic_pressure_without_reference),
        cmocka_unit_test(test_read_again),
        cmocka_unit_test(test_claims_are_held),
        cmocka_unit_test(test_refused_and_left_clean),
        cmocka_unit_test(test_no_room_at_any_place),
        cmocka_unit_test(test_blown_up_fields),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
