#include "base/util/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "base/util/signals.h"
#include "base/util/text.h"

/* --- Reading ------------------------------------------------------------------------------------------ */

static kf_status read_to_end(int file, const char *path, size_t capacity, size_t limit, char **text,
                             size_t *size, kf_error *error) {
    char *buffer = kf_allocate(capacity + 1);
    size_t length = 0;
    for (;;) {
        /* The file grew, or has no size (/proc). */
        if (length == capacity) {
            capacity = 2 * capacity + 4096;
            buffer = kf_reallocate(buffer, capacity + 1);
        }
        ssize_t got = read(file, buffer + length, capacity - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            const int reason = errno;
            free(buffer);
            errno = reason;
            return kf_fail(error, kf_errno_status(errno), "%s: cannot be read: %s", path, strerror(errno));
        }
        if (got == 0) break;
        length += (size_t)got;
        if (length > limit) {
            free(buffer);
            return kf_fail(error, KF_BAD_INPUT, "%s: is larger than the limit of %zu bytes", path, limit);
        }
    }
    buffer[length] = '\0';
    *text = buffer;
    *size = length;
    return KF_OK;
}

bool kf_first_line(const char *path, char *line, size_t size) {
    FILE *stream = fopen(path, "re");
    if (stream == NULL) return false;
    bool read = fgets(line, (int)size, stream) != NULL;
    (void)fclose(stream);
    line[read ? strcspn(line, "\n") : 0] = '\0';
    return read;
}

/* Reads a regular file of at most `limit` bytes (0: 1 GiB), zero-terminated; the caller frees it. Other kinds
 * of files are refused without waiting for them. */
kf_status kf_file_read(const char *path, size_t limit, char **text, size_t *size, kf_error *error) {
    if (limit == 0) limit = (size_t)1 << 30;
    /* O_NONBLOCK: opening a FIFO without a writer would otherwise wait for ever. */
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return kf_fail(error, kf_errno_status(errno), "%s: cannot be opened: %s%s", path, strerror(errno),
                       kf_errno_is_machines(errno) ? "" : "; check the name and its permissions");
    struct stat information;
    kf_status status = KF_OK;
    if (fstat(file, &information) != 0)
        status = kf_fail(error, kf_errno_status(errno), "%s: cannot be examined: %s", path, strerror(errno));
    else if (S_ISDIR(information.st_mode))
        status = kf_fail(error, KF_BAD_INPUT, "%s: is a folder; give the name of a file", path);
    else if (!S_ISREG(information.st_mode))
        status = kf_fail(error, KF_BAD_INPUT, "%s: is not a regular file; copy its content into one", path);
    else if ((uintmax_t)information.st_size > limit)
        status = kf_fail(error, KF_BAD_INPUT, "%s: has %jd bytes; at most %zu are read", path,
                         (intmax_t)information.st_size, limit);
    else
        status = read_to_end(file, path, (size_t)information.st_size + 1, limit, text, size, error);
    (void)close(file);
    return status;
}

bool kf_real_path(const char *path, char real[KF_PATH]) {
    if (realpath(path, real) != NULL) return true;
    if (errno == ENOMEM) kf_out_of_memory(KF_PATH);
    return false;
}

kf_status kf_folder_open(const char *path, DIR **stream, kf_error *error) {
    *stream = opendir(path);
    if (*stream != NULL) return KF_OK;
    return kf_fail(error, kf_errno_status(errno), "%s: cannot be listed: %s", path, strerror(errno));
}

/* The message of the handler. */
static char guarded[KF_PATH + 96];

static struct sigaction before_guard;

/* Does only what a signal handler may. */
static void say_shorter(int number, siginfo_t *information, void *context) {
    (void)context;
    if (kf_signal_was_sent(information)) {
        kf_signal_pass_on(number, information, &before_guard);
        return;
    }
    const ssize_t said = write(STDERR_FILENO, guarded, strlen(guarded));
    _exit(said > 0 ? KF_MACHINE : KF_HOST);
}

