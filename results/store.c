/* Opens and closes stores. */
#include "results/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/store_internal.h"

/* --- Opening ------------------------------------------------------------------------------------------ */

/* Appends a path as a URI that SQLite reads as exactly this path. */
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

/* Examines the file without any lock, log or write. It uses SQLite instead of read(), because closing a file
 * drops the locks that another connection of this process holds on it. */
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
    /* If a process was killed while it moved the log into the file, a part of the data is only in the log. */
    bool unfinished = has_content(path, "-wal") || has_content(path, "-journal");
    if (code == SQLITE_NOMEM || (code & 0xff) == SQLITE_IOERR || kf_store_lacks_machine(database))
        status =
            kf_fail(error, KF_MACHINE, "%s: cannot be read: %s", path, kf_store_detail(database, detail));
    else if (code == SQLITE_CANTOPEN || code == SQLITE_PERM)
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
            return kf_fail(error, kf_errno_status(errno), "%s: cannot be examined: %s", path,
                           strerror(errno));
        if (read_only)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: there is no store; `kftune tune` makes one, --store names another", path);
        *missing = true;
        return KF_OK;
    }
    if (!S_ISREG(information.st_mode))
        return kf_fail(error, KF_BAD_INPUT, "%s: is not a file; give the name of a store", path);
    /* Permissions also count for root, who could write. A missing write permission is intentional. */
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

/* Opens the database. A store that cannot be written, or whose folder does not allow a log, is read without
 * changing it. Any other store is opened for writing, even if it is only read, because only a writer can
 * clear its log. */
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
    /* A store may come from an untrusted source. Nothing in it may be executed, and no text in it may take
     * gigabytes. */
    enum { LONGEST_VALUE = 64 << 20 }; /* bytes of a text or of samples */
    (void)sqlite3_limit(store->database, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    if (code == SQLITE_OK && read_only)
        code = sqlite3_exec(store->database, "PRAGMA query_only = ON", NULL, NULL, NULL);
    return code == SQLITE_OK ? KF_OK : kf_store_failure(store, "opening", error);
}

/* --- A new store -------------------------------------------------------------------------------------- */

