/* Block 0: the columns' labels (sample block length). Block 1: the rows' labels (layout). Block 2: a line for
 * each cell: column, row, best time. Only the plan with most measured blocks and layouts is shown. Plans
 * differ more than these do, so a surface of several plans would only show where each plan was tried. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "plots/tables.h"

enum { MOST_LINES = 256, LEAST_CELLS = 4 };
/* CSoA with blocks of one node is AoS, and with a single block of all nodes it is SoA. */
static const long aos = 1, soa = 1L << 62;

/* The distinct values along one axis, ascending. */
typedef struct value_axis {
    int count;
    long values[MOST_LINES];
} value_axis;

typedef struct surface_cell {
    long length, alpha;
    double time_us;
} surface_cell;

/* Returns a config's plan; "": the system has no plans. */
static const char *plan_of(const kf_plot_result *result) {
    const char *plan = "";
    return kf_config_name(&result->config, "plan", &plan, NULL) == KF_OK ? plan : "";
}

static bool read_cell(const kf_plot_result *result, const char *plan, surface_cell *cell) {
    const char *layout = "";
    if (!result->ok || strcmp(plan_of(result), plan) != 0 ||
        kf_config_integer(&result->config, "sample_block_length", &cell->length, NULL) != KF_OK)
        return false;
    if (kf_config_name(&result->config, "layout", &layout, NULL) != KF_OK) return false;
    cell->time_us = result->time_us;
    cell->alpha = strcmp(layout, "aos") == 0 ? aos : soa;
    if (strcmp(layout, "csoa") == 0)
        return kf_config_integer(&result->config, "alpha", &cell->alpha, NULL) == KF_OK;
    return true;
}

static int compare_longs(const void *left, const void *right) {
    long a = *(const long *)left, b = *(const long *)right;
    return (a > b) - (a < b);
}

static void add_value(value_axis *axis, long value) {
    for (int i = 0; i < axis->count; i++)
        if (axis->values[i] == value) return;
    if (axis->count < MOST_LINES) axis->values[axis->count++] = value;
}

static int place_of(const value_axis *axis, long value) {
    for (int i = 0; i < axis->count; i++)
        if (axis->values[i] == value) return i;
    return -1;
}

static void append_labels(const value_axis *axis, bool layouts, kf_text *data) {
    for (int i = 0; i < axis->count; i++) {
        if (layouts && axis->values[i] == aos) {
            kf_text_append(data, "%d\tAoS\n", i);
        } else if (layouts && axis->values[i] == soa) {
            kf_text_append(data, "%d\tSoA\n", i);
        } else {
            kf_text_append(data, "%d\t%ld\n", i, axis->values[i]);
        }
    }
    kf_text_append(data, "\n\n");
}

/* Fills in the best time of every cell; 0: nothing was measured. */
static void fill_grid(const kf_plot_results *results, const char *plan, const value_axis *lengths,
                      const value_axis *alphas, double *grid, double *longest) {
    for (size_t i = 0; i < results->count; i++) {
        surface_cell cell;
        if (!read_cell(&results->results[i], plan, &cell)) continue;
        int column = place_of(lengths, cell.length), row = place_of(alphas, cell.alpha);
        if (column < 0 || row < 0) continue;
        double *best = &grid[row * lengths->count + column];
        if (*best <= 0 || cell.time_us < *best) *best = cell.time_us;
        if (cell.time_us > *longest) *longest = cell.time_us;
    }
}

/* Returns the plan that was measured most. The name belongs to results. */
static const char *most_measured_plan(const kf_plot_results *results) {
    enum { MOST_PLANS = 32 };
    const char *plans[MOST_PLANS] = {""};
    size_t counts[MOST_PLANS] = {0};
    int count = 0, most = 0;
    for (size_t i = 0; i < results->count; i++) {
        const char *plan = plan_of(&results->results[i]);
        surface_cell cell;
        int at = 0;
        while (at < count && strcmp(plans[at], plan) != 0)
            at++;
        if (at == MOST_PLANS || !read_cell(&results->results[i], plan, &cell)) continue;
        if (at == count) plans[count++] = plan;
        if (++counts[at] > counts[most]) most = at;
    }
    return plans[most];
}

kf_status kf_table_surface(const kf_plot_results *results, kf_text *data, kf_time_unit *unit,
                           const char **plan_shown, kf_error *error) {
    value_axis lengths = {0}, alphas = {0};
    const char *plan = *plan_shown = most_measured_plan(results);
    for (size_t i = 0; i < results->count; i++) {
        surface_cell cell;
        if (!read_cell(&results->results[i], plan, &cell)) continue;
        add_value(&lengths, cell.length);
        add_value(&alphas, cell.alpha);
    }
    if (lengths.count == 0) {
        return kf_fail(error, KF_BAD_INPUT,
                       "this run has no ok result with the parameters sample_block_length and layout");
    }
    if (lengths.count * alphas.count < LEAST_CELLS)
        return kf_fail(
            error, KF_BAD_INPUT,
            "this run measured %d sample block length%s and %d layout%s, too few for a surface; tune with "
            "--strategy enumerate --fix plan=%s and a longer --budget",
            lengths.count, lengths.count == 1 ? "" : "s", alphas.count, alphas.count == 1 ? "" : "s",
            plan[0] != '\0' ? plan : "NAME");
    qsort(lengths.values, (size_t)lengths.count, sizeof *lengths.values, compare_longs);
    qsort(alphas.values, (size_t)alphas.count, sizeof *alphas.values, compare_longs);
    double longest = 0,
           *grid = kf_allocate_zeroed((size_t)lengths.count * (size_t)alphas.count, sizeof *grid);
    fill_grid(results, plan, &lengths, &alphas, grid, &longest);
    *unit = kf_time_unit_for(longest);
    append_labels(&lengths, false, data);
    append_labels(&alphas, true, data);
    for (int row = 0; row < alphas.count; row++) {
        for (int column = 0; column < lengths.count; column++) {
            double time = grid[row * lengths.count + column] * unit->scale;
            if (time > 0) kf_text_append(data, "%d\t%d\t%.6g\n", column, row, time);
        }
    }
    free(grid);
    return KF_OK;
}
