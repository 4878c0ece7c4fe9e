/* A measurement in which every member has a value of its own, and a comparison of all members. It tests
 * code that copies measurements from one place to another. */
#ifndef KF_TESTS_UNIT_FULL_MEASUREMENT_H
#define KF_TESTS_UNIT_FULL_MEASUREMENT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/record/measurement.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* Makes a successful measurement in which every member has a value that it can have. The caller frees its
 * contents. */
static inline void full_measurement(kf_measurement *m) {
    enum { SAMPLES = 5 };
    *m = (kf_measurement){.state = KF_STATE_OK,
                          .batch = 6,
                          .effort = 0.375,
                          .window_steps = 77,
                          .windows = 3,
                          .stop = KF_STOP_TIME,
                          .cache = KF_CACHE_HOT,
                          .clock_mhz = 1725,
                          .clock_state = KF_CLOCK_UNSTEADY,
                          .energy_j = 0.0625,
                          .updates_per_us = 812.5,
                          .effective_bandwidth = 2.5e11,
                          .compile_seconds = 1.5,
                          .verify_seconds = 2.25,
                          .measure_seconds = 3.125,
                          .device_before = {1980, 2619, 41, 301, NAN, 5},
                          .device_after = {1755, 2601, 62, 695, NAN, 9}};
    kf_verification_add(&m->verification, "fields", 1.25e-6, 1e-4);
    kf_verification_add(&m->verification, "mass", 2.5e-9, 1e-5);
    kf_verification_add(&m->verification, "force", 3.5e-6, 1e-3);
    kf_copy_text(m->verification.worst, sizeof m->verification.worst, "u_y at (3,2,1)");
    kf_copy_text(m->outliers, sizeof m->outliers, "1 of 5 samples far off");
    memset(m->build_hash, 'c', KF_HASH_HEX - 1);
    m->samples_us = kf_allocate(SAMPLES * sizeof *m->samples_us);
    m->clocks_mhz = kf_allocate(SAMPLES * sizeof *m->clocks_mhz);
    m->sample_count = SAMPLES;
    for (int i = 0; i < SAMPLES; i++) {
        m->samples_us[i] = 100.5 + 3 * ((2 * i) % SAMPLES);
        m->clocks_mhz[i] = i == 3 ? (double)NAN : 1700 + 25.0 * i;
    }
    m->step_us = kf_summarise(m->samples_us, m->sample_count);
    static const struct {
        const char *name, *limit;
        double launches;
    } kernels[] = {{"stream", "registers", 1}, {"collide", "shared memory", 0.5}};
    for (int i = 0; i < 2; i++) {
        const double times[] = {10.0 + i, 12.0 + i, 15.0 + i};
        kf_kernel_time *kernel = kf_measurement_add_kernel(m);
        kf_copy_text(kernel->name, sizeof kernel->name, kernels[i].name);
        kf_copy_text(kernel->occupancy_limit, sizeof kernel->occupancy_limit, kernels[i].limit);
        kernel->time_us = kf_summarise(times, 3);
        kernel->launches_per_step = kernels[i].launches;
        kernel->bytes = 1e6 + i;
        kernel->flops = 2e6 + i;
        kernel->registers = 64 + i;
        kernel->spill_bytes = 8 + i;
        kernel->shared_bytes = 1024 + i;
        kernel->block_threads = 256 + 32 * i;
        kernel->theoretical_occupancy = 0.5 + 0.25 * i;
    }
    static const kf_counter counters[] = {{"", "achieved_occupancy", "%", 43.5, 1},
                                          {"stream", "dram_bytes", "B", 123456, 2},
                                          {"collide", "registers_per_thread", "1", 65, 3}};
    m->counters = kf_allocate(sizeof counters);
    memcpy(m->counters, counters, sizeof counters);
    m->counter_count = 3;
}

static inline void assert_same_value(double a, double b) {
    if (!(a == b || (isnan(a) && isnan(b)))) fail_msg("%.17g is not %.17g", b, a);
}

static inline void assert_same_times(const kf_summary *a, const kf_summary *b) {
    assert_int_equal(a->count, b->count);
    assert_same_value(a->median, b->median);
    assert_same_value(a->q1, b->q1);
    assert_same_value(a->q3, b->q3);
    assert_same_value(a->minimum, b->minimum);
    assert_same_value(a->maximum, b->maximum);
    assert_same_value(a->low, b->low);
    assert_same_value(a->high, b->high);
}

