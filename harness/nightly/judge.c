/* Makes verdicts from times, by the history and by interleaved comparisons. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/log.h"
#include "base/util/memory.h"
#include "harness/nightly/entry.h"

enum {
    MANY_CANDIDATES = 6
}; /* with more candidates 5 processes against 5 cannot pass the control of false discoveries */

/* Converts a change in logarithms to percent. */
static double percent(double change) {
    return 100.0 * expm1(change);
}

static __attribute__((format(printf, 2, 3))) void append(kf_entry *entry, const char *format, ...) {
    va_list arguments;
    const size_t used = strlen(entry->verdict.reason);
    va_start(arguments, format);
    (void)vsnprintf(entry->verdict.reason + used, sizeof entry->verdict.reason - used, format, arguments);
    va_end(arguments);
}

static kf_status store_verdict(kf_nightly_session *session, kf_entry *entry, kf_verdict_state state,
                               kf_error *error) {
    int processes = 0;
    for (int arm = 0; arm < KF_ARMS; arm++)
        processes += entry->arms[arm].throttled;
    if (processes > 0 || entry->samples_out > 0)
        append(entry, "; left out, as the device throttled: %zu samples, %d whole processes",
               entry->samples_out, processes);
    entry->verdict.state = state;
    kf_copy_text(entry->verdict.series, sizeof entry->verdict.series, entry->series);
    KF_TRY(kf_store_add_verdict(session->request->store, session->result->night.id, entry->run.id,
                                &entry->verdict, error));
    entry->judged = true;
    return KF_OK;
}

static __attribute__((format(printf, 2, 3))) void say(kf_entry *entry, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(entry->verdict.reason, sizeof entry->verdict.reason, format, arguments);
    va_end(arguments);
}

/* --- Judging ------------------------------------------------------------------------------------------ */

/* Gives the verdicts that need no history; *reached: one was given. */
static kf_status judge_tonight(kf_nightly_session *session, kf_entry *entry, bool *reached, kf_error *error) {
    const kf_arm_state *night = &entry->arms[KF_ARM_NIGHT];
    *reached = true;
    if (night->count > 0) entry->verdict.time_us = kf_median(night->time_us, (size_t)night->count);
    if (entry->failed == KF_STATE_OUT_OF_MEMORY) {
        say(entry, "out of memory: %s", entry->failure);
        return store_verdict(session, entry, KF_NODATA, error);
    }
    if (entry->failed != KF_STATE_OK) {
        say(entry, "%s: %s", kf_state_names[entry->failed], entry->failure);
        return store_verdict(session, entry, KF_WRONG, error);
    }
    if (entry->problem[0] != '\0') {
        say(entry, "%s", entry->problem);
        return store_verdict(session, entry, KF_NODATA, error);
    }
    if (night->count < KF_LEAST_PROCESSES) {
        say(entry, "only %d processes; %d are needed", night->count, KF_LEAST_PROCESSES);
        return store_verdict(session, entry, KF_NODATA, error);
    }
    *reached = false;
    return KF_OK;
}

typedef struct series_search {
    const kf_entry *entry;
    kf_series_summary other;
    bool found;
} series_search;

static kf_status look_at_series(void *context, const kf_series_summary *series, kf_error *error) {
    (void)error;
    series_search *search = context;
    if (search->found || strcmp(series->benchmark, search->entry->benchmark->name) != 0 ||
        strcmp(series->series, search->entry->series) == 0)
        return KF_OK;
    search->found = true;
    search->other = *series;
    return KF_OK;
}

/* Describes why nights of another series are not compared: how its scene or machine differs. */
static kf_status name_difference(kf_store *store, kf_entry *entry, const kf_series_summary *other,
                                 kf_error *error) {
    kf_text what = {0};
    if (strcmp(other->problem, entry->opened->hash) != 0)
        kf_text_append(&what, "%s",
                       entry->benchmark->command != NULL
                           ? "the benchmark's 'command', 'environment' or 'time' in the suite"
                           : "the scene");
    kf_status status =
        kf_store_environment_difference(store, other->environment, &entry->device, &what, error);
    if (status == KF_OK)
        say(entry,
            "a new series begins, because this differs from night %lld: %.300s; nothing to compare with yet",
            (long long)other->last_night, what.text != NULL ? what.text : "the scene's system");
    kf_text_free(&what);
    return status;
}

static kf_status judge_first_night(kf_nightly_session *session, kf_entry *entry, kf_error *error) {
    series_search search = {.entry = entry};
    KF_TRY(kf_store_series_list(session->request->store, look_at_series, &search, error));
    if (search.found)
        KF_TRY(name_difference(session->request->store, entry, &search.other, error));
    else
        say(entry, "first night: nothing to compare with yet");
    return store_verdict(session, entry, KF_NODATA, error);
}

