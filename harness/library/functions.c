#include "harness/library/functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/locale.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* Holds what is inside of a problem. */
typedef struct functions_problem {
    kftune_functions functions;
    char name[KF_NAME];
    char hash[KF_HASH_HEX];
    cJSON *declaration; /* of the space */
} functions_problem;

/* Holds what is inside of a plan. */
typedef struct functions_plan {
    const kftune_functions *functions;
    kftune_config config; /* outlives what prepare keeps of it */
    bool prepared;
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
    return KF_OK; /* what the functions compile is theirs */
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

/* State of step 0; prepared once, however often a plan begins anew. */
static kf_status initialise(kf_plan *plan, kf_error *error) {
    functions_plan *own = plan->system;
    if (own->prepared) return KF_OK;
    kf_locale_to_callers();
    const int number = own->functions->prepare(own->functions->context, &own->config);
    kf_locale_to_own();
    if (number != 0) return failed("prepare", number, error);
    own->prepared = true;
    return KF_OK;
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

static kf_status verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                        kf_error *error) {
    (void)reference;
    const functions_plan *own = plan->system;
    double deviation = (double)NAN, bound = 0.0;
    memset(verification, 0, sizeof *verification);
    verification->error = (double)NAN;
    kf_locale_to_callers();
    const int number = own->functions->check(own->functions->context, &deviation, &bound);
    kf_locale_to_own();
    if (number != 0) return failed("check", number, error);
    kf_verification_add(verification, "deviation", isnan(deviation) ? (double)INFINITY : deviation, bound);
    return kf_verification_judge(verification, error);
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
    .free_reference = free_reference,
};

/* --- Opening ---------------------------------------------------------------------------------------------
 */

/* Completes the space with what the user need not say. */
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
    if (functions == NULL || functions->size < sizeof *functions)
        return kf_fail(error, KF_BAD_INPUT, "%s: functions.size must be sizeof(kftune_functions), %zu", name,
                       sizeof *functions);
    if (functions->prepare == NULL || functions->run == NULL || functions->check == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: prepare, run and check must all be there", name);
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
    own->functions = *functions;
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
