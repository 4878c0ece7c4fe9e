#include "harness/library/functions.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/locale.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* The contents of a problem. */
typedef struct functions_problem {
    kftune_functions functions;
    char name[KF_NAME];
    char hash[KF_HASH_HEX];
    cJSON *declaration; /* of the space */
} functions_problem;

/* The contents of a plan. */
enum { OUTPUTS = 64 };
typedef struct functions_plan {
    const kftune_functions *functions;
    kftune_config config; /* it outlives what `prepare` keeps of it */
    bool prepared;
    kftune_output outputs[OUTPUTS]; /* the program's outputs, if it has a referee */
    int output_count;
} functions_plan;

struct kf_reference {
    const kf_problem *problem;
};

/* --- The problem -----------------------------------------------------------------------------------------
 */

static void release(void *own) {
    functions_problem *inside = own;
    cJSON_Delete(inside->declaration);
    free(inside);
}

static kf_status make_trial(const kf_problem *problem, kf_problem **small, int *steps, kf_error *error) {
    (void)error;
    functions_problem *own = problem->own;
    *small = kf_problem_make(own, NULL);
    kf_copy_text((*small)->name, sizeof(*small)->name, own->name);
    memcpy((*small)->hash, own->hash, sizeof own->hash);
    *steps = 1;
    return KF_OK;
}

static kf_status accepts(const kf_problem *problem, kf_error *error) {
    (void)problem, (void)error;
    return KF_OK;
}

static kf_status accepts_device(const kf_problem *problem, const kf_device_info *device, kf_error *error) {
    if (strcmp(device->backend, "cpu") == 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: functions are called and timed on the cpu; leave the device out",
                   problem->name);
}

static void describe(const kf_problem *problem, const kf_device_info *device, kf_variables *variables) {
    const functions_problem *own = problem->own;
    memset(variables, 0, sizeof *variables);
    variables->declaration = own->declaration;
    variables->declaration_file = own->name;
    kf_add_device_variables(variables, device);
}

static kf_status sources(const kf_problem *problem, const kf_config *config, const kf_device_info *device,
                         kf_status (*visit)(const kf_source *source, void *data, kf_error *error), void *data,
                         kf_error *error) {
    (void)problem, (void)config, (void)device, (void)visit, (void)data, (void)error;
    return KF_OK; /* The program compiles its functions itself. */
}

/* --- The plan --------------------------------------------------------------------------------------------
 */

static kf_status failed(const char *function, int number, kf_error *error) {
    return kf_fail(error, KF_MACHINE, "%s returned %d", function, number);
}

static kf_status run(void *object, kf_stream *stream, kf_error *error) {
    (void)stream;
    const functions_plan *own = object;
    kf_locale_to_callers();
    const int number = own->functions->run(own->functions->context);
    kf_locale_to_own();
    return number == 0 ? KF_OK : failed("run", number, error);
}

/* Prepares a run that will be verified: inputs for the seed, and outputs of NAN. */
static kf_status restore(functions_plan *own, uint64_t seed, kf_error *error) {
    kf_locale_to_callers();
    int number = own->functions->restore(own->functions->context, seed);
    const int count =
        number == 0 ? own->functions->outputs(own->functions->context, own->outputs, OUTPUTS) : 0;
    kf_locale_to_own();
    if (number != 0) return failed("restore", number, error);
    if (count < 0) return failed("outputs", count, error);
    if (count > OUTPUTS)
        return kf_fail(error, KF_BAD_INPUT, "outputs names %d arrays, and at most %d are possible", count,
                       OUTPUTS);
    own->output_count = count;
    for (int i = 0; i < count; i++)
        if (own->outputs[i].bytes > 0) memset(own->outputs[i].data, 0xff, own->outputs[i].bytes);
    return KF_OK;
}

/* Makes the state of step 0. The functions are prepared only once, even if a plan is initialised several
 * times. */
static kf_status initialise(kf_plan *plan, kf_error *error) {
    functions_plan *own = plan->system;
    if (own->prepared) return KF_OK;
    kf_locale_to_callers();
    const int number = own->functions->prepare(own->functions->context, &own->config);
    kf_locale_to_own();
    if (number != 0) return failed("prepare", number, error);
    own->prepared = true;
    return own->functions->restore != NULL ? restore(own, 0, error) : KF_OK;
}

static void free_system(kf_plan *plan) {
    functions_plan *own = plan->system;
    if (own->prepared && own->functions->release != NULL) {
        kf_locale_to_callers();
        own->functions->release(own->functions->context);
        kf_locale_to_own();
    }
    free(own);
}

static const kf_plan_methods methods = {.initialise = initialise, .free = free_system};

static kf_status make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                           kf_plan **plan, kf_error *error) {
    (void)error;
    const functions_problem *inside = problem->own;
    functions_plan *own = kf_allocate_zeroed(1, sizeof *own);
    own->functions = &inside->functions;
    own->config.config = *config;
    *plan = kf_plan_create(backend, problem, config, &methods, own);
    (*plan)->updates = 1.0;
    const kf_call call = {.enqueue = run, .object = own, .version = "functions"};
    (void)kf_plan_add_call(*plan, "run", &call);
    return KF_OK;
}