/* --- Choosing what to compare with -------------------------------------------------------------------------
 */

const char *kf_night_text(kf_nightly_session *session, int64_t id, char buffer[KF_NIGHT_TEXT]) {
    kf_night night = {.id = 0};
    if (kf_store_night_of(session->request->store, id, &night, NULL) != KF_OK) night.label[0] = '\0';
    (void)snprintf(buffer, KF_NIGHT_TEXT, night.label[0] != '\0' ? "night %lld (%s)" : "night %lld",
                   (long long)id, night.label);
    return buffer;
}

kf_status kf_entry_choose_reference(kf_nightly_session *session, kf_entry *entry, int64_t night,
                                    kf_error *error) {
    entry->reference = entry->verdict.reference = night;
    char program[KF_HASH_HEX] = "";
    KF_TRY(kf_store_night_job(session->request->store, night, entry->benchmark->name, &entry->reference_job,
                              program, error));
    kf_error missing = {KF_OK, ""};
    char named[KF_NIGHT_TEXT];
    entry->candidate = true;
    if (entry->benchmark->command != NULL) {
        /* The job names the kept copies, so any version of kftune can run them. */
        entry->reference_program = session->program;
        if (entry->kept[0] == '\0')
            (void)snprintf(entry->problem, sizeof entry->problem,
                           "nothing of it is kept to be run next to %.200s: list its files in 'keep'",
                           kf_night_text(session, night, named));
        return KF_OK;
    }
    if (kf_program_find(session->archive, program, &entry->reference_program, &missing) != KF_OK)
        (void)snprintf(entry->problem, sizeof entry->problem, "it cannot be run next to %.180s: %.300s",
                       kf_night_text(session, night, named), missing.message);
    return KF_OK;
}

bool kf_entry_is_noisy(const kf_entry *entry) {
    return entry->hidden >= KF_NOISY;
}

/* Finds the last night up to index that was good. A night whose change noise may hide (NODATA) does not
 * count. For the first night nothing is known. */
static int64_t last_good(const kf_history_night *nights, int index) {
    for (int i = index; i >= 0; i--)
        if (nights[i].judged && !kf_verdict_fails(nights[i].verdict) && nights[i].verdict != KF_AMBIGUOUS &&
            (nights[i].verdict != KF_NODATA || i == 0))
            return nights[i].night;
    return nights[index].night;
}

/* Compares instructions with the release, then with a good night. */
static kf_status second_measures(kf_nightly_session *session, kf_entry *entry, int64_t reference,
                                 kf_verdict_state *state, bool *known, kf_error *error) {
    kf_store *store = session->request->store;
    const int64_t night = session->result->night.id;
    char named[KF_NIGHT_TEXT], pinned[KF_NIGHT_TEXT + 16];
    bool of_pin = false;
    if (entry->pinned != 0) {
        (void)snprintf(pinned, sizeof pinned, "the pinned %s", kf_night_text(session, entry->pinned, named));
        KF_TRY(kf_entry_second_measure(store, night, entry, entry->pinned, pinned, state, &of_pin, error));
    }
    *known = of_pin;
    if (*state == KF_DRIFT || reference == entry->pinned) return KF_OK;
    KF_TRY(kf_entry_second_measure(store, night, entry, reference, kf_night_text(session, reference, named),
                                   state, known, error));
    *known = *known || of_pin;
    return KF_OK;
}

/* Judges a benchmark that does not look changed. Noisy times of different code are not enough to decide. */
static kf_status judge_quiet(kf_nightly_session *session, kf_entry *entry, const kf_history_night *nights,
                             int count, const kf_screening *screening, kf_error *error) {
    kf_verdict_state state = KF_SAME;
    bool known = false;
    entry->verdict.reference = nights[count - 2].night;
    say(entry, "%+.3g %% against its level; less than %.3g %% is not looked at", percent(screening->shift),
        percent(screening->threshold));
    KF_TRY(second_measures(session, entry, last_good(nights, count - 2), &state, &known, error));
    if (state == KF_SAME && !known && kf_entry_is_noisy(entry)) {
        const bool command = entry->benchmark->command != NULL;
        state = KF_NODATA;
        say(entry,
            "the code changed (%+.3g %%), and a change of less than %.3g %% would not be seen in these "
            "times; "
            "%s",
            percent(screening->shift), percent(screening->threshold),
            !command ? "measure on a machine that does nothing else"
            : entry->benchmark->command->instructions
                ? "instructions could not be counted on both nights"
                : "count instructions (\"instructions\": true), or measure "
                  "on a machine that does nothing else");
    }
    return store_verdict(session, entry, state, error);
}

