/* A scene: what is simulated. It consists of a mesh (or none), the domain, the flow, the motion of the solid,
 * and the samples of its surface. Scene files are in SI units. Values marked "lattice" below are in lattice
 * units (cell = 1, time step = 1, reference density = 1); the conversion happens once, in scene/.
 *
 * Lattice coordinates: node (i,j,k) lies at (i,j,k), with 0 <= i < nodes[0] and so on. The faces of the
 * domain lie half a cell outside the outermost nodes, at -0.5 and nodes - 0.5, where half-way bounce-back
 * places walls. */
#ifndef KF_SCENE_SCENE_H
#define KF_SCENE_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "base/util/file.h"
#include "base/util/hash.h"
#include "base/util/status.h"
#include "kernels/choices.h"

typedef enum kf_face { KF_XMIN, KF_XMAX, KF_YMIN, KF_YMAX, KF_ZMIN, KF_ZMAX, KF_FACES } kf_face;

/* Kinds of faces, KF_PERIODIC, KF_WALL ...: kernels/choices.h describes each. */
#define KF_BOUNDARY_NUMBER(name, word) name = name##_FACE,
typedef enum kf_boundary { KF_EACH_FACE(KF_BOUNDARY_NUMBER) KF_BOUNDARIES } kf_boundary;
extern const char *const kf_boundary_names[KF_BOUNDARIES];
extern const char *const kf_face_names[KF_FACES]; /* "xmin", ... */

/* Collision models. The last three are two-dimensional. The linear ones leave out the quadratic terms, for
 * Stokes flow. */
typedef enum kf_collision {
    KF_BGK = KF_BGK_COLLISION,
    KF_RM_MRT = KF_RM_MRT_COLLISION,
    KF_ACM_MRT = KF_ACM_MRT_COLLISION,
    KF_BGK_LINEAR = KF_BGK_LINEAR_COLLISION,
    KF_MRT = KF_MRT_COLLISION,
    KF_MRT_LINEAR = KF_MRT_LINEAR_COLLISION,
    KF_COLLISIONS
} kf_collision;
extern const char
    *const kf_collision_names[KF_COLLISIONS]; /* "bgk", "rm_mrt", "acm_mrt", "bgk_linear", ... */

/* How the relaxation rate of moments of order three and higher is chosen in acm_mrt (docs/physics.md). */
typedef enum kf_rate_rule {
    KF_RATE_ADAPTIVE_2020 = KF_ADAPTIVE_2020_RATES,
    KF_RATE_CONSTANT = KF_CONSTANT_RATES,
    KF_RATE_ONES = KF_ONES_RATES,
    KF_RATE_EMPIRICAL_2019 = KF_EMPIRICAL_2019_RATES,
    KF_RATE_KBC = KF_KBC_RATES,
    KF_RATE_K17 = KF_K17_RATES,
    KF_RATE_SUGA_2015 = KF_SUGA_2015_RATES,
    KF_RATE_RULES
} kf_rate_rule;
extern const char *const kf_rate_rule_names[KF_RATE_RULES];

/* The basis of moments of order four to six in acm_mrt: central Hermite moments, or the paper's raw central
 * moments. */
typedef enum kf_moment_basis {
    KF_BASIS_HERMITE = KF_HERMITE_BASIS,
    KF_BASIS_RAW = KF_RAW_BASIS,
    KF_BASES
} kf_moment_basis;
extern const char *const kf_moment_basis_names[KF_BASES]; /* "hermite", "raw" */

enum { KF_DISTURBING_WAVES = 4 };
typedef enum kf_initial {
    KF_INITIAL_UNIFORM,
    KF_INITIAL_TAYLOR_GREEN_2D,
    KF_INITIAL_TAYLOR_GREEN_3D,
    KF_INITIALS
} kf_initial;
extern const char *const kf_initial_names[KF_INITIALS];

/* A section of a scene file that belongs to one system, which reads it. Other systems run the scene without
 * it. The scene holds the section's values (kf_scene_section_values). */
typedef struct kf_scene_section {
    const char *name; /* its key in the file */
    size_t size;      /* of its values; all zero if the file does not have the section */
    kf_status (*read)(const char *file, const cJSON *section, void *values, kf_error *error);
    void (*hash)(const void *values, kf_hasher *hasher); /* adds to the hash what affects the result */
} kf_scene_section;
enum { KF_SCENE_SECTIONS = 4 };

