/* Reads landscapes of other autotuners: T4 results and Kernel Tuner caches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/foreign_words.h"
#include "results/landscape_read.h"

/* Returns a number; fallback: it is missing or something else. */
static double value_or(const cJSON *item, double fallback) {
    return item != NULL && cJSON_IsNumber(item) ? item->valuedouble : fallback;
}

static double number_or(const cJSON *object, const char *key, double fallback) {
    return value_or(cJSON_GetObjectItemCaseSensitive(object, key), fallback);
}

static const char *string_or(const cJSON *object, const char *key, const char *fallback) {
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(member) ? member->valuestring : fallback;
}

/* Returns seconds from a time in the file's unit; NAN: the time is missing or makes no sense. */
static double seconds_or(const kf_landscape_file *file, const cJSON *object, const char *key) {
    double time = number_or(object, key, NAN);
    return time >= 0 && isfinite(time) ? time * file->unit_us / 1e6 : NAN;
}

/* Reads a size: [4096, 4096], 4096, or something else. A missing axis has one node. */
static void read_size(const cJSON *size, kf_facts *facts) {
    int values[3];
    const bool list = cJSON_IsArray(size);
    if (!list && !cJSON_IsNumber(size)) return;
    for (int axis = 0; axis < 3; axis++) {
        const double value = value_or(list ? cJSON_GetArrayItem(size, axis) : axis == 0 ? size : NULL, 1);
        values[axis] = value >= 1 && value <= 1 << 30 ? (int)value : 1;
    }
    kf_facts_size(facts, values, "");
}

/* Makes a system's name from any text. Characters that a name must not contain become '_'. */
static void plain_name(const char *text, char name[KF_NAME]) {
    kf_copy_text(name, KF_NAME, text[0] != '\0' ? text : "unknown");
    for (char *c = name; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~' || strchr("\"'\\", *c) != NULL) *c = '_';
}

/* Makes the name "convolution-A4000" from the file "a/convolution-A4000.t4.json.gz". */
static void base_name(const char *file, char name[KF_NAME]) {
    const char *slash = strrchr(file, '/');
    char base[KF_PATH];
    kf_copy_text(base, sizeof base, slash != NULL ? slash + 1 : file);
    base[strcspn(base, ".")] = '\0';
    plain_name(base, name);
}

static kf_status find_unit(kf_landscape_file *file, const cJSON *metadata, kf_error *error) {
    /* Published files contain the second spelling. */
    static const char *const names[] = {"milliseconds", "miliseconds", "microseconds", "seconds",
                                        "nanoseconds"};
    static const double units_us[] = {1e3, 1e3, 1, 1e6, 1e-3};
    const char *name = string_or(metadata, "timeunit", names[0]);
    for (size_t i = 0; i < sizeof units_us / sizeof *units_us; i++) {
        file->unit_us = units_us[i];
        if (strcmp(name, names[i]) == 0) return KF_OK;
    }
    return kf_landscape_complain(file, "metadata.timeunit", error,
                                 "must be milliseconds, microseconds, seconds or nanoseconds");
}

static bool is_cache(const kf_landscape_file *file) {
    return cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(file->root, "cache"));
}

/* Identifies another program's landscape: its parameters, unit of time, kernel, size and device. */
kf_status kf_foreign_identify(kf_landscape_file *file, kf_error *error) {
    char fallback[KF_NAME];
    const cJSON *identity = file->root;
    file->unit_us = 1e3;
    if (is_cache(file)) {
        file->parameters = cJSON_GetObjectItemCaseSensitive(file->root, "tune_params");
        if (!cJSON_IsObject(file->parameters))
            return kf_landscape_complain(file, "tune_params", error, "must be an object of parameters");
    } else {
        identity = cJSON_GetObjectItemCaseSensitive(file->root, "metadata");
        KF_TRY(find_unit(file, identity, error));
    }
    const char *objective = string_or(file->root, "objective", "time");
    if (strcmp(objective, "time") != 0)
        kf_warn(
            "%s: its objective is '%.60s', not the time; kftune goes by the times, whose best config may be "
            "another",
            file->path, objective);
    base_name(file->path, fallback);
    const cJSON *ours = cJSON_GetObjectItemCaseSensitive(identity, KF_LANDSCAPE_KEY);
    const char *kernel = string_or(identity, "kernel_name", fallback),
               *system = string_or(ours, "system", kernel);
    plain_name(system, file->system);
    read_size(cJSON_GetObjectItemCaseSensitive(identity, "problem_size"), &file->facts);
    if (system != kernel) kf_facts_word(&file->facts, "kernel", kernel);
    kf_copy_text(file->scene, sizeof file->scene, string_or(ours, "scene", ""));
    kf_copy_text(file->device, sizeof file->device, string_or(identity, "device_name", ""));
    return KF_OK;
}

