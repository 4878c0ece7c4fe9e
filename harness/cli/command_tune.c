/* The command kftune tune finds the fastest correct config for a scene on this machine. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/backend/team/team.h"
#include "base/backend/team/world.h"
#include "base/util/clock.h"
#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/problem_argument.h"
#include "harness/cli/run_problem.h"
#include "harness/cli/world_argument.h"
#include "harness/tune/tune.h"
#include "harness/worker/device_lock.h"
#include "harness/worker/together.h"
#include "solver/systems.h"

static const kf_option options[] = {
    {"--scene", "FILE|NAME",
     "a mesh (.obj .stl .ply .gltf .glb), a scene file (.json), a shipped scene, or the T1 file of a kernel "
     "(.t1.json)",
     KF_TEXT},
    KF_SYSTEM_OPTION,
    KF_DEVICE_OPTION,
    KF_TEAM_OPTION,
    {"--share", "search", "with --devices: each device measures other configs, instead of sharing the domain",
     KF_TEXT},
    KF_GRID_OPTIONS,
    {"--strategy", "NAME[:OPTION=V]",
     "how to search, as in model:points=300; 'kftune list strategies' (default: by size of space and budget)",
     KF_CHECKED(kf_value_strategy)},
    {"--budget", "60s|500evals|20s-device",
     "limit of tuning: wall time, number of configs, or time on the device (default: 60s)",
     KF_CHECKED(kf_value_budget)},
    {"--fix", "KEY=VALUE[,VALUE]",
     "search only configs in which the parameter has this value, or one of these",
     KF_ALL_CHECKED(kf_value_pair)},
    {"--metric", "NAME=EXPRESSION",
     "compute this of every config, as in gflops=2*m*n*k/time/1e9; names are time (s), energy (J), power "
     "(W), "
     "parameters, facts, arguments, counters",
     KF_TEXTS},
    {"--objective", "time|energy|edp|power|max:METRIC",
     "what to minimise; max:METRIC maximises; several, as in time,energy, give a front of trade-offs "
     "(default: time)",
     KF_TEXT},
    {"--cache", "steady|cold|hot",
     "state of the last-level cache when a sample begins (default: steady, as in a run)", KF_TEXT},
    {"--effort", "SHARE",
     "share of the usual measuring time for each config of the search (default: 1; less on a GPU with a "
     "budget below 60 s)",
     KF_DECIMAL(0.001, 1.0)},
    {"--presets", "all|default",
     "measure the presets baseline and paper too, or default alone (default: all; on a cpu with a budget "
     "below "
     "5 minutes the default alone)",
     KF_TEXT},
    {"--rounds", "N", "rounds of the final, 0 (no final) to 5 (default: 3; 5 in a long search)",
     KF_WHOLE(0, 5)},
    KF_TURNS_OPTION,
    {"--counters", "SET",
     "count hardware counters of the presets and best configs; 'kftune list metrics' names the sets "
     "(default: none)",
     KF_TEXT},
    {"--store", "FILE", "where results are kept (default: kftune.db in $XDG_DATA_HOME/kftune)", KF_TEXT},
    {"--out", "FILE", "where to write the best config (default: <scene>.kftune.json)", KF_TEXT},
    {"--seed", "N", "seed of sampling and search (default: 1)", KF_WHOLE(1, KF_JSON_WHOLE)},
    KF_KEEP_GOING_OPTION,
    {"--resume", NULL, "continue the last unfinished run of the same scene, device, space and seed", KF_FLAG},
    KF_PLACEMENT_OPTIONS,
    KF_ACCURACY_OPTION,
    {NULL, NULL, NULL, KF_FLAG},
};

static const double TURN_LIMIT_SECONDS = 10.0; /* Other processes wait for the device meanwhile. */

/* Reads an option that is one of a few words; *index: the word's place in the list. */
static kf_status read_word(const kf_arguments *arguments, const char *option, const char *const *names,
                           int count, int *index, kf_error *error) {
    const char *word = kf_argument(arguments, option, names[0]);
    for (*index = 0; *index < count; ++*index)
        if (strcmp(word, names[*index]) == 0) return KF_OK;
    char hint[KF_HINT];
    return kf_fail(error, KF_BAD_INPUT, "option '%s': unknown '%s'%s; use %s, %s or %s", option, word,
                   kf_hint(word, names, count, hint), names[0], names[1], names[2]);
}

