/* Times the items of a step one by one, with an event after each item that takes time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/clock.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/measure/rows.h"
#include "harness/measure/timing.h"

enum { RARE_REPEATS = 2, LONGEST_SPAN = 16 };

/* --- Rows ------------------------------------------------------------------------------------------------
 */

/* Returns the threads that one multiprocessor holds (CUDA C++ Programming Guide, compute capabilities). */
static int resident_threads(const kf_device_info *device) {
    int capability = 0;
    if (sscanf(device->architecture, "sm_%d", &capability) != 1) return 2048;
    if (capability == 75) return 1024;
    bool consumer = (capability > 80 && capability < 90) || capability >= 120;
    return consumer ? 1536 : 2048;
}

/* Describes a kernel's machine code. For a library call or a copy nothing is known. */
static void describe_kernel(const kf_plan *plan, const kf_item *item, kf_kernel_time *kernel) {
    const kf_device_info *device = kf_backend_device(plan->parts[item->part]);
    const kf_launch *launch = item->kernel;
    kf_function_info info = {0};
    kf_function_describe(launch->function, &info);
    kernel->registers = info.registers;
    kernel->spill_bytes = info.spill_bytes;
    kernel->shared_bytes = info.shared_bytes + (int)launch->shared_bytes;
    if (!kf_device_is_gpu(device)) return;
    int threads = launch->block[0] * launch->block[1] * launch->block[2];
    int blocks = kf_function_resident_blocks(launch->function, threads, launch->shared_bytes);
    kernel->block_threads = threads;
    kf_copy_text(kernel->occupancy_limit, sizeof kernel->occupancy_limit,
                 kf_function_occupancy_limit(launch->function, threads, launch->shared_bytes));
    kernel->theoretical_occupancy = fmin(1.0, (double)blocks * threads / resident_threads(device));
}

static void describe(const kf_plan *plan, const kf_item *item, kf_kernel_time *row) {
    kf_copy_text(row->name, sizeof row->name, item->name);
    row->bytes = item->bytes;
    row->flops = item->flops;
    row->theoretical_occupancy = (double)NAN;
    if (item->kind == KF_ITEM_KERNEL) describe_kernel(plan, item, row);
}

/* Finds the row with a name. Items with the same name share a row. */
static int row_of(const kf_measurement *m, const char *name) {
    for (int i = 0; i < m->kernel_count; i++)
        if (strcmp(m->kernels[i].name, name) == 0) return i;
    return -1;
}

static kf_row_times *times_of(const kf_timing *t, int row, int part) {
    return &t->rows[(size_t)row * (size_t)t->plan->part_count + (size_t)part];
}

/* Begins the table of kernels with a row for each name. For each row and part it finds how often the item
 * runs in a step, and the bytes it moves. */
void kf_launches_begin(kf_timing *t, kf_measurement *m) {
    const kf_plan *plan = t->plan;
    t->row = kf_allocate((plan->item_count + 1) * sizeof *t->row);
    for (size_t i = 0; i < plan->item_count; i++) {
        const kf_item *item = &plan->items[i];
        t->row[i] = -1;
        if (!kf_item_is_work(item)) continue;
        t->row[i] = row_of(m, item->name);
        if (t->row[i] >= 0) continue;
        t->row[i] = m->kernel_count;
        describe(plan, item, kf_measurement_add_kernel(m));
    }
    t->row_count = m->kernel_count;
    t->rows = kf_allocate_zeroed(((size_t)m->kernel_count + 1) * (size_t)plan->part_count, sizeof *t->rows);
    for (size_t i = 0; i < plan->item_count; i++) {
        const kf_item *item = &plan->items[i];
        if (t->row[i] < 0) continue;
        kf_row_times *times = times_of(t, t->row[i], item->part);
        times->launches += 1.0 / item->period;
        times->bytes += item->bytes / item->period;
        times->flops += item->flops / item->period;
    }
}

kf_status kf_launches_make_events(kf_timing *t, kf_error *error) {
    const kf_plan *plan = t->plan;
    const int span = kf_timing_span(t), count = 2 * span * (int)plan->item_count;
    if (plan->all_parts == 1) return KF_OK;
    t->pairs = kf_allocate_zeroed((size_t)count + 1, sizeof(kf_event *));
    t->pair_count = count;
    for (int i = 0; i < count; i++) {
        const size_t item = (size_t)(i / 2 / span);
        if (t->row[item] >= 0)
            KF_TRY(kf_event_create(plan->parts[plan->items[item].part], &t->pairs[i], error));
    }
    return KF_OK;
}

