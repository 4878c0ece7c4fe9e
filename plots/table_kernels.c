/* Block 0: a line for each row of bars, the slowest first: position, name. Row 0 is the sum of all kernels.
 * Then a block for each config: its name and speed-up over the first one, and a line for each of its kernels:
 * row, time, share in percent, and the efficiencies (-1: not counted). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "plots/gnuplot.h"
#include "plots/tables.h"

enum { BARS = 3 };

typedef struct bar {
    const char *name;
    const kf_plot_result *result;
    double total; /* total of its kernels in us */
} bar;

/* A kernel in one config: sums over its family of kernels. */
typedef struct kernel_bar {
    double time; /* us */
    double weighted[KF_PLOT_EFFICIENCIES], weights[KF_PLOT_EFFICIENCIES];
} kernel_bar;

/* A group: a kernel of any of the configs. */
typedef struct kernel_bars {
    const char *name;
    kernel_bar bars[BARS];
    double largest; /* us */
    double top;     /* position of the upper edge of its first bar */
} kernel_bars;
static const double gap = 0.8;          /* between groups */
static const double least_share = 0.01; /* share of any config's step; shorter kernels are summed */

/* Returns a preset's result, the one with counters if there is one. */
static const kf_plot_result *find_preset(const kf_plot_results *results, const char *name) {
    const kf_plot_result *counted = kf_plot_preset_counted(results, name);
    return counted ? counted : kf_plot_preset(results, name);
}

static int collect_bars(const kf_plot_results *results, bar bars[BARS]) {
    const bar candidates[BARS] = {{"baseline", find_preset(results, "baseline"), 0},
                                  {"paper", find_preset(results, "paper"), 0},
                                  {"best", kf_plot_best(results), 0}};
    int count = 0;
    for (int i = 0; i < BARS; i++)
        if (candidates[i].result && candidates[i].result->kernel_count > 0) bars[count++] = candidates[i];
    return count;
}

/* Returns the family of a kernel. Kernels that differ only in face or phase belong together. */
static const char *family(const char *name) {
    static const char *const families[] = {"boundary", "order", "average"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        size_t length = strlen(families[i]);
        if (strncmp(name, families[i], length) == 0 && name[length] == '_') return families[i];
    }
    return name;
}

static void add_kernel(kernel_bar *to, const kf_plot_kernel *from) {
    to->time += from->time_us;
    for (int i = 0; i < KF_PLOT_EFFICIENCIES; i++) {
        if (!isfinite(from->efficiency[i])) continue;
        to->weighted[i] += from->time_us * from->efficiency[i];
        to->weights[i] += from->time_us;
    }
}

/* Collects the kernels of all bars by their family. Returns the number of families. */
static int collect_kernels(bar *bars, int bar_count, kernel_bars *kernels) {
    int count = 0;
    for (int b = 0; b < bar_count; b++) {
        for (int i = 0; i < bars[b].result->kernel_count; i++) {
            const kf_plot_kernel *from = &bars[b].result->kernels[i];
            const char *name = family(from->name);
            int at = 0;
            while (at < count && strcmp(kernels[at].name, name) != 0)
                at++;
            if (at == count) kernels[count++] = (kernel_bars){.name = name};
            add_kernel(&kernels[at].bars[b], from);
            kernels[at].largest = fmax(kernels[at].largest, kernels[at].bars[b].time);
            bars[b].total += from->time_us;
        }
    }
    return count;
}

static int slower_first(const void *left, const void *right) {
    double a = ((const kernel_bars *)left)->largest, b = ((const kernel_bars *)right)->largest;
    return (a < b) - (a > b);
}

static bool is_short(const kernel_bars *group, const bar *bars, int bar_count) {
    for (int b = 0; b < bar_count; b++)
        if (group->bars[b].time >= least_share * bars[b].total) return false;
    return true;
}

/* Merges kernels that are short in every config into one sum, which is shown last. */
static int merge_short(kernel_bars *groups, int count, const bar *bars, int bar_count) {
    kernel_bars others = {.name = "all others"};
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (!is_short(&groups[i], bars, bar_count)) {
            groups[kept++] = groups[i];
            continue;
        }
        for (int b = 0; b < bar_count; b++)
            others.bars[b].time += groups[i].bars[b].time;
    }
    if (kept < count) groups[kept++] = others;
    return kept;
}

static int present(const kernel_bars *group, int bar_count) {
    int count = 0;
    for (int b = 0; b < bar_count; b++)
        count += group->bars[b].time > 0;
    return count;
}

static void append_groups(kernel_bars *groups, int count, int bar_count, kf_text *data) {
    double top = 0;
    for (int i = 0; i < count; i++) {
        int bars = present(&groups[i], bar_count);
        groups[i].top = top;
        kf_text_append(data, "%g\t", top + bars / 2.0);
        kf_gnuplot_field(data, groups[i].name);
        kf_text_append(data, "\n");
        top += bars + gap;
    }
}

static void append_config(const bar *bars, int which, const kernel_bars *groups, int count, kf_time_unit unit,
                          kf_text *data) {
    const bar *shown = &bars[which];
    kf_text_append(data, "\n\n");
    kf_gnuplot_field(data, shown->name);
    const double gain = bars[0].total / shown->total;
    if (which > 0 && fabs(gain - 1) < 0.0005)
        kf_text_append(data, ": as fast");
    else if (which > 0)
        kf_text_append(data, ": %.3g times as fast", gain);
    kf_text_append(data, "\n");
    for (int i = 0; i < count; i++) {
        const kernel_bar *kernel = &groups[i].bars[which];
        if (kernel->time <= 0) continue;
        kf_text_append(data, "%g\t%.6g\t%.1f", groups[i].top + present(&groups[i], which) + 0.5,
                       kernel->time * unit.scale, 100 * kernel->time / shown->total);
        for (int e = 0; e < KF_PLOT_EFFICIENCIES; e++)
            kf_text_append(data, "\t%.4g",
                           kernel->weights[e] > 0 ? kernel->weighted[e] / kernel->weights[e] : -1.0);
        kf_text_append(data, "\n");
    }
}

kf_status kf_table_kernels(const kf_plot_results *results, kf_text *data, kf_time_unit *unit,
                           int *config_blocks, kf_error *error) {
    bar bars[BARS];
    int bar_count = collect_bars(results, bars);
    if (bar_count == 0)
        return kf_fail(error, KF_BAD_INPUT, "this run has no ok result with times of its kernels");
    size_t most = 2; /* the sum of all, and the sum of short kernels */
    for (int b = 0; b < bar_count; b++)
        most += (size_t)bars[b].result->kernel_count;
    kernel_bars *groups = kf_allocate_zeroed(most, sizeof *groups);
    groups[0].name = "all kernels";
    int count = collect_kernels(bars, bar_count, groups + 1);
    qsort(groups + 1, (size_t)count, sizeof *groups, slower_first);
    count = 1 + merge_short(groups + 1, count, bars, bar_count);
    double longest = 0;
    for (int b = 0; b < bar_count; b++) {
        groups[0].bars[b].time = bars[b].total;
        if (bars[b].total > longest) longest = bars[b].total;
    }
    *unit = kf_time_unit_for(longest);
    append_groups(groups, count, bar_count, data);
    for (int b = 0; b < bar_count; b++)
        append_config(bars, b, groups, count, *unit, data);
    free(groups);
    *config_blocks = bar_count;
    return KF_OK;
}
