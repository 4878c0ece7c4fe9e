/* Exports for other autotuners: T4 results and Kernel Tuner caches. Their times are in milliseconds. */
#include "results/foreign_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "results/provenance.h"

const kf_state_words kf_state_words_of[KF_STATES] = {
    [KF_STATE_OK] = {"correct", NULL},
    [KF_STATE_WRONG_RESULT] = {"correctness", "RuntimeFailedConfig"},
    [KF_STATE_CRASH] = {"runtime", "RuntimeFailedConfig"},
    [KF_STATE_TIMEOUT] = {"timeout", "RuntimeFailedConfig"},
    [KF_STATE_INVALID] = {"constraints", "InvalidConfig"},
    [KF_STATE_COMPILE] = {"compile", "CompilationFailedConfig"},
    [KF_STATE_OUT_OF_MEMORY] = {"runtime", "RuntimeFailedConfig"},
    [KF_STATE_SKIPPED] = {NULL, NULL},
};

enum { DOMAIN_VALUES = 4096 }; /* of one parameter; a larger domain only takes longer */

static bool same_scalar(const cJSON *a, const cJSON *b) {
    return cJSON_Compare(a, b, true) != 0;
}

/* Makes {"alpha": 64, ...}: the parameters as other programs write them. A name that is a number with a
 * fraction becomes a number, because configs have no such numbers. The caller frees it. */
static cJSON *parameters_json(const kf_config *config) {
    cJSON *json = kf_config_to_json(config);
    cJSON *parameters = cJSON_DetachItemFromObjectCaseSensitive(json, "parameters");
    cJSON_Delete(json);
    for (int i = 0; i < config->count; i++) {
        const kf_value *value = &config->values[i];
        if (value->kind != KF_VALUE_NAME) continue;
        cJSON *number = cJSON_ParseWithOpts(value->name, NULL, 1);
        char *text = cJSON_IsNumber(number) ? kf_json_canonical(number) : NULL;
        if (text != NULL && strcmp(text, value->name) == 0)
            (void)cJSON_ReplaceItemInObjectCaseSensitive(parameters, value->parameter, number);
        else
            cJSON_Delete(number);
        free(text);
    }
    return parameters;
}

/* Returns the parameters as in the file of an imported run. */
static cJSON *original_parameters(const kf_config *config, const kf_provenance *provenance) {
    cJSON *parameters = kf_config_to_json(config), *original = cJSON_CreateObject();
    const cJSON *value;
    cJSON_ArrayForEach(value, cJSON_GetObjectItemCaseSensitive(parameters, "parameters"))(void)
        cJSON_AddItemToObject(
            original, value->string,
            kf_foreign_original(cJSON_GetObjectItemCaseSensitive(provenance->domains, value->string), value));
    cJSON_Delete(parameters);
    kf_provenance_order(provenance, original);
    return original;
}

/* Returns the parameters as they are exported. */
static cJSON *outgoing(const kf_config *config, const kf_provenance *provenance) {
    return provenance->domains != NULL ? original_parameters(config, provenance) : parameters_json(config);
}

void kf_domains_add(cJSON *domains, const cJSON *parameters) {
    const cJSON *value = NULL;
    cJSON_ArrayForEach(value, parameters) {
        cJSON *domain = cJSON_GetObjectItemCaseSensitive(domains, value->string);
        if (domain == NULL) domain = cJSON_AddArrayToObject(domains, value->string);
        bool known = false;
        int count = 0;
        for (const cJSON *item = domain->child; item != NULL && !known; item = item->next, count++)
            known = same_scalar(item, value);
        if (known || count >= DOMAIN_VALUES) continue;
        (void)cJSON_AddItemToArray(domain, cJSON_Duplicate(value, 1));
    }
}

/* --- Parts of both formats ---------------------------------------------------------------------------- */

typedef struct kf_landscape_writer {
    FILE *stream;
    cJSON *domains; /* Kernel Tuner: all parameters in order */
    kf_provenance provenance;
    bool first;
} kf_landscape_writer;

static void add_known(cJSON *object, const char *key, double value) {
    if (isfinite(value)) (void)cJSON_AddNumberToObject(object, key, value);
}

static cJSON *runtimes(const kf_measurement *measurement) {
    cJSON *times = cJSON_CreateArray();
    for (size_t i = 0; i < measurement->sample_count; i++)
        (void)cJSON_AddItemToArray(times, cJSON_CreateNumber(measurement->samples_us[i] / 1000));
    return times;
}

static double milliseconds(double seconds) {
    return isfinite(seconds) ? seconds * 1000 : 0;
}

