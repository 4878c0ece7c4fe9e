/* The search: presets first, then the strategy's proposals, a few at a time, compiled ahead of being
 * measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/command.h"
#include "harness/measure/clock.h"
#include "harness/tune/session.h"
#include "harness/util/log.h"
#include "harness/util/text.h"

/* Proposals that are known but not yet measured. */
enum { MOST_PENDING = 32, GPU_WINDOW = 8, CPU_BATCH = 8 };
typedef struct pending {
    kf_config config;
    double effort; /* share of the usual measuring, in (0, 1] */
    size_t ticket; /* of its builds */
} pending;

/* --- one config ----------------------------------------------------------------------------------------- */

static kf_incumbent incumbent_samples(const kf_session *session) {
    kf_incumbent incumbent = {0};
    if (session->incumbent < 0) return incumbent;
    const kf_measurement *best = &session->result->tried.items[session->incumbent].measurement;
    if (best->sample_count < KF_SKIP_SAMPLES) return incumbent;
    incumbent.count = KF_SKIP_SAMPLES;
    memcpy(incumbent.samples_us, best->samples_us, sizeof incumbent.samples_us);
    incumbent.high_us = best->step_us.high;
    return incumbent;
}

/* A short budget buys less precision, not fewer configs only: no config gets more than a fortieth. */
static double time_limit_us(const kf_session *session) {
    double limit = kf_policy_for(&session->result->device).time_limit_us;
    const kf_budget *budget = &session->request->budget;
    double share = 1e6 * (budget->seconds + budget->device_seconds) / 40.0;
    if (session->request->timing_seconds > 0.0) return 1e6 * session->request->timing_seconds;
    return share > 0.0 ? fmin(limit, fmax(share, 1e5)) : limit;
}

static void log_result(const kf_evaluation *evaluation) {
    const kf_measurement *m = &evaluation->measurement;
    char time[32] = "";
    if (m->state == KF_STATE_OK) (void)kf_human_time_us(m->step_us.median, time);
    char *summary = kf_config_summary(&evaluation->config);
    kf_detail("%s: %s%s: %s", evaluation->role, kf_state_names[m->state], m->state == KF_STATE_OK ? "" : ":",
              m->state == KF_STATE_OK ? time : m->reason);
    kf_detail("    %s", summary);
    free(summary);
}

/* Measures, stores and notes one config; *index: where in tried, -1 when there was no time left for it. */
static kf_status try_config(kf_session *session, const char *role, const kf_config *config, double effort,
                            bool may_lose, double deadline, int *index, kf_error *error) {
    kf_job job = {.config = *config,
                  .verify = true,
                  .effort = kf_session_effort(session, effort),
                  /* What is slower may still use less energy. */
                  .may_lose = may_lose && session->request->objective == KF_OBJECTIVE_TIME,
                  .time_limit_us = time_limit_us(session),
                  .incumbent = incumbent_samples(session)};
    kf_measurement m;
    kf_outcome outcome = KF_ABANDONED;
    *index = -1;
    KF_TRY(kf_session_measure(session, &job, deadline, &outcome, &m, error));
    if (outcome == KF_ABANDONED) return KF_OK;
    kf_status status = kf_session_store(session, role, config, &m, error);
    if (status != KF_OK) {
        kf_measurement_free(&m);
        return status;
    }
    *index = kf_session_note(session, role, config, &m);
    session->result->tried.items[*index].sequence = session->sequence - 1;
    log_result(&session->result->tried.items[*index]);
    kf_session_progress(session, false);
    return KF_OK;
}

/* True when a run that is carried on had come past its presets. */
static bool past_presets(const kf_evaluations *tried) {
    for (int i = 0; i < tried->count; i++)
        if (strcmp(tried->items[i].role, "search") == 0 ||
            strcmp(tried->items[i].role, "preset:similar") == 0)
            return true;
    return false;
}

/* What was best for a similar scene is worth one try. Only runs that began before this one are looked at, so
 * that a run that is carried on finds what it would have found at its first beginning. */
