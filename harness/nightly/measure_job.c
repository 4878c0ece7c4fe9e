/* The process of a night: opens the device, measures its job, prints what it found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/device_json.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/counters/count.h"
#include "harness/nightly/job.h"
#include "harness/worker/evaluate.h"
#include "solver/systems.h"

static void no_report(void *context, kf_stage stage) {
    (void)context;
    (void)stage;
}

static void print_answer(const kf_problem *problem, const kf_device_info *device,
                         const kf_measurement *measurement) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "kftune", KF_VERSION);
    (void)cJSON_AddStringToObject(json, "command", "nightly measure");
    (void)cJSON_AddItemToObject(json, "device", kf_device_to_json(device));
    (void)cJSON_AddStringToObject(json, "identity", device->identity);
    (void)cJSON_AddStringToObject(json, "scene_hash", problem->hash);
    (void)cJSON_AddItemToObject(json, "measurement", kf_measurement_to_json(measurement));
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    puts(text != NULL ? text : "{}");
    free(text);
}

static kf_status measure_on(const kf_nightly_job *job, const kf_setting *setting, bool verify,
                            kf_error *error) {
    kf_backend *backend = NULL;
    if (setting->counters != NULL) kf_counting_prepare();
    KF_TRY(kf_backend_open(job->device[0] != '\0' ? job->device : NULL, &backend, error));
    const kf_job evaluation = {.config = job->config, .verify = verify, .time_limit_us = 1e6 * job->seconds};
    kf_measurement *measurement = kf_allocate_zeroed(1, sizeof *measurement);
    bool usable = true;
    const kf_status status =
        kf_evaluate(setting, backend, &evaluation, no_report, NULL, measurement, &usable, error);
    if (status == KF_OK) print_answer(setting->problem, kf_backend_device(backend), measurement);
    kf_measurement_free(measurement);
    free(measurement);
    /* A context that a kernel ruined need not close. */
    if (usable) kf_backend_close(backend);
    return status;
}

static kf_status measure_problem(const kf_nightly_job *job, kf_problem *problem, bool verify,
                                 const kf_metric_set *counters, kf_error *error) {
    kf_trial trial;
    kf_status status = kf_trial_open(problem, &trial, error);
    if (status == KF_OK && verify) status = kf_trial_refer(&trial, error);
    const kf_setting setting = {.problem = problem, .trial = &trial, .counters = counters};
    if (status == KF_OK) status = measure_on(job, &setting, verify, error);
    kf_trial_close(&trial);
    return status;
}

kf_status kf_nightly_measure(const char *job_text, bool verify, const char *counters,
                             const kf_system *(*dress)(const kf_system *system), kf_error *error) {
    kf_nightly_job *job = kf_allocate(sizeof *job);
    kf_problem *problem = NULL;
    kf_metric_set *set = NULL;
    kf_status status = kf_nightly_job_read(job_text, job, error);
    if (status == KF_OK && counters != NULL) status = kf_metric_set_open(counters, &set, error);
    if (status == KF_OK) status = kf_problem_open(job->scene, job->system, &job->options, &problem, error);
    if (status == KF_OK && dress != NULL) problem->system = dress(problem->system);
    if (status == KF_OK) status = measure_problem(job, problem, verify, set, error);
    kf_problem_free(problem);
    if (set != NULL) kf_metric_set_free(set);
    free(job);
    return status;
}
