/* The launches of a step. It has two halves, each with advection, its divergence, a pressure solve and the
 * subtraction of the gradient. */
#include <string.h>

#include "solver/incompressible/incompressible.h"

/* Returns the name of a launch in tables: in a step's second half these move other bytes than in the
 * first. */
static const char *called(const kf_incompressible_builder *b, const char *name) {
    static const char *const second[][2] = {{"predict", "predict_second"},
                                            {"correct", "correct_second"},
                                            {"diffuse", "diffuse_second"},
                                            {"project", "project_second"}};
    for (size_t i = 0; b->second_half && i < sizeof second / sizeof *second; i++)
        if (strcmp(second[i][0], name) == 0) return second[i][1];
    return name;
}

static double block_count(const kf_incompressible_options *o, const int extent[3]) {
    const int along_x = (extent[0] + o->block_x - 1) / o->block_x,
              along_y = (extent[1] + o->block_y - 1) / o->block_y;
    return (double)along_x * along_y * extent[2];
}

/* Returns whether the launch is only reported to a lister. `blocks` is the number of its blocks of threads.
 */
static bool is_listed(const kf_incompressible_builder *b, const char *name, kf_launch_kind kind,
                      double blocks, const kf_incompressible_arguments *a, double bytes) {
    if (b->list == NULL) return false;
    kf_listed_launch launch = {.name = called(b, name),
                               .kind = kind,
                               .bytes = bytes,
                               .blocks = blocks,
                               .of_solve = b->solving,
                               .iterated = b->iterating};
    launch.sweeps = kind == KF_LAUNCH_BLOCK ? a->sweeps : 0;
    memcpy(launch.cells, a->cells, sizeof launch.cells);
    b->list(b->data, &launch);
    return true;
}

void kf_incompressible_launch(kf_incompressible_builder *b, kf_incompressible_source which, const char *name,
                              const int *extent, const kf_incompressible_arguments *arguments, double bytes) {
    const kf_incompressible_options *o = &b->system->options;
    kf_incompressible_arguments a = *arguments;
    const int sums[3] = {o->threads, 1, 1}, items[3] = {o->block_x, o->block_y, 1};
    kf_function *function;
    kf_launch launch;
    if (b->status != KF_OK) return;
    if (is_listed(b, name, extent != NULL ? KF_LAUNCH_PLACES : KF_LAUNCH_SUMS,
                  extent != NULL ? block_count(o, extent) : a.blocks, arguments, bytes))
        return;
    b->status = kf_module_function(b->system->modules[which], name, &function, b->error);
    if (b->status != KF_OK) return;
    a.extent[0] = extent != NULL ? extent[0] : o->threads;
    a.extent[1] = extent != NULL ? extent[1] : a.blocks;
    a.extent[2] = extent != NULL ? extent[2] : 1;
    kf_launch_set(&launch, called(b, name), function, extent != NULL ? items : sums, &a, sizeof a);
    launch.overlaps = kf_incompressible_overlaps(o, which);
    if (b->at_once)
        b->status = kf_backend_launch(b->plan->backend, &launch, b->error);
    else
        kf_plan_add_kernel(b->plan, &launch)->bytes = bytes;
}

void kf_incompressible_launch_one(kf_incompressible_builder *b, kf_incompressible_source which,
                                  const char *name, bool block,
                                  const kf_incompressible_arguments *arguments) {
    const int one[3] = {1, 1, 1};
    kf_incompressible_arguments a = *arguments;
    if (is_listed(b, name, block ? KF_LAUNCH_BLOCK : KF_LAUNCH_ITEM, 1, arguments, 0.0)) return;
    if (!block) {
        kf_incompressible_launch(b, which, name, one, &a, 0.0);
        return;
    }
    kf_function *function;
    kf_launch launch;
    const int threads[3] = {b->system->options.threads, 1, 1};
    if (b->status != KF_OK) return;
    b->status = kf_module_function(b->system->modules[which], name, &function, b->error);
    if (b->status != KF_OK) return;
    memcpy(a.extent, threads, sizeof a.extent);
    kf_launch_set(&launch, name, function, threads, &a, sizeof a);
    launch.overlaps = kf_incompressible_overlaps(&b->system->options, which);
    if (b->at_once)
        b->status = kf_backend_launch(b->plan->backend, &launch, b->error);
    else
        (void)kf_plan_add_kernel(b->plan, &launch);
}

void kf_incompressible_open_faces(kf_incompressible_builder *b) {
    const kf_incompressible *s = b->system;
    kf_incompressible_arguments a = s->arguments;
    const int extent[3] = {a.cells[0] + 1, a.cells[1] + 1, a.cells[2] + 1};
    a.coarse_open = kf_buffer_address(s->levels[0].open);
    kf_incompressible_launch(b, KF_INCOMPRESSIBLE_SOLID, "open_faces", extent, &a, 0.0);
    kf_incompressible_coarsen(b);
}

/* Launches a kernel over all faces. `values` is the number of values read and written per cell. */
static void on_faces(kf_incompressible_builder *b, kf_incompressible_source which, const char *name,
                     const kf_incompressible_arguments *a, double values) {
    const int extent[3] = {a->cells[0] + 1, a->cells[1] + 1, a->cells[2] + 1};
    const double cells = (double)a->cells[0] * a->cells[1] * a->cells[2];
    kf_incompressible_launch(b, which, name, extent, a,
                             cells * (values * (double)b->system->real_bytes + sizeof(unsigned)));
}

/* Advects the velocity `source` by a sub-step, and returns the buffer with the result. Two more buffers are
 * free for it. */
