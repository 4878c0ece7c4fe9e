/* Stable fluids: exact solutions of the scheme itself, which hold to rounding; and the table of all cases. */
#include "solver/stable_fluids/stable_fluids_cases.h"

#include <complex.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/fft.h"
#include "base/util/memory.h"
#include "base/util/text.h"

static const double pi = 3.14159265358979323846;
static const char *const wide[] = {"storage_velocity=f64", "storage_spectrum=f64", "plan=fused", NULL};
static const char *const narrow[] = {"storage_velocity=f32", "storage_spectrum=f32", "plan=fused", NULL};
const kf_fluid_precision kf_fluid_precisions[2] = {{"f64", wide, true}, {"f32", narrow, false}};

/* --- Running -------------------------------------------------------------------------------------------- */

kf_fluid *kf_fluid_case_box(const kf_validation *validation, int nx, int ny, int nz,
                            kf_fluid_start_function *start, const void *context) {
    const int cells[3] = {nx, ny, nz};
    kf_fluid *f = kf_fluid_make(nz > 1 ? 3 : 2, cells);
    f->accuracy = validation->accuracy > 0 ? validation->accuracy : 1e-4;
    f->initial = start;
    f->initial_context = context;
    kf_copy_text(f->name, sizeof f->name, validation->case_name);
    return f;
}

static kf_status run_plan(const kf_validation *validation, kf_plan *plan, int steps, int stride,
                          kf_fluid_look *look, void *data, kf_fluid_state *state, kf_error *error) {
    KF_TRY(kf_plan_initialise(plan, error));
    for (int done = 0; done < steps;) {
        const int part = look != NULL && stride < steps - done ? stride : steps - done;
        if (*validation->interrupted) return kf_fail(error, KF_INTERRUPTED, "interrupted");
        KF_TRY(kf_plan_advance(plan, (uint64_t)part, error));
        done += part;
        KF_TRY(kf_fluid_read(plan, 0, state, error));
        kf_status status = look != NULL ? look(data, done, state, error) : KF_OK;
        if (status != KF_OK || done < steps) kf_fluid_state_free(state);
        KF_TRY(status);
    }
    return KF_OK;
}

kf_status kf_fluid_case_run(const kf_validation *validation, kf_fluid *fluid,
                            const kf_fluid_precision *precision, int steps, int stride, kf_fluid_look *look,
                            void *data, kf_fluid_state *state, kf_error *error) {
    kf_config config;
    kf_plan *plan = NULL;
    kf_fluid_finish(fluid);
    kf_problem *problem = kf_fluid_problem(fluid, false);
    kf_status status = kf_validation_configure(validation, problem, precision->overrides, &config, error);
    if (status == KF_OK) status = kf_fluid_make_plan(problem, &config, validation->backend, &plan, error);
    if (status == KF_OK) status = run_plan(validation, plan, steps, stride, look, data, state, error);
    kf_plan_free(plan);
    kf_problem_free(problem);
    return status;
}

/* How far a velocity is from what it should be in a cell. */
typedef double error_in_cell(const void *expected, const kf_fluid_state *state, int cell);

/* Runs a fluid, which it frees, and gives the largest error of all cells. */
static kf_status run_for_error(const kf_validation *v, kf_fluid *f, const kf_fluid_precision *precision,
                               int steps, error_in_cell *error_in, const void *expected, double *worst,
                               kf_error *error) {
    kf_fluid_state state;
    const kf_status status = kf_fluid_case_run(v, f, precision, steps, steps, NULL, NULL, &state, error);
    *worst = 0;
    if (status == KF_OK) {
        for (int n = 0; n < (int)kf_fluid_cell_count(f); n++)
            *worst = kf_worse(*worst, error_in(expected, &state, n));
        kf_fluid_state_free(&state);
    }
    kf_fluid_free(f);
    return status;
}

double kf_fluid_distance(const kf_fluid *f, double *const values[3], double *const expected[3]) {
    double square = 0, scale = 0;
    for (int i = 0; i < f->dimensions; i++)
        for (size_t n = 0; n < kf_fluid_cell_count(f); n++) {
            const double d = values[i][n] - expected[i][n];
            square += d * d, scale += expected[i][n] * expected[i][n];
        }
    return sqrt(square / scale);
}

