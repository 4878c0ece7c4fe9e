#include "base/util/locale.h"

#include <locale.h>
#include <stdlib.h>

#include "base/util/memory.h"

/* The locale of the caller whose call runs, and of the processes that it forks; 0: no call runs. */
static locale_t callers;

/* Returns the C locale, which glibc makes without memory and never frees. */
static locale_t own(void) {
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

void kf_locale_enter(void) {
    callers = uselocale(own());
}

void kf_locale_leave(void) {
    (void)uselocale(callers);
    callers = (locale_t)0;
}

void kf_locale_to_callers(void) {
    if (callers != (locale_t)0) (void)uselocale(callers);
}

void kf_locale_to_own(void) {
    if (callers != (locale_t)0) (void)uselocale(own());
}

/* The function with which a thread begins, and its data. */
typedef struct beginning {
    void *(*work)(void *);
    void *data;
    locale_t locale;
} beginning;

static void *begin(void *argument) {
    const beginning with = *(beginning *)argument;
    free(argument);
    (void)uselocale(with.locale);
    return with.work(with.data);
}

int kf_thread_start(pthread_t *thread, void *(*work)(void *), void *data) {
    beginning *with = kf_allocate(sizeof *with);
    *with = (beginning){work, data, uselocale((locale_t)0)};
    const int reason = pthread_create(thread, NULL, begin, with);
    if (reason != 0) free(with);
    return reason;
}
