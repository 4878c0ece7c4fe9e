/* Nights: beginning, processes, verdicts, pins. */
#include "results/nightly.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/store_internal.h"

const char *const kf_arm_names[KF_ARMS] = {"night", "reference", "candidate"};
const char *const kf_verdict_names[KF_VERDICTS] = {"SAME",   "FAST",  "SLOW", "AMBIGUOUS",
                                                   "NODATA", "DRIFT", "WRONG"};

bool kf_verdict_fails(kf_verdict_state state) {
    return state == KF_SLOW || state == KF_DRIFT || state == KF_WRONG;
}

bool kf_verdict_of_instructions(const kf_verdict *verdict) {
    return verdict->kernel[0] == '\0' && strncmp(verdict->counter, "instructions_", 13) == 0;
}

/* Prepares the SQL. The caller binds its parameters before kf_store_step, and finalises it. */
static kf_status prepare(kf_store *store, const char *sql, kf_binder *binder, kf_error *error) {
    *binder = (kf_binder){NULL, 0};
    return kf_store_prepare(store, sql, &binder->statement, error);
}

static kf_status finish(kf_store *store, kf_binder *binder, const char *doing, kf_error *error) {
    kf_status status = kf_store_run_once(store, binder->statement, doing, error);
    (void)sqlite3_finalize(binder->statement);
    return status;
}

/* --- Nights ------------------------------------------------------------------------------------------- */

static kf_status set_night_state(kf_store *store, int64_t night, const char *state, kf_error *error) {
    char now[KF_MOMENT], process[KF_PROCESS];
    kf_moment_now(now);
    kf_process_self(process);
    bool running = strcmp(state, "running") == 0;
    kf_binder binder;
    KF_TRY(prepare(store, "UPDATE night SET state = ?, ended = ?, process = ? WHERE id = ?", &binder, error));
    kf_bind_text(&binder, state);
    kf_bind_text(&binder, running ? NULL : now);
    kf_bind_text(&binder, running ? process : NULL);
    kf_bind_integer(&binder, night);
    return finish(store, &binder, "changing a night's state", error);
}

/* Unfinished nights of the suite, and what happens to them. */
typedef struct unfinished {
    int64_t resume, stale[16];
    int stale_count;
    bool running;
} unfinished;

static kf_status look_at_unfinished(kf_store *store, double hours, const kf_night *night, unfinished *found,
                                    kf_error *error) {
    kf_binder binder;
    KF_TRY(prepare(store,
                   "SELECT id, state, process, suite_hash = ?2 AND program = ?3 AND started > "
                   "strftime('%Y-%m-%dT%H:%M:%f', 'now', ?4 || ' hours') FROM night "
                   "WHERE suite = ?1 AND state IN ('running', 'interrupted') ORDER BY id DESC LIMIT 16",
                   &binder, error));
    kf_bind_text(&binder, night->suite);
    kf_bind_text(&binder, night->suite_hash);
    kf_bind_text(&binder, night->program);
    kf_bind_number(&binder, -hours);
    bool row = false, newest = true;
    kf_status status = KF_OK;
    while ((status = kf_store_step(store, binder.statement, "looking for a night to carry on", &row,
                                   error)) == KF_OK &&
           row) {
        kf_reader reader = {binder.statement, 0};
        char state[16], process[KF_PROCESS];
        int64_t id = kf_read_integer(&reader);
        kf_read_text(&reader, state, sizeof state);
        kf_read_text(&reader, process, sizeof process);
        bool fits = kf_read_integer(&reader) != 0;
        bool running = strcmp(state, "running") == 0;
        if (running && kf_process_is_other_alive(process)) found->running = true;
        if (newest && fits)
            found->resume = id;
        else if (running && !found->running)
            found->stale[found->stale_count++] = id;
        newest = false;
    }
    (void)sqlite3_finalize(binder.statement);
    return status;
}

