/* A plan: what a config becomes on a device for a problem. An ordered list of items with their buffers. It
 * can be executed, captured as a graph, timed item by item, counted, and verified; whoever holds one needs no
 * physics. */
#ifndef KF_BASE_PLAN_PLAN_H
#define KF_BASE_PLAN_PLAN_H

#include <stdint.h>
#include <stdio.h>

#include "base/plan/item.h"
#include "base/plan/problem.h"
#include "base/plan/record.h"
#include "base/plan/snapshot.h"

typedef struct kf_plan kf_plan;

/* A system implements these for its plans. */
typedef struct kf_plan_methods {
    kf_status (*initialise)(kf_plan *plan, kf_error *error); /* state of step 0 */
    /* The state in the user's units but for step and time. KF_GATE_FAILED when it makes no sense any more.
     * NULL: there is nothing to see. */
    kf_status (*snapshot)(kf_plan *plan, kf_snapshot *snapshot, kf_error *error);
    /* Looks at so much of the state as costs no more than a few steps: KF_GATE_FAILED, as a snapshot would,
     * when it makes no sense any more. A run asks between its outputs; what is no number spreads by a cell a
     * step at least. NULL: only snapshots tell. */
    kf_status (*watch)(kf_plan *plan, kf_error *error);
    /* Adds the state's tables of a few numbers, the same tables at every step; none where the problem has
     * nothing of the kind. NULL: no plan of the system has any. */
    kf_status (*record)(kf_plan *plan, kf_records *records, kf_error *error);
    /* Adds what the columns of records refer to beside what a state already says (areas, places of gauges,
     * units): rows of different meanings do not belong into one table. NULL: nothing. */
    void (*meaning)(const kf_plan *plan, kf_facts *meaning);
    /* Draws a snapshot of the plan as a PNG file. NULL: flows are drawn as slices (solver/picture), others
     * not. */
    kf_status (*picture)(kf_plan *plan, const kf_snapshot *snapshot, const char *path, kf_error *error);
    /* Writes a map of a snapshot as an ESRI ASCII grid. NULL, or map_name returns NULL: the problem has none.
     */
    const char *(*map_name)(const kf_plan *plan);
    kf_status (*map)(kf_plan *plan, const kf_snapshot *snapshot, const char *path, kf_error *error);
    double (*time)(const kf_plan *plan, uint64_t step); /* s; NULL: steps have no duration */
    /* Goes to the place of that window (0 .. plan->windows - 1) from which on steps stand for a part of the
     * whole, and shift (0 <= shift < 1) of the distance to the next one further, where places lie between.
     * Before the next step; asynchronous. NULL: every step costs the same. */
    kf_status (*seek)(kf_plan *plan, int window, double shift, kf_error *error);
    /* The whole state for going on later: independent of layout. NULL, all three: it cannot be kept. Of
     * several processes, which save together, the first gets it; the others' state may be NULL. */
    kf_status (*state_size)(kf_plan *plan, size_t *bytes, kf_error *error);
    kf_status (*save)(kf_plan *plan, void *state, kf_error *error);
    kf_status (*restore)(kf_plan *plan, const void *state, uint64_t step, kf_error *error);
    const struct kf_flow_methods *flow; /* what only flows have (solver/flow/flow_plan.h); NULL: it is none */
    void (*free)(kf_plan *plan);        /* frees system data only */
} kf_plan_methods;

/* Longer cycles run item by item instead of as a graph; items that would make a cycle still longer than
 * KF_LONGEST_CYCLE do not count for it, as they do not show in a step. */
enum { KF_LONGEST_GRAPH = 64, KF_LONGEST_CYCLE = 1024 };

struct kf_plan {
    kf_backend *backend;      /* of part 0 */
    kf_backend *const *parts; /* [part] of the items: the backend's team */
    int part_count;
    int first_part,
        all_parts; /* where these stand among those of all processes (base/backend/team/world.h) */
    int near_first, near_parts; /* among those of all, the parts whose memory these reach (kf_backend_near) */
    int part;                   /* that is being built (kf_plan_on) */
    const kf_problem *problem;  /* outlives the plan */
    kf_config config;
    const kf_plan_methods *methods;
    void *system; /* the system's own data */

    kf_buffer **buffers;
    size_t buffer_count, buffer_room;
    kf_module **modules;
    size_t module_count, module_room;
    kf_build *builds; /* of the modules */
    size_t build_room;
    kf_mark **marks;
    size_t mark_count, mark_room;

    struct kf_fresh *fresh; /* kf_plan_fresh */
    size_t fresh_count, fresh_room;

    kf_item *items; /* in the order in which those that are due run */
    size_t item_count, item_room;

    /* Stretches of a run that together stand for it where a step's cost changes along the way, and the steps
     * of what they stand for (a full turn of the solid, rounded up); 0: every step costs the same. */
    int windows;
    uint64_t window_steps;

    uint64_t steps_done;
    double updates;              /* of what the system counts (kf_system.update) a step */
    double least_bytes;          /* floor of memory traffic a step: every value read and written once */
    kf_graph *graph;             /* of graph_steps steps, made on first use */
    int graph_steps;             /* 0: not made yet; -1: none, steps run item by item */
    kf_graph *train;             /* of the steps of several such graphs, made on first use */
    int train_steps;             /* 0: none, for these have launches enough */
    struct kf_plan_lanes *lanes; /* [part], of a team, whose steps are given lane by lane; or NULL */
};