void kf_file_guard(const char *path) {
    static bool guards;
    struct sigaction action = {.sa_sigaction = say_shorter, .sa_flags = SA_SIGINFO};
    (void)sigemptyset(&action.sa_mask);
    if (path != NULL)
        (void)snprintf(guarded, sizeof guarded,
                       "kftune: %s: was made shorter by another program while it was read; copy it first\n",
                       path);
    if (path != NULL && !guards) (void)sigaction(SIGBUS, &action, &before_guard);
    if (path == NULL && guards) (void)sigaction(SIGBUS, &before_guard, NULL);
    guards = path != NULL;
}

/* --- Writing ------------------------------------------------------------------------------------------ */

static bool is_not_allowed(int reason) {
    return reason == EROFS || reason == EACCES || reason == EPERM;
}

static kf_status write_failure(const char *path, kf_error *error) {
    const int reason = errno;
    const kf_status status = is_not_allowed(reason) ? KF_MACHINE : kf_errno_status(reason);
    return kf_fail(error, status, "%s: cannot be written: %s%s", path, strerror(reason),
                   reason == ENOENT         ? "; make its folder first"
                   : is_not_allowed(reason) ? "; name another place (--out, --output, --picture, --store)"
                                            : "");
}

/* Returns whether the owner is this user, or the one who can do everything anyway. */
static bool is_trusted(uid_t owner) {
    return owner == geteuid() || owner == 0;
}

/* Finds the file to replace. A symbolic link stays, and its target is replaced. Links of other users are
 * refused, because they could choose what is overwritten. Devices, folders and the like must not be replaced.
 */
static kf_status resolve_target(const char *path, char target[KF_PATH], kf_error *error) {
    struct stat information;
    if (lstat(path, &information) == 0 && S_ISLNK(information.st_mode) && !is_trusted(information.st_uid))
        return kf_fail(error, KF_BAD_INPUT, "%s: is a link that another user has made; remove it", path);
    if (stat(path, &information) != 0) {
        if (errno != ENOENT) return write_failure(path, error);
        return kf_path(target, error, "%s", path);
    }
    if (S_ISDIR(information.st_mode))
        return kf_fail(error, KF_BAD_INPUT, "%s: is a folder; give the name of a file", path);
    if (!S_ISREG(information.st_mode))
        return kf_fail(error, KF_BAD_INPUT, "%s: is not a regular file; choose another name", path);
    char *real = realpath(path, NULL);
    if (real == NULL && errno != ENOENT) return write_failure(path, error);
    /* The file does not exist any more: another process has removed it. */
    kf_status status = kf_path(target, error, "%s", real != NULL ? real : path);
    free(real);
    return status;
}

bool kf_write_all(int file, const void *data, size_t size) {
    const char *bytes = data;
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written == 0) errno = EIO;
        if (written <= 0) return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

/* Sets the target, and a name beside it. */
static kf_status name_draft(const char *path, kf_file_draft *draft, kf_error *error) {
    static atomic_uint counter;
    *draft = (kf_file_draft){.file = -1};
    KF_TRY(resolve_target(path, draft->target, error));
    return kf_path(draft->temporary, error, "%s.%ld.%u.tmp", draft->target, (long)getpid(),
                   atomic_fetch_add(&counter, 1));
}

