/* Block 0: the range: least and greatest intensity, least and greatest performance, whether baseline and
 * paper are there. Block 1: a line a roof: start, way to its end, 1 when it was measured (0: theoretical).
 * Block 2: a line a label of a roof: place, 1 when it rises with its roof, text. Block 3: kernels of the
 * presets at device memory: intensity, performance, size, preset (1 baseline, 2 paper), name, place of the
 * name's left middle, end of the line that leads to it. Block 4: whole steps, baseline, paper, best:
 * intensity, performance, name, and its place likewise. Block 5: arrows: start, way to the end. Then a block
 * a kernel of the best: its label, and a line a level (0 L1, 1 L2, 2 device memory): intensity, performance,
 * level, size.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "plots/gnuplot.h"
#include "plots/label_places.h"
#include "plots/tables.h"

enum { PRESETS = 2, MOST_KERNELS = 6, LINES = 2 * (KF_PLOT_LEVELS + 2) };

/* A measured and a theoretical roof. level: that of the memory; -1: arithmetic. */
typedef struct roof_line {
    const char *name;
    double value; /* GB/s or GFLOP/s */
    bool measured;
    int level;
} roof_line;

typedef struct roofline {
    roof_line lines[LINES];
    int count;
    const kf_plot_kernel *kernels[MOST_KERNELS];
    int kernel_count;
    double total_us;                               /* time of all kernels of the step */
    const kf_plot_result *presets[PRESETS], *best; /* with counters; NULL: it has none, or it is the best */
} roofline;

/* --- Roofs ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *roofs[4], *name; /* the best of the first ones that exist counts; name as it is shown */
    int level;
} sources[] = {
    {{"l1_load", "l1_copy", NULL}, "L1", 0},
    {{"l2_copy", NULL}, "L2", 1},
    {{"dram_copy", "dram_copy_kernel", "dram_copy_nt", "dram_streams_27"}, "device memory", 2},
    {{"fp32_multiply_add", NULL}, "FP32 multiply-add", -1},
    {{"fp64_multiply_add", NULL}, "FP64 multiply-add", -1},
};

static void add_line(roofline *r, const char *name, double value, bool measured, int level) {
    if (isfinite(value) && value > 0 && r->count < LINES)
        r->lines[r->count++] = (roof_line){name, value, measured, level};
}

/* Returns whether the shown kernels compute in double, or in single, precision. */
static bool uses_precision(const roofline *r, bool twice) {
    for (int i = 0; i < r->kernel_count; i++) {
        const kf_plot_kernel *k = r->kernels[i];
        if (isnan(k->double_operations)) return true; /* not counted, so both precisions are shown */
        if (twice ? k->double_operations > 0.01 * k->operations
                  : k->operations - k->double_operations > 0.01 * k->operations)
            return true;
    }
    return false;
}

static void add_roofs(roofline *r, const kf_plot_roofs *roofs) {
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (sources[i].level < 0 && !uses_precision(r, strncmp(sources[i].name, "FP64", 4) == 0)) continue;
        double measured = 0, theoretical = 0;
        for (int k = 0; k < 4 && sources[i].roofs[k]; k++) {
            const kf_roof *roof = kf_roofs_find(&roofs->measured, sources[i].roofs[k]);
            if (!roof) continue;
            measured = fmax(measured, roof->value);
            if (isfinite(roof->theoretical)) theoretical = fmax(theoretical, roof->theoretical);
        }
        if (sources[i].level == 2 && theoretical <= 0) theoretical = 1e-9 * roofs->peak_bandwidth;
        add_line(r, sources[i].name, measured, true, sources[i].level);
        add_line(r, sources[i].name, theoretical, false, sources[i].level);
    }
}

/* Returns the highest roof of arithmetic that kernels may reach: that of single precision, measured if
 * possible. */
static double arithmetic_roof(const roofline *r, bool measured) {
    double best = 0;
    for (int i = 0; i < r->count; i++)
        if (r->lines[i].level < 0 && r->lines[i].measured == measured) best = fmax(best, r->lines[i].value);
    return best;
}

