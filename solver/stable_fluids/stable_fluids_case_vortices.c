/* Stable fluids beside a pseudo-spectral code of fourth order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/stable_fluids/stable_fluids_cases.h"

static const double pi = 3.14159265358979323846;

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

/* Returns rate = -u . grad omega - nu k^2 omega, by modes of the vorticity omega. */
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

/* Advances the modes of vorticity by so many steps of Runge-Kutta's method of fourth order. */
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
            /* The vorticity is omega = -laplace psi, psi = speed / k stream. */
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

/* --- Two like vortices -----------------------------------------------------------------------------------
 */

/* Gaussian vortices of n cells' box, so far apart, which turn to the left about each other. */
typedef struct pair {
    double apart, radius, circulation, viscosity;
    int n;
} pair;

/* Beside the modes of their vorticity, which the spectral code has, the velocity that stable fluids begin
 * with. */
typedef struct pair_run {
    pair given;
    spectral code;
    kf_dcomplex *omega;
    double *velocity[3];
} pair_run;

static void pair_velocity(const void *context, const int cell[3], double velocity[3]) {
    const pair_run *run = context;
    const size_t at = (size_t)cell[1] * (size_t)run->given.n + (size_t)cell[0];
    velocity[0] = run->velocity[0][at], velocity[1] = run->velocity[1][at], velocity[2] = 0;
}

static void take_velocity(pair_run *run) {
    for (int i = 0; i < 2; i++)
        spectral_velocity(&run->code, run->omega, i, run->velocity[i]);
}

/* Sets up two equal Gaussian vortices about the middle of the box in the spectral program, and takes the
 * velocity from it as the start of the other. */
static void begin_pair(const pair *given, pair_run *run) {
    const int n = given->n, cells[3] = {n, n, 1};
    const size_t count = (size_t)n * (size_t)n;
    *run = (pair_run){.given = *given,
                      .code = {.n = n, .viscosity = given->viscosity},
                      .omega = kf_allocate(count * sizeof *run->omega),
                      .velocity = {kf_allocate(count * sizeof(double)), kf_allocate(count * sizeof(double))}};
    for (int i = 0; i < 4; i++)
        run->code.work[i] = kf_allocate(count * sizeof *run->omega);
    const double peak = given->circulation / (pi * given->radius * given->radius);
    for (size_t at = 0; at < count; at++) {
        const size_t row = at / (size_t)n;
        const double x = (double)(at % (size_t)n) - 0.5 * n, y = (double)row - 0.5 * n,
                     one = hypot(x - 0.5 * given->apart, y) / given->radius,
                     other = hypot(x + 0.5 * given->apart, y) / given->radius;
        run->omega[at] = (kf_dcomplex){peak * (exp(-one * one) + exp(-other * other)), 0};
    }
    kf_plain_transform(run->omega, cells, -1);
    take_velocity(run);
}

static void end_pair(pair_run *run) {
    for (int i = 0; i < 4; i++)
        free(run->code.work[i]);
    free(run->omega);
    free(run->velocity[0]);
    free(run->velocity[1]);
}

/* Runs the same pair with stable fluids and cubic interpolation. */
static kf_status run_pair(kf_validation *v, const pair_run *run, bool reflection, int steps, int stride,
                          kf_fluid_look *look, void *data, kf_fluid_state *state, kf_error *error) {
    kf_fluid *f = kf_fluid_case_box(v, run->given.n, run->given.n, 1, pair_velocity, run);
    f->advection = KF_ADVECT_CUBIC;
    f->midpoint = true;
    f->reflection = reflection;
    f->viscosity = run->given.viscosity;
    const kf_status status =
        kf_fluid_case_run(v, f, &kf_fluid_precisions[1], steps, stride, look, data, state, error);
    kf_fluid_free(f);
    return status;
}

static double vorticity(int n, double *const velocity[3], int x, int y) {
    const int east = (x + 1) % n, west = (x + n - 1) % n, north = (y + 1) % n, south = (y + n - 1) % n;
    return 0.5 * (velocity[1][y * n + east] - velocity[1][y * n + west] - velocity[0][north * n + x] +
                  velocity[0][south * n + x]);
}

/* Angle of the pair's axis with x, and the root of the larger moment about their centre, from the vorticity
 * that is more than a fifth of the largest. */
static void pair_axis(int n, double *const velocity[3], double *angle, double *spread) {
    double most = 0, sum = 0, xx = 0, yy = 0, xy = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const double turn = vorticity(n, velocity, x, y), dx = x - 0.5 * n, dy = y - 0.5 * n;
                if (pass == 0) most = fmax(most, turn);
                if (pass == 0 || turn < 0.2 * most) continue;
                sum += turn, xx += turn * dx * dx, yy += turn * dy * dy, xy += turn * dx * dy;
            }
    *angle = 0.5 * atan2(2 * xy, xx - yy);
    *spread = sqrt((0.5 * (xx + yy) + hypot(0.5 * (xx - yy), xy)) / sum);
}