double kf_fluid_energy(const kf_fluid *f, double *const velocity[3]) {
    double sum = 0;
    for (int i = 0; i < f->dimensions; i++)
        for (size_t n = 0; n < kf_fluid_cell_count(f); n++)
            sum += velocity[i][n] * velocity[i][n];
    return sum;
}

static const char *named(char text[96], const kf_fluid_precision *p, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static const char *named(char text[96], const kf_fluid_precision *p, const char *format, ...) {
    va_list list;
    const int used = snprintf(text, 96, "%s: ", p->name);
    va_start(list, format);
    (void)vsnprintf(text + used, 96 - (size_t)used, format, list);
    va_end(list);
    return text;
}

/* --- Projection and diffusion --------------------------------------------------------------------------- */

static void rough(const void *context, const int cell[3], double velocity[3]) {
    (void)context;
    uint64_t word = (uint64_t)cell[0] * 2654435761u + (uint64_t)cell[1] * 40503u * 65537u +
                    (uint64_t)cell[2] * 97u * 2246822519u;
    for (int i = 0; i < 3; i++) {
        word = (word ^ (word >> 15)) * 0x2c1b3c6d2f1b3c6dULL + 1;
        velocity[i] = (double)(word >> 11) * 0x1p-53 - 0.5;
    }
}

/* A shear of the shortest wave, which has no divergence: it has no mirror image either, and is dropped. */
static void shortest(const void *context, const int cell[3], double velocity[3]) {
    const int along = *(const int *)context;
    velocity[0] = velocity[1] = velocity[2] = 0;
    velocity[1 - along] = cell[along] % 2 == 0 ? 1 : -1;
}

static double across(const void *along, const kf_fluid_state *state, int n) {
    return fabs(state->velocity[1 - *(const int *)along][n]);
}

static kf_status half_rate(kf_validation *v, kf_error *error) {
    char text[96];
    for (int p = 0; p < 2; p++)
        for (int along = 0; along < 2; along++) {
            const kf_fluid_precision *precision = &kf_fluid_precisions[p];
            kf_fluid *f = kf_fluid_case_box(v, 48, 48, 1, shortest, &along);
            double worst;
            f->advection = KF_ADVECT_NONE;
            KF_TRY(run_for_error(v, f, precision, 1, across, &along, &worst, error));
            kf_check_absolute(
                v, named(text, precision, "what is left of a wave of two cells along %c", "xy"[along]),
                "modes at half the sampling rate are 0", 0, worst, precision->wide ? 1e-13 : 1e-6);
        }
    return KF_OK;
}

/* Noise: all modes have divergence at first. */
static kf_status projection(kf_validation *v, kf_error *error) {
    static const char source[] = "projection is an orthogonal projector";
    char text[96];
    for (int p = 0; p < 2; p++)
        for (int deep = 0; deep < 2; deep++) {
            const kf_fluid_precision *precision = &kf_fluid_precisions[p];
            const int n = deep ? 32 : 128;
            kf_fluid *f = kf_fluid_case_box(v, n, n, deep ? n : 1, rough, NULL);
            kf_fluid_state once, twice;
            f->advection = KF_ADVECT_NONE;
            kf_status status = kf_fluid_case_run(v, f, precision, 1, 1, NULL, NULL, &once, error);
            if (status == KF_OK) {
                status = kf_fluid_case_run(v, f, precision, 2, 2, NULL, NULL, &twice, error);
                if (status == KF_OK) {
                    kf_check_absolute(v, named(text, precision, "%s: divergence", deep ? "32^3" : "128^2"),
                                      source, 0, kf_spectral_divergence(f, once.velocity),
                                      precision->wide ? 1e-13 : 6e-8 * n);
                    kf_check_absolute(
                        v, named(text, precision, "%s: twice beside once", deep ? "32^3" : "128^2"), source,
                        0, kf_fluid_distance(f, twice.velocity, once.velocity),
                        precision->wide ? 1e-13 : 1e-6);
                    kf_fluid_state_free(&twice);
                }
                kf_fluid_state_free(&once);
            }
            kf_fluid_free(f);
            KF_TRY(status);
        }
    return half_rate(v, error);
}

typedef struct wave {
    int n, mode, along; /* along: 0 varies with x, 1 with y */
    double wind, amplitude;
} wave;

static void shear(const void *context, const int cell[3], double velocity[3]) {
    const wave *w = context;
    velocity[w->along] = w->wind;
    velocity[1 - w->along] = w->amplitude * sin(2 * pi * w->mode * cell[w->along] / w->n);
    velocity[2] = 0;
}

/* A wave along y, sin(k y) times a factor; the error is a share of it. */
typedef struct sine {
    int n;
    double k, factor;
} sine;

static double off_sine(const void *expected, const kf_fluid_state *state, int cell) {
    const sine *s = expected;
    const int y = cell / s->n;
    return fabs(state->velocity[0][cell] / s->factor - sin(s->k * y));
}

/* A shear wave without advection decays in 40 steps as each of the two rules says: 1 / (1 + nu k^2) or
 * exp(-nu k^2) a step. */
static kf_status diffusion(kf_validation *v, kf_error *error) {
    enum { STEPS = 40, N = 64 };
    char text[96];
    for (int p = 0; p < 2; p++)
        for (int exponential = 0; exponential < 2; exponential++) {
            const kf_fluid_precision *precision = &kf_fluid_precisions[p];
            const wave w = {.n = N, .mode = 5, .along = 1, .amplitude = 1};
            kf_fluid *f = kf_fluid_case_box(v, N, N, 1, shear, &w);
            double worst;
            f->advection = KF_ADVECT_NONE;
            f->viscosity = 0.05;
            f->exponential = exponential;
            const double k = 2 * pi * w.mode / N, decay = exponential ? exp(-STEPS * f->viscosity * k * k)
                                                                      : pow(1 + f->viscosity * k * k, -STEPS);
            KF_TRY(run_for_error(v, f, precision, STEPS, off_sine, &(sine){N, k, decay}, &worst, error));
            kf_check_absolute(v,
                              named(text, precision, "%s: error of a mode after 40 steps",
                                    exponential ? "exponential" : "implicit"),
                              "every mode is divided by 1 + nu k^2, or multiplied by exp(-nu k^2)", 0, worst,
                              precision->wide ? 1e-12 : 3e-7 * STEPS);
        }
    return KF_OK;
}

/* --- Exact solutions with advection --------------------------------------------------------------------- */

typedef struct blown_wave {
    wave wave;
    double k;
    double complex growth; /* of all steps together */
} blown_wave;

static double off_blown_wave(const void *expected, const kf_fluid_state *state, int cell) {
    const blown_wave *b = expected;
    const wave *w = &b->wave;
    const double x = w->along == 0 ? cell % w->n : cell / w->n;
    return fabs(state->velocity[1 - w->along][cell] - w->amplitude * cimag(b->growth * cexp(I * b->k * x))) /
           w->amplitude;
}

/* In a wind of c cells a step linear interpolation multiplies the wave by G = ((1 - a) e^(ikq) + a
 * e^(ik(q+1))) D. */
static kf_status shear_wave(kf_validation *v, kf_error *error) {
    enum { STEPS = 50, N = 64 };
    static const double winds[] = {0.6, 7.3};
    char text[96];
    for (int p = 0; p < 2; p++)
        for (int along = 0; along < 2; along++)
            for (int i = 0; i < 2; i++) {
                const kf_fluid_precision *precision = &kf_fluid_precisions[p];
                const wave w = {.n = N, .mode = 3, .along = along, .wind = winds[i], .amplitude = 0.01};
                const double k = 2 * pi * w.mode / N, nu = 2.25e-4 * w.mode * w.mode / (k * k),
                             q = floor(-w.wind), a = -w.wind - q;
                const double complex g =
                    ((1 - a) * cexp(I * k * q) + a * cexp(I * k * (q + 1))) / (1 + nu * k * k);
                const blown_wave expected = {w, k, cpow(g, STEPS)};
                kf_fluid *f = kf_fluid_case_box(v, N, N, 1, shear, &w);
                double worst;
                f->viscosity = nu;
                KF_TRY(run_for_error(v, f, precision, STEPS, off_blown_wave, &expected, &worst, error));
                kf_check_absolute(v,
                                  named(text, precision,
                                        "wind of %.1f cells a step along %c: error / amplitude", w.wind,
                                        "xy"[along]),
                                  "exact solution of the scheme", 0, worst, precision->wide ? 1e-12 : 5e-5);
            }
    return KF_OK;
}

static double off_forced(const void *expected, const kf_fluid_state *state, int cell) {
    const sine *s = expected;
    const int y = cell / s->n;
    return fabs(state->velocity[0][cell] - s->factor * sin(s->k * y)) / s->factor;
}

/* A flow forced by a sine reaches the exact solution of the scheme, after 2000 steps and when it is
 * steady. */
static kf_status kolmogorov(kf_validation *v, kf_error *error) {
    enum { STEPS = 2000, N = 32 };
    static const double viscosities[] = {0.05, 0.5}; /* the second reaches the steady flow to 1e-16 */
    char text[96];
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < 2; i++) {
            const kf_fluid_precision *precision = &kf_fluid_precisions[p];
            kf_fluid *f = kf_fluid_case_box(v, N, N, 1, NULL, NULL);
            double worst;
            f->viscosity = viscosities[i];
            f->body_amplitude = 1e-3;
            const double k = 2 * pi / N, steady = f->body_amplitude / (f->viscosity * k * k);
            const double now = i > 0 ? steady : steady * (1 - pow(1 + f->viscosity * k * k, -STEPS));
            KF_TRY(run_for_error(v, f, precision, STEPS, off_forced, &(sine){N, k, now}, &worst, error));
            kf_check_absolute(v,
                              named(text, precision, "forced flow %s: error / amplitude",
                                    i > 0 ? "when it is steady" : "after 2000 steps"),
                              "exact solution of the scheme", 0, worst,
                              precision->wide ? 1e-11 : 5e-5); /* 3.3e-5 on a GPU */
        }
    return KF_OK;
}

