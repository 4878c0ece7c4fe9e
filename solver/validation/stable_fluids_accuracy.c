/* Stable fluids: how far the scheme is from the flow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/validation/stable_fluids_cases.h"

static const double pi = 3.14159265358979323846;

/* --- Taylor-Green --------------------------------------------------------------------------------------- */

typedef struct vortices {
    int n;
    double speed;
} vortices;
static void taylor_green(const void *context, const int cell[3], double velocity[3]) {
    const vortices *g = context;
    const double x = 2 * pi * cell[0] / g->n, y = 2 * pi * cell[1] / g->n;
    velocity[0] = g->speed * sin(x) * cos(y);
    velocity[1] = -g->speed * cos(x) * sin(y);
    velocity[2] = 0;
}

/* Relative L2 error at t = 0.5 of vortices of speed 1 that decay by exp(-0.1); half a cell a step. */
static kf_status taylor_green_error(const kf_validation *v, int n, int nz, const kf_fluid_precision *p,
                                    double *result, kf_error *error) {
    const vortices g = {n, 0.5};
    kf_fluid *f = kf_fluid_case_box(v, n, n, nz, taylor_green, &g);
    kf_fluid_state state;
    f->exponential = true;
    f->viscosity = 0.05 / n / (4 * pi * pi / ((double)n * n));
    const kf_status status = kf_fluid_case_run(v, f, p, n, n, NULL, NULL, &state, error);
    if (status == KF_OK) {
        double square = 0, scale = 0;
        for (size_t k = 0; k < kf_fluid_cell_count(f); k++) {
            const int cell[3] = {(int)(k % (size_t)n), (int)(k / (size_t)n % (size_t)n), 0};
            double u[3];
            taylor_green(&g, cell, u);
            for (int i = 0; i < 2; i++) {
                const double exact = exp(-0.1) * u[i], d = state.velocity[i][k] - exact;
                square += d * d, scale += exact * exact;
            }
        }
        *result = sqrt(square / scale);
        kf_fluid_state_free(&state);
    }
    kf_fluid_free(f);
    return status;
}

kf_status kf_case_fluid_taylor_green(kf_validation *v, kf_error *error) {
    static const int sizes[] = {64, 128, 256};
    static const double expected[] = {0.1105, 0.0584, 0.03005};
    const kf_fluid_precision *p = &kf_fluid_precisions[1];
    double errors[3] = {0, 0, 0};
    const int count = v->quick ? 2 : 3;
    for (int i = 0; i < count; i++) {
        char text[96];
        KF_TRY(taylor_green_error(v, sizes[i], 1, p, &errors[i], error));
        (void)snprintf(text, sizeof text, "%d^2, linear, half a cell a step: relative error at t = 0.5",
                       sizes[i]);
        kf_check_relative(v, text, "double precision code of its own, with the same scheme", expected[i],
                          errors[i], 0.01);
    }
    kf_check_at_least(v, "order in cell size and time step",
                      "first order: splitting and linear interpolation", 0.85,
                      log2(errors[0] / errors[count - 1]) / (count - 1), 0);
    return KF_OK;
}

kf_status kf_case_fluid_taylor_green_3d(kf_validation *v, kf_error *error) {
    double coarse, fine;
    KF_TRY(taylor_green_error(v, 32, 16, &kf_fluid_precisions[1], &coarse, error));
    KF_TRY(taylor_green_error(v, 64, 16, &kf_fluid_precisions[1], &fine, error));
    kf_check_relative(v, "64 x 64 x 16: relative error at t = 0.5", "as in two dimensions", 0.1105, fine,
                      0.01);
    kf_check_at_least(v, "order in cell size and time step",
                      "first order: splitting and linear interpolation", 0.85, log2(coarse / fine), 0);
    return KF_OK;
}