/* Returns the GB/s of a level: measured, otherwise theoretical; 0: not known. */
static double memory_roof(const roofline *r, int level) {
    double theoretical = 0;
    for (int i = 0; i < r->count; i++) {
        if (r->lines[i].level != level) continue;
        if (r->lines[i].measured) return r->lines[i].value;
        theoretical = r->lines[i].value;
    }
    return theoretical;
}

/* --- Kernels -------------------------------------------------------------------------------------------- */

static bool has_point(const kf_plot_kernel *kernel) {
    return kernel->operations > 0 && kernel->launch_us > 0 && kernel->bytes[2] > 0;
}

static void choose_kernels(roofline *r, const kf_plot_result *result) {
    const kf_plot_kernel **all = kf_allocate((size_t)(result->kernel_count + 1) * sizeof *all);
    int count = 0;
    for (int i = 0; i < result->kernel_count; i++) {
        r->total_us += result->kernels[i].time_us;
        if (has_point(&result->kernels[i])) all[count++] = &result->kernels[i];
    }
    qsort(all, (size_t)count, sizeof *all, kf_plot_slower_first);
    for (int i = 0; i < count && i < MOST_KERNELS; i++)
        if (all[i]->time_us >= 0.01 * r->total_us) r->kernels[r->kernel_count++] = all[i];
    free(all);
}

static double performance(const kf_plot_kernel *kernel) {
    return kernel->operations / kernel->launch_us * 1e-3; /* GFLOP/s */
}

/* Appends "1 stream_collide (73 % of the step): 91 % of device memory", with the nearest roof. */
static void append_label(const roofline *r, int number, const kf_plot_kernel *kernel, kf_text *data) {
    double nearest = 0;
    const char *limit = "";
    for (int level = 0; level < KF_PLOT_LEVELS; level++) {
        const double roof = memory_roof(r, level), used = kernel->bytes[level] / kernel->launch_us * 1e-3;
        if (roof > 0 && kernel->bytes[level] > 0 && used / roof > nearest) {
            nearest = used / roof;
            limit = sources[level].name;
        }
    }
    const double peak = fmax(arithmetic_roof(r, true), arithmetic_roof(r, false));
    if (peak > 0 && performance(kernel) / peak > nearest) {
        nearest = performance(kernel) / peak;
        limit = "arithmetic";
    }
    kf_text_append(data, "%d ", number);
    kf_gnuplot_field(data, kernel->name);
    kf_text_append(data, ", %.0f %% of the step", 100 * kernel->time_us / r->total_us);
    if (nearest > 0) kf_text_append(data, ": %.0f %% of %s", 100 * nearest, limit);
    kf_text_append(data, "\n");
}

/* --- Names ---------------------------------------------------------------------------------------------- */

typedef struct extent {
    double low_x, high_x, low_y, high_y;
} extent;

/* The size of the axes' area in points, as in roofline.gp. */
enum { AREA_WIDTH = 783, AREA_HEIGHT = 424 };

static double across(const extent *e, double x) {
    return AREA_WIDTH * log(x / e->low_x) / log(e->high_x / e->low_x);
}

static double upwards(const extent *e, double y) {
    return AREA_HEIGHT * log(y / e->low_y) / log(e->high_y / e->low_y);
}

static double intensity_at(const extent *e, double points) {
    return e->low_x * pow(e->high_x / e->low_x, points / AREA_WIDTH);
}

static double performance_at(const extent *e, double points) {
    return e->low_y * pow(e->high_y / e->low_y, points / AREA_HEIGHT);
}

/* Appends the place of a point's name: its left middle on the axes, and the end of a line that leads to it.
 * Without a line this is the point itself. */
static void append_place(kf_label_places *places, const extent *e, double x, double y, const char *name,
                         double font, kf_text *data) {
    kf_label_box box;
    const double width = 0.62 * font * (double)strlen(name);
    const bool led = kf_label_find(places, across(e, x), upwards(e, y), width, 1.25 * font, &box);
    const double middle = box.bottom + box.height / 2;
    const double end = fmin(fmax(across(e, x), box.left), box.left + width);
    kf_text_append(data, "\t%.6g\t%.6g\t%.6g\t%.6g\n", intensity_at(e, box.left), performance_at(e, middle),
                   led ? intensity_at(e, end) : x, led ? performance_at(e, middle) : y);
}

