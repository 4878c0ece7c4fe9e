/* Predicts times for systems without a cost model by learning from measured configs. */
#ifndef KF_HARNESS_CLI_PREDICT_LEARNED_H
#define KF_HARNESS_CLI_PREDICT_LEARNED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/backend/backend.h"
#include "base/space/space.h"
#include "base/util/status.h"

typedef struct kf_learned_request {
    const char *problem; /* its name */
    const kf_device_info *device;
    const kf_space *space;
    const uint64_t *indices; /* [count] configs of the space that were measured, in the order of measuring */
    const double *times_us;  /* [count] */
    size_t count;
    int first; /* learns from the first so many of them, at most KF_FORECAST_MOST */
    int top;   /* number of configs to show */
    bool json;
} kf_learned_request;

/* Prints the ranking of the whole space, and how well it predicts the measured configs from which it did not
 * learn. KF_BAD_INPUT if fewer than two configs were measured, or if the space has more than a million. */
kf_status kf_predict_learned(const kf_learned_request *request, kf_error *error);

#endif
