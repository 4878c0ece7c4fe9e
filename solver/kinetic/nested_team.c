/* A step of nested grids on a team. Each level is cut into slabs, and so are the exchanges between levels.
 * All parts wait for each other before and after each exchange. All values are computed as on one device, so
 * no bit depends on the number of parts. */
#include "solver/kinetic/nested_levels.h"

/* Lets every part wait for all items that all parts have so far. Only items appended later wait. */
static void await_all(kf_plan *plan) {
    kf_mark *const *reached = kf_nested_of(plan)->reached;
    for (int part = 0; part < plan->part_count; part++) {
        kf_plan_on(plan, part);
        (void)kf_plan_add_signal(plan, "part_reached", reached[part]);
    }
    for (int part = 0; part < plan->part_count; part++) {
        kf_plan_on(plan, part);
        for (int other = 0; other < plan->part_count; other++)
            if (other != part) (void)kf_plan_add_await(plan, "part_reached", reached[other]);
    }
}

/* Appends an item of a level's plan to the main lane of the item's part. */
static void append_item(kf_plan *plan, const kf_item *item, int level, int period, int phase) {
    kf_item *made;
    kf_plan_on(plan, item->part);
    switch (item->kind) {
    case KF_ITEM_KERNEL:
        made = kf_plan_add_kernel(plan, item->kernel);
        kf_nested_name_item(made, item->name, level);
        break;
    case KF_ITEM_CALL:
        made = kf_plan_add_call(plan, item->name, &item->call);
        break;
    case KF_ITEM_COPY:
        made = kf_plan_add_copy(plan, item->name, &item->copy);
        break;
    case KF_ITEM_SIGNAL:
        made = kf_plan_add_signal(plan, item->name, item->mark);
        break;
    default:
        made = kf_plan_add_await(plan, item->name, item->mark);
    }
    made->period = period;
    made->phase = phase;
    made->bytes = item->bytes;
    made->flops = item->flops;
}

/* Appends step number k of a level within a step of the coarsest level. */
static void append_level(kf_plan *plan, int level, int k) {
    const kf_plan *from = kf_nested_of(plan)->plans[level];
    for (size_t i = 0; i < from->item_count; i++) {
        int period, phase;
        if (kf_nested_is_ever_due(&from->items[i], level, k, &period, &phase))
            append_item(plan, &from->items[i], level, period, phase);
    }
}

/* Appends the parts' shares of an exchange between level - 1 and level, at all steps of the coarsest level
 * or at its even or odd steps only. */
static kf_status append_crossing(kf_plan *plan, int level, kf_crossing_kind what, bool odd, int period,
                                 int phase, kf_error *error) {
    for (int part = 0; part < plan->part_count; part++) {
        kf_launch launch;
        KF_TRY(kf_nested_prepare(kf_nested_of(plan), level, what, odd, part, &launch, error));
        if (!kf_nested_has_items(&launch)) continue;
        kf_plan_on(plan, part);
        kf_item *item = kf_plan_add_kernel(plan, &launch);
        kf_nested_name_item(item, launch.name, level);
        item->period = period;
        item->phase = phase;
    }
    return KF_OK;
}

/* Appends the exchange between level - 1 and level before or after step number k of level - 1, and the waits
 * of all parts around it. */
static kf_status cross(kf_plan *plan, int level, kf_crossing_kind what, int k, kf_error *error) {
    const int after = what == KF_REFINE ? 0 : 1;
    await_all(plan);
    if (level > 1) KF_TRY(append_crossing(plan, level, what, (k + after) % 2 == 1, 1, 0, error));
    for (int parity = 0; parity < 2 && level == 1; parity++)
        KF_TRY(append_crossing(plan, level, what, (parity + after) % 2 == 1, 2, parity, error));
    await_all(plan);
    return KF_OK;
}

/* Appends step number k of a level, the two steps of the next finer level, and the exchanges around them. */
static kf_status append_steps(kf_plan *plan, int level, int k, kf_error *error) {
    const bool finer = level + 1 < kf_nested_of(plan)->nested->count;
    if (finer) KF_TRY(cross(plan, level + 1, KF_REFINE, k, error));
    append_level(plan, level, k);
    if (!finer) return KF_OK;
    KF_TRY(append_steps(plan, level + 1, 2 * k, error));
    KF_TRY(append_steps(plan, level + 1, 2 * k + 1, error));
    return cross(plan, level + 1, KF_COARSEN_RIM, k, error);
}

kf_status kf_nested_append_team_steps(kf_plan *plan, kf_error *error) {
    for (int part = 0; part < plan->part_count; part++) {
        kf_plan_on(plan, part);
        KF_TRY(kf_plan_mark(plan, &kf_nested_of(plan)->reached[part], error));
    }
    const kf_status status = append_steps(plan, 0, 0, error);
    kf_plan_on(plan, 0);
    return status;
}
