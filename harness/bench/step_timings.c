#include "harness/bench/step_timings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/clock.h"
#include "base/util/log.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/worker/builder.h"
#include "harness/worker/worker.h"
#include "scene/scene.h"

static const double verify_and_time_seconds = 180, compile_seconds = 300;
static const double short_us = 0.6e6;       /* of timing a candidate that must still prove to be the best */
static const double slow_us = 4e6;          /* of timing a slow plan */
static const double longest_cycle_us = 2e5; /* samples stand for whole cycles, one graph each, up to here */

typedef struct session {
    kf_step_scenes *scenes;
    kf_step_timing *timings;
    uint64_t wanted;
    kf_space *spaces[KF_STEP_SCENES];
    kf_builder *builder;
    kf_setting setting;
    kf_worker *worker;
    int worker_scene; /* the worker measures on; -1: there is none */
    double begin;
} session;

static bool is_wanted(uint64_t wanted, int time) {
    return (wanted >> time & 1U) != 0;
}

uint64_t kf_step_needs(uint64_t wanted) {
    for (int time = 0; time < KF_TIMES; time++)
        if (is_wanted(wanted, time)) wanted |= UINT64_C(1) << kf_step_plans[time].follows;
    return wanted;
}

/* --- configs -------------------------------------------------------------------------------------------- */

static kf_status open_space(session *s, kf_step_scene_id scene, kf_error *error) {
    if (s->spaces[scene] != NULL) return KF_OK;
    return kf_problem_space(s->scenes->list[scene].problem, s->scenes->device, NULL, 0, &s->spaces[scene],
                            error);
}

static void add_overrides(const char *const *from, const char **list, int *count) {
    for (int i = 0; i < KF_STEP_OVERRIDES && from[i] != NULL; i++)
        list[(*count)++] = from[i];
}

int kf_step_overrides(const kf_step_plan *plan, const kf_step_candidate *leader,
                      const kf_step_candidate *candidate, const kf_scene *scene,
                      const char *list[KF_STEP_ALL_OVERRIDES]) {
    const bool still = scene->samples.count > 0 && !scene->motion.moving;
    int count = 0;
    if (leader != NULL) add_overrides(leader->flow, list, &count);
    if (leader != NULL && still) add_overrides(leader->solid, list, &count);
    add_overrides(plan->common, list, &count);
    add_overrides(candidate->flow, list, &count);
    if (still) add_overrides(candidate->solid, list, &count);
    return count;
}

static void add_candidate(session *s, const kf_step_plan *plan, const kf_step_candidate *candidate,
                          kf_step_timing *timing) {
    const char *overrides[KF_STEP_ALL_OVERRIDES];
    const kf_step_scene *scene = &s->scenes->list[plan->scene];
    const kf_step_timing *leader = plan->follows < KF_TIMES ? &s->timings[plan->follows] : NULL;
    const bool led = leader != NULL && leader->best >= 0;
    const int count = kf_step_overrides(plan, led ? leader->tries[leader->best].candidate : NULL, candidate,
                                        scene->scene, overrides);
    kf_step_try *try = &timing->tries[timing->try_count++];
    *try = (kf_step_try){.candidate = candidate, .step_us = (double)NAN};
    try->in_space = kf_step_configure(s->spaces[plan->scene], plan->preset, overrides, count, &try->config,
                                      try->reason, sizeof try->reason);
    if (!try->in_space) return;
    const kf_step_scene *verified = &s->scenes->list[scene->verified_as];
    try->ticket = kf_builder_add_problems(s->builder, verified->trial.problem, scene->problem, &try->config);
}

/* Makes the configs of a timing and queues their sources. */
static kf_status prepare(session *s, int time, kf_error *error) {
    const kf_step_plan *plan = &kf_step_plans[time];
    const kf_step_scene *scene = &s->scenes->list[plan->scene];
    kf_step_timing *timing = &s->timings[time];
    if (scene->scene == NULL) {
        kf_copy_text(timing->reason, sizeof timing->reason, scene->reason);
        return KF_OK;
    }
    KF_TRY(open_space(s, plan->scene, error));
    for (const kf_step_candidate *c = plan->candidates; c->name != NULL; c++)
        if (s->scenes->gpu || !c->gpu_only) add_candidate(s, plan, c, timing);
    return KF_OK;
}

