/* Messages between two processes, and what happens when a process fails. It tells all others at once. They
 * stop waiting and meet, and all messages that are not complete are removed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world_internal.h"
#include "base/util/clock.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* --- Waiting ------------------------------------------------------------------------------------------- */

enum { MOST_CLEANERS = 2, LOOKS_A_RELEASE = 64 };
static const kf_world_cleaner *cleaners[MOST_CLEANERS];
static int cleaner_count;

void kf_world_clean_with(const kf_world_cleaner *cleaner) {
    for (int i = 0; i < cleaner_count; i++)
        if (cleaners[i] == cleaner) return;
    if (cleaner_count < MOST_CLEANERS) cleaners[cleaner_count++] = cleaner;
}

static void release_all(void) {
    for (int i = 0; i < cleaner_count; i++)
        cleaners[i]->release();
}

int kf_piece_of(size_t bytes, size_t done) {
    return bytes - done > (size_t)KF_PIECE ? KF_PIECE : (int)(bytes - done);
}

kf_status kf_world_await(void *request, kf_error *error) {
    const kf_world *world = kf_world_here();
    if (request == NULL) return kf_fail(error, KF_HOST, "MPI takes no message");
    for (int looks = 0;; looks += looks < 1 << 20) {
        const int done = world->mpi.test(request);
        if (done == 1) return KF_OK;
        if (done < 0) return kf_fail(error, KF_HOST, "MPI: a message was lost");
        if (world->releases && looks % LOOKS_A_RELEASE == 0) release_all();
        kf_clock_rest(looks);
    }
}

/* --- News of failures ---------------------------------------------------------------------------------- */

static kf_status ask_for_news(kf_world *world, kf_error *error) {
    world->news = world->mpi.receive(&world->next, (int)sizeof world->next, -1, KF_TAG_NEWS, KF_CHANNEL_ALL);
    return world->news != NULL ? KF_OK : kf_fail(error, KF_HOST, "MPI takes no message");
}

kf_status kf_news_begin(kf_world *world, kf_error *error) {
    const size_t size = (size_t)world->size;
    world->saying = kf_allocate_zeroed(size, sizeof *world->saying);
    world->sent = kf_allocate_zeroed(size, sizeof *world->sent);
    world->received = kf_allocate_zeroed(size, sizeof *world->received);
    return ask_for_news(world, error);
}

void kf_news_end(kf_world *world) {
    if (world->news != NULL) (void)world->mpi.cancel(world->news);
    world->news = NULL;
    free(world->saying);
    free(world->sent);
    free(world->received);
    world->saying = NULL;
    world->sent = world->received = NULL;
}

/* Reads the news of other processes. The first of several counts. */
static void hear_news(kf_world *world) {
    while (world->news != NULL) {
        const int come = world->mpi.test(world->news);
        if (come == 0) return;
        world->news = NULL;
        if (come < 0) return;
        const kf_news *next = &world->next;
        if (next->agreement == world->agreement && !world->told && !world->given_up &&
            kf_is_status(next->status) && next->status != KF_OK) {
            world->told = true;
            world->heard = *next;
            world->heard.text[sizeof world->heard.text - 1] = '\0';
        }
        (void)ask_for_news(world, NULL);
    }
}

/* Sends news to all others. The previous news has arrived long ago. */
static void say_news(kf_world *world, kf_status status, const char *text) {
    char who[KF_MEMBER_TEXT];
    for (int rank = 0; rank < world->size; rank++) {
        if (world->saying[rank] != NULL) (void)kf_world_await(world->saying[rank], NULL);
        world->saying[rank] = NULL;
    }
    world->said = (kf_news){.agreement = world->agreement, .rank = world->rank, .status = (int32_t)status};
    (void)snprintf(world->said.text, sizeof world->said.text, "%s: %.400s",
                   kf_member_text(world, world->rank, who), text);
    for (int rank = 0; rank < world->size; rank++)
        if (rank != world->rank)
            world->saying[rank] =
                world->mpi.send(&world->said, (int)sizeof world->said, rank, KF_TAG_NEWS, KF_CHANNEL_ALL);
}

void kf_news_forget(kf_world *world) {
    world->told = world->given_up = world->follows = false;
    world->agreement++;
}

