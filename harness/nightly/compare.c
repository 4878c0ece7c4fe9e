#include "harness/nightly/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/nightly/entry.h"

static const double PROCESS_LIMIT_SECONDS = 600.0;

static kf_status find_program(const char *folder, kf_program *program, kf_error *error) {
    static const char *const names[] = {"build/kftune", "kftune"};
    char absolute[KF_PATH];
    if (!kf_real_path(folder, absolute))
        return kf_fail(error, KF_BAD_INPUT, "compare: there is no folder '%.200s'", folder);
    kf_copy_text(program->data, sizeof program->data, absolute);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        KF_TRY(kf_path(program->executable, error, "%s/%s", absolute, names[i]));
        if (access(program->executable, X_OK) == 0) return kf_program_hash(program, error);
    }
    return kf_fail(error, KF_BAD_INPUT,
                   "compare: '%.200s' has neither build/kftune nor kftune; build it first", folder);
}

/* Opens the benchmark to compare. A suite with a single benchmark needs no name. Commands are refused,
 * because two nights compare them. */
static kf_status open_entry(const kf_compare_request *request, kf_entry *entry, kf_error *error) {
    const kf_suite *suite = request->suite;
    if (request->benchmark == NULL && suite->count > 1)
        return kf_fail(error, KF_BAD_INPUT, "compare: --benchmark NAME is missing; the suite has %d",
                       suite->count);
    for (int i = 0; i < suite->count; i++) {
        if (request->benchmark != NULL && strcmp(suite->benchmarks[i].name, request->benchmark) != 0)
            continue;
        if (suite->benchmarks[i].command != NULL)
            return kf_fail(error, KF_BAD_INPUT,
                           "compare: %s: is a command, which compare does not run; two nights compare it",
                           suite->benchmarks[i].name);
        kf_entry_open(entry, &suite->benchmarks[i], request->store);
        if (entry->problem[0] == '\0') return KF_OK;
        return kf_fail(error, KF_BAD_INPUT, "compare: %s: %s", suite->benchmarks[i].name, entry->problem);
    }
    return kf_fail(error, KF_BAD_INPUT, "compare: the suite has no benchmark '%.80s'", request->benchmark);
}

static kf_status measure(const kf_entry *entry, const kf_program *program, double *log_time,
                         kf_error *error) {
    kf_job_end *answer = kf_allocate(sizeof *answer);
    kf_status status = kf_process_measure(program, entry->job, false, PROCESS_LIMIT_SECONDS, answer, error);
    if (status == KF_OK && (!answer->measured || answer->measurement.state != KF_STATE_OK))
        status = kf_fail(error, KF_MACHINE, "%s cannot measure it: %s", program->executable,
                         answer->measured ? answer->measurement.reason : answer->problem);
    if (status == KF_OK) *log_time = log(answer->measurement.step_us.median);
    if (answer->measured) kf_measurement_free(&answer->measurement);
    free(answer);
    return status;
}

/* Measures in the order A B B A, with more processes if the result is ambiguous. */
static kf_status compare(const kf_entry *entry, const kf_program programs[2], double threshold,
                         kf_compare_result *result, kf_error *error) {
    double logs[2][KF_MORE_PROCESSES];
    for (size_t count = 0; count < KF_MORE_PROCESSES;) {
        for (int share = 0; share < 2; share++) {
            const int side = (int)((count + (size_t)share) % 2);
            KF_TRY(measure(entry, &programs[side], &logs[side][count], error));
        }
        result->processes = (int)++count;
        if (count != KF_LEAST_PROCESSES && count != KF_MORE_PROCESSES) continue;
        result->comparison = kf_compare(logs[0], count, logs[1], count);
        if (!kf_undecided(&result->comparison, threshold, &kf_standard_rules)) break;
    }
    result->finding = kf_confirm(&result->comparison, threshold, &kf_standard_rules);
    return KF_OK;
}

kf_status kf_nightly_compare(const kf_compare_request *request, kf_compare_result *result, kf_error *error) {
    kf_program programs[2] = {0};
    memset(result, 0, sizeof *result);
    KF_TRY(find_program(request->reference, &programs[0], error));
    KF_TRY(find_program(request->candidate, &programs[1], error));
    kf_entry *entry = kf_allocate_zeroed(1, sizeof *entry);
    kf_status status = open_entry(request, entry, error);
    result->identical = strcmp(programs[0].hash, programs[1].hash) == 0;
    if (status == KF_OK && !result->identical)
        status = compare(entry, programs, request->threshold, result, error);
    kf_entry_close(entry);
    free(entry);
    return status;
}
