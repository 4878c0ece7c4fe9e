/* The search: presets and proposals of the strategy wait in a queue, are compiled ahead, and are measured. On
 * the cpu one batch is measured at a time, in its order. With a GPU and a limit of wall time the config that
 * is compiled first is measured first, because compiling times differ by a factor of ten. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util/clock.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/tune/hopeless.h"
#include "harness/tune/session.h"

/* Limits for the number of configs that are known but not measured. With a GPU they apply to the strategy's
 * proposals: few while nothing is known (these are probably the best), then enough to keep the compilers
 * busy. */
enum { MOST_PENDING = 32, CPU_BATCH = 8, GPU_FIRST = 3, GPU_LEAST = 8, GPU_MOST = 16 };

static const double SHORT_BUDGET = 300.0; /* seconds, on a cpu */

typedef struct pending {
    char role[32];
    kf_config config;
    char hash[KF_HASH_HEX];
    bool preset;  /* measured while the budget lasts, the default even longer (deadline_of) */
    bool ordered; /* its sources have been queued under `ticket` */
    size_t ticket;
} pending;

typedef struct search {
    kf_session *session;
    char presets[KF_PRESETS][KF_HASH_HEX];
    pending queue[MOST_PENDING];
    int count;
    int told;  /* number of results told to the strategy */
    int swept; /* the incumbent whose ways of sharing were tried last, and when to try again (sweep) */
    int next_sweep;
    bool asked; /* the best config of a similar scene has been looked up */
    /* The config that each device measures now, if several share the search. The session's device is the
     * first. */
    struct {
        pending entry;
        bool busy;
    } flights[KF_MOST_DEVICES];
    double shared_since;
    int shared;
} search;

/* --- The head of the queue ---------------------------------------------------------------------------- */

static pending *find_pending(search *s, const char *hash) {
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->queue[i].hash, hash) == 0) return &s->queue[i];
    return NULL;
}

static pending *enqueue(search *s, const char *role, const kf_config *config) {
    pending *entry = &s->queue[s->count++];
    *entry = (pending){.config = *config};
    kf_copy_text(entry->role, sizeof entry->role, role);
    kf_config_hash(config, entry->hash);
    return entry;
}

static void take_out(search *s, int place) {
    s->count--;
    memmove(&s->queue[place], &s->queue[place + 1], (size_t)(s->count - place) * sizeof *s->queue);
}

static bool is_default(const search *s, const pending *entry) {
    return entry->preset && strcmp(entry->hash, s->presets[KF_PRESET_DEFAULT]) == 0;
}

/* Returns the end of an entry's time (kf_clock_seconds; 0: none). The default is measured in any case,
 * because without it there may be no result at all. Other presets, which give the gain, may use the whole
 * budget. Proposals must leave time for the final. */
static double deadline_of(const search *s, const pending *entry) {
    if (is_default(s, entry)) return 0.0;
    return entry->preset ? s->session->deadline : s->session->search_end;
}

static bool has_time(const search *s, const pending *entry) {
    const double deadline = deadline_of(s, entry);
    return deadline <= 0.0 || kf_clock_seconds() < deadline;
}

bool kf_tune_leaves_out(const kf_tune_request *request, const kf_device_info *device, kf_preset_kind preset) {
    const bool brief = request->budget.seconds > 0.0 && request->budget.seconds < SHORT_BUDGET &&
                       strcmp(device->backend, "cpu") == 0;
    return preset != KF_PRESET_DEFAULT &&
           (request->presets == KF_DEFAULT_ALONE || (request->presets == KF_FITTING_PRESETS && brief));
}

static bool leaves_out(const search *s, int preset) {
    return kf_tune_leaves_out(s->session->request, &s->session->result->device, (kf_preset_kind)preset);
}

