/* Tests what measuring asks of a device: warm-up, samples, what runs before them, launches one by one. A
 * device only records, and its clock advances 10 us with each launch, so that every number follows from
 * the policy. Faults: a launch more or less. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "harness/measure/measure.h"
#include "tests/tools/recording_backend.h"

static const kf_plan_methods methods = {0};
static kf_status begin(kf_plan *plan, kf_error *error) {
    (void)plan;
    (void)error;
    return KF_OK;
}
static void free_nothing(kf_plan *plan) {
    (void)plan;
}

typedef struct bench {
    kf_backend *backend;
    kf_plan *plan;
    kf_function *function;
    kf_plan_methods methods;
    kf_problem problem;
    kf_config config;
    kf_measurement measurement;
} bench;

static void add_kernel(bench *b, const char *name, int period, int phase) {
    const int arguments[3] = {64, 2, 1}, block[3] = {32, 1, 1};
    kf_launch launch;
    kf_launch_set(&launch, name, b->function, block, arguments, sizeof arguments);
    kf_item *item = kf_plan_add_kernel(b->plan, &launch);
    item->period = period;
    item->phase = phase;
}

/* A plan of one kernel, "step", on a device of that backend. */
static void open_bench_of(bench *b, const char *backend, int parts) {
    kf_device_info device = {.spec = "any", .name = "recording", .max_threads_per_block = 1024};
    (void)snprintf(device.backend, sizeof device.backend, "%s", backend);
    const kf_source source = {.file = "kernels/none.cu"};
    kf_module *module = NULL;
    kf_error error = {KF_OK, ""};
    memset(b, 0, sizeof *b);
    b->backend = recording_open_team(&device, parts);
    b->methods = methods;
    b->methods.initialise = begin;
    b->methods.free = free_nothing;
    b->plan = kf_plan_create(b->backend, &b->problem, &b->config, &b->methods, NULL);
    b->plan->updates = 3000;
    b->plan->least_bytes = 5e6;
    assert_int_equal(kf_plan_module(b->plan, &source, &module, &error), KF_OK);
    assert_int_equal(kf_module_function(module, "step", &b->function, &error), KF_OK);
    add_kernel(b, "step", 1, 0);
}
static void open_bench_on(bench *b, const char *backend) {
    open_bench_of(b, backend, 1);
}
static void open_bench(bench *b) {
    open_bench_on(b, "cpu");
}

static recorded_work measure(bench *b, const kf_measure_policy *policy, const kf_incumbent *incumbent) {
    kf_error error = {KF_OK, ""};
    if (kf_measure_plan(b->plan, policy, incumbent, &b->measurement, &error) != KF_OK)
        fail_msg("%s", error.message);
    return recording_of(b->backend)->work;
}

static void close_bench(bench *b) {
    kf_measurement_free(&b->measurement);
    kf_plan_free(b->plan);
    kf_backend_close(b->backend);
}

/* Returns a policy without limits in real time. */
static kf_measure_policy policy_of(const char *kind) {
    kf_device_info device = {0};
    (void)snprintf(device.backend, sizeof device.backend, "%s", kind);
    kf_measure_policy p = kf_policy_for(&device);
    p.warm_up_limit_us = p.time_limit_us = p.kernel_limit_us = 1e12;
    return p;
}

/* 20 ms of warm-up are 2000 steps, in batches of 2, 4, ... 512 and the 978 that are left; one batch of 100
 * that does not count (it may make a graph), 50 samples of 1 ms to time 50 ms, and 15 times two steps launch
 * by launch. */
static void on_a_cpu(void **state) {
    (void)state;
    bench b;
    open_bench(&b);
    const kf_measure_policy p = policy_of("cpu");
    const recorded_work work = measure(&b, &p, NULL);
    const kf_measurement *m = &b.measurement;
    assert_int_equal(m->batch, 100);
    assert_int_equal(m->sample_count, 50);
    assert_int_equal(m->stop, KF_STOP_PRECISE);
    assert_int_equal(work.launches, 2000 + 100 + 50 * 100 + 15 * 2);
    assert_int_equal(work.fills, 0);
    assert_int_equal(work.graphs_made, 2); /* of 2 and of 64 steps */
    assert_true(fabs(m->step_us.median - 10.0) < 1e-4);
    assert_true(fabs(m->updates_per_us - 300.0) < 0.01);
    assert_true(fabs(m->effective_bandwidth - 5e6 / 10e-6) < 1e-4 * 5e11);
    assert_int_equal(m->kernel_count, 1);
    assert_int_equal(m->kernels[0].time_us.count, 15 * 2);
    assert_true(fabs(m->kernels[0].time_us.median - 10.0) < 1e-4);
    assert_int_equal(m->kernels[0].registers, 32);
    close_bench(&b);
}

