/* The pose of a solid whose motion is prescribed. Define: KF_FREE 0|1. */
#ifndef KF_KERNELS_KINETIC_PRESCRIBED_H
#define KF_KERNELS_KINETIC_PRESCRIBED_H

#include "arguments.h"
#include "portable.h"

/* Where the pose of a step is known. */
KF_FUNCTION void kf_end_pose(kf_pose *pose) {
    for (int i = 0; i < 3; i++)
        pose->box_origin[i] = (int)floor(pose->center[i] - pose->radius);
    pose->step += 1;
}

#if !KF_FREE
/* The prescribed pose at time t (Rodrigues). */
KF_FUNCTION void kf_prescribe_pose(kf_pose *pose, double t) {
    const double *n = pose->axis;
    const double angle = pose->angular_speed * t, c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            pose->rotation[3 * i + j] = (i == j ? c : 0.0) + (1.0 - c) * n[i] * n[j];
        pose->center[i] = pose->center_start[i] + pose->velocity[i] * t;
        pose->angular_velocity[i] = pose->angular_speed * n[i];
    }
    pose->rotation[1] -= s * n[2];
    pose->rotation[2] += s * n[1];
    pose->rotation[3] += s * n[2];
    pose->rotation[5] -= s * n[0];
    pose->rotation[6] -= s * n[1];
    pose->rotation[7] += s * n[0];
}
/* That of the step that begins. */
KF_FUNCTION void kf_advance_prescribed(kf_pose *pose) {
    kf_prescribe_pose(pose, (double)pose->step);
    kf_end_pose(pose);
}
#endif

#endif
