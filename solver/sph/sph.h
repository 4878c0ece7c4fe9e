/* The sph system: weakly compressible particles, Newtonian, viscoplastic and granular (docs/sph.md). Only
 * solver/sph/ includes this header; other rooms use kf_system_sph. */
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

/* The parameters of a config, checked against each other. */
typedef struct kf_sph_options {
    kf_sph_search search;
    kf_sph_layout layout;
    int reach; /* cells along the radius of the kernel's support */
    kf_sph_cell_order cell_order;
    bool prune; /* ranges of candidates are cut to the support */
    /* Particles of a cell are sorted by their numbers; otherwise they are in the order of the atomics. */
    bool ranked;
    bool fused_count;
    int list_period; /* steps for which a neighbour list is used */
    int skin;        /* of neighbour lists, in percent of the support */
    int in_flight;   /* candidates or listed neighbours that a GPU thread loads at once */
    int lanes;       /* GPU threads that share the sums of a particle */
    int threads, resident_blocks;
    bool graph;
    int parts;                /* devices that share the particles */
    kf_sph_transfer transfer; /* between these devices; direct for a single one */
    int cut_axis;             /* axis across which they cut the domain, 0 or 1 */
    bool gpu;
} kf_sph_options;

/* The grid of cells, and the memory that the search needs. */
typedef struct kf_sph_grid {
    int cells[3], tiles[3];
    double low[3]; /* beginning of the first cell, in spacings */
    double inverse[3];
    int rows, cell_count;
    int *columns; /* [2 rows + 1], or NULL; owned */
    int capacity; /* words of lists or masks for each particle; 0: none */
} kf_sph_grid;

enum { KF_SPH_THREADS = 128 }; /* threads of a GPU block that searches outside of the sums */
/* Steps after which a team measures the cost of planes and moves its cuts. */
enum { KF_SPH_WEIGH_EVERY = 16 };
typedef enum kf_sph_source {
    KF_SPH_SCHEME, /* modern.cu or thesis.cu */
    KF_SPH_SORT,
    KF_SPH_STATE,
    KF_SPH_LISTS,
    KF_SPH_CHECK,
    KF_SPH_SOURCES
} kf_sph_source;

/* A part of a plan: the modules and arguments of one device. */
typedef struct kf_sph_part {
    kf_module *modules[KF_SPH_SOURCES]; /* CHECK is loaded on first use */
    kf_sph_arguments arguments;         /* common to all launches */
} kf_sph_part;

/* A place in a buffer, `at` bytes from its beginning. */
typedef struct kf_sph_bytes {
    kf_buffer *buffer;
    size_t at;
} kf_sph_bytes;
/* The parts of a device's memory that the host reads and writes. The device belongs to this process, or to
 * another one whose memory it can reach. */
typedef struct kf_sph_shared {
    kf_sph_bytes clock, exchange, totals, gauge_sums;
    kf_sph_bytes counts, share, team, numbers;      /* for teams, except counts */
    kf_sph_bytes plane_weights, outgoing, incoming; /* if parts exchange parcels */
} kf_sph_shared;

/* Parcels are messages of rows, each with `values` numbers. This is the object of a call that sends them. */
typedef struct kf_sph_parcels {
    kf_plan *plan;
    int values;
    bool counts; /* the number of rows is not known beforehand, so it is sent first */
} kf_sph_parcels;

typedef struct kf_sph_transport kf_sph_transport; /* sph_parcels.c */

typedef struct kf_sph {
    const kf_particle_scene *scene;
    kf_sph_options options;
    kf_sph_grid grid;
    bool stress;        /* the scheme stores a stress */
    kf_sph_part *parts; /* [plan->part_count] */
    bool packs;         /* parts exchange parcels, because they do not read each other's memory */
    /* Number of parts whose memory can be reached, and index of this process's first among them. */
    int seen_parts, own_seen;
    kf_sph_shared *seen;         /* [seen_parts]; if parts exchange parcels, only those of this process */
    kf_mark **ready;             /* [plan->near_parts] for a team whose parts read in place */
    kf_sph_transport *transport; /* of parcels; NULL: there are none */
    int plane_cells;             /* largest number of cells in a plane across the cut axis */
    int most;                    /* most particles that a part should have */
    int room;                    /* most rows of parcels that a part sends or receives */
    kf_buffer *windows[KF_PARTICLE_WINDOWS];   /* states at the windows; made on first use */
    float *window_values[KF_PARTICLE_WINDOWS]; /* the same for a team */
    int exchanged;                             /* number of particles that fit the buffer exchange */
    double gauge_room[KF_PARTICLE_GAUGES];     /* kf_sph_gauge_room of gauges of pressure */
} kf_sph;

