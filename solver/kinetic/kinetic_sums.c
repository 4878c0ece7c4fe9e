/* Appends what needs sums over all parts within a step: the domain's averages, the velocities of a free
 * solid, and the mass that links have added. */
#include <string.h>

#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_builder.h"

kf_status kf_kinetic_make_sums(kf_plan *plan, kf_kinetic *kinetic, kf_sum_kind kind, kf_error *error) {
    static const size_t counts[KF_SUM_KINDS] = {[KF_SUM_AVERAGES] = 3 * KF_AVERAGE_SLOTS,
                                                [KF_SUM_BODY] = KF_BODY_PLACES,
                                                [KF_SUM_LINKS] = KF_LOAD_SLOTS};
    kf_sums *sums = &kinetic->sums[kind];
    const size_t bytes = counts[kind] * sizeof(long long);
    sums->count = counts[kind];
    KF_TRY(kf_plan_buffer(plan, bytes, &sums->own, error));
    if (plan->all_parts == 1) return KF_OK;
    KF_TRY(kf_plan_buffer(plan, (size_t)kf_kinetic_sum_places(plan) * bytes, &sums->all, error));
    return kf_plan_buffer(plan, bytes, &sums->zeros, error);
}

kf_status kf_kinetic_clear_sums(const kf_kinetic *kinetic, kf_sum_kind kind, kf_error *error) {
    const kf_sums *sums = &kinetic->sums[kind];
    if (sums->own != NULL) KF_TRY(kf_buffer_fill(sums->own, 0, error));
    return sums->zeros != NULL ? kf_buffer_fill(sums->zeros, 0, error) : KF_OK;
}

/* Returns the step of the rows along y and z that are averaged. */
static int averaged_rows(const kf_kinetic *kinetic) {
    const int *n = kinetic->geometry.nodes;
    return ((n[1] + KF_AVERAGE_STRIDE - 1) / KF_AVERAGE_STRIDE) *
           ((n[2] + KF_AVERAGE_STRIDE - 1) / KF_AVERAGE_STRIDE);
}

static void sum_extent(const kf_kinetic *kinetic, int extent[3]) {
    const int *n = kinetic->geometry.nodes, rows = averaged_rows(kinetic);
    /* An item has as many rows as still fill a large GPU. With more rows it would process too many one after
     * the other. */
    enum { ITEMS = 1 << 18, MOST = 16 };
    const long long enough = (long long)n[0] * rows / ITEMS;
    const int each = kinetic->options.gpu && enough < MOST ? (int)enough + (enough == 0) : MOST;
    extent[0] = n[0];
    extent[1] = (rows + each - 1) / each;
    extent[2] = 1;
}

static void append_average_sum(kf_builder *b, int parity, int grid) {
    const kf_kinetic *kinetic = b->kinetic;
    int extent[3];
    sum_extent(kinetic, extent);
    kf_append(b, parity, KF_SOURCE_STATE, "average_sum", extent, b->face_block,
              kf_from_to(kinetic, grid, grid),
              kinetic->node_values * (double)kinetic->store_bytes * kinetic->geometry.nodes[0] *
                  averaged_rows(kinetic) / b->parts);
}

static void append_average_finish(kf_builder *b, int parity, int grid) {
    const int finish[3] = {KF_AVERAGE_SLOTS, 1, 1};
    kf_kinetic_arguments arguments = kf_from_to(b->kinetic, grid, grid);
    if (b->plan->all_parts > 1)
        arguments.fields.average_sums = kf_buffer_address(b->kinetic->sums[KF_SUM_AVERAGES].all);
    kf_append(b, parity, KF_SOURCE_STATE, "average_finish", finish, finish, arguments, 0);
}

static void append_sums_copy(kf_builder *b, int parity, const char *name, kf_buffer *target, size_t offset,
                             const kf_buffer *source, size_t bytes) {
    const kf_copy copy = {
        .target = target, .target_offset = offset, .source = source, .bytes = bytes, .rows = 1};
    (void)kf_append_copy(b, parity, name, &copy);
}

static size_t bytes_of(const kf_builder *b, kf_sum_kind kind) {
    return b->kinetics->sums[kind].count * sizeof(long long);
}

/* Empties the part's sums. */
static void append_empty(kf_builder *b, int parity, const char *name, kf_sum_kind kind) {
    const kf_sums *sums = &b->kinetic->sums[kind];
    append_sums_copy(b, parity, name, sums->own, 0, sums->zeros, bytes_of(b, kind));
}

/* Copies the sums of all parts to the part. Several processes sum them by a call instead. */
static void append_take(kf_builder *b, int parity, const char *name, kf_sum_kind kind) {
    for (int other = 0; b->kinetics->link == NULL && other < b->parts; other++)
        append_sums_copy(b, parity, name, b->kinetic->sums[kind].all, (size_t)other * bytes_of(b, kind),
                         b->kinetics[other].sums[kind].own, bytes_of(b, kind));
}

