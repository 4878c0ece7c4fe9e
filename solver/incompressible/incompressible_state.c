/* The state of a plan: initial conditions, fields, force on the solid, records of the solves, checkpoints. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/incompressible/incompressible.h"

static kf_incompressible *system_of(const kf_plan *plan) {
    return plan->system;
}

static size_t place_of(const kf_grid_level *level, int x, int y, int z) {
    return (size_t)(level->origin + x + (long long)level->row * y + (long long)level->plane * z);
}

/* --- The beginning ---------------------------------------------------------------------------------------
 */

/* Returns the initial velocity at a face. It is the mean of the two cells, or the value of the inner cell at
 * a face of the domain. */
static double initial_at(const kf_scene *scene, int axis, const int at[3]) {
    double sum = 0.0, density, velocity[3];
    if (kf_scene_starts_uniform(scene)) return scene->initial_velocity[axis];
    for (int side = 0; side < 2; side++) {
        int cell[3] = {at[0], at[1], at[2]};
        cell[axis] -= side;
        const int n = scene->nodes[axis];
        if (scene->faces[2 * axis] == KF_PERIODIC)
            cell[axis] = (cell[axis] + n) % n;
        else
            cell[axis] = cell[axis] < 0 ? 0 : cell[axis] >= n ? n - 1 : cell[axis];
        kf_scene_initial(scene, cell[0], cell[1], cell[2], &density, velocity);
        sum += 0.5 * velocity[axis];
    }
    return sum;
}

/* Uploads the velocity at the start to the faces, with what faces of the domain prescribe. */
static kf_status upload_velocity(kf_plan *plan, kf_error *error) {
    const kf_incompressible *s = system_of(plan);
    const kf_scene *scene = kf_plan_scene(plan);
    const kf_grid_level *level = &s->levels[0];
    const size_t bytes = (size_t)level->capacity * s->real_bytes;
    void *values = kf_allocate(bytes);
    kf_status status = KF_OK;
    for (int axis = 0; axis < 3 && status == KF_OK; axis++) {
        memset(values, 0, bytes);
        for (int z = 0; z <= scene->nodes[2]; z++)
            for (int y = 0; y <= scene->nodes[1]; y++)
                for (int x = 0; x <= scene->nodes[0]; x++) {
                    const int at[3] = {x, y, z};
                    bool within = true;
                    for (int i = 0; i < 3; i++)
                        within &=
                            at[i] < scene->nodes[i] || (i == axis && scene->faces[2 * i] != KF_PERIODIC);
                    if (!within) continue;
                    double value = initial_at(scene, axis, at);
                    if (scene->faces[2 * axis] != KF_PERIODIC && at[axis] == 0 &&
                        scene->faces[2 * axis] != KF_OUTFLOW)
                        value = scene->face_velocity[2 * axis][axis];
                    if (scene->faces[2 * axis] != KF_PERIODIC && at[axis] == scene->nodes[axis] &&
                        scene->faces[2 * axis + 1] != KF_OUTFLOW)
                        value = scene->face_velocity[2 * axis + 1][axis];
                    const size_t k = place_of(level, x, y, z);
                    if (s->real_bytes == sizeof(double))
                        ((double *)values)[k] = value;
                    else
                        ((float *)values)[k] = (float)value;
                }
        status = kf_buffer_upload(s->velocity, (size_t)axis * bytes, values, bytes, error);
    }
    free(values);
    return status;
}

/* Sets the pose before the first step. Each step continues from it. */
static kf_status place_solid(kf_plan *plan, uint64_t step, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    kf_solid_state state = {.step = (long long)step};
    if (scene->motion.moving) {
        kf_motion_pose(&scene->motion, (double)step, state.rotation, state.center);
        for (int i = 0; i < 3; i++) {
            state.velocity[i] = scene->motion.velocity[i];
            state.turn[i] = scene->motion.angular_speed * scene->motion.axis[i];
        }
    } else {
        state.rotation[0] = state.rotation[4] = state.rotation[8] = 1.0;
        memcpy(state.center, scene->motion.center, sizeof state.center);
    }
    return kf_buffer_upload(system_of(plan)->solid_state, 0, &state, sizeof state, error);
}

