#include "harness/bench/step_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/text.h"
#include "scene/scene.h"

/* --- common ----------------------------------------------------------------------------------------------
 */

/* The timing, or NULL with the reason as the figure's note. */
static const kf_measurement *measurement(const kf_step_results *results, kf_step_time time,
                                         kf_figure *figure) {
    const kf_step_timing *timing = &results->timings[time];
    figure->failed = figure->failed || timing->wrong;
    if (timing->best >= 0) return &timing->measurement;
    if (figure->verdict->note[0] == '\0')
        (void)snprintf(figure->verdict->note, sizeof figure->verdict->note, "not available: %s%s%.250s",
                       kf_step_plans[time].name, timing->reason[0] != '\0' ? ": " : "", timing->reason);
    return NULL;
}

static void set_value(kf_figure *figure, double value, double low, double high) {
    figure->value = value;
    figure->verdict->low = low;
    figure->verdict->high = high;
}

/* The figure shows this timing's config, and says when the clock was not steady. */
static void show(const kf_step_results *results, kf_step_time time, kf_figure *figure) {
    const kf_step_timing *timing = &results->timings[time];
    const kf_step_try *try = &timing->tries[timing->best];
    kf_text text = {0};
    kf_text_append(&text, "%s", try->candidate->name);
    if (timing->try_count > 1) kf_text_append(&text, " (of %d tried)", timing->try_count);
    figure->verdict->config = text.text;
    figure->verdict->details = kf_step_details(timing);
    if (timing->measurement.clock_state == KF_CLOCK_UNSTEADY && figure->verdict->note[0] == '\0')
        kf_copy_text(figure->verdict->note, sizeof figure->verdict->note, "the clock was not steady");
}

/* Sum over a step of the kernels that the plan without a body does not have; nodes: with those that work on
 * the band's nodes. */
typedef struct kernel_sum {
    double us, low, high;
} kernel_sum;

static bool has_kernel(const kf_measurement *m, const char *name) {
    for (int i = 0; i < m->kernel_count; i++)
        if (strcmp(m->kernels[i].name, name) == 0) return true;
    return false;
}

static bool works_on_nodes(const char *name) {
    return strcmp(name, "band_macroscopic") == 0 || strcmp(name, "band_collide") == 0;
}

static kernel_sum immersed_boundary(const kf_measurement *solid, const kf_measurement *empty, bool nodes) {
    kernel_sum sum = {0};
    for (int i = 0; i < solid->kernel_count; i++) {
        const kf_kernel_time *kernel = &solid->kernels[i];
        if (has_kernel(empty, kernel->name) || (!nodes && works_on_nodes(kernel->name))) continue;
        sum.us += kernel->launches_per_step * kernel->time_us.median;
        sum.low += kernel->launches_per_step * kernel->time_us.low;
        sum.high += kernel->launches_per_step * kernel->time_us.high;
    }
    return sum;
}

/* --- kinds of figures ------------------------------------------------------------------------------------
 */

/* Node updates a second, against what the copy rate allows at the plan's least bytes. */
static void rate(const kf_step_results *results, const kf_step_figure *row, kf_figure *figure) {
    const kf_measurement *m = measurement(results, row->time, figure);
    if (m == NULL) return;
    const double updates = m->updates_per_us * m->step_us.median; /* nodes */
    const double node_bytes = m->effective_bandwidth / (m->updates_per_us * 1e6);
    set_value(figure, m->updates_per_us * 1e-3, updates / m->step_us.high * 1e-3,
              updates / m->step_us.low * 1e-3);
    figure->spread = (m->step_us.q3 - m->step_us.q1) / m->step_us.median;
    figure->floor = results->copy_rate / node_bytes * 1e-9;
    figure->share = figure->value / figure->floor;
    show(results, row->time, figure);
}

/* Time of a step over that of another. */
static void ratio(const kf_step_results *results, const kf_step_figure *row, kf_figure *figure) {
    const kf_measurement *m = measurement(results, row->time, figure);
    const kf_measurement *other = measurement(results, row->against, figure);
    if (m == NULL || other == NULL) return;
    set_value(figure, m->step_us.median / other->step_us.median, m->step_us.low / other->step_us.high,
              m->step_us.high / other->step_us.low);
    show(results, row->time, figure);
}

/* Node rate over another's. */
static void rate_ratio(const kf_step_results *results, const kf_step_figure *row, kf_figure *figure) {
    const kf_measurement *m = measurement(results, row->time, figure);
    const kf_measurement *other = measurement(results, row->against, figure);
    if (m == NULL || other == NULL) return;
    const double value = m->updates_per_us / other->updates_per_us,
                 times = m->step_us.median / other->step_us.median;
    set_value(figure, value, value * times * other->step_us.low / m->step_us.high,
              value * times * other->step_us.high / m->step_us.low);
    show(results, row->time, figure);
}

