/* Reads metric sets: text files that say which hardware counters are read together, and what is computed from
 * them (docs/counters.md has the format). The shipped ones are in metrics/. */
#ifndef KF_HARNESS_COUNTERS_METRIC_SET_H
#define KF_HARNESS_COUNTERS_METRIC_SET_H

#include "base/expression/expression.h"
#include "base/util/status.h"

enum {
    KF_SET_METRICS = 64,
    KF_SET_DERIVED = 48,
    KF_METRIC_NAME = 48,
    KF_METRIC_UNIT = 16,
    KF_EVENT_NAME = 128
};

/* Describes a counter by its name here and by what the machine calls it. */
typedef struct kf_metric {
    char name[KF_METRIC_NAME];
    char unit[KF_METRIC_UNIT]; /* "B", "%", "1" for a pure number */
    char event[KF_EVENT_NAME]; /* CUPTI's metric or PAPI's event */
} kf_metric;

typedef struct kf_derived_metric {
    char name[KF_METRIC_NAME];
    char unit[KF_METRIC_UNIT];
    kf_expression *formula; /* over metrics, derived metrics before it, and kf_set_variables */
} kf_derived_metric;

typedef struct kf_metric_set {
    char name[KF_METRIC_NAME]; /* of the file, without its ending */
    char summary[160];
    char *description;
    kf_metric cupti[KF_SET_METRICS], papi[KF_SET_METRICS];
    int cupti_count, papi_count;
    kf_derived_metric derived[KF_SET_DERIVED];
    int derived_count;
} kf_metric_set;

/* Lists the numbers that a formula may use besides counters. */
typedef enum kf_set_variable {
    KF_VARIABLE_TIME_US,     /* time_us: of one launch, measured without counters; NAN: not known */
    KF_VARIABLE_LEAST_BYTES, /* least_bytes: that a launch must move */
    KF_SET_VARIABLES
} kf_set_variable;
extern const char *const kf_set_variables[KF_SET_VARIABLES];

/* Opens a shipped set, or a file, whose name has a slash or a dot in it. KF_BAD_INPUT with file and line. */
kf_status kf_metric_set_open(const char *name, kf_metric_set **set, kf_error *error);
void kf_metric_set_free(kf_metric_set *set);

/* Computes the derived metrics, in their order, from what was counted (NAN: not known) and kf_set_variables.
 * A value is NAN if something that it needs is not known. */
void kf_metric_set_derive(const kf_metric_set *set, double (*counted)(void *context, const char *name),
                          void *context, const double variables[KF_SET_VARIABLES],
                          double values[KF_SET_DERIVED]);

/* Lists the names of all that the set counts on a GPU, or on a cpu, and derives; returns how many. Without a
 * set (NULL) it is 0. */
enum { KF_COUNTER_NAMES = KF_SET_METRICS + KF_SET_DERIVED };
int kf_counter_names(const kf_metric_set *set, bool gpu, const char *names[KF_COUNTER_NAMES]);

/* Calls visit with the name of every shipped set, in alphabetical order. */
kf_status kf_metric_sets(kf_status (*visit)(void *context, const char *name, kf_error *error), void *context,
                         kf_error *error);

/* Finds what a chip calls a metric, by the table metrics/aliases.txt: the metric itself, another one, or
 * NULL when the chip lacks it. */
typedef struct kf_aliases kf_aliases;
kf_status kf_aliases_open(kf_aliases **aliases, kf_error *error);
const char *kf_alias(const kf_aliases *aliases, const char *chip, const char *metric);
void kf_aliases_free(kf_aliases *aliases);

#endif
