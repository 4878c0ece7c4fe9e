/* A quick compiler for tests of many variants. */
#ifndef KF_TESTS_UNIT_QUICK_COMPILER_H
#define KF_TESTS_UNIT_QUICK_COMPILER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Takes tests/tools/quick_compiler.sh, with a level of its own unless that is empty, unless KFTUNE_TEST_ALL
 * wants kernels as users get them. */
static inline int take_compiler(const char *level, bool instead) {
    const char *root = getenv("KFTUNE_DATA"); /* some tests run elsewhere */
    char file[4096], command[2 * sizeof file];
    (void)snprintf(file, sizeof file, "%s/tests/tools/quick_compiler.sh", root != NULL ? root : ".");
    if (getenv("KFTUNE_TEST_ALL") != NULL || access(file, X_OK) != 0) return 0;
    (void)snprintf(command, sizeof command, level[0] != '\0' ? "'%s' %s" : "%s%s", file, level);
    return setenv("KFTUNE_CC", command, instead);
}

/* A group setup for tests most of whose time is the compiler's: kernels with -O1 or -Og. Those that users get
 * are the other tests'; with KFTUNE_TEST_ALL=1 these tests have them too. */
static inline int take_quick_compiler(void **state) {
    (void)state;
    return take_compiler("", false);
}

/* For what comes next in such a test, of thousands of steps: kernels with -O2. */
static inline int take_steps_compiler(void) {
    return take_compiler("-O2", true);
}

/* How many of a table's cases a test takes: the first few, which differ most; with KFTUNE_TEST_ALL=1 all of
 * them. */
static inline size_t cases_taken(size_t few, size_t all) {
    return getenv("KFTUNE_TEST_ALL") != NULL ? all : few;
}

#endif
