/* Timing item by item: an event after each of a step that takes time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/clock.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/measure/timing.h"

enum { RARE_REPEATS = 2, LONGEST_SPAN = 16 };

/* --- rows ------------------------------------------------------------------------------------------------
 */

/* Threads resident on one multiprocessor, from the table of compute capabilities in the CUDA C++ Programming
 * Guide. */
static int resident_threads(const kf_device_info *device) {
    int capability = 0;
    if (sscanf(device->architecture, "sm_%d", &capability) != 1) return 2048;
    if (capability == 75) return 1024;
    bool consumer = (capability > 80 && capability < 90) || capability >= 120;
    return consumer ? 1536 : 2048;
}

/* What the compiler made of it; of what a library or a copy does nothing is known. */
static void describe_kernel(const kf_plan *plan, const kf_item *item, kf_kernel_time *kernel) {
    const kf_device_info *device = kf_backend_device(plan->parts[item->part]);
    const kf_launch *launch = item->kernel;
    kf_function_info info = {0};
    kf_function_describe(launch->function, &info);
    kernel->registers = info.registers;
    kernel->spill_bytes = info.spill_bytes;
    kernel->shared_bytes = info.shared_bytes;
    if (!kf_device_is_gpu(device)) return;
    int threads = launch->block[0] * launch->block[1] * launch->block[2];
    int blocks = kf_function_resident_blocks(launch->function, threads);
    kf_copy_text(kernel->occupancy_limit, sizeof kernel->occupancy_limit,
                 kf_function_occupancy_limit(launch->function, threads));
    kernel->theoretical_occupancy = fmin(1.0, (double)blocks * threads / resident_threads(device));
}

static void describe(const kf_plan *plan, const kf_item *item, kf_kernel_time *row) {
    kf_copy_text(row->name, sizeof row->name, item->name);
    row->bytes = item->bytes;
    row->flops = item->flops;
    row->theoretical_occupancy = (double)NAN;
    if (item->kind == KF_ITEM_KERNEL) describe_kernel(plan, item, row);
}

/* Items of one name share a row. */
static int row_of(const kf_measurement *m, const char *name) {
    for (int i = 0; i < m->kernel_count; i++)
        if (strcmp(m->kernels[i].name, name) == 0) return i;
    return -1;
}

void kf_launches_begin(kf_timing *t, kf_measurement *m) {
    const kf_plan *plan = t->plan;
    t->row = kf_allocate((plan->item_count + 1) * sizeof *t->row);
    for (size_t i = 0; i < plan->item_count; i++) {
        const kf_item *item = &plan->items[i];
        t->row[i] = -1;
        if (!kf_item_is_work(item)) continue;
        t->row[i] = row_of(m, item->name);
        if (t->row[i] < 0) {
            t->row[i] = m->kernel_count;
            describe(plan, item, kf_measurement_add_kernel(m));
        }
        m->kernels[t->row[i]].launches_per_step += 1.0 / item->period;
    }
    t->rows = kf_allocate_zeroed((size_t)m->kernel_count + 1, sizeof *t->rows);
}

/* --- timing ----------------------------------------------------------------------------------------------
 */

int kf_timing_span(const kf_timing *t) {
    if (t->cycle <= KF_ORDINARY_STEPS || t->has_ordinary_steps) return KF_ORDINARY_STEPS;
    return t->cycle < LONGEST_SPAN ? t->cycle : LONGEST_SPAN;
}

typedef struct recorded {
    kf_timing *t;
    int *rows; /* of the items that were run, each between two events */
    int count;
} recorded;

static kf_status run_item(void *data, const kf_item *item, kf_error *error) {
    recorded *r = data;
    const kf_plan *plan = r->t->plan;
    KF_TRY(kf_plan_execute(plan, item, error));
    const int row = r->t->row[item - plan->items];
    if (row < 0) return KF_OK;
    r->rows[r->count++] = row;
    return kf_event_record(r->t->events[r->count], error);
}

static void note_time(kf_row_times *times, double time_us) {
    times->us = kf_grow(times->us, times->count, &times->room, sizeof *times->us);
    times->us[times->count++] = time_us;
}

