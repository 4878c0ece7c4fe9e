/* How a mesh lies in its file, guessed from its shape (posture.c). */
#ifndef KF_SCENE_POSTURE_H
#define KF_SCENE_POSTURE_H

#include "scene/internal.h"
#include "scene/placement.h"

/* A guess of 0.5 is one of two; from KF_SURE on it is taken without a question. */
#define KF_SURE 0.7

typedef struct kf_posture {
    kf_heading up, wind;
    double up_sure, axis_sure, front_sure; /* 0 to 1: which way is up, along which axis, from which end */
    int across;       /* the axis across which alone the mesh is symmetric; -1: none, or several */
    double mirror[3]; /* share of the surface with an image across the middle of the box, by axis */
    double stand;     /* share of the footprint that what touches the ground spans; 0: it would fall over */
    double contact;   /* share of the footprint that touches the ground */
    int patches;      /* that this lies in: four of a car on its tyres */
    bool like_a_car;  /* symmetric, longer than wide and high */
    bool as_it_is;    /* symmetric across all axes: taken as it lies in its file */
} kf_posture;

kf_posture kf_mesh_posture(const kf_mesh *mesh);
/* Only where the wind comes from and how it stands, for an up that is given. */
void kf_posture_heading(const kf_mesh *mesh, kf_posture *posture);
/* A wind that is given; whether it is like a car is asked along it. */
void kf_posture_set_wind(const kf_mesh *mesh, kf_heading wind, kf_posture *posture);

#endif
