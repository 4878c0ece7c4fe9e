#include "harness/worker/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/clock.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/counters/count_plan.h"
#include "harness/measure/measure.h"
#include "harness/worker/device_lock.h"

const char *const kf_stage_names[KF_STAGES] = {"compiling", "verifying", "measuring", "waiting"};

typedef struct evaluation {
    const kf_setting *setting;
    kf_backend *backend;
    const kf_job *job;
    kf_measurement *m;
    kf_error fault; /* of the host; KF_OK: none so far */
    bool usable;
    kf_stage_report report;
    void *context;     /* of report */
    int lock;          /* lock of the device during this process's turn; otherwise -1 */
    double waited;     /* seconds spent waiting for it */
    kf_trial_run *run; /* it has passed the first half of the gate; NULL: there is none, or it has passed the
                          second half */
} evaluation;

static void tell_stage(const evaluation *e, kf_stage stage) {
    if (e->report != NULL) e->report(e->context, stage);
}

static void fail(evaluation *e, kf_state state, const kf_error *error) {
    if (error->status == KF_HOST) e->fault = *error;
    e->m->state = state;
    kf_copy_text(e->m->reason, sizeof e->m->reason, error->message);
}

/* Records a config that fails on the device: it is too large, cannot be launched, or a fault ruined the
 * context. The backend itself is asked whether it still works. If memory is lacking, this process ends,
 * because earlier configs may have leaked it. */
static void fail_on_device(evaluation *e, const kf_error *error) {
    if (strstr(error->message, "out of memory") != NULL) {
        fail(e, KF_STATE_OUT_OF_MEMORY, error);
        e->usable = false;
    } else {
        fail(e, KF_STATE_INVALID, error);
    }
    kf_error ruin;
    const kf_status status = kf_backend_synchronize(e->backend, &ruin);
    if (status == KF_OK) return;
    e->usable = false;
    fail(e, KF_STATE_CRASH, status == KF_HOST ? &ruin : error);
}

/* Records what the gate found, or why it found nothing. */
static void fail_gate(evaluation *e, const kf_error *error) {
    if (error->status == KF_GATE_FAILED)
        fail(e, KF_STATE_WRONG_RESULT, error);
    else
        fail_on_device(e, error);
}

/* --- Several processes ------------------------------------------------------------------------------------
 * They do the same, and what fails on one fails the config on all: none goes on to wait for it. */

/* Agrees with the other processes on the state, reason and place of the first process that failed, if any. */
static bool agree(evaluation *e, bool good) {
    kf_error error = {KF_OK, ""};
    int state = good ? (int)KF_STATE_OK : (int)e->m->state;
    if (kf_world_size() == 1) return good;
    if (!good) (void)kf_fail(&error, e->fault.status != KF_OK ? KF_HOST : KF_MACHINE, "%s", e->m->reason);
    const kf_status status = kf_world_agree_on(error.status, &state, &error);
    if (status != KF_OK) fail(e, state == KF_STATE_OK ? KF_STATE_CRASH : (kf_state)state, &error);
    return status == KF_OK;
}

/* --- Taking turns ---------------------------------------------------------------------------------------
 * Making plans and verifying may go on in several processes at the same time, timing only alone. */

static kf_status lock_device(evaluation *e, kf_lock_mode mode, kf_stage stage, kf_error *error) {
    if (!e->setting->turns) return KF_OK;
    const double begin = kf_clock_seconds();
    tell_stage(e, KF_STAGE_WAIT);
    kf_status status = kf_device_lock_in_line(kf_backend_device(e->backend), mode, &e->lock, error);
    tell_stage(e, stage);
    e->waited += kf_clock_seconds() - begin;
    return status;
}

/* Unlocks the device when its work is done. */
static void unlock_device(evaluation *e) {
    if (e->lock >= 0) kf_device_unlock(e->lock);
    e->lock = -1;
}

/* --- Build -------------------------------------------------------------------------------------------- */

static kf_status build_source(const kf_source *source, void *context, kf_error *error) {
    evaluation *e = context;
    kf_build build = {0};
    kf_status status = kf_source_prebuild(kf_backend_device(e->backend), source, &build, error);
    e->m->compile_seconds += build.seconds;
    return status;
}

