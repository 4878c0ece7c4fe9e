/* Means over time of what a snapshot holds, with the root of the mean square about them, and the Reynolds
 * stresses. */
#ifndef KF_SOLVER_OUTPUT_MEAN_FIELDS_H
#define KF_SOLVER_OUTPUT_MEAN_FIELDS_H

#include "base/plan/snapshot.h"

/* Zeroed: nothing yet. Sums in double precision: 16 bytes a value and node, and 24 a node for
 * the stresses, beside the snapshots themselves. */
typedef struct kf_mean_fields {
    size_t samples;    /* moments added */
    kf_snapshot shape; /* of the first, without values in use; owned */
    double *mean,
        *square; /* of all quantities one behind the other; square: sum of squares about the mean (Welford) */
    double *cross; /* [count][3]: likewise of the velocity's products xy, xz, yz; NULL: there is none */
} kf_mean_fields;

/* Adds a snapshot on nodes. All must have the same nodes and quantities. */
void kf_mean_fields_add(kf_mean_fields *fields, const kf_snapshot *snapshot);
/* Makes a snapshot of each quantity's mean under its own name, and name_rms; of a velocity with
 * three components also "reynolds_stress" (m^2/s^2), the means of u'u', v'v', w'w', u'v', u'w', v'w'. The
 * moment is the last one's. Free with kf_snapshot_free. Only with samples. */
void kf_mean_fields_snapshot(const kf_mean_fields *fields, kf_snapshot *snapshot);
void kf_mean_fields_free(kf_mean_fields *fields);

#endif
