#ifdef KF_HAVE_CUDA

#include "base/backend/cuda/nvrtc.h"

#include <nvrtc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/backend/cache.h"
#include "base/backend/cuda/child.h"
#include "base/backend/cuda/driver.h"
#include "base/backend/cuda/headers.h"
#include "base/backend/internal.h"
#include "base/backend/library.h"
#include "base/util/file.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"

#define NVRTC_FUNCTIONS(X)                                                                                   \
    X(nvrtcVersion)                                                                                          \
    X(nvrtcGetErrorString)                                                                                   \
    X(nvrtcCreateProgram)                                                                                    \
    X(nvrtcDestroyProgram)                                                                                   \
    X(nvrtcCompileProgram)                                                                                   \
    X(nvrtcGetProgramLogSize)                                                                                \
    X(nvrtcGetProgramLog)                                                                                    \
    X(nvrtcGetCUBINSize)                                                                                     \
    X(nvrtcGetCUBIN)                                                                                         \
    X(nvrtcAddNameExpression)                                                                                \
    X(nvrtcGetLoweredName)

#define NVRTC_MEMBER(name) __typeof__(name) *(name);
static struct nvrtc_table { NVRTC_FUNCTIONS(NVRTC_MEMBER) } nvrtc;
#undef NVRTC_MEMBER

#define NVRTC_ENTRY(name) {KF_SYMBOL_TEXT(name), offsetof(struct nvrtc_table, name), false},
static const kf_symbol nvrtc_symbols[] = {NVRTC_FUNCTIONS(NVRTC_ENTRY)};
#undef NVRTC_ENTRY

static const char *const nvrtc_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", NULL};
static const kf_library nvrtc_library = {
    .override = "KFTUNE_NVRTC",
    .names = nvrtc_names,
    .folders = kf_cuda_folders,
    .cure = "install CUDA's NVRTC library (package cuda-nvrtc-13-0, or pip's nvidia-cuda-nvrtc), or set "
            "KFTUNE_NVRTC to its file",
    .symbols = nvrtc_symbols,
    .symbol_count = sizeof nvrtc_symbols / sizeof nvrtc_symbols[0],
};

/* These options decide the machine code beside source, defines and architecture. */
static const char *const fixed_options[] = {"--std=c++17", "-default-device"};
enum { PATIENCE_SECONDS = 600 };
enum { FIXED_OPTIONS = sizeof fixed_options / sizeof fixed_options[0] };

static pthread_once_t nvrtc_once = PTHREAD_ONCE_INIT;
/* The status is KF_OK when it works. */
static kf_error nvrtc_missing;
static char nvrtc_text[64]; /* "NVRTC 13.0" */
/* The version and the library's size, because patch releases have the same version. */
static char nvrtc_key[96];
static char nvrtc_file[KF_PATH];

/* Loads NVRTC once, and notes its version, which is part of the cache's key. */
static void start(void) {
    const char *file = nvrtc_file;
    int major = 0, minor = 0;
    struct stat status;
    nvrtc_missing.status = KF_MACHINE;
    if (kf_library_load(&nvrtc_library, &nvrtc, nvrtc_file, &nvrtc_missing) != KF_OK) return;
    const nvrtcResult result = nvrtc.nvrtcVersion(&major, &minor);
    if (result != NVRTC_SUCCESS) {
        kf_fail(&nvrtc_missing, KF_MACHINE, "cuda: %s: %s", file, nvrtc.nvrtcGetErrorString(result));
        return;
    }
    const long long bytes = stat(file, &status) == 0 ? (long long)status.st_size : 0;
    snprintf(nvrtc_text, sizeof nvrtc_text, "NVRTC %d.%d", major, minor);
    snprintf(nvrtc_key, sizeof nvrtc_key, "%s %lld", nvrtc_text, bytes);
    nvrtc_missing.status = KF_OK;
}

kf_status kf_nvrtc_version(char *text, size_t size, kf_error *error) {
    pthread_once(&nvrtc_once, start);
    if (nvrtc_missing.status != KF_OK) return kf_fail(error, KF_HOST, "%s", nvrtc_missing.message);
    if (text) kf_copy_text(text, size, nvrtc_text);
    return KF_OK;
}

static bool is_error_line(const char *line, size_t length) {
    char copy[256];
    kf_copy_text(copy, length < sizeof copy ? length + 1 : sizeof copy, line);
    return strstr(copy, "error") && !strstr(copy, "detected in the compilation");
}

