#include "harness/doctor/checks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/backend/backend.h"
#include "base/backend/cache.h"
#include "base/backend/cpu/cpu.h"
#include "base/backend/fft.h"
#include "base/backend/team/team.h"
#include "base/util/processors.h"
#include "base/util/text.h"
#include "harness/counters/count.h"

static const double gibibyte = 1024.0 * 1024 * 1024;

void kf_check_report(kf_diagnosis *check, kf_check_state state, const char *cure, const char *format, ...) {
    va_list arguments;
    check->state = state;
    kf_copy_text(check->cure, sizeof check->cure, cure);
    va_start(arguments, format);
    (void)vsnprintf(check->detail, sizeof check->detail, format, arguments);
    va_end(arguments);
}

void kf_check_library(kf_diagnosis *check, kf_status status, const kf_error *why, const char *ok,
                      const char *cure) {
    if (status == KF_OK)
        kf_check_report(check, KF_CHECK_OK, "", "%s", ok);
    else
        kf_check_report(check, KF_CHECK_DEGRADED, cure, "%.300s", why->message);
}

/* --- Running a kernel --------------------------------------------------------------------------------- */

enum { ITEMS = 1000 };

typedef struct copy_arguments { /* of kernels/probe/simple.cu */
    int extent[3];
    const float *source;
    float *target;
    float factor;
} copy_arguments;

typedef struct device_trial {
    kf_backend *backend;
    kf_module *module;
    kf_buffer *source, *target;
} device_trial;

/* Copies an array on the device and compares the result. This needs a working compiler, memory and launches.
 */
static kf_status copy_on_device(device_trial *trial, kf_error *error) {
    static const kf_source probe = {.file = "kernels/probe/simple.cu"};
    float sent[ITEMS], received[ITEMS] = {0};
    for (int i = 0; i < ITEMS; i++)
        sent[i] = (float)i;
    kf_function *function;
    kf_launch launch;
    KF_TRY(kf_module_load(trial->backend, &probe, &trial->module, NULL, error));
    KF_TRY(kf_module_function(trial->module, "copy", &function, error));
    KF_TRY(kf_buffer_create(trial->backend, sizeof sent, &trial->source, error));
    KF_TRY(kf_buffer_create(trial->backend, sizeof sent, &trial->target, error));
    KF_TRY(kf_buffer_upload(trial->source, 0, sent, sizeof sent, error));
    const copy_arguments arguments = {
        {ITEMS, 1, 1}, kf_buffer_address(trial->source), kf_buffer_address(trial->target), 0};
    kf_launch_set(&launch, "copy", function, (const int[3]){64, 1, 1}, &arguments, sizeof arguments);
    KF_TRY(kf_backend_launch(trial->backend, &launch, error));
    KF_TRY(kf_backend_synchronize(trial->backend, error));
    KF_TRY(kf_buffer_download(trial->target, 0, received, sizeof received, error));
    for (int i = 0; i < ITEMS; i++)
        if (received[i] != sent[i]) return kf_fail(error, KF_MACHINE, "a kernel gave a wrong result");
    return KF_OK;
}

/* Checks that a device opens and gives correct results, and reports its compiler. */
void kf_check_device(kf_diagnosis *check, const char *spec, const char *cure) {
    device_trial trial = {0};
    kf_error error = {0};
    kf_status status = kf_backend_open(spec, &trial.backend, &error);
    if (status == KF_OK) status = copy_on_device(&trial, &error);
    if (status != KF_OK)
        kf_check_report(check, KF_CHECK_MISSING, cure, "%s", error.message);
    else {
        const kf_device_info *device = kf_backend_device(trial.backend);
        kf_check_report(check, KF_CHECK_OK, "", "%s builds and runs kernels: %s, %s", device->spec,
                        device->name, device->compiler);
    }
    kf_buffer_free(trial.source);
    kf_buffer_free(trial.target);
    kf_module_free(trial.module);
    kf_backend_close(trial.backend);
}

/* Compiles a new kernel, because kf_check_device may take its kernel from the cache. */
static kf_status compile_afresh(kf_error *error) {
    static const kf_source probe = {.file = "kernels/probe/simple.cu"};
    kf_host_compiler compiler;
    char output[KF_PATH];
    KF_TRY(kf_host_compiler_find(&compiler, error));
    KF_TRY(kf_cache_temporary(output, "so", error));
    const kf_status status = kf_host_compile(&compiler, &probe, output, error);
    unlink(output);
    return status;
}

