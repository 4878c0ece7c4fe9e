#include "harness/worker/together.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "harness/worker/job.h"

/* Why the device cannot be used any more; KF_OK: it can. The result of the config that ruined it is stored
 * before the run ends. */
static kf_error ruin = {KF_OK, ""};

/* Lets a signal that ends one process end the tuning in all, because the others do not receive it. */
static void share_interrupt(void) {
    double interrupted = kf_interrupted != 0;
    kf_error lost; /* the next message reports it as well */
    if (kf_world_most(&interrupted, 1, &lost) == KF_OK && interrupted > 0.0) kf_interrupted = 1;
}

static kf_status evaluate(const kf_worker_setup *setup, const kf_job *job, kf_measurement *m,
                          kf_error *error) {
    char hash[KF_HASH_HEX], what[64 + KF_HASH_HEX];
    bool usable = true;
    kf_config_hash(&job->config, hash);
    (void)snprintf(what, sizeof what, "config %.12s", hash);
    kf_world_limit(setup->compile_limit_seconds + setup->limit_seconds, what);
    const kf_status status =
        kf_evaluate(&setup->setting, setup->together, job, NULL, NULL, m, &usable, error);
    /* A new process could help if memory is lacking, but there is none here. */
    kf_error found = {KF_OK, ""};
    const kf_status ruined = usable ? KF_OK : kf_backend_synchronize(setup->together, &found);
    if (ruined != KF_OK) (void)kf_fail_context(&found, "config %.12s left the device unusable", hash);
    if (kf_world_agree(ruined, &found) != KF_OK)
        (void)kf_fail(&ruin, KF_HOST, "%s", found.message);
    else
        share_interrupt();
    kf_world_limit(0, "");
    return status;
}

kf_status kf_together_measure(const kf_worker_setup *setup, const kf_job *job, kf_measurement *measurement,
                              kf_error *error) {
    if (ruin.status != KF_OK) return kf_fail(error, ruin.status, "%s", ruin.message);
    cJSON *json = kf_job_to_json(job);
    char *text = cJSON_PrintUnformatted(json);
    int64_t bytes = (int64_t)strlen(text) + 1;
    cJSON_Delete(json);
    kf_status status = kf_world_share(&bytes, sizeof bytes, error);
    if (status == KF_OK) status = kf_world_share(text, (size_t)bytes, error);
    free(text);
    return status == KF_OK ? evaluate(setup, job, measurement, error) : status;
}

kf_status kf_together_end(kf_error *error) {
    int64_t bytes = 0;
    return kf_world_share(&bytes, sizeof bytes, error);
}

enum { LONGEST_JOB = 16 << 20 };

/* Takes the next job from the first process; *ended: there are no more jobs. */
static kf_status take_job(kf_job *job, bool *ended, kf_error *error) {
    int64_t bytes = 0;
    KF_TRY(kf_world_share(&bytes, sizeof bytes, error));
    *ended = bytes == 0;
    if (*ended) return KF_OK;
    if (bytes < 0 || bytes > LONGEST_JOB)
        return kf_fail(error, KF_HOST, "a job of the first process is too long");
    char *text = kf_allocate_zeroed((size_t)bytes + 1, 1);
    kf_status status = kf_world_share(text, (size_t)bytes, error);
    cJSON *json = status == KF_OK ? cJSON_Parse(text) : NULL;
    if (status == KF_OK) status = kf_job_from_json(json, job, error);
    cJSON_Delete(json);
    free(text);
    return status;
}

kf_status kf_together_follow(const kf_worker_setup *setup, kf_error *error) {
    for (;;) {
        kf_job job;
        kf_measurement measurement = {0};
        kf_error said; /* the first process reports it as well */
        bool ended;
        KF_TRY(take_job(&job, &ended, error));
        if (ended) return KF_OK;
        (void)evaluate(setup, &job, &measurement, &said);
        kf_measurement_free(&measurement);
    }
}
