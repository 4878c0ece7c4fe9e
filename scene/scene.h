/* A scene: what is simulated. A mesh (or none), the domain, the flow, the motion of the solid, and the
 * samples of the solid's surface. SI units in scene files; everything below marked "lattice" is in lattice
 * units (cell = 1, time step = 1, reference density = 1), converted once, here.
 *
 * Lattice coordinates: node (i,j,k) lies at (i,j,k), 0 <= i < nodes[0] and so on; the domain's faces lie half
 * a cell outside the outermost nodes (-0.5 and nodes-0.5), where half-way bounce-back puts its walls. */
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

/* KF_PERIODIC, KF_WALL ...: kernels/choices.h says what each means. */
#define KF_BOUNDARY_NUMBER(name, word) name = name##_FACE,
typedef enum kf_boundary { KF_EACH_FACE(KF_BOUNDARY_NUMBER) KF_BOUNDARIES } kf_boundary;
extern const char *const kf_boundary_names[KF_BOUNDARIES];
extern const char *const kf_face_names[KF_FACES]; /* "xmin", ... */

/* The last three are two-dimensional: the linear ones leave out the quadratic terms, for Stokes flow. */
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

/* How acm_mrt chooses the relaxation rate of the moments of order three and more (reference:
 * docs/physics.md). */
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

/* Moments of order four to six in acm_mrt: central-Hermite, or the paper's raw central moments. */
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

/* A section of a scene's file that belongs to one system, which reads it; other systems run the scene without
 * it. The system's values lie in the scene (kf_scene_section_values). */
typedef struct kf_scene_section {
    const char *name; /* its key in the file */
    size_t size;      /* of its values; all zero is what holds when the file says nothing */
    kf_status (*read)(const char *file, const cJSON *section, void *values, kf_error *error);
    void (*hash)(const void *values, kf_hasher *hasher); /* adds what changes the result */
} kf_scene_section;
enum { KF_SCENE_SECTIONS = 4 };

/* Prescribed rigid motion: x(t) = center + velocity t + R(axis, angular_speed t) (x0 - center); or the
 * initial motion of a free solid, which the fluid then moves. Lattice units. */
typedef struct kf_motion {
    bool moving;
    bool free; /* moving as well; center is the centre of mass */
    double excess_mass,
        excess_inertia[9]; /* of a free solid, more than the fluid's in its place; about center */
    double gravity[3];     /* on a free solid's excess mass */
    double center[3];
    double axis[3];       /* unit vector */
    double angular_speed; /* radians a step */
    double velocity[3];   /* cells a step */
} kf_motion;

/* One of several solids, each at rest or turning about a fixed axis as prescribed. Lattice units. */
enum { KF_MOST_SOLIDS = 8, KF_SOLID_NAME = 17 };
typedef struct kf_solid {
    char name[KF_SOLID_NAME];
    kf_motion motion;       /* moving: it turns; torque is about center, of a resting one, too */
    size_t first_vertex;    /* of its mesh in the scene's, up to that of the next */
    double low[3], high[3]; /* the box of its mesh at all times */
} kf_solid;

/* Surface samples at time 0, lattice coordinates: kf_scene_surface_depth under the surface. area: surface a
 * sample stands for, in cells^2; they add up to solid_area. Between faces that are not periodic, a sample
 * keeps at least 1/1000 of a cell inside the outermost nodes, so floor(x) and floor(x) + 1 are nodes (in
 * single precision too). Along a periodic axis it lies in [-0.5, nodes - 0.5], and whoever uses it wraps the
 * nodes. */
typedef struct kf_samples {
    size_t count;
    double *x, *y, *z;
    double *area;
    unsigned char *solid; /* of several: which of them; NULL where there is one. Ascending */
} kf_samples;

