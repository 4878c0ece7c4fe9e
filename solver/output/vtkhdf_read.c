#include "solver/output/vtkhdf_read.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <string.h>

#include "solver/output/library_guard.h"

static bool read_attribute(hid_t root, const char *name, hid_t type, int count, void *values) {
    const hid_t handle = H5Aexists(root, name) > 0 ? H5Aopen(root, name, H5P_DEFAULT) : H5I_INVALID_HID;
    if (handle < 0) return false;
    const hid_t space = H5Aget_space(handle);
    const bool good = H5Sget_simple_extent_npoints(space) == count && H5Aread(handle, type, values) >= 0;
    H5Sclose(space);
    H5Aclose(handle);
    return good;
}

/* Restricts HDF5 to the given file. By default it loads plug-ins for filters that a file names, and follows
 * links to other files. */
static void stay_in_file(void) {
    (void)H5PLset_loading_state(0);
    (void)H5Lunregister(H5L_TYPE_EXTERNAL);
}

/* Returns whether a set's values lie in the file itself, and are so many. */
static bool holds(hid_t set, size_t count) {
    const hid_t made = H5Dget_create_plist(set), space = H5Dget_space(set);
    const bool good = H5Pget_layout(made) != H5D_VIRTUAL && H5Pget_external_count(made) == 0 &&
                      H5Sget_simple_extent_npoints(space) == (hssize_t)count;
    H5Sclose(space);
    H5Pclose(made);
    return good;
}

static bool read_set(hid_t root, const char *name, hid_t type, size_t count, void *values) {
    const hid_t set = H5Dopen2(root, name, H5P_DEFAULT);
    if (set < 0) return false;
    const bool good = holds(set, count) && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    H5Dclose(set);
    return good;
}

/* Returns the size in bytes of an object's file, or 0 if it is not known. */
static hsize_t size_of_file(hid_t object) {
    hsize_t size = 0;
    const hid_t file = H5Iget_file_id(object);
    if (file < 0 || H5Fget_filesize(file, &size) < 0) size = 0;
    if (file >= 0) H5Fclose(file);
    return size;
}

/* Reads a quantity if the file has it. It allocates memory only when the file can contain the values:
 * compression reduces them to a thousandth at most. */
static bool read_quantity(hid_t root, const char *name, const char *unit, int components,
                          kf_snapshot *snapshot) {
    enum { MOST_PACKED = 1100 };
    const size_t count = snapshot->count * (size_t)components;
    char path[64];
    (void)snprintf(path, sizeof path, "PointData/%s", name);
    const htri_t there = H5Lexists(root, path, H5P_DEFAULT);
    if (there <= 0) return there == 0;
    if (count * sizeof(float) / MOST_PACKED > size_of_file(root)) return false;
    float *values = kf_snapshot_add(snapshot, name, unit, components);
    return read_set(root, path, H5T_NATIVE_FLOAT, count, values);
}

/* Reads the root of an image. Returns false when it is not one. */
static bool read_image(hid_t root, kf_snapshot *snapshot) {
    enum { LONGEST_AXIS = 1 << 16 };
    int64_t extent[6];
    double origin[3], spacing[3];
    int nodes[3];
    if (!read_attribute(root, "WholeExtent", H5T_NATIVE_INT64, 6, extent) ||
        !read_attribute(root, "Origin", H5T_NATIVE_DOUBLE, 3, origin) ||
        !read_attribute(root, "Spacing", H5T_NATIVE_DOUBLE, 3, spacing))
        return false;
    for (int a = 0; a < 3; a++) {
        if (extent[2 * a] != 0 || extent[2 * a + 1] < 0 || extent[2 * a + 1] >= LONGEST_AXIS) return false;
        nodes[a] = (int)extent[2 * a + 1] + 1;
    }
    kf_snapshot_of_nodes(snapshot, nodes, origin[0], spacing[0]);
    return H5Lexists(root, "PointData", H5P_DEFAULT) > 0 &&
           read_set(root, "FieldData/time", H5T_NATIVE_DOUBLE, 1, &snapshot->time) &&
           read_set(root, "FieldData/step", H5T_NATIVE_UINT64, 1, &snapshot->step) &&
           read_quantity(root, "velocity", "m/s", 3, snapshot) &&
           read_quantity(root, "pressure_coefficient", "1", 1, snapshot) &&
           read_quantity(root, "kinematic_pressure", "m^2/s^2", 1, snapshot);
}

/* Notes where HDF5 says that memory lacks. Of a file that cannot be opened it tells the errno alone. */
static herr_t note_entry(unsigned number, const H5E_error2_t *entry, void *lack) {
    (void)number;
    if (entry->min_num == H5E_NOSPACE || entry->min_num == H5E_CANTALLOC) *(int *)lack = ENOMEM;
    return 0;
}

/* Handles each failure. By default HDF5 would print it. */
static herr_t note_failure(hid_t stack, void *lack) {
    if (kf_errno_is_machines(errno)) *(int *)lack = errno;
    return H5Ewalk2(stack, H5E_WALK_UPWARD, note_entry, lack);
}

/* Opens the file's root, by HDF5 that tells failures to note_failure alone. Both are closed by close_root. */
static bool open_root(const char *path, int *lack, hid_t *file, hid_t *root) {
    *file = *root = H5I_INVALID_HID;
    if (H5open() < 0 || H5Eset_auto2(H5E_DEFAULT, note_failure, lack) < 0) return false;
    stay_in_file();
    errno = 0;
    *file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (*file >= 0) *root = H5Gopen2(*file, "VTKHDF", H5P_DEFAULT);
    return true;
}

static void close_root(hid_t file, hid_t root) {
    if (root >= 0) H5Gclose(root);
    if (file >= 0) H5Fclose(file);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

double kf_vtkhdf_read_time(const char *path) {
    int lack = 0;
    hid_t file, root;
    double time = 0.0;
    kf_library_guard_begin(path, "HDF5", "try again");
    const bool begun = open_root(path, &lack, &file, &root);
    const bool good = begun && root >= 0 && read_set(root, "FieldData/time", H5T_NATIVE_DOUBLE, 1, &time);
    if (begun) close_root(file, root);
    kf_library_guard_end();
    return good && isfinite(time) ? time : (double)NAN;
}

/* Reads the fields of one grid. HDF5 may end the program on a damaged file, so the guard is set around it. */
kf_status kf_vtkhdf_read(const char *path, kf_snapshot *snapshot, kf_error *error) {
    /* The errno of a lack of memory or files. */
    int lack = 0;
    *snapshot = (kf_snapshot){.count = 0};
    kf_library_guard_begin(path, "HDF5", "try again");
    hid_t file, root;
    if (!open_root(path, &lack, &file, &root)) {
        kf_library_guard_end();
        return kf_fail(error, KF_HOST, "%s: the HDF5 library cannot begin, as without memory", path);
    }
    const bool good = root >= 0 && read_image(root, snapshot);
    close_root(file, root);
    kf_library_guard_end();
    if (good) return KF_OK;
    kf_snapshot_free(snapshot);
    if (lack != 0) return kf_fail(error, KF_HOST, "%s: cannot be read: %s", path, strerror(lack));
    return kf_fail(error, KF_BAD_INPUT, "%s: has no fields of a flow on one grid, as kftune run writes them",
                   path);
}
