/* Tests the kernels of tests/data/t1 on which landscapes are measured. Faults: a space that is too small,
 * a kernel that does not compile at one end of a parameter, a wrong reference. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/backend/cache.h"
#include "base/backend/team/team.h"
#include "base/space/space.h"
#include "base/util/random.h"
#include "base/util/text.h"
#include "solver/systems.h"
#include "solver/t1/t1.h"
#include "tests/unit/kernel_folder.h"

static char data_folder[KF_PATH];

static kf_problem *open_problem(const char *name, const int size[3]) {
    char path[KF_PATH];
    kf_problem *problem = NULL;
    kf_problem_options options = {.seed = 1};
    kf_error error = {KF_OK, ""};
    if (size != NULL) memcpy(options.nodes, size, sizeof options.nodes);
    assert_int_equal(kf_path(path, NULL, "%s/tests/data/t1/%s.t1.json", data_folder, name), KF_OK);
    if (kf_problem_open(path, "t1", &options, &problem, &error) != KF_OK) fail_msg("%s", error.message);
    return problem;
}

static kf_space *open_space(const kf_problem *problem, const char *backend) {
    kf_variables variables;
    kf_device_info device = {0};
    kf_space *space = NULL;
    kf_error error = {KF_OK, ""};
    kf_copy_text(device.backend, sizeof device.backend, backend);
    kf_system_t1.variables(problem, &device, &variables);
    if (kf_space_open(kf_system_t1.name, kf_system_t1.space_file, &variables, NULL, 0, &space, &error) !=
        KF_OK)
        fail_msg("%s", error.message);
    return space;
}

static const char *const names[] = {"matmul", "convolution", "transpose",   "nbody",
                                    "star",   "logsumexp",   "dedispersion"};
enum { NAMES = sizeof names / sizeof *names };
static const char *const plain_names[] = {"matmul_c", "convolution_c", "nbody_c"};
enum { PLAIN = sizeof plain_names / sizeof *plain_names };

static void spaces_are_large_enough(void **state) {
    (void)state;
    for (int i = 0; i < NAMES + PLAIN; i++) {
        kf_problem *problem = open_problem(i < NAMES ? names[i] : plain_names[i - NAMES], NULL);
        kf_space *space = open_space(problem, i < NAMES ? "cuda" : "cpu");
        assert_in_range(kf_space_size(space), 1000, 4000);
        assert_null(problem->notes.text); /* the defaults are valid */
        kf_space_free(space);
        kf_problem_free(problem);
    }
}

/* --- For a GPU ------------------------------------------------------------------------------------------ */

static kf_status compile(const kf_source *source, void *data, kf_error *error) {
    const kf_device_info info = {.backend = "cuda", .spec = "cuda:0", .architecture = "sm_90"};
    return kf_source_prebuild(&info, source, data, error);
}

/* Compiles some configs of each problem, or as many as KFTUNE_TEST_CONFIGS says. */
static void configs_compile(void **state) {
    (void)state;
    const char *more = getenv("KFTUNE_TEST_CONFIGS");
    const long count = more != NULL ? strtol(more, NULL, 10) : 3;
    for (int i = 0; i < NAMES; i++) {
        kf_problem *problem = open_problem(names[i], NULL);
        kf_space *space = open_space(problem, "cuda");
        const uint64_t size = kf_space_size(space);
        uint64_t random = 7;
        for (long k = 0; k < count; k++) {
            kf_build built;
            kf_config config;
            kf_error error = {KF_OK, ""};
            kf_space_config(space, kf_random_below(&random, size), &config);
            if (kf_t1_sources(problem, &config, NULL, compile, &built, &error) == KF_OK) continue;
            const bool none =
                strstr(error.message, "libnvrtc") != NULL || strstr(error.message, "without CUDA") != NULL;
            if (!none) fail_msg("%s", error.message);
            kf_space_free(space);
            kf_problem_free(problem);
            skip();
        }
        kf_space_free(space);
        kf_problem_free(problem);
    }
}

/* --- References on the cpu ------------------------------------------------------------------------------ */

/* Returns the first output of the reference kernel, or of a config, on a problem of this size. The caller
 * frees. */
