/* How deep the material lies on its terrain, as an ESRI ASCII grid. */
#ifndef KF_SOLVER_SPH_SPH_DEPTH_H
#define KF_SOLVER_SPH_SPH_DEPTH_H

#include "base/plan/snapshot.h"
#include "scene/particles.h"

/* Depths in m, above the terrain, of cells as wide as the terrain's, and no less than two spacings: the
 * volume of a cell's particles over its area; rows from the north (the largest y) to the south. Only of
 * scenes with a terrain in three dimensions; the snapshot has positions and densities. */
kf_status kf_sph_write_depth(const kf_particle_scene *scene, const kf_snapshot *snapshot, const char *path,
                             kf_error *error);

#endif