/* --- Timing ----------------------------------------------------------------------------------------------
 */

int kf_timing_span(const kf_timing *t) {
    if (t->cycle <= KF_ORDINARY_STEPS || t->has_ordinary_steps) return KF_ORDINARY_STEPS;
    return t->cycle < LONGEST_SPAN ? t->cycle : LONGEST_SPAN;
}

typedef struct recorded {
    kf_timing *t;
    int *items; /* items that were run, in order */
    int count;
    int *times;             /* [item] for a team: how often it was run */
    int ends[LONGEST_SPAN]; /* [step]: number of items that had run when it ended */
} recorded;

static kf_event **pair_of(const kf_timing *t, size_t item, int time) {
    return &t->pairs[2 * (item * (size_t)kf_timing_span(t) + (size_t)time)];
}

/* Runs an item of a team between two events of its device. */
static kf_status run_in_pair(recorded *r, const kf_item *item, kf_error *error) {
    const size_t number = (size_t)(item - r->t->plan->items);
    if (r->times[number] == kf_timing_span(r->t)) return kf_plan_execute(r->t->plan, item, error);
    kf_event **pair = pair_of(r->t, number, r->times[number]++);
    KF_TRY(kf_event_record_alone(pair[0], error));
    KF_TRY(kf_plan_execute(r->t->plan, item, error));
    r->items[r->count++] = (int)number;
    return kf_event_record_alone(pair[1], error);
}

static kf_status run_item(void *data, const kf_item *item, kf_error *error) {
    recorded *r = data;
    const kf_plan *plan = r->t->plan;
    const bool is_timed = r->t->row[item - plan->items] >= 0;
    if (is_timed && r->t->pairs != NULL) return run_in_pair(r, item, error);
    KF_TRY(kf_plan_execute(plan, item, error));
    if (!is_timed) return KF_OK;
    r->items[r->count++] = (int)(item - plan->items);
    return kf_event_record(r->t->events[r->count], error);
}

static void note_time(kf_row_times *times, double time_us) {
    times->us = kf_grow(times->us, times->count, &times->room, sizeof *times->us);
    times->us[times->count++] = time_us;
}

/* Adds the time of an item to its row. Its events have happened. */
static kf_status add_time(recorded *r, int number, kf_error *error) {
    kf_timing *t = r->t;
    const int item = r->items[number];
    kf_event *const *pair =
        t->pairs != NULL ? pair_of(t, (size_t)item, r->times[item]++) : &t->events[number];
    double elapsed_us = 0.0;
    KF_TRY(kf_event_elapsed_us(pair[0], pair[1], &elapsed_us, error));
    kf_row_times *times = times_of(t, t->row[item], t->plan->items[item].part);
    times->sum_us += elapsed_us;
    times->run += 1.0;
    return KF_OK;
}

/* Reads a sample for each step and each row with a launch in it. The sample is the mean of the row's
 * launches, which may differ in size. */
static kf_status read_times(recorded *r, int steps, kf_error *error) {
    kf_timing *t = r->t;
    const int places = t->row_count * t->plan->part_count;
    memset(r->times, 0, t->plan->item_count * sizeof *r->times);
    for (int step = 0, number = 0; step < steps; step++) {
        while (number < r->ends[step])
            KF_TRY(add_time(r, number++, error));
        for (int i = 0; i < places; i++) {
            kf_row_times *times = &t->rows[i];
            if (times->run > 0.0) note_time(times, times->sum_us / times->run);
            times->sum_us = times->run = 0.0;
        }
    }
    return KF_OK;
}

static kf_status run_steps(kf_timing *t, recorded *r, int steps, kf_error *error) {
    if (t->pairs == NULL) KF_TRY(kf_event_record(t->events[0], error));
    for (int i = 0; i < steps; i++) {
        KF_TRY(kf_plan_walk(t->plan, t->plan->steps_done, run_item, r, error));
        t->plan->steps_done++;
        r->ends[i] = r->count;
    }
    KF_TRY(kf_backend_synchronize(t->plan->backend, error));
    return read_times(r, steps, error);
}

/* Runs steps from this place of a cycle on, with an event after each item. repeat: how often this was done
 * before. */
