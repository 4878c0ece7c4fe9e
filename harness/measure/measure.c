#include "harness/measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util/clock.h"
#include "base/util/memory.h"
#include "harness/measure/quality.h"
#include "harness/measure/rows.h"
#include "harness/measure/timing.h"

/* --- The whole step ----------------------------------------------------------------------------------- */

static kf_status make_events(kf_timing *t, int count, kf_error *error) {
    t->events = kf_allocate_zeroed((size_t)count, sizeof(kf_event *));
    for (; t->event_count < count; t->event_count++)
        KF_TRY(kf_event_create(t->plan->backend, &t->events[t->event_count], error));
    return KF_OK;
}

static void free_events(kf_timing *t) {
    for (int i = 0; i < t->event_count; i++)
        kf_event_free(t->events[i]);
    free(t->events);
}

static kf_status run_batch(kf_timing *t, kf_error *error) {
    kf_timing_go_to(t, t->whole_cycles ? 0 : KF_ORDINARY_PLACE);
    t->steps_run += (uint64_t)t->batch;
    if (t->ordinary == NULL) return kf_plan_advance(t->plan, (uint64_t)t->batch, error);
    t->plan->steps_done += (uint64_t)t->batch;
    return kf_graph_launch(t->ordinary, error);
}

/* Prepares a window without timing: moves the plan to its step, and fills the cache as the measurement wants
 * it. */
static kf_status prepare_window(kf_timing *t, size_t sample, int window, kf_error *error) {
    KF_TRY(kf_timing_seek(t, sample, window, error));
    switch (t->policy->cache) {
    case KF_CACHE_COLD:
        return kf_buffer_fill(t->flush, 0, error);
    case KF_CACHE_HOT:
        KF_TRY(run_batch(t, error));
        return kf_timing_seek(t, sample, window, error);
    default:
        return KF_OK;
    }
}

/* Queues one sample: windows of `batch` steps, with an event before and after each. */
static kf_status queue_sample(kf_timing *t, size_t sample, kf_event **events, kf_error *error) {
    KF_TRY(kf_sm_clock_mark(t->clock, error));
    for (int window = 0; window < t->windows; window++) {
        KF_TRY(prepare_window(t, sample, window, error));
        KF_TRY(kf_event_record(events[2 * window], error));
        KF_TRY(run_batch(t, error));
        KF_TRY(kf_event_record(events[2 * window + 1], error));
    }
    return kf_sm_clock_mark(t->clock, error);
}

/* Reads the time of a step from a sample whose events have happened. */
static kf_status read_sample(const kf_timing *t, kf_event *const *events, double *time_us, kf_error *error) {
    double sum_us = 0.0;
    for (int window = 0; window < t->windows; window++) {
        double elapsed_us = 0.0;
        KF_TRY(kf_event_elapsed_us(events[2 * window], events[2 * window + 1], &elapsed_us, error));
        sum_us += elapsed_us;
    }
    double step_us = sum_us / t->windows / t->batch + (t->whole_cycles ? 0.0 : t->rare_us);
    *time_us = (double)(float)
        step_us; /* The store keeps this precision, so a resumed run decides by the same numbers. */
    return KF_OK;
}

/* Times `count` samples from number `first` on, queued behind one that does not count. times_us: of a step,
 * for each sample; clocks_mhz: during each sample. */
static kf_status time_samples(kf_timing *t, size_t first, int count, double *times_us, double *clocks_mhz,
                              kf_error *error) {
    if (t->queue > 1) KF_TRY(run_batch(t, error));
    for (int i = 0; i < count; i++)
        KF_TRY(queue_sample(t, first + (size_t)i, t->events + 2 * t->windows * i, error));
    KF_TRY(kf_backend_synchronize(t->plan->backend, error));
    for (int i = 0; i < count; i++)
        KF_TRY(read_sample(t, t->events + 2 * t->windows * i, &times_us[i], error));
    KF_TRY(kf_timing_agree(t, times_us, count, error));
    return kf_sm_clock_take(t->clock, count, clocks_mhz, error);
}

