#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/backend/backend.h"
#include "base/backend/cuda/nvml.h"
#include "base/backend/cuda/nvrtc.h"
#include "base/backend/fft.h"
#include "base/backend/team/nccl.h"
#include "base/util/file.h"
#include "base/util/text.h"
#include "harness/counters/cupti_library.h"
#include "harness/doctor/checks.h"

/* Returns whether the PCI bus has a display or 3D controller made by NVIDIA. */
static bool has_nvidia_hardware(void) {
    glob_t found;
    bool has = false;
    if (glob("/sys/bus/pci/devices/*/vendor", 0, NULL, &found) != 0) return false;
    for (size_t i = 0; i < found.gl_pathc && !has; i++) {
        char *vendor = NULL, *class = NULL, path[KF_PATH];
        size_t size;
        const int folder = (int)(strlen(found.gl_pathv[i]) - strlen("vendor"));
        if (kf_path(path, NULL, "%.*sclass", folder, found.gl_pathv[i]) == KF_OK &&
            kf_file_read(found.gl_pathv[i], 4096, &vendor, &size, NULL) == KF_OK &&
            kf_file_read(path, 4096, &class, &size, NULL) == KF_OK)
            has = strncmp(vendor, "0x10de", 6) == 0 && strncmp(class, "0x03", 4) == 0;
        free(vendor);
        free(class);
    }
    globfree(&found);
    return has;
}

/* Checks the driver, and lists the GPUs with their memory. */
void kf_check_driver(kf_diagnosis *check) {
    char why[256] = "";
    const int count = kf_cuda_device_count(why, sizeof why);
    if (count == 0) {
        kf_check_report(check, KF_CHECK_MISSING,
                        has_nvidia_hardware() ? "install NVIDIA's driver for the GPU in this machine"
                                              : "this machine has no NVIDIA GPU; tune with --device cpu",
                        "%.300s", why);
        return;
    }
    kf_text list = {0};
    for (int i = 0; i < count; i++) {
        kf_device_info device;
        kf_error error = {0};
        char memory[32];
        if (kf_cuda_device_describe(i, &device, &error) == KF_OK)
            kf_text_append(&list, "%scuda:%d %s (%s, %s)", i > 0 ? ", " : "", i, device.name,
                           device.architecture, kf_human_bytes((double)device.memory_bytes, memory));
        else
            kf_text_append(&list, "%scuda:%d %s", i > 0 ? ", " : "", i, error.message);
    }
    kf_check_report(check, KF_CHECK_OK, "", "%.380s", list.text);
    kf_text_free(&list);
}

void kf_check_nccl(kf_diagnosis *check) {
    kf_error why = {0};
    kf_check_library(check, kf_nccl_available("cuda", &why), &why,
                     "can carry planes between the GPUs of a team",
                     "only transfer=nccl of a team of GPUs needs it; all else works without");
}

void kf_check_cufft(kf_diagnosis *check) {
    kf_error why = {0};
    kf_check_library(check, kf_fft_available("cuda", &why), &why, "transforms of a library on GPUs",
                     "only plans with fft=library need it; all else works without");
}

#ifdef KF_HAVE_CUDA

void kf_check_nvrtc(kf_diagnosis *check) {
    char version[64];
    kf_error error = {0};
    if (kf_nvrtc_version(version, sizeof version, &error) == KF_OK)
        kf_check_report(check, KF_CHECK_OK, "", "%s", version);
    else
        kf_check_report(
            check, KF_CHECK_MISSING,
            "install NVRTC of CUDA 12 or newer (package cuda-nvrtc), or set LD_LIBRARY_PATH to its folder",
            "%.300s", error.message);
}

void kf_check_cuda(kf_diagnosis *check) {
    char why[256] = "";
    if (kf_cuda_device_count(why, sizeof why) > 0)
        kf_check_device(check, "cuda:0",
                        "mend what the driver and NVRTC lines say; then run kftune doctor again");
    else
        kf_check_report(check, KF_CHECK_MISSING, "see the NVIDIA driver line", "no GPU can be used");
}

void kf_check_nvml(kf_diagnosis *check) {
    char version[80];
    if (kf_nvml_driver_version(version, sizeof version))
        kf_check_report(check, KF_CHECK_OK, "", "libnvidia-ml, driver %s", version);
    else
        kf_check_report(
            check, KF_CHECK_DEGRADED,
            "install libnvidia-ml.so.1, a part of the driver; in a container, add the utility capability",
            "clocks, temperature and power of GPUs cannot be read");
}

/* Returns whether the driver lets only the administrator read counters. */
static bool counters_restricted(void) {
    char *text, *at;
    size_t size;
    if (kf_file_read("/proc/driver/nvidia/params", 1 << 20, &text, &size, NULL) != KF_OK) return false;
    at = strstr(text, "RmProfilingAdminOnly:");
    const bool restricted = at != NULL && strtol(at + strlen("RmProfilingAdminOnly:"), NULL, 10) == 1;
    free(text);
    return restricted;
}

/* Checks that CUPTI exists and that the driver lets this user read counters. */
void kf_check_cupti(kf_diagnosis *check) {
#ifdef KF_HAVE_CUPTI
    kf_error error = {0};
    if (kf_cupti_load(&error) != KF_OK)
        kf_check_report(check, KF_CHECK_DEGRADED, "only hardware counters need it; all else works without",
                        "%.300s", error.message);
    else if (counters_restricted() && geteuid() != 0)
        kf_check_report(
            check, KF_CHECK_DEGRADED,
            "as root put \"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" into "
            "/etc/modprobe.d/nvidia-profiling.conf and restart the machine, or run kftune as root",
            "CUPTI is there, but the driver lets only root read hardware counters");
    else
        kf_check_report(check, KF_CHECK_OK, "", "the range profiler is there");
#else
    (void)counters_restricted;
    kf_check_report(check, KF_CHECK_DEGRADED,
                    "install CUPTI's headers of CUDA 12.6 or later and build kftune again",
                    "this kftune was built without CUPTI");
#endif
}

#else

static void report_no_headers(kf_diagnosis *check) {
    kf_check_report(check, KF_CHECK_MISSING, "install the CUDA toolkit's headers and build kftune again",
                    "this kftune was built without CUDA");
}

void kf_check_nvrtc(kf_diagnosis *check) {
    report_no_headers(check);
}
void kf_check_cuda(kf_diagnosis *check) {
    report_no_headers(check);
}
void kf_check_nvml(kf_diagnosis *check) {
    report_no_headers(check);
}
void kf_check_cupti(kf_diagnosis *check) {
    report_no_headers(check);
}

#endif
