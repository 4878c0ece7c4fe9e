#include "solver/picture/colour_map.h"

#include <math.h>
#include <stddef.h>

/* Viridis at 0, 0.1, ..., 1. */
static const unsigned char anchors[][3] = {{68, 1, 84},    {72, 36, 117},  {65, 68, 135},  {53, 95, 141},
                                           {42, 120, 142}, {33, 145, 140}, {34, 168, 132}, {68, 191, 112},
                                           {122, 209, 81}, {189, 223, 38}, {253, 231, 37}};
enum { LAST_ANCHOR = sizeof anchors / sizeof anchors[0] - 1 };

static unsigned char between(int low, int channel, double part) {
    double value = (1 - part) * anchors[low][channel] + part * anchors[low + 1][channel];
    return (unsigned char)(value + 0.5);
}

kf_colour kf_colour_map(double fraction) {
    if (isnan(fraction)) return (kf_colour){255, 0, 255};
    double position = fmin(fmax(fraction, 0), 1) * LAST_ANCHOR;
    int low = position >= LAST_ANCHOR ? LAST_ANCHOR - 1 : (int)position;
    double part = position - low;
    return (kf_colour){between(low, 0, part), between(low, 1, part), between(low, 2, part)};
}

double kf_scale_top(double value) {
    static const double steps[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    double power = pow(10, floor(log10(value)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] * power >= value * (1 - 1e-9)) return steps[i] * power;
    }
    return 10 * power;
}
