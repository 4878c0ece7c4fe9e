/* A kernel that scales numbers, for tests of the cpu backend. */
#ifndef KF_TESTS_UNIT_SCALE_KERNEL_H
#define KF_TESTS_UNIT_SCALE_KERNEL_H

#include "base/backend/backend.h"
#include "base/backend/team/team.h"
#include "tests/unit/kernel_fixture.h"

typedef struct scale_arguments {
    int extent[3];
    float *values;
    float factor;
} scale_arguments;

static const char scale_source[] =
    "#include \"portable.h\"\n"
    "typedef struct scale_arguments { int extent[3]; float *values; float factor; } scale_arguments;\n"
    "KF_KERNEL(scale, scale_arguments) { a->values[x] *= a->factor * FACTOR; }\n";

static inline kf_backend *open_cpu(void) {
    kf_backend *backend = NULL;
    kf_error error = {0};
    if (kf_backend_open("cpu:2", &backend, &error) != KF_OK) fail_msg("%s", error.message);
    return backend;
}

static inline kf_module *load(kf_backend *backend, const char *file, const char *factor, kf_build *build) {
    kf_define define = {.name = "FACTOR"};
    kf_module *module = NULL;
    kf_error error = {0};
    snprintf(define.value, sizeof define.value, "%s", factor);
    const kf_source source = {.file = file, .defines = &define, .define_count = 1};
    if (kf_module_load(backend, &source, &module, build, &error) != KF_OK) fail_msg("%s", error.message);
    return module;
}

static inline int write_sources(void **state) {
    if (fixture_setup(state) != 0) return -1;
    fixture_write("data/kernels/test/scale.cu", scale_source);
    return 0;
}

#endif