static kf_status clear(kf_buffer *buffer, kf_error *error) {
    return buffer != NULL ? kf_buffer_fill(buffer, 0, error) : KF_OK;
}

static kf_status clear_all(kf_incompressible *s, kf_error *error) {
    kf_buffer *const all[] = {s->advected,     s->predicted, s->second,   s->pressures[0],
                              s->pressures[1], s->right,     s->residual, s->direction,
                              s->image,        s->corrected, s->other,    s->solves};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        KF_TRY(clear(all[i], error));
    return KF_OK;
}

kf_status kf_incompressible_solves(kf_plan *plan, kf_solve_state states[KF_HALVES], kf_error *error) {
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    return kf_buffer_download(system_of(plan)->solves, 0, states, KF_HALVES * sizeof *states, error);
}

static kf_status download(const kf_buffer *buffer, void **values, kf_error *error) {
    *values = kf_allocate(kf_buffer_size(buffer));
    return kf_buffer_download(buffer, 0, *values, kf_buffer_size(buffer), error);
}

kf_status kf_incompressible_judge_solves(kf_plan *plan, int halves, const char *where, kf_error *error) {
    const kf_incompressible *s = system_of(plan);
    kf_solve_state states[KF_HALVES];
    KF_TRY(kf_incompressible_solves(plan, states, error));
    for (const kf_solve_state *last = states; last < states + halves; last++)
        if (!last->done || last->missed > 0)
            return kf_fail(error, KF_MACHINE,
                           "the pressure did not converge %s: %s left a relative residual of %.3g after %d "
                           "iterations (%.3g is asked for)",
                           where, kf_pressure_solver_names[s->options.solver],
                           last->done ? last->worst : last->residual,
                           last->done ? s->options.iterations : last->iterations, s->arguments.tolerance);
    return KF_OK;
}

/* Makes two steps and keeps only their pressures, from which the solves of the first step start. Solves from
 * a pressure of 0 take the most iterations. The second step's take about as many as usual. */
static kf_status try_steps(kf_plan *plan, kf_incompressible_builder *b, kf_error *error) {
    const kf_incompressible *s = system_of(plan);
    void *velocity;
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    kf_status status = download(s->velocity, &velocity, error);
    for (int step = 0; status == KF_OK && step < 2; step++) {
        b->patient = step == 0;
        kf_incompressible_make_steps(b);
        status = b->status;
        if (status == KF_OK)
            status = kf_incompressible_judge_solves(plan, KF_HALVES, "in the first steps", error);
    }
    if (status == KF_OK)
        status = kf_buffer_upload(s->velocity, 0, velocity, kf_buffer_size(s->velocity), error);
    free(velocity);
    KF_TRY(status);
    KF_TRY(place_solid(plan, 0, error));
    kf_incompressible_open_faces(b);
    return b->status;
}

/* Makes the initial velocity divergence-free. A solver that does not converge fails here on the whole
 * problem. The config then has too few iterations, or an unsuitable solver. */
static kf_status initialise(kf_plan *plan, kf_error *error) {
    kf_incompressible *s = system_of(plan);
    kf_incompressible_builder b = {
        .plan = plan, .system = s, .at_once = true, .patient = true, .error = error, .status = KF_OK};
    KF_TRY(clear_all(s, error));
    KF_TRY(place_solid(plan, 0, error));
    KF_TRY(upload_velocity(plan, error));
    kf_incompressible_open_faces(&b);
    kf_incompressible_project_start(&b);
    KF_TRY(b.status);
    KF_TRY(kf_incompressible_judge_solves(plan, 1, "at the beginning", error));
    KF_TRY(clear_all(s, error));
    KF_TRY(try_steps(plan, &b, error));
    return clear(s->solves, error);
}

/* --- Fields ----------------------------------------------------------------------------------------------
 */

static double real_at(const kf_incompressible *s, const void *values, size_t index) {
    return s->real_bytes == sizeof(double) ? ((const double *)values)[index]
                                           : (double)((const float *)values)[index];
}

