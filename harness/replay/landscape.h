/* Holds a landscape in memory: the stored measurements of a space replace the device. */
#ifndef KF_HARNESS_REPLAY_LANDSCAPE_H
#define KF_HARNESS_REPLAY_LANDSCAPE_H

#include "base/plan/problem.h"
#include "base/record/measurement.h"
#include "base/space/space.h"

typedef struct kf_landscape {
    char name[KF_NAME * 2];     /* name of the file without folder and endings */
    char scene[128];            /* "": the file names none */
    kf_problem_options options; /* options with which the scene opens as measured; 0: not known */
    char device[128];
    char backend[16];      /* "": not known */
    double peak_bandwidth; /* memory bandwidth of the device in bytes/s; 0: not known */
    uint64_t l2_bytes;     /* size of its last-level cache; 0: not known */
    kf_space *space;       /* consists of exactly the configs in the file */
    uint64_t size;         /* number of configs in the space, and length of the arrays below */
    kf_state *states;
    double *times_us;           /* time of a step or launch; only in state ok */
    double *seconds;            /* time to measure the config, compiling included; NAN: not known */
    uint64_t ok_count, optimum; /* optimum: index of the fastest config in state ok */
} kf_landscape;

/* Describes how hard it is to find a good config: the median time of correct configs divided by the best, and
 * the share of these configs whose times are at most 1.05 times the best. */
typedef struct kf_landscape_spread {
    double median_over_optimum, share_within_5;
} kf_landscape_spread;
kf_landscape_spread kf_landscape_spread_of(const kf_landscape *landscape);

/* Reads a Kernel Tuner cache, T4 results, or kftune's compact landscape (docs/search.md), plain or gzipped. A
 * cache may be unfinished. The time of a config is the one in the file (for Kernel Tuner a mean). If a config
 * has several results, the last one counts. KF_BAD_INPUT if no result is correct. */
kf_status kf_landscape_open(const char *path, kf_landscape **landscape, kf_error *error);
void kf_landscape_free(kf_landscape *landscape);

#endif
