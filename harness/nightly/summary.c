/* Reports the results of a night for people and for programs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "harness/nightly/night.h"

static const char *shown_time(double microseconds, char buffer[32]) {
    return isfinite(microseconds) ? kf_human_time_us(microseconds, buffer) : "-";
}

/* Returns the difference between tonight's time and the time with which it was compared; NAN: the verdict is
 * not about times. */
static double change_us(const kf_verdict *verdict) {
    return kf_verdict_of_instructions(verdict) ? (double)NAN
                                               : verdict->time_us * verdict->change / (1.0 + verdict->change);
}

/* Writes the change first in units, then in percent: "+37.7 ms (+231 %)". */
enum { CHANGE_TEXT = 80 };
static const char *shown_change(const kf_verdict *verdict, char buffer[CHANGE_TEXT]) {
    char time[32];
    double us = change_us(verdict), percent = 100.0 * verdict->change;
    if (isnan(percent)) return "-";
    if (isfinite(us) && us != 0.0)
        (void)snprintf(buffer, CHANGE_TEXT, "%c%s (%+.3g %%)", us < 0.0 ? '-' : '+',
                       kf_human_time_us(fabs(us), time), percent);
    else
        (void)snprintf(buffer, CHANGE_TEXT, "%+.3g %%%s", percent,
                       kf_verdict_of_instructions(verdict) ? " instructions" : "");
    return buffer;
}

/* Appends "stream_collide +3.1 us a step; registers a thread 64 -> 96", or nothing. */
static void append_blame(const kf_verdict *verdict, kf_text *text) {
    if (verdict->kernel[0] == '\0') return; /* The reason contains changes of instructions. */
    kf_text_append(text, "kernel %s %+.3g us a step", verdict->kernel, verdict->kernel_change_us);
    if (verdict->counter[0] != '\0')
        kf_text_append(text, "; %s %.6g -> %.6g", verdict->counter, verdict->counter_before,
                       verdict->counter_after);
}

static void append_counts(const kf_nightly_result *result, kf_text *text) {
    int counts[KF_VERDICTS] = {0}, shown = 0;
    for (int i = 0; i < result->count; i++)
        counts[result->verdicts[i].state]++;
    for (int i = 0; i < KF_VERDICTS; i++)
        if (counts[i] > 0)
            kf_text_append(text, "%s%d %s", shown++ > 0 ? ", " : "", counts[i], kf_verdict_names[i]);
}

/* Appends a line about benchmarks that only the preceding night had; `name` appends one. */
static void append_absent(const kf_nightly_result *result, void (*name)(kf_text *text, const char *content),
                          kf_text *text) {
    if (result->absent_count == 0) return;
    kf_text_append(text, "Not measured tonight, but in night %lld: ", (long long)result->before);
    for (int i = 0; i < result->absent_count; i++) {
        if (i > 0) kf_text_append(text, ", ");
        name(text, result->absent[i]);
    }
    kf_text_append(text, ". A benchmark that is renamed is compared with nothing until it has a history.\n");
}

static void append_name(kf_text *text, const char *name) {
    kf_text_append(text, "%s", name);
}

/* Prints the verdicts of a night as a table, each followed by its kernel and counter. */
void kf_nightly_print(const kf_nightly_result *result, FILE *stream) {
    kf_text counts = {0};
    append_counts(result, &counts);
    (void)fprintf(stream, "night %lld of %s%s%s: %s\n\n", (long long)result->night.id, result->night.suite,
                  result->night.label[0] != '\0' ? ", " : "", result->night.label,
                  counts.text != NULL ? counts.text : "");
    kf_text_free(&counts);
    (void)fprintf(stream, "%-9s  %-32s  %10s  %20s  %s\n", "verdict", "benchmark", "time", "change", "why");
    for (int i = 0; i < result->count; i++) {
        const kf_verdict *verdict = &result->verdicts[i];
        char time[32], change[CHANGE_TEXT];
        (void)fprintf(stream, "%-9s  %-32s  %10s  %20s  %s\n", kf_verdict_names[verdict->state],
                      verdict->benchmark, shown_time(verdict->time_us, time), shown_change(verdict, change),
                      verdict->reason);
        kf_text blame = {0};
        append_blame(verdict, &blame);
        if (blame.text != NULL) (void)fprintf(stream, "%-9s  %s\n", "", blame.text);
        kf_text_free(&blame);
    }
    kf_text absent = {0};
    append_absent(result, append_name, &absent);
    if (absent.text != NULL) (void)fprintf(stream, "\n%s", absent.text);
    kf_text_free(&absent);
}

/* Appends the text of a table's cell without characters that could end the cell or act as markup. */
static void append_cell(kf_text *text, const char *content) {
    for (; *content != '\0'; content++) {
        if (strchr("\\`*_{}[]<>#|!&~", *content) != NULL) kf_text_append(text, "\\");
        kf_text_append(text, "%c", (unsigned char)*content < ' ' ? ' ' : *content);
    }
}

