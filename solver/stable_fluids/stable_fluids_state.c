/* The state of a plan: its start, reading it, checkpoints. On the host it is a kf_fluid_state in double
 * precision, with any layout and storage of the plan. Stored numbers are converted without a change. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/fft.h"
#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "solver/stable_fluids/stable_fluids.h"

static kf_fluid_plan *own(const kf_plan *plan) {
    return plan->system;
}

/* Returns which of the dye buffers holds the dye after this many steps. */
static int dye_buffer(const kf_fluid *fluid, uint64_t steps) {
    return fluid->reflection ? 0 : (int)(steps % 2);
}

/* --- Half precision (IEEE 754 binary16), which not every host compiler knows -----------------------------
 */

uint16_t kf_half_of(double value) {
    const unsigned sign = signbit(value) ? 0x8000U : 0;
    const double size = fabs(value);
    if (isnan(value)) return (uint16_t)(sign | 0x7e00U);
    if (size >= 65520.0) return (uint16_t)(sign | 0x7c00U);
    if (size == 0) return (uint16_t)sign;
    int exponent;
    (void)frexp(size, &exponent);
    /* Smaller numbers have fewer digits. */
    if (exponent < -13) exponent = -13;
    /* To the nearest of 2^-11 of the exponent's range, the even one of two; a carry goes into the exponent.
     */
    const unsigned digits = (unsigned)nearbyint(ldexp(size, 11 - exponent));
    return (uint16_t)(sign | (((unsigned)(exponent + 13) << 10) + digits));
}

double kf_half_value(uint16_t half) {
    const int exponent = half >> 10 & 31, digits = half & 1023;
    const double size = exponent == 31  ? (digits != 0 ? (double)NAN : (double)INFINITY)
                        : exponent == 0 ? ldexp(digits, -24)
                                        : ldexp(digits + 1024, exponent - 25);
    return (half & 0x8000) != 0 ? -size : size;
}

/* --- Numbers as they are stored ------------------------------------------------------------------------- */

static void put(void *values, size_t index, int bits, double value) {
    if (bits == 16) ((uint16_t *)values)[index] = kf_half_of(value);
    if (bits == 32) ((float *)values)[index] = (float)value;
    if (bits == 64) ((double *)values)[index] = value;
}
static double get(const void *values, size_t index, int bits) {
    if (bits == 16) return kf_half_value(((const uint16_t *)values)[index]);
    return bits == 32 ? (double)((const float *)values)[index] : ((const double *)values)[index];
}

/* Returns the place of component i of a cell in a velocity buffer (kernels/stable_fluids/arguments.h). */
static size_t place(const kf_fluid_plan *p, int simulation, size_t cell, int i) {
    const size_t cells = kf_fluid_cell_count(p->fluid), all = cells * (size_t)p->fluid->simulations;
    if (p->options.plan == KF_FLUID_BATCHED) return (size_t)i * cells + cell;
    if (i == 2) return 2 * all + (size_t)simulation * cells + cell;
    return 2 * ((size_t)simulation * cells + cell) + (size_t)i;
}

/* --- States on the host --------------------------------------------------------------------------------- */

/* The least number of cells for which threads are used. */
enum { LEAST_CELLS = 1 << 16 };

static void allocate_state(const kf_fluid *f, kf_fluid_state *state) {
    const size_t cells = kf_fluid_cell_count(f);
    memset(state, 0, sizeof *state);
    for (int i = 0; i < 3; i++)
        state->velocity[i] = kf_allocate_zeroed(cells, sizeof(double));
    for (int i = 0; i < f->dye_count; i++)
        state->dye[i] = kf_allocate_zeroed(cells, sizeof(double));
    state->particles = kf_allocate_zeroed(3 * (size_t)f->particle_count + 1, sizeof(double));
}

