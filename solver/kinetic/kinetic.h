/* The kinetic system: D3Q27 lattice Boltzmann with an immersed boundary. Only solver/kinetic/ includes this
 * header; other rooms use kf_system_kinetic through solver/systems.h. */
#ifndef KF_SOLVER_KINETIC_KINETIC_H
#define KF_SOLVER_KINETIC_KINETIC_H

#include "base/plan/system.h"
#include "kernels/choices.h"
#include "kernels/kinetic/arguments.h"
#include "kernels/kinetic/moving_links_arguments.h"
#include "scene/ordering.h"
#include "scene/scene.h"
#include "solver/flow/flow_plan.h"

extern const kf_system kf_system_kinetic;
extern const struct kf_cost_methods kf_cost_kinetic;
extern const struct kf_suite_system kf_kinetic_suite;

typedef enum kf_kinetic_plan {
    KF_PLAN_BASELINE,
    KF_PLAN_PAPER,
    KF_PLAN_FUSED,
    KF_PLAN_MOMENTS
} kf_kinetic_plan;
typedef enum kf_kinetic_layout {
    KF_AOS = KF_AOS_LAYOUT,
    KF_SOA = KF_SOA_LAYOUT,
    KF_CSOA = KF_CSOA_LAYOUT
} kf_kinetic_layout;
typedef enum kf_immersed { KF_GATHER, KF_SCATTER, KF_AGGREGATED } kf_immersed;

typedef enum kf_storage {
    KF_F16 = KF_F16_STORAGE,
    KF_F32 = KF_F32_STORAGE,
    KF_F64 = KF_F64_STORAGE
} kf_storage;

typedef enum kf_streaming { KF_STREAMING_TWO_GRIDS, KF_STREAMING_SHIFT } kf_streaming;

/* The order of samples in memory: as sampled, by blocks of cells, or by blocks and within these by Morton
 * code. */
typedef enum kf_sample_order { KF_ORDER_NONE, KF_ORDER_CELLS, KF_ORDER_MORTON } kf_sample_order;

/* How a team's planes beside a cut reach the other side. */
typedef enum kf_kinetic_transfer {
    KF_DIRECT,
    KF_PEER_COPIES,
    KF_THROUGH_HOST,
    KF_BY_NCCL
} kf_kinetic_transfer;
typedef enum kf_collision_form {
    KF_FACTORISED = KF_FACTORISED_FORM,
    KF_EXPANDED = KF_EXPANDED_FORM,
    KF_SHARED = KF_SHARED_FORM,
    KF_LOW_ORDER = KF_LOW_ORDER_FORM
} kf_collision_form;

/* The parameters of a config, checked against each other. */
typedef struct kf_kinetic_options {
    kf_kinetic_plan plan;
    kf_kinetic_layout layout;
    long alpha;
    int alpha_log2;
    long sample_block_length;
    kf_sample_order sample_order;
    long collision_split;
    kf_collision_form collision_form;
    int block[3];
    long velocities; /* 27, or 19 in the plan fused */
    /* Storage of populations. Arithmetic is in double precision for KF_F64, otherwise in single. */
    kf_storage storage;
    kf_streaming streaming;
    /* Planes of a launch with streaming shift, whose single grid moves to and fro; 0 with two grids. */
    long slab;
    long nodes_per_thread; /* 2: pairs along x, in the plan fused */
    long register_cap;     /* most registers of a thread on a GPU, in the plan fused; 0: no limit */
    long boundary_kernels; /* 6 or 1 kernels that fill ghost nodes; 0: boundaries are part of streaming */
    /* On the cpu: nodes of a row that are written together from the first-level cache; 0: each at once. */
    long staged_nodes;
    bool gpu;
    int parts;   /* devices of the team */
    int parts_y; /* how many parts lie side by side along y; there are parts / parts_y of them along z */
    kf_kinetic_transfer transfer;
    long sample_tenths; /* the cost of a sample as in the config, in tenths of a node's update */
    /* The cost of a sample in updates of a node, by which planes are shared out to a team. */
    double sample_cost;
    kf_immersed immersed_boundary;
    /* Samples that one item of the aggregated variant sums up; of a warp, those of each group of lanes. */
    long segment_length;
    long segment_lanes;
    long solid_block; /* threads of a block of the kernels over samples and band */
    /* Samples of a moving solid that a block sorts by cell; 0: the cells are filled from all samples. */
    long patch_length;
    bool fixed_point_force;
    bool alternate;        /* every second step visits the planes downwards */
    bool boundary_choices; /* nodes at the domain's faces select addresses instead of branching */
    bool concurrent_solid; /* the solid's kernels run beside the flow's kernel */
    bool keep_streamed;    /* band_macroscopic stores the streamed populations of the band for band_collide */
    /* The flow's kernel skips the nodes of the band, so that band_collide can run beside it. */
    bool masked_band; /* of a solid by links: the nodes inside */
    bool band_chain;  /* the kernels of a masked band are one kernel */
    /* A kernel of the band may start while the preceding one ends (programmatic dependent launch). */
    bool overlap;
    bool boundary_rows_apart; /* rows at the faces across y and z have their own kernel, which runs first */
    long prefetch_rows;       /* rows that are prefetched ahead; 0: none */
    long march;               /* planes that a block of the plan moments visits; 0 in other plans */
} kf_kinetic_options;

