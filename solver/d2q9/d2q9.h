/* The d2q9 system: two-dimensional lattice Boltzmann after Tölke 2008 (docs/d2q9.md). This header is shared
 * by the files of solver/d2q9/ and the cost model, apart from kf_system_d2q9. */
#ifndef KF_SOLVER_D2Q9_D2Q9_H
#define KF_SOLVER_D2Q9_D2Q9_H

#include "base/plan/system.h"
#include "kernels/choices.h"
#include "kernels/d2q9/arguments.h"
#include "scene/scene.h"
#include "solver/flow/flow_plan.h"

extern const kf_system kf_system_d2q9;
extern const struct kf_cost_methods kf_cost_d2q9;
extern const struct kf_suite_system kf_d2q9_suite;

typedef enum kf_d2q9_plan {
    KF_D2Q9_TOELKE,
    KF_D2Q9_SEPARATE,
    KF_D2Q9_PULL,
    KF_D2Q9_PUSH,
    KF_D2Q9_IN_PLACE,
    KF_D2Q9_TEMPORAL
} kf_d2q9_plan;
typedef enum kf_d2q9_layout {
    KF_D2Q9_AOS = KF_AOS_LAYOUT,
    KF_D2Q9_SOA = KF_SOA_LAYOUT,
    KF_D2Q9_CSOA = KF_CSOA_LAYOUT
} kf_d2q9_layout;
typedef enum kf_d2q9_storage {
    KF_D2Q9_F16 = KF_F16_STORAGE,
    KF_D2Q9_F32 = KF_F32_STORAGE,
    KF_D2Q9_F64 = KF_F64_STORAGE
} kf_d2q9_storage;

/* A config's parameters, checked against each other. */
typedef struct kf_d2q9_options {
    kf_d2q9_plan plan;
    kf_d2q9_layout layout;
    kf_d2q9_storage storage;
    long alpha;
    int alpha_log2;
    bool full_way; /* bounce back at solid nodes: in the node, a step later, instead of half-way */
    int threads, nodes_per_thread;
    int steps_per_launch, tile_rows; /* temporal */
    int resident_blocks;             /* launch bound; 0: none */
    bool graph;                      /* steps are sent as a graph */
    bool folded_boundary;            /* into the flow's kernel; plans pull, inplace */
    int parts;                       /* devices of the team */
    bool slab;                       /* of several hosts: rows of this process alone, copies beside them */
    bool overlap;                    /* a step begins while the one before it ends; folded_boundary */
    bool alternate;                  /* every second step takes the rows backwards; folded_boundary */
} kf_d2q9_options;

/* Storage of the nodes, ghosts included (kernels/d2q9/arguments.h). */
typedef struct kf_d2q9_geometry {
    int first_row, rows; /* that it is for: all, but of a slab */
    int row_pitch;
    long long origin, capacity;
    bool index64;
} kf_d2q9_geometry;

typedef enum kf_d2q9_source {
    KF_D2Q9_FLOW, /* step.cu, toelke.cu or temporal.cu */
    KF_D2Q9_BOUNDARY,
    KF_D2Q9_STATE,
    KF_D2Q9_SOURCES
} kf_d2q9_source;

/* The messages of a process across one side of its rows in a step. packed and taken are on the device,
 * sent and come where messages may lie: the same, or the host's. All are NULL where no other process is
 * there. */
typedef struct kf_d2q9_side {
    kf_buffer *packed, *taken, *sent, *come;
} kf_d2q9_side;
/* The next process's rows that a slab has copies of. */
enum { KF_D2Q9_BELOW, KF_D2Q9_ABOVE, KF_D2Q9_BESIDE = 2 };

typedef struct kf_d2q9 {
    kf_d2q9_options options;
    kf_d2q9_geometry geometry;
    size_t real_bytes, store_bytes; /* of an arithmetic value, of a stored population */
    bool has_solid;
    kf_module *modules[KF_D2Q9_SOURCES]; /* of the first part here; that of all alone does what is not the
                                            flow's */
    kf_module *flow[KF_MOST_DEVICES];    /* [part of this process] */
    kf_d2q9_arguments arguments;         /* common to all launches */
    kf_buffer *populations[2];           /* the same one twice in place */
    kf_buffer *rows, *load_sums;
    int rows_at_once;          /* that fit the buffer rows */
    struct kf_flow_link *link; /* of a slab */
    kf_d2q9_side sides[2];
    int first_link, own_links; /* of all links, those of the rows that geometry is for */
    kf_buffer *link_values;    /* of a slab with solid nodes: what leaves along all links */
    long body_nodes;           /* solid nodes, for the body force on the solid */
    kf_buffer *between; /* temporal: a state within a launch's steps, made when it is first asked for */
    uint64_t based_on;  /* temporal: the step that the present launch started from */
    uint64_t between_step;
    bool between_valid;
} kf_d2q9;

