/* A plan: what a config becomes on a device for a scene. An ordered list of kernel launches with their
 * buffers. It can be executed, captured as a graph, timed launch by launch, and verified; whoever holds one
 * needs no physics. */
#ifndef KF_BASE_PLAN_PLAN_H
#define KF_BASE_PLAN_PLAN_H

#include <stdint.h>
#include <stdio.h>

#include "base/backend/backend.h"
#include "base/space/config.h"

typedef struct kf_plan kf_plan;
typedef struct kf_scene kf_scene;

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

enum { KF_PLAN_LAUNCHES = 96, KF_PLAN_BUFFERS = 48, KF_PLAN_MODULES = 12 };

struct kf_plan {
    kf_backend *backend;
    const kf_scene *scene; /* outlives the plan */
    kf_config config;
    const kf_plan_methods *methods;
    void *system; /* the system's own data */

    kf_buffer *buffers[KF_PLAN_BUFFERS];
    int buffer_count;
    kf_module *modules[KF_PLAN_MODULES];
    kf_build builds[KF_PLAN_MODULES];
    int module_count;

    /* Launches of an even and of an odd step (two grids swap roles); alike when nothing swaps. */
    kf_launch step[2][KF_PLAN_LAUNCHES];
    int step_count[2];

    uint64_t turn_steps; /* steps of a full turn of the solid, rounded up; 0: none turns */

    uint64_t steps_done;
    double node_count;  /* nodes updated a step, for MLUPS */
    double least_bytes; /* floor of memory traffic a step: every value read and written once */
    kf_graph *graph;    /* of graph_steps steps, made on first use */
    int graph_steps;    /* 0: not made yet; -1: none, steps run launch by launch */
};

/* Building blocks for systems; the plan owns what they create. */
kf_status kf_plan_buffer(kf_plan *plan, size_t bytes, kf_buffer **buffer, kf_error *error);
kf_status kf_plan_module(kf_plan *plan, const kf_source *source, kf_module **module, kf_error *error);
/* Appends a launch to the even step (parity 0), the odd step (1) or both (2); returns it for filling bytes
 * etc. (for both: the even one, and the odd one is at the same index). */
kf_launch *kf_plan_append(kf_plan *plan, int parity, const char *name, kf_function *function,
                          const int block[3], const void *arguments, size_t bytes);

/* Runs steps time steps (asynchronously on cuda; synchronise before reading). Uses a graph where that pays.
 */
kf_status kf_plan_advance(kf_plan *plan, uint64_t steps, kf_error *error);
kf_status kf_plan_initialise(kf_plan *plan, kf_error *error);
/* KF_GATE_FAILED when a kernel wrote past the end of one of the plan's buffers. */
kf_status kf_plan_check_buffers(const kf_plan *plan, kf_error *error);
void kf_plan_free(kf_plan *plan);

#endif
