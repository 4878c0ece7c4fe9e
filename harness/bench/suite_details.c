/* Writes the details of a suite's times as JSON. */
#include <math.h>

#include "base/util/json.h"
#include "harness/bench/suite_run.h"

/* Lists the kernels of a measurement as JSON, with times in microseconds and rates in GB/s. The caller owns
 * the list. */
static cJSON *kernels(const kf_measurement *m) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < m->kernel_count; i++) {
        const kf_kernel_time *kernel = &m->kernels[i];
        cJSON *object = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(object, "name", kernel->name);
        kf_json_add_number(object, "us", kernel->time_us.median);
        kf_json_add_number(object, "launches_per_step", kernel->launches_per_step);
        if (kernel->bytes > 0.0)
            kf_json_add_number(object, "gb_s", kernel->bytes / kernel->time_us.median * 1e-3);
        if (kernel->registers > 0) {
            kf_json_add_number(object, "registers", kernel->registers);
            kf_json_add_number(object, "spill_bytes", kernel->spill_bytes);
        }
        (void)cJSON_AddItemToArray(list, object);
    }
    return list;
}

static cJSON *tries(const kf_suite_time *time) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < time->try_count; i++) {
        const kf_suite_try *try = &time->tries[i];
        cJSON *object = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(object, "name", try->candidate->name);
        kf_json_add_number(object, "step_us", try->step_us);
        if (try->reason[0] != '\0') (void)cJSON_AddStringToObject(object, "reason", try->reason);
        (void)cJSON_AddItemToArray(list, object);
    }
    return list;
}

/* Makes the details of a timing: step time, config, clock, kernels and tried candidates. The object is empty
 * if no candidate could run. The caller owns it. */
cJSON *kf_suite_details(const kf_suite_time *time) {
    cJSON *details = cJSON_CreateObject();
    if (time->best < 0) return details;
    const kf_measurement *m = &time->measurement;
    const kf_config *config = &time->tries[time->best].config;
    char hash[KF_HASH_HEX];
    kf_config_hash(config, hash);
    cJSON *step = cJSON_AddObjectToObject(details, "step_us");
    kf_json_add_number(step, "median", m->step_us.median);
    kf_json_add_number(step, "low", m->step_us.low);
    kf_json_add_number(step, "high", m->step_us.high);
    kf_json_add_number(step, "samples", (double)m->sample_count);
    kf_json_add_number(step, "steps_a_sample", m->batch);
    (void)cJSON_AddItemToObject(details, "config", kf_config_to_json(config));
    (void)cJSON_AddStringToObject(details, "hash", hash);
    (void)cJSON_AddStringToObject(details, "clock", kf_clock_state_names[m->clock_state]);
    if (m->clock_mhz > 0.0) kf_json_add_number(details, "clock_mhz", m->clock_mhz);
    (void)cJSON_AddItemToObject(details, "kernels", kernels(m));
    (void)cJSON_AddItemToObject(details, "tried", tries(time));
    return details;
}
