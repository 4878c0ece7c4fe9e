/* Pictures of particles: discs in two dimensions; in three, their surface on the terrain, seen by a camera.
 * Colours show the speed. Material with a yield stress is white where it is at rest. */
#ifndef KF_SOLVER_SPH_SPH_PICTURE_H
#define KF_SOLVER_SPH_SPH_PICTURE_H

#include "base/plan/snapshot.h"
#include "scene/particles.h"

/* Draws a snapshot of the scene's particles (positions and velocities in SI units, from the file's origin)
 * as a PNG file. */
kf_status kf_sph_picture(const kf_particle_scene *scene, const kf_snapshot *snapshot, const char *path,
                         kf_error *error);

/* Makes such a snapshot of the scene's initial particles. The caller frees it. */
void kf_sph_first_snapshot(const kf_particle_scene *scene, kf_snapshot *snapshot);

#endif
