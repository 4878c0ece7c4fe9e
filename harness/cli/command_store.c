/* `kftune store`: looking at, moving and clearing what was measured. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/backend/device_json.h"
#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/cli/store_shards.h"
#include "results/nightly.h"

extern const kf_command kf_command_store;

enum { SHOWN_RESULTS = 20 };

static kf_status open_store(const kf_arguments *arguments, bool read_only, kf_store **store,
                            kf_error *error) {
    return kf_store_open(kf_argument(arguments, "--store", NULL), read_only, store, error);
}

static cJSON *begin_json(const char *action, const kf_store *store) {
    cJSON *root = kf_json_answer("store");
    (void)cJSON_AddStringToObject(root, "action", action);
    (void)cJSON_AddStringToObject(root, "store", kf_store_path(store));
    return root;
}

/* "-" for what is not known; never as 1.662e+04. */
static const char *shown_time(double microseconds, char buffer[32]) {
    return isfinite(microseconds) ? kf_human_time_us(microseconds, buffer) : "-";
}

static const char *shown_number(double value, char buffer[32]) {
    if (!isfinite(value)) return "-";
    (void)snprintf(buffer, 32, value < 1e4 ? "%.4g" : "%.0f", value);
    return buffer;
}

/* --- List --------------------------------------------------------------------------------------------- */

/* Makes the JSON object of one run of the store; the caller owns it. */
static cJSON *run_to_json(const kf_run_summary *run) {
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(object, "run", (double)run->id);
    (void)cJSON_AddStringToObject(object, "uuid", run->uuid);
    (void)cJSON_AddStringToObject(object, "origin", run->origin);
    (void)cJSON_AddStringToObject(object, "state", run->state);
    (void)cJSON_AddStringToObject(object, "started", run->started);
    if (run->ended[0] != '\0')
        (void)cJSON_AddStringToObject(object, "ended", run->ended);
    else
        (void)cJSON_AddNullToObject(object, "ended");
    (void)cJSON_AddStringToObject(object, "scene", run->scene);
    (void)cJSON_AddStringToObject(object, "scene_hash", run->scene_hash);
    (void)cJSON_AddItemToObject(object, "facts", kf_facts_to_json(run->facts));
    (void)cJSON_AddItemToObject(object, "device", kf_device_remembered_to_json(run->device, run->backend));
    (void)cJSON_AddStringToObject(object, "system", run->system);
    (void)cJSON_AddStringToObject(object, "strategy", run->strategy);
    (void)cJSON_AddNumberToObject(object, "results", run->results);
    (void)cJSON_AddNumberToObject(object, "ok", run->ok);
    kf_json_add_number(object, "best_us", run->best_us);
    kf_json_add_number(object, "best_updates_per_second", 1e6 * run->best_updates_per_us);
    (void)cJSON_AddStringToObject(object, "update", run->update);
    (void)cJSON_AddStringToObject(object, "objective", run->objective);
    return object;
}

static void collect_run(void *context, const kf_run_summary *run) {
    (void)cJSON_AddItemToArray(context, run_to_json(run));
}

static void print_run(void *context, const kf_run_summary *run) {
    int *count = context;
    if ((*count)++ == 0)
        printf("%5s  %-19s  %-11s  %-20s  %8s  %8s  %10s  %9s  %-36s  %s\n", "run", "started (UTC)", "state",
               "scene", "results", "ok", "best step", "M/s", "size", "device");
    char facts[KF_FACTS_TEXT], time[32], rate[32], started[24];
    kf_copy_text(started, 20, run->started);
    if (started[0] != '\0') started[10] = ' ';
    printf("%5lld  %-19s  %-11s  %-20.20s  %8d  %8d  %10s  %9s  %-36s  %s\n", (long long)run->id, started,
           strcmp(run->origin, "imported") == 0 ? "imported" : run->state, run->scene, run->results, run->ok,
           shown_time(run->best_us, time), shown_number(run->best_updates_per_us, rate),
           kf_facts_text(run->facts, facts), run->device);
}

