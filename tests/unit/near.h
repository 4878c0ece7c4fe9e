/* Compares numbers with those worked out by hand, up to rounding. */
#ifndef KF_TESTS_UNIT_NEAR_H
#define KF_TESTS_UNIT_NEAR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

/* Compares to 1e-12 of the number, and below 1e-3 to 1e-15. */
static inline void near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-12 * fmax(1e-3, fabs(expected))))
        fail_msg("%.15g is not %.15g", value, expected);
}

static inline void near_vector(const double *value, double x, double y, double z) {
    near(value[0], x);
    near(value[1], y);
    near(value[2], z);
}

#endif
