/* Further methods of plans that are flows, in lattice units, and what all flows tell about themselves in the
 * user's units. */
#ifndef KF_SOLVER_FLOW_FLOW_PLAN_H
#define KF_SOLVER_FLOW_FLOW_PLAN_H

#include "solver/flow/flow_problem.h"

/* The pose of a solid: x(t) = rotation (x0 - center0) + center, where center0 is the scene's motion.center.
 * rotation is row-major 3x3. For a free solid the quaternion (w, x, y, z) is the same rotation. */
typedef struct kf_solid_pose {
    double rotation[9], quaternion[4], center[3]; /* center in cells */
    double velocity[3], angular_velocity[3];      /* cells a step, radians a step */
} kf_solid_pose;

/* Macroscopic fields at the nodes, [z][y][x] with x fastest; with nested grids at the nodes of
 * kf_scene_of_outputs. The caller owns them. */
typedef struct kf_fields {
    int nodes[3];
    float *density;     /* 1 at rest */
    float *velocity[3]; /* cells a step */
} kf_fields;
void kf_fields_free(kf_fields *fields);

/* Force and torque of the fluid on the solid, in lattice units; torque about the solid's current centre. */
typedef struct kf_solid_load {
    double force[3], torque[3];
} kf_solid_load;

/* Returns whether two loads are the same, bit for bit. */
bool kf_solid_load_same(const kf_solid_load *one, const kf_solid_load *other);

/* Results of a law of the wall on a solid's surface in a step, in lattice units. */
typedef struct kf_wall_look {
    bool known;         /* there is a law; before the first step all values are 0 */
    double friction[3]; /* the part of the force that acts along the surface */
    /* The remaining force along the drag: on surface that faces the wind, and on all other surface. */
    double pressure[2];
    /* Least, mean and largest over the surface. y_plus is at half a cell, where a first node is. */
    double friction_velocity[3], y_plus[3];
    double share;    /* share of the surface on which the law acts */
    double modelled; /* share of it whose layers are modelled; 0 without the model */
} kf_wall_look;

typedef struct kf_flow_methods {
    kf_status (*fields)(kf_plan *plan, kf_fields *fields, kf_error *error); /* allocates the arrays */
    /* Reads the fields of a level of nested grids (0: the coarsest) in the cells of the level's box. first:
     * the box's first node in the whole domain, in cells of that level. Where a finer level covers the box,
     * the values are that level's. NULL: there is one grid. */
    kf_status (*level)(kf_plan *plan, int level, kf_fields *fields, int first[3], kf_error *error);
    /* Reads some nodes of what `fields` reads: values[i] is density and velocity at nodes[i]. Nodes are
     * indices in [z][y][x], ascending, each once. All processes get all values. NULL: fields are read
     * instead. */
    kf_status (*nodes)(kf_plan *plan, const size_t *nodes, size_t count, float (*values)[4], kf_error *error);
    /* Writes the velocity to a buffer on the device for things that the flow carries: single precision,
     * [z][y][x][4], the fourth value 0, so 16 bytes a node. Asynchronous like a launch; its kernel is
     * compiled on first use. NULL: the system does not offer it. */
    kf_status (*velocity)(kf_plan *plan, kf_buffer *buffer, kf_error *error);
    kf_status (*load)(kf_plan *plan, kf_solid_load *load, kf_error *error); /* of the last step */
    /* The load on each of several solids about its own centre. NULL in systems that refuse several solids. */
    kf_status (*loads)(kf_plan *plan, kf_solid_load *loads, kf_error *error);
    /* Reads what a law of the wall computed. friction_velocity (may be NULL) gets that of each of the scene's
     * links.wall, in cells a step. NULL: there is no such law. */
    kf_status (*wall)(kf_plan *plan, kf_wall_look *look, double *friction_velocity, kf_error *error);
    /* Finds the pose after the last step. NULL in systems whose solids the fluid does not move. */
    kf_status (*pose)(kf_plan *plan, kf_solid_pose *pose, kf_error *error);
    /* Returns whether a checkpoint contains only the flow and nothing of its solid. The flow around another
     * solid on the same grid can then begin from it. NULL: no plan's checkpoint does. */
    bool (*lends)(const kf_plan *plan);
} kf_flow_methods;

