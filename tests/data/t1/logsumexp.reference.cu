/* The logarithm of the sum of exponentials of one row, in double precision. */
#include "portable.h"

typedef struct logsumexp_arguments {
    int extent[3];
    float *out;
    const float *in;
    int columns, rows;
} logsumexp_arguments;

KF_SCALAR_KERNEL(logsumexp, logsumexp_arguments) {
    double sum = 0.0;
    if (x > 0 || z > 0) return;
    for (int i = 0; i < a->columns; i++)
        sum += exp((double)a->in[(size_t)y * a->columns + i]);
    a->out[y] = (float)log(sum);
}
