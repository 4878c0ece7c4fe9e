/* Acts as a process of a night: opens the device, measures its job, and prints the result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/device_json.h"
#include "base/backend/team/team.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/counters/count.h"
#include "harness/nightly/command.h"
#include "harness/nightly/job.h"
#include "harness/worker/evaluate.h"
#include "solver/systems.h"

/* Prints the answer as one line, the last line that the process prints. */
static void print_answer(const kf_problem *problem, const kf_device_info *device,
                         const kf_measurement *measurement) {
    cJSON *json = kf_json_answer("nightly measure");
    if (device != NULL) {
        (void)cJSON_AddItemToObject(json, "device", kf_device_to_json(device));
        (void)cJSON_AddStringToObject(json, "identity", device->identity);
        (void)cJSON_AddStringToObject(json, "scene_hash", problem->hash);
    }
    (void)cJSON_AddItemToObject(json, "measurement", kf_measurement_to_json(measurement));
    char *text = kf_json_text(json, false);
    cJSON_Delete(json);
    puts(text != NULL ? text : "{}");
    free(text);
}

/* Measures on the device, and closes the trial with it, because the trial's reference may use memory there.
 */
static kf_status measure_on(const kf_nightly_job *job, const kf_setting *setting, kf_trial *trial,
                            bool verify, kf_error *error) {
    kf_backend *backend = NULL;
    if (setting->counters != NULL) kf_counting_prepare();
    const kf_status opened = kf_backend_open(job->device[0] != '\0' ? job->device : NULL, &backend, error);
    if (opened != KF_OK) {
        kf_trial_close(trial);
        return opened;
    }
    const kf_job evaluation = {.config = job->config, .verify = verify, .time_limit_us = 1e6 * job->seconds};
    kf_measurement *measurement = kf_allocate_zeroed(1, sizeof *measurement);
    bool usable = true;
    const kf_status status =
        kf_evaluate(setting, backend, &evaluation, NULL, NULL, measurement, &usable, error);
    if (status == KF_OK) print_answer(setting->problem, kf_backend_device(backend), measurement);
    kf_measurement_free(measurement);
    free(measurement);
    /* A context that a kernel ruined cannot be closed. */
    if (usable) {
        kf_trial_close(trial);
        kf_backend_close(backend);
    }
    return status;
}

static kf_status measure_problem(const kf_nightly_job *job, kf_problem *problem, bool verify,
                                 const kf_metric_set *counters, kf_error *error) {
    kf_trial trial;
    kf_status status = kf_trial_open(problem, &trial, error);
    if (status == KF_OK && verify) status = kf_trial_refer(&trial, error);
    const kf_setting setting = {.problem = problem, .trial = &trial, .counters = counters};
    if (status == KF_OK) return measure_on(job, &setting, &trial, verify, error);
    kf_trial_close(&trial);
    return status;
}

/* Measures {"build": HASH, "command": {...}}. The first process of a night also counts. */
static kf_status measure_command(const cJSON *json, bool first, kf_error *error) {
    static const char *const keys[] = {"build", "command", NULL};
    const kf_json_place place = {"job", ""};
    const cJSON *inner = NULL;
    const char *build = "";
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(kf_json_string(place, json, "build", true, &build, error));
    KF_TRY(kf_json_object(place, json, "command", true, &inner, error));
    KF_TRY(kf_json_check_keys((kf_json_place){"job", "command"}, inner, kf_command_keys, error));
    kf_timed_command *command = kf_allocate_zeroed(1, sizeof *command);
    kf_measurement *measurement = kf_allocate_zeroed(1, sizeof *measurement);
    kf_status status = kf_command_read((kf_json_place){"job", "command"}, inner, "/", command, error);
    if (status == KF_OK) status = kf_command_measure(command, first, measurement, error);
    kf_copy_text(measurement->build_hash, sizeof measurement->build_hash, build);
    if (status == KF_OK) print_answer(NULL, NULL, measurement);
    kf_measurement_free(measurement);
    kf_command_free(command);
    free(measurement);
    free(command);
    return status;
}

static bool is_command(const char *job_text, cJSON **json) {
    bool parsed = kf_json_parse("job", job_text, strlen(job_text), json, NULL) == KF_OK;
    return parsed && cJSON_HasObjectItem(*json, "command");
}

kf_status kf_nightly_measure(const char *job_text, bool verify, const char *counters,
                             const kf_system *(*dress)(const kf_system *system), kf_error *error) {
    cJSON *json = NULL;
    if (is_command(job_text, &json)) {
        kf_status measured = measure_command(json, verify, error);
        cJSON_Delete(json);
        return measured;
    }
    cJSON_Delete(json);
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
