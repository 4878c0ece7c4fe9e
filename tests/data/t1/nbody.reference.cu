/* What all bodies do to one, in double precision. */
#include "portable.h"

typedef struct nbody_arguments {
    int extent[3];
    float *out;
    const float *bodies;
    int count;
} nbody_arguments;

KF_SCALAR_KERNEL(nbody, nbody_arguments) {
    double sums[4] = {0};
    if (y > 0 || z > 0) return;
    for (int j = 0; j < a->count; j++) {
        double d[3], square = 0.01, mass = (double)a->bodies[4 * j + 3];
        for (int axis = 0; axis < 3; axis++) {
            d[axis] = (double)a->bodies[4 * j + axis] - (double)a->bodies[4 * x + axis];
            square += d[axis] * d[axis];
        }
        for (int axis = 0; axis < 3; axis++)
            sums[axis] += mass * d[axis] / (square * sqrt(square));
        sums[3] += mass / sqrt(square);
    }
    for (int i = 0; i < 4; i++)
        a->out[4 * x + i] = (float)sums[i];
}
