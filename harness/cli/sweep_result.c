#include "harness/cli/sweep_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/text.h"
#include "solver/picture/chart.h"

void kf_sweep_result_add(kf_sweep_result *result, const char *value, const char *folder) {
    kf_error ignored;
    if (result->count == KF_SWEEP_POINTS ||
        kf_run_figures_read(folder, &result->points[result->count].run, &ignored) != KF_OK)
        return;
    kf_copy_text(result->points[result->count].value, sizeof result->points->value, value);
    result->count++;
}

void kf_sweep_result_free(kf_sweep_result *result) {
    for (int i = 0; i < result->count; i++)
        kf_run_figures_free(&result->points[i].run);
    result->count = 0;
}

/* ---- Grids ---- */

/* Finds the limit of the settled runs on several grids, sorted by their cells. */
static kf_grid_limit limit_of(const kf_sweep_result *r) {
    double cells[KF_SWEEP_POINTS], drags[KF_SWEEP_POINTS];
    int count = 0;
    for (int i = 0; i < r->count && r->grids; i++) {
        const kf_run_figures *run = &r->points[i].run;
        if (!run->settled || !isfinite(run->cells)) continue;
        int at = count++;
        for (; at > 0 && cells[at - 1] > run->cells; at--) {
            cells[at] = cells[at - 1];
            drags[at] = drags[at - 1];
        }
        cells[at] = run->cells;
        drags[at] = run->wind[KF_FIGURE_DRAG].mean;
    }
    return kf_grid_limit_of(count, cells, drags);
}

/* Finds the interval of the finest settled grid. The part `grid` comes from the grids themselves. */
static bool interval_of_grids(const kf_sweep_result *r, const kf_grid_limit *limit, kf_drag_interval *found) {
    const kf_run_figures *finest = NULL;
    for (int i = 0; i < r->count && limit->known; i++) {
        const kf_run_figures *run = &r->points[i].run;
        if (run->settled && run->judged && (finest == NULL || run->cells > finest->cells)) finest = run;
    }
    if (finest == NULL || finest->open_stream.raw == 0.0) return false;
    *found = finest->open_stream;
    const double corrected = fabs(found->corrected / found->raw);
    found->corrected *= limit->limit / found->raw;
    found->half[KF_PART_GRID] = corrected * limit->error;
    if (limit->extrapolated)
        (void)snprintf(found->why[KF_PART_GRID], sizeof *found->why,
                       "Richardson's extrapolation with an order of %.2g", limit->order);
    else
        kf_copy_text(found->why[KF_PART_GRID], sizeof *found->why, "the spread of the grids");
    return true;
}

static void print_limit(const kf_grid_limit *limit) {
    if (!limit->known) return;
    if (limit->extrapolated)
        printf("grids: drag goes to %.4f (Richardson, order %.2g); the finest grid's is off by about %.2g\n",
               limit->limit, limit->order, limit->error);
    else
        printf(
            "grids: no order between 1 and 3 shows; the finest grid's drag is off by %.2g or more, as far as "
            "the grids differ\n",
            limit->error);
}

/* ---- Seeds ---- */

/* Computes the scatter of the drag over the samples' places; NAN: there are fewer than two runs. It is also
 * NAN if all drags are equal to the last bit, because the seed then has no effect on the flow. */
static kf_figure scatter_of(const kf_sweep_result *r, bool *without_chance) {
    double sum = 0.0, squares = 0.0, least = HUGE_VAL, most = -HUGE_VAL;
    int count = 0;
    *without_chance = false;
    for (int i = 0; i < r->count && r->seeds; i++) {
        const kf_run_figures *run = &r->points[i].run;
        if (!run->known) continue;
        sum += run->wind[KF_FIGURE_DRAG].mean;
        least = fmin(least, run->wind[KF_FIGURE_DRAG].mean);
        most = fmax(most, run->wind[KF_FIGURE_DRAG].mean);
        count++;
    }
    *without_chance = count >= 2 && least >= most;
    if (count < 2 || *without_chance) return (kf_figure){(double)NAN, (double)NAN};
    for (int i = 0; i < r->count; i++)
        if (r->points[i].run.known)
            squares += pow(r->points[i].run.wind[KF_FIGURE_DRAG].mean - sum / count, 2);
    return (kf_figure){sum / count, sqrt(squares / (count - 1))};
}

