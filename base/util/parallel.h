/* Shares work among threads that end with the call, so that the process may fork before and after it. */
#ifndef KF_BASE_UTIL_PARALLEL_H
#define KF_BASE_UTIL_PARALLEL_H

#include <stddef.h>

/* Calls work(data, begin, end) at the same time on parts of 0 .. count-1, one part for each processor (at
 * most 16). With fewer than `least` indices it makes one call. The result of an index must not depend on the
 * part that it is in. */
void kf_in_parallel(size_t count, size_t least, void (*work)(void *data, size_t begin, size_t end),
                    void *data);

#endif
