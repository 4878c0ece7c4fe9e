/* Facts of a run: its environment, scene, space and run row as words, for people. */
#ifndef KF_RESULTS_FACTS_H
#define KF_RESULTS_FACTS_H

#include "results/store.h"

typedef enum kf_fact_group {
    KF_FACTS_SCENE,
    KF_FACTS_ENVIRONMENT,
    KF_FACTS_RUN,
    KF_FACT_GROUPS
} kf_fact_group;

/* Calls visit for every fact of the group that is known. name and value live during the visit. */
kf_status kf_store_facts(kf_store *store, int64_t run_id, kf_fact_group group,
                         void (*visit)(void *context, const char *name, const char *value), void *context,
                         kf_error *error);

/* A hardware counter of one result of a run. ordinal: of the kernel, -1: the whole step. */
kf_status kf_store_counters(kf_store *store, int64_t run_id, int sequence,
                            void (*visit)(void *context, int ordinal, const char *metric, double value),
                            void *context, kf_error *error);

#endif
