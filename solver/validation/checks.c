#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/validation/validation.h"

static void add(kf_validation *validation, const char *quantity, const char *source, double expected,
                double measured, double error, double bound) {
    validation->checks =
        kf_reallocate(validation->checks, ((size_t)validation->check_count + 1) * sizeof *validation->checks);
    kf_check *check = &validation->checks[validation->check_count++];
    *check = (kf_check){.expected = expected,
                        .measured = measured,
                        .error = error,
                        .bound = bound,
                        .pass = isfinite(error) && error <= bound};
    kf_copy_text(check->name, sizeof check->name, validation->case_name);
    kf_copy_text(check->quantity, sizeof check->quantity, quantity);
    kf_copy_text(check->source, sizeof check->source, source);
}

void kf_check_relative(kf_validation *validation, const char *quantity, const char *source, double expected,
                       double measured, double bound) {
    add(validation, quantity, source, expected, measured, fabs(measured / expected - 1.0), bound);
}

void kf_check_absolute(kf_validation *validation, const char *quantity, const char *source, double expected,
                       double measured, double bound) {
    add(validation, quantity, source, expected, measured, fabs(measured - expected), bound);
}

/* Plain comparisons are used because fmax and fmin would hide a NaN. */
void kf_check_at_least(kf_validation *validation, const char *quantity, const char *source, double expected,
                       double measured, double bound) {
    add(validation, quantity, source, expected, measured, measured >= expected ? 0.0 : expected - measured,
        bound);
}

void kf_check_at_most(kf_validation *validation, const char *quantity, const char *source, double expected,
                      double measured, double bound) {
    add(validation, quantity, source, expected, measured, measured <= expected ? 0.0 : measured - expected,
        bound);
}
