/* Judges series of values that something else measured, by the statistics of a night (docs/nightly.md). */
#ifndef KF_HARNESS_NIGHTLY_SERIES_H
#define KF_HARNESS_NIGHTLY_SERIES_H

#include "base/statistics/detector.h"
#include "base/util/status.h"
#include "results/nightly.h"

enum { KF_SERIES_WORD = 64 };

/* Holds one measured value; smaller is better. */
typedef struct kf_series_row {
    char benchmark[KF_BENCHMARK];
    char machine[KF_SERIES_WORD], commit[KF_SERIES_WORD], time[KF_SERIES_WORD]; /* "": not said */
    double order; /* of the times: a number's own value, else NAN and the text is ordered */
    double value;
} kf_series_row;

typedef struct kf_series_rows {
    kf_series_row *list; /* owned */
    size_t count, room;
} kf_series_rows;

/* Adds the rows of a file: a CSV whose first line has the columns time and value, and if it likes commit,
 * machine and benchmark; or, as night number `night`, a file that kf_result_file_read takes. KF_BAD_INPUT
 * with the line of what is wrong. */
kf_status kf_series_read(const char *path, int night, kf_series_rows *rows, kf_error *error);
void kf_series_free(kf_series_rows *rows);

/* Says what the newest night of a benchmark on a machine is. */
typedef struct kf_series_verdict {
    char benchmark[KF_BENCHMARK], machine[KF_SERIES_WORD];
    char newest[KF_SERIES_WORD]; /* commit, or time */
    char since[KF_SERIES_WORD];  /* where the level that is judged begins */
    int nights;
    size_t old_count, new_count; /* values compared */
    double old_value, new_value; /* their medians; NAN: nothing is compared */
    double threshold;            /* log */
    kf_comparison comparison;
    kf_verdict_state state; /* SAME, FAST, SLOW, DRIFT, AMBIGUOUS, NODATA */
    char reason[512];
} kf_series_verdict;

/* Sorts the rows. pin: commit that all is held against first; NULL: none. KF_BAD_INPUT when no row is of it,
 * or when times of a series are numbers and texts. The caller frees *verdicts. */
kf_status kf_series_judge(kf_series_rows *rows, const char *pin, kf_series_verdict **verdicts, int *count,
                          kf_error *error);

#endif
