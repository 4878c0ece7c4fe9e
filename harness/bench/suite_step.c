/* Suite `step`: the whole three-dimensional time step against the limit that the memory sets: the rate of a
 * device-to-device copy, bytes read and written, over the least bytes of a node (every population read and
 * written once). Everything is measured in one run: roofs first, then for each row of step_plans.c the
 * fastest of a few configs, each verified on the reduced scene before it is timed. step_figures.c makes the
 * figures. */
#include <math.h>

#include "base/util/log.h"
#include "harness/bench/step_figures.h"
#include "harness/worker/child.h"
#include "harness/worker/worker.h"

static kf_status measure_roofs(const void *context, void *answer, kf_error *error) {
    kf_backend *backend = NULL;
    KF_TRY(kf_backend_open(context, &backend, error));
    const kf_status status =
        kf_roofs_measure(backend, KF_ROOFS_MEMORY | KF_ROOFS_ATOMICS | KF_ROOFS_LAUNCHES, answer, error);
    kf_backend_close(backend);
    return status;
}

/* By the driver, by a kernel or by one with non-temporal stores, whichever is fastest. */
static double copy_rate(const kf_roofs *roofs) {
    static const char *const names[] = {"dram_copy", "dram_copy_kernel", "dram_copy_nt"};
    double fastest = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const kf_roof *found = kf_roofs_find(roofs, names[i]);
        if (found != NULL) fastest = fmax(fastest, found->value * 1e9);
    }
    return fastest;
}

static kf_status measure(const kf_bench_options *options, kf_step_scenes *scenes, uint64_t wanted,
                         kf_figures *figures, kf_error *error) {
    kf_roofs roofs;
    kf_step_timing timings[KF_TIMES] = {0};
    KF_TRY(kf_child_run("measuring the roofs", measure_roofs, scenes->device->spec, &roofs, sizeof roofs,
                        error));
    const kf_status status = kf_step_time_all(scenes, wanted, timings, error);
    const kf_step_results results = {
        .scenes = scenes, .timings = timings, .roofs = &roofs, .copy_rate = copy_rate(&roofs)};
    if (status == KF_OK) kf_step_add_figures(options, &results, figures);
    kf_step_timings_free(timings);
    return status;
}

static kf_status run(const kf_bench_options *options, kf_device_info *device, kf_figures *figures,
                     kf_error *error) {
    kf_step_scenes scenes;
    uint64_t wanted;
    unsigned wanted_scenes;
    KF_TRY(kf_step_select(options, &wanted, &wanted_scenes, error));
    KF_TRY(kf_device_probe(options->device, device, error));
    kf_progress(true, "making the scenes");
    kf_status status = kf_step_scenes_open(&scenes, device, options, wanted_scenes, error);
    if (status == KF_OK) status = measure(options, &scenes, wanted, figures, error);
    kf_step_scenes_close(&scenes);
    return status;
}

const kf_bench_suite kf_suite_step = {
    .name = "step",
    .summary = "the whole time step against the memory's limit",
    .promise = "every config passes the gate before it is timed",
    .run_apart = run,
};