kf_status kf_case_fluid_numerical_viscosity(kf_validation *v, kf_error *error) {
    enum { STEPS = 100 };
    static const int sizes[] = {64, 128, 256, 512};
    static const double expected[] = {4.0377, 1.0754, 0.27337, 0.06863};
    for (int i = 0; i < (v->quick ? 2 : 4); i++)
        for (int p = 0; p < (v->quick ? 2 : 1 + (i < 3)); p++) {
            const kf_fluid_precision *precision = &kf_fluid_precisions[1 - p];
            const int n = sizes[i];
            const vortices g = {n, 0.5};
            const double nu = 2.25e-4;
            char text[96];
            kf_fluid *f = kf_fluid_case_box(v, n, n, 1, taylor_green, &g);
            kf_fluid_state state;
            f->viscosity = nu * n * n / (4 * pi * pi);
            const kf_status status =
                kf_fluid_case_run(v, f, precision, STEPS, STEPS, NULL, NULL, &state, error);
            if (status == KF_OK) {
                const double start = 0.5 * g.speed * g.speed * n * n; /* sum of squares */
                const double share = sqrt(kf_fluid_energy(f, state.velocity) / start);
                (void)snprintf(text, sizeof text, "%s: %d^2: numerical viscosity over viscosity",
                               precision->name, n);
                kf_check_absolute(v, text, "double precision code of its own, with the same scheme",
                                  expected[i], (pow(share, -1.0 / STEPS) - 1) / (2 * nu) - 1,
                                  precision->wide ? 1e-4 * expected[i] : 6e-4 + 1e-4 * expected[i]);
                kf_fluid_state_free(&state);
            }
            kf_fluid_free(f);
            KF_TRY(status);
        }
    return KF_OK;
}

/* --- energy and symmetry -------------------------------------------------------------------------------- */

typedef struct growth {
    const kf_fluid *fluid;
    double before, most;
} growth;
static kf_status look_at_energy(void *data, int step, const kf_fluid_state *state, kf_error *error) {
    growth *g = data;
    (void)error;
    const double now = kf_fluid_energy(g->fluid, state->velocity);
    if (step > 1) g->most = fmax(g->most, now / g->before - 1);
    g->before = now;
    return KF_OK;
}

kf_status kf_case_fluid_energy(kf_validation *v, kf_error *error) {
    static const double speeds[] = {0.5, 3, 10};
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < 3; i++) {
            const kf_fluid_precision *precision = &kf_fluid_precisions[p];
            char text[96];
            kf_fluid *f = kf_fluid_case_box(v, 128, 128, 1, NULL, NULL);
            kf_fluid_state state;
            growth g = {.fluid = f, .most = -1};
            f->start = KF_START_RANDOM;
            f->start_amplitude = speeds[i];
            const kf_status status =
                kf_fluid_case_run(v, f, precision, v->quick ? 20 : 60, 1, look_at_energy, &g, &state, error);
            if (status == KF_OK) {
                (void)snprintf(text, sizeof text,
                               "%s: about %g cells a step: largest growth of the energy in a step",
                               precision->name, speeds[i]);
                kf_check_at_most(v, text, "interpolation and projection only take energy", 0, g.most,
                                 precision->wide ? 1e-12 : 1e-6);
                kf_fluid_state_free(&state);
            }
            kf_fluid_free(f);
            KF_TRY(status);
        }
    return KF_OK;
}