/* An empty plan on the backend's team, mostly one device. methods->free is called with it from here on,
 * whatever fails. */
kf_plan *kf_plan_create(kf_backend *backend, const kf_problem *problem, const kf_config *config,
                        const kf_plan_methods *methods, void *system);

/* Gives what the building blocks below create and append from here on to that part. */
void kf_plan_on(kf_plan *plan, int part);

/* Building blocks for systems; the plan owns what they create. */
/* Over the memories of all parts in reach, and ends of each: kf_buffer_spread, or kf_buffer_share. */
kf_status kf_plan_spread(kf_plan *plan, size_t bytes, size_t period, const size_t *ends, kf_buffer **buffer,
                         kf_error *error);
/* Makes a partial buffer of the part, or one on the host (kf_buffer_partial, kf_buffer_on_host). */
kf_status kf_plan_partial(kf_plan *plan, size_t bytes, size_t period, const size_t (*kept)[2], int count,
                          kf_buffer **buffer, kf_error *error);
kf_status kf_plan_on_host(kf_plan *plan, size_t bytes, kf_buffer **buffer, kf_error *error);
kf_status kf_plan_buffer(kf_plan *plan, size_t bytes, kf_buffer **buffer, kf_error *error);
/* Says that the steps t with t % period == phase read nothing of a buffer before they have written it: what
 * they need of it they write. The gate spoils it before each of them. NULL: it has none. */
void kf_plan_fresh(kf_plan *plan, kf_buffer *buffer, int period, int phase);
kf_status kf_plan_module(kf_plan *plan, const kf_source *source, kf_module **module, kf_error *error);
kf_status kf_plan_mark(kf_plan *plan, kf_mark **mark, kf_error *error);
/* Makes a mark of a part in reach, counted from the first of these: kf_mark_create_shared where there are
 * other processes'. */
kf_status kf_plan_mark_near(kf_plan *plan, int part, kf_mark **mark, kf_error *error);

/* Each appends an item, due at every step on the main lane of the part, and returns it for filling in the
 * rest: valid until the next is appended. A kernel has its launch's name; the launch is copied. */
kf_item *kf_plan_add_kernel(kf_plan *plan, const kf_launch *launch);
kf_item *kf_plan_add_call(kf_plan *plan, const char *name, const kf_call *call);
kf_item *kf_plan_add_copy(kf_plan *plan, const char *name, const kf_copy *copy);
kf_item *kf_plan_add_signal(kf_plan *plan, const char *name, kf_mark *mark);
kf_item *kf_plan_add_await(kf_plan *plan, const char *name, kf_mark *mark);

/* Visits the items that are due at that step, in their order. Nothing else knows the schedule. */
typedef kf_status kf_item_visit(void *data, const kf_item *item, kf_error *error);
kf_status kf_plan_walk(const kf_plan *plan, uint64_t step, kf_item_visit *visit, void *data, kf_error *error);
/* Steps after which the items that are due repeat; at most KF_LONGEST_CYCLE. */
int kf_plan_cycle(const kf_plan *plan);
/* Steps that kf_plan_advance gives a device at once where so many are left: a cycle, or several with few
 * launches. */
int kf_plan_stride(const kf_plan *plan);
/* Gives one item to the main lane of its part (asynchronous on cuda). */
kf_status kf_plan_execute(const kf_plan *plan, const kf_item *item, kf_error *error);

/* Hashes all modules and the libraries of all calls: equal hash, equal machine code. */
void kf_plan_hash(const kf_plan *plan, char hash[KF_HASH_HEX]);

/* Runs steps time steps (asynchronously on cuda; synchronise before reading). Uses a graph where that pays;
 * of a team each part is given its items in their lanes. */
kf_status kf_plan_advance(kf_plan *plan, uint64_t steps, kf_error *error);
/* A graph, the caller's to free, of some of the steps that kf_plan_advance has in its graph, from that one
 * on: their items in the same lanes. NULL where it runs items one by one. */
kf_status kf_plan_part_of_graph(kf_plan *plan, uint64_t first, int steps, kf_graph **graph, kf_error *error);
kf_status kf_plan_initialise(kf_plan *plan, kf_error *error);
/* The state as it is now, for the caller to free whatever the status. A snapshot with a value that is not
 * finite is KF_GATE_FAILED. */
kf_status kf_plan_snapshot(kf_plan *plan, kf_snapshot *snapshot, kf_error *error);
kf_status kf_plan_record(kf_plan *plan, kf_records *records, kf_error *error);
kf_status kf_plan_watch(kf_plan *plan, kf_error *error);
double kf_plan_time(const kf_plan *plan); /* s, of steps_done */
/* The step (of window_steps) at which a window begins that lies so far beyond its place: seek's arguments,
 * where a plan's windows are spread evenly over what they stand for. */
uint64_t kf_plan_window_step(const kf_plan *plan, int window, double shift);
/* Spoils (KF_SPOILT) what the next step does not read before it has written it. */
kf_status kf_plan_spoil(const kf_plan *plan, kf_error *error);
/* KF_GATE_FAILED when a kernel wrote past an end of one of the plan's buffers. */
kf_status kf_plan_check_buffers(const kf_plan *plan, kf_error *error);
void kf_plan_free(kf_plan *plan);

#endif
