/* The watch of a world is a thread. It tells the next process twice a second that this one is alive, and
 * receives the same from the one before. When another process has died, hangs or reports why it ends, it ends
 * this process with one line. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/backend/team/world_internal.h"
#include "base/util/clean.h"
#include "base/util/clock.h"
#include "base/util/locale.h"
#include "base/util/memory.h"
#include "base/util/process.h"
#include "base/util/program.h"
#include "base/util/text.h"

/* In seconds: the time between two signs of life, the silence after which a process counts as dead, the
 * longest transfer of the news of an end, and the time that a process gets to report the same error itself.
 */
static const double sign_seconds = 0.5, silence_seconds = 5.0, news_seconds = 1.0, speech_seconds = 4.0;
/* The number of looks for news of others before an end. MISTAKE_LOOKS come before a mistake of the user is
 * reported, because other processes make the same mistake. */
enum { SIGN = 1, END = 2, LOOKS_A_SECOND = 10, LAST_LOOKS = 4, MISTAKE_LOOKS = 15 };

/* Holds what a process says when it ends. */
typedef struct last_words {
    int32_t rank;
    int32_t status;
    char text[KF_LAST_WORDS];
} last_words;

static struct {
    const kf_world *world;
    pthread_t thread;
    bool started;
    /* The main thread ends this process itself. */
    atomic_bool stops;
    /* The looks for last words of others, which the thread takes in this state. */
    atomic_int looks;
    /* The last words of the first process that ended; rank -1: none. */
    last_words heard;
    /* Space for the last words of this process. It is never freed, because a message may still be in transfer
     * at the end. */
    last_words *own;
    /* [size] The requests of these messages. */
    void **telling;
    const char *advice;
    /* Protects the two below. */
    pthread_mutex_t limiting;
    /* The time by which the main thread must finish its present work; 0: no limit. */
    double until;
    char busy_with[KF_LAST_WORDS / 2];
} watch = {.advice = "", .limiting = PTHREAD_MUTEX_INITIALIZER};

char *kf_member_text(const kf_world *all, int rank, char buffer[KF_MEMBER_TEXT]) {
    (void)snprintf(buffer, KF_MEMBER_TEXT, "rank %d of %d on %s", rank, all->size, all->members[rank].host);
    return buffer;
}

void kf_world_advise(const char *advice) {
    watch.advice = advice;
}

void kf_world_limit(double seconds, const char *what) {
    (void)pthread_mutex_lock(&watch.limiting);
    watch.until = seconds > 0 ? kf_clock_seconds() + seconds : 0;
    kf_copy_text(watch.busy_with, sizeof watch.busy_with, what);
    (void)pthread_mutex_unlock(&watch.limiting);
}

static void nap(void) {
    const struct timespec time = {.tv_nsec = 1000000000 / LOOKS_A_SECOND};
    (void)nanosleep(&time, NULL);
}

/* Tells all others, which may be gone already. */
static void spread(kf_status status, const char *text) {
    const kf_world *world = watch.world;
    last_words *words = watch.own;
    void **requests = watch.telling;
    words->rank = world->rank;
    words->status = (int32_t)status;
    kf_copy_text(words->text, sizeof words->text, text);
    for (int rank = 0; rank < world->size; rank++)
        if (rank != world->rank)
            requests[rank] = world->mpi.send(words, (int)sizeof *words, rank, END, KF_CHANNEL_WATCH);
    const double until = kf_clock_seconds() + news_seconds;
    for (int left = 1; left > 0 && kf_clock_seconds() < until; nap()) {
        left = 0;
        for (int rank = 0; rank < world->size; rank++) {
            if (requests[rank] != NULL && world->mpi.test(requests[rank]) != 0) requests[rank] = NULL;
            left += requests[rank] != NULL;
        }
    }
}

static void say_end(const char *text) {
    char self[KF_MEMBER_TEXT];
    (void)fprintf(stderr, "kftune: %s: %s; the run ends here%s%s\n",
                  kf_member_text(watch.world, watch.world->rank, self), text,
                  watch.advice[0] != '\0' ? ": " : "", watch.advice);
    (void)fflush(stderr);
}

