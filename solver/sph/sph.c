#include "solver/sph/sph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/nccl.h"
#include "base/util/memory.h"
#include "solver/sph/sph_cases.h"
#include "solver/sph/sph_picture.h"
#include "solver/sph/sph_problem.h"
#include "solver/sph/sph_windows.h"

/* Gives the variables that expressions of variants/sph.json may use. */
static void describe(const kf_problem *problem, const kf_device_info *device, kf_variables *variables) {
    const kf_particle_scene *scene = problem->own;
    memset(variables, 0, sizeof *variables);
    kf_add_variable(variables, "gpu", kf_device_is_gpu(device));
    kf_add_variable(variables, "particle_count", (double)scene->count);
    kf_add_variable(variables, "neighbours", kf_sph_neighbours(scene));
    kf_add_variable(variables, "dimensions", scene->dimensions);
    kf_add_variable(variables, "stress", kf_sph_has_stress(scene));
    kf_add_variable(variables, "stride", 100.0 * kf_sph_stride(scene) / scene->support);
    kf_add_variable(variables, "thesis", scene->scheme == KF_SCHEME_THESIS);
    kf_add_variable(variables, "dummies", scene->wall_count > 0);
    kf_add_variable(variables, "columns", scene->terrain.heights != NULL && scene->dimensions == 3);
    kf_add_variable(variables, "parts", device->parts > 1 ? device->parts : 1);
    kf_add_variable(variables, "nccl",
                    device->parts > 1 && kf_nccl_available(device->backend, NULL) == KF_OK);
    kf_add_device_variables(variables, device);
}

static kf_status visit_sources(const kf_problem *problem, const kf_config *config,
                               const kf_device_info *device,
                               kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                               void *data, kf_error *error) {
    kf_sph_options options;
    KF_TRY(kf_sph_read_options(problem->own, config, device, &options, error));
    for (int which = 0; which < KF_SPH_SOURCES; which++) {
        kf_source source;
        kf_defines defines;
        if (!kf_sph_is_used(&options, (kf_sph_source)which)) continue;
        kf_sph_define(problem->own, &options, (kf_sph_source)which, &source, &defines);
        KF_TRY(visit(&source, data, error));
    }
    return KF_OK;
}

/* ---- Buffers ---- */

static kf_status buffer(kf_plan *plan, size_t count, size_t bytes, kf_buffer **made, void *address,
                        kf_error *error) {
    kf_buffer *own;
    KF_TRY(kf_plan_buffer(plan, (count > 0 ? count : 1) * bytes, &own, error));
    void *at = kf_buffer_address(own);
    memcpy(address, &at, sizeof at);
    if (made != NULL) *made = own;
    return KF_OK;
}

/* Makes one of the two sets of particles. A step that begins with them in the other set writes this one
 * before it reads it. */
static kf_status make_set(kf_plan *plan, const kf_sph *system, bool next, kf_sph_set *set, kf_error *error) {
    const size_t n = system->scene->count, begin = plan->buffer_count;
    const int kept = system->options.list_period, period = kept == 1 ? 1 : 2 * kept;
    KF_TRY(buffer(plan, n, 4 * sizeof(float), NULL, &set->position, error));
    KF_TRY(buffer(plan, n, 4 * sizeof(float), NULL, &set->velocity, error));
    KF_TRY(buffer(plan, n, 4 * sizeof(float), NULL, &set->rate, error));
    if (system->stress) KF_TRY(buffer(plan, n, KF_SPH_STRESSES * sizeof(float), NULL, &set->stress, error));
    KF_TRY(buffer(plan, n, sizeof(int), NULL, &set->identity, error));
    for (int phase = 0; phase < period; phase++)
        for (size_t i = begin; i < plan->buffer_count && kf_sph_between(system, (uint64_t)phase) == next; i++)
            kf_plan_fresh(plan, plan->buffers[i], period, phase);
    return KF_OK;
}

/* Makes the memory of the search: numbers of cells, counts and scans, and what lists, staged slots and ranks
 * need. */
static kf_status make_search(kf_plan *plan, const kf_sph *system, kf_sph_arguments *a, kf_error *error) {
    const size_t n = system->scene->count, cells = (size_t)system->grid.cell_count + 2;
    KF_TRY(buffer(plan, n, 2 * sizeof(int), NULL, &a->cell_of, error));
    KF_TRY(buffer(plan, cells, sizeof(int), &system->seen->counts.buffer, &a->counts, error));
    KF_TRY(buffer(plan, cells, sizeof(int), NULL, &a->start, error));
    KF_TRY(buffer(plan, cells / KF_SPH_SCAN + 1, sizeof(int), NULL, &a->tops, error));
    if (system->options.ranked) KF_TRY(buffer(plan, n, 2 * sizeof(int), NULL, &a->slots, error));
    if (system->grid.capacity > 0)
        KF_TRY(buffer(plan, (n + 31) / 32 * 32 * (size_t)system->grid.capacity, sizeof(unsigned), NULL,
                      &a->hits, error));
    if (system->options.search == KF_SPH_LIST || kf_sph_keeps_slots(system->scene, &system->options))
        KF_TRY(buffer(plan, n, sizeof(int), NULL, &a->hit_count, error));
    if (system->options.search == KF_SPH_LIST)
        return buffer(plan, n, 4 * sizeof(float), NULL, &a->list_position, error);
    return KF_OK;
}