/* --- The gate --------------------------------------------------------------------------------------------
 */

static kf_status make_reference(const kf_problem *problem, int steps, kf_reference **reference,
                                kf_error *error) {
    (void)steps, (void)error;
    *reference = kf_allocate(sizeof **reference);
    (*reference)->problem = problem;
    return KF_OK;
}

static void free_reference(kf_reference *reference) {
    free(reference);
}

/* Asks the program to check its last run. */
static kf_status judge(const functions_plan *own, kf_verification *verification, kf_error *error) {
    double deviation = (double)NAN, bound = 0.0;
    memset(verification, 0, sizeof *verification);
    verification->error = (double)NAN;
    kf_locale_to_callers();
    const int number = own->functions->check(own->functions->context, &deviation, &bound);
    kf_locale_to_own();
    if (number != 0) return failed("check", number, error);
    if (!isfinite(bound) || bound < 0.0 || deviation < 0.0)
        return kf_fail(
            error, KF_GATE_FAILED,
            "check gives the deviation %g and the bound %g: a bound is a finite number of at least 0, a "
            "deviation is at least 0 too",
            deviation, bound);
    kf_verification_add(verification, "result", isnan(deviation) ? (double)INFINITY : deviation, bound);
    return kf_verification_judge(verification, error);
}

static double value_at(const kftune_output *output, const void *data, size_t index) {
    float single = 0;
    double number = 0;
    if (output->real == sizeof single)
        memcpy(&single, (const char *)data + index * sizeof single, sizeof single);
    else
        memcpy(&number, (const char *)data + index * sizeof number, sizeof number);
    return output->real == sizeof single ? (double)single : number;
}

/* Returns the relative difference between two outputs; 0: the same bits; 1: they differ and are not numbers.
 */
static double spread_of(const kftune_output *output, const void *other) {
    double square = 0, whole = 0;
    if (output->bytes == 0 || memcmp(output->data, other, output->bytes) == 0) return 0.0;
    if (output->real != sizeof(float) && output->real != sizeof(double)) return 1.0;
    for (size_t i = 0; i < output->bytes / output->real; i++) {
        const double a = value_at(output, output->data, i), b = value_at(output, other, i);
        if (isnan(a) && isnan(b)) continue;
        square += (a - b) * (a - b);
        whole += b * b;
    }
    const double spread = whole > 0 ? sqrt(square / whole) : 1.0;
    return isfinite(spread) ? fmax(spread, DBL_MIN)
                            : 1.0; /* Equal values with different bits also count as a spread. */
}

/* Restores inputs, spoils outputs, and runs again. */
static kf_status run_again(functions_plan *own, uint64_t seed, const char *when, kf_error *error) {
    kf_verification verification;
    KF_TRY(restore(own, seed, error));
    KF_TRY(run(own, NULL, error));
    const kf_status status = judge(own, &verification, error);
    if (status != KF_GATE_FAILED) return status;
    const kf_error reason = *error;
    return kf_fail(error, KF_GATE_FAILED, "%s, %s", when, reason.message);
}

/* Makes a second run from equal inputs. It must be correct again, and shows whether results are the same bit
 * for bit, or how much they differ. */
static kf_status repeat(functions_plan *own, kf_verification *verification, kf_error *error) {
    kftune_output first[OUTPUTS];
    const int count = own->output_count;
    memcpy(first, own->outputs, sizeof first);
    for (int i = 0; i < count; i++) {
        first[i].data = kf_allocate(own->outputs[i].bytes + 1);
        memcpy(first[i].data, own->outputs[i].data, own->outputs[i].bytes);
    }
    kf_status status = run_again(own, 0, "nondeterministic: at a second run from equal inputs", error);
    verification->repeated = status == KF_OK;
    for (int i = 0; i < count; i++) {
        if (i < own->output_count && first[i].bytes == own->outputs[i].bytes)
            verification->spread = fmax(verification->spread, spread_of(&own->outputs[i], first[i].data));
        else
            verification->spread = 1.0;
        free(first[i].data);
    }
    return status;
}

static kf_status verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                        kf_error *error) {
    (void)reference;
    functions_plan *own = plan->system;
    KF_TRY(judge(own, verification, error));
    if (own->functions->restore == NULL) return KF_OK;
    KF_TRY(run_again(own, 1, "with inputs of another seed", error));
    KF_TRY(restore(own, 0, error));
    KF_TRY(run(own, NULL, error));
    return repeat(own, verification, error);
}

/* Refuses a time in which no machine could write the outputs. A core writes at most two cache lines a clock.
 */
