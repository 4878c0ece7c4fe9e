/* The command kftune plot draws pictures of a store's contents. */
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
    {"--store", "FILE", "the store to read (default: kftune.db in $XDG_DATA_HOME/kftune)", KF_TEXT},
    {"--out", "FILE", "picture to write: .svg, .png or .pdf", KF_TEXT},
    {"--run", "ID", "the run: its number, or the beginning of its UUID (the newest with a correct result)",
     KF_TEXT},
    {"--landscape", "FILE", "convergence: show searches on this stored landscape, instead of a run", KF_TEXT},
    {"--strategy", "NAME[:OPTION=V]",
     "convergence on a landscape: these strategies (default: random and model)",
     KF_ALL_CHECKED(kf_value_strategy)},
    {"--evaluations", "N", "convergence on a landscape: configs a search may measure (default: 200)",
     KF_WHOLE(2, 100000)},
    {"--repeats", "K", "convergence on a landscape: searches of each strategy (default: 100)",
     KF_WHOLE(1, 10000)},
    {"--figures", "FILE", "scaling: output of kftune bench --suite scaling --json", KF_TEXT},
    {"--links", "FILE", "scaling: links within a host, output of kftune roofs --devices cuda:0-1 --json",
     KF_TEXT},
    {"--benchmark", "NAME", "history: the benchmark to draw (the first)", KF_TEXT},
    {NULL, NULL, NULL, KF_FLAG},
};
static const char *const positionals[] = {
    "kernels|surface|convergence|roofline|occupancy|front|history|scaling", NULL};

/* Kinds of pictures: those of a run, then the history of nights and the scaling of a suite. */
enum { HISTORY = KF_PLOTS, SCALING, KINDS };

static kf_status find_kind(const kf_arguments *arguments, int *kind, kf_error *error) {
    static const char *const all = "kernels, surface, convergence, roofline, occupancy, front, history or "
                                   "scaling";
    const char *names[KINDS] = {[HISTORY] = "history", [SCALING] = "scaling"};
    if (arguments->positional_count == 0) return kf_fail(error, KF_BAD_INPUT, "plot: what? give %s", all);
    const char *wanted = arguments->positional[0];
    memcpy(names, kf_plot_names, sizeof kf_plot_names);
    for (*kind = 0; *kind < KINDS; ++*kind)
        if (strcmp(wanted, names[*kind]) == 0) return KF_OK;
    char hint[KF_HINT];
    return kf_fail(error, KF_BAD_INPUT, "plot: unknown kind '%s'%s; give %s", wanted,
                   kf_hint(wanted, names, KINDS, hint), all);
}

/* Prints the answer for --json. It takes over the JSON. */
static void print_answer(const kf_arguments *arguments, cJSON *json, const char *out) {
    if (kf_arguments_json(arguments)) {
        cJSON_AddStringToObject(json, "out", out);
        kf_json_print(json);
        return;
    }
    cJSON_Delete(json);
    printf("%s\n", out);
}

static cJSON *run_to_json(int kind, const kf_run_summary *run) {
    cJSON *json = kf_json_answer("plot");
    cJSON_AddItemToObject(json, "device", kf_device_remembered_to_json(run->device, run->backend));
    cJSON_AddStringToObject(json, "kind", kf_plot_names[kind]);
    cJSON_AddStringToObject(json, "scene", run->scene);
    cJSON_AddNumberToObject(json, "run", (double)run->id);
    cJSON_AddStringToObject(json, "uuid", run->uuid);
    return json;
}

/* Draws a picture of a stored run, or of a benchmark over its nights. */
static kf_status execute_stored(const kf_arguments *arguments, int kind, const char *out, kf_error *error) {
    kf_store *store;
    kf_run_summary run;
    KF_TRY(kf_store_open(kf_argument(arguments, "--store", NULL), true, &store, error));
    kf_status status;
    if (kind == HISTORY) {
        status = kf_plot_history(store, kf_argument(arguments, "--benchmark", NULL), out, error);
    } else {
        status = kf_plot_find_run(store, kf_argument(arguments, "--run", NULL), &run, error);
        if (status == KF_OK) status = kf_plot_write((kf_plot_kind)kind, store, &run, out, error);
    }
    if (status == KF_OK) {
        cJSON *json = kind == HISTORY ? kf_json_answer("plot") : run_to_json(kind, &run);
        if (kind == HISTORY) cJSON_AddStringToObject(json, "kind", "history");
        print_answer(arguments, json, out);
    }
    kf_store_close(store);
    return status;
}

/* --- Searches on a landscape ---------------------------------------------------------------------------- */

static kf_status replay_one(const kf_replay_request *request, const char *knowing, kf_replayed *replayed,
                            kf_error *error) {
    if (replayed->count == KF_REPLAYED)
        return kf_fail(
            error, KF_BAD_INPUT,
            "option '--strategy': a picture has at most %d curves, and a strategy with a prior has two",
            KF_REPLAYED);
    KF_TRY(kf_replay(request, &replayed->results[replayed->count], error));
    (void)snprintf(replayed->names[replayed->count], sizeof replayed->names[0], "%s%s", request->strategy,
                   knowing);
    replayed->count++;
    return KF_OK;
}

/* Replays every wanted strategy on a landscape. A strategy that can use a prior is replayed a second time
 * with the cost model as its prior. Each replay is one curve of the picture. */
