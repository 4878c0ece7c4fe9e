/* Opening and closing a store, and the statements that all its parts use. */
#include "results/store.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/store_internal.h"

/* --- errors ------------------------------------------------------------------------------------------- */

const char *kf_store_detail(sqlite3 *database, char detail[KF_STORE_DETAIL]) {
    kf_copy_text(detail, KF_STORE_DETAIL, sqlite3_errmsg(database));
    for (char *c = detail; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c)) *c = ' ';
    return detail;
}

kf_status kf_store_failure(kf_store *store, const char *doing, kf_error *error) {
    const char *path = store->path;
    char detail[KF_STORE_DETAIL];
    (void)kf_store_detail(store->database, detail);
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
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s: the store or its folder is read-only; change its permissions or "
                       "give another --store",
                       path, doing);
    case SQLITE_CONSTRAINT:
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: refused, because the data contradict themselves (%s)",
                       path, doing, detail);
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

/* --- statements --------------------------------------------------------------------------------------- */

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
         "effort, window_steps, windows, deviations) "
         "VALUES (?,?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?,?,?,?,?,?, ?,?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?, "
         "?,?,?,?,?,?, ?,?,?,?)"),
    [KF_SQL_ADD_KERNEL] =
        ("INSERT INTO kernel (result, ordinal, name, sample_count, median_us, q1_us, q3_us, minimum_us, "
         "maximum_us, "
         "low_us, high_us, bytes, flops, registers, spill_bytes, shared_bytes, theoretical_occupancy, "
         "launches_per_step, occupancy_limit) VALUES (?,?,?,?,?,?,?,?,?, ?,?,?,?,?,?,?,?,?,?)"),
    [KF_SQL_ADD_COUNTER] = ("INSERT OR REPLACE INTO counter (result, ordinal, metric, value, passes, unit) "
                            "VALUES (?,?,?,?,?,?)"),
    [KF_SQL_COUNTERS] =
        "SELECT ordinal, metric, value, passes, unit FROM counter WHERE result = ? ORDER BY ordinal, metric",
    [KF_SQL_KERNELS] = ("SELECT name, sample_count, median_us, q1_us, q3_us, minimum_us, maximum_us, low_us, "
                        "high_us, bytes, flops, "
                        "registers, spill_bytes, shared_bytes, theoretical_occupancy, launches_per_step, "
                        "occupancy_limit FROM kernel WHERE result = ? ORDER BY ordinal"),
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

kf_status kf_store_begin(kf_store *store, kf_error *error) {
    sqlite3_stmt *begin = NULL;
    KF_TRY(kf_store_statement(store, KF_SQL_BEGIN, &begin, error));
    return kf_store_run_once(store, begin, "starting to write", error);
}

kf_status kf_store_commit(kf_store *store, kf_status status, const char *doing, kf_error *error) {
    sqlite3_stmt *end = NULL;
    if (status == KF_OK) status = kf_store_statement(store, KF_SQL_COMMIT, &end, error);
    if (status == KF_OK) status = kf_store_run_once(store, end, doing, error);
    /* A full disk may have ended the transaction already. */
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

/* --- opening ------------------------------------------------------------------------------------------ */

/* A path as a URI that SQLite reads as exactly this path. */
static void append_uri(kf_text *uri, const char *path) {
    kf_text_append(uri, path[0] == '/' ? "file://" : "file:");
    for (const unsigned char *c = (const unsigned char *)path; *c != '\0'; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                     strchr("/._-", *c) != NULL;
        kf_text_append(uri, plain ? "%c" : "%%%02X", *c);
    }
    kf_text_append(uri, "?immutable=1");
}

static int pragma(sqlite3 *database, const char *sql, int *value) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    if (code == SQLITE_ROW) *value = sqlite3_column_int(statement, 0);
    (void)sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static kf_status judge(const char *path, int application, int version, kf_error *error) {
    if (application != KF_STORE_APPLICATION)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: is a database of another program, not a store; give another --store", path);
    if (version > KF_STORE_VERSION)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: is a store of version %d, written by a newer kftune; this one reads "
                       "up to version %d: update kftune or give another --store",
                       path, version, KF_STORE_VERSION);
    return KF_OK;
}