/* Threads share this to start a state: waves of a fluid, cell by cell. */
typedef struct starting {
    const kf_fluid *fluid;
    const kf_fluid_waves *waves;
    kf_fluid_state *state;
} starting;
static void start_cells(void *data, size_t begin, size_t end) {
    const starting *s = data;
    const size_t nx = (size_t)s->fluid->cells[0], ny = (size_t)s->fluid->cells[1];
    for (size_t n = begin; n < end; n++) {
        const int at[3] = {(int)(n % nx), (int)(n / nx % ny), (int)(n / (nx * ny))};
        double velocity[3];
        kf_fluid_initial(s->waves, at, velocity);
        for (int i = 0; i < s->fluid->dimensions; i++)
            s->state->velocity[i][n] = velocity[i];
    }
}
static void start_state(const kf_fluid *f, int simulation, kf_fluid_state *state) {
    const size_t cells = kf_fluid_cell_count(f);
    kf_fluid_waves *waves = kf_fluid_waves_make(f, simulation);
    allocate_state(f, state);
    starting s = {f, waves, state};
    /* A function of the caller's may keep something. */
    if (f->initial != NULL)
        start_cells(&s, 0, cells);
    else
        kf_in_parallel(cells, LEAST_CELLS, start_cells, &s);
    kf_fluid_waves_free(waves);
    for (long long j = 0; j < f->particle_count; j++)
        kf_fluid_particle(f, j, state->particles + 3 * j);
}

/* --- To and from the device ----------------------------------------------------------------------------- */

/* The content of a buffer while it is filled or read simulation by simulation. */
typedef struct mirror {
    kf_buffer *buffer;
    void *values;
} mirror;

static kf_status fetch(kf_buffer *buffer, mirror *m, kf_error *error) {
    m->buffer = buffer;
    m->values = NULL;
    if (buffer == NULL) return KF_OK;
    m->values = kf_allocate(kf_buffer_size(buffer));
    return kf_buffer_download(buffer, 0, m->values, kf_buffer_size(buffer), error);
}
static kf_status send(mirror *m, kf_status status, kf_error *error) {
    if (status == KF_OK && m->buffer != NULL)
        status = kf_buffer_upload(m->buffer, 0, m->values, kf_buffer_size(m->buffer), error);
    free(m->values);
    return status;
}

typedef struct mirrors {
    mirror velocity, dye, particles;
} mirrors;

static void free_mirrors(mirrors *m) {
    free(m->velocity.values);
    free(m->dye.values);
    free(m->particles.values);
}

/* The caller frees the mirrors; there are none when it fails. */
static kf_status fetch_all(kf_plan *plan, kf_buffer *velocity, mirrors *m, kf_error *error) {
    const kf_fluid_plan *p = own(plan);
    memset(m, 0, sizeof *m);
    kf_status status = kf_backend_synchronize(plan->backend, error);
    if (status == KF_OK) status = fetch(velocity, &m->velocity, error);
    if (status == KF_OK) status = fetch(p->dyes[dye_buffer(p->fluid, plan->steps_done)], &m->dye, error);
    if (status == KF_OK) status = fetch(p->particles, &m->particles, error);
    if (status != KF_OK) free_mirrors(m);
    return status;
}

typedef struct velocity_exchange {
    const kf_fluid_plan *plan;
    void *values;
    int simulation;
    const kf_fluid_state *state;
    bool to;
} velocity_exchange;
static void exchange_velocity(void *data, size_t begin, size_t end) {
    const velocity_exchange *e = data;
    const int bits = e->plan->options.velocity_bits;
    for (int i = 0; i < e->plan->fluid->dimensions; i++)
        for (size_t n = begin; n < end; n++) {
            const size_t at = place(e->plan, e->simulation, n, i);
            if (e->to)
                put(e->values, at, bits, e->state->velocity[i][n]);
            else
                e->state->velocity[i][n] = get(e->values, at, bits);
        }
}
/* Copies between a state and what the buffers hold; to: towards the buffers. */
static void exchange(const kf_fluid_plan *p, const mirrors *m, int simulation, const kf_fluid_state *state,
                     bool to) {
    const kf_fluid *f = p->fluid;
    const size_t cells = kf_fluid_cell_count(f), particles = (size_t)f->particle_count;
    const int bits = p->options.velocity_bits, real_bits = bits == 64 ? 64 : 32;
    velocity_exchange velocity = {p, m->velocity.values, simulation, state, to};
    kf_in_parallel(cells, LEAST_CELLS, exchange_velocity, &velocity);
    for (int i = 0; i < f->dye_count && m->dye.values != NULL && state->dye[i] != NULL; i++)
        for (size_t n = 0; n < cells; n++) {
            const size_t at = ((size_t)simulation * (size_t)f->dye_count + (size_t)i) * cells + n;
            if (to)
                put(m->dye.values, at, bits, state->dye[i][n]);
            else
                state->dye[i][n] = get(m->dye.values, at, bits);
        }
    for (size_t j = 0; j < particles; j++)
        for (size_t i = 0; i < (size_t)f->dimensions; i++) {
            const size_t at = ((size_t)simulation * particles + j) * (size_t)f->dimensions + i;
            if (to)
                put(m->particles.values, at, real_bits, state->particles[3 * j + i]);
            else
                state->particles[3 * j + i] = get(m->particles.values, at, real_bits);
        }
}