/* Reports a wrong name of a kernel. NVRTC compiles the name as an extra line after the source. The message
 * names the kernel and gives the compiler's reason after "error: ". */
static kf_status report_name(const char *file, const char *name, const char *log, kf_error *error) {
    static const char sign[] = "error: ";
    const char *reason = strstr(log, sign);
    reason = reason != NULL ? reason + strlen(sign) : log;
    return kf_fail(error, KF_MACHINE, "cuda: %s has no kernel \"%s\": %.*s", file, name,
                   (int)strcspn(reason, "\n"), reason);
}

/* Fails with "FILE does not compile: first error; second error; ...", with as many error lines of the log as
 * fit. */
static kf_status report_log(const char *file, const char *log, const char *fallback, kf_error *error) {
    kf_text lines = {0};
    for (const char *line = log; *line;) {
        const size_t length = strcspn(line, "\n");
        if (is_error_line(line, length))
            kf_text_append(&lines, "%s%.*s", lines.length ? "; " : "", (int)length, line);
        line += length + (line[length] == '\n');
    }
    kf_detail("%s: the compiler's log:\n%s", file, log);
    kf_fail(error, KF_MACHINE, "cuda: %s does not compile: %s", file, lines.length ? lines.text : fallback);
    kf_text_free(&lines);
    return KF_MACHINE;
}

static char *read_log(nvrtcProgram program) {
    size_t size = 0;
    if (nvrtc.nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS || size == 0) return kf_duplicate("");
    char *log = kf_allocate_zeroed(size + 1, 1);
    if (nvrtc.nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS) log[0] = '\0';
    return log;
}

/* The options of NVRTC's command line. free_options frees them. */
typedef struct options {
    char **text;
    int count;
} options;

static void add_option(options *list, const char *prefix, const char *name, const char *separator,
                       const char *value) {
    kf_text text = {0};
    kf_text_append(&text, "%s%s%s%s", prefix, name, separator, value);
    list->text[list->count++] = text.text;
}

/* Returns whether an option of the source's takes the place of one of ours. */
static bool replaces(const kf_source *source, const char *ours) {
    const size_t length = strcspn(ours, "=");
    for (int i = 0; i < source->option_count; i++)
        if (ours[length] == '=' && strncmp(source->options[i], ours, length + 1) == 0) return true;
    return false;
}

static options make_options(const char *architecture, const kf_source *source, const char *path,
                            const char *include_folder) {
    enum { FOLDERS = 4, ARCHITECTURE = 1 };
    const int most = source->define_count + source->option_count + FIXED_OPTIONS + FOLDERS + ARCHITECTURE;
    options list = {kf_allocate_zeroed((size_t)most, sizeof(char *)), 0};
    char *folder = kf_duplicate(path);
    char *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
    for (int i = 0; i < FIXED_OPTIONS; i++)
        if (!replaces(source, fixed_options[i])) add_option(&list, fixed_options[i], "", "", "");
    add_option(&list, "--gpu-architecture=", architecture, "", "");
    /* NVRTC knows only the text of the source, not its folder. */
    add_option(&list, "-I", folder, "", "");
    add_option(&list, "-I", include_folder, "", "");
    for (int i = 0; i < source->define_count; i++)
        add_option(&list, "-D", source->defines[i].name, "=", source->defines[i].value);
    for (int i = 0; i < source->option_count; i++)
        add_option(&list, source->options[i], "", "", "");
    char headers[2][KF_PATH];
    const int count = source->name != NULL ? kf_cuda_headers(nvrtc_file, headers) : 0;
    for (int i = 0; i < count; i++)
        add_option(&list, "-I", headers[i], "", "");
    free(folder);
    return list;
}

static void free_options(options *list) {
    for (int i = 0; i < list->count; i++)
        free(list->text[i]);
    free(list->text);
}

/* Appends the symbol of the kernel and its length to the machine code of a source with a name. */
static kf_status append_symbol(nvrtcProgram program, const kf_source *source, void **cubin, size_t *size,
                               kf_error *error) {
    const char *symbol = NULL;
    const nvrtcResult result = nvrtc.nvrtcGetLoweredName(program, source->name, &symbol);
    if (result != NVRTC_SUCCESS || symbol == NULL)
        return kf_fail(error, KF_MACHINE, "cuda: %s: NVRTC has no symbol for \"%s\": %s", source->file,
                       source->name, nvrtc.nvrtcGetErrorString(result));
    const uint32_t length = (uint32_t)strlen(symbol) + 1;
    *cubin = kf_reallocate(*cubin, *size + length + sizeof length);
    memcpy((char *)*cubin + *size, symbol, length);
    memcpy((char *)*cubin + *size + length, &length, sizeof length);
    *size += length + sizeof length;
    return KF_OK;
}

