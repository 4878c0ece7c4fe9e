/* Tests arguments of a T1 file against the kernel's parameters in its source. Faults: a number that is
 * wrong without a word, because kernel and file mean different bits. */
#include "tests/unit/t1_fixture.h"

static void write_file(const char *name, const char *text) {
    assert_int_equal(kf_file_write_atomic(problem_path(name), text, strlen(text), NULL), KF_OK);
}

/* Appends the arguments of a list of types. "float*" is a Vector, and the first one is written. "float@"
 * is in constant memory, named c. "int32=5" is a Scalar with that value. */
static void append_arguments(const char *types, kf_text *text) {
    bool written = false;
    for (int number = 0; *types != '\0'; number++) {
        const size_t length = strcspn(types, "*@= "), whole = strcspn(types, " ");
        const char kind = types[length];
        kf_text_append(text, "%s{\"Type\": \"%.*s\", ", number > 0 ? ", " : "", (int)length, types);
        if (kind == '*')
            kf_text_append(text, "\"MemoryType\": \"Vector\", \"AccessType\": \"%s\", \"Size\": 64}",
                           written ? "ReadOnly" : "WriteOnly");
        else if (kind == '@')
            kf_text_append(text, "\"Name\": \"c\", \"MemoryType\": \"Vector\", \"MemType\": \"Constant\", "
                                 "\"AccessType\": \"ReadOnly\", \"Size\": 4}");
        else
            kf_text_append(text, "\"MemoryType\": \"Scalar\", \"FillValue\": %.*s}",
                           kind == '=' ? (int)(whole - length - 1) : 1,
                           kind == '=' ? types + length + 1 : "1");
        written = written || kind == '*';
        types += whole + (types[whole] == ' ');
    }
}

static kf_status open_made(const char *language, const char *name, const char *source, const char *types,
                           kf_problem **problem, kf_error *error) {
    kf_text text = {0};
    write_file("kernel.src", source);
    kf_text_append(&text,
                   "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"tuned\", \"Type\": "
                   "\"int\", \"Values\": [1, 2]}]}, \"KernelSpecification\": {\"Language\": \"%s\", "
                   "\"KernelName\": \"%s\", \"KernelFile\": \"kernel.src\", \"CompilerOptions\": "
                   "[\"-Doptional=float\"], \"Arguments\": [",
                   language, name);
    append_arguments(types, &text);
    kf_text_append(&text, "]}}");
    write_file("made.t1.json", text.text);
    kf_text_free(&text);
    return kf_problem_open(problem_path("made.t1.json"), "t1", NULL, problem, error);
}

typedef struct signature_case {
    const char *source, *types;
    const char *says; /* part of the refusal, or NULL */
} signature_case;

static void check_cases(const char *language, const char *name, const signature_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        kf_problem *problem = NULL;
        kf_error error = {KF_OK, ""};
        const kf_status status = open_made(language, name, cases[i].source, cases[i].types, &problem, &error);
        if (cases[i].says == NULL ? status != KF_OK
                                  : status != KF_BAD_INPUT || strstr(error.message, cases[i].says) == NULL ||
                                        strchr(error.message, '\n') != NULL)
            fail_msg("%s for %s: status %d: %s", cases[i].source, cases[i].types, (int)status, error.message);
        kf_problem_free(problem);
    }
}

