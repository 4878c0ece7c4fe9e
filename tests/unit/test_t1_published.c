/* Tests kernels as others publish them: C++ functions and templates, headers of other platforms, OpenCL,
 * several files, C++ and OpenMP, and other ways of writing their files. Faults: one of these is refused or
 * misread. */
#include "tests/unit/t1_fixture.h"

#include <math.h>

#include <float.h>

#include "base/backend/team/team.h"

static void write_file(const char *name, const char *text) {
    assert_int_equal(kf_file_write_atomic(problem_path(name), text, strlen(text), NULL), KF_OK);
}

/* Writes made.t1.json with one parameter `n` of 1 and 2, and the given text. */
static kf_problem *make_problem(const char *kernel, const char *parameters, const char *arguments) {
    kf_text text = {0};
    kf_problem *problem = NULL;
    kf_error error = {KF_OK, ""};
    kf_text_append(
        &text,
        "{\"ConfigurationSpace\": {\"TuningParameters\": [%s]}, \"KernelSpecification\": {%s, "
        "\"Arguments\": [%s]}}",
        parameters != NULL ? parameters : "{\"Name\": \"n\", \"Type\": \"int\", \"Values\": [1, 2]}", kernel,
        arguments != NULL ? arguments
                          : "{\"Name\": \"out\", \"Type\": \"float\", \"MemoryType\": \"Vector\", "
                            "\"AccessType\": \"ReadWrite\", \"Size\": 64}");
    write_file("made.t1.json", text.text);
    kf_text_free(&text);
    if (kf_problem_open(problem_path("made.t1.json"), "t1", NULL, &problem, &error) != KF_OK)
        fail_msg("%s", error.message);
    return problem;
}

/* --- Compiling for a GPU -------------------------------------------------------------------------------- */

static kf_status compile(const kf_source *source, void *data, kf_error *error) {
    kf_device_info info = {.backend = "cuda", .spec = "cuda:0", .architecture = "sm_90"};
    return kf_source_prebuild(&info, source, data, error);
}

/* Compiles the default config of a kernel for a GPU. With `says` it fails with that part of the message,
 * and with NULL it compiles. Skips the test where there is no NVRTC. */
static void expect_compiled(const char *kernel, const char *says) {
    kf_problem *problem = make_problem(kernel, NULL, NULL);
    kf_build build;
    kf_error error = {KF_OK, ""};
    const kf_status status = kf_t1_sources(problem, &((const kf_t1_problem *)problem->own)->reference, NULL,
                                           compile, &build, &error);
    kf_problem_free(problem);
    if (strstr(error.message, "libnvrtc") != NULL || strstr(error.message, "without CUDA") != NULL) skip();
    if (says == NULL && status != KF_OK) fail_msg("%s: %s", kernel, error.message);
    if (says != NULL && (status == KF_OK || strstr(error.message, says) == NULL))
        fail_msg("%s: '%s' lacks '%s'", kernel, error.message, says);
}

static void functions_and_templates_are_kernels(void **state) {
    (void)state;
    write_file("two.cu", "#ifndef kernel_tuner\n#error it is not Kernel Tuner\n#endif\n"
                         "#ifndef n\n#define n 7\n#endif\n"
                         "__global__ void plain(float *a) { a[0] = n; }\n"
                         "template <typename T, int N> __global__ void __launch_bounds__(64)\n"
                         "each(T *a) { a[threadIdx.x] = N * grid_size_x; }\n");
    static const char *const names[] = {"plain", "each<float, n>", "each<float, 3>"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char kernel[256];
        (void)snprintf(kernel, sizeof kernel,
                       "\"Language\": \"CUDA\", \"KernelName\": \"%s\", \"KernelFile\": \"two.cu\"",
                       names[i]);
        expect_compiled(kernel, NULL);
    }
    expect_compiled("\"Language\": \"CUDA\", \"KernelName\": \"plan\", \"KernelFile\": \"two.cu\"",
                    "KernelName: \"plan\" is no kernel of ");
    expect_compiled("\"Language\": \"CUDA\", \"KernelName\": \"plan\", \"KernelFile\": \"two.cu\"",
                    "which has plain, each (");
    expect_compiled("\"Language\": \"CUDA\", \"KernelName\": \"each\", \"KernelFile\": \"two.cu\"",
                    "cannot determine which instance");
}

