#include "harness/replay/replay_plot.h"

#include <math.h>
#include <stdio.h>

#include "plots/gnuplot.h"

static double percent(double regret) {
    static const double LEAST = 0.01;
    return fmax(100 * regret, LEAST);
}

static void append_line(kf_text *data, double x, const kf_summary *summary) {
    kf_text_append(data, "%.6g\t%.6g\t%.6g\t%.6g\n", x, percent(summary->median), percent(summary->q1),
                   percent(summary->q3));
}

static void begin_block(const kf_replayed *replayed, int which, kf_text *data) {
    if (data->text != NULL) kf_text_append(data, "\n\n");
    kf_gnuplot_field(data, replayed->names[which]);
    kf_text_append(data, "\n");
}

/* Appends the regrets at times that grow by equal factors, from the first second of any search to the last
 * second of the shortest one. */
static void append_seconds(const kf_replayed *replayed, int which, double first, double last, kf_text *data) {
    enum { POINTS = 60 };
    const kf_replay_request request = {.landscape = replayed->landscape,
                                       .repeats = replayed->results[which].repeats};
    begin_block(replayed, which, data);
    for (int i = 0; i <= POINTS; i++) {
        const double seconds = first * pow(last / first, (double)i / POINTS);
        const kf_summary summary = kf_replay_after(&request, &replayed->results[which], seconds);
        append_line(data, seconds, &summary);
    }
}

void kf_table_replayed(const kf_replayed *replayed, kf_text *data, bool *seconds) {
    double first = (double)INFINITY, last = (double)INFINITY;
    for (int s = 0; s < replayed->count; s++) {
        const kf_replay_result *result = &replayed->results[s];
        begin_block(replayed, s, data);
        for (int i = 0; i < result->evaluations; i++)
            append_line(data, i + 1, &result->summaries[i]);
        first = fmin(first, result->seconds[0]);
        const double end = result->seconds[result->evaluations - 1];
        last = isfinite(end) ? fmin(last, end) : (double)NAN;
    }
    *seconds = replayed->count > 0 && isfinite(first) && isfinite(last) && first > 0.0 && last > first;
    for (int s = 0; s < replayed->count && *seconds; s++)
        append_seconds(replayed, s, first, last, data);
}

/* Draws the curves of all replays over seconds if the landscape has them, otherwise over evaluations. */
kf_status kf_plot_replayed(const kf_replayed *replayed, const char *path, kf_error *error) {
    const kf_landscape *landscape = replayed->landscape;
    kf_text data = {0};
    bool seconds = false;
    char subtitle[512], count[16];
    kf_table_replayed(replayed, &data, &seconds);
    (void)snprintf(subtitle, sizeof subtitle, "%s, %llu configs, %s; median and quartiles of %d searches",
                   landscape->name, (unsigned long long)landscape->size, landscape->device,
                   replayed->count > 0 ? replayed->results[0].repeats : 0);
    (void)snprintf(count, sizeof count, "%d", replayed->count);
    const kf_gnuplot_job job = {.script = "replayed.gp",
                                .data = data.text,
                                .title = "Search: how far the best config so far is from the optimum",
                                .subtitle = subtitle,
                                .values = {count, seconds ? "2" : "1"},
                                .path = path};
    kf_status status = kf_gnuplot_run(&job, error);
    kf_text_free(&data);
    return status;
}
