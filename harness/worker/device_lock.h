/* Lets only one tuning run at a time measure on a GPU, because another run would disturb its times. Work
 * without the device (sampling, the reference, compiling) goes on while a run waits. Runs that take turns
 * hold the lock only while their kernels run, config by config. */
#ifndef KF_HARNESS_WORKER_DEVICE_LOCK_H
#define KF_HARNESS_WORKER_DEVICE_LOCK_H

#include "base/backend/backend.h"

/* Waits until no other run holds the device, calls idle (may be NULL) meanwhile, and warns of other programs
 * on it. *lock must be given to kf_device_unlock; -1: there is none, because the device is the cpu, or
 * because the cache folder with the lock files cannot be written. A killed run releases its lock.
 * KF_INTERRUPTED on Ctrl-C. */
kf_status kf_device_lock(const kf_device_info *device, void (*idle)(void *context), void *context, int *lock,
                         kf_error *error);
/* The locks of several devices. */
typedef struct kf_device_locks {
    int count;
    int list[KF_MOST_DEVICES];
} kf_device_locks;
/* Waits as kf_device_lock does for each device in spec ("cuda:0", "cuda:0-3", NULL for the best one). It
 * locks them in the order of their numbers, so that two processes never wait for each other. After a failure
 * all are unlocked. KF_BAD_INPUT and KF_HOST as for the device. */
kf_status kf_devices_lock(const char *spec, kf_device_locks *locks, kf_error *error);
void kf_devices_unlock(kf_device_locks *locks);
/* Waits in a queue, first come first served, without a time limit or message. Worker processes use it; they
 * are killed when nobody needs them. KF_HOST if no lock can be had. */
typedef enum kf_lock_mode {
    KF_LOCK_SHARED, /* shared with others: for work on the device that is not timed */
    KF_LOCK_EXCLUSIVE,
} kf_lock_mode;
kf_status kf_device_lock_in_line(const kf_device_info *device, kf_lock_mode mode, int *lock, kf_error *error);
void kf_device_unlock(int lock);

#endif