static void print_scatter(const kf_figure *scatter, bool without_chance) {
    if (without_chance)
        printf(
            "seeds: every run has the same drag to the last bit, because this solver's flow has no samples "
            "whose places a seed draws; what differs between two shapes is to be judged by --grids\n");
    if (!isfinite(scatter->half)) return;
    printf("seeds: drag %.4f, standard deviation %.2g (%.10g %%): two shapes differ by more than chance from "
           "about %.10g %% on\n",
           scatter->mean, scatter->half, kf_percent(scatter->half / fabs(scatter->mean)),
           kf_percent(3.0 * scatter->half / fabs(scatter->mean)));
}

/* Returns half of the interval in an open stream; NAN unless all its parts are known. */
static double whole_half(const kf_run_figures *run) {
    return run->judged && kf_drag_interval_complete(&run->open_stream)
               ? kf_drag_interval_total(&run->open_stream)
               : (double)NAN;
}

/* Returns the drag in an open stream. It is NAN if no rule corrects for the tunnel's walls, because the
 * column must not contain drags in the tunnel. */
static double open_drag(const kf_run_figures *run) {
    const bool known = run->judged && isfinite(run->open_stream.half[KF_PART_TUNNEL]);
    return known ? run->open_stream.corrected : (double)NAN;
}

/* ---- Table, CSV, JSON ---- */

/* Prints the coefficients of each run as a table, and whether they settled. */
static void print_table(const kf_sweep_result *r) {
    int width = (int)strlen(r->axis);
    for (int i = 0; i < r->count; i++)
        width = (int)strlen(r->points[i].value) > width ? (int)strlen(r->points[i].value) : width;
    printf("%-*s  %-18s  %-18s  %-18s  %-18s\n", width, r->axis, "drag in the tunnel", "lift", "side",
           "drag in the open");
    for (int i = 0; i < r->count; i++) {
        const kf_run_figures *run = &r->points[i].run;
        char text[48];
        printf("%-*s", width, r->points[i].value);
        for (int k = 0; k < KF_FIGURES; k++)
            printf("  %-18s", kf_figure_text(&run->wind[k], text));
        const kf_figure open = {open_drag(run), whole_half(run)};
        printf("  %-18s", kf_figure_text(&open, text));
        printf("  %s, %.3g flow-throughs\n",
               strcmp(run->state, "finished") != 0 ? run->state
               : !run->known                       ? "no coefficients"
               : run->settled                      ? "settled"
                                                   : "NOT settled",
               run->flow_throughs);
    }
}

static void print_neighbours(const kf_sweep_result *r) {
    int begun = 0;
    for (int i = 0; i < r->count; i++)
        begun += r->points[i].run.begun_in[0] != '\0';
    if (begun > 0)
        printf("%d of %d runs began in the settled flow of a neighbour (--start scene: none does)\n", begun,
               r->count);
}

static void append_number(kf_text *csv, double value) {
    kf_text_append(csv, ",%.9g", value);
}

/* Writes the coefficients of all runs with their reference values as CSV. */
static kf_status write_csv(const kf_sweep_result *r, const char *path, kf_error *error) {
    kf_text csv = {0};
    kf_text_append(&csv, "value,drag,drag_half_of_interval_95,lift,lift_half_of_interval_95,side,"
                         "side_half_of_interval_95,body_drag,body_side,settled,flow_throughs,"
                         "reference_area_m2,speed_m_s,reynolds,cells_a_length,seconds,open_stream_drag,"
                         "open_stream_half,half_statistics,half_grid,half_tunnel,folder\n");
    for (int i = 0; i < r->count; i++) {
        const kf_run_figures *run = &r->points[i].run;
        kf_text_append(&csv, "%s", r->points[i].value);
        for (int k = 0; k < KF_FIGURES; k++) {
            append_number(&csv, run->wind[k].mean);
            append_number(&csv, run->wind[k].half);
        }
        append_number(&csv, run->body[KF_FIGURE_DRAG].mean);
        append_number(&csv, run->body[KF_FIGURE_SIDE].mean);
        kf_text_append(&csv, ",%d", run->settled);
        const double rest[] = {run->flow_throughs, run->area,  run->speed,
                               run->reynolds,      run->cells, run->seconds};
        for (size_t k = 0; k < sizeof rest / sizeof *rest; k++)
            append_number(&csv, rest[k]);
        const kf_drag_interval *open = &run->open_stream;
        append_number(&csv, open_drag(run));
        append_number(&csv, whole_half(run));
        for (int p = 0; p < KF_DRAG_PARTS; p++)
            append_number(&csv, run->judged ? open->half[p] : (double)NAN);
        kf_text_append(&csv, ",%s\n", run->folder);
    }
    const kf_status status = kf_file_write_atomic(path, csv.text, csv.length, error);
    kf_text_free(&csv);
    return status;
}

