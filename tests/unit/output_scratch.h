/* Makes a folder for a test program, and removes it with everything in it. */
#ifndef KF_TESTS_UNIT_OUTPUT_SCRATCH_H
#define KF_TESTS_UNIT_OUTPUT_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char scratch[2000];

/* These are cmocka's group setup and teardown. */
static inline int make_scratch(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    (void)snprintf(scratch, sizeof scratch, "%s/kftune-test-XXXXXX", base ? base : "/tmp");
    return mkdtemp(scratch) == NULL;
}

static inline int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline int remove_scratch(void **state) {
    (void)state;
    return nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Returns the path of a file in the folder, in one of four buffers in turn, so that a call may name
 * several files. */
static inline const char *in_scratch(const char *name) {
    static char paths[4][4000];
    static int next;
    next = (next + 1) % 4;
    (void)snprintf(paths[next], sizeof paths[next], "%s/%s", scratch, name);
    return paths[next];
}

#endif