/* A prescribed rigid motion: x(t) = center + velocity t + R(axis, angular_speed t) (x0 - center). For a free
 * solid it is the initial motion; the fluid then moves the solid. Lattice units. */
typedef struct kf_motion {
    bool moving;
    bool free; /* `moving` is set as well; center is the centre of mass */
    /* Mass and inertia (row-major 3x3, about center) of a free solid above those of the fluid in its place.
     */
    double excess_mass, excess_inertia[9];
    double gravity[3];    /* cells a step^2; acts on the excess mass of a free solid */
    double center[3];     /* at step 0 */
    double axis[3];       /* unit vector */
    double angular_speed; /* radians a step */
    double velocity[3];   /* cells a step */
} kf_motion;

/* One of several solids, at rest or in a prescribed rotation about a fixed axis. Lattice units. */
enum { KF_MOST_SOLIDS = 8, KF_SOLID_NAME = 17 };
typedef struct kf_solid {
    char name[KF_SOLID_NAME];
    kf_motion motion; /* moving: it turns. Torque refers to `center`, also for a solid at rest */
    /* Index of its first vertex in the scene's mesh; they end at that of the next solid. */
    size_t first_vertex;
    double low[3], high[3]; /* box of its mesh at all times */
} kf_solid;

/* Samples of the surface at time 0 in lattice coordinates. They lie kf_scene_surface_depth below the surface.
 * area: the surface in cells^2 for which a sample stands; the sum is solid_area. Between faces that are not
 * periodic a sample lies at least 1/1000 of a cell inside the outermost nodes, so that floor(x) and floor(x)
 * + 1 are nodes, in single precision too. Along a periodic axis it lies in [-0.5, nodes - 0.5], and its users
 * wrap the nodes. */
typedef struct kf_samples {
    size_t count;
    double *x, *y, *z;    /* [count] */
    double *area;         /* [count] */
    unsigned char *solid; /* index of its solid if there are several, ascending; NULL if there is one */
} kf_samples;

enum { KF_LINK_BEHIND = 2 };
/* A node and the direction of a link there, -1 .. 1 along each axis. A mirroring face changes the
 * direction. */
typedef struct kf_link_node {
    int node[3];
    signed char direction[3];
} kf_link_node;
/* A link from a fluid node to a neighbour that the surface of a solid at rest cuts. */
typedef struct kf_link {
    kf_link_node
        at[1 + KF_LINK_BEHIND]; /* the node, and those behind it, with the direction to the surface */
    kf_link_node inner;         /* the neighbour beyond the surface, with the same direction */
    int behind;                 /* how many of the nodes behind are fluid; 0 for half-way links */
    double share;               /* share of the link outside the surface, 0 .. 1 */
    double normal[3];           /* of the surface at the cut, towards the fluid */
} kf_link;
/* Largest Reynolds number of a solid's length at which all its boundary layers are laminar. A laminar layer
 * at the end of a plate has a momentum thickness Reynolds number of 0.664 sqrt(Re), which is then 320. Below
 * 320 a turbulent layer does not last (Preston, J. Fluid Mech. 3, 373, 1958). */
#define KF_LAMINAR_REYNOLDS 2.3e5
/* Most steps of kf_wall_node.open, and the largest depth of modelled layers, in cells. */
enum { KF_LINK_OPEN = 24 };
/* A fluid node beside the surface, for a law of the wall. */
typedef struct kf_wall_node {
    size_t first, count; /* its links, which are consecutive */
    int seen[3];         /* the node whose velocity the law uses, about two cells from the surface */
    double normal[3];    /* of the surface, towards the fluid: the mean normal of its links */
    double area;         /* surface in cells^2 that its links stand for */
    double distance;     /* from the surface to the node itself, in cells */
    int open;      /* steps of a cell along the normal before another surface; with modelled layers only */
    double height; /* distance in cells from the surface to the node `seen`; 0: the law does not act here */
} kf_wall_node;
/* A fluid node near a surface with a law of the wall, for a model of the layer there. */
typedef struct kf_layer_node {
    int node[3];
    int wall;      /* number of the nearest node beside the surface (kf_links.wall) */
    double height; /* distance in cells from the surface beside that node, along its normal */
} kf_layer_node;
typedef struct kf_links {
    size_t count;
    kf_link *link;
    bool leaves; /* the surface leaves its place, and the lists are those of time 0 */
    size_t
        thin_count; /* links between nodes of the fluid: parts of the solid are thinner than a cell there */
    /* Nodes that the stream does not reach. The first shell_count of them are beside the fluid, or at a face
     * of the domain. */
    size_t inside_count, shell_count;
    int (*inside)[3];
    size_t wall_count; /* 0 without a law of the wall */
    kf_wall_node *wall;
    /* Nodes of layers that a model describes, sorted by z, then y, then x; 0 without such a model. */
    size_t layer_count;
    kf_layer_node *layer;
    int layer_depth; /* how far from the surface they reach, in cells */
} kf_links;