/* Adds a row for a new night. */
static kf_status add_night(kf_store *store, kf_night *night, kf_error *error) {
    KF_TRY(kf_uuid_new(night->uuid, error));
    char now[KF_MOMENT], process[KF_PROCESS];
    kf_moment_now(now);
    kf_process_self(process);
    kf_copy_text(night->started, sizeof night->started, now);
    kf_binder binder;
    KF_TRY(prepare(store,
                   "INSERT INTO night (uuid, suite, suite_hash, program, label, state, started, process) "
                   "VALUES (?,?,?,?,?,'running',?,?)",
                   &binder, error));
    const char *const texts[] = {night->uuid, night->suite, night->suite_hash, night->program, night->label,
                                 now,         process};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        kf_bind_text(&binder, texts[i]);
    kf_status status = finish(store, &binder, "beginning a night", error);
    night->id = sqlite3_last_insert_rowid(store->database);
    return status;
}

static kf_status read_night_row(kf_store *store, int64_t id, kf_night *night, kf_error *error);

static kf_status begin_or_resume(kf_store *store, double hours, kf_night *night, bool *resumed,
                                 kf_error *error) {
    unfinished found = {0};
    KF_TRY(look_at_unfinished(store, hours, night, &found, error));
    if (found.running)
        return kf_fail(error, KF_MACHINE,
                       "%s: a night of the suite '%s' runs in another process; wait for it or end it",
                       store->path, night->suite);
    for (int i = 0; i < found.stale_count; i++)
        KF_TRY(set_night_state(store, found.stale[i], "interrupted", error));
    *resumed = found.resume != 0;
    if (!*resumed) return add_night(store, night, error);
    KF_TRY(set_night_state(store, found.resume, "running", error));
    return read_night_row(store, found.resume, night, error);
}

kf_status kf_store_begin_night(kf_store *store, double resume_hours, kf_night *night, bool *resumed,
                               kf_error *error) {
    KF_TRY(kf_store_begin(store, error));
    kf_status status = begin_or_resume(store, resume_hours, night, resumed, error);
    kf_copy_text(night->state, sizeof night->state, "running");
    return kf_store_commit(store, status, "beginning a night", error);
}

kf_status kf_store_end_night(kf_store *store, const kf_night *night, const char *state, kf_error *error) {
    return set_night_state(store, night->id, state, error);
}

#define NIGHT_SQL                                                                                            \
    "SELECT id, uuid, suite, suite_hash, program, label, state, started, ended, process FROM night "

/* Reads a night from a row. It counts as interrupted if its process is gone. */
static void read_night(sqlite3_stmt *statement, kf_night *night) {
    kf_reader reader = {statement, 0};
    night->id = kf_read_integer(&reader);
    kf_read_text(&reader, night->uuid, sizeof night->uuid);
    kf_read_text(&reader, night->suite, sizeof night->suite);
    kf_read_text(&reader, night->suite_hash, sizeof night->suite_hash);
    kf_read_text(&reader, night->program, sizeof night->program);
    kf_read_text(&reader, night->label, sizeof night->label);
    kf_read_text(&reader, night->state, sizeof night->state);
    kf_read_text(&reader, night->started, sizeof night->started);
    kf_read_text(&reader, night->ended, sizeof night->ended);
    char process[KF_PROCESS], self[KF_PROCESS];
    kf_read_text(&reader, process, sizeof process);
    kf_process_self(self);
    /* A killed process cannot record its end. */
    if (process[0] != '\0' && strcmp(process, self) != 0 && !kf_process_is_other_alive(process))
        kf_copy_text(night->state, sizeof night->state, "interrupted");
}

static kf_status read_night_row(kf_store *store, int64_t id, kf_night *night, kf_error *error) {
    kf_binder binder;
    KF_TRY(prepare(store, NIGHT_SQL "WHERE id = ?", &binder, error));
    kf_bind_integer(&binder, id);
    bool found = false;
    kf_status status = kf_store_step(store, binder.statement, "reading a night", &found, error);
    if (found) read_night(binder.statement, night);
    (void)sqlite3_finalize(binder.statement);
    if (status == KF_OK && !found)
        status = kf_fail(error, KF_BAD_INPUT, "%s: has no night %lld", store->path, (long long)id);
    return status;
}

