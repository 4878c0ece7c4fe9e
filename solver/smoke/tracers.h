/* Smoke tracers: points that a plan's flow carries. They are born at emitters and removed where they leave
 * the domain. They live on the device in a ring buffer of fixed size, from which the oldest are removed. The
 * same plan, sources and device give the same tracers bit for bit, with any number of threads. */
#ifndef KF_SOLVER_SMOKE_TRACERS_H
#define KF_SOLVER_SMOKE_TRACERS_H

#include "base/plan/plan.h"
#include "kernels/smoke/tracers.h"
#include "scene/scene.h"

typedef struct kf_tracers kf_tracers;

/* Opens an empty set of tracers. sources: at least one emitter, and a capacity. KF_BAD_INPUT when the plan's
 * system offers no velocity on the device, or the emitters give more tracers between two moves than the
 * capacity. The plan must outlive the tracers, which do not change it. */
kf_status kf_tracers_open(kf_plan *plan, const kf_smoke_sources *sources, kf_tracers **tracers,
                          kf_error *error);
void kf_tracers_free(kf_tracers *tracers);

/* Returns the steps between two moves: a power of two, in which the fastest prescribed velocity goes at most
 * half a cell. */
int kf_tracers_period(const kf_tracers *tracers);

/* Moves all tracers by a period to the plan's step, which must be a multiple of the period, and adds new ones
 * (Heun's method, trilinear interpolation). Asynchronous on cuda. */
kf_status kf_tracers_move(kf_tracers *tracers, kf_error *error);

/* Returns the bytes of the density on a grid that has `refinement` cells along the edge of each of the plan's
 * cells. */
size_t kf_tracers_density_bytes(const kf_tracers *tracers, int refinement);
/* Projects the tracers onto the nodes of such a grid, whose cell (i,j,k) shares its corner with the plan's.
 * density: [z][y][x], 64-bit integers in units of 1 / KF_TRACER_UNIT tracers. Their sum is exactly the number
 * of tracers. */
kf_status kf_tracers_project(kf_tracers *tracers, int refinement, kf_buffer *density, kf_error *error);
/* Projects density and paint. In paint each tracer has a weight of 0 to KF_PAINT_UNIT. Age is 0 at birth and
 * KF_PAINT_UNIT after the time in which the stream crosses the domain. Speed is KF_PAINT_UNIT at twice the
 * stream's. paint is as large as the density; it is NULL for KF_PAINT_NONE, and only then. */
kf_status kf_tracers_project_painted(kf_tracers *tracers, int refinement, kf_buffer *density,
                                     kf_buffer *paint, kf_error *error);

/* Save and restore the tracers between two moves, for checkpoints. The hash covers what determines how they
 * continue: sources, period and grid. */
size_t kf_tracers_state_size(const kf_tracers *tracers);
void kf_tracers_hash(const kf_tracers *tracers, char hash[KF_HASH_HEX]);
kf_status kf_tracers_save(kf_tracers *tracers, void *state, kf_error *error);
/* KF_BAD_INPUT, with the tracers unchanged, for an invalid state. */
kf_status kf_tracers_restore(kf_tracers *tracers, const void *state, kf_error *error);

#endif
