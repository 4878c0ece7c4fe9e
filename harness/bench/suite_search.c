/* Runs the suite `search`: every strategy on every stored landscape, without a device. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/statistics/detector.h"
#include "base/statistics/statistics.h"
#include "base/util/file.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/bench/bench.h"
#include "harness/replay/landscape_prior.h"
#include "harness/replay/replay.h"
#include "harness/worker/worker.h"

enum { SEEDS = 100, MOST_FILES = 128, MARKS = 2 };

/* The numbers of evaluations at which the model is compared with the best of the other strategies, by
 * Mann-Whitney's test over the seeds. */
static const int cells[] = {20, 50, 100, 200};
enum { CELLS = sizeof cells / sizeof *cells, LEAST_CONFIGS = 700, STRATEGIES = 16 };

typedef struct kf_cells {
    double probabilities[MOST_FILES * CELLS];
    int sides[MOST_FILES * CELLS]; /* 1: the model is better; -1: it is worse; 0: mean and ranks disagree */
    int count;
} kf_cells;

/* A mean regret that the model must reach. */
typedef struct kf_target {
    const char *landscape;
    int evaluations[MARKS];
    double regret[MARKS];
} kf_target;
static const kf_target targets[] = {
    {"convolution-A4000", {50, 200}, {0.10, 0.02}},
    {"dedispersion-W6600", {50, 200}, {0.05, 0.025}},
};
static const kf_target whole_target = {"any space measured whole", {50, 200}, {INFINITY, 0.02}},
                       survey_target = {"any survey", {8, 20}, {INFINITY, 0.01}};

/* Returns whether a landscape is a whole space, or a random part that is large enough. A model may have
 * chosen half of the configs of a survey, so a survey counts only if tuning has no cost model. */
static bool is_whole(const kf_landscape *landscape, bool has_prior) {
    return !has_prior && landscape->ok_count >= LEAST_CONFIGS;
}

static const kf_target *target_of(const kf_landscape *landscape, bool has_prior) {
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].landscape, landscape->name) == 0) return &targets[i];
    return has_prior ? &survey_target : &whole_target;
}

/* --- The landscapes there are --------------------------------------------------------------------------- */

typedef struct kf_files {
    char *paths[MOST_FILES];
    int count;
} kf_files;

static bool is_landscape(const char *name) {
    if (strstr(name, ".t1.json") != NULL || strstr(name, ".t4.json") != NULL) return false;
    const char *ending = strstr(name, ".json");
    return name[0] != '.' && ending != NULL && (ending[5] == '\0' || strcmp(ending + 5, ".gz") == 0);
}

