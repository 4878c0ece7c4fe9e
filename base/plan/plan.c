#include "base/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/backend/team/team.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* --- Building ------------------------------------------------------------------------------------------- */

kf_plan *kf_plan_create(kf_backend *backend, const kf_problem *problem, const kf_config *config,
                        const kf_plan_methods *methods, void *system) {
    kf_plan *plan = kf_allocate_zeroed(1, sizeof *plan);
    plan->backend = backend;
    if (backend != NULL) {
        const int all = kf_backend_device(backend)->parts;
        plan->parts = kf_backend_team(backend, &plan->part_count);
        plan->first_part = kf_backend_first_part(backend);
        plan->all_parts = all > 1 ? all : 1;
        kf_backend_near(backend, &plan->near_first, &plan->near_parts);
    }
    plan->problem = problem;
    plan->config = *config;
    plan->methods = methods;
    plan->system = system;
    return plan;
}

bool kf_plan_has_part(const kf_plan *plan, int number) {
    return number >= plan->first_part && number < plan->first_part + plan->part_count;
}

void kf_plan_on(kf_plan *plan, int part) {
    plan->part = part;
}

static void own_buffer(kf_plan *plan, kf_buffer *buffer) {
    plan->buffers = kf_grow(plan->buffers, plan->buffer_count, &plan->buffer_room, sizeof *plan->buffers);
    plan->buffers[plan->buffer_count++] = buffer;
}

kf_status kf_plan_buffer(kf_plan *plan, size_t bytes, kf_buffer **buffer, kf_error *error) {
    KF_TRY(kf_buffer_create(plan->parts[plan->part], bytes, buffer, error));
    own_buffer(plan, *buffer);
    return KF_OK;
}

kf_status kf_plan_buffer_of(kf_plan *plan, const void *data, size_t bytes, kf_buffer **buffer,
                            kf_error *error) {
    KF_TRY(kf_plan_buffer(plan, bytes, buffer, error));
    return kf_buffer_upload(*buffer, 0, data, bytes, error);
}

kf_status kf_plan_spread(kf_plan *plan, size_t bytes, size_t period, const size_t *ends, kf_buffer **buffer,
                         kf_error *error) {
    KF_TRY((plan->near_parts > plan->part_count ? kf_buffer_share : kf_buffer_spread)(
        plan->backend, bytes, period, ends, buffer, error));
    own_buffer(plan, *buffer);
    return KF_OK;
}

kf_status kf_plan_partial(kf_plan *plan, size_t bytes, size_t period, const size_t (*kept)[2], int count,
                          kf_buffer **buffer, kf_error *error) {
    KF_TRY(kf_buffer_partial(plan->parts[plan->part], bytes, period, kept, count, buffer, error));
    own_buffer(plan, *buffer);
    return KF_OK;
}

kf_status kf_plan_on_host(kf_plan *plan, size_t bytes, kf_buffer **buffer, kf_error *error) {
    KF_TRY(kf_buffer_on_host(plan->parts[plan->part], bytes, buffer, error));
    own_buffer(plan, *buffer);
    return KF_OK;
}

typedef struct kf_fresh {
    kf_buffer *buffer;
    int period, phase;
} kf_fresh;

void kf_plan_fresh(kf_plan *plan, kf_buffer *buffer, int period, int phase) {
    if (buffer == NULL) return;
    plan->fresh = kf_grow(plan->fresh, plan->fresh_count, &plan->fresh_room, sizeof *plan->fresh);
    plan->fresh[plan->fresh_count++] = (kf_fresh){buffer, period, phase};
}

kf_status kf_plan_spoil(const kf_plan *plan, kf_error *error) {
    /* One device spoils a buffer that several share. The others may still read it in the step before. */
    if (plan->fresh_count > 0) KF_TRY(kf_backend_synchronize(plan->backend, error));
    for (size_t i = 0; i < plan->fresh_count; i++) {
        const kf_fresh *fresh = &plan->fresh[i];
        if (plan->steps_done % (uint64_t)fresh->period != (uint64_t)fresh->phase) continue;
        KF_TRY(kf_buffer_fill(fresh->buffer, KF_SPOILT, error));
    }
    return plan->fresh_count > 0 ? kf_backend_synchronize(plan->backend, error) : KF_OK;
}

