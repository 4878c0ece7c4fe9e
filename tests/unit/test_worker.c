/* Tests the worker process with every way a config can end. Faults: a wrong state or reason, or a run that
 * does not continue after it. KFTUNE_TEST_DEVICE chooses the device (default cpu:1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include "tests/unit/counter_system.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/util/clock.h"
#include "harness/cli/command.h"
#include "harness/worker/job.h"
#include "harness/worker/worker.h"

static kf_problem problem, small;
static kf_reference reference = {10};
static kf_trial trial = {.problem = &small, .steps = 10, .reference = &reference};
static const char *device = "cpu:1";

static bool on_gpu(void) {
    return strncmp(device, "cuda", 4) == 0;
}

static kf_worker_setup setup(void) {
    counter_problem(&problem, 20000);
    counter_problem(&small, 500);
    return (kf_worker_setup){
        .setting = {.problem = &problem, .trial = &trial},
        .device = device,
        .limit_seconds = 20.0,
        .compile_limit_seconds = 60.0,
    };
}

static kf_worker *open_worker(void) {
    kf_worker_setup s = setup();
    kf_worker *worker = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_worker_open(&s, &worker, &error) != KF_OK) fail_msg("%s", error.message);
    return worker;
}

static kf_measurement measure(kf_worker *worker, const char *behaviour) {
    kf_job job = {.config = counter_config(behaviour, 2), .verify = true, .time_limit_us = 1e5};
    kf_measurement m;
    kf_outcome outcome = KF_ABANDONED;
    kf_error error = {KF_OK, ""};
    if (kf_worker_measure(worker, &job, 0.0, NULL, NULL, &outcome, &m, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(outcome, KF_MEASURED);
    return m;
}

static void expect(kf_worker *worker, const char *behaviour, kf_state state, const char *reason) {
    kf_measurement m = measure(worker, behaviour);
    if (m.state != state)
        fail_msg("%s: state %s (%s), expected %s", behaviour, kf_state_names[m.state], m.reason,
                 kf_state_names[state]);
    if (strstr(m.reason, reason) == NULL) fail_msg("%s: reason '%s' lacks '%s'", behaviour, m.reason, reason);
    kf_measurement_free(&m);
}

static void right_configs_are_measured(void **state) {
    (void)state;
    kf_worker *worker = open_worker();
    for (int i = 0; i < 2; i++) {
        kf_measurement m = measure(worker, "right");
        assert_int_equal(m.state, KF_STATE_OK);
        assert_true(m.step_us.median > 0.0 && m.sample_count >= 5);
        assert_true(m.verification.error <= m.verification.bound);
        assert_true(m.verify_seconds > 0.0 && m.measure_seconds > 0.0);
        assert_int_equal(strlen(m.build_hash), KF_HASH_HEX - 1);
        kf_measurement_free(&m);
    }
    assert_int_equal(kf_worker_starts(worker), 1);
    kf_worker_close(worker);
}

static void failures_are_told_apart(void **state) {
    (void)state;
    kf_worker *worker = open_worker();
    expect(worker, "wrong", KF_STATE_WRONG_RESULT, "deviates by 0.002");
    expect(worker, "nan", KF_STATE_WRONG_RESULT, "deviates by nan");
    expect(worker, "outside", KF_STATE_WRONG_RESULT, "past the end of a buffer of 2000 bytes, at byte 2000");
    expect(worker, "compile", KF_STATE_COMPILE, "this config cannot be compiled");
    expect(worker, "invalid", KF_STATE_INVALID, "99999 threads");
    if (on_gpu()) expect(worker, "shared", KF_STATE_INVALID, "too much shared data");
    expect(worker, "right", KF_STATE_OK, "");
    assert_int_equal(kf_worker_starts(worker), 1); /* none of these cost the worker */
    kf_worker_close(worker);
}

