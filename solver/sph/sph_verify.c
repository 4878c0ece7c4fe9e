/* The correctness check: compares the neighbours, and the particles' positions after a few steps, with the
 * reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/sph/reference.h"

/* The accepted relative deviation: the rounding of single precision, grown over a few steps, times a margin
 * of ten. */
static const double BOUND = 1e-4;

typedef struct deviations {
    double velocity, density, place, stress;
    long wrong_sets;
    int worst;
} deviations;

/* ---- Neighbours ---- */

static kf_status check_module(kf_plan *plan, const kf_sph *system, int part, kf_error *error) {
    kf_module **module = &system->parts[part].modules[KF_SPH_CHECK];
    kf_source source;
    kf_defines defines;
    if (*module != NULL) return KF_OK;
    kf_sph_define(system->scene, &system->options, KF_SPH_CHECK, &source, &defines);
    kf_plan_on(plan, part);
    const kf_status status = kf_plan_module(plan, &source, module, error);
    kf_plan_on(plan, 0);
    return status;
}

/* Finds the plan's neighbours at the present positions: the sort of a step, and then the search. */
static kf_status find(kf_plan *plan, unsigned *found, kf_error *error) {
    const kf_sph *system = plan->system;
    const bool swapped = kf_sph_between(plan->system, plan->steps_done);
    const size_t bytes = 2 * system->scene->count * sizeof *found;
    if (system->scene->count > (size_t)system->exchanged)
        return kf_fail(error, KF_BAD_INPUT, "%zu particles are too many to be held against brute force",
                       system->scene->count);
    KF_TRY(kf_sph_sort(plan, swapped, error));
    KF_TRY(kf_sph_clear_exchange(plan, bytes, error));
    for (int part = 0; part < plan->part_count; part++) {
        kf_sph_arguments a = kf_sph_of_part(system, part, swapped);
        a.found = kf_sph_exchange_of(plan, part);
        KF_TRY(check_module(plan, system, part, error));
        KF_TRY(kf_sph_launch(plan, part, KF_SPH_CHECK, "find_neighbours", &a, a.count * system->options.lanes,
                             error));
    }
    KF_TRY(kf_sph_meet(plan, error));
    return kf_sph_take_exchange(plan, found, bytes, error);
}

static double along(const kf_particle_scene *s, int axis, double d) {
    if (axis >= s->dimensions || s->sides[2 * axis] != KF_SIDE_PERIODIC) return d;
    return d - s->size[axis] * nearbyint(d / s->size[axis]);
}

/* Returns whether brute force finds the same neighbours of particle i. A pair whose distance equals the
 * support up to rounding may be a neighbour or not, so such a particle is left out. */
static bool same_set(const kf_particle_scene *s, const float *values, size_t i, const unsigned found[2]) {
    const double support2 = s->support * s->support;
    unsigned count = 0, mixed = 0;
    for (size_t j = 0; j < s->count; j++) {
        double r2 = 0.0;
        if (j == i) continue;
        for (int k = 0; k < s->dimensions; k++) {
            const double d = along(s, k,
                                   (double)values[i * KF_SPH_STATE_VALUES + (size_t)k] -
                                       (double)values[j * KF_SPH_STATE_VALUES + (size_t)k]);
            r2 += d * d;
        }
        if (fabs(r2 - support2) < 1e-5 * support2 * fmax(1.0, 0.01 * s->size[0])) return true;
        if (r2 >= support2) continue;
        const unsigned who = (unsigned)j + 1u;
        count++;
        mixed += (who * 2654435761u) ^ (who >> 3);
    }
    return count == found[0] && mixed == found[1];
}

static bool inside(const kf_particle_scene *s, const float *place) {
    for (int k = 0; k < s->dimensions; k++) {
        double low, high;
        kf_sph_bounds(s, k, &low, &high);
        if (!((double)place[k] >= low && (double)place[k] <= high)) return false;
    }
    return true;
}

