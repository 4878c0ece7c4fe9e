/* Compares whole texts with the files of tests/data/known, which somebody has read through and recomputed
 * by hand. What differs from run to run is first replaced by a word. */
#ifndef KF_TESTS_UNIT_KNOWN_TEXT_H
#define KF_TESTS_UNIT_KNOWN_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/file.h"
#include "base/util/text.h"

/* Replaces every `what` in text, which is freed. */
static inline char *with_word(char *text, const char *what, const char *word) {
    kf_text result = {0};
    const char *at = text;
    for (const char *found; what[0] != '\0' && (found = strstr(at, what)) != NULL; at = found + strlen(what))
        kf_text_append(&result, "%.*s%s", (int)(found - at), at, word);
    kf_text_append(&result, "%s", at);
    free(text);
    return result.text;
}

/* Replaces what stands between `after` and `before`, wherever both occur. */
static inline char *without_between(char *text, const char *after, const char *before, const char *word) {
    kf_text result = {0};
    const char *at = text;
    for (const char *found; (found = strstr(at, after)) != NULL;) {
        found += strlen(after);
        const char *end = strstr(found, before);
        if (end == NULL) break;
        kf_text_append(&result, "%.*s%s", (int)(found - at), at, word);
        at = end;
    }
    kf_text_append(&result, "%s", at);
    free(text);
    return result.text;
}

/* Compares a text with the known one and frees it. A text that differs is left in TMPDIR. */
static inline void assert_known(const char *name, char *text) {
    char path[KF_PATH], left[KF_PATH];
    char *known = NULL;
    size_t size = 0;
    const char *data = getenv("KFTUNE_DATA"), *temporary = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/tests/data/known/%s", data != NULL ? data : ".", name);
    (void)snprintf(left, sizeof left, "%s/%s", temporary != NULL ? temporary : "/tmp", name);
    if (kf_file_read(path, 0, &known, &size, NULL) == KF_OK && strcmp(known, text) == 0) {
        free(known);
        free(text);
        return;
    }
    assert_int_equal(kf_file_write_atomic(left, text, strlen(text), NULL), KF_OK);
    if (known == NULL) fail_msg("%s is not there; the text is %s", path, left);
    int line = 1;
    size_t at = 0, begin = 0;
    for (; known[at] != '\0' && known[at] == text[at]; at++)
        if (known[at] == '\n') line++, begin = at + 1;
    fail_msg("%s, line %d:\n  %.*s\n%s:\n  %.*s", path, line, (int)strcspn(known + begin, "\n"),
             known + begin, left, (int)strcspn(text + begin, "\n"), text + begin);
}

#endif