static kf_status open_named(const char *path, mode_t mode, kf_file_draft *draft, kf_error *error) {
    draft->file = open(draft->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    return draft->file < 0 ? write_failure(path, error) : KF_OK;
}

/* Opens a file without a name, which gets one when it is complete. If the process is killed, nothing remains.
 * Returns false when the file system does not support this, or /proc is missing. */
static bool open_nameless(kf_file_draft *draft, mode_t mode) {
    char folder[KF_PATH];
    kf_copy_text(folder, sizeof folder, draft->target);
    if (access("/proc/self/fd", X_OK) == 0)
        draft->file = open(dirname(folder), O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
    draft->nameless = draft->file >= 0;
    return draft->nameless;
}

static bool give_name(const kf_file_draft *draft) {
    char open_file[64];
    (void)snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", draft->file);
    return linkat(AT_FDCWD, open_file, AT_FDCWD, draft->temporary, AT_SYMLINK_FOLLOW) == 0;
}

/* Closes a draft and moves it to its place when `written`. Otherwise errno holds the reason. */
static kf_status close_draft(kf_file_draft *draft, bool written, kf_error *error) {
    written = written && fsync(draft->file) == 0 && (!draft->nameless || give_name(draft));
    int reason = errno;
    if (close(draft->file) != 0 && written) {
        written = false;
        reason = errno;
    }
    if (written && rename(draft->temporary, draft->target) == 0) return KF_OK;
    if (written) reason = errno;
    (void)unlink(draft->temporary);
    errno = reason;
    return write_failure(draft->target, error);
}

static kf_status write_atomic(const char *path, const void *data, size_t size, mode_t mode, kf_error *error) {
    kf_file_draft draft;
    KF_TRY(name_draft(path, &draft, error));
    if (!open_nameless(&draft, mode)) KF_TRY(open_named(path, mode, &draft, error));
    return close_draft(&draft, kf_write_all(draft.file, data, size), error);
}

/* Reserves space in the file. Without it a later write into the mapping could end the process. Returns 0 or
 * the reason. */
static int reserve(const kf_file_draft *draft, size_t from, size_t size) {
    return size > from ? posix_fallocate(draft->file, (off_t)from, (off_t)(size - from)) : 0;
}

/* Maps the file. Returns 0 or the reason. A draft that cannot be mapped is written at the end. */
static int map_draft(kf_file_draft *draft) {
    if (draft->size == 0) return 0;
    const int reason = reserve(draft, 0, draft->size);
    if (reason != 0) return reason == EINVAL || reason == EOPNOTSUPP ? 0 : reason;
    draft->data = mmap(NULL, draft->size, PROT_READ | PROT_WRITE, MAP_SHARED, draft->file, 0);
    draft->mapped = draft->data != MAP_FAILED;
    return 0;
}

kf_status kf_file_begin(const char *path, size_t size, kf_file_draft *draft, kf_error *error) {
    KF_TRY(name_draft(path, draft, error));
    if (!open_nameless(draft, 0666)) KF_TRY(open_named(path, 0666, draft, error));
    draft->size = size;
    errno = map_draft(draft);
    if (errno != 0) return close_draft(draft, false, error);
    if (!draft->mapped) draft->data = kf_allocate_zeroed(size + 1, 1);
    return KF_OK;
}

static bool resize_mapped(kf_file_draft *draft, size_t size) {
    draft->lacking = reserve(draft, draft->size, size);
    if (draft->lacking != 0) return false;
    void *data = mremap(draft->data, draft->size, size, MREMAP_MAYMOVE);
    if (data == MAP_FAILED || (size < draft->size && ftruncate(draft->file, (off_t)size) != 0))
        draft->lacking = errno;
    if (data != MAP_FAILED) draft->data = data;
    if (data != MAP_FAILED) draft->size = size;
    return draft->lacking == 0;
}

bool kf_file_resize(kf_file_draft *draft, size_t size) {
    if (draft->lacking != 0) return false;
    if (draft->mapped) return resize_mapped(draft, size);
    draft->data = kf_reallocate(draft->data, size + 1);
    if (size > draft->size) memset((char *)draft->data + draft->size, 0, size - draft->size);
    draft->size = size;
    return true;
}

/* Ends a draft: puts the file in its place when all is well, else drops it, and returns the first failure. */
kf_status kf_file_end(kf_file_draft *draft, kf_status status, kf_error *error) {
    bool written = draft->lacking == 0;
    if (!written) status = KF_HOST;
    if (draft->mapped)
        (void)munmap(draft->data, draft->size);
    else if (status == KF_OK)
        written = kf_write_all(draft->file, draft->data, draft->size);
    const int reason = errno;
    if (!draft->mapped) free(draft->data);
    draft->data = NULL;
    errno = draft->lacking != 0 ? draft->lacking : reason;
    if (status == KF_OK || draft->lacking != 0) return close_draft(draft, written, error);
    (void)close(draft->file);
    (void)unlink(draft->temporary);
    return status;
}

kf_status kf_file_write_atomic(const char *path, const void *data, size_t size, kf_error *error) {
    return write_atomic(path, data, size, 0666, error);
}

kf_status kf_file_write_own(const char *path, const void *data, size_t size, kf_error *error) {
    return write_atomic(path, data, size, 0644, error);
}

bool kf_folder_is_noexec(const char *folder) {
    struct statvfs mounted;
    return statvfs(folder, &mounted) == 0 && (mounted.f_flag & ST_NOEXEC) != 0;
}

/* Makes a folder and all that are missing above it. */
kf_status kf_make_folders(const char *path, kf_error *error) {
    char part[KF_PATH];
    KF_TRY(kf_path(part, error, "%s", path));
    if (part[0] == '\0') return kf_fail(error, KF_BAD_INPUT, "the name of a folder is empty");
    for (char *at = part + 1;; at++) {
        if (*at != '/' && *at != '\0') continue;
        char separator = *at;
        *at = '\0';
        if (mkdir(part, 0777) != 0) {
            int reason = errno;
            struct stat information;
            bool folder = stat(part, &information) == 0 && S_ISDIR(information.st_mode);
            if (!folder)
                return kf_fail(error, is_not_allowed(reason) ? KF_MACHINE : kf_errno_status(reason),
                               "%s: the folder cannot be created: %s", part,
                               reason == EEXIST ? "there is a file of this name" : strerror(reason));
        }
        if (separator == '\0') return KF_OK;
        *at = separator;
    }
}

/* Refuses a folder of another user, and one into which others may write. They could replace the files in it.
 */
kf_status kf_folder_is_own(const char *path, bool group_may, const char *cure, kf_error *error) {
    struct stat link, folder;
    if (lstat(path, &link) != 0 || stat(path, &folder) != 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: cannot be examined: %s", path, strerror(errno));
    if (!is_trusted(link.st_uid) || !is_trusted(folder.st_uid))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: belongs to another user, who could replace what is written there; %s", path,
                       cure);
    /* In a folder with the sticky bit nobody can replace the files of others. */
    const bool others = (folder.st_mode & S_IWOTH) != 0 && (folder.st_mode & S_ISVTX) == 0,
               group = (folder.st_mode & S_IWGRP) != 0 && !group_may;
    if (!others && !group) return KF_OK;
    return kf_fail(
        error, KF_BAD_INPUT,
        "%s: others may write into this folder, and could replace what is written there; take that "
        "away (chmod go-w), or %s",
        path, cure);
}

/* --- Places of files and folders --- */

kf_status kf_path(char path[KF_PATH], kf_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, KF_PATH, format, arguments);
    va_end(arguments);
    if (length >= 0 && length < KF_PATH) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%.60s...: the path is longer than %d bytes", path, KF_PATH - 1);
}

static bool holds_kernels(const char *folder) {
    char path[KF_PATH];
    return kf_path(path, NULL, "%s/kernels/portable.h", folder) == KF_OK && access(path, R_OK) == 0;
}

/* Finds the folder of the shared library that contains this code; "" in a program. */
static void folder_of_this(char folder[KF_PATH]) {
    static const char here = 0;
    Dl_info object;
    if (dladdr(&here, &object) == 0 || object.dli_fname == NULL || strstr(object.dli_fname, ".so") == NULL)
        return;
    char real[KF_PATH];
    if (kf_real_path(object.dli_fname, real)) kf_copy_text(folder, KF_PATH, dirname(real));
}

/* Looks for the data near an executable. In a bundle it is beside it; otherwise in a parent folder:
 * build/kftune, build/tests/test_x, build/sanitize/tests/test_x. A library may be one folder deeper
 * (lib/x86_64-linux-gnu). */
static bool look_around(const char *from, char folder[KF_PATH]) {
    static const char *const places[] = {"",       "/..",      "/../share/kftune", "/../../share/kftune",
                                         "/../..", "/../../.."};
    for (size_t i = 0; from[0] != '\0' && i < sizeof places / sizeof places[0]; i++) {
        char candidate[KF_PATH];
        if (kf_path(candidate, NULL, "%s%s", from, places[i]) != KF_OK || !holds_kernels(candidate)) continue;
        if (!kf_real_path(candidate, folder)) kf_copy_text(folder, KF_PATH, candidate);
        return true;
    }
    return false;
}

/* Finds the folder that holds kernels/: the one in KFTUNE_DATA, or one near the library or the program. */
static kf_status find_data_folder(char folder[KF_PATH], kf_error *error) {
    const char *chosen = getenv("KFTUNE_DATA");
    if (chosen != NULL && chosen[0] != '\0') {
        if (!holds_kernels(chosen))
            return kf_fail(
                error, KF_BAD_INPUT,
                "KFTUNE_DATA=%s: has no kernels/portable.h; name the folder that holds kernels/, or unset it",
                chosen);
        return kf_path(folder, error, "%s", chosen);
    }
    char program[KF_PATH], library[KF_PATH] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return kf_fail(error, KF_MACHINE,
                       "/proc/self/exe cannot be read: %s; set KFTUNE_DATA to kftune's folder",
                       strerror(errno));
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    folder_of_this(library);
    if (look_around(library, folder) || look_around(program, folder)) return KF_OK;
    return kf_fail(
        error, KF_MACHINE,
        "kernels/portable.h is neither beside %s nor in ../share/kftune; install kftune again, or set "
        "KFTUNE_DATA to the folder that holds kernels/",
        program);
}

kf_status kf_data_folder(const char **folder, kf_error *error) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char found[KF_PATH];
    (void)pthread_mutex_lock(&lock);
    kf_status status = KF_OK;
    if (found[0] == '\0') {
        char candidate[KF_PATH];
        status = find_data_folder(candidate, error);
        if (status == KF_OK) memcpy(found, candidate, sizeof found);
    }
    (void)pthread_mutex_unlock(&lock);
    if (status == KF_OK) *folder = found;
    return status;
}

