/* Tests the cpu backend through the interface of all backends. Faults: an item runs twice or never, a copy
 * or a time is wrong, a bad request is taken. */
#include "tests/unit/scale_kernel.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/backend/backend.h"
#include "base/backend/cache.h"
#include "base/backend/cpu/cpu.h"
#include "base/backend/cpu/queue.h"
#include "base/backend/team/team.h"
#include "base/util/clock.h"
#include "base/util/text.h"
#include "tests/unit/check.h"

/* --- Opening ------------------------------------------------------------------------------------------ */

static void expect_bad_spec(const char *spec, const char *expected) {
    kf_backend *backend = NULL;
    kf_error error = {0};
    assert_int_equal(kf_backend_open(spec, &backend, &error), KF_BAD_INPUT);
    assert_null(backend);
    if (strstr(error.message, expected) == NULL) fail_msg("\"%s\" lacks \"%s\"", error.message, expected);
}

static void test_wrong_specs_name_the_right_form(void **state) {
    (void)state;
    expect_bad_spec("", "cpu, cpu:THREADS, cuda or cuda:N");
    expect_bad_spec("cpuu", "\"cpu\"");
    expect_bad_spec("cuda1", "\"cuda:1\"");
    expect_bad_spec("gpu", "\"cuda\"");
    expect_bad_spec("cpu:", "from 1 to");
    expect_bad_spec("cpu:0", "from 1 to");
    expect_bad_spec("cpu:-2", "from 1 to");
    expect_bad_spec("cpu:2x", "from 1 to");
    expect_bad_spec("cpu:99999999999999999999", "from 1 to");
    expect_bad_spec("cuda:x", "from 0 to");
    expect_bad_spec("tpu:0:1", "");
}

static void test_device_is_described(void **state) {
    (void)state;
    kf_backend *backend = open_cpu();
    const kf_device_info *device = kf_backend_device(backend);
    assert_string_equal(device->spec, "cpu:2");
    assert_string_equal(device->backend, "cpu");
    assert_int_equal(device->multiprocessors, 2);
    assert_true(device->warp_size >= 4 && device->warp_size <= 16);
    assert_true(strlen(device->name) > 0 && strlen(device->architecture) > 9 && strlen(device->compiler) > 3);
    assert_int_equal(strlen(device->identity), strlen("cpu-") + 16);
    assert_true(device->memory_free_bytes > 0 && device->memory_free_bytes <= device->memory_bytes);
    kf_device_info again;
    assert_int_equal(kf_cpu_device_describe(&again, NULL), KF_OK);
    assert_string_equal(again.identity, device->identity);
    kf_device_state now;
    kf_backend_device_state(backend, &now);
    assert_true(isnan(now.sm_clock_mhz) || (now.sm_clock_mhz > 100 && now.sm_clock_mhz < 10000));
    assert_true(isnan(now.power_w));
    kf_backend_close(backend);
}

/* Control groups of both versions, as files say it. */
static void test_memory_of_control_groups(void **state) {
    (void)state;
    const uint64_t machine = 8000000;
    char groups[KF_PATH], version_1[KF_PATH];
    kf_error error = {0};
    assert_int_equal(kf_path(groups, &error, "%s/groups", fixture_folder), KF_OK);
    assert_int_equal(kf_path(version_1, &error, "%s/memory", groups), KF_OK);
    assert_int_equal(kf_make_folders(version_1, &error), KF_OK);
    assert_int_equal(kf_cpu_memory_within(groups, machine, true), machine);
    fixture_write("groups/memory.max", "max\n");
    fixture_write("groups/memory.stat", "anon_thp 7\nanon 300000\nfile 600000\n");
    assert_int_equal(kf_cpu_memory_within(groups, machine, true), machine);
    fixture_write("groups/memory.max", "1000000\n");
    assert_int_equal(kf_cpu_memory_within(groups, machine, true), 700000);
    assert_int_equal(kf_cpu_memory_within(groups, machine, false), 1000000);
    assert_int_equal(kf_cpu_memory_within(groups, 500000, true), 500000);
    fixture_write("groups/memory/memory.limit_in_bytes", "900000\n");
    fixture_write("groups/memory/memory.stat", "rss 1\ntotal_rss 400000\n");
    assert_int_equal(kf_cpu_memory_within(groups, machine, true), 500000);
    fixture_write("groups/memory.stat", "anon 1000001\n"); /* more than allowed */
    assert_int_equal(kf_cpu_memory_within(groups, machine, true), 0);
}

