/* Tests files that are no store, not whole, or not writable, and migrations. Faults: such a file is
 * changed, or refused without one clear line. */
#include "tests/unit/store_fixture.h"

#include <sys/stat.h>

/* Makes a store with two runs and some results, and closes it, so that all is in one file. */
static void make_store(const char *path) {
    kf_store *store = fixture_open(path);
    kf_run_row run;
    for (int i = 0; i < 2; i++) {
        fixture_begin(store, &run);
        for (int result = 0; result < 40; result++)
            assert_int_equal(fixture_add(store, &run, result, 10 + result, NULL), KF_OK);
    }
    kf_store_close(store);
}

static void read_bytes(const char *path, char **bytes, size_t *size) {
    kf_error error = {0};
    if (kf_file_read(path, 0, bytes, size, &error) != KF_OK) fail_msg("%s", error.message);
}

static void assert_one_line(const kf_error *error, const char *part) {
    assert_true(strlen(error->message) > 20);
    assert_null(strchr(error->message, '\n'));
    if (strstr(error->message, part) == NULL) fail_msg("'%s' does not say '%s'", error->message, part);
}

static void assert_no_leftovers(const char *path) {
    static const char *const suffixes[] = {"-wal", "-shm", "-journal", ".new"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char beside[KF_PATH];
        assert_int_equal(kf_path(beside, NULL, "%s%s", path, suffixes[i]), KF_OK);
        if (access(beside, F_OK) == 0) fail_msg("%s was left behind", beside);
    }
}

/* Neither reading nor writing opens the file, and neither changes a byte. */
static void assert_refused(const char *path, const char *part) {
    char *before = NULL, *after = NULL;
    size_t before_size = 0, after_size = 0;
    read_bytes(path, &before, &before_size);
    for (int read_only = 0; read_only < 2; read_only++) {
        kf_store *store = NULL;
        kf_error error = {0};
        kf_status status = kf_store_open(path, read_only != 0, &store, &error);
        if (status != KF_BAD_INPUT) fail_msg("status %d for %s: %s", (int)status, path, error.message);
        assert_null(store);
        assert_one_line(&error, part);
    }
    read_bytes(path, &after, &after_size);
    assert_int_equal(before_size, after_size);
    if (before_size > 0) assert_memory_equal(before, after, before_size);
    assert_no_leftovers(path);
    free(before);
    free(after);
}

static void write_bytes(const char *path, const char *bytes, size_t size) {
    assert_int_equal(kf_file_write_atomic(path, bytes, size, NULL), KF_OK);
}

static void test_not_a_store(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "other.db");
    write_bytes(path, "", 0);
    assert_refused(path, "empty");
    char text[3000];
    memset(text, 'x', sizeof text);
    write_bytes(path, text, sizeof text);
    assert_refused(path, "not a store");
    write_bytes(path, "SQLite format 3", 16);
    assert_refused(path, "store");
    kf_store *store = NULL;
    kf_error error = {0};
    assert_int_equal(kf_store_open(fixture_folder, false, &store, &error), KF_BAD_INPUT);
    assert_one_line(&error, "not a file");
    fixture_path(path, "no/such/folder.db");
    assert_int_equal(kf_store_open(path, false, &store, &error), KF_BAD_INPUT);
    assert_one_line(&error, "no folder");
    fixture_path(path, "missing.db");
    assert_int_equal(kf_store_open(path, true, &store, &error), KF_BAD_INPUT);
    assert_one_line(&error, "no store");
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(kf_store_open("", false, &store, &error), KF_BAD_INPUT);
}

/* A foreign database is refused in the usual mode, with a log, and with the same number of tables as a
 * store. */
static void test_a_foreign_database_is_refused(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "foreign.db");
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(database, "CREATE TABLE run (id INTEGER); INSERT INTO run VALUES (1)", NULL, NULL, NULL),
        SQLITE_OK);
    (void)sqlite3_close(database);
    assert_refused(path, "another program");
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(database, "PRAGMA journal_mode = WAL; PRAGMA user_version = 1", NULL, NULL, NULL),
        SQLITE_OK);
    (void)sqlite3_close(database);
    assert_refused(path, "another program");
}

