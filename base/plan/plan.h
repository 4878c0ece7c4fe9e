/* A plan: what a config becomes on a device for a problem. An ordered list of items with their buffers. It
 * can be executed, captured as a graph, timed item by item, counted, and verified; whoever holds one needs no
 * physics. */
#ifndef KF_BASE_PLAN_PLAN_H
#define KF_BASE_PLAN_PLAN_H

#include <stdint.h>
#include <stdio.h>

#include "base/plan/item.h"
#include "base/plan/problem.h"

typedef struct kf_plan kf_plan;

/* Where the solid is, and how it moves, in lattice units: x(t) = rotation (x0 - center0) + center, center0
 * being the scene's motion.center. rotation is row-major 3x3; quaternion (w, x, y, z) the same for a free
 * solid. */
typedef struct kf_solid_pose {
    double rotation[9], quaternion[4], center[3];
    double velocity[3], angular_velocity[3];
} kf_solid_pose;

/* Macroscopic fields at the nodes, [z][y][x] with x fastest, lattice units. Owned by the caller. */
typedef struct kf_fields {
    int nodes[3];
    float *density;
    float *velocity[3];
    bool has_pose; /* of a solid that the fluid moves */
    kf_solid_pose pose;
} kf_fields;
void kf_fields_free(kf_fields *fields);

/* Force and torque of the fluid on the solid, lattice units; torque about the solid's current centre. */
typedef struct kf_solid_load {
    double force[3], torque[3];
} kf_solid_load;

/* What a system implements for its plans. */
typedef struct kf_plan_methods {
    kf_status (*initialise)(kf_plan *plan, kf_error *error);                /* state of step 0 */
    kf_status (*fields)(kf_plan *plan, kf_fields *fields, kf_error *error); /* allocates the arrays */
    /* The same velocity on the device, for what goes with the flow: single precision, [z][y][x][4], lattice
     * units, the fourth value 0; buffer holds 16 bytes a node. Asynchronous like a launch; compiles on
     * first use. NULL: the system does not offer it. */
    kf_status (*velocity)(kf_plan *plan, kf_buffer *buffer, kf_error *error);
    /* The solid goes where it is at that step, after the launches so far and before the next; the flow stays
     * as it is. Asynchronous. NULL: nothing moves. */
    kf_status (*move_to)(kf_plan *plan, uint64_t step, kf_error *error);
    kf_status (*load)(kf_plan *plan, kf_solid_load *load, kf_error *error); /* of the last step */
    /* Of the last step; NULL in systems whose solids do not move. */
    kf_status (*pose)(kf_plan *plan, kf_solid_pose *pose, kf_error *error);
    kf_status (*state_size)(kf_plan *plan, size_t *bytes, kf_error *error);
    kf_status (*save)(kf_plan *plan, void *state, kf_error *error); /* independent of layout */
    kf_status (*restore)(kf_plan *plan, const void *state, uint64_t step, kf_error *error);
    void (*free)(kf_plan *plan); /* frees system data only */
} kf_plan_methods;

/* Longer cycles run item by item instead of as a graph; items that would make a cycle still longer than
 * KF_LONGEST_CYCLE do not count for it, as they do not show in a step. */
enum { KF_LONGEST_GRAPH = 64, KF_LONGEST_CYCLE = 1024 };

struct kf_plan {
    kf_backend *backend; /* of part 0 */
    kf_backend **parts;  /* [part] of the items */
    int part_count;
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

    kf_item *items; /* in the order in which those that are due run */
    size_t item_count, item_room;

    uint64_t turn_steps; /* steps of a full turn of the solid, rounded up; 0: none turns */

    uint64_t steps_done;
    double node_count;  /* nodes updated a step, for MLUPS */
    double least_bytes; /* floor of memory traffic a step: every value read and written once */
    kf_graph *graph;    /* of graph_steps steps, made on first use */
    int graph_steps;    /* 0: not made yet; -1: none, steps run item by item */
};

/* An empty plan on one device. methods->free is called with it from here on, whatever fails. */
kf_plan *kf_plan_create(kf_backend *backend, const kf_problem *problem, const kf_config *config,
                        const kf_plan_methods *methods, void *system);

/* Building blocks for systems; the plan owns what they create. */
kf_status kf_plan_buffer(kf_plan *plan, size_t bytes, kf_buffer **buffer, kf_error *error);
kf_status kf_plan_module(kf_plan *plan, const kf_source *source, kf_module **module, kf_error *error);
kf_status kf_plan_mark(kf_plan *plan, kf_mark **mark, kf_error *error);

/* Each appends an item, due at every step on the main lane of part 0, and returns it for filling in the
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
/* Gives one item to the main lane of its part (asynchronous on cuda). */
kf_status kf_plan_execute(const kf_plan *plan, const kf_item *item, kf_error *error);

/* Of all modules and the libraries of all calls: equal hash, equal machine code. */
void kf_plan_hash(const kf_plan *plan, char hash[KF_HASH_HEX]);

/* Runs steps time steps (asynchronously on cuda; synchronise before reading). Uses a graph where that pays.
 */
kf_status kf_plan_advance(kf_plan *plan, uint64_t steps, kf_error *error);
kf_status kf_plan_initialise(kf_plan *plan, kf_error *error);
/* KF_GATE_FAILED when a kernel wrote past the end of one of the plan's buffers. */
kf_status kf_plan_check_buffers(const kf_plan *plan, kf_error *error);
void kf_plan_free(kf_plan *plan);

#endif