static void types_are_the_kernels(void **state) {
    (void)state;
    static const signature_case cases[] = {
        {"__global__ void k(float *out, const float *in, int n) {}", "float* float* int32", NULL},
        {"__global__ void k(float *out, const float *in, int n) {}", "float* int32* int32",
         "Arguments[1]: argument_1 is a Vector of int32, and the kernel k of "},
        {"__global__ void k(float *out, const int *in, int n) {}", "float* float* int32",
         "has 'const int *in' there, which is a Vector of int32"},
        {"__global__ void k(double *out) {}", "float*", "Vector of double"},
        {"__global__ void k(float *out) {}", "double*", "Vector of float"},
        {"__global__ void k(half *out) {}", "float*", "Vector of half"},
        {"__global__ void k(float *out, float *in) {}", "float* uint8*", "Vector of float"},
        {"__global__ void k(float *out, unsigned char *in) {}", "float* float*", NULL},
        {"__global__ void k(float *out, const long long int *in) {}", "float* double*", "Vector of int64"},
        {"__global__ void k(float *out, size_t n) {}", "float* int32", "Scalar of uint64"},
        {"__global__ void k(float *out, float x) {}", "float* int32", "Scalar of float"},
        {"__global__ void k(float *out, const n) {}", "float* int32", NULL}, /* of no type */
        {"__global__ void k(float *out, double x) {}", "float* float", "Scalar of double"},
        {"__global__ void k(float *out, bool x) {}", "float* int32", "Scalar of bool"},
        {"__global__ void k(float *out, float3 x) {}", "float* float4", "Scalar of float3"},
        {"__global__ void k(float *out, float3 x) {}", "float* float3", NULL},
        /* Which arguments are pointers, and how many there are. */
        {"__global__ void k(float *out, int n) {}", "float* int32*", "'int n' there, which is a Scalar"},
        {"__global__ void k(float *out, T *in) {}", "float* int32", "'T *in' there, which is a Vector"},
        {"__global__ void k(float *out, int n) {}", "float*", "Arguments: are 1, and the kernel k of "},
        {"__global__ void k(float *out, int n) {}", "float* int32 int32", "has 2: (float *out, int n)"},
        {"__global__ void k() {}", "float*", "has 0: ()"},
        /* Declarations in the forms that kernels have. */
        {"/* k(int *x) */ extern \"C\" __global__ void __launch_bounds__(64 * tuned)\n k(float *__restrict__ "
         "out, // int *\n const float in[], unsigned n = 3)\n{}",
         "float* float* uint32", NULL},
        {"extern \"C\" __global__ void __launch_bounds__(64) k(float *__restrict__ out, const int in[64])",
         "float* float*", "Vector of int32"},
        {"#define RESTRICT __restrict__\n__global__ void k(int *RESTRICT out) {}", "float*",
         "Vector of int32"},
        {"__global__ void k(int *out);\n__global__ void k(int *o) {}", "float*", "Vector of int32"},
        {"namespace a { __global__ void other(float *x) {} }\n__global__ void k(int *out) {}", "float*",
         "Vector of int32"},
        {"#define MOST(a, b) a\n__global__ void __launch_bounds__(MOST(64, (tuned)), 2) "
         "__cluster_dims__(2, 1, 1)\nk(int *out) {}",
         "float*", "Vector of int32"},
        {"__global__ __attribute__((optimize(\"O2\"))) void k(int *out) {}", "float*", "Vector of int32"},
        {"__global__ void k(float *out, const __grid_constant__ int n) {}", "float* float",
         "Scalar of int32"},
        {"__global__ void k(float *out, const __grid_constant__ int n) {}", "float* int32", NULL},
        /* Types whose bits a kernel moves whole. */
        {"__global__ void k(float4 *out, const uint4 *in) {}", "float* float*", NULL},
        {"__global__ void k(double2 *out) {}", "float*", "Vector of double"},
        /* Data in constant memory, which may also be a parameter. */
        {"__constant__ float c[4];\n__global__ void k(float *out) {}", "float* float@", NULL},
        {"#include \"c.h\"\n__global__ void k(float *out) {}", "float* float@", NULL},
        {"__constant__ int c[4];\n__global__ void k(float *out) {}", "float* float@", "'int c' there"},
        {"__global__ void k(float *out, const float *c) {}", "float* float@", NULL},
        {"__global__ void k(float *out, const int *c) {}", "float* float@", "Vector of int32"},
        {"__global__ void k(float *out, int a, int b, int d) {}", "float* float@",
         "are 1 without those in constant memory"},
    };
    check_cases("CUDA", "k", cases, sizeof cases / sizeof *cases);
}

