/* The smoke of a production run: tracers, their density as a field, and pictures of it. */
#ifndef KF_SOLVER_SMOKE_SMOKE_H
#define KF_SOLVER_SMOKE_SMOKE_H

#include "base/plan/plan.h"
#include "scene/scene.h"
#include "solver/picture/viewpoint.h"

typedef struct kf_smoke kf_smoke;

/* For the plan's scene, from its emitters or chosen ones. picture_size: width and height in pixels; from: see
 * viewpoint.h. The plan outlives the smoke and is not changed. */
kf_status kf_smoke_open(kf_plan *plan, const int picture_size[2], const kf_viewpoint *from, kf_smoke **smoke,
                        kf_error *error);
void kf_smoke_free(kf_smoke *smoke);

/* Advances the plan like kf_plan_advance, with the smoke: the tracers move whenever the plan comes to a
 * step that is divisible by the period. */
kf_status kf_smoke_advance(kf_smoke *smoke, uint64_t steps, kf_error *error);
int kf_smoke_period(const kf_smoke *smoke);

/* Fills the density as of the last move: [z][y][x], tracers a cell; *count: tracers in all. */
kf_status kf_smoke_density(kf_smoke *smoke, float *density, uint64_t *count, kf_error *error);
kf_status kf_smoke_picture_png(kf_smoke *smoke, const char *path, kf_error *error);

/* For checkpoints, see tracers.h. */
size_t kf_smoke_state_size(const kf_smoke *smoke);
void kf_smoke_hash(const kf_smoke *smoke, char hash[KF_HASH_HEX]);
kf_status kf_smoke_save(kf_smoke *smoke, void *state, kf_error *error);
kf_status kf_smoke_restore(kf_smoke *smoke, const void *state, kf_error *error);

/* Returns what the tracers come from, for those who tell the user. */
const kf_smoke_sources *kf_smoke_sources_of(const kf_smoke *smoke);

#endif