const char *kf_nvrtc_symbol(const void *cubin, size_t size) {
    uint32_t length = 0;
    if (size < sizeof length) return "";
    memcpy(&length, (const char *)cubin + size - sizeof length, sizeof length);
    const char *symbol = (const char *)cubin + size - sizeof length - length;
    return length > 0 && length <= size - sizeof length && symbol[length - 1] == '\0' ? symbol : "";
}

static kf_status take_cubin(nvrtcProgram program, const char *file, void **cubin, size_t *size,
                            kf_error *error) {
    nvrtcResult result = nvrtc.nvrtcGetCUBINSize(program, size);
    if (result == NVRTC_SUCCESS && *size > 0) {
        *cubin = kf_allocate(*size);
        result = nvrtc.nvrtcGetCUBIN(program, *cubin);
        if (result == NVRTC_SUCCESS) return KF_OK;
        free(*cubin);
        *cubin = NULL;
    }
    return kf_fail(error, KF_MACHINE, "cuda: %s: NVRTC gave no machine code: %s", file,
                   nvrtc.nvrtcGetErrorString(result));
}

static kf_status explain(nvrtcProgram program, const kf_source *source, nvrtcResult result, kf_error *error) {
    if (result == NVRTC_ERROR_OUT_OF_MEMORY)
        return kf_fail(error, KF_HOST, "cuda: %s: NVRTC: %s", source->file,
                       nvrtc.nvrtcGetErrorString(result));
    char *log = read_log(program);
    const bool named = source->name != NULL && strncmp(log, "__nv_name_map", 13) == 0;
    kf_status status = named ? report_name(source->file, source->name, log, error)
                             : report_log(source->file, log, nvrtc.nvrtcGetErrorString(result), error);
    if (strstr(log, "cannot open source file") != NULL && source->name != NULL)
        status = kf_cuda_headers_missing(nvrtc_file, error);
    free(log);
    return status;
}

/* NVRTC searches includes beside path first. A relative path would refer to the working folder. */
static kf_status compile_text(const kf_source *source, const char *path, const char *text,
                              const options *list, void **cubin, size_t *size, kf_error *error) {
    nvrtcProgram program = NULL;
    nvrtcResult result = nvrtc.nvrtcCreateProgram(&program, text, path, 0, NULL, NULL);
    if (result != NVRTC_SUCCESS)
        return kf_fail(error, KF_MACHINE, "cuda: %s: %s", source->file, nvrtc.nvrtcGetErrorString(result));
    if (source->name != NULL) (void)nvrtc.nvrtcAddNameExpression(program, source->name);
    result = nvrtc.nvrtcCompileProgram(program, list->count, (const char *const *)list->text);
    kf_status status = KF_OK;
    if (result != NVRTC_SUCCESS)
        status = explain(program, source, result, error);
    else
        status = take_cubin(program, source->file, cubin, size, error);
    if (status == KF_OK && source->name != NULL) {
        status = append_symbol(program, source, cubin, size, error);
        if (status != KF_OK) free(*cubin);
    }
    nvrtc.nvrtcDestroyProgram(&program);
    return status;
}

static kf_status compile(const char *architecture, const kf_source *source, void **cubin, size_t *size,
                         kf_error *error) {
    char path[KF_PATH], include_folder[KF_PATH], *text = NULL;
    size_t length = 0;
    KF_TRY(kf_source_path(source, path, error));
    KF_TRY(kf_source_include_folder(include_folder, error));
    KF_TRY(kf_file_read(path, 0, &text, &length, error));
    options list = make_options(architecture, source, path, include_folder);
    const kf_status status = compile_text(source, path, text, &list, cubin, size, error);
    free_options(&list);
    free(text);
    return status;
}

/* This process never forks one that opens a device. */
static bool staying;

/* Makes this process compile itself, without a child for each source. It must then never fork a process that
 * opens a device. NVRTC starts here: its call of cuInit can take most of a second with a GPU, and only one
 * process at a time can do it. */
static void stay(const char *architecture) {
    char *words[1] = {NULL};
    options list = {words, 0};
    void *cubin = NULL;
    size_t size = 0;
    staying = true;
    /* So cuInit need not wake the devices. */
    (void)setenv("CUDA_VISIBLE_DEVICES", "", 1);
    if (kf_nvrtc_version(NULL, 0, NULL) != KF_OK) return;
    add_option(&list, "--gpu-architecture=", architecture, "", "");
    const kf_source empty = {.file = "empty.cu"};
    if (compile_text(&empty, "empty.cu", "extern \"C\" __global__ void empty() {}\n", &list, &cubin, &size,
                     NULL) == KF_OK)
        free(cubin);
    free(words[0]);
}

