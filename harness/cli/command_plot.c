/* kftune plot: pictures of what a store remembers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/device_json.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/cli/plot_scaling.h"
#include "harness/replay/landscape_prior.h"
#include "harness/replay/replay_plot.h"
#include "plots/history.h"
#include "plots/plot.h"

static const kf_option options[] = {
    {"--store", "FILE", "the store to read (kftune.db in the user's data folder)", false},
    {"--out", "FILE", "picture to write: .svg, .png or .pdf", false},
    {"--run", "ID", "number, UUID or its beginning (the newest run with a result that counts)", false},
    {"--landscape", "FILE", "convergence: of searches on a stored landscape instead of a run", false},
    {"--strategy", "NAME[:OPTION=V]",
     "convergence on a landscape: these strategies (default: random and model)", true},
    {"--evaluations", "N", "convergence on a landscape: configs a search may measure (default: 200)", false},
    {"--repeats", "K", "convergence on a landscape: searches of each strategy (default: 100)", false},
    {"--figures", "FILE", "scaling: what kftune bench --suite scaling --json printed", false},
    {"--links", "FILE", "scaling: links in a node, what kftune roofs --devices cuda:0-1 --json printed",
     false},
    {"--benchmark", "NAME", "history: of which benchmark of the nights (the first)", false},
    {NULL, NULL, NULL, false},
};
static const char *const positionals[] = {"kernels|surface|convergence|roofline|occupancy|history|scaling",
                                          NULL};

static kf_status find_kind(const kf_arguments *arguments, kf_plot_kind *kind, kf_error *error) {
    if (arguments->positional_count == 0) {
        return kf_fail(error, KF_BAD_INPUT,
                       "plot: what? give kernels, surface, convergence, roofline or occupancy");
    }
    const char *wanted = arguments->positional[0], *names[KF_PLOTS + 2];
    for (int i = 0; i < KF_PLOTS; i++) {
        names[i] = kf_plot_names[i];
        *kind = (kf_plot_kind)i;
        if (strcmp(wanted, names[i]) == 0) return KF_OK;
    }
    names[KF_PLOTS] = "history";
    names[KF_PLOTS + 1] = "scaling";
    const char *nearest = kf_nearest(wanted, names, KF_PLOTS + 2);
    if (nearest) {
        return kf_fail(error, KF_BAD_INPUT, "plot: unknown kind '%s' (did you mean '%s'?)", wanted, nearest);
    }
    return kf_fail(error, KF_BAD_INPUT,
                   "plot: unknown kind '%s'; give kernels, surface, convergence, roofline or occupancy",
                   wanted);
}

static void print_result(const kf_arguments *arguments, kf_plot_kind kind, const kf_run_summary *run,
                         const char *out) {
    if (!kf_arguments_json(arguments)) {
        printf("%s\n", out);
        return;
    }
    cJSON *json = kf_json_answer("plot");
    cJSON_AddItemToObject(json, "device", kf_device_remembered_to_json(run->device, run->backend));
    cJSON_AddStringToObject(json, "kind", kf_plot_names[kind]);
    cJSON_AddStringToObject(json, "scene", run->scene);
    cJSON_AddNumberToObject(json, "run", (double)run->id);
    cJSON_AddStringToObject(json, "uuid", run->uuid);
    cJSON_AddStringToObject(json, "out", out);
    kf_json_print(json);
}

/* Of a benchmark over its nights, not of one run. */
static kf_status execute_history(const kf_arguments *arguments, kf_error *error) {
    const char *out = kf_argument(arguments, "--out", NULL);
    if (!out)
        return kf_fail(error, KF_BAD_INPUT, "plot: --out FILE is missing; it must end in .svg, .png or .pdf");
    KF_TRY(kf_plot_check_path(out, error));
    kf_store *store;
    KF_TRY(kf_store_open(kf_argument(arguments, "--store", NULL), true, &store, error));
    kf_status status = kf_plot_history(store, kf_argument(arguments, "--benchmark", NULL), out, error);
    if (status == KF_OK && kf_arguments_json(arguments)) {
        cJSON *json = kf_json_answer("plot");
        cJSON_AddStringToObject(json, "kind", "history");
        cJSON_AddStringToObject(json, "out", out);
        kf_json_print(json);
    } else if (status == KF_OK) {
        printf("%s\n", out);
    }
    kf_store_close(store);
    return status;
}

