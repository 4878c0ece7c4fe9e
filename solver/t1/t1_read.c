/* Reads a T1 problem file. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "solver/t1/t1.h"

/* --- The launch ----------------------------------------------------------------------------------------- */

static const char *const axes[] = {"X", "Y", "Z"};

/* The size that was asked for stays; a file without one has nothing that would follow it. */
static kf_status read_size(kf_t1_problem *problem, const cJSON *kernel, kf_error *error) {
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(kernel, "ProblemSize"), *item;
    const bool asked = problem->size[0] > 0;
    const bool one = problem->size[0] * problem->size[1] * problem->size[2] == 1;
    int axis = 0;
    if (size == NULL && asked && !one)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--grid': %s has no KernelSpecification.ProblemSize, so its size is fixed; "
                       "leave it out",
                       problem->file);
    for (int i = 0; i < 3 && !asked; i++)
        problem->size[i] = 1;
    if (size == NULL) return KF_OK;
    for (item = cJSON_IsArray(size) ? size->child : size; item != NULL && axis < 3;
         item = cJSON_IsArray(size) ? item->next : NULL, axis++) {
        double value = 0.0;
        KF_TRY(kf_t1_constant(problem, "KernelSpecification.ProblemSize", item, &value, error));
        if (!(value >= 1.0 && value <= 2147483647.0 && value == floor(value))) break;
        if (!asked) problem->size[axis] = (long)value;
    }
    if (axis == 0 || item != NULL)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: KernelSpecification.ProblemSize: must be one to three whole numbers, or expressions "
            "without parameters",
            problem->file);
    const int numbers = axis;
    for (; asked && axis < 3; axis++)
        if (problem->size[axis] != 1)
            return kf_fail(error, KF_BAD_INPUT,
                           "option '--grid': the ProblemSize of %s has %d numbers; those behind must be 1",
                           problem->file, numbers);
    return KF_OK;
}

/* An expression's text by its key in an object of axes; fallback where there is none. Numbers do too. */
static void axis_text(const cJSON *object, int axis, const char *fallback, kf_text *text) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, axes[axis]);
    if (cJSON_IsNumber(item))
        kf_text_append(text, "%.17g", item->valuedouble);
    else
        kf_text_append(text, "%s", cJSON_IsString(item) ? item->valuestring : fallback);
}

/* Writes "ceil(size / (a * b))" in Python's whole numbers. */
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

/* Returns the parameter that Kernel Tuner takes for the threads along an axis, where a file has no
 * LocalSize. */
static const char *usual_threads(const kf_t1_problem *problem, int axis) {
    static const char *const names[] = {"block_size_x", "block_size_y", "block_size_z"};
    for (int p = 0; p < problem->parameter_count; p++)
        if (strcmp(problem->parameters[p].name, names[axis]) == 0) return names[axis];
    return "1";
}

static kf_status read_axis(kf_t1_problem *problem, const cJSON *kernel, int axis, kf_error *error) {
    char what[48];
    kf_text threads = {0}, blocks = {0};
    axis_text(cJSON_GetObjectItemCaseSensitive(kernel, "LocalSize"), axis,
              cJSON_HasObjectItem(kernel, "LocalSize") ? "1" : usual_threads(problem, axis), &threads);
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

/* --- The whole file ------------------------------------------------------------------------------------- */

static void read_name(kf_t1_problem *problem, const cJSON *root) {
    const cJSON *general = cJSON_GetObjectItemCaseSensitive(root, "General");
    const char *given = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(general, "BenchmarkName"));
    const char *slash = strrchr(problem->file, '/');
    kf_copy_text(problem->name, sizeof problem->name, given != NULL && given[0] != '\0' ? given : slash + 1);
    if (given == NULL || given[0] == '\0') problem->name[strcspn(problem->name, ".")] = '\0';
    /* It becomes the name of a file. */
    for (char *c = problem->name; *c != '\0'; c++)
        if (*c == '/' || *c <= ' ' || *c > '~' || (*c == '.' && c == problem->name)) *c = '_';
}

static kf_status hash_file(kf_hasher *hasher, const char *path, kf_error *error) {
    char *text = NULL;
    size_t size = 0;
    KF_TRY(kf_file_read(path, 0, &text, &size, error));
    kf_hash_add(hasher, &size, sizeof size);
    kf_hash_add(hasher, text, size);
    free(text);
    return KF_OK;
}

