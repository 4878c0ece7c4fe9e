/* Hardware counters of results. */
#include <math.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/store_internal.h"

/* Returns the kernel's number; -1: the whole step; -2: there is no such kernel. */
static int ordinal_of(const kf_measurement *measurement, const char *kernel) {
    if (kernel[0] == '\0') return -1;
    for (int i = 0; i < measurement->kernel_count; i++)
        if (strcmp(measurement->kernels[i].name, kernel) == 0) return i;
    return -2;
}

kf_status kf_store_insert_counters(kf_store *store, int64_t result, const kf_measurement *measurement,
                                   kf_error *error) {
    for (int i = 0; i < measurement->counter_count; i++) {
        const kf_counter *counter = &measurement->counters[i];
        const int ordinal = ordinal_of(measurement, counter->kernel);
        if (ordinal < -1 || !isfinite(counter->value)) continue;
        sqlite3_stmt *statement = NULL;
        KF_TRY(kf_store_statement(store, KF_SQL_ADD_COUNTER, &statement, error));
        kf_binder binder = {statement, 0};
        kf_bind_integer(&binder, result);
        kf_bind_integer(&binder, ordinal);
        kf_bind_text(&binder, counter->metric);
        kf_bind_number(&binder, counter->value);
        kf_bind_integer(&binder, counter->passes > 0 ? counter->passes : 1);
        kf_bind_text(&binder, counter->unit);
        KF_TRY(kf_store_run_once(store, statement, "storing counters", error));
    }
    return KF_OK;
}

static kf_status add(kf_store *store, int64_t run, int sequence, const kf_measurement *measurement,
                     kf_error *error) {
    int64_t result = 0;
    KF_TRY(kf_store_find_result(store, run, sequence, "counters", &result, error));
    return kf_store_insert_counters(store, result, measurement, error);
}

kf_status kf_store_add_counters(kf_store *store, const kf_run_row *run, int sequence,
                                const kf_measurement *measurement, kf_error *error) {
    KF_TRY(kf_store_begin(store, error));
    return kf_store_commit(store, add(store, run->id, sequence, measurement, error), "storing counters",
                           error);
}

kf_status kf_store_read_counters(kf_store *store, int64_t result, kf_measurement *measurement,
                                 kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_statement(store, KF_SQL_COUNTERS, &statement, error));
    (void)sqlite3_bind_int64(statement, 1, result);
    bool found = false;
    kf_status status = KF_OK;
    while ((status = kf_store_step(store, statement, "reading counters", &found, error)) == KF_OK && found) {
        kf_reader reader = {statement, 0};
        const int ordinal = (int)kf_read_integer(&reader);
        if (ordinal >= measurement->kernel_count) continue;
        measurement->counters = kf_reallocate(
            measurement->counters, (size_t)(measurement->counter_count + 1) * sizeof *measurement->counters);
        kf_counter *counter = &measurement->counters[measurement->counter_count++];
        memset(counter, 0, sizeof *counter);
        if (ordinal >= 0)
            kf_copy_text(counter->kernel, sizeof counter->kernel, measurement->kernels[ordinal].name);
        kf_read_text(&reader, counter->metric, sizeof counter->metric);
        counter->value = kf_read_number(&reader);
        counter->passes = (int)kf_read_integer(&reader);
        kf_read_text(&reader, counter->unit, sizeof counter->unit);
    }
    (void)sqlite3_reset(statement);
    return status;
}
