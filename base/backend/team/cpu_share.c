/* Buffers of a team of cpus, whose memory is one, and of several processes on a host. */
#include "base/backend/cpu/cpu.h"
#include "base/backend/team/internal.h"

/* Devices of this kind share their memory. */
static kf_status buffer_spread(kf_backend *const *parts, int count, size_t bytes, size_t period,
                               const size_t *ends, kf_buffer **buffer, kf_error *error) {
    (void)count, (void)period, (void)ends;
    return parts[0]->methods->buffer_create(parts[0], bytes, buffer, error);
}

/* Shares one piece of memory, which the first of the processes makes. */
static kf_status buffer_share(kf_backend *first, size_t bytes, size_t period, const size_t *ends,
                              kf_buffer **buffer, kf_error *error) {
    const uint64_t available = kf_cpu_available_memory();
    const kf_status room =
        bytes <= available
            ? KF_OK
            : kf_fail(error, KF_MACHINE, "out of memory: no %zu bytes; use a smaller grid", bytes);
    void *address = NULL;
    (void)period, (void)ends;
    KF_TRY(kf_shared_memory(room, bytes + KF_GUARD_BYTES, &address, error));
    *buffer = kf_cpu_buffer_of(first, address, bytes, bytes + KF_GUARD_BYTES);
    return KF_OK;
}

const kf_team_methods kf_cpu_team_methods = {.buffer_spread = buffer_spread, .buffer_share = buffer_share};