enum { KF_LINK_BEHIND = 2 };
/* A node, and a link's direction there, -1 .. 1 along each axis: a mirroring face turns it. */
typedef struct kf_link_node {
    int node[3];
    signed char direction[3];
} kf_link_node;
/* A link from a node of the fluid to a neighbour that a static solid's surface cuts. */
typedef struct kf_link {
    kf_link_node
        at[1 + KF_LINK_BEHIND]; /* the node, and those behind it, with the direction to the surface */
    kf_link_node inner;         /* the neighbour, with the same direction */
    int behind;       /* so many of the nodes behind are the fluid's; 0 where links are cut half-way */
    double share;     /* of the link that lies outside of the surface, 0 .. 1 */
    double normal[3]; /* of the surface there, towards the fluid */
} kf_link;
/* The Reynolds number of a solid's length up to which no layer along it is turbulent: that of a plate at
 * whose end a laminar layer, 0.664 sqrt(Re), has 320 by its momentum thickness, below which a turbulent one
 * does not last (Preston, J. Fluid Mech. 3, 373, 1958). */
#define KF_LAMINAR_REYNOLDS 2.3e5
/* A node of the fluid beside the surface, for a law of the wall. */
typedef struct kf_wall_node {
    size_t first, count; /* of its links, which follow each other */
    int seen[3];         /* the node that the law looks at, some two cells from the surface */
    double normal[3];    /* of the surface, towards the fluid: the mean of its links' */
    double area;         /* cells^2 of the surface that its links stand for */
    double height;       /* cells from the surface to the node that the law looks at; 0: no law there */
} kf_wall_node;
typedef struct kf_links {
    size_t count;
    kf_link *link;
    size_t
        thin_count; /* links between nodes of the fluid: parts of the solid are thinner than a cell there */
    /* Nodes that the stream does not reach; first those beside the fluid, or at a face of the domain. */
    size_t inside_count, shell_count;
    int (*inside)[3];
    size_t wall_count; /* 0 without a law of the wall */
    kf_wall_node *wall;
} kf_links;

/* A triangle mesh; coordinates in the file's own units until kf_scene_build places it. */
typedef struct kf_mesh {
    size_t vertex_count, triangle_count;
    double *vertices;    /* [vertex_count][3] */
    uint32_t *triangles; /* [triangle_count + inner_count][3] */
    size_t sheet_count; /* the last of the triangle_count: of sheets on a closed surface, wet on both sides */
    size_t
        inner_count; /* behind them: of cavities that no stream reaches; only the solid's matter knows them */
} kf_mesh;

/* Kinds of nodes of a two-dimensional scene. At an open node the moments of the nearest fluid node hold,
 * with the momentum (inflow) or the density (outflow, or inflow with a pressure) replaced. */
typedef enum kf_node_kind {
    KF_NODE_FLUID,
    KF_NODE_SOLID,
    KF_NODE_INFLOW,
    KF_NODE_OUTFLOW,
    KF_NODE_KINDS
} kf_node_kind;

#define KF_DEFAULT_ACCURACY 1e-4
#define KF_LOOSEST_ACCURACY 0.1

/* Smoke comes from emitters: tracers appear at random places of an emitter, at a steady rate. */
typedef enum kf_emitter_shape {
    KF_EMITTER_BOX,
    KF_EMITTER_DISC,
    KF_EMITTER_RAKE, /* equally spaced nozzles along a line, each a ball */
    KF_EMITTER_SHAPES
} kf_emitter_shape;
extern const char *const kf_emitter_shape_names[KF_EMITTER_SHAPES]; /* "box", "disc", "rake" */

typedef struct kf_emitter {
    kf_emitter_shape shape;
    double rate;           /* tracers a step */
    double from[3], to[3]; /* lower and upper corner of the box, first and last nozzle of the rake; from:
                            * centre of the disc */
    double normal[3];      /* of the disc, unit vector */
    double radius;         /* of the disc, or of a nozzle */
    int nozzles;
} kf_emitter;

/* Smoke in pictures is coloured by one of these. */
typedef enum kf_smoke_paint {
    KF_PAINT_NONE,  /* white, as its density and the light have it */
    KF_PAINT_AGE,   /* of its tracers, up to the time that the stream takes through the domain */
    KF_PAINT_SPEED, /* of its tracers, up to twice the stream's */
    KF_SMOKE_PAINTS
} kf_smoke_paint;
extern const char *const kf_smoke_paint_names[KF_SMOKE_PAINTS]; /* "none", "age", "speed" */

