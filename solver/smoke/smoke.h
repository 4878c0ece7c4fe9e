/* The smoke of a production run: tracers, their density as a field, and pictures of it. */
#ifndef KF_SOLVER_SMOKE_SMOKE_H
#define KF_SOLVER_SMOKE_SMOKE_H

#include "base/plan/plan.h"
#include "scene/scene.h"
#include "solver/picture/viewpoint.h"

typedef struct kf_smoke kf_smoke;

/* Refuses a scene that can have no smoke: in two dimensions, on nested grids, or around several solids. */
kf_status kf_smoke_check(const kf_scene *scene, kf_error *error);
/* Opens smoke for a plan, from its scene's emitters or from default ones. picture_size: width and height in
 * pixels. from: see viewpoint.h. The plan must outlive the smoke, which does not change it. */
kf_status kf_smoke_open(kf_plan *plan, const int picture_size[2], const kf_viewpoint *from, kf_smoke **smoke,
                        kf_error *error);
void kf_smoke_free(kf_smoke *smoke);

/* Advances the plan as kf_plan_advance does, and moves the tracers whenever the plan's step is a multiple of
 * the period. */
kf_status kf_smoke_advance(kf_smoke *smoke, uint64_t steps, kf_error *error);
int kf_smoke_period(const kf_smoke *smoke);

/* Fills in the density after the last move, [z][y][x] in tracers a cell. *count: number of all tracers. */
kf_status kf_smoke_density(kf_smoke *smoke, float *density, uint64_t *count, kf_error *error);
kf_status kf_smoke_picture_png(kf_smoke *smoke, const char *path, kf_error *error);

/* For checkpoints, see tracers.h. */
size_t kf_smoke_state_size(const kf_smoke *smoke);
void kf_smoke_hash(const kf_smoke *smoke, char hash[KF_HASH_HEX]);
kf_status kf_smoke_save(kf_smoke *smoke, void *state, kf_error *error);
kf_status kf_smoke_restore(kf_smoke *smoke, const void *state, kf_error *error);

/* Returns the sources of the tracers. */
const kf_smoke_sources *kf_smoke_sources_of(const kf_smoke *smoke);

#endif
