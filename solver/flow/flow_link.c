#include "solver/flow/flow_link.h"

#include <stdlib.h>
#include <string.h>

#include "base/backend/team/team.h"
#include "base/util/memory.h"

kf_flow_link *kf_flow_link_make(kf_plan *plan) {
    const int *firsts = kf_backend_first_parts(plan->backend);
    if (firsts == NULL) return NULL;
    kf_flow_link *link = kf_allocate_zeroed(1, sizeof *link);
    link->plan = plan;
    link->firsts = firsts;
    return link;
}

void kf_flow_link_free(kf_flow_link *link) {
    if (link == NULL) return;
    kf_world_drop(&link->posted);
    free(link->messages);
    free(link);
}

int kf_flow_link_process(const kf_flow_link *link, int number) {
    int process = 0;
    while (number >= link->firsts[process + 1])
        process++;
    return process;
}

void kf_flow_link_add(kf_flow_link *link, const kf_message *message) {
    link->messages =
        kf_grow(link->messages, link->message_count, &link->message_room, sizeof *link->messages);
    link->messages[link->message_count++] = *message;
}

bool kf_flow_link_takes_device_memory(const kf_plan *plan) {
    return strcmp(kf_backend_device(plan->backend)->backend, "cpu") == 0 || kf_world_takes_device_memory();
}

kf_status kf_flow_link_post(void *object, kf_stream *stream, kf_error *error) {
    kf_flow_link *link = object;
    KF_TRY(kf_stream_synchronize(stream, error));
    kf_world_post(link->messages, (int)link->message_count, &link->posted);
    return KF_OK;
}

kf_status kf_flow_link_await(void *object, kf_stream *stream, kf_error *error) {
    kf_flow_link *link = object;
    (void)stream;
    return kf_world_complete(&link->posted, error);
}

kf_status kf_flow_gather(void *all, size_t end, kf_error *error) {
    const int size = kf_world_size();
    if (size == 1) return KF_OK;
    int64_t *said = kf_allocate_zeroed((size_t)size, sizeof *said);
    size_t *ends = kf_allocate((size_t)size * sizeof *ends);
    said[kf_world_rank()] = (int64_t)end;
    kf_status status = kf_world_sum(said, size, error);
    for (int rank = 0; rank < size; rank++)
        ends[rank] = (size_t)said[rank];
    if (status == KF_OK) status = kf_world_gather(all, ends, error);
    free(said);
    free(ends);
    return status;
}

/* Adds the values' bits as whole numbers over all processes. A process has 0 for values that it does not
 * know. */
kf_status kf_flow_share(float *values, size_t count, kf_error *error) {
    enum { AT_ONCE = 1 << 20 };
    kf_status status = KF_OK;
    if (kf_world_size() == 1 || count == 0) return KF_OK;
    /* Adding zeros to the bits as whole numbers changes nothing, so no value is rounded. */
    int64_t *bits = kf_allocate((count < AT_ONCE ? count : AT_ONCE) * sizeof *bits);
    for (size_t first = 0; first < count && status == KF_OK; first += AT_ONCE) {
        const size_t some = count - first < AT_ONCE ? count - first : AT_ONCE;
        uint32_t word;
        for (size_t i = 0; i < some; i++) {
            memcpy(&word, &values[first + i], sizeof word);
            bits[i] = (int64_t)word;
        }
        status = kf_world_sum(bits, (int)some, error);
        for (size_t i = 0; i < some && status == KF_OK; i++) {
            word = (uint32_t)bits[i];
            memcpy(&values[first + i], &word, sizeof word);
        }
    }
    free(bits);
    return status;
}

kf_status kf_flow_pass(int other, bool sends, void *data, size_t bytes, kf_error *error) {
    const kf_message message = {.other = other, .sends = sends, .data = data, .bytes = bytes};
    kf_posted posted;
    kf_world_post(&message, 1, &posted);
    return kf_world_complete(&posted, error);
}