/* --- Results of both formats -------------------------------------------------------------------------- */

static kf_status read_config(const kf_landscape_file *file, kf_landscape_entry *entry, const cJSON *values,
                             const cJSON *keys, kf_error *error) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "system", file->system);
    cJSON *parameters = cJSON_AddObjectToObject(json, "parameters");
    const cJSON *value = NULL;
    cJSON_ArrayForEach(value, values) {
        if (keys != NULL && cJSON_GetObjectItemCaseSensitive(keys, value->string) == NULL) continue;
        (void)cJSON_AddItemToObject(parameters, value->string, kf_foreign_value(value));
    }
    kf_status status = kf_config_from_json(file->path, json, &entry->config, error);
    cJSON_Delete(json);
    return status == KF_OK ? KF_OK : kf_fail_context(error, "%.120s", entry->where);
}

static int position(const char *word, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0) return i;
    return -1;
}

/* Files of kftune up to version 6 of the store name three deviations. */
static void recall_deviations(const cJSON *verified, kf_verification *verification) {
    const double mass = number_or(verified, "mass_drift", NAN),
                 force = number_or(verified, "load_error", NAN);
    if (isnan(verification->error)) return;
    kf_verification_add(verification, "error", verification->error, verification->bound);
    if (!isnan(mass)) kf_verification_add(verification, "mass", mass, verification->bound);
    if (!isnan(force)) kf_verification_add(verification, "force", force, (double)NAN);
}

/* Reads the data that kftune wrote beside the other program's members. */
static kf_status read_ours(const kf_landscape_file *file, kf_landscape_entry *entry, kf_error *error) {
    const cJSON *ours = cJSON_GetObjectItemCaseSensitive(entry->json, KF_LANDSCAPE_KEY);
    kf_measurement *measurement = &entry->measurement;
    kf_copy_text(entry->role, sizeof entry->role, string_or(ours, "role", entry->role));
    const double sequence = number_or(ours, "sequence", entry->sequence);
    if (!(sequence >= 0 && sequence <= 1 << 30))
        return kf_landscape_complain(file, entry->where, error, "its sequence makes no sense");
    entry->sequence = (int)sequence;
    entry->timestamp = string_or(entry->json, "timestamp", "");
    int state =
        position(string_or(ours, "state", kf_state_names[measurement->state]), kf_state_names, KF_STATES);
    int stop = position(string_or(ours, "stop", kf_stop_names[KF_STOP_SAMPLES]), kf_stop_names, KF_STOPS);
    if (state < 0 || stop < 0)
        return kf_landscape_complain(file, entry->where, error, "has a state or stop that does not exist");
    if ((state == KF_STATE_OK) != (measurement->state == KF_STATE_OK) || state == KF_STATE_SKIPPED)
        return kf_landscape_complain(file, entry->where, error,
                                     "contradicts itself about whether the result is correct");
    measurement->state = (kf_state)state;
    measurement->stop = (kf_stop)stop;
    kf_copy_text(measurement->reason, sizeof measurement->reason,
                 string_or(ours, "reason", measurement->reason));
    kf_copy_text(measurement->build_hash, sizeof measurement->build_hash, string_or(ours, "build", ""));
    double batch = number_or(ours, "batch", 1);
    measurement->batch = batch >= 1 && batch <= 1 << 30 ? (int)batch : 1;
    measurement->updates_per_us = number_or(ours, "updates_per_us", number_or(ours, "mlups", NAN));
    measurement->effective_bandwidth = number_or(ours, "bandwidth", NAN);
    measurement->compile_seconds = number_or(ours, "compile_s", measurement->compile_seconds);
    measurement->verify_seconds = number_or(ours, "verify_s", measurement->verify_seconds);
    measurement->measure_seconds = number_or(ours, "measure_s", measurement->measure_seconds);
    const cJSON *verified = cJSON_GetObjectItemCaseSensitive(ours, "verification");
    kf_verification *verification = &measurement->verification;
    verification->error = number_or(verified, "error", NAN);
    verification->bound = number_or(verified, "bound", NAN);
    const cJSON *deviations = cJSON_GetObjectItemCaseSensitive(verified, "deviations");
    if (deviations == NULL)
        recall_deviations(verified, verification);
    else if (kf_deviations_from_json(deviations, verification, NULL) != KF_OK)
        return kf_landscape_complain(file, entry->where, error, "has deviations that make no sense");
    kf_copy_text(verification->worst, sizeof verification->worst, string_or(verified, "worst", ""));
    return KF_OK;
}

