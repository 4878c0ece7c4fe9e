#include "solver/smoke/tracers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/scene.h"
#include "solver/flow/flow_plan.h"
#include "solver/smoke/sources.h"

enum { VALUES = 6, LONGEST_PERIOD = 64 }; /* x y z u v w */
static const double FARTHEST_MOVE = 0.5;  /* cells */

struct kf_tracers {
    kf_plan *plan;
    kf_smoke_sources sources;
    int period;
    size_t nodes;
    kf_module *module;
    kf_function *move, *emit, *project;
    kf_buffer *values[VALUES], *velocity;
    /* The arguments that all launches share. */
    kf_tracer_arguments arguments;
};

/* --- Opening ----------------------------------------------------------------------------------------------
 */

static int choose_period(const kf_scene *scene) {
    const double fastest = kf_scene_fastest(scene);
    int period = 1;
    while (2 * period <= LONGEST_PERIOD && 2 * period * fastest <= FARTHEST_MOVE)
        period *= 2;
    return period;
}

/* Tracers that an emitter has given by a step. */
static uint64_t births_by(const kf_emitter *emitter, uint64_t step) {
    return (uint64_t)floor(emitter->rate * (double)step);
}

static kf_status check_sources(const kf_smoke_sources *sources, int period, kf_error *error) {
    double most = 0;
    for (int e = 0; e < sources->count; e++)
        most += ceil(sources->emitters[e].rate * period);
    if (most <= (double)sources->capacity) return KF_OK;
    return kf_fail(
        error, KF_BAD_INPUT,
        "smoke: %.0f tracers are born in %d steps, but only %ld are kept; raise smoke.capacity or lower "
        "the rates",
        most, period, sources->capacity);
}

/* Sets the arguments that all launches of the tracers share: tracers wrap, are kept, or retire at faces of
 * the domain. */
static void set_arguments(kf_tracers *tracers) {
    const kf_scene *scene = kf_plan_scene(tracers->plan);
    kf_tracer_arguments *a = &tracers->arguments;
    memcpy(a->nodes, scene->nodes, sizeof a->nodes);
    for (int face = 0; face < KF_FACES; face++) {
        kf_boundary kind = scene->faces[face];
        a->faces[face] = kind == KF_PERIODIC                       ? KF_TRACER_WRAP
                         : kind == KF_WALL || kind == KF_FREE_SLIP ? KF_TRACER_KEEP
                                                                   : KF_TRACER_RETIRE;
    }
    a->capacity = (int)tracers->sources.capacity;
    a->steps = (float)tracers->period;
    float **values[VALUES] = {&a->x, &a->y, &a->z, &a->u, &a->v, &a->w};
    for (int i = 0; i < VALUES; i++)
        *values[i] = kf_buffer_address(tracers->values[i]);
    a->velocity = kf_buffer_address(tracers->velocity);
}

/* Compiles the tracers' kernels and makes their memory, full of NaN: empty places. */
static kf_status build(kf_tracers *tracers, kf_error *error) {
    kf_backend *backend = tracers->plan->backend;
    const kf_source source = {.file = "kernels/smoke/tracers.cu"};
    kf_build built;
    KF_TRY(kf_module_load(backend, &source, &tracers->module, &built, error));
    KF_TRY(kf_module_function(tracers->module, "move", &tracers->move, error));
    KF_TRY(kf_module_function(tracers->module, "emit", &tracers->emit, error));
    KF_TRY(kf_module_function(tracers->module, "project", &tracers->project, error));
    size_t capacity = (size_t)tracers->sources.capacity;
    for (int i = 0; i < VALUES; i++) {
        KF_TRY(kf_buffer_create(backend, capacity * sizeof(float), &tracers->values[i], error));
        /* Empty places are not numbers. */
        KF_TRY(kf_buffer_fill(tracers->values[i], 0xff, error));
    }
    KF_TRY(kf_buffer_create(backend, tracers->nodes * 4 * sizeof(float), &tracers->velocity, error));
    set_arguments(tracers);
    return KF_OK;
}

kf_status kf_tracers_open(kf_plan *plan, const kf_smoke_sources *sources, kf_tracers **tracers,
                          kf_error *error) {
    if (plan->methods->flow == NULL || plan->methods->flow->velocity == NULL) {
        return kf_fail(error, KF_BAD_INPUT, "the system %s has no smoke: it is two-dimensional",
                       plan->config.system);
    }
    const int period = choose_period(kf_plan_scene(plan));
    KF_TRY(check_sources(sources, period, error));
    kf_tracers *made = kf_allocate_zeroed(1, sizeof *made);
    const int *n = kf_plan_scene(plan)->nodes;
    made->plan = plan;
    made->sources = *sources;
    made->period = period;
    made->nodes = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    kf_status status = build(made, error);
    if (status != KF_OK)
        kf_tracers_free(made);
    else
        *tracers = made;
    return status;
}