enum { SIDE = 48 };
typedef struct moved {
    int shift[2];
    bool transposed, mirrored;
} moved;
/* The same waves, moved; mirrored: x to -x. */
static void moved_waves(const void *context, const int cell[3], double velocity[3]) {
    const moved *m = context;
    int x = cell[0], y = cell[1];
    if (m->transposed) x = cell[1], y = cell[0];
    if (m->mirrored) x = (SIDE - x) % SIDE;
    const double a = 2 * pi * (x - m->shift[0]) / SIDE, b = 2 * pi * (y - m->shift[1]) / SIDE;
    const double u = 0.9 * sin(a + 2 * b + 0.3) + 0.5 * cos(2 * a - b + 1.1) + 0.2,
                 w = 0.7 * cos(3 * a + b) - 0.6 * sin(a - 2 * b + 0.8) - 0.1;
    velocity[0] = m->transposed ? w : m->mirrored ? -u : u;
    velocity[1] = m->transposed ? u : w;
    velocity[2] = 0;
}
kf_status kf_case_fluid_symmetry(kf_validation *v, kf_error *error) {
    enum { STEPS = 10 };
    static const moved moves[] = {
        {{0, 0}, false, false}, {{5, 11}, false, false}, {{0, 0}, true, false}, {{0, 0}, false, true}};
    static const char *const names[] = {"", "shifted by (5, 11)", "transposed", "mirrored"};
    for (int p = 0; p < 2; p++) {
        kf_fluid_state states[4];
        double worst[4] = {0, 0, 0, 0};
        for (int i = 0; i < 4; i++) {
            kf_fluid *f = kf_fluid_case_box(v, SIDE, SIDE, 1, moved_waves, &moves[i]);
            f->viscosity = 0.01;
            const kf_status status =
                kf_fluid_case_run(v, f, &kf_fluid_precisions[p], STEPS, STEPS, NULL, NULL, &states[i], error);
            kf_fluid_free(f);
            for (int j = 0; status != KF_OK && j < i; j++)
                kf_fluid_state_free(&states[j]);
            KF_TRY(status);
        }
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                const size_t here = (size_t)y * SIDE + (size_t)x;
                const size_t there[4] = {here, (size_t)((y + 11) % SIDE) * SIDE + (size_t)((x + 5) % SIDE),
                                         (size_t)x * SIDE + (size_t)y,
                                         (size_t)y * SIDE + (size_t)((SIDE - x) % SIDE)};
                for (int i = 1; i < 4; i++) {
                    const double *const own[2] = {states[i].velocity[i == 2], states[i].velocity[i != 2]};
                    const double sign = i == 3 ? -1 : 1;
                    worst[i] = fmax(worst[i], fabs(sign * own[0][there[i]] - states[0].velocity[0][here]));
                    worst[i] = fmax(worst[i], fabs(own[1][there[i]] - states[0].velocity[1][here]));
                }
            }
        for (int i = 0; i < 4; i++) {
            char text[96];
            (void)snprintf(text, sizeof text, "%s: %s: largest difference after 10 steps",
                           kf_fluid_precisions[p].name, names[i]);
            if (i > 0)
                kf_check_absolute(v, text, "a step commutes with it", 0, worst[i],
                                  kf_fluid_precisions[p].wide ? 1e-12 : 2e-5);
            kf_fluid_state_free(&states[i]);
        }
    }
    return KF_OK;
}

/* --- particles ------------------------------------------------------------------------------------------ */

/* In steady vortices a particle keeps its value of the stream function, sin x sin y. */
kf_status kf_case_fluid_particles(kf_validation *v, kf_error *error) {
    enum { N = 128, PARTICLES = 1024, STEPS = 600 };
    const vortices g = {N, 0.5};
    kf_fluid *f = kf_fluid_case_box(v, N, N, 1, taylor_green, &g);
    kf_fluid_state state;
    f->advection = KF_ADVECT_NONE;
    f->particle_count = PARTICLES;
    f->particle_midpoint = true;
    const kf_status status =
        kf_fluid_case_run(v, f, &kf_fluid_precisions[1], STEPS, STEPS, NULL, NULL, &state, error);
    if (status == KF_OK) {
        double worst = 0;
        for (long long j = 0; j < PARTICLES; j++) {
            double from[3];
            kf_fluid_particle(f, j, from);
            double values[2];
            for (int i = 0; i < 2; i++) {
                const double *at = i == 0 ? from : state.particles + 3 * j;
                values[i] = sin(2 * pi * (at[0] - 0.5) / N) * sin(2 * pi * (at[1] - 0.5) / N);
            }
            worst = fmax(worst, fabs(values[1] - values[0]));
        }
        kf_check_absolute(v, "stream function of 1,024 particles after 600 steps: largest change",
                          "they stay on their streamlines", 0, worst, 1e-3);
        kf_fluid_state_free(&state);
    }
    kf_fluid_free(f);
    return status;
}

/* --- beside a pseudo-spectral code ---------------------------------------------------------------------- */