static void test_missing_compiler_is_explained(void **state) {
    (void)state;
    kf_backend *backend = NULL;
    kf_error error = {0};
    setenv("KFTUNE_CC", "/nonexistent/compiler", 1);
    assert_int_equal(kf_backend_open("cpu", &backend, &error), KF_HOST);
    assert_non_null(strstr(error.message, "KFTUNE_CC=/nonexistent/compiler"));
    unsetenv("KFTUNE_CC");
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1);
    assert_int_equal(kf_backend_open("cpu", &backend, &error), KF_HOST);
    assert_non_null(strstr(error.message, "install gcc"));
    setenv("PATH", path, 1);
    free(path);
    kf_backend_close(open_cpu());
}

/* A program that fails has run. One that does not exist has not. */
static void test_how_programs_end(void **state) {
    (void)state;
    static const struct {
        const char *script;
        int exit_status, signal;
    } cases[] = {{"echo said", 0, 0}, {"echo said; exit 3", 3, 0}, {"echo said; kill -TERM $$", -1, SIGTERM}};
    kf_program_result result;
    kf_error error = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const words[] = {"sh", "-c", cases[i].script, NULL};
        if (kf_program_run(words, &result, &error) != KF_OK) fail_msg("%s", error.message);
        assert_int_equal(result.exit_status, cases[i].exit_status);
        assert_int_equal(result.signal, cases[i].signal);
        assert_string_equal(result.output, "said\n");
        free(result.output);
    }
    const char *const interrupted[] = {"sh", "-c", "kill -INT $$", NULL};
    assert_int_equal(kf_program_run(interrupted, &result, &error), KF_INTERRUPTED);
    assert_null(result.output);
    const char *const missing[] = {"/nonexistent/compiler", NULL};
    assert_int_equal(kf_program_run(missing, &result, &error), KF_HOST);
    assert_null(result.output);
    assert_string_equal(error.message, "/nonexistent/compiler cannot be run: No such file or directory");
}

/* A program's name may contain spaces. Words that are no program are a program and its options, quoted if
 * they contain spaces. */
static void test_compilers_with_spaces(void **state) {
    (void)state;
    char program[KF_PATH], words[2 * KF_PATH], command[3 * KF_PATH];
    const char *compiler = access("/usr/bin/gcc", X_OK) == 0 ? "/usr/bin/gcc" : "/usr/bin/cc";
    (void)snprintf(program, sizeof program, "%s/my compiler", fixture_folder);
    (void)snprintf(command, sizeof command, "printf '#!/bin/sh\nexec %s \"$@\"\n' >'%s' && chmod +x '%s'",
                   compiler, program, program);
    assert_int_equal(system(command), 0);
    for (int i = 0; i < 3; i++) {
        char number[16];
        (void)snprintf(words, sizeof words,
                       i == 0   ? "%s"
                       : i == 1 ? "'%s' -g0"
                                : "\"%s\" -DX='a b'",
                       program);
        (void)snprintf(number, sizeof number, "9%d", i);
        setenv("KFTUNE_CC", words, 1);
        kf_backend *backend = open_cpu();
        kf_build build;
        kf_module *module = load(backend, "kernels/test/scale.cu", number, &build);
        assert_false(build.cached);
        kf_module_free(module);
        kf_backend_close(backend);
    }
    unsetenv("KFTUNE_CC");
}

/* Within quotes the other kind of quote, blanks and tabs belong to the word. Outside, blanks and tabs end
 * it, however many there are. The compiler is a script that notes its words. */
