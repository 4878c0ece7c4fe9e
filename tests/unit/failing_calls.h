/* Calls to devices that fail or take long on a test's request. The test is linked with --wrap for each of
 * them (FAILING_CALLS in the Makefile), so that calls between the program's files come here first. */
#ifndef KF_TESTS_UNIT_FAILING_CALLS_H
#define KF_TESTS_UNIT_FAILING_CALLS_H

#include <time.h>

#include "base/backend/team/team.h"
#include "base/util/memory.h"
#include "base/util/random.h"

static struct {
    int fails;       /* number of the call that fails, from 1; 0: none */
    int calls;       /* made so far */
    bool scatters;   /* some calls take long */
    uint64_t random; /* which */
} failing;

/* Makes the call of this number fail, counted from here on. 0: none. */
static inline void fail_call(int number) {
    failing.fails = number;
    failing.calls = 0;
}

static inline bool call_fails(void) {
    enum { ONE_IN = 40, LONGEST_US = 5000 };
    if (failing.scatters && kf_random_below(&failing.random, ONE_IN) == 0)
        (void)nanosleep(
            &(struct timespec){.tv_nsec = 1000L * (long)kf_random_below(&failing.random, LONGEST_US)}, NULL);
    return ++failing.calls == failing.fails;
}

/* Makes the allocation of this number, counted from here on, find no memory, so that the program ends. 0:
 * none. */
static int allocations_left;
static inline void fail_allocation(int number) {
    allocations_left = number;
}

static inline size_t wanted(size_t size) {
    return allocations_left > 0 && --allocations_left == 0 ? (size_t)1 << 62 : size;
}

#define FAILING_ALLOCATION(name, parameters, arguments)                                                      \
    void *__real_##name parameters;                                                                          \
    void *__wrap_##name parameters;                                                                          \
    void *__wrap_##name parameters {                                                                         \
        return __real_##name arguments;                                                                      \
    }

FAILING_ALLOCATION(kf_allocate, (size_t size), (wanted(size)))
FAILING_ALLOCATION(kf_allocate_zeroed, (size_t count, size_t size), (count, wanted(size)))
FAILING_ALLOCATION(kf_reallocate, (void *memory, size_t size), (memory, wanted(size)))

#define FAILING_CALL(name, parameters, arguments)                                                            \
    kf_status __real_##name parameters;                                                                      \
    kf_status __wrap_##name parameters;                                                                      \
    kf_status __wrap_##name parameters {                                                                     \
        if (call_fails()) return kf_fail(error, KF_MACHINE, "call %d fails, of " #name, failing.calls);      \
        return __real_##name arguments;                                                                      \
    }

FAILING_CALL(kf_module_load,
             (kf_backend * backend, const kf_source *source, kf_module **module, kf_build *build,
              kf_error *error),
             (backend, source, module, build, error))
FAILING_CALL(kf_module_function,
             (kf_module * module, const char *name, kf_function **function, kf_error *error),
             (module, name, function, error))
FAILING_CALL(kf_buffer_create, (kf_backend * backend, size_t bytes, kf_buffer **buffer, kf_error *error),
             (backend, bytes, buffer, error))
FAILING_CALL(kf_buffer_partial,
             (kf_backend * backend, size_t bytes, size_t period, const size_t (*kept)[2], int count,
              kf_buffer **buffer, kf_error *error),
             (backend, bytes, period, kept, count, buffer, error))
FAILING_CALL(kf_buffer_share,
             (kf_backend * backend, size_t bytes, size_t period, const size_t *ends, kf_buffer **buffer,
              kf_error *error),
             (backend, bytes, period, ends, buffer, error))
FAILING_CALL(kf_buffer_fill, (kf_buffer * buffer, unsigned char byte, kf_error *error), (buffer, byte, error))
FAILING_CALL(kf_buffer_upload,
             (kf_buffer * buffer, size_t offset, const void *data, size_t bytes, kf_error *error),
             (buffer, offset, data, bytes, error))
FAILING_CALL(kf_buffer_download,
             (const kf_buffer *buffer, size_t offset, void *data, size_t bytes, kf_error *error),
             (buffer, offset, data, bytes, error))
FAILING_CALL(kf_buffer_check, (const kf_buffer *buffer, kf_error *error), (buffer, error))
FAILING_CALL(kf_stream_launch, (kf_stream * stream, const kf_launch *launch, kf_error *error),
             (stream, launch, error))
FAILING_CALL(kf_stream_call, (kf_stream * stream, kf_call_function *enqueue, void *object, kf_error *error),
             (stream, enqueue, object, error))
FAILING_CALL(kf_stream_copy, (kf_stream * stream, const kf_copy *copy, kf_error *error),
             (stream, copy, error))
FAILING_CALL(kf_stream_signal, (kf_stream * stream, kf_mark *mark, kf_error *error), (stream, mark, error))
FAILING_CALL(kf_stream_await, (kf_stream * stream, kf_mark *mark, kf_error *error), (stream, mark, error))
FAILING_CALL(kf_backend_launch, (kf_backend * backend, const kf_launch *launch, kf_error *error),
             (backend, launch, error))
FAILING_CALL(kf_mark_create, (kf_backend * backend, kf_mark **mark, kf_error *error), (backend, mark, error))
FAILING_CALL(kf_mark_create_shared, (kf_backend * backend, bool own, kf_mark **mark, kf_error *error),
             (backend, own, mark, error))
FAILING_CALL(kf_event_create, (kf_backend * backend, kf_event **event, kf_error *error),
             (backend, event, error))
FAILING_CALL(kf_event_record, (kf_event * event, kf_error *error), (event, error))
FAILING_CALL(kf_event_elapsed_us,
             (const kf_event *start, const kf_event *stop, double *microseconds, kf_error *error),
             (start, stop, microseconds, error))
FAILING_CALL(kf_graph_launch, (kf_graph * graph, kf_error *error), (graph, error))

#endif
