/* The clock of a GPU's multiprocessors between two places of the stream, counted by a kernel of a thread on
 * each: exact where the driver's own figure is old and coarse. */
#ifndef KF_HARNESS_MEASURE_SM_CLOCK_H
#define KF_HARNESS_MEASURE_SM_CLOCK_H

#include "base/backend/backend.h"

typedef struct kf_sm_clock kf_sm_clock;

/* NULL where clocks cannot be read: on the cpu, and when the kernel does not work. readings: most places
 * between two calls of kf_sm_clock_take. All functions take NULL. */
kf_sm_clock *kf_sm_clock_open(kf_backend *backend, int readings);
void kf_sm_clock_close(kf_sm_clock *reader);

/* Reads at this place of the stream. Places are numbered 0, 1, ... from the last kf_sm_clock_take on. */
kf_status kf_sm_clock_mark(kf_sm_clock *reader, kf_error *error);

/* After a synchronisation: mhz[i] is the clock from place 2 i to 2 i + 1, NAN when unknown; intervals of
 * them. The next place is number 0 again. */
kf_status kf_sm_clock_take(kf_sm_clock *reader, int intervals, double *mhz, kf_error *error);

#endif
