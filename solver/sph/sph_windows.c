#include "solver/sph/sph_windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/sph/sph_problem.h"

enum { SMALL = 4000, LARGE = 60000, VALUES = KF_SPH_STATE_VALUES };

void kf_sph_declare_windows(kf_plan *plan) {
    const kf_particle_scene *scene = ((const kf_sph *)plan->system)->scene;
    if (scene->window_count < 2 && !(scene->windows[0] > 0.0)) return;
    const double last = scene->windows[scene->window_count - 1] * kf_particle_seconds(scene);
    plan->windows = scene->window_count;
    plan->window_steps = (uint64_t)ceil(fmax(last / kf_sph_usual_step(scene), scene->window_count));
}

/* ---- The coarse particle that each of the scene's is part of ---- */

/* Particles of a scene by cells as wide as its spacing, at the beginning. */
typedef struct kf_lattice {
    const kf_particle_scene *scene;
    int cells[3];
    int *first, *next; /* of a cell; after a particle; -1: none */
} kf_lattice;

static size_t fluid_of(const kf_particle_scene *scene) {
    return scene->count - scene->wall_count;
}

/* Sorts the fluid's particles into cells of one spacing: first of each cell, and next of each particle. */
static void make_lattice(const kf_particle_scene *scene, kf_lattice *lattice) {
    size_t count = 1;
    lattice->scene = scene;
    for (int i = 0; i < 3; i++) {
        lattice->cells[i] = i < scene->dimensions ? (int)ceil(scene->size[i]) + 1 : 1;
        count *= (size_t)lattice->cells[i];
    }
    lattice->first = kf_allocate(count * sizeof *lattice->first);
    lattice->next = kf_allocate(fluid_of(scene) * sizeof *lattice->next);
    memset(lattice->first, 0xff, count * sizeof *lattice->first);
    for (size_t k = 0; k < fluid_of(scene); k++) {
        size_t cell = 0;
        for (int i = 0; i < 3; i++) {
            const int c = (int)scene->position[3 * k + (size_t)i];
            cell =
                cell * (size_t)lattice->cells[i] + (size_t)(c < 0                    ? 0
                                                            : c >= lattice->cells[i] ? lattice->cells[i] - 1
                                                                                     : c);
        }
        lattice->next[k] = lattice->first[cell];
        lattice->first[cell] = (int)k;
    }
}

/* Returns the particle nearest to a place, among those of the cells up to `reach` away; -1: there is none. */
static int nearest_within(const kf_lattice *lattice, const double place[3], int reach, double *least) {
    int low[3], high[3], found = -1;
    *least = INFINITY;
    for (int i = 0; i < 3; i++) {
        const int c = (int)fmax(place[i], 0.0);
        low[i] = c >= reach ? c - reach : 0;
        high[i] = c + reach < lattice->cells[i] ? c + reach : lattice->cells[i] - 1;
    }
    for (int x = low[0]; x <= high[0]; x++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int z = low[2]; z <= high[2]; z++) {
                const size_t cell =
                    ((size_t)x * (size_t)lattice->cells[1] + (size_t)y) * (size_t)lattice->cells[2];
                for (int k = lattice->first[cell + (size_t)z]; k >= 0; k = lattice->next[k]) {
                    double apart = 0.0;
                    for (int i = 0; i < 3; i++) {
                        const double d = (double)lattice->scene->position[3 * k + i] - place[i];
                        apart += d * d;
                    }
                    if (apart >= *least) continue;
                    *least = apart;
                    found = k;
                }
            }
    return found;
}

/* Cells are one wide: what is no further than that lies in the next one at most. */
static int nearest(const kf_lattice *lattice, const double place[3]) {
    double apart;
    const int found = nearest_within(lattice, place, 1, &apart);
    return apart <= 1.0 ? found : nearest_within(lattice, place, 2, &apart);
}

/* Finds the coarse particle for each particle of the fluid; -1: none is near. */
static int *parents_of(const kf_particle_scene *scene, const kf_particle_scene *coarse) {
    const double scale = scene->spacing / coarse->spacing;
    int *parents = kf_allocate(fluid_of(scene) * sizeof *parents);
    kf_lattice lattice;
    make_lattice(coarse, &lattice);
    for (size_t k = 0; k < fluid_of(scene); k++) {
        double place[3];
        for (int i = 0; i < 3; i++)
            place[i] =
                ((double)scene->position[3 * k + (size_t)i] - scene->origin[i]) * scale + coarse->origin[i];
        parents[k] = nearest(&lattice, place);
    }
    free(lattice.first);
    free(lattice.next);
    return parents;
}