kf_status kf_plan_check_buffers(const kf_plan *plan, kf_error *error) {
    for (size_t i = 0; i < plan->buffer_count; i++)
        KF_TRY(kf_buffer_check(plan->buffers[i], error));
    return KF_OK;
}

kf_status kf_plan_module(kf_plan *plan, const kf_source *source, kf_module **module, kf_error *error) {
    plan->modules = kf_grow(plan->modules, plan->module_count, &plan->module_room, sizeof *plan->modules);
    plan->builds = kf_grow(plan->builds, plan->module_count, &plan->build_room, sizeof *plan->builds);
    KF_TRY(kf_module_load(plan->parts[plan->part], source, module, &plan->builds[plan->module_count], error));
    plan->modules[plan->module_count++] = *module;
    return KF_OK;
}

static void own_mark(kf_plan *plan, kf_mark *mark) {
    plan->marks = kf_grow(plan->marks, plan->mark_count, &plan->mark_room, sizeof *plan->marks);
    plan->marks[plan->mark_count++] = mark;
}

kf_status kf_plan_mark(kf_plan *plan, kf_mark **mark, kf_error *error) {
    KF_TRY(kf_mark_create(plan->parts[plan->part], mark, error));
    own_mark(plan, *mark);
    return KF_OK;
}

kf_status kf_plan_mark_near(kf_plan *plan, int part, kf_mark **mark, kf_error *error) {
    const int here = plan->near_first + part - plan->first_part;
    const bool own = here >= 0 && here < plan->part_count;
    kf_plan_on(plan, own ? here : 0);
    if (plan->near_parts == plan->part_count) return kf_plan_mark(plan, mark, error);
    KF_TRY(kf_mark_create_shared(plan->parts[plan->part], own, mark, error));
    own_mark(plan, *mark);
    return KF_OK;
}

static kf_item *append(kf_plan *plan, kf_item_kind kind, const char *name) {
    plan->items = kf_grow(plan->items, plan->item_count, &plan->item_room, sizeof *plan->items);
    kf_item *item = &plan->items[plan->item_count++];
    memset(item, 0, sizeof *item);
    item->kind = kind;
    item->part = plan->part;
    item->period = 1;
    kf_copy_text(item->name, sizeof item->name, name);
    return item;
}

kf_item *kf_plan_add_kernel(kf_plan *plan, const kf_launch *launch) {
    kf_item *item = append(plan, KF_ITEM_KERNEL, launch->name);
    item->kernel = kf_allocate(sizeof *launch);
    *item->kernel = *launch;
    return item;
}

kf_item *kf_plan_add_call(kf_plan *plan, const char *name, const kf_call *call) {
    kf_item *item = append(plan, KF_ITEM_CALL, name);
    item->call = *call;
    return item;
}

kf_item *kf_plan_add_copy(kf_plan *plan, const char *name, const kf_copy *copy) {
    kf_item *item = append(plan, KF_ITEM_COPY, name);
    item->copy = *copy;
    return item;
}

kf_item *kf_plan_add_signal(kf_plan *plan, const char *name, kf_mark *mark) {
    kf_item *item = append(plan, KF_ITEM_SIGNAL, name);
    item->mark = mark;
    return item;
}

kf_item *kf_plan_add_await(kf_plan *plan, const char *name, kf_mark *mark) {
    kf_item *item = append(plan, KF_ITEM_AWAIT, name);
    item->mark = mark;
    return item;
}

void kf_plan_hash(const kf_plan *plan, char hash[KF_HASH_HEX]) {
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    for (size_t i = 0; i < plan->module_count; i++)
        kf_hash_add_string(&hasher, plan->builds[i].hash);
    for (size_t i = 0; i < plan->item_count; i++)
        if (plan->items[i].kind == KF_ITEM_CALL) kf_hash_add_string(&hasher, plan->items[i].call.version);
    kf_hash_end(&hasher, hash);
}

/* --- The schedule --------------------------------------------------------------------------------------- */

bool kf_item_is_due(const kf_item *item, uint64_t step) {
    return step % (uint64_t)item->period == (uint64_t)item->phase;
}

