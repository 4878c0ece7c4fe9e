/* One sum over channels: whole numbers, and exact. */
#include "portable.h"

typedef struct dedispersion_arguments {
    int extent[3];
    float *out;
    const unsigned char *in;
    const int *shifts;
    int samples, rows, channels, pitch;
} dedispersion_arguments;

KF_SCALAR_KERNEL(dedispersion, dedispersion_arguments) {
    long sum = 0;
    if (z > 0) return;
    for (int c = 0; c < a->channels; c++)
        sum += a->in[(size_t)c * a->pitch + x + (y * a->shifts[c]) / 16];
    a->out[(size_t)y * a->samples + x] = (float)sum;
}
