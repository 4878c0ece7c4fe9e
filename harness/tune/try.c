/* Tries one config of a search: sends it to the worker, and keeps the answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/log.h"
#include "base/util/text.h"
#include "harness/tune/session.h"

static kf_incumbent incumbent_samples(const kf_session *session) {
    kf_incumbent incumbent = {0};
    if (session->incumbent < 0) return incumbent;
    const kf_measurement *best = &session->result->tried.items[session->incumbent].measurement;
    if (best->sample_count < KF_SKIP_SAMPLES) return incumbent;
    incumbent.count = KF_SKIP_SAMPLES;
    memcpy(incumbent.samples_us, best->samples_us, sizeof incumbent.samples_us);
    incumbent.high_us = best->step_us.high;
    return incumbent;
}

/* Returns the time limit of a config. With a short budget each config is measured less precisely: it gets at
 * most a fortieth of the budget. */
static double time_limit_us(const kf_session *session) {
    double limit = kf_policy_for(&session->result->device).time_limit_us;
    const kf_budget *budget = &session->request->budget;
    double share = 1e6 * (budget->seconds + budget->device_seconds) / 40.0;
    if (session->request->timing_seconds > 0.0) return 1e6 * session->request->timing_seconds;
    return share > 0.0 ? fmin(limit, fmax(share, 1e5)) : limit;
}

static void log_result(const kf_evaluation *evaluation) {
    const kf_measurement *m = &evaluation->measurement;
    char time[32] = "";
    if (m->state == KF_STATE_OK) (void)kf_human_time_us(m->step_us.median, time);
    char *summary = kf_config_summary(&evaluation->config);
    kf_detail("%s: %s%s: %s", evaluation->role, kf_state_names[m->state], m->state == KF_STATE_OK ? "" : ":",
              m->state == KF_STATE_OK ? time : m->reason);
    kf_detail("    %s", summary);
    free(summary);
}

kf_job kf_tune_job(const kf_session *session, const kf_config *config, bool may_lose) {
    return (kf_job){.config = *config,
                    .verify = true,
                    .effort = session->effort,
                    /* A slower config may still need less energy. */
                    .may_lose = may_lose && kf_objective_is_time(&session->request->objective) &&
                                !session->request->measures_all,
                    .time_limit_us = time_limit_us(session),
                    .incumbent = incumbent_samples(session)};
}

kf_status kf_tune_accept(kf_session *session, const char *role, const kf_config *config, kf_measurement *m,
                         int *index, kf_error *error) {
    kf_status status = kf_session_store(session, role, config, m, error);
    if (status != KF_OK) {
        kf_measurement_free(m);
        return status;
    }
    *index = kf_session_note(session, role, config, m);
    session->result->tried.items[*index].sequence = session->sequence - 1;
    log_result(&session->result->tried.items[*index]);
    kf_session_progress(session, false);
    return KF_OK;
}

/* Stores a config as one that ended its process, before several processes measure it together, because a
 * config that ends one of them ends all. This result is replaced when they are done, so a resumed run does
 * not fail at the same config again. */
static kf_status expect_the_worst(kf_session *session, const char *role, const kf_config *config,
                                  kf_error *error) {
    kf_measurement worst = {.state = KF_STATE_CRASH, .effort = 1.0};
    worst.verification.error = worst.verification.bound = (double)NAN;
    kf_copy_text(worst.reason, sizeof worst.reason,
                 "the run ended while this config was measured: a process crashed, or was ended");
    return kf_store_add(session->request->store, &session->result->run, session->sequence, role, config,
                        &worst, error);
}

static kf_status measure_together(kf_session *session, const char *role, const kf_job *job, double deadline,
                                  kf_outcome *outcome, kf_measurement *m, kf_error *error) {
    kf_error lost;
    KF_TRY(expect_the_worst(session, role, &job->config, error));
    const kf_status status = kf_session_measure(session, job, deadline, outcome, m, error);
    const kf_status taken_back =
        kf_store_forget(session->request->store, &session->result->run, session->sequence, &lost);
    if (status != KF_OK || taken_back == KF_OK) return status;
    if (*outcome != KF_ABANDONED) kf_measurement_free(m);
    return kf_fail(error, taken_back, "%s", lost.message);
}

kf_status kf_tune_try(kf_session *session, const char *role, const kf_config *config, bool may_lose,
                      double deadline, int *index, kf_error *error) {
    const kf_job job = kf_tune_job(session, config, may_lose);
    kf_measurement m;
    kf_outcome outcome = KF_ABANDONED;
    *index = -1;
    if (session->request->together != NULL)
        KF_TRY(measure_together(session, role, &job, deadline, &outcome, &m, error));
    else
        KF_TRY(kf_session_measure(session, &job, deadline, &outcome, &m, error));
    return outcome == KF_ABANDONED ? KF_OK : kf_tune_accept(session, role, config, &m, index, error);
}
