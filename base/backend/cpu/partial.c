#include "base/backend/cpu/partial.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/backend/internal.h"
#include "base/util/memory.h"
#include "base/util/signals.h"

/* NAN in every floating-point type. */
static const unsigned char beside = 0xff;

/* --- Faults -------------------------------------------------------------------------------------------- */

enum { MOST_RANGES = 1024, MOST_OPENED = 4096 };

/* A range that the fault handler searches. begin is written last and cleared first, so the handler never sees
 * an incomplete range. */
typedef struct range {
    atomic_uintptr_t begin;
    size_t bytes;
} range;

static struct {
    pthread_mutex_t changing;
    range ranges[MOST_RANGES];
    /* The number of ranges in use, including those that are free again. */
    atomic_int used;
    struct sigaction before;
    uintptr_t page;
    atomic_int count;
    /* The address that was touched first, and the beginning of its range. */
    atomic_uintptr_t first, first_in;
    uintptr_t opened[MOST_OPENED]; /* pages */
} faults = {.changing = PTHREAD_MUTEX_INITIALIZER};

static uintptr_t range_around(uintptr_t address) {
    const int used = atomic_load(&faults.used);
    for (int i = 0; i < used; i++) {
        const uintptr_t begin = atomic_load(&faults.ranges[i].begin);
        if (begin != 0 && address >= begin && address - begin < faults.ranges[i].bytes) return begin;
    }
    return 0;
}

/* Handles a fault in the thread that caused it, and calls only functions that a signal handler may. Other
 * signals, also those from other processes, end the process as usual. */
static void note_fault(int number, siginfo_t *information, void *context) {
    (void)context;
    /* A sent signal has no address. */
    if (kf_signal_was_sent(information)) {
        kf_signal_pass_on(number, information, &faults.before);
        return;
    }
    const uintptr_t address = (uintptr_t)information->si_addr, begin = range_around(address),
                    page = address / faults.page * faults.page;
    const int place = begin != 0 ? atomic_fetch_add(&faults.count, 1) : MOST_OPENED;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): a page of the range */
    if (place >= MOST_OPENED || mprotect((void *)page, faults.page, PROT_READ | PROT_WRITE) != 0) {
        kf_signal_pass_on(number, information, &faults.before);
        return;
    }
    faults.opened[place] = page;
    if (place > 0) return;
    atomic_store(&faults.first_in, begin);
    atomic_store(&faults.first, address);
}

/* Installs the handler. Other code may have replaced it since the last buffer was made. */
static void listen_to_faults(void) {
    struct sigaction now, action = {.sa_sigaction = note_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSEGV, NULL, &now) != 0 ||
        ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == note_fault))
        return;
    faults.page = (uintptr_t)sysconf(_SC_PAGESIZE);
    faults.before = now;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGSEGV, &action, NULL);
}

/* Watches a partial buffer for faults. Where there are very many buffers a fault in the last ones ends the
 * process. */
static void watch(const kf_partial *partial) {
    (void)pthread_mutex_lock(&faults.changing);
    listen_to_faults();
    const int used = atomic_load(&faults.used);
    int place = 0;
    while (place < used && atomic_load(&faults.ranges[place].begin) != 0)
        place++;
    if (place < MOST_RANGES) {
        faults.ranges[place].bytes = partial->reserved;
        atomic_store(&faults.ranges[place].begin, (uintptr_t)partial->address);
        if (place == used) atomic_store(&faults.used, used + 1);
    }
    (void)pthread_mutex_unlock(&faults.changing);
}

static void forget(const kf_partial *partial) {
    (void)pthread_mutex_lock(&faults.changing);
    for (int i = 0; i < atomic_load(&faults.used); i++)
        if (atomic_load(&faults.ranges[i].begin) == (uintptr_t)partial->address)
            atomic_store(&faults.ranges[i].begin, 0);
    (void)pthread_mutex_unlock(&faults.changing);
}

kf_status kf_partial_oversteps(const char *who, kf_error *error) {
    const int count = atomic_load_explicit(&faults.count, memory_order_relaxed);
    if (count == 0) return KF_OK;
    for (int i = 0; i < count && i < MOST_OPENED; i++) {
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): a page of a range */
        void *page = (void *)faults.opened[i];
        (void)madvise(page, faults.page, MADV_DONTNEED);
        (void)mprotect(page, faults.page, PROT_NONE);
    }
    atomic_store(&faults.count, 0);
    return kf_fail(error, KF_GATE_FAILED, "%s accessed byte %zu of a buffer, which this device does not keep",
                   who, (size_t)(atomic_load(&faults.first) - atomic_load(&faults.first_in)));
}

