/* Tests what the driver is asked for when a kernel's blocks wait for each other: a cooperative launch. The
 * driver's entries are the test's own, so no GPU is needed. Faults: a plain launch, which may hang. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#ifdef KF_HAVE_CUDA
#include "base/backend/cuda/internal.h"
#include "base/util/log.h"

typedef struct asked_for {
    int plain, whole; /* calls */
    unsigned grid[3], block[3], shared;
    CUstream stream;
    unsigned char arguments[64];
} asked_for;
static asked_for asked;
static CUresult answer;
static char said[512];
static int lines;

static void note(unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y, unsigned block_z,
                 unsigned shared, CUstream stream) {
    const unsigned grid[3] = {x, y, z}, block[3] = {block_x, block_y, block_z};
    memcpy(asked.grid, grid, sizeof grid);
    memcpy(asked.block, block, sizeof block);
    asked.shared = shared;
    asked.stream = stream;
}

static CUresult plain(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **parameters,
                      void **extra) {
    (void)function;
    assert_true(parameters == NULL && extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER);
    note(x, y, z, block_x, block_y, block_z, shared, stream);
    memcpy(asked.arguments, extra[1], sizeof asked.arguments);
    asked.plain++;
    return answer;
}

static CUresult whole(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned shared, CUstream stream,
                      void **parameters) {
    (void)function;
    note(x, y, z, block_x, block_y, block_z, shared, stream);
    memcpy(asked.arguments, parameters[0], sizeof asked.arguments);
    asked.whole++;
    return answer;
}

static CUresult enter(CUcontext context) {
    (void)context;
    return CUDA_SUCCESS;
}

static CUresult set_attribute(CUfunction function, CUfunction_attribute attribute, int value) {
    (void)function, (void)attribute, (void)value;
    return CUDA_SUCCESS;
}

static CUresult two_a_multiprocessor(int *blocks, CUfunction function, int threads, size_t shared) {
    (void)function, (void)threads, (void)shared;
    *blocks = 2;
    return CUDA_SUCCESS;
}

static CUresult name_of(CUresult result, const char **name) {
    *name = result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE ? "TOO_LARGE" : "OTHER";
    return CUDA_SUCCESS;
}

static void hear(const char *line) {
    (void)snprintf(said, sizeof said, "%s", line);
    lines++;
}

/* The device has ten multiprocessors, which hold 20 blocks, and the kernel has as many blocks. */
typedef struct stage {
    kf_cuda_backend device;
    kf_module module;
    kf_cuda_function function;
    kf_launch launch;
    kf_stream stream;
} stage;

static const kf_backend_methods methods = {.function_resident_blocks = kf_cuda_function_resident_blocks};

static void begin(stage *s, bool has_whole, bool waits, int blocks) {
    enum { THREADS = 64 };
    struct {
        int extent[3], number;
    } arguments = {{blocks * THREADS, 1, 1}, 7};
    memset(&asked, 0, sizeof asked);
    memset(s, 0, sizeof *s);
    answer = CUDA_SUCCESS;
    lines = 0;
    s->device = (kf_cuda_backend){.base.methods = &methods,
                                  .base.device = {.spec = "cuda:3", .multiprocessors = 10},
                                  .grid_limit = {1 << 30, 65535, 65535},
                                  .block_limit = {1024, 1024, 64},
                                  .aside = (CUstream)&asked,
                                  .launches_whole = has_whole};
    s->module.backend = &s->device.base;
    s->function = (kf_cuda_function){.base.module = &s->module, .info.max_threads = 1024, .name = "steps"};
    s->stream = (kf_stream){.backend = &s->device.base, .lane = KF_LANE_ASIDE};
    kf_launch_set(&s->launch, "steps", &s->function.base, (const int[3]){THREADS, 1, 1}, &arguments,
                  sizeof arguments);
    s->launch.waits_for_all = waits;
    s->launch.shared_bytes = 4096;
}

static void must(stage *s) {
    kf_error error = {KF_OK, ""};
    if (kf_cuda_launch(&s->stream, &s->launch, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(asked.plain + asked.whole, 1);
    assert_int_equal(asked.grid[0], 20);
    assert_int_equal(asked.grid[1] * asked.grid[2], 1);
    assert_int_equal(asked.block[0], 64);
    assert_int_equal(asked.block[1] * asked.block[2], 1);
    assert_int_equal(asked.shared, 4096);
    assert_ptr_equal(asked.stream, s->device.aside);
    assert_memory_equal(asked.arguments, s->launch.arguments, 16);
}

static void blocks_that_wait_begin_at_once(void **state) {
    (void)state;
    stage s;
    begin(&s, true, true, 20);
    must(&s);
    assert_int_equal(asked.whole, 1);
    assert_int_equal(lines, 0);
    begin(&s, true, false, 20); /* they do not wait */
    must(&s);
    assert_int_equal(asked.plain, 1);
}

/* A device without cooperative launches relies on the count, and a message says so once. */
static void a_device_without_goes_by_the_count(void **state) {
    (void)state;
    stage s;
    begin(&s, false, true, 20);
    must(&s);
    assert_int_equal(asked.plain, 1);
    assert_int_equal(lines, 1);
    assert_non_null(strstr(said, "cuda:3: this device has no cooperative launches"));
    assert_non_null(strstr(said, "steps"));
    memset(&asked, 0, sizeof asked);
    must(&s);
    assert_int_equal(lines, 1);
    begin(&s, false, false, 20);
    must(&s);
    assert_int_equal(lines, 0);
}

static void more_than_fit_are_refused(void **state) {
    (void)state;
    for (int has = 0; has < 2; has++) {
        stage s;
        kf_error error = {KF_OK, ""};
        begin(&s, has, true, 21);
        assert_int_equal(kf_cuda_launch(&s.stream, &s.launch, &error), KF_MACHINE);
        assert_non_null(
            strstr(error.message, "steps: its 21 blocks wait for each other, but only 20 of them"));
        assert_int_equal(asked.plain + asked.whole, 0);
        begin(&s, has, false, 21); /* others may have more */
        assert_int_equal(kf_cuda_launch(&s.stream, &s.launch, &error), KF_OK);
    }
}

/* Where fewer blocks are resident than the count says, as where a server shares the device, the driver
 * refuses the launch. This is an error with the kernel's name. */
static void what_the_driver_refuses_is_an_error(void **state) {
    (void)state;
    stage s;
    kf_error error = {KF_OK, ""};
    begin(&s, true, true, 20);
    answer = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    assert_int_equal(kf_cuda_launch(&s.stream, &s.launch, &error), KF_MACHINE);
    assert_non_null(strstr(error.message, "steps"));
    assert_non_null(strstr(error.message, "cuLaunchCooperativeKernel: TOO_LARGE"));
    assert_int_equal(asked.plain, 0);
}

static int set_up(void **state) {
    (void)state;
    kf_cuda = (kf_cuda_driver){.cuLaunchKernel = plain,
                               .cuLaunchCooperativeKernel = whole,
                               .cuCtxSetCurrent = enter,
                               .cuFuncSetAttribute = set_attribute,
                               .cuOccupancyMaxActiveBlocksPerMultiprocessor = two_a_multiprocessor,
                               .cuGetErrorName = name_of,
                               .cuGetErrorString = name_of};
    kf_log_to(hear);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_that_wait_begin_at_once),
        cmocka_unit_test(a_device_without_goes_by_the_count),
        cmocka_unit_test(more_than_fit_are_refused),
        cmocka_unit_test(what_the_driver_refuses_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
#else
int main(void) {
    print_message("a build without CUDA has no such launches\n");
    return 0;
}
#endif