static float *run(const kf_problem *problem, const kf_config *config) {
    kf_backend *backend = NULL;
    kf_plan *plan = NULL;
    void *out = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    kf_status status = kf_t1_plan_with_room(problem, config, KF_T1_GUARD, backend, &plan, &error);
    if (status == KF_OK) status = kf_plan_initialise(plan, &error);
    if (status == KF_OK) status = kf_plan_advance(plan, 1, &error);
    if (status == KF_OK) status = kf_backend_synchronize(backend, &error);
    if (status == KF_OK) status = kf_t1_download(plan, 0, &out, &error);
    if (status != KF_OK) fail_msg("%s", error.message);
    /* The struct has the compiler's length, with pointers in it. A GPU accepts no other. */
    assert_int_equal((int)(plan->items[0].kernel->argument_bytes % sizeof(void *)), 0);
    if (config == NULL) { /* the blocks that a GPU takes along Y */
        const int rows = plan->items[0].kernel->block[1];
        assert_in_range((((const kf_t1_problem *)problem->own)->size[1] + rows - 1) / rows, 1, 65535);
    }
    kf_plan_free(plan);
    kf_backend_close(backend);
    return out;
}

static const float *values_of(const kf_problem *problem, int argument) {
    return ((const kf_t1_problem *)problem->own)->arguments[argument].initial;
}

static void expect_near(const char *name, float value, double right) {
    if (!(fabs((double)value - right) <= 2e-6 * fmax(1.0, fabs(right))))
        fail_msg("%s: %.9g instead of %.9g", name, (double)value, right);
}

static void check_matmul(const kf_problem *problem, const float *out, const int n[3]) {
    const float *a = values_of(problem, 1), *b = values_of(problem, 2);
    const int depth = (n[0] + n[1]) / 2;
    for (int y = 0; y < n[1]; y++)
        for (int x = 0; x < n[0]; x++) {
            double sum = 0.0;
            for (int k = 0; k < depth; k++)
                sum += (double)a[y * depth + k] * (double)b[k * n[0] + x];
            expect_near("matmul", out[y * n[0] + x], sum);
        }
}

static void check_convolution(const kf_problem *problem, const float *out, const int n[3]) {
    const float *in = values_of(problem, 1), *weights = values_of(problem, 2);
    for (int y = 0; y < n[1]; y++)
        for (int x = 0; x < n[0]; x++) {
            double sum = 0.0;
            for (int w = 0; w < 225; w++)
                sum += (double)weights[w] * (double)in[(y + w / 15) * (n[0] + 14) + x + w % 15];
            expect_near("convolution", out[y * n[0] + x], sum);
        }
}

static void check_transpose(const kf_problem *problem, const float *out, const int n[3]) {
    const float *in = values_of(problem, 1);
    for (int i = 0; i < n[0] * n[1]; i++)
        expect_near("transpose", out[i], (double)in[i % n[1] * n[0] + i / n[1]]);
}

/* By Newton's third law the forces between bodies add up to nothing, and the potential is positive. A
 * single body has only the softening. */
static void check_nbody(const kf_problem *problem, const float *out, const int n[3]) {
    const float *bodies = values_of(problem, 1);
    double total[3] = {0}, size = 0.0;
    for (int i = 0; i < n[0]; i++) {
        const double mass = (double)bodies[4 * i + 3];
        for (int axis = 0; axis < 3; axis++)
            total[axis] += mass * (double)out[4 * i + axis];
        size += mass * fabs((double)out[4 * i]);
        assert_true(out[4 * i + 3] > 10.0F * bodies[4 * i + 3]); /* of itself: mass over sqrt(0.01) */
    }
    assert_true(size > 1.0);
    for (int axis = 0; axis < 3; axis++)
        assert_true(fabs(total[axis]) < 1e-5 * size);
    double pull = 0.0; /* on the first, along x */
    for (int j = 0; j < n[0]; j++) {
        const float *other = bodies + 4 * j;
        const double dx = (double)other[0] - (double)bodies[0], dy = (double)other[1] - (double)bodies[1];
        const double dz = (double)other[2] - (double)bodies[2];
        pull += (double)other[3] * dx * pow(dx * dx + dy * dy + dz * dz + 0.01, -1.5);
    }
    expect_near("nbody", out[0], pull);
}

