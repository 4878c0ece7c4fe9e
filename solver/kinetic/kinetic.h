/* The kinetic system: D3Q27 lattice Boltzmann with an immersed boundary. This header is shared by the files
 * of solver/kinetic/ only, apart from kf_system_kinetic. */
#ifndef KF_SOLVER_KINETIC_KINETIC_H
#define KF_SOLVER_KINETIC_KINETIC_H

#include "base/plan/system.h"
#include "kernels/choices.h"
#include "kernels/kinetic/arguments.h"
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

/* The samples in memory: as they were sampled, by blocks of cells, and within these by Morton code. */
typedef enum kf_sample_order { KF_ORDER_NONE, KF_ORDER_CELLS, KF_ORDER_MORTON } kf_sample_order;

/* How the planes beside a cut of a team come to its other side. */
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

/* A config's parameters, checked against each other. */
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
    long velocities;    /* 27, or 19 in plan fused */
    kf_storage storage; /* of populations; arithmetic is in double precision for KF_F64, else in single */
    kf_streaming streaming;
    long slab; /* planes of a launch where one grid moves to and fro (streaming shift); 0: it does not */
    long nodes_per_thread; /* 2: pairs along x, plan fused */
    long register_cap;     /* of a thread on a GPU, plan fused; 0: none */
    long boundary_kernels; /* 6, 1, or 0: folded into streaming */
    long staged_nodes; /* on the cpu: nodes of a row that leave the nearest cache together; 0: one by one */
    bool gpu;
    int parts;   /* devices of the team */
    int parts_y; /* of these along y: they are cut across y so often, and the others across z */
    kf_kinetic_transfer transfer;
    long sample_tenths; /* of that, as the config says it */
    double sample_cost; /* in updates of a node, by which a team's cuts share out the planes */
    kf_immersed immersed_boundary;
    long segment_length; /* samples that one item of the aggregated variant adds up, or so many lanes of a
                            warp */
    long segment_lanes;
    long solid_block;  /* items of a block of the kernels over samples and band */
    long patch_length; /* samples of a moving solid that a block sorts by cells; 0: cells are filled from all
                        */
    bool fixed_point_force;
    bool alternate;        /* every second step goes through the planes downwards */
    bool boundary_choices; /* nodes at the domain's faces choose between addresses instead of branching */
    bool concurrent_solid; /* what the solid needs runs beside the flow's kernel */
    bool keep_streamed;    /* band_macroscopic keeps the band's streamed populations for band_collide */
    bool masked_band; /* the flow's kernel leaves the band's nodes out, so band_collide runs beside it, too */
    bool band_chain;  /* these kernels of a band that is left out are one */
    bool overlap; /* kernels of the band begin while the one before ends (programmatic dependent launch) */
    bool boundary_rows_apart; /* rows at the faces across y and z have a kernel of their own, which goes ahead
                               */
    long prefetch_rows;       /* rows by which the cache is asked ahead; 0: not */
    long march;               /* planes that a block of plan moments walks; 0: other plans */
} kf_kinetic_options;

/* Storage of the nodes, ghosts included (kernels/kinetic/arguments.h). */
typedef struct kf_kinetic_geometry {
    int nodes[3], row_pitch;
    long long plane_pitch, origin, capacity;
    bool index64;        /* 64-bit node and value indices */
    bool domain_index64; /* the same in what reaches the whole domain, whatever a team's part is */
    int most_planes;     /* of a team's largest part */
    int rows_before; /* of a part cut across y: those of each plane before the first that it has memory for;
                        where  the domain is periodic along y perhaps fewer than none */
    /* A team's part counts nodes from its first plane on where that keeps indices short: those before it, and
     * the same in bytes of a grid. 0: from the domain's. */
    long long before;
    int shift; /* planes that the grid moves by from step to step; 0: there are two, or it stays */
} kf_kinetic_geometry;

