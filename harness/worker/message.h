/* Sends JSON messages over a stream socket: a 32-bit length in host order, then the text. Both ends are the
 * same program. */
#ifndef KF_HARNESS_WORKER_MESSAGE_H
#define KF_HARNESS_WORKER_MESSAGE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Sends all bytes. Returns false if the other end is gone. */
bool kf_send_all(int socket, const void *data, size_t size);
/* Sends and frees the message. Returns false if the other end is gone. */
bool kf_message_send(int socket, cJSON *message);

typedef enum kf_receipt {
    KF_RECEIVED,
    KF_RECEIPT_NOTHING, /* no complete message arrived in time */
    KF_RECEIPT_END,     /* the other end is gone, or sent something that is not a message */
} kf_receipt;

/* Collects incoming data. It must begin as zeros. */
typedef struct kf_inbox {
    char *bytes;
    size_t size, capacity;
} kf_inbox;

/* Waits up to milliseconds (-1: for ever) for the next message. A signal ends the wait early. The caller
 * frees *message. */
kf_receipt kf_message_receive(int socket, kf_inbox *inbox, int milliseconds, cJSON **message);
void kf_inbox_free(kf_inbox *inbox);

#endif
