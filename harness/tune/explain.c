#include "harness/tune/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/text.h"
#include "harness/tune/report.h"

/* Returns whether config equals best except for one parameter, which has the default's value. */
static bool takes_back(const kf_config *config, const kf_config *best, const kf_difference *difference) {
    if (config->count != best->count || difference->base == NULL) return false;
    for (int v = 0; v < best->count; v++) {
        const kf_value *value = kf_config_find(config, best->values[v].parameter),
                       *wanted = &best->values[v] == difference->best ? difference->base : &best->values[v];
        if (value == NULL || !kf_same_value(value, wanted)) return false;
    }
    return true;
}

/* Returns the time of a config. For a config that was skipped as too slow it is the time of its first
 * samples. */
static double time_of(const kf_measurement *m) {
    if (m->state == KF_STATE_OK) return m->step_us.median;
    return m->state == KF_STATE_SKIPPED && m->sample_count > 0 ? kf_median(m->samples_us, m->sample_count)
                                                               : (double)NAN;
}

static int by_gain(const void *left, const void *right) {
    const kf_difference *a = left, *b = right;
    if (isnan(a->gain) || isnan(b->gain)) return isnan(a->gain) - isnan(b->gain);
    return a->gain > b->gain ? -1 : a->gain < b->gain;
}

/* Lists the differences between the best config and the default, and the gain of each one that was measured
 * alone. The most important one comes first. */
int kf_tune_differences(const kf_tune_result *result, kf_difference *differences, int room) {
    const int base = result->presets[KF_PRESET_DEFAULT];
    int count = 0;
    if (result->best < 0 || base < 0) return 0;
    const kf_evaluation *best = &result->tried.items[result->best];
    for (int v = 0; v < best->config.count && count < room; v++) {
        const kf_value *mine = &best->config.values[v],
                       *theirs = kf_config_find(&result->tried.items[base].config, mine->parameter);
        if (theirs != NULL && kf_same_value(mine, theirs)) continue;
        differences[count] = (kf_difference){.best = mine, .base = theirs, .gain = (double)NAN};
        for (int i = 0; i < result->tried.count; i++) {
            const kf_evaluation *other = &result->tried.items[i];
            const double time = time_of(&other->measurement);
            if (!isfinite(time) || !takes_back(&other->config, &best->config, &differences[count])) continue;
            differences[count].gain = time / best->measurement.step_us.median - 1.0;
            differences[count].noise = other->measurement.state == KF_STATE_OK &&
                                       other->measurement.step_us.low <= best->measurement.step_us.high;
        }
        count++;
    }
    qsort(differences, (size_t)count, sizeof *differences, by_gain);
    return count;
}

static void append_value(kf_text *text, const kf_value *value) {
    if (value->kind == KF_VALUE_NAME)
        kf_text_append(text, "%s", value->name);
    else if (value->kind == KF_VALUE_BOOLEAN)
        kf_text_append(text, "%s", value->integer ? "true" : "false");
    else
        kf_text_append(text, "%ld", value->integer);
}

/* Prints each difference between the best config and the default, with the cost of undoing it. */
static void print_differences(const kf_tune_result *result, FILE *stream) {
    kf_difference differences[KF_CONFIG_VALUES];
    const int count = kf_tune_differences(result, differences, KF_CONFIG_VALUES);
    for (int d = 0; d < count; d++) {
        kf_text line = {0};
        kf_text_append(&line, "%s=", differences[d].best->parameter);
        append_value(&line, differences[d].best);
        if (differences[d].base != NULL) {
            kf_text_append(&line, " instead of ");
            append_value(&line, differences[d].base);
        }
        if (differences[d].noise)
            kf_text_append(&line, ": without it a step takes as long, within the noise");
        else if (isfinite(differences[d].gain))
            kf_text_append(&line, ": without it a step takes %.1f %% %s", 100.0 * fabs(differences[d].gain),
                           differences[d].gain >= 0.0 ? "longer" : "less, within the noise");
        else
            kf_text_append(&line, ": not measured alone");
        (void)fprintf(stream, "%-*s%s\n", KF_REPORT_LABEL, d == 0 ? "why" : "", line.text);
        kf_text_free(&line);
    }
}

/* Prints the limit of a step by the bytes that it must move, and the launch that takes longest. */
static void print_limit(const kf_tune_result *result, const char *label, const char *name,
                        const kf_measurement *m, FILE *stream) {
    static const double BOUND_BY_MEMORY = 0.6;
    const int parts = result->device.parts > 1 ? result->device.parts : 1;
    const double peak = parts * result->device.peak_bandwidth;
    double total = 0.0;
    int longest = -1;
    char bytes[32];
    for (int i = 0; i < m->kernel_count; i++) {
        const double time = kf_kernel_step_us(&m->kernels[i]);
        total += time;
        if (longest < 0 || time > kf_kernel_step_us(&m->kernels[longest])) longest = i;
    }
    (void)fprintf(stream, "%-*s%s moves %s a step at %.1f GB/s", KF_REPORT_LABEL, label, name,
                  kf_human_bytes(m->effective_bandwidth * m->step_us.median * 1e-6, bytes),
                  1e-9 * m->effective_bandwidth);
    if (peak > 0.0) {
        const double share = m->effective_bandwidth / peak;
        (void)fprintf(stream, ", %.0f %% of the memory's peak%s: %s", 100.0 * share,
                      parts > 1 ? " of all parts" : "",
                      share >= BOUND_BY_MEMORY ? "memory limits it"
                                               : "launches, waiting or arithmetic limit it, not memory");
    }
    if (longest >= 0 && total > 0.0)
        (void)fprintf(stream, "; %.0f %% of it in %s",
                      100.0 * kf_kernel_step_us(&m->kernels[longest]) / total, m->kernels[longest].name);
    (void)fprintf(stream, "\n");
}

