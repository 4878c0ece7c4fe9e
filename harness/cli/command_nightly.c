/* The command kftune nightly runs a suite every night. It also lists, shows, pins and compares nights. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/cli/nightly_files.h"
#include "harness/nightly/commit.h"
#include "harness/nightly/compare.h"
#include "harness/nightly/job.h"
#include "harness/nightly/night.h"

extern const kf_command kf_command_nightly;

/* --- Shared ------------------------------------------------------------------------------------------------
 */

static kf_status read_suite(const kf_arguments *arguments, kf_suite *suite, kf_error *error) {
    const char *file = kf_argument(arguments, "--suite", NULL);
    if (file == NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "nightly: option '--suite FILE|NAME' is missing; 'quick' is a shipped one");
    return kf_suite_read(file, kf_argument(arguments, "--device", NULL), suite, error);
}

static kf_status open_store(const kf_arguments *arguments, bool read_only, kf_store **store,
                            kf_error *error) {
    return kf_store_open(kf_argument(arguments, "--store", NULL), read_only, store, error);
}

/* --- A night
 * ------------------------------------------------------------------------------------------------- */

static kf_status write_files(const kf_arguments *arguments, kf_store *store, const kf_nightly_result *result,
                             kf_error *error) {
    const char *junit = kf_argument(arguments, "--junit", NULL),
               *github = kf_argument(arguments, "--github", NULL),
               *report = kf_argument(arguments, "--report", NULL);
    const int64_t night = result->night.id;
    if (junit != NULL) KF_TRY(kf_store_export_file(store, night, kf_store_export_junit, junit, error));
    if (github != NULL)
        KF_TRY(kf_store_export_file(store, night, kf_store_export_github_night, github, error));
    if (report == NULL) return KF_OK;
    kf_text text = {0};
    kf_nightly_markdown(result, &text);
    kf_status status = kf_file_write_atomic(report, text.text, text.length, error);
    kf_text_free(&text);
    return status;
}

static kf_status conclude(const kf_arguments *arguments, kf_store *store, const kf_nightly_result *result,
                          kf_error *error) {
    if (kf_arguments_json(arguments))
        kf_json_print(kf_nightly_to_json(result, kf_store_path(store)));
    else
        kf_nightly_print(result, stdout);
    KF_TRY(write_files(arguments, store, result, error));
    int failures = kf_nightly_failures(result);
    if (failures == 0 &&
        result->problems == result->count) /* A night without any result must not look like a good one. */
        return kf_fail(error, result->problem.status, "nothing could be measured: %s",
                       result->problem.message);
    if (failures == 0) return KF_OK;
    return kf_fail(error, KF_GATE_FAILED, "%d of %d benchmarks failed in this night", failures,
                   result->count);
}

/* Runs a night: measures the suite's benchmarks, stores the results, and prints the verdicts. Without --label
 * the night's label is the commit of the suite's folder. */
static kf_status run_night(const kf_arguments *arguments, kf_error *error) {
    kf_suite suite;
    kf_store *store = NULL;
    const char *label = kf_argument(arguments, "--label", "");
    if (strlen(label) >= KF_LABEL)
        return kf_fail(error, KF_BAD_INPUT, "option '--label': at most %d characters", KF_LABEL - 1);
    KF_TRY(read_suite(arguments, &suite, error));
    kf_status status = open_store(arguments, false, &store, error);
    if (status == KF_OK) {
        char commit[KF_LABEL];
        if (label[0] == '\0') kf_commit_of(suite.folder, commit);
        const kf_nightly_request request = {
            .suite = &suite, .store = store, .label = label[0] != '\0' ? label : commit};
        kf_nightly_result result;
        status = kf_nightly(&request, &result, error);
        if (status == KF_OK) status = conclude(arguments, store, &result, error);
        kf_nightly_result_free(&result);
        kf_store_close(store);
    }
    kf_suite_free(&suite);
    return status;
}

/* --- List, show, pin
 * ------------------------------------------------------------------------------------------- */

typedef struct listing {
    kf_store *store;
    cJSON *json; /* NULL: print */
    int count, verdicts[KF_VERDICTS];
} listing;

static kf_status count_verdict(void *context, const kf_verdict *verdict, kf_error *error) {
    (void)error;
    listing *list = context;
    list->verdicts[verdict->state]++;
    return KF_OK;
}

