/* The reference solution with which every plan is compared: double precision, one stage after the other,
 * plain transforms. It shares no code with the kernels. */
#ifndef KF_SOLVER_STABLE_FLUIDS_STABLE_FLUIDS_REFERENCE_H
#define KF_SOLVER_STABLE_FLUIDS_STABLE_FLUIDS_REFERENCE_H

#include "solver/stable_fluids/stable_fluids_problem.h"

/* The state of one simulation; fields are [z][y][x]. */
typedef struct kf_fluid_state {
    double *velocity[3];
    double *dye[KF_FLUID_DYES];
    double *particles; /* [particle][3], cells from the lower corner */
} kf_fluid_state;

/* Computes the state of a simulation after `steps` steps. The caller frees it with kf_fluid_state_free. */
void kf_fluid_refer(const kf_fluid *fluid, int simulation, int steps, kf_fluid_state *state);
void kf_fluid_state_free(kf_fluid_state *state);

typedef struct kf_dcomplex {
    double re, im;
} kf_dcomplex;
/* Transforms values [z][y][x] in place, unnormalised. sign -1: forward. Sizes must have the factors 2, 3 and
 * 5 only. */
void kf_plain_transform(kf_dcomplex *values, const int cells[3], int sign);

/* Returns the rms of the divergence k . u over that of |k| |u|, without the modes at half the sampling rate.
 * velocity: three components, each [z][y][x]. */
double kf_spectral_divergence(const kf_fluid *fluid, double *const velocity[3]);

#endif
