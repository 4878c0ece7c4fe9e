/* Names of other autotuners that the exports and the reader of their landscapes share. Only results/ includes
 * this. */
#ifndef KF_RESULTS_FOREIGN_WORDS_H
#define KF_RESULTS_FOREIGN_WORDS_H

#include "results/store_internal.h"

/* What other programs call the states (T4: invalidity; Kernel Tuner: the text in place of a time). */
typedef struct kf_state_words {
    const char *t4, *kernel_tuner;
} kf_state_words;
extern const kf_state_words kf_state_words_of[KF_STATES];

/* The states of the other programs are fewer than ours, and their rows have no room for a role; this member,
 * which they ignore, keeps what would be lost: {"role", "state", "reason", "sequence", "batch", "stop",
 * "verify_s", "measure_s", "build", "verification": {...}}. */
#define KF_LANDSCAPE_KEY "kftune"

/* Values of every parameter that occur: {"alpha": [1, 2, 4], ...}, each once. */
void kf_domains_add(cJSON *domains, const kf_config *config);

#endif