/* Checks that the output can be written, so that a missing folder is found before measuring begins. */
static kf_status check_writable(const char *out, kf_error *error) {
    char folder[KF_PATH];
    KF_TRY(kf_path(folder, error, "%s", out));
    const char *name = dirname(folder);
    if (access(name, W_OK | X_OK) != 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--out': cannot write %s: %s is not a folder with write permission", out,
                       name);
    if (access(out, F_OK) == 0 && access(out, W_OK) != 0)
        return kf_fail(error, KF_BAD_INPUT, "option '--out': %s exists already and cannot be overwritten",
                       out);
    return KF_OK;
}

static kf_status read_presets(const kf_arguments *arguments, kf_tune_request *request, kf_error *error) {
    const char *word = kf_argument(arguments, "--presets", NULL);
    request->presets = word == NULL               ? KF_FITTING_PRESETS
                       : strcmp(word, "all") == 0 ? KF_ALL_PRESETS
                                                  : KF_DEFAULT_ALONE;
    if (request->presets != KF_DEFAULT_ALONE || strcmp(word, "default") == 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "option '--presets': '%s' is not known; use all or default", word);
}

static kf_status read_request(const kf_arguments *arguments, kf_tune_request *request,
                              kf_problem_options *known, kf_error *error) {
    long seed = 0;
    request->budget.seconds = 60.0;
    request->budget_text = kf_argument(arguments, "--budget", "60s");
    KF_TRY(kf_argument_budget(arguments, "--budget", &request->budget, error));
    KF_TRY(kf_argument_integer(arguments, "--seed", &seed, error));
    known->seed = (uint64_t)seed; /* 0: the seed of the scene */
    request->seed = seed > 0 ? (uint64_t)seed : 1;
    request->device = kf_argument_device(arguments, NULL);
    const char *share = kf_argument(arguments, "--share", NULL);
    int devices = 1;
    if (share != NULL && strcmp(share, "search") != 0)
        return kf_fail(error, KF_BAD_INPUT, "option '--share': '%s' cannot be shared; use search", share);
    if (share != NULL) KF_TRY(kf_device_check(request->device, &devices, error));
    if (share != NULL && devices < 2)
        return kf_fail(error, KF_BAD_INPUT, "option '--share': give several --devices, as in cuda:0-3");
    if (share != NULL) {
        request->sharing = request->device;
        KF_TRY(kf_device_member(request->sharing, 0, request->first_device, error));
        request->device = request->first_device;
    }
    request->strategy = kf_argument(arguments, "--strategy", NULL);
    request->fixed_count = kf_argument_all(arguments, "--fix", &request->fixed);
    request->resume = kf_argument_given(arguments, "--resume");
    request->turns = kf_argument_given(arguments, "--take-turns");
    KF_TRY(read_presets(arguments, request, error));
    request->keeps_going = kf_argument_given(arguments, "--keep-going");
    request->limit_seconds = request->turns ? TURN_LIMIT_SECONDS : KF_CONFIG_LIMIT_SECONDS;
    long rounds = 0;
    KF_TRY(kf_argument_number(arguments, "--effort", &request->effort, error));
    KF_TRY(kf_argument_integer(arguments, "--rounds", &rounds, error));
    request->rounds = rounds > 0 || !kf_argument_given(arguments, "--rounds") ? (int)rounds : -1;
    int cache = 0;
    KF_TRY(kf_argument_metrics(arguments, request->metrics, error));
    if (kf_objective_read(kf_argument(arguments, "--objective", "time"), request->metrics,
                          &request->objective, error) != KF_OK)
        return kf_fail_context(error, "option '--objective'");
    KF_TRY(read_word(arguments, "--cache", kf_cache_policy_names, KF_CACHE_POLICIES, &cache, error));
    request->cache = (kf_cache_policy)cache;
    const char *out = kf_argument(arguments, "--out", NULL);
    if (out != NULL) KF_TRY(check_writable(out, error));
    return KF_OK;
}

static void print_json(const kf_tune_request *request, const kf_tune_result *result, const char *out) {
    cJSON *json = kf_tune_to_json(request, result, out);
    kf_json_print(json);
}

/* Writes the header for a kernel beside its config: NAME.kftune.h beside NAME.kftune.json. */
static kf_status write_header(const char *out, const kf_config *config, kf_error *error) {
    const size_t length = strlen(out);
    const bool json = kf_ends_in(out, ".json");
    char path[KF_PATH];
    KF_TRY(kf_path(path, error, "%.*s.h", (int)(json ? length - 5 : length), out));
    return kf_config_header_write(path, config, error);
}