/* A triangle mesh. Coordinates are in the file's units until kf_scene_build places it. */
typedef struct kf_mesh {
    size_t vertex_count, triangle_count;
    double *vertices;    /* [vertex_count][3] */
    uint32_t *triangles; /* [triangle_count + inner_count][3] */
    /* The last of the triangle_count triangles: sheets on a closed surface, with fluid on both sides. */
    size_t sheet_count;
    size_t
        inner_count; /* behind them: of cavities that no stream reaches; only the solid's matter knows them */
    double unit;     /* metres of the unit that the file states; 0: it states none */
    long unit_line;  /* the line that states it; 0: a header without lines */
} kf_mesh;

/* Kinds of nodes of a two-dimensional scene. An open node has the moments of the nearest fluid node, with the
 * momentum (inflow) or the density (outflow, or inflow with a pressure) replaced. */
typedef enum kf_node_kind {
    KF_NODE_FLUID,
    KF_NODE_SOLID,
    KF_NODE_INFLOW,
    KF_NODE_OUTFLOW,
    KF_NODE_KINDS
} kf_node_kind;

#define KF_DEFAULT_ACCURACY 1e-4
#define KF_LOOSEST_ACCURACY 0.1

/* Smoke comes from emitters. Tracers appear at a steady rate at random places of an emitter. */
typedef enum kf_emitter_shape {
    KF_EMITTER_BOX,
    KF_EMITTER_DISC,
    KF_EMITTER_RAKE, /* equally spaced nozzles along a line, each a ball */
    KF_EMITTER_SHAPES
} kf_emitter_shape;
extern const char *const kf_emitter_shape_names[KF_EMITTER_SHAPES]; /* "box", "disc", "rake" */

typedef struct kf_emitter {
    kf_emitter_shape shape;
    double rate; /* tracers a step */
    /* Lower and upper corner of a box; first and last nozzle of a rake; `from`: centre of a disc. */
    double from[3], to[3];
    double normal[3]; /* of the disc, unit vector */
    double radius;    /* of the disc, or of a nozzle */
    int nozzles;
} kf_emitter;

/* How smoke is coloured in pictures. */
typedef enum kf_smoke_paint {
    KF_PAINT_NONE,  /* white, by density and light */
    KF_PAINT_AGE,   /* by the tracers' age, up to the time in which the stream crosses the domain */
    KF_PAINT_SPEED, /* by the tracers' speed, up to twice the stream's */
    KF_SMOKE_PAINTS
} kf_smoke_paint;
extern const char *const kf_smoke_paint_names[KF_SMOKE_PAINTS]; /* "none", "age", "speed" */

/* The look of the solid in pictures of smoke. */
typedef enum kf_smoke_body { KF_BODY_LACQUER, KF_BODY_STONE, KF_SMOKE_BODIES } kf_smoke_body;
extern const char *const kf_smoke_body_names[KF_SMOKE_BODIES]; /* "lacquer" (red), "stone" */

enum { KF_EMITTERS = 8, KF_TRACERS_LIMIT = 20000000 };
typedef struct kf_smoke_sources {
    int count; /* 0: none are given */
    kf_emitter emitters[KF_EMITTERS];
    long capacity;  /* most tracers kept; the oldest are removed first; 0: the default */
    double opacity; /* optical depth of fresh smoke across its emitter, for pictures */
    uint64_t seed;  /* of the tracers' places */
    kf_smoke_paint paint;
    kf_smoke_body body;
} kf_smoke_sources;

enum { KF_MOST_PASSES = 10 };

/* A box of cells, low to high - 1 along each axis. */
typedef struct kf_cell_box {
    int low[3], high[3];
} kf_cell_box;
enum {
    KF_FINER_LEVELS = 4,
    /* Least number of a level's cells between its sides and the next finer box. The values that it averages
     * lie outside that box, or in its rim. */
    KF_NESTED_MARGIN = 3,
    /* Least number of finest cells between a finest level's sides and the solid, at all times. */
    KF_NESTED_ROOM = 2,
    /* This is that number for a solid by links, which read nodes up to three cells from the surface. */
    KF_NESTED_LINK_ROOM = 4
};