static void print_limits(const kf_tune_result *result, FILE *stream) {
    const int usual = result->presets[KF_PRESET_DEFAULT];
    const kf_measurement *measured = kf_tune_measurement(result, usual);
    if (result->best < 0 || measured == NULL) return;
    const bool same = result->best == usual;
    print_limit(result, "limit", same ? "the best" : "the default", measured, stream);
    if (!same) print_limit(result, "", "the best", kf_tune_measurement(result, result->best), stream);
}

/* Returns a round percentage slightly above the error that the gate found. */
static double allowing(double found) {
    static const double steps[] = {0.005, 0.01, 0.02, 0.05, 0.1}, ROOM = 1.3;
    size_t s = 0;
    while (s + 1 < sizeof steps / sizeof *steps && steps[s] < ROOM * found)
        s++;
    return steps[s];
}

/* Returns the speed-up of half as many nodes along each axis: fewer nodes and half as many steps. */
static double coarser_gain(const kf_problem *problem) {
    int size[3];
    double gain = 2.0;
    if (problem == NULL || !kf_facts_get_size(&problem->facts, size)) return 0.0;
    /* The time step is proportional to the cell. */
    if (!(kf_facts_value(&problem->facts, "cell_size") > 0.0 &&
          kf_facts_value(&problem->facts, "time_step") > 0.0))
        return 0.0;
    for (int a = 0; a < 3; a++)
        gain *= size[a] > 1 ? 2.0 : 1.0;
    return gain;
}

/* Prints the gain and the error of a looser accuracy and of a coarser grid. */
static void print_alternatives(const kf_tune_request *request, const kf_tune_result *result, FILE *stream) {
    const char *label = "more";
    for (int i = 0; i < result->alternative_count; i++, label = "") {
        const kf_alternative *a = &result->alternatives[i];
        kf_text line = {0};
        kf_text_append(&line, "%s=", a->value.parameter);
        append_value(&line, &a->value);
        (void)fprintf(stream, "%-*s%s: %.2fx at an error of %.2g %%", KF_REPORT_LABEL, label, line.text,
                      a->gain, 100.0 * a->error);
        if (a->gain > 1.0)
            (void)fprintf(stream, ": allow it with --accuracy %g%%", 100.0 * allowing(a->error));
        (void)fprintf(stream, "\n");
        kf_text_free(&line);
    }
    const double coarser = coarser_gain(request->problem);
    if (coarser > 0.0)
        (void)fprintf(stream,
                      "%-*shalf the grid: about %.0f times as fast to the same moment, with a coarser grid's "
                      "error (docs/accuracy.md)\n",
                      KF_REPORT_LABEL, label, coarser);
}

/* Prints the time beside the budget, and the presets that were left out to save time. */
static void print_time(const kf_tune_request *request, const kf_tune_result *result, FILE *stream) {
    const kf_tune_timeline *t = &result->timeline;
    (void)fprintf(stream, "%-*s%.1f s", KF_REPORT_LABEL, "took", result->seconds);
    if (request->budget.seconds > 0.0) (void)fprintf(stream, " of a budget of %g s", request->budget.seconds);
    (void)fprintf(stream, "; compilers worked %.1f s at the same time\n", t->compiling);
    for (int i = 0; i < KF_PRESETS; i++)
        if (request->budget.seconds > 0.0 && result->presets[i] < 0 &&
            !kf_tune_leaves_out(request, &result->device, (kf_preset_kind)i))
            (void)fprintf(stream, "%-*sthe preset %s was dropped: the budget ended before it was measured\n",
                          KF_REPORT_LABEL, "", kf_preset_names[i]);
    if (kf_tune_leaves_out(request, &result->device, KF_PRESET_PAPER))
        (void)fprintf(stream,
                      "%-*sthe presets baseline and paper were not measured, to leave time for the search; "
                      "--presets all "
                      "measures them\n",
                      KF_REPORT_LABEL, "");
    if (result->resumed == 0 && result->searched == 0 && result->tried.count < (int)result->space_size)
        (void)fprintf(
            stream,
            "%-*sno search took place: the presets used the whole budget; a longer --budget searches\n",
            KF_REPORT_LABEL, "");
}

static void print_meanings(const kf_tune_result *result, FILE *stream) {
    static const struct {
        kf_state state;
        const char *meaning;
    } meanings[] = {{KF_STATE_SKIPPED, "skipped: clearly slower than the best so far, not timed to the end"},
                    {KF_STATE_WRONG_RESULT, "wrong_result: too far from the reference; never chosen"}};
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (result->states[meanings[i].state] > 0)
            (void)fprintf(stream, "%-*s%s\n", KF_REPORT_LABEL, "", meanings[i].meaning);
}

void kf_tune_explain(const kf_tune_request *request, const kf_tune_result *result, FILE *stream) {
    print_differences(result, stream);
    print_limits(result, stream);
    print_alternatives(request, result, stream);
    print_time(request, result, stream);
    print_meanings(result, stream);
}
