/* The command kftune predict ranks configs by the cost model without running them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/device_json.h"
#include "base/statistics/statistics.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/random.h"
#include "base/util/text.h"
#include "cost_model/model.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/predict_learned.h"
#include "harness/cli/problem_argument.h"
#include "harness/replay/landscape.h"
#include "harness/search/forecast.h"
#include "harness/search/strategy.h"
#include "harness/worker/worker.h"
#include "results/store.h"
#include "solver/systems.h"

static const kf_option options[] = {
    KF_PROBLEM_OPTION,
    KF_SYSTEM_OPTION,
    {"--device", "cuda:N|cpu", "device to predict for (default: the landscape's, else the best there is)",
     KF_TEXT},
    {"--bandwidth", "GB/s", "predict for a GPU that copies memory at this rate", KF_DECIMAL(0.1, 1e6)},
    KF_GRID_OPTIONS,
    KF_FIX_OPTION,
    {"--store", "FILE",
     "store of measurements to compare with, and of the roofs (default: kftune.db in $XDG_DATA_HOME/kftune, "
     "if there is one)",
     KF_TEXT},
    {"--landscape", "FILE",
     "an exported landscape to compare with, or to learn from; without --scene its scene is used", KF_TEXT},
    {"--top", "N", "configs to show (default: 10)", KF_WHOLE(1, 1000)},
    {"--first", "N", "without a cost model: how many measured configs to learn from (default: 50)",
     KF_WHOLE(2, KF_FORECAST_MOST)},
    KF_PLACEMENT_OPTIONS,
    KF_ACCURACY_OPTION,
    {NULL, NULL, NULL, KF_FLAG},
};

enum { MOST_SCANNED = 200000 };

/* A config with its predicted time, and its measured time if there is one. */
typedef struct kf_predicted {
    kf_config config;
    char hash[KF_HASH_HEX]; /* the config's hash; "": it is not computed for configs that are only ranked */
    kf_prediction prediction;
    double measured_us; /* NAN: not measured, or the result was wrong */
    int place; /* place of its prediction among those of all measured configs, from 1; 0: not ranked */
} kf_predicted;

typedef struct kf_rows {
    kf_predicted *list;
    size_t count, capacity;
} kf_rows;

typedef struct kf_predict {
    const kf_arguments *arguments;
    kf_problem *problem; /* NULL: the landscape's scene cannot be opened by its name */
    kf_device_info device;
    kf_store *store;         /* NULL: no --store was given, and the usual store does not exist */
    kf_landscape *landscape; /* NULL: none given */
    kf_cost_model *model;
    kf_rows measured, ranked;
    size_t space_size, scanned;
    kf_config usual; /* the config of preset default */
    kf_calibration calibration;
} kf_predict;

static kf_status add_row(kf_predict *predict, kf_rows *rows, const kf_config *config, double measured_us,
                         kf_error *error) {
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity == 0 ? 256 : 2 * rows->capacity;
        rows->list = kf_reallocate(rows->list, rows->capacity * sizeof *rows->list);
    }
    kf_predicted *row = &rows->list[rows->count];
    row->config = *config;
    row->hash[0] = '\0';
    if (isfinite(measured_us)) kf_config_hash(config, row->hash);
    row->measured_us = measured_us;
    row->place = 0;
    if (predict->model != NULL)
        KF_TRY(kf_cost_model_predict(predict->model, config, NULL, &row->prediction, error));
    rows->count++;
    return KF_OK;
}

/* --- Measured times ------------------------------------------------------------------------------------- */

static double time_of(const kf_measurement *m) {
    if (m->state == KF_STATE_OK) return m->step_us.median;
    return m->state == KF_STATE_SKIPPED && m->sample_count > 0 ? kf_median(m->samples_us, m->sample_count)
                                                               : NAN;
}

