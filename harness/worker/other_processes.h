/* Finds other programs that use the GPU on which kftune measures, because they disturb its times. */
#ifndef KF_HARNESS_WORKER_OTHER_PROCESSES_H
#define KF_HARNESS_WORKER_OTHER_PROCESSES_H

#include <stddef.h>

#include "base/backend/backend.h"

/* Writes "python3 (process 4242), gmx (process 77)" for those processes that are neither this one nor its
 * descendants, and returns their number. Numbers that no process on this machine has are left out, because
 * they belong to another container. */
int kf_name_other_processes(const int *processes, int count, char *text, size_t size);
/* Warns if other programs use the device, with their names. It prints nothing if this is not known, or in a
 * run of several processes, which use each other's devices. */
void kf_tell_other_processes(const kf_device_info *device);

#endif
