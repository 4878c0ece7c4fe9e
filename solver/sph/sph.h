/* The sph system: weakly compressible particles, Newtonian, viscoplastic and granular (docs/sph.md). This
 * header is shared by the files of solver/sph/ only, apart from kf_system_sph and kf_sph_scene_of. */
#ifndef KF_SOLVER_SPH_SPH_H
#define KF_SOLVER_SPH_SPH_H

#include "base/plan/system.h"
#include "kernels/sph/arguments.h"
#include "scene/particles.h"

extern const kf_system kf_system_sph;
extern const struct kf_cost_methods kf_cost_sph;

typedef enum kf_sph_search {
    KF_SPH_CELLS,
    KF_SPH_ROWS,
    KF_SPH_MASKS,
    KF_SPH_LIST,
    KF_SPH_STAGED
} kf_sph_search;
typedef enum kf_sph_cell_order {
    KF_SPH_ORDER_ROWS,
    KF_SPH_ORDER_BRICKS,
    KF_SPH_ORDER_MORTON,
    KF_SPH_CELL_ORDERS
} kf_sph_cell_order; /* KF_CELL_ORDER of kernels/sph/particle.h */
typedef enum kf_sph_layout { KF_SPH_FLOAT4, KF_SPH_FLOAT3, KF_SPH_SOA, KF_SPH_LAYOUTS } kf_sph_layout;
typedef enum kf_sph_transfer {
    KF_SPH_DIRECT,
    KF_SPH_COPIES,
    KF_SPH_THROUGH_HOST,
    KF_SPH_BY_NCCL
} kf_sph_transfer;

/* A config's parameters, checked against each other. */
typedef struct kf_sph_options {
    kf_sph_search search;
    kf_sph_layout layout;
    int reach; /* cells a support */
    kf_sph_cell_order cell_order;
    bool prune;  /* ranges of candidates end where the support does */
    bool ranked; /* particles of a cell in the order of their identities; else as the atomics came */
    bool fused_count;
    int list_period; /* steps that a list serves */
    int skin;        /* of lists, percent of the support */
    int in_flight;   /* candidates or listed neighbours that a thread of a GPU loads at a time */
    int lanes;       /* threads of a GPU that share a particle's sums */
    int threads, resident_blocks;
    bool graph;
    int parts;                /* devices that share the particles */
    kf_sph_transfer transfer; /* between them; direct where there is one */
    int cut_axis;             /* across which these cut the domain; 0 or 1 */
    bool gpu;
} kf_sph_options;

/* Cells, and what else the search needs of memory. */
typedef struct kf_sph_grid {
    int cells[3], tiles[3];
    double low[3]; /* where the first cell begins, in spacings */
    double inverse[3];
    int rows, cell_count;
    int *columns; /* [2 rows + 1], or NULL; owned */
    int capacity; /* words of lists and masks a particle; 0: none */
} kf_sph_grid;

enum { KF_SPH_THREADS = 128 };    /* of a block that searches outside of the sums, on a GPU */
enum { KF_SPH_WEIGH_EVERY = 16 }; /* steps between weighings of planes, by which a team cuts */
typedef enum kf_sph_source {
    KF_SPH_SCHEME, /* modern.cu or thesis.cu */
    KF_SPH_SORT,
    KF_SPH_STATE,
    KF_SPH_LISTS,
    KF_SPH_CHECK,
    KF_SPH_SOURCES
} kf_sph_source;

/* A part of a plan: what one device is given. */
typedef struct kf_sph_part {
    kf_module *modules[KF_SPH_SOURCES]; /* CHECK: made when it is first asked for */
    kf_sph_arguments arguments;         /* common to all launches */
} kf_sph_part;

/* Bytes of a buffer, from `at` on. */
typedef struct kf_sph_bytes {
    kf_buffer *buffer;
    size_t at;
} kf_sph_bytes;
/* This is what the host reads and writes of a part's memory, in this process or in another one in reach. */
typedef struct kf_sph_shared {
    kf_sph_bytes clock, exchange, totals, gauge_sums;
    kf_sph_bytes counts, share, team, numbers;      /* of teams, but counts */
    kf_sph_bytes plane_weights, outgoing, incoming; /* where parts send each other parcels */
} kf_sph_shared;

/* Parcels of a step are rows of so many numbers; the object of a call. */
typedef struct kf_sph_parcels {
    kf_plan *plan;
    int values;
    bool counts; /* how many come is not known: it is said first */
} kf_sph_parcels;

typedef struct kf_sph_road kf_sph_road; /* sph_parcels.c */