/* The solid is made of one of these in pictures of smoke. */
typedef enum kf_smoke_body { KF_BODY_LACQUER, KF_BODY_STONE, KF_SMOKE_BODIES } kf_smoke_body;
extern const char *const kf_smoke_body_names[KF_SMOKE_BODIES]; /* "lacquer" (red), "stone" */

enum { KF_EMITTERS = 8, KF_TRACERS_LIMIT = 20000000 };
typedef struct kf_smoke_sources {
    int count; /* 0: none are given */
    kf_emitter emitters[KF_EMITTERS];
    long capacity;  /* tracers kept at most, the oldest give way; 0: whoever makes smoke chooses */
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
    /* Cells of a level between its sides and the next finer box, at least: what its own means are taken of
     * lies outside of that box, or in its rim. */
    KF_NESTED_MARGIN = 3,
    KF_NESTED_ROOM = 2 /* cells of the finest level between its sides and the solid, at all times */
};

typedef struct kf_scene kf_scene;
struct kf_scene {
    char name[128];         /* file name without folder and endings, for output files */
    char source[KF_PATH];   /* scene or mesh file, absolute; or the shipped scene's name */
    char hash[KF_HASH_HEX]; /* of everything that changes the physics, samples included; "": they are not
                             * there (kf_scene_options.described) */

    int nodes[3];
    double cell_size; /* metres */
    double time_step; /* seconds */

    kf_boundary faces[KF_FACES];
    double face_velocity[KF_FACES][3]; /* lattice */
    double specular_share[KF_FACES];   /* of what a wall reflects, in [0, 0.95]; the rest is sent back */
    kf_initial initial;
    double initial_velocity[3]; /* lattice; for Taylor-Green, [0] is the amplitude */
    double disturbance; /* root mean square of the waves that each component gains at the start, lattice */
    /* Of a wave along an axis, in a component, with 1 and more periods in the domain: cosine and sine of its
     * phase, times the amplitude where all waves of a component together have a mean square of 1. */
    double disturbing[3][3][KF_DISTURBING_WAVES][2];
    /* Replaces initial when it is set: the state at time 0 of a scene made in memory. Not part of the hash.
     */
    void (*initial_state)(const void *context, int i, int j, int k, double *density, double velocity[3]);
    const void *initial_context;
    double body_force[3]; /* lattice, force density */

    double reynolds;         /* of reference_length and reference_speed; 0 when neither is defined */
    double reference_length; /* lattice */
    double reference_speed;  /* lattice */
    double viscosity;        /* lattice, kinematic */
    kf_collision collision;
    kf_rate_rule rate_rule; /* of rm_mrt: suga_2015, constant or ones */
    kf_moment_basis basis;  /* of acm_mrt */
    double accuracy;        /* relative error of fields that storage may add, KF_DEFAULT_ACCURACY .. 0.1 */
    double high_order_rate; /* used by KF_RATE_CONSTANT, in (0, 2) */