#define MANY "const const const const const const const const const const "
/* Types whose meaning is unknown are accepted. */
static void what_is_not_certain_is_passed_over(void **state) {
    (void)state;
    static const signature_case cases[] = {
        {"typedef double real;\n__global__ void k(real *out) {}", "float*", NULL},
        {"#include \"types.h\"\n__global__ void k(real *out, Vector<3> v, const T &x) {}",
         "float* int32 int32", NULL},
        {"#define float double\n__global__ void k(float *out) {}", "int32*", NULL},
        {"__global__ void k(optional *out) {}", "int32*", NULL},
        {"__global__ void k(tuned *out) {}", "int32*", NULL},
        {"struct float4 { int a; };\n__global__ void k(float4 *out) {}", "int32*", NULL},
        {"typedef int uint;\n__global__ void k(uint *out) {}", "float*", NULL},
        {"template <typename T> __global__ void k(T *out) {}", "float*", NULL},
        {"#ifdef WIDE\n__global__ void k(double *out)\n#else\n__global__ void k(float *out)\n#endif\n{}",
         "int32*", NULL},
        {"__global__ void k(double *out\n#ifdef SIZED\n, int n\n#endif\n) {}", "float*", NULL},
        {"#define MORE int a, int b\n__global__ void k(float *out, MORE) {}", "float* int32 int32", NULL},
        {"#define MORE(x) int x\n__global__ void k(float *out, MORE(a)) {}", "float* float", NULL},
        {"__global__ void k(float *out, MORE) {}", "float* int32 int32", NULL},
        {"#define MORE\n__global__ void k(float *out MORE) {}", "float*", NULL},
        {"template <class... Ts> __global__ void k(float *out, Ts... all) {}", "float* int32 int32", NULL},
        {"__global__ void k(float *out, void *in, float **rows) {}", "float* int32* int64*", NULL},
        {"__global__ void k(float *out, float (*rows)[4]) {}", "float* int32*", NULL},
        /* A shift or a comparison is no template. */
        {"__global__ void k(float *out, int n = 1 << 3, int m = 0) { out[n >> m] = f(1); }",
         "float* int32 int32", NULL},
        {"__global__ void k(float *out, const int in[1 << 4], int m) { out[in[0] >> m] = f(1); }",
         "float* int32* int32", NULL},
        {"__global__ void k(float *out, bool n = 2 > 1, int m = 0) {}", "float* bool int32", NULL},
        {"#define NAME k\n__global__ void NAME(int *out) {}", "float*", NULL},
        {"#define k other\n__global__ void k(int *out) {}", "float*", NULL},
        {"const char *text = R\"(__global__ void k(int *out) {})\";", "float*", NULL},
        {"// __global__ void k(int *out)\nconst char *text = \"__global__ void k(int *out)\";", "float*",
         NULL},
        {"__global__ void k(int *out, \" , ( [", "float*", NULL},
        {"__global__ void k(", "float*", NULL},
        {"", "float*", NULL},
        /* There are more words than a type ever has. `make check-sanitize` checks that there is room for
         * them. */
        {"__global__ void k(" MANY MANY MANY MANY "float *out) {}", "float*", NULL},
    };
    check_cases("CUDA", "k", cases, sizeof cases / sizeof *cases);
}

/* A template's parameters have the values of KernelName. */
static void templates_have_their_values(void **state) {
    (void)state;
    static const signature_case cases[] = {
        {"template <typename T, int N> __global__ void k(T *out, const T *in, int n) {}",
         "float* float* int32", NULL},
        {"template <typename T, int N> __global__ void k(T *out, const T *in, int n) {}",
         "float* double* int32", "'const T *in' there, which is a Vector of float"},
        {"template <int N, class T>\n__global__ void k(T *out) {}", "int32*", NULL},
        {"template <typename U> struct a { U *b; };\ntemplate <typename T, int N> static __global__ void "
         "k(T *out) {}",
         "int32*", "Vector of float"},
        {"template <typename T> void helper(T *a) {}\n__global__ void k(T *out) {}", "int32*", NULL},
    };
    check_cases("CUDA", "my::k<float, 3 * (tuned + 1)>", cases, sizeof cases / sizeof *cases);
}

static void opencl_has_its_own_types(void **state) {
    (void)state;
    static const signature_case cases[] = {
        {"__kernel void k(__global float *restrict out, __constant uint *in, const ulong n) {}",
         "float* uint32* uint64", NULL},
        {"kernel void k(global float8 *out, global int8 *in) {}", "float* int32*", NULL},
        {"kernel void k(global float8 *out, global int *in) {}", "float* float*", "Vector of int32"},
        {"__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\nvoid k(__global ushort *out) {}",
         "float*", "Vector of uint16"},
    };
    check_cases("OpenCL", "k", cases, sizeof cases / sizeof *cases);
}

/* A function in C gets scalars as a call converts them, and pointers unchanged. */
static void functions_are_called_as_c_does(void **state) {
    (void)state;
    static const signature_case cases[] = {
        {"static void helper(int *k) { k(1, 2); }\nvoid k(float *out, const float *in, long n) {}",
         "float* float* int32", NULL},
        {"void k(float *out, const float *in, long n);\nvoid k(float *o, const float *in, long n) {}",
         "float* double* int32", "Vector of float"},
        {"void k(float *out, int n) {}", "float* float=2.5", "Scalar of int32"},
        {"void k(float *out, int n) {}", "float* float=2", NULL},
        {"void k(float *out, int n) {}", "float*", "has 2: (float *out, int n)"},
        {"static int twice(int x) { return k(x); }\n", "float*", NULL},
        {"void *k(void) {}", "float*", "has 0"},
    };
    check_cases("C", "k", cases, sizeof cases / sizeof *cases);
}