kf_status kf_world_give_up(kf_status status, const kf_error *error) {
    kf_world *world = kf_world_here();
    if (world == NULL || status == KF_OK || world->given_up) return status;
    hear_news(world);
    world->follows = world->told;
    if (!world->told) say_news(world, status, error != NULL ? error->message : "");
    (void)kf_world_failure_barrier(world, NULL);
    return status;
}

kf_status kf_world_look(kf_error *error) {
    kf_world *world = kf_world_here();
    if (world == NULL) return KF_OK;
    if (world->broken.status != KF_OK)
        return kf_fail(error, world->broken.status, "%s", world->broken.message);
    if (world->releases) release_all();
    if (world->given_up) return KF_OK;
    hear_news(world);
    if (!world->told) return KF_OK;
    const kf_news heard = world->heard;
    world->follows = true;
    (void)kf_world_failure_barrier(world, NULL);
    return kf_fail(error, (kf_status)heard.status, "%s", heard.text);
}

/* --- Messages ------------------------------------------------------------------------------------------ */

static void enlist(kf_world *world, kf_posted *posted) {
    posted->next = world->posted;
    world->posted = posted;
}

static void delist(kf_world *world, const kf_posted *posted) {
    for (kf_posted **at = &world->posted; *at != NULL; at = &(*at)->next)
        if (*at == posted) {
            *at = posted->next;
            return;
        }
}

static void *begin(kf_world *world, const kf_message *m, size_t done) {
    char *data = (char *)m->data + done;
    const int bytes = kf_piece_of(m->bytes, done);
    void *request = m->sends ? world->mpi.send(data, bytes, m->other, m->tag, KF_CHANNEL_PAIRS)
                             : world->mpi.receive(data, bytes, m->other, m->tag, KF_CHANNEL_PAIRS);
    if (m->sends && request != NULL) world->sent[m->other]++;
    return request;
}

void kf_world_post(const kf_message *messages, int count, kf_posted *posted) {
    kf_world *world = kf_world_here();
    *posted = (kf_posted){.count = 0};
    if (world == NULL || world->given_up) return;
    for (int i = 0; i < count; i++)
        for (size_t done = 0; done < messages[i].bytes; done += KF_PIECE) {
            posted->requests =
                kf_grow(posted->requests, posted->count, &posted->room, sizeof *posted->requests);
            posted->requests[posted->count++] =
                (kf_request){begin(world, &messages[i], done), messages[i].other, messages[i].sends};
        }
    enlist(world, posted);
}

static kf_status complete_one(kf_world *world, kf_request *request, kf_error *error) {
    if (request->handle == NULL) return kf_fail(error, KF_HOST, "MPI takes no message");
    for (int looks = 0;; looks += looks < 1 << 20) {
        const int done = world->mpi.test(request->handle);
        if (done != 0) request->handle = NULL;
        if (done == 1 && !request->sends) world->received[request->other]++;
        if (done == 1) return KF_OK;
        if (done < 0) return kf_fail(error, KF_HOST, "MPI: a message was lost");
        KF_TRY(kf_world_look(error));
        kf_clock_rest(looks);
    }
}

static kf_status refuse(const kf_world *world, kf_error *error) {
    if (world->broken.status != KF_OK)
        return kf_fail(error, world->broken.status, "%s", world->broken.message);
    if (world->told) return kf_fail(error, (kf_status)world->heard.status, "%s", world->heard.text);
    return kf_fail(error, KF_MACHINE, "another process of this run has failed");
}

kf_status kf_world_complete(kf_posted *posted, kf_error *error) {
    kf_world *world = kf_world_here();
    if (world == NULL) return KF_OK;
    kf_status status = world->given_up ? refuse(world, error) : KF_OK;
    /* A failure of other processes may remove all requests during this look. */
    for (size_t i = 0; i < posted->count && status == KF_OK; i++)
        status = complete_one(world, &posted->requests[i], error);
    if (status != KF_OK) (void)kf_world_give_up(status, error);
    delist(world, posted);
    free(posted->requests);
    *posted = (kf_posted){.count = 0};
    return status;
}

