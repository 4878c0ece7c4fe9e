/* Implements the library's functions. Each is a guarded call of the program's code. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/backend/team/team.h"
#include "base/util/clock.h"
#include "base/util/json.h"
#include "base/util/locale.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "harness/library/functions.h"
#include "harness/tune/knowledge.h"
#include "harness/tune/tune.h"
#include "harness/worker/worker.h"
#include "solver/systems.h"

struct kftune_problem {
    kf_problem *problem;
};

struct kftune_result {
    kf_best_config best;
    kftune_config config;
    bool exact;
    char *json;
};

static const double USUAL_SECONDS = 60.0;

/* --- Entering and leaving --------------------------------------------------------------------------------
 */

static pthread_mutex_t entrance = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local kf_error last;
/* The guard of the running call: where to continue if memory runs out. */
static struct {
    pid_t process;
    pthread_t thread;
    jmp_buf out;
} guard;
static struct {
    void (*line)(void *context, const char *text);
    void *context;
} listener;

static void pass_on(const char *line) {
    if (listener.line == NULL) return;
    kf_locale_to_callers();
    listener.line(listener.context, line);
    kf_locale_to_own();
}

/* Leaves the library's call at the place where the program would end for lack of memory. A child process may
 * simply end. */
static void leave_without_memory(size_t bytes) {
    if (guard.process != getpid() || !pthread_equal(guard.thread, pthread_self())) _exit(KF_MACHINE);
    (void)kf_fail(&last, KF_MACHINE, "out of memory: %zu bytes cannot be allocated", bytes);
    longjmp(guard.out, 1);
}

typedef kf_status (*work)(void *arguments, kf_error *error);

static kftune_status status_of(kf_status status) {
    switch (status) {
    case KF_OK:
        return KFTUNE_OK;
    case KF_GATE_FAILED:
        return KFTUNE_NONE;
    case KF_BAD_INPUT:
        return KFTUNE_INPUT;
    default:
        return KFTUNE_MACHINE;
    }
}

/* Lets one call run at a time. Memory of a call that ran out of memory is lost. */
static kftune_status enter(work function, void *arguments) {
    (void)pthread_mutex_lock(&entrance);
    last = (kf_error){KF_OK, ""};
    guard.process = getpid();
    guard.thread = pthread_self();
    kf_log_to(pass_on);
    kf_on_out_of_memory(leave_without_memory);
    kf_locale_enter();
    volatile kf_status status = KF_MACHINE;
    if (setjmp(guard.out) == 0) status = function(arguments, &last);
    kf_locale_leave();
    (void)pthread_mutex_unlock(&entrance);
    return status_of(status);
}

const char *kftune_version(void) {
    return KF_VERSION;
}

const char *kftune_error(void) {
    return last.message;
}

void kftune_log(void (*line)(void *context, const char *text), void *context) {
    (void)pthread_mutex_lock(&entrance);
    listener.line = line;
    listener.context = context;
    (void)pthread_mutex_unlock(&entrance);
}

/* --- Configs ---------------------------------------------------------------------------------------------
 */

static const kf_value *find_value(const kftune_config *config, const char *parameter) {
    return config != NULL ? kf_config_find(&config->config, parameter) : NULL;
}

int64_t kftune_integer(const kftune_config *config, const char *parameter, int64_t fallback) {
    const kf_value *value = find_value(config, parameter);
    return value != NULL && value->kind != KF_VALUE_NAME ? value->integer : fallback;
}

const char *kftune_name(const kftune_config *config, const char *parameter) {
    const kf_value *value = find_value(config, parameter);
    return value != NULL && value->kind == KF_VALUE_NAME ? value->name : NULL;
}

/* --- Problems --------------------------------------------------------------------------------------------
 */

typedef struct opening {
    const char *source, *space;
    const kftune_scene_options *options;
    const kftune_functions *functions;
    kftune_problem **problem;
} opening;

static kf_status deliver(const opening *asked, kf_problem *problem) {
    *asked->problem = kf_allocate(sizeof **asked->problem);
    (*asked->problem)->problem = problem;
    return KF_OK;
}

/* Opens the scene with the caller's options. They are checked here, because no command line has checked them.
 */
static kf_status open_scene(void *arguments, kf_error *error) {
    const opening *asked = arguments;
    kf_problem_options options = {.seed = 0};
    const char *system = NULL;
    kf_problem *problem = NULL;
    if (asked->source == NULL) return kf_fail(error, KF_BAD_INPUT, "the source is missing");
    if (asked->options != NULL) {
        if (asked->options->size < sizeof *asked->options)
            return kf_fail(error, KF_BAD_INPUT, "options.size must be sizeof(kftune_scene_options), %zu",
                           sizeof *asked->options);
        for (int axis = 0; axis < 3; axis++)
            options.nodes[axis] = asked->options->nodes[axis];
        options.samples_per_cell = asked->options->samples_per_cell;
        options.seed = asked->options->seed;
        system = asked->options->system;
        bool samples =
            options.samples_per_cell == 0.0 || (options.samples_per_cell >= KF_LEAST_SAMPLES_PER_CELL &&
                                                options.samples_per_cell <= KF_MOST_SAMPLES_PER_CELL);
        if (!samples || options.nodes[0] < 0 || options.nodes[1] < 0 || options.nodes[2] < 0)
            return kf_fail(error, KF_BAD_INPUT,
                           "options: nodes must be positive, samples_per_cell 1 to 1000");
    }
    KF_TRY(kf_problem_open(asked->source, system, &options, &problem, error));
    return deliver(asked, problem);
}