/* Adds the data for which other programs have no member under kftune's key, so that nothing is lost when the
 * file is read again. */
static void add_ours(cJSON *entry, const kf_result_row *row) {
    const kf_measurement *measurement = &row->measurement;
    cJSON *ours = cJSON_AddObjectToObject(entry, KF_LANDSCAPE_KEY);
    (void)cJSON_AddStringToObject(ours, "role", row->role);
    (void)cJSON_AddNumberToObject(ours, "sequence", row->sequence);
    (void)cJSON_AddStringToObject(ours, "state", kf_state_names[measurement->state]);
    if (measurement->state != KF_STATE_OK) (void)cJSON_AddStringToObject(ours, "reason", measurement->reason);
    if (measurement->sample_count > 0) (void)cJSON_AddNumberToObject(ours, "batch", measurement->batch);
    if (measurement->state == KF_STATE_OK)
        (void)cJSON_AddStringToObject(ours, "stop", kf_stop_names[measurement->stop]);
    if (measurement->build_hash[0] != '\0')
        (void)cJSON_AddStringToObject(ours, "build", measurement->build_hash);
    add_known(ours, "updates_per_us", measurement->updates_per_us);
    add_known(ours, "bandwidth", measurement->effective_bandwidth);
    add_known(ours, "compile_s", measurement->compile_seconds);
    add_known(ours, "verify_s", measurement->verify_seconds);
    add_known(ours, "measure_s", measurement->measure_seconds);
    const kf_verification *verification = &measurement->verification;
    if (!isfinite(verification->error)) return;
    cJSON *verified = cJSON_AddObjectToObject(ours, "verification");
    (void)cJSON_AddNumberToObject(verified, "error", verification->error);
    add_known(verified, "bound", verification->bound);
    (void)cJSON_AddItemToObject(verified, "deviations", kf_deviations_to_json(verification));
    (void)cJSON_AddStringToObject(verified, "worst", verification->worst);
}

/* Prints the entry and frees it. */
static kf_status print_entry(kf_landscape_writer *writer, cJSON *entry, kf_error *error) {
    char *text = kf_json_text(entry, false);
    cJSON_Delete(entry);
    if (text == NULL) return kf_fail(error, KF_MACHINE, "out of memory while exporting");
    (void)fputs(text, writer->stream);
    cJSON_free(text);
    return kf_export_end(writer->stream, error);
}

/* Adds device, kernel and size of the problem, and under kftune's key the run to which they belong. */
static void add_identity(cJSON *object, const kf_run_summary *run, const kf_provenance *provenance) {
    if (!provenance->nameless) (void)cJSON_AddStringToObject(object, "device_name", run->device);
    const kf_fact *kernel = kf_facts_find(run->facts, "kernel");
    (void)cJSON_AddStringToObject(object, "kernel_name", kernel != NULL ? kernel->word : run->system);
    int size[3], axes = 3;
    /* Other problems have as many numbers as axes. */
    const bool sized = kf_facts_get_size(run->facts, size);
    while (sized && axes > 1 && size[axes - 1] == 1)
        axes--;
    if (sized) (void)cJSON_AddItemToObject(object, "problem_size", cJSON_CreateIntArray(size, axes));
    cJSON *ours = cJSON_AddObjectToObject(object, KF_LANDSCAPE_KEY);
    (void)cJSON_AddStringToObject(ours, "version", KF_VERSION);
    if (kernel != NULL) (void)cJSON_AddStringToObject(ours, "system", run->system);
    (void)cJSON_AddStringToObject(ours, "scene", run->scene);
    (void)cJSON_AddStringToObject(ours, "run", run->uuid);
}

/* --- T4 ----------------------------------------------------------------------------------------------- */

static cJSON *t4_times(const kf_measurement *measurement) {
    cJSON *times = cJSON_CreateObject();
    double compiled = milliseconds(measurement->compile_seconds);
    (void)cJSON_AddNumberToObject(times, "compilation_time", compiled);
    (void)cJSON_AddNumberToObject(times, "compilation",
                                  compiled); /* the name that Kernel Tuner writes and reads */
    (void)cJSON_AddItemToObject(times, "runtimes", runtimes(measurement));
    (void)cJSON_AddNumberToObject(times, "framework", 0);
    (void)cJSON_AddNumberToObject(times, "search_algorithm", 0);
    (void)cJSON_AddNumberToObject(times, "validation", milliseconds(measurement->verify_seconds));
    return times;
}