static void files_and_headers_come_together(void **state) {
    (void)state;
    assert_int_equal(kf_make_folders(problem_path("parts"), NULL), KF_OK);
    write_file("parts/sizes.h", "#define SIZE 64\n");
    write_file("parts/first.cu",
               "#include \"hip/hip_runtime.h\"\n#include <sizes.h>\n#include <cmath>\n#include <stdint.h>\n"
               "__device__ float twice(float x) { return 2 * x; }\n");
    write_file("second.cu",
               "__global__ void kernel(float *a) { a[threadIdx.x % SIZE] = twice(n) + EXTRA; }\n");
    expect_compiled(
        "\"Language\": \"HIP\", \"KernelName\": \"kernel\", \"CompilerOptions\": [\"-Iparts\", \"-D\", "
        "\"EXTRA=3\", \"-std=c++11\", \"-O3\", \"-lineinfo\", \"-use_fast_math\", "
        "\"-maxrregcount=64\"], \"KernelFile\": [\"parts/first.cu\", \"second.cu\"]",
        NULL);
    expect_compiled(
        "\"Language\": \"CUDA\", \"KernelName\": \"kernel\", \"CompilerOptions\": [\"-DEXTRA=3\"], "
        "\"KernelFile\": [\"parts/first.cu\", \"second.cu\"]",
        "sizes.h");
}

/* OpenCL C of the usual kind compiles: address spaces, work-items, barriers, local memory, vectors and
 * their literals. A compiler's message names the line in the author's file. */
static void opencl_compiles_as_cuda(void **state) {
    (void)state;
    static const char kernel[] =
        "\"Language\": \"OpenCL\", \"KernelName\": \"smooth\", \"KernelFile\": \"smooth.cl\", "
        "\"CompilerOptions\": [\"-cl-fast-relaxed-math\", \"-DBLOCK=64\"]";
    static const char text[] =
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
        "#define LOCAL_PTR __local\n"
        "__constant float weights[2] = {0.5f, 0.25f}; // __local is no word here\n"
        "float sum(LOCAL_PTR const float *row, int at) { return row[at] * weights[0]; }\n"
        "inline float4 rotated(const float4 v) { return (float4)(v.yzw_, v.x); }\n"
        "__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))\n"
        "void smooth(__global float *restrict out) {\n"
        "    __local float row[BLOCK];\n"
        "    local float *first = row;\n"
        "    const int at = get_local_id(0);\n"
        "    row[at] = out[get_global_id(0)];\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    float4 v = (float4)(1.0f, 2.0f, sum(first, at), 4.0f) * 2.0f + (float4)(at);\n"
        "    float8 w = (float8)(v, v.lo, v.hi);\n"
        "    v += vload4(0, out) * (float4)(w.s7);\n"
        "    out[get_global_id(0)] = mad(v.x, v.s1, w.hi.w) + fmax(v, v).z + get_num_groups(0) + n;\n"
        "}\n";
    kf_text right = {0};
    const char *odd = strstr(text, "inline float4"), *end = strchr(odd, '\n');
    kf_text_append(&right, "%.*s\n%s", (int)(odd - text), text, end + 1);
    write_file("smooth.cl", right.text);
    kf_text_free(&right);
    expect_compiled(kernel, NULL);
    write_file("smooth.cl", text);
    expect_compiled(kernel, "smooth.cl(5)");
    expect_compiled(kernel, "yzw_");
    static const char wrong[] =
        "\"Language\": \"OpenCL\", \"KernelName\": \"rough\", \"KernelFile\": \"smooth.cl\"";
    write_file("smooth.cl", "__kernel void smooth(__global float *a) { a[0] = 1; }\n");
    expect_compiled(wrong, "which has smooth");
}

/* Each qualifier of OpenCL in both spellings, of a variable and of a pointer. What is no word stays: parts of
 * names, comments, texts and numbers. */