enum { KF_PLANE_RANGES = 3 }; /* kf_kinetic_kept_planes */
/* Modules, in the order of their files. */
typedef enum kf_kinetic_source {
    KF_SOURCE_FLOW, /* fused.cu, moments.cu or separate.cu */
    KF_SOURCE_BOUNDARY,
    KF_SOURCE_STATE,
    KF_SOURCE_IMMERSED, /* only with a solid: immersed_band.cu where the plan has a band, else immersed.cu */
    KF_SOURCE_MOTION,   /* only with a moving solid */
    KF_SOURCE_ORDER,    /* only where samples are listed by cell on the device */
    KF_SOURCE_LINKS,    /* only with a solid by links */
    KF_SOURCE_WALL,     /* only with a law of the wall for it */
    KF_SOURCE_VELOCITY, /* only for what goes with the flow: no part of a plan, loaded on first use */
    KF_SOURCES
} kf_kinetic_source;

/* All that kernels are given, of which each module's kernels take the groups that they read. */
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
    kf_kinetic_body body;
    kf_kinetic_solids solids;
    kf_kinetic_scalars scalars;
    kf_kinetic_region covered, needed;
    kf_kinetic_edges edges;
} kf_kinetic_arguments;

/* A plan's data, one for each part of a team: plan->system is their array. */
typedef struct kf_kinetic {
    int part, first_plane, planes; /* all planes of one device */
    int first_row, rows;           /* of each plane: all, unless there are cuts across y */
    bool row_ring;      /* and the domain is periodic along y: rows beyond its seam follow the part's own */
    int parts;          /* of this process, part counts them */
    int halo_width;     /* beside its own whose populations a part reads */
    bool computes_halo; /* plan moments with a solid on grids of each part alone: what the solid and the
                          outflows make of the planes beside a cut is worked out on both sides */
    bool bounced[2];    /* kf_kinetic_is_bounced of cuts across y and z */
    kf_kinetic_options options;
    kf_kinetic_geometry geometry;
    /* By which the host numbers the samples' corners: the same, but with every row where a part that is cut
     * across y has all samples of a moving solid, whose numbers no kernel sees. */
    kf_kinetic_geometry corners;
    kf_ordering ordering;
    bool has_solid, moving, free, adaptive;
    bool linked;                    /* a solid by links, which has no samples */
    bool has_samples;               /* the part has samples: always with a solid, where there is no team */
    int passes;                     /* of the immersed boundary in a step */
    int wraps;                      /* kf_kinetic_wraps */
    bool band;                      /* kf_kinetic_has_band */
    bool segments, cells, patches;  /* the aggregated variant of a static, and of a moving solid */
    size_t real_bytes, store_bytes; /* of an arithmetic value, of a stored one */
    int node_values;                /* stored at a node: populations, or moments */

    kf_module *modules[KF_SOURCES];
    kf_kinetic_arguments arguments; /* common to all launches */
    kf_order_arguments order;
    kf_buffer *populations[2]; /* or moments */
    char *grids[2];            /* where they begin: in two buffers, or in one */
    kf_buffer *listed; /* populations of the band, plan moments with a solid; of a team: of all bands */
    kf_buffer *averages, *average_sums, *load_sums, *pose;
    kf_buffer *team_sums,
        *no_sums; /* of a team: all parts' average_sums, or their sums, and zeros to begin them with */
    kf_buffer *outflow[2]; /* what waits outside of outflows, at even and odd steps; NULL without one */
    /* The first part has the outflows of the parts beside this process's, [below, above], where it reaches
     * them. */
    kf_buffer *outflow_beside[2][2];
    size_t outflow_bytes;
    kf_buffer
        *edge; /* arguments.outflow.edge of plan moments on one device; NULL without an outflow across x */
    kf_buffer
        *edges[2]; /* arguments.edges of a level of nested grids: fresh, inner; NULL: they are in the grid */
    kf_buffer *body_sums, *band_total; /* of a free solid; of several passes */
    kf_buffer *team_body,
        *no_body; /* of a team: all parts' body_sums, or their sums, and zeros to begin them with */
    kf_buffer *cell_count, *patch_band; /* of a moving solid's cells; of its band's nodes */
    kf_buffer *samples[4], *sample_corner, *identity, *band_of, *band_node, *band_count, *band_force, *force,
        *slab;
    kf_launch order_launches[16]; /* of the list of samples by cell */
    int order_launch_count;
    kf_launch outflow_launch[KF_PLANE_RANGES]; /* once at initialise: what waits outside of outflows */
    int outflow_launches;
    kf_launch load_launch;                           /* band plans: force on the solid, on demand */
    kf_buffer *solid_of, *solid_poses, *solid_loads; /* of several solids; NULL of one: arguments.solids */
    kf_launch solids_launch;                         /* the same for each of several solids */
    kf_buffer *link_memory, *link_sums; /* of a solid by links: arguments.links.memory and sums */
    size_t link_memory_bytes;
    /* With a law of the wall: arguments.wall.found; what adds up forces beside those of links, and friction.
     */
    kf_buffer *wall_found, *wall_force;
    kf_launch wall_launch, friction_launch;
    kf_launch rest_launch; /* likewise: what is inside, once */
    int slab_planes;
    struct kf_flow_link *link;  /* of the first part, where there are several processes */
    struct kf_nccl_group *nccl; /* of the first part: the messages of a step, where NCCL carries them */
    int solution;               /* populations[] that holds the state at even steps */
    bool swaps;                 /* the two grids swap roles every step */
    int band_count_static;
    int listed_before; /* places in a team's list before the part's */
    int listed_all;    /* nodes that the list of a checkpoint has room for, whatever the number of parts */
} kf_kinetic;