kf_status kf_store_nights(kf_store *store,
                          kf_status (*visit)(void *context, const kf_night *night, kf_error *error),
                          void *context, kf_error *error) {
    kf_binder binder;
    KF_TRY(prepare(store, NIGHT_SQL "ORDER BY id DESC", &binder, error));
    bool found = true;
    kf_status status = KF_OK;
    while (status == KF_OK &&
           (status = kf_store_step(store, binder.statement, "listing nights", &found, error)) == KF_OK &&
           found) {
        kf_night night;
        read_night(binder.statement, &night);
        status = visit(context, &night, error);
    }
    (void)sqlite3_finalize(binder.statement);
    return status;
}

/* Finds a night by its number or the beginning of its UUID, or the newest. */
kf_status kf_store_find_night(kf_store *store, const char *name, kf_night *night, kf_error *error) {
    kf_binder binder;
    KF_TRY(prepare(store,
                   name == NULL ? NIGHT_SQL "ORDER BY id DESC LIMIT 1"
                                : NIGHT_SQL "WHERE CAST(id AS TEXT) = ?1 OR (length(?1) >= 4 AND "
                                            "substr(uuid, 1, length(?1)) = ?1) ORDER BY id LIMIT 1",
                   &binder, error));
    if (name != NULL) kf_bind_text(&binder, name);
    bool found = false;
    kf_status status = kf_store_step(store, binder.statement, "looking for a night", &found, error);
    if (found) read_night(binder.statement, night);
    (void)sqlite3_finalize(binder.statement);
    if (status != KF_OK || found) return status;
    if (name == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: has no night yet; `kftune nightly` makes one", store->path);
    return kf_fail(error, KF_BAD_INPUT, "%s: has no night '%.40s'; `kftune nightly list` shows them",
                   store->path, name);
}

kf_status kf_store_night_of(kf_store *store, int64_t id, kf_night *night, kf_error *error) {
    char name[24];
    (void)snprintf(name, sizeof name, "%lld", (long long)id);
    return kf_store_find_night(store, name, night, error);
}

/* --- Processes ---------------------------------------------------------------------------------------- */

void kf_store_series(const char *benchmark, const kf_problem *problem, const kf_device_info *device,
                     char series[KF_HASH_HEX]) {
    char environment[KF_HASH_HEX];
    kf_environment_hash(
        device, "",
        environment); /* kftune's version is left out, because the new version is what a night judges */
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    const char *const texts[] = {benchmark, problem->system->name, problem->hash, environment};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        kf_hash_add_string(&hasher, texts[i]);
    kf_hash_end(&hasher, series);
}

static kf_status next_sequence(kf_store *store, int64_t run, int *sequence, kf_error *error) {
    kf_binder binder;
    KF_TRY(prepare(store, "SELECT ifnull(max(sequence) + 1, 0) FROM result WHERE run = ?", &binder, error));
    kf_bind_integer(&binder, run);
    bool found = false;
    kf_status status = kf_store_step(store, binder.statement, "storing a result", &found, error);
    if (found) *sequence = sqlite3_column_int(binder.statement, 0);
    (void)sqlite3_finalize(binder.statement);
    return status;
}

static kf_status add_process(kf_store *store, const kf_night *night, const kf_process_row *process,
                             const kf_problem *problem, const kf_device_info *device, kf_run_row *run,
                             const kf_config *config, const kf_measurement *measurement, kf_error *error) {
    if (run->id == 0)
        KF_TRY(kf_store_add_run(store, problem, device, &(kf_run_origin){"nightly", NULL}, run, error));
    int sequence = 0;
    KF_TRY(next_sequence(store, run->id, &sequence, error));
    KF_TRY(kf_store_add_result(store, run->id, sequence, "nightly", config, measurement, NULL, error));
    kf_binder binder;
    KF_TRY(
        prepare(store,
                "INSERT INTO nightly (night, benchmark, arm, ordinal, series, program, job, result) VALUES "
                "(?,?,?,?,?,?,?, (SELECT id FROM result WHERE run = ? AND sequence = ?))",
                &binder, error));
    kf_bind_integer(&binder, night->id);
    kf_bind_text(&binder, process->benchmark);
    kf_bind_text(&binder, kf_arm_names[process->arm]);
    kf_bind_integer(&binder, process->ordinal);
    kf_bind_text(&binder, process->series);
    kf_bind_text(&binder, process->program);
    kf_bind_text(&binder, process->job);
    kf_bind_integer(&binder, run->id);
    kf_bind_integer(&binder, sequence);
    return finish(store, &binder, "storing a night's process", error);
}

kf_status kf_store_add_process(kf_store *store, const kf_night *night, const kf_process_row *process,
                               const kf_problem *problem, const kf_device_info *device, kf_run_row *run,
                               const kf_config *config, const kf_measurement *measurement, kf_error *error) {
    int64_t before = run->id;
    KF_TRY(kf_store_begin(store, error));
    kf_status status = add_process(store, night, process, problem, device, run, config, measurement, error);
    status = kf_store_commit(store, status, "storing a night's process", error);
    if (status != KF_OK) run->id = before;
    return status;
}

static int name_index(const char *name, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) return i;
    return 0; /* the schema allows no other word */
}

