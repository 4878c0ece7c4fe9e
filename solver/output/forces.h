/* Force and torque on the solid over time, as CSV (table.h). */
#ifndef KF_SOLVER_OUTPUT_FORCES_H
#define KF_SOLVER_OUTPUT_FORCES_H

#include <stdio.h>

#include "base/plan/plan.h"
#include "scene/scene.h"
#include "solver/picture/flow_frame.h"

/* One row. Forces and torques are divided by the fluid's density, in SI units: times kg/m^3 they are N and N
 * m. Coefficients are 2 F / (rho U^2 A) with the scene's reference speed U and frontal area A; NAN without
 * them. */
typedef struct kf_force_row {
    uint64_t step;
    double time;      /* s */
    double force[3];  /* m^4/s^2 */
    double torque[3]; /* m^5/s^2, about the solid's current centre */
    double lattice_force[3];
    double drag, lift, side; /* coefficients, directions as in flow_frame.h */
} kf_force_row;

/* load: in lattice units, after step steps. */
void kf_force_row_of(const kf_scene *scene, uint64_t step, const kf_solid_load *load, kf_force_row *row);

/* Starts path afresh (from_step 0), or keeps its rows up to from_step and goes on behind them. */
kf_status kf_forces_open(const char *path, uint64_t from_step, FILE **stream, kf_error *error);
kf_status kf_forces_add(FILE *stream, const char *path, const kf_force_row *row, kf_error *error);

#endif