/* Two vortices turn about each other by the angle, and spread by the width, that a spectral program finds. */
kf_status kf_case_fluid_pair(kf_validation *v, kf_error *error) {
    enum { N = 96, STEPS = 100 };
    static const pair given = {.n = N, .apart = 24, .radius = 5, .circulation = 19.7, .viscosity = 0.01};
    pair_run run;
    kf_fluid_state state;
    begin_pair(&given, &run);
    const kf_status status = run_pair(v, &run, false, STEPS, STEPS, NULL, NULL, &state, error);
    if (status == KF_OK) {
        double angle, spread, found, found_spread;
        spectral_run(&run.code, run.omega, STEPS / 2, 2);
        take_velocity(&run);
        pair_axis(N, run.velocity, &angle, &spread);
        pair_axis(N, state.velocity, &found, &found_spread);
        kf_check_relative(v, "96^2: angle that two vortices turn about each other",
                          "pseudo-spectral code, Runge-Kutta 4", angle, found, 0.1);
        kf_check_relative(v, "96^2: their spread about the centre", "pseudo-spectral code, Runge-Kutta 4",
                          spread, found_spread, 0.1);
        kf_fluid_state_free(&state);
    }
    end_pair(&run);
    return status;
}

/* Until one has become of two: the distance of their tops, which lie on both sides of the centre, and how far
 * their axis has turned. The first time that the distance is less than half of what it was counts. */
typedef struct merger {
    int n;
    double apart, distance, turned, time; /* at the last look */
    double merged_at, merged_turned;      /* 0: not yet */
} merger;

/* Notes where the vortices stand: finds the strongest cell, refines its place by parabolas, and, once they
 * are half as far apart as at first, the time and the angle of that, interpolated. */
static void look_at_merger(merger *m, double time, double *const velocity[3]) {
    const int n = m->n;
    int top[2] = {1, 1}; /* inside, where nothing turns, too */
    double most = 0, place[2];
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++) {
            const double turn = vorticity(n, velocity, x, y);
            if (turn > most) most = turn, top[0] = x, top[1] = y;
        }
    for (int i = 0; i < 2; i++) { /* the top of a parabola through three cells */
        const double low = vorticity(n, velocity, top[0] - (i == 0), top[1] - (i == 1)),
                     high = vorticity(n, velocity, top[0] + (i == 0), top[1] + (i == 1));
        place[i] = top[i] - 0.5 * n + 0.5 * (low - high) / (low - 2 * most + high);
    }
    const double distance = 2 * hypot(place[0], place[1]),
                 turned = m->turned + remainder(atan2(place[1], place[0]) - m->turned, pi);
    if (m->merged_at <= 0 && distance < 0.5 * m->apart) {
        const double share = (m->distance - 0.5 * m->apart) / (m->distance - distance);
        m->merged_at = m->time + share * (time - m->time);
        m->merged_turned = m->turned + share * (turned - m->turned);
    }
    m->distance = distance, m->turned = turned, m->time = time;
}

static kf_status look_at_state(void *data, int step, const kf_fluid_state *state, kf_error *error) {
    (void)error;
    look_at_merger(data, step, state->velocity);
    return KF_OK;
}

/* Two vortices merge when a spectral program says, having turned by the same angle, each within 10 %. */
kf_status kf_case_fluid_merger(kf_validation *v, kf_error *error) {
    enum { N = 80, STEPS = 144, STRIDE = 8 };
    static const char source[] = "pseudo-spectral code, Runge-Kutta 4";
    static const pair given = {.n = N, .apart = 16, .radius = 5, .circulation = 16, .viscosity = 0.01};
    pair_run run;
    kf_fluid_state state;
    merger expected = {.n = N, .apart = given.apart, .distance = given.apart}, found = expected;
    begin_pair(&given, &run);
    const kf_status status = run_pair(v, &run, true, STEPS, STRIDE, look_at_state, &found, &state, error);
    for (int step = 0; status == KF_OK && step < STEPS && expected.merged_at <= 0; step += STRIDE) {
        spectral_run(&run.code, run.omega, STRIDE / 2, 2);
        take_velocity(&run);
        look_at_merger(&expected, step + STRIDE, run.velocity);
    }
    if (status == KF_OK) {
        kf_check_at_least(v, "80^2: steps until two vortices merge, of the spectral code", "they do", 1,
                          expected.merged_at, 0);
        kf_check_relative(v, "80^2: steps until the tops are half as far apart", source, expected.merged_at,
                          found.merged_at, 0.1);
        kf_check_relative(v, "80^2: angle that they have turned by then", source, expected.merged_turned,
                          found.merged_turned, 0.1);
        kf_fluid_state_free(&state);
    }
    end_pair(&run);
    return status;
}