static kf_status take_result(void *context, int sequence, const char *role, const kf_config *config,
                             const kf_measurement *m, kf_error *error) {
    (void)sequence, (void)role;
    kf_predict *predict = context;
    double time = time_of(m);
    if (!isfinite(time) || strcmp(config->system, predict->problem->system->name) != 0) return KF_OK;
    char hash[KF_HASH_HEX];
    kf_config_hash(config, hash);
    for (size_t i = 0; i < predict->measured.count; i++) {
        kf_predicted *row = &predict->measured.list[i];
        if (strcmp(row->hash, hash) != 0) continue;
        if (m->state == KF_STATE_OK) row->measured_us = time;
        return KF_OK;
    }
    return add_row(predict, &predict->measured, config, time, error);
}

typedef struct kf_same_scene_runs {
    const kf_predict *predict;
    int64_t ids[256];
    int count;
} kf_same_scene_runs;

static void note_alike(void *context, const kf_run_summary *run) {
    kf_same_scene_runs *alike = context;
    if (alike->count < 256 && strcmp(run->scene_hash, alike->predict->problem->hash) == 0 &&
        strcmp(run->device, alike->predict->device.name) == 0 &&
        strcmp(run->system, alike->predict->problem->system->name) == 0)
        alike->ids[alike->count++] = run->id;
}

static kf_status read_store(kf_predict *predict, kf_error *error) {
    kf_same_scene_runs alike = {.predict = predict, .count = 0};
    KF_TRY(kf_store_runs(predict->store, note_alike, &alike, error));
    for (int i = alike.count - 1; i >= 0; i--)
        KF_TRY(kf_store_results(predict->store, alike.ids[i], take_result, predict, error));
    return KF_OK;
}

static kf_status read_landscape(kf_predict *predict, kf_error *error) {
    const kf_landscape *landscape = predict->landscape;
    for (uint64_t i = 0; i < landscape->size;
         i++) { /* The order is random, because learning uses the first ones. */
        const uint64_t index = kf_shuffled(landscape->size, 1, i);
        kf_config config;
        kf_space_config(landscape->space, index, &config);
        if (landscape->states[index] == KF_STATE_OK &&
            add_row(predict, &predict->measured, &config, landscape->times_us[index], error) != KF_OK)
            return kf_fail_context(error, "%s", landscape->name);
    }
    return KF_OK;
}

/* --- The ranking ---------------------------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right) {
    const kf_predicted *a = left, *b = right;
    return (a->prediction.time_us > b->prediction.time_us) - (a->prediction.time_us < b->prediction.time_us);
}

/* Ranks a space. A large space is sampled, because the best of a large sample is close to the best of all.
 * Only the first `top` configs are kept. */
static kf_status rank_space(kf_predict *predict, const kf_space *space, size_t top, kf_error *error) {
    uint64_t size = kf_space_size(space), scanned = size < MOST_SCANNED ? size : MOST_SCANNED;
    predict->space_size = size;
    predict->scanned = scanned;
    kf_rows *ranked = &predict->ranked;
    for (uint64_t i = 0; i < scanned; i++) {
        kf_config config;
        kf_space_config(space, size <= MOST_SCANNED ? i : kf_shuffled(size, 1, i), &config);
        KF_TRY(add_row(predict, ranked, &config, NAN, error));
        if (ranked->count < 4 * top + 256) continue;
        qsort(ranked->list, ranked->count, sizeof *ranked->list, compare_rows);
        ranked->count = top;
    }
    qsort(ranked->list, ranked->count, sizeof *ranked->list, compare_rows);
    if (ranked->count > top) ranked->count = top;
    return KF_OK;
}

static kf_status rank(kf_predict *predict, size_t top, kf_error *error) {
    const char *const *fixed = NULL;
    int fixed_count = kf_argument_all(predict->arguments, "--fix", &fixed);
    kf_space *space = NULL;
    KF_TRY(kf_problem_space(predict->problem, &predict->device, fixed, fixed_count, &space, error));
    kf_status status = kf_space_preset(space, "default", &predict->usual, error);
    if (status == KF_OK) status = rank_space(predict, space, top, error);
    kf_space_free(space);
    return status;
}

/* --- Agreement ------------------------------------------------------------------------------------------ */

typedef struct kf_agreement {
    size_t count;
    double correlation, calibrated; /* rank correlation before and after calibration on all measurements */
    double median_error;            /* |predicted / measured - 1| after calibration */
} kf_agreement;