void kf_tracers_free(kf_tracers *tracers) {
    if (tracers == NULL) return;
    (void)kf_backend_synchronize(tracers->plan->backend, NULL);
    for (int i = 0; i < VALUES; i++)
        if (tracers->values[i] != NULL) kf_buffer_free(tracers->values[i]);
    if (tracers->velocity != NULL) kf_buffer_free(tracers->velocity);
    if (tracers->module != NULL) kf_module_free(tracers->module);
    free(tracers);
}

int kf_tracers_period(const kf_tracers *tracers) {
    return tracers->period;
}

/* --- Moving -----------------------------------------------------------------------------------------------
 */

static kf_status launch(const kf_tracers *tracers, const char *name, kf_function *function, size_t items,
                        const kf_tracer_arguments *arguments, kf_error *error) {
    const int block[3] = {256, 1, 1};
    kf_tracer_arguments a = *arguments;
    a.extent[0] = (int)items;
    a.extent[1] = a.extent[2] = 1;
    kf_launch one;
    kf_launch_set(&one, name, function, block, &a, sizeof a);
    return kf_backend_launch(tracers->plan->backend, &one, error);
}

/* Computes two vectors to the rim of a disc, perpendicular to each other and to its normal. */
static void span_disc(const kf_emitter *emitter, float across[2][3]) {
    const double *n = emitter->normal;
    int axis = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(n[i]) < fabs(n[axis])) axis = i;
    double first[3], size;
    for (int i = 0; i < 3; i++)
        first[i] = (i == axis) - n[axis] * n[i];
    size = kf_length(first);
    for (int i = 0; i < 3; i++) {
        int k = (i + 1) % 3, l = (i + 2) % 3;
        across[0][i] = (float)(emitter->radius * first[i] / size);
        across[1][i] = (float)(emitter->radius * (n[k] * first[l] - n[l] * first[k]) / size);
    }
}

static void set_emitter(const kf_tracers *tracers, int index, kf_tracer_arguments *a) {
    const kf_emitter *emitter = &tracers->sources.emitters[index];
    static const int shapes[KF_EMITTER_SHAPES] = {KF_PLACE_BOX, KF_PLACE_DISC, KF_PLACE_RAKE};
    a->shape = shapes[emitter->shape];
    a->nozzles = emitter->nozzles;
    a->radius = (float)emitter->radius;
    for (int i = 0; i < 3; i++) {
        a->from[i] = (float)emitter->from[i];
        a->to[i] = (float)emitter->to[i];
    }
    if (emitter->shape == KF_EMITTER_DISC) span_disc(emitter, a->across);
    a->key = (tracers->sources.seed * KF_EMITTERS + (uint64_t)index) * 0xd1342543de82ef95U;
}

/* Lets the emitters give the tracers of one period, each at the next places around the memory, so that the
 * oldest give way. */
static kf_status give_birth(kf_tracers *tracers, kf_error *error) {
    const kf_smoke_sources *sources = &tracers->sources;
    const uint64_t now = tracers->plan->steps_done, before = now - (uint64_t)tracers->period;
    uint64_t place = 0;
    for (int e = 0; e < sources->count; e++)
        place += births_by(&sources->emitters[e], before);
    for (int e = 0; e < sources->count; e++) {
        kf_tracer_arguments a = tracers->arguments;
        const uint64_t first = births_by(&sources->emitters[e], before),
                       births = births_by(&sources->emitters[e], now) - first;
        set_emitter(tracers, e, &a);
        a.first_birth = first;
        a.first_place = (int)(place % (uint64_t)sources->capacity);
        place += births;
        if (births > 0) KF_TRY(launch(tracers, "emit", tracers->emit, births, &a, error));
    }
    return KF_OK;
}

kf_status kf_tracers_move(kf_tracers *tracers, kf_error *error) {
    kf_plan *plan = tracers->plan;
    KF_TRY(plan->methods->flow->velocity(plan, tracers->velocity, error));
    KF_TRY(launch(tracers, "move", tracers->move, (size_t)tracers->sources.capacity, &tracers->arguments,
                  error));
    return give_birth(tracers, error);
}

/* --- Density ----------------------------------------------------------------------------------------------
 */

size_t kf_tracers_density_bytes(const kf_tracers *tracers, int refinement) {
    const size_t cells = (size_t)refinement * (size_t)refinement * (size_t)refinement;
    return tracers->nodes * cells * sizeof(long long);
}

/* Sets how tracers are painted: by their age over the stream's time through the domain, or by speed over
 * twice the stream's. */
