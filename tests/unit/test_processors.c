/* Tests how many processors and how much memory may be used, by control groups of both versions in a tree
 * of files and by limits of the process.
 * Faults: a container with a quota that keeps more busy (public case 25). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/backend/cpu/cpu.h"
#include "base/util/file.h"
#include "base/util/processors.h"
#include "tests/unit/small_memory.h"

static char folder[] = "/tmp/kftune-groups-XXXXXX";

static void put(const char *name, const char *text) {
    char path[KF_PATH], parent[KF_PATH];
    kf_error error = {0};
    assert_int_equal(kf_path(path, &error, "%s/%s", folder, name), KF_OK);
    (void)snprintf(parent, sizeof parent, "%s", path);
    *strrchr(parent, '/') = '\0';
    assert_int_equal(kf_make_folders(parent, &error), KF_OK);
    if (kf_file_write_atomic(path, text, strlen(text), &error) != KF_OK) fail_msg("%s", error.message);
}

static double quota(const char *self) {
    char path[KF_PATH];
    put("self", self);
    (void)snprintf(path, sizeof path, "%s/self", folder);
    return kf_processor_quota(folder, path);
}

static void quotas_of_both_versions(void **state) {
    (void)state;
    assert_true(quota("0::/\n") == 0.0);
    /* This is the root of a container. */
    put("cpu.max", "150000 100000\n");
    assert_true(fabs(quota("0::/\n") - 1.5) < 1e-12);
    put("cpu.max", "max 100000\n");
    assert_true(quota("0::/\n") == 0.0);
    /* The least quota of a group and all its ancestors counts. */
    put("batch/job/cpu.max", "max 100000\n");
    put("batch/cpu.max", "200000 100000\n");
    assert_true(fabs(quota("0::/batch/job\n") - 2.0) < 1e-12);
    put("batch/job/cpu.max", "50000 100000\n");
    assert_true(fabs(quota("0::/batch/job\n") - 0.5) < 1e-12);
    /* Version 1 has lines of groups without a quota, too. */
    put("cpu,cpuacct/x/cpu.cfs_quota_us", "300000\n");
    put("cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
    assert_true(fabs(quota("3:cpuset:/\n2:cpu,cpuacct:/x\n0::/\n") - 3.0) < 1e-12);
    put("cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
    assert_true(quota("3:cpuset:/\n2:cpu,cpuacct:/x\n0::/\n") == 0.0);
    /* Files are missing, or hold something else. */
    put("cpu.max", "soon\n");
    assert_true(quota("nonsense\n::\n0::/nowhere\n") == 0.0);
    assert_true(kf_processor_quota("/nonexistent", "/nonexistent") == 0.0);
}

static void what_is_found_can_be_used(void **state) {
    (void)state;
    const kf_processors found = kf_processors_find();
    assert_true(found.usable >= 1 && found.usable <= found.bound);
    assert_true(found.quota <= 0.0 || found.usable <= fmax(1.0, found.quota + 0.01));
}

static void limits_of_the_address_space_count(void **state) {
    (void)state;
    enum { LEFT = 256 << 20, NEAR = 16 << 20 };
    if (SANITIZED || getenv("KFTUNE_TEST_ALL") != NULL) skip();
    const uint64_t machine = kf_cpu_available_memory();
    leave_memory(LEFT);
    const uint64_t limited = kf_cpu_available_memory();
    leave_memory(0);
    assert_true(machine > LEFT + NEAR);
    assert_in_range(limited, LEFT - NEAR, LEFT + NEAR);
    assert_true(kf_cpu_available_memory() > LEFT + NEAR);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
    (void)state;
    char command[KF_PATH];
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(quotas_of_both_versions),
                                       cmocka_unit_test(what_is_found_can_be_used),
                                       cmocka_unit_test(limits_of_the_address_space_count)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
