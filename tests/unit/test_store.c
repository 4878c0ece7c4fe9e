/* Tests the store. Faults: a value that does not come back, a contradiction that is taken, rows lost by
 * several writers or sudden death. */
#include "base/util/memory.h"
#include "tests/unit/full_measurement.h"
#include "tests/unit/store_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

/* --- Round trip --------------------------------------------------------------------------------------- */

static void assert_same_number(double a, double b) {
    if (isnan(a) || isnan(b))
        assert_true(isnan(a) && isnan(b));
    else
        assert_true(a == b);
}

static void assert_same_summary(const kf_summary *a, const kf_summary *b) {
    assert_int_equal(a->count, b->count);
    if (a->count > 0) assert_memory_equal(&a->median, &b->median, sizeof *a - offsetof(kf_summary, median));
}

static void assert_same_measurement(const kf_measurement *a, const kf_measurement *b) {
    assert_int_equal(a->state, b->state);
    assert_string_equal(a->reason, b->reason);
    assert_same_number(a->verification.error, b->verification.error);
    assert_string_equal(a->verification.worst, b->verification.worst);
    assert_int_equal(a->sample_count, b->sample_count);
    if (a->sample_count > 0)
        assert_memory_equal(a->samples_us, b->samples_us, a->sample_count * sizeof(double));
    assert_same_summary(&a->step_us, &b->step_us);
    assert_string_equal(a->build_hash, b->build_hash);
    assert_same_number(a->compile_seconds, b->compile_seconds);
    assert_same_number(a->measure_seconds, b->measure_seconds);
    assert_same_number(a->device_after.power_w, b->device_after.power_w);
    assert_same_number(a->device_before.sm_clock_mhz, b->device_before.sm_clock_mhz);
    assert_int_equal(a->device_after.throttle_reasons, b->device_after.throttle_reasons);
    assert_int_equal(a->kernel_count, b->kernel_count);
    for (int i = 0; i < a->kernel_count; i++) {
        assert_string_equal(a->kernels[i].name, b->kernels[i].name);
        assert_same_summary(&a->kernels[i].time_us, &b->kernels[i].time_us);
        assert_same_number(a->kernels[i].theoretical_occupancy, b->kernels[i].theoretical_occupancy);
        assert_int_equal(a->kernels[i].registers, b->kernels[i].registers);
        assert_int_equal(a->kernels[i].spill_bytes, b->kernels[i].spill_bytes);
        assert_int_equal(a->kernels[i].shared_bytes, b->kernels[i].shared_bytes);
        assert_same_number(a->kernels[i].bytes, b->kernels[i].bytes);
        assert_same_number(a->kernels[i].flops, b->kernels[i].flops);
    }
    if (a->state != KF_STATE_OK) return;
    assert_int_equal(a->batch, b->batch);
    assert_true(b->effort == (a->effort > 0.0 ? a->effort : 1.0));
    assert_int_equal(a->window_steps, b->window_steps);
    assert_int_equal(a->windows, b->windows);
    assert_int_equal(a->stop, b->stop);
    assert_same_number(a->updates_per_us, b->updates_per_us);
    assert_same_number(a->effective_bandwidth, b->effective_bandwidth);
    assert_same_number(a->verification.bound, b->verification.bound);
}

typedef struct expectation {
    int next;
    kf_measurement *measurements;
    kf_config *configs;
    const char *const *roles;
} expectation;

static kf_status compare_result(void *context, int sequence, const char *role, const kf_config *config,
                                const kf_measurement *measurement, kf_error *error) {
    (void)error;
    expectation *expected = context;
    assert_int_equal(sequence, expected->next);
    assert_string_equal(role, expected->roles[expected->next]);
    char hash[KF_HASH_HEX], wanted[KF_HASH_HEX];
    kf_config_hash(config, hash);
    kf_config_hash(&expected->configs[expected->next], wanted);
    assert_string_equal(hash, wanted);
    assert_same_measurement(&expected->measurements[expected->next], measurement);
    expected->next++;
    return KF_OK;
}

/* RFC 9562: 8-4-4-4-12 hexadecimal digits; version 4, variant 10. */
static void assert_uuid(const char *uuid) {
    static const char form[] = "xxxxxxxx-xxxx-4xxx-vxxx-xxxxxxxxxxxx";
    assert_int_equal(strlen(uuid), sizeof form - 1);
    for (size_t i = 0; i < sizeof form - 1; i++) {
        const char allowed[2] = {form[i], '\0'}, *among = form[i] == 'x'   ? "0123456789abcdef"
                                                          : form[i] == 'v' ? "89ab"
                                                                           : allowed;
        if (strchr(among, uuid[i]) == NULL) fail_msg("%s is not %s", uuid, form);
    }
}

