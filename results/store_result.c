/* Stores measurements with samples and kernels, and reads them. */
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "results/store_internal.h"

/* --- Samples: 32-bit floats, little-endian ------------------------------------------------------------ */

static uint32_t *pack_samples(const double *samples, size_t count) {
    uint32_t *packed = kf_allocate(count * sizeof *packed);
    for (size_t i = 0; i < count; i++) {
        float value = (float)samples[i];
        memcpy(&packed[i], &value, sizeof value);
        packed[i] = htole32(packed[i]);
    }
    return packed;
}

static double *unpack_samples(const void *blob, size_t count) {
    const unsigned char *bytes = blob;
    double *samples = kf_allocate(count * sizeof *samples);
    for (size_t i = 0; i < count; i++) {
        uint32_t packed = 0;
        float value = 0;
        memcpy(&packed, bytes + 4 * i, sizeof packed);
        packed = le32toh(packed);
        memcpy(&value, &packed, sizeof value);
        samples[i] = value;
    }
    return samples;
}

/* --- Storing ------------------------------------------------------------------------------------------ */

/* Returns the id of the row with a hash by the store's kept statements. If there is none, it adds the row. */
static kf_status named_row(kf_store *store, kf_statement find, kf_statement add, const char *const *texts,
                           int count, int64_t *id, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_statement(store, find, &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_text(&binder, texts[0]);
    bool found = false;
    KF_TRY(kf_store_step(store, statement, "storing a result", &found, error));
    if (found) *id = sqlite3_column_int64(statement, 0);
    (void)sqlite3_reset(statement);
    if (found) return KF_OK;
    KF_TRY(kf_store_statement(store, add, &statement, error));
    binder = (kf_binder){statement, 0};
    for (int i = 0; i < count; i++)
        kf_bind_text(&binder, texts[i]);
    KF_TRY(kf_store_run_once(store, statement, "storing a result", error));
    *id = sqlite3_last_insert_rowid(store->database);
    return KF_OK;
}

static kf_status config_row(kf_store *store, const kf_config *config, int64_t *id, kf_error *error) {
    char hash[KF_HASH_HEX];
    kf_config_hash(config, hash);
    char *text = kf_config_text(config);
    const char *const texts[] = {hash, config->system, text};
    kf_status status = named_row(store, KF_SQL_FIND_CONFIG, KF_SQL_ADD_CONFIG, texts, 3, id, error);
    free(text);
    return status;
}

static kf_status build_row(kf_store *store, const char *hash, int64_t *id, kf_error *error) {
    *id = 0;
    if (hash[0] == '\0') return KF_OK;
    return named_row(store, KF_SQL_FIND_BUILD, KF_SQL_ADD_BUILD, &hash, 1, id, error);
}

static void bind_summary(kf_binder *binder, const kf_summary *summary) {
    bool known = summary->count > 0;
    const double values[] = {summary->median,  summary->q1,  summary->q3,  summary->minimum,
                             summary->maximum, summary->low, summary->high};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        kf_bind_number(binder, known ? values[i] : NAN);
}

static void bind_device_state(kf_binder *binder, const kf_device_state *state) {
    kf_bind_number(binder, state->sm_clock_mhz);
    kf_bind_number(binder, state->memory_clock_mhz);
    kf_bind_number(binder, state->temperature_c);
    kf_bind_number(binder, state->power_w);
    kf_bind_integer(binder, (int64_t)state->throttle_reasons);
}

/* 0 means that the value is not known. */
static void bind_if_positive(kf_binder *binder, double value) {
    kf_bind_number(binder, value > 0.0 ? value : NAN);
}

/* Binds how it was measured, and in which windows. clocks: as many as samples, or NULL. */
static void bind_conditions(kf_binder *binder, const kf_measurement *measurement, const uint32_t *clocks,
                            size_t count) {
    const bool ok = measurement->state == KF_STATE_OK;
    kf_bind_text(binder, ok ? kf_cache_policy_names[measurement->cache] : NULL);
    if (clocks != NULL && count > 0)
        (void)sqlite3_bind_blob64(binder->statement, ++binder->at, clocks, count * sizeof *clocks,
                                  SQLITE_STATIC);
    else
        kf_bind_null(binder);
    bind_if_positive(binder, measurement->clock_mhz);
    kf_bind_text(binder, ok ? kf_clock_state_names[measurement->clock_state] : NULL);
    kf_bind_text(binder, measurement->outliers[0] != '\0' ? measurement->outliers : NULL);
    bind_if_positive(binder, measurement->energy_j);
    kf_bind_number(binder, measurement->effort > 0.0 ? measurement->effort : 1.0);
    const int windows[] = {measurement->window_steps, measurement->windows};
    for (int i = 0; i < 2; i++)
        if (windows[i] > 0)
            kf_bind_integer(binder, windows[i]);
        else
            kf_bind_null(binder);
}

/* Binds whether a second launch gave the same result; NULL: there was none. */
static void bind_spread(kf_binder *binder, const kf_verification *verification) {
    if (verification->repeated)
        kf_bind_number(binder, verification->spread);
    else
        kf_bind_null(binder);
}

/* Binds the deviations and returns their text, to which the statement points. */
static char *bind_deviations(kf_binder *binder, const kf_verification *verification) {
    cJSON *list = kf_deviations_to_json(verification);
    char *text = verification->count > 0 ? cJSON_PrintUnformatted(list) : NULL;
    cJSON_Delete(list);
    kf_bind_text(binder, text);
    return text;
}

static void bind_measurement(kf_binder *binder, const kf_measurement *measurement, const kf_summary *summary,
                             const uint32_t *packed, size_t count) {
    bool ok = measurement->state == KF_STATE_OK;
    kf_bind_text(binder, kf_state_names[measurement->state]);
    kf_bind_text(binder, ok ? NULL : measurement->reason);
    bind_summary(binder, summary);
    kf_bind_integer(binder, (int64_t)count);
    if (count > 0)
        (void)sqlite3_bind_blob64(binder->statement, ++binder->at, packed, count * sizeof *packed,
                                  SQLITE_STATIC);
    else
        kf_bind_null(binder);
    if (count > 0)
        kf_bind_integer(binder, measurement->batch);
    else
        kf_bind_null(binder);
    kf_bind_text(binder, ok ? kf_stop_names[measurement->stop] : NULL);
    kf_bind_number(binder, ok ? measurement->updates_per_us : NAN);
    kf_bind_number(binder, ok ? measurement->effective_bandwidth : NAN);
    const kf_verification *verification = &measurement->verification;
    bool reached = !isnan(verification->error);
    kf_bind_number(binder, verification->error);
    kf_bind_number(binder, reached ? verification->bound : NAN);
    kf_bind_text(binder, verification->worst[0] != '\0' ? verification->worst : NULL);
    kf_bind_number(binder, measurement->compile_seconds);
    kf_bind_number(binder, measurement->verify_seconds);
    kf_bind_number(binder, measurement->measure_seconds);
    bind_device_state(binder, &measurement->device_before);
    bind_device_state(binder, &measurement->device_after);
}

static kf_status add_kernel(kf_store *store, int64_t result, int ordinal, const kf_kernel_time *kernel,
                            kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_statement(store, KF_SQL_ADD_KERNEL, &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_integer(&binder, result);
    kf_bind_integer(&binder, ordinal);
    kf_bind_text(&binder, kernel->name);
    kf_bind_integer(&binder, (int64_t)kernel->time_us.count);
    bind_summary(&binder, &kernel->time_us);
    kf_bind_number(&binder, kernel->bytes);
    kf_bind_number(&binder, kernel->flops);
    kf_bind_integer(&binder, kernel->registers);
    kf_bind_integer(&binder, kernel->spill_bytes);
    kf_bind_integer(&binder, kernel->shared_bytes);
    kf_bind_integer(&binder, kernel->block_threads);
    kf_bind_number(&binder, kernel->theoretical_occupancy);
    kf_bind_number(&binder, kernel->launches_per_step > 0 ? kernel->launches_per_step : NAN);
    kf_bind_text(&binder, kernel->occupancy_limit[0] != '\0' ? kernel->occupancy_limit : NULL);
    kf_bind_number(&binder, kernel->fastest_us > 0.0 ? kernel->fastest_us : (double)NAN);
    return kf_store_run_once(store, statement, "storing a kernel's times", error);
}

/* Refuses a time that is not the median of its samples, which is a mistake of the caller. */
static kf_status check_time(const kf_measurement *measurement, const kf_summary *summary, kf_error *error) {
    if (measurement->state != KF_STATE_OK) return KF_OK;
    double given = measurement->step_us.median, stored = summary->median;
    if (summary->count > 0 && fabs(given - stored) <= 1e-5 * fabs(stored)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "the result contradicts itself: its time is %.9g us, the median of its %zu "
                   "samples %.9g us",
                   given, summary->count, stored);
}

static kf_status insert_result(kf_store *store, int64_t run, int sequence, const char *role, int64_t config,
                               int64_t build, const char *measured, const kf_measurement *measurement,
                               kf_error *error) {
    /* Samples are meaningful only in state ok, and if timing was ended early. */
    bool keep = measurement->state == KF_STATE_OK || measurement->state == KF_STATE_SKIPPED;
    size_t count = keep ? measurement->sample_count : 0;
    uint32_t *packed = pack_samples(measurement->samples_us, count);
    uint32_t *clocks = measurement->clocks_mhz != NULL ? pack_samples(measurement->clocks_mhz, count) : NULL;
    double *rounded = unpack_samples(packed, count);
    kf_summary summary = kf_summarise(rounded, measurement->state == KF_STATE_OK ? count : 0);
    free(rounded);
    char now[KF_MOMENT];
    kf_moment_now(now);
    char *deviations = NULL;
    sqlite3_stmt *statement = NULL;
    kf_status status = check_time(measurement, &summary, error);
    if (status == KF_OK) status = kf_store_statement(store, KF_SQL_ADD_RESULT, &statement, error);
    if (status == KF_OK) {
        kf_binder binder = {statement, 0};
        kf_bind_integer(&binder, run);
        kf_bind_integer(&binder, sequence);
        kf_bind_text(&binder, role);
        kf_bind_integer(&binder, config);
        if (build > 0)
            kf_bind_integer(&binder, build);
        else
            kf_bind_null(&binder);
        kf_bind_text(&binder, measured != NULL ? measured : now);
        bind_measurement(&binder, measurement, &summary, packed, count);
        bind_conditions(&binder, measurement, clocks, count);
        deviations = bind_deviations(&binder, &measurement->verification);
        bind_spread(&binder, &measurement->verification);
        status = kf_store_run_once(store, statement, "storing a result", error);
        (void)sqlite3_clear_bindings(statement); /* The values point into packed, clocks and deviations. */
    }
    cJSON_free(deviations);
    free(clocks);
    free(packed);
    return status;
}

kf_status kf_store_add_result(kf_store *store, int64_t run, int sequence, const char *role,
                              const kf_config *config, const kf_measurement *measurement,
                              const char *measured, kf_error *error) {
    int64_t config_id = 0, build_id = 0;
    KF_TRY(config_row(store, config, &config_id, error));
    KF_TRY(build_row(store, measurement->build_hash, &build_id, error));
    KF_TRY(insert_result(store, run, sequence, role, config_id, build_id, measured, measurement, error));
    int64_t result = sqlite3_last_insert_rowid(store->database);
    for (int i = 0; i < measurement->kernel_count; i++)
        KF_TRY(add_kernel(store, result, i, &measurement->kernels[i], error));
    KF_TRY(kf_store_insert_user_values(store, result, measurement, error));
    return kf_store_insert_counters(store, result, measurement, error);
}

kf_status kf_store_find_result(kf_store *store, int64_t run, int sequence, const char *what, int64_t *id,
                               kf_error *error) {
    sqlite3_stmt *statement = NULL;
    bool found = false;
    KF_TRY(
        kf_store_prepare(store, "SELECT id FROM result WHERE run = ? AND sequence = ?", &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_integer(&binder, run);
    kf_bind_integer(&binder, sequence);
    const kf_status status = kf_store_step(store, statement, "looking for a result", &found, error);
    *id = found ? sqlite3_column_int64(statement, 0) : 0;
    (void)sqlite3_finalize(statement);
    KF_TRY(status);
    if (found) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: run %lld has no result %d to which %s could be added",
                   store->path, (long long)run, sequence, what);
}

kf_status kf_store_add(kf_store *store, const kf_run_row *run, int sequence, const char *role,
                       const kf_config *config, const kf_measurement *measurement, kf_error *error) {
    KF_TRY(kf_store_begin(store, error));
    kf_status status = kf_store_add_result(store, run->id, sequence, role, config, measurement, NULL, error);
    return kf_store_commit(store, status, "storing a result", error);
}

/* --- Reading ------------------------------------------------------------------------------------------ */

static int position(const char *word, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0) return i;
    return 0; /* the schema allows no other word */
}

static void read_summary(kf_reader *reader, size_t count, kf_summary *summary) {
    summary->count = count;
    double *const values[] = {&summary->median,  &summary->q1,  &summary->q3,  &summary->minimum,
                              &summary->maximum, &summary->low, &summary->high};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        *values[i] = kf_read_number(reader);
}

static void read_device_state(kf_reader *reader, kf_device_state *state) {
    state->sm_clock_mhz = kf_read_number(reader);
    state->memory_clock_mhz = kf_read_number(reader);
    state->temperature_c = kf_read_number(reader);
    state->power_w = kf_read_number(reader);
    state->throttle_reasons = (uint64_t)kf_read_integer(reader);
}

static void read_samples(kf_reader *reader, kf_measurement *measurement) {
    int at = reader->at++;
    measurement->sample_count = (size_t)sqlite3_column_bytes(reader->statement, at) / sizeof(uint32_t);
    if (measurement->sample_count > 0)
        measurement->samples_us =
            unpack_samples(sqlite3_column_blob(reader->statement, at), measurement->sample_count);
}

static double read_or_zero(kf_reader *reader) {
    const double value = kf_read_number(reader);
    return isnan(value) ? 0.0 : value;
}

/* Reads the conditions of a measurement: cache, clocks, energy, windows. */
static void read_conditions(kf_reader *reader, kf_measurement *measurement) {
    char word[32];
    kf_read_text(reader, word, sizeof word);
    measurement->cache = (kf_cache_policy)position(word, kf_cache_policy_names, KF_CACHE_POLICIES);
    int at = reader->at++;
    if (sqlite3_column_type(reader->statement, at) != SQLITE_NULL)
        measurement->clocks_mhz =
            unpack_samples(sqlite3_column_blob(reader->statement, at), measurement->sample_count);
    measurement->clock_mhz = read_or_zero(reader);
    kf_read_text(reader, word, sizeof word);
    measurement->clock_state = (kf_clock_state)position(word, kf_clock_state_names, KF_CLOCK_STATES);
    kf_read_text(reader, measurement->outliers, sizeof measurement->outliers);
    measurement->energy_j = read_or_zero(reader);
    measurement->effort = kf_read_number(reader);
    measurement->window_steps = (int)kf_read_integer(reader);
    measurement->windows = (int)kf_read_integer(reader);
}

/* Reads deviations. A wrong value from another program counts as not known. */
static void read_deviations(kf_reader *reader, kf_verification *verification) {
    const char *text = (const char *)sqlite3_column_text(reader->statement, reader->at++);
    cJSON *list = text != NULL ? cJSON_Parse(text) : NULL;
    if (list != NULL && kf_deviations_from_json(list, verification, NULL) != KF_OK) verification->count = 0;
    cJSON_Delete(list);
}

/* Reads a measurement from a row. */
static void read_measurement(kf_reader *reader, kf_measurement *measurement) {
    char word[32];
    kf_read_text(reader, word, sizeof word);
    measurement->state = (kf_state)position(word, kf_state_names, KF_STATES);
    kf_read_text(reader, measurement->reason, sizeof measurement->reason);
    read_samples(reader, measurement);
    read_summary(reader, measurement->state == KF_STATE_OK ? measurement->sample_count : 0,
                 &measurement->step_us);
    measurement->batch = (int)kf_read_integer(reader);
    kf_read_text(reader, word, sizeof word);
    measurement->stop = (kf_stop)position(word, kf_stop_names, KF_STOPS);
    measurement->updates_per_us = kf_read_number(reader);
    measurement->effective_bandwidth = kf_read_number(reader);
    measurement->verification.error = kf_read_number(reader);
    measurement->verification.bound = kf_read_number(reader);
    kf_read_text(reader, measurement->verification.worst, sizeof measurement->verification.worst);
    measurement->compile_seconds = kf_read_number(reader);
    measurement->verify_seconds = kf_read_number(reader);
    measurement->measure_seconds = kf_read_number(reader);
    read_device_state(reader, &measurement->device_before);
    read_device_state(reader, &measurement->device_after);
    kf_read_text(reader, measurement->build_hash, sizeof measurement->build_hash);
    read_conditions(reader, measurement);
    read_deviations(reader, &measurement->verification);
    measurement->verification.spread = kf_read_number(reader);
    measurement->verification.repeated = !isnan(measurement->verification.spread);
}

/* Reads the kernels of a result. */
static kf_status read_kernels(kf_store *store, int64_t result, kf_measurement *measurement, kf_error *error) {
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_statement(store, KF_SQL_KERNELS, &statement, error));
    (void)sqlite3_bind_int64(statement, 1, result);
    bool found = false;
    kf_status status = KF_OK;
    while ((status = kf_store_step(store, statement, "reading a result", &found, error)) == KF_OK && found) {
        kf_kernel_time *kernel = kf_measurement_add_kernel(measurement);
        kf_reader reader = {statement, 0};
        kf_read_text(&reader, kernel->name, sizeof kernel->name);
        size_t count = (size_t)kf_read_integer(&reader);
        read_summary(&reader, count, &kernel->time_us);
        kernel->bytes = kf_read_number(&reader);
        kernel->flops = kf_read_number(&reader);
        kernel->registers = (int)kf_read_integer(&reader);
        kernel->spill_bytes = (int)kf_read_integer(&reader);
        kernel->shared_bytes = (int)kf_read_integer(&reader);
        kernel->block_threads = (int)kf_read_integer(&reader);
        kernel->theoretical_occupancy = kf_read_number(&reader);
        kernel->launches_per_step = kf_read_number(&reader);
        if (isnan(kernel->launches_per_step)) kernel->launches_per_step = 1; /* it was stored by version 1 */
        kf_read_text(&reader, kernel->occupancy_limit, sizeof kernel->occupancy_limit);
        kernel->fastest_us = fmax(0.0, kf_read_number(&reader)); /* NAN if there is none */
    }
    (void)sqlite3_reset(statement);
    return status;
}

static kf_status read_config(kf_store *store, const char *text, kf_config *config, kf_error *error) {
    cJSON *json = NULL;
    kf_status status = kf_json_parse(store->path, text, strlen(text), &json, error);
    if (status == KF_OK) status = kf_config_from_json(store->path, json, config, error);
    cJSON_Delete(json);
    return status;
}

static kf_status read_row(kf_store *store, sqlite3_stmt *statement, kf_result_row *row, kf_error *error) {
    kf_reader reader = {statement, 0};
    int64_t id = kf_read_integer(&reader);
    row->sequence = (int)kf_read_integer(&reader);
    kf_read_text(&reader, row->role, sizeof row->role);
    kf_read_text(&reader, row->measured, sizeof row->measured);
    kf_read_text(&reader, row->config_hash, sizeof row->config_hash);
    const char *config = (const char *)sqlite3_column_text(statement, reader.at++);
    KF_TRY(read_config(store, config != NULL ? config : "", &row->config, error));
    read_measurement(&reader, &row->measurement);
    KF_TRY(read_kernels(store, id, &row->measurement, error));
    KF_TRY(kf_store_read_user_values(store, id, &row->measurement, error));
    return kf_store_read_counters(store, id, &row->measurement, error);
}

static const char *const rows_sql =
    "SELECT r.id, r.sequence, r.role, r.measured, c.hash, c.json, r.state, r.reason, r.samples, r.step_us, "
    "r.q1_us, "
    "r.q3_us, r.minimum_us, r.maximum_us, r.low_us, r.high_us, r.batch, r.stop, r.updates_per_us, "
    "r.bandwidth, "
    "r.verification_error, r.verification_bound, r.worst, r.compile_s, "
    "r.verify_s, "
    "r.measure_s, r.before_sm_clock_mhz, r.before_memory_clock_mhz, r.before_temperature_c, "
    "r.before_power_w, "
    "r.before_throttle_reasons, r.after_sm_clock_mhz, r.after_memory_clock_mhz, r.after_temperature_c, "
    "r.after_power_w, r.after_throttle_reasons, b.hash, r.cache, r.clocks, r.clock_mhz, r.clock_state, "
    "r.outliers, r.energy_j, r.effort, r.window_steps, r.windows, r.deviations, r.spread FROM result r JOIN "
    "config c "
    "ON c.id = "
    "r.config "
    "LEFT JOIN build b ON b.id = r.build WHERE r.run = ?1 AND (?2 = 0 OR NOT EXISTS (SELECT 1 FROM result l "
    "WHERE l.config = r.config AND l.run = ?1 AND l.sequence > r.sequence)) ORDER BY r.sequence";

kf_status kf_store_rows(kf_store *store, int64_t run_id, bool last_only, kf_row_visit visit, void *context,
                        kf_error *error) {
    KF_TRY(kf_store_require_run(store, run_id, error));
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(store, rows_sql, &statement, error));
    kf_binder binder = {statement, 0};
    kf_bind_integer(&binder, run_id);
    kf_bind_integer(&binder, last_only ? 1 : 0);
    kf_result_row *row = kf_allocate_zeroed(1, sizeof *row);
    bool found = true;
    kf_status status = KF_OK;
    while (status == KF_OK &&
           (status = kf_store_step(store, statement, "reading results", &found, error)) == KF_OK && found) {
        memset(row, 0, sizeof *row);
        status = read_row(store, statement, row, error);
        if (status == KF_OK) status = visit(context, row, error);
        kf_measurement_free(&row->measurement);
    }
    free(row);
    (void)sqlite3_finalize(statement);
    return status;
}

typedef struct kf_visit_pair {
    kf_result_visit visit;
    void *context;
} kf_visit_pair;

static kf_status forward(void *context, const kf_result_row *row, kf_error *error) {
    const kf_visit_pair *pair = context;
    return pair->visit(pair->context, row->sequence, row->role, &row->config, &row->measurement, error);
}

kf_status kf_store_results(kf_store *store, int64_t run_id, kf_result_visit visit, void *context,
                           kf_error *error) {
    kf_visit_pair pair = {visit, context};
    return kf_store_rows(store, run_id, false, forward, &pair, error);
}
