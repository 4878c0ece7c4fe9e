/* Declarations that the files of the store share. Only results/ and its tests include it. */
#ifndef KF_RESULTS_STORE_INTERNAL_H
#define KF_RESULTS_STORE_INTERNAL_H

#include <sqlite3.h>

#include "results/store.h"

enum {
    KF_STORE_APPLICATION = 0x6b66746e, /* PRAGMA application_id: "kftn" */
    KF_STORE_VERSION = 10,             /* PRAGMA user_version: of results/schema.sql */
    KF_STORE_WAIT_MS = 30000,          /* how long to wait for another writer */
    KF_MOMENT = 32,                    /* bytes for "2026-01-31T12:00:00.123456Z" */
    KF_PROCESS = 96,
};

/* Statements that are prepared on first use and kept. */
typedef enum kf_statement {
    KF_SQL_BEGIN,
    KF_SQL_COMMIT,
    KF_SQL_ROLLBACK,
    KF_SQL_ADD_CONFIG,
    KF_SQL_FIND_CONFIG,
    KF_SQL_ADD_BUILD,
    KF_SQL_FIND_BUILD,
    KF_SQL_ADD_RESULT,
    KF_SQL_ADD_KERNEL,
    KF_SQL_KERNELS,
    KF_SQL_ADD_COUNTER,
    KF_SQL_COUNTERS,
    KF_SQL_ADD_METRIC,
    KF_SQL_METRICS,
    KF_STATEMENTS
} kf_statement;

/* The facts of a problem that was read, and its row in the store. */
typedef struct kf_problem_facts {
    int64_t problem;
    kf_facts facts;
} kf_problem_facts;

struct kf_store {
    sqlite3 *database;
    char path[KF_PATH];
    char wanted[KF_PATH]; /* the path to which kf_store_keep moves it; "": it is there */
    sqlite3_stmt *statements[KF_STATEMENTS];
    kf_problem_facts **facts; /* [facts_count] */
    int facts_count;
};

/* --- Statements, rows and errors (store_sql.c) --- */

/* Binds the parameters of a statement from left to right. NAN and a NULL text become NULL. */
typedef struct kf_binder {
    sqlite3_stmt *statement;
    int at;
} kf_binder;
void kf_bind_integer(kf_binder *binder, int64_t value);
void kf_bind_number(kf_binder *binder, double value);
/* The text must live until the statement is stepped. */
void kf_bind_text(kf_binder *binder, const char *text);
void kf_bind_null(kf_binder *binder);

/* Reads the columns of a row from left to right; NULL becomes NAN, 0 or "". */
typedef struct kf_reader {
    sqlite3_stmt *statement;
    int at;
} kf_reader;
int64_t kf_read_integer(kf_reader *reader);
double kf_read_number(kf_reader *reader);
void kf_read_text(kf_reader *reader, char *target, size_t size);

/* Returns SQLite's last error as one line, without the line breaks of the schema that it quotes. */
enum { KF_STORE_DETAIL = 256 };
const char *kf_store_detail(sqlite3 *database, char detail[KF_STORE_DETAIL]);

/* Returns whether the last error is due to the machine (no more files or memory), not to the store. */
bool kf_store_lacks_machine(sqlite3 *database);
/* Turns the database's last error into one line: damaged, disk full, locked, read-only, contradictory
 * data. */
kf_status kf_store_failure(kf_store *store, const char *doing, kf_error *error);
kf_status kf_store_prepare(kf_store *store, const char *sql, sqlite3_stmt **statement, kf_error *error);
/* Returns a kept statement, reset and without bound values. */
kf_status kf_store_statement(kf_store *store, kf_statement which, sqlite3_stmt **statement, kf_error *error);
/* Steps a statement that returns no row, and resets it. */
kf_status kf_store_run_once(kf_store *store, sqlite3_stmt *statement, const char *doing, kf_error *error);
/* Steps a statement. *found: whether there is a row. */
kf_status kf_store_step(kf_store *store, sqlite3_stmt *statement, const char *doing, bool *found,
                        kf_error *error);

/* Runs a statement that returns one integer, and finalizes it. */
kf_status kf_store_fetch_id(kf_store *store, sqlite3_stmt *statement, const char *doing, int64_t *id,
                            kf_error *error);

/* Begin and end a write transaction. kf_store_commit rolls back if status is an error or the commit fails. */
kf_status kf_store_begin(kf_store *store, kf_error *error);
kf_status kf_store_commit(kf_store *store, kf_status status, const char *doing, kf_error *error);

/* --- Schema and migrations (store_schema.c) --- */

/* A migration: its SQL takes a store from version `from` to from + 1. */
typedef struct kf_migration {
    int from;
    const char *sql;
} kf_migration;
/* Creates the schema in an empty database, or applies the migrations that lead to version, all in one
 * transaction. */
