#include "harness/roofs/rounds.h"

#include <math.h>

#include "base/statistics/statistics.h"
#include "base/util/clock.h"
#include "base/util/text.h"

enum { MOST_ROUNDS = 200, LEAST_ROUNDS = 5 };
static const double LIMIT_SECONDS = 0.4; /* limit for the rounds of a roof */

static kf_status time_round(const kf_roof_bench *bench, kf_roof_work work, void *context, int batch,
                            double *us, kf_error *error) {
    KF_TRY(kf_event_record(bench->start, error));
    for (int i = 0; i < batch; i++)
        KF_TRY(work(bench, context, error));
    KF_TRY(kf_event_record(bench->stop, error));
    KF_TRY(kf_backend_synchronize(bench->backend, error));
    KF_TRY(kf_event_elapsed_us(bench->start, bench->stop, us, error));
    *us /= batch;
    return KF_OK;
}

/* Chooses the number of units in a round. A round is long compared with the clock's resolution. On the cpu it
 * is short compared with the time slices of other programs. */
static kf_status choose_batch(const kf_roof_bench *bench, kf_roof_work work, void *context, int *batch,
                              kf_error *error) {
    const double round_us = bench->gpu ? 3000.0 : 1500.0;
    double us = 0.0;
    KF_TRY(time_round(bench, work, context, 1, &us, error)); /* The first unit is never typical. */
    for (*batch = 1;; *batch = (int)fmin(2.0 * *batch, 65536.0)) {
        KF_TRY(time_round(bench, work, context, *batch, &us, error));
        if (us * *batch >= round_us || *batch >= 65536) return KF_OK;
    }
}

kf_status kf_roof_time(const kf_roof_bench *bench, kf_roof_work work, void *context, double *best_us,
                       double *median_us, kf_error *error) {
    double times[MOST_ROUNDS];
    size_t count = 0;
    int batch = 1;
    KF_TRY(choose_batch(bench, work, context, &batch, error));
    const double begin = kf_clock_seconds();
    while (count < MOST_ROUNDS && (count < LEAST_ROUNDS || kf_clock_seconds() - begin < LIMIT_SECONDS))
        KF_TRY(time_round(bench, work, context, batch, &times[count++], error));
    const kf_summary summary = kf_summarise(times, count);
    *best_us = summary.minimum;
    *median_us = summary.median;
    return KF_OK;
}

kf_status kf_roof_launch(const kf_roof_bench *bench, void *context, kf_error *error) {
    return kf_backend_launch(bench->backend, context, error);
}

kf_status kf_roof_graph(const kf_roof_bench *bench, void *context, kf_error *error) {
    (void)bench;
    return kf_graph_launch(context, error);
}

static kf_roof *add(const kf_roof_bench *bench, const char *name, const char *unit) {
    kf_roofs *roofs = bench->roofs;
    kf_roof *roof = &roofs->list[roofs->count < KF_ROOFS ? roofs->count++ : KF_ROOFS - 1];
    kf_copy_text(roof->name, sizeof roof->name, name);
    kf_copy_text(roof->unit, sizeof roof->unit, unit);
    return roof;
}

void kf_roof_add_rate(const kf_roof_bench *bench, const char *name, const char *unit, double amount,
                      double best_us, double median_us, double theoretical) {
    kf_roof *roof = add(bench, name, unit);
    roof->value = amount / best_us * 1e-3;
    roof->spread = (median_us - best_us) / best_us;
    roof->theoretical = theoretical > 0.0 ? theoretical : (double)NAN;
}

void kf_roof_add_time(const kf_roof_bench *bench, const char *name, double best_us, double median_us) {
    kf_roof *roof = add(bench, name, "us");
    roof->value = best_us;
    roof->spread = (median_us - best_us) / best_us;
    roof->theoretical = (double)NAN;
}

kf_status kf_roof_add_kernel(const kf_roof_bench *bench, const char *name, const char *unit,
                             const kf_launch *launch, double amount, double theoretical, kf_error *error) {
    double best = 0.0, median = 0.0;
    kf_launch copy = *launch;
    KF_TRY(kf_roof_time(bench, kf_roof_launch, &copy, &best, &median, error));
    kf_roof_add_rate(bench, name, unit, amount, best, median, theoretical);
    return KF_OK;
}