static void check_star(const kf_problem *problem, const float *out, const int n[3]) {
    const float *in = values_of(problem, 1);
    const int row = n[0] + 4 + n[0] % 2, plane = row * (n[1] + 4);
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                double sum = 0.0;
                for (int d = -2; d <= 2; d++) {
                    const double weight = d == 0 ? 0.5 / 3 : abs(d) == 1 ? 0.07 : 0.013;
                    sum += weight * ((double)in[(z + 2 + d) * plane + (y + 2) * row + x + 2] +
                                     (double)in[(z + 2) * plane + (y + 2 + d) * row + x + 2] +
                                     (double)in[(z + 2) * plane + (y + 2) * row + x + 2 + d]);
                }
                expect_near("star", out[(z * n[1] + y) * n[0] + x], sum);
            }
}

static void check_logsumexp(const kf_problem *problem, const float *out, const int n[3]) {
    const float *in = values_of(problem, 1);
    for (int y = 0; y < n[1]; y++) {
        double sum = exp((double)in[y * n[0]] - 8.0);
        for (int x = 1; x < n[0]; x++)
            sum += exp((double)in[y * n[0] + x] - 8.0);
        expect_near("logsumexp", out[y], 8.0 + log(sum));
    }
}

static void check_dedispersion(const kf_problem *problem, const float *out, const int n[3]) {
    const kf_t1_problem *own = problem->own;
    const unsigned char *in = own->arguments[1].initial;
    const int *shifts = own->arguments[2].initial;
    for (int y = 0; y < n[1]; y++)
        for (int x = 0; x < n[0]; x++) {
            double sum = 0.0;
            for (int c = 0; c < 256; c++) {
                const int shift = y * shifts[c] / 16;
                sum += in[c * (n[0] + 4 * n[1]) + x + shift];
            }
            assert_true((double)out[y * n[0] + x] == sum);
        }
}

static void references_are_right(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int size[3];
        void (*check)(const kf_problem *problem, const float *out, const int n[3]);
    } cases[] = {
        {"matmul", {37, 20, 1}, check_matmul},
        {"convolution", {41, 19, 1}, check_convolution},
        {"transpose", {29, 17, 1}, check_transpose},
        {"nbody", {100, 1, 1}, check_nbody},
        {"star", {13, 9, 7}, check_star},
        {"logsumexp", {64, 11, 1}, check_logsumexp},
        {"dedispersion", {50, 20, 1}, check_dedispersion},
        {"logsumexp", {5, 140000, 1}, check_logsumexp},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    for (int i = 0; i < CASES; i++) {
        kf_problem *problem = open_problem(cases[i].name, cases[i].size), *trial = NULL;
        kf_error error = {KF_OK, ""};
        int steps = 0;
        assert_int_equal(kf_system_t1.trial(problem, &trial, &steps, &error), KF_OK);
        assert_int_equal(steps, 1); /* a reference kernel defines what is right after one */
        float *out = run(problem, NULL);
        cases[i].check(problem, out, cases[i].size);
        free(out);
        kf_problem_free(trial);
        kf_problem_free(problem);
    }
}

static void plain_kernels_are_right(void **state) {
    (void)state;
    enum { CONFIGS = 3 };
    static const int sizes[PLAIN][3] = {{37, 20, 1}, {41, 19, 1}, {101, 1, 1}};
    uint64_t random = 11;
    for (int i = 0; i < PLAIN; i++) {
        kf_problem *problem = open_problem(plain_names[i], sizes[i]);
        kf_space *space = open_space(problem, "cpu");
        float *right = run(problem, NULL);
        for (int k = 0; k < CONFIGS; k++) {
            kf_config config;
            size_t worst = 0;
            kf_space_config(space, kf_random_below(&random, kf_space_size(space)), &config);
            float *out = run(problem, &config);
            const double off =
                kf_t1_deviation(&((const kf_t1_problem *)problem->own)->arguments[0], out, right, &worst);
            if (!(off < 1e-5)) fail_msg("%s is off by %g at %zu", plain_names[i], off, worst);
            free(out);
        }
        free(right);
        kf_space_free(space);
        kf_problem_free(problem);
    }
}

static int set_up(void **state) {
    (void)state;
    return find_shipped_data(data_folder) || make_kernel_folder();
}

static int tear_down(void **state) {
    (void)state;
    return remove_kernel_folder();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_are_large_enough),
        cmocka_unit_test(references_are_right),
        cmocka_unit_test(plain_kernels_are_right),
        cmocka_unit_test(configs_compile),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
