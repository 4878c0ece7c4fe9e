/* The command kftune landscape measures a random sample of a space: the whole sample, or one of many shards
 * with its own journal. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util/clock.h"
#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "harness/cli/command.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/problem_argument.h"
#include "harness/search/strategy.h"
#include "harness/tune/tune.h"

static const kf_option options[] = {
    {"--scene", "FILE|NAME", "as for kftune tune", KF_TEXT},
    KF_SYSTEM_OPTION,
    KF_DEVICE_OPTION,
    KF_GRID_OPTIONS,
    {"--configs", "N", "configs of the sample, in all shards together (10000, or the whole space)",
     KF_WHOLE(1, 1000000000)},
    {"--shard", "I/N", "measure every N-th config, beginning with number I, 0 to N - 1 (0/1: all)", KF_TEXT},
    {"--journal", "DIR", "folder in which every shard has a store of its own, for 'kftune store import DIR'",
     KF_TEXT},
    {"--store", "FILE",
     "without --journal: where results are kept (default: kftune.db in $XDG_DATA_HOME/kftune)", KF_TEXT},
    KF_FIX_OPTION,
    {"--effort", "SHARE", "share of the usual measuring time for each config (default: 1)",
     KF_DECIMAL(0.001, 1.0)},
    KF_TURNS_OPTION,
    {"--seed", "N", "seed of sampling and of the order of configs: the same for all shards (default: 1)",
     KF_WHOLE(1, KF_JSON_WHOLE)},
    {"--resume", NULL, "continue where this shard was interrupted, on the same device", KF_FLAG},
    KF_KEEP_GOING_OPTION,
    KF_PLACEMENT_OPTIONS,
    KF_ACCURACY_OPTION,
    {NULL, NULL, NULL, KF_FLAG},
};

typedef struct landscape {
    long shard, shards, configs;
    char strategy[KF_NAME], path[KF_PATH];
    kf_tune_request request;
} landscape;

static kf_status read_shard(const kf_arguments *arguments, landscape *work, kf_error *error) {
    const char *text = kf_argument(arguments, "--shard", "0/1");
    int used = 0;
    if (sscanf(text, "%ld/%ld%n", &work->shard, &work->shards, &used) != 2 || text[used] != '\0' ||
        work->shards < 1 || work->shards > 1000000 || work->shard < 0 || work->shard >= work->shards)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--shard': '%s' is no shard; give I/N with I from 0 to N - 1, as in 3/256",
                       text);
    work->configs = 10000;
    KF_TRY(kf_argument_integer(arguments, "--configs", &work->configs, error));
    (void)snprintf(work->strategy, sizeof work->strategy, "shard:i=%ld:n=%ld:configs=%ld", work->shard,
                   work->shards, work->configs);
    return kf_strategy_check(work->strategy, error);
}

/* Chooses a store that no other process writes, such as DIR/shard-003-of-256.db. */
static kf_status choose_store(const kf_arguments *arguments, landscape *work, kf_error *error) {
    const char *folder = kf_argument(arguments, "--journal", NULL);
    if (folder == NULL) {
        const char *store = kf_argument(arguments, "--store", NULL);
        return store != NULL ? kf_path(work->path, error, "%s", store) : KF_OK;
    }
    if (kf_argument_given(arguments, "--store"))
        return kf_fail(error, KF_BAD_INPUT, "give --journal, or --store for one file of all, not both");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return kf_fail(error, KF_BAD_INPUT, "option '--journal': %s cannot be made: %s", folder,
                       strerror(errno));
    int digits = 1;
    for (long most = work->shards - 1; most >= 10; most /= 10)
        digits++;
    return kf_path(work->path, error, "%s/shard-%0*ld-of-%ld.db", folder, digits, work->shard, work->shards);
}