static kf_status make_columns(kf_plan *plan, const kf_sph *system, kf_sph_arguments *a, kf_error *error) {
    const size_t count = 2 * (size_t)system->grid.rows + 1;
    kf_buffer *columns;
    if (system->grid.columns == NULL) return KF_OK;
    KF_TRY(buffer(plan, count, sizeof(int), &columns, &a->columns, error));
    return kf_buffer_upload(columns, 0, system->grid.columns, count * sizeof(int), error);
}

/* Makes the table of what a wall's half-space adds to sums, by distance up to the support, and uploads the
 * terrain's heights. */
static kf_status make_tables(kf_plan *plan, const kf_sph *system, kf_sph_arguments *a, kf_error *error) {
    const kf_particle_scene *scene = system->scene;
    float table[3 * KF_SPH_TABLE];
    kf_buffer *made;
    for (int k = 0; k < KF_SPH_TABLE; k++) {
        double sums[3];
        kf_sph_half_space(scene->dimensions, scene->support, scene->support * k / (KF_SPH_TABLE - 1), sums);
        for (int i = 0; i < 3; i++)
            table[3 * k + i] = (float)sums[i];
    }
    KF_TRY(buffer(plan, 3 * KF_SPH_TABLE, sizeof(float), &made, &a->wall_table, error));
    KF_TRY(kf_buffer_upload(made, 0, table, sizeof table, error));
    if (scene->terrain.heights == NULL) return KF_OK;
    const size_t count = (size_t)scene->terrain.nodes[0] * (size_t)scene->terrain.nodes[1];
    float *heights = kf_allocate(count * sizeof *heights);
    for (size_t k = 0; k < count; k++)
        heights[k] = (float)scene->terrain.heights[k];
    kf_status status = buffer(plan, count, sizeof(float), &made, &a->heights, error);
    if (status == KF_OK) status = kf_buffer_upload(made, 0, heights, count * sizeof *heights, error);
    free(heights);
    return status;
}

static kf_status make_exchange(kf_plan *plan, kf_sph *system, kf_sph_arguments *a, kf_error *error) {
    const size_t n = system->scene->count;
    kf_sph_shared *seen = system->seen;
    KF_TRY(buffer(plan, (size_t)system->exchanged, KF_SPH_STATE_VALUES * sizeof(float),
                  &seen->exchange.buffer, &a->exchange, error));
    KF_TRY(buffer(plan, (n + KF_SPH_CHUNK - 1) / KF_SPH_CHUNK, sizeof(kf_sph_sums), &seen->totals.buffer,
                  &a->totals, error));
    KF_TRY(buffer(plan, 3 * KF_PARTICLE_GAUGES, sizeof(long long), &seen->gauge_sums.buffer, &a->gauge_sums,
                  error));
    return buffer(plan, 1, sizeof(kf_sph_clock), &seen->clock.buffer, &a->clock, error);
}

/* Makes the gauges' places, and works out how much fluid a gauge of pressure has around it when all is wet.
 */
static kf_status make_gauges(kf_plan *plan, kf_sph *system, kf_sph_arguments *a, kf_error *error) {
    const kf_particle_scene *scene = system->scene;
    float places[4 * KF_PARTICLE_GAUGES];
    kf_buffer *made;
    a->gauge_count = scene->gauge_count;
    if (scene->gauge_count == 0) return KF_OK;
    for (int g = 0; g < scene->gauge_count; g++) {
        /* A gauge has x and y beside each other, and then the upward axis, which is y in two dimensions. */
        for (int i = 0; i < 2; i++)
            places[4 * g + i] = (float)scene->gauges[g].place[i];
        places[4 * g + 2] = (float)scene->gauges[g].place[scene->dimensions - 1];
        places[4 * g + 3] = (float)scene->support;
        if (scene->gauges[g].is_pressure)
            system->gauge_room[g] = kf_sph_gauge_room(scene, scene->gauges[g].place, scene->support);
    }
    KF_TRY(buffer(plan, 4 * KF_PARTICLE_GAUGES, sizeof(float), &made, &a->gauges, error));
    return kf_buffer_upload(made, 0, places, 4 * (size_t)scene->gauge_count * sizeof(float), error);
}

/* ---- Plans ---- */

static kf_status load_modules(kf_plan *plan, const kf_sph *system, kf_module **modules, kf_error *error) {
    for (int which = 0; which < KF_SPH_SOURCES; which++) {
        kf_source source;
        kf_defines defines;
        if (!kf_sph_is_used(&system->options, (kf_sph_source)which)) continue;
        kf_sph_define(system->scene, &system->options, (kf_sph_source)which, &source, &defines);
        KF_TRY(kf_plan_module(plan, &source, &modules[which], error));
    }
    return KF_OK;
}