static kf_status send_all(mirrors *m, kf_error *error) {
    kf_status status = send(&m->velocity, KF_OK, error);
    status = send(&m->dye, status, error);
    return send(&m->particles, status, error);
}

static kf_status set_clock(kf_plan *plan, uint64_t step, kf_error *error) {
    const kf_fluid_plan *p = own(plan);
    const kf_fluid *f = p->fluid;
    if (p->clock == NULL) return KF_OK;
    long long next = 0;
    while (next < (long long)f->impulse_count && (uint64_t)f->impulses[next].step < step)
        next++;
    long long *clock = kf_allocate(2 * (size_t)f->simulations * sizeof *clock);
    for (int s = 0; s < f->simulations; s++)
        clock[2 * s] = (long long)step, clock[2 * s + 1] = next;
    const kf_status status =
        kf_buffer_upload(p->clock, 0, clock, 2 * (size_t)f->simulations * sizeof *clock, error);
    free(clock);
    return status;
}

/* --- The persistent plan, whose launches are ahead of the steps done ------------------------------------ */

/* Returns the buffer with the velocity of steps_done. Within a launch it is computed again from the launch's
 * start. */
static kf_status present(kf_plan *plan, kf_buffer **velocity, kf_error *error) {
    kf_fluid_plan *p = own(plan);
    *velocity = p->velocity;
    if (p->options.plan != KF_FLUID_PERSISTENT) return KF_OK;
    const uint64_t length = (uint64_t)p->options.steps_per_launch, within = plan->steps_done % length;
    if (within == 0) return KF_OK;
    uint64_t start = plan->steps_done - within;
    if (p->based_on > start) start = p->based_on;
    if (p->work == NULL) KF_TRY(kf_plan_buffer(plan, kf_buffer_size(p->velocity), &p->work, error));
    KF_TRY(kf_buffer_copy(p->work, p->base, kf_buffer_size(p->base), error));
    *velocity = p->work;
    if (start == plan->steps_done) return KF_OK;
    kf_launch launch;
    kf_fluid_arguments a;
    KF_TRY(kf_fluid_persistent_launch(plan, (int)(plan->steps_done - start), &launch, error));
    memcpy(&a, launch.arguments, sizeof a);
    a.wind = a.field = a.target = kf_buffer_address(p->work);
    memcpy(launch.arguments, &a, sizeof a);
    return kf_backend_launch(plan->backend, &launch, error);
}

/* Completes the launch in which a restored state lies. */
static kf_status catch_up(kf_plan *plan, kf_error *error) {
    kf_fluid_plan *p = own(plan);
    if (p->options.plan != KF_FLUID_PERSISTENT) return KF_OK;
    const uint64_t length = (uint64_t)p->options.steps_per_launch, within = plan->steps_done % length;
    p->based_on = plan->steps_done;
    KF_TRY(kf_buffer_copy(p->base, p->velocity, kf_buffer_size(p->base), error));
    if (within == 0) return KF_OK;
    kf_launch launch;
    KF_TRY(kf_fluid_persistent_launch(plan, (int)(length - within), &launch, error));
    return kf_backend_launch(plan->backend, &launch, error);
}

/* --- Methods -------------------------------------------------------------------------------------------- */

static kf_status initialise(kf_plan *plan, kf_error *error) {
    kf_fluid_plan *p = own(plan);
    mirrors m;
    p->based_on = 0;
    KF_TRY(fetch_all(plan, p->velocity, &m, error));
    for (int s = 0; s < p->fluid->simulations; s++) {
        kf_fluid_state state;
        start_state(p->fluid, s, &state);
        exchange(p, &m, s, &state, true);
        kf_fluid_state_free(&state);
    }
    KF_TRY(send_all(&m, error));
    if (p->barrier != NULL) KF_TRY(kf_buffer_fill(p->barrier, 0, error));
    return set_clock(plan, 0, error);
}

kf_status kf_fluid_read(kf_plan *plan, int simulation, kf_fluid_state *state, kf_error *error) {
    const kf_fluid_plan *p = own(plan);
    kf_buffer *velocity;
    mirrors m;
    KF_TRY(present(plan, &velocity, error));
    KF_TRY(fetch_all(plan, velocity, &m, error));
    allocate_state(p->fluid, state);
    exchange(p, &m, simulation, state, false);
    free_mirrors(&m);
    return KF_OK;
}

