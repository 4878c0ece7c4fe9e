/* Reads the clock of a GPU's multiprocessors between two places of the stream. A kernel with one thread on
 * each multiprocessor counts the cycles. This is exact, whereas the driver's figure is late and coarse. */
#ifndef KF_HARNESS_MEASURE_SM_CLOCK_H
#define KF_HARNESS_MEASURE_SM_CLOCK_H

#include "base/backend/backend.h"

typedef struct kf_sm_clock kf_sm_clock;

/* Opens a reader. It is NULL if clocks cannot be read: on the cpu, or if the kernel does not work. All
 * functions accept NULL. `readings` is the largest number of places between two calls of kf_sm_clock_take. */
kf_sm_clock *kf_sm_clock_open(kf_backend *backend, int readings);
void kf_sm_clock_close(kf_sm_clock *reader);

/* Reads the clock at this place of the stream. Places are numbered 0, 1, ... since the last kf_sm_clock_take.
 */
kf_status kf_sm_clock_mark(kf_sm_clock *reader, kf_error *error);

/* Takes the readings after a synchronisation: mhz[i] is the clock from place 2 i to 2 i + 1; NAN: not known.
 * The next place has number 0 again. */
kf_status kf_sm_clock_take(kf_sm_clock *reader, int intervals, double *mhz, kf_error *error);

#endif
