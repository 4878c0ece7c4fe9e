#include "harness/measure/sm_clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/log.h"
#include "base/util/memory.h"

/* Holds the kernel's arguments (kernels/probe/clock.cu). */
typedef struct clock_arguments {
    int extent[3];
    int slot, slots;
    int multiprocessors;
    long long *readings;
} clock_arguments;

struct kf_sm_clock {
    kf_backend *backend;
    kf_module *module;
    kf_function *function;
    kf_buffer *readings;
    int64_t *copy;
    int slots, next, multiprocessors;
};

static kf_status open_reader(kf_sm_clock *r, kf_error *error) {
    const kf_source source = {.file = "kernels/probe/clock.cu"};
    const size_t bytes = 2 * sizeof(int64_t) * (size_t)r->slots * (size_t)r->multiprocessors;
    KF_TRY(kf_module_load(r->backend, &source, &r->module, NULL, error));
    KF_TRY(kf_module_function(r->module, "read_clock", &r->function, error));
    KF_TRY(kf_buffer_create(r->backend, bytes, &r->readings, error));
    r->copy = kf_allocate(bytes);
    return kf_buffer_fill(r->readings, 0, error);
}

kf_sm_clock *kf_sm_clock_open(kf_backend *backend, int readings) {
    const kf_device_info *device = kf_backend_device(backend);
    kf_error error = {KF_OK, ""};
    if (!kf_device_is_gpu(device) || device->multiprocessors < 1) return NULL;
    kf_sm_clock *made = kf_allocate_zeroed(1, sizeof *made);
    *made = (kf_sm_clock){.backend = backend, .slots = readings, .multiprocessors = device->multiprocessors};
    if (open_reader(made, &error) == KF_OK) return made;
    kf_detail("the multiprocessors' clock cannot be read: %s", error.message);
    kf_sm_clock_close(made);
    return NULL;
}

void kf_sm_clock_close(kf_sm_clock *reader) {
    if (reader == NULL) return;
    kf_buffer_free(reader->readings);
    kf_module_free(reader->module);
    free(reader->copy);
    free(reader);
}

kf_status kf_sm_clock_mark(kf_sm_clock *reader, kf_error *error) {
    if (reader == NULL || reader->next >= reader->slots) return KF_OK;
    const int block[3] = {1, 1, 1};
    const clock_arguments arguments = {.extent = {reader->multiprocessors, 1, 1},
                                       .slot = reader->next++,
                                       .slots = reader->slots,
                                       .multiprocessors = reader->multiprocessors,
                                       .readings = kf_buffer_address(reader->readings)};
    kf_launch launch;
    kf_launch_set(&launch, "read_clock", reader->function, block, &arguments, sizeof arguments);
    return kf_backend_launch(reader->backend, &launch, error);
}

/* Returns the median over the multiprocessors that were read at both places. Blocks may run on any
 * multiprocessor. */
static double interval_mhz(const kf_sm_clock *r, int slot) {
    double *clocks = kf_allocate((size_t)r->multiprocessors * sizeof *clocks);
    size_t count = 0;
    for (int i = 0; i < r->multiprocessors; i++) {
        const int64_t *from = r->copy + 2 * ((size_t)i * (size_t)r->slots + (size_t)slot), *to = from + 2;
        if (from[1] != 0 && to[1] > from[1] && to[0] > from[0])
            clocks[count++] = 1e3 * (double)(to[0] - from[0]) / (double)(to[1] - from[1]);
    }
    const double median = kf_median(clocks, count);
    free(clocks);
    return count > 0 ? median : (double)NAN;
}

kf_status kf_sm_clock_take(kf_sm_clock *reader, int intervals, double *mhz, kf_error *error) {
    for (int i = 0; i < intervals; i++)
        mhz[i] = (double)NAN;
    if (reader == NULL) return KF_OK;
    const size_t bytes = kf_buffer_size(reader->readings);
    KF_TRY(kf_buffer_download(reader->readings, 0, reader->copy, bytes, error));
    for (int i = 0; i < intervals && 2 * i + 1 < reader->next; i++)
        mhz[i] = interval_mhz(reader, 2 * i);
    reader->next = 0;
    return kf_buffer_fill(reader->readings, 0, error);
}
