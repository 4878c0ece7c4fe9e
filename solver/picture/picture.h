/* A picture of one slice of the flow: a quantity in colours, the solid's cross-section, axes, scale and
 * title.
 */
#ifndef KF_SOLVER_PICTURE_PICTURE_H
#define KF_SOLVER_PICTURE_PICTURE_H

#include "solver/flow/flow_plan.h"
#include "solver/picture/section.h"

enum { KF_AXIS_AUTO = -1 };

/* Fields that can be drawn. */
typedef enum kf_picture_field {
    KF_PICTURE_SPEED,
    KF_PICTURE_PRESSURE,  /* its coefficient where the flow has one */
    KF_PICTURE_VORTICITY, /* across the plane, 1/s: what turns within it, positive from right to up */
    KF_PICTURE_FIELDS
} kf_picture_field;
extern const char *const kf_picture_fields[KF_PICTURE_FIELDS]; /* "speed", "pressure", "vorticity" */

typedef struct kf_picture_view {
    kf_picture_field field;
    int normal;  /* axis across the plane, or KF_AXIS_AUTO: across the flow and up (see flow_frame.h), or the
                    thin axis of a flat domain */
    bool placed; /* the plane is at `position`, else through the middle of the solid's bounding box (of the
                    domain without one) */
    double position; /* along the normal, m, from the domain's lower corner */
    bool ranged; /* colours go from low to high, else from 0 (speed) or -high to what nearly all nodes keep */
    double low, high;         /* in the field's unit */
    bool mean;                /* the title says that these are means over time */
    const kf_snapshot *minus; /* of the same nodes: what is drawn is how far the snapshot's field is above
                               * this one's; NULL: the field itself */
    const char *caption;      /* instead of the scene's name in the title; NULL: that */
} kf_picture_view;

/* The plane of a view, through nodes; a position beyond the domain gives its first or last. */
void kf_picture_plane(const kf_scene *scene, const kf_picture_view *view, kf_plane *plane);

/* Writes a PNG at least 900 pixels wide. snapshot: of a flow in the scene (flow_plan.h); free_pose: of a
 * solid that the fluid moves, NULL for others. KF_BAD_INPUT when the snapshot has no such field. */
kf_status kf_picture_write(const char *path, const kf_scene *scene, const kf_snapshot *snapshot,
                           const kf_solid_pose *free_pose, const kf_picture_view *view, kf_error *error);
/* The range of colours that a picture of this view has where it is not ranged. */
kf_status kf_picture_range(const kf_scene *scene, const kf_snapshot *snapshot, const kf_picture_view *view,
                           double *low, double *high, kf_error *error);
/* Draws a snapshot of a flow's plan. */
kf_status kf_picture_of_plan(const char *path, kf_plan *plan, const kf_snapshot *snapshot,
                             const kf_picture_view *view, kf_error *error);

#endif