/* --- Kernel Tuner cache ------------------------------------------------------------------------------- */

static kf_state state_of_error(const char *word) {
    if (strstr(word, "Invalid") != NULL) return KF_STATE_INVALID;
    if (strstr(word, "Compilation") != NULL) return KF_STATE_COMPILE;
    return KF_STATE_CRASH;
}

/* Returns the reason if a time means a failure: a word, null (also for NaN and Infinity, see
 * landscape_text.c), or the largest number, 1e20 in older files. NULL: it is a time. */
static const char *failure_of(const cJSON *time, const cJSON *times, char buffer[48]) {
    static const double LARGEST_MS = 1e18; /* thirty million years */
    if (cJSON_IsString(time)) return time->valuestring;
    if (cJSON_IsNull(time) && !cJSON_IsArray(times)) return "no time";
    if (!cJSON_IsNumber(time) || (isfinite(time->valuedouble) && time->valuedouble < LARGEST_MS)) return NULL;
    (void)snprintf(buffer, 48, "a time of %g", time->valuedouble);
    return buffer;
}

/* Reads an entry of Kernel Tuner's cache. */
static kf_status read_cache_entry(const kf_landscape_file *file, kf_landscape_entry *entry, kf_error *error) {
    const cJSON *json = entry->json;
    if (!cJSON_IsObject(json))
        return kf_landscape_complain(file, entry->where, error, "must be an object {...}");
    KF_TRY(read_config(file, entry, json, file->parameters, error));
    const cJSON *time = cJSON_GetObjectItemCaseSensitive(json, "time");
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(json, "times");
    /* Newer files have a separate member for the error. */
    char failure[48];
    const char *word = string_or(json, "__error__", failure_of(time, times, failure));
    if (word == NULL && !cJSON_IsNumber(time) && !cJSON_IsArray(times))
        return kf_landscape_complain(file, entry->where, error, "has neither a time nor an error");
    kf_measurement *measurement = &entry->measurement;
    measurement->compile_seconds = seconds_or(file, json, "compile_time");
    measurement->verify_seconds = seconds_or(file, json, "verification_time");
    measurement->measure_seconds = seconds_or(file, json, "benchmark_time");
    if (word == NULL)
        KF_TRY(kf_landscape_set_samples(file, entry, times, time, error));
    else
        measurement->state = state_of_error(word);
    kf_copy_text(measurement->reason, sizeof measurement->reason, word != NULL ? word : "");
    return read_ours(file, entry, error);
}

/* --- T4 ----------------------------------------------------------------------------------------------- */

/* Returns the measurement of the time; NULL: there is none. */
static const cJSON *measured(const cJSON *entry) {
    const cJSON *measurement = NULL;
    cJSON_ArrayForEach(measurement, cJSON_GetObjectItemCaseSensitive(entry, "measurements")) {
        if (strcmp(string_or(measurement, "name", ""), "time") == 0) return measurement;
    }
    return NULL;
}

static const cJSON *measured_time(const cJSON *entry) {
    return cJSON_GetObjectItemCaseSensitive(measured(entry), "value");
}

/* Returns the unit of a measurement in microseconds; 0: it names no known unit. */
static double unit_of(const cJSON *measurement) {
    static const struct {
        const char *name;
        double us;
    } units[] = {
        {"s", 1e6},           {"sec", 1e6}, {"seconds", 1e6},    {"ms", 1e3},  {"milliseconds", 1e3},
        {"miliseconds", 1e3}, {"us", 1},    {"microseconds", 1}, {"ns", 1e-3}, {"nanoseconds", 1e-3}};
    const char *name = string_or(measurement, "unit", "");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(name, units[i].name) == 0) return units[i].us;
    return 0.0;
}

static double sum_of(const cJSON *times) {
    double sum = 0;
    const cJSON *time;
    cJSON_ArrayForEach(time, times) sum += value_or(time, NAN);
    return sum;
}

