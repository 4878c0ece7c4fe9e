#include "harness/nightly/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/text.h"

enum { PROTOCOL = 2 }; /* must be increased when older programs would misread a job */

char *kf_nightly_job_text(const kf_nightly_job *job) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(json, "protocol", PROTOCOL);
    (void)cJSON_AddStringToObject(json, "scene", job->scene);
    (void)cJSON_AddItemToObject(json, "grid", cJSON_CreateIntArray(job->options.nodes, 3));
    (void)cJSON_AddNumberToObject(json, "samples_per_cell", job->options.samples_per_cell);
    (void)cJSON_AddStringToObject(json, "system", job->system);
    (void)cJSON_AddStringToObject(json, "device", job->device);
    (void)cJSON_AddItemToObject(json, "config", kf_config_to_json(&job->config));
    (void)cJSON_AddNumberToObject(json, "seconds", job->seconds);
    char *text = kf_json_canonical(json);
    cJSON_Delete(json);
    return text;
}

/* Reads a job from its JSON. Another program may have written it, so each member is required and checked. */
static kf_status read_job(const cJSON *json, kf_nightly_job *job, kf_error *error) {
    static const char *const keys[] = {"protocol", "scene",   "grid", "samples_per_cell", "system", "device",
                                       "config",   "seconds", NULL};
    kf_json_place place = {"job", ""};
    long protocol = 0;
    double grid[3] = {0, 0, 0};
    const char *scene = "", *system = "", *device = "";
    const cJSON *config = NULL;
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(kf_json_integer(place, json, "protocol", true, PROTOCOL, PROTOCOL, &protocol, error));
    KF_TRY(kf_json_string(place, json, "scene", true, &scene, error));
    KF_TRY(kf_json_string(place, json, "system", true, &system, error));
    KF_TRY(kf_json_string(place, json, "device", true, &device, error));
    KF_TRY(kf_json_numbers(place, json, "grid", true, 0, 1 << 20, 3, grid, error));
    KF_TRY(kf_json_number(place, json, "samples_per_cell", true, 0, KF_MOST_SAMPLES_PER_CELL,
                          &job->options.samples_per_cell, error));
    KF_TRY(kf_json_number(place, json, "seconds", true, 0, 3600, &job->seconds, error));
    KF_TRY(kf_json_object(place, json, "config", true, &config, error));
    for (int axis = 0; axis < 3; axis++)
        job->options.nodes[axis] = (int)grid[axis];
    kf_copy_text(job->scene, sizeof job->scene, scene);
    kf_copy_text(job->system, sizeof job->system, system);
    kf_copy_text(job->device, sizeof job->device, device);
    return kf_config_from_json("job", config, &job->config, error);
}

kf_status kf_nightly_job_read(const char *text, kf_nightly_job *job, kf_error *error) {
    memset(job, 0, sizeof *job);
    cJSON *json = NULL;
    KF_TRY(kf_json_parse("job", text, strlen(text), &json, error));
    kf_status status = read_job(json, job, error);
    cJSON_Delete(json);
    return status;
}
