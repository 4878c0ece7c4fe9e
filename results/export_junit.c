/* Exports JUnit XML, which every CI server reads. Each benchmark of a night is a test case. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util/clean.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "results/nightly.h"
#include "results/store_internal.h"

/* Writes text as XML. Markup is escaped. A character that XML 1.0 cannot represent, or that a terminal obeys,
 * becomes '?'. */
static void write_escaped(FILE *stream, const char *text) {
    char *clean = kf_duplicate(text);
    kf_clean_text(clean);
    for (const char *c = clean; *c != '\0'; c++) {
        if (*c == '&')
            (void)fputs("&amp;", stream);
        else if (*c == '<')
            (void)fputs("&lt;", stream);
        else if (*c == '>')
            (void)fputs("&gt;", stream);
        else if (*c == '"')
            (void)fputs("&quot;", stream);
        else if (*c == '\n' || *c == '\t')
            (void)fprintf(stream, "&#%d;", *c);
        else
            (void)fputc(*c, stream);
    }
    free(clean);
}

static void write_attribute(FILE *stream, const char *name, const char *value) {
    (void)fprintf(stream, " %s=\"", name);
    write_escaped(stream, value);
    (void)fputc('"', stream);
}

typedef enum kf_case_kind { CASE_PASSED, CASE_FAILURE, CASE_ERROR, CASE_SKIPPED, CASE_KINDS } kf_case_kind;
static const char *const elements[CASE_KINDS] = {NULL, "failure", "error", "skipped"};

static kf_case_kind kind_of(kf_verdict_state state) {
    switch (state) {
    case KF_SLOW:
    case KF_DRIFT:
        return CASE_FAILURE;
    case KF_WRONG:
        return CASE_ERROR;
    case KF_AMBIGUOUS:
    case KF_NODATA:
        return CASE_SKIPPED;
    default:
        return CASE_PASSED;
    }
}

typedef struct junit {
    const kf_night *night;
    FILE *cases;
    int count, kinds[CASE_KINDS];
    double seconds;
} junit;

/* Writes the change that a verdict found: time, change with interval, kernel, counter. */
static void write_change(FILE *stream, const kf_verdict *verdict) {
    if (!isnan(verdict->time_us)) (void)fprintf(stream, "time %.6g us\n", verdict->time_us);
    if (verdict->program[0] != '\0') (void)fprintf(stream, "program %s\n", verdict->program);
    if (!isnan(verdict->change))
        (void)fprintf(stream, "change%s %+.2f %% (%+.2f to %+.2f), p %.2g\n",
                      kf_verdict_of_instructions(verdict) ? " of instructions" : "", 100 * verdict->change,
                      100 * verdict->change_low, 100 * verdict->change_high, verdict->probability);
    if (verdict->kernel[0] != '\0') {
        (void)fputs("kernel ", stream);
        write_escaped(stream, verdict->kernel);
        (void)fprintf(stream, ": %+.3f us a step\n", verdict->kernel_change_us);
    }
    if (verdict->counter[0] != '\0') {
        (void)fputs("counter ", stream);
        write_escaped(stream, verdict->counter);
        (void)fprintf(stream, ": %g, before %g\n", verdict->counter_after, verdict->counter_before);
    }
}

/* Adds a test case for a verdict. */
static kf_status add_case(void *context, const kf_verdict *verdict, kf_error *error) {
    (void)error;
    junit *out = context;
    kf_case_kind kind = kind_of(verdict->state);
    out->count++;
    out->kinds[kind]++;
    out->seconds += verdict->seconds;
    (void)fputs("    <testcase", out->cases);
    char name[KF_BENCHMARK + 8];
    (void)snprintf(name, sizeof name, "kftune.%s", out->night->suite);
    write_attribute(out->cases, "classname", name);
    write_attribute(out->cases, "name", verdict->benchmark);
    (void)fprintf(out->cases, " time=\"%.3f\">\n", verdict->seconds);
    if (elements[kind] != NULL) {
        (void)fprintf(out->cases, "      <%s", elements[kind]);
        char message[sizeof verdict->reason + 16];
        (void)snprintf(message, sizeof message, "%s: %s", kf_verdict_names[verdict->state], verdict->reason);
        write_attribute(out->cases, "message", message);
        if (kind != CASE_SKIPPED) write_attribute(out->cases, "type", kf_verdict_names[verdict->state]);
        (void)fputs("/>\n", out->cases);
    }
    (void)fprintf(out->cases, "      <system-out>%s: ", kf_verdict_names[verdict->state]);
    write_escaped(out->cases, verdict->reason);
    (void)fputc('\n', out->cases);
    write_change(out->cases, verdict);
    (void)fputs("</system-out>\n    </testcase>\n", out->cases);
    return KF_OK;
}

