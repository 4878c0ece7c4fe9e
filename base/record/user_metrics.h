/* Metrics and objectives of the user's. A metric is an expression (base/expression) over what was measured of
 * a config, its parameters and its problem: "gflops=2*m*n*k/time/1e9". An objective is a quantity to minimise
 * or maximise, or several of them: "max:gflops", "time,energy".
 *
 * An expression may use, the first that has the name: time (s), energy (J), power (W) and edp (J s) of a
 * step; the config's parameters; metrics before it; numbers of the problem (kf_system.numbers, facts);
 * hardware counters of the whole step (or of its kernel, where there is one alone). Where a parameter and a
 * number of the problem share a name, parameter_NAME and problem_NAME say which is meant, and the bare name
 * is refused. */
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
    bool counters;             /* it needs hardware counters; known after kf_user_metrics_check */
} kf_user_metric;

enum { KF_USER_METRICS = 16 };
typedef struct kf_user_metrics {
    kf_user_metric list[KF_USER_METRICS];
    int count;
} kf_user_metrics;

/* Adds one as the user writes it, "name=expression". KF_BAD_INPUT with the column of what is wrong. */
kf_status kf_user_metrics_add(kf_user_metrics *metrics, const char *definition, kf_error *error);
void kf_user_metrics_free(kf_user_metrics *metrics); /* NULL is fine */
/* KF_BAD_INPUT, with column and the nearest right name, where a metric uses a name that nothing has, or has
 * the name of a parameter. counters: names of what will be counted. */
kf_status kf_user_metrics_check(kf_user_metrics *metrics, const kf_problem *problem, const kf_space *space,
                                const char *const *counters, int counter_count, kf_error *error);
/* Tells whether any needs the energy of a step. */
bool kf_user_metrics_need_energy(const kf_user_metrics *metrics);
/* [{"name": "gflops", "expression": "2*n/time"}]; metrics NULL: an empty list. The caller owns it. */
cJSON *kf_user_metrics_to_json(const kf_user_metrics *metrics);

/* Computes the metrics of a measurement anew, in their order; of one that is not ok there are none. What
 * cannot be computed (a division by zero, energy that the device does not tell) is NAN; *why, unless it is
 * NULL, is then the first reason, else "". */
enum { KF_USER_REASON = 256 };
void kf_user_metrics_compute(const kf_user_metrics *metrics, const kf_problem *problem,
                             const kf_config *config, kf_measurement *measurement, char why[KF_USER_REASON]);

/* Reads "time", "max:gflops", "time,min:energy": names of quantities and metrics. KF_BAD_INPUT otherwise. */
kf_status kf_objective_read(const char *text, const kf_user_metrics *metrics, kf_objective *objective,
                            kf_error *error);

#endif