static kf_status enqueue_presets(search *s, kf_error *error) {
    for (int i = 0; i < KF_PRESETS; i++) {
        kf_config config;
        char role[32];
        KF_TRY(kf_space_preset(s->session->space, kf_preset_names[i], &config, error));
        kf_config_hash(&config, s->presets[i]);
        if (leaves_out(s, i)) continue;
        if (find_pending(s, s->presets[i]) != NULL) continue; /* two presets may be the same config */
        (void)snprintf(role, sizeof role, "preset:%s", kf_preset_names[i]);
        enqueue(s, role, &config)->preset = true;
    }
    return KF_OK;
}

/* --- The strategy --------------------------------------------------------------------------------------- */

/* Returns whether any config may win. Presets may lie outside a space that --fix has narrowed. */
static bool any_eligible(const kf_evaluations *tried) {
    for (int i = 0; i < tried->count; i++)
        if (tried->items[i].eligible) return true;
    return false;
}

/* Returns the time for a final: at most a quarter of the budget. */
static double final_reserve(const kf_session *session, double budget) {
    return fmin(kf_tune_final_seconds(session), 0.25 * budget);
}

/* Returns how many more configs the budget of device seconds allows, at the mean cost of those so far. */
static double device_room(const kf_session *session) {
    const double budget = session->request->budget.device_seconds;
    const double used = session->device_seconds - session->waiting_device_seconds;
    const double each = session->device_seconds / fmax(1.0, session->result->tried.count);
    return (budget - used - final_reserve(session, budget)) / fmax(each, 1e-6);
}

/* Returns how many more configs the budget allows. A budget in evaluations always allows at least one. */
static long room(const kf_session *session) {
    long left = MOST_PENDING;
    const kf_tune_request *request = session->request;
    if (request->budget.evaluations > 0)
        left = request->budget.evaluations - (session->evaluations - session->waiting_count);
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

static int in_flight(const search *s) {
    int count = 0;
    for (int w = 0; w <= s->session->other_count; w++)
        count += s->flights[w].busy;
    return count;
}

/* Returns whether little time is left. A large batch is measured only after all of it is built, so none of it
 * might be measured. */
static bool is_short(const search *s) {
    return s->session->deadline > 0.0 && s->session->deadline - kf_clock_seconds() < SHORT_BUDGET;
}

/* Returns how many proposals may be in the queue. */
static long window(const search *s) {
    const int compilers = s->session->compilers;
    if (s->session->other_count > 0)
        return (long)fmin(MOST_PENDING - KF_PRESETS - 1,
                          fmax(GPU_LEAST, 2.0 * (s->session->other_count + 1)));
    if (!s->session->gpu) return is_short(s) && compilers < CPU_BATCH ? compilers : CPU_BATCH;
    if (s->told == 0) return GPU_FIRST;
    return compilers < GPU_LEAST ? GPU_LEAST : compilers > GPU_MOST ? GPU_MOST : compilers;
}

/* Returns how many proposals to ask for. */
static long wanted(const search *s) {
    int proposals = 0;
    if (!s->session->gpu && s->count > 0 && s->session->other_count == 0) return 0;
    for (int i = 0; i < s->count; i++)
        proposals += !s->queue[i].preset;
    const long affordable = room(s->session) - s->count - in_flight(s), missing = window(s) - proposals;
    return affordable < missing ? affordable : missing;
}

static int find_tried(const kf_session *session, const pending *entry) {
    return kf_session_find(session, entry->hash);
}

/* Orders the builds that the queue needs. A measured config needs none. Of the presets only the default is
 * urgent. */
static void order_builds(search *s) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->count; i++) {
            pending *entry = &s->queue[i];
            const bool urgent = !entry->preset || is_default(s, entry);
            if (entry->ordered || (pass == 0 && !urgent)) continue;
            const bool known = find_tried(s->session, entry) >= 0;
            entry->ticket = known ? 0 : kf_builder_add(s->session->builder, &entry->config);
            entry->ordered = true;
        }
}

/* Tries the best config of a team with another way of sharing the work. Most of these need no compiling,
 * because they use the same kernels. Between two of them there are three other configs, so that they are at
 * most a quarter of all. */
