/* One value of the convolution, in double precision. */
#include "portable.h"

typedef struct convolution_arguments {
    int extent[3];
    float *out;
    const float *in, *weights;
    int width, height;
} convolution_arguments;

KF_SCALAR_KERNEL(convolution, convolution_arguments) {
    enum { FILTER = 15 };
    double sum = 0.0;
    if (z > 0) return;
    for (int j = 0; j < FILTER; j++)
        for (int i = 0; i < FILTER; i++)
            sum += (double)a->weights[j * FILTER + i] * (double)a->in[(size_t)(y + j) * (a->width + FILTER - 1) + x + i];
    a->out[(size_t)y * a->width + x] = (float)sum;
}
