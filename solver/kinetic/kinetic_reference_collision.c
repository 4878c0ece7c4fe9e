/* The collisions of the reference, node by node, from their definitions: sums for the moments, and
 * equilibrium and force as populations whose moments are summed in the same way. Models and sources:
 * docs/physics.md. */
#include <math.h>
#include <string.h>

#include "base/util/vector.h"
#include "scene/scene.h"
#include "solver/kinetic/reference.h"

enum { Q = KF_REFERENCE_Q };
static const double LARGEST_RATE_19 = 1.7;

#define VELOCITIES                                                                                           \
    {0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}, {1, 1, 0}, {-1, 1, 0},   \
        {1, -1, 0}, {-1, -1, 0}, {1, 0, 1}, {-1, 0, 1}, {1, 0, -1}, {-1, 0, -1}, {0, 1, 1}, {0, -1, 1},      \
        {0, 1, -1}, {0, -1, -1}, {1, 1, 1}, {-1, 1, 1}, {1, -1, 1}, {-1, -1, 1}, {1, 1, -1}, {-1, 1, -1},    \
        {1, -1, -1}, {                                                                                       \
        -1, -1, -1                                                                                           \
    }
const int kf_reference_velocities[Q][3] = {VELOCITIES};
/* The same without conversions in sums over all. */
static const double velocities[Q][3] = {VELOCITIES};

/* Returns the equilibrium's factor of one axis. */
static double equilibrium_along(int c, double u) {
    return c == 0 ? 2.0 / 3.0 - u * u : 0.5 * (1.0 / 3.0 + u * u + c * u);
}

double kf_reference_equilibrium(int i, double density, const double u[3]) {
    double product = density;
    for (int axis = 0; axis < 3; axis++)
        product *= equilibrium_along(kf_reference_velocities[i][axis], u[axis]);
    return product;
}

/* Takes the corners out of 27 populations so that 19 are left with the same moments: a corner's goes to
 * the edges beside it, less to the faces, and to the rest. */
void kf_reference_fold_corners(double *f, size_t stride) {
    for (int corner = 0; corner < Q; corner++) {
        const int *c = kf_reference_velocities[corner];
        const double value = f[(size_t)corner * stride];
        if (c[0] == 0 || c[1] == 0 || c[2] == 0) continue;
        f[(size_t)corner * stride] = 0.0;
        for (int i = 0; i < Q; i++) {
            const int *d = kf_reference_velocities[i];
            /* The axes along which both velocities agree; along the others this one is 0. */
            int along = 0;
            bool beside = true;
            for (int axis = 0; axis < 3; axis++) {
                along += d[axis] == c[axis];
                beside = beside && (d[axis] == c[axis] || d[axis] == 0);
            }
            if (beside && along < 3) f[(size_t)i * stride] += along == 1 ? -value : value;
        }
    }
}

/* Computes density, momentum and, unless that is NULL, second moments of the populations f[i * stride]. */
double kf_reference_sums(const double *f, size_t stride, double j[3], double second[3][3]) {
    double density = 0;
    memset(j, 0, 3 * sizeof(double));
    if (second != NULL) memset(second, 0, 9 * sizeof(double));
    for (int i = 0; i < Q; i++) {
        const double *c = velocities[i], value = f[(size_t)i * stride];
        density += value;
        for (int p = 0; p < 3; p++) {
            j[p] += c[p] * value;
            for (int q = 0; q < 3 && second != NULL; q++)
                second[p][q] += c[p] * c[q] * value;
        }
    }
    return density;
}

double kf_reference_norm(const double second[3][3]) {
    double sum = 0;
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            sum += second[p][q] * second[p][q];
    return sqrt(sum);
}

typedef double moment_array[3][3][3];

/* Replaces k[p][q][r] by the sums of m[0][a][p] m[1][b][q] m[2][c][r] k[p][q][r], axis after axis. */
static void transform(moment_array k, moment_array m) {
    moment_array along_z, along_yz;
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            for (int c = 0; c < 3; c++)
                along_z[p][q][c] =
                    m[2][c][0] * k[p][q][0] + m[2][c][1] * k[p][q][1] + m[2][c][2] * k[p][q][2];
    for (int p = 0; p < 3; p++)
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 3; c++)
                along_yz[p][b][c] = m[1][b][0] * along_z[p][0][c] + m[1][b][1] * along_z[p][1][c] +
                                    m[1][b][2] * along_z[p][2][c];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 3; c++)
                k[a][b][c] = m[0][a][0] * along_yz[0][b][c] + m[0][a][1] * along_yz[1][b][c] +
                             m[0][a][2] * along_yz[2][b][c];
}

