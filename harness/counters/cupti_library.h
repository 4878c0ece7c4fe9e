/* Loads CUPTI's range profiler (CUDA 12.6 and later) at run time: `kf_cupti.cuptiProfilerInitialize(...)`
 * works after kf_cupti_load. */
#ifndef KF_HARNESS_COUNTERS_CUPTI_LIBRARY_H
#define KF_HARNESS_COUNTERS_CUPTI_LIBRARY_H

#ifdef KF_HAVE_CUPTI

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include "base/util/status.h"

#define KF_CUPTI_FUNCTIONS(X)                                                                                \
    X(cuptiGetResultString)                                                                                  \
    X(cuptiProfilerInitialize)                                                                               \
    X(cuptiProfilerDeInitialize)                                                                             \
    X(cuptiProfilerDeviceSupported)                                                                          \
    X(cuptiProfilerGetCounterAvailability)                                                                   \
    X(cuptiDeviceGetChipName)                                                                                \
    X(cuptiProfilerHostInitialize)                                                                           \
    X(cuptiProfilerHostDeinitialize)                                                                         \
    X(cuptiProfilerHostGetSupportedChips)                                                                    \
    X(cuptiProfilerHostConfigAddMetrics)                                                                     \
    X(cuptiProfilerHostGetConfigImageSize)                                                                   \
    X(cuptiProfilerHostGetConfigImage)                                                                       \
    X(cuptiProfilerHostGetNumOfPasses)                                                                       \
    X(cuptiProfilerHostEvaluateToGpuValues)                                                                  \
    X(cuptiRangeProfilerEnable)                                                                              \
    X(cuptiRangeProfilerDisable)                                                                             \
    X(cuptiRangeProfilerGetCounterDataSize)                                                                  \
    X(cuptiRangeProfilerCounterDataImageInitialize)                                                          \
    X(cuptiRangeProfilerSetConfig)                                                                           \
    X(cuptiRangeProfilerStart)                                                                               \
    X(cuptiRangeProfilerStop)                                                                                \
    X(cuptiRangeProfilerPushRange)                                                                           \
    X(cuptiRangeProfilerPopRange)                                                                            \
    X(cuptiRangeProfilerDecodeData)                                                                          \
    X(cuptiRangeProfilerGetCounterDataInfo)                                                                  \
    X(cuptiRangeProfilerCounterDataGetRangeInfo)

typedef struct kf_cupti_table {
#define KF_MEMBER(name) __typeof__(name) *(name);
    KF_CUPTI_FUNCTIONS(KF_MEMBER)
#undef KF_MEMBER
} kf_cupti_table;

extern kf_cupti_table kf_cupti;

/* Loads libcupti and the libraries that it opens. It needs no GPU. KF_MACHINE names what to install. */
kf_status kf_cupti_load(kf_error *error);

/* Fails with KF_MACHINE and "counters: CALL: REASON", and with the cure if it is known. */
kf_status kf_cupti_fail(kf_error *error, CUptiResult result, const char *call);

#define KF_CUPTI_TRY(function, parameters)                                                                   \
    do {                                                                                                     \
        const CUptiResult kf_result_ = kf_cupti.function(parameters);                                        \
        if (kf_result_ != CUPTI_SUCCESS) return kf_cupti_fail(error, kf_result_, #function);                 \
    } while (0)

/* Declares the parameters of a call. CUPTI recognises their version by their size. */
#define KF_CUPTI_PARAMETERS(type, name) type name = {.structSize = type##_STRUCT_SIZE}

#endif
#endif
