/* Small text helpers: nearest name for error messages, growing strings, human-readable figures. */
#ifndef KF_BASE_UTIL_TEXT_H
#define KF_BASE_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Returns the entry of names that is nearest to word by edit distance. NULL if none is near enough to be a
 * typing error. */
const char *kf_nearest(const char *word, const char *const *names, int count);

/* Writes " (did you mean 'NAME'?)" for a message, or "" if no name is near enough. Returns hint. */
enum { KF_HINT = 96 };
const char *kf_hint(const char *word, const char *const *names, int count, char hint[KF_HINT]);

/* A string that grows; text is always zero-terminated (or NULL before the first append). */
typedef struct kf_text {
    char *text;
    size_t length, capacity;
} kf_text;
void kf_text_append(kf_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends one line to the notes. The last line has no newline. */
void kf_note(kf_text *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kf_text_free(kf_text *text);
/* Opens a stream that appends to the text; the caller closes it with fclose. NULL without memory. glibc's
 * open_memstream silently cuts a text short when memory is missing; this stream allocates with kf_allocate
 * instead. */
FILE *kf_text_stream(kf_text *text);

/* Write a number with its unit, "1.23 GiB" or "4.5 ms", in the shortest form with three significant digits.
 * Both return buffer. */
char *kf_human_bytes(double bytes, char buffer[32]);
char *kf_human_time_us(double microseconds, char buffer[32]);
/* Returns a share (0 to 1) in percent, rounded to two significant digits. Print it by "%.10g %%", because
 * "%.2g" writes 1e+02. */
double kf_percent(double share);

/* Writes a grid's size as the option --grid takes it: "96x48x48", in two dimensions "1024x1024". Returns
 * buffer. */
enum { KF_GRID_TEXT = 40 };
char *kf_grid_text(const int nodes[3], char buffer[KF_GRID_TEXT]);

/* Returns whether text ends in `ending`, in capitals or not, and is longer than it: "a.json" ends in
 * ".json". */
bool kf_ends_in(const char *text, const char *ending);

/* The end of a message about a number that is followed by a comma. */
#define KF_DECIMALS_HINT "; decimals begin with a point"

/* Returns whether text has no control characters. Messages and tables need this, because they are single
 * lines. */
bool kf_is_printable(const char *text);

/* Copies with truncation. target is always zero-terminated. */
void kf_copy_text(char *target, size_t size, const char *source);

/* Returns a copy that the caller frees. */
char *kf_duplicate(const char *text) __attribute__((returns_nonnull));

#endif
