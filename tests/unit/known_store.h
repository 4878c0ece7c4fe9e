/* A store in which every member is known: a run with a result of each kind, an imported one, and four
 * nights of two benchmarks. All numbers differ, so that a member in another's place is noticed. */
#ifndef KF_TESTS_UNIT_KNOWN_STORE_H
#define KF_TESTS_UNIT_KNOWN_STORE_H

#include "base/record/roofs.h"
#include "tests/unit/night_fixture.h"

/* Makes a measurement with the samples 0.99, 1 and 1.02 times time_us, whose median is time_us. The
 * kernels have 1/2, 1/4, 1/8 ... of the step, and the second is launched in every other step. */
static inline void known_measurement(kf_measurement *m, double time_us, int kernels) {
    static const struct {
        const char *name, *limit;
    } rows[] = {{"stream_collide", "registers"},
                {"boundary_low", "threads"},
                {"boundary_high", "blocks"},
                {"forces", "shared memory"}};
    *m = (kf_measurement){.state = KF_STATE_OK,
                          .batch = 3,
                          .effort = 0.5,
                          .window_steps = 40,
                          .windows = 2,
                          .stop = KF_STOP_SAMPLES,
                          .cache = KF_CACHE_COLD,
                          .clock_mhz = 1725,
                          .clock_state = KF_CLOCK_STEADY,
                          .energy_j = 0.0625,
                          .updates_per_us = 65536 / time_us,
                          .effective_bandwidth = 2e8 / time_us * 1e6,
                          .compile_seconds = 1.5,
                          .verify_seconds = 2.25,
                          .measure_seconds = 3.125,
                          .device_before = {1980, 2619, 41, 301, NAN, 5},
                          .device_after = {1755, 2601, 62, 695, NAN, 9}};
    kf_verification_add(&m->verification, "fields", 1.25e-6 * time_us, 0.0625);
    kf_verification_add(&m->verification, "mass", 2.5e-9, 1e-5);
    kf_copy_text(m->verification.worst, sizeof m->verification.worst, "u_y at (3,2,1)");
    memset(m->build_hash, 'c', KF_HASH_HEX - 1);
    m->verification.repeated = true;
    m->verification.spread = time_us > 2000 ? 3.5e-8 : 0.0;
    m->user_values = kf_allocate_zeroed(2, sizeof *m->user_values);
    m->user_value_count = 2;
    m->user_values[0] = (kf_user_value){"gflops", 4e5 / time_us};
    m->user_values[1] = (kf_user_value){"reach", time_us < 1400 ? time_us / 1000 : (double)NAN};
    static const double spread[] = {1.02, 0.99, 1};
    m->samples_us = kf_allocate(3 * sizeof *m->samples_us);
    m->sample_count = 3;
    for (int i = 0; i < 3; i++)
        m->samples_us[i] = time_us * spread[i];
    m->step_us = kf_summarise(m->samples_us, 3);
    for (int i = 0; i < kernels; i++) {
        kf_kernel_time *kernel = kf_measurement_add_kernel(m);
        const double part = time_us / (2 << i), times[] = {part * 0.9, part, part * 1.25};
        kf_copy_text(kernel->name, sizeof kernel->name, rows[i].name);
        kf_copy_text(kernel->occupancy_limit, sizeof kernel->occupancy_limit, rows[i].limit);
        kernel->time_us = kf_summarise(times, 3);
        kernel->launches_per_step = i == 1 ? 0.5 : 1;
        kernel->bytes = 1e8 / (1 + i);
        kernel->flops = 3e8 / (1 + i);
        kernel->registers = 64 + i;
        kernel->spill_bytes = 8 * i;
        kernel->shared_bytes = 1024 + i;
        kernel->block_threads = 256 + 32 * i;
        kernel->theoretical_occupancy = i == 2 ? (double)NAN : 0.5 + 0.125 * i;
    }
}

/* Adds counters of every kernel but the last, and two of the whole step. */
static inline void known_counters(kf_measurement *m) {
    static const struct {
        const char *metric, *unit;
        double value;
    } values[] = {{"operations", "FLOP", 3.2e8},     {"l1_bytes", "B", 4.4e8},
                  {"l2_bytes", "B", 2.2e8},          {"dram_bytes", "B", 1.1e8},
                  {"achieved_occupancy", "%", 40.5}, {"load_efficiency", "%", 81},
                  {"store_efficiency", "%", 72},     {"branch_uniformity", "%", 93},
                  {"warp_efficiency", "%", 64},      {"registers_per_thread", "1", 12345}};
    enum { METRICS = sizeof values / sizeof *values };
    m->counters = kf_allocate_zeroed((size_t)m->kernel_count * METRICS + 2, sizeof *m->counters);
    for (int k = 0; k + 1 < m->kernel_count; k++)
        for (int i = 0; i < METRICS; i++) {
            kf_counter *counter = &m->counters[m->counter_count++];
            *counter = (kf_counter){.value = values[i].value / (1 << k), .passes = 2};
            kf_copy_text(counter->kernel, sizeof counter->kernel, m->kernels[k].name);
            kf_copy_text(counter->metric, sizeof counter->metric, values[i].metric);
            kf_copy_text(counter->unit, sizeof counter->unit, values[i].unit);
        }
    m->counters[m->counter_count++] = (kf_counter){"", "dram_bytes", "B", 2.5e12, 3};
    m->counters[m->counter_count++] = (kf_counter){"", "achieved_occupancy", "%", 43.5, 1};
}

