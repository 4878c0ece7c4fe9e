/* Reads the clock of a GPU's multiprocessors between two places of the stream. A kernel of one thread on each
 * counts it. That is exact where the driver's own figure is old and coarse. */
#ifndef KF_HARNESS_MEASURE_SM_CLOCK_H
#define KF_HARNESS_MEASURE_SM_CLOCK_H

#include "base/backend/backend.h"

typedef struct kf_sm_clock kf_sm_clock;

/* Opens a reader. It is NULL where clocks cannot be read: on the cpu, and if the kernel does not work; all
 * functions take NULL. `readings` is the most places between two calls of kf_sm_clock_take. */
kf_sm_clock *kf_sm_clock_open(kf_backend *backend, int readings);
void kf_sm_clock_close(kf_sm_clock *reader);

/* Reads at this place of the stream. Places are numbered 0, 1, ... from the last kf_sm_clock_take on. */
kf_status kf_sm_clock_mark(kf_sm_clock *reader, kf_error *error);

/* Takes the readings after a synchronisation: mhz[i] is the clock from place 2 i to 2 i + 1, NAN if unknown.
 * The next place is number 0 again. */
kf_status kf_sm_clock_take(kf_sm_clock *reader, int intervals, double *mhz, kf_error *error);

#endif
