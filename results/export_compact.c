/* Exports a compact landscape (docs/search.md): the data for replay, a line for each config, from all runs of
 * one scene, system and device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "results/landscape_file.h"
#include "results/provenance.h"
#include "results/store_internal.h"

typedef struct kf_compact_row {
    char hash[KF_HASH_HEX];
    char preset[KF_NAME]; /* "": none */
    kf_config config;
    kf_state state;
    double time_us, seconds;
} kf_compact_row;

typedef struct kf_compact_rows {
    const kf_provenance *provenance; /* of the run whose results are collected */
    kf_compact_row *rows;
    size_t count, capacity;
} kf_compact_rows;

/* Runs have some thousand results, in which a config occurs at most about twice. */
static kf_compact_row *find_row(kf_compact_rows *rows, const char *hash) {
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->rows[i].hash, hash) == 0) return &rows->rows[i];
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity == 0 ? 256 : 2 * rows->capacity;
        rows->rows = kf_reallocate(rows->rows, rows->capacity * sizeof *rows->rows);
    }
    kf_compact_row *row = &rows->rows[rows->count++];
    memset(row, 0, sizeof *row);
    kf_copy_text(row->hash, sizeof row->hash, hash);
    return row;
}

/* Returns a config's time. A skipped config has only its first samples, which are precise enough for a config
 * far from the best. */
static double time_of(const kf_provenance *provenance, const kf_measurement *m) {
    if (m->state == KF_STATE_OK) return kf_provenance_time(provenance, m);
    return m->state == KF_STATE_SKIPPED && m->sample_count > 0 ? kf_median(m->samples_us, m->sample_count)
                                                               : NAN;
}

static kf_status collect(void *context, const kf_result_row *from, kf_error *error) {
    (void)error;
    kf_compact_rows *rows = context;
    const kf_measurement *m = &from->measurement;
    kf_compact_row *row = find_row(rows, from->config_hash);
    bool known = row->state == KF_STATE_OK && isfinite(row->time_us) && row->config.count > 0;
    if (strncmp(from->role, "preset:", 7) == 0) kf_copy_text(row->preset, sizeof row->preset, from->role + 7);
    if (known && m->state == KF_STATE_SKIPPED) return KF_OK; /* it was measured in full before */
    row->config = from->config;
    row->state = m->state;
    row->time_us = time_of(rows->provenance, m);
    if (strcmp(from->role, "final") != 0) row->seconds = kf_landscape_seconds(m);
    return KF_OK;
}

/* --- Writing ------------------------------------------------------------------------------------------ */

static cJSON *value_json(const kf_value *value) {
    if (value->kind == KF_VALUE_NAME) return cJSON_CreateString(value->name);
    if (value->kind == KF_VALUE_BOOLEAN) return cJSON_CreateBool(value->integer != 0);
    return cJSON_CreateNumber((double)value->integer);
}

static bool same_value(const cJSON *json, const kf_value *value) {
    if (value->kind == KF_VALUE_NAME)
        return cJSON_IsString(json) && strcmp(json->valuestring, value->name) == 0;
    if (value->kind == KF_VALUE_BOOLEAN)
        return cJSON_IsBool(json) && cJSON_IsTrue(json) == (int)value->integer;
    return cJSON_IsNumber(json) && json->valuedouble == (double)value->integer;
}

/* Returns the position of the value in its domain. A new value is appended to the domain. */
static int position_of(cJSON *domains, const kf_value *value) {
    cJSON *domain = cJSON_GetObjectItemCaseSensitive(domains, value->parameter), *known;
    if (domain == NULL) domain = cJSON_AddArrayToObject(domains, value->parameter);
    int position = 0;
    cJSON_ArrayForEach(known, domain) {
        if (same_value(known, value)) return position;
        position++;
    }
    (void)cJSON_AddItemToArray(domain, value_json(value));
    return position;
}

static kf_status check_alike(const kf_compact_rows *rows, kf_error *error) {
    for (size_t i = 1; i < rows->count; i++)
        for (int p = 0; p < KF_CONFIG_VALUES; p++)
            if (rows->rows[i].config.count != rows->rows[0].config.count ||
                strcmp(rows->rows[i].config.values[p].parameter, rows->rows[0].config.values[p].parameter) !=
                    0)
                return kf_fail(error, KF_BAD_INPUT,
                               "the configs of this scene's runs have different parameters; a landscape has "
                               "the same in all");
    return KF_OK;
}

static const kf_value *value_of(const kf_config *config, const char *parameter) {
    int p = 0;
    while (strcmp(config->values[p].parameter, parameter) != 0)
        p++;
    return &config->values[p];
}

