#include "harness/worker/device_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/log.h"
#include "base/util/program.h"

static kf_status open_file(const kf_device_info *device, const char *ending, int *file, kf_error *error) {
    char cache[KF_PATH], folder[KF_PATH], path[KF_PATH], name[sizeof device->identity];
    KF_TRY(kf_cache_folder(cache, error));
    KF_TRY(kf_path(folder, error, "%s/devices", cache));
    KF_TRY(kf_make_folders(folder, error));
    (void)snprintf(name, sizeof name, "%s", device->identity);
    for (char *c = name; *c != '\0'; c++)
        if (*c == '/' || *c == '.') *c = '_';
    KF_TRY(kf_path(path, error, "%s/%s.%s", folder, name, ending));
    *file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
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
        kf_warn("whether another kftune measures on this device is not known: %s", reason.message);
        return KF_OK;
    }
    while (flock(*lock, LOCK_EX | LOCK_NB) != 0 && !kf_interrupted) {
        if (!told) kf_info("waiting: another kftune measures on %s", device->spec);
        told = true;
        if (idle != NULL) idle(context);
        (void)nanosleep(&moment, NULL);
    }
    if (!kf_interrupted) return KF_OK;
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

/* Who waits to be alone holds the gate, so that no more come in to share. */
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
