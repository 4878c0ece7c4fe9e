/* Statements, rows and errors of the database, which all parts of the store use. */
#include <ctype.h>
#include <libgen.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/store_internal.h"

/* --- Errors ------------------------------------------------------------------------------------------- */

static sqlite3_mem_methods usual;

static void *allocate(int bytes) {
    void *memory = usual.xMalloc(bytes);
    if (memory == NULL) kf_out_of_memory((size_t)bytes);
    return memory;
}

static void *reallocate(void *memory, int bytes) {
    memory = usual.xRealloc(memory, bytes);
    if (memory == NULL) kf_out_of_memory((size_t)bytes);
    return memory;
}

void kf_store_check_memory(void) {
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual) != SQLITE_OK || usual.xMalloc == NULL) return;
    sqlite3_mem_methods checked = usual;
    checked.xMalloc = allocate;
    checked.xRealloc = reallocate;
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &checked);
}

const char *kf_store_detail(sqlite3 *database, char detail[KF_STORE_DETAIL]) {
    kf_copy_text(detail, KF_STORE_DETAIL, sqlite3_errmsg(database));
    for (char *c = detail; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c)) *c = ' ';
    return detail;
}

bool kf_store_lacks_machine(sqlite3 *database) {
    return sqlite3_errcode(database) == SQLITE_CANTOPEN &&
           kf_errno_is_machines(sqlite3_system_errno(database));
}

/* Returns whether a file may be written. This also applies to root, because a missing write permission is
 * intentional. */
static bool is_writable(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && (about.st_mode & 0222) != 0 && access(path, W_OK) == 0;
}

static bool may_be_written(const char *path) {
    char folder[KF_PATH];
    kf_copy_text(folder, sizeof folder, path);
    return is_writable(path) && is_writable(dirname(folder));
}

/* Turns SQLite's last error into one line: the action, the fault, and what to do. */
kf_status kf_store_failure(kf_store *store, const char *doing, kf_error *error) {
    const char *path = store->path;
    char detail[KF_STORE_DETAIL];
    (void)kf_store_detail(store->database, detail);
    if (kf_store_lacks_machine(store->database))
        return kf_fail(error, KF_MACHINE, "%s: %s: %s", path, doing,
                       strerror(sqlite3_system_errno(store->database)));
    switch (sqlite3_errcode(store->database)) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s: the store is damaged (%s); restore a backup or give another "
                       "--store",
                       path, doing, detail);
    case SQLITE_FULL:
    case SQLITE_IOERR:
        return kf_fail(error, KF_MACHINE,
                       "%s: %s: cannot be written (%s); make room on the disk; what was stored "
                       "before is kept",
                       path, doing, detail);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return kf_fail(error, KF_MACHINE,
                       "%s: %s: another process has held the store for %d s; wait for it or give "
                       "another --store",
                       path, doing, KF_STORE_WAIT_MS / 1000);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        /* If SQLite cannot open a file for writing, it opens it for reading, whatever the reason is. */
        if (may_be_written(path))
            return kf_fail(error, KF_HOST,
                           "%s: %s: cannot be opened for writing, although it is not read-only: perhaps the "
                           "machine has no memory or open files left",
                           path, doing);
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s: the store or its folder is read-only; change its permissions or "
                       "give another --store",
                       path, doing);
    case SQLITE_CONSTRAINT:
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: refused, because the data are contradictory (%s)", path,
                       doing, detail);
    case SQLITE_ERROR:
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s: lacks what a store of version %d has (%s); restore a backup or "
                       "give another --store",
                       path, doing, KF_STORE_VERSION, detail);
    case SQLITE_NOMEM:
        return kf_fail(error, KF_MACHINE, "%s: %s: out of memory", path, doing);
    default:
        return kf_fail(error, KF_MACHINE, "%s: %s: %s", path, doing, detail);
    }
}

/* --- Statements --------------------------------------------------------------------------------------- */