/* --- searches on a landscape ---------------------------------------------------------------------------- */

static kf_status replay_one(const kf_replay_request *request, const char *knowing, kf_replayed *replayed,
                            kf_error *error) {
    if (replayed->count == KF_REPLAYED)
        return kf_fail(
            error, KF_BAD_INPUT,
            "option '--strategy': at most %d curves in a picture, and those led by a prior have two",
            KF_REPLAYED);
    KF_TRY(kf_replay(request, &replayed->results[replayed->count], error));
    (void)snprintf(replayed->names[replayed->count], sizeof replayed->names[0], "%s%s", request->strategy,
                   knowing);
    replayed->count++;
    return KF_OK;
}

static kf_status replay_all(const kf_arguments *arguments, kf_replayed *replayed, kf_error *error) {
    static const char *const usual[] = {"random", "model"};
    const char *const *names = usual;
    long evaluations = 200, repeats = 100;
    int given = kf_argument_all(arguments, "--strategy", &names);
    if (given == 0) names = usual;
    const int count = given > 0 ? given : 2;
    KF_TRY(kf_argument_integer(arguments, "--evaluations", 2, 100000, &evaluations, error));
    KF_TRY(kf_argument_integer(arguments, "--repeats", 1, 10000, &repeats, error));
    if (count > KF_REPLAYED)
        return kf_fail(error, KF_BAD_INPUT, "option '--strategy': at most %d in a picture", KF_REPLAYED);
    for (int s = 0; s < count; s++)
        KF_TRY(kf_strategy_check(names[s], error));
    kf_landscape_prior prior;
    const bool has_prior = kf_landscape_prior_open(replayed->landscape, &prior);
    kf_status status = KF_OK;
    for (int s = 0; s < count && status == KF_OK; s++) {
        kf_replay_request request = {.landscape = replayed->landscape,
                                     .strategy = names[s],
                                     .evaluations = (int)evaluations,
                                     .repeats = (int)repeats,
                                     .seed = 1};
        status = replay_one(&request, "", replayed, error);
        request.prior = &prior.prior;
        if (has_prior && status == KF_OK && kf_strategy_uses_prior(names[s]))
            status = replay_one(&request, ", with prior", replayed, error);
    }
    if (has_prior) kf_landscape_prior_close(&prior);
    return status;
}

static void print_replayed(const kf_arguments *arguments, const kf_replayed *replayed, const char *out) {
    if (!kf_arguments_json(arguments)) {
        printf("%s\n", out);
        return;
    }
    cJSON *json = kf_json_answer("plot");
    cJSON_AddItemToObject(
        json, "device",
        kf_device_remembered_to_json(replayed->landscape->device, replayed->landscape->backend));
    cJSON_AddStringToObject(json, "kind", "convergence");
    cJSON_AddStringToObject(json, "landscape", replayed->landscape->name);
    cJSON *strategies = cJSON_AddArrayToObject(json, "strategies");
    for (int s = 0; s < replayed->count; s++)
        cJSON_AddItemToArray(strategies, cJSON_CreateString(replayed->names[s]));
    cJSON_AddStringToObject(json, "out", out);
    kf_json_print(json);
}

