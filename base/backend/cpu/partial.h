/* Memory of which a device keeps only some ranges. It finds addresses that a kernel must not use. Access to a
 * page without memory is a fault, which is recorded; the page is then made accessible so that the kernel can
 * end, and the launch asks for the record. On pages with memory, bytes beside the kept ones hold a known
 * pattern, NAN as a number: reading it spoils results, and writing it is found. */
#ifndef KF_BASE_BACKEND_CPU_PARTIAL_H
#define KF_BASE_BACKEND_CPU_PARTIAL_H

#include <stddef.h>

#include "base/util/status.h"

typedef struct kf_partial {
    char *address;
    size_t bytes, period; /* as in backend.h; KF_GUARD_BYTES more are kept behind them */
    size_t reserved, page;
    size_t (*kept)[2]; /* [count] ranges kept in each period, ascending */
    int count;
} kf_partial;

/* KF_MACHINE where addresses or memory are not to be had. */
kf_status kf_partial_make(size_t bytes, size_t period, const size_t (*kept)[2], int count, kf_partial **made,
                          kf_error *error);
void kf_partial_free(kf_partial *partial);
/* Sets every byte that is kept. */
void kf_partial_fill(const kf_partial *partial, unsigned char byte);
/* KF_GATE_FAILED if a kernel wrote beside the kept bytes. */
kf_status kf_partial_check(const kf_partial *partial, kf_error *error);

/* KF_GATE_FAILED if an address without memory was used since the last call; the message names the first one,
 * and `who` as the user of it. Otherwise the call costs one load. */
kf_status kf_partial_oversteps(const char *who, kf_error *error);

#endif
