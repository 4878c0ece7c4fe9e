/* A plan: what a config becomes on a device for a problem, an ordered list of items with their buffers. It
 * can be executed, captured as a graph, timed item by item, counted, and verified, without any knowledge of
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
    /* Fills in the state in the user's units, except step and time. KF_GATE_FAILED: the state makes no sense
     * any more. NULL: there is nothing to see. */
    kf_status (*snapshot)(kf_plan *plan, kf_snapshot *snapshot, kf_error *error);
    /* Checks a part of the state, at no more than the cost of a few steps. KF_GATE_FAILED: it makes no sense
     * any more. A run calls it between outputs; a NaN spreads by at least a cell a step, so a part is enough.
     * NULL: only snapshots tell. */
    kf_status (*watch)(kf_plan *plan, kf_error *error);
    /* Adds the state's tables of a few numbers. They are the same tables at every step, or none if the
     * problem has none. NULL: no plan of the system has any. */
    kf_status (*record)(kf_plan *plan, kf_records *records, kf_error *error);
    /* Adds what the columns of the records refer to (areas, places of gauges, units). Rows with different
     * meanings do not belong in one table. NULL: nothing. */
    void (*meaning)(const kf_plan *plan, kf_facts *meaning);
    /* Draws a snapshot of the plan as a PNG file. NULL: a flow is drawn as slices (solver/picture), anything
     * else not at all. */
    kf_status (*picture)(kf_plan *plan, const kf_snapshot *snapshot, const char *path, kf_error *error);
    /* Writes a map of a snapshot as an ESRI ASCII grid. The problem has no map where map_name is NULL or
     * returns NULL. */
    const char *(*map_name)(const kf_plan *plan);
    kf_status (*map)(kf_plan *plan, const kf_snapshot *snapshot, const char *path, kf_error *error);
    double (*time)(const kf_plan *plan, uint64_t step); /* s; NULL: steps have no duration */
    /* Moves the state to the beginning of window `window` (0 .. plan->windows - 1), and a share `shift` (0 <=
     * shift < 1) of the distance to the next window beyond it. Steps from there on stand for a part of the
     * whole run. Call it before the next step; it is asynchronous. NULL: every step costs the same. */
    kf_status (*seek)(kf_plan *plan, int window, double shift, kf_error *error);
    /* Save and restore the whole state, in a form that does not depend on the layout. NULL, all three: it
     * cannot be saved. Several processes call them together; the first one gets the state, and the state of
     * the others may be NULL. */
    kf_status (*state_size)(kf_plan *plan, size_t *bytes, kf_error *error);
    kf_status (*save)(kf_plan *plan, void *state, kf_error *error);
    kf_status (*restore)(kf_plan *plan, const void *state, uint64_t step, kf_error *error);
    /* Further methods of flows (solver/flow/flow_plan.h); NULL: it is not a flow. */
    const struct kf_flow_methods *flow;
    void (*free)(kf_plan *plan); /* frees the system's data only */
} kf_plan_methods;

/* Cycles longer than KF_LONGEST_GRAPH steps run item by item, not as a graph. Items that would make a cycle
 * longer than KF_LONGEST_CYCLE are not counted for it: they are due so rarely that they do not show in a
 * step's time. */
enum { KF_LONGEST_GRAPH = 64, KF_LONGEST_CYCLE = 1024 };

struct kf_plan {
    kf_backend *backend;      /* the device of part 0 */
    kf_backend *const *parts; /* [part] the devices of the backend's team */
    int part_count;
    /* Among all parts of the run (base/backend/team/world.h): the index of part 0, and their number. */
    int first_part, all_parts;
    /* The parts of the run whose memory this process can reach (kf_backend_near): index of the first, and
     * number. */
    int near_first, near_parts;
    int part;                  /* the part that is being built (kf_plan_on) */
    const kf_problem *problem; /* outlives the plan */
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

    kf_item *items; /* in the order in which they run when due */
    size_t item_count, item_room;

    /* If a step's cost changes along a run, windows are stretches that stand for the whole run; 0: every step
     * costs the same. window_steps: the steps for which all windows together stand (a full turn of the solid,
     * rounded up). */
    int windows;
    uint64_t window_steps;

    uint64_t steps_done;
    double updates;     /* units that a step updates (kf_system.update) */
    double least_bytes; /* least memory traffic of a step in bytes: every value is read and written once */
    kf_graph *graph;    /* of graph_steps steps, made on first use */
    int graph_steps;    /* 0: not made yet; -1: none, steps run item by item */
    kf_graph *train;    /* a graph of several such graphs' steps, made on first use */
    int train_steps;    /* 0: none, because one graph has enough launches */
    struct kf_plan_lanes *lanes; /* [part] of a team whose items are enqueued lane by lane; or NULL */
};

/* Makes an empty plan on the backend's team, which is mostly one device. From here on kf_plan_free calls
 * methods->free, whatever fails. */
kf_plan *kf_plan_create(kf_backend *backend, const kf_problem *problem, const kf_config *config,
                        const kf_plan_methods *methods, void *system);

/* From this call on, the functions below create and append for this part. */
void kf_plan_on(kf_plan *plan, int part);
/* Returns whether the run's part of this number is one of this process. */
bool kf_plan_has_part(const kf_plan *plan, int number);

/* Building blocks for systems. The plan owns what they create. */
/* Makes a buffer over the memories of all reachable parts. ends: where each part's share of a period ends
 * (kf_buffer_spread, kf_buffer_share). */
kf_status kf_plan_spread(kf_plan *plan, size_t bytes, size_t period, const size_t *ends, kf_buffer **buffer,
                         kf_error *error);
