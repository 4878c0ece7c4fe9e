#include "harness/nightly/suite.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/statistics/detector.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/systems.h"

enum { MOST_BENCHMARKS = 200 };

/* Values for benchmarks that do not give their own. */
typedef struct defaults {
    char folder[KF_PATH];
    const char *device;
    double seconds;
    long processes;
} defaults;

static kf_status too_long(kf_json_place place, const char *key, kf_error *error) {
    return kf_fail(error, KF_BAD_INPUT, "%s: %s.%s: is too long, or has characters that cannot be printed",
                   place.file, place.path, key);
}

static kf_status read_text(kf_json_place place, const cJSON *json, const char *key, bool required,
                           char *target, size_t size, kf_error *error) {
    const char *text = target;
    KF_TRY(kf_json_string(place, json, key, required, &text, error));
    if (text == target) return KF_OK;
    if (text[0] == '\0' || strlen(text) >= size || !kf_is_printable(text)) return too_long(place, key, error);
    kf_copy_text(target, size, text);
    return KF_OK;
}

/* Resolves a path relative to the suite, unless it is the name of a shipped scene. */
static kf_status resolve(const defaults *base, const char *name, bool may_be_shipped, char path[KF_PATH],
                         kf_error *error) {
    if (name[0] == '/') return kf_path(path, error, "%s", name);
    KF_TRY(kf_path(path, error, "%s/%s", base->folder, name));
    if (may_be_shipped && access(path, F_OK) != 0) return kf_path(path, error, "%s", name);
    char absolute[KF_PATH];
    if (kf_real_path(path, absolute)) kf_copy_text(path, KF_PATH, absolute);
    return KF_OK;
}

static kf_status read_config(kf_json_place place, const defaults *base, const cJSON *json,
                             kf_suite_benchmark *benchmark, kf_error *error) {
    static const char *const keys[] = {"preset", "best_of_store", "file", "parameters", NULL};
    const cJSON *config = NULL;
    benchmark->source = KF_CONFIG_PRESET;
    kf_copy_text(benchmark->text, sizeof benchmark->text, "default");
    KF_TRY(kf_json_object(place, json, "config", false, &config, error));
    if (config == NULL) return KF_OK;
    char path[64];
    (void)snprintf(path, sizeof path, "%s.config", place.path);
    kf_json_place inner = {place.file, path};
    KF_TRY(kf_json_check_keys(inner, config, keys, error));
    if (cJSON_GetArraySize(config) != 1)
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: give one of preset, best_of_store, file, parameters",
                       place.file, inner.path);
    const char *text = NULL;
    bool best = true;
    const cJSON *parameters = NULL;
    KF_TRY(kf_json_boolean(inner, config, "best_of_store", false, &best, error));
    KF_TRY(kf_json_object(inner, config, "parameters", false, &parameters, error));
    if (parameters != NULL) {
        benchmark->source = KF_CONFIG_PARAMETERS;
        cJSON *whole = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(whole, "system",
                                      benchmark->system[0] != '\0' ? benchmark->system : "unknown");
        (void)cJSON_AddItemToObject(whole, "parameters", cJSON_Duplicate(parameters, true));
        kf_status status = kf_config_from_json(place.file, whole, &benchmark->config, error);
        cJSON_Delete(whole);
        return status;
    }
    if (cJSON_HasObjectItem(config, "best_of_store")) {
        if (!best)
            return kf_fail(error, KF_BAD_INPUT, "%s: %s.best_of_store: can only be true", place.file,
                           inner.path);
        benchmark->source = KF_CONFIG_BEST_OF_STORE;
        return KF_OK;
    }
    bool file = cJSON_HasObjectItem(config, "file");
    KF_TRY(kf_json_string(inner, config, file ? "file" : "preset", true, &text, error));
    if (file) {
        benchmark->source = KF_CONFIG_FILE;
        return resolve(base, text, false, benchmark->text, error);
    }
    if (!kf_config_plain_name(text)) return too_long(inner, "preset", error);
    kf_copy_text(benchmark->text, sizeof benchmark->text, text);
    return KF_OK;
}

static kf_status read_grid(kf_json_place place, const cJSON *json, int nodes[3], kf_error *error) {
    double grid[3] = {0, 0, 0};
    KF_TRY(kf_json_numbers(place, json, "grid", false, 1, 1 << 20, 3, grid, error));
    for (int axis = 0; axis < 3; axis++) {
        nodes[axis] = (int)grid[axis];
        if (nodes[axis] != grid[axis])
            return kf_fail(error, KF_BAD_INPUT, "%s: %s.grid: must be three whole numbers", place.file,
                           place.path);
    }
    return KF_OK;
}