static void uniform(const void *context, const int cell[3], double velocity[3]) {
    (void)context, (void)cell;
    velocity[0] = 1.37, velocity[1] = -0.61, velocity[2] = 0.22;
}

static double off_uniform(const void *dimensions, const kf_fluid_state *state, int cell) {
    double worst = 0, expected[3];
    uniform(NULL, NULL, expected);
    for (int i = 0; i < *(const int *)dimensions; i++)
        worst = kf_worse(worst, fabs(state->velocity[i][cell] - expected[i]));
    return worst;
}

/* A uniform flow stays uniform in two and three dimensions, to rounding. */
static kf_status uniform_flow(kf_validation *v, kf_error *error) {
    enum { STEPS = 1000 };
    char text[96];
    for (int p = 0; p < 2; p++)
        for (int dimensions = 2; dimensions <= 3; dimensions++) {
            const kf_fluid_precision *precision = &kf_fluid_precisions[p];
            const bool deep = dimensions == 3;
            kf_fluid *f = kf_fluid_case_box(v, 32, 32, deep ? 16 : 1, uniform, NULL);
            double worst;
            f->viscosity = 0.01;
            KF_TRY(run_for_error(v, f, precision, deep ? STEPS / 10 : STEPS, off_uniform, &dimensions, &worst,
                                 error));
            kf_check_absolute(
                v, named(text, precision, "%d dimensions: uniform flow, largest change", dimensions),
                "it stays", 0, worst, precision->wide ? 1e-13 : 1e-6);
        }
    return KF_OK;
}