/* Visits a stored night and the counts of its verdicts: adds the night to the JSON list, or prints it as a
 * row. */
static kf_status collect_night(void *context, const kf_night *night, kf_error *error) {
    listing *list = context;
    memset(list->verdicts, 0, sizeof list->verdicts);
    KF_TRY(kf_store_verdicts(list->store, night->id, count_verdict, list, error));
    if (list->json == NULL && list->count++ == 0)
        printf("%5s  %-19s  %-11s  %-20s  %-12s  %-20s  %s\n", "night", "started (UTC)", "state", "suite",
               "program", "label", "verdicts");
    cJSON *object = cJSON_CreateObject();
    if (list->json != NULL) {
        (void)cJSON_AddItemToArray(list->json, object);
        (void)cJSON_AddNumberToObject(object, "night", (double)night->id);
        (void)cJSON_AddStringToObject(object, "uuid", night->uuid);
        (void)cJSON_AddStringToObject(object, "started", night->started);
        (void)cJSON_AddStringToObject(object, "state", night->state);
        (void)cJSON_AddStringToObject(object, "suite", night->suite);
        (void)cJSON_AddStringToObject(object, "program", night->program);
        (void)cJSON_AddStringToObject(object, "label", night->label);
        cJSON *verdicts = cJSON_AddObjectToObject(object, "verdicts");
        for (int i = 0; i < KF_VERDICTS; i++)
            (void)cJSON_AddNumberToObject(verdicts, kf_verdict_names[i], list->verdicts[i]);
        return KF_OK;
    }
    cJSON_Delete(object);
    char started[24];
    kf_copy_text(started, 20, night->started);
    printf("%5" PRId64 "  %-19s  %-11s  %-20.20s  %-12.12s  %-20.20s ", night->id, started, night->state,
           night->suite, night->program, night->label);
    for (int i = 0; i < KF_VERDICTS; i++)
        if (list->verdicts[i] > 0) printf(" %d %s", list->verdicts[i], kf_verdict_names[i]);
    printf("\n");
    return KF_OK;
}

/* Lists all nights of a store, as a table or as JSON. */
static kf_status list_nights(const kf_arguments *arguments, kf_error *error) {
    listing list = {0};
    cJSON *json = NULL;
    KF_TRY(open_store(arguments, true, &list.store, error));
    if (kf_arguments_json(arguments)) {
        json = kf_json_answer("nightly list");
        list.json = cJSON_AddArrayToObject(json, "nights");
    }
    kf_status status = kf_store_nights(list.store, collect_night, &list, error);
    if (status == KF_OK && json != NULL)
        kf_json_print(json);
    else
        cJSON_Delete(json);
    if (status == KF_OK && json == NULL && list.count == 0)
        printf("%s has no night yet\n", kf_store_path(list.store));
    kf_store_close(list.store);
    return status;
}

static kf_status collect_verdict(void *context, const kf_verdict *verdict, kf_error *error) {
    (void)error;
    kf_nightly_result *result = context;
    result->verdicts =
        kf_reallocate(result->verdicts, (size_t)(result->count + 1) * sizeof *result->verdicts);
    result->verdicts[result->count++] = *verdict;
    return KF_OK;
}

/* Shows a stored night with its verdicts, and writes the wanted files. */
static kf_status show_night(const kf_arguments *arguments, kf_error *error) {
    kf_store *store = NULL;
    kf_nightly_result result = {0};
    KF_TRY(open_store(arguments, true, &store, error));
    kf_status status =
        kf_store_find_night(store, kf_argument(arguments, "--night", NULL), &result.night, error);
    if (status == KF_OK) status = kf_store_verdicts(store, result.night.id, collect_verdict, &result, error);
    if (status == KF_OK) status = kf_nightly_find_absent(store, &result, error);
    if (status == KF_OK) status = write_files(arguments, store, &result, error);
    if (status == KF_OK && kf_arguments_json(arguments))
        kf_json_print(kf_nightly_to_json(&result, kf_store_path(store)));
    else if (status == KF_OK)
        kf_nightly_print(&result, stdout);
    kf_nightly_result_free(&result);
    kf_store_close(store);
    return status;
}

