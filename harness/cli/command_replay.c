/* The command kftune replay tries a search strategy on stored measurements, without a device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/backend/device_json.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/replay/landscape_prior.h"
#include "harness/replay/replay.h"
#include "harness/replay/replay_score.h"

static const kf_option options[] = {
    {"--landscape", "FILE", "a Kernel Tuner cache, T4 results or a landscape of kftune, also gzipped",
     KF_TEXT},
    {"--strategy", "NAME[:OPTION=V]",
     "the strategy to judge, with options as in model:points=300 (default: model)",
     KF_CHECKED(kf_value_strategy)},
    {"--evaluations", "N", "configs a search may measure (default: 200)", KF_WHOLE(1, 1000000)},
    {"--repeats", "K", "searches to run, each with its own seed (default: 100)", KF_WHOLE(1, 100000)},
    {"--seed", "N", "seed of the first search (default: 1)", KF_WHOLE(0, KF_JSON_WHOLE)},
    {"--score", NULL,
     "also print the score of Willemsen et al. 2024: 0 is random search, 1 the optimum from the start; it "
     "sets the number of evaluations",
     KF_FLAG},
    {NULL, NULL, NULL, KF_FLAG},
};

/* Returns the next number of evaluations that the table shows: 1, 2, 5, 10, 20, ... and the last. */
static int next_mark(int mark, int last) {
    int power = 1;
    while (10 * power <= mark)
        power *= 10;
    int next = mark < 2 * power ? 2 * power : mark < 5 * power ? 5 * power : 10 * power;
    return mark < last && next > last ? last : next;
}

static void print_within(const char *name, const kf_replay_result *result) {
    static const double regrets[] = {0.05, 0.01};
    for (int i = 0; i < 2; i++) {
        const kf_replay_within within = kf_replay_time_to(result, regrets[i]);
        printf("within %.0f %%%s: %d of %d searches", 100 * regrets[i], name, within.reached,
               result->repeats);
        if (isfinite(within.evaluations))
            printf(", half of all after %.0f evaluation%s", within.evaluations,
                   within.evaluations == 1.0 ? "" : "s");
        if (isfinite(within.seconds)) printf(" or %.1f seconds", within.seconds);
        printf("\n");
    }
}

static void print_score(const char *name, const kf_landscape *landscape, const kf_replay_result *result) {
    const kf_replay_score score = kf_replay_score_of(landscape, result);
    const kf_replay_budget budget = kf_replay_budget_of(landscape);
    if (isnan(score.evaluations)) {
        printf("score%s: none, every config is as good as random search's\n", name);
        return;
    }
    printf("score%s: %.3f by evaluations, over %d", name, score.evaluations, budget.evaluations);
    if (isfinite(score.seconds)) printf("; %.3f by seconds, over %.1f", score.seconds, budget.seconds);
    printf("\n");
}

/* Prints the regret of both replays after certain numbers of evaluations. `with` is the replay with a prior;
 * NULL: there is none. */
static void print_table(const kf_replay_request *request, const kf_replay_result *result,
                        const kf_replay_result *with, bool scores) {
    const kf_landscape *landscape = request->landscape;
    char time[32];
    char *summary;
    kf_config config;
    kf_space_config(landscape->space, landscape->optimum, &config);
    summary = kf_config_summary(&config);
    printf("landscape %s: %llu configs, %llu correct%s%s\n", landscape->name,
           (unsigned long long)landscape->size, (unsigned long long)landscape->ok_count,
           landscape->device[0] != '\0' ? ", measured on " : "", landscape->device);
    printf("optimum   %s: %s\n", kf_human_time_us(landscape->times_us[landscape->optimum], time), summary);
    const kf_landscape_spread spread = kf_landscape_spread_of(landscape);
    printf("spread    the median takes %.2f times as long; %.2f %% are within 5 %%\n",
           spread.median_over_optimum, 100 * spread.share_within_5);
    printf("strategy  %s, %d searches, %.0f us of its own a config\n\n", request->strategy, result->repeats,
           result->overhead_us);
    printf("%11s %9s %9s %9s %9s %11s\n", "evaluations", "mean", "median", "quartile", "quartile",
           with != NULL ? "seconds  mean with prior" : "seconds");
    for (int mark = 1; mark <= result->evaluations; mark = next_mark(mark, result->evaluations)) {
        const kf_summary *s = &result->summaries[mark - 1];
        printf("%11d %7.2f %% %7.2f %% %7.2f %% %7.2f %% ", mark, 100 * result->means[mark - 1],
               100 * s->median, 100 * s->q1, 100 * s->q3);
        if (isfinite(result->seconds[mark - 1]))
            printf("%11.1f", result->seconds[mark - 1]);
        else
            printf("%11s", "-");
        if (with != NULL) printf(" %14.2f %%", 100 * with->means[mark - 1]);
        printf("\n");
    }
    printf("\n");
    print_within("", result);
    if (with != NULL) print_within(" with prior", with);
    if (scores) print_score("", landscape, result);
    if (scores && with != NULL) print_score(" with prior", landscape, with);
    printf("\nregret: time found / optimum - 1; seconds: what measuring and compiling took.\n");
    if (scores)
        printf("score: 1 is the optimum from the first config on, 0 is random search, whose budget it is "
               "over.\n");
    free(summary);
}

