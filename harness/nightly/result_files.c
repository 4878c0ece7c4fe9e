#include "harness/nightly/result_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/hash.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/nightly/printed.h"

/* --- Collecting ------------------------------------------------------------------------------------------
 */

typedef struct collecting {
    const char *path;
    kf_result_file *file;
    kf_error *error;
} collecting;

static kf_named_times *times_of(kf_result_file *file, const char *name) {
    char own[KF_BENCHMARK];
    kf_copy_name(own, sizeof own, name);
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->list[i].name, own) == 0) return &file->list[i];
    file->list = kf_grow(file->list, file->count, &file->room, sizeof *file->list);
    kf_named_times *times = &file->list[file->count++];
    *times = (kf_named_times){.us = NULL};
    kf_copy_text(times->name, sizeof times->name, own);
    return times;
}

static kf_status add_time(const collecting *c, const char *name, double us) {
    if (!(us > 0.0) || !isfinite(us))
        return kf_fail(c->error, KF_BAD_INPUT, "%s: %.80s: a time must be a number above 0", c->path, name);
    kf_named_times *times = times_of(c->file, name);
    times->us = kf_grow(times->us, times->count, &times->room, sizeof *times->us);
    times->us[times->count++] = us;
    return KF_OK;
}

/* Adds the number at a path of item. Its unit is unit_us unless a unit stands beside it. */
static kf_status add_at(const collecting *c, const char *name, const cJSON *item, const char *path,
                        double unit_us) {
    kf_printed printed;
    if (!kf_printed_at(item, path, &printed))
        return kf_fail(c->error, KF_BAD_INPUT, "%s: %.80s: %s: %s", c->path, name, path, printed.why);
    return add_time(c, name, printed.number * (printed.unit_us > 0.0 ? printed.unit_us : unit_us));
}

/* Adds all numbers of a list. */
static kf_status add_list(const collecting *c, const char *name, const cJSON *list, const char *path,
                          double unit_us) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        if (path[0] != '\0')
            KF_TRY(add_at(c, name, item, path, unit_us));
        else
            KF_TRY(add_time(c, name, cJSON_IsNumber(item) ? item->valuedouble * unit_us : (double)NAN));
    }
    return KF_OK;
}

static const char *text_of(const cJSON *object, const char *key) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text != NULL ? text : "";
}

static const cJSON *list_of(const cJSON *object, const char *key) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsArray(list) ? list : NULL;
}

/* --- The formats -----------------------------------------------------------------------------------------
 */

/* Reads repetitions, or the medians if the file has only aggregates. */
static kf_status read_google(const collecting *c, const cJSON *list) {
    const cJSON *item;
    for (int aggregates = 0; aggregates < 2 && c->file->count == 0; aggregates++)
        cJSON_ArrayForEach(item, list) {
            const char *run = text_of(item, "run_name"), *name = run[0] != '\0' ? run : text_of(item, "name");
            const bool aggregate = strcmp(text_of(item, "run_type"), "aggregate") == 0,
                       median = strcmp(text_of(item, "aggregate_name"), "median") == 0;
            if (aggregates == 0 ? !aggregate : aggregate && median)
                KF_TRY(add_at(c, name, item, "real_time", 1e-3));
        }
    return KF_OK;
}

static kf_status read_pytest(const collecting *c, const cJSON *list) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        const char *full = text_of(item, "fullname"), *name = full[0] != '\0' ? full : text_of(item, "name");
        const cJSON *data = list_of(cJSON_GetObjectItemCaseSensitive(item, "stats"), "data");
        if (data != NULL)
            KF_TRY(add_list(c, name, data, "", 1e6));
        else
            KF_TRY(add_at(c, name, item, "stats.median", 1e6));
    }
    return KF_OK;
}

static kf_status read_nvbench(const collecting *c, const cJSON *list) {
    const cJSON *benchmark, *state;
    cJSON_ArrayForEach(benchmark, list) cJSON_ArrayForEach(state, list_of(benchmark, "states")) {
        kf_text name = {0};
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(state, "is_skipped"))) continue;
        kf_text_append(&name, "%s %s", text_of(benchmark, "name"), text_of(state, "name"));
        const kf_status status =
            add_at(c, name.text, state, "summaries[tag=nv/cold/time/gpu/mean].data[name=value].value", 1e6);
        kf_text_free(&name);
        if (status != KF_OK) return status;
    }
    return KF_OK;
}

static kf_status read_hyperfine(const collecting *c, const cJSON *list) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        const char *given = text_of(item, "name"),
                   *name = given[0] != '\0' ? given : text_of(item, "command");
        const cJSON *times = list_of(item, "times"), *measurements = list_of(item, "measurements");
        if (times != NULL)
            KF_TRY(add_list(c, name, times, "", 1e6));
        else if (measurements != NULL)
            KF_TRY(add_list(c, name, measurements, "time_wall_clock.value", 1e6));
        else
            KF_TRY(add_at(c, name, item, "median", 1e6));
    }
    return KF_OK;
}

static kf_status read_list(const collecting *c, const cJSON *list) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        if (kf_unit_of_time(text_of(item, "unit")) <= 0.0)
            return kf_fail(c->error, KF_BAD_INPUT, "%s: %.80s: '%.40s' is no unit of time", c->path,
                           text_of(item, "name"), text_of(item, "unit"));
        KF_TRY(add_at(c, text_of(item, "name"), item, "value", 1.0));
    }
    return KF_OK;
}