static void sweep(search *s) {
    enum { SELDOM = 4 };
    const kf_session *session = s->session;
    const kf_space *space = session->space;
    const int best = session->incumbent, parameters = kf_space_parameter_count(space);
    if (session->result->device.parts <= 1 || best < 0 || best == s->swept || s->told < s->next_sweep) return;
    s->swept = best;
    int count = 0;
    for (int p = 0; p < parameters; p++)
        for (int v = 0; kf_space_parameter_is_of_team(space, p) && v < kf_space_domain_size(space, p); v++) {
            kf_config config = session->result->tried.items[best].config;
            kf_value value;
            char hash[KF_HASH_HEX];
            uint64_t place;
            kf_space_value(space, p, v, &value);
            kf_config_set(&config, &value);
            kf_config_hash(&config, hash);
            if (kf_session_find(session, hash) >= 0 || find_pending(s, hash) != NULL ||
                !kf_space_index(space, &config, &place, NULL, 0) || s->count >= MOST_PENDING - KF_PRESETS ||
                room(session) <= s->count + in_flight(s))
                continue;
            (void)enqueue(s, "search", &config);
            count++;
        }
    s->next_sweep = s->told + SELDOM * count;
}

static void propose(search *s) {
    uint64_t index;
    sweep(s);
    for (long more = wanted(s); more > 0 && kf_strategy_next(s->session->strategy, &index); more--) {
        kf_config config;
        char hash[KF_HASH_HEX];
        kf_space_config(s->session->space, index, &config);
        kf_config_hash(&config, hash);
        /* A preset's measurement will be the answer. */
        if (find_pending(s, hash) == NULL) (void)enqueue(s, "search", &config);
    }
    order_builds(s);
}

/* Enqueues the best config of a similar scene for one trial. Only runs that began before this one count, so
 * that a resumed run finds the same config as at its first start. */
static kf_status enqueue_similar(search *s, kf_error *error) {
    const kf_session *session = s->session;
    const kf_tune_request *request = session->request;
    const kf_similar_query query = {.problem = request->problem,
                                    .device = &session->result->device,
                                    .space = session->space,
                                    .before = session->result->run.id,
                                    .farthest = KF_SIMILAR_FARTHEST};
    kf_similar similar;
    char hash[KF_HASH_HEX];
    KF_TRY(kf_knowledge_similar(request->store, &query, &similar, error));
    if (!similar.found) return KF_OK;
    kf_config_hash(&similar.config, hash);
    if (find_pending(s, hash) != NULL) return KF_OK;
    kf_info("trying what was best for %s %s", similar.same_scene ? "this scene before" : "the similar scene",
            similar.scene_name);
    (void)enqueue(s, "preset:similar", &similar.config);
    return KF_OK;
}

/* Asks the store once. With a GPU its answer is compiled together with the presets; on the cpu it comes after
 * them. */
static kf_status ask_knowledge(search *s, kf_error *error) {
    if (s->asked || (!s->session->gpu && s->count > 0) || room(s->session) <= s->count) return KF_OK;
    s->asked = true;
    return enqueue_similar(s, error);
}

static void tell(search *s, int index, bool known, double cost) {
    const kf_session *session = s->session;
    uint64_t place;
    if (kf_space_index(session->space, &session->result->tried.items[index].config, &place, NULL, 0))
        kf_strategy_tell(session->strategy, place, known, cost);
    s->told++;
}

/* --- Resuming: the strategy proposes as it did before, and is told what was measured then --------------- */

static kf_past *earliest_past(const kf_session *session) {
    for (int i = 0; session->waiting_count > 0 && i < session->past_count; i++)
        if (session->past[i].waiting) return &session->past[i];
    return NULL;
}

static void replay(search *s, kf_past *past) {
    kf_session *session = s->session;
    past->waiting = false;
    session->waiting_count--;
    session->waiting_device_seconds -= past->device_seconds;
    tell(s, past->tried, past->known, past->cost);
}

