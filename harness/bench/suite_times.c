/* Measures the timings of a suite. Each is the fastest of a few configs on one scene. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/clock.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/processors.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/bench/suite_run.h"
#include "harness/worker/builder.h"
#include "harness/worker/worker.h"

static const double verify_and_time_seconds = 180, compile_seconds = 300;
static const double short_us = 0.6e6; /* time for a candidate before it is known to be the best */
static const double longest_cycle_us =
    2e5; /* Up to this length of a cycle, samples consist of whole cycles, one graph each. */

typedef struct session {
    kf_suite_problems *problems;
    const kf_suite_file *file;
    const bool *wanted;
    kf_suite_time *times;
    kf_source_builder *builder;
    kf_setting setting;   /* the setting of the builder; the worker's jobs refer to one of `settings` */
    kf_setting *settings; /* one for each scene */
    kf_worker *worker;    /* NULL: not yet. It is forked when all problems and references exist. */
    double begin;
} session;

void kf_suite_add_leaders(const kf_suite_file *file, bool *wanted) {
    for (int i = file->timing_count - 1; i >= 0; i--) /* A leader comes before the timings that follow it. */
        if (wanted[i] && file->timings[i].follows >= 0) wanted[file->timings[i].follows] = true;
}

/* --- Configs -------------------------------------------------------------------------------------------- */

static void add_candidate(session *s, const kf_suite_timing *timing, const kf_space *space,
                          const kf_trial *trial, const kf_candidate *candidate, kf_suite_time *time) {
    const kf_problem *problem = s->problems->list[timing->scene].problem;
    const kf_suite_time *leader = timing->follows >= 0 ? &s->times[timing->follows] : NULL;
    kf_suite_try *try = &time->tries[time->try_count++];
    *try = (kf_suite_try){.candidate = candidate, .step_us = (double)NAN};
    try->in_space =
        kf_suite_configure(space, problem, timing,
                           leader != NULL && leader->best >= 0 ? leader->tries[leader->best].candidate : NULL,
                           candidate, &try->config, try->reason, sizeof try->reason);
    if (try->in_space)
        try->ticket = kf_builder_add_problems(s->builder, trial->problem, problem, &try->config);
}

/* Makes the configs of a timing and queues their sources for compiling. */
static kf_status prepare(session *s, int index, kf_error *error) {
    const kf_suite_timing *timing = &s->file->timings[index];
    const kf_suite_problem *made = &s->problems->list[timing->scene];
    kf_suite_time *time = &s->times[index];
    const kf_space *space = NULL;
    kf_trial *trial = NULL;
    if (timing->gpu_only && !s->problems->gpu)
        kf_copy_text(time->reason, sizeof time->reason, "only measured on a GPU");
    else if (made->problem == NULL)
        kf_copy_text(time->reason, sizeof time->reason, made->reason);
    if (time->reason[0] != '\0') return KF_OK;
    KF_TRY(kf_suite_space(s->problems, timing->scene, &space, error));
    KF_TRY(kf_suite_trial(s->problems, timing->scene, &trial, error));
    time->tries = kf_allocate_zeroed((size_t)timing->candidate_count, sizeof *time->tries);
    for (int c = 0; c < timing->candidate_count; c++)
        if (s->problems->gpu || !timing->candidates[c].gpu_only)
            add_candidate(s, timing, space, trial, &timing->candidates[c], time);
    return KF_OK;
}

/* Prepares the timings that follow this one; -1: those that follow none. */
static kf_status prepare_followers(session *s, int leader, kf_error *error) {
    for (int i = 0; i < s->file->timing_count; i++)
        if (s->wanted[i] && s->file->timings[i].follows == leader) KF_TRY(prepare(s, i, error));
    return KF_OK;
}

/* --- Measuring ------------------------------------------------------------------------------------------ */

static void idle(void *context) {
    const session *s = context;
    if (s->problems->gpu) kf_builder_poll(s->builder);
}

/* Waits for a build. On a GPU the next configs are compiled meanwhile. On the cpu compiling would disturb the
 * measurement. */
static kf_status await_build(session *s, size_t ticket, kf_error *error) {
    const bool built = s->problems->gpu ? kf_builder_wait(s->builder, ticket, 0.0, NULL, NULL)
                                        : kf_builder_wait_all(s->builder, NULL, NULL);
    if (built) return KF_OK;
    return kf_fail(error, KF_INTERRUPTED, "interrupted while kernels were compiled");
}

