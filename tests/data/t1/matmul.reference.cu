/* One value of a matrix product, in double precision. */
#include "portable.h"

typedef struct matmul_arguments {
    int extent[3];
    float *c;
    const float *a, *b;
    int columns, rows, depth;
} matmul_arguments;

KF_SCALAR_KERNEL(matmul, matmul_arguments) {
    double sum = 0.0;
    if (z > 0) return;
    for (int k = 0; k < a->depth; k++)
        sum += (double)a->a[(size_t)y * a->depth + k] * (double)a->b[(size_t)k * a->columns + x];
    a->c[(size_t)y * a->columns + x] = (float)sum;
}
