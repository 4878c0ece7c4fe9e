/* Tests the cuda backend on a GPU: devices, kernels, memory, errors. Faults: a wrong result or size, or a
 * kernel's error that is lost or blamed on the next one. Without a GPU every test is skipped. */
#include "tests/unit/backend_gpu_fixture.h"

#include <math.h>

#include "base/backend/team/team.h"
#include "base/util/memory.h"

/* --- Devices ------------------------------------------------------------------------------------------ */

static void check_device(void) {
    kf_device_info described;
    kf_device_state state;
    const kf_device_info *opened = kf_backend_device(gpu);
    WORKS(kf_cuda_device_describe(0, &described, &problem));
    CHECK(strcmp(described.identity, opened->identity) == 0);
    CHECK(strcmp(described.name, opened->name) == 0 && opened->name[0]);
    CHECK(strcmp(described.compiler, opened->compiler) == 0 && strstr(opened->compiler, "NVRTC"));
    CHECK(strcmp(described.architecture, opened->architecture) == 0);
    CHECK(strncmp(opened->architecture, "sm_", 3) == 0 && strncmp(opened->identity, "GPU-", 4) == 0);
    CHECK(strlen(opened->identity) == 40 && opened->driver[0] && opened->spec[5] == '0');
    CHECK(opened->multiprocessors > 0 && opened->warp_size == 32 && opened->max_threads_per_block >= 1024);
    CHECK(opened->memory_free_bytes > 0 && opened->memory_free_bytes <= opened->memory_bytes);
    CHECK(opened->l2_bytes > 0 && opened->peak_bandwidth >= 0.0);
    kf_backend_device_state(gpu, &state);
    CHECK(isnan(state.sm_clock_mhz) || (state.sm_clock_mhz > 0.0 && state.sm_clock_mhz < 10000.0));
    CHECK(isnan(state.temperature_c) || (state.temperature_c > 0.0 && state.temperature_c < 150.0));
    CHECK(isnan(state.power_w) || (state.power_w > 0.0 && state.power_w < 5000.0));
    (void)printf("%s (%s), driver %s, %s, %s, %d multiprocessors, %.1f of %.1f GiB free, L2 %.1f MiB, peak "
                 "%.0f GB/s, SM %.0f MHz, memory %.0f MHz, %.0f C, %.0f W, throttle %#llx\n",
                 opened->name, opened->identity, opened->driver, opened->compiler, opened->architecture,
                 opened->multiprocessors, (double)opened->memory_free_bytes / 0x1p30,
                 (double)opened->memory_bytes / 0x1p30, (double)opened->l2_bytes / 0x1p20,
                 opened->peak_bandwidth / 1e9, state.sm_clock_mhz, state.memory_clock_mhz,
                 state.temperature_c, state.power_w, (unsigned long long)state.throttle_reasons);
    (void)fflush(stdout);
}

static void device_is_described_before_and_after_opening(void **state) {
    (void)state;
    kf_device_info info;
    kf_error error = {0};
    need_gpu();
    assert_int_equal(kf_cuda_device_describe(0, &info, &error), KF_OK);
    const kf_source source = {.file = "kernels/test/gpu.cu"};
    kf_build build;
    assert_int_equal(kf_source_prebuild(&info, &source, &build, &error), KF_OK);
    assert_false(build.cached);
    in_child(check_device); /* CUDA works in a child although the parent has described and compiled */
    assert_int_equal(kf_cuda_device_describe(0, &info, &error), KF_OK);
    in_child(check_device);
    assert_int_equal(kf_cuda_device_describe(1000, &info, &error), KF_BAD_INPUT);
}

static void check_second_backend(void) {
    kf_backend *second = NULL;
    kf_buffer *there = NULL, *here = buffer_of(16);
    int values[4] = {1, 2, 3, 4}, back[4] = {0};
    WORKS(kf_backend_open("cuda", &second, &problem));
    WORKS(kf_buffer_create(second, 16, &there, &problem));
    WORKS(kf_buffer_upload(here, 0, values, sizeof values, &problem));
    WORKS(kf_buffer_fill(there, 0, &problem));
    CHECK(kf_buffer_copy(there, here, 16, &problem) == KF_BAD_INPUT);
    kf_buffer_free(there);
    kf_backend_close(second);
    WORKS(kf_buffer_download(here, 0, back, sizeof back, &problem)); /* the first one still works */
    CHECK(memcmp(values, back, sizeof back) == 0);
    kf_buffer_free(here);
    CHECK(kf_backend_open("cuda:63", &second, &problem) == KF_BAD_INPUT &&
          strstr(problem.message, "cuda:63"));
}

static void backends_open_and_close_independently(void **state) {
    (void)state;
    in_child(check_second_backend);
}