static int compare_measured(const void *left, const void *right) {
    const kf_predicted *a = left, *b = right;
    return (a->measured_us > b->measured_us) - (a->measured_us < b->measured_us);
}

/* Sorts the measured configs by time, the fastest first, and notes each one's place in the prediction. */
static void place_measured(kf_rows *rows) {
    if (rows->count == 0) return;
    qsort(rows->list, rows->count, sizeof *rows->list, compare_rows);
    for (size_t i = 0; i < rows->count; i++) {
        const bool tie = i > 0 && compare_rows(&rows->list[i - 1], &rows->list[i]) == 0;
        rows->list[i].place = tie ? rows->list[i - 1].place : (int)i + 1;
    }
    qsort(rows->list, rows->count, sizeof *rows->list, compare_measured);
}

/* Compares predictions with measured times: the rank correlation before and after calibration, and the median
 * relative error after it. The calibration is fitted to the same measurements. */
static kf_agreement agree(kf_predict *predict, kf_error *error) {
    const kf_rows *rows = &predict->measured;
    size_t count = rows->count;
    kf_agreement agreement = {.count = count, .correlation = NAN, .calibrated = NAN, .median_error = NAN};
    if (count < 2) return agreement;
    kf_prediction *predictions = kf_allocate(count * sizeof *predictions);
    double *measured = kf_allocate(count * sizeof *measured), *before = kf_allocate(count * sizeof *before),
           *after = kf_allocate(count * sizeof *after), *errors = kf_allocate(count * sizeof *errors);
    for (size_t i = 0; i < count; i++) {
        predictions[i] = rows->list[i].prediction;
        measured[i] = rows->list[i].measured_us;
        before[i] = predictions[i].time_us;
    }
    kf_cost_calibrate(predictions, measured, count, &predict->calibration);
    for (size_t i = 0; i < count; i++) {
        kf_prediction again;
        (void)kf_cost_model_predict(predict->model, &rows->list[i].config, &predict->calibration, &again,
                                    error);
        after[i] = again.time_us;
        errors[i] = fabs(after[i] / measured[i] - 1);
    }
    agreement.correlation = kf_rank_correlation(before, measured, count);
    agreement.calibrated = kf_rank_correlation(after, measured, count);
    qsort(errors, count, sizeof *errors, kf_ascending);
    agreement.median_error = errors[count / 2];
    free(predictions);
    free(measured);
    free(before);
    free(after);
    free(errors);
    return agreement;
}

/* --- Output --------------------------------------------------------------------------------------------- */

static double find_measured(const kf_predict *predict, const kf_config *config) {
    char hash[KF_HASH_HEX];
    kf_config_hash(config, hash);
    for (size_t i = 0; i < predict->measured.count; i++)
        if (strcmp(predict->measured.list[i].hash, hash) == 0) return predict->measured.list[i].measured_us;
    return NAN;
}

static void print_row(const kf_predict *predict, const kf_predicted *row, double measured_us) {
    char predicted[32], measured[32] = "-", why[256];
    char *summary = kf_config_relative(&row->config, &predict->usual, "default");
    if (isfinite(measured_us)) (void)kf_human_time_us(measured_us, measured);
    printf("%10s %10s  ", kf_human_time_us(row->prediction.time_us, predicted), measured);
    if (row->place > 0) printf("place %d; ", row->place);
    printf("%s\n%23s%s\n", kf_cost_explain(&row->prediction, why, sizeof why), "", summary);
    free(summary);
}

