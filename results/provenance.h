/* The properties of a file that an imported run keeps, so that exports say the same as the source: how a
 * config's time is computed, the order of parameters and values, and the backend. They are in the run's space
 * (store.md), because nothing else in the store belongs to the file. Only results/ includes this. */
#ifndef KF_RESULTS_PROVENANCE_H
#define KF_RESULTS_PROVENANCE_H

#include "results/store_internal.h"

typedef struct kf_provenance {
    bool mean;        /* a config's time is the mean of its samples (Kernel Tuner); otherwise the median */
    bool nameless;    /* the file names no device */
    char backend[16]; /* "cuda", "cpu"; "": the file does not say */
    cJSON *domains;   /* {"alpha": [1, 2], ...} in the file's order; NULL: not known. Owned */
} kf_provenance;

/* Makes the member "imported" of a run's space. The caller frees it with cJSON_Delete. */
cJSON *kf_provenance_to_json(const kf_provenance *provenance);
/* Reads the provenance of a run. For a run that kftune measured the time is the median, and there is no
 * order. The caller frees it with kf_provenance_release. */
kf_status kf_provenance_read(kf_store *store, int64_t run_id, kf_provenance *provenance, kf_error *error);
void kf_provenance_release(kf_provenance *provenance);

/* Returns the time of a result with samples as its source computes it, in microseconds. */
double kf_provenance_time(const kf_provenance *provenance, const kf_measurement *measurement);
double kf_mean_of_samples(const kf_measurement *measurement);

/* Sorts the members of an object: first those of domains, in their order, then all others in the order that
 * they had. domains NULL: nothing changes. */
void kf_provenance_order(const kf_provenance *provenance, cJSON *object);

#endif
