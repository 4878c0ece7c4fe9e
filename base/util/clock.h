/* Host time. */
#ifndef KF_BASE_UTIL_CLOCK_H
#define KF_BASE_UTIL_CLOCK_H

/* Seconds of a clock that never jumps, from an arbitrary start. */
double kf_clock_seconds(void);
/* A pause between two looks at what another thread or process does. The more looks there were, the longer. */
void kf_clock_rest(int looks);

#endif
