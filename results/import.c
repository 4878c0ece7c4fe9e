/* Imports landscapes. A file's results become a run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/foreign_words.h"
#include "results/landscape_file.h"
#include "results/provenance.h"

typedef struct kf_import {
    kf_store *store;
    const kf_landscape_file *file;
    kf_problem problem;
    kf_device_info device;
    kf_run_row run;
    char started[KF_MOMENT]; /* "": the file does not give it */
    kf_provenance provenance;
    int means, medians; /* number of results whose time in the file is their mean, or their median */
    int count;
} kf_import;

/* Makes problem, device and run for an imported file, with a hash of the facts in the file. */
static void identify(kf_import *import) {
    const kf_landscape_file *file = import->file;
    kf_problem *problem = &import->problem;
    char size[KF_FACTS_TEXT];
    kf_facts_copy(&problem->facts, &file->facts);
    problem->seed = import->run.seed = file->seed;
    kf_copy_text(problem->name, sizeof problem->name, file->scene[0] != '\0' ? file->scene : file->system);
    kf_copy_text(problem->source, sizeof problem->source, "import");
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, "imported landscape");
    kf_hash_add_string(&hasher, file->system);
    kf_hash_add_string(&hasher, problem->name);
    kf_hash_add_string(&hasher, kf_facts_size_text(&file->facts, size));
    kf_hash_end(&hasher, problem->hash);
    kf_copy_text(import->device.backend, sizeof import->device.backend, "import");
    kf_copy_text(import->device.name, sizeof import->device.name,
                 file->device[0] != '\0' ? file->device : "unknown");
    import->device.peak_bandwidth = file->peak_bandwidth;
    import->device.l2_bytes = file->l2_bytes;
    kf_copy_text(import->run.system, sizeof import->run.system, file->system);
    kf_copy_text(import->run.strategy, sizeof import->run.strategy, "import");
}

/* Notes whether the file's time is the mean or the median, with the precision of 32-bit samples. */
static void note_figure(kf_import *import, const kf_landscape_entry *entry) {
    static const double ROUNDING = 1e-6;
    const kf_measurement *m = &entry->measurement;
    if (m->state != KF_STATE_OK || m->sample_count < 2) return;
    const double mean = kf_mean_of_samples(m), median = m->step_us.median;
    const bool is_mean = fabs(entry->time_us - mean) <= ROUNDING * mean;
    const bool is_median = fabs(entry->time_us - median) <= ROUNDING * median;
    import->means += is_mean && !is_median;
    import->medians += is_median && !is_mean;
}

/* Notes the order of the parameters in a row, if the file's head does not list them. */
static void note_order(kf_import *import, const kf_landscape_entry *entry) {
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(entry->json, "configuration"), *value;
    cJSON_ArrayForEach(value, values) {
        if (!cJSON_HasObjectItem(import->provenance.domains, value->string))
            (void)cJSON_AddArrayToObject(import->provenance.domains, value->string);
    }
    kf_domains_add(import->provenance.domains, values);
}

/* Examines all entries for what the run needs before its first result. */
static kf_status look_ahead(void *context, kf_landscape_entry *entry, kf_error *error) {
    (void)error;
    kf_import *import = context;
    if (import->started[0] == '\0' && !kf_moment_parse(entry->timestamp, import->started))
        import->started[0] = '\0';
    note_figure(import, entry);
    if (import->file->parameters == NULL) note_order(import, entry);
    return KF_OK;
}

/* Lists the parameters in the order of tune_params_keys, which may differ from that of tune_params. */
static void list_parameters(kf_import *import) {
    const cJSON *keys = cJSON_GetObjectItemCaseSensitive(import->file->root, "tune_params_keys"), *key;
    kf_provenance order = {.domains = cJSON_CreateObject()};
    cJSON_Delete(import->provenance.domains);
    import->provenance.domains = cJSON_Duplicate(import->file->parameters, 1);
    cJSON_ArrayForEach(key, keys) {
        if (cJSON_IsString(key)) (void)cJSON_AddNullToObject(order.domains, key->valuestring);
    }
    kf_provenance_order(&order, import->provenance.domains);
    kf_provenance_release(&order);
}

/* Describes the space to which the run refers: the values of its parameters, and the facts about the file
 * that exports need. The caller frees the text. */
static char *describe_space(kf_import *import) {
    kf_provenance *provenance = &import->provenance;
    provenance->mean = import->means > import->medians;
    provenance->nameless = import->file->device[0] == '\0';
    kf_copy_text(provenance->backend, sizeof provenance->backend, import->file->backend);
    cJSON *space = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(space, "system", import->file->system);
    (void)cJSON_AddItemToObject(space, "parameters", cJSON_Duplicate(provenance->domains, 1));
    (void)cJSON_AddItemToObject(space, "imported", kf_provenance_to_json(provenance));
    char *text = kf_json_canonical(space);
    cJSON_Delete(space);
    kf_hash_text(text, import->run.space_hash);
    import->run.space_json = text;
    return text;
}

/* A preset counts as verified. If the file gives no deviation, its results are plain results. */
static kf_status add_result(void *context, kf_landscape_entry *entry, kf_error *error) {
    kf_import *import = context;
    const kf_measurement *measurement = &entry->measurement;
    const bool preset = strncmp(entry->role, "preset:", 7) == 0;
    const bool unverified = measurement->state == KF_STATE_OK && isnan(measurement->verification.error);
    char moment[KF_MOMENT];
    const bool dated = kf_moment_parse(entry->timestamp, moment);
    const kf_status status = kf_store_add_result(import->store, import->run.id, entry->sequence,
                                                 preset && unverified ? "import" : entry->role,
                                                 &entry->config, measurement, dated ? moment : NULL, error);
    import->count++;
    return status == KF_OK ? KF_OK : kf_fail_context(error, "%s: %.120s", import->file->path, entry->where);
}

static kf_status add_all(kf_import *import, kf_error *error) {
    const kf_run_origin origin = {"imported", import->started[0] != '\0' ? import->started : NULL};
    KF_TRY(kf_store_add_run(import->store, &import->problem, &import->device, &origin, &import->run, error));
    return kf_landscape_file_visit(import->file, add_result, import, error);
}

static kf_status import_file(kf_import *import, kf_error *error) {
    identify(import);
    KF_TRY(kf_landscape_file_visit(import->file, look_ahead, import, error));
    if (import->file->parameters != NULL) list_parameters(import);
    char *space = describe_space(import);
    kf_status status = kf_store_begin(import->store, error);
    if (status == KF_OK) {
        status = add_all(import, error);
        status = kf_store_commit(import->store, status, "importing", error);
    }
    free(space);
    return status;
}

kf_status kf_store_import(kf_store *store, const char *path, int64_t *run_id, int *imported,
                          kf_error *error) {
    kf_error own = {0};
    if (error == NULL) error = &own;
    kf_landscape_file file;
    *run_id = *imported = 0;
    KF_TRY(kf_landscape_file_open(path, &file, error));
    kf_import *import = kf_allocate_zeroed(1, sizeof *import);
    import->store = store;
    import->file = &file;
    import->provenance.domains = cJSON_CreateObject();
    const kf_status status = import_file(import, error);
    if (status == KF_OK) {
        *run_id = import->run.id;
        *imported = import->count;
    }
    kf_facts_free(&import->problem.facts);
    kf_provenance_release(&import->provenance);
    kf_landscape_file_close(&file);
    free(import);
    return status;
}
