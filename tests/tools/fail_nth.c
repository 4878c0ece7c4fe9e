/* Preloaded into kftune (LD_PRELOAD), fails the n-th call of one kind, counted over all of its processes.
 * SQLite's method: for every n, what a program does then is looked at. tests/tools/faults.py does that.
 *
 * KF_FAIL_CALL: malloc, open, write, rename, fsync, mmap or fork. KF_FAIL_NTH: the first that fails, from 1;
 * 0: none. KF_FAIL_ALWAYS: all later ones fail too. KF_FAIL_STATE: a file of 16 bytes, zeros at first, that
 * counts the calls, and the bytes that calls of malloc ask for. Programs of other names (compilers, gnuplot)
 * are left alone. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* These are glibc's own functions. They need no look-up, which would allocate. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static struct {
    const char *call;
    long nth;
    bool always;
    int reason; /* errno */
    atomic_long *calls;
} plan;

/* Returns the error with which each kind of call fails on a machine that is exhausted. */
static int reason_of(const char *call) {
    static const struct {
        const char *call;
        int reason;
    } reasons[] = {{"malloc", ENOMEM}, {"mmap", ENOMEM}, {"open", EMFILE}, {"fork", EAGAIN}, {"fsync", EIO}};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(call, reasons[i].call) == 0) return reasons[i].reason;
    return ENOSPC;
}

__attribute__((constructor)) static void begin(void) {
    const char *call = getenv("KF_FAIL_CALL"), *state = getenv("KF_FAIL_STATE"), *nth = getenv("KF_FAIL_NTH");
    if (call == NULL || state == NULL || nth == NULL || strcmp(program_invocation_short_name, "kftune") != 0)
        return;
    const int file = (int)syscall(SYS_openat, AT_FDCWD, state, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    const long address =
        syscall(SYS_mmap, NULL, 2 * sizeof *plan.calls, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    (void)syscall(SYS_close, file);
    if (address == -1) return;
    plan.nth = strtol(nth, NULL, 10);
    plan.always = getenv("KF_FAIL_ALWAYS") != NULL;
    plan.reason = reason_of(call);
    plan.calls = (atomic_long *)address;
    plan.call = call;
}

/* Returns whether this call fails, and then sets errno. */
static bool fails(const char *call) {
    if (plan.call == NULL || strcmp(plan.call, call) != 0) return false;
    const long now = atomic_fetch_add(plan.calls, 1) + 1;
    if (plan.nth == 0 || now < plan.nth || (now > plan.nth && !plan.always)) return false;
    errno = plan.reason;
    return true;
}

static bool fails_of(size_t bytes) {
    if (fails("malloc")) return true;
    if (plan.call != NULL && strcmp(plan.call, "malloc") == 0)
        (void)atomic_fetch_add(&plan.calls[1], (long)bytes);
    return false;
}

/* The function that the program would have called. */
#define REAL(name)                                                                                           \
    static __typeof__(name) *real;                                                                           \
    if (real == NULL) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* The headers' own names of parameters begin with underscores. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

/* --- Memory ----------------------------------------------------------------------------------------------
 */

void *malloc(size_t size) {
    return fails_of(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails_of(count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    return fails_of(size) ? NULL : __libc_realloc(memory, size);
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    if (fails("mmap")) return MAP_FAILED;
    const long mapped = syscall(SYS_mmap, address, size, protection, flags, file, offset);
    return mapped == -1 ? MAP_FAILED : (void *)mapped;
}

/* --- Files -----------------------------------------------------------------------------------------------
 */

int open(const char *path, int flags, ...) {
    REAL(open);
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return fails("open") ? -1 : real(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    REAL(open64);
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return fails("open") ? -1 : real(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode) {
    REAL(fopen);
    return fails("open") ? NULL : real(path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
    REAL(fopen64);
    return fails("open") ? NULL : real(path, mode);
}

DIR *opendir(const char *path) {
    REAL(opendir);
    return fails("open") ? NULL : real(path);
}

int scandir(const char *path, struct dirent ***entries, int (*chosen)(const struct dirent *),
            int (*order)(const struct dirent **, const struct dirent **)) {
    REAL(scandir);
    return fails("open") ? -1 : real(path, entries, chosen, order);
}

ssize_t write(int file, const void *data, size_t size) {
    REAL(write);
    return fails("write") ? -1 : real(file, data, size);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
    REAL(pwrite);
    return fails("write") ? -1 : real(file, data, size, at);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    REAL(pwrite64);
    return fails("write") ? -1 : real(file, data, size, at);
}

/* Drops the data that a stream has buffered, as a full disk does. */
int fflush(FILE *stream) {
    REAL(fflush);
    return fails("write") ? EOF : real(stream);
}

int fclose(FILE *stream) {
    REAL(fclose);
    const bool lost = fails("write");
    const int status = real(stream);
    if (lost) errno = plan.reason;
    return lost ? EOF : status;
}

int posix_fallocate(int file, off_t at, off_t size) {
    REAL(posix_fallocate);
    return fails("write") ? ENOSPC : real(file, at, size);
}

int ftruncate(int file, off_t size) {
    REAL(ftruncate);
    return fails("write") ? -1 : real(file, size);
}

int rename(const char *from, const char *to) {
    REAL(rename);
    return fails("rename") ? -1 : real(from, to);
}

int link(const char *from, const char *to) {
    REAL(link);
    return fails("rename") ? -1 : real(from, to);
}

int linkat(int folder, const char *from, int other, const char *to, int flags) {
    REAL(linkat);
    return fails("rename") ? -1 : real(folder, from, other, to, flags);
}

int fsync(int file) {
    REAL(fsync);
    return fails("fsync") ? -1 : real(file);
}

int fdatasync(int file) {
    REAL(fdatasync);
    return fails("fsync") ? -1 : real(file);
}

/* --- Processes -------------------------------------------------------------------------------------------
 */

pid_t fork(void) {
    REAL(fork);
    return fails("fork") ? -1 : real();
}

int posix_spawnp(pid_t *process, const char *program, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const words[], char *const environment[]) {
    REAL(posix_spawnp);
    return fails("fork") ? EAGAIN : real(process, program, actions, attributes, words, environment);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
