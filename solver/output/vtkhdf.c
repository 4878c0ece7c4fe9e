#include "solver/output/vtkhdf.h"

#include <errno.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/text.h"
#include "scene/scene.h"

/* --- HDF5 ------------------------------------------------------------------------------------------------
 */

/* A file under a temporary name, which takes its place when it is finished. */
typedef struct output_file {
    hid_t file;
    char path[KF_PATH], temporary[KF_PATH];
} output_file;

static kf_status begin_file(const char *path, output_file *file, kf_error *error) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* it prints its error stack unless told not to */
    KF_TRY(kf_path(file->path, error, "%s", path));
    KF_TRY(kf_path(file->temporary, error, "%s.%ld.part", path, (long)getpid()));
    errno = 0;
    file->file = H5Fcreate(file->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file->file >= 0) return KF_OK;
    return kf_fail(error, KF_MACHINE, "%s: cannot create the file%s%s", path, errno ? ": " : "",
                   errno ? strerror(errno) : "");
}

static kf_status finish_file(output_file *file, bool good, kf_error *error) {
    errno = 0;
    good = H5Fclose(file->file) >= 0 && good;
    if (good && rename(file->temporary, file->path) == 0) return KF_OK;
    int reason = errno;
    unlink(file->temporary);
    return kf_fail(error, KF_MACHINE, "%s: cannot write the file: %s", file->path,
                   reason ? strerror(reason) : "the HDF5 library refused, perhaps the disk is full");
}

/* A set without the time of day in it, so that equal content gives equal files. */
static hid_t create_set(hid_t parent, const char *name, hid_t type, hid_t space, hid_t list) {
    hid_t timeless = list == H5P_DEFAULT ? H5Pcreate(H5P_DATASET_CREATE) : H5Pcopy(list);
    hid_t set = H5I_INVALID_HID;
    if (H5Pset_obj_track_times(timeless, false) >= 0)
        set = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, timeless, H5P_DEFAULT);
    H5Pclose(timeless);
    return set;
}

static bool attribute(hid_t object, const char *name, hid_t type, hid_t given, hid_t space,
                      const void *values) {
    hid_t handle = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = handle >= 0 && H5Awrite(handle, given, values) >= 0;
    if (handle >= 0) H5Aclose(handle);
    return good;
}

static bool put_numbers(hid_t object, const char *name, hid_t stored, hid_t given, int count,
                        const void *values) {
    hsize_t size = (hsize_t)count;
    hid_t space = H5Screate_simple(1, &size, NULL);
    bool good = attribute(object, name, stored, given, space, values);
    H5Sclose(space);
    return good;
}