/* Takes the stored result that came next in the earlier run out of the queue. Returns false if no result is
 * left to replay. It also does so if the strategy proposes another config than then (another budget or
 * strategy); the remaining results are told at once. */
static bool replay_next(search *s) {
    kf_session *session = s->session;
    kf_past *past = earliest_past(session);
    if (past == NULL) return false;
    pending *entry = find_pending(s, session->result->tried.items[past->tried].hash);
    if (entry != NULL) {
        replay(s, past);
        take_out(s, (int)(entry - s->queue));
        return true;
    }
    kf_info("the resumed search differs from the interrupted one (the same strategy and a budget of "
            "evaluations would keep it); it knows the %d configs measured there",
            session->waiting_count);
    for (int i = 0; i < session->past_count; i++)
        if (session->past[i].waiting) replay(s, &session->past[i]);
    return false;
}

/* --- Measuring ------------------------------------------------------------------------------------------ */

/* Returns whether the config has been measured with at least the effort of this run. */
static bool is_measured(const kf_session *session, const pending *entry) {
    static const double ROUNDING = 1e-9;
    const int index = find_tried(session, entry);
    if (index < 0) return false;
    const kf_measurement *m = &session->result->tried.items[index].measurement;
    bool failed = m->state != KF_STATE_OK && m->state != KF_STATE_SKIPPED;
    return failed || m->effort >= session->effort - ROUNDING;
}

/* Updates the average time of a config. The first config is not typical, because the reference is made and
 * examined with it. */
static void update_seconds(kf_session *session, double begin, int measured) {
    if (measured == 0 || session->result->tried.count <= 1) return;
    double each = (kf_clock_seconds() - begin) / measured;
    /* The average gives half of the weight to the last config, because costs differ. */
    session->seconds = session->seconds > 0.0 ? 0.5 * (session->seconds + each) : each;
}

/* Refuses an objective that cannot be measured, or is not a positive number, before the search. */
static kf_status check_objective(const kf_session *session, kf_error *error) {
    const kf_tune_result *result = session->result;
    const kf_objective *objective = &session->request->objective;
    char why[KF_USER_REASON] = "";
    bool ok = false, energy = false, known = false;
    if (kf_objective_is_time(&session->request->objective)) return KF_OK;
    for (int i = 0; i < result->tried.count; i++) {
        kf_evaluation *one = &result->tried.items[i];
        ok = ok || one->measurement.state == KF_STATE_OK;
        energy = energy || one->measurement.energy_j > 0.0;
        known = known || isfinite(kf_measurement_cost(&one->measurement, objective));
        if (one->measurement.state == KF_STATE_OK)
            kf_user_metrics_compute(session->request->metrics, session->request->problem, &one->config,
                                    &one->measurement, why);
    }
    if (!ok || known) return KF_OK;
    if (objective->energy && !energy)
        return kf_fail(error, KF_MACHINE,
                       "option '--objective': this device does not tell the energy it uses (%s); use 'time'",
                       session->gpu ? "NVML has no energy counter for it"
                                    : "/sys/class/powercap/intel-rapl:0/energy_uj cannot be read");
    return kf_fail(error, KF_BAD_INPUT,
                   "option '--objective': it is not a positive number for the presets%s%s",
                   why[0] != '\0' ? ": " : "", why);
}

/* Records where the presets are, and when the last of them was measured. */
static void note_presets(const search *s) {
    kf_tune_result *result = s->session->result;
    bool all = true;
    for (int i = 0; i < KF_PRESETS; i++) {
        result->presets[i] = kf_session_find(s->session, s->presets[i]);
        all = all && (result->presets[i] >= 0 || leaves_out(s, i));
    }
    if (all) kf_session_reach(s->session, &result->timeline.presets);
}

/* Decides whether the run continues after a result. It ends if its objective cannot be measured, or if
 * nothing can work. */
