/* Checks the timed plan once more. It compares the change of the whole problem's state with that of the first
 * config before its timing. Only configs with the same scheme and the same bounds are compared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plan/machine_limit.h"
#include "base/plan/trial.h"
#include "base/util/clock.h"
#include "base/util/memory.h"

/* A problem of few updates is always compared, even on a busy machine that takes long. */
enum { KINDS = 8, MOST_PLACES = 1 << 20, FEW_UPDATES = 1 << 16, MOST_UPDATES = 1 << 26, STEPS = 4 };

/* The velocity of the whole problem after STEPS steps of the first config of a kind, at every stride-th
 * place. */
typedef struct kind {
    /* This and the next two members identify a kind. A suite verifies some problems by another problem. */
    char problem[KF_HASH_HEX];
    /* This and the next member are those of its verification. */
    int scheme;
    double bound;
    float *velocity; /* [count] */
    size_t count;
    /* The norms of the change since the start, and of the values. */
    double moved, norm;
} kind;

struct kf_whole {
    kind kinds[KINDS];
    int count;
    /* The seconds of the latest comparison. */
    double seconds;
};

kf_whole *kf_whole_create(void) {
    return kf_allocate_zeroed(1, sizeof(kf_whole));
}

void kf_whole_free(kf_whole *whole) {
    for (int i = 0; whole != NULL && i < whole->count; i++)
        free(whole->kinds[i].velocity);
    free(whole);
}

/* --- States -----------------------------------------------------------------------------------------------
 */

static const kf_quantity *velocity_of(const kf_snapshot *snapshot) {
    const kf_quantity *found = kf_snapshot_find(snapshot, "velocity");
    return found != NULL ? found : &snapshot->quantities[0];
}

/* Copies the velocity at some places of a snapshot; for equal problems they are the same. The caller frees
 * it. Returns the number of values. The stride is odd, so all columns and rows occur. */
static float *take_places(const kf_snapshot *snapshot, size_t *count) {
    const kf_quantity *quantity = velocity_of(snapshot);
    const size_t components = (size_t)quantity->components, stride = (snapshot->count / MOST_PLACES) | 1U,
                 places = (snapshot->count + stride - 1) / stride;
    float *values = kf_allocate(places * components * sizeof *values);
    for (size_t p = 0; p < places; p++)
        memcpy(values + p * components, quantity->values + p * stride * components,
               components * sizeof *values);
    *count = places * components;
    return values;
}

/* Returns the root of the sum of squares of a - b. When b is NULL, of a. */
static double length_of(const float *a, const float *b, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double value = (double)a[i] - (b != NULL ? (double)b[i] : 0.0);
        sum += value * value;
    }
    return sqrt(sum);
}

/* Returns the speed below which a fluid counts as at rest, in the units of the snapshot; 0: there is no such
 * speed. */
static double rest_of(const kf_plan *plan, const kf_snapshot *snapshot) {
    const double step = plan->methods->time != NULL ? plan->methods->time(plan, 1) : 0.0;
    return snapshot->on == KF_ON_NODES && step > 0.0 ? KF_REST_SPEED * snapshot->spacing[0] / step : 0.0;
}

/* --- Steps ------------------------------------------------------------------------------------------------
 */

/* Runs two steps in one call, which uses the timed graph, with spoilt outputs. */
static kf_status go_on(kf_plan *plan, int steps, kf_error *error) {
    for (int step = 0; step < steps; step += 2) {
        KF_TRY(kf_plan_spoil(plan, error));
        KF_TRY(kf_plan_advance(plan, 2, error));
    }
    return kf_backend_synchronize(plan->backend, error);
}

/* Makes a kind of the plan's config. */
static kf_status make_kind(kf_plan *plan, kind *k, kf_error *error) {
    kf_snapshot first = {.count = 0}, after = {.count = 0};
    float *begun = NULL;
    kf_status status = kf_plan_initialise(plan, error);
    if (status == KF_OK) status = kf_plan_snapshot(plan, &first, error);
    if (status == KF_OK) begun = take_places(&first, &k->count);
    kf_snapshot_free(&first);
    if (status == KF_OK) status = go_on(plan, STEPS, error);
    if (status == KF_OK) status = kf_plan_snapshot(plan, &after, error);
    if (status == KF_OK) {
        const double places = (double)k->count / velocity_of(&after)->components;
        k->velocity = take_places(&after, &k->count);
        k->moved = length_of(k->velocity, begun, k->count);
        k->norm = fmax(length_of(k->velocity, NULL, k->count), rest_of(plan, &after) * sqrt(places));
    }
    kf_snapshot_free(&after);
    free(begun);
    return status;
}

