/* Exports runs of a store to files and imports them again. */
#ifndef KF_TESTS_UNIT_LANDSCAPE_FIXTURE_H
#define KF_TESTS_UNIT_LANDSCAPE_FIXTURE_H

#include "tests/unit/store_fixture.h"

static inline int64_t import(kf_store *store, const char *file, int *count) {
    int64_t run = 0;
    kf_error error = {0};
    if (kf_store_import(store, file, &run, count, &error) != KF_OK) fail_msg("%s", error.message);
    return run;
}

typedef kf_status (*exporter)(kf_store *store, int64_t run_id, FILE *stream, kf_error *error);

static inline char *export(kf_store *store, int64_t run, exporter write) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    kf_error error = {0};
    if (write(store, run, stream, &error) != KF_OK) fail_msg("%s", error.message);
    (void)fclose(stream);
    return text;
}

/* Returns all rows of a run as text, so that two runs with the same rows have the same text. */
static inline char *rows(kf_store *store, int64_t run, bool last_only) {
    sqlite3_stmt *statement = NULL;
    static const char *const sql = "SELECT c.hash, c.json, b.hash, r.sequence, r.role, r.state, r.reason, "
                                   "r.measured, r.step_us, r.q1_us, r.q3_us, "
                                   "r.minimum_us, r.maximum_us, r.low_us, r.high_us, r.sample_count, "
                                   "hex(r.samples), r.batch, r.stop, r.updates_per_us, "
                                   "r.bandwidth, r.verification_error, r.verification_bound, r.deviations, "
                                   "r.worst, r.compile_s, "
                                   "r.verify_s, r.measure_s FROM result r JOIN config c ON c.id = r.config "
                                   "LEFT JOIN build b ON b.id = r.build "
                                   "WHERE run = ?1 AND state <> 'skipped' AND (?2 = 0 OR NOT EXISTS (SELECT "
                                   "1 FROM result l WHERE l.run = ?1 AND "
                                   "l.config = r.config AND l.sequence > r.sequence)) ORDER BY sequence";
    assert_int_equal(sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL), SQLITE_OK);
    (void)sqlite3_bind_int64(statement, 1, run);
    (void)sqlite3_bind_int(statement, 2, last_only);
    kf_text text = {0};
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *value = (const char *)sqlite3_column_text(statement, i);
            kf_text_append(&text, "%s|", value != NULL ? value : "NULL");
        }
        kf_text_append(&text, "\n");
    }
    (void)sqlite3_finalize(statement);
    return text.text;
}

static inline void write_file(const char *path, const char *text) {
    assert_int_equal(kf_file_write_atomic(path, text, strlen(text), NULL), KF_OK);
}

#endif