static void add_regret(cJSON *object, const char *prefix, double mean, const kf_summary *summary) {
    static const char *const names[] = {"mean", "median", "q1", "q3"};
    const double values[] = {mean, summary->median, summary->q1, summary->q3};
    for (int i = 0; i < 4; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "%s%s", prefix, names[i]);
        (void)cJSON_AddNumberToObject(object, key, values[i]);
    }
}

/* Adds "within": [{"regret": 0.05, "reached": 97, "evaluations": 34, "seconds": 52.3}, ...]. */
static void add_within(cJSON *object, const kf_replay_result *result) {
    static const double regrets[] = {0.05, 0.01};
    cJSON *list = cJSON_AddArrayToObject(object, "within");
    for (int i = 0; i < 2; i++) {
        const kf_replay_within within = kf_replay_time_to(result, regrets[i]);
        cJSON *entry = cJSON_CreateObject();
        (void)cJSON_AddNumberToObject(entry, "regret", regrets[i]);
        (void)cJSON_AddNumberToObject(entry, "reached", within.reached);
        if (isfinite(within.evaluations))
            (void)cJSON_AddNumberToObject(entry, "evaluations", within.evaluations);
        if (isfinite(within.seconds)) (void)cJSON_AddNumberToObject(entry, "seconds", within.seconds);
        (void)cJSON_AddItemToArray(list, entry);
    }
}

static void add_curve(cJSON *json, const kf_replay_result *result) {
    cJSON *curve = cJSON_AddArrayToObject(json, "curve");
    for (int i = 0; i < result->evaluations; i++) {
        cJSON *point = cJSON_CreateObject();
        (void)cJSON_AddNumberToObject(point, "evaluations", i + 1);
        add_regret(point, "", result->means[i], &result->summaries[i]);
        if (isfinite(result->seconds[i])) (void)cJSON_AddNumberToObject(point, "seconds", result->seconds[i]);
        (void)cJSON_AddItemToArray(curve, point);
    }
}

static void add_score(cJSON *json, const kf_landscape *landscape, const kf_replay_result *result) {
    const kf_replay_score score = kf_replay_score_of(landscape, result);
    const kf_replay_budget budget = kf_replay_budget_of(landscape);
    cJSON *object = cJSON_AddObjectToObject(json, "score");
    if (isfinite(score.evaluations))
        (void)cJSON_AddNumberToObject(object, "by_evaluations", score.evaluations);
    if (isfinite(score.seconds)) (void)cJSON_AddNumberToObject(object, "by_seconds", score.seconds);
    (void)cJSON_AddNumberToObject(object, "budget_evaluations", budget.evaluations);
    if (isfinite(budget.seconds)) (void)cJSON_AddNumberToObject(object, "budget_seconds", budget.seconds);
}

/* Adds the result of a replay with or without the prior. `scored` is NULL if there is no score. */
static void add_result(cJSON *json, const kf_replay_result *result, const kf_landscape *scored) {
    const int last = result->evaluations - 1;
    add_regret(json, "regret_", result->means[last], &result->summaries[last]);
    (void)cJSON_AddNumberToObject(json, "overhead_us", result->overhead_us);
    add_within(json, result);
    if (scored != NULL) add_score(json, scored, result);
    add_curve(json, result);
}