/* A request to compile in a child. NVRTC calls cuInit, so a process that has not done so uses a child. */
typedef struct compile_request {
    const char *architecture;
    const kf_source *source;
} compile_request;

/* Sends the answer: a kf_error, followed by the machine code if its status is KF_OK. */
static void answer_compile(void *context, int out) {
    const compile_request *request = context;
    kf_error error = {0};
    void *cubin = NULL;
    size_t size = 0;
    /* So cuInit need not wake the devices. */
    (void)setenv("CUDA_VISIBLE_DEVICES", "", 1);
    error.status = compile(request->architecture, request->source, &cubin, &size, &error);
    (void)kf_write_all(out, &error, sizeof error);
    (void)kf_write_all(out, cubin, size);
}

static kf_status compile_in_child(const char *architecture, const kf_source *source, void **cubin,
                                  size_t *size, kf_error *error) {
    compile_request request = {architecture, source};
    kf_error outcome = {0};
    char *answer = NULL;
    size_t length = 0;
    KF_TRY(kf_child_ask(answer_compile, &request, source->file, PATIENCE_SECONDS, &answer, &length, error));
    kf_status status = KF_MACHINE;
    if (length >= sizeof outcome) memcpy(&outcome, answer, sizeof outcome);
    if (length < sizeof outcome || (outcome.status == KF_OK && length == sizeof outcome)) {
        kf_fail(error, KF_MACHINE, "cuda: %s: the compiler's process gave no answer", source->file);
    } else if (outcome.status != KF_OK) {
        status = kf_fail(error, outcome.status, "%s", outcome.message);
    } else {
        *size = length - sizeof outcome;
        *cubin = kf_allocate(*size);
        memcpy(*cubin, answer + sizeof outcome, *size);
        status = KF_OK;
    }
    free(answer);
    return status;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Compiles what is not in the cache. When another process compiles it already, that result is used. */
static kf_status build_into_cache(const char *architecture, const kf_source *source, void **cubin,
                                  size_t *size, kf_build *result, kf_error *error) {
    const double start_time = seconds_now();
    const int claim = kf_cache_claim(result->hash);
    kf_error cache_error = {0};
    kf_status status = KF_OK;
    if (!kf_cache_get(result->hash, "cubin", cubin, size)) {
        status = (staying || kf_cuda_driver_started() ? compile : compile_in_child)(architecture, source,
                                                                                    cubin, size, error);
        if (status == KF_OK && kf_cache_put(result->hash, "cubin", *cubin, *size, &cache_error) != KF_OK)
            /* The kernel works, and is compiled again next time. */
            kf_warn("%s", cache_error.message);
    }
    result->seconds = seconds_now() - start_time;
    kf_cache_release(claim);
    return status;
}

kf_status kf_nvrtc_build(const char *architecture, const kf_source *source, void **cubin, size_t *size,
                         kf_build *build, kf_error *error) {
    char flags[128 + KF_PATH] = "", headers[2][KF_PATH];
    kf_build result = {0};
    *cubin = NULL;
    KF_TRY(kf_nvrtc_version(NULL, 0, error));
    snprintf(flags, sizeof flags, "%s %s", fixed_options[0], fixed_options[1]);
    if (source->name != NULL && kf_cuda_headers(nvrtc_file, headers) > 0)
        snprintf(flags, sizeof flags, "%s %s -I%s", fixed_options[0], fixed_options[1], headers[0]);
    KF_TRY(kf_cache_key(source, nvrtc_key, flags, architecture, result.hash, error));
    result.cached = kf_cache_get(result.hash, "cubin", cubin, size);
    const kf_status status =
        result.cached ? KF_OK : build_into_cache(architecture, source, cubin, size, &result, error);
    if (build) *build = result;
    return status;
}

void kf_cuda_compiler_stay(const kf_device_info *info) {
    stay(info->architecture);
}

kf_status kf_cuda_prebuild(const kf_device_info *info, const kf_source *source, kf_build *build,
                           kf_error *error) {
    void *cubin = NULL;
    size_t size = 0;
    KF_TRY(kf_nvrtc_build(info->architecture, source, &cubin, &size, build, error));
    free(cubin);
    return KF_OK;
}

#endif
