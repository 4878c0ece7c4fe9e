/* The items of a time step. */
#include <string.h>

#include "solver/sph/sph.h"

enum { CPU_BLOCK = 256, SORT_THREADS = 256 }; /* KF_THREADS of sort.cu */

typedef struct builder {
    kf_plan *plan;
    const kf_sph *system;
    kf_error *error;
    kf_status status;
    int period, phase;
    kf_sph_arguments arguments; /* of the launches */
} builder;

static bool on_gpu(const kf_plan *plan) {
    return kf_device_is_gpu(kf_backend_device(plan->backend));
}

/* Appends a launch; `bytes` is what it moves for a particle. */
static void append(builder *b, kf_sph_source source, const char *name, int threads, long long extent,
                   double bytes) {
    kf_function *function;
    const int block[3] = {threads, 1, 1};
    if (b->status != KF_OK) return;
    b->status = kf_module_function(b->system->modules[source], name, &function, b->error);
    if (b->status != KF_OK) return;
    kf_sph_arguments arguments = b->arguments;
    kf_launch launch;
    arguments.extent[0] = (int)extent;
    arguments.extent[1] = arguments.extent[2] = 1;
    kf_launch_set(&launch, name, function, block, &arguments, sizeof arguments);
    kf_item *item = kf_plan_add_kernel(b->plan, &launch);
    item->period = b->period;
    item->phase = b->phase;
    item->bytes = bytes * (double)arguments.count;
}

static void append_sums(builder *b, const char *name, double bytes) {
    const kf_sph_options *o = &b->system->options;
    append(b, KF_SPH_SCHEME, name, on_gpu(b->plan) ? o->threads : CPU_BLOCK,
           (long long)o->lanes * b->system->arguments.count, bytes);
}

/* Bytes of a particle's state, as the sort moves it and the integration writes it. */
static double state_bytes(const kf_sph *system) {
    return 3.0 * 16.0 + 4.0 + (system->stress ? 4.0 * KF_SPH_STRESSES : 0.0);
}

/* Appends the kernels that sort the particles by cells and, where the search has lists, make them. */
static void append_sort(builder *b) {
    const kf_sph_arguments *a = &b->system->arguments;
    const long long groups = (a->cell_count + KF_SPH_SCAN) / KF_SPH_SCAN, n = a->count;
    const double cells = 4.0 * (double)a->cell_count / (double)n, state = 2.0 * state_bytes(b->system);
    if (!b->system->options.fused_count) append(b, KF_SPH_SORT, "count_cells", SORT_THREADS, n, 24.0);
    append(b, KF_SPH_SORT, "sum_cells", SORT_THREADS, groups * SORT_THREADS, cells);
    append(b, KF_SPH_SORT, "sum_groups", SORT_THREADS, SORT_THREADS, 0.0);
    append(b, KF_SPH_SORT, "begin_cells", SORT_THREADS, groups * SORT_THREADS, 3.0 * cells);
    if (b->system->options.ranked) {
        append(b, KF_SPH_SORT, "place", SORT_THREADS, n, 20.0);
        append(b, KF_SPH_SORT, "rank", SORT_THREADS, n, 16.0 + state);
    } else {
        append(b, KF_SPH_SORT, "scatter", SORT_THREADS, n, 8.0 + state);
    }
    if (b->system->options.search == KF_SPH_LIST)
        append(b, KF_SPH_LISTS, "make_lists", on_gpu(b->plan) ? KF_SPH_THREADS : CPU_BLOCK, n, 32.0);
}

static void append_modern(builder *b) {
    const double state = state_bytes(b->system);
    if (b->system->scene->wall_count > 0) append_sums(b, "dummies", 32.0);
    if (!b->system->stress) {
        append_sums(b, "flow", 2.0 * state);
        return;
    }
    append_sums(b, "strain", 32.0 + 16.0 + 2.0 * 4.0 * KF_SPH_STRESSES);
    append_sums(b, "motion", 2.0 * state + 16.0);
}

static void append_thesis(builder *b) {
    append_sums(b, "density", 16.0 + 32.0);
    if (b->system->stress) append_sums(b, "stress", 32.0 + 16.0 + 4.0 * KF_SPH_STRESSES);
    append_sums(b, "force", 2.0 * state_bytes(b->system));
}

/* How often the particles have gone to the other set before a step begins; a sort takes them there, too. */
static uint64_t moves(const kf_sph *system, uint64_t step) {
    const uint64_t kept = (uint64_t)system->options.list_period, into = step % kept;
    return step / kept * (kept + 1) + (into > 0 ? into + 1 : 0);
}

