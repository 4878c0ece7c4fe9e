/* The correctness check: compares a plan's velocity, dyes and particles with the reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/stable_fluids/stable_fluids.h"

/* The first and the last simulation. */
struct kf_reference {
    int count, simulations[2];
    kf_fluid_state states[2];
};

kf_status kf_fluid_reference(const kf_problem *problem, int steps, kf_reference **reference,
                             kf_error *error) {
    const kf_fluid *f = kf_problem_fluid(problem);
    (void)error;
    kf_reference *made = kf_allocate_zeroed(1, sizeof *made);
    made->count = f->simulations > 1 ? 2 : 1;
    made->simulations[1] = f->simulations - 1;
    for (int i = 0; i < made->count; i++)
        kf_fluid_refer(f, made->simulations[i], steps, &made->states[i]);
    *reference = made;
    return KF_OK;
}

void kf_fluid_free_reference(kf_reference *reference) {
    if (reference == NULL) return;
    for (int i = 0; i < reference->count; i++)
        kf_fluid_state_free(&reference->states[i]);
    free(reference);
}

/* Returns the accepted deviation for a storage type: the rounding of some tens of steps with a margin. A
 * click of the script carries a cell hundreds of cells far, which loses as many digits. A limiter takes the
 * least and the largest value of the cells around a place, which are others where rounding moves the place
 * across a cell's centre; in three dimensions and with reflection single cells then differ by a thousandth.
 */
static double bound_of(const kf_fluid_plan *p) {
    const kf_fluid *f = p->fluid;
    const bool limited = f->advection == KF_ADVECT_MACCORMACK || f->advection == KF_ADVECT_CUBIC;
    double far = 1;
    if (limited && f->reflection && f->dimensions == 3) far = 20;
    for (size_t i = 0; i < p->fluid->impulse_count; i++)
        for (int axis = 0; axis < 3; axis++)
            far = fmax(far, fabs(p->fluid->impulses[i].vector[axis]) / 10);
    if (p->fluid->confinement > 0) far *= 10;
    if (p->options.velocity_bits == 16 || p->options.spectrum_bits == 16) return p->fluid->accuracy;
    return p->options.velocity_bits == 64 ? 1e-11 * far : 2e-5 * far;
}

typedef struct difference {
    double square, scale, worst;
    size_t at;
} difference;

static void compare(const double *values, const double *reference, size_t count, difference *d) {
    for (size_t n = 0; n < count; n++) {
        const double e = values[n] - reference[n];
        d->square += e * e;
        d->scale += reference[n] * reference[n];
        /* This is also true for NaN. */
        if (!(fabs(e) <= d->worst)) d->worst = fabs(e), d->at = n;
    }
}
/* Returns the relative difference. A field close to zero has no natural scale. */
static double relative(const difference *d, size_t count) {
    return sqrt(d->square) / fmax(sqrt(d->scale), 1e-3 * sqrt((double)count));
}

/* Returns the share of the particles that are more than a hundredth of a cell away. The seed's rule jumps
 * where a particle changes its cell, so rounding moves a few of them. */
static double strayed(const kf_fluid *f, const double *particles, const double *reference) {
    long long count = 0;
    for (long long j = 0; j < f->particle_count; j++) {
        bool far = false;
        for (int i = 0; i < f->dimensions; i++) {
            double d = fabs(particles[3 * j + i] - reference[3 * j + i]);
            d = fmin(d, f->cells[i] - d);
            far |= !(d < 0.01);
        }
        count += far;
    }
    return f->particle_count > 0 ? (double)count / (double)f->particle_count : 0;
}

/* The largest differences over all compared simulations. */
typedef struct farthest {
    double fields, mean_velocity, strayed;
} farthest;

static void compare_state(const kf_fluid *f, const kf_fluid_state *state, const kf_fluid_state *reference,
                          farthest *most, kf_verification *v) {
    const size_t cells = kf_fluid_cell_count(f);
    difference velocity = {.worst = -1}, mean = {0};
    double momentum = 0;
    for (int i = 0; i < f->dimensions; i++) {
        double sum = 0;
        compare(state->velocity[i], reference->velocity[i], cells, &velocity);
        for (size_t n = 0; n < cells; n++)
            sum += state->velocity[i][n] - reference->velocity[i][n];
        momentum = kf_worse(momentum, fabs(sum) / (double)cells);
    }
    double error = relative(&velocity, cells);
    for (int i = 0; i < f->dye_count; i++) {
        difference dye = mean;
        compare(state->dye[i], reference->dye[i], cells, &dye);
        const double own = relative(&dye, cells);
        if (!(own <= error)) error = own;
    }
    if (!(error <= most->fields)) {
        most->fields = error;
        (void)snprintf(v->worst, sizeof v->worst, "velocity off by %.3g at cell (%d, %d, %d)", velocity.worst,
                       (int)(velocity.at % (size_t)f->cells[0]),
                       (int)(velocity.at / (size_t)f->cells[0] % (size_t)f->cells[1]),
                       (int)(velocity.at / ((size_t)f->cells[0] * (size_t)f->cells[1])));
    }
    most->mean_velocity =
        kf_worse(most->mean_velocity, momentum / fmax(sqrt(velocity.scale / (double)cells), 1e-3));
    most->strayed = fmax(most->strayed, strayed(f, state->particles, reference->particles));
}

/* Compares fields, mean velocity and particles with the reference. A few particles may differ, because
 * rounding at a cell's face sends them another way. */
kf_status kf_fluid_verify(kf_plan *plan, const kf_reference *reference, kf_verification *v, kf_error *error) {
    /* The number allowed of a thousand particles. */
    enum { MOST_STRAYED = 2 };
    const kf_fluid_plan *p = plan->system;
    memset(v, 0, sizeof *v);
    const double bound = bound_of(p);
    farthest most = {0};
    for (int i = 0; i < reference->count; i++) {
        kf_fluid_state state;
        KF_TRY(kf_fluid_read(plan, reference->simulations[i], &state, error));
        compare_state(p->fluid, &state, &reference->states[i], &most, v);
        kf_fluid_state_free(&state);
    }
    kf_verification_add(v, "fields", most.fields, bound);
    kf_verification_add(v, "mean velocity", most.mean_velocity, bound);
    kf_verification_add(v, "particles astray", most.strayed, 1e-3 * MOST_STRAYED);
    return kf_verification_judge(v, error);
}