/* A check of a flow remembers the first node that makes no sense: density or velocity is not finite, speed is
 * more than half a cell a step, or density is far from 1. It is enough to check planes (in two dimensions
 * rows) KF_WATCHED_APART apart, because a NaN spreads by a cell a step. */
enum { KF_WATCHED_APART = 64 };
typedef struct kf_flow_watch {
    const kf_scene *scene;
    bool failed;
    size_t index; /* of the node, [z][y][x] */
    double density, speed;
} kf_flow_watch;
/* Checks one more node, given density - 1 and velocity. */
void kf_flow_watch_node(kf_flow_watch *watch, size_t index, double deviation, const double velocity[3]);
/* KF_GATE_FAILED if a node failed. The message names step, node and what to try. */
kf_status kf_flow_watch_end(const kf_flow_watch *watch, uint64_t step, kf_error *error);
/* Checks all nodes of fields in this way. */
kf_status kf_fields_check(const kf_scene *scene, const kf_fields *fields, uint64_t step, kf_error *error);

/* The snapshot method of all flows: "velocity" (m/s) and "pressure_coefficient" (p / (rho U^2 / 2)); without
 * a reference speed U it is "kinematic_pressure" (p / rho in m^2/s^2). Pressure is relative to the reference
 * density. The fields are checked as above. Node (i,j,k) lies (i + 1/2, j + 1/2, k + 1/2) cells from the
 * domain's lower corner. */
kf_status kf_flow_snapshot(kf_plan *plan, kf_snapshot *snapshot, kf_error *error);
/* Takes such a snapshot of the box of a level of nested grids, at the level's nodes. Its origin is that of
 * the box. */
kf_status kf_flow_level_snapshot(kf_plan *plan, int level, kf_snapshot *snapshot, kf_error *error);
/* The record method of all flows. A solid has the table "forces": forces over the fluid's density (times
 * kg/m^3 they are N and N m), and coefficients 2 F / (rho U^2 A) with reference speed U and frontal area A
 * along the directions of flow_frame.h, NAN without U or A. A law of the wall adds the table "wall", a free
 * solid "motion". KF_GATE_FAILED when a force is not finite. */
kf_status kf_flow_record(kf_plan *plan, kf_records *records, kf_error *error);
/* The meaning method of all flows: what the columns of their tables refer to. */
void kf_flow_meaning(const kf_plan *plan, kf_facts *meaning);
double kf_flow_time(const kf_plan *plan, uint64_t step); /* s */
/* Finds the pose of a flow's solid after the steps done: at rest, in its prescribed motion, or moved by the
 * fluid. */
kf_status kf_flow_pose(kf_plan *plan, kf_solid_pose *pose, kf_error *error);
/* Finds the pose in the same way, in the lattice of a level of the plan's nested grids. */
kf_status kf_flow_pose_on(kf_plan *plan, const kf_scene *level, kf_solid_pose *pose, kf_error *error);

/* The name and unit of a flow's pressure for the user, and the factors that convert lattice units. */
typedef struct kf_flow_units {
    double velocity; /* m/s */
    double pressure; /* factor of density - 1 */
    const char *pressure_name, *pressure_unit;
} kf_flow_units;
void kf_flow_units_of(const kf_scene *scene, kf_flow_units *units);

/* Parts of the methods above: the snapshot of a scene's fields without the check, and the table of the force
 * on its solid. */
void kf_flow_snapshot_of(const kf_scene *scene, const kf_fields *fields, kf_snapshot *snapshot);
void kf_flow_add_forces(const kf_scene *scene, const kf_solid_load *load, kf_records *records);

#endif
