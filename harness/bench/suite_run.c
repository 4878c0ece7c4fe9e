/* Runs a suite that is a file. One run measures the roofs, then verifies and times each config, and makes the
 * figures. */
#include "harness/bench/suite_run.h"

#include <math.h>
#include <stdlib.h>

#include "base/backend/team/team.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "harness/roofs/roofs.h"
#include "harness/worker/child.h"
#include "harness/worker/worker.h"

typedef struct roof_request {
    const char *device;
    unsigned groups;
} roof_request;

static kf_status measure_roofs(const void *context, void *answer, kf_error *error) {
    const roof_request *request = context;
    kf_backend *backend = NULL;
    KF_TRY(kf_backend_open(request->device, &backend, error));
    const kf_status status = kf_roofs_measure(backend, request->groups, answer, error);
    kf_backend_close(backend);
    return status;
}

/* Returns the rate of the fastest way to copy: by the driver, by a kernel, or with non-temporal stores. */
static double copy_rate(const kf_roofs *roofs) {
    static const char *const names[] = {"dram_copy", "dram_copy_kernel", "dram_copy_nt"};
    double fastest = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const kf_roof *found = kf_roofs_find(roofs, names[i]);
        if (found != NULL) fastest = fmax(fastest, found->value * 1e9);
    }
    return fastest;
}

static bool any_measured(const kf_suite_file *file, const kf_suite_time *times) {
    for (int i = 0; i < file->timing_count; i++)
        if (times[i].best >= 0) return true;
    return false;
}

static kf_status measure(const kf_bench_options *options, kf_suite_problems *problems, const bool *timings,
                         kf_figures *figures, kf_error *error) {
    const kf_suite_file *file = problems->file;
    const roof_request request = {problems->device->spec, file->roofs};
    kf_roofs roofs;
    KF_TRY(kf_child_run("measuring the roofs", measure_roofs, &request, &roofs, sizeof roofs, error));
    kf_suite_time *times = kf_allocate_zeroed((size_t)file->timing_count + 1, sizeof *times);
    kf_status status = kf_suite_time_all(problems, timings, times, error);
    const kf_suite_results results = {
        .problems = problems, .times = times, .roofs = &roofs, .copy_rate = copy_rate(&roofs)};
    const bool interrupted = status == KF_INTERRUPTED && any_measured(file, times);
    if (status == KF_OK || interrupted) {
        const kf_status added = kf_suite_add_figures(options, &results, figures, error);
        if (added != KF_OK) status = added;
    }
    kf_suite_times_free(file, times);
    return status;
}

kf_status kf_suite_run(const kf_bench_suite *suite, const kf_bench_options *options, kf_device_info *device,
                       kf_figures *figures, kf_error *error) {
    const kf_suite_file *file = suite->file;
    if (file->about < 0 && (options->nodes[0] > 0 || options->samples_per_cell > 0))
        return kf_fail(error, KF_BAD_INPUT,
                       "--suite %s: --grid and --samples-per-cell need a suite that has one scene",
                       suite->name);
    bool *timings = kf_allocate_zeroed((size_t)file->timing_count + 1, sizeof *timings);
    bool *scenes = kf_allocate_zeroed((size_t)file->scene_count + 1, sizeof *scenes);
    kf_suite_problems problems = {.file = file};
    kf_status status = kf_suite_select(file, options, timings, scenes, error);
    if (status == KF_OK) status = kf_device_probe(options->device, device, error);
    if (status == KF_OK) {
        kf_progress(true, "making the scenes");
        status = kf_suite_problems_open(file, device, options, scenes, &problems, error);
    }
    if (status == KF_OK) status = measure(options, &problems, timings, figures, error);
    kf_suite_problems_close(&problems);
    free(timings);
    free(scenes);
    return status;
}
