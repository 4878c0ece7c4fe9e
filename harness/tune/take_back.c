/* Measures the gain of each difference between the best config and the default: the best is measured again
 * with that difference undone. */
#include <math.h>

#include "base/util/clock.h"
#include "base/util/program.h"
#include "harness/tune/explain.h"
#include "harness/tune/session.h"

double kf_tune_back_seconds(double budget) {
    static const double SHARE = 0.1;
    return SHARE * budget;
}

/* Measures the best config with each difference undone, if the result is in the space and was not measured.
 * All are queued for building first, so that compilers work while others are measured. */
static kf_status measure_without(kf_session *session, const kf_space *space, kf_error *error) {
    kf_tune_result *result = session->result;
    kf_difference differences[KF_CONFIG_VALUES];
    kf_config configs[KF_CONFIG_VALUES];
    size_t tickets[KF_CONFIG_VALUES];
    int count = 0;
    uint64_t place;
    const int found = kf_tune_differences(result, differences, KF_CONFIG_VALUES);
    for (int d = 0; d < found; d++) {
        kf_config *config = &configs[count];
        if (isfinite(differences[d].gain) || differences[d].base == NULL) continue;
        *config = result->tried.items[result->best].config;
        kf_config_set(config, differences[d].base);
        if (kf_space_index(space, config, &place, NULL, 0))
            tickets[count++] = kf_builder_add(session->builder, config);
    }
    for (int c = 0; c < count && !kf_interrupted; c++) {
        int index = -1;
        if (!kf_builder_wait(session->builder, tickets[c], session->deadline, kf_session_idle, session))
            break;
        KF_TRY(kf_tune_try(session, "search", &configs[c], false, session->deadline, &index, error));
        if (index < 0) break;
    }
    return KF_OK;
}

kf_status kf_tune_take_back(kf_session *session, kf_error *error) {
    const kf_tune_request *request = session->request;
    kf_tune_result *result = session->result;
    kf_space *whole = NULL; /* --fix says what may win, not what may be compared */
    if (session->deadline <= 0.0 || kf_clock_seconds() >= session->deadline) return KF_OK;
    kf_tune_choose(result);
    if (result->best < 0) return KF_OK;
    if (request->fixed_count > 0)
        KF_TRY(kf_problem_space(request->problem, &result->device, NULL, 0, &whole, error));
    const kf_status status = measure_without(session, whole != NULL ? whole : session->space, error);
    if (whole != NULL) kf_space_free(whole);
    return status;
}