/* After it ran out of memory a config is tried once more in a new process, because others may have leaked. */
static void leaks_cost_nobody_else(void **state) {
    (void)state;
    kf_worker *worker = open_worker();
    expect(worker, "memory", KF_STATE_OUT_OF_MEMORY, "out of memory");
    assert_int_equal(kf_worker_starts(worker), 1);
    expect(worker, "right", KF_STATE_OK, "");
    expect(worker, "memory", KF_STATE_OUT_OF_MEMORY, "out of memory");
    assert_int_equal(kf_worker_starts(worker), 3);
    for (int i = 0; i < 3; i++) /* two of its plans fit a process, not four */
        expect(worker, "leak", KF_STATE_OK, "");
    expect(worker, "right", KF_STATE_OK, "");
    assert_int_equal(kf_worker_starts(worker), 6);
    kf_worker_close(worker);
}

/* The cache disappears under a worker. This is the fault of no config, so none is blamed, and with the
 * cache back the same config is measured. A GPU's compiler works in memory and does without it. */
static void faults_of_the_host_are_no_configs(void **state) {
    (void)state;
    char folder[2 * KF_PATH], aside[2 * KF_PATH];
    kf_worker *worker = open_worker();
    (void)snprintf(folder, sizeof folder, "%s/kftune/kernels", counter_folder);
    (void)snprintf(aside, sizeof aside, "%s/kftune/aside", counter_folder);
    assert_int_equal(rename(folder, aside), 0);
    assert_int_equal(symlink("/proc/kftune", folder), 0);
    const kf_job job = {.config = counter_config("right", 2), .verify = true, .time_limit_us = 1e5};
    kf_measurement m;
    kf_outcome outcome = KF_ABANDONED;
    kf_error error = {KF_OK, ""};
    const kf_status status = kf_worker_measure(worker, &job, 0.0, NULL, NULL, &outcome, &m, &error);
    assert_int_equal(unlink(folder), 0);
    assert_int_equal(rename(aside, folder), 0);
    if (strncmp(device, "cpu", 3) == 0) {
        assert_int_equal(status, KF_HOST);
        assert_non_null(strstr(error.message, "XDG_CACHE_HOME"));
        assert_non_null(strstr(error.message, "/kftune/kernels"));
    } else {
        assert_int_equal(status, KF_OK);
        assert_int_equal(m.state, KF_STATE_OK);
        kf_measurement_free(&m);
    }
    expect(worker, "right", KF_STATE_OK, "");
    kf_worker_close(worker);
}

static void a_wrong_config_is_never_timed(void **state) {
    (void)state;
    kf_worker *worker = open_worker();
    kf_measurement m = measure(worker, "wrong");
    assert_int_equal(m.sample_count, 0);
    assert_true(m.verification.error > m.verification.bound);
    kf_measurement_free(&m);
    kf_worker_close(worker);
}

static void crashes_cost_one_config(void **state) {
    (void)state;
    kf_worker *worker = open_worker();
    expect(worker, "crash", KF_STATE_CRASH, "signal 11 (Segmentation fault) while verifying");
    expect(worker, "right", KF_STATE_OK, "");
    assert_int_equal(kf_worker_starts(worker), 2);
    expect(worker, "exit", KF_STATE_CRASH, "exited with status 7 while verifying");
    expect(worker, "crash", KF_STATE_CRASH, "while verifying");
    expect(worker, "right", KF_STATE_OK, "");
    assert_int_equal(kf_worker_starts(worker), 4);
    kf_worker_close(worker);
}

/* An access to unmapped memory is a signal on the cpu, and a lost context on a GPU. */
static void faults_of_kernels_cost_one_config(void **state) {
    (void)state;
    kf_worker *worker = open_worker();
    for (int i = 0; i < 2; i++) {
        expect(worker, "fault", KF_STATE_CRASH, on_gpu() ? "illegal" : "signal 11");
        expect(worker, "right", KF_STATE_OK, "");
    }
    assert_int_equal(kf_worker_starts(worker), 3);
    kf_worker_close(worker);
}

