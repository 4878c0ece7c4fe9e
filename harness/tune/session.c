#include "harness/tune/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/backend/cache.h"
#include "base/backend/team/team.h"
#include "base/util/clock.h"
#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/processors.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/worker/device_lock.h"

/* --- Results -------------------------------------------------------------------------------------------- */

kf_evaluation *kf_evaluations_add(kf_evaluations *list, const char *role, const kf_config *config,
                                  const kf_measurement *measurement) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        list->items = kf_reallocate(list->items, (size_t)list->capacity * sizeof *list->items);
    }
    kf_evaluation *evaluation = &list->items[list->count++];
    kf_copy_text(evaluation->role, sizeof evaluation->role, role);
    evaluation->config = *config;
    kf_config_hash(config, evaluation->hash);
    evaluation->eligible = false;
    evaluation->sequence = -1;
    evaluation->measurement = *measurement;
    return evaluation;
}

static void free_evaluations(kf_evaluations *list) {
    for (int i = 0; i < list->count; i++)
        kf_measurement_free(&list->items[i].measurement);
    free(list->items);
    memset(list, 0, sizeof *list);
}

void kf_tune_result_free(kf_tune_result *result) {
    free_evaluations(&result->tried);
    free_evaluations(&result->finals);
    free(result->front);
    result->front = NULL;
}

double kf_session_moment(const kf_session *session, double clock_seconds) {
    return clock_seconds - session->request->started - session->waited;
}

void kf_session_reach(const kf_session *session, double *moment) {
    if (*moment <= 0.0) *moment = kf_session_moment(session, kf_clock_seconds());
}

int kf_session_find(const kf_session *session, const char *hash) {
    const kf_evaluations *tried = &session->result->tried;
    for (int i = 0; i < tried->count; i++)
        if (strcmp(tried->items[i].hash, hash) == 0) return i;
    return -1;
}

static bool beats(const kf_session *session, int a, int b) {
    const kf_evaluation *items = session->result->tried.items;
    const kf_objective *objective = &session->request->objective;
    if (items[a].measurement.state != KF_STATE_OK || !items[a].eligible) return false;
    return b < 0 || kf_measurement_cost(&items[a].measurement, objective) <
                        kf_measurement_cost(&items[b].measurement, objective);
}

/* Replaces a measurement by a later one. */
static void replace(kf_session *session, int index, const char *role, const kf_measurement *measurement) {
    kf_evaluation *evaluation = &session->result->tried.items[index];
    session->result->states[evaluation->measurement.state]--;
    kf_measurement_free(&evaluation->measurement);
    evaluation->measurement = *measurement;
    kf_copy_text(evaluation->role, sizeof evaluation->role, role);
    if (session->incumbent != index) return;
    session->incumbent = -1; /* its time may have become longer than others' */
    for (int i = 0; i < session->result->tried.count; i++)
        if (beats(session, i, session->incumbent)) session->incumbent = i;
}

int kf_session_note(kf_session *session, const char *role, const kf_config *config,
                    const kf_measurement *measurement) {
    kf_evaluations *tried = &session->result->tried;
    char hash[KF_HASH_HEX];
    kf_config_hash(config, hash);
    int index = kf_session_find(session, hash);
    session->result->states[measurement->state]++;
    session->evaluations++;
    session->device_seconds += kf_session_device_seconds(measurement);
    if (index >= 0) {
        replace(session, index, role, measurement);
    } else {
        uint64_t place;
        kf_evaluation *evaluation = kf_evaluations_add(tried, role, config, measurement);
        evaluation->eligible = kf_space_index(session->space, config, &place, NULL, 0);
        evaluation->moment = kf_session_moment(session, kf_clock_seconds());
        index = tried->count - 1;
    }
    if (beats(session, index, session->incumbent)) session->incumbent = index;
    return index;
}

bool kf_session_cost(const kf_session *session, const kf_measurement *m, double *cost) {
    const bool slow = m->state == KF_STATE_SKIPPED && m->sample_count > 0;
    *cost = slow ? kf_median(m->samples_us, m->sample_count)
                 : kf_measurement_cost(m, &session->request->objective);
    return slow || (m->state == KF_STATE_OK && isfinite(*cost));
}

double kf_session_device_seconds(const kf_measurement *measurement) {
    return fmax(0.0, measurement->verify_seconds) + fmax(0.0, measurement->measure_seconds);
}