/* Reads a process of a night from a row. */
static void read_process(sqlite3_stmt *statement, kf_process *process) {
    kf_reader reader = {statement, 0};
    char word[32];
    kf_read_text(&reader, process->benchmark, sizeof process->benchmark);
    kf_read_text(&reader, word, sizeof word);
    process->arm = (kf_arm)name_index(word, kf_arm_names, KF_ARMS);
    process->ordinal = (int)kf_read_integer(&reader);
    process->run = kf_read_integer(&reader);
    process->sequence = (int)kf_read_integer(&reader);
    kf_read_text(&reader, word, sizeof word);
    process->state = (kf_state)name_index(word, kf_state_names, KF_STATES);
    kf_read_text(&reader, process->reason, sizeof process->reason);
    process->time_us = kf_read_number(&reader);
    process->clock_mhz = kf_read_number(&reader);
    kf_read_text(&reader, process->series, sizeof process->series);
    kf_read_text(&reader, process->program, sizeof process->program);
    kf_read_text(&reader, process->config, sizeof process->config);
    kf_read_text(&reader, process->build, sizeof process->build);
}

kf_status kf_store_processes(kf_store *store, int64_t night, const char *benchmark,
                             kf_status (*visit)(void *context, const kf_process *process, kf_error *error),
                             void *context, kf_error *error) {
    kf_binder binder;
    KF_TRY(prepare(
        store,
        "SELECT n.benchmark, n.arm, n.ordinal, r.run, r.sequence, r.state, r.reason, r.step_us, "
        "r.clock_mhz, n.series, n.program, c.hash, b.hash FROM nightly n JOIN result r ON r.id = n.result "
        "JOIN config c ON c.id = r.config LEFT JOIN build b ON b.id = r.build "
        "WHERE n.night = ?1 AND (?2 IS NULL OR n.benchmark = ?2) "
        "ORDER BY n.benchmark, n.arm, n.ordinal",
        &binder, error));
    kf_bind_integer(&binder, night);
    kf_bind_text(&binder, benchmark);
    kf_process *process = kf_allocate_zeroed(1, sizeof *process);
    bool found = true;
    kf_status status = KF_OK;
    while (status == KF_OK &&
           (status = kf_store_step(store, binder.statement, "reading a night", &found, error)) == KF_OK &&
           found) {
        read_process(binder.statement, process);
        status = visit(context, process, error);
    }
    free(process);
    (void)sqlite3_finalize(binder.statement);
    return status;
}

kf_status kf_store_night_job(kf_store *store, int64_t night, const char *benchmark, char **job,
                             char program[KF_HASH_HEX], kf_error *error) {
    kf_binder binder;
    KF_TRY(prepare(store,
                   "SELECT job, program FROM nightly WHERE night = ? AND benchmark = ? AND arm = 'night' "
                   "ORDER BY ordinal LIMIT 1",
                   &binder, error));
    kf_bind_integer(&binder, night);
    kf_bind_text(&binder, benchmark);
    bool found = false;
    kf_status status = kf_store_step(store, binder.statement, "reading a night", &found, error);
    if (found) {
        const char *text = (const char *)sqlite3_column_text(binder.statement, 0);
        *job = kf_duplicate(text != NULL ? text : "");
        kf_reader reader = {binder.statement, 1};
        kf_read_text(&reader, program, KF_HASH_HEX);
    }
    (void)sqlite3_finalize(binder.statement);
    if (status == KF_OK && !found)
        status = kf_fail(error, KF_BAD_INPUT, "%s: night %lld did not measure '%s'", store->path,
                         (long long)night, benchmark);
    return status;
}

