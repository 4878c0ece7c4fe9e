/* A space: the constrained product of a system's parameters for one scene and device, declared in
 * variants/<system>.json. Built as a tree of valid prefixes, so that the raw product is never walked; configs
 * have indices 0 .. size-1. */
#ifndef KF_BASE_SPACE_SPACE_H
#define KF_BASE_SPACE_SPACE_H

#include <stdint.h>
#include <stdio.h>

#include "base/space/config.h"
#include "base/space/variables.h"
#include "base/util/text.h"

typedef struct kf_space kf_space;

/* Opens a space. fixed: "key=value" strings from --fix; a value outside the domain is KF_BAD_INPUT.
 * Parameters fixed stay so. */
kf_status kf_space_open(const char *system, const char *system_file, const kf_variables *variables,
                        const char *const *fixed, int fixed_count, kf_space **space, kf_error *error);
/* Builds a space from a declaration already read (file names it in messages); system as it must be
 * declared. */
kf_status kf_space_build(const char *file, const cJSON *declaration, const char *system,
                         const kf_variables *variables, const char *const *fixed, int fixed_count,
                         kf_space **space, kf_error *error);
/* The space of exactly these configs, which all have the same parameters; domains are the values that occur,
 * ascending; without constraints and presets. file is for messages. */
kf_status kf_space_from_configs(const char *file, const kf_config *configs, size_t count, kf_space **space,
                                kf_error *error);
void kf_space_free(kf_space *space);

double kf_space_raw_size(const kf_space *space); /* of the unconstrained product */
uint64_t kf_space_size(const kf_space *space);   /* valid configs */
void kf_space_config(const kf_space *space, uint64_t index, kf_config *config);
/* Finds a config's index; false when it is not in the space, and why (may be NULL) then says which
 * constraint, parameter or value. */
bool kf_space_index(const kf_space *space, const kf_config *config, uint64_t *index, char *why,
                    size_t why_size);

/* Brings a config that another version of the program wrote up to date: parameters that have another name get
 * it, those that are gone are left out where they changed nothing, and those of teams that it does not have
 * get their default. notes gets a sentence for each; a value that is gone is KF_BAD_INPUT. */
kf_status kf_space_update(const kf_space *space, kf_config *config, kf_text *notes, kf_error *error);

/* A config as positions, one a parameter, in the order of declaration: position i is the i-th value of the
 * declared domain (--fix does not renumber). For strategies, which need no names. */
int kf_space_parameter_count(const kf_space *space);
const char *kf_space_parameter_name(const kf_space *space, int parameter);
/* Returns whether the parameter says how a team of devices shares the work, not what each does. */
bool kf_space_parameter_is_of_team(const kf_space *space, int parameter);
int kf_space_domain_size(const kf_space *space, int parameter);
void kf_space_value(const kf_space *space, int parameter, int position, kf_value *value);
void kf_space_positions(const kf_space *space, uint64_t index, int positions[KF_CONFIG_VALUES]);
bool kf_space_positions_index(const kf_space *space, const int positions[KF_CONFIG_VALUES], uint64_t *index);

/* Presets: "default", "baseline", "paper" exist in every space. Values depend on variables through
 * expressions. NOT restricted by --fix (they are what a measurement is held against). */
int kf_space_preset_count(const kf_space *space);
const char *kf_space_preset_name(const kf_space *space, int preset);
kf_status kf_space_preset(const kf_space *space, const char *name, kf_config *config, kf_error *error);

/* The space as a table on stdout-like stream, and as JSON (caller: cJSON_Delete). */
void kf_space_print(const kf_space *space, FILE *stream);
cJSON *kf_space_to_json(const kf_space *space);
/* SHA-256 of what makes the space: system, resolved domains (after --fix), constraints, the variables they
 * use, presets. Help texts and reasons do not count. Names the space in the store. */
void kf_space_hash(const kf_space *space, char hex[KF_HASH_HEX]);

#endif
