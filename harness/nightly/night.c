#include "harness/nightly/night.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "harness/nightly/entry.h"

static const double RESUME_HOURS = 20.0; /* an unfinished night that is older is not continued */

/* --- Carrying on ------------------------------------------------------------------------------------------
 */

static kf_entry *find_entry(kf_nightly_session *session, const char *benchmark) {
    for (int i = 0; i < session->count; i++)
        if (strcmp(session->entries[i].benchmark->name, benchmark) == 0) return &session->entries[i];
    return NULL;
}

/* Takes over a result that this night stored before it was interrupted. An entry whose machine or scene has
 * changed cannot be continued. */
static kf_status take_over_process(void *context, const kf_process *process, kf_error *error) {
    (void)error;
    kf_entry *entry = find_entry(context, process->benchmark);
    if (entry == NULL) return KF_OK;
    if (entry->problem[0] == '\0' && strcmp(process->series, entry->series) != 0) {
        kf_copy_text(entry->problem, sizeof entry->problem,
                     "the machine or the scene changed during the night");
        return KF_OK;
    }
    entry->run.id = process->run;
    kf_measurement measurement = {.state = process->state, .clock_mhz = process->clock_mhz};
    kf_copy_text(measurement.reason, sizeof measurement.reason, process->reason);
    kf_copy_text(measurement.build_hash, sizeof measurement.build_hash, process->build);
    kf_entry_note(entry, process->arm, &measurement, process->time_us);
    return KF_OK;
}

static kf_status take_over_verdict(void *context, const kf_verdict *verdict, kf_error *error) {
    (void)error;
    kf_entry *entry = find_entry(context, verdict->benchmark);
    if (entry == NULL) return KF_OK;
    entry->judged = true;
    entry->verdict = *verdict;
    return KF_OK;
}

static kf_status resume(kf_nightly_session *session, kf_error *error) {
    kf_store *store = session->request->store;
    int64_t night = session->result->night.id;
    KF_TRY(kf_store_processes(store, night, NULL, take_over_process, session, error));
    KF_TRY(kf_store_verdicts(store, night, take_over_verdict, session, error));
    kf_info("carrying on night %lld", (long long)night);
    return KF_OK;
}

/* --- The night --------------------------------------------------------------------------------------------
 */

/* Measures all benchmarks in rounds, so that a disturbance of some minutes affects a few processes of each.
 */
static kf_status measure_all(kf_nightly_session *session, kf_error *error) {
    for (int round = 0; round < KF_NIGHT_PROCESSES; round++)
        for (int i = 0; i < session->count; i++) {
            kf_entry *entry = &session->entries[i];
            const kf_arm_state *arm = &entry->arms[KF_ARM_NIGHT];
            bool wanted = round < entry->benchmark->processes && arm->done - arm->throttled <= round;
            if (entry->judged || entry->problem[0] != '\0' || entry->failed != KF_STATE_OK || !wanted)
                continue;
            KF_TRY(kf_entry_measure(session, entry, KF_ARM_NIGHT, error));
        }
    return KF_OK;
}

static kf_status judge_all(kf_nightly_session *session, kf_error *error) {
    for (int i = 0; i < session->count; i++)
        if (!session->entries[i].judged) KF_TRY(kf_entry_screen(session, &session->entries[i], error));
    return kf_compare_candidates(session, error);
}

/* The programs that a later night may run again: those of the last nights, and the pinned ones. */
typedef struct kept_programs {
    char hashes[64][KF_HASH_HEX];
    int count, recent;
} kept_programs;

static void keep_hash(kept_programs *kept, const char *hash) {
    for (int i = 0; i < kept->count; i++)
        if (strcmp(kept->hashes[i], hash) == 0) return;
    if (kept->count < 64) kf_copy_text(kept->hashes[kept->count++], KF_HASH_HEX, hash);
}

static kf_status keep_recent(void *context, const kf_night *night, kf_error *error) {
    (void)error;
    enum { PROGRAMS = 10 };
    kept_programs *kept = context;
    if (kept->recent >= PROGRAMS) return KF_OK;
    int before = kept->count;
    keep_hash(kept, night->program);
    kept->recent += kept->count - before;
    return KF_OK;
}

/* Deletes the kept programs that no later night can need. If the store cannot be read, all are kept. */
static void prune_programs(const kf_nightly_session *session) {
    kept_programs *kept = kf_allocate_zeroed(1, sizeof *kept);
    bool known = true;
    keep_hash(kept, session->program.hash);
    for (int i = 0; i < session->count; i++) {
        const kf_entry *entry = &session->entries[i];
        kf_history_night pinned;
        bool found = false;
        known = known && kf_store_pinned(session->request->store, entry->benchmark->name, entry->series,
                                         &pinned, &found, NULL) == KF_OK;
        if (found) keep_hash(kept, pinned.program);
        if (entry->reference_program.hash[0] != '\0') keep_hash(kept, entry->reference_program.hash);
    }
    known = known && kf_store_nights(session->request->store, keep_recent, kept, NULL) == KF_OK;
    if (known) kf_program_prune(session->archive, (const char(*)[KF_HASH_HEX])kept->hashes, kept->count);
    for (int i = 0; i < session->count; i++)
        (void)kf_entry_prune(&session->entries[i], session->request->store, session->result->night.id, NULL);
    free(kept);
}

/* Hashes what must be unchanged to continue an interrupted night. The programs of commands are part of the
 * suite's hash. In a suite with nothing but commands, `program` is their hash. A missing program is not an
 * error here, because its benchmark reports it. An unreadable one is. */
