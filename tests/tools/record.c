#include "tests/tools/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/device_json.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "harness/nightly/entry.h"
#include "tests/tools/planted.h"

static const double PROCESS_LIMIT_SECONDS = 600.0;

/* Measures one process with this many planted rounds. */
static kf_status measure(const kf_program *program, const kf_entry *entry, long rounds,
                         kf_measurement *measurement, kf_error *error) {
    kf_job_end *answer = kf_allocate(sizeof *answer);
    kf_planted_rounds_set(rounds);
    kf_status status = kf_process_measure(program, entry->job, false, PROCESS_LIMIT_SECONDS, answer, error);
    if (status == KF_OK && (!answer->measured || answer->measurement.state != KF_STATE_OK))
        status = kf_fail(error, KF_MACHINE, "%s: %s", entry->benchmark->name,
                         answer->measured ? answer->measurement.reason : answer->problem);
    if (status == KF_OK) *measurement = answer->measurement;
    if (status != KF_OK && answer->measured) kf_measurement_free(&answer->measurement);
    free(answer);
    return status;
}

static kf_status step_time(const kf_program *program, const kf_entry *entry, long rounds, double *time_us,
                           kf_error *error) {
    kf_measurement measurement;
    KF_TRY(measure(program, entry, rounds, &measurement, error));
    *time_us = measurement.step_us.median;
    kf_measurement_free(&measurement);
    return KF_OK;
}

/* Measures the cost of the busy loop: *round_us per round, from a loop that is so long that its start does
 * not matter, and *launch_us for one of a single round, by which a step becomes longer. */
static kf_status calibrate(const kf_program *program, const kf_entry *entry, double step_us, double *round_us,
                           double *launch_us, kf_error *error) {
    enum { ROUNDS = 200000, SHORT_ONES = 3 };
    double with_launch[SHORT_ONES];
    for (int i = 0; i < SHORT_ONES; i++)
        KF_TRY(step_time(program, entry, 1, &with_launch[i], error));
    *launch_us = fmax(0.0, kf_median(with_launch, SHORT_ONES) - step_us);
    kf_measurement measurement;
    KF_TRY(measure(program, entry, ROUNDS, &measurement, error));
    *round_us = 0.0;
    for (int i = 0; i < measurement.kernel_count; i++)
        if (strcmp(measurement.kernels[i].name, "planted_busy_loop") == 0)
            *round_us = measurement.kernels[i].time_us.median / ROUNDS;
    kf_measurement_free(&measurement);
    if (*round_us > 0.0) return KF_OK;
    return kf_fail(error, KF_MACHINE, "%s: the planted loop was not timed", entry->benchmark->name);
}

static kf_status record_nights(const kf_record_request *request, const kf_program *program,
                               const kf_entry *entry, cJSON *json, double *step_us, kf_error *error) {
    cJSON *nights = cJSON_AddArrayToObject(json, "nights");
    double *all = kf_allocate((size_t)request->nights * KF_NIGHT_PROCESSES * sizeof *all);
    int count = 0;
    kf_status status = KF_OK;
    for (int night = 0; night < request->nights && status == KF_OK; night++) {
        double times[KF_NIGHT_PROCESSES] = {0};
        for (int i = 0; i < entry->benchmark->processes; i++) {
            kf_progress(false, "%s: night %d of %d", entry->benchmark->name, night + 1, request->nights);
            if (status == KF_OK) status = step_time(program, entry, 0, &times[i], error);
            if (status == KF_OK) all[count++] = times[i];
        }
        (void)cJSON_AddItemToArray(nights, cJSON_CreateDoubleArray(times, entry->benchmark->processes));
    }
    *step_us = kf_median(all, (size_t)count);
    free(all);
    return status;
}

/* Records in turns an unchanged process and one of every percentage. The unchanged ones are one more
 * night. */
static kf_status record_planted(const kf_record_request *request, const kf_program *program,
                                const kf_entry *entry, double step_us, cJSON *json, kf_error *error) {
    double round_us = 0.0, launch_us = 0.0;
    KF_TRY(calibrate(program, entry, step_us, &round_us, &launch_us, error));
    (void)cJSON_AddNumberToObject(json, "planted_round_us", round_us);
    (void)cJSON_AddNumberToObject(json, "planted_launch_us", launch_us);
    enum { MOST = 512 };
    double *times = kf_allocate((size_t)(request->percent_count + 1) * MOST * sizeof *times);
    kf_status status = KF_OK;
    int rounds = request->planted_processes < MOST ? request->planted_processes : MOST;
    for (int i = 0; i < rounds && status == KF_OK; i++)
        for (int k = 0; k <= request->percent_count && status == KF_OK; k++) {
            const double extra_us = k == 0 ? 0.0 : 0.01 * request->percents[k - 1] * step_us - launch_us;
            const long planted = k == 0 ? 0 : lround(fmax(extra_us / round_us, 1.0));
            kf_progress(false, "%s: planted, round %d of %d", entry->benchmark->name, i + 1, rounds);
            status = step_time(program, entry, planted, &times[k * MOST + i], error);
        }
    if (status == KF_OK) {
        (void)cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(json, "nights"),
                                   cJSON_CreateDoubleArray(times, rounds));
        cJSON *planted = cJSON_AddArrayToObject(json, "planted");
        double base = kf_median(times, (size_t)rounds);
        for (int k = 1; k <= request->percent_count; k++) {
            cJSON *item = cJSON_CreateObject();
            (void)cJSON_AddNumberToObject(item, "percent",
                                          100.0 * (kf_median(times + k * MOST, (size_t)rounds) / base - 1.0));
            (void)cJSON_AddItemToObject(item, "times_us", cJSON_CreateDoubleArray(times + k * MOST, rounds));
            (void)cJSON_AddItemToArray(planted, item);
        }
    }
    free(times);
    return status;
}

