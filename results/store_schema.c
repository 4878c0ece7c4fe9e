/* The schema (results/schema.sql), and the migration of older stores to it. */
#include <stdio.h>
#include <string.h>

#include "base/util/include_text.h"
#include "results/store_internal.h"

#if !__has_include("results/schema.sql")
#error "compile from the repository root: results/schema.sql is built into the program"
#endif
KF_INCLUDE_TEXT(kf_schema_text, "results/schema.sql");
KF_INCLUDE_TEXT(kf_migration_1_to_2, "results/migrations/1-to-2.sql");
KF_INCLUDE_TEXT(kf_migration_2_to_3, "results/migrations/2-to-3.sql");
KF_INCLUDE_TEXT(kf_migration_3_to_4, "results/migrations/3-to-4.sql");
KF_INCLUDE_TEXT(kf_migration_4_to_5, "results/migrations/4-to-5.sql");
KF_INCLUDE_TEXT(kf_migration_5_to_6, "results/migrations/5-to-6.sql");
KF_INCLUDE_TEXT(kf_migration_6_to_7, "results/migrations/6-to-7.sql");
KF_INCLUDE_TEXT(kf_migration_7_to_8, "results/migrations/7-to-8.sql");
KF_INCLUDE_TEXT(kf_migration_8_to_9, "results/migrations/8-to-9.sql");
KF_INCLUDE_TEXT(kf_migration_9_to_10, "results/migrations/9-to-10.sql");

/* Migrations are never removed. Their texts are below results/migrations/. */
const kf_migration kf_migrations[] = {
    {1, kf_migration_1_to_2}, {2, kf_migration_2_to_3}, {3, kf_migration_3_to_4},
    {4, kf_migration_4_to_5}, {5, kf_migration_5_to_6}, {6, kf_migration_6_to_7},
    {7, kf_migration_7_to_8}, {8, kf_migration_8_to_9}, {9, kf_migration_9_to_10}};
const int kf_migration_count = sizeof kf_migrations / sizeof kf_migrations[0];

const char *kf_store_schema(void) {
    return kf_schema_text;
}

static kf_status execute(sqlite3 *database, const char *path, const char *sql, kf_error *error) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK) return KF_OK;
    char detail[KF_STORE_DETAIL];
    const int code = sqlite3_errcode(database);
    return kf_fail(error, code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? KF_BAD_INPUT : KF_MACHINE,
                   "%s: cannot be made a store of version %d: %s", path, KF_STORE_VERSION,
                   kf_store_detail(database, detail));
}

static kf_status query_integer(sqlite3 *database, const char *path, const char *sql, int *value,
                               kf_error *error) {
    sqlite3_stmt *statement = NULL;
    *value = 0;
    int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    if (code == SQLITE_ROW) *value = sqlite3_column_int(statement, 0);
    (void)sqlite3_finalize(statement);
    if (code == SQLITE_ROW || code == SQLITE_DONE) return KF_OK;
    char detail[KF_STORE_DETAIL];
    const bool machine = code == SQLITE_NOMEM || (code & 0xff) == SQLITE_IOERR || code == SQLITE_FULL;
    return kf_fail(error, machine ? KF_MACHINE : KF_BAD_INPUT, "%s: cannot be read as a store: %s", path,
                   kf_store_detail(database, detail));
}

static kf_status migrate(sqlite3 *database, const char *path, const kf_migration *migrations, int count,
                         int from, int version, kf_error *error) {
    for (int at = from; at < version; at++) {
        const char *sql = NULL;
        for (int i = 0; i < count; i++)
            if (migrations[i].from == at) sql = migrations[i].sql;
        if (sql == NULL)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: is a store of version %d, which this kftune cannot bring to version %d; give another "
                "--store",
                path, from, version);
        KF_TRY(execute(database, path, sql, error));
    }
    sqlite3_stmt *check = NULL;
    int code = sqlite3_prepare_v2(database, "PRAGMA foreign_key_check", -1, &check, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(check);
    (void)sqlite3_finalize(check);
    if (code == SQLITE_DONE) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: rows refer to rows that are not there; restore a backup", path);
}

static kf_status create_or_migrate(sqlite3 *database, const char *path, const char *schema,
                                   const kf_migration *migrations, int count, int version, kf_error *error) {
    /* The version is read again under the lock, because another process may have migrated the store. */
    int found = 0, tables = 0;
    KF_TRY(query_integer(database, path, "PRAGMA user_version", &found, error));
    KF_TRY(query_integer(database, path, "SELECT count(*) FROM sqlite_schema", &tables, error));
    if (tables > 0 && found == version) return KF_OK;
    if (tables == 0)
        KF_TRY(execute(database, path, schema, error));
    else
        KF_TRY(migrate(database, path, migrations, count, found, version, error));
    char pragmas[96];
    (void)snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
                   KF_STORE_APPLICATION, version);
    return execute(database, path, pragmas, error);
}

kf_status kf_schema_bring_up(sqlite3 *database, const char *path, const char *schema,
                             const kf_migration *migrations, int migration_count, int version,
                             kf_error *error) {
    /* Migrations may rebuild tables. For this foreign keys must be off; they are checked at the end. */
    KF_TRY(execute(database, path, "PRAGMA foreign_keys = OFF; BEGIN EXCLUSIVE", error));
    kf_status status = create_or_migrate(database, path, schema, migrations, migration_count, version, error);
    if (status == KF_OK) status = execute(database, path, "COMMIT", error);
    if (status != KF_OK) (void)sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    return status;
}
