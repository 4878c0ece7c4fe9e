/* The set-up and tear-down of tests that write scene files and run plans. */
#ifndef KF_TESTS_UNIT_FOLDER_AND_BACKEND_H
#define KF_TESTS_UNIT_FOLDER_AND_BACKEND_H

#include "tests/unit/plan_fixture.h"
#include "tests/unit/scene_files.h"

static inline int open_folder_and_backend(void **state) {
    return make_test_folder(state) != 0 ? -1 : open_backend_for_variants(state);
}

static inline int close_folder_and_backend(void **state) {
    return remove_test_folder(state) != 0 ? -1 : close_backend(state);
}

#endif
