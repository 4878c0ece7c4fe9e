/* Writes and reads the jobs that are sent to other processes. */
#ifndef KF_HARNESS_WORKER_JOB_H
#define KF_HARNESS_WORKER_JOB_H

#include <cjson/cJSON.h>

#include "harness/worker/evaluate.h"

/* Write a job for another process, and read it there. The caller frees the JSON. */
cJSON *kf_job_to_json(const kf_job *job);
kf_status kf_job_from_json(const cJSON *json, kf_job *job, kf_error *error);

#endif
