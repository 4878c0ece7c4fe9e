/* Adds to a flow's files what they hold besides velocity and pressure, and the solid's surface with what
 * acts on it. */
#ifndef KF_SOLVER_OUTPUT_FLOW_FILES_H
#define KF_SOLVER_OUTPUT_FLOW_FILES_H

#include "base/plan/plan.h"
#include "scene/scene.h"

/* Quantities of a flow's snapshot, as bits. */
typedef enum kf_flow_quantity {
    KF_VELOCITY = 1, /* and pressure: what a snapshot has by itself */
    KF_PRESSURE = 2,
    KF_VORTICITY = 4, /* curl of the velocity, 1/s */
    KF_Q_CRITERION =
        8,           /* (|rotation|^2 - |strain|^2)/2, 1/s^2: positive in vortices (Hunt, Wray, Moin 1988) */
    KF_SOLID = 16,   /* 1 at nodes in the solid, by the mesh where it is at that step */
    KF_SURFACE = 32, /* a file of its own, surface_000200.vtkhdf */
    KF_LEVELS = 64   /* no quantity: files of nested grids have each level's own cells */
} kf_flow_quantity;

/* "velocity,pressure,vorticity": the bits of a list; KF_BAD_INPUT names the word that is none. "levels" alone
 * is of velocity and pressure. */
kf_status kf_flow_quantities_read(const char *list, int *quantities, kf_error *error);

/* Adds what is asked for to a snapshot that has the velocity (m/s), and takes away what is not. The snapshot
 * is of the scene's nodes, or of a box of them. Derivatives are central differences, one-sided at its faces.
 * pose: of the solid, in lattice units. */
void kf_flow_quantities_derive(const kf_scene *scene, const double rotation[9], const double center[3],
                               int quantities, kf_snapshot *snapshot);

/* Pressure at a surface is that so many cells outside of it. */
#define KF_PRESSURE_AT 1.0

/* The solid's surface at its pose as a snapshot of particles with triangles: at each vertex
 * "pressure_coefficient" (or "kinematic_pressure") a cell outside of it, "wall_shear" (m^2/s^2, over density:
 * viscosity times the speed a cell and a half outside over that distance, along it) and "y_plus" of the first
 * node, half a cell away. Vertices whose outside lies beyond the domain have 0. flow: a snapshot with
 * velocity and pressure. Free with kf_snapshot_free; triangles belong to the scene. */
void kf_flow_surface(const kf_scene *scene, const double rotation[9], const double center[3],
                     const kf_snapshot *flow, kf_snapshot *surface);

#endif