void kf_check_cpu(kf_diagnosis *check) {
    static const char cure[] = "apt-get install gcc libc6-dev, or set KFTUNE_CC to a C compiler";
    kf_error error = {0};
    if (compile_afresh(&error) != KF_OK) /* A fault of the cache has its own message and cure. */
        kf_check_report(check, KF_CHECK_MISSING,
                        strstr(error.message, "XDG_CACHE_HOME") || strstr(error.message, "mount /dev") ? ""
                                                                                                       : cure,
                        "%s", error.message);
    else
        kf_check_device(check, "cpu", cure);
}

/* --- Programs and folders ----------------------------------------------------------------------------- */

/* Runs gnuplot. If it succeeds, `report` is its first output, otherwise a line with the reason. */
static bool ask_gnuplot(const char *const *words, char report[256]) {
    kf_program_result result;
    kf_error error = {0};
    const kf_status status = kf_program_run(words, &result, &error);
    const char *said = status == KF_OK ? result.output : error.message;
    const char *line = strstr(said, "line "); /* It follows a picture that marks the place in the command. */
    if (line == NULL) line = said + strspn(said, " \t\n");
    const int length = (int)strcspn(line, "\n");
    (void)snprintf(report, 256, "%.*s", length, length > 0 ? line : "gnuplot does not run");
    const bool good = status == KF_OK && result.exit_status == 0;
    free(result.output);
    return good;
}

/* Checks gnuplot by drawing. An old gnuplot, or one without cairo, runs but cannot draw what plots need
 * (plots/style.gp). */
void kf_check_gnuplot(kf_diagnosis *check) {
    static const char cure[] = "apt-get install gnuplot-nox; only plots and reports need it";
    static const char *const version[] = {"gnuplot", "--version", NULL};
    static const char *const terminals[] = {"svg", "pngcairo", "pdfcairo"};
    char said[256], why[256], command[64];
    if (!ask_gnuplot(version, said)) {
        kf_check_report(check, KF_CHECK_DEGRADED, strstr(said, "mount /dev") != NULL ? "" : cure, "%s", said);
        return;
    }
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
        (void)snprintf(command, sizeof command, "set terminal %s", terminals[i]);
        const char *const words[] = {"gnuplot", "--default-settings", "-e", command, NULL};
        if (ask_gnuplot(words, why)) continue;
        kf_check_report(check, KF_CHECK_DEGRADED, cure, "%.60s is too old or lacks cairo: '%s': %.100s", said,
                        command, why);
        return;
    }
    kf_check_report(check, KF_CHECK_OK, "", "%.100s", said);
}

/* Returns whether a file can be created in a folder. */
static bool can_write(const char *folder) {
    char path[KF_PATH];
    if (kf_path(path, NULL, "%s/doctor-XXXXXX", folder) != KF_OK) return false;
    const int file = mkstemp(path);
    if (file < 0) return false;
    close(file);
    return unlink(path) == 0;
}

/* Checks that a folder can be written and has room. `variable` is the environment variable that names another
 * folder. */
static void check_folder(kf_diagnosis *check, const char *folder, const char *variable) {
    struct statvfs disk;
    char room[32], cure[256];
    snprintf(cure, sizeof cure, "make it writable, or set %s to a folder that is", variable);
    if (!can_write(folder)) {
        kf_check_report(check, KF_CHECK_MISSING, cure, "%.300s cannot be written", folder);
        return;
    }
    if (statvfs(folder, &disk) != 0) {
        kf_check_report(check, KF_CHECK_DEGRADED, cure, "%.300s: %s", folder, strerror(errno));
        return;
    }
    const double left = (double)disk.f_bavail * (double)disk.f_frsize;
    kf_human_bytes(left, room);
    snprintf(cure, sizeof cure, "make room, or set %s to a folder on a larger disk", variable);
    if (left < gibibyte)
        kf_check_report(check, KF_CHECK_DEGRADED, cure, "%.300s has only %s left", folder, room);
    else
        kf_check_report(check, KF_CHECK_OK, "", "%.300s, %s free", folder, room);
}

/* Checks that the store's folder has room and that its file can be read and written. */
void kf_check_store(kf_diagnosis *check) {
    char folder[KF_PATH], file[KF_PATH];
    kf_error error = {0};
    if (kf_store_folder(folder, &error) != KF_OK) {
        kf_check_report(check, KF_CHECK_MISSING,
                        "set XDG_DATA_HOME to a folder that can be written, or give --store", "%.300s",
                        error.message);
        return;
    }
    check_folder(check, folder, "XDG_DATA_HOME");
    if (check->state != KF_CHECK_MISSING && kf_path(file, NULL, "%s/kftune.db", folder) == KF_OK &&
        access(file, F_OK) == 0 && access(file, R_OK | W_OK) != 0)
        kf_check_report(check, KF_CHECK_MISSING,
                        "give yourself the right to read and write it, or use --store", "%.300s: %s", file,
                        strerror(errno));
}

