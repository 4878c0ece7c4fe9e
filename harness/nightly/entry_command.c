/* Presents a benchmark of kind `command` to the store and the verdicts. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/clock.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/nightly/entry.h"

enum { KEPT_NIGHTS = 10, SHORT_HASH = 16 };

/* The store asks a problem's system for these members. Commands are never opened, planned or verified. */
static const kf_system command_system = {
    .name = "command", .summary = "a program of the user's, timed as a whole", .update = "run"};

/* Describes what makes two nights comparable: the program, its arguments, and the source of the time, but not
 * the folder. */
static void describe(kf_entry *entry) {
    const kf_timed_command *command = entry->benchmark->command;
    cJSON *json = kf_command_to_json(command);
    static const char *const beside[] = {"folder", "keep", "warm_up", "repeats", "timeout", "instructions"};
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(json, beside[i]);
    char *text = kf_json_canonical(json);
    cJSON_Delete(json);
    kf_problem *problem = kf_problem_make(NULL, NULL);
    kf_copy_text(problem->name, sizeof problem->name, entry->benchmark->name);
    kf_copy_text(problem->source, sizeof problem->source, command->folder);
    kf_hash_text(text, problem->hash);
    problem->system = &command_system;
    free(text);
    entry->opened = problem;
    kf_copy_text(entry->config.system, sizeof entry->config.system, command_system.name);
    entry->space_json = kf_duplicate("{}");
    kf_hash_text("command", entry->run.space_hash);
    kf_copy_text(entry->run.system, sizeof entry->run.system, command_system.name);
    kf_copy_text(entry->run.strategy, sizeof entry->run.strategy, "nightly");
    (void)snprintf(entry->run.budget, sizeof entry->run.budget, "%d processes", entry->benchmark->processes);
    entry->run.seed = 1;
    entry->run.space_json = entry->space_json;
    kf_store_series(entry->benchmark->name, problem, &entry->device, entry->series);
}

static kf_status archive_of(const kf_entry *entry, kf_store *store, char archive[KF_PATH], kf_error *error) {
    return kf_path(archive, error, "%s.commands/%.*s", kf_store_path(store), SHORT_HASH, entry->series);
}

static char *job_text(const kf_timed_command *command, const char *build) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "build", build);
    (void)cJSON_AddItemToObject(json, "command", kf_command_to_json(command));
    char *text = kf_json_canonical(json);
    cJSON_Delete(json);
    return text;
}

/* Keeps the files of a command, so that a later night can run them again. Without kept files nobody knows
 * whether the command has changed, so its hash differs each night. */
static kf_status keep(kf_entry *entry, kf_timed_command *command, const char *archive, kf_error *error) {
    char build[KF_HASH_HEX];
    KF_TRY(kf_command_keep(command, archive, build, error));
    kf_copy_text(entry->program, sizeof entry->program,
                 command->kept[0] != NULL ? build : KF_UNKNOWN_PROGRAM);
    if (command->kept[0] != NULL) {
        KF_TRY(kf_path(entry->kept, error, "%s/%.*s", archive, SHORT_HASH, build));
    } else {
        /* The time replaces the hash, because nobody knows whether the program has changed. */
        char moment[48];
        (void)snprintf(moment, sizeof moment, "%ld %.9f", (long)getpid(), kf_clock_seconds());
        kf_hash_text(moment, build);
    }
    entry->job = job_text(command, build);
    return KF_OK;
}

kf_status kf_entry_open_command(kf_entry *entry, kf_store *store, kf_error *error) {
    char archive[KF_PATH];
    describe(entry);
    KF_TRY(archive_of(entry, store, archive, error));
    kf_timed_command *copy = kf_allocate_zeroed(1, sizeof *copy);
    cJSON *json = kf_command_to_json(entry->benchmark->command);
    kf_status status = kf_command_read((kf_json_place){"suite", "benchmarks"}, json, "/", copy, error);
    cJSON_Delete(json);
    if (status == KF_OK) status = keep(entry, copy, archive, error);
    kf_command_free(copy);
    free(copy);
    return status;
}

/* Deletes the copies of a command that no later night can need: all but those of recent nights and of the
 * pinned one. */
kf_status kf_entry_prune(const kf_entry *entry, kf_store *store, int64_t night, kf_error *error) {
    if (entry->benchmark->command == NULL || entry->opened == NULL) return KF_OK;
    char archive[KF_PATH], wanted[KEPT_NIGHTS + 1][KF_HASH_HEX];
    kf_history_night *nights = NULL, pinned;
    int count = 0;
    bool found = false;
    KF_TRY(archive_of(entry, store, archive, error));
    KF_TRY(kf_store_pinned(store, entry->benchmark->name, entry->series, &pinned, &found, error));
    KF_TRY(kf_store_history(store, entry->benchmark->name, entry->series, night, KEPT_NIGHTS, &nights, &count,
                            error));
    for (int i = 0; i < count; i++)
        kf_copy_text(wanted[i], KF_HASH_HEX, nights[i].build);
    if (found) kf_copy_text(wanted[count++], KF_HASH_HEX, pinned.build);
    free(nights);
    kf_program_prune(archive, (const char(*)[KF_HASH_HEX])wanted, count);
    return KF_OK;
}
