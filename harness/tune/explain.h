/* Explains why the best config is the best: what differs from the default, and what each difference gained.
 */
#ifndef KF_HARNESS_TUNE_EXPLAIN_H
#define KF_HARNESS_TUNE_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "harness/tune/tune.h"

/* Holds a parameter in which the best config differs from the default. */
typedef struct kf_difference {
    const kf_value *best, *base; /* of the configs; base NULL: the default does not have it */
    double gain; /* time of the best config with this one taken back, over the best's, minus 1; NAN: not
                    measured alone */
    bool noise;  /* their intervals overlap: what it gains, if anything, is not known */
} kf_difference;

/* Lists the differences, at most `room`. Those that gained most come first, those that were not measured
 * alone last. What a config without one of them takes is looked up among the configs that the run measured.
 */
int kf_tune_differences(const kf_tune_result *result, kf_difference *differences, int room);

/* Prints two or three lines each: the differences; what the budget went into; what the states mean that are
 * not "ok". */
void kf_tune_explain(const kf_tune_request *request, const kf_tune_result *result, FILE *stream);

#endif
