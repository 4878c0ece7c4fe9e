/* Where a plan stands while it is timed: in its cycle, and in its solid's turn. */
#include "harness/measure/timing.h"

#include "base/backend/team/world.h"
#include "base/util/clock.h"

void kf_timing_go_to(kf_timing *t, int place) {
    uint64_t cycle = (uint64_t)t->cycle, steps = t->plan->steps_done;
    t->plan->steps_done = (steps + cycle - 1 - (uint64_t)place % cycle) / cycle * cycle + (uint64_t)place;
}

kf_status kf_timing_seek(const kf_timing *t, size_t sample, int window, kf_error *error) {
    kf_plan *plan = t->plan;
    if (plan->windows == 0) return KF_OK;
    return plan->methods->seek(plan, window, kf_policy_shift(sample), error);
}

kf_status kf_timing_agree(const kf_timing *t, double *times, int count, kf_error *error) {
    return t->together ? kf_world_most(times, count, error) : KF_OK;
}

kf_status kf_timing_since(const kf_timing *t, double begin, double *elapsed_us, kf_error *error) {
    *elapsed_us = 1e6 * (kf_clock_seconds() - begin);
    return kf_timing_agree(t, elapsed_us, 1, error);
}

bool kf_timing_has_ordinary_steps(const kf_plan *plan) {
    bool some = false;
    for (size_t i = 0; i < plan->item_count; i++) {
        const kf_item *item = &plan->items[i];
        some = some || item->period <= KF_ORDINARY_STEPS;
        for (uint64_t step = KF_ORDINARY_PLACE; step < KF_ORDINARY_PLACE + KF_ORDINARY_STEPS; step++)
            if (item->period > KF_ORDINARY_STEPS && kf_item_is_due(item, step)) return false;
    }
    return some;
}
