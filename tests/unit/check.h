/* Checks that many tests share. */
#ifndef KF_TESTS_UNIT_CHECK_H
#define KF_TESTS_UNIT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/util/file.h"
#include "base/util/status.h"

/* Fails the test with what a call says of its failure. */
static inline void must(kf_status status, const kf_error *error) {
    if (status != KF_OK) fail_msg("%s", error->message);
}

/* Returns the whole text of a file. Free it. Inlined, gcc 12 warns of a pointer to a local variable. */
static __attribute__((noinline, unused)) char *text_of_file(const char *path) {
    char *text = NULL;
    size_t size = 0;
    kf_error error = {KF_OK, ""};
    if (kf_file_read(path, 0, &text, &size, &error) != KF_OK) fail_msg("%s", error.message);
    return text;
}

/* Fails the test unless a value differs from the expected one by at most this share of it. */
static inline void assert_near(double value, double expected, double share) {
    if (!(fabs(value - expected) <= share * fabs(expected))) fail_msg("%.10g is not %.10g", value, expected);
}

#endif
