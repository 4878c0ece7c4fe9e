/* Decides what to time and when to stop, on numbers alone, without a device (argued in docs/measuring.md). */
#ifndef KF_HARNESS_MEASURE_POLICY_H
#define KF_HARNESS_MEASURE_POLICY_H

#include "base/record/measurement.h"

typedef struct kf_measure_policy {
    int warm_up_steps;       /* at least so many steps, and */
    double warm_up_us;       /* so much time, before anything counts */
    double warm_up_limit_us; /* of host time for all of it */
    double sample_us;        /* a sample stands for enough steps to last so long */
    kf_cache_policy cache;   /* what the last-level cache holds when a sample begins */
    int queue;       /* most samples given to the device at once, after one that does not count and hides the
                      * launch latency; 1: one by one, without it */
    double queue_us; /* longest such queue: long samples do not need it */
    double long_cycle_us;   /* where the launches repeat only after longer, samples leave the rare ones out */
    size_t least_samples;   /* even past the time limit */
    size_t precise_samples; /* from here on, precise enough may end it */
    size_t most_samples;
    double precise_us;    /* and only after so much timed */
    double halfwidth;     /* relative half-width of the median's interval that is precise enough */
    double lost_ratio;    /* or the interval lies above the incumbent's by more than this factor; 0: never */
    double time_limit_us; /* of timing the whole step, host time */
    double slow_us;       /* samples that last longer: few are enough, and warming up ends with the first */
    size_t slow_samples;  /* so many of them */
    double skip_ratio;    /* skip when this much slower than the best so far; 0: never */
    double pause_us;      /* of a pause because the clock was not steady */
    double reading_us;    /* warming up ends when readings of the clock, so long each, agree */
    int window_steps; /* of a plan with windows, timing goes on until so many steps, or all, were measured */
    int kernel_repeats;     /* cycles timed launch by launch */
    double kernel_limit_us; /* of timing launch by launch, host time */
} kf_measure_policy;

/* Returns the usual policy for a device of this kind: shorter samples on a GPU. */
kf_measure_policy kf_policy_for(const kf_device_info *device);
/* Takes at least so many samples, whatever their precision and the limits of time. */
void kf_policy_ask_samples(kf_measure_policy *policy, size_t samples);
/* Measures with this share of the usual effort, in (0, 1]: less warming up, fewer samples, wider intervals.
 */
void kf_policy_scale(kf_measure_policy *policy, double effort);
/* Times for at least a second: what a device used is told only a few times a second. */
void kf_policy_ask_energy(kf_measure_policy *policy);

/* Holds the first samples of the best config so far, in microseconds a step; count 0: there is none yet.
 * high_us is the upper end of its median's interval, 0 if not known. */
enum { KF_SKIP_SAMPLES = 2 };
typedef struct kf_incumbent {
    int count;
    double samples_us[KF_SKIP_SAMPLES];
    double high_us;
} kf_incumbent;

/* Returns true if each of the first KF_SKIP_SAMPLES samples is more than skip_ratio times the incumbent's at
 * the same position. First launches are slower than later ones, so only equal positions compare. *slowdown is
 * the least of the ratios. */
bool kf_policy_skips(const kf_measure_policy *policy, const kf_incumbent *incumbent, const double *samples_us,
                     size_t count, double *slowdown);

/* Returns true if timing may end, and says why. samples_us are of a step each, and `batch` is the steps that
 * a sample stands for. elapsed_us is the host time spent so far. A config that is certainly slower than the
 * incumbent (may be NULL) is known precisely enough with few samples. */
bool kf_policy_done(const kf_measure_policy *policy, const kf_incumbent *incumbent, const double *samples_us,
                    size_t count, int batch, double elapsed_us, kf_stop *stop);

/* Steps a sample should stand for: a multiple of cycle that lasts sample_us. */
int kf_policy_batch(const kf_measure_policy *policy, int cycle, double step_us);

/* Returns how far beyond its place, as a share of the distance to the next one, each window of a sample
 * begins: 0, 1/2, 1/4, 3/4, 1/8, ... Any number of samples then covers the whole evenly. */
double kf_policy_shift(size_t sample);

/* Returns how many samples to queue at once when one lasts sample_us. */
int kf_policy_queue(const kf_measure_policy *policy, double sample_us);

#endif
