/* The CUDA driver API, loaded at run time: `kf_cuda.cuLaunchKernel(...)` after kf_cuda_count_devices. */
#ifndef KF_BASE_BACKEND_CUDA_DRIVER_H
#define KF_BASE_BACKEND_CUDA_DRIVER_H

#include <cuda.h>

#include "base/backend/backend.h"
#include "base/util/status.h"

#define KF_CUDA_FUNCTIONS(X)                                                                                 \
    X(cuInit)                                                                                                \
    X(cuDriverGetVersion)                                                                                    \
    X(cuGetErrorName)                                                                                        \
    X(cuGetErrorString)                                                                                      \
    X(cuDeviceGetCount)                                                                                      \
    X(cuDeviceGet)                                                                                           \
    X(cuDeviceGetName)                                                                                       \
    X(cuDeviceGetUuid)                                                                                       \
    X(cuDeviceGetAttribute)                                                                                  \
    X(cuDeviceTotalMem)                                                                                      \
    X(cuDevicePrimaryCtxRetain)                                                                              \
    X(cuDevicePrimaryCtxRelease)                                                                             \
    X(cuCtxSetCurrent)                                                                                       \
    X(cuMemGetInfo)                                                                                          \
    X(cuMemAlloc)                                                                                            \
    X(cuMemFree)                                                                                             \
    X(cuDeviceCanAccessPeer)                                                                                 \
    X(cuMemGetAllocationGranularity)                                                                         \
    X(cuMemAddressReserve)                                                                                   \
    X(cuMemAddressFree)                                                                                      \
    X(cuMemCreate)                                                                                           \
    X(cuMemRelease)                                                                                          \
    X(cuMemMap)                                                                                              \
    X(cuMemUnmap)                                                                                            \
    X(cuMemSetAccess)                                                                                        \
    X(cuMemExportToShareableHandle)                                                                          \
    X(cuMemImportFromShareableHandle)                                                                        \
    X(cuMemHostRegister)                                                                                     \
    X(cuMemHostUnregister)                                                                                   \
    X(cuMemHostGetDevicePointer)                                                                             \
    X(cuMemHostAlloc)                                                                                        \
    X(cuMemFreeHost)                                                                                         \
    X(cuMemsetD8Async)                                                                                       \
    X(cuMemcpyHtoDAsync)                                                                                     \
    X(cuMemcpyDtoHAsync)                                                                                     \
    X(cuMemcpyDtoDAsync)                                                                                     \
    X(cuMemcpyPeerAsync)                                                                                     \
    X(cuMemcpy2DAsync)                                                                                       \
    X(cuModuleLoadData)                                                                                      \
    X(cuModuleUnload)                                                                                        \
    X(cuModuleGetFunction)                                                                                   \
    X(cuModuleGetGlobal)                                                                                     \
    X(cuFuncSetAttribute)                                                                                    \
    X(cuFuncGetAttribute)                                                                                    \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor)                                                           \
    X(cuLaunchKernel)                                                                                        \
    X(cuLaunchCooperativeKernel)                                                                             \
    X(cuCtxGetStreamPriorityRange)                                                                           \
    X(cuStreamCreateWithPriority)                                                                            \
    X(cuStreamWaitEvent)                                                                                     \
    X(cuStreamDestroy)                                                                                       \
    X(cuStreamQuery)                                                                                         \
    X(cuStreamSynchronize)                                                                                   \
    X(cuStreamBeginCapture)                                                                                  \
    X(cuStreamEndCapture)                                                                                    \
    X(cuGraphInstantiateWithFlags)                                                                           \
    X(cuGraphUpload)                                                                                         \
    X(cuGraphLaunch)                                                                                         \
    X(cuGraphDestroy)                                                                                        \
    X(cuGraphExecDestroy)                                                                                    \
    X(cuEventCreate)                                                                                         \
    X(cuEventDestroy)                                                                                        \
    X(cuEventRecord)                                                                                         \
    X(cuEventSynchronize)

/* Both names have the same signature. Which one a driver has depends on its age, not on the header's. */
typedef CUresult kf_cuda_elapsed_time(float *milliseconds, CUevent start, CUevent stop);
#if CUDA_VERSION >= 11080
#define KF_CUDA_LAUNCH_CONFIG 1
/* For CUDA 11.8 and later. */
typedef CUresult kf_cuda_launch_kernel_ex(const CUlaunchConfig *config, CUfunction function,
                                          void **parameters, void **extra);
#endif
/* The signature of the second version, from CUDA 11.7 on. */
typedef CUresult kf_cuda_stream_value(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags);
/* For CUDA 12.4 and later. */
typedef CUresult kf_cuda_parameter_info(CUfunction function, size_t index, size_t *offset, size_t *size);

typedef struct kf_cuda_driver {
#define KF_MEMBER(name) __typeof__(name) *(name);
    KF_CUDA_FUNCTIONS(KF_MEMBER)
#undef KF_MEMBER
    kf_cuda_elapsed_time *elapsed_time, *elapsed_time_v2; /* one of them may be NULL */
    kf_cuda_parameter_info *parameter_info;               /* or NULL */
    kf_cuda_stream_value *write_value, *wait_value;       /* or NULL */
#ifdef KF_CUDA_LAUNCH_CONFIG
    kf_cuda_launch_kernel_ex *launch_kernel_ex; /* or NULL */
#endif
} kf_cuda_driver;

extern kf_cuda_driver kf_cuda;

/* Returns whether the driver was started in this process itself, not only in its parent. */
bool kf_cuda_driver_started(void);

/* Loads libcuda, initialises it in this process, and counts its devices. It fails if there is none. From then
 * on this process must not fork children that use CUDA, because the driver does not work in them. Such a
 * child gets an error here. */
kf_status kf_cuda_count_devices(int *count, kf_error *error);
/* Refuses the number of a device that is not there. */
kf_status kf_cuda_check_index(int index, int count, kf_error *error);

/* Fails with KF_MACHINE and "cuda: CALL: NAME (description)"; with KF_HOST when driver or device are gone. */
kf_status kf_cuda_fail(kf_error *error, CUresult result, const char *call);

#define KF_CUDA_TRY(function, ...)                                                                           \
    do {                                                                                                     \
        const CUresult kf_result_ = kf_cuda.function(__VA_ARGS__);                                           \
        if (kf_result_ != CUDA_SUCCESS) return kf_cuda_fail(error, kf_result_, #function);                   \
    } while (0)

/* Fills in *info for a device, except compiler and memory_free_bytes, which need a context. The driver must
 * be started. */
kf_status kf_cuda_device_fill(int index, kf_device_info *info, kf_error *error);

#endif