static kf_status compare_sets(kf_plan *plan, const float *values, deviations *d, kf_error *error) {
    const kf_particle_scene *s = ((const kf_sph *)plan->system)->scene;
    unsigned *found = kf_allocate(2 * s->count * sizeof *found);
    const kf_status status = find(plan, found, error);
    for (size_t i = 0; i < s->count && status == KF_OK; i++)
        if (inside(s, values + i * KF_SPH_STATE_VALUES) && !same_set(s, values, i, found + 2 * i))
            d->wrong_sets++;
    free(found);
    KF_TRY(status);
    /* The slots of a team are in another order. */
    return plan->all_parts > 1 ? kf_sph_put(plan, values, error) : KF_OK;
}

/* ---- The state ---- */

typedef struct square {
    double error, scale;
} square;

static void add(square *s, double value, double expected) {
    s->error += (value - expected) * (value - expected);
    s->scale += expected * expected;
}

static double relative(const square *s, double least, size_t count) {
    return sqrt(s->error) / fmax(sqrt(s->scale), least * sqrt((double)count));
}

static void compare_state(const kf_particle_scene *s, const float *values, const kf_sph_world *world,
                          deviations *d) {
    square velocity = {0}, density = {0}, stress = {0};
    double place = 0.0, largest = -1.0;
    for (int i = 0; i < world->count; i++) {
        const float *got = values + (size_t)i * KF_SPH_STATE_VALUES;
        const kf_sph_body *b = &world->bodies[i];
        if (b->wall || b->gone) continue;
        const double expected[5] = {b->stress[0][0], b->stress[1][1], b->stress[0][1], b->stress[0][2],
                                    b->stress[1][2]};
        double apart = 0.0;
        for (int k = 0; k < 3; k++) {
            add(&velocity, (double)got[3 + k], b->v[k]);
            const double gap = along(s, k, (double)got[k] - b->x[k]);
            apart += gap * gap;
        }
        add(&density, (double)got[6], b->e);
        for (int k = 0; k < KF_SPH_STRESSES; k++)
            add(&stress, (double)got[11 + k], expected[k]);
        place += apart;
        if (!(apart <= largest)) {
            largest = apart;
            d->worst = i;
        }
    }
    d->velocity = relative(&velocity, 1e-6, s->count);
    d->density = relative(&density, 1e-6, s->count);
    d->stress = kf_sph_has_stress(s) ? relative(&stress, 1e-7, s->count) : 0.0;
    d->place = sqrt(place / (double)s->count);
}

kf_status kf_sph_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                        kf_error *error) {
    const kf_particle_scene *s = ((const kf_sph *)plan->system)->scene;
    deviations d = {0};
    kf_sph_clock clock;
    float *values;
    memset(verification, 0, sizeof *verification);
    KF_TRY(kf_sph_read_clock(plan, &clock, error));
    KF_TRY(kf_sph_read(plan, &values, error));
    const kf_status status = compare_sets(plan, values, &d, error);
    compare_state(s, values, &reference->world, &d);
    free(values);
    KF_TRY(status);
    const bool lost = isnan(d.velocity + d.density + d.place + d.stress);
    kf_verification_add(verification, "particles",
                        lost ? (double)NAN : fmax(fmax(d.velocity, d.density), fmax(d.place, d.stress)),
                        BOUND);
    (void)snprintf(verification->worst, sizeof verification->worst,
                   "particle %d; velocity %.2g, density %.2g, place %.2g, stress %.2g", d.worst, d.velocity,
                   d.density, d.place, d.stress);
    if (clock.flags != 0) return kf_sph_flagged(clock.flags, error);
    if (d.wrong_sets > 0)
        return kf_fail(error, KF_GATE_FAILED,
                       "%ld of %zu particles have other neighbours than brute force finds", d.wrong_sets,
                       s->count);
    return kf_verification_judge(verification, error);
}