/* Returns the values of a checkpoint: velocity [component][z][y][x], dyes and particles of every simulation,
 * as doubles. */
static size_t state_count(const kf_fluid *f) {
    return kf_fluid_cell_count(f) * (size_t)(f->dimensions + f->dye_count) + 3 * (size_t)f->particle_count;
}

static kf_status state_size(kf_plan *plan, size_t *bytes, kf_error *error) {
    const kf_fluid *f = own(plan)->fluid;
    (void)error;
    *bytes = state_count(f) * (size_t)f->simulations * sizeof(double);
    return KF_OK;
}

static void copy_array(double *packed, size_t *used, double *values, size_t count, bool to) {
    if (to)
        memcpy(packed + *used, values, count * sizeof *values);
    else
        memcpy(values, packed + *used, count * sizeof *values);
    *used += count;
}
static void pack(const kf_fluid *f, kf_fluid_state *state, double *packed, bool to) {
    const size_t cells = kf_fluid_cell_count(f);
    size_t used = 0;
    for (int i = 0; i < f->dimensions; i++)
        copy_array(packed, &used, state->velocity[i], cells, to);
    for (int i = 0; i < f->dye_count; i++)
        copy_array(packed, &used, state->dye[i], cells, to);
    copy_array(packed, &used, state->particles, 3 * (size_t)f->particle_count, to);
}

static kf_status save(kf_plan *plan, void *packed, kf_error *error) {
    const kf_fluid_plan *p = own(plan);
    for (int s = 0; s < p->fluid->simulations; s++) {
        kf_fluid_state state;
        KF_TRY(kf_fluid_read(plan, s, &state, error));
        pack(p->fluid, &state, (double *)packed + (size_t)s * state_count(p->fluid), true);
        kf_fluid_state_free(&state);
    }
    return KF_OK;
}

/* Restores a checkpoint of all simulations at a step: velocities, dyes, particles and the clock. */
static kf_status restore(kf_plan *plan, const void *packed, uint64_t step, kf_error *error) {
    const kf_fluid_plan *p = own(plan);
    mirrors m;
    plan->steps_done = step;
    KF_TRY(fetch_all(plan, p->velocity, &m, error));
    for (int s = 0; s < p->fluid->simulations; s++) {
        kf_fluid_state state;
        allocate_state(p->fluid, &state);
        pack(p->fluid, &state, (double *)packed + (size_t)s * state_count(p->fluid), false);
        exchange(p, &m, s, &state, true);
        kf_fluid_state_free(&state);
    }
    KF_TRY(send_all(&m, error));
    KF_TRY(set_clock(plan, step, error));
    return catch_up(plan, error);
}

/* --- The view of a user: fields and records in SI units --- */

static double time_of(const kf_plan *plan, uint64_t step) {
    return (double)step * own(plan)->fluid->time_step;
}

/* Fields of the box, without the mirror images, as values of a snapshot. */
static void fill_quantity(const kf_fluid *f, const int nodes[3], float *values, int components,
                          double *const fields[3], double unit) {
    size_t index = 0;
    for (int z = 0; z < nodes[2]; z++)
        for (int y = 0; y < nodes[1]; y++)
            for (int x = 0; x < nodes[0]; x++) {
                const size_t from =
                    ((size_t)z * (size_t)f->cells[1] + (size_t)y) * (size_t)f->cells[0] + (size_t)x;
                for (int i = 0; i < components; i++)
                    values[index++] = (float)(fields[i][from] * unit);
            }
}

/* Makes a snapshot of the domain in the first simulation: "velocity", the dyes by their names, and "solid" if
 * there is one. */
static kf_status snapshot(kf_plan *plan, kf_snapshot *s, kf_error *error) {
    const kf_fluid *f = own(plan)->fluid;
    kf_fluid_state state;
    int nodes[3];
    KF_TRY(kf_fluid_read(plan, 0, &state, error));
    kf_fluid_domain(f, nodes);
    kf_snapshot_of_nodes(s, nodes, f->cell_size / 2, f->cell_size);
    for (int a = 0; a < 3; a++)
        s->periodic[a] = !f->walls[a];
    fill_quantity(f, nodes, kf_snapshot_add(s, "velocity", "m/s", 3), 3, state.velocity,
                  f->cell_size / f->time_step);
    for (int i = 0; i < f->dye_count && state.dye[i] != NULL; i++) {
        double *const dye[3] = {state.dye[i], NULL, NULL};
        fill_quantity(f, nodes, kf_snapshot_add(s, f->dyes[i].name, "1", 1), 1, dye, 1);
    }
    if (f->solid == KF_SOLID_STILL) {
        float *solid = kf_snapshot_add(s, "solid", "1", 1);
        size_t index = 0;
        for (int z = 0; z < nodes[2]; z++)
            for (int y = 0; y < nodes[1]; y++)
                for (int x = 0; x < nodes[0]; x++)
                    solid[index++] =
                        f->mask[((size_t)z * (size_t)f->cells[1] + (size_t)y) * (size_t)f->cells[0] +
                                (size_t)x];
    }
    kf_fluid_state_free(&state);
    return KF_OK;
}

