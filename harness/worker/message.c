#include "harness/worker/message.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util/memory.h"

enum { LONGEST_MESSAGE = 16 << 20 };

bool kf_send_all(int socket, const void *data, size_t size) {
    const char *at = data;
    while (size > 0) {
        ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool kf_message_send(int socket, cJSON *message) {
    char *text = cJSON_PrintUnformatted(message);
    cJSON_Delete(message);
    if (text == NULL) return false;
    uint32_t length = (uint32_t)strlen(text);
    bool sent = kf_send_all(socket, &length, sizeof length) && kf_send_all(socket, text, length);
    free(text);
    return sent;
}

/* Takes the first message out of the inbox if it is complete. */
static kf_receipt take_message(kf_inbox *inbox, cJSON **message) {
    uint32_t length;
    if (inbox->size < sizeof length) return KF_RECEIPT_NOTHING;
    memcpy(&length, inbox->bytes, sizeof length);
    if (length > LONGEST_MESSAGE) return KF_RECEIPT_END;
    if (inbox->size < sizeof length + length) return KF_RECEIPT_NOTHING;
    *message = cJSON_ParseWithLength(inbox->bytes + sizeof length, length);
    inbox->size -= sizeof length + length;
    memmove(inbox->bytes, inbox->bytes + sizeof length + length, inbox->size);
    return *message != NULL ? KF_RECEIVED : KF_RECEIPT_END;
}

/* Receives the next message from a socket, and waits at most so many milliseconds. Parts of a message stay in
 * the inbox until it is complete. */
kf_receipt kf_message_receive(int socket, kf_inbox *inbox, int milliseconds, cJSON **message) {
    for (;;) {
        kf_receipt receipt = take_message(inbox, message);
        if (receipt != KF_RECEIPT_NOTHING) return receipt;
        struct pollfd wait = {.fd = socket, .events = POLLIN};
        int ready = poll(&wait, 1, milliseconds);
        if (ready == 0 || (ready < 0 && errno == EINTR)) return KF_RECEIPT_NOTHING;
        if (ready < 0) return KF_RECEIPT_END;
        enum { ROOM = 65536 };
        if (inbox->capacity - inbox->size < ROOM) {
            inbox->capacity = inbox->size + 2 * ROOM;
            inbox->bytes = kf_reallocate(inbox->bytes, inbox->capacity);
        }
        ssize_t got = recv(socket, inbox->bytes + inbox->size, inbox->capacity - inbox->size, 0);
        if (got < 0 && errno == EINTR) return KF_RECEIPT_NOTHING;
        if (got <= 0) return KF_RECEIPT_END;
        inbox->size += (size_t)got;
    }
}

void kf_inbox_free(kf_inbox *inbox) {
    free(inbox->bytes);
    memset(inbox, 0, sizeof *inbox);
}