/* The layout of a grid's nodes in memory, ghost nodes included (kernels/kinetic/arguments.h). */
typedef struct kf_kinetic_geometry {
    int nodes[3], row_pitch;
    long long plane_pitch, origin, capacity;
    bool index64; /* indices of nodes and values have 64 bits */
    /* Indices that reach the whole domain have 64 bits, whatever the size of a team's part. */
    bool domain_index64;
    int most_planes; /* planes of a team's largest part */
    /* For a part of a team that is cut across y: rows of each plane before the first one in its memory; may
     * be negative if the domain is periodic along y. */
    int rows_before;
    /* If this keeps indices short, a team's part counts nodes from its own first plane: `before` is the
     * number of nodes before that plane. 0: it counts from the domain's first. */
    long long before;
    int shift; /* planes by which the grid moves each step; 0: there are two grids, or it does not move */
} kf_kinetic_geometry;

enum { KF_PLANE_RANGES = 3 }; /* kf_kinetic_kept_planes */
/* The modules of a plan, in the order of their files. */
typedef enum kf_kinetic_source {
    KF_SOURCE_FLOW, /* fused.cu, moments.cu or separate.cu */
    KF_SOURCE_BOUNDARY,
    KF_SOURCE_STATE,
    /* Only with a solid: immersed_band.cu in plans with a band, otherwise immersed.cu. */
    KF_SOURCE_IMMERSED,
    KF_SOURCE_MOTION,       /* only with a moving solid */
    KF_SOURCE_ORDER,        /* only where samples are listed by cell on the device */
    KF_SOURCE_LINKS,        /* only with a solid by links */
    KF_SOURCE_WALL,         /* only with a law of the wall for it */
    KF_SOURCE_MOVING_LINKS, /* instead of links.cu, with one whose surface leaves its place */
    KF_SOURCE_VELOCITY, /* only for things that the flow carries: loaded on first use, not part of a plan */
    KF_SOURCES
} kf_kinetic_source;

/* The arguments of all kernels. Each module's kernels get only the groups that they read. */
typedef struct kf_kinetic_arguments {
    int extent[3];
    int march;
    kf_kinetic_grid grid;
    kf_kinetic_part part;
    kf_kinetic_memory memory;
    kf_kinetic_node_values populations;
    kf_kinetic_fields fields;
    kf_kinetic_faces faces;
    kf_kinetic_outflow outflow;
    kf_kinetic_samples samples;
    kf_kinetic_band band;
    kf_kinetic_segments segments;
    kf_kinetic_patch_lists patches;
    kf_kinetic_links links;
    kf_kinetic_wall wall;
    kf_kinetic_moving_links moving;
    kf_kinetic_body body;
    kf_kinetic_solids solids;
    kf_kinetic_scalars scalars;
    kf_kinetic_region covered, needed;
    kf_kinetic_edges edges;
    kf_kinetic_layer layer;
} kf_kinetic_arguments;

/* Lists what a step needs the sums of over all parts: the averages, the velocities of a free solid, and the
 * mass that links have added. */
typedef enum kf_sum_kind { KF_SUM_AVERAGES, KF_SUM_BODY, KF_SUM_LINKS, KF_SUM_KINDS } kf_sum_kind;

/* Holds the sums of one kind; the buffers are NULL where there are none. */
typedef struct kf_sums {
    size_t count;
    kf_buffer *own;
    kf_buffer *all, *zeros; /* on a team: those of all parts, or their sums; and what empties own */
} kf_sums;

