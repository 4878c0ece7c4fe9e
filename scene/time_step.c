#include <math.h>

#include "base/util/vector.h"
#include "scene/scene.h"

double kf_scene_fastest(const kf_scene *scene) {
    double speed = fmax(scene->reference_speed, kf_length(scene->initial_velocity));
    for (int face = 0; face < KF_FACES; face++)
        speed = fmax(speed, kf_length(scene->face_velocity[face]));
    return speed;
}

/* Makes the time steps of a scene `ratio` times as long. Speeds grow by this factor, accelerations by its
 * square. */
void kf_scene_stretch_time(kf_scene *scene, double ratio) {
    scene->time_step *= ratio;
    scene->reference_speed *= ratio;
    scene->viscosity *= ratio;
    scene->disturbance *= ratio;
    scene->motion.angular_speed *= ratio;
    for (int s = 0; s < scene->solid_count; s++)
        scene->solids[s].motion.angular_speed *= ratio;
    for (int a = 0; a < 3; a++) {
        for (int face = 0; face < KF_FACES; face++)
            scene->face_velocity[face][a] *= ratio;
        scene->initial_velocity[a] *= ratio;
        scene->body_force[a] *= ratio * ratio;
        scene->motion.velocity[a] *= ratio;
        scene->motion.gravity[a] *= ratio * ratio;
        scene->mask_velocity[a] *= ratio;
    }
    for (int e = 0; e < scene->smoke.count; e++)
        scene->smoke.emitters[e].rate *= ratio;
    for (int l = 0; l < scene->finer_count; l++)
        kf_scene_stretch_time(scene->finer[l], ratio);
}