/* Builds before a plan is made, so that compile errors are distinguished from all other errors. */
static bool build(evaluation *e) {
    const kf_problem *problems[] = {e->setting->trial->problem, e->setting->problem};
    for (int i = 0; i < 2; i++) {
        kf_error error = {KF_OK, ""};
        kf_status status = problems[i]->system->sources(
            problems[i], &e->job->config, kf_backend_device(e->backend), build_source, e, &error);
        if (status == KF_OK) continue;
        /* The assembler knows how much shared memory a block may have. */
        const bool too_much = strstr(error.message, "too much shared data") != NULL;
        fail(e, status == KF_BAD_INPUT || too_much ? KF_STATE_INVALID : KF_STATE_COMPILE, &error);
        return false;
    }
    return true;
}

/* --- Verify ------------------------------------------------------------------------------------------- */

static bool verify(evaluation *e) {
    double begin = kf_clock_seconds();
    kf_error error = {KF_OK, ""};
    kf_status status = lock_device(e, KF_LOCK_SHARED, KF_STAGE_VERIFY, &error);
    if (status == KF_OK)
        status = kf_trial_begin(e->setting->trial, &e->job->config, e->backend, &e->m->verification, &e->run,
                                &error);
    if (status != KF_OK) fail_gate(e, &error);
    unlock_device(e);
    e->m->verify_seconds = kf_clock_seconds() - begin - e->waited;
    return status == KF_OK;
}

/* Does the second half of the gate, if it is not done yet, for a config that gets a time. A config that is
 * skipped as slow never counts. */
static kf_status repeat(evaluation *e, kf_error *error) {
    const double begin = kf_clock_seconds();
    if (e->run == NULL) return KF_OK;
    const kf_status status = kf_trial_repeat(e->run, &e->m->verification, error);
    kf_trial_end(e->run);
    e->run = NULL;
    e->m->verify_seconds += kf_clock_seconds() - begin;
    return status;
}

static void examine(evaluation *e) {
    const kf_problem *problem = e->setting->trial->problem;
    kf_error error = {KF_OK, ""};
    kf_status status = lock_device(e, KF_LOCK_SHARED, KF_STAGE_VERIFY, &error);
    if (status == KF_OK) status = problem->system->examine(problem, e->backend, &error);
    if (status == KF_GATE_FAILED || status == KF_BAD_INPUT)
        fail(e, KF_STATE_WRONG_RESULT, &error);
    else if (status != KF_OK)
        fail_on_device(e, &error);
    unlock_device(e);
}

/* --- Measure ------------------------------------------------------------------------------------------ */

static kf_status make_plan(const evaluation *e, kf_plan **plan, kf_error *error) {
    const kf_problem *problem = e->setting->problem;
    return problem->system->plan(problem, &e->job->config, e->backend, plan, error);
}

/* Checks the results of the timed launches. */
static kf_status recheck(evaluation *e, kf_plan *plan, kf_error *error) {
    const kf_system *system = e->setting->problem->system;
    const kf_measurement *m = e->m;
    /* If several processes measure the same code, only the first has a reference. */
    const kf_trial *trial = e->setting->trial;
    if (trial->reference == NULL) return KF_OK;
    const double step_us = m->step_us.median,
                 seconds = m->compile_seconds + m->verify_seconds + m->measure_seconds;
    if (system->recheck != NULL) return system->recheck(plan, trial->reference, step_us, error);
    return kf_trial_recheck(trial, plan, &m->verification, step_us, seconds, error);
}

/* Withdraws the time of a config that was correct before timing, but whose timed launches were not, or that
 * failed when repeated. */
static void withdraw(evaluation *e, const kf_error *error) {
    kf_measurement *m = e->m;
    kf_measurement_free(m);
    m->step_us = (kf_summary){.count = 0};
    m->updates_per_us = m->effective_bandwidth = m->energy_j = 0.0;
    fail_gate(e, error);
}

/* Keeps the results of the whole problem for a config that has passed the whole gate. */
static kf_status begin_whole(evaluation *e, kf_plan *plan, kf_error *error) {
    const kf_trial *trial = e->setting->trial;
    if (kf_trial_knows_whole(trial, plan, &e->m->verification)) return KF_OK;
    KF_TRY(repeat(e, error));
    return kf_trial_begin_whole(trial, plan, &e->m->verification, error);
}

/* Measures a correct config by the device's policy and the job's changes. The plan is made while the device
 * is shared, and timed while it is exclusive, so that others neither disturb the timing nor wait longer than
 * necessary. */