typedef struct kf_sph {
    const kf_particle_scene *scene;
    kf_sph_options options;
    kf_sph_grid grid;
    bool stress;                             /* the scheme stores one */
    kf_sph_part *parts;                      /* [plan->part_count] */
    bool packs;                              /* parts send parcels: they do not read each other's memory */
    int seen_parts, own_seen;                /* parts whose memory is seen, and where this process's begin */
    kf_sph_shared *seen;                     /* [seen_parts]; where parts send parcels, this process's own */
    kf_mark **ready;                         /* [plan->near_parts], of a team whose parts read in place */
    kf_sph_road *road;                       /* of parcels; NULL: there are none */
    int plane_cells;                         /* the most cells of a plane across the cut axis */
    int most;                                /* particles that a part should have at most */
    int room;                                /* rows of parcels that a part sends or gets */
    kf_buffer *windows[KF_PARTICLE_WINDOWS]; /* states; made when they are first asked for */
    float *window_values[KF_PARTICLE_WINDOWS]; /* the same of a team */
    int exchanged;                             /* particles that the buffer exchange holds */
    double gauge_room[KF_PARTICLE_GAUGES];     /* of gauges of pressure */
} kf_sph;

/* sph_options.c */
kf_status kf_sph_read_options(const kf_particle_scene *scene, const kf_config *config,
                              const kf_device_info *device, kf_sph_options *options, kf_error *error);
bool kf_sph_has_stress(const kf_particle_scene *scene);
bool kf_sph_is_used(const kf_sph_options *options, kf_sph_source which);
void kf_sph_define(const kf_particle_scene *scene, const kf_sph_options *options, kf_sph_source which,
                   kf_source *source, kf_defines *defines);
/* The sums over neighbours of a step leave to each other who is near. */
bool kf_sph_keeps_slots(const kf_particle_scene *scene, const kf_sph_options *options);
/* How far a particle may move in a step, in spacings: one that falls through the box, beside what it began
 * with. */
double kf_sph_stride(const kf_particle_scene *scene);
/* Ranges of candidates that the cells around a particle of one row make, beside those beyond periodic faces.
 */
int kf_sph_runs(const kf_sph_options *options);
/* Words of bits with a hit that search staged holds at a time. */
int kf_sph_slots(const kf_particle_scene *scene, const kf_sph_options *options);
/* Mean neighbours of a particle inside the fluid. */
double kf_sph_neighbours(const kf_particle_scene *scene);

/* sph_grid.c */
/* From where to where particles are inside along an axis, in spacings. Walls of scheme thesis push what has
 * passed them (Eq. 4.24), so that its particles are inside up to a support beyond such a wall. */
void kf_sph_bounds(const kf_particle_scene *scene, int axis, double *low, double *high);
kf_status kf_sph_make_grid(const kf_particle_scene *scene, const kf_sph_options *options, kf_sph_grid *grid,
                           kf_error *error);
void kf_sph_free_grid(kf_sph_grid *grid);
/* How far above the ground particles begin; three dimensions, on terrain. */
double kf_sph_highest(const kf_particle_scene *scene);

/* Sets all arguments but pointers (sph_arguments.c). */
void kf_sph_set_arguments(const kf_particle_scene *scene, const kf_sph_options *options,
                          const kf_sph_grid *grid, kf_sph_arguments *arguments);
/* Sums over the layers of a half-space at a distance, in spacings: G = of |dW/dn|, M = of t |dW/dn|, t being
 * the distance along the normal, T = of u |dW/du|, u being one along the wall. */
void kf_sph_half_space(int dimensions, double support, double distance, double sums[3]);
/* A step's length when the fastest particle moves at a twentieth of the speed of sound. */
double kf_sph_usual_step(const kf_particle_scene *scene);
/* The first step's length. */
double kf_sph_first_step(const kf_particle_scene *scene, const kf_sph_arguments *arguments);

/* sph_gauges.c */
/* Sum of the weights (1 - r / reach)^2 that particles around a place have where all that no wall takes is
 * wet; lengths in spacings. */
double kf_sph_gauge_room(const kf_particle_scene *scene, const double place[3], double reach);

/* sph_launches.c */
/* The arguments of a part's launches; swapped: its two sets of particles have changed places. */
kf_sph_arguments kf_sph_of_part(const kf_sph *system, int part, bool swapped);
/* Returns whether they have between steps, when `next` is where the particles are. */
bool kf_sph_between(const kf_sph *system, uint64_t step);
/* Returns whether they have for the sums over neighbours of a step: `sorted` is what they read. While a list
 * is kept the two sets change places from step to step, so that nothing has to be copied back. */
bool kf_sph_within(const kf_sph *system, uint64_t step);
kf_status kf_sph_make_launches(kf_plan *plan, kf_sph *system, kf_error *error);
/* Cells, order and lists of the particles of `next`, into `sorted`, outside of a step, so that one finds them
 * as the step before would have left them. Of a team, `next` is lost with it: its slots are those of
 * `sorted`. */
kf_status kf_sph_sort(kf_plan *plan, bool swapped, kf_error *error);
/* Counts the particles of `next` by cells, for the sort of the coming step. */
kf_status kf_sph_count(kf_plan *plan, bool swapped, kf_error *error);
/* One kernel of a part outside of the step, on so many items. */
kf_status kf_sph_launch(kf_plan *plan, int part, kf_sph_source source, const char *name,
                        const kf_sph_arguments *arguments, int items, kf_error *error);

