/* Reads kftune's compact landscapes: a table of positions and times (docs/search.md).
 * results/export_compact.c writes them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/landscape_read.h"

typedef struct kf_compact {
    const kf_landscape_file *file;
    const cJSON *names[KF_CONFIG_VALUES]; /* of the parameters, the members of "parameters" */
    int parameter_count;
} kf_compact;

/* Reads the names and domains of a compact landscape's parameters. */
static kf_status read_parameters(kf_compact *compact, kf_error *error) {
    const cJSON *domain;
    cJSON_ArrayForEach(domain, compact->file->parameters) {
        bool good = cJSON_IsArray(domain) && compact->parameter_count < KF_CONFIG_VALUES &&
                    kf_config_plain_name(domain->string);
        const cJSON *value;
        cJSON_ArrayForEach(value, domain) {
            good = good && (cJSON_IsBool(value) ||
                            (cJSON_IsNumber(value) && fabs(value->valuedouble) <= 0x1p53 &&
                             value->valuedouble == trunc(value->valuedouble)) ||
                            (cJSON_IsString(value) && kf_config_plain_name(value->valuestring)));
        }
        if (!good)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: parameters.%.40s: must be a list of integers, booleans or names, of at most "
                           "%d parameters",
                           compact->file->path, domain->string, KF_CONFIG_VALUES);
        compact->names[compact->parameter_count++] = domain;
    }
    return KF_OK;
}

static kf_status read_positions(const kf_compact *compact, const char *where, const cJSON **item,
                                kf_config *config, kf_error *error) {
    memset(config, 0, sizeof *config);
    kf_copy_text(config->system, sizeof config->system, compact->file->system);
    for (int p = 0; p < compact->parameter_count; p++, *item = (*item)->next) {
        const cJSON *domain = compact->names[p], *value = NULL;
        const double position = cJSON_IsNumber(*item) ? (*item)->valuedouble : -1;
        if (*item != NULL && position >= 0 && position < KF_CONFIG_VALUES * 4096.0)
            value = cJSON_GetArrayItem(domain, (int)position);
        if (*item == NULL || value == NULL)
            return kf_landscape_complain(compact->file, where, error, "has a position outside its domain");
        if (cJSON_IsBool(value))
            kf_config_set_boolean(config, domain->string, cJSON_IsTrue(value) != 0);
        else if (cJSON_IsNumber(value))
            kf_config_set_integer(config, domain->string, (long)value->valuedouble);
        else
            kf_config_set_name(config, domain->string, value->valuestring);
    }
    return KF_OK;
}

static bool is_skipped(const cJSON *item) {
    return cJSON_IsString(item) && strcmp(item->valuestring, kf_state_names[KF_STATE_SKIPPED]) == 0;
}

/* Reads the time in microseconds or the state, then the seconds of measuring, then "skipped" if the time is
 * only that of the first samples. */
static kf_status read_outcome(const kf_compact *compact, kf_landscape_entry *entry, const cJSON *item,
                              kf_error *error) {
    kf_measurement *m = &entry->measurement;
    if (cJSON_IsString(item))
        for (m->state = KF_STATE_WRONG_RESULT;
             m->state < KF_STATES && strcmp(item->valuestring, kf_state_names[m->state]) != 0; m->state++)
            continue;
    if (m->state == KF_STATES || (m->state == KF_STATE_OK && !cJSON_IsNumber(item)))
        return kf_landscape_complain(compact->file, entry->where, error,
                                     "has neither a time above 0 nor the name of a state");
    if (m->state == KF_STATE_OK) KF_TRY(kf_landscape_set_samples(compact->file, entry, NULL, item, error));
    if (cJSON_IsNumber(item->next) && item->next->valuedouble >= 0)
        m->measure_seconds = item->next->valuedouble;
    if (item->next != NULL && is_skipped(item->next->next)) m->state = KF_STATE_SKIPPED;
    if (m->state != KF_STATE_OK)
        kf_copy_text(m->reason, sizeof m->reason, "the compact landscape does not say why");
    return KF_OK;
}

static kf_status read_row(const kf_compact *compact, kf_landscape_entry *entry, kf_error *error) {
    const cJSON *items = entry->json;
    const int extra = cJSON_IsArray(items) ? cJSON_GetArraySize(items) - compact->parameter_count : 0;
    if (extra != 2 && extra != 3)
        return kf_landscape_complain(compact->file, entry->where, error,
                                     "must be a list of all positions, a time or state, and seconds");
    const cJSON *item = items->child, *preset;
    KF_TRY(read_positions(compact, entry->where, &item, &entry->config, error));
    cJSON_ArrayForEach(preset, cJSON_GetObjectItemCaseSensitive(compact->file->root, "presets")) {
        if (preset->valuedouble == entry->sequence)
            (void)snprintf(entry->role, sizeof entry->role, "preset:%s", preset->string);
    }
    return read_outcome(compact, entry, item, error);
}

static kf_status check_presets(const kf_compact *compact, int rows, kf_error *error) {
    const cJSON *presets = cJSON_GetObjectItemCaseSensitive(compact->file->root, "presets"), *preset;
    cJSON_ArrayForEach(preset, presets) {
        bool good = kf_config_plain_name(preset->string) && cJSON_IsNumber(preset) &&
                    preset->valuedouble >= 0 && preset->valuedouble < rows;
        for (const cJSON *other = presets->child; other != preset; other = other->next)
            good = good && other->valuedouble != preset->valuedouble;
        if (!good)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: presets.%.40s: must be the number of a row, from 0, and each of another",
                           compact->file->path, preset->string);
    }
    return KF_OK;
}

