/* The solid's samples on the host, while they and their band are put on the device. */
#ifndef KF_SOLVER_KINETIC_KINETIC_SAMPLES_H
#define KF_SOLVER_KINETIC_KINETIC_SAMPLES_H

#include "solver/kinetic/kinetic.h"

/* Samples in the order of the plan: corner and fractions of a static solid, offsets from the centre of a
 * moving one. */
typedef struct kf_ordered_samples {
    size_t count;
    double *coordinate[3], *area;
    long long *corner;
    int *identity;
    unsigned char *solid; /* of several: which; then they are grouped by it */
} kf_ordered_samples;

/* The first begins the order of samples in the part (kinetic_samples.c). The second returns those of the
 * part in that order, which kf_kinetic_free_ordered frees. */
void kf_kinetic_begin_ordering(const kf_scene *scene, kf_kinetic *kinetic);
kf_ordered_samples kf_kinetic_order_samples(const kf_scene *scene, const kf_kinetic *kinetic);
void kf_kinetic_free_ordered(kf_ordered_samples *ordered);
/* Uploads values as integers of the width that the part's kernels have for places of nodes. */
kf_status kf_kinetic_upload_indices(const kf_kinetic *kinetic, kf_buffer *buffer, const long long *values,
                                    size_t count, kf_error *error);

/* Several solids (kinetic_solids.c), all of which do nothing where there is one. The first refuses what these
 * cannot have. The next two group an order of the samples by solid, and fill the last patch of the solid that
 * ends; then: make the device's memory and upload which samples are whose; put the poses back to step 0. */
kf_status kf_kinetic_check_solids(const kf_scene *scene, kf_error *error);
void kf_kinetic_group_by_solid(const kf_samples *samples, uint32_t *permutation);
void kf_kinetic_fill_patch(const kf_kinetic *kinetic, kf_ordered_samples *ordered);
kf_status kf_kinetic_upload_solids(kf_plan *plan, kf_kinetic *kinetic, const kf_ordered_samples *ordered,
                                   kf_error *error);
kf_status kf_kinetic_reset_solids(const kf_scene *scene, kf_kinetic *kinetic, kf_error *error);
/* Returns the steps in which a solid, or the slowest of several, is where it was; 0: it never is. */
uint64_t kf_kinetic_turn_steps(const kf_scene *scene);
/* Finds how far several solids reach along an axis at any time. */
void kf_kinetic_reach(const kf_scene *scene, int axis, double ends[2]);
/* The flow's method loads (solver/flow/flow_plan.h). */
kf_status kf_kinetic_solid_loads(kf_plan *plan, kf_solid_load *loads, kf_error *error);

/* Makes the band's memory, and fills that of a static solid (kinetic_band.c). */
kf_status kf_kinetic_make_band(kf_plan *plan, kf_kinetic *kinetic, const kf_ordered_samples *ordered,
                               kf_error *error);
/* The bits of the band's nodes (ascending, touched of them; 0: NULL), for the flow's kernel to leave them
 * out. */
kf_status kf_kinetic_upload_mask(kf_plan *plan, kf_kinetic *kinetic, const long long *nodes, size_t touched,
                                 kf_error *error);

/* Returns the area with which each sample's penalty force acts (lattice): its own, divided by the sum that
 * the samples around it (itself included) have about it, weighted as their forces are spread and its
 * velocity is interpolated, where that is more than 1 (kinetic_crowding.c). It is 1/2 to 1 on a wall, and
 * more where a solid is thinner than a cell: there forces that take the same slip twice would overshoot. A
 * moving solid's are left as they are, unless that sum is more than 1.1 somewhere within a cell of where
 * it begins. Caller frees. */
double *kf_kinetic_acting_areas(const kf_scene *scene);

#endif