static void change(const char *path, const char *sql) {
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

static void test_a_newer_store_is_refused(void **state) {
    (void)state;
    char path[KF_PATH], sql[64];
    fixture_path(path, "newer.db");
    make_store(path);
    (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %d", KF_STORE_VERSION + 1);
    change(path, sql);
    assert_refused(path, "newer kftune");
}

/* The newer version is only in the log that a killed process left. It must stay there. */
static void test_newer_in_log(void **state) {
    (void)state;
    char path[KF_PATH], copy[KF_PATH], log[KF_PATH], copied_log[KF_PATH], sql[64];
    fixture_path(path, "open.db");
    fixture_path(log, "open.db-wal");
    fixture_path(copy, "newer-log.db");
    fixture_path(copied_log, "newer-log.db-wal");
    make_store(path);
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %d", KF_STORE_VERSION + 1);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    char *bytes[4] = {0};
    size_t sizes[4] = {0};
    read_bytes(path, &bytes[0], &sizes[0]);
    read_bytes(log, &bytes[1], &sizes[1]);
    assert_true(sizes[1] > 0);
    (void)sqlite3_close(database);
    write_bytes(copy, bytes[0], sizes[0]);
    write_bytes(copied_log, bytes[1], sizes[1]);
    kf_store *store = NULL;
    kf_error error = {0};
    assert_int_equal(kf_store_open(copy, false, &store, &error), KF_BAD_INPUT);
    assert_one_line(&error, "newer kftune");
    read_bytes(copy, &bytes[2], &sizes[2]);
    read_bytes(copied_log, &bytes[3], &sizes[3]);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sizes[i], sizes[i + 2]);
        assert_memory_equal(bytes[i], bytes[i + 2], sizes[i]);
    }
    for (int i = 0; i < 4; i++)
        free(bytes[i]);
}

static void test_a_truncated_store_is_refused(void **state) {
    (void)state;
    char path[KF_PATH], cut[KF_PATH];
    fixture_path(path, "whole.db");
    fixture_path(cut, "cut.db");
    make_store(path);
    char *bytes = NULL;
    size_t size = 0;
    read_bytes(path, &bytes, &size);
    const size_t sizes[] = {1, 50, 99, 100, 512, 1000, 4095, 4096, 5000, size / 2, size - 4096, size - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        write_bytes(cut, bytes, sizes[i]);
        if (i + 1 < sizeof sizes / sizeof sizes[0]) assert_refused(cut, "store");
    }
    free(bytes);
}

static kf_status look(void *context, int sequence, const char *role, const kf_config *config,
                      const kf_measurement *measurement, kf_error *error) {
    (void)context;
    (void)sequence;
    (void)role;
    (void)config;
    (void)measurement;
    (void)error;
    return KF_OK;
}

static void look_at_run(void *context, const kf_run_summary *run) {
    *(int *)context += run->results;
}

/* Uses a store whose bytes were changed. The result is always a status and a line, never a crash. */
static void use(const char *path, int *refused) {
    kf_store *store = NULL;
    kf_error error = {0};
    kf_status status = kf_store_open(path, false, &store, &error);
    int results = 0;
    if (status == KF_OK) status = kf_store_runs(store, look_at_run, &results, &error);
    for (int run = 1; run <= 2 && status == KF_OK; run++)
        status = kf_store_results(store, run, look, NULL, &error);
    kf_run_row row = {.id = 1};
    if (status == KF_OK) status = fixture_add(store, &row, 1000, 5, &error);
    kf_store_close(store);
    if (status == KF_OK) return;
    (*refused)++;
    assert_one_line(&error, "");
}

