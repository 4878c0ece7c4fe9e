/* The second measure: instructions, which do not know what else the machine does. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util/text.h"
#include "harness/nightly/entry.h"

static const double NOISY = 0.05; /* relative; below it times tell by themselves */

/* Of one night; metric "": not counted. */
typedef struct counted {
    char metric[48];
    double instructions;
} counted;

static void note(void *context, int ordinal, const char *metric, double value) {
    counted *c = context;
    if (ordinal >= 0 || strncmp(metric, "instructions_", strlen("instructions_")) != 0) return;
    kf_copy_text(c->metric, sizeof c->metric, metric);
    c->instructions = value;
}

kf_status kf_entry_second_measure(kf_store *store, int64_t night, kf_entry *entry, int64_t reference,
                                  kf_verdict_state *state, kf_error *error) {
    kf_verdict *verdict = &entry->verdict;
    counted before = {"", (double)NAN}, after = {"", (double)NAN};
    const char *benchmark = entry->benchmark->name;
    if (isnan(verdict->threshold) || verdict->threshold < NOISY) return KF_OK;
    KF_TRY(kf_store_night_counters(store, night, benchmark, KF_ARM_NIGHT, note, &after, error));
    KF_TRY(kf_store_night_counters(store, reference, benchmark, KF_ARM_NIGHT, note, &before, error));
    double change = after.instructions / before.instructions - 1.0;
    if (!isfinite(change) || strcmp(before.metric, after.metric) != 0) return KF_OK;
    double least = expm1(kf_standard_rules.least_change);
    bool changed = fabs(change) > least;
    char times[sizeof verdict->reason];
    kf_copy_text(times, sizeof times, verdict->reason);
    (void)snprintf(
        verdict->reason, sizeof verdict->reason,
        "times are too noisy (%.3g %%); %s %+.3g %% (%.4g to %.4g) against night %lld; times: %.300s",
        100.0 * verdict->threshold, after.metric, 100.0 * change, before.instructions, after.instructions,
        (long long)reference, times);
    if (!changed) return KF_OK;
    *state = change > 0.0 ? KF_SLOW : KF_FAST;
    verdict->reference = reference;
    verdict->change = verdict->change_low = verdict->change_high = change;
    verdict->probability = 0.0;
    kf_copy_text(verdict->counter, sizeof verdict->counter, after.metric);
    verdict->counter_before = before.instructions;
    verdict->counter_after = after.instructions;
    return KF_OK;
}