/* Finds a personal folder by the XDG base directory specification, which ignores relative paths in the
 * variable. other: another remedy, for the message. */
static kf_status personal_folder(const char *variable, const char *below_home, const char *other,
                                 char path[KF_PATH], kf_error *error) {
    const char *base = getenv(variable);
    char buffer[4096];
    struct passwd user, *found = NULL;
    const char *home = getenv("HOME");
    if (base != NULL && base[0] == '/') {
        KF_TRY(kf_path(path, error, "%s/kftune", base));
    } else {
        if (home == NULL || home[0] == '\0') {
            (void)getpwuid_r(getuid(), &user, buffer, sizeof buffer, &found);
            home = found != NULL ? found->pw_dir : NULL;
        }
        if (home == NULL)
            return kf_fail(error, KF_MACHINE, "there is no home folder; set HOME or %s%s", variable, other);
        KF_TRY(kf_path(path, error, "%s/%s/kftune", home, below_home));
    }
    kf_error why = {KF_OK, ""};
    const kf_status status = kf_make_folders(path, &why);
    if (status == KF_OK) return KF_OK;
    return kf_fail(error, status, "%s; set %s to a folder that can be written%s", why.message, variable,
                   other);
}

kf_status kf_cache_folder(char path[KF_PATH], kf_error *error) {
    return personal_folder("XDG_CACHE_HOME", ".cache", "", path, error);
}

kf_status kf_store_folder(char path[KF_PATH], kf_error *error) {
    return personal_folder("XDG_DATA_HOME", ".local/share", ", or give --store", path, error);
}
