/* The pose of a solid whose motion is prescribed: rotation and centre from the step, the axis and the
 * speeds. Define: KF_FREE 0|1. */
#ifndef KF_KERNELS_KINETIC_PRESCRIBED_H
#define KF_KERNELS_KINETIC_PRESCRIBED_H

#include "arguments.h"
#include "rotation.h"

/* Completes a pose whose centre and rotation are known, with the box around the solid. */
KF_FUNCTION void kf_end_pose(kf_pose *pose) {
    for (int i = 0; i < 3; i++)
        pose->box_origin[i] = (int)floor(pose->center[i] - pose->radius);
    pose->step += 1;
}

#if !KF_FREE
/* Computes the prescribed pose at time t. */
KF_FUNCTION void kf_prescribe_pose(kf_pose *pose, double t) {
    const double *n = pose->axis;
    const double angle = pose->angular_speed * t;
    kf_rotate_about(pose->rotation, n, cos(angle), sin(angle));
    for (int i = 0; i < 3; i++) {
        pose->center[i] = pose->center_start[i] + pose->velocity[i] * t;
        pose->angular_velocity[i] = pose->angular_speed * n[i];
    }
}
/* Advances the pose to that of the step that begins. */
KF_FUNCTION void kf_advance_prescribed(kf_pose *pose) {
    kf_prescribe_pose(pose, (double)pose->step);
    kf_end_pose(pose);
}
#endif

#endif
