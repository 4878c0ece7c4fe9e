/* Checks whether a GPU keeps its clock under load, and whether other programs use it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/backend.h"
#include "base/backend/team/team.h"
#include "base/statistics/statistics.h"
#include "base/util/text.h"
#include "harness/doctor/checks.h"
#include "harness/measure/quality.h"
#include "harness/measure/sm_clock.h"

enum { WARM_UP = 150, READINGS = 20, THREADS = 256, ROUNDS = 1000000 }; /* about 2 ms a launch */

typedef struct busy_arguments { /* as in kernels/probe/busy.cu */
    int extent[3];
    int rounds;
    float *result;
} busy_arguments;

typedef struct clock_trial {
    kf_backend *backend;
    kf_module *module;
    kf_buffer *result;
    kf_sm_clock *clock;
} clock_trial;

/* Reads the clock of the multiprocessors in MHz while a kernel keeps all of them busy. */
static kf_status read_clocks(clock_trial *trial, double clocks[READINGS], kf_error *error) {
    const kf_source source = {.file = "kernels/probe/busy.cu"};
    const int items = kf_backend_device(trial->backend)->multiprocessors * THREADS;
    kf_function *function = NULL;
    kf_launch launch;
    KF_TRY(kf_module_load(trial->backend, &source, &trial->module, NULL, error));
    KF_TRY(kf_module_function(trial->module, "busy", &function, error));
    KF_TRY(kf_buffer_create(trial->backend, sizeof(float) * (size_t)items, &trial->result, error));
    KF_TRY(kf_buffer_fill(trial->result, 0, error));
    const busy_arguments arguments = {{items, 1, 1}, ROUNDS, kf_buffer_address(trial->result)};
    kf_launch_set(&launch, "busy", function, (const int[3]){THREADS, 1, 1}, &arguments, sizeof arguments);
    for (int i = 0; i < WARM_UP; i++)
        KF_TRY(kf_backend_launch(trial->backend, &launch, error));
    for (int i = 0; i < READINGS; i++) {
        KF_TRY(kf_sm_clock_mark(trial->clock, error));
        KF_TRY(kf_backend_launch(trial->backend, &launch, error));
        KF_TRY(kf_sm_clock_mark(trial->clock, error));
    }
    KF_TRY(kf_backend_synchronize(trial->backend, error));
    return kf_sm_clock_take(trial->clock, READINGS, clocks, error);
}

/* Reports the clock under load as unknown, unsteady or steady. */
static void report_clocks(kf_diagnosis *check, const clock_trial *trial, const double clocks[READINGS]) {
    const kf_summary s = kf_summarise(clocks, READINGS);
    kf_device_state state;
    kf_backend_device_state(trial->backend, &state);
    if (!isfinite(s.median))
        kf_check_report(check, KF_CHECK_DEGRADED,
                        "times are taken all the same; nobody can tell why they scatter",
                        "the multiprocessors' clock cannot be read");
    else if (!kf_clock_is_steady(clocks, READINGS))
        kf_check_report(
            check, KF_CHECK_DEGRADED,
            "let the GPU cool down and other programs end; 'nvidia-smi -q -d PERFORMANCE' tells what "
            "holds it back",
            "%.0f MHz under load, from %.0f to %.0f; throttle reasons 0x%llx", s.median, s.minimum, s.maximum,
            (unsigned long long)state.throttle_reasons);
    else
        kf_check_report(check, KF_CHECK_OK, "", "%.0f MHz under load, steady within 1 %%", s.median);
}

static void free_trial(const clock_trial *trial) {
    kf_sm_clock_close(trial->clock);
    kf_buffer_free(trial->result);
    kf_module_free(trial->module);
    kf_backend_close(trial->backend);
}

void kf_check_clock(kf_diagnosis *check) {
    clock_trial trial = {0};
    kf_error error = {0};
    double clocks[READINGS];
    kf_status status = kf_backend_open("cuda:0", &trial.backend, &error);
    if (status == KF_OK) {
        trial.clock = kf_sm_clock_open(trial.backend, 2 * READINGS);
        status = read_clocks(&trial, clocks, &error);
    }
    if (status == KF_OK)
        report_clocks(check, &trial, clocks);
    else
        kf_check_report(check, KF_CHECK_DEGRADED, "see the cuda backend line", "%.300s", error.message);
    free_trial(&trial);
}

/* Checks by the memory in use whether other programs use the GPU. */
void kf_check_sharing(kf_diagnosis *check) {
    static const double OWN =
        3.0 * 1024 * 1024 * 1024; /* the driver and a context of kftune need less than this */
    char held[32];
    kf_backend *backend = NULL;
    kf_error error = {0};
    if (kf_backend_open("cuda:0", &backend, &error) != KF_OK) {
        kf_check_report(check, KF_CHECK_DEGRADED, "see the cuda backend line", "%.300s", error.message);
        return;
    }
    const kf_device_info *device = kf_backend_device(backend);
    const double used = (double)device->memory_bytes - (double)device->memory_free_bytes;
    if (used > OWN)
        kf_check_report(
            check, KF_CHECK_DEGRADED,
            "end the other programs ('nvidia-smi' lists them) before tuning: they make times scatter",
            "%s of the GPU's memory are in use: others are on it", kf_human_bytes(used, held));
    else
        kf_check_report(check, KF_CHECK_OK, "", "nobody else seems to use the GPU");
    kf_backend_close(backend);
}
