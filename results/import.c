/* Import of landscapes that other autotuners measured: T4 results and Kernel Tuner caches. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/text.h"
#include "results/landscape.h"
#include "results/landscape_file.h"

/* --- what both formats become ------------------------------------------------------------------------- */

typedef struct kf_import {
    kf_store *store;
    const char *file;
    char system[KF_NAME];
    kf_scene scene;
    kf_device_info device;
    kf_run_row run;
    cJSON *domains;
    double unit_us; /* of the file's times */
    int count;
} kf_import;

static kf_status complain(const kf_import *import, const char *where, kf_error *error, const char *what) {
    return kf_fail(error, KF_BAD_INPUT, "%s: %.120s: %s", import->file, where, what);
}

/* A number, or fallback for what is missing or something else. */
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

/* Seconds from a time in the file's unit; one that makes no sense is not known. */
static double seconds_or(const kf_import *import, const cJSON *object, const char *key) {
    double time = number_or(object, key, NAN);
    return time >= 0 && isfinite(time) ? time * import->unit_us / 1e6 : NAN;
}

static void problem_size(const cJSON *size, int nodes[3]) {
    for (int axis = 0; axis < 3; axis++) {
        const cJSON *item = cJSON_IsArray(size) ? cJSON_GetArrayItem(size, axis) : axis == 0 ? size : NULL;
        double value = value_or(item, 1);
        nodes[axis] = value >= 1 && value <= 1 << 30 ? (int)value : 1;
    }
}

/* A name for the system out of anything: what may not stand in one becomes a low line. */
static void plain_name(const char *text, char name[KF_NAME]) {
    kf_copy_text(name, KF_NAME, text[0] != '\0' ? text : "unknown");
    for (char *c = name; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~' || strchr("\"'\\", *c) != NULL) *c = '_';
}

/* "a/convolution-A4000.t4.json.gz" -> "convolution-A4000" */
static void base_name(const char *file, char name[KF_NAME]) {
    const char *slash = strrchr(file, '/');
    char base[KF_PATH];
    kf_copy_text(base, sizeof base, slash != NULL ? slash + 1 : file);
    base[strcspn(base, ".")] = '\0';
    plain_name(base, name);
}

static void identify(kf_import *import, const cJSON *identity) {
    char fallback[KF_NAME];
    base_name(import->file, fallback);
    plain_name(string_or(identity, "kernel_name", fallback), import->system);
    const cJSON *ours = cJSON_GetObjectItemCaseSensitive(identity, KF_LANDSCAPE_KEY);
    kf_scene *scene = &import->scene;
    problem_size(cJSON_GetObjectItemCaseSensitive(identity, "problem_size"), scene->nodes);
    kf_copy_text(scene->name, sizeof scene->name, string_or(ours, "scene", import->system));
    kf_copy_text(scene->source, sizeof scene->source, "import");
    char numbers[64];
    (void)snprintf(numbers, sizeof numbers, "%dx%dx%d", scene->nodes[0], scene->nodes[1], scene->nodes[2]);
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, "imported landscape");
    kf_hash_add_string(&hasher, import->system);
    kf_hash_add_string(&hasher, scene->name);
    kf_hash_add_string(&hasher, numbers);
    kf_hash_end(&hasher, scene->hash);
    kf_copy_text(import->device.backend, sizeof import->device.backend, "import");
    kf_copy_text(import->device.name, sizeof import->device.name,
                 string_or(identity, "device_name", "unknown"));
}

/* Numbers with a fraction become names: a config has whole numbers, booleans and names. */
static kf_status read_config(const kf_import *import, const char *where, const cJSON *values,
                             const cJSON *keys, kf_config *config, kf_error *error) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "system", import->system);
    cJSON *parameters = cJSON_AddObjectToObject(json, "parameters");
    const cJSON *value = NULL;
    cJSON_ArrayForEach(value, values) {
        if (keys != NULL && cJSON_GetObjectItemCaseSensitive(keys, value->string) == NULL) continue;
        bool fraction = cJSON_IsNumber(value) && value->valuedouble != trunc(value->valuedouble);
        char *text = fraction ? kf_json_canonical(value) : NULL;
        (void)cJSON_AddItemToObject(parameters, value->string,
                                    fraction ? cJSON_CreateString(text) : cJSON_Duplicate(value, 1));
        free(text);
    }
    kf_status status = kf_config_from_json(import->file, json, config, error);
    cJSON_Delete(json);
    return status == KF_OK ? KF_OK : kf_fail_context(error, "%.120s", where);
}