kf_status kf_session_store(kf_session *session, const char *role, const kf_config *config,
                           kf_measurement *measurement, kf_error *error) {
    char why[KF_USER_REASON];
    kf_user_metrics_compute(session->request->metrics, session->request->problem, config, measurement, why);
    if (why[0] != '\0') kf_detail("%s", why);
    KF_TRY(kf_store_add(session->request->store, &session->result->run, session->sequence, role, config,
                        measurement, error));
    session->sequence++;
    return KF_OK;
}

/* --- Progress ------------------------------------------------------------------------------------------- */

static int failed_count(const kf_tune_result *result) {
    return result->tried.count - result->states[KF_STATE_OK] - result->states[KF_STATE_SKIPPED];
}

/* Shows the progress on one line, at most five times a second: counts, remaining budget, and the best time so
 * far. */
void kf_session_progress(kf_session *session, bool final) {
    const kf_tune_result *result = session->result;
    double now = kf_clock_seconds();
    if (!final && now - session->shown < 0.2) return;
    session->shown = now;
    kf_text line = {0};
    kf_text_append(&line, "%d measured", result->tried.count);
    if (result->states[KF_STATE_SKIPPED] > 0)
        kf_text_append(&line, ", %d skipped", result->states[KF_STATE_SKIPPED]);
    if (failed_count(result) > 0) kf_text_append(&line, ", %d failed", failed_count(result));
    if (session->deadline > 0.0 && !final)
        kf_text_append(&line, ", %.0f s left", fmax(0.0, session->deadline - now));
    if (session->request->budget.device_seconds > 0.0 && !final)
        kf_text_append(&line, ", %.1f s of the device left",
                       fmax(0.0, session->request->budget.device_seconds - session->device_seconds));
    const long left = session->request->budget.evaluations - session->evaluations;
    if (session->request->budget.evaluations > 0 && !final)
        kf_text_append(&line, ", %ld to go", left > 0 ? left : 0);
    if (session->incumbent >= 0 && !final) { /* after the final the result shows the best */
        const kf_evaluation *best = &result->tried.items[session->incumbent];
        char time[32], rate[KF_RATE_TEXT];
        char *summary = kf_tune_config_text(result, &best->config);
        kf_text_append(&line, "; best %s, %s: %s", kf_human_time_us(best->measurement.step_us.median, time),
                       kf_rate_text(session->request->problem->system->update,
                                    1e6 * best->measurement.updates_per_us, rate),
                       summary);
        free(summary);
    }
    kf_progress(final, "%s", line.text);
    kf_text_free(&line);
}

void kf_session_idle(void *context) {
    kf_session *session = context;
    /* On the cpu the compiler would disturb the timing. */
    if (session->gpu) kf_builder_poll(session->builder);
    kf_session_progress(session, false);
}

/* --- Measuring ------------------------------------------------------------------------------------------ */

kf_status kf_session_measure(kf_session *session, const kf_job *job, double deadline, kf_outcome *outcome,
                             kf_measurement *m, kf_error *error) {
    double begin = kf_clock_seconds();
    KF_TRY(kf_worker_measure(session->worker, job, deadline, kf_session_idle, session, outcome, m, error));
    if (*outcome == KF_MEASURED && m->state == KF_STATE_OK) {
        double rest =
            kf_clock_seconds() - begin - m->compile_seconds - m->verify_seconds - m->measure_seconds;
        session->overhead = session->overhead > 0.0 ? 0.5 * (session->overhead + rest) : rest;
    }
    return KF_OK;
}

/* --- Opening -------------------------------------------------------------------------------------------- */

/* Returns the usual effort. With a short budget configs are measured less precisely, and not only fewer of
 * them; the final measures the best at full effort. On the cpu compiling takes most of the time, and times
 * are less precise. */
static double usual_effort(const kf_session *session) {
    static const double WHOLE_SECONDS = 60.0, LEAST = 0.1;
    const kf_tune_request *request = session->request;
    if (request->effort > 0.0) return request->effort;
    if (!session->gpu || request->budget.seconds <= 0.0) return 1.0;
    return fmin(1.0, fmax(LEAST, pow(request->budget.seconds / WHOLE_SECONDS, 2.0)));
}

/* Checks before measuring that the names in metrics exist. An objective must be known for every config.
 * Counters are counted for a few configs at the end only. */