/* Writes the verdicts of a night as Markdown. Those that make the night fail are bold. */
void kf_nightly_markdown(const kf_nightly_result *result, kf_text *text) {
    kf_text_append(text, "# Night %lld of ", (long long)result->night.id);
    append_cell(text, result->night.suite);
    kf_text_append(text, "\n\n");
    append_counts(result, text);
    kf_text_append(text, ". Program %.12s", result->night.program);
    if (result->night.label[0] != '\0') {
        kf_text_append(text, " (");
        append_cell(text, result->night.label);
        kf_text_append(text, ")");
    }
    kf_text_append(
        text,
        ", begun %s.\n\n| verdict | benchmark | time | change | why |\n| --- | --- | ---: | ---: | --- |\n",
        result->night.started);
    for (int i = 0; i < result->count; i++) {
        const kf_verdict *verdict = &result->verdicts[i];
        char time[32], change[CHANGE_TEXT];
        kf_text_append(text, "| %s%s%s | ", kf_verdict_fails(verdict->state) ? "**" : "",
                       kf_verdict_names[verdict->state], kf_verdict_fails(verdict->state) ? "**" : "");
        append_cell(text, verdict->benchmark);
        kf_text_append(text, " | %s | %s | ", shown_time(verdict->time_us, time),
                       shown_change(verdict, change));
        append_cell(text, verdict->reason);
        kf_text blame = {0};
        append_blame(verdict, &blame);
        if (blame.text != NULL) {
            kf_text_append(text, "; ");
            append_cell(text, blame.text);
        }
        kf_text_free(&blame);
        kf_text_append(text, " |\n");
    }
    if (result->absent_count > 0) kf_text_append(text, "\n");
    append_absent(result, append_cell, text);
    kf_text_append(text,
                   "\nSLOW, DRIFT and WRONG fail the night. A change of time is that of an interleaved run "
                   "of tonight's program and an earlier one, in fresh processes; one of "
                   "instructions is that of their counts.\n");
}

/* Makes the JSON of one verdict. A change is a ratio minus one. Unknown members are null or left out. */
static cJSON *verdict_to_json(const kf_verdict *verdict) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "benchmark", verdict->benchmark);
    (void)cJSON_AddStringToObject(json, "verdict", kf_verdict_names[verdict->state]);
    (void)cJSON_AddStringToObject(json, "reason", verdict->reason);
    (void)cJSON_AddStringToObject(json, "program", verdict->program);
    kf_json_add_number(json, "time_us", verdict->time_us);
    kf_json_add_number(json, "threshold", verdict->threshold);
    (void)cJSON_AddBoolToObject(json, "identical", verdict->identical);
    kf_json_add_number(json, "reference_night",
                       verdict->reference > 0 ? (double)verdict->reference : (double)NAN);
    kf_json_add_number(json, "change", verdict->change);
    kf_json_add_number(json, "change_us", change_us(verdict));
    cJSON *interval = cJSON_AddArrayToObject(json, "change_ci");
    if (isfinite(verdict->change)) {
        (void)cJSON_AddItemToArray(interval, cJSON_CreateNumber(verdict->change_low));
        (void)cJSON_AddItemToArray(interval, cJSON_CreateNumber(verdict->change_high));
    }
    kf_json_add_number(json, "p", verdict->probability);
    if (verdict->kernel[0] != '\0') {
        (void)cJSON_AddStringToObject(json, "kernel", verdict->kernel);
        kf_json_add_number(json, "kernel_change_us", verdict->kernel_change_us);
    }
    if (verdict->counter[0] != '\0') {
        (void)cJSON_AddStringToObject(json, "counter", verdict->counter);
        kf_json_add_number(json, "counter_before", verdict->counter_before);
        kf_json_add_number(json, "counter_after", verdict->counter_after);
    }
    return json;
}

/* Makes the JSON of a night with all its verdicts. The caller owns it. */
cJSON *kf_nightly_to_json(const kf_nightly_result *result, const char *store) {
    cJSON *json = kf_json_answer("nightly");
    (void)cJSON_AddStringToObject(json, "suite", result->night.suite);
    (void)cJSON_AddStringToObject(json, "store", store);
    (void)cJSON_AddNumberToObject(json, "night", (double)result->night.id);
    (void)cJSON_AddStringToObject(json, "uuid", result->night.uuid);
    (void)cJSON_AddStringToObject(json, "program", result->night.program);
    (void)cJSON_AddStringToObject(json, "label", result->night.label);
    (void)cJSON_AddStringToObject(json, "started", result->night.started);
    (void)cJSON_AddBoolToObject(json, "resumed", result->resumed);
    (void)cJSON_AddNumberToObject(json, "processes", result->processes);
    (void)cJSON_AddNumberToObject(json, "failures", kf_nightly_failures(result));
    cJSON *list = cJSON_AddArrayToObject(json, "verdicts");
    for (int i = 0; i < result->count; i++)
        (void)cJSON_AddItemToArray(list, verdict_to_json(&result->verdicts[i]));
    cJSON *absent = cJSON_AddArrayToObject(json, "absent");
    for (int i = 0; i < result->absent_count; i++)
        (void)cJSON_AddItemToArray(absent, cJSON_CreateString(result->absent[i]));
    return json;
}
