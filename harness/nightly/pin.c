/* Compares tonight with the pinned night, which comes before all other comparisons until the pin moves. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/nightly/entry.h"

bool kf_same_code(const kf_history_night *a, const kf_history_night *b) {
    return strcmp(a->program, b->program) == 0 && strcmp(a->config, b->config) == 0 &&
           strcmp(a->build, b->build) == 0;
}

typedef struct verdict_search {
    const char *benchmark;
    kf_verdict verdict;
    bool found;
} verdict_search;

static kf_status look_at_verdict(void *context, const kf_verdict *verdict, kf_error *error) {
    (void)error;
    verdict_search *search = context;
    if (strcmp(verdict->benchmark, search->benchmark) != 0) return KF_OK;
    search->found = true;
    search->verdict = *verdict;
    return KF_OK;
}

/* Returns whether the night with which a verdict compares had the release's code. */
static bool is_of_release(int64_t reference, const kf_history_night *pinned, const kf_history_night *nights,
                          int count) {
    if (reference == pinned->night) return true;
    for (int i = 0; i < count; i++)
        if (nights[i].night == reference) return kf_same_code(&nights[i], pinned);
    return false;
}

/* Carries over a verdict: code that was slower than the release last night is slower tonight, too. */
static kf_status carry_over(kf_nightly_session *session, kf_entry *entry, const kf_history_night *pinned,
                            const kf_history_night *nights, int count, bool *held, kf_error *error) {
    verdict_search last = {.benchmark = entry->benchmark->name};
    KF_TRY(
        kf_store_verdicts(session->request->store, nights[count - 2].night, look_at_verdict, &last, error));
    const bool slower = last.found && (last.verdict.state == KF_SLOW || last.verdict.state == KF_DRIFT) &&
                        last.verdict.change > 0.0 &&
                        is_of_release(last.verdict.reference, pinned, nights, count - 1);
    if (!slower) return KF_OK;
    const kf_verdict tonight = entry->verdict;
    char before[KF_NIGHT_TEXT], release[KF_NIGHT_TEXT];
    *held = true;
    entry->verdict = last.verdict;
    entry->verdict.time_us = tonight.time_us;
    entry->verdict.threshold = tonight.threshold;
    entry->verdict.identical = false; /* only for SAME */
    entry->verdict.reference = pinned->night;
    (void)snprintf(entry->verdict.reason, sizeof entry->verdict.reason,
                   "same code as %s, which was found %.3g %% slower%s than the pinned %s",
                   kf_night_text(session, nights[count - 2].night, before), 100.0 * last.verdict.change,
                   kf_verdict_of_instructions(&last.verdict) ? " (in instructions)" : "",
                   kf_night_text(session, pinned->night, release));
    return KF_OK;
}

static kf_status look_for_drift(kf_nightly_session *session, kf_entry *entry, const kf_history_night *pinned,
                                const kf_history_night *tonight, kf_error *error) {
    const kf_night_level release = kf_night_level_of(pinned->time_us, pinned->process_count, false),
                         level = kf_night_level_of(tonight->time_us, tonight->process_count, false);
    if (level.level - release.level <= kf_standard_rules.drift) return KF_OK;
    entry->drift = true;
    entry->threshold = kf_standard_rules.drift;
    return kf_entry_choose_reference(session, entry, pinned->night, error);
}

kf_status kf_entry_hold_against_pin(kf_nightly_session *session, kf_entry *entry,
                                    const kf_history_night *nights, int count, bool step, bool *held,
                                    kf_error *error) {
    kf_store *store = session->request->store;
    const kf_history_night *tonight = &nights[count - 1];
    kf_history_night pinned;
    bool found = false, known = false;
    *held = false;
    KF_TRY(kf_store_pinned(store, entry->benchmark->name, entry->series, &pinned, &found, error));
    if (!found || pinned.night == tonight->night || kf_same_code(&pinned, tonight)) return KF_OK;
    entry->pinned = pinned.night;
    if (entry->unchanged) KF_TRY(carry_over(session, entry, &pinned, nights, count, held, error));
    if (*held || step) return KF_OK;
    KF_TRY(look_for_drift(session, entry, &pinned, tonight, error));
    if (entry->candidate) return KF_OK;
    char named[KF_NIGHT_TEXT], release[KF_NIGHT_TEXT + 16];
    kf_verdict_state state = KF_SAME;
    (void)snprintf(release, sizeof release, "the pinned %s", kf_night_text(session, pinned.night, named));
    (void)snprintf(entry->verdict.reason, sizeof entry->verdict.reason, "no more than %.3g %% over it",
                   100.0 * expm1(kf_standard_rules.drift));
    KF_TRY(kf_entry_second_measure(store, session->result->night.id, entry, pinned.night, release, &state,
                                   &known, error));
    *held = state == KF_DRIFT;
    return KF_OK;
}
