#include "harness/worker/job.h"

#include <string.h>

cJSON *kf_job_to_json(const kf_job *job) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddItemToObject(json, "config", kf_config_to_json(&job->config));
    (void)cJSON_AddNumberToObject(json, "other", job->other);
    (void)cJSON_AddBoolToObject(json, "examine", job->examine);
    (void)cJSON_AddBoolToObject(json, "verify", job->verify);
    (void)cJSON_AddBoolToObject(json, "may_lose", job->may_lose);
    (void)cJSON_AddBoolToObject(json, "single_launches", job->single_launches);
    (void)cJSON_AddNumberToObject(json, "time_limit_us", job->time_limit_us);
    (void)cJSON_AddNumberToObject(json, "least_samples", (double)job->least_samples);
    (void)cJSON_AddNumberToObject(json, "long_cycle_us", job->long_cycle_us);
    (void)cJSON_AddNumberToObject(json, "effort", job->effort);
    (void)cJSON_AddNumberToObject(json, "incumbent_high_us", job->incumbent.high_us);
    cJSON *incumbent = cJSON_AddArrayToObject(json, "incumbent");
    for (int i = 0; i < job->incumbent.count; i++)
        (void)cJSON_AddItemToArray(incumbent, cJSON_CreateNumber(job->incumbent.samples_us[i]));
    return json;
}

/* 0 where there is none, or none that could be meant. */
static long whole_number(const cJSON *json, const char *key) {
    const double value = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(json, key));
    return value >= 0.0 && value <= 1e9 ? (long)value : 0;
}

kf_status kf_job_from_json(const cJSON *json, kf_job *job, kf_error *error) {
    memset(job, 0, sizeof *job);
    job->other = (int)whole_number(json, "other");
    job->examine = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "examine"));
    job->verify = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "verify"));
    job->may_lose = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "may_lose"));
    job->single_launches = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "single_launches"));
    job->time_limit_us = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(json, "time_limit_us"));
    job->least_samples = (size_t)whole_number(json, "least_samples");
    job->long_cycle_us = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(json, "long_cycle_us"));
    job->effort = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(json, "effort"));
    job->incumbent.high_us =
        cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(json, "incumbent_high_us"));
    const cJSON *sample;
    cJSON_ArrayForEach(sample, cJSON_GetObjectItemCaseSensitive(json, "incumbent")) {
        if (job->incumbent.count < KF_SKIP_SAMPLES)
            job->incumbent.samples_us[job->incumbent.count++] = cJSON_GetNumberValue(sample);
    }
    return kf_config_from_json("job", cJSON_GetObjectItemCaseSensitive(json, "config"), &job->config, error);
}
