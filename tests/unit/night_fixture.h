/* Nights for tests: a store with a history made in memory, and programs that answer like a process of a
 * night, with times that the test chooses. */
#ifndef KF_TESTS_UNIT_NIGHT_FIXTURE_H
#define KF_TESTS_UNIT_NIGHT_FIXTURE_H

#include "base/util/memory.h"
#include "base/util/random.h"
#include "harness/nightly/night.h"
#include "tests/unit/store_fixture.h"

static inline void fixture_hash(char hash[KF_HASH_HEX], const char *text) {
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, text);
    kf_hash_end(&hasher, hash);
}

static inline void fixture_night(kf_store *store, kf_night *night, const char *program) {
    kf_error error = {0};
    bool resumed = false;
    *night = (kf_night){.suite = "test"};
    fixture_hash(night->suite_hash, "suite");
    fixture_hash(night->program, program);
    kf_copy_text(night->label, sizeof night->label, program);
    if (kf_store_begin_night(store, 12.0, night, &resumed, &error) != KF_OK) fail_msg("%s", error.message);
}

/* Adds a process of a night with this time. */
static inline kf_status fixture_process(kf_store *store, const kf_night *night, kf_run_row *run,
                                        const char *benchmark, kf_arm arm, int ordinal, double time_us,
                                        kf_error *error) {
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_measurement *measurement = kf_allocate(sizeof *measurement);
    kf_device_info device;
    kf_config config;
    char series[KF_HASH_HEX];
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    fixture_config(&config, 1);
    fixture_measurement(measurement, time_us, 15);
    kf_store_series(benchmark, problem, &device, series);
    if (run->id == 0) fixture_run(run);
    const kf_process_row process = {.benchmark = benchmark,
                                    .arm = arm,
                                    .ordinal = ordinal,
                                    .series = series,
                                    .program = night->program,
                                    .job = "{}"};
    kf_status status =
        kf_store_add_process(store, night, &process, problem, &device, run, &config, measurement, error);
    kf_measurement_free(measurement);
    free(measurement);
    kf_problem_free(problem);
    return status;
}

static inline kf_verdict fixture_verdict(const char *benchmark, kf_verdict_state state, double time_us) {
    kf_verdict verdict = {.state = state,
                          .reason = "because",
                          .time_us = time_us,
                          .threshold = 0.01,
                          .change = NAN,
                          .change_low = NAN,
                          .change_high = NAN,
                          .probability = NAN};
    kf_copy_text(verdict.benchmark, sizeof verdict.benchmark, benchmark);
    if (state == KF_SLOW || state == KF_FAST || state == KF_DRIFT) {
        double sign = state == KF_FAST ? -1 : 1;
        verdict.change = 0.031 * sign;
        verdict.change_low = verdict.change - 0.002;
        verdict.change_high = verdict.change + 0.002;
        verdict.probability = 2.0 / 252;
        kf_copy_text(verdict.kernel, sizeof verdict.kernel, "stream_collide");
        verdict.kernel_change_us = 12.5 * sign;
        kf_copy_text(verdict.counter, sizeof verdict.counter, "registers a thread");
        verdict.counter_before = 64;
        verdict.counter_after = 96;
    }
    return verdict;
}

/* Receives the verdicts of kf_store_verdicts. The last one stays in context. */
static inline kf_status fixture_keep_verdict(void *context, const kf_verdict *verdict, kf_error *error) {
    (void)error;
    *(kf_verdict *)context = *verdict;
    return KF_OK;
}

/* Adds a finished night of one benchmark, with times around time_us. */
static inline int64_t fixture_whole_night(kf_store *store, const char *benchmark, const char *program,
                                          double time_us, kf_verdict_state state, uint64_t *seed) {
    kf_night night;
    kf_run_row run = {0};
    kf_error error = {0};
    fixture_night(store, &night, program);
    for (int i = 0; i < 5; i++) {
        double noise = 0.004 * ((double)kf_random_below(seed, 1000) / 1000 - 0.5);
        if (fixture_process(store, &night, &run, benchmark, KF_ARM_NIGHT, i, time_us * (1 + noise), &error) !=
            KF_OK)
            fail_msg("%s", error.message);
    }
    kf_verdict verdict = fixture_verdict(benchmark, state, time_us);
    if (kf_store_add_verdict(store, night.id, run.id, &verdict, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(kf_store_end_night(store, &night, "finished", &error), KF_OK);
    return night.id;
}

#endif
