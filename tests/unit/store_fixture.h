/* Rows for tests of the store: a scene, a device, a run, configs and measurements. There is also a folder
 * for files. */
#ifndef KF_TESTS_UNIT_STORE_FIXTURE_H
#define KF_TESTS_UNIT_STORE_FIXTURE_H

#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/plan/system.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/store_internal.h"

static char fixture_folder[KF_PATH];

static inline int fixture_make_folder(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    (void)snprintf(fixture_folder, sizeof fixture_folder, "%s/kftune-store-XXXXXX",
                   base != NULL ? base : "/tmp");
    return mkdtemp(fixture_folder) == NULL ? -1 : 0;
}

static inline int fixture_remove(const char *path, const struct stat *information, int type,
                                 struct FTW *place) {
    (void)information;
    (void)type;
    (void)place;
    return remove(path);
}

/* Returns the number of the folder's files that this process still has open. A store that was closed while
 * one of its statements was still active stays open. */
static inline int fixture_open_files(void) {
    int open = 0;
    for (int file = 0; file < 1024; file++) {
        char link[32], path[KF_PATH] = "";
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        if (readlink(link, path, sizeof path - 1) < 0 ||
            strncmp(path, fixture_folder, strlen(fixture_folder)) != 0)
            continue;
        (void)fprintf(stderr, "%s is still open\n", path);
        open++;
    }
    return open;
}

static inline int fixture_remove_folder(void **state) {
    (void)state;
    const int open = fixture_open_files(),
              removed = nftw(fixture_folder, fixture_remove, 8, FTW_DEPTH | FTW_PHYS);
    if (open > 0) exit(EXIT_FAILURE); /* cmocka takes no notice of a group's end that fails */
    return removed;
}

static inline void fixture_path(char path[KF_PATH], const char *name) {
    assert_int_equal(kf_path(path, NULL, "%s/%s", fixture_folder, name), KF_OK);
}

static const kf_system fixture_system = {.name = "kinetic", .update = "node"};

/* Makes a problem, and frees the one before in its place. */
static inline void fixture_problem(kf_problem *problem, const char *name) {
    kf_facts *facts = &problem->facts;
    kf_facts_free(facts);
    *problem = (kf_problem){.seed = 0xfedcba9876543210u, .system = &fixture_system};
    kf_facts_size(facts, (const int[3]){96, 48, 32}, "nodes");
    kf_facts_amount(facts, "node_count", 96.0 * 48 * 32, "nodes");
    kf_facts_amount(facts, "sample_count", 12345, "samples");
    kf_facts_number(facts, "samples_per_cell", 20, "");
    kf_facts_number(facts, "reynolds", 100, "");
    kf_facts_number(facts, "viscosity", 0.01, "cell^2/step");
    kf_facts_word(facts, "collision", "acm_mrt");
    kf_copy_text(problem->name, sizeof problem->name, name);
    kf_copy_text(problem->source, sizeof problem->source, "meshes/beetle.obj");
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, name);
    kf_hash_end(&hasher, problem->hash);
}

static inline void fixture_device(kf_device_info *device) {
    *device = (kf_device_info){.spec = "cuda:0",
                               .backend = "cuda",
                               .name = "Test device",
                               .identity = "GPU-0000",
                               .architecture = "sm_90",
                               .driver = "1.0",
                               .compiler = "nvrtc 13.0",
                               .multiprocessors = 132,
                               .warp_size = 32,
                               .max_threads_per_block = 1024,
                               .memory_bytes = 150u << 20,
                               .l2_bytes = 50u << 20,
                               .peak_bandwidth = 4.8e12};
}

static inline void fixture_run(kf_run_row *run) {
    *run = (kf_run_row){.system = "kinetic",
                        .strategy = "random",
                        .budget = "60s",
                        .seed = 18446744073709551615u,
                        .space_json = "{\"parameters\":{}}"};
    memset(run->space_hash, 'a', KF_HASH_HEX - 1);
}

static inline void fixture_config(kf_config *config, int number) {
    *config = (kf_config){.system = "kinetic"};
    kf_config_set_name(config, "layout", number % 2 == 0 ? "csoa" : "aos");
    kf_config_set_integer(config, "alpha", number);
    kf_config_set_boolean(config, "morton", number % 3 == 0);
}