static void words_of_opencl(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"kernel void k(global float *a)", "__kernel void k( float *a)"},
        {"__kernel void k(__global float *a)", "__kernel void k(__global float *a)"},
        {"private float a; __private float b;", " float a; __private float b;"},
        {"local float a[4]; __local float b;", "__shared__ float a[4]; __shared__ float b;"},
        {"void f(local float *a, __local int *b)", "void f( float *a,  int *b)"},
        {"constant float a = 1; __constant int b = 2;", "__constant__ float a = 1; __constant__ int b = 2;"},
        {"float f(constant float *a, int n)", "float f( float *a, int n)"},
        {"#define L local\nlocal int a;", "#define L \n__shared__ int a;"},
        {"#define L \\\n local\nint a;", "#define L \\\n \nint a;"},
        {"(float4)(x, y) + (float3) (z)", "kf_cl_float4(x, y) + kf_cl_float3(z)"},
        {"(float)(x) + (n4)(y) + (floats4)(z)", "(float)(x) + (n4)(y) + (floats4)(z)"},
        {"locals global_id kernel_1 x.private1", "locals global_id kernel_1 x.private1"},
        {"a /* local */ + 1; // kernel", "a /* local */ + 1; // kernel"},
        {"\"global\" 'l' 0x1local 1e5f", "\"global\" 'l' 0x1local 1e5f"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_text out = {0}, expected = {0};
        kf_text_append(&expected, "#line 1 \"k.cl\"\n%s\n", cases[i][1]);
        kf_t1_translate("k.cl", cases[i][0], &out);
        assert_string_equal(out.text, expected.text);
        kf_text_free(&out);
        kf_text_free(&expected);
    }
}

/* --- Running on the cpu --- */

/* Returns the first output after one launch of a config. The caller frees. */
static void *run(const kf_problem *problem, const kf_config *config) {
    kf_backend *backend = NULL;
    kf_plan *plan = NULL;
    void *out = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_backend_open("cpu:2", &backend, &error), KF_OK);
    kf_status status = kf_t1_plan(problem, config, backend, &plan, &error);
    if (status == KF_OK) status = kf_plan_initialise(plan, &error);
    if (status == KF_OK) status = kf_plan_advance(plan, 1, &error);
    if (status == KF_OK) status = kf_backend_synchronize(backend, &error);
    if (status == KF_OK) status = kf_t1_download(plan, 0, &out, &error);
    if (status != KF_OK) fail_msg("%s", error.message);
    kf_plan_free(plan);
    kf_backend_close(backend);
    return out;
}

static void expect_first(kf_problem *problem, double right) {
    float *out = run(problem, &((const kf_t1_problem *)problem->own)->reference);
    if (fabs((double)out[0] - right) > 1e-6 * fabs(right))
        fail_msg("%g instead of %g", (double)out[0], right);
    free(out);
    kf_problem_free(problem);
}

static void cxx_and_openmp_run_on_the_cpu(void **state) {
    (void)state;
    write_file("add.cpp", "#include <algorithm>\n#include <omp.h>\n"
                          "template <int N> static float times(float x) { return N * x; }\n"
                          "void add(float *out) {\n    int threads = 0;\n"
                          "#pragma omp parallel reduction(max : threads)\n"
                          "    threads = std::max(threads, omp_get_num_threads());\n"
                          "    out[0] = times<n>(5.0f) + 10 * threads;\n}\n");
    write_file("add.c", "#include <omp.h>\n"
                        "void add(float *out) {\n    int threads = 0;\n"
                        "#pragma omp parallel reduction(max : threads)\n"
                        "    threads = omp_get_num_threads();\n"
                        "    out[0] = 5.0f * n + 10 * threads;\n}\n");
    /* The module of the first is gone, but its threads are not. */
    for (int round = 0; round < 2; round++) {
        expect_first(
            make_problem("\"Language\": \"C++\", \"KernelName\": \"add\", \"KernelFile\": \"add.cpp\"", NULL,
                         NULL),
            25.0);
        expect_first(make_problem("\"Language\": \"C\", \"KernelName\": \"add\", \"KernelFile\": \"add.c\"",
                                  NULL, NULL),
                     25.0);
    }
    kf_problem *problem =
        make_problem("\"Language\": \"C\", \"KernelName\": \"ad\", \"KernelFile\": \"add.c\"", NULL, NULL);
    kf_backend *backend = NULL;
    kf_plan *plan = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    assert_int_not_equal(
        kf_t1_plan(problem, &((const kf_t1_problem *)problem->own)->reference, backend, &plan, &error),
        KF_OK);
    assert_non_null(strstr(error.message, "KernelName: \"ad\" is no kernel of"));
    kf_backend_close(backend);
    kf_problem_free(problem);
}