static void take_symbol(kf_label_places *places, const extent *e, double x, double y) {
    const double side = 12;
    if (x > 0 && y > 0)
        kf_label_take(places, (kf_label_box){across(e, x) - side / 2, upwards(e, y) - side / 2, side, side});
}

static void take_line(kf_label_places *places, const extent *e, double x, double y, double to_x,
                      double to_y) {
    if (x > 0 && y > 0 && to_x > 0 && to_y > 0)
        kf_label_take_line(places, across(e, x), upwards(e, y), across(e, to_x), upwards(e, to_y));
}

/* --- Before and after ---------------------------------------------------------------------------------- */

/* Operations, bytes of device memory and microseconds of a step. */
typedef struct whole_step {
    double operations, bytes, us;
} whole_step;

static whole_step step_of(const kf_plot_result *result) {
    whole_step sum = {0, 0, 0};
    for (int i = 0; i < result->kernel_count; i++) {
        const kf_plot_kernel *kernel = &result->kernels[i];
        const double launches = kernel->launch_us > 0 ? kernel->time_us / kernel->launch_us : 0;
        sum.us += kernel->time_us;
        if (isfinite(kernel->operations)) sum.operations += launches * kernel->operations;
        if (isfinite(kernel->bytes[2])) sum.bytes += launches * kernel->bytes[2];
    }
    return sum;
}

static double intensity(const kf_plot_kernel *kernel) {
    return kernel->operations / kernel->bytes[2];
}

/* Returns the size of a symbol, whose area is the share of the step. */
static double size_of(const kf_plot_kernel *kernel, double total_us) {
    return 0.6 + 2.4 * sqrt(kernel->time_us / total_us);
}

/* Returns whether a kernel takes at least a tenth of its step. Other kernels of a preset are not shown. */
static bool is_long(const kf_plot_kernel *kernel, double total_us) {
    return has_point(kernel) && kernel->time_us >= 0.1 * total_us;
}

/* Begins a block whose first line draws nothing, because gnuplot does not count empty blocks. */
static void begin_block(kf_text *data) {
    kf_text_append(data, "\n\nNaN\tNaN\tNaN\tNaN\t-\tNaN\tNaN\tNaN\tNaN\n");
}

static void append_preset_kernels(const roofline *r, const extent *e, kf_label_places *places,
                                  kf_text *data) {
    begin_block(data);
    for (int p = 0; p < PRESETS; p++) {
        if (r->presets[p] == NULL) continue;
        const double total = step_of(r->presets[p]).us;
        for (int i = 0; i < r->presets[p]->kernel_count; i++) {
            const kf_plot_kernel *kernel = &r->presets[p]->kernels[i];
            if (!is_long(kernel, total)) continue;
            kf_text_append(data, "%.6g\t%.6g\t%.3g\t%d\t", intensity(kernel), performance(kernel),
                           size_of(kernel, total), p + 1);
            kf_gnuplot_field(data, kernel->name);
            append_place(places, e, intensity(kernel), performance(kernel), kernel->name, 9, data);
        }
    }
}

static void append_steps(const roofline *r, const extent *e, kf_label_places *places, kf_text *data) {
    static const char *const names[] = {"baseline", "paper", "best"};
    const kf_plot_result *const all[] = {r->presets[0], r->presets[1], r->best};
    const bool compared = r->presets[0] != NULL || r->presets[1] != NULL;
    begin_block(data);
    for (int i = 0; i < PRESETS + 1 && compared; i++) {
        if (all[i] == NULL) continue;
        const whole_step step = step_of(all[i]);
        if (!(step.operations > 0 && step.bytes > 0)) continue;
        const double x = step.operations / step.bytes, y = 1e-3 * step.operations / step.us;
        kf_text_append(data, "%.6g\t%.6g\t%s", x, y, names[i]);
        append_place(places, e, x, y, names[i], 11, data);
    }
}

static void append_arrow(double x, double y, double to_x, double to_y, kf_text *data) {
    if (x > 0 && y > 0 && to_x > 0 && to_y > 0)
        kf_text_append(data, "%.6g\t%.6g\t%.6g\t%.6g\n", x, y, to_x - x, to_y - y);
}