kf_status kf_store_night_counters(kf_store *store, int64_t night, const char *benchmark, kf_arm arm,
                                  void (*visit)(void *context, int ordinal, const char *metric, double value),
                                  void *context, kf_error *error) {
    kf_binder binder;
    KF_TRY(
        prepare(store,
                "SELECT c.ordinal, c.metric, avg(c.value) FROM nightly n JOIN counter c ON c.result = "
                "n.result WHERE n.night = ? AND n.benchmark = ? AND n.arm = ? GROUP BY c.ordinal, c.metric",
                &binder, error));
    kf_bind_integer(&binder, night);
    kf_bind_text(&binder, benchmark);
    kf_bind_text(&binder, kf_arm_names[arm]);
    bool found = true;
    kf_status status = KF_OK;
    while ((status = kf_store_step(store, binder.statement, "reading counters", &found, error)) == KF_OK &&
           found) {
        kf_reader reader = {binder.statement, 0};
        char metric[96];
        int ordinal = (int)kf_read_integer(&reader);
        kf_read_text(&reader, metric, sizeof metric);
        visit(context, ordinal, metric, kf_read_number(&reader));
    }
    (void)sqlite3_finalize(binder.statement);
    return status;
}

/* --- Verdicts ----------------------------------------------------------------------------------------- */