typedef struct kf_scene kf_scene;
struct kf_scene {
    char name[128];       /* the file's name without folder and endings; output files begin with it */
    char source[KF_PATH]; /* absolute path of the scene or mesh file, or the name of the shipped scene */
    /* The hash of everything that affects the physics, samples included; "" if the samples were not placed
     * (kf_scene_options.described). */
    char hash[KF_HASH_HEX];

    int nodes[3];
    double cell_size; /* metres */
    double time_step; /* seconds */

    kf_boundary faces[KF_FACES];
    double face_velocity[KF_FACES][3]; /* lattice */
    /* Share of the populations that a wall mirrors, in [0, 0.95]; the others are bounced back. */
    double specular_share[KF_FACES];
    kf_initial initial;
    double initial_velocity[3]; /* lattice; for Taylor-Green, [0] is the amplitude */
    /* Root mean square of the waves added to each velocity component at the start, lattice. */
    double disturbance;
    /* [axis][component][wave]: cosine and sine of a wave's phase, times its amplitude. The waves have 1 and
     * more periods in the domain. All waves of a component together have a mean square of 1. */
    double disturbing[3][3][KF_DISTURBING_WAVES][2];
    /* If set, it replaces `initial`: the state at time 0 of a scene that was made in memory. It is not part
     * of the hash. */
    void (*initial_state)(const void *context, int i, int j, int k, double *density, double velocity[3]);
    const void *initial_context;
    double body_force[3]; /* lattice, force density */

    double reynolds;         /* of reference_length and reference_speed; 0 if there are none */
    double reference_length; /* lattice */
    double reference_speed;  /* lattice */
    double viscosity;        /* lattice, kinematic */
    kf_collision collision;
    kf_rate_rule rate_rule; /* for rm_mrt: suga_2015, constant or ones */
    kf_moment_basis basis;  /* used by acm_mrt */
    double accuracy; /* largest relative error of fields that storage may add, KF_DEFAULT_ACCURACY .. 0.1 */
    double high_order_rate; /* used by KF_RATE_CONSTANT, in (0, 2) */

    /* Bounding box at time 0, lattice; low and high are equal without a solid. */
    double solid_low[3], solid_high[3];
    /* Area in cells^2 of the surface for which the samples stand: surface_depth below the mesh, inside the
     * outermost nodes. */
    double solid_area;
    double surface_depth; /* cells by which samples lie below the surface */
    size_t open_edges;   /* edges of the mesh that are open, or between triangles that face different sides */
    double frontal_area; /* cells^2 projected along the inflow; 0 without a solid or an inflow */
    double yaw;          /* degrees by which the solid is turned about z, for coefficients in its own axes */
    /* Area in cells^2 of force coefficients: as given, else the frontal area at zero yaw; 0: none
     * (kf_scene_reference_area). */
    double reference_area;
    bool reference_area_given;
    double moment_center[3]; /* lattice: the point to which moments of a solid at rest refer */
    kf_mesh mesh;            /* placed, lattice coordinates; empty without a solid */
    kf_motion motion;
    /* Several solids are solids[0 .. solid_count - 1]; solid_count 0: there is one or none. With several,
     * mesh, box and samples above are those of all together. `motion` then has zero speeds, and its centre is
     * the point to which moments of all refer. */
    int solid_count;
    kf_solid solids[KF_MOST_SOLIDS];
    /* A kf_node_kind for each node, [y][x]; NULL: fluid everywhere. Only with nodes[2] == 1; solid_low and
     * solid_high then bound the cells of its solid nodes. */
    unsigned char *mask;
    double mask_velocity[3]; /* lattice, at the mask's inflow nodes */
    /* Density - 1 at the mask's inflow nodes, if a pressure is given instead of a velocity. */
    double mask_density;
    bool mask_has_pressure; /* mask_density is given */
    bool parabolic_inflow;  /* face_velocity of an inflow is the mean of a parabola across the face */
    int immersed_passes;    /* of the immersed boundary in a step, 1 .. KF_MOST_PASSES; 0 means 1 */
    kf_samples samples;     /* in sampling order; see scene/ordering.h */
    bool linked;            /* the solid acts by cut links, and has no samples */
    bool half_way;          /* links bounce back half-way, without interpolation */
    bool wall_law;          /* a law of the wall gives friction at cut links where y+ is large */
    /* Cells behind the solid's front, along the inflow, where its layers become turbulent; below 0: its
     * Reynolds number decides (KF_LAMINAR_REYNOLDS). */
    double trip;
    /* All of the solid's layers are laminar by this criterion, so the law of the wall acts nowhere. */
    bool laminar;
    bool layers; /* a model gives layers without eddies the viscosity of turbulence */
    kf_links links;
    double samples_per_cell; /* as requested */
    uint64_t seed;
    kf_smoke_sources smoke; /* lattice; not part of the hash, because it does not affect the flow */
    struct {
        const kf_scene_section *section; /* NULL: free */
        void *values;
    } sections[KF_SCENE_SECTIONS]; /* sections that the file has or a system has set */