/* A plan's data. plan->system is an array with one entry for each part of a team. */
typedef struct kf_kinetic {
    int part, first_plane, planes; /* index of the part, and its planes; on one device all planes */
    /* Rows of each plane that the part has; all of them, unless there are cuts across y. */
    int first_row, rows;
    /* There are cuts, and the domain is periodic along y: rows beyond its seam follow the part's own. */
    bool row_ring;
    int parts;      /* parts of this process, among which `part` counts */
    int halo_width; /* planes beside the part's own whose populations it reads */
    /* In the plan moments with a solid and a grid for each part: the effect of solid and outflows on planes
     * beside a cut is computed on both sides. */
    bool computes_halo;
    bool bounced[2]; /* kf_kinetic_is_bounced for cuts across y and z */
    kf_kinetic_options options;
    kf_kinetic_geometry geometry;
    /* The geometry in which the host numbers the samples' corners. It is the same, except that it has all
     * rows if a part that is cut across y has all samples of a moving solid; no kernel sees these numbers. */
    kf_kinetic_geometry corners;
    kf_ordering ordering;
    bool has_solid, moving, free, adaptive;
    bool linked;      /* the solid acts by cut links and has no samples */
    bool leaves;      /* and its surface leaves its place (kinetic_moving_links.c) */
    bool has_samples; /* the part has samples; on one device it has them if there is a solid by samples */
    int passes;       /* of the immersed boundary in a step */
    int wraps;        /* kf_kinetic_wraps */
    bool band;        /* kf_kinetic_has_band */
    /* The aggregated variant for a static solid (segments), and for a moving one (cells, patches). */
    bool segments, cells, patches;
    size_t real_bytes, store_bytes; /* bytes of a value in arithmetic, and in storage */
    int node_values;                /* values stored at a node: populations, or moments */

    kf_module *modules[KF_SOURCES];
    kf_kinetic_arguments arguments; /* common to all launches */
    kf_order_arguments order;
    kf_buffer *populations[2]; /* or moments */
    char *grids[2];            /* beginnings of the two grids, in two buffers or in one */
    /* Populations of the band in the plan moments with a solid; on a team those of all bands. */
    kf_buffer *listed;
    kf_buffer *averages, *load_sums, *pose;
    kf_sums sums[KF_SUM_KINDS];
    /* Populations outside outflow faces, at even and at odd steps; NULL without an outflow. */
    kf_buffer *outflow[2];
    /* For the first part: the outflows of the neighbouring parts of other processes, [below, above], if it
     * can reach them. */
    kf_buffer *outflow_beside[2][2];
    size_t outflow_bytes;
    /* Memory of arguments.outflow.edge, in the plan moments on one device; NULL without an outflow across
     * x. */
    kf_buffer *edge;
    /* Memory of arguments.edges, for a level of nested grids: fresh, inner; NULL: these values are in the
     * grid. */
    kf_buffer *edges[2];
    kf_buffer *band_total; /* totals of several passes */
    /* For a moving solid: samples of each cell, and the band's nodes of each patch. */
    kf_buffer *cell_count, *patch_band;
    kf_buffer *samples[4], *sample_corner, *identity, *band_of, *band_node, *band_count, *band_force, *force,
        *slab;
    kf_launch order_launches[16]; /* list the samples by cell */
    int order_launch_count;
    /* Fill the populations outside outflows, once at the start. */
    kf_launch outflow_launch[KF_PLANE_RANGES];
    int outflow_launches;
    kf_launch load_launch; /* in plans with a band: computes the force on the solid when it is asked for */
    kf_buffer *solid_of, *solid_poses, *solid_loads; /* arguments.solids of several solids; NULL for one */
    kf_launch solids_launch;                         /* computes the force on each of several solids */
    kf_buffer *link_memory;                          /* arguments.links.memory of a solid by links */
    kf_buffer *moving_mass;                          /* arguments.moving.mass */
    kf_links links;                                  /* those that the part computes, and its nodes inside */
    int *link_order;                                 /* the scene's number of each link of the device */
    int *wall_order;                                 /* the scene's number of each node beside the surface */
    /* For a law of the wall: arguments.wall.found, and the launches that sum up the forces beside those of
     * links, and the friction. */
    kf_buffer *wall_found, *wall_force;
    kf_launch wall_launch, friction_launch;
    /* Of a model of layers: arguments.layer.state and .eddies; NULL without one. */
    kf_buffer *layer[2];
    size_t layer_bytes[2];
    int slab_planes;
    struct kf_flow_link *link;  /* of the first part, if there are several processes */
    struct kf_nccl_group *nccl; /* of the first part: the messages of a step, if NCCL sends them */
    int solution;               /* index of the populations[] that hold the state at even steps */
    bool swaps;                 /* the two grids swap roles every step */
    int band_count_static;
    int listed_before; /* entries of a team's list before those of the part */
    int listed_all;    /* entries of the list in a checkpoint, whatever the number of parts */
} kf_kinetic;