/* Makes a successful measurement. The caller frees its contents. */
static inline void fixture_measurement(kf_measurement *measurement, double time_us, size_t samples) {
    *measurement = (kf_measurement){.state = KF_STATE_OK,
                                    .batch = 4,
                                    .stop = KF_STOP_PRECISE,
                                    .updates_per_us = 1000 / time_us,
                                    .effective_bandwidth = 1e12,
                                    .compile_seconds = 0.5,
                                    .verify_seconds = 0.25,
                                    .measure_seconds = 0.125,
                                    .device_before = {1980, 3201, 40, 300, NAN, 0},
                                    .device_after = {1900, 3201, 55, NAN, NAN, 4}};
    kf_verification *verification = &measurement->verification;
    kf_verification_add(verification, "fields", 1e-6, 1e-4);
    kf_verification_add(verification, "mass", 1e-9, 1e-4);
    kf_verification_add(verification, "force", 2e-6, (double)NAN);
    kf_copy_text(measurement->verification.worst, sizeof measurement->verification.worst, "u_x at (1,2,3)");
    measurement->samples_us = kf_allocate(samples * sizeof(double));
    measurement->sample_count = samples;
    for (size_t i = 0; i < samples; i++)
        measurement->samples_us[i] = (double)(float)(time_us * (1 + 0.001 * (double)((i * 7) % 11)));
    measurement->step_us = kf_summarise(measurement->samples_us, samples);
    memset(measurement->build_hash, 'b', KF_HASH_HEX - 1);
    for (int i = 0; i < 2; i++) {
        kf_kernel_time *kernel = kf_measurement_add_kernel(measurement);
        *kernel = (kf_kernel_time){
            .bytes = 1e6, .flops = 3e6, .registers = 64, .shared_bytes = 128, .theoretical_occupancy = 0.5};
        kernel->time_us = measurement->step_us;
        kf_copy_text(kernel->name, sizeof kernel->name, i == 0 ? "stream" : "collide");
    }
    measurement->kernels[1].theoretical_occupancy = NAN;
}

static inline void fixture_failure(kf_measurement *measurement, kf_state state, const char *reason) {
    *measurement =
        (kf_measurement){.state = state, .verification = {.error = NAN}, .device_before = {.power_w = NAN}};
    kf_copy_text(measurement->reason, sizeof measurement->reason, reason);
}

static inline kf_store *fixture_open(const char *path) {
    kf_store *store = NULL;
    kf_error error = {0};
    if (kf_store_open(path, false, &store, &error) != KF_OK) fail_msg("%s", error.message);
    return store;
}

/* Opens the store of this name in the test's folder. */
static inline kf_store *fixture_open_new(const char *name) {
    char path[KF_PATH];
    fixture_path(path, name);
    return fixture_open(path);
}

/* Changes rows that the store's functions would never write so. */
static inline void fixture_change(kf_store *store, const char *sql) {
    char *why = NULL;
    if (sqlite3_exec(store->database, sql, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s: %s", sql, why);
}

static inline void fixture_begin(kf_store *store, kf_run_row *run) {
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    kf_error error = {0};
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    fixture_run(run);
    if (kf_store_begin_run(store, problem, &device, run, &error) != KF_OK) fail_msg("%s", error.message);
    kf_problem_free(problem);
}

/* Adds a successful result. The status says whether the store took it. */
static inline kf_status fixture_add(kf_store *store, const kf_run_row *run, int sequence, double time_us,
                                    kf_error *error) {
    kf_config config;
    fixture_config(&config, sequence);
    kf_measurement *measurement = kf_allocate(sizeof *measurement);
    fixture_measurement(measurement, time_us, 15);
    kf_status status = kf_store_add(store, run, sequence, "search", &config, measurement, error);
    kf_measurement_free(measurement);
    free(measurement);
    return status;
}

static inline int fixture_integer(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int value = sqlite3_column_int(statement, 0);
    (void)sqlite3_finalize(statement);
    return value;
}

#endif
