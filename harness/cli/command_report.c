/* The command kftune report writes a store's contents as one HTML file. */
#include <stdio.h>
#include <stdlib.h>

#include "base/util/json.h"
#include "harness/cli/command.h"
#include "plots/report/report.h"

extern const kf_command kf_command_report;

static void print_result(const kf_arguments *arguments, const char *out) {
    if (!kf_arguments_json(arguments)) {
        printf("%s\n", out);
        return;
    }
    cJSON *json = kf_json_answer("report");
    (void)cJSON_AddStringToObject(json, "out", out);
    kf_json_print(json);
}

static kf_status run(const kf_arguments *arguments, kf_error *error) {
    const char *out = kf_argument(arguments, "--out", NULL);
    if (out == NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "report: option '--out FILE' is missing; it becomes an HTML file");
    KF_TRY(kf_argument_ending(arguments, "--out", ".html", error));
    kf_store *store = NULL;
    KF_TRY(kf_store_open(kf_argument(arguments, "--store", NULL), true, &store, error));
    kf_status status = kf_report_write(store, kf_argument(arguments, "--run", NULL), out, error);
    if (status == KF_OK) print_result(arguments, out);
    kf_store_close(store);
    return status;
}

static const kf_option options[] = {
    {"--store", "FILE", "the store to report on (default: kftune.db in $XDG_DATA_HOME/kftune)", KF_TEXT},
    {"--out", "FILE", "the HTML file to write", KF_TEXT},
    {"--run", "ID", "the run to show in full: number or beginning of its UUID (default: the newest)",
     KF_TEXT},
    {NULL, NULL, NULL, KF_FLAG},
};

const kf_command kf_command_report = {
    .name = "report",
    .summary = "write a store's content as one HTML page",
    .synopsis = "kftune report --out FILE [options]",
    .description =
        "Writes one HTML file, which needs neither a network nor scripts. It shows one run in full\n"
        "(scene, best config, kernels, plots, environment, how to repeat it), the nights with their\n"
        "verdicts and histories, and a list of all runs. Pictures need gnuplot.",
    .example = "kftune report --store kftune.db --out report.html",
    .options = options,
    .run = run,
};
