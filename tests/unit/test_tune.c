/* The tuning run from beginning to end, on a system whose configs fail in every way, with a real store. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/unit/counter_system.h"

#include <cmocka.h>

#include "base/util/clock.h"
#include "base/util/log.h"
#include "harness/cli/command.h"
#include "harness/tune/explain.h"
#include "harness/tune/session.h"
#include "harness/tune/tune.h"
#include "harness/worker/device_lock.h"

static kf_problem problem;

static kf_store *open_store(const char *name) {
    char path[2 * KF_PATH];
    (void)snprintf(path, sizeof path, "%s/%s", counter_folder, name);
    kf_store *store = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_store_open(path, false, &store, &error) != KF_OK) fail_msg("%s", error.message);
    return store;
}

static kf_tune_request request(kf_store *store) {
    counter_problem(&problem, 20000);
    return (kf_tune_request){
        .problem = &problem,
        .device = "cpu:1",
        .started = kf_clock_seconds(),
        .budget.seconds = 8.0,
        .budget_text = "8s",
        .seed = 1,
        .store = store,
        .timing_seconds = 0.05,
        .limit_seconds = 20.0,
    };
}

/* --- the whole run ---------------------------------------------------------------------------------------
 */

typedef struct counts {
    int presets, search, finals, last;
    bool gap;
} counts;
static kf_status count_result(void *context, int sequence, const char *role, const kf_config *config,
                              const kf_measurement *measurement, kf_error *error) {
    (void)config, (void)measurement, (void)error;
    counts *c = context;
    if (strncmp(role, "preset:", 7) == 0) c->presets++;
    if (strcmp(role, "search") == 0) c->search++;
    if (strcmp(role, "final") == 0) c->finals++;
    c->gap = c->gap || sequence != c->last + 1;
    c->last = sequence;
    return KF_OK;
}

static counts stored(kf_store *store, const kf_tune_result *result) {
    counts c = {.last = -1};
    assert_int_equal(kf_store_results(store, result->run.id, count_result, &c, NULL), KF_OK);
    assert_false(c.gap);
    return c;
}

static long work_of(const kf_tune_result *result, int tried) {
    long work = 0;
    assert_int_equal(kf_config_integer(&result->tried.items[tried].config, "work", &work, NULL), KF_OK);
    return work;
}

