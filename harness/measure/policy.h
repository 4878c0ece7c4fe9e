/* Decides what to time and when to stop. It works on numbers alone, without a device (docs/measuring.md). */
#ifndef KF_HARNESS_MEASURE_POLICY_H
#define KF_HARNESS_MEASURE_POLICY_H

#include "base/record/measurement.h"

typedef struct kf_measure_policy {
    int warm_up_steps;       /* least number of steps to warm up */
    double warm_up_us;       /* least time to warm up */
    double warm_up_limit_us; /* limit of host time for warming up */
    double sample_us;        /* a sample has enough steps to last so long */
    kf_cache_policy cache;   /* contents of the last-level cache when a sample begins */
    int queue; /* Most samples in the queue of the device. They follow one that does not count and hides the
                  launch latency. 1: samples are queued one by one without it. */
    double queue_us;        /* longest such queue in time, because long samples do not need one */
    double long_cycle_us;   /* if a cycle is longer, samples leave out rare launches */
    size_t least_samples;   /* even after the time limit */
    size_t precise_samples; /* from this number on, timing may end when it is precise enough */
    size_t most_samples;
    double precise_us; /* and only after so much time of timing */
    double halfwidth;  /* relative half-width of the median's interval that is precise enough */
    double
        lost_ratio; /* timing also ends if the interval lies above the incumbent's by this factor; 0: never */
    double time_limit_us; /* limit of host time for timing the whole step */
    double slow_us;       /* longer samples are slow: few are enough, and the first one ends warming up */
    size_t slow_samples;  /* number of slow samples that suffices */
    double skip_ratio;    /* skip a config that is so many times slower than the best so far; 0: never */
    double pause_us;      /* length of a pause after an unsteady clock */
    double reading_us;    /* readings of the clock last so long; warming up ends when they agree */
    int window_steps; /* a plan with windows is timed until so many steps, or all steps, have been measured */
    int kernel_repeats;     /* number of cycles that are timed launch by launch */
    double kernel_limit_us; /* limit of host time for timing launch by launch */
} kf_measure_policy;

/* Returns the usual policy for such a device. Samples on a GPU are shorter. */
kf_measure_policy kf_policy_for(const kf_device_info *device);
/* Requires at least so many samples, whatever their precision and the time limits. */
void kf_policy_ask_samples(kf_measure_policy *policy, size_t samples);
/* Scales a policy to this share of the usual effort, in (0, 1]: less warming up, fewer samples, wider
 * intervals. */
void kf_policy_scale(kf_measure_policy *policy, double effort);
/* Requires at least a second of timing, because a device reports its energy only a few times a second. */
void kf_policy_ask_energy(kf_measure_policy *policy);

/* The first samples of the best config so far, in microseconds a step; count 0: there is none yet. high_us is
 * the upper end of its median's interval; 0: not known. */
enum { KF_SKIP_SAMPLES = 2 };
typedef struct kf_incumbent {
    int count;
    double samples_us[KF_SKIP_SAMPLES];
    double high_us;
} kf_incumbent;

/* Returns whether each of the first KF_SKIP_SAMPLES samples is more than skip_ratio times the incumbent's
 * sample at the same position. Positions matter because the first launches are slower. *slowdown is the
 * smallest of the ratios. */
bool kf_policy_skips(const kf_measure_policy *policy, const kf_incumbent *incumbent, const double *samples_us,
                     size_t count, double *slowdown);

/* Returns whether timing may end, and the reason. samples_us are times of a step, `batch` is the number of
 * steps in a sample, and elapsed_us is the host time so far. A config that is certainly slower than the
 * incumbent (may be NULL) needs few samples. */
bool kf_policy_done(const kf_measure_policy *policy, const kf_incumbent *incumbent, const double *samples_us,
                    size_t count, int batch, double elapsed_us, kf_stop *stop);

/* Returns the steps of a sample: a multiple of cycle that lasts sample_us. */
int kf_policy_batch(const kf_measure_policy *policy, int cycle, double step_us);

/* Returns by how much each window of a sample is shifted, as a share of the distance to the next window: 0,
 * 1/2, 1/4, 3/4, 1/8, ... Any number of samples then covers the whole range evenly. */
double kf_policy_shift(size_t sample);

/* Returns how many samples of this length to queue at once. */
int kf_policy_queue(const kf_measure_policy *policy, double sample_us);

#endif