/* sph_team.c */
/* Makes the memory of a team, in which its parts find each other's or pack parcels, and sets their
 * arguments. */
kf_status kf_sph_make_team(kf_plan *plan, kf_sph *system, kf_error *error);
/* Waits until all parts in reach have done what they were given; processes call it together. */
kf_status kf_sph_meet(const kf_plan *plan, kf_error *error);
/* The counts of cells are 0 on all parts of this process. */
kf_status kf_sph_forget_counts(kf_plan *plan, kf_error *error);
/* Shares the particles of a state out among the parts, and sends each its own. */
kf_status kf_sph_share_out(kf_plan *plan, bool swapped, const float *values, kf_error *error);
/* Returns the address as kernels see it. */
void *kf_sph_address(const kf_sph_bytes *place);
kf_status kf_sph_upload(const kf_sph_bytes *place, const void *data, size_t bytes, kf_error *error);
kf_status kf_sph_download(const kf_sph_bytes *place, void *data, size_t bytes, kf_error *error);

/* sph_parcels.c */
/* Numbers of a particle's row in a sort. */
int kf_sph_row(bool stress);
/* Makes the road of parcels of a team whose parts send some; by NCCL it fails as kf_nccl_group_create does.
 */
kf_status kf_sph_make_road(kf_plan *plan, kf_sph *system, kf_error *error);
/* Gives what enters a plan's hash of the library that carries parcels; "": none does. */
const char *kf_sph_road_version(const kf_sph_road *road);
void kf_sph_free_road(kf_sph_road *road); /* may be NULL */
/* Parcels of rows of so many numbers, which live as long as the road. */
kf_sph_parcels *kf_sph_parcels_of(kf_sph_road *road, int values, bool counts);
/* Calls of a plan, after everything that its parts were given, and before everything that they are given
 * later; processes make them together. The first carries parcels, its object: GATE_FAILED where a part has
 * no room for them. Objects of the others are the plan: the weights of planes become the sums over all
 * parts, and what decides the next time step the largest of all. */
kf_call_function kf_sph_carry;
kf_call_function kf_sph_sum_weights;
kf_call_function kf_sph_join_clocks;
/* All parts write together, each its own share of so many bytes, into the first one's exchange buffer. Where
 * they send parcels each writes into its own buffer, in which the others' shares are made 0. */
kf_status kf_sph_clear_exchange(kf_plan *plan, size_t bytes, kf_error *error);
void *kf_sph_exchange_of(const kf_plan *plan, int part);
/* All processes get what all parts have written there. */
kf_status kf_sph_take_exchange(kf_plan *plan, void *data, size_t bytes, kf_error *error);
/* Makes of this process's flags, sums and largest values those of all processes. */
kf_status kf_sph_join_flags(const kf_plan *plan, int *flags, kf_error *error);
kf_status kf_sph_join_sums(const kf_plan *plan, long long *sums, int count, kf_error *error);
kf_status kf_sph_join_largest(const kf_plan *plan, double *values, int count, kf_error *error);

/* sph_state.c */
extern const kf_plan_methods kf_sph_methods;
enum { KF_SPH_STATE_VALUES = 16 }; /* place, velocity, e, rates, stress: kernels/sph/state.cu */
/* Tells whether a state that adds up to these sums can have come from the scene: KF_GATE_FAILED where
 * particles left a box that has no open side, where none is left in any, or where kinetic and potential
 * energy grew by half of all that there was to give (sph_balance.c). */
kf_status kf_sph_balance(const kf_particle_scene *scene, const double sums[KF_SPH_TOTALS], kf_error *error);
/* Pa, of a relative deviation e of the density; scheme thesis has none below 0. */
double kf_sph_pressure_of(const kf_particle_scene *scene, double e);
/* [count][KF_SPH_STATE_VALUES] in the order of the scene's particles; caller frees. */
kf_status kf_sph_read(kf_plan *plan, float **values, kf_error *error);
/* Puts that state where the plan's next step begins. Where a list is being kept at that step, it is made, and
 * the particles go on in its order. */
kf_status kf_sph_put(kf_plan *plan, const float *values, kf_error *error);
/* Particles have been put into `next`, and the counts of cells are 0: the same from there on. */
kf_status kf_sph_settle(kf_plan *plan, bool swapped, kf_error *error);
/* Says what a kernel found wrong, by the clock's flags. */
kf_status kf_sph_flagged(int flags, kf_error *error);
kf_status kf_sph_read_clock(kf_plan *plan, kf_sph_clock *clock, kf_error *error);

/* sph_reference.c, sph_verify.c */
kf_status kf_sph_reference(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error);
void kf_sph_free_reference(kf_reference *reference);
kf_status kf_sph_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                        kf_error *error);

#endif