static inline void assert_same_device_state(const kf_device_state *a, const kf_device_state *b) {
    assert_same_value(a->sm_clock_mhz, b->sm_clock_mhz);
    assert_same_value(a->memory_clock_mhz, b->memory_clock_mhz);
    assert_same_value(a->temperature_c, b->temperature_c);
    assert_same_value(a->power_w, b->power_w);
    assert_int_equal(a->throttle_reasons, b->throttle_reasons);
}

static inline void assert_same_kernels(const kf_measurement *a, const kf_measurement *b) {
    assert_int_equal(a->kernel_count, b->kernel_count);
    for (int i = 0; i < a->kernel_count; i++) {
        const kf_kernel_time *x = &a->kernels[i], *y = &b->kernels[i];
        assert_string_equal(x->name, y->name);
        assert_string_equal(x->occupancy_limit, y->occupancy_limit);
        assert_same_times(&x->time_us, &y->time_us);
        assert_same_value(x->launches_per_step, y->launches_per_step);
        assert_same_value(x->bytes, y->bytes);
        assert_same_value(x->flops, y->flops);
        assert_int_equal(x->registers, y->registers);
        assert_int_equal(x->spill_bytes, y->spill_bytes);
        assert_int_equal(x->shared_bytes, y->shared_bytes);
        assert_int_equal(x->block_threads, y->block_threads);
        assert_same_value(x->theoretical_occupancy, y->theoretical_occupancy);
    }
    assert_int_equal(a->counter_count, b->counter_count);
    for (int i = 0; i < a->counter_count; i++) {
        const kf_counter *x = &a->counters[i], *y = &b->counters[i];
        assert_string_equal(x->kernel, y->kernel);
        assert_string_equal(x->metric, y->metric);
        assert_string_equal(x->unit, y->unit);
        assert_same_value(x->value, y->value);
        assert_int_equal(x->passes, y->passes);
    }
}

/* Compares all members except the device's energy counter, of which only differences have a meaning. */
static inline void assert_same_in_full(const kf_measurement *a, const kf_measurement *b) {
    assert_int_equal(a->state, b->state);
    assert_string_equal(a->reason, b->reason);
    assert_int_equal(a->verification.count, b->verification.count);
    assert_same_value(a->verification.error, b->verification.error);
    assert_same_value(a->verification.bound, b->verification.bound);
    assert_string_equal(a->verification.worst, b->verification.worst);
    for (int i = 0; i < a->verification.count; i++) {
        assert_string_equal(a->verification.deviations[i].name, b->verification.deviations[i].name);
        assert_same_value(a->verification.deviations[i].value, b->verification.deviations[i].value);
        assert_same_value(a->verification.deviations[i].bound, b->verification.deviations[i].bound);
    }
    assert_same_times(&a->step_us, &b->step_us);
    assert_int_equal(a->sample_count, b->sample_count);
    assert_non_null(b->clocks_mhz);
    for (size_t i = 0; i < a->sample_count; i++) {
        assert_same_value(a->samples_us[i], b->samples_us[i]);
        assert_same_value(a->clocks_mhz[i], b->clocks_mhz[i]);
    }
    assert_int_equal(a->batch, b->batch);
    assert_same_value(a->effort, b->effort);
    assert_int_equal(a->window_steps, b->window_steps);
    assert_int_equal(a->windows, b->windows);
    assert_int_equal(a->stop, b->stop);
    assert_int_equal(a->cache, b->cache);
    assert_same_value(a->clock_mhz, b->clock_mhz);
    assert_int_equal(a->clock_state, b->clock_state);
    assert_string_equal(a->outliers, b->outliers);
    assert_same_value(a->energy_j, b->energy_j);
    assert_same_value(a->updates_per_us, b->updates_per_us);
    assert_same_value(a->effective_bandwidth, b->effective_bandwidth);
    assert_same_kernels(a, b);
    assert_same_value(a->compile_seconds, b->compile_seconds);
    assert_same_value(a->verify_seconds, b->verify_seconds);
    assert_same_value(a->measure_seconds, b->measure_seconds);
    assert_string_equal(a->build_hash, b->build_hash);
    assert_same_device_state(&a->device_before, &b->device_before);
    assert_same_device_state(&a->device_after, &b->device_after);
}

#endif