/* Appends arrows from each whole step to the next, and from a preset's kernel to the best's kernel with the
 * same name. */
static void append_arrows(const roofline *r, kf_text *data) {
    const kf_plot_result *const all[] = {r->presets[0], r->presets[1], r->best};
    const kf_plot_result *before = NULL;
    begin_block(data);
    for (int i = 0; i < PRESETS + 1; i++) {
        if (all[i] == NULL) continue;
        if (before != NULL) {
            const whole_step a = step_of(before), b = step_of(all[i]);
            append_arrow(a.operations / a.bytes, 1e-3 * a.operations / a.us, b.operations / b.bytes,
                         1e-3 * b.operations / b.us, data);
        }
        before = all[i];
    }
    for (int p = 0; p < PRESETS; p++)
        for (int i = 0; r->presets[p] != NULL && i < r->presets[p]->kernel_count; i++)
            for (int k = 0; k < r->kernel_count; k++) {
                const kf_plot_kernel *from = &r->presets[p]->kernels[i];
                if (is_long(from, step_of(r->presets[p]).us) && strcmp(from->name, r->kernels[k]->name) == 0)
                    append_arrow(intensity(from), performance(from), intensity(r->kernels[k]),
                                 performance(r->kernels[k]), data);
            }
}

/* --- The table ------------------------------------------------------------------------------------------ */

/* Finds the extent of the axes that contains all kernels and the points where roofs meet. */
static extent find_extent(const roofline *r) {
    extent e = {0.1, 1, 1e30, 0};
    for (int i = 0; i < r->kernel_count; i++) {
        const double y = performance(r->kernels[i]);
        e.low_y = fmin(e.low_y, y);
        e.high_y = fmax(e.high_y, y);
        for (int level = 0; level < KF_PLOT_LEVELS; level++) {
            const double bytes = r->kernels[i]->bytes[level];
            if (!(bytes > 0)) continue;
            e.low_x = fmin(e.low_x, r->kernels[i]->operations / bytes);
            e.high_x = fmax(e.high_x, r->kernels[i]->operations / bytes);
        }
    }
    for (int p = 0; p < PRESETS; p++)
        for (int i = 0; r->presets[p] != NULL && i < r->presets[p]->kernel_count; i++) {
            const kf_plot_kernel *kernel = &r->presets[p]->kernels[i];
            if (!is_long(kernel, step_of(r->presets[p]).us)) continue;
            e.low_y = fmin(e.low_y, performance(kernel));
            e.low_x = fmin(e.low_x, intensity(kernel));
            e.high_x = fmax(e.high_x, intensity(kernel));
        }
    for (int i = 0; i < r->count; i++)
        if (r->lines[i].level < 0)
            e.high_y = fmax(e.high_y, r->lines[i].value);
        else
            e.high_x = fmax(e.high_x, arithmetic_roof(r, r->lines[i].measured) / r->lines[i].value);
    e.low_x /= 2;
    e.high_x *= 16;
    e.low_y /= 4;
    /* Roofs of memory begin at the left, where there is room for their names. */
    if (memory_roof(r, 2) > 0) e.low_y = fmin(e.low_y, 0.5 * e.low_x * memory_roof(r, 2));
    e.high_y *= 2;
    return e;
}

/* The ends of a roof. A memory roof ends at the roof of arithmetic or at the edge. A roof of arithmetic
 * begins where the steepest memory roof meets it. */
typedef struct segment {
    double x[2], y[2];
} segment;

static segment find_segment(const roofline *r, const roof_line *line, const extent *e) {
    if (line->level < 0) {
        double steepest = 0;
        for (int level = 0; level < KF_PLOT_LEVELS; level++)
            steepest = fmax(steepest, memory_roof(r, level));
        const double start = steepest > 0 ? fmax(line->value / steepest, e->low_x) : e->low_x;
        return (segment){{start, e->high_x}, {line->value, line->value}};
    }
    double peak = arithmetic_roof(r, line->measured);
    if (!(peak > 0)) peak = arithmetic_roof(r, !line->measured);
    const double end = peak > 0 ? fmin(peak / line->value, e->high_x) : e->high_x;
    const double start = fmax(e->low_x, e->low_y / line->value);
    return (segment){{start, end}, {start * line->value, end * line->value}};
}