/* A click adds F sum 1 / (1 + dx^4 + dy^4) to the momentum; projection and diffusion keep it. */
static kf_status seed_force(kf_validation *v, kf_error *error) {
    enum { REACH = 4, N = 64 };
    char text[96];
    for (int p = 0; p < 2; p++) {
        const kf_fluid_precision *precision = &kf_fluid_precisions[p];
        kf_fluid *f = kf_fluid_case_box(v, N, N, 1, NULL, NULL);
        kf_fluid_state state;
        f->advection = KF_ADVECT_NONE;
        f->impulse_count = 1;
        f->impulses = kf_allocate_zeroed(1, sizeof *f->impulses);
        f->impulses[0] =
            (kf_fluid_impulse){.step = 0, .cell = {1, N - 2, 0}, .reach = REACH, .vector = {3, -2, 0}};
        double weights = 0, sum = 0;
        for (int dy = -REACH; dy <= REACH; dy++)
            for (int dx = -REACH; dx <= REACH; dx++)
                weights += 1.0 / (1 + pow(dx, 4) + pow(dy, 4));
        const kf_status status = kf_fluid_case_run(v, f, precision, 3, 3, NULL, NULL, &state, error);
        if (status == KF_OK) {
            for (int n = 0; n < N * N; n++)
                sum += state.velocity[0][n];
            kf_check_relative(v, named(text, precision, "momentum of a click across the corner"),
                              "F times the sum of 81 weights", 3 * weights, sum,
                              precision->wide ? 1e-13 : 1e-6);
            kf_fluid_state_free(&state);
        }
        kf_fluid_free(f);
        KF_TRY(status);
    }
    return KF_OK;
}

