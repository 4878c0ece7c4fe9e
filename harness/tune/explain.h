/* Explains the best config: how it differs from the default, and what each difference gains. */
#ifndef KF_HARNESS_TUNE_EXPLAIN_H
#define KF_HARNESS_TUNE_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "harness/tune/tune.h"

/* A parameter whose value in the best config differs from the default's. */
typedef struct kf_difference {
    const kf_value *best, *base; /* values in the configs; base NULL: the default lacks the parameter */
    double gain; /* time of the best config with this difference undone, divided by the best time, minus 1;
                    NAN: not measured alone */
    bool noise;  /* the intervals overlap, so there may be no gain */
} kf_difference;

/* Lists at most `room` differences. Those with the largest gain come first, those that were not measured
 * alone last. The times without a difference are those of configs that the run measured. */
int kf_tune_differences(const kf_tune_result *result, kf_difference *differences, int room);

/* These print two or three lines each: the differences; how the budget was used; the meaning of states other
 * than "ok". */
void kf_tune_explain(const kf_tune_request *request, const kf_tune_result *result, FILE *stream);

#endif