/* Makes the JSON of a sweep, with the scatter over seeds and the limit of grids if they are known. The caller
 * owns it. */
static cJSON *to_json(const kf_sweep_result *r, const kf_grid_limit *limit, const kf_figure *scatter) {
    cJSON *json = kf_json_answer("run sweep"), *list = NULL;
    cJSON_AddStringToObject(json, "sweep", r->axis);
    list = cJSON_AddArrayToObject(json, "runs");
    for (int i = 0; i < r->count; i++) {
        const kf_run_figures *run = &r->points[i].run;
        cJSON *point = cJSON_CreateObject();
        cJSON_AddItemToArray(list, point);
        cJSON_AddStringToObject(point, "value", r->points[i].value);
        cJSON_AddStringToObject(point, "folder", run->folder);
        cJSON_AddStringToObject(point, "state", run->state);
        cJSON_AddBoolToObject(point, "settled", run->settled);
        cJSON_AddStringToObject(point, "begun_in", run->begun_in);
        for (int k = 0; k < KF_FIGURES; k++)
            cJSON_AddItemToObject(point, kf_figure_names[k], kf_figure_json(&run->wind[k]));
        kf_json_add_number(point, "cells_a_length", run->cells);
        cJSON_AddItemToObject(point, "open_stream_drag",
                              run->judged ? kf_drag_interval_json(&run->open_stream) : cJSON_CreateNull());
    }
    if (isfinite(scatter->half)) cJSON_AddNumberToObject(json, "drag_standard_deviation", scatter->half);
    if (!limit->known) return json;
    cJSON *grids = cJSON_AddObjectToObject(json, "grids");
    cJSON_AddBoolToObject(grids, "extrapolated", limit->extrapolated);
    kf_json_add_number(grids, "order", limit->extrapolated ? limit->order : (double)NAN);
    cJSON_AddNumberToObject(grids, "drag", limit->limit);
    cJSON_AddNumberToObject(grids, "error_of_finest", limit->error);
    kf_drag_interval all;
    if (interval_of_grids(r, limit, &all))
        cJSON_AddItemToObject(grids, "open_stream_drag", kf_drag_interval_json(&all));
    return json;
}

/* ---- Chart ---- */

static double place_of(const kf_sweep_result *r, int i) {
    return r->numbers ? strtod(r->points[i].value, NULL) : i + 1;
}

/* Sets the vertical range so that drag and lift with their intervals fill the chart. */
static void set_range(kf_chart *c, const kf_sweep_result *r) {
    c->low[0] = c->low[1] = (double)INFINITY;
    c->high[0] = c->high[1] = (double)-INFINITY;
    for (int i = 0; i < r->count; i++)
        for (int k = KF_FIGURE_DRAG; k <= KF_FIGURE_LIFT; k++) {
            const kf_figure *f = &r->points[i].run.wind[k];
            const double half = isfinite(f->half) ? f->half : 0.0;
            if (!isfinite(f->mean)) continue;
            c->low[0] = fmin(c->low[0], place_of(r, i));
            c->high[0] = fmax(c->high[0], place_of(r, i));
            c->low[1] = fmin(c->low[1], f->mean - half);
            c->high[1] = fmax(c->high[1], f->mean + half);
        }
    for (int a = 0; a < 2; a++) {
        const double room = fmax(0.08 * (c->high[a] - c->low[a]), 1e-6);
        c->low[a] -= room;
        c->high[a] += room;
    }
}

/* Draws drag and lift with their intervals over the swept values. Values that are not numbers stand side by
 * side without a line. */
