/* Tests the limits that a law of the wall has for the speeds of nodes beside it, against known answers.
 * Faults: a limit that is another one, or that holds for the wrong direction. The reference has formulas of
 * its own. */
#include "tests/unit/kernel_fixture.h"

#include "base/backend/backend.h"
#include "base/backend/team/team.h"
#include "tests/unit/near.h"

enum { ANSWERS = 15 };

typedef struct limit_arguments {
    int extent[3];
    double *answers;
} limit_arguments;

static const char limit_source[] =
    "#include \"kinetic/law.h\"\n"
    "typedef struct limit_arguments { int extent[3]; double *answers; } limit_arguments;\n"
    "KF_SCALAR_KERNEL(limits, limit_arguments) {\n"
    "    (void)x, (void)y, (void)z;\n"
    "    double *out = a->answers;\n"
    "    *out++ = kf_law_excess(2.4, 2.0), *out++ = kf_law_excess(2.6, 2.0), *out++ = kf_law_excess(-0.3, "
    "2.0);\n"
    "    *out++ = kf_law_push(2.5, 2.0, 1.0), *out++ = kf_law_push(3.0, 2.0, 1.0);\n"
    "    *out++ = kf_law_push(3.5, 2.0, 1.0), *out++ = kf_law_push(3.5, 2.0, -1.0);\n"
    "    *out++ = kf_law_push(-0.5, 2.0, -1.0), *out++ = kf_law_push(-1.0, 2.0, -1.0);\n"
    "    *out++ = kf_law_push(-1.0, 2.0, 1.0);\n"
    "    *out++ = kf_law_excess_across(0.9, 2.0), *out++ = kf_law_excess_across(1.3, 2.0);\n"
    "    *out++ = kf_law_push_across(1.0, 2.0), *out++ = kf_law_push_across(1.5, 2.0);\n"
    "    *out++ = kf_law_push_across(2.0, 2.0);\n"
    "}\n";

static int write_source(void **state) {
    char real[KF_PATH], link[KF_PATH];
    if (fixture_setup(state) != 0 || realpath("kernels/kinetic", real) == NULL) return -1;
    snprintf(link, sizeof link, "%s/data/kernels/kinetic", fixture_folder);
    fixture_write("data/kernels/test/limits.cu", limit_source);
    return symlink(real, link);
}

/* Answers for nodes beside a stream of speed 2. */
static void test_limits_of_speeds(void **state) {
    (void)state;
    static const double expected[ANSWERS] = {
        0.0, 0.1, -0.3,      /* no slip for what is above 1.25 times the speed, and for what flows back */
        1.0, 0.5, 0.0,       /* a push on: less from 1.25 on, none at 1.75 */
        1.0, 0.5, 0.0,  1.0, /* a push back: none at half the speed against the stream; a push on there */
        0.0, 0.3,            /* no slip for what is above half the speed across the stream */
        1.0, 0.5, 0.0,       /* a push across: less from half the speed on, none at all of it */
    };
    double answers[ANSWERS];
    limit_arguments arguments = {{1, 1, 1}, answers};
    const kf_source source = {.file = "kernels/test/limits.cu"};
    kf_backend *backend = NULL;
    kf_module *module = NULL;
    kf_function *function = NULL;
    kf_launch launch;
    kf_error error = {0};
    if (kf_backend_open("cpu:1", &backend, &error) != KF_OK ||
        kf_module_load(backend, &source, &module, NULL, &error) != KF_OK ||
        kf_module_function(module, "limits", &function, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_launch_set(&launch, "limits", function, (const int[3]){1, 1, 1}, &arguments, sizeof arguments);
    if (kf_backend_launch(backend, &launch, &error) != KF_OK ||
        kf_backend_synchronize(backend, &error) != KF_OK)
        fail_msg("%s", error.message);
    for (int i = 0; i < ANSWERS; i++)
        near(answers[i], expected[i]);
    kf_module_free(module);
    kf_backend_close(backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits_of_speeds)};
    return cmocka_run_group_tests(tests, write_source, fixture_teardown);
}