/* Parameters may be numbers with a fraction: as defines, in conditions, in sizes, including their ends. */
static void float_parameters_are_numbers(void **state) {
    (void)state;
    static const char parameters[] =
        "{\"Name\": \"alpha\", \"Type\": \"float\", \"Values\": \"[0.5, 1.25, 2]\", \"Default\": 1.2}, "
        "{\"Name\": \"n\", \"Type\": \"int\", \"Values\": [1, 2]}], "
        "\"Conditions\": [{\"Expression\": \"alpha * n < 3\"}, {\"Expression\": \"alpha != 0.5 or n == 2\"}";
    write_file("scale.c", "void scale(float *out, float *room) { out[0] = alpha * 8 + (alpha / 4) * 16; }\n");
    kf_problem *problem = make_problem(
        "\"Language\": \"C\", \"KernelName\": \"scale\", \"KernelFile\": \"scale.c\"", parameters,
        "{\"Name\": \"out\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadWrite\", "
        "\"Size\": \"max(alpha) * 2\"}, {\"Name\": \"room\", \"Type\": \"float\", \"MemoryType\": "
        "\"Vector\", "
        "\"AccessType\": \"ReadOnly\", \"Size\": \"ceil(alpha * 4)\"}");
    const kf_t1_problem *own = problem->own;
    kf_space *space = open_space(problem);
    assert_int_equal((int)kf_space_size(space), 4); /* 0.5 with 2, 1.25 with 1 and 2, 2 with 1 */
    kf_space_free(space);
    assert_non_null(strstr(problem->notes.text, "in its place: alpha=1.25"));
    assert_int_equal((int)own->arguments[0].count, 4);
    assert_int_equal((int)own->arguments[1].count, 5);
    /* The size depends on the config. */
    kf_config config = own->reference;
    size_t count = 0;
    kf_error error = {KF_OK, ""};
    kf_config_set_name(&config, "alpha", "2.0");
    assert_int_equal(kf_t1_count(own, &own->arguments[1], &config, &count, &error), KF_OK);
    assert_int_equal((int)count, 8);
    float *out = run(problem, &config);
    assert_true((double)out[0] == 24.0);
    free(out);
    expect_first(problem, 15.0);
}

/* Arguments have values from expressions, vectors, half precision, and whole numbers beyond a signed
 * type's range. */
static void arguments_hold_what_their_files_say(void **state) {
    (void)state;
    kf_problem *problem = make_problem(
        "\"Language\": \"C\", \"KernelName\": \"f\", \"KernelFile\": \"scale.c\", \"ProblemSize\": \"2 ** "
        "3\", "
        "\"Stream\": null, \"Misc\": {}, \"Profiling\": true",
        NULL,
        "{\"Type\": \"double\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadWrite\", \"Size\": "
        "\"ProblemSize\", \"FillType\": \"Generator\", \"DataSource\": \"i * i + ProblemSize[0] / 16\", "
        "\"TypeSize\": 1},"
        "{\"Type\": \"float3\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", \"Size\": 5, "
        "\"FillType\": \"Generator\", \"DataSource\": \"i\"},"
        "{\"Type\": \"half\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", \"Size\": 4, "
        "\"FillValue\": 0.333251953125},"
        "{\"Type\": \"uint64\", \"MemoryType\": \"Scalar\", \"FillValue\": 9007199254740991},"
        "{\"Type\": \"int\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", \"Size\": 1000, "
        "\"FillType\": \"Random\", \"FillValue\": 3}");
    const kf_t1_problem *own = problem->own;
    const kf_t1_argument *a = own->arguments;
    assert_int_equal((int)a[0].count, 8);
    assert_true(kf_t1_value(&a[0].type, a[0].initial, 3) == 9.5);
    assert_int_equal((int)a[1].count, 15);
    assert_int_equal(a[1].type.components, 3);
    assert_true(kf_t1_value(&a[1].type, a[1].initial, 13) == 4.0);
    assert_true(kf_t1_value(&a[2].type, a[2].initial, 3) == 0.333251953125);
    assert_true(kf_t1_value(&a[3].type, a[3].initial, 0) == 9007199254740991.0);
    int seen[4] = {0};
    for (size_t i = 0; i < 1000; i++)
        seen[(int)kf_t1_value(&a[4].type, a[4].initial, i)]++;
    for (int i = 0; i < 4; i++)
        assert_in_range(seen[i], 150, 350);
    /* Keys that nothing reads are reported once, in one line. */
    assert_string_equal(problem->notes.text, "keys that are not read: KernelSpecification.Misc, "
                                             "KernelSpecification.Profiling, Arguments.TypeSize");
    kf_problem_free(problem);
}

