/* Cleans text that others wrote (names from stores, scenes, devices, labels) before kftune prints it. A
 * terminal obeys control characters, a spreadsheet runs formulas, and some formats must be UTF-8. */
#ifndef KF_BASE_UTIL_CLEAN_H
#define KF_BASE_UTIL_CLEAN_H

#include <stddef.h>
#include <stdio.h>

/* Returns the bytes of the UTF-8 character at text. 0: there is none (a stray byte, an overlong form, a
 * surrogate). */
size_t kf_utf8_length(const char *text);

/* Replaces by '?', in place, control characters except newline and tab, characters that reverse the direction
 * of writing, and bytes that are not UTF-8. */
void kf_clean_text(char *text);

/* From this call on everything that is printed on stdout is cleaned by kf_clean_text. */
void kf_clean_stdout(void);

/* Writes one field of a CSV file, in quotes where CSV needs them. A field that a spreadsheet would run as a
 * formula gets an apostrophe before it, which makes it text. */
void kf_csv_text(FILE *stream, const char *text);

#endif
