/* A loop that only takes time, in one item. Each round waits for the one before. The compiler does not
 * know the factor, so it cannot remove the loop. */
#include "portable.h"

typedef struct busy_arguments {
    int extent[3];
    int rounds;
    float *result;
} busy_arguments;

KF_SCALAR_KERNEL(busy, busy_arguments) {
    const int item = x + y + z;
    float value = a->result[item];
    for (int i = 0; i < a->rounds; i++)
        value = value * 0.999f + 1.0f;
    a->result[item] = value;
}