/* Appends a team's averages. Every part sums its rows, takes the sums of all, and completes them itself. Its
 * sums are cleared at the start, when all parts have read the previous ones. */
static void append_team_averages(kf_builder *b, int parity, int grid) {
    kf_await_all(b, parity, "step_ended", b->ended);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        append_empty(b, parity, "average_empty", KF_SUM_AVERAGES);
        append_average_sum(b, parity, grid);
    }
    kf_signal_all(b, parity, "averages_summed", b->summed);
    kf_await_all(b, parity, "averages_summed", b->summed);
    kf_append_link_call(b, parity, 0, "average_gather", kf_kinetic_gather_sums);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        append_take(b, parity, "average_take", KF_SUM_AVERAGES);
        append_average_finish(b, parity, grid);
    }
}

/* Appends the averages over the domain, by all parts, on the same grid. */
void kf_append_averages(kf_builder *b, int parity, int grid) {
    if (!b->kinetics->adaptive) return;
    b->every = KF_AVERAGE_PERIOD;
    if (b->plan->all_parts > 1) {
        append_team_averages(b, parity, grid);
    } else {
        append_average_sum(b, parity, grid);
        append_average_finish(b, parity, grid);
    }
    b->every = 1;
}

/* Begins a team's sums of links. They work like its averages, but in every step. */
void kf_begin_link_sums(kf_builder *b, int parity) {
    if (b->plan->all_parts == 1 || !kf_kinetic_balances(kf_plan_scene(b->plan), b->kinetics)) return;
    kf_await_all(b, parity, "step_ended", b->ended);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        append_empty(b, parity, "links_empty", KF_SUM_LINKS);
    }
}

void kf_append_link_balance(kf_builder *b, int parity) {
    const int one[3] = {1, 1, 1};
    if (!b->kinetics->linked || b->plan->all_parts == 1 ||
        !kf_kinetic_balances(kf_plan_scene(b->plan), b->kinetics))
        return;
    kf_await_all(b, parity, "links_summed", b->links_summed);
    kf_append_link_call(b, parity, 0, "links_gather", kf_kinetic_gather_links);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        append_take(b, parity, "links_take", KF_SUM_LINKS);
        kf_kinetic_arguments arguments = b->kinetic->arguments;
        arguments.links.sums = kf_buffer_address(b->kinetic->sums[KF_SUM_LINKS].all);
        kf_append(b, parity, KF_SOURCE_LINKS, "balance_links", one, b->line_block, arguments, 0);
    }
}

/* Appends the sums of what the samples of a free solid see. */
static void append_body_sums(kf_builder *b, int parity, int grid) {
    const kf_kinetic *kinetic = b->kinetic;
    const int items = (kinetic->arguments.samples.count + KF_BODY_CHUNK - 1) / KF_BODY_CHUNK;
    if (b->plan->all_parts > 1) append_empty(b, parity, "body_empty", KF_SUM_BODY);
    kf_append_items(b, parity, KF_SOURCE_IMMERSED, kinetic->band ? "band_body_sums" : "body_sums", items,
                    grid, grid);
}

/* Appends the solution for the free solid's velocities from these sums. */
static void append_solve(kf_builder *b, int parity) {
    const int extent[3] = {KF_BODY_THREADS, 1, 1};
    kf_kinetic_arguments arguments = b->kinetic->arguments;
    if (b->plan->all_parts > 1) arguments.body.sums = kf_buffer_address(b->kinetic->sums[KF_SUM_BODY].all);
    kf_append(b, parity, KF_SOURCE_MOTION, "solve_body", extent, extent, arguments, 0);
}

/* One device's. */
void kf_append_body(kf_builder *b, int parity, int grid) {
    if (!b->kinetic->free || b->plan->all_parts > 1) return;
    append_body_sums(b, parity, grid);
    append_solve(b, parity);
}

/* Appends the free solid of a team. Each part sums the samples whose cells begin in its planes, takes the
 * sums of all, and solves them itself. Its sums are cleared when all parts have read the previous ones. */
void kf_append_team_body(kf_builder *b, int parity, int grid) {
    if (!b->kinetics->free || b->plan->all_parts == 1) return;
    kf_await_all(b, parity, "body_taken", b->body_taken);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        append_body_sums(b, parity, grid);
    }
    kf_signal_all(b, parity, "body_summed", b->body_summed);
    kf_await_all(b, parity, "body_summed", b->body_summed);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        append_take(b, parity, "body_take", KF_SUM_BODY);
    }
    kf_append_link_call(b, parity, 0, "body_gather", kf_kinetic_gather_body);
    kf_signal_all(b, parity, "body_taken", b->body_taken);
    kf_each_part(b, parity, append_solve);
}
