/* Models measurements by a Gaussian process over features and predicts candidates. Let d_f be difference /
 * length of feature f. Half of the kernel is the mean of 1/(1 + d_f^2): the effects of single features, for
 * which few points suffice. The other half is (1 + r^2/4)^-2 with r^2 = the sum of d_f^2: the joint effect of
 * features. Both are rational functions, so thousands of candidates cost microseconds. Points and candidates
 * are added one by one with incremental updates. Only new lengths need a full computation. */
#ifndef KF_HARNESS_SEARCH_SURROGATE_H
#define KF_HARNESS_SEARCH_SURROGATE_H

#include <stdbool.h>

#include "harness/search/features.h"

enum { KF_SURROGATE_POINTS = 512, KF_SURROGATE_CANDIDATES = 4096 };

typedef struct kf_lengths {
    double logarithm[KF_FEATURES]; /* of the length of each feature */
    double noise;                  /* variance relative to the signal's */
} kf_lengths;

/* This number of points suffices to fit lengths. */
enum { KF_FIT_POINTS = 80 };
/* Fits the lengths with maximum posterior likelihood to `count` points (features [count][feature_count],
 * targets with mean 0 and variance 1), starting from *lengths, by Rprop steps. */
void kf_lengths_fit(kf_lengths *lengths, int feature_count, int count, const float *features,
                    const double *targets, int steps);

/* Computes the function to minimise: the negative logarithm of the posterior, up to a constant, with the best
 * signal variance for these lengths. The gradient has feature_count + 1 members: by the logarithms of the
 * lengths, then by that of the noise. INFINITY if the kernel's matrix is singular. */
double kf_lengths_posterior(const kf_lengths *lengths, int feature_count, int count, const float *features,
                            const double *targets, double *gradient);
/* Returns the logarithm of the expected improvement of a normal variable over the best, in units of its
 * deviation; u is best - mean in those units. */
float kf_log_improvement(float u);

typedef struct kf_surrogate kf_surrogate;

/* Makes an empty model. Free it with kf_surrogate_close. */
kf_surrogate *kf_surrogate_open(void);
void kf_surrogate_close(kf_surrogate *surrogate);

/* Removes all points and candidates, and sets new lengths for the first feature_count features. It must be
 * called first. */
void kf_surrogate_reset(kf_surrogate *surrogate, int feature_count, const kf_lengths *lengths);

/* Adds a measured or pending point with one number for each feature, and returns its number. There are at
 * most KF_SURROGATE_POINTS. */
int kf_surrogate_add_point(kf_surrogate *surrogate, const float *features);
int kf_surrogate_point_count(const kf_surrogate *surrogate);
/* Sets the target of a point. A pending point without a target reduces the uncertainty around it without
 * changing the prediction. */
void kf_surrogate_set_target(kf_surrogate *surrogate, int point, double target);
/* Adds a vote to the probability that a config works, also for points without a target. */
void kf_surrogate_vote(kf_surrogate *surrogate, const float *features, bool works);

/* Adds a candidate, at most KF_SURROGATE_CANDIDATES, and returns its number. */
int kf_surrogate_add_candidate(kf_surrogate *surrogate, const float *features);
int kf_surrogate_candidate_count(const kf_surrogate *surrogate);

/* Chooses the candidate with the largest product of expected improvement over `best` and probability to work;
 * -1: none is left. `skip`: candidates to leave out. `offsets` are added to the prediction of every candidate
 * (a prior). Deviations are multiplied by boldness; a value far above 1 chooses the least known candidate. */
int kf_surrogate_choose(kf_surrogate *surrogate, double best, const float *offsets, const bool *skip,
                        float boldness);
/* Returns how well the surrogate predicts its own points: the rank correlation between their targets and the
 * predictions of each from all others. The prediction is the mean of the targets where nothing is known. NAN
 * for fewer than two points. */
double kf_surrogate_agreement(const kf_surrogate *surrogate);
/* Predicts mean and standard deviation for a candidate. */
void kf_surrogate_predict(kf_surrogate *surrogate, int candidate, double *mean, double *deviation);

#endif
