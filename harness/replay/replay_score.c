#include "harness/replay/replay_score.h"

#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "base/util/random.h"

/* Returns the times of all configs in ascending order. A failed config counts as the slowest correct one. */
static double *sorted_times(const kf_landscape *landscape) {
    double *times = kf_allocate(landscape->size * sizeof *times);
    double slowest = 0;
    for (uint64_t i = 0; i < landscape->size; i++) {
        times[i] = landscape->states[i] == KF_STATE_OK ? landscape->times_us[i] : INFINITY;
        if (isfinite(times[i])) slowest = fmax(slowest, times[i]);
    }
    for (uint64_t i = 0; i < landscape->size; i++)
        times[i] = fmin(times[i], slowest);
    qsort(times, landscape->size, sizeof *times, kf_ascending);
    return times;
}

static double mean_seconds(const kf_landscape *landscape) {
    double sum = 0;
    for (uint64_t i = 0; i < landscape->size; i++)
        sum += landscape->seconds[i];
    return sum / (double)landscape->size;
}

kf_replay_budget kf_replay_budget_of(const kf_landscape *landscape) {
    static const double SHARE = 0.95;
    double *times = sorted_times(landscape);
    const double best = times[0];
    const double median = (times[(landscape->ok_count - 1) / 2] + times[landscape->ok_count / 2]) / 2;
    uint64_t good = 1; /* number of configs that are good enough */
    while (good < landscape->size && times[good] <= best + (1 - SHARE) * (median - best))
        good++;
    free(times);
    /* The best of m draws from n has the expected rank (n + 1) / (m + 1). */
    const double draws = ceil((double)(landscape->size + 1) / (double)good - 1);
    const int evaluations = (int)fmin(fmax(draws, 1), (double)landscape->size);
    return (kf_replay_budget){evaluations, evaluations * mean_seconds(landscape)};
}

/* Computes the expected result of random search. The best of m draws without repetition is the k-th of n with
 * probability C(n - k, m - 1) / C(n, m). */
double *kf_replay_random(const kf_landscape *landscape, int count) {
    const double n = (double)landscape->size;
    double *times = sorted_times(landscape);
    double *random = kf_allocate_zeroed((size_t)count, sizeof *random);
    for (int i = 0; i < count; i++) {
        const double m = i + 1;
        double chance = m / n;
        for (uint64_t k = 1; k <= landscape->size && chance > 0; k++) {
            random[i] += chance * times[k - 1];
            chance *= k < landscape->size ? fmax(0, n - (double)k - m + 1) / (n - (double)k) : 0;
        }
    }
    free(times);
    return random;
}

/* Returns the mean regret of the searches after so many seconds; at[k]: the position of search k, which moves
 * on. */
static double regret_after(const kf_replay_result *result, double seconds, double slowest, int *at) {
    const size_t repeats = (size_t)result->repeats;
    double sum = 0;
    for (size_t k = 0; k < repeats; k++) {
        while (at[k] < result->evaluations && result->spent[(size_t)at[k] * repeats + k] <= seconds)
            at[k]++;
        sum += at[k] == 0 ? slowest : result->regrets[(size_t)(at[k] - 1) * repeats + k];
    }
    return sum / (double)repeats;
}

static double score_by_evaluations(const double *random, double best, int budget,
                                   const kf_replay_result *result) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < budget && i < result->evaluations; i++) {
        const double ahead = random[i] / best - 1; /* the regret of random search */
        if (ahead <= 0) continue;
        sum += (ahead - result->means[i]) / ahead;
        count++;
    }
    return count > 0 ? sum / count : (double)NAN;
}

enum { STEPS = 1000, SEARCHES = 1000 };

/* Returns one of the moments that are looked at: from what a config takes on average, when random search has
 * its first, to the end of the budget. */
static double step_seconds(kf_replay_budget budget, int step) {
    const double first = budget.seconds / budget.evaluations;
    return first + (budget.seconds - first) * step / STEPS;
}

/* Does one random search and adds its regret at each step to sums. `order` has all configs; those that it
 * draws come first. */
static void add_random_search(const kf_landscape *landscape, kf_replay_budget budget, double slowest,
                              uint64_t *random, uint64_t *order, double *sums) {
    double regret = slowest, spent = 0;
    int step = 0;
    for (uint64_t drawn = 0; drawn < landscape->size && step <= STEPS; drawn++) {
        const uint64_t pick = drawn + kf_random_below(random, landscape->size - drawn), index = order[pick];
        order[pick] = order[drawn];
        order[drawn] = index;
        spent += landscape->seconds[index];
        for (; step <= STEPS && step_seconds(budget, step) < spent; step++)
            sums[step] += regret;
        if (landscape->states[index] == KF_STATE_OK)
            regret = fmin(regret, landscape->times_us[index] / landscape->times_us[landscape->optimum] - 1);
    }
    for (; step <= STEPS; step++)
        sums[step] += regret;
}

/* Gives what random search is expected to have found at each step, as the mean of many searches; their
 * seed is always the same. */
static void random_by_seconds(const kf_landscape *landscape, kf_replay_budget budget, double slowest,
                              double *regrets) {
    uint64_t random = 1;
    uint64_t *order = kf_allocate(landscape->size * sizeof *order);
    for (uint64_t i = 0; i < landscape->size; i++)
        order[i] = i;
    for (int search = 0; search < SEARCHES; search++)
        add_random_search(landscape, budget, slowest, &random, order, regrets);
    for (int step = 0; step <= STEPS; step++)
        regrets[step] /= SEARCHES;
    free(order);
}

static double score_by_seconds(const kf_landscape *landscape, kf_replay_budget budget,
                               const kf_replay_result *result) {
    double *times = sorted_times(landscape);
    const double slowest = times[landscape->size - 1] / times[0] - 1;
    double *random = kf_allocate_zeroed(STEPS + 1, sizeof *random);
    int *at = kf_allocate_zeroed((size_t)result->repeats, sizeof *at);
    double sum = 0;
    int count = 0;
    random_by_seconds(landscape, budget, slowest, random);
    for (int step = 0; step <= STEPS; step++) {
        const double regret = regret_after(result, step_seconds(budget, step), slowest, at);
        if (random[step] <= 0) continue;
        sum += (random[step] - regret) / random[step];
        count++;
    }
    free(at);
    free(random);
    free(times);
    return count > 0 ? sum / count : (double)NAN;
}

kf_replay_score kf_replay_score_of(const kf_landscape *landscape, const kf_replay_result *result) {
    const kf_replay_budget budget = kf_replay_budget_of(landscape);
    double *random = kf_replay_random(landscape, budget.evaluations);
    const double best = landscape->times_us[landscape->optimum];
    kf_replay_score score = {score_by_evaluations(random, best, budget.evaluations, result), NAN};
    if (isfinite(budget.seconds)) score.seconds = score_by_seconds(landscape, budget, result);
    free(random);
    return score;
}
