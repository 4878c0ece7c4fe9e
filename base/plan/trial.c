#include "base/plan/trial.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"

kf_status kf_trial_open(const kf_problem *problem, kf_trial *trial, kf_error *error) {
    memset(trial, 0, sizeof *trial);
    KF_TRY(problem->system->trial(problem, &trial->problem, &trial->steps, error));
    trial->problem->system = problem->system;
    trial->whole = kf_whole_create();
    return KF_OK;
}

kf_status kf_trial_refer(kf_trial *trial, kf_error *error) {
    if (trial->reference != NULL) return KF_OK;
    return trial->problem->system->reference(trial->problem, trial->steps, &trial->reference, error);
}

/* --- Inputs -----------------------------------------------------------------------------------------------
 * What the host uploads while a plan is built, and the plan's initialise does not renew, steps may only read:
 * else a second run would not begin from an equal state. */

typedef struct input {
    /* The number of changes of the buffer so far. */
    unsigned changes;
    bool is_input;
    char hash[KF_HASH_HEX];
} input;

static kf_status hash_buffer(const kf_buffer *buffer, char hash[KF_HASH_HEX], kf_error *error) {
    const size_t bytes = kf_buffer_size(buffer);
    unsigned char *content = kf_allocate(bytes);
    const kf_status status = kf_buffer_download(buffer, 0, content, bytes, error);
    kf_hash_bytes(content, status == KF_OK ? bytes : 0, hash);
    free(content);
    return status;
}

/* Returns the plan's buffers in their initial state, [plan->buffer_count]. The caller frees them. */
static input *begin_inputs(const kf_plan *plan) {
    input *inputs = kf_allocate_zeroed(plan->buffer_count + 1, sizeof *inputs);
    for (size_t i = 0; i < plan->buffer_count; i++) {
        inputs[i].changes = kf_buffer_changes(plan->buffers[i]);
        inputs[i].is_input = kf_buffer_uploads(plan->buffers[i]) > 0;
    }
    return inputs;
}

/* Remembers what they hold once the plan is initialised. */
static kf_status keep_inputs(const kf_plan *plan, input *inputs, size_t count, kf_error *error) {
    for (size_t i = 0; i < count; i++) {
        inputs[i].is_input = inputs[i].is_input && inputs[i].changes == kf_buffer_changes(plan->buffers[i]);
        if (inputs[i].is_input) KF_TRY(hash_buffer(plan->buffers[i], inputs[i].hash, error));
    }
    return KF_OK;
}

static kf_status check_inputs(const kf_plan *plan, const input *inputs, size_t count, kf_error *error) {
    char hash[KF_HASH_HEX];
    for (size_t i = 0; i < count; i++) {
        if (!inputs[i].is_input) continue;
        KF_TRY(hash_buffer(plan->buffers[i], hash, error));
        if (strcmp(hash, inputs[i].hash) != 0)
            return kf_fail(error, KF_GATE_FAILED, "a step changes an input: a buffer of %zu bytes",
                           kf_buffer_size(plan->buffers[i]));
    }
    return KF_OK;
}

/* --- Two runs from equal states ------------------------------------------------------------------------- */

/* Saves the whole state. The caller frees it. */
static kf_status save(kf_plan *plan, void **state, size_t *bytes, kf_error *error) {
    KF_TRY(plan->methods->state_size(plan, bytes, error));
    *state = kf_allocate_zeroed(*bytes + 1, 1);
    return plan->methods->save(plan, *state, error);
}

/* Returns the largest difference of two snapshots, relative to the largest value of the quantity. */
static double difference(const kf_snapshot *a, const kf_snapshot *b) {
    /* A difference of bits that the snapshot does not contain counts as a spread too. */
    double largest = DBL_MIN;
    for (size_t q = 0; q < a->quantity_count && q < b->quantity_count; q++) {
        const size_t count = a->count * (size_t)a->quantities[q].components;
        double most = 0.0, off = 0.0;
        for (size_t i = 0; i < count; i++) {
            const double left = (double)a->quantities[q].values[i],
                         right = (double)b->quantities[q].values[i];
            most = fmax(most, fabs(left));
            off = fmax(off, fabs(left - right));
        }
        if (most > 0.0) largest = fmax(largest, off / most);
    }
    return largest;
}

static kf_status spread_of(kf_plan *plan, uint64_t steps, void *const states[2], double *spread,
                           kf_error *error) {
    kf_snapshot seen[2] = {{.count = 0}, {.count = 0}};
    kf_status status = KF_OK;
    for (int i = 0; i < 2 && status == KF_OK; i++) {
        status = plan->methods->restore(plan, states[i], steps, error);
        if (status == KF_OK) status = kf_plan_snapshot(plan, &seen[i], error);
    }
    if (status == KF_OK) *spread = difference(&seen[0], &seen[1]);
    for (int i = 0; i < 2; i++)
        kf_snapshot_free(&seen[i]);
    return status;
}

