/* Runs: beginning, ending, finding one to resume, listing, pruning. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/program.h"
#include "base/util/text.h"
#include "results/store_internal.h"

/* --- Rows that a run refers to --- */

static kf_status add_space(kf_store *store, const kf_run_row *run, int64_t *id, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(store,
                            "INSERT INTO space (hash, system, json) VALUES (?, ?, ?) "
                            "ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash RETURNING id",
                            &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_text(&binder, run->space_hash);
    kf_bind_text(&binder, run->system);
    kf_bind_text(&binder, run->space_json);
    return kf_store_fetch_id(store, statement, "storing the space", id, error);
}

static const char *objective_of(const kf_run_row *run) {
    return run->objective[0] != '\0' ? run->objective : "time";
}

static const char *metrics_of(const kf_run_row *run) {
    return run->metrics != NULL ? run->metrics : "[]";
}

kf_status kf_store_add_run(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                           const kf_run_origin *origin, kf_run_row *run, kf_error *error) {
    int64_t environment_id = 0, problem_id = 0, space_id = 0;
    KF_TRY(kf_store_environment(store, device, KF_VERSION, &environment_id, error));
    KF_TRY(kf_store_problem(store, problem, &problem_id, error));
    KF_TRY(add_space(store, run, &space_id, error));
    KF_TRY(kf_uuid_new(run->uuid, error));
    bool imported = strcmp(origin->origin, "imported") == 0;
    char now[KF_MOMENT], process[KF_PROCESS];
    kf_moment_now(now);
    kf_process_self(process);
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(
        store,
        "INSERT INTO run (uuid, environment, problem, space, system, strategy, budget, seed, origin, "
        "state, started, ended, process, objective, updates, metrics) VALUES "
        "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
        "RETURNING id",
        &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_text(&binder, run->uuid);
    kf_bind_integer(&binder, environment_id);
    kf_bind_integer(&binder, problem_id);
    kf_bind_integer(&binder, space_id);
    kf_bind_text(&binder, run->system);
    kf_bind_text(&binder, run->strategy);
    kf_bind_text(&binder, run->budget);
    kf_bind_integer(&binder, (int64_t)run->seed);
    kf_bind_text(&binder, origin->origin);
    kf_bind_text(&binder, imported ? "finished" : "running");
    kf_bind_text(&binder, origin->started != NULL ? origin->started : now);
    kf_bind_text(&binder, imported ? now : NULL);
    kf_bind_text(&binder, imported ? NULL : process);
    kf_bind_text(&binder, objective_of(run));
    kf_bind_text(&binder, problem->system != NULL ? problem->system->update : "node");
    kf_bind_text(&binder, metrics_of(run));
    return kf_store_fetch_id(store, statement, "storing the run", &run->id, error);
}

kf_status kf_store_begin_run(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                             kf_run_row *run, kf_error *error) {
    KF_TRY(kf_store_begin(store, error));
    kf_status status =
        kf_store_add_run(store, problem, device, &(kf_run_origin){"measured", NULL}, run, error);
    return kf_store_commit(store, status, "beginning a run", error);
}

/* Sets a run's state. A running run belongs to this process. */
kf_status kf_store_set_run_state(kf_store *store, int64_t run_id, const char *state, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(store, "UPDATE run SET state = ?, ended = ?, process = ? WHERE id = ?",
                            &statement, error));
    char now[KF_MOMENT], process[KF_PROCESS];
    kf_moment_now(now);
    kf_process_self(process);
    bool running = strcmp(state, "running") == 0;
    kf_binder binder = {statement, 0};
    kf_bind_text(&binder, state);
    kf_bind_text(&binder, running ? NULL : now);
    kf_bind_text(&binder, running ? process : NULL);
    kf_bind_integer(&binder, run_id);
    kf_status status = kf_store_run_once(store, statement, "changing a run's state", error);
    (void)sqlite3_finalize(statement);
    if (status == KF_OK && sqlite3_changes(store->database) != 1)
        status = kf_fail(error, KF_BAD_INPUT, "%s: has no run %lld; it may have been pruned", store->path,
                         (long long)run_id);
    return status;
}

kf_status kf_store_set_winner(kf_store *store, const kf_run_row *run, int sequence, double noise_floor,
                              kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(store, "UPDATE run SET winner = ?, noise_floor = ? WHERE id = ?", &statement,
                            error));
    kf_binder binder = {statement, 0};
    kf_bind_integer(&binder, sequence);
    kf_bind_number(&binder, noise_floor);
    kf_bind_integer(&binder, run->id);
    const kf_status status = kf_store_run_once(store, statement, "storing the winner", error);
    (void)sqlite3_finalize(statement);
    return status;
}