static kf_status execute_replayed(const kf_arguments *arguments, const char *file, kf_error *error) {
    const char *out = kf_argument(arguments, "--out", NULL);
    kf_landscape *landscape = NULL;
    if (!out)
        return kf_fail(error, KF_BAD_INPUT, "plot: --out FILE is missing; it must end in .svg, .png or .pdf");
    KF_TRY(kf_plot_check_path(out, error));
    KF_TRY(kf_landscape_open(file, &landscape, error));
    kf_replayed replayed = {.landscape = landscape, .count = 0};
    kf_status status = replay_all(arguments, &replayed, error);
    if (status == KF_OK) status = kf_plot_replayed(&replayed, out, error);
    if (status == KF_OK) print_replayed(arguments, &replayed, out);
    for (int s = 0; s < replayed.count; s++)
        kf_replay_free(&replayed.results[s]);
    kf_landscape_free(landscape);
    return status;
}

/* Of a suite's figures, not of a store. */
static kf_status execute_scaling(const kf_arguments *arguments, kf_error *error) {
    const char *out = kf_argument(arguments, "--out", NULL),
               *figures = kf_argument(arguments, "--figures", NULL);
    if (!out)
        return kf_fail(error, KF_BAD_INPUT, "plot: --out FILE is missing; it must end in .svg, .png or .pdf");
    if (!figures)
        return kf_fail(
            error, KF_BAD_INPUT,
            "plot scaling: --figures FILE is missing; kftune bench --suite scaling --json prints one");
    KF_TRY(kf_plot_check_path(out, error));
    return kf_plot_scaling(figures, kf_argument(arguments, "--links", NULL), out,
                           kf_arguments_json(arguments), error);
}

static kf_status execute(const kf_arguments *arguments, kf_error *error) {
    if (arguments->positional_count == 1 && strcmp(arguments->positional[0], "history") == 0)
        return execute_history(arguments, error);
    if (arguments->positional_count == 1 && strcmp(arguments->positional[0], "scaling") == 0)
        return execute_scaling(arguments, error);
    kf_plot_kind kind = KF_PLOT_KERNELS;
    KF_TRY(find_kind(arguments, &kind, error));
    const char *landscape = kf_argument(arguments, "--landscape", NULL);
    if (landscape != NULL && kind != KF_PLOT_CONVERGENCE)
        return kf_fail(error, KF_BAD_INPUT, "option '--landscape' is for 'plot convergence'");
    if (landscape != NULL) return execute_replayed(arguments, landscape, error);
    const char *out = kf_argument(arguments, "--out", NULL);
    if (!out)
        return kf_fail(error, KF_BAD_INPUT, "plot: --out FILE is missing; it must end in .svg, .png or .pdf");
    KF_TRY(kf_plot_check_path(out, error));
    kf_store *store;
    KF_TRY(kf_store_open(kf_argument(arguments, "--store", NULL), true, &store, error));
    kf_run_summary run;
    kf_status status = kf_plot_find_run(store, kf_argument(arguments, "--run", NULL), &run, error);
    if (status == KF_OK) status = kf_plot_write(kind, store, &run, out, error);
    if (status == KF_OK) print_result(arguments, kind, &run, out);
    kf_store_close(store);
    return status;
}

extern const kf_command kf_command_plot;
const kf_command kf_command_plot = {
    .name = "plot",
    .summary = "draw what a store remembers",
    .synopsis =
        "kftune plot kernels|surface|convergence|roofline|occupancy|history|scaling --out FILE.{svg,png,pdf} "
        "[options]",
    .description =
        "kernels: time of each kernel, baseline against paper against best.\n"
        "surface: best time over sample block length and layout.\n"
        "convergence: best time so far over evaluations; with --landscape how strategies converge there,\n"
        "median and quartiles of many searches, over evaluations and over seconds.\n"
        "roofline: kernels under the roofs of the device; needs counters and 'kftune roofs'.\n"
        "occupancy: achieved against theoretical, baseline against best.\n"
        "history: time of a benchmark night by night, and where its level changed.\n"
        "scaling: efficiency over devices, what 'kftune bench --suite scaling --json' measured (--figures) "
        "and what is\n"
        "predicted to 16,384. Needs gnuplot.",
    .example = "kftune plot kernels --store kftune.db --out kernels.svg",
    .options = options,
    .positional = positionals,
    .run = execute,
};