/* Builds the space once, so that a bad one is refused where the caller gives it and not at the first search.
 */
static kf_status check_space(const kf_problem *problem, kf_error *error) {
    kf_device_info device;
    kf_space *space = NULL;
    KF_TRY(kf_device_probe("cpu", &device, error));
    KF_TRY(kf_problem_space(problem, &device, NULL, 0, &space, error));
    kf_space_free(space);
    return KF_OK;
}

static kf_status open_functions(void *arguments, kf_error *error) {
    const opening *asked = arguments;
    kf_problem *problem = NULL;
    KF_TRY(kf_functions_open(asked->source, asked->space, asked->functions, &problem, error));
    const kf_status status = check_space(problem, error);
    if (status == KF_OK) return deliver(asked, problem);
    kf_problem_free(problem);
    return status;
}

kftune_status kftune_open_scene(const char *source, const kftune_scene_options *options,
                                kftune_problem **problem) {
    *problem = NULL;
    return enter(open_scene, &(opening){.source = source, .options = options, .problem = problem});
}

kftune_status kftune_open_functions(const char *name, const char *space, const kftune_functions *functions,
                                    kftune_problem **problem) {
    *problem = NULL;
    return enter(open_functions,
                 &(opening){.source = name, .space = space, .functions = functions, .problem = problem});
}

void kftune_close(kftune_problem *problem) {
    if (problem == NULL) return;
    kf_problem_free(problem->problem);
    free(problem);
}

/* --- Tuning ----------------------------------------------------------------------------------------------
 */

typedef struct asking {
    const kf_problem *problem;
    const kftune_options *options;
    kftune_options given; /* with defaults for missing members */
    kf_user_metrics metrics;
    kf_store *store;
    kftune_result **result;
} asking;

/* Begins a tuning or a query: checks the caller's options, fills in defaults, and opens the store. Functions
 * always run on the cpu, and teams are refused. */
static kf_status begin(asking *asked, bool read_only, kf_error *error) {
    if (asked->problem == NULL) return kf_fail(error, KF_BAD_INPUT, "the problem is missing");
    asked->given = (kftune_options){.size = sizeof asked->given};
    if (asked->options != NULL) {
        /* `size` says whether the members from `metrics` on exist. */
        if (asked->options->size < offsetof(kftune_options, metrics))
            return kf_fail(error, KF_BAD_INPUT, "options.size must be sizeof(kftune_options), %zu",
                           sizeof *asked->options);
        memcpy(&asked->given, asked->options,
               asked->options->size < sizeof asked->given ? asked->options->size : sizeof asked->given);
    }
    kftune_options *given = &asked->given;
    if (!(given->seconds >= 0.0 && given->seconds < 1e8) || given->evaluations < 0)
        return kf_fail(error, KF_BAD_INPUT, "options: the budget must not be negative");
    if (given->seconds == 0.0 && given->evaluations == 0) given->seconds = USUAL_SECONDS;
    if (given->seed == 0) given->seed = 1;
    if (strcmp(asked->problem->system->name, "functions") == 0 && given->device == NULL)
        given->device = "cpu";
    int parts = 0;
    KF_TRY(kf_device_check(given->device, &parts, error));
    if (parts > 1)
        return kf_fail(error, KF_BAD_INPUT, "options.device: '%s' are several; name one", given->device);
    return kf_store_open(given->store, read_only, &asked->store, error);
}

static void take(asking *asked, kftune_result *result, cJSON *json) {
    result->config.config = result->best.config;
    result->json = kf_json_text(json, false);
    cJSON_Delete(json);
    *asked->result = result;
}

static kf_status read_goals(asking *asked, kf_objective *objective, kf_error *error) {
    const char *const *metric = asked->given.metrics;
    for (; metric != NULL && *metric != NULL; metric++)
        if (kf_user_metrics_add(&asked->metrics, *metric, error) != KF_OK)
            return kf_fail_context(error, "options.metrics");
    if (asked->given.objective == NULL) return KF_OK;
    if (kf_objective_read(asked->given.objective, &asked->metrics, objective, error) != KF_OK)
        return kf_fail_context(error, "options.objective");
    return KF_OK;
}