/* Reads and checks the parameters of a config (sph_options.c). */
kf_status kf_sph_read_options(const kf_particle_scene *scene, const kf_config *config,
                              const kf_device_info *device, kf_sph_options *options, kf_error *error);
bool kf_sph_has_stress(const kf_particle_scene *scene);
bool kf_sph_is_used(const kf_sph_options *options, kf_sph_source which);
void kf_sph_define(const kf_particle_scene *scene, const kf_sph_options *options, kf_sph_source which,
                   kf_source *source, kf_defines *defines);
/* Returns whether the first sum over neighbours of a step stores the neighbours for the next sums. */
bool kf_sph_keeps_slots(const kf_particle_scene *scene, const kf_sph_options *options);
/* Returns the largest distance, in spacings, that a particle may move in a step: that of a particle that
 * falls through the box, added to its initial speed. */
double kf_sph_stride(const kf_particle_scene *scene);
/* Returns the number of ranges of candidates around a particle in one row, not counting those beyond periodic
 * faces. */
int kf_sph_runs(const kf_sph_options *options);
/* Returns how many words of bits with a hit the search `staged` holds at once. */
int kf_sph_slots(const kf_particle_scene *scene, const kf_sph_options *options);
/* Returns the mean number of neighbours of a particle inside the fluid. */
double kf_sph_neighbours(const kf_particle_scene *scene);

/* sph_grid.c */
/* Finds the range along an axis, in spacings, in which particles count as inside (sph_grid.c). Walls of the
 * scheme thesis push back particles that have passed them (Eq. 4.24), so its range extends one support beyond
 * such a wall. */
void kf_sph_bounds(const kf_particle_scene *scene, int axis, double *low, double *high);
kf_status kf_sph_make_grid(const kf_particle_scene *scene, const kf_sph_options *options, kf_sph_grid *grid,
                           kf_error *error);
void kf_sph_free_grid(kf_sph_grid *grid);
/* Returns the largest height above the ground at which particles begin; only in three dimensions on
 * terrain. */
double kf_sph_highest(const kf_particle_scene *scene);

/* Sets all arguments except pointers (sph_arguments.c). */
void kf_sph_set_arguments(const kf_particle_scene *scene, const kf_sph_options *options,
                          const kf_sph_grid *grid, kf_sph_arguments *arguments);
/* Computes sums over the layers of a half-space at a distance, in spacings: G of |dW/dn|, M of t |dW/dn| with
 * the distance t along the normal, and T of u |dW/du| with a distance u along the wall. */
void kf_sph_half_space(int dimensions, double support, double distance, double sums[3]);
/* Returns the length of a step when the fastest particle moves at a twentieth of the speed of sound. */
double kf_sph_usual_step(const kf_particle_scene *scene);
/* Returns the length of the first step. */
double kf_sph_first_step(const kf_particle_scene *scene, const kf_sph_arguments *arguments);

/* sph_gauges.c */
/* Returns the sum of the weights (1 - r / reach)^2 of particles around a place if fluid fills all space
 * outside walls (sph_gauges.c). Lengths are in spacings. */
double kf_sph_gauge_room(const kf_particle_scene *scene, const double place[3], double reach);

/* sph_launches.c */
/* Returns the arguments of a part's launches (sph_launches.c). swapped: its two sets of particles have
 * changed roles. */
kf_sph_arguments kf_sph_of_part(const kf_sph *system, int part, bool swapped);
/* Returns whether they are swapped between steps, when `next` holds the particles. */
bool kf_sph_between(const kf_sph *system, uint64_t step);
/* Returns whether they are swapped for the sums over neighbours of a step, which read `sorted`. While a list
 * is in use the two sets change roles every step, so that nothing is copied back. */
bool kf_sph_within(const kf_sph *system, uint64_t step);
kf_status kf_sph_make_launches(kf_plan *plan, kf_sph *system, kf_error *error);
/* Sorts the particles of `next` into `sorted`, with their cells and lists, outside of a step, as the
 * preceding step would have done. On a team `next` is overwritten, because it shares memory with `sorted`. */
kf_status kf_sph_sort(kf_plan *plan, bool swapped, kf_error *error);
/* Counts the particles of `next` in each cell, for the sort of the next step. */
kf_status kf_sph_count(kf_plan *plan, bool swapped, kf_error *error);
/* Runs one kernel of a part outside of the step, on `items` items. */
kf_status kf_sph_launch(kf_plan *plan, int part, kf_sph_source source, const char *name,
                        const kf_sph_arguments *arguments, int items, kf_error *error);

/* sph_team.c */
/* Allocates the memory of a team, in which its parts find each other's particles or pack parcels, and sets
 * their arguments (sph_team.c). */