static kf_status fill_new(kf_store *store, kf_error *error) {
    int code =
        sqlite3_open_v2(store->path, &store->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (store->database == NULL) return kf_fail(error, KF_MACHINE, "%s: out of memory", store->path);
    /* It lets `store prune` return space to the disk, and must come before the first table. */
    if (code == SQLITE_OK)
        code = sqlite3_exec(store->database, "PRAGMA auto_vacuum = INCREMENTAL", NULL, NULL, NULL);
    if (code != SQLITE_OK) return kf_store_failure(store, "creating", error);
    KF_TRY(kf_schema_bring_up(store->database, store->path, kf_store_schema(), kf_migrations,
                              kf_migration_count, KF_STORE_VERSION, error));
    if (sqlite3_exec(store->database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) == SQLITE_OK)
        return KF_OK;
    return kf_store_failure(store, "creating", error);
}

/* Makes a new store under another name; fresh: its path. */
static kf_status create_beside(const char *path, char fresh[KF_PATH], kf_error *error) {
    kf_store *made = kf_allocate_zeroed(1, sizeof *made);
    kf_status status = kf_path(made->path, error, "%s.%ld.new", path, (long)getpid());
    if (status == KF_OK) {
        (void)unlink(made->path); /* It is left from a process that was killed here. */
        kf_copy_text(fresh, KF_PATH, made->path);
        status = fill_new(made, error);
        (void)sqlite3_close(made->database);
        if (status != KF_OK) (void)unlink(fresh);
    }
    free(made);
    return status;
}

/* Moves a new store to its place, unless there is one already; *there: there is one. */
static kf_status put_in_place(const char *fresh, const char *path, bool *there, kf_error *error) {
    int failed = 0;
    *there = false;
    if (link(fresh, path) != 0) {
        *there = errno == EEXIST || access(path, F_OK) == 0;
        failed = *there ? 0 : rename(fresh, path); /* the disk does not support hard links */
    }
    const int reason = errno;
    (void)unlink(fresh);
    return failed == 0 ? KF_OK
                       : kf_fail(error, kf_errno_status(reason),
                                 "%s: cannot be created: %s; give another --store", path, strerror(reason));
}

/* Creates a store under another name first, so that it appears completely or not at all. If several processes
 * create it, the first one's counts. */
static kf_status create(const char *path, kf_error *error) {
    char fresh[KF_PATH];
    bool there = false;
    KF_TRY(create_beside(path, fresh, error));
    return put_in_place(fresh, path, &there, error);
}

/* --- An existing store -------------------------------------------------------------------------------- */

/* Examines the store again, now with the contents of its log. */
static kf_status judge_again(kf_store *store, int *version, kf_error *error) {
    /* The log must not be touched until the file is known to be a store of kftune. */
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

/* Switches the log on again. Another program may have switched it off, which would add some milliseconds to
 * each result. Unlike everything else, this does not wait for other processes. */
static kf_status use_log(kf_store *store, kf_error *error) {
    for (int waited = 0;; waited += 5) {
        int code = sqlite3_exec(store->database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (code == SQLITE_OK) return KF_OK;
        if (code != SQLITE_BUSY || waited >= KF_STORE_WAIT_MS)
            return kf_store_failure(store, "opening", error);
        (void)sqlite3_sleep(5);
    }
}

/* Prepares an opened store: migrates it if it may be written, sets its log and settings, and checks that all
 * statements fit its tables. */
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
    /* The disk is only synchronised when the log is moved into the file. This is done seldom, every 32 MiB.
     */
    static const char settings[] = "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;"
                                   "PRAGMA wal_autocheckpoint = 8000; PRAGMA journal_size_limit = 33554432";
    if (sqlite3_exec(store->database, settings, NULL, NULL, NULL) != SQLITE_OK)
        return kf_store_failure(store, "opening", error);
    /* A missing table is found here, and not in the middle of a tuning run. */
    sqlite3_stmt *statement = NULL;
    for (int i = KF_SQL_ADD_CONFIG; i < KF_STATEMENTS; i++)
        KF_TRY(kf_store_statement(store, (kf_statement)i, &statement, error));
    return KF_OK;
}

static kf_status find_path(const char *path, char found[KF_PATH], kf_error *error) {
    if (path != NULL) {
        if (path[0] == '\0') return kf_fail(error, KF_BAD_INPUT, "--store: the name of the store is empty");
        /* The prefix "./" keeps SQLite from interpreting names such as ":memory:". */
        return kf_path(found, error, "%s%s", path[0] == '/' || path[0] == '.' ? "" : "./", path);
    }
    char folder[KF_PATH];
    KF_TRY(kf_store_folder(folder, error));
    return kf_path(found, error, "%s/kftune.db", folder);
}

/* Opens a store by its path. It is created if it is missing and may be written. A draft is created beside its
 * path. */
static kf_status open_path(kf_store *store, bool read_only, bool draft, kf_error *error) {
    bool missing = false, writable = false;
    KF_TRY(check_folder(store->path, &writable, error));
    KF_TRY(check_file(store->path, read_only, &missing, &writable, error));
    if (!read_only && !writable)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: its folder is read-only; change its permissions or give another --store",
                       store->path);
    /* A log without its store would be applied to the new store. */
    if (missing && has_content(store->path, "-wal") && access(store->path, F_OK) != 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s-wal: is left over from a store that was deleted; delete it too", store->path);
    if (missing && draft) {
        kf_copy_text(store->wanted, sizeof store->wanted, store->path);
        KF_TRY(create_beside(store->wanted, store->path, error));
    } else if (missing) {
        KF_TRY(create(store->path, error));
    }
    KF_TRY(open_database(store, read_only, writable, error));
    return settle(store, read_only, error);
}

static kf_status open_store(const char *path, bool read_only, bool draft, kf_store **store, kf_error *error) {
    *store = NULL;
    kf_store *opened = kf_allocate_zeroed(1, sizeof *opened);
    kf_status status = find_path(path, opened->path, error);
    if (status == KF_OK) status = open_path(opened, read_only, draft, error);
    if (status == KF_OK)
        *store = opened;
    else
        kf_store_close(opened);
    return status;
}

kf_status kf_store_open(const char *path, bool read_only, kf_store **store, kf_error *error) {
    return open_store(path, read_only, false, store, error);
}

kf_status kf_store_open_draft(const char *path, kf_store **store, kf_error *error) {
    return open_store(path, false, true, store, error);
}

static void close_database(kf_store *store) {
    for (int i = 0; i < KF_STATEMENTS; i++)
        (void)sqlite3_finalize(store->statements[i]);
    kf_store_forget_facts(store);
    (void)sqlite3_close(store->database);
}

kf_status kf_store_keep(kf_store *store, kf_error *error) {
    bool there = false;
    kf_status status = KF_OK;
    close_database(store); /* it moves the log into the file */
    if (store->wanted[0] != '\0') status = put_in_place(store->path, store->wanted, &there, error);
    if (there)
        status = kf_fail(error, KF_BAD_INPUT,
                         "%s: another process has made a store there meanwhile; give the command again",
                         store->wanted);
    free(store);
    return status;
}

void kf_store_close(kf_store *store) {
    if (store == NULL) return;
    close_database(store);
    if (store->wanted[0] != '\0' && strcmp(store->wanted, store->path) != 0) (void)unlink(store->path);
    free(store);
}

const char *kf_store_path(const kf_store *store) {
    return store->wanted[0] != '\0' ? store->wanted : store->path;
}