/* Returns the index of the next face along an axis. */
static size_t next_face(const kf_scene *scene, const kf_grid_level *level, int axis, const int at[3]) {
    int to[3] = {at[0], at[1], at[2]};
    to[axis]++;
    if (scene->faces[2 * axis] == KF_PERIODIC) to[axis] %= scene->nodes[axis];
    return place_of(level, to[0], to[1], to[2]);
}

typedef struct raw_state {
    void *velocity, *pressures[KF_HALVES], *open;
} raw_state;

/* Converts the device's arrays into pressure and velocity at cell centres, [4][z][y][x]. */
static void convert(const kf_plan *plan, const raw_state *raw, double *values) {
    const kf_incompressible *s = system_of(plan);
    const kf_scene *scene = kf_plan_scene(plan);
    const kf_grid_level *level = &s->levels[0];
    const int *n = scene->nodes;
    const size_t count = (size_t)n[0] * (size_t)n[1] * (size_t)n[2], capacity = (size_t)level->capacity;
    double sum = 0.0, open_cells = 0.0;
    size_t i = 0;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++, i++) {
                const int at[3] = {x, y, z};
                const size_t k = place_of(level, x, y, z);
                double open = 0.0;
                for (int axis = 0; axis < 3; axis++) {
                    const size_t to = next_face(scene, level, axis, at), base = (size_t)axis * capacity;
                    values[((size_t)axis + 1) * count + i] =
                        0.5 * (real_at(s, raw->velocity, base + k) + real_at(s, raw->velocity, base + to));
                    const unsigned *words = raw->open;
                    open += (words[k] >> (8 * axis) & 255) + (words[to] >> (8 * axis) & 255);
                }
                const double pressure =
                    2.0 * real_at(s, raw->pressures[0], k) + real_at(s, raw->pressures[1], k);
                values[i] = open > 0.0 ? 3.0 * pressure : (double)NAN;
                if (open > 0.0) {
                    sum += values[i];
                    open_cells += 1.0;
                }
            }
    /* Without outflow the pressure is known up to a constant. Inside the solid it is 0. */
    const double mean = s->arguments.singular && open_cells > 0.0 ? sum / open_cells : 0.0;
    for (i = 0; i < count; i++)
        values[i] = isnan(values[i]) && !isnan(sum) ? 0.0 : values[i] - mean;
}

/* Reads pressure and velocity at cell centres, [4][z][y][x]. The caller frees them. */
kf_status kf_incompressible_read(kf_plan *plan, double **values, kf_error *error) {
    const kf_incompressible *s = system_of(plan);
    const int *n = kf_plan_scene(plan)->nodes;
    raw_state raw = {.velocity = NULL};
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    kf_status status = download(s->velocity, &raw.velocity, error);
    for (int half = 0; half < KF_HALVES && status == KF_OK; half++)
        status = download(s->pressures[half], &raw.pressures[half], error);
    if (status == KF_OK) status = download(s->levels[0].open, &raw.open, error);
    if (status == KF_OK) {
        *values = kf_allocate(4 * (size_t)n[0] * (size_t)n[1] * (size_t)n[2] * sizeof **values);
        convert(plan, &raw, *values);
    }
    free(raw.velocity);
    free(raw.pressures[0]);
    free(raw.pressures[1]);
    free(raw.open);
    return status;
}

/* Reads the fields for pictures and snapshots, with the pressure in place of a density. */
static kf_status read_fields(kf_plan *plan, kf_fields *fields, kf_error *error) {
    const int *n = kf_plan_scene(plan)->nodes;
    const size_t count = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    double *values;
    KF_TRY(kf_incompressible_read(plan, &values, error));
    memcpy(fields->nodes, n, sizeof fields->nodes);
    float **const arrays[4] = {&fields->density, &fields->velocity[0], &fields->velocity[1],
                               &fields->velocity[2]};
    for (size_t a = 0; a < 4; a++) {
        *arrays[a] = kf_allocate(count * sizeof(float));
        for (size_t i = 0; i < count; i++)
            (*arrays[a])[i] = (float)(values[a * count + i] + (a == 0 ? 1.0 : 0.0));
    }
    free(values);
    return KF_OK;
}

