/* Landscapes of other autotuners: Kernel Tuner caches and T4 results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/replay/landscape_rows.h"

static kf_status complain(const kf_landscape_rows *rows, const char *where, kf_error *error,
                          const char *what) {
    return kf_fail(error, KF_BAD_INPUT, "%s: %.120s: %s", rows->file, where, what);
}

static const char *string_or(const cJSON *object, const char *key, const char *fallback) {
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(member) ? member->valuestring : fallback;
}

static double number_or(const cJSON *object, const char *key, double fallback) {
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(member) ? member->valuedouble : fallback;
}

static void identify(kf_landscape_rows *rows, const cJSON *identity) {
    const char *kernel = string_or(identity, "kernel_name", rows->system);
    if (kf_config_plain_name(kernel)) kf_copy_text(rows->system, sizeof rows->system, kernel);
    kf_copy_text(rows->landscape->device, sizeof rows->landscape->device,
                 string_or(identity, "device_name", ""));
}

static void set_value(kf_config *config, const cJSON *value) {
    if (cJSON_IsBool(value)) {
        kf_config_set_boolean(config, value->string, cJSON_IsTrue(value) != 0);
    } else if (cJSON_IsString(value)) {
        kf_config_set_name(config, value->string, value->valuestring);
    } else if (value->valuedouble == trunc(value->valuedouble)) {
        kf_config_set_integer(config, value->string, (long)value->valuedouble);
    } else { /* a config has no numbers with a fraction: they are names */
        char text[32];
        (void)snprintf(text, sizeof text, "%.17g", value->valuedouble);
        kf_config_set_name(config, value->string, text);
    }
}

/* The members of values that are parameters: all, or those that keys has. */
static kf_status read_config(const kf_landscape_rows *rows, const char *where, const cJSON *values,
                             const cJSON *keys, kf_config *config, kf_error *error) {
    memset(config, 0, sizeof *config);
    kf_copy_text(config->system, sizeof config->system, rows->system);
    for (const cJSON *value = values->child; value != NULL; value = value->next) {
        if (keys != NULL && cJSON_GetObjectItemCaseSensitive(keys, value->string) == NULL) continue;
        bool good = kf_config_plain_name(value->string) && config->count < KF_CONFIG_VALUES;
        if (cJSON_IsString(value))
            good = good && kf_config_plain_name(value->valuestring);
        else if (cJSON_IsNumber(value))
            good = good && fabs(value->valuedouble) <= 0x1p53;
        else
            good = good && cJSON_IsBool(value);
        if (!good)
            return complain(rows, where, error,
                            "a parameter is no number, boolean or short name, or there are too many");
        set_value(config, value);
    }
    return KF_OK;
}

/* Takes the row's samples. */
static kf_status add(kf_landscape_rows *rows, const char *where, kf_landscape_row *row, kf_error *error) {
    if (row->state == KF_STATE_OK && !(row->time_us > 0 && isfinite(row->time_us))) {
        free(row->samples_us);
        return complain(rows, where, error, "the time of a correct result must be a number above 0");
    }
    if (!isfinite(row->seconds) || row->seconds < 0) row->seconds = row->build_seconds = NAN;
    kf_landscape_add(rows, row);
    return KF_OK;
}

/* Single samples; none when one is no number above 0. */
static void read_samples(kf_landscape_row *row, const cJSON *times, double unit_us) {
    int count = cJSON_IsArray(times) ? cJSON_GetArraySize(times) : 0;
    if (row->state != KF_STATE_OK || count == 0) return;
    row->samples_us = kf_allocate((size_t)count * sizeof *row->samples_us);
    const cJSON *time;
    cJSON_ArrayForEach(time, times) {
        double sample = cJSON_IsNumber(time) ? unit_us * time->valuedouble : NAN;
        if (sample > 0 && isfinite(sample)) row->samples_us[row->sample_count++] = (float)sample;
    }
    if (row->sample_count == count) return;
    free(row->samples_us);
    row->samples_us = NULL;
    row->sample_count = 0;
}

/* --- Kernel Tuner cache ------------------------------------------------------------------------------- */

static void read_cache_seconds(kf_landscape_row *row, const cJSON *entry) {
    row->build_seconds =
        (number_or(entry, "compile_time", 0) + number_or(entry, "verification_time", 0)) / 1e3;
    row->seconds = row->build_seconds + number_or(entry, "benchmark_time", 0) / 1e3;
}

static kf_state state_of_error(const char *word) {
    if (strstr(word, "Invalid") != NULL) return KF_STATE_INVALID;
    return strstr(word, "Compilation") != NULL ? KF_STATE_COMPILE : KF_STATE_CRASH;
}

static double mean(const cJSON *times) {
    double sum = 0;
    int count = 0;
    for (const cJSON *time = cJSON_IsArray(times) ? times->child : NULL; time != NULL; time = time->next) {
        if (!cJSON_IsNumber(time)) return NAN;
        sum += time->valuedouble;
        count++;
    }
    return count > 0 ? sum / count : NAN;
}

