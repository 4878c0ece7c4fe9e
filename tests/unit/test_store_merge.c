/* Tests which of two rows counts when stores are merged. Faults: a row that is lost or doubled, a run that
 * seems ended, a night of another machine. */
#include "tests/unit/store_fixture.h"

/* Makes a run of three results in a store of this name, and a copy of the store as other.db. */
static void make_pair(char here[KF_PATH], char there[KF_PATH], kf_run_row *run) {
    char command[2 * KF_PATH + 64];
    kf_error error = {0};
    fixture_path(here, "here.db");
    fixture_path(there, "there.db");
    (void)snprintf(command, sizeof command, "rm -f '%s'* '%s'*", here, there);
    assert_int_equal(system(command), 0);
    kf_store *store = fixture_open(here);
    fixture_begin(store, run);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(fixture_add(store, run, i, 100.0 + i, &error), KF_OK);
    kf_store_close(store);
    (void)snprintf(command, sizeof command, "cp '%s' '%s'", here, there);
    assert_int_equal(system(command), 0);
}

static void change(const char *path, const char *sql) {
    kf_store *store = fixture_open(path);
    char *why = NULL;
    if (sqlite3_exec(store->database, sql, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s: %s", sql, why);
    kf_store_close(store);
}

static void merge(const char *here, const char *there, int runs, int results) {
    kf_store *store = fixture_open(here);
    kf_error error = {0};
    int came[2] = {-1, -1};
    if (kf_store_merge(store, there, &came[0], &came[1], &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(came[0], runs);
    assert_int_equal(came[1], results);
    kf_store_close(store);
}

static void expect(const char *path, const char *sql, int value) {
    kf_store *store = fixture_open(path);
    const int found = fixture_integer(store->database, sql);
    if (found != value) fail_msg("%s: %d instead of %d", sql, found, value);
    kf_store_close(store);
}

/* Returns the other columns that a row in such a state has. */
static const char *ended(const char *state) {
    return strcmp(state, "running") == 0 ? "ended = NULL, process = 'boot 1 1'"
                                         : "ended = started, process = NULL";
}

/* The run has ended in the other store, and has any state in this one. One that is running here is ended
 * only by its own process. */
static void the_outcome_of_a_run_that_goes_on_stays(void **state) {
    (void)state;
    static const struct {
        const char *here, *there, *becomes;
        int winner; /* afterwards; here it is 1 and there 2 */
    } cases[] = {{"running", "finished", "running", 1},
                 {"interrupted", "finished", "finished", 2},
                 {"finished", "running", "finished", 1},
                 {"interrupted", "running", "interrupted", 1},
                 {"running", "interrupted", "running", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char here[KF_PATH], there[KF_PATH], sql[256];
        kf_run_row run;
        make_pair(here, there, &run);
        (void)snprintf(sql, sizeof sql, "UPDATE run SET winner = 1, state = '%s', %s", cases[i].here,
                       ended(cases[i].here));
        change(here, sql);
        (void)snprintf(sql, sizeof sql, "UPDATE run SET winner = 2, state = '%s', %s", cases[i].there,
                       ended(cases[i].there));
        change(there, sql);
        merge(here, there, 0, 0);
        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM run WHERE state = '%s' AND winner = %d",
                       cases[i].becomes, cases[i].winner);
        expect(here, sql, 1);
    }
}

/* A run is merged. Runs that differ from it only in their origin are not, and neither are their results. */
static void nights_do_not_come(void **state) {
    (void)state;
    char here[KF_PATH], there[KF_PATH];
    kf_run_row run, night;
    kf_error error = {0};
    make_pair(here, there, &run);
    kf_store *store = fixture_open(there);
    for (int i = 0; i < 2; i++) {
        fixture_begin(store, &night);
        assert_int_equal(fixture_add(store, &night, 1, 50.0, &error), KF_OK);
        assert_int_equal(fixture_add(store, &night, 2, 51.0, &error), KF_OK);
    }
    kf_store_close(store);
    change(there, "UPDATE run SET origin = 'nightly' WHERE id = 3");
    merge(here, there, 1, 2);
    expect(here, "SELECT count(*) FROM run WHERE origin = 'nightly'", 0);
    expect(here, "SELECT count(*) FROM result", 5);
    merge(here, there, 0, 0);
}

/* A merged run has ended when it did in the other store. One that was running there counts as ended when
 * it began. Its problem is that of its own file, where two have the same content and name. */
static void what_comes_is_as_it_was_there(void **state) {
    (void)state;
    char here[KF_PATH], there[KF_PATH];
    kf_run_row run, other;
    make_pair(here, there, &run);
    kf_store *store = fixture_open(there);
    for (int i = 0; i < 2; i++)
        fixture_begin(store, &other);
    kf_store_close(store);
    change(there, "INSERT INTO problem (name, source, hash, seed, facts, units) "
                  "SELECT name, 'other.obj', hash, seed, facts, units FROM problem");
    change(there,
           "UPDATE run SET problem = 2, state = 'finished', process = NULL, "
           "started = '2026-01-01T00:00:00.000000Z', ended = '2026-01-02T00:00:00.000000Z' WHERE id = 2");
    change(there, "UPDATE run SET started = '2026-01-03T00:00:00.000000Z' WHERE id = 3");
    merge(here, there, 2, 0);
    expect(here, "SELECT count(*) FROM run WHERE ended = '2026-01-02T00:00:00.000000Z'", 1);
    expect(here, "SELECT count(*) FROM run WHERE state = 'interrupted' AND ended = started", 1);
    expect(here, "SELECT count(*) FROM run r JOIN problem p ON p.id = r.problem WHERE p.source = 'other.obj'",
           1);
    expect(here,
           "SELECT count(*) FROM run r JOIN problem p ON p.id = r.problem WHERE r.state = 'finished' AND "
           "p.source = "
           "'other.obj'",
           1);
}

typedef struct shard_list {
    kf_shard list[8];
    int count;
} shard_list;

static void note_shard(void *context, const kf_shard *shard) {
    shard_list *all = context;
    assert_true(all->count < 8);
    all->list[all->count++] = *shard;
}

/* Adds a run with results of these configs and roles. The first number is that of the config. */
static void add_run(kf_store *store, const char *strategy, uint64_t seed, const int configs[4],
                    const char *const roles[4], const double times[4], bool ended) {
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    kf_run_row run;
    kf_error error = {0};
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    fixture_run(&run);
    kf_copy_text(run.strategy, sizeof run.strategy, strategy);
    run.seed = seed;
    if (kf_store_begin_run(store, problem, &device, &run, &error) != KF_OK) fail_msg("%s", error.message);
    for (int i = 0; i < 4; i++) {
        kf_config config;
        kf_measurement *m = kf_allocate(sizeof *m);
        fixture_config(&config, configs[i]);
        if (times[i] > 0.0)
            fixture_measurement(m, times[i], 1);
        else
            fixture_failure(m, KF_STATE_CRASH, "as the test wants it");
        if (kf_store_add(store, &run, i, roles[i], &config, m, &error) != KF_OK)
            fail_msg("%s", error.message);
        kf_measurement_free(m);
        free(m);
    }
    if (ended) assert_int_equal(kf_store_end_run(store, &run, "finished", &error), KF_OK);
    kf_problem_free(problem);
}

/* Of all runs those of shards count. Of a shard's results each config counts once, and its anchor is the
 * default that worked. */
static void which_runs_are_shards(void **state) {
    (void)state;
    static const char *const usual[] = {"preset:default", "search", "search", "preset:other"},
                             *const two[] = {"preset:default", "preset:default", "search", "search"};
    static const int each[] = {1, 2, 3, 4}, twice[] = {1, 1, 2, 2};
    char path[KF_PATH];
    kf_error error = {0};
    fixture_path(path, "shards.db");
    kf_store *store = fixture_open(path);
    add_run(store, "model", 1, each, usual, (const double[]){10, 1, 2, 3}, true);
    add_run(store, "shard:i=2:n=3:x", 7, each, usual, (const double[]){100, 20, 30, 400}, true);
    add_run(store, "shard:i=0:n=3:x", 8, twice, two, (const double[]){200, -1, 20, 30}, false);
    add_run(store, "shard:i=1:n=3:x", 9, each, usual, (const double[]){-1, 20, 30, 40}, true);
    add_run(store, "shard:no", 9, each, usual, (const double[]){100, 20, 30, 40}, true);
    shard_list all = {.count = 0};
    assert_int_equal(kf_store_shards(store, note_shard, &all, &error), KF_OK);
    static const struct {
        int index, configs;
        uint64_t seed;
        bool finished;
        double anchor_us;
    } expected[] = {{2, 4, 7, true, 100}, {0, 2, 8, false, 200}, {1, 4, 9, true, NAN}};
    assert_int_equal(all.count, 3);
    for (int i = 0; i < 3; i++) {
        const kf_shard *s = &all.list[i];
        assert_int_equal(s->index, expected[i].index);
        assert_int_equal(s->count, 3);
        assert_int_equal(s->configs, expected[i].configs);
        assert_true(s->seed == expected[i].seed && s->finished == expected[i].finished);
        if (isnan(expected[i].anchor_us))
            assert_true(isnan(s->anchor_us));
        else
            assert_true(fabs(s->anchor_us - expected[i].anchor_us) < 1e-3);
        kf_device_info device;
        fixture_device(&device);
        assert_string_equal(s->device, device.name);
        assert_string_equal(s->scene, "beetle");
    }
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_outcome_of_a_run_that_goes_on_stays), cmocka_unit_test(nights_do_not_come),
        cmocka_unit_test(what_comes_is_as_it_was_there), cmocka_unit_test(which_runs_are_shards)};
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
