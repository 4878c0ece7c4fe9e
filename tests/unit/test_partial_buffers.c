/* Tests buffers of which a device keeps a part. Faults: a byte that is not kept, or a kernel outside of
 * its part that is not named. */
#include "tests/unit/scale_kernel.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns how a process ends that writes that byte. */
static int writes(const kf_buffer *buffer, size_t byte) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL); /* cmocka's handler would report a failed test */
        ((volatile char *)kf_buffer_address(buffer))[byte] = 1;
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_partial_buffers_keep_what_they_are_asked_for(void **state) {
    (void)state;
    enum { PERIOD = 1 << 20, KEPT_FROM = 300000, KEPT_TO = 400000, PERIODS = 3, BYTES = PERIODS * PERIOD };
    const size_t kept[2][2] = {{KEPT_FROM, KEPT_TO}, {PERIOD - 10, PERIOD}};
    kf_backend *backend = open_cpu();
    kf_buffer *buffer = NULL;
    kf_error error = {0};
    assert_int_equal(kf_buffer_partial(backend, BYTES, PERIOD, kept, 2, &buffer, &error), KF_OK);
    assert_int_equal(kf_buffer_fill(buffer, 0x5a, &error), KF_OK);
    const char *bytes = kf_buffer_address(buffer);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t start = 0; start < BYTES; start += PERIOD) {
        for (size_t i = KEPT_FROM; i < KEPT_TO; i++)
            assert_int_equal(bytes[start + i], 0x5a);
        assert_int_equal(bytes[start + PERIOD - 1], 0x5a);
        assert_int_equal(writes(buffer, start + KEPT_FROM), 0);
        assert_int_equal(writes(buffer, start + KEPT_TO - 1), 0);
        assert_int_equal(writes(buffer, start + KEPT_FROM - page), SIGSEGV);
        assert_int_equal(writes(buffer, start + KEPT_TO + page), SIGSEGV);
        assert_int_equal(writes(buffer, start + PERIOD - 10 - page), SIGSEGV);
    }
    assert_int_equal(kf_buffer_check(buffer, &error), KF_OK);
    ((char *)kf_buffer_address(buffer))[BYTES] ^= 1;
    assert_int_not_equal(kf_buffer_check(buffer, &error), KF_OK);
    kf_buffer_free(buffer);
    const size_t beyond[1][2] = {{0, PERIOD + 1}};
    assert_int_equal(kf_buffer_partial(backend, BYTES, PERIOD, beyond, 1, &buffer, &error), KF_BAD_INPUT);
    kf_backend_close(backend);
}

/* Scales `items` floats from this byte of a partial buffer on, and checks the buffer. Returns the status. */
static kf_status oversteps(kf_backend *backend, kf_function *function, const kf_buffer *buffer, size_t from,
                           int items, kf_error *error) {
    const int block[3] = {32, 1, 1};
    scale_arguments arguments = {{items, 1, 1}, NULL, 2.0f};
    kf_launch launch;
    arguments.values = (float *)kf_buffer_address(buffer) + from / sizeof(float);
    kf_launch_set(&launch, "scale", function, block, &arguments, sizeof arguments);
    KF_TRY(kf_backend_launch(backend, &launch, error));
    KF_TRY(kf_backend_synchronize(backend, error));
    return kf_buffer_check(buffer, error);
}

/* A kernel that forms an address which its device does not keep fails with its name. On pages without
 * memory a fault tells, in any thread, again and again; on others, what it wrote beside kept bytes. */
static void test_oversteps_are_named(void **state) {
    (void)state;
    enum { PERIOD = 1 << 20, FROM = 300000, TO = 400000, BYTES = 3 * PERIOD, FLOATS = (TO - FROM) / 4 };
    const size_t kept[2][2] = {{PERIOD - 12, PERIOD}, {FROM, TO}};
    kf_backend *backend = open_cpu();
    kf_module *module = load(backend, "kernels/test/scale.cu", "1", NULL);
    kf_function *function = NULL;
    kf_buffer *buffer = NULL, *other = NULL;
    kf_error error = {0};
    assert_int_equal(kf_module_function(module, "scale", &function, &error), KF_OK);
    assert_int_equal(kf_buffer_partial(backend, BYTES, PERIOD, kept, 2, &buffer, &error), KF_OK);
    assert_int_equal(kf_buffer_partial(backend, BYTES, PERIOD, kept, 2, &other, &error), KF_OK);
    assert_int_equal(kf_buffer_fill(buffer, 0, &error), KF_OK);
    assert_int_equal(oversteps(backend, function, buffer, PERIOD + FROM, FLOATS, &error), KF_OK);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(oversteps(backend, function, buffer, PERIOD + 500000, 1, &error), KF_GATE_FAILED);
        assert_non_null(strstr(error.message, "scale accessed byte 1548576 of a buffer"));
        assert_int_equal(oversteps(backend, function, buffer, FROM, PERIOD / 4, &error), KF_GATE_FAILED);
        assert_non_null(strstr(error.message, "scale accessed byte "));
        assert_int_equal(kf_buffer_upload(buffer, 600000, "x", 1, &error), KF_GATE_FAILED);
        assert_non_null(strstr(error.message, "an upload accessed byte 600000 of"));
        kf_buffer_free(buffer);
        buffer = other;
    }
    buffer = NULL;
    for (int side = 0; side < 2; side++) {
        const size_t at = (side == 0 ? FROM - 4 : TO) + PERIOD;
        char where[64];
        (void)snprintf(where, sizeof where, "a kernel wrote byte %zu", at);
        assert_int_equal(kf_buffer_partial(backend, BYTES, PERIOD, kept, 2, &buffer, &error), KF_OK);
        assert_int_equal(kf_buffer_check(buffer, &error), KF_OK);
        memset((char *)kf_buffer_address(buffer) + at, 0, 1);
        assert_int_equal(kf_buffer_check(buffer, &error), KF_GATE_FAILED);
        assert_non_null(strstr(error.message, where));
        kf_buffer_free(buffer);
    }
    kf_module_free(module);
    kf_backend_close(backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        /* This comes first, as no launch may come before a fork. */
        cmocka_unit_test(test_partial_buffers_keep_what_they_are_asked_for),
        cmocka_unit_test(test_oversteps_are_named),
    };
    return cmocka_run_group_tests(tests, write_sources, fixture_teardown);
}
