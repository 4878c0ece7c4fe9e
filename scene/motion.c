#include <math.h>

#include "scene/internal.h"

void kf_rotation(const double axis[3], double angle, double rotation[9]) {
    const double c = cos(angle), s = sin(angle), t = 1.0 - c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            rotation[3 * i + j] = t * axis[i] * axis[j] + (i == j ? c : 0.0);
    rotation[1] -= s * axis[2];
    rotation[2] += s * axis[1];
    rotation[3] += s * axis[2];
    rotation[5] -= s * axis[0];
    rotation[6] -= s * axis[1];
    rotation[7] += s * axis[0];
}

void kf_motion_pose(const kf_motion *motion, double step, double rotation[9], double center[3]) {
    const double time = motion->moving ? step : 0.0;
    kf_rotation(motion->axis, motion->angular_speed * time, rotation);
    for (int a = 0; a < 3; a++)
        center[a] = motion->center[a] + motion->velocity[a] * time;
}
