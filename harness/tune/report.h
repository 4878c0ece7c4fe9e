/* Prints parts of a tuning run's report. Internal to harness/tune. */
#ifndef KF_HARNESS_TUNE_REPORT_H
#define KF_HARNESS_TUNE_REPORT_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "base/record/measurement.h"
#include "harness/tune/tune.h"

/* Width of the words at the left of the report. */
enum { KF_REPORT_LABEL = 10 };

/* Prints a row for each kernel with the most important counters. It prints nothing if none were counted. */
void kf_report_counters(const kf_measurement *measurement, FILE *stream);

/* Makes {"kernel": {"metric": value}}, with the whole step as "step". The caller frees it. */
cJSON *kf_report_counters_json(const kf_measurement *measurement);

/* These print the user's metrics of a measurement and, with several goals, the configs of the front
 * (report_goals.c). */
void kf_report_user_values(const kf_measurement *measurement, FILE *stream);
void kf_report_front(const kf_tune_result *result, FILE *stream);
cJSON *kf_report_front_json(const kf_system *system, const kf_tune_result *result);
/* Makes the JSON of one config with its measurement. */
cJSON *kf_report_config_json(const kf_system *system, const kf_evaluation *evaluation,
                             const kf_measurement *measurement);

#endif