void kf_world_drop(kf_posted *posted) {
    kf_error error;
    if (posted->count == 0) return;
    (void)kf_world_give_up(kf_fail(&error, KF_MACHINE, "messages between processes were lost"), &error);
    delist(kf_world_here(), posted);
    free(posted->requests);
    *posted = (kf_posted){.count = 0};
}

/* --- Clearing ------------------------------------------------------------------------------------------ */

/* Cancels receives for which nobody waits any more. A message that has arrived already is not affected. */
static void cancel_receives(kf_world *world) {
    for (kf_posted *posted = world->posted; posted != NULL; posted = posted->next)
        for (size_t i = 0; i < posted->count; i++) {
            kf_request *request = &posted->requests[i];
            if (request->sends || request->handle == NULL) continue;
            if (world->mpi.cancel(request->handle) == 1) world->received[request->other]++;
            request->handle = NULL;
        }
}

static kf_status finish_sends(const kf_world *world, kf_error *error) {
    for (kf_posted *posted = world->posted; posted != NULL; posted = posted->next)
        for (size_t i = 0; i < posted->count; i++) {
            kf_request *request = &posted->requests[i];
            if (request->sends && request->handle != NULL) KF_TRY(kf_world_await(request->handle, error));
            request->handle = NULL;
        }
    return KF_OK;
}

/* How many messages each other process has sent to this one since the last meeting. */
static kf_status trade_counts(kf_world *world, int64_t *sent_here, kf_error *error) {
    void **requests = kf_allocate_zeroed(2 * (size_t)world->size, sizeof *requests);
    kf_status status = KF_OK;
    for (int rank = 0; rank < world->size; rank++) {
        requests[2 * rank] =
            world->mpi.receive(&sent_here[rank], sizeof *sent_here, rank, KF_TAG_COUNT, KF_CHANNEL_ALL);
        requests[2 * rank + 1] =
            world->mpi.send(&world->sent[rank], sizeof *world->sent, rank, KF_TAG_COUNT, KF_CHANNEL_ALL);
    }
    for (int i = 0; i < 2 * world->size && status == KF_OK; i++)
        status = kf_world_await(requests[i], error);
    free(requests);
    return status;
}

/* Takes messages that nobody has received. */
static kf_status drain_from(kf_world *world, int rank, int64_t left, kf_error *error) {
    for (int looks = 0; left > 0; looks += looks < 1 << 20) {
        int bytes = 0, tag = 0;
        const int waits = world->mpi.probe(rank, KF_CHANNEL_PAIRS, &bytes, &tag);
        if (waits < 0) return kf_fail(error, KF_HOST, "MPI: a message was lost");
        if (waits == 0) {
            kf_clock_rest(looks);
            continue;
        }
        char *data = kf_allocate((size_t)bytes);
        const kf_status status =
            kf_world_await(world->mpi.receive(data, bytes, rank, tag, KF_CHANNEL_PAIRS), error);
        free(data);
        KF_TRY(status);
        left--;
    }
    return KF_OK;
}

static kf_status drain(kf_world *world, kf_error *error) {
    int64_t *sent_here = kf_allocate_zeroed((size_t)world->size, sizeof *sent_here);
    cancel_receives(world);
    kf_status status = trade_counts(world, sent_here, error);
    for (int rank = 0; rank < world->size && status == KF_OK; rank++)
        status = drain_from(world, rank, sent_here[rank] - world->received[rank], error);
    free(sent_here);
    if (status == KF_OK) status = finish_sends(world, error);
    memset(world->sent, 0, (size_t)world->size * sizeof *world->sent);
    memset(world->received, 0, (size_t)world->size * sizeof *world->received);
    return status;
}

kf_status kf_world_clear(kf_world *world, kf_error *error) {
    world->releases = true;
    release_all();
    KF_TRY(drain(world, error));
    for (int i = 0; i < cleaner_count; i++)
        cleaners[i]->settle();
    release_all();
    /* Released marks stay released, because the devices of this process have no work left. */
    world->releases = false;
    KF_TRY(kf_world_line_up(world, error));
    for (int i = 0; i < cleaner_count; i++)
        cleaners[i]->reset();
    return kf_world_line_up(world, error);
}