/* Prints the ranking, the fastest measured configs with their places in it, and how well the two agree. */
static void print_table(const kf_predict *predict, const kf_agreement *agreement, long top) {
    const kf_ceilings *ceilings = kf_cost_model_ceilings(predict->model);
    char facts[KF_FACTS_TEXT];
    printf("%s, %s, on %s: copies %.0f GB/s (%s)\n", predict->problem->name,
           kf_facts_text(&predict->problem->facts, facts), predict->device.name,
           1e-9 * ceilings->rate[KF_COST_DRAM],
           ceilings->measured ? "measured" : "estimated; `kftune roofs` measures it");
    printf("\n%zu of %zu configs predicted; the first:\n\n%10s %10s\n", predict->scanned, predict->space_size,
           "predicted", "measured");
    for (size_t i = 0; i < predict->ranked.count; i++)
        print_row(predict, &predict->ranked.list[i], find_measured(predict, &predict->ranked.list[i].config));
    if (agreement->count == 0) return;
    printf("\n%zu configs were measured; the fastest, and their places in the prediction:\n\n%10s %10s\n",
           agreement->count, "predicted", "measured");
    for (size_t i = 0; i < agreement->count && i < (size_t)top; i++)
        print_row(predict, &predict->measured.list[i], predict->measured.list[i].measured_us);
    if (agreement->count < 2) return;
    printf("\nrank correlation %.3f, the fastest has place %d of the prediction\n", agreement->correlation,
           predict->measured.list[0].place);
    printf("calibrated on them: rank correlation %.3f, median error %.0f %%; factors", agreement->calibrated,
           100 * agreement->median_error);
    for (int r = 0; r < KF_RESOURCES; r++)
        printf("%s %s %.2f", r > 0 ? "," : "", kf_resource_names[r], predict->calibration.factor[r]);
    printf("\n");
}

static cJSON *row_json(const kf_predict *predict, const kf_predicted *row) {
    char why[256];
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddItemToObject(json, "config", kf_config_to_json(&row->config));
    (void)cJSON_AddNumberToObject(json, "predicted_us", row->prediction.time_us);
    kf_json_add_number(json, "measured_us", find_measured(predict, &row->config));
    if (row->place > 0) (void)cJSON_AddNumberToObject(json, "predicted_place", row->place);
    (void)cJSON_AddStringToObject(json, "limit", kf_cost_explain(&row->prediction, why, sizeof why));
    return json;
}

/* Prints the ranking and how well it agrees with the measurements, as one JSON object. */
static void print_json(const kf_predict *predict, const kf_agreement *agreement, long top) {
    cJSON *json = kf_json_answer("predict");
    (void)cJSON_AddItemToObject(json, "device", kf_device_to_json(&predict->device));
    (void)cJSON_AddStringToObject(json, "scene", predict->problem->name);
    (void)cJSON_AddNumberToObject(json, "configs", (double)predict->space_size);
    cJSON *list = cJSON_AddArrayToObject(json, "ranking");
    for (size_t i = 0; i < predict->ranked.count; i++)
        (void)cJSON_AddItemToArray(list, row_json(predict, &predict->ranked.list[i]));
    (void)cJSON_AddNumberToObject(json, "measured", (double)agreement->count);
    list = cJSON_AddArrayToObject(json, "fastest");
    for (size_t i = 0; i < agreement->count && i < (size_t)top; i++)
        (void)cJSON_AddItemToArray(list, row_json(predict, &predict->measured.list[i]));
    kf_json_add_number(json, "rank_correlation", agreement->correlation);
    kf_json_add_number(json, "rank_correlation_calibrated", agreement->calibrated);
    kf_json_add_number(json, "median_error_calibrated", agreement->median_error);
    kf_json_add_number(json, "best_measured_place",
                       agreement->count > 1 ? (double)predict->measured.list[0].place : (double)NAN);
    cJSON *factors = cJSON_AddObjectToObject(json, "calibration");
    for (int r = 0; r < KF_RESOURCES; r++)
        (void)cJSON_AddNumberToObject(factors, kf_resource_names[r], predict->calibration.factor[r]);
    kf_json_print(json);
}

/* --- The command ---------------------------------------------------------------------------------------- */

/* Chooses the device to predict for: an existing one, the one on which a landscape was measured, or a GPU
 * with the bandwidth that the user gave. */
