#include "harness/counters/count_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"

enum { LATEST_STEP = 16 };

/* A counted item: the first one with its name. */
typedef struct counted_item {
    const kf_item *item;
    uint64_t step; /* the step in which it is counted */
} counted_item;

typedef struct plan_work {
    kf_plan *plan;
    counted_item *parts;
    size_t part_count, part_room;
    uint64_t last_step;
    const kf_part_visit *visit; /* during a pass */
} plan_work;

/* --- Which items, and when ------------------------------------------------------------------------------ */

/* Chooses the step in which an item is counted. In steps 2 and 3 the caches are as in every ordinary step. An
 * item that is not due there is counted in the first step that contains it. Returns false if that is too
 * late. */
static bool choose_step(const kf_item *item, uint64_t *step) {
    for (*step = 2; *step < 4; ++*step)
        if (kf_item_is_due(item, *step)) return true;
    *step = (uint64_t)item->phase;
    return *step <= LATEST_STEP;
}

static bool is_counted(const plan_work *work, const char *name) {
    for (size_t i = 0; i < work->part_count; i++)
        if (strcmp(work->parts[i].item->name, name) == 0) return true;
    return false;
}

static void choose_parts(plan_work *work) {
    for (size_t i = 0; i < work->plan->item_count; i++) {
        const kf_item *item = &work->plan->items[i];
        uint64_t step;
        if (!kf_item_is_work(item) || kf_item_is_empty(item) || is_counted(work, item->name) ||
            !choose_step(item, &step))
            continue;
        work->parts = kf_grow(work->parts, work->part_count, &work->part_room, sizeof *work->parts);
        work->parts[work->part_count++] = (counted_item){item, step};
        if (step > work->last_step) work->last_step = step;
    }
}

/* --- One pass ------------------------------------------------------------------------------------------- */

static int find_part(const plan_work *work, const kf_item *item) {
    for (size_t i = 0; i < work->part_count; i++)
        if (work->parts[i].item == item && work->parts[i].step == work->plan->steps_done) return (int)i;
    return -1;
}

static kf_status restore(void *context, kf_error *error) {
    const plan_work *work = context;
    KF_TRY(kf_plan_initialise(work->plan, error));
    return kf_backend_synchronize(work->plan->backend, error);
}

static kf_status run_item(void *data, const kf_item *item, kf_error *error) {
    const plan_work *work = data;
    const int counted = find_part(work, item);
    if (counted >= 0) KF_TRY(work->visit->begin(work->visit->context, counted, item, error));
    KF_TRY(kf_plan_execute(work->plan, item, error));
    return counted >= 0 ? work->visit->end(work->visit->context, error) : KF_OK;
}

static kf_status run_steps(plan_work *work, const kf_part_visit *visit, kf_error *error) {
    kf_plan *plan = work->plan;
    work->visit = visit;
    for (uint64_t step = 0; step <= work->last_step; step++) {
        KF_TRY(kf_plan_walk(plan, step, run_item, work, error));
        plan->steps_done++;
    }
    return kf_backend_synchronize(plan->backend, error);
}

kf_status kf_plan_visit_parts(kf_plan *plan, const kf_part_visit *visit, kf_error *error) {
    plan_work work = {.plan = plan};
    choose_parts(&work);
    kf_status status = restore(&work, error);
    if (status == KF_OK) status = run_steps(&work, visit, error);
    free(work.parts);
    return status;
}

static kf_status begin_part(void *context, int part, const kf_item *item, kf_error *error) {
    (void)item;
    return kf_counting_begin(context, part, error);
}

static kf_status end_part(void *context, kf_error *error) {
    return kf_counting_end(context, error);
}

static kf_status replay(void *context, kf_counting *counting, kf_error *error) {
    const kf_part_visit visit = {begin_part, end_part, counting};
    return run_steps(context, &visit, error);
}

/* --- The measurement ------------------------------------------------------------------------------------ */