/* Sets power[axis][a][c + 1] to (c - u)^a. */
static void powers_about(const double u[3], moment_array power) {
    for (int axis = 0; axis < 3; axis++)
        for (int c = 0; c < 3; c++) {
            const double about = c - 1 - u[axis];
            power[axis][0][c] = 1.0;
            power[axis][1][c] = about;
            power[axis][2][c] = about * about;
        }
}

/* Works out k[a][b][c], the sums of f_i (c_ix - ux)^a (c_iy - uy)^b (c_iz - uz)^c. */
static void central_moments(const double *f, size_t stride, const double u[3], moment_array k) {
    moment_array power;
    for (int i = 0; i < Q; i++) {
        const int *c = kf_reference_velocities[i];
        k[c[0] + 1][c[1] + 1][c[2] + 1] = f[(size_t)i * stride];
    }
    powers_about(u, power);
    transform(k, power);
}

/* Works out the same for the equilibrium, whose sums are products of those along each axis. */
static void equilibrium_moments(double density, const double u[3], const double about[3], moment_array k) {
    double along[3][3] = {{0}};
    moment_array power;
    powers_about(about, power);
    for (int axis = 0; axis < 3; axis++)
        for (int a = 0; a < 3; a++)
            for (int c = 0; c < 3; c++)
                along[axis][a] += equilibrium_along(c - 1, u[axis]) * power[axis][a][c];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 3; c++)
                k[a][b][c] = density * along[0][a] * along[1][b] * along[2][c];
}

/* Returns populations from central moments: f_i = < S_cx S_cy S_cz > with S_0 = 1 - x^2, S_+ = (x^2 +
 * x)/2, S_- = (x^2 - x)/2 and x = X + u, expanded in X. */
static void populations_from(moment_array k, const double u[3], double *f, size_t stride) {
    moment_array coefficient;
    for (int axis = 0; axis < 3; axis++)
        for (int c = -1; c <= 1; c++) {
            const double v = u[axis];
            coefficient[axis][c + 1][0] = c == 0 ? 1.0 - v * v : 0.5 * (v * v + c * v);
            coefficient[axis][c + 1][1] = c == 0 ? -2.0 * v : 0.5 * (2.0 * v + c);
            coefficient[axis][c + 1][2] = c == 0 ? -1.0 : 0.5;
        }
    transform(k, coefficient);
    for (int i = 0; i < Q; i++) {
        const int *c = kf_reference_velocities[i];
        f[(size_t)i * stride] = k[c[0] + 1][c[1] + 1][c[2] + 1];
    }
}

/* Tail of the central-Hermite moment (a, b, c) of order four and more: what moments of lower order give it.
 * Each index 2 taken as X^2 = (X^2 - 1/3) + 1/3 leaves the products of the lower moments by inclusion and
 * exclusion. */
static double hermite_tail(moment_array k, int a, int b, int c) {
    static const double signed_thirds[8] = {1.0,        -1.0 / 3.0, -1.0 / 3.0, 1.0 / 9.0,
                                            -1.0 / 3.0, 1.0 / 9.0,  1.0 / 9.0,  -1.0 / 27.0};
    const unsigned twos = (a == 2) | (unsigned)(b == 2) << 1 | (unsigned)(c == 2) << 2;
    double tail = 0;
    for (unsigned subset = twos; subset != 0; subset = (subset - 1) & twos)
        tail -= signed_thirds[subset] * k[subset & 1U ? 0 : a][subset & 2U ? 0 : b][subset & 4U ? 0 : c];
    return tail;
}

