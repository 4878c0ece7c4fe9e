/* A picture of one slice of the flow: the speed in colours, the solid's cross-section, axes, scale and title.
 */
#ifndef KF_SOLVER_PICTURE_PICTURE_H
#define KF_SOLVER_PICTURE_PICTURE_H

#include "solver/flow/flow_plan.h"
#include "solver/picture/section.h"

enum { KF_AXIS_AUTO = -1 };

/* normal: 0, 1, 2, or KF_AXIS_AUTO: across the flow and up (see flow_frame.h), or the thin axis of a flat
 * domain. The plane goes through the nodes nearest to the middle of the solid's bounding box (of the domain
 * without one). */
void kf_picture_plane(const kf_scene *scene, int normal, kf_plane *plane);

/* Writes a PNG at least 900 pixels wide. snapshot: of a flow in the scene (flow_plan.h); free_pose: of a
 * solid that the fluid moves, NULL for others. */
kf_status kf_picture_write(const char *path, const kf_scene *scene, const kf_snapshot *snapshot,
                           const kf_solid_pose *free_pose, int normal, kf_error *error);
/* The same of a flow's plan, whose snapshot it is. */
kf_status kf_picture_of_plan(const char *path, kf_plan *plan, const kf_snapshot *snapshot, int normal,
                             kf_error *error);

#endif
