#include "harness/cli/store_show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/device_json.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"

enum { SHOWN_RESULTS = 20 };

kf_status kf_store_of_arguments(const kf_arguments *arguments, bool read_only, kf_store **store,
                                kf_error *error) {
    return kf_store_open(kf_argument(arguments, "--store", NULL), read_only, store, error);
}

cJSON *kf_store_answer(const char *action, const kf_store *store) {
    cJSON *root = kf_json_answer("store");
    (void)cJSON_AddStringToObject(root, "action", action);
    (void)cJSON_AddStringToObject(root, "store", kf_store_path(store));
    return root;
}

/* Writes a time without an exponent; "-": it is not known. */
static const char *shown_time(double microseconds, char buffer[32]) {
    return isfinite(microseconds) ? kf_human_time_us(microseconds, buffer) : "-";
}

static const char *shown_number(double value, char buffer[32]) {
    if (!isfinite(value)) return "-";
    (void)snprintf(buffer, 32, value < 1e4 ? "%.4g" : "%.0f", value);
    return buffer;
}

/* --- List --------------------------------------------------------------------------------------------- */

/* Makes the JSON object of a stored run. The caller owns it. */
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
kf_status kf_store_list(const kf_arguments *arguments, kf_error *error) {
    kf_store *store = NULL;
    KF_TRY(kf_store_of_arguments(arguments, true, &store, error));
    kf_status status = KF_OK;
    if (kf_arguments_json(arguments)) {
        cJSON *root = kf_store_answer("list", store);
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

/* The data of one result that are shown. */
typedef struct kf_shown {
    int sequence, samples, metric_count;
    kf_state state;
    double time_us, low_us, high_us, updates_per_us, error;
    char role[48], hash[KF_HASH_HEX];
    double spread;          /* spread between two launches from equal inputs; NAN: there was only one */
    kf_user_value *metrics; /* owned */
    char *summary, *reason;
    cJSON *config; /* only with --json */
} kf_shown;

typedef struct kf_show {
    kf_shown *results;
    size_t count, capacity;
    bool json;
    char *usual_text; /* the default config, whose differences describe the others; NULL: not measured */
    kf_config usual;
    double best_us;
    kf_kernel_time *kernels; /* of the fastest result that has kernel times; owned */
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

/* Sorts by time. Results without a time follow in the order of measuring. */
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

/* Makes the JSON object of one result. The config moves into it. */
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
    cJSON *root = kf_store_answer("show", store);
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

/* Prints time, rate, registers and occupancy of each kernel of the fastest result. For a kernel with several
 * parts the time is that of the slowest part. */
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
        if (kernel->registers > 0) { /* kernels on a cpu have no register count */
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

/* Prints remarks on a correct config: that results differ between launches, and the user's metrics. */
static void print_remarks(const kf_shown *shown) {
    char number[32];
    if (shown->state == KF_STATE_OK && shown->spread > 0)
        printf("nondeterministic, spread %.2g; ", shown->spread);
    for (int i = 0; i < shown->metric_count; i++)
        printf("%s %s; ", shown->metrics[i].name, shown_number(shown->metrics[i].value, number));
}

/* Prints a run and at most `limit` of its results as a table, the fastest first. */
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

/* Shows a stored run with its results, sorted by time, as text or JSON. */
kf_status kf_store_show(const kf_arguments *arguments, kf_error *error) {
    long limit = SHOWN_RESULTS;
    KF_TRY(kf_argument_integer(arguments, "--limit", &limit, error));
    kf_store *store = NULL;
    KF_TRY(kf_store_of_arguments(arguments, true, &store, error));
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
