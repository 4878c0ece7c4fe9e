/* Lists the CUDA devices without a context. A child process asks (see cuda_child.h). A process that uses CUDA
 * already, such as a worker, asks itself, because its child could not. */
#ifdef KF_HAVE_CUDA

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/cuda/child.h"
#include "base/backend/cuda/driver.h"
#include "base/backend/cuda/nvml.h"
#include "base/backend/cuda/nvrtc.h"
#include "base/util/file.h"
#include "base/util/text.h"

enum { MAX_DEVICES = 16, PATIENCE_SECONDS = 60 };

typedef struct survey {
    /* 0 with error set when there is none. */
    int count;
    kf_error error;
    kf_device_info devices[MAX_DEVICES];
} survey;

static pthread_mutex_t survey_lock = PTHREAD_MUTEX_INITIALIZER;
static survey known;
static bool asked;

static kf_status ask_driver(survey *result) {
    kf_error *error = &result->error;
    int count = 0;
    KF_TRY(kf_cuda_count_devices(&count, error));
    if (count > MAX_DEVICES) count = MAX_DEVICES;
    for (int i = 0; i < count; i++) {
        KF_TRY(kf_cuda_device_fill(i, &result->devices[i], error));
        result->devices[i].memory_free_bytes = kf_nvml_memory_free(result->devices[i].identity);
    }
    result->count = count;
    return KF_OK;
}

static void answer_survey(void *context, int out) {
    survey *result = context;
    (void)ask_driver(result);
    (void)kf_write_all(out, result, sizeof *result);
}

static void ask_in_child(survey *result) {
    char *answer = NULL;
    size_t size = 0;
    if (kf_child_ask(answer_survey, result, "asking the driver for its devices", PATIENCE_SECONDS, &answer,
                     &size, &result->error) != KF_OK)
        return;
    if (size == sizeof *result)
        memcpy(result, answer, size);
    else
        kf_fail(&result->error, KF_MACHINE, "cuda: the driver gave no answer about its devices");
    free(answer);
}

static void add_compiler(survey *result) {
    char compiler[sizeof result->devices[0].compiler];
    if (result->count == 0) return;
    if (kf_nvrtc_version(compiler, sizeof compiler, &result->error) != KF_OK) {
        result->count = 0;
        return;
    }
    for (int i = 0; i < result->count; i++)
        kf_copy_text(result->devices[i].compiler, sizeof compiler, compiler);
}

/* The survey is made once, because devices do not change while the program runs. */
static const survey *take_survey(void) {
    pthread_mutex_lock(&survey_lock);
    if (!asked) {
        if (kf_cuda_driver_started())
            ask_driver(&known);
        else
            ask_in_child(&known);
        add_compiler(&known);
        asked = true;
    }
    pthread_mutex_unlock(&survey_lock);
    return &known;
}

int kf_cuda_device_count(char *why, size_t why_size) {
    const survey *result = take_survey();
    if (why && why_size > 0) kf_copy_text(why, why_size, result->count > 0 ? "" : result->error.message);
    return result->count;
}

kf_status kf_cuda_device_describe(int index, kf_device_info *info, kf_error *error) {
    const survey *result = take_survey();
    if (result->count == 0) return kf_fail(error, KF_HOST, "%s", result->error.message);
    KF_TRY(kf_cuda_check_index(index, result->count, error));
    *info = result->devices[index];
    return KF_OK;
}

#endif