static kf_status check_metrics(const kf_session *session, kf_error *error) {
    const kf_tune_request *request = session->request;
    const char *counters[KF_COUNTER_NAMES];
    const int count =
        kf_counter_names(request->counters, kf_device_is_gpu(&session->result->device), counters);
    if (request->metrics == NULL) return KF_OK;
    if (kf_user_metrics_check(request->metrics, request->problem, session->space, counters, count, error) !=
        KF_OK)
        return kf_fail_context(error, "option '--metric'");
    for (int i = 0; i < request->metrics->count; i++)
        for (int k = 0; k < request->objective.count; k++)
            if (request->metrics->list[i].counters &&
                strcmp(request->metrics->list[i].name, request->objective.goals[k].name) == 0)
                return kf_fail(
                    error, KF_BAD_INPUT,
                    "option '--objective': '%s' needs hardware counters, which are counted of the best "
                    "configs alone, after the search; seek another quantity, and keep it as a --metric",
                    request->metrics->list[i].name);
    return KF_OK;
}

static kf_status open_space(kf_session *session, kf_error *error) {
    const kf_tune_request *request = session->request;
    KF_TRY(kf_problem_space(request->problem, &session->result->device, request->fixed, request->fixed_count,
                            &session->space, error));
    session->result->space_size = kf_space_size(session->space);
    return check_metrics(session, error);
}

/* Chooses the strategy. A space that the budget covers is enumerated. */
static const char *choose_strategy(const kf_session *session) {
    const kf_tune_request *request = session->request;
    if (request->strategy != NULL) return request->strategy;
    const double seconds_each = session->gpu ? 1.5 : 3.0; /* a typical value */
    const kf_budget *budget = &request->budget;
    double affordable = budget->evaluations > 0 ? (double)budget->evaluations - KF_PRESETS
                                                : (budget->seconds + budget->device_seconds) / seconds_each;
    return (double)session->result->space_size <= affordable ? "enumerate" : "model";
}

static void describe_run(kf_session *session, const char *strategy) {
    kf_run_row *run = &session->result->run;
    kf_copy_text(run->system, sizeof run->system, session->request->problem->system->name);
    kf_copy_text(run->strategy, sizeof run->strategy, strategy);
    kf_copy_text(run->budget, sizeof run->budget, session->request->budget_text);
    run->seed = session->request->seed;
    (void)kf_objective_text(&session->request->objective, run->objective);
    cJSON *metrics = kf_user_metrics_to_json(session->request->metrics);
    run->metrics = session->metrics = cJSON_PrintUnformatted(metrics);
    cJSON_Delete(metrics);
    kf_space_hash(session->space, run->space_hash);
}

/* --- Resuming ------------------------------------------------------------------------------------------- */

/* Copies only what decisions need: the first samples, state, and times. */
static kf_measurement copy_of(const kf_measurement *measurement) {
    kf_measurement copy = *measurement;
    size_t bytes = measurement->sample_count * sizeof *copy.samples_us;
    copy.samples_us = bytes > 0 ? memcpy(kf_allocate(bytes), measurement->samples_us, bytes) : NULL;
    bytes = (size_t)measurement->kernel_count * sizeof *copy.kernels;
    copy.kernels = bytes > 0 ? memcpy(kf_allocate(bytes), measurement->kernels, bytes) : NULL;
    bytes = (size_t)measurement->user_value_count * sizeof *copy.user_values;
    copy.user_values = bytes > 0 ? memcpy(kf_allocate(bytes), measurement->user_values, bytes) : NULL;
    copy.clocks_mhz = NULL;
    copy.counters = NULL;
    copy.counter_count = 0;
    return copy;
}

static kf_status take_over(void *context, int sequence, const char *role, const kf_config *config,
                           const kf_measurement *measurement, kf_error *error) {
    (void)error;
    kf_session *session = context;
    if (sequence >= session->sequence) session->sequence = sequence + 1;
    const kf_measurement copy = copy_of(measurement);
    const int index = kf_session_note(session, role, config, &copy);
    session->result->tried.items[index].sequence = sequence;
    session->result->resumed++;
    if (session->past_count == session->past_capacity) {
        session->past_capacity = session->past_capacity > 0 ? 2 * session->past_capacity : 64;
        session->past = kf_reallocate(session->past, (size_t)session->past_capacity * sizeof *session->past);
    }
    kf_past *past = &session->past[session->past_count++];
    *past =
        (kf_past){.tried = index, .device_seconds = kf_session_device_seconds(measurement), .waiting = true};
    past->known = kf_session_cost(session, measurement, &past->cost);
    session->waiting_count++;
    session->waiting_device_seconds += past->device_seconds;
    return KF_OK;
}