/* Makes a launch of a module's kernel, with those of the arguments that it takes (kinetic_arguments.c). */
void kf_kinetic_set_launch(kf_launch *launch, const char *name, kf_function *function,
                           kf_kinetic_source source, const int block[3],
                           const kf_kinetic_arguments *arguments);

/* Chooses the roles of outflow[] in steps of that parity, of a part and of those beside it (kinetic.c). */
void kf_kinetic_choose_outflow(const kf_plan *plan, int part, int parity);

/* Make a plan, and visit its sources, of a scene's own grid alone (kinetic.c). */
kf_status kf_kinetic_make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                               kf_plan **plan, kf_error *error);
kf_status kf_kinetic_visit_sources(const kf_scene *scene, const kf_config *config,
                                   const kf_device_info *device,
                                   kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                                   void *data, kf_error *error);

/* kinetic_options.c */
kf_status kf_kinetic_read_options(const kf_scene *scene, const kf_config *config,
                                  const kf_device_info *device, kf_kinetic_options *options, kf_error *error);
/* Reads options leniently, to work out what a config would cost: nothing is checked, and a parameter that
 * the config lacks, or has another value of than today's, gets the value that makes no difference. Old
 * landscapes are read so. */
void kf_kinetic_read_known_options(const kf_config *config, kf_kinetic_options *options);
void kf_kinetic_lay_out(const kf_scene *scene, const kf_kinetic_options *options,
                        kf_kinetic_geometry *geometry);
/* Lays out a team's part that begins at that plane and row. */
void kf_kinetic_lay_out_part(const kf_scene *scene, const kf_kinetic_options *options, int first_plane,
                             int first_row, kf_kinetic_geometry *geometry);
/* KF_MACHINE where the part with the most nodes has more than a device takes, 2^31 - 1; the whole domain,
 * shared among so many parts, may have more. */
kf_status kf_kinetic_check_size(const kf_scene *scene, int parts, double most_nodes, kf_error *error);
/* Index, counted from where the memory begins, that the first node of the domain's planes would have. */
long long kf_kinetic_origin(const kf_kinetic_geometry *geometry);
void kf_kinetic_define(const kf_scene *scene, const kf_kinetic_options *options,
                       const kf_kinetic_geometry *geometry, kf_kinetic_source which, kf_source *source,
                       kf_defines *defines);
/* These return whether the scene's collision can be split over kernels, and whether it transforms central
 * moments. */
bool kf_kinetic_splits(const kf_scene *scene);
bool kf_kinetic_has_central_moments(const kf_scene *scene);
/* Returns whether central-Hermite moments of orders 3 to 6 are relaxed with one rate. */
bool kf_kinetic_has_one_high_order_rate(const kf_scene *scene);
/* Returns whether nine moments hold all that a collision leaves (kernels/kinetic/moments.h). */
bool kf_kinetic_is_regularised(const kf_scene *scene);
/* Returns whether there is a collision on 19 velocities (kernels/kinetic/collision_19.h). */
bool kf_kinetic_has_19_velocities(const kf_scene *scene);
/* Returns whether the relaxation rule divides by averages of the domain, on so many velocities. */
bool kf_kinetic_is_adaptive(const kf_scene *scene, long velocities);
/* Returns whether the solid's force lives on the band of nodes that its samples touch (plans fused and
 * moments). */
