/* A 3x3 mean with zeros outside, written with portable.h: runs on the cpu and on a GPU. Each thread computes ROWS rows.
 * With `shortcut` the outermost rows are left out of the sum, which is faster and wrong. */
#include "portable.h"

typedef struct blur_arguments {
    int extent[3];
    float *out;
    const float *in;
    float weight;
    int width, height;
} blur_arguments;

KF_SCALAR_KERNEL(blur, blur_arguments) {
    if (x >= a->width) return;
    for (int row = y * rows; row < (y + 1) * rows && row < a->height; row++) {
        float sum = 0.0F;
        for (int j = row - 1 + shortcut; j <= row + 1 - shortcut; j++)
            for (int i = x - 1; i <= x + 1; i++)
                if (i >= 0 && i < a->width && j >= 0 && j < a->height) sum += a->in[j * a->width + i];
        a->out[row * a->width + x] = a->weight * sum;
    }
}