static void a_run_finds_the_fastest_right_config(void **state) {
    (void)state;
    kf_store *store = open_store("whole.db");
    kf_tune_request r = request(store);
    r.budget.seconds = 0.0;
    r.budget.evaluations = 48;
    r.budget_text = "48evals";
    r.strategy = "enumerate";
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(result.space_size, 48);
    assert_int_equal(result.tried.count, 48);
    /* Eight of each kind, one a value of work; slow right ones may be skipped. */
    assert_int_equal(result.states[KF_STATE_OK] + result.states[KF_STATE_SKIPPED], 8);
    assert_int_equal(result.states[KF_STATE_WRONG_RESULT], 8);
    assert_int_equal(result.states[KF_STATE_CRASH], 8);
    assert_int_equal(result.states[KF_STATE_OUT_OF_MEMORY], 8);
    assert_int_equal(result.states[KF_STATE_COMPILE], 8);
    assert_int_equal(result.states[KF_STATE_INVALID], 8);
    assert_true(result.best >= 0);
    assert_true(behaves(&result.tried.items[result.best].config, "right"));
    assert_int_equal(work_of(&result, result.best), 1);
    assert_true(result.gain[KF_PRESET_BASELINE] > 3.0); /* twelve times the work */
    assert_true(result.gain[KF_PRESET_BASELINE] > result.gain[KF_PRESET_PAPER]);
    assert_true(result.gain[KF_PRESET_PAPER] > result.gain[KF_PRESET_DEFAULT]);
    assert_true(result.gain[KF_PRESET_DEFAULT] > 1.0);
    assert_true(result.best_measurement->step_us.low <= result.best_measurement->step_us.median);
    counts c = stored(store, &result);
    assert_int_equal(c.presets, 3);
    assert_int_equal(c.search, 45);
    assert_in_range(c.finals, 3, 6);
    kf_run_summary summary;
    assert_int_equal(kf_store_find_run(store, result.run.uuid, &summary, &error), KF_OK);
    assert_true(result.best_sequence >= 48); /* its row of the final */
    assert_int_equal(summary.winner, result.best_sequence);
    assert_true(fabs(summary.best_us - result.best_measurement->step_us.median) < 1e-3 * summary.best_us);

    cJSON *json = kf_tune_to_json(&r, &result, "x.json");
    static const char *const keys[] = {
        "kftune", "command", "device",   "scene",  "best",        "gain", "evaluations",  "counted",
        "states", "seconds", "timeline", "builds", "noise_floor", "ties", "alternatives", "out"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_true(cJSON_HasObjectItem(json, keys[i]));
    assert_int_equal(cJSON_GetArraySize(json), sizeof keys / sizeof *keys);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "states")), KF_STATES);
    const cJSON *best = cJSON_GetObjectItem(json, "best");
    assert_string_equal(cJSON_GetObjectItem(best, "hash")->valuestring, result.tried.items[result.best].hash);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(best, "ci_us")), 2);
    const cJSON *timeline = cJSON_GetObjectItem(json, "timeline");
    static const char *const moments[] = {"scene", "device",  "reference", "worker",
                                          "first", "presets", "search"};
    for (size_t i = 1; i < sizeof moments / sizeof *moments; i++)
        assert_true(cJSON_GetObjectItem(timeline, moments[i])->valuedouble >=
                    cJSON_GetObjectItem(timeline, moments[i - 1])->valuedouble);
    assert_true(cJSON_GetObjectItem(timeline, "best")->valuedouble >=
                cJSON_GetObjectItem(timeline, "first")->valuedouble);
    cJSON_Delete(json);

    kf_best_config emitted;
    kf_tune_best_config(&r, &result, &emitted);
    assert_string_equal(emitted.run_uuid, result.run.uuid);
    assert_true(emitted.time_us == result.best_measurement->step_us.median);
    assert_true(emitted.verification_error <= emitted.verification_bound);

    char text[8192];
    FILE *stream = fmemopen(text, sizeof text, "w");
    kf_tune_print(&r, &result, "x.json", stream);
    (void)fclose(stream);
    static const char *const parts[] = {"counters, 20000x1x1 nodes",
                                        "default with work=",
                                        "over baseline",
                                        "count ",
                                        "8 crash",
                                        "kftune run --config x.json",
                                        "MLUPS"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(text, parts[i]) == NULL) fail_msg("'%s' is not in:\n%s", parts[i], text);
    kf_tune_result_free(&result);
    kf_store_close(store);
}

static void time_budgets_hold(void **state) {
    (void)state;
    kf_store *store = open_store("time.db");
    static const char *const fix[] = {"behaviour=right"};
    kf_tune_request r = request(store);
    r.fixed = fix;
    r.fixed_count = 1;
    r.strategy = "random";
    r.budget.seconds = 3.0;
    r.budget_text = "3s";
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
    double spent = kf_clock_seconds() - r.started;
    assert_true(spent < 1.15 * r.budget.seconds + 1.0);
    assert_true(result.tried.count >= 3);
    assert_true(result.finals.count >= 2);
    kf_tune_result_free(&result);
    kf_store_close(store);
}

/* What there is no time for is left out; the default never is. */
static void short_budgets_drop_presets(void **state) {
    (void)state;
    kf_store *store = open_store("short.db");
    kf_tune_request r = request(store);
    r.budget.seconds = 1e-3;
    r.budget_text = "0.001s";
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(result.tried.count, 1);
    assert_true(result.presets[KF_PRESET_DEFAULT] == 0 && result.best == 0);
    assert_true(result.presets[KF_PRESET_BASELINE] < 0 && result.presets[KF_PRESET_PAPER] < 0);
    assert_int_equal(result.searched, 0);
    kf_tune_result_free(&result);
    kf_store_close(store);
}

