/* Tests the lock and the turns of runs on one GPU. Faults: two runs measure at once, or a run that ended
 * keeps others waiting. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/unit/store_fixture.h"

#include "base/util/program.h"
#include "harness/worker/device_lock.h"
#include "harness/worker/other_processes.h"

static int set_up(void **state) {
    const int made = fixture_make_folder(state);
    (void)setenv("XDG_CACHE_HOME", fixture_folder, 1);
    return made;
}

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
    /* The lock of a process that is killed is free. */
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

/* Nothing is locked where others may write, or have left a link: they could hold the lock for ever. */
static void a_lock_is_where_no_one_else_writes(void **state) {
    (void)state;
    const kf_device_info gpu = {.backend = "cuda", .spec = "cuda:0", .identity = "GPU-links"};
    kf_error error = {KF_OK, ""};
    int lock = -1;
    char folder[KF_PATH + 32], path[KF_PATH + 64];
    assert_int_equal(kf_device_lock_in_line(&gpu, KF_LOCK_EXCLUSIVE, &lock, &error), KF_OK);
    kf_device_unlock(lock);
    (void)snprintf(folder, sizeof folder, "%s/kftune/devices", fixture_folder);
    (void)snprintf(path, sizeof path, "%s/GPU-links.lock", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("elsewhere", path), 0);
    assert_int_equal(kf_device_lock_in_line(&gpu, KF_LOCK_EXCLUSIVE, &lock, &error), KF_HOST);
    assert_int_equal(lock, -1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(kf_device_lock_in_line(&gpu, KF_LOCK_EXCLUSIVE, &lock, &error), KF_HOST);
    assert_non_null(strstr(error.message, "XDG_CACHE_HOME"));
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(kf_device_lock_in_line(&gpu, KF_LOCK_EXCLUSIVE, &lock, &error), KF_OK);
    kf_device_unlock(lock);
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
        if (kf_device_lock_in_line(&gpu, KF_LOCK_EXCLUSIVE, &lock, &error) != KF_OK || lock < 0) break;
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

    /* Two may share it. One that wants it alone waits for both, and is served before a third that would
     * share it. */
    int first = -1, second = -1, ends[2];
    char order[3] = "";
    assert_int_equal(kf_device_lock_in_line(&gpu, KF_LOCK_SHARED, &first, &error), KF_OK);
    assert_int_equal(kf_device_lock_in_line(&gpu, KF_LOCK_SHARED, &second, &error), KF_OK);
    assert_int_equal(pipe(ends), 0);
    pid_t waiting[2];
    for (int i = 0; i < 2; i++) {
        waiting[i] = fork();
        if (waiting[i] == 0) {
            int own = -1;
            (void)close(first);
            (void)close(second);
            const bool got = kf_device_lock_in_line(&gpu, i == 0 ? KF_LOCK_EXCLUSIVE : KF_LOCK_SHARED, &own,
                                                    &error) == KF_OK;
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

static void all_devices_of_a_team_are_locked_each_once(void **state) {
    (void)state;
    kf_device_locks locks;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_devices_lock("cpu,cpu", &locks, &error), KF_OK); /* a cpu has no lock */
    assert_int_equal(locks.count, 1);
    assert_int_equal(locks.list[0], -1);
    kf_devices_unlock(&locks);
    assert_int_equal(locks.count, 0);
    assert_int_equal(kf_devices_lock("gpu,cpu", &locks, &error), KF_BAD_INPUT);
    assert_int_equal(locks.count, 0);
}

/* A program that uses the GPU meanwhile is named. It must be no child of this test, but not the test's own
 * worker. */
static void other_programs_on_a_gpu_are_named(void **state) {
    (void)state;
    char text[256], expected[256], name[32] = "";
    const int own = (int)getpid(), parent = (int)getppid(), none = 0x7ffffff0;
    pid_t child = fork();
    if (child == 0) {
        (void)pause();
        _exit(0);
    }
    FILE *file = NULL;
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/comm", parent);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(name, sizeof name, file));
    (void)fclose(file);
    name[strcspn(name, "\n")] = '\0';
    (void)snprintf(expected, sizeof expected, "%s (process %d)", name, parent);
    assert_int_equal(
        kf_name_other_processes((const int[]){own, (int)child, none, parent}, 4, text, sizeof text), 1);
    assert_string_equal(text, expected);
    assert_int_equal(kf_name_other_processes((const int[]){own, (int)child, none}, 3, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(kf_name_other_processes((const int[]){parent, parent}, 2, text, 12),
                     2); /* cut, not beyond */
    assert_true(strlen(text) < 12);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_is_measured_by_one_run_at_a_time),
        cmocka_unit_test(a_lock_is_where_no_one_else_writes),
        cmocka_unit_test(runs_that_take_turns_exclude_each_other),
        cmocka_unit_test(all_devices_of_a_team_are_locked_each_once),
        cmocka_unit_test(other_programs_on_a_gpu_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, fixture_remove_folder);
}