/* Pins a night: later nights are compared with it, until another one is pinned. */
static kf_status pin_night(const kf_arguments *arguments, kf_error *error) {
    kf_store *store = NULL;
    kf_night night;
    int count = 0;
    KF_TRY(open_store(arguments, false, &store, error));
    kf_status status = kf_store_find_night(store, kf_argument(arguments, "--night", NULL), &night, error);
    if (status == KF_OK) status = kf_store_pin(store, night.id, &count, error);
    if (status == KF_OK && count == 0)
        status =
            kf_fail(error, KF_BAD_INPUT, "night %" PRId64 " measured nothing that could be pinned", night.id);
    if (status == KF_OK)
        printf("night %" PRId64 " is the release that %d %s held against\n", night.id, count,
               count == 1 ? "benchmark is" : "benchmarks are");
    kf_store_close(store);
    return status;
}

/* --- Measure
 * ------------------------------------------------------------------------------------------------------ */

static kf_status measure(const kf_arguments *arguments, kf_error *error) {
    const char *job = kf_argument(arguments, "--job", NULL);
    if (job == NULL) return kf_fail(error, KF_BAD_INPUT, "nightly measure: option '--job TEXT' is missing");
    return kf_nightly_measure(job, kf_argument_given(arguments, "--verify"),
                              kf_argument(arguments, "--counters", NULL), NULL, error);
}

/* --- Compare
 * ------------------------------------------------------------------------------------------------------- */

/* Prints the result of comparing two programs, as a line or as JSON. Changes are stored as logarithms of
 * ratios and shown as ratios. */
static void print_comparison(const kf_compare_request *request, const kf_compare_result *result, bool json) {
    static const char *const findings[] = {
        [KF_FINDING_NONE] = "same", [KF_FINDING_SLOWER] = "slower", [KF_FINDING_FASTER] = "faster"};
    const kf_comparison *c = &result->comparison;
    if (!json) {
        if (result->identical)
            printf("same: program and data files are those of %s, nothing to measure\n", request->reference);
        else
            printf("%s: %+.2f %% against %s (%+.2f to %+.2f), %d processes each, p %.2g\n",
                   findings[result->finding], 100.0 * expm1(c->shift), request->reference,
                   100.0 * expm1(c->low), 100.0 * expm1(c->high), result->processes, c->probability);
        return;
    }
    cJSON *object = kf_json_answer("nightly compare");
    (void)cJSON_AddStringToObject(object, "finding", findings[result->finding]);
    (void)cJSON_AddBoolToObject(object, "identical", result->identical);
    (void)cJSON_AddNumberToObject(object, "change", expm1(c->shift));
    (void)cJSON_AddNumberToObject(object, "change_low", expm1(c->low));
    (void)cJSON_AddNumberToObject(object, "change_high", expm1(c->high));
    (void)cJSON_AddNumberToObject(object, "probability", c->probability);
    (void)cJSON_AddNumberToObject(object, "processes", result->processes);
    kf_json_print(object);
}

/* Compares the program in a folder with a reference program on one benchmark. KF_GATE_FAILED if it is slower.
 * Two positional files are compared as files of times. */
static kf_status compare(const kf_arguments *arguments, kf_error *error) {
    kf_suite suite;
    if (arguments->positional_count > 1) return kf_nightly_compare_files(arguments, error);
    double percent = 100.0 * expm1(kf_standard_rules.least_change);
    kf_compare_request request = {.benchmark = kf_argument(arguments, "--benchmark", NULL),
                                  .reference = kf_argument(arguments, "--reference", NULL),
                                  .candidate = kf_argument(arguments, "--candidate", ".")};
    if (request.reference == NULL)
        return kf_fail(error, KF_BAD_INPUT, "nightly compare: option '--reference FOLDER' is missing");
    KF_TRY(kf_argument_number(arguments, "--change", &percent, error));
    request.threshold = log1p(0.01 * percent);
    KF_TRY(read_suite(arguments, &suite, error));
    request.suite = &suite;
    kf_status status = open_store(arguments, false, &request.store, error);
    if (status == KF_OK) {
        kf_compare_result result;
        status = kf_nightly_compare(&request, &result, error);
        if (status == KF_OK) print_comparison(&request, &result, kf_arguments_json(arguments));
        if (status == KF_OK && result.finding == KF_FINDING_SLOWER)
            status =
                kf_fail(error, KF_GATE_FAILED, "%s is slower than %s", request.candidate, request.reference);
        kf_store_close(request.store);
    }
    kf_suite_free(&suite);
    return status;
}

/* --- The command
 * ------------------------------------------------------------------------------------------------------ */

