#include "harness/search/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "harness/search/features.h"
#include "harness/search/surrogate.h"

enum { STEPS = 60 };

static void features_at(const kf_features *features, const kf_space *space, uint64_t index, float *values) {
    int positions[KF_CONFIG_VALUES];
    kf_space_positions(space, index, positions);
    kf_features_of(features, positions, values);
}

/* Makes logarithms with mean 0 and variance 1. */
static void standardise(const double *times_us, int count, double *targets, double *mean, double *scale) {
    double squares = 0;
    *mean = 0;
    for (int i = 0; i < count; i++)
        *mean += log(times_us[i]) / count;
    for (int i = 0; i < count; i++) {
        targets[i] = log(times_us[i]) - *mean;
        squares += targets[i] * targets[i];
    }
    *scale = sqrt(fmax(squares / count, 1e-12));
    for (int i = 0; i < count; i++)
        targets[i] /= *scale;
}

void kf_forecast(const kf_space *space, const uint64_t *known, const double *times_us, int known_count,
                 const uint64_t *asked, size_t asked_count, double *predicted_us) {
    kf_features *features = kf_features_open(space);
    const int width = kf_features_coarse_count(features);
    kf_surrogate *surrogate = kf_surrogate_open();
    kf_lengths lengths = {.noise = 1e-3};
    float *points = kf_allocate(((size_t)known_count * (size_t)width + 1) * sizeof *points);
    double targets[KF_FORECAST_MOST], mean, scale, deviation;
    standardise(times_us, known_count, targets, &mean, &scale);
    float values[KF_FEATURES];
    for (int i = 0; i < known_count; i++) {
        features_at(features, space, known[i], values);
        memcpy(points + (size_t)i * (size_t)width, values, (size_t)width * sizeof *values);
    }
    kf_lengths_fit(&lengths, width, known_count < KF_FIT_POINTS ? known_count : KF_FIT_POINTS, points,
                   targets, STEPS);
    for (size_t begin = 0; begin < asked_count; begin += KF_SURROGATE_CANDIDATES) {
        const size_t left = asked_count - begin;
        const int count = left < KF_SURROGATE_CANDIDATES ? (int)left : KF_SURROGATE_CANDIDATES;
        kf_surrogate_reset(surrogate, width, &lengths);
        for (int i = 0; i < count; i++) {
            features_at(features, space, asked[begin + (size_t)i], values);
            (void)kf_surrogate_add_candidate(surrogate, values);
        }
        for (int i = 0; i < known_count; i++)
            kf_surrogate_set_target(
                surrogate, kf_surrogate_add_point(surrogate, points + (size_t)i * (size_t)width), targets[i]);
        for (int i = 0; i < count; i++) {
            double target;
            kf_surrogate_predict(surrogate, i, &target, &deviation);
            predicted_us[begin + (size_t)i] = exp(mean + scale * target);
        }
    }
    free(points);
    kf_surrogate_close(surrogate);
    kf_features_close(features);
}