static kf_status read_request(const kf_arguments *arguments, landscape *work, kf_problem_options *known,
                              kf_error *error) {
    kf_tune_request *request = &work->request;
    long seed = 0;
    KF_TRY(read_shard(arguments, work, error));
    KF_TRY(choose_store(arguments, work, error));
    KF_TRY(kf_argument_integer(arguments, "--seed", &seed, error));
    KF_TRY(kf_argument_number(arguments, "--effort", &request->effort, error));
    known->seed = (uint64_t)seed; /* 0: the seed of the scene */
    request->seed = seed > 0 ? (uint64_t)seed : 1;
    request->strategy = work->strategy;
    request->budget_text = "all";
    request->device = kf_argument_device(arguments, NULL);
    request->fixed_count = kf_argument_all(arguments, "--fix", &request->fixed);
    request->resume = kf_argument_given(arguments, "--resume");
    request->turns = kf_argument_given(arguments, "--take-turns");
    request->keeps_going = kf_argument_given(arguments, "--keep-going");
    request->limit_seconds = KF_CONFIG_LIMIT_SECONDS;
    request->rounds = -1;
    request->measures_all = true;
    return KF_OK;
}

/* Prints what a shard measured and where the results are, as text or JSON. Skipped configs do not count as
 * failed. */
static void print_result(const landscape *work, const kf_tune_result *result, const char *store, bool json) {
    const int failed = result->tried.count - result->states[KF_STATE_OK] - result->states[KF_STATE_SKIPPED];
    if (!json) {
        printf("shard %ld of %ld: %d configs measured%s, %d failed; run %s in %s\n", work->shard,
               work->shards, result->tried.count,
               result->resumed == result->tried.count ? ", all of them before" : "", failed, result->run.uuid,
               store);
        return;
    }
    cJSON *root = kf_json_answer("landscape");
    (void)cJSON_AddNumberToObject(root, "shard", (double)work->shard);
    (void)cJSON_AddNumberToObject(root, "shards", (double)work->shards);
    (void)cJSON_AddNumberToObject(root, "configs", result->tried.count);
    (void)cJSON_AddNumberToObject(root, "failed", failed);
    (void)cJSON_AddStringToObject(root, "run", result->run.uuid);
    (void)cJSON_AddStringToObject(root, "store", store);
    kf_json_print(root);
}

static kf_status measure(landscape *work, const kf_problem *problem, bool json, kf_error *error) {
    KF_TRY(kf_store_open(work->path[0] != '\0' ? work->path : NULL, false, &work->request.store, error));
    work->request.problem = problem;
    kf_tune_result *result = kf_allocate(sizeof *result);
    const kf_status status = kf_tune(&work->request, result, error);
    if (status == KF_OK) print_result(work, result, kf_store_path(work->request.store), json);
    kf_tune_result_free(result);
    free(result);
    kf_store_close(work->request.store);
    return status;
}

extern const kf_command kf_command_landscape;

static kf_status run(const kf_arguments *arguments, kf_error *error) {
    landscape work = {.request = {.started = kf_clock_seconds()}};
    kf_problem_options known = {.seed = 0};
    kf_problem *problem = NULL;
    KF_TRY(read_request(arguments, &work, &known, error));
    kf_argument_memory(arguments, NULL, &known);
    kf_status status =
        kf_argument_problem(arguments, &kf_command_landscape, NULL, NULL, &known, &problem, error);
    if (status == KF_OK) status = measure(&work, problem, kf_arguments_json(arguments), error);
    kf_problem_free(problem);
    return status;
}

const kf_command kf_command_landscape = {
    .name = "landscape",
    .summary = "measure a random sample of a space, or one shard of it",
    .synopsis = "kftune landscape --scene FILE|NAME [--shard I/N] [--journal DIR] [options]",
    .description =
        "Measures the presets and a random sample of configs, for replays, plots and models. It does not\n"
        "look for the best config. --shard I/N measures every N-th config of the sample. Shards are\n"
        "independent: a scheduler starts them (docs/clusters.md has job files), and 'kftune store import'\n"
        "merges their journals.",
    .example = "kftune landscape --scene ahmed --configs 1000 --shard 0/16 --journal ahmed-shards",
    .options = options,
    .run = run,
};
