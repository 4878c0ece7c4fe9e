/* Distinguishes a regression from noise, by numbers alone, without store or device (docs/nightly.md gives the
 * reasons). Times are logarithms of seconds or of any other unit, so that differences are relative
 * changes. */
#ifndef KF_BASE_STATISTICS_DETECTOR_H
#define KF_BASE_STATISTICS_DETECTOR_H

#include <stdbool.h>
#include <stddef.h>

enum {
    KF_LEAST_PROCESSES = 5, /* 4 against 4 cannot have a probability below 0.029 */
    KF_MORE_PROCESSES = 8,  /* where 5 against 5 is not clear, or many candidates share the error */
    KF_SAMPLE_LIMIT = 64,   /* most values of one side for an exact comparison */
    KF_WINDOW = 50,         /* nights that are considered */
    KF_RECENT = 3,          /* a change more nights ago is history */
};

/* The rules that decide what counts as a change. */
typedef struct kf_rules {
    double least_change;          /* a logarithm; smaller changes are ignored */
    double noise_factor;          /* the threshold is at least this many standard deviations of a night */
    double most_threshold;        /* a logarithm; on a noisier machine only interleaved comparisons decide */
    double point_probability;     /* largest probability at which a change point is accepted */
    double confirmed_share;       /* share of the threshold that the interleaved comparison must confirm */
    double confirmed_probability; /* largest probability at which that comparison confirms */
    double false_discovery_rate;  /* of the changes found in one night */
    double drift;                 /* a logarithm; accepted slowdown against the pinned release */
} kf_rules;
extern const kf_rules kf_standard_rules;

/* --- Two samples --- */

/* The Mann-Whitney test: two-sided probability of ranks at least this uneven if both samples had one
 * distribution. Equal values share their ranks. 1 when a side is empty. Exact for at most KF_SAMPLE_LIMIT
 * values a side; beyond, the normal approximation with continuity correction and the variance of shared
 * ranks. */
double kf_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count);

/* Returns the share of pairs in which a's value is below b's (ties count half); 0.5 when a side is empty. It
 * gives the direction of a difference. With a few outliers the means may point the other way. */
double kf_share_below(const double *a, size_t a_count, const double *b, size_t b_count);

/* Applies Holm's correction to `count` probabilities, in place. All that stay below 0.05 are significant,
 * together at an error of 0.05. */
void kf_holm(double *probabilities, size_t count);

/* How far b lies above a: the Hodges-Lehmann estimate (median of all differences), its confidence interval of
 * at least 95 % (96.8 % for 5 against 5), and the Mann-Whitney probability. NAN when a side is empty. */
typedef struct kf_comparison {
    double shift, low, high, probability; /* low, high: the interval of shift */
} kf_comparison;
kf_comparison kf_compare(const double *a, size_t a_count, const double *b, size_t b_count);

/* Applies the method of Benjamini and Hochberg: sets accepted[i] so that on average at most the share `rate`
 * of the accepted ones is false. */
void kf_false_discovery(const double *probabilities, int count, double rate, bool *accepted);

/* --- Change points --- */

typedef struct kf_change_point {
    int at;             /* first night of the new level */
    double shift;       /* mean of the new level less that of the level before */
    double probability; /* of a t test between the two levels */
} kf_change_point;
/* Finds change points of the values by E-divisive (Matteson and James 2014). *points has room for count - 1
 * of them, in order. Returns their number. It is deterministic. */
int kf_change_points(const double *values, int count, double probability, double least_shift,
                     kf_change_point *points);

/* --- Nights --- */

/* One night in a series of nights. */
typedef struct kf_night_level {
    double level;  /* log of the median of its processes' medians */
    double spread; /* standard deviation of its processes; NAN when unknown */
    int processes;
    bool identical; /* code, config and machine are those of the night before */
} kf_night_level;
kf_night_level kf_night_level_of(const double *times, int count, bool identical);

/* Returns the standard deviation of a night's level. It is that of the differences between identical nights,
 * if at least 8 of the last 20 are identical; otherwise that of all nights, if there are at least 4. It is
 * never less than the spread of the processes of a night suggests. 0 without any night. */
double kf_noise_floor(const kf_night_level *nights, int count);

/* The last night compared with the nights before it. */
typedef struct kf_screening {
    bool candidate;   /* an interleaved comparison is worth while */
    int before;       /* index of the last night of the level with which it is compared; -1: there is none */
    double shift;     /* of the recent nights above that level */
    double threshold; /* least change that is considered */
    double noise;     /* standard deviation of a night, as a logarithm */
} kf_screening;
kf_screening kf_screen(const kf_night_level *nights, int count, const kf_rules *rules);

typedef enum kf_finding { KF_FINDING_NONE, KF_FINDING_SLOWER, KF_FINDING_FASTER } kf_finding;
/* Returns what an interleaved comparison shows, before the correction for false discoveries. */
kf_finding kf_confirm(const kf_comparison *comparison, double threshold, const kf_rules *rules);
/* Returns whether more processes could make an unclear comparison clear. */
bool kf_undecided(const kf_comparison *comparison, double threshold, const kf_rules *rules);

/* If noise can hide a relative change of this size, values alone show nothing. */
#define KF_NOISY 0.05

#endif