void kf_check_cache(kf_diagnosis *check) {
    char folder[KF_PATH];
    kf_error error = {0};
    if (kf_cache_kernel_folder(folder, &error) == KF_OK) {
        check_folder(check, folder, "XDG_CACHE_HOME");
        if (check->state == KF_CHECK_OK && kf_folder_is_noexec(folder))
            kf_check_report(check, KF_CHECK_DEGRADED,
                            "set XDG_CACHE_HOME to a folder that is not mounted noexec",
                            "%.300s is mounted noexec: kernels of the cpu cannot be loaded from it", folder);
    } else
        kf_check_report(check, KF_CHECK_MISSING, "set XDG_CACHE_HOME to a folder that can be written",
                        "%.300s", error.message);
}

/* --- The machine -------------------------------------------------------------------------------------- */

void kf_check_memory_of(kf_diagnosis *check, double free_bytes, double all_bytes) {
    char available[32], all[32];
    kf_human_bytes(free_bytes, available);
    kf_human_bytes(all_bytes, all);
    if (free_bytes < 2 * gibibyte)
        kf_check_report(check, KF_CHECK_DEGRADED, "end other programs; large scenes will not fit",
                        "%s of %s available", available, all);
    else
        kf_check_report(check, KF_CHECK_OK, "", "%s of %s available", available, all);
}

void kf_check_memory(kf_diagnosis *check) {
    kf_device_info cpu;
    (void)kf_cpu_device_describe(&cpu, NULL); /* It reports memory and threads even without a compiler. */
    kf_check_memory_of(check, (double)cpu.memory_free_bytes, (double)cpu.memory_bytes);
}

/* Checks how many processors kftune may use, and what limits them: a quota, an affinity, or their number. */
void kf_check_threads_of(kf_diagnosis *check, const kf_processors *found, int threads, int lanes) {
    if (found->quota > 0.0 && found->quota < found->bound)
        kf_check_report(check, KF_CHECK_DEGRADED,
                        "give the container more (docker run --cpus, a slice's CPUQuota)",
                        "a control group's quota allows %.3g of %d processors: %d threads and compilers",
                        found->quota, found->bound, found->usable);
    else if (found->usable < found->online)
        kf_check_report(check, KF_CHECK_DEGRADED,
                        "start kftune without taskset, or widen the container's cpuset",
                        "%d of %d processors may be used", found->usable, found->online);
    else if (threads < 2)
        kf_check_report(check, KF_CHECK_DEGRADED,
                        "a second processor lets kernels be built while others are measured",
                        "one processor");
    else
        kf_check_report(check, KF_CHECK_OK, "", "%d processors, %d float lanes each", threads, lanes);
}

void kf_check_threads(kf_diagnosis *check) {
    kf_device_info cpu;
    const kf_processors found = kf_processors_find();
    (void)kf_cpu_device_describe(&cpu, NULL);
    kf_check_threads_of(check, &found, cpu.multiprocessors, cpu.warp_size);
}

void kf_check_load_of(kf_diagnosis *check, double load, int processors) {
    if (load > 0.5)
        kf_check_report(
            check, KF_CHECK_DEGRADED, "let other programs end before tuning: they make times scatter",
            "%.1f other threads on average wanted the %d processors in the last minute", load, processors);
    else
        kf_check_report(check, KF_CHECK_OK, "", "load %.2f on %d processors", load, processors);
}

/* Checks by the load of the last minute whether other programs use the processors. */
void kf_check_load(kf_diagnosis *check) {
    kf_device_info cpu;
    double load[1] = {0};
    (void)kf_cpu_device_describe(&cpu, NULL);
    if (getloadavg(load, 1) == 1)
        kf_check_load_of(check, load[0], cpu.multiprocessors);
    else
        kf_check_report(check, KF_CHECK_OK, "", "not known");
}

void kf_check_papi(kf_diagnosis *check) {
    kf_error why = {0};
    kf_check_library(check, kf_papi_check(&why), &why, "PAPI counts instructions and more",
                     "only `tune --counters` on the cpu needs it; all else works without");
}

void kf_check_fftw(kf_diagnosis *check) {
    kf_error why = {0};
    kf_check_library(check, kf_fft_available("cpu", &why), &why, "transforms of a library on the cpu",
                     "only plans with fft=library need it; all else works without");
}