static kf_status record_benchmark(const kf_record_request *request, const kf_program *program,
                                  kf_entry *entry, cJSON *json, kf_error *error) {
    if (entry->problem[0] != '\0')
        return kf_fail(error, KF_BAD_INPUT, "%s: %s", entry->benchmark->name, entry->problem);
    double step_us = 0.0;
    (void)cJSON_AddStringToObject(json, "benchmark", entry->benchmark->name);
    (void)cJSON_AddItemToObject(json, "device", kf_device_to_json(&entry->device));
    KF_TRY(record_nights(request, program, entry, json, &step_us, error));
    (void)cJSON_AddNumberToObject(json, "step_us", step_us);
    return request->percent_count > 0 ? record_planted(request, program, entry, step_us, json, error) : KF_OK;
}

kf_status kf_record_nights(const kf_record_request *request, cJSON **json, kf_error *error) {
    char archive[KF_PATH];
    kf_program program;
    *json = NULL;
    KF_TRY(kf_path(archive, error, "%s.programs", kf_store_path(request->store)));
    KF_TRY(kf_program_keep(NULL, NULL, archive, &program, error));
    cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "recordings");
    kf_status status = KF_OK;
    kf_entry *entry = kf_allocate(sizeof *entry);
    for (int i = 0; i < request->suite->count && status == KF_OK; i++) {
        cJSON *recording = cJSON_CreateObject();
        kf_entry_open(entry, &request->suite->benchmarks[i], request->store);
        status = record_benchmark(request, &program, entry, recording, error);
        kf_entry_close(entry);
        if (status == KF_OK)
            (void)cJSON_AddItemToArray(list, recording);
        else
            cJSON_Delete(recording);
    }
    free(entry);
    if (status == KF_OK)
        *json = root;
    else
        cJSON_Delete(root);
    return status;
}

/* --- Rates
 * ---------------------------------------------------------------------------------------------------- */

static double found_share(const kf_time_source *source, int trials) {
    int found = 0;
    for (int i = 0; i < trials; i++)
        found += kf_simulate_change(source, 20, &kf_standard_rules) == KF_FINDING_SLOWER;
    return (double)found / trials;
}

static cJSON *add_rate(cJSON *list, double percent, bool planted, double share) {
    cJSON *item = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(item, "percent", percent);
    (void)cJSON_AddBoolToObject(item, "planted", planted);
    (void)cJSON_AddNumberToObject(item, "found_same_night", share);
    (void)cJSON_AddItemToArray(list, item);
    return item;
}

static cJSON *rate_one(const kf_recording *recording, int nights, int trials, FILE *table) {
    kf_resampler resampler = {.recording = recording, .planted = -1, .seed = 1};
    kf_time_source source = kf_resampled_source(&resampler);
    kf_alarms alarms = kf_simulate_nights(&source, 20, nights, &kf_standard_rules);
    cJSON *json = cJSON_CreateObject(), *list;
    (void)cJSON_AddStringToObject(json, "benchmark", recording->benchmark);
    (void)cJSON_AddItemToObject(json, "device",
                                kf_device_remembered_to_json(recording->device, recording->backend));
    (void)cJSON_AddNumberToObject(json, "recorded_nights", recording->nights);
    (void)cJSON_AddNumberToObject(json, "resampled_nights", nights);
    (void)cJSON_AddNumberToObject(json, "compared_again", alarms.candidates);
    (void)cJSON_AddNumberToObject(json, "false_slow", alarms.slower);
    (void)cJSON_AddNumberToObject(json, "false_fast", alarms.faster);
    if (table != NULL)
        (void)fprintf(table,
                      "%s on %s, step %.6g us, %d nights recorded\n  %d unchanged nights (resampled): %d "
                      "compared again, %d "
                      "falsely SLOW, %d falsely FAST\n",
                      recording->benchmark, recording->device, recording->step_us, recording->nights, nights,
                      alarms.candidates, alarms.slower, alarms.faster);
    list = cJSON_AddArrayToObject(json, "changes");
    for (int i = 0; i < recording->planted_count; i++) {
        resampler.planted = i;
        double share = found_share(&source, trials), percent = recording->planted[i].percent;
        (void)add_rate(list, percent, true, share);
        if (table != NULL)
            (void)fprintf(table, "  planted, %+.2f %%: found the same night in %.1f %% of %d trials\n",
                          percent, 100.0 * share, trials);
    }
    static const double shifts[] = {1, 2, 3, 5};
    resampler.planted = -1;
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        resampler.change = log1p(0.01 * shifts[i]);
        double share = found_share(&source, trials);
        (void)add_rate(list, shifts[i], false, share);
        if (table != NULL)
            (void)fprintf(table, "  computed, %+.2f %%: found the same night in %.1f %% of %d trials\n",
                          shifts[i], 100.0 * share, trials);
    }
    return json;
}

cJSON *kf_rates(const kf_recording *recordings, int count, int nights, int trials, FILE *table) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "kftune", KF_VERSION);
    (void)cJSON_AddStringToObject(json, "command", "rates");
    cJSON *list = cJSON_AddArrayToObject(json, "recordings");
    for (int i = 0; i < count; i++)
        (void)cJSON_AddItemToArray(list, rate_one(&recordings[i], nights, trials, table));
    return json;
}