static kf_status check_roof(const functions_plan *own, const kf_device_info *device, double step_us,
                            kf_error *error) {
    static const double CORE_BYTES = 128.0 * 6e9;
    double bytes = 0.0;
    for (int i = 0; i < own->output_count; i++)
        bytes += (double)own->outputs[i].bytes;
    const double beyond = fmax(0.0, bytes - (double)device->l2_bytes);
    const double memory_us = device->peak_bandwidth > 0.0 ? 1e6 * beyond / device->peak_bandwidth : 0.0;
    const double least_us = fmax(memory_us, 1e6 * bytes / (CORE_BYTES * fmax(1.0, device->multiprocessors)));
    if (step_us >= least_us) return KF_OK;
    return kf_fail(error, KF_GATE_FAILED,
                   "faster than the machine: writes %.3g bytes in %.3g us, but this device needs at least "
                   "%.3g us for that",
                   bytes, step_us, least_us);
}

/* Verifies after timing. The timed runs all had the same inputs, so this run has a seed that none had before.
 */
static kf_status recheck(kf_plan *plan, const kf_reference *reference, double step_us, kf_error *error) {
    (void)reference;
    functions_plan *own = plan->system;
    if (own->functions->restore == NULL) return KF_OK;
    KF_TRY(check_roof(own, kf_backend_device(plan->backend), step_us, error));
    return run_again(own, 2, "after it was timed, with inputs of another seed", error);
}

static const kf_system functions_system = {
    .name = "functions",
    .summary = "functions of a program that uses the library",
    .update = "run",
    .trial = make_trial,
    .accepts = accepts,
    .accepts_device = accepts_device,
    .variables = describe,
    .plan = make_plan,
    .sources = sources,
    .reference = make_reference,
    .verify = verify,
    .recheck = recheck,
    .free_reference = free_reference,
};

/* --- Opening ---------------------------------------------------------------------------------------------
 */

/* Completes the space with everything that the user may omit. */
static kf_status complete(const char *name, cJSON *space, kf_error *error) {
    if (!cJSON_IsObject(space))
        return kf_fail(error, KF_BAD_INPUT, "%s: the space must be an object {\"parameters\": [...]}", name);
    if (!cJSON_HasObjectItem(space, "system"))
        (void)cJSON_AddStringToObject(space, "system", functions_system.name);
    if (!cJSON_HasObjectItem(space, "format")) (void)cJSON_AddNumberToObject(space, "format", 1);
    if (!cJSON_HasObjectItem(space, "presets")) (void)cJSON_AddObjectToObject(space, "presets");
    cJSON *presets = cJSON_GetObjectItemCaseSensitive(space, "presets");
    static const char *const needed[] = {"baseline", "paper"};
    for (size_t i = 0; cJSON_IsObject(presets) && i < sizeof needed / sizeof needed[0]; i++)
        if (!cJSON_HasObjectItem(presets, needed[i])) (void)cJSON_AddObjectToObject(presets, needed[i]);
    return KF_OK;
}

static kf_status check(const char *name, const kftune_functions *functions, kf_error *error) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (name == NULL || name[0] == '\0' || strlen(name) >= KF_NAME || name[strspn(name, letters)] != '\0')
        return kf_fail(error, KF_BAD_INPUT, "the name must be 1 to %d letters, digits, '-', '_' or '.'",
                       KF_NAME - 1);
    if (functions == NULL || functions->size < offsetof(kftune_functions, restore))
        return kf_fail(error, KF_BAD_INPUT, "%s: functions.size must be sizeof(kftune_functions), %zu", name,
                       sizeof *functions);
    if (functions->prepare == NULL || functions->run == NULL || functions->check == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: prepare, run and check must all be there", name);
    if (functions->size >= sizeof *functions && (functions->restore == NULL) != (functions->outputs == NULL))
        return kf_fail(error, KF_BAD_INPUT, "%s: give both restore and outputs, or neither", name);
    return KF_OK;
}

static void hash_problem(functions_problem *own) {
    kf_hasher hasher;
    char *text = kf_json_canonical(own->declaration);
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, own->name);
    kf_hash_add_string(&hasher, text);
    kf_hash_end(&hasher, own->hash);
    free(text);
}

kf_status kf_functions_open(const char *name, const char *text, const kftune_functions *functions,
                            kf_problem **problem, kf_error *error) {
    cJSON *space = NULL;
    KF_TRY(check(name, functions, error));
    if (text == NULL) return kf_fail(error, KF_BAD_INPUT, "%s: the space is missing", name);
    KF_TRY(kf_json_parse(name, text, strlen(text), &space, error));
    kf_status status = complete(name, space, error);
    if (status != KF_OK) {
        cJSON_Delete(space);
        return status;
    }
    functions_problem *own = kf_allocate_zeroed(1, sizeof *own);
    memcpy(&own->functions, functions,
           functions->size < sizeof own->functions ? functions->size : sizeof own->functions);
    own->declaration = space;
    kf_copy_text(own->name, sizeof own->name, name);
    hash_problem(own);
    *problem = kf_problem_make(own, release);
    kf_copy_text((*problem)->name, sizeof(*problem)->name, name);
    kf_copy_text((*problem)->source, sizeof(*problem)->source, name);
    memcpy((*problem)->hash, own->hash, sizeof own->hash);
    (*problem)->seed = 1;
    (*problem)->system = &functions_system;
    return KF_OK;
}