/* Goes the same steps, and compares. */
static kf_status compare(kf_plan *plan, const kind *k, kf_error *error) {
    static const double SHARE = 0.05;
    kf_snapshot after = {.count = 0};
    KF_TRY(kf_plan_initialise(plan, error));
    KF_TRY(go_on(plan, STEPS, error));
    kf_status status = kf_plan_snapshot(plan, &after, error);
    if (status == KF_OK) {
        size_t count;
        float *values = take_places(&after, &count);
        const double off = count == k->count ? length_of(values, k->velocity, count) : (double)INFINITY,
                     accepted = SHARE * k->moved + 2.0 * k->bound * k->norm;
        if (!(off <= accepted))
            status = kf_fail(error, KF_GATE_FAILED,
                             "the velocity on the whole problem after %d steps differs from that of an "
                             "earlier run, or of the first config, by %.3g (relative); accepted is %.3g",
                             STEPS, off / k->norm, accepted / k->norm);
        free(values);
    }
    kf_snapshot_free(&after);
    return status;
}

/* Compares a part of the state after two steps with spoilt outputs, when all of it would take too long. The
 * timed state may have diverged long before; this is not a fault of a kernel. */
static kf_status glance(kf_plan *plan, kf_error *error) {
    KF_TRY(kf_plan_initialise(plan, error));
    KF_TRY(go_on(plan, 2, error));
    return kf_plan_watch(plan, error);
}

/* Finds the kind of a problem and verification. Returns NULL when it is not known. */
static kind *find_kind(kf_whole *whole, const kf_plan *plan, const kf_verification *verification) {
    for (int i = 0; i < whole->count; i++) {
        kind *k = &whole->kinds[i];
        if (strcmp(k->problem, plan->problem->hash) == 0 && k->scheme == verification->scheme &&
            k->bound == verification->bound)
            return k;
    }
    return NULL;
}

/* Returns whether a plan can be compared. The part of another process cannot. A system with its own rules
 * checks itself. */
static bool is_looked_at(const kf_plan *plan) {
    return plan->part_count == plan->all_parts && plan->methods->snapshot != NULL;
}

bool kf_trial_knows_whole(const kf_trial *trial, const kf_plan *plan, const kf_verification *verification) {
    return trial->whole != NULL && find_kind(trial->whole, plan, verification) != NULL;
}

kf_status kf_trial_begin_whole(const kf_trial *trial, kf_plan *plan, const kf_verification *verification,
                               kf_error *error) {
    kf_whole *whole = trial->whole;
    if (whole == NULL || !is_looked_at(plan) || isnan(verification->bound) ||
        plan->updates > (double)MOST_UPDATES || whole->count == KINDS ||
        find_kind(whole, plan, verification) != NULL)
        return KF_OK;
    kind *k = &whole->kinds[whole->count];
    *k = (kind){.scheme = verification->scheme, .bound = verification->bound};
    memcpy(k->problem, plan->problem->hash, sizeof k->problem);
    const kf_status status = make_kind(plan, k, error);
    if (status == KF_OK)
        whole->count++;
    else
        free(k->velocity);
    return status;
}

kf_status kf_trial_recheck(const kf_trial *trial, kf_plan *plan, const kf_verification *verification,
                           double step_us, double seconds, kf_error *error) {
    static const double SHARE = 0.05;
    kf_whole *whole = trial->whole;
    /* At least half of the bytes that a step moves are written. */
    KF_TRY(kf_check_machine_limit(kf_backend_device(plan->backend), 0.5 * plan->least_bytes, step_us, error));
    if (whole == NULL || !is_looked_at(plan)) return KF_OK;
    const bool whole_state = plan->updates <= (double)FEW_UPDATES || whole->seconds <= SHARE * seconds;
    kind *k = whole_state ? find_kind(whole, plan, verification) : NULL;
    const double begin = kf_clock_seconds();
    const kf_status status = k != NULL ? compare(plan, k, error) : glance(plan, error);
    if (k != NULL) whole->seconds = kf_clock_seconds() - begin;
    if (status != KF_GATE_FAILED) return status;
    const kf_error reason = *error;
    return kf_fail(error, status, "after it was timed, %s", reason.message);
}