static kf_status read_samples(const kf_import *import, const char *where, const cJSON *times,
                              const cJSON *single, kf_measurement *measurement, kf_error *error) {
    int count = cJSON_IsArray(times) ? cJSON_GetArraySize(times) : 0;
    const cJSON *item = count > 0 ? times->child : single;
    if (count == 0) count = 1;
    measurement->samples_us = kf_allocate_zeroed((size_t)count, sizeof(double));
    measurement->sample_count = (size_t)count;
    for (int i = 0; i < count; i++, item = item != NULL ? item->next : NULL) {
        double time = (double)(float)(value_or(item, NAN) * import->unit_us);
        if (!(time > 0 && isfinite(time)))
            return complain(import, where, error,
                            "a time must be a number above 0, for a result that is correct");
        measurement->samples_us[i] = time;
    }
    measurement->step_us = kf_summarise(measurement->samples_us, measurement->sample_count);
    return KF_OK;
}

static int position(const char *word, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0) return i;
    return -1;
}

/* What kftune wrote itself beside the other program's members. */
static kf_status read_ours(const kf_import *import, const char *where, const cJSON *ours,
                           kf_measurement *measurement, char role[KF_NAME + 8], kf_error *error) {
    kf_copy_text(role, KF_NAME + 8, string_or(ours, "role", "import"));
    int state =
        position(string_or(ours, "state", kf_state_names[measurement->state]), kf_state_names, KF_STATES);
    int stop = position(string_or(ours, "stop", kf_stop_names[KF_STOP_SAMPLES]), kf_stop_names, KF_STOPS);
    if (state < 0 || stop < 0)
        return complain(import, where, error, "has a state or stop that does not exist");
    if ((state == KF_STATE_OK) != (measurement->state == KF_STATE_OK) || state == KF_STATE_SKIPPED)
        return complain(import, where, error, "contradicts itself about whether the result is correct");
    measurement->state = (kf_state)state;
    measurement->stop = (kf_stop)stop;
    kf_copy_text(measurement->reason, sizeof measurement->reason,
                 string_or(ours, "reason", measurement->reason));
    kf_copy_text(measurement->build_hash, sizeof measurement->build_hash, string_or(ours, "build", ""));
    double batch = number_or(ours, "batch", 1);
    measurement->batch = batch >= 1 && batch <= 1 << 30 ? (int)batch : 1;
    measurement->mlups = number_or(ours, "mlups", NAN);
    measurement->effective_bandwidth = number_or(ours, "bandwidth", NAN);
    measurement->compile_seconds = number_or(ours, "compile_s", measurement->compile_seconds);
    measurement->verify_seconds = number_or(ours, "verify_s", measurement->verify_seconds);
    measurement->measure_seconds = number_or(ours, "measure_s", measurement->measure_seconds);
    const cJSON *verified = cJSON_GetObjectItemCaseSensitive(ours, "verification");
    kf_verification *verification = &measurement->verification;
    verification->error = number_or(verified, "error", NAN);
    verification->bound = number_or(verified, "bound", NAN);
    verification->mass_drift = number_or(verified, "mass_drift", NAN);
    verification->load_error = number_or(verified, "load_error", NAN);
    kf_copy_text(verification->worst, sizeof verification->worst, string_or(verified, "worst", ""));
    return KF_OK;
}

static kf_device_state unknown_device_state(void) {
    return (kf_device_state){NAN, NAN, NAN, NAN, NAN, 0};
}

static kf_status add_result(kf_import *import, const char *where, const cJSON *entry, const kf_config *config,
                            kf_measurement *measurement, kf_error *error) {
    const cJSON *ours = cJSON_GetObjectItemCaseSensitive(entry, KF_LANDSCAPE_KEY);
    char role[KF_NAME + 8], moment[KF_MOMENT];
    measurement->device_before = unknown_device_state();
    measurement->device_after = unknown_device_state();
    KF_TRY(read_ours(import, where, ours, measurement, role, error));
    bool dated = kf_moment_parse(string_or(entry, "timestamp", ""), moment);
    double sequence = number_or(ours, "sequence", import->count);
    if (!(sequence >= 0 && sequence <= 1 << 30))
        return complain(import, where, error, "its sequence makes no sense");
    kf_status status = kf_store_add_result(import->store, import->run.id, (int)sequence, role, config,
                                           measurement, dated ? moment : NULL, error);
    import->count++;
    return status == KF_OK ? KF_OK : kf_fail_context(error, "%s: %.120s", import->file, where);
}

/* --- Kernel Tuner cache ------------------------------------------------------------------------------- */

