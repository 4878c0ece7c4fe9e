/* The user's metrics of results. */
#include <math.h>
#include <string.h>

#include "base/util/memory.h"
#include "results/store_internal.h"

kf_status kf_store_insert_user_values(kf_store *store, int64_t result, const kf_measurement *measurement,
                                      kf_error *error) {
    for (int i = 0; i < measurement->user_value_count; i++) {
        const kf_user_value *one = &measurement->user_values[i];
        sqlite3_stmt *statement = NULL;
        KF_TRY(kf_store_statement(store, KF_SQL_ADD_METRIC, &statement, error));
        kf_binder binder = {statement, 0};
        kf_bind_integer(&binder, result);
        kf_bind_text(&binder, one->name);
        kf_bind_integer(&binder, i);
        kf_bind_number(&binder, one->value); /* NAN: NULL */
        KF_TRY(kf_store_run_once(store, statement, "storing metrics", error));
    }
    return KF_OK;
}

static kf_status add(kf_store *store, int64_t run, int sequence, const kf_measurement *measurement,
                     kf_error *error) {
    int64_t result = 0;
    KF_TRY(kf_store_find_result(store, run, sequence, "metrics", &result, error));
    return kf_store_insert_user_values(store, result, measurement, error);
}

kf_status kf_store_add_user_values(kf_store *store, const kf_run_row *run, int sequence,
                                   const kf_measurement *measurement, kf_error *error) {
    if (measurement->user_value_count == 0) return KF_OK;
    KF_TRY(kf_store_begin(store, error));
    return kf_store_commit(store, add(store, run->id, sequence, measurement, error), "storing metrics",
                           error);
}

kf_status kf_store_read_user_values(kf_store *store, int64_t result, kf_measurement *measurement,
                                    kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_statement(store, KF_SQL_METRICS, &statement, error));
    (void)sqlite3_bind_int64(statement, 1, result);
    bool found = false;
    kf_status status = KF_OK;
    while ((status = kf_store_step(store, statement, "reading metrics", &found, error)) == KF_OK && found) {
        kf_reader reader = {statement, 0};
        measurement->user_values =
            kf_reallocate(measurement->user_values,
                          (size_t)(measurement->user_value_count + 1) * sizeof *measurement->user_values);
        kf_user_value *one = &measurement->user_values[measurement->user_value_count++];
        memset(one, 0, sizeof *one);
        kf_read_text(&reader, one->name, sizeof one->name);
        one->value = kf_read_number(&reader);
    }
    (void)sqlite3_reset(statement);
    return status;
}