static kf_status open_worker(session *s, kf_error *error) {
    if (s->worker != NULL) return KF_OK;
    const kf_worker_setup setup = {.others = s->settings,
                                   .device = s->problems->device->spec,
                                   .limit_seconds = verify_and_time_seconds,
                                   .compile_limit_seconds = compile_seconds};
    return kf_worker_open(&setup, &s->worker, error);
}

static void note_failure(kf_suite_time *time, kf_suite_try *try, const kf_measurement *m) {
    (void)snprintf(try->reason, sizeof try->reason, "%s: %.280s", kf_state_names[m->state], m->reason);
    time->failed = time->failed || m->state == KF_STATE_WRONG_RESULT;
}

static kf_status run_job(session *s, int index, kf_job *job, kf_measurement *m, kf_error *error) {
    const kf_suite_timing *timing = &s->file->timings[index];
    kf_outcome outcome;
    job->other = timing->scene + 1;
    job->single_launches = timing->single_launches;
    KF_TRY(open_worker(s, error));
    KF_TRY(kf_worker_measure(s->worker, job, 0.0, idle, s, &outcome, m, error));
    if (outcome == KF_ABANDONED || kf_interrupted)
        return kf_fail(error, KF_INTERRUPTED, "interrupted while %s was measured", timing->name);
    return KF_OK;
}

/* Times a candidate briefly. The fastest so far becomes the best. */
static kf_status try_candidate(session *s, int index, int candidate, kf_incumbent *incumbent,
                               kf_error *error) {
    kf_suite_time *time = &s->times[index];
    kf_suite_try *try = &time->tries[candidate];
    kf_job job = {.config = try->config,
                  .verify = true,
                  .may_lose = true,
                  .time_limit_us = short_us,
                  .incumbent = *incumbent};
    kf_measurement m;
    KF_TRY(await_build(s, try->ticket, error));
    KF_TRY(run_job(s, index, &job, &m, error));
    if (m.state == KF_STATE_OK) {
        try->step_us = m.step_us.median;
        if (time->best < 0 || try->step_us < time->tries[time->best].step_us) {
            time->best = candidate;
            incumbent->count = (int)fmin(KF_SKIP_SAMPLES, (double)m.sample_count);
            memcpy(incumbent->samples_us, m.samples_us, (size_t)incumbent->count * sizeof *m.samples_us);
            incumbent->high_us = m.step_us.high;
        }
    } else {
        note_failure(time, try, &m);
    }
    kf_measurement_free(&m);
    return KF_OK;
}

/* Makes the final measurement, of the best or only candidate. */
static kf_status measure_best(session *s, int index, bool verified, kf_error *error) {
    const kf_suite_timing *timing = &s->file->timings[index];
    kf_suite_time *time = &s->times[index];
    kf_suite_try *try = &time->tries[time->best];
    kf_job job = {.config = try->config,
                  .verify = !verified,
                  .time_limit_us = 1e6 * timing->seconds,
                  .effort = timing->effort,
                  .least_samples = timing->samples,
                  .long_cycle_us = timing->samples > 0 ? longest_cycle_us : 0.0};
    KF_TRY(await_build(s, try->ticket, error));
    KF_TRY(run_job(s, index, &job, &time->measurement, error));
    if (time->measurement.state == KF_STATE_OK) {
        try->step_us = time->measurement.step_us.median;
        return KF_OK;
    }
    note_failure(time, try, &time->measurement);
    /* A config that cannot run here is not a failure, because the machine is the reason. Any other state is a
     * failure. */
    time->failed = time->failed || (time->measurement.state != KF_STATE_INVALID &&
                                    time->measurement.state != KF_STATE_OUT_OF_MEMORY);
    time->best = -1;
    return KF_OK;
}

static void explain_none(kf_suite_time *time) {
    if (time->best >= 0 || time->reason[0] != '\0' || time->try_count == 0) return;
    kf_copy_text(time->reason, sizeof time->reason, time->tries[0].reason);
}

static bool is_over(const session *s) {
    return s->file->seconds > 0 && kf_clock_seconds() - s->begin > s->file->seconds;
}