    double solid_low[3], solid_high[3]; /* bounding box at time 0, lattice; equal when there is no solid */
    double solid_area;                  /* cells^2 inside the outermost nodes, surface_depth under the mesh:
                                         * what the samples stand for */
    double surface_depth;               /* cells by which the samples lie under the surface */
    size_t open_edges;                  /* of the mesh; or between triangles that look to different sides */
    double frontal_area;                /* cells^2, projected along the inflow; 0 without solid or inflow */
    double yaw;                         /* degrees that the solid is turned about z, for axes of its own */
    double reference_area;              /* cells^2 of force coefficients: as given, else the frontal area at
                                         * zero yaw; 0: there is none (see kf_scene_reference_area) */
    bool reference_area_given;
    double moment_center[3]; /* lattice: of a solid at rest, what moments refer to */
    kf_mesh mesh;            /* placed, lattice coordinates; empty when there is no solid */
    kf_motion motion;
    /* Several solids, solids[0 .. solid_count - 1]; 0: one or none. Mesh, box and samples above are then
     * those of all together, and motion stays at the point that moments of all refer to, moving without
     * speeds. */
    int solid_count;
    kf_solid solids[KF_MOST_SOLIDS];
    unsigned char *mask;     /* kf_node_kind [y][x]; NULL: fluid everywhere; only with nodes[2] == 1.
                              * solid_low and solid_high then bound its solid nodes' cells */
    double mask_velocity[3]; /* lattice, at the mask's inflow nodes */
    double mask_density;     /* density - 1 there, where it is given and the velocity is not */
    bool mask_has_pressure;  /* that it is so */
    bool parabolic_inflow;   /* face_velocity of an inflow face is the mean of a parabola across it */
    int immersed_passes;     /* of the immersed boundary in a step, 1 .. KF_MOST_PASSES; 0 means 1 */
    kf_samples samples;      /* in sampling order; see scene/ordering.h */
    bool linked;             /* the solid's surface is where links are cut, and there are no samples */
    bool half_way;           /* what is sent back is not interpolated: as if links were cut half-way */
    bool wall_law;           /* friction at a solid by links follows a law of the wall where y+ is large */
    double trip;             /* cells behind its front along the inflow, from which its layers are turbulent;
                              * below 0: by its Reynolds number (KF_LAMINAR_REYNOLDS) */
    bool laminar;            /* by that law: no layer of the solid is turbulent, so that it stands nowhere */
    kf_links links;
    double samples_per_cell; /* as asked for */
    uint64_t seed;
    kf_smoke_sources smoke; /* lattice; not part of the hash, because the flow does not feel it */
    struct {
        const kf_scene_section *section; /* NULL: free */
        void *values;
    } sections[KF_SCENE_SECTIONS]; /* that the file has, or a system has set */

    /* Nested grids beside this one (solver/kinetic/nested.h): finer[l] is the whole domain in cells half as
     * wide as those of the level before it, used in boxes[l], which are cells of that level. The finest alone
     * has samples, and of the scenes opened from files the mesh beside this one. */
    int finer_count; /* 0: one grid */
    kf_scene *finer[KF_FINER_LEVELS];
    kf_cell_box boxes[KF_FINER_LEVELS];
    /* Only in the grid of a level: the nodes whose state the next finer level has, and the layers of nodes at
     * each face that lie beyond the level's box. */
    kf_cell_box covered;
    int ghosts[KF_FACES];
    int origin[3]; /* node of the whole domain that is its first node */
    int level;     /* of finer[l] l + 1: so many times its steps are half as long as the coarsest grid's */

    char *notes; /* newline-separated: every default that was chosen for the user, to be printed */
};

/* The command line may override these. Zero means "as the scene says". */
typedef struct kf_scene_options {
    int nodes[3];
    double samples_per_cell;
    double accuracy; /* of the model, KF_DEFAULT_ACCURACY .. KF_LOOSEST_ACCURACY */
    uint64_t seed;   /* 0: the scene's */
    /* Gives the bytes of memory of the devices that are to run it, 0 where they are not known. Asked of a
     * large scene alone, which is refused before it is made where it would not fit in any way. NULL: not
     * asked. */
    double (*memory)(const void *context);
    const void *memory_context;
    bool described; /* nothing will run it: the many samples of a large scene are counted, not placed, and its
                     * hash is empty then */
    long node_limit; /* > 0: scale the grid down (same aspect, same physics) to at most this many nodes */
    /* Sections of systems that the file may have, NULL-terminated (kf_system.section of each); NULL: none. */
    const kf_scene_section *const *sections;
    bool checked; /* the file was read whole when it was opened first: top-level keys that are not known here
                   * are left alone */
} kf_scene_options;

