/* Tests how the cpu backend uses the machine. Faults: wrong number of threads, a block of a launch done by
 * no thread or by two, memory that is not given back. */
#include "tests/unit/kernel_fixture.h"

#include <sys/resource.h>
#include <time.h>

#include "base/backend/backend.h"
#include "base/backend/cpu/cpu.h"
#include "base/backend/team/team.h"

static kf_module *load(kf_backend *backend, const char *file) {
    kf_module *module = NULL;
    kf_error error = {0};
    const kf_source source = {.file = file};
    if (kf_module_load(backend, &source, &module, NULL, &error) != KF_OK) fail_msg("%s", error.message);
    return module;
}

typedef struct mark_arguments {
    int extent[3];
    int *marks;
} mark_arguments;

/* Every item is done once, however many threads share the blocks: with fewer blocks than threads, with
 * more, after the threads have gone to sleep, and with more threads than processors. */
static void threads_share_the_blocks(void **state) {
    (void)state;
    static const char *const specs[] = {"cpu:1", "cpu:2", "cpu:7"};
    enum { MOST = 1000, ROUNDS = 40 };
    fixture_write("data/kernels/test/mark.cu",
                  "#include \"portable.h\"\n"
                  "typedef struct mark_arguments { int extent[3]; int *marks; } mark_arguments;\n"
                  "KF_KERNEL(mark, mark_arguments) { a->marks[x]++; }\n");
    for (size_t spec = 0; spec < sizeof specs / sizeof *specs; spec++) {
        kf_backend *backend = NULL;
        kf_error error = {0};
        kf_buffer *buffer = NULL;
        kf_function *function = NULL;
        if (kf_backend_open(specs[spec], &backend, &error) != KF_OK) fail_msg("%s", error.message);
        kf_module *module = load(backend, "kernels/test/mark.cu");
        assert_int_equal(kf_module_function(module, "mark", &function, &error), KF_OK);
        assert_int_equal(kf_buffer_create(backend, MOST * sizeof(int), &buffer, &error), KF_OK);
        assert_int_equal(kf_buffer_fill(buffer, 0, &error), KF_OK);
        static int marks[MOST];
        int expected[MOST] = {0};
        for (int round = 0; round < ROUNDS; round++) {
            const int items = 1 + (round * 37) % MOST, block[3] = {1 + round % 5, 1, 1};
            const mark_arguments arguments = {{items, 1, 1}, kf_buffer_address(buffer)};
            kf_launch launch;
            kf_launch_set(&launch, "mark", function, block, &arguments, sizeof arguments);
            assert_int_equal(kf_backend_launch(backend, &launch, &error), KF_OK);
            for (int i = 0; i < items; i++)
                expected[i]++;
            if (round % 10 == 9) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        }
        assert_int_equal(kf_buffer_download(buffer, 0, marks, sizeof marks, &error), KF_OK);
        assert_memory_equal(marks, expected, sizeof marks);
        kf_buffer_free(buffer);
        kf_module_free(module);
        kf_backend_close(backend);
    }
}

typedef struct help_arguments {
    int extent[3];
    int *done, wanted, *seen;
} help_arguments;

/* Item 0 waits for more items than the other thread has in its part. That thread must take over what this
 * one has left. */
static void who_is_done_helps(void **state) {
    (void)state;
    enum { ITEMS = 256, WANTED = ITEMS * 3 / 4 };
    fixture_write(
        "data/kernels/test/help.cu",
        "#include \"portable.h\"\n"
        "typedef struct help_arguments { int extent[3]; int *done, wanted, *seen; } help_arguments;\n"
        "KF_SCALAR_KERNEL(help, help_arguments) {\n"
        "    (void)y, (void)z;\n"
        "    for (long looks = 0; x == 0 && looks < 1000000000; looks++)\n"
        "        if ((*a->seen = __atomic_load_n(a->done, __ATOMIC_RELAXED)) >= a->wanted) break;\n"
        "    __atomic_fetch_add(a->done, 1, __ATOMIC_RELAXED);\n"
        "}\n");
    kf_backend *backend = NULL;
    kf_error error = {0};
    kf_function *function = NULL;
    if (kf_backend_open("cpu:2", &backend, &error) != KF_OK) fail_msg("%s", error.message);
    kf_module *module = load(backend, "kernels/test/help.cu");
    assert_int_equal(kf_module_function(module, "help", &function, &error), KF_OK);
    int done = 0, seen = 0;
    const help_arguments arguments = {{ITEMS, 1, 1}, &done, WANTED, &seen};
    kf_launch launch;
    kf_launch_set(&launch, "help", function, (const int[3]){1, 1, 1}, &arguments, sizeof arguments);
    assert_int_equal(kf_backend_launch(backend, &launch, &error), KF_OK);
    assert_int_equal(done, ITEMS);
    assert_true(seen >= WANTED);
    kf_module_free(module);
    kf_backend_close(backend);
}

/* Where no file can be opened, such as /proc/meminfo, the amount of memory may be unknown, but it is not
 * zero. The cpu's name cannot be read either, and without it the device would be another one. */
static void memory_is_there_without_files(void **state) {
    (void)state;
    kf_backend *backend = NULL;
    kf_buffer *buffer = NULL;
    kf_device_info info;
    kf_error error = {0};
    struct rlimit before, none;
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    FILE *opened = fopen("/proc/meminfo", "re");
    const kf_status made = kf_buffer_create(backend, 80000, &buffer, &error),
                    described = kf_cpu_device_describe(&info, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_null(opened);
    if (made != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(described, KF_HOST);
    assert_non_null(strstr(error.message, "in /proc and /sys: Too many open files"));
    assert_true(info.memory_bytes >= 80000 && info.memory_free_bytes >= 80000);
    kf_buffer_free(buffer);
    kf_backend_close(backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_the_blocks),
        cmocka_unit_test(who_is_done_helps),
        cmocka_unit_test(memory_is_there_without_files),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
