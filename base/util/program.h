/* The program's version, and whether the user wants it to end. Every part of the program may ask for
 * these. */
#ifndef KF_BASE_UTIL_PROGRAM_H
#define KF_BASE_UTIL_PROGRAM_H

/* The one place of the version: Makefile, packages, library and documents take it from here
 * (tests/e2e/install.sh checks it). */
#define KF_VERSION "0.2.0"

/* From this call on SIGINT, SIGTERM, SIGHUP and the warnings of batch systems (SIGUSR1, SIGUSR2, SIGXCPU,
 * SIGXFSZ) set kf_interrupted. A second signal of the first three ends the program at once. A signal that was
 * ignored when the program started stays ignored (nohup), except SIGINT and SIGTERM. */
void kf_catch_interrupts(void);

/* Set by these signals. Long loops check it and end cleanly. */
extern volatile int kf_interrupted;

#endif
