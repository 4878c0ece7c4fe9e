#include "harness/replay/replay.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "harness/cli/command.h"
#include "harness/util/text.h"

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
    int repeat, done;
    double best, spent;
} kf_search;

static void evaluate(kf_search *search, uint64_t index) {
    const kf_landscape *landscape = search->request->landscape;
    bool ok = landscape->states[index] == KF_STATE_OK;
    kf_strategy_tell(search->strategy, index, ok, landscape->times_us[index]);
    if (ok && landscape->times_us[index] < search->best) search->best = landscape->times_us[index];
    search->spent += landscape->seconds[index];
    size_t place = (size_t)search->done++;
    search->result->regrets[place * (size_t)search->result->repeats + (size_t)search->repeat] =
        search->best / landscape->times_us[landscape->optimum] - 1;
    search->result->seconds[place] += search->spent / search->result->repeats;
}

static void evaluate_presets(kf_search *search) {
    const kf_space *space = search->request->landscape->space;
    for (int i = 0; i < kf_space_preset_count(space) && search->done < search->result->evaluations; i++) {
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
    while (search.done < result->evaluations && kf_strategy_next(search.strategy, &index))
        evaluate(&search, index);
    kf_strategy_close(search.strategy);
    if (kf_interrupted) return kf_fail(error, KF_INTERRUPTED, "interrupted after %d searches", repeat + 1);
    if (search.done == result->evaluations) return KF_OK;
    return kf_fail(error, KF_MACHINE, "strategy %s proposed only %d configs of %llu", request->strategy,
                   search.done, (unsigned long long)landscape->size);
}

static void summarise(kf_replay_result *result) {
    for (int i = 0; i < result->evaluations; i++) {
        const double *regrets = result->regrets + (size_t)i * (size_t)result->repeats;
        result->summaries[i] = kf_summarise(regrets, (size_t)result->repeats);
        for (int k = 0; k < result->repeats; k++)
            result->means[i] += regrets[k] / result->repeats;
    }
}

kf_status kf_replay(const kf_replay_request *request, kf_replay_result *result, kf_error *error) {
    uint64_t size = request->landscape->size;
    int evaluations =
        size < (uint64_t)request->evaluations ? (int)size : request->evaluations; /* no config twice */
    size_t count = (size_t)evaluations;
    *result = (kf_replay_result){.evaluations = evaluations, .repeats = request->repeats};
    result->regrets = kf_allocate(count * (size_t)request->repeats * sizeof *result->regrets);
    result->means = kf_allocate_zeroed(count, sizeof *result->means);
    result->summaries = kf_allocate(count * sizeof *result->summaries);
    result->seconds = kf_allocate_zeroed(count, sizeof *result->seconds);
    clock_t begin = clock(); /* of the processor: others may be using the machine */
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
    free(result->means);
    free(result->summaries);
    free(result->seconds);
    *result = (kf_replay_result){0};
}
