/* Facts of a run as texts for people: its environment, scene, space and run. */
#ifndef KF_RESULTS_FACTS_H
#define KF_RESULTS_FACTS_H

#include "results/store.h"

typedef enum kf_fact_group {
    KF_FACTS_SCENE,
    KF_FACTS_ENVIRONMENT,
    KF_FACTS_RUN,
    KF_FACT_GROUPS
} kf_fact_group;

/* Calls visit for every known fact of the group. name and value are valid during the visit. */
kf_status kf_store_facts(kf_store *store, int64_t run_id, kf_fact_group group,
                         void (*visit)(void *context, const char *name, const char *value), void *context,
                         kf_error *error);

/* Visits the hardware counters of one result of a run. ordinal: number of the kernel; -1: the whole step. */
kf_status kf_store_counters(kf_store *store, int64_t run_id, int sequence,
                            void (*visit)(void *context, int ordinal, const char *metric, double value),
                            void *context, kf_error *error);

#endif
