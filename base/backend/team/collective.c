/* Collective calls of all processes. Before each call every process sends a message of fixed size. It says
 * what the process is about to do and whether its work has failed. Small values are part of that message. So
 * processes that make different calls notice it, and do not take each other's bytes for something else. A
 * process that failed takes part until all know it. */
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world_internal.h"
#include "base/util/memory.h"
#include "base/util/random.h"
#include "base/util/text.h"

typedef enum action { SUM = 1, SHARE, GATHER, AGREE, MEET, LINE_UP } action;
static const char *const action_texts[] = {[SUM] = "adds up %lld numbers",
                                           [SHARE] = "shares %lld bytes",
                                           [GATHER] = "gathers %lld bytes",
                                           [AGREE] = "comes to agreement %lld",
                                           [MEET] = "gives up before agreement %lld",
                                           [LINE_UP] = "lines up after %lld agreements"};

/* Words of the message: a number of the call, then counts of processes. They count those that failed, those
 * that come to a meeting or an agreement, and those that come to an agreement. Values follow. */
enum { DOES, FAILED, MEETING, AGREEING, HEAD, WORDS = 64, VALUES = WORDS - HEAD };

typedef struct deed {
    action action;
    int64_t amount;
    bool failed;
} deed;
typedef struct view {
    /* All processes make the same call. */
    bool same;
    int64_t failed, meeting, agreeing;
} view;

static kf_status broken(const kf_world *world, kf_error *error) {
    return kf_fail(error, world->broken.status, "%s", world->broken.message);
}

/* Fails for good: MPI itself has failed, or the processes are not at the same call. They cannot work together
 * any more. */
static kf_status break_up(kf_world *world, kf_error *error) {
    if (world->broken.status == KF_OK) world->broken.status = KF_HOST;
    return broken(world, error);
}

/* Exchanges the message. This process's values become the sums over all where all do the same. */
static kf_status exchange(kf_world *world, const deed *d, int64_t *values, int count, view *v,
                          kf_error *error) {
    int64_t words[WORDS] = {0};
    if (world->broken.status != KF_OK) return broken(world, error);
    /* Two different calls have the same number with a probability of 2^-64. */
    const uint64_t does =
        kf_random_mix(kf_random_mix((uint64_t)d->action + 8 * world->exchanges) + (uint64_t)d->amount);
    words[DOES] = (int64_t)does;
    words[FAILED] = d->failed;
    words[MEETING] = d->action == MEET || d->action == AGREE;
    words[AGREEING] = d->action == AGREE;
    if (count > 0) memcpy(words + HEAD, values, (size_t)count * sizeof *values);
    world->exchanges++;
    if (kf_world_await(world->mpi.sum(words, WORDS), &world->broken) != KF_OK) return break_up(world, error);
    *v = (view){(uint64_t)words[DOES] == does * (uint64_t)world->size, words[FAILED], words[MEETING],
                words[AGREEING]};
    if (count > 0 && v->same) memcpy(values, words + HEAD, (size_t)count * sizeof *values);
    return KF_OK;
}

/* Fails when processes make different calls, and names them. */
static kf_status tell_apart(kf_world *world, const deed *d, kf_error *error) {
    const size_t size = (size_t)world->size;
    int64_t *all = kf_allocate_zeroed(2 * size, sizeof *all);
    kf_text text = {0};
    all[2 * world->rank] = d->action;
    all[2 * world->rank + 1] = d->amount;
    if (kf_world_await(world->mpi.sum(all, 2 * world->size), &world->broken) == KF_OK) {
        kf_text_append(&text, "the processes of this run do not do the same");
        for (int rank = 0, other = -1; rank < world->size; rank++) {
            const bool first = rank == 0, differs = all[2 * rank] != all[0] || all[2 * rank + 1] != all[1];
            if (!first && (!differs || other >= 0)) continue;
            if (!first) other = rank;
            const int64_t a = all[2 * rank];
            kf_text_append(&text, "%s rank %d ", first ? ":" : ",", rank);
            if (a >= SUM && a <= LINE_UP)
                kf_text_append(&text, action_texts[a], (long long)all[2 * rank + 1]);
        }
        (void)kf_fail(&world->broken, KF_HOST, "%s", text.text);
        kf_text_free(&text);
    }
    free(all);
    return break_up(world, error);
}

