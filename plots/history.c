#include "plots/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/detector.h"
#include "base/util/memory.h"
#include "plots/gnuplot.h"
#include "plots/tables.h"

enum { LONGEST_LABEL = 16 }; /* of a night at the axis */

typedef struct series_search {
    const char *benchmark;
    kf_series_summary found;
} series_search;

/* The list begins with the latest series of a benchmark. */
static kf_status look_at_series(void *context, const kf_series_summary *series, kf_error *error) {
    (void)error;
    series_search *search = context;
    bool fits = search->benchmark == NULL || strcmp(series->benchmark, search->benchmark) == 0;
    if (fits && search->found.nights == 0) search->found = *series;
    return KF_OK;
}

/* A drawn history: the nights, and the places where their level changed. */
typedef struct history {
    kf_history_night *nights;
    int count;
    double levels[KF_HISTORY_SHOWN]; /* log microseconds */
    kf_change_point points[KF_HISTORY_SHOWN];
    int point_count;
    kf_time_unit unit;
} history;

/* Finds the levels of the nights, and the points where they change, by the rules that judge nights. */
static void analyse(history *h) {
    kf_night_level nights[KF_HISTORY_SHOWN];
    for (int i = 0; i < h->count; i++) {
        const kf_history_night *night = &h->nights[i], *before = i > 0 ? &h->nights[i - 1] : NULL;
        bool identical = before != NULL && strcmp(before->program, night->program) == 0 &&
                         strcmp(before->config, night->config) == 0 &&
                         strcmp(before->build, night->build) == 0;
        nights[i] = kf_night_level_of(night->time_us, night->process_count, identical);
        h->levels[i] = nights[i].level;
    }
    double threshold = fmax(kf_standard_rules.least_change,
                            kf_standard_rules.noise_factor * kf_noise_floor(nights, h->count));
    threshold = fmin(threshold, kf_standard_rules.most_threshold);
    h->point_count =
        kf_change_points(h->levels, h->count, kf_standard_rules.point_probability, threshold, h->points);
    h->unit = kf_time_unit_for(exp(h->levels[h->count - 1]));
}

/* Block 0: the night and time of each process. */
static void append_processes(const history *h, kf_text *data) {
    for (int i = 0; i < h->count; i++)
        for (int k = 0; k < h->nights[i].process_count; k++)
            kf_text_append(data, "%d\t%.6g\n", i + 1, h->nights[i].time_us[k] * h->unit.scale);
}

static kf_verdict_state verdict_of(const kf_history_night *night) {
    return night->judged ? night->verdict : KF_NODATA;
}

/* Block 1: a night, its median, its verdict, its day and label, and whether it is pinned. */
static void append_nights(const history *h, kf_text *data) {
    kf_text_append(data, "\n\n");
    for (int i = 0; i < h->count; i++) {
        const kf_history_night *night = &h->nights[i];
        /* The label is "11-22 v1.3-4-gabcdef": the day, and the user's name for the program, usually a
         * commit. */
        char day[8 + LONGEST_LABEL + 4];
        const size_t length = strlen(night->label);
        (void)snprintf(day, sizeof day, "%.5s %.*s%s", night->started + strlen("2026-"), LONGEST_LABEL,
                       night->label, length > LONGEST_LABEL ? "…" : "");
        kf_text_append(data, "%d\t%.6g\t%d\t", i + 1, exp(h->levels[i]) * h->unit.scale,
                       (int)verdict_of(night));
        kf_gnuplot_field(data, day);
        kf_text_append(data, "\t%d\n", night->pinned ? 1 : 0);
    }
}

/* Block 2: the levels between the change points, as lines: night, median; an empty line between them. */
static void append_levels(const history *h, kf_text *data) {
    kf_text_append(data, "\n\n");
    for (int i = 0; i <= h->point_count; i++) {
        int begin = i > 0 ? h->points[i - 1].at : 0, end = i < h->point_count ? h->points[i].at : h->count;
        double level = exp(kf_median(h->levels + begin, (size_t)(end - begin))) * h->unit.scale;
        kf_text_append(data, "%s%.1f\t%.6g\n%.1f\t%.6g\n", i > 0 ? "\n" : "", begin + 0.5, level, end + 0.5,
                       level);
    }
}

