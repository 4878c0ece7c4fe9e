/* Opens the shipped suites of fixed comparisons, for tests of them. */
#ifndef KF_TESTS_UNIT_BENCH_SUITES_H
#define KF_TESTS_UNIT_BENCH_SUITES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/bench/suite_run.h"

static inline void open_suite(const char *name, kf_bench_suite *suite) {
    kf_error error = {KF_OK, ""};
    if (kf_bench_suite_open(name, suite, &error) != KF_OK) fail_msg("%s", error.message);
}

#endif