/* Opens FILE (a mesh: .obj .stl .ply .gltf .glb; or a scene: .json) or the NAME of a shipped scene, and
 * builds everything: mesh, placement, unit conversion, samples. The caller frees with kf_scene_free. */
kf_status kf_scene_open(const char *file_or_name, const kf_scene_options *options, kf_scene **scene,
                        kf_error *error);
void kf_scene_free(kf_scene *scene);

/* The values of a section; NULL: the scene has none, and what holds is all zero. */
void *kf_scene_section_values(const kf_scene *scene, const kf_scene_section *section);
/* Gives the scene these values of the section, which it does not free: they replace those that it has. */
void kf_scene_set_section(kf_scene *scene, const kf_scene_section *section, void *values);
/* The values, of which zeroed ones are made where the scene has none; kf_scene_free frees them. */
void *kf_scene_make_section(kf_scene *scene, const kf_scene_section *section);

/* The scene of the finest grid that is there: of nested grids the last, else the scene itself. */
const kf_scene *kf_scene_finest(const kf_scene *scene);
/* The scene on the grid of its fields, pictures and probes: of nested grids the finest that would have at
 * most KF_OUTPUT_NODES nodes in the whole domain. */
enum { KF_OUTPUT_NODES = 1 << 25 };
const kf_scene *kf_scene_of_outputs(const kf_scene *scene);
/* A place of the coarsest grid's lattice, in that of a level's scene. */
void kf_scene_place_on_level(const kf_scene *level, const double coarsest[3], double place[3]);
int kf_scene_output_level(const kf_scene *scene); /* 0: the coarsest */
/* Nodes of a level's grid (0: the coarsest): those of its box. A level takes 2^level steps for one. */
double kf_scene_level_nodes(const kf_scene *scene, int level);
/* The first cell of a level's grid along an axis, and the one after its last, counted from the domain's
 * corner in cells of the level. */
void kf_scene_level_cells(const kf_scene *scene, int level, int axis, int cells[2]);
double kf_scene_all_nodes(const kf_scene *scene);    /* of all its grids */
double kf_scene_step_updates(const kf_scene *scene); /* of nodes in a step of the coarsest */
/* KF_BAD_INPUT where a box of nested grids is empty, leaves the domain, comes nearer than KF_NESTED_MARGIN to
 * the sides of the level it lies in, touches a face that knows nothing of boxes; or where the finest comes
 * nearer than KF_NESTED_ROOM to the solid's samples. */
kf_status kf_scene_check_boxes(const kf_scene *scene, kf_error *error);
/* Finds the links that the surface of the mesh, which is placed, cuts: scene->links, in place of what was
 * there; kf_scene_free frees them. Only with a solid at rest. KF_BAD_INPUT where there are none. */
kf_status kf_scene_cut_links(kf_scene *scene, kf_error *error);
/* Returns whether a law of the wall stands at a position of the solid's surface, in nodes: the scene has one,
 * and the layer there is not laminar (trip). */
bool kf_scene_turbulent_at(const kf_scene *scene, const double position[3]);

/* Makes the same scene on a coarser grid: same Reynolds number, boundaries and samples per cell. It is
 * used to verify a config cheaply. At most node_limit nodes; of nested grids, at most three of which are
 * kept, as few as their boxes leave room for. */
kf_status kf_scene_reduce(const kf_scene *scene, long node_limit, kf_scene **reduced, kf_error *error);

/* Brings the scene to lattice units of a time step so many times as long; its hash stays. */
void kf_scene_stretch_time(kf_scene *scene, double ratio);
/* Cells that a step moves the flow by, as far as the scene says it: the largest of the reference speed, the
 * initial velocity and those of faces. */
double kf_scene_fastest(const kf_scene *scene);
/* Finds the largest velocity (lattice) of the faces of one kind; 0 where none moves. Returns its length. */
double kf_scene_fastest_face(const kf_scene *scene, kf_boundary kind, double velocity[3]);

