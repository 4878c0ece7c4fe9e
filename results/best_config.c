/* Writes and reads <scene>.kftune.json (docs/best-config.md). */
#include "results/best_config.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/program.h"
#include "base/util/text.h"

enum { FORMAT = 4 };
static const double exact_integers = 9007199254740992.0; /* 2^53 */

/* --- Writing ------------------------------------------------------------------------------------------ */

/* JSON has no NAN, so an unknown number becomes null. */
/* A JSON number beyond 2^53 may lose digits, so it is written as text. */
static void add_unsigned(cJSON *object, const char *key, uint64_t value) {
    char text[24];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    if ((double)value <= exact_integers)
        (void)cJSON_AddNumberToObject(object, key, (double)value);
    else
        (void)cJSON_AddStringToObject(object, key, text);
}

static cJSON *scene_to_json(const kf_best_config *best) {
    cJSON *scene = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(scene, "source", best->scene);
    (void)cJSON_AddStringToObject(scene, "hash", best->scene_hash);
    add_unsigned(scene, "seed", best->seed);
    (void)cJSON_AddItemToObject(scene, "facts", kf_facts_to_json(&best->facts));
    if (best->document != NULL)
        (void)cJSON_AddItemToObject(scene, "document", cJSON_Duplicate(best->document, true));
    return scene;
}

/* Writes a device as in best-config files. */
static cJSON *device_to_json(const kf_device_info *device) {
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(object, "spec", device->spec);
    (void)cJSON_AddStringToObject(object, "backend", device->backend);
    (void)cJSON_AddStringToObject(object, "name", device->name);
    (void)cJSON_AddStringToObject(object, "identity", device->identity);
    (void)cJSON_AddStringToObject(object, "architecture", device->architecture);
    (void)cJSON_AddStringToObject(object, "driver", device->driver);
    (void)cJSON_AddStringToObject(object, "compiler", device->compiler);
    kf_json_add_number(object, "multiprocessors", device->multiprocessors);
    kf_json_add_number(object, "warp_size", device->warp_size);
    kf_json_add_number(object, "max_threads_per_block", device->max_threads_per_block);
    add_unsigned(object, "memory_bytes", device->memory_bytes);
    add_unsigned(object, "l2_bytes", device->l2_bytes);
    kf_json_add_number(object, "peak_bandwidth", device->peak_bandwidth);
    return object;
}

/* Writes a best config with its scene, device, times, gains, verification and ties. */
static cJSON *best_to_json(const kf_best_config *best) {
    cJSON *root = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(root, "format", FORMAT);
    (void)cJSON_AddStringToObject(root, "kftune", best->version[0] != '\0' ? best->version : KF_VERSION);
    (void)cJSON_AddItemToObject(root, "scene", scene_to_json(best));
    (void)cJSON_AddItemToObject(root, "device", device_to_json(&best->device));
    (void)cJSON_AddItemToObject(root, "config", kf_config_to_json(&best->config));
    char hash[KF_HASH_HEX];
    kf_config_hash(&best->config, hash);
    (void)cJSON_AddStringToObject(root, "hash", hash);
    kf_json_add_number(root, "time_us", best->time_us);
    (void)cJSON_AddItemToObject(root, "ci_us", cJSON_CreateDoubleArray(best->ci_us, 2));
    kf_json_add_number(root, "updates_per_second", best->updates_per_second);
    (void)cJSON_AddStringToObject(root, "update", best->update);
    kf_json_add_number(root, "bandwidth", best->bandwidth);
    cJSON *gain = cJSON_AddObjectToObject(root, "gain");
    kf_json_add_number(gain, "baseline", best->gain_baseline);
    kf_json_add_number(gain, "paper", best->gain_paper);
    kf_json_add_number(gain, "default", best->gain_default);
    cJSON *verification = cJSON_AddObjectToObject(root, "verification");
    kf_json_add_number(verification, "error", best->verification_error);
    kf_json_add_number(verification, "bound", best->verification_bound);
    cJSON *ties = cJSON_AddArrayToObject(root, "ties");
    for (int i = 0; i < best->tie_count; i++)
        (void)cJSON_AddItemToArray(ties, kf_config_to_json(&best->ties[i]));
    (void)cJSON_AddNumberToObject(root, "tried", best->tried);
    (void)cJSON_AddStringToObject(root, "run", best->run_uuid);
    return root;
}

kf_status kf_best_config_write(const char *path, const kf_best_config *best, kf_error *error) {
    cJSON *root = best_to_json(best);
    const kf_status status = kf_json_write_file(path, root, error);
    cJSON_Delete(root);
    return status;
}

/* --- Reading ------------------------------------------------------------------------------------------ */