kf_status kf_store_end_run(kf_store *store, const kf_run_row *run, const char *state, kf_error *error) {
    return kf_store_set_run_state(store, run->id, state, error);
}

/* --- Resuming ----------------------------------------------------------------------------------------- */

static const char *const unfinished_sql =
    "SELECT r.id, r.uuid, r.strategy, r.budget, r.process FROM run r JOIN problem s ON s.id = r.problem "
    "JOIN space p ON p.id = r.space WHERE s.hash = ? AND r.environment = ? AND p.hash = ? AND r.system = ? "
    "AND r.seed = ? AND r.objective = ? AND r.metrics = ? AND r.origin = 'measured' AND (r.state IN "
    "('running', 'interrupted') "
    "OR (r.state = 'finished' AND r.strategy = ?)) ORDER BY r.state = 'finished', r.id DESC";

/* Picks a run that can be continued. Finished runs of the strategy `finished` count, too; NULL: none do. */
static kf_status pick_unfinished(kf_store *store, const kf_problem *problem, int64_t environment_id,
                                 const char *finished, kf_run_row *run, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(store, unfinished_sql, &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_text(&binder, problem->hash);
    kf_bind_integer(&binder, environment_id);
    kf_bind_text(&binder, run->space_hash);
    kf_bind_text(&binder, run->system);
    kf_bind_integer(&binder, (int64_t)run->seed);
    kf_bind_text(&binder, objective_of(run));
    kf_bind_text(&binder, metrics_of(run));
    kf_bind_text(&binder, finished != NULL ? finished : "");
    bool found = false;
    kf_status status = KF_OK;
    while ((status = kf_store_step(store, statement, "looking for a run to resume", &found, error)) ==
               KF_OK &&
           found) {
        const char *process = (const char *)sqlite3_column_text(statement, 4);
        if (process != NULL && kf_process_is_other_alive(process)) continue;
        kf_reader reader = {statement, 0};
        run->id = kf_read_integer(&reader);
        kf_read_text(&reader, run->uuid, sizeof run->uuid);
        kf_read_text(&reader, run->strategy, sizeof run->strategy);
        kf_read_text(&reader, run->budget, sizeof run->budget);
        break;
    }
    (void)sqlite3_finalize(statement);
    return status;
}

static kf_status find_and_claim(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                                const char *finished, kf_run_row *run, kf_error *error) {
    run->id = 0;
    KF_TRY(kf_store_begin(store, error));
    int64_t environment_id = 0;
    kf_status status = kf_store_environment(store, device, KF_VERSION, &environment_id, error);
    if (status == KF_OK) status = pick_unfinished(store, problem, environment_id, finished, run, error);
    if (status == KF_OK && run->id != 0) status = kf_store_set_run_state(store, run->id, "running", error);
    return kf_store_commit(store, status, "looking for a run to resume", error);
}

kf_status kf_store_find_unfinished(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                                   kf_run_row *run, kf_error *error) {
    return find_and_claim(store, problem, device, NULL, run, error);
}

kf_status kf_store_find_sample(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                               kf_run_row *run, kf_error *error) {
    char strategy[sizeof run->strategy];
    kf_copy_text(strategy, sizeof strategy, run->strategy);
    return find_and_claim(store, problem, device, strategy, run, error);
}

kf_status kf_store_forget_final(kf_store *store, const kf_run_row *run, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(store, "DELETE FROM result WHERE run = ? AND role = 'final'", &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_integer(&binder, run->id);
    kf_status status = kf_store_run_once(store, statement, "carrying on a run", error);
    (void)sqlite3_finalize(statement);
    return status;
}

kf_status kf_store_forget(kf_store *store, const kf_run_row *run, int sequence, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(store, "DELETE FROM result WHERE run = ? AND sequence = ?", &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_integer(&binder, run->id);
    kf_bind_integer(&binder, sequence);
    const kf_status status = kf_store_run_once(store, statement, "forgetting a result", error);
    (void)sqlite3_finalize(statement);
    return status;
}

/* --- Pruning ------------------------------------------------------------------------------------------ */

static kf_status count_and_delete(kf_store *store, double days, int64_t run_id, int *removed,
                                  kf_error *error) {
    /* The text of "now minus this number of days" has the same form, so texts compare as times. */
    static const char *const condition[] = {"id = ?",
                                            "started < strftime('%Y-%m-%dT%H:%M:%f', 'now', ? || ' days') "
                                            "AND origin <> 'nightly'"};
    bool one = run_id > 0;
    for (int deleting = 0; deleting < 2; deleting++) {
        kf_text sql = {0};
        kf_text_append(&sql,
                       deleting ? "DELETE FROM run WHERE %s"
                                : "SELECT count(*) FROM result WHERE run IN (SELECT id FROM run WHERE %s)",
                       condition[one ? 0 : 1]);
        sqlite3_stmt *statement = NULL;
        kf_status status = kf_store_prepare(store, sql.text, &statement, error);
        kf_text_free(&sql);
        KF_TRY(status);
        kf_binder binder = {statement, 0};
        if (one)
            kf_bind_integer(&binder, run_id);
        else
            kf_bind_number(&binder, -days);
        bool found = false;
        status = kf_store_step(store, statement, "pruning", &found, error);
        if (found) *removed = sqlite3_column_int(statement, 0);
        (void)sqlite3_finalize(statement);
        KF_TRY(status);
    }
    return KF_OK;
}

static kf_status delete_orphans(kf_store *store, kf_error *error) {
    static const char *const orphans =
        "DELETE FROM config WHERE NOT EXISTS (SELECT 1 FROM result WHERE config = config.id);"
        "DELETE FROM build WHERE NOT EXISTS (SELECT 1 FROM result WHERE build = build.id);"
        "DELETE FROM problem WHERE NOT EXISTS (SELECT 1 FROM run WHERE problem = problem.id);"
        "DELETE FROM space WHERE NOT EXISTS (SELECT 1 FROM run WHERE space = space.id);"
        "DELETE FROM environment WHERE NOT EXISTS (SELECT 1 FROM run WHERE environment = environment.id);";
    if (sqlite3_exec(store->database, orphans, NULL, NULL, NULL) == SQLITE_OK) return KF_OK;
    return kf_store_failure(store, "pruning", error);
}

kf_status kf_store_prune(kf_store *store, double older_than_days, int64_t run_id, int *removed,
                         kf_error *error) {
    *removed = 0;
    kf_run_summary run = {0};
    if (run_id > 0) KF_TRY(kf_store_run_of(store, run_id, &run, error));
    if (strcmp(run.origin, "nightly") == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "run %lld holds a benchmark of nights (%.40s), which are kept, because later ones are "
                       "compared with them; `kftune store list` lists the runs that may be deleted",
                       (long long)run_id, run.scene);
    KF_TRY(kf_store_begin(store, error));
    kf_status status = count_and_delete(store, older_than_days, run_id, removed, error);
    if (status == KF_OK) status = delete_orphans(store, error);
    status = kf_store_commit(store, status, "pruning", error);
    if (status != KF_OK) *removed = 0;
    /* Returns the space to the disk. A failure does not matter. */
    if (status == KF_OK) (void)sqlite3_exec(store->database, "PRAGMA incremental_vacuum", NULL, NULL, NULL);
    return status;
}

/* --- Listing ------------------------------------------------------------------------------------------ */

/* All aggregates come from the index result_listing. */
#define SUMMARY_SQL                                                                                          \
    "SELECT r.id, r.uuid, r.started, r.state, s.name, s.hash, e.device, e.backend, r.system, r.strategy, "   \
    "r.origin, "                                                                                             \
    "r.ended, r.seed, s.id, s.facts, s.units, ifnull(t.results, 0), ifnull(t.ok, 0), "                       \
    "coalesce(w.step_us, t.final_us, t.any_us), coalesce(w.updates_per_us, t.final_rate, t.any_rate), "      \
    "r.process, "                                                                                            \
    "ifnull(r.winner, -1), r.updates, r.objective "                                                          \
    "FROM run r JOIN problem s ON s.id = r.problem JOIN environment e ON e.id = r.environment "              \
    "LEFT JOIN result w ON w.run = r.id AND w.sequence = r.winner "                                          \
    "LEFT JOIN (SELECT run, count(*) AS results, sum(state = 'ok') AS ok, min(step_us) AS any_us, "          \
    "max(updates_per_us) AS any_rate, min(iif(role = 'final', step_us, NULL)) AS final_us, "                 \
    "max(iif(role = 'final', updates_per_us, NULL)) AS final_rate FROM result %s GROUP BY run) t ON t.run "  \
    "= r.id "

/* Reads the summary of a run from a row. A run whose process is gone counts as interrupted. */
static void read_summary(kf_store *store, sqlite3_stmt *statement, kf_run_summary *run) {
    kf_reader reader = {statement, 0};
    *run = (kf_run_summary){.id = kf_read_integer(&reader)};
    kf_read_text(&reader, run->uuid, sizeof run->uuid);
    kf_read_text(&reader, run->started, sizeof run->started);
    kf_read_text(&reader, run->state, sizeof run->state);
    kf_read_text(&reader, run->scene, sizeof run->scene);
    kf_read_text(&reader, run->scene_hash, sizeof run->scene_hash);
    kf_read_text(&reader, run->device, sizeof run->device);
    kf_read_text(&reader, run->backend, sizeof run->backend);
    kf_read_text(&reader, run->system, sizeof run->system);
    kf_read_text(&reader, run->strategy, sizeof run->strategy);
    kf_read_text(&reader, run->origin, sizeof run->origin);
    kf_read_text(&reader, run->ended, sizeof run->ended);
    run->seed = (uint64_t)kf_read_integer(&reader);
    run->facts = kf_read_facts(store, &reader);
    run->results = (int)kf_read_integer(&reader);
    run->ok = (int)kf_read_integer(&reader);
    run->best_us = kf_read_number(&reader);
    run->best_updates_per_us = kf_read_number(&reader);
    /* A killed process cannot record its end. */
    char process[KF_PROCESS], self[KF_PROCESS];
    kf_read_text(&reader, process, sizeof process);
    run->winner = (int)kf_read_integer(&reader);
    kf_read_text(&reader, run->update, sizeof run->update);
    kf_read_text(&reader, run->objective, sizeof run->objective);
    kf_process_self(self);
    if (process[0] != '\0' && strcmp(process, self) != 0 && !kf_process_is_other_alive(process))
        kf_copy_text(run->state, sizeof run->state, "interrupted");
}

kf_status kf_store_runs(kf_store *store, void (*visit)(void *context, const kf_run_summary *run),
                        void *context, kf_error *error) {
    kf_text sql = {0};
    kf_text_append(&sql, SUMMARY_SQL "WHERE r.origin <> 'nightly' ORDER BY r.id DESC", "");
    sqlite3_stmt *statement = NULL;
    kf_status status = kf_store_prepare(store, sql.text, &statement, error);
    kf_text_free(&sql);
    bool found = status == KF_OK;
    while (found && (status = kf_store_step(store, statement, "listing runs", &found, error)) == KF_OK &&
           found) {
        kf_run_summary run;
        read_summary(store, statement, &run);
        visit(context, &run);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

/* One query finds a run by number, UUID or age; -1 and "" match nothing. Eight digits may be the beginning of
 * a UUID. */
static kf_status find_id(kf_store *store, const char *name, int64_t *id, kf_error *error) {
    const char *shown = name != NULL ? name : "";
    char *end = NULL;
    long long number = name != NULL ? strtoll(name, &end, 10) : -1;
    if (name != NULL && (end == name || *end != '\0')) number = -1;
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(
        store,
        name == NULL
            ? "SELECT id FROM run WHERE origin <> 'nightly' "
              "ORDER BY id DESC LIMIT 1"
            : "SELECT id FROM run WHERE id = ?1 OR (?2 <> '' AND "
              "(?1 < 0 OR length(?2) >= 8) AND substr(uuid, 1, length(?2)) = ?2) ORDER BY id LIMIT 2",
        &statement, error));
    if (name != NULL) {
        kf_binder binder = {statement, 0};
        kf_bind_integer(&binder, number);
        kf_bind_text(&binder, shown);
    }
    bool found = false, again = false;
    kf_status status = kf_store_step(store, statement, "looking for a run", &found, error);
    if (found) *id = sqlite3_column_int64(statement, 0);
    if (found) status = kf_store_step(store, statement, "looking for a run", &again, error);
    (void)sqlite3_finalize(statement);
    KF_TRY(status);
    if (again)
        return kf_fail(error, KF_BAD_INPUT, "--run %.40s: several runs begin so; give more of the UUID",
                       shown);
    if (found) return KF_OK;
    if (name == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: has no run yet; `kftune tune` makes one", store->path);
    return kf_fail(error, KF_BAD_INPUT,
                   "--run %.40s: there is no such run in %s; `kftune store list` lists them", shown,
                   store->path);
}

/* Finds a run by name and reads its summary. */
kf_status kf_store_find_run(kf_store *store, const char *name, kf_run_summary *run, kf_error *error) {
    int64_t id = 0;
    KF_TRY(find_id(store, name, &id, error));
    kf_text sql = {0};
    kf_text_append(&sql, SUMMARY_SQL "WHERE r.id = ?1", "WHERE run = ?1");
    sqlite3_stmt *statement = NULL;
    kf_status status = kf_store_prepare(store, sql.text, &statement, error);
    kf_text_free(&sql);
    KF_TRY(status);
    (void)sqlite3_bind_int64(statement, 1, id);
    bool found = false;
    status = kf_store_step(store, statement, "reading a run", &found, error);
    if (found) read_summary(store, statement, run);
    (void)sqlite3_finalize(statement);
    if (status == KF_OK && !found)
        status = kf_fail(error, KF_BAD_INPUT, "%s: run %lld was pruned just now", store->path, (long long)id);
    return status;
}

kf_status kf_store_run_of(kf_store *store, int64_t run_id, kf_run_summary *run, kf_error *error) {
    char name[24];
    (void)snprintf(name, sizeof name, "%lld", (long long)run_id);
    return kf_store_find_run(store, name, run, error);
}

kf_status kf_store_require_run(kf_store *store, int64_t run_id, kf_error *error) {
    char name[24];
    (void)snprintf(name, sizeof name, "%lld", (long long)run_id);
    int64_t id = 0;
    return find_id(store, name, &id, error);
}