/* Measures one timing: tries its candidates, then measures the fastest. A single candidate needs no trial.
 * Nothing begins when the suite's time is over. */
static kf_status measure(session *s, int index, kf_error *error) {
    const kf_suite_timing *timing = &s->file->timings[index];
    kf_suite_time *time = &s->times[index];
    kf_incumbent incumbent = {0};
    int available = 0, only = -1;
    if (is_over(s)) {
        kf_copy_text(time->reason, sizeof time->reason, "not measured: the suite's time is over");
        return KF_OK;
    }
    for (int i = 0; i < time->try_count; i++)
        if (time->tries[i].in_space) {
            only = i;
            available++;
        }
    if (available == 1)
        time->best = only;
    else
        for (int i = 0; i < time->try_count; i++) {
            kf_suite_try *try = &time->tries[i];
            if (try->in_space && time->best >= 0 && is_over(s))
                kf_copy_text(try->reason, sizeof try->reason, "not tried: the suite's time is over");
            else if (try->in_space)
                KF_TRY(try_candidate(s, index, i, &incumbent, error));
        }
    if (time->best >= 0) KF_TRY(measure_best(s, index, available > 1, error));
    explain_none(time);
    const double seconds = kf_clock_seconds() - s->begin;
    if (time->best >= 0)
        kf_progress(true, "%6.1f s  %-24s %10.1f us a step, %s", seconds, timing->name,
                    time->measurement.step_us.median, time->tries[time->best].candidate->name);
    else
        kf_progress(true, "%6.1f s  %-24s not available: %s", seconds, timing->name, time->reason);
    return KF_OK;
}

/* Makes the references while compilers run. */
static kf_status make_references(session *s, kf_error *error) {
    for (int i = 0; i < s->file->timing_count; i++) {
        const int scene = s->file->timings[i].scene;
        kf_trial *trial = NULL;
        kf_builder_poll(s->builder);
        if (!s->wanted[i] || s->problems->list[scene].problem == NULL) continue;
        if (kf_interrupted) return kf_fail(error, KF_INTERRUPTED, "interrupted while references were made");
        KF_TRY(kf_suite_trial(s->problems, scene, &trial, error));
        KF_TRY(kf_trial_refer(trial, error));
        s->settings[scene] = (kf_setting){.problem = s->problems->list[scene].problem, .trial = trial};
    }
    return KF_OK;
}

/* Marks this timing and later ones as not measured, because the suite was interrupted. */
static void leave_out(session *s, int first) {
    for (int i = first; i < s->file->timing_count; i++) {
        if (!s->wanted[i]) continue;
        s->times[i].best = -1;
        kf_copy_text(s->times[i].reason, sizeof s->times[i].reason, "not measured: interrupted");
    }
}

static kf_status time_all(session *s, kf_error *error) {
    KF_TRY(prepare_followers(s, -1, error));
    KF_TRY(make_references(s, error));
    for (int i = 0; i < s->file->timing_count; i++) {
        if (!s->wanted[i]) continue;
        const kf_status status = measure(s, i, error);
        if (status == KF_INTERRUPTED) leave_out(s, i);
        if (status != KF_OK) return status;
        KF_TRY(prepare_followers(s, i, error));
    }
    return KF_OK;
}

kf_status kf_suite_time_all(kf_suite_problems *problems, const bool *wanted, kf_suite_time *times,
                            kf_error *error) {
    const int cores = kf_processors_find().usable;
    session s = {.problems = problems,
                 .file = problems->file,
                 .wanted = wanted,
                 .times = times,
                 .settings = kf_allocate_zeroed((size_t)problems->file->scene_count + 1, sizeof *s.settings),
                 .begin = kf_clock_seconds()};
    for (int i = 0; i < problems->file->timing_count; i++)
        times[i] = (kf_suite_time){.best = -1};
    s.builder = kf_builder_open(&s.setting, problems->device, problems->gpu && cores > 1 ? cores - 1 : cores);
    const kf_status status = time_all(&s, error);
    kf_worker_close(s.worker);
    kf_builder_close(s.builder);
    free(s.settings);
    return status;
}

void kf_suite_times_free(const kf_suite_file *file, kf_suite_time *times) {
    for (int i = 0; i < file->timing_count; i++) {
        kf_measurement_free(&times[i].measurement);
        free(times[i].tries);
    }
    free(times);
}