/* Reads a member that may be null, which means NAN. A missing member, or one of another type, is an error. */
static kf_status read_optional(kf_json_place place, const cJSON *object, const char *key, double *value,
                               kf_error *error) {
    *value = NAN;
    if (cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(object, key))) return KF_OK;
    return kf_json_number(place, object, key, true, 0, DBL_MAX, value, error);
}

static kf_status read_text(kf_json_place place, const cJSON *object, const char *key, char *target,
                           size_t size, kf_error *error) {
    const char *text = NULL;
    KF_TRY(kf_json_string(place, object, key, true, &text, error));
    if (strlen(text) < size) {
        kf_copy_text(target, size, text);
        return KF_OK;
    }
    return kf_fail(error, KF_BAD_INPUT, "%s: %s%s%s: longer than %zu characters", place.file, place.path,
                   place.path[0] != '\0' ? "." : "", key, size - 1);
}

static kf_status read_hash(kf_json_place place, const cJSON *object, const char *key, char hash[KF_HASH_HEX],
                           kf_error *error) {
    KF_TRY(read_text(place, object, key, hash, KF_HASH_HEX, error));
    if (strlen(hash) == KF_HASH_HEX - 1 && strspn(hash, "0123456789abcdef") == KF_HASH_HEX - 1) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: %s%s%s: is not a hash of 64 hexadecimal digits", place.file,
                   place.path, place.path[0] != '\0' ? "." : "", key);
}

static kf_status read_unsigned(kf_json_place place, const cJSON *object, const char *key, uint64_t *value,
                               kf_error *error) {
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsString(member)) {
        const char *text = member->valuestring;
        char again[24], *end = NULL;
        *value = strtoull(text, &end, 10);
        (void)snprintf(again, sizeof again, "%llu", (unsigned long long)*value);
        if (strcmp(again, text) == 0) return KF_OK;
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.%s: is not a whole number from 0 to 2^64 - 1", place.file,
                       place.path, key);
    }
    double number = 0;
    KF_TRY(kf_json_number(place, object, key, true, 0, exact_integers, &number, error));
    if (number != floor(number))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.%s: must be a whole number", place.file, place.path, key);
    *value = (uint64_t)number;
    return KF_OK;
}

static kf_status read_int(kf_json_place place, const cJSON *object, const char *key, int *value,
                          kf_error *error) {
    long number = 0;
    KF_TRY(kf_json_integer(place, object, key, true, 0, 1L << 30, &number, error));
    *value = (int)number;
    return KF_OK;
}

/* Reads the members that format 1 had instead of facts. */
static kf_status read_numbers(kf_json_place place, const cJSON *scene, kf_facts *facts, kf_error *error) {
    double nodes[3] = {0}, samples_per_cell = 0;
    uint64_t sample_count = 0;
    KF_TRY(kf_json_numbers(place, scene, "nodes", true, 1, 1 << 30, 3, nodes, error));
    KF_TRY(kf_json_number(place, scene, "samples_per_cell", true, 0, 1e9, &samples_per_cell, error));
    KF_TRY(read_unsigned(place, scene, "sample_count", &sample_count, error));
    kf_facts_size(facts, (const int[3]){(int)nodes[0], (int)nodes[1], (int)nodes[2]}, "nodes");
    kf_facts_amount(facts, "sample_count", (double)sample_count, "samples");
    kf_facts_number(facts, "samples_per_cell", samples_per_cell, "");
    return KF_OK;
}

static kf_status read_scene(const char *file, const cJSON *root, long format, kf_best_config *best,
                            kf_error *error) {
    static const char *const keys[] = {"source", "hash", "seed", "facts", NULL};
    static const char *const keys_4[] = {"source", "hash", "seed", "facts", "document", NULL};
    static const char *const keys_1[] = {"source",       "hash", "nodes", "samples_per_cell",
                                         "sample_count", "seed", NULL};
    kf_json_place place = {file, "scene"};
    const cJSON *scene = NULL, *facts = NULL, *document = NULL;
    KF_TRY(kf_json_object((kf_json_place){file, ""}, root, "scene", true, &scene, error));
    KF_TRY(kf_json_check_keys(place, scene, format == 1 ? keys_1 : format < 4 ? keys : keys_4, error));
    KF_TRY(read_text(place, scene, "source", best->scene, sizeof best->scene, error));
    KF_TRY(read_hash(place, scene, "hash", best->scene_hash, error));
    KF_TRY(read_unsigned(place, scene, "seed", &best->seed, error));
    if (format == 1) return read_numbers(place, scene, &best->facts, error);
    KF_TRY(kf_json_object(place, scene, "facts", true, &facts, error));
    KF_TRY(kf_json_object(place, scene, "document", false, &document, error));
    if (document != NULL) best->document = cJSON_Duplicate(document, true);
    return kf_facts_from_json(file, facts, NULL, &best->facts, error);
}