kf_status kf_sph_make_team(kf_plan *plan, kf_sph *system, kf_error *error);
/* A barrier: waits until all reachable parts are idle. All processes call it together. */
kf_status kf_sph_meet(const kf_plan *plan, kf_error *error);
/* Sets the counts of cells to 0 on all parts of this process. */
kf_status kf_sph_forget_counts(kf_plan *plan, kf_error *error);
/* Distributes the particles of a state among the parts. */
kf_status kf_sph_share_out(kf_plan *plan, bool swapped, const float *values, kf_error *error);
/* Returns the address for kernels. */
void *kf_sph_address(const kf_sph_bytes *place);
kf_status kf_sph_upload(const kf_sph_bytes *place, const void *data, size_t bytes, kf_error *error);
kf_status kf_sph_download(const kf_sph_bytes *place, void *data, size_t bytes, kf_error *error);

/* sph_parcels.c */
/* Returns the numbers in a particle's row of a sort (sph_parcels.c). */
int kf_sph_row(bool stress);
/* Prepares the transport of parcels for a team whose parts exchange them. With NCCL it fails as
 * kf_nccl_group_create does. */
kf_status kf_sph_make_transport(kf_plan *plan, kf_sph *system, kf_error *error);
/* Returns the version of the library that sends parcels, which is part of a plan's hash; "": there is
 * none. */
const char *kf_sph_transport_version(const kf_sph_transport *transport);
void kf_sph_free_transport(kf_sph_transport *transport); /* may be NULL */
/* Makes parcels of rows of `values` numbers. They live as long as the transport. */
kf_sph_parcels *kf_sph_parcels_of(kf_sph_transport *transport, int values, bool counts);
/* Calls of a plan that separate all earlier work of its parts from all later work; processes make them
 * together. kf_sph_carry sends parcels, its object; KF_GATE_FAILED if a part has no room for them. The object
 * of the others is the plan. kf_sph_sum_weights adds up the costs of planes over all parts.
 * kf_sph_join_clocks takes the maximum of the values that determine the next time step. */
kf_call_function kf_sph_carry;
kf_call_function kf_sph_sum_weights;
kf_call_function kf_sph_join_clocks;
/* All parts write their shares of `bytes` bytes into the exchange buffer of the first part. If they exchange
 * parcels, each writes into its own buffer, in which the shares of others are set to 0. */
kf_status kf_sph_clear_exchange(kf_plan *plan, size_t bytes, kf_error *error);
void *kf_sph_exchange_of(const kf_plan *plan, int part);
/* Gives all processes what all parts have written there. */
kf_status kf_sph_take_exchange(kf_plan *plan, void *data, size_t bytes, kf_error *error);
/* Combine the flags, sums and maxima of this process with those of all others. */
kf_status kf_sph_join_flags(const kf_plan *plan, int *flags, kf_error *error);
kf_status kf_sph_join_sums(const kf_plan *plan, long long *sums, int count, kf_error *error);
kf_status kf_sph_join_largest(const kf_plan *plan, double *values, int count, kf_error *error);

/* sph_state.c */
extern const kf_plan_methods kf_sph_methods;
enum { KF_SPH_STATE_VALUES = 16 }; /* position, velocity, e, rates, stress: kernels/sph/state.cu */
/* Checks whether a state with these sums can come from the scene (sph_balance.c). KF_GATE_FAILED if particles
 * left a box without an open side, if no particle is left, or if kinetic and potential energy grew by half of
 * what was available. */
kf_status kf_sph_balance(const kf_particle_scene *scene, const double sums[KF_SPH_TOTALS], kf_error *error);
/* Returns the pressure in Pa for a relative deviation e of the density. It is never below 0 in the scheme
 * thesis. */
double kf_sph_pressure_of(const kf_particle_scene *scene, double e);
/* Reads the state as [count][KF_SPH_STATE_VALUES], in the order of the scene's particles. The caller frees
 * it. */
kf_status kf_sph_read(kf_plan *plan, float **values, kf_error *error);
/* Sets this state at the beginning of the plan's next step. If a list is in use at that step, it is made, and
 * the particles continue in its order. */
kf_status kf_sph_put(kf_plan *plan, const float *values, kf_error *error);
/* Does the same after the particles were written to `next` and the counts of cells set to 0. */
kf_status kf_sph_settle(kf_plan *plan, bool swapped, kf_error *error);
/* KF_GATE_FAILED with what a kernel found wrong, by the clock's flags. */
kf_status kf_sph_flagged(int flags, kf_error *error);
kf_status kf_sph_read_clock(kf_plan *plan, kf_sph_clock *clock, kf_error *error);

/* sph_reference.c, sph_verify.c */
kf_status kf_sph_reference(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error);
void kf_sph_free_reference(kf_reference *reference);
kf_status kf_sph_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                        kf_error *error);

#endif