static const char *const statement_texts[KF_STATEMENTS] = {
    [KF_SQL_BEGIN] = "BEGIN IMMEDIATE",
    [KF_SQL_COMMIT] = "COMMIT",
    [KF_SQL_ROLLBACK] = "ROLLBACK",
    [KF_SQL_ADD_CONFIG] = "INSERT INTO config (hash, system, json) VALUES (?, ?, ?)",
    [KF_SQL_FIND_CONFIG] = "SELECT id FROM config WHERE hash = ?",
    [KF_SQL_ADD_BUILD] = "INSERT INTO build (hash) VALUES (?)",
    [KF_SQL_FIND_BUILD] = "SELECT id FROM build WHERE hash = ?",
    [KF_SQL_ADD_RESULT] =
        ("INSERT INTO result (run, sequence, role, config, build, measured, state, reason, step_us, q1_us, "
         "q3_us, "
         "minimum_us, maximum_us, low_us, high_us, sample_count, samples, batch, stop, updates_per_us, "
         "bandwidth, "
         "verification_error, verification_bound, worst, compile_s, verify_s, "
         "measure_s, "
         "before_sm_clock_mhz, before_memory_clock_mhz, before_temperature_c, before_power_w, "
         "before_throttle_reasons, "
         "after_sm_clock_mhz, after_memory_clock_mhz, after_temperature_c, after_power_w, "
         "after_throttle_reasons, cache, clocks, clock_mhz, clock_state, outliers, energy_j, "
         "effort, window_steps, windows, deviations, spread) "
         "VALUES (?,?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?,?,?,?,?,?, ?,?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?, "
         "?,?,?,?,?,?, ?,?,?,?,?)"),
    [KF_SQL_ADD_KERNEL] =
        ("INSERT INTO kernel (result, ordinal, name, sample_count, median_us, q1_us, q3_us, minimum_us, "
         "maximum_us, "
         "low_us, high_us, bytes, flops, registers, spill_bytes, shared_bytes, block_threads, "
         "theoretical_occupancy, launches_per_step, occupancy_limit, fastest_us) "
         "VALUES (?,?,?,?,?,?,?,?,?, ?,?,?,?,?,?,?,?,?,?,?,?)"),
    [KF_SQL_ADD_COUNTER] = ("INSERT OR REPLACE INTO counter (result, ordinal, metric, value, passes, unit) "
                            "VALUES (?,?,?,?,?,?)"),
    [KF_SQL_COUNTERS] =
        "SELECT ordinal, metric, value, passes, unit FROM counter WHERE result = ? ORDER BY ordinal, metric",
    [KF_SQL_ADD_METRIC] = "INSERT OR REPLACE INTO metric (result, name, ordinal, value) VALUES (?,?,?,?)",
    [KF_SQL_METRICS] = "SELECT name, value FROM metric WHERE result = ? ORDER BY ordinal",
    [KF_SQL_KERNELS] =
        ("SELECT name, sample_count, median_us, q1_us, q3_us, minimum_us, maximum_us, low_us, "
         "high_us, bytes, flops, "
         "registers, spill_bytes, shared_bytes, block_threads, theoretical_occupancy, "
         "launches_per_step, occupancy_limit, fastest_us FROM kernel WHERE result = ? ORDER BY ordinal"),
};

kf_status kf_store_prepare(kf_store *store, const char *sql, sqlite3_stmt **statement, kf_error *error) {
    *statement = NULL;
    if (sqlite3_prepare_v3(store->database, sql, -1, 0, statement, NULL) == SQLITE_OK) return KF_OK;
    return kf_store_failure(store, "reading its tables", error);
}

kf_status kf_store_statement(kf_store *store, kf_statement which, sqlite3_stmt **statement, kf_error *error) {
    sqlite3_stmt **kept = &store->statements[which];
    if (*kept == NULL && sqlite3_prepare_v3(store->database, statement_texts[which], -1,
                                            SQLITE_PREPARE_PERSISTENT, kept, NULL) != SQLITE_OK)
        return kf_store_failure(store, "reading its tables", error);
    (void)sqlite3_reset(*kept);
    (void)sqlite3_clear_bindings(*kept);
    *statement = *kept;
    return KF_OK;
}

kf_status kf_store_step(kf_store *store, sqlite3_stmt *statement, const char *doing, bool *found,
                        kf_error *error) {
    int code = sqlite3_step(statement);
    *found = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return KF_OK;
    return kf_store_failure(store, doing, error);
}

kf_status kf_store_run_once(kf_store *store, sqlite3_stmt *statement, const char *doing, kf_error *error) {
    bool found = false;
    kf_status status = kf_store_step(store, statement, doing, &found, error);
    (void)sqlite3_reset(statement);
    return status;
}

kf_status kf_store_fetch_id(kf_store *store, sqlite3_stmt *statement, const char *doing, int64_t *id,
                            kf_error *error) {
    bool found = false;
    kf_status status = kf_store_step(store, statement, doing, &found, error);
    if (found) *id = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return status;
}

kf_status kf_store_begin(kf_store *store, kf_error *error) {
    sqlite3_stmt *begin = NULL;
    KF_TRY(kf_store_statement(store, KF_SQL_BEGIN, &begin, error));
    return kf_store_run_once(store, begin, "starting to write", error);
}

kf_status kf_store_commit(kf_store *store, kf_status status, const char *doing, kf_error *error) {
    sqlite3_stmt *end = NULL;
    if (status == KF_OK) status = kf_store_statement(store, KF_SQL_COMMIT, &end, error);
    if (status == KF_OK) status = kf_store_run_once(store, end, doing, error);
    /* A full disk may already have ended the transaction. */
    if (status != KF_OK && sqlite3_get_autocommit(store->database) == 0 &&
        kf_store_statement(store, KF_SQL_ROLLBACK, &end, NULL) == KF_OK)
        (void)kf_store_run_once(store, end, doing, NULL);
    return status;
}

void kf_bind_integer(kf_binder *binder, int64_t value) {
    (void)sqlite3_bind_int64(binder->statement, ++binder->at, value);
}

void kf_bind_number(kf_binder *binder, double value) {
    (void)sqlite3_bind_double(binder->statement, ++binder->at, value); /* NAN becomes NULL */
}

void kf_bind_text(kf_binder *binder, const char *text) {
    (void)sqlite3_bind_text(binder->statement, ++binder->at, text, -1, SQLITE_STATIC);
}

void kf_bind_null(kf_binder *binder) {
    (void)sqlite3_bind_null(binder->statement, ++binder->at);
}

int64_t kf_read_integer(kf_reader *reader) {
    return sqlite3_column_int64(reader->statement, reader->at++);
}

double kf_read_number(kf_reader *reader) {
    int at = reader->at++;
    return sqlite3_column_type(reader->statement, at) == SQLITE_NULL
               ? NAN
               : sqlite3_column_double(reader->statement, at);
}

void kf_read_text(kf_reader *reader, char *target, size_t size) {
    const char *text = (const char *)sqlite3_column_text(reader->statement, reader->at++);
    kf_copy_text(target, size, text != NULL ? text : "");
}