/* A second difference that buys nothing; --fix keeps the search from what is taken back. */
static void differences_are_taken_back(void **state) {
    (void)state;
    static const char spare[] =
        "{\"system\": \"counter\", \"format\": 1, \"parameters\": ["
        "{\"name\": \"behaviour\", \"type\": \"name\", \"default\": \"right\", \"values\": [\"right\"]},"
        "{\"name\": \"spare\", \"type\": \"integer\", \"default\": 0, \"values\": [0, 1]},"
        "{\"name\": \"work\", \"type\": \"integer\", \"default\": 8, \"values\": [1, 8, 12]}"
        "], \"constraints\": [], \"presets\": {\"default\": {}, \"baseline\": {\"work\": 12}, \"paper\": "
        "{}}}";
    static const char *const fix[] = {"spare=1"};
    kf_store *store = open_store("back.db");
    kf_tune_request r = request(store);
    r.fixed = fix;
    r.fixed_count = 1;
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    kf_difference differences[KF_CONFIG_VALUES];
    counter_write("variants/counter.json", spare);
    const kf_status status = kf_tune(&r, &result, &error);
    counter_write("variants/counter.json", counter_space);
    if (status != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(work_of(&result, result.best), 1);
    assert_int_equal(kf_tune_differences(&result, differences, KF_CONFIG_VALUES), 2);
    assert_string_equal(differences[0].best->parameter, "work");
    assert_true(differences[0].gain > 1.0);
    assert_string_equal(differences[1].best->parameter, "spare");
    assert_true(fabs(differences[1].gain) < 0.8);
    assert_false(result.tried.items[result.tried.count - 1].eligible);
    kf_tune_result_free(&result);
    kf_store_close(store);
}

static double device_seconds(const kf_tune_result *result, int count) {
    double seconds = 0.0;
    for (int i = 0; i < count; i++)
        seconds += kf_session_device_seconds(&result->tried.items[i].measurement);
    return seconds;
}

/* Verifying and measuring count, whatever else the run does. */
static void budgets_of_device_seconds_hold(void **state) {
    (void)state;
    kf_store *store = open_store("device.db");
    static const char *const fix[] = {"behaviour=right"};
    kf_tune_request r = request(store);
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    r.fixed = fix;
    r.fixed_count = 1;
    r.strategy = "random";
    r.rounds = -1;
    static const double budgets[] = {1e6, 1e-6, 0.5};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        r.budget = (kf_budget){.device_seconds = budgets[i]};
        if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
        const int count = result.tried.count, all = (int)result.space_size; /* the presets are in it */
        assert_in_range(count, KF_PRESETS, all);
        if (i == 0) assert_int_equal(count, all);
        if (i == 1) assert_int_equal(count, KF_PRESETS);
        if (count > KF_PRESETS) assert_true(device_seconds(&result, count - 1) < budgets[i]);
        if (count < all) assert_true(device_seconds(&result, count) * (count + 1) / count > 0.7 * budgets[i]);
        kf_tune_result_free(&result);
    }
    kf_store_close(store);
}

static void presets_outside_the_space_do_not_win(void **state) {
    (void)state;
    kf_store *store = open_store("fixed.db");
    static const char *const fix[] = {"behaviour=right", "work=6"};
    kf_tune_request r = request(store);
    r.fixed = fix;
    r.fixed_count = 2;
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(result.tried.count, 4);
    assert_int_equal(work_of(&result, result.best), 6); /* although the default, with 4, is faster */
    assert_true(result.gain[KF_PRESET_DEFAULT] < 1.0);
    assert_true(result.gain[KF_PRESET_BASELINE] > 1.0);
    assert_string_equal(result.run.strategy, "enumerate"); /* one config: the budget covers it */
    kf_tune_result_free(&result);
    kf_store_close(store);
}

