/* State of an sph plan: initial conditions, checkpoints, snapshots, records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/text.h"
#include "solver/sph/sph.h"

static kf_sph *system_of(const kf_plan *plan) {
    return plan->system;
}

/* ---- to the device and back: in parts ---- */

static kf_status send_state(kf_plan *plan, const float *values, kf_error *error) {
    kf_sph *system = system_of(plan);
    kf_sph_arguments a = system->arguments;
    const size_t bytes = KF_SPH_STATE_VALUES * sizeof(float);
    for (a.first = 0; a.first < a.count; a.first += system->exchanged) {
        a.limit = a.count - a.first < system->exchanged ? a.count - a.first : system->exchanged;
        KF_TRY(kf_backend_synchronize(plan->backend, error));
        KF_TRY(kf_buffer_upload(system->exchange, 0, values + (size_t)a.first * KF_SPH_STATE_VALUES,
                                (size_t)a.limit * bytes, error));
        KF_TRY(kf_sph_launch(plan, KF_SPH_STATE, "unpack", &a, a.limit, error));
    }
    return kf_backend_synchronize(plan->backend, error);
}

kf_status kf_sph_read(kf_plan *plan, float **values, kf_error *error) {
    kf_sph *system = system_of(plan);
    kf_sph_arguments a = system->arguments;
    const size_t bytes = KF_SPH_STATE_VALUES * sizeof(float);
    float *read = kf_allocate((size_t)a.count * bytes);
    kf_status status = KF_OK;
    for (a.first = 0; a.first < a.count && status == KF_OK; a.first += system->exchanged) {
        a.limit = a.count - a.first < system->exchanged ? a.count - a.first : system->exchanged;
        status = kf_sph_launch(plan, KF_SPH_STATE, "pack", &a, a.count, error);
        if (status == KF_OK) status = kf_backend_synchronize(plan->backend, error);
        if (status == KF_OK)
            status = kf_buffer_download(system->exchange, 0, read + (size_t)a.first * KF_SPH_STATE_VALUES,
                                        (size_t)a.limit * bytes, error);
    }
    if (status == KF_OK)
        *values = read;
    else
        free(read);
    return status;
}

kf_status kf_sph_read_clock(kf_plan *plan, kf_sph_clock *clock, kf_error *error) {
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    return kf_buffer_download(system_of(plan)->clock, 0, clock, sizeof *clock, error);
}

kf_status kf_sph_flagged(int flags, kf_error *error) {
    if ((flags & KF_SPH_LOST) != 0)
        return kf_fail(error, KF_GATE_FAILED,
                       "a particle's velocity or density is not a number, or beyond any bound: the "
                       "scene is not resolved, or its sound speed is too low");
    if ((flags & KF_SPH_OVERFLOW) != 0)
        return kf_fail(error, KF_GATE_FAILED,
                       "a particle has more neighbours than its list or mask holds: use search rows");
    return kf_fail(error, KF_GATE_FAILED,
                   "a particle moved further than half of the list's skin: use a smaller list_period");
}

/* Particles are in the order of their identities; the counts of cells are 0, or those of the first step. */
static kf_status reset(kf_plan *plan, const float *values, const kf_sph_clock *clock, kf_error *error) {
    kf_sph *system = system_of(plan);
    const kf_particle_scene *scene = system->scene;
    int *identity = kf_allocate(scene->count * sizeof *identity);
    for (size_t k = 0; k < scene->count; k++)
        identity[k] = (int)k | (k >= scene->count - scene->wall_count ? KF_SPH_WALL_BIT : 0);
    kf_status status =
        kf_buffer_upload(system->identity, 0, identity, scene->count * sizeof *identity, error);
    free(identity);
    KF_TRY(status);
    KF_TRY(kf_buffer_upload(system->clock, 0, clock, sizeof *clock, error));
    KF_TRY(kf_buffer_fill(system->counts, 0, error));
    KF_TRY(send_state(plan, values, error));
    if (!system->options.fused_count) return KF_OK;
    return kf_sph_launch(plan, KF_SPH_SORT, "count_cells", &system->arguments, system->arguments.count,
                         error);
}

static kf_status initialise(kf_plan *plan, kf_error *error) {
    kf_sph *system = system_of(plan);
    const kf_particle_scene *scene = system->scene;
    float *values = kf_allocate_zeroed(scene->count, KF_SPH_STATE_VALUES * sizeof(float));
    for (size_t k = 0; k < scene->count; k++) {
        float *to = values + k * KF_SPH_STATE_VALUES;
        memcpy(to, scene->position + 3 * k, 3 * sizeof(float));
        memcpy(to + 3, scene->velocity + 3 * k, 3 * sizeof(float));
        to[6] = scene->deviation[k];
    }
    kf_sph_clock clock = {0};
    clock.step = (float)kf_sph_first_step(scene, &system->arguments);
    const kf_status status = reset(plan, values, &clock, error);
    free(values);
    return status;
}

/* ---- checkpoints: the clock, then the particles in the order of their identities ---- */

static kf_status state_size(kf_plan *plan, size_t *bytes, kf_error *error) {
    (void)error;
    *bytes = sizeof(kf_sph_clock) + system_of(plan)->scene->count * KF_SPH_STATE_VALUES * sizeof(float);
    return KF_OK;
}

static kf_status save(kf_plan *plan, void *state, kf_error *error) {
    kf_sph_clock clock;
    float *values;
    KF_TRY(kf_sph_read_clock(plan, &clock, error));
    KF_TRY(kf_sph_read(plan, &values, error));
    memcpy(state, &clock, sizeof clock);
    memcpy((char *)state + sizeof clock, values,
           system_of(plan)->scene->count * KF_SPH_STATE_VALUES * sizeof(float));
    free(values);
    return KF_OK;
}

static kf_status restore(kf_plan *plan, const void *state, uint64_t steps, kf_error *error) {
    kf_sph_clock clock;
    const size_t bytes = system_of(plan)->scene->count * KF_SPH_STATE_VALUES * sizeof(float);
    float *values = kf_allocate(bytes); /* the state may lie unaligned */
    memcpy(&clock, state, sizeof clock);
    memcpy(values, (const char *)state + sizeof clock, bytes);
    const kf_status status = reset(plan, values, &clock, error);
    free(values);
    plan->steps_done = steps;
    return status;
}

static void free_system(kf_plan *plan) {
    kf_sph *system = plan->system;
    kf_sph_free_grid(&system->grid);
    free(system);
}

const kf_plan_methods kf_sph_methods = {.initialise = initialise,
                                        .state_size = state_size,
                                        .save = save,
                                        .restore = restore,
                                        .free = free_system};