/* Makes a launch of a module's kernel, with the arguments that this module takes (kinetic_arguments.c). */
void kf_kinetic_set_launch(kf_launch *launch, const char *name, kf_function *function,
                           kf_kinetic_source source, const int block[3],
                           const kf_kinetic_arguments *arguments);

/* Selects which outflow[] is read and which written in steps of this parity, for a part and its neighbours
 * (kinetic.c). */
void kf_kinetic_choose_outflow(const kf_plan *plan, int part, int parity);

/* Make a plan and visit its sources for one grid, without nested ones (kinetic.c). */
kf_status kf_kinetic_make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                               kf_plan **plan, kf_error *error);
kf_status kf_kinetic_visit_sources(const kf_scene *scene, const kf_config *config,
                                   const kf_device_info *device,
                                   kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                                   void *data, kf_error *error);

/* Reads and checks the parameters of a config (kinetic_options.c). */
kf_status kf_kinetic_read_options(const kf_scene *scene, const kf_config *config,
                                  const kf_device_info *device, kf_kinetic_options *options, kf_error *error);
/* Reads parameters without checks, to estimate the cost of a config from an old landscape. A parameter that
 * is missing, or has a value that no longer exists, gets the value without effect. */
void kf_kinetic_read_known_options(const kf_config *config, kf_kinetic_options *options);
/* Turns options of plan fused with a march into those of a level of a scene with outer_ones: on all levels
 * but the finest the plan is moments. */
void kf_kinetic_choose_outer_plan(const kf_scene *scene, kf_kinetic_options *options);
/* Returns the alignment of rows: each begins at a multiple of so many nodes (kinetic_geometry.c). */
int kf_kinetic_row_alignment(const kf_kinetic_options *options);
/* Lays out a grid's nodes in memory. */
void kf_kinetic_lay_out(const kf_scene *scene, const kf_kinetic_options *options,
                        kf_kinetic_geometry *geometry);
/* Lays out a team's part that begins at this plane and row. */
void kf_kinetic_lay_out_part(const kf_scene *scene, const kf_kinetic_options *options, int first_plane,
                             int first_row, kf_kinetic_geometry *geometry);
/* KF_MACHINE if the largest part has more nodes than a device takes, 2^31 - 1. The whole domain, divided
 * among `parts`, may have more. */
kf_status kf_kinetic_check_size(const kf_scene *scene, int parts, double most_nodes, kf_error *error);
/* Returns the index, from the beginning of the memory, that the first node of the domain's planes would
 * have. */
long long kf_kinetic_origin(const kf_kinetic_geometry *geometry);
/* Names the file of a kernel source and defines its macros (kinetic_sources.c). Only macros that the file
 * reads are defined, so that configs which differ in nothing else share a compiled module. */
void kf_kinetic_define(const kf_scene *scene, const kf_kinetic_options *options,
                       const kf_kinetic_geometry *geometry, kf_kinetic_source which, kf_source *source,
                       kf_defines *defines);
/* Return whether the scene's collision can be divided over kernels, and whether it transforms central
 * moments. */
bool kf_kinetic_splits(const kf_scene *scene);
bool kf_kinetic_has_central_moments(const kf_scene *scene);
/* Returns whether one rate relaxes the central Hermite moments of orders 3 to 6. */
bool kf_kinetic_has_one_high_order_rate(const kf_scene *scene);
/* Returns whether nine moments represent the whole state after a collision (kernels/kinetic/moments.h). */
bool kf_kinetic_is_regularised(const kf_scene *scene);
/* Returns whether the collision exists for 19 velocities (kernels/kinetic/collision_19.h). */
bool kf_kinetic_has_19_velocities(const kf_scene *scene);
/* Returns whether the rate rule divides by averages over the domain, given the number of velocities. */
bool kf_kinetic_is_adaptive(const kf_scene *scene, long velocities);
/* Refuses a collision of another system, rates that do not go with it, and an unstable basis. */
kf_status kf_kinetic_check_collision(const kf_scene *scene, kf_error *error);
/* Refuses the rates k17 at viscosities at which they blow up. */
kf_status kf_kinetic_check_k17(const kf_scene *finest, kf_error *error);
/* Returns whether the flow's kernel may leave out the nodes inside a solid by links. It must not where
 * averages over the domain take them in, or where what waits outside of an outflow depends on them. */