/* Keeps the former config under another name if it is of another scene or of a longer search, and prints
 * that. */
static kf_status keep_former(const kf_tune_request *request, const kf_best_config *best, const char *out,
                             kf_error *error) {
    kf_best_config *former = kf_allocate(sizeof *former);
    char aside[KF_PATH];
    kf_error none;
    kf_status status = KF_OK;
    if (kf_best_config_read(out, former, &none) != KF_OK) {
        free(former);
        return KF_OK;
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): the problem is open */
    const bool other = strcmp(former->scene_hash, request->problem->hash) != 0;
    if (other || former->tried > best->tried) {
        status = kf_path(aside, error, "%s~", out);
        if (status == KF_OK && rename(out, aside) != 0)
            status =
                kf_fail(error, KF_MACHINE, "%s: cannot be renamed to %s: %s", out, aside, strerror(errno));
        if (status == KF_OK && other)
            kf_warn("%s held the config of another scene; it is %s now", out, aside);
        else if (status == KF_OK)
            kf_warn("%s held the config of a longer search (%d configs were tried, now %d); it is %s now",
                    out, former->tried, best->tried, aside);
    }
    kf_best_config_free(former);
    free(former);
    return status;
}

/* Tunes, writes the best config, and prints it. An interrupted search also gives the best config so far. */
static kf_status tune(const kf_tune_request *request, const char *out, const kf_arguments *arguments,
                      kf_error *error) {
    const bool json = kf_arguments_json(arguments);
    kf_tune_result *result = kf_allocate(sizeof *result);
    kf_status status = kf_tune(request, result, error);
    bool useful = status == KF_OK || status == KF_INTERRUPTED;
    bool found = useful && result->best >= 0;
    if (found) {
        kf_best_config *best = kf_allocate(sizeof *best);
        kf_tune_best_config(request, result, best);
        kf_error writing = {KF_OK, ""};
        kf_status written =
            kf_problem_document(request->problem, arguments, false, &best->document, &writing);
        if (written == KF_OK) written = keep_former(request, best, out, &writing);
        if (written == KF_OK) written = kf_best_config_write(out, best, &writing);
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the problem is open */
        if (written == KF_OK && !request->problem->system->runs)
            written = write_header(out, &best->config, &writing);
        kf_best_config_free(best);
        free(best);
        if (written != KF_OK) {
            found = false;
            status = kf_fail(error, written, "%s", writing.message);
        }
    }
    if (result->tried.count > 0) {
        if (json)
            print_json(request, result, found ? out : NULL);
        else
            kf_tune_print(request, result, found ? out : NULL, stdout);
    }
    kf_tune_result_free(result);
    free(result);
    return status;
}

/* --- Several processes ---------------------------------------------------------------------------------- */

/* Refuses options that need a single process, or that need facts about other processes' devices. */
static kf_status refuse_alone(const kf_tune_request *request, const kf_arguments *arguments,
                              kf_error *error) {
    static const char *const alone[] = {"--share", "--counters", "--take-turns"};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (kf_argument_given(arguments, alone[i]))
            return kf_fail(error, KF_BAD_INPUT,
                           "option '%s': works in one process only; start it without mpirun or srun",
                           alone[i]);
    const bool sought = request->objective.energy;
    if (sought || kf_user_metrics_need_energy(request->metrics))
        return kf_fail(
            error, KF_BAD_INPUT,
            "option '%s': several processes measure time alone; each would know the energy of its own "
            "device",
            sought ? "--objective" : "--metric");
    return KF_OK;
}

/* Opens the devices of all processes, and checks that they are the same. */
static kf_status open_together(kf_tune_request *request, const kf_problem *problem, kf_error *error) {
    KF_TRY(kf_world_check_same("the version of kftune", KF_VERSION, error));
    KF_TRY(kf_world_check_same("the scene", problem->hash, error));
    KF_TRY(kf_world_check_same("the option --cache", kf_cache_policy_names[request->cache], error));
    return kf_backend_open(request->device, &request->together, error);
}

