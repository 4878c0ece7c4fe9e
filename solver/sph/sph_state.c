/* The state of an sph plan: initial conditions, checkpoints, snapshots, records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/sph/sph.h"
#include "solver/sph/sph_depth.h"
#include "solver/sph/sph_picture.h"
#include "solver/sph/sph_windows.h"

static kf_sph *system_of(const kf_plan *plan) {
    return plan->system;
}

/* ---- To the device and back: in parts ---- */

/* Sends the state of one device alone. */
static kf_status send_state(kf_plan *plan, bool swapped, const float *values, kf_error *error) {
    kf_sph *system = system_of(plan);
    kf_sph_arguments a = kf_sph_of_part(system, 0, swapped);
    const size_t bytes = KF_SPH_STATE_VALUES * sizeof(float);
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    KF_TRY(kf_buffer_fill(system->seen->counts.buffer, 0, error));
    for (a.first = 0; a.first < a.count; a.first += system->exchanged) {
        a.limit = a.count - a.first < system->exchanged ? a.count - a.first : system->exchanged;
        KF_TRY(kf_backend_synchronize(plan->backend, error));
        KF_TRY(kf_sph_upload(&system->seen->exchange, values + (size_t)a.first * KF_SPH_STATE_VALUES,
                             (size_t)a.limit * bytes, error));
        KF_TRY(kf_sph_launch(plan, 0, KF_SPH_STATE, "unpack", &a, a.limit, error));
    }
    return kf_backend_synchronize(plan->backend, error);
}

/* Runs a kernel of state.cu on every part, after all earlier work. */
static kf_status on_parts(kf_plan *plan, const char *name, int first, int limit, int items, kf_error *error) {
    const kf_sph *system = system_of(plan);
    const bool swapped = kf_sph_between(plan->system, plan->steps_done);
    KF_TRY(kf_sph_meet(plan, error));
    for (int part = 0; part < plan->part_count; part++) {
        kf_sph_arguments a = kf_sph_of_part(system, part, swapped);
        a.first = first;
        a.limit = limit;
        a.exchange = kf_sph_exchange_of(plan, part);
        KF_TRY(kf_sph_launch(plan, part, KF_SPH_STATE, name, &a, items, error));
    }
    return kf_sph_meet(plan, error);
}

/* Particles, or slots for them, of a part. */
static int slots_of(const kf_plan *plan) {
    return ((const kf_sph *)plan->system)->parts[0].arguments.count;
}

/* Reads the state of all particles in the order of their numbers, KF_SPH_STATE_VALUES each, in portions of
 * the exchange buffer. The caller frees it. */
kf_status kf_sph_read(kf_plan *plan, float **values, kf_error *error) {
    kf_sph *system = system_of(plan);
    const size_t bytes = KF_SPH_STATE_VALUES * sizeof(float);
    const int count = (int)system->scene->count;
    float *read = kf_allocate((size_t)count * bytes);
    kf_status status = KF_OK;
    for (int first = 0; first < count && status == KF_OK; first += system->exchanged) {
        const int limit = count - first < system->exchanged ? count - first : system->exchanged;
        status = kf_sph_clear_exchange(plan, (size_t)limit * bytes, error);
        if (status == KF_OK) status = on_parts(plan, "pack", first, limit, slots_of(plan), error);
        if (status == KF_OK)
            status = kf_sph_take_exchange(plan, read + (size_t)first * KF_SPH_STATE_VALUES,
                                          (size_t)limit * bytes, error);
    }
    if (status == KF_OK)
        *values = read;
    else
        free(read);
    return status;
}

/* Reads the clock. The parts' clocks are equal except for their errors. */
kf_status kf_sph_read_clock(kf_plan *plan, kf_sph_clock *clock, kf_error *error) {
    const kf_sph *system = system_of(plan);
    int flags = 0;
    KF_TRY(kf_sph_meet(plan, error));
    for (int k = 0; k < system->seen_parts; k++) {
        KF_TRY(kf_sph_download(&system->seen[k].clock, clock, sizeof *clock, error));
        flags |= clock->flags;
    }
    KF_TRY(kf_sph_join_flags(plan, &flags, error));
    clock->flags = flags;
    return KF_OK;
}