static void test_words_of_a_compiler(void **state) {
    (void)state;
    static const struct {
        const char *words, *given;
    } cases[] = {{"-DA=1 -DB=2", "[-DA=1][-DB=2]"},
                 {"-DA=\"it's\" -DB=2", "[-DA=it's][-DB=2]"},
                 {"-DA='a \"b\"'\t-DB='2'", "[-DA=a \"b\"][-DB=2]"},
                 {" \t -DA='a\tb'  \t-DB=\"\"2", "[-DA=a\tb][-DB=2]"}};
    char program[KF_PATH], words[2 * KF_PATH], given[KF_PATH];
    (void)snprintf(program, sizeof program, "%s/words", fixture_folder);
    (void)snprintf(given, sizeof given, "%s/given", fixture_folder);
    const char *compiler = access("/usr/bin/gcc", X_OK) == 0 ? "/usr/bin/gcc" : "/usr/bin/cc";
    kf_text script = {0};
    kf_text_append(&script, "#!/bin/sh\nprintf '[%%s]' \"$@\" >>'%s'\nexec %s \"$@\"\n", given, compiler);
    fixture_write("words", script.text);
    assert_int_equal(chmod(program, 0755), 0);
    kf_text_free(&script);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t size = 0;
        kf_error error = {KF_OK, ""};
        kf_build build;
        char number[16];
        (void)snprintf(words, sizeof words, "%s %s", program, cases[i].words);
        (void)snprintf(number, sizeof number, "8%zu", i);
        setenv("KFTUNE_CC", words, 1);
        (void)remove(given);
        kf_backend *backend = open_cpu();
        kf_module_free(load(backend, "kernels/test/scale.cu", number, &build));
        kf_backend_close(backend);
        if (kf_file_read(given, 0, &text, &size, &error) != KF_OK) fail_msg("%s", error.message);
        if (strstr(text, cases[i].given) == NULL) fail_msg("%s: given as %s", cases[i].words, text);
        free(text);
    }
    unsetenv("KFTUNE_CC");
}

/* --- Compiling ---------------------------------------------------------------------------------------- */

static void test_second_load_comes_from_the_cache(void **state) {
    (void)state;
    kf_backend *backend = open_cpu();
    kf_build first, second, other;
    kf_module *one = load(backend, "kernels/test/scale.cu", "11", &first);
    kf_module *two = load(backend, "kernels/test/scale.cu", "11", &second);
    kf_module *three = load(backend, "kernels/test/scale.cu", "12", &other);
    assert_false(first.cached);
    assert_true(first.seconds > 0);
    assert_true(second.cached);
    assert_true(second.seconds == 0);
    assert_false(other.cached);
    assert_string_equal(first.hash, second.hash);
    assert_string_not_equal(first.hash, other.hash);
    kf_module_free(one);
    kf_module_free(two);
    kf_module_free(three);
    kf_backend_close(backend);
}

static float scaled_by(kf_backend *backend, kf_module *module) {
    kf_function *function = NULL;
    kf_buffer *buffer = NULL;
    float value = 2;
    kf_error error = {0};
    assert_int_equal(kf_module_function(module, "scale", &function, &error), KF_OK);
    assert_int_equal(kf_buffer_create(backend, sizeof value, &buffer, &error), KF_OK);
    assert_int_equal(kf_buffer_upload(buffer, 0, &value, sizeof value, &error), KF_OK);
    const scale_arguments arguments = {{1, 1, 1}, kf_buffer_address(buffer), 3};
    kf_launch launch;
    kf_launch_set(&launch, "scale", function, (const int[3]){8, 1, 1}, &arguments, sizeof arguments);
    assert_int_equal(kf_backend_launch(backend, &launch, &error), KF_OK);
    assert_int_equal(kf_backend_synchronize(backend, &error), KF_OK);
    assert_int_equal(kf_buffer_download(buffer, 0, &value, sizeof value, &error), KF_OK);
    kf_buffer_free(buffer);
    return value;
}

static void test_damaged_entry_is_built_again(void **state) {
    (void)state;
    kf_backend *backend = open_cpu();
    kf_build build;
    kf_module_free(load(backend, "kernels/test/scale.cu", "13", &build));
    char folder[KF_PATH], path[KF_PATH];
    assert_int_equal(kf_cache_kernel_folder(folder, NULL), KF_OK);
    assert_int_equal(kf_path(path, NULL, "%s/%s.so", folder, build.hash), KF_OK);
    assert_int_equal(truncate(path, 5000), 0);
    kf_module *module = load(backend, "kernels/test/scale.cu", "13", &build);
    assert_false(build.cached);
    assert_true(scaled_by(backend, module) == 2 * 3 * 13);
    kf_module_free(module);
    kf_backend_close(backend);
}

