/* The solution that every plan is held against: double precision, one stage after the other, plain
 * transforms; shares no code with the kernels. */
#ifndef KF_SOLVER_STABLE_FLUIDS_STABLE_FLUIDS_REFERENCE_H
#define KF_SOLVER_STABLE_FLUIDS_STABLE_FLUIDS_REFERENCE_H

#include "solver/stable_fluids/stable_fluids_problem.h"

/* The state of one simulation; fields are [z][y][x]. */
typedef struct kf_fluid_state {
    double *velocity[3];
    double *dye[KF_FLUID_DYES];
    double *particles; /* [particle][3], cells from the lower corner */
} kf_fluid_state;

/* The state of a simulation after so many steps. The caller frees it. */
void kf_fluid_refer(const kf_fluid *fluid, int simulation, int steps, kf_fluid_state *state);
void kf_fluid_state_free(kf_fluid_state *state);

typedef struct kf_dcomplex {
    double re, im;
} kf_dcomplex;
/* In place, [z][y][x], unnormalised; sign -1: forward. Sizes of the factors 2, 3 and 5. */
void kf_plain_transform(kf_dcomplex *values, const int cells[3], int sign);

/* Returns the rms of the divergence k . u over that of |k| |u|, modes at half the sampling rate left out;
 * velocity is [3], [z][y][x]. */
double kf_spectral_divergence(const kf_fluid *fluid, double *const velocity[3]);

#endif
