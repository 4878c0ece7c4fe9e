/* The kernels of a time step of each plan. */
#include <string.h>

#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"

enum { GPU_BLOCK = 128, CPU_BLOCK = 1024 };

typedef struct builder {
    kf_plan *plan;
    const kf_d2q9 *system;
    /* Of a team, by numbers among all processes' parts: a part's step, and the boundary conditions. */
    kf_mark *ended[KF_MOST_PARTS], *bounded;
    kf_error *error;
    kf_status status;
} builder;

static bool on_gpu(const kf_plan *plan) {
    return strcmp(kf_backend_device(plan->backend)->backend, "cuda") == 0;
}

int kf_d2q9_grid(const kf_d2q9 *system, uint64_t steps) {
    return system->options.plan == KF_D2Q9_IN_PLACE ? 0 : (int)(steps % 2);
}

int kf_d2q9_scheme(const kf_d2q9 *system, uint64_t steps) {
    if (system->options.plan == KF_D2Q9_PUSH || system->options.plan == KF_D2Q9_TOELKE)
        return KF_SCHEME_PUSHED;
    if (system->options.plan == KF_D2Q9_IN_PLACE) return steps % 2 == 0 ? KF_SCHEME_SWAP : KF_SCHEME_PUSHED;
    return KF_SCHEME_HERE;
}

static kf_d2q9_arguments from_to(const kf_d2q9 *system, int parity, int from, int to) {
    kf_d2q9_arguments arguments = system->arguments;
    arguments.scheme = kf_d2q9_scheme(system, (uint64_t)parity);
    arguments.source = kf_buffer_address(system->populations[from]);
    arguments.target = kf_buffer_address(system->populations[to]);
    return arguments;
}

/* Appends a launch to the steps of one parity, or to the first of each so many of them. */
static void append_launch(kf_plan *plan, int parity, int steps, const kf_launch *launch, double bytes) {
    kf_item *item = kf_plan_add_kernel(plan, launch);
    item->period = 2 * steps;
    item->phase = parity * steps;
    item->bytes = bytes;
}

/* To the steps of one parity. */
static void append(builder *b, int parity, kf_d2q9_source source, const char *name, int extent_x,
                   int extent_y, int threads, kf_d2q9_arguments arguments, double bytes) {
    kf_function *function;
    const int block[3] = {threads, 1, 1};
    if (b->status != KF_OK) return;
    kf_module *module = source == KF_D2Q9_FLOW ? b->system->flow[b->plan->part] : b->system->modules[source];
    b->status = kf_module_function(module, name, &function, b->error);
    if (b->status != KF_OK) return;
    arguments.extent[0] = extent_x;
    arguments.extent[1] = extent_y;
    arguments.extent[2] = 1;
    kf_launch launch;
    kf_launch_set(&launch, name, function, block, &arguments, sizeof arguments);
    launch.overlaps = b->system->options.overlap;
    append_launch(b->plan, parity, 1, &launch, bytes);
}

static int line_threads(const kf_plan *plan) {
    return on_gpu(plan) ? GPU_BLOCK : CPU_BLOCK;
}

/* Half-way bounce back at solid nodes is part of the boundary conditions, full-way of the collision. */
static int boundary_items(const kf_d2q9 *system) {
    const int *n = system->arguments.nodes;
    return 2 * (n[0] + n[1]) + (system->options.full_way ? 0 : system->arguments.link_count);
}

static void append_boundaries(builder *b, int parity, int grid) {
    kf_d2q9_arguments arguments = from_to(b->system, parity, grid, grid);
    if (arguments.open_count > 0)
        append(b, parity, KF_D2Q9_BOUNDARY, "open_boundary", arguments.open_count, 1, line_threads(b->plan),
               arguments, 0);
    append(b, parity, KF_D2Q9_BOUNDARY, "boundary", boundary_items(b->system), 1, line_threads(b->plan),
           arguments, 0);
}

