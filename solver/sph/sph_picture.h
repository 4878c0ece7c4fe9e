/* Pictures of particles: in two dimensions as discs, in three as the surface that they make in front of a
 * camera, on their terrain. Coloured by speed; what rests is white where the material has a yield stress. */
#ifndef KF_SOLVER_SPH_SPH_PICTURE_H
#define KF_SOLVER_SPH_SPH_PICTURE_H

#include "base/plan/snapshot.h"
#include "scene/particles.h"

/* Draws a snapshot of the scene's particles (positions and velocities in SI units, from the file's origin)
 * as a PNG file. */
kf_status kf_sph_picture(const kf_particle_scene *scene, const kf_snapshot *snapshot, const char *path,
                         kf_error *error);

/* The scene's particles as they are placed, as such a snapshot: for the caller to free. */
void kf_sph_first_snapshot(const kf_particle_scene *scene, kf_snapshot *snapshot);

#endif