/* Speeds beyond half a cell a step are sound here: only numbers that are none are not. */
static kf_status take_snapshot(kf_plan *plan, kf_snapshot *snapshot, kf_error *error) {
    kf_fields fields = {.density = NULL};
    KF_TRY(read_fields(plan, &fields, error));
    kf_flow_snapshot_of(kf_plan_scene(plan), &fields, snapshot);
    kf_fields_free(&fields);
    return KF_OK;
}

/* Checks some planes for NaN. The pressure's solve spreads a NaN to all cells. */
static kf_status watch(kf_plan *plan, kf_error *error) {
    const kf_incompressible *s = system_of(plan);
    const kf_scene *scene = kf_plan_scene(plan);
    const kf_grid_level *level = &s->levels[0];
    const size_t count = (size_t)level->row * (size_t)scene->nodes[1];
    void *values = kf_allocate(count * s->real_bytes);
    kf_status status = kf_backend_synchronize(plan->backend, error);
    for (int z = scene->nodes[2] % KF_WATCHED_APART / 2; z < scene->nodes[2] && status == KF_OK;
         z += KF_WATCHED_APART) {
        status = kf_buffer_download(s->velocity, place_of(level, 0, 0, z) * s->real_bytes, values,
                                    count * s->real_bytes, error);
        for (int y = 0; y < scene->nodes[1]; y++)
            for (int x = 0; x < scene->nodes[0] && status == KF_OK; x++) {
                const double value = real_at(s, values, (size_t)level->row * (size_t)y + (size_t)x);
                if (!isfinite(value))
                    status = kf_fail(error, KF_GATE_FAILED,
                                     "the simulation blew up: step %" PRIu64
                                     ", cell (%d,%d,%d): the velocity is %g; use "
                                     "a smaller time step",
                                     plan->steps_done, x, y, z, value);
            }
    }
    free(values);
    return status;
}

static kf_status device_velocity(kf_plan *plan, kf_buffer *buffer, kf_error *error) {
    const kf_incompressible *s = system_of(plan);
    kf_incompressible_builder b = {
        .plan = plan, .system = system_of(plan), .at_once = true, .error = error, .status = KF_OK};
    kf_incompressible_arguments a = s->arguments;
    a.target = kf_buffer_address(s->velocity);
    a.compact = kf_buffer_address(buffer);
    kf_incompressible_launch(&b, KF_INCOMPRESSIBLE_STATE, "velocity", a.cells, &a, 0.0);
    return b.status;
}

/* --- Sums of blocks ----------------------------------------------------------------------------------------
 */

static kf_status add_up(kf_plan *plan, const kf_buffer *buffer, int count, double *sums, kf_error *error) {
    const size_t room = (size_t)system_of(plan)->arguments.partial_room;
    double *values = kf_allocate((size_t)count * room * sizeof *values);
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    const kf_status status =
        kf_buffer_download(buffer, 0, values, (size_t)count * room * sizeof *values, error);
    for (size_t i = 0; i < (size_t)count && status == KF_OK; i++) {
        sums[i] = 0.0;
        for (size_t b = 0; b < room; b++)
            sums[i] += values[i * room + b];
    }
    free(values);
    return status;
}

static kf_status solid_load(kf_plan *plan, kf_solid_load *load, kf_error *error) {
    kf_incompressible *s = system_of(plan);
    kf_incompressible_builder b = {
        .plan = plan, .system = s, .at_once = true, .error = error, .status = KF_OK};
    double sums[6];
    memset(load, 0, sizeof *load);
    if (s->solid == 0 || plan->steps_done == 0) return KF_OK;
    kf_incompressible_sum_load(&b);
    KF_TRY(b.status);
    KF_TRY(add_up(plan, s->load, 6, sums, error));
    memcpy(load->force, sums, sizeof load->force);
    memcpy(load->torque, sums + 3, sizeof load->torque);
    return KF_OK;
}

