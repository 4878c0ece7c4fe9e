/* A measurement as a value: the names of its states, and its transfer over a pipe as JSON. */
#include "base/record/measurement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"

const char *const kf_state_names[KF_STATES] = {"ok",      "wrong_result", "crash",         "timeout",
                                               "invalid", "compile",      "out_of_memory", "skipped"};
const char *const kf_clock_state_names[KF_CLOCK_STATES] = {"unknown", "steady", "unsteady"};
const char *const kf_cache_policy_names[KF_CACHE_POLICIES] = {"steady", "cold", "hot"};
const char *const kf_quantity_names[KF_QUANTITIES] = {"time", "energy", "power", "edp"};
const char *const kf_stop_names[KF_STOPS] = {"precise", "samples", "time"};

const char *kf_quantity_unit(const char *name) {
    static const char *const units[KF_QUANTITIES] = {" (s)", " (J)", " (W)", " (J s)"};
    for (int i = 0; i < KF_QUANTITIES; i++)
        if (strcmp(name, kf_quantity_names[i]) == 0) return units[i];
    return "";
}

double kf_measurement_quantity(const kf_measurement *m, const char *name) {
    const double time = 1e-6 * m->step_us.median;
    const double energy = m->energy_j > 0.0 ? m->energy_j : (double)NAN;
    if (m->state != KF_STATE_OK) return (double)NAN;
    if (strcmp(name, "time") == 0) return time;
    if (strcmp(name, "energy") == 0) return energy;
    if (strcmp(name, "power") == 0) return energy / time;
    if (strcmp(name, "edp") == 0) return energy * time;
    for (int i = 0; i < m->user_value_count; i++)
        if (strcmp(m->user_values[i].name, name) == 0) return m->user_values[i].value;
    return (double)NAN;
}

bool kf_objective_is_time(const kf_objective *objective) {
    return objective->count == 0 || (objective->count == 1 && !objective->goals[0].maximise &&
                                     strcmp(objective->goals[0].name, "time") == 0);
}

char *kf_objective_text(const kf_objective *objective, char buffer[KF_OBJECTIVE_TEXT]) {
    size_t used = 0;
    if (objective->count == 0) (void)snprintf(buffer, KF_OBJECTIVE_TEXT, "time");
    for (int i = 0; i < objective->count; i++)
        used += (size_t)snprintf(buffer + used, KF_OBJECTIVE_TEXT - used, "%s%s%s", i > 0 ? "," : "",
                                 objective->goals[i].maximise ? "max:" : "", objective->goals[i].name);
    return buffer;
}

double kf_measurement_goal_cost(const kf_measurement *m, const kf_goal *goal) {
    const double value = kf_measurement_quantity(m, goal->name);
    if (!(value > 0.0) || isinf(value)) return INFINITY;
    if (goal->maximise) return 1.0 / value;
    return strcmp(goal->name, "time") == 0 ? m->step_us.median : value;
}

double kf_measurement_cost(const kf_measurement *m, const kf_objective *objective) {
    static const kf_goal time = {.name = "time"};
    double logarithms = 0.0;
    if (objective->count == 0) return kf_measurement_goal_cost(m, &time);
    if (objective->count == 1) return kf_measurement_goal_cost(m, &objective->goals[0]);
    for (int i = 0; i < objective->count; i++)
        logarithms += log(kf_measurement_goal_cost(m, &objective->goals[i]));
    return exp(logarithms / objective->count);
}

bool kf_costs_dominate(const double *a, const double *b, int goals) {
    bool better = false;
    for (int i = 0; i < goals; i++) {
        if (a[i] > b[i]) return false;
        better = better || a[i] < b[i];
    }
    return better;
}

void kf_objective_of_text(const char *text, kf_objective *objective) {
    memset(objective, 0, sizeof *objective);
    while (*text != '\0' && objective->count < KF_GOALS) {
        kf_goal *goal = &objective->goals[objective->count++];
        const size_t length = strcspn(text, ",");
        goal->maximise = strncmp(text, "max:", 4) == 0;
        const char *name = goal->maximise ? text + 4 : text;
        (void)snprintf(goal->name, sizeof goal->name, "%.*s", (int)(length - (size_t)(name - text)), name);
        text += length + (text[length] == ',');
    }
}

cJSON *kf_user_values_to_json(const kf_user_value *values, int count) {
    cJSON *json = cJSON_CreateObject();
    for (int i = 0; i < count; i++)
        kf_json_add_number(json, values[i].name, values[i].value);
    return json;
}

