/* Holds a landscape in memory: the stored measurements of a space stand in for the device. */
#ifndef KF_HARNESS_REPLAY_LANDSCAPE_H
#define KF_HARNESS_REPLAY_LANDSCAPE_H

#include "base/plan/problem.h"
#include "base/record/measurement.h"
#include "base/space/space.h"

typedef struct kf_landscape {
    char name[KF_NAME * 2];     /* of the file, without folder and endings */
    char scene[128];            /* "" when the file names none */
    kf_problem_options options; /* with which the scene opens as it was; 0: not known */
    char device[128];
    char backend[16];      /* "" when not known */
    double peak_bandwidth; /* of the device, bytes/s; 0 when not known */
    uint64_t l2_bytes;     /* its last-level cache; 0 when not known */
    kf_space *space;       /* of the configs that the file holds, and no others */
    uint64_t size;         /* of the space; the arrays below have one entry a config */
    kf_state *states;
    double *times_us;      /* of a step or launch; only in state ok */
    double *seconds;       /* measuring the config took so long, compiling included; NAN: not known */
    double *build_seconds; /* the part of it that does not become less with effort; NAN: not known */
    float **samples_us;    /* single samples in the order taken; NULL: the file has none */
    int *sample_counts;
    uint64_t ok_count, optimum; /* optimum: index of the fastest config that is ok */
} kf_landscape;

/* Says whether it has single samples, so that measuring with less effort can be replayed. */
bool kf_landscape_has_samples(const kf_landscape *landscape);
/* Gives what measuring a config that is ok with this effort (0 .. 1] would give: the median of that share
 * of the samples, the first of them; at full effort times_us. */
double kf_landscape_observe(const kf_landscape *landscape, uint64_t index, double effort);

/* Tells how hard it is to find something good: the median time of what is correct over the best, and the
 * share of these configs whose times are at most 1.05 of the best. */
typedef struct kf_landscape_spread {
    double median_over_optimum, share_within_5;
} kf_landscape_spread;
kf_landscape_spread kf_landscape_spread_of(const kf_landscape *landscape);

/* Reads a Kernel Tuner cache, T4 results or kftune's own compact landscape (docs/search.md), plain or
 * gzipped; a cache may be unfinished. The time of a config is the file's own figure for it (Kernel Tuner's
 * "time" is the mean). Of several results of one config the last counts. A file without any correct result is
 * KF_BAD_INPUT. */
kf_status kf_landscape_open(const char *path, kf_landscape **landscape, kf_error *error);
void kf_landscape_free(kf_landscape *landscape);

#endif