static int compare_paths(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Adds the landscapes in a folder in alphabetical order. The folder need not exist. */
static kf_status list_folder(kf_files *files, const char *folder, kf_error *error) {
    DIR *open = NULL;
    if (access(folder, F_OK) != 0) return KF_OK;
    KF_TRY(kf_folder_open(folder, &open, error));
    int first = files->count;
    char path[KF_PATH];
    kf_status status = KF_OK;
    for (const struct dirent *entry = readdir(open); entry != NULL && status == KF_OK;
         entry = readdir(open)) {
        if (!is_landscape(entry->d_name) || files->count == MOST_FILES) continue;
        status = kf_path(path, error, "%s/%s", folder, entry->d_name);
        if (status == KF_OK) files->paths[files->count++] = kf_duplicate(path);
    }
    (void)closedir(open);
    qsort(files->paths + first, (size_t)(files->count - first), sizeof *files->paths, compare_paths);
    return status;
}

/* Lists the available landscapes: those that KFTUNE_SHARED names, otherwise those beside the data, and the
 * shipped ones. KF_MACHINE if there are none. */
static kf_status list_files(kf_files *files, kf_error *error) {
    const char *data = NULL, *shared = getenv("KFTUNE_SHARED");
    char folder[KF_PATH];
    KF_TRY(kf_data_folder(&data, error));
    if (shared != NULL)
        KF_TRY(kf_path(folder, error, "%s/landscapes", shared));
    else
        KF_TRY(kf_path(folder, error, "%s/../shared/landscapes", data));
    KF_TRY(list_folder(files, folder, error));
    KF_TRY(kf_path(folder, error, "%s/results/landscapes", data));
    KF_TRY(list_folder(files, folder, error));
    if (files->count > 0) return KF_OK;
    return kf_fail(
        error, KF_MACHINE,
        "there is no landscape in %s or in $KFTUNE_SHARED/landscapes; 'kftune store export --format "
        "landscape' makes one",
        folder);
}

/* --- The cost model as prior ---------------------------------------------------------------------------- */

/* Returns the regret of the fastest config among those that are predicted to be the fastest. */
static double regret_of_first(const double *measured, const double *predicted, size_t count) {
    enum { FIRST = 5 };
    size_t first[FIRST];
    int taken = 0;
    double best = INFINITY, found = INFINITY;
    for (size_t i = 0; i < count; i++) {
        best = fmin(best, measured[i]);
        int place = taken;
        for (; place > 0 && predicted[first[place - 1]] > predicted[i]; place--)
            if (place < FIRST) first[place] = first[place - 1];
        if (place < FIRST) first[place] = i;
        if (taken < FIRST) taken++;
    }
    for (int i = 0; i < taken; i++)
        found = fmin(found, measured[first[i]]);
    return found / best - 1;
}

/* Adds how well the cost model agrees before calibration: its rank correlation with all measurements, and the
 * regret of the first five configs. */
static void add_agreement(const kf_landscape *landscape, kf_landscape_prior *believed, kf_figures *figures) {
    double *measured = kf_allocate(landscape->size * sizeof *measured);
    double *predicted = kf_allocate(landscape->size * sizeof *predicted);
    size_t count = 0;
    for (uint64_t i = 0; i < landscape->size; i++) {
        double time = kf_cost_prior_time(&believed->source, i);
        if (landscape->states[i] != KF_STATE_OK || !isfinite(time)) continue;
        measured[count] = landscape->times_us[i];
        predicted[count++] = time;
    }
    kf_figure figure = {
        .value = kf_rank_correlation(measured, predicted, count), .floor = 0.85, .share = NAN};
    (void)snprintf(figure.name, sizeof figure.name, "%.28s cost model rank", landscape->name);
    figure.failed = figure.value < figure.floor;
    kf_figures_add(figures, &figure);
    kf_figure first = {.value = 100 * regret_of_first(measured, predicted, count),
                       .unit = "%",
                       .floor = (double)NAN,
                       .share = NAN};
    (void)snprintf(first.name, sizeof first.name, "%.28s cost model first 5", landscape->name);
    kf_figures_add(figures, &first);
    free(measured);
    free(predicted);
}

/* --- Figures -------------------------------------------------------------------------------------------- */

/* Returns the standard error of the mean relative to the mean. */
static double relative_error(const kf_replay_result *result, int place) {
    const double *regrets = result->regrets + (size_t)place * (size_t)result->repeats;
    double squares = 0, mean = result->means[place];
    for (int k = 0; k < result->repeats; k++)
        squares += (regrets[k] - mean) * (regrets[k] - mean);
    return mean > 0 ? sqrt(squares / result->repeats / result->repeats) / mean : 0;
}

static void add_figure(const kf_landscape *landscape, const char *strategy, const kf_replay_result *result,
                       int evaluations, double bound, kf_figures *figures) {
    if (evaluations > result->evaluations) return;
    kf_figure figure = {.value = 100 * result->means[evaluations - 1],
                        .unit = "%",
                        .spread = relative_error(result, evaluations - 1),
                        .floor = isfinite(bound) ? 100 * bound : (double)NAN,
                        .share = NAN};
    (void)snprintf(figure.name, sizeof figure.name, "%.24s %.14s %d", landscape->name, strategy, evaluations);
    figure.failed = isfinite(bound) && figure.value > 100 * bound;
    kf_figures_add(figures, &figure);
}

/* Returns whether a strategy is replayed. Full enumeration is not. */
static bool is_replayed(const kf_strategy_methods *strategy) {
    return strcmp(strategy->name, "enumerate") != 0;
}

static void add_cells(kf_cells *all, const kf_replay_result *results, int count, int model) {
    for (int c = 0; c < CELLS; c++) {
        const size_t at = (size_t)cells[c] - 1;
        if (cells[c] > results[model].evaluations) return;
        int other = -1;
        for (int s = 0; s < count; s++)
            if (s != model && (other < 0 || results[s].means[at] < results[other].means[at])) other = s;
        const double *own = results[model].regrets + at * SEEDS,
                     *theirs = results[other].regrets + at * SEEDS;
        const bool mean = results[model].means[at] < results[other].means[at];
        const bool ranks = kf_share_below(own, SEEDS, theirs, SEEDS) > 0.5;
        all->probabilities[all->count] = kf_mann_whitney(own, SEEDS, theirs, SEEDS);
        all->sides[all->count++] = mean != ranks ? 0 : mean ? 1 : -1;
    }
}

/* Adds the model's regret after 50 evaluations as a share of that of random search. */
static void add_share_of_random(const kf_landscape *landscape, const kf_replay_result *model,
                                const kf_replay_result *random, kf_figures *figures) {
    enum { AFTER = 50 };
    if (model->evaluations < AFTER || !(random->means[AFTER - 1] > 0)) return;
    kf_figure figure = {.value = 100 * model->means[AFTER - 1] / random->means[AFTER - 1],
                        .unit = "%",
                        .floor = (double)NAN,
                        .share = NAN};
    (void)snprintf(figure.name, sizeof figure.name, "%.24s of random's 50", landscape->name);
    kf_figures_add(figures, &figure);
}

/* Adds the comparison after Holm's correction over all numbers of evaluations on all landscapes. No other
 * strategy may be better anywhere. */
static void add_comparison(kf_cells *all, kf_figures *figures) {
    int better = 0, worse = 0, either = 0;
    kf_holm(all->probabilities, (size_t)all->count);
    for (int i = 0; i < all->count; i++) {
        if (all->probabilities[i] >= 0.05) continue;
        better += all->sides[i] > 0;
        worse += all->sides[i] < 0;
        either += all->sides[i] == 0;
    }
    if (all->count == 0) return;
    kf_figure figure = {.value = worse, .floor = 0, .share = NAN, .failed = worse > 0};
    (void)snprintf(figure.name, sizeof figure.name, "cells where another is better");
    kf_figures_add(figures, &figure);
    figure = (kf_figure){.value = better, .floor = (double)NAN, .share = NAN};
    (void)snprintf(figure.name, sizeof figure.name, "of %d, cells won by the model", all->count);
    kf_figures_add(figures, &figure);
    figure.value = either;
    (void)snprintf(figure.name, sizeof figure.name, "cells won by mean or by ranks");
    kf_figures_add(figures, &figure);
}

static void add_overhead(const kf_landscape *landscape, const kf_replay_result *result, kf_figures *figures) {
    kf_figure own = {.value = result->overhead_us, .unit = "us", .floor = 1000, .share = NAN};
    own.failed = own.value > own.floor;
    (void)snprintf(own.name, sizeof own.name, "%.24s model overhead", landscape->name);
    kf_figures_add(figures, &own);
}

/* Replays every strategy that can be replayed, beginning with random search. */
static kf_status replay_all(const kf_landscape *landscape, const kf_prior *prior, int evaluations,
                            const char **names, kf_replay_result *results, int *count, kf_error *error) {
    for (int pass = 0; pass < 2; pass++)
        for (int s = 0; kf_strategies[s] != NULL; s++) {
            const char *name = kf_strategies[s]->name;
            const bool random = strcmp(name, "random") == 0;
            if (random != (pass == 0) || !is_replayed(kf_strategies[s])) continue;
            const kf_replay_request request = {landscape, name, evaluations, SEEDS, 1, prior};
            KF_TRY(kf_replay(&request, &results[*count], error));
            names[(*count)++] = name;
        }
    return KF_OK;
}

/* Judges a landscape. The model must reach its target. On completely measured spaces all other strategies
 * must beat random search after the last mark. On surveys random search finds good configs, too. */
static kf_status judge(const kf_landscape *landscape, const kf_prior *prior, kf_cells *all,
                       kf_figures *figures, kf_error *error) {
    const bool whole = is_whole(landscape, prior != NULL);
    const kf_target *target = target_of(landscape, prior != NULL);
    kf_replay_result results[STRATEGIES];
    const char *names[STRATEGIES];
    int count = 0, model_at = -1;
    kf_status status =
        replay_all(landscape, prior, target->evaluations[MARKS - 1], names, results, &count, error);
    for (int s = 0; s < count && status == KF_OK; s++) {
        const bool model = strcmp(names[s], "model") == 0;
        for (int mark = 0; mark < MARKS; mark++) {
            const bool judged = mark == MARKS - 1 && whole && s > 0;
            const double bound = model    ? target->regret[mark]
                                 : judged ? results[0].means[results[0].evaluations - 1]
                                          : INFINITY;
            add_figure(landscape, names[s], &results[s], target->evaluations[mark], bound, figures);
        }
        if (!model) continue;
        add_overhead(landscape, &results[s], figures);
        model_at = s;
    }
    if (model_at >= 0 && whole && status == KF_OK) {
        add_cells(all, results, count, model_at);
        add_share_of_random(landscape, &results[model_at], &results[0], figures);
    }
    for (int s = 0; s < count; s++)
        kf_replay_free(&results[s]);
    return status;
}

/* Adds the model's results without its prior, for comparison. */
static kf_status add_without_prior(const kf_landscape *landscape, kf_figures *figures, kf_error *error) {
    const kf_target *target = target_of(landscape, true);
    const kf_replay_request request = {landscape, "model", target->evaluations[MARKS - 1], SEEDS, 1, NULL};
    kf_replay_result result;
    KF_TRY(kf_replay(&request, &result, error));
    for (int mark = 0; mark < MARKS; mark++)
        add_figure(landscape, "model no prior", &result, target->evaluations[mark], INFINITY, figures);
    kf_replay_free(&result);
    return KF_OK;
}

static kf_status judge_file(const char *file, kf_cells *all, kf_figures *figures, kf_error *error) {
    kf_landscape *landscape = NULL;
    kf_landscape_prior believed;
    KF_TRY(kf_landscape_open(file, &landscape, error));
    kf_info("search: %s, %llu configs", landscape->name, (unsigned long long)landscape->size);
    bool prior = kf_landscape_prior_open(landscape, &believed);
    if (prior) add_agreement(landscape, &believed, figures);
    kf_status status = judge(landscape, prior ? &believed.prior : NULL, all, figures, error);
    if (prior && status == KF_OK) status = add_without_prior(landscape, figures, error);
    if (prior) kf_landscape_prior_close(&believed);
    kf_landscape_free(landscape);
    return status;
}

static kf_status run(const kf_bench_suite *suite, const kf_bench_options *options, kf_device_info *device,
                     kf_figures *figures, kf_error *error) {
    kf_files files = {.count = 0};
    kf_cells all = {.count = 0};
    if (options->nodes[0] > 0 || options->samples_per_cell > 0 || options->figure_count > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "--suite %s: --grid, --samples-per-cell and --figure do nothing for this suite",
                       suite->name);
    KF_TRY(kf_device_probe(options->device, device, error));
    kf_status status = list_files(&files, error);
    for (int i = 0; i < files.count && status == KF_OK; i++)
        status = judge_file(files.paths[i], &all, figures, error);
    if (status == KF_OK) add_comparison(&all, figures);
    for (int i = 0; i < files.count; i++)
        free(files.paths[i]);
    return status;
}

const kf_bench_suite kf_suite_search = {
    .name = "search",
    .summary = "regret of every strategy after so many evaluations on stored landscapes, mean of 100 seeds",
    .promise = "the models reach their targets (floor), no strategy is better than the model (Mann-Whitney, "
               "Holm) and "
               "each beats random search where the whole space was measured",
    .run = run,
};
