/* Declarations that the files of scene/ share: notes, meshes, shapes, sampling, and a scene as its file
 * describes it. */
#ifndef KF_SCENE_INTERNAL_H
#define KF_SCENE_INTERNAL_H

#include <cjson/cJSON.h>

#include "base/util/text.h"
#include "scene/placement.h"
#include "scene/probes.h"
#include "scene/scene.h"

/* Computes the rotation by an angle (radians) about a unit axis, as a row-major 3x3 matrix (Rodrigues). */
void kf_rotation(const double axis[3], double angle, double rotation[9]);

/* Sorts keys, which lie in [0, key_count), stably and in O(count): permutation[r] becomes the index of the
 * key at rank r. */
void kf_radix_order(size_t count, const uint64_t *keys, uint64_t key_count, uint32_t *permutation);
/* Returns the rank of the first of the ascending keys that is not below `key`; count if all are below. */
size_t kf_first_key(size_t count, const uint64_t *keys, uint64_t key);

/* ---- Meshes ---- */

enum { KF_MESH_FILE_GIB = 2 }; /* a larger mesh file is refused */

typedef struct kf_box {
    double low[3], high[3];
} kf_box;

/* Returns whether the file's ending is that of a mesh format that kftune reads. */
bool kf_mesh_is_file_name(const char *file);

/* Reads .obj .stl .ply .gltf .glb in the file's units, in double precision if the file has it. Polygons are
 * cut into triangles, and these are joined to one surface (mesh_mend.h); the notes count the changes. A file
 * that cannot be read is KF_BAD_INPUT. Free the mesh with kf_mesh_free. */
kf_status kf_mesh_read(const char *file, kf_mesh *mesh, kf_text *notes, kf_error *error);
/* Notes that the file states another unit than the metre in which it is read. */
void kf_mesh_note_unit(const char *file, const kf_mesh *mesh, kf_text *notes);
/* Returns the name of a unit, "millimetre"; for others text, which gets its length. */
enum { KF_UNIT_TITLE = 40 };
const char *kf_unit_title(double metres, char text[KF_UNIT_TITLE]);
void kf_mesh_free(kf_mesh *mesh);
/* Computes the SHA-256 of the file's bytes. */
kf_status kf_mesh_file_hash(const char *file, char hash[KF_HASH_HEX], kf_error *error);

/* Joins vertices that are equal bit for bit, and removes triangles without area. Returns the number of
 * removed triangles. */
size_t kf_mesh_clean(kf_mesh *mesh);
kf_box kf_mesh_bounds(const kf_mesh *mesh);
double kf_mesh_area(const kf_mesh *mesh);
double kf_mesh_triangle_area(const kf_mesh *mesh, size_t triangle);
/* Computes the unit normal, towards the side from which the corners are counter-clockwise; 0 for a triangle
 * without area. */
void kf_mesh_normal(const kf_mesh *mesh, size_t triangle, double normal[3]);
/* Finds the range that a triangle covers along an axis. */
void kf_mesh_stretch(const kf_mesh *mesh, size_t triangle, int axis, double *low, double *high);

/* Returns how many times the vector `ray` leads from `from` to the triangle, edges included (Moeller and
 * Trumbore 1997). Negative: the triangle lies behind. INFINITY: the line does not meet it. */
double kf_mesh_ray_meets(const kf_mesh *mesh, size_t triangle, const double from[3], const double ray[3]);
/* Transforms every vertex: vertex = matrix (row-major 3x3) vertex + offset. */
void kf_mesh_transform(kf_mesh *mesh, const double matrix[9], const double offset[3]);
/* Returns the area of the mesh's shadow in light along `direction`, in the mesh's units squared. It is
 * measured along 2048 lines across the mesh (fewer for huge meshes), whatever its size, so that a step of its
 * outline counts to 1/4096 of its height. */
double kf_mesh_shadow(const kf_mesh *mesh, const double direction[3]);

/* The solid that a closed mesh encloses, with density 1. */
typedef struct kf_body {
    double volume, center[3]; /* in the mesh's units */
    double inertia[9];        /* row-major 3x3, about the centre */
    bool inwards;             /* the normals point to the inside */
} kf_body;
/* Returns how many edges are open, or lie between triangles that face different sides; sheets are ignored. If
 * it is 0, *body is set. cavities: they are left out, as in matter; otherwise filled, as the stream sees
 * them. A volume of 0 (within rounding) is for the caller to refuse. */
size_t kf_mesh_body(const kf_mesh *mesh, bool cavities, kf_body *body);
/* Does the same for the solid's matter, without cavities. What lies in several bodies of the mesh counts
 * once. Where this changes anything, the result is integrated over 1024^2 columns (to about 1e-4). */
