/* Tests the cuda backend where there is no GPU: NVRTC, the compile cache, and missing libraries. Faults: a
 * stale cache entry is used, or a missing part ends in a crash instead of one line. test_backend_gpu.c has
 * the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/backend/backend.h"
#include "base/backend/cache.h"
#include "base/backend/team/team.h"
#include "harness/worker/builder.h"
#include "tests/unit/kernel_folder.h"

static const char axpy_text[] =
    "#include \"portable.h\"\n"
    "#include \"factor.h\"\n"
    "typedef struct axpy_arguments { int extent[3]; const float *x; float *y; } axpy_arguments;\n"
    "KF_KERNEL(axpy, axpy_arguments) {\n"
    "    (void)y, (void)z;\n"
    "    a->y[x] += (float)(KF_FACTOR) * a->x[x];\n"
    "}\n";
static const char wrong_text[] = "#include \"portable.h\"\n"
                                 "typedef struct bad_arguments { int extent[3]; float *y; } bad_arguments;\n"
                                 "static int never_called(void) { return 3; }\n"
                                 "KF_KERNEL(bad, bad_arguments) {\n"
                                 "    a->y[x] = missing_factor;\n"
                                 "    a->y[x] = another_factor;\n"
                                 "}\n";
/* This source uses what portable.h promises, once each. */
static const char everything_text[] =
    "#include \"portable.h\"\n"
    "typedef struct all_arguments {\n"
    "    int extent[3];\n"
    "    int *integers; kf_int64 *longs; float *floats; double *doubles;\n"
    "} all_arguments;\n"
    "KF_CONSTANT int offsets[3] = {0, 1, 2};\n"
    "KF_SCALAR_KERNEL(all, all_arguments) {\n"
    "    const int *KF_RESTRICT offset = offsets;\n"
    "    (void)y, (void)z;\n"
    "    KF_UNROLL for (int i = 0; i < 3; i++) kf_atomic_add_int(a->integers + offset[i], x);\n"
    "    kf_atomic_compare_swap_int(a->integers, x, 7);\n"
    "    kf_atomic_add_int64(a->longs, (kf_int64)(kf_uint64)x);\n"
    "    kf_atomic_add_float(a->floats, 1.0f);\n"
    "    kf_atomic_add_double(a->doubles, 1.0);\n"
    "}\n";

static kf_device_info hopper(void) {
    kf_device_info info;
    memset(&info, 0, sizeof info);
    (void)snprintf(info.spec, sizeof info.spec, "cuda:0");
    (void)snprintf(info.backend, sizeof info.backend, "cuda");
    (void)snprintf(info.architecture, sizeof info.architecture, "sm_90");
    return info;
}

static kf_status prebuild(const char *file, const kf_define *defines, int count, kf_build *build,
                          kf_error *error) {
    const kf_device_info info = hopper();
    const kf_source source = {.file = file, .defines = defines, .define_count = count};
    memset(error, 0, sizeof *error);
    return kf_source_prebuild(&info, &source, build, error);
}

/* Skips the test where kernels cannot be compiled. */
static void need_nvrtc(void) {
    kf_build build;
    kf_error error;
    if (prebuild("kernels/test/everything.cu", NULL, 0, &build, &error) == KF_OK) return;
    if (!strstr(error.message, "libnvrtc") && !strstr(error.message, "without CUDA"))
        fail_msg("%s", error.message);
    print_message("%s\n", error.message);
    skip();
}

