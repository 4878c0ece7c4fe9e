/* The matrix of a rotation about an axis, for solvers with turning solids. */
#ifndef KF_KERNELS_ROTATION_H
#define KF_KERNELS_ROTATION_H

#include "portable.h"

/* Writes, row by row, the matrix of the rotation about the unit vector n by the angle with this cosine and
 * sine (Rodrigues' formula). */
KF_FUNCTION void kf_rotate_about(double *rotation, const double *n, double cosine, double sine) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            rotation[3 * i + j] = (i == j ? cosine : 0.0) + (1.0 - cosine) * n[i] * n[j];
    rotation[1] -= sine * n[2];
    rotation[2] += sine * n[1];
    rotation[3] += sine * n[2];
    rotation[5] -= sine * n[0];
    rotation[6] -= sine * n[1];
    rotation[7] += sine * n[0];
}

#endif
