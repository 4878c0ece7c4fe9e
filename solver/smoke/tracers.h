/* Smoke tracers: points that the flow of a plan carries, born at emitters, gone where they leave the domain.
 * They live on the device in a ring of fixed size; the oldest give way. With the same plan, sources and
 * device they are the same to the bit, whatever the number of threads. */
#ifndef KF_SOLVER_SMOKE_TRACERS_H
#define KF_SOLVER_SMOKE_TRACERS_H

#include "base/plan/plan.h"
#include "kernels/smoke/tracers.h"
#include "scene/scene.h"

typedef struct kf_tracers kf_tracers;

/* Opens tracers. sources: at least one emitter, and a capacity. KF_BAD_INPUT when the plan's system offers
 * no velocity on the device, or when the emitters give more between two moves than the capacity. The plan
 * outlives the tracers, and is not changed. There are no tracers yet. */
kf_status kf_tracers_open(kf_plan *plan, const kf_smoke_sources *sources, kf_tracers **tracers,
                          kf_error *error);
void kf_tracers_free(kf_tracers *tracers);

/* Steps between two moves: a power of two, at most half a cell of the fastest prescribed velocity. */
int kf_tracers_period(const kf_tracers *tracers);

/* Moves all tracers by a period to the plan's step, which must be divisible by it, and lets new ones be born
 * (Heun's method, trilinear interpolation). Asynchronous on cuda. */
kf_status kf_tracers_move(kf_tracers *tracers, kf_error *error);

/* Bytes of the tracers' density on a grid with refinement cells along the edge of each of the plan's. */
size_t kf_tracers_density_bytes(const kf_tracers *tracers, int refinement);
/* Projects the tracers onto the nodes of such a grid, of which cell (i,j,k) has its corner where the plan's
 * has it: [z][y][x], 64-bit integers in units of 1 / KF_TRACER_UNIT tracers. Their sum is the number of
 * tracers, exactly. */
kf_status kf_tracers_project(kf_tracers *tracers, int refinement, kf_buffer *density, kf_error *error);
/* Projects density and paint: every tracer counts in paint as often as the sources' paint has it, 0 to
 * KF_PAINT_UNIT times, as large as the density: age is 0 at birth and KF_PAINT_UNIT after the time that
 * the stream takes through the domain, speed KF_PAINT_UNIT at twice the stream's. paint is NULL for
 * KF_PAINT_NONE, and only then. */
kf_status kf_tracers_project_painted(kf_tracers *tracers, int refinement, kf_buffer *density,
                                     kf_buffer *paint, kf_error *error);

/* All there is to know of the tracers between two moves, for checkpoints; hash is of what makes them go on
 * alike (sources, period, grid). */
size_t kf_tracers_state_size(const kf_tracers *tracers);
void kf_tracers_hash(const kf_tracers *tracers, char hash[KF_HASH_HEX]);
kf_status kf_tracers_save(kf_tracers *tracers, void *state, kf_error *error);
/* KF_BAD_INPUT, with the tracers as they were, for a state that is none. */
kf_status kf_tracers_restore(kf_tracers *tracers, const void *state, kf_error *error);

#endif
