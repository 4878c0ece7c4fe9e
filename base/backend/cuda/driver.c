#ifdef KF_HAVE_CUDA

#include "base/backend/cuda/driver.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/backend/cuda/nvml.h"
#include "base/backend/library.h"
#include "base/util/text.h"

kf_cuda_driver kf_cuda;

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;
/* The process that called cuInit; 0: neither this process nor a parent has called it. */
static pid_t started_by;

static const char *const driver_names[] = {"libcuda.so.1", NULL};
static const char *const driver_folders[] = {"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", NULL};

#define KF_ENTRY(name) {KF_SYMBOL_TEXT(name), offsetof(kf_cuda_driver, name), false},
static const kf_symbol driver_symbols[] = {
    KF_CUDA_FUNCTIONS(KF_ENTRY){"cuEventElapsedTime", offsetof(kf_cuda_driver, elapsed_time), true},
    {"cuEventElapsedTime_v2", offsetof(kf_cuda_driver, elapsed_time_v2), true},
    {"cuFuncGetParamInfo", offsetof(kf_cuda_driver, parameter_info), true},
    {"cuStreamWriteValue32_v2", offsetof(kf_cuda_driver, write_value), true},
    {"cuStreamWaitValue32_v2", offsetof(kf_cuda_driver, wait_value), true},
#ifdef KF_CUDA_LAUNCH_CONFIG
    {"cuLaunchKernelEx", offsetof(kf_cuda_driver, launch_kernel_ex), true},
#endif
};
#undef KF_ENTRY

static const kf_library driver_library = {
    .names = driver_names,
    .folders = driver_folders,
    .cure = "install the NVIDIA driver (470 or later), or use --device cpu",
    .symbols = driver_symbols,
    .symbol_count = sizeof driver_symbols / sizeof driver_symbols[0],
};

/* Returns whether a result is one that no config can bring about: the driver or the device itself is gone. */
static bool is_fault_of_host(CUresult result) {
    switch (result) {
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return true;
    default:
        return false;
    }
}

kf_status kf_cuda_fail(kf_error *error, CUresult result, const char *call) {
    const kf_status status = is_fault_of_host(result) ? KF_HOST : KF_MACHINE;
    const char *name = NULL, *description = NULL;
    if (kf_cuda.cuGetErrorName(result, &name) != CUDA_SUCCESS || !name) name = "unknown error";
    if (kf_cuda.cuGetErrorString(result, &description) != CUDA_SUCCESS || !description)
        return kf_fail(error, status, "cuda: %s: %s (%d)", call, name, (int)result);
    return kf_fail(error, status, "cuda: %s: %s (%s)", call, name, description);
}

/* Loads and starts the driver, once for each process. A process that was forked from one with CUDA cannot
 * use it. */
static kf_status start_locked(kf_error *error) {
    if (started_by == getpid()) return KF_OK;
    if (started_by != 0)
        return kf_fail(
            error, KF_MACHINE,
            "cuda: this process was forked from one that already used CUDA: fork before using CUDA");
    if (!loaded) {
        char file[KF_PATH];
        kf_error reason = {KF_OK, ""};
        if (kf_library_load(&driver_library, &kf_cuda, file, &reason) != KF_OK)
            return kf_fail(error, KF_HOST, "%s", reason.message);
        loaded = true;
    }
    if (!kf_cuda.elapsed_time && !kf_cuda.elapsed_time_v2)
        return kf_fail(error, KF_HOST, "cuda: %s lacks cuEventElapsedTime: %s", driver_names[0],
                       driver_library.cure);
    KF_CUDA_TRY(cuInit, 0);
    started_by = getpid();
    return KF_OK;
}

static kf_status start(kf_error *error) {
    pthread_mutex_lock(&start_lock);
    const kf_status status = start_locked(error);
    pthread_mutex_unlock(&start_lock);
    return status;
}

bool kf_cuda_driver_started(void) {
    return started_by == getpid();
}

kf_status kf_cuda_count_devices(int *count, kf_error *error) {
    *count = 0;
    KF_TRY(start(error));
    KF_CUDA_TRY(cuDeviceGetCount, count);
    return *count > 0 ? KF_OK : kf_fail(error, KF_HOST, "cuda: the driver works, but finds no device");
}

kf_status kf_cuda_check_index(int index, int count, kf_error *error) {
    if (index >= 0 && index < count) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "cuda:%d: there is no such device; the last one is cuda:%d", index,
                   count - 1);
}

static int attribute(CUdevice device, CUdevice_attribute which) {
    int value = 0;
    return kf_cuda.cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS && value > 0 ? value : 0;
}

static kf_status identity(CUdevice device, char text[64], kf_error *error) {
    CUuuid uuid;
    KF_CUDA_TRY(cuDeviceGetUuid, &uuid, device);
    size_t length = (size_t)snprintf(text, 64, "GPU");
    for (size_t i = 0; i < sizeof uuid.bytes; i++) {
        const bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        length += (size_t)snprintf(text + length, 64 - length, "%s%02x", dash ? "-" : "",
                                   (unsigned)(unsigned char)uuid.bytes[i]);
    }
    return KF_OK;
}

/* Reads the version of the kernel module ("580.95.05") from NVML, then from the kernel. If both fail, it uses
 * the API version. */
static kf_status driver_version(char *text, size_t size, kf_error *error) {
    if (kf_nvml_driver_version(text, size)) return KF_OK;
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    char line[256] = "";
    if (file) {
        if (!fgets(line, sizeof line, file)) line[0] = '\0';
        fclose(file);
    }
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
        if (strchr(word, '.') && strspn(word, "0123456789.") == strlen(word)) {
            kf_copy_text(text, size, word);
            return KF_OK;
        }
    int version = 0;
    KF_CUDA_TRY(cuDriverGetVersion, &version);
    snprintf(text, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    return KF_OK;
}

/* Fills in what a CUDA device is, without a context: name, identity, architecture, sizes, clocks. Peak
 * bandwidth is two transfers a clock of its memory's bus. */
kf_status kf_cuda_device_fill(int index, kf_device_info *info, kf_error *error) {
    CUdevice device = 0;
    size_t memory = 0;
    memset(info, 0, sizeof *info);
    KF_CUDA_TRY(cuDeviceGet, &device, index);
    KF_CUDA_TRY(cuDeviceGetName, info->name, (int)sizeof info->name, device);
    KF_CUDA_TRY(cuDeviceTotalMem, &memory, device);
    KF_TRY(identity(device, info->identity, error));
    KF_TRY(driver_version(info->driver, sizeof info->driver, error));
    snprintf(info->spec, sizeof info->spec, "cuda:%d", index);
    kf_copy_text(info->backend, sizeof info->backend, "cuda");
    snprintf(info->architecture, sizeof info->architecture, "sm_%d%d",
             attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
             attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    info->multiprocessors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->warp_size = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    info->max_threads_per_block = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info->memory_bytes = memory;
    info->l2_bytes = (uint64_t)attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    const double clock_hz = 1e3 * attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    const double bus_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8.0;
    /* Two transfers per clock. */
    info->peak_bandwidth = 2.0 * clock_hz * bus_bytes;
    info->clock_hz = 1e3 * attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    return KF_OK;
}

#endif