static const kf_action actions[] = {
    {"run", "--suite --store --junit --github --report --device --label", run_night},
    {"list", "--store", list_nights},
    {"show", "--store --night --junit --github --report", show_night},
    {"pin", "--store --night", pin_night},
    {"compare", "--suite --store --device --reference --candidate --benchmark --change", compare},
    {"import", "--pin", kf_nightly_import},
    {"measure", "--job --verify --counters", measure}};
enum { ACTIONS = sizeof actions / sizeof actions[0] };

static kf_status run(const kf_arguments *arguments, kf_error *error) {
    const char *name = arguments->positional_count > 0 ? arguments->positional[0] : "run";
    const kf_action *action = NULL;
    KF_TRY(kf_action_find("nightly", actions, ACTIONS, name, arguments, &action, error));
    if (arguments->positional_count > 1 && action->run != compare && action->run != kf_nightly_import)
        return kf_fail(error, KF_BAD_INPUT, "nightly %s: '%.80s' is an unexpected argument", name,
                       arguments->positional[1]);
    return action->run(arguments, error);
}

static const kf_option options[] = {
    {"--suite", "FILE|NAME", "the suite to measure: a file, or the name of a shipped one", KF_TEXT},
    {"--store", "FILE", "where the history is kept (default: kftune.db in $XDG_DATA_HOME/kftune)", KF_TEXT},
    {"--junit", "FILE", "write the verdicts as JUnit XML", KF_TEXT},
    {"--github", "FILE", "write the times for github-action-benchmark (customSmallerIsBetter)", KF_TEXT},
    {"--report", "FILE", "write the verdicts as Markdown", KF_TEXT},
    {"--device", "cuda:N|cpu", "use this device for all benchmarks, whatever the suite says", KF_TEXT},
    {"--label", "TEXT", "name of tonight's program (default: the commit, of the CI or of the suite's folder)",
     KF_TEXT},
    {"--night", "ID", "show, pin: number or beginning of the UUID (default: the newest)", KF_TEXT},
    {"--reference", "FOLDER", "compare: the good program, a built source tree or an unpacked bundle",
     KF_TEXT},
    {"--candidate", "FOLDER", "compare: the program in question (default: .)", KF_TEXT},
    {"--benchmark", "NAME", "compare: the benchmark of the suite to run", KF_TEXT},
    {"--change", "PERCENT", "compare: smallest change that counts, in percent (default: 1)",
     KF_DECIMAL(0.01, 1000)},
    {"--pin", "COMMIT", "import: also compare the newest values with those of this commit", KF_TEXT},
    {"--job", "TEXT", "measure: the job of this process", KF_TEXT},
    {"--verify", NULL, "measure: verify it first", KF_FLAG},
    {"--counters", "SET", "measure: count with this metric set instead of timing", KF_TEXT},
    {NULL, NULL, NULL, KF_FLAG},
};
static const char *const positional[] = {"run|list|show|pin|compare|import", "FILE...", NULL};

const kf_command kf_command_nightly = {
    .name = "nightly",
    .summary = "measure a suite and tell regressions from noise",
    .synopsis =
        "kftune nightly [run|compare] --suite FILE [options]\n       kftune nightly list|show|pin "
        "[options]\n       "
        "kftune nightly compare OLD.json NEW.json\n       kftune nightly import SERIES.csv | NIGHT.json...",
    .description =
        "For a timer or a CI job. Runs every benchmark in at least five fresh processes. A benchmark that\n"
        "seems changed is run in turns with the last good program in the same night. Exit status 1 only\n"
        "for SLOW, DRIFT or WRONG.\n"
        "list, show: print the nights and their verdicts.\n"
        "pin: makes a night the release with which later nights are compared.\n"
        "compare: runs two programs in turns on one benchmark, for git bisect. Status 1: the candidate is\n"
        "slower. Given two result files of Google Benchmark, nvbench, hyperfine or pytest-benchmark, it\n"
        "compares the benchmarks that both contain.\n"
        "import: judges series that another tool measured: a CSV file with the columns time and value\n"
        "(commit, machine and benchmark are optional), or one result file of these libraries for each\n"
        "night, oldest first. It runs and stores nothing. Status 1: a series became slower.\n"
        "measure: runs one process of a night, as a night starts it.",
    .example = "kftune nightly --suite quick --store nightly.db --report night.md",
    .options = options,
    .positional = positional,
    .run = run,
};
