#include "harness/worker/device_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/backend/team/team.h"
#include "base/util/file.h"
#include "base/util/log.h"
#include "base/util/program.h"
#include "harness/worker/other_processes.h"
#include "harness/worker/worker.h"

/* Opens the file of a lock. It refuses folders of another user and links of another user, who could otherwise
 * hold the lock for ever, or let files be created elsewhere. */
static kf_status open_file(const kf_device_info *device, const char *ending, int *file, kf_error *error) {
    char cache[KF_PATH], folder[KF_PATH], path[KF_PATH], name[sizeof device->identity];
    KF_TRY(kf_cache_folder(cache, error));
    KF_TRY(kf_path(folder, error, "%s/devices", cache));
    KF_TRY(kf_make_folders(folder, error));
    kf_error why;
    if (kf_folder_is_own(folder, true, "set XDG_CACHE_HOME to a folder of your own", &why) != KF_OK)
        return kf_fail(error, KF_HOST, "%s", why.message);
    (void)snprintf(name, sizeof name, "%s", device->identity);
    for (char *c = name; *c != '\0'; c++)
        if (*c == '/' || *c == '.') *c = '_';
    KF_TRY(kf_path(path, error, "%s/%s.%s", folder, name, ending));
    *file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*file >= 0) return KF_OK;
    return kf_fail(error, KF_HOST, "%s: cannot be opened: %s", path, strerror(errno));
}

kf_status kf_device_lock(const kf_device_info *device, void (*idle)(void *context), void *context, int *lock,
                         kf_error *error) {
    static const struct timespec moment = {.tv_nsec = 20000000};
    kf_error reason = {KF_OK, ""};
    bool told = false;
    *lock = -1;
    if (!kf_device_is_gpu(device)) return KF_OK;
    if (open_file(device, "lock", lock, &reason) != KF_OK) {
        kf_warn("kftune cannot tell whether another kftune measures on this device: %s", reason.message);
        return KF_OK;
    }
    while (flock(*lock, LOCK_EX | LOCK_NB) != 0 && !kf_interrupted) {
        if (!told) kf_info("waiting: another kftune measures on %s", device->spec);
        told = true;
        if (idle != NULL) idle(context);
        (void)nanosleep(&moment, NULL);
    }
    if (!kf_interrupted) {
        kf_tell_other_processes(device);
        return KF_OK;
    }
    kf_device_unlock(*lock);
    *lock = -1;
    return kf_fail(error, KF_INTERRUPTED, "interrupted while waiting for the device");
}

static kf_status wait_for(int file, int operation, kf_error *error) {
    int result = 0;
    do {
        result = flock(file, operation);
    } while (result != 0 && errno == EINTR);
    if (result == 0) return KF_OK;
    return kf_fail(error, KF_HOST, "waiting for the device: %s", strerror(errno));
}

/* Waits for the lock in a queue. A process that waits for exclusive use holds the gate, so that no more
 * processes can share. */
kf_status kf_device_lock_in_line(const kf_device_info *device, kf_lock_mode mode, int *lock,
                                 kf_error *error) {
    int gate = -1;
    *lock = -1;
    if (!kf_device_is_gpu(device)) return KF_OK;
    KF_TRY(open_file(device, "gate", &gate, error));
    kf_status status = open_file(device, "lock", lock, error);
    if (status == KF_OK) status = wait_for(gate, LOCK_EX, error);
    if (status == KF_OK) status = wait_for(*lock, mode == KF_LOCK_EXCLUSIVE ? LOCK_EX : LOCK_SH, error);
    (void)close(gate);
    if (status == KF_OK) return KF_OK;
    kf_device_unlock(*lock);
    *lock = -1;
    return status;
}

void kf_device_unlock(int lock) {
    if (lock >= 0) (void)close(lock);
}

static int by_number(const void *a, const void *b) {
    return strverscmp(a, b);
}

static kf_status lock_one(const char *spec, kf_device_locks *locks, kf_error *error) {
    kf_device_info device;
    KF_TRY(kf_device_probe(spec, &device, error));
    KF_TRY(kf_device_lock(&device, NULL, NULL, &locks->list[locks->count], error));
    locks->count++;
    return KF_OK;
}

/* Locks each device of a team once. */
static kf_status lock_members(const char *spec, int parts, kf_device_locks *locks, kf_error *error) {
    char members[KF_MOST_DEVICES][32];
    int count = 0;
    for (int i = 0; i < parts && count < KF_MOST_DEVICES; i++) {
        bool again = false;
        KF_TRY(kf_device_member(spec, i, members[count], error));
        for (int j = 0; j < count; j++)
            again = again || strcmp(members[j], members[count]) == 0;
        count += again ? 0 : 1;
    }
    qsort(members, (size_t)count, sizeof *members, by_number);
    for (int i = 0; i < count; i++)
        KF_TRY(lock_one(members[i], locks, error));
    return KF_OK;
}

kf_status kf_devices_lock(const char *spec, kf_device_locks *locks, kf_error *error) {
    int parts = 1;
    locks->count = 0;
    if (spec == NULL) return lock_one(NULL, locks, error);
    KF_TRY(kf_device_check(spec, &parts, error));
    const kf_status status = lock_members(spec, parts, locks, error);
    if (status != KF_OK) kf_devices_unlock(locks);
    return status;
}

void kf_devices_unlock(kf_device_locks *locks) {
    while (locks->count > 0)
        kf_device_unlock(locks->list[--locks->count]);
}
