/* Diagnostics and progress on stderr; stdout is for results only. */
#ifndef KF_BASE_UTIL_LOG_H
#define KF_BASE_UTIL_LOG_H

#include <stdbool.h>

typedef enum kf_log_level { KF_LOG_QUIET, KF_LOG_NORMAL, KF_LOG_VERBOSE } kf_log_level;
/* Chooses what is printed: warnings and errors, also notes and progress (the default), or also details. */
void kf_log_set_level(kf_log_level level);

/* From this call on lines go to `sink` and not to stderr; of progress only the final lines do. NULL: to
 * stderr again. */
void kf_log_to(void (*sink)(const char *line));

/* From this call on every line begins with the name and a colon, and of progress only the final lines are
 * printed. It is for one of several processes that write to one stderr. */
void kf_log_as(const char *name);

void kf_info(const char *format, ...) __attribute__((format(printf, 1, 2)));   /* normal and verbose */
void kf_detail(const char *format, ...) __attribute__((format(printf, 1, 2))); /* verbose only */
void kf_warn(const char *format, ...)
    __attribute__((format(printf, 1, 2))); /* always, "kftune: warning: ..." */

/* Prints a line of progress. On a terminal each replaces the one before. Elsewhere only a final one is
 * printed, and from time to time the latest as a sign of life (kf_log_give_signs). */
void kf_progress(bool final, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From this call on, `seconds` without a line print the latest progress and the time since this call. Only
 * where stderr is no terminal and the level is not quiet. A program calls it once. */
void kf_log_give_signs(double seconds);

#endif
