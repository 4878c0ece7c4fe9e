/* Tests runs whose step hangs. A kernel hangs on purpose in a child process, and the test's clock advances
 * only while it hangs, so that nothing depends on how busy the machine is. Faults: the run waits for ever,
 * loses the last good checkpoint, or ends for a step that is only slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/backend/team/team.h"
#include "base/backend/team/world.h"
#include "base/util/log.h"
#include "solver/output/production.h"
#include "tests/unit/caught_child.h"
#include "tests/unit/kernel_fixture.h"
#include "tests/unit/output_plan.h"

/* Kernel and clock share these words: how often the kernel may run before it hangs, whether it hangs, and
 * whether it is released. */
enum { ALLOWED, HANGS, LET_GO, WORDS };

static const char hanging_source[] =
    "#include \"portable.h\"\n"
    "typedef struct hang_arguments { int extent[3]; volatile int *words; } hang_arguments;\n"
    "KF_SCALAR_KERNEL(hang, hang_arguments) {\n"
    "    if (a->words[0]-- > 0) return;\n"
    "    a->words[1] = 1;\n"
    "    while (a->words[2] == 0) {}\n"
    "    a->words[1] = 0;\n"
    "    a->words[0] = 1 << 20;\n"
    "}\n";

typedef struct hang_arguments {
    int extent[3];
    volatile int *words;
} hang_arguments;

/* A clock whose every reading takes this many seconds while the kernel hangs, and that releases the kernel
 * after this many. It then stands still, because a busy machine may take its time to run the kernel again. */
typedef struct driven_clock {
    volatile int *words;
    double a_look, until; /* until: 0 for never */
    double time, hung;
} driven_clock;

static double driven_seconds(void *context) {
    driven_clock *clock = context;
    if (clock->words[HANGS] == 0 || clock->words[LET_GO] != 0) return clock->time;
    clock->time += clock->a_look;
    clock->hung += clock->a_look;
    if (clock->until > 0 && clock->hung >= clock->until) clock->words[LET_GO] = 1;
    return clock->time;
}

static void short_rest(void *context) {
    (void)context;
    (void)usleep(100);
}

static void say_and_end(void *context, const kf_error *why) {
    (void)context;
    kf_world_end(why->message);
}

static kf_plan *make_hanging_plan(const kf_scene *scene, kf_backend *backend, kf_buffer **words) {
    const kf_source source = {.file = "kernels/test/hang.cu"};
    kf_plan *plan = make_quiet_plan(scene, backend);
    kf_module *module;
    kf_function *function;
    kf_error error = {KF_OK, ""};
    if (kf_plan_module(plan, &source, &module, &error) != KF_OK ||
        kf_module_function(module, "hang", &function, &error) != KF_OK ||
        kf_plan_buffer(plan, WORDS * sizeof(int), words, &error) != KF_OK) {
        (void)fprintf(stderr, "%s\n", error.message);
        _exit(100);
    }
    const hang_arguments arguments = {{1, 1, 1}, kf_buffer_address(*words)};
    kf_launch launch;
    kf_launch_set(&launch, "hang", function, (const int[3]){1, 1, 1}, &arguments, sizeof arguments);
    (void)kf_plan_add_kernel(plan, &launch);
    return plan;
}

/* Does a run of 12 steps, of which the one after `allowed` hangs, in this process, which ends with the
 * run's status. */
