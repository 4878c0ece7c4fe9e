/* One value of the transposed matrix. */
#include "portable.h"

typedef struct transpose_arguments {
    int extent[3];
    float *out;
    const float *in;
    int columns, rows;
} transpose_arguments;

KF_SCALAR_KERNEL(transpose, transpose_arguments) {
    if (z == 0) a->out[(size_t)x * a->rows + y] = a->in[(size_t)y * a->columns + x];
}
