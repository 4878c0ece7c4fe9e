#include "solver/output/vtkhdf.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "solver/output/library_guard.h"

/* --- HDF5 ------------------------------------------------------------------------------------------------
 */

/* A draft of the file in memory, in which HDF5 makes it. When HDF5 itself writes to a disk that becomes full,
 * the file cannot be closed. */
typedef struct output_file {
    hid_t file;
    kf_file_draft draft;
} output_file;

static void *give_memory(size_t size, H5FD_file_image_op_t what, void *draft) {
    (void)what;
    return kf_file_resize(draft, size) ? ((kf_file_draft *)draft)->data : NULL;
}

static void *resize_memory(void *memory, size_t size, H5FD_file_image_op_t what, void *draft) {
    (void)memory;
    return give_memory(size, what, draft);
}

/* Keeps the memory, because the draft outlives HDF5's file. */
static herr_t keep_memory(void *memory, H5FD_file_image_op_t what, void *draft) {
    (void)memory;
    (void)what;
    (void)draft;
    return 0;
}

static void *same_draft(void *draft) {
    return draft;
}

static herr_t keep_draft(void *draft) {
    (void)draft;
    return 0;
}

/* Creates the file in memory. Returns INVALID without memory. */
static hid_t create_in_memory(kf_file_draft *draft) {
    static const size_t step = (size_t)1 << 16;
    H5FD_file_image_callbacks_t memory = {.image_malloc = give_memory,
                                          .image_realloc = resize_memory,
                                          .image_free = keep_memory,
                                          .udata_copy = same_draft,
                                          .udata_free = keep_draft,
                                          .udata = draft};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = H5I_INVALID_HID;
    if (H5Pset_fapl_core(access, step, false) >= 0 && H5Pset_file_image_callbacks(access, &memory) >= 0)
        file = H5Fcreate(draft->target, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (access >= 0) H5Pclose(access);
    return file;
}

static kf_status begin_file(const char *path, output_file *file, kf_error *error) {
    /* HDF5 must not try again to close a file at the end of the program. */
    (void)H5dont_atexit();
    /* HDF5 prints its error stack by default. */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    KF_TRY(kf_file_begin(path, 1, &file->draft, error));
    file->file = create_in_memory(&file->draft);
    if (file->file >= 0) return KF_OK;
    return kf_file_end(&file->draft,
                       kf_fail(error, KF_MACHINE, "%s: the HDF5 library cannot begin the file", path), error);
}

static kf_status finish_file(output_file *file, bool good, kf_error *error) {
    good = good && H5Fflush(file->file, H5F_SCOPE_GLOBAL) >= 0;
    const ssize_t size = good ? H5Fget_file_image(file->file, NULL, 0) : 0;
    good = H5Fclose(file->file) >= 0 && size > 0 && kf_file_resize(&file->draft, (size_t)size);
    kf_status status = KF_OK;
    if (!good)
        status = kf_fail(error, KF_MACHINE, "%s: the HDF5 library cannot write the file", file->draft.target);
    return kf_file_end(&file->draft, status, error);
}

/* Creates a set without a time stamp, so that equal content gives equal files. */
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

/* --- Sets ------------------------------------------------------------------------------------------------
 */

/* Writes a set of values; count may be 0. */
static bool write_set(hid_t group, const char *name, int rank, const hsize_t *shape, hid_t stored,
                      hid_t given, const void *values) {
    hid_t space = H5Screate_simple(rank, shape, NULL);
    hid_t set = create_set(group, name, stored, space, H5P_DEFAULT);
    bool good = set >= 0 && (H5Sget_simple_extent_npoints(space) == 0 ||
                             H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    if (set >= 0) H5Dclose(set);
    H5Sclose(space);
    return good;
}

static bool write_integers(hid_t group, const char *name, size_t count, const int64_t *values) {
    const hsize_t shape = count;
    return write_set(group, name, 1, &shape, H5T_STD_I64LE, H5T_NATIVE_INT64, values);
}

/* Returns how many axes a set of nodes has: readers (VTK 9.3 to 9.7) want none of one node at the end. */
static int axes_of(const int nodes[3]) {
    int axes = 3;
    while (axes > 1 && nodes[axes - 1] == 1)
        axes--;
    return axes;
}

/* Sets the shape of compressed blocks. Nodes are compressed plane by plane, particles in portions. */
static int shape_of(const kf_snapshot *snapshot, int components, hsize_t shape[4], hsize_t chunk[4]) {
    enum { PORTION = 1 << 16 };
    const bool nodes = snapshot->on == KF_ON_NODES;
    int rank = 0;
    for (int a = axes_of(snapshot->nodes) - 1; a >= 0 && nodes; a--)
        shape[rank++] = (hsize_t)snapshot->nodes[a];
    if (!nodes) shape[rank++] = snapshot->count;
    for (int i = 0; i < rank; i++)
        chunk[i] = nodes ? shape[i] : shape[i] < PORTION ? shape[i] : PORTION;
    if (rank == 3) chunk[0] = 1;
    if (components > 1) shape[rank] = chunk[rank] = (hsize_t)components;
    return components > 1 ? rank + 1 : rank;
}

static bool write_quantity(hid_t group, const char *name, const kf_snapshot *snapshot,
                           const kf_quantity *quantity, int compression) {
    hsize_t shape[4], chunk[4];
    const int rank = shape_of(snapshot, quantity->components, shape, chunk);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, shape, NULL);
    bool good = true;
    if (compression > 0 && snapshot->count > 0)
        good = H5Pset_chunk(list, rank, chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
               H5Pset_deflate(list, (unsigned)compression) >= 0;
    hid_t set = create_set(group, name, H5T_IEEE_F32LE, space, list);
    good = good && set >= 0 && put_text(set, "unit", quantity->unit) &&
           (snapshot->count == 0 ||
            H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, quantity->values) >= 0);
    if (set >= 0) good = H5Dclose(set) >= 0 && good;
    H5Sclose(space);
    H5Pclose(list);
    return good;
}

/* --- Geometry --------------------------------------------------------------------------------------------
 */

static const char position[] = "position";

static hid_t open_group(hid_t parent, const char *name) {
    return H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

static bool write_kind(hid_t root, const char *type) {
    const int64_t version[2] = {2, 0};
    return put_numbers(root, "Version", H5T_STD_I64LE, H5T_NATIVE_INT64, 2, version) &&
           put_text(root, "Type", type);
}

static bool write_image(hid_t root, const kf_snapshot *snapshot) {
    const int *n = snapshot->nodes;
    const int64_t extent[6] = {0, n[0] - 1, 0, n[1] - 1, 0, n[2] - 1};
    const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    return write_kind(root, "ImageData") &&
           put_numbers(root, "WholeExtent", H5T_STD_I64LE, H5T_NATIVE_INT64, 6, extent) &&
           put_numbers(root, "Origin", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, snapshot->origin) &&
           put_numbers(root, "Spacing", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, snapshot->spacing) &&
           put_numbers(root, "Direction", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 9, direction);
}

/* Writes cells of one kind, each with size points. offsets has count + 1 entries, points has count times
 * size. */
static bool write_cells(hid_t root, const char *kind, size_t count, size_t size, const int64_t *offsets,
                        const int64_t *points) {
    const int64_t cells = (int64_t)count, ids = (int64_t)(count * size);
    hid_t group = open_group(root, kind);
    const bool good = group >= 0 && write_integers(group, "NumberOfCells", 1, &cells) &&
                      write_integers(group, "NumberOfConnectivityIds", 1, &ids) &&
                      write_integers(group, "Offsets", count + 1, offsets) &&
                      write_integers(group, "Connectivity", count * size, points);
    if (group >= 0) H5Gclose(group);
    return good;
}

/* Writes a vertex for each particle, or triangles between the vertices. The format needs all kinds of cells.
 */
static bool write_all_cells(hid_t root, const kf_snapshot *snapshot) {
    static const char *const kinds[] = {"Vertices", "Lines", "Polygons", "Strips"};
    const bool surface = snapshot->triangle_count > 0;
    const size_t count = surface ? snapshot->triangle_count : snapshot->count, size = surface ? 3 : 1;
    int64_t *offsets = kf_allocate((count + 1) * sizeof *offsets),
            *points = kf_allocate((count * size + 1) * sizeof *points);
    for (size_t i = 0; i <= count; i++)
        offsets[i] = (int64_t)(i * size);
    for (size_t i = 0; i < count * size; i++)
        points[i] = surface ? (int64_t)snapshot->triangles[i] : (int64_t)i;
    bool good = true;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const bool these = k == (surface ? 2 : 0);
        good = good && write_cells(root, kinds[k], these ? count : 0, size, offsets, points);
    }
    free(offsets);
    free(points);
    return good;
}

static bool write_points(hid_t root, const kf_snapshot *snapshot, int compression) {
    const kf_quantity *at = kf_snapshot_find(snapshot, position);
    const int64_t count = (int64_t)snapshot->count;
    return at != NULL && at->components == 3 && write_kind(root, "PolyData") &&
           write_integers(root, "NumberOfPoints", 1, &count) &&
           write_quantity(root, "Points", snapshot, at, compression) && write_all_cells(root, snapshot);
}

/* --- The file --------------------------------------------------------------------------------------------
 */

static bool write_moment(hid_t root, const kf_snapshot *snapshot) {
    const hsize_t one = 1;
    hid_t group = open_group(root, "FieldData");
    const bool good = group >= 0 &&
                      write_set(group, "time", 1, &one, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &snapshot->time) &&
                      write_set(group, "step", 1, &one, H5T_STD_I64LE, H5T_NATIVE_UINT64, &snapshot->step);
    if (group >= 0) H5Gclose(group);
    return good;
}

static bool write_quantities(hid_t root, const char *name, const kf_snapshot *snapshot, int compression) {
    hid_t group = open_group(root, name);
    bool good = group >= 0;
    for (size_t i = 0; i < snapshot->quantity_count && good; i++) {
        const kf_quantity *quantity = &snapshot->quantities[i];
        if (snapshot->on == KF_ON_PARTICLES && strcmp(quantity->name, position) == 0) continue;
        good = write_quantity(group, quantity->name, snapshot, quantity, compression);
    }
    if (group >= 0) H5Gclose(group);
    return good;
}

/* Makes a copy with two nodes along each axis before the last that has one: no two versions of VTK's reader
 * want the same of those. */
static void widen(const kf_snapshot *snapshot, kf_snapshot *wide) {
    int nodes[3], from[3];
    for (int a = 0; a < 3; a++)
        nodes[a] = a < axes_of(snapshot->nodes) && snapshot->nodes[a] == 1 ? 2 : snapshot->nodes[a];
    kf_snapshot_of_nodes(wide, nodes, 0.0, 1.0);
    memcpy(wide->origin, snapshot->origin, sizeof wide->origin);
    memcpy(wide->spacing, snapshot->spacing, sizeof wide->spacing);
    wide->time = snapshot->time;
    wide->step = snapshot->step;
    for (size_t q = 0; q < snapshot->quantity_count; q++) {
        const kf_quantity *one = &snapshot->quantities[q];
        const size_t size = (size_t)one->components * sizeof(float);
        char *values = (char *)kf_snapshot_add(wide, one->name, one->unit, one->components);
        for (size_t i = 0; i < wide->count; i++) {
            size_t rest = i, at = 0, step = 1;
            for (int a = 0; a < 3; a++) {
                from[a] = (int)(rest % (size_t)nodes[a]);
                rest /= (size_t)nodes[a];
                at += (snapshot->nodes[a] == 1 ? 0 : (size_t)from[a]) * step;
                step *= (size_t)snapshot->nodes[a];
            }
            memcpy(values + i * size, (const char *)one->values + at * size, size);
        }
    }
}

/* Says whether an axis before the last that has more than one node has one. */
static bool is_narrow(const kf_snapshot *snapshot) {
    bool narrow = false;
    for (int a = 0; a < axes_of(snapshot->nodes) - 1; a++)
        narrow = narrow || snapshot->nodes[a] == 1;
    return narrow && snapshot->on == KF_ON_NODES;
}

static kf_status write_file(output_file *file, const kf_snapshot *snapshot, int compression,
                            kf_error *error) {
    hid_t root = open_group(file->file, "VTKHDF");
    const bool nodes = snapshot->on == KF_ON_NODES;
    const bool good =
        root >= 0 && (nodes ? write_image(root, snapshot) : write_points(root, snapshot, compression)) &&
        write_moment(root, snapshot) && write_quantities(root, "PointData", snapshot, compression);
    if (root >= 0) H5Gclose(root);
    return finish_file(file, good, error);
}

/* Writes a level with its cells one after the other, whatever its boxes. */
static bool write_level(hid_t root, int number, const kf_snapshot *snapshot, int compression) {
    char name[24];
    int32_t box[6];
    const hsize_t shape[2] = {1, 6};
    kf_snapshot cells = *snapshot;
    cells.on = KF_ON_PARTICLES; /* a list */
    for (int a = 0; a < 3; a++) {
        box[2 * a] = (int32_t)lround(snapshot->origin[a] / snapshot->spacing[a] - 0.5);
        box[2 * a + 1] = box[2 * a] + snapshot->nodes[a] - 1;
    }
    (void)snprintf(name, sizeof name, "Level%d", number);
    hid_t group = open_group(root, name);
    const bool good =
        group >= 0 &&
        put_numbers(group, "Spacing", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, snapshot->spacing) &&
        write_set(group, "AMRBox", 2, shape, H5T_STD_I32LE, H5T_NATIVE_INT32, box) &&
        write_quantities(group, "CellData", &cells, compression);
    if (group >= 0) H5Gclose(group);
    return good;
}

static kf_status write_levels(output_file *file, const kf_snapshot *levels, int count, int compression,
                              kf_error *error) {
    static const double origin[3] = {0.0, 0.0, 0.0};
    hid_t root = open_group(file->file, "VTKHDF");
    bool good = root >= 0 && write_kind(root, "OverlappingAMR") && put_text(root, "GridDescription", "XYZ") &&
                put_numbers(root, "Origin", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, origin) &&
                write_moment(root, levels);
    for (int l = 0; l < count; l++)
        good = good && write_level(root, l, &levels[l], compression);
    if (root >= 0) H5Gclose(root);
    return finish_file(file, good, error);
}

kf_status kf_vtkhdf_write_levels(const char *path, const kf_snapshot *levels, int count, int compression,
                                 kf_error *error) {
    output_file file;
    kf_library_guard_begin(path, "HDF5", "go on from the last checkpoint");
    kf_status status = begin_file(path, &file, error);
    if (status == KF_OK) status = write_levels(&file, levels, count, compression, error);
    kf_library_guard_end();
    return status;
}

kf_status kf_vtkhdf_write(const char *path, const kf_snapshot *snapshot, int compression, kf_error *error) {
    output_file file;
    kf_snapshot wide = {.count = 0};
    const bool narrow = is_narrow(snapshot);
    if (narrow) widen(snapshot, &wide);
    kf_library_guard_begin(path, "HDF5", "go on from the last checkpoint");
    kf_status status = begin_file(path, &file, error);
    if (status == KF_OK) status = write_file(&file, narrow ? &wide : snapshot, compression, error);
    kf_library_guard_end();
    kf_snapshot_free(&wide);
    return status;
}
