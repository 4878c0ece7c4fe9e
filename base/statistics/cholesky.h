/* Linear systems with a symmetric positive definite matrix: n rows of n numbers. Only the lower triangle is
 * read and written. */
#ifndef KF_BASE_STATISTICS_CHOLESKY_H
#define KF_BASE_STATISTICS_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces A by L with A = L L^T. False, with A destroyed, if A is not positive definite or not finite. */
bool kf_cholesky_factor(size_t n, double *matrix);
/* Solves A x = b and replaces b by x. factor: from kf_cholesky_factor. */
void kf_cholesky_solve(size_t n, const double *factor, double *right);
/* Replaces the factor of A by the lower triangle of its inverse. */
void kf_cholesky_invert(size_t n, double *factor);

#endif