/* Lists all runs of a store, as a table or as JSON. */
static kf_status list(const kf_arguments *arguments, kf_error *error) {
    kf_store *store = NULL;
    KF_TRY(open_store(arguments, true, &store, error));
    kf_status status = KF_OK;
    if (kf_arguments_json(arguments)) {
        cJSON *root = begin_json("list", store);
        status = kf_store_runs(store, collect_run, cJSON_AddArrayToObject(root, "runs"), error);
        if (status == KF_OK)
            kf_json_print(root);
        else
            cJSON_Delete(root);
    } else {
        int count = 0;
        status = kf_store_runs(store, print_run, &count, error);
        if (status == KF_OK && count == 0) printf("%s has no run yet\n", kf_store_path(store));
    }
    kf_store_close(store);
    return status;
}

/* --- Show --------------------------------------------------------------------------------------------- */

/* Holds what is shown of one result. */
typedef struct kf_shown {
    int sequence, samples, metric_count;
    kf_state state;
    double time_us, low_us, high_us, updates_per_us, error;
    char role[48], hash[KF_HASH_HEX];
    double spread;          /* of a second launch from equal inputs; NAN: there was none */
    kf_user_value *metrics; /* owned */
    char *summary, *reason;
    cJSON *config; /* only for --json */
} kf_shown;

typedef struct kf_show {
    kf_shown *results;
    size_t count, capacity;
    bool json;
    char *usual_text; /* the default's config, by which the others are told; NULL: not measured */
    kf_config usual;
    double best_us;
    kf_kernel_time *kernels; /* of the fastest result that has them; owned */
    int kernel_count;
} kf_show;

static kf_status collect_result(void *context, int sequence, const char *role, const kf_config *config,
                                const kf_measurement *measurement, kf_error *error) {
    (void)error;
    kf_show *show = context;
    if (show->count == show->capacity) {
        show->capacity = 2 * show->capacity + 64;
        show->results = kf_reallocate(show->results, show->capacity * sizeof *show->results);
    }
    kf_shown *shown = &show->results[show->count++];
    bool ok = measurement->state == KF_STATE_OK;
    if (show->usual_text == NULL && strcmp(role, "preset:default") == 0) {
        show->usual = *config;
        show->usual_text = kf_config_summary(config);
    }
    *shown = (kf_shown){
        .sequence = sequence,
        .samples = (int)measurement->sample_count,
        .state = measurement->state,
        .time_us = ok ? measurement->step_us.median : NAN,
        .low_us = ok ? measurement->step_us.low : NAN,
        .high_us = ok ? measurement->step_us.high : NAN,
        .updates_per_us = ok ? measurement->updates_per_us : NAN,
        .error = measurement->verification.error,
        .spread = measurement->verification.repeated ? measurement->verification.spread : NAN,
        .summary = kf_config_relative(config, show->usual_text != NULL ? &show->usual : NULL, "default"),
        .reason = kf_duplicate(measurement->reason),
        .config = show->json ? kf_config_to_json(config) : NULL};
    kf_copy_text(shown->role, sizeof shown->role, role);
    kf_config_hash(config, shown->hash);
    shown->metric_count = measurement->user_value_count;
    const size_t metric_bytes = (size_t)shown->metric_count * sizeof *shown->metrics;
    if (metric_bytes > 0)
        shown->metrics = memcpy(kf_allocate(metric_bytes), measurement->user_values, metric_bytes);
    if (ok && measurement->kernel_count > 0 && !(measurement->step_us.median >= show->best_us)) {
        show->best_us = measurement->step_us.median;
        show->kernel_count = measurement->kernel_count;
        const size_t bytes = (size_t)measurement->kernel_count * sizeof *show->kernels;
        show->kernels = kf_reallocate(show->kernels, bytes);
        memcpy(show->kernels, measurement->kernels, bytes);
    }
    return KF_OK;
}

