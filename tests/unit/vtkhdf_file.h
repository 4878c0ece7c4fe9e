/* Reads VTKHDF files by HDF5 alone and checks them. */
#ifndef KF_TESTS_UNIT_VTKHDF_FILE_H
#define KF_TESTS_UNIT_VTKHDF_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <hdf5.h>
#include <math.h>
#include <string.h>

#include "base/util/memory.h"

static inline void check_numbers(hid_t object, const char *name, H5T_class_t kind, int count,
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
static inline void check_type_attribute(hid_t root, const char *expected) {
    hid_t attribute = H5Aopen(root, "Type", H5P_DEFAULT);
    assert_true(attribute >= 0);
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    assert_int_equal(H5Tget_class(type), H5T_STRING);
    assert_int_equal(H5Tis_variable_str(type), 0);
    assert_int_equal(H5Tget_cset(type), H5T_CSET_ASCII);
    assert_int_equal(H5Tget_size(type), strlen(expected));
    assert_int_equal(H5Sget_simple_extent_type(space), H5S_SCALAR);
    char text[10] = "";
    assert_true(H5Aread(attribute, type, text) >= 0);
    assert_string_equal(text, expected);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
}

/* Returns the set's values as float. Its shape must be as given. The caller frees. */
static inline float *read_set(hid_t file, const char *path, int rank, const hsize_t *shape) {
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

static inline double read_single(hid_t file, const char *path) {
    double value = -1;
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0);
    H5Dclose(set);
    return value;
}

#endif
