/* Memory of which a device keeps some ranges only, and that says which addresses a kernel may form. A kernel
 * that touches a page without memory takes a fault, which is noted; the page is opened so that the kernel can
 * end, and who ran it asks for what was noted. What lies beside the kept bytes on pages that have memory
 * holds a known pattern, NAN as a number, so that reading it spoils results and writing it is found. */
#ifndef KF_BASE_BACKEND_CPU_PARTIAL_H
#define KF_BASE_BACKEND_CPU_PARTIAL_H

#include <stddef.h>

#include "base/util/status.h"

typedef struct kf_partial {
    char *address;
    size_t bytes, period; /* as in backend.h; KF_GUARD_BYTES more are kept behind */
    size_t reserved, page;
    size_t (*kept)[2]; /* [count] of each period, ascending */
    int count;
} kf_partial;

/* KF_MACHINE where there are no addresses or no pages. */
kf_status kf_partial_make(size_t bytes, size_t period, const size_t (*kept)[2], int count, kf_partial **made,
                          kf_error *error);
void kf_partial_free(kf_partial *partial);
/* Every byte that is kept. */
void kf_partial_fill(const kf_partial *partial, unsigned char byte);
/* KF_GATE_FAILED where something wrote beside the kept bytes. */
kf_status kf_partial_check(const kf_partial *partial, kf_error *error);

/* KF_GATE_FAILED that names the first address without memory that was touched since the last call, by `who`;
 * KF_OK, at the price of one load, where none was. */
kf_status kf_partial_oversteps(const char *who, kf_error *error);

#endif
