/* Runs a night: measures every benchmark of a suite in new processes, and gives each a verdict. */
#ifndef KF_HARNESS_NIGHTLY_NIGHT_H
#define KF_HARNESS_NIGHTLY_NIGHT_H

#include <stdio.h>

#include "base/util/text.h"
#include "harness/nightly/suite.h"

typedef struct kf_nightly_request {
    const kf_suite *suite;
    kf_store *store;
    const char *executable; /* the program to measure; NULL: this program */
    const char *data;       /* its data folder; NULL: this program's */
    const char *label;      /* the user's name for it, or "" */
} kf_nightly_request;

typedef struct kf_nightly_result {
    kf_night night;
    bool resumed;
    int processes; /* measured now */
    int count;     /* number of verdicts, which are in the order of the suite */
    kf_verdict *verdicts;
    int problems;     /* benchmarks that could not be opened, or that the machine could not measure */
    kf_error problem; /* the first of these problems */
    /* Benchmarks of the suite's preceding night that are missing now. They may have been renamed. */
    char (*absent)[KF_BENCHMARK];
    int absent_count;
    int64_t before; /* the preceding night; 0: none */
} kf_nightly_result;

/* Runs a night. KF_OK if every benchmark got a verdict, good or bad. Otherwise the measurements are stored,
 * and the next night with the same suite and program continues it. The caller frees *result in both cases. */
kf_status kf_nightly(const kf_nightly_request *request, kf_nightly_result *result, kf_error *error);
void kf_nightly_result_free(kf_nightly_result *result);

/* Finds the missing benchmarks for a result that has its night and verdicts. */
kf_status kf_nightly_find_absent(kf_store *store, kf_nightly_result *result, kf_error *error);

/* Returns the number of verdicts that make the night fail. */
int kf_nightly_failures(const kf_nightly_result *result);

/* These report a night as text, as Markdown, and as the object of --json, which the caller frees. */
void kf_nightly_print(const kf_nightly_result *result, FILE *stream);
void kf_nightly_markdown(const kf_nightly_result *result, kf_text *text);
cJSON *kf_nightly_to_json(const kf_nightly_result *result, const char *store);

#endif
