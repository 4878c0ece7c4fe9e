/* Reports the results of a tuning run, as text and as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/device_json.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/tune/explain.h"
#include "harness/tune/report.h"
#include "harness/tune/tune.h"

enum { SHOWN_TIES = 5 };

/* --- Text ----------------------------------------------------------------------------------------------- */

char *kf_tune_config_text(const kf_tune_result *result, const kf_config *config) {
    const int base = result->presets[KF_PRESET_DEFAULT];
    return kf_config_relative(config, base >= 0 ? &result->tried.items[base].config : NULL,
                              kf_preset_names[KF_PRESET_DEFAULT]);
}

/* Prints the best config with its time, rate, energy, clock and verification. */
static void print_best(const kf_system *system, const kf_tune_result *result, FILE *stream) {
    const kf_evaluation *best = &result->tried.items[result->best];
    const kf_measurement *m = result->best_measurement;
    const kf_verification *verification = &best->measurement.verification;
    char time[32], low[32], high[32], rate[KF_RATE_TEXT];
    char *summary = kf_tune_config_text(result, &best->config);
    (void)fprintf(stream, "%-*s%s\n", KF_REPORT_LABEL, "best", summary);
    (void)fprintf(stream, "%-*s%s a step [%s, %s], %s, %.1f GB/s\n", KF_REPORT_LABEL, "",
                  kf_human_time_us(m->step_us.median, time), kf_human_time_us(m->step_us.low, low),
                  kf_human_time_us(m->step_us.high, high),
                  kf_rate_text(system->update, 1e6 * m->updates_per_us, rate), 1e-9 * m->effective_bandwidth);
    if (m->energy_j > 0.0)
        (void)fprintf(stream, "%-*s%.4g J a step, %.0f W\n", KF_REPORT_LABEL, "", m->energy_j,
                      1e6 * m->energy_j / m->step_us.median);
    if (m->clock_state != KF_CLOCK_UNKNOWN)
        (void)fprintf(stream, "%-*sat %.0f MHz%s\n", KF_REPORT_LABEL, "", m->clock_mhz,
                      m->clock_state == KF_CLOCK_STEADY ? "" : ", which was not steady");
    (void)fprintf(stream, "%-*sverified: deviates from the reference by %.2g (accepted: %.2g)\n",
                  KF_REPORT_LABEL, "", verification->error, verification->bound);
    if (verification->repeated && verification->spread > 0.0)
        (void)fprintf(stream, "%-*snondeterministic: two launches from equal inputs differ by %.2g\n",
                      KF_REPORT_LABEL, "", verification->spread);
    kf_report_user_values(m, stream);
    free(summary);
}

/* Returns whether a config ties with the best. */
static bool is_tied(const kf_tune_result *result, int tried) {
    for (int i = 0; i < result->tie_count; i++)
        if (result->ties[i] == tried) return true;
    return false;
}

/* Prints the gain over each preset, or that it is within the noise, or how the preset failed. Presets with
 * the same config are printed once. */
static void print_gain(const kf_tune_request *request, const kf_tune_result *result, FILE *stream) {
    static const kf_preset_kind order[] = {KF_PRESET_BASELINE, KF_PRESET_PAPER, KF_PRESET_DEFAULT};
    const char *separator = "";
    (void)fprintf(stream, "%-*s", KF_REPORT_LABEL, "gain");
    for (int i = 0; i < KF_PRESETS; i++) {
        const char *name = kf_preset_names[order[i]];
        int tried = result->presets[order[i]];
        /* Presets may be the same config. For a user's kernel all are. */
        if (i + 1 < KF_PRESETS && tried >= 0 && tried == result->presets[KF_PRESET_DEFAULT]) continue;
        if (tried < 0 && kf_tune_leaves_out(request, &result->device, order[i])) continue;
        if (tried >= 0 && is_tied(result, tried))
            (void)fprintf(stream, "%sas fast as %s, within the noise", separator, name);
        else if (isfinite(result->gain[order[i]]))
            (void)fprintf(stream, "%s%.2fx over %s", separator, result->gain[order[i]], name);
        else
            (void)fprintf(stream, "%s%s: %s", separator, name,
                          tried >= 0 ? kf_state_names[result->tried.items[tried].measurement.state]
                                     : "not measured");
        separator = ", ";
    }
    if (!kf_objective_is_time(&result->objective)) {
        char objective[KF_OBJECTIVE_TEXT];
        (void)fprintf(stream, " (in %s)", kf_objective_text(&result->objective, objective));
    }
    (void)fprintf(stream, "\n");
}