/* Launches of one name share a row: a sample of it is their mean in a step, and so are its bytes. */
static void launches_of_one_name(void **state) {
    (void)state;
    bench b;
    open_bench(&b);
    add_kernel(&b, "step", 1, 0);
    b.plan->items[0].bytes = 100;
    b.plan->items[1].bytes = 300;
    const kf_measure_policy p = policy_of("cpu");
    (void)measure(&b, &p, NULL);
    const kf_kernel_time *row = b.measurement.kernels;
    assert_int_equal(b.measurement.kernel_count, 1);
    assert_int_equal(row->time_us.count, 15 * 2);
    assert_true(fabs(row->time_us.median - 10.0) < 1e-4);
    assert_true(fabs(row->launches_per_step - 2.0) < 1e-12 && fabs(row->bytes - 200.0) < 1e-9);
    assert_true(row->fastest_us == 0.0);
    close_bench(&b);
}

/* If a launch of a team fails, the message names the device: here the second, with the first one's kernel. */
static void failures_name_their_device(void **state) {
    (void)state;
    bench b;
    kf_error error = {KF_OK, ""};
    open_bench_of(&b, "cpu", 2);
    kf_plan_on(b.plan, 1);
    add_kernel(&b, "other", 1, 0);
    kf_plan_on(b.plan, 0);
    assert_int_not_equal(kf_plan_execute(b.plan, &b.plan->items[1], &error), KF_OK);
    assert_string_equal(error.message,
                        "device 2 of 2: launch other: its kernel was loaded for another device");
    assert_int_equal(kf_plan_execute(b.plan, &b.plan->items[0], &error), KF_OK);
    close_bench(&b);
}

/* 50 ms of warm-up; samples of 20 steps: two alone, then 16 at a time, each time behind a batch that is not
 * timed, until 50 ms are; every repeat launch by launch is behind one, too. */
static void behind_a_queue(void **state) {
    (void)state;
    bench b;
    open_bench(&b);
    const kf_measure_policy p = policy_of("cuda");
    const recorded_work work = measure(&b, &p, NULL);
    const kf_measurement *m = &b.measurement;
    assert_int_equal(m->batch, 20);
    assert_int_equal(m->sample_count, 2 + 16 * 16);
    assert_int_equal(work.launches, 5000 + 20 + (1 + 16) * 20 + m->sample_count * 20 + 15 * (20 + 2));
    close_bench(&b);
}

/* A GPU's samples are what a run gives it at once: graphs of 64 launches. They are smaller if these take
 * more than twenty samples of 200 us, or if the cache is to be cold in each of few steps. */