kf_status kf_incompressible_divergence(kf_plan *plan, double *divergence, kf_error *error) {
    kf_incompressible *s = system_of(plan);
    kf_incompressible_builder b = {
        .plan = plan, .system = s, .at_once = true, .error = error, .status = KF_OK};
    double sums[3] = {0};
    kf_incompressible_sum_divergence(&b);
    KF_TRY(b.status);
    KF_TRY(add_up(plan, s->partial, 3, sums, error));
    *divergence = sqrt(sums[0] / fmax(sums[1], 1.0));
    return KF_OK;
}

/* Takes the records of the solid, as all flows do, and those of the pressure. These are iterations and
 * relative residual of both halves' solves, the root mean square of the remaining divergence (1/s), and the
 * number of solves that missed the tolerance. */
static kf_status take_records(kf_plan *plan, kf_records *records, kf_error *error) {
    kf_solve_state states[KF_HALVES];
    double divergence;
    KF_TRY(kf_flow_record(plan, records, error));
    KF_TRY(kf_incompressible_solves(plan, states, error));
    KF_TRY(kf_incompressible_divergence(plan, &divergence, error));
    kf_record *record = kf_records_add(records, "pressure");
    kf_record_add(record, "iterations", "", states[0].iterations);
    kf_record_add(record, "iterations_second", "", states[1].iterations);
    kf_record_add(record, "residual", "", states[0].residual);
    kf_record_add(record, "residual_second", "", states[1].residual);
    kf_record_add(record, "divergence", "1_s", divergence / kf_plan_scene(plan)->time_step);
    kf_record_add(record, "solves", "", (double)(states[0].solves + states[1].solves));
    kf_record_add(record, "missed", "", (double)(states[0].missed + states[1].missed));
    return KF_OK;
}

/* --- Checkpoints: velocity, both pressures
 * ------------------------------------------------------------------ */

static kf_status state_size(kf_plan *plan, size_t *bytes, kf_error *error) {
    const kf_incompressible *s = system_of(plan);
    (void)error;
    *bytes = kf_buffer_size(s->velocity) + kf_buffer_size(s->pressures[0]) + kf_buffer_size(s->pressures[1]);
    return KF_OK;
}

static kf_status save(kf_plan *plan, void *state, kf_error *error) {
    const kf_incompressible *s = system_of(plan);
    const kf_buffer *const parts[] = {s->velocity, s->pressures[0], s->pressures[1]};
    char *to = state;
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    for (int i = 0; i < 3; i++) {
        KF_TRY(kf_buffer_download(parts[i], 0, to, kf_buffer_size(parts[i]), error));
        to += kf_buffer_size(parts[i]);
    }
    return KF_OK;
}

/* Restores a checkpoint: velocity and both pressures, then the solid where it is at that step. */
static kf_status restore(kf_plan *plan, const void *state, uint64_t step, kf_error *error) {
    kf_incompressible *s = system_of(plan);
    kf_incompressible_builder b = {
        .plan = plan, .system = s, .at_once = true, .error = error, .status = KF_OK};
    kf_buffer *const parts[] = {s->velocity, s->pressures[0], s->pressures[1]};
    const char *from = state;
    KF_TRY(clear_all(s, error));
    for (int i = 0; i < 3; i++) {
        KF_TRY(kf_buffer_upload(parts[i], 0, from, kf_buffer_size(parts[i]), error));
        from += kf_buffer_size(parts[i]);
    }
    KF_TRY(place_solid(plan, step, error));
    kf_incompressible_open_faces(&b);
    KF_TRY(b.status);
    plan->steps_done = step;
    return KF_OK;
}

static void free_system(kf_plan *plan) {
    free(plan->system);
}

static bool lends(const kf_plan *plan) {
    return !kf_plan_scene(plan)->motion.moving;
}

static const kf_flow_methods flow = {
    .fields = read_fields, .velocity = device_velocity, .load = solid_load, .lends = lends};

const kf_plan_methods kf_incompressible_methods = {.initialise = initialise,
                                                   .snapshot = take_snapshot,
                                                   .watch = watch,
                                                   .record = take_records,
                                                   .meaning = kf_flow_meaning,
                                                   .time = kf_flow_time,
                                                   .flow = &flow,
                                                   .state_size = state_size,
                                                   .save = save,
                                                   .restore = restore,
                                                   .free = free_system};
