#include "harness/measure/policy.h"

#include <math.h>
#include <string.h>

/* Returns the measuring policy for a device. On a GPU samples are shorter, and several are queued.
 * docs/measuring.md gives the reasons for the values. */
kf_measure_policy kf_policy_for(const kf_device_info *device) {
    bool gpu = kf_device_is_gpu(device);
    return (kf_measure_policy){
        .warm_up_steps = 3,
        .warm_up_us = gpu ? 50e3 : 20e3,
        .warm_up_limit_us = 1e6,
        .sample_us = gpu ? 200.0 : 1000.0,
        .queue = gpu ? 16 : 1,
        .queue_us = 20e3,
        .long_cycle_us = 50e3,
        .least_samples = 5,
        .precise_samples = 15,
        .most_samples = 300,
        .precise_us = 50e3,
        .halfwidth = 0.005,
        .lost_ratio = 1.05,
        .time_limit_us = gpu ? 2e6 : 1.5e6,
        .slow_us = 1e6,
        .slow_samples = 3,
        .skip_ratio = 1.5,
        .pause_us = 500e3,
        .reading_us = 5e3,
        .window_steps = 500,
        .kernel_repeats = 15,
        .kernel_limit_us = 0.3e6,
    };
}

void kf_policy_ask_samples(kf_measure_policy *policy, size_t samples) {
    policy->least_samples = policy->slow_samples = samples;
    if (policy->precise_samples < samples) policy->precise_samples = samples;
    if (policy->most_samples < samples) policy->most_samples = samples;
}

static size_t share_of(size_t count, double effort, size_t least) {
    size_t share = (size_t)ceil(effort * (double)count);
    return share > least ? share : least;
}

/* Scales a policy to another effort: 0.25 takes a quarter of the usual time. The required half-width grows as
 * 1 / sqrt(effort), as that of a mean does. */
void kf_policy_scale(kf_measure_policy *policy, double effort) {
    static const double SHORTEST_READING_US = 1e3; /* a thousand ticks of the device's clock */
    policy->warm_up_us *= effort;
    policy->warm_up_limit_us *= effort;
    policy->pause_us *= effort;
    policy->reading_us = fmax(effort * policy->reading_us, SHORTEST_READING_US);
    policy->least_samples = share_of(policy->least_samples, effort, 2);
    policy->precise_samples = share_of(policy->precise_samples, effort, 3);
    policy->most_samples = share_of(policy->most_samples, effort, 3);
    policy->slow_samples = share_of(policy->slow_samples, effort, 1);
    policy->precise_us *= effort;
    policy->halfwidth /= sqrt(effort);
    policy->time_limit_us *= effort;
    policy->window_steps = (int)share_of((size_t)policy->window_steps, effort, 1);
    policy->kernel_repeats = (int)share_of((size_t)policy->kernel_repeats, effort, 1);
    policy->kernel_limit_us *= effort;
}

void kf_policy_ask_energy(kf_measure_policy *policy) {
    policy->precise_us = fmax(policy->precise_us, 1e6);
    policy->time_limit_us = fmax(policy->time_limit_us, 1.5e6);
    policy->sample_us = fmax(policy->sample_us, 2.0 * policy->precise_us / (double)policy->most_samples);
}

bool kf_policy_skips(const kf_measure_policy *policy, const kf_incumbent *incumbent, const double *samples_us,
                     size_t count, double *slowdown) {
    if (policy->skip_ratio <= 0.0 || incumbent == NULL || incumbent->count < KF_SKIP_SAMPLES ||
        count < KF_SKIP_SAMPLES)
        return false;
    *slowdown = INFINITY;
    for (int i = 0; i < KF_SKIP_SAMPLES; i++)
        *slowdown = fmin(*slowdown, samples_us[i] / incumbent->samples_us[i]);
    return *slowdown > policy->skip_ratio;
}

static bool precise_enough(const kf_measure_policy *policy, const kf_incumbent *incumbent,
                           const kf_summary *summary, double timed_us) {
    if (summary->count < policy->precise_samples) return false;
    if (policy->lost_ratio > 0.0 && incumbent != NULL && incumbent->high_us > 0.0 &&
        summary->low > policy->lost_ratio * incumbent->high_us)
        return true;
    return timed_us >= policy->precise_us && kf_summary_halfwidth(summary) <= policy->halfwidth;
}

bool kf_policy_done(const kf_measure_policy *policy, const kf_incumbent *incumbent, const double *samples_us,
                    size_t count, int batch, double elapsed_us, kf_stop *stop) {
    if (count == 0) return false;
    kf_summary summary = kf_summarise(samples_us, count);
    double timed_us = 0.0;
    for (size_t i = 0; i < count; i++)
        timed_us += samples_us[i] * batch;
    if (precise_enough(policy, incumbent, &summary, timed_us)) {
        *stop = KF_STOP_PRECISE;
        return true;
    }
    if (count >= policy->most_samples) {
        *stop = KF_STOP_SAMPLES;
        return true;
    }
    size_t least = summary.median * batch > policy->slow_us ? policy->slow_samples : policy->least_samples;
    *stop = KF_STOP_TIME;
    return elapsed_us >= policy->time_limit_us && count >= least;
}

int kf_policy_batch(const kf_measure_policy *policy, int cycle, double step_us) {
    enum {
        MOST_STEPS = 20000
    }; /* without this limit a step that takes no time would ask for endless steps */
    double cycles = ceil(policy->sample_us / fmax(step_us * cycle, 1e-3));
    return cycle * (int)fmax(1.0, fmin(cycles, (double)MOST_STEPS / cycle));
}

/* Computes Van der Corput's sequence, which mirrors the bits of a number at the binary point. */
double kf_policy_shift(size_t sample) {
    double place = 0.0, digit = 0.5;
    for (; sample > 0; sample /= 2) {
        place += (double)(sample % 2) * digit;
        digit /= 2.0;
    }
    return place;
}

int kf_policy_queue(const kf_measure_policy *policy, double sample_us) {
    return (int)fmax(1.0, fmin(policy->queue, policy->queue_us / fmax(sample_us, 1.0)));
}
