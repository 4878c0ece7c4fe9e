/* Reading a T1 problem file. Keys that are not known are left alone: other programs have their own. */
#include <errno.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "solver/t1/t1.h"

/* --- the launch ----------------------------------------------------------------------------------------- */

static const char *const axes[] = {"X", "Y", "Z"};

/* The size that was asked for stays; a file without one has nothing that would follow it. */
static kf_status read_size(kf_t1_problem *problem, const cJSON *kernel, kf_error *error) {
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(kernel, "ProblemSize"), *item;
    int axis = 0;
    const bool asked = problem->size[0] > 0;
    const bool one = problem->size[0] * problem->size[1] * problem->size[2] == 1;
    if (size == NULL && asked && !one)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--grid': %s has no KernelSpecification.ProblemSize, so its size is fixed; "
                       "leave it out",
                       problem->file);
    for (int i = 0; i < 3 && !asked; i++)
        problem->size[i] = 1;
    if (size == NULL) return KF_OK;
    bool good = cJSON_IsArray(size) && size->child != NULL;
    cJSON_ArrayForEach(item, size) {
        good = good && axis < 3 && cJSON_IsNumber(item) && item->valuedouble >= 1.0 &&
               item->valuedouble <= 2147483647.0 && item->valuedouble == (double)(long)item->valuedouble;
        if (good && !asked) problem->size[axis] = (long)item->valuedouble;
        axis++;
    }
    for (; asked && axis < 3; axis++)
        if (good && problem->size[axis] != 1)
            return kf_fail(error, KF_BAD_INPUT,
                           "option '--grid': the ProblemSize of %s has %d numbers; those behind must be 1",
                           problem->file, axis);
    if (good) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: KernelSpecification.ProblemSize: must be a list of one to three whole numbers",
                   problem->file);
}

/* An expression's text by its key in an object of axes; fallback where there is none. Numbers do too. */
static void axis_text(const cJSON *object, int axis, const char *fallback, kf_text *text) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, axes[axis]);
    if (cJSON_IsNumber(item))
        kf_text_append(text, "%.17g", item->valuedouble);
    else
        kf_text_append(text, "%s", cJSON_IsString(item) ? item->valuestring : fallback);
}

/* "ceil(size / (a * b))" in Python's whole numbers. */
static void divided(long size, const cJSON *divisors, kf_text *text) {
    const cJSON *item;
    kf_text_append(text, "-((0 - %ld) // (1", size);
    cJSON_ArrayForEach(item, divisors) {
        if (cJSON_IsString(item)) kf_text_append(text, " * (%s)", item->valuestring);
        if (cJSON_IsNumber(item)) kf_text_append(text, " * %.17g", item->valuedouble);
    }
    kf_text_append(text, "))");
}

/* Blocks along an axis: the problem's size over the divisors; without them the global size, which counts
 * blocks (CUDA) or threads (OpenCL). */
static void blocks_text(const kf_t1_problem *problem, const cJSON *kernel, int axis, const char *threads,
                        kf_text *text) {
    char key[16];
    (void)snprintf(key, sizeof key, "GridDiv%s", axes[axis]);
    const cJSON *divisors = cJSON_GetObjectItemCaseSensitive(kernel, key);
    const cJSON *global = cJSON_GetObjectItemCaseSensitive(kernel, "GlobalSize");
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(kernel, "GlobalSizeType");
    bool by_size = cJSON_HasObjectItem(kernel, "ProblemSize") &&
                   (cJSON_HasObjectItem(kernel, "GridDivX") || global == NULL);
    if (by_size && divisors == NULL && !cJSON_HasObjectItem(kernel, "GridDivX")) {
        kf_text_append(text, "-((0 - %ld) // (%s))", problem->size[axis], threads);
        return;
    }
    if (by_size) {
        divided(problem->size[axis], divisors, text);
        return;
    }
    kf_text items = {0};
    axis_text(global, axis, "1", &items);
    if (cJSON_IsString(kind) && strcmp(kind->valuestring, "OpenCL") == 0)
        kf_text_append(text, "-((0 - (%s)) // (%s))", items.text, threads);
    else
        kf_text_append(text, "%s", items.text);
    kf_text_free(&items);
}

static kf_status read_axis(kf_t1_problem *problem, const cJSON *kernel, int axis, kf_error *error) {
    char what[48];
    kf_text threads = {0}, blocks = {0};
    axis_text(cJSON_GetObjectItemCaseSensitive(kernel, "LocalSize"), axis, "1", &threads);
    blocks_text(problem, kernel, axis, threads.text, &blocks);
    (void)snprintf(what, sizeof what, "KernelSpecification.LocalSize.%s", axes[axis]);
    kf_status status = kf_t1_expression(problem, what, threads.text, &problem->threads[axis], error);
    (void)snprintf(what, sizeof what, "the number of blocks along %s", axes[axis]);
    if (status == KF_OK) status = kf_t1_expression(problem, what, blocks.text, &problem->blocks[axis], error);
    kf_text_free(&threads);
    kf_text_free(&blocks);
    return status;
}