/* Those that follow this one; KF_TIMES: those that follow none. */
static kf_status prepare_followers(session *s, kf_step_time leader, kf_error *error) {
    for (int time = 0; time < KF_TIMES; time++)
        if (is_wanted(s->wanted, time) && kf_step_plans[time].follows == leader)
            KF_TRY(prepare(s, time, error));
    return KF_OK;
}

/* --- measuring ------------------------------------------------------------------------------------------ */

static void idle(void *context) {
    const session *s = context;
    if (s->scenes->gpu) kf_builder_poll(s->builder);
}

/* On a GPU the next configs are compiled while this one is measured; on the cpu that would be measured too.
 */
static kf_status await_build(session *s, size_t ticket, kf_error *error) {
    const bool built = s->scenes->gpu ? kf_builder_wait(s->builder, ticket, 0.0, NULL, NULL)
                                      : kf_builder_wait_all(s->builder, NULL, NULL);
    if (built) return KF_OK;
    return kf_fail(error, KF_INTERRUPTED, "interrupted while kernels were compiled");
}

static void close_worker(session *s) {
    kf_worker_close(s->worker);
    s->worker = NULL;
    s->worker_scene = -1;
}

static kf_status open_worker(session *s, kf_step_scene_id scene, kf_error *error) {
    if (s->worker_scene == (int)scene) return KF_OK;
    close_worker(s);
    const kf_step_scene *verified = &s->scenes->list[s->scenes->list[scene].verified_as];
    const kf_worker_setup setup = {.setting = {.problem = s->scenes->list[scene].problem,
                                               .trial = &verified->trial,
                                               .cache = KF_CACHE_STEADY},
                                   .device = s->scenes->device->spec,
                                   .limit_seconds = verify_and_time_seconds,
                                   .compile_limit_seconds = compile_seconds};
    KF_TRY(kf_worker_open(&setup, &s->worker, error));
    s->worker_scene = (int)scene;
    return KF_OK;
}

static void note_failure(kf_step_timing *timing, kf_step_try *try, const kf_measurement *m) {
    (void)snprintf(try->reason, sizeof try->reason, "%s: %.280s", kf_state_names[m->state], m->reason);
    timing->wrong = timing->wrong || m->state == KF_STATE_WRONG_RESULT;
}

static kf_status run_job(session *s, int time, const kf_job *job, kf_measurement *m, kf_error *error) {
    kf_outcome outcome;
    KF_TRY(open_worker(s, kf_step_plans[time].scene, error));
    KF_TRY(kf_worker_measure(s->worker, job, 0.0, idle, s, &outcome, m, error));
    if (outcome == KF_ABANDONED || kf_interrupted)
        return kf_fail(error, KF_INTERRUPTED, "interrupted while %s was measured", kf_step_plans[time].name);
    return KF_OK;
}

/* Times a candidate briefly; the fastest so far becomes the best. */
static kf_status try_candidate(session *s, int time, int index, kf_incumbent *incumbent, kf_error *error) {
    kf_step_timing *timing = &s->timings[time];
    kf_step_try *try = &timing->tries[index];
    const kf_job job = {.config = try->config,
                        .verify = true,
                        .may_lose = true,
                        .single_launches = kf_step_plans[time].single_launches,
                        .time_limit_us = short_us,
                        .incumbent = *incumbent};
    kf_measurement m;
    KF_TRY(await_build(s, try->ticket, error));
    KF_TRY(run_job(s, time, &job, &m, error));
    if (m.state == KF_STATE_OK) {
        try->step_us = m.step_us.median;
        if (timing->best < 0 || try->step_us < timing->tries[timing->best].step_us) {
            timing->best = index;
            incumbent->count = (int)fmin(KF_SKIP_SAMPLES, (double)m.sample_count);
            memcpy(incumbent->samples_us, m.samples_us, (size_t)incumbent->count * sizeof *m.samples_us);
            incumbent->high_us = m.step_us.high;
        }
    } else {
        note_failure(timing, try, &m);
    }
    kf_measurement_free(&m);
    return KF_OK;
}

