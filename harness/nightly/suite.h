/* Reads a suite, which is what a night measures, from a JSON file (docs/nightly.md). */
#ifndef KF_HARNESS_NIGHTLY_SUITE_H
#define KF_HARNESS_NIGHTLY_SUITE_H

#include "harness/nightly/command.h"
#include "results/nightly.h"

/* Says where a benchmark's config comes from. */
typedef enum kf_config_source {
    KF_CONFIG_PRESET,        /* of the space; text: its name */
    KF_CONFIG_BEST_OF_STORE, /* the best of the newest tuning run of the scene on the device */
    KF_CONFIG_FILE,          /* text: a <scene>.kftune.json */
    KF_CONFIG_PARAMETERS,    /* given in the suite */
} kf_config_source;

typedef struct kf_suite_benchmark {
    char name[KF_BENCHMARK];
    kf_timed_command *command; /* of kind command; owned. NULL: a scene or a T1 file, as below */
    char scene[KF_PATH];
    kf_problem_options options;
    char system[KF_NAME]; /* "": follows from the scene */
    char device[64];      /* "": the best there is */
    kf_config_source source;
    char text[KF_PATH];
    kf_config config;
    int processes;
    double seconds; /* of timing, a process; 0: the usual */
} kf_suite_benchmark;

typedef struct kf_suite {
    char name[KF_BENCHMARK];
    char hash[KF_HASH_HEX]; /* of the content */
    char folder[KF_PATH];   /* that the file lies in */
    kf_suite_benchmark *benchmarks;
    int count;
} kf_suite;

/* Reads a suite file, or the shipped suite of that name. Paths in it are relative to it. The device, when
 * not NULL, is used for all benchmarks. */
kf_status kf_suite_read(const char *file, const char *device, kf_suite *suite, kf_error *error);
void kf_suite_free(kf_suite *suite);

#endif