static void print_json(const kf_replay_request *request, const kf_replay_result *result,
                       const kf_replay_result *with, bool scores) {
    const kf_landscape *landscape = request->landscape, *scored = scores ? landscape : NULL;
    cJSON *json = kf_json_answer("replay");
    (void)cJSON_AddItemToObject(json, "device",
                                kf_device_remembered_to_json(landscape->device, landscape->backend));
    (void)cJSON_AddStringToObject(json, "landscape", landscape->name);
    (void)cJSON_AddStringToObject(json, "strategy", request->strategy);
    (void)cJSON_AddNumberToObject(json, "evaluations", result->evaluations);
    (void)cJSON_AddNumberToObject(json, "repeats", result->repeats);
    (void)cJSON_AddNumberToObject(json, "seed", (double)request->seed);
    (void)cJSON_AddNumberToObject(json, "configs", (double)landscape->size);
    (void)cJSON_AddNumberToObject(json, "correct", (double)landscape->ok_count);
    (void)cJSON_AddNumberToObject(json, "optimum", landscape->times_us[landscape->optimum]);
    (void)cJSON_AddStringToObject(json, "unit", "us");
    kf_config config;
    kf_space_config(landscape->space, landscape->optimum, &config);
    (void)cJSON_AddItemToObject(json, "optimum_config", kf_config_to_json(&config));
    const kf_landscape_spread spread = kf_landscape_spread_of(landscape);
    (void)cJSON_AddNumberToObject(json, "median_over_optimum", spread.median_over_optimum);
    (void)cJSON_AddNumberToObject(json, "share_within_5_percent", spread.share_within_5);
    add_result(json, result, scored);
    if (with != NULL) add_result(cJSON_AddObjectToObject(json, "with_prior"), with, scored);
    kf_json_print(json);
}

/* Replays without a prior, and then with it if tuning has one. */
static kf_status replay_both(const kf_arguments *arguments, const kf_replay_request *request,
                             kf_error *error) {
    kf_replay_result plain, led;
    kf_landscape_prior prior;
    KF_TRY(kf_replay(request, &plain, error));
    const bool has_prior = kf_landscape_prior_open(request->landscape, &prior);
    kf_status status = KF_OK;
    if (has_prior) {
        kf_replay_request led_request = *request;
        led_request.prior = &prior.prior;
        status = kf_replay(&led_request, &led, error);
        kf_landscape_prior_close(&prior);
    }
    const kf_replay_result *with = has_prior ? &led : NULL;
    const bool scores = kf_argument_given(arguments, "--score");
    if (status == KF_OK && kf_arguments_json(arguments))
        print_json(request, &plain, with, scores);
    else if (status == KF_OK)
        print_table(request, &plain, with, scores);
    if (has_prior && status == KF_OK) kf_replay_free(&led);
    kf_replay_free(&plain);
    return status;
}

/* Finds the number of evaluations that the score needs. With a budget in seconds it is larger than random
 * search's, because the strategy's configs may be quicker to measure. */
static kf_status evaluations_of_score(const kf_arguments *arguments, kf_replay_request *request,
                                      kf_error *error) {
    static const int FURTHER = 2;
    if (kf_argument_given(arguments, "--evaluations"))
        return kf_fail(error, KF_BAD_INPUT, "replay: --score sets the evaluations: leave --evaluations out");
    request->evaluations = FURTHER * kf_replay_budget_of(request->landscape).evaluations;
    return KF_OK;
}

/* Runs kftune replay: opens the landscape and replays the strategy on it, without and with the cost model as
 * prior. */
static kf_status run(const kf_arguments *arguments, kf_error *error) {
    long evaluations = 200, repeats = 100, seed = 1;
    const char *file = kf_argument(arguments, "--landscape", NULL);
    kf_replay_request request = {.strategy = kf_argument(arguments, "--strategy", "model")};
    KF_TRY(kf_argument_integer(arguments, "--evaluations", &evaluations, error));
    KF_TRY(kf_argument_integer(arguments, "--repeats", &repeats, error));
    KF_TRY(kf_argument_integer(arguments, "--seed", &seed, error));
    if (file == NULL)
        return kf_fail(
            error, KF_BAD_INPUT,
            "replay: option '--landscape FILE' is missing; a Kernel Tuner cache, T4 results or what "
            "'kftune store export --format landscape' writes");
    kf_landscape *landscape = NULL;
    KF_TRY(kf_landscape_open(file, &landscape, error));
    request.landscape = landscape;
    request.evaluations = (int)evaluations;
    request.repeats = (int)repeats;
    request.seed = (uint64_t)seed;
    kf_status status = KF_OK;
    if (kf_argument_given(arguments, "--score")) status = evaluations_of_score(arguments, &request, error);
    if (status == KF_OK) status = replay_both(arguments, &request, error);
    kf_landscape_free(landscape);
    return status;
}

extern const kf_command kf_command_replay;
const kf_command kf_command_replay = {
    .name = "replay",
    .summary = "try a search strategy on stored measurements, without a device",
    .synopsis = "kftune replay --landscape FILE [--strategy NAME] [options]",
    .description =
        "Runs searches on stored measurements instead of a device. Prints the regret over evaluations: the\n"
        "time of the best config found / optimum - 1. It also prints how long a search takes to come\n"
        "within 5 and 1 % of the best. The space is that of the configs in the file. Each search has its\n"
        "own seed. If there is a cost model for the landscape, searches run without it and with it as a\n"
        "prior.",
    .example = "kftune replay --landscape landscape.json --strategy random --evaluations 100",
    .options = options,
    .run = run,
};
