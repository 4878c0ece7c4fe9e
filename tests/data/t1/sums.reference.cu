/* One running sum, in double precision. */
#include "portable.h"

typedef struct sums_arguments {
    int extent[3];
    float *out;
    const float *in;
    int width, height;
} sums_arguments;

KF_SCALAR_KERNEL(sums, sums_arguments) {
    double sum = 0.0;
    if (z > 0) return;
    for (int i = 0; i <= x; i++)
        sum += (double)a->in[(size_t)y * a->width + i];
    a->out[(size_t)y * a->width + x] = (float)sum;
}
