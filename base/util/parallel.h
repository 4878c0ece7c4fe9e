/* Work shared by threads that end with it: a process may fork before and after. */
#ifndef KF_BASE_UTIL_PARALLEL_H
#define KF_BASE_UTIL_PARALLEL_H

#include <stddef.h>

/* Calls work(data, begin, end) on parts of 0 .. count-1, one for each processor (16 at most), at the same
 * time; with fewer than least indices, once. What an index gives must not depend on its part. */
void kf_in_parallel(size_t count, size_t least, void (*work)(void *data, size_t begin, size_t end),
                    void *data);

#endif