bool kf_kinetic_may_be_hollow(const kf_scene *scene);
/* Returns whether the kernel that works out a link's returning population writes it to the inner node, too. A
 * node is no other link's outer one then, and nothing else writes there. */
bool kf_kinetic_puts_back(const kf_links *links, const kf_kinetic_options *options);
/* Returns whether the scene has a moving solid by samples. */
bool kf_kinetic_samples_move(const kf_scene *scene);
/* Returns whether the solid's force is stored on the band, the nodes that its samples touch (plans fused and
 * moments). */
bool kf_kinetic_has_band(const kf_kinetic_options *options);
/* Returns whether the kernels of the band are one kernel. */
bool kf_kinetic_has_chain(const kf_scene *scene, const kf_kinetic_options *options);
/* Returns whether patch_sort computes the pose of the step. It does so for a prescribed motion, if no earlier
 * kernel needs the pose. */
bool kf_kinetic_sorts_with_pose(const kf_scene *scene, const kf_kinetic_options *options);
/* Returns whether a plan needs this source (kinetic_sources.c). */
bool kf_kinetic_uses(const kf_scene *scene, const kf_kinetic_options *options, kf_kinetic_source which);
/* Returns the sides across x (bits: low, high) at which values exchanged between a level of nested grids and
 * the coarser one have arrays of their own (kernels/kinetic/edges.h). 0: they are in the grid. */
long kf_kinetic_edge_sides(const kf_scene *scene, const kf_kinetic_options *options);
/* Allocates these arrays (kinetic_edges.c). */
kf_status kf_kinetic_make_edges(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);

/* Cuts the domain into `parts` parts along an axis (1: rows, 2: planes). Part p has first[p] .. first[p + 1]
 * - 1 (kinetic_cuts.c). */
void kf_kinetic_cut(const kf_scene *scene, double sample_cost, int axis, int parts,
                    int first[KF_MOST_PARTS + 1]);
/* A box of rows and planes. kf_kinetic_cut_all finds those of all parts of a team. */
typedef struct kf_kinetic_box {
    int first[2], count[2]; /* rows, planes */
} kf_kinetic_box;
void kf_kinetic_cut_all(const kf_scene *scene, const kf_kinetic_options *options,
                        kf_kinetic_box boxes[KF_MOST_PARTS]);
/* Returns the halo width: planes or rows beside its own whose populations a part reads. */
int kf_kinetic_halo_width(const kf_scene *scene);
/* Returns the cost of a sample in updates of a node. tenths: the cost in tenths of an update; 0: the value
 * measured on a GPU. */
double kf_kinetic_sample_cost(const kf_scene *scene, long tenths);
int kf_kinetic_most_parts(const kf_scene *scene);
/* KF_BAD_INPUT, with the reason, if a team cannot run this. */
kf_status kf_kinetic_check_team(const kf_scene *scene, const kf_kinetic_options *options, kf_error *error);

/* Returns the axes (bits 0 to 2) along which the solid may cross a periodic seam. kf_kinetic_check_solid
 * checks that there is room for this (kinetic_samples.c). */
int kf_kinetic_wraps(const kf_scene *scene);
kf_status kf_kinetic_check_solid(const kf_scene *scene, kf_error *error);
/* Returns the index of node c (bits: x, y, z) of the cell whose corner is given. */
long long kf_kinetic_cell_node(const kf_kinetic *kinetic, long long corner, int c);
/* Makes the list of all bands' nodes for a team in the plan moments. Each part has its own entries in its own
 * memory (kinetic_band.c). For a static solid the order is that of one device. Otherwise, and if each part
 * has a list of its own, it does nothing. */
kf_status kf_kinetic_share_list(kf_plan *plan, kf_kinetic *kinetics, kf_error *error);
/* Returns the bytes of the list in a checkpoint; 0: there is no list (kinetic_list.c). A checkpoint has the
 * nodes in the order of the domain's planes, whatever their place on a device. */