/* Prints positions in the order of the domains, which is that of the file's parameters. */
static void print_rows(const kf_compact_rows *rows, cJSON *domains, FILE *stream) {
    const cJSON *domain;
    for (size_t i = 0; i < rows->count; i++) {
        const kf_compact_row *row = &rows->rows[i];
        (void)fputs(i == 0 ? "\n[" : ",\n[", stream);
        cJSON_ArrayForEach(domain, domains) {
            const kf_value *value = value_of(&row->config, domain->string);
            (void)fprintf(stream, "%d,", position_of(domains, value));
        }
        if (isfinite(row->time_us))
            (void)fprintf(stream, "%.9g,",
                          (double)(float)row->time_us); /* with the precision of stored samples */
        else
            (void)fprintf(stream, "\"%s\",", kf_state_names[row->state]);
        if (isfinite(row->seconds))
            (void)fprintf(stream, "%.3g", row->seconds);
        else
            (void)fputs("null", stream);
        (void)fputs(row->state == KF_STATE_SKIPPED && isfinite(row->time_us) ? ",\"skipped\"]" : "]", stream);
    }
}

/* The origin of a landscape, which the summary of a run does not contain. */
typedef struct kf_compact_origin {
    char backend[16];
    double peak_bandwidth;
    int64_t l2_bytes;
} kf_compact_origin;

/* Finds a run's backend and the sizes of its device. */
static kf_status find_origin(kf_store *store, int64_t run_id, kf_compact_origin *origin, kf_error *error) {
    static const char *const sql = "SELECT environment.backend, environment.peak_bandwidth, "
                                   "environment.l2_bytes FROM run JOIN environment ON "
                                   "environment.id = run.environment WHERE run.id = ?";
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(store, sql, &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_integer(&binder, run_id);
    bool found = false;
    kf_status status = kf_store_step(store, statement, "reading a run", &found, error);
    if (status == KF_OK && found) {
        kf_reader reader = {statement, 0};
        kf_read_text(&reader, origin->backend, sizeof origin->backend);
        origin->peak_bandwidth = kf_read_number(&reader);
        origin->l2_bytes = kf_read_integer(&reader);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

static cJSON *head(const kf_run_summary *run, const kf_compact_origin *origin, const kf_compact_rows *rows,
                   cJSON *domains) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(json, "kftune_landscape", 1);
    (void)cJSON_AddStringToObject(json, "kftune", KF_VERSION);
    (void)cJSON_AddStringToObject(json, "system", run->system);
    cJSON *scene = cJSON_AddObjectToObject(json, "scene"), *device = cJSON_AddObjectToObject(json, "device");
    (void)cJSON_AddStringToObject(scene, "name", run->scene);
    (void)cJSON_AddItemToObject(scene, "facts", kf_facts_to_json(run->facts));
    (void)cJSON_AddItemToObject(scene, "units", kf_facts_units(run->facts));
    static const double exact_integers = 9007199254740992.0; /* 2^53 */
    if ((double)run->seed <= exact_integers) (void)cJSON_AddNumberToObject(scene, "seed", (double)run->seed);
    (void)cJSON_AddStringToObject(device, "name", run->device);
    (void)cJSON_AddStringToObject(device, "backend", origin->backend);
    (void)cJSON_AddNumberToObject(device, "peak_bandwidth", origin->peak_bandwidth);
    (void)cJSON_AddNumberToObject(device, "l2_bytes", (double)origin->l2_bytes);
    (void)cJSON_AddStringToObject(json, "run", run->uuid);
    cJSON *presets = cJSON_AddObjectToObject(json, "presets");
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].preset[0] != '\0')
            (void)cJSON_AddNumberToObject(presets, rows->rows[i].preset, (double)i);
    (void)cJSON_AddItemReferenceToObject(json, "parameters", domains);
    return json;
}

static kf_status print_landscape(const kf_run_summary *run, const kf_compact_origin *origin,
                                 const kf_provenance *provenance, const kf_compact_rows *rows, FILE *stream,
                                 kf_error *error) {
    cJSON *domains = cJSON_CreateObject();
    for (size_t i = 0; i < rows->count; i++)
        for (int p = 0; p < rows->rows[i].config.count; p++)
            (void)position_of(domains, &rows->rows[i].config.values[p]);
    kf_provenance_order(provenance, domains);
    cJSON *json = head(run, origin, rows, domains);
    char *text = kf_json_text(json, false);
    cJSON_Delete(json);
    if (text != NULL) {
        (void)fprintf(stream, "%.*s,\n\"results\":[", (int)strlen(text) - 1, text); /* the brace stays open */
        print_rows(rows, domains, stream);
        (void)fputs("]}\n", stream);
    }
    cJSON_Delete(domains);
    if (text == NULL) return kf_fail(error, KF_MACHINE, "out of memory while exporting");
    cJSON_free(text);
    return kf_export_end(stream, error);
}

