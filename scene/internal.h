/* The files of scene/ share this with each other: notes, meshes, shapes, sampling, and a scene as its file
 * describes it. */
#ifndef KF_SCENE_INTERNAL_H
#define KF_SCENE_INTERNAL_H

#include <cjson/cJSON.h>

#include "base/util/text.h"
#include "scene/placement.h"
#include "scene/probes.h"
#include "scene/scene.h"

/* Rodrigues: rotation by angle (radians) about a unit axis, row-major 3x3. */
void kf_rotation(const double axis[3], double angle, double rotation[9]);

/* Appends one line to the notes, without a newline after the last. */
void kf_note(kf_text *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sorts keys: permutation[r] = index of the key at rank r; stable; O(count). Every key lies in [0,
 * key_count). */
void kf_radix_order(size_t count, const uint64_t *keys, uint64_t key_count, uint32_t *permutation);
/* Returns the rank of the first key, of keys in ascending order, that is not below this one; count: all
 * are below. */
size_t kf_first_key(size_t count, const uint64_t *keys, uint64_t key);

/* ---- Meshes ---- */

enum { KF_MESH_FILE_GIB = 2 }; /* a larger mesh file is refused */

typedef struct kf_box {
    double low[3], high[3];
} kf_box;

/* True when the file's ending is one of the mesh formats that can be read. */
bool kf_mesh_is_file_name(const char *file);

/* Reads .obj .stl .ply .gltf .glb in the file's own units, in double precision where the file has it.
 * Polygons are cut into triangles, and these made one surface (mesh_mend.h); what that changed is counted in
 * the notes. Errors are KF_BAD_INPUT. Free with kf_mesh_free. */
kf_status kf_mesh_read(const char *file, kf_mesh *mesh, kf_text *notes, kf_error *error);
void kf_mesh_free(kf_mesh *mesh);
/* SHA-256 of the file as it lies there. */
kf_status kf_mesh_file_hash(const char *file, char hash[KF_HASH_HEX], kf_error *error);

/* Joins vertices that are equal to the bit and drops triangles without area; returns how many were dropped.
 */
size_t kf_mesh_clean(kf_mesh *mesh);
kf_box kf_mesh_bounds(const kf_mesh *mesh);
double kf_mesh_area(const kf_mesh *mesh);
double kf_mesh_triangle_area(const kf_mesh *mesh, size_t triangle);
/* Unit vector to the side from which the corners are counter-clockwise; 0 for a triangle without area. */
void kf_mesh_normal(const kf_mesh *mesh, size_t triangle, double normal[3]);
/* Finds what a triangle covers along an axis. */
void kf_mesh_stretch(const kf_mesh *mesh, size_t triangle, int axis, double *low, double *high);

/* Returns how many times the ray leads from its beginning to the triangle, edges included (Moeller and
 * Trumbore 1997); negative: it lies behind; INFINITY: the line does not meet it. */
double kf_mesh_ray_meets(const kf_mesh *mesh, size_t triangle, const double from[3], const double ray[3]);
/* Transforms every vertex: vertex = matrix (row-major 3x3) vertex + offset. */
void kf_mesh_transform(kf_mesh *mesh, const double matrix[9], const double offset[3]);
/* Area of the shadow in light that falls along direction, in the mesh's units squared: along 2048 lines
 * across it (fewer for huge meshes), whatever its size, so that a step of its outline counts to 1/4096 of its
 * height.
 */
double kf_mesh_shadow(const kf_mesh *mesh, const double direction[3]);

/* The solid that a closed mesh encloses, as if it had density 1. */
typedef struct kf_body {
    double volume, center[3];
    double inertia[9]; /* about the centre */
    bool inwards;      /* the triangles' normals look to the inside */
} kf_body;
/* Returns how many edges are open, or shared by triangles that look to different sides, sheets left aside;
 * with 0 of them body is set. cavities: whether what they enclose is left out, as matter is, or taken in, as
 * the stream sees it. A volume of 0 (one that is not more than a rounding) is for the caller to refuse. */
size_t kf_mesh_body(const kf_mesh *mesh, bool cavities, kf_body *body);
/* Works out the same of a solid's matter, without cavities: what lies in several bodies of the mesh is
 * there once, by integration over 1024^2 columns (to about 1e-4) where that changes anything. */
size_t kf_mesh_matter(const kf_mesh *mesh, kf_body *body);

/* Grows a mesh; the capacities belong to the builder. */
typedef struct kf_mesh_builder {
    kf_mesh mesh;
    size_t vertex_capacity, triangle_capacity;
} kf_mesh_builder;
uint32_t kf_mesh_add_vertex(kf_mesh_builder *builder, double x, double y, double z);
void kf_mesh_add_triangle(kf_mesh_builder *builder, uint32_t a, uint32_t b, uint32_t c);
/* Two triangles; a, b, c, d counter-clockwise seen from outside. */
void kf_mesh_add_quad(kf_mesh_builder *builder, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

/* ---- Shapes: closed meshes from a few numbers, metres, outward normals ---- */

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
    double low, high, fallback;
} kf_shape_parameter;

typedef struct kf_shape {
    const char *name;
    kf_shape_parameter parameters[KF_SHAPE_PARAMETERS]; /* key NULL ends the list */
    const char *(*check)(const double *values);         /* what is wrong with the values together, or NULL */
    void (*generate)(const double *values, kf_mesh_builder *builder);
} kf_shape;

enum { KF_SHAPES = 9 };
extern const kf_shape kf_shapes[KF_SHAPES];
const char *const *kf_shape_names(void);
void kf_shape_mesh(const kf_shape *shape, const double *values, kf_mesh *mesh);

/* Checks (kf_shape.check) and generators (kf_shape.generate) of shapes that have files of their own; values
 * are in the order of the shape's parameters. */
const char *kf_check_ahmed(const double *values);
void kf_shape_ahmed(const double *values, kf_mesh_builder *builder);
void kf_shape_car(const double *values, kf_mesh_builder *builder);
void kf_shape_aircraft(const double *values, kf_mesh_builder *builder);
void kf_shape_town(const double *values, kf_mesh_builder *builder);
const char *kf_check_bunch(const double *values);
void kf_shape_bunch(const double *values, kf_mesh_builder *builder); /* rods, radius, rod_radius */

/* A closed tube through rings of as many points each, closed at both ends by fans. The points of a ring run
 * counter-clockwise seen against the way from ring to ring. */
enum { KF_LOFT_POINTS = 128 };
typedef struct kf_loft {
    kf_mesh_builder *builder;
    uint32_t points, ring; /* of a ring; first vertex of the last one */
    int rings;
} kf_loft;
void kf_loft_begin(kf_loft *loft, kf_mesh_builder *builder, uint32_t points);
void kf_loft_ring(kf_loft *loft, const double (*ring)[3]);
void kf_loft_end(const kf_loft *loft);
/* Round about the line from, to: profile has a place along it (0 to 1) and a radius for each ring. points: at
 * most KF_LOFT_POINTS. */
void kf_loft_tube(kf_mesh_builder *builder, const double from[3], const double to[3], uint32_t points,
                  int rings, const double (*profile)[2]);

/* ---- Sampling ---- */

enum { KF_SAMPLES_LIMIT = 10000000 };

/* Places `count` Poisson-disk samples on the mesh by weighted sample elimination, in the order of the
 * mesh's triangles; fewer where a dozen layers and more lie within the distance of two samples. The same
 * bits for any number of threads. 1 <= count <= KF_SAMPLES_LIMIT. triangles: the triangle of each, unless
 * NULL. The area of each is the mesh's over count. Returns false, with none, after Ctrl-C. */
bool kf_sample_mesh(const kf_mesh *mesh, size_t count, uint64_t seed, kf_samples *samples,
                    uint32_t *triangles);
/* From the mesh, closed or not: open_edges, surface_depth, and solid_area, that of the surface this much
 * deeper. */
void kf_scene_set_depth(kf_scene *scene);
/* Moves the scene's samples under the surface by surface_depth, less where the solid is thinner than two of
 * it (depth.c). A surface that the stream reaches from both sides stays where it is. */
void kf_scene_sink_samples(kf_scene *scene, const uint32_t *triangles);
/* Half the distance of neighbours in the densest packing of count points on that area: r_max of Yuksel 2015.
 */
double kf_sample_radius(double area, size_t count);
void kf_samples_free(kf_samples *samples);
/* Counts the samples that the scene's solids are to have, and sets solid_area, surface_depth and open_edges;
 * of a solid by links cuts the links instead. KF_BAD_INPUT where there are too many. */
kf_status kf_scene_count_samples(kf_scene *scene, double *wanted, kf_error *error);
/* Places so many samples on the solid, or on each of several as many as it had alone. */
kf_status kf_scene_place_samples(kf_scene *scene, double wanted, kf_text *notes, kf_error *error);
void kf_links_free(kf_links *links);

/* From so many nodes or samples on a scene is large: its claims are told and checked before it is made. */
#define KF_MANY_NODES   1e8
#define KF_MANY_SAMPLES 2e5

/* ---- A scene as its file describes it: SI units ---- */

/* Places and lengths in a scene file, metres, are at most this. */
#define KF_FARTHEST 1e9
/* The lattice viscosity above which the method is inaccurate. */
#define KF_LARGEST_VISCOSITY 2.0

enum { KF_TURNS = 8 };
/* An anchor says what of the solid `position` places: the middle of its bounding box as it is turned, the
 * middle of that box's bottom (z), or the mesh's origin. */
typedef enum kf_anchor { KF_ANCHOR_CENTER, KF_ANCHOR_BOTTOM, KF_ANCHOR_ORIGIN, KF_ANCHORS } kf_anchor;
extern const char *const kf_anchor_names[KF_ANCHORS]; /* "center", "bottom", "origin" */

enum { KF_SOLID_PATH = 16 };
typedef struct kf_solid_description {
    bool present;
    char path[KF_SOLID_PATH]; /* in the file: "solid", or "solids[2]" */
    char name[KF_SOLID_NAME]; /* of one of "solids" */
    char mesh_file[KF_PATH];  /* empty when a shape is given */
    const kf_shape *shape;
    double shape_values[KF_SHAPE_PARAMETERS];
    double scale;  /* 0: from length */
    double length; /* metres along x, as placed; 0: from scale */
    kf_anchor anchor;
    double position[3]; /* of the anchor, metres from the domain's lower corner */
    int turns;
    struct {
        double axis[3], degrees;
    } turn[KF_TURNS]; /* about the anchor, in this order */
    double yaw;       /* degrees about z, after them */
    bool linked;      /* "boundary": "links" */
    bool half_way;    /* "links": "half-way" */
    bool moving, motion_center_given;
    bool free;         /* moved by the fluid; axis, angular_velocity and velocity are the initial ones */
    double density;    /* of a free solid over the fluid's */
    double gravity[3]; /* metres a second squared */
    double motion_center[3];
    double motion_axis[3], angular_velocity; /* radians a second */
    double velocity[3];                      /* metres a second */
} kf_solid_description;

/* The nodes of a two-dimensional scene: a picture, or discs. */
typedef enum kf_mask_source {
    KF_MASK_NONE,
    KF_MASK_PICTURE,
    KF_MASK_DISC,
    KF_MASK_DISC_ARRAY
} kf_mask_source;
typedef struct kf_mask_description {
    kf_mask_source source;
    char file[KF_PATH];
    double center[2], radius, spacing; /* metres; spacing: of an array that fills the domain */
    double velocity[3];                /* metres a second, at inflow nodes */
    double pressure; /* there instead, over density, above the outflow's: metres^2 a second^2 */
    bool velocity_given, pressure_given;
} kf_mask_description;

/* Nested grids: boxes, each in the one before, or levels around the solid and its wake. */
typedef struct kf_refine_description {
    int count; /* of boxes */
    struct {
        double low[3], high[3]; /* metres */
        int levels;             /* that end with this box */
    } boxes[KF_FINER_LEVELS];
    bool around_body;
    int levels; /* around the body; 0: from cells_a_length */
    double
        cells_a_length; /* of the reference length, in the finest cells; 0: as many levels as nodes allow */
    double least_cells; /* likewise, of a file that says how many: fewer are refused */
    double nodes;       /* of all levels together, at most; 0: any number */
} kf_refine_description;

typedef struct kf_description {
    char source[KF_PATH]; /* for messages */
    kf_solid_description solid;
    int solid_count; /* 0: solid says it all; else there are several, solids, and solid is only present */
    kf_solid_description solids[KF_MOST_SOLIDS];
    kf_mask_description mask;
    bool parabolic_inflow;
    int cells[3];
    double cell_size; /* metres */
    kf_boundary faces[KF_FACES];
    bool face_velocity_given[KF_FACES];
    double face_velocity[KF_FACES][3]; /* metres a second */
    double specular_share[KF_FACES];
    double speed;               /* metres a second */
    double reynolds, viscosity; /* one of them is 0 */
    double reference_length;    /* metres; 0: chosen by kf_scene_build */
    double reference_area;      /* metres^2; 0: the front at zero yaw */
    double reference_point[3];  /* metres, of moments */
    bool reference_point_given; /* else the solid's centre */
    double lattice_speed;
    double lattice_viscosity; /* sets lattice_speed by the grid; 0: not given */
    kf_initial initial;
    bool initial_velocity_given;
    double initial_velocity[3];
    double disturbance;     /* of the speed, 0 to 0.1 */
    double acceleration[3]; /* metres a second squared */
    kf_collision collision;
    kf_rate_rule rate_rule;
    kf_moment_basis basis;
    double accuracy, high_order_rate;
    int immersed_passes;
    bool wall_law; /* "wall": "law" */
    double
        trip; /* metres behind the solid's front, from which its layers are turbulent; below 0: not given */
    double samples_per_cell;
    uint64_t seed;
    kf_smoke_sources smoke; /* metres */
    kf_probe_texts probes;
    kf_refine_description refine;
    int asked_nodes[3]; /* instead of cells, with which the command line overrules them; all 0: no */
} kf_description;

/* The values that hold when a file says nothing. */
/* Returns the first inflow of a description; -1: there is none. */
int kf_description_inflow(const kf_description *description);
void kf_description_defaults(kf_description *description, const char *source);
/* Reads and checks a scene file but for the sections that options let it have; opens no mesh. */
kf_status kf_description_read(const char *file, const kf_scene_options *options, kf_description *description,
                              kf_text *notes, kf_error *error);
/* Reads those sections into the scene. */
kf_status kf_scene_read_sections(const char *file, const kf_scene_options *options, kf_scene *scene,
                                 kf_error *error);
/* Gives copy, which was made of the scene member by member, sections of its own. */
void kf_scene_copy_sections(const kf_scene *scene, kf_scene *copy);
void kf_scene_hash_sections(const kf_scene *scene, kf_hasher *hasher);
/* Reads "solid", or "solids". */
kf_status kf_description_read_solid(const char *file, const cJSON *root, kf_description *description,
                                    kf_error *error);
/* Reads "refine"; where the scene has it and no rule of its own, the rates become k17. */
kf_status kf_description_read_refine(const char *file, const cJSON *root, kf_description *description,
                                     kf_text *notes, kf_error *error);
kf_status kf_description_read_smoke(const char *file, const cJSON *root, kf_smoke_sources *smoke,
                                    kf_error *error);
/* The wind tunnel around a bare mesh (placement.c); placement NULL: nothing is said; nodes all 0: no grid is.
 * A guess that is not sure is KF_BAD_INPUT. */
kf_status kf_description_place(kf_description *description, const kf_mesh *mesh,
                               const kf_placement *placement, const int nodes[3], kf_text *notes,
                               kf_error *error);

/* The rotation that a solid's turns make, row-major 3x3. */
void kf_placing_matrix(const kf_solid_description *solid, double matrix[9]);
/* Places the mesh, or the meshes of several solids (all of which it takes over), and converts to lattice
 * units; no samples yet. */
kf_status kf_scene_build(const kf_description *description, kf_mesh meshes[KF_MOST_SOLIDS], kf_text *notes,
                         kf_scene *scene, kf_error *error);
/* How far a point of a solid that turns as prescribed comes along each axis at any time, from the motion's
 * centre. Returns its distance from the axis. */
double kf_motion_reach(const kf_motion *motion, const double at[3], double low[3], double high[3]);
/* The box of the scene's solid or solids at all times, but for where a solid travels to. */
void kf_scene_swept_box(const kf_scene *scene, double low[3], double high[3]);
/* Adds the solid whose mesh, which it takes over, is placed, and whose motion is `motion`, to those of the
 * scene. low and high: its box at all times. */
void kf_scene_add_solid(kf_scene *scene, const char *name, const kf_motion *motion, kf_mesh *mesh,
                        const double low[3], const double high[3]);
/* Completes a scene of several solids, all of which were added; about: what moments refer to, NULL: the
 * middle of the box around all. KF_BAD_INPUT where two of them overlap, or may. */
kf_status kf_scene_end_solids(kf_scene *scene, const double about[3], kf_error *error);
/* Makes the mesh of one of several solids; the caller frees it. */
kf_mesh kf_scene_solid_mesh(const kf_scene *scene, int solid);
/* Sets the boxes of nested grids that a description asks for, in cells; no finer scenes yet. */
kf_status kf_scene_set_boxes(const kf_description *description, kf_scene *scene, kf_text *notes,
                             kf_error *error);
/* The boxes that a scene's would be on another grid: grown where they leave too little room for each other
 * and for the solid, of which low and high are the bounds there. False: they do not fit. */
bool kf_scene_fit_boxes(const kf_scene *scene, const int nodes[3], const double low[3], const double high[3],
                        kf_cell_box boxes[KF_FINER_LEVELS]);
/* Makes the finer scenes of those boxes, without samples. */
void kf_scene_make_finer(kf_scene *scene);
/* In place: lengths shrink to a grid of at most node_limit nodes; nothing happens when there are no more
 * already. */
kf_status kf_scene_coarsen(kf_scene *scene, long node_limit, kf_error *error);
/* Samples, frontal area and hash: what comes after placing and coarsening. */
kf_status kf_scene_finish(kf_scene *scene, const kf_scene_options *options, kf_text *notes, kf_error *error);
/* ---- The start (initial.c) ---- */

/* Draws the waves of scene->disturbance from the scene's seed. */
void kf_scene_draw_disturbance(kf_scene *scene);

/* ---- Masks (mask.c): the nodes of two-dimensional scenes ---- */

/* Returns whether a name ends as that of a picture: .png. */
bool kf_mask_is_file_name(const char *file);
/* Width and height of the picture. */
kf_status kf_mask_size(const char *file, int nodes[3], kf_error *error);
kf_status kf_description_read_mask(const char *file, const cJSON *root, kf_description *description,
                                   kf_error *error);
/* The channel around a bare mask, d->source; nodes all 0: a node a pixel. */
kf_status kf_description_mask_tunnel(kf_description *d, const int nodes[3], kf_text *notes, kf_error *error);
/* Makes scene->mask, for scene->nodes, with the solid's bounds. */
kf_status kf_mask_make(const kf_description *d, kf_scene *scene, kf_error *error);
/* The mask on coarse nodes, of which scene->nodes are still the fine ones. */
void kf_mask_coarsen(kf_scene *scene, const int coarse[3]);

/* The grid another: the domain keeps its place around the solid. */
void kf_description_regrid(kf_description *description, const int nodes[3], kf_text *notes);

#endif
