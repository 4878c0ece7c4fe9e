#ifdef KF_HAVE_CUDA

#include "base/backend/cuda/nvml.h"

#include <pthread.h>
#include <string.h>

#include "base/backend/library.h"

/* Only some distributions install nvml.h with the toolkit. So the used part of its stable binary interface is
 * declared here. Results are 0 on success. */
typedef struct nvml_device *nvml_device;
typedef struct nvml_memory {
    unsigned long long total, free, used; /* cppcheck-suppress unusedStructMember ; NVML's layout */
} nvml_memory;
/* The struct of functions whose names end in _v2 and _v3. */
typedef struct nvml_process {
    unsigned pid;
    unsigned long long memory;           /* cppcheck-suppress unusedStructMember ; NVML's layout */
    unsigned instance, compute_instance; /* cppcheck-suppress unusedStructMember ; NVML's layout */
} nvml_process;
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2, NVML_TEMPERATURE_GPU = 0 };

#define NVML_FUNCTIONS(X)                                                                                    \
    X(nvmlInit_v2, (void))                                                                                   \
    X(nvmlSystemGetDriverVersion, (char *text, unsigned size))                                               \
    X(nvmlDeviceGetHandleByUUID, (const char *uuid, nvml_device *device))                                    \
    X(nvmlDeviceGetMemoryInfo, (nvml_device device, nvml_memory * memory))                                   \
    X(nvmlDeviceGetClockInfo, (nvml_device device, int clock, unsigned *megahertz))                          \
    X(nvmlDeviceGetTemperature, (nvml_device device, int sensor, unsigned *celsius))                         \
    X(nvmlDeviceGetPowerUsage, (nvml_device device, unsigned *milliwatts))                                   \
    X(nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_device device, unsigned long long *reasons))

#define NVML_MEMBER(name, arguments)                                                                         \
    int(*(name)) arguments; /* NOLINT(bugprone-macro-parentheses): parameters */
static struct nvml_table {
    NVML_FUNCTIONS(NVML_MEMBER)
    int (*total_energy)(nvml_device device, unsigned long long *millijoules);  /* or NULL */
    int (*processes)(nvml_device device, unsigned *count, nvml_process *list); /* or NULL */
} nvml;
#undef NVML_MEMBER

#define NVML_ENTRY(name, arguments) {#name, offsetof(struct nvml_table, name), false},
static const kf_symbol nvml_symbols[] = {
    NVML_FUNCTIONS(NVML_ENTRY){"nvmlDeviceGetTotalEnergyConsumption",
                               offsetof(struct nvml_table, total_energy), true},
    {"nvmlDeviceGetComputeRunningProcesses_v3", offsetof(struct nvml_table, processes), true},
};
#undef NVML_ENTRY

static const char *const nvml_names[] = {"libnvidia-ml.so.1", NULL};
static const char *const nvml_folders[] = {"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", NULL};
static const kf_library nvml_library = {
    .names = nvml_names,
    .folders = nvml_folders,
    .cure = "it comes with the NVIDIA driver",
    .symbols = nvml_symbols,
    .symbol_count = sizeof nvml_symbols / sizeof nvml_symbols[0],
};

static pthread_once_t nvml_once = PTHREAD_ONCE_INIT;
static bool nvml_works;

static void start(void) {
    char file[KF_PATH];
    nvml_works = kf_library_load(&nvml_library, &nvml, file, NULL) == KF_OK && nvml.nvmlInit_v2() == 0;
}

static bool find_device(const char *uuid, nvml_device *device) {
    pthread_once(&nvml_once, start);
    return nvml_works && nvml.nvmlDeviceGetHandleByUUID(uuid, device) == 0;
}

bool kf_nvml_driver_version(char *text, size_t size) {
    pthread_once(&nvml_once, start);
    return nvml_works && nvml.nvmlSystemGetDriverVersion(text, (unsigned)size) == 0 && text[0];
}

uint64_t kf_nvml_memory_free(const char *uuid) {
    nvml_device device = NULL;
    nvml_memory memory;
    memset(&memory, 0, sizeof memory);
    if (!find_device(uuid, &device) || nvml.nvmlDeviceGetMemoryInfo(device, &memory) != 0) return 0;
    return memory.free;
}

int kf_nvml_processes(const char *uuid, int *processes, int capacity) {
    enum { MOST = 64 };
    nvml_device device = NULL;
    nvml_process list[MOST];
    unsigned count = MOST;
    if (!find_device(uuid, &device) || nvml.processes == NULL || nvml.processes(device, &count, list) != 0)
        return 0;
    const int given = (int)count < capacity ? (int)count : capacity;
    for (int i = 0; i < given; i++)
        processes[i] = (int)list[i].pid;
    return given;
}

/* Reads a device's state from NVML. Values that NVML does not provide stay unchanged. */
void kf_nvml_device_state(const char *uuid, kf_device_state *state) {
    nvml_device device = NULL;
    unsigned value = 0;
    unsigned long long reasons = 0;
    if (!find_device(uuid, &device)) return;
    if (nvml.nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &value) == 0) state->sm_clock_mhz = value;
    if (nvml.nvmlDeviceGetClockInfo(device, NVML_CLOCK_MEMORY, &value) == 0) state->memory_clock_mhz = value;
    if (nvml.nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &value) == 0)
        state->temperature_c = value;
    if (nvml.nvmlDeviceGetPowerUsage(device, &value) == 0) state->power_w = value / 1000.0;
    if (nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device, &reasons) == 0)
        state->throttle_reasons = reasons;
    unsigned long long millijoules = 0;
    if (nvml.total_energy != NULL && nvml.total_energy(device, &millijoules) == 0)
        state->energy_j = 1e-3 * (double)millijoules;
}

#endif
