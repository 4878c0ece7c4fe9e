/* A loop that takes time and does nothing else: one item, whose rounds each wait for the one before. The
 * factor is not known when this is compiled, so the loop stays. */
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
