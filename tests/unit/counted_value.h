/* Looks up the value of a counted metric. */
#ifndef KF_TESTS_UNIT_COUNTED_VALUE_H
#define KF_TESTS_UNIT_COUNTED_VALUE_H

#include <math.h>
#include <string.h>

#include "harness/counters/count.h"

/* Returns the value of a part; NAN: it was not counted. */
static inline double counted_value(const kf_counts *counts, int part, const char *metric) {
    for (int i = 0; i < counts->metric_count; i++)
        if (strcmp(counts->metrics[i]->name, metric) == 0)
            return counts->values[part * counts->metric_count + i];
    return (double)NAN;
}

#endif