static kf_status screen_history(kf_nightly_session *session, kf_entry *entry, const kf_history_night *nights,
                                int count, kf_error *error) {
    kf_night_level levels[KF_WINDOW];
    for (int i = 0; i < count; i++)
        levels[i] = kf_night_level_of(nights[i].time_us, nights[i].process_count,
                                      i > 0 && kf_same_code(&nights[i], &nights[i - 1]));
    kf_screening screening = kf_screen(levels, count, &kf_standard_rules);
    entry->threshold = screening.threshold;
    entry->verdict.threshold = entry->hidden = expm1(screening.threshold);
    entry->unchanged = levels[count - 1].identical;
    /* A change between two nights is a step. A change that grew slowly is a drift, even if it is as large as
     * a step now. */
    const double jump = levels[count - 1].level - levels[count - 2].level;
    const bool step = !entry->unchanged && screening.candidate && fabs(jump) > screening.threshold;
    bool held = false;
    KF_TRY(kf_entry_hold_against_pin(session, entry, nights, count, step, &held, error));
    if (held) return store_verdict(session, entry, KF_DRIFT, error);
    if (entry->candidate) return KF_OK;
    if (entry->unchanged) {
        char named[KF_NIGHT_TEXT];
        entry->verdict.identical = true;
        entry->verdict.reference = nights[count - 2].night;
        say(entry, "same code, config and machine as %s (%+.3g %%: noise)",
            kf_night_text(session, nights[count - 2].night, named), percent(jump));
        return store_verdict(session, entry, KF_SAME, error);
    }
    if (screening.candidate)
        return kf_entry_choose_reference(session, entry, last_good(nights, screening.before), error);
    return judge_quiet(session, entry, nights, count, &screening, error);
}

kf_status kf_entry_screen(kf_nightly_session *session, kf_entry *entry, kf_error *error) {
    bool reached = false;
    KF_TRY(judge_tonight(session, entry, &reached, error));
    if (reached) return KF_OK;
    kf_history_night *nights = NULL;
    int count = 0;
    KF_TRY(kf_store_history(session->request->store, entry->benchmark->name, entry->series,
                            session->result->night.id, KF_WINDOW, &nights, &count, error));
    kf_status status = count < 2 ? judge_first_night(session, entry, error)
                                 : screen_history(session, entry, nights, count, error);
    free(nights);
    return status;
}

/* --- Comparing
 * ---------------------------------------------------------------------------------------------- */

static void compare(kf_entry *entry) {
    double logs[2][KF_NIGHT_PROCESSES];
    const kf_arm arms[2] = {KF_ARM_REFERENCE, KF_ARM_CANDIDATE};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < entry->arms[arms[side]].count; i++)
            logs[side][i] = log(entry->arms[arms[side]].time_us[i]);
    entry->comparison = kf_compare(logs[0], (size_t)entry->arms[KF_ARM_REFERENCE].count, logs[1],
                                   (size_t)entry->arms[KF_ARM_CANDIDATE].count);
}

/* Measures reference and candidate in the order A B B A, so that a drift of the machine affects both equally.
 */
static kf_status measure_pairs(kf_nightly_session *session, kf_entry *entry, int processes, kf_error *error) {
    for (int round = 0; round < processes && entry->problem[0] == '\0'; round++)
        for (int turn = 0; turn < 2; turn++) {
            kf_arm arm = (round + turn) % 2 == 0 ? KF_ARM_REFERENCE : KF_ARM_CANDIDATE;
            kf_arm_state *state = &entry->arms[arm];
            if (state->done - state->throttled > round || entry->problem[0] != '\0') continue;
            KF_TRY(kf_entry_measure(session, entry, arm, error));
            if (entry->problem[0] == '\0' && state->count <= round)
                (void)snprintf(entry->problem, sizeof entry->problem, "%s",
                               state->done - state->throttled <= round ? "the device throttled throughout"
                               : arm == KF_ARM_REFERENCE ? "a process of the earlier program failed"
                                                         : "a process of the night's program failed");
        }
    return KF_OK;
}

static kf_status compare_one(kf_nightly_session *session, kf_entry *entry, int processes, kf_error *error) {
    char named[KF_NIGHT_TEXT];
    kf_info("%s: looks changed; running it next to %s", entry->benchmark->name,
            kf_night_text(session, entry->reference, named));
    KF_TRY(measure_pairs(session, entry, processes, error));
    compare(entry);
    if (entry->problem[0] == '\0' && processes < KF_MORE_PROCESSES &&
        kf_undecided(&entry->comparison, entry->threshold, &kf_standard_rules)) {
        KF_TRY(measure_pairs(session, entry, KF_MORE_PROCESSES, error));
        compare(entry);
    }
    return KF_OK;
}

/* Returns the mean clock of an arm; NAN: the clock of one of its processes is not known. */
static double clock_of(const kf_arm_state *arm) {
    double sum = 0.0;
    for (int i = 0; i < arm->count; i++)
        sum += arm->clock_mhz[i];
    return sum / arm->count;
}

