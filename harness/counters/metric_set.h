/* Reads metric sets: text files that name hardware counters that are read together, and metrics that are
 * computed from them (format: docs/counters.md). metrics/ contains the shipped sets. */
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

/* A counter with its name in kftune and its name on the device. */
typedef struct kf_metric {
    char name[KF_METRIC_NAME];
    char unit[KF_METRIC_UNIT]; /* "B", "%", "1" for a pure number */
    char event[KF_EVENT_NAME]; /* CUPTI's metric or PAPI's event */
} kf_metric;

typedef struct kf_derived_metric {
    char name[KF_METRIC_NAME];
    char unit[KF_METRIC_UNIT];
    kf_expression *formula; /* of metrics, of derived metrics before it, and of kf_set_variables */
} kf_derived_metric;

typedef struct kf_metric_set {
    char name[KF_METRIC_NAME]; /* name of the file without its ending */
    char summary[160];
    char *description;
    kf_metric cupti[KF_SET_METRICS], papi[KF_SET_METRICS];
    int cupti_count, papi_count;
    kf_derived_metric derived[KF_SET_DERIVED];
    int derived_count;
} kf_metric_set;

/* The numbers besides counters that a formula may use. */
typedef enum kf_set_variable {
    KF_VARIABLE_TIME_US,     /* time of one launch, measured without counters; NAN: not known */
    KF_VARIABLE_LEAST_BYTES, /* bytes that a launch must move at least */
    KF_SET_VARIABLES
} kf_set_variable;
extern const char *const kf_set_variables[KF_SET_VARIABLES];

/* Opens a shipped set, or a file if the name contains a slash or a dot. KF_BAD_INPUT names file and line. */
kf_status kf_metric_set_open(const char *name, kf_metric_set **set, kf_error *error);
void kf_metric_set_free(kf_metric_set *set);

/* Computes the derived metrics in their order from counted values (NAN: not known) and kf_set_variables. A
 * metric is NAN if a value that it needs is not known. */
void kf_metric_set_derive(const kf_metric_set *set, double (*counted)(void *context, const char *name),
                          void *context, const double variables[KF_SET_VARIABLES],
                          double values[KF_SET_DERIVED]);

/* Lists the names of all that the set counts on a GPU or on a cpu, and of what it derives. Returns their
 * number; 0: set is NULL. */
enum { KF_COUNTER_NAMES = KF_SET_METRICS + KF_SET_DERIVED };
int kf_counter_names(const kf_metric_set *set, bool gpu, const char *names[KF_COUNTER_NAMES]);

/* Calls `visit` with the name of every shipped set in alphabetical order. */
kf_status kf_metric_sets(kf_status (*visit)(void *context, const char *name, kf_error *error), void *context,
                         kf_error *error);

/* Finds a chip's name for a metric in the table metrics/aliases.txt: the same name, another one, or NULL if
 * the chip lacks the metric. */
typedef struct kf_aliases kf_aliases;
kf_status kf_aliases_open(kf_aliases **aliases, kf_error *error);
const char *kf_alias(const kf_aliases *aliases, const char *chip, const char *metric);
void kf_aliases_free(kf_aliases *aliases);

#endif