/* values: populations read and written a node. */
static void append_nodes(builder *b, int parity, const char *name, int from, int to, int values, bool flags) {
    const kf_d2q9_options *o = &b->system->options;
    const int *n = b->system->arguments.nodes;
    const double bytes = values * (double)b->system->store_bytes + (flags && o->full_way ? 1.0 : 0.0) +
                         (o->folded_boundary ? 1.0 : 0.0);
    for (int part = 0; part < b->plan->part_count; part++) {
        const int number = b->plan->first_part + part, first = kf_d2q9_first_row(b->plan, number),
                  rows = kf_d2q9_first_row(b->plan, number + 1) - first;
        kf_d2q9_arguments arguments = from_to(b->system, parity, from, to);
        if (o->folded_boundary)
            arguments.first_row = first; /* it looks where the domain ends */
        else
            arguments.origin += (long long)arguments.row_pitch * first;
        kf_plan_on(b->plan, part);
        append(b, parity, KF_D2Q9_FLOW, name, (n[0] + o->nodes_per_thread - 1) / o->nodes_per_thread, rows,
               o->threads, arguments, bytes * b->plan->updates * rows / n[1]);
    }
    kf_plan_on(b->plan, 0);
}

/* --- teams: slabs of rows, each written by its part; the first does what is not the flow's, for all ------
 */

static void schedule(int parity, kf_item *item) {
    item->period = 2;
    item->phase = parity;
}

static bool is_own(const builder *b, int number) {
    return number >= b->plan->first_part && number < b->plan->first_part + b->plan->part_count;
}

/* When the part of that number has done what it was given so far; of another process's it is only counted. */
static void append_signal(builder *b, int parity, int number, const char *name, kf_mark *mark) {
    if (b->status != KF_OK || b->plan->all_parts == 1) return;
    kf_plan_on(b->plan, is_own(b, number) ? number - b->plan->first_part : 0);
    schedule(parity, kf_plan_add_signal(b->plan, name, mark));
    kf_plan_on(b->plan, 0);
}

static void append_await(builder *b, int parity, int number, const char *name, kf_mark *mark) {
    if (b->status != KF_OK || b->plan->all_parts == 1 || !is_own(b, number)) return;
    kf_plan_on(b->plan, number - b->plan->first_part);
    schedule(parity, kf_plan_add_await(b->plan, name, mark));
    kf_plan_on(b->plan, 0);
}

static void end_parts(builder *b, int parity) {
    for (int part = 0; part < b->plan->all_parts; part++)
        append_signal(b, parity, part, "step_ended", b->ended[part]);
}

/* The first waits for all others. */
static void await_parts(builder *b, int parity) {
    for (int part = 1; part < b->plan->all_parts; part++)
        append_await(b, parity, 0, "step_ended", b->ended[part]);
}

/* Before the flow: each for those beside it, or for the boundary conditions, which come after all. */
static void begin_parts(builder *b, int parity, int grid) {
    const int parts = b->plan->all_parts;
    const bool ring = kf_plan_scene(b->plan)->faces[KF_YMIN] == KF_PERIODIC;
    if (!b->system->options.folded_boundary) {
        await_parts(b, parity);
        if (b->plan->first_part == 0) append_boundaries(b, parity, grid);
        append_signal(b, parity, 0, "boundaries_set", b->bounded);
        for (int part = 1; part < parts; part++)
            append_await(b, parity, part, "boundaries_set", b->bounded);
        return;
    }
    for (int part = 0; part < parts; part++) {
        const int below = (part + parts - 1) % parts, above = (part + 1) % parts;
        const bool waits = part > 0 || ring; /* for the one below */
        if (waits) append_await(b, parity, part, "step_ended", b->ended[below]);
        if ((part < parts - 1 || ring) && !(waits && above == below))
            append_await(b, parity, part, "step_ended", b->ended[above]);
    }
}

static void make_marks(builder *b) {
    const int parts = b->plan->all_parts;
    for (int part = 0; parts > 1 && part < parts && b->status == KF_OK; part++)
        b->status = kf_plan_mark_near(b->plan, part, &b->ended[part], b->error);
    if (parts > 1 && b->status == KF_OK) b->status = kf_plan_mark_near(b->plan, 0, &b->bounded, b->error);
    kf_plan_on(b->plan, 0);
}

