/* Records a machine's noise: unchanged nights one after the other, and processes with a planted
 * regression. This shows how small a regression the detector finds there, and how often it is wrong. */
#ifndef KF_TESTS_TOOLS_RECORD_H
#define KF_TESTS_TOOLS_RECORD_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "harness/nightly/suite.h"
#include "tests/tools/simulate.h"

typedef struct kf_record_request {
    const kf_suite *suite;
    kf_store *store; /* programs are kept beside it, and configs may come from it */
    int nights;
    int planted_processes;  /* for each percentage, and as many unchanged ones */
    const double *percents; /* of the step, to be planted */
    int percent_count;
} kf_record_request;

/* Makes the object that kf_recording_read reads, which the caller deletes (cJSON_Delete). After Ctrl-C it
 * has what was recorded until then. */
kf_status kf_record_nights(const kf_record_request *request, cJSON **json, kf_error *error);

/* Finds false alarms and misses on nights resampled from recordings. Prints a table, and returns an object
 * for --json. */
cJSON *kf_rates(const kf_recording *recordings, int count, int nights, int trials, FILE *table);

#endif
