/* Tests a store with several writers, sudden death, a full disk and other programs. Faults: a row that is
 * lost, or a store that cannot be opened. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "tests/unit/store_fixture.h"

enum { WRITERS = 4, EACH = 60 };

static void write_results(const char *path, int count) {
    kf_store *store = NULL;
    kf_run_row run;
    fixture_run(&run);
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    kf_error error = {0};
    if (kf_store_open(path, false, &store, &error) != KF_OK) {
        print_error("%s\n", error.message);
        _exit(1);
    }
    if (kf_store_begin_run(store, problem, &device, &run, NULL) != KF_OK) _exit(2);
    for (int i = 0; i < count; i++)
        if (fixture_add(store, &run, i, 10 + i, NULL) != KF_OK) _exit(3);
    if (kf_store_end_run(store, &run, "finished", NULL) != KF_OK) _exit(4);
    kf_store_close(store);
    kf_problem_free(problem);
    _exit(0);
}

static void test_four_writers(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "writers.db"); /* does not exist: all four want to create it */
    pid_t children[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork();
        if (children[i] == 0) write_results(path, EACH);
    }
    for (int i = 0; i < WRITERS; i++) {
        int ended = 0;
        assert_int_equal(waitpid(children[i], &ended, 0), children[i]);
        assert_true(WIFEXITED(ended));
        assert_int_equal(WEXITSTATUS(ended), 0);
    }
    kf_store *store = fixture_open(path);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result"), WRITERS * EACH);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM run WHERE state = 'finished'"),
                     WRITERS);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM config"), EACH);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM environment"), 1);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM kernel"), 2 * WRITERS * EACH);
    kf_store_close(store);
}

/* Reports each stored result through a pipe until it is killed. */
static void write_and_tell(const char *path, int pipe_end, int first) {
    kf_store *store = NULL;
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    kf_run_row run;
    fixture_run(&run);
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    if (kf_store_open(path, false, &store, NULL) != KF_OK) _exit(1);
    if (kf_store_find_unfinished(store, problem, &device, &run, NULL) != KF_OK) _exit(2);
    if ((run.id == 0) != (first == 0)) _exit(3);
    if (run.id == 0 && kf_store_begin_run(store, problem, &device, &run, NULL) != KF_OK) _exit(4);
    int next = fixture_integer(store->database, "SELECT ifnull(max(sequence) + 1, 0) FROM result");
    for (;; next++) {
        if (fixture_add(store, &run, next, 10, NULL) != KF_OK) _exit(5);
        if (write(pipe_end, "x", 1) != 1) _exit(6);
    }
}

static void test_killed_writer(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "killed.db");
    int told = 0;
    for (int round = 0; round < 12; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            (void)close(ends[0]);
            write_and_tell(path, ends[1], told);
        }
        (void)close(ends[1]);
        char byte = 0;
        assert_int_equal(read(ends[0], &byte, 1), 1);
        told++;
        struct timespec pause = {0, 700000L * (round + 1)};
        (void)nanosleep(&pause, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        while (read(ends[0], &byte, 1) == 1)
            told++;
        (void)close(ends[0]);
        int ended = 0;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFSIGNALED(ended));
        kf_store *store = fixture_open(path);
        int stored = fixture_integer(store->database, "SELECT count(*) FROM result");
        /* One may have been committed but not reported. */
        assert_in_range(stored, told, told + 1);
        told = stored;
        assert_int_equal(fixture_integer(store->database, "SELECT max(sequence) + 1 FROM result"), stored);
        assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM kernel"), 2 * stored);
        assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM run"), 1);
        kf_run_summary summary;
        assert_int_equal(kf_store_find_run(store, NULL, &summary, NULL), KF_OK);
        assert_string_equal(summary.state, "interrupted");
        assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM pragma_integrity_check "
                                                          "WHERE integrity_check <> 'ok'"),
                         0);
        kf_store_close(store);
    }
}

/* A limit on the size of files stands for a full disk. */
static void fill_disk(const char *path) {
    kf_store *store = NULL;
    kf_run_row run = {.id = 1};
    if (kf_store_open(path, false, &store, NULL) != KF_OK) _exit(1);
    (void)signal(SIGXFSZ, SIG_IGN);
    struct rlimit none = {0, 0}, before;
    (void)getrlimit(RLIMIT_FSIZE, &before);
    none.rlim_max = before.rlim_max;
    (void)setrlimit(RLIMIT_FSIZE, &none);
    kf_error error = {0};
    if (fixture_add(store, &run, 1, 10, &error) != KF_MACHINE) _exit(2);
    if (strstr(error.message, "make room") == NULL) _exit(3);
    (void)setrlimit(RLIMIT_FSIZE, &before);
    if (fixture_add(store, &run, 2, 10, &error) != KF_OK) _exit(4);
    kf_store_close(store);
    _exit(0);
}

static void test_full_disk(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "full.db");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    fixture_begin(store, &run);
    assert_int_equal(fixture_add(store, &run, 0, 10, NULL), KF_OK);
    kf_store_close(store);
    pid_t child = fork();
    if (child == 0) fill_disk(path);
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
    store = fixture_open(path);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result"), 2);
    assert_int_equal(fixture_integer(store->database, "SELECT sum(sequence) FROM result"), 2);
    kf_store_close(store);
}

/* Another program that opens the store may change how it is journalled. */
static void test_log_comes_back(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "log.db");
    kf_store_close(fixture_open(path));
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(database);
    kf_store *store = fixture_open(path);
    assert_int_equal(fixture_integer(store->database, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"),
                     1);
    kf_store_close(store);
}

/* A process that has ended is gone, even if its parent has not collected its status. */
static void test_ended_processes_are_gone(void **state) {
    (void)state;
    int ends[2];
    char process[KF_PROCESS];
    siginfo_t ended;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        kf_process_self(process);
        _exit(write(ends[1], process, sizeof process) == (ssize_t)sizeof process ? pause() : 1);
    }
    assert_int_equal(read(ends[0], process, sizeof process), sizeof process);
    assert_true(kf_process_is_other_alive(process));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
    assert_false(kf_process_is_other_alive(process));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(kf_process_is_other_alive(process));
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_writers),
        cmocka_unit_test(test_killed_writer),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_log_comes_back),
        cmocka_unit_test(test_ended_processes_are_gone),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
