/* Runs tuning of the system whose configs fail in every way, and reads the results from the store. */
#ifndef KF_TESTS_UNIT_TUNE_STAGE_H
#define KF_TESTS_UNIT_TUNE_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include "tests/unit/counter_system.h"

#include <cmocka.h>

#include "base/util/clock.h"
#include "base/util/log.h"
#include "harness/tune/tune.h"

static kf_problem problem;

static inline kf_store *open_store(const char *name) {
    char path[2 * KF_PATH];
    (void)snprintf(path, sizeof path, "%s/%s", counter_folder, name);
    kf_store *store = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_store_open(path, false, &store, &error) != KF_OK) fail_msg("%s", error.message);
    return store;
}

static inline kf_tune_request request(kf_store *store) {
    counter_problem(&problem, 20000);
    return (kf_tune_request){
        .problem = &problem,
        .device = "cpu:1",
        .started = kf_clock_seconds(),
        .budget.seconds = 8.0,
        .budget_text = "8s",
        .seed = 1,
        .store = store,
        .timing_seconds = 0.02,
        .limit_seconds = 20.0,
    };
}

typedef struct counts {
    int presets, search, finals, last;
    bool gap;
} counts;
static inline kf_status count_result(void *context, int sequence, const char *role, const kf_config *config,
                                     const kf_measurement *measurement, kf_error *error) {
    (void)config, (void)measurement, (void)error;
    counts *c = context;
    if (strncmp(role, "preset:", 7) == 0) c->presets++;
    if (strcmp(role, "search") == 0) c->search++;
    if (strcmp(role, "final") == 0) c->finals++;
    c->gap = c->gap || sequence != c->last + 1;
    c->last = sequence;
    return KF_OK;
}

static inline counts stored(kf_store *store, const kf_tune_result *result) {
    counts c = {.last = -1};
    assert_int_equal(kf_store_results(store, result->run.id, count_result, &c, NULL), KF_OK);
    assert_false(c.gap);
    return c;
}

#endif
