/* A flow of several processes, each with a contiguous range of a plan's parts: the messages of a step, and
 * joining an array of which each process has a piece. */
#ifndef KF_SOLVER_FLOW_FLOW_LINK_H
#define KF_SOLVER_FLOW_FLOW_LINK_H

#include "base/backend/team/world.h"
#include "base/plan/plan.h"

typedef struct kf_flow_link {
    kf_plan *plan;
    const int *firsts;    /* kf_backend_first_parts */
    kf_message *messages; /* the messages of a step */
    size_t message_count, message_room;
    kf_posted posted;
} kf_flow_link;

/* Returns NULL where there is one process. */
kf_flow_link *kf_flow_link_make(kf_plan *plan);
void kf_flow_link_free(kf_flow_link *link);
/* Returns the process that has a part; number: the part's index in the whole run. */
int kf_flow_link_process(const kf_flow_link *link, int number);
void kf_flow_link_add(kf_flow_link *link, const kf_message *message);
/* Returns whether messages may lie in the devices' memory, not only in the host's. */
bool kf_flow_link_takes_device_memory(const kf_plan *plan);

/* Calls of a plan; their object is the link. kf_flow_link_post begins the messages of a step once the
 * stream's earlier work is done. By then the messages of the step before have been sent, received and used,
 * so their buffers are free. */
kf_call_function kf_flow_link_post;
/* Waits until all messages that kf_flow_link_post began have been sent and received. */
kf_call_function kf_flow_link_await;

/* Joins an array. Each process has the bytes from the previous process's end to its own `end`; all get the
 * whole array. */
kf_status kf_flow_gather(void *all, size_t end, kf_error *error);
/* Joins values of which each process has some, with zero bytes in place of the others; all get all values. */
kf_status kf_flow_share(float *values, size_t count, kf_error *error);
/* Sends one message to another process, or receives one. */
kf_status kf_flow_pass(int other, bool sends, void *data, size_t bytes, kf_error *error);

#endif
