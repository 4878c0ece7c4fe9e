/* The kernels of a time step of each plan. */
#include <string.h>

#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"

enum { GPU_BLOCK = 128, CPU_BLOCK = 1024 };

typedef struct builder {
    kf_plan *plan;
    const kf_d2q9 *system;
    /* Marks of a team, by the number of the part among all processes: a part's step, and the boundary
     * conditions. For a slab, also the end of the rows beside its cuts. */
    kf_mark *ended[KF_MOST_PARTS], *bounded, *outer_done;
    kf_error *error;
    kf_status status;
} builder;

static bool on_gpu(const kf_plan *plan) {
    return kf_device_is_gpu(kf_backend_device(plan->backend));
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

/* Appends to the steps of one parity. */
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
    arguments.backwards = b->system->options.alternate && parity == 1;
    kf_launch launch;
    kf_launch_set(&launch, name, function, block, &arguments, sizeof arguments);
    launch.overlaps = b->system->options.overlap;
    append_launch(b->plan, parity, 1, &launch, bytes);
}

static int line_threads(const kf_plan *plan) {
    return on_gpu(plan) ? GPU_BLOCK : CPU_BLOCK;
}

/* Returns the items of the boundary conditions of the rows that the geometry is for. Half-way bounce back
 * at solid nodes is part of the boundary conditions, full-way of the collision. */
static int boundary_items(const kf_d2q9 *system, kf_d2q9_arguments *arguments) {
    arguments->first_row = system->geometry.first_row;
    arguments->rows = system->geometry.rows;
    if (arguments->links != NULL) arguments->links += system->first_link;
    return 2 * (arguments->nodes[0] + system->geometry.rows) +
           (system->options.full_way ? 0 : system->own_links);
}

static void append_boundaries(builder *b, int parity, int grid) {
    kf_d2q9_arguments arguments = from_to(b->system, parity, grid, grid);
    if (arguments.open_count > 0)
        append(b, parity, KF_D2Q9_BOUNDARY, "open_boundary", arguments.open_count, 1, line_threads(b->plan),
               arguments, 0);
    const int items = boundary_items(b->system, &arguments);
    append(b, parity, KF_D2Q9_BOUNDARY, "boundary", items, 1, line_threads(b->plan), arguments, 0);
}

/* The rows of a part in a pass: all, or for a slab those that are sent, or the others. */
typedef enum row_share { ALL_ROWS, OUTER_ROWS, INNER_ROWS } row_share;

typedef struct flow_pass {
    const char *name;
    /* Values: populations read and written per node. */
    int from, to, values;
    bool flags;
} flow_pass;

static void append_rows(builder *b, int parity, const flow_pass *pass, int first, int end) {
    const kf_d2q9_options *o = &b->system->options;
    const int *n = b->system->arguments.nodes;
    const double bytes = pass->values * (double)b->system->store_bytes +
                         (pass->flags && o->full_way ? 1.0 : 0.0) + (o->folded_boundary ? 1.0 : 0.0);
    kf_d2q9_arguments arguments = from_to(b->system, parity, pass->from, pass->to);
    if (first >= end) return;
    if (o->folded_boundary)
        arguments.first_row = first; /* it looks where the domain ends */
    else
        arguments.origin += (long long)arguments.row_pitch * first;
    append(b, parity, KF_D2Q9_FLOW, pass->name, (n[0] + o->nodes_per_thread - 1) / o->nodes_per_thread,
           end - first, o->threads, arguments, bytes * b->plan->updates * (end - first) / n[1]);
}

static void append_part(builder *b, int parity, const flow_pass *pass, int part, row_share share) {
    const int number = b->plan->first_part + part, first = kf_d2q9_first_row(b->plan, number),
              end = kf_d2q9_first_row(b->plan, number + 1);
    const bool below = part == 0 && b->system->sides[KF_D2Q9_BELOW].packed != NULL,
               above = part == b->plan->part_count - 1 && b->system->sides[KF_D2Q9_ABOVE].packed != NULL;
    const int low = first + (below ? KF_D2Q9_BESIDE : 0), others = end - (above ? KF_D2Q9_BESIDE : 0),
              high = others > low ? others : low;
    if (share == ALL_ROWS) append_rows(b, parity, pass, first, end);
    if (share == INNER_ROWS) append_rows(b, parity, pass, low, high);
    if (share != OUTER_ROWS) return;
    append_rows(b, parity, pass, first, low);
    append_rows(b, parity, pass, high, end);
}