/* Meets the others after one of them has failed. The work of this process then has failed too. */
static kf_status leave(kf_world *world, kf_error *error) {
    kf_error heard = {KF_OK, ""};
    /* It usually says why, and meets. */
    const kf_status status = kf_world_look(&heard);
    if (status != KF_OK) return kf_fail(error, status, "%s", heard.message);
    world->follows = true;
    (void)kf_world_failure_barrier(world, NULL);
    return kf_fail(error, KF_MACHINE, "another process of this run has failed");
}

/* Begins a call on data. Returns KF_OK when all processes are about to make it. */
static kf_status begin(kf_world *world, action what, size_t amount, int64_t *values, int count,
                       kf_error *error) {
    const deed d = {what, (int64_t)amount, false};
    view v = {0};
    if (world->given_up && world->broken.status == KF_OK)
        return kf_fail(error, KF_MACHINE, "another process of this run has failed");
    KF_TRY(exchange(world, &d, values, count, &v, error));
    if (v.failed > 0) return leave(world, error);
    return v.same ? KF_OK : tell_apart(world, &d, error);
}

/* --- Data ---------------------------------------------------------------------------------------------- */

kf_status kf_world_sum(int64_t *values, int count, kf_error *error) {
    kf_world *world = kf_world_here();
    if (world == NULL) return KF_OK;
    const bool small = count <= VALUES;
    KF_TRY(begin(world, SUM, (size_t)count, values, small ? count : 0, error));
    return small ? KF_OK : kf_world_await(world->mpi.sum(values, count), error);
}

kf_status kf_world_merge(void *data, size_t bytes, kf_error *error) {
    return kf_world_sum(data, (int)((bytes + sizeof(int64_t) - 1) / sizeof(int64_t)), error);
}

kf_status kf_world_most(double *values, int count, kf_error *error) {
    const kf_world *world = kf_world_here();
    if (world == NULL) return KF_OK;
    const size_t all = (size_t)world->size * (size_t)count, bytes = (size_t)count * sizeof *values;
    double *each = kf_allocate_zeroed(all + 1, sizeof *each);
    memcpy(each + (size_t)world->rank * (size_t)count, values, bytes);
    const kf_status status = kf_world_merge(each, all * sizeof *each, error);
    for (size_t i = 0; i < all && status == KF_OK; i++)
        if (each[i] > values[i % (size_t)count]) values[i % (size_t)count] = each[i];
    free(each);
    return status;
}

static kf_status send_from(const kf_world *world, int rank, void *data, size_t bytes, kf_error *error) {
    for (size_t done = 0; done < bytes; done += KF_PIECE)
        KF_TRY(kf_world_await(world->mpi.share((char *)data + done, kf_piece_of(bytes, done), rank), error));
    return KF_OK;
}

/* Bytes that are zero on all but one process, as a sum. */
static kf_status add_bytes(kf_world *world, action what, const void *own, size_t at, size_t own_bytes,
                           void *all, size_t bytes, kf_error *error) {
    int64_t values[VALUES] = {0};
    if (own_bytes > 0) memcpy((char *)values + at, own, own_bytes);
    KF_TRY(begin(world, what, bytes, values, VALUES, error));
    memcpy(all, values, bytes);
    return KF_OK;
}

kf_status kf_world_share(void *data, size_t bytes, kf_error *error) {
    kf_world *world = kf_world_here();
    if (world == NULL) return KF_OK;
    if (bytes <= VALUES * sizeof(int64_t))
        return add_bytes(world, SHARE, data, 0, world->rank == 0 ? bytes : 0, data, bytes, error);
    KF_TRY(begin(world, SHARE, bytes, NULL, 0, error));
    return send_from(world, 0, data, bytes, error);
}

/* Gathers the bytes of all processes on every process. ends[rank] is the end of the bytes of a process. Few
 * bytes are sent in the message itself, many from each process in turn. */
kf_status kf_world_gather(void *all, const size_t *ends, kf_error *error) {
    kf_world *world = kf_world_here();
    if (world == NULL) return KF_OK;
    for (int rank = 1; rank < world->size; rank++)
        if (ends[rank] < ends[rank - 1])
            return kf_fail(error, KF_HOST,
                           "the processes' parts of an array are not in the order of their ranks");
    const size_t bytes = ends[world->size - 1], first = world->rank == 0 ? 0 : ends[world->rank - 1];
    if (bytes <= VALUES * sizeof(int64_t))
        return add_bytes(world, GATHER, (char *)all + first, first, ends[world->rank] - first, all, bytes,
                         error);
    KF_TRY(begin(world, GATHER, bytes, NULL, 0, error));
    for (int rank = 0; rank < world->size; rank++) {
        const size_t from = rank == 0 ? 0 : ends[rank - 1];
        KF_TRY(send_from(world, rank, (char *)all + from, ends[rank] - from, error));
    }
    return KF_OK;
}

