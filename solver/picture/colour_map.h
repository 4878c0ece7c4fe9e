/* Viridis: perceptually uniform, readable for colour-blind eyes and in grey. */
#ifndef KF_SOLVER_PICTURE_COLOUR_MAP_H
#define KF_SOLVER_PICTURE_COLOUR_MAP_H

typedef struct kf_colour {
    unsigned char red, green, blue;
} kf_colour;

/* Returns the colour of a fraction, clamped to [0, 1]; NAN gives magenta, which is not in the map. */
kf_colour kf_colour_map(double fraction);

/* The least round number not below value, which is above 0: where a colour scale ends. */
double kf_scale_top(double value);

#endif
