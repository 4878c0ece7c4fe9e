/* One value of the star, in double precision. */
#include "portable.h"

typedef struct star_arguments {
    int extent[3];
    float *out;
    const float *in;
    float centre, near, far;
    int nx, ny, nz;
} star_arguments;

KF_SCALAR_KERNEL(star, star_arguments) {
    const size_t row = (size_t)(a->nx + 4 + a->nx % 2), plane = row * (size_t)(a->ny + 4);
    const size_t at = (size_t)(z + 2) * plane + (size_t)(y + 2) * row + (size_t)x + 2, steps[3] = {1, row, plane};
    double near = 0.0, far = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        near += (double)a->in[at + steps[axis]] + (double)a->in[at - steps[axis]];
        far += (double)a->in[at + 2 * steps[axis]] + (double)a->in[at - 2 * steps[axis]];
    }
    a->out[((size_t)z * a->ny + y) * a->nx + x] =
        (float)((double)a->centre * (double)a->in[at] + (double)a->near * near + (double)a->far * far);
}