static void test_round_trip(void **state) {
    (void)state;
    enum { RESULTS = KF_STATES + 2 };
    static const char *const roles[RESULTS] = {"preset:baseline", "search", "search", "search", "search",
                                               "search",          "search", "search", "final",  "final"};
    char path[KF_PATH];
    fixture_path(path, "round.db");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    fixture_begin(store, &run);
    assert_uuid(run.uuid);
    kf_measurement *measurements = kf_allocate_zeroed(RESULTS, sizeof *measurements);
    kf_config *configs = kf_allocate_zeroed(RESULTS, sizeof *configs);
    kf_error error = {0};
    for (int i = 0; i < RESULTS; i++) {
        fixture_config(&configs[i], i);
        if (i > 0 && i < KF_STATES)
            fixture_failure(&measurements[i], (kf_state)i, "it said: \"no\"; DROP TABLE run;--");
        else
            fixture_measurement(&measurements[i], 100.1 + i, 31 + (size_t)i);
    }
    measurements[0].effort = 0.25;
    measurements[0].window_steps = 3142;
    measurements[0].windows = 5;
    measurements[RESULTS - 1].verification =
        (kf_verification){.error = NAN}; /* a final is not verified again */
    measurements[RESULTS - 1].verification.bound = NAN;
    for (int i = 0; i < RESULTS; i++)
        if (kf_store_add(store, &run, i, roles[i], &configs[i], &measurements[i], &error) != KF_OK)
            fail_msg("%s", error.message);
    assert_int_equal(kf_store_end_run(store, &run, "finished", &error), KF_OK);
    kf_store_close(store);

    assert_int_equal(kf_store_open(path, true, &store, &error), KF_OK);
    expectation expected = {0, measurements, configs, roles};
    assert_int_equal(kf_store_results(store, run.id, compare_result, &expected, &error), KF_OK);
    assert_int_equal(expected.next, RESULTS);
    kf_run_summary summary;
    assert_int_equal(kf_store_find_run(store, NULL, &summary, &error), KF_OK);
    assert_int_equal(summary.id, run.id);
    assert_string_equal(summary.state, "finished");
    assert_string_equal(summary.scene, "beetle");
    assert_string_equal(summary.device, "Test device");
    assert_int_equal(summary.results, RESULTS);
    assert_int_equal(summary.ok, 3);
    assert_true(kf_facts_value(summary.facts, "size_z") == 32);
    assert_string_equal(kf_facts_find(summary.facts, "size_z")->unit, "nodes");
    assert_string_equal(kf_facts_find(summary.facts, "viscosity")->unit, "cell^2/step");
    assert_string_equal(kf_facts_find(summary.facts, "reynolds")->unit, "");
    assert_string_equal(kf_facts_find(summary.facts, "collision")->word, "acm_mrt");
    assert_true(summary.seed == run.seed);
    /* The finals decide, though the preset was faster. */
    assert_true(summary.best_us == measurements[KF_STATES].step_us.median);
    assert_int_equal(kf_store_results(store, 77, compare_result, &expected, &error), KF_BAD_INPUT);
    kf_store_close(store);
    for (int i = 0; i < RESULTS; i++)
        kf_measurement_free(&measurements[i]);
    free(measurements);
    free(configs);
}

static kf_status compare_in_full(void *context, int sequence, const char *role, const kf_config *config,
                                 const kf_measurement *measurement, kf_error *error) {
    (void)config;
    (void)error;
    assert_int_equal(sequence, 7);
    assert_string_equal(role, "search");
    assert_same_in_full(context, measurement);
    return KF_OK;
}

