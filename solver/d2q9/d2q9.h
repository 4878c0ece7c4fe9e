/* The d2q9 system: two-dimensional lattice Boltzmann after Tölke 2008 (docs/d2q9.md). Only solver/d2q9/
 * includes this header; other rooms use kf_system_d2q9. */
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

/* The parameters of a config, checked against each other. */
typedef struct kf_d2q9_options {
    kf_d2q9_plan plan;
    kf_d2q9_layout layout;
    kf_d2q9_storage storage;
    long alpha;
    int alpha_log2;
    bool full_way; /* bounce-back at solid nodes happens in the node, a step later, instead of half-way */
    int threads, nodes_per_thread;
    int steps_per_launch, tile_rows; /* of the plan temporal */
    int resident_blocks;             /* launch bound; 0: none */
    bool graph;                      /* steps are replayed as a graph */
    bool folded_boundary;            /* boundaries are part of the flow's kernel; plans pull, inplace */
    int parts;                       /* devices of the team */
    bool slab;      /* on several hosts: a process has its own rows, and copies of those beside them */
    bool overlap;   /* a step may start while the preceding one ends; with folded_boundary */
    bool alternate; /* every second step visits the rows downwards; with folded_boundary */
} kf_d2q9_options;

/* The layout of the nodes in memory, ghost nodes included (kernels/d2q9/arguments.h). */
typedef struct kf_d2q9_geometry {
    int first_row, rows; /* rows that the memory holds: all, except for a slab */
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

/* A process's messages across one side of its rows in a step. packed and taken are on the device. sent and
 * come are where messages may lie: there too, or in the host's memory. All are NULL if there is no process
 * beyond the side. */
typedef struct kf_d2q9_side {
    kf_buffer *packed, *taken, *sent, *come;
} kf_d2q9_side;
/* Sides of a slab, beyond which are rows of the neighbouring processes. */
enum { KF_D2Q9_BELOW, KF_D2Q9_ABOVE, KF_D2Q9_BESIDE = 2 };

typedef struct kf_d2q9 {
    kf_d2q9_options options;
    kf_d2q9_geometry geometry;
    size_t real_bytes, store_bytes; /* bytes of a value in arithmetic, and of a stored population */
    bool has_solid;
    /* Modules of this process's first part; the first part of the run does all work other than the flow's. */
    kf_module *modules[KF_D2Q9_SOURCES];
    kf_module *flow[KF_MOST_DEVICES]; /* [part of this process] */
    kf_d2q9_arguments arguments;      /* common to all launches */
    kf_buffer *populations[2];        /* in the plan inplace both are the same buffer */
    kf_buffer *rows, *load_sums;
    int rows_at_once;          /* number of rows that fit the buffer rows */
    struct kf_flow_link *link; /* only of a slab */
    kf_d2q9_side sides[2];
    /* The links of this geometry's rows: index of the first among all links, and number. */
    int first_link, own_links;
    kf_buffer *link_values; /* of a slab with solid nodes: populations that leave along all links */
    long body_nodes;        /* number of solid nodes, for the body force on the solid */
    /* Plan temporal: a state between the first and last step of a launch, made on first use. */
    kf_buffer *between;
    uint64_t based_on; /* temporal: the step at which the present launch began */
    uint64_t between_step;
    bool between_valid;
} kf_d2q9;

/* Reads and checks the parameters of a config (d2q9_options.c). */
kf_status kf_d2q9_read_options(const kf_scene *scene, const kf_config *config, const kf_device_info *device,
                               kf_d2q9_options *options, kf_error *error);
/* Lays out the memory of `rows` rows from first_row on. */
void kf_d2q9_lay_out(const kf_scene *scene, const kf_d2q9_options *options, int first_row, int rows,
                     kf_d2q9_geometry *geometry);
void kf_d2q9_define(const kf_scene *scene, const kf_d2q9_options *options, const kf_d2q9_geometry *geometry,
                    kf_d2q9_source which, kf_source *source, kf_defines *defines);
int kf_d2q9_tile_width(const kf_d2q9_options *options);
bool kf_d2q9_is_linear(const kf_scene *scene);
/* Returns whether a face or a node lets fluid in or out, or slips. The plan temporal does not support
 * this. */
bool kf_d2q9_is_open(const kf_scene *scene);
bool kf_d2q9_has_solid(const kf_scene *scene);
/* Computes the relaxation rates of Eq. 6 in the order v, e, h, epsilon. */
void kf_d2q9_rates(const kf_scene *scene, double rates[4]);

/* Makes a buffer over the memories of a team, with the rows of each part in its own memory (d2q9.c). It has
 * node_bytes bytes a node for each of `values` values. */
kf_status kf_d2q9_spread(kf_plan *plan, const kf_d2q9 *system, size_t node_bytes, size_t values,
                         kf_buffer **buffer, kf_error *error);
/* Returns the first row of a part; its rows end at the first of the next part. part: its index in the whole
 * run. */
int kf_d2q9_first_row(const kf_plan *plan, int part);
/* Returns whether this process does the work other than the flow's for all processes. Only if processes can
 * reach each other's memory. */
bool kf_d2q9_is_first(const kf_plan *plan);

/* Processes on several hosts, which do not reach each other's memory (d2q9_slab.c). kf_d2q9_check_slab
 * refuses what they cannot run. */
kf_status kf_d2q9_check_slab(const kf_plan *plan, const kf_d2q9_options *options, kf_error *error);
/* Make the buffers and messages, and append to a step the work of the first part: packing and sending the
 * rows beside the cuts (post: the call that begins the messages), and unpacking received rows. lane:
 * KF_LANE_MAIN or KF_LANE_ASIDE. */
kf_status kf_d2q9_make_sides(kf_plan *plan, kf_d2q9 *system, kf_error *error);
kf_status kf_d2q9_append_send(kf_plan *plan, const kf_d2q9 *system, int parity, int lane, kf_error *error);
void kf_d2q9_append_post(kf_plan *plan, const kf_d2q9 *system, int parity, int lane);
kf_status kf_d2q9_append_take(kf_plan *plan, const kf_d2q9 *system, int parity, int lane, kf_error *error);
/* Collects on the device the populations that leave along all links. `a`: the arguments of the present
 * state. */
kf_status kf_d2q9_gather_links(kf_plan *plan, kf_d2q9_arguments a, kf_error *error);

/* Finds where what enters through a face that is no wall comes from a solid node or its image, as the
 * arguments' `beyond` has it, which the caller frees. Returns NULL if that is nowhere. */
unsigned char *kf_d2q9_beyond(const kf_scene *scene);
/* Uploads flags, links and open nodes (d2q9_geometry.c). */
kf_status kf_d2q9_upload_geometry(kf_plan *plan, kf_d2q9 *system, kf_error *error);

/* Makes the launches of a step (d2q9_launches.c). */
kf_status kf_d2q9_make_launches(kf_plan *plan, kf_d2q9 *system, kf_error *error);
/* Return the index of the grid with the state after `steps` steps, and how it stores it
 * (kernels/d2q9/arguments.h). */
int kf_d2q9_scheme(const kf_d2q9 *system, uint64_t steps);
int kf_d2q9_grid(const kf_d2q9 *system, uint64_t steps);
/* Fill in a launch: one pass of the plan temporal over `levels` steps; or the boundary conditions on
 * arguments.source, for open nodes, and for walls, periodic faces and solid nodes. */
kf_status kf_d2q9_temporal_launch(const kf_d2q9 *system, int levels, const void *source, void *target,
                                  kf_launch *launch, kf_error *error);
kf_status kf_d2q9_open_launch(const kf_plan *plan, const kf_d2q9 *system, kf_d2q9_arguments arguments,
                              kf_launch *launch, kf_error *error);
kf_status kf_d2q9_boundary_launch(const kf_plan *plan, const kf_d2q9 *system, kf_d2q9_arguments arguments,
                                  kf_launch *launch, kf_error *error);

/* d2q9_state.c */
extern const kf_plan_methods kf_d2q9_methods;
/* Reads density - 1 and velocity as doubles [3][y][x], for verification; 0 in solid nodes. The caller frees
 * *values. */
kf_status kf_d2q9_read(kf_plan *plan, double **values, kf_error *error);

/* d2q9_reference.c */
kf_status kf_d2q9_reference(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error);
void kf_d2q9_free_reference(kf_reference *reference);
/* d2q9_verify.c */
kf_status kf_d2q9_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                         kf_error *error);

#endif
