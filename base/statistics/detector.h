/* Telling a regression from noise: decisions on numbers alone, without store or device (argued in
 * docs/nightly.md). Times are logarithms of seconds or of anything else: differences are relative changes. */
#ifndef KF_BASE_STATISTICS_DETECTOR_H
#define KF_BASE_STATISTICS_DETECTOR_H

#include <stdbool.h>
#include <stddef.h>

enum {
    KF_LEAST_PROCESSES = 5, /* 4 against 4 cannot have a probability below 0.029 */
    KF_MORE_PROCESSES = 8,  /* where 5 against 5 left it open, or many candidates share the error */
    KF_SAMPLE_LIMIT = 64,   /* values of one side of a comparison that is exact */
    KF_WINDOW = 50,         /* nights looked at */
    KF_RECENT = 3,          /* a change that is older is history */
};

/* Rules for what counts as a change. */
typedef struct kf_rules {
    double least_change;      /* log; smaller changes are never looked at */
    double noise_factor;      /* the threshold is at least so many standard deviations of a night */
    double most_threshold;    /* log; a machine noisier than that is judged by its comparisons alone */
    double point_probability; /* of a change point */
    double confirmed_share;   /* of the threshold that the interleaved comparison must show */
    double confirmed_probability;
    double false_discovery_rate; /* among the changes found in one night */
    double drift;                /* log; above the pinned release */
} kf_rules;
extern const kf_rules kf_standard_rules;

/* --- Two samples --- */

/* Two-sided probability of ranks at least as uneven as these, were both from one distribution; equal values
 * share their ranks. 1 when a side is empty. Exact for at most KF_SAMPLE_LIMIT values a side; for more by the
 * normal distribution, with a half for continuity and the variance of ranks that are shared. */
double kf_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count);

/* Which way it points: the share of pairs in which a's value is below b's, ties a half; 0.5 when a side is
 * empty. Means may point the other way, where a few values are far off. */
double kf_share_below(const double *a, size_t a_count, const double *b, size_t b_count);

/* Holm's correction of count probabilities, in place: what stays below 0.05 may be called significant, all of
 * it together with an error of 0.05. */
void kf_holm(double *probabilities, size_t count);

/* How far b lies above a: the Hodges-Lehmann estimate (median of all differences), its confidence interval of
 * at least 95 % (5 against 5: 96.8 %), and the probability above. NAN when a side is empty. */
typedef struct kf_comparison {
    double shift, low, high, probability;
} kf_comparison;
kf_comparison kf_compare(const double *a, size_t a_count, const double *b, size_t b_count);

/* Benjamini and Hochberg: which of count probabilities to accept so that at most the share rate of the
 * accepted is false, on average. */
void kf_false_discovery(const double *probabilities, int count, double rate, bool *accepted);

/* --- Change points --- */

typedef struct kf_change_point {
    int at;             /* first night of the new level */
    double shift;       /* of the mean over the level before */
    double probability; /* of a t test between the two levels */
} kf_change_point;
/* E-divisive (Matteson and James 2014) over values; *points in order, at most count - 1. Deterministic. */
int kf_change_points(const double *values, int count, double probability, double least_shift,
                     kf_change_point *points);

/* --- Nights --- */

/* One night of a series. */
typedef struct kf_night_level {
    double level;  /* log of the median of its processes' medians */
    double spread; /* standard deviation of its processes; NAN when unknown */
    int processes;
    bool identical; /* same code, config and machine as the night before it */
} kf_night_level;
kf_night_level kf_night_level_of(const double *times, int count, bool identical);

/* Standard deviation of a night's level: from the differences between identical nights (at least 8 of the
 * last 20), else from those of all nights (at least 4), and never less than a single night's processes
 * suggest. 0 without any night. */
double kf_noise_floor(const kf_night_level *nights, int count);

/* The last night, held against those before it. */
typedef struct kf_screening {
    bool candidate;   /* for the interleaved comparison */
    int before;       /* index of the last night of the level it is held against; -1: there is none */
    double shift;     /* of the recent nights over that level */
    double threshold; /* least change looked at */
    double noise;
} kf_screening;
kf_screening kf_screen(const kf_night_level *nights, int count, const kf_rules *rules);

typedef enum kf_finding { KF_FINDING_NONE, KF_FINDING_SLOWER, KF_FINDING_FASTER } kf_finding;
/* Returns what an interleaved comparison says, false discovery apart. */
kf_finding kf_confirm(const kf_comparison *comparison, double threshold, const kf_rules *rules);
/* Returns whether more processes could make an open comparison clear. */
bool kf_undecided(const kf_comparison *comparison, double threshold, const kf_rules *rules);

/* Noise in which a relative change of this size can hide is too much: values alone then tell nothing. */
#define KF_NOISY 0.05

#endif