static kf_status read_cache_entry(kf_landscape_rows *rows, const cJSON *entry, const cJSON *keys,
                                  kf_error *error) {
    char where[128];
    (void)snprintf(where, sizeof where, "cache[\"%.100s\"]", entry->string);
    if (!cJSON_IsObject(entry)) return complain(rows, where, error, "must be an object {...}");
    kf_landscape_row row = {.state = KF_STATE_OK};
    KF_TRY(read_config(rows, where, entry, keys, &row.config, error));
    const cJSON *time = cJSON_GetObjectItemCaseSensitive(entry, "time");
    /* Newer files name the error in a member of its own. */
    const char *word = string_or(entry, "__error__", cJSON_IsString(time) ? time->valuestring : NULL);
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(entry, "times");
    if (word != NULL) row.state = state_of_error(word);
    row.time_us = 1e3 * (cJSON_IsNumber(time) ? time->valuedouble : mean(times));
    read_cache_seconds(&row, entry);
    read_samples(&row, times, 1e3);
    return add(rows, where, &row, error);
}

kf_status kf_landscape_read_cache(kf_landscape_rows *rows, const cJSON *root, kf_error *error) {
    const cJSON *keys = cJSON_GetObjectItemCaseSensitive(root, "tune_params"), *entry;
    if (!cJSON_IsObject(keys)) return complain(rows, "tune_params", error, "must be an object of parameters");
    identify(rows, root);
    cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(root, "cache"))
        KF_TRY(read_cache_entry(rows, entry, keys, error));
    return KF_OK;
}

/* --- T4 ----------------------------------------------------------------------------------------------- */

static kf_status unit_us(const kf_landscape_rows *rows, const cJSON *metadata, double *unit,
                         kf_error *error) {
    /* The second spelling is in published files. */
    static const char *const names[] = {"milliseconds", "miliseconds", "microseconds", "seconds",
                                        "nanoseconds"};
    static const double units[] = {1e3, 1e3, 1, 1e6, 1e-3};
    const char *name = string_or(metadata, "timeunit", names[0]);
    for (int i = 0; i < 5; i++) {
        *unit = units[i];
        if (strcmp(name, names[i]) == 0) return KF_OK;
    }
    return complain(rows, "metadata.timeunit", error,
                    "must be milliseconds, microseconds, seconds or nanoseconds");
}

static kf_state state_of_invalidity(const char *word) {
    static const struct {
        const char *word;
        kf_state state;
    } words[] = {{"correct", KF_STATE_OK},      {"compile", KF_STATE_COMPILE},
                 {"timeout", KF_STATE_TIMEOUT}, {"correctness", KF_STATE_WRONG_RESULT},
                 {"runtime", KF_STATE_CRASH},   {"constraints", KF_STATE_INVALID}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0) return words[i].state;
    return KF_STATES;
}

static double measured_time(const cJSON *entry) {
    const cJSON *measurement;
    cJSON_ArrayForEach(measurement, cJSON_GetObjectItemCaseSensitive(entry, "measurements")) {
        if (strcmp(string_or(measurement, "name", ""), "time") == 0)
            return number_or(measurement, "value", NAN);
    }
    return mean(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(entry, "times"), "runtimes"));
}

static void read_t4_seconds(kf_landscape_row *row, const cJSON *times, double unit) {
    const cJSON *runtime;
    row->build_seconds = (number_or(times, "compilation_time", number_or(times, "compilation", 0)) +
                          number_or(times, "validation", 0)) *
                         unit / 1e6;
    row->seconds = row->build_seconds;
    cJSON_ArrayForEach(runtime, cJSON_GetObjectItemCaseSensitive(times, "runtimes")) {
        if (cJSON_IsNumber(runtime)) row->seconds += runtime->valuedouble * unit / 1e6;
    }
}

static kf_status read_t4_entry(kf_landscape_rows *rows, const cJSON *entry, int index, double unit,
                               kf_error *error) {
    char where[48];
    (void)snprintf(where, sizeof where, "results[%d]", index);
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(entry, "configuration");
    if (!cJSON_IsObject(values))
        return complain(rows, where, error, "configuration: must be an object {...}");
    kf_landscape_row row = {.state = state_of_invalidity(string_or(entry, "invalidity", ""))};
    KF_TRY(read_config(rows, where, values, NULL, &row.config, error));
    if (row.state == KF_STATES)
        return complain(rows, where, error,
                        "invalidity: must be correct, compile, runtime, timeout, correctness or constraints");
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(entry, "times");
    row.time_us = unit * measured_time(entry);
    read_t4_seconds(&row, times, unit);
    read_samples(&row, cJSON_GetObjectItemCaseSensitive(times, "runtimes"), unit);
    return add(rows, where, &row, error);
}

kf_status kf_landscape_read_t4(kf_landscape_rows *rows, const cJSON *root, kf_error *error) {
    const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(root, "metadata"), *entry;
    double unit = 0;
    int index = 0;
    KF_TRY(unit_us(rows, metadata, &unit, error));
    identify(rows, metadata);
    cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(root, "results"))
        KF_TRY(read_t4_entry(rows, entry, index++, unit, error));
    return KF_OK;
}
