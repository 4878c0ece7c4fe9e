/* NVML (libnvidia-ml), loaded at run time and never required: reads the device's state, changes nothing. */
#ifndef KF_BASE_BACKEND_CUDA_NVML_H
#define KF_BASE_BACKEND_CUDA_NVML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/backend/backend.h"

/* False without NVML. */
bool kf_nvml_driver_version(char *text, size_t size);
/* Free memory of the device with this UUID ("GPU-..."); 0 when unknown. */
uint64_t kf_nvml_memory_free(const char *uuid);
/* Process numbers of the programs that hold a CUDA context on the device, at most capacity of them, and how
 * many there are; 0 when unknown (NVML older than driver 510). */
int kf_nvml_processes(const char *uuid, int *processes, int capacity);
/* Overwrites the fields it can read. */
void kf_nvml_device_state(const char *uuid, kf_device_state *state);

#endif
