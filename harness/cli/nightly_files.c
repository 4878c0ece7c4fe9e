#include "harness/cli/nightly_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/nightly/result_files.h"
#include "harness/nightly/series.h"

static const char *shown(double us, char buffer[32]) {
    return isfinite(us) ? kf_human_time_us(us, buffer) : "-";
}

/* Writes the reason for a verdict. */
static void explain(const kf_file_comparison *held, char *text, size_t size) {
    const kf_comparison *c = &held->comparison;
    const size_t least = held->old_count < held->new_count ? held->old_count : held->new_count;
    if (held->state == KF_NODATA)
        (void)snprintf(text, size, "only in the %s file", held->old_count > 0 ? "old" : "new");
    else if (least < KF_LEAST_PROCESSES)
        (void)snprintf(text, size, "%zu and %zu samples; %d of each are needed", held->old_count,
                       held->new_count, KF_LEAST_PROCESSES);
    else
        (void)snprintf(text, size, "%+.2f to %+.2f %%, p %.2g%s", 100.0 * expm1(c->low),
                       100.0 * expm1(c->high), c->probability,
                       held->state == KF_AMBIGUOUS ? ": no change is shown, and none is excluded" : "");
}

static void print_table(const kf_file_comparison *held, int count) {
    printf("%-9s  %-40s  %10s  %10s  %9s  %s\n", "verdict", "benchmark", "old", "new", "change", "why");
    for (int i = 0; i < count; i++) {
        char before[32], after[32], change[24] = "-", why[160];
        const double shift = held[i].comparison.shift;
        if (isfinite(shift)) (void)snprintf(change, sizeof change, "%+.2f %%", 100.0 * expm1(shift));
        explain(&held[i], why, sizeof why);
        printf("%-9s  %-40s  %10s  %10s  %9s  %s\n", kf_verdict_names[held[i].state], held[i].name,
               shown(held[i].old_us, before), shown(held[i].new_us, after), change, why);
    }
}

/* Prints the comparison of every benchmark as one JSON object. Changes are stored as logarithms of ratios
 * and printed as relative changes. */
static void print_json(const kf_file_comparison *held, int count) {
    cJSON *json = kf_json_answer("nightly compare"), *list = cJSON_AddArrayToObject(json, "benchmarks");
    for (int i = 0; i < count; i++) {
        cJSON *item = cJSON_CreateObject();
        const kf_comparison *c = &held[i].comparison;
        (void)cJSON_AddItemToArray(list, item);
        (void)cJSON_AddStringToObject(item, "benchmark", held[i].name);
        (void)cJSON_AddStringToObject(item, "verdict", kf_verdict_names[held[i].state]);
        kf_json_add_number(item, "old_us", held[i].old_us);
        kf_json_add_number(item, "new_us", held[i].new_us);
        (void)cJSON_AddNumberToObject(item, "old_samples", (double)held[i].old_count);
        (void)cJSON_AddNumberToObject(item, "new_samples", (double)held[i].new_count);
        kf_json_add_number(item, "change", expm1(c->shift));
        kf_json_add_number(item, "change_low", expm1(c->low));
        kf_json_add_number(item, "change_high", expm1(c->high));
        kf_json_add_number(item, "probability", c->probability);
    }
    kf_json_print(json);
}

/* Compares two files of times by benchmarks. --change gives the bound in percent. */
kf_status kf_nightly_compare_files(const kf_arguments *arguments, kf_error *error) {
    double percent = 100.0 * expm1(kf_standard_rules.least_change);
    kf_result_file before, after;
    kf_file_comparison *held = NULL;
    int count = 0, slower = 0;
    if (arguments->positional_count != 3)
        return kf_fail(error, KF_BAD_INPUT,
                       "nightly compare: give two files of times, the old and the new one");
    KF_TRY(kf_argument_only(arguments, "nightly compare OLD NEW", "--change", error));
    KF_TRY(kf_argument_number(arguments, "--change", &percent, error));
    KF_TRY(kf_result_file_read(arguments->positional[1], &before, error));
    kf_status status = kf_result_file_read(arguments->positional[2], &after, error);
    if (status == KF_OK) {
        kf_hold_results(&before, &after, log1p(0.01 * percent), &held, &count);
        if (kf_arguments_json(arguments))
            print_json(held, count);
        else
            print_table(held, count);
        for (int i = 0; i < count; i++)
            slower += held[i].state == KF_SLOW;
        if (slower > 0)
            status = kf_fail(error, KF_GATE_FAILED, "%d of %d benchmarks became slower", slower, count);
        free(held);
        kf_result_file_free(&after);
    }
    kf_result_file_free(&before);
    return status;
}

