/* Plays a night: measures every benchmark of a suite in fresh processes, and gives a verdict on each. */
#ifndef KF_HARNESS_NIGHTLY_NIGHT_H
#define KF_HARNESS_NIGHTLY_NIGHT_H

#include <stdio.h>

#include "base/util/text.h"
#include "harness/nightly/suite.h"

typedef struct kf_nightly_request {
    const kf_suite *suite;
    kf_store *store;
    const char *executable; /* to be measured; NULL: this program */
    const char *data;       /* its data folder; NULL: this program's */
    const char *label;      /* what the user calls it, or "" */
} kf_nightly_request;

typedef struct kf_nightly_result {
    kf_night night;
    bool resumed;
    int processes; /* measured now */
    int count;     /* of verdicts, in the order of the suite */
    kf_verdict *verdicts;
    int problems;     /* benchmarks that could not be opened or that the machine could not measure */
    kf_error problem; /* of the first of them */
    /* Benchmarks of the suite's night before that this night has not, as their names may have changed. */
    char (*absent)[KF_BENCHMARK];
    int absent_count;
    int64_t before; /* that night; 0: there is none */
} kf_nightly_result;

/* Plays a night. KF_OK means that every benchmark got a verdict, whatever it is. Otherwise what was measured
 * is in the store, and the next night with the same suite and program carries it on. The caller frees *result
 * in either case. */
kf_status kf_nightly(const kf_nightly_request *request, kf_nightly_result *result, kf_error *error);
void kf_nightly_result_free(kf_nightly_result *result);

/* Fills in the absent benchmarks of a result that has its night and verdicts. */
kf_status kf_nightly_find_absent(kf_store *store, kf_nightly_result *result, kf_error *error);

/* Returns how many verdicts make the night fail. */
int kf_nightly_failures(const kf_nightly_result *result);

/* These tell what a night found: for people, as Markdown, and as the object of --json (the caller deletes
 * it). */
void kf_nightly_print(const kf_nightly_result *result, FILE *stream);
void kf_nightly_markdown(const kf_nightly_result *result, kf_text *text);
cJSON *kf_nightly_to_json(const kf_nightly_result *result, const char *store);

#endif