/* Frees only the lists. A measurement may be freed twice. */
void kf_measurement_free(kf_measurement *measurement) {
    free(measurement->samples_us);
    measurement->samples_us = NULL;
    measurement->sample_count = 0;
    free(measurement->clocks_mhz);
    measurement->clocks_mhz = NULL;
    free(measurement->kernels);
    measurement->kernels = NULL;
    measurement->kernel_count = 0;
    free(measurement->counters);
    measurement->counters = NULL;
    measurement->counter_count = 0;
    free(measurement->user_values);
    measurement->user_values = NULL;
    measurement->user_value_count = 0;
}

kf_kernel_time *kf_measurement_add_kernel(kf_measurement *measurement) {
    const size_t count = (size_t)measurement->kernel_count++;
    measurement->kernels = kf_reallocate(measurement->kernels, (count + 1) * sizeof *measurement->kernels);
    memset(&measurement->kernels[count], 0, sizeof *measurement->kernels);
    return &measurement->kernels[count];
}

/* --- A structure's numbers as a table: one row a member, used for both directions ------------------------
 */

typedef enum field_kind { FIELD_DOUBLE, FIELD_INT, FIELD_SIZE, FIELD_UINT64, FIELD_TEXT } field_kind;
typedef struct field {
    const char *key;
    field_kind kind;
    size_t offset;
    /* The size of a text buffer. */
    size_t size;
} field;

