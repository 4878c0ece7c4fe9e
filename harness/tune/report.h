/* Parts of what a tuning run says at its end. Internal to harness/tune. */
#ifndef KF_HARNESS_TUNE_REPORT_H
#define KF_HARNESS_TUNE_REPORT_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "base/record/measurement.h"

/* A row a kernel with the counters people look at first; nothing when none were counted. */
void kf_report_counters(const kf_measurement *measurement, FILE *stream);

/* {"kernel": {"metric": value}}, the whole step as "step"; the caller deletes it. */
cJSON *kf_report_counters_json(const kf_measurement *measurement);

#endif