bool kf_kinetic_has_band(const kf_kinetic_options *options);
/* Returns whether the kernels of the band are one. */
bool kf_kinetic_has_chain(const kf_scene *scene, const kf_kinetic_options *options);
/* Returns whether patch_sort finds the pose of the step that begins: it does so of a prescribed motion,
 * where nothing needs the pose before. */
bool kf_kinetic_sorts_with_pose(const kf_scene *scene, const kf_kinetic_options *options);
bool kf_kinetic_uses(const kf_scene *scene, const kf_kinetic_options *options, kf_kinetic_source which);
/* Returns the sides across x (bits: low, high) at which what crosses to and from a level of nested grids has
 * places of its own (kernels/kinetic/edges.h). 0: it is in the grid. */
long kf_kinetic_edge_sides(const kf_scene *scene, const kf_kinetic_options *options);
/* Makes these places (kinetic_edges.c). */
kf_status kf_kinetic_make_edges(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);

/* Cuts the domain into so many parts along an axis (1: rows, 2: planes); part p has first[p] .. first[p +
 * 1] - 1 (kinetic_cuts.c). */
void kf_kinetic_cut(const kf_scene *scene, double sample_cost, int axis, int parts,
                    int first[KF_MOST_PARTS + 1]);
/* A box of rows and planes, and the boxes of all parts of a team. */
typedef struct kf_kinetic_box {
    int first[2], count[2]; /* rows, planes */
} kf_kinetic_box;
void kf_kinetic_cut_all(const kf_scene *scene, const kf_kinetic_options *options,
                        kf_kinetic_box boxes[KF_MOST_PARTS]);
/* Planes or rows beside its own whose populations a part reads. */
int kf_kinetic_halo_width(const kf_scene *scene);
/* Returns the cost of a sample in updates of a node; tenths are tenths of such updates, 0: what was
 * measured on a GPU. */
double kf_kinetic_sample_cost(const kf_scene *scene, long tenths);
int kf_kinetic_most_parts(const kf_scene *scene);
/* KF_BAD_INPUT with what a team cannot run. */
kf_status kf_kinetic_check_team(const kf_scene *scene, const kf_kinetic_options *options, kf_error *error);

/* Returns the axes (bits 0 to 2) along which the solid can lie across a periodic domain's seam, and checks
 * that there is room for it to (kinetic_samples.c). */
int kf_kinetic_wraps(const kf_scene *scene);
kf_status kf_kinetic_check_solid(const kf_scene *scene, kf_error *error);
/* Node c (bits: x, y, z) of the cell with that corner. */
long long kf_kinetic_cell_node(const kf_kinetic *kinetic, long long corner, int c);
/* Makes the list of all bands' nodes for a team in plan moments, each part's in its own memory
 * (kinetic_band.c); the list of a solid that rests is in the order of one device's. It makes nothing
 * elsewhere, nor where each part has a list of its own. */
kf_status kf_kinetic_share_list(kf_plan *plan, kf_kinetic *kinetics, kf_error *error);
/* Gives the bytes of the list in a checkpoint, 0 without a list (kinetic_list.c). A checkpoint has the
 * list's nodes in the order of the domain's planes, whatever place they have on a device. */
size_t kf_kinetic_list_bytes(const kf_kinetic *kinetics);
/* Brings it from the devices, and puts places in it into the words of planes, of all processes. */
kf_status kf_kinetic_save_list(kf_plan *plan, char *list, char *planes, kf_error *error);
/* The other way: puts places on the device into some planes of a grid, planes by planes as it keeps them, and
 * at the end brings the nodes there. */
