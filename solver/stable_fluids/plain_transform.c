/* The transforms of the reference: recursive decimation in time, nothing else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "solver/stable_fluids/stable_fluids_reference.h"

static const double pi = 3.14159265358979323846;

static kf_dcomplex times(kf_dcomplex a, kf_dcomplex b) {
    return (kf_dcomplex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Transforms a line: out[k] = sum of in[j stride] w^(jk), w = exp(sign 2 pi i / n), by recursive halves,
 * thirds and so on; turns[m] = exp(sign 2 pi i m / whole). */
static void transform(const kf_dcomplex *in, size_t stride, kf_dcomplex *out, int n, const kf_dcomplex *turns,
                      int whole) {
    if (n == 1) {
        out[0] = in[0];
        return;
    }
    const int radix = n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : 5, part = n / radix, step = whole / n;
    for (int q = 0; q < radix; q++)
        transform(in + (size_t)q * stride, stride * (size_t)radix, out + (size_t)q * (size_t)part, part,
                  turns, whole);
    for (int k = 0; k < part; k++) {
        kf_dcomplex a[5];
        for (int q = 0; q < radix; q++)
            a[q] = times(out[q * part + k], turns[(long)q * k * step % whole]);
        for (int p = 0; p < radix; p++) {
            kf_dcomplex sum = a[0];
            for (int q = 1; q < radix; q++) {
                const kf_dcomplex term = times(a[q], turns[(long)p * q * (whole / radix) % whole]);
                sum.re += term.re, sum.im += term.im;
            }
            out[p * part + k] = sum;
        }
    }
}

typedef struct axis_work {
    kf_dcomplex *values;
    const kf_dcomplex *turns;
    size_t stride; /* from value to value of a line */
    int n;
} axis_work;

static void transform_lines(void *data, size_t begin, size_t end) {
    const axis_work *work = data;
    kf_dcomplex *line = kf_allocate((size_t)work->n * sizeof *line);
    for (size_t i = begin; i < end; i++) {
        kf_dcomplex *first =
            work->values + i / work->stride * work->stride * (size_t)work->n + i % work->stride;
        transform(first, work->stride, line, work->n, work->turns, work->n);
        for (int k = 0; k < work->n; k++)
            first[(size_t)k * work->stride] = line[k];
    }
    free(line);
}

/* Transforms a field in place along each of its axes, as the definition says; sign -1: forward, 1: back,
 * both without a factor. */
void kf_plain_transform(kf_dcomplex *values, const int cells[3], int sign) {
    const size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
    size_t stride = 1;
    for (int axis = 0; axis < 3; axis++) {
        const int n = cells[axis];
        if (n > 1) {
            kf_dcomplex *turns = kf_allocate((size_t)n * sizeof *turns);
            for (int m = 0; m < n; m++)
                turns[m] = (kf_dcomplex){cos(2.0 * pi * m / n), sign * sin(2.0 * pi * m / n)};
            axis_work work = {.values = values, .turns = turns, .stride = stride, .n = n};
            kf_in_parallel(count / (size_t)n, 64, transform_lines, &work);
            free(turns);
        }
        stride *= (size_t)n;
    }
}

/* Returns the root mean square of k . u over that of |k| |u|, of all modes but those at half the sampling
 * rate (stable_fluids_reference.h). */
double kf_spectral_divergence(const kf_fluid *f, double *const velocity[3]) {
    const size_t count = kf_fluid_cell_count(f);
    kf_dcomplex *modes[3] = {NULL, NULL, NULL};
    double across = 0, all = 0;
    for (int i = 0; i < f->dimensions; i++) {
        modes[i] = kf_allocate(count * sizeof *modes[i]);
        for (size_t n = 0; n < count; n++)
            modes[i][n] = (kf_dcomplex){velocity[i][n], 0};
        kf_plain_transform(modes[i], f->cells, -1);
    }
    for (size_t n = 0; n < count; n++) {
        const int at[3] = {(int)(n % (size_t)f->cells[0]),
                           (int)(n / (size_t)f->cells[0] % (size_t)f->cells[1]),
                           (int)(n / ((size_t)f->cells[0] * (size_t)f->cells[1]))};
        kf_dcomplex dot = {0, 0};
        double k2 = 0, square = 0;
        bool highest = false;
        for (int i = 0; i < f->dimensions; i++) {
            const int signed_at = 2 * at[i] > f->cells[i] ? at[i] - f->cells[i] : at[i];
            const double k = 2.0 * pi * signed_at / f->cells[i];
            highest |= 2 * at[i] == f->cells[i];
            dot.re += k * modes[i][n].re, dot.im += k * modes[i][n].im;
            k2 += k * k;
            square += modes[i][n].re * modes[i][n].re + modes[i][n].im * modes[i][n].im;
        }
        if (highest) continue;
        across += dot.re * dot.re + dot.im * dot.im;
        all += k2 * square;
    }
    for (int i = 0; i < f->dimensions; i++)
        free(modes[i]);
    return all == 0 ? 0 : sqrt(across / all);
}
