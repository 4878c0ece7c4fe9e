/* Tests processes that measure configs together while calls to their devices fail or take long. Faults: a
 * process waits for ever, another's words are reported, or the next config is spoiled. Alone this is one
 * process; tests/e2e/ranks-fail.sh starts several.
 * usage: test_ranks [fail SYSTEM TRANSFER | scatter SYSTEM TRANSFER COUNT | memory SYSTEM TRANSFER NUMBER |
 *                    parcels ROUNDS | marks] */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "harness/worker/evaluate.h"
#include "solver/systems.h"
#include "tests/unit/failing_calls.h"

static kf_problem *problem;
static kf_trial trial;
static kf_backend *backend;
static kf_config config;

static void must(kf_status status, const kf_error *error) {
    if (status == KF_OK) return;
    (void)fprintf(stderr, "rank %d: %s\n", kf_world_rank(), error->message);
    exit(1);
}

static void set_up(const char *system, const char *transfer) {
    kf_error error = {KF_OK, ""};
    char fixed[64];
    const bool flat = strcmp(system, "d2q9") == 0;
    const kf_problem_options options = {.nodes = {24, 16, flat ? 1 : 16}};
    (void)snprintf(fixed, sizeof fixed, "transfer=%s", transfer);
    const char *const kinetic[] = {"plan=fused",     "streaming=two_grids", "layout=soa", "storage=f32",
                                   "staged_nodes=0", "boundary_kernels=0",  fixed,        NULL},
                      *const pull[] = {"plan=pull", "layout=soa", "storage=f32", NULL},
                      *const *fix = flat ? pull : kinetic;
    int count = 0;
    while (fix[count] != NULL)
        count++;
    if (kf_world_is_wanted()) must(kf_world_open(&error), &error);
    must(kf_problem_open(flat ? "cavity2d" : "ball", system, &options, &problem, &error), &error);
    must(kf_backend_open(kf_world_size() > 1 ? "cpu:1" : "cpu:1,cpu:1", &backend, &error), &error);
    must(kf_trial_open(problem, &trial, &error), &error);
    must(kf_trial_refer(&trial, &error), &error);
    kf_space *space = NULL;
    must(kf_problem_space(problem, kf_backend_device(backend), fix, count, &space, &error), &error);
    kf_space_config(space, 0, &config);
    kf_space_free(space);
}

static void tear_down(void) {
    kf_error error = {KF_OK, ""};
    kf_backend_close(backend);
    kf_trial_close(&trial);
    kf_problem_free(problem);
    kf_world_close(KF_OK, &error);
}

/* The table of kernels covers the parts of this process and of others. The flow's kernel moves the bytes
 * of the whole domain in the time of the slowest part. */
static void check_kernels(const kf_measurement *m) {
    const double nodes = kf_facts_value(&problem->facts, "node_count");
    if (strcmp(problem->system->name, "kinetic") != 0) return;
    for (int i = 0; i < m->kernel_count; i++) {
        const kf_kernel_time *kernel = &m->kernels[i];
        if (kernel->fastest_us > kernel->time_us.median * (1 + 1e-9)) {
            (void)fprintf(stderr, "%s: the fastest part took %g us, the slowest %g\n", kernel->name,
                          kernel->fastest_us, kernel->time_us.median);
            exit(1);
        }
        if (strcmp(kernel->name, "stream_collide") != 0) continue;
        const double moved = kernel->bytes * kernel->launches_per_step, least = 2.0 * 27.0 * 4.0 * nodes;
        if (fabs(moved / least - 1.0) < 0.01) continue;
        (void)fprintf(stderr, "stream_collide moves %g bytes a step, not %g\n", moved, least);
        exit(1);
    }
}

/* Evaluates the config on this process and returns why it failed in `reason`. */
static kf_state evaluate(double time_limit_us, char reason[256]) {
    const kf_setting setting = {.problem = problem, .trial = &trial};
    const kf_job job = {.config = config, .verify = true, .effort = 0.001, .time_limit_us = time_limit_us};
    kf_measurement m;
    kf_error error = {KF_OK, ""};
    bool usable = true;
    kf_world_limit(300.0, "a config of the test"); /* a process that waits for ever ends the test */
    const kf_status status = kf_evaluate(&setting, backend, &job, NULL, NULL, &m, &usable, &error);
    kf_world_limit(0, "");
    must(status, &error);
    (void)snprintf(reason, 256, "%.255s", m.reason);
    const kf_state state = m.state;
    if (state == KF_STATE_OK) check_kernels(&m);
    kf_measurement_free(&m);
    return state;
}

static void expect(bool holds, const char *what, int rank, int number, kf_state state, const char *reason) {
    if (holds) return;
    (void)fprintf(stderr, "rank %d: call %d of rank %d fails: %s: state %s: %s\n", kf_world_rank(), number,
                  rank, what, kf_state_names[state], reason);
    exit(1);
}