/* Every member of a result has a value of its own. */
static void test_every_member(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "full.db");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    fixture_begin(store, &run);
    kf_measurement measurement;
    kf_config config;
    kf_error error = {0};
    full_measurement(&measurement);
    fixture_config(&config, 1);
    if (kf_store_add(store, &run, 7, "search", &config, &measurement, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(kf_store_results(store, run.id, compare_in_full, &measurement, &error), KF_OK);
    kf_measurement_free(&measurement);
    kf_store_close(store);
}

/* The schema's words are the program's. */
static void test_the_schema_has_the_programs_words(void **state) {
    (void)state;
    for (int i = 0; i < KF_STATES; i++) {
        char word[40];
        (void)snprintf(word, sizeof word, "'%s'", kf_state_names[i]);
        assert_non_null(strstr(kf_store_schema(), word));
    }
    for (int i = 0; i < KF_STOPS; i++)
        assert_non_null(strstr(kf_store_schema(), kf_stop_names[i]));
}

/* The schema that is built in is equal to the file; `touch results/store_schema.c` cures a difference. */
static void test_schema_is_current(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    if (kf_file_read("results/schema.sql", 0, &text, &size, NULL) != KF_OK) skip();
    assert_string_equal(text, kf_store_schema());
    free(text);
}

/* Every query that docs/store.md shows can be run. */
static void test_documented_queries(void **state) {
    (void)state;
    char *text = NULL, path[KF_PATH];
    size_t size = 0;
    if (kf_file_read("docs/store.md", 0, &text, &size, NULL) != KF_OK) skip();
    fixture_path(path, "queries.db");
    kf_store *store = fixture_open(path);
    int queries = 0;
    for (char *at = text; (at = strstr(at, "```sql\n")) != NULL; queries++) {
        at += 7;
        char *end = strstr(at, "```");
        assert_non_null(end);
        *end = '\0';
        if (sqlite3_exec(store->database, at, NULL, NULL, NULL) != SQLITE_OK)
            fail_msg("%s: %s", sqlite3_errmsg(store->database), at);
        at = end + 1;
    }
    assert_true(queries >= 2);
    kf_store_close(store);
    free(text);
}

static void test_names_are_data(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "it's; DROP TABLE run;-- 100%?mode=memory#.db");
    kf_store *store = fixture_open(path);
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    kf_run_row run;
    kf_error error = {0};
    fixture_device(&device);
    fixture_run(&run);
    fixture_problem(problem, "x'); DELETE FROM run; --");
    kf_copy_text(device.name, sizeof device.name, "\"; DROP TABLE environment;");
    kf_copy_text(run.strategy, sizeof run.strategy, "'||(SELECT 1)||'");
    assert_int_equal(kf_store_begin_run(store, problem, &device, &run, &error), KF_OK);
    assert_int_equal(fixture_add(store, &run, 0, 5, &error), KF_OK);
    kf_run_summary summary;
    assert_int_equal(kf_store_find_run(store, "' OR 1=1 --", &summary, &error), KF_BAD_INPUT);
    assert_int_equal(kf_store_find_run(store, "99", &summary, &error), KF_BAD_INPUT);
    assert_int_equal(kf_store_find_run(store, run.uuid, &summary, &error), KF_OK);
    assert_string_equal(summary.scene, problem->name);
    assert_string_equal(summary.device, device.name);
    assert_string_equal(summary.strategy, run.strategy);
    kf_store_close(store);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(kf_store_open(path, true, &store, &error), KF_OK);
    kf_store_close(store);
    kf_problem_free(problem);
}

/* A store may come from anybody. A word of a gigabyte in it is an error and does not take a gigabyte of
 * memory. */
static void test_texts_are_limited(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "long.db");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    kf_error error = {0};
    fixture_begin(store, &run);
    assert_int_equal(fixture_add(store, &run, 0, 5, &error), KF_OK);
    kf_store_close(store);
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, "UPDATE environment SET device = printf('%.*c', 100000000, 'x')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
    kf_run_summary summary;
    assert_int_equal(kf_store_open(path, true, &store, &error), KF_OK);
    assert_int_not_equal(kf_store_find_run(store, run.uuid, &summary, &error), KF_OK);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, "too big"));
    kf_store_close(store);
}

/* --- Contradictions ----------------------------------------------------------------------------------- */

static kf_status add_changed(kf_store *store, const kf_run_row *run, int sequence, const char *role,
                             void (*change)(kf_measurement *measurement)) {
    kf_config config;
    fixture_config(&config, 1);
    kf_measurement *measurement = kf_allocate(sizeof *measurement);
    fixture_measurement(measurement, 50, 15);
    change(measurement);
    kf_error error = {0};
    kf_status status = kf_store_add(store, run, sequence, role, &config, measurement, &error);
    if (status != KF_OK) assert_true(strlen(error.message) > 20);
    kf_measurement_free(measurement);
    free(measurement);
    return status;
}

static void keep(kf_measurement *m) {
    (void)m;
}
static void no_samples(kf_measurement *m) {
    m->sample_count = 0;
}
static void other_time(kf_measurement *m) {
    m->step_us.median *= 1.01;
}
static void out_of_bounds(kf_measurement *m) {
    m->verification.error = 2 * m->verification.bound;
}
static void not_verified(kf_measurement *m) {
    m->verification.error = NAN;
}
static void negative_sample(kf_measurement *m) {
    m->samples_us[3] = -1;
}
static void endless_sample(kf_measurement *m) {
    m->samples_us[3] = INFINITY;
}
static void negative_registers(kf_measurement *m) {
    m->kernels[1].registers = -1;
}