static inline void known_config(kf_config *config, const char *plan, const char *layout, long alpha,
                                long length, bool morton) {
    *config = (kf_config){.system = "kinetic"};
    kf_config_set_name(config, "plan", plan);
    kf_config_set_name(config, "layout", layout);
    kf_config_set_integer(config, "alpha", alpha);
    kf_config_set_integer(config, "sample_block_length", length);
    kf_config_set_boolean(config, "morton", morton);
}

static inline void known_add(kf_store *store, const kf_run_row *run, int sequence, const char *role,
                             const kf_config *config, kf_measurement *m) {
    kf_error error = {0};
    if (kf_store_add(store, run, sequence, role, config, m, &error) != KF_OK) fail_msg("%s", error.message);
    kf_measurement_free(m);
}

/* Begins a run of the problem of that name. */
static inline void known_begin(kf_store *store, const kf_device_info *device, const char *name,
                               kf_run_row *run) {
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_error error = {0};
    fixture_problem(problem, name);
    if (kf_store_begin_run(store, problem, device, run, &error) != KF_OK) fail_msg("%s", error.message);
    kf_problem_free(problem);
}

static inline void known_run(kf_store *store, const kf_device_info *device) {
    kf_run_row run;
    kf_error error = {0};
    kf_config config;
    kf_measurement m;
    fixture_run(&run);
    kf_copy_text(run.strategy, sizeof run.strategy, "model");
    run.seed = 42;
    kf_copy_text(run.objective, sizeof run.objective, "max:gflops,max:reach");
    run.metrics = (char[]){"[{\"name\":\"gflops\",\"expression\":\"0.4/time\"},"
                           "{\"name\":\"reach\",\"expression\":\"1000*time\"}]"};
    known_begin(store, device, "beetle", &run);
    static const struct {
        const char *role, *plan, *layout;
        long alpha, length;
        double time_us;
        int kernels;
    } good[] = {{"preset:baseline", "baseline", "aos", 1, 1, 4800, 4},
                {"preset:paper", "paper", "csoa", 64, 2, 2400, 3},
                {"preset:default", "fused", "soa", 1, 4, 1600, 2},
                {"search", "fused", "csoa", 32, 4, 1250, 3},
                {"search", "fused", "csoa", 32, 2, 1500, 2},
                {"search", "fused", "csoa", 64, 4, 1300, 1},
                {"search", "fused", "csoa", 64, 2, 1440, 2},
                {"search", "fused", "aos", 1, 2, 3000, 2}};
    enum { GOOD = sizeof good / sizeof *good };
    int sequence = 0;
    for (int i = 0; i < GOOD; i++) {
        known_config(&config, good[i].plan, good[i].layout, good[i].alpha, good[i].length, i % 2 == 1);
        known_measurement(&m, good[i].time_us, good[i].kernels);
        if (i == 0) known_counters(&m);
        known_add(store, &run, sequence++, good[i].role, &config, &m);
    }
    static const struct {
        kf_state state;
        const char *reason;
    } bad[] = {{KF_STATE_WRONG_RESULT, "error 0.5 is above 1e-4, \"u_x\" at (1,2,3)"},
               {KF_STATE_CRASH, "signal 11, a segmentation fault"},
               {KF_STATE_TIMEOUT, "ended after 60 s"},
               {KF_STATE_INVALID, "2048 threads a block, 1024 are possible"},
               {KF_STATE_COMPILE, "line 3: 'x' is not declared"},
               {KF_STATE_OUT_OF_MEMORY, "12 GiB of 8 GiB"},
               {KF_STATE_SKIPPED, "clearly slower: 9 ms"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        known_config(&config, "fused", "csoa", 128, 1L << i, false);
        fixture_failure(&m, bad[i].state, bad[i].reason);
        m.compile_seconds = 0.25;
        m.measure_seconds = NAN;
        known_add(store, &run, sequence++, "search", &config, &m);
    }
    for (int i = 3; i <= 5; i += 2) { /* the second is faster, the first was chosen */
        known_config(&config, good[i].plan, good[i].layout, good[i].alpha, good[i].length, true);
        known_measurement(&m, i == 3 ? 1260 : 1255, 3);
        if (i == 3) known_counters(&m);
        known_add(store, &run, sequence++, "final", &config, &m);
    }
    assert_int_equal(kf_store_set_winner(store, &run, sequence - 2, 0.0125, &error), KF_OK);
    assert_int_equal(kf_store_end_run(store, &run, "finished", &error), KF_OK);
}

/* Adds an interrupted run on the cpu with one result. */
static inline void known_second_run(kf_store *store) {
    kf_device_info device;
    kf_run_row run;
    kf_error error = {0};
    kf_config config;
    kf_measurement m;
    fixture_device(&device);
    kf_copy_text(device.name, sizeof device.name, "Some processor");
    kf_copy_text(device.identity, sizeof device.identity, "CPU-1");
    kf_copy_text(device.backend, sizeof device.backend, "cpu");
    fixture_run(&run);
    known_begin(store, &device, "spot", &run);
    known_config(&config, "fused", "soa", 1, 1, false);
    known_measurement(&m, 25000, 2);
    known_add(store, &run, 0, "preset:default", &config, &m);
    assert_int_equal(kf_store_end_run(store, &run, "interrupted", &error), KF_OK);
}

/* Adds a night of two benchmarks. The times of its processes are 1, 1.01, 0.99, 1.02 and 0.98 times
 * time_us. The car has no times. */
static inline void known_night(kf_store *store, const char *program, double time_us, kf_verdict_state state) {
    kf_night night;
    kf_run_row run = {0};
    kf_error error = {0};
    fixture_night(store, &night, program);
    for (int i = 0; i < 5; i++) {
        const double share = 1 + 0.01 * (i % 2 == 1 ? (i + 1) / 2 : -i / 2);
        if (fixture_process(store, &night, &run, "ball", KF_ARM_NIGHT, i, time_us * share, &error) != KF_OK)
            fail_msg("%s", error.message);
    }
    if (state == KF_SLOW)
        for (int i = 0; i < 2; i++)
            assert_int_equal(fixture_process(store, &night, &run, "ball",
                                             i == 0 ? KF_ARM_REFERENCE : KF_ARM_CANDIDATE, 0, time_us,
                                             &error),
                             KF_OK);
    kf_verdict verdict = fixture_verdict("ball", state, time_us),
               car = fixture_verdict("car", KF_WRONG, (double)NAN);
    verdict.reference = night.id > 1 ? night.id - 1 : 0;
    kf_copy_text(car.reason, sizeof car.reason, "error 0.5 & <more>");
    if (kf_store_add_verdict(store, night.id, run.id, &verdict, &error) != KF_OK ||
        kf_store_add_verdict(store, night.id, 0, &car, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(kf_store_end_night(store, &night, "finished", &error), KF_OK);
}

static inline void known_change(kf_store *store, const char *sql) {
    char *complaint = NULL;
    if (sqlite3_exec(store->database, sql, NULL, NULL, &complaint) != SQLITE_OK)
        fail_msg("%s: %s", sql, complaint);
}

static inline void known_store(kf_store *store) {
    kf_device_info device;
    kf_error error = {0};
    fixture_device(&device);
    known_run(store, &device);
    known_second_run(store);
    enum { NIGHTS = 16 };
    static const kf_verdict_state states[NIGHTS] = {KF_NODATA,    KF_SAME,        KF_SLOW,
                                                    KF_AMBIGUOUS, [8] = KF_DRIFT, [12] = KF_FAST};
    for (int i = 0; i < NIGHTS; i++) {
        char program[32];
        (void)snprintf(program, sizeof program, "v1.%d-and-a-long-name", i);
        known_night(store, program, (i < 8 ? 1000 : 1300) + 3 * (i * 5 % 7), states[i]);
    }
    const kf_roofs roofs = {.count = 4,
                            .list = {{"fp32_multiply_add", "GFLOP/s", 51000, 0.011, 60000},
                                     {"dram_copy", "GB/s", 4200, 0.012, (double)NAN},
                                     {"l2_copy", "GB/s", 9000, 0.013, (double)NAN},
                                     {"l1_load", "GB/s", 25000, 0.014, 33000}}};
    assert_int_equal(kf_store_save_roofs(store, &device, &roofs, &error), KF_OK);
    int count = 0;
    assert_int_equal(kf_store_pin(store, 2, &count, &error), KF_OK);
    assert_int_equal(count, 1);
    /* These lines differ from machine to machine and from day to day. */
    known_change(store, "UPDATE run SET uuid = printf('%08d-0000-4000-8000-000000000000', id), started = "
                        "printf('2026-01-%02dT03:04:05.678901Z', id), "
                        "ended = printf('2026-02-%02dT04:05:06.789012Z', id)");
    known_change(store, "UPDATE night SET uuid = printf('%08d-1111-4000-8000-000000000000', id), started = "
                        "printf('2026-03-%02dT05:06:07.890123Z', id), "
                        "ended = printf('2026-04-%02dT06:07:08.901234Z', id)");
    known_change(store, "UPDATE result SET measured = printf('2026-05-%02dT07:08:09.012345Z', sequence + 1)");
    known_change(store, "UPDATE environment SET processor = 'A processor', processor_count = 48, "
                        "operating_system = 'Linux 6.1.0', container = 1, "
                        "kftune = '9.8.7'");
    known_change(store, "UPDATE nightly SET job = json_object('ordinal', ordinal)");
}

#endif