size_t kf_kinetic_list_bytes(const kf_kinetic *kinetics);
/* Downloads the list, for all processes, and writes into the words of `planes` the places of their nodes in
 * it. */
kf_status kf_kinetic_save_list(kf_plan *plan, char *list, char *planes, kf_error *error);
/* Restores the list. kf_kinetic_place_listed writes places on the device into the words of some planes of a
 * grid; kf_kinetic_end_placing uploads the nodes at the end. */
typedef struct kf_list_placing {
    const kf_plan *plan;
    const char *list;
    char **rows;  /* [part of this process] row of each device's list */
    size_t *used; /* [part of this process] places that are already used */
} kf_list_placing;
void kf_kinetic_begin_placing(kf_list_placing *placing, const kf_plan *plan, const char *list);
void kf_kinetic_place_listed(kf_list_placing *placing, int grid, int first, int planes, char *words);
kf_status kf_kinetic_end_placing(kf_list_placing *placing, kf_status status, kf_error *error);
/* Uploads the samples in their order, the pose, and the band of a static solid. */
kf_status kf_kinetic_upload_samples(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);
/* Returns whether the solid reaches walls or inflows at cuts across an axis (1: y, 2: z). Nodes beside such a
 * cut then take back populations that have left them. */
bool kf_kinetic_is_bounced(const kf_scene *scene, int axis);
/* Uploads `count` doubles, converted to the plan's arithmetic type. */
kf_status kf_kinetic_upload_reals(const kf_kinetic *kinetic, kf_buffer *buffer, const double *values,
                                  size_t count, kf_error *error);
kf_status kf_kinetic_reset_samples(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);

/* Lists the part's share of the scene's links; kf_kinetic_free_links frees it (kinetic_link_order.c). */
void kf_kinetic_take_links(const kf_plan *plan, kf_kinetic *kinetic);
void kf_kinetic_free_links(kf_kinetic *kinetic);
/* Returns whether each step subtracts the mass that the links have added in the step before. */
bool kf_kinetic_balances(const kf_scene *scene, const kf_kinetic *kinetic);
/* Makes a box contain a node; an empty one, whose `high` is not above its `low`, then has no other node. */
void kf_kinetic_extend_box(kf_kinetic_region *box, const int node[3]);
/* Uploads the part's cut links of the solid (kinetic_links.c). */
kf_status kf_kinetic_upload_links(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);
/* Sets a solid by links to its initial state. The state of the grid is set elsewhere. */
kf_status kf_kinetic_reset_links(kf_plan *plan, kf_error *error);
/* Returns the index of a node of the scene in the arrays of a device that has the whole grid. */
long long kf_kinetic_node_index(const kf_kinetic *kinetic, const int node[3]);
/* These are for a solid by links whose surface leaves its place (kinetic_moving_links.c). They make its
 * memory on the device, set it to its initial state, set the nodes inside to rest, and append the kernels of
 * a step.
 */
kf_status kf_kinetic_make_moving_links(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);
kf_status kf_kinetic_reset_moving_links(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);
kf_status kf_kinetic_rest_moving_links(kf_plan *plan, const kf_kinetic *kinetic, kf_error *error);
/* Lists the scene's numbers of the links in the device's order, and the rows of its nodes (NULL: not wanted).
 * Rows of no link are left as they are. */
void kf_kinetic_order_links(const kf_links *links, int *order, kf_link_row *rows);
/* Brings arguments.links.memory of all parts into the order of the scene's links for a checkpoint; `all` is
 * NULL in all processes but the first. kf_kinetic_restore_links brings it back to a part. */
kf_status kf_kinetic_save_links(kf_plan *plan, char *all, kf_error *error);
kf_status kf_kinetic_restore_links(const kf_plan *plan, const kf_kinetic *kinetic, const char *all,
                                   kf_error *error);
/* Returns the bytes of this memory for so many links. */
size_t kf_kinetic_link_bytes(const kf_kinetic *kinetic, size_t count);
/* Settles before the state of all nodes is read (kf_kinetic_settle). Nodes inside a solid by links then hold
 * fluid at rest: a step leaves there what has no meaning. */