/* Computes the state of all particles from that of the coarse ones: [count][VALUES] each. */
static void divide(const kf_particle_scene *scene, const kf_particle_scene *coarse, const int *parents,
                   const float *state, float *values) {
    const double scale = coarse->spacing / scene->spacing;
    const int up = scene->dimensions - 1;
    memset(values, 0, scene->count * VALUES * sizeof *values);
    for (size_t k = 0; k < scene->count; k++) {
        float *to = values + k * VALUES;
        memcpy(to, scene->position + 3 * k, 3 * sizeof *to);
        if (k >= fluid_of(scene) || parents[k] < 0) continue;
        const size_t parent = (size_t)parents[k];
        const float *from = state + parent * VALUES;
        /* A particle that has left the coarse box has left this one. */
        bool inside = true;
        for (size_t i = 0; i < (size_t)scene->dimensions; i++) {
            const double way = ((double)from[i] - (double)coarse->position[3 * parent + i]) * scale;
            const double at = (double)to[i] + way, parent_at = (double)from[i];
            inside = inside && parent_at >= 0.0 && parent_at <= coarse->size[i];
            to[i] = (float)(scene->sides[2 * i] == KF_SIDE_PERIODIC
                                ? at - scene->size[i] * floor(at / scene->size[i])
                                : fmin(fmax(at, 0.25), scene->size[i] - 0.25));
        }
        if (scene->terrain.heights != NULL) { /* which is as steep as below the coarse one only there */
            const double ground = kf_terrain_height(&scene->terrain, (double)to[0], (double)to[1], NULL);
            to[up] = (float)fmax((double)to[up], ground + 0.25);
        }
        if (!inside) to[0] = -2.0f * (float)scene->size[0];
        memcpy(to + 3, from + 3, 4 * sizeof *to);
        memcpy(to + 11, from + 11, KF_SPH_STRESSES * sizeof *to);
    }
}

/* ---- The coarse run ---- */

static kf_status open_coarse(const kf_plan *plan, kf_problem **coarse, kf_error *error) {
    const kf_particle_scene *scene = ((const kf_sph *)plan->system)->scene;
    const bool gpu = kf_device_is_gpu(kf_backend_device(plan->backend));
    kf_particle_scene *made;
    char path[KF_PATH];
    const kf_particle_options options = {
        .spacing_scale =
            fmax(1.0, pow((double)scene->count / (gpu ? LARGE : SMALL), 1.0 / scene->dimensions)),
        .spacings_x = (int)kf_facts_value(&plan->problem->facts, "size_x"),
        .seed = plan->problem->seed};
    KF_TRY(kf_scene_find(plan->problem->source, path, error));
    KF_TRY(kf_particle_scene_open(path, &options, &made, error));
    *coarse = kf_sph_problem(made);
    return KF_OK;
}

static kf_status advance_until(kf_plan *plan, double time, kf_error *error) {
    enum { STRETCH = 256 };
    for (;;) {
        kf_sph_clock clock;
        KF_TRY(kf_sph_read_clock(plan, &clock, error));
        if (clock.flags != 0) return kf_sph_flagged(clock.flags, error);
        const double left = ceil((time - clock.time) / (double)clock.step - 1e-6);
        if (!(left > 0.0)) return KF_OK;
        KF_TRY(kf_plan_advance(plan, left > STRETCH ? STRETCH : (uint64_t)left, error));
    }
}

/* On the device; of a team with the host, which shares it out anew each time. */
static kf_status keep_window(kf_plan *plan, int window, const float *values, size_t bytes, kf_error *error) {
    kf_sph *system = plan->system;
    if (plan->all_parts > 1) {
        system->window_values[window] = kf_allocate(bytes);
        memcpy(system->window_values[window], values, bytes);
        return KF_OK;
    }
    return kf_plan_buffer_of(plan, values, bytes, &system->windows[window], error);
}

/* Runs the coarse scene through the windows, and notes at each where the plan's particles would be. */
static kf_status note_windows(kf_plan *plan, const kf_problem *problem, kf_plan *run, kf_error *error) {
    kf_sph *system = plan->system;
    const kf_particle_scene *scene = system->scene, *coarse = problem->own;
    const size_t bytes = scene->count * VALUES * sizeof(float);
    kf_status status = kf_plan_initialise(run, error);
    int *parents = parents_of(scene, coarse);
    float *values = kf_allocate(bytes);
    for (int w = 0; w < scene->window_count && status == KF_OK; w++) {
        float *state = NULL;
        status = advance_until(run, scene->windows[w] * kf_particle_seconds(coarse), error);
        if (status == KF_OK) status = kf_sph_read(run, &state, error);
        if (status == KF_OK) divide(scene, coarse, parents, state, values);
        if (status == KF_OK) status = keep_window(plan, w, values, bytes, error);
        free(state);
    }
    free(parents);
    free(values);
    return status;
}

static kf_status make_windows(kf_plan *plan, kf_error *error) {
    kf_problem *coarse;
    kf_plan *run = NULL;
    KF_TRY(open_coarse(plan, &coarse, error));
    kf_status status = kf_system_sph.plan(coarse, &plan->config, plan->backend, &run, error);
    if (status == KF_OK) status = note_windows(plan, coarse, run, error);
    kf_plan_free(run);
    kf_problem_free(coarse);
    return status;
}

kf_status kf_sph_seek(kf_plan *plan, int window, double shift, kf_error *error) {
    kf_sph *system = plan->system;
    (void)shift;
    if (system->windows[0] == NULL && system->window_values[0] == NULL) KF_TRY(make_windows(plan, error));
    if (plan->all_parts > 1) return kf_sph_put(plan, system->window_values[window], error);
    const bool swapped = kf_sph_within(system, plan->steps_done);
    kf_sph_arguments a = kf_sph_of_part(system, 0, swapped);
    a.exchange = kf_buffer_address(system->windows[window]);
    a.first = 0;
    a.limit = a.count;
    KF_TRY(kf_buffer_fill(system->seen->counts.buffer, 0, error));
    KF_TRY(kf_sph_launch(plan, 0, KF_SPH_STATE, "unpack", &a, a.count, error));
    return kf_sph_settle(plan, swapped, error);
}
