#include "base/statistics/cholesky.h"

#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "base/util/wide.h"

/* Computes a dot product with four sums, so that an addition does not wait for the previous one. */
static inline double dot(const double *a, const double *b, size_t count) {
    double sums[4] = {0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++)
            sums[k] += a[i + k] * b[i + k];
    for (; i < count; i++)
        sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

KF_WIDE static bool factor_rows(size_t n, double *matrix) {
    for (size_t i = 0; i < n; i++) {
        double *row = matrix + i * n;
        for (size_t j = 0; j < i; j++)
            row[j] = (row[j] - dot(row, matrix + j * n, j)) / matrix[j * n + j];
        const double square = row[i] - dot(row, row, i);
        if (!(square > 0 && isfinite(square))) return false;
        row[i] = sqrt(square);
    }
    return true;
}
bool kf_cholesky_factor(size_t n, double *matrix) {
    return factor_rows(n, matrix);
}

void kf_cholesky_solve(size_t n, const double *factor, double *right) {
    for (size_t i = 0; i < n; i++)
        right[i] = (right[i] - dot(factor + i * n, right, i)) / factor[i * n + i];
    for (size_t i = n; i-- > 0;) {
        right[i] /= factor[i * n + i];
        for (size_t j = 0; j < i; j++)
            right[j] -= factor[i * n + j] * right[i];
    }
}

/* Inverts L. Row j of inverted becomes column j of the inverse, from its diagonal on. */
KF_WIDE static void invert_rows(size_t n, double *factor) {
    double *inverted = kf_allocate_zeroed(n * n, sizeof *inverted);
    for (size_t j = 0; j < n; j++) {
        double *column = inverted + j * n;
        column[j] = 1 / factor[j * n + j];
        for (size_t i = j + 1; i < n; i++)
            column[i] = -dot(factor + i * n + j, column + j, i - j) / factor[i * n + i];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            factor[i * n + j] = dot(inverted + i * n + i, inverted + j * n + i, n - i);
    free(inverted);
}
void kf_cholesky_invert(size_t n, double *factor) {
    invert_rows(n, factor);
}
