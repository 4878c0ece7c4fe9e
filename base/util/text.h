/* Small text helpers: nearest name for error messages, growing strings, human-readable figures. */
#ifndef KF_BASE_UTIL_TEXT_H
#define KF_BASE_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The entry of names nearest to word by edit distance, or NULL when none is near enough to be a typing slip.
 */
const char *kf_nearest(const char *word, const char *const *names, int count);

/* " (did you mean 'NAME'?)" for a message, or "" when no name is near enough. Returns hint. */
enum { KF_HINT = 96 };
const char *kf_hint(const char *word, const char *const *names, int count, char hint[KF_HINT]);

/* A string that grows; text is always zero-terminated (or NULL before the first append). */
typedef struct kf_text {
    char *text;
    size_t length, capacity;
} kf_text;
void kf_text_append(kf_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kf_text_free(kf_text *text);
/* A stream that appends to the text, to be closed with fclose; NULL without memory. glibc's open_memstream
 * ends a text early where memory lacks, and no function of the stream says so: this one's memory is
 * kf_allocate's. */
FILE *kf_text_stream(kf_text *text);

/* "1.23 GiB", "4.5 ms": shortest form with three significant digits. Both return buffer. */
char *kf_human_bytes(double bytes, char buffer[32]);
char *kf_human_time_us(double microseconds, char buffer[32]);
/* Returns a share in percent, rounded to two figures, to be printed by "%.10g %%": "%.2g" writes 1e+02. */
double kf_percent(double share);

/* "96x48x48", or "1024x1024" of two dimensions, as the option --grid takes it. Returns buffer. */
enum { KF_GRID_TEXT = 40 };
char *kf_grid_text(const int nodes[3], char buffer[KF_GRID_TEXT]);

/* Whether text ends in `ending`, in capitals or not, and something stands before it: "a.json" in ".json". */
bool kf_ends_in(const char *text, const char *ending);

/* For a message about a number behind which a comma stands. */
#define KF_DECIMALS_HINT "; decimals begin with a point"

/* No control characters in it, as messages and tables are of single lines. */
bool kf_is_printable(const char *text);

/* Copies with truncation, always zero-terminated. */
void kf_copy_text(char *target, size_t size, const char *source);

/* A copy that the caller frees. */
char *kf_duplicate(const char *text) __attribute__((returns_nonnull));

#endif