static kf_status go_on(const search *s, const pending *entry, kf_error *error) {
    note_presets(s);
    if (entry->preset) KF_TRY(check_objective(s->session, error));
    return kf_tune_hope(s->session->request, s->session->result, error);
}

/* Measures an entry and takes it out of the queue; *late: the search's time had ended before. */
static kf_status measure_entry(search *s, int place, bool *late, kf_error *error) {
    kf_session *session = s->session;
    const pending entry = s->queue[place];
    int index = -1;
    take_out(s, place);
    if (is_measured(session, &entry)) return KF_OK;
    KF_TRY(kf_tune_try(session, entry.role, &entry.config, !entry.preset, deadline_of(s, &entry), &index,
                       error));
    *late = *late || index < 0;
    if (index < 0) return KF_OK;
    double cost = 0.0;
    const bool known = kf_session_cost(session, &session->result->tried.items[index].measurement, &cost);
    tell(s, index, known, cost);
    return go_on(s, &entry, error);
}

/* Drops all entries of the queue except presets for which there is time. */
static void give_up(search *s) {
    for (int i = s->count - 1; i >= 0; i--)
        if (!s->queue[i].preset || !has_time(s, &s->queue[i])) take_out(s, i);
}

/* Builds the whole queue while nothing is measured, then measures it. */
static kf_status measure_batch(search *s, bool *late, kf_error *error) {
    kf_session *session = s->session;
    const double begin = kf_clock_seconds();
    const int before = session->sequence;
    for (int i = 0; i < s->count;) {
        const pending *entry = &s->queue[i];
        if (kf_builder_wait(session->builder, entry->ticket, deadline_of(s, entry), kf_session_idle,
                            session)) {
            i++;
        } else {
            *late = true;
            take_out(s, i);
        }
    }
    while (s->count > 0 && !kf_interrupted)
        if (!replay_next(s)) KF_TRY(measure_entry(s, 0, late, error));
    if (!*late) update_seconds(session, begin, session->sequence - before);
    return KF_OK;
}

/* Waits for an entry that is built; -1: the search's time ended before. Without a limit of wall time it waits
 * for the first entry, so that the sequence does not depend on compiling times. */
static int await_built(const search *s) {
    kf_session *session = s->session;
    const int candidates = session->deadline > 0.0 ? s->count : 1;
    for (;;) {
        kf_builder_poll(session->builder);
        for (int i = 0; i < candidates; i++)
            if (kf_builder_ready(session->builder, s->queue[i].ticket)) return i;
        bool time = false;
        for (int i = 0; i < s->count; i++)
            time = time || has_time(s, &s->queue[i]);
        if (kf_interrupted || !time) return -1;
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        kf_session_idle(session);
    }
}

static kf_status measure_built(search *s, bool *late, kf_error *error) {
    if (replay_next(s)) return KF_OK;
    const int place = await_built(s);
    *late = *late || place < 0;
    if (place < 0) return KF_OK;
    const double begin = kf_clock_seconds();
    const int before = s->session->sequence;
    KF_TRY(measure_entry(s, place, late, error));
    update_seconds(s->session, begin, s->session->sequence - before);
    return KF_OK;
}

/* --- Several devices at once ---------------------------------------------------------------------------- */

static kf_worker *worker_of(const search *s, int w) {
    return w == 0 ? s->session->worker : s->session->others[w - 1].worker;
}

/* Gives each idle device the next built config. */
static kf_status give_out(search *s, kf_error *error) {
    kf_session *session = s->session;
    kf_builder_poll(session->builder);
    for (int w = 0; w <= session->other_count; w++) {
        int place = 0;
        while (place < s->count && !kf_builder_ready(session->builder, s->queue[place].ticket))
            place++;
        if (s->flights[w].busy || place == s->count) continue;
        const pending entry = s->queue[place];
        take_out(s, place);
        if (is_measured(session, &entry)) continue;
        const kf_job job = kf_tune_job(session, &entry.config, !entry.preset);
        const kf_status status = kf_worker_give(worker_of(s, w), &job, deadline_of(s, &entry), error);
        if (status == KF_INTERRUPTED) return KF_OK;
        KF_TRY(status);
        s->flights[w].entry = entry;
        s->flights[w].busy = true;
    }
    return KF_OK;
}