/* Follows the first process: every other process runs what the first one measures. */
static kf_status follow(const kf_tune_request *request, const kf_problem *problem, bool *met,
                        kf_error *error) {
    kf_trial trial;
    int lock = -1;
    kf_status status = kf_trial_open(problem, &trial, error);
    if (status == KF_OK) status = kf_trial_refer(&trial, error);
    if (status == KF_OK)
        status = kf_device_lock(kf_backend_device(request->together), NULL, NULL, &lock, error);
    status = kf_world_agree(status, error);
    const kf_worker_setup setup = {
        .setting = {.problem = problem, .trial = &trial, .cache = request->cache},
        .together = request->together,
        .limit_seconds = request->limit_seconds,
        .compile_limit_seconds = KF_COMPILE_LIMIT_SECONDS,
    };
    if (status == KF_OK) status = kf_together_follow(&setup, error);
    *met = status == KF_OK;
    kf_device_unlock(lock);
    kf_trial_close(&trial);
    return status;
}

/* --- The command ---------------------------------------------------------------------------------------- */

/* Leads the other processes. After this point they end when the first one ends, whether or not it succeeds.
 */
static kf_status lead(kf_tune_request *request, const char *out, const kf_arguments *arguments,
                      kf_error *error) {
    kf_error lost;
    const kf_status status = tune(request, out, arguments, error);
    if (request->together != NULL) (void)kf_together_end(&lost);
    return status;
}

/* Tunes in the first process, which leads the others. *met: all processes arrived, so they end together
 * whatever happens. */
static kf_status tune_problem(kf_tune_request *request, const kf_problem *problem,
                              const kf_metric_set *counters, const kf_arguments *arguments, bool *met,
                              kf_error *error) {
    kf_problem_print_notes(problem);
    char standard[KF_PATH];
    KF_TRY(kf_path(standard, error, "%s.kftune.json", problem->name));
    const char *out = kf_argument(arguments, "--out", standard);
    kf_status status = check_writable(out, error);
    if (status == KF_OK)
        status = kf_store_open(kf_argument(arguments, "--store", NULL), false, &request->store, error);
    request->problem = problem;
    request->counters = counters;
    status = kf_world_agree(status, error);
    *met = status == KF_OK;
    if (*met) status = lead(request, out, arguments, error);
    kf_store_close(request->store);
    return status;
}

extern const kf_command kf_command_tune;

/* Does all preparations that need no other process. */
static kf_status prepare(const kf_arguments *arguments, kf_tune_request *request, kf_metric_set **counters,
                         kf_problem **problem, kf_error *error) {
    const char *set = kf_argument(arguments, "--counters", NULL);
    kf_problem_options known = {.seed = 0};
    KF_TRY(read_request(arguments, request, &known, error));
    kf_argument_memory(arguments, NULL, &known);
    if (kf_world_size() > 1) KF_TRY(refuse_alone(request, arguments, error));
    if (set != NULL && kf_metric_set_open(set, counters, error) != KF_OK)
        return kf_fail_context(error, "option '--counters'");
    return kf_argument_problem(arguments, &kf_command_tune, NULL, NULL, &known, problem, error);
}

/* Runs kftune tune in one process, or as one of several: the first one leads and writes, the others measure.
 */
static kf_status run(const kf_arguments *arguments, kf_error *error) {
    kf_user_metrics metrics = {.count = 0};
    kf_tune_request request = {.started = kf_clock_seconds(), .metrics = &metrics};
    kf_metric_set *counters = NULL;
    kf_problem *problem = NULL;
    bool met = false;
    kf_world_advise("what was measured is in the store, and the same command with --resume continues");
    kf_status status = kf_argument_world(arguments, error);
    if (status == KF_OK)
        status = kf_world_agree(prepare(arguments, &request, &counters, &problem, error), error);
    if (status == KF_OK && kf_world_size() > 1) status = open_together(&request, problem, error);
    if (status == KF_OK)
        status = kf_world_rank() == 0 ? tune_problem(&request, problem, counters, arguments, &met, error)
                                      : follow(&request, problem, &met, error);
    kf_backend_close(request.together);
    kf_problem_free(problem);
    kf_metric_set_free(counters);
    kf_user_metrics_free(&metrics);
    kf_world_close(met ? KF_OK : status, error);
    return status;
}

const kf_command kf_command_tune = {
    .name = "tune",
    .summary = "find the fastest correct config for a scene on this machine",
    .synopsis = "kftune tune --scene FILE|NAME [options]",
    .description =
        "Measures the presets default, baseline and paper. Then it searches the space within the budget,\n"
        "measures the best few again in turns, and writes the best config for 'kftune run'. A config\n"
        "counts only if it reproduces a double precision reference on a reduced scene (system t1: the\n"
        "result of the file's default config). Every result is stored when it is made. So Ctrl-C loses\n"
        "nothing, and --resume continues.",
    .example = "kftune tune --scene ahmed --budget 60s",
    .options = options,
    .run = run,
};
