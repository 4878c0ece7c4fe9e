/* Systems of equations with a symmetric positive definite matrix: n rows of n numbers, of which only the
 * lower triangle is read and written. */
#ifndef KF_BASE_STATISTICS_CHOLESKY_H
#define KF_BASE_STATISTICS_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* Puts L with A = L L^T in A's place. False, and A spoilt, when A is not positive definite or not finite. */
bool kf_cholesky_factor(size_t n, double *matrix);
/* Solves A x = b in b's place. factor: of kf_cholesky_factor. */
void kf_cholesky_solve(size_t n, const double *factor, double *right);
/* Puts the lower triangle of the inverse of A in the place of its factor. */
void kf_cholesky_invert(size_t n, double *factor);

#endif
