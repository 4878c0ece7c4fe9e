/* Exports a run as CSV and for github-action-benchmark. It also has the parts that all exports share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/clean.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/provenance.h"
#include "results/store_internal.h"

/* --- Parts that exports share --- */

kf_status kf_export_end(FILE *stream, kf_error *error) {
    return ferror(stream) ? kf_fail(error, KF_MACHINE, "the export cannot be written; make room on the disk")
                          : KF_OK;
}

kf_status kf_export_json(const cJSON *json, FILE *stream, kf_error *error) {
    char *text = kf_json_text(json, true);
    if (text == NULL) return kf_fail(error, KF_MACHINE, "out of memory while exporting");
    (void)fprintf(stream, "%s\n", text);
    cJSON_free(text);
    return kf_export_end(stream, error);
}

kf_status kf_store_export_file(kf_store *store, int64_t id, kf_export export, const char *file,
                               kf_error *error) {
    kf_text text = {0};
    FILE *stream = kf_text_stream(&text);
    if (stream == NULL) return kf_fail(error, KF_MACHINE, "%s: out of memory", file);
    kf_status status = export(store, id, stream, error);
    if (fclose(stream) != 0 && status == KF_OK)
        status = kf_fail(error, KF_MACHINE, "%s: out of memory", file);
    if (status == KF_OK)
        status = kf_file_write_atomic(file, text.length > 0 ? text.text : "", text.length, error);
    kf_text_free(&text);
    return status;
}

/* --- CSV (RFC 4180) ----------------------------------------------------------------------------------- */

/* The parameters of all configs of a run, sorted by name. */
typedef struct kf_parameter_columns {
    char (*names)[KF_NAME];
    int count;
} kf_parameter_columns;

typedef struct kf_csv {
    FILE *stream;
    int64_t run;
    kf_parameter_columns columns;
    char (*metrics)[KF_USER_METRIC_NAME]; /* in their order; owned */
    int metric_count;
} kf_csv;

static int compare_names(const void *left, const void *right) {
    return strcmp(left, right);
}

/* The metrics are those of the run, so every result in state ok has all of them. */
static void collect_metrics(kf_csv *csv, const kf_measurement *m) {
    if (csv->metric_count > 0 || m->user_value_count == 0) return;
    csv->metric_count = m->user_value_count;
    csv->metrics = kf_allocate((size_t)csv->metric_count * sizeof csv->metrics[0]);
    for (int i = 0; i < csv->metric_count; i++)
        kf_copy_text(csv->metrics[i], sizeof csv->metrics[i], m->user_values[i].name);
}

/* Adds a row's metrics and parameters to the columns, each name once, in alphabetical order. */
static kf_status collect_columns(void *context, const kf_result_row *row, kf_error *error) {
    (void)error;
    kf_csv *csv = context;
    kf_parameter_columns *columns = &csv->columns;
    collect_metrics(csv, &row->measurement);
    for (int i = 0; i < row->config.count; i++) {
        const char *name = row->config.values[i].parameter;
        if (columns->count > 0 && bsearch(name, columns->names, (size_t)columns->count,
                                          sizeof columns->names[0], compare_names) != NULL)
            continue;
        columns->names =
            kf_reallocate(columns->names, (size_t)(columns->count + 1) * sizeof columns->names[0]);
        kf_copy_text(columns->names[columns->count++], KF_NAME, name);
        qsort(columns->names, (size_t)columns->count, sizeof columns->names[0], compare_names);
    }
    return KF_OK;
}

/* An unknown number becomes an empty field. */
static void print_number(FILE *stream, double value) {
    (void)fputc(',', stream);
    if (isfinite(value)) (void)fprintf(stream, "%.9g", value);
}

static void print_value(FILE *stream, const kf_value *value) {
    (void)fputc(',', stream);
    if (value == NULL) return;
    if (value->kind == KF_VALUE_NAME)
        kf_csv_text(stream, value->name);
    else if (value->kind == KF_VALUE_BOOLEAN)
        (void)fputs(value->integer != 0 ? "true" : "false", stream);
    else
        (void)fprintf(stream, "%ld", value->integer);
}

/* Prints a result as a row of CSV. */
static kf_status print_row(void *context, const kf_result_row *row, kf_error *error) {
    const kf_csv *csv = context;
    FILE *stream = csv->stream;
    const kf_measurement *measurement = &row->measurement;
    const kf_summary *step = &measurement->step_us;
    (void)fprintf(stream, "%lld,%d,", (long long)csv->run, row->sequence);
    kf_csv_text(stream, row->role);
    (void)fprintf(stream, ",%s,", kf_state_names[measurement->state]);
    kf_csv_text(stream, measurement->reason);
    (void)fprintf(stream, ",%s", row->measured);
    const double numbers[] = {step->median, step->low,     step->high,   step->q1,
                              step->q3,     step->minimum, step->maximum};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        print_number(stream, numbers[i]);
    (void)fprintf(stream, ",%zu", measurement->sample_count);
    print_number(stream, 1e6 * measurement->updates_per_us);
    print_number(stream, measurement->effective_bandwidth);
    print_number(stream, measurement->energy_j > 0.0 ? measurement->energy_j : (double)NAN);
    print_number(stream, measurement->verification.error);
    print_number(stream, measurement->verification.bound);
    print_number(stream, measurement->verification.repeated ? measurement->verification.spread : (double)NAN);
    print_number(stream, measurement->compile_seconds);
    (void)fprintf(stream, ",%s,", row->config_hash);
    kf_csv_text(stream, row->config.system);
    for (int i = 0; i < csv->columns.count; i++)
        print_value(stream, kf_config_find(&row->config, csv->columns.names[i]));
    for (int i = 0; i < csv->metric_count; i++)
        print_number(stream, kf_measurement_quantity(measurement, csv->metrics[i]));
    (void)fputc('\n', stream);
    return kf_export_end(stream, error);
}

