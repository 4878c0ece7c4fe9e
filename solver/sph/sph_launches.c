/* The items of a time step. */
#include <string.h>

#include "base/util/text.h"
#include "solver/sph/sph.h"

/* KF_THREADS of sort.cu. */
enum { CPU_BLOCK = 256, SORT_THREADS = 256 };

/* Launches are items of a plan's steps, or are done at once. */
typedef struct builder {
    kf_plan *plan;
    const kf_sph *system;
    kf_error *error;
    kf_status status;
    bool now;
    int period, phase;
    /* The two sets of particles are swapped. */
    bool swapped;
    /* This is the last step of a list. */
    bool list_ends;
    /* The number of steps for which the list is used after the coming one. */
    int list_left;
    /* Passed to kernels. */
    int first;
    /* The arguments of one part, or NULL for the common ones. */
    const kf_sph_arguments *given;
} builder;

static bool on_gpu(const kf_plan *plan) {
    return kf_device_is_gpu(kf_backend_device(plan->backend));
}

static kf_sph_arguments arguments_for(const builder *b, int part) {
    kf_sph_arguments a = kf_sph_of_part(b->system, part, b->swapped);
    if (b->list_ends) a.list_position = NULL;
    a.list_left = b->list_left;
    a.first = b->first;
    return a;
}

static kf_item *schedule(const builder *b, kf_item *item) {
    item->period = b->period;
    item->phase = b->phase;
    return item;
}

/* Appends the launch of one part. `bytes` is what it moves. */
static kf_status append_on(builder *b, int part, kf_sph_source source, const char *name, const int extent[2],
                           int threads, double bytes) {
    kf_sph_arguments arguments = b->given != NULL ? *b->given : arguments_for(b, part);
    const int block[3] = {threads, 1, 1};
    kf_function *function;
    kf_launch launch;
    KF_TRY(kf_module_function(b->system->parts[part].modules[source], name, &function, b->error));
    arguments.extent[0] = extent[0];
    arguments.extent[1] = extent[1];
    arguments.extent[2] = 1;
    kf_launch_set(&launch, name, function, block, &arguments, sizeof arguments);
    if (b->now) {
        const kf_status status = kf_backend_launch(b->plan->parts[part], &launch, b->error);
        return kf_backend_of_part(b->plan->backend, part, status, b->error);
    }
    kf_plan_on(b->plan, part);
    kf_item *item = schedule(b, kf_plan_add_kernel(b->plan, &launch));
    item->bytes = bytes;
    kf_plan_on(b->plan, 0);
    return KF_OK;
}

/* Appends a launch on every part; `bytes` is what it moves for a particle. */
static void append_wide(builder *b, kf_sph_source source, const char *name, int threads, long long items,
                        long long rows, double bytes) {
    const int extent[2] = {(int)items, (int)rows};
    const double particles = (double)b->system->scene->count / b->plan->all_parts;
    for (int part = 0; part < b->plan->part_count && b->status == KF_OK; part++)
        b->status = append_on(b, part, source, name, extent, threads, bytes * particles);
}

static void append(builder *b, kf_sph_source source, const char *name, int threads, long long items,
                   double bytes) {
    append_wide(b, source, name, threads, items, 1, bytes);
}

/* Slots of particles that a part has. */
static int slots(const builder *b) {
    return b->system->parts[0].arguments.count;
}

static void append_sums(builder *b, const char *name, double bytes) {
    const kf_sph_options *o = &b->system->options;
    append(b, KF_SPH_SCHEME, name, on_gpu(b->plan) ? o->threads : CPU_BLOCK, (long long)o->lanes * slots(b),
           bytes);
}

/* ---- Teams ---- */

/* Makes later launches of single parts wait for the earlier launches of all parts. */
static void meet(builder *b) {
    kf_plan *plan = b->plan;
    if (b->status != KF_OK || plan->all_parts == 1 || b->system->packs) return;
    if (b->now) {
        b->status = kf_sph_meet(plan, b->error);
        return;
    }
    const int own = plan->first_part - plan->near_first;
    for (int near = 0; near < plan->near_parts; near++) {
        const bool here = near >= own && near < own + plan->part_count;
        kf_plan_on(plan, here ? near - own : 0);
        schedule(b, kf_plan_add_signal(plan, "part_ready", b->system->ready[near]));
    }
    for (int part = 0; part < plan->part_count; part++)
        for (int near = 0; near < plan->near_parts; near++) {
            if (near == own + part) continue;
            kf_plan_on(plan, part);
            schedule(b, kf_plan_add_await(plan, "part_ready", b->system->ready[near]));
        }
    kf_plan_on(plan, 0);
}

