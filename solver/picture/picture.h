/* A picture of one slice of a flow: a quantity in colours, the solid's cross-section, axes, colour scale and
 * title. */
#ifndef KF_SOLVER_PICTURE_PICTURE_H
#define KF_SOLVER_PICTURE_PICTURE_H

#include "solver/flow/flow_plan.h"
#include "solver/picture/section.h"

enum { KF_AXIS_AUTO = -1 };

/* Fields that can be drawn. */
typedef enum kf_picture_field {
    KF_PICTURE_SPEED,
    KF_PICTURE_PRESSURE,  /* pressure coefficient if the flow has one */
    KF_PICTURE_VORTICITY, /* component across the plane, 1/s; positive for rotation from right to up */
    KF_PICTURE_FIELDS
} kf_picture_field;
extern const char *const kf_picture_fields[KF_PICTURE_FIELDS]; /* "speed", "pressure", "vorticity" */

typedef struct kf_picture_view {
    kf_picture_field field;
    /* Axis across the plane. KF_AXIS_AUTO: across flow and up (flow_frame.h), or the thin axis of a flat
     * domain. */
    int normal;
    /* The plane is at `position`; otherwise through the middle of the solid's bounding box, or of the
     * domain. */
    bool placed;
    double position; /* along the normal, m, from the domain's lower corner */
    /* Colours go from low to high; otherwise from 0 (speed) or -high to a value that nearly all nodes
     * keep. */
    bool ranged;
    double low, high;         /* in the field's unit */
    bool mean;                /* the title says that the values are means over time */
    const kf_snapshot *minus; /* a snapshot on the same nodes that is subtracted; NULL: none */
    const char *caption;      /* replaces the scene's name in the title; NULL: it does not */
} kf_picture_view;

/* Finds the plane of a view, which lies on nodes. A position outside the domain gives the first or last
 * plane. */
void kf_picture_plane(const kf_scene *scene, const kf_picture_view *view, kf_plane *plane);

/* Writes a PNG at least 900 pixels wide. snapshot: of a flow in the scene (flow_plan.h). free_pose: pose of a
 * solid that the fluid moves; NULL for others. KF_BAD_INPUT when the snapshot does not have the field. */
kf_status kf_picture_write(const char *path, const kf_scene *scene, const kf_snapshot *snapshot,
                           const kf_solid_pose *free_pose, const kf_picture_view *view, kf_error *error);
/* Computes the range of colours of a view that is not ranged. */
kf_status kf_picture_range(const kf_scene *scene, const kf_snapshot *snapshot, const kf_picture_view *view,
                           double *low, double *high, kf_error *error);
/* Draws a snapshot of a flow's plan. */
kf_status kf_picture_of_plan(const char *path, kf_plan *plan, const kf_snapshot *snapshot,
                             const kf_picture_view *view, kf_error *error);

#endif