static kf_state state_of_error(const char *word) {
    if (strstr(word, "Invalid") != NULL) return KF_STATE_INVALID;
    if (strstr(word, "Compilation") != NULL) return KF_STATE_COMPILE;
    return KF_STATE_CRASH;
}

static kf_status import_cache_entry(kf_import *import, const cJSON *entry, const cJSON *keys,
                                    kf_error *error) {
    char where[KF_NAME * 4];
    (void)snprintf(where, sizeof where, "cache[\"%.100s\"]", entry->string);
    if (!cJSON_IsObject(entry)) return complain(import, where, error, "must be an object {...}");
    kf_config config;
    KF_TRY(read_config(import, where, entry, keys, &config, error));
    const cJSON *time = cJSON_GetObjectItemCaseSensitive(entry, "time");
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(entry, "times");
    /* Newer files name the error in a member of its own. */
    const char *word = string_or(entry, "__error__", cJSON_IsString(time) ? time->valuestring : NULL);
    if (word == NULL && !cJSON_IsNumber(time) && !cJSON_IsArray(times))
        return complain(import, where, error, "has neither a time nor an error");
    kf_measurement *measurement = kf_allocate_zeroed(1, sizeof *measurement);
    measurement->compile_seconds = seconds_or(import, entry, "compile_time");
    measurement->verify_seconds = seconds_or(import, entry, "verification_time");
    measurement->measure_seconds = seconds_or(import, entry, "benchmark_time");
    kf_status status = KF_OK;
    if (word != NULL) {
        measurement->state = state_of_error(word);
        kf_copy_text(measurement->reason, sizeof measurement->reason, word);
    } else {
        status = read_samples(import, where, times, time, measurement, error);
    }
    if (status == KF_OK) status = add_result(import, where, entry, &config, measurement, error);
    kf_measurement_free(measurement);
    free(measurement);
    return status;
}

static kf_status import_cache(kf_import *import, const cJSON *root, kf_error *error) {
    const cJSON *cache = cJSON_GetObjectItemCaseSensitive(root, "cache");
    const cJSON *keys = cJSON_GetObjectItemCaseSensitive(root, "tune_params");
    if (!cJSON_IsObject(keys))
        return complain(import, "tune_params", error, "must be an object of parameters");
    const cJSON *entry = NULL;
    cJSON_ArrayForEach(entry, cache) KF_TRY(import_cache_entry(import, entry, keys, error));
    return KF_OK;
}

/* --- T4 ----------------------------------------------------------------------------------------------- */

static kf_status find_unit(kf_import *import, const cJSON *metadata, kf_error *error) {
    /* The second spelling is in published files. */
    static const char *const names[] = {"milliseconds", "miliseconds", "microseconds", "seconds",
                                        "nanoseconds"};
    static const double units_us[] = {1e3, 1e3, 1, 1e6, 1e-3};
    int at = position(string_or(metadata, "timeunit", names[0]), names, 5);
    if (at < 0)
        return complain(import, "metadata.timeunit", error,
                        "must be milliseconds, microseconds, seconds or "
                        "nanoseconds");
    import->unit_us = units_us[at];
    return KF_OK;
}

static const cJSON *measured_time(const cJSON *entry) {
    const cJSON *measurement = NULL;
    cJSON_ArrayForEach(measurement, cJSON_GetObjectItemCaseSensitive(entry, "measurements")) {
        if (strcmp(string_or(measurement, "name", ""), "time") == 0)
            return cJSON_GetObjectItemCaseSensitive(measurement, "value");
    }
    return NULL;
}

/* Our state for their word; -1: unknown. The first that has it: "runtime" is a crash, not lack of memory. */
static int state_of_invalidity(const char *word) {
    for (int state = 0; state < KF_STATES; state++)
        if (kf_state_words_of[state].t4 != NULL && strcmp(kf_state_words_of[state].t4, word) == 0)
            return state;
    return -1;
}