/* Reads the device of a best-config file. */
static kf_status read_device(const char *file, const cJSON *root, kf_device_info *device, kf_error *error) {
    static const char *const keys[] = {"spec",           "backend",
                                       "name",           "identity",
                                       "architecture",   "driver",
                                       "compiler",       "multiprocessors",
                                       "warp_size",      "max_threads_per_block",
                                       "memory_bytes",   "l2_bytes",
                                       "peak_bandwidth", NULL};
    kf_json_place place = {file, "device"};
    const cJSON *object = NULL;
    KF_TRY(kf_json_object((kf_json_place){file, ""}, root, "device", true, &object, error));
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    KF_TRY(read_text(place, object, "spec", device->spec, sizeof device->spec, error));
    KF_TRY(read_text(place, object, "backend", device->backend, sizeof device->backend, error));
    KF_TRY(read_text(place, object, "name", device->name, sizeof device->name, error));
    KF_TRY(read_text(place, object, "identity", device->identity, sizeof device->identity, error));
    KF_TRY(
        read_text(place, object, "architecture", device->architecture, sizeof device->architecture, error));
    KF_TRY(read_text(place, object, "driver", device->driver, sizeof device->driver, error));
    KF_TRY(read_text(place, object, "compiler", device->compiler, sizeof device->compiler, error));
    KF_TRY(read_int(place, object, "multiprocessors", &device->multiprocessors, error));
    KF_TRY(read_int(place, object, "warp_size", &device->warp_size, error));
    KF_TRY(read_int(place, object, "max_threads_per_block", &device->max_threads_per_block, error));
    KF_TRY(read_unsigned(place, object, "memory_bytes", &device->memory_bytes, error));
    KF_TRY(read_unsigned(place, object, "l2_bytes", &device->l2_bytes, error));
    return kf_json_number(place, object, "peak_bandwidth", true, 0, 1e18, &device->peak_bandwidth, error);
}

static kf_status read_config(const char *file, const cJSON *root, kf_best_config *best, kf_error *error) {
    const cJSON *object = NULL;
    KF_TRY(kf_json_object((kf_json_place){file, ""}, root, "config", true, &object, error));
    KF_TRY(kf_config_from_json(file, object, &best->config, error));
    KF_TRY(read_hash((kf_json_place){file, ""}, root, "hash", best->config_hash, error));
    char hash[KF_HASH_HEX];
    kf_config_hash(&best->config, hash);
    if (strcmp(hash, best->config_hash) == 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: hash: does not name this config, which was changed by hand; tune again, or "
                   "set it to %s",
                   file, hash);
}

/* Before format 3 the rate was in million node updates a second, whatever the unit of updates. */
static kf_status read_rate(kf_json_place top, const cJSON *root, long format, kf_best_config *best,
                           kf_error *error) {
    if (format >= 3) {
        KF_TRY(read_text(top, root, "update", best->update, sizeof best->update, error));
        return read_optional(top, root, "updates_per_second", &best->updates_per_second, error);
    }
    KF_TRY(read_optional(top, root, "mlups", &best->updates_per_second, error));
    best->updates_per_second *= 1e6;
    kf_copy_text(best->update, sizeof best->update, "node");
    return KF_OK;
}

static kf_status read_times(const char *file, const cJSON *root, long format, kf_best_config *best,
                            kf_error *error) {
    static const char *const gain_keys[] = {"baseline", "paper", "default", NULL};
    static const char *const verification_keys[] = {"error", "bound", NULL};
    kf_json_place top = {file, ""}, gains = {file, "gain"}, verifications = {file, "verification"};
    KF_TRY(kf_json_number(top, root, "time_us", true, DBL_MIN, 1e15, &best->time_us, error));
    KF_TRY(kf_json_numbers(top, root, "ci_us", true, 0, 1e15, 2, best->ci_us, error));
    if (best->ci_us[0] > best->time_us || best->ci_us[1] < best->time_us)
        return kf_fail(error, KF_BAD_INPUT, "%s: ci_us: time_us must lie between its two numbers", file);
    KF_TRY(read_rate(top, root, format, best, error));
    KF_TRY(read_optional(top, root, "bandwidth", &best->bandwidth, error));
    const cJSON *gain = NULL, *verification = NULL;
    KF_TRY(kf_json_object(top, root, "gain", true, &gain, error));
    KF_TRY(kf_json_check_keys(gains, gain, gain_keys, error));
    KF_TRY(read_optional(gains, gain, "baseline", &best->gain_baseline, error));
    KF_TRY(read_optional(gains, gain, "paper", &best->gain_paper, error));
    KF_TRY(read_optional(gains, gain, "default", &best->gain_default, error));
    KF_TRY(kf_json_object(top, root, "verification", true, &verification, error));
    KF_TRY(kf_json_check_keys(verifications, verification, verification_keys, error));
    KF_TRY(read_optional(verifications, verification, "error", &best->verification_error, error));
    KF_TRY(read_optional(verifications, verification, "bound", &best->verification_bound, error));
    if (best->verification_error > best->verification_bound)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: verification.error: is above its bound; this config gives wrong "
                       "results, tune again",
                       file);
    return KF_OK;
}

