/* Finds benchmarks that a night no longer measures. A benchmark that is renamed or left out would otherwise
 * end its history, and hide a regression, without a message. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/nightly/night.h"

/* Keeps the newest night of the suite that ended before this one. Nights are visited from the newest on. */
static kf_status look_at_night(void *context, const kf_night *night, kf_error *error) {
    (void)error;
    kf_nightly_result *result = context;
    if (result->before == 0 && night->id < result->night.id &&
        strcmp(night->suite, result->night.suite) == 0 && strcmp(night->state, "finished") == 0)
        result->before = night->id;
    return KF_OK;
}

static kf_status look_at_verdict(void *context, const kf_verdict *verdict, kf_error *error) {
    (void)error;
    kf_nightly_result *result = context;
    for (int i = 0; i < result->count; i++)
        if (strcmp(result->verdicts[i].benchmark, verdict->benchmark) == 0) return KF_OK;
    result->absent =
        kf_reallocate(result->absent, (size_t)(result->absent_count + 1) * sizeof *result->absent);
    kf_copy_text(result->absent[result->absent_count++], KF_BENCHMARK, verdict->benchmark);
    return KF_OK;
}

kf_status kf_nightly_find_absent(kf_store *store, kf_nightly_result *result, kf_error *error) {
    result->before = 0;
    KF_TRY(kf_store_nights(store, look_at_night, result, error));
    return result->before > 0 ? kf_store_verdicts(store, result->before, look_at_verdict, result, error)
                              : KF_OK;
}
