/* Methods of plans of flows beside those of all plans, in lattice units; and what all flows say of
 * themselves in the user's units. */
#ifndef KF_SOLVER_FLOW_FLOW_PLAN_H
#define KF_SOLVER_FLOW_FLOW_PLAN_H

#include "solver/flow/flow_problem.h"

/* The pose of a solid: x(t) = rotation (x0 - center0) + center, center0 being the scene's motion.center.
 * rotation is row-major 3x3; quaternion (w, x, y, z) is the same for a free solid. */
typedef struct kf_solid_pose {
    double rotation[9], quaternion[4], center[3];
    double velocity[3], angular_velocity[3];
} kf_solid_pose;

/* Macroscopic fields at the nodes, [z][y][x] with x fastest; of nested grids at those of
 * kf_scene_of_outputs. Owned by the caller. */
typedef struct kf_fields {
    int nodes[3];
    float *density;
    float *velocity[3];
} kf_fields;
void kf_fields_free(kf_fields *fields);

/* Force and torque of the fluid on the solid, in lattice units; torque about the solid's current centre. */
typedef struct kf_solid_load {
    double force[3], torque[3];
} kf_solid_load;

/* Returns whether two loads are the same, bit for bit. */
bool kf_solid_load_same(const kf_solid_load *one, const kf_solid_load *other);

/* Holds what a law of the wall found on a solid's surface in a step. */
typedef struct kf_wall_look {
    bool known;         /* there is a law; before the first step all is 0 */
    double friction[3]; /* the part of the force that acts along the surface */
    double pressure[2]; /* the rest along the drag: on the surface that faces the wind, and on that behind */
    /* Least, mean and largest over the surface. y_plus is that of half a cell: of a first node. */
    double friction_velocity[3], y_plus[3];
    double share; /* of the surface for which the law stands in */
} kf_wall_look;

typedef struct kf_flow_methods {
    kf_status (*fields)(kf_plan *plan, kf_fields *fields, kf_error *error); /* allocates the arrays */
    /* Reads, of nested grids, the fields of a level's box in its own cells, 0 the coarsest; first: its first
     * node in the whole domain in cells of that level. What a finer level covers is as that says. NULL: one
     * grid. */
    kf_status (*level)(kf_plan *plan, int level, kf_fields *fields, int first[3], kf_error *error);
    /* Reads some nodes as `fields` has them: values[i] is density and velocity at nodes[i], indices in
     * [z][y][x], ascending, none twice. All processes get all of them. NULL: fields are read instead. */
    kf_status (*nodes)(kf_plan *plan, const size_t *nodes, size_t count, float (*values)[4], kf_error *error);
    /* Brings the velocity to a buffer on the device, for what goes with the flow: single precision,
     * [z][y][x][4], the fourth value 0; buffer holds 16 bytes a node. Asynchronous like a launch; compiles
     * on first use. NULL: the system does not offer it. */
    kf_status (*velocity)(kf_plan *plan, kf_buffer *buffer, kf_error *error);
    kf_status (*load)(kf_plan *plan, kf_solid_load *load, kf_error *error); /* of the last step */
    /* The load on each of several solids, about its own centre; NULL in systems that refuse them. */
    kf_status (*loads)(kf_plan *plan, kf_solid_load *loads, kf_error *error);
    /* Looks at what a law of the wall found; friction_velocity, unless NULL, gets that of each of the scene's
     * links.wall, in cells a step. NULL: no such law. */
    kf_status (*wall)(kf_plan *plan, kf_wall_look *look, double *friction_velocity, kf_error *error);
    /* Finds the pose of the last step; NULL in systems whose solids the fluid does not move. */
    kf_status (*pose)(kf_plan *plan, kf_solid_pose *pose, kf_error *error);
    /* Says that a checkpoint is of the flow alone, with nothing in it that belongs to its solid: the flow
     * past another solid in the same grid can begin in it. NULL: it is not so in any plan. */
    bool (*lends)(const kf_plan *plan);
} kf_flow_methods;

/* Remembers what a look at a flow found first that makes no sense: a density or velocity that is not
 * finite, a speed of more than half a cell a step, a density far from 1. Planes (of a flow in two
 * dimensions rows) KF_WATCHED_APART apart tell soon enough: a value that is no number spreads by a cell a
 * step. */
enum { KF_WATCHED_APART = 64 };
typedef struct kf_flow_watch {
    const kf_scene *scene;
    bool failed;
    size_t index; /* of the node, [z][y][x] */
    double density, speed;
} kf_flow_watch;
/* Looks at one more node, given density - 1 and velocity. */
void kf_flow_watch_node(kf_flow_watch *watch, size_t index, double deviation, const double velocity[3]);
/* KF_GATE_FAILED, naming step, node and what to try, when it failed. */
kf_status kf_flow_watch_end(const kf_flow_watch *watch, uint64_t step, kf_error *error);
/* Looks in this way at all nodes of fields. */
kf_status kf_fields_check(const kf_scene *scene, const kf_fields *fields, uint64_t step, kf_error *error);

/* Takes a snapshot of any flow, as kf_plan_methods wants it: "velocity" (m/s) and "pressure_coefficient"
 * (p / (rho U^2 / 2)), or "kinematic_pressure" (p / rho in m^2/s^2) for a scene without a reference speed
 * U; pressure is relative to the reference density; checked as above. Node (i,j,k) lies at (i + 1/2, j +
 * 1/2, k + 1/2) cells from the domain's lower corner. */
kf_status kf_flow_snapshot(kf_plan *plan, kf_snapshot *snapshot, kf_error *error);
/* Takes the same of the box of a level of nested grids, at its own nodes, whose origin is the box's. */
kf_status kf_flow_level_snapshot(kf_plan *plan, int level, kf_snapshot *snapshot, kf_error *error);
/* Takes the records of any flow: of a solid, "forces" (per density of the fluid: times kg/m^3 they are N
 * and N m; coefficients 2 F / (rho U^2 A) with reference speed U and frontal area A in the directions of
 * flow_frame.h, NAN without them), of a law of the wall "wall", and of a free solid "motion". KF_GATE_FAILED
 * when a force is not finite. */
kf_status kf_flow_record(kf_plan *plan, kf_records *records, kf_error *error);
/* Says what the columns of any flow's tables refer to (kf_plan_methods.meaning). */
void kf_flow_meaning(const kf_plan *plan, kf_facts *meaning);
double kf_flow_time(const kf_plan *plan, uint64_t step); /* s */
/* Finds where any flow's solid is after the steps done: at rest, in its prescribed motion, or as the fluid
 * has moved it. */
kf_status kf_flow_pose(kf_plan *plan, kf_solid_pose *pose, kf_error *error);
/* Finds the pose in the same way, with the centre in the lattice of a level of the plan's nested grids. */
kf_status kf_flow_pose_on(kf_plan *plan, const kf_scene *level, kf_solid_pose *pose, kf_error *error);

/* Names of a flow's pressure in the user's units, and the factors from lattice units to these. */
typedef struct kf_flow_units {
    double velocity; /* m/s */
    double pressure; /* of density - 1 */
    const char *pressure_name, *pressure_unit;
} kf_flow_units;
void kf_flow_units_of(const kf_scene *scene, kf_flow_units *units);

/* Parts of these: the snapshot of a scene's fields, unchecked, and the table of the force on its solid. */
void kf_flow_snapshot_of(const kf_scene *scene, const kf_fields *fields, kf_snapshot *snapshot);
void kf_flow_add_forces(const kf_scene *scene, const kf_solid_load *load, kf_records *records);

#endif
