#include "harness/replay/replay.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/util/memory.h"
#include "base/util/program.h"

static double slowest(const kf_landscape *landscape) {
    double time = 0;
    for (uint64_t i = 0; i < landscape->size; i++)
        if (landscape->states[i] == KF_STATE_OK && landscape->times_us[i] > time)
            time = landscape->times_us[i];
    return time;
}

typedef struct kf_search {
    const kf_replay_request *request;
    kf_replay_result *result;
    kf_strategy *strategy;
    int repeat, filled; /* filled: number of evaluations in the result */
    double spent;       /* seconds so far */
    double best;        /* time of the best config so far; at first that of the slowest correct one */
} kf_search;

/* Records what the search has found, for one more evaluation. */
static void fill(kf_search *search) {
    const kf_landscape *landscape = search->request->landscape;
    size_t at = (size_t)search->filled++ * (size_t)search->result->repeats + (size_t)search->repeat;
    search->result->regrets[at] = search->best / landscape->times_us[landscape->optimum] - 1;
    search->result->spent[at] = search->spent;
}

/* Evaluates a config from the landscape instead of the device, and records the regret. */
static void evaluate(kf_search *search, uint64_t index) {
    const kf_landscape *landscape = search->request->landscape;
    const bool ok = landscape->states[index] == KF_STATE_OK;
    const double time = ok ? landscape->times_us[index] : NAN;
    search->spent += landscape->seconds[index];
    kf_strategy_tell(search->strategy, index, ok, time);
    if (ok && time < search->best) search->best = time;
    fill(search);
}

static void evaluate_presets(kf_search *search) {
    const kf_space *space = search->request->landscape->space;
    for (int i = 0; i < kf_space_preset_count(space) && search->filled < search->result->evaluations; i++) {
        kf_config config;
        uint64_t index;
        if (kf_space_preset(space, kf_space_preset_name(space, i), &config, NULL) == KF_OK &&
            kf_space_index(space, &config, &index, NULL, 0) && !kf_strategy_knows(search->strategy, index))
            evaluate(search, index);
    }
}

static kf_status run_search(const kf_replay_request *request, kf_replay_result *result, int repeat,
                            kf_error *error) {
    const kf_landscape *landscape = request->landscape;
    kf_search search = {.request = request, .result = result, .repeat = repeat, .best = slowest(landscape)};
    KF_TRY(kf_strategy_open(request->strategy, landscape->space, request->seed + (uint64_t)repeat,
                            &search.strategy, error));
    if (request->prior != NULL) kf_strategy_set_prior(search.strategy, request->prior);
    evaluate_presets(&search);
    uint64_t index;
    while (search.filled < result->evaluations && kf_strategy_next(search.strategy, &index))
        evaluate(&search, index);
    kf_strategy_close(search.strategy);
    if (kf_interrupted) return kf_fail(error, KF_INTERRUPTED, "interrupted after %d searches", repeat + 1);
    if (search.filled == result->evaluations) return KF_OK;
    return kf_fail(error, KF_MACHINE, "strategy %s ended after %d evaluations of %llu configs",
                   request->strategy, search.filled, (unsigned long long)landscape->size);
}

static void summarise(kf_replay_result *result) {
    for (int i = 0; i < result->evaluations; i++) {
        const double *regrets = result->regrets + (size_t)i * (size_t)result->repeats;
        result->summaries[i] = kf_summarise(regrets, (size_t)result->repeats);
        for (int k = 0; k < result->repeats; k++)
            result->means[i] += regrets[k] / result->repeats;
        for (int k = 0; k < result->repeats; k++)
            result->seconds[i] += result->spent[i * result->repeats + k] / result->repeats;
    }
}

kf_summary kf_replay_after(const kf_replay_request *request, const kf_replay_result *result, double seconds) {
    const kf_landscape *landscape = request->landscape;
    size_t repeats = (size_t)result->repeats;
    double *regrets = kf_allocate(repeats * sizeof *regrets);
    kf_summary summary = {.count = 0};
    for (size_t k = 0; k < repeats; k++) {
        regrets[k] = slowest(landscape) / landscape->times_us[landscape->optimum] - 1;
        for (int i = 0; i < result->evaluations && result->spent[(size_t)i * repeats + k] <= seconds; i++)
            regrets[k] = result->regrets[(size_t)i * repeats + k];
    }
    if (isfinite(result->seconds[result->evaluations - 1])) summary = kf_summarise(regrets, repeats);
    free(regrets);
    return summary;
}

/* Finds the evaluations and seconds until searches reached this regret: the upper of the two middle values
 * over all repeats. It is infinite if half of them did not reach it. */
kf_replay_within kf_replay_time_to(const kf_replay_result *result, double regret) {
    const size_t repeats = (size_t)result->repeats;
    double *evaluations = kf_allocate(repeats * sizeof *evaluations);
    double *seconds = kf_allocate(repeats * sizeof *seconds);
    kf_replay_within within = {.reached = 0};
    for (size_t k = 0; k < repeats; k++) {
        int i = 0;
        while (i < result->evaluations && result->regrets[(size_t)i * repeats + k] > regret)
            i++;
        const bool there = i < result->evaluations;
        within.reached += there;
        evaluations[k] = there ? i + 1 : (double)INFINITY;
        seconds[k] = there ? result->spent[(size_t)i * repeats + k] : (double)INFINITY;
    }
    qsort(evaluations, repeats, sizeof *evaluations, kf_ascending);
    qsort(seconds, repeats, sizeof *seconds, kf_ascending);
    /* This is the upper of the two middle values, at which half of all searches have arrived. */
    within.evaluations = evaluations[repeats / 2];
    within.seconds = isfinite(result->seconds[result->evaluations - 1]) ? seconds[repeats / 2] : (double)NAN;
    free(evaluations);
    free(seconds);
    return within;
}

/* Replays the strategy many times on the landscape with different seeds, and summarises the regrets. The
 * overhead is processor time for each evaluation, because other programs may use the machine. */
kf_status kf_replay(const kf_replay_request *request, kf_replay_result *result, kf_error *error) {
    uint64_t size = request->landscape->size;
    int evaluations = size < (uint64_t)request->evaluations
                          ? (int)size
                          : request->evaluations; /* no config is evaluated twice */
    size_t count = (size_t)evaluations;
    *result = (kf_replay_result){.evaluations = evaluations, .repeats = request->repeats};
    result->regrets = kf_allocate(count * (size_t)request->repeats * sizeof *result->regrets);
    result->spent = kf_allocate(count * (size_t)request->repeats * sizeof *result->spent);
    result->means = kf_allocate_zeroed(count, sizeof *result->means);
    result->summaries = kf_allocate(count * sizeof *result->summaries);
    result->seconds = kf_allocate_zeroed(count, sizeof *result->seconds);
    clock_t begin = clock(); /* processor time, because other programs may use the machine */
    for (int repeat = 0; repeat < request->repeats; repeat++) {
        kf_status status = run_search(request, result, repeat, error);
        if (status != KF_OK) {
            kf_replay_free(result);
            return status;
        }
    }
    result->overhead_us =
        1e6 / CLOCKS_PER_SEC * (double)(clock() - begin) / ((double)evaluations * request->repeats);
    summarise(result);
    return KF_OK;
}

void kf_replay_free(kf_replay_result *result) {
    free(result->regrets);
    free(result->spent);
    free(result->means);
    free(result->summaries);
    free(result->seconds);
    *result = (kf_replay_result){0};
}
