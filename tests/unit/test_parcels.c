/* Tests parcels of open files from another process, which are input. For each rule a message breaks this
 * one alone. Faults: such a message is taken, or a right one refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>

/* The file is included with processes of the test instead of those of mpirun. */
#define kf_world_member test_member
#define kf_world_rank   test_rank
#define kf_world_near   test_near
#include "base/backend/team/world_near.c" /* NOLINT(bugprone-suspicious-include): see above */

enum { FIRST = 3, RANKS = 3, OWN = FIRST + 1, FROM = FIRST + 2, FILES = 4, ALL = 2 + 1 + FILES };
static kf_member members[RANKS];
static const int counts[RANKS] = {2, 1, FILES}, begins[RANKS] = {0, 2, 3};
static int taken[ALL + FILES]; /* The numbers beyond are free as well, so that only the bounds refuse them. */

const kf_member *test_member(int rank) {
    assert_in_range(rank, FIRST, FIRST + RANKS - 1);
    return &members[rank - FIRST];
}
int test_rank(void) {
    return OWN;
}
void test_near(int *first, int *count) {
    *first = FIRST;
    *count = RANKS;
}

/* Returns a correct message: two files, the second and the third of process FROM. */
static received right_one(void) {
    received r = {.count = 2, .sender = {.pid = getpid(), .uid = geteuid()}};
    for (int i = 0; i < RANKS; i++) {
        members[i] = (kf_member){.process = getpid() + i - (FROM - FIRST), .space = 7};
        memset(members[i].secret, 'a' + i, KF_SECRET);
    }
    for (int i = 0; i < ALL + FILES; i++)
        taken[i] = -1;
    r.words.rank = FROM;
    r.words.first = 1;
    memcpy(r.words.secret, members[OWN - FIRST].secret, KF_SECRET);
    return r;
}

static bool takes(const received *r) {
    return is_right(r, FIRST, RANKS, counts, begins, taken);
}

static void who_sends(void **state) {
    (void)state;
    received r = right_one();
    assert_true(takes(&r));
    static const int strangers[] = {FIRST - 1, FIRST + RANKS, OWN, -1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        r = right_one();
        r.words.rank = strangers[i];
        assert_false(takes(&r));
    }
    for (size_t i = 0; i < KF_SECRET; i++) { /* all of the secret counts, and it is the receiver's */
        r = right_one();
        r.words.secret[i] ^= 1;
        assert_false(takes(&r));
    }
    r = right_one();
    memcpy(r.words.secret, members[FROM - FIRST].secret, KF_SECRET);
    assert_false(takes(&r));
    r = right_one();
    r.sender.pid = 0; /* the system does not say */
    assert_false(takes(&r));
    r = right_one();
    r.sender.uid++;
    assert_false(takes(&r));
    r = right_one();
    r.sender.pid++;
    assert_false(takes(&r));
    members[FROM - FIRST].space++; /* another container numbers its processes separately */
    assert_true(takes(&r));
    r.sender.uid++;
    assert_false(takes(&r));
}

static void where_its_files_belong(void **state) {
    (void)state;
    static const struct {
        int first, count;
        bool fits;
    } cases[] = {{0, FILES, true},      {FILES - 2, 2, true},  {FILES - 1, 2, false},
                 {FILES, 1, false},     {-1, 1, false},        {0, 0, false},
                 {0, FILES + 1, false}, {INT32_MAX, 2, false}, {INT32_MIN, 2, false}};
    received r = right_one();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r = right_one();
        r.words.first = cases[i].first;
        r.count = cases[i].count;
        if (takes(&r) != cases[i].fits) fail_msg("%d files from number %d", r.count, r.words.first);
    }
    for (int place = 0; place < ALL; place++) { /* only its own places must be free */
        r = right_one();
        taken[place] = 9;
        assert_int_equal(takes(&r), place != begins[FROM - FIRST] + 1 && place != begins[FROM - FIRST] + 2);
    }
}

/* Sends the bytes with that many files. Returns how many of them the receiver takes. */
static int trade_one(const void *words, size_t bytes, int files) {
    enum { MOST = 2 * PARCEL };
    const int yes = 1, file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int box[2], all[MOST] = {0};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(MOST * sizeof(int))];
    } c = {.room = {0}};
    for (int i = 0; i < files; i++)
        all[i] = file;
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, box), 0);
    assert_int_equal(setsockopt(box[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes), 0);
    c.header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN((size_t)files * sizeof *all)};
    memcpy(CMSG_DATA(&c.header), all, (size_t)files * sizeof *all);
    struct iovec data = {(void *)(uintptr_t)words, bytes};
    const struct msghdr message = {.msg_iov = &data,
                                   .msg_iovlen = 1,
                                   .msg_control = c.room,
                                   .msg_controllen = CMSG_SPACE((size_t)files * sizeof *all)};
    assert_true(sendmsg(box[0], &message, 0) >= 0);
    const int come = receive_parcel(box[1], FIRST, RANKS, counts, begins, taken);
    for (int i = 0; i < ALL; i++)
        if (taken[i] >= 0) (void)close(taken[i]);
    (void)close(box[0]);
    (void)close(box[1]);
    /* No descriptor stays open but those that were taken, which are closed. The next file therefore has
     * this one's number. */
    (void)close(file);
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(next, file);
    (void)close(next);
    return come;
}

static void whole_messages_alone(void **state) {
    (void)state;
    struct {
        parcel words;
        char more;
    } sent = {.words = right_one().words};
    members[FROM - FIRST].process = getpid();
    assert_int_equal(trade_one(&sent.words, sizeof sent.words, 2), 2);
    (void)right_one();
    assert_int_equal(trade_one(&sent.words, sizeof sent.words - 1, 2), 0);
    assert_int_equal(trade_one(&sent, sizeof sent.words + 1, 2), 0);
    assert_int_equal(trade_one(&sent.words, 0, 2), 0);
    assert_int_equal(trade_one(&sent.words, sizeof sent.words, PARCEL + 1), 0);
    assert_int_equal(trade_one(&sent.words, sizeof sent.words, 2), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_sends),
        cmocka_unit_test(where_its_files_belong),
        cmocka_unit_test(whole_messages_alone),
    };
    return cmocka_run_group_tests_name("parcels", tests, NULL, NULL);
}