/* --- All plans -------------------------------------------------------------------------------------------
 */

/* Moves a flow by a few cells in 20 steps of each plan, with kftune's transforms and the library's, and
 * holds it against the reference, which is naive and in double precision: so the plans and the backends
 * agree too. */
static kf_status plans(kf_validation *v, kf_error *error) {
    enum { STEPS = 20 };
    static const char *const names[] = {"fused", "persistent", "separate", "packed", "batched"};
    static const char *const transforms[] = {"fft=own", "fft=library"};
    kf_error why = {KF_OK, ""};
    const bool library = kf_fft_available(kf_backend_device(v->backend)->backend, &why) == KF_OK;
    for (int plan = 0; plan < 5; plan++)
        for (int t = 0; t < (library && plan > 1 ? 2 : 1); t++) {
            char chosen[32], text[96];
            const char *const overrides[] = {"storage_velocity=f32", "storage_spectrum=f32", transforms[t],
                                             chosen, NULL};
            const kf_fluid_precision precision = {"f32", overrides, false};
            kf_fluid_state state, naive;
            if (plan == 1 && !v->gpu) continue;
            (void)snprintf(chosen, sizeof chosen, "plan=%s", names[plan]);
            kf_fluid *f = kf_fluid_case_box(v, 96, 60, 1, NULL, NULL);
            f->start = KF_START_RANDOM;
            f->start_amplitude = 1;
            f->start_velocity[0] = 0.3;
            f->viscosity = 0.01;
            const kf_status status =
                kf_fluid_case_run(v, f, &precision, STEPS, STEPS, NULL, NULL, &state, error);
            if (status == KF_OK) {
                kf_fluid_refer(f, 0, STEPS, &naive);
                (void)snprintf(text, sizeof text, "%s, %s transforms: relative error after 20 steps",
                               names[plan], t > 0 ? "the library's" : "own");
                kf_check_absolute(v, text, "naive step in double precision", 0,
                                  kf_fluid_distance(f, state.velocity, naive.velocity), 1e-5);
                kf_fluid_state_free(&naive);
                kf_fluid_state_free(&state);
            }
            kf_fluid_free(f);
            KF_TRY(status);
        }
    return KF_OK;
}

const kf_case kf_stable_fluids_cases[] = {
    {"sf_projection", "divergence of projected noise, and projecting twice", false, projection, 0},
    {"sf_diffusion", "decay of a mode by both diffusion rules", false, diffusion, 0},
    {"sf_shear_wave", "a shear wave in a wind: exact solution of the scheme", false, shear_wave, 0},
    {"sf_kolmogorov", "forced Kolmogorov flow: exact solution of the scheme", false, kolmogorov, 0},
    {"sf_uniform", "a uniform flow stays as it is", false, uniform_flow, 0},
    {"sf_seed_force", "momentum that a click adds", false, seed_force, 0},
    {"sf_taylor_green", "Taylor-Green vortices with advection: error and order", false,
     kf_case_fluid_taylor_green, 0},
    {"sf_taylor_green_3d", "the same in three dimensions", false, kf_case_fluid_taylor_green_3d, 0},
    {"sf_numerical_viscosity", "numerical viscosity of linear interpolation", false,
     kf_case_fluid_numerical_viscosity, 0},
    {"sf_energy", "energy never grows without forces", false, kf_case_fluid_energy, 0},
    {"sf_symmetry", "shifts, mirror images and transposition commute with a step", false,
     kf_case_fluid_symmetry, 0},
    {"sf_particles", "particles of the midpoint rule stay on the streamlines of a steady vortex", false,
     kf_case_fluid_particles, 0},
    {"sf_spectral", "beside a pseudo-spectral code of fourth order for a short time", false,
     kf_case_fluid_spectral, 0},
    {"sf_pair", "two like vortices turn about each other, beside a pseudo-spectral code", false,
     kf_case_fluid_pair, 0},
    {"sf_merger", "two like vortices become one, beside a pseudo-spectral code", false, kf_case_fluid_merger,
     0},
    {"sf_plans", "every plan and library beside the naive step in double precision", false, plans, 0},
    {"sf_walls", "free-slip walls and a solid: what leaks", false, kf_case_fluid_walls, 0},
    {NULL, NULL, false, NULL, 0}};
