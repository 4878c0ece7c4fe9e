/* The history of a benchmark, for the detector and the plots. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "results/nightly.h"
#include "results/store_internal.h"

#define HISTORY_SQL                                                                                          \
    "SELECT n.night, g.started, g.label, n.program, c.hash, b.hash, r.step_us, v.state, v.change, "          \
    "p.night IS NOT NULL FROM nightly n JOIN night g ON g.id = n.night JOIN result r ON r.id = n.result "    \
    "JOIN config c ON c.id = r.config LEFT JOIN build b ON b.id = r.build "                                  \
    "LEFT JOIN verdict v ON v.night = n.night AND v.benchmark = n.benchmark "                                \
    "LEFT JOIN pin p ON p.night = n.night AND p.benchmark = n.benchmark AND p.series = n.series "            \
    "WHERE n.benchmark = ?1 AND n.series = ?2 AND n.arm = 'night' AND r.state = 'ok' AND n.night IN "

/* Only the last nights are read, so that a store of many years stays fast. */
static const char *const history_sql = HISTORY_SQL
    "(SELECT DISTINCT m.night FROM nightly m JOIN night h ON h.id = m.night WHERE m.benchmark = ?1 "
    "AND m.series = ?2 AND m.arm = 'night' AND (h.state = 'finished' OR h.id = ?3) ORDER BY m.night DESC "
    "LIMIT ?4) ORDER BY n.night, n.ordinal";
static const char *const pinned_sql =
    HISTORY_SQL "(SELECT night FROM pin WHERE benchmark = ?1 AND series = ?2) ORDER BY n.ordinal";

/* Reads a night of a history from a row. */
static void begin_night(sqlite3_stmt *statement, kf_history_night *night) {
    kf_reader reader = {statement, 0};
    *night = (kf_history_night){.night = kf_read_integer(&reader)};
    kf_read_text(&reader, night->started, sizeof night->started);
    kf_read_text(&reader, night->label, sizeof night->label);
    kf_read_text(&reader, night->program, sizeof night->program);
    kf_read_text(&reader, night->config, sizeof night->config);
    kf_read_text(&reader, night->build, sizeof night->build);
    reader.at++;
    char word[16];
    kf_read_text(&reader, word, sizeof word);
    for (int i = 0; i < KF_VERDICTS; i++)
        if (strcmp(word, kf_verdict_names[i]) == 0) {
            night->judged = true;
            night->verdict = (kf_verdict_state)i;
        }
    night->change = kf_read_number(&reader);
    night->pinned = kf_read_integer(&reader) != 0;
}

/* Collects nights from rows of processes. Those of a night follow each other. It finalises the statement. */
static kf_status collect(kf_store *store, sqlite3_stmt *statement, kf_history_night **nights, int *count,
                         kf_error *error) {
    bool found = true;
    kf_status status = KF_OK;
    int capacity = 0;
    while ((status = kf_store_step(store, statement, "reading the history", &found, error)) == KF_OK &&
           found) {
        if (*count == 0 || (*nights)[*count - 1].night != sqlite3_column_int64(statement, 0)) {
            if (*count == capacity) {
                capacity = 2 * capacity + 16;
                *nights = kf_reallocate(*nights, (size_t)capacity * sizeof **nights);
            }
            begin_night(statement, &(*nights)[(*count)++]);
        }
        kf_history_night *night = &(*nights)[*count - 1];
        if (night->process_count < KF_NIGHT_PROCESSES)
            night->time_us[night->process_count++] = sqlite3_column_double(statement, 6);
    }
    (void)sqlite3_finalize(statement);
    if (status != KF_OK) {
        free(*nights);
        *nights = NULL;
        *count = 0;
    }
    return status;
}

kf_status kf_store_history(kf_store *store, const char *benchmark, const char *series,
                           int64_t including_night, int limit, kf_history_night **nights, int *count,
                           kf_error *error) {
    *nights = NULL;
    *count = 0;
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(store, history_sql, &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_text(&binder, benchmark);
    kf_bind_text(&binder, series);
    kf_bind_integer(&binder, including_night);
    kf_bind_integer(&binder, limit);
    return collect(store, statement, nights, count, error);
}

kf_status kf_store_pinned(kf_store *store, const char *benchmark, const char *series, kf_history_night *night,
                          bool *found, kf_error *error) {
    kf_history_night *nights = NULL;
    int count = 0;
    sqlite3_stmt *statement = NULL;
    *found = false;
    KF_TRY(kf_store_prepare(store, pinned_sql, &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_text(&binder, benchmark);
    kf_bind_text(&binder, series);
    KF_TRY(collect(store, statement, &nights, &count, error));
    *found = count > 0;
    if (*found) *night = nights[0];
    free(nights);
    return KF_OK;
}

kf_status kf_store_series_list(kf_store *store,
                               kf_status (*visit)(void *context, const kf_series_summary *series,
                                                  kf_error *error),
                               void *context, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(
        store,
        "SELECT n.benchmark, n.series, e.device, e.driver, s.name, s.id, s.facts, s.units, s.hash, e.id, "
        "count(DISTINCT n.night), max(n.night) AS last FROM nightly n JOIN result r ON r.id = n.result "
        "JOIN run u ON u.id = r.run JOIN environment e ON e.id = u.environment JOIN problem s ON s.id = "
        "u.problem "
        "WHERE n.arm = 'night' AND r.state = 'ok' GROUP BY n.benchmark, n.series "
        "ORDER BY n.benchmark, last DESC",
        &statement, error));
    bool found = true;
    kf_status status = KF_OK;
    while (status == KF_OK &&
           (status = kf_store_step(store, statement, "listing series", &found, error)) == KF_OK && found) {
        kf_series_summary series;
        kf_reader reader = {statement, 0};
        kf_read_text(&reader, series.benchmark, sizeof series.benchmark);
        kf_read_text(&reader, series.series, sizeof series.series);
        kf_read_text(&reader, series.device, sizeof series.device);
        kf_read_text(&reader, series.driver, sizeof series.driver);
        kf_read_text(&reader, series.scene, sizeof series.scene);
        series.facts = kf_read_facts(store, &reader);
        kf_read_text(&reader, series.problem, sizeof series.problem);
        series.environment = kf_read_integer(&reader);
        series.nights = (int)kf_read_integer(&reader);
        series.last_night = kf_read_integer(&reader);
        status = visit(context, &series, error);
    }
    (void)sqlite3_finalize(statement);
    return status;
}