static void measure(evaluation *e) {
    kf_measure_policy policy = kf_policy_for(kf_backend_device(e->backend));
    if (!e->job->may_lose) policy.skip_ratio = policy.lost_ratio = 0.0;
    if (e->job->time_limit_us > 0.0) {
        policy.time_limit_us = e->job->time_limit_us;
        policy.kernel_limit_us = fmin(policy.kernel_limit_us, e->job->time_limit_us);
    }
    if (e->job->long_cycle_us > 0.0) policy.long_cycle_us = e->job->long_cycle_us;
    e->m->effort = e->job->effort > 0.0 ? e->job->effort : 1.0;
    kf_policy_scale(&policy, e->m->effort);
    if (e->job->least_samples > 0) kf_policy_ask_samples(&policy, e->job->least_samples);
    policy.cache = e->setting->cache;
    if (e->setting->energy) kf_policy_ask_energy(&policy);
    kf_error error = {KF_OK, ""};
    kf_plan *plan = NULL;
    kf_status status = lock_device(e, KF_LOCK_SHARED, KF_STAGE_MEASURE, &error);
    if (status == KF_OK) status = kf_world_agree(make_plan(e, &plan, &error), &error);
    unlock_device(e);
    if (status == KF_OK) {
        kf_plan_hash(plan, e->m->build_hash);
        if (e->job->single_launches) plan->graph_steps = -1;
        kf_backend_device_state(e->backend, &e->m->device_before);
        status = lock_device(e, KF_LOCK_EXCLUSIVE, KF_STAGE_MEASURE, &error);
    }
    if (status == KF_OK && e->job->verify && e->setting->problem->system->recheck == NULL)
        status = begin_whole(e, plan, &error);
    if (status == KF_OK)
        status = kf_world_give_up(kf_measure_plan(plan, &policy, &e->job->incumbent, e->m, &error), &error);
    if (status != KF_OK)
        fail_gate(e, &error);
    else if (e->m->state == KF_STATE_OK && recheck(e, plan, &error) != KF_OK)
        withdraw(e, &error);
    if (plan != NULL) kf_plan_free(plan);
    unlock_device(e);
    if (e->m->state == KF_STATE_OK && e->run != NULL) {
        status = lock_device(e, KF_LOCK_SHARED, KF_STAGE_VERIFY, &error);
        if (status == KF_OK) status = repeat(e, &error);
        if (status != KF_OK) withdraw(e, &error);
        unlock_device(e);
    }
    kf_backend_device_state(e->backend, &e->m->device_after);
}

/* --- Count -------------------------------------------------------------------------------------------- */

/* Counts. If counters cannot be read, the config is not at fault: it stays ok without counters, with the
 * reason. */
static void count(evaluation *e) {
    kf_error error = {KF_OK, ""};
    kf_plan *plan = NULL;
    kf_status status = repeat(e, &error);
    if (status == KF_OK) status = make_plan(e, &plan, &error);
    if (status != KF_OK) {
        fail_gate(e, &error);
        return;
    }
    status = kf_count_plan(plan, e->setting->counters, e->m, &error);
    if (status != KF_OK) kf_copy_text(e->m->reason, sizeof e->m->reason, error.message);
    kf_plan_free(plan);
    if (kf_backend_synchronize(e->backend, NULL) != KF_OK) e->usable = false;
}

kf_status kf_evaluate(const kf_setting *setting, kf_backend *backend, const kf_job *job,
                      kf_stage_report report, void *context, kf_measurement *measurement, bool *usable,
                      kf_error *error) {
    memset(measurement, 0, sizeof *measurement);
    measurement->verification.error = (double)NAN;
    measurement->verification.bound = (double)NAN;
    evaluation e = {.setting = setting,
                    .backend = backend,
                    .job = job,
                    .m = measurement,
                    .usable = true,
                    .report = report,
                    .context = context,
                    .lock = -1};
    tell_stage(&e, KF_STAGE_COMPILE);
    bool good = agree(&e, build(&e));
    if (job->examine) {
        tell_stage(&e, KF_STAGE_VERIFY);
        if (good) examine(&e);
        *usable = e.usable;
        return e.fault.status == KF_OK ? KF_OK : kf_fail(error, KF_HOST, "%s", e.fault.message);
    }
    if (good && job->verify) {
        tell_stage(&e, KF_STAGE_VERIFY);
        good = agree(&e, verify(&e));
    }
    if (good) {
        tell_stage(&e, KF_STAGE_MEASURE);
        (setting->counters != NULL ? count : measure)(&e);
        (void)agree(&e, e.m->state == KF_STATE_OK || e.m->state == KF_STATE_SKIPPED);
    }
    kf_trial_end(e.run);
    *usable = e.usable;
    return e.fault.status == KF_OK ? KF_OK : kf_fail(error, KF_HOST, "%s", e.fault.message);
}