    /* Nested grids (solver/kinetic/nested.h). finer[l] is the whole domain in cells half as wide as those of
     * the level before it. It is used only in boxes[l], which is in cells of that level. Only the finest has
     * samples; of scenes opened from files it also has the mesh. */
    bool outer_ones; /* all grids but the finest have KF_RATE_ONES, whatever rate_rule says */
    int finer_count; /* 0: one grid */
    kf_scene *finer[KF_FINER_LEVELS];
    kf_cell_box boxes[KF_FINER_LEVELS];
    /* Only in the scene of one level: the nodes that the next finer level covers, and the layers of nodes
     * beyond the level's box at each face. */
    kf_cell_box covered;
    int ghosts[KF_FACES];
    int origin[3]; /* node of the whole domain at which the level's grid begins */
    int level;     /* l + 1 for finer[l]; its steps are 2^level times shorter than the coarsest grid's */

    char *notes; /* one line for each default that was chosen for the user, to be printed */
};

/* Options of the command line that override the scene. Zero: as the scene says. */
typedef struct kf_scene_options {
    int nodes[3];
    double samples_per_cell;
    double accuracy; /* accuracy of the model, KF_DEFAULT_ACCURACY .. KF_LOOSEST_ACCURACY */
    uint64_t seed;   /* 0: that of the scene */
    /* Returns the bytes of memory of the devices that will run the scene, 0 where they are not known. It is
     * called for large scenes only. One that cannot fit is refused before it is made. NULL: there is no
     * check. */
    double (*memory)(const void *context);
    const void *memory_context;
    /* Nothing will run the scene. A large scene's samples are then only counted, and its hash is empty. */
    bool described;
    /* If > 0, the grid is made coarser (same proportions, same physics) until it has at most this many
     * nodes. */
    long node_limit;
    /* Sections of systems that the file may have, NULL-terminated (kf_system.scene_section of each); NULL:
     * none. */
    const kf_scene_section *const *sections;
    bool checked; /* the file was checked when it was opened first, so unknown top-level keys are ignored */
} kf_scene_options;

/* Opens FILE (a mesh: .obj .stl .ply .gltf .glb; or a scene: .json) or the NAME of a shipped scene, and
 * builds mesh, placement, lattice units and samples. The caller frees it with kf_scene_free. */
kf_status kf_scene_open(const char *file_or_name, const kf_scene_options *options, kf_scene **scene,
                        kf_error *error);
void kf_scene_free(kf_scene *scene);

/* Returns the values of a section; NULL: the scene does not have it, which means all zero. */
void *kf_scene_section_values(const kf_scene *scene, const kf_scene_section *section);
/* Replaces the values of a section. The scene does not free them. */
void kf_scene_set_section(kf_scene *scene, const kf_scene_section *section, void *values);
/* Returns the values of a section. If the scene has none, it makes zeroed ones, which kf_scene_free frees. */
void *kf_scene_make_section(kf_scene *scene, const kf_scene_section *section);

/* Returns the scene of the finest grid: the last of nested grids, else the scene itself. */
const kf_scene *kf_scene_finest(const kf_scene *scene);
/* Returns the scene whose grid is used for fields, pictures and probes: of nested grids the finest with at
 * most KF_OUTPUT_NODES nodes in the whole domain. */
