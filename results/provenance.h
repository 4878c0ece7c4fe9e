/* An imported run remembers this of its file, so that exports say the same as the source: the figure that
 * a config's time is, the order of parameters and of their values, and the backend. It lies in the run's
 * space (store.md), because nothing else in the store is the file's own. Only results/ includes this. */
#ifndef KF_RESULTS_PROVENANCE_H
#define KF_RESULTS_PROVENANCE_H

#include "results/store_internal.h"

typedef struct kf_provenance {
    bool mean;        /* a config's time is the mean of its samples (Kernel Tuner), else their median */
    bool nameless;    /* the file names no device */
    char backend[16]; /* "cuda", "cpu"; "": the file says none */
    cJSON *domains;   /* {"alpha": [1, 2], ...} in the file's order; NULL: not known. Owned */
} kf_provenance;

/* The member "imported" of a run's space. Caller: cJSON_Delete. */
cJSON *kf_provenance_to_json(const kf_provenance *provenance);
/* Reads the provenance of a run of the store; one that was measured here has the median, and no order of
 * its own. The caller frees with kf_provenance_release. */
kf_status kf_provenance_read(kf_store *store, int64_t run_id, kf_provenance *provenance, kf_error *error);
void kf_provenance_release(kf_provenance *provenance);

/* The time of a result with samples in the figure of its source, microseconds. */
double kf_provenance_time(const kf_provenance *provenance, const kf_measurement *measurement);
double kf_mean_of_samples(const kf_measurement *measurement);

/* Sorts the members of an object: those of domains first, in its order, the others after them as they were.
 * domains NULL: as they were. */
void kf_provenance_order(const kf_provenance *provenance, cJSON *object);

#endif
