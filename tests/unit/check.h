/* What many tests check in the same way. */
#ifndef KF_TESTS_UNIT_CHECK_H
#define KF_TESTS_UNIT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/util/status.h"

/* Fails the test with what a call says of its failure. */
static inline void must(kf_status status, const kf_error *error) {
    if (status != KF_OK) fail_msg("%s", error->message);
}

/* A number is what is expected, but for a share of that. */
static inline void assert_near(double value, double expected, double share) {
    if (!(fabs(value - expected) <= share * fabs(expected))) fail_msg("%.10g is not %.10g", value, expected);
}

#endif