/* The call with this number fails in a process. Returns false if there are fewer. Each of its calls is
 * named in the error. */
static bool fails_at(int rank, int number) {
    kf_error error = {KF_OK, ""};
    char reason[256], words[64];
    const bool own = kf_world_rank() == rank;
    fail_call(own ? number : 0);
    const kf_state state = evaluate(1.0, reason);
    double fired = own && failing.calls >= number;
    fail_call(0);
    must(kf_world_most(&fired, 1, &error), &error);
    if (fired == 0.0) {
        expect(state == KF_STATE_OK, "nothing failed, and it is not ok", rank, number, state, reason);
        return false;
    }
    (void)snprintf(words, sizeof words, "call %d fails, of kf_", number);
    expect(state != KF_STATE_OK && state != KF_STATE_SKIPPED, "it is ok", rank, number, state, reason);
    expect(strstr(reason, words) != NULL, "not its own words", rank, number, state, reason);
    (void)snprintf(words, sizeof words, "rank %d of", rank);
    expect(own || kf_world_size() == 1 || strstr(reason, words) != NULL, "it does not say who", rank, number,
           state, reason);
    return true;
}

/* Returns the next call that fails: every call of every process at first, then every call of one of them
 * in turn, then fewer and fewer of those that are alike. With KFTUNE_TEST_ALL it is every one. */
static int next_number(int rank, int number) {
    enum { OF_ALL = 16, OF_ONE = 60, SHARE = 12 };
    if (number < OF_ALL || getenv("KFTUNE_TEST_ALL") != NULL) return number + 1;
    if (number == OF_ALL) return number + 1 + rank;
    return number < OF_ONE ? number + kf_world_size() : number + number / SHARE;
}

static int fail_all(const char *system, const char *transfer) {
    char reason[256];
    int last = 0, tried = 0;
    set_up(system, transfer);
    for (int rank = 0; rank < kf_world_size(); rank++) {
        for (int number = 1; fails_at(rank, number); number = next_number(rank, number), tried++)
            last = number;
        const kf_state state = evaluate(1.0, reason);
        expect(state == KF_STATE_OK, "the next is not ok", rank, last, state, reason);
    }
    if (kf_world_rank() == 0)
        (void)printf("%s, %s: %d failures, the last of call %d\n", system, transfer, tried, last);
    tear_down();
    return last > 0 ? 0 : 1;
}

/* The processes are all at different places of their work. */
static int scatter(const char *system, const char *transfer, int count) {
    char reason[256];
    set_up(system, transfer);
    failing.scatters = true;
    failing.random = 77 + (uint64_t)kf_world_rank();
    for (int i = 0; i < count; i++) {
        const kf_state state = evaluate(i % 3 == 0 ? 2e4 : 1.0, reason);
        expect(state == KF_STATE_OK, "scattered", -1, i, state, reason);
    }
    tear_down();
    return 0;
}

/* The second process has no memory for the allocation with this number, counted from the first config. If
 * there are fewer, all end well. */
static int fail_memory(const char *system, const char *transfer, int number) {
    char reason[256];
    set_up(system, transfer);
    fail_allocation(kf_world_rank() == 1 ? number : 0);
    for (int i = 0; i < 3; i++) {
        const kf_state state = evaluate(1.0, reason);
        expect(state == KF_STATE_OK, "memory", 1, number, state, reason);
    }
    tear_down();
    return 0;
}

/* A foreign process sends files to all of them as long as its parent lives, as the same user or as
 * another: to every place of every process, in messages of several sizes. */
static void forge_parcels(bool as_other) {
    enum { OTHER = 65534 };
    static const int32_t places[] = {0, 1, -1, 1 << 28};
    const int box = socket(AF_UNIX, SOCK_DGRAM, 0), file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const struct timespec pause = {
        .tv_nsec = 2000000}; /* pauses: a process that floods a socket can keep others out */
    if (as_other && geteuid() == 0 && setuid(OTHER) != 0) _exit(1);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) _exit(1); /* after setuid, which resets it */
    for (unsigned n = 0;; n++) {
        char line[512];
        FILE *names = fopen("/proc/net/unix", "r");
        while (names != NULL && fgets(line, sizeof line, names) != NULL) {
            const char *at = strstr(line, "@kftune-");
            if (at == NULL) continue;
            struct sockaddr_un name = {.sun_family = AF_UNIX};
            const size_t length = strcspn(at + 1, "\n");
            memcpy(name.sun_path + 1, at + 1, length);
            int32_t words[16] = {0};
            const bool old = n % 3 == 0; /* two words alone, or after a secret that it cannot know */
            words[old ? 0 : 4] = (int32_t)(n % 4);
            words[old ? 1 : 5] = places[n / 4 % 4];
            struct iovec data = {words, old ? 8 : n % 3 == 1 ? 24 : 32};
            union {
                struct cmsghdr header;
                char bytes[CMSG_SPACE(sizeof(int))];
            } control = {.bytes = {0}};
            control.header.cmsg_level = SOL_SOCKET;
            control.header.cmsg_type = SCM_RIGHTS;
            control.header.cmsg_len = CMSG_LEN(sizeof file);
            memcpy(CMSG_DATA(&control.header), &file, sizeof file);
            const struct msghdr message = {
                .msg_name = &name,
                .msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length),
                .msg_iov = &data,
                .msg_iovlen = 1,
                .msg_control = control.bytes,
                .msg_controllen = sizeof control.bytes};
            (void)sendmsg(box, &message, MSG_DONTWAIT);
        }
        if (names != NULL) (void)fclose(names);
        (void)nanosleep(&pause, NULL);
    }
}