/* Writes the launches in a step: "1", "2", "1/16". */
static const char *launches_text(double launches, char text[16]) {
    const double every = 1.0 / launches;
    if (launches < 1.0 && fabs(every - nearbyint(every)) < 1e-9)
        (void)snprintf(text, 16, "1/%.0f", every);
    else
        (void)snprintf(text, 16, "%.3g", launches);
    return text;
}

static bool has_parts(const kf_measurement *m) {
    for (int i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].fastest_us > 0.0) return true;
    return false;
}

/* Prints one kernel of the best config as a row of the table. */
static void print_kernel(const kf_kernel_time *kernel, double total, bool parts, bool gpu, FILE *stream) {
    char time[32], fastest[32] = "-", launches[16], bandwidth[32] = "-";
    if (kernel->bytes > 0.0)
        (void)snprintf(bandwidth, sizeof bandwidth, "%.1f", 1e-3 * kernel->bytes / kernel->time_us.median);
    (void)fprintf(stream, "%-24s %6.1f %% %11s", kernel->name, 100.0 * kf_kernel_step_us(kernel) / total,
                  kf_human_time_us(kernel->time_us.median, time));
    if (kernel->fastest_us > 0.0) (void)kf_human_time_us(kernel->fastest_us, fastest);
    if (parts) (void)fprintf(stream, " %11s", fastest);
    (void)fprintf(stream, " %7s %9s", launches_text(kernel->launches_per_step, launches), bandwidth);
    if (gpu) (void)fprintf(stream, " %9d", kernel->registers);
    if (gpu && isfinite(kernel->theoretical_occupancy))
        (void)fprintf(stream, " %7.0f %%", 100.0 * kernel->theoretical_occupancy);
    else if (gpu)
        (void)fprintf(stream, " %9s", "-");
    (void)fprintf(stream, "\n");
}

/* Prints the kernels. For a team the times are those of the slowest part, beside those of the fastest. Rates
 * are those of all parts together. */
static void print_kernels(const kf_tune_result *result, FILE *stream) {
    const kf_measurement *m = result->best_measurement;
    const bool gpu = kf_device_is_gpu(&result->device), parts = has_parts(m);
    double total = 0.0;
    for (int i = 0; i < m->kernel_count; i++)
        total += kf_kernel_step_us(&m->kernels[i]);
    if (m->kernel_count == 0 || !(total > 0.0)) return;
    (void)fprintf(stream, "\n%-24s %8s %11s", "kernel", "share", parts ? "slowest" : "time");
    if (parts) (void)fprintf(stream, " %11s", "fastest");
    (void)fprintf(stream, " %7s %9s", "a step", "GB/s");
    (void)fprintf(stream, gpu ? " %9s %9s\n" : "\n", "registers", "occupancy");
    for (int i = 0; i < m->kernel_count; i++)
        print_kernel(&m->kernels[i], total, parts, gpu, stream);
    char time[32];
    (void)fprintf(stream, "%-24s %6.1f %% %11s\n\n", "all, launch by launch", 100.0,
                  kf_human_time_us(total, time));
}

static void print_states(const kf_tune_result *result, FILE *stream) {
    (void)fprintf(stream, "%-*s%d of %.0f configs:", KF_REPORT_LABEL, "tried", result->tried.count,
                  (double)result->space_size);
    bool first = true;
    for (int state = 0; state < KF_STATES; state++) {
        if (result->states[state] == 0) continue;
        (void)fprintf(stream, "%s %d %s", first ? "" : ",", result->states[state], kf_state_names[state]);
        first = false;
    }
    (void)fprintf(stream, "\n");
    if (result->resumed > 0)
        (void)fprintf(stream, "%-*s%d of them before the run was resumed\n", KF_REPORT_LABEL, "",
                      result->resumed);
}

static void print_ties(const kf_tune_result *result, FILE *stream) {
    if (isfinite(result->noise_floor))
        (void)fprintf(stream, "%-*sthe same config differs by %.2f %% from process to process\n",
                      KF_REPORT_LABEL, "noise", 100.0 * result->noise_floor);
    if (result->tie_count == 0) return;
    (void)fprintf(stream, "%-*s%d config%s cannot be told apart from the best:\n", KF_REPORT_LABEL, "ties",
                  result->tie_count, result->tie_count == 1 ? "" : "s");
    for (int i = 0; i < result->tie_count && i < SHOWN_TIES; i++) {
        char *summary = kf_tune_config_text(result, &result->tried.items[result->ties[i]].config);
        (void)fprintf(stream, "%-*s%s\n", KF_REPORT_LABEL, "", summary);
        free(summary);
    }
}

