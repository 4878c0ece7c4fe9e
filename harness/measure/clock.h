/* Host time. */
#ifndef KF_HARNESS_MEASURE_CLOCK_H
#define KF_HARNESS_MEASURE_CLOCK_H

/* Seconds of a clock that never jumps, from an arbitrary start. */
double kf_clock_seconds(void);

#endif