static _Noreturn void run_and_end(const char *folder, int allowed, double a_look, double until) {
    kf_error error = {KF_OK, ""};
    kf_backend *backend;
    kf_buffer *words;
    kf_scene *scene = make_scene();
    kf_log_set_level(KF_LOG_QUIET);
    if (kf_backend_open("cpu:1", &backend, &error) != KF_OK) _exit(101);
    kf_plan *plan = make_hanging_plan(scene, backend, &words);
    driven_clock driven = {.words = kf_buffer_address(words), .a_look = a_look, .until = until};
    if (kf_production_start(plan, NULL, NULL, &error) != KF_OK) _exit(102);
    driven.words[ALLOWED] = allowed;
    driven.words[HANGS] = driven.words[LET_GO] = 0;
    static const volatile int never;
    const kf_watchdog_clock clock = {driven_seconds, short_rest, &driven};
    const kf_production_options options = {.folder = folder,
                                           .steps = 12,
                                           .every = 5,
                                           .record_every = 2,
                                           .checkpoints = 2,
                                           .checkpoint_seconds = 0,
                                           .no_pictures = true,
                                           .no_fields = true,
                                           .interrupted = &never,
                                           .hangs = say_and_end,
                                           .clock = &clock};
    kf_production done;
    const kf_status status = kf_produce(plan, &options, &done, &error);
    (void)fprintf(stderr, "%s hung for %.0f s, %d steps\n", error.message, driven.hung, (int)done.last_step);
    _exit((int)status);
}

/* Does the same in a child. *said is what it wrote to stderr. Returns its exit status, or -1 after a
 * signal. */
static int run_in_child(const char *name, int allowed, double a_look, double until, char said[2048]) {
    char folder[KF_PATH];
    kf_error error;
    assert_int_equal(kf_path(folder, &error, "%s/%s", fixture_folder, name), KF_OK);
    assert_int_equal(kf_make_folders(folder, &error), KF_OK);
    const caught_child child = fork_caught(STDERR_FILENO);
    if (child.process == 0) run_and_end(folder, allowed, a_look, until);
    const int ended = end_caught(child, said, 2048);
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
}

static void must_say(const char *said, const char *words) {
    if (strstr(said, words) == NULL) fail_msg("'%s' is not in '%s'", words, said);
}

static int set_up(void **state) {
    if (fixture_setup(state) != 0) return -1;
    fixture_write("data/kernels/test/hang.cu", hanging_source);
    return 0;
}

static void test_a_step_that_hangs_ends_the_run(void **state) {
    (void)state;
    char said[2048];
    assert_int_equal(run_in_child("hangs", 7, 2.0, 0, said), KF_MACHINE);
    must_say(said, "kftune: the steps after step ");
    must_say(said, " min: a kernel or the device hangs; the last good state is ");
    assert_true(strtod(strstr(said, "within ") + 7, NULL) >= 10.0);
    must_say(said, "/hangs/checkpoint_00000");
    char path[KF_PATH] = "";
    (void)sscanf(strstr(said, "state is ") + 9, "%1000s", path);
    assert_int_equal(access(path, R_OK), 0);
}

/* Before there is a checkpoint none is named. Before a step has been measured, the limit is an hour. */
static void test_the_first_step_hangs(void **state) {
    (void)state;
    char said[2048];
    assert_int_equal(run_in_child("first", 0, 2.0, 0, said), KF_MACHINE);
    must_say(said, "the steps after step 0 did not come back within 60 min: a kernel or the device hangs\n");
}

static void test_a_late_step_is_waited_for(void **state) {
    (void)state;
    char said[2048];
    assert_int_equal(run_in_child("late", 7, 2.0, 590, said), KF_OK);
    must_say(said, "hung for 590 s, 12 steps");
    assert_int_equal(run_in_child("late_first", 0, 2.0, 3590, said), KF_OK);
    must_say(said, "hung for 3590 s, 12 steps");
}

/* When a laptop sleeps or a process is stopped, the time in which nothing ran counts as one reading. */
static void test_time_in_which_nothing_ran_does_not_count(void **state) {
    (void)state;
    char said[2048];
    assert_int_equal(run_in_child("stopped", 7, 36000, 360000, said), KF_OK);
    must_say(said, "hung for 360000 s, 12 steps");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_that_hangs_ends_the_run),
        cmocka_unit_test(test_the_first_step_hangs),
        cmocka_unit_test(test_a_late_step_is_waited_for),
        cmocka_unit_test(test_time_in_which_nothing_ran_does_not_count),
    };
    return cmocka_run_group_tests(tests, set_up, fixture_teardown);
}