/* Adds a row for a verdict. Unknown values are NULL. */
static kf_status add_verdict(kf_store *store, int64_t night, const kf_verdict *verdict, kf_error *error) {
    kf_binder binder;
    KF_TRY(prepare(store,
                   "INSERT INTO verdict (night, benchmark, state, reason, series, time_us, threshold, "
                   "identical, reference, change, change_low, change_high, probability, kernel, "
                   "kernel_change_us, counter, counter_before, counter_after) "
                   "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                   &binder, error));
    kf_bind_integer(&binder, night);
    kf_bind_text(&binder, verdict->benchmark);
    kf_bind_text(&binder, kf_verdict_names[verdict->state]);
    kf_bind_text(&binder, verdict->reason);
    kf_bind_text(&binder, verdict->series[0] != '\0' ? verdict->series : NULL);
    kf_bind_number(&binder, verdict->time_us);
    kf_bind_number(&binder, verdict->threshold);
    kf_bind_integer(&binder, verdict->identical);
    if (verdict->reference > 0)
        kf_bind_integer(&binder, verdict->reference);
    else
        kf_bind_null(&binder);
    kf_bind_number(&binder, verdict->change);
    kf_bind_number(&binder, verdict->change_low);
    kf_bind_number(&binder, verdict->change_high);
    kf_bind_number(&binder, verdict->probability);
    bool kernel = verdict->kernel[0] != '\0', counter = verdict->counter[0] != '\0';
    kf_bind_text(&binder, kernel ? verdict->kernel : NULL);
    kf_bind_number(&binder, kernel ? verdict->kernel_change_us : NAN);
    kf_bind_text(&binder, counter ? verdict->counter : NULL);
    kf_bind_number(&binder, counter ? verdict->counter_before : NAN);
    kf_bind_number(&binder, counter ? verdict->counter_after : NAN);
    return finish(store, &binder, "storing a verdict", error);
}

kf_status kf_store_add_verdict(kf_store *store, int64_t night, int64_t run_id, const kf_verdict *verdict,
                               kf_error *error) {
    KF_TRY(kf_store_begin(store, error));
    kf_status status = add_verdict(store, night, verdict, error);
    if (status == KF_OK && run_id > 0) status = kf_store_set_run_state(store, run_id, "finished", error);
    return kf_store_commit(store, status, "storing a verdict", error);
}

/* Reads a verdict from a row. */
static void read_verdict(sqlite3_stmt *statement, kf_verdict *verdict) {
    kf_reader reader = {statement, 0};
    char word[32];
    kf_read_text(&reader, verdict->benchmark, sizeof verdict->benchmark);
    kf_read_text(&reader, word, sizeof word);
    verdict->state = (kf_verdict_state)name_index(word, kf_verdict_names, KF_VERDICTS);
    kf_read_text(&reader, verdict->reason, sizeof verdict->reason);
    kf_read_text(&reader, verdict->series, sizeof verdict->series);
    verdict->time_us = kf_read_number(&reader);
    verdict->threshold = kf_read_number(&reader);
    verdict->identical = kf_read_integer(&reader) != 0;
    verdict->reference = kf_read_integer(&reader);
    verdict->change = kf_read_number(&reader);
    verdict->change_low = kf_read_number(&reader);
    verdict->change_high = kf_read_number(&reader);
    verdict->probability = kf_read_number(&reader);
    kf_read_text(&reader, verdict->kernel, sizeof verdict->kernel);
    verdict->kernel_change_us = kf_read_number(&reader);
    kf_read_text(&reader, verdict->counter, sizeof verdict->counter);
    verdict->counter_before = kf_read_number(&reader);
    verdict->counter_after = kf_read_number(&reader);
    kf_read_text(&reader, verdict->program, sizeof verdict->program);
    if (strcmp(verdict->program, KF_UNKNOWN_PROGRAM) == 0) verdict->program[0] = '\0';
    const double seconds = kf_read_number(&reader);
    verdict->seconds = isnan(seconds) ? 0.0 : seconds;
}

kf_status kf_store_verdicts(kf_store *store, int64_t night,
                            kf_status (*visit)(void *context, const kf_verdict *verdict, kf_error *error),
                            void *context, kf_error *error) {
    kf_binder binder;
    KF_TRY(prepare(store,
                   "SELECT benchmark, state, reason, series, time_us, threshold, identical, reference, "
                   "change, change_low, change_high, probability, kernel, kernel_change_us, counter, "
                   "counter_before, counter_after, "
                   "(SELECT program FROM nightly n WHERE n.night = v.night AND n.benchmark = v.benchmark AND "
                   "arm = 'night' ORDER BY ordinal LIMIT 1), "
                   "(SELECT sum(ifnull(compile_s, 0) + ifnull(verify_s, 0) + ifnull(measure_s, 0)) FROM "
                   "nightly n JOIN result r ON r.id = n.result WHERE n.night = v.night AND n.benchmark = "
                   "v.benchmark) FROM verdict v WHERE night = ? ORDER BY benchmark",
                   &binder, error));
    kf_bind_integer(&binder, night);
    bool found = true;
    kf_status status = KF_OK;
    while (status == KF_OK &&
           (status = kf_store_step(store, binder.statement, "reading verdicts", &found, error)) == KF_OK &&
           found) {
        kf_verdict verdict;
        read_verdict(binder.statement, &verdict);
        status = visit(context, &verdict, error);
    }
    (void)sqlite3_finalize(binder.statement);
    return status;
}

/* Pins a night. Later nights are compared with its benchmarks, series by series, until another night is
 * pinned. */
kf_status kf_store_pin(kf_store *store, int64_t night, int *count, kf_error *error) {
    char now[KF_MOMENT];
    kf_moment_now(now);
    *count = 0;
    kf_binder binder;
    KF_TRY(kf_store_begin(store, error));
    kf_status status =
        prepare(store,
                "INSERT INTO pin (benchmark, series, night, pinned) SELECT DISTINCT n.benchmark, n.series, "
                "n.night, ?2 FROM nightly n JOIN result r ON r.id = n.result WHERE n.night = ?1 AND "
                "n.arm = 'night' AND r.state = 'ok' ON CONFLICT (benchmark, series) DO UPDATE SET "
                "night = excluded.night, pinned = excluded.pinned",
                &binder, error);
    if (status == KF_OK) {
        kf_bind_integer(&binder, night);
        kf_bind_text(&binder, now);
        status = finish(store, &binder, "pinning a night", error);
        *count = sqlite3_changes(store->database);
    }
    return kf_store_commit(store, status, "pinning a night", error);
}
