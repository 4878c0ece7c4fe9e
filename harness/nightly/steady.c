#include "harness/nightly/steady.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/memory.h"

/* The reasons in nvmlClocksEventReason that count as throttling: HwSlowdown, SwThermalSlowdown,
 * HwThermalSlowdown, HwPowerBrakeSlowdown. Idling, a clock that a user set and the power cap do not count. */
static const uint64_t SLOWDOWN = 0x8 | 0x20 | 0x40 | 0x80;
static const double BELOW = 0.02;

/* Copies the known clocks and returns their number. The caller owns *known. */
static size_t known_clocks(const kf_measurement *m, double **known) {
    size_t count = 0;
    *known = kf_allocate((m->sample_count + 1) * sizeof **known);
    for (size_t i = 0; m->clocks_mhz != NULL && i < m->sample_count; i++)
        if (isfinite(m->clocks_mhz[i])) (*known)[count++] = m->clocks_mhz[i];
    return count;
}

/* Returns the clock of the fastest quarter; 0: no clock is known. */
static double full_clock(const kf_measurement *m) {
    double *known;
    const size_t count = known_clocks(m, &known);
    const double clock = count > 0 ? kf_summarise(known, count).q3 : 0.0;
    free(known);
    return clock;
}

/* Returns whether all samples were throttled. Without clocks nobody knows which were. */
static bool all_throttled(const kf_measurement *m, bool clocks_known) {
    const bool before = (m->device_before.throttle_reasons & SLOWDOWN) != 0,
               after = (m->device_after.throttle_reasons & SLOWDOWN) != 0;
    return clocks_known ? before && after : before || after;
}

static void skip(kf_measurement *m, size_t count) {
    m->state = KF_STATE_SKIPPED;
    (void)snprintf(
        m->reason, sizeof m->reason, "the device throttled during all %zu samples (NVML: 0x%llx)", count,
        (unsigned long long)(m->device_before.throttle_reasons | m->device_after.throttle_reasons));
    m->sample_count = 0;
}

/* Summarises the remaining samples. Rates follow from their median. */
static void sum_up(kf_measurement *m, size_t out, size_t of) {
    const double before = m->step_us.median;
    double *clocks;
    const size_t known = known_clocks(m, &clocks);
    if (known > 0) m->clock_mhz = kf_median(clocks, known);
    free(clocks);
    m->step_us = kf_summarise(m->samples_us, m->sample_count);
    m->updates_per_us *= before / m->step_us.median;
    m->effective_bandwidth *= before / m->step_us.median;
    (void)snprintf(m->outliers, sizeof m->outliers, "%zu of %zu samples left out: the device throttled", out,
                   of);
}

/* Removes the samples whose clock is below the full one, because a throttled device does not show the
 * program's speed. Returns their number. If all samples throttled, the measurement is skipped. */
size_t kf_leave_out_throttled(kf_measurement *m) {
    const size_t count = m->sample_count;
    const double clock = full_clock(m);
    size_t kept = 0;
    if (m->state != KF_STATE_OK || count == 0) return 0;
    if (all_throttled(m, clock > 0.0)) {
        skip(m, count);
        return count;
    }
    if (!(clock > 0.0)) return 0;
    for (size_t i = 0; i < count; i++) {
        if (m->clocks_mhz[i] < (1.0 - BELOW) * clock) continue;
        m->samples_us[kept] = m->samples_us[i];
        m->clocks_mhz[kept++] = m->clocks_mhz[i];
    }
    m->sample_count = kept;
    if (kept < count) sum_up(m, count - kept, count);
    return count - kept;
}
