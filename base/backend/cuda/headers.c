#ifdef KF_HAVE_CUDA

#include "base/backend/cuda/headers.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/backend/library.h"
#include "base/util/text.h"

/* Toolkits and Python's packages keep their headers in these folders. */
static const char *const header_folders[] = {
    "$CUDA_HOME/include",
    "$CUDA_PATH/include",
    "/usr/local/cuda/include",
    "/usr/local/cuda-*/include",
    "/usr/local/cuda-*/targets/*/include",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/*/include",
    "$CONDA_PREFIX/targets/*/include",
    "$CONDA_PREFIX/include",
    "/usr/lib/python3*/*-packages/nvidia/*/include",
    "/usr/local/lib/python3*/*-packages/nvidia/*/include",
    "/opt/*/lib/python3*/*-packages/nvidia/*/include",
    "/opt/*/.venv/lib/python3*/site-packages/nvidia/*/include",
    NULL,
};
static const char sign[] = "cuda_fp16.h";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool looked;
static int found_count;
static char found[2][KF_PATH];

static bool holds(const char *folder, const char *file) {
    char path[KF_PATH];
    return kf_path(path, NULL, "%s/%s", folder, file) == KF_OK && access(path, R_OK) == 0;
}

/* Beside the library: lib64/libnvrtc.so.13 belongs to include/. */
static bool look_beside(const char *nvrtc) {
    char folder[KF_PATH];
    kf_copy_text(folder, sizeof folder, nvrtc);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) return false;
    *slash = '\0';
    return kf_path(found[0], NULL, "%s/../include", folder) == KF_OK && holds(found[0], sign);
}

int kf_cuda_headers(const char *nvrtc, char folders[2][KF_PATH]) {
    (void)pthread_mutex_lock(&lock);
    if (!looked) {
        looked = true;
        found_count = look_beside(nvrtc) || kf_library_find_folder(header_folders, sign, found[0]);
        if (found_count == 1 && kf_path(found[1], NULL, "%s/cccl", found[0]) == KF_OK &&
            holds(found[1], "cuda/std/type_traits"))
            found_count = 2;
    }
    memcpy(folders, found, sizeof found);
    (void)pthread_mutex_unlock(&lock);
    return found_count;
}

kf_status kf_cuda_headers_missing(const char *nvrtc, kf_error *error) {
    char folders[2][KF_PATH];
    const kf_error first = *error;
    if (kf_cuda_headers(nvrtc, folders) > 0)
        return kf_fail(error, first.status,
                       "%s; it is neither beside the kernel nor among CUDA's headers in %s", first.message,
                       folders[0]);
    return kf_fail(
        error, first.status,
        "%s; CUDA's headers are not on this machine: install them (package cuda-cudart-dev-13-0, or "
        "pip's nvidia-cuda-runtime) or set CUDA_HOME to the toolkit's folder",
        first.message);
}

#endif