static kf_status read_root(const collecting *c, const cJSON *root) {
    const cJSON *benchmarks = list_of(root, "benchmarks"), *results = list_of(root, "results"),
                *first = benchmarks != NULL ? benchmarks->child
                         : results != NULL  ? results->child
                                            : NULL;
    if (cJSON_IsArray(root)) return read_list(c, root);
    if (benchmarks != NULL && cJSON_HasObjectItem(first, "states")) return read_nvbench(c, benchmarks);
    if (benchmarks != NULL && cJSON_HasObjectItem(first, "stats")) return read_pytest(c, benchmarks);
    if (benchmarks != NULL && cJSON_HasObjectItem(first, "real_time")) return read_google(c, benchmarks);
    if (results != NULL && cJSON_HasObjectItem(first, "command")) return read_hyperfine(c, results);
    return kf_fail(c->error, KF_BAD_INPUT,
                   "%s: is no file of times: neither of Google Benchmark, nvbench, hyperfine or "
                   "pytest-benchmark, nor a list of {\"name\", \"value\", \"unit\"}",
                   c->path);
}

kf_status kf_result_file_read(const char *path, kf_result_file *file, kf_error *error) {
    cJSON *root = NULL;
    *file = (kf_result_file){.list = NULL};
    KF_TRY(kf_json_read_file(path, &root, error));
    const collecting c = {.path = path, .file = file, .error = error};
    kf_status status = read_root(&c, root);
    if (status == KF_OK && file->count == 0) status = kf_fail(error, KF_BAD_INPUT, "%s: holds no time", path);
    cJSON_Delete(root);
    if (status != KF_OK) kf_result_file_free(file);
    return status;
}

void kf_result_file_free(kf_result_file *file) {
    for (size_t i = 0; i < file->count; i++)
        free(file->list[i].us);
    free(file->list);
    *file = (kf_result_file){.list = NULL};
}

/* --- Comparing -------------------------------------------------------------------------------------------
 */

static const kf_named_times *find(const kf_result_file *file, const char *name) {
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->list[i].name, name) == 0) return &file->list[i];
    return NULL;
}

static double *logs_of(const kf_named_times *times) {
    double *logs = kf_allocate(times->count * sizeof *logs);
    for (size_t i = 0; i < times->count; i++)
        logs[i] = log(times->us[i]);
    return logs;
}

/* Compares the times of one benchmark in two files by their logarithms, so that changes are ratios. A
 * benchmark in only one of the files has no data. */
static kf_file_comparison hold(const kf_named_times *before, const kf_named_times *after) {
    kf_file_comparison held = {.name = before != NULL ? before->name : after->name,
                               .old_us = before != NULL ? kf_median(before->us, before->count) : (double)NAN,
                               .new_us = after != NULL ? kf_median(after->us, after->count) : (double)NAN,
                               .comparison = {(double)NAN, (double)NAN, (double)NAN, 1.0},
                               .state = KF_NODATA};
    held.old_count = before != NULL ? before->count : 0;
    held.new_count = after != NULL ? after->count : 0;
    if (before == NULL || after == NULL) return held;
    double *old_logs = logs_of(before), *new_logs = logs_of(after);
    held.comparison = kf_compare(old_logs, before->count, new_logs, after->count);
    held.state = KF_AMBIGUOUS;
    free(old_logs);
    free(new_logs);
    return held;
}

/* Judges a comparison: a change is confirmed, a change as large as the threshold is excluded, or the result
 * is ambiguous. */
static kf_verdict_state judge(const kf_file_comparison *held, double threshold, bool accepted) {
    const kf_comparison *c = &held->comparison;
    const bool enough = held->old_count >= KF_LEAST_PROCESSES && held->new_count >= KF_LEAST_PROCESSES;
    const kf_finding finding = kf_confirm(c, threshold, &kf_standard_rules);
    if (held->state == KF_NODATA) return KF_NODATA;
    if (enough && accepted && finding != KF_FINDING_NONE)
        return finding == KF_FINDING_SLOWER ? KF_SLOW : KF_FAST;
    return enough && c->low > -threshold && c->high < threshold ? KF_SAME : KF_AMBIGUOUS;
}

void kf_hold_results(const kf_result_file *before, const kf_result_file *after, double threshold,
                     kf_file_comparison **held, int *count) {
    const size_t most = before->count + after->count;
    kf_file_comparison *list = kf_allocate_zeroed(most, sizeof *list);
    double *probabilities = kf_allocate(most * sizeof *probabilities);
    bool *accepted = kf_allocate_zeroed(most, sizeof *accepted);
    *count = 0;
    for (size_t i = 0; i < before->count; i++)
        list[(*count)++] = hold(&before->list[i], find(after, before->list[i].name));
    for (size_t i = 0; i < after->count; i++)
        if (find(before, after->list[i].name) == NULL) list[(*count)++] = hold(NULL, &after->list[i]);
    for (int i = 0; i < *count; i++)
        probabilities[i] = list[i].comparison.probability;
    kf_false_discovery(probabilities, *count, kf_standard_rules.false_discovery_rate, accepted);
    for (int i = 0; i < *count; i++)
        list[i].state = judge(&list[i], threshold, accepted[i]);
    free(probabilities);
    free(accepted);
    *held = list;
}
