/* Copies the runs of another store, such as the shards of a landscape that were measured on several devices.
 * Rows are identified by global names (uuid of a run, sequence of a result, hashes), so stores may be merged
 * in any order and repeatedly. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/store_internal.h"

/* Lists the columns of a table except some, with a prefix: "s.hash, s.name". */
static kf_status list_columns(kf_store *store, const char *table, const char *without, const char *prefix,
                              kf_text *list, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    bool found = true;
    KF_TRY(kf_store_prepare(
        store, "SELECT name FROM pragma_table_info(?) WHERE instr(?, ' ' || name || ' ') = 0 ORDER BY cid",
        &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_text(&binder, table);
    kf_bind_text(&binder, without);
    kf_status status = KF_OK;
    while (status == KF_OK && found) {
        status = kf_store_step(store, statement, "reading a table's columns", &found, error);
        if (status == KF_OK && found)
            kf_text_append(list, "%s%s%s", list->length > 0 ? ", " : "", prefix,
                           (const char *)sqlite3_column_text(statement, 0));
    }
    (void)sqlite3_finalize(statement);
    return status;
}

static kf_status execute(kf_store *store, const char *sql, kf_error *error) {
    if (sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK) return KF_OK;
    return kf_store_failure(store, "merging another store", error);
}

/* Inserts rows unless they exist: the columns that both stores have, and those whose row numbers differ here.
 */
static kf_status copy(kf_store *store, const char *table, const char *without, const char *others,
                      const char *values, const char *from, kf_error *error) {
    kf_text names = {0}, sources = {0}, sql = {0};
    kf_status status = list_columns(store, table, without, "", &names, error);
    if (status == KF_OK) status = list_columns(store, table, without, "s.", &sources, error);
    kf_text_append(&sql, "INSERT OR IGNORE INTO main.%s (%s%s%s) SELECT %s%s%s FROM %s", table, others,
                   others[0] != '\0' ? ", " : "", names.text, values, values[0] != '\0' ? ", " : "",
                   sources.text, from);
    if (status == KF_OK) status = execute(store, sql.text, error);
    kf_text_free(&names);
    kf_text_free(&sources);
    kf_text_free(&sql);
    return status;
}

#define SAME_RUN "JOIN shard.run r ON r.id = s.run JOIN main.run m ON m.uuid = r.uuid "
#define SAME_RESULT                                                                                          \
    "JOIN shard.result t ON t.id = s.result JOIN shard.run r ON r.id = t.run "                               \
    "JOIN main.run m ON m.uuid = r.uuid JOIN main.result n ON n.run = m.id AND n.sequence = t.sequence"

/* Checks that a result which exists already is the same. */
static kf_status check_same(kf_store *store, const char *path, kf_error *error) {
    static const char *const sql =
        "SELECT m.uuid, s.sequence FROM shard.result s " SAME_RUN
        "JOIN main.result n ON n.run = m.id AND n.sequence = s.sequence "
        "JOIN main.config a ON a.id = n.config JOIN shard.config b ON b.id = s.config "
        "WHERE a.hash <> b.hash OR n.state <> s.state OR n.samples IS NOT s.samples LIMIT 1";
    sqlite3_stmt *statement = NULL;
    bool found = false;
    KF_TRY(kf_store_prepare(store, sql, &statement, error));
    kf_status status = kf_store_step(store, statement, "comparing results", &found, error);
    if (status == KF_OK && found)
        status = kf_fail(
            error, KF_BAD_INPUT,
            "%s: result %d of run %s differs from the one in this store: one of the two files was changed",
            path, sqlite3_column_int(statement, 1), (const char *)sqlite3_column_text(statement, 0));
    (void)sqlite3_finalize(statement);
    return status;
}

/* A run whose process has ended, or that still runs, gets the results that it has now. */
static const char update_runs[] =
    "UPDATE main.run SET state = CASE s.state WHEN 'running' THEN 'interrupted' ELSE s.state END, "
    "ended = ifnull(s.ended, main.run.ended), winner = s.winner, noise_floor = s.noise_floor FROM shard.run "
    "s "
    "WHERE s.uuid = main.run.uuid AND s.state <> 'running' AND main.run.state <> 'running'";

/* Copies all rows of the attached store that are missing here. A table follows those to which it refers. */
static kf_status merge_rows(kf_store *store, const char *path, kf_error *error) {
    static const char *const plain[] = {"environment", "problem", "space", "config", "build"};
    KF_TRY(check_same(store, path, error));
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        char from[64];
        (void)snprintf(from, sizeof from, "shard.%s s", plain[i]);
        KF_TRY(copy(store, plain[i], " id ", "", "", from, error));
    }
    KF_TRY(copy(store, "run", " id environment problem space state ended process ",
                "environment, problem, space, state, ended, process",
                "e.id, p.id, c.id, CASE s.state WHEN 'running' THEN 'interrupted' ELSE s.state END, "
                "ifnull(s.ended, s.started), NULL",
                "shard.run s JOIN shard.environment f ON f.id = s.environment JOIN main.environment e ON "
                "e.hash = f.hash "
                "JOIN shard.problem q ON q.id = s.problem "
                "JOIN main.problem p ON p.hash = q.hash AND p.name = q.name AND p.source = q.source "
                "JOIN shard.space d ON d.id = s.space JOIN main.space c ON c.hash = d.hash "
                "WHERE s.origin <> 'nightly' ORDER BY s.id",
                error));
    KF_TRY(execute(store, update_runs, error));
    KF_TRY(copy(
        store, "result", " id run config build ", "run, config, build", "m.id, c.id, v.id",
        "shard.result s " SAME_RUN
        "JOIN shard.config d ON d.id = s.config JOIN main.config c ON c.hash = d.hash "
        "LEFT JOIN shard.build w ON w.id = s.build LEFT JOIN main.build v ON v.hash = w.hash ORDER BY s.id",
        error));
    KF_TRY(copy(store, "kernel", " result ", "result", "n.id", "shard.kernel s " SAME_RESULT, error));
    KF_TRY(copy(store, "counter", " result ", "result", "n.id", "shard.counter s " SAME_RESULT, error));
    KF_TRY(copy(store, "metric", " result ", "result", "n.id", "shard.metric s " SAME_RESULT, error));
    return copy(store, "roof", " ", "", "", "shard.roof s", error);
}

static kf_status count_rows(kf_store *store, int counts[2], kf_error *error) {
    sqlite3_stmt *statement = NULL;
    bool found = false;
    KF_TRY(kf_store_prepare(store,
                            "SELECT (SELECT count(*) FROM main.run), (SELECT count(*) FROM main.result)",
                            &statement, error));
    const kf_status status = kf_store_step(store, statement, "counting results", &found, error);
    for (int i = 0; i < 2 && status == KF_OK; i++)
        counts[i] = sqlite3_column_int(statement, i);
    (void)sqlite3_finalize(statement);
    return status;
}

static kf_status attach(kf_store *store, const char *path, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(store, "ATTACH DATABASE ? AS shard", &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_text(&binder, path);
    const kf_status status = kf_store_run_once(store, statement, "opening another store", error);
    (void)sqlite3_finalize(statement);
    return status;
}

/* Merges another store, which is migrated first, in one transaction. Counts the new runs and results. */
kf_status kf_store_merge(kf_store *store, const char *path, int *runs, int *results, kf_error *error) {
    kf_store *other = NULL;
    int before[2] = {0, 0}, after[2] = {0, 0};
    KF_TRY(kf_store_open(path, false, &other, error)); /* it migrates the store to this version */
    kf_store_close(other);
    KF_TRY(attach(store, path, error));
    kf_status status = kf_store_begin(store, error);
    if (status == KF_OK) {
        status = count_rows(store, before, error);
        if (status == KF_OK) status = merge_rows(store, path, error);
        if (status == KF_OK) status = count_rows(store, after, error);
        status = kf_store_commit(store, status, "merging another store", error);
    }
    (void)sqlite3_exec(store->database, "DETACH DATABASE shard", NULL, NULL, NULL);
    *runs = after[0] - before[0];
    *results = after[1] - before[1];
    return status;
}

kf_status kf_is_store(const char *path, bool *is, kf_error *error) {
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    FILE *file = fopen(path, "rb");
    *is = false;
    if (file == NULL && kf_errno_is_machines(errno))
        return kf_fail(error, KF_HOST, "%s: cannot be opened: %s", path, strerror(errno));
    if (file == NULL) return KF_OK; /* the function that reads it gives the reason */
    *is = fread(head, sizeof magic, 1, file) == 1 && memcmp(head, magic, sizeof magic) == 0;
    (void)fclose(file);
    return KF_OK;
}

/* --- Shards -------------------------------------------------------------------------------------------- */

/* Visits the shards of a shared landscape in a store. */
kf_status kf_store_shards(kf_store *store, kf_shard_visit *visit, void *context, kf_error *error) {
    static const char *const sql =
        "SELECT s.name, s.hash, r.strategy, r.seed, r.state, e.device, e.identity, "
        "(SELECT count(DISTINCT t.config) FROM result t WHERE t.run = r.id), "
        "(SELECT avg(t.step_us) FROM result t WHERE t.run = r.id AND t.role = 'preset:default' AND t.state = "
        "'ok') "
        "FROM run r JOIN problem s ON s.id = r.problem JOIN environment e ON e.id = r.environment "
        "WHERE r.strategy GLOB 'shard:*' ORDER BY r.id";
    sqlite3_stmt *statement = NULL;
    bool found = true;
    KF_TRY(kf_store_prepare(store, sql, &statement, error));
    kf_status status = KF_OK;
    while (status == KF_OK && found) {
        status = kf_store_step(store, statement, "reading shards", &found, error);
        if (status != KF_OK || !found) break;
        kf_shard shard = {.index = -1};
        char strategy[KF_NAME];
        kf_reader reader = {statement, 0};
        kf_read_text(&reader, shard.scene, sizeof shard.scene);
        kf_read_text(&reader, shard.scene_hash, sizeof shard.scene_hash);
        kf_read_text(&reader, strategy, sizeof strategy);
        shard.seed = (uint64_t)kf_read_integer(&reader);
        char state[16];
        kf_read_text(&reader, state, sizeof state);
        kf_read_text(&reader, shard.device, sizeof shard.device);
        kf_read_text(&reader, shard.identity, sizeof shard.identity);
        shard.configs = (int)kf_read_integer(&reader);
        shard.anchor_us = kf_read_number(&reader);
        shard.finished = strcmp(state, "finished") == 0;
        if (sscanf(strategy, "shard:i=%d:n=%d:", &shard.index, &shard.count) == 2) visit(context, &shard);
    }
    (void)sqlite3_finalize(statement);
    return status;
}