static void test_prebuilt_kernel_is_loaded_from_the_cache(void **state) {
    (void)state;
    kf_backend *backend = open_cpu();
    const kf_define define = {"FACTOR", "14"};
    const kf_source source = {.file = "kernels/test/scale.cu", .defines = &define, .define_count = 1};
    kf_build ahead, loaded;
    assert_int_equal(kf_source_prebuild(kf_backend_device(backend), &source, &ahead, NULL), KF_OK);
    assert_false(ahead.cached);
    kf_module *module = load(backend, "kernels/test/scale.cu", "14", &loaded);
    assert_true(loaded.cached);
    assert_string_equal(ahead.hash, loaded.hash);
    kf_module_free(module);
    kf_backend_close(backend);
}

static void expect_no_build(const char *text, const char *expected) {
    kf_backend *backend = open_cpu();
    const kf_source source = {.file = "kernels/test/wrong.cu"};
    kf_module *module = NULL;
    kf_error error = {0};
    fixture_write("data/kernels/test/wrong.cu", text);
    assert_int_equal(kf_module_load(backend, &source, &module, NULL, &error), KF_MACHINE);
    assert_null(module);
    if (strstr(error.message, expected) == NULL) fail_msg("\"%s\" lacks \"%s\"", error.message, expected);
    assert_null(strchr(error.message, '\n'));
    kf_backend_close(backend);
}

static void test_compile_errors_show_the_compilers_line(void **state) {
    (void)state;
    expect_no_build("#include \"portable.h\"\n\nint a = undeclared;\nint b = undeclared_too;\n",
                    "kernels/test/wrong.cu:3:9: error:");
    expect_no_build("#include \"portable.h\"\n#include \"gone.h\"\n", "gone.h");
    expect_no_build("void missing(void);\nvoid use(void) { missing(); }\n", "missing");
}

/* A compiler that crashes cannot compile the kernel, which is the kernel's fault. One that others end may. */
static void test_compilers_that_a_signal_ends(void **state) {
    (void)state;
    static const struct {
        const char *name, *says;
        kf_status status;
    } cases[] = {{"SEGV", "the compiler was ended by signal 11", KF_MACHINE},
                 {"TERM", "cannot compile here: Terminated", KF_HOST},
                 {"ALRM", "cannot compile here: Alarm clock", KF_HOST},
                 {"KILL", "cannot compile here: Killed", KF_HOST}};
    char program[KF_PATH], command[2 * KF_PATH];
    (void)snprintf(program, sizeof program, "%s/ended", fixture_folder);
    (void)snprintf(command, sizeof command, "chmod +x %s", program);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256], number[16];
        kf_error error = {0};
        kf_module *module = NULL;
        (void)snprintf(text, sizeof text,
                       "#!/bin/sh\ncase \"$*\" in *-shared*) kill -%s $$ ;; esac\nexec cc \"$@\"\n",
                       cases[i].name);
        (void)snprintf(number, sizeof number, "8%zu", i);
        fixture_write("ended", text);
        assert_int_equal(system(command), 0);
        setenv("KFTUNE_CC", program, 1);
        kf_backend *backend = open_cpu();
        kf_define define = {.name = "FACTOR"};
        kf_copy_text(define.value, sizeof define.value, number);
        const kf_source source = {.file = "kernels/test/scale.cu", .defines = &define, .define_count = 1};
        const kf_status status = kf_module_load(backend, &source, &module, NULL, &error);
        unsetenv("KFTUNE_CC");
        if (status != cases[i].status || strstr(error.message, cases[i].says) == NULL)
            fail_msg("SIG%s leads to %d: %s", cases[i].name, (int)status, error.message);
        kf_backend_close(backend);
    }
}

static void test_names_that_are_no_kernels(void **state) {
    (void)state;
    kf_backend *backend = open_cpu();
    kf_module *module = load(backend, "kernels/test/scale.cu", "1", NULL);
    kf_function *function = NULL;
    kf_error error = {0};
    const char *const names[] = {"scales", "printf", "malloc", ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(kf_module_function(module, names[i], &function, &error), KF_BAD_INPUT);
        assert_null(function);
    }
    assert_int_equal(kf_module_function(module, "scale", &function, &error), KF_OK);
    assert_int_equal(kf_function_resident_blocks(function, 0, 0), 0);
    assert_int_equal(kf_function_resident_blocks(function, 65536, 0), 1);
    assert_string_equal(kf_function_occupancy_limit(function, 128, 0), "");
    kf_module_free(module);
    kf_backend_close(backend);
}