static kf_status find_device(kf_predict *predict, kf_error *error) {
    double bandwidth = 0;
    KF_TRY(kf_argument_number(predict->arguments, "--bandwidth", &bandwidth, error));
    const char *spec = kf_argument(predict->arguments, "--device", NULL);
    const kf_landscape *landscape = predict->landscape;
    const bool foreign = landscape != NULL && spec == NULL && strcmp(landscape->backend, "cuda") == 0;
    if (bandwidth > 0 && spec != NULL)
        return kf_fail(error, KF_BAD_INPUT, "predict: give --device or --bandwidth, not both");
    if (bandwidth == 0 && !foreign) return kf_device_probe(spec, &predict->device, error);
    /* The device is not on this machine, so a large GPU's values serve in the constraints of the space. */
    predict->device = (kf_device_info){.backend = "cuda",
                                       .spec = "cuda",
                                       .name = "a GPU",
                                       .multiprocessors = 132,
                                       .warp_size = 32,
                                       .max_threads_per_block = 1024,
                                       .memory_bytes = (uint64_t)128 << 30};
    if (foreign) {
        kf_copy_text(predict->device.name, sizeof predict->device.name, landscape->device);
        predict->device.peak_bandwidth = landscape->peak_bandwidth;
        predict->device.l2_bytes = landscape->l2_bytes;
    }
    return KF_OK;
}

static void open_model(kf_predict *predict) {
    kf_roofs roofs = {.count = 0};
    double bandwidth = 0;
    if (predict->store != NULL && predict->device.identity[0] != '\0' &&
        kf_store_roofs(predict->store, predict->device.identity, &roofs, NULL) != KF_OK)
        roofs.count = 0; /* Without measured roofs those of the data sheet serve. */
    if (kf_argument_number(predict->arguments, "--bandwidth", &bandwidth, NULL) == KF_OK && bandwidth > 0)
        roofs = (kf_roofs){.count = 1, .list = {{.name = "dram_copy", .unit = "GB/s", .value = bandwidth}}};
    kf_cost_model_open(predict->problem, &predict->device, roofs.count > 0 ? &roofs : NULL, &predict->model);
}

/* Predicts from measured configs if there is no cost model. The space then consists of the landscape's
 * configs, as in replay. */
static kf_status learn_from_measured(kf_predict *predict, int top, kf_error *error) {
    const char *const *fixed = NULL;
    int fixed_count = kf_argument_all(predict->arguments, "--fix", &fixed);
    long first = 50;
    kf_space *opened = NULL;
    KF_TRY(kf_argument_integer(predict->arguments, "--first", &first, error));
    if (predict->landscape == NULL)
        KF_TRY(kf_problem_space(predict->problem, &predict->device, fixed, fixed_count, &opened, error));
    const kf_space *space = opened != NULL ? opened : predict->landscape->space;
    uint64_t *indices = kf_allocate((predict->measured.count + 1) * sizeof *indices);
    double *times = kf_allocate((predict->measured.count + 1) * sizeof *times);
    size_t count = 0;
    for (size_t i = 0; i < predict->measured.count; i++) {
        if (!kf_space_index(space, &predict->measured.list[i].config, &indices[count], NULL, 0)) continue;
        times[count++] = predict->measured.list[i].measured_us;
    }
    const kf_learned_request request = {.problem = predict->problem != NULL ? predict->problem->name
                                                                            : predict->landscape->name,
                                        .device = &predict->device,
                                        .space = space,
                                        .indices = indices,
                                        .times_us = times,
                                        .count = count,
                                        .first = (int)first,
                                        .top = top,
                                        .json = kf_arguments_json(predict->arguments)};
    const kf_status status = kf_predict_learned(&request, error);
    free(indices);
    free(times);
    kf_space_free(opened);
    return status;
}

/* Opens the store that --store names, otherwise the usual one if it exists. */
static kf_status open_store(kf_predict *predict, kf_error *error) {
    const char *given = kf_argument(predict->arguments, "--store", NULL);
    kf_error missing;
    const kf_status status = kf_store_open(given, true, &predict->store, given != NULL ? error : &missing);
    return given != NULL ? status : KF_OK;
}

/* Predicts for the problem: reads the measurements, ranks the space by the cost model, and prints the ranking
 * and the agreement. Without a cost model it learns from the measurements. */
