/* Judges series of values as a night does, but without running anything again. */
#include "harness/nightly/series.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/memory.h"
#include "base/util/text.h"

static const kf_comparison unknown = {NAN, NAN, NAN, 1.0};

/* The rows with one time. */
typedef struct night {
    size_t first, end; /* range of its rows */
} night;

/* A benchmark on a machine with its last KF_WINDOW nights. */
typedef struct series {
    const kf_series_row *rows;
    night nights[KF_WINDOW];
    kf_night_level levels[KF_WINDOW];
    int count;
} series;

static __attribute__((format(printf, 2, 3))) void say(kf_series_verdict *v, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(v->reason, sizeof v->reason, format, arguments);
    va_end(arguments);
}

/* --- Order ---------------------------------------------------------------------------------------------- */

static int by_series(const kf_series_row *a, const kf_series_row *b) {
    const int benchmark = strcmp(a->benchmark, b->benchmark);
    return benchmark != 0 ? benchmark : strcmp(a->machine, b->machine);
}

static int by_time(const kf_series_row *a, const kf_series_row *b) {
    if (isfinite(a->order) && isfinite(b->order)) return (a->order > b->order) - (a->order < b->order);
    return strcmp(a->time, b->time);
}

static int in_order(const void *left, const void *right) {
    const int other = by_series(left, right);
    return other != 0 ? other : by_time(left, right);
}

/* Refuses times of which some are numbers and others texts, because these cannot be sorted together. */
static kf_status check_times(const kf_series_rows *rows, kf_error *error) {
    for (size_t i = 1; i < rows->count; i++)
        if (isfinite(rows->list[i].order) != isfinite(rows->list[0].order))
            return kf_fail(error, KF_BAD_INPUT, "times '%.40s' and '%.40s': numbers and texts have no order",
                           rows->list[0].time, rows->list[i].time);
    return KF_OK;
}

/* --- Nights --------------------------------------------------------------------------------------------- */

static double *logs_of(const series *s, int begin, int end, size_t *count) {
    const size_t first = s->nights[begin].first;
    *count = s->nights[end - 1].end - first;
    double *logs = kf_allocate(*count * sizeof *logs);
    for (size_t i = 0; i < *count; i++)
        logs[i] = log(s->rows[first + i].value);
    return logs;
}

static double median_value(const series *s, int begin, int end) {
    size_t count = 0;
    double *logs = logs_of(s, begin, end, &count);
    const double median = exp(kf_median(logs, count));
    free(logs);
    return median;
}

/* Adds a night with the level of its values. The oldest night of a full window is dropped. */
static void add_night(series *s, size_t first, size_t end) {
    if (s->count == KF_WINDOW) {
        memmove(s->nights, s->nights + 1, (KF_WINDOW - 1) * sizeof *s->nights);
        memmove(s->levels, s->levels + 1, (KF_WINDOW - 1) * sizeof *s->levels);
        s->count--;
    }
    double *values = kf_allocate((end - first) * sizeof *values);
    for (size_t i = first; i < end; i++)
        values[i - first] = s->rows[i].value;
    const char *commit = s->rows[first].commit;
    const bool identical = s->count > 0 && commit[0] != '\0' &&
                           strcmp(commit, s->rows[s->nights[s->count - 1].first].commit) == 0;
    s->levels[s->count] = kf_night_level_of(values, (int)(end - first), identical);
    s->nights[s->count++] = (night){first, end};
    free(values);
}

static const char *name_of(const series *s, int at) {
    const kf_series_row *row = &s->rows[s->nights[at].first];
    return row->commit[0] != '\0' ? row->commit : row->time;
}

/* --- Verdicts ------------------------------------------------------------------------------------------- */

/* Compares the nights from..until with the nights since..end. */
static void compare(const series *s, int from, int until, int since, kf_series_verdict *v) {
    double *before = logs_of(s, from, until, &v->old_count),
           *after = logs_of(s, since, s->count, &v->new_count);
    v->comparison = kf_compare(before, v->old_count, after, v->new_count);
    v->old_value = median_value(s, from, until);
    v->new_value = median_value(s, since, s->count);
    kf_copy_text(v->since, sizeof v->since, name_of(s, since));
    free(before);
    free(after);
}

/* The beginnings of a series' levels. */
typedef struct level {
    int since;  /* beginning of what may be new: a recent change point, not more than five values back, or the
                   newest night alone; -1: nothing is new */
    int own;    /* the level before what is new, or the newest night's level if nothing is new */
    int before; /* the level before that; -1: there is none */
} level;

