/* Block 0: the range: least and greatest intensity, least and greatest performance. Block 1: a line a roof:
 * start, way to its end, 1 when it was measured (0: theoretical). Block 2: a line a label of a roof: place, 1
 * when it rises with its roof, text. Then a block a kernel: its label, and a line a level (0 L1, 1 L2, 2
 * device memory): intensity, performance, level. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "plots/gnuplot.h"
#include "plots/tables.h"

enum { MOST_KERNELS = 6, LINES = 2 * (KF_PLOT_LEVELS + 2) };

/* A measured and a theoretical roof. level: of memory; -1: arithmetic. */
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
    double total_us; /* of all kernels of the step */
} roofline;

/* --- Roofs ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *roofs[4], *name; /* the best of the first that are there; name as shown */
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

static void add_roofs(roofline *r, const kf_plot_roofs *roofs) {
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
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

/* The highest roof of arithmetic that kernels may reach: single precision, measured if it was. */
static double arithmetic_roof(const roofline *r, bool measured) {
    double best = 0;
    for (int i = 0; i < r->count; i++)
        if (r->lines[i].level < 0 && r->lines[i].measured == measured) best = fmax(best, r->lines[i].value);
    return best;
}

/* GB/s of a level: measured, else theoretical; 0: unknown. */
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

/* "stream_collide (73 % of the step): 91 % of device memory": the roof it comes nearest to limits it. */
static void append_label(const roofline *r, const kf_plot_kernel *kernel, kf_text *data) {
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
    kf_gnuplot_field(data, kernel->name);
    kf_text_append(data, ", %.0f %% of the step", 100 * kernel->time_us / r->total_us);
    if (nearest > 0) kf_text_append(data, ": %.0f %% of %s", 100 * nearest, limit);
    kf_text_append(data, "\n");
}

/* --- The table ------------------------------------------------------------------------------------------ */

typedef struct extent {
    double low_x, high_x, low_y, high_y;
} extent;

/* Finds the extent of the axes that holds all kernels and where roofs meet. */
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
    for (int i = 0; i < r->count; i++)
        if (r->lines[i].level < 0)
            e.high_y = fmax(e.high_y, r->lines[i].value);
        else
            e.high_x = fmax(e.high_x, arithmetic_roof(r, r->lines[i].measured) / r->lines[i].value);
    e.low_x /= 2;
    e.high_x *= 16;
    e.low_y /= 4;
    e.high_y *= 2;
    return e;
}

/* A roof's ends: a memory roof ends at the roof of arithmetic or the edge, one of arithmetic begins where
 * the steepest memory roof meets it. */
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

/* "device memory 4.2 TB/s (4.8 in theory)", once for the measured and the theoretical roof. */
static void append_roof_label(const roofline *r, int which, const extent *e, kf_text *data) {
    const roof_line *line = &r->lines[which];
    const bool memory = line->level >= 0;
    if (!line->measured && which > 0 && strcmp(r->lines[which - 1].name, line->name) == 0) return;
    const segment place = find_segment(r, line, e);
    const double scale = line->value >= 1000 ? 1e-3 : 1;
    const bool both = which + 1 < r->count && strcmp(r->lines[which + 1].name, line->name) == 0;
    const double upper = fmax(line->value, both ? r->lines[which + 1].value : 0);
    /* Along its roof: above both, or below the lowest, where the next would be in the way. */
    const double x = memory ? 1.15 * place.x[0] : e->high_x;
    const double y = !memory ? upper : line->level == 2 ? x * line->value / 1.45 : x * upper * 1.3;
    kf_text_append(data, "%.6g\t%.6g\t%d\t%s %.3g %s", x, y, memory, line->name, line->value * scale,
                   unit_of(line->value, memory));
    if (!line->measured)
        kf_text_append(data, " in theory");
    else if (both)
        append_theory(r->lines[which + 1].value * scale, data);
    kf_text_append(data, "\n");
}

static void append_roofs(const roofline *r, const extent *e, kf_text *data) {
    kf_text_append(data, "\n\n");
    for (int i = 0; i < r->count; i++) {
        const segment s = find_segment(r, &r->lines[i], e);
        kf_text_append(data, "%.6g\t%.6g\t%.6g\t%.6g\t%d\n", s.x[0], s.y[0], s.x[1] - s.x[0], s.y[1] - s.y[0],
                       r->lines[i].measured);
    }
    kf_text_append(data, "\n\n");
    for (int i = 0; i < r->count; i++)
        append_roof_label(r, i, e, data);
}

static void append_kernel(const roofline *r, const kf_plot_kernel *kernel, kf_text *data) {
    kf_text_append(data, "\n\n");
    append_label(r, kernel, data);
    for (int level = 0; level < KF_PLOT_LEVELS; level++)
        if (kernel->bytes[level] > 0)
            kf_text_append(data, "%.6g\t%.6g\t%d\n", kernel->operations / kernel->bytes[level],
                           performance(kernel), level);
}

kf_status kf_table_roofline(const kf_plot_results *results, const kf_plot_roofs *roofs, kf_text *data,
                            int *kernel_blocks, kf_error *error) {
    roofline r = {.count = 0};
    const kf_plot_result *best = kf_plot_best_counted(results);
    if (!best)
        return kf_fail(error, KF_BAD_INPUT,
                       "this run has no hardware counters; tune with --counters standard on a GPU");
    add_roofs(&r, roofs);
    choose_kernels(&r, best);
    if (r.kernel_count == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "no kernel of this run has counters of operations and bytes; tune with --counters "
                       "standard or roofline");
    if (r.count == 0)
        return kf_fail(error, KF_BAD_INPUT, "the roofs of this device are not known; run 'kftune roofs'");
    const extent e = find_extent(&r);
    kf_text_append(data, "%.6g\t%.6g\t%.6g\t%.6g\n", e.low_x, e.high_x, e.low_y, e.high_y);
    append_roofs(&r, &e, data);
    for (int i = 0; i < r.kernel_count; i++)
        append_kernel(&r, r.kernels[i], data);
    *kernel_blocks = r.kernel_count;
    return KF_OK;
}