/* The backend is opened here and used in children that build and run the same new kernel at once, since
 * opening it starts no thread. */
static void test_processes_build_the_same_kernel_at_once(void **state) {
    (void)state;
    enum { PROCESSES = 3 };
    char program[KF_PATH], calls[KF_PATH], text[3 * KF_PATH], *counted = NULL;
    size_t size = 0;
    kf_error error = {0};
    (void)snprintf(program, sizeof program, "%s/slow", fixture_folder);
    (void)snprintf(calls, sizeof calls, "%s/calls", fixture_folder);
    (void)snprintf(text, sizeof text,
                   "#!/bin/sh\ncase \"$*\" in *-shared*) echo >>'%s'; sleep 0.5 ;; esac\nexec cc \"$@\"\n",
                   calls);
    fixture_write("slow", text);
    assert_int_equal(chmod(program, 0700), 0);
    setenv("KFTUNE_CC", program, 1);
    kf_backend *backend = open_cpu();
    fflush(NULL);
    for (int p = 0; p < PROCESSES; p++) {
        if (fork() != 0) continue;
        alarm(60);
        kf_module *module = load(backend, "kernels/test/scale.cu", "15", NULL);
        const bool right = scaled_by(backend, module) == 2 * 3 * 15;
        _exit(right ? 0 : 1);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int ending;
        assert_true(wait(&ending) > 0);
        assert_int_equal(ending, 0);
    }
    kf_backend_close(backend);
    unsetenv("KFTUNE_CC");
    assert_int_equal(kf_file_read(calls, 0, &counted, &size, &error), KF_OK);
    assert_int_equal(size, 1); /* a line for each call: the others wait for the first */
    free(counted);
}

/* --- Memory ------------------------------------------------------------------------------------------- */

static void test_buffers_keep_their_bounds(void **state) {
    (void)state;
    kf_backend *backend = open_cpu();
    kf_buffer *small = NULL, *large = NULL;
    kf_error error = {0};
    unsigned char bytes[128];
    assert_int_equal(kf_buffer_create(backend, 0, &small, &error), KF_BAD_INPUT);
    assert_int_equal(kf_buffer_create(backend, 100, &small, &error), KF_OK);
    assert_int_equal(kf_buffer_create(backend, (size_t)5 << 20, &large, &error), KF_OK);
    assert_int_equal((uintptr_t)kf_buffer_address(small) % 64, 0);
    assert_int_equal((uintptr_t)kf_buffer_address(large) % (2 << 20), 0);
    assert_int_equal(kf_buffer_size(small), 100);

    assert_int_equal(kf_buffer_fill(small, 0xAB, &error), KF_OK);
    assert_int_equal(kf_buffer_fill(large, 0, &error), KF_OK);
    assert_int_equal(kf_buffer_upload(small, 90, "0123456789", 10, &error), KF_OK);
    assert_int_equal(kf_buffer_upload(small, 91, "0123456789", 10, &error), KF_BAD_INPUT);
    assert_int_equal(kf_buffer_upload(small, 100, "", 0, &error), KF_OK);
    assert_int_equal(kf_buffer_upload(small, 101, "", 0, &error), KF_BAD_INPUT);
    assert_int_equal(kf_buffer_upload(small, SIZE_MAX, "0123456789", 10, &error), KF_BAD_INPUT);
    assert_int_equal(kf_buffer_download(small, 1, bytes, 100, &error), KF_BAD_INPUT);
    assert_int_equal(kf_buffer_download(small, 10, bytes, SIZE_MAX, &error), KF_BAD_INPUT);
    assert_int_equal(kf_buffer_copy(small, large, 101, &error), KF_BAD_INPUT);
    assert_int_equal(kf_buffer_copy(large, small, 101, &error), KF_BAD_INPUT);
    assert_int_equal(kf_buffer_copy(large, small, 100, &error), KF_OK);
    assert_int_equal(kf_buffer_download(large, 80, bytes, 30, &error), KF_OK);
    assert_int_equal(bytes[9], 0xAB);
    assert_int_equal(bytes[10], '0');
    assert_int_equal(bytes[19], '9');
    assert_int_equal(bytes[20], 0);
    kf_buffer_free(small);
    kf_buffer_free(large);
    kf_backend_close(backend);
}

