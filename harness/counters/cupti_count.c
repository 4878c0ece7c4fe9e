/* Counts with CUPTI's range profiler, for which kftune sets and replays the ranges. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/counters/count_internal.h"
#include "harness/counters/cupti_host.h"
#include "harness/counters/cupti_library.h"

#if defined(KF_HAVE_CUPTI) && defined(KF_HAVE_CUDA)

#include "base/backend/cuda/native.h"

typedef struct kf_cupti_counting {
    CUcontext context;
    CUdevice device;
    char chip[32];
    bool initialised;
    uint8_t *availability;
    kf_aliases *aliases;
    const char *events[KF_SET_METRICS]; /* the chip's names for counts->metrics */
    kf_cupti_host *host;
    CUpti_RangeProfiler_Object *profiler;
    uint8_t *image;
    size_t image_size;
    char (*names)[16]; /* names of the parts; they must live as long as CUPTI uses them */
} kf_cupti_counting;

/* --- Metrics of this device --------------------------------------------------------------------------- */

/* Checks that CUPTI can profile this GPU, and gives the reason if it cannot. */
static kf_status check_support(const kf_cupti_counting *own, kf_error *error) {
    KF_CUPTI_PARAMETERS(CUpti_Profiler_DeviceSupported_Params, support);
    support.cuDevice = own->device;
    support.api = CUPTI_PROFILER_RANGE_PROFILING;
    KF_CUPTI_TRY(cuptiProfilerDeviceSupported, &support);
    if (support.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return KF_OK;
    const struct {
        CUpti_Profiler_Support_Level level;
        const char *why;
    } reasons[] = {
        {support.architecture, "its architecture is not supported by this CUPTI"},
        {support.sli, "SLI is on"},
        {support.vGpu, "it is a virtual GPU without the right to count"},
        {support.confidentialCompute, "confidential computing is on"},
        {support.cmp, "it is a mining card"},
        {support.wsl, "WSL does not give counters"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
            reasons[i].level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
            return kf_fail(error, KF_MACHINE, "counters: this GPU cannot be profiled: %s", reasons[i].why);
    return kf_fail(error, KF_MACHINE, "counters: this GPU cannot be profiled");
}

static kf_status read_availability(kf_cupti_counting *own, kf_error *error) {
    KF_CUPTI_PARAMETERS(CUpti_Profiler_GetCounterAvailability_Params, available);
    available.ctx = own->context;
    KF_CUPTI_TRY(cuptiProfilerGetCounterAvailability, &available);
    own->availability = kf_allocate_zeroed(1, available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = own->availability;
    KF_CUPTI_TRY(cuptiProfilerGetCounterAvailability, &available);
    return KF_OK;
}

static kf_status open_device(kf_counting *counting, kf_cupti_counting *own, kf_error *error) {
    KF_TRY(kf_cupti_load(error));
    KF_TRY(kf_cuda_native(counting->backend, &own->context, &own->device, error));
    KF_CUPTI_PARAMETERS(CUpti_Profiler_Initialize_Params, initialise);
    KF_CUPTI_TRY(cuptiProfilerInitialize, &initialise);
    own->initialised = true;
    KF_TRY(check_support(own, error));
    KF_CUPTI_PARAMETERS(CUpti_Device_GetChipName_Params, chip);
    chip.deviceIndex = (size_t)own->device;
    KF_CUPTI_TRY(cuptiDeviceGetChipName, &chip);
    kf_copy_text(own->chip, sizeof own->chip, chip.pChipName);
    KF_TRY(read_availability(own, error));
    return kf_aliases_open(&own->aliases, error);
}

/* Chooses the metrics of the set that the chip has. The set is still useful without the others. */
static kf_status choose_metrics(kf_counting *counting, kf_cupti_counting *own, kf_error *error) {
    kf_counts *counts = counting->counts;
    for (int i = 0; i < counting->set->cupti_count; i++) {
        const kf_metric *metric = &counting->set->cupti[i];
        const char *event = kf_alias(own->aliases, own->chip, metric->event);
        if (event == NULL || !kf_cupti_knows(own->chip, own->availability, event)) continue;
        own->events[counts->metric_count] = event;
        counts->metrics[counts->metric_count++] = metric;
    }
    if (counts->metric_count > 0) return KF_OK;
    return kf_fail(error, KF_MACHINE, "counters: %s has no metric of the set '%s'", own->chip,
                   counting->set->name);
}

/* --- The profiler --------------------------------------------------------------------------------------- */

/* Makes the image into which CUPTI counts, with one range for each part. */
static kf_status make_image(kf_counting *counting, kf_cupti_counting *own, kf_error *error) {
    KF_CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    size.pRangeProfilerObject = own->profiler;
    size.pMetricNames = own->events;
    size.numMetrics = (size_t)counting->counts->metric_count;
    size.maxNumOfRanges = (size_t)counting->counts->part_count;
    size.maxNumRangeTreeNodes = (uint32_t)counting->counts->part_count;
    KF_CUPTI_TRY(cuptiRangeProfilerGetCounterDataSize, &size);
    own->image_size = size.counterDataSize;
    own->image = kf_allocate_zeroed(1, own->image_size);
    KF_CUPTI_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, initialise);
    initialise.pRangeProfilerObject = own->profiler;
    initialise.counterDataSize = own->image_size;
    initialise.pCounterData = own->image;
    KF_CUPTI_TRY(cuptiRangeProfilerCounterDataImageInitialize, &initialise);
    return KF_OK;
}

/* Configures the profiler. The user begins and ends ranges, and replays passes. */
static kf_status configure(kf_counting *counting, kf_cupti_counting *own, kf_error *error) {
    KF_CUPTI_PARAMETERS(CUpti_RangeProfiler_SetConfig_Params, set);
    size_t size = 0;
    set.pRangeProfilerObject = own->profiler;
    set.pConfig = kf_cupti_host_config(own->host, &size);
    set.configSize = size;
    set.pCounterDataImage = own->image;
    set.counterDataImageSize = own->image_size;
    set.range = CUPTI_UserRange;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = (size_t)counting->counts->part_count;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.passIndex = 0;
    set.targetNestingLevel = 1;
    KF_CUPTI_TRY(cuptiRangeProfilerSetConfig, &set);
    return KF_OK;
}

/* Opens counting with CUPTI: device, available metrics, host side, range profiler and image. After a failure
 * the closing function frees what exists. */
static kf_status open(kf_counting *counting, kf_error *error) {
    kf_cupti_counting *own = kf_allocate_zeroed(1, sizeof *own);
    counting->own = own;
    own->names = kf_allocate_zeroed((size_t)counting->counts->part_count, sizeof *own->names);
    for (int i = 0; i < counting->counts->part_count; i++)
        (void)snprintf(own->names[i], sizeof own->names[i], "%d", i);
    KF_TRY(open_device(counting, own, error));
    KF_TRY(choose_metrics(counting, own, error));
    KF_TRY(kf_cupti_host_open(own->chip, own->availability, own->events,
                              (size_t)counting->counts->metric_count, &own->host, error));
    KF_CUPTI_PARAMETERS(CUpti_RangeProfiler_Enable_Params, enable);
    enable.ctx = own->context;
    KF_CUPTI_TRY(cuptiRangeProfilerEnable, &enable);
    own->profiler = enable.pRangeProfilerObject;
    KF_TRY(make_image(counting, own, error));
    return configure(counting, own, error);
}

/* Closes everything in reverse order and ignores errors. */
static void close(kf_counting *counting) {
    kf_cupti_counting *own = counting->own;
    if (own == NULL) return;
    if (own->profiler != NULL) {
        KF_CUPTI_PARAMETERS(CUpti_RangeProfiler_Disable_Params, disable);
        disable.pRangeProfilerObject = own->profiler;
        (void)kf_cupti.cuptiRangeProfilerDisable(&disable);
    }
    kf_cupti_host_close(own->host);
    if (own->initialised) {
        KF_CUPTI_PARAMETERS(CUpti_Profiler_DeInitialize_Params, end);
        (void)kf_cupti.cuptiProfilerDeInitialize(&end);
    }
    kf_aliases_free(own->aliases);
    free(own->availability);
    free(own->image);
    free(own->names);
    free(own);
}

/* --- A pass --------------------------------------------------------------------------------------------- */

static kf_status pass_begin(kf_counting *counting, kf_error *error) {
    const kf_cupti_counting *own = counting->own;
    KF_CUPTI_PARAMETERS(CUpti_RangeProfiler_Start_Params, start);
    start.pRangeProfilerObject = own->profiler;
    KF_CUPTI_TRY(cuptiRangeProfilerStart, &start);
    return KF_OK;
}

static kf_status pass_end(kf_counting *counting, bool *done, kf_error *error) {
    const kf_cupti_counting *own = counting->own;
    KF_CUPTI_PARAMETERS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = own->profiler;
    KF_CUPTI_TRY(cuptiRangeProfilerStop, &stop);
    *done = stop.isAllPassSubmitted != 0;
    return kf_backend_synchronize(counting->backend, error);
}

static kf_status part_begin(kf_counting *counting, int part, kf_error *error) {
    const kf_cupti_counting *own = counting->own;
    KF_CUPTI_PARAMETERS(CUpti_RangeProfiler_PushRange_Params, push);
    push.pRangeProfilerObject = own->profiler;
    push.pRangeName = own->names[part];
    KF_CUPTI_TRY(cuptiRangeProfilerPushRange, &push);
    return KF_OK;
}

static kf_status part_end(kf_counting *counting, kf_error *error) {
    const kf_cupti_counting *own = counting->own;
    KF_CUPTI_PARAMETERS(CUpti_RangeProfiler_PopRange_Params, pop);
    pop.pRangeProfilerObject = own->profiler;
    KF_CUPTI_TRY(cuptiRangeProfilerPopRange, &pop);
    return KF_OK;
}

/* --- Values --------------------------------------------------------------------------------------------- */

/* Finds the part to which a range of the image belongs, by its name. */
static kf_status range_part(const kf_counting *counting, size_t range, int *part, kf_error *error) {
    const kf_cupti_counting *own = counting->own;
    KF_CUPTI_PARAMETERS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, info);
    info.pCounterDataImage = own->image;
    info.counterDataImageSize = own->image_size;
    info.rangeIndex = range;
    info.rangeDelimiter = "/";
    KF_CUPTI_TRY(cuptiRangeProfilerCounterDataGetRangeInfo, &info);
    char *end = NULL;
    const char *name = info.rangeName != NULL ? info.rangeName : "";
    const long number = strtol(name, &end, 10);
    if (end == name || number < 0 || number >= counting->counts->part_count)
        return kf_fail(error, KF_MACHINE, "counters: CUPTI gave an unknown range '%s'", name);
    *part = (int)number;
    return KF_OK;
}

/* Reads the values of all parts from the image. A dropped range is an error, because its part would seem not
 * to have run. */
static kf_status read_values(kf_counting *counting, kf_error *error) {
    const kf_cupti_counting *own = counting->own;
    kf_counts *counts = counting->counts;
    KF_CUPTI_PARAMETERS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = own->profiler;
    KF_CUPTI_TRY(cuptiRangeProfilerDecodeData, &decode);
    KF_CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = own->image;
    info.counterDataImageSize = own->image_size;
    KF_CUPTI_TRY(cuptiRangeProfilerGetCounterDataInfo, &info);
    if (decode.numOfRangeDropped > 0 || info.numTotalRanges != (size_t)counts->part_count)
        return kf_fail(error, KF_MACHINE, "counters: %zu of %d parts were counted, %zu dropped",
                       info.numTotalRanges, counts->part_count, decode.numOfRangeDropped);
    for (size_t range = 0; range < info.numTotalRanges; range++) {
        int part = 0;
        KF_TRY(range_part(counting, range, &part, error));
        KF_TRY(kf_cupti_host_evaluate(own->host, own->image, own->image_size, range,
                                      counts->values + part * counts->metric_count, error));
    }
    return KF_OK;
}

const kf_counter_methods kf_cupti_methods = {
    .open = open,
    .close = close,
    .pass_begin = pass_begin,
    .pass_end = pass_end,
    .part_begin = part_begin,
    .part_end = part_end,
    .read = read_values,
};

#else

static kf_status refuse(kf_counting *counting, kf_error *error) {
    (void)counting;
    return kf_fail(
        error, KF_MACHINE,
        "counters: this kftune was built without CUPTI; install the headers of CUDA 12.6 or later and "
        "build it again");
}

static void close(kf_counting *counting) {
    (void)counting;
}

const kf_counter_methods kf_cupti_methods = {.open = refuse, .close = close};

#endif