enum { MOST_GIVEN = 4 };

/* Makes files that contain their owner and number. */
static void make_files(int rank, int count, int files[MOST_GIVEN]) {
    for (int i = 0; i < count; i++) {
        const int words[] = {rank, i};
        files[i] = memfd_create("test", MFD_CLOEXEC);
        if (files[i] < 0 || write(files[i], words, sizeof words) != sizeof words) exit(1);
    }
}

/* Whatever others send meanwhile, a process receives what the other processes gave it. */
static int trade_parcels(int rounds) {
    kf_error error = {KF_OK, ""};
    const int who = (int)getpid();
    if (fork() == 0) forge_parcels(who % 2 == 0);
    must(kf_world_open(&error), &error);
    const int size = kf_world_size(), self = kf_world_rank();
    int *counts = kf_allocate_zeroed((size_t)size, sizeof *counts),
        *taken = kf_allocate((size_t)size * MOST_GIVEN * sizeof *taken);
    for (int round = 0; round < rounds; round++) {
        int given[MOST_GIVEN] = {-1, -1, -1, -1}, at = 0;
        for (int rank = 0; rank < size; rank++)
            counts[rank] = (rank + round) % (MOST_GIVEN + 1);
        make_files(self, counts[self], given);
        must(kf_world_give_files(KF_OK, given, counts, taken, &error), &error);
        for (int rank = 0; rank < size; rank++)
            for (int i = 0; i < counts[rank]; i++, at++) {
                int words[2] = {-1, -1};
                if (rank == self) continue;
                const bool right = pread(taken[at], words, sizeof words, 0) == sizeof words &&
                                   words[0] == rank && words[1] == i;
                expect(right, "another file came", rank, i, KF_STATE_OK, "");
                (void)close(taken[at]);
            }
        for (int i = 0; i < counts[self]; i++)
            (void)close(given[i]);
    }
    free(counts);
    free(taken);
    kf_world_close(KF_OK, &error);
    return 0;
}

/* Places that are released are assigned again. However many marks come and go there is room, and all
 * processes see the last one. */
static int use_marks(void) {
    enum { MARKS = 5000 };
    kf_error error = {KF_OK, ""};
    kf_mark *mark = NULL;
    must(kf_world_open(&error), &error);
    must(kf_backend_open("cpu:1", &backend, &error), &error);
    kf_stream *stream = kf_backend_stream(backend, 0);
    for (int i = 0; i < MARKS; i++) {
        if (mark != NULL) kf_mark_free(mark);
        must(kf_mark_create_shared(backend, i % kf_world_size() == kf_world_rank(), &mark, &error), &error);
    }
    const bool own = (MARKS - 1) % kf_world_size() == kf_world_rank();
    must(own ? kf_stream_signal(stream, mark, &error) : kf_stream_await(stream, mark, &error), &error);
    must(kf_stream_synchronize(stream, &error), &error);
    kf_mark_free(mark);
    must(kf_world_agree(KF_OK, &error), &error);
    kf_backend_close(backend);
    kf_world_close(KF_OK, &error);
    return 0;
}

/* One process has a team of two devices. */
static void test_each_call_fails_in_one_process(void **state) {
    (void)state;
    assert_int_equal(fail_all("kinetic", "copies"), 0);
}

int main(int count, char **words) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_call_fails_in_one_process)};
    if (count > 3 && strcmp(words[1], "fail") == 0) return fail_all(words[2], words[3]);
    if (count > 4 && strcmp(words[1], "scatter") == 0) return scatter(words[2], words[3], atoi(words[4]));
    if (count > 4 && strcmp(words[1], "memory") == 0) return fail_memory(words[2], words[3], atoi(words[4]));
    if (count > 2 && strcmp(words[1], "parcels") == 0) return trade_parcels(atoi(words[2]));
    if (count > 1 && strcmp(words[1], "marks") == 0) return use_marks();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