static kf_status time_batch(kf_timing *t, int batch, double *step_us, double *clock_mhz, kf_error *error) {
    KF_TRY(kf_sm_clock_mark(t->clock, error));
    KF_TRY(kf_event_record(t->events[0], error));
    KF_TRY(kf_plan_advance(t->plan, (uint64_t)batch, error));
    KF_TRY(kf_event_record(t->events[1], error));
    KF_TRY(kf_sm_clock_mark(t->clock, error));
    KF_TRY(kf_backend_synchronize(t->plan->backend, error));
    KF_TRY(kf_event_elapsed_us(t->events[0], t->events[1], step_us, error));
    *step_us /= batch;
    KF_TRY(kf_timing_agree(t, step_us, 1, error));
    return kf_sm_clock_take(t->clock, 1, clock_mhz, error);
}

/* Runs until clocks and caches are warm; *step_us: approximate time of a step. */
static kf_status warm_up(kf_timing *t, double *step_us, kf_error *error) {
    const kf_measure_policy *policy = t->policy;
    enum { MOST_READINGS = 256 };
    double begin = kf_clock_seconds(), busy_us = 0.0, elapsed_us = 0.0, clocks[MOST_READINGS];
    size_t readings = 0;
    int steps = 0, batch = 2;
    bool cold = true;
    do {
        if (readings == MOST_READINGS) readings = 0;
        KF_TRY(time_batch(t, batch, step_us, &clocks[readings++], error));
        steps += batch;
        busy_us += *step_us * batch;
        cold = steps < policy->warm_up_steps || busy_us < policy->warm_up_us;
        /* Each turn runs twice as many steps as the last, but not past the end of warming up. The final turns
         * last as long as a reading of the clock. */
        const double left_us = cold ? policy->warm_up_us - busy_us : policy->reading_us;
        double wanted = fmin(2.0 * batch, left_us / fmax(*step_us, 1e-3));
        batch = 2 * (int)fmax(1.0, ceil(wanted / 2.0));
        KF_TRY(kf_timing_since(t, begin, &elapsed_us, error));
    } while (2.0 * *step_us <= policy->slow_us &&
             (cold || (t->clock != NULL && !kf_clock_is_steady(clocks, readings))) &&
             elapsed_us < policy->warm_up_limit_us);
    return KF_OK;
}

/* Returns the number of steps of which a sample has a multiple. On a GPU it is that of a run's graph. It is
 * that of a cycle if a graph would take too long, because graphs hardly matter then, or if the cache must be
 * cold before each sample. */
static int unit_of_samples(const kf_timing *t, double step_us) {
    static const double LONG = 20; /* samples */
    const bool gpu = kf_device_is_gpu(kf_backend_device(t->plan->backend));
    const int stride = gpu && t->policy->cache != KF_CACHE_COLD ? kf_plan_stride(t->plan) : t->cycle;
    return stride * step_us <= LONG * t->policy->sample_us ? stride : t->cycle;
}

/* Chooses the length of a sample. Items that overlap in a run's graph must also overlap in a sample. The
 * first sample of this length does not count, because it may make a graph. */
static kf_status choose_samples(kf_timing *t, double step_us, kf_error *error) {
    t->whole_cycles = t->cycle <= KF_ORDINARY_STEPS || t->cycle * step_us <= t->policy->long_cycle_us ||
                      !t->has_ordinary_steps;
    t->batch = t->whole_cycles ? kf_policy_batch(t->policy, unit_of_samples(t, step_us), step_us)
                               : KF_ORDINARY_STEPS;
    t->queue = kf_policy_queue(t->policy, step_us * t->batch * t->windows);
    if (!t->whole_cycles)
        KF_TRY(kf_plan_part_of_graph(t->plan, KF_ORDINARY_PLACE, KF_ORDINARY_STEPS, &t->ordinary, error));
    if (step_us * t->batch > t->policy->long_cycle_us) return KF_OK;
    KF_TRY(run_batch(t, error));
    return kf_backend_synchronize(t->plan->backend, error);
}