static cJSON *t4_measurements(const kf_provenance *provenance, const kf_measurement *measurement) {
    cJSON *list = cJSON_CreateArray(), *time = cJSON_CreateObject();
    bool ok = measurement->state == KF_STATE_OK;
    (void)cJSON_AddStringToObject(time, "name", "time");
    if (ok)
        (void)cJSON_AddNumberToObject(time, "value", kf_provenance_time(provenance, measurement) / 1000);
    else
        (void)cJSON_AddStringToObject(time, "value", kf_state_words_of[measurement->state].kernel_tuner);
    (void)cJSON_AddStringToObject(time, "unit", ok ? "ms" : "");
    (void)cJSON_AddItemToArray(list, time);
    return list;
}

/* Prints a result in T4's format. */
static kf_status print_t4(void *context, const kf_result_row *row, kf_error *error) {
    kf_landscape_writer *writer = context;
    const kf_measurement *measurement = &row->measurement;
    if (kf_state_words_of[measurement->state].t4 == NULL) return KF_OK; /* not a measurement */
    (void)fputs(writer->first ? "\n" : ",\n", writer->stream);
    writer->first = false;
    cJSON *entry = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(entry, "timestamp", row->measured);
    (void)cJSON_AddItemToObject(entry, "configuration", outgoing(&row->config, &writer->provenance));
    static const char *const objective = "time";
    (void)cJSON_AddItemToObject(entry, "objectives", cJSON_CreateStringArray(&objective, 1));
    (void)cJSON_AddItemToObject(entry, "times", t4_times(measurement));
    (void)cJSON_AddStringToObject(entry, "invalidity", kf_state_words_of[measurement->state].t4);
    (void)cJSON_AddNumberToObject(entry, "correctness", measurement->state == KF_STATE_OK ? 1 : 0);
    (void)cJSON_AddItemToObject(entry, "measurements", t4_measurements(&writer->provenance, measurement));
    add_ours(entry, row);
    return print_entry(writer, entry, error);
}

static kf_status write_t4(kf_store *store, const kf_run_summary *run, kf_landscape_writer *writer,
                          kf_error *error) {
    FILE *stream = writer->stream;
    cJSON *metadata = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(metadata, "timeunit", "milliseconds");
    add_identity(metadata, run, &writer->provenance);
    (void)fputs("{\"schema_version\":\"1.0.0\",\n\"metadata\":", stream);
    KF_TRY(print_entry(writer, metadata, error));
    (void)fputs(",\n\"results\":[", stream);
    KF_TRY(kf_store_rows(store, run->id, false, print_t4, writer, error));
    (void)fputs("\n]}\n", stream);
    return kf_export_end(stream, error);
}

kf_status kf_store_export_t4(kf_store *store, int64_t run_id, FILE *stream, kf_error *error) {
    kf_run_summary run;
    KF_TRY(kf_store_run_of(store, run_id, &run, error));
    kf_landscape_writer writer = {.stream = stream, .first = true};
    KF_TRY(kf_provenance_read(store, run_id, &writer.provenance, error));
    const kf_status status = write_t4(store, &run, &writer, error);
    kf_provenance_release(&writer.provenance);
    return status;
}

/* --- Kernel Tuner cache ------------------------------------------------------------------------------- */

/* Appends a value of a config's key, which consists of the values in the order of tune_params_keys. */
static void append_value(kf_text *key, const cJSON *value) {
    if (cJSON_IsString(value) || cJSON_IsRaw(value))
        kf_text_append(key, "%s", value->valuestring);
    else if (cJSON_IsNull(value))
        kf_text_append(key, "None");
    else if (cJSON_IsArray(value)) {
        kf_text_append(key, "[");
        for (const cJSON *item = value->child; item != NULL; item = item->next) {
            append_value(key, item);
            kf_text_append(key, item->next != NULL ? ", " : "");
        }
        kf_text_append(key, "]");
    } else if (cJSON_IsBool(value))
        kf_text_append(key, "%s", cJSON_IsTrue(value) ? "True" : "False"); /* as Python prints it */
    else if (cJSON_IsNumber(value))
        kf_text_append(key, "%.15g", value->valuedouble);
}