static void make_step(builder *b, int p) {
    const kf_d2q9_options *o = &b->system->options;
    const int *n = b->system->arguments.nodes;
    begin_parts(b, p, o->plan == KF_D2Q9_IN_PLACE ? 0 : p);
    switch (o->plan) {
    case KF_D2Q9_SEPARATE:
        append_nodes(b, p, "stream", p, 1 - p, 18, false);
        append_nodes(b, p, "collide", 1 - p, 1 - p, 18, true);
        break;
    case KF_D2Q9_PUSH:
        append_nodes(b, p, "collide_push", p, 1 - p, 18, true);
        break;
    case KF_D2Q9_IN_PLACE:
        append_nodes(b, p, p == 0 ? "collide_neighbours" : "collide_here", 0, 0, 18, true);
        break;
    case KF_D2Q9_TOELKE:
        append_nodes(b, p, "lb_coll_prop", p, 1 - p, 18, true);
        end_parts(b, p);
        await_parts(b, p); /* what leaves a block may lie in a row of the part beside it */
        if (b->plan->first_part == 0)
            append(b, p, KF_D2Q9_FLOW, "lb_exchange", n[1] + 2, 1, o->threads,
                   from_to(b->system, p, p, 1 - p), 0);
        break;
    default:
        append_nodes(b, p, "stream_collide", p, 1 - p, 18, true);
        break;
    }
    if (o->plan != KF_D2Q9_TOELKE) end_parts(b, p);
}

kf_status kf_d2q9_temporal_launch(const kf_d2q9 *system, int levels, const void *source, void *target,
                                  kf_launch *launch, kf_error *error) {
    const kf_d2q9_options *o = &system->options;
    const int block[3] = {o->threads, 1, 1}, width = kf_d2q9_tile_width(o);
    kf_function *function;
    KF_TRY(kf_module_function(system->modules[KF_D2Q9_FLOW], "temporal", &function, error));
    kf_d2q9_arguments arguments = system->arguments;
    arguments.extent[0] = (arguments.nodes[0] + width - 1) / width * o->threads;
    arguments.extent[1] = (arguments.nodes[1] + o->tile_rows - 1) / o->tile_rows;
    arguments.extent[2] = 1;
    arguments.levels = levels;
    arguments.tile_rows = o->tile_rows;
    arguments.source = (void *)source;
    arguments.target = target;
    kf_launch_set(launch, "temporal", function, block, &arguments, sizeof arguments);
    return KF_OK;
}

/* An odd number of steps a launch, so that the grids' roles follow the parity of the steps done. */
static kf_status make_temporal(kf_plan *plan, const kf_d2q9 *system, kf_error *error) {
    const double bytes = (18.0 * (double)system->store_bytes + 1.0) * plan->updates;
    for (int p = 0; p < 2; p++) {
        kf_launch launch;
        KF_TRY(kf_d2q9_temporal_launch(system, system->options.steps_per_launch,
                                       kf_buffer_address(system->populations[p]),
                                       kf_buffer_address(system->populations[1 - p]), &launch, error));
        append_launch(plan, p, system->options.steps_per_launch, &launch, bytes);
    }
    return KF_OK;
}

kf_status kf_d2q9_open_launch(const kf_plan *plan, const kf_d2q9 *system, kf_d2q9_arguments arguments,
                              kf_launch *launch, kf_error *error) {
    const int block[3] = {line_threads(plan), 1, 1};
    kf_function *function;
    KF_TRY(kf_module_function(system->modules[KF_D2Q9_BOUNDARY], "open_boundary", &function, error));
    arguments.extent[0] = arguments.open_count;
    arguments.extent[1] = arguments.extent[2] = 1;
    kf_launch_set(launch, "open_boundary", function, block, &arguments, sizeof arguments);
    return KF_OK;
}

kf_status kf_d2q9_boundary_launch(const kf_plan *plan, const kf_d2q9 *system, kf_d2q9_arguments arguments,
                                  kf_launch *launch, kf_error *error) {
    const int block[3] = {line_threads(plan), 1, 1};
    kf_function *function;
    KF_TRY(kf_module_function(system->modules[KF_D2Q9_BOUNDARY], "boundary", &function, error));
    arguments.extent[0] = boundary_items(system);
    arguments.extent[1] = arguments.extent[2] = 1;
    kf_launch_set(launch, "boundary", function, block, &arguments, sizeof arguments);
    return KF_OK;
}

kf_status kf_d2q9_make_launches(kf_plan *plan, kf_d2q9 *system, kf_error *error) {
    if (system->options.plan == KF_D2Q9_TEMPORAL) return make_temporal(plan, system, error);
    builder b = {.plan = plan, .system = system, .error = error, .status = KF_OK};
    make_marks(&b);
    for (int p = 0; p < 2; p++)
        make_step(&b, p);
    return b.status;
}
