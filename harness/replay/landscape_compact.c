/* kftune's own landscapes: a table of positions and times (docs/search.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/replay/landscape_rows.h"

typedef struct kf_compact {
    kf_landscape_rows *rows;
    const cJSON *names[KF_CONFIG_VALUES]; /* of the parameters: the members of "parameters" */
    int parameter_count;
} kf_compact;

static kf_status complain(const kf_compact *compact, int row, kf_error *error, const char *what) {
    return kf_fail(error, KF_BAD_INPUT, "%s: results[%d]: %s", compact->rows->file, row, what);
}

static kf_status read_parameters(kf_compact *compact, const cJSON *root, kf_error *error) {
    const cJSON *parameters = NULL, *domain;
    KF_TRY(kf_json_object((kf_json_place){compact->rows->file, ""}, root, "parameters", true, &parameters,
                          error));
    cJSON_ArrayForEach(domain, parameters) {
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
                           compact->rows->file, domain->string, KF_CONFIG_VALUES);
        compact->names[compact->parameter_count++] = domain;
    }
    return KF_OK;
}

static kf_status read_positions(const kf_compact *compact, int row, const cJSON **item, kf_config *config,
                                kf_error *error) {
    memset(config, 0, sizeof *config);
    kf_copy_text(config->system, sizeof config->system, compact->rows->system);
    for (int p = 0; p < compact->parameter_count; p++, *item = (*item)->next) {
        const cJSON *domain = compact->names[p], *value = NULL;
        double position = *item != NULL && cJSON_IsNumber(*item) ? (*item)->valuedouble : -1;
        if (position >= 0 && position < KF_CONFIG_VALUES * 4096.0)
            value = cJSON_GetArrayItem(domain, (int)position);
        if (value == NULL) return complain(compact, row, error, "has a position outside its domain");
        if (cJSON_IsBool(value))
            kf_config_set_boolean(config, domain->string, cJSON_IsTrue(value) != 0);
        else if (cJSON_IsNumber(value))
            kf_config_set_integer(config, domain->string, (long)value->valuedouble);
        else
            kf_config_set_name(config, domain->string, value->valuestring);
    }
    return KF_OK;
}

/* [positions..., time in microseconds or state, seconds that measuring took], then "skipped" when the time is
 * that of the first samples alone: good enough for a config far from the best. */
static kf_status read_row(const kf_compact *compact, int row, const cJSON *items, kf_error *error) {
    kf_landscape_row read = {.state = KF_STATE_OK, .build_seconds = NAN};
    int extra = cJSON_IsArray(items) ? cJSON_GetArraySize(items) - compact->parameter_count : 0;
    if (extra != 2 && extra != 3)
        return complain(compact, row, error, "must be a list of all positions, a time or state, and seconds");
    const cJSON *item = items->child;
    KF_TRY(read_positions(compact, row, &item, &read.config, error));
    kf_state state = KF_STATE_OK;
    if (cJSON_IsString(item))
        for (state = KF_STATE_WRONG_RESULT;
             state < KF_STATES && strcmp(item->valuestring, kf_state_names[state]) != 0; state++)
            continue;
    if (state == KF_STATES || (state == KF_STATE_OK && !(cJSON_IsNumber(item) && item->valuedouble > 0)))
        return complain(compact, row, error, "has neither a time above 0 nor the name of a state");
    read.state = state;
    read.time_us = item->valuedouble;
    read.seconds = cJSON_IsNumber(item->next) ? item->next->valuedouble : NAN;
    kf_landscape_add(compact->rows, &read);
    return KF_OK;
}