static kf_status try_similar(kf_session *session, kf_error *error) {
    static const double FARTHEST = 4.0;
    const kf_tune_request *request = session->request;
    if (past_presets(&session->result->tried) || kf_interrupted) return KF_OK;
    if (request->budget.evaluations > 0 && session->evaluations >= (double)request->budget.evaluations)
        return KF_OK;
    if (request->budget.device_seconds > 0.0 && session->device_seconds >= request->budget.device_seconds)
        return KF_OK;
    const kf_similar_query query = {.system = request->system,
                                    .scene = request->scene,
                                    .device = &session->result->device,
                                    .space = session->space,
                                    .before = session->result->run.id,
                                    .farthest = FARTHEST};
    kf_similar similar;
    char hash[KF_HASH_HEX];
    KF_TRY(kf_knowledge_similar(request->store, &query, &similar, error));
    if (!similar.found) return KF_OK;
    kf_config_hash(&similar.config, hash);
    if (kf_session_find(session, hash) >= 0) return KF_OK;
    kf_info("trying what was best for %s %s", similar.same_scene ? "this scene before" : "the similar scene",
            similar.scene_name);
    size_t ticket = kf_builder_add(session->builder, &similar.config);
    int index = -1;
    if (!kf_builder_wait(session->builder, ticket, session->deadline, kf_session_idle, session)) return KF_OK;
    return try_config(session, "preset:similar", &similar.config, 1.0, true, session->deadline, &index,
                      error);
}

/* --- presets -------------------------------------------------------------------------------------------- */

/* An objective that cannot be measured is told before the search, not after it. */
static kf_status check_energy(const kf_session *session, kf_error *error) {
    const kf_tune_result *result = session->result;
    bool ok = false, known = false;
    if (session->request->objective == KF_OBJECTIVE_TIME) return KF_OK;
    for (int i = 0; i < result->tried.count; i++) {
        ok = ok || result->tried.items[i].measurement.state == KF_STATE_OK;
        known = known || result->tried.items[i].measurement.energy_j > 0.0;
    }
    if (!ok || known) return KF_OK;
    return kf_fail(error, KF_MACHINE,
                   "option '--objective': this device does not tell the energy it uses (%s); use 'time'",
                   session->gpu ? "NVML has no energy counter for it"
                                : "/sys/class/powercap/intel-rapl:0/energy_uj cannot be read");
}

kf_status kf_tune_presets(kf_session *session, kf_error *error) {
    kf_config configs[KF_PRESETS];
    size_t tickets[KF_PRESETS];
    double begin = kf_clock_seconds();
    int measured = 0;
    for (int i = 0; i < KF_PRESETS; i++) {
        KF_TRY(kf_space_preset(session->space, kf_preset_names[i], &configs[i], error));
        tickets[i] = kf_builder_add(session->builder, &configs[i]);
    }
    for (int i = 0; i < KF_PRESETS && !kf_interrupted; i++) {
        /* On the cpu all are compiled before the first is measured. */
        if (session->gpu)
            (void)kf_builder_wait(session->builder, tickets[i], 0.0, kf_session_idle, session);
        else
            (void)kf_builder_wait_all(session->builder, kf_session_idle, session);
        char role[32], hash[KF_HASH_HEX];
        (void)snprintf(role, sizeof role, "preset:%s", kf_preset_names[i]);
        kf_config_hash(&configs[i], hash);
        /* Two presets may be the same config, and a resumed run has them already. */
        session->result->presets[i] = kf_session_find(session, hash);
        if (session->result->presets[i] >= 0) continue;
        /* No deadline: without the presets a result says nothing. */
        KF_TRY(try_config(session, role, &configs[i], 1.0, false, 0.0, &session->result->presets[i], error));
        measured++;
    }
    if (!kf_interrupted) kf_session_reach(session, &session->result->timeline.presets);
    if (measured > 0) session->seconds = (kf_clock_seconds() - begin) / measured;
    if (!kf_interrupted) KF_TRY(check_energy(session, error));
    return try_similar(session, error);
}

