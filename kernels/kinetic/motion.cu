/* Computes the pose of a moving solid in each step from that of the step before. The motion is prescribed,
 * or follows from the equations of motion of a free solid (body.h).
 *
 * Defines: KF_FREE 0|1: the solid is free. KF_TEAM 1: the sums over samples are those of all parts of a
 * team. KF_SOLIDS 1: there are several solids with prescribed motions. */
#include "arguments.h"
typedef kf_solid_arguments kf_module_arguments; /* the headers' functions take this type */

#include "body.h"
#include "prescribed.h"
#ifndef KF_SOLIDS
#define KF_SOLIDS 0
#endif

/* Computes the pose of the step that begins, and empties the band. The extent is one item. */
KF_SCALAR_KERNEL(advance_pose, kf_module_arguments) {
    (void)x, (void)y, (void)z;
    kf_pose *pose = (kf_pose *)a->samples.pose;
#if KF_SOLIDS
    pose->step += 1;
    for (int s = 0; s < a->solids.count; s++)
        kf_advance_prescribed((kf_pose *)a->solids.poses + s);
#elif KF_FREE
    if (pose->step > 0) kf_move_body(pose);
    kf_end_pose(pose);
#else
    kf_advance_prescribed(pose);
#endif
    if (a->band.count) a->band.count[0] = a->band.count[2] = 0;
}

/* Sets the next step to a->body.pose_step of the prescribed motion. The extent is one item. */
KF_SCALAR_KERNEL(set_pose_step, kf_module_arguments) {
    (void)x, (void)y, (void)z;
    ((kf_pose *)a->samples.pose)->step = a->body.pose_step;
#if KF_SOLIDS
    for (int s = 0; s < a->solids.count; s++)
        ((kf_pose *)a->solids.poses)[s].step = a->body.pose_step;
#endif
}

#if KF_FREE
/* Computes the velocities of this step before the forces are spread, and empties the sums. A solid that
 * has touched a face is held where it is. The extent is one block. */
KF_BLOCK_KERNEL(solve_body, kf_module_arguments) {
    (void)block_x, (void)block_y;
    KF_SHARED double sums[KF_BODY_THREADS];
    KF_EACH_THREAD_SCALAR(t, KF_BODY_THREADS) {
        double sum = 0.0;
        for (int i = t; i < KF_LOAD_SLOTS * KF_BODY_SUMS; i += KF_BODY_THREADS) {
            long long all = a->body.sums[i];
#if KF_TEAM
            for (int part = 1; part < a->part.parts; part++)
                all += a->body.sums[part * KF_BODY_PLACES + i];
#else
            a->body.sums[i] = 0;
#endif
            sum += (double)all;
        }
        sums[t] = sum * (1.0 / KF_BODY_SCALE);
    }
    KF_BARRIER;
    KF_EACH_THREAD_SCALAR(t, KF_BODY_THREADS) {
        kf_pose *pose = (kf_pose *)a->samples.pose;
        if (t != 0) continue;
        for (int i = 0; i < KF_BODY_SUMS; i++)
            sums[i] += sums[KF_BODY_SUMS + i];
        long long left = a->body.sums[KF_BODY_PLACES - 1];
#if KF_TEAM
        for (int part = 1; part < a->part.parts; part++)
            left += a->body.sums[part * KF_BODY_PLACES + KF_BODY_PLACES - 1];
#endif
        if (pose->left_at < 0 && left > 0) pose->left_at = pose->step - 1;
        if (pose->left_at < 0)
            kf_solve_body(pose, sums, a->body.pass);
        else
            for (int i = 0; i < 3; i++)
                pose->velocity[i] = pose->angular_velocity[i] = pose->angular_momentum[i] = 0.0;
    }
}
#endif