/* Returns F . grad_u of the product equilibrium at density 1. */
static double force_term(int i, const double u[3], const double F[3]) {
    double sum = 0;
    for (int axis = 0; axis < 3; axis++) {
        double product = F[axis];
        for (int other = 0; other < 3; other++) {
            int c = kf_reference_velocities[i][other];
            double v = u[other];
            if (other == axis)
                product *= c == 0 ? -2.0 * v : v + 0.5 * c;
            else
                product *= c == 0 ? 2.0 / 3.0 - v * v : 0.5 * (1.0 / 3.0 + v * v + c * v);
        }
        sum += product;
    }
    return sum;
}

/* --- Rates -------------------------------------------------------------------------------------------------
 */

/* The square of 2/3 of the strain rate, as the central second moments before the collision tell it: those
 * without their trace, times omega. */
static double strain_square(const double second[3][3], double density, const double u[3], double omega) {
    double about[3][3], square = 0, trace = 0;
    for (int p = 0; p < 3; p++) {
        for (int q = 0; q < 3; q++)
            about[p][q] = second[p][q] - density * u[p] * u[q];
        trace += about[p][p];
    }
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            square += pow(about[p][q] - (p == q ? trace / 3.0 : 0.0), 2);
    return omega * omega * square;
}

/* Computes tau of adaptive_2020: that of Li and others, and what damps noise where the fluid is strained. */
static double adaptive_tau(const double average[3], double density, const double u[3],
                           const double second[3][3], double omega) {
    double tau = 0.0003 * density / average[0] + 0.00016 * kf_reference_norm(second) / average[2] + 0.0087 +
                 64.0 * strain_square(second, density, u, omega);
    if (average[1] > 1e-9) tau -= 0.00775 * density * kf_length(u) / average[1];
    return fmax(fmin(tau, 1.0 / 6.0), 0.005);
}

/* Rates of the moments of order 3 to 6 in rates[3] .. rates[6]. */
static void high_order_rates(const kf_scene *scene, const double average[3], double density,
                             const double u[3], const double second[3][3], double omega, double rates[7]) {
    const bool adaptive = scene->rate_rule == KF_RATE_ADAPTIVE_2020;
    const double speed = kf_length(u);
    const double adapted = adaptive ? 1.0 / (adaptive_tau(average, density, u, second, omega) + 0.5) : 0.0;
    static const double viscosity_2019[7] = {0, 0, 0, 0.005, 0.007, 0.009, 0.01};
    for (int order = 3; order <= 6; order++)
        rates[order] = scene->rate_rule == KF_RATE_CONSTANT ? scene->high_order_rate
                       : adaptive                           ? adapted
                       : scene->rate_rule == KF_RATE_EMPIRICAL_2019
                           ? 1.0 / (3.0 * viscosity_2019[order] * (5.0 - 4.0 * fmin(speed / 0.1, 1.0)) + 0.5)
                           : 1.0;
}

/* --- Relaxation of moments
 * ------------------------------------------------------------------------------------ */

/* Relaxes every moment by k* = (1 - r) k + r k_eq + (1 - r/2) R. Of order 2, the mixed moments and the
 * differences of the normal ones relax with omega. The sum of the normal ones relaxes with the trace's rate.
 */
static void relax_plainly(moment_array k, moment_array equilibrium, moment_array force, double omega,
                          double trace_rate, const double rates[7]) {
    double normal[3], sum = 0;
    for (int i = 0; i < 3; i++) {
        const int at[3] = {2 * (i == 0), 2 * (i == 1), 2 * (i == 2)};
        const double here = k[at[0]][at[1]][at[2]], there = equilibrium[at[0]][at[1]][at[2]],
                     push = force[at[0]][at[1]][at[2]];
        normal[i] = here + omega * (there - here) + (1.0 - 0.5 * omega) * push;
        sum += here + trace_rate * (there - here) + (1.0 - 0.5 * trace_rate) * push;
    }
    const double correction = (sum - normal[0] - normal[1] - normal[2]) / 3.0;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 3; c++) {
                const int order = a + b + c;
                const double rate = order < 2 ? 0.0 : order == 2 ? omega : rates[order];
                k[a][b][c] +=
                    rate * (equilibrium[a][b][c] - k[a][b][c]) + (1.0 - 0.5 * rate) * force[a][b][c];
            }
    k[2][0][0] = normal[0] + correction;
    k[0][2][0] = normal[1] + correction;
    k[0][0][2] = normal[2] + correction;
}

