/* Limits the address space, as `ulimit -v` does, for tests that would fill memory for measurements whose
 * values do not matter to them. */
#ifndef KF_TESTS_UNIT_SMALL_MEMORY_H
#define KF_TESTS_UNIT_SMALL_MEMORY_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/sanitized.h"

/* Leaves this process and its children this many bytes more than it has. 0: no limit. It does nothing
 * under AddressSanitizer, which needs all addresses, nor with KFTUNE_TEST_ALL. */
static inline void leave_memory(size_t bytes) {
    unsigned long pages = 0;
    struct rlimit limit;
    FILE *stream = SANITIZED || getenv("KFTUNE_TEST_ALL") != NULL ? NULL : fopen("/proc/self/statm", "re");
    if (stream == NULL) return;
    if (fscanf(stream, "%lu", &pages) == 1 && getrlimit(RLIMIT_AS, &limit) == 0) {
        limit.rlim_cur = bytes == 0 ? limit.rlim_max : pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
        (void)setrlimit(RLIMIT_AS, &limit);
    }
    (void)fclose(stream);
}

#endif