/* Ends the process. The run is over, so the rest of the program must not continue. */
static _Noreturn void end_here(kf_status status) {
    /* Others report their errors before mpirun ends them. */
    nap(), nap(), nap();
    _exit((int)status);
}

/* Prints the line before telling the others, because mpirun may end this process before that is done. */
static _Noreturn void report(const char *text) {
    say_end(text);
    if (watch.world->threads) spread(KF_MACHINE, text);
    end_here(KF_MACHINE);
}

void kf_world_end(const char *why) {
    if (watch.started) report(why);
    kf_error line;
    (void)kf_fail(&line, KF_MACHINE, "%s", why);
    kf_clean_text(line.message);
    (void)fprintf(stderr, "kftune: %s\n", line.message);
    (void)fflush(NULL);
    _exit((int)KF_MACHINE);
}

/* Returns the state of a process of this host, 'R', 'T' and so on, or 'X' when it does not exist. */
static char state_of(int64_t process) {
    kf_process found;
    return kf_process_read(process, &found) ? found.state : 'X';
}

static bool is_near(int rank) {
    const kf_world *world = watch.world;
    return strcmp(world->members[rank].host, world->members[world->rank].host) == 0;
}

/* Looks for a process of this host that does not exist any more. */
static void look_for_dead(void) {
    const kf_world *world = watch.world;
    for (int rank = 0; rank < world->size; rank++) {
        if (rank == world->rank || !is_near(rank)) continue;
        const char state = state_of(world->members[rank].process);
        if (state != 'X' && state != 'Z') continue;
        /* It may have said why. */
        nap(), nap();
        if (atomic_load(&watch.stops)) return;
        char who[KF_MEMBER_TEXT], text[KF_LAST_WORDS];
        (void)snprintf(text, sizeof text, "%s (process %lld) was killed", kf_member_text(world, rank, who),
                       (long long)world->members[rank].process);
        report(text);
    }
}

static void report_silence(int rank) {
    char who[KF_MEMBER_TEXT], text[KF_LAST_WORDS];
    const bool stopped = is_near(rank) && state_of(watch.world->members[rank].process) == 'T';
    (void)snprintf(text, sizeof text, "%s (process %lld) %s", kf_member_text(watch.world, rank, who),
                   (long long)watch.world->members[rank].process,
                   stopped ? "is stopped" : "does not answer: it or its host hangs or is gone");
    report(text);
}

/* Ends this process when the limit is over. The main thread cannot, because it may wait for others for
 * ever. */
static void look_at_the_limit(double now) {
    char text[KF_LAST_WORDS];
    (void)pthread_mutex_lock(&watch.limiting);
    const bool over = watch.until > 0 && now > watch.until;
    (void)snprintf(text, sizeof text, "%s does not end", watch.busy_with);
    (void)pthread_mutex_unlock(&watch.limiting);
    if (over) report(text);
}

/* Waits until a process has said what it ends for, and is gone: mpirun ends all with the first that fails. */
static void let_speak(int rank, bool unless_this_stops) {
    const double until = kf_clock_seconds() + speech_seconds;
    for (char state = 'R'; state != 'X' && state != 'Z' && kf_clock_seconds() < until; nap()) {
        if (unless_this_stops && atomic_load(&watch.stops)) return;
        if (is_near(rank)) state = state_of(watch.world->members[rank].process);
    }
}

/* Takes the last words of another process. A mistake of the user occurs in all processes and needs one
 * report. The main thread may find it too meanwhile, and then reports it if this process is the first. */
static void hear(const last_words *heard) {
    char who[KF_MEMBER_TEXT], text[KF_LAST_WORDS + KF_MEMBER_TEXT + 2];
    if (heard->status == KF_BAD_INPUT) {
        let_speak(heard->rank, true);
        if (atomic_load(&watch.stops)) return;
        end_here(KF_BAD_INPUT);
    }
    /* These are news of a third process. */
    if (strncmp(heard->text, "rank ", 5) == 0) {
        say_end(heard->text);
    } else {
        (void)snprintf(text, sizeof text, "%s: %s", kf_member_text(watch.world, heard->rank, who),
                       heard->text);
        say_end(text);
    }
    end_here(KF_MACHINE);
}