/* Tunes as the caller asked, and moves the best config and the JSON into a result for the caller. */
static kf_status tune_with(asking *asked, kf_error *error) {
    const kftune_options *given = &asked->given;
    char budget[48];
    if (given->seconds > 0.0)
        (void)snprintf(budget, sizeof budget, "%gs", given->seconds);
    else
        (void)snprintf(budget, sizeof budget, "%ldevals", given->evaluations);
    kf_tune_request request = {.problem = asked->problem,
                               .device = given->device,
                               .strategy = given->strategy,
                               .fixed = given->fixed,
                               .started = kf_clock_seconds(),
                               .budget = {.seconds = given->seconds, .evaluations = given->evaluations},
                               .budget_text = budget,
                               .seed = given->seed,
                               .store = asked->store,
                               .limit_seconds = KF_CONFIG_LIMIT_SECONDS};
    while (request.fixed != NULL && request.fixed[request.fixed_count] != NULL)
        request.fixed_count++;
    request.metrics = &asked->metrics;
    KF_TRY(read_goals(asked, &request.objective, error));
    kf_tune_result *found = kf_allocate_zeroed(1, sizeof *found);
    kf_status status = kf_tune(&request, found, error);
    if (status == KF_OK) {
        kftune_result *result = kf_allocate_zeroed(1, sizeof *result);
        kf_tune_best_config(&request, found, &result->best);
        result->exact = true;
        take(asked, result, kf_tune_to_json(&request, found, NULL));
    }
    kf_tune_result_free(found);
    free(found);
    return status;
}

static kf_status tune(void *arguments, kf_error *error) {
    asking *asked = arguments;
    KF_TRY(begin(asked, false, error));
    kf_status status = tune_with(asked, error);
    kf_user_metrics_free(&asked->metrics);
    kf_store_close(asked->store);
    return status;
}

kftune_status kftune_tune(const kftune_problem *problem, const kftune_options *options,
                          kftune_result **result) {
    *result = NULL;
    return enter(tune, &(asking){.problem = problem != NULL ? problem->problem : NULL,
                                 .options = options,
                                 .result = result});
}

/* --- Asking the store ------------------------------------------------------------------------------------
 */

static kf_status ask_about(asking *asked, const kf_device_info *device, const kf_space *space,
                           kf_error *error) {
    const bool functions = strcmp(asked->problem->system->name, "functions") == 0;
    const kf_similar_query query = {.problem = asked->problem,
                                    .device = device,
                                    .space = space,
                                    .farthest = functions ? 1.0 : (double)INFINITY};
    kf_similar similar;
    KF_TRY(kf_knowledge_similar(asked->store, &query, &similar, error));
    if (!similar.found || (functions && !similar.same_scene))
        return kf_fail(error, KF_GATE_FAILED, "%s knows no config for %s on %s; tune it",
                       kf_store_path(asked->store), asked->problem->name, device->name);
    kftune_result *result = kf_allocate_zeroed(1, sizeof *result);
    kf_best_config_known(asked->problem, device, &similar.config, similar.time_us, similar.updates_per_us,
                         &result->best);
    result->exact = similar.same_scene;
    take(asked, result, kf_config_to_json(&similar.config));
    return KF_OK;
}

static kf_status ask(void *arguments, kf_error *error) {
    asking *asked = arguments;
    kf_device_info device;
    kf_space *space = NULL;
    KF_TRY(begin(asked, true, error));
    kf_status status = kf_device_probe(asked->given.device, &device, error);
    if (status == KF_OK) status = kf_problem_space(asked->problem, &device, NULL, 0, &space, error);
    if (status == KF_OK) status = ask_about(asked, &device, space, error);
    kf_space_free(space);
    kf_store_close(asked->store);
    return status;
}

kftune_status kftune_best(const kftune_problem *problem, const kftune_options *options,
                          kftune_result **result) {
    *result = NULL;
    return enter(ask, &(asking){.problem = problem != NULL ? problem->problem : NULL,
                                .options = options,
                                .result = result});
}

/* --- Results ---------------------------------------------------------------------------------------------
 */

const kftune_config *kftune_best_config(const kftune_result *result) {
    return &result->config;
}

double kftune_time_us(const kftune_result *result) {
    return result->best.time_us;
}

int kftune_exact(const kftune_result *result) {
    return result->exact;
}

const char *kftune_json(const kftune_result *result) {
    return result->json;
}

typedef struct saving {
    const kftune_result *result;
    const char *path;
} saving;

static kf_status save(void *arguments, kf_error *error) {
    const saving *asked = arguments;
    return kf_best_config_write(asked->path, &asked->result->best, error);
}

kftune_status kftune_save(const kftune_result *result, const char *path) {
    return enter(save, &(saving){result, path});
}

void kftune_free(kftune_result *result) {
    if (result == NULL) return;
    kf_best_config_free(&result->best);
    free(result->json);
    free(result);
}
