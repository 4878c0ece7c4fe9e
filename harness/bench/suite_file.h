/* Declares a suite of fixed comparisons as its file has it (docs/suites.md): scenes, what is timed on them,
 * and the figures made of the times. Internal to harness/bench. */
#ifndef KF_HARNESS_BENCH_SUITE_FILE_H
#define KF_HARNESS_BENCH_SUITE_FILE_H

#include "base/plan/problem.h"
#include "harness/bench/bench.h"

/* Describes a scene of a suite. Texts and objects belong to the file's JSON; an index of -1 means none. */
typedef struct kf_suite_scene {
    const char *name;
    const char *source; /* a file or a shipped scene; NULL: made like another */
    int like;
    const char *system;          /* NULL: follows from the source */
    kf_problem_options gpu, cpu; /* of a source */
    const cJSON *changes;        /* what the system changes; NULL: nothing */
    const cJSON *memory;         /* {"node_count": 240}: bytes of each of a fact that must be free; NULL */
    int verified_as;             /* the scene on whose trial its configs are verified */
    bool gpu_only;
} kf_suite_scene;

/* Describes a config to try by the values that replace those of a preset. */
typedef struct kf_candidate {
    const char *name;
    const cJSON *with; /* parameters and their values; NULL: none */
    const cJSON *only; /* facts: on other problems the values are left out; NULL: on all */
    bool gpu_only;
} kf_candidate;

typedef struct kf_suite_timing {
    const char *name;
    int scene;
    const char *preset;
    const cJSON *with; /* of every candidate */
    kf_candidate *candidates;
    int candidate_count;
    int follows;    /* the values of this timing's best candidate come first */
    size_t samples; /* at least so many, each of whole cycles of steps; 0: as precision asks */
    double seconds; /* of timing; 0: the policy's */
    double effort;  /* as in kf_job */
    bool single_launches, gpu_only;
} kf_suite_timing;

typedef struct kf_suite_figure {
    const char *name, *unit, *note;
    const kf_figure_kind *kind;
    int *of, *against; /* timings; the fastest of them counts */
    int of_count, against_count;
    double must, aim, published;
    bool of_share, at_most, gpu_only, cpu_only;
    const cJSON *row;
} kf_suite_figure;

struct kf_suite_file {
    char path[KF_PATH];
    cJSON *root;
    const char *asked_of; /* devices whose name holds this must reach what is asked; NULL: all */
    int about;            /* the scene that the suite is about */
    double seconds;       /* what is not timed by then is left out; 0: no end */
    unsigned roofs;       /* KF_ROOFS_... */
    kf_suite_scene *scenes;
    kf_suite_timing *timings;
    kf_suite_figure *figures;
    int scene_count, timing_count, figure_count;
};

/* Reads a suite. A key that is not known, or a name that stands for nothing, is KF_BAD_INPUT. */
kf_status kf_suite_file_read(const char *path, kf_suite_file **file, kf_error *error);
void kf_suite_file_free(kf_suite_file *file);

/* Lists the kinds of figures that make sense for every system; an entry without a name ends it. */
extern const kf_figure_kind kf_figure_kinds[];

#endif
