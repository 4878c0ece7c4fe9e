/* Writes and reads jobs as they travel to whoever does them. */
#ifndef KF_HARNESS_WORKER_JOB_H
#define KF_HARNESS_WORKER_JOB_H

#include <cjson/cJSON.h>

#include "harness/worker/evaluate.h"

/* Write a job for another process, and read it there. The caller deletes the JSON. */
cJSON *kf_job_to_json(const kf_job *job);
kf_status kf_job_from_json(const cJSON *json, kf_job *job, kf_error *error);

#endif
