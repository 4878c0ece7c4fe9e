/* Compares two files of times that other benchmark libraries measured (docs/nightly.md). */
#ifndef KF_HARNESS_NIGHTLY_RESULT_FILES_H
#define KF_HARNESS_NIGHTLY_RESULT_FILES_H

#include "base/statistics/detector.h"
#include "base/util/status.h"
#include "results/nightly.h"

/* Holds the times of one benchmark. */
typedef struct kf_named_times {
    char name[KF_BENCHMARK];
    double *us; /* [count]; owned */
    size_t count, room;
} kf_named_times;

typedef struct kf_result_file {
    kf_named_times *list; /* in the order of the file; owned */
    size_t count, room;
} kf_result_file;

/* Reads the times that Google Benchmark, nvbench, hyperfine or pytest-benchmark wrote, or a list of
 * {"name", "value", "unit"}; each is told by what it holds. KF_BAD_INPUT when it is none of these, or has
 * a time that is none. */
kf_status kf_result_file_read(const char *path, kf_result_file *file, kf_error *error);
void kf_result_file_free(kf_result_file *file);

/* Holds one benchmark that both files may contain. */
typedef struct kf_file_comparison {
    const char *name;
    size_t old_count, new_count;
    double old_us, new_us; /* medians; NAN: it is not in that file */
    kf_comparison comparison;
    /* The state is SLOW or FAST; SAME if a change of the threshold is excluded, AMBIGUOUS if it is not;
     * NODATA if only one file has it. */
    kf_verdict_state state;
} kf_file_comparison;

/* Names stay the files'. The caller frees *held. threshold: log, what counts as a change. */
void kf_hold_results(const kf_result_file *before, const kf_result_file *after, double threshold,
                     kf_file_comparison **held, int *count);

#endif
