/* Spheres and cylinders in a wind tunnel with slip walls: what the cases of drag and of shedding share. */
#ifndef KF_SOLVER_VALIDATION_TUNNEL_H
#define KF_SOLVER_VALIDATION_TUNNEL_H

#include "solver/validation/flow.h"

/* Lengths in diameters. A cylinder's axis is z, which is four nodes long; behind and before are from its
 * axis. */
typedef struct kf_tunnel {
    bool cylinder;
    double diameter, speed, reynolds; /* cells, cells a step */
    double before, behind, width;
    double settle, watch; /* travels of one diameter before the forces are looked at, and meanwhile */
    double bound;         /* of the drag coefficient's error */
} kf_tunnel;

/* Makes the scene of a tunnel; the caller frees it. */
kf_scene *kf_tunnel_scene(const kf_tunnel *tunnel);
/* Puts a body by links in place of the tunnel's samples. */
kf_status kf_tunnel_link(const kf_tunnel *tunnel, bool half_way, kf_scene *scene, kf_error *error);
/* Drag coefficient of a force along the stream, by the body's own frontal area. */
double kf_tunnel_coefficient(const kf_tunnel *tunnel, double force);
/* The square of how much faster the stream between body and walls is than without walls, for a body of that
 * drag coefficient: 1 + 0.65 V/A^1.5 + Cd S/(4 A) for a sphere (Young and Squire, ARC R&M 1984, 1945;
 * Herriot, NACA Report 995, 1950), 1 + pi^2/12 (D/h)^2 + Cd D/(4 h) for a cylinder (Allen and Vincenti, NACA
 * Report 782, 1944). */
double kf_tunnel_blockage(const kf_tunnel *tunnel, double drag);
/* The mean force along the stream at so many moments, evenly spread over the time that the tunnel is watched,
 * once it has settled. travel: steps of the plan in which the stream goes one diameter. */
kf_status kf_tunnel_mean_force(const kf_validation *validation, const kf_tunnel *tunnel, double travel,
                               int moments, kf_plan *plan, double *force, kf_error *error);
/* The drag coefficient of a sphere by this system, corrected for the blockage: the mean of 20 moments after
 * the tunnel has settled. */
kf_status kf_tunnel_measure(const kf_validation *validation, const kf_system *system, const kf_tunnel *tunnel,
                            double *corrected, kf_error *error);

#endif
