#include "base/plan/machine_limit.h"

#include <math.h>

/* Bytes a second between the last-level cache of a device and its cores. */
static double cache_roof(const kf_device_info *device) {
    static const double LINE = 64.0, CPU_HZ = 6e9, GPU_HZ = 3e9;
    const bool gpu = kf_device_is_gpu(device);
    const double clock = gpu ? (device->clock_hz > 0.0 ? device->clock_hz : GPU_HZ) : CPU_HZ;
    return LINE * (gpu ? 1.0 : 2.0) * fmax(1.0, device->multiprocessors) * clock;
}

kf_status kf_check_machine_limit(const kf_device_info *device, double bytes, double step_us,
                                 kf_error *error) {
    const double share = bytes / fmax(1.0, device->parts), beyond = share - (double)device->l2_bytes,
                 cache = cache_roof(device);
    const double memory_us =
        device->peak_bandwidth > 0.0 ? 1e6 * fmax(0.0, beyond) / device->peak_bandwidth : 0.0;
    const double least_us = fmax(memory_us, 1e6 * share / cache);
    if (step_us >= least_us) return KF_OK;
    return kf_fail(error, KF_GATE_FAILED,
                   "faster than the machine: writes %.3g bytes in %.3g us, %.4g GB/s, but this device needs "
                   "at least %.3g us for that",
                   bytes, step_us, 1e-3 * bytes / step_us, least_us);
}
