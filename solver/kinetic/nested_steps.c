/* A step of nested grids on one device: the kernels of all levels and the exchanges between levels, in
 * lanes. */
#include <string.h>

#include "kernels/kinetic/nested_arguments.h"
#include "solver/kinetic/nested_levels.h"

/* Returns the lane of a level's own kernels. The finest level has the main lane; the other levels share one.
 */
static int lane_of(const kf_nested *nested, int level) {
    return level + 1 == nested->count ? KF_LANE_MAIN : KF_LANE_BESIDE;
}
/* Returns the lane of the exchanges between level - 1 and level. The finest level waits for its ghost nodes,
 * so its exchanges are in a lane that runs ahead of the blocks of whole levels. */
static int lane_between(const kf_nested *nested, int level) {
    return level + 1 == nested->count ? KF_LANE_AHEAD : KF_LANE_BESIDE;
}
/* The lane in which the finest level computes the solid, beside its flow. */
enum { LANE_OF_SOLID = KF_LANE_ASIDE };

/* Returns the bytes that an exchange moves at least, for each coarse cell of its layer. Interpolation reads
 * three of the coarser level's nodes across the layer and writes eight ghost nodes. Restriction reads the
 * sixteen nodes of the box nearest to its side and writes the cell. */
static double bytes_of(const kf_nested_plan *own, int level, kf_crossing_kind what, const kf_launch *launch) {
    const kf_kinetic *fine = kf_nested_kinetic(own, level), *coarse = kf_nested_kinetic(own, level - 1);
    const double of_fine = fine->node_values * (double)fine->store_bytes,
                 of_coarse = coarse->node_values * (double)coarse->store_bytes;
    const double cell = what == KF_REFINE ? 3.0 * of_coarse + 8.0 * of_fine : 16.0 * of_fine + of_coarse;
    const kf_nested_arguments *a = (const void *)launch->arguments;
    double cells = 0.0;
    for (int b = 0; b < a->boxes; b++)
        cells += (double)a->size[b][0] * a->size[b][1] * a->size[b][2];
    return cell * cells;
}

void kf_nested_name_item(kf_item *item, const char *name, int level) {
    const size_t most = sizeof item->name - 3, length = strnlen(name, most);
    memmove(item->name, name, length);
    item->name[length] = ' ';
    item->name[length + 1] = (char)('0' + level);
    item->name[length + 2] = '\0';
}

/* Appends an exchange at all steps of the coarsest level, or at its even or odd steps only. */
static kf_status append_crossing(kf_plan *plan, int level, kf_crossing_kind what, bool odd, int period,
                                 int phase, kf_error *error) {
    kf_launch launch;
    KF_TRY(kf_nested_prepare(kf_nested_of(plan), level, what, odd, KF_ALL_OF_IT, &launch, error));
    kf_item *item = kf_plan_add_kernel(plan, &launch);
    kf_nested_name_item(item, launch.name, level);
    item->lane = lane_between(kf_nested_of(plan)->nested, level);
    item->period = period;
    item->phase = phase;
    item->bytes = bytes_of(kf_nested_of(plan), level, what, &launch);
    return KF_OK;
}

/* Appends the exchange between level - 1 and level before or after step number k of level - 1 within a step
 * of the coarsest level. Only the coarsest level has even and odd steps that need different launches. */
static kf_status cross(kf_plan *plan, int level, kf_crossing_kind what, int k, kf_error *error) {
    const int after = what == KF_REFINE ? 0 : 1;
    if (level > 1) return append_crossing(plan, level, what, (k + after) % 2 == 1, 1, 0, error);
    for (int parity = 0; parity < 2; parity++)
        KF_TRY(append_crossing(plan, level, what, (parity + after) % 2 == 1, 2, parity, error));
    return KF_OK;
}

/* --- A step ----------------------------------------------------------------------------------------------
 *
 * Items of one lane run in their order. Items of different lanes run in any order that the waits of this file
 * allow. A level's step needs the restriction of the next finer level and its own ghost nodes. An exchange
 * from a level needs this level's last step. A level's step reads one of its two grids and writes the other.
 * So it runs at the same time as exchanges that read the first grid, and as the finer level's two steps. The
 * solid's forces run at the same time as everything that changes no node near the solid.
 */