/* --- The head ----------------------------------------------------------------------------------------- */

/* Files from before facts existed have "nodes", "samples" and "samples_per_cell". */
static kf_status read_numbers(kf_landscape_file *file, const cJSON *scene, kf_error *error) {
    const kf_json_place place = {file->path, "scene"};
    double nodes[3] = {0, 0, 0}, samples = 0, samples_per_cell = 0;
    KF_TRY(kf_json_numbers(place, scene, "nodes", false, 1, 1 << 20, 3, nodes, error));
    KF_TRY(kf_json_number(place, scene, "samples", false, 0, 1e12, &samples, error));
    KF_TRY(kf_json_number(place, scene, "samples_per_cell", false, 0, 1e9, &samples_per_cell, error));
    if (nodes[0] == 0) return KF_OK;
    kf_facts_size(&file->facts, (const int[3]){(int)nodes[0], (int)nodes[1], (int)nodes[2]}, "nodes");
    kf_facts_amount(&file->facts, "node_count", nodes[0] * nodes[1] * nodes[2], "nodes");
    kf_facts_amount(&file->facts, "sample_count", samples, "samples");
    kf_facts_number(&file->facts, "samples_per_cell", samples_per_cell, "");
    return KF_OK;
}

static kf_status read_scene(kf_landscape_file *file, const cJSON *scene, kf_error *error) {
    const kf_json_place place = {file->path, "scene"};
    const char *name = NULL;
    const cJSON *facts = NULL, *units = NULL;
    double seed = 0;
    KF_TRY(kf_json_string(place, scene, "name", true, &name, error));
    KF_TRY(kf_json_number(place, scene, "seed", false, 0, 0x1p53, &seed, error));
    KF_TRY(kf_json_object(place, scene, "facts", false, &facts, error));
    KF_TRY(kf_json_object(place, scene, "units", false, &units, error));
    file->seed = (uint64_t)seed;
    kf_copy_text(file->scene, sizeof file->scene, name);
    if (facts == NULL) return read_numbers(file, scene, error);
    return kf_facts_from_json(file->path, facts, units, &file->facts, error);
}

static kf_status read_device(kf_landscape_file *file, const cJSON *device, kf_error *error) {
    const kf_json_place place = {file->path, "device"};
    const char *name = NULL, *backend = "";
    double l2_bytes = 0;
    KF_TRY(kf_json_string(place, device, "name", true, &name, error));
    KF_TRY(kf_json_string(place, device, "backend", false, &backend, error));
    KF_TRY(kf_json_number(place, device, "peak_bandwidth", false, 0, 1e18, &file->peak_bandwidth, error));
    KF_TRY(kf_json_number(place, device, "l2_bytes", false, 0, 0x1p53, &l2_bytes, error));
    file->l2_bytes = (uint64_t)l2_bytes;
    kf_copy_text(file->device, sizeof file->device, name);
    kf_copy_text(file->backend, sizeof file->backend, backend);
    return KF_OK;
}

/* Identifies a compact landscape: system, scene and device. */
kf_status kf_compact_identify(kf_landscape_file *file, kf_error *error) {
    const kf_json_place place = {file->path, ""};
    static const char *const keys[] = {"kftune_landscape", "kftune",  "system",  "scene", "device", "run",
                                       "parameters",       "presets", "results", NULL};
    long format = 0;
    const char *system = NULL;
    const cJSON *scene = NULL, *device = NULL;
    KF_TRY(kf_json_check_keys(place, file->root, keys, error));
    KF_TRY(kf_json_integer(place, file->root, "kftune_landscape", true, 1, 1, &format, error));
    KF_TRY(kf_json_string(place, file->root, "system", true, &system, error));
    KF_TRY(kf_json_object(place, file->root, "parameters", true, &file->parameters, error));
    KF_TRY(kf_json_object(place, file->root, "scene", false, &scene, error));
    KF_TRY(kf_json_object(place, file->root, "device", false, &device, error));
    if (scene != NULL) KF_TRY(read_scene(file, scene, error));
    if (device != NULL) KF_TRY(read_device(file, device, error));
    if (!kf_config_plain_name(system))
        return kf_fail(error, KF_BAD_INPUT, "%s: system: must be a name", file->path);
    kf_copy_text(file->system, sizeof file->system, system);
    file->unit_us = 1;
    return KF_OK;
}

kf_status kf_compact_visit(const kf_landscape_file *file, kf_landscape_visit visit, void *context,
                           kf_error *error) {
    kf_compact compact = {.file = file};
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(file->root, "results"), *items;
    KF_TRY(read_parameters(&compact, error));
    KF_TRY(check_presets(&compact, cJSON_GetArraySize(results), error));
    kf_landscape_entry *entry = kf_allocate(sizeof *entry);
    kf_status status = KF_OK;
    int row = 0;
    for (items = results != NULL ? results->child : NULL; items != NULL && status == KF_OK;
         items = items->next) {
        kf_landscape_begin(entry, items, row, "results[%d]", row);
        status = kf_landscape_give(entry, read_row(&compact, entry, error), visit, context, error);
        row++;
    }
    free(entry);
    return status;
}