static void append_nodes(builder *b, int parity, row_share share, const flow_pass *pass) {
    for (int part = 0; part < b->plan->part_count; part++) {
        kf_plan_on(b->plan, part);
        append_part(b, parity, pass, part, share);
    }
    kf_plan_on(b->plan, 0);
}

/* --- Teams: slabs of rows, each written by its part; the first does what is not the flow's, for all ------
 */

static void schedule(int parity, kf_item *item) {
    item->period = 2;
    item->phase = parity;
}

static int near_end(const builder *b) {
    return b->plan->near_first + b->plan->near_parts;
}

/* Signals that the part of this number has done its work so far. For another process's part the signal is
 * only counted. */
static void append_signal(builder *b, int parity, int number, const char *name, kf_mark *mark) {
    if (b->status != KF_OK || b->plan->all_parts == 1) return;
    kf_plan_on(b->plan, kf_plan_has_part(b->plan, number) ? number - b->plan->first_part : 0);
    kf_item *item = kf_plan_add_signal(b->plan, name, mark);
    schedule(parity, item);
    item->joins = b->system->options.slab;
    kf_plan_on(b->plan, 0);
}

static void append_await(builder *b, int parity, int number, const char *name, kf_mark *mark) {
    if (b->status != KF_OK || b->plan->all_parts == 1 || !kf_plan_has_part(b->plan, number)) return;
    kf_plan_on(b->plan, number - b->plan->first_part);
    schedule(parity, kf_plan_add_await(b->plan, name, mark));
    kf_plan_on(b->plan, 0);
}

static void end_parts(builder *b, int parity) {
    for (int part = b->plan->near_first; part < near_end(b); part++)
        append_signal(b, parity, part, "step_ended", b->ended[part]);
}

/* Makes the first part wait for all others. */
static void await_parts(builder *b, int parity) {
    for (int part = b->plan->near_first + 1; part < near_end(b); part++)
        append_await(b, parity, b->plan->near_first, "step_ended", b->ended[part]);
}

/* Begins the parts' work. Before the flow each waits for its neighbours, or for the boundary conditions,
 * which come after all parts. */
static void begin_parts(builder *b, int parity, int grid) {
    const int first = b->plan->near_first, parts = b->plan->near_parts;
    /* Parts at a slab's ends wait for each other, because the first takes what comes to both. */
    const bool slab = b->system->options.slab,
               ring = slab || kf_plan_scene(b->plan)->faces[KF_YMIN] == KF_PERIODIC;
    /* Messages that a slab took lie where they were sent from; folded, what is pushed was put where it
     * arrives. */
    const bool taken = slab && kf_d2q9_scheme(b->system, (uint64_t)parity) == KF_SCHEME_PUSHED;
    if (!b->system->options.folded_boundary || taken) {
        await_parts(b, parity);
        if (kf_d2q9_is_first(b->plan)) append_boundaries(b, parity, grid);
        append_signal(b, parity, first, "boundaries_set", b->bounded);
        for (int part = first + 1; part < first + parts; part++)
            append_await(b, parity, part, "boundaries_set", b->bounded);
        return;
    }
    for (int part = 0; part < parts && parts > 1; part++) {
        const int below = (part + parts - 1) % parts, above = (part + 1) % parts;
        const bool waits = part > 0 || ring; /* for the one below */
        if (waits) append_await(b, parity, first + part, "step_ended", b->ended[first + below]);
        if ((part < parts - 1 || ring) && !(waits && above == below))
            append_await(b, parity, first + part, "step_ended", b->ended[first + above]);
    }
}

static void make_marks(builder *b) {
    const int first = b->plan->near_first, parts = b->plan->near_parts;
    if (b->plan->all_parts == 1) return;
    for (int near = 0; near < parts && b->status == KF_OK; near++)
        b->status = kf_plan_mark_near(b->plan, near, &b->ended[first + near], b->error);
    if (b->status == KF_OK) b->status = kf_plan_mark_near(b->plan, 0, &b->bounded, b->error);
    kf_plan_on(b->plan, b->plan->part_count - 1);
    if (b->status == KF_OK && b->system->options.slab)
        b->status = kf_plan_mark(b->plan, &b->outer_done, b->error);
    kf_plan_on(b->plan, 0);
}