/* Takes the next few samples. The first two come alone, because they decide whether the config is worth more
 * samples. */
static kf_status add_samples(kf_timing *t, kf_measurement *m, kf_error *error) {
    int count = t->queue;
    if (m->sample_count < KF_SKIP_SAMPLES && count > KF_SKIP_SAMPLES) count = KF_SKIP_SAMPLES;
    if (m->sample_count + (size_t)count > t->policy->most_samples)
        count = (int)(t->policy->most_samples - m->sample_count);
    KF_TRY(time_samples(t, m->sample_count, count, m->samples_us + m->sample_count,
                        m->clocks_mhz + m->sample_count, error));
    m->sample_count += (size_t)count;
    return KF_OK;
}

/* Returns whether timing is done. For a plan with windows precision is not enough, because its steps differ
 * in cost along the run. The windows must cover the whole run unless that takes too long. */
static bool is_done(const kf_timing *t, const kf_incumbent *incumbent, kf_measurement *m, double elapsed_us) {
    if (!kf_policy_done(t->policy, incumbent, m->samples_us, m->sample_count, m->batch, elapsed_us, &m->stop))
        return false;
    uint64_t wanted = (uint64_t)t->policy->window_steps, steps = m->sample_count * (uint64_t)m->batch;
    if (wanted > t->plan->window_steps) wanted = t->plan->window_steps; /* 0: there are no windows */
    return m->stop != KF_STOP_PRECISE || steps >= wanted;
}

/* Returns whether too many samples ran at another clock, and waiting for more samples is worth it. */
static bool waits_for_clock(const kf_timing *t, kf_measurement *m, int *pauses) {
    enum { MOST_PAUSES = 2 };
    if (t->clock == NULL || m->state != KF_STATE_OK || *pauses == MOST_PAUSES) return false;
    kf_classify_clocks(m);
    if (m->clock_state != KF_CLOCK_UNSTEADY || m->sample_count >= t->policy->most_samples) return false;
    ++*pauses;
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e3 * t->policy->pause_us)}, NULL);
    return true;
}

/* Times steps in samples until the median is precise enough, the time is over, or the config is clearly
 * slower than the best so far. A sample's time is in microseconds a step. Pauses wait for a steady clock. */
static kf_status time_steps(kf_timing *t, const kf_incumbent *incumbent, kf_measurement *m, kf_error *error) {
    const kf_measure_policy *policy = t->policy;
    const size_t room = policy->most_samples + (size_t)t->queue;
    m->samples_us = kf_allocate(room * sizeof *m->samples_us);
    m->clocks_mhz = kf_allocate(room * sizeof *m->clocks_mhz);
    m->batch = t->windows * t->batch;
    m->window_steps = (int)t->plan->window_steps;
    m->windows = t->plan->windows;
    m->state = KF_STATE_OK;
    m->cache = policy->cache;
    int pauses = 0;
    double begin = kf_clock_seconds(), elapsed_us = 0.0;
    do {
        KF_TRY(add_samples(t, m, error));
        KF_TRY(kf_timing_since(t, begin, &elapsed_us, error));
        double slowdown = 0.0;
        if (m->sample_count == KF_SKIP_SAMPLES &&
            kf_policy_skips(policy, incumbent, m->samples_us, m->sample_count, &slowdown)) {
            m->state = KF_STATE_SKIPPED;
            (void)snprintf(m->reason, sizeof m->reason,
                           "%.2f times as slow as the best so far after %d samples", slowdown,
                           KF_SKIP_SAMPLES);
            m->stop = KF_STOP_SAMPLES;
            break;
        }
    } while (!is_done(t, incumbent, m, elapsed_us) || waits_for_clock(t, m, &pauses));
    m->step_us = kf_summarise(m->samples_us, m->sample_count);
    kf_classify_clocks(m);
    kf_describe_outliers(m);
    if (m->clock_state == KF_CLOCK_UNKNOWN) {
        free(m->clocks_mhz);
        m->clocks_mhz = NULL;
    }
    return KF_OK;
}

