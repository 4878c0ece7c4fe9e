#include "results/provenance.h"

#include <stdlib.h>
#include <string.h>

#include "base/util/text.h"

/* A list of pairs is used because canonical JSON would sort the names of an object. */
cJSON *kf_provenance_to_json(const kf_provenance *provenance) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "figure", provenance->mean ? "mean" : "median");
    (void)cJSON_AddStringToObject(json, "backend", provenance->backend);
    (void)cJSON_AddBoolToObject(json, "device_named", !provenance->nameless);
    cJSON *order = cJSON_AddArrayToObject(json, "parameters");
    const cJSON *domain;
    cJSON_ArrayForEach(domain, provenance->domains) {
        cJSON *pair = cJSON_CreateArray();
        (void)cJSON_AddItemToArray(pair, cJSON_CreateString(domain->string));
        (void)cJSON_AddItemToArray(pair, cJSON_Duplicate(domain, 1));
        (void)cJSON_AddItemToArray(order, pair);
    }
    return json;
}

static void read_domains(const cJSON *order, kf_provenance *provenance) {
    const cJSON *pair;
    cJSON_ArrayForEach(pair, order) {
        const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(pair, 0));
        const cJSON *values = cJSON_GetArrayItem(pair, 1);
        if (name == NULL || values == NULL) continue;
        if (provenance->domains == NULL) provenance->domains = cJSON_CreateObject();
        (void)cJSON_AddItemToObject(provenance->domains, name, cJSON_Duplicate(values, 1));
    }
}

static void read_text(const char *text, kf_provenance *provenance) {
    cJSON *space = cJSON_Parse(text);
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(space, "imported");
    const char *figure = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "figure"));
    const char *backend = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "backend"));
    provenance->mean = figure != NULL && strcmp(figure, "mean") == 0;
    provenance->nameless = cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(json, "device_named"));
    kf_copy_text(provenance->backend, sizeof provenance->backend, backend != NULL ? backend : "");
    read_domains(cJSON_GetObjectItemCaseSensitive(json, "parameters"), provenance);
    cJSON_Delete(space);
}

kf_status kf_provenance_read(kf_store *store, int64_t run_id, kf_provenance *provenance, kf_error *error) {
    static const char *const sql = "SELECT space.json FROM run JOIN space ON space.id = run.space "
                                   "WHERE run.id = ? AND run.origin = 'imported'";
    sqlite3_stmt *statement = NULL;
    *provenance = (kf_provenance){.domains = NULL};
    KF_TRY(kf_store_prepare(store, sql, &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_integer(&binder, run_id);
    bool found = false;
    const kf_status status = kf_store_step(store, statement, "reading a run's space", &found, error);
    if (status == KF_OK && found) read_text((const char *)sqlite3_column_text(statement, 0), provenance);
    (void)sqlite3_finalize(statement);
    return status;
}

void kf_provenance_release(kf_provenance *provenance) {
    cJSON_Delete(provenance->domains);
    provenance->domains = NULL;
}

double kf_mean_of_samples(const kf_measurement *measurement) {
    double sum = 0;
    for (size_t i = 0; i < measurement->sample_count; i++)
        sum += measurement->samples_us[i];
    return sum / (double)measurement->sample_count;
}

double kf_provenance_time(const kf_provenance *provenance, const kf_measurement *measurement) {
    return provenance->mean && measurement->sample_count > 0 ? kf_mean_of_samples(measurement)
                                                             : measurement->step_us.median;
}

void kf_provenance_order(const kf_provenance *provenance, cJSON *object) {
    cJSON *sorted = cJSON_CreateObject(), *item;
    const cJSON *domain;
    cJSON_ArrayForEach(domain, provenance->domains) {
        item = cJSON_DetachItemFromObjectCaseSensitive(object, domain->string);
        if (item != NULL) (void)cJSON_AddItemToArray(sorted, item);
    }
    while ((item = cJSON_DetachItemFromArray(object, 0)) != NULL)
        (void)cJSON_AddItemToArray(sorted, item);
    object->child = sorted->child; /* the members change their object */
    sorted->child = NULL;
    cJSON_Delete(sorted);
}