/* Takes the result of one of the devices that share the search, and tells it to the strategy. It waits only a
 * few milliseconds, because other devices may have ended meanwhile. */
static kf_status take_in(search *s, int w, bool *late, kf_error *error) {
    enum { MILLISECONDS = 2 };
    kf_session *session = s->session;
    const pending *entry = &s->flights[w].entry;
    kf_measurement m;
    kf_outcome outcome = KF_ABANDONED;
    bool ended = false;
    int index = -1;
    KF_TRY(kf_worker_poll(worker_of(s, w), MILLISECONDS, &ended, &outcome, &m, error));
    if (!ended) return KF_OK;
    s->flights[w].busy = false;
    *late = *late || outcome == KF_ABANDONED;
    if (outcome == KF_ABANDONED) return KF_OK;
    kf_detail("on device %d of %d:", w + 1, session->other_count + 1);
    KF_TRY(kf_tune_accept(session, entry->role, &entry->config, &m, &index, error));
    session->seconds = (kf_clock_seconds() - s->shared_since) / ++s->shared;
    double cost = 0.0;
    const bool known = kf_session_cost(session, &session->result->tried.items[index].measurement, &cost);
    tell(s, index, known, cost);
    return go_on(s, entry, error);
}

/* Measures on shared devices: the config that is built first goes to the device that is idle first. */
static kf_status measure_shared(search *s, bool *late, kf_error *error) {
    if (replay_next(s)) return KF_OK;
    if (s->shared_since <= 0.0) s->shared_since = kf_clock_seconds();
    KF_TRY(give_out(s, error));
    if (in_flight(s) == 0) (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    for (int w = 0; w <= s->session->other_count; w++)
        if (s->flights[w].busy) KF_TRY(take_in(s, w, late, error));
    kf_session_idle(s->session);
    return KF_OK;
}

static void set_search_end(kf_session *session) {
    if (session->deadline <= 0.0) return;
    const double budget = session->request->budget.seconds;
    session->search_end = session->deadline - final_reserve(session, budget) - kf_tune_back_seconds(budget);
}

/* Runs the search: first presets and known configs, then the strategy's proposals, until the budget is spent
 * or nothing is left. */
static kf_status run(search *s, kf_error *error) {
    kf_session *session = s->session;
    bool late = false;
    KF_TRY(enqueue_presets(s, error));
    KF_TRY(ask_knowledge(s, error));
    propose(s);
    KF_TRY(kf_session_take_device(session, error));
    KF_TRY(kf_tune_examine(session, error));
    KF_TRY(kf_session_take_others(session, error));
    const bool shared = session->other_count > 0;
    while (!kf_interrupted) {
        set_search_end(session);
        if (late || room(session) <= 0) {
            give_up(s);
        } else {
            KF_TRY(ask_knowledge(s, error));
            propose(s);
        }
        if (s->count == 0 && in_flight(s) == 0) break;
        KF_TRY((shared ? measure_shared : session->gpu ? measure_built : measure_batch)(s, &late, error));
        note_presets(s);
    }
    return KF_OK;
}

kf_status kf_tune_search(kf_session *session, kf_error *error) {
    search *s = kf_allocate_zeroed(1, sizeof *s);
    s->swept = -1;
    s->session = session;
    const kf_status status = run(s, error);
    kf_session_free_others(session);
    free(s);
    kf_tune_result *result = session->result;
    kf_builder_drop_queue(session->builder);
    for (int i = 0; i < result->tried.count; i++)
        result->searched += strcmp(result->tried.items[i].role, "search") == 0;
    kf_session_reach(session, &result->timeline.search);
    return status;
}
