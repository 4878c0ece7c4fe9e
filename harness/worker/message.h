/* Sends JSON messages over a stream socket: a 32-bit length in host order, then the text. Both ends are the
 * same program. */
#ifndef KF_HARNESS_WORKER_MESSAGE_H
#define KF_HARNESS_WORKER_MESSAGE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Sends and deletes the message; false when the other end is gone. */
bool kf_message_send(int socket, cJSON *message);

typedef enum kf_receipt {
    KF_RECEIVED,
    KF_RECEIPT_NOTHING, /* nothing (complete) has arrived within the time */
    KF_RECEIPT_END,     /* the other end is gone, or sent something that is no message */
} kf_receipt;

/* Collects what arrives. Starts zeroed. */
typedef struct kf_inbox {
    char *bytes;
    size_t size, capacity;
} kf_inbox;

/* Waits up to milliseconds (-1: for ever) for the next message; a signal ends the wait early. The caller
 * deletes *message. */
kf_receipt kf_message_receive(int socket, kf_inbox *inbox, int milliseconds, cJSON **message);
void kf_inbox_free(kf_inbox *inbox);

#endif
