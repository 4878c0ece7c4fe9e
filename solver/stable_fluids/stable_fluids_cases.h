/* Validation of the stable fluids system. */
#ifndef KF_SOLVER_STABLE_FLUIDS_STABLE_FLUIDS_CASES_H
#define KF_SOLVER_STABLE_FLUIDS_STABLE_FLUIDS_CASES_H

#include "solver/stable_fluids/stable_fluids.h"
#include "solver/validation/validation.h"

extern const kf_case kf_stable_fluids_cases[];

/* A storage type, and the size of its rounding errors. */
typedef struct kf_fluid_precision {
    const char *name;
    const char *const *overrides;
    bool wide;
} kf_fluid_precision;
extern const kf_fluid_precision kf_fluid_precisions[2]; /* f64, f32 */

typedef void kf_fluid_start_function(const void *context, const int cell[3], double velocity[3]);
/* Makes a periodic box whose initial velocity is a function. */
kf_fluid *kf_fluid_case_box(const kf_validation *validation, int nx, int ny, int nz,
                            kf_fluid_start_function *start, const void *context);
/* Runs the fluid with the default plan and returns the state of its first simulation, which the caller frees.
 * look is called every `stride` steps and may be NULL. */
typedef kf_status kf_fluid_look(void *data, int step, const kf_fluid_state *state, kf_error *error);
kf_status kf_fluid_case_run(const kf_validation *validation, kf_fluid *fluid,
                            const kf_fluid_precision *precision, int steps, int stride, kf_fluid_look *look,
                            void *data, kf_fluid_state *state, kf_error *error);
/* Returns the relative L2 difference of two velocities. */
double kf_fluid_distance(const kf_fluid *fluid, double *const values[3], double *const expected[3]);
double kf_fluid_energy(const kf_fluid *fluid, double *const velocity[3]);

/* stable_fluids_case_accuracy.c */
kf_status kf_case_fluid_taylor_green(kf_validation *validation, kf_error *error);
kf_status kf_case_fluid_taylor_green_3d(kf_validation *validation, kf_error *error);
kf_status kf_case_fluid_numerical_viscosity(kf_validation *validation, kf_error *error);
kf_status kf_case_fluid_energy(kf_validation *validation, kf_error *error);
kf_status kf_case_fluid_symmetry(kf_validation *validation, kf_error *error);
kf_status kf_case_fluid_particles(kf_validation *validation, kf_error *error);
/* stable_fluids_case_vortices.c */
kf_status kf_case_fluid_spectral(kf_validation *validation, kf_error *error);
kf_status kf_case_fluid_pair(kf_validation *validation, kf_error *error);
kf_status kf_case_fluid_merger(kf_validation *validation, kf_error *error);
/* stable_fluids_case_solids.c */
kf_status kf_case_fluid_walls(kf_validation *validation, kf_error *error);

#endif