/* Runs from the beginning, step by step, where before each of them is spoilt what it must write. */
static kf_status run_spoilt(const kf_trial *trial, kf_plan *plan, kf_error *error) {
    KF_TRY(kf_plan_initialise(plan, error));
    for (int step = 0; step < trial->steps; step++) {
        KF_TRY(kf_plan_spoil(plan, error));
        KF_TRY(kf_plan_advance(plan, 1, error));
    }
    return kf_backend_synchronize(plan->backend, error);
}

/* Checks that a second run reaches the state of the first one, or at least a correct state. */
static kf_status repeat(const kf_trial *trial, kf_plan *plan, void *states[2], kf_verification *verification,
                        kf_error *error) {
    size_t bytes = 0, again = 0;
    kf_verification second;
    KF_TRY(save(plan, &states[0], &bytes, error));
    KF_TRY(run_spoilt(trial, plan, error));
    KF_TRY(save(plan, &states[1], &again, error));
    verification->repeated = true;
    verification->spread = 0.0;
    if (bytes == again && memcmp(states[0], states[1], bytes) == 0) return KF_OK;
    const kf_status status = trial->problem->system->verify(plan, trial->reference, &second, error);
    if (status == KF_OK) return spread_of(plan, (uint64_t)trial->steps, states, &verification->spread, error);
    const kf_error reason = *error;
    return kf_fail(error, status, "from spoilt outputs, %s", reason.message);
}

/* --- The gate ------------------------------------------------------------------------------------------- */

struct kf_trial_run {
    const kf_trial *trial;
    kf_plan *plan;
    input *inputs;
    /* The number of inputs; 0 when other processes hold parts of the state. */
    size_t count;
};

static kf_status look_around(const kf_trial_run *run, kf_error *error) {
    KF_TRY(check_inputs(run->plan, run->inputs, run->count, error));
    return kf_plan_check_buffers(run->plan, error);
}

/* Makes a run like any other. */
static kf_status pass(const kf_trial_run *run, kf_verification *verification, kf_error *error) {
    const kf_trial *trial = run->trial;
    kf_plan *plan = run->plan;
    KF_TRY(kf_plan_initialise(plan, error));
    KF_TRY(keep_inputs(plan, run->inputs, run->count, error));
    KF_TRY(kf_plan_advance(plan, (uint64_t)trial->steps, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    KF_TRY(trial->problem->system->verify(plan, trial->reference, verification, error));
    return look_around(run, error);
}

kf_status kf_trial_begin(const kf_trial *trial, const kf_config *config, kf_backend *backend,
                         kf_verification *verification, kf_trial_run **run, kf_error *error) {
    kf_plan *plan = NULL;
    *run = NULL;
    kf_backend_suspect(backend, true);
    /* All processes agree before one begins steps that wait for others, because one may have no plan. */
    kf_status status =
        kf_world_agree(trial->problem->system->plan(trial->problem, config, backend, &plan, error), error);
    kf_backend_suspect(backend, false);
    if (plan == NULL) return status;
    kf_trial_run *begun = kf_allocate_zeroed(1, sizeof *begun);
    *begun = (kf_trial_run){.trial = trial, .plan = plan, .inputs = begin_inputs(plan)};
    if (plan->part_count == plan->all_parts) begun->count = plan->buffer_count;
    if (status == KF_OK) status = kf_world_give_up(pass(begun, verification, error), error);
    const bool whole = plan->part_count == plan->all_parts && plan->methods->save != NULL;
    if (status == KF_OK && whole)
        *run = begun;
    else
        kf_trial_end(begun);
    return status;
}

kf_status kf_trial_repeat(kf_trial_run *run, kf_verification *verification, kf_error *error) {
    kf_plan *plan = run->plan;
    void *states[2] = {NULL, NULL};
    kf_status status = repeat(run->trial, plan, states, verification, error);
    if (status == KF_OK) status = look_around(run, error);
    free(states[0]);
    free(states[1]);
    return kf_world_give_up(status, error);
}

void kf_trial_end(kf_trial_run *run) {
    if (run == NULL) return;
    kf_plan_free(run->plan);
    free(run->inputs);
    free(run);
}

kf_status kf_trial_verify(const kf_trial *trial, const kf_config *config, kf_backend *backend,
                          kf_verification *verification, kf_error *error) {
    kf_trial_run *run;
    kf_status status = kf_trial_begin(trial, config, backend, verification, &run, error);
    if (status == KF_OK && run != NULL) status = kf_trial_repeat(run, verification, error);
    kf_trial_end(run);
    return status;
}

void kf_trial_close(kf_trial *trial) {
    if (trial->reference != NULL) trial->problem->system->free_reference(trial->reference);
    kf_whole_free(trial->whole);
    kf_problem_free(trial->problem);
    memset(trial, 0, sizeof *trial);
}