static kf_status read_shared(kf_t1_problem *problem, const cJSON *kernel, kf_error *error) {
    const cJSON *shared = cJSON_GetObjectItemCaseSensitive(kernel, "SharedMemory");
    char number[32] = "0";
    if (cJSON_IsNumber(shared)) (void)snprintf(number, sizeof number, "%.17g", shared->valuedouble);
    return kf_t1_expression(problem, "KernelSpecification.SharedMemory",
                            cJSON_IsString(shared) ? shared->valuestring : number, &problem->shared_bytes,
                            error);
}

/* --- the kernel ----------------------------------------------------------------------------------------- */

/* "-DNAME" and "-DNAME=VALUE" become defines; the language standard is C++17 anyway. */
static kf_status read_options(kf_t1_problem *problem, const cJSON *kernel, kf_error *error) {
    const cJSON *option;
    cJSON_ArrayForEach(option, cJSON_GetObjectItemCaseSensitive(kernel, "CompilerOptions")) {
        const char *text = cJSON_IsString(option) ? option->valuestring : "";
        if (strncmp(text, "-std=", 5) == 0 || strncmp(text, "--std=", 6) == 0) continue;
        kf_define *define = &problem->defines[problem->define_count];
        const char *value = strchr(text, '=');
        if (strncmp(text, "-D", 2) != 0 || text[2] == '\0' || text[2] == '=' ||
            (value != NULL && strlen(value + 1) >= sizeof define->value) ||
            problem->define_count == KF_T1_DEFINES)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: KernelSpecification.CompilerOptions: '%.80s' is not taken; only -std=... and up to %d "
                "-DNAME=VALUE are",
                problem->file, text, KF_T1_DEFINES);
        char *name = kf_duplicate(text + 2);
        name[strcspn(name, "=")] = '\0';
        define->name = name;
        kf_copy_text(define->value, sizeof define->value, value != NULL ? value + 1 : "1");
        problem->define_count++;
    }
    return KF_OK;
}

/* The path of a source beside the problem file, or of an absolute one. */
static kf_status find_source(const kf_t1_problem *problem, const char *file, char found[KF_PATH], bool *there,
                             kf_error *error) {
    char path[KF_PATH];
    const char *slash = strrchr(problem->file, '/');
    if (file[0] == '/')
        KF_TRY(kf_path(path, error, "%s", file));
    else
        KF_TRY(kf_path(path, error, "%.*s/%s", (int)(slash - problem->file), problem->file, file));
    *there = realpath(path, found) != NULL;
    if (!*there) memcpy(found, path, sizeof path);
    return KF_OK;
}

static kf_status read_reference(kf_t1_problem *problem, kf_json_place place, const cJSON *kernel,
                                kf_error *error) {
    const char *file = NULL, *name = problem->kernel_name;
    bool there = false;
    KF_TRY(kf_json_string(place, kernel, "ReferenceFile", false, &file, error));
    KF_TRY(kf_json_string(place, kernel, "ReferenceName", false, &name, error));
    if (file == NULL) return KF_OK;
    KF_TRY(find_source(problem, file, problem->reference_file, &there, error));
    kf_copy_text(problem->reference_name, sizeof problem->reference_name, name);
    if (there) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: KernelSpecification.ReferenceFile: %s is not there; it is looked for beside the "
                   "problem file",
                   problem->file, problem->reference_file);
}

static kf_status read_kernel(kf_t1_problem *problem, const cJSON *kernel, kf_error *error) {
    static const char *const languages[] = {"CUDA", "portable", "C"};
    const kf_json_place place = {problem->file, "KernelSpecification"};
    const char *foreign = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(kernel, "Language"));
    const char *name = NULL, *file = NULL;
    int language = 0;
    if (foreign != NULL && strcasecmp(foreign, "OpenCL") == 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: KernelSpecification.Language: is OpenCL, which kftune has no backend for; it runs "
            "CUDA, \"portable\" (kernels/portable.h) on the cpu too, and C on the cpu",
            problem->file);
    KF_TRY(kf_json_choice(place, kernel, "Language", true, languages, 3, &language, error));
    KF_TRY(kf_json_string(place, kernel, "KernelName", true, &name, error));
    KF_TRY(kf_json_string(place, kernel, "KernelFile", true, &file, error));
    problem->portable = language == 1;
    problem->plain = language == 2;
    kf_copy_text(problem->kernel_name, sizeof problem->kernel_name, name);
    bool there = false;
    KF_TRY(find_source(problem, file, problem->kernel_file, &there, error));
    problem->kernel_missing = !there;
    KF_TRY(read_reference(problem, place, kernel, error));
    return read_options(problem, kernel, error);
}

void kf_t1_note(kf_t1_problem *problem, const char *format, ...) {
    char line[1024];
    kf_text notes = {0};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    kf_text_append(&notes, "%s%s%s", problem->notes != NULL ? problem->notes : "",
                   problem->notes != NULL ? "\n" : "", line);
    free(problem->notes);
    problem->notes = notes.text;
}