/* --- the strategy --------------------------------------------------------------------------------------- */

static void tell(kf_session *session, int index, bool known, double cost) {
    uint64_t place;
    if (kf_space_index(session->space, &session->result->tried.items[index].config, &place, NULL, 0))
        kf_strategy_tell(session->strategy, place, known, cost);
}

/* --- resuming: the strategy proposes as it did before, and is told what was measured then --------------- */

static void begin_replay(kf_session *session) {
    const kf_evaluations *tried = &session->result->tried;
    for (int i = 0; i < tried->count; i++) {
        double cost = 0.0;
        if (strcmp(tried->items[i].role, "search") == 0) continue;
        bool known = kf_session_cost(session, &tried->items[i].measurement, &cost);
        tell(session, i, known, cost);
    }
}

static int find_tried(const kf_session *session, const kf_config *config) {
    char hash[KF_HASH_HEX];
    kf_config_hash(config, hash);
    return kf_session_find(session, hash);
}

/* The next result of this config that is waiting, or NULL. */
static kf_past *find_past(kf_session *session, int index) {
    for (int i = 0; session->waiting_count > 0 && i < session->past_count; i++)
        if (session->past[i].waiting && session->past[i].tried == index) return &session->past[i];
    return NULL;
}

static void replay(kf_session *session, kf_past *past) {
    past->waiting = false;
    session->waiting_count--;
    session->waiting_evaluations -= past->evaluations;
    session->waiting_device_seconds -= past->device_seconds;
    tell(session, past->tried, past->known, past->cost);
}

/* The strategy goes another way than before (another budget or strategy): it is told the rest at once. */
static void end_replay(kf_session *session) {
    if (session->waiting_count == 0) return;
    kf_info("the search takes another way than before it was resumed (a number of evaluations as budget, "
            "and the same strategy, keep it); it knows the %d configs measured on the old one",
            session->waiting_count);
    for (int i = 0; i < session->past_count; i++)
        if (session->past[i].waiting) replay(session, &session->past[i]);
}

/* Presets need not lie in a space that was narrowed by --fix. */
static bool any_eligible(const kf_evaluations *tried) {
    for (int i = 0; i < tried->count; i++)
        if (tried->items[i].eligible) return true;
    return false;
}

/* Of a final, no more than a quarter of the budget. */
static double final_reserve(const kf_session *session, double budget) {
    return fmin(kf_tune_final_seconds(session), 0.25 * budget);
}

/* How many more configs a budget of device seconds has room for, if they cost what those so far did. */
static double device_room(const kf_session *session) {
    const double budget = session->request->budget.device_seconds;
    const double used = session->device_seconds - session->waiting_device_seconds;
    const double each = session->device_seconds / fmax(1.0, session->result->tried.count);
    return (budget - used - final_reserve(session, budget)) / fmax(each, 1e-6);
}

/* How many more configs the budget has room for. A number of evaluations always buys one of the space. */
static long room(const kf_session *session) {
    static const double ROUNDING = 1e-6; /* of sums of efforts */
    long left = MOST_PENDING;
    const kf_tune_request *request = session->request;
    if (request->budget.evaluations > 0) {
        double done = session->evaluations - session->waiting_evaluations;
        left = (long)ceil((double)request->budget.evaluations - done - ROUNDING);
    }
    if (request->budget.device_seconds > 0.0) left = (long)fmin((double)left, ceil(device_room(session)));
    if (left <= 0 && !any_eligible(&session->result->tried)) left = 1;
    if (session->search_end > 0.0) {
        double seconds = session->search_end - kf_clock_seconds();
        if (seconds <= 0.0) return 0;
        long affordable = (long)(seconds / fmax(session->seconds, 1e-3));
        if (affordable < left) left = affordable;
    }
    return left;
}

/* Proposals to know of at a time. On the cpu a batch is compiled, then measured in peace; with a GPU the
 * compiler runs ahead all the time. */
