/* The depth of the material on its terrain, as an ESRI ASCII grid. */
#ifndef KF_SOLVER_SPH_SPH_DEPTH_H
#define KF_SOLVER_SPH_SPH_DEPTH_H

#include "base/plan/snapshot.h"
#include "scene/particles.h"

/* Writes depths above the terrain in m. Cells are as wide as the terrain's, but at least two spacings. The
 * depth is the volume of a cell's particles over its area. Rows go from north (the largest y) to south. The
 * scene must have a terrain and three dimensions; the snapshot must have positions and densities. */
kf_status kf_sph_write_depth(const kf_particle_scene *scene, const kf_snapshot *snapshot, const char *path,
                             kf_error *error);

#endif
