/* Which of two rows counts when a store is merged into another: runs that both know, runs that still go on,
 * and nights, which belong to their machine. */
#include "tests/unit/store_fixture.h"

/* A run of three results in a store of this name, and the same store once more as other.db. */
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

/* What else such a state is stored with. */
static const char *ended(const char *state) {
    return strcmp(state, "running") == 0 ? "ended = NULL, process = 'boot 1 1'"
                                         : "ended = started, process = NULL";
}

/* The same run, ended there, here in each state: one that goes on here is its own process's to end. */
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

/* Beside a run that comes, one that differs in its origin alone does not, nor do its results. */
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_outcome_of_a_run_that_goes_on_stays),
                                       cmocka_unit_test(nights_do_not_come)};
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
