/* Processes of one host: what they agree on among themselves, and open files that they give to each other,
 * over sockets without a name in any folder. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/backend/team/world_internal.h"
#include "base/util/clock.h"
#include "base/util/memory.h"

enum { NEAR_TAG = 90, PARCEL = 64 };
static const double patience_seconds = 20.0;

/* Sends what every process of the host says to all of them. */
kf_status kf_world_agree_near(kf_status status, kf_error *error) {
    int first, count, agreed = (int)status;
    kf_world_near(&first, &count);
    int *said = kf_allocate_zeroed((size_t)count + 1, sizeof *said);
    kf_message *messages = kf_allocate((2 * (size_t)count + 1) * sizeof *messages);
    int sent = 0, rank = kf_world_rank();
    said[count] = (int)status;
    for (int i = 0; i < count; i++) {
        if (first + i == rank) continue;
        messages[sent++] = (kf_message){first + i, NEAR_TAG, true, &said[count], sizeof *said};
        messages[sent++] = (kf_message){first + i, NEAR_TAG, false, &said[i], sizeof *said};
    }
    kf_posted posted;
    kf_error lost = {KF_OK, ""};
    kf_world_post(messages, sent, &posted);
    if (kf_world_complete(&posted, &lost) != KF_OK) {
        agreed = (int)lost.status;
        if (status == KF_OK && error != NULL) *error = lost;
    }
    for (int i = 0; i < count && agreed == KF_OK; i++) {
        if (said[i] == (int)KF_OK) continue;
        agreed = (int)kf_fail(error, (kf_status)said[i], "rank %d, on the same host, could not", first + i);
    }
    free(messages);
    free(said);
    return (kf_status)agreed;
}

/* Raises the soft limit so that this many more files can be open. Files beyond the limit would be dropped
 * without a message. */
static kf_status make_room(int files, kf_error *error) {
    enum { OPEN_ANYWAY = 64 };
    const rlim_t wanted = (rlim_t)files + OPEN_ANYWAY;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return KF_OK;
    const rlim_t most = limit.rlim_max;
    limit.rlim_cur = wanted;
    if (wanted <= most && setrlimit(RLIMIT_NOFILE, &limit) == 0) return KF_OK;
    return kf_fail(
        error, KF_MACHINE,
        "processes of this host give each other %d open files, and one may have %llu: raise `ulimit -n` to "
        "%llu, or use a config with transfer=host",
        files, (unsigned long long)most, (unsigned long long)wanted);
}

/* Names without a place in any folder have neither owner nor mode: who sends, and what, is looked at. */
static socklen_t name_box(const kf_member *member, struct sockaddr_un *name) {
    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    char *at = name->sun_path + 1;
    at += sprintf(at, "kftune-");
    for (int i = 0; i < KF_SECRET; i++)
        at += sprintf(at, "%02x", member->name[i]);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)(at - name->sun_path));
}

static kf_status open_box(int *box, kf_error *error) {
    struct sockaddr_un name;
    const int yes = 1;
    const socklen_t length = name_box(kf_world_member(kf_world_rank()), &name);
    *box = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*box >= 0 && setsockopt(*box, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
        bind(*box, (const struct sockaddr *)&name, length) == 0)
        return KF_OK;
    return kf_fail(error, KF_HOST, "a socket between the processes of this host: %s", strerror(errno));
}

/* Comes beside the files: whose they are, and at which place of that one's the first belongs. */
typedef struct parcel {
    /* The secret of the process that the parcel is for. */
    unsigned char secret[KF_SECRET];
    int32_t rank, first;
} parcel;

typedef union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(PARCEL * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
} control;

/* Sends a parcel. Returns 1, or 0 if there is no space yet. */
static int send_parcel(int box, int to, const int *files, int first, int count) {
    struct sockaddr_un name;
    parcel words = {.rank = kf_world_rank(), .first = first};
    memcpy(words.secret, kf_world_member(to)->secret, sizeof words.secret);
    struct iovec data = {&words, sizeof words};
    control c;
    memset(&c, 0, sizeof c);
    struct msghdr message = {.msg_name = &name,
                             .msg_namelen = name_box(kf_world_member(to), &name),
                             .msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = c.bytes,
                             .msg_controllen = CMSG_SPACE((size_t)count * sizeof *files)};
    c.header.cmsg_level = SOL_SOCKET;
    c.header.cmsg_type = SCM_RIGHTS;
    c.header.cmsg_len = CMSG_LEN((size_t)count * sizeof *files);
    memcpy(CMSG_DATA(&c.header), files + first, (size_t)count * sizeof *files);
    if (sendmsg(box, &message, 0) >= 0) return 1;
    return errno == EAGAIN || errno == ENOBUFS || errno == EINTR ? 0 : -1;
}

/* Holds a received message: its files, and who sent it as the system knows him (pid 0: it says nothing). */
typedef struct received {
    parcel words;
    int files[PARCEL], count;
    struct ucred sender;
} received;

/* Reads the files and the sender of a message. Closes files beyond the number that a parcel may have, so no
 * sender can use up this process's files. */
