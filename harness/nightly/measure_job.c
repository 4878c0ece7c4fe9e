/* The process of a night: opens the device, measures its job, prints what it found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/device_json.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/counters/count.h"
#include "harness/nightly/job.h"
#include "harness/nightly/planted.h"
#include "harness/worker/evaluate.h"
#include "scene/scene.h"
#include "solver/systems.h"

enum { VERIFY_NODES = 24000, VERIFY_STEPS = 10 }; /* as in a tuning run */

static void no_report(void *context, kf_stage stage) {
    (void)context;
    (void)stage;
}

static void print_answer(const kf_scene *scene, const kf_device_info *device,
                         const kf_measurement *measurement) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "kftune", KF_VERSION);
    (void)cJSON_AddStringToObject(json, "command", "nightly measure");
    (void)cJSON_AddItemToObject(json, "device", kf_device_to_json(device));
    (void)cJSON_AddStringToObject(json, "identity", device->identity);
    (void)cJSON_AddStringToObject(json, "scene_hash", scene->hash);
    (void)cJSON_AddItemToObject(json, "measurement", kf_measurement_to_json(measurement));
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    puts(text != NULL ? text : "{}");
    free(text);
}

static kf_status measure_on(const kf_nightly_job *job, const kf_bench *bench, bool verify, kf_error *error) {
    kf_backend *backend = NULL;
    if (bench->counters != NULL) kf_counting_prepare();
    KF_TRY(kf_backend_open(job->device[0] != '\0' ? job->device : NULL, &backend, error));
    const kf_job evaluation = {.config = job->config, .verify = verify, .time_limit_us = 1e6 * job->seconds};
    kf_measurement *measurement = kf_allocate_zeroed(1, sizeof *measurement);
    bool usable = true;
    const kf_status status =
        kf_evaluate(bench, backend, &evaluation, no_report, NULL, measurement, &usable, error);
    if (status == KF_OK) print_answer(bench->scene, kf_backend_device(backend), measurement);
    kf_measurement_free(measurement);
    free(measurement);
    /* A context that a kernel ruined need not close. */
    if (usable) kf_backend_close(backend);
    return status;
}

static kf_status measure_scene(const kf_nightly_job *job, const kf_system *system, const kf_scene *scene,
                               bool verify, const kf_metric_set *counters, kf_error *error) {
    KF_TRY(system->accepts(scene, error));
    kf_scene *reduced = NULL;
    kf_reference *reference = NULL;
    KF_TRY(kf_scene_reduce(scene, VERIFY_NODES, &reduced, error));
    kf_status status = KF_OK;
    if (verify) status = system->reference(reduced, VERIFY_STEPS, &reference, error);
    const kf_bench bench = {.system = job->planted > 0 ? kf_system_planted(system, job->planted) : system,
                            .scene = scene,
                            .reduced = reduced,
                            .reference = reference,
                            .reference_steps = VERIFY_STEPS,
                            .counters = counters};
    if (status == KF_OK) status = measure_on(job, &bench, verify, error);
    if (reference != NULL) system->free_reference(reference);
    kf_scene_free(reduced);
    return status;
}

kf_status kf_nightly_measure(const char *job_text, bool verify, const char *counters, kf_error *error) {
    kf_nightly_job *job = kf_allocate(sizeof *job);
    const kf_system *system = NULL;
    kf_scene *scene = NULL;
    kf_metric_set *set = NULL;
    kf_status status = kf_nightly_job_read(job_text, job, error);
    if (status == KF_OK && counters != NULL) status = kf_metric_set_open(counters, &set, error);
    if (status == KF_OK) status = kf_system_find(job->system, &system, error);
    if (status == KF_OK) {
        kf_scene_options options = {.samples_per_cell = job->samples_per_cell};
        memcpy(options.nodes, job->nodes, sizeof options.nodes);
        status = kf_scene_open(job->scene, &options, &scene, error);
    }
    if (status == KF_OK) status = measure_scene(job, system, scene, verify, set, error);
    if (scene != NULL) kf_scene_free(scene);
    if (set != NULL) kf_metric_set_free(set);
    free(job);
    return status;
}