/* Appends a call of the host between the earlier work of all parts and their later work. */
static void append_call(builder *b, const char *name, kf_call_function *enqueue, void *object) {
    kf_call call = {.enqueue = enqueue, .object = object};
    if (b->status != KF_OK) return;
    kf_copy_text(call.version, sizeof call.version, kf_sph_transport_version(b->system->transport));
    if (b->now)
        b->status = enqueue(object, kf_backend_stream(b->plan->backend, KF_LANE_MAIN), b->error);
    else
        schedule(b, kf_plan_add_call(b->plan, name, &call));
}

static void append_parcels(builder *b, int values, bool counts) {
    append_call(b, "carry_parcels", kf_sph_carry, kf_sph_parcels_of(b->system->transport, values, counts));
}

/* Returns the number of values in a row of copies, as kf_copied of kernels/sph/parcels.h. */
static int copied(int what) {
    return ((what & KF_SPH_COPY_MOTION) != 0 ? 8 : 0) +
           ((what & KF_SPH_COPY_STRESS) != 0 ? KF_SPH_STRESSES : 0) +
           ((what & KF_SPH_COPY_VISCOSITY) != 0 ? 1 : 0);
}

/* Appends the copies of a sum's results to the neighbouring parts, after all parts have reached this point.
 */
static void append_copies(builder *b, int what, bool waits) {
    enum { MOST = 1 << 18 };
    const long long n = slots(b) < MOST ? slots(b) : MOST;
    if (b->plan->all_parts == 1) return;
    b->first = what;
    if (b->system->packs) {
        append_wide(b, KF_SPH_SORT, "pack_copies", SORT_THREADS, n, b->plan->all_parts, 0.0);
        append_parcels(b, copied(what), false);
        append_wide(b, KF_SPH_SORT, "unpack_copies", SORT_THREADS, n, b->plan->all_parts, 0.0);
    } else {
        if (waits) meet(b);
        append(b, KF_SPH_SORT, "copy_others", SORT_THREADS, n, 0.0);
    }
    b->first = 0;
}

static bool is_paired(const kf_sph *system) {
    return system->stress && system->scene->scheme == KF_SCHEME_MODERN &&
           system->scene->material.branch != KF_BRANCH_ELASTIC;
}

/* Bytes of a particle's state, as the sort moves it and the integration writes it. */
static double state_bytes(const kf_sph *system) {
    return 3.0 * 16.0 + 4.0 + (system->stress ? 4.0 * KF_SPH_STRESSES : 0.0);
}

/* Appends the scan: each cell's first particle, from the number in each cell. */
static void append_scan(builder *b) {
    const int cell_count = b->system->grid.cell_count;
    const long long groups = (cell_count + KF_SPH_SCAN) / KF_SPH_SCAN;
    const double cells = 4.0 * (double)cell_count / (double)b->system->scene->count;
    append(b, KF_SPH_SORT, "sum_cells", SORT_THREADS, groups * SORT_THREADS, cells);
    append(b, KF_SPH_SORT, "sum_groups", SORT_THREADS, SORT_THREADS, 0.0);
    append(b, KF_SPH_SORT, "begin_cells", SORT_THREADS, groups * SORT_THREADS, 3.0 * cells);
}

enum { TAKERS = 1 << 16 };

/* Has the particles that a part keeps of others come to it, and counts them: kernels/sph/parcels.h. */
static void append_arrivals(builder *b) {
    const kf_sph *system = b->system;
    append(b, KF_SPH_SORT, "count_parcels", SORT_THREADS, slots(b), 8.0);
    append(b, KF_SPH_SORT, "begin_parcels", 32, 1, 0.0);
    append(b, KF_SPH_SORT, "pack_parcels", SORT_THREADS, slots(b), 8.0);
    append_parcels(b, kf_sph_row(system->stress), true);
    append(b, KF_SPH_SORT, "count_arrivals", SORT_THREADS, system->room < TAKERS ? system->room : TAKERS,
           0.0);
}

