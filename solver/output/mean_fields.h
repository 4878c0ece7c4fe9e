/* Means over time of a snapshot's quantities, with RMS values and Reynolds stresses. */
#ifndef KF_SOLVER_OUTPUT_MEAN_FIELDS_H
#define KF_SOLVER_OUTPUT_MEAN_FIELDS_H

#include "base/plan/snapshot.h"

/* All zero: no moments yet. Sums are in double precision. Beside the snapshots they take 16 bytes for each
 * value of a node, and 24 bytes a node for the stresses. */
typedef struct kf_mean_fields {
    size_t samples;    /* moments added */
    kf_snapshot shape; /* the first snapshot, without values; owned */
    double *mean,
        *square; /* of all quantities one behind the other; square: sum of squares about the mean (Welford) */
    /* [count][3] the same sums for the products xy, xz, yz of the velocity; NULL: there is no velocity. */
    double *cross;
} kf_mean_fields;

/* Adds a snapshot on nodes. All snapshots must have the same nodes and quantities. */
void kf_mean_fields_add(kf_mean_fields *fields, const kf_snapshot *snapshot);
/* Makes a snapshot with the mean of each quantity under its name, and its RMS as name_rms. A velocity with
 * three components also gives "reynolds_stress" (m^2/s^2): the means of u'u', v'v', w'w', u'v', u'w', v'w'.
 * Step and time are those of the last moment. At least one moment must have been added. Free it with
 * kf_snapshot_free. */
void kf_mean_fields_snapshot(const kf_mean_fields *fields, kf_snapshot *snapshot);
void kf_mean_fields_free(kf_mean_fields *fields);

#endif
