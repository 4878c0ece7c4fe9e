/* Reads a suite, the benchmarks of a night, from a JSON file (docs/nightly.md). */
#ifndef KF_HARNESS_NIGHTLY_SUITE_H
#define KF_HARNESS_NIGHTLY_SUITE_H

#include "harness/nightly/command.h"
#include "results/nightly.h"

/* The source of a benchmark's config. */
typedef enum kf_config_source {
    KF_CONFIG_PRESET,        /* a preset of the space; text: its name */
    KF_CONFIG_BEST_OF_STORE, /* the best config of the newest tuning run for the scene on the device */
    KF_CONFIG_FILE,          /* text: a <scene>.kftune.json */
    KF_CONFIG_PARAMETERS,    /* given in the suite */
} kf_config_source;

typedef struct kf_suite_benchmark {
    char name[KF_BENCHMARK];
    kf_timed_command *command; /* for kind command, owned; NULL: a scene or a T1 file */
    char scene[KF_PATH];
    kf_problem_options options;
    char system[KF_NAME]; /* "": the scene decides */
    char device[64];      /* "": the best device */
    kf_config_source source;
    char text[KF_PATH];
    kf_config config;
    int processes;
    double seconds; /* time for timing in each process; 0: the usual one */
} kf_suite_benchmark;

typedef struct kf_suite {
    char name[KF_BENCHMARK];
    char hash[KF_HASH_HEX]; /* hash of the content */
    char folder[KF_PATH];   /* folder of the file */
    kf_suite_benchmark *benchmarks;
    int count;
} kf_suite;

/* Reads a suite file, or the shipped suite with this name. Paths in it are relative to the file. If device is
 * not NULL, all benchmarks use it. */
kf_status kf_suite_read(const char *file, const char *device, kf_suite *suite, kf_error *error);
void kf_suite_free(kf_suite *suite);

#endif
