#include "solver/stable_fluids/stable_fluids_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/random.h"

const char *const kf_fluid_advection_names[KF_ADVECTIONS] = {"none", "linear", "maccormack", "cubic"};
const char *const kf_fluid_start_names[KF_STARTS] = {"rest", "shear_wave", "taylor_green", "kolmogorov",
                                                     "random"};

static const double pi = 3.14159265358979323846;

void kf_fluid_domain(const kf_fluid *fluid, int cells[3]) {
    for (int i = 0; i < 3; i++)
        cells[i] = fluid->walls[i] ? fluid->cells[i] / 2 : fluid->cells[i];
}

double kf_fluid_domain_count(const kf_fluid *fluid) {
    int cells[3];
    kf_fluid_domain(fluid, cells);
    return (double)cells[0] * cells[1] * cells[2];
}

size_t kf_fluid_cell_count(const kf_fluid *fluid) {
    return (size_t)fluid->cells[0] * (size_t)fluid->cells[1] * (size_t)fluid->cells[2];
}

bool kf_fluid_size_fits(int n) {
    /* A transform has at most five stages. */
    enum { MOST_FIVES = 5 };
    int fives = 0;
    if (n < 8) return false;
    for (; n % 5 == 0; n /= 5)
        fives++;
    while (n % 2 == 0)
        n /= 2;
    while (n % 3 == 0)
        n /= 3;
    return n == 1 && fives <= MOST_FIVES;
}

void kf_fluid_nearest_sizes(int n, int *below, int *above) {
    enum { LEAST = 8 };
    *below = *above = n < LEAST ? LEAST : n;
    while (*below > LEAST && !kf_fluid_size_fits(*below))
        --*below;
    while (!kf_fluid_size_fits(*above))
        ++*above;
}

/* --- The state at time 0 -------------------------------------------------------------------------------- */

static double random_phase(uint64_t *state) {
    return 2.0 * pi * kf_random_unit(state);
}

enum { WAVES = 6, MOST_PERIODS = 2, PERIODS = 2 * MOST_PERIODS + 1 };

/* Waves with at most two periods per axis, which depend on the seed and the simulation only. A sine of all
 * axes is a product of one complex number per axis from tables, because a large box has many cells. */
struct kf_fluid_waves {
    const kf_fluid *fluid;
    /* The index k + MOST_PERIODS. */
    int periods[WAVES][3];
    /* The cosine and sine of each component's phase. */
    double cosine[WAVES][3], sine[WAVES][3];
    double *turns[3]; /* exp(2 pi i k cell / cells), [cell][k][2] */
};

/* Makes the random waves of a simulation, with a table of each axis's sines and cosines;
 * kf_fluid_waves_free frees them. */
kf_fluid_waves *kf_fluid_waves_make(const kf_fluid *f, int simulation) {
    kf_fluid_waves *w = kf_allocate_zeroed(1, sizeof *w);
    uint64_t state = f->seed * 977 + (uint64_t)simulation;
    w->fluid = f;
    if (f->start != KF_START_RANDOM && f->shake <= 0) return w;
    for (int wave = 0; wave < WAVES; wave++) {
        for (int i = 0; i < f->dimensions; i++)
            w->periods[wave][i] = (int)kf_random_below(&state, PERIODS);
        for (int i = 0; i < f->dimensions; i++) {
            const double phase = random_phase(&state);
            w->cosine[wave][i] = cos(phase), w->sine[wave][i] = sin(phase);
        }
    }
    for (int i = 0; i < f->dimensions; i++) {
        w->turns[i] = kf_allocate(sizeof(double) * 2 * PERIODS * (size_t)f->cells[i]);
        for (int n = 0; n < f->cells[i]; n++)
            for (int k = 0; k < PERIODS; k++) {
                const double angle = 2.0 * pi * (k - MOST_PERIODS) * n / f->cells[i];
                double *turn = w->turns[i] + 2 * ((size_t)n * PERIODS + (size_t)k);
                turn[0] = cos(angle), turn[1] = sin(angle);
            }
    }
    return w;
}

void kf_fluid_waves_free(kf_fluid_waves *w) {
    if (w == NULL) return;
    for (int i = 0; i < 3; i++)
        free(w->turns[i]);
    free(w);
}

