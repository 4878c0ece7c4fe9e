/* Decides from measurements: the best config, its gains, and the configs that tie with it. */
#include <math.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/tune/session.h"

const char *const kf_preset_names[KF_PRESETS] = {"default", "baseline", "paper"};

static int find(const kf_evaluations *list, const char *hash) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i].hash, hash) == 0) return i;
    return -1;
}

const kf_measurement *kf_tune_measurement(const kf_tune_result *result, int tried) {
    if (tried < 0) return NULL;
    const kf_evaluation *evaluation = &result->tried.items[tried];
    int final = find(&result->finals, evaluation->hash);
    const kf_measurement *m =
        final >= 0 ? &result->finals.items[final].measurement : &evaluation->measurement;
    /* A config that was ok in the search but failed in the final does not count. */
    return m->state == KF_STATE_OK && evaluation->measurement.state == KF_STATE_OK ? m : NULL;
}

/* Returns the row of its measurement; -1: it has none. */
static int sequence_of(const kf_tune_result *result, int tried) {
    if (tried < 0) return -1;
    const int final = find(&result->finals, result->tried.items[tried].hash);
    return final >= 0 ? result->finals.items[final].sequence : result->tried.items[tried].sequence;
}

static int fastest(const kf_tune_result *result, bool finals_only) {
    int best = -1;
    double least = INFINITY;
    for (int i = 0; i < result->tried.count; i++) {
        const kf_measurement *m = kf_tune_measurement(result, i);
        if (m == NULL || !result->tried.items[i].eligible ||
            (finals_only && find(&result->finals, result->tried.items[i].hash) < 0))
            continue;
        const double cost = kf_measurement_cost(m, &result->objective);
        if (cost >= least) continue;
        best = i;
        least = cost;
    }
    return best;
}

/* --- Ties ----------------------------------------------------------------------------------------------- */

/* Returns the relative half-width of the time's interval. A metric that is computed from the time has this
 * error. */
static double half_width(const kf_measurement *m) {
    return 0.5 * (m->step_us.high - m->step_us.low) / m->step_us.median;
}

/* Returns whether two configs tie: they differ by less than three noise floors, or their intervals overlap.
 */
static bool is_tie(const kf_tune_result *result, const kf_measurement *a, const kf_measurement *b) {
    static const double ENERGY_RESOLUTION =
        0.01; /* relative resolution of the device's energy counter over about a second */
    const double ratio =
        kf_measurement_cost(a, &result->objective) / kf_measurement_cost(b, &result->objective);
    if (fabs(log(ratio)) <= 3.0 * result->noise_floor) return true;
    if (result->objective.energy) return fabs(log(ratio)) <= ENERGY_RESOLUTION;
    if (kf_objective_is_time(&result->objective))
        return a->step_us.low <= b->step_us.high && a->step_us.high >= b->step_us.low;
    return fabs(log(ratio)) <= half_width(a) + half_width(b);
}

static int registers_of(const kf_measurement *m) {
    int sum = 0;
    for (int i = 0; i < m->kernel_count; i++)
        sum += m->kernels[i].registers;
    return sum;
}

/* Returns whether a is simpler. The default, which every run measures, comes first, then fewer kernels, fewer
 * registers, and the hash. Equal configs are then not decided by chance, or by what a search happened to try.
 */
static bool is_simpler(const kf_tune_result *result, int a, int b) {
    const kf_measurement *ma = kf_tune_measurement(result, a), *mb = kf_tune_measurement(result, b);
    const int usual = result->presets[KF_PRESET_DEFAULT];
    if ((a == usual) != (b == usual)) return a == usual;
    if (ma->kernel_count != mb->kernel_count) return ma->kernel_count < mb->kernel_count;
    if (registers_of(ma) != registers_of(mb)) return registers_of(ma) < registers_of(mb);
    return strcmp(result->tried.items[a].hash, result->tried.items[b].hash) < 0;
}

/* Finds the simplest config of the final that is as fast as the fastest. It must not be more than half a
 * percent slower, even if the noise is larger. */
static int simplest_tie(const kf_tune_result *result, int fastest_one) {
    static const double SLOWER = 0.005;
    const kf_measurement *best = kf_tune_measurement(result, fastest_one);
    int winner = fastest_one;
    for (int i = 0; i < result->tried.count; i++) {
        const kf_measurement *m = kf_tune_measurement(result, i);
        if (m == NULL || !result->tried.items[i].eligible ||
            find(&result->finals, result->tried.items[i].hash) < 0)
            continue;
        const bool as_fast = kf_measurement_cost(m, &result->objective) <=
                             (1.0 + SLOWER) * kf_measurement_cost(best, &result->objective);
        if (as_fast && is_tie(result, m, best) && is_simpler(result, i, winner)) winner = i;
    }
    return winner;
}