/* Appends the passes over nodes of step p of two, by the config's plan. */
static void append_passes(builder *b, int p, row_share share) {
    switch (b->system->options.plan) {
    case KF_D2Q9_SEPARATE:
        append_nodes(b, p, share, &(flow_pass){"stream", p, 1 - p, 18, false});
        append_nodes(b, p, share, &(flow_pass){"collide", 1 - p, 1 - p, 18, true});
        break;
    case KF_D2Q9_PUSH:
        append_nodes(b, p, share, &(flow_pass){"collide_push", p, 1 - p, 18, true});
        break;
    case KF_D2Q9_IN_PLACE:
        append_nodes(b, p, share,
                     &(flow_pass){p == 0 ? "collide_neighbours" : "collide_here", 0, 0, 18, true});
        break;
    case KF_D2Q9_TOELKE:
        append_nodes(b, p, share, &(flow_pass){"lb_coll_prop", p, 1 - p, 18, true});
        break;
    default:
        append_nodes(b, p, share, &(flow_pass){"stream_collide", p, 1 - p, 18, true});
        break;
    }
}

/* Appends the exchange of plan toelke after all parts have ended: what leaves a block may lie in a row of
 * the part beside it, and in one of those beside a slab. */
static void append_toelke_exchange(builder *b, int p) {
    end_parts(b, p);
    await_parts(b, p);
    if (!kf_d2q9_is_first(b->plan)) return;
    kf_d2q9_arguments arguments = from_to(b->system, p, p, 1 - p);
    arguments.origin += (long long)arguments.row_pitch * b->system->geometry.first_row;
    append(b, p, KF_D2Q9_FLOW, "lb_exchange", b->system->geometry.rows + 2, 1, b->system->options.threads,
           arguments, 0);
}

/* Makes the first part wait for the outer rows. It packs the results of the last part, too. */
static void await_outer_rows(builder *b, int p, int lane) {
    if (b->status != KF_OK || b->plan->part_count == 1) return;
    kf_plan_on(b->plan, b->plan->part_count - 1);
    schedule(p, kf_plan_add_signal(b->plan, "rows_done", b->outer_done));
    kf_plan_on(b->plan, 0);
    kf_item *item = kf_plan_add_await(b->plan, "rows_done", b->outer_done);
    schedule(p, item);
    item->lane = lane;
}

/* Appends a step of a slab: first the rows that others have copies of, and while these travel the others. */
static void append_slab(builder *b, int p) {
    const bool early = b->system->options.plan != KF_D2Q9_TOELKE, gpu = on_gpu(b->plan);
    const int lane = early ? KF_LANE_ASIDE : KF_LANE_MAIN;
    append_passes(b, p, early ? OUTER_ROWS : ALL_ROWS);
    if (!early) append_toelke_exchange(b, p);
    await_outer_rows(b, p, lane);
    if (b->status == KF_OK) b->status = kf_d2q9_append_send(b->plan, b->system, p, lane, b->error);
    if (!gpu) kf_d2q9_append_post(b->plan, b->system, p, lane);
    if (early) append_passes(b, p, INNER_ROWS);
    /* It waits for the packed data. */
    if (gpu) kf_d2q9_append_post(b->plan, b->system, p, lane);
    if (b->status == KF_OK) b->status = kf_d2q9_append_take(b->plan, b->system, p, lane, b->error);
}

static void make_step(builder *b, int p) {
    begin_parts(b, p, b->system->options.plan == KF_D2Q9_IN_PLACE ? 0 : p);
    if (b->system->options.slab) {
        append_slab(b, p);
    } else {
        append_passes(b, p, ALL_ROWS);
        if (b->system->options.plan == KF_D2Q9_TOELKE) {
            append_toelke_exchange(b, p);
            return;
        }
    }
    end_parts(b, p);
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

/* Makes a launch of several steps. Their number is odd, so that the roles of the grids follow the parity of
 * the steps done. */
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
    arguments.extent[0] = boundary_items(system, &arguments);
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
