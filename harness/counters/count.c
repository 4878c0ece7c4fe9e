#include "harness/counters/count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "harness/counters/count_internal.h"
#include "harness/counters/cupti_library.h"

enum { MOST_PASSES = 256 };

void kf_counting_prepare(void) {
#ifdef KF_HAVE_CUPTI
    (void)kf_cupti_load(NULL);
#endif
}

kf_status kf_counting_begin(kf_counting *counting, int part, kf_error *error) {
    if (counting->open_part >= 0 || part < 0 || part >= counting->counts->part_count)
        return kf_fail(error, KF_MACHINE, "counters: part %d cannot begin here", part);
    KF_TRY(kf_backend_synchronize(counting->backend, error));
    KF_TRY(counting->methods->part_begin(counting, part, error));
    counting->open_part = part;
    return KF_OK;
}

kf_status kf_counting_end(kf_counting *counting, kf_error *error) {
    if (counting->open_part < 0) return kf_fail(error, KF_MACHINE, "counters: no part is open");
    KF_TRY(kf_backend_synchronize(counting->backend, error));
    KF_TRY(counting->methods->part_end(counting, error));
    counting->open_part = -1;
    return KF_OK;
}

static kf_status run_passes(kf_counting *counting, kf_counted_restore restore, kf_counted_work replay,
                            void *context, kf_error *error) {
    kf_counts *counts = counting->counts;
    bool done = false;
    for (counts->passes = 0; !done; counts->passes++) {
        if (counts->passes == MOST_PASSES)
            return kf_fail(error, KF_MACHINE, "counters: not complete after %d passes", MOST_PASSES);
        KF_TRY(restore(context, error));
        KF_TRY(counting->methods->pass_begin(counting, error));
        const kf_status status = replay(context, counting, error);
        /* The pass must be ended even after a failure, because otherwise no later pass could begin. */
        kf_error ending = {KF_OK, ""};
        const kf_status ended = counting->methods->pass_end(counting, &done, &ending);
        KF_TRY(status);
        if (ended != KF_OK) return kf_fail(error, ended, "%s", ending.message);
    }
    return KF_OK;
}

static kf_status count(kf_counting *counting, kf_counted_restore restore, kf_counted_work replay,
                       void *context, kf_error *error) {
    kf_counts *counts = counting->counts;
    KF_TRY(counting->methods->open(counting, error));
    const size_t values = (size_t)counts->part_count * (size_t)counts->metric_count;
    counts->values = kf_allocate((values + 1) * sizeof *counts->values);
    for (size_t i = 0; i < values; i++)
        counts->values[i] = (double)NAN;
    KF_TRY(run_passes(counting, restore, replay, context, error));
    return counting->methods->read(counting, error);
}

kf_status kf_count_with(const kf_counter_methods *methods, kf_backend *backend, const kf_metric_set *set,
                        int parts, kf_counted_restore restore, kf_counted_work replay, void *context,
                        kf_counts *counts, kf_error *error) {
    memset(counts, 0, sizeof *counts);
    counts->metrics = kf_allocate_zeroed(KF_SET_METRICS, sizeof *counts->metrics);
    counts->part_count = parts;
    kf_counting counting = {
        .backend = backend, .set = set, .methods = methods, .counts = counts, .open_part = -1};
    const kf_status status = count(&counting, restore, replay, context, error);
    methods->close(&counting);
    if (status != KF_OK) kf_counts_free(counts);
    return status;
}

kf_status kf_count(kf_backend *backend, const kf_metric_set *set, int parts, kf_counted_restore restore,
                   kf_counted_work replay, void *context, kf_counts *counts, kf_error *error) {
    const bool gpu = kf_device_is_gpu(kf_backend_device(backend));
    return kf_count_with(gpu ? &kf_cupti_methods : &kf_papi_methods, backend, set, parts, restore, replay,
                         context, counts, error);
}

void kf_counts_free(kf_counts *counts) {
    free(counts->metrics);
    free(counts->values);
    memset(counts, 0, sizeof *counts);
}