static void read_name(kf_t1_problem *problem, const cJSON *root) {
    const cJSON *general = cJSON_GetObjectItemCaseSensitive(root, "General");
    const char *given = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(general, "BenchmarkName"));
    const char *slash = strrchr(problem->file, '/');
    kf_copy_text(problem->name, sizeof problem->name, given != NULL && given[0] != '\0' ? given : slash + 1);
    if (given == NULL || given[0] == '\0') problem->name[strcspn(problem->name, ".")] = '\0';
    for (char *c = problem->name; *c != '\0'; c++) /* becomes the name of a file */
        if (*c == '/' || *c <= ' ' || *c > '~' || (*c == '.' && c == problem->name)) *c = '_';
}

static kf_status hash_files(kf_t1_problem *problem, const char *text, size_t size, kf_error *error) {
    kf_hasher hasher;
    char *kernel = NULL, *reference = NULL;
    size_t kernel_size = 0, reference_size = 0;
    if (!problem->kernel_missing) KF_TRY(kf_file_read(problem->kernel_file, 0, &kernel, &kernel_size, error));
    kf_status status = KF_OK;
    if (problem->reference_file[0] != '\0')
        status = kf_file_read(problem->reference_file, 0, &reference, &reference_size, error);
    if (status != KF_OK) {
        free(kernel);
        return status;
    }
    kf_hash_begin(&hasher);
    kf_hash_add(&hasher, &size, sizeof size);
    kf_hash_add(&hasher, text, size);
    kf_hash_add(&hasher, problem->size, sizeof problem->size);
    kf_hash_add(&hasher, kernel, kernel_size);
    kf_hash_add(&hasher, &reference_size, sizeof reference_size);
    if (reference != NULL) kf_hash_add(&hasher, reference, reference_size);
    for (int i = 0; i < problem->argument_count; i++) {
        const kf_t1_argument *argument = &problem->arguments[i];
        if (argument->answer != NULL)
            kf_hash_add(&hasher, argument->answer, argument->count * argument->type->bytes);
        if (argument->from_file)
            kf_hash_add(&hasher, argument->initial, argument->count * argument->type->bytes);
    }
    kf_hash_end(&hasher, problem->hash);
    free(kernel);
    free(reference);
    return KF_OK;
}

static kf_status read_root(kf_t1_problem *problem, const cJSON *root, kf_error *error) {
    const kf_json_place top = {problem->file, ""};
    const cJSON *space = NULL, *kernel = NULL;
    KF_TRY(kf_json_object(top, root, "ConfigurationSpace", true, &space, error));
    KF_TRY(kf_json_object(top, root, "KernelSpecification", true, &kernel, error));
    read_name(problem, root);
    KF_TRY(read_size(problem, kernel, error));
    KF_TRY(read_kernel(problem, kernel, error));
    KF_TRY(kf_t1_read_space(problem, space, error));
    for (int axis = 0; axis < 3; axis++)
        KF_TRY(read_axis(problem, kernel, axis, error));
    KF_TRY(read_shared(problem, kernel, error));
    return kf_t1_read_arguments(problem, cJSON_GetObjectItemCaseSensitive(kernel, "Arguments"), error);
}

static kf_status read_file(kf_t1_problem *problem, kf_error *error) {
    char *text = NULL;
    size_t size = 0;
    cJSON *root = NULL;
    KF_TRY(kf_file_read(problem->file, (size_t)16 << 20, &text, &size, error));
    kf_status status = kf_json_parse(problem->file, text, size, &root, error);
    if (status == KF_OK) status = read_root(problem, root, error);
    if (status == KF_OK) status = hash_files(problem, text, size, error);
    cJSON_Delete(root);
    free(text);
    return status;
}

kf_status kf_t1_read(const char *file, const int *size, kf_t1_problem **problem, kf_error *error) {
    char path[KF_PATH];
    *problem = NULL;
    if (realpath(file, path) == NULL) return kf_fail(error, KF_BAD_INPUT, "%s: %s", file, strerror(errno));
    kf_t1_problem *made = kf_allocate_zeroed(1, sizeof *made);
    memcpy(made->file, path, sizeof path);
    for (int axis = 0; axis < 3 && size != NULL; axis++)
        made->size[axis] = size[axis];
    kf_status status = read_file(made, error);
    if (status == KF_OK)
        *problem = made;
    else
        kf_t1_release(made);
    return status;
}

void kf_t1_release(kf_t1_problem *problem) {
    if (problem == NULL) return;
    for (int p = 0; p < problem->parameter_count; p++) {
        kf_expression_free(problem->parameters[p].expression);
        free(problem->parameters[p].values);
    }
    for (int c = 0; c < problem->condition_count; c++)
        kf_expression_free(problem->conditions[c]);
    for (int axis = 0; axis < 3; axis++) {
        kf_expression_free(problem->threads[axis]);
        kf_expression_free(problem->blocks[axis]);
    }
    kf_expression_free(problem->shared_bytes);
    for (int i = 0; i < problem->argument_count; i++) {
        free(problem->arguments[i].initial);
        free(problem->arguments[i].answer);
    }
    for (int i = 0; i < problem->define_count; i++)
        free((void *)(uintptr_t)problem->defines[i].name);
    cJSON_Delete(problem->declaration);
    free(problem->notes);
    free(problem);
}