/* Builds what every part has separately: kernels, tables and gauges. */
static kf_status build_part(kf_plan *plan, kf_sph *system, kf_sph_part *part, kf_error *error) {
    kf_sph_arguments *a = &part->arguments;
    kf_sph_set_arguments(system->scene, &system->options, &system->grid, a);
    KF_TRY(load_modules(plan, system, part->modules, error));
    KF_TRY(make_tables(plan, system, a, error));
    KF_TRY(make_columns(plan, system, a, error));
    return make_gauges(plan, system, a, error);
}

/* Makes the particles' memory on a single device. */
static kf_status make_alone(kf_plan *plan, kf_sph *system, kf_error *error) {
    const kf_particle_scene *scene = system->scene;
    const size_t sums = scene->material.branch == KF_BRANCH_ELASTIC ? 4 : 5;
    kf_sph_arguments *a = &system->parts[0].arguments;
    KF_TRY(make_set(plan, system, false, &a->sorted, error));
    KF_TRY(make_set(plan, system, true, &a->next, error));
    KF_TRY(make_search(plan, system, a, error));
    KF_TRY(make_exchange(plan, system, a, error));
    return system->stress ? buffer(plan, scene->count, sums * sizeof(float), NULL, &a->sums, error) : KF_OK;
}

/* Builds a plan: grid of cells, modules and tables of each part, two sets of particles, windows and launches.
 */
static kf_status build(kf_plan *plan, kf_sph *system, kf_error *error) {
    enum { MOST = 1 << 20 };
    const kf_particle_scene *scene = system->scene;
    KF_TRY(kf_sph_make_grid(scene, &system->options, &system->grid, error));
    system->exchanged = scene->count < MOST ? (int)scene->count : MOST;
    plan->updates = (double)scene->count;
    /* The sort moves the state, and each sum over neighbours reads positions and velocities once. */
    plan->least_bytes = plan->updates * (system->stress ? 344.0 : 200.0);
    for (int part = 0; part < plan->part_count; part++) {
        kf_plan_on(plan, part);
        const kf_status status = build_part(plan, system, &system->parts[part], error);
        KF_TRY(kf_backend_of_part(plan->backend, part, status, error));
    }
    kf_plan_on(plan, 0);
    KF_TRY((plan->all_parts > 1 ? kf_sph_make_team : make_alone)(plan, system, error));
    kf_sph_declare_windows(plan);
    return kf_sph_make_launches(plan, system, error);
}

static kf_status make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                           kf_plan **plan, kf_error *error) {
    const kf_particle_scene *scene = problem->own;
    kf_sph_options options;
    KF_TRY(kf_sph_read_options(scene, config, kf_backend_device(backend), &options, error));
    kf_sph *system = kf_allocate_zeroed(1, sizeof *system);
    system->options = options;
    system->scene = scene;
    system->stress = kf_sph_has_stress(scene);
    kf_plan *made = kf_plan_create(backend, problem, config, &kf_sph_methods, system);
    system->parts = kf_allocate_zeroed((size_t)made->part_count, sizeof *system->parts);
    system->packs =
        made->all_parts > 1 && (options.transfer != KF_SPH_DIRECT || made->near_parts < made->all_parts);
    system->seen_parts = system->packs ? made->part_count : made->near_parts;
    system->own_seen = system->packs ? 0 : made->first_part - made->near_first;
    system->seen = kf_allocate_zeroed((size_t)system->seen_parts, sizeof *system->seen);
    system->ready = kf_allocate_zeroed((size_t)made->near_parts, sizeof *system->ready);
    if (!options.graph) made->graph_steps = -1;
    const kf_status status = build(made, system, error);
    return kf_plan_built(made, status, plan);
}

static kf_status accepts(const kf_problem *problem, kf_error *error) {
    const kf_particle_scene *scene = problem->own;
    for (int i = 0; i < scene->dimensions; i++)
        if (scene->sides[2 * i] == KF_SIDE_PERIODIC && scene->size[i] < 3.0 * scene->support)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: the box is periodic and only %.3g supports long along %c; it takes 3",
                           scene->source, scene->size[i] / scene->support, "xyz"[i]);
    return KF_OK;
}

static const char *const sections[] = {"particles", NULL};

static kf_status draw(const kf_problem *problem, const char *path, kf_error *error) {
    kf_snapshot snapshot;
    kf_sph_first_snapshot(problem->own, &snapshot);
    const kf_status status = kf_sph_picture(problem->own, &snapshot, path, error);
    kf_snapshot_free(&snapshot);
    return status;
}

const kf_system kf_system_sph = {
    .name = "sph",
    .summary =
        "smoothed particles, weakly compressible: water, snow, mud and grains, in two and three dimensions",
    .update = "particle",
    .space_file = "variants/sph.json",
    .runs = true,
    .teams = true,
    .sections = sections,
    .open = kf_sph_problem_open,
    .draw = draw,
    .trial = kf_sph_problem_trial,
    .accepts = accepts,
    .variables = describe,
    .plan = make_plan,
    .sources = visit_sources,
    .reference = kf_sph_reference,
    .verify = kf_sph_verify,
    .free_reference = kf_sph_free_reference,
    .cost = &kf_cost_sph,
    .cases = kf_sph_cases,
};