/* Lists the scales of the tables. Scenes with other lengths and times may have the same lattice. */
static void meaning_of_records(const kf_plan *plan, kf_facts *meaning) {
    const kf_fluid *f = own(plan)->fluid;
    kf_facts_number(meaning, "cell_size", f->cell_size, "m");
    kf_facts_number(meaning, "time_step", f->time_step, "s");
}

/* Checks some cells of some simulations for NaN, other cells each time. The transforms of a step spread a NaN
 * to all cells of its simulation. */
static kf_status watch(kf_plan *plan, kf_error *error) {
    enum { SIMULATIONS = 16, CELLS = 3 };
    const kf_fluid_plan *p = own(plan);
    const kf_fluid *f = p->fluid;
    const int count = f->simulations < SIMULATIONS ? f->simulations : SIMULATIONS;
    const size_t cells = kf_fluid_cell_count(f), bytes = (size_t)p->options.velocity_bits / 8;
    kf_buffer *velocity;
    KF_TRY(present(plan, &velocity, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    for (int i = 0; i < count; i++)
        for (size_t c = 0; c < CELLS; c++) {
            const int simulation =
                (int)((plan->steps_done / 256 * SIMULATIONS + (uint64_t)i) % (uint64_t)f->simulations);
            const size_t cell = (2 * c + 1) * cells / (2 * CELLS);
            double raw;
            KF_TRY(kf_buffer_download(velocity, place(p, simulation, cell, 0) * bytes, &raw, bytes, error));
            if (isfinite(get(&raw, 0, p->options.velocity_bits))) continue;
            return kf_fail(error, KF_GATE_FAILED,
                           "the simulation blew up: step %" PRIu64
                           ", simulation %d: the velocity of cell %zu is no number; "
                           "use a smaller time step",
                           plan->steps_done, simulation, cell);
        }
    return KF_OK;
}

/* Records the energy of the domain per unit of mass, and the amount of each dye. */
static kf_status record(kf_plan *plan, kf_records *records, kf_error *error) {
    const kf_fluid *f = own(plan)->fluid;
    const size_t cells = kf_fluid_cell_count(f);
    const double unit = f->cell_size / f->time_step;
    kf_fluid_state state;
    double energy = 0, top = 0;
    KF_TRY(kf_fluid_read(plan, 0, &state, error));
    for (size_t n = 0; n < cells; n++) {
        double square = 0;
        for (int i = 0; i < f->dimensions && state.velocity[i] != NULL; i++)
            square += state.velocity[i][n] * state.velocity[i][n];
        energy += 0.5 * square;
        top = fmax(top, square);
    }
    kf_record *flow = kf_records_add(records, "flow");
    kf_record_add(flow, "kinetic_energy", "m2_s2", energy / (double)cells * unit * unit);
    kf_record_add(flow, "top_speed", "m_s", sqrt(top) * unit);
    kf_record_add(flow, "top_displacement", "cells", sqrt(top));
    for (int i = 0; i < f->dye_count && state.dye[i] != NULL; i++) {
        double sum = 0;
        for (size_t n = 0; n < cells; n++)
            sum += state.dye[i][n];
        kf_record_add(flow, f->dyes[i].name, "", sum / (double)cells);
    }
    kf_fluid_state_free(&state);
    return KF_OK;
}

static void free_system(kf_plan *plan) {
    kf_fluid_plan *p = own(plan);
    for (int i = 0; i < p->transform_count; i++)
        kf_fft_free(p->transforms[i]);
    free(p);
}

const kf_plan_methods kf_fluid_methods = {.initialise = initialise,
                                          .snapshot = snapshot,
                                          .watch = watch,
                                          .record = record,
                                          .meaning = meaning_of_records,
                                          .time = time_of,
                                          .state_size = state_size,
                                          .save = save,
                                          .restore = restore,
                                          .free = free_system};
