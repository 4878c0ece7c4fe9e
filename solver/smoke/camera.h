/* The camera and the light of a scene, chosen from the bounds of solid and domain. */
#ifndef KF_SOLVER_SMOKE_CAMERA_H
#define KF_SOLVER_SMOKE_CAMERA_H

#include "scene/scene.h"
#include "solver/flow/flow_frame.h"
#include "solver/picture/viewpoint.h"

/* In lattice units. */
typedef struct kf_camera {
    double eye[3];
    /* Right and above span half the picture at distance 1 along ahead. */
    double ahead[3], right[3], above[3];
    double light[3]; /* unit vector towards the light */
    double focus[3]; /* middle of what the camera looks at */
    double reach;    /* half the length of what the camera looks at */
    int up;
    bool has_ground; /* there is a wall below */
    double ground;   /* height of this wall along the axis up */
} kf_camera;

/* Chooses the camera; aspect is width over height of the picture. */
void kf_camera_choose(const kf_scene *scene, double aspect, const kf_viewpoint *from, kf_camera *camera);

#endif