/* --- Agreements ---------------------------------------------------------------------------------------- */

kf_status kf_world_line_up(kf_world *world, kf_error *error) {
    const deed d = {LINE_UP, world->agreement, false};
    view v = {0};
    KF_TRY(exchange(world, &d, NULL, 0, &v, error));
    return v.same ? KF_OK : tell_apart(world, &d, error);
}

kf_status kf_world_failure_barrier(kf_world *world, kf_error *error) {
    const deed d = {MEET, world->agreement, true};
    view v = {.meeting = 0};
    world->given_up = world->releases = true;
    /* The others make another call first, which fails. */
    while (v.meeting < world->size)
        KF_TRY(exchange(world, &d, NULL, 0, &v, error));
    return kf_world_clear(world, error);
}

/* Completes an agreement when some processes have failed. The result is the message of the first that failed
 * by itself. It names that process if the message here would be different. */
static kf_status settle_on(kf_world *world, kf_status status, int *state, kf_error *error) {
    enum { NOT, FOLLOWS, BY_ITSELF };
    struct {
        kf_error error;
        int state;
    } words;
    int64_t *ways = kf_allocate_zeroed((size_t)world->size, sizeof *ways);
    kf_error own = {KF_OK, ""};
    int first = 0;
    if (status != KF_OK && error != NULL) own = *error;
    memset(&words, 0, sizeof words);
    words.error = own;
    words.error.status = status;
    words.state = state != NULL ? *state : 0;
    ways[world->rank] = status == KF_OK ? NOT : world->follows ? FOLLOWS : BY_ITSELF;
    kf_news_forget(world);
    kf_status done = kf_world_await(world->mpi.sum(ways, world->size), &world->broken);
    for (int rank = 1; rank < world->size; rank++)
        if (ways[rank] > ways[first]) first = rank;
    free(ways);
    if (done == KF_OK)
        done = kf_world_await(world->mpi.share(&words, (int)sizeof words, first), &world->broken);
    if (done != KF_OK) return break_up(world, error);
    char who[KF_MEMBER_TEXT];
    words.error.message[sizeof words.error.message - 1] = '\0';
    if (!kf_is_status((int)words.error.status) || words.error.status == KF_OK)
        words.error.status = KF_MACHINE;
    if (error != NULL) *error = words.error;
    if (state != NULL) *state = words.state;
    if (strncmp(words.error.message, "rank ", 5) != 0 && strcmp(words.error.message, own.message) != 0)
        (void)kf_fail_context(error, "%s", kf_member_text(world, first, who));
    return words.error.status;
}

/* Makes an agreement. Returns KF_OK when the work of all processes succeeded, else the failure of the first
 * that failed by itself, with its state. Processes that give up take part until all have come here. */
kf_status kf_world_agree_on(kf_status status, int *state, kf_error *error) {
    kf_world *world = kf_world_here();
    if (world == NULL) return status;
    (void)kf_world_give_up(status, error);
    const deed d = {AGREE, world->agreement, status != KF_OK};
    for (;;) {
        view v = {0};
        KF_TRY(exchange(world, &d, NULL, 0, &v, error));
        if (v.agreeing == world->size) {
            if (v.failed > 0) return settle_on(world, status, state, error);
            world->agreement++;
            return KF_OK;
        }
        if (v.failed == 0) return tell_apart(world, &d, error);
        if (v.meeting == world->size) KF_TRY(kf_world_clear(world, error));
    }
}

kf_status kf_world_agree(kf_status status, kf_error *error) {
    return kf_world_agree_on(status, NULL, error);
}

kf_status kf_world_check_same(const char *what, const char *text, kf_error *error) {
    char first[512];
    if (kf_world_here() == NULL) return KF_OK;
    kf_copy_text(first, sizeof first, text);
    KF_TRY(kf_world_share(first, sizeof first, error));
    const bool same = strncmp(first, text, sizeof first - 1) == 0;
    return kf_world_agree(
        same ? KF_OK
             : kf_fail(error, KF_BAD_INPUT, "%s differs from that of rank 0 (%s, %s)", what, text, first),
        error);
}
