#include "base/backend/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/util/clock.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/text.h"

/* The mark at the end of an entry. An entry holds its content, the hash of its name and content in
 * hexadecimal, and this mark. */
static const char trailer_mark[8] = {'k', 'f', 'c', 'a', 'c', 'h', 'e', '2'};
enum { TRAILER_BYTES = KF_HASH_HEX - 1 + sizeof trailer_mark };

/* A compiled kernel is far smaller. */
static const size_t entry_limit = (size_t)256 << 20;
static const uint64_t default_limit = (uint64_t)1 << 30;
/* In seconds. No compiler runs that long. */
static const time_t temporary_lifetime = 3600;

/* --- Folders and names -------------------------------------------------------------------------------- */

static kf_status not_writable(const char *reason, kf_error *error) {
    const bool says_cure = strstr(reason, "XDG_CACHE_HOME") != NULL;
    return kf_fail(error, KF_HOST, "the kernel cache cannot be written: %s%s", reason,
                   says_cure ? "" : "; make room, or set XDG_CACHE_HOME to another folder");
}

/* Returns whether the owner of a file is trusted. Whoever can write an entry can run code as this user, so
 * only this user and root are. */
static bool is_trusted(const struct stat *about) {
    return (about->st_uid == geteuid() || about->st_uid == 0) && (about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static kf_status own_folder(const char *path, kf_error *error) {
    struct stat about;
    if (stat(path, &about) != 0) return not_writable(strerror(errno), error);
    if (is_trusted(&about)) return KF_OK;
    if (about.st_uid == geteuid() && chmod(path, about.st_mode & 0755) == 0) return KF_OK;
    return kf_fail(error, KF_HOST,
                   "the kernel cache %s belongs to another user, who could have any code run as yours; set "
                   "XDG_CACHE_HOME to a folder of your own",
                   path);
}

kf_status kf_cache_kernel_folder(char path[KF_PATH], kf_error *error) {
    char folder[KF_PATH];
    kf_error reason;
    kf_status status = kf_cache_folder(folder, &reason);
    if (status == KF_OK) status = kf_path(path, &reason, "%s/kernels", folder);
    if (status == KF_OK) status = kf_make_folders(path, &reason);
    return status == KF_OK ? own_folder(path, error) : not_writable(reason.message, error);
}

/* Names the place in which process numbers count: a machine since it was started, and in it a container.
 * Folders may be shared. */
static void name_place(char place[9]) {
    kf_hasher hasher;
    char hex[KF_HASH_HEX], *boot = NULL;
    size_t size = 0;
    struct stat about = {0};
    if (kf_file_read("/proc/sys/kernel/random/boot_id", 0, &boot, &size, NULL) != KF_OK) size = 0;
    (void)stat("/proc/self/ns/pid", &about);
    kf_hash_begin(&hasher);
    kf_hash_add(&hasher, boot, size);
    kf_hash_add(&hasher, &about.st_ino, sizeof about.st_ino);
    kf_hash_end(&hasher, hex);
    free(boot);
    kf_copy_text(place, 9, hex);
}

/* Makes a path for a file that a compiler or a trial writes. It names its process, which the later removal of
 * old files needs. */
static kf_status temporary_path(const char *ending, char path[KF_PATH], kf_error *error) {
    char folder[KF_PATH], place[9];
    KF_TRY(kf_cache_kernel_folder(folder, error));
    name_place(place);
    return kf_path(path, error, "%s/temporary-%s-%ld-%s", folder, place, (long)getpid(), ending);
}

static void sweep(void);

kf_status kf_cache_try(kf_error *error) {
    /* More than a usual kernel needs. */
    enum { PROBE_BYTES = 1 << 20 };
    char path[KF_PATH];
    KF_TRY(temporary_path("probe", path, error));
    sweep();
    void *nothing = kf_allocate_zeroed(1, PROBE_BYTES);
    kf_error reason;
    const kf_status status = kf_file_write_atomic(path, nothing, PROBE_BYTES, &reason);
    free(nothing);
    (void)unlink(path);
    return status == KF_OK ? KF_OK : not_writable(reason.message, error);
}

static kf_status entry_path(const char *key, const char *extension, char path[KF_PATH], kf_error *error) {
    char folder[KF_PATH];
    KF_TRY(kf_cache_kernel_folder(folder, error));
    return kf_path(path, error, "%s/%s.%s", folder, key, extension);
}

kf_status kf_cache_temporary(char path[KF_PATH], const char *extension, kf_error *error) {
    char ending[32];
    (void)snprintf(ending, sizeof ending, "XXXXXX.%s", extension);
    KF_TRY(temporary_path(ending, path, error));
    const int file = mkostemps(path, (int)strlen(extension) + 1, O_CLOEXEC);
    if (file >= 0) {
        close(file);
        return KF_OK;
    }
    char reason[KF_PATH + 128];
    (void)snprintf(reason, sizeof reason, "%s: %s", path, strerror(errno));
    return not_writable(reason, error);
}

/* --- Entries ------------------------------------------------------------------------------------------ */

static void hash_entry(const char *key, const char *extension, const void *data, size_t size,
                       char hex[KF_HASH_HEX]) {
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, key);
    kf_hash_add_string(&hasher, extension);
    kf_hash_add(&hasher, data, size);
    kf_hash_end(&hasher, hex);
}

/* Reads the content and path of an intact entry. Removes a file that is not intact. */
static bool read_entry(const char *key, const char *extension, char path[KF_PATH], char **data,
                       size_t *size) {
    if (entry_path(key, extension, path, NULL) != KF_OK) return false;
    struct stat about;
    *data = NULL;
    if (lstat(path, &about) != 0) return false;
    const bool ours = S_ISREG(about.st_mode) && is_trusted(&about);
    if (ours && kf_file_read(path, entry_limit, data, size, NULL) == KF_OK && *size >= TRAILER_BYTES) {
        const size_t content = *size - TRAILER_BYTES;
        const char *trailer = *data + content;
        char hex[KF_HASH_HEX];
        hash_entry(key, extension, *data, content, hex);
        if (memcmp(trailer, hex, KF_HASH_HEX - 1) == 0 &&
            memcmp(trailer + KF_HASH_HEX - 1, trailer_mark, sizeof trailer_mark) == 0) {
            (*data)[content] = '\0';
            *size = content;
            /* Marks the entry as used now. A read-only cache still works. */
            utimensat(AT_FDCWD, path, NULL, 0);
            return true;
        }
    }
    kf_detail("dropping the cache entry %s: it is damaged, or not this user's", path);
    unlink(path);
    free(*data);
    return false;
}

bool kf_cache_get(const char *key, const char *extension, void **data, size_t *size) {
    char path[KF_PATH], *content;
    if (!read_entry(key, extension, path, &content, size)) return false;
    *data = content;
    return true;
}

bool kf_cache_find(const char *key, const char *extension, char path[KF_PATH]) {
    char *content;
    size_t size;
    if (!read_entry(key, extension, path, &content, &size)) return false;
    free(content);
    return true;
}

/* Claims a key by a lock on one byte of one file, so no lock files remain. The wait has a limit, because
 * another process may be stopped while it builds. */
int kf_cache_claim(const char *key) {
    /* These digits of the key give a positive offset. */
    enum { DIGITS = 15 };
    static const double LONGEST_WAIT_SECONDS = 120.0;
    static const struct timespec nap = {.tv_nsec = 10000000};
    char folder[KF_PATH], path[KF_PATH], digits[DIGITS + 1];
    if (kf_cache_folder(folder, NULL) != KF_OK || kf_path(path, NULL, "%s/building.lock", folder) != KF_OK)
        return -1;
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    kf_copy_text(digits, sizeof digits, key);
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)strtoull(digits, NULL, 16), .l_len = 1};
    const double until = kf_clock_seconds() + LONGEST_WAIT_SECONDS;
    if (file < 0) return -1;
    while (fcntl(file, F_OFD_SETLK, &lock) != 0) {
        const bool taken = errno == EAGAIN || errno == EACCES;
        if (!taken || kf_interrupted || kf_clock_seconds() > until) {
            close(file);
            return -1;
        }
        (void)nanosleep(&nap, NULL);
    }
    return file;
}