kf_status kf_kinetic_settle_state(kf_plan *plan, kf_error *error);
/* Sets the nodes inside a solid by links to fluid at rest, if the plan has one. */
kf_status kf_kinetic_rest_inside(kf_plan *plan, kf_error *error);
/* Uploads the nodes beside the surface, if a law of the wall acts there (kinetic_wall.c). */
kf_status kf_kinetic_upload_wall(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);
/* Allocates and fills the lists of the nodes in modelled layers, on one device (kinetic_layer.c). */
kf_status kf_kinetic_upload_layer(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);
/* Finds the share of the surface whose layers are modelled: those without eddies. 0 without the model. */
kf_status kf_kinetic_sum_modelled(const kf_kinetic *kinetic, const kf_links *links, double *share,
                                  kf_error *error);
/* Sets the layers' state to that of the start. */
kf_status kf_kinetic_reset_layer(const kf_kinetic *kinetic, kf_error *error);
/* Reads the results of the law in the last step. The second takes the direction of the drag for the pressure:
 * a level of nested grids lacks the domain's faces, from which it follows. */
kf_status kf_kinetic_look_at_wall(kf_plan *plan, kf_wall_look *look, double *friction_velocity,
                                  kf_error *error);
kf_status kf_kinetic_look_along(kf_plan *plan, const double drag[3], kf_wall_look *look,
                                double *friction_velocity, kf_error *error);
/* Runs load_links, load_wall or load_band for the last step and sums up its results. */
kf_status kf_kinetic_add_sums(const kf_kinetic *kinetic, kf_backend *backend, const kf_launch *launch,
                              long long total[KF_LOAD_SUMS], kf_error *error);

/* Return the number of patches of a moving solid's samples, and the words of a bit mask of the nodes in the
 * box around the solid. */
int kf_kinetic_patches(const kf_kinetic *kinetic);
size_t kf_kinetic_patch_words(const kf_kinetic *kinetic);
/* Makes the lists of the aggregated variant (kinetic_segments.c). `corner` and `values` (fractions x, y, z;
 * area) are in the order of the samples. band_of: for each node its place in the band plus 1; 0: it is
 * outside. */
kf_status kf_kinetic_make_segments(kf_plan *plan, kf_kinetic *kinetic, const long long *corner,
                                   double *const values[4], const int *band_of, int band_count,
                                   kf_error *error);

/* Makes the launches of a step for all parts (kinetic_launches.c). */
kf_status kf_kinetic_make_launches(kf_plan *plan, kf_kinetic *kinetics, kf_error *error);

/* Sides of a part: below (0) and above (1) along z. With cuts across y also those along y, and the edges
 * between both. If two parts touch, the second is beyond side `side` of the first, and the first beyond side
 * ^ 1 of the second. */
enum { KF_PART_SIDES = 8 };
int kf_kinetic_sides(const kf_plan *plan);
/* A side of a part faces nothing, a part whose memory it can reach, or a part of another process with which
 * it exchanges messages. */
typedef enum kf_neighbour_reach {
    KF_NEIGHBOUR_NONE,
    KF_NEIGHBOUR_IN_REACH,
    KF_NEIGHBOUR_FAR
} kf_neighbour_reach;
/* Returns the part beyond a side of part `number`; both are indices in the whole run. -1: there is none
 * (kinetic_halo.c). */
int kf_kinetic_neighbour(const kf_plan *plan, int number, int side);
/* Returns what lies beyond a side of a part. The part is counted from this process's first; it may also be
 * one next to these. */
kf_neighbour_reach kf_kinetic_neighbour_reach(const kf_plan *plan, int part, int side);
/* Returns whether planes are copied across this side. */
bool kf_kinetic_is_copied(const kf_plan *plan, int part, int side);

/* Several processes (kinetic_world.c; base/backend/team/world.h) each have a contiguous range of parts. Every
 * process has addresses for the whole domain, but memory only for its own planes and copies of those beside
 * them. */
/* KF_BAD_INPUT, with the reason, if several processes cannot run this. */
kf_status kf_kinetic_check_world(const kf_kinetic_options *options, kf_error *error);
/* Returns the number of partial sums (averages, free solid) that a part adds up: one for each part of the
 * run; with several processes one, because the calls below have added them up. */
