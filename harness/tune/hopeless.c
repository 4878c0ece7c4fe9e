#include "harness/tune/hopeless.h"

#include <string.h>

#include "base/util/log.h"

/* For each kind of failure the number of configs, the default among them, that must fail alike, and the cure.
 * More are tried if the reason may depend on the launch's shape, which differs between configs. */
static const struct {
    int configs;
    const char *cure;
} ends[KF_STATES] = {
    [KF_STATE_WRONG_RESULT] = {12, "is the default right, and what it is held against?"},
    [KF_STATE_CRASH] = {6, "does the kernel read or write outside of its arguments?"},
    [KF_STATE_TIMEOUT] = {3, "give a smaller problem (--grid)"},
    [KF_STATE_INVALID] = {12, "mend the launch: its threads, shared memory or arguments"},
    [KF_STATE_COMPILE] = {5, "mend the source, or what is said of it"},
    [KF_STATE_OUT_OF_MEMORY] = {6, "give a smaller problem (--grid)"},
};

/* Returns whether two reasons differ only in their numbers (lines, threads, bytes, deviations), which vary
 * between configs. */
static bool same_reason(const char *a, const char *b) {
    for (;;) {
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        if (*a != *b) return false;
        if (*a == '\0') return true;
        a++, b++;
    }
}

kf_status kf_tune_status_of(const kf_problem *problem, kf_state state) {
    if (state == KF_STATE_WRONG_RESULT) return KF_GATE_FAILED;
    const bool users = problem->system->space_file == NULL;
    return state == KF_STATE_COMPILE && users ? KF_BAD_INPUT : KF_MACHINE;
}

/* Ends a run that cannot succeed: the default and some more configs failed in the same way, and none worked.
 */
kf_status kf_tune_hope(const kf_tune_request *request, const kf_tune_result *result, kf_error *error) {
    const int first = result->presets[KF_PRESET_DEFAULT];
    if (request->keeps_going || first < 0 ||
        result->states[KF_STATE_OK] + result->states[KF_STATE_SKIPPED] > 0)
        return KF_OK;
    const kf_measurement *failure = &result->tried.items[first].measurement;
    int alike = 0;
    for (int i = 0; i < result->tried.count; i++) {
        const kf_measurement *m = &result->tried.items[i].measurement;
        alike += m->state == failure->state && same_reason(m->reason, failure->reason);
    }
    if (alike < ends[failure->state].configs) return KF_OK;
    return kf_fail(error, kf_tune_status_of(request->problem, failure->state),
                   "the default and %d more configs ended as %s: %s; %s --keep-going tries the others all "
                   "the same",
                   alike - 1, kf_state_names[failure->state], failure->reason, ends[failure->state].cure);
}

/* Decides what a failed examination of the problem means for the run. */
static kf_status judge_examination(const kf_session *session, const kf_measurement *m, kf_error *error) {
    const kf_tune_request *request = session->request;
    if (m->state == KF_STATE_OK || m->state == KF_STATE_TIMEOUT) return KF_OK;
    if (request->keeps_going) {
        kf_warn("%s", m->reason);
        return KF_OK;
    }
    const bool input = m->state == KF_STATE_WRONG_RESULT;
    return kf_fail(error, input ? KF_BAD_INPUT : kf_tune_status_of(request->problem, m->state),
                   "%s%s%s; --keep-going tries all configs all the same",
                   input ? "" : kf_state_names[m->state],
                   input ? "" : " of the default, before any config was tried: ", m->reason);
}

/* Examines the problem by building and running the default. A config that takes too long may only be slow. */
kf_status kf_tune_examine(kf_session *session, kf_error *error) {
    const kf_tune_request *request = session->request;
    kf_job job = {.examine = true};
    kf_measurement m;
    kf_outcome outcome = KF_ABANDONED;
    if (request->problem->system->examine == NULL || session->result->resumed > 0) return KF_OK;
    KF_TRY(kf_space_preset(session->space, kf_preset_names[KF_PRESET_DEFAULT], &job.config, error));
    KF_TRY(kf_session_measure(session, &job, 0.0, &outcome, &m, error));
    if (outcome == KF_ABANDONED) return KF_OK;
    const kf_status status = judge_examination(session, &m, error);
    kf_measurement_free(&m);
    return status;
}
