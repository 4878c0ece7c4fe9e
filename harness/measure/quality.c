#include "harness/measure/quality.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/memory.h"

static const double OFF_CLOCK =
    0.02; /* relative difference from the median clock above which a sample is at another clock */
static const double MOST_OFF = 0.2; /* largest share of such samples for a steady clock */
static const double STEADY_WITHIN = 0.01;

static bool is_off_clock(const kf_measurement *m, size_t i) {
    return m->clocks_mhz != NULL && m->clock_mhz > 0.0 && isfinite(m->clocks_mhz[i]) &&
           fabs(m->clocks_mhz[i] / m->clock_mhz - 1.0) > OFF_CLOCK;
}

void kf_classify_clocks(kf_measurement *m) {
    double *known = kf_allocate((m->sample_count + 1) * sizeof *known);
    size_t count = 0, off = 0;
    for (size_t i = 0; m->clocks_mhz != NULL && i < m->sample_count; i++)
        if (isfinite(m->clocks_mhz[i])) known[count++] = m->clocks_mhz[i];
    m->clock_mhz = count > 0 ? kf_median(known, count) : 0.0;
    free(known);
    for (size_t i = 0; i < m->sample_count; i++)
        off += is_off_clock(m, i);
    m->clock_state = count == 0                                          ? KF_CLOCK_UNKNOWN
                     : (double)off <= MOST_OFF * (double)m->sample_count ? KF_CLOCK_STEADY
                                                                         : KF_CLOCK_UNSTEADY;
}

bool kf_clock_is_steady(const double *clocks_mhz, size_t count) {
    if (count < KF_STEADY_READINGS) return false;
    double low = INFINITY, high = 0.0;
    for (size_t i = count - KF_STEADY_READINGS; i < count; i++) {
        if (!isfinite(clocks_mhz[i])) return false;
        low = fmin(low, clocks_mhz[i]);
        high = fmax(high, clocks_mhz[i]);
    }
    return high <= (1.0 + STEADY_WITHIN) * low;
}

/* Names the likely cause of the samples beyond the inner fences, which is what they have in common. */
static const char *likely_cause(size_t outliers, size_t off_clock, size_t early, size_t slow) {
    if (2 * off_clock >= outliers) return "at another clock";
    if (2 * early >= outliers) return "among the first samples";
    if (slow == 0) return "faster than the rest";
    return "other work on the machine, perhaps";
}

/* Counts the outliers by Tukey's fences, 1.5 and 3 times the interquartile range beyond the quartiles, and
 * names their likely cause. */
void kf_describe_outliers(kf_measurement *m) {
    enum { EARLY = 3 };
    const kf_summary s = kf_summarise(m->samples_us, m->sample_count);
    const double distance = s.q3 - s.q1;
    size_t mild = 0, severe = 0, off_clock = 0, early = 0, slow = 0;
    m->outliers[0] = '\0';
    for (size_t i = 0; i < m->sample_count; i++) {
        const double beyond = fmax(m->samples_us[i] - s.q3, s.q1 - m->samples_us[i]);
        if (!(beyond > 1.5 * distance)) continue;
        mild++;
        severe += beyond > 3.0 * distance;
        off_clock += is_off_clock(m, i);
        early += i < EARLY;
        slow += m->samples_us[i] > s.q3;
    }
    if (mild == 0) return;
    (void)snprintf(m->outliers, sizeof m->outliers, "%zu of %zu samples far off, %zu of them very far: %s",
                   mild, m->sample_count, severe, likely_cause(mild, off_clock, early, slow));
}