static void missing_nvrtc_is_named_with_its_cure(void **state) {
    (void)state;
#ifndef KF_HAVE_CUDA
    skip();
#endif
    (void)fflush(NULL);
    const pid_t child = fork(); /* NVRTC is looked for once a process */
    if (child == 0) {
        kf_build build;
        kf_error error;
        (void)setenv("KFTUNE_NVRTC", "/nonexistent/libnvrtc.so", 1);
        const kf_status status = prebuild("kernels/test/axpy.cu", NULL, 0, &build, &error);
        const bool named = strstr(error.message, "KFTUNE_NVRTC") && strstr(error.message, "/nonexistent/");
        _exit(status == KF_HOST && named && !strchr(error.message, '\n') ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void machine_code_is_kept_in_the_cache(void **state) {
    (void)state;
    const kf_define half[] = {{"KF_FACTOR", "0.5"}}, third[] = {{"KF_FACTOR", "(1.0 / 3.0)"}};
    kf_build first, second, other;
    kf_error error;
    need_nvrtc();
    assert_int_equal(prebuild("kernels/test/axpy.cu", half, 1, &first, &error), KF_OK);
    assert_false(first.cached);
    assert_true(first.seconds > 0.0);
    assert_int_equal(prebuild("kernels/test/axpy.cu", half, 1, &second, &error), KF_OK);
    assert_true(second.cached);
    assert_true(second.seconds == 0.0);
    assert_string_equal(first.hash, second.hash);
    assert_int_equal(prebuild("kernels/test/axpy.cu", third, 1, &other, &error), KF_OK);
    assert_false(other.cached);
    assert_string_not_equal(first.hash, other.hash);

    void *cubin = NULL;
    size_t size = 0;
    assert_true(kf_cache_get(first.hash, "cubin", &cubin, &size));
    assert_true(size > 64);
    assert_memory_equal(cubin,
                        "\x7f"
                        "ELF",
                        4);
    assert_non_null(memmem(cubin, size, "axpy", 4));
    free(cubin);
}

/* A process that compiles ahead works on several sources, of which one does not compile. */
static void a_process_that_stays_compiles_by_itself(void **state) {
    (void)state;
    need_nvrtc();
    (void)fflush(NULL);
    const pid_t child = fork(); /* then it may not fork children that open a device */
    if (child == 0) {
        const kf_device_info info = hopper();
        const kf_define fifth[] = {{"KF_FACTOR", "0.2"}}, sixth[] = {{"KF_FACTOR", "0.16"}};
        kf_build build;
        kf_error error;
        kf_compiler_stay(&info);
        const bool first =
            prebuild("kernels/test/axpy.cu", fifth, 1, &build, &error) == KF_OK && !build.cached;
        const bool wrong = prebuild("kernels/test/wrong.cu", NULL, 0, &build, &error) == KF_MACHINE &&
                           strstr(error.message, "missing_factor") != NULL;
        const bool second =
            prebuild("kernels/test/axpy.cu", sixth, 1, &build, &error) == KF_OK && !build.cached;
        _exit(first && wrong && second ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Visits a config that needs axpy.cu with its factor, and wrong.cu if the factor is 8. */
static kf_status visit_axpy(const kf_problem *problem, const kf_config *config, const kf_device_info *info,
                            kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                            void *data, kf_error *error) {
    (void)problem, (void)info;
    long factor = 0;
    KF_TRY(kf_config_integer(config, "factor", &factor, error));
    kf_define define[] = {{"KF_FACTOR", ""}};
    (void)snprintf(define[0].value, sizeof define[0].value, "%ld", factor);
    const kf_source good = {.file = "kernels/test/axpy.cu", .defines = define, .define_count = 1},
                    bad = {.file = "kernels/test/wrong.cu"};
    KF_TRY(visit(&good, data, error));
    return factor == 8 ? visit(&bad, data, error) : KF_OK;
}

static void compiling_ahead_starts_one_compiler_for_all(void **state) {
    (void)state;
    need_nvrtc();
    static const long factors[] = {7, 8, 7, 9};
    enum { CONFIGS = 4, DIFFERENT = 4, PROCESSES = 3 };
    const kf_system system = {.sources = visit_axpy};
    kf_problem problem = {.system = &system};
    const kf_trial trial = {.problem = &problem};
    const kf_setting setting = {.problem = &problem, .trial = &trial};
    const kf_device_info info = hopper();
    size_t tickets[CONFIGS];
    kf_source_builder *builder = kf_builder_open(&setting, &info, PROCESSES);
    assert_true(kf_builder_ready(builder, 0));
    for (int i = 0; i < CONFIGS; i++) {
        kf_config config = {.count = 0};
        kf_config_set_integer(&config, "factor", factors[i]);
        tickets[i] = kf_builder_add(builder, &config);
    }
    assert_false(kf_builder_ready(builder, tickets[0]));
    assert_true(kf_builder_wait(builder, tickets[3], 0.0, NULL, NULL));
    assert_true(kf_builder_wait_all(builder, NULL, NULL));
    for (int i = 0; i < CONFIGS; i++)
        assert_true(kf_builder_ready(builder, tickets[i]));
    const kf_builder_figures *figures = kf_builder_tell(builder);
    assert_int_equal(figures->sources, DIFFERENT);
    assert_in_range(figures->compilers, 1, PROCESSES);
    assert_true(figures->compiling_seconds > 0.0);
    kf_builder_close(builder);
    const kf_define define[] = {{"KF_FACTOR", "9"}};
    kf_build build;
    kf_error error;
    assert_int_equal(prebuild("kernels/test/axpy.cu", define, 1, &build, &error), KF_OK);
    assert_true(build.cached);
}

static void changed_include_is_compiled_again(void **state) {
    (void)state;
    const kf_define factor[] = {{"KF_FACTOR", "2.0"}};
    kf_build before, after;
    kf_error error;
    need_nvrtc();
    assert_int_equal(prebuild("kernels/test/axpy.cu", factor, 1, &before, &error), KF_OK);
    assert_int_equal(write_kernel("factor.h", "/* changed */\n"), 0);
    assert_int_equal(prebuild("kernels/test/axpy.cu", factor, 1, &after, &error), KF_OK);
    assert_false(after.cached);
    assert_string_not_equal(before.hash, after.hash);
}

/* The working folder has a kernels/ of its own, as a source tree has. It must not be used. */
static void includes_are_not_the_working_folders(void **state) {
    (void)state;
    const kf_define factor[] = {{"KF_FACTOR", "4.0"}};
    char before[KF_PATH], folder[] = "/tmp/kftune-includes-XXXXXX";
    kf_build build;
    kf_error error;
    need_nvrtc();
    assert_non_null(getcwd(before, sizeof before));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("kernels", 0700) | mkdir("kernels/test", 0700), 0);
    assert_int_equal(kf_file_write_own("kernels/test/factor.h", "#error of the working folder\n", 29, &error),
                     KF_OK);
    const kf_status status = prebuild("kernels/test/axpy.cu", factor, 1, &build, &error);
    assert_int_equal(
        unlink("kernels/test/factor.h") | rmdir("kernels/test") | rmdir("kernels") | chdir(before), 0);
    assert_int_equal(rmdir(folder), 0);
    if (status != KF_OK) fail_msg("%s", error.message);
}

static void compile_error_comes_in_one_line(void **state) {
    (void)state;
    kf_build build;
    kf_error error;
    need_nvrtc();
    assert_int_equal(prebuild("kernels/test/wrong.cu", NULL, 0, &build, &error), KF_MACHINE);
    const char *first = strstr(error.message, "kernels/test/wrong.cu(5): error"),
               *second = strstr(error.message, "another_factor");
    assert_non_null(first);
    assert_non_null(strstr(first, "missing_factor"));
    assert_non_null(second);
    assert_true(first < second);
    assert_null(strstr(error.message, "never_called")); /* a warning */
    assert_null(strchr(error.message, '\n'));
}

/* --- Kernels that are not kftune's ---------------------------------------------------------------------- */

static const char foreign_text[] =
    "#ifdef HALF\n#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n#include <mma.h>\n#endif\n"
    "#ifdef ASKS\n#include <asked.h>\n#endif\n"
    "template <typename T, int N> __global__ void gemm(T *a) { a[0] = N; }\n"
    "__global__ void plain(float *a) { a[0] = sinf(a[1]); }\n"
    "extern \"C\" __global__ void symbol(float *a) { a[0] = 1; }\n"
    "namespace mine { __global__ void inside(int *a) { *a = 1; } }\n"
    "__global__ void twice(float *a) { a[0] = 1; }\n"
    "__global__ void twice(double *a) { a[0] = 1; }\n"
    "void host(float *a) { a[0] = 1; }\n";

static kf_status build_named(const char *name, const kf_define *define, const char *const *options,
                             int option_count, kf_build *build, kf_error *error) {
    const kf_device_info info = hopper();
    const kf_source source = {.file = "kernels/test/foreign.cu",
                              .name = name,
                              .defines = define,
                              .define_count = define != NULL,
                              .options = options,
                              .option_count = option_count};
    memset(error, 0, sizeof *error);
    memset(build, 0, sizeof *build);
    /* Compiling ahead goes over a text, which is the same for the same source. */
    char *text = kf_source_text(&source);
    kf_source *copy = kf_source_from_text(text);
    char *again = kf_source_text(copy);
    assert_string_equal(text, again);
    const kf_status status = kf_source_prebuild(&info, copy, build, error);
    kf_source_free(copy);
    free(text);
    free(again);
    return status;
}

/* A kernel is found by its name in C++, whatever its symbol is. A name that does not exist is reported. */
static void kernels_are_found_by_their_names(void **state) {
    (void)state;
    static const char *const names[][2] = {{"plain", "_Z5plainPf"},
                                           {"symbol", "symbol"},
                                           {"mine::inside", "_ZN4mine6insideEPi"},
                                           {"gemm<float, 16>", "_Z4gemmIfLi16EEvPT_"},
                                           {"gemm<double, TILE>", "_Z4gemmIdLi8EEvPT_"}};
    static const char *const wrong[][2] = {{"nowhere", "identifier \"nowhere\" is undefined"},
                                           {"twice", "overloaded function"},
                                           {"gemm", "function template"},
                                           {"host", "non-__global__"}};
    const kf_define tile = {"TILE", "8"};
    kf_build build, again;
    kf_error error;
    need_nvrtc();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *cubin = NULL;
        size_t size = 0;
        if (build_named(names[i][0], &tile, NULL, 0, &build, &error) != KF_OK) fail_msg("%s", error.message);
        assert_int_equal(build_named(names[i][0], &tile, NULL, 0, &again, &error), KF_OK);
        assert_true(again.cached);
        assert_string_equal(build.hash, again.hash);
        assert_true(kf_cache_get(build.hash, "cubin", &cubin, &size));
        /* The symbol stands at its end, followed by its length. */
        const size_t length = strlen(names[i][1]) + 1;
        assert_memory_equal((char *)cubin + size - length - 4, names[i][1], length);
        free(cubin);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(build_named(wrong[i][0], &tile, NULL, 0, &build, &error), KF_MACHINE);
        if (strstr(error.message, "has no kernel") == NULL || strstr(error.message, wrong[i][0]) == NULL ||
            strstr(error.message, wrong[i][1]) == NULL || strstr(error.message, "nv_name_map") != NULL)
            fail_msg("%s", error.message);
    }
}

/* CUDA's headers are found where the toolkit is. If they are nowhere, the message says where it looked. */
static void headers_of_cuda_are_found(void **state) {
    (void)state;
    const kf_define half = {"HALF", "1"}, asks = {"ASKS", "1"};
    kf_build build;
    kf_error error;
    need_nvrtc();
    assert_int_equal(build_named("plain", &asks, NULL, 0, &build, &error), KF_MACHINE);
    assert_non_null(strstr(error.message, "asked.h"));
    const bool none = strstr(error.message, "CUDA_HOME") != NULL;
    assert_true(none || strstr(error.message, "neither beside the kernel") != NULL);
    const kf_status status = build_named("plain", &half, NULL, 0, &build, &error);
    if (!none && status != KF_OK) fail_msg("%s", error.message);
    if (none) assert_int_equal(status, KF_MACHINE);
}

/* An option that a kernel's author gives the compiler reaches it, and is a part of what is compiled. */
static void options_reach_the_compiler(void **state) {
    (void)state;
    char folder[KF_PATH + 16], header[2 * KF_PATH];
    const kf_define asks = {"ASKS", "1"};
    kf_build before, after, plain, fast;
    kf_error error;
    need_nvrtc();
    (void)snprintf(folder, sizeof folder, "-I%s/asked", kernel_scratch);
    assert_int_equal(kf_make_folders(folder + 2, &error), KF_OK);
    (void)snprintf(header, sizeof header, "%s/asked.h", folder + 2);
    const char *const options[] = {folder}, *const fast_math[] = {"--use_fast_math", "--std=c++11"};
    assert_int_equal(kf_file_write_own(header, "#define ASKED 1\n", 16, &error), KF_OK);
    if (build_named("plain", &asks, options, 1, &before, &error) != KF_OK) fail_msg("%s", error.message);
    /* A changed header there is compiled anew. */
    assert_int_equal(kf_file_write_own(header, "#define ASKED 2\n", 16, &error), KF_OK);
    assert_int_equal(build_named("plain", &asks, options, 1, &after, &error), KF_OK);
    assert_string_not_equal(before.hash, after.hash);
    assert_int_equal(build_named("plain", NULL, NULL, 0, &plain, &error), KF_OK);
    assert_int_equal(build_named("plain", NULL, fast_math, 2, &fast, &error), KF_OK);
    void *slow_code = NULL, *fast_code = NULL;
    size_t slow_size = 0, fast_size = 0;
    assert_true(kf_cache_get(plain.hash, "cubin", &slow_code, &slow_size));
    assert_true(kf_cache_get(fast.hash, "cubin", &fast_code, &fast_size));
    assert_true(fast_size < slow_size); /* without the slow path of sinf */
    free(slow_code);
    free(fast_code);
}

static void unknown_architecture_is_refused(void **state) {
    (void)state;
    kf_device_info info = hopper();
    const kf_source source = {.file = "kernels/test/everything.cu"};
    kf_build build;
    kf_error error = {0};
    need_nvrtc();
    (void)snprintf(info.architecture, sizeof info.architecture, "sm_13");
    assert_int_equal(kf_source_prebuild(&info, &source, &build, &error), KF_MACHINE);
    assert_non_null(strstr(error.message, "architecture"));
}

static void missing_source_is_bad_input(void **state) {
    (void)state;
    kf_build build;
    kf_error error;
    need_nvrtc();
    assert_int_equal(prebuild("kernels/test/nowhere.cu", NULL, 0, &build, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "nowhere.cu"));
    assert_int_equal(prebuild("../secret.cu", NULL, 0, &build, &error), KF_BAD_INPUT);
}

/* Each shipped kernel is also CUDA C, with each of the values that a define can have used once. */
static void shipped_kernels_compile(void **state) {
    (void)state;
    static const char *const files[] = {
        "probe/simple.cu",          "kinetic/boundary.cu", "kinetic/fused.cu",   "kinetic/immersed.cu",
        "kinetic/immersed_band.cu", "kinetic/motion.cu",   "kinetic/order.cu",   "kinetic/separate.cu",
        "kinetic/state.cu",         "kinetic/velocity.cu", "kinetic/moments.cu", "kinetic/links.cu",
        "kinetic/wall.cu",          "smoke/tracers.cu",    "smoke/picture.cu"};
    static const kf_define single[] = {
        {"KF_STORAGE", "0"},      {"KF_INDEX64", "0"},          {"KF_LAYOUT", "2"},
        {"KF_ALPHA_LOG2", "5"},   {"KF_COLLISION", "2"},        {"KF_RATE_RULE", "1"},
        {"KF_SPLIT", "2"},        {"KF_BODY_FORCE", "1"},       {"KF_FIXED_POINT_FORCE", "0"},
        {"KF_MOVING", "1"},       {"KF_FACE_0", "3"},           {"KF_FACE_1", "4"},
        {"KF_FACE_2", "2"},       {"KF_FACE_3", "1"},           {"KF_FACE_4", "0"},
        {"KF_FACE_5", "0"},       {"KF_SEGMENT_LENGTH", "1"},   {"KF_FOLDED_BOUNDARY", "1"},
        {"KF_ALIGNED_ROWS", "1"}, {"KF_NODES_PER_THREAD", "2"}, {"KF_FORM", "0"},
        {"KF_SEGMENTS", "0"},     {"KF_MASKED_BAND", "1"},      {"KF_CELLS", "1"},
        {"KF_MOMENTS", "1"},      {"KF_LISTED", "1"},           {"KF_TILE_X", "32"},
        {"KF_TILE_Y", "8"},       {"KF_SPECULAR", "1"},         {"KF_WRAP", "5"},
        {"KF_FREE", "1"}};
    static const kf_define twice[] = {{"KF_STORAGE", "2"},
                                      {"KF_INDEX64", "1"},
                                      {"KF_LAYOUT", "0"},
                                      {"KF_ALPHA_LOG2", "0"},
                                      {"KF_COLLISION", "0"},
                                      {"KF_RATE_RULE", "0"},
                                      {"KF_SPLIT", "1"},
                                      {"KF_BODY_FORCE", "0"},
                                      {"KF_FIXED_POINT_FORCE", "1"},
                                      {"KF_MOVING", "0"},
                                      {"KF_FACE_0", "1"},
                                      {"KF_FACE_1", "1"},
                                      {"KF_FACE_2", "1"},
                                      {"KF_FACE_3", "1"},
                                      {"KF_FACE_4", "1"},
                                      {"KF_FACE_5", "1"},
                                      {"KF_SEGMENT_LENGTH", "16"},
                                      {"KF_FOLDED_BOUNDARY", "0"},
                                      {"KF_ALIGNED_ROWS", "0"},
                                      {"KF_NODES_PER_THREAD", "1"},
                                      {"KF_FORM", "0"},
                                      {"KF_SEGMENTS", "1"},
                                      {"KF_SEGMENT_LANES", "8"},
                                      {"KF_MASKED_BAND", "1"},
                                      {"KF_CELLS", "0"},
                                      {"KF_MOMENTS", "0"},
                                      {"KF_LISTED", "0"},
                                      {"KF_TILE_X", "64"},
                                      {"KF_TILE_Y", "1"},
                                      {"KF_SPECULAR", "0"},
                                      {"KF_WRAP", "0"},
                                      {"KF_FREE", "0"}};
    need_nvrtc();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char file[64];
        kf_build build;
        kf_error error;
        (void)snprintf(file, sizeof file, "kernels/%s", files[i]);
        /* Moments have a kernel file of their own. The fused one is never compiled for them. */
        kf_define defines[sizeof single / sizeof single[0]];
        memcpy(defines, single, sizeof single);
        for (size_t d = 0; d < sizeof single / sizeof single[0]; d++)
            if (strcmp(files[i], "kinetic/fused.cu") == 0 && strcmp(defines[d].name, "KF_MOMENTS") == 0)
                defines[d].value[0] = '0';
        if (prebuild(file, defines, sizeof single / sizeof single[0], &build, &error) != KF_OK)
            fail_msg("%s", error.message);
        if (prebuild(file, twice, sizeof twice / sizeof twice[0], &build, &error) != KF_OK)
            fail_msg("%s", error.message);
    }
    enum { COUNT = sizeof single / sizeof single[0] };
    kf_define patches[COUNT + 2] = {{"KF_PATCH", "256"}, {"KF_SEGMENT_LANES", "8"}};
    kf_define posed[COUNT + 3] = {{"KF_OWN_POSE", "1"}}; /* of a prescribed motion */
    kf_build build;
    kf_error error;
    memcpy(patches + 2, single, sizeof single);
    if (prebuild("kernels/kinetic/immersed_band.cu", patches, COUNT + 2, &build, &error) != KF_OK)
        fail_msg("%s", error.message);
    memcpy(posed + 1, patches, sizeof patches);
    for (size_t i = 0; i < COUNT + 3; i++)
        if (strcmp(posed[i].name, "KF_FREE") == 0) (void)snprintf(posed[i].value, sizeof posed[i].value, "0");
    if (prebuild("kernels/kinetic/immersed_band.cu", posed, COUNT + 3, &build, &error) != KF_OK)
        fail_msg("%s", error.message);
}

/* Ceilings, clocks, planted regressions and counters are measured with these kernels. */
static void measuring_kernels_compile(void **state) {
    (void)state;
    static const struct {
        const char *file, *bits;
    } sources[] = {{"kernels/roofs/copy.cu", "32"},         {"kernels/roofs/atomics.cu", "32"},
                   {"kernels/roofs/multiply_add.cu", "16"}, {"kernels/roofs/multiply_add.cu", "32"},
                   {"kernels/roofs/multiply_add.cu", "64"}, {"kernels/probe/busy.cu", "32"},
                   {"kernels/probe/clock.cu", "32"},        {"kernels/probe/truth.cu", "32"}};
    need_nvrtc();
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        kf_define bits = {"ROOF_BITS", ""};
        kf_build build;
        kf_error error;
        (void)snprintf(bits.value, sizeof bits.value, "%s", sources[i].bits);
        if (prebuild(sources[i].file, &bits, 1, &build, &error) != KF_OK) fail_msg("%s", error.message);
    }
}

static void without_a_driver_the_reason_is_plain(void **state) {
    (void)state;
    char why[512] = "";
    kf_backend *backend = NULL;
    kf_device_info info;
    kf_error error = {0};
    if (kf_cuda_device_count(why, sizeof why) > 0) skip();
    assert_true(strlen(why) > 0);
    assert_null(strchr(why, '\n'));
    assert_int_equal(kf_backend_open("cuda:0", &backend, &error), KF_HOST);
    assert_null(backend);
    assert_true(strlen(error.message) > 0);
    assert_null(strchr(error.message, '\n'));
    assert_int_equal(kf_cuda_device_describe(0, &info, &error), KF_HOST);
    if (strstr(why, "without CUDA")) return;
    /* Both ways give the same reason, and what to do about it. */
    assert_string_equal(why, error.message);
    if (strstr(why, "libcuda.so.1")) assert_non_null(strstr(why, "install the NVIDIA driver"));
}

static int set_up(void **state) {
    (void)state;
    return make_kernel_folder() || write_kernel("factor.h", "") || write_kernel("axpy.cu", axpy_text) ||
           write_kernel("wrong.cu", wrong_text) || write_kernel("everything.cu", everything_text) ||
           write_kernel("foreign.cu", foreign_text);
}

static int tear_down(void **state) {
    (void)state;
    return remove_kernel_folder();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_nvrtc_is_named_with_its_cure),
        cmocka_unit_test(machine_code_is_kept_in_the_cache),
        cmocka_unit_test(a_process_that_stays_compiles_by_itself),
        cmocka_unit_test(compiling_ahead_starts_one_compiler_for_all),
        cmocka_unit_test(changed_include_is_compiled_again),
        cmocka_unit_test(includes_are_not_the_working_folders),
        cmocka_unit_test(compile_error_comes_in_one_line),
        cmocka_unit_test(kernels_are_found_by_their_names),
        cmocka_unit_test(headers_of_cuda_are_found),
        cmocka_unit_test(options_reach_the_compiler),
        cmocka_unit_test(unknown_architecture_is_refused),
        cmocka_unit_test(missing_source_is_bad_input),
        cmocka_unit_test(shipped_kernels_compile),
        cmocka_unit_test(measuring_kernels_compile),
        cmocka_unit_test(without_a_driver_the_reason_is_plain),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