static void test_contradictory_results_are_refused(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "lies.db");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    fixture_begin(store, &run);
    assert_int_equal(add_changed(store, &run, 0, "search", keep), KF_OK);
    assert_int_equal(add_changed(store, &run, 0, "search", keep), KF_BAD_INPUT); /* sequence is taken */
    assert_int_equal(add_changed(store, &run, -1, "search", keep), KF_BAD_INPUT);
    assert_int_equal(add_changed(store, &run, 1, "winner", keep), KF_BAD_INPUT);
    assert_int_equal(add_changed(store, &run, 1, "preset:", keep), KF_BAD_INPUT);
    void (*const lies[])(kf_measurement *) = {no_samples,        other_time,      out_of_bounds,
                                              not_verified,      negative_sample, endless_sample,
                                              negative_registers};
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++)
        assert_int_equal(add_changed(store, &run, 1, "search", lies[i]), KF_BAD_INPUT);
    assert_int_equal(add_changed(store, &run, 1, "final", not_verified), KF_OK);
    kf_run_row unknown = run;
    unknown.id = 99;
    assert_int_equal(add_changed(store, &unknown, 5, "search", keep), KF_BAD_INPUT);
    assert_int_equal(kf_store_end_run(store, &run, "won", NULL), KF_BAD_INPUT);
    /* A refused row left nothing behind. */
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result"), 2);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM kernel"), 4);
    kf_store_close(store);
}

