/* Finds what a camera sees of particles and their terrain: the nearest surface at each pixel. Particles
 * are balls; the depth of their hull is smoothed, so that they make one surface. */
#ifndef KF_SOLVER_SPH_SPH_VIEW_H
#define KF_SOLVER_SPH_SPH_VIEW_H

#include "scene/particles.h"

typedef enum kf_sph_seen { KF_SPH_NOTHING, KF_SPH_GROUND, KF_SPH_SURFACE } kf_sph_seen;

typedef struct kf_sph_pixel {
    kf_sph_seen kind;
    bool wall, contour;
    bool cut; /* below the ground, on a face of the box */
    float value;
    double normal[3]; /* towards the camera's side */
} kf_sph_pixel;

typedef struct kf_sph_view {
    const kf_particle_scene *scene;
    int width, height;
    double eye[3], ahead[3], right[3], above[3]; /* right and above: of length 1 */
    double light[3];                             /* unit vector towards it */
    double focal;                                /* pixels at distance 1 */
    double radius;                               /* of a particle's ball, m */
    double base;                                 /* terrain is cut off below, m */
    float *ground, *surface, *scratch;           /* depths along ahead, m */
    float *value;
    unsigned char *wall;
    kf_sph_pixel *pixels; /* after kf_sph_view_end */
} kf_sph_view;

/* Freed by the caller. */
void kf_sph_view_begin(const kf_particle_scene *scene, int width, int height, kf_sph_view *view);
void kf_sph_view_ground(kf_sph_view *view);
/* Adds a particle to the view; place is in metres from the file's origin. */
void kf_sph_view_particle(kf_sph_view *view, const float place[3], float value, bool wall);
/* Particles of walls inside the box, obstacles: the layers at its faces would hide the fluid. */
bool kf_sph_view_shows_wall(const kf_sph_view *view, const float place[3]);
void kf_sph_view_end(kf_sph_view *view);
void kf_sph_view_free(kf_sph_view *view);

#endif