static void test_flipped_bytes(void **state) {
    (void)state;
    char path[KF_PATH], flipped[KF_PATH];
    fixture_path(path, "good.db");
    fixture_path(flipped, "flipped.db");
    make_store(path);
    char *bytes = NULL;
    size_t size = 0;
    int refused = 0;
    read_bytes(path, &bytes, &size);
    /* These bytes belong to the file's magic text, the page size and kftune's application id. */
    const size_t vital[] = {0, 5, 15, 16, 68, 71};
    for (size_t i = 0; i < sizeof vital / sizeof vital[0]; i++) {
        bytes[vital[i]] ^= 0x55;
        write_bytes(flipped, bytes, size);
        assert_refused(flipped, "store");
        bytes[vital[i]] ^= 0x55;
    }
    for (size_t at = 100; at < size; at += size / 150) {
        bytes[at] ^= 0x5a;
        write_bytes(flipped, bytes, size);
        use(flipped, &refused);
        bytes[at] ^= 0x5a;
    }
    assert_true(refused > 0);
    char *name = memmem(bytes, size, "median_us REAL", 14);
    assert_non_null(name);
    name[0] = '\''; /* SQLite quotes what follows, over several lines */
    write_bytes(flipped, bytes, size);
    assert_refused(flipped, "damaged");
    memset(bytes + 100, 0xff, 3996); /* the schema's own page */
    write_bytes(flipped, bytes, size);
    assert_refused(flipped, "damaged");
    free(bytes);
}

/* By its number it is a store, but a table is missing. */
static void test_a_store_without_a_table_is_refused(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "lacking.db");
    make_store(path);
    change(path, "DROP TABLE kernel");
    assert_refused(path, "lacks");
}

static void test_read_only(void **state) {
    (void)state;
    char folder[KF_PATH], path[KF_PATH];
    fixture_path(folder, "locked");
    fixture_path(path, "locked/store.db");
    assert_int_equal(mkdir(folder, 0700), 0);
    make_store(path);
    char *before = NULL, *after = NULL;
    size_t before_size = 0, after_size = 0;
    read_bytes(path, &before, &before_size);
    const struct { mode_t file, folder; } modes[] = {{0444, 0700}, {0644, 0500}, {0444, 0500}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(path, modes[i].file), 0);
        assert_int_equal(chmod(folder, modes[i].folder), 0);
        kf_store *store = NULL;
        kf_error error = {0};
        assert_int_equal(kf_store_open(path, false, &store, &error), KF_BAD_INPUT);
        assert_one_line(&error, "read-only");
        if (kf_store_open(path, true, &store, &error) != KF_OK) fail_msg("%s", error.message);
        int results = 0;
        assert_int_equal(kf_store_runs(store, look_at_run, &results, &error), KF_OK);
        assert_int_equal(results, 80);
        kf_run_row run = {.id = 1};
        assert_int_equal(fixture_add(store, &run, 500, 1, &error), KF_BAD_INPUT);
        assert_one_line(&error, "read-only");
        kf_store_close(store);
    }
    assert_int_equal(chmod(folder, 0700), 0);
    read_bytes(path, &after, &after_size);
    assert_int_equal(before_size, after_size);
    assert_memory_equal(before, after, before_size);
    assert_no_leftovers(path);
    free(before);
    free(after);
}

/* A log whose store was deleted would be applied to the next store of that name. */
static void test_orphaned_log(void **state) {
    (void)state;
    char path[KF_PATH], log[KF_PATH];
    fixture_path(path, "orphan.db");
    fixture_path(log, "orphan.db-wal");
    write_bytes(log, "something", 9);
    kf_store *store = NULL;
    kf_error error = {0};
    assert_int_equal(kf_store_open(path, false, &store, &error), KF_BAD_INPUT);
    assert_one_line(&error, "delete it");
    assert_int_equal(access(path, F_OK), -1);
}

/* --- Migrations --------------------------------------------------------------------------------------- */

