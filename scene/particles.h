/* The scenes of the system sph: particles of a fluid or of snow in a box with walls, terrain and
 * obstacles. Scene files are in SI units. Here lengths are in particle spacings, densities in rest
 * densities and speeds in speeds of sound; so a particle has the mass 1, and pressures are in rho c^2. The
 * last axis points up (y in two dimensions, z in three). docs/sph.md describes the file's keys and what
 * they mean. */
#ifndef KF_SCENE_PARTICLES_H
#define KF_SCENE_PARTICLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util/file.h"
#include "base/util/hash.h"
#include "base/util/status.h"
#include "kernels/choices.h"
#include "scene/terrain.h"

enum {
    KF_PARTICLES_LIMIT = 500000000,
    /* Bytes on a device, whatever the config: both sets of places, velocities, rates and numbers, and the
       cell. */
    KF_PARTICLE_LEAST_BYTES = 112,
    KF_PARTICLE_GAUGES = 16,
    KF_PARTICLE_WINDOWS = 4,
    KF_PARTICLE_SHAPES = 32
};

typedef enum kf_scheme { KF_SCHEME_MODERN, KF_SCHEME_THESIS, KF_SCHEMES } kf_scheme;
extern const char *const kf_scheme_names[KF_SCHEMES];

/* Kinds of faces of the box. */
typedef enum kf_side {
    KF_SIDE_NO_SLIP,   /* a half-space without particles */
    KF_SIDE_FREE_SLIP, /* the same */
    KF_SIDE_PERIODIC,  /* on both faces of an axis */
    KF_SIDE_OPEN,      /* particles leave */
    KF_SIDE_DUMMIES,   /* layers of particles */
    KF_SIDES
} kf_side;
static inline bool kf_side_is_wall(kf_side side) { /* a half-space without particles */
    return side == KF_SIDE_NO_SLIP || side == KF_SIDE_FREE_SLIP;
}
extern const char *const kf_side_names[KF_SIDES];

typedef enum kf_yield {
    KF_YIELD_NONE = KF_NO_YIELD,
    KF_YIELD_CONSTANT = KF_CONSTANT_YIELD,
    KF_YIELD_MU_I = KF_MU_I_YIELD,
    KF_YIELD_DRUCKER_PRAGER = KF_DRUCKER_PRAGER_YIELD
} kf_yield;
typedef enum kf_branch {
    KF_BRANCH_BIVISCOUS = KF_BIVISCOUS_FLOW,
    KF_BRANCH_PAPANASTASIOU = KF_PAPANASTASIOU_FLOW,
    KF_BRANCH_ELASTIC = KF_ELASTIC_FLOW,
    KF_BRANCHES
} kf_branch;
extern const char *const kf_branch_names[KF_BRANCHES];

/* The law of the deviatoric stress (kernels/sph/rheology.h). */
typedef enum kf_law {
    KF_LAW_NEWTONIAN, /* constant viscosity, without a stress tensor (Morris) */
    KF_LAW_POWER,
    KF_LAW_BINGHAM,
    KF_LAW_HERSCHEL_BULKLEY,
    KF_LAW_MU_I,
    KF_LAW_DRUCKER_PRAGER,
    KF_LAWS
} kf_law;
extern const char *const kf_law_names[KF_LAWS];

typedef struct kf_material {
    kf_law law;
    kf_yield yield_kind;
    kf_branch branch;
    bool stiff;       /* Tait's equation of state with exponent 7; else linear */
    double viscosity; /* of the Newtonian law: mu */
    double consistency, exponent;
    double yield; /* or the cohesion times cos(phi) of Drucker and Prager */
    double friction, friction_fast, inertial_number,
        grain;              /* grain: diameter times the root of its density */
    double viscosity_limit; /* of what has not yielded */
    double growth;          /* Papanastasiou's m */
    double shear_modulus;
    double bed_friction; /* of walls without particles; 0: as much as the material carries */
} kf_material;

/* The scheme thesis only. */
typedef struct kf_thesis_model {
    double xsph, penalty, damping, drag, drag_height, speed_limit, acceleration_limit, viscosity_at_rest;
    bool consistent; /* the pressure gradient at its full weight */
} kf_thesis_model;

typedef struct kf_gauge {
    char name[24];
    bool is_pressure; /* else the height of the surface */
    double place[3];
} kf_gauge;

/* Pictures are coloured by one of these. */
typedef enum kf_particle_colour {
    KF_COLOUR_SPEED,
    KF_COLOUR_PRESSURE,
    KF_COLOUR_YIELD, /* the shear stress over the yield stress */
    KF_COLOURS
} kf_particle_colour;
extern const char *const kf_particle_colour_names[KF_COLOURS];

typedef struct kf_particle_scene {
    char name[128], source[KF_PATH], hash[KF_HASH_HEX];
    int dimensions;
    double spacing, sound_speed, density; /* metres, m/s, kg/m^3: the units of all that follows */
    double support;                       /* of the kernel */
    double size[3];                       /* of the box with its layers of particles; spacings */
    double origin[3];                     /* where the file's origin is in it */
    kf_side sides[6];                     /* xmin, xmax, ymin ... */
    double side_velocity[6][3];
    double gravity[3];
    kf_scheme scheme;
    kf_material material;
    kf_thesis_model thesis;
    double diffusion, artificial; /* delta; alpha */
    double impact;                /* eta of the limited Riemann solver; 0: off */
    bool central_viscosity;       /* friction of two acts along the line between them */
    double shifting;              /* A; 0: off */
    bool tension;                 /* pressures below 0 stay */
    double courant;
    double time_step; /* fixed; 0: adaptive */
    bool dummies_slip;

    size_t count, wall_count; /* in all; those of walls come last */
    float *position;          /* [count][3] */
    float *velocity;          /* [count][3] */
    float *deviation;         /* [count]: density - 1 */
    kf_terrain terrain;       /* spacings */

    int gauge_count;
    kf_gauge gauges[KF_PARTICLE_GAUGES];
    kf_particle_colour colour;
    double end_time;                     /* what the scene shows, seconds; 0: not said */
    double windows[KF_PARTICLE_WINDOWS]; /* seconds at which steps are timed; one: no others than the first */
    int window_count;
    uint64_t seed;
    double shake; /* places and velocities are random by this much: trials */
    char *notes;
} kf_particle_scene;

typedef struct kf_particle_options {
    double spacing_scale; /* 0: 1. Coarser: the same scene with larger spacings */
    int spacings_x;       /* along the box and the layers beyond its faces; 0: as the file says */
    uint64_t seed;        /* 0: the file's */
    double shake;         /* spacings; velocities are shaken by a tenth of it */
    /* Returns bytes of memory (kf_scene_options): a large scene that would not fit is refused before its
     * particles are placed. */
    double (*memory)(const void *context);
    const void *memory_context;
} kf_particle_options;

/* Opens a file, or a shipped scene by the path that it was found at. Free with kf_particle_scene_free. */
kf_status kf_particle_scene_open(const char *file, const kf_particle_options *options,
                                 kf_particle_scene **scene, kf_error *error);
void kf_particle_scene_free(kf_particle_scene *scene);

/* Reads a scene from a text; name: for messages and the scene's name. */
kf_status kf_particle_scene_parse(const char *name, const char *text, const kf_particle_options *options,
                                  kf_particle_scene **scene, kf_error *error);
/* After whoever made it changed it. */
void kf_particle_scene_hash(kf_particle_scene *scene);

/* A second in units of time. */
double kf_particle_seconds(const kf_particle_scene *scene);

#endif
