/* Compares two files of times from other benchmark libraries (docs/nightly.md). */
#ifndef KF_HARNESS_NIGHTLY_RESULT_FILES_H
#define KF_HARNESS_NIGHTLY_RESULT_FILES_H

#include "base/statistics/detector.h"
#include "base/util/status.h"
#include "results/nightly.h"

/* The times of one benchmark. */
typedef struct kf_named_times {
    char name[KF_BENCHMARK];
    double *us; /* [count]; owned */
    size_t count, room;
} kf_named_times;

typedef struct kf_result_file {
    kf_named_times *list; /* in the order of the file; owned */
    size_t count, room;
} kf_result_file;

/* Reads the times from a file of Google Benchmark, nvbench, hyperfine or pytest-benchmark, or from a list of
 * {"name", "value", "unit"}. The content shows which one it is. KF_BAD_INPUT if it is none of these, or if a
 * time is wrong. */
kf_status kf_result_file_read(const char *path, kf_result_file *file, kf_error *error);
void kf_result_file_free(kf_result_file *file);

/* A benchmark that both files may contain. */
typedef struct kf_file_comparison {
    const char *name;
    size_t old_count, new_count;
    double old_us, new_us; /* medians; NAN: the file does not contain the benchmark */
    kf_comparison comparison;
    /* The state is SLOW or FAST; SAME if a change as large as the threshold is excluded, otherwise AMBIGUOUS;
     * NODATA if only one file has the benchmark. */
    kf_verdict_state state;
} kf_file_comparison;

/* Compares the benchmarks of both files. Names still belong to the files. The caller frees *held. threshold:
 * logarithm of the smallest ratio that counts as a change. */
void kf_hold_results(const kf_result_file *before, const kf_result_file *after, double threshold,
                     kf_file_comparison **held, int *count);

#endif