void kf_tune_print(const kf_tune_request *request, const kf_tune_result *result, const char *out,
                   FILE *stream) {
    const kf_problem *problem = request->problem;
    char facts[KF_FACTS_TEXT];
    (void)fprintf(stream, "%-*s%s, %s\n", KF_REPORT_LABEL, "scene", problem->name,
                  kf_facts_text(&problem->facts, facts));
    (void)fprintf(stream, "%-*s%s (%s)\n", KF_REPORT_LABEL, "device", result->device.spec,
                  result->device.name);
    if (result->best >= 0) {
        print_best(problem->system, result, stream);
        print_gain(request, result, stream);
        print_kernels(result, stream);
        kf_report_counters(result->best_measurement, stream);
    }
    print_states(result, stream);
    if (result->best >= 0) print_ties(result, stream);
    kf_report_front(result, stream);
    kf_tune_explain(request, result, stream);
    (void)fprintf(stream, "%-*s%s, run %s\n", KF_REPORT_LABEL, "store", kf_store_path(request->store),
                  result->run.uuid);
    const bool runs = problem->system->runs;
    if (out != NULL && runs)
        (void)fprintf(stream, "%-*s%s (kftune run --config %s)\n", KF_REPORT_LABEL, "config", out, out);
    if (out != NULL && !runs) {
        char *defines = kf_config_defines(&result->tried.items[result->best].config);
        (void)fprintf(stream, "%-*s%s\n%-*s%s\n", KF_REPORT_LABEL, "config", out, KF_REPORT_LABEL, "compile",
                      defines);
        free(defines);
    }
}

/* --- JSON ----------------------------------------------------------------------------------------------- */

cJSON *kf_report_config_json(const kf_system *system, const kf_evaluation *evaluation,
                             const kf_measurement *m) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddItemToObject(json, "config", kf_config_to_json(&evaluation->config));
    (void)cJSON_AddStringToObject(json, "hash", evaluation->hash);
    (void)cJSON_AddNumberToObject(json, "time_us", m->step_us.median);
    cJSON *interval = cJSON_AddArrayToObject(json, "ci_us");
    (void)cJSON_AddItemToArray(interval, cJSON_CreateNumber(m->step_us.low));
    (void)cJSON_AddItemToArray(interval, cJSON_CreateNumber(m->step_us.high));
    kf_rate_add(json, system->update, 1e6 * m->updates_per_us);
    (void)cJSON_AddItemToObject(json, "energy_j",
                                kf_json_number_or_null(m->energy_j > 0.0 ? m->energy_j : (double)NAN));
    (void)cJSON_AddItemToObject(json, "clock_mhz",
                                kf_json_number_or_null(m->clock_mhz > 0.0 ? m->clock_mhz : (double)NAN));
    (void)cJSON_AddItemToObject(json, "verification_error",
                                kf_json_number_or_null(evaluation->measurement.verification.error));
    kf_json_add_number(json, "spread",
                       evaluation->measurement.verification.repeated
                           ? evaluation->measurement.verification.spread
                           : (double)NAN);
    (void)cJSON_AddItemToObject(json, "metrics", kf_user_values_to_json(m->user_values, m->user_value_count));
    return json;
}

/* Returns the number of configs with counters. */
static int counted(const kf_tune_result *result) {
    int count = 0;
    for (int i = 0; i < result->finals.count; i++)
        count += result->finals.items[i].measurement.counter_count > 0;
    for (int i = 0; i < result->tried.count; i++)
        count += result->tried.items[i].measurement.counter_count > 0;
    return count;
}

/* Adds the timeline, in seconds since the run began, and what was compiled. A resumed run lacks some moments.
 */
static void add_timeline(cJSON *json, const kf_tune_result *result) {
    const kf_tune_timeline *t = &result->timeline;
    const kf_evaluations *tried = &result->tried;
    const bool fresh = result->resumed == 0;
    const struct {
        const char *name;
        double seconds;
    } moments[] = {{"scene", t->scene},
                   {"device", t->device},
                   {"compiler", t->compiler},
                   {"reference", t->reference},
                   {"worker", t->worker},
                   {"first", fresh && tried->count > 0 ? tried->items[0].moment : 0.0},
                   {"presets", t->presets},
                   {"best", fresh && result->best >= 0 ? tried->items[result->best].moment : 0.0},
                   {"search", t->search}};
    cJSON *timeline = cJSON_AddObjectToObject(json, "timeline");
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
        (void)cJSON_AddItemToObject(
            timeline, moments[i].name,
            kf_json_number_or_null(moments[i].seconds > 0.0 ? moments[i].seconds : (double)NAN));
    cJSON *builds = cJSON_AddObjectToObject(json, "builds");
    (void)cJSON_AddNumberToObject(builds, "compilers", t->compilers);
    (void)cJSON_AddNumberToObject(builds, "sources", t->sources);
    (void)cJSON_AddNumberToObject(builds, "seconds", t->compiling);
}

