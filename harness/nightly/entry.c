#include "harness/nightly/entry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/space/space.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "harness/worker/worker.h"
#include "results/best_config.h"
#include "solver/systems.h"

/* --- The best of the store ----------------------------------------------------------------------------- */

typedef struct best_search {
    const kf_problem *problem;
    const kf_device_info *device;
    int64_t run;
    int winner; /* sequence number of the run's winner; -1: not known */
    double time_us;
    bool final, chosen;
    kf_config config;
} best_search;

static void look_at_run(void *context, const kf_run_summary *run) {
    best_search *search = context;
    bool fits = run->ok > 0 && strcmp(run->scene_hash, search->problem->hash) == 0 &&
                strcmp(run->device, search->device->name) == 0 &&
                strcmp(run->system, search->problem->system->name) == 0 &&
                strcmp(run->origin, "measured") == 0;
    if (!fits || run->id <= search->run) return;
    search->run = run->id;
    search->winner = run->winner;
}

static kf_status look_at_result(void *context, int sequence, const char *role, const kf_config *config,
                                const kf_measurement *measurement, kf_error *error) {
    (void)error;
    best_search *search = context;
    if (measurement->state != KF_STATE_OK || search->chosen) return KF_OK;
    search->chosen = sequence == search->winner;
    bool final = strcmp(role, "final") == 0;
    /* A time from the final measurement is more precise than all others. */
    if (!search->chosen &&
        (final < search->final || (final == search->final && measurement->step_us.median >= search->time_us)))
        return KF_OK;
    search->final = final;
    search->time_us = measurement->step_us.median;
    search->config = *config;
    return KF_OK;
}

static kf_status best_of_store(kf_entry *entry, kf_store *store, kf_error *error) {
    best_search search = {.problem = entry->opened, .device = &entry->device, .time_us = INFINITY};
    KF_TRY(kf_store_runs(store, look_at_run, &search, error));
    if (search.run == 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s has no tuning run of this scene on this device; tune it with 'kftune tune --scene %s'",
            kf_store_path(store), entry->benchmark->scene);
    KF_TRY(kf_store_results(store, search.run, look_at_result, &search, error));
    entry->config = search.config;
    return KF_OK;
}

/* --- Config, scene, device -------------------------------------------------------------------------------
 */

static kf_status read_best_config(kf_entry *entry, kf_error *error) {
    kf_best_config *best = kf_allocate(sizeof *best);
    kf_status status = kf_best_config_read(entry->benchmark->text, best, error);
    if (status == KF_OK) status = kf_problem_check_config(entry->opened, &best->device, &best->config, error);
    if (status == KF_OK) entry->config = best->config;
    kf_best_config_free(best);
    free(best);
    return status;
}

/* Finds the config of a benchmark: a preset, the best in the store, that of a file, or the one in the suite.
 * A config that the space does not contain is refused. */
static kf_status resolve_config(kf_entry *entry, const kf_space *space, kf_store *store, kf_error *error) {
    switch (entry->benchmark->source) {
    case KF_CONFIG_PRESET:
        return kf_space_preset(space, entry->benchmark->text, &entry->config, error);
    case KF_CONFIG_BEST_OF_STORE:
        return best_of_store(entry, store, error);
    case KF_CONFIG_FILE:
        return read_best_config(entry, error);
    default:
        entry->config = entry->benchmark->config;
        kf_copy_text(entry->config.system, sizeof entry->config.system, entry->opened->system->name);
        char why[256];
        uint64_t index;
        if (kf_space_index(space, &entry->config, &index, why, sizeof why)) return KF_OK;
        return kf_fail(error, KF_BAD_INPUT, "config: %s", why);
    }
}

static kf_status open_config(kf_entry *entry, kf_store *store, kf_error *error) {
    kf_space *space = NULL;
    KF_TRY(kf_problem_space(entry->opened, &entry->device, NULL, 0, &space, error));
    kf_status status = resolve_config(entry, space, store, error);
    kf_space_hash(space, entry->run.space_hash);
    cJSON *json = kf_space_to_json(space);
    entry->space_json = kf_json_canonical(json);
    cJSON_Delete(json);
    kf_space_free(space);
    return status;
}

/* Describes the run to which the entry's processes belong, and writes their job. */
static void describe(kf_entry *entry) {
    const kf_suite_benchmark *benchmark = entry->benchmark;
    const char *system = entry->opened->system->name;
    kf_copy_text(entry->run.system, sizeof entry->run.system, system);
    kf_copy_text(entry->run.strategy, sizeof entry->run.strategy, "nightly");
    (void)snprintf(entry->run.budget, sizeof entry->run.budget, "%d processes", benchmark->processes);
    entry->run.seed = entry->opened->seed;
    entry->run.space_json = entry->space_json;
    kf_store_series(benchmark->name, entry->opened, &entry->device, entry->series);
    kf_nightly_job *job = kf_allocate_zeroed(1, sizeof *job);
    kf_copy_text(job->scene, sizeof job->scene, benchmark->scene);
    job->options = benchmark->options;
    kf_copy_text(job->system, sizeof job->system, system);
    kf_copy_text(job->device, sizeof job->device, entry->device.spec);
    job->config = entry->config;
    job->seconds = benchmark->seconds;
    entry->job = kf_nightly_job_text(job);
    free(job);
}

static kf_status open_parts(kf_entry *entry, kf_store *store, kf_error *error) {
    const kf_suite_benchmark *benchmark = entry->benchmark;
    const char *named = benchmark->system[0] != '\0' ? benchmark->system : NULL;
    KF_TRY(kf_device_probe(benchmark->device[0] != '\0' ? benchmark->device : NULL, &entry->device, error));
    if (benchmark->command != NULL) return kf_entry_open_command(entry, store, error);
    KF_TRY(kf_problem_open(benchmark->scene, named, &benchmark->options, &entry->opened, error));
    const kf_system *system = entry->opened->system;
    if (system->accepts_device != NULL) KF_TRY(system->accepts_device(entry->opened, &entry->device, error));
    KF_TRY(open_config(entry, store, error));
    describe(entry);
    return KF_OK;
}

/* Opens an entry. An error becomes the entry's problem, so that the night's other benchmarks are measured. A
 * command whose files are missing, for example after a failed build, counts as failed. */
void kf_entry_open(kf_entry *entry, const kf_suite_benchmark *benchmark, kf_store *store) {
    memset(entry, 0, sizeof *entry);
    entry->benchmark = benchmark;
    entry->verdict = (kf_verdict){.time_us = (double)NAN,
                                  .threshold = (double)NAN,
                                  .change = (double)NAN,
                                  .change_low = (double)NAN,
                                  .change_high = (double)NAN,
                                  .probability = (double)NAN};
    kf_copy_text(entry->verdict.benchmark, sizeof entry->verdict.benchmark, benchmark->name);
    kf_error error = {KF_OK, ""};
    entry->problem_status = open_parts(entry, store, &error);
    if (entry->problem_status == KF_OK) return;
    if (entry->problem_status == KF_BAD_INPUT && benchmark->command != NULL && entry->opened != NULL) {
        /* Missing files are a result of the night, for example after a failed build. */
        entry->problem_status = KF_OK;
        entry->failed = KF_STATE_INVALID;
        kf_copy_text(entry->failure, sizeof entry->failure, error.message);
        return;
    }
    kf_copy_text(entry->problem, sizeof entry->problem, error.message);
}

void kf_entry_close(kf_entry *entry) {
    kf_problem_free(entry->opened);
    free(entry->space_json);
    free(entry->job);
    free(entry->reference_job);
}