static void another_sign_is_noted(void **state) {
    (void)state;
    static const struct {
        const char *source, *types, *note;
    } cases[] = {
        {"__global__ void k(float *out, const unsigned *in) {}", "float* int32*",
         "argument_1 is int32, and the kernel has 'const unsigned *in': the same bits with another sign"},
        {"__global__ void k(float *out, unsigned n) {}", "float* int32=-1", "another sign"},
        {"__global__ void k(float *out, unsigned n) {}", "float* int32=7", NULL},
        {"__global__ void k(float *out, const char *in) {}", "float* uint8*", NULL},
        {"__global__ void k(float *out, const uint4 *in) {}", "float* float*", "the same bits"},
        {"__global__ void k(float *out, const unsigned char *in) {}", "float* float*",
         "argument_1 is float, and the kernel has 'const unsigned char *in': the same bits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_problem *problem = NULL;
        kf_error error = {KF_OK, ""};
        if (open_made("CUDA", "k", cases[i].source, cases[i].types, &problem, &error) != KF_OK)
            fail_msg("%s: %s", cases[i].source, error.message);
        const char *notes = problem->notes.text != NULL ? problem->notes.text : "";
        if (cases[i].note == NULL ? strstr(notes, "the same bits") != NULL
                                  : strstr(notes, cases[i].note) == NULL)
            fail_msg("%s: '%s'", cases[i].source, notes);
        kf_problem_free(problem);
    }
}

/* A portable kernel's parameters are the members of a struct, whose first is the extent. */
static void portable_kernels_have_a_struct(void **state) {
    (void)state;
#define STRUCT(members)                                                                                      \
    "typedef struct other { int n; } other;\ntypedef struct k_arguments {\n    int extent[3];\n" members     \
    "} k_arguments;\nKF_KERNEL(k, k_arguments) { (void)a; }\n"
    static const signature_case cases[] = {
        {STRUCT("    float *out;\n    const float *in, *more; /* two */\n    int width, height;\n"),
         "float* float* float* int32 int32", NULL},
        {STRUCT("    float *out;\n    const float *in, *more; /* two */\n    int width, height;\n"),
         "float* float* int32* int32 int32", "has '*more' there, which is a Vector of float"},
        {STRUCT("    float *out;\n    int width, height;\n"), "float* int32 float", "Scalar of int32"},
        {STRUCT("    float *out;\n    double width;\n"), "float* float", "Scalar of double"},
        {STRUCT("    float *out;\n    int width, height;\n"), "float* int32", "are 2, and the kernel k of "},
        {STRUCT("    real *out;\n"), "float*", NULL},
        {STRUCT("    float *out;\n    struct { int x; } inner;\n"), "int32*", NULL},
        {"#include \"k.h\"\ntypedef struct other { int extent[3]; int n; } other;\nKF_KERNEL(k, k_arguments) "
         "{}",
         "float*", NULL},
        {"typedef struct k_arguments { int *out; } k_arguments;\nKF_KERNEL(k, k_arguments) {}", "float*",
         NULL},
        {"KF_KERNEL(k", "float*", NULL},
    };
#undef STRUCT
    check_cases("portable", "k", cases, sizeof cases / sizeof *cases);
}

/* All shipped files are right, and a changed type is refused. The type of every parameter is known, except
 * in convolution.cu, where a macro adds one that the reference has. */
static void shipped_files_are_read(void **state) {
    (void)state;
    static const char *const names[] = {
        "convolution", "cheats",  "convolution_c", "dedispersion", "logsumexp", "matmul",   "matmul_c",
        "nbody",       "nbody_c", "star",          "stencil",      "sums",      "transpose"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[KF_PATH];
        kf_t1_problem *problem = NULL;
        kf_error error = {KF_OK, ""};
        kf_t1_signature *read = calloc(1, sizeof *read);
        assert_non_null(read);
        assert_int_equal(kf_path(path, NULL, "%s/tests/data/t1/%s.t1.json", data_folder, names[i]), KF_OK);
        if (kf_t1_read(path, NULL, &problem, &error) != KF_OK) fail_msg("%s", error.message);
        if (kf_t1_read_signature(problem, false, read) != (i > 0)) fail_msg("%s", names[i]);
        if (i > 0) assert_int_equal(read->count, problem->argument_count - problem->arguments[2].constant);
        if (i > 0 && problem->arguments[2].constant) assert_true(read->constants[2].known);
        for (int p = 0; i > 0 && p < read->count; p++)
            if (!read->list[p].known) fail_msg("%s: '%s' is not known", names[i], read->list[p].text);
        assert_true(kf_t1_find_type("int64", &problem->arguments[0].type));
        assert_int_equal(kf_t1_check_signature(problem, &error), KF_BAD_INPUT);
        if (problem->reference_file[0] != '\0') assert_true(kf_t1_read_signature(problem, true, read));
        kf_t1_release(problem);
        free(read);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_the_kernels),
        cmocka_unit_test(what_is_not_certain_is_passed_over),
        cmocka_unit_test(templates_have_their_values),
        cmocka_unit_test(opencl_has_its_own_types),
        cmocka_unit_test(functions_are_called_as_c_does),
        cmocka_unit_test(portable_kernels_have_a_struct),
        cmocka_unit_test(another_sign_is_noted),
        cmocka_unit_test(shipped_files_are_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
