/* Compares the work that a cost model lists, launch by launch, with figures that a test has counted by
 * hand. */
#ifndef KF_TESTS_UNIT_WORKS_BY_HAND_H
#define KF_TESTS_UNIT_WORKS_BY_HAND_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cost_model/model.h"

/* Expected figures of a launch; those that are not set are 0. */
typedef struct expected {
    const char *name;
    double launches; /* 0: 1 */
    double dram, partial, scattered, atomics, instructions, latency;
    double efficiency; /* 0: 1 */
    double starts;     /* of amount[KF_COST_LAUNCH], 0: 1; -1: none */
    /* These are numbers of a multiprocessor. resident and waits are not compared where they are 0. */
    double blocks, resident, waits;
    double turns, slowest, last; /* of a block */
    bool in_turn, in_step, aside, follows;
} expected;

static inline void near(const char *launch, const char *what, double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-9 * fmax(1e-6, fabs(wanted))))
        fail_msg("%s: %s is %.9g, by hand %.9g", launch, what, value, wanted);
}

static inline void compare_by_hand(const kf_work *work, const expected *wanted) {
    assert_string_equal(work->name, wanted->name);
    const double amounts[KF_RESOURCES] = {[KF_COST_DRAM] = wanted->dram,
                                          [KF_COST_PARTIAL] = wanted->partial,
                                          [KF_COST_SCATTERED] = wanted->scattered,
                                          [KF_COST_ATOMICS] = wanted->atomics,
                                          [KF_COST_LATENCY] = wanted->latency,
                                          [KF_COST_INSTRUCTIONS] = wanted->instructions,
                                          [KF_COST_LAUNCH] = wanted->starts > 0   ? wanted->starts
                                                             : wanted->starts < 0 ? 0
                                                                                  : 1};
    for (int r = 0; r < KF_RESOURCES; r++)
        near(work->name, kf_resource_names[r], work->amount[r], amounts[r]);
    near(work->name, "launches", work->launches, wanted->launches > 0 ? wanted->launches : 1);
    near(work->name, "efficiency", work->efficiency, wanted->efficiency > 0 ? wanted->efficiency : 1);
    near(work->name, "blocks", work->blocks, wanted->blocks);
    if (wanted->resident > 0) near(work->name, "resident", work->resident, wanted->resident);
    if (wanted->waits > 0) near(work->name, "wait_us", work->wait_us, wanted->waits);
    near(work->name, "turns", work->turns, wanted->turns);
    near(work->name, "slowest_us", work->slowest_us, wanted->slowest);
    near(work->name, "last_turns", work->last_turns, wanted->last);
    assert_int_equal(work->in_turn, wanted->in_turn);
    assert_int_equal(work->in_step, wanted->in_step);
    assert_int_equal(work->aside, wanted->aside);
    assert_int_equal(work->follows, wanted->follows);
}

/* The caller frees. */
static inline kf_works works_of_model(const kf_cost_methods *methods, const kf_problem *problem,
                                      const kf_device_info *device, const kf_config *config) {
    kf_error error = {KF_OK, ""};
    kf_works works = {.count = 0};
    void *model = methods->open(problem, device);
    if (methods->works(model, config, &works, &error) != KF_OK) fail_msg("%s", error.message);
    methods->close(model);
    return works;
}

/* Compares all of them, in order. */
static inline void compare_all(const kf_works *works, const expected *wanted, size_t count) {
    for (size_t i = 0; i < works->count && i < count; i++)
        compare_by_hand(&works->list[i], &wanted[i]);
    assert_int_equal(works->count, count);
}

static inline void compare_one(const kf_works *works, const expected *wanted) {
    const kf_work *found = NULL;
    for (size_t i = 0; i < works->count && found == NULL; i++)
        if (strcmp(works->list[i].name, wanted->name) == 0) found = &works->list[i];
    if (found == NULL) fail_msg("no %s", wanted->name);
    compare_by_hand(found, wanted);
}

#endif