/* Finds the change points of a series, and its levels `since`, `own` and `before`. */
static level find_level(const series *s, const kf_screening *screening) {
    double levels[KF_WINDOW];
    kf_change_point points[KF_WINDOW];
    level l = {.since = -1, .own = 0, .before = -1};
    for (int i = 0; i < s->count; i++)
        levels[i] = s->levels[i].level;
    const int found =
        kf_change_points(levels, s->count, kf_standard_rules.point_probability, screening->threshold, points);
    if (found > 0 && s->count - points[found - 1].at <= KF_LEAST_PROCESSES)
        l.since = points[found - 1].at;
    else if (screening->candidate)
        l.since = screening->before + 1;
    for (int i = 0; i < found; i++)
        if (l.since < 0 || points[i].at < l.since) {
            l.before = l.own;
            l.own = points[i].at;
        }
    return l;
}

/* Judges a change by comparing the values after it with those before it. It is ambiguous if there are few
 * values, or if they do not confirm it. */
static void judge_change(const series *s, int before, int since, kf_series_verdict *v) {
    compare(s, before, since, since, v);
    const kf_finding finding = kf_confirm(&v->comparison, v->threshold, &kf_standard_rules);
    v->state = KF_AMBIGUOUS;
    if (v->old_count < KF_LEAST_PROCESSES || v->new_count < KF_LEAST_PROCESSES)
        say(v, "looks changed since %s; values before: %zu, since: %zu, needed: %d of each", v->since,
            v->old_count, v->new_count, KF_LEAST_PROCESSES);
    else if (finding == KF_FINDING_NONE)
        say(v, "looked changed since %s; the values do not confirm it, p %.2g", v->since,
            v->comparison.probability);
    else {
        v->state = finding == KF_FINDING_SLOWER ? KF_SLOW : KF_FAST;
        say(v, "since %s, %zu values against %zu, p %.2g", v->since, v->new_count, v->old_count,
            v->comparison.probability);
    }
}

/* Judges a night whose level has not changed. An earlier change is named. */
static void judge_quiet(const series *s, const level *l, kf_series_verdict *v) {
    const double hidden = expm1(v->threshold);
    v->state = KF_SAME;
    if (s->levels[s->count - 1].identical)
        say(v, "the same commit as the night before");
    else if (hidden >= KF_NOISY) {
        v->state = KF_NODATA;
        say(v, "a change of less than %.3g %% would not be seen in these values", 100.0 * hidden);
    } else if (l->before >= 0)
        say(v, "no change of more than %.3g %% since %s, %d nights ago, which was %+.3g %%", 100.0 * hidden,
            name_of(s, l->own), s->count - 1 - l->own,
            100.0 * (median_value(s, l->own, s->count) / median_value(s, l->before, l->own) - 1.0));
    else
        say(v, "no change of more than %.3g %%", 100.0 * hidden);
}

/* Finds the last nights of a commit that follow each other: *begin to *end - 1. */
static bool find_commit(const series *s, const char *commit, int *begin, int *end) {
    *end = s->count;
    while (*end > 0 && strcmp(name_of(s, *end - 1), commit) != 0)
        --*end;
    *begin = *end;
    while (*begin > 0 && strcmp(name_of(s, *begin - 1), commit) == 0)
        --*begin;
    return *end > 0 && *end < s->count;
}

/* Finds the latest first night, not before `least`, from which enough values lie before `end`. */
static int enough_from(const series *s, int least, int begin, int end) {
    while (begin > least && s->nights[end - 1].end - s->nights[begin].first < KF_LEAST_PROCESSES)
        begin--;
    return begin;
}

/* Returns whether the level has drifted from that of the pinned commit by more than is allowed. A commit with
 * few values is joined by the nights before it. beside: what another verdict must say about the pin. */
