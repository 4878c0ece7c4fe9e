/* What every part of the program may ask: its version, and whether the user wants it to end. */
#ifndef KF_BASE_UTIL_PROGRAM_H
#define KF_BASE_UTIL_PROGRAM_H

#define KF_VERSION "0.1.0"

/* From now on SIGINT and SIGTERM set kf_interrupted; the same signal a second time ends the program at once.
 */
void kf_catch_interrupts(void);

/* Set by SIGINT and SIGTERM; long loops look at it and end cleanly. */
extern volatile int kf_interrupted;

#endif