static kf_status write_chart(const kf_sweep_result *r, const char *path, kf_error *error) {
    static const char *const names[] = {"drag", "lift"};
    kf_chart c;
    set_range(&c, r);
    if (!(c.low[0] < c.high[0])) return KF_OK;
    kf_chart_begin(&c, r->title, r->axis, "coefficient");
    int x = KF_CHART_LEFT;
    for (int k = KF_FIGURE_DRAG; k <= KF_FIGURE_LIFT; k++) {
        int last = -1;
        x = kf_chart_remark(&c, x, kf_chart_lines[k], names[k]) + 24;
        for (int i = 0; i < r->count; i++) {
            const kf_figure *f = &r->points[i].run.wind[k];
            if (!isfinite(f->mean)) continue;
            if (last >= 0 && r->numbers)
                kf_chart_line(&c, place_of(r, last), r->points[last].run.wind[k].mean, place_of(r, i),
                              f->mean, kf_chart_lines[k]);
            kf_chart_point(&c, place_of(r, i), f->mean, f->half, kf_chart_lines[k]);
            last = i;
        }
    }
    (void)kf_chart_remark(&c, x, kf_chart_black, "(bars: 95 % intervals of the means)");
    return kf_chart_end(&c, path, error);
}

kf_status kf_sweep_result_check(const char *folder, const char *axis, int count, const char *const *values,
                                kf_error *error) {
    char path[KF_PATH];
    cJSON *former = NULL;
    const cJSON *run;
    KF_TRY(kf_path(path, error, "%s/sweep.json", folder));
    kf_status status = kf_json_read_file(path, &former, error);
    if (status == KF_HOST) return status;
    if (status != KF_OK) return KF_OK; /* there is none, or it is no table */
    const char *over = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(former, "sweep"));
    if (over != NULL && strcmp(over, axis) != 0)
        status = kf_fail(error, KF_BAD_INPUT,
                         "%s: holds the table of a sweep over the %.40s; give a new folder with --output, or "
                         "--force",
                         folder, over);
    cJSON_ArrayForEach(run, cJSON_GetObjectItemCaseSensitive(former, "runs")) {
        const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(run, "value"));
        bool known = value == NULL;
        for (int i = 0; i < count && !known; i++)
            known = strcmp(value, values[i]) == 0;
        if (status == KF_OK && !known)
            status = kf_fail(
                error, KF_BAD_INPUT,
                "%s: holds a table with the %.40s %.60s, which is not among these values; give all of "
                "them with --resume, or a new folder with --output, or --force",
                folder, axis, value);
    }
    cJSON_Delete(former);
    return status;
}

/* Writes table, JSON and chart of a sweep into its folder, and prints the table or the JSON. */
kf_status kf_sweep_result_write(const kf_sweep_result *r, const char *folder, bool json, kf_error *error) {
    const kf_grid_limit limit = limit_of(r);
    bool without_chance;
    const kf_figure scatter = scatter_of(r, &without_chance);
    char path[KF_PATH];
    KF_TRY(kf_path(path, error, "%s/sweep.csv", folder));
    KF_TRY(write_csv(r, path, error));
    cJSON *answer = to_json(r, &limit, &scatter);
    kf_status status = kf_path(path, error, "%s/sweep.json", folder);
    if (status == KF_OK) status = kf_json_write_file(path, answer, error);
    if (status == KF_OK && json)
        kf_json_print(answer);
    else
        cJSON_Delete(answer);
    if (status == KF_OK) status = kf_path(path, error, "%s/sweep.png", folder);
    if (status == KF_OK && r->count > 1) status = write_chart(r, path, error);
    if (status != KF_OK || json) return status;
    print_table(r);
    print_limit(&limit);
    print_scatter(&scatter, without_chance);
    print_neighbours(r);
    printf("  table      %s/sweep.csv\n", folder);
    if (r->count > 1) printf("  chart      %s/sweep.png\n", folder);
    kf_drag_interval all;
    char text[256];
    if (interval_of_grids(r, &limit, &all))
        printf("drag coefficient in an open stream, 95 %%, by %s: %s\n", all.why[KF_PART_GRID],
               kf_drag_interval_text(&all, text));
    return KF_OK;
}