static kf_status time_steps(kf_timing *t, int place, int steps, int repeat, kf_error *error) {
    if (t->queue > 1)
        KF_TRY(kf_plan_advance(t->plan, (uint64_t)t->batch,
                               error)); /* These steps hide the latency of the launches. */
    kf_timing_go_to(t, place);
    KF_TRY(kf_timing_seek(t, (size_t)repeat, repeat % t->windows, error));
    recorded r = {.t = t,
                  .items = kf_allocate((size_t)t->event_count * sizeof *r.items),
                  .times = kf_allocate_zeroed(t->plan->item_count + 1, sizeof *r.times)};
    const kf_status status = run_steps(t, &r, steps, error);
    free(r.items);
    free(r.times);
    return status;
}

static bool is_rare(const kf_timing *t, int row) {
    double most = 0.0;
    for (int part = 0; part < t->plan->part_count; part++)
        most = fmax(most, times_of(t, row, part)->launches);
    return most < 1.0 / KF_ORDINARY_STEPS;
}

/* Finds the first place after `last` where an item is due that no process has timed yet; -1: none. */
static kf_status next_rare_place(const kf_timing *t, int last, int *place, kf_error *error) {
    double nearest =
        -(double)INFINITY; /* The processes agree on the largest value, so places count downwards. */
    for (size_t i = 0; i < t->plan->item_count; i++) {
        const kf_item *item = &t->plan->items[i];
        const int row = t->row[i], phase = item->phase;
        if (row >= 0 && phase > last && is_rare(t, row) && times_of(t, row, item->part)->count == 0)
            nearest = fmax(nearest, -(double)phase);
    }
    KF_TRY(kf_timing_agree(t, &nearest, 1, error));
    *place = isfinite(nearest) ? (int)-nearest : -1;
    return KF_OK;
}

/* Times rare items. Most of them are due at place 0 of a cycle. */
static kf_status time_rare_items(kf_timing *t, kf_error *error) {
    for (int repeat = 0; repeat < RARE_REPEATS; repeat++)
        KF_TRY(time_steps(t, 0, KF_ORDINARY_STEPS, repeat, error));
    for (int last = -1, place;; last = place) {
        KF_TRY(next_rare_place(t, last, &place, error));
        if (place < 0) return KF_OK;
        for (int repeat = 0; repeat < RARE_REPEATS; repeat++)
            KF_TRY(time_steps(t, place, 1, repeat, error));
    }
}

kf_status kf_launches_time_rare(kf_timing *t, const kf_measurement *m, kf_error *error) {
    t->rare_us = 0.0;
    if (t->cycle <= KF_ORDINARY_STEPS) return KF_OK;
    KF_TRY(time_rare_items(t, error));
    for (int row = 0; row < m->kernel_count; row++) {
        double slowest_us = 0.0; /* The parts run at the same time, so the slowest counts. */
        for (int part = 0; part < t->plan->part_count && is_rare(t, row); part++) {
            const kf_row_times *times = times_of(t, row, part);
            if (times->count > 0)
                slowest_us = fmax(slowest_us, times->launches * kf_median(times->us, times->count));
        }
        t->rare_us += slowest_us;
    }
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

/* Fills the row of one part. Returns false if the item never ran there. */
static bool row_of_part(const kf_timing *t, const kf_kernel_time *row, int number, int part,
                        kf_kernel_time *own) {
    const kf_row_times *times = times_of(t, number, part);
    if (times->count == 0) return false;
    *own = *row;
    own->time_us = kf_summarise(times->us, times->count);
    own->launches_per_step = times->launches;
    own->bytes = times->bytes / times->launches;
    own->flops = times->flops / times->launches;
    return true;
}

/* Drops the rows of items that never ran. */
void kf_launches_end(kf_timing *t, kf_measurement *m) {
    int kept = 0;
    for (int i = 0; i < m->kernel_count; i++) {
        const kf_kernel_time row = m->kernels[i];
        bool has_one = false;
        for (int part = 0; part < t->plan->part_count; part++) {
            kf_kernel_time own;
            if (!row_of_part(t, &row, i, part, &own)) continue;
            if (has_one)
                kf_rows_join(&m->kernels[kept], &own);
            else
                m->kernels[kept] = own;
            has_one = true;
        }
        kept += has_one;
    }
    m->kernel_count = kept;
}

void kf_launches_free(kf_timing *t) {
    for (int i = 0; i < t->pair_count; i++)
        if (t->pairs[i] != NULL) kf_event_free(t->pairs[i]);
    for (int i = 0; i < t->row_count * t->plan->part_count; i++)
        free(t->rows[i].us);
    free(t->pairs);
    free(t->rows);
    free(t->row);
}
