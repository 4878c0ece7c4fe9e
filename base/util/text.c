#include "base/util/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/util/memory.h"

enum { LONGEST_WORD = 64 };

static int lower(char letter) {
    return tolower((unsigned char)letter);
}

static int smaller(int a, int b) {
    return a < b ? a : b;
}

/* Returns the edit distance of two words. Swapping two neighbours counts once. Both words have at most
 * LONGEST_WORD characters. */
static int edit_distance(const char *a, const char *b) {
    int rows[3][LONGEST_WORD + 1];
    int a_length = (int)strlen(a), b_length = (int)strlen(b);
    for (int j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int replace = above[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            row[j] = smaller(replace, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = smaller(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

/* Returns the name nearest to a word by edit distance, or NULL. It allows one mistake per three letters. */
const char *kf_nearest(const char *word, const char *const *names, int count) {
    size_t length = strlen(word);
    if (length == 0 || length > LONGEST_WORD) return NULL;
    const char *nearest = NULL;
    /* One mistake per three letters is allowed, so short words do not match everything. */
    int allowed = (int)(length + 2) / 3, best = allowed + 1;
    for (int i = 0; i < count; i++) {
        if (strlen(names[i]) > LONGEST_WORD) continue;
        int distance = edit_distance(word, names[i]);
        if (distance < best && distance < (int)strlen(names[i])) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

const char *kf_hint(const char *word, const char *const *names, int count, char hint[KF_HINT]) {
    const char *nearest = kf_nearest(word, names, count);
    hint[0] = '\0';
    if (nearest != NULL) (void)snprintf(hint, KF_HINT, " (did you mean '%.60s'?)", nearest);
    return hint;
}

/* Makes room for so many bytes more, and the 0 behind them. */
static void reserve(kf_text *text, size_t added) {
    const size_t needed = text->length + added + 1;
    if (needed <= text->capacity) return;
    text->capacity = needed > 2 * text->capacity ? needed : 2 * text->capacity;
    text->text = kf_reallocate(text->text, text->capacity);
}

/* Appends formatted text. When an allocation fails, the program ends as with kf_allocate. */
static __attribute__((format(printf, 2, 0))) void append(kf_text *text, const char *format,
                                                         va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int added = vsnprintf(NULL, 0, format, arguments);
    if (added >= 0) {
        reserve(text, (size_t)added);
        (void)vsnprintf(text->text + text->length, (size_t)added + 1, format, again);
        text->length += (size_t)added;
    }
    va_end(again);
}

void kf_text_append(kf_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(text, format, arguments);
    va_end(arguments);
}

void kf_note(kf_text *notes, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (notes->length > 0) kf_text_append(notes, "\n");
    append(notes, format, arguments);
    va_end(arguments);
}

static ssize_t append_bytes(void *cookie, const char *bytes, size_t size) {
    kf_text *text = cookie;
    reserve(text, size);
    memcpy(text->text + text->length, bytes, size);
    text->length += size;
    text->text[text->length] = '\0';
    return (ssize_t)size;
}

FILE *kf_text_stream(kf_text *text) {
    return fopencookie(text, "w", (cookie_io_functions_t){.write = append_bytes});
}

void kf_text_free(kf_text *text) {
    free(text->text);
    *text = (kf_text){0};
}

/* Writes three significant digits without trailing zeros, then the unit. */
static char *human(double value, const char *unit, char buffer[32]) {
    double size = fabs(value);
    int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    if (size >= 1e6 || !isfinite(size)) {
        (void)snprintf(buffer, 32, "%.3g %s", value, unit);
        return buffer;
    }
    (void)snprintf(buffer, 32, "%.*f", decimals, value);
    if (strchr(buffer, '.') != NULL) {
        size_t length = strlen(buffer);
        while (buffer[length - 1] == '0')
            buffer[--length] = '\0';
        if (buffer[length - 1] == '.') buffer[length - 1] = '\0';
    }
    size_t length = strlen(buffer);
    (void)snprintf(buffer + length, 32 - length, " %s", unit);
    return buffer;
}

char *kf_human_bytes(double bytes, char buffer[32]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    while (fabs(bytes) >= 1023.5 && unit < 5) {
        bytes /= 1024;
        unit++;
    }
    return human(bytes, units[unit], buffer);
}

double kf_percent(double share) {
    const double percent = 100.0 * share;
    if (!isfinite(percent) || percent == 0.0) return percent;
    const double unit = pow(10.0, floor(log10(fabs(percent))) - 1.0);
    return round(percent / unit) * unit;
}

char *kf_human_time_us(double microseconds, char buffer[32]) {
    double size = fabs(microseconds);
    if (size < 0.9995 && size > 0) return human(microseconds * 1e3, "ns", buffer);
    if (size < 999.5) return human(microseconds, "us", buffer);
    if (size < 999.5e3) return human(microseconds / 1e3, "ms", buffer);
    if (size < 119.5e6) return human(microseconds / 1e6, "s", buffer);
    if (size < 119.5 * 60e6) return human(microseconds / 60e6, "min", buffer);
    return human(microseconds / 3600e6, "h", buffer);
}

char *kf_grid_text(const int nodes[3], char buffer[KF_GRID_TEXT]) {
    const int used = snprintf(buffer, KF_GRID_TEXT, "%dx%d", nodes[0], nodes[1]);
    if (nodes[2] != 1) (void)snprintf(buffer + used, KF_GRID_TEXT - (size_t)used, "x%d", nodes[2]);
    return buffer;
}

bool kf_ends_in(const char *text, const char *ending) {
    const size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcasecmp(text + length - tail, ending) == 0;
}

bool kf_is_printable(const char *text) {
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f) return false;
    return true;
}

void kf_copy_text(char *target, size_t size, const char *source) {
    if (size == 0) return;
    size_t length = strnlen(source, size - 1);
    memcpy(target, source, length);
    target[length] = '\0';
}

char *kf_duplicate(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(kf_allocate(size), text, size);
}
