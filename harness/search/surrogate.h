/* Models measurements by a Gaussian process over features: what they say about candidates not yet measured.
 * Let d_f be difference / length of feature f. Half of the kernel is the mean of 1/(1 + d_f^2), the effects
 * of single features, of which few points tell much. The other half is (1 + r^2/4)^-2 with r^2 = the sum of
 * d_f^2, for what features do together. Both are rational, so that thousands of candidates cost microseconds.
 * Points and candidates are added one by one and everything is updated incrementally; only new lengths cost a
 * whole pass. */
#ifndef KF_HARNESS_SEARCH_SURROGATE_H
#define KF_HARNESS_SEARCH_SURROGATE_H

#include <stdbool.h>

#include "harness/search/features.h"

enum { KF_SURROGATE_POINTS = 512, KF_SURROGATE_CANDIDATES = 4096 };

typedef struct kf_lengths {
    double logarithm[KF_FEATURES];
    double noise; /* variance relative to the signal's */
} kf_lengths;

/* This many points are enough to fit lengths on. */
enum { KF_FIT_POINTS = 80 };
/* Fits the lengths of maximum posterior likelihood to count points (features [count][feature_count], targets
 * with mean 0 and variance 1), starting from *lengths, by Rprop steps. */
void kf_lengths_fit(kf_lengths *lengths, int feature_count, int count, const float *features,
                    const double *targets, int steps);

/* Computes what is minimised: the negative logarithm of the posterior, up to a constant, with the signal's
 * variance that suits these lengths best. The gradient has feature_count + 1 members: by the logarithms of
 * the lengths, then by that of the noise. INFINITY where the kernel's matrix is singular. */
double kf_lengths_posterior(const kf_lengths *lengths, int feature_count, int count, const float *features,
                            const double *targets, double *gradient);
/* Returns the logarithm of the expected improvement on the best of a normal variable, in units of its
 * deviation; u is best - mean in those units. */
float kf_log_improvement(float u);

typedef struct kf_surrogate kf_surrogate;

kf_surrogate *kf_surrogate_open(void);
void kf_surrogate_close(kf_surrogate *surrogate);

/* Forgets points and candidates and takes new lengths, of the first feature_count features from now on; comes
 * before anything else. */
void kf_surrogate_reset(kf_surrogate *surrogate, int feature_count, const kf_lengths *lengths);

/* Adds a point that is measured or pending, with one number a feature, and returns its number. There are at
 * most KF_SURROGATE_POINTS. */
int kf_surrogate_add_point(kf_surrogate *surrogate, const float *features);
int kf_surrogate_point_count(const kf_surrogate *surrogate);
/* Sets the target of a point. A pending one, without target, makes its surroundings certain, but does not
 * move the prediction. */
void kf_surrogate_set_target(kf_surrogate *surrogate, int point, double target);
/* Counts towards the chance that a config works, also where there is no target. */
void kf_surrogate_vote(kf_surrogate *surrogate, const float *features, bool works);

/* Adds a candidate, at most KF_SURROGATE_CANDIDATES, and returns its number. */
int kf_surrogate_add_candidate(kf_surrogate *surrogate, const float *features);
int kf_surrogate_candidate_count(const kf_surrogate *surrogate);

/* Chooses the candidate with the largest expected improvement on best times its chance to work; -1: none is
 * left. `skip` are candidates to leave out. `offsets` are added to the prediction of every candidate (a
 * prior). Deviations are multiplied by boldness; far above 1, the candidate is chosen that the surrogate
 * knows least. */
int kf_surrogate_choose(kf_surrogate *surrogate, double best, const float *offsets, const bool *skip,
                        float boldness);
/* Tells how well the surrogate knows its own points: the rank correlation of their targets with what it
 * predicts for each from all others. The mean of the targets stands where nothing is known. It is NAN below
 * two points. */
double kf_surrogate_agreement(const kf_surrogate *surrogate);
/* Predicts mean and standard deviation at a candidate. */
void kf_surrogate_predict(kf_surrogate *surrogate, int candidate, double *mean, double *deviation);

#endif
