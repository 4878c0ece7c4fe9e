/* Every part of the program may ask these: its version, and whether the user wants it to end. */
#ifndef KF_BASE_UTIL_PROGRAM_H
#define KF_BASE_UTIL_PROGRAM_H

/* The one place: Makefile, packages, library and documents take it from here (tests/e2e/install.sh looks). */
#define KF_VERSION "0.2.0"

/* From now on SIGINT, SIGTERM, SIGHUP, and what batch systems warn with (SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ)
 * set kf_interrupted. One of the first three a second time ends the program at once. Where they were ignored,
 * all but SIGINT and SIGTERM stay so (nohup). */
void kf_catch_interrupts(void);

/* Set by these signals; long loops look at it and end cleanly. */
extern volatile int kf_interrupted;

#endif