enum { KF_OUTPUT_NODES = 1 << 25 };
const kf_scene *kf_scene_of_outputs(const kf_scene *scene);
/* Converts a place from the coarsest grid's lattice coordinates to those of a level. */
void kf_scene_place_on_level(const kf_scene *level, const double coarsest[3], double place[3]);
int kf_scene_output_level(const kf_scene *scene); /* 0: the coarsest */
/* Returns the nodes of a level's box (level 0: the coarsest grid). A level takes 2^level steps for each step
 * of the coarsest. */
double kf_scene_level_nodes(const kf_scene *scene, int level);
/* Finds the first cell of a level's grid along an axis, and the one behind its last, in cells of the level
 * from the domain's corner. */
void kf_scene_level_cells(const kf_scene *scene, int level, int axis, int cells[2]);
double kf_scene_all_nodes(const kf_scene *scene);    /* of all its grids */
double kf_scene_step_updates(const kf_scene *scene); /* of nodes in a step of the coarsest */
/* KF_BAD_INPUT if a box of nested grids is empty, leaves the domain, comes closer than KF_NESTED_MARGIN to
 * the sides of its level, or touches a face whose kind does not allow it; also if the finest box comes closer
 * than KF_NESTED_ROOM to the solid's samples, or KF_NESTED_LINK_ROOM to a solid by links. */
kf_status kf_scene_check_boxes(const kf_scene *scene, kf_error *error);
/* Finds the links that the surface of the placed mesh cuts at time 0, and replaces scene->links by them;
 * kf_scene_free frees them. KF_BAD_INPUT if there are none, or if links cannot follow the solid's motion. */
kf_status kf_scene_cut_links(kf_scene *scene, kf_error *error);

/* The signed distance of the solid in cells, in its own frame at time 0: negative inside, and limited to two
 * cells. */
typedef struct kf_distance_grid {
    int size[3];
    double corner[3], spacing; /* place of the first value, and distance between values, in cells */
    float *values;             /* [z][y][x]; owned */
} kf_distance_grid;
/* Finds how far a moving solid reaches from its centre to both sides of each axis at all times; half of an
 * axis along which its mesh is longer than the domain. */
void kf_scene_moving_reach(const kf_scene *scene, double below[3], double above[3]);
/* Computes the distance to the scene's mesh (distance.c). The caller frees grid->values. */
void kf_scene_distance(const kf_scene *scene, kf_distance_grid *grid);
/* Interpolates it at a place in the solid's axes, trilinearly; places outside have the value of the grid's
 * nearest point. */
double kf_distance_at(const kf_distance_grid *grid, const double place[3]);
/* Returns whether the law of the wall acts at a position (in nodes) of the solid's surface: the scene has a
 * law, and the layer there is not laminar (trip). */
bool kf_scene_turbulent_at(const kf_scene *scene, const double position[3]);
/* Returns the thickness in cells of a turbulent layer at the solid's end, behind its length x along the
 * inflow: 0.37 x Re_x^-0.2 (Schlichting and Gersten, Boundary-Layer Theory, for a flat plate). 0: there is no
 * stream. */
double kf_scene_layer_thickness(const kf_scene *scene);

/* Makes the same scene on a coarser grid, for a cheap check of a config. Reynolds number, boundaries and
 * samples per cell stay the same. It has at most node_limit nodes. Of nested grids at most three are kept,
 * and as few as their boxes leave room for. */
kf_status kf_scene_reduce(const kf_scene *scene, long node_limit, kf_scene **reduced, kf_error *error);

/* Converts the scene to a time step that is `ratio` times as long. Its hash stays. */
void kf_scene_stretch_time(kf_scene *scene, double ratio);
/* Returns the largest speed that the scene names, in cells a step: of the reference speed, the initial
 * velocity and the velocities of faces. */
double kf_scene_fastest(const kf_scene *scene);
/* Returns whether any of the domain's faces is of one kind. */
bool kf_scene_has_face(const kf_scene *scene, kf_boundary kind);
/* Returns the fastest face of one kind, of equal ones the first; -1: there is none. */
int kf_scene_fastest_of(const kf_scene *scene, kf_boundary kind);
/* Finds the velocity (lattice) of the fastest face of one kind; 0 if none moves. Returns its length. */
double kf_scene_fastest_face(const kf_scene *scene, kf_boundary kind, double velocity[3]);

/* Returns whether fluid enters with mask_velocity at nodes of the mask. */
bool kf_scene_mask_has_stream(const kf_scene *scene);