/* Turns the flags of kernels into a message. The most serious one comes first. */
kf_status kf_sph_flagged(int flags, kf_error *error) {
    if ((flags & KF_SPH_LOST) != 0)
        return kf_fail(error, KF_GATE_FAILED,
                       "a particle's velocity or density is not a number, or beyond any bound: the "
                       "scene is not resolved, or its sound speed is too low");
    if ((flags & KF_SPH_OVERFLOW) != 0)
        return kf_fail(error, KF_GATE_FAILED,
                       "a particle has more neighbours than its list or mask holds: use search rows");
    if ((flags & KF_SPH_FULL) != 0)
        return kf_fail(error, KF_GATE_FAILED,
                       "a device received more particles than its memory can hold: use fewer devices");
    if ((flags & KF_SPH_FAR) != 0)
        return kf_fail(error, KF_GATE_FAILED,
                       "a particle moved further in one step than the layer that a device copies from its "
                       "neighbour: the scene is not resolved, or its time step is too long");
    return kf_fail(error, KF_GATE_FAILED,
                   "a particle moved further than half of the list's skin: use a smaller list_period");
}

kf_status kf_sph_settle(kf_plan *plan, bool swapped, kf_error *error) {
    const kf_sph_options *options = &system_of(plan)->options;
    kf_status status = KF_OK;
    if (plan->steps_done % (uint64_t)options->list_period != 0)
        status = kf_sph_sort(plan, swapped, error);
    else if (options->fused_count)
        status = kf_sph_count(plan, swapped, error);
    KF_TRY(status);
    return plan->all_parts > 1 ? kf_sph_meet(plan, error) : KF_OK;
}

kf_status kf_sph_put(kf_plan *plan, const float *values, kf_error *error) {
    const bool swapped = kf_sph_within(system_of(plan), plan->steps_done);
    KF_TRY((plan->all_parts > 1 ? kf_sph_share_out : send_state)(plan, swapped, values, error));
    return kf_sph_settle(plan, swapped, error);
}

/* Particles are in the order of their identities. */
static kf_status reset(kf_plan *plan, const float *values, const kf_sph_clock *clock, uint64_t step,
                       kf_error *error) {
    const kf_sph *system = system_of(plan);
    KF_TRY(kf_sph_meet(plan, error));
    for (int part = 0; part < plan->part_count; part++)
        KF_TRY(kf_sph_upload(&system->seen[system->own_seen + part].clock, clock, sizeof *clock, error));
    plan->steps_done = step;
    return kf_sph_put(plan, values, error);
}

/* Sets a plan to the scene's particles at the start, with the first time step. */
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
    clock.step = (float)kf_sph_first_step(scene, &system->parts[0].arguments);
    const kf_status status = reset(plan, values, &clock, 0, error);
    free(values);
    return status;
}

/* ---- Checkpoints: the clock, then the particles in the order of their identities ---- */

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
    /* The first process keeps it for all. */
    if (state != NULL) {
        memcpy(state, &clock, sizeof clock);
        memcpy((char *)state + sizeof clock, values,
               system_of(plan)->scene->count * KF_SPH_STATE_VALUES * sizeof(float));
    }
    free(values);
    return KF_OK;
}

static kf_status restore(kf_plan *plan, const void *state, uint64_t steps, kf_error *error) {
    kf_sph_clock clock;
    const size_t bytes = system_of(plan)->scene->count * KF_SPH_STATE_VALUES * sizeof(float);
    /* The state may be unaligned. */
    float *values = kf_allocate(bytes);
    memcpy(&clock, state, sizeof clock);
    memcpy(values, (const char *)state + sizeof clock, bytes);
    const kf_status status = reset(plan, values, &clock, steps, error);
    free(values);
    return status;
}

/* ---- The view of a user: SI units ---- */

double kf_sph_pressure_of(const kf_particle_scene *s, double e) {
    double p = s->material.stiff ? (pow(1.0 + e, 7.0) - 1.0) / 7.0 : e;
    if (s->scheme == KF_SCHEME_THESIS) p = fmax(p, 0.0);
    return p * s->density * s->sound_speed * s->sound_speed;
}

/* Returns sqrt(tau:tau / 2) in Pa. */
static double stress_of(const kf_particle_scene *s, const float *values) {
    const double xx = (double)values[11], yy = (double)values[12], zz = -xx - yy, xy = (double)values[13],
                 xz = (double)values[14], yz = (double)values[15];
    return sqrt(0.5 * (xx * xx + yy * yy + zz * zz) + xy * xy + xz * xz + yz * yz) * s->density *
           s->sound_speed * s->sound_speed;
}

