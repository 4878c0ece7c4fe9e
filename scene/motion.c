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

/* A turning point stays on a circle about the axis. Along a coordinate axis a, the circle reaches radius
 * sqrt(1 - axis[a]^2) to both sides. */
double kf_motion_reach(const kf_motion *motion, const double at[3], double low[3], double high[3]) {
    const double *axis = motion->axis;
    double r[3], along = 0.0, square = 0.0;
    for (int a = 0; a < 3; a++) {
        r[a] = at[a] - motion->center[a];
        along += r[a] * axis[a];
        square += r[a] * r[a];
    }
    const double radius = sqrt(fmax(0.0, square - along * along));
    for (int a = 0; a < 3; a++) {
        const double middle = motion->angular_speed == 0.0 ? r[a] : along * axis[a];
        const double reach =
            motion->angular_speed == 0.0 ? 0.0 : radius * sqrt(fmax(0.0, 1.0 - axis[a] * axis[a]));
        low[a] = middle - reach;
        high[a] = middle + reach;
    }
    return radius;
}

void kf_motion_pose(const kf_motion *motion, double step, double rotation[9], double center[3]) {
    const double time = motion->moving ? step : 0.0;
    kf_rotation(motion->axis, motion->angular_speed * time, rotation);
    for (int a = 0; a < 3; a++)
        center[a] = motion->center[a] + motion->velocity[a] * time;
}