static void immersed_share(const kf_step_results *results, const kf_step_figure *row, kf_figure *figure) {
    const kf_measurement *m = measurement(results, row->time, figure);
    const kf_measurement *empty = measurement(results, row->against, figure);
    if (m == NULL || empty == NULL) return;
    const kernel_sum sum = immersed_boundary(m, empty, true);
    set_value(figure, 100 * sum.us / m->step_us.median, 100 * sum.low / m->step_us.high,
              100 * sum.high / m->step_us.low);
    show(results, row->time, figure);
}

static void immersed_difference(const kf_step_results *results, const kf_step_figure *row,
                                kf_figure *figure) {
    const kf_measurement *m = measurement(results, row->time, figure);
    const kf_measurement *empty = measurement(results, row->against, figure);
    if (m == NULL || empty == NULL) return;
    set_value(figure, 100 * (1 - empty->step_us.median / m->step_us.median),
              100 * (1 - empty->step_us.high / m->step_us.low),
              100 * (1 - empty->step_us.low / m->step_us.high));
    show(results, row->time, figure);
}

static void immersed_throughput(const kf_step_results *results, const kf_step_figure *row,
                                kf_figure *figure) {
    const kf_measurement *m = measurement(results, row->time, figure);
    const kf_measurement *empty = measurement(results, row->against, figure);
    if (m == NULL || empty == NULL) return;
    const kf_scene *scene = results->scenes->list[kf_step_plans[row->time].scene].scene;
    const kernel_sum sum = immersed_boundary(m, empty, false);
    const double samples = (double)scene->samples.count * 1e-3;
    set_value(figure, samples / sum.us, samples / sum.high, samples / sum.low);
    show(results, row->time, figure);
    const double density = kf_step_samples_per_cell(scene);
    (void)cJSON_AddNumberToObject(figure->verdict->details, "samples", (double)scene->samples.count);
    (void)cJSON_AddNumberToObject(figure->verdict->details, "samples_per_cell", density);
    (void)snprintf(figure->verdict->note, sizeof figure->verdict->note, "%zu samples, %.1f a cell",
                   scene->samples.count, density);
}

static void roof(const kf_step_results *results, const kf_step_figure *row, kf_figure *figure) {
    const kf_roof *found = kf_roofs_find(results->roofs, row->roof);
    kf_copy_text(figure->verdict->note, sizeof figure->verdict->note, kf_roof_about(row->roof));
    if (found == NULL) return;
    figure->value = found->value;
    figure->spread = found->spread;
    figure->floor = found->theoretical;
    figure->share = found->value / found->theoretical;
    kf_copy_text(figure->unit, sizeof figure->unit, found->unit);
}

/* --- the table -------------------------------------------------------------------------------------------
 */

#define AT_LEAST(must, aim)       must, aim, false, false
#define AT_MOST(must, aim)        must, aim, false, true
#define SHARE_AT_LEAST(must, aim) must, aim, true, false
#define NOTHING_ASKED             NAN, NAN, false, false
#define ROOF(name, which)                                                                                    \
    { name, roof, KF_TIMES, KF_TIMES, "", NOTHING_ASKED, which, "" }