static bool put_text(hid_t object, const char *name, const char *text) {
    size_t length = strlen(text);
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    bool good = H5Tset_size(type, length ? length : 1) >= 0 && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                attribute(object, name, type, type, space, text);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

/* --- the arrays ------------------------------------------------------------------------------------------
 */

/* One array being written plane by plane, so that the interleaved copy stays small. */
typedef struct output_array {
    hid_t set, space;
    int components;
    hsize_t planes, rows, columns;
} output_array;

static bool begin_array(hid_t group, const char *name, const char *unit, const int nodes[3], int components,
                        int compression, output_array *array) {
    *array = (output_array){.components = components,
                            .planes = (hsize_t)nodes[2],
                            .rows = (hsize_t)nodes[1],
                            .columns = (hsize_t)nodes[0]};
    hsize_t shape[4] = {array->planes, array->rows, array->columns, 3};
    hsize_t chunk[4] = {1, array->rows, array->columns, 3};
    int rank = components == 1 ? 3 : 4;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    bool good = true;
    if (compression > 0) {
        good = H5Pset_chunk(list, rank, chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
               H5Pset_deflate(list, (unsigned)compression) >= 0;
    }
    array->space = H5Screate_simple(rank, shape, NULL);
    array->set = create_set(group, name, H5T_IEEE_F32LE, array->space, list);
    H5Pclose(list);
    return good && array->set >= 0 && put_text(array->set, "unit", unit);
}

static bool write_plane(const output_array *array, int plane, const float *values) {
    int rank = array->components == 1 ? 3 : 4;
    hsize_t start[4] = {(hsize_t)plane, 0, 0, 0}, count[4] = {1, array->rows, array->columns, 3};
    hid_t memory = H5Screate_simple(rank, count, NULL);
    bool good = H5Sselect_hyperslab(array->space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                H5Dwrite(array->set, H5T_NATIVE_FLOAT, memory, array->space, H5P_DEFAULT, values) >= 0;
    H5Sclose(memory);
    return good;
}

static bool end_array(output_array *array) {
    bool good = array->set < 0 || H5Dclose(array->set) >= 0;
    H5Sclose(array->space);
    return good;
}

static bool write_velocity(hid_t group, const kf_scene *scene, const kf_fields *fields, int compression) {
    output_array array;
    bool good = begin_array(group, "velocity", "m/s", scene->nodes, 3, compression, &array);
    double unit = scene->cell_size / scene->time_step;
    size_t plane_size = (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    float *plane = kf_allocate(3 * plane_size * sizeof *plane);
    for (int z = 0; good && z < scene->nodes[2]; z++) {
        for (size_t c = 0; c < 3; c++) {
            const float *from = fields->velocity[c] + (size_t)z * plane_size;
            for (size_t i = 0; i < plane_size; i++)
                plane[3 * i + c] = (float)(from[i] * unit);
        }
        good = write_plane(&array, z, plane);
    }
    free(plane);
    return end_array(&array) && good;
}

static bool write_pressure(hid_t group, const kf_scene *scene, const kf_fields *fields, int compression) {
    bool coefficient = scene->reference_speed > 0;
    double speed = coefficient ? scene->reference_speed : scene->cell_size / scene->time_step;
    /* p = (density - 1) c_s^2 with c_s^2 = 1/3, per unit of reference density. */
    double unit = coefficient ? 1 / (3 * 0.5 * speed * speed) : speed * speed / 3;
    output_array array;
    bool good = begin_array(group, coefficient ? "pressure_coefficient" : "kinematic_pressure",
                            coefficient ? "1" : "m^2/s^2", scene->nodes, 1, compression, &array);
    size_t plane_size = (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    float *plane = kf_allocate(plane_size * sizeof *plane);
    for (int z = 0; good && z < scene->nodes[2]; z++) {
        const float *from = fields->density + (size_t)z * plane_size;
        for (size_t i = 0; i < plane_size; i++)
            plane[i] = (float)((from[i] - 1.0) * unit);
        good = write_plane(&array, z, plane);
    }
    free(plane);
    return end_array(&array) && good;
}

static bool write_smoke(hid_t group, const kf_scene *scene, const float *smoke, int compression) {
    output_array array;
    bool good = begin_array(group, "smoke", "tracers a cell", scene->nodes, 1, compression, &array);
    size_t plane_size = (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    for (int z = 0; good && z < scene->nodes[2]; z++)
        good = write_plane(&array, z, smoke + (size_t)z * plane_size);
    return end_array(&array) && good;
}

static bool write_one(hid_t group, const char *name, hid_t stored, hid_t given, const void *value) {
    hsize_t one = 1;
    hid_t space = H5Screate_simple(1, &one, NULL);
    hid_t set = create_set(group, name, stored, space, H5P_DEFAULT);
    bool good = set >= 0 && H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0;
    if (set >= 0) H5Dclose(set);
    H5Sclose(space);
    return good;
}

static bool write_geometry(hid_t group, const kf_scene *scene) {
    const long long version[2] = {2, 0};
    const long long extent[6] = {0, scene->nodes[0] - 1, 0, scene->nodes[1] - 1, 0, scene->nodes[2] - 1};
    double h = scene->cell_size;
    const double origin[3] = {h / 2, h / 2, h / 2}, spacing[3] = {h, h, h};
    const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    return put_numbers(group, "Version", H5T_STD_I64LE, H5T_NATIVE_LLONG, 2, version) &&
           put_text(group, "Type", "ImageData") &&
           put_numbers(group, "WholeExtent", H5T_STD_I64LE, H5T_NATIVE_LLONG, 6, extent) &&
           put_numbers(group, "Origin", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, origin) &&
           put_numbers(group, "Spacing", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, spacing) &&
           put_numbers(group, "Direction", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 9, direction);
}

static bool write_time(hid_t group, const kf_scene *scene, uint64_t step) {
    double time = (double)step * scene->time_step;
    return write_one(group, "time", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &time) &&
           write_one(group, "step", H5T_STD_I64LE, H5T_NATIVE_UINT64, &step);
}

static hid_t open_group(hid_t parent, const char *name) {
    return H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

kf_status kf_vtkhdf_write(const char *path, const kf_scene *scene, const kf_fields *fields,
                          const float *smoke, uint64_t step, int compression, kf_error *error) {
    output_file file;
    KF_TRY(begin_file(path, &file, error));
    hid_t root = open_group(file.file, "VTKHDF");
    hid_t points = open_group(root, "PointData"), whole = open_group(root, "FieldData");
    bool good = root >= 0 && points >= 0 && whole >= 0 && write_geometry(root, scene) &&
                write_time(whole, scene, step) && write_velocity(points, scene, fields, compression) &&
                write_pressure(points, scene, fields, compression) &&
                (smoke == NULL || write_smoke(points, scene, smoke, compression));
    if (whole >= 0) H5Gclose(whole);
    if (points >= 0) H5Gclose(points);
    if (root >= 0) H5Gclose(root);
    return finish_file(&file, good, error);
}