static void expect_out_of_memory(kf_backend *backend, size_t bytes) {
    kf_buffer *buffer = NULL;
    kf_error error = {0};
    assert_int_equal(kf_buffer_create(backend, bytes, &buffer, &error), KF_MACHINE);
    assert_null(buffer);
    assert_non_null(strstr(error.message, "out of memory"));
}

/* Plans that lack some of their awaits read memory that nothing has written. Places in lists among it must
 * not be those of an earlier plan, so memory begins as zeros. */
static void test_shuffled_work_finds_memory_of_zeros(void **state) {
    (void)state;
    enum { BYTES = 1 << 16 };
    static unsigned char found[BYTES];
    kf_error error = {0};
    kf_buffer *buffer;
    kf_backend *backend = open_cpu();
    must(kf_buffer_create(backend, BYTES, &buffer, &error), &error);
    must(kf_buffer_fill(buffer, 0x5a, &error), &error);
    kf_buffer_free(buffer);
    kf_cpu_shuffle(1, 0);
    must(kf_buffer_create(backend, BYTES, &buffer, &error), &error);
    must(kf_buffer_download(buffer, 0, found, BYTES, &error), &error);
    kf_buffer_free(buffer);
    kf_cpu_shuffle(0, -1);
    kf_backend_close(backend);
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(found[i], 0);
}

static void test_more_than_the_memory_is_refused(void **state) {
    (void)state;
    kf_backend *backend = open_cpu();
    const size_t available = kf_backend_device(backend)->memory_free_bytes;
    expect_out_of_memory(backend, SIZE_MAX);
    expect_out_of_memory(backend, available + (available >> 2));
#if defined(__SANITIZE_ADDRESS__)
    kf_backend_close(backend); /* the sanitizer would write to an eighth of what follows */
#else
    /* It is never touched and costs nothing, but what is promised must not be promised twice. */
    kf_buffer *half = NULL;
    kf_error error = {0};
    if (kf_buffer_create(backend, available / 2, &half, &error) != KF_OK) fail_msg("%s", error.message);
    expect_out_of_memory(backend, available / 8 * 5);
    kf_buffer_free(half);
    assert_int_equal(kf_buffer_create(backend, available / 8 * 5, &half, &error), KF_OK);
    kf_buffer_free(half);
    kf_backend_close(backend);
#endif
}

/* --- Launching ---------------------------------------------------------------------------------------- */

static void test_wrong_launches_are_refused(void **state) {
    (void)state;
    kf_backend *backend = open_cpu(), *other = open_cpu();
    kf_module *module = load(backend, "kernels/test/scale.cu", "1", NULL);
    kf_function *function = NULL;
    kf_launch launch;
    kf_error error = {0};
    float value = 1;
    unsigned char large[KF_ARGUMENT_BYTES + 1] = {0};
    assert_int_equal(kf_module_function(module, "scale", &function, &error), KF_OK);
    scale_arguments arguments = {{1, 1, 1}, &value, 2};

    const int blocks[][3] = {{0, 1, 1}, {1, -1, 1}, {INT_MAX, 1, 1}};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        kf_launch_set(&launch, "scale", function, blocks[i], &arguments, sizeof arguments);
        assert_int_equal(kf_backend_launch(backend, &launch, &error), KF_BAD_INPUT);
    }
    const int block[3] = {32, 1, 1};
    kf_launch_set(&launch, "scale", function, block, large, sizeof large);
    assert_int_equal(kf_backend_launch(backend, &launch, &error), KF_BAD_INPUT);
    kf_launch_set(&launch, "scale", function, block, &arguments, 8);
    assert_int_equal(kf_backend_launch(backend, &launch, &error), KF_BAD_INPUT);
    kf_launch_set(&launch, "scale", function, block, &arguments, sizeof arguments);
    assert_int_equal(kf_backend_launch(other, &launch, &error), KF_BAD_INPUT);
    assert_true(value == 1);
    arguments.extent[1] = 0;
    arguments.values = NULL;
    kf_launch_set(&launch, "scale", function, block, &arguments, sizeof arguments);
    assert_int_equal(kf_backend_launch(backend, &launch, &error), KF_OK);
    kf_module_free(module);
    kf_backend_close(backend);
    kf_backend_close(other);
}