/* Takes a snapshot in SI units from the file's origin, or says what a kernel found wrong. */
static kf_status take_snapshot(kf_plan *plan, kf_snapshot *snapshot, kf_error *error) {
    const kf_particle_scene *s = system_of(plan)->scene;
    kf_sph_clock clock;
    float *values;
    KF_TRY(kf_sph_read_clock(plan, &clock, error));
    if (clock.flags != 0) return kf_sph_flagged(clock.flags, error);
    KF_TRY(kf_sph_read(plan, &values, error));
    kf_snapshot_of_particles(snapshot, s->count);
    float *position = kf_snapshot_add(snapshot, "position", "m", 3),
          *velocity = kf_snapshot_add(snapshot, "velocity", "m/s", 3);
    float *density = kf_snapshot_add(snapshot, "density", "kg/m3", 1),
          *pressure = kf_snapshot_add(snapshot, "pressure", "Pa", 1);
    float *stress = system_of(plan)->stress ? kf_snapshot_add(snapshot, "shear_stress", "Pa", 1) : NULL;
    float *wall = s->wall_count > 0 ? kf_snapshot_add(snapshot, "wall", "1", 1) : NULL;
    for (size_t k = 0; k < s->count; k++) {
        const float *from = values + k * KF_SPH_STATE_VALUES;
        for (size_t i = 0; i < 3; i++) {
            position[3 * k + i] = (float)(((double)from[i] - s->origin[i]) * s->spacing);
            velocity[3 * k + i] = (float)((double)from[3 + i] * s->sound_speed);
        }
        density[k] = (float)((1.0 + (double)from[6]) * s->density);
        pressure[k] = (float)kf_sph_pressure_of(s, (double)from[6]);
        if (stress != NULL) stress[k] = (float)stress_of(s, from);
        if (wall != NULL) wall[k] = k >= s->count - s->wall_count;
    }
    free(values);
    return KF_OK;
}

/* Returns the time of the plan's step. For other steps it uses the present length of a step. */
static double time_of(const kf_plan *plan, uint64_t step) {
    const kf_sph *system = plan->system;
    kf_sph_clock clock = {0};
    if (kf_backend_synchronize(plan->backend, NULL) != KF_OK ||
        kf_sph_download(&system->seen[system->own_seen].clock, &clock, sizeof clock, NULL) != KF_OK)
        return (double)NAN;
    const double ahead = (double)step - (double)plan->steps_done;
    return (clock.time + ahead * (double)clock.step) / kf_particle_seconds(system->scene);
}

/* The sum of whole numbers of both kinds. */
static void add_exactly(long long sum[2], const long long more[2]) {
    sum[0] += more[0];
    sum[1] += more[1];
    sum[0] += sum[1] / KF_SPH_PART_OF_WHOLE;
    sum[1] %= KF_SPH_PART_OF_WHOLE;
}

/* Joins the sums of processes that do not see each other's parts. */
static kf_status join(const kf_plan *plan, kf_sph_sums *all, kf_error *error) {
    static const long long nothing[2] = {0, 0};
    KF_TRY(kf_sph_join_sums(plan, &all->exact[0][0], 2 * KF_SPH_EXACT, error));
    for (int k = 0; k < KF_SPH_EXACT; k++)
        add_exactly(all->exact[k], nothing);
    return kf_sph_join_largest(plan, all->largest, KF_SPH_TOTALS - KF_SPH_EXACT, error);
}

/* Adds the sums of all parts' chunks. */
static kf_status add_up(kf_plan *plan, double sums[KF_SPH_TOTALS], kf_error *error) {
    const kf_sph *system = system_of(plan);
    const int chunks = (slots_of(plan) + KF_SPH_CHUNK - 1) / KF_SPH_CHUNK;
    kf_sph_sums *read = kf_allocate((size_t)chunks * sizeof *read), all = {.exact = {{0}}};
    kf_status status = on_parts(plan, "totals", 0, 0, chunks, error);
    for (int k = 0; k < system->seen_parts && status == KF_OK; k++) {
        status = kf_sph_download(&system->seen[k].totals, read, (size_t)chunks * sizeof *read, error);
        for (int chunk = 0; chunk < chunks && status == KF_OK; chunk++) {
            for (int s = 0; s < KF_SPH_EXACT; s++)
                add_exactly(all.exact[s], read[chunk].exact[s]);
            for (int s = 0; s < KF_SPH_TOTALS - KF_SPH_EXACT; s++)
                all.largest[s] = fmax(all.largest[s], read[chunk].largest[s]);
        }
    }
    if (status == KF_OK) status = join(plan, &all, error);
    for (int k = 0; k < KF_SPH_TOTALS; k++)
        sums[k] = k < KF_SPH_EXACT
                      ? ((double)all.exact[k][0] + (double)all.exact[k][1] / (double)KF_SPH_PART_OF_WHOLE) /
                            KF_SPH_WHOLE
                      : all.largest[k - KF_SPH_EXACT];
    free(read);
    return status;
}