/* Weighs planes every so many steps, for the cuts of the next sort. */
static void append_weights(builder *b) {
    const kf_sph *system = b->system;
    const int kept = system->options.list_period,
              sorts = KF_SPH_WEIGH_EVERY > kept ? KF_SPH_WEIGH_EVERY / kept : 1;
    if (b->now) return;
    b->period *= sorts;
    append(b, KF_SPH_SORT, "weigh_rows", SORT_THREADS, system->grid.rows, 0.0);
    if (system->packs) {
        append(b, KF_SPH_SORT, "weigh_planes", SORT_THREADS, system->grid.cells[system->options.cut_axis],
               0.0);
        append_call(b, "sum_weights", kf_sph_sum_weights, b->plan);
    }
    b->period /= sorts;
}

/* Appends the sort of a team (kernels/sph/team.h). */
static void append_team_sort(builder *b) {
    const kf_sph *system = b->system;
    const double state = 2.0 * state_bytes(system);
    const long long n = slots(b), planes = system->grid.cells[system->options.cut_axis];
    meet(b);
    if (!system->packs) append(b, KF_SPH_SORT, "weigh_planes", SORT_THREADS, planes, 0.0);
    append(b, KF_SPH_SORT, "begin_sort", 32, 1, 0.0);
    if (system->packs) append_arrivals(b);
    append_wide(b, KF_SPH_SORT, "add_counts", SORT_THREADS, system->plane_cells, planes, 0.0);
    append_scan(b);
    append(b, KF_SPH_SORT, "place", SORT_THREADS, n, 20.0);
    meet(b);
    if (system->packs)
        append(b, KF_SPH_SORT, "place_arrivals", SORT_THREADS, system->room < TAKERS ? system->room : TAKERS,
               0.0);
    else
        append_wide(b, KF_SPH_SORT, "take", SORT_THREADS, n < TAKERS ? n : TAKERS, b->plan->near_parts, 0.0);
    append(b, KF_SPH_SORT, "end_sort", 32, 1, 0.0);
    append(b, KF_SPH_SORT, "rank", SORT_THREADS, n, 16.0 + state);
    if (system->packs) append(b, KF_SPH_SORT, "begin_copies", 32, 1, 0.0);
    meet(b);
    append_wide(b, KF_SPH_SORT, "clear_counts", SORT_THREADS, system->plane_cells, planes, 0.0);
    append_weights(b);
}

/* Appends the kernels that sort the particles by cells and, where the search has lists, make them. */
static void append_sort(builder *b, bool counted) {
    const long long n = slots(b);
    const double state = 2.0 * state_bytes(b->system);
    if (!counted) append(b, KF_SPH_SORT, "count_cells", SORT_THREADS, n, 24.0);
    if (b->plan->all_parts > 1) {
        append_team_sort(b);
    } else {
        append_scan(b);
        if (b->system->options.ranked) {
            append(b, KF_SPH_SORT, "place", SORT_THREADS, n, 20.0);
            append(b, KF_SPH_SORT, "rank", SORT_THREADS, n, 16.0 + state);
        } else {
            append(b, KF_SPH_SORT, "scatter", SORT_THREADS, n, 8.0 + state);
        }
    }
    if (b->system->options.search == KF_SPH_LIST)
        append(b, KF_SPH_LISTS, "make_lists", on_gpu(b->plan) ? KF_SPH_THREADS : CPU_BLOCK, n, 32.0);
}

static void append_modern(builder *b) {
    const kf_sph *system = b->system;
    const double state = state_bytes(system);
    if (system->scene->wall_count > 0) {
        append_sums(b, "dummies", 32.0);
        append_copies(b, KF_SPH_COPY_MOTION | (system->stress ? KF_SPH_COPY_STRESS : 0), true);
    }
    if (!system->stress) {
        append_sums(b, "flow", 2.0 * state);
        return;
    }
    append_sums(b, "strain", 32.0 + 16.0 + 2.0 * 4.0 * KF_SPH_STRESSES);
    append_copies(b, KF_SPH_COPY_STRESS | (is_paired(system) ? KF_SPH_COPY_VISCOSITY : 0), true);
    append_sums(b, "motion", 2.0 * state + 16.0);
}

static void append_thesis(builder *b) {
    append_sums(b, "density", 16.0 + 32.0);
    append_copies(b, KF_SPH_COPY_MOTION, true);
    if (b->system->stress) {
        append_sums(b, "stress", 32.0 + 16.0 + 4.0 * KF_SPH_STRESSES);
        append_copies(b, KF_SPH_COPY_STRESS, true);
    }
    append_sums(b, "force", 2.0 * state_bytes(b->system));
}

