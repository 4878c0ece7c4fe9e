/* Computes metrics that are derived from counters. */
#include <math.h>
#include <string.h>

#include "harness/counters/metric_set.h"

/* The values that a formula can use. */
typedef struct view {
    const kf_metric_set *set;
    double (*counted)(void *context, const char *name);
    void *context;
    const double *variables;
    const double *derived; /* derived metrics before the one that is computed */
    int derived_count;
} view;

static double look_up(const view *v, const char *name) {
    for (int i = 0; i < KF_SET_VARIABLES; i++)
        if (strcmp(kf_set_variables[i], name) == 0) return v->variables[i];
    const double counted = v->counted(v->context, name);
    if (isfinite(counted)) return counted;
    for (int i = 0; i < v->derived_count; i++)
        if (strcmp(v->set->derived[i].name, name) == 0) return v->derived[i];
    return (double)NAN;
}

static bool find_name(void *context, const char *name, kf_scalar *value) {
    *value = (kf_scalar){.kind = KF_SCALAR_FLOAT, .number = look_up(context, name)};
    return isfinite(value->number);
}

static double number_of(const kf_scalar *value) {
    double number = (double)NAN;
    if (value->kind == KF_SCALAR_FLOAT) number = value->number;
    if (value->kind == KF_SCALAR_INTEGER || value->kind == KF_SCALAR_BOOLEAN) number = (double)value->integer;
    return isfinite(number) ? number : (double)NAN;
}

void kf_metric_set_derive(const kf_metric_set *set, double (*counted)(void *context, const char *name),
                          void *context, const double variables[KF_SET_VARIABLES],
                          double values[KF_SET_DERIVED]) {
    view v = {set, counted, context, variables, values, 0};
    for (int i = 0; i < set->derived_count; i++) {
        kf_scalar value;
        v.derived_count = i;
        values[i] = counted(context, set->derived[i].name); /* Some devices count this metric directly. */
        if (isfinite(values[i])) continue;
        const kf_status status = kf_expression_scalar(set->derived[i].formula, find_name, &v, &value, NULL);
        values[i] = status == KF_OK ? number_of(&value) : (double)NAN;
    }
}

int kf_counter_names(const kf_metric_set *set, bool gpu, const char *names[KF_COUNTER_NAMES]) {
    int count = 0;
    if (set == NULL) return 0;
    const kf_metric *counted = gpu ? set->cupti : set->papi;
    for (int i = 0; i < (gpu ? set->cupti_count : set->papi_count); i++)
        names[count++] = counted[i].name;
    for (int i = 0; i < set->derived_count; i++)
        names[count++] = set->derived[i].name;
    return count;
}