/* Finds the fastest configs that tie with the best, as many as there is room for. */
static void find_ties(kf_tune_result *result) {
    result->tie_count = 0;
    for (int i = 0; i < result->tried.count; i++) {
        const kf_measurement *m = kf_tune_measurement(result, i);
        if (i == result->best || m == NULL || !result->tried.items[i].eligible ||
            !is_tie(result, m, result->best_measurement))
            continue;
        const double cost = kf_measurement_cost(m, &result->objective);
        int at = result->tie_count < KF_BEST_TIES ? result->tie_count++ : KF_BEST_TIES;
        for (; at > 0 && kf_measurement_cost(kf_tune_measurement(result, result->ties[at - 1]),
                                             &result->objective) > cost;
             at--)
            if (at < KF_BEST_TIES) result->ties[at] = result->ties[at - 1];
        if (at < KF_BEST_TIES) result->ties[at] = i;
    }
}

/* --- The front --------------------------------------------------------------------------------------------
 */

/* Returns the costs of its goals. Returns false if one is not known, or if the config cannot win. */
static bool costs_of(const kf_tune_result *result, int tried, double costs[KF_GOALS]) {
    const kf_measurement *m = kf_tune_measurement(result, tried);
    if (m == NULL || !result->tried.items[tried].eligible) return false;
    for (int i = 0; i < result->objective.count; i++) {
        costs[i] = kf_measurement_goal_cost(m, &result->objective.goals[i]);
        if (!isfinite(costs[i])) return false;
    }
    return true;
}

static bool is_dominated(const kf_tune_result *result, const double costs[KF_GOALS]) {
    double other[KF_GOALS];
    for (int i = 0; i < result->tried.count; i++)
        if (costs_of(result, i, other) && kf_costs_dominate(other, costs, result->objective.count))
            return true;
    return false;
}

/* Finds the configs that no other config beats in every goal, sorted by the first goal. */
static void find_front(kf_tune_result *result) {
    double costs[KF_GOALS], before[KF_GOALS];
    result->front_count = 0;
    if (result->objective.count < 2) return;
    result->front = kf_reallocate(result->front, ((size_t)result->tried.count + 1) * sizeof *result->front);
    for (int i = 0; i < result->tried.count; i++) {
        if (!costs_of(result, i, costs) || is_dominated(result, costs)) continue;
        int at = result->front_count++;
        for (; at > 0 && costs_of(result, result->front[at - 1], before) && before[0] > costs[0]; at--)
            result->front[at] = result->front[at - 1];
        result->front[at] = i;
    }
}

/* Chooses the best config. Times from the final decide, because configs take turns there, while times from
 * the search are minutes apart. Among configs that tie the simplest wins. */
void kf_tune_choose(kf_tune_result *result) {
    /* Times from the final decide, because those from the search are minutes apart. */
    result->best = fastest(result, true);
    if (result->best >= 0)
        result->best = simplest_tie(result, result->best);
    else
        result->best = fastest(result, false);
    find_front(result);
    result->best_measurement = kf_tune_measurement(result, result->best);
    result->best_sequence = sequence_of(result, result->best);
    result->tie_count = 0;
    for (int i = 0; i < KF_PRESETS; i++)
        result->gain[i] = (double)NAN;
    if (result->best < 0) return;

    const double cost = kf_measurement_cost(result->best_measurement, &result->objective);
    for (int i = 0; i < KF_PRESETS; i++) {
        const kf_measurement *m = kf_tune_measurement(result, result->presets[i]);
        if (m != NULL) result->gain[i] = kf_measurement_cost(m, &result->objective) / cost;
    }
    find_ties(result);
}

/* Fills the contents of the best config's file: the problem, the config with its time and gains, and the
 * configs that tie with it. */
void kf_tune_best_config(const kf_tune_request *request, const kf_tune_result *result, kf_best_config *best) {
    const kf_problem *problem = request->problem;
    const kf_evaluation *evaluation = &result->tried.items[result->best];
    const kf_measurement *m = result->best_measurement;
    memset(best, 0, sizeof *best);
    (void)snprintf(best->version, sizeof best->version, "%s", KF_VERSION);
    (void)snprintf(best->scene, sizeof best->scene, "%s", problem->source);
    (void)snprintf(best->scene_hash, sizeof best->scene_hash, "%s", problem->hash);
    kf_facts_copy(&best->facts, &problem->facts);
    best->seed = problem->seed;
    best->tried = (int)result->tried.count;
    best->device = result->device;
    best->config = evaluation->config;
    memcpy(best->config_hash, evaluation->hash, sizeof best->config_hash);
    best->time_us = m->step_us.median;
    best->ci_us[0] = m->step_us.low;
    best->ci_us[1] = m->step_us.high;
    best->updates_per_second = 1e6 * m->updates_per_us;
    kf_copy_text(best->update, sizeof best->update, problem->system->update);
    best->bandwidth = m->effective_bandwidth;
    best->gain_baseline = result->gain[KF_PRESET_BASELINE];
    best->gain_paper = result->gain[KF_PRESET_PAPER];
    best->gain_default = result->gain[KF_PRESET_DEFAULT];
    best->verification_error = evaluation->measurement.verification.error;
    best->verification_bound = evaluation->measurement.verification.bound;
    best->tie_count = result->tie_count;
    for (int i = 0; i < result->tie_count; i++)
        best->ties[i] = result->tried.items[result->ties[i]].config;
    memcpy(best->run_uuid, result->run.uuid, sizeof best->run_uuid);
}