/* Exports a run as CSV, with a column for each parameter that any of its configs has. */
kf_status kf_store_export_csv(kf_store *store, int64_t run_id, FILE *stream, kf_error *error) {
    kf_csv csv = {.stream = stream, .run = run_id};
    kf_status status = kf_store_rows(store, run_id, false, collect_columns, &csv, error);
    if (status == KF_OK) {
        (void)fputs(
            "run,sequence,role,state,reason,measured,time_us,ci_low_us,ci_high_us,q1_us,q3_us,minimum_us,"
            "maximum_us,samples,updates_per_second,bandwidth,energy_j,verification_error,verification_bound,"
            "spread,compile_s,"
            "hash,system",
            stream);
        for (int i = 0; i < csv.columns.count; i++) {
            (void)fputc(',', stream);
            kf_csv_text(stream, csv.columns.names[i]);
        }
        for (int i = 0; i < csv.metric_count; i++) {
            (void)fputc(',', stream);
            kf_csv_text(stream, csv.metrics[i]);
        }
        (void)fputc('\n', stream);
        status = kf_store_rows(store, run_id, false, print_row, &csv, error);
    }
    free(csv.columns.names);
    free(csv.metrics);
    return status;
}

/* --- Github-action-benchmark --------------------------------------------------------------------------- */

/* The result that a run chose (the fastest one if that is not known), and the last result of each preset. */
typedef struct github_figures {
    cJSON *presets; /* role -> entry */
    cJSON *best;
    double best_us;
    bool best_is_final, best_is_chosen;
    const kf_run_summary *run;
    kf_provenance provenance;
} github_figures;

/* Makes an entry for github-action-benchmark from a result. */
static cJSON *figure(const github_figures *figures, const char *what, const kf_result_row *row) {
    const kf_run_summary *run = figures->run;
    const kf_summary *step = &row->measurement.step_us;
    cJSON *entry = cJSON_CreateObject();
    kf_text text = {0};
    char size[KF_FACTS_TEXT];
    kf_text_append(&text, "%s/%s/%s/%s/%s", run->system, run->scene, kf_facts_size_text(run->facts, size),
                   run->device, what);
    (void)cJSON_AddStringToObject(entry, "name", text.text);
    kf_text_free(&text);
    (void)cJSON_AddStringToObject(entry, "unit", "us");
    (void)cJSON_AddNumberToObject(entry, "value",
                                  kf_provenance_time(&figures->provenance, &row->measurement));
    kf_text_append(&text, "± %.4g", (step->high - step->low) / 2);
    (void)cJSON_AddStringToObject(entry, "range", text.text);
    kf_text_free(&text);
    char *summary = kf_config_summary(&row->config);
    kf_text_append(&text, "config=%s\nhash=%s\nrun=%s", summary, row->config_hash, run->uuid);
    free(summary);
    (void)cJSON_AddStringToObject(entry, "extra", text.text);
    kf_text_free(&text);
    return entry;
}

/* Collects the entries of a run: the last result of each preset, and the best. Results of the final are the
 * most precise, so they decide if there are any. The run's choice has priority over all. */
static kf_status collect_figure(void *context, const kf_result_row *row, kf_error *error) {
    (void)error;
    github_figures *figures = context;
    if (row->measurement.state != KF_STATE_OK) return KF_OK;
    if (strncmp(row->role, "preset:", 7) == 0) {
        cJSON_DeleteItemFromObjectCaseSensitive(figures->presets, row->role);
        (void)cJSON_AddItemToObject(figures->presets, row->role, figure(figures, row->role + 7, row));
    }
    /* Results of the final are the most precise, so they decide if there are any. */
    bool final = strcmp(row->role, "final") == 0;
    double time = kf_provenance_time(&figures->provenance, &row->measurement);
    bool better = final != figures->best_is_final ? final : time < figures->best_us;
    if (figures->best_is_chosen ||
        (figures->best != NULL && !better && row->sequence != figures->run->winner))
        return KF_OK;
    figures->best_is_chosen = row->sequence == figures->run->winner;
    cJSON_Delete(figures->best);
    figures->best = figure(figures, "best", row);
    figures->best_us = time;
    figures->best_is_final = final;
    return KF_OK;
}

/* Exports a run for github-action-benchmark: its best and every preset. */
kf_status kf_store_export_github(kf_store *store, int64_t run_id, FILE *stream, kf_error *error) {
    kf_run_summary run;
    KF_TRY(kf_store_run_of(store, run_id, &run, error));
    github_figures figures = {.run = &run};
    KF_TRY(kf_provenance_read(store, run_id, &figures.provenance, error));
    figures.presets = cJSON_CreateObject();
    kf_status status = kf_store_rows(store, run_id, false, collect_figure, &figures, error);
    cJSON *list = cJSON_CreateArray();
    if (figures.best != NULL) (void)cJSON_AddItemToArray(list, figures.best);
    while (figures.presets->child != NULL)
        (void)cJSON_AddItemToArray(list, cJSON_DetachItemViaPointer(figures.presets, figures.presets->child));
    cJSON_Delete(figures.presets);
    kf_provenance_release(&figures.provenance);
    if (status == KF_OK) status = kf_export_json(list, stream, error);
    cJSON_Delete(list);
    return status;
}