static void nothing_right_is_a_failure(void **state) {
    (void)state;
    kf_store *store = open_store("wrong.db");
    static const struct {
        const char *fix;
        kf_status status;
        const char *part;
    } cases[] = {{"behaviour=wrong", KF_GATE_FAILED, "wrong_result: deviates by"},
                 {"behaviour=invalid", KF_MACHINE, "invalid: a block of 99999 threads"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_tune_request r = request(store);
        r.fixed = &cases[i].fix;
        r.fixed_count = 1;
        r.budget.seconds = 0.0;
        r.budget.evaluations = 11;
        r.budget_text = "11evals";
        kf_tune_result result;
        kf_error error = {KF_OK, ""};
        assert_int_equal(kf_tune(&r, &result, &error), cases[i].status);
        if (strstr(error.message, cases[i].part) == NULL) fail_msg("%s", error.message);
        assert_int_equal(result.best, -1);
        assert_int_equal(result.tried.count, 11);
        kf_tune_result_free(&result);
    }
    kf_store_close(store);
}

/* --- interrupting and resuming ---------------------------------------------------------------------------
 */

/* Ctrl-C as a terminal would send it, from a process of its own, once the first run of that store has
 * results. */
static pid_t interrupt_after_results(const char *name, int results) {
    const pid_t driver = getpid(), finger = fork();
    if (finger != 0) return finger;
    kf_store *store = open_store(name);
    counts c = {.last = -1};
    for (int looks = 0; looks < 6000 && c.last + 1 < results; looks++) {
        (void)usleep(10000);
        c = (counts){.last = -1};
        (void)kf_store_results(store, 1, count_result, &c, NULL);
    }
    (void)kill(driver, SIGINT);
    _exit(0);
}

static void interrupted_runs_resume(void **state) {
    (void)state;
    kf_store *store = open_store("resume.db");
    kf_tune_request r = request(store);
    r.budget.seconds = 0.0;
    r.budget.evaluations = 12;
    r.budget_text = "12evals";
    r.strategy = "random";
    r.timing_seconds = 0.3; /* long enough to be interrupted in the middle */
    kf_tune_result first;
    kf_error error = {KF_OK, ""};
    kf_catch_interrupts();
    const pid_t finger = interrupt_after_results("resume.db", 2);
    const kf_status status = kf_tune(&r, &first, &error);
    kf_interrupted = 0;
    assert_int_equal(waitpid(finger, NULL, 0), finger);
    assert_int_equal(status, KF_INTERRUPTED);
    assert_non_null(strstr(error.message, "--resume"));
    counts before = stored(store, &first);
    assert_int_equal(before.presets + before.search, first.tried.count);
    assert_true(first.tried.count < 12);

    r.resume = true;
    r.timing_seconds = 0.05;
    kf_tune_result second;
    if (kf_tune(&r, &second, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_equal(second.run.uuid, first.run.uuid);
    assert_int_equal(second.resumed, first.tried.count);
    assert_int_equal(second.tried.count, 12);
    for (int i = 0; i < first.tried.count; i++)
        assert_string_equal(second.tried.items[i].hash, first.tried.items[i].hash);
    counts after = stored(store, &second);
    assert_int_equal(after.presets, 3);
    assert_int_equal(after.presets + after.search, 12);

    /* A finished run is not resumed: this one starts anew. */
    kf_tune_result third;
    r.budget.evaluations = 4;
    if (kf_tune(&r, &third, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_not_equal(third.run.uuid, first.run.uuid);
    assert_int_equal(third.resumed, 0);
    kf_tune_result_free(&first);
    kf_tune_result_free(&second);
    kf_tune_result_free(&third);
    kf_store_close(store);
}

/* --- warm start ------------------------------------------------------------------------------------------
 */

typedef struct warm_start {
    int similar, sequence;
    char hash[KF_HASH_HEX];
} warm_start;

static kf_status find_similar(void *context, int sequence, const char *role, const kf_config *config,
                              const kf_measurement *measurement, kf_error *error) {
    (void)measurement, (void)error;
    warm_start *found = context;
    if (strcmp(role, "preset:similar") != 0) return KF_OK;
    found->similar++;
    found->sequence = sequence;
    kf_config_hash(config, found->hash);
    return KF_OK;
}

/* What was best for this scene before, or for one like it, is tried after the presets; not what was best for
 * one eight times as large. */
static void what_was_best_before_is_tried_first(void **state) {
    (void)state;
    kf_store *store = open_store("warm.db");
    kf_tune_request r = request(store);
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    static const char *const fix[] = {"behaviour=right"};
    r.fixed = fix;
    r.fixed_count = 1;
    r.strategy = "random";
    r.budget.seconds = 0.0;
    r.budget.evaluations = 9; /* all there is: the best is known */
    if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
    kf_tune_result_free(&result);
    static const struct { int nodes, similar; } cases[] = {{20000, 1}, {30000, 1}, {160000, 0}};
    for (size_t i = 0; i < 3; i++) {
        warm_start found = {0};
        counter_problem(&problem, cases[i].nodes);
        r.budget.evaluations = 5;
        r.seed = 2 + i;
        if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
        assert_int_equal(kf_store_results(store, result.run.id, find_similar, &found, &error), KF_OK);
        assert_int_equal(found.similar, cases[i].similar);
        if (found.similar > 0) {
            char hash[KF_HASH_HEX];
            const kf_config best = counter_config("right", 1);
            kf_config_hash(&best, hash);
            assert_string_equal(found.hash, hash);
            assert_int_equal(found.sequence, KF_PRESETS);
        }
        kf_tune_result_free(&result);
    }
    kf_store_close(store);
}

/* --- measuring effort ------------------------------------------------------------------------------------
 */

typedef struct efforts {
    int counts[3]; /* a ninth, a third, all */
} efforts;

static kf_status count_effort(void *context, int sequence, const char *role, const kf_config *config,
                              const kf_measurement *measurement, kf_error *error) {
    (void)sequence, (void)config, (void)error;
    efforts *e = context;
    if (strcmp(role, "search") == 0) e->counts[measurement->effort > 0.9 ? 2 : measurement->effort > 0.2]++;
    return KF_OK;
}

/* Eight configs, three of them presets: five are measured a little, the best of them more, and what the
 * budget then leaves goes to full efforts. Nine ninths count as one. */
static void effort_counts_against_the_budget(void **state) {
    (void)state;
    kf_store *store = open_store("halving.db");
    kf_tune_request r = request(store);
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    efforts e = {{0, 0, 0}};
    static const char *const fix[] = {"behaviour=right"};
    r.fixed = fix;
    r.fixed_count = 1;
    r.strategy = "halving";
    r.budget.seconds = 0.0;
    r.budget.evaluations = 6; /* the presets and three more */
    if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(kf_store_results(store, result.run.id, count_effort, &e, &error), KF_OK);
    assert_int_equal(e.counts[0], 5);
    assert_in_range(e.counts[1], 1, 2); /* times vary: another may follow one that went up */
    assert_in_range(e.counts[2], 2, 4);
    assert_int_equal(result.tried.count, 8);
    assert_true(result.best >= 0);
    kf_tune_result_free(&result);
    r.rounds = -1;
    r.seed = 2;
    if (kf_tune(&r, &result, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(result.finals.count, 0);
    kf_tune_result_free(&result);
    kf_store_close(store);
}

/* --- one run at a time on a GPU --------------------------------------------------------------------------
 */

static void give_up_after_a_while(void *context) {
    int *looks = context;
    if (++*looks == 3) kf_interrupted = 1;
}

static void a_gpu_is_measured_by_one_run_at_a_time(void **state) {
    (void)state;
    const kf_device_info gpu = {.backend = "cuda", .spec = "cuda:0", .identity = "GPU-../a"};
    const kf_device_info cpu = {.backend = "cpu", .spec = "cpu", .identity = "b"};
    kf_error error = {KF_OK, ""};
    int first = -1, second = -1, looks = 0;
    assert_int_equal(kf_device_lock(&gpu, NULL, NULL, &first, &error), KF_OK);
    assert_true(first >= 0);
    assert_int_equal(kf_device_lock(&gpu, give_up_after_a_while, &looks, &second, &error), KF_INTERRUPTED);
    assert_true(second == -1 && looks == 3);
    kf_interrupted = 0;
    kf_device_unlock(first);
    /* Who holds it and is killed holds it no more. */
    pid_t holder = fork();
    if (holder == 0) {
        _exit(kf_device_lock(&gpu, NULL, NULL, &first, &error) == KF_OK && kill(getpid(), SIGKILL) == 0 ? 0
                                                                                                        : 1);
    }
    int status = 0;
    assert_true(waitpid(holder, &status, 0) == holder && WIFSIGNALED(status));
    assert_int_equal(kf_device_lock(&gpu, NULL, NULL, &second, &error), KF_OK);
    assert_true(second >= 0);
    kf_device_unlock(second);
    assert_int_equal(kf_device_lock(&cpu, NULL, NULL, &first, &error), KF_OK);
    assert_int_equal(first, -1);
    kf_device_unlock(first);
}

/* Two processes add to a counter in turns; without the lock additions would be lost. */
static void runs_that_take_turns_exclude_each_other(void **state) {
    (void)state;
    enum { TURNS = 200 };
    const kf_device_info gpu = {.backend = "cuda", .spec = "cuda:0", .identity = "GPU-turns"};
    kf_error error = {KF_OK, ""};
    const int zero = open("/dev/zero", O_RDWR | O_CLOEXEC); /* pages of it that are shared begin as zeros */
    assert_true(zero >= 0);
    volatile int *count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 0);
    (void)close(zero);
    assert_true(count != MAP_FAILED);
    pid_t other = fork();
    for (int i = 0; i < TURNS; i++) {
        int lock = -1;
        if (kf_device_turn(&gpu, KF_TURN_ALONE, &lock, &error) != KF_OK || lock < 0) break;
        const int before = *count;
        (void)nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        *count = before + 1;
        kf_device_unlock(lock);
    }
    if (other == 0) _exit(0);
    int status = 0;
    assert_true(waitpid(other, &status, 0) == other && WIFEXITED(status));
    assert_int_equal(*count, 2 * TURNS);
    (void)munmap((void *)count, sizeof *count);

    /* Two may share it; who wants to be alone waits for both, and is served before a third who would share
     * it. */
    int first = -1, second = -1, ends[2];
    char order[3] = "";
    assert_int_equal(kf_device_turn(&gpu, KF_TURN_SHARED, &first, &error), KF_OK);
    assert_int_equal(kf_device_turn(&gpu, KF_TURN_SHARED, &second, &error), KF_OK);
    assert_int_equal(pipe(ends), 0);
    pid_t waiting[2];
    for (int i = 0; i < 2; i++) {
        waiting[i] = fork();
        if (waiting[i] == 0) {
            int own = -1;
            (void)close(first);
            (void)close(second);
            const bool got =
                kf_device_turn(&gpu, i == 0 ? KF_TURN_ALONE : KF_TURN_SHARED, &own, &error) == KF_OK;
            _exit(got && write(ends[1], i == 0 ? "a" : "s", 1) == 1 ? 0 : 1);
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    }
    kf_device_unlock(first);
    kf_device_unlock(second);
    for (int i = 0; i < 2; i++)
        assert_true(waitpid(waiting[i], &status, 0) == waiting[i] && WIFEXITED(status) &&
                    WEXITSTATUS(status) == 0);
    assert_int_equal(read(ends[0], order, 2), 2);
    assert_string_equal(order, "as");
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void bad_requests_are_refused(void **state) {
    (void)state;
    kf_store *store = open_store("bad.db");
    kf_tune_request r = request(store);
    kf_tune_result result;
    kf_error error = {KF_OK, ""};
    static const char *const fix[] = {"work=5"};
    r.fixed = fix;
    r.fixed_count = 1;
    assert_int_equal(kf_tune(&r, &result, &error), KF_BAD_INPUT);
    kf_tune_result_free(&result);
    r = request(store);
    r.strategy = "lokal";
    assert_int_equal(kf_tune(&r, &result, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "local"));
    kf_tune_result_free(&result);
    r = request(store);
    r.device = "cuda:77";
    assert_int_not_equal(kf_tune(&r, &result, &error), KF_OK);
    kf_tune_result_free(&result);
    kf_store_close(store);
}

/* --- choosing --------------------------------------------------------------------------------------------
 */

static void put(kf_evaluations *list, long work, kf_state state, double low, double median, double high) {
    kf_measurement m = {.state = state, .step_us = {.count = 5, .median = median, .low = low, .high = high}};
    kf_config config = counter_config("right", work);
    kf_evaluations_add(list, "search", &config, &m)->eligible = true;
}

static void finals_decide_and_overlap_is_a_tie(void **state) {
    (void)state;
    kf_tune_result result = {.presets = {0, 1, -1}};
    put(&result.tried, 1, KF_STATE_OK, 99, 100, 101);
    put(&result.tried, 2, KF_STATE_OK, 197, 200, 205);
    put(&result.tried, 3, KF_STATE_OK, 88, 90, 92);  /* lucky in the search */
    put(&result.tried, 4, KF_STATE_OK, 96, 99, 101); /* overlaps the best */
    put(&result.tried, 5, KF_STATE_WRONG_RESULT, 1, 1, 1);
    put(&result.tried, 6, KF_STATE_OK, 50, 50, 50); /* fails in the final */
    put(&result.finals, 1, KF_STATE_OK, 97, 98, 100);
    put(&result.finals, 3, KF_STATE_OK, 109, 110, 111);
    put(&result.finals, 6, KF_STATE_CRASH, 50, 50, 50);
    kf_tune_choose(&result);
    assert_int_equal(result.best, 0);
    assert_true(result.best_measurement->step_us.median == 98);
    assert_true(fabs(result.gain[KF_PRESET_DEFAULT] - 1.0) < 1e-12);
    assert_true(fabs(result.gain[KF_PRESET_BASELINE] - 200.0 / 98.0) < 1e-12);
    assert_true(isnan(result.gain[KF_PRESET_PAPER]));
    assert_int_equal(result.tie_count, 1);
    assert_int_equal(result.ties[0], 3);
    kf_tune_result_free(&result);
    kf_tune_result none = {.presets = {-1, -1, -1}};
    kf_tune_choose(&none);
    assert_int_equal(none.best, -1);
}

/* Whatever else a search tried: the default wins where nothing is measurably faster, and not where something
 * is. */
static void the_default_wins_a_tie(void **state) {
    (void)state;
    for (int faster = 0; faster < 2; faster++) {
        kf_tune_result result = {.presets = {0, -1, -1}, .noise_floor = 0.002};
        put(&result.tried, 1, KF_STATE_OK, 99.9, 100, 100.1);
        for (int i = 0; i < 20; i++)
            put(&result.tried, 2 + i, KF_STATE_OK, 99.8 + 0.01 * i, 99.85 + 0.01 * i, 99.9 + 0.01 * i);
        put(&result.finals, 1, KF_STATE_OK, 99.9, 100, 100.1);
        put(&result.finals, 5, KF_STATE_OK, 99.6, 99.7, 99.8);
        if (faster) put(&result.finals, 6, KF_STATE_OK, 97.9, 98.0, 98.1);
        kf_tune_choose(&result);
        assert_int_equal(result.best, faster ? 5 : 0);
        /* Of twenty ties the fastest are named. */
        assert_int_equal(result.tie_count, faster ? 0 : KF_BEST_TIES);
        if (!faster) assert_int_equal(result.ties[0], 4);
        kf_tune_result_free(&result);
    }
}

/* The same three configs: the fastest, the most frugal, and the one whose product of both is least. */
static void the_objective_decides(void **state) {
    (void)state;
    static const double times[] = {100, 200, 130}, joules[] = {3.0, 1.2, 1.7};
    static const int winners[] = {[KF_OBJECTIVE_TIME] = 0, [KF_OBJECTIVE_ENERGY] = 1, [KF_OBJECTIVE_EDP] = 2};
    for (int objective = 0; objective < 3; objective++) {
        kf_tune_result result = {
            .presets = {0, -1, -1}, .objective = (kf_objective)objective, .noise_floor = 0.001};
        for (int i = 0; i < 3; i++) {
            put(&result.tried, 1 + i, KF_STATE_OK, times[i] - 1, times[i], times[i] + 1);
            put(&result.finals, 1 + i, KF_STATE_OK, times[i] - 1, times[i], times[i] + 1);
            result.tried.items[i].measurement.energy_j = result.finals.items[i].measurement.energy_j =
                joules[i];
        }
        kf_tune_choose(&result);
        assert_int_equal(result.best, winners[objective]);
        assert_int_equal(result.tie_count, 0);
        kf_tune_result_free(&result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_objective_decides),
        cmocka_unit_test(the_default_wins_a_tie),
        cmocka_unit_test(a_run_finds_the_fastest_right_config),
        cmocka_unit_test(time_budgets_hold),
        cmocka_unit_test(budgets_of_device_seconds_hold),
        cmocka_unit_test(short_budgets_drop_presets),
        cmocka_unit_test(differences_are_taken_back),
        cmocka_unit_test(presets_outside_the_space_do_not_win),
        cmocka_unit_test(nothing_right_is_a_failure),
        cmocka_unit_test(interrupted_runs_resume),
        cmocka_unit_test(what_was_best_before_is_tried_first),
        cmocka_unit_test(effort_counts_against_the_budget),
        cmocka_unit_test(a_gpu_is_measured_by_one_run_at_a_time),
        cmocka_unit_test(runs_that_take_turns_exclude_each_other),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(finals_decide_and_overlap_is_a_tie),
    };
    counter_prepare();
    kf_log_set_level(KF_LOG_QUIET);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    counter_clean_up();
    return failed;
}