static kf_status resume_run(kf_session *session, kf_error *error) {
    kf_run_row *run = &session->result->run;
    run->id = 0;
    KF_TRY((session->request->measures_all ? kf_store_find_sample : kf_store_find_unfinished)(
        session->request->store, session->request->problem, &session->result->device, run, error));
    if (run->id == 0) {
        kf_info(
            "no unfinished run of this scene, device, space and seed is in the store: starting a new one");
        return KF_OK;
    }
    KF_TRY(kf_store_forget_final(session->request->store, run, error));
    KF_TRY(kf_store_results(session->request->store, run->id, take_over, session, error));
    kf_info("continuing run %s with %d configs measured", run->uuid, session->result->resumed);
    return KF_OK;
}

/* Begins a run in the store, or resumes one. An unfinished run keeps its strategy unless the user chose
 * another. */
static kf_status begin_run(kf_session *session, kf_error *error) {
    kf_run_row *run = &session->result->run;
    const char *strategy = choose_strategy(session);
    describe_run(session, strategy);
    if (session->request->resume) KF_TRY(resume_run(session, error));
    bool resumed = run->id != 0;
    /* An unfinished run keeps its strategy unless the user chose another. */
    KF_TRY(kf_strategy_open(resumed && session->request->strategy == NULL ? run->strategy : strategy,
                            session->space, run->seed, &session->strategy, error));
    kf_knowledge_open(&session->knowledge, session->request->problem, &session->result->device,
                      session->request->store, session->space, session->strategy);
    if (resumed) return KF_OK;
    cJSON *json = kf_space_to_json(session->space);
    char *text = kf_json_canonical(json);
    cJSON_Delete(json);
    run->space_json = text;
    kf_status status = kf_store_begin_run(session->request->store, session->request->problem,
                                          &session->result->device, run, error);
    run->space_json = NULL;
    free(text);
    return status;
}

static int builder_processes(const kf_session *session) {
    enum {
        SHARES = 8
    }; /* each run gets this share of the cores, because runs that take turns compile at the same time */
    const int cores = kf_processors_find().usable;
    if (session->request->turns) return cores < SHARES ? 1 : cores / SHARES;
    /* With a GPU one core is left for the thread that launches kernels. */
    return (int)fmax(1.0, session->gpu ? cores - 1 : cores);
}

kf_worker_setup kf_session_worker_setup(kf_session *session) {
    return (kf_worker_setup){
        .setting = session->setting,
        .device = session->result->device.spec,
        .together = session->request->together,
        .limit_seconds = session->request->limit_seconds,
        .compile_limit_seconds = KF_COMPILE_LIMIT_SECONDS,
        .idle = kf_session_idle,
        .context = session,
    };
}

static kf_status open_worker(kf_session *session, kf_error *error) {
    const kf_worker_setup setup = kf_session_worker_setup(session);
    const double begin = kf_clock_seconds();
    const kf_status status = kf_worker_open(&setup, &session->worker, error);
    session->opening = kf_clock_seconds() - begin;
    session->result->timeline.opening += session->opening;
    return status;
}

/* Takes the device. While another run measures, the first configs in the queue are compiled. This waiting
 * does not count in the budget. */
kf_status kf_session_take_device(kf_session *session, kf_error *error) {
    const double begin = kf_clock_seconds();
    if (!session->request->turns) {
        KF_TRY(kf_device_lock(&session->result->device, kf_session_idle, session, &session->lock, error));
        session->waited = kf_clock_seconds() - begin;
        if (session->deadline > 0.0) session->deadline += session->waited;
    }
    KF_TRY(open_worker(session, error));
    kf_session_reach(session, &session->result->timeline.worker);
    return KF_OK;
}

/* Takes the other devices that share the search: checks that they are equal to the first, locks them, and
 * starts a worker on each. */
kf_status kf_session_take_others(kf_session *session, kf_error *error) {
    const char *sharing = session->request->sharing;
    int count = 1;
    if (sharing == NULL) return KF_OK;
    KF_TRY(kf_device_check(sharing, &count, error));
    for (int i = 1; i < count; i++) {
        kf_device_info info;
        char *device = session->others[session->other_count].device;
        int *lock = &session->others[session->other_count].lock;
        *lock = -1;
        KF_TRY(kf_device_member(sharing, i, device, error));
        KF_TRY(kf_device_probe(device, &info, error));
        if (strcmp(info.name, session->result->device.name) != 0)
            return kf_fail(error, KF_BAD_INPUT,
                           "--share search: %s is a %s and %s a %s; only equal devices share a search",
                           session->result->device.spec, session->result->device.name, device, info.name);
        if (!session->request->turns) KF_TRY(kf_device_lock(&info, kf_session_idle, session, lock, error));
        kf_worker_setup setup = kf_session_worker_setup(session);
        setup.device = device;
        session->other_count++;
        KF_TRY(kf_worker_open(&setup, &session->others[session->other_count - 1].worker, error));
    }
    return KF_OK;
}

