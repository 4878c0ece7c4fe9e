/* Lets one tuning run at a time measure on a GPU, because another one would be in its times. What needs no
 * device (sampling, the reference, compiling) is done while waiting. Runs that take turns hold the lock while
 * their kernels run, config by config. */
#ifndef KF_HARNESS_WORKER_DEVICE_LOCK_H
#define KF_HARNESS_WORKER_DEVICE_LOCK_H

#include "base/backend/backend.h"

/* Waits until no other run holds the device, calling idle (may be NULL) meanwhile, and warns of other
 * programs that use it. *lock: to be given to kf_device_unlock; -1 where there is none to hold: on the cpu,
 * and when the cache folder, in which the lock files lie, cannot be written. A run that is killed holds
 * nothing any more. KF_INTERRUPTED on Ctrl-C. */
kf_status kf_device_lock(const kf_device_info *device, void (*idle)(void *context), void *context, int *lock,
                         kf_error *error);
/* Holds the locks of all devices that somebody uses at once. */
typedef struct kf_device_locks {
    int count;
    int list[KF_MOST_DEVICES];
} kf_device_locks;
/* Waits as kf_device_lock does for each device that spec names ("cuda:0", "cuda:0-3", NULL for the best one),
 * in the order of their numbers, so that two who wait for several do not wait for each other. What was locked
 * is unlocked after a failure. KF_BAD_INPUT and KF_HOST as the device's. */
kf_status kf_devices_lock(const char *spec, kf_device_locks *locks, kf_error *error);
void kf_devices_unlock(kf_device_locks *locks);
/* Waits for as long as it takes, in line with others (who asks first is served first), without a word. For
 * worker processes, which are killed when nobody waits for them any more. KF_HOST when there is no lock to
 * be had. */
typedef enum kf_lock_mode {
    KF_LOCK_SHARED, /* with others who share it: for work on the device that is not timed */
    KF_LOCK_EXCLUSIVE,
} kf_lock_mode;
kf_status kf_device_lock_in_line(const kf_device_info *device, kf_lock_mode mode, int *lock, kf_error *error);
void kf_device_unlock(int lock);

#endif