/* Lets a lane wait for all items appended to another lane so far, in steps that are multiples of the period.
 * Only items appended later wait. */
static void follow_at(kf_plan *plan, int lane, int other, int period) {
    kf_mark *mark = kf_nested_of(plan)->given[other];
    if (lane == other) return;
    kf_item *signal = kf_plan_add_signal(plan, "lane_given", mark);
    signal->lane = other;
    signal->period = period;
    kf_item *await = kf_plan_add_await(plan, "lane_given", mark);
    await->lane = lane;
    await->period = period;
}
static void follow(kf_plan *plan, int lane, int other) {
    follow_at(plan, lane, other, 1);
}

bool kf_nested_is_ever_due(const kf_item *item, int level, int k, int *period, int *phase) {
    const int steps = 1 << level;
    *period = item->period;
    while (*period % 2 == 0 && item->period / *period < steps)
        *period /= 2;
    for (*phase = 0; *phase < *period; (*phase)++)
        if ((*phase * steps + k) % item->period == item->phase) return true;
    return false;
}

/* Appends one of a level's kernels to a lane. */
static void append_kernel(kf_plan *plan, const kf_item *item, int level, int lane, int period, int phase) {
    kf_item *made = kf_plan_add_kernel(plan, item->kernel);
    kf_nested_name_item(made, item->name, level);
    made->lane = lane;
    made->period = period;
    made->phase = phase;
    made->bytes = item->bytes;
    made->flops = item->flops;
}

/* Returns whether a level's item computes the averages over its own grid. */
static bool is_of_averages(const kf_item *item) {
    return strncmp(item->name, "average_", strlen("average_")) == 0;
}

/* Appends the kernels of step number k of a level within a step of the coarsest. A coarser level has all
 * kernels in one lane, whose order replaces signals and waits. The finest level's side lane waits for the
 * main lane if kernels of this step are in the main lane. Boundary rows in that lane read ghost nodes, unlike
 * the solid, so they wait for what the main lane waits for. */
static void append_level(kf_plan *plan, int level, int k) {
    const kf_plan *from = kf_nested_of(plan)->plans[level];
    const int lane = lane_of(kf_nested_of(plan)->nested, level);
    bool apart = false, begun = false;
    for (size_t i = 0; i < from->item_count; i++) {
        const kf_item *item = &from->items[i];
        const bool aside = lane == KF_LANE_MAIN && item->lane != KF_LANE_MAIN;
        int period, phase;
        if (is_of_averages(item) || !kf_nested_is_ever_due(item, level, k, &period, &phase)) continue;
        if (apart && !aside && item->joins) {
            follow(plan, lane, LANE_OF_SOLID);
            apart = false;
        }
        if (item->kind != KF_ITEM_KERNEL) continue;
        const bool reads_ghosts = item->lane == KF_LANE_AHEAD;
        if (aside && (reads_ghosts || (!apart && begun))) follow(plan, LANE_OF_SOLID, lane);
        apart = apart || aside;
        begun = begun || !aside;
        append_kernel(plan, item, level, aside ? LANE_OF_SOLID : lane, period, phase);
    }
    if (apart) follow(plan, lane, LANE_OF_SOLID);
    if (lane == KF_LANE_MAIN) follow(plan, LANE_OF_SOLID, lane);
}

/* Appends the interpolation to a level's ghost nodes, for which the level waits. The preceding restriction
 * came after the last steps of both levels, so the interpolation needs no other wait. A plan that ends in
 * the grid in which it began overwrites the nodes that the interpolation reads. In such a plan the coarser
 * level's step waits, too. */
static kf_status refine(kf_plan *plan, int level, int k, kf_error *error) {
    const kf_nested *nested = kf_nested_of(plan)->nested;
    const int lane = lane_between(nested, level);
    KF_TRY(cross(plan, level, KF_REFINE, k, error));
    follow(plan, lane_of(nested, level), lane);
    if (!kf_nested_kinetic(kf_nested_of(plan), level - 1)->swaps)
        follow(plan, lane_of(nested, level - 1), lane);
    return KF_OK;
}