static long wanted(const kf_session *session, int pending_count) {
    if (!session->gpu && pending_count > 0) return 0;
    long window = session->gpu ? GPU_WINDOW : CPU_BATCH;
    long affordable = room(session) - pending_count;
    return affordable < window - pending_count ? affordable : window - pending_count;
}

static int propose(kf_session *session, pending *queue, int count) {
    kf_proposal proposal;
    for (long more = wanted(session, count); more > 0 && kf_strategy_next(session->strategy, &proposal);
         more--) {
        kf_space_config(session->space, proposal.index, &queue[count].config);
        queue[count].effort = proposal.effort;
        bool known = find_tried(session, &queue[count].config) >= 0;
        queue[count].ticket = known ? 0 : kf_builder_add(session->builder, &queue[count].config);
        count++;
    }
    return count;
}

static void update_seconds(kf_session *session, double begin, int measured) {
    if (measured == 0) return;
    double each = (kf_clock_seconds() - begin) / measured;
    /* Half from experience: costs differ between configs. */
    session->seconds = session->seconds > 0.0 ? 0.5 * (session->seconds + each) : each;
}

/* True when the config has been measured with at least the effort of this proposal. */
static bool is_measured(const kf_session *session, const pending *first, int index) {
    static const double ROUNDING = 1e-9;
    if (index < 0) return false;
    const kf_measurement *m = &session->result->tried.items[index].measurement;
    bool failed = m->state != KF_STATE_OK && m->state != KF_STATE_SKIPPED;
    return failed || m->effort >= kf_session_effort(session, first->effort) - ROUNDING;
}

/* Measures the first of the queue, unless that was done before; *done when the time is up. */
static kf_status measure_first(kf_session *session, pending *queue, int count, bool *done, kf_error *error) {
    int index = find_tried(session, &queue[0].config);
    kf_past *past = find_past(session, index);
    if (past != NULL) {
        replay(session, past);
    } else if (!is_measured(session, &queue[0], index)) {
        end_replay(session);
        KF_TRY(try_config(session, "search", &queue[0].config, queue[0].effort, true, session->search_end,
                          &index, error));
        double cost = 0.0;
        if (index >= 0) {
            bool known = kf_session_cost(session, &session->result->tried.items[index].measurement, &cost);
            tell(session, index, known, cost);
        }
    }
    memmove(queue, queue + 1, (size_t)(count - 1) * sizeof *queue);
    *done = index < 0;
    return KF_OK;
}

static void set_search_end(kf_session *session) {
    if (session->deadline <= 0.0) return;
    session->search_end = session->deadline - final_reserve(session, session->request->budget.seconds);
}

/* False when the time for the search is over before the first few of the queue are built. */
static bool await_builds(kf_session *session, const pending *queue, int count) {
    for (int i = 0; i < count; i++)
        if (!kf_builder_wait(session->builder, queue[i].ticket, session->search_end, kf_session_idle,
                             session))
            return false;
    return true;
}

kf_status kf_tune_search(kf_session *session, kf_error *error) {
    begin_replay(session);
    pending *queue = kf_allocate(MOST_PENDING * sizeof *queue);
    int count = 0;
    bool done = false;
    kf_status status = KF_OK;
    while (status == KF_OK && !done && !kf_interrupted) {
        set_search_end(session);
        if (room(session) <= 0) break;
        double begin = kf_clock_seconds();
        count = propose(session, queue, count);
        if (count == 0) break;
        /* On the cpu everything pending is built now, with the processor to itself. */
        int batch = session->gpu ? 1 : count, measured = 0, before = session->sequence;
        if (!await_builds(session, queue, batch)) break;
        for (; measured < batch && status == KF_OK && !done && !kf_interrupted; measured++, count--)
            status = measure_first(session, queue, count, &done, error);
        if (status == KF_OK && !done) update_seconds(session, begin, session->sequence - before);
    }
    free(queue);
    kf_session_reach(session, &session->result->timeline.search);
    return status;
}