/* Vorticity and its advection by a spectral method, dealiased by the 2/3 rule; cells of a box of n, time in
 * steps. */
typedef struct spectral {
    int n;
    double viscosity;
    kf_dcomplex *work[4];
} spectral;

static void spectral_modes(const spectral *s, int i, int j, double *kx, double *ky) {
    *kx = 2 * pi * (2 * i > s->n ? i - s->n : i) / s->n;
    *ky = 2 * pi * (2 * j > s->n ? j - s->n : j) / s->n;
}

/* rate = -u . grad omega - nu k^2 omega of the modes of omega. */
static void spectral_rate(const spectral *s, const kf_dcomplex *omega, kf_dcomplex *rate) {
    const int n = s->n, cells[3] = {n, n, 1};
    const double count = (double)n * n;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const size_t at = (size_t)j * (size_t)n + (size_t)i;
            double kx, ky;
            spectral_modes(s, i, j, &kx, &ky);
            const double k2 = kx * kx + ky * ky, inverse = k2 > 0 ? 1 / k2 : 0;
            const kf_dcomplex w = omega[at];
            s->work[0][at] = (kf_dcomplex){-ky * w.im * inverse,
                                           ky * w.re * inverse}; /* u = i ky psi, psi = omega / k^2 */
            s->work[1][at] = (kf_dcomplex){kx * w.im * inverse, -kx * w.re * inverse};
            s->work[2][at] = (kf_dcomplex){-kx * w.im, kx * w.re};
            s->work[3][at] = (kf_dcomplex){-ky * w.im, ky * w.re};
        }
    for (int f = 0; f < 4; f++)
        kf_plain_transform(s->work[f], cells, 1);
    for (size_t at = 0; at < (size_t)n * (size_t)n; at++) {
        const double product =
            (s->work[0][at].re * s->work[2][at].re + s->work[1][at].re * s->work[3][at].re) / (count * count);
        rate[at] = (kf_dcomplex){-product, 0};
    }
    kf_plain_transform(rate, cells, -1);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const size_t at = (size_t)j * (size_t)n + (size_t)i;
            double kx, ky;
            spectral_modes(s, i, j, &kx, &ky);
            const bool kept = 3 * (2 * i > n ? n - i : i) < n && 3 * (2 * j > n ? n - j : j) < n;
            const double damp = s->viscosity * (kx * kx + ky * ky);
            rate[at].re = kept ? rate[at].re - damp * omega[at].re : 0;
            rate[at].im = kept ? rate[at].im - damp * omega[at].im : 0;
        }
}

