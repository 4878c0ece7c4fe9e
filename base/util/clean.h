/* Text that others wrote (names from stores, scenes, devices, labels), on its way out: to a terminal, which
 * obeys control characters, to a spreadsheet, which runs formulas, or to a format that must be UTF-8. */
#ifndef KF_BASE_UTIL_CLEAN_H
#define KF_BASE_UTIL_CLEAN_H

#include <stddef.h>
#include <stdio.h>

/* Bytes of the UTF-8 character at text; 0 when there is none: a stray byte, an overlong form, a surrogate. */
size_t kf_utf8_length(const char *text);

/* In place: control characters (but for newlines and tabs), those that turn the direction of writing, and
 * bytes that are no UTF-8 become '?'. */
void kf_clean_text(char *text);

/* From now on what is printed on stdout is cleaned so. */
void kf_clean_stdout(void);

/* One field of a CSV file: quoted where it must be; what a spreadsheet would take for a formula begins with
 * an apostrophe, as text does there. */
void kf_csv_text(FILE *stream, const char *text);

#endif
