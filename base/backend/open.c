/* Opens one device by its name: the only file that knows which backends there are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef KF_HAVE_CUDA
#include "base/backend/cuda/nvml.h"
#endif
#include "base/backend/internal.h"
#include "base/util/log.h"
#include "base/util/text.h"

enum { MOST_THREADS = 4096 };

/* Refuses a device that is not known, with the nearest name. */
static kf_status unknown_device(const char *spec, kf_error *error) {
    static const char *const names[] = {"cpu", "cuda"};
    char word[32];
    kf_copy_text(word, sizeof word, spec);
    word[strcspn(word, ":0123456789")] = '\0';
    const char *nearest = kf_nearest(word, names, 2), *number = spec + strcspn(spec, "0123456789");
    const size_t digits = strspn(number, "0123456789");
    if (strcmp(word, "gpu") == 0) nearest = names[1];
    if (nearest != NULL && digits > 0 && number[digits] == '\0')
        return kf_fail(error, KF_BAD_INPUT, "device \"%s\" is not known; did you mean \"%s:%s\"?", spec,
                       nearest, number);
    if (nearest != NULL)
        return kf_fail(error, KF_BAD_INPUT, "device \"%s\" is not known; did you mean \"%s\"?", spec,
                       nearest);
    return kf_fail(error, KF_BAD_INPUT, "device \"%s\" is not known; use cpu, cpu:THREADS, cuda or cuda:N",
                   spec);
}

/* Reads the number after the colon. */
static kf_status read_number(const char *spec, const char *text, int low, int high, const char *meaning,
                             int *number, kf_error *error) {
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < low || value > high)
        return kf_fail(error, KF_BAD_INPUT,
                       "device \"%s\": %s must be a whole number from %d to %d, as in \"%.*s%d\"", spec,
                       meaning, low, high, (int)(text - spec), spec, low);
    *number = (int)value;
    return KF_OK;
}

kf_status kf_device_open_best(const kf_teams *teams, kf_backend **backend, kf_error *error) {
    char why[256] = "";
    kf_error reason;
    if (kf_cuda_device_count(why, sizeof why) > 0) {
        if (kf_cuda_open(0, teams->cuda, backend, &reason) == KF_OK) return KF_OK;
        kf_warn("using the cpu: cuda:0 does not work: %s", reason.message);
    } else {
        kf_detail("using the cpu: %s", why);
    }
    return kf_cpu_open(0, teams->cpu, backend, error);
}

/* Reads a device's spec. number is that of threads (0: all) or of the GPU. */
static kf_status read_spec(const char *spec, bool *cuda, int *number, kf_error *error) {
    *number = 0;
    *cuda = strncmp(spec, "cuda", 4) == 0;
    if (strcmp(spec, "cpu") == 0 || strcmp(spec, "cuda") == 0) return KF_OK;
    if (strncmp(spec, "cpu:", 4) == 0)
        return read_number(spec, spec + 4, 1, MOST_THREADS, "the number of threads", number, error);
    if (strncmp(spec, "cuda:", 5) == 0)
        return read_number(spec, spec + 5, 0, KF_MOST_DEVICES - 1, "the number of the GPU", number, error);
    return unknown_device(spec, error);
}

kf_status kf_device_check_one(const char *spec, kf_error *error) {
    bool cuda = false;
    int number = 0;
    return read_spec(spec, &cuda, &number, error);
}

kf_status kf_device_open_one(const char *spec, int threads, const kf_teams *teams, kf_backend **backend,
                             kf_error *error) {
    bool cuda = false;
    int number = 0;
    KF_TRY(read_spec(spec, &cuda, &number, error));
    if (cuda) return kf_cuda_open(number, teams->cuda, backend, error);
    return kf_cpu_open(number > 0 ? number : threads, teams->cpu, backend, error);
}

kf_status kf_source_prebuild(const kf_device_info *info, const kf_source *source, kf_build *build,
                             kf_error *error) {
    return strcmp(info->backend, "cuda") == 0 ? kf_cuda_prebuild(info, source, build, error)
                                              : kf_cpu_prebuild(info, source, build, error);
}

void kf_compiler_stay(const kf_device_info *info) {
    if (strcmp(info->backend, "cuda") == 0) kf_cuda_compiler_stay(info);
}

int kf_device_processes(const kf_device_info *device, int *processes, int capacity) {
#ifdef KF_HAVE_CUDA
    if (strcmp(device->backend, "cuda") == 0) return kf_nvml_processes(device->identity, processes, capacity);
#endif
    (void)device;
    /* The capacity is unknown. */
    if (capacity > 0) processes[0] = 0;
    return 0;
}

#ifndef KF_HAVE_CUDA
static const char no_cuda[] =
    "this kftune was built without CUDA headers; install the CUDA toolkit and build again, or "
    "use --device cpu";

int kf_cuda_device_count(char *why, size_t why_size) {
    if (why_size > 0) kf_copy_text(why, why_size, no_cuda);
    return 0;
}

kf_status kf_cuda_device_describe(int index, kf_device_info *info, kf_error *error) {
    memset(info, 0, sizeof *info);
    return kf_fail(error, KF_HOST, "cuda:%d: %s", index, no_cuda);
}

kf_status kf_cuda_open(int index, const kf_team_methods *team, kf_backend **backend, kf_error *error) {
    (void)team;
    *backend = NULL;
    return kf_fail(error, KF_HOST, "cuda:%d: %s", index, no_cuda);
}

kf_status kf_cuda_prebuild(const kf_device_info *info, const kf_source *source, kf_build *build,
                           kf_error *error) {
    memset(build, 0, sizeof *build);
    return kf_fail(error, KF_HOST, "%s for %s: %s", source->file, info->spec, no_cuda);
}

void kf_cuda_compiler_stay(const kf_device_info *info) {
    /* There is no such backend in this build. */
    (void)info;
}
#endif