/* Prints a result as an entry of Kernel Tuner's cache. */
static kf_status print_cache_entry(void *context, const kf_result_row *row, kf_error *error) {
    kf_landscape_writer *writer = context;
    const kf_measurement *measurement = &row->measurement;
    if (kf_state_words_of[measurement->state].t4 == NULL) return KF_OK;
    bool ok = measurement->state == KF_STATE_OK;
    cJSON *entry = outgoing(&row->config, &writer->provenance);
    kf_text key = {0};
    for (const cJSON *domain = writer->domains->child; domain != NULL; domain = domain->next) {
        kf_text_append(&key, domain == writer->domains->child ? "" : ",");
        append_value(&key, cJSON_GetObjectItemCaseSensitive(entry, domain->string));
    }
    cJSON *name = cJSON_CreateString(key.text != NULL ? key.text : "");
    kf_text_free(&key);
    (void)fputs(writer->first ? "\n" : ",\n", writer->stream);
    writer->first = false;
    kf_status status = print_entry(writer, name, error);
    (void)fputs(": ", writer->stream);
    if (ok) {
        (void)cJSON_AddNumberToObject(entry, "time",
                                      kf_provenance_time(&writer->provenance, measurement) / 1000);
        (void)cJSON_AddItemToObject(entry, "times", runtimes(measurement));
    } else {
        (void)cJSON_AddStringToObject(entry, "time", kf_state_words_of[measurement->state].kernel_tuner);
    }
    (void)cJSON_AddNumberToObject(entry, "compile_time", milliseconds(measurement->compile_seconds));
    (void)cJSON_AddNumberToObject(entry, "verification_time", milliseconds(measurement->verify_seconds));
    (void)cJSON_AddNumberToObject(entry, "benchmark_time", milliseconds(measurement->measure_seconds));
    (void)cJSON_AddNumberToObject(entry, "strategy_time", 0);
    (void)cJSON_AddNumberToObject(entry, "framework_time", 0);
    (void)cJSON_AddStringToObject(entry, "timestamp", row->measured);
    add_ours(entry, row);
    kf_status printed = print_entry(writer, entry, error);
    return status == KF_OK ? printed : status;
}

static kf_status collect_domains(void *context, const kf_result_row *row, kf_error *error) {
    (void)error;
    kf_landscape_writer *writer = context;
    cJSON *parameters = outgoing(&row->config, &writer->provenance);
    kf_domains_add(writer->domains, parameters);
    cJSON_Delete(parameters);
    return KF_OK;
}

/* Returns the domains as the rows of the file have them: if a domain contains fractions, its whole numbers
 * have a point. */
static cJSON *outgoing_domains(const kf_provenance *provenance) {
    cJSON *domains = cJSON_CreateObject();
    const cJSON *domain, *value;
    cJSON_ArrayForEach(domain, provenance->domains) {
        cJSON *list = cJSON_AddArrayToObject(domains, domain->string);
        cJSON_ArrayForEach(value, domain) {
            cJSON *plain = kf_foreign_value(value);
            (void)cJSON_AddItemToArray(list, kf_foreign_original(domain, plain));
            cJSON_Delete(plain);
        }
    }
    return domains;
}

static kf_status print_cache(kf_store *store, const kf_run_summary *run, kf_landscape_writer *writer,
                             kf_error *error) {
    FILE *stream = writer->stream;
    cJSON *domains = writer->domains;
    cJSON *keys = cJSON_CreateArray(), *head = cJSON_CreateObject();
    for (const cJSON *domain = domains->child; domain != NULL; domain = domain->next)
        (void)cJSON_AddItemToArray(keys, cJSON_CreateString(domain->string));
    (void)cJSON_AddStringToObject(head, "schema_version", "1.1.0");
    add_identity(head, run, &writer->provenance);
    (void)cJSON_AddItemToObject(head, "tune_params_keys", keys);
    (void)cJSON_AddItemReferenceToObject(head, "tune_params", domains);
    (void)cJSON_AddStringToObject(head, "objective", "time");
    char *text = kf_json_text(head, false);
    cJSON_Delete(head);
    if (text == NULL) return kf_fail(error, KF_MACHINE, "out of memory while exporting");
    text[strlen(text) - 1] = '\0'; /* the brace stays open for the entries */
    (void)fprintf(stream, "%s,\n\"cache\": {", text);
    cJSON_free(text);
    KF_TRY(kf_store_rows(store, run->id, true, print_cache_entry, writer, error));
    (void)fputs("}\n}\n", stream);
    return kf_export_end(stream, error);
}

kf_status kf_store_export_kernel_tuner(kf_store *store, int64_t run_id, FILE *stream, kf_error *error) {
    kf_run_summary run;
    KF_TRY(kf_store_run_of(store, run_id, &run, error));
    kf_landscape_writer writer = {.stream = stream, .first = true};
    KF_TRY(kf_provenance_read(store, run_id, &writer.provenance, error));
    cJSON *domains = outgoing_domains(&writer.provenance);
    writer.domains = domains;
    kf_status status = kf_store_rows(store, run_id, true, collect_domains, &writer, error);
    if (status == KF_OK) status = print_cache(store, &run, &writer, error);
    cJSON_Delete(domains);
    kf_provenance_release(&writer.provenance);
    return status;
}