#define NUMBER(type, member)                                                                                 \
    { #member, FIELD_DOUBLE, offsetof(type, member), 0 }
#define INTEGER(type, member)                                                                                \
    { #member, FIELD_INT, offsetof(type, member), 0 }
#define TEXT(type, member)                                                                                   \
    { #member, FIELD_TEXT, offsetof(type, member), sizeof(((type *)0)->member) }

static const field summary_fields[] = {
    {"count", FIELD_SIZE, offsetof(kf_summary, count), 0},
    NUMBER(kf_summary, median),
    NUMBER(kf_summary, q1),
    NUMBER(kf_summary, q3),
    NUMBER(kf_summary, minimum),
    NUMBER(kf_summary, maximum),
    NUMBER(kf_summary, low),
    NUMBER(kf_summary, high),
};
static const field verification_fields[] = {
    NUMBER(kf_verification, error),
    NUMBER(kf_verification, bound),
    TEXT(kf_verification, worst),
};
static const field deviation_fields[] = {
    TEXT(kf_deviation, name),
    NUMBER(kf_deviation, value),
    NUMBER(kf_deviation, bound),
};
static const field kernel_fields[] = {
    TEXT(kf_kernel_time, name),
    NUMBER(kf_kernel_time, fastest_us),
    NUMBER(kf_kernel_time, launches_per_step),
    NUMBER(kf_kernel_time, bytes),
    NUMBER(kf_kernel_time, flops),
    INTEGER(kf_kernel_time, registers),
    INTEGER(kf_kernel_time, spill_bytes),
    INTEGER(kf_kernel_time, shared_bytes),
    INTEGER(kf_kernel_time, block_threads),
    NUMBER(kf_kernel_time, theoretical_occupancy),
    TEXT(kf_kernel_time, occupancy_limit),
};
static const field counter_fields[] = {
    TEXT(kf_counter, kernel),  TEXT(kf_counter, metric),    TEXT(kf_counter, unit),
    NUMBER(kf_counter, value), INTEGER(kf_counter, passes),
};
static const field device_state_fields[] = {
    NUMBER(kf_device_state, sm_clock_mhz),
    NUMBER(kf_device_state, memory_clock_mhz),
    NUMBER(kf_device_state, temperature_c),
    NUMBER(kf_device_state, power_w),
    {"throttle_reasons", FIELD_UINT64, offsetof(kf_device_state, throttle_reasons), 0},
};
static const field measurement_fields[] = {
    TEXT(kf_measurement, reason),
    INTEGER(kf_measurement, batch),
    NUMBER(kf_measurement, effort),
    INTEGER(kf_measurement, window_steps),
    INTEGER(kf_measurement, windows),
    NUMBER(kf_measurement, clock_mhz),
    NUMBER(kf_measurement, energy_j),
    TEXT(kf_measurement, outliers),
    NUMBER(kf_measurement, updates_per_us),
    NUMBER(kf_measurement, effective_bandwidth),
    NUMBER(kf_measurement, compile_seconds),
    NUMBER(kf_measurement, verify_seconds),
    NUMBER(kf_measurement, measure_seconds),
    TEXT(kf_measurement, build_hash),
};
#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Writes a structure's members into a JSON object, as a table of them says. */
static void write_fields(cJSON *object, const void *structure, const field *fields, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *at = (const char *)structure + fields[i].offset;
        double number = 0.0;
        int integer;
        size_t size;
        uint64_t wide;
        switch (fields[i].kind) {
        case FIELD_TEXT:
            (void)cJSON_AddStringToObject(object, fields[i].key, at);
            continue;
        case FIELD_DOUBLE:
            memcpy(&number, at, sizeof number);
            break;
        case FIELD_INT:
            memcpy(&integer, at, sizeof integer);
            number = integer;
            break;
        case FIELD_SIZE:
            memcpy(&size, at, sizeof size);
            number = (double)size;
            break;
        case FIELD_UINT64:
            memcpy(&wide, at, sizeof wide);
            number = (double)wide;
            break;
        }
        kf_json_add_number(object, fields[i].key, number);
    }
}

static kf_status read_fields(const cJSON *object, void *structure, const field *fields, size_t count,
                             kf_error *error) {
    for (size_t i = 0; i < count; i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, fields[i].key);
        char *at = (char *)structure + fields[i].offset;
        bool right = fields[i].kind == FIELD_TEXT     ? cJSON_IsString(item)
                     : fields[i].kind == FIELD_DOUBLE ? cJSON_IsNumber(item) || cJSON_IsNull(item)
                                                      : cJSON_IsNumber(item);
        if (!right)
            return kf_fail(error, KF_BAD_INPUT, "measurement: '%s' is missing or has the wrong type",
                           fields[i].key);
        if (fields[i].kind == FIELD_TEXT) {
            kf_copy_text(at, fields[i].size, item->valuestring);
            continue;
        }
        double number = cJSON_IsNull(item) ? (double)NAN : item->valuedouble;
        if (fields[i].kind == FIELD_DOUBLE) {
            memcpy(at, &number, sizeof number);
            continue;
        }
        double limit = fields[i].kind == FIELD_INT ? 2147483647.0 : (double)KF_JSON_WHOLE;
        double lowest = fields[i].kind == FIELD_INT ? -limit : 0.0;
        if (!(number >= lowest && number <= limit))
            return kf_fail(error, KF_BAD_INPUT, "measurement: '%s' is out of range", fields[i].key);
        int integer = fields[i].kind == FIELD_INT ? (int)number : 0;
        size_t size = (size_t)fmax(number, 0.0);
        uint64_t wide = (uint64_t)fmax(number, 0.0);
        if (fields[i].kind == FIELD_INT) memcpy(at, &integer, sizeof integer);
        if (fields[i].kind == FIELD_SIZE) memcpy(at, &size, sizeof size);
        if (fields[i].kind == FIELD_UINT64) memcpy(at, &wide, sizeof wide);
    }
    return KF_OK;
}

static void write_object(cJSON *parent, const char *key, const void *structure, const field *fields,
                         size_t count) {
    write_fields(cJSON_AddObjectToObject(parent, key), structure, fields, count);
}

static kf_status read_object(const cJSON *parent, const char *key, void *structure, const field *fields,
                             size_t count, kf_error *error) {
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(parent, key);
    if (!cJSON_IsObject(object)) return kf_fail(error, KF_BAD_INPUT, "measurement: '%s' is missing", key);
    return read_fields(object, structure, fields, count, error);
}

/* --- The measurement ---------------------------------------------------------------------------------- */

cJSON *kf_deviations_to_json(const kf_verification *verification) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < verification->count; i++) {
        cJSON *deviation = cJSON_CreateObject();
        write_fields(deviation, &verification->deviations[i], deviation_fields, COUNT(deviation_fields));
        (void)cJSON_AddItemToArray(list, deviation);
    }
    return list;
}

kf_status kf_deviations_from_json(const cJSON *list, kf_verification *verification, kf_error *error) {
    const cJSON *one;
    verification->count = 0;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > KF_DEVIATIONS)
        return kf_fail(error, KF_BAD_INPUT, "measurement: 'deviations' is missing or too long");
    cJSON_ArrayForEach(one, list) KF_TRY(read_fields(one, &verification->deviations[verification->count++],
                                                     deviation_fields, COUNT(deviation_fields), error));
    return KF_OK;
}