/* Appends the restriction of a level, after its two steps and the coarser level's step. */
static kf_status coarsen(kf_plan *plan, int level, int k, kf_error *error) {
    const kf_nested *nested = kf_nested_of(plan)->nested;
    const int lane = lane_between(nested, level), coarser = lane_of(nested, level - 1);
    follow(plan, lane, lane_of(nested, level));
    follow(plan, lane, coarser);
    KF_TRY(cross(plan, level, KF_COARSEN_RIM, k, error));
    follow(plan, coarser, lane);
    return KF_OK;
}

/* Appends step number k of a level, the two steps of the next finer level, and the exchanges around them. */
static kf_status append_steps(kf_plan *plan, int level, int k, kf_error *error) {
    const kf_nested_plan *own = kf_nested_of(plan);
    const bool finer = level + 1 < own->nested->count;
    if (level > 0 && k % 2 == 0 && kf_nested_kinetic(own, level - 1)->swaps)
        KF_TRY(refine(plan, level, k / 2, error));
    if (finer && !kf_nested_kinetic(own, level)->swaps) KF_TRY(refine(plan, level + 1, k, error));
    append_level(plan, level, k);
    if (!finer) return KF_OK;
    KF_TRY(append_steps(plan, level + 1, 2 * k, error));
    KF_TRY(append_steps(plan, level + 1, 2 * k + 1, error));
    return coarsen(plan, level + 1, k, error);
}

/* Copies the coarsest level's averages to a level. */
static void append_given_averages(kf_plan *plan, int level) {
    const kf_kinetic *from = kf_nested_kinetic(kf_nested_of(plan), 0),
                     *to = kf_nested_kinetic(kf_nested_of(plan), level);
    const kf_copy copy = {
        .target = to->averages, .source = from->averages, .bytes = 3 * from->real_bytes, .rows = 1};
    kf_plan_add_copy(plan, "average_give", &copy)->period = KF_AVERAGE_PERIOD;
}

/* Appends the averages over the domain by which some relaxation rates divide. They are taken over the
 * coarsest grid, after all earlier items and after the restriction to its covered cells. The other levels
 * get copies. */
static void append_averages(kf_plan *plan) {
    const kf_nested_plan *own = kf_nested_of(plan);
    const kf_plan *coarsest = own->plans[0];
    if (!kf_nested_kinetic(own, 0)->adaptive) return;
    for (int lane = 0; lane < KF_LANES; lane++)
        follow_at(plan, KF_LANE_MAIN, lane, KF_AVERAGE_PERIOD);
    for (int l = own->nested->count - 1; l > 0; l--) {
        const kf_launch *means = l > 1 ? &own->covered[l][0] : &own->averaged;
        if (!kf_nested_has_items(means)) continue;
        kf_item *item = kf_plan_add_kernel(plan, means);
        kf_nested_name_item(item, "settle", l);
        item->period = KF_AVERAGE_PERIOD;
    }
    for (size_t i = 0; i < coarsest->item_count; i++)
        if (coarsest->items[i].kind == KF_ITEM_KERNEL && is_of_averages(&coarsest->items[i]))
            append_kernel(plan, &coarsest->items[i], 0, KF_LANE_MAIN, KF_AVERAGE_PERIOD, 0);
    for (int l = 1; l < own->nested->count; l++)
        append_given_averages(plan, l);
}

/* Appends a step of the coarsest level. All lanes start after the finest level's last step and the averages.
 */
kf_status kf_nested_append_steps(kf_plan *plan, kf_error *error) {
    for (int lane = 0; lane < KF_LANES; lane++)
        KF_TRY(kf_plan_mark(plan, &kf_nested_of(plan)->given[lane], error));
    append_averages(plan);
    for (int lane = 0; lane < KF_LANES; lane++)
        follow(plan, lane, KF_LANE_MAIN);
    return append_steps(plan, 0, 0, error);
}
