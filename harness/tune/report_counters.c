#include <math.h>
#include <string.h>

#include "harness/counters/count_plan.h"
#include "harness/tune/report.h"

/* The counters in the table. The store contains all others. */
static const struct {
    const char *metric, *head, *format;
} columns[] = {
    {"achieved_occupancy", "achieved", "%8.0f %%"}, {"warp_efficiency", "warps", "%8.0f %%"},
    {"branch_uniformity", "branches", "%8.0f %%"},  {"load_efficiency", "loads", "%8.0f %%"},
    {"store_efficiency", "stores", "%8.0f %%"},     {"l2_hit_rate", "L2 hits", "%8.0f %%"},
    {"dram_bandwidth", "DRAM GB/s", "%10.1f"},      {"traffic_over_least", "of least", "%9.2fx"},
    {"issue_utilisation", "issuing", "%8.0f %%"},   {"stall_device_memory", "on memory", "%10.2f"},
    {"instructions_per_cycle", "ipc", "%10.2f"},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static bool has_column(const kf_measurement *m, int column) {
    for (int i = 0; i < m->kernel_count; i++)
        if (isfinite(kf_counter_value(m, m->kernels[i].name, columns[column].metric))) return true;
    return false;
}

/* Prints the counters of the best config's kernels as a table, with a column for each counter that any kernel
 * has. */
void kf_report_counters(const kf_measurement *m, FILE *stream) {
    bool shown[COLUMNS];
    if (m->counter_count == 0) return;
    (void)fprintf(stream, "%-24s", "counters");
    for (int column = 0; column < COLUMNS; column++) {
        shown[column] = has_column(m, column);
        if (shown[column]) (void)fprintf(stream, " %10s", columns[column].head);
    }
    (void)fprintf(stream, "\n");
    for (int i = 0; i < m->kernel_count; i++) {
        (void)fprintf(stream, "%-24s", m->kernels[i].name);
        for (int column = 0; column < COLUMNS; column++) {
            const double value = kf_counter_value(m, m->kernels[i].name, columns[column].metric);
            if (!shown[column]) continue;
            (void)fputc(' ', stream);
            if (isfinite(value))
                (void)fprintf(stream, columns[column].format,
                              value); /* NOLINT: the format comes from the table above */
            else
                (void)fprintf(stream, "%10s", "-");
        }
        (void)fprintf(stream, "\n");
    }
    (void)fprintf(stream, "\n");
}

cJSON *kf_report_counters_json(const kf_measurement *m) {
    cJSON *json = cJSON_CreateObject();
    for (int i = 0; i < m->counter_count; i++) {
        const kf_counter *counter = &m->counters[i];
        const char *name = counter->kernel[0] != '\0' ? counter->kernel : "step";
        cJSON *kernel = cJSON_GetObjectItemCaseSensitive(json, name);
        if (kernel == NULL) kernel = cJSON_AddObjectToObject(json, name);
        (void)cJSON_AddNumberToObject(kernel, counter->metric, counter->value);
    }
    return json;
}