/* --- Series ----------------------------------------------------------------------------------------------
 */

static double percent_of(double change) {
    return 100.0 * expm1(change);
}

static void print_series(const kf_series_verdict *list, int count) {
    printf("%-9s  %-32s  %-16s  %6s  %-16s  %10s  %9s  %s\n", "verdict", "benchmark", "machine", "nights",
           "newest", "value", "change", "why");
    for (int i = 0; i < count; i++) {
        const kf_series_verdict *v = &list[i];
        char change[24] = "-", value[32];
        if (v->microseconds)
            (void)kf_human_time_us(v->new_value, value);
        else
            (void)snprintf(value, sizeof value, "%.6g", v->new_value);
        if (isfinite(v->comparison.shift))
            (void)snprintf(change, sizeof change, "%+.2f %%", percent_of(v->comparison.shift));
        printf("%-9s  %-32s  %-16s  %6d  %-16.16s  %10s  %9s  %s\n", kf_verdict_names[v->state],
               v->benchmark[0] != '\0' ? v->benchmark : "-", v->machine[0] != '\0' ? v->machine : "-",
               v->nights, v->newest, value, change, v->reason);
    }
}

/* Prints the verdicts of all series as one JSON object. Changes are logarithms of ratios and are printed
 * as relative changes. */
static void print_series_json(const kf_series_verdict *list, int count) {
    cJSON *json = kf_json_answer("nightly import"), *series = cJSON_AddArrayToObject(json, "series");
    for (int i = 0; i < count; i++) {
        const kf_series_verdict *v = &list[i];
        cJSON *item = cJSON_CreateObject();
        (void)cJSON_AddItemToArray(series, item);
        (void)cJSON_AddStringToObject(item, "benchmark", v->benchmark);
        (void)cJSON_AddStringToObject(item, "machine", v->machine);
        (void)cJSON_AddStringToObject(item, "verdict", kf_verdict_names[v->state]);
        (void)cJSON_AddStringToObject(item, "reason", v->reason);
        (void)cJSON_AddStringToObject(item, "newest", v->newest);
        (void)cJSON_AddStringToObject(item, "since", v->since);
        (void)cJSON_AddNumberToObject(item, "nights", v->nights);
        (void)cJSON_AddStringToObject(item, "unit", v->microseconds ? "us" : "");
        kf_json_add_number(item, "old_value", v->old_value);
        kf_json_add_number(item, "new_value", v->new_value);
        (void)cJSON_AddNumberToObject(item, "old_samples", (double)v->old_count);
        (void)cJSON_AddNumberToObject(item, "new_samples", (double)v->new_count);
        kf_json_add_number(item, "threshold", expm1(v->threshold));
        kf_json_add_number(item, "change", expm1(v->comparison.shift));
        kf_json_add_number(item, "change_low", expm1(v->comparison.low));
        kf_json_add_number(item, "change_high", expm1(v->comparison.high));
        kf_json_add_number(item, "probability", v->comparison.probability);
    }
    kf_json_print(json);
}

/* Imports series that other programs measured, and judges the newest night of each. KF_GATE_FAILED if one
 * became slower. */
kf_status kf_nightly_import(const kf_arguments *arguments, kf_error *error) {
    kf_series_rows rows = {.list = NULL};
    kf_series_verdict *list = NULL;
    int count = 0, failures = 0;
    if (arguments->positional_count < 2)
        return kf_fail(error, KF_BAD_INPUT,
                       "nightly import: give a CSV of a series, or a file of times a night");
    kf_status status = KF_OK;
    for (int i = 1; i < arguments->positional_count && status == KF_OK; i++)
        status = kf_series_read(arguments->positional[i], i, &rows, error);
    if (status == KF_OK)
        status = kf_series_judge(&rows, kf_argument(arguments, "--pin", NULL), &list, &count, error);
    if (status == KF_OK) {
        if (kf_arguments_json(arguments))
            print_series_json(list, count);
        else
            print_series(list, count);
        for (int i = 0; i < count; i++)
            failures += kf_verdict_fails(list[i].state);
        if (failures > 0)
            status = kf_fail(error, KF_GATE_FAILED, "%d of %d series became slower", failures, count);
    }
    free(list);
    kf_series_free(&rows);
    return status;
}