/* The measurement that counts: of the best candidate, or of the only one. */
static kf_status measure_best(session *s, int time, bool verified, kf_error *error) {
    const kf_step_plan *plan = &kf_step_plans[time];
    kf_step_timing *timing = &s->timings[time];
    kf_step_try *try = &timing->tries[timing->best];
    kf_job job = {.config = try->config, .verify = !verified, .single_launches = plan->single_launches};
    if (plan->slow) {
        job.time_limit_us = slow_us;
    } else {
        job.least_samples = KF_STEP_SAMPLES;
        job.long_cycle_us = longest_cycle_us;
    }
    KF_TRY(await_build(s, try->ticket, error));
    KF_TRY(run_job(s, time, &job, &timing->measurement, error));
    if (timing->measurement.state == KF_STATE_OK) {
        try->step_us = timing->measurement.step_us.median;
        return KF_OK;
    }
    note_failure(timing, try, &timing->measurement);
    timing->best = -1;
    return KF_OK;
}

static void explain_none(kf_step_timing *timing) {
    if (timing->best >= 0 || timing->reason[0] != '\0' || timing->try_count == 0) return;
    kf_copy_text(timing->reason, sizeof timing->reason, timing->tries[0].reason);
}

static kf_status measure(session *s, int time, kf_error *error) {
    kf_step_timing *timing = &s->timings[time];
    kf_incumbent incumbent = {0};
    int available = 0, only = -1;
    for (int i = 0; i < timing->try_count; i++)
        if (timing->tries[i].in_space) {
            only = i;
            available++;
        }
    if (available == 1) {
        timing->best = only;
    } else {
        for (int i = 0; i < timing->try_count; i++)
            if (timing->tries[i].in_space) KF_TRY(try_candidate(s, time, i, &incumbent, error));
    }
    if (timing->best >= 0) KF_TRY(measure_best(s, time, available > 1, error));
    explain_none(timing);
    const double seconds = kf_clock_seconds() - s->begin;
    if (timing->best >= 0)
        kf_progress(true, "%6.1f s  %-24s %10.1f us a step, %s", seconds, kf_step_plans[time].name,
                    timing->measurement.step_us.median, timing->tries[timing->best].candidate->name);
    else
        kf_progress(true, "%6.1f s  %-24s not available: %s", seconds, kf_step_plans[time].name,
                    timing->reason);
    return KF_OK;
}

/* While compilers run. */
static kf_status make_references(session *s, kf_error *error) {
    for (int time = 0; time < KF_TIMES; time++) {
        const kf_step_scene_id scene = kf_step_plans[time].scene;
        kf_builder_poll(s->builder);
        if (is_wanted(s->wanted, time) && s->scenes->list[scene].scene != NULL)
            KF_TRY(kf_step_reference(s->scenes, scene, error));
    }
    return KF_OK;
}

static kf_status time_all(session *s, kf_error *error) {
    KF_TRY(prepare_followers(s, KF_TIMES, error));
    KF_TRY(make_references(s, error));
    for (int time = 0; time < KF_TIMES; time++) {
        if (!is_wanted(s->wanted, time)) continue;
        KF_TRY(measure(s, time, error));
        KF_TRY(prepare_followers(s, (kf_step_time)time, error));
    }
    return KF_OK;
}

kf_status kf_step_time_all(kf_step_scenes *scenes, uint64_t wanted, kf_step_timing *timings,
                           kf_error *error) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    session s = {.scenes = scenes,
                 .timings = timings,
                 .wanted = kf_step_needs(wanted),
                 .worker_scene = -1,
                 .begin = kf_clock_seconds()};
    memset(timings, 0, KF_TIMES * sizeof *timings);
    for (int time = 0; time < KF_TIMES; time++)
        timings[time].best = -1;
    s.builder =
        kf_builder_open(&s.setting, scenes->device, scenes->gpu && cores > 1 ? (int)cores - 1 : (int)cores);
    const kf_status status = time_all(&s, error);
    close_worker(&s);
    kf_builder_close(s.builder);
    for (int scene = 0; scene < KF_STEP_SCENES; scene++)
        if (s.spaces[scene] != NULL) kf_space_free(s.spaces[scene]);
    return status;
}

void kf_step_timings_free(kf_step_timing *timings) {
    for (int time = 0; time < KF_TIMES; time++)
        kf_measurement_free(&timings[time].measurement);
}
