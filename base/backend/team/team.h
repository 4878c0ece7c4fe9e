/* Opens one device or a team of several, and does what a team's devices do together. It stands above the
 * backends, each of which knows only single devices. */
#ifndef KF_BASE_BACKEND_TEAM_TEAM_H
#define KF_BASE_BACKEND_TEAM_TEAM_H

#include "base/backend/backend.h"

/* Opens the devices that spec names: "cpu", "cpu:THREADS", "cuda", "cuda:N", or NULL for the best of the
 * machine (a working GPU, else the cpu). Several devices, "cuda:0-3" or "cpu,cpu", form a team of equal
 * devices; one device may be named twice. *backend is the first of the team. It owns the others: they are
 * closed and synchronised with it. In a run of several processes (world.h) spec names the devices of each
 * host, and each process there gets its share. *backend is then the first of this share, and all processes
 * call this together. */
kf_status kf_backend_open(const char *spec, kf_backend **backend, kf_error *error);
/* Checks that spec is one of these, without looking for the device. *parts (parts may be NULL) becomes the
 * number of its devices. */
kf_status kf_device_check(const char *spec, int *parts, kf_error *error);
/* Returns the bytes of memory of all devices that spec names together; spec NULL: the best device of the
 * machine. With several processes all hosts are assumed to be like this one. It opens no device. 0: not
 * known. */
double kf_device_memory(const char *spec);
/* Returns how many devices this name (kf_device_info.name) stands for, also over several processes; 1 for the
 * name of a single device. */
int kf_device_count_of(const char *name);
/* Writes the name of device n of a team: "cuda:2" for "cuda:1-3" and 1. kf_device_check must accept spec. */
kf_status kf_device_member(const char *spec, int n, char member[32], kf_error *error);
/* Returns the devices of the team whose first backend this is, itself included; one for a device that is
 * alone. */
kf_backend *const *kf_backend_team(const kf_backend *backend, int *count);
/* Returns how many parts of a run belong to processes before this one; 0 for a single process. */
int kf_backend_first_part(const kf_backend *backend);
/* Returns for each process the number of parts before its own, and at the end the number of all parts. NULL
 * for a single process. */
const int *kf_backend_first_parts(const kf_backend *backend);
/* Finds the parts of a run whose memory these devices can reach: their own, and those of processes of the
 * same host that can share memory. They are `count` parts from `first` on. */
void kf_backend_near(const kf_backend *backend, int *first, int *count);
/* Makes a buffer over the memories of a team, as one range of addresses that all its devices read and write.
 * Of each `period` bytes (> 0) the first device keeps those before ends[0], the second those before ends[1],
 * and so on, to the nearest page (2 MiB on cuda). ends is ascending and its last value is period. The buffer
 * belongs to the first device. KF_MACHINE where one device cannot reach the memory of another. A device that
 * is alone gets a buffer of kf_buffer_create. */
kf_status kf_buffer_spread(kf_backend *backend, size_t bytes, size_t period, const size_t *ends,
                           kf_buffer **buffer, kf_error *error);
/* Makes such a buffer over the memories of all parts that kf_backend_near names. Their processes call this
 * together; `ends` has one value for each of these parts. */
kf_status kf_buffer_share(kf_backend *backend, size_t bytes, size_t period, const size_t *ends,
                          kf_buffer **buffer, kf_error *error);
/* Makes a mark that one process signals and streams of all reachable processes may await. own: this process
 * signals it, on the device `backend`. In the other processes a signal states that the own one is due by
 * then. All of these processes make, signal and free the same marks in the same order. */
kf_status kf_mark_create_shared(kf_backend *backend, bool own, kf_mark **mark, kf_error *error);
#endif
