/* Declarations that the files of particle scenes share. */
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

/* A body of particles. Places are in spacings from the box's lower corner. */
typedef struct kf_particle_body {
    kf_body_kind kind;
    bool wall;
    double low[3], high[3]; /* of a box; for other kinds, the bounds */
    double center[3], radius;
    kf_mesh mesh;
    double *corners; /* [corner_count][2] of a polygon */
    int corner_count;
    double depth;                 /* of a polygon on the terrain, along the terrain's normal */
    double velocity[3], rotation; /* rotation: speed about the body's middle, around z */
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
/* Reads "material" and "model" (particles_material.c). The kernels apply the viscous and acoustic limits. */
kf_status kf_particle_material_read(const char *file, const cJSON *root, kf_particle_scene *scene,
                                    kf_text *notes, kf_error *error);
/* Returns the end of the box along an axis, in spacings, without its layers of particles. The box begins at
 * scene->origin. */
static inline double kf_particle_box_end(const kf_particle_scene *scene, int axis) {
    return scene->size[axis] - (scene->sides[2 * axis + 1] == KF_SIDE_DUMMIES ? ceil(scene->support) : 0.0);
}

/* Counts the particles of a shape by what became of them. */
typedef struct kf_particle_fates {
    size_t placed;
    size_t above, below; /* outside the box in layers on the terrain, in columns of the box */
    size_t in_ground;
} kf_particle_fates;

/* Sets position, velocity and deviation, and notes what is left out. Refuses a scene that does not fit the
 * options' memory (particles_place.c). */
kf_status kf_particle_place(kf_particle_scene *scene, const kf_particle_options *options,
                            const kf_particle_bodies *bodies, kf_text *notes, kf_error *error);
/* Return whether the middle of a column lies in the box, or in a polygon. y < 0: the scene has two
 * dimensions. */
bool kf_particle_in_box(const kf_particle_scene *scene, double x, double y);
bool kf_particle_in_polygon(const kf_particle_body *body, int axes, double x, double y);
/* Returns how many particles of a polygon lie above each other at this place. */
double kf_particle_layers(const kf_particle_scene *scene, const kf_particle_body *body, double x, double y);
/* Notes what was left out. fates: one for each body. KF_BAD_INPUT if no particle of a shape has room
 * (particles_left_out.c). */
kf_status kf_particle_tell_left_out(const kf_particle_scene *scene, const kf_particle_bodies *bodies,
                                    const kf_particle_fates *fates, kf_text *notes, kf_error *error);
/* Refuses terrain that lies completely beside, above or below the box, and notes how much of other terrain
 * does (particles_ground.c). */
kf_status kf_particle_check_terrain(const char *file, const kf_particle_scene *scene, kf_text *notes,
                                    kf_error *error);

#endif