/* Checks the state. The step's kernels check every particle, and their sums show whether any were lost. */
static kf_status watch(kf_plan *plan, kf_error *error) {
    kf_sph_clock clock;
    double sums[KF_SPH_TOTALS];
    KF_TRY(kf_sph_read_clock(plan, &clock, error));
    if (clock.flags != 0) return kf_sph_flagged(clock.flags, error);
    KF_TRY(add_up(plan, sums, error));
    return kf_sph_balance(system_of(plan)->scene, sums, error);
}

/* Joins the gauges of processes that do not see each other's parts: sums, and of highest places, as bits, the
 * largest. */
static kf_status join_gauges(const kf_plan *plan, long long sums[3 * KF_PARTICLE_GAUGES], kf_error *error) {
    double highest[KF_PARTICLE_GAUGES];
    for (int g = 0; g < KF_PARTICLE_GAUGES; g++)
        highest[g] = (double)sums[3 * g];
    KF_TRY(kf_sph_join_sums(plan, sums, 3 * KF_PARTICLE_GAUGES, error));
    KF_TRY(kf_sph_join_largest(plan, highest, KF_PARTICLE_GAUGES, error));
    for (int g = 0; g < KF_PARTICLE_GAUGES; g++)
        sums[3 * g] = (long long)highest[g];
    return KF_OK;
}

/* Sums the gauges over the particles of all parts. For the highest particle it takes the position. */
static kf_status sum_gauges(kf_plan *plan, long long sums[3 * KF_PARTICLE_GAUGES], kf_error *error) {
    const kf_sph *system = system_of(plan);
    const size_t bytes = 3 * KF_PARTICLE_GAUGES * sizeof *sums;
    long long part_sums[3 * KF_PARTICLE_GAUGES];
    memset(sums, 0, bytes);
    for (int part = 0; part < plan->part_count; part++)
        KF_TRY(kf_sph_upload(&system->seen[system->own_seen + part].gauge_sums, sums, bytes, error));
    KF_TRY(on_parts(plan, "gauges", 0, 0, slots_of(plan), error));
    for (int seen = 0; seen < system->seen_parts; seen++) {
        KF_TRY(kf_sph_download(&system->seen[seen].gauge_sums, part_sums, bytes, error));
        for (int k = 0; k < 3 * KF_PARTICLE_GAUGES; k++)
            sums[k] = k % 3 > 0 ? sums[k] + part_sums[k] : part_sums[k] > sums[k] ? part_sums[k] : sums[k];
    }
    return join_gauges(plan, sums, error);
}

/* Records the gauges: heights of the fluid's surface in m, and pressures as the force on a face over its
 * area in Pa. */
static kf_status record_gauges(kf_plan *plan, kf_records *records, kf_error *error) {
    kf_sph *system = system_of(plan);
    const kf_particle_scene *s = system->scene;
    long long sums[3 * KF_PARTICLE_GAUGES];
    if (s->gauge_count == 0) return KF_OK;
    KF_TRY(sum_gauges(plan, sums, error));
    kf_record *record = kf_records_add(records, "gauges");
    for (int g = 0; g < s->gauge_count; g++) {
        const kf_gauge *gauge = &s->gauges[g];
        if (gauge->is_pressure) {
            /* The force on a face over its area: where part of it is dry, nothing presses. */
            const double weight = fmax((double)sums[3 * g + 1] * 1e-9, system->gauge_room[g]),
                         sum = (double)sums[3 * g + 2] * 1e-12;
            kf_record_add(record, gauge->name, "Pa",
                          weight > 0.0 ? sum / weight * s->density * s->sound_speed * s->sound_speed : 0.0);
            continue;
        }
        int bits = 0;
        float height = 0.0f;
        memcpy(&bits, &sums[3 * g], sizeof bits);
        memcpy(&height, &bits, sizeof height);
        const double above = (double)height - 0.5 - s->origin[s->dimensions - 1];
        kf_record_add(record, gauge->name, "m", bits == 0 ? 0.0 : above * s->spacing);
    }
    return KF_OK;
}

