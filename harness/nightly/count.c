/* Counts what changed: runs both programs of a comparison once more with hardware counters, so that the
 * verdict can name a cause. If counting fails, the verdict stands without a cause. */
#include <stdlib.h>
#include <string.h>

#include "base/util/log.h"
#include "base/util/memory.h"
#include "harness/counters/count_plan.h"
#include "harness/nightly/entry.h"

static const char counted_set[] = "standard";
static const double COUNT_LIMIT_SECONDS = 300.0;

/* The last result of an arm and its kernels, to which the counters belong. */
typedef struct counted {
    kf_arm arm;
    int sequence; /* -1: there is no result yet */
    kf_measurement *measurement;
} counted;

static kf_status find_result(void *context, const kf_process *process, kf_error *error) {
    (void)error;
    counted *c = context;
    if (process->arm == c->arm && process->state == KF_STATE_OK && process->sequence > c->sequence)
        c->sequence = process->sequence;
    return KF_OK;
}

static kf_status take_kernels(void *context, int sequence, const char *role, const kf_config *config,
                              const kf_measurement *measurement, kf_error *error) {
    (void)role;
    (void)config;
    (void)error;
    counted *c = context;
    if (sequence != c->sequence) return KF_OK;
    for (int i = 0; i < measurement->kernel_count; i++)
        *kf_measurement_add_kernel(c->measurement) = measurement->kernels[i];
    return KF_OK;
}

static kf_status store_counters(kf_store *store, int64_t night, const kf_entry *entry, kf_arm arm,
                                const kf_metric_set *set, kf_measurement *measurement, kf_error *error) {
    counted c = {.arm = arm, .sequence = -1, .measurement = measurement};
    KF_TRY(kf_store_processes(store, night, entry->benchmark->name, find_result, &c, error));
    if (c.sequence < 0) return KF_OK;
    KF_TRY(kf_store_results(store, entry->run.id, take_kernels, &c, error));
    kf_counters_complete(set, measurement);
    return kf_store_add_counters(store, &entry->run, c.sequence, measurement, error);
}

/* Counts for one arm. *counting becomes false if this machine or that program cannot count. */
static kf_status count_arm(const kf_nightly_session *session, const kf_entry *entry, kf_arm arm,
                           const kf_metric_set *set, bool *counting, kf_error *error) {
    bool earlier = arm == KF_ARM_REFERENCE;
    kf_job_end *answer = kf_allocate(sizeof *answer);
    kf_status status = kf_process_count(earlier ? &entry->reference_program : &session->program,
                                        earlier ? entry->reference_job : entry->job, counted_set,
                                        COUNT_LIMIT_SECONDS, answer, error);
    *counting = status == KF_OK && answer->measured && answer->measurement.counter_count > 0;
    if (*counting)
        status = store_counters(session->request->store, session->result->night.id, entry, arm, set,
                                &answer->measurement, error);
    else if (status == KF_OK)
        kf_detail("%s: not counted: %s", entry->benchmark->name,
                  answer->measured ? answer->measurement.reason : answer->problem);
    if (answer->measured) kf_measurement_free(&answer->measurement);
    free(answer);
    return status;
}

kf_status kf_entry_count(const kf_nightly_session *session, const kf_entry *entry, kf_error *error) {
    kf_metric_set *set = NULL;
    kf_error unreadable = {KF_OK, ""};
    if (kf_metric_set_open(counted_set, &set, &unreadable) != KF_OK) {
        kf_detail("%s", unreadable.message);
        return KF_OK;
    }
    bool counting = true;
    kf_status status = count_arm(session, entry, KF_ARM_CANDIDATE, set, &counting, error);
    if (status == KF_OK && counting)
        status = count_arm(session, entry, KF_ARM_REFERENCE, set, &counting, error);
    kf_metric_set_free(set);
    return status;
}
