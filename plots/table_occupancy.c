/* A block a config: its name; then a line a kernel, slowest first: position, kernel, achieved and theoretical
 * occupancy in percent (-1: not known), what limits it and
 * registers of a thread, share of the step in percent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "plots/gnuplot.h"
#include "plots/tables.h"

enum { CONFIGS = 2, MOST_ROWS = 10 };

static double percent(double share) {
    return isfinite(share) ? 100 * share : -1;
}

/* Returns how many lines it has. */
static int append_config(const kf_plot_result *result, const char *name, int position, kf_text *data) {
    const kf_plot_kernel **sorted = kf_allocate((size_t)(result->kernel_count + 1) * sizeof *sorted);
    double total = 0;
    int count = 0;
    for (int i = 0; i < result->kernel_count; i++) {
        total += result->kernels[i].time_us;
        if (isfinite(result->kernels[i].theoretical_occupancy)) sorted[count++] = &result->kernels[i];
    }
    qsort(sorted, (size_t)count, sizeof *sorted, kf_plot_slower_first);
    kf_text_append(data, "%s%s\n", position > 0 ? "\n\n" : "", name);
    int rows = 0;
    for (; rows < count && rows < MOST_ROWS && sorted[rows]->time_us >= 0.002 * total; rows++) {
        const kf_plot_kernel *kernel = sorted[rows];
        kf_text_append(data, "%d\t", position + rows);
        kf_gnuplot_field(data, kernel->name);
        kf_text_append(data, "\t%.4g\t%.4g\t", percent(kernel->achieved_occupancy),
                       percent(kernel->theoretical_occupancy));
        if (kernel->occupancy_limit[0] != '\0') {
            kf_text_append(data, "limited by ");
            kf_gnuplot_field(data, kernel->occupancy_limit);
            kf_text_append(data, ", ");
        }
        kf_text_append(data, "%d registers\t%.3g\n", kernel->registers, 100 * kernel->time_us / total);
    }
    free(sorted);
    return rows;
}

kf_status kf_table_occupancy(const kf_plot_results *results, kf_text *data, int *config_blocks,
                             kf_error *error) {
    const kf_plot_result *best = kf_plot_best_counted(results), *baseline;
    if (!best) best = kf_plot_best(results);
    baseline = kf_plot_preset_counted(results, "baseline");
    if (!baseline) baseline = kf_plot_preset(results, "baseline");
    int position = 0;
    *config_blocks = 0;
    if (baseline) {
        position += append_config(baseline, "baseline", position, data) + 1;
        ++*config_blocks;
    }
    if (best) {
        position += append_config(best, "best", position, data);
        ++*config_blocks;
    }
    if (position > *config_blocks) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "this run has no kernel whose occupancy is known; a cpu's have none");
}
