/* Each test of the cuda backend runs in a forked child. The parent only ever counts and describes devices, so
 * that these programs also show what the tuning driver relies on: that CUDA works in its children afterwards.
 */
#ifndef KF_TESTS_UNIT_BACKEND_GPU_FIXTURE_H
#define KF_TESTS_UNIT_BACKEND_GPU_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>

#include "base/backend/backend.h"
#include "base/backend/team/team.h"
#include "tests/unit/gpu_child.h"
#include "tests/unit/kernel_folder.h"

static const char kernels_text[] =
    "#include \"portable.h\"\n"
    "typedef struct axpy_arguments { int extent[3]; const float *x; float *y; float factor; } "
    "axpy_arguments;\n"
    "KF_KERNEL(axpy, axpy_arguments) { a->y[x] += a->factor * a->x[x]; }\n"
    "typedef struct number_arguments { int extent[3]; int *out; } number_arguments;\n"
    "KF_KERNEL(number, number_arguments) {\n"
    "    a->out[((kf_int64)z * a->extent[1] + y) * a->extent[0] + x] = x + 1000 * y + 1000000 * z;\n"
    "}\n"
    "typedef struct sum_arguments {\n"
    "    int extent[3]; int *i; kf_int64 *l; float *f; double *d;\n"
    "} sum_arguments;\n"
    "KF_SCALAR_KERNEL(sum, sum_arguments) {\n"
    "    kf_atomic_add_int(a->i, 1);\n"
    "    kf_atomic_add_int64(a->l, -((kf_int64)x << 20));\n"
    "    kf_atomic_add_float(a->f, 1.0f);\n"
    "    kf_atomic_add_double(a->d, 0.5 * x);\n"
    "}\n"
    "typedef struct pattern_arguments { int extent[3]; unsigned char *out; } pattern_arguments;\n"
    "KF_KERNEL(pattern, pattern_arguments) {\n"
    "    const kf_int64 i = (kf_int64)y * a->extent[0] + x;\n"
    "    a->out[i] = (unsigned char)(i * 7 + (i >> 16));\n"
    "}\n"
    "typedef struct wild_arguments { int extent[3]; int *out; } wild_arguments;\n"
    "KF_SCALAR_KERNEL(wild, wild_arguments) { *a->out = x; }\n";

/* These are the same structs on the host. */
typedef struct axpy_arguments {
    int extent[3];
    const float *x;
    float *y;
    float factor;
} axpy_arguments;
typedef struct pointer_arguments { /* number, pattern, wild */
    int extent[3];
    void *out;
} pointer_arguments;
typedef struct sum_arguments {
    int extent[3];
    void *i, *l, *f, *d;
} sum_arguments;

static kf_error problem; /* of the child's last call that failed */
static kf_backend *gpu;
static kf_module *kernels;

static inline kf_function *kernel(const char *name) {
    kf_function *function = NULL;
    WORKS(kf_module_function(kernels, name, &function, &problem));
    return function;
}

static inline kf_buffer *buffer_of(size_t bytes) {
    kf_buffer *buffer = NULL;
    WORKS(kf_buffer_create(gpu, bytes, &buffer, &problem));
    return buffer;
}

static inline kf_launch make_launch(const char *name, int bx, int by, int bz, const void *arguments,
                                    size_t bytes) {
    kf_launch launch;
    kf_launch_set(&launch, name, kernel(name), (const int[3]){bx, by, bz}, arguments, bytes);
    return launch;
}

static inline void run_and_wait(const kf_launch *launch) {
    WORKS(kf_backend_launch(gpu, launch, &problem));
    WORKS(kf_backend_synchronize(gpu, &problem));
}

/* Runs test with the device open and the kernels loaded. The child ends like any program, through the
 * driver's exit handlers. */
static inline void run_on_gpu(void (*test)(void)) {
    const kf_source source = {.file = "kernels/test/gpu.cu"};
    WORKS(kf_backend_open("cuda:0", &gpu, &problem));
    WORKS(kf_module_load(gpu, &source, &kernels, NULL, &problem));
    test();
    kf_module_free(kernels);
    kf_backend_close(gpu);
    exit(0);
}

static inline void in_child(void (*test)(void)) {
    run_in_child(run_on_gpu, test);
}

static inline int set_up(void **state) {
    (void)state;
    return make_kernel_folder() || write_kernel("gpu.cu", kernels_text);
}

static inline int tear_down(void **state) {
    (void)state;
    return remove_kernel_folder();
}

#endif