/* Returns how often the particles have moved to the other set before a step begins. A sort moves them, too.
 */
static uint64_t moves(const kf_sph *system, uint64_t step) {
    const uint64_t kept = (uint64_t)system->options.list_period, into = step % kept;
    return step / kept * (kept + 1) + (into > 0 ? into + 1 : 0);
}

kf_sph_arguments kf_sph_of_part(const kf_sph *system, int part, bool swapped) {
    kf_sph_arguments a = system->parts[part].arguments;
    if (swapped) {
        const kf_sph_set sorted = a.sorted;
        a.sorted = a.next;
        a.next = sorted;
    }
    return a;
}

bool kf_sph_between(const kf_sph *system, uint64_t step) {
    return moves(system, step) % 2 == 1;
}

bool kf_sph_within(const kf_sph *system, uint64_t step) {
    const bool sorts = step % (uint64_t)system->options.list_period == 0;
    return (moves(system, step) + (sorts ? 1 : 0)) % 2 == 0;
}

static kf_status make_marks(kf_plan *plan, kf_sph *system, kf_error *error) {
    for (int near = 0; near < plan->near_parts && plan->all_parts > 1 && !system->packs; near++)
        KF_TRY(kf_plan_mark_near(plan, near, &system->ready[near], error));
    kf_plan_on(plan, 0);
    return KF_OK;
}

/* Makes the launches of a period of steps: while a list serves several steps only the first sorts, and the
 * two sets of particles change places at each. */
kf_status kf_sph_make_launches(kf_plan *plan, kf_sph *system, kf_error *error) {
    const int kept = system->options.list_period;
    builder b = {.plan = plan, .system = system, .error = error, .status = make_marks(plan, system, error)};
    b.period = kept == 1 ? 1 : 2 * kept;
    for (b.phase = 0; b.phase < b.period; b.phase++) {
        b.swapped = kf_sph_within(system, (uint64_t)b.phase);
        b.list_left = system->parts[0].arguments.list_left;
        b.list_ends = false;
        if (b.phase % kept == 0)
            append_sort(&b, system->options.fused_count);
        else
            append_copies(&b, KF_SPH_COPY_MOTION | (system->stress ? KF_SPH_COPY_STRESS : 0), false);
        b.list_ends = b.phase % kept == kept - 1;
        if (system->scene->scheme == KF_SCHEME_MODERN)
            append_modern(&b);
        else
            append_thesis(&b);
        meet(&b);
        if (system->packs) append_call(&b, "join_clocks", kf_sph_join_clocks, plan);
        b.list_left = kept - 1 - (b.phase + 1) % kept;
        append(&b, KF_SPH_STATE, "advance_clock", 32, 1, 0.0);
    }
    return b.status;
}

kf_status kf_sph_launch(kf_plan *plan, int part, kf_sph_source source, const char *name,
                        const kf_sph_arguments *arguments, int items, kf_error *error) {
    builder b = {.plan = plan, .system = plan->system, .error = error, .now = true, .given = arguments};
    const int extent[2] = {items, 1};
    return append_on(&b, part, source, name, extent, on_gpu(plan) ? KF_SPH_THREADS : CPU_BLOCK, 0.0);
}

static builder at_once(kf_plan *plan, bool swapped, kf_error *error) {
    const kf_sph *system = plan->system;
    return (builder){.plan = plan,
                     .system = system,
                     .error = error,
                     .now = true,
                     .swapped = swapped,
                     .list_left = system->parts[0].arguments.list_left};
}

kf_status kf_sph_count(kf_plan *plan, bool swapped, kf_error *error) {
    builder b = at_once(plan, swapped, error);
    append(&b, KF_SPH_SORT, "count_cells", SORT_THREADS, slots(&b), 0.0);
    return b.status;
}

kf_status kf_sph_sort(kf_plan *plan, bool swapped, kf_error *error) {
    builder b = at_once(plan, swapped, error);
    KF_TRY(kf_sph_meet(plan, error));
    KF_TRY(kf_sph_forget_counts(plan, error));
    append_sort(&b, false);
    KF_TRY(b.status);
    return b.system->options.fused_count && plan->all_parts == 1 ? kf_sph_count(plan, swapped, error) : KF_OK;
}