/* Takes the records of a step: energies, largest speed and density deviations, runout, and gauges. */
static kf_status take_record(kf_plan *plan, kf_records *records, kf_error *error) {
    const kf_particle_scene *s = system_of(plan)->scene;
    double sums[KF_SPH_TOTALS], centre[3];
    KF_TRY(add_up(plan, sums, error));
    const double joule = s->density * pow(s->spacing, s->dimensions) * s->sound_speed * s->sound_speed;
    kf_record *energy = kf_records_add(records, "energy");
    kf_record_add(energy, "kinetic_energy", "J", sums[KF_SPH_KINETIC] * joule);
    kf_record_add(energy, "potential_energy", "J", sums[KF_SPH_POTENTIAL] * joule);
    kf_record_add(energy, "largest_speed", "m_s", sums[KF_SPH_SPEED] * s->sound_speed);
    kf_record_add(energy, "largest_density_deviation", "", sums[KF_SPH_DEVIATION]);
    kf_record_add(energy, "mean_density_deviation", "", sums[KF_SPH_COMPRESSION] / sums[KF_SPH_INSIDE]);
    kf_record_add(energy, "largest_compression", "", sums[KF_SPH_DENSEST]);
    kf_record_add(energy, "share_1_percent_off", "", sums[KF_SPH_OFF] / sums[KF_SPH_INSIDE]);
    kf_record *place = kf_records_add(records, "runout");
    kf_record_add(place, "front_x", "m", (sums[KF_SPH_FRONT] - s->origin[0]) * s->spacing);
    for (int i = 0; i < 3; i++)
        centre[i] = (sums[KF_SPH_CENTRE + i] / sums[KF_SPH_INSIDE] - s->origin[i]) * s->spacing;
    kf_record_add_vector(place, "centre", "m", centre);
    kf_record_add(place, "particles_inside", "", sums[KF_SPH_INSIDE]);
    return record_gauges(plan, records, error);
}

/* Says what records mean. The places of gauges are no part of a run's identity: they change nothing of the
 * flow. */
static void meaning_of_records(const kf_plan *plan, kf_facts *meaning) {
    const kf_particle_scene *s = ((const kf_sph *)plan->system)->scene;
    for (int g = 0; g < s->gauge_count; g++)
        for (int a = 0; a < 3; a++) {
            char name[KF_NAME];
            (void)snprintf(name, sizeof name, "%s_%c", s->gauges[g].name, 'x' + a);
            kf_facts_number(meaning, name, (s->gauges[g].place[a] - s->origin[a]) * s->spacing, "m");
        }
}

static kf_status draw(kf_plan *plan, const kf_snapshot *snapshot, const char *path, kf_error *error) {
    return kf_sph_picture(system_of(plan)->scene, snapshot, path, error);
}

static const char *map_name(const kf_plan *plan) {
    const kf_particle_scene *scene = ((const kf_sph *)plan->system)->scene;
    return scene->terrain.heights != NULL && scene->dimensions == 3 ? "depth" : NULL;
}

static kf_status write_map(kf_plan *plan, const kf_snapshot *snapshot, const char *path, kf_error *error) {
    return kf_sph_write_depth(system_of(plan)->scene, snapshot, path, error);
}

static void free_system(kf_plan *plan) {
    kf_sph *system = plan->system;
    kf_sph_free_transport(system->transport);
    kf_sph_free_grid(&system->grid);
    for (int window = 0; window < KF_PARTICLE_WINDOWS; window++)
        free(system->window_values[window]);
    free(system->parts);
    free(system->seen);
    free(system->ready);
    free(system);
}

const kf_plan_methods kf_sph_methods = {.initialise = initialise,
                                        .snapshot = take_snapshot,
                                        .watch = watch,
                                        .record = take_record,
                                        .meaning = meaning_of_records,
                                        .time = time_of,
                                        .seek = kf_sph_seek,
                                        .picture = draw,
                                        .map_name = map_name,
                                        .map = write_map,
                                        .state_size = state_size,
                                        .save = save,
                                        .restore = restore,
                                        .free = free_system};
