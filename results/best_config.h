/* The emitted best configuration, <scene>.kftune.json (format: docs/best-config.md). */
#ifndef KF_RESULTS_BEST_CONFIG_H
#define KF_RESULTS_BEST_CONFIG_H

#include <cjson/cJSON.h>

#include "base/plan/facts.h"
#include "base/record/measurement.h"
#include "base/space/config.h"

enum { KF_BEST_TIES = 16 };

typedef struct kf_best_config {
    char version[32];    /* of kftune that wrote it */
    char scene[KF_PATH]; /* as given to --scene, made absolute when it is a file */
    char scene_hash[KF_HASH_HEX];
    uint64_t seed;
    kf_facts facts; /* of the scene; owned */
    cJSON
        *document; /* the scene itself, so that the config can travel alone; owned; NULL: its source has it */
    int tried;     /* configs that were evaluated to find this one */
    kf_device_info device;
    kf_config config;
    char config_hash[KF_HASH_HEX];
    double time_us, ci_us[2]; /* expected whole step: median and its confidence interval */
    double updates_per_second, bandwidth;
    char update[KF_NAME]; /* what is updated: kf_system.update */
    double gain_baseline, gain_paper,
        gain_default; /* time of the preset / time; NAN when it was not measured */
    double verification_error, verification_bound;
    int tie_count;
    kf_config ties[KF_BEST_TIES]; /* configs whose intervals overlap the best one's */
    char run_uuid[37];
} kf_best_config;

/* Fills in what a store knows of a config for a problem: without gains, verification and ties. */
void kf_best_config_known(const kf_problem *problem, const kf_device_info *device, const kf_config *config,
                          double time_us, double updates_per_us, kf_best_config *best);

/* Writes the file whole or not at all. */
kf_status kf_best_config_write(const char *path, const kf_best_config *best, kf_error *error);
/* Strict: unknown keys, a config whose hash does not match, a newer format are KF_BAD_INPUT. */
kf_status kf_best_config_read(const char *path, kf_best_config *best, kf_error *error);
void kf_best_config_free(kf_best_config *best); /* what it owns, not itself */

/* For kernels that somebody else compiles: the config's parameters as a compiler's options, "-Dblock_x=32
 * -Drows=8" (caller frees), and written as a header of defines. */
char *kf_config_defines(const kf_config *config);
kf_status kf_config_header_write(const char *path, const kf_config *config, kf_error *error);

#endif
