/* Timing launch by launch: an event after every launch of a step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/clock.h"
#include "base/util/text.h"
#include "harness/measure/timing.h"

enum { RARE_REPEATS = 2 };

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

static void describe_kernel(const kf_plan *plan, const kf_launch *launch, kf_kernel_time *kernel) {
    const kf_device_info *device = kf_backend_device(plan->backend);
    kf_function_info info = {0};
    kf_function_describe(launch->function, &info);
    kf_copy_text(kernel->name, sizeof kernel->name, launch->name);
    kernel->bytes = launch->bytes;
    kernel->flops = launch->flops;
    kernel->registers = info.registers;
    kernel->spill_bytes = info.spill_bytes;
    kernel->shared_bytes = info.shared_bytes;
    kernel->theoretical_occupancy = (double)NAN;
    if (strcmp(device->backend, "cuda") != 0) return;
    int threads = launch->block[0] * launch->block[1] * launch->block[2];
    int blocks = kf_function_resident_blocks(launch->function, threads);
    kf_copy_text(kernel->occupancy_limit, sizeof kernel->occupancy_limit,
                 kf_function_occupancy_limit(launch->function, threads));
    kernel->theoretical_occupancy = fmin(1.0, (double)blocks * threads / resident_threads(device));
}

/* How many times a step this launch of the even (0) or odd (1) step runs on average. */
static double frequency(const kf_launch *launch, int parity) {
    if (launch->period % 2 == 1) return 0.5 / launch->period;
    return parity == 0 ? 1.0 / launch->period : 0.0; /* an even period is never over at an odd step */
}

/* The launch of the even step that this one of the odd step repeats, or -1. */
static int even_twin(const kf_plan *plan, int index) {
    const char *name = plan->step[1][index].name;
    if (index < plan->step_count[0] && strcmp(plan->step[0][index].name, name) == 0) return index;
    for (int i = 0; i < plan->step_count[0]; i++)
        if (strcmp(plan->step[0][i].name, name) == 0) return i;
    return -1;
}

/* One row a launch; even and odd steps share those they have in common. */
void kf_launches_begin(kf_timing *t, kf_measurement *m) {
    const kf_plan *plan = t->plan;
    kf_launch_times *launches = &t->launches;
    for (int parity = 0; parity < 2; parity++)
        for (int i = 0; i < plan->step_count[parity]; i++) {
            int twin = parity == 1 ? even_twin(plan, i) : -1;
            int row = twin >= 0 ? launches->row[0][twin] : m->kernel_count;
            if (row == KF_PLAN_LAUNCHES) row = -1; /* the table is full */
            launches->row[parity][i] = row;
            if (row < 0) continue;
            if (row == m->kernel_count)
                describe_kernel(plan, &plan->step[parity][i], &m->kernels[m->kernel_count++]);
            m->kernels[row].launches_per_step += frequency(&plan->step[parity][i], parity);
        }
    launches->capacity = 2 * (size_t)(t->policy->kernel_repeats + RARE_REPEATS);
    launches->storage = kf_allocate(KF_PLAN_LAUNCHES * launches->capacity * sizeof *launches->storage);
    for (int i = 0; i < KF_PLAN_LAUNCHES; i++)
        launches->times_us[i] = launches->storage + (size_t)i * launches->capacity;
}

/* --- timing ----------------------------------------------------------------------------------------------
 */

static kf_status record_step(kf_timing *t, int *rows, int *launched, kf_error *error) {
    kf_plan *plan = t->plan;
    int parity = (int)(plan->steps_done % 2);
    for (int i = 0; i < plan->step_count[parity]; i++) {
        const kf_launch *launch = &plan->step[parity][i];
        if (plan->steps_done % (uint64_t)launch->period != 0) continue;
        KF_TRY(kf_backend_launch(plan->backend, launch, error));
        KF_TRY(kf_event_record(t->events[*launched + 1], error));
        rows[(*launched)++] = t->launches.row[parity][i];
    }
    plan->steps_done++;
    return KF_OK;
}

/* Runs an even and an odd step, from this place of a cycle on, with an event after every launch. repeat: how
 * often that was done before. */
static kf_status time_two_steps(kf_timing *t, int place, int repeat, kf_error *error) {
    kf_launch_times *launches = &t->launches;
    int rows[2 * KF_PLAN_LAUNCHES], launched = 0;
    if (t->queue > 1)
        KF_TRY(kf_plan_advance(t->plan, (uint64_t)t->batch, error)); /* hides the launch latency */
    kf_timing_go_to(t, place);
    KF_TRY(kf_timing_turn_to(t, (size_t)repeat, repeat % t->windows, error));
    KF_TRY(kf_event_record(t->events[0], error));
    KF_TRY(record_step(t, rows, &launched, error));
    KF_TRY(record_step(t, rows, &launched, error));
    KF_TRY(kf_backend_synchronize(t->plan->backend, error));
    for (int i = 0; i < launched; i++) {
        double elapsed_us = 0.0;
        KF_TRY(kf_event_elapsed_us(t->events[i], t->events[i + 1], &elapsed_us, error));
        int row = rows[i];
        if (row >= 0 && launches->count[row] < launches->capacity)
            launches->times_us[row][launches->count[row]++] = elapsed_us;
    }
    return KF_OK;
}

static bool is_rare(const kf_measurement *m, int row) {
    return m->kernels[row].launches_per_step < 0.5;
}

kf_status kf_launches_time_rare(kf_timing *t, const kf_measurement *m, kf_error *error) {
    kf_launch_times *launches = &t->launches;
    t->rare_us = 0.0;
    if (t->cycle == 2) return KF_OK;
    for (int repeat = 0; repeat < RARE_REPEATS; repeat++)
        KF_TRY(time_two_steps(t, 0, repeat, error));
    for (int row = 0; row < m->kernel_count; row++) {
        if (is_rare(m, row) && launches->count[row] > 0)
            t->rare_us +=
                m->kernels[row].launches_per_step * kf_median(launches->times_us[row], launches->count[row]);
    }
    return KF_OK;
}

kf_status kf_launches_time_ordinary(kf_timing *t, kf_error *error) {
    double begin = kf_clock_seconds();
    for (int repeat = 0; repeat < t->policy->kernel_repeats; repeat++) {
        KF_TRY(time_two_steps(t, t->cycle > 2 ? KF_ORDINARY_PLACE : 0, repeat, error));
        if (1e6 * (kf_clock_seconds() - begin) >= t->policy->kernel_limit_us) break;
    }
    return KF_OK;
}

/* Launches that never ran have no row. */
void kf_launches_end(kf_timing *t, kf_measurement *m) {
    int kept = 0;
    for (int i = 0; i < m->kernel_count; i++) {
        if (t->launches.count[i] == 0) continue;
        m->kernels[kept] = m->kernels[i];
        m->kernels[kept++].time_us = kf_summarise(t->launches.times_us[i], t->launches.count[i]);
    }
    m->kernel_count = kept;
    free(t->launches.storage);
}