static kf_sph_arguments arguments_of(const kf_sph *system, bool swapped) {
    kf_sph_arguments a = system->arguments;
    if (swapped) {
        a.sorted = system->arguments.next;
        a.next = system->arguments.sorted;
    }
    return a;
}

kf_sph_arguments kf_sph_between(const kf_plan *plan) {
    const kf_sph *system = plan->system;
    return arguments_of(system, moves(system, plan->steps_done) % 2 == 1);
}

kf_sph_arguments kf_sph_within(const kf_sph *system, uint64_t step) {
    const bool sorts = step % (uint64_t)system->options.list_period == 0;
    return arguments_of(system, (moves(system, step) + (sorts ? 1 : 0)) % 2 == 0);
}

/* Makes the launches of a period of steps: while a list serves several steps only the first sorts, and the
 * two sets of particles change places at each. */
kf_status kf_sph_make_launches(kf_plan *plan, kf_sph *system, kf_error *error) {
    const int kept = system->options.list_period;
    builder b = {.plan = plan, .system = system, .error = error, .status = KF_OK};
    b.period = kept == 1 ? 1 : 2 * kept;
    for (b.phase = 0; b.phase < b.period; b.phase++) {
        b.arguments = kf_sph_within(system, (uint64_t)b.phase);
        if (b.phase % kept == 0) append_sort(&b);
        if (b.phase % kept == kept - 1) b.arguments.list_position = NULL;
        if (system->scene->scheme == KF_SCHEME_MODERN)
            append_modern(&b);
        else
            append_thesis(&b);
        b.arguments.list_left = kept - 1 - (b.phase + 1) % kept;
        append(&b, KF_SPH_STATE, "advance_clock", 32, 1, 0.0);
    }
    return b.status;
}

static kf_status launch_now(kf_plan *plan, kf_sph_source source, const char *name,
                            const kf_sph_arguments *arguments, int threads, long long extent,
                            kf_error *error) {
    const kf_sph *system = plan->system;
    kf_function *function;
    const int block[3] = {threads, 1, 1};
    kf_launch launch;
    kf_sph_arguments a = *arguments;
    KF_TRY(kf_module_function(system->modules[source], name, &function, error));
    a.extent[0] = (int)extent;
    a.extent[1] = a.extent[2] = 1;
    kf_launch_set(&launch, name, function, block, &a, sizeof a);
    return kf_backend_launch(plan->backend, &launch, error);
}

kf_status kf_sph_launch(kf_plan *plan, kf_sph_source source, const char *name,
                        const kf_sph_arguments *arguments, int extent, kf_error *error) {
    return launch_now(plan, source, name, arguments, on_gpu(plan) ? KF_SPH_THREADS : CPU_BLOCK, extent,
                      error);
}

/* Sorts the particles outside of a step, after their state was set, so that a step finds them as a step
 * before would have left them. */
kf_status kf_sph_sort(kf_plan *plan, const kf_sph_arguments *a, kf_error *error) {
    kf_sph *system = plan->system;
    const long long groups = (a->cell_count + KF_SPH_SCAN) / KF_SPH_SCAN;
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    KF_TRY(kf_buffer_fill(system->counts, 0, error));
    KF_TRY(launch_now(plan, KF_SPH_SORT, "count_cells", a, SORT_THREADS, a->count, error));
    KF_TRY(launch_now(plan, KF_SPH_SORT, "sum_cells", a, SORT_THREADS, groups * SORT_THREADS, error));
    KF_TRY(launch_now(plan, KF_SPH_SORT, "sum_groups", a, SORT_THREADS, SORT_THREADS, error));
    KF_TRY(launch_now(plan, KF_SPH_SORT, "begin_cells", a, SORT_THREADS, groups * SORT_THREADS, error));
    if (system->options.ranked)
        KF_TRY(launch_now(plan, KF_SPH_SORT, "place", a, SORT_THREADS, a->count, error));
    KF_TRY(launch_now(plan, KF_SPH_SORT, system->options.ranked ? "rank" : "scatter", a, SORT_THREADS,
                      a->count, error));
    if (system->options.search == KF_SPH_LIST)
        KF_TRY(kf_sph_launch(plan, KF_SPH_LISTS, "make_lists", a, a->count, error));
    if (!system->options.fused_count) return KF_OK;
    return launch_now(plan, KF_SPH_SORT, "count_cells", a, SORT_THREADS, a->count, error);
}
