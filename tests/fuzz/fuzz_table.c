/* Reads any bytes as a table over time that a run continues, and as rows of forces for means. */
#include "tests/fuzz/fuzz_file.h"

#include "solver/output/drag.h"
#include "solver/output/table.h"

/* Means, forecasts and the file's rows all come from the same series. */
static void judge(kf_force_series *series) {
    kf_record row = {0};
    const kf_drag_report report = kf_drag_report_of(series, 50.0, 0.1);
    (void)kf_drag_is_done(&report, 50.0);
    (void)kf_drag_steps_left(&report, 50.0);
    (void)kf_drag_steps_forecast(series, &report, 50.0);
    kf_force_series_running_means(series, &row);
    free(row.columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint64_t lasts[] = {1, 100, 1000000, UINT64_MAX};
    kf_error error = {KF_OK, ""};
    if (size == 0) return 0;
    const uint64_t last = lasts[data[0] % 4];
    const char *path = fuzz_file(data + 1, size - 1, ".csv");
    kf_force_series series = {0};
    fuzz_check(kf_force_series_read(&series, path, last, &error), &error);
    judge(&series);
    kf_force_series_free(&series);
    FILE *stream = NULL;
    const double values[] = {1.0, -0.5, 0.0};
    kf_status status = kf_table_open(path, "step,time_s,drag,lift,side\n", last, &stream, &error);
    if (status == KF_OK) {
        (void)fprintf(stream, "%d", 1);
        kf_table_add(stream, 3, values);
        status = kf_table_end_row(stream, path, &error);
    }
    if (stream != NULL) (void)fclose(stream);
    fuzz_check(status, &error);
    return 0;
}