static kf_status replay_all(const kf_arguments *arguments, kf_replayed *replayed, kf_error *error) {
    static const char *const usual[] = {"random", "model"};
    const char *const *names = usual;
    long evaluations = 200, repeats = 100;
    int given = kf_argument_all(arguments, "--strategy", &names);
    if (given == 0) names = usual;
    const int count = given > 0 ? given : 2;
    KF_TRY(kf_argument_integer(arguments, "--evaluations", &evaluations, error));
    KF_TRY(kf_argument_integer(arguments, "--repeats", &repeats, error));
    if (count > KF_REPLAYED)
        return kf_fail(error, KF_BAD_INPUT, "option '--strategy': at most %d in a picture", KF_REPLAYED);
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

static cJSON *replayed_to_json(const kf_replayed *replayed) {
    cJSON *json = kf_json_answer("plot");
    cJSON_AddItemToObject(
        json, "device",
        kf_device_remembered_to_json(replayed->landscape->device, replayed->landscape->backend));
    cJSON_AddStringToObject(json, "kind", "convergence");
    cJSON_AddStringToObject(json, "landscape", replayed->landscape->name);
    cJSON *strategies = cJSON_AddArrayToObject(json, "strategies");
    for (int s = 0; s < replayed->count; s++)
        cJSON_AddItemToArray(strategies, cJSON_CreateString(replayed->names[s]));
    return json;
}

static kf_status execute_replayed(const kf_arguments *arguments, const char *file, const char *out,
                                  kf_error *error) {
    kf_landscape *landscape = NULL;
    KF_TRY(kf_landscape_open(file, &landscape, error));
    kf_replayed replayed = {.landscape = landscape, .count = 0};
    kf_status status = replay_all(arguments, &replayed, error);
    if (status == KF_OK) status = kf_plot_replayed(&replayed, out, error);
    if (status == KF_OK) print_answer(arguments, replayed_to_json(&replayed), out);
    for (int s = 0; s < replayed.count; s++)
        kf_replay_free(&replayed.results[s]);
    kf_landscape_free(landscape);
    return status;
}

/* --- Either --------------------------------------------------------------------------------------------- */

/* Draws how a run scales over devices. It reads a suite's figures instead of a store. */
static kf_status execute_scaling(const kf_arguments *arguments, const char *out, kf_error *error) {
    const char *figures = kf_argument(arguments, "--figures", NULL);
    if (!figures)
        return kf_fail(
            error, KF_BAD_INPUT,
            "plot scaling: --figures FILE is missing; kftune bench --suite scaling --json prints one");
    return kf_plot_scaling(figures, kf_argument(arguments, "--links", NULL), out,
                           kf_arguments_json(arguments), error);
}

static kf_status check_options(const kf_arguments *arguments, int kind, bool replayed, kf_error *error) {
    if (kind == SCALING) return kf_argument_only(arguments, "plot scaling", "--out --figures --links", error);
    if (kind == HISTORY)
        return kf_argument_only(arguments, "plot history", "--out --store --benchmark", error);
    if (replayed)
        return kf_argument_only(arguments, "plot convergence of a landscape",
                                "--out --landscape --strategy --evaluations --repeats", error);
    return kf_argument_only(arguments, "plot of a run", "--out --store --run", error);
}

static kf_status execute(const kf_arguments *arguments, kf_error *error) {
    int kind = 0;
    const char *out = kf_argument(arguments, "--out", NULL),
               *landscape = kf_argument(arguments, "--landscape", NULL);
    KF_TRY(find_kind(arguments, &kind, error));
    if (landscape != NULL && kind != KF_PLOT_CONVERGENCE)
        return kf_fail(error, KF_BAD_INPUT, "option '--landscape' is for 'plot convergence'");
    KF_TRY(check_options(arguments, kind, landscape != NULL, error));
    if (out == NULL)
        return kf_fail(error, KF_BAD_INPUT, "plot: --out FILE is missing; it must end in .svg, .png or .pdf");
    KF_TRY(kf_plot_check_path(out, error));
    if (kind == SCALING) return execute_scaling(arguments, out, error);
    if (landscape != NULL) return execute_replayed(arguments, landscape, out, error);
    return execute_stored(arguments, kind, out, error);
}

extern const kf_command kf_command_plot;
const kf_command kf_command_plot = {
    .name = "plot",
    .summary = "draw the content of a store",
    .synopsis = "kftune plot kernels|surface|convergence|roofline|occupancy|front|history|scaling --out "
                "FILE.{svg,png,pdf} "
                "[options]",
    .description =
        "kernels: time of each kernel for baseline, paper and best.\n"
        "surface: best time over sample block length and layout.\n"
        "convergence: best time so far over evaluations. With --landscape it shows strategies on that\n"
        "landscape: median and quartiles of many searches, over evaluations and over seconds.\n"
        "roofline: kernels below the roofs of the device; needs counters and 'kftune roofs'.\n"
        "occupancy: achieved and theoretical occupancy for baseline, paper and best.\n"
        "front: the first two goals of a run with several, such as --objective time,energy.\n"
        "history: time of a benchmark night by night, and where its level changed.\n"
        "scaling: efficiency over devices, as 'kftune bench --suite scaling --json' measured it\n"
        "(--figures) and as predicted for up to 16,384. All kinds need gnuplot.",
    .example = "kftune plot kernels --store kftune.db --out kernels.svg",
    .options = options,
    .positional = positionals,
    .run = execute,
};
