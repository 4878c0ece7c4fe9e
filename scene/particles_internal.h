/* The files of particle scenes share this. */
#ifndef KF_SCENE_PARTICLES_INTERNAL_H
#define KF_SCENE_PARTICLES_INTERNAL_H

#include <math.h>

#include "scene/internal.h"
#include "scene/particles.h"

typedef enum kf_body_kind {
    KF_BODY_BOX,
    KF_BODY_BALL,
    KF_BODY_MESH,
    KF_BODY_POLYGON,
    KF_BODY_KINDS
} kf_body_kind;

/* A body of particles; places are in spacings from the box's lower corner. */
typedef struct kf_particle_body {
    kf_body_kind kind;
    bool wall;
    double low[3], high[3]; /* of a box; the bounds of the others */
    double center[3], radius;
    kf_mesh mesh;
    double *corners; /* [corner_count][2], of a polygon */
    int corner_count;
    double depth;                 /* of a polygon on the terrain, along its normal */
    double velocity[3], rotation; /* about the middle, around the last axis of a 2D or 3D scene's z */
    bool hydrostatic;
} kf_particle_body;

typedef struct kf_particle_bodies {
    kf_particle_body list[KF_PARTICLE_SHAPES];
    int count;
} kf_particle_bodies;

/* Reads "fluid" and "obstacles" (particles_bodies.c). */
kf_status kf_particle_bodies_read(const char *file, const cJSON *root, const kf_particle_scene *scene,
                                  kf_particle_bodies *bodies, kf_text *notes, kf_error *error);
void kf_particle_bodies_free(kf_particle_bodies *bodies);
/* Reads "material" and "model"; the viscous and acoustic limits are the kernels' business
 * (particles_material.c). */
kf_status kf_particle_material_read(const char *file, const cJSON *root, kf_particle_scene *scene,
                                    kf_text *notes, kf_error *error);
/* Returns where the box without its layers of particles ends along an axis, in spacings; it begins at
 * scene->origin. */
static inline double kf_particle_box_end(const kf_particle_scene *scene, int axis) {
    return scene->size[axis] - (scene->sides[2 * axis + 1] == KF_SIDE_DUMMIES ? ceil(scene->support) : 0.0);
}

/* Counts of what becomes of a shape's particles. */
typedef struct kf_particle_fates {
    size_t placed;
    size_t above, below; /* the box: of layers on the terrain, in columns of the box */
    size_t in_ground;
} kf_particle_fates;

/* Fills position, velocity, deviation, and tells of what is left out; refuses what has no room in the
 * options' memory (particles_place.c). */
kf_status kf_particle_place(kf_particle_scene *scene, const kf_particle_options *options,
                            const kf_particle_bodies *bodies, kf_text *notes, kf_error *error);
/* Return whether a column's middle lies in the box, and in a polygon; y < 0: there are two dimensions. */
bool kf_particle_in_box(const kf_particle_scene *scene, double x, double y);
bool kf_particle_in_polygon(const kf_particle_body *body, int axes, double x, double y);
/* How many particles of a polygon lie above each other there. */
double kf_particle_layers(const kf_particle_scene *scene, const kf_particle_body *body, double x, double y);
/* Tells what was left out; fates is one of each body; KF_BAD_INPUT when nothing of a shape has room
 * (particles_left_out.c). */
kf_status kf_particle_tell_left_out(const kf_particle_scene *scene, const kf_particle_bodies *bodies,
                                    const kf_particle_fates *fates, kf_text *notes, kf_error *error);
/* Refuses a terrain that lies beside, above or below the box, and tells of the others
 * (particles_ground.c). */
kf_status kf_particle_check_terrain(const char *file, const kf_particle_scene *scene, kf_text *notes,
                                    kf_error *error);

#endif
