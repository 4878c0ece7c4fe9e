#include "solver/output/motion.h"

#include <inttypes.h>

#include "scene/scene.h"
#include "solver/output/table.h"

static const char header[] =
    "step,time_s,center_x_m,center_y_m,center_z_m,velocity_x_m_s,velocity_y_m_s,velocity_z_m_s,"
    "angular_velocity_x_rad_s,angular_velocity_y_rad_s,angular_velocity_z_rad_s,"
    "quaternion_w,quaternion_x,quaternion_y,quaternion_z\n";

kf_status kf_motion_open(const char *path, uint64_t from_step, FILE **stream, kf_error *error) {
    return kf_table_open(path, header, from_step, stream, error);
}

kf_status kf_motion_add(FILE *stream, const char *path, const kf_scene *scene, uint64_t step,
                        const kf_solid_pose *pose, kf_error *error) {
    double center[3], velocity[3], turning[3];
    for (int a = 0; a < 3; a++) {
        center[a] = (pose->center[a] + 0.5) * scene->cell_size;
        velocity[a] = pose->velocity[a] * scene->cell_size / scene->time_step;
        turning[a] = pose->angular_velocity[a] / scene->time_step;
    }
    (void)fprintf(stream, "%" PRIu64 ",%.9g", step, (double)step * scene->time_step);
    kf_table_add(stream, 3, center);
    kf_table_add(stream, 3, velocity);
    kf_table_add(stream, 3, turning);
    kf_table_add(stream, 4, pose->quaternion);
    return kf_table_end_row(stream, path, error);
}
