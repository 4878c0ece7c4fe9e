/* The law of the wall of wall.cu, in wall units (friction velocity and viscosity). */
#ifndef KF_KERNELS_KINETIC_LAW_H
#define KF_KERNELS_KINETIC_LAW_H

#include "portable.h"

#define KF_LAW_KAPPA  0.384
#define KF_LAW_OFFSET 4.27 /* of the logarithm's law */
/* Limits of y+: below the first the no-slip condition holds, because the grid resolves the layer. Above the
 * second only the law acts. */
#define KF_LAW_BEGINS 12.0
#define KF_LAW_ALONE  20.0
/* Height in cells at which the law gives the speed of the layer that crosses the steps of a surface. The
 * steps reach half a cell beyond the surface, and this is the middle of that. */
#define KF_LAW_LAYER_AT 0.25
/* Limits of a wall node's speed, as factors of the speed that the law reads. The part above the first meets
 * no slip, and so does a speed against the stream. Above the second nothing pushes the node on, nor against
 * the stream from the third on. */
#define KF_LAW_FASTEST  1.25
#define KF_LAW_NO_LAYER 1.75
#define KF_LAW_AGAINST  0.5
/* Limits of a wall node's speed across the stream, along the surface. */
#define KF_LAW_ACROSS      0.5
#define KF_LAW_MOST_ACROSS 1.0

/* Reichardt's velocity at a height, and its slope: u+ = ln(1 + k y)/k + (B - ln(k)/k) (1 - exp(-y/11) - y/11
 * exp(-y/3)). */
KF_FUNCTION double kf_law_with_slope(double y, double *slope) {
    const double buffer = KF_LAW_OFFSET - log(KF_LAW_KAPPA) / KF_LAW_KAPPA;
    const double slow = exp(-y / 11.0), fast = exp(-y / 3.0);
    *slope = 1.0 / (1.0 + KF_LAW_KAPPA * y) + buffer / 11.0 * (slow - fast + y / 3.0 * fast);
    return log(1.0 + KF_LAW_KAPPA * y) / KF_LAW_KAPPA + buffer * (1.0 - slow - y / 11.0 * fast);
}

/* Returns the height y+ at which the law has a given product y+ u+, by Newton's method. The product is the
 * Reynolds number of height and velocity. The start value is the larger of those from a viscous layer and
 * from the power law of Werner and Wengle (1991). */
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

/* Returns 0 up to a part of 0, 1 from a part of 1 on, and increases smoothly between them. */
KF_FUNCTION double kf_law_smooth(double part) {
    if (!(part > 0.0)) return 0.0;
    return part < 1.0 ? part * part * (3.0 - 2.0 * part) : 1.0;
}

/* Returns the law's share at a height y+: 0 where the grid resolves the layer, then a smooth increase to 1.
 */
KF_FUNCTION double kf_law_share(double y_plus) {
    return kf_law_smooth((y_plus - KF_LAW_BEGINS) / (KF_LAW_ALONE - KF_LAW_BEGINS));
}

/* Returns the part of a wall node's speed along the stream that meets no slip. `own` is the node's speed,
 * `speed` the stream's further out. A layer is slower at its wall, and goes the same way. */
KF_FUNCTION double kf_law_excess(double own, double speed) {
    if (own < 0.0) return own;
    return own > KF_LAW_FASTEST * speed ? own - KF_LAW_FASTEST * speed : 0.0;
}

/* Returns the factor of a push on a wall node along the stream: a node that is much faster is not pushed on,
 * nor is one that flows against the stream pushed against it. */
KF_FUNCTION double kf_law_push(double own, double speed, double push) {
    const double room = push > 0.0 ? KF_LAW_NO_LAYER * speed - own : KF_LAW_AGAINST * speed + own;
    const double range = push > 0.0 ? KF_LAW_NO_LAYER - KF_LAW_FASTEST : KF_LAW_AGAINST;
    return kf_law_smooth(room / (range * speed));
}

/* Returns the part of a wall node's speed across the stream that meets no slip. The law reads no such speed
 * further out, so a layer has only as much of it as a stream that turns. */
KF_FUNCTION double kf_law_excess_across(double own, double speed) {
    return own > KF_LAW_ACROSS * speed ? own - KF_LAW_ACROSS * speed : 0.0;
}

/* Returns the factor of a push on a wall node that speeds up its motion across the stream. */
KF_FUNCTION double kf_law_push_across(double own, double speed) {
    return kf_law_smooth((KF_LAW_MOST_ACROSS * speed - own) / ((KF_LAW_MOST_ACROSS - KF_LAW_ACROSS) * speed));
}

#endif
