/* Block 0: a line for each result that counts: evaluation, time. Block 1: evaluation, best time so far. Then
 * a block for each preset: its name, and the two ends of its line. */
#include "plots/tables.h"

static void append_times(const kf_plot_results *results, kf_time_unit unit, kf_text *data) {
    for (size_t i = 0; i < results->count; i++) {
        const kf_plot_result *result = &results->results[i];
        if (result->ok)
            kf_text_append(data, "%d\t%.6g\n", result->sequence + 1, result->time_us * unit.scale);
    }
}

static void append_best_so_far(const kf_plot_results *results, kf_time_unit unit, kf_text *data) {
    double best = 0;
    for (size_t i = 0; i < results->count; i++) {
        const kf_plot_result *result = &results->results[i];
        if (result->ok && (best <= 0 || result->time_us < best)) best = result->time_us;
        if (best > 0) kf_text_append(data, "%d\t%.6g\n", result->sequence + 1, best * unit.scale);
    }
}

kf_status kf_table_convergence(const kf_plot_results *results, kf_text *data, kf_time_unit *unit,
                               int *preset_blocks, kf_error *error) {
    double longest = 0;
    for (size_t i = 0; i < results->count; i++)
        if (results->results[i].ok && results->results[i].time_us > longest)
            longest = results->results[i].time_us;
    if (longest <= 0) return kf_fail(error, KF_BAD_INPUT, "this run has no ok result");
    *unit = kf_time_unit_for(longest);
    append_times(results, *unit, data);
    kf_text_append(data, "\n\n");
    append_best_so_far(results, *unit, data);
    static const char *const presets[] = {"baseline", "paper", "default"};
    int last = results->results[results->count - 1].sequence + 1;
    *preset_blocks = 0;
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        const kf_plot_result *preset = kf_plot_preset(results, presets[i]);
        if (!preset) continue;
        double time = preset->time_us * unit->scale;
        kf_text_append(data, "\n\n%s\n1\t%.6g\n%d\t%.6g\n", presets[i], time, last, time);
        ++*preset_blocks;
    }
    return KF_OK;
}