/* --- Bytes beside what is kept --- */

/* Calls visit for the bytes on pages with memory that are not kept: next to kept ones and before the guard.
 */
typedef bool stretch_visit(char *from, size_t bytes, void *context);

static bool visit_between(const kf_partial *p, size_t from, size_t to, stretch_visit *visit, void *context) {
    if (to <= from) return true;
    const size_t up = (from + p->page - 1) / p->page * p->page, down = to / p->page * p->page,
                 first_end = up < to ? up : to, last_begin = down > first_end ? down : first_end;
    if (first_end > from && !visit(p->address + from, first_end - from, context)) return false;
    return last_begin >= to || visit(p->address + last_begin, to - last_begin, context);
}

static bool visit_beside(const kf_partial *p, stretch_visit *visit, void *context) {
    /* The end of the parts kept so far. */
    size_t end = 0;
    for (size_t start = 0; start < p->bytes; start += p->period)
        for (int i = 0; i < p->count; i++) {
            const size_t from = start + p->kept[i][0], to = start + p->kept[i][1];
            if (from >= p->bytes || to == from) continue;
            if (!visit_between(p, end, from, visit, context)) return false;
            if (to > end) end = to < p->bytes ? to : p->bytes;
        }
    return visit_between(p, end, p->bytes, visit, context);
}

static bool write_pattern(char *from, size_t bytes, void *context) {
    (void)context;
    memset(from, beside, bytes);
    return true;
}

/* Returns whether the bytes still have the pattern. context receives the position of the first changed byte.
 */
static bool has_pattern(char *from, size_t bytes, /* NOLINT(readability-non-const-parameter): a visitor */
                        void *context) {
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)from[i] != beside) {
            *(const char **)context = from + i;
            return false;
        }
    return true;
}

/* --- Making -------------------------------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b) {
    const size_t *left = a, *right = b;
    return left[0] < right[0] ? -1 : left[0] > right[0];
}

static int open_pages(const kf_partial *p) {
    int failed = 0;
    for (size_t run[2] = {0, 0}; kf_buffer_next_kept(p->page, p->reserved / p->page, p->bytes, p->period,
                                                     (const size_t(*)[2])p->kept, p->count, run);)
        failed |=
            mprotect(p->address + run[0] * p->page, (run[1] - run[0]) * p->page, PROT_READ | PROT_WRITE);
    return failed;
}

kf_status kf_partial_make(size_t bytes, size_t period, const size_t (*kept)[2], int count, kf_partial **made,
                          kf_error *error) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE),
                 reserved = (bytes + KF_GUARD_BYTES + page - 1) / page * page;
    /* cppcheck-suppress invalidFunctionArg ; no file */
    char *address = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *made = NULL;
    if (address == MAP_FAILED)
        return kf_fail(error, KF_MACHINE, "out of memory: no %zu bytes of addresses; use a smaller grid",
                       reserved);
    kf_partial *partial = kf_allocate_zeroed(1, sizeof *partial);
    *partial = (kf_partial){.address = address,
                            .bytes = bytes,
                            .period = period,
                            .reserved = reserved,
                            .page = page,
                            .kept = kf_allocate((size_t)count * sizeof *kept),
                            .count = count};
    memcpy(partial->kept, kept, (size_t)count * sizeof *kept);
    qsort(partial->kept, (size_t)count, sizeof *kept, by_begin);
    if (open_pages(partial) != 0) {
        kf_partial_free(partial);
        return kf_fail(error, KF_MACHINE, "out of memory: no pages for %zu bytes; use a smaller grid", bytes);
    }
    (void)visit_beside(partial, write_pattern, NULL);
    watch(partial);
    *made = partial;
    return KF_OK;
}

void kf_partial_free(kf_partial *partial) {
    if (partial == NULL) return;
    forget(partial);
    (void)munmap(partial->address, partial->reserved);
    free(partial->kept);
    free(partial);
}

void kf_partial_fill(const kf_partial *partial, unsigned char byte) {
    for (size_t start = 0; start < partial->bytes; start += partial->period)
        for (int i = 0; i < partial->count; i++) {
            const size_t from = start + partial->kept[i][0], to = start + partial->kept[i][1],
                         end = to < partial->bytes ? to : partial->bytes;
            if (from < end) memset(partial->address + from, byte, end - from);
        }
}

kf_status kf_partial_check(const kf_partial *partial, kf_error *error) {
    const char *changed = NULL;
    if (visit_beside(partial, has_pattern, &changed)) return KF_OK;
    return kf_fail(error, KF_GATE_FAILED,
                   "a kernel wrote byte %zu of a buffer, which this device does not keep",
                   (size_t)(changed - partial->address));
}