/* Reads the keys that all kinds of benchmarks have. */
static kf_status read_common(kf_json_place place, const defaults *base, const cJSON *json,
                             kf_suite_benchmark *benchmark, kf_error *error) {
    KF_TRY(read_text(place, json, "name", true, benchmark->name, sizeof benchmark->name, error));
    if (base->device != NULL) kf_copy_text(benchmark->device, sizeof benchmark->device, base->device);
    char own[sizeof benchmark->device] = "";
    KF_TRY(read_text(place, json, "device", false, own, sizeof own, error));
    if (own[0] != '\0' && base->device == NULL)
        kf_copy_text(benchmark->device, sizeof benchmark->device, own);
    long processes = base->processes;
    KF_TRY(kf_json_integer(place, json, "processes", false, KF_LEAST_PROCESSES, KF_NIGHT_PROCESSES,
                           &processes, error));
    benchmark->processes = (int)processes;
    return KF_OK;
}

static kf_status read_command(kf_json_place place, const defaults *base, const cJSON *json,
                              kf_suite_benchmark *benchmark, kf_error *error) {
    static const char *const common[] = {"kind", "name", "device", "processes"};
    enum { COMMON = sizeof common / sizeof common[0] };
    const char *keys[COMMON + KF_COMMAND_KEYS + 1];
    memcpy(keys, common, sizeof common);
    memcpy(keys + COMMON, kf_command_keys, (KF_COMMAND_KEYS + 1) * sizeof *keys);
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(read_common(place, base, json, benchmark, error));
    char folder[KF_PATH];
    if (!kf_real_path(base->folder, folder)) kf_copy_text(folder, sizeof folder, base->folder);
    benchmark->command = kf_allocate_zeroed(1, sizeof *benchmark->command);
    KF_TRY(kf_command_read(place, json, folder, benchmark->command, error));
    return kf_command_check_kept(place, benchmark->command, error);
}

/* The kinds of benchmarks are a scene, a command, and a problem of each system whose problems contain their
 * own spaces. */
enum { MOST_KINDS = 16 };
static int list_kinds(const char *kinds[MOST_KINDS]) {
    int count = 0;
    kinds[count++] = "scene";
    for (int i = 0; kf_systems[i] != NULL && count < MOST_KINDS - 1; i++)
        if (kf_systems[i]->space_file == NULL) kinds[count++] = kf_systems[i]->name;
    kinds[count++] = "command";
    return count;
}

/* Reads one benchmark. Messages name it by its number in the list. */
static kf_status read_benchmark(const char *file, const defaults *base, const cJSON *json, int number,
                                kf_suite_benchmark *benchmark, kf_error *error) {
    static const char *const keys[] = {"kind",   "name",   "scene",  "grid",      "samples_per_cell",
                                       "system", "device", "config", "processes", "seconds",
                                       NULL};
    char path[32];
    (void)snprintf(path, sizeof path, "benchmarks[%d]", number);
    kf_json_place place = {file, path};
    *benchmark = (kf_suite_benchmark){.seconds = base->seconds};
    if (!cJSON_IsObject(json))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: must be an object {...}", file, path);
    const char *kinds[MOST_KINDS];
    const int count = list_kinds(kinds);
    int kind = cJSON_HasObjectItem(json, "command") ? count - 1 : 0;
    KF_TRY(kf_json_choice(place, json, "kind", false, kinds, count, &kind, error));
    if (kind == count - 1) return read_command(place, base, json, benchmark, error);
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(read_common(place, base, json, benchmark, error));
    if (kind > 0) kf_copy_text(benchmark->system, sizeof benchmark->system, kinds[kind]);
    char scene[KF_PATH] = "";
    KF_TRY(read_text(place, json, "scene", true, scene, sizeof scene, error));
    KF_TRY(resolve(base, scene, true, benchmark->scene, error));
    KF_TRY(read_grid(place, json, benchmark->options.nodes, error));
    KF_TRY(kf_json_number(place, json, "samples_per_cell", false, KF_LEAST_SAMPLES_PER_CELL,
                          KF_MOST_SAMPLES_PER_CELL, &benchmark->options.samples_per_cell, error));
    KF_TRY(read_text(place, json, "system", false, benchmark->system, sizeof benchmark->system, error));
    KF_TRY(kf_json_number(place, json, "seconds", false, 0.001, 3600, &benchmark->seconds, error));
    return read_config(place, base, json, benchmark, error);
}