static void spectral_run(const spectral *s, kf_dcomplex *omega, int steps, double dt) {
    const size_t count = (size_t)s->n * (size_t)s->n;
    kf_dcomplex *k = kf_allocate(count * sizeof *k), *sum = kf_allocate(count * sizeof *sum),
                *stage = kf_allocate(count * sizeof *stage);
    static const double nodes[] = {0, 0.5, 0.5, 1}, shares[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    for (int t = 0; t < steps; t++) {
        memset(sum, 0, count * sizeof *sum);
        memset(k, 0, count * sizeof *k);
        for (int r = 0; r < 4; r++) {
            for (size_t i = 0; i < count; i++)
                stage[i] = (kf_dcomplex){omega[i].re + dt * nodes[r] * k[i].re,
                                         omega[i].im + dt * nodes[r] * k[i].im};
            spectral_rate(s, stage, k);
            for (size_t i = 0; i < count; i++)
                sum[i].re += shares[r] * k[i].re, sum[i].im += shares[r] * k[i].im;
        }
        for (size_t i = 0; i < count; i++)
            omega[i].re += dt * sum[i].re, omega[i].im += dt * sum[i].im;
    }
    free(k);
    free(sum);
    free(stage);
}

/* Velocity (0: u, 1: v) of modes of the vorticity. */
static void spectral_velocity(const spectral *s, const kf_dcomplex *omega, int component, double *velocity) {
    const int cells[3] = {s->n, s->n, 1};
    const size_t count = (size_t)s->n * (size_t)s->n;
    for (size_t at = 0; at < count; at++) {
        double kx, ky;
        spectral_modes(s, (int)(at % (size_t)s->n), (int)(at / (size_t)s->n), &kx, &ky);
        const double k2 = kx * kx + ky * ky, turn = k2 > 0 ? (component == 0 ? ky : -kx) / k2 : 0;
        s->work[0][at] = (kf_dcomplex){-turn * omega[at].im, turn * omega[at].re};
    }
    kf_plain_transform(s->work[0], cells, 1);
    for (size_t at = 0; at < count; at++)
        velocity[at] = s->work[0][at].re / (double)count;
}

/* Long waves of the stream function sin x sin y + cos(2 x + y + 0.4) / 2 + 0.3 sin(x - 2 y): its velocity. */
typedef struct field {
    int n;
    double speed;
} field;
static void band_limited(const void *context, const int cell[3], double velocity[3]) {
    const field *g = context;
    const double x = 2 * pi * cell[0] / g->n, y = 2 * pi * cell[1] / g->n;
    velocity[0] = g->speed * (sin(x) * cos(y) - 0.5 * sin(2 * x + y + 0.4) - 0.6 * cos(x - 2 * y));
    velocity[1] = -g->speed * (cos(x) * sin(y) - sin(2 * x + y + 0.4) + 0.3 * cos(x - 2 * y));
    velocity[2] = 0;
}

/* Relative L2 difference of the velocity from the spectral code's after a tenth of a turnover. */
static kf_status spectral_error(const kf_validation *v, int n, double *result, kf_error *error) {
    const field g = {n, 0.5};
    const int steps = n / 5, cells[3] = {n, n, 1};
    const size_t count = (size_t)n * (size_t)n;
    kf_fluid *f = kf_fluid_case_box(v, n, n, 1, band_limited, &g);
    kf_fluid_state state;
    const kf_status status =
        kf_fluid_case_run(v, f, &kf_fluid_precisions[1], steps, steps, NULL, NULL, &state, error);
    if (status == KF_OK) {
        spectral s = {.n = n};
        kf_dcomplex *omega = kf_allocate(count * sizeof *omega);
        for (int i = 0; i < 4; i++)
            s.work[i] = kf_allocate(count * sizeof *omega);
        const double k = 2 * pi / n;
        for (size_t at = 0; at < count; at++) {
            const int column = (int)(at % (size_t)n), row = (int)(at / (size_t)n);
            const double x = k * column, y = k * row;
            /* omega = -laplace psi, psi = speed / k stream */
            const double part = 2 * sin(x) * sin(y) + 2.5 * cos(2 * x + y + 0.4) + 1.5 * sin(x - 2 * y);
            omega[at] = (kf_dcomplex){g.speed * k * part, 0};
        }
        kf_plain_transform(omega, cells, -1);
        spectral_run(&s, omega, steps, 1);
        double *expected[3] = {kf_allocate(count * sizeof(double)), kf_allocate(count * sizeof(double)),
                               NULL};
        for (int i = 0; i < 2; i++)
            spectral_velocity(&s, omega, i, expected[i]);
        *result = kf_fluid_distance(f, state.velocity, expected);
        for (int i = 0; i < 4; i++)
            free(s.work[i]);
        free(omega);
        free(expected[0]);
        free(expected[1]);
        kf_fluid_state_free(&state);
    }
    kf_fluid_free(f);
    return status;
}

kf_status kf_case_fluid_spectral(kf_validation *v, kf_error *error) {
    double coarse, fine;
    KF_TRY(spectral_error(v, 60, &coarse, error));
    KF_TRY(spectral_error(v, 120, &fine, error));
    kf_check_absolute(v, "120^2, after a tenth of a turnover: relative difference of the velocity",
                      "pseudo-spectral code, Runge-Kutta 4", 0, fine, 0.05);
    kf_check_at_least(v, "order in cell size and time step", "first order", 0.85, log2(coarse / fine), 0);
    return KF_OK;
}

/* Two like vortices that turn about each other. */
typedef struct pair {
    int n;
    double *velocity[2];
} pair;
static void pair_velocity(const void *context, const int cell[3], double velocity[3]) {
    const pair *g = context;
    const size_t at = (size_t)cell[1] * (size_t)g->n + (size_t)cell[0];
    velocity[0] = g->velocity[0][at], velocity[1] = g->velocity[1][at], velocity[2] = 0;
}

/* Angle of the pair's axis with x, and the root of the larger moment about their centre, from the vorticity
 * that is more than a fifth of the largest. */
static void pair_axis(int n, double *const velocity[3], double *angle, double *spread) {
    double most = 0, sum = 0, xx = 0, yy = 0, xy = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const int east = (x + 1) % n, west = (x + n - 1) % n, north = (y + 1) % n,
                          south = (y + n - 1) % n;
                const double turn = 0.5 * (velocity[1][y * n + east] - velocity[1][y * n + west] -
                                           velocity[0][north * n + x] + velocity[0][south * n + x]);
                const double dx = x - 0.5 * n, dy = y - 0.5 * n;
                if (pass == 0) most = fmax(most, turn);
                if (pass == 0 || turn < 0.2 * most) continue;
                sum += turn, xx += turn * dx * dx, yy += turn * dy * dy, xy += turn * dx * dy;
            }
    *angle = 0.5 * atan2(2 * xy, xx - yy);
    *spread = sqrt((0.5 * (xx + yy) + hypot(0.5 * (xx - yy), xy)) / sum);
}