/* Writes a whole measurement as JSON, for the process that waits for it and for files. */
cJSON *kf_measurement_to_json(const kf_measurement *m) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "state", kf_state_names[m->state]);
    (void)cJSON_AddStringToObject(json, "stop", kf_stop_names[m->stop]);
    (void)cJSON_AddStringToObject(json, "cache", kf_cache_policy_names[m->cache]);
    (void)cJSON_AddStringToObject(json, "clock_state", kf_clock_state_names[m->clock_state]);
    write_fields(json, m, measurement_fields, COUNT(measurement_fields));
    write_object(json, "verification", &m->verification, verification_fields, COUNT(verification_fields));
    write_object(json, "step_us", &m->step_us, summary_fields, COUNT(summary_fields));
    write_object(json, "device_before", &m->device_before, device_state_fields, COUNT(device_state_fields));
    write_object(json, "device_after", &m->device_after, device_state_fields, COUNT(device_state_fields));
    (void)cJSON_AddItemToObject(json, "deviations", kf_deviations_to_json(&m->verification));
    kf_json_add_number(json, "spread", m->verification.repeated ? m->verification.spread : (double)NAN);
    cJSON *samples = cJSON_AddArrayToObject(json, "samples_us");
    for (size_t i = 0; i < m->sample_count; i++)
        (void)cJSON_AddItemToArray(samples, cJSON_CreateNumber(m->samples_us[i]));
    cJSON *clocks = cJSON_AddArrayToObject(json, "clocks_mhz");
    for (size_t i = 0; m->clocks_mhz != NULL && i < m->sample_count; i++)
        (void)cJSON_AddItemToArray(clocks, kf_json_number_or_null(m->clocks_mhz[i]));
    cJSON *kernels = cJSON_AddArrayToObject(json, "kernels");
    for (int i = 0; i < m->kernel_count; i++) {
        cJSON *kernel = cJSON_CreateObject();
        write_fields(kernel, &m->kernels[i], kernel_fields, COUNT(kernel_fields));
        write_object(kernel, "time_us", &m->kernels[i].time_us, summary_fields, COUNT(summary_fields));
        (void)cJSON_AddItemToArray(kernels, kernel);
    }
    cJSON *counters = cJSON_AddArrayToObject(json, "counters");
    for (int i = 0; i < m->counter_count; i++) {
        cJSON *counter = cJSON_CreateObject();
        write_fields(counter, &m->counters[i], counter_fields, COUNT(counter_fields));
        (void)cJSON_AddItemToArray(counters, counter);
    }
    return json;
}

static kf_status read_name(const cJSON *json, const char *key, const char *const *names, int count,
                           int *index, kf_error *error) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    for (int i = 0; cJSON_IsString(item) && i < count; i++)
        if (strcmp(item->valuestring, names[i]) == 0) {
            *index = i;
            return KF_OK;
        }
    return kf_fail(error, KF_BAD_INPUT, "measurement: '%s' is missing or unknown", key);
}

static kf_status read_samples(const cJSON *json, kf_measurement *m, kf_error *error) {
    const cJSON *samples = cJSON_GetObjectItemCaseSensitive(json, "samples_us");
    if (!cJSON_IsArray(samples)) return kf_fail(error, KF_BAD_INPUT, "measurement: 'samples_us' is missing");
    size_t count = (size_t)cJSON_GetArraySize(samples);
    m->samples_us = kf_allocate((count + 1) * sizeof *m->samples_us);
    const cJSON *sample;
    cJSON_ArrayForEach(sample, samples) {
        if (!cJSON_IsNumber(sample))
            return kf_fail(error, KF_BAD_INPUT,
                           "measurement: 'samples_us' contains something other than numbers");
        m->samples_us[m->sample_count++] = sample->valuedouble;
    }
    return KF_OK;
}

/* Reads the clocks, which are as many as the samples, or none. */
static kf_status read_clocks(const cJSON *json, kf_measurement *m, kf_error *error) {
    const cJSON *clocks = cJSON_GetObjectItemCaseSensitive(json, "clocks_mhz");
    if (!cJSON_IsArray(clocks)) return kf_fail(error, KF_BAD_INPUT, "measurement: 'clocks_mhz' is missing");
    const size_t count = (size_t)cJSON_GetArraySize(clocks);
    if (count == 0) return KF_OK;
    if (count != m->sample_count)
        return kf_fail(error, KF_BAD_INPUT, "measurement: %zu clocks of %zu samples", count, m->sample_count);
    m->clocks_mhz = kf_allocate(count * sizeof *m->clocks_mhz);
    size_t at = 0;
    const cJSON *clock;
    cJSON_ArrayForEach(clock, clocks) m->clocks_mhz[at++] =
        cJSON_IsNumber(clock) ? clock->valuedouble : (double)NAN;
    return KF_OK;
}