/* The hang is on the host, or in a kernel that runs for some 20 s. */
static void hangs_time_out(void **state) {
    (void)state;
    static const char *const hanging[] = {"hang", "spin"};
    kf_worker_setup s = setup();
    s.limit_seconds = on_gpu() ? 2.0 : 0.5;
    kf_worker *worker = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_worker_open(&s, &worker, &error), KF_OK);
    for (int i = 0; i < 2; i++) {
        double begin = kf_clock_seconds();
        expect(worker, hanging[i], KF_STATE_TIMEOUT,
               on_gpu() ? "no answer within 2 s while verifying" : "no answer within 0.5 s while verifying");
        assert_true(kf_clock_seconds() - begin < 100.0);
        expect(worker, "right", KF_STATE_OK, "");
    }
    kf_worker_close(worker);
}

static int idle_calls;
static void count_calls(void *context) {
    (void)context;
    idle_calls++;
}

static void deadlines_and_interrupts_abandon(void **state) {
    (void)state;
    kf_worker *worker = open_worker();
    kf_job job = {.config = counter_config("hang", 1), .verify = true};
    kf_measurement m;
    kf_outcome outcome = KF_MEASURED;
    kf_error error = {KF_OK, ""};
    double begin = kf_clock_seconds();
    idle_calls = 0;
    assert_int_equal(kf_worker_measure(worker, &job, begin + 1.0, count_calls, NULL, &outcome, &m, &error),
                     KF_OK);
    assert_int_equal(outcome, KF_ABANDONED);
    assert_true(kf_clock_seconds() - begin < 100.0);
    assert_true(idle_calls > 1);
    kf_interrupted = 1;
    assert_int_equal(kf_worker_measure(worker, &job, 0.0, NULL, NULL, &outcome, &m, &error), KF_OK);
    assert_int_equal(outcome, KF_ABANDONED);
    kf_interrupted = 0;
    expect(worker, "right", KF_STATE_OK, "");
    kf_worker_close(worker);
}

/* Another process ends the worker alone, or, as batch systems do, every process of the run. No config is
 * blamed. */
static void signals_of_others_are_no_configs(void **state) {
    (void)state;
    kf_worker *worker = open_worker();
    kf_job job = {.config = counter_config("ended", 1), .verify = true};
    kf_measurement m;
    kf_outcome outcome = KF_MEASURED;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_worker_measure(worker, &job, 0.0, NULL, NULL, &outcome, &m, &error), KF_HOST);
    assert_non_null(strstr(error.message, "signal 15 (Terminated) while verifying"));
    job.config = counter_config("job_ends", 1);
    kf_catch_interrupts();
    assert_int_equal(kf_worker_measure(worker, &job, 0.0, NULL, NULL, &outcome, &m, &error), KF_OK);
    assert_int_equal(outcome, KF_ABANDONED);
    kf_interrupted = 0;
    expect(worker, "right", KF_STATE_OK, "");
    kf_worker_close(worker);
}

static void slow_configs_are_skipped(void **state) {
    (void)state;
    kf_worker *worker = open_worker();
    kf_measurement best = measure(worker, "right");
    kf_job job = {.config = counter_config("right", 64),
                  .verify = false,
                  .may_lose = true,
                  .incumbent = {2, {best.samples_us[0], best.samples_us[1]}, best.step_us.high}};
    kf_measurement m;
    kf_outcome outcome = KF_ABANDONED;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_worker_measure(worker, &job, 0.0, NULL, NULL, &outcome, &m, &error), KF_OK);
    assert_int_equal(m.state, KF_STATE_SKIPPED);
    assert_true(isnan(m.verification.error)); /* was not asked for */
    kf_measurement_free(&m);
    kf_measurement_free(&best);
    kf_worker_close(worker);
}

static void unknown_devices_are_refused(void **state) {
    (void)state;
    kf_worker_setup s = setup();
    s.device = "gpu-of-dreams";
    kf_worker *worker = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_worker_open(&s, &worker, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "gpu-of-dreams"));
    assert_null(worker);
    kf_device_info info;
    assert_int_equal(kf_device_probe("gpu-of-dreams", &info, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "gpu-of-dreams"));
    assert_int_equal(kf_device_probe("cpu:1", &info, &error), KF_OK);
    assert_string_equal(info.backend, "cpu");
    assert_int_equal(info.multiprocessors, 1);
}