static bool drifted(const series *s, const char *pin, int since, kf_series_verdict *v, kf_text *beside) {
    int begin = 0, end = 0;
    if (pin == NULL) return false;
    if (!find_commit(s, pin, &begin, &end)) {
        kf_text_append(beside, end > 0 ? "; it is of the pinned %s" : "; it has no value of the pinned %s",
                       pin);
        return false;
    }
    compare(s, enough_from(s, 0, begin, end), end, enough_from(s, end, since < end ? end : since, s->count),
            v);
    if (v->old_count < KF_LEAST_PROCESSES || v->new_count < KF_LEAST_PROCESSES)
        kf_text_append(beside,
                       "; %+.3g %% against the pinned %s, which is no evidence: %zu values against %zu, "
                       "needed: %d of each",
                       100.0 * expm1(v->comparison.shift), pin, v->new_count, v->old_count,
                       KF_LEAST_PROCESSES);
    else if (v->comparison.shift > kf_standard_rules.drift &&
             v->comparison.probability < kf_standard_rules.confirmed_probability) {
        v->state = KF_DRIFT;
        say(v, "against the pinned %s: %zu values against %zu, p %.2g", pin, v->new_count, v->old_count,
            v->comparison.probability);
        return true;
    }
    v->comparison = unknown;
    v->old_count = v->new_count = 0;
    v->old_value = (double)NAN;
    v->new_value = median_value(s, s->count - 1, s->count);
    v->since[0] = '\0';
    return false;
}

/* Judges the newest night of a series: first by the pinned commit, then by the change that screening found,
 * if any. */
static void judge(const series *s, const char *pin, kf_series_verdict *v) {
    const kf_screening screening = kf_screen(s->levels, s->count, &kf_standard_rules);
    const level l = find_level(s, &screening);
    const kf_series_row *newest = &s->rows[s->nights[s->count - 1].first];
    kf_text beside = {0};
    kf_copy_text(v->benchmark, sizeof v->benchmark, newest->benchmark);
    kf_copy_text(v->machine, sizeof v->machine, newest->machine);
    kf_copy_text(v->newest, sizeof v->newest, name_of(s, s->count - 1));
    v->nights = s->count;
    v->microseconds = newest->microseconds;
    v->threshold = screening.threshold;
    v->new_value = median_value(s, s->count - 1, s->count);
    v->state = KF_NODATA;
    if (s->count < 2)
        say(v, "one night: nothing to compare with");
    else if (drifted(s, pin, l.since >= 0 ? l.since : s->count - 1, v, &beside))
        return;
    else if (l.since > 0)
        judge_change(s, l.own, l.since, v);
    else
        judge_quiet(s, &l, v);
    const size_t used = strlen(v->reason);
    if (beside.length > 0) kf_copy_text(v->reason + used, sizeof v->reason - used, beside.text);
    kf_text_free(&beside);
}

/* Controls false alarms. Among many series some change by chance, so only the most certain changes are kept.
 */
static void control(kf_series_verdict *list, int count) {
    double *probabilities = kf_allocate(((size_t)count + 1) * sizeof *probabilities);
    bool *accepted = kf_allocate_zeroed((size_t)count + 1, sizeof *accepted);
    for (int i = 0; i < count; i++)
        probabilities[i] = list[i].comparison.probability;
    kf_false_discovery(probabilities, count, kf_standard_rules.false_discovery_rate, accepted);
    for (int i = 0; i < count; i++)
        if (!accepted[i] && (list[i].state == KF_SLOW || list[i].state == KF_FAST))
            list[i].state = KF_AMBIGUOUS;
    free(probabilities);
    free(accepted);
}

static kf_status check_pin(const kf_series_rows *rows, const char *pin, kf_error *error) {
    bool found = pin == NULL;
    for (size_t i = 0; i < rows->count && !found; i++)
        found = strcmp(rows->list[i].commit, pin) == 0 || strcmp(rows->list[i].time, pin) == 0;
    return found ? KF_OK
                 : kf_fail(error, KF_BAD_INPUT, "there is no value of the commit or file '%.60s'", pin);
}

kf_status kf_series_judge(kf_series_rows *rows, const char *pin, kf_series_verdict **verdicts, int *count,
                          kf_error *error) {
    KF_TRY(check_times(rows, error));
    KF_TRY(check_pin(rows, pin, error));
    qsort(rows->list, rows->count, sizeof *rows->list, in_order);
    kf_series_verdict *list = kf_allocate_zeroed(rows->count, sizeof *list);
    series *s = kf_allocate(sizeof *s);
    *count = 0;
    for (size_t first = 0, end; first < rows->count;) {
        *s = (series){.rows = rows->list};
        for (; first < rows->count &&
               (s->count == 0 || by_series(&rows->list[first - 1], &rows->list[first]) == 0);
             first = end) {
            for (end = first + 1; end < rows->count && in_order(&rows->list[first], &rows->list[end]) == 0;
                 end++) {
            }
            add_night(s, first, end);
        }
        kf_series_verdict *v = &list[(*count)++];
        v->comparison = unknown;
        v->old_value = (double)NAN;
        judge(s, pin, v);
    }
    control(list, *count);
    free(s);
    *verdicts = list;
    return KF_OK;
}
