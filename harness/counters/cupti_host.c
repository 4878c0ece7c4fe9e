#include "harness/counters/cupti_host.h"

#include <stdlib.h>

#include "base/util/memory.h"
#include "harness/counters/cupti_library.h"

#ifdef KF_HAVE_CUPTI

struct kf_cupti_host {
    CUpti_Profiler_Host_Object *object;
    const char **metrics;
    size_t count, passes, config_size;
    uint8_t *config;
};

kf_status kf_cupti_chips(kf_status (*visit)(void *context, const char *chip, kf_error *error), void *context,
                         kf_error *error) {
    KF_TRY(kf_cupti_load(error));
    KF_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetSupportedChips_Params, chips);
    KF_CUPTI_TRY(cuptiProfilerHostGetSupportedChips, &chips);
    for (size_t i = 0; i < chips.numChips; i++)
        KF_TRY(visit(context, chips.ppChipNames[i], error));
    return KF_OK;
}

static kf_status open_object(const char *chip, const uint8_t *availability,
                             CUpti_Profiler_Host_Object **object, kf_error *error) {
    KF_CUPTI_PARAMETERS(CUpti_Profiler_Host_Initialize_Params, open);
    open.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    open.pChipName = chip;
    open.pCounterAvailabilityImage = availability;
    KF_CUPTI_TRY(cuptiProfilerHostInitialize, &open);
    *object = open.pHostObject;
    return KF_OK;
}

static void close_object(CUpti_Profiler_Host_Object *object) {
    KF_CUPTI_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params, close);
    close.pHostObject = object;
    (void)kf_cupti.cuptiProfilerHostDeinitialize(&close);
}

static CUptiResult add_metrics(CUpti_Profiler_Host_Object *object, const char **metrics, size_t count) {
    KF_CUPTI_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
    add.pHostObject = object;
    add.ppMetricNames = metrics;
    add.numMetrics = count;
    return kf_cupti.cuptiProfilerHostConfigAddMetrics(&add);
}

bool kf_cupti_knows(const char *chip, const uint8_t *availability, const char *metric) {
    CUpti_Profiler_Host_Object *object = NULL;
    if (kf_cupti_load(NULL) != KF_OK || open_object(chip, availability, &object, NULL) != KF_OK) return false;
    const bool knows = add_metrics(object, &metric, 1) == CUPTI_SUCCESS;
    close_object(object);
    return knows;
}

/* Makes the configuration for CUPTI, and finds the number of passes. */
static kf_status make_config(kf_cupti_host *host, kf_error *error) {
    const CUptiResult added = add_metrics(host->object, host->metrics, host->count);
    if (added != CUPTI_SUCCESS) return kf_cupti_fail(error, added, "cuptiProfilerHostConfigAddMetrics");
    KF_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    size.pHostObject = host->object;
    KF_CUPTI_TRY(cuptiProfilerHostGetConfigImageSize, &size);
    host->config_size = size.configImageSize;
    host->config = kf_allocate_zeroed(1, host->config_size);
    KF_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImage_Params, image);
    image.pHostObject = host->object;
    image.configImageSize = host->config_size;
    image.pConfigImage = host->config;
    KF_CUPTI_TRY(cuptiProfilerHostGetConfigImage, &image);
    KF_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
    passes.configImageSize = host->config_size;
    passes.pConfigImage = host->config;
    KF_CUPTI_TRY(cuptiProfilerHostGetNumOfPasses, &passes);
    host->passes = passes.numOfPasses;
    return KF_OK;
}

kf_status kf_cupti_host_open(const char *chip, const uint8_t *availability, const char **metrics,
                             size_t count, kf_cupti_host **host, kf_error *error) {
    *host = NULL;
    KF_TRY(kf_cupti_load(error));
    kf_cupti_host *made = kf_allocate_zeroed(1, sizeof *made);
    made->metrics = metrics;
    made->count = count;
    kf_status status = open_object(chip, availability, &made->object, error);
    if (status == KF_OK) status = make_config(made, error);
    if (status == KF_OK)
        *host = made;
    else
        kf_cupti_host_close(made);
    return status;
}

size_t kf_cupti_host_passes(const kf_cupti_host *host) {
    return host->passes;
}

const uint8_t *kf_cupti_host_config(const kf_cupti_host *host, size_t *size) {
    *size = host->config_size;
    return host->config;
}

kf_status kf_cupti_host_evaluate(const kf_cupti_host *host, const uint8_t *image, size_t image_size,
                                 size_t range, double *values, kf_error *error) {
    KF_CUPTI_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
    evaluate.pHostObject = host->object;
    evaluate.pCounterDataImage = image;
    evaluate.counterDataImageSize = image_size;
    evaluate.rangeIndex = range;
    evaluate.ppMetricNames = host->metrics;
    evaluate.numMetrics = host->count;
    evaluate.pMetricValues = values;
    KF_CUPTI_TRY(cuptiProfilerHostEvaluateToGpuValues, &evaluate);
    return KF_OK;
}

void kf_cupti_host_close(kf_cupti_host *host) {
    if (host == NULL) return;
    if (host->object != NULL) close_object(host->object);
    free(host->config);
    free(host);
}

#else

/* Fails, because this build has no CUPTI. */
static kf_status refuse(kf_error *error) {
    return kf_fail(error, KF_MACHINE, "counters: this kftune was built without the headers of libcupti");
}

kf_status kf_cupti_chips(kf_status (*visit)(void *context, const char *chip, kf_error *error), void *context,
                         kf_error *error) {
    (void)visit, (void)context;
    return refuse(error);
}

bool kf_cupti_knows(const char *chip, const uint8_t *availability, const char *metric) {
    (void)chip, (void)availability, (void)metric;
    return false;
}

kf_status kf_cupti_host_open(const char *chip, const uint8_t *availability, const char **metrics,
                             size_t count, kf_cupti_host **host, kf_error *error) {
    (void)chip, (void)availability, (void)metrics, (void)count;
    *host = NULL;
    return refuse(error);
}

size_t kf_cupti_host_passes(const kf_cupti_host *host) {
    (void)host;
    return 0;
}

void kf_cupti_host_close(kf_cupti_host *host) {
    (void)host;
}

#endif
