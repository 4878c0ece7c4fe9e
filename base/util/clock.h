/* The time of the host. */
#ifndef KF_BASE_UTIL_CLOCK_H
#define KF_BASE_UTIL_CLOCK_H

/* Returns the seconds of a clock that never jumps. It starts at an arbitrary moment. */
double kf_clock_seconds(void);
/* Sleeps between two looks at what another thread or process does. looks: how many there were already; the
 * pause grows with it. */
void kf_clock_rest(int looks);

#endif
