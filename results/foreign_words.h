/* Names that other autotuners use, for the exports and for the reader of their landscapes. Only results/
 * includes this. */
#ifndef KF_RESULTS_FOREIGN_WORDS_H
#define KF_RESULTS_FOREIGN_WORDS_H

#include "results/store_internal.h"

/* Names of a state in other formats (T4: invalidity; Kernel Tuner: the text in place of a time). */
typedef struct kf_state_words {
    const char *t4, *kernel_tuner;
} kf_state_words;
extern const kf_state_words kf_state_words_of[KF_STATES];

/* The key under which an exported row keeps what its format has no room for; other programs ignore it:
 * {"role", "state", "reason", "sequence", "batch", "stop", "verify_s", "measure_s", "build", "verification":
 * {...}}. */
#define KF_LANDSCAPE_KEY "kftune"

/* Adds the values of a config to those of every parameter, each once: {"alpha": [1, 2, 4], ...}. parameters:
 * an object as a config or another program has it. */
void kf_domains_add(cJSON *domains, const cJSON *parameters);

/* A value that begins with this character was written as a float, "1.0", in the file. JSON has one kind of
 * numbers, keys of Python's caches have two. It occurs while a file is read, and in a run's space. */
enum { KF_WHOLE_FLOAT = 1 };

/* Converts a parameter's value of a file to one that a config can have: a whole number, a boolean or a plain
 * name (foreign_values.c). The caller deletes it. */
cJSON *kf_foreign_value(const cJSON *value);
/* Converts it back to the value in the file, by the parameter's domain in the file; domain NULL: unchanged.
 * The caller deletes it. */
cJSON *kf_foreign_original(const cJSON *domain, const cJSON *value);

#endif
