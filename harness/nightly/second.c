/* Compares instructions, which do not depend on other work of the machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util/text.h"
#include "harness/nightly/entry.h"

/* The count of one night; metric "": not counted. */
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

static void tell(kf_verdict *verdict, double hidden, const counted *before, const counted *after,
                 double change, const char *named) {
    char times[sizeof verdict->reason];
    kf_copy_text(times, sizeof times, verdict->reason);
    (void)snprintf(
        verdict->reason, sizeof verdict->reason,
        "%.3g %% %s instructions than %s (%.4g to %.4g, %s); times are too noisy (%.3g %%): %.250s",
        100.0 * fabs(change), change < 0.0 ? "fewer" : "more", named, before->instructions,
        after->instructions, after->metric + strlen("instructions_"), 100.0 * hidden, times);
}

kf_status kf_entry_second_measure(kf_store *store, int64_t night, kf_entry *entry, int64_t reference,
                                  const char *named, kf_verdict_state *state, bool *known, kf_error *error) {
    kf_verdict *verdict = &entry->verdict;
    counted before = {"", (double)NAN}, after = {"", (double)NAN};
    const char *benchmark = entry->benchmark->name;
    *known = false;
    if (!kf_entry_is_noisy(entry)) return KF_OK;
    KF_TRY(kf_store_night_counters(store, night, benchmark, KF_ARM_NIGHT, note, &after, error));
    KF_TRY(kf_store_night_counters(store, reference, benchmark, KF_ARM_NIGHT, note, &before, error));
    const double change = after.instructions / before.instructions - 1.0;
    const bool pinned = reference == entry->pinned;
    *known = isfinite(change) && strcmp(before.metric, after.metric) == 0;
    if (!*known) return KF_OK;
    const double least = expm1(pinned ? kf_standard_rules.drift : kf_standard_rules.least_change);
    const bool changed = pinned ? change > least : fabs(change) > least;
    /* If nothing changed since the pinned night, the last good night decides. */
    if (!changed && pinned) return KF_OK;
    tell(verdict, entry->hidden, &before, &after, change, named);
    if (!changed) return KF_OK;
    *state = pinned ? KF_DRIFT : change > 0.0 ? KF_SLOW : KF_FAST;
    verdict->reference = reference;
    verdict->change = verdict->change_low = verdict->change_high = change;
    verdict->probability = 0.0;
    kf_copy_text(verdict->counter, sizeof verdict->counter, after.metric);
    verdict->counter_before = before.instructions;
    verdict->counter_after = after.instructions;
    return KF_OK;
}
