/* A quick compiler for tests of many variants. */
#ifndef KF_TESTS_UNIT_QUICK_COMPILER_H
#define KF_TESTS_UNIT_QUICK_COMPILER_H

#include <stdlib.h>
#include <unistd.h>

/* A group setup for tests most of whose time is the compiler's: kernels with -O1. Those that users get are the
 * other tests'; with KFTUNE_TEST_ALL=1 these tests have them too. */
static inline int take_quick_compiler(void **state) {
    static const char file[] = "tests/tools/quick_compiler.sh";
    (void)state;
    if (getenv("KFTUNE_TEST_ALL") != NULL || access(file, X_OK) != 0) return 0;
    return setenv("KFTUNE_CC", file, 0);
}

#endif