kf_status kf_case_fluid_pair(kf_validation *v, kf_error *error) {
    enum { N = 96, STEPS = 100 };
    const int cells[3] = {N, N, 1};
    const size_t count = (size_t)N * N;
    const double apart = 24, radius = 5, circulation = 19.7;
    spectral s = {.n = N, .viscosity = 0.01};
    kf_dcomplex *omega = kf_allocate(count * sizeof *omega);
    double *fields[3] = {kf_allocate(count * sizeof(double)), kf_allocate(count * sizeof(double)), NULL};
    const pair g = {N, {fields[0], fields[1]}};
    for (int i = 0; i < 4; i++)
        s.work[i] = kf_allocate(count * sizeof *omega);
    for (size_t at = 0; at < count; at++) {
        const double x = (double)(at % N) - 0.5 * N, y = (double)(at / N) - 0.5 * N;
        const double one = hypot(x - 0.5 * apart, y) / radius, other = hypot(x + 0.5 * apart, y) / radius;
        omega[at] =
            (kf_dcomplex){circulation / (pi * radius * radius) * (exp(-one * one) + exp(-other * other)), 0};
    }
    kf_plain_transform(omega, cells, -1);
    for (int i = 0; i < 2; i++)
        spectral_velocity(&s, omega, i, fields[i]);
    kf_fluid *f = kf_fluid_case_box(v, N, N, 1, pair_velocity, &g);
    kf_fluid_state state;
    f->advection = KF_ADVECT_CUBIC;
    f->midpoint = true;
    f->viscosity = s.viscosity;
    const kf_status status =
        kf_fluid_case_run(v, f, &kf_fluid_precisions[1], STEPS, STEPS, NULL, NULL, &state, error);
    if (status == KF_OK) {
        double angle, spread, found, found_spread;
        spectral_run(&s, omega, STEPS / 2, 2);
        for (int i = 0; i < 2; i++)
            spectral_velocity(&s, omega, i, fields[i]);
        pair_axis(N, fields, &angle, &spread);
        pair_axis(N, state.velocity, &found, &found_spread);
        kf_check_relative(v, "96^2: angle that two vortices turn about each other",
                          "pseudo-spectral code, Runge-Kutta 4", angle, found, 0.1);
        kf_check_relative(v, "96^2: their spread about the centre", "pseudo-spectral code, Runge-Kutta 4",
                          spread, found_spread, 0.1);
        kf_fluid_state_free(&state);
    }
    kf_fluid_free(f);
    free(omega);
    for (int i = 0; i < 4; i++)
        free(s.work[i]);
    free(fields[0]);
    free(fields[1]);
    return status;
}
