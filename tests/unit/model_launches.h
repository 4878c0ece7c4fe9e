/* Compares a plan's launches with those that the cost model lists. */
#ifndef KF_TESTS_UNIT_MODEL_LAUNCHES_H
#define KF_TESTS_UNIT_MODEL_LAUNCHES_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/plan/system.h"
#include "cost_model/cost.h"

/* Returns whether the model counts two kernels together: two faces, the parts of a split collision, the
 * passes of a sort, even and odd steps. */
static inline bool same_group(const char *a, const char *b) {
    static const char *const groups[] = {"boundary_", "collide_", "macroscopic", "order"};
    const char *const names[] = {a, b};
    size_t lengths[2];
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        const size_t length = strlen(groups[i]);
        if (strncmp(a, groups[i], length) == 0) return strncmp(b, groups[i], length) == 0;
    }
    for (int i = 0; i < 2; i++) {
        const char *even = strstr(names[i], "_even"), *odd = strstr(names[i], "_odd");
        lengths[i] = even != NULL  ? (size_t)(even - names[i])
                     : odd != NULL ? (size_t)(odd - names[i])
                                   : strlen(names[i]);
    }
    return lengths[0] == lengths[1] && strncmp(a, b, lengths[0]) == 0;
}

static inline double launches_in_plan(const kf_plan *plan, const char *name) {
    double launches = 0;
    for (size_t i = 0; i < plan->item_count; i++)
        if (plan->items[i].kind == KF_ITEM_KERNEL && same_group(plan->items[i].name, name))
            launches += 1.0 / plan->items[i].period;
    return launches;
}

static inline double launches_in_works(const kf_works *works, const char *name) {
    double launches = 0;
    for (size_t i = 0; i < works->count; i++)
        if (same_group(works->list[i].name, name))
            launches += works->list[i].launches * works->list[i].amount[KF_COST_LAUNCH];
    return launches;
}

/* Fails unless plan and model have the same launches, each as often. */
static inline void compare_works(const kf_plan *plan, const kf_works *works, const char *title) {
    for (size_t i = 0; i < plan->item_count; i++) {
        if (plan->items[i].kind != KF_ITEM_KERNEL) continue;
        const char *name = plan->items[i].name;
        const double there = launches_in_plan(plan, name), here = launches_in_works(works, name);
        if (fabs(there - here) > 1e-9)
            fail_msg("%s: the plan launches %s %g times a step, the model thinks %g", title, name, there,
                     here);
    }
    for (size_t i = 0; i < works->count; i++)
        if (launches_in_plan(plan, works->list[i].name) == 0)
            fail_msg("%s: the plan launches no %s", title, works->list[i].name);
}

#endif
