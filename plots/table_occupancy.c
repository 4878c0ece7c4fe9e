/* A block for each config: its name, then a line for each kernel, the slowest first: position, kernel,
 * achieved and theoretical occupancy in percent (-1: not known), what limits it with registers, threads of a
 * block and its shared memory, share of the step in percent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "plots/gnuplot.h"
#include "plots/tables.h"

enum { CONFIGS = 3, MOST_ROWS = 8 };

static double percent(double share) {
    return isfinite(share) ? 100 * share : -1;
}

/* Appends "by registers; 72 registers, 256 threads, 8 KiB shared". */
static void append_limits(const kf_plot_kernel *kernel, kf_text *data) {
    if (kernel->occupancy_limit[0] != '\0') {
        kf_text_append(data, "by ");
        kf_gnuplot_field(data, kernel->occupancy_limit);
        kf_text_append(data, "; ");
    }
    kf_text_append(data, "%d registers", kernel->registers);
    if (kernel->block_threads > 0) kf_text_append(data, ", %d threads", kernel->block_threads);
    if (kernel->shared_bytes > 0) kf_text_append(data, ", %.3g KiB shared", kernel->shared_bytes / 1024.0);
}

/* Returns the number of lines. */
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
        append_limits(kernel, data);
        kf_text_append(data, "\t%.3g\n", 100 * kernel->time_us / total);
    }
    free(sorted);
    return rows;
}

/* Chooses the presets for comparison, and the best. A preset that is the best is shown once. */
static int choose_configs(const kf_plot_results *results, const kf_plot_result *configs[CONFIGS],
                          const char *names[CONFIGS]) {
    static const char *const presets[] = {"baseline", "paper"};
    const kf_plot_result *best = kf_plot_best_counted(results);
    int count = 0;
    if (!best) best = kf_plot_best(results);
    for (int i = 0; i < CONFIGS - 1; i++) {
        const kf_plot_result *preset = kf_plot_preset_counted(results, presets[i]);
        if (!preset) preset = kf_plot_preset(results, presets[i]);
        if (!preset || (best && kf_plot_same_config(&preset->config, &best->config))) continue;
        if (count > 0 && kf_plot_same_config(&preset->config, &configs[0]->config)) continue;
        names[count] = presets[i];
        configs[count++] = preset;
    }
    if (best) {
        names[count] = "best";
        configs[count++] = best;
    }
    return count;
}

kf_status kf_table_occupancy(const kf_plot_results *results, kf_text *data, int *config_blocks,
                             kf_error *error) {
    const kf_plot_result *configs[CONFIGS];
    const char *names[CONFIGS];
    const int count = choose_configs(results, configs, names);
    int position = 0, rows = 0;
    *config_blocks = 0;
    for (int i = 0; i < count; i++) {
        const int added = append_config(configs[i], names[i], position, data);
        rows += added;
        position += added + 1;
        ++*config_blocks;
    }
    if (rows > 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "this run has no kernel whose occupancy is known; a cpu's have none");
}