int kf_kinetic_sum_places(const kf_plan *plan);
/* Makes the buffers of these sums, and empties them. */
kf_status kf_kinetic_make_sums(kf_plan *plan, kf_kinetic *kinetic, kf_sum_kind kind, kf_error *error);
kf_status kf_kinetic_clear_sums(const kf_kinetic *kinetic, kf_sum_kind kind, kf_error *error);
/* Calls of a plan that add up the sums of averages, of a free solid and of a solid's links over all
 * processes. Their object is the link. */
kf_call_function kf_kinetic_gather_sums, kf_kinetic_gather_body, kf_kinetic_gather_links;
/* Returns the number of grids in this process: one that all parts share, or one for each part. */
int kf_kinetic_grids(const kf_plan *plan);
/* Finds the planes that a grid keeps, range[i][0] .. range[i][1] - 1. Returns the number of ranges. */
int kf_kinetic_kept_planes(const kf_plan *plan, int grid, int range[KF_PLANE_RANGES][2]);
/* Finds the planes that a grid keeps, and those beside them of other grids that it can read. */
int kf_kinetic_read_planes(const kf_plan *plan, int grid, int range[KF_PLANE_RANGES][2]);
/* Finds a grid's own planes and `beside` more on both sides. */
int kf_kinetic_touched_planes(const kf_plan *plan, int grid, int beside, int range[KF_PLANE_RANGES][2]);
/* Waits until all processes that share memory have come this far, and their devices are idle. */
kf_status kf_kinetic_settle(const kf_plan *plan, kf_error *error);
/* Finds the planes that belong to this grid and to no other process. With cuts across y other grids have
 * their own rows of them (kf_kinetic_rows). */
void kf_kinetic_own_planes(const kf_plan *plan, int grid, int *first, int *end);
/* Finds the rows of a grid's planes: its own and `beside` more on both sides. Beyond the seam of a domain
 * that is periodic along y they continue below 0 and above the last row. */
void kf_kinetic_rows(const kf_kinetic *kinetic, int beside, int *first, int *count);
/* Joins the planes of all processes in an array [z][sheet][y][..], with plane_bytes for each plane. All
 * processes get the whole array. */
kf_status kf_kinetic_gather_planes(const kf_plan *plan, void *all, size_t plane_bytes, int sheets,
                                   kf_error *error);

/* The methods of plans (kinetic_state.c). */
extern const kf_plan_methods kf_kinetic_methods;
kf_status kf_kinetic_initialise(kf_plan *plan, kf_error *error);
/* Runs a kernel of state.cu on planes first .. first + planes - 1 of a grid's populations, and waits for it.
 * It covers the grid's own rows; if `beside`, also those that it keeps beside them. Its input or output is in
 * the grid's slab, as whole planes. */
kf_status kf_kinetic_on_slab(kf_plan *plan, const char *name, int grid, int first, int planes, bool beside,
                             kf_error *error);
/* The methods state_size, save and restore (kinetic_checkpoint.c). */
kf_status kf_kinetic_state_size(kf_plan *plan, size_t *bytes, kf_error *error);
kf_status kf_kinetic_save(kf_plan *plan, void *state, kf_error *error);
kf_status kf_kinetic_restore(kf_plan *plan, const void *state, uint64_t steps, kf_error *error);
/* Sets the arguments' pointers to where the populations lie after `steps` steps. */
void kf_kinetic_find_populations(const kf_kinetic *kinetic, uint64_t steps, kf_kinetic_arguments *a);
/* The flow's method velocity (solver/flow/flow_plan.h; kinetic_velocity.c). With several processes all get
 * the velocity. */
kf_status kf_kinetic_device_velocity(kf_plan *plan, kf_buffer *buffer, kf_error *error);
/* Reads density - 1 and velocity as doubles [4][z][y][x], for verification. The caller frees *values. */
kf_status kf_kinetic_read(kf_plan *plan, double **values, kf_error *error);

/* Scenes with at least this accuracy also have a reference on 19 velocities (kinetic_reference.c). */
#define KF_ACCURACY_OF_19 0.03
/* Computes the double precision solution after `steps`. kf_kinetic_free_reference frees it. */
kf_status kf_kinetic_reference(const kf_problem *problem, int steps, kf_reference **reference,
                               kf_error *error);
/* Compares a plan that was advanced by as many steps with it (kf_system.verify). */
kf_status kf_kinetic_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                            kf_error *error);
void kf_kinetic_free_reference(kf_reference *reference);
/* Returns the relative deviation from the reference that is accepted for a storage type. */
double kf_kinetic_bound(const kf_scene *scene, kf_storage storage);

#endif
