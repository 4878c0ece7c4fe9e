/* One result of a landscape while its file is read. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/landscape_read.h"

kf_status kf_landscape_complain(const kf_landscape_file *file, const char *where, kf_error *error,
                                const char *what) {
    return kf_fail(error, KF_BAD_INPUT, "%s: %.120s: %s", file->path, where, what);
}

kf_status kf_landscape_set_samples(const kf_landscape_file *file, kf_landscape_entry *entry,
                                   const cJSON *times, const cJSON *time, kf_error *error) {
    const int listed = cJSON_IsArray(times) ? cJSON_GetArraySize(times) : 0, count = listed > 0 ? listed : 1;
    const cJSON *item = listed > 0 ? times->child : time;
    kf_measurement *m = &entry->measurement;
    m->samples_us = kf_allocate_zeroed((size_t)count, sizeof(double));
    m->sample_count = (size_t)count;
    for (int i = 0; i < count; i++, item = item != NULL ? item->next : NULL) {
        const double number = item != NULL && cJSON_IsNumber(item) ? item->valuedouble : NAN;
        m->samples_us[i] = (double)(float)(number * file->unit_us);
        if (!(m->samples_us[i] > 0 && isfinite(m->samples_us[i])))
            return kf_landscape_complain(file, entry->where, error,
                                         "a time must be a number above 0, for a result that is correct");
    }
    m->step_us = kf_summarise(m->samples_us, m->sample_count);
    const double own = time != NULL && cJSON_IsNumber(time) ? time->valuedouble * file->unit_us : NAN;
    entry->time_us = own > 0 && isfinite(own) ? own : m->step_us.median;
    return KF_OK;
}

double kf_landscape_seconds(const kf_measurement *measurement) {
    const double parts[] = {measurement->compile_seconds, measurement->verify_seconds,
                            measurement->measure_seconds};
    double sum = NAN;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!isnan(parts[i])) sum = isnan(sum) ? parts[i] : sum + parts[i];
    return sum;
}

kf_status kf_landscape_give(kf_landscape_entry *entry, kf_status status, kf_landscape_visit visit,
                            void *context, kf_error *error) {
    if (status == KF_OK) status = visit(context, entry, error);
    kf_measurement_free(&entry->measurement);
    return status;
}

/* Begins an entry for which only its place in the file is known. */
void kf_landscape_begin(kf_landscape_entry *entry, const cJSON *json, int sequence, const char *where, ...) {
    static const kf_device_state unknown = {NAN, NAN, NAN, NAN, NAN, 0};
    memset(entry, 0, sizeof *entry);
    va_list arguments;
    va_start(arguments, where);
    (void)vsnprintf(entry->where, sizeof entry->where, where, arguments);
    va_end(arguments);
    entry->json = json;
    entry->sequence = sequence;
    kf_copy_text(entry->role, sizeof entry->role, "import");
    entry->timestamp = "";
    kf_measurement *m = &entry->measurement;
    m->device_before = m->device_after = unknown;
    m->batch = 1;
    m->stop = KF_STOP_SAMPLES;
    m->updates_per_us = m->effective_bandwidth = NAN;
    m->compile_seconds = m->verify_seconds = m->measure_seconds = NAN;
    m->verification.error = m->verification.bound = NAN;
}
