/* Finds what a larger error would gain. The problem is opened with the loosest accuracy, and the best config
 * is measured with values that only this space has. The gate finds their error. */
#include <math.h>

#include "base/util/clock.h"
#include "base/util/log.h"
#include "base/util/program.h"
#include "harness/tune/session.h"

static const double LOOSEST = 0.1; /* the loosest accuracy that a scene may have */

/* The problem with that accuracy, its space and its trial. */
typedef struct loose {
    kf_problem *problem;
    kf_space *space;
    kf_trial trial;
} loose;

static void close_loose(loose *l) {
    kf_trial_close(&l->trial);
    if (l->space != NULL) kf_space_free(l->space);
    kf_problem_free(l->problem);
}

/* Opens them. Returns false if the problem's system has no accuracy, or if its source no longer exists. */
static bool open_loose(const kf_session *session, loose *l) {
    const kf_problem *problem = session->request->problem;
    kf_problem_options options = kf_problem_options_of(&problem->facts, problem->seed);
    kf_error error;
    *l = (loose){.problem = NULL};
    if (options.accuracy >= LOOSEST) return false;
    options.accuracy = LOOSEST;
    options.sections = problem->sections;
    if (problem->system->open == NULL ||
        problem->system->open(problem->source, &options, &l->problem, &error) != KF_OK)
        return false;
    l->problem->system = problem->system;
    return kf_problem_space(l->problem, &session->result->device, NULL, 0, &l->space, &error) == KF_OK &&
           kf_trial_open(l->problem, &l->trial, &error) == KF_OK &&
           kf_trial_refer(&l->trial, &error) == KF_OK;
}

/* Lists the best config with one value replaced by one that only the loose space has. */
static int find_candidates(const kf_session *session, const kf_space *strict, const loose *l,
                           kf_config candidates[KF_ALTERNATIVES], kf_value values[KF_ALTERNATIVES]) {
    const kf_config *best = &session->result->tried.items[session->result->best].config;
    int count = 0;
    for (int p = 0; p < kf_space_parameter_count(l->space); p++)
        for (int v = 0; v < kf_space_domain_size(l->space, p) && count < KF_ALTERNATIVES; v++) {
            kf_config *config = &candidates[count];
            uint64_t place;
            kf_space_value(l->space, p, v, &values[count]);
            *config = *best;
            kf_config_set(config, &values[count]);
            if (kf_space_index(l->space, config, &place, NULL, 0) &&
                !kf_space_index(strict, config, &place, NULL, 0))
                count++;
        }
    return count;
}

static kf_status measure(kf_session *session, kf_worker *worker, const kf_config *config,
                         const kf_value *value, kf_error *error) {
    kf_tune_result *result = session->result;
    const kf_measurement *best = &result->tried.items[result->best].measurement;
    const kf_job job = {.config = *config, .verify = true, .effort = best->effort};
    kf_outcome outcome = KF_ABANDONED;
    kf_measurement m;
    KF_TRY(kf_worker_measure(worker, &job, session->deadline, kf_session_idle, session, &outcome, &m, error));
    if (outcome == KF_ABANDONED) return KF_OK;
    if (m.state == KF_STATE_OK)
        result->alternatives[result->alternative_count++] =
            (kf_alternative){*value, best->step_us.median / m.step_us.median, m.verification.error};
    kf_measurement_free(&m);
    return KF_OK;
}

/* Measures all alternatives in a worker that has the loose problem. The ordinary worker is closed first to
 * free its memory. */
static kf_status measure_all(kf_session *session, const kf_space *strict, const loose *l, kf_error *error) {
    kf_config candidates[KF_ALTERNATIVES];
    kf_value values[KF_ALTERNATIVES];
    const int count = find_candidates(session, strict, l, candidates, values);
    const kf_setting setting = {.problem = l->problem,
                                .trial = &l->trial,
                                .cache = session->setting.cache,
                                .turns = session->setting.turns};
    kf_worker_setup setup = kf_session_worker_setup(session);
    kf_worker *worker = NULL;
    if (count == 0) return KF_OK;
    setup.setting = setting;
    /* The first worker ends first, because the next one needs its memory. */
    kf_worker_close(session->worker);
    session->worker = NULL;
    KF_TRY(kf_worker_open(&setup, &worker, error));
    kf_status status = KF_OK;
    for (int c = 0; c < count && status == KF_OK && !kf_interrupted; c++) {
        const size_t ticket =
            kf_builder_add_problems(session->builder, l->trial.problem, l->problem, &candidates[c]);
        if (!kf_builder_wait(session->builder, ticket, session->deadline, kf_session_idle, session)) break;
        status = measure(session, worker, &candidates[c], &values[c], error);
    }
    kf_worker_close(worker);
    return status;
}

/* Measures alternatives with a looser accuracy if the remaining budget allows opening the problem again. */
kf_status kf_tune_alternatives(kf_session *session, kf_error *error) {
    static const double AGAIN = 1.5,
                        REST =
                            1.0; /* opening takes as long as before; the rest is for the trial and a worker */
    const kf_tune_request *request = session->request;
    kf_tune_result *result = session->result;
    const double needed = AGAIN * result->timeline.scene + REST + session->opening;
    loose l;
    kf_space *strict = NULL;
    if (request->together != NULL)
        return KF_OK; /* the other processes have the problem with its own accuracy */
    if (session->deadline <= 0.0 || kf_clock_seconds() + needed >= session->deadline) return KF_OK;
    kf_tune_choose(result);
    if (result->best < 0) return KF_OK;
    kf_status status = KF_OK;
    if (open_loose(session, &l)) {
        status = kf_problem_space(request->problem, &result->device, NULL, 0, &strict, error);
        if (status == KF_OK) status = measure_all(session, strict, &l, error);
    }
    if (strict != NULL) kf_space_free(strict);
    close_loose(&l);
    return status;
}