size_t kf_mesh_matter(const kf_mesh *mesh, kf_body *body);

/* Builds a mesh vertex by vertex. The capacities are those of its arrays. */
typedef struct kf_mesh_builder {
    kf_mesh mesh;
    size_t vertex_capacity, triangle_capacity;
} kf_mesh_builder;
uint32_t kf_mesh_add_vertex(kf_mesh_builder *builder, double x, double y, double z);
void kf_mesh_add_triangle(kf_mesh_builder *builder, uint32_t a, uint32_t b, uint32_t c);
/* Adds two triangles. The corners a, b, c, d are counter-clockwise seen from outside. */
void kf_mesh_add_quad(kf_mesh_builder *builder, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

/* ---- Shapes: closed meshes from a few numbers in metres, with normals to the outside ---- */

enum { KF_SHAPE_PARAMETERS = 8 };
typedef enum kf_shape_kind {
    KF_SHAPE_LENGTH,
    KF_SHAPE_DEGREES,
    KF_SHAPE_INTEGER,
    KF_SHAPE_BOOLEAN
} kf_shape_kind;

typedef struct kf_shape_parameter {
    const char *key;
    kf_shape_kind kind;
    double low, high, fallback; /* least and largest value, and the default: metres, degrees, a number */
} kf_shape_parameter;

typedef struct kf_shape {
    const char *name;
    kf_shape_parameter parameters[KF_SHAPE_PARAMETERS]; /* key NULL ends the list */
    /* Returns what is wrong with the combination of values, or NULL. */
    const char *(*check)(const double *values);
    void (*generate)(const double *values, kf_mesh_builder *builder);
} kf_shape;

enum { KF_SHAPES = 9 };
extern const kf_shape kf_shapes[KF_SHAPES];
/* Returns the names of all shapes; NULL ends the list. */
const char *const *kf_shape_names(void);
/* Makes the mesh of a shape; values: in the order of its parameters. Free it with kf_mesh_free. */
void kf_shape_mesh(const kf_shape *shape, const double *values, kf_mesh *mesh);

/* Checks (kf_shape.check) and generators (kf_shape.generate) of shapes in files of their own. values: in the
 * order of the shape's parameters. */
const char *kf_check_ahmed(const double *values);
void kf_shape_ahmed(const double *values, kf_mesh_builder *builder);
void kf_shape_car(const double *values, kf_mesh_builder *builder);
void kf_shape_aircraft(const double *values, kf_mesh_builder *builder);
void kf_shape_town(const double *values, kf_mesh_builder *builder);
const char *kf_check_bunch(const double *values);
void kf_shape_bunch(const double *values, kf_mesh_builder *builder); /* rods, radius, rod_radius */

/* Builds a closed tube through rings with equal numbers of points; fans close both ends. Seen against the
 * direction from ring to ring, the points of a ring run counter-clockwise. */
enum { KF_LOFT_POINTS = 128 };
typedef struct kf_loft {
    kf_mesh_builder *builder;
    uint32_t points, ring; /* points of a ring; index of the last ring's first vertex */
    int rings;
} kf_loft;
void kf_loft_begin(kf_loft *loft, kf_mesh_builder *builder, uint32_t points);
void kf_loft_ring(kf_loft *loft, const double (*ring)[3]);
void kf_loft_end(const kf_loft *loft);
/* Adds a tube with round rings along the line from `from` to `to`. profile: for each ring its place along the
 * line (0 to 1) and its radius. points: of a ring, at most KF_LOFT_POINTS. */
void kf_loft_tube(kf_mesh_builder *builder, const double from[3], const double to[3], uint32_t points,
                  int rings, const double (*profile)[2]);

/* ---- Sampling ---- */

enum { KF_SAMPLES_LIMIT = 10000000 };

/* Places `count` Poisson-disk samples on the mesh by weighted sample elimination, in the order of the mesh's
 * triangles. 1 <= count <= KF_SAMPLES_LIMIT; where a dozen or more layers lie within the distance of two
 * samples there are fewer. Any number of threads gives the same bits. triangles (may be NULL): the triangle
 * of each sample. Each has an equal share of the mesh's area. False, without samples, after Ctrl-C. */
bool kf_sample_mesh(const kf_mesh *mesh, size_t count, uint64_t seed, kf_samples *samples,
                    uint32_t *triangles);
/* Sets open_edges, surface_depth, and solid_area (the area of the surface this much deeper) from the mesh,
 * closed or not. */
void kf_scene_set_depth(kf_scene *scene);
/* Moves the samples below the surface by surface_depth, and less where the solid is thinner than twice this
 * (depth.c). A surface with the stream on both sides does not move. */
void kf_scene_sink_samples(kf_scene *scene, const uint32_t *triangles);
/* Returns half the distance of neighbours in the densest packing of `count` points on the area: r_max of
 * Yuksel 2015. */
double kf_sample_radius(double area, size_t count);
void kf_samples_free(kf_samples *samples);
/* Computes how many samples the scene's solids get (*wanted), and sets solid_area, surface_depth and
 * open_edges. For a solid by links it cuts the links instead. KF_BAD_INPUT where there are too many
 * samples. */
kf_status kf_scene_count_samples(kf_scene *scene, double *wanted, kf_error *error);
/* Places this many samples on the solid; on each of several solids as many as it would have alone. */
kf_status kf_scene_place_samples(kf_scene *scene, double wanted, kf_text *notes, kf_error *error);
void kf_links_free(kf_links *links);
/* Returns whether a surface stays in place while it turns: whether it is one of revolution about the axis of
 * the motion, within 0.1 cells or 0.5 % of its radius. */
bool kf_scene_turns_in_place(const kf_mesh *mesh, const kf_motion *motion);
/* Sets links.leaves. KF_BAD_INPUT if the solid moves and links cannot follow it (links_turn.c). */
kf_status kf_scene_check_moving_links(kf_scene *scene, kf_error *error);
/* KF_BAD_INPUT if much of a solid by links whose surface leaves its place is thinner than a link. */
kf_status kf_scene_check_moving_thickness(const kf_scene *scene, kf_error *error);
/* Counts the nodes that cutting a solid's links looks at: around the solid and near each triangle. */
double kf_scene_link_work(const kf_scene *scene);

/* From this many nodes or samples on a scene is large: its memory is announced and checked before it is
 * made. */
#define KF_MANY_NODES   1e8
#define KF_MANY_SAMPLES 2e5
/* Links among fewer nodes than these are cut within a second, also where a scene is only described. */
#define KF_MANY_LINKED 4e6

/* ---- A scene as its file describes it: SI units ---- */

/* Largest coordinate or length in a scene file, in metres. */
#define KF_FARTHEST 1e9
/* The lattice viscosity above which the method is inaccurate. */
#define KF_LARGEST_VISCOSITY 2.0

enum { KF_TURNS = 8 };
/* The point of a solid that `position` places: the middle of the bounding box after rotation, the middle of
 * the bottom (z) of this box, or the mesh's origin. */
typedef enum kf_anchor { KF_ANCHOR_CENTER, KF_ANCHOR_BOTTOM, KF_ANCHOR_ORIGIN, KF_ANCHORS } kf_anchor;
extern const char *const kf_anchor_names[KF_ANCHORS]; /* "center", "bottom", "origin" */

enum { KF_SOLID_PATH = 16 };
typedef struct kf_solid_description {
    bool present;
    char path[KF_SOLID_PATH]; /* key path in the file: "solid", or "solids[2]" */
    char name[KF_SOLID_NAME]; /* for an entry of "solids" */
    char mesh_file[KF_PATH];  /* empty when a shape is given */
    const kf_shape *shape;
    double shape_values[KF_SHAPE_PARAMETERS];
    double scale;  /* 0: computed from length */
    bool scaled;   /* scale or length is given */
    double length; /* metres along x, as placed; 0: computed from scale */
    kf_anchor anchor;
    double position[3]; /* of the anchor, metres from the domain's lower corner */
    int turns;
    struct {
        double axis[3], degrees;
    } turn[KF_TURNS]; /* rotations about the anchor, in this order */
    double yaw;       /* degrees about z, after the rotations */
    bool linked;      /* "boundary": "links" */
    bool half_way;    /* "links": "half-way" */
    bool moving, motion_center_given;
    bool free;         /* the fluid moves it; axis, angular_velocity and velocity hold at the start */
    double density;    /* of a free solid, relative to the fluid's */
    double gravity[3]; /* metres a second squared */
    double motion_center[3];
    double motion_axis[3], angular_velocity; /* radians a second */
    double velocity[3];                      /* metres a second */
} kf_solid_description;

/* The source of the solid nodes of a two-dimensional scene: a picture, or discs. */
typedef enum kf_mask_source {
    KF_MASK_NONE,
    KF_MASK_PICTURE,
    KF_MASK_DISC,
    KF_MASK_DISC_ARRAY
} kf_mask_source;
typedef struct kf_mask_description {
    kf_mask_source source;
    char file[KF_PATH];
    /* In metres; spacing: between the discs of an array that fills the domain. */
    double center[2], radius, spacing;
    double velocity[3]; /* metres a second, at inflow nodes */
    double pressure;    /* instead of velocity, over density, relative to the outflow: metres^2 a second^2 */
    bool velocity_given, pressure_given;
} kf_mask_description;

/* Nested grids: boxes, each inside the one before, or levels around the solid and its wake. */
typedef struct kf_refine_description {
    int count; /* of boxes */
    struct {
        double low[3], high[3]; /* metres */
        int levels;             /* levels that end with this box */
    } boxes[KF_FINER_LEVELS];
    bool around_body;
    int levels;            /* around the body; 0: computed from cells_a_length */
    double cells_a_length; /* finest cells along the reference length; 0: as many levels as nodes allow */
    double least_cells;    /* the least that a file accepts: a grid with fewer is refused */
    double nodes;          /* most nodes of all levels together; 0: no limit */
} kf_refine_description;

typedef struct kf_description {
    char source[KF_PATH]; /* for messages */
    kf_solid_description solid;
    /* 0: `solid` is the only one. Otherwise `solids` describes them, and of solid only `present` is set. */
    int solid_count;
    kf_solid_description solids[KF_MOST_SOLIDS];
    kf_mask_description mask;
    bool parabolic_inflow;
    int cells[3];
    double cell_size; /* metres */
    kf_boundary faces[KF_FACES];
    bool face_velocity_given[KF_FACES];
    double face_velocity[KF_FACES][3]; /* metres a second */
    double specular_share[KF_FACES];   /* of a wall, 0 to 0.95 */
    double speed;                      /* metres a second */
    double reynolds, viscosity;        /* one of them is 0; viscosity in metres^2 a second */
    double reference_length;           /* metres; 0: chosen by kf_scene_build */
    double reference_area;             /* metres^2; 0: the frontal area at zero yaw */
    double reference_point[3];         /* of moments, metres */
    bool reference_point_given;        /* else the solid's centre */
    double lattice_speed;              /* `speed` in cells a step */
    double lattice_viscosity;          /* if it is not 0, it and the grid determine lattice_speed */
    kf_initial initial;
    bool initial_velocity_given;
    double initial_velocity[3]; /* metres a second */
    double disturbance;         /* share of the speed, 0 to 0.1 */
    double acceleration[3];     /* metres a second squared */
    kf_collision collision;
    kf_rate_rule rate_rule;
    bool outer_ones; /* "outer_rates": "ones" */
    kf_moment_basis basis;
    double accuracy, high_order_rate; /* relative error; rate, 0.01 to 1.999 */
    int immersed_passes;
    bool wall_law; /* "wall": "law" */
    /* Metres behind the solid's front where its boundary layers become turbulent; below 0: not given. */
    double trip;
    bool layers;             /* "layers": "modelled" */
    double samples_per_cell; /* samples for each cell^2 of surface */
    uint64_t seed;           /* of the samples and the disturbance */
    kf_smoke_sources smoke;  /* metres */
    kf_probe_texts probes;
    kf_refine_description refine;
    int asked_nodes[3]; /* the grid of the command line, instead of cells; all 0: not given */
} kf_description;

/* Returns the fastest inflow of a description, of equal ones the first; -1: there is none. */
int kf_description_inflow(const kf_description *description);
/* Sets the values that hold when a file does not give them. */
void kf_description_defaults(kf_description *description, const char *source);
/* Reads and checks a scene file, without the sections that options allow. It opens no mesh. */
kf_status kf_description_read(const char *file, const kf_scene_options *options, kf_description *description,
                              kf_text *notes, kf_error *error);
/* Reads the sections that options allow into the scene. */
kf_status kf_scene_read_sections(const char *file, const kf_scene_options *options, kf_scene *scene,
                                 kf_error *error);
/* Gives `copy`, a shallow copy of the scene, its own copies of the sections. */
void kf_scene_copy_sections(const kf_scene *scene, kf_scene *copy);
void kf_scene_hash_sections(const kf_scene *scene, kf_hasher *hasher);
/* Reads "solid", or "solids". */
kf_status kf_description_read_solid(const char *file, const cJSON *root, kf_description *description,
                                    kf_error *error);
/* Reads "refine". A scene that has it, and no rate rule of its own, gets the rule k17. */
kf_status kf_description_read_refine(const char *file, const cJSON *root, kf_description *description,
                                     kf_text *notes, kf_error *error);
kf_status kf_description_read_smoke(const char *file, const cJSON *root, kf_smoke_sources *smoke,
                                    kf_error *error);
/* Describes the wind tunnel around a bare mesh (placement.c). placement NULL: the user gives nothing; nodes
 * all 0: no grid is given. An uncertain guess is KF_BAD_INPUT. */
kf_status kf_description_place(kf_description *description, const kf_mesh *mesh,
                               const kf_placement *placement, const int nodes[3], kf_text *notes,
                               kf_error *error);

/* Computes the rotation that a solid's turns and yaw make, as a row-major 3x3 matrix. */
void kf_placing_matrix(const kf_solid_description *solid, double matrix[9]);
/* Places the mesh, or the meshes of several solids, which it takes over, and converts everything to lattice
 * units. It places no samples. */
kf_status kf_scene_build(const kf_description *description, kf_mesh meshes[KF_MOST_SOLIDS], kf_text *notes,
                         kf_scene *scene, kf_error *error);
/* Finds the range along each axis, from the motion's centre, that a point of a turning solid covers at any
 * time. Returns the point's distance from the axis. */
double kf_motion_reach(const kf_motion *motion, const double at[3], double low[3], double high[3]);
/* Finds the box around the scene's solids at all times of a rotation; translation is not included. */
void kf_scene_swept_box(const kf_scene *scene, double low[3], double high[3]);
/* Adds a solid with its placed mesh, which it takes over, and its motion to the scene's solids. low and high:
 * its box at all times. */
void kf_scene_add_solid(kf_scene *scene, const char *name, const kf_motion *motion, kf_mesh *mesh,
                        const double low[3], const double high[3]);
/* Completes a scene after all of its solids were added. about: the point to which moments refer; NULL: the
 * middle of the box around all solids. KF_BAD_INPUT where two solids overlap, or may overlap at some time. */
kf_status kf_scene_end_solids(kf_scene *scene, const double about[3], kf_error *error);
/* Copies the mesh of one of several solids. The caller frees it. */
kf_mesh kf_scene_solid_mesh(const kf_scene *scene, int solid);
/* Computes, in cells, the boxes of nested grids that a description asks for. It does not make the finer
 * scenes. */
kf_status kf_scene_set_boxes(const kf_description *description, kf_scene *scene, kf_text *notes,
                             kf_error *error);
/* Computes the scene's boxes on another grid. They are enlarged where they leave too little room for each
 * other or for the solid, whose bounds on that grid are low and high. False: they do not fit. */
bool kf_scene_fit_boxes(const kf_scene *scene, const int nodes[3], const double low[3], const double high[3],
                        kf_cell_box boxes[KF_FINER_LEVELS]);
/* Makes the finer scenes of the scene's boxes, without samples. */
void kf_scene_make_finer(kf_scene *scene);
/* Changes the scene to a grid of at most node_limit nodes, in place. If it has no more already, nothing
 * changes. */
kf_status kf_scene_coarsen(kf_scene *scene, long node_limit, kf_error *error);
/* Places samples and computes frontal area and hash. It comes after placing and coarsening. */
kf_status kf_scene_finish(kf_scene *scene, const kf_scene_options *options, kf_text *notes, kf_error *error);
/* ---- The start (initial.c) ---- */

/* Draws the waves of scene->disturbance from the scene's seed. */
void kf_scene_draw_disturbance(kf_scene *scene);

/* ---- Masks (mask.c): the nodes of two-dimensional scenes ---- */

/* Returns whether a file's name ends in .png. */
bool kf_mask_is_file_name(const char *file);
/* Reads width and height of the picture. */
kf_status kf_mask_size(const char *file, int nodes[3], kf_error *error);
kf_status kf_description_read_mask(const char *file, const cJSON *root, kf_description *description,
                                   kf_error *error);
/* Describes the channel around the bare mask d->source. nodes all 0: one node for each pixel. */
kf_status kf_description_mask_tunnel(kf_description *d, const int nodes[3], kf_text *notes, kf_error *error);
/* Makes the scene that a picture alone stands for, as a document that may be changed. The caller frees it. */
kf_status kf_scene_of_picture(const char *file, cJSON **document, kf_error *error);
/* Makes scene->mask for scene->nodes, and the solid's bounds. */
kf_status kf_mask_make(const kf_description *d, kf_scene *scene, kf_error *error);
/* Reduces the mask to coarse nodes; scene->nodes must still be the fine ones. */
void kf_mask_coarsen(kf_scene *scene, const int coarse[3]);

/* Changes the grid of a description. The domain keeps its place around the solid. */
void kf_description_regrid(kf_description *description, const int nodes[3], kf_text *notes);

#endif
