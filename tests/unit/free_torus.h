/* The torus as a free solid, for the tests of the kinetic system. */
#ifndef KF_TESTS_UNIT_FREE_TORUS_H
#define KF_TESTS_UNIT_FREE_TORUS_H

#include <string.h>

#include "scene/scene.h"

/* Makes the torus of a scene a free solid across the periodic faces of its box, in two passes of the
 * immersed boundary. */
static inline void set_free_torus(kf_scene *scene) {
    const double shift =
        scene->nodes[0] - 1.0 - scene->motion.center[0]; /* half of it beyond the last node */
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_PERIODIC;
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    for (size_t s = 0; s < scene->samples.count; s++)
        scene->samples.x[s] += shift;
    scene->solid_low[0] += shift;
    scene->solid_high[0] += shift;
    scene->motion.center[0] += shift;
    scene->motion.free = true;
    scene->motion.velocity[0] = 0.02;
    scene->motion.excess_mass = 60.0;
    scene->motion.gravity[2] = -1e-3;
    const double inertia[9] = {300, 40, 0, 40, 400, 0, 0, 0, 500};
    memcpy(scene->motion.excess_inertia, inertia, sizeof inertia);
    scene->immersed_passes = 2;
    scene->accuracy = 0.05; /* velocities change little, so 16-bit storage has large relative errors */
}

#endif
