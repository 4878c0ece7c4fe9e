/* The law of the wall of wall.cu, in the units of friction velocity and viscosity. */
#ifndef KF_KERNELS_KINETIC_LAW_H
#define KF_KERNELS_KINETIC_LAW_H

#include "portable.h"

#define KF_LAW_KAPPA  0.384
#define KF_LAW_OFFSET 4.27 /* of the logarithm's law */
/* Below the first the grid resolves the layer and there is no slip, above the second the law is alone. */
#define KF_LAW_BEGINS 12.0
#define KF_LAW_ALONE  20.0
/* Of the speed that the law looks at: what a node beside the wall has above the first meets no slip, and from
 * the second on nothing pushes it. */
#define KF_LAW_FASTEST  1.25
#define KF_LAW_NO_LAYER 1.75

/* Reichardt's velocity at a height, and its slope: u+ = ln(1 + k y)/k + (B - ln(k)/k) (1 - exp(-y/11) - y/11
 * exp(-y/3)). */
KF_FUNCTION double kf_law_with_slope(double y, double *slope) {
    const double buffer = KF_LAW_OFFSET - log(KF_LAW_KAPPA) / KF_LAW_KAPPA;
    const double slow = exp(-y / 11.0), fast = exp(-y / 3.0);
    *slope = 1.0 / (1.0 + KF_LAW_KAPPA * y) + buffer / 11.0 * (slow - fast + y / 3.0 * fast);
    return log(1.0 + KF_LAW_KAPPA * y) / KF_LAW_KAPPA + buffer * (1.0 - slow - y / 11.0 * fast);
}

/* Returns the height y+ at which the law has a Reynolds number y+ u+ of height and velocity, by Newton's
 * method. It begins at the larger of what a viscous layer and the power law of Werner and Wengle (1991) say.
 */
KF_FUNCTION double kf_law_height(double reynolds) {
    enum { ROUNDS = 5 };
    if (!(reynolds > 0.0)) return 0.0;
    const double power = exp(0.875 * log(reynolds / 8.3)), viscous = sqrt(reynolds);
    double y = power > viscous ? power : viscous;
    for (int i = 0; i < ROUNDS; i++) {
        double slope;
        const double u = kf_law_with_slope(y, &slope);
        y -= (y * u - reynolds) / (u + y * slope);
    }
    return y;
}

/* Returns the share of the law where it looks at that height: 0 where the layer is resolved, then smoothly up
 * to 1. */
KF_FUNCTION double kf_law_share(double y_plus) {
    const double part = (y_plus - KF_LAW_BEGINS) / (KF_LAW_ALONE - KF_LAW_BEGINS);
    if (!(part > 0.0)) return 0.0;
    return part < 1.0 ? part * part * (3.0 - 2.0 * part) : 1.0;
}

/* Returns the share of a push that a node may get which flows with own along the way of the stream of that
 * speed further out: a layer is slower at its wall, and what is much faster is not driven on. */
KF_FUNCTION double kf_law_push(double own, double speed) {
    const double part = (KF_LAW_NO_LAYER * speed - own) / ((KF_LAW_NO_LAYER - KF_LAW_FASTEST) * speed);
    if (!(part > 0.0)) return 0.0;
    return part < 1.0 ? part * part * (3.0 - 2.0 * part) : 1.0;
}

#endif
