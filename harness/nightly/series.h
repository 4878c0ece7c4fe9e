/* Judges series of values that other programs measured, with the statistics of a night (docs/nightly.md). */
#ifndef KF_HARNESS_NIGHTLY_SERIES_H
#define KF_HARNESS_NIGHTLY_SERIES_H

#include "base/statistics/detector.h"
#include "base/util/status.h"
#include "results/nightly.h"

enum { KF_SERIES_WORD = 64 };

/* One measured value; smaller is better. */
typedef struct kf_series_row {
    char benchmark[KF_BENCHMARK];
    char machine[KF_SERIES_WORD], commit[KF_SERIES_WORD], time[KF_SERIES_WORD]; /* "": not given */
    double order; /* of the times: the value of a number; NAN: the times are sorted as text */
    double value;
    bool microseconds; /* unit of the value; false: a CSV does not say it */
} kf_series_row;

typedef struct kf_series_rows {
    kf_series_row *list; /* owned */
    size_t count, room;
} kf_series_rows;

/* Adds the rows of a file. A CSV file has the columns time and value in its first line, and possibly commit,
 * machine and benchmark. Any other file is read by kf_result_file_read as night number `night`. KF_BAD_INPUT
 * names the wrong line. */
kf_status kf_series_read(const char *path, int night, kf_series_rows *rows, kf_error *error);
void kf_series_free(kf_series_rows *rows);

/* The verdict on the newest night of a benchmark on a machine. */
typedef struct kf_series_verdict {
    char benchmark[KF_BENCHMARK], machine[KF_SERIES_WORD];
    char newest[KF_SERIES_WORD]; /* its commit or time */
    char since[KF_SERIES_WORD];  /* beginning of the judged level */
    int nights;
    size_t old_count, new_count; /* values compared */
    double old_value, new_value; /* medians; NAN: nothing was compared */
    bool microseconds;           /* their unit; false: not known */
    double threshold;            /* log */
    kf_comparison comparison;
    kf_verdict_state state; /* SAME, FAST, SLOW, DRIFT, AMBIGUOUS, NODATA */
    char reason[512];
} kf_series_verdict;

/* Sorts the rows and judges them. pin: the commit with which all is compared first; NULL: none. KF_BAD_INPUT
 * if no row is of that commit, or if some times of a series are numbers and others texts. The caller frees
 * *verdicts. */
kf_status kf_series_judge(kf_series_rows *rows, const char *pin, kf_series_verdict **verdicts, int *count,
                          kf_error *error);

#endif
