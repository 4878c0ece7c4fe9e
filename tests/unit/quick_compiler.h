/* A quick compiler for tests of many variants. */
#ifndef KF_TESTS_UNIT_QUICK_COMPILER_H
#define KF_TESTS_UNIT_QUICK_COMPILER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A group setup for tests most of whose time is the compiler's: kernels with -O1. Those that users get are
 * the other tests'; with KFTUNE_TEST_ALL=1 these tests have them too. */
static inline int take_quick_compiler(void **state) {
    const char *root = getenv("KFTUNE_DATA"); /* some tests run elsewhere */
    char file[4096];
    (void)state;
    (void)snprintf(file, sizeof file, "%s/tests/tools/quick_compiler.sh", root != NULL ? root : ".");
    if (getenv("KFTUNE_TEST_ALL") != NULL || access(file, X_OK) != 0) return 0;
    return setenv("KFTUNE_CC", file, 0);
}

/* How many of a table's cases a test takes: the first few, which differ most; with KFTUNE_TEST_ALL=1 all of
 * them. */
static inline size_t cases_taken(size_t few, size_t all) {
    return getenv("KFTUNE_TEST_ALL") != NULL ? all : few;
}

#endif
