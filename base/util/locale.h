/* Numbers have a point in all that kftune reads and writes, whatever the locale of the program that libkftune
 * is part of. Each thread's locale is "C" while it is in the library, and the caller's while it is in a
 * function of the caller's. */
#ifndef KF_BASE_UTIL_LOCALE_H
#define KF_BASE_UTIL_LOCALE_H

#include <pthread.h>

/* Around a call of the library, one at a time: what this thread had is kept as the caller's, and given back.
 */
void kf_locale_enter(void);
void kf_locale_leave(void);

/* Around a call of a function that is the caller's; nothing outside of kf_locale_enter and kf_locale_leave.
 */
void kf_locale_to_callers(void);
void kf_locale_to_own(void);

/* Starts a thread like pthread_create, with the locale of the thread that begins it: by itself a thread
 * has the program's. */
int kf_thread_start(pthread_t *thread, void *(*work)(void *), void *data);

#endif
