#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/plan/system.h"
#include "base/util/text.h"

double kf_worse(double left, double right) {
    return isnan(left) || left > right ? left : right;
}

void kf_verification_add(kf_verification *verification, const char *name, double value, double bound) {
    assert(verification->count < KF_DEVIATIONS);
    kf_deviation *added = &verification->deviations[verification->count++];
    *added = (kf_deviation){.value = value, .bound = bound};
    kf_copy_text(added->name, sizeof added->name, name);
    if (verification->count > 1) return;
    verification->error = value;
    verification->bound = bound;
}

/* Returns the ratio of a deviation to its bound. A lost state has an infinite ratio. */
static double share_of(const kf_deviation *deviation) {
    return deviation->bound > 0.0 && !isnan(deviation->value) ? deviation->value / deviation->bound
                                                              : (double)INFINITY;
}

/* Judges a verification: KF_GATE_FAILED with all deviations when one is beyond its bound or not a number. */
kf_status kf_verification_judge(const kf_verification *verification, kf_error *error) {
    const kf_deviation *farthest = NULL;
    kf_text all = {0};
    for (int i = 0; i < verification->count; i++) {
        const kf_deviation *one = &verification->deviations[i];
        kf_text_append(&all, "%s%s %.3g (bound %.3g)", i > 0 ? ", " : "", one->name, one->value, one->bound);
        /* The comparison is false for a NaN. */
        if (one->value <= one->bound) continue;
        if (farthest == NULL || share_of(one) > share_of(farthest)) farthest = one;
    }
    kf_status status = KF_OK;
    if (farthest != NULL)
        status = kf_fail(error, KF_GATE_FAILED, "%s deviates from the reference: %s%s%s", farthest->name,
                         all.text, verification->worst[0] != '\0' ? "; " : "", verification->worst);
    kf_text_free(&all);
    return status;
}