static kf_status hash_suite(const kf_suite *suite, char hash[KF_HASH_HEX], char program[KF_HASH_HEX],
                            kf_error *error) {
    kf_hasher hasher, programs;
    int commands = 0;
    kf_hash_begin(&hasher);
    kf_hash_begin(&programs);
    kf_hash_add_string(&hasher, suite->hash);
    for (int i = 0; i < suite->count; i++) {
        const kf_timed_command *command = suite->benchmarks[i].command;
        char files[KF_HASH_HEX] = "missing";
        if (command == NULL) continue;
        commands++;
        kf_error why;
        if (kf_files_hash(command->folder, (const char *const *)command->kept, files, &why) == KF_HOST)
            return kf_fail(error, KF_HOST, "%s", why.message);
        kf_hash_add_string(&hasher, files);
        kf_hash_add_string(&programs, files);
    }
    char of_programs[KF_HASH_HEX];
    kf_hash_end(&hasher, hash);
    kf_hash_end(&programs, of_programs);
    if (commands == 0) kf_copy_text(hash, KF_HASH_HEX, suite->hash);
    if (commands == suite->count) kf_copy_text(program, KF_HASH_HEX, of_programs);
    return KF_OK;
}

static kf_status begin(kf_nightly_session *session, kf_error *error) {
    const kf_nightly_request *request = session->request;
    kf_night *night = &session->result->night;
    KF_TRY(kf_path(session->archive, error, "%s.programs", kf_store_path(request->store)));
    KF_TRY(kf_program_keep(request->executable, request->data, session->archive, &session->program, error));
    kf_copy_text(night->suite, sizeof night->suite, request->suite->name);
    kf_copy_text(night->program, sizeof night->program, session->program.hash);
    KF_TRY(hash_suite(request->suite, night->suite_hash, night->program, error));
    kf_copy_text(night->label, sizeof night->label, request->label);
    return kf_store_begin_night(request->store, RESUME_HOURS, night, &session->result->resumed, error);
}

/* Does the night: opens all entries, takes over results from before an interrupt, measures, judges, and
 * collects the verdicts. The first problem of an entry becomes that of the night. */
static kf_status play(kf_nightly_session *session, kf_error *error) {
    const kf_suite *suite = session->request->suite;
    session->entries = kf_allocate_zeroed((size_t)suite->count, sizeof *session->entries);
    for (; session->count < suite->count && !kf_interrupted; session->count++)
        kf_entry_open(&session->entries[session->count], &suite->benchmarks[session->count],
                      session->request->store);
    if (kf_interrupted)
        return kf_fail(error, KF_INTERRUPTED, "interrupted; the next night continues this one");
    if (session->result->resumed) KF_TRY(resume(session, error));
    for (int i = 0; i < session->count; i++)
        if (suite->benchmarks[i].command == NULL)
            kf_copy_text(session->entries[i].program, KF_HASH_HEX, session->program.hash);
    KF_TRY(measure_all(session, error));
    KF_TRY(judge_all(session, error));
    session->result->verdicts = kf_allocate_zeroed((size_t)session->count, sizeof *session->result->verdicts);
    for (int i = 0; i < session->count; i++) {
        const kf_entry *entry = &session->entries[i];
        kf_verdict *verdict = &session->result->verdicts[session->result->count++];
        *verdict = entry->verdict;
        if (strcmp(entry->program, KF_UNKNOWN_PROGRAM) != 0)
            kf_copy_text(verdict->program, sizeof verdict->program, entry->program);
        if (entry->problem_status == KF_OK || session->result->problems++ > 0) continue;
        (void)kf_fail(&session->result->problem, entry->problem_status, "%s: %s", entry->benchmark->name,
                      entry->problem);
    }
    return kf_nightly_find_absent(session->request->store, session->result, error);
}

/* Runs a night from beginning to end. A night that was interrupted, or that the disk or the machine stopped,
 * can be continued. */
kf_status kf_nightly(const kf_nightly_request *request, kf_nightly_result *result, kf_error *error) {
    memset(result, 0, sizeof *result);
    kf_nightly_session *session = kf_allocate_zeroed(1, sizeof *session);
    session->request = request;
    session->result = result;
    kf_status status = begin(session, error);
    if (status == KF_OK) {
        status = play(session, error);
        /* A night that was interrupted, or that the disk or the machine stopped, can be continued. */
        kf_error ending = {KF_OK, ""};
        kf_status ended = kf_store_end_night(request->store, &result->night,
                                             status == KF_OK ? "finished" : "interrupted", &ending);
        if (status == KF_OK && ended != KF_OK) status = kf_fail(error, ended, "%s", ending.message);
        if (status == KF_OK) {
            kf_copy_text(result->night.state, sizeof result->night.state, "finished");
            prune_programs(session);
        }
    }
    for (int i = 0; i < session->count; i++)
        kf_entry_close(&session->entries[i]);
    free(session->entries);
    free(session);
    return status;
}

void kf_nightly_result_free(kf_nightly_result *result) {
    free(result->verdicts);
    free(result->absent);
    *result = (kf_nightly_result){.verdicts = NULL};
}

int kf_nightly_failures(const kf_nightly_result *result) {
    int failures = 0;
    for (int i = 0; i < result->count; i++)
        failures += kf_verdict_fails(result->verdicts[i].state);
    return failures;
}