/* Processes that were forked meanwhile have the file too, so closing it would not release the lock. */
void kf_cache_release(int claim) {
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (claim < 0) return;
    (void)fcntl(claim, F_OFD_SETLK, &lock);
    (void)close(claim);
}

/* --- Keeping it small --------------------------------------------------------------------------------- */

typedef struct cache_file {
    char name[256];
    struct timespec used;
    uint64_t bytes;
} cache_file;

static uint64_t size_limit(void) {
    const char *text = getenv("KFTUNE_CACHE_LIMIT");
    if (text == NULL || text[0] == '\0') return default_limit;
    char *end;
    errno = 0;
    const uint64_t limit = strtoull(text, &end, 10);
    if (errno == 0 && *end == '\0' && text[0] >= '0' && text[0] <= '9') return limit;
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&warned))
        kf_warn("KFTUNE_CACHE_LIMIT is \"%s\", not a number of bytes; using 1 GiB", text);
    return default_limit;
}

static int older_first(const void *left, const void *right) {
    const struct timespec a = ((const cache_file *)left)->used, b = ((const cache_file *)right)->used;
    if (a.tv_sec != b.tv_sec) return a.tv_sec < b.tv_sec ? -1 : 1;
    return (a.tv_nsec > b.tv_nsec) - (a.tv_nsec < b.tv_nsec);
}

