/* Measures how well regressions are found on a machine. It records unchanged nights and processes with a
 * planted busy loop, and resamples the records. Other commands run as in kftune, with the loop in every
 * measured step if the data folder plants one (planted.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/nightly/job.h"
#include "tests/tools/planted.h"
#include "tests/tools/record.h"

enum { MOST_PERCENTS = KF_PLANTED };

static kf_status read_percents(const char *text, double percents[MOST_PERCENTS], int *count,
                               kf_error *error) {
    for (*count = 0; *text != '\0';) {
        char *end = NULL;
        double value = strtod(text, &end);
        if (end == text || !(value > 0.0 && value <= 1000.0) || *count == MOST_PERCENTS ||
            (*end != ',' && *end != '\0'))
            return kf_fail(error, KF_BAD_INPUT,
                           "option '--planted': give at most %d percentages, such as 1,2,3,5", MOST_PERCENTS);
        percents[(*count)++] = value;
        text = *end == ',' ? end + 1 : end;
    }
    return KF_OK;
}

static kf_status record(const kf_arguments *arguments, kf_error *error) {
    kf_suite suite;
    long nights = 20, processes = 20;
    double percents[MOST_PERCENTS];
    kf_record_request request = {.percents = percents};
    const char *out = kf_argument(arguments, "--out", NULL);
    KF_TRY(kf_argument_integer(arguments, "--nights", &nights, error));
    KF_TRY(kf_argument_integer(arguments, "--processes", &processes, error));
    KF_TRY(read_percents(kf_argument(arguments, "--planted", ""), percents, &request.percent_count, error));
    if (out == NULL) return kf_fail(error, KF_BAD_INPUT, "record: option '--out FILE' is missing");
    KF_TRY(kf_suite_read(kf_argument(arguments, "--suite", "quick"), kf_argument(arguments, "--device", NULL),
                         &suite, error));
    request.suite = &suite;
    request.nights = (int)nights;
    request.planted_processes = (int)processes;
    kf_status status = kf_store_open(kf_argument(arguments, "--store", NULL), false, &request.store, error);
    cJSON *json = NULL;
    if (status == KF_OK) status = kf_record_nights(&request, &json, error);
    if (status == KF_OK) {
        char *text = cJSON_Print(json);
        status = kf_file_write_atomic(out, text != NULL ? text : "", text != NULL ? strlen(text) : 0, error);
        free(text);
        cJSON_Delete(json);
    }
    kf_store_close(request.store);
    kf_suite_free(&suite);
    return status;
}

static kf_status rates(const kf_arguments *arguments, kf_error *error) {
    const char *file = kf_argument(arguments, "--recorded", NULL);
    long nights = 200, trials = 40;
    kf_recording *recordings = NULL;
    int count = 0;
    if (file == NULL) return kf_fail(error, KF_BAD_INPUT, "rates: option '--recorded FILE' is missing");
    KF_TRY(kf_argument_integer(arguments, "--nights", &nights, error));
    KF_TRY(kf_argument_integer(arguments, "--trials", &trials, error));
    KF_TRY(kf_recording_read(file, &recordings, &count, error));
    bool as_json = kf_arguments_json(arguments);
    cJSON *json = kf_rates(recordings, count, (int)nights, (int)trials, as_json ? NULL : stdout);
    char *text = as_json ? cJSON_Print(json) : NULL;
    if (text != NULL) puts(text);
    free(text);
    cJSON_Delete(json);
    free(recordings);
    return KF_OK;
}

static kf_status measure(const kf_arguments *arguments, kf_error *error) {
    return kf_nightly_measure(kf_argument(arguments, "--job", ""), kf_argument_given(arguments, "--verify"),
                              kf_argument(arguments, "--counters", NULL), kf_system_planted, error);
}

static const kf_option record_options[] = {
    {"--suite", "FILE|NAME", "what to measure (default: quick)", KF_TEXT},
    {"--store", "FILE", "where configs come from", KF_TEXT},
    {"--device", "cuda:N|cpu", "use this device, whatever the suite says", KF_TEXT},
    {"--nights", "N", "unchanged nights (default: 20)", KF_WHOLE(1, 399)},
    {"--planted", "PERCENTS", "regressions to plant, such as 1,2,3,5", KF_TEXT},
    {"--processes", "N", "processes with each planted regression (default: 20)", KF_WHOLE(5, 512)},
    {"--out", "FILE", "the file to write", KF_TEXT},
    {NULL, NULL, NULL, KF_FLAG},
};
static const kf_option rates_options[] = {
    {"--recorded", "FILE", "what record wrote", KF_TEXT},
    {"--nights", "N", "nights to resample (default: 200)", KF_WHOLE(1, 1000000)},
    {"--trials", "N", "trials a regression (default: 40)", KF_WHOLE(1, 1000000)},
    {NULL, NULL, NULL, KF_FLAG},
};
static const kf_option measure_options[] = {
    {"--job", "TEXT", "what the process is asked to measure", KF_TEXT},
    {"--verify", NULL, "verify it first", KF_FLAG},
    {"--counters", "SET", "count with this metric set instead of timing", KF_TEXT},
    {NULL, NULL, NULL, KF_FLAG},
};
static const kf_command commands[] = {
    {.name = "record", .options = record_options, .run = record},
    {.name = "rates", .options = rates_options, .run = rates},
    {.name = "measure", .options = measure_options, .run = measure},
};

static int run(const kf_command *command, int word_count, char **words) {
    kf_arguments arguments;
    kf_error error = {KF_OK, ""};
    kf_status status = kf_arguments_parse(command, word_count, words, &arguments, &error);
    kf_catch_interrupts();
    if (status == KF_OK) status = command->run(&arguments, &error);
    if (status != KF_OK) (void)fprintf(stderr, "nightly_trials: %s\n", error.message);
    return (int)status;
}

/* Usage: nightly_trials record|rates OPTIONS, or as kftune */
int main(int argc, char **argv) {
    const int at = argc > 2 && strcmp(argv[1], "nightly") == 0 && strcmp(argv[2], "measure") == 0 ? 2 : 1;
    for (size_t i = 0; argc > at && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[at], commands[i].name) == 0) return run(&commands[i], argc - at - 1, argv + at + 1);
    return kf_main(argc, argv);
}
