/* The roofs of devices: the newest measurement of each. */
#include <string.h>

#include "base/backend/team/team.h"
#include "results/store_internal.h"

static kf_status forget(kf_store *store, const char *identity, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(store, "DELETE FROM roof WHERE identity = ?", &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_text(&binder, identity);
    const kf_status status = kf_store_run_once(store, statement, "storing ceilings", error);
    (void)sqlite3_finalize(statement);
    return status;
}

/* Stores the roofs of a device and replaces earlier ones. */
static kf_status add(kf_store *store, const kf_device_info *device, const kf_roofs *roofs, kf_error *error) {
    char moment[KF_MOMENT];
    sqlite3_stmt *statement = NULL;
    kf_moment_now(moment);
    KF_TRY(forget(store, device->identity, error));
    KF_TRY(kf_store_prepare(store,
                            "INSERT INTO roof (identity, name, unit, value, spread, theoretical, ordinal, "
                            "driver, measured) VALUES (?,?,?,?,?,?,?,?,?)",
                            &statement, error));
    kf_status status = KF_OK;
    for (int i = 0; i < roofs->count && status == KF_OK; i++) {
        const kf_roof *roof = &roofs->list[i];
        kf_binder binder = {statement, 0};
        kf_bind_text(&binder, device->identity);
        kf_bind_text(&binder, roof->name);
        kf_bind_text(&binder, roof->unit);
        kf_bind_number(&binder, roof->value);
        kf_bind_number(&binder, roof->spread);
        kf_bind_number(&binder, roof->theoretical);
        kf_bind_integer(&binder, i);
        kf_bind_text(&binder, device->driver);
        kf_bind_text(&binder, moment);
        status = kf_store_run_once(store, statement, "storing ceilings", error);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

kf_status kf_store_save_roofs(kf_store *store, const kf_device_info *device, const kf_roofs *roofs,
                              kf_error *error) {
    KF_TRY(kf_store_begin(store, error));
    return kf_store_commit(store, add(store, device, roofs, error), "storing ceilings", error);
}

/* Reads the roofs of a device. */
kf_status kf_store_roofs(kf_store *store, const char *identity, kf_roofs *roofs, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    bool found = true;
    memset(roofs, 0, sizeof *roofs);
    KF_TRY(kf_store_prepare(
        store, "SELECT name, unit, value, spread, theoretical FROM roof WHERE identity = ? ORDER BY ordinal",
        &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_text(&binder, identity);
    kf_status status = KF_OK;
    while (roofs->count < KF_ROOFS &&
           (status = kf_store_step(store, statement, "reading ceilings", &found, error)) == KF_OK && found) {
        kf_roof *roof = &roofs->list[roofs->count++];
        kf_reader reader = {statement, 0};
        kf_read_text(&reader, roof->name, sizeof roof->name);
        kf_read_text(&reader, roof->unit, sizeof roof->unit);
        roof->value = kf_read_number(&reader);
        roof->spread = kf_read_number(&reader);
        roof->theoretical = kf_read_number(&reader);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

/* Scales the roofs to a team with this number of GPUs: rates are multiplied, times are not. */
static void scale(kf_roofs *roofs, int parts) {
    for (int i = 0; i < roofs->count; i++) {
        kf_roof *roof = &roofs->list[i];
        if (strcmp(roof->unit, "us") == 0) continue;
        roof->value *= parts;
        roof->theoretical *= parts;
    }
}

kf_status kf_store_run_roofs(kf_store *store, int64_t run_id, kf_roofs *roofs, double *peak_bandwidth,
                             kf_error *error) {
    char identity[64] = "", device[128] = "", backend[16] = "";
    sqlite3_stmt *statement = NULL;
    bool found = false;
    *peak_bandwidth = 0.0;
    KF_TRY(kf_store_prepare(
        store,
        "SELECT e.identity, e.peak_bandwidth, e.device, e.backend FROM run r JOIN environment e "
        "ON e.id = r.environment WHERE r.id = ?",
        &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_integer(&binder, run_id);
    kf_status status = kf_store_step(store, statement, "reading a run's device", &found, error);
    if (found) {
        kf_reader reader = {statement, 0};
        kf_read_text(&reader, identity, sizeof identity);
        *peak_bandwidth = kf_read_number(&reader);
        kf_read_text(&reader, device, sizeof device);
        kf_read_text(&reader, backend, sizeof backend);
    }
    (void)sqlite3_finalize(statement);
    KF_TRY(status);
    KF_TRY(kf_store_roofs(store, identity, roofs, error));
    /* The cpus of a team share one memory. */
    const int parts = strcmp(backend, "cpu") == 0 ? 1 : kf_device_count_of(device);
    *peak_bandwidth *= parts;
    scale(roofs, parts);
    return KF_OK;
}