typedef struct kf_list_placing {
    const kf_plan *plan;
    const char *list;
    char **rows;  /* [part of this process] */
    size_t *used; /* the same: places that have been given */
} kf_list_placing;
void kf_kinetic_begin_placing(kf_list_placing *placing, const kf_plan *plan, const char *list);
void kf_kinetic_place_listed(kf_list_placing *placing, int grid, int first, int planes, char *words);
kf_status kf_kinetic_end_placing(kf_list_placing *placing, kf_status status, kf_error *error);
/* Uploads the samples in their order, the pose, and the band of a static solid. */
kf_status kf_kinetic_upload_samples(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);
/* Returns whether the solid comes to walls or inflows that end at cuts across an axis (1: y, 2: z): its
 * nodes beside a cut take back there what has left them. */
bool kf_kinetic_is_bounced(const kf_scene *scene, int axis);
/* Uploads count doubles as the plan's arithmetic type. */
kf_status kf_kinetic_upload_reals(const kf_kinetic *kinetic, kf_buffer *buffer, const double *values,
                                  size_t count, kf_error *error);
kf_status kf_kinetic_reset_samples(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);

/* Uploads the links that the solid's surface cuts (kinetic_links.c). */
kf_status kf_kinetic_upload_links(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);
/* Brings them to the initial state, where the solid is by links; the grid has its own. */
kf_status kf_kinetic_reset_links(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);
/* Uploads the nodes beside it, where friction follows a law of the wall (kinetic_wall.c). */
kf_status kf_kinetic_upload_wall(kf_plan *plan, kf_kinetic *kinetic, kf_error *error);
/* Tells what the law found in the last step. */
kf_status kf_kinetic_look_at_wall(kf_plan *plan, kf_wall_look *look, double *friction_velocity,
                                  kf_error *error);
/* Adds up what a launch of load_links, load_wall or load_band makes of the last step. */
kf_status kf_kinetic_add_sums(const kf_kinetic *kinetic, kf_backend *backend, const kf_launch *launch,
                              long long total[KF_LOAD_SUMS], kf_error *error);

/* The file kinetic_segments.c makes the aggregated variant's lists. `corner` and `values` (x, y, z
 * fractions, area) are in the samples' order; `band_of` maps node indices to places in the band plus 1, 0
 * being outside. */
/* Return the patches of a moving solid's samples, and the words of the bits of the nodes in the box around
 * it. */
int kf_kinetic_patches(const kf_kinetic *kinetic);
size_t kf_kinetic_patch_words(const kf_kinetic *kinetic);
kf_status kf_kinetic_make_segments(kf_plan *plan, kf_kinetic *kinetic, const long long *corner,
                                   double *const values[4], const int *band_of, int band_count,
                                   kf_error *error);

/* Makes the launches of a step, of all parts (kinetic_launches.c). */
kf_status kf_kinetic_make_launches(kf_plan *plan, kf_kinetic *kinetics, kf_error *error);

/* Sides of a part: below (0) and above (1) along z; where there are cuts across y, those along y too, and the
 * edges between both. Of two parts that touch each has the other beyond the opposite side, side ^ 1. */
enum { KF_PART_SIDES = 8 };
int kf_kinetic_sides(const kf_plan *plan);
/* A side of a part has beyond it nothing, a part whose memory it reaches, or one of another process, with
 * which it exchanges messages. */
typedef enum kf_neighbour_reach {
    KF_NEIGHBOUR_NONE,
    KF_NEIGHBOUR_IN_REACH,
    KF_NEIGHBOUR_FAR
} kf_neighbour_reach;
/* Returns the number, among all parts, of the part beyond a side of part `number`; -1: none
 * (kinetic_halo.c). */
int kf_kinetic_neighbour(const kf_plan *plan, int number, int side);
/* Returns what lies beyond a side of a part, which is counted from this process's first, also one beside
 * these. */
kf_neighbour_reach kf_kinetic_neighbour_reach(const kf_plan *plan, int part, int side);
/* Returns whether planes are copied across that side. */
bool kf_kinetic_is_copied(const kf_plan *plan, int part, int side);

/* The file kinetic_world.c works between the processes of a run (base/backend/team/world.h), each with a
 * contiguous range of parts. Every process has addresses for the whole domain, of which it uses its own
 * planes and copies of those beside them. */
/* KF_BAD_INPUT with what several processes cannot run. */
kf_status kf_kinetic_check_world(const kf_kinetic_options *options, kf_error *error);
/* Returns in how many places a part finds the sums of averages and of a free solid that it adds up: one
 * for each part of all, or one for several processes, which the calls below add up. */
