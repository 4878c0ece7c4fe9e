/* The solid's samples on the host, until they and their band are on the device. */
#ifndef KF_SOLVER_KINETIC_KINETIC_SAMPLES_H
#define KF_SOLVER_KINETIC_KINETIC_SAMPLES_H

#include "solver/kinetic/kinetic.h"

/* Samples in the order of the plan: for a static solid corners and fractions, for a moving one offsets from
 * the centre. */
typedef struct kf_ordered_samples {
    size_t count;
    double *coordinate[3], *area;
    long long *corner;
    int *identity;
    unsigned char *solid; /* index of the solid if there are several; samples are then grouped by it */
} kf_ordered_samples;

/* These prepare the order of samples in the part, return the part's samples in that order, and free them
 * (kinetic_samples.c). */
void kf_kinetic_begin_ordering(const kf_scene *scene, kf_kinetic *kinetic);
kf_ordered_samples kf_kinetic_order_samples(const kf_scene *scene, const kf_kinetic *kinetic);
void kf_kinetic_free_ordered(kf_ordered_samples *ordered);
/* Uploads values as integers of the width that the part's kernels use for indices of nodes. */
kf_status kf_kinetic_upload_indices(const kf_kinetic *kinetic, kf_buffer *buffer, const long long *values,
                                    size_t count, kf_error *error);

/* For several solids (kinetic_solids.c); they do nothing if there is one. kf_kinetic_check_solids refuses
 * what several solids cannot have. kf_kinetic_group_by_solid sorts an order of samples by solid.
 * kf_kinetic_fill_patch fills the last patch of each solid. kf_kinetic_upload_solids allocates device memory
 * and uploads the solid of each sample. kf_kinetic_reset_solids sets the poses to step 0. */
kf_status kf_kinetic_check_solids(const kf_scene *scene, kf_error *error);
void kf_kinetic_group_by_solid(const kf_samples *samples, uint32_t *permutation);
void kf_kinetic_fill_patch(const kf_kinetic *kinetic, kf_ordered_samples *ordered);
kf_status kf_kinetic_upload_solids(kf_plan *plan, kf_kinetic *kinetic, const kf_ordered_samples *ordered,
                                   kf_error *error);
kf_status kf_kinetic_reset_solids(const kf_scene *scene, kf_kinetic *kinetic, kf_error *error);
/* Returns the steps of a full turn of the solid, or of the slowest of several; 0: it never returns. */
uint64_t kf_kinetic_turn_steps(const kf_scene *scene);
/* Finds the range along an axis that several solids cover at any time. */
void kf_kinetic_reach(const kf_scene *scene, int axis, double ends[2]);
/* The flow's method loads (solver/flow/flow_plan.h). */
kf_status kf_kinetic_solid_loads(kf_plan *plan, kf_solid_load *loads, kf_error *error);

/* Allocates the band, and fills that of a static solid (kinetic_band.c). */
kf_status kf_kinetic_make_band(kf_plan *plan, kf_kinetic *kinetic, const kf_ordered_samples *ordered,
                               kf_error *error);
/* Uploads a bit mask of the band's nodes, which the flow's kernel skips. nodes: `touched` of them, ascending;
 * 0: the mask is NULL. */
kf_status kf_kinetic_upload_mask(kf_plan *plan, kf_kinetic *kinetic, const long long *nodes, size_t touched,
                                 kf_error *error);

/* Returns the area with which each sample's penalty force acts (lattice; kinetic_crowding.c). The caller
 * frees it. It is the sample's own area. If the samples around it (itself included) have a weighted sum of
 * more than 1 at its place, it is divided by this sum. The weights are those with which forces are spread and
 * velocities interpolated. The sum is 1/2 to 1 on a wall, and more where a solid is thinner than a cell:
 * there, two forces against the same slip would overshoot. A moving solid's areas are only changed if the sum
 * exceeds 1.1 somewhere within a cell of its initial place. */
double *kf_kinetic_acting_areas(const kf_scene *scene);

#endif