kf_status kf_schema_bring_up(sqlite3 *database, const char *path, const char *schema,
                             const kf_migration *migrations, int migration_count, int version,
                             kf_error *error);
extern const kf_migration kf_migrations[];
extern const int kf_migration_count;

/* --- Facts (environment.c) --- */

/* Writes the present moment in UTC. */
void kf_moment_now(char moment[KF_MOMENT]);
/* Reads a moment such as "2023-12-22 09:53:48.69+01:00" and writes it in UTC. False when it is none. */
bool kf_moment_parse(const char *text, char moment[KF_MOMENT]);
kf_status kf_uuid_new(char uuid[37], kf_error *error);
/* Names this process uniquely: boot, process number and start time. */
void kf_process_self(char process[KF_PROCESS]);
bool kf_process_is_other_alive(const char *process);
/* Names this host and device, with a version of kftune. */
void kf_environment_hash(const kf_device_info *device, const char *kftune, char hash[KF_HASH_HEX]);
/* Finds or adds the row of environment for this host and device. Call it inside a transaction. */
kf_status kf_store_environment(kf_store *store, const kf_device_info *device, const char *kftune, int64_t *id,
                               kf_error *error);

/* --- Rows that a run refers to (store_run.c) --- */

typedef struct kf_run_origin {
    const char *origin;  /* "measured", "imported", "nightly" */
    const char *started; /* NULL: now */
} kf_run_origin;

/* Finds or adds the row of a problem's scene. Call it inside a transaction. */
kf_status kf_store_problem(kf_store *store, const kf_problem *problem, int64_t *id, kf_error *error);
/* Reads the facts of a problem from the columns id, facts and units. They live as long as the store. */
const kf_facts *kf_read_facts(kf_store *store, kf_reader *reader);
void kf_store_forget_facts(kf_store *store);

/* Adds environment, scene, space and run, and sets run->id and run->uuid. Call it inside a transaction. */
kf_status kf_store_add_run(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                           const kf_run_origin *origin, kf_run_row *run, kf_error *error);
/* Adds a result. measured: its moment; NULL: now. Call it inside a transaction. */
kf_status kf_store_add_result(kf_store *store, int64_t run, int sequence, const char *role,
                              const kf_config *config, const kf_measurement *measurement,
                              const char *measured, kf_error *error);
/* Changes the state of a run and the columns that depend on it. Call it inside a transaction. */
kf_status kf_store_set_run_state(kf_store *store, int64_t run_id, const char *state, kf_error *error);
/* Adds the counters of a result; measurement must have its kernels in the stored order. Call it inside a
 * transaction. */
kf_status kf_store_insert_counters(kf_store *store, int64_t result, const kf_measurement *measurement,
                                   kf_error *error);
/* Reads the counters of a result into *measurement, which must have its kernels. */
kf_status kf_store_read_counters(kf_store *store, int64_t result, kf_measurement *measurement,
                                 kf_error *error);
/* Write and read the user's metrics of a result. Write them inside a transaction. */
kf_status kf_store_insert_user_values(kf_store *store, int64_t result, const kf_measurement *measurement,
                                      kf_error *error);
kf_status kf_store_read_user_values(kf_store *store, int64_t result, kf_measurement *measurement,
                                    kf_error *error);
/* Finds the row of a result. what: the data that would be added, for the message when there is no such
 * result. */
kf_status kf_store_find_result(kf_store *store, int64_t run, int sequence, const char *what, int64_t *id,
                               kf_error *error);
/* Reads the run of this number; KF_BAD_INPUT where there is none. */
kf_status kf_store_run_of(kf_store *store, int64_t run_id, kf_run_summary *run, kf_error *error);
/* KF_BAD_INPUT if there is no such run. */
kf_status kf_store_require_run(kf_store *store, int64_t run_id, kf_error *error);

/* A result as exports need it. config and measurement are valid during the visit. */
typedef struct kf_result_row {
    int sequence;
    char role[KF_NAME + 8];
    char measured[KF_MOMENT];
    char config_hash[KF_HASH_HEX];
    kf_config config;
    kf_measurement measurement;
} kf_result_row;
typedef kf_status (*kf_row_visit)(void *context, const kf_result_row *row, kf_error *error);
/* Visits the results of a run. last_only: of several results of one config only the last. */
kf_status kf_store_rows(kf_store *store, int64_t run_id, bool last_only, kf_row_visit visit, void *context,
                        kf_error *error);

/* Ends an export. KF_MACHINE if it was not written completely. */
kf_status kf_export_end(FILE *stream, kf_error *error);
/* Writes an export that is one JSON value. */
kf_status kf_export_json(const cJSON *json, FILE *stream, kf_error *error);

#endif