bool kf_item_is_work(const kf_item *item) {
    return item->kind != KF_ITEM_SIGNAL && item->kind != KF_ITEM_AWAIT;
}

bool kf_item_is_empty(const kf_item *item) {
    return item->kind == KF_ITEM_KERNEL && kf_launch_is_empty(item->kernel);
}

kf_status kf_plan_walk(const kf_plan *plan, uint64_t step, kf_item_visit *visit, void *data,
                       kf_error *error) {
    for (size_t i = 0; i < plan->item_count; i++)
        if (kf_item_is_due(&plan->items[i], step)) KF_TRY(visit(data, &plan->items[i], error));
    return KF_OK;
}

int kf_plan_cycle(const kf_plan *plan) {
    int cycle = 1;
    for (size_t i = 0; i < plan->item_count; i++) {
        const int period = plan->items[i].period;
        int multiple = cycle;
        while (multiple % period != 0 && multiple <= KF_LONGEST_CYCLE)
            multiple += cycle;
        if (multiple <= KF_LONGEST_CYCLE) cycle = multiple;
    }
    return cycle;
}

/* --- Executing ------------------------------------------------------------------------------------------ */

static kf_status give(kf_stream *stream, const kf_item *item, kf_error *error) {
    switch (item->kind) {
    case KF_ITEM_KERNEL:
        return kf_stream_launch(stream, item->kernel, error);
    case KF_ITEM_CALL:
        return kf_stream_call(stream, item->call.enqueue, item->call.object, error);
    case KF_ITEM_COPY:
        return kf_stream_copy(stream, &item->copy, error);
    case KF_ITEM_SIGNAL:
        return kf_stream_signal(stream, item->mark, error);
    default:
        return kf_stream_await(stream, item->mark, error);
    }
}

kf_status kf_plan_execute(const kf_plan *plan, const kf_item *item, kf_error *error) {
    kf_status status = give(kf_backend_stream(plan->parts[item->part], KF_LANE_MAIN), item, error);
    if (status != KF_OK && item->kind != KF_ITEM_KERNEL) status = kf_fail_context(error, "%s", item->name);
    return kf_backend_of_part(plan->backend, item->part, status, error);
}

static kf_status execute(void *plan, const kf_item *item, kf_error *error) {
    return kf_plan_execute(plan, item, error);
}

/* --- Lanes ---------------------------------------------------------------------------------------------- */

/* The lanes of one part. */
typedef struct kf_plan_lanes {
    kf_stream *lanes[KF_LANES];
    kf_mark *forked, *joined;
    /* Work of that lane for which nothing has waited yet. */
    bool apart[KF_LANES];
} recording;

/* Orders two lanes: what one is given from now on comes after what the other has been given so far. */
static kf_status order(kf_stream *before, kf_mark *mark, kf_stream *after, kf_error *error) {
    KF_TRY(kf_stream_signal(before, mark, error));
    return kf_stream_await(after, mark, error);
}

static kf_status join(recording *r, kf_error *error) {
    for (int lane = 0; lane < KF_LANES; lane++) {
        if (r->apart[lane]) KF_TRY(order(r->lanes[lane], r->joined, r->lanes[KF_LANE_MAIN], error));
        r->apart[lane] = false;
    }
    return KF_OK;
}

static kf_status record_item(void *data, const kf_item *item, kf_error *error) {
    recording *r = (recording *)data + item->part;
    const int lane = item->lane;
    if (lane == KF_LANE_MAIN && item->joins) KF_TRY(join(r, error));
    if (lane != KF_LANE_MAIN && !r->apart[lane])
        KF_TRY(order(r->lanes[KF_LANE_MAIN], r->forked, r->lanes[lane], error));
    r->apart[lane] = lane != KF_LANE_MAIN;
    return give(r->lanes[lane], item, error);
}

static kf_status open_lanes(kf_plan *plan, int part, recording *r, kf_error *error) {
    *r = (recording){.apart = {false}};
    for (int lane = 0; lane < KF_LANES; lane++)
        r->lanes[lane] = kf_backend_stream(plan->parts[part], lane);
    kf_plan_on(plan, part);
    kf_status status = kf_plan_mark(plan, &r->forked, error);
    if (status == KF_OK) status = kf_plan_mark(plan, &r->joined, error);
    kf_plan_on(plan, 0);
    return status;
}