/* d2q9_options.c */
kf_status kf_d2q9_read_options(const kf_scene *scene, const kf_config *config, const kf_device_info *device,
                               kf_d2q9_options *options, kf_error *error);
/* Lays out memory for so many rows from first_row on. */
void kf_d2q9_lay_out(const kf_scene *scene, const kf_d2q9_options *options, int first_row, int rows,
                     kf_d2q9_geometry *geometry);
void kf_d2q9_define(const kf_scene *scene, const kf_d2q9_options *options, const kf_d2q9_geometry *geometry,
                    kf_d2q9_source which, kf_source *source, kf_defines *defines);
int kf_d2q9_tile_width(const kf_d2q9_options *options);
bool kf_d2q9_is_linear(const kf_scene *scene);
/* True when a face or a node lets fluid in or out, or slips: what temporal tiles cannot do. */
bool kf_d2q9_is_open(const kf_scene *scene);
bool kf_d2q9_has_solid(const kf_scene *scene);
/* Relaxation rates of Eq. 6 in the order v, e, h, epsilon. */
void kf_d2q9_rates(const kf_scene *scene, double rates[4]);

/* Makes a buffer of so many bytes a node (of each of so many values) over the memories of a team, each
 * part's rows in its own (d2q9.c). */
kf_status kf_d2q9_spread(kf_plan *plan, const kf_d2q9 *system, size_t node_bytes, size_t values,
                         kf_buffer **buffer, kf_error *error);
/* The rows of a part, by its number among those of all processes, are those from its first to the next one's.
 */
int kf_d2q9_first_row(const kf_plan *plan, int part);
/* Returns whether this process is the one that does for all what is not the flow's, where processes reach
 * each other's memory. */
bool kf_d2q9_is_first(const kf_plan *plan);

/* The file d2q9_slab.c has what those processes need that do not reach each other's memory, on several
 * hosts. */
kf_status kf_d2q9_check_slab(const kf_plan *plan, const kf_d2q9_options *options, kf_error *error);
/* Buffers and messages; and what a step gives the first part to do: rows beside the cuts are packed and sent
 * (post: the call that begins it), and what comes is taken. Lane: KF_LANE_MAIN or KF_LANE_ASIDE. */
kf_status kf_d2q9_make_sides(kf_plan *plan, kf_d2q9 *system, kf_error *error);
kf_status kf_d2q9_append_send(kf_plan *plan, const kf_d2q9 *system, int parity, int lane, kf_error *error);
void kf_d2q9_append_post(kf_plan *plan, const kf_d2q9 *system, int parity, int lane);
kf_status kf_d2q9_append_take(kf_plan *plan, const kf_d2q9 *system, int parity, int lane, kf_error *error);
/* Gathers what leaves along all links, on the device; `a` is of the present state. */
kf_status kf_d2q9_gather_links(kf_plan *plan, kf_d2q9_arguments a, kf_error *error);

/* Uploads flags, links and open nodes (d2q9_geometry.c). */
kf_status kf_d2q9_upload_geometry(kf_plan *plan, kf_d2q9 *system, kf_error *error);

/* Makes the launches of a step (d2q9_launches.c). */
kf_status kf_d2q9_make_launches(kf_plan *plan, kf_d2q9 *system, kf_error *error);
/* Scheme of the grid that a number of steps leaves, and the grid (kernels/d2q9/arguments.h). */
int kf_d2q9_scheme(const kf_d2q9 *system, uint64_t steps);
int kf_d2q9_grid(const kf_d2q9 *system, uint64_t steps);
/* Fills a launch of one temporal pass of so many levels; or of the boundary conditions on arguments.source:
 * open nodes, or walls, periodic faces and solid nodes. */
kf_status kf_d2q9_temporal_launch(const kf_d2q9 *system, int levels, const void *source, void *target,
                                  kf_launch *launch, kf_error *error);
kf_status kf_d2q9_open_launch(const kf_plan *plan, const kf_d2q9 *system, kf_d2q9_arguments arguments,
                              kf_launch *launch, kf_error *error);

kf_status kf_d2q9_boundary_launch(const kf_plan *plan, const kf_d2q9 *system, kf_d2q9_arguments arguments,
                                  kf_launch *launch, kf_error *error);

/* d2q9_state.c */
extern const kf_plan_methods kf_d2q9_methods;
/* Density - 1 and velocity [3][y][x] in double, for verification; zero in solid nodes; caller frees. */
kf_status kf_d2q9_read(kf_plan *plan, double **values, kf_error *error);

/* d2q9_reference.c */
kf_status kf_d2q9_reference(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error);
void kf_d2q9_free_reference(kf_reference *reference);
/* d2q9_verify.c */
kf_status kf_d2q9_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                         kf_error *error);

#endif