/* Hashes everything that decides the result: files, data, size. */
static kf_status hash_files(kf_t1_problem *problem, const char *text, size_t size, kf_error *error) {
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add(&hasher, &size, sizeof size);
    kf_hash_add(&hasher, text, size);
    kf_hash_add(&hasher, problem->size, sizeof problem->size);
    for (int i = 0; i < problem->kernel_file_count && problem->missing_file == NULL; i++)
        KF_TRY(hash_file(&hasher, problem->kernel_files[i], error));
    if (problem->reference_file[0] != '\0') KF_TRY(hash_file(&hasher, problem->reference_file, error));
    for (int i = 0; i < problem->argument_count; i++) {
        const kf_t1_argument *argument = &problem->arguments[i];
        const size_t bytes = argument->count * argument->type.bytes;
        if (argument->answer != NULL) kf_hash_add(&hasher, argument->answer, bytes);
        if (argument->fill == KF_T1_FILE) kf_hash_add(&hasher, argument->initial, bytes);
    }
    kf_hash_end(&hasher, problem->hash);
    return KF_OK;
}

/* --- Keys that nobody reads ------------------------------------------------------------------------------
 */

/* Appends the keys of an object that are not among the known ones, each once, behind the object's name. */
static void list_unread(const char *name, const cJSON *object, const char *const *known, kf_text *unread) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        bool read = cJSON_IsNull(item);
        char key[128];
        for (int i = 0; known[i] != NULL && item->string != NULL; i++)
            read = read || strcmp(known[i], item->string) == 0;
        (void)snprintf(key, sizeof key, "%.60s%s%.60s", name, name[0] != '\0' ? "." : "",
                       item->string != NULL ? item->string : "");
        if (!read && (unread->text == NULL || strstr(unread->text, key) == NULL))
            kf_text_append(unread, "%s%s", unread->length > 0 ? ", " : "", key);
    }
}

/* Notes unknown keys. They are not refused, because the file may be for other programs too, but one of them
 * may be misspelt. */
static void note_unread(kf_t1_problem *problem, const cJSON *root) {
    static const char *const top[] = {"General", "ConfigurationSpace", "KernelSpecification", NULL};
    static const char *const general[] = {"BenchmarkName", "FormatVersion", NULL};
    static const char *const space[] = {"TuningParameters", "Conditions", NULL};
    static const char *const parameter[] = {"Name", "Type", "Values", "Default", NULL};
    static const char *const condition[] = {"Expression", "Parameters", NULL};
    static const char *const kernel[] = {
        "Language",       "KernelName",    "KernelFile",    "CompilerOptions", "LocalSize", "GlobalSize",
        "GlobalSizeType", "ProblemSize",   "GridDivX",      "GridDivY",        "GridDivZ",  "SharedMemory",
        "Arguments",      "BenchmarkName", "ReferenceFile", "ReferenceName",   NULL};
    static const char *const argument[] = {"Name",
                                           "Type",
                                           "MemoryType",
                                           "AccessType",
                                           "MemType",
                                           "Size",
                                           "FillType",
                                           "FillValue",
                                           "RandomSeed",
                                           "DataSource",
                                           "Output",
                                           "ReferenceSource",
                                           "ValidationThreshold",
                                           NULL};
    const cJSON *spaces = cJSON_GetObjectItemCaseSensitive(root, "ConfigurationSpace"), *item;
    const cJSON *kernels = cJSON_GetObjectItemCaseSensitive(root, "KernelSpecification");
    kf_text unread = {0};
    list_unread("", root, top, &unread);
    list_unread("General", cJSON_GetObjectItemCaseSensitive(root, "General"), general, &unread);
    list_unread("ConfigurationSpace", spaces, space, &unread);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(spaces, "TuningParameters"))
        list_unread("TuningParameters", item, parameter, &unread);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(spaces, "Conditions"))
        list_unread("Conditions", item, condition, &unread);
    list_unread("KernelSpecification", kernels, kernel, &unread);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(kernels, "Arguments"))
        list_unread("Arguments", item, argument, &unread);
    if (unread.length > 0) kf_note(&problem->notes, "keys that are not read: %.800s", unread.text);
    kf_text_free(&unread);
}

/* Notes inputs with one value everywhere. With them many wrong kernels compute the right result. */
static void note_constants(kf_t1_problem *problem) {
    int inputs = 0;
    for (int i = 0; i < problem->argument_count; i++) {
        const kf_t1_argument *argument = &problem->arguments[i];
        if (argument->scalar || !argument->read || argument->count < 2) continue;
        if (argument->fill != KF_T1_CONSTANT) return;
        inputs++;
    }
    if (inputs > 0)
        kf_note(&problem->notes,
                "every input is one value everywhere, so that a wrong kernel may compute what is right; "
                "give them \"FillType\": \"Random\"");
}

