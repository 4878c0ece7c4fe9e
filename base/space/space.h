/* A space: all valid combinations of a system's parameters for one scene and device, declared in
 * variants/<system>.json. It is built as a tree of valid prefixes, so that invalid combinations are never
 * enumerated. Configs have indices 0 .. size-1. */
#ifndef KF_BASE_SPACE_SPACE_H
#define KF_BASE_SPACE_SPACE_H

#include <stdint.h>
#include <stdio.h>

#include "base/space/config.h"
#include "base/space/variables.h"
#include "base/util/text.h"

typedef struct kf_space kf_space;

/* Opens a space. fixed: the "key=value" strings of --fix, which set a parameter's only value. A value outside
 * the domain is KF_BAD_INPUT. The caller frees *space with kf_space_free. */
kf_status kf_space_open(const char *system, const char *system_file, const kf_variables *variables,
                        const char *const *fixed, int fixed_count, kf_space **space, kf_error *error);
/* Builds a space from a declaration that was read already. file names the declaration in messages; system
 * must be the system that it declares. */
kf_status kf_space_build(const char *file, const cJSON *declaration, const char *system,
                         const kf_variables *variables, const char *const *fixed, int fixed_count,
                         kf_space **space, kf_error *error);
/* Builds the space of exactly these configs, which all have the same parameters. A domain is the values that
 * occur, ascending. It has neither constraints nor presets. file is for messages. */
kf_status kf_space_from_configs(const char *file, const kf_config *configs, size_t count, kf_space **space,
                                kf_error *error);
void kf_space_free(kf_space *space);

double kf_space_raw_size(const kf_space *space); /* configs of the unconstrained product */
uint64_t kf_space_size(const kf_space *space);   /* valid configs */
/* Finds the config with this index, 0 .. kf_space_size - 1. */
void kf_space_config(const kf_space *space, uint64_t index, kf_config *config);
/* Finds a config's index. False if the space does not contain it; `why` (may be NULL) then names the
 * constraint, parameter or value that excludes it. */
bool kf_space_index(const kf_space *space, const kf_config *config, uint64_t *index, char *why,
                    size_t why_size);

/* Updates a config that another version of the program wrote. Renamed parameters get their new name,
 * parameters that no longer exist are removed if their value had no effect, and missing team parameters get
 * their default. notes gets a sentence for each change. A value that no longer exists is KF_BAD_INPUT. */
kf_status kf_space_update(const kf_space *space, kf_config *config, kf_text *notes, kf_error *error);

/* A config as positions, one for each parameter in the order of declaration: position i is the i-th value of
 * the declared domain. --fix does not change the numbering. Strategies use these, because they need no
 * names. */
int kf_space_parameter_count(const kf_space *space);
const char *kf_space_parameter_name(const kf_space *space, int parameter);
/* Returns whether the parameter determines how a team of devices shares the work, not what each device
 * does. */
bool kf_space_parameter_is_of_team(const kf_space *space, int parameter);
int kf_space_domain_size(const kf_space *space, int parameter);
void kf_space_value(const kf_space *space, int parameter, int position, kf_value *value);
void kf_space_positions(const kf_space *space, uint64_t index, int positions[KF_CONFIG_VALUES]);
bool kf_space_positions_index(const kf_space *space, const int positions[KF_CONFIG_VALUES], uint64_t *index);

/* Presets are named configs: every space has "default", "baseline" and "paper". Their values may be
 * expressions of the variables. --fix does not restrict them, because measurements are compared with them. */
int kf_space_preset_count(const kf_space *space);
const char *kf_space_preset_name(const kf_space *space, int preset);
kf_status kf_space_preset(const kf_space *space, const char *name, kf_config *config, kf_error *error);

/* Print the space as a table to a stream, or return it as JSON, which the caller frees with cJSON_Delete. */
void kf_space_print(const kf_space *space, FILE *stream);
cJSON *kf_space_to_json(const kf_space *space);
/* Writes the SHA-256 of the content of a space: system, domains after --fix, constraints with the variables
 * that they use, presets. Help texts and reasons do not count. It names the space in the store. */
void kf_space_hash(const kf_space *space, char hex[KF_HASH_HEX]);

#endif