static kf_status read_suite(const char *file, const cJSON *root, const char *device, kf_suite *suite,
                            kf_error *error) {
    static const char *const keys[] = {"suite",   "description", "device", "processes",
                                       "seconds", "benchmarks",  NULL};
    kf_json_place place = {file, ""};
    defaults base = {.processes = KF_LEAST_PROCESSES};
    char path[KF_PATH], own[64] = "";
    const char *description = NULL;
    if (!cJSON_IsObject(root)) return kf_fail(error, KF_BAD_INPUT, "%s: must be an object {...}", file);
    if (cJSON_HasObjectItem(root, "figures"))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: is a suite of `kftune bench --suite %s`; a night needs benchmarks", file, file);
    KF_TRY(kf_json_check_keys(place, root, keys, error));
    KF_TRY(kf_path(path, error, "%s", file));
    KF_TRY(kf_path(base.folder, error, "%s", dirname(path)));
    kf_copy_text(suite->folder, sizeof suite->folder, base.folder);
    KF_TRY(read_text(place, root, "suite", true, suite->name, sizeof suite->name, error));
    KF_TRY(kf_json_string(place, root, "description", false, &description, error));
    KF_TRY(read_text(place, root, "device", false, own, sizeof own, error));
    KF_TRY(kf_json_integer(place, root, "processes", false, KF_LEAST_PROCESSES, KF_NIGHT_PROCESSES,
                           &base.processes, error));
    KF_TRY(kf_json_number(place, root, "seconds", false, 0.001, 3600, &base.seconds, error));
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "benchmarks"), *item;
    int count = cJSON_GetArraySize(list);
    if (!cJSON_IsArray(list) || count == 0 || count > MOST_BENCHMARKS)
        return kf_fail(error, KF_BAD_INPUT, "%s: benchmarks: must be a list of 1 to %d objects", file,
                       MOST_BENCHMARKS);
    suite->benchmarks = kf_allocate_zeroed((size_t)count, sizeof *suite->benchmarks);
    cJSON_ArrayForEach(item, list) {
        kf_suite_benchmark *benchmark = &suite->benchmarks[suite->count++];
        base.device = device;
        KF_TRY(read_benchmark(file, &base, item, suite->count - 1, benchmark, error));
        if (benchmark->device[0] == '\0') kf_copy_text(benchmark->device, sizeof benchmark->device, own);
        for (int i = 0; i + 1 < suite->count; i++)
            if (strcmp(suite->benchmarks[i].name, benchmark->name) == 0)
                return kf_fail(
                    error, KF_BAD_INPUT,
                    "%s: benchmarks[%d].name: '%s' is the name of benchmarks[%d], too; give another", file,
                    suite->count - 1, benchmark->name, i);
    }
    return KF_OK;
}

/* Hashes what is measured: the suite's content, and the device on the command line. */
static void hash_suite(const cJSON *root, const char *device, char hash[KF_HASH_HEX]) {
    char *text = kf_json_canonical(root);
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, text);
    kf_hash_add_string(&hasher, device != NULL ? device : "");
    kf_hash_end(&hasher, hash);
    free(text);
}

static kf_status find_file(const char *name, char path[KF_PATH], kf_error *error) {
    KF_TRY(kf_path(path, error, "%s", name));
    if (access(name, F_OK) == 0 || strpbrk(name, "./") != NULL) return KF_OK;
    const char *folder = NULL;
    char shipped[KF_PATH];
    if (kf_data_folder(&folder, NULL) != KF_OK ||
        kf_path(shipped, NULL, "%s/suites/%s.json", folder, name) != KF_OK || access(shipped, F_OK) != 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "--suite %s: no such file or shipped suite; 'quick' is a shipped one", name);
    kf_copy_text(path, KF_PATH, shipped);
    return KF_OK;
}

kf_status kf_suite_read(const char *file, const char *device, kf_suite *suite, kf_error *error) {
    memset(suite, 0, sizeof *suite);
    char path[KF_PATH];
    KF_TRY(find_file(file, path, error));
    cJSON *root = NULL;
    KF_TRY(kf_json_read_file(path, &root, error));
    kf_status status = read_suite(path, root, device, suite, error);
    if (status == KF_OK)
        hash_suite(root, device, suite->hash);
    else
        kf_suite_free(suite);
    cJSON_Delete(root);
    return status;
}

void kf_suite_free(kf_suite *suite) {
    for (int i = 0; i < suite->count; i++)
        if (suite->benchmarks[i].command != NULL) {
            kf_command_free(suite->benchmarks[i].command);
            free(suite->benchmarks[i].command);
        }
    free(suite->benchmarks);
    memset(suite, 0, sizeof *suite);
}
