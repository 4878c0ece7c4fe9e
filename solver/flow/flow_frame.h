/* The directions of the flow and of `up`, for force coefficients and for pictures. */
#ifndef KF_SOLVER_FLOW_FLOW_FRAME_H
#define KF_SOLVER_FLOW_FLOW_FRAME_H

#include "scene/scene.h"

/* Unit vectors, with side = drag x lift. */
typedef struct kf_flow_frame {
    double drag[3], lift[3], side[3];
    int flow_axis; /* the axis nearest to drag */
    int up_axis;   /* the axis nearest to lift */
} kf_flow_frame;

/* Finds the directions of a flow. drag: along the fastest inflow, else the uniform initial velocity, else
 * what enters at nodes of a mask, else the body force, else the fastest moving wall, else x. lift: normal to
 * the only pair of walls beside the flow (a road, a floor), else z, or y if the flow is along z; it is made
 * perpendicular to drag. */
void kf_flow_frame_of(const kf_scene *scene, kf_flow_frame *frame);

#endif