/* By time, then what has none in the order it was measured. */
static int compare_shown(const void *left, const void *right) {
    const kf_shown *a = left, *b = right;
    if (isnan(a->time_us) != isnan(b->time_us)) return isnan(a->time_us) ? 1 : -1;
    if (a->time_us != b->time_us && !isnan(a->time_us)) return a->time_us < b->time_us ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static void free_show(kf_show *show) {
    for (size_t i = 0; i < show->count; i++) {
        free(show->results[i].summary);
        free(show->results[i].reason);
        free(show->results[i].metrics);
        cJSON_Delete(show->results[i].config);
    }
    free(show->results);
    free(show->usual_text);
    free(show->kernels);
}

/* Makes the JSON object of one result and moves the result's config into it. */
static cJSON *result_to_json(const kf_run_summary *run, kf_shown *shown) {
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(object, "sequence", shown->sequence);
    (void)cJSON_AddStringToObject(object, "role", shown->role);
    (void)cJSON_AddStringToObject(object, "state", kf_state_names[shown->state]);
    if (shown->state != KF_STATE_OK) (void)cJSON_AddStringToObject(object, "reason", shown->reason);
    kf_json_add_number(object, "time_us", shown->time_us);
    cJSON *interval = cJSON_AddArrayToObject(object, "ci_us");
    if (isfinite(shown->time_us)) {
        (void)cJSON_AddItemToArray(interval, cJSON_CreateNumber(shown->low_us));
        (void)cJSON_AddItemToArray(interval, cJSON_CreateNumber(shown->high_us));
    }
    (void)cJSON_AddNumberToObject(object, "samples", shown->samples);
    kf_rate_add(object, run->update, 1e6 * shown->updates_per_us);
    kf_json_add_number(object, "verification_error", shown->error);
    kf_json_add_number(object, "spread", shown->spread);
    (void)cJSON_AddItemToObject(object, "metrics",
                                kf_user_values_to_json(shown->metrics, shown->metric_count));
    (void)cJSON_AddStringToObject(object, "hash", shown->hash);
    (void)cJSON_AddItemToObject(object, "config", shown->config);
    shown->config = NULL;
    return object;
}

static cJSON *kernel_to_json(const kf_kernel_time *kernel) {
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(object, "name", kernel->name);
    kf_json_add_number(object, "time_us", kernel->time_us.median);
    kf_json_add_number(object, "fastest_us", kernel->fastest_us > 0.0 ? kernel->fastest_us : (double)NAN);
    kf_json_add_number(object, "launches_per_step", kernel->launches_per_step);
    kf_json_add_number(object, "bytes", kernel->bytes);
    kf_json_add_number(object, "flops", kernel->flops);
    (void)cJSON_AddNumberToObject(object, "registers", kernel->registers);
    (void)cJSON_AddNumberToObject(object, "spill_bytes", kernel->spill_bytes);
    (void)cJSON_AddNumberToObject(object, "shared_bytes", kernel->shared_bytes);
    (void)cJSON_AddNumberToObject(object, "block_threads", kernel->block_threads);
    kf_json_add_number(object, "theoretical_occupancy", kernel->theoretical_occupancy);
    return object;
}

static void show_json(const kf_store *store, const kf_run_summary *run, kf_show *show) {
    cJSON *root = begin_json("show", store);
    (void)cJSON_AddItemToObject(root, "device", kf_device_remembered_to_json(run->device, run->backend));
    (void)cJSON_AddItemToObject(root, "run", run_to_json(run));
    cJSON *results = cJSON_AddArrayToObject(root, "results"),
          *kernels = cJSON_AddArrayToObject(root, "kernels");
    for (size_t i = 0; i < show->count; i++)
        (void)cJSON_AddItemToArray(results, result_to_json(run, &show->results[i]));
    for (int i = 0; i < show->kernel_count; i++)
        (void)cJSON_AddItemToArray(kernels, kernel_to_json(&show->kernels[i]));
    kf_json_print(root);
}

/* Prints the time, rate, registers and occupancy of each kernel of the fastest result. A kernel that runs
 * in parts has the time of its slowest part. */
static void print_kernels(const kf_show *show) {
    if (show->kernel_count == 0) return;
    double total = 0;
    for (int i = 0; i < show->kernel_count; i++)
        if (isfinite(show->kernels[i].time_us.median)) total += kf_kernel_step_us(&show->kernels[i]);
    bool parts = false;
    for (int i = 0; i < show->kernel_count; i++)
        parts = parts || show->kernels[i].fastest_us > 0.0;
    printf("\nKernels of the fastest result%s:\n  %-28s  %10s  %6s  %9s  %9s  %9s  %9s\n",
           parts ? ", times of the slowest part, rates of all" : "", "kernel", "time", "share", "GB/s",
           "registers", "spilled", "occupancy");
    for (int i = 0; i < show->kernel_count; i++) {
        const kf_kernel_time *kernel = &show->kernels[i];
        char time[32], rate[32] = "-", registers[16] = "-", spilled[16] = "-", occupancy[32] = "-";
        double median = kernel->time_us.median;
        if (kernel->bytes > 0 && median > 0)
            (void)snprintf(rate, sizeof rate, "%.1f", kernel->bytes / median / 1e3);
        if (kernel->registers > 0) { /* a cpu's kernels have none */
            (void)snprintf(registers, sizeof registers, "%d", kernel->registers);
            (void)snprintf(spilled, sizeof spilled, "%d", kernel->spill_bytes);
        }
        if (isfinite(kernel->theoretical_occupancy))
            (void)snprintf(occupancy, sizeof occupancy, "%.0f %%", 100 * kernel->theoretical_occupancy);
        printf("  %-28s  %10s  %4.0f %%  %9s  %9s  %9s  %9s\n", kernel->name, shown_time(median, time),
               total > 0 && isfinite(median) ? 100 * kf_kernel_step_us(kernel) / total : 0, rate, registers,
               spilled, occupancy);
    }
}

/* Prints remarks on a config that is right: that it differs from launch to launch, and the user's metrics. */
static void print_remarks(const kf_shown *shown) {
    char number[32];
    if (shown->state == KF_STATE_OK && shown->spread > 0)
        printf("nondeterministic, spread %.2g; ", shown->spread);
    for (int i = 0; i < shown->metric_count; i++)
        printf("%s %s; ", shown->metrics[i].name, shown_number(shown->metrics[i].value, number));
}

/* Prints a run and its results as a table, the fastest first, at most `limit` of them. */
static void show_text(const kf_run_summary *run, const kf_show *show, size_t limit) {
    printf("run %lld  %s\n", (long long)run->id, run->uuid);
    char facts[KF_FACTS_TEXT];
    printf("scene %s (%s), system %s\n", run->scene, kf_facts_text(run->facts, facts), run->system);
    printf("device %s\nstrategy %s, seed %llu, started %s, %s\n", run->device, run->strategy,
           (unsigned long long)run->seed, run->started, run->state);
    if (strcmp(run->objective, "time") != 0) printf("objective %s\n", run->objective);
    if (show->usual_text != NULL) printf("default %s\n", show->usual_text);
    printf("\n");
    char unit[KF_RATE_TEXT];
    printf("%6s  %-13s  %10s  %9s  %9s  %-15s  %s\n", "number", "state", "step", "+-",
           kf_rate_unit(run->update, unit), "role", "config, or what went wrong");
    for (size_t i = 0; i < show->count && i < limit; i++) {
        const kf_shown *shown = &show->results[i];
        char time[32], rate[32], spread[32] = "-";
        bool ok = shown->state == KF_STATE_OK;
        if (ok)
            (void)snprintf(spread, sizeof spread, "%.2f %%",
                           50 * (shown->high_us - shown->low_us) / shown->time_us);
        printf("%6d  %-13s  %10s  %9s  %9s  %-15s  ", shown->sequence, kf_state_names[shown->state],
               shown_time(shown->time_us, time), spread, shown_number(shown->updates_per_us, rate),
               shown->role);
        print_remarks(shown);
        printf("%s%s%s\n", ok ? "" : shown->reason, ok ? "" : "; ", shown->summary);
    }
    if (show->count > limit) printf("... and %zu more; --limit 0 shows all\n", show->count - limit);
    print_kernels(show);
}

/* Shows one run of the store with its results, sorted by time, as text or JSON. */
static kf_status show(const kf_arguments *arguments, kf_error *error) {
    long limit = SHOWN_RESULTS;
    KF_TRY(kf_argument_integer(arguments, "--limit", 0, 1L << 30, &limit, error));
    kf_store *store = NULL;
    KF_TRY(open_store(arguments, true, &store, error));
    kf_run_summary run;
    kf_show *shown = kf_allocate_zeroed(1, sizeof *shown);
    shown->json = kf_arguments_json(arguments);
    shown->best_us = NAN;
    kf_status status = kf_store_find_run(store, kf_argument(arguments, "--run", NULL), &run, error);
    if (status == KF_OK) status = kf_store_results(store, run.id, collect_result, shown, error);
    if (status == KF_OK) {
        if (shown->count > 0) qsort(shown->results, shown->count, sizeof *shown->results, compare_shown);
        if (shown->json)
            show_json(store, &run, shown);
        else
            show_text(&run, shown, limit > 0 ? (size_t)limit : shown->count);
    }
    free_show(shown);
    free(shown);
    kf_store_close(store);
    return status;
}

/* --- Export, import ----------------------------------------------------------------------------------- */

typedef struct kf_format {
    const char *name;
    kf_export write;
} kf_format;
static const kf_format formats[] = {{"csv", kf_store_export_csv},
                                    {"t4", kf_store_export_t4},
                                    {"kernel-tuner", kf_store_export_kernel_tuner},
                                    {"github-benchmark", kf_store_export_github},
                                    {"junit", kf_store_export_junit},
                                    {"landscape", kf_store_export_compact}};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static kf_status find_format(const kf_arguments *arguments, const kf_format **format, kf_error *error) {
    const char *name = kf_argument(arguments, "--format", NULL);
    static const char *const usage = "csv, t4, kernel-tuner, github-benchmark, junit, landscape";
    if (name == NULL)
        return kf_fail(error, KF_BAD_INPUT, "store export: --format is missing; there are: %s", usage);
    const char *names[FORMATS];
    for (int i = 0; i < FORMATS; i++) {
        names[i] = formats[i].name;
        *format = &formats[i];
        if (strcmp(name, names[i]) == 0) return KF_OK;
    }
    char hint[KF_HINT];
    return kf_fail(error, KF_BAD_INPUT, "--format '%.40s': unknown; there are: %s%s", name, usage,
                   kf_hint(name, names, FORMATS, hint));
}

/* Finds what --run names: a run, or for JUnit, which holds verdicts, a night. */
static kf_status find_exported(const kf_arguments *arguments, const kf_format *format, kf_store *store,
                               kf_run_summary *run, kf_error *error) {
    const char *name = kf_argument(arguments, "--run", NULL);
    if (format->write != kf_store_export_junit) return kf_store_find_run(store, name, run, error);
    kf_night night;
    KF_TRY(kf_store_find_night(store, name, &night, error));
    *run = (kf_run_summary){.id = night.id};
    return KF_OK;
}

/* Exports a run or a night in the format that was asked for, to a file or to stdout. */
static kf_status export(const kf_arguments *arguments, kf_error *error) {
    const kf_format *format = NULL;
    KF_TRY(find_format(arguments, &format, error));
    kf_store *store = NULL;
    KF_TRY(open_store(arguments, true, &store, error));
    kf_run_summary run;
    const char *path = kf_argument(arguments, "--out", NULL);
    kf_status status = find_exported(arguments, format, store, &run, error);
    if (status == KF_OK)
        status = path != NULL ? kf_store_export_file(store, run.id, format->write, path, error)
                              : format->write(store, run.id, stdout, error);
    if (status == KF_OK && path != NULL && kf_arguments_json(arguments)) {
        cJSON *root = begin_json("export", store);
        (void)cJSON_AddStringToObject(root, "format", format->name);
        (void)cJSON_AddNumberToObject(root, "run", (double)run.id);
        (void)cJSON_AddStringToObject(root, "out", path);
        kf_json_print(root);
    } else if (status == KF_OK && path != NULL) {
        kf_info("run %lld is in %s", (long long)run.id, path);
    }
    kf_store_close(store);
    return status;
}

/* Imports a file of another program, which becomes one run. */
static kf_status import_file(kf_store *store, const char *file, cJSON *list, kf_error *error) {
    int64_t run = 0;
    int count = 0;
    KF_TRY(kf_store_import(store, file, &run, &count, error));
    if (list == NULL) {
        printf("%s: %d results are run %lld of %s\n", file, count, (long long)run, kf_store_path(store));
        return KF_OK;
    }
    (void)cJSON_AddStringToObject(list, "file", file);
    (void)cJSON_AddNumberToObject(list, "run", (double)run);
    (void)cJSON_AddNumberToObject(list, "results", count);
    return KF_OK;
}

/* Stores, as the shards of a landscape leave them. */
static kf_status merge_file(kf_store *store, const char *file, int *merged, int all[2], kf_error *error) {
    int runs = 0, results = 0;
    KF_TRY(kf_store_merge(store, file, &runs, &results, error));
    all[0] += runs;
    all[1] += results;
    ++*merged;
    return KF_OK;
}

static bool is_folder(const char *path) {
    struct stat entry;
    return stat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
}

/* All that a --journal holds. */
static kf_status merge_folder(kf_store *store, const char *folder, int *merged, int all[2], kf_error *error) {
    char pattern[KF_PATH];
    glob_t found;
    KF_TRY(kf_path(pattern, error, "%s/*.db", folder));
    if (glob(pattern, 0, NULL, &found) != 0)
        return kf_fail(error, KF_BAD_INPUT, "store import: there is no store in %s (*.db)", folder);
    kf_status status = KF_OK;
    for (size_t i = 0; i < found.gl_pathc && status == KF_OK; i++)
        status = merge_file(store, found.gl_pathv[i], merged, all, error);
    globfree(&found);
    return status;
}

/* Imports what was named: stores and folders of stores are merged, files of other programs become runs. */
static kf_status import(const kf_arguments *arguments, kf_error *error) {
    if (arguments->positional_count < 2)
        return kf_fail(error, KF_BAD_INPUT, "store import: the file is missing: kftune store import FILE...");
    kf_store *store = NULL;
    KF_TRY(open_store(arguments, false, &store, error));
    cJSON *root = kf_arguments_json(arguments) ? begin_json("import", store) : NULL;
    int all[2] = {0, 0}, merged = 0;
    kf_status status = KF_OK;
    for (int i = 1; i < arguments->positional_count && status == KF_OK; i++) {
        const char *file = arguments->positional[i];
        bool is_store = false;
        if (is_folder(file))
            status = merge_folder(store, file, &merged, all, error);
        else if ((status = kf_is_store(file, &is_store, error)) != KF_OK)
            break;
        else if (is_store)
            status = merge_file(store, file, &merged, all, error);
        else
            status = import_file(store, file, root, error);
    }
    if (merged > 0 && root == NULL && status == KF_OK)
        printf("%d stores: %d runs with %d results are new in %s\n", merged, all[0], all[1],
               kf_store_path(store));
    if (merged > 0 && root != NULL) {
        (void)cJSON_AddNumberToObject(root, "stores", merged);
        (void)cJSON_AddNumberToObject(root, "runs", all[0]);
        (void)cJSON_AddNumberToObject(root, "results", all[1]);
    }
    if (root != NULL && status == KF_OK)
        kf_json_print(root);
    else
        cJSON_Delete(root);
    kf_store_close(store);
    return status;
}

/* --- Check ---------------------------------------------------------------------------------------------- */

static kf_status check(const kf_arguments *arguments, kf_error *error) {
    kf_store *store = NULL;
    int missing = 0;
    KF_TRY(open_store(arguments, true, &store, error));
    cJSON *root = kf_arguments_json(arguments) ? begin_json("check", store) : NULL;
    const kf_status status = kf_check_shards(store, root, &missing, error);
    if (root != NULL && status == KF_OK)
        kf_json_print(root);
    else
        cJSON_Delete(root);
    kf_store_close(store);
    KF_TRY(status);
    return missing == 0 ? KF_OK : kf_fail(error, KF_GATE_FAILED, "%d shards are missing", missing);
}

/* --- Prune, schema ------------------------------------------------------------------------------------ */

/* Deletes from the store one run, or all runs older than some days, and says how many results went. */
static kf_status prune(const kf_arguments *arguments, kf_error *error) {
    double days = NAN;
    KF_TRY(kf_argument_number(arguments, "--older-than", 0, 1e6, &days, error));
    const char *name = kf_argument(arguments, "--run", NULL);
    if ((name != NULL) == isfinite(days))
        return kf_fail(error, KF_BAD_INPUT,
                       "store prune: say what to delete: either --run ID or --older-than DAYS");
    kf_store *store = NULL;
    KF_TRY(open_store(arguments, false, &store, error));
    kf_run_summary run = {0};
    int removed = 0;
    kf_status status = name != NULL ? kf_store_find_run(store, name, &run, error) : KF_OK;
    if (status == KF_OK) status = kf_store_prune(store, days, run.id, &removed, error);
    if (status == KF_OK && kf_arguments_json(arguments)) {
        cJSON *root = begin_json("prune", store);
        (void)cJSON_AddNumberToObject(root, "removed", removed);
        kf_json_print(root);
    } else if (status == KF_OK) {
        printf("%d results were deleted from %s\n", removed, kf_store_path(store));
    }
    kf_store_close(store);
    return status;
}

static kf_status schema(const kf_arguments *arguments, kf_error *error) {
    (void)arguments;
    return fputs(kf_store_schema(), stdout) >= 0 ? KF_OK
                                                 : kf_fail(error, KF_MACHINE, "stdout cannot be written");
}

/* --- The command -------------------------------------------------------------------------------------- */

static const kf_action actions[] = {{"list", "--store", list},
                                    {"show", "--store --run --limit", show},
                                    {"export", "--store --run --format --out", export},
                                    {"import", "--store", import},
                                    {"check", "--store", check},
                                    {"prune", "--store --run --older-than", prune},
                                    {"schema", "", schema}};
enum { ACTIONS = sizeof actions / sizeof actions[0] };

static kf_status run_store(const kf_arguments *arguments, kf_error *error) {
    const kf_action *action = NULL;
    if (arguments->positional_count == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "store: say what to do: list, show, export, import, check, prune, schema");
    KF_TRY(kf_action_find("store", actions, ACTIONS, arguments->positional[0], arguments, &action, error));
    if (arguments->positional_count > 1 && action->run != import)
        return kf_fail(error, KF_BAD_INPUT,
                       "store %s: unexpected argument '%.80s'; a store is named with --store", action->name,
                       arguments->positional[1]);
    return action->run(arguments, error);
}

static const kf_option options[] = {
    {"--store", "FILE", "the store; default: kftune.db under $XDG_DATA_HOME/kftune", false},
    {"--run", "ID", "a run's number or the beginning of its UUID; default: the newest", false},
    {"--limit", "N", "show: at most N results, 0 for all (default 20)", false},
    {"--format", "csv|t4|kernel-tuner|github-benchmark|junit|landscape",
     "export: the format; junit is for nights", false},
    {"--out", "FILE", "export: write here instead of to stdout", false},
    {"--older-than", "DAYS", "prune: delete the runs that began longer ago", false},
    {NULL, NULL, NULL, false},
};
static const char *const positional[] = {"list|show|export|import|check|prune|schema", "FILE...", NULL};

const kf_command kf_command_store = {
    .name = "store",
    .summary = "list, show, export, import and prune what was measured",
    .synopsis = "kftune store list|show|export|import FILE...|check|prune|schema [options]",
    .description =
        "list: prints one line a run.\n"
        "show: prints the results of a run (--run) by time, and the kernels of the fastest.\n"
        "export: writes one run for other programs.\n"
        "import: adds a landscape, a T4 or a Kernel Tuner file as a run, also gzipped; or all runs of other\n"
        "stores, or of a folder of stores.\n"
        "check: says which shards of landscapes are missing.\n"
        "prune: deletes one run, or old ones.\n"
        "schema: prints the SQL that makes a store.",
    .example = "kftune store export --format csv --out results.csv",
    .options = options,
    .positional = positional,
    .run = run_store,
};