void kf_session_free_others(kf_session *session) {
    for (int i = 0; i < session->other_count; i++) {
        kf_worker_close(session->others[i].worker);
        kf_device_unlock(session->others[i].lock);
    }
    session->other_count = 0;
}

kf_status kf_session_fresh_worker(kf_session *session, kf_error *error) {
    kf_worker_close(session->worker);
    session->worker = NULL;
    return open_worker(session, error);
}

/* Returns the number of other processes that run now; 0: it cannot be read. */
static int running_now(void) {
    FILE *stream = fopen("/proc/loadavg", "re");
    if (stream == NULL) return 0;
    int running = 0;
    bool read = fscanf(stream, "%*f %*f %*f %d/", &running) == 1;
    (void)fclose(stream);
    return read && running > 1 ? running - 1 : 0;
}

/* Warns of load, because the cpu backend measures while other programs run. The average load is not used,
 * because it contains processes that have ended. */
static void warn_of_load(const kf_session *session) {
    enum { LOOKS = 5 };
    const int processors = kf_processors_find().usable;
    int least = session->gpu ? 0 : running_now();
    for (int look = 1; look < LOOKS && least > 0; look++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        int running = running_now();
        if (running < least) least = running;
    }
    if (least > 0 && 4L * least >= processors)
        kf_warn("%d other thread%s the processor busy (it has %d): times will be rough", least,
                least == 1 ? " keeps" : "s keep", processors);
}

kf_status kf_session_open(kf_session *session, const kf_tune_request *request, kf_tune_result *result,
                          kf_error *error) {
    memset(session, 0, sizeof *session);
    memset(result, 0, sizeof *result);
    session->request = request;
    session->result = result;
    session->incumbent = result->best = -1;
    session->lock = -1;
    result->noise_floor = (double)NAN;
    result->objective = request->objective;
    for (int i = 0; i < KF_PRESETS; i++)
        result->presets[i] = -1;
    if (request->budget.seconds > 0.0) session->deadline = request->started + request->budget.seconds;

    kf_session_reach(session, &result->timeline.scene);
    if (request->together != NULL)
        result->device = *kf_backend_device(request->together);
    else
        KF_TRY(kf_device_probe(request->device, &result->device, error));
    kf_session_reach(session, &result->timeline.device);
    KF_TRY(kf_cache_try(error));
    session->gpu = kf_device_is_gpu(&result->device);
    session->effort = usual_effort(session);
    kf_info("device: %s (%s)", result->device.spec, result->device.name);
    const kf_system *system = request->problem->system;
    KF_TRY(kf_system_check_team(system, &result->device, error));
    if (system->accepts_device != NULL)
        KF_TRY(system->accepts_device(request->problem, &result->device, error));
    KF_TRY(open_space(session, error));
    session->compilers = builder_processes(session);
    session->builder = kf_builder_open(&session->setting, &result->device, session->compilers);
    KF_TRY(kf_trial_open(request->problem, &session->trial, error));
    KF_TRY(kf_trial_refer(&session->trial, error));
    session->setting =
        (kf_setting){.problem = request->problem,
                     .trial = &session->trial,
                     .cache = request->cache,
                     .turns = request->turns,
                     .energy = request->objective.energy || kf_user_metrics_need_energy(request->metrics)};
    KF_TRY(begin_run(session, error));
    warn_of_load(session);
    kf_session_reach(session, &result->timeline.reference);
    return KF_OK;
}

void kf_session_close(kf_session *session) {
    kf_session_free_others(session);
    kf_worker_close(session->worker);
    kf_builder_close(session->builder);
    kf_device_unlock(session->lock);
    kf_strategy_close(session->strategy);
    free(session->past);
    cJSON_free(session->metrics);
    session->result->run.metrics = NULL;
    kf_knowledge_close(&session->knowledge);
    if (session->space != NULL) kf_space_free(session->space);
    kf_trial_close(&session->trial);
}