static kf_status give_item(void *data, const kf_item *item, kf_error *error) {
    const kf_plan *plan = data;
    return kf_backend_of_part(plan->backend, item->part, record_item(plan->lanes, item, error), error);
}

/* Runs a step of a team. The items of all parts, or of this process's part, go to their lanes in the same
 * order as in a graph. */
static kf_status step_of_team(kf_plan *plan, kf_error *error) {
    if (plan->lanes == NULL) {
        plan->lanes = kf_allocate_zeroed((size_t)plan->part_count, sizeof *plan->lanes);
        for (int part = 0; part < plan->part_count; part++)
            KF_TRY(open_lanes(plan, part, &plan->lanes[part], error));
    }
    KF_TRY(kf_plan_walk(plan, plan->steps_done, give_item, plan, error));
    for (int part = 0; part < plan->part_count; part++)
        KF_TRY(join(&plan->lanes[part], error));
    return KF_OK;
}

static kf_status one_step(kf_plan *plan, kf_error *error) {
    KF_TRY(plan->all_parts > 1 ? step_of_team(plan, error)
                               : kf_plan_walk(plan, plan->steps_done, execute, plan, error));
    plan->steps_done++;
    return KF_OK;
}

/* --- Graphs --------------------------------------------------------------------------------------------- */

static kf_status record_steps(const kf_plan *plan, recording *r, uint64_t first, int steps, kf_error *error) {
    for (int t = 0; t < steps; t++)
        KF_TRY(kf_plan_walk(plan, first + (uint64_t)t, record_item, r, error));
    return join(r, error);
}

static kf_status record_graph(kf_plan *plan, uint64_t first, int steps, kf_graph **graph, kf_error *error) {
    recording r;
    KF_TRY(open_lanes(plan, 0, &r, error));
    KF_TRY(kf_graph_begin(plan->backend, error));
    const kf_status status = record_steps(plan, &r, first, steps, error);
    if (status == KF_OK) return kf_graph_end(plan->backend, graph, error);
    (void)kf_graph_end(plan->backend, NULL, NULL);
    return status;
}

/* Returns whether a graph of that many steps does the right work from every multiple of its length. */
static bool repeats(const kf_plan *plan, int steps) {
    for (size_t i = 0; i < plan->item_count; i++)
        if (steps % plan->items[i].period != 0) return false;
    return true;
}

/* Returns the number of steps of the graph for a run, or -1 without a graph. */
static int steps_of_graph(const kf_plan *plan) {
    int steps = kf_plan_cycle(plan);
    /* This halves the number of graph launches. */
    if (steps == 1) steps = 2;
    const bool none = plan->graph_steps < 0 || plan->all_parts > 1;
    return none || steps > KF_LONGEST_GRAPH || !repeats(plan, steps) ? -1 : steps;
}

/* Returns how many cycles one graph contains when a cycle has few launches. A device waits longer between two
 * graphs than between two kernels of one graph. */
static int graphs_of_train(const kf_plan *plan, int steps) {
    enum { LAUNCHES = 64 };
    int launches = 0;
    for (size_t i = 0; i < plan->item_count; i++)
        launches += steps / plan->items[i].period;
    return launches > 0 && launches <= LAUNCHES ? LAUNCHES / launches : 1;
}

int kf_plan_stride(const kf_plan *plan) {
    const int steps = steps_of_graph(plan);
    return steps < 0 ? kf_plan_cycle(plan) : steps * graphs_of_train(plan, steps);
}

static kf_status make_graph(kf_plan *plan, kf_error *error) {
    const int steps = steps_of_graph(plan), stride = kf_plan_stride(plan);
    if (steps > 0) KF_TRY(record_graph(plan, 0, steps, &plan->graph, error));
    plan->train_steps = steps > 0 && stride > steps ? stride : 0;
    plan->graph_steps = steps;
    return KF_OK;
}

kf_status kf_plan_part_of_graph(kf_plan *plan, uint64_t first, int steps, kf_graph **graph, kf_error *error) {
    *graph = NULL;
    return steps_of_graph(plan) < 0 ? KF_OK : record_graph(plan, first, steps, graph, error);
}