const kf_step_figure kf_step_figures[] = {
    ROOF("memcpy", "dram_copy"),
    ROOF("copy_kernel", "dram_copy_kernel"),
    ROOF("copy_27_streams", "dram_streams_27"),
    ROOF("empty_graph", "graph_launch"),
    ROOF("empty_graph_node", "graph_node"),
    ROOF("atomic_scatter", "atomic_scattered"),
    {"step_f32_acm", rate, KF_TIME_F32, KF_TIMES, "GLUPS", SHARE_AT_LEAST(0.92, 0.97), NULL, ""},
    {"acm_over_bgk", ratio, KF_TIME_F32, KF_TIME_BGK, "x", AT_MOST(1.02, 1.0), NULL, ""},
    {"step_f16_acm", rate, KF_TIME_F16, KF_TIMES, "GLUPS", SHARE_AT_LEAST(0.78, 0.90), NULL, ""},
    {"step_inplace_f32", rate, KF_TIME_IN_PLACE, KF_TIMES, "GLUPS", SHARE_AT_LEAST(0.88, 0.94), NULL, ""},
    {"ib_share_static", immersed_share, KF_TIME_F32, KF_TIME_EMPTY, "%", AT_MOST(2, 1), NULL, ""},
    {"ib_share_rotating", immersed_share, KF_TIME_ROTATING, KF_TIME_EMPTY, "%", AT_MOST(5, 2), NULL, ""},
    {"ib_throughput", immersed_throughput, KF_TIME_DENSE, KF_TIME_EMPTY, "Gsamples/s", AT_LEAST(50, 100),
     NULL, ""},
    {"step_moments_f32", rate, KF_TIME_MOMENTS, KF_TIMES, "GLUPS", AT_LEAST(30, 38), NULL, ""},
    {"over_paper", ratio, KF_TIME_PAPER, KF_TIME_F32, "x", AT_LEAST(4, 6), NULL, ""},
    {"over_baseline", ratio, KF_TIME_BASELINE, KF_TIME_F32, "x", AT_LEAST(15, 40), NULL, ""},
    {"graph_over_launches", ratio, KF_TIME_SMALL_LAUNCHES, KF_TIME_SMALL, "x", AT_LEAST(2, NAN), NULL,
     "96^3 nodes"},
    {"rotating_over_static", ratio, KF_TIME_ROTATING, KF_TIME_F32, "x", AT_MOST(1.05, 1.02), NULL, ""},
    {"step_f32_bgk", rate, KF_TIME_BGK, KF_TIMES, "GLUPS", NOTHING_ASKED, NULL, ""},
    {"step_f32_empty", rate, KF_TIME_EMPTY, KF_TIMES, "GLUPS", NOTHING_ASKED, NULL, "without the body"},
    {"step_f32_rotating", rate, KF_TIME_ROTATING, KF_TIMES, "GLUPS", NOTHING_ASKED, NULL, ""},
    {"ib_difference_static", immersed_difference, KF_TIME_F32, KF_TIME_EMPTY, "%", NOTHING_ASKED, NULL,
     "against the step without the body"},
    {"ib_difference_rotating", immersed_difference, KF_TIME_ROTATING, KF_TIME_EMPTY, "%", NOTHING_ASKED, NULL,
     "against the step without the body"},
    {"odd_over_aligned", rate_ratio, KF_TIME_ODD, KF_TIME_F32, "x", AT_LEAST(0.95, 1), NULL,
     "node rate where no size is a multiple of 32"},
    {"step_f32_wide", rate, KF_TIME_WIDE, KF_TIMES, "GLUPS", NOTHING_ASKED, NULL, ""},
    {"step_inplace_1000", rate, KF_TIME_CAPACITY, KF_TIMES, "GLUPS", NOTHING_ASKED, NULL, ""},
    {"step_f32_cached", rate, KF_TIME_CACHED, KF_TIMES, "GLUPS", NOTHING_ASKED, NULL,
     "the grids fit into the last-level cache"},
    {"graph_over_launches_32", ratio, KF_TIME_TINY_LAUNCHES, KF_TIME_TINY, "x", NOTHING_ASKED, NULL,
     "32^3 nodes"},
    {"step_paper", rate, KF_TIME_PAPER, KF_TIMES, "GLUPS", NOTHING_ASKED, NULL, ""},
    {"step_baseline", rate, KF_TIME_BASELINE, KF_TIMES, "GLUPS", NOTHING_ASKED, NULL, ""},
    {.name = NULL},
};
enum { FIGURES = sizeof kf_step_figures / sizeof *kf_step_figures - 1 };

/* --- choosing and adding ---------------------------------------------------------------------------------
 */

static kf_status check_name(const char *name, kf_error *error) {
    const char *names[FIGURES];
    for (int i = 0; i < FIGURES; i++) {
        names[i] = kf_step_figures[i].name;
        if (strcmp(names[i], name) == 0) return KF_OK;
    }
    const char *nearest = kf_nearest(name, names, FIGURES);
    return kf_fail(error, KF_BAD_INPUT, "--figure %s: the suite step has no such figure; did you mean %s?",
                   name, nearest != NULL ? nearest : names[0]);
}

static bool is_chosen(const kf_bench_options *options, const kf_step_figure *row) {
    if (options->figure_count == 0) return true;
    for (int i = 0; i < options->figure_count; i++)
        if (strcmp(options->figures[i], row->name) == 0) return true;
    return false;
}

kf_status kf_step_select(const kf_bench_options *options, uint64_t *timings, unsigned *scenes,
                         kf_error *error) {
    *timings = 0;
    *scenes = 0;
    for (int i = 0; i < options->figure_count; i++)
        KF_TRY(check_name(options->figures[i], error));
    for (const kf_step_figure *row = kf_step_figures; row->name != NULL; row++)
        if (is_chosen(options, row)) *timings |= UINT64_C(1) << row->time | UINT64_C(1) << row->against;
    *timings = kf_step_needs(*timings);
    for (int time = 0; time < KF_TIMES; time++)
        if ((*timings >> time & 1U) != 0) *scenes |= 1U << kf_step_plans[time].scene;
    return KF_OK;
}

static void add_figure(const kf_step_results *results, const kf_step_figure *row, kf_figures *figures) {
    kf_figure figure = {.value = NAN, .spread = NAN, .floor = NAN, .share = NAN};
    kf_judgement *verdict = figure.verdict = kf_allocate_zeroed(1, sizeof *verdict);
    kf_copy_text(figure.name, sizeof figure.name, row->name);
    kf_copy_text(figure.unit, sizeof figure.unit, row->unit);
    verdict->low = verdict->high = NAN;
    verdict->must = row->must;
    verdict->aim = row->aim;
    verdict->of_share = row->of_share;
    verdict->at_most = row->at_most;
    row->make(results, row, &figure);
    if (verdict->note[0] == '\0') kf_copy_text(verdict->note, sizeof verdict->note, row->note);
    kf_figures_add(figures, &figure);
}

void kf_step_add_figures(const kf_bench_options *options, const kf_step_results *results,
                         kf_figures *figures) {
    figures->about = kf_step_about(results);
    for (const kf_step_figure *row = kf_step_figures; row->name != NULL; row++)
        if (is_chosen(options, row)) add_figure(results, row, figures);
}
