/* Adds quantities other than velocity and pressure to the files of a flow, and makes the solid's surface with
 * the forces on it. */
#ifndef KF_SOLVER_OUTPUT_FLOW_FILES_H
#define KF_SOLVER_OUTPUT_FLOW_FILES_H

#include "base/plan/plan.h"
#include "scene/scene.h"
#include "solver/flow/flow_plan.h"

/* Quantities of a flow's snapshot, as bits. */
typedef enum kf_flow_quantity {
    KF_VELOCITY = 1, /* velocity and pressure are what a snapshot already has */
    KF_PRESSURE = 2,
    KF_VORTICITY = 4, /* curl of the velocity, 1/s */
    KF_Q_CRITERION =
        8,           /* (|rotation|^2 - |strain|^2)/2, 1/s^2: positive in vortices (Hunt, Wray, Moin 1988) */
    KF_SOLID = 16,   /* 1 at nodes inside the solid, by its mesh at that step */
    KF_SURFACE = 32, /* a file of its own, surface_000200.vtkhdf */
    KF_LEVELS = 64   /* not a quantity: files of nested grids have the cells of each level */
} kf_flow_quantity;

/* Reads a list such as "velocity,pressure,vorticity" into bits. KF_BAD_INPUT names an unknown word. "levels"
 * alone means velocity and pressure on levels. */
kf_status kf_flow_quantities_read(const char *list, int *quantities, kf_error *error);

/* Adds the requested quantities to a snapshot that has the velocity (m/s), and removes the others. The
 * snapshot is on the scene's nodes, or on a box of them. Derivatives are central differences, one-sided at
 * the faces. pose: the solid's, in the scene's lattice units. */
void kf_flow_quantities_derive(const kf_scene *scene, const kf_solid_pose *pose, int quantities,
                               kf_snapshot *snapshot);

/* Distance from a surface, in cells, at which its pressure is taken. */
#define KF_PRESSURE_AT 1.0

/* The solid's surface at its pose as a snapshot of particles with triangles: at each vertex
 * "pressure_coefficient" (or "kinematic_pressure") a cell outside of it, "wall_shear" (m^2/s^2, over density:
 * viscosity times the speed a cell and a half outside over that distance, along it, as the solid sees it)
 * and "y_plus" of the first node, half a cell away. Vertices whose outside lies beyond a face of the domain
 * that is not periodic have 0; beyond periodic ones the surface comes back into the domain as a whole. pose:
 * in the scene's lattice units. flow: a snapshot with velocity and pressure. Free with kf_snapshot_free;
 * triangles belong to the scene. */
void kf_flow_surface(const kf_scene *scene, const kf_solid_pose *pose, const kf_snapshot *flow,
                     kf_snapshot *surface);

#endif