/* Runs that measured the same space: one may have results that another lacks. */
typedef struct kf_alike {
    const kf_run_summary *run;
    int64_t *ids;
    int count;
} kf_alike;

static void note_alike(void *context, const kf_run_summary *run) {
    kf_alike *alike = context;
    if (strcmp(run->scene_hash, alike->run->scene_hash) != 0 ||
        strcmp(run->system, alike->run->system) != 0 || strcmp(run->device, alike->run->device) != 0)
        return;
    alike->ids = kf_reallocate(alike->ids, (size_t)(alike->count + 1) * sizeof *alike->ids);
    alike->ids[alike->count++] = run->id;
}

/* Reads the identity of a run's device, and the time of the preset that every run measures; NAN: it was not
 * measured. */
static kf_status read_anchor(kf_store *store, int64_t run, char identity[64], double *time_us,
                             kf_error *error) {
    static const char *const sql = "SELECT e.identity, (SELECT avg(t.step_us) FROM result t WHERE t.run = "
                                   "r.id AND t.role = 'preset:default') "
                                   "FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = ?";
    sqlite3_stmt *statement = NULL;
    bool found = false;
    KF_TRY(kf_store_prepare(store, sql, &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_integer(&binder, run);
    const kf_status status = kf_store_step(store, statement, "reading a run's device", &found, error);
    kf_reader reader = {statement, 0};
    if (status == KF_OK && found) {
        kf_read_text(&reader, identity, 64);
        *time_us = kf_read_number(&reader);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

/* Drops runs of other chips. Chips of one model differ in speed, so another chip's runs count only if the
 * anchors agree. */
static kf_status drop_other_chips(kf_store *store, int64_t run, kf_alike *alike, kf_error *error) {
    static const double APART = 0.01;
    char own[64] = "", other[64] = "";
    double time = NAN, its = NAN;
    int kept = 0;
    KF_TRY(read_anchor(store, run, own, &time, error));
    for (int i = 0; i < alike->count; i++) {
        KF_TRY(read_anchor(store, alike->ids[i], other, &its, error));
        if (strcmp(own, other) == 0 || fabs(its / time - 1.0) <= APART) alike->ids[kept++] = alike->ids[i];
    }
    alike->count = kept;
    return KF_OK;
}

static kf_status collect_run(kf_store *store, int64_t run_id, kf_compact_rows *rows, kf_error *error) {
    kf_provenance provenance;
    KF_TRY(kf_provenance_read(store, run_id, &provenance, error));
    rows->provenance = &provenance;
    const kf_status status = kf_store_rows(store, run_id, false, collect, rows, error);
    kf_provenance_release(&provenance);
    rows->provenance = NULL;
    return status;
}

/* Exports a compact landscape with each config's last result, from this run and all others of the same scene,
 * system and kind of device. */
kf_status kf_store_export_compact(kf_store *store, int64_t run_id, FILE *stream, kf_error *error) {
    kf_run_summary run;
    KF_TRY(kf_store_run_of(store, run_id, &run, error));
    kf_compact_origin origin = {.backend = ""};
    KF_TRY(find_origin(store, run_id, &origin, error));
    kf_provenance provenance;
    KF_TRY(kf_provenance_read(store, run_id, &provenance, error));
    if (provenance.backend[0] != '\0')
        kf_copy_text(origin.backend, sizeof origin.backend, provenance.backend);
    kf_alike alike = {.run = &run};
    kf_compact_rows rows = {.rows = NULL};
    kf_status status = kf_store_runs(store, note_alike, &alike, error);
    if (status == KF_OK) status = drop_other_chips(store, run_id, &alike, error);
    for (int i = alike.count - 1; i >= 0 && status == KF_OK;
         i--) /* the oldest first, because the last result counts */
        status = collect_run(store, alike.ids[i], &rows, error);
    if (status == KF_OK) status = check_alike(&rows, error);
    if (status == KF_OK) status = print_landscape(&run, &origin, &provenance, &rows, stream, error);
    kf_provenance_release(&provenance);
    free(alike.ids);
    free(rows.rows);
    return status;
}
