#include "harness/worker/job.h"

#include <math.h>
#include <string.h>

/* Makes the JSON of a job for a worker in another process. The caller owns it. */
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

/* Reads a number of the job between low and high. */
static bool take(const cJSON *json, const char *key, double low, double high, double *number) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    *number = cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
    return *number >= low && *number <= high;
}

static bool take_incumbent(const cJSON *json, kf_incumbent *incumbent) {
    const cJSON *sample;
    cJSON_ArrayForEach(sample, cJSON_GetObjectItemCaseSensitive(json, "incumbent")) {
        if (incumbent->count == KF_SKIP_SAMPLES || !cJSON_IsNumber(sample)) return false;
        incumbent->samples_us[incumbent->count++] = sample->valuedouble;
    }
    return take(json, "incumbent_high_us", 0.0, (double)INFINITY, &incumbent->high_us);
}

/* Reads a job from its JSON and checks every number, because another process wrote it. */
kf_status kf_job_from_json(const cJSON *json, kf_job *job, kf_error *error) {
    enum { MOST_SETTINGS = 1 << 16, MOST_SAMPLES = 1 << 24 };
    double other, samples;
    memset(job, 0, sizeof *job);
    job->examine = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "examine"));
    job->verify = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "verify"));
    job->may_lose = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "may_lose"));
    job->single_launches = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "single_launches"));
    if (!take(json, "other", 0.0, MOST_SETTINGS, &other) ||
        !take(json, "least_samples", 0.0, MOST_SAMPLES, &samples) ||
        !take(json, "time_limit_us", 0.0, (double)INFINITY, &job->time_limit_us) ||
        !take(json, "long_cycle_us", 0.0, (double)INFINITY, &job->long_cycle_us) ||
        !take(json, "effort", 0.0, 1.0, &job->effort) || !take_incumbent(json, &job->incumbent))
        return kf_fail(error, KF_HOST, "a worker received an invalid job");
    job->other = (int)other;
    job->least_samples = (size_t)samples;
    return kf_config_from_json("job", cJSON_GetObjectItemCaseSensitive(json, "config"), &job->config, error);
}
