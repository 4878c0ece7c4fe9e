/* Stable fluids: how far the scheme is from the flow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/stable_fluids/stable_fluids_cases.h"

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

/* The Taylor-Green vortex in two dimensions: its error at t = 0.5 on two or three grids is that of an
 * independent program with the same scheme, and falls with first order. */
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

/* The numerical viscosity of linear interpolation, from the decay of a Taylor-Green vortex in 100 steps,
 * is that of an independent program with the same scheme. */
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

/* --- Energy and symmetry -------------------------------------------------------------------------------- */

typedef struct growth {
    const kf_fluid *fluid;
    double before, most;
} growth;
static kf_status look_at_energy(void *data, int step, const kf_fluid_state *state, kf_error *error) {
    growth *g = data;
    (void)error;
    const double now = kf_fluid_energy(g->fluid, state->velocity);
    if (step > 1) g->most = kf_worse(g->most, now / g->before - 1);
    g->before = now;
    return KF_OK;
}

/* Interpolation and projection only take energy: random flows at speeds to 10 cells a step never gain any
 * in a step beyond rounding. */
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

enum { SIDE = 48, MOVES = 5 };
typedef struct moved {
    int shift[2];
    bool transposed, mirrored, turned;
} moved;
/* Sets the same waves, moved; mirrored: x to -x; turned: a quarter to the left about cell (0, 0). */
static void moved_waves(const void *context, const int cell[3], double velocity[3]) {
    const moved *m = context;
    int x = cell[0], y = cell[1];
    if (m->transposed || m->turned) x = cell[1], y = cell[0];
    if (m->mirrored) x = (SIDE - x) % SIDE;
    if (m->turned) y = (SIDE - y) % SIDE;
    const double a = 2 * pi * (x - m->shift[0]) / SIDE, b = 2 * pi * (y - m->shift[1]) / SIDE;
    const double u = 0.9 * sin(a + 2 * b + 0.3) + 0.5 * cos(2 * a - b + 1.1) + 0.2,
                 w = 0.7 * cos(3 * a + b) - 0.6 * sin(a - 2 * b + 0.8) - 0.1;
    velocity[0] = m->transposed ? w : m->turned ? -w : m->mirrored ? -u : u;
    velocity[1] = m->transposed || m->turned ? u : w;
    velocity[2] = 0;
}
/* A step commutes with shifting, transposing, mirroring and turning the flow: after ten steps the moved
 * flow is the same flow, moved. */
kf_status kf_case_fluid_symmetry(kf_validation *v, kf_error *error) {
    enum { STEPS = 10 };
    static const moved moves[MOVES] = {
        {.shift = {0, 0}}, {.shift = {5, 11}}, {.transposed = true}, {.mirrored = true}, {.turned = true}};
    static const char *const names[MOVES] = {"", "shifted by (5, 11)", "transposed", "mirrored",
                                             "turned by 90 degrees"};
    static const double signs[MOVES][2] = {{1, 1}, {1, 1}, {1, 1}, {-1, 1}, {1, -1}};
    for (int p = 0; p < 2; p++) {
        kf_fluid_state states[MOVES];
        double worst[MOVES] = {0, 0, 0, 0, 0};
        for (int i = 0; i < MOVES; i++) {
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
                const size_t there[MOVES] = {
                    here, (size_t)((y + 11) % SIDE) * SIDE + (size_t)((x + 5) % SIDE),
                    (size_t)x * SIDE + (size_t)y, (size_t)y * SIDE + (size_t)((SIDE - x) % SIDE),
                    (size_t)x * SIDE + (size_t)((SIDE - y) % SIDE)};
                for (int i = 1; i < MOVES; i++)
                    for (int component = 0; component < 2; component++) {
                        const double *own =
                            states[i]
                                .velocity[moves[i].transposed || moves[i].turned ? 1 - component : component];
                        worst[i] = kf_worse(worst[i], fabs(signs[i][component] * own[there[i]] -
                                                           states[0].velocity[component][here]));
                    }
            }
        for (int i = 0; i < MOVES; i++) {
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

/* --- Particles ------------------------------------------------------------------------------------------ */

/* In steady vortices a particle keeps its value of the stream function, sin x sin y: the largest change. */
static kf_status stray(const kf_validation *v, double speed, int steps, double *worst, kf_error *error) {
    enum { N = 128, PARTICLES = 1024 };
    const vortices g = {N, speed};
    kf_fluid *f = kf_fluid_case_box(v, N, N, 1, taylor_green, &g);
    kf_fluid_state state;
    f->advection = KF_ADVECT_NONE;
    f->particle_count = PARTICLES;
    f->particle_midpoint = true;
    const kf_status status =
        kf_fluid_case_run(v, f, &kf_fluid_precisions[1], steps, steps, NULL, NULL, &state, error);
    if (status == KF_OK) {
        *worst = 0;
        for (long long j = 0; j < PARTICLES; j++) {
            double from[3];
            kf_fluid_particle(f, j, from);
            double values[2];
            for (int i = 0; i < 2; i++) {
                const double *at = i == 0 ? from : state.particles + 3 * j;
                values[i] = sin(2 * pi * (at[0] - 0.5) / N) * sin(2 * pi * (at[1] - 0.5) / N);
            }
            *worst = kf_worse(*worst, fabs(values[1] - values[0]));
        }
        kf_fluid_state_free(&state);
    }
    kf_fluid_free(f);
    return status;
}

kf_status kf_case_fluid_particles(kf_validation *v, kf_error *error) {
    double small, large, larger;
    KF_TRY(stray(v, 0.5, 600, &small, error));
    kf_check_absolute(v, "stream function of 1,024 particles after 600 steps: largest change",
                      "they stay on their streamlines", 0, small, 1e-3);
    /* Steps so long that what they leave is more than what interpolation does. */
    KF_TRY(stray(v, 4, 75, &large, error));
    KF_TRY(stray(v, 8, 38, &larger, error));
    kf_check_at_least(v, "order in the step, 4 and 8 cells", "midpoint rule", 2, log2(larger / large), 0);
    return KF_OK;
}
