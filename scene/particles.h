/* Scenes of the system sph: particles of a fluid or of snow in a box with walls, terrain and obstacles. Scene
 * files are in SI units. The structs below have lengths in particle spacings, densities in rest densities and
 * speeds in speeds of sound. So a particle has mass 1, and pressures are in units of rho c^2. The last axis
 * points up (y in two dimensions, z in three). docs/sph.md describes the file's keys. */
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
    /* Least bytes of a particle on a device, whatever the config: two sets of position, velocity, rates and
     * number, and its cell. */
    KF_PARTICLE_LEAST_BYTES = 112,
    KF_PARTICLE_GAUGES = 16,
    KF_PARTICLE_WINDOWS = 4,
    KF_PARTICLE_SHAPES = 32
};

typedef enum kf_scheme { KF_SCHEME_MODERN, KF_SCHEME_THESIS, KF_SCHEMES } kf_scheme;
extern const char *const kf_scheme_names[KF_SCHEMES];

/* Kinds of the box's faces. */
typedef enum kf_side {
    KF_SIDE_NO_SLIP,   /* a half-space without particles, no slip */
    KF_SIDE_FREE_SLIP, /* a half-space without particles, free slip */
    KF_SIDE_PERIODIC,  /* both faces of an axis are periodic */
    KF_SIDE_OPEN,      /* particles leave the box */
    KF_SIDE_DUMMIES,   /* a wall of layers of particles */
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

/* Laws of the deviatoric stress (kernels/sph/rheology.h). */
typedef enum kf_law {
    KF_LAW_NEWTONIAN, /* constant viscosity without a stress tensor (Morris) */
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
    bool stiff;                   /* Tait's equation of state with exponent 7; otherwise it is linear */
    double viscosity;             /* mu of the Newtonian law */
    double consistency, exponent; /* K and n of K rate^n */
    double yield;                 /* yield stress; for Drucker and Prager, cohesion times cos(phi) */
    double friction, friction_fast, inertial_number,
        grain;              /* grain: the grains' diameter times the square root of their density */
    double viscosity_limit; /* viscosity of material that has not yielded */
    double growth;          /* m of Papanastasiou */
    double shear_modulus;   /* of the elastic branch */
    double bed_friction;    /* friction of walls without particles; 0: as much as the material can carry */
} kf_material;

/* Parameters of the scheme thesis. */
typedef struct kf_thesis_model {
    double xsph, penalty, damping, drag, drag_height, speed_limit, acceleration_limit, viscosity_at_rest;
    bool consistent; /* the pressure gradient has its full weight */
} kf_thesis_model;

typedef struct kf_gauge {
    char name[24];
    bool is_pressure; /* it measures pressure; otherwise the height of the surface */
    double place[3];  /* in spacings; of heights the last axis is not used */
} kf_gauge;

/* Quantities by which pictures are coloured. */
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
    double spacing, sound_speed, density; /* the units of everything below, in m, m/s and kg/m^3 */
    double support;                       /* radius of the kernel's support */
    double size[3];                       /* of the box, with its layers of particles */
    double origin[3];                     /* position of the file's origin in the box */
    kf_side sides[6];                     /* xmin, xmax, ymin ... */
    double side_velocity[6][3];
    double gravity[3];
    kf_scheme scheme;
    kf_material material;
    kf_thesis_model thesis;
    double diffusion, artificial; /* delta, and alpha of the artificial viscosity */
    double impact;                /* eta of the limited Riemann solver; 0: it is not used */
    bool central_viscosity; /* the viscous force between two particles acts along the line between them */
    double shifting;        /* A of particle shifting; 0: none */
    bool tension;           /* negative pressures are allowed */
    double courant;
    double time_step; /* fixed; 0: adaptive */
    bool dummies_slip;

    size_t count, wall_count; /* number of all particles, and of those of walls, which come last */
    float *position;          /* [count][3] */
    float *velocity;          /* [count][3] */
    float *deviation;         /* [count]: density - 1 */
    kf_terrain terrain;       /* in spacings */

    int gauge_count;
    kf_gauge gauges[KF_PARTICLE_GAUGES];
    kf_particle_colour colour;
    double end_time; /* the time that the scene suggests, s; 0: none */
    /* Times in s at which steps are timed; a single one stands for the whole run. */
    double windows[KF_PARTICLE_WINDOWS];
    int window_count;
    uint64_t seed;
    double shake; /* amplitude of random changes of positions and velocities, for trials */
    char *notes;
} kf_particle_scene;

typedef struct kf_particle_options {
    double spacing_scale; /* a larger one makes the scene coarser; 0: 1 */
    int spacings_x;       /* spacings along x, with the layers beyond the faces; 0: as the file says */
    uint64_t seed;        /* 0: that of the file */
    double shake;         /* in spacings; velocities change by a tenth of it */
    /* Returns bytes of memory (kf_scene_options). A large scene that would not fit is refused before its
     * particles are placed. */
    double (*memory)(const void *context);
    const void *memory_context;
} kf_particle_options;

/* Opens a file, or a shipped scene by its path. Free it with kf_particle_scene_free. */
kf_status kf_particle_scene_open(const char *file, const kf_particle_options *options,
                                 kf_particle_scene **scene, kf_error *error);
void kf_particle_scene_free(kf_particle_scene *scene);

/* Reads a scene from a text. name: of the scene, also for messages. */
kf_status kf_particle_scene_parse(const char *name, const char *text, const kf_particle_options *options,
                                  kf_particle_scene **scene, kf_error *error);
/* Computes the hash again. Call it after changing a scene. */
void kf_particle_scene_hash(kf_particle_scene *scene);

/* Returns one second in units of the scene's time, spacing / sound speed. */
double kf_particle_seconds(const kf_particle_scene *scene);

#endif
