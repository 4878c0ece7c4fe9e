/* Tracks the position of a plan while it is timed, in its cycle and in its windows. */
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

/* Returns whether items are due at ordinary steps, none of them rare. */
static bool has_ordinary_steps(const kf_plan *plan) {
    bool some = false;
    for (size_t i = 0; i < plan->item_count; i++) {
        const kf_item *item = &plan->items[i];
        some = some || item->period <= KF_ORDINARY_STEPS;
        for (uint64_t step = KF_ORDINARY_PLACE; step < KF_ORDINARY_PLACE + KF_ORDINARY_STEPS; step++)
            if (item->period > KF_ORDINARY_STEPS && kf_item_is_due(item, step)) return false;
    }
    return some;
}

/* Finds the least common multiple of all processes' cycles. A part without samples has fewer kinds of items
 * than others. */
static kf_status agree_on_cycle(kf_timing *t, kf_error *error) {
    for (;;) {
        double most = t->cycle, differs = 0.0;
        KF_TRY(kf_timing_agree(t, &most, 1, error));
        int multiple = (int)most;
        while (multiple % t->cycle != 0)
            multiple += (int)most;
        differs = multiple != t->cycle;
        t->cycle = multiple;
        KF_TRY(kf_timing_agree(t, &differs, 1, error));
        if (differs == 0.0) return KF_OK;
    }
}

kf_status kf_timing_begin(kf_timing *t, kf_error *error) {
    double rare = !has_ordinary_steps(t->plan);
    t->cycle = kf_plan_cycle(t->plan);
    KF_TRY(agree_on_cycle(t, error));
    if (t->cycle == 1) t->cycle = KF_ORDINARY_STEPS; /* A graph of the plan has so many steps. */
    KF_TRY(kf_timing_agree(t, &rare, 1, error));
    t->has_ordinary_steps = rare == 0.0;
    return KF_OK;
}
