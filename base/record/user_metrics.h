/* Metrics and objectives of the user. A metric is an expression (base/expression) of measured values,
 * parameters and numbers of the problem: "gflops=2*m*n*k/time/1e9". An objective is one or several quantities
 * to minimise or maximise: "max:gflops", "time,energy".
 *
 * A name in an expression means the first of these that has it: time (s), energy (J), power (W) and edp (J s)
 * of a step; the config's parameters; metrics defined before; numbers of the problem (kf_system.numbers,
 * facts); hardware counters of the whole step, or of its kernel if there is only one. If a parameter and a
 * number of the problem have the same name, write parameter_NAME or problem_NAME; the bare name is
 * refused. */
#ifndef KF_BASE_RECORD_USER_METRICS_H
#define KF_BASE_RECORD_USER_METRICS_H

#include "base/expression/expression.h"
#include "base/plan/problem.h"
#include "base/record/measurement.h"
#include "base/space/space.h"

typedef struct kf_user_metric {
    char name[KF_USER_METRIC_NAME];
    char *text;                /* of the expression; owned */
    kf_expression *expression; /* owned */
    bool energy;               /* it needs the energy of a step */
    bool counters;             /* it needs hardware counters; set by kf_user_metrics_check */
} kf_user_metric;

enum { KF_USER_METRICS = 16 };
typedef struct kf_user_metrics {
    kf_user_metric list[KF_USER_METRICS];
    int count;
} kf_user_metrics;

/* Adds a metric that the user wrote as "name=expression". KF_BAD_INPUT with the column of the mistake. */
kf_status kf_user_metrics_add(kf_user_metrics *metrics, const char *definition, kf_error *error);
void kf_user_metrics_free(kf_user_metrics *metrics); /* NULL is fine */
/* KF_BAD_INPUT, with column and the nearest right name, if a metric uses an unknown name or is called like a
 * parameter. counters: the names of what will be counted. */
kf_status kf_user_metrics_check(kf_user_metrics *metrics, const kf_problem *problem, const kf_space *space,
                                const char *const *counters, int counter_count, kf_error *error);
/* Returns whether a metric needs the energy of a step. */
bool kf_user_metrics_need_energy(const kf_user_metrics *metrics);
/* Returns [{"name": "gflops", "expression": "2*n/time"}]; an empty list for NULL. The caller deletes it. */
cJSON *kf_user_metrics_to_json(const kf_user_metrics *metrics);

/* Computes the metrics of a measurement, in their order, and replaces earlier values. A measurement that is
 * not ok has none. A value that cannot be computed (division by zero, unknown energy) is NAN; *why (may be
 * NULL) then gets the first reason, else "". */
enum { KF_USER_REASON = 256 };
void kf_user_metrics_compute(const kf_user_metrics *metrics, const kf_problem *problem,
                             const kf_config *config, kf_measurement *measurement, char why[KF_USER_REASON]);

/* Reads an objective: "time", "max:gflops", "time,min:energy", with names of quantities and metrics.
 * KF_BAD_INPUT otherwise. */
kf_status kf_objective_read(const char *text, const kf_user_metrics *metrics, kf_objective *objective,
                            kf_error *error);

#endif