/* Takes the times of a result. The runtimes have the file's unit. The measured time may name a unit, which
 * applies to all if the file names none. Times that differ strongly because of their units are refused. */
static kf_status set_times(const kf_landscape_file *file, kf_landscape_entry *entry, const cJSON *runtimes,
                           kf_error *error) {
    static const double FAR = 100.0;
    const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(file->root, "metadata"),
                *time = measured_time(entry->json);
    const bool said = cJSON_HasObjectItem(metadata, "timeunit");
    const double own = unit_of(measured(entry->json));
    kf_landscape_file in_unit = *file;
    if (!said && own > 0.0) in_unit.unit_us = own;
    cJSON *scaled = cJSON_IsNumber(time) && own > 0.0
                        ? cJSON_CreateNumber(time->valuedouble * own / in_unit.unit_us)
                        : NULL;
    const kf_status status =
        kf_landscape_set_samples(&in_unit, entry, runtimes, scaled != NULL ? scaled : time, error);
    cJSON_Delete(scaled);
    if (status != KF_OK) return status;
    const double ratio = entry->time_us / entry->measurement.step_us.median;
    if (own > 0.0 && !(ratio > 1.0 / FAR && ratio < FAR))
        return kf_landscape_complain(
            file, entry->where, error,
            "by the unit of its measurement the time is another than its runtimes by "
            "metadata.timeunit; one of the units is wrong");
    entry->measurement.measure_seconds = sum_of(runtimes) * in_unit.unit_us / 1e6;
    return KF_OK;
}

/* Returns kftune's state for T4's word; -1: unknown. The first match counts, because "runtime" means a crash
 * and not lack of memory. */
static int state_of_invalidity(const char *word) {
    for (int state = 0; state < KF_STATES; state++)
        if (kf_state_words_of[state].t4 != NULL && strcmp(kf_state_words_of[state].t4, word) == 0)
            return state;
    return -1;
}

/* Reads a result of a T4 file. */
static kf_status read_t4_entry(const kf_landscape_file *file, kf_landscape_entry *entry, kf_error *error) {
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(entry->json, "configuration");
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(entry->json, "times");
    const cJSON *runtimes = cJSON_GetObjectItemCaseSensitive(times, "runtimes");
    if (!cJSON_IsObject(values))
        return kf_landscape_complain(file, entry->where, error, "configuration: must be an object {...}");
    KF_TRY(read_config(file, entry, values, NULL, error));
    const char *word = string_or(entry->json, "invalidity", "");
    char failure[48];
    int state = state_of_invalidity(word);
    const char *none = failure_of(measured_time(entry->json), runtimes, failure);
    if (state == KF_STATE_OK && cJSON_GetArraySize(runtimes) == 0 && none != NULL) {
        state = KF_STATE_CRASH;
        word = none;
    }
    if (state < 0)
        return kf_landscape_complain(
            file, entry->where, error,
            "invalidity: must be correct, compile, runtime, timeout, correctness or constraints");
    kf_measurement *measurement = &entry->measurement;
    measurement->state = (kf_state)state;
    const double compiled = seconds_or(file, times, "compilation_time");
    measurement->compile_seconds = isnan(compiled) ? seconds_or(file, times, "compilation") : compiled;
    measurement->verify_seconds = seconds_or(file, times, "validation");
    if (state == KF_STATE_OK)
        KF_TRY(set_times(file, entry, runtimes, error));
    else
        kf_copy_text(measurement->reason, sizeof measurement->reason, word);
    return read_ours(file, entry, error);
}

kf_status kf_foreign_visit(const kf_landscape_file *file, kf_landscape_visit visit, void *context,
                           kf_error *error) {
    const bool cache = is_cache(file);
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(file->root, cache ? "cache" : "results"), *json;
    kf_landscape_entry *entry = kf_allocate(sizeof *entry);
    kf_status status = KF_OK;
    int count = 0;
    for (json = results->child; json != NULL && status == KF_OK; json = json->next, count++) {
        if (cache)
            kf_landscape_begin(entry, json, count, "cache[\"%.100s\"]", json->string);
        else
            kf_landscape_begin(entry, json, count, "results[%d]", count);
        status = cache ? read_cache_entry(file, entry, error) : read_t4_entry(file, entry, error);
        status = kf_landscape_give(entry, status, visit, context, error);
    }
    free(entry);
    return status;
}