static void add_counter(kf_measurement *m, const char *kernel, const char *metric, const char *unit,
                        double value, int passes) {
    if (!isfinite(value)) return;
    m->counters = kf_reallocate(m->counters, (size_t)(m->counter_count + 1) * sizeof *m->counters);
    kf_counter *counter = &m->counters[m->counter_count++];
    memset(counter, 0, sizeof *counter);
    kf_copy_text(counter->kernel, sizeof counter->kernel, kernel);
    kf_copy_text(counter->metric, sizeof counter->metric, metric);
    kf_copy_text(counter->unit, sizeof counter->unit, unit);
    counter->value = value;
    counter->passes = passes;
}

kf_status kf_count_plan(kf_plan *plan, const kf_metric_set *set, kf_measurement *measurement,
                        kf_error *error) {
    plan_work work = {.plan = plan};
    kf_counts counts;
    choose_parts(&work);
    const kf_status status =
        kf_count(plan->backend, set, (int)work.part_count, restore, replay, &work, &counts, error);
    if (status == KF_OK) {
        for (int i = 0; i < counts.part_count; i++)
            for (int k = 0; k < counts.metric_count; k++)
                add_counter(measurement, work.parts[i].item->name, counts.metrics[k]->name,
                            counts.metrics[k]->unit, counts.values[i * counts.metric_count + k],
                            counts.passes);
        kf_counts_free(&counts);
    }
    free(work.parts);
    return status;
}

/* --- Derived metrics ---------------------------------------------------------------------------------- */

typedef struct kernel_view {
    const kf_measurement *m;
    const char *kernel;
} kernel_view;

static double counted_value(void *context, const char *name) {
    const kernel_view *v = context;
    return kf_counter_value(v->m, v->kernel, name);
}

static void drop_unknown_kernels(kf_measurement *m) {
    int kept = 0;
    for (int i = 0; i < m->counter_count; i++) {
        bool known = false;
        for (int k = 0; k < m->kernel_count && !known; k++)
            known = strcmp(m->kernels[k].name, m->counters[i].kernel) == 0;
        if (known) m->counters[kept++] = m->counters[i];
    }
    m->counter_count = kept;
}

static void derive(const kf_metric_set *set, kf_measurement *m, const kf_kernel_time *kernel, int passes) {
    double values[KF_SET_DERIVED];
    const double variables[KF_SET_VARIABLES] = {
        [KF_VARIABLE_TIME_US] = kernel->time_us.count > 0 ? kernel->time_us.median : (double)NAN,
        [KF_VARIABLE_LEAST_BYTES] = kernel->bytes > 0 ? kernel->bytes : (double)NAN,
    };
    kernel_view v = {m, kernel->name};
    kf_metric_set_derive(set, counted_value, &v, variables, values);
    for (int i = 0; i < set->derived_count; i++)
        if (!isfinite(kf_counter_value(m, kernel->name, set->derived[i].name)))
            add_counter(m, kernel->name, set->derived[i].name, set->derived[i].unit, values[i], passes);
}

static bool adds_up(const char *unit) {
    return strcmp(unit, "B") == 0 || strcmp(unit, "FLOP") == 0;
}

static void add_step_sums(kf_measurement *m, int passes) {
    const int count = m->counter_count;
    for (int i = 0; i < count; i++) {
        const kf_counter first = m->counters[i];
        if (!adds_up(first.unit) || isfinite(kf_counter_value(m, "", first.metric))) continue;
        double sum = 0.0;
        for (int k = 0; k < m->kernel_count; k++) {
            const double value = kf_counter_value(m, m->kernels[k].name, first.metric);
            if (isfinite(value)) sum += value * m->kernels[k].launches_per_step;
        }
        add_counter(m, "", first.metric, first.unit, sum, passes);
    }
}

void kf_counters_complete(const kf_metric_set *set, kf_measurement *measurement) {
    drop_unknown_kernels(measurement);
    if (measurement->counter_count == 0) return;
    const int passes = measurement->counters[0].passes;
    for (int k = 0; k < measurement->kernel_count; k++)
        derive(set, measurement, &measurement->kernels[k], passes);
    add_step_sums(measurement, passes);
}
