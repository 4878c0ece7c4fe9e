/* Finds other programs that use the GPU on which kftune measures, because their work is in its times. */
#ifndef KF_HARNESS_WORKER_OTHER_PROCESSES_H
#define KF_HARNESS_WORKER_OTHER_PROCESSES_H

#include <stddef.h>

#include "base/backend/backend.h"

/* Writes "python3 (process 4242), gmx (process 77)" into text for those of the processes that are neither
 * this one nor descend from it, and returns how many these are. Numbers that no process of this machine bears
 * are left out: they belong to another container. */
int kf_name_other_processes(const int *processes, int count, char *text, size_t size);
/* Warns, naming them, where other programs use the device. Says nothing in a run of several processes, which
 * use each other's devices, nor where it is not known. */
void kf_tell_other_processes(const kf_device_info *device);

#endif