static void add_waves(const kf_fluid_waves *w, const int cell[3], double speed, double velocity[3]) {
    const int dimensions = w->fluid->dimensions;
    for (int wave = 0; wave < WAVES; wave++) {
        double c = 1, s = 0;
        for (int i = 0; i < dimensions; i++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): dimensions are 2 or 3 */
            const double *turn = w->turns[i] + 2 * ((size_t)cell[i] * PERIODS + (size_t)w->periods[wave][i]);
            const double real = c * turn[0] - s * turn[1];
            s = c * turn[1] + s * turn[0];
            c = real;
        }
        for (int i = 0; i < dimensions; i++)
            velocity[i] += speed / WAVES * (s * w->cosine[wave][i] + c * w->sine[wave][i]);
    }
}

/* Adds the velocity with which the scene starts at a cell, in cells a step. */
static void add_start(const kf_fluid_waves *w, const int cell[3], double velocity[3]) {
    const kf_fluid *f = w->fluid;
    double phase[3];
    for (int i = 0; i < 3; i++)
        phase[i] = 2.0 * pi * f->start_mode * cell[i] / f->cells[i];
    switch (f->start) {
    case KF_START_SHEAR_WAVE:
        velocity[1] += f->start_amplitude * sin(phase[0]);
        break;
    case KF_START_TAYLOR_GREEN:
        velocity[0] +=
            f->start_amplitude * sin(phase[0]) * cos(phase[1]) * (f->dimensions == 3 ? cos(phase[2]) : 1.0);
        velocity[1] -=
            f->start_amplitude * cos(phase[0]) * sin(phase[1]) * (f->dimensions == 3 ? cos(phase[2]) : 1.0);
        break;
    case KF_START_KOLMOGOROV:
        velocity[0] += f->start_amplitude * sin(phase[1]);
        break;
    case KF_START_RANDOM:
        add_waves(w, cell, f->start_amplitude, velocity);
        break;
    default:
        break;
    }
}

double kf_fluid_body(const kf_fluid *f, int y) {
    return f->body_amplitude * (f->body_mode == 0 ? 1.0 : sin(2.0 * pi * f->body_mode * y / f->cells[1]));
}

/* Returns the initial velocity at a cell. Between walls, the mirror image behind a wall has the same velocity
 * with its component across the wall reversed. */
void kf_fluid_initial(const kf_fluid_waves *w, const int cell[3], double velocity[3]) {
    const kf_fluid *f = w->fluid;
    int inside[3], domain[3];
    double sign[3] = {1, 1, 1};
    kf_fluid_domain(f, domain);
    for (int i = 0; i < 3; i++) {
        const bool mirrored = cell[i] >= domain[i];
        inside[i] = mirrored ? f->cells[i] - 1 - cell[i] : cell[i];
        if (mirrored) sign[i] = -1;
    }
    memcpy(velocity, f->start_velocity, 3 * sizeof *velocity);
    if (f->initial != NULL)
        f->initial(f->initial_context, inside, velocity);
    else
        add_start(w, inside, velocity);
    if (f->shake > 0) add_waves(w, inside, f->shake, velocity);
    for (int i = 0; i < 3; i++)
        velocity[i] *= sign[i];
}

void kf_fluid_particle(const kf_fluid *f, long long i, double position[3]) {
    int domain[3];
    kf_fluid_domain(f, domain);
    const double cells = (double)domain[0] * domain[1] * domain[2];
    const double spacing = pow(cells / (double)f->particle_count, 1.0 / f->dimensions);
    long long along[3];
    for (int axis = 0; axis < 3; axis++) {
        along[axis] = (long long)ceil(domain[axis] / spacing - 1e-9);
        if (along[axis] < 1) along[axis] = 1;
    }
    const long long at[3] = {i % along[0], i / along[0] % along[1], i / (along[0] * along[1])};
    for (int axis = 0; axis < 3; axis++)
        position[axis] = fmod(((double)at[axis] + 0.5) * domain[axis] / (double)along[axis], domain[axis]);
}

/* --- Making, copying, hashing --------------------------------------------------------------------------- */

kf_fluid *kf_fluid_make(int dimensions, const int cells[3]) {
    kf_fluid *fluid = kf_allocate_zeroed(1, sizeof *fluid);
    fluid->dimensions = dimensions;
    for (int i = 0; i < 3; i++)
        fluid->cells[i] = i < dimensions ? cells[i] : 1;
    fluid->simulations = 1;
    fluid->cell_size = 1.0 / cells[0];
    fluid->time_step = 1.0;
    fluid->advection = KF_ADVECT_LINEAR;
    fluid->accuracy = 1e-4;
    fluid->start_mode = 1;
    fluid->body_mode = 1;
    fluid->seed = 1;
    return fluid;
}

static void *copied(const void *data, size_t bytes) {
    if (data == NULL) return NULL;
    void *copy = kf_allocate(bytes);
    memcpy(copy, data, bytes);
    return copy;
}