/* Block 3: change points with place, size and certainty. */
static void append_points(const history *h, kf_text *data) {
    kf_text_append(data, "\n\n");
    for (int i = 0; i < h->point_count; i++) {
        const kf_change_point *point = &h->points[i];
        char sure[24];
        if (point->probability < 1e-12)
            kf_copy_text(sure, sizeof sure, "p < 1e-12");
        else
            (void)snprintf(sure, sizeof sure, "p %.1e", point->probability);
        kf_text_append(data, "%.1f\t%+.1f %%, %s\t%d\n", point->at + 0.5, 100.0 * expm1(point->shift), sure,
                       point->shift > 0 ? 1 : 0);
    }
}

static void note_instructions(void *context, int ordinal, const char *metric, double value) {
    if (ordinal < 0 && strncmp(metric, "instructions_", strlen("instructions_")) == 0)
        *(double *)context = value;
}

/* Block 4: nights with their instructions. *count: their number. */
static kf_status append_instructions(kf_store *store, const char *benchmark, const history *h, kf_text *data,
                                     int *count, kf_error *error) {
    kf_text_append(data, "\n\n");
    *count = 0;
    for (int i = 0; i < h->count; i++) {
        double counted = (double)NAN;
        KF_TRY(kf_store_night_counters(store, h->nights[i].night, benchmark, KF_ARM_NIGHT, note_instructions,
                                       &counted, error));
        if (isnan(counted)) continue;
        kf_text_append(data, "%d\t%.6g\n", i + 1, counted);
        ++*count;
    }
    return KF_OK;
}

static kf_status draw(kf_store *store, const history *h, const kf_series_summary *series, const char *path,
                      kf_error *error) {
    kf_text data = {0};
    append_processes(h, &data);
    append_nights(h, &data);
    append_levels(h, &data);
    append_points(h, &data);
    int counted = 0, pinned = 0;
    kf_status status = append_instructions(store, series->benchmark, h, &data, &counted, error);
    for (int i = 0; i < h->count; i++)
        pinned += h->nights[i].pinned;
    char size[KF_FACTS_TEXT], subtitle[512], points[16], nights[16], more[64], verdicts[KF_VERDICTS + 1] = "";
    for (int i = 0; i < KF_VERDICTS; i++)
        verdicts[i] = '0';
    for (int i = 0; i < h->count; i++)
        verdicts[verdict_of(&h->nights[i])] = '1';
    kf_facts_size_text(series->facts, size);
    /* A user's program has its name instead of a scene. */
    const bool command = strcmp(series->scene, series->benchmark) == 0;
    (void)snprintf(subtitle, sizeof subtitle, "%s%s%s%son %s", command ? "" : series->scene,
                   size[0] != '\0' ? " " : "", size, command ? "" : ", ", series->device);
    (void)snprintf(more, sizeof more, "%s %d %d %d", verdicts, command, pinned > 0,
                   counted > 1 ? counted : 0);
    (void)snprintf(points, sizeof points, "%d", h->point_count);
    (void)snprintf(nights, sizeof nights, "%d", h->count);
    kf_text title = {0};
    kf_text_append(&title, "%s: %s, night by night", series->benchmark, command ? "time" : "time of a step");
    const kf_gnuplot_job job = {.script = "history.gp",
                                .data = data.text,
                                .title = title.text,
                                .subtitle = subtitle,
                                .values = {h->unit.name, points, nights, more},
                                .path = path};
    if (status == KF_OK) status = kf_gnuplot_run(&job, error);
    kf_text_free(&title);
    kf_text_free(&data);
    return status;
}

/* Draws the latest series of a benchmark night by night. Without a name it is the first benchmark. */
kf_status kf_plot_history(kf_store *store, const char *benchmark, const char *path, kf_error *error) {
    series_search search = {.benchmark = benchmark};
    KF_TRY(kf_store_series_list(store, look_at_series, &search, error));
    if (search.found.nights == 0 && benchmark != NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: no night measured '%.80s'", kf_store_path(store), benchmark);
    if (search.found.nights == 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: has no night yet; `kftune nightly` makes one",
                       kf_store_path(store));
    history *h = kf_allocate_zeroed(1, sizeof *h);
    kf_status status = kf_store_history(store, search.found.benchmark, search.found.series, 0,
                                        KF_HISTORY_SHOWN, &h->nights, &h->count, error);
    if (status == KF_OK && h->count < 2)
        status =
            kf_fail(error, KF_BAD_INPUT, "'%s' has %d finished night in this series; a history needs two",
                    search.found.benchmark, h->count);
    if (status == KF_OK) {
        analyse(h);
        status = draw(store, h, &search.found, path, error);
    }
    free(h->nights);
    free(h);
    return status;
}
