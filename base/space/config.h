/* A config: one point of a space. Parameter values are integers, booleans or names. Its canonical JSON (keys
 * sorted), or the SHA-256 of this text, names it everywhere. */
#ifndef KF_BASE_SPACE_CONFIG_H
#define KF_BASE_SPACE_CONFIG_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/util/hash.h"
#include "base/util/status.h"

typedef enum kf_value_kind { KF_VALUE_INTEGER, KF_VALUE_BOOLEAN, KF_VALUE_NAME } kf_value_kind;

enum { KF_NAME = 40, KF_CONFIG_VALUES = 48, KF_STRATEGY_TEXT = 200 /* a strategy with its options */ };

typedef struct kf_value {
    char parameter[KF_NAME];
    kf_value_kind kind;
    long integer; /* also 0/1 for booleans */
    char name[KF_NAME];
} kf_value;

typedef struct kf_config {
    char system[KF_NAME];
    int count;
    kf_value values[KF_CONFIG_VALUES]; /* sorted by parameter */
} kf_config;

/* Returns whether a text may be the name or the value of a parameter: 1 to KF_NAME-1 printable characters,
 * without spaces, quotes or backslashes. */
bool kf_config_plain_name(const char *name);

/* Canonical JSON text {"system":"kinetic","parameters":{...}}; caller frees. */
char *kf_config_text(const kf_config *config);
void kf_config_hash(const kf_config *config, char hex[KF_HASH_HEX]);
kf_status kf_config_from_json(const char *file, const cJSON *json, kf_config *config, kf_error *error);
cJSON *kf_config_to_json(const kf_config *config);

/* Sets or replaces one value, keeping the order. More than KF_CONFIG_VALUES values or a name that does not
 * fit is a programming error (asserted). Integers stay within +-KF_JSON_WHOLE. */
void kf_config_set_integer(kf_config *config, const char *parameter, long value);
void kf_config_set_boolean(kf_config *config, const char *parameter, bool value);
void kf_config_set_name(kf_config *config, const char *parameter, const char *value);
void kf_config_set(kf_config *config, const kf_value *value);

/* Finds a parameter's value; NULL: the config has none. */
const kf_value *kf_config_find(const kf_config *config, const char *parameter);
/* Returns whether two values of one parameter are equal. */
bool kf_same_value(const kf_value *a, const kf_value *b);
/* Removes the value of a parameter, if the config has one. */
void kf_config_remove(kf_config *config, const char *parameter);

/* A system reads its parameters through these functions. A missing one is KF_BAD_INPUT: the space does not
 * declare it. */
kf_status kf_config_integer(const kf_config *config, const char *parameter, long *value, kf_error *error);
kf_status kf_config_boolean(const kf_config *config, const char *parameter, bool *value, kf_error *error);
kf_status kf_config_name(const kf_config *config, const char *parameter, const char **value, kf_error *error);
/* Reads a name and sets *index to its position in the names that the system knows. */
kf_status kf_config_choice(const kf_config *config, const char *parameter, const char *const *names,
                           int count, int *index, kf_error *error);

/* Returns "plan=fused layout=csoa alpha=64 ..." for tables and progress lines; the caller frees it. */
char *kf_config_summary(const kf_config *config);
/* Returns a summary for people who know the config `base` by this name: "NAME with alpha=64 block_x=128"
 * lists the values that differ; "NAME" if none does. The whole summary if base is NULL. The caller frees
 * it. */
char *kf_config_relative(const kf_config *config, const kf_config *base, const char *name);

#endif