static kf_status run_steps(kf_timing *t, recorded *r, int steps, kf_error *error) {
    KF_TRY(kf_event_record(t->events[0], error));
    for (int i = 0; i < steps; i++) {
        KF_TRY(kf_plan_walk(t->plan, t->plan->steps_done, run_item, r, error));
        t->plan->steps_done++;
    }
    KF_TRY(kf_backend_synchronize(t->plan->backend, error));
    for (int i = 0; i < r->count; i++) {
        double elapsed_us = 0.0;
        KF_TRY(kf_event_elapsed_us(t->events[i], t->events[i + 1], &elapsed_us, error));
        note_time(&t->rows[r->rows[i]], elapsed_us);
    }
    return KF_OK;
}

/* Runs steps from this place of a cycle on, with an event after every item. repeat: how often that was done
 * before. */
static kf_status time_steps(kf_timing *t, int place, int steps, int repeat, kf_error *error) {
    if (t->queue > 1)
        KF_TRY(kf_plan_advance(t->plan, (uint64_t)t->batch, error)); /* hides the launch latency */
    kf_timing_go_to(t, place);
    KF_TRY(kf_timing_seek(t, (size_t)repeat, repeat % t->windows, error));
    recorded r = {.t = t, .rows = kf_allocate((size_t)t->event_count * sizeof *r.rows)};
    const kf_status status = run_steps(t, &r, steps, error);
    free(r.rows);
    return status;
}

static bool is_rare(const kf_measurement *m, int row) {
    return m->kernels[row].launches_per_step < 1.0 / KF_ORDINARY_STEPS;
}

/* The first place after `last` at which an item is due that was not timed yet, on any process; -1: there is
 * none. */
static kf_status next_rare_place(const kf_timing *t, const kf_measurement *m, int last, int *place,
                                 kf_error *error) {
    double nearest = -(double)INFINITY; /* the largest is agreed on, so places count downwards */
    for (size_t i = 0; i < t->plan->item_count; i++) {
        const int row = t->row[i], phase = t->plan->items[i].phase;
        if (row >= 0 && is_rare(m, row) && t->rows[row].count == 0 && phase > last)
            nearest = fmax(nearest, -(double)phase);
    }
    KF_TRY(kf_timing_agree(t, &nearest, 1, error));
    *place = isfinite(nearest) ? (int)-nearest : -1;
    return KF_OK;
}

/* Most are due at place 0 of a cycle. */
static kf_status time_rare_items(kf_timing *t, const kf_measurement *m, kf_error *error) {
    for (int repeat = 0; repeat < RARE_REPEATS; repeat++)
        KF_TRY(time_steps(t, 0, KF_ORDINARY_STEPS, repeat, error));
    for (int last = -1, place;; last = place) {
        KF_TRY(next_rare_place(t, m, last, &place, error));
        if (place < 0) return KF_OK;
        for (int repeat = 0; repeat < RARE_REPEATS; repeat++)
            KF_TRY(time_steps(t, place, 1, repeat, error));
    }
}

kf_status kf_launches_time_rare(kf_timing *t, const kf_measurement *m, kf_error *error) {
    t->rare_us = 0.0;
    if (t->cycle <= KF_ORDINARY_STEPS) return KF_OK;
    KF_TRY(time_rare_items(t, m, error));
    for (int row = 0; row < m->kernel_count; row++)
        if (is_rare(m, row) && t->rows[row].count > 0)
            t->rare_us += m->kernels[row].launches_per_step * kf_median(t->rows[row].us, t->rows[row].count);
    return KF_OK;
}

kf_status kf_launches_time_ordinary(kf_timing *t, kf_error *error) {
    const bool ordinary = t->cycle > KF_ORDINARY_STEPS && t->has_ordinary_steps;
    double begin = kf_clock_seconds();
    for (int repeat = 0; repeat < t->policy->kernel_repeats; repeat++) {
        KF_TRY(time_steps(t, ordinary ? KF_ORDINARY_PLACE : 0, kf_timing_span(t), repeat, error));
        double elapsed_us = 0.0;
        KF_TRY(kf_timing_since(t, begin, &elapsed_us, error));
        if (elapsed_us >= t->policy->kernel_limit_us) break;
    }
    return KF_OK;
}

/* What never ran has no row. */
void kf_launches_end(kf_timing *t, kf_measurement *m) {
    int kept = 0;
    for (int i = 0; i < m->kernel_count; i++) {
        const kf_row_times *times = &t->rows[i];
        if (times->count > 0) {
            m->kernels[kept] = m->kernels[i];
            m->kernels[kept++].time_us = kf_summarise(times->us, times->count);
        }
        free(times->us);
    }
    m->kernel_count = kept;
    free(t->rows);
    free(t->row);
}