/* Notes thresholds of 1 or more. An output of zeros has the deviation 1. */
static void note_thresholds(kf_t1_problem *problem) {
    for (int i = 0; i < problem->argument_count; i++)
        if (problem->arguments[i].output && problem->arguments[i].threshold >= 1.0)
            kf_note(&problem->notes,
                    "the ValidationThreshold of '%s' is %g: from 1 on a kernel that writes zeros is right",
                    problem->arguments[i].name, problem->arguments[i].threshold);
}

/* Reads a T1 file in an order in which sizes are known before arguments, then holds these against the source.
 */
static kf_status read_root(kf_t1_problem *problem, const cJSON *root, kf_error *error) {
    const kf_json_place top = {problem->file, ""};
    const cJSON *space = NULL, *kernel = NULL;
    KF_TRY(kf_json_object(top, root, "ConfigurationSpace", true, &space, error));
    KF_TRY(kf_json_object(top, root, "KernelSpecification", true, &kernel, error));
    read_name(problem, root);
    KF_TRY(read_size(problem, kernel, error));
    KF_TRY(kf_t1_read_kernel(problem, kernel, error));
    KF_TRY(kf_t1_read_space(problem, space, error));
    for (int axis = 0; axis < 3; axis++)
        KF_TRY(read_axis(problem, kernel, axis, error));
    KF_TRY(read_shared(problem, kernel, error));
    note_unread(problem, root);
    KF_TRY(kf_t1_read_arguments(problem, cJSON_GetObjectItemCaseSensitive(kernel, "Arguments"), error));
    note_constants(problem);
    note_thresholds(problem);
    return kf_t1_check_signature(problem, error);
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

static kf_status read_problem(const char *file, const char *candidate, const int *size,
                              kf_t1_problem **problem, kf_error *error) {
    char path[KF_PATH];
    *problem = NULL;
    if (!kf_real_path(file, path)) return kf_fail(error, KF_BAD_INPUT, "%s: %s", file, strerror(errno));
    kf_t1_problem *made = kf_allocate_zeroed(1, sizeof *made);
    memcpy(made->file, path, sizeof path);
    for (int axis = 0; axis < 3 && size != NULL; axis++)
        made->size[axis] = size[axis];
    kf_status status = KF_OK;
    if (candidate != NULL && !kf_real_path(candidate, made->candidate))
        status = kf_fail(error, KF_BAD_INPUT, "%s: %s", candidate, strerror(errno));
    if (status == KF_OK) status = read_file(made, error);
    if (status == KF_OK)
        *problem = made;
    else
        kf_t1_release(made);
    return status;
}

kf_status kf_t1_read(const char *file, const int *size, kf_t1_problem **problem, kf_error *error) {
    return read_problem(file, NULL, size, problem, error);
}

kf_status kf_t1_read_candidate(const char *file, const char *candidate, const int *size,
                               kf_t1_problem **problem, kf_error *error) {
    kf_t1_problem *own = NULL;
    KF_TRY(read_problem(file, candidate, size, problem, error));
    const kf_status status = kf_t1_read(file, size, &own, error);
    if (status == KF_OK) {
        (*problem)->judge = kf_t1_wrap(own, true);
        (*problem)->judge->system = &kf_system_t1;
        return KF_OK;
    }
    kf_t1_release(*problem);
    *problem = NULL;
    return status;
}

/* Frees a problem and all that it read. NULL is allowed. */
void kf_t1_release(kf_t1_problem *problem) {
    if (problem == NULL) return;
    for (int p = 0; p < problem->parameter_count; p++) {
        kf_expression_free(problem->parameters[p].expression);
        free(problem->parameters[p].values);
        free(problem->parameters[p].reals);
    }
    for (int c = 0; c < problem->condition_count; c++)
        kf_expression_free(problem->conditions[c]);
    for (int axis = 0; axis < 3; axis++) {
        kf_expression_free(problem->threads[axis]);
        kf_expression_free(problem->blocks[axis]);
    }
    kf_expression_free(problem->shared_bytes);
    for (int i = 0; i < problem->argument_count; i++) {
        kf_expression_free(problem->arguments[i].size);
        kf_expression_free(problem->arguments[i].generator);
        free(problem->arguments[i].initial);
        free(problem->arguments[i].answer);
    }
    for (int i = 0; i < problem->option_count; i++)
        free(problem->options[i]);
    for (int i = 0; i < problem->kernel_file_count; i++)
        free(problem->kernel_files[i]);
    cJSON_Delete(problem->declaration);
    kf_problem_free(problem->judge);
    kf_text_free(&problem->notes);
    free(problem);
}