kf_fluid *kf_fluid_copy(const kf_fluid *fluid) {
    kf_fluid *copy = copied(fluid, sizeof *fluid);
    copy->notes = (kf_text){0};
    if (fluid->notes.text != NULL) kf_note(&copy->notes, "%s", fluid->notes.text);
    copy->impulses = copied(fluid->impulses, fluid->impulse_count * sizeof *fluid->impulses);
    copy->sources = copied(fluid->sources, (size_t)fluid->source_count * sizeof *fluid->sources);
    copy->mask = copied(fluid->mask, kf_fluid_cell_count(fluid) * sizeof *fluid->mask);
    return copy;
}

void kf_fluid_free(kf_fluid *fluid) {
    if (fluid == NULL) return;
    kf_text_free(&fluid->notes);
    free(fluid->impulses);
    free(fluid->sources);
    free(fluid->mask);
    free(fluid);
}

static void add_numbers(kf_text *text, const char *name, const double *values, int count) {
    kf_text_append(text, "%s", name);
    for (int i = 0; i < count; i++)
        /* -0 and 0 are the same number. */
        kf_text_append(text, " %.17g", values[i] + 0.0);
    kf_text_append(text, "\n");
}

/* Writes everything that the flow depends on as text, from which the scene's hash is made. */
static void add_physics(const kf_fluid *f, kf_text *text) {
    kf_text_append(text, "stable_fluids 1\ncells %d %d %d walls %d%d%d simulations %d seed %llu\n",
                   f->cells[0], f->cells[1], f->cells[2], f->walls[0], f->walls[1], f->walls[2],
                   f->simulations, (unsigned long long)f->seed);
    kf_text_append(text, "advection %s midpoint %d reflection %d exponential %d\n",
                   kf_fluid_advection_names[f->advection], f->midpoint, f->reflection, f->exponential);
    const double flow[] = {f->viscosity, f->confinement, f->accuracy, f->shake};
    add_numbers(text, "flow", flow, 4);
    kf_text_append(text, "start %s %d body %d\n", kf_fluid_start_names[f->start], f->start_mode,
                   f->body_mode);
    const double start[] = {f->start_velocity[0], f->start_velocity[1], f->start_velocity[2],
                            f->start_amplitude, f->body_amplitude};
    add_numbers(text, "start", start, 5);
    for (int i = 0; i < f->dye_count; i++) {
        const double dye[] = {f->dyes[i].dissipation, f->dyes[i].lift};
        add_numbers(text, "dye", dye, 2);
    }
    kf_text_append(text, "particles %lld %d\nsolid %d\n", f->particle_count, f->particle_midpoint,
                   (int)f->solid);
    const kf_fluid_motion *m = &f->motion;
    const double motion[] = {m->center[0],   m->center[1],   m->center[2], m->velocity[0],
                             m->velocity[1], m->velocity[2], m->axis[0],   m->axis[1],
                             m->axis[2],     m->spin,        f->drag,      f->rebound};
    add_numbers(text, "motion", motion, 12);
}

/* Makes the hash of a fluid that is complete: physics, pushes, sources and the solid's mask. */
void kf_fluid_finish(kf_fluid *f) {
    kf_hasher hasher;
    kf_text text = {0};
    add_physics(f, &text);
    for (size_t i = 0; i < f->impulse_count; i++) {
        const kf_fluid_impulse *p = &f->impulses[i];
        kf_text_append(&text, "push %lld %d %d %d %d %.17g %.17g %.17g\n", p->step, p->cell[0], p->cell[1],
                       p->cell[2], p->reach, p->vector[0] + 0.0, p->vector[1] + 0.0, p->vector[2] + 0.0);
    }
    for (int i = 0; i < f->source_count; i++) {
        const kf_fluid_source *s = &f->sources[i];
        kf_text_append(&text, "source %lld %lld\n", s->first, s->last);
        add_numbers(&text, "at", s->center, 3);
        const double what[] = {s->radius, s->velocity[0],     s->velocity[1],     s->velocity[2],
                               s->pull,   s->acceleration[0], s->acceleration[1], s->acceleration[2],
                               s->dye[0], s->dye[1],          s->dye[2]};
        add_numbers(&text, "what", what, 11);
    }
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, text.text);
    if (f->mask != NULL) kf_hash_add(&hasher, f->mask, kf_fluid_cell_count(f) * sizeof *f->mask);
    kf_hash_end(&hasher, f->hash);
    kf_text_free(&text);
}