/* Returns whether a file is being written, by a compiler or by kf_file_write_atomic. */
static bool is_temporary(const char *name) {
    return strncmp(name, "temporary-", strlen("temporary-")) == 0 || kf_ends_in(name, ".tmp");
}

/* Returns true if the process that made a temporary file is known to be gone. */
static bool is_orphan(const char *name) {
    char place[9], of[9];
    long process = 0;
    name_place(place);
    if (sscanf(name, "temporary-%8[0-9a-f]-%ld-", of, &process) != 2 || strcmp(of, place) != 0) return false;
    return process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

/* Lists the entries of folder (the caller frees) and removes what killed processes left behind. */
static cache_file *list_entries(int folder, DIR *stream, int *count) {
    cache_file *files = NULL;
    int capacity = 0;
    *count = 0;
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        struct stat information;
        if (fstatat(folder, entry->d_name, &information, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (!S_ISREG(information.st_mode)) continue;
        if (is_temporary(entry->d_name)) {
            if (time(NULL) - information.st_mtime > temporary_lifetime || is_orphan(entry->d_name))
                (void)unlinkat(folder, entry->d_name, 0);
            continue;
        }
        if (*count == capacity) {
            capacity = 2 * capacity + 64;
            files = kf_reallocate(files, (size_t)capacity * sizeof *files);
        }
        cache_file *file = &files[(*count)++];
        kf_copy_text(file->name, sizeof file->name, entry->d_name);
        file->used = information.st_mtim;
        file->bytes = (uint64_t)information.st_size;
    }
    return files;
}

static void sweep(void) {
    char folder[KF_PATH];
    int count;
    DIR *stream = kf_cache_kernel_folder(folder, NULL) == KF_OK ? opendir(folder) : NULL;
    if (stream == NULL) return;
    free(list_entries(dirfd(stream), stream, &count));
    closedir(stream);
}

/* Removes the entries that were unused for the longest time, until the rest fits. keep: the name of the entry
 * just written. */
static void evict(const char *folder_path, const char *keep) {
    const uint64_t limit = size_limit();
    DIR *stream = opendir(folder_path);
    if (stream == NULL) return;
    const int folder = dirfd(stream);
    int count;
    cache_file *files = list_entries(folder, stream, &count);
    uint64_t total = 0;
    for (int i = 0; i < count; i++)
        total += files[i].bytes;
    if (total > limit) qsort(files, (size_t)count, sizeof *files, older_first);
    for (int i = 0; i < count && total > limit; i++) {
        if (strcmp(files[i].name, keep) == 0) continue;
        /* The file may be gone already, because other processes evict too. */
        unlinkat(folder, files[i].name, 0);
        total -= files[i].bytes;
    }
    free(files);
    closedir(stream);
}

kf_status kf_cache_put(const char *key, const char *extension, const void *data, size_t size,
                       kf_error *error) {
    char path[KF_PATH], folder[KF_PATH], hex[KF_HASH_HEX];
    KF_TRY(entry_path(key, extension, path, error));
    kf_error reason;
    char *entry = kf_allocate(size + TRAILER_BYTES);
    memcpy(entry, data, size);
    hash_entry(key, extension, data, size, hex);
    memcpy(entry + size, hex, KF_HASH_HEX - 1);
    memcpy(entry + size + KF_HASH_HEX - 1, trailer_mark, sizeof trailer_mark);
    const kf_status status = kf_file_write_own(path, entry, size + TRAILER_BYTES, &reason);
    free(entry);
    if (status != KF_OK) return not_writable(reason.message, error);
    KF_TRY(kf_cache_kernel_folder(folder, error));
    evict(folder, path + strlen(folder) + 1);
    return KF_OK;
}
