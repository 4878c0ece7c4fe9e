/* Chooses a quick compiler for tests of many variants. */
#ifndef KF_TESTS_UNIT_QUICK_COMPILER_H
#define KF_TESTS_UNIT_QUICK_COMPILER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A setup for tests that spend most of their time compiling. It sets tests/tools/quick_compiler.sh as the
 * compiler. With KFTUNE_TEST_ALL kernels are compiled as users get them, as those of other tests always are.
 * Items of quick kernels run from the last to the first (KF_BACKWARDS), those of other tests from the first
 * to the last. What depends on the order, which a GPU does not keep, fails in one of them. */
static inline int take_quick_compiler(void **state) {
    (void)state;
    const char *root = getenv("KFTUNE_DATA"); /* some tests run elsewhere */
    char file[4096], command[2 * sizeof file];
    (void)snprintf(file, sizeof file, "%s/tests/tools/quick_compiler.sh", root != NULL ? root : ".");
    if (getenv("KFTUNE_TEST_ALL") != NULL || access(file, X_OK) != 0) return 0;
    (void)snprintf(command, sizeof command, "'%s' -DKF_BACKWARDS=1", file);
    return setenv("KFTUNE_CC", command, 0);
}

/* Returns how many of a table's cases a test takes: the first few, which differ most, or all of them with
 * KFTUNE_TEST_ALL=1. */
static inline size_t cases_taken(size_t few, size_t all) {
    return getenv("KFTUNE_TEST_ALL") != NULL ? all : few;
}

#endif