static const char *unit_of(double value, bool memory) {
    if (memory) return value >= 1000 ? "TB/s" : "GB/s";
    return value >= 1000 ? "TFLOP/s" : "GFLOP/s";
}

static void append_theory(double value, kf_text *data) {
    if (value >= 100)
        kf_text_append(data, " (%.0f in theory)", value);
    else
        kf_text_append(data, " (%.3g in theory)", value);
}

/* Marks the place of a roof's label, which rises with its roof. */
static void take_rising_label(kf_label_places *places, const extent *e, double x, double y) {
    const double longest = 220, right = AREA_WIDTH / log(e->high_x / e->low_x),
                 up = AREA_HEIGHT / log(e->high_y / e->low_y), left = across(e, x), low = upwards(e, y);
    kf_label_take_line(places, left, low, left + longest * right / hypot(right, up),
                       low + longest * up / hypot(right, up));
}

/* Appends "device memory 4.2 TB/s (4.8 in theory)", once for the measured and the theoretical roof. */
static void append_roof_label(const roofline *r, int which, const extent *e, kf_label_places *places,
                              kf_text *data) {
    const roof_line *line = &r->lines[which];
    const bool memory = line->level >= 0;
    if (!line->measured && which > 0 && strcmp(r->lines[which - 1].name, line->name) == 0) return;
    const segment place = find_segment(r, line, e);
    const double scale = line->value >= 1000 ? 1e-3 : 1;
    const bool both = which + 1 < r->count && strcmp(r->lines[which + 1].name, line->name) == 0;
    const double upper = fmax(line->value, both ? r->lines[which + 1].value : 0);
    /* The label lies along its roof, above both, or below the lowest, where the next roof would be in the
     * way. */
    const double x = memory ? 1.15 * place.x[0] : e->high_x;
    const double y = !memory ? upper : line->level == 2 ? x * line->value / 1.45 : x * upper * 1.3;
    if (memory) take_rising_label(places, e, x, y);
    kf_text_append(data, "%.6g\t%.6g\t%d\t%s %.3g %s", x, y, memory, line->name, line->value * scale,
                   unit_of(line->value, memory));
    if (!line->measured)
        kf_text_append(data, " in theory");
    else if (both)
        append_theory(r->lines[which + 1].value * scale, data);
    kf_text_append(data, "\n");
}

static void append_roofs(const roofline *r, const extent *e, kf_label_places *places, kf_text *data) {
    kf_text_append(data, "\n\n");
    for (int i = 0; i < r->count; i++) {
        const segment s = find_segment(r, &r->lines[i], e);
        kf_text_append(data, "%.6g\t%.6g\t%.6g\t%.6g\t%d\n", s.x[0], s.y[0], s.x[1] - s.x[0], s.y[1] - s.y[0],
                       r->lines[i].measured);
    }
    kf_text_append(data, "\n\n");
    for (int i = 0; i < r->count; i++)
        append_roof_label(r, i, e, places, data);
}

/* Marks everything that is drawn independently of names: symbols and their lines, arrows, roofs and their
 * labels. */
