/* A camera for a scene, and the light: chosen from the solid's and the domain's bounds. */
#ifndef KF_SOLVER_SMOKE_CAMERA_H
#define KF_SOLVER_SMOKE_CAMERA_H

#include "scene/scene.h"
#include "solver/flow/flow_frame.h"
#include "solver/picture/viewpoint.h"

/* Lattice units. */
typedef struct kf_camera {
    double eye[3];
    double ahead[3], right[3], above[3]; /* right and above span half the picture at distance 1 along ahead */
    double light[3];                     /* unit vector towards it */
    double focus[3];                     /* middle of what is looked at */
    double reach;                        /* half the length of what is looked at */
    int up;
    bool has_ground; /* a wall below */
    double ground;   /* its height along the axis up */
} kf_camera;

/* Chooses the camera; aspect is width over height of the picture. */
void kf_camera_choose(const kf_scene *scene, double aspect, const kf_viewpoint *from, kf_camera *camera);

#endif
