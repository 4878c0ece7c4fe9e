/* Opens devices, one or a team of several, and what the devices of a team do together. It stands above the
 * backends, which know of one device each. */
#ifndef KF_BASE_BACKEND_TEAM_TEAM_H
#define KF_BASE_BACKEND_TEAM_TEAM_H

#include "base/backend/backend.h"

/* Opens the devices that spec names: "cpu", "cpu:THREADS", "cuda", "cuda:N", or NULL for the best there is
 * (a GPU if one works, else cpu). Several, "cuda:0-3" or "cpu,cpu", are a team of equal devices: *backend
 * is the first of it, which owns the others and answers for all: it is closed and synchronised with them.
 * One device may be named twice. In a world of several processes (world.h) spec names the devices of each
 * host, of which every process there takes its share; *backend is the first of those, and all call this
 * together. */
kf_status kf_backend_open(const char *spec, kf_backend **backend, kf_error *error);
/* Checks that spec is one of those, without looking for the device; *parts becomes the number of its
 * devices (parts may be NULL). */
kf_status kf_device_check(const char *spec, int *parts, kf_error *error);
/* Bytes of memory that all devices together have which spec names, of a team too; NULL: the best there is
 * here. Of several processes the hosts count as many times, all like this one. No device is opened. 0: not
 * known. */
double kf_device_memory(const char *spec);
/* How many devices had this name (kf_device_info.name) together, perhaps of several processes; 1 of a
 * device's own. */
int kf_device_count_of(const char *name);
/* Member n of the team that spec names, which kf_device_check takes: "cuda:2" of "cuda:1-3", 1. */
kf_status kf_device_member(const char *spec, int n, char member[32], kf_error *error);
/* The devices of the team whose first backend is, itself included; one where it is alone. */
kf_backend *const *kf_backend_team(const kf_backend *backend, int *count);
/* The parts of a run that other processes have before those of this one's devices; 0 where there are none. */
int kf_backend_first_part(const kf_backend *backend);
/* Gives for each process the parts that stand before its own, and at the end the number of all; NULL where
 * there is one process. */
const int *kf_backend_first_parts(const kf_backend *backend);
/* The parts of a run whose memory these devices can reach: their own, and those of other processes of the
 * host where processes can share memory. */
void kf_backend_near(const kf_backend *backend, int *first, int *count);
/* One range of addresses over the memories of a team, which all its devices read and write: of each `period`
 * bytes (> 0) what lies before ends[0] (ascending, the last is period) is kept by the first device, what lies
 * before ends[1] by the second, and so on, to the nearest page (2 MiB on cuda). The buffer belongs to the
 * first. KF_MACHINE where one cannot reach the other's memory. On a device that is alone: kf_buffer_create.
 */
kf_status kf_buffer_spread(kf_backend *backend, size_t bytes, size_t period, const size_t *ends,
                           kf_buffer **buffer, kf_error *error);
/* Does the same over the memories of all parts that kf_backend_near names, whose processes call this
 * together; `ends` are those of these parts. */
kf_status kf_buffer_share(kf_backend *backend, size_t bytes, size_t period, const size_t *ends,
                          kf_buffer **buffer, kf_error *error);
/* One that streams of all processes in reach await, and one of them signals: own: this one, in which backend
 * is the device. In the others a signal of theirs says that the own one's is due by then. All of these
 * processes make, signal and free the same such marks in the same order. */
kf_status kf_mark_create_shared(kf_backend *backend, bool own, kf_mark **mark, kf_error *error);
#endif
