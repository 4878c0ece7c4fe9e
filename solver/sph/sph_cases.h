/* Validation cases of the sph system, and what they share. */
#ifndef KF_SOLVER_VALIDATION_SPH_CASES_H
#define KF_SOLVER_VALIDATION_SPH_CASES_H

#include "solver/sph/sph.h"
#include "solver/validation/validation.h"

extern const kf_case kf_sph_cases[];

typedef struct kf_sph_flow {
    kf_particle_scene *scene; /* the problem's */
    kf_problem *problem;
    kf_plan *plan;
    double time;   /* s, set by kf_sph_until */
    float *values; /* [count][KF_SPH_STATE_VALUES], set by kf_sph_look */
} kf_sph_flow;

/* Opens a flow of a scene from the text of its file. prepare may change the scene before its plan is made,
 * and may be NULL. The caller closes the flow, also after a failure. */
kf_status kf_sph_open(const kf_validation *validation, const char *text,
                      void (*prepare)(kf_particle_scene *scene), const char *const *overrides,
                      kf_sph_flow *flow, kf_error *error);
/* Opens a flow of a scene, which the flow then owns. */
kf_status kf_sph_open_scene(const kf_validation *validation, kf_particle_scene *scene,
                            const char *const *overrides, kf_sph_flow *flow, kf_error *error);
void kf_sph_close(kf_sph_flow *flow);
/* Advances to the first step at or after this time. */
kf_status kf_sph_until(const kf_validation *validation, kf_sph_flow *flow, double seconds, kf_error *error);
/* Reads the state: positions in spacings, velocities in speeds of sound. */
kf_status kf_sph_look(kf_sph_flow *flow, kf_error *error);

/* Return position and velocity of particle k along an axis, in SI units, from the file's origin. */
double kf_sph_place(const kf_sph_flow *flow, size_t k, int axis);
double kf_sph_velocity(const kf_sph_flow *flow, size_t k, int axis);
double kf_sph_pressure(const kf_sph_flow *flow, size_t k);
size_t kf_sph_fluid(const kf_sph_flow *flow); /* number of particles that are not part of a wall */
/* Returns the mean of a velocity component over the particles within width / 2 of x along an axis. */
double kf_sph_mean_velocity(const kf_sph_flow *flow, int component, int axis, double x, double width);
double kf_sph_kinetic(const kf_sph_flow *flow); /* J; each particle has the mass density spacing^d */

/* sph_cases_channel.c */
kf_status kf_case_sph_channel(kf_validation *validation, kf_error *error);
kf_status kf_case_sph_bingham(kf_validation *validation, kf_error *error);
kf_status kf_case_sph_power(kf_validation *validation, kf_error *error);
kf_status kf_case_sph_film(kf_validation *validation, kf_error *error);
kf_status kf_case_sph_grains(kf_validation *validation, kf_error *error);
/* sph_cases_free.c */
kf_status kf_case_sph_operators(kf_validation *validation, kf_error *error);
kf_status kf_case_sph_taylor_green(kf_validation *validation, kf_error *error);
kf_status kf_case_sph_patch(kf_validation *validation, kf_error *error);
/* sph_cases_surface.c */
kf_status kf_case_sph_hydrostatic(kf_validation *validation, kf_error *error);
kf_status kf_case_sph_dam_break(kf_validation *validation, kf_error *error);
/* sph_cases_spheric.c */
kf_status kf_case_sph_spheric(kf_validation *validation, kf_error *error);
/* sph_cases_wave.c */
kf_status kf_case_sph_wave(kf_validation *validation, kf_error *error);
/* Cases of the scheme thesis (sph_cases_thesis.c). Their boxes are periodic and this many spacings wide. */
enum { KF_SPH_TANK_SPACINGS = 12 };
/* Returns pressure over the weight above a unit of area, both as means over the middle half of the depth (z).
 * Means are needed because layers that a wall orders share their load unevenly. share: the part of the
 * pressure that acts. */
double kf_sph_pressure_over_weight(const kf_sph_flow *flow, double share);
kf_status kf_case_sph_thesis(kf_validation *validation, kf_error *error);
/* sph_cases_slump.c */
kf_status kf_case_sph_slump(kf_validation *validation, kf_error *error);
kf_status kf_case_sph_column(kf_validation *validation, kf_error *error);

#endif
