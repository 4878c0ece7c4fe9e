/* Makes a data folder and a cache folder for a test, with the real kernels/portable.h. Tests run from the
 * repository root. */
#ifndef KF_TESTS_UNIT_KERNEL_FIXTURE_H
#define KF_TESTS_UNIT_KERNEL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util/file.h"

static char fixture_folder[64];

static inline void fixture_write(const char *file, const char *text) {
    char path[KF_PATH];
    kf_error error;
    assert_int_equal(kf_path(path, &error, "%s/%s", fixture_folder, file), KF_OK);
    assert_int_equal(kf_file_write_atomic(path, text, strlen(text), &error), KF_OK);
}

static inline int fixture_setup(void **state) {
    (void)state;
    char path[KF_PATH], portable[KF_PATH];
    snprintf(fixture_folder, sizeof fixture_folder, "/tmp/kftune-test-XXXXXX");
    if (mkdtemp(fixture_folder) == NULL) return -1;
    snprintf(path, sizeof path, "%s/data/kernels/test", fixture_folder);
    if (kf_make_folders(path, NULL) != KF_OK || realpath("kernels/portable.h", portable) == NULL) return -1;
    snprintf(path, sizeof path, "%s/data/kernels/portable.h", fixture_folder);
    if (symlink(portable, path) != 0) return -1;
    snprintf(path, sizeof path, "%s/data/variants", fixture_folder);
    if (kf_make_folders(path, NULL) != KF_OK) return -1;
    snprintf(path, sizeof path, "%s/data", fixture_folder);
    if (setenv("KFTUNE_DATA", path, 1) != 0) return -1;
    snprintf(path, sizeof path, "%s/cache", fixture_folder);
    unsetenv("KFTUNE_CACHE_LIMIT");
    unsetenv("KFTUNE_CC");
    return setenv("XDG_CACHE_HOME", path, 1);
}

static inline int fixture_teardown(void **state) {
    (void)state;
    char command[KF_PATH + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", fixture_folder);
    return system(command);
}

#endif
