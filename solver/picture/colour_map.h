/* The colour map viridis: perceptually uniform, and readable for colour-blind people and in grey. */
#ifndef KF_SOLVER_PICTURE_COLOUR_MAP_H
#define KF_SOLVER_PICTURE_COLOUR_MAP_H

typedef struct kf_colour {
    unsigned char red, green, blue;
} kf_colour;

/* Returns the colour of a fraction, clamped to [0, 1]. NAN gives magenta, which is not in the map. */
kf_colour kf_colour_map(double fraction);

/* Returns the smallest round number that is not below value (> 0), as the end of a colour scale. */
double kf_scale_top(double value);

#endif