static void of_whole_trains(void **state) {
    (void)state;
    static const struct {
        double launch_us;
        kf_cache_policy cache;
        int batch, launched;
    } cases[] = {{10, KF_CACHE_STEADY, 64, 1},
                 {2, KF_CACHE_STEADY, 128, 2},
                 {60, KF_CACHE_STEADY, 64, 1},
                 {70, KF_CACHE_STEADY, 4, 2},
                 {10, KF_CACHE_COLD, 20, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench b;
        open_bench_on(&b, "cuda");
        recording_of(b.backend)->launch_us = cases[i].launch_us;
        kf_measure_policy p = policy_of("cuda");
        p.cache = cases[i].cache;
        (void)measure(&b, &p, NULL);
        assert_int_equal(b.measurement.batch, cases[i].batch);
        assert_true(fabs(b.measurement.step_us.median - cases[i].launch_us) < 1e-4);
        const uint64_t before = recording_of(b.backend)->work.graphs_launched;
        kf_error error = {KF_OK, ""};
        b.plan->steps_done = 0;
        assert_int_equal(kf_plan_advance(b.plan, (uint64_t)cases[i].batch, &error), KF_OK);
        assert_int_equal(recording_of(b.backend)->work.graphs_launched - before, cases[i].launched);
        close_bench(&b);
    }
}

/* Two samples are enough for a config that is much slower than the best. Then nothing is timed launch by
 * launch. */
static void of_a_loser(void **state) {
    (void)state;
    bench b;
    open_bench(&b);
    const kf_measure_policy p = policy_of("cpu");
    const kf_incumbent best = {2, {6.0, 6.0}, 6.0};
    const recorded_work work = measure(&b, &p, &best);
    assert_int_equal(b.measurement.state, KF_STATE_SKIPPED);
    assert_int_equal(b.measurement.sample_count, KF_SKIP_SAMPLES);
    assert_non_null(strstr(b.measurement.reason, "1.67 times as slow as the best so far after 2 samples"));
    assert_int_equal(work.launches, 2000 + 100 + 2 * 100);
    close_bench(&b);
}

/* Before every sample the cache is emptied, or filled by a batch that is not timed. */
static void with_a_state_of_the_cache(void **state) {
    (void)state;
    static const kf_cache_policy caches[2] = {KF_CACHE_COLD, KF_CACHE_HOT};
    for (int i = 0; i < 2; i++) {
        bench b;
        open_bench(&b);
        kf_measure_policy p = policy_of("cpu");
        p.cache = caches[i];
        const recorded_work work = measure(&b, &p, NULL);
        assert_int_equal(b.measurement.sample_count, 50);
        assert_int_equal(b.measurement.cache, caches[i]);
        assert_int_equal(work.fills, i == 0 ? 50 : 0);
        assert_int_equal(work.launches, 2000 + 100 + (i == 0 ? 50 : 100) * 100 + 15 * 2);
        close_bench(&b);
    }
}

/* A kernel of every eighth step: warm-up takes 20 ms of 11.25 us a step; whole cycles are a sample of 1 ms,
 * and the rare kernel is timed apart, twice at the beginning and as often as the others after. */
static void of_rare_kernels(void **state) {
    (void)state;
    bench b;
    open_bench(&b);
    add_kernel(&b, "rare", 8, 5);
    const kf_measure_policy p = policy_of("cpu");
    (void)measure(&b, &p, NULL);
    const kf_measurement *m = &b.measurement;
    assert_int_equal(m->batch, 96); /* 12 cycles of 90 us */
    assert_true(fabs(m->step_us.median - 11.25) < 1e-3);
    assert_int_equal(m->sample_count, 47); /* 50 ms of 1.08 ms */
    assert_int_equal(m->kernel_count, 2);
    assert_string_equal(m->kernels[1].name, "rare");
    assert_true(fabs(m->kernels[1].launches_per_step - 0.125) < 1e-12);
    assert_true(fabs(m->kernels[1].time_us.median - 10.0) < 1e-4);
    assert_int_equal(m->kernels[1].time_us.count, 2);
    assert_int_equal(m->kernels[0].time_us.count, 2 * 2 + 2 + 15 * 2);
    close_bench(&b);
}

/* A sample is two ordinary steps and an eighth of the rare kernel each where whole cycles of 90 us would
 * take too long; in a graph, as a run has them, unless a run goes item by item. Each sample, and the one
 * that does not count, launches that graph. */
static void parts_of_cycles_are_graphs(void **state) {
    (void)state;
    for (int single = 0; single < 2; single++) {
        bench b;
        open_bench(&b);
        add_kernel(&b, "rare", 8, 5);
        kf_measure_policy p = policy_of("cpu");
        p.long_cycle_us = 70.0;
        p.warm_up_steps = 4;
        p.warm_up_us = 0.0; /* in twos, which need no graph of a cycle */
        if (single) b.plan->graph_steps = -1;
        const recorded_work work = measure(&b, &p, NULL);
        const kf_measurement *m = &b.measurement;
        assert_int_equal(m->batch, 2);
        assert_true(fabs(m->step_us.median - 11.25) < 1e-3);
        assert_int_equal(work.graphs_made, single ? 0 : 1);
        assert_int_equal(work.graphs_launched, single ? 0 : 1 + m->sample_count);
        close_bench(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_cpu),
        cmocka_unit_test(launches_of_one_name),
        cmocka_unit_test(failures_name_their_device),
        cmocka_unit_test(behind_a_queue),
        cmocka_unit_test(of_a_loser),
        cmocka_unit_test(with_a_state_of_the_cache),
        cmocka_unit_test(of_rare_kernels),
        cmocka_unit_test(parts_of_cycles_are_graphs),
        cmocka_unit_test(of_whole_trains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
