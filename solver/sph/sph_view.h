/* Finds what a camera sees of particles and their terrain: the nearest surface at each pixel. Particles are
 * balls. The depth of their hull is smoothed so that they form one surface. */
#ifndef KF_SOLVER_SPH_SPH_VIEW_H
#define KF_SOLVER_SPH_SPH_VIEW_H

#include "scene/particles.h"

typedef enum kf_sph_seen { KF_SPH_NOTHING, KF_SPH_GROUND, KF_SPH_SURFACE } kf_sph_seen;

typedef struct kf_sph_pixel {
    kf_sph_seen kind;
    bool wall, contour;
    bool cut; /* it is below the ground, on a face of the box */
    float value;
    double normal[3]; /* points towards the camera */
} kf_sph_pixel;

typedef struct kf_sph_view {
    const kf_particle_scene *scene;
    int width, height;
    double eye[3], ahead[3], right[3], above[3]; /* right and above are unit vectors */
    double light[3];                             /* unit vector towards the light */
    double focal;                                /* pixels of a unit length at distance 1 */
    double radius;                               /* radius of a particle's ball, m */
    double base;                                 /* height at which terrain is cut off, m */
    float *ground, *surface, *scratch;           /* depths along ahead, m */
    float *value;
    unsigned char *wall;
    kf_sph_pixel *pixels; /* set by kf_sph_view_end */
} kf_sph_view;

/* Begins a view. kf_sph_view_free frees it. */
void kf_sph_view_begin(const kf_particle_scene *scene, int width, int height, kf_sph_view *view);
void kf_sph_view_ground(kf_sph_view *view);
/* Adds a particle to the view; place is in metres from the file's origin. */
void kf_sph_view_particle(kf_sph_view *view, const float place[3], float value, bool wall);
/* Returns whether a wall particle is shown: obstacles inside the box are, the layers at its faces would hide
 * the fluid. */
bool kf_sph_view_shows_wall(const kf_sph_view *view, const float place[3]);
void kf_sph_view_end(kf_sph_view *view);
void kf_sph_view_free(kf_sph_view *view);

#endif