/* Density and velocity (lattice) at time 0 at node (i,j,k). */
void kf_scene_initial(const kf_scene *scene, int i, int j, int k, double *density, double velocity[3]);
/* Returns whether these are the same at all nodes. */
bool kf_scene_starts_uniform(const kf_scene *scene);
/* Returns an axis along which no flow can ever differ, else -1: its faces are periodic, the start and the
 * solid are the same all along it. Samples lie by chance, so a solid with samples is never the same. */
int kf_scene_even_axis(const kf_scene *scene);

/* Pose of the solid after a number of steps of a prescribed motion (lattice): x(t) = rotation (x0 - center0)
 * + center(t). rotation is row-major 3x3. A free solid's pose is known to its plan only (base/plan/plan.h).
 */
void kf_motion_pose(const kf_motion *motion, double step, double rotation[9], double center[3]);

/* Returns the scene, or where it has several solids a copy of it whose mesh lies as they do after so many
 * steps of the coarsest grid. kf_scene_free_placed frees that copy. */
const kf_scene *kf_scene_placed(const kf_scene *scene, double step);
void kf_scene_free_placed(const kf_scene *scene, const kf_scene *placed);
/* KF_BAD_INPUT, naming the system, where a scene has several solids. */
kf_status kf_scene_refuse_solids(const kf_scene *scene, const char *system, kf_error *error);

/* Speed, in cells a step and not negative, with which the stream leaves through an outflow face: that of the
 * inflow (or of the fluid at first, without one) along the face's normal; where this is 0 at every outflow,
 * what the mass balance asks for on the average. */
double kf_scene_outflow_speed(const kf_scene *scene, kf_face face);
/* Share of the density's deviation that an outflow takes back in a step, 0.27 c_s / length along the axis
 * (Rudy and Strikwerda, J. Comput. Phys. 36 (1980) 55). */
double kf_scene_outflow_pull(const kf_scene *scene, kf_face face);

/* How far (cells) outside of its samples a solid acts on the flow, and so how far under its surface they are
 * placed: derived in scene/depth.c from the kernel that spreads forces, the viscosity and the collision's
 * rates, with no fit to a flow; 0.40 for a flat wall at small viscosities. surface_to_volume of the solid in
 * 1/cells; 0 for a flat wall, or a surface that encloses nothing. In [0, 1]. */
double kf_scene_surface_depth(const kf_scene *scene, double surface_to_volume);

/* The area that force coefficients refer to, in cells^2; 0: there is none. */
double kf_scene_reference_area(const kf_scene *scene);
/* Another one from now on, in metres^2. It changes nothing of the flow, nor the hash. */
void kf_scene_refer_to_area(kf_scene *scene, double area);

/* Steps in which the stream (the fluid at first) goes once through the domain along its main axis; 0 where it
 * rests. */
double kf_scene_flow_through(const kf_scene *scene);

/* Describes the part of a closed solid's surface that has its opposite side nearer than a limit. */
typedef struct kf_thin {
    double share; /* of the surface; 0: none of it */
    double width; /* cells: the middle one of all widths below the limit */
    double at[3]; /* lattice: a place of the surface with that width */
} kf_thin;
/* Finds parts of the solid thinner than limit cells, and gaps narrower than that: between parts, and between
 * the solid and walls of the domain. Nothing of an open mesh. By lines from 4000 places of the surface. */
void kf_scene_thinness(const kf_scene *scene, double limit, kf_thin *parts, kf_thin *gaps);

/* Shortest edge of the solid's bounding box in cells, rounded up, at least 1 (L_m of the paper, section 4.5).
 */
int kf_scene_shortest_edge(const kf_scene *scene);

/* The file that a name stands for: itself, or the shipped scene of that name. KF_BAD_INPUT names the nearest.
 */
kf_status kf_scene_find(const char *name, char path[KF_PATH], kf_error *error);
/* "folder/car.scene.json" is called "car", and so is "car-run/scene.json", which a run keeps. */
void kf_scene_name(const char *path, char name[128]);

/* Names of the shipped scenes, NULL-terminated; lives as long as the program. */
kf_status kf_scene_library(const char *const **names, kf_error *error);

#endif