/* A driver that is killed takes its worker along, even one that hangs. */
static void workers_die_with_the_driver(void **state) {
    (void)state;
    /* Orphans come to this process instead of init. */
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t driver = fork();
    assert_true(driver >= 0);
    if (driver == 0) {
        kf_worker_setup s = setup();
        kf_worker *worker = NULL;
        kf_job job = {.config = counter_config("hang", 1), .verify = true};
        kf_measurement m;
        kf_outcome outcome;
        if (kf_worker_open(&s, &worker, NULL) != KF_OK) _exit(9);
        (void)kf_worker_measure(worker, &job, 0.0, NULL, NULL, &outcome, &m, NULL);
        _exit(8);
    }
    (void)usleep(400000);
    assert_int_equal(kill(driver, SIGKILL), 0);
    int status = 0;
    assert_int_equal(waitpid(driver, &status, 0), driver);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    pid_t worker = -1;
    for (int i = 0; i < 100 && worker <= 0 && !(worker < 0 && errno == ECHILD && i > 0); i++) {
        worker = waitpid(-1, &status, WNOHANG);
        (void)usleep(20000);
    }
    assert_true(worker > 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

/* A job from another process is checked: it must be complete, and its values within their ranges. */
static void jobs_that_make_no_sense(void **state) {
    (void)state;
    static const char *const keys[] = {"other",         "time_limit_us", "least_samples",
                                       "long_cycle_us", "effort",        "incumbent_high_us"};
    kf_error error = {KF_OK, ""};
    const kf_job job = {.config = counter_config("right", 2), .effort = 1.0, .incumbent = {.count = 1}};
    kf_job read;
    cJSON *whole = kf_job_to_json(&job);
    assert_int_equal(kf_job_from_json(whole, &read, &error), KF_OK);
    for (size_t i = 0; i < 5 * sizeof keys / sizeof *keys; i++) {
        const char *key = keys[i / 5];
        cJSON *json = cJSON_Duplicate(whole, true);
        const double numbers[] = {-1.0, (double)NAN, -1e300};
        cJSON_DeleteItemFromObjectCaseSensitive(json, key);
        if (i % 5 < 3) (void)cJSON_AddNumberToObject(json, key, numbers[i % 5]);
        if (i % 5 == 3) (void)cJSON_AddObjectToObject(json, key);
        if (kf_job_from_json(json, &read, &error) == KF_OK) fail_msg("%s, %zu is taken", key, i % 5);
        cJSON_Delete(json);
    }
    cJSON *incumbent = cJSON_GetObjectItemCaseSensitive(whole, "incumbent");
    (void)cJSON_AddItemToArray(incumbent, cJSON_CreateString("x"));
    assert_int_not_equal(kf_job_from_json(whole, &read, &error), KF_OK);
    cJSON_Delete(whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_configs_are_measured),
        cmocka_unit_test(jobs_that_make_no_sense),
        cmocka_unit_test(failures_are_told_apart),
        cmocka_unit_test(leaks_cost_nobody_else),
        cmocka_unit_test(faults_of_the_host_are_no_configs),
        cmocka_unit_test(faults_of_kernels_cost_one_config),
        cmocka_unit_test(a_wrong_config_is_never_timed),
        cmocka_unit_test(crashes_cost_one_config),
        cmocka_unit_test(hangs_time_out),
        cmocka_unit_test(deadlines_and_interrupts_abandon),
        cmocka_unit_test(signals_of_others_are_no_configs),
        cmocka_unit_test(slow_configs_are_skipped),
        cmocka_unit_test(unknown_devices_are_refused),
        cmocka_unit_test(workers_die_with_the_driver),
    };
    if (getenv("KFTUNE_TEST_DEVICE") != NULL) device = getenv("KFTUNE_TEST_DEVICE");
    counter_prepare();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    counter_clean_up();
    return failed;
}