static void write_counts(FILE *stream, const junit *out) {
    (void)fprintf(stream, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.3f\"",
                  out->count, out->kinds[CASE_FAILURE], out->kinds[CASE_ERROR], out->kinds[CASE_SKIPPED],
                  out->seconds);
}

static void write_properties(FILE *stream, const kf_night *night) {
    const char *const properties[][2] = {{"kftune.night", night->uuid},
                                         {"kftune.program", night->program},
                                         {"kftune.label", night->label},
                                         {"kftune.suite_hash", night->suite_hash}};
    (void)fputs("    <properties>\n", stream);
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        (void)fputs("      <property", stream);
        write_attribute(stream, "name", properties[i][0]);
        write_attribute(stream, "value", properties[i][1]);
        (void)fputs("/>\n", stream);
    }
    (void)fputs("    </properties>\n", stream);
}

/* Exports a night as JUnit's XML: a test case for each benchmark. */
kf_status kf_store_export_junit(kf_store *store, int64_t night_id, FILE *stream, kf_error *error) {
    kf_night night;
    KF_TRY(kf_store_night_of(store, night_id, &night, error));
    kf_text cases = {0};
    junit out = {.night = &night, .cases = kf_text_stream(&cases)};
    if (out.cases == NULL) return kf_fail(error, KF_MACHINE, "out of memory");
    kf_status status = kf_store_verdicts(store, night_id, add_case, &out, error);
    if (fclose(out.cases) != 0 && status == KF_OK) status = kf_fail(error, KF_MACHINE, "out of memory");
    if (status == KF_OK) {
        (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kftune nightly\"",
                    stream);
        write_counts(stream, &out);
        (void)fputs(">\n  <testsuite", stream);
        write_attribute(stream, "name", night.suite);
        write_counts(stream, &out);
        char started[32]; /* in UTC without a zone, as the format requires */
        kf_copy_text(started, 20, night.started);
        write_attribute(stream, "timestamp", started);
        (void)fputs(">\n", stream);
        write_properties(stream, &night);
        (void)fputs(cases.text != NULL ? cases.text : "", stream);
        (void)fputs("  </testsuite>\n</testsuites>\n", stream);
    }
    kf_text_free(&cases);
    return status;
}

/* --- Github-action-benchmark --------------------------------------------------------------------------- */

typedef struct github {
    const kf_night *night;
    cJSON *list;
    kf_store *store;
    double times[KF_NIGHT_PROCESSES];
    int count;
} github;

static kf_status collect_time(void *context, const kf_process *process, kf_error *error) {
    (void)error;
    github *out = context;
    bool counts = process->arm == KF_ARM_NIGHT && process->state == KF_STATE_OK;
    if (counts && out->count < KF_NIGHT_PROCESSES) out->times[out->count++] = process->time_us;
    return KF_OK;
}

/* Adds an entry for github-action-benchmark if the verdict has a time. */
static kf_status add_figure(void *context, const kf_verdict *verdict, kf_error *error) {
    github *out = context;
    if (isnan(verdict->time_us)) return KF_OK;
    out->count = 0;
    KF_TRY(kf_store_processes(out->store, out->night->id, verdict->benchmark, collect_time, out, error));
    const kf_summary summary = kf_summarise(out->times, (size_t)out->count);
    cJSON *entry = cJSON_CreateObject();
    kf_text text = {0};
    (void)cJSON_AddStringToObject(entry, "name", verdict->benchmark);
    (void)cJSON_AddStringToObject(entry, "unit", "us");
    (void)cJSON_AddNumberToObject(entry, "value", verdict->time_us);
    kf_text_append(&text, "± %.4g", out->count > 0 ? (summary.high - summary.low) / 2 : 0.0);
    (void)cJSON_AddStringToObject(entry, "range", text.text);
    kf_text_free(&text);
    kf_text_append(&text, "%s: %s\nnight=%lld %s\ncommit=%s", kf_verdict_names[verdict->state],
                   verdict->reason, (long long)out->night->id, out->night->uuid, out->night->label);
    (void)cJSON_AddStringToObject(entry, "extra", text.text);
    kf_text_free(&text);
    (void)cJSON_AddItemToArray(out->list, entry);
    return KF_OK;
}

kf_status kf_store_export_github_night(kf_store *store, int64_t night_id, FILE *stream, kf_error *error) {
    kf_night night;
    KF_TRY(kf_store_night_of(store, night_id, &night, error));
    github out = {.night = &night, .list = cJSON_CreateArray(), .store = store};
    kf_status status = kf_store_verdicts(store, night_id, add_figure, &out, error);
    if (status == KF_OK) status = kf_export_json(out.list, stream, error);
    cJSON_Delete(out.list);
    return status;
}
