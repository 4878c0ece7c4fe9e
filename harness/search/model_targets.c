/* Converts times to targets for the surrogate of strategy model. */
#include <math.h>
#include <stdlib.h>

#include "base/statistics/statistics.h"
#include "base/util/memory.h"
#include "harness/search/model_parts.h"

/* Times that exceed the median by more than this share of its distance from the best only mean "slow". */
static const double SLOW = 1.0, SLOW_SLOPE = 0.1;

double kf_model_squash(const kf_model *model, double logarithm) {
    return logarithm > model->knee ? model->knee + SLOW_SLOPE * (logarithm - model->knee) : logarithm;
}

double kf_model_trend(const kf_model *model, float prior) {
    if (model->trend.slope == 0) return model->centre_target;
    if (!isfinite(prior)) return kf_model_squash(model, model->median);
    return kf_model_squash(model, model->trend.offset + model->trend.slope * (double)prior);
}

double kf_model_target(const kf_model *model, const kf_model_observation *observation) {
    return (kf_model_squash(model, observation->logarithm) - kf_model_trend(model, observation->prior)) /
           model->scale;
}

static void fit_trend(kf_model *model) {
    double *prior = kf_allocate(2 * (size_t)model->count * sizeof *prior), *measured = prior + model->count;
    size_t count = 0;
    for (int i = 0; i < model->count; i++) {
        const kf_model_observation *o = &model->observations[i];
        if (o->fate != KF_MODEL_WORKS || !isfinite(o->prior)) continue;
        prior[count] = (double)o->prior;
        measured[count++] = o->logarithm;
    }
    model->trend = kf_trend_fit(prior, measured, count);
    if (count == 0) model->trend.offset = model->median;
    free(prior);
}

/* Sets the scale of the targets. Times above the knee are squashed, the prior's trend is subtracted, and the
 * rest is scaled to variance one. The centre is far below the mean, so that a few configs do not keep the
 * search away from unknown regions. */
void kf_model_set_scale(kf_model *model) {
    double *times = kf_allocate((size_t)model->works * sizeof *times);
    int count = 0;
    for (int i = 0; i < model->count; i++)
        if (model->observations[i].fate == KF_MODEL_WORKS) times[count++] = model->observations[i].logarithm;
    qsort(times, (size_t)count, sizeof *times, kf_ascending);
    model->median = times[count / 2];
    model->knee = model->median + SLOW * (model->median - times[0]) + 1e-9;
    free(times);
    fit_trend(model);
    model->scale = 1;
    model->centre_target = 0;
    double sum = 0, squares = 0;
    for (int i = 0; i < model->count; i++) {
        if (model->observations[i].fate != KF_MODEL_WORKS) continue;
        double target = kf_model_target(model, &model->observations[i]);
        sum += target;
        squares += target * target;
    }
    double mean = sum / count, variance = squares / count - mean * mean;
    model->scale = sqrt(fmax(variance, 1e-8));
    /* The centre is far below the mean, so that a few configs do not keep the search away from unknown
     * regions. */
    model->centre_target =
        model->count >= model->settled_from ? mean : mean - model->trust * model->optimism * model->scale;
}