static const char old_schema[] =
    "CREATE TABLE parent (id INTEGER PRIMARY KEY) STRICT;"
    "CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent (id)) "
    "STRICT; INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (7, 2);";
static const kf_migration steps[] = {
    {2, "ALTER TABLE child ADD COLUMN weight REAL; UPDATE child SET weight = 0.5"},
    {1,
     "CREATE TABLE child2 (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES parent (id)) STRICT;"
     "INSERT INTO child2 SELECT id, parent FROM child; DROP TABLE child; ALTER TABLE child2 RENAME TO child"},
};
static const kf_migration broken_steps[] = {{1, "DELETE FROM parent WHERE id = 2"},
                                            {2, "SELECT no_such_function()"}};

static sqlite3 *old_store(const char *name) {
    char path[KF_PATH];
    fixture_path(path, name);
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(kf_schema_bring_up(database, path, old_schema, NULL, 0, 1, NULL), KF_OK);
    assert_int_equal(fixture_integer(database, "PRAGMA user_version"), 1);
    assert_int_equal(fixture_integer(database, "PRAGMA application_id"), KF_STORE_APPLICATION);
    return database;
}

static void test_a_migration_is_done_once(void **state) {
    (void)state;
    sqlite3 *database = old_store("old.db");
    assert_int_equal(kf_schema_bring_up(database, "old.db", "", steps, 2, 3, NULL), KF_OK);
    assert_int_equal(fixture_integer(database, "PRAGMA user_version"), 3);
    assert_int_equal(
        fixture_integer(database, "SELECT count(*) FROM child WHERE id = 7 AND parent = 2 AND weight = 0.5"),
        1);
    /* A second update changes nothing. */
    assert_int_equal(kf_schema_bring_up(database, "old.db", "", steps, 2, 3, NULL), KF_OK);
    assert_int_equal(fixture_integer(database, "SELECT count(*) FROM child"), 1);
    (void)sqlite3_close(database);
}

/* A migration that fails, in SQL or because rows would refer to nothing, leaves the old store unchanged. */
static void test_failed_migrations(void **state) {
    (void)state;
    sqlite3 *database = old_store("fails.db");
    kf_error error = {0};
    assert_int_equal(kf_schema_bring_up(database, "fails.db", "", broken_steps, 2, 3, &error), KF_MACHINE);
    assert_int_equal(fixture_integer(database, "SELECT count(*) FROM parent"), 2);
    assert_int_equal(fixture_integer(database, "PRAGMA user_version"), 1);
    assert_int_equal(kf_schema_bring_up(database, "fails.db", "", broken_steps, 1, 2, &error), KF_BAD_INPUT);
    assert_one_line(&error, "refer");
    assert_int_equal(fixture_integer(database, "SELECT count(*) FROM parent"), 2);
    assert_int_equal(kf_schema_bring_up(database, "fails.db", "", steps, 1, 3, &error), KF_BAD_INPUT);
    assert_one_line(&error, "version 1");
    assert_int_equal(fixture_integer(database, "PRAGMA user_version"), 1);
    (void)sqlite3_close(database);
}

/* The shipped list leads from the first version to the present one. */
static void test_migrations_are_complete(void **state) {
    (void)state;
    for (int from = 1; from < KF_STORE_VERSION; from++) {
        bool found = false;
        for (int i = 0; i < kf_migration_count; i++)
            found = found || kf_migrations[i].from == from;
        assert_true(found);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_a_store),
        cmocka_unit_test(test_a_foreign_database_is_refused),
        cmocka_unit_test(test_a_newer_store_is_refused),
        cmocka_unit_test(test_newer_in_log),
        cmocka_unit_test(test_a_truncated_store_is_refused),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_a_store_without_a_table_is_refused),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_orphaned_log),
        cmocka_unit_test(test_a_migration_is_done_once),
        cmocka_unit_test(test_failed_migrations),
        cmocka_unit_test(test_migrations_are_complete),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