/* Make a partial buffer on the part's device, and one in the host's memory (kf_buffer_partial,
 * kf_buffer_on_host). */
kf_status kf_plan_partial(kf_plan *plan, size_t bytes, size_t period, const size_t (*kept)[2], int count,
                          kf_buffer **buffer, kf_error *error);
kf_status kf_plan_on_host(kf_plan *plan, size_t bytes, kf_buffer **buffer, kf_error *error);
/* Makes a buffer on the part's device, whose content is undefined. */
kf_status kf_plan_buffer(kf_plan *plan, size_t bytes, kf_buffer **buffer, kf_error *error);
/* Makes a buffer of the part with this content. */
kf_status kf_plan_buffer_of(kf_plan *plan, const void *data, size_t bytes, kf_buffer **buffer,
                            kf_error *error);
/* Declares that the steps t with t % period == phase write all values of the buffer that they later read. The
 * gate fills the buffer with KF_SPOILT before each of these steps. NULL: nothing is declared. */
void kf_plan_fresh(kf_plan *plan, kf_buffer *buffer, int period, int phase);
/* Builds a source for the part's device, or finds it built. */
kf_status kf_plan_module(kf_plan *plan, const kf_source *source, kf_module **module, kf_error *error);
/* Makes a mark of the part's device, for signals and awaits. */
kf_status kf_plan_mark(kf_plan *plan, kf_mark **mark, kf_error *error);
/* Makes a mark of a reachable part, which is counted from the first reachable one. If parts of other
 * processes are reachable, it is shared (kf_mark_create_shared). */
kf_status kf_plan_mark_near(kf_plan *plan, int part, kf_mark **mark, kf_error *error);

/* Each appends an item that is due at every step on the main lane of the part, and returns it so that the
 * caller can set the rest. The pointer is valid until the next item is appended. A kernel's item has the name
 * of its launch, which is copied. */
kf_item *kf_plan_add_kernel(kf_plan *plan, const kf_launch *launch);
kf_item *kf_plan_add_call(kf_plan *plan, const char *name, const kf_call *call);
kf_item *kf_plan_add_copy(kf_plan *plan, const char *name, const kf_copy *copy);
kf_item *kf_plan_add_signal(kf_plan *plan, const char *name, kf_mark *mark);
kf_item *kf_plan_add_await(kf_plan *plan, const char *name, kf_mark *mark);

/* Visits the items that are due at a step, in their order. Only this function knows the schedule. */
typedef kf_status kf_item_visit(void *data, const kf_item *item, kf_error *error);
kf_status kf_plan_walk(const kf_plan *plan, uint64_t step, kf_item_visit *visit, void *data, kf_error *error);
/* Returns the number of steps after which the due items repeat, at most KF_LONGEST_CYCLE. */
int kf_plan_cycle(const kf_plan *plan);
/* Returns the number of steps that kf_plan_advance gives a device at once, if so many are left: one cycle, or
 * several cycles if one has few launches. */
int kf_plan_stride(const kf_plan *plan);
/* Enqueues one item on the main lane of its part. Asynchronous on cuda. */
kf_status kf_plan_execute(const kf_plan *plan, const kf_item *item, kf_error *error);

/* Hashes all modules and the libraries of all calls: equal hash, equal machine code. */
void kf_plan_hash(const kf_plan *plan, char hash[KF_HASH_HEX]);

/* Runs `steps` time steps, asynchronously on cuda: synchronise before reading. It uses a graph where that
 * saves time. Each part of a team gets its items in their lanes. */
kf_status kf_plan_advance(kf_plan *plan, uint64_t steps, kf_error *error);
/* Makes a graph of `steps` steps, from step `first` on, of those that kf_plan_advance has in its graph. Their
 * items have the same lanes. The caller frees it. *graph is NULL where the plan's items run one by one. */
kf_status kf_plan_part_of_graph(kf_plan *plan, uint64_t first, int steps, kf_graph **graph, kf_error *error);
/* Sets the state of step 0. */
kf_status kf_plan_initialise(kf_plan *plan, kf_error *error);
/* Takes a snapshot of the present state. The caller frees it, whatever the status. KF_GATE_FAILED: a value is
 * not finite. */
kf_status kf_plan_snapshot(kf_plan *plan, kf_snapshot *snapshot, kf_error *error);
/* Takes the tables of the present state. The caller frees them, whatever the status. */
kf_status kf_plan_record(kf_plan *plan, kf_records *records, kf_error *error);
/* Checks a part of the present state. KF_GATE_FAILED: it makes no sense any more. */
kf_status kf_plan_watch(kf_plan *plan, kf_error *error);
double kf_plan_time(const kf_plan *plan); /* s, of steps_done */
/* Returns the step, of window_steps, at which a window begins that is shifted by a share of the distance to
 * the next one (the arguments of seek). The plan's windows are spread evenly. */
uint64_t kf_plan_window_step(const kf_plan *plan, int window, double shift);
/* Spoils (KF_SPOILT) what the next step does not read before it has written it. */
kf_status kf_plan_spoil(const kf_plan *plan, kf_error *error);
/* KF_GATE_FAILED when a kernel wrote past an end of one of the plan's buffers. */
kf_status kf_plan_check_buffers(const kf_plan *plan, kf_error *error);
void kf_plan_free(kf_plan *plan);
/* Gives what was built as *plan, or frees it where the status says that it was not; returns the status. */
kf_status kf_plan_built(kf_plan *made, kf_status status, kf_plan **plan);

#endif
