/* What the files of particle scenes share. */
#ifndef KF_SCENE_PARTICLES_INTERNAL_H
#define KF_SCENE_PARTICLES_INTERNAL_H

#include "scene/internal.h"
#include "scene/particles.h"

typedef enum kf_body_kind {
    KF_BODY_BOX,
    KF_BODY_BALL,
    KF_BODY_MESH,
    KF_BODY_POLYGON,
    KF_BODY_KINDS
} kf_body_kind;

/* Where particles are: in spacings from the box's lower corner. */
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

/* particles_bodies.c: "fluid" and "obstacles". */
kf_status kf_particle_bodies_read(const char *file, const cJSON *root, const kf_particle_scene *scene,
                                  kf_particle_bodies *bodies, kf_text *notes, kf_error *error);
void kf_particle_bodies_free(kf_particle_bodies *bodies);
/* particles_material.c: "material" and "model"; the viscous and acoustic limits are the kernels' business. */
kf_status kf_particle_material_read(const char *file, const cJSON *root, kf_particle_scene *scene,
                                    kf_text *notes, kf_error *error);
/* particles_place.c: fills position, velocity, deviation. */
kf_status kf_particle_place(kf_particle_scene *scene, const kf_particle_bodies *bodies, kf_error *error);

#endif