static kf_status predict_problem(kf_predict *predict, kf_error *error) {
    long top = 10;
    KF_TRY(kf_argument_integer(predict->arguments, "--top", &top, error));
    KF_TRY(find_device(predict, error));
    KF_TRY(open_store(predict, error));
    open_model(predict);
    const bool asked = predict->landscape == NULL || kf_argument_given(predict->arguments, "--store");
    if (predict->store != NULL && asked) KF_TRY(read_store(predict, error));
    if (predict->landscape != NULL) KF_TRY(read_landscape(predict, error));
    if (predict->model == NULL) return learn_from_measured(predict, (int)top, error);
    place_measured(&predict->measured);
    KF_TRY(rank(predict, (size_t)top, error));
    kf_calibration_begin(&predict->calibration);
    kf_agreement agreement = agree(predict, error);
    if (kf_arguments_json(predict->arguments))
        print_json(predict, &agreement, top);
    else
        print_table(predict, &agreement, top);
    return KF_OK;
}

/* Returns whether a landscape is of a user's kernel. It then contains all that learning needs. */
static bool has_own_space_only(const kf_predict *predict) {
    const kf_landscape *landscape = predict->landscape;
    const kf_system *system = NULL;
    kf_config config;
    if (landscape == NULL || kf_argument_given(predict->arguments, "--scene")) return false;
    kf_space_config(landscape->space, landscape->optimum, &config);
    return landscape->scene[0] == '\0' || kf_system_find(config.system, &system, NULL) != KF_OK ||
           system->space_file == NULL;
}

static kf_status predict_landscape(kf_predict *predict, kf_error *error) {
    const kf_landscape *landscape = predict->landscape;
    long top = 10;
    KF_TRY(kf_argument_integer(predict->arguments, "--top", &top, error));
    kf_copy_text(predict->device.name, sizeof predict->device.name,
                 landscape->device[0] != '\0' ? landscape->device : "an unknown device");
    kf_copy_text(predict->device.backend, sizeof predict->device.backend,
                 landscape->backend[0] != '\0' ? landscape->backend : "unknown");
    KF_TRY(read_landscape(predict, error));
    return learn_from_measured(predict, (int)top, error);
}

extern const kf_command kf_command_predict;

/* Opens the scene that --scene names, or the landscape's scene with the same system and samples. */
static kf_status open_problem(kf_predict *predict, kf_error *error) {
    const kf_landscape *landscape = predict->landscape;
    kf_problem_options known = {.seed = 0};
    const char *source = NULL, *system = NULL;
    kf_config config;
    if (landscape != NULL && !kf_argument_given(predict->arguments, "--scene")) {
        kf_space_config(landscape->space, landscape->optimum, &config);
        source = landscape->scene;
        system = config.system;
        known = landscape->options;
    }
    return kf_argument_problem(predict->arguments, &kf_command_predict, source, system, &known,
                               &predict->problem, error);
}

static kf_status run(const kf_arguments *arguments, kf_error *error) {
    kf_predict predict = {.arguments = arguments};
    const char *landscape = kf_argument(arguments, "--landscape", NULL);
    if (landscape != NULL) KF_TRY(kf_landscape_open(landscape, &predict.landscape, error));
    const bool own = has_own_space_only(&predict);
    kf_status status = own ? predict_landscape(&predict, error) : open_problem(&predict, error);
    if (status == KF_OK && !own) status = predict_problem(&predict, error);
    kf_cost_model_close(predict.model);
    kf_store_close(predict.store);
    kf_landscape_free(predict.landscape);
    free(predict.measured.list);
    free(predict.ranked.list);
    kf_problem_free(predict.problem);
    return status;
}

const kf_command kf_command_predict = {
    .name = "predict",
    .summary = "rank configs by the cost model, without running them",
    .synopsis =
        "kftune predict --scene FILE|NAME [options]\n       kftune predict --landscape FILE [options]",
    .description =
        "Predicts the time of every config from its plan's work (bytes, sectors, atomics, launches) and the\n"
        "device's roofs, and names what limits each. If the store or a --landscape has measurements of this\n"
        "scene and device, it also prints the rank correlation with them, before and after calibration. A\n"
        "system without a cost model (t1), or a landscape of another program, needs measurements: a model\n"
        "learns from the first of them and predicts the others.",
    .example = "kftune predict --scene ahmed --bandwidth 4242",
    .options = options,
    .run = run,
};
