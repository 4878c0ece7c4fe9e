/* A flow of several processes, each with a contiguous range of a plan's parts: what they send each other in a
 * step, and how what each has of an array comes together. */
#ifndef KF_SOLVER_FLOW_FLOW_LINK_H
#define KF_SOLVER_FLOW_FLOW_LINK_H

#include "base/backend/team/world.h"
#include "base/plan/plan.h"

typedef struct kf_flow_link {
    kf_plan *plan;
    const int *firsts;    /* kf_backend_first_parts */
    kf_message *messages; /* of a step */
    size_t message_count, message_room;
    kf_posted posted;
} kf_flow_link;

/* NULL where there is one process. */
kf_flow_link *kf_flow_link_make(kf_plan *plan);
void kf_flow_link_free(kf_flow_link *link);
/* Which process has the part of that number among all. */
int kf_flow_link_process(const kf_flow_link *link, int number);
void kf_flow_link_add(kf_flow_link *link, const kf_message *message);
/* Returns whether messages may lie in the devices' memory, not only in the host's. */
bool kf_flow_link_takes_device_memory(const kf_plan *plan);

/* Calls of a plan; object is the link. The messages of a step begin when the stream has done what it was
 * given: all of the step before has been sent, and what came then was taken, so their buffers are free; */
kf_call_function kf_flow_link_post;
/* Waits until all messages that kf_flow_link_post began have been sent and have come. */
kf_call_function kf_flow_link_await;

/* An array of which every process has the bytes up to an end of its own, from the end of the process before:
 * all get all of it. */
kf_status kf_flow_gather(void *all, size_t end, kf_error *error);
/* Values of which every process has some, and zero bytes in place of the others': all get all of them. */
kf_status kf_flow_share(float *values, size_t count, kf_error *error);
/* One message to another process, or from there. */
kf_status kf_flow_pass(int other, bool sends, void *data, size_t bytes, kf_error *error);

#endif
