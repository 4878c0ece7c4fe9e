/* The config that tuning writes, <scene>.kftune.json (format: docs/best-config.md). */
#ifndef KF_RESULTS_BEST_CONFIG_H
#define KF_RESULTS_BEST_CONFIG_H

#include <cjson/cJSON.h>

#include "base/plan/facts.h"
#include "base/record/measurement.h"
#include "base/space/config.h"

enum { KF_BEST_TIES = 16 };

typedef struct kf_best_config {
    char version[32];    /* of the kftune that wrote it */
    char scene[KF_PATH]; /* as given to --scene; a file has its absolute path */
    char scene_hash[KF_HASH_HEX];
    uint64_t seed;  /* of the scene's random numbers */
    kf_facts facts; /* of the scene; owned */
    /* The scene itself, so that the config needs no other file; owned; NULL: source has it. */
    cJSON *document;
    int tried; /* configs that the search evaluated */
    kf_device_info device;
    kf_config config;
    char config_hash[KF_HASH_HEX];
    double time_us, ci_us[2];             /* expected time of a step: median and confidence interval */
    double updates_per_second, bandwidth; /* bandwidth: least bytes of a step over its time, bytes/s */
    char update[KF_NAME];                 /* the unit of updates: kf_system.update */
    /* Time with the preset / time; NAN if it was not measured. */
    double gain_baseline, gain_paper, gain_default;
    double verification_error, verification_bound; /* of the most important quantity (kf_verification) */
    int tie_count;
    kf_config ties[KF_BEST_TIES]; /* configs whose intervals overlap that of the best */
    char run_uuid[37];
} kf_best_config;

/* Fills in what a store knows about a config of a problem. Gains, verification and ties are not known. */
void kf_best_config_known(const kf_problem *problem, const kf_device_info *device, const kf_config *config,
                          double time_us, double updates_per_us, kf_best_config *best);

/* Writes the file. It appears whole or not at all. */
kf_status kf_best_config_write(const char *path, const kf_best_config *best, kf_error *error);
/* Reads the file. KF_BAD_INPUT for an unknown key, a config that does not match its hash, or a newer
 * format. */
kf_status kf_best_config_read(const char *path, kf_best_config *best, kf_error *error);
void kf_best_config_free(kf_best_config *best); /* frees the contents, not the struct */

/* Give the parameters to kernels that somebody else compiles: as compiler options, "-Dblock_x=32 -Drows=8"
 * (the caller frees the text), or as a header file of defines. */
char *kf_config_defines(const kf_config *config);
kf_status kf_config_header_write(const char *path, const kf_config *config, kf_error *error);

#endif
