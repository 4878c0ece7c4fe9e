/* Spheres and cylinders in a wind tunnel with slip walls, which the cases of drag and vortex shedding
 * share. */
#ifndef KF_SOLVER_VALIDATION_TUNNEL_H
#define KF_SOLVER_VALIDATION_TUNNEL_H

#include "solver/validation/flow.h"

/* Lengths are in diameters, unless said otherwise. A cylinder's axis is along z, over four nodes. `before`
 * and `behind` are measured from the axis or centre. */
typedef struct kf_tunnel {
    bool cylinder;
    double diameter, speed, reynolds; /* diameter in cells, speed in cells a step */
    double before, behind, width;
    /* Duration before the forces are measured, and of the measurement, in times in which the stream goes one
     * diameter. */
    double settle, watch;
    double bound; /* largest accepted error of the drag coefficient */
} kf_tunnel;

/* Makes the scene of a tunnel. The caller frees it. */
kf_scene *kf_tunnel_scene(const kf_tunnel *tunnel);
/* Replaces the samples of the tunnel's body by cut links. */
kf_status kf_tunnel_link(const kf_tunnel *tunnel, bool half_way, kf_scene *scene, kf_error *error);
/* Returns the drag coefficient of a force along the stream, with the body's frontal area. */
double kf_tunnel_coefficient(const kf_tunnel *tunnel, double force);
/* Returns the blockage correction: the square of the speed of the stream between body and walls over that
 * without walls, for a body of this drag coefficient. It is 1 + 0.65 V/A^1.5 + Cd S/(4 A) for a sphere (Young
 * and Squire, ARC R&M 1984, 1945; Herriot, NACA Report 995, 1950), and 1 + pi^2/12 (D/h)^2 + Cd D/(4 h) for a
 * cylinder (Allen and Vincenti, NACA Report 782, 1944). */
double kf_tunnel_blockage(const kf_tunnel *tunnel, double drag);
/* Computes the mean force along the stream over `moments` moments, evenly spread over the time of measurement
 * after the tunnel has settled. travel: steps of the plan in which the stream goes one diameter. */
kf_status kf_tunnel_mean_force(const kf_validation *validation, const kf_tunnel *tunnel, double travel,
                               int moments, kf_plan *plan, double *force, kf_error *error);
/* Measures the drag coefficient of a sphere with a system, corrected for blockage: the mean of 20 moments
 * after the tunnel has settled. */
kf_status kf_tunnel_measure(const kf_validation *validation, const kf_system *system, const kf_tunnel *tunnel,
                            double *corrected, kf_error *error);

#endif
