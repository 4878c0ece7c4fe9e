/* Puts a program before gnuplot that also writes the values that each curve draws (tests/tools/drawn). A
 * picture does not say which column or block of its table a curve is of. */
#ifndef KF_TESTS_UNIT_DRAWN_H
#define KF_TESTS_UNIT_DRAWN_H

#include <stdlib.h>

#include "tests/unit/known_text.h"

/* From here on pictures append what they draw to a file. */
static inline void begin_drawn(const char *file) {
    const char *data = getenv("KFTUNE_DATA");
    char root[KF_PATH];
    kf_text path = {0};
    assert_non_null(realpath(data != NULL ? data : ".", root));
    kf_text_append(&path, "%s/tests/tools/drawn:%s", root, getenv("PATH"));
    assert_int_equal(setenv("PATH", path.text, 1), 0);
    assert_int_equal(setenv("KFTUNE_DRAWN", file, 1), 0);
    kf_text_free(&path);
}

/* Compares what was drawn with a known text. */
static inline void end_drawn(const char *file, const char *known) {
    char *path = kf_duplicate(strchr(getenv("PATH"), ':') + 1), *text;
    size_t size;
    kf_error error = {0};
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
    if (kf_file_read(file, 0, &text, &size, &error) != KF_OK) fail_msg("%s", error.message);
    assert_known(known, text);
}

#endif