int kf_kinetic_sum_places(const kf_plan *plan);
/* Calls of a plan; object is the link: sums of averages and of a free solid of all. */
kf_call_function kf_kinetic_gather_sums, kf_kinetic_gather_body;
/* Grids of this process: one that all parts share, or one for each. */
int kf_kinetic_grids(const kf_plan *plan);
/* Planes that a grid keeps: range[i][0] .. range[i][1] - 1; returns their number. */
int kf_kinetic_kept_planes(const kf_plan *plan, int grid, int range[KF_PLANE_RANGES][2]);
/* Returns the kept planes and those beside them that others keep and that can be read. */
int kf_kinetic_read_planes(const kf_plan *plan, int grid, int range[KF_PLANE_RANGES][2]);
/* A grid's own planes and so many on both sides. */
int kf_kinetic_touched_planes(const kf_plan *plan, int grid, int beside, int range[KF_PLANE_RANGES][2]);
/* All processes that share memory have come as far as this, and their devices have done what they were given.
 */
kf_status kf_kinetic_settle(const kf_plan *plan, kf_error *error);
/* Returns the planes that no other grid and no other process has for its own; where there are cuts across
 * y, others have their own rows of them (kf_kinetic_rows). */
void kf_kinetic_own_planes(const kf_plan *plan, int grid, int *first, int *end);
/* Rows of a grid's planes: its own, and so many beside them on both sides; beyond the seam of a domain that
 * is periodic along y they go on below 0 and above the last. */
void kf_kinetic_rows(const kf_kinetic *kinetic, int beside, int *first, int *count);
/* Brings all processes' own planes of an array [z][sheet][y][..] of plane_bytes each together, on all. */
kf_status kf_kinetic_gather_planes(const kf_plan *plan, void *all, size_t plane_bytes, int sheets,
                                   kf_error *error);

/* kinetic_state.c */
extern const kf_plan_methods kf_kinetic_methods;
kf_status kf_kinetic_initialise(kf_plan *plan, kf_error *error);
/* Launches a kernel of state.cu on planes first .. first + planes - 1 of a grid's populations, of the rows
 * that the grid has for its own or also of those that it keeps beside them, and waits for it. What it
 * exchanges is in the grid's slab, whole planes. */
kf_status kf_kinetic_on_slab(kf_plan *plan, const char *name, int grid, int first, int planes, bool beside,
                             kf_error *error);
/* The file kinetic_checkpoint.c has the plan's methods state_size, save and restore. */
kf_status kf_kinetic_state_size(kf_plan *plan, size_t *bytes, kf_error *error);
kf_status kf_kinetic_save(kf_plan *plan, void *state, kf_error *error);
kf_status kf_kinetic_restore(kf_plan *plan, const void *state, uint64_t steps, kf_error *error);
/* Points the arguments to the populations as they lie after so many steps. */
void kf_kinetic_find_populations(const kf_kinetic *kinetic, uint64_t steps, kf_kinetic_arguments *a);
/* The file kinetic_velocity.c has the flow's method velocity (solver/flow/flow_plan.h), which gives it to
 * all of several processes. */
kf_status kf_kinetic_device_velocity(kf_plan *plan, kf_buffer *buffer, kf_error *error);
/* Density - 1 and velocity [4][z][y][x] in double, for verification; caller frees. */
kf_status kf_kinetic_read(kf_plan *plan, double **values, kf_error *error);

/* Scenes whose accuracy is at least this have a reference on 19 velocities, too (kinetic_reference.c). */
#define KF_ACCURACY_OF_19 0.03
/* Runs the double precision solution for so many steps; free it with kf_kinetic_free_reference. */
kf_status kf_kinetic_reference(const kf_problem *problem, int steps, kf_reference **reference,
                               kf_error *error);
/* Holds a plan that was advanced by as many steps against it (kf_system.verify). */
kf_status kf_kinetic_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                            kf_error *error);
void kf_kinetic_free_reference(kf_reference *reference);
/* Relative deviation of fields from the reference that is accepted of a storage type. */
double kf_kinetic_bound(const kf_scene *scene, kf_storage storage);

#endif
