/* Measures how often the detector is wrong: false alarms and misses on simulated nights, drawn from a
 * model or from recorded ones. */
#ifndef KF_TESTS_TOOLS_SIMULATE_H
#define KF_TESTS_TOOLS_SIMULATE_H

#include <stdint.h>

#include "base/statistics/detector.h"
#include "base/util/status.h"

/* The source of processes' times. */
typedef struct kf_time_source {
    void *context;
    void (*begin_night)(void *context);
    double (*time)(void *context, bool changed); /* of one process; changed: with the change to be found */
} kf_time_source;

/* Plays one night after `history` unchanged ones and returns whether the change is confirmed on the same
 * night. */
kf_finding kf_simulate_change(const kf_time_source *source, int history, const kf_rules *rules);

/* Plays nights with different code of the same speed, one after the other, after `history` ones. */
typedef struct kf_alarms {
    int nights, candidates, slower, faster;
} kf_alarms;
kf_alarms kf_simulate_nights(const kf_time_source *source, int history, int nights, const kf_rules *rules);

/* The noise model has log-normal processes, some of them in a slower mode, and nights on which all are
 * disturbed. */
typedef struct kf_noise_model {
    double process_deviation, night_deviation;
    double bad_night_share, bad_night_deviation;
    double slow_mode_share, slow_mode_shift;
    double change; /* log */
    uint64_t seed;
    double night; /* of this night; set by the source */
} kf_noise_model;
kf_time_source kf_noise_source(kf_noise_model *model); /* which must outlive it */

/* Processes' times that were recorded on a real machine: of unchanged nights, and of nights with a planted
 * regression. */
enum { KF_RECORDED = 4000, KF_PLANTED = 8 };
typedef struct kf_recording {
    char benchmark[128], device[128], backend[8];
    double step_us;
    int nights;
    int first[401]; /* of each night in times_us, and the end */
    double times_us[KF_RECORDED];
    int planted_count;
    struct {
        double percent; /* measured */
        int count;
        double times_us[512];
    } planted[KF_PLANTED];
} kf_recording;
/* Format: {"recordings": [...]}, each with benchmark, device, step_us, nights (medians of the processes,
 * us), planted (percent, times_us), planted_round_us and planted_launch_us. The caller frees *recordings. */
kf_status kf_recording_read(const char *file, kf_recording **recordings, int *count, kf_error *error);

/* Nights resampled from a recording: which night, and which of its processes, is drawn with replacement. A
 * changed process is drawn from the planted ones (planted >= 0), or has the change added. */
typedef struct kf_resampler {
    const kf_recording *recording;
    int planted;
    double change; /* log */
    uint64_t seed;
    int night;
} kf_resampler;
kf_time_source kf_resampled_source(kf_resampler *resampler);

#endif