/* On 19 velocities H_yyzz is made orthogonal to H_xx with a sixth of that (docs/physics.md). */
static double tail(moment_array k, int a, int b, int c, bool folded) {
    const double hermite = hermite_tail(k, a, b, c);
    if (!folded || a == 1 || b == 1 || c == 1 || a + b + c != 4) return hermite;
    return hermite - (k[2 - a][2 - b][2 - c] - k[0][0][0] / 3.0) / 6.0;
}

/* Relaxes Hermite moments. Those of orders 4 to 6 relax as deviations from their tails. */
static void relax_hermite(moment_array k, moment_array equilibrium, moment_array force, double omega,
                          const double rates[7], bool folded) {
    moment_array before;
    memcpy(before, k, sizeof(moment_array));
    relax_plainly(k, equilibrium, force, omega, 1.0, rates);
    for (int order = 4; order <= 6; order++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                for (int c = 0; c < 3; c++)
                    if (a + b + c == order)
                        k[a][b][c] =
                            (1.0 - rates[order]) * (before[a][b][c] - tail(before, a, b, c, folded)) +
                            tail(k, a, b, c, folded);
}

/* --- K17 ---------------------------------------------------------------------------------------------------
 */

static double limited(double rate, double moment) {
    return rate + (1.0 - rate) * fabs(moment) / (fabs(moment) + 0.01);
}

/* Sum and difference of two moments of order 3, with the force's part c_s^2 F as relax_plainly treats it. */
static void relax_pair(double *p, double *q, double w3, double w4, double force) {
    const double cp = *p + force / 6.0, cq = *q + force / 6.0;
    const double sum = (1.0 - limited(w3, cp + cq)) * (cp + cq);
    const double difference = (1.0 - limited(w4, cp - cq)) * (cp - cq);
    *p = 0.5 * (sum + difference);
    *q = 0.5 * (sum - difference);
}

/* Computes the moments of orders 4 to 6 for cumulants C of order 4 and zero cumulants of orders 5 and 6. */
static void moments_of_cumulants(moment_array k, double C[3][3][3], double rho) {
    static const int axes[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
#define AT(array, p, q, r) array[(p)[0] + (q)[0] + (r)[0]][(p)[1] + (q)[1] + (r)[1]][(p)[2] + (q)[2] + (r)[2]]
    static const int none[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        int x[3] = {0}, y[3] = {0}, z[3] = {0}, xx[3] = {0}, yy[3] = {0}, zz[3] = {0};
        x[axes[i][0]] = y[axes[i][1]] = z[axes[i][2]] = 1;
        xx[axes[i][0]] = yy[axes[i][1]] = zz[axes[i][2]] = 2;
        AT(k, xx, yy, none) =
            AT(C, xx, yy, none) +
            (AT(k, xx, none, none) * AT(k, yy, none, none) + 2.0 * pow(AT(k, x, y, none), 2)) / rho;
        AT(k, xx, y, z) =
            AT(C, xx, y, z) +
            (AT(k, xx, none, none) * AT(k, y, z, none) + 2.0 * AT(k, x, y, none) * AT(k, x, z, none)) / rho;
        AT(k, x, yy, zz) =
            (AT(k, zz, none, none) * AT(k, x, yy, none) + AT(k, yy, none, none) * AT(k, x, zz, none) +
             4.0 * AT(k, y, z, none) * k[1][1][1] +
             2.0 * (AT(k, x, z, none) * AT(k, yy, z, none) + AT(k, x, y, none) * AT(k, y, zz, none))) /
            rho;
    }
#undef AT
    k[2][2][2] = (4.0 * k[1][1][1] * k[1][1][1] + k[2][0][0] * k[0][2][2] + k[0][2][0] * k[2][0][2] +
                  k[0][0][2] * k[2][2][0] +
                  4.0 * (k[0][1][1] * k[2][1][1] + k[1][0][1] * k[1][2][1] + k[1][1][0] * k[1][1][2]) +
                  2.0 * (k[1][2][0] * k[1][0][2] + k[2][1][0] * k[0][1][2] + k[2][0][1] * k[0][2][1])) /
                     rho -
                 (16.0 * k[1][1][0] * k[1][0][1] * k[0][1][1] +
                  4.0 * (pow(k[1][0][1], 2) * k[0][2][0] + pow(k[0][1][1], 2) * k[2][0][0] +
                         pow(k[1][1][0], 2) * k[0][0][2]) +
                  2.0 * k[2][0][0] * k[0][2][0] * k[0][0][2]) /
                     (rho * rho);
}

/* Relaxes cumulants with the optimised rates of Geier, Pasquali and Schönherr (2017), the third order with a
 * limiter, and returns to central moments. w is the shear rate, F the body force. */
static void relax_k17(moment_array k, double rho, const double u[3], double w, const double F[3]) {
    const double w3 = 8 * (w - 2) * (1 + 2 * w) / (-8 - 14 * w + 7 * w * w);
    const double w4 = 8 * (w - 2) * (-7 + 4 * w) / (56 - 50 * w + 9 * w * w);
    const double w5 = 24 * (w - 2) * (-2 - 7 * w + 3 * w * w) / (48 + 152 * w - 130 * w * w + 29 * w * w * w);
    const double A = (4 + 2 * w - 3 * w * w) / (2 - 7 * w + 5 * w * w);
    const double B = (4 + 28 * w - 14 * w * w) / (6 - 21 * w + 15 * w * w);
    const double trace = k[2][0][0] + k[0][2][0] + k[0][0][2];
    double D[3], C[3][3][3] = {{{0}}};
    D[0] = -0.5 * w * (2 * k[2][0][0] - k[0][2][0] - k[0][0][2]) + 0.5 * (rho - trace);
    D[1] = D[0] + 1.5 * w * (k[2][0][0] - k[0][2][0]);
    D[2] = D[0] + 1.5 * w * (k[2][0][0] - k[0][0][2]);
    const double four = -(1 / w - 0.5) * A * 2 / 3, mixed = -(1 / w - 0.5) * B / 3 * -3 * w;
    C[2][2][0] = four * (D[0] + D[1]);
    C[2][0][2] = four * (D[0] + D[2]);
    C[0][2][2] = four * (D[1] + D[2]);
    C[2][1][1] = mixed * k[0][1][1];
    C[1][2][1] = mixed * k[1][0][1];
    C[1][1][2] = mixed * k[1][1][0];
    for (int i = 0; i < 3; i++)
        D[i] *= u[i] * u[i];
    const double trace_after = rho - 1.5 * (D[0] + D[1] + D[2]);
    const double xy = (1 - w) * (k[2][0][0] - k[0][2][0]) - 3 * (1 - w / 2) * (D[0] - D[1]);
    const double xz = (1 - w) * (k[2][0][0] - k[0][0][2]) - 3 * (1 - w / 2) * (D[0] - D[2]);
    k[2][0][0] = (trace_after + xy + xz) / 3;
    k[0][2][0] = k[2][0][0] - xy;
    k[0][0][2] = k[2][0][0] - xz;
    k[1][1][0] *= 1 - w;
    k[1][0][1] *= 1 - w;
    k[0][1][1] *= 1 - w;
    relax_pair(&k[1][2][0], &k[1][0][2], w3, w4, F[0]);
    relax_pair(&k[2][1][0], &k[0][1][2], w3, w4, F[1]);
    relax_pair(&k[2][0][1], &k[0][2][1], w3, w4, F[2]);
    k[1][1][1] *= 1 - limited(w5, k[1][1][1]);
    moments_of_cumulants(k, C, rho);
    for (int i = 0; i < 3; i++) {
        const int one = i == 0, two = i == 1, three = i == 2;
        k[one][two][three] = 0.5 * F[i];
    }
    k[1][2][0] += F[0] / 6, k[1][0][2] += F[0] / 6, k[1][2][2] += F[0] / 18;
    k[2][1][0] += F[1] / 6, k[0][1][2] += F[1] / 6, k[2][1][2] += F[1] / 18;
    k[2][0][1] += F[2] / 6, k[0][2][1] += F[2] / 6, k[2][2][1] += F[2] / 18;
}

/* --- KBC ---------------------------------------------------------------------------------------------------
 */

static void collide_kbc(const double *f, size_t stride, double rho, const double u[3], double omega,
                        const double F[3], double *out) {
    double g[Q], equilibrium[Q], shear[Q], P[3][3] = {{0}}, mixed = 0, square = 0;
    const double beta = 0.5 * omega;
    for (int i = 0; i < Q; i++) {
        equilibrium[i] = kf_reference_equilibrium(i, rho, u);
        g[i] = f[(size_t)i * stride] + 0.5 * force_term(i, u, F) - equilibrium[i];
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
                P[p][q] += kf_reference_velocities[i][p] * kf_reference_velocities[i][q] * g[i];
    }
    const double normal = (P[0][0] + P[1][1] + P[2][2]) / 3.0;
    for (int i = 0; i < Q; i++) {
        const int *c = kf_reference_velocities[i];
        const int square_of_c = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
        shear[i] = 0.0;
        for (int p = 0; p < 3 && square_of_c == 1; p++)
            if (c[p] != 0) shear[i] = 0.5 * (P[p][p] - normal);
        for (int p = 0; p < 3 && square_of_c == 2; p++)
            for (int q = p + 1; q < 3; q++)
                if (c[p] != 0 && c[q] != 0) shear[i] = 0.25 * c[p] * c[q] * P[p][q];
        const double rest = g[i] - shear[i];
        mixed += shear[i] * rest / equilibrium[i];
        square += rest * rest / equilibrium[i];
    }
    const double gamma = 1.0 / beta - (2.0 - 1.0 / beta) * mixed / (square + 1e-30);
    for (int i = 0; i < Q; i++)
        out[(size_t)i * stride] = equilibrium[i] + g[i] -
                                  beta * (2.0 * shear[i] + gamma * (g[i] - shear[i])) +
                                  0.5 * force_term(i, u, F);
}

/* --- All
 * ------------------------------------------------------------------------------------------------------ */

static void collide_bgk(const double *f, size_t stride, double rho, const double u[3], double omega,
                        const double F[3], double *out) {
    for (int i = 0; i < Q; i++) {
        const double value = f[(size_t)i * stride];
        out[(size_t)i * stride] = value + omega * (kf_reference_equilibrium(i, rho, u) - value) +
                                  (1.0 - 0.5 * omega) * force_term(i, u, F);
    }
}

/* Returns one of the polynomials 1, c and c^2 - 2/3, which are orthogonal on -1, 0, 1. */
static double orthogonal(int order, int c) {
    return order == 0 ? 1.0 : order == 1 ? c : c * c - 2.0 / 3.0;
}

/* A row of the matrix of Suga et al. 2015: the products of these polynomials with these weights. */
typedef struct orthogonal_row {
    /* The relaxation rate; 0: the shear rate, from the viscosity. */
    double rate;
    int weight[3], order[3][3];
} orthogonal_row;

static const orthogonal_row orthogonal_rows[] = {
    {1.54, {1, 1, 1}, {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}},
    {0.00, {2, -1, -1}, {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}},
    {0.00, {0, 1, -1}, {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}},
    {0.00, {1, 0, 0}, {{1, 1, 0}}},
    {0.00, {1, 0, 0}, {{0, 1, 1}}},
    {0.00, {1, 0, 0}, {{1, 0, 1}}},
    {1.50, {1, 1, 0}, {{1, 2, 0}, {1, 0, 2}}},
    {1.50, {1, 1, 0}, {{2, 1, 0}, {0, 1, 2}}},
    {1.50, {1, 1, 0}, {{2, 0, 1}, {0, 2, 1}}},
    {1.83, {1, 0, 0}, {{1, 2, 2}}},
    {1.83, {1, 0, 0}, {{2, 1, 2}}},
    {1.83, {1, 0, 0}, {{2, 2, 1}}},
    {1.40, {1, 1, 1}, {{2, 2, 0}, {2, 0, 2}, {0, 2, 2}}},
    {1.61, {1, 0, 0}, {{2, 2, 2}}},
    {1.98, {1, 1, -2}, {{2, 2, 0}, {2, 0, 2}, {0, 2, 2}}},
    {1.98, {1, -1, 0}, {{2, 2, 0}, {2, 0, 2}}},
    {1.98, {1, 0, 0}, {{1, 1, 2}}},
    {1.98, {1, 0, 0}, {{2, 1, 1}}},
    {1.98, {1, 0, 0}, {{1, 2, 1}}},
    {1.74, {1, -1, 0}, {{1, 2, 0}, {1, 0, 2}}},
    {1.74, {1, -1, 0}, {{2, 1, 0}, {0, 1, 2}}},
    {1.74, {1, -1, 0}, {{2, 0, 1}, {0, 2, 1}}},
    {1.74, {1, 0, 0}, {{1, 1, 1}}},
};

static void collide_orthogonal(const double *f, size_t stride, double rho, const double u[3], double omega,
                               const double F[3], double *out) {
    double deviation[Q];
    for (int i = 0; i < Q; i++) {
        const double value = f[(size_t)i * stride], source = force_term(i, u, F);
        deviation[i] = value + 0.5 * source - kf_reference_equilibrium(i, rho, u);
        out[(size_t)i * stride] = value + source;
    }
    for (size_t r = 0; r < sizeof orthogonal_rows / sizeof *orthogonal_rows; r++) {
        const orthogonal_row *row = &orthogonal_rows[r];
        double entry[Q], moment = 0, square = 0;
        for (int i = 0; i < Q; i++) {
            const int *c = kf_reference_velocities[i];
            entry[i] = 0;
            for (int term = 0; term < 3; term++) {
                const int *order = row->order[term];
                entry[i] += row->weight[term] * orthogonal(order[0], c[0]) * orthogonal(order[1], c[1]) *
                            orthogonal(order[2], c[2]);
            }
            moment += entry[i] * deviation[i];
            square += entry[i] * entry[i];
        }
        const double rate = row->rate > 0 ? row->rate : omega;
        for (int i = 0; i < Q; i++)
            out[(size_t)i * stride] -= rate * moment / square * entry[i];
    }
}

void kf_reference_collide(const kf_scene *scene, bool folded, double omega, const double average[3],
                          const double *f, size_t stride, const double F[3], double *out) {
    double j[3], u[3], second[3][3], rates[7] = {0}, force_populations[Q];
    const double rho = kf_reference_sums(f, stride, j, NULL);
    for (int i = 0; i < 3; i++)
        u[i] = (j[i] + 0.5 * F[i]) / rho;
    const bool central = scene->collision == KF_ACM_MRT;
    if (scene->collision == KF_BGK) {
        collide_bgk(f, stride, rho, u, omega, F, out);
        return;
    }
    if (central && scene->rate_rule == KF_RATE_KBC) {
        collide_kbc(f, stride, rho, u, omega, F, out);
        return;
    }
    if (scene->collision == KF_RM_MRT && scene->rate_rule == KF_RATE_SUGA_2015) {
        collide_orthogonal(f, stride, rho, u, omega, F, out);
        return;
    }
    static const double at_rest[3] = {0, 0, 0};
    const double *about = central ? u : at_rest;
    moment_array k, equilibrium, force;
    const bool forced = F[0] != 0.0 || F[1] != 0.0 || F[2] != 0.0;
    central_moments(f, stride, about, k);
    equilibrium_moments(rho, u, about, equilibrium);
    memset(force, 0, sizeof force);
    for (int i = 0; i < Q && forced; i++)
        force_populations[i] = force_term(i, u, F);
    if (forced) central_moments(force_populations, 1, about, force);
    /* The adaptive rule uses the second moments about rest, without the first-order cross terms of the half
     * force. */
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) {
            int index[3] = {0, 0, 0};
            index[p]++;
            index[q]++;
            second[p][q] = k[index[0]][index[1]][index[2]] + rho * u[p] * u[q];
        }
    high_order_rates(scene, average, rho, u, second, omega, rates);
    for (int order = 3; order <= 6 && folded && scene->rate_rule == KF_RATE_ADAPTIVE_2020; order++)
        rates[order] = LARGEST_RATE_19;
    if (central && scene->rate_rule == KF_RATE_K17)
        relax_k17(k, rho, u, omega, F);
    else if (central && scene->basis == KF_BASIS_HERMITE)
        relax_hermite(k, equilibrium, force, omega, rates, folded);
    else
        relax_plainly(k, equilibrium, force, omega, central ? rates[3] : 1.0, rates);
    populations_from(k, about, out, stride);
}