static kf_status read_presets(const kf_compact *compact, const cJSON *presets, kf_error *error) {
    kf_landscape_rows *rows = compact->rows;
    const cJSON *preset;
    cJSON_ArrayForEach(preset, presets) {
        if (rows->preset_count == (int)(sizeof rows->preset_rows / sizeof *rows->preset_rows) ||
            !kf_config_plain_name(preset->string) || !cJSON_IsNumber(preset) || preset->valuedouble < 0 ||
            preset->valuedouble >= (double)rows->count)
            return kf_fail(error, KF_BAD_INPUT, "%s: presets.%.40s: must be the number of a row, from 0",
                           rows->file, preset->string);
        kf_copy_text(rows->preset_names[rows->preset_count], KF_NAME, preset->string);
        rows->preset_rows[rows->preset_count++] = (size_t)preset->valuedouble;
    }
    return KF_OK;
}

static kf_status read_scene(kf_landscape_rows *rows, const cJSON *scene, kf_error *error) {
    const kf_json_place place = {rows->file, "scene"};
    kf_landscape *landscape = rows->landscape;
    const char *name = NULL;
    double nodes[3] = {0, 0, 0};
    KF_TRY(kf_json_string(place, scene, "name", true, &name, error));
    KF_TRY(kf_json_numbers(place, scene, "nodes", false, 1, 1 << 20, 3, nodes, error));
    KF_TRY(
        kf_json_number(place, scene, "samples_per_cell", false, 0, 1e9, &landscape->samples_per_cell, error));
    double seed = 0;
    KF_TRY(kf_json_number(place, scene, "seed", false, 0, 0x1p53, &seed, error));
    landscape->seed = (uint64_t)seed;
    kf_copy_text(landscape->scene, sizeof landscape->scene, name);
    for (int i = 0; i < 3; i++)
        landscape->nodes[i] = (int)nodes[i];
    return KF_OK;
}

static kf_status read_device(kf_landscape_rows *rows, const cJSON *device, kf_error *error) {
    const kf_json_place place = {rows->file, "device"};
    kf_landscape *landscape = rows->landscape;
    const char *name = NULL, *backend = "";
    KF_TRY(kf_json_string(place, device, "name", true, &name, error));
    KF_TRY(kf_json_string(place, device, "backend", false, &backend, error));
    KF_TRY(
        kf_json_number(place, device, "peak_bandwidth", false, 0, 1e18, &landscape->peak_bandwidth, error));
    kf_copy_text(landscape->device, sizeof landscape->device, name);
    kf_copy_text(landscape->backend, sizeof landscape->backend, backend);
    return KF_OK;
}

static kf_status read_identity(kf_landscape_rows *rows, const cJSON *root, kf_error *error) {
    const kf_json_place place = {rows->file, ""};
    static const char *const keys[] = {"kftune_landscape", "kftune",  "system",  "scene", "device", "run",
                                       "parameters",       "presets", "results", NULL};
    long format = 0;
    const char *system = NULL;
    KF_TRY(kf_json_check_keys(place, root, keys, error));
    KF_TRY(kf_json_integer(place, root, "kftune_landscape", true, 1, 1, &format, error));
    KF_TRY(kf_json_string(place, root, "system", true, &system, error));
    const cJSON *scene = NULL, *device = NULL;
    KF_TRY(kf_json_object(place, root, "scene", false, &scene, error));
    KF_TRY(kf_json_object(place, root, "device", false, &device, error));
    if (scene != NULL) KF_TRY(read_scene(rows, scene, error));
    if (device != NULL) KF_TRY(read_device(rows, device, error));
    if (!kf_config_plain_name(system))
        return kf_fail(error, KF_BAD_INPUT, "%s: system: must be a name", rows->file);
    kf_copy_text(rows->system, sizeof rows->system, system);
    return KF_OK;
}

kf_status kf_landscape_read_compact(kf_landscape_rows *rows, const cJSON *root, kf_error *error) {
    kf_compact compact = {.rows = rows};
    KF_TRY(read_identity(rows, root, error));
    KF_TRY(read_parameters(&compact, root, error));
    const cJSON *items;
    int row = 0;
    cJSON_ArrayForEach(items, cJSON_GetObjectItemCaseSensitive(root, "results"))
        KF_TRY(read_row(&compact, row++, items, error));
    return read_presets(&compact, cJSON_GetObjectItemCaseSensitive(root, "presets"), error);
}