/* Computes density and velocity (lattice) at time 0 at node (i,j,k). */
void kf_scene_initial(const kf_scene *scene, int i, int j, int k, double *density, double velocity[3]);
/* Returns whether density and velocity at time 0 are equal at all nodes. */
bool kf_scene_starts_uniform(const kf_scene *scene);
/* Returns an axis along which the flow never varies, or -1. Its faces are periodic, and initial state and
 * solid are constant along it. Samples lie at random places, so a solid with samples is never constant. */
int kf_scene_even_axis(const kf_scene *scene);

/* Computes the pose of the solid after `step` steps of a prescribed motion (lattice): x(t) = rotation (x0 -
 * center0) + center(t). rotation is row-major 3x3. Only its plan knows the pose of a free solid
 * (kf_flow_pose). */
void kf_motion_pose(const kf_motion *motion, double step, double rotation[9], double center[3]);

/* Returns the scene. If it has several solids, returns a copy whose mesh is placed as after `step` steps of
 * the coarsest grid; kf_scene_free_placed frees it. */
const kf_scene *kf_scene_placed(const kf_scene *scene, double step);
void kf_scene_free_placed(const kf_scene *scene, const kf_scene *placed);
/* KF_BAD_INPUT, naming the system, if a scene has several solids. */
kf_status kf_scene_refuse_solids(const kf_scene *scene, const char *system, kf_error *error);

/* Returns the speed, in cells a step and not negative, with which the stream leaves through an outflow face.
 * It is the component of the inflow's velocity, or without one of the initial velocity, along the face's
 * normal. If this is 0 at every outflow, it is the mean speed that the mass balance requires. */
double kf_scene_outflow_speed(const kf_scene *scene, kf_face face);
/* Returns the share of the density's deviation that an outflow removes in a step: 0.27 c_s / length along the
 * axis (Rudy and Strikwerda, J. Comput. Phys. 36 (1980) 55). */
double kf_scene_outflow_pull(const kf_scene *scene, kf_face face);

/* Returns how far outside its samples a solid acts on the flow, in cells in [0, 1]. Samples are placed this
 * far below the surface. scene/depth.c derives it from the kernel that spreads forces, the viscosity and the
 * rates of the collision, without a fit to a flow; it is 0.40 for a flat wall at small viscosities.
 * surface_to_volume: of the solid, in 1/cells; 0 for a flat wall, or a surface that encloses nothing. */
double kf_scene_surface_depth(const kf_scene *scene, double surface_to_volume);

/* Says whether the scene has a solid: a mesh, or solid nodes of a mask. */
bool kf_scene_has_solid(const kf_scene *scene);

/* Returns the area of force coefficients, in cells^2; 0: there is none. For a mask it is the reference length
 * times the depth of a cell. */
double kf_scene_reference_area(const kf_scene *scene);
/* Sets the area of force coefficients, in metres^2. It affects neither the flow nor the hash. */
void kf_scene_refer_to_area(kf_scene *scene, double area);

/* Returns the steps in which the stream (without one, the initial flow) crosses the domain once along its
 * main axis; 0 if it is at rest. */
double kf_scene_flow_through(const kf_scene *scene);

/* The part of a closed solid whose opposite surface is nearer than a limit. */
typedef struct kf_thin {
    double share; /* of the surface; 0: no part of it */
    double width; /* median of all widths below the limit, in cells */
    double at[3]; /* lattice: a place of the surface with this width */
} kf_thin;
/* Finds parts of the solid thinner than `limit` cells, and gaps narrower than that: between parts, and
 * between the solid and walls of the domain. It measures along lines from 4000 places of the surface. An open
 * mesh gives nothing. */
void kf_scene_thinness(const kf_scene *scene, double limit, kf_thin *parts, kf_thin *gaps);

/* Returns the shortest edge of the solid's bounding box in cells, rounded up, at least 1 (L_m of the paper,
 * section 4.5). */
int kf_scene_shortest_edge(const kf_scene *scene);

/* Finds the file that a name stands for: the file of this name, or the shipped scene. KF_BAD_INPUT with the
 * nearest name if there is none. */
kf_status kf_scene_find(const char *name, char path[KF_PATH], kf_error *error);
/* Writes a scene's name: "car" for "folder/car.scene.json", and for "car-run/scene.json", the scene in a
 * run's folder. */
void kf_scene_name(const char *path, char name[128]);

/* Returns the names of the shipped scenes, NULL-terminated. They live as long as the program. */
kf_status kf_scene_library(const char *const **names, kf_error *error);

#endif