static kf_status read_ties(const char *file, const cJSON *root, kf_best_config *best, kf_error *error) {
    const cJSON *ties = cJSON_GetObjectItemCaseSensitive(root, "ties");
    if (!cJSON_IsArray(ties))
        return kf_fail(error, KF_BAD_INPUT, "%s: ties: must be an array of configs, possibly empty", file);
    for (const cJSON *tie = ties->child; tie != NULL; tie = tie->next) {
        if (best->tie_count == KF_BEST_TIES)
            return kf_fail(error, KF_BAD_INPUT, "%s: ties: more than %d configs", file, KF_BEST_TIES);
        if (kf_config_from_json(file, tie, &best->ties[best->tie_count], error) != KF_OK)
            return kf_fail_context(error, "ties[%d]", best->tie_count);
        best->tie_count++;
    }
    return KF_OK;
}

/* Reads a best-config file of this format or an older one. A newer one is refused. */
static kf_status read_root(const char *file, const cJSON *root, kf_best_config *best, kf_error *error) {
    static const char *const keys[] = {"format",
                                       "kftune",
                                       "scene",
                                       "device",
                                       "config",
                                       "hash",
                                       "time_us",
                                       "ci_us",
                                       "updates_per_second",
                                       "update",
                                       "bandwidth",
                                       "gain",
                                       "verification",
                                       "ties",
                                       "run",
                                       NULL};
    static const char *const keys_4[] = {"format",       "kftune",    "scene",
                                         "device",       "config",    "hash",
                                         "time_us",      "ci_us",     "updates_per_second",
                                         "update",       "bandwidth", "gain",
                                         "verification", "ties",      "tried",
                                         "run",          NULL};
    static const char *const old_keys[] = {"format", "kftune",       "scene", "device", "config",
                                           "hash",   "time_us",      "ci_us", "mlups",  "bandwidth",
                                           "gain",   "verification", "ties",  "run",    NULL};
    kf_json_place top = {file, ""};
    if (cJSON_IsObject(root) && !cJSON_HasObjectItem(root, "format"))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: is no config of 'kftune tune' (it has no \"format\"); a scene is run with --scene", file);
    /* The format is read first, because a newer one may have unknown keys. */
    long format = 0;
    KF_TRY(kf_json_integer(top, root, "format", true, 1, 1L << 30, &format, error));
    if (format > FORMAT)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: format: is %ld, written by a newer kftune; this one reads up to %d: "
                       "update kftune or tune again",
                       file, format, FORMAT);
    KF_TRY(kf_json_check_keys(top, root, format < 3 ? old_keys : format < 4 ? keys : keys_4, error));
    KF_TRY(read_text(top, root, "kftune", best->version, sizeof best->version, error));
    KF_TRY(read_scene(file, root, format, best, error));
    KF_TRY(read_device(file, root, &best->device, error));
    KF_TRY(read_config(file, root, best, error));
    KF_TRY(read_times(file, root, format, best, error));
    KF_TRY(read_ties(file, root, best, error));
    if (format >= 4) KF_TRY(read_int(top, root, "tried", &best->tried, error));
    return read_text(top, root, "run", best->run_uuid, sizeof best->run_uuid, error);
}

kf_status kf_best_config_read(const char *path, kf_best_config *best, kf_error *error) {
    memset(best, 0, sizeof *best);
    cJSON *root = NULL;
    KF_TRY(kf_json_read_file(path, &root, error));
    kf_status status = read_root(path, root, best, error);
    cJSON_Delete(root);
    if (status != KF_OK) kf_best_config_free(best);
    return status;
}

void kf_best_config_free(kf_best_config *best) {
    kf_facts_free(&best->facts);
    cJSON_Delete(best->document);
    best->document = NULL;
}

void kf_best_config_known(const kf_problem *problem, const kf_device_info *device, const kf_config *config,
                          double time_us, double updates_per_us, kf_best_config *best) {
    memset(best, 0, sizeof *best);
    kf_copy_text(best->version, sizeof best->version, KF_VERSION);
    kf_copy_text(best->scene, sizeof best->scene, problem->source);
    memcpy(best->scene_hash, problem->hash, sizeof best->scene_hash);
    kf_facts_copy(&best->facts, &problem->facts);
    best->seed = problem->seed;
    best->device = *device;
    best->config = *config;
    kf_config_hash(&best->config, best->config_hash);
    best->time_us = time_us;
    best->updates_per_second = 1e6 * updates_per_us;
    kf_copy_text(best->update, sizeof best->update, problem->system->update);
}