static void *ask_for_last_words(last_words *words) {
    return watch.world->threads
               ? watch.world->mpi.receive(words, (int)sizeof *words, -1, END, KF_CHANNEL_WATCH)
               : NULL;
}

/* Takes last words that have arrived, and requests the next ones. */
static bool take_last_words(void **end, last_words *words) {
    const int come = *end != NULL ? watch.world->mpi.test(*end) : 0;
    /* MPI itself is ending. */
    if (come < 0) *end = NULL;
    if (come <= 0) return false;
    words->text[sizeof words->text - 1] = '\0';
    const bool known = words->rank >= 0 && words->rank < watch.world->size && kf_is_status(words->status);
    if (known && (watch.heard.rank < 0 || words->rank < watch.heard.rank)) watch.heard = *words;
    *end = ask_for_last_words(words);
    return known;
}

/* Watches in a separate thread until the main thread stops it. It sends signs of life to the next process and
 * receives those of the one before. It also looks for last words, dead processes and the limit of time.
 * Before it ends it looks for last words some more times, because they may say why this process failed. */
static void *keep_watch(void *unused) {
    (void)unused;
    const kf_world *world = watch.world;
    const kf_mpi *mpi = &world->mpi;
    const int before = (world->rank + world->size - 1) % world->size, after = (world->rank + 1) % world->size;
    char sent = 0, received = 0;
    last_words words = {.rank = -1};
    void *out = NULL,
         *in = world->threads ? mpi->receive(&received, 1, before, SIGN, KF_CHANNEL_WATCH) : NULL,
         *end = ask_for_last_words(&words);
    double said = 0, heard = kf_clock_seconds();
    while (!atomic_load(&watch.stops)) {
        const double now = kf_clock_seconds();
        if (out != NULL && mpi->test(out) != 0) out = NULL;
        if (world->threads && out == NULL && now - said >= sign_seconds) {
            out = mpi->send(&sent, 1, after, SIGN, KF_CHANNEL_WATCH);
            said = now;
        }
        while (in != NULL && mpi->test(in) != 0) {
            in = mpi->receive(&received, 1, before, SIGN, KF_CHANNEL_WATCH);
            heard = now;
        }
        if (take_last_words(&end, &words)) hear(&watch.heard);
        look_for_dead();
        look_at_the_limit(now);
        if (world->threads && now - heard > silence_seconds) report_silence(before);
        nap();
    }
    if (in != NULL) (void)mpi->cancel(in);
    for (int looks = atomic_load(&watch.looks); end != NULL && watch.heard.rank != 0 && looks > 0; looks--)
        if (!take_last_words(&end, &words)) nap();
    if (end != NULL) (void)mpi->cancel(end);
    return NULL;
}

kf_status kf_watch_start(const kf_world *world, kf_error *error) {
    watch.world = world;
    watch.heard.rank = -1;
    watch.own = kf_allocate_zeroed(1, sizeof *watch.own);
    watch.telling = kf_allocate_zeroed((size_t)world->size, sizeof *watch.telling);
    atomic_store(&watch.stops, false);
    if (kf_thread_start(&watch.thread, keep_watch, NULL) != 0)
        return kf_fail(error, KF_HOST, "the thread that watches the other processes cannot be started");
    watch.started = true;
    return KF_OK;
}

/* Stops the watch at the end of this process, and sends its last words to the others when it failed. Returns
 * whether a process before it has reported the same, so that the message need not be repeated. */
bool kf_watch_stop(kf_status status, const char *message) {
    if (!watch.started) return false;
    const bool common = status == KF_BAD_INPUT && watch.world->rank > 0;
    atomic_store(&watch.looks, common ? MISTAKE_LOOKS : LAST_LOOKS);
    atomic_store(&watch.stops, true);
    if (status != KF_OK) spread(status, message);
    pthread_join(watch.thread, NULL);
    watch.started = false;
    free(watch.telling);
    watch.telling = NULL;
    const last_words *heard = &watch.heard;
    if (status == KF_OK || heard->rank < 0 || heard->rank >= watch.world->rank || heard->text[0] == '\0' ||
        (strstr(message, heard->text) == NULL && strstr(heard->text, message) == NULL))
        return false;
    let_speak(heard->rank, false);
    return true;
}
