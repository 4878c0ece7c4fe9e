/* NVML (libnvidia-ml), which is loaded at run time if it is there. It reads the device's state and changes
 * nothing. */
#ifndef KF_BASE_BACKEND_CUDA_NVML_H
#define KF_BASE_BACKEND_CUDA_NVML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/backend/backend.h"

/* Writes the driver's version. False without NVML. */
bool kf_nvml_driver_version(char *text, size_t size);
/* Returns the free bytes of the device with this UUID ("GPU-..."); 0 when unknown. */
uint64_t kf_nvml_memory_free(const char *uuid);
/* Lists the process numbers of the programs that hold a CUDA context on the device, at most capacity of them.
 * Returns how many there are; 0 when unknown (NVML older than driver 510). */
int kf_nvml_processes(const char *uuid, int *processes, int capacity);
/* Overwrites the fields of *state that it can read. */
void kf_nvml_device_state(const char *uuid, kf_device_state *state);

#endif