static kf_status read_kernels(const cJSON *json, kf_measurement *m, kf_error *error) {
    const cJSON *kernels = cJSON_GetObjectItemCaseSensitive(json, "kernels");
    if (!cJSON_IsArray(kernels)) return kf_fail(error, KF_BAD_INPUT, "measurement: 'kernels' is missing");
    const cJSON *kernel;
    cJSON_ArrayForEach(kernel, kernels) {
        kf_kernel_time *time = kf_measurement_add_kernel(m);
        KF_TRY(read_fields(kernel, time, kernel_fields, COUNT(kernel_fields), error));
        KF_TRY(read_object(kernel, "time_us", &time->time_us, summary_fields, COUNT(summary_fields), error));
    }
    return KF_OK;
}

static kf_status read_counters(const cJSON *json, kf_measurement *m, kf_error *error) {
    const cJSON *counters = cJSON_GetObjectItemCaseSensitive(json, "counters");
    if (!cJSON_IsArray(counters)) return kf_fail(error, KF_BAD_INPUT, "measurement: 'counters' is missing");
    const size_t count = (size_t)cJSON_GetArraySize(counters);
    if (count == 0) return KF_OK;
    m->counters = kf_allocate_zeroed(count, sizeof *m->counters);
    const cJSON *counter;
    cJSON_ArrayForEach(counter, counters) KF_TRY(
        read_fields(counter, &m->counters[m->counter_count++], counter_fields, COUNT(counter_fields), error));
    return KF_OK;
}

/* Reads a measurement from JSON that may come from another program. Missing values and values of another kind
 * are refused. */
static kf_status read_measurement(const cJSON *json, kf_measurement *m, kf_error *error) {
    int state = 0, stop = 0, cache = 0, clock_state = 0;
    KF_TRY(read_name(json, "state", kf_state_names, KF_STATES, &state, error));
    KF_TRY(read_name(json, "stop", kf_stop_names, KF_STOPS, &stop, error));
    KF_TRY(read_name(json, "cache", kf_cache_policy_names, KF_CACHE_POLICIES, &cache, error));
    KF_TRY(read_name(json, "clock_state", kf_clock_state_names, KF_CLOCK_STATES, &clock_state, error));
    m->state = (kf_state)state;
    m->stop = (kf_stop)stop;
    m->cache = (kf_cache_policy)cache;
    m->clock_state = (kf_clock_state)clock_state;
    KF_TRY(read_fields(json, m, measurement_fields, COUNT(measurement_fields), error));
    KF_TRY(read_object(json, "verification", &m->verification, verification_fields,
                       COUNT(verification_fields), error));
    KF_TRY(read_object(json, "step_us", &m->step_us, summary_fields, COUNT(summary_fields), error));
    KF_TRY(read_object(json, "device_before", &m->device_before, device_state_fields,
                       COUNT(device_state_fields), error));
    KF_TRY(read_object(json, "device_after", &m->device_after, device_state_fields,
                       COUNT(device_state_fields), error));
    KF_TRY(kf_deviations_from_json(cJSON_GetObjectItemCaseSensitive(json, "deviations"), &m->verification,
                                   error));
    const cJSON *spread = cJSON_GetObjectItemCaseSensitive(json, "spread");
    m->verification.repeated = cJSON_IsNumber(spread);
    if (m->verification.repeated) m->verification.spread = spread->valuedouble;
    KF_TRY(read_samples(json, m, error));
    KF_TRY(read_clocks(json, m, error));
    KF_TRY(read_kernels(json, m, error));
    return read_counters(json, m, error);
}

kf_status kf_measurement_from_json(const cJSON *json, kf_measurement *measurement, kf_error *error) {
    memset(measurement, 0, sizeof *measurement);
    kf_status status = read_measurement(json, measurement, error);
    if (status != KF_OK) kf_measurement_free(measurement);
    return status;
}

double kf_kernel_step_us(const kf_kernel_time *kernel) {
    return kernel->time_us.median * (kernel->launches_per_step > 0.0 ? kernel->launches_per_step : 1.0);
}

double kf_counter_value(const kf_measurement *measurement, const char *kernel, const char *metric) {
    for (int i = 0; i < measurement->counter_count; i++)
        if (strcmp(measurement->counters[i].metric, metric) == 0 &&
            strcmp(measurement->counters[i].kernel, kernel) == 0)
            return measurement->counters[i].value;
    return (double)NAN;
}
