/* How a mesh lies in its file: which way is up and where the wind comes from, guessed from its shape
 * (posture.c). */
#ifndef KF_SCENE_POSTURE_H
#define KF_SCENE_POSTURE_H

#include "scene/internal.h"
#include "scene/placement.h"

/* How sure a guess must be (0 to 1) to be used without asking the user. 0.5 is a choice of one out of two. */
#define KF_SURE 0.7

typedef struct kf_posture {
    kf_heading up, wind;
    /* How sure the guesses are, 0 to 1: which way is up, the axis of the wind, and from which end it
     * comes. */
    double up_sure, axis_sure, front_sure;
    int across; /* the only axis across which the mesh is symmetric; -1: none, or several */
    /* Share of the surface that has a mirror image across the middle of the box, for each axis. */
    double mirror[3];
    /* Share of the footprint spanned by the parts that touch the ground; 0: it would fall over. */
    double stand;
    double contact;  /* share of the footprint that touches the ground */
    int patches;     /* number of separate places where it does: four for a car on its tyres */
    bool like_a_car; /* symmetric, and longer than it is wide and high */
    bool as_it_is;   /* symmetric across all axes: used as it lies in its file */
} kf_posture;

/* Guesses which way is up, where the wind comes from, and how the mesh stands. */
kf_posture kf_mesh_posture(const kf_mesh *mesh);
/* Guesses only the wind and how the mesh stands, for a given `up`. */
void kf_posture_heading(const kf_mesh *mesh, kf_posture *posture);
/* Sets a given wind, and decides along it whether the mesh is like a car. */
void kf_posture_set_wind(const kf_mesh *mesh, kf_heading wind, kf_posture *posture);

#endif