static void types_are_as_cuda_has_them(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t bytes, alignment;
        int components;
    } types[] = {{"float", 4, 4, 1},    {"float2", 4, 8, 2},  {"float3", 4, 4, 3},   {"float4", 4, 16, 4},
                 {"double2", 8, 16, 2}, {"double3", 8, 8, 3}, {"double4", 8, 16, 4}, {"int8", 1, 1, 1},
                 {"int16", 2, 2, 1},    {"int4", 4, 16, 4},   {"char4", 1, 4, 4},    {"half2", 2, 4, 2}};
    kf_t1_type type;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        assert_true(kf_t1_find_type(types[i].name, &type));
        assert_int_equal((int)type.bytes, (int)types[i].bytes);
        assert_int_equal((int)type.alignment, (int)types[i].alignment);
        assert_int_equal(type.components, types[i].components);
    }
    /* Each as the C type of its name. */
#define LIKE(name, c)                                                                                        \
    { name, sizeof(c), (c)1.5 != (c)1, (c)-1 < (c)1 }
    static const struct {
        const char *name;
        size_t bytes;
        bool real, is_signed;
    } scalars[] = {LIKE("float", float),     LIKE("double", double),         LIKE("half", _Float16),
                   LIKE("int8", int8_t),     LIKE("int16", int16_t),         LIKE("int32", int32_t),
                   LIKE("int64", int64_t),   LIKE("uint8", uint8_t),         LIKE("uint16", uint16_t),
                   LIKE("uint32", uint32_t), LIKE("uint64", uint64_t),       LIKE("int", int),
                   LIKE("uint", unsigned),   LIKE("char", signed char),      LIKE("uchar", unsigned char),
                   LIKE("short", short),     LIKE("ushort", unsigned short), LIKE("long", int64_t),
                   LIKE("ulong", uint64_t),  {"bool", 1, false, false}};
#undef LIKE
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        assert_true(kf_t1_find_type(scalars[i].name, &type));
        assert_int_equal(type.bytes, scalars[i].bytes);
        assert_int_equal(type.alignment, scalars[i].bytes);
        assert_int_equal(type.components, 1);
        assert_int_equal(type.real, scalars[i].real);
        assert_int_equal(type.is_signed, scalars[i].is_signed);
        /* The ends of its range fit, and what lies beyond does not. */
        const double end = i == 19          ? 1
                           : type.bytes > 4 ? 0x1p53 - 1
                           : type.real      ? (type.bytes == 2 ? 65504.0 : (double)FLT_MAX)
                                            : ldexp(1, 8 * (int)type.bytes - type.is_signed) - 1;
        if (type.real && type.bytes == 8) continue;
        assert_true(kf_t1_fits(&type, end) && !kf_t1_fits(&type, type.real ? end * 1.001 : end + 1));
        assert_int_equal(kf_t1_fits(&type, -1), type.is_signed);
        assert_int_equal(kf_t1_fits(&type, 0.5), type.real);
        if (type.is_signed) assert_true(kf_t1_fits(&type, type.real || type.bytes > 4 ? -end : -end - 1));
    }
    static const char *const none[] = {"float5", "floats", "", "custom", "2float"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(kf_t1_find_type(none[i], &type));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_and_templates_are_kernels),
        cmocka_unit_test(files_and_headers_come_together),
        cmocka_unit_test(opencl_compiles_as_cuda),
        cmocka_unit_test(words_of_opencl),
        cmocka_unit_test(cxx_and_openmp_run_on_the_cpu),
        cmocka_unit_test(float_parameters_are_numbers),
        cmocka_unit_test(arguments_hold_what_their_files_say),
        cmocka_unit_test(types_are_as_cuda_has_them),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