/* Launches the longest graph that is not longer than the rest of the steps. */
static kf_status launch_graph(kf_plan *plan, uint64_t left, kf_error *error) {
    const bool train = plan->train_steps > 0 && left >= (uint64_t)plan->train_steps;
    if (train && plan->train == NULL) KF_TRY(record_graph(plan, 0, plan->train_steps, &plan->train, error));
    KF_TRY(kf_graph_launch(train ? plan->train : plan->graph, error));
    plan->steps_done += (uint64_t)(train ? plan->train_steps : plan->graph_steps);
    return KF_OK;
}

kf_status kf_plan_advance(kf_plan *plan, uint64_t steps, kf_error *error) {
    uint64_t end = plan->steps_done + steps;
    while (plan->steps_done < end) {
        uint64_t left = end - plan->steps_done;
        if (plan->graph_steps == 0 && left > 4) KF_TRY(make_graph(plan, error));
        if (plan->graph_steps > 0 && left >= (uint64_t)plan->graph_steps &&
            plan->steps_done % (uint64_t)plan->graph_steps == 0) {
            KF_TRY(launch_graph(plan, left, error));
        } else {
            KF_TRY(one_step(plan, error));
        }
    }
    return KF_OK;
}

kf_status kf_plan_initialise(kf_plan *plan, kf_error *error) {
    /* A device may write into memory that several devices share. It must not do so while others still run
     * steps. */
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    plan->steps_done = 0;
    return plan->methods->initialise(plan, error);
}

double kf_plan_time(const kf_plan *plan) {
    return plan->methods->time != NULL ? plan->methods->time(plan, plan->steps_done) : 0.0;
}

uint64_t kf_plan_window_step(const kf_plan *plan, int window, double shift) {
    return (uint64_t)((double)plan->window_steps * (window + shift) / plan->windows) % plan->window_steps;
}

kf_status kf_plan_snapshot(kf_plan *plan, kf_snapshot *snapshot, kf_error *error) {
    *snapshot = (kf_snapshot){.count = 0};
    KF_TRY(plan->methods->snapshot(plan, snapshot, error));
    snapshot->step = plan->steps_done;
    snapshot->time = kf_plan_time(plan);
    return kf_snapshot_check(snapshot, error);
}

kf_status kf_plan_record(kf_plan *plan, kf_records *records, kf_error *error) {
    *records = (kf_records){.step = plan->steps_done, .time = kf_plan_time(plan)};
    return plan->methods->record != NULL ? plan->methods->record(plan, records, error) : KF_OK;
}

kf_status kf_plan_watch(kf_plan *plan, kf_error *error) {
    return plan->methods->watch != NULL ? plan->methods->watch(plan, error) : KF_OK;
}

/* Frees a plan and all that it made, after its devices have ended their work. */
void kf_plan_free(kf_plan *plan) {
    if (plan == NULL) return;
    for (int part = 0; part < plan->part_count; part++)
        (void)kf_backend_synchronize(plan->parts[part], NULL);
    kf_graph_free(plan->graph);
    kf_graph_free(plan->train);
    if (plan->methods != NULL) plan->methods->free(plan);
    for (size_t i = 0; i < plan->item_count; i++)
        if (plan->items[i].kind == KF_ITEM_KERNEL) free(plan->items[i].kernel);
    for (size_t i = 0; i < plan->mark_count; i++)
        kf_mark_free(plan->marks[i]);
    for (size_t i = 0; i < plan->buffer_count; i++)
        kf_buffer_free(plan->buffers[i]);
    for (size_t i = 0; i < plan->module_count; i++)
        kf_module_free(plan->modules[i]);
    free(plan->items);
    free(plan->marks);
    free(plan->buffers);
    free(plan->fresh);
    free(plan->modules);
    free(plan->builds);
    free(plan->lanes);
    free(plan);
}

kf_status kf_plan_built(kf_plan *made, kf_status status, kf_plan **plan) {
    const bool built = status == KF_OK;
    if (built)
        *plan = made;
    else
        kf_plan_free(made);
    return status;
}