static kf_status import_t4_entry(kf_import *import, const cJSON *entry, int index, kf_error *error) {
    char where[48];
    (void)snprintf(where, sizeof where, "results[%d]", index);
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(entry, "configuration");
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(entry, "times");
    if (!cJSON_IsObject(values))
        return complain(import, where, error, "configuration: must be an object {...}");
    kf_config config;
    KF_TRY(read_config(import, where, values, NULL, &config, error));
    const char *word = string_or(entry, "invalidity", "");
    int state = state_of_invalidity(word);
    if (state < 0)
        return complain(import, where, error,
                        "invalidity: must be correct, compile, runtime, timeout, correctness or "
                        "constraints");
    kf_measurement *measurement = kf_allocate_zeroed(1, sizeof *measurement);
    measurement->state = (kf_state)state;
    double compiled = seconds_or(import, times, "compilation_time");
    measurement->compile_seconds = isnan(compiled) ? seconds_or(import, times, "compilation") : compiled;
    measurement->verify_seconds = seconds_or(import, times, "validation");
    measurement->measure_seconds = NAN;
    kf_status status = KF_OK;
    if (state == KF_STATE_OK)
        status = read_samples(import, where, cJSON_GetObjectItemCaseSensitive(times, "runtimes"),
                              measured_time(entry), measurement, error);
    else
        kf_copy_text(measurement->reason, sizeof measurement->reason, word);
    if (status == KF_OK) status = add_result(import, where, entry, &config, measurement, error);
    kf_measurement_free(measurement);
    free(measurement);
    return status;
}

static kf_status import_t4(kf_import *import, const cJSON *root, kf_error *error) {
    int index = 0;
    const cJSON *entry = NULL;
    cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(root, "results"))
        KF_TRY(import_t4_entry(import, entry, index++, error));
    return KF_OK;
}

/* --- both --------------------------------------------------------------------------------------------- */

/* The space an imported run refers to: the values that its parameters take. */
static void describe_space(kf_import *import, const cJSON *parameters, char **text) {
    cJSON *space = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(space, "system", import->system);
    (void)cJSON_AddItemToObject(space, "parameters", cJSON_Duplicate(parameters, 1));
    *text = kf_json_canonical(space);
    cJSON_Delete(space);
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, *text);
    kf_hash_end(&hasher, import->run.space_hash);
    import->run.space_json = *text;
}

static kf_status add_all(kf_import *import, const cJSON *root, bool cache, kf_error *error) {
    const cJSON *first = cache ? cJSON_GetObjectItemCaseSensitive(root, "cache")
                               : cJSON_GetObjectItemCaseSensitive(root, "results");
    first = first->child;
    char started[KF_MOMENT];
    bool dated = kf_moment_parse(string_or(first, "timestamp", ""), started);
    kf_run_origin origin = {"imported", dated ? started : NULL};
    kf_copy_text(import->run.system, sizeof import->run.system, import->system);
    kf_copy_text(import->run.strategy, sizeof import->run.strategy, "import");
    KF_TRY(kf_store_add_run(import->store, &import->scene, &import->device, &origin, &import->run, error));
    return cache ? import_cache(import, root, error) : import_t4(import, root, error);
}

static kf_status import_root(kf_import *import, const cJSON *root, kf_error *error) {
    bool cache = cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(root, "cache"));
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(root, "results");
    if (!cache && !cJSON_IsArray(results))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: is neither a Kernel Tuner cache (\"cache\": {...}) nor T4 results "
                       "(\"results\": [...])",
                       import->file);
    import->unit_us = 1e3;
    const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(root, "metadata");
    if (!cache) KF_TRY(find_unit(import, metadata, error));
    identify(import, cache ? root : metadata);
    if (!cache) { /* T4 does not say what the space is; what occurs stands for it */
        for (const cJSON *entry = results->child; entry != NULL; entry = entry->next) {
            kf_config config;
            const cJSON *values = cJSON_GetObjectItemCaseSensitive(entry, "configuration");
            if (read_config(import, "results", values, NULL, &config, NULL) == KF_OK)
                kf_domains_add(import->domains, &config);
        }
    }
    char *space = NULL;
    describe_space(import, cache ? cJSON_GetObjectItemCaseSensitive(root, "tune_params") : import->domains,
                   &space);
    kf_status status = kf_store_begin(import->store, error);
    if (status == KF_OK) {
        status = add_all(import, root, cache, error);
        status = kf_store_commit(import->store, status, "importing", error);
    }
    free(space);
    return status;
}

kf_status kf_store_import(kf_store *store, const char *file, int64_t *run_id, int *imported,
                          kf_error *error) {
    kf_error own = {0};
    if (error == NULL) error = &own;
    cJSON *root = NULL;
    kf_status status = kf_landscape_file_read(file, &root, error);
    kf_import *import = kf_allocate_zeroed(1, sizeof *import);
    import->store = store;
    import->file = file;
    import->domains = cJSON_CreateObject();
    if (status == KF_OK) status = import_root(import, root, error);
    *run_id = status == KF_OK ? import->run.id : 0;
    *imported = status == KF_OK ? import->count : 0;
    cJSON_Delete(import->domains);
    cJSON_Delete(root);
    free(import);
    return status;
}
