#include "harness/counters/cupti_library.h"

#ifdef KF_HAVE_CUPTI

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/backend/library.h"
#include "base/util/text.h"

kf_cupti_table kf_cupti;

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;

static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so", NULL};
static const char *const folders[] = {"$CUDA_HOME/extras/CUPTI/lib64",
                                      "$CUDA_PATH/extras/CUPTI/lib64",
                                      "$CUDA_HOME/lib64",
                                      "$CUDA_PATH/lib64",
                                      "/usr/local/cuda*/extras/CUPTI/lib64",
                                      "/usr/local/cuda*/targets/x86_64-linux/lib",
                                      "/usr/local/cuda*/targets/sbsa-linux/lib",
                                      "/usr/local/cuda*/lib64",
                                      "/opt/cuda/extras/CUPTI/lib64",
                                      "/usr/local/lib/python3*/*-packages/nvidia/cu1*/lib",
                                      "/usr/local/lib/python3*/*-packages/nvidia/cuda_cupti/lib",
                                      NULL};

#define ENTRY(name) {#name, offsetof(kf_cupti_table, name), false},
static const kf_symbol symbols[] = {KF_CUPTI_FUNCTIONS(ENTRY)};
#undef ENTRY

static const kf_library library = {
    .override = "KFTUNE_CUPTI",
    .names = names,
    .folders = folders,
    .cure = "install CUPTI of CUDA 12.6 or later (package cuda-cupti)",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};

/* CUPTI opens these by name, and does not always look beside itself. */
static void load_companions(const char *cupti) {
    static const char *const companions[] = {"libnvperf_host.so", "libnvperf_target.so"};
    const char *slash = strrchr(cupti, '/');
    if (slash == NULL) return;
    for (size_t i = 0; i < sizeof companions / sizeof *companions; i++) {
        char path[KF_PATH];
        if (kf_path(path, NULL, "%.*s/%s", (int)(slash - cupti), cupti, companions[i]) == KF_OK)
            (void)dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    }
}

static kf_status load_locked(kf_error *error) {
    char file[KF_PATH];
    if (loaded) return KF_OK;
    KF_TRY(kf_library_load(&library, &kf_cupti, file, error));
    load_companions(file);
    loaded = true;
    return KF_OK;
}

kf_status kf_cupti_load(kf_error *error) {
    pthread_mutex_lock(&load_lock);
    const kf_status status = load_locked(error);
    pthread_mutex_unlock(&load_lock);
    return status;
}

static const struct {
    CUptiResult result;
    const char *cure;
} cures[] = {
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "the driver lets only root read counters: load it with "
                                          "NVreg_RestrictProfilingToAdminUsers=0, run as root, "
                                          "or give the container CAP_SYS_ADMIN"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
     "another profiler uses this GPU (ncu, nsys, or DCGM: dcgmi profiling --pause)"},
    {CUPTI_ERROR_HARDWARE_BUSY,
     "another profiler uses this GPU (ncu, nsys, or DCGM: dcgmi profiling --pause)"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "a virtual GPU gives no counters"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
     "this virtual GPU was not given the right to count"},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, "confidential computing forbids counters"},
    {CUPTI_ERROR_NOT_INITIALIZED, "libnvperf_host.so is missing beside libcupti"},
};

kf_status kf_cupti_fail(kf_error *error, CUptiResult result, const char *call) {
    const char *text = NULL;
    if (kf_cupti.cuptiGetResultString(result, &text) != CUPTI_SUCCESS || text == NULL) text = "unknown error";
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
        if (cures[i].result == result)
            return kf_fail(error, KF_MACHINE, "counters: %s: %s (%s)", call, cures[i].cure, text);
    return kf_fail(error, KF_MACHINE, "counters: %s: %s (%d)", call, text, (int)result);
}

#endif
