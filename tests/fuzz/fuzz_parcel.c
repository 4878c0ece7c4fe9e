/* Reads any messages as parcels of open files between the processes of a host, from these processes and
 * from others. A parcel is taken whole or not at all, its files get free places, and no file of a refused
 * parcel stays open. */
#include "tests/fuzz/fuzz_file.h"

#include <dirent.h>
#include <fcntl.h>

/* The file is included with processes of the test instead of those of mpirun. */
#define kf_world_member fuzz_member
#define kf_world_rank   fuzz_rank
#define kf_world_near   fuzz_near
#include "base/backend/team/world_near.c" /* NOLINT(bugprone-suspicious-include): see above */

enum { MOST_RANKS = 6, FIRST_RANK = 3, MOST_FILES = 90 };
static kf_member members[MOST_RANKS];
static int ranks, own;

const kf_member *fuzz_member(int rank) {
    if (rank < FIRST_RANK || rank >= FIRST_RANK + ranks) abort();
    return &members[rank - FIRST_RANK];
}
int fuzz_rank(void) {
    return own;
}
void fuzz_near(int *first, int *count) {
    *first = FIRST_RANK;
    *count = ranks;
}

typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

static int take(bytes *b) {
    return b->at < b->end ? *b->at++ : 0;
}

static int count_open(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) abort();
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* Sends a message in which the sender chooses everything: the process that it claims to be, the places of
 * its files, their number, the secret, the length, and whether it gives its process id. */
static void send_any(int box, bytes *b, const int *files) {
    parcel words = {.rank = FIRST_RANK - 1 + take(b) % (MOST_RANKS + 2), .first = (int8_t)take(b)};
    const int count = take(b) % MOST_FILES, choices = take(b);
    if (choices & 1) words.rank = (int32_t)((uint32_t)take(b) << 24 | (uint32_t)take(b));
    if (choices & 2) words.first = (int32_t)((uint32_t)take(b) << 24 | (uint32_t)take(b));
    if ((choices & 12) != 12) memcpy(words.secret, fuzz_member(own)->secret, sizeof words.secret);
    struct iovec data = {&words, (choices & 48) == 48 ? (size_t)take(b) % sizeof words : sizeof words};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(MOST_FILES * sizeof(int))];
    } c;
    memset(&c, 0, sizeof c);
    c.header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN((size_t)count * sizeof(int))};
    memcpy(CMSG_DATA(&c.header), files, (size_t)count * sizeof(int));
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = c.room,
                             .msg_controllen = CMSG_SPACE((size_t)count * sizeof(int))};
    if (count == 0) message.msg_control = NULL, message.msg_controllen = 0;
    (void)sendmsg(box, &message, MSG_DONTWAIT);
}

static void check(const int *taken, int all, int come) {
    int held = 0;
    for (int i = 0; i < all; i++) {
        if (taken[i] < 0) continue;
        if (fcntl(taken[i], F_GETFD) != FD_CLOEXEC) abort();
        held++;
    }
    if (held != come) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes b = {data, data + size};
    int counts[MOST_RANKS], begins[MOST_RANKS], all = 0, come = 0, box[2], files[MOST_FILES];
    const int yes = 1, null = open("/dev/null", O_RDONLY);
    ranks = 1 + take(&b) % MOST_RANKS;
    own = FIRST_RANK + take(&b) % ranks;
    for (int i = 0; i < MOST_FILES; i++)
        files[i] = null;
    for (int i = 0; i < ranks; i++) {
        members[i] = (kf_member){.process = getpid() + (take(&b) % 8 == 0), .space = take(&b) % 8 == 0};
        memset(members[i].secret, 'a' + i, sizeof members[i].secret);
        counts[i] = take(&b) % 70;
        begins[i] = all;
        all += counts[i];
    }
    /* The block has exactly this size, so that an access beyond it is noticed. */
    int *taken = malloc((size_t)all * sizeof *taken + 1);
    memset(taken, 0xff, (size_t)all * sizeof *taken);
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, box) != 0 ||
        setsockopt(box[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0)
        abort();
    const int before = count_open();
    while (b.at < b.end) {
        send_any(box[0], &b, files);
        const int got = receive_parcel(box[1], FIRST_RANK, ranks, counts, begins, taken);
        if (got < 0) abort();
        come += got;
    }
    check(taken, all, come);
    if (count_open() != before + come) abort();
    for (int i = 0; i < all; i++)
        if (taken[i] >= 0) (void)close(taken[i]);
    free(taken);
    (void)close(box[0]), (void)close(box[1]), (void)close(null);
    return 0;
}