static void set_paint(const kf_tracers *tracers, kf_tracer_arguments *a) {
    const kf_smoke_sources *sources = &tracers->sources;
    const uint64_t now = tracers->plan->steps_done - tracers->plan->steps_done % (uint64_t)tracers->period;
    uint64_t births = 0;
    double rate = 0;
    for (int e = 0; e < sources->count; e++) {
        births += births_by(&sources->emitters[e], now);
        rate += sources->emitters[e].rate;
    }
    const bool age = sources->paint == KF_PAINT_AGE;
    const double speed = kf_smoke_stream_speed(kf_plan_scene(tracers->plan));
    a->painted = age ? KF_PAINTED_AGE : KF_PAINTED_SPEED;
    a->next_place = (int)(births % (uint64_t)sources->capacity);
    a->per_paint = (float)(age ? KF_PAINT_UNIT / (rate * kf_smoke_transit(kf_plan_scene(tracers->plan)))
                               : KF_PAINT_UNIT / (2 * speed));
}

kf_status kf_tracers_project_painted(kf_tracers *tracers, int refinement, kf_buffer *density,
                                     kf_buffer *paint, kf_error *error) {
    kf_tracer_arguments a = tracers->arguments;
    a.density = kf_buffer_address(density);
    a.refinement = refinement;
    KF_TRY(kf_buffer_fill(density, 0, error));
    if (paint != NULL) {
        set_paint(tracers, &a);
        a.paint = kf_buffer_address(paint);
        KF_TRY(kf_buffer_fill(paint, 0, error));
    }
    return launch(tracers, "project", tracers->project, (size_t)tracers->sources.capacity, &a, error);
}

kf_status kf_tracers_project(kf_tracers *tracers, int refinement, kf_buffer *density, kf_error *error) {
    return kf_tracers_project_painted(tracers, refinement, density, NULL, error);
}

/* --- Checkpoints ------------------------------------------------------------------------------------------
 */

static size_t value_bytes(const kf_tracers *tracers) {
    return (size_t)tracers->sources.capacity * sizeof(float);
}

size_t kf_tracers_state_size(const kf_tracers *tracers) {
    return VALUES * value_bytes(tracers);
}

static void hash_emitter(kf_hasher *hasher, const kf_emitter *emitter) {
    const int integers[] = {(int)emitter->shape, emitter->nozzles};
    kf_hash_add(hasher, integers, sizeof integers);
    kf_hash_add(hasher, &emitter->rate, sizeof emitter->rate);
    kf_hash_add(hasher, emitter->from, sizeof emitter->from);
    kf_hash_add(hasher, emitter->to, sizeof emitter->to);
    kf_hash_add(hasher, emitter->normal, sizeof emitter->normal);
    kf_hash_add(hasher, &emitter->radius, sizeof emitter->radius);
}

void kf_tracers_hash(const kf_tracers *tracers, char hash[KF_HASH_HEX]) {
    const kf_smoke_sources *sources = &tracers->sources;
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, "kftune tracers 1");
    kf_hash_add(&hasher, tracers->arguments.nodes, sizeof tracers->arguments.nodes);
    kf_hash_add(&hasher, tracers->arguments.faces, sizeof tracers->arguments.faces);
    kf_hash_add(&hasher, &tracers->period, sizeof tracers->period);
    kf_hash_add(&hasher, &sources->capacity, sizeof sources->capacity);
    kf_hash_add(&hasher, &sources->seed, sizeof sources->seed);
    for (int e = 0; e < sources->count; e++)
        hash_emitter(&hasher, &sources->emitters[e]);
    kf_hash_end(&hasher, hash);
}

kf_status kf_tracers_save(kf_tracers *tracers, void *state, kf_error *error) {
    KF_TRY(kf_backend_synchronize(tracers->plan->backend, error));
    const size_t bytes = value_bytes(tracers);
    for (int i = 0; i < VALUES; i++)
        KF_TRY(kf_buffer_download(tracers->values[i], 0, (char *)state + (size_t)i * bytes, bytes, error));
    return KF_OK;
}

/* Checks positions from a file, because kernels do not check them. */
static kf_status check_positions(const kf_tracers *tracers, const char *state, kf_error *error) {
    const size_t capacity = (size_t)tracers->sources.capacity;
    for (size_t t = 0; t < capacity; t++) {
        for (size_t a = 0; a < 3; a++) {
            float x;
            /* The data may not be aligned. */
            memcpy(&x, state + (a * capacity + t) * sizeof x, sizeof x);
            /* An empty place. */
            if (a == 0 && !(x >= -1.0F)) break;
            if (!(x >= -0.5F && x <= (float)tracers->arguments.nodes[a] - 0.5F))
                return kf_fail(error, KF_BAD_INPUT, "smoke tracer %zu lies outside the domain", t);
        }
    }
    return KF_OK;
}

kf_status kf_tracers_restore(kf_tracers *tracers, const void *state, kf_error *error) {
    const size_t bytes = value_bytes(tracers);
    KF_TRY(check_positions(tracers, state, error));
    for (int i = 0; i < VALUES; i++)
        KF_TRY(
            kf_buffer_upload(tracers->values[i], 0, (const char *)state + (size_t)i * bytes, bytes, error));
    return KF_OK;
}