static kf_buffer *advect(kf_incompressible_builder *b, int half, kf_buffer *source, kf_buffer *target,
                         kf_buffer *spare) {
    const kf_incompressible *s = b->system;
    kf_incompressible_arguments a = s->arguments;
    /* In the first half the velocity carries itself. */
    const double carried = half == 0 ? 0.0 : 3.0;
    const double kept = s->options.keeps_bounds ? 6.0 : 0.0;
    a.source = kf_buffer_address(source);
    a.carrier = kf_buffer_address(s->velocity);
    a.predicted = kf_buffer_address(s->predicted);
    a.kept = kf_buffer_address(s->kept);
    a.target = kf_buffer_address(target);
    on_faces(b, KF_INCOMPRESSIBLE_ADVECTION, "predict", &a, 6.0 + carried + kept);
    on_faces(b, KF_INCOMPRESSIBLE_ADVECTION, "correct", &a, 9.0 + carried + kept);
    kf_buffer *last = target, *next = s->predicted;
    a.source = kf_buffer_address(target);
    for (int i = 0; i < s->diffusions; i++) {
        a.carrier = kf_buffer_address(last);
        a.target = kf_buffer_address(next);
        on_faces(b, KF_INCOMPRESSIBLE_ADVECTION, "diffuse", &a, i == 0 ? 6.0 : 9.0);
        last = next;
        next = last == s->predicted ? spare : s->predicted;
    }
    return last;
}

static void project(kf_incompressible_builder *b, kf_buffer *source, int half, bool reflects) {
    const kf_incompressible *s = b->system;
    kf_incompressible_arguments a = s->arguments;
    a.source = kf_buffer_address(source);
    a.target = kf_buffer_address(s->velocity);
    a.pressure = kf_buffer_address(s->pressures[half]);
    if (b->list == NULL) a.solve = (kf_solve_state *)kf_buffer_address(s->solves) + half;
    kf_incompressible_launch(b, KF_INCOMPRESSIBLE_PROJECTION, "divergence", NULL, &a,
                             (double)a.cells[0] * a.cells[1] * a.cells[2] *
                                 (4.0 * (double)s->real_bytes + sizeof(unsigned)));
    kf_incompressible_solve(b, &a);
    a.reflect = reflects ? 2.0 : 0.0;
    a.predicted = reflects ? kf_buffer_address(s->advected) : NULL;
    on_faces(b, KF_INCOMPRESSIBLE_PROJECTION, "project", &a, reflects ? 10.0 : 7.0);
}

void kf_incompressible_make_steps(kf_incompressible_builder *b) {
    const kf_incompressible *s = b->system;
    if (s->solid == 2) {
        kf_incompressible_launch_one(b, KF_INCOMPRESSIBLE_SOLID, "move_solid", false, &s->arguments);
        kf_incompressible_open_faces(b);
    }
    b->second_half = false;
    kf_buffer *advected = advect(b, 0, s->velocity, s->advected, s->second);
    project(b, advected, 0, true);
    b->second_half = true;
    advected = advect(b, 1, s->advected, s->second, s->advected);
    project(b, advected, 1, false);
}

void kf_incompressible_list_launches(const kf_scene *scene, const kf_incompressible_options *options,
                                     void (*list)(void *data, const kf_listed_launch *launch), void *data) {
    kf_incompressible system = {.options = *options};
    kf_error error;
    kf_incompressible_builder b = {.system = &system, .list = list, .data = data, .error = &error};
    kf_incompressible_outline(scene, &system);
    kf_incompressible_make_steps(&b);
}

static void add_bytes(void *data, const kf_listed_launch *launch) {
    kf_solve_bytes *bytes = data;
    if (launch->of_solve) *(launch->iterated ? &bytes->moved : &bytes->start) += launch->bytes / KF_HALVES;
}

kf_solve_bytes kf_incompressible_solve_bytes(const kf_scene *scene,
                                             const kf_incompressible_options *options) {
    /* Values of a cell, each with a word. */
    enum { GRADIENTS = 8, ALONE = 5, CORRECTION = 2 };
    kf_incompressible system = {.options = *options};
    kf_solve_bytes bytes = {.start = 0.0};
    kf_incompressible_list_launches(scene, options, add_bytes, &bytes);
    kf_incompressible_outline(scene, &system);
    const bool alone = options->solver == KF_SOLVE_MULTIGRID, plain = options->solver == KF_SOLVE_CG;
    for (int level = 0; level < system.level_count; level++) {
        const int *cells = system.levels[level].cells;
        const double values = (level > 0 ? 0.0
                               : alone   ? ALONE
                                         : GRADIENTS) +
                              (plain ? 0.0 : CORRECTION),
                     words = (level > 0 ? 0.0 : 1.0) + (plain ? 0.0 : 1.0);
        bytes.least += (double)cells[0] * cells[1] * cells[2] *
                       (values * (double)system.real_bytes + words * sizeof(unsigned));
    }
    return bytes;
}

void kf_incompressible_project_start(kf_incompressible_builder *b) {
    project(b, b->system->velocity, 0, false);
}

void kf_incompressible_sum_load(kf_incompressible_builder *b) {
    const kf_incompressible *s = b->system;
    kf_incompressible_arguments a = s->arguments;
    a.target = kf_buffer_address(s->velocity);
    for (int half = 0; half < KF_HALVES; half++)
        a.pressures[half] = kf_buffer_address(s->pressures[half]);
    kf_incompressible_launch(b, KF_INCOMPRESSIBLE_SOLID, "load", NULL, &a, 0.0);
}

void kf_incompressible_sum_divergence(kf_incompressible_builder *b) {
    kf_incompressible_arguments a = b->system->arguments;
    a.target = kf_buffer_address(b->system->velocity);
    kf_incompressible_launch(b, KF_INCOMPRESSIBLE_STATE, "left_divergence", NULL, &a, 0.0);
}
