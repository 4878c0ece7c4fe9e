/* Declares a suite of comparisons as its file describes it (docs/suites.md): scenes, timings on them, and
 * figures that are made of the times. Internal to harness/bench. */
#ifndef KF_HARNESS_BENCH_SUITE_FILE_H
#define KF_HARNESS_BENCH_SUITE_FILE_H

#include "base/plan/problem.h"
#include "harness/bench/bench.h"

/* A scene of a suite. Texts and objects belong to the file's JSON; the index -1 means none. */
typedef struct kf_suite_scene {
    const char *name;
    const char *source; /* a file or a shipped scene; NULL: made from another scene */
    int like;
    const char *system;          /* NULL: the source decides */
    kf_problem_options gpu, cpu; /* for `source`, on a GPU and on the cpu */
    const cJSON *changes;        /* changes that the system makes; NULL: none */
    const cJSON
        *memory; /* {"node_count": 240}: bytes of free memory that each unit of a fact needs; may be NULL */
    int verified_as; /* its configs are verified on the trial of this scene */
    bool gpu_only;
} kf_suite_scene;

/* A config to try: the values that replace those of a preset. */
typedef struct kf_candidate {
    const char *name;
    const cJSON *with; /* parameters and their values; NULL: none */
    const cJSON *only; /* for problems with other facts the values are left out; NULL: for all problems */
    bool gpu_only;
} kf_candidate;

typedef struct kf_suite_timing {
    const char *name;
    int scene;
    const char *preset;
    const cJSON *with; /* for every candidate */
    kf_candidate *candidates;
    int candidate_count;
    int follows;    /* the values of this timing's best candidate are taken first */
    size_t samples; /* least number of samples, each of whole cycles of steps; 0: the precision decides */
    double seconds; /* time for timing; 0: that of the policy */
    double effort;  /* as in kf_job */
    bool single_launches, gpu_only;
} kf_suite_timing;

typedef struct kf_suite_figure {
    const char *name, *unit, *note;
    const kf_figure_kind *kind;
    int *of, *against; /* timings of which the fastest counts */
    int of_count, against_count;
    double must, aim, published;
    bool of_share, at_most, gpu_only, cpu_only;
    const cJSON *row;
} kf_suite_figure;

struct kf_suite_file {
    char path[KF_PATH];
    cJSON *root;
    const char *asked_of; /* the goal holds on devices whose name contains this; NULL: on all */
    int about;            /* the scene that the output describes */
    double seconds;       /* timings that would begin later are left out; 0: no limit */
    unsigned roofs;       /* KF_ROOFS_... */
    kf_suite_scene *scenes;
    kf_suite_timing *timings;
    kf_suite_figure *figures;
    int scene_count, timing_count, figure_count;
};

/* Reads a suite. KF_BAD_INPUT for an unknown key, or for a name that refers to nothing. */
kf_status kf_suite_file_read(const char *path, kf_suite_file **file, kf_error *error);
void kf_suite_file_free(kf_suite_file *file);

/* The kinds of figures that every system has. The list ends with an entry without a name. */
extern const kf_figure_kind kf_figure_kinds[];

#endif