/* Each statement would make a row contradict itself. The schema alone must refuse it, whoever writes. */
static void test_the_schema_refuses_contradictions(void **state) {
    (void)state;
    static const char *const lies[] = {
        "UPDATE result SET state = 'crash'",
        "UPDATE result SET state = 'excellent'",
        "UPDATE result SET state = 'crash', reason = 'x'",
        "UPDATE result SET step_us = NULL",
        "UPDATE result SET step_us = maximum_us * 2",
        "UPDATE result SET step_us = 'fast'",
        "UPDATE result SET low_us = step_us * 1.1",
        "UPDATE result SET high_us = NULL",
        "UPDATE result SET q1_us = q3_us + 1",
        "UPDATE result SET sample_count = sample_count + 1",
        "UPDATE result SET samples = NULL",
        "UPDATE result SET samples = x'0000'",
        "UPDATE result SET batch = 0",
        "UPDATE result SET stop = 'bored'",
        "UPDATE result SET stop = NULL",
        "UPDATE result SET verification_error = 1",
        "UPDATE result SET verification_error = NULL",
        "UPDATE result SET verification_bound = NULL",
        "UPDATE result SET reason = 'but'",
        "UPDATE result SET measured = 'yesterday'",
        "UPDATE result SET config = 4711",
        "UPDATE result SET run = 4711",
        "UPDATE result SET updates_per_us = -1",
        "UPDATE run SET state = 'finished'",
        "UPDATE run SET state = 'lost'",
        "UPDATE run SET ended = started",
        "UPDATE run SET problem = 4711",
        "UPDATE config SET json = '{'",
        "UPDATE config SET system = 'sph'",
        "UPDATE config SET hash = 'x'",
        "UPDATE kernel SET median_us = NULL",
        "UPDATE kernel SET sample_count = 0",
        "UPDATE kernel SET theoretical_occupancy = 2",
        "UPDATE problem SET facts = '[]'",
        "UPDATE environment SET backend = 'abacus'",
        "DELETE FROM config",
        "DELETE FROM problem",
        "INSERT INTO counter VALUES (4711, 0, 'cycles', 1, 1, '1')",
        "INSERT INTO counter VALUES (1, 0, 'cycles', 'many', 1, '1')",
        "UPDATE kernel SET result = 4711",
    };
    char path[KF_PATH];
    fixture_path(path, "checks.db");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    fixture_begin(store, &run);
    assert_int_equal(fixture_add(store, &run, 0, 10, NULL), KF_OK);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        int code = sqlite3_exec(store->database, lies[i], NULL, NULL, NULL);
        if (code != SQLITE_CONSTRAINT) fail_msg("the schema accepts (%d): %s", code, lies[i]);
    }
    /* The store does not refuse everything. */
    assert_int_equal(sqlite3_exec(store->database, "UPDATE result SET updates_per_us = 1", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(store->database, "INSERT INTO counter VALUES (1, -1, 'cycles', 1, 1, '1')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    kf_store_close(store);
}

/* --- Resuming and pruning ----------------------------------------------------------------------------- */

static void test_unfinished_runs_are_found(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "unfinished.db");
    kf_store *store = fixture_open(path);
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    kf_run_row run, found;
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    fixture_begin(store, &run);
    assert_int_equal(kf_store_end_run(store, &run, "interrupted", NULL), KF_OK);
    fixture_run(&found);
    found.strategy[0] = '\0';
    assert_int_equal(kf_store_find_unfinished(store, problem, &device, &found, NULL), KF_OK);
    assert_int_equal(found.id, run.id);
    assert_string_equal(found.uuid, run.uuid);
    assert_string_equal(found.strategy, "random");
    assert_int_equal(fixture_integer(store->database, "SELECT state = 'running' FROM run"), 1);

    found.seed++; /* another seed, scene, space or device is another run */
    assert_int_equal(kf_store_find_unfinished(store, problem, &device, &found, NULL), KF_OK);
    assert_int_equal(found.id, 0);
    fixture_run(&found);
    found.space_hash[0] = 'c';
    assert_int_equal(kf_store_find_unfinished(store, problem, &device, &found, NULL), KF_OK);
    assert_int_equal(found.id, 0);
    fixture_run(&found);
    kf_copy_text(device.driver, sizeof device.driver, "1.1");
    assert_int_equal(kf_store_find_unfinished(store, problem, &device, &found, NULL), KF_OK);
    assert_int_equal(found.id, 0);
    fixture_device(&device);
    fixture_problem(problem, "spot");
    assert_int_equal(kf_store_find_unfinished(store, problem, &device, &found, NULL), KF_OK);
    assert_int_equal(found.id, 0);

    fixture_problem(problem, "beetle");
    /* While this process lives and runs it, another must not take it. */
    pid_t child = fork();
    if (child == 0) {
        kf_store *other = NULL;
        kf_error error = {0};
        fixture_run(&found);
        if (kf_store_open(path, false, &other, &error) != KF_OK) _exit(1);
        if (kf_store_find_unfinished(other, problem, &device, &found, &error) != KF_OK) _exit(2);
        _exit(found.id == 0 ? 0 : 3);
    }
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    assert_int_equal(kf_store_end_run(store, &run, "finished", NULL), KF_OK);
    assert_int_equal(kf_store_find_unfinished(store, problem, &device, &found, NULL), KF_OK);
    assert_int_equal(found.id, 0);
    kf_store_close(store);
    kf_problem_free(problem);
}

static void test_pruning_removes_whole_runs(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "prune.db");
    kf_store *store = fixture_open(path);
    kf_run_row first, second;
    fixture_begin(store, &first);
    fixture_begin(store, &second);
    for (int i = 0; i < 5; i++)
        assert_int_equal(fixture_add(store, &first, i, 10, NULL), KF_OK);
    for (int i = 3; i < 6; i++)
        assert_int_equal(fixture_add(store, &second, i, 10, NULL), KF_OK);
    int removed = -1;
    assert_int_equal(kf_store_prune(store, 1, 0, &removed, NULL), KF_OK);
    assert_int_equal(removed, 0);
    assert_int_equal(kf_store_prune(store, 0, 4711, &removed, NULL), KF_BAD_INPUT);
    assert_int_equal(kf_store_prune(store, 0, first.id, &removed, NULL), KF_OK);
    assert_int_equal(removed, 5);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result"), 3);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM kernel"), 6);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM config"), 3);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM problem"), 1);
    assert_int_equal(sqlite3_exec(store->database, "UPDATE run SET started = '2001-01-01T00:00:00.000000Z'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(kf_store_prune(store, 30, 0, &removed, NULL), KF_OK);
    assert_int_equal(removed, 3);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM build"), 0);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM environment"), 0);
    kf_run_row third;
    fixture_begin(store, &third);
    assert_int_equal(third.id, second.id + 1); /* numbers are not assigned twice */
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_member),
        cmocka_unit_test(test_the_schema_has_the_programs_words),
        cmocka_unit_test(test_schema_is_current),
        cmocka_unit_test(test_names_are_data),
        cmocka_unit_test(test_texts_are_limited),
        cmocka_unit_test(test_documented_queries),
        cmocka_unit_test(test_contradictory_results_are_refused),
        cmocka_unit_test(test_the_schema_refuses_contradictions),
        cmocka_unit_test(test_unfinished_runs_are_found),
        cmocka_unit_test(test_pruning_removes_whole_runs),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