static void test_graph_replays_copies_of_its_launches(void **state) {
    (void)state;
    kf_backend *backend = open_cpu();
    kf_module *module = load(backend, "kernels/test/scale.cu", "1", NULL);
    kf_function *function = NULL;
    kf_graph *graph = NULL, *empty = NULL;
    kf_error error = {0};
    float values[3] = {1, 1, 1};
    assert_int_equal(kf_module_function(module, "scale", &function, &error), KF_OK);
    scale_arguments all = {{3, 1, 1}, values, 2}, two = {{2, 1, 1}, values, 5}, none = {{0, 1, 1}, NULL, 7};
    kf_launch launches[3];
    const int block[3] = {8, 1, 1};
    kf_launch_set(&launches[0], "all", function, block, &all, sizeof all);
    kf_launch_set(&launches[1], "none", function, block, &none, sizeof none);
    kf_launch_set(&launches[2], "two", function, block, &two, sizeof two);
    const kf_launch *const list[] = {&launches[0], &launches[1], &launches[2]};
    assert_int_equal(kf_graph_create(backend, list, 3, &graph, &error), KF_OK);
    assert_int_equal(kf_graph_create(backend, list, 0, &empty, &error), KF_OK);
    memset(launches, 0, sizeof launches);
    for (int i = 0; i < 2; i++)
        assert_int_equal(kf_graph_launch(graph, &error), KF_OK);
    assert_int_equal(kf_graph_launch(empty, &error), KF_OK);
    assert_true(values[0] == 100 && values[1] == 100 && values[2] == 4);
    kf_graph_free(graph);
    kf_graph_free(empty);
    kf_module_free(module);
    kf_backend_close(backend);
}

static void test_events_measure_time(void **state) {
    (void)state;
    kf_backend *backend = open_cpu();
    kf_event *start = NULL, *stop = NULL;
    kf_error error = {0};
    double elapsed = 0;
    const double begin = kf_clock_seconds();
    assert_int_equal(kf_event_create(backend, &start, &error), KF_OK);
    assert_int_equal(kf_event_create(backend, &stop, &error), KF_OK);
    assert_int_equal(kf_event_record(start, &error), KF_OK);
    assert_int_equal(kf_event_elapsed_us(start, stop, &elapsed, &error), KF_BAD_INPUT);
    assert_true(isnan(elapsed));
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    assert_int_equal(kf_event_record(stop, &error), KF_OK);
    assert_int_equal(kf_event_elapsed_us(start, stop, &elapsed, &error), KF_OK);
    assert_true(elapsed >= 20e3 && elapsed <= 1.01e6 * (kf_clock_seconds() - begin));
    kf_event_free(start);
    kf_event_free(stop);
    kf_backend_close(backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        /* First, as no launch must come before a fork. */
        cmocka_unit_test(test_processes_build_the_same_kernel_at_once),
        cmocka_unit_test(test_wrong_specs_name_the_right_form),
        cmocka_unit_test(test_device_is_described),
        cmocka_unit_test(test_memory_of_control_groups),
        cmocka_unit_test(test_missing_compiler_is_explained),
        cmocka_unit_test(test_how_programs_end),
        cmocka_unit_test(test_compilers_with_spaces),
        cmocka_unit_test(test_words_of_a_compiler),
        cmocka_unit_test(test_second_load_comes_from_the_cache),
        cmocka_unit_test(test_damaged_entry_is_built_again),
        cmocka_unit_test(test_prebuilt_kernel_is_loaded_from_the_cache),
        cmocka_unit_test(test_compile_errors_show_the_compilers_line),
        cmocka_unit_test(test_compilers_that_a_signal_ends),
        cmocka_unit_test(test_names_that_are_no_kernels),
        cmocka_unit_test(test_buffers_keep_their_bounds),
        cmocka_unit_test(test_shuffled_work_finds_memory_of_zeros),
        cmocka_unit_test(test_more_than_the_memory_is_refused),
        cmocka_unit_test(test_wrong_launches_are_refused),
        cmocka_unit_test(test_graph_replays_copies_of_its_launches),
        cmocka_unit_test(test_events_measure_time),
    };
    return cmocka_run_group_tests(tests, write_sources, fixture_teardown);
}