/* Makes the JSON of a tuning run: best config, gains, states, times, ties and alternatives. The caller owns
 * it. */
cJSON *kf_tune_to_json(const kf_tune_request *request, const kf_tune_result *result, const char *out) {
    cJSON *json = kf_json_answer("tune");
    (void)cJSON_AddItemToObject(json, "device", kf_device_to_json(&result->device));
    (void)cJSON_AddStringToObject(json, "scene", request->problem->name);
    if (result->best >= 0)
        (void)cJSON_AddItemToObject(json, "best",
                                    kf_report_config_json(request->problem->system,
                                                          &result->tried.items[result->best],
                                                          result->best_measurement));
    else
        (void)cJSON_AddNullToObject(json, "best");
    if (result->best >= 0)
        (void)cJSON_AddItemToObject(cJSON_GetObjectItemCaseSensitive(json, "best"), "counters",
                                    kf_report_counters_json(result->best_measurement));
    char objective[KF_OBJECTIVE_TEXT];
    (void)cJSON_AddStringToObject(json, "objective", kf_objective_text(&result->objective, objective));
    (void)cJSON_AddItemToObject(json, "metrics", kf_user_metrics_to_json(request->metrics));
    (void)cJSON_AddItemToObject(json, "front", kf_report_front_json(request->problem->system, result));
    cJSON *gain = cJSON_AddObjectToObject(json, "gain");
    static const kf_preset_kind order[] = {KF_PRESET_BASELINE, KF_PRESET_PAPER, KF_PRESET_DEFAULT};
    for (int i = 0; i < KF_PRESETS; i++)
        (void)cJSON_AddItemToObject(
            gain, kf_preset_names[order[i]],
            kf_json_number_or_null(result->best >= 0 ? result->gain[order[i]] : (double)NAN));
    (void)cJSON_AddNumberToObject(json, "evaluations", result->tried.count);
    (void)cJSON_AddNumberToObject(json, "counted", counted(result));
    cJSON *states = cJSON_AddObjectToObject(json, "states");
    for (int state = 0; state < KF_STATES; state++)
        (void)cJSON_AddNumberToObject(states, kf_state_names[state], result->states[state]);
    cJSON *seconds = cJSON_AddObjectToObject(json, "seconds");
    double verifying = 0.0, measuring = 0.0;
    for (int i = 0; i < result->tried.count; i++) {
        verifying += result->tried.items[i].measurement.verify_seconds;
        measuring += result->tried.items[i].measurement.measure_seconds;
    }
    (void)cJSON_AddNumberToObject(seconds, "total", result->seconds);
    (void)cJSON_AddNumberToObject(seconds, "verifying", verifying);
    (void)cJSON_AddNumberToObject(seconds, "measuring", measuring);
    (void)cJSON_AddNumberToObject(seconds, "opening", result->timeline.opening);
    add_timeline(json, result);
    (void)cJSON_AddItemToObject(json, "noise_floor", kf_json_number_or_null(result->noise_floor));
    cJSON *ties = cJSON_AddArrayToObject(json, "ties");
    for (int i = 0; result->best >= 0 && i < result->tie_count; i++) {
        const kf_evaluation *tie = &result->tried.items[result->ties[i]];
        (void)cJSON_AddItemToArray(ties,
                                   kf_report_config_json(request->problem->system, tie, &tie->measurement));
    }
    cJSON *alternatives = cJSON_AddArrayToObject(json, "alternatives");
    for (int i = 0; i < result->alternative_count; i++) {
        const kf_alternative *a = &result->alternatives[i];
        kf_config one = {.count = 0};
        kf_config_set(&one, &a->value);
        cJSON *entry = kf_config_to_json(&one);
        cJSON *value = cJSON_DetachItemFromObjectCaseSensitive(entry, "parameters");
        cJSON_Delete(entry);
        entry = cJSON_CreateObject();
        (void)cJSON_AddItemToObject(entry, "with", value);
        (void)cJSON_AddNumberToObject(entry, "gain", a->gain);
        (void)cJSON_AddNumberToObject(entry, "error", a->error);
        (void)cJSON_AddItemToArray(alternatives, entry);
    }
    if (out != NULL)
        (void)cJSON_AddStringToObject(json, "out", out);
    else
        (void)cJSON_AddNullToObject(json, "out");
    return json;
}