static void look_inside(struct msghdr *message, received *r) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET) continue;
        const size_t bytes = c->cmsg_len - CMSG_LEN(0);
        if (c->cmsg_type == SCM_CREDENTIALS && bytes == sizeof r->sender)
            memcpy(&r->sender, CMSG_DATA(c), sizeof r->sender);
        if (c->cmsg_type != SCM_RIGHTS) continue;
        for (size_t i = 0; i < bytes / sizeof(int); i++) {
            int file;
            memcpy(&file, CMSG_DATA(c) + i * sizeof file, sizeof file);
            if (r->count < PARCEL)
                r->files[r->count++] = file;
            else
                (void)close(file);
        }
    }
}

/* Says whether, as the system knows, the message comes from that member: by the same user, and by its
 * number where numbers mean the same. */
static bool is_from(const received *r, const kf_member *member) {
    const kf_member *self = kf_world_member(kf_world_rank());
    return r->sender.pid != 0 && r->sender.uid == geteuid() &&
           (member->space != self->space || r->sender.pid == (pid_t)member->process);
}

/* Says whether the message comes from the process that it names, knows the secret, and its files have
 * their places, all of them free. */
static bool is_right(const received *r, int first_rank, int ranks, const int counts[], const int begins[],
                     const int *taken) {
    const parcel *words = &r->words;
    if (words->rank < first_rank || words->rank >= first_rank + ranks || words->rank == kf_world_rank())
        return false;
    const int from = words->rank - first_rank;
    if (memcmp(words->secret, kf_world_member(kf_world_rank())->secret, KF_SECRET) != 0) return false;
    if (!is_from(r, kf_world_member(words->rank))) return false;
    if (words->first < 0 || r->count == 0 || words->first > counts[from] - r->count) return false;
    for (int i = 0; i < r->count; i++)
        if (taken[begins[from] + words->first + i] >= 0) return false;
    return true;
}

/* Receives files and stores them at their places in `taken`. Returns 0 for nothing, or for an invalid parcel.
 * begins[i] is the first file of process i. */
static int receive_parcel(int box, int first_rank, int ranks, const int counts[], const int begins[],
                          int *taken) {
    received r = {.count = 0};
    struct iovec data = {&r.words, sizeof r.words};
    control c;
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = c.bytes, .msg_controllen = sizeof c.bytes};
    const ssize_t bytes = recvmsg(box, &message, MSG_CMSG_CLOEXEC);
    if (bytes < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    look_inside(&message, &r);
    const bool whole =
        bytes == (ssize_t)sizeof r.words && (message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) == 0;
    if (!whole || !is_right(&r, first_rank, ranks, counts, begins, taken)) {
        for (int i = 0; i < r.count; i++)
            (void)close(r.files[i]);
        return 0;
    }
    memcpy(taken + begins[r.words.rank - first_rank] + r.words.first, r.files,
           (size_t)r.count * sizeof *r.files);
    return r.count;
}

/* Gives and takes until all is done. */
static kf_status trade(int box, const int *given, const int counts[], const int begins[], int *taken,
                       kf_error *error) {
    int first, count, to = 0, sent = 0, left = 0;
    kf_world_near(&first, &count);
    const int self = kf_world_rank() - first, own = counts[self];
    for (int i = 0; i < count; i++)
        if (i != self) left += counts[i];
    const double until = kf_clock_seconds() + patience_seconds;
    for (int looks = 0; to < count || left > 0; looks++) {
        if (to < count && (to == self || sent == own)) {
            to++;
            sent = 0;
            continue;
        }
        const int files = own - sent < PARCEL ? own - sent : PARCEL;
        const int gone = to < count ? send_parcel(box, first + to, given, sent, files) : 0;
        const int come = left > 0 ? receive_parcel(box, first, count, counts, begins, taken) : 0;
        if (gone < 0 || come < 0)
            return kf_fail(error, KF_HOST, "files between the processes of this host: %s", strerror(errno));
        sent += gone > 0 ? files : 0;
        left -= come;
        if (kf_clock_seconds() > until)
            return kf_fail(error, KF_HOST, "files from another process of this host do not arrive");
        if (gone == 0 && come == 0) kf_clock_rest(looks);
    }
    return KF_OK;
}

kf_status kf_world_give_files(kf_status made, const int *given, const int counts[], int *taken,
                              kf_error *error) {
    int first, count, box = -1, all = 0;
    kf_world_near(&first, &count);
    int *begins = kf_allocate((size_t)count * sizeof *begins);
    for (int i = 0; i < count; i++) {
        begins[i] = all;
        all += counts[i];
    }
    for (int i = 0; i < all; i++)
        taken[i] = -1;
    kf_status status = made == KF_OK ? make_room(all, error) : made;
    /* There is no other process to trade with, and a process without MPI has no members. */
    if (count == 1) {
        free(begins);
        return status;
    }
    if (status == KF_OK) status = open_box(&box, error);
    /* Every box is open. */
    status = kf_world_agree_near(status, error);
    if (status == KF_OK) {
        status = kf_world_agree_near(trade(box, given, counts, begins, taken, error), error);
        for (int i = 0; i < all && status != KF_OK; i++)
            if (taken[i] >= 0) (void)close(taken[i]);
    }
    if (box >= 0) (void)close(box);
    free(begins);
    return status;
}
