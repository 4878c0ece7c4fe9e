/* A description of a GPU like an H200, for cost models without a device. */
#ifndef KF_TESTS_UNIT_MODELLED_GPU_H
#define KF_TESTS_UNIT_MODELLED_GPU_H

#include "base/backend/backend.h"

static const kf_device_info gpu = {.backend = "cuda",
                                   .spec = "cuda:0",
                                   .name = "test",
                                   .peak_bandwidth = 4.8e12,
                                   .multiprocessors = 132,
                                   .warp_size = 32,
                                   .max_threads_per_block = 1024,
                                   .l2_bytes = (uint64_t)60 << 20,
                                   .memory_bytes = (uint64_t)128 << 30};

#endif
