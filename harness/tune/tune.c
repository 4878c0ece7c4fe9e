#include "harness/tune/tune.h"

#include <string.h>

#include "base/util/clock.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/tune/hopeless.h"
#include "harness/tune/session.h"

static kf_status measure_all(kf_session *session, kf_error *error) {
    KF_TRY(kf_tune_search(session, error));
    if (!kf_interrupted) KF_TRY(kf_tune_final(session, error));
    if (!kf_interrupted) KF_TRY(kf_tune_take_back(session, error));
    if (!kf_interrupted) KF_TRY(kf_tune_alternatives(session, error));
    if (!kf_interrupted && session->request->counters != NULL) KF_TRY(kf_tune_count(session, error));
    return KF_OK;
}

/* Explains why there is no result: the most frequent state with an example. */
static kf_status no_result(const kf_problem *problem, const kf_tune_result *result, kf_error *error) {
    int eligible = 0;
    for (int i = 0; i < result->tried.count; i++)
        eligible += result->tried.items[i].eligible;
    if (eligible == 0)
        return kf_fail(error, KF_MACHINE,
                       "the budget was spent before any config of the space was measured; give "
                       "more than the presets take");
    int worst = KF_STATE_WRONG_RESULT;
    for (int state = 0; state < KF_STATES; state++)
        if (state != KF_STATE_OK && result->states[state] > result->states[worst]) worst = state;
    const char *reason = "";
    for (int i = result->tried.count - 1; i >= 0; i--)
        if ((int)result->tried.items[i].measurement.state == worst)
            reason = result->tried.items[i].measurement.reason;
    return kf_fail(error, kf_tune_status_of(problem, (kf_state)worst),
                   "no config gave a right result; %d of %d ended as %s: %s", result->states[worst],
                   result->tried.count, kf_state_names[worst], reason);
}

/* Concludes a run: chooses the best, ends the run in the store with its winner, and says what to do after an
 * interrupt or without a result. */
static kf_status conclude(kf_session *session, kf_status status, kf_error *error) {
    kf_tune_result *result = session->result;
    kf_tune_choose(result);
    if (status == KF_OK && kf_interrupted)
        status =
            kf_fail(error, KF_INTERRUPTED,
                    "interrupted after %d configs, all kept in %s; the same command with --resume continues",
                    result->tried.count, kf_store_path(session->request->store));
    if (result->run.id == 0) return status;
    const char *state = status == KF_OK ? "finished" : status == KF_INTERRUPTED ? "interrupted" : "failed";
    kf_error ending = {KF_OK, ""};
    kf_status ended = KF_OK;
    if (result->best_sequence >= 0)
        ended = kf_store_set_winner(session->request->store, &result->run, result->best_sequence,
                                    result->noise_floor, &ending);
    if (ended == KF_OK) ended = kf_store_end_run(session->request->store, &result->run, state, &ending);
    if (status == KF_OK && ended != KF_OK) return kf_fail(error, ended, "%s", ending.message);
    if (status == KF_OK && result->best < 0) return no_result(session->request->problem, result, error);
    return status;
}

static void note_builds(const kf_session *session) {
    const kf_builder_figures *figures = kf_builder_tell(session->builder);
    kf_tune_timeline *timeline = &session->result->timeline;
    timeline->compilers = figures->compilers;
    timeline->sources = figures->sources;
    timeline->compiling = figures->compiling_seconds;
    if (figures->compilers > 0) timeline->compiler = kf_session_moment(session, figures->started);
}

kf_status kf_tune(const kf_tune_request *request, kf_tune_result *result, kf_error *error) {
    kf_session session;
    kf_status status = kf_session_open(&session, request, result, error);
    if (status == KF_OK) {
        status = measure_all(&session, error);
        kf_session_progress(&session, true);
    }
    result->seconds = kf_session_moment(&session, kf_clock_seconds());
    if (session.builder != NULL) note_builds(&session);
    status = conclude(&session, status, error);
    kf_session_close(&session);
    return status;
}