static void check_fork_after_cuda(void) {
    const pid_t grandchild = fork();
    if (grandchild == 0) {
        kf_backend *backend = NULL;
        const kf_status status = kf_backend_open("cuda:0", &backend, &problem);
        _exit(status == KF_MACHINE && strstr(problem.message, "forked") ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
}

static void forking_after_cuda_is_told_plainly(void **state) {
    (void)state;
    in_child(check_fork_after_cuda);
}

/* --- Kernels ------------------------------------------------------------------------------------------ */

static float axpy_x(int i) {
    return (float)(i % 1021) - 500.0F;
}

/* Handles as many items as the buffers have. Values beyond must not change. */
static void check_axpy(int items, int size, int block) {
    float *x = malloc((size_t)size * sizeof *x), *y = malloc((size_t)size * sizeof *y);
    CHECK(x && y);
    for (int i = 0; i < size; i++) {
        x[i] = axpy_x(i);
        y[i] = (float)(i % 13);
    }
    const size_t bytes = (size_t)size * sizeof *x;
    kf_buffer *device_x = buffer_of(bytes), *device_y = buffer_of(bytes);
    WORKS(kf_buffer_upload(device_x, 0, x, bytes, &problem));
    WORKS(kf_buffer_upload(device_y, 0, y, bytes, &problem));
    const axpy_arguments arguments = {
        {items, 1, 1}, kf_buffer_address(device_x), kf_buffer_address(device_y), 2.0F};
    const kf_launch launch = make_launch("axpy", block, 1, 1, &arguments, sizeof arguments);
    run_and_wait(&launch);
    WORKS(kf_buffer_download(device_y, 0, y, bytes, &problem));
    for (int i = 0; i < size; i++)
        CHECK(y[i] == (float)(i % 13) + (i < items ? 2.0F * axpy_x(i) : 0.0F));
    kf_buffer_free(device_x);
    kf_buffer_free(device_y);
    free(x);
    free(y);
}

static void check_odd_extents(void) {
    check_axpy(1, 64, 128);
    check_axpy(127, 256, 128);
    check_axpy(1000003, 1000100, 96);
    check_axpy(4097, 4200, 1024);
    check_axpy(37, 64, 1);
    check_axpy(0, 64, 128); /* nothing runs, nothing fails */
    check_axpy(-5, 64, 128);
}

static void odd_and_empty_extents(void **state) {
    (void)state;
    in_child(check_odd_extents);
}

static void check_numbering(const int extent[3], const int block[3]) {
    const int items = extent[0] * extent[1] * extent[2], padded = items + 97;
    const size_t bytes = (size_t)padded * sizeof(int);
    int *out = malloc(bytes);
    CHECK(out);
    kf_buffer *buffer = buffer_of(bytes);
    WORKS(kf_buffer_fill(buffer, 0xFF, &problem));
    const pointer_arguments arguments = {{extent[0], extent[1], extent[2]}, kf_buffer_address(buffer)};
    const kf_launch launch =
        make_launch("number", block[0], block[1], block[2], &arguments, sizeof arguments);
    run_and_wait(&launch);
    WORKS(kf_buffer_download(buffer, 0, out, bytes, &problem));
    for (int i = 0; i < items; i++) {
        const int x = i % extent[0], y = i / extent[0] % extent[1], z = i / (extent[0] * extent[1]);
        CHECK(out[i] == x + 1000 * y + 1000000 * z);
    }
    for (int i = items; i < padded; i++)
        CHECK(out[i] == -1);
    kf_buffer_free(buffer);
    free(out);
}

static void check_blocks(void) {
    static const int extents[][3] = {{7, 5, 3}, {129, 33, 17}, {1, 1, 65}, {200, 1, 1}, {64, 64, 4}};
    static const int blocks[][3] = {{1, 1, 1}, {4, 2, 2}, {32, 4, 1}, {64, 2, 8}, {8, 8, 8}};
    for (size_t e = 0; e < sizeof extents / sizeof extents[0]; e++)
        for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++)
            check_numbering(extents[e], blocks[b]);
}

static void blocks_of_three_dimensions(void **state) {
    (void)state;
    in_child(check_blocks);
}

static void check_atomics(void) {
    enum { ITEMS = 100003 };
    kf_buffer *buffer = buffer_of(32);
    char *base = kf_buffer_address(buffer);
    const sum_arguments arguments = {{ITEMS, 1, 1}, base, base + 8, base + 16, base + 24};
    const kf_launch launch = make_launch("sum", 256, 1, 1, &arguments, sizeof arguments);
    const int64_t total = (int64_t)ITEMS * (ITEMS - 1) / 2;
    WORKS(kf_buffer_fill(buffer, 0, &problem));
    run_and_wait(&launch);
    int count;
    int64_t sum;
    float single;
    double twice;
    WORKS(kf_buffer_download(buffer, 0, &count, sizeof count, &problem));
    WORKS(kf_buffer_download(buffer, 8, &sum, sizeof sum, &problem));
    WORKS(kf_buffer_download(buffer, 16, &single, sizeof single, &problem));
    WORKS(kf_buffer_download(buffer, 24, &twice, sizeof twice, &problem));
    CHECK(count == ITEMS && single == (float)ITEMS);
    CHECK(sum == -(total << 20) && twice == 0.5 * (double)total);
    kf_buffer_free(buffer);
}

static void atomics_add_up(void **state) {
    (void)state;
    in_child(check_atomics);
}

static void check_functions(void) {
    kf_function *axpy = kernel("axpy"), *missing = NULL;
    kf_function_info info;
    CHECK(kernel("axpy") == axpy);
    kf_function_describe(axpy, &info);
    CHECK(info.registers > 0 && info.registers <= 255 && info.max_threads >= 256 && info.max_threads <= 1024);
    CHECK(info.spill_bytes == 0 && info.shared_bytes == 0);
    CHECK(kf_function_resident_blocks(axpy, 32, 0) >= 1);
    CHECK(kf_function_resident_blocks(axpy, 256, 0) >= kf_function_resident_blocks(axpy, 1024, 0));
    CHECK(kf_function_resident_blocks(axpy, 2048, 0) == 0);
    CHECK(strcmp(kf_function_occupancy_limit(axpy, 32, 0), "blocks") == 0);
    CHECK(strcmp(kf_function_occupancy_limit(axpy, 1024, 0), "threads") == 0);
    /* Dynamic shared memory keeps blocks out, too: no multiprocessor has room for seven times 40 KiB. */
    CHECK(kf_function_resident_blocks(axpy, 32, 40 << 10) < 7);
    CHECK(strcmp(kf_function_occupancy_limit(axpy, 32, 40 << 10), "shared memory") == 0);
    CHECK(kf_module_function(kernels, "no_such_kernel", &missing, &problem) == KF_MACHINE && !missing);
    CHECK(strstr(problem.message, "no_such_kernel") && strstr(problem.message, "gpu.cu"));
}

static void functions_are_described(void **state) {
    (void)state;
    in_child(check_functions);
}

static void check_limits(void) {
    kf_buffer *buffer = buffer_of(64);
    pointer_arguments arguments = {{1, 70000, 1}, kf_buffer_address(buffer)};
    kf_launch launch = make_launch("wild", 32, 1, 1, &arguments, sizeof arguments);
    CHECK(kf_backend_launch(gpu, &launch, &problem) == KF_MACHINE && strstr(problem.message, "along y"));
    launch = make_launch("wild", 32, 2, 1, &arguments, sizeof arguments);
    run_and_wait(&launch);
    launch = make_launch("wild", 64, 32, 1, &arguments, sizeof arguments);
    CHECK(kf_backend_launch(gpu, &launch, &problem) == KF_MACHINE && strstr(problem.message, "too large"));
    launch = make_launch("wild", 1, 1, 128, &arguments, sizeof arguments);
    CHECK(kf_backend_launch(gpu, &launch, &problem) == KF_MACHINE && strstr(problem.message, "too large"));
    launch = make_launch("axpy", 32, 1, 1, &arguments, sizeof arguments);
    CHECK(kf_backend_launch(gpu, &launch, &problem) == KF_MACHINE);
    arguments.extent[1] = 1; /* and the device still works */
    launch = make_launch("wild", 32, 1, 1, &arguments, sizeof arguments);
    run_and_wait(&launch);
    kf_buffer_free(buffer);
}

static void impossible_launches_are_refused(void **state) {
    (void)state;
    in_child(check_limits);
}

/* --- Memory ------------------------------------------------------------------------------------------- */

static unsigned char pattern(size_t i) {
    return (unsigned char)(i * 7 + (i >> 16));
}

static void check_copies_of(size_t bytes) {
    const size_t offset = 5;
    unsigned char *sent = malloc(bytes), *back = calloc(bytes, 1), edge[10];
    CHECK(sent && back);
    for (size_t i = 0; i < bytes; i++)
        sent[i] = pattern(i);
    kf_buffer *buffer = buffer_of(bytes + 10), *copy = buffer_of(bytes + 10);
    WORKS(kf_buffer_fill(buffer, 0xA5, &problem));
    WORKS(kf_buffer_upload(buffer, offset, sent, bytes, &problem));
    WORKS(kf_buffer_copy(copy, buffer, bytes + 10, &problem));
    WORKS(kf_buffer_download(copy, offset, back, bytes, &problem));
    CHECK(memcmp(sent, back, bytes) == 0);
    WORKS(kf_buffer_download(copy, 0, edge, offset, &problem));
    WORKS(kf_buffer_download(copy, offset + bytes, edge + offset, 5, &problem));
    for (int i = 0; i < 10; i++)
        CHECK(edge[i] == 0xA5);
    CHECK(kf_buffer_size(buffer) == bytes + 10);
    CHECK(kf_buffer_upload(buffer, 11, sent, bytes, &problem) == KF_BAD_INPUT);
    kf_buffer_free(buffer);
    kf_buffer_free(copy);
    free(sent);
    free(back);
}

static void check_copies(void) {
    const size_t mebibyte = (size_t)1 << 20;
    check_copies_of(1);
    check_copies_of(64 * mebibyte);     /* the largest that goes directly */
    check_copies_of(64 * mebibyte + 1); /* a last stage of one byte */
    check_copies_of(200 * mebibyte + 12345);
    check_copies_of(96 * mebibyte); /* whole stages */
}

static void large_copies_arrive_complete(void **state) {
    (void)state;
    in_child(check_copies);
}

static void check_large_buffer(void) {
    const int nx = 65536, ny = 32769 + 512; /* above 2^31 bytes */
    const size_t bytes = (size_t)nx * (size_t)ny, around = ((size_t)1 << 31) - 1000;
    unsigned char part[4096];
    kf_buffer *buffer = buffer_of(bytes);
    WORKS(kf_buffer_fill(buffer, 0, &problem));
    const pointer_arguments arguments = {{nx, ny, 1}, kf_buffer_address(buffer)};
    const kf_launch launch = make_launch("pattern", 256, 1, 1, &arguments, sizeof arguments);
    run_and_wait(&launch);
    const size_t places[] = {0, around, bytes - sizeof part};
    for (size_t p = 0; p < 3; p++) {
        WORKS(kf_buffer_download(buffer, places[p], part, sizeof part, &problem));
        for (size_t i = 0; i < sizeof part; i++)
            CHECK(part[i] == pattern(places[p] + i));
    }
    kf_buffer_free(buffer);
}

static void buffers_above_two_gibibytes(void **state) {
    (void)state;
    in_child(check_large_buffer);
}

static void check_out_of_memory(void) {
    kf_buffer *buffer = NULL;
    const size_t too_much = 2 * (size_t)kf_backend_device(gpu)->memory_bytes;
    CHECK(kf_buffer_create(gpu, too_much, &buffer, &problem) == KF_MACHINE && !buffer);
    CHECK(strstr(problem.message, "out of memory"));
    check_axpy(1000, 1000, 64);
}

static void out_of_memory_is_survived(void **state) {
    (void)state;
    in_child(check_out_of_memory);
}

/* --- Faults ------------------------------------------------------------------------------------------- */

static void check_illegal_address(void) {
    kf_buffer *buffer = buffer_of(64);
    const pointer_arguments arguments = {{32, 1, 1}, (void *)16};
    const kf_launch launch = make_launch("wild", 32, 1, 1, &arguments, sizeof arguments);
    kf_status status = kf_backend_launch(gpu, &launch, &problem);
    if (status == KF_OK) status = kf_backend_synchronize(gpu, &problem);
    CHECK(status == KF_MACHINE);
    CHECK(strstr(problem.message, "illegal") && strstr(problem.message, "cuda: "));
    (void)printf("%s\n", problem.message);
    (void)fflush(stdout);
    /* The context is lost. All that is left to do must still end without harm. */
    CHECK(kf_backend_synchronize(gpu, &problem) == KF_MACHINE);
    CHECK(kf_buffer_fill(buffer, 0, &problem) == KF_MACHINE);
    kf_buffer_free(buffer);
}

static void illegal_address_costs_one_process(void **state) {
    (void)state;
    in_child(check_illegal_address);
    in_child(check_atomics); /* the next process is not harmed */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_is_described_before_and_after_opening),
        cmocka_unit_test(backends_open_and_close_independently),
        cmocka_unit_test(forking_after_cuda_is_told_plainly),
        cmocka_unit_test(odd_and_empty_extents),
        cmocka_unit_test(blocks_of_three_dimensions),
        cmocka_unit_test(atomics_add_up),
        cmocka_unit_test(functions_are_described),
        cmocka_unit_test(impossible_launches_are_refused),
        cmocka_unit_test(large_copies_arrive_complete),
        cmocka_unit_test(buffers_above_two_gibibytes),
        cmocka_unit_test(out_of_memory_is_survived),
        cmocka_unit_test(illegal_address_costs_one_process),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
