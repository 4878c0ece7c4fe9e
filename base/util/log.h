/* Diagnostics and progress on stderr; stdout is for results only. */
#ifndef KF_BASE_UTIL_LOG_H
#define KF_BASE_UTIL_LOG_H

#include <stdbool.h>

typedef enum kf_log_level { KF_LOG_QUIET, KF_LOG_NORMAL, KF_LOG_VERBOSE } kf_log_level;
void kf_log_set_level(kf_log_level level);

/* From now on lines go to the function and nothing to stderr; of progress only what is final. NULL: to stderr
 * again. */
void kf_log_to(void (*sink)(const char *line));

/* From now on every line begins with the name and a colon, and of progress only what is final comes: for one
 * of several processes that write to one stderr. */
void kf_log_as(const char *name);

void kf_info(const char *format, ...) __attribute__((format(printf, 1, 2)));   /* normal and verbose */
void kf_detail(const char *format, ...) __attribute__((format(printf, 1, 2))); /* verbose only */
void kf_warn(const char *format, ...)
    __attribute__((format(printf, 1, 2))); /* always, "kftune: warning: ..." */

/* One line that is rewritten in place on a terminal; elsewhere printed when final is true, or as a sign of
 * life.
 */
void kf_progress(bool final, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on, where stderr is no terminal and the level is not quiet: after so many seconds without a line,
 * the last progress with the time since this call. Once for a program. */
void kf_log_give_signs(double seconds);

#endif