/* Returns whether a change of times is also a change of cycles: in the same direction and at least half as
 * large. A difference of clocks between the programs' processes changes only times. Unknown clocks count as
 * agreement. */
static bool cycles_agree(const kf_entry *entry) {
    double logs[2][KF_NIGHT_PROCESSES];
    const kf_arm arms[2] = {KF_ARM_REFERENCE, KF_ARM_CANDIDATE};
    if (isnan(clock_of(&entry->arms[arms[0]]) + clock_of(&entry->arms[arms[1]]))) return true;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < entry->arms[arms[side]].count; i++)
            logs[side][i] = log(entry->arms[arms[side]].time_us[i] * entry->arms[arms[side]].clock_mhz[i]);
    const kf_comparison cycles =
        kf_compare(logs[0], (size_t)entry->arms[arms[0]].count, logs[1], (size_t)entry->arms[arms[1]].count);
    return cycles.shift / entry->comparison.shift >= 0.5;
}

static kf_verdict_state decide(const kf_entry *entry, bool accepted) {
    kf_finding finding = kf_confirm(&entry->comparison, entry->threshold, &kf_standard_rules);
    if (!accepted || finding == KF_FINDING_NONE || entry->problem[0] != '\0' || !cycles_agree(entry))
        return KF_AMBIGUOUS;
    if (finding == KF_FINDING_FASTER) return entry->drift ? KF_AMBIGUOUS : KF_FAST;
    return entry->drift ? KF_DRIFT : KF_SLOW;
}

static kf_status judge_comparison(kf_nightly_session *session, kf_entry *entry, bool accepted,
                                  kf_error *error) {
    kf_verdict *verdict = &entry->verdict;
    const kf_comparison *c = &entry->comparison;
    char named[KF_NIGHT_TEXT];
    kf_verdict_state state = decide(entry, accepted);
    if (!isnan(c->shift)) {
        verdict->change = expm1(c->shift);
        verdict->change_low = expm1(c->low);
        verdict->change_high = expm1(c->high);
        verdict->probability = c->probability;
    }
    verdict->threshold = expm1(entry->threshold);
    if (entry->problem[0] != '\0')
        say(entry, "looks changed, but %s", entry->problem);
    else
        say(entry, "%s%+.3g %% (%+.3g to %+.3g) next to %s%s, %d processes each, p %.2g",
            state == KF_AMBIGUOUS ? "looked changed, but only " : "", percent(c->shift), percent(c->low),
            percent(c->high), entry->drift ? "the pinned " : "",
            kf_night_text(session, entry->reference, named), entry->arms[KF_ARM_CANDIDATE].count,
            c->probability);
    if (entry->problem[0] == '\0' && !cycles_agree(entry))
        append(entry, "; not in cycles: %.0f MHz then, %.0f MHz tonight",
               clock_of(&entry->arms[KF_ARM_REFERENCE]), clock_of(&entry->arms[KF_ARM_CANDIDATE]));
    bool known = false;
    if (state == KF_AMBIGUOUS)
        KF_TRY(second_measures(session, entry, entry->reference, &state, &known, error));
    bool confirmed = state == KF_SLOW || state == KF_DRIFT || state == KF_FAST;
    if (confirmed && entry->benchmark->command == NULL) KF_TRY(kf_entry_count(session, entry, error));
    KF_TRY(kf_entry_blame(session->request->store, session->result->night.id, entry, error));
    return store_verdict(session, entry, state, error);
}

/* Compares all candidates with their earlier programs in interleaved runs. They are judged together, so that
 * the share of false alarms stays bounded. With many candidates each has more processes. */
kf_status kf_compare_candidates(kf_nightly_session *session, kf_error *error) {
    int count = 0;
    for (int i = 0; i < session->count; i++)
        count += session->entries[i].candidate;
    if (count == 0) return KF_OK;
    int processes = count > MANY_CANDIDATES ? KF_MORE_PROCESSES : KF_LEAST_PROCESSES;
    double *probabilities = kf_allocate((size_t)count * sizeof *probabilities);
    bool *accepted = kf_allocate_zeroed((size_t)count, sizeof *accepted);
    kf_status status = KF_OK;
    int at = 0;
    for (int i = 0; i < session->count && status == KF_OK; i++)
        if (session->entries[i].candidate) {
            status = compare_one(session, &session->entries[i], processes, error);
            probabilities[at++] = session->entries[i].comparison.probability;
        }
    if (status == KF_OK)
        kf_false_discovery(probabilities, count, kf_standard_rules.false_discovery_rate, accepted);
    at = 0;
    for (int i = 0; i < session->count && status == KF_OK; i++)
        if (session->entries[i].candidate)
            status = judge_comparison(session, &session->entries[i], accepted[at++], error);
    free(probabilities);
    free(accepted);
    return status;
}
