/* Vectors of three numbers. */
#ifndef KF_BASE_UTIL_VECTOR_H
#define KF_BASE_UTIL_VECTOR_H

#include <math.h>

static inline double kf_dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double kf_length(const double vector[3]) {
    return sqrt(kf_dot(vector, vector));
}

/* Sets product = a x b. product must be neither a nor b. */
static inline void kf_cross(const double a[3], const double b[3], double product[3]) {
    for (int i = 0; i < 3; i++)
        product[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Divides the vector by its length, which must not be 0. */
static inline void kf_normalise(double vector[3]) {
    const double length = kf_length(vector);
    for (int i = 0; i < 3; i++)
        vector[i] /= length;
}

#endif