static bool has_content(const char *path, const char *suffix) {
    char beside[KF_PATH];
    struct stat information;
    return kf_path(beside, NULL, "%s%s", path, suffix) == KF_OK && stat(beside, &information) == 0 &&
           information.st_size > 0;
}

/* Looks at the file without any lock, log or write. Through SQLite and not through read(): closing a file of
 * one's own would drop the locks that another connection of this process holds on it. */
static kf_status inspect(const char *path, kf_error *error) {
    kf_text uri = {0};
    append_uri(&uri, path);
    sqlite3 *database = NULL;
    int application = 0, version = 0, tables = 0;
    int code = sqlite3_open_v2(uri.text, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    if (code == SQLITE_OK) code = pragma(database, "PRAGMA application_id", &application);
    if (code == SQLITE_OK) code = pragma(database, "PRAGMA user_version", &version);
    bool identified = code == SQLITE_OK;
    if (code == SQLITE_OK) code = pragma(database, "SELECT count(*) FROM sqlite_schema", &tables);
    kf_status status = KF_OK;
    char detail[KF_STORE_DETAIL];
    /* The rest of the truth may be in the log of a process that was killed while it moved the log into the
     * file. */
    bool unfinished = has_content(path, "-wal") || has_content(path, "-journal");
    if (code == SQLITE_CANTOPEN || code == SQLITE_PERM)
        status = kf_fail(error, KF_BAD_INPUT, "%s: cannot be opened; check its permissions", path);
    else if (code == SQLITE_NOTADB && !unfinished)
        status = kf_fail(error, KF_BAD_INPUT,
                         "%s: is not a store, or its beginning is damaged; give another --store", path);
    else if (code != SQLITE_OK && !unfinished)
        status = kf_fail(error, KF_BAD_INPUT, "%s: is damaged (%s); restore a backup or give another --store",
                         path, kf_store_detail(database, detail));
    else if (identified)
        status = judge(path, application, version, error);
    (void)sqlite3_close(database);
    kf_text_free(&uri);
    return status;
}

static kf_status check_file(const char *path, bool read_only, bool *missing, bool *writable,
                            kf_error *error) {
    struct stat information;
    *missing = false;
    if (stat(path, &information) != 0) {
        if (errno != ENOENT)
            return kf_fail(error, KF_BAD_INPUT, "%s: cannot be examined: %s", path, strerror(errno));
        if (read_only)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: there is no store; `kftune tune` makes one, --store names another", path);
        *missing = true;
        return KF_OK;
    }
    if (!S_ISREG(information.st_mode))
        return kf_fail(error, KF_BAD_INPUT, "%s: is not a file; give the name of a store", path);
    /* Also for root, who could write: whoever took the write permission away meant it. */
    bool file_writable = (information.st_mode & 0222) != 0 && access(path, W_OK) == 0;
    *writable = *writable && file_writable;
    if (!read_only && !file_writable)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: is read-only; change its permissions or give another --store", path);
    if (information.st_size == 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: is empty, not a store; delete it or give another --store",
                       path);
    return inspect(path, error);
}

static kf_status check_folder(const char *path, bool *writable, kf_error *error) {
    char folder[KF_PATH];
    KF_TRY(kf_path(folder, error, "%s", path));
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        (void)strcpy(folder, ".");
    else
        slash[slash == folder ? 1 : 0] = '\0';
    struct stat information;
    if (stat(folder, &information) != 0 || !S_ISDIR(information.st_mode))
        return kf_fail(error, KF_BAD_INPUT, "%s: there is no folder %s; make it first", path, folder);
    *writable = (information.st_mode & 0222) != 0 && access(folder, W_OK | X_OK) == 0;
    return KF_OK;
}

/* What cannot be written, or lies where SQLite cannot make its log, does not change and is read as it is.
 * Everything else is opened for writing, also to be read, because only a writer can clear its log away. */
static kf_status open_database(kf_store *store, bool read_only, bool writable, kf_error *error) {
    kf_text uri = {0};
    append_uri(&uri, store->path);
    int code = SQLITE_OK;
    if (writable)
        code = sqlite3_open_v2(store->path, &store->database, SQLITE_OPEN_READWRITE, NULL);
    else if (has_content(store->path, "-wal"))
        code = sqlite3_open_v2(store->path, &store->database, SQLITE_OPEN_READONLY, NULL);
    else
        code = sqlite3_open_v2(uri.text, &store->database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    kf_text_free(&uri);
    if (store->database == NULL) return kf_fail(error, KF_MACHINE, "%s: out of memory", store->path);
    (void)sqlite3_busy_timeout(store->database, KF_STORE_WAIT_MS);
    /* A store may come from anybody: nothing in it gets to run, and no text in it takes gigabytes. */
    enum { LONGEST_VALUE = 64 << 20 }; /* bytes, of a text or of samples */
    (void)sqlite3_limit(store->database, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    if (code == SQLITE_OK && read_only)
        code = sqlite3_exec(store->database, "PRAGMA query_only = ON", NULL, NULL, NULL);
    return code == SQLITE_OK ? KF_OK : kf_store_failure(store, "opening", error);
}

/* --- a new store -------------------------------------------------------------------------------------- */

static kf_status fill_new(kf_store *store, kf_error *error) {
    int code =
        sqlite3_open_v2(store->path, &store->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (store->database == NULL) return kf_fail(error, KF_MACHINE, "%s: out of memory", store->path);
    /* Lets `store prune` give room back to the disk; must come before the first table. */
    if (code == SQLITE_OK)
        code = sqlite3_exec(store->database, "PRAGMA auto_vacuum = INCREMENTAL", NULL, NULL, NULL);
    if (code != SQLITE_OK) return kf_store_failure(store, "creating", error);
    KF_TRY(kf_schema_bring_up(store->database, store->path, kf_store_schema(), kf_migrations,
                              kf_migration_count, KF_STORE_VERSION, error));
    if (sqlite3_exec(store->database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) == SQLITE_OK)
        return KF_OK;
    return kf_store_failure(store, "creating", error);
}

/* Under another name first, so that a store is there whole or not at all, also when several processes want to
 * create it: the first one's counts. */
static kf_status create(const char *path, kf_error *error) {
    kf_store *fresh = kf_allocate_zeroed(1, sizeof *fresh);
    kf_status status = kf_path(fresh->path, error, "%s.%ld.new", path, (long)getpid());
    if (status == KF_OK) {
        (void)unlink(fresh->path); /* of a process that was killed here */
        status = fill_new(fresh, error);
        (void)sqlite3_close(fresh->database);
        int failed = 0;
        if (status == KF_OK && link(fresh->path, path) != 0 && errno != EEXIST)
            failed = access(path, F_OK) == 0 ? 0 : rename(fresh->path, path); /* no hard links on this disk */
        if (failed != 0)
            status = kf_fail(error, KF_BAD_INPUT, "%s: cannot be created: %s; give another --store", path,
                             strerror(errno));
        (void)unlink(fresh->path);
    }
    free(fresh);
    return status;
}

/* --- an existing store -------------------------------------------------------------------------------- */

/* The same questions again, now with what a log holds. */
static kf_status judge_again(kf_store *store, int *version, kf_error *error) {
    /* Until the file is known to be ours its log must stay where it is. */
    bool log = has_content(store->path, "-wal");
    (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, log ? 1 : 0, NULL);
    int application = 0;
    if (pragma(store->database, "PRAGMA application_id", &application) != SQLITE_OK ||
        pragma(store->database, "PRAGMA user_version", version) != SQLITE_OK)
        return kf_store_failure(store, "opening", error);
    KF_TRY(judge(store->path, application, *version, error));
    (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return KF_OK;
}

/* Another program may have taken the log away, with which a result would cost some milliseconds. Bringing it
 * back does not wait for other processes, as everything else does. */
static kf_status use_log(kf_store *store, kf_error *error) {
    for (int waited = 0;; waited += 5) {
        int code = sqlite3_exec(store->database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (code == SQLITE_OK) return KF_OK;
        if (code != SQLITE_BUSY || waited >= KF_STORE_WAIT_MS)
            return kf_store_failure(store, "opening", error);
        (void)sqlite3_sleep(5);
    }
}

static kf_status settle(kf_store *store, bool read_only, kf_error *error) {
    int version = 0;
    KF_TRY(judge_again(store, &version, error));
    if (version < KF_STORE_VERSION && read_only)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: is a store of version %d; any command that writes to it, such as `kftune tune`, brings it "
            "to version %d",
            store->path, version, KF_STORE_VERSION);
    if (version < KF_STORE_VERSION)
        KF_TRY(kf_schema_bring_up(store->database, store->path, kf_store_schema(), kf_migrations,
                                  kf_migration_count, KF_STORE_VERSION, error));
    if (!read_only) KF_TRY(use_log(store, error));
    /* The disk is only waited for when the log is moved into the file, so that is done seldom: every 32 MiB.
     */
    static const char settings[] = "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;"
                                   "PRAGMA wal_autocheckpoint = 8000; PRAGMA journal_size_limit = 33554432";
    if (sqlite3_exec(store->database, settings, NULL, NULL, NULL) != SQLITE_OK)
        return kf_store_failure(store, "opening", error);
    /* A table that is not there shows here, and not in the middle of a tuning run. */
    sqlite3_stmt *statement = NULL;
    for (int i = KF_SQL_ADD_CONFIG; i < KF_STATEMENTS; i++)
        KF_TRY(kf_store_statement(store, (kf_statement)i, &statement, error));
    return KF_OK;
}

static kf_status find_path(const char *path, char found[KF_PATH], kf_error *error) {
    if (path != NULL) {
        if (path[0] == '\0') return kf_fail(error, KF_BAD_INPUT, "--store: the name of the store is empty");
        /* "./" keeps names such as ":memory:" from meaning something else to SQLite. */
        return kf_path(found, error, "%s%s", path[0] == '/' || path[0] == '.' ? "" : "./", path);
    }
    char folder[KF_PATH];
    KF_TRY(kf_store_folder(folder, error));
    return kf_path(found, error, "%s/kftune.db", folder);
}

static kf_status open_path(kf_store *store, bool read_only, kf_error *error) {
    bool missing = false, writable = false;
    KF_TRY(check_folder(store->path, &writable, error));
    KF_TRY(check_file(store->path, read_only, &missing, &writable, error));
    if (!read_only && !writable)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: its folder is read-only; change its permissions or give another --store",
                       store->path);
    /* A log without its store would be played into the new one. */
    if (missing && has_content(store->path, "-wal") && access(store->path, F_OK) != 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s-wal: is left over from a store that was deleted; delete it too", store->path);
    if (missing) KF_TRY(create(store->path, error));
    KF_TRY(open_database(store, read_only, writable, error));
    return settle(store, read_only, error);
}

kf_status kf_store_open(const char *path, bool read_only, kf_store **store, kf_error *error) {
    *store = NULL;
    kf_store *opened = kf_allocate_zeroed(1, sizeof *opened);
    kf_status status = find_path(path, opened->path, error);
    if (status == KF_OK) status = open_path(opened, read_only, error);
    if (status == KF_OK)
        *store = opened;
    else
        kf_store_close(opened);
    return status;
}

void kf_store_close(kf_store *store) {
    if (store == NULL) return;
    for (int i = 0; i < KF_STATEMENTS; i++)
        (void)sqlite3_finalize(store->statements[i]);
    kf_store_forget_facts(store);
    (void)sqlite3_close(store->database);
    free(store);
}

const char *kf_store_path(const kf_store *store) {
    return store->path;
}
