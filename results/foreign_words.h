/* Names of other autotuners that the exports and the reader of their landscapes share. Only results/ includes
 * this. */
#ifndef KF_RESULTS_FOREIGN_WORDS_H
#define KF_RESULTS_FOREIGN_WORDS_H

#include "results/store_internal.h"

/* Words of other programs for the states (T4: invalidity; Kernel Tuner: the text in place of a time). */
typedef struct kf_state_words {
    const char *t4, *kernel_tuner;
} kf_state_words;
extern const kf_state_words kf_state_words_of[KF_STATES];

/* The states of the other programs are fewer than ours, and their rows have no room for a role; this member,
 * which they ignore, keeps what would be lost: {"role", "state", "reason", "sequence", "batch", "stop",
 * "verify_s", "measure_s", "build", "verification": {...}}. */
#define KF_LANDSCAPE_KEY "kftune"

/* Adds what occurs to the values of every parameter: {"alpha": [1, 2, 4], ...}, each once; parameters: as a
 * config has them, or another program wrote them. */
void kf_domains_add(cJSON *domains, const cJSON *parameters);

/* A parameter's value of "1.0" begins with this where a file is read, and in a run's space: JSON has one
 * kind of numbers, and keys of Python's caches two. */
enum { KF_WHOLE_FLOAT = 1 };

/* Returns a parameter's value as a config can have it: a whole number, a boolean or a plain name
 * (foreign_values.c). */
cJSON *kf_foreign_value(const cJSON *value);
/* The other way: what the file had of it, by the parameter's domain in the file (NULL: as it is). */
cJSON *kf_foreign_original(const cJSON *domain, const cJSON *value);

#endif
