/* Block 0: a line for each result with its first two goals. Block 1: the same for results that no other beats
 * in every goal, sorted by the first goal. Block 2: the one that the run chose. For a config in the final the
 * last measurement counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "plots/gnuplot.h"
#include "plots/tables.h"

static bool is_known(const kf_plot_results *results, const kf_plot_result *result) {
    for (int i = 0; i < results->objective.count; i++)
        if (!isfinite(result->costs[i])) return false;
    return result->ok;
}

static bool is_measured_again(const kf_plot_results *results, const kf_plot_result *result) {
    if (strcmp(result->role, "final") == 0) return false;
    for (size_t i = 0; i < results->count; i++)
        if (strcmp(results->results[i].role, "final") == 0 &&
            kf_plot_same_config(&results->results[i].config, &result->config))
            return true;
    return false;
}

static bool is_dominated(const kf_plot_result *const *shown, size_t count, const kf_plot_result *result,
                         int goals) {
    for (size_t i = 0; i < count; i++)
        if (kf_costs_dominate(shown[i]->costs, result->costs, goals)) return true;
    return false;
}

static int by_first_goal(const void *left, const void *right) {
    const kf_plot_result *a = *(const kf_plot_result *const *)left,
                         *b = *(const kf_plot_result *const *)right;
    return (a->goals[0] > b->goals[0]) - (a->goals[0] < b->goals[0]);
}

static void append(kf_text *data, const kf_plot_result *result) {
    kf_text_append(data, "%.9g\t%.9g\n", result->goals[0], result->goals[1]);
}

/* Appends the blocks of the shown results, sorted by their first goal. */
static void append_blocks(const kf_plot_results *results, const kf_plot_result *const *shown, size_t count,
                          kf_text *data) {
    for (size_t i = 0; i < count; i++)
        append(data, shown[i]);
    kf_text_append(data, "\n\n");
    for (size_t i = 0; i < count; i++)
        if (!is_dominated(shown, count, shown[i], results->objective.count)) append(data, shown[i]);
    kf_text_append(data, "\n\n");
    const kf_plot_result *best = kf_plot_best(results);
    if (best != NULL && is_known(results, best)) append(data, best);
}

static void name_axis(const kf_goal *goal, kf_text *axis) {
    kf_gnuplot_field(axis, goal->name);
    kf_text_append(axis, "%s%s", kf_quantity_unit(goal->name), goal->maximise ? ", more is better" : "");
}

/* Sorts the configs by the first goal, so that those of the front follow each other. */
kf_status kf_table_front(const kf_plot_results *results, kf_text *data, kf_text axes[2], kf_error *error) {
    if (results->objective.count < 2)
        return kf_fail(
            error, KF_BAD_INPUT,
            "this run sought one quantity, and a front needs two; tune with --objective time,energy");
    const kf_plot_result **shown = kf_allocate((results->count + 1) * sizeof(kf_plot_result *));
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++)
        if (is_known(results, &results->results[i]) && !is_measured_again(results, &results->results[i]))
            shown[count++] = &results->results[i];
    qsort(shown, count, sizeof *shown, by_first_goal);
    append_blocks(results, shown, count, data);
    free((void *)shown);
    for (int i = 0; i < 2; i++)
        name_axis(&results->objective.goals[i], &axes[i]);
    if (count > 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "this run has no result with a known value of every goal");
}
