/* Counts hardware events for the finalists and all presets after all timing, in a separate worker. */
#include <string.h>

#include "base/util/log.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/counters/count_plan.h"
#include "harness/tune/session.h"

enum {
    COUNT_LIMIT_SECONDS = 300
}; /* counting takes many passes, each from the start, and patches kernels first */

/* Returns whether a config is the best, or a preset for comparison, without having been in the final. */
static bool counts_of_search(const kf_tune_result *result, int tried) {
    const kf_evaluation *evaluation = &result->tried.items[tried];
    bool wanted = tried == result->best;
    for (int i = 0; i < KF_PRESETS; i++)
        wanted = wanted || tried == result->presets[i];
    for (int i = 0; i < result->finals.count; i++)
        wanted = wanted && strcmp(result->finals.items[i].hash, evaluation->hash) != 0;
    return wanted && evaluation->measurement.state == KF_STATE_OK;
}

/* Moves the counters into the evaluation and its row; *stop: counting does not work here. */
static kf_status take(kf_session *session, kf_evaluation *evaluation, kf_measurement *counted, bool *stop,
                      kf_error *error) {
    kf_measurement *m = &evaluation->measurement;
    if (counted->counter_count == 0) {
        /* A config that fails only when it is counted is an exception. A machine without counters is not. */
        *stop = counted->state == KF_STATE_OK;
        kf_warn("%s", counted->reason[0] != '\0' ? counted->reason : "counters: nothing was counted");
        return KF_OK;
    }
    m->counters = counted->counters;
    m->counter_count = counted->counter_count;
    counted->counters = NULL;
    counted->counter_count = 0;
    kf_counters_complete(session->request->counters, m);
    kf_user_metrics_compute(session->request->metrics, session->request->problem, &evaluation->config, m,
                            NULL);
    if (evaluation->sequence < 0) return KF_OK;
    KF_TRY(kf_store_add_user_values(session->request->store, &session->result->run, evaluation->sequence, m,
                                    error));
    return kf_store_add_counters(session->request->store, &session->result->run, evaluation->sequence, m,
                                 error);
}

static kf_status count_one(kf_session *session, kf_worker *worker, kf_evaluation *evaluation, bool *stop,
                           kf_error *error) {
    const kf_job job = {.config = evaluation->config};
    kf_outcome outcome = KF_ABANDONED;
    kf_measurement counted;
    if (evaluation->measurement.state != KF_STATE_OK) return KF_OK;
    KF_TRY(kf_worker_measure(worker, &job, 0.0, NULL, NULL, &outcome, &counted, error));
    *stop = outcome == KF_ABANDONED;
    if (*stop) return KF_OK;
    const kf_status status = take(session, evaluation, &counted, stop, error);
    kf_measurement_free(&counted);
    return status;
}

static kf_status count_all(kf_session *session, kf_worker *worker, kf_error *error) {
    kf_tune_result *result = session->result;
    bool stop = false;
    for (int i = 0; i < result->finals.count && !stop; i++)
        KF_TRY(count_one(session, worker, &result->finals.items[i], &stop, error));
    kf_tune_choose(result);
    for (int i = 0; i < result->tried.count && !stop; i++)
        if (counts_of_search(result, i))
            KF_TRY(count_one(session, worker, &result->tried.items[i], &stop, error));
    return KF_OK;
}

kf_status kf_tune_count(kf_session *session, kf_error *error) {
    /* The first worker ends first, because the next one needs its memory, and its context would disturb the
     * profiler. */
    kf_worker_close(session->worker);
    session->worker = NULL;
    kf_worker_setup setup = kf_session_worker_setup(session);
    setup.setting.counters = session->request->counters;
    setup.limit_seconds = COUNT_LIMIT_SECONDS;
    kf_info("counting '%s'", session->request->counters->name);
    kf_worker *worker = NULL;
    KF_TRY(kf_worker_open(&setup, &worker, error));
    const kf_status status = count_all(session, worker, error);
    kf_worker_close(worker);
    return status;
}