static void take_drawn(const roofline *r, const extent *e, kf_label_places *places) {
    kf_label_take(places, (kf_label_box){0.76 * AREA_WIDTH, 0, 0.24 * AREA_WIDTH, 0.31 * AREA_HEIGHT});
    kf_label_take(places, (kf_label_box){0.45 * AREA_WIDTH, 0, 0.55 * AREA_WIDTH, 0.1 * AREA_HEIGHT});
    for (int i = 0; i < r->count; i++) {
        const segment s = find_segment(r, &r->lines[i], e);
        take_line(places, e, s.x[0], s.y[0], s.x[1], s.y[1]);
    }
    for (int k = 0; k < r->kernel_count; k++) {
        const double y = performance(r->kernels[k]), x = intensity(r->kernels[k]);
        for (int level = 0; level < KF_PLOT_LEVELS; level++) {
            const double at = r->kernels[k]->operations / r->kernels[k]->bytes[level];
            if (!(r->kernels[k]->bytes[level] > 0)) continue;
            take_symbol(places, e, at, y);
            take_line(places, e, x, y, at, y);
        }
        kf_label_take(places, (kf_label_box){across(e, x) + 6, upwards(e, y), 14, 16}); /* its number */
    }
    const kf_plot_result *const all[] = {r->presets[0], r->presets[1], r->best};
    whole_step before = {0, 0, 0};
    for (int p = 0; p < PRESETS + 1; p++) {
        if (all[p] == NULL) continue;
        const whole_step step = step_of(all[p]);
        const double x = step.operations / step.bytes, y = 1e-3 * step.operations / step.us;
        take_symbol(places, e, x, y);
        if (before.us > 0)
            take_line(places, e, before.operations / before.bytes, 1e-3 * before.operations / before.us, x,
                      y);
        before = step;
        for (int i = 0; p < PRESETS && i < all[p]->kernel_count; i++) {
            const kf_plot_kernel *from = &all[p]->kernels[i];
            if (!is_long(from, step.us)) continue;
            take_symbol(places, e, intensity(from), performance(from));
            for (int k = 0; k < r->kernel_count; k++)
                if (strcmp(from->name, r->kernels[k]->name) == 0)
                    take_line(places, e, intensity(from), performance(from), intensity(r->kernels[k]),
                              performance(r->kernels[k]));
        }
    }
}

static void append_kernel(const roofline *r, int number, const kf_plot_kernel *kernel, kf_text *data) {
    kf_text_append(data, "\n\n");
    append_label(r, number, kernel, data);
    for (int level = 0; level < KF_PLOT_LEVELS; level++)
        if (kernel->bytes[level] > 0)
            kf_text_append(data, "%.6g\t%.6g\t%d\t%.3g\n", kernel->operations / kernel->bytes[level],
                           performance(kernel), level, size_of(kernel, r->total_us));
}

static void choose_presets(roofline *r, const kf_plot_results *results, const kf_plot_result *best) {
    static const char *const names[PRESETS] = {"baseline", "paper"};
    r->best = best;
    for (int p = 0; p < PRESETS; p++) {
        const kf_plot_result *preset = kf_plot_preset_counted(results, names[p]);
        const bool other = preset != NULL && !kf_plot_same_config(&preset->config, &best->config) &&
                           (p == 0 || r->presets[0] == NULL ||
                            !kf_plot_same_config(&preset->config, &r->presets[0]->config));
        r->presets[p] = other ? preset : NULL;
    }
}

kf_status kf_table_roofline(const kf_plot_results *results, const kf_plot_roofs *roofs, kf_text *data,
                            int *kernel_blocks, kf_error *error) {
    roofline r = {.count = 0};
    const kf_plot_result *best = kf_plot_best_counted(results);
    if (!best)
        return kf_fail(error, KF_BAD_INPUT,
                       "this run has no hardware counters; tune with --counters standard on a GPU");
    choose_presets(&r, results, best);
    choose_kernels(&r, best);
    add_roofs(&r, roofs);
    if (r.kernel_count == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "no kernel of this run has counters of operations and bytes; tune with --counters "
                       "standard or roofline");
    if (r.count == 0)
        return kf_fail(error, KF_BAD_INPUT, "the roofs of this device are not known; run 'kftune roofs'");
    const extent e = find_extent(&r);
    kf_text_append(data, "%.6g\t%.6g\t%.6g\t%.6g\t%d\t%d\n", e.low_x, e.high_x, e.low_y, e.high_y,
                   r.presets[0] != NULL, r.presets[1] != NULL);
    kf_label_places places = {.width = AREA_WIDTH, .height = AREA_HEIGHT};
    append_roofs(&r, &e, &places, data);
    take_drawn(&r, &e, &places);
    append_preset_kernels(&r, &e, &places, data);
    append_steps(&r, &e, &places, data);
    append_arrows(&r, data);
    for (int i = 0; i < r.kernel_count; i++)
        append_kernel(&r, i + 1, r.kernels[i], data);
    *kernel_blocks = r.kernel_count;
    return KF_OK;
}
