#include "base/util/clean.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* Decodes the character at the beginning of a zero-terminated text. Length 0 means that it is not valid. */
static unsigned long decode(const unsigned char *c, size_t *length) {
    /* Smaller values are overlong forms. */
    static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
    *length = c[0] < 0x80                   ? 1
              : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
              : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
              : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                            : 0;
    unsigned long code = *length < 2 ? c[0] : c[0] & (0x7fUL >> *length);
    for (size_t i = 1; i < *length; i++) {
        if ((c[i] & 0xc0) != 0x80) {
            *length = 0;
            return 0;
        }
        code = code << 6 | (c[i] & 0x3fUL);
    }
    if (code < least[*length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) *length = 0;
    return code;
}

size_t kf_utf8_length(const char *text) {
    size_t length;
    (void)decode((const unsigned char *)text, &length);
    return length;
}

/* Returns whether a terminal obeys the character instead of showing it. */
static bool is_control(unsigned long code) {
    const bool c0 = code < ' ' && code != '\n' && code != '\t', c1 = code >= 0x7f && code < 0xa0;
    const bool direction = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return c0 || c1 || direction;
}

/* Replaces bytes that are not UTF-8, and control characters of terminals, by '?'. */
void kf_clean_text(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        size_t length;
        const unsigned long code = decode((const unsigned char *)from, &length);
        if (length == 0 || is_control(code)) {
            *to++ = '?';
            from += length > 0 ? length : 1;
            continue;
        }
        memmove(to, from, length);
        to += length;
        from += length;
    }
    *to = '\0';
}

/* --- Stdout --------------------------------------------------------------------------------------------- */

/* The incomplete character at the end of the last buffer. */
static char rest[4];
static size_t rest_length;

/* Returns how many bytes at the end of a text may be the beginning of a character. */
static size_t unfinished(const char *text, size_t size) {
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        const unsigned char c = (unsigned char)text[size - back];
        if (c < 0x80) return 0;
        if (c >= 0xc0) return back < (c < 0xe0 ? 2U : c < 0xf0 ? 3U : 4U) ? back : 0;
    }
    return 0;
}

/* Writes cleaned bytes to the terminal. The beginning of an incomplete character waits for its remaining
 * bytes. */
static ssize_t write_clean(void *unused, const char *bytes, size_t size) {
    (void)unused;
    char *text = kf_allocate(rest_length + size + 1);
    memcpy(text, rest, rest_length);
    memcpy(text + rest_length, bytes, size);
    size_t length = rest_length + size;
    rest_length = unfinished(text, length);
    length -= rest_length;
    memcpy(rest, text + length, rest_length);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0') text[i] = '?';
    text[length] = '\0';
    kf_clean_text(text);
    const bool written = kf_write_all(STDOUT_FILENO, text, strlen(text));
    free(text);
    return written ? (ssize_t)size : 0;
}

void kf_clean_stdout(void) {
    const bool terminal = isatty(STDOUT_FILENO) == 1;
    FILE *clean = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_clean});
    /* Without memory nothing is printed. */
    if (clean == NULL) return;
    (void)setvbuf(clean, NULL, terminal ? _IOLBF : _IOFBF, BUFSIZ);
    stdout = clean;
}

/* --- CSV ------------------------------------------------------------------------------------------------ */

void kf_csv_text(FILE *stream, const char *text) {
    const bool formula = text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
    char *copy = kf_duplicate(text);
    kf_clean_text(copy);
    const bool quoted = strpbrk(copy, ",\"\r\n\t") != NULL;
    if (quoted) (void)fputc('"', stream);
    if (formula) (void)fputc('\'', stream);
    for (const char *c = copy; *c != '\0'; c++) {
        if (*c == '"') (void)fputc('"', stream);
        (void)fputc(*c, stream);
    }
    if (quoted) (void)fputc('"', stream);
    free(copy);
}