/* Times the steps and their energy. The energy is that of the whole device, idle parts included. Its counter
 * changes some ten times a second, so short timing cannot measure it. */
static kf_status time_steps_and_energy(kf_timing *t, const kf_incumbent *incumbent, kf_measurement *m,
                                       kf_error *error) {
    static const double LEAST_SECONDS = 0.4;
    kf_device_state before, after;
    /* Reading the counter takes milliseconds, in which a short timing would be finished. */
    if (t->policy->time_limit_us < 1e6 * LEAST_SECONDS) return time_steps(t, incumbent, m, error);
    kf_backend_device_state(t->plan->backend, &before);
    const double begin = kf_clock_seconds();
    const uint64_t steps = t->steps_run;
    KF_TRY(time_steps(t, incumbent, m, error));
    kf_backend_device_state(t->plan->backend, &after);
    const double joules = after.energy_j - before.energy_j;
    if (kf_clock_seconds() - begin >= LEAST_SECONDS && isfinite(joules) && joules > 0.0)
        m->energy_j = joules / (double)(t->steps_run - steps);
    return KF_OK;
}

static size_t cache_bytes(const kf_backend *backend) {
    const uint64_t bytes = kf_backend_device(backend)->l2_bytes;
    return bytes > 0 ? (size_t)bytes : (size_t)64 << 20;
}

/* Measures a plan from warm-up to the kernel table: first rare items, then samples with energy, then ordinary
 * steps launch by launch. Rates follow from the median step. */
static kf_status measure(kf_timing *t, const kf_incumbent *incumbent, kf_measurement *m, kf_error *error) {
    kf_plan *plan = t->plan;
    KF_TRY(kf_timing_begin(t, error));
    int event_count = kf_timing_span(t) * (int)plan->item_count + 1;
    if (event_count < 2 * t->windows * t->policy->queue) event_count = 2 * t->windows * t->policy->queue;
    KF_TRY(make_events(t, event_count, error));
    KF_TRY(kf_launches_make_events(t, error));
    if (t->policy->cache == KF_CACHE_COLD)
        KF_TRY(kf_buffer_create(plan->backend, cache_bytes(plan->backend), &t->flush, error));
    KF_TRY(kf_plan_initialise(plan, error));
    double step_us = 0.0;
    KF_TRY(warm_up(t, &step_us, error));
    KF_TRY(choose_samples(t, step_us, error));
    KF_TRY(kf_launches_time_rare(t, m, error));
    KF_TRY(time_steps_and_energy(t, incumbent, m, error));
    if (m->state != KF_STATE_OK) return KF_OK;
    m->updates_per_us = plan->updates / m->step_us.median;
    m->effective_bandwidth = plan->least_bytes / (m->step_us.median * 1e-6);
    KF_TRY(kf_launches_time_ordinary(t, error));
    kf_launches_end(t, m);
    return t->together ? kf_rows_gather(m, error) : KF_OK;
}

kf_status kf_measure_plan(kf_plan *plan, const kf_measure_policy *policy, const kf_incumbent *incumbent,
                          kf_measurement *measurement, kf_error *error) {
    kf_timing t = {.plan = plan, .policy = policy, .windows = 1};
    if (plan->windows > 0) t.windows = plan->windows;
    double begin = kf_clock_seconds();
    t.together = plan->all_parts > plan->part_count;
    if (!t.together)
        t.clock =
            kf_sm_clock_open(plan->backend, 2 * policy->queue); /* each process would read its own clock */
    kf_launches_begin(&t, measurement);
    kf_status status = measure(&t, incumbent, measurement, error);
    kf_launches_free(&t);
    if (status != KF_OK || measurement->state != KF_STATE_OK) measurement->kernel_count = 0;
    measurement->measure_seconds = kf_clock_seconds() - begin;
    free_events(&t);
    kf_graph_free(t.ordinary);
    kf_sm_clock_close(t.clock);
    kf_buffer_free(t.flush);
    return status;
}
