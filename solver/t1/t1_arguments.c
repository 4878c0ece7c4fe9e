/* Reads the kernel's arguments. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "solver/t1/t1.h"

static const double MOST_BYTES = 17179869184.0; /* 16 GiB */

/* Reads a file with exactly the argument's bytes, which a key names. */
static kf_status read_values(const kf_t1_problem *problem, kf_json_place place, const cJSON *json,
                             const char *key, const kf_t1_argument *argument, void *values, kf_error *error) {
    const char *name = NULL;
    char path[KF_PATH], *data = NULL;
    size_t size = 0, wanted = argument->count * argument->type.bytes;
    if (argument->size != NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.%s: a file has one size, and that of %s depends on the config", place.file,
                       place.path, key, argument->name);
    KF_TRY(kf_json_string(place, json, key, true, &name, error));
    KF_TRY(kf_t1_beside(problem, name, path, error));
    if (kf_file_read(path, wanted + 1, &data, &size, error) != KF_OK)
        return kf_fail_context(error, "%s: %s.%s", place.file, place.path, key);
    if (size == wanted) memcpy(values, data, wanted);
    free(data);
    if (size == wanted) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: %s.%s: %s has %zu bytes, %s needs %zu", place.file, place.path,
                   key, path, size, argument->name, wanted);
}

static kf_status read_fill(const kf_t1_problem *problem, kf_json_place place, const cJSON *json, int number,
                           kf_t1_argument *argument, kf_error *error) {
    static const char *const kinds[] = {"Constant", "Random", "BinaryRaw", "Generator"};
    static const char *const of_files[] = {"DataSource", NULL};
    int kind = 0;
    long seed = number + 1;
    char what[128];
    KF_TRY(kf_json_choice(place, json, "FillType", false, kinds, KF_T1_FILLS, &kind, error));
    argument->fill = (kf_t1_fill_kind)kind;
    if (argument->fill == KF_T1_CONSTANT || argument->fill == KF_T1_RANDOM)
        KF_TRY(kf_json_refuse_keys(place, json, of_files, "is for the FillTypes BinaryRaw and Generator",
                                   error));
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(json, "FillValue");
    argument->fill_value = argument->fill == KF_T1_RANDOM ? 1.0 : 0.0;
    (void)snprintf(what, sizeof what, "%.80s.FillValue", place.path);
    if (cJSON_IsBool(given) && strncmp(argument->type.name, "bool", 4) == 0)
        argument->fill_value = cJSON_IsTrue(given);
    else if (given != NULL && argument->fill != KF_T1_GENERATOR)
        KF_TRY(kf_t1_constant(problem, what, given, &argument->fill_value, error));
    if (!kf_t1_fits(&argument->type, argument->fill_value))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.FillValue: %g is not a value of type %s", place.file,
                       place.path, argument->fill_value, argument->type.name);
    KF_TRY(kf_json_integer(place, json, "RandomSeed", false, 0, KF_JSON_WHOLE, &seed, error));
    argument->seed = (uint64_t)seed;
    return KF_OK;
}

/* Reads the expression of a Generator over i. It may use the problem's size. */
static kf_status read_generator(const kf_t1_problem *problem, kf_json_place place, const cJSON *json,
                                kf_t1_argument *argument, kf_error *error) {
    static const char *const names[] = {"i"};
    const char *source = NULL;
    kf_text text = {0};
    KF_TRY(kf_json_string(place, json, "DataSource", true, &source, error));
    kf_t1_expand(problem, source, &text);
    kf_status status = kf_expression_parse(text.text != NULL ? text.text : "", &argument->generator, error);
    if (status == KF_OK) status = kf_expression_check_names(argument->generator, names, 1, error);
    kf_text_free(&text);
    return status == KF_OK ? KF_OK
                           : kf_fail_context(error, "%s: %s.DataSource \"%.200s\" of a Generator", place.file,
                                             place.path, source);
}

static kf_status fill(const kf_t1_problem *problem, kf_json_place place, const cJSON *json, int number,
                      kf_t1_argument *argument, kf_error *error) {
    KF_TRY(read_fill(problem, place, json, number, argument, error));
    if (argument->fill == KF_T1_GENERATOR) KF_TRY(read_generator(problem, place, json, argument, error));
    argument->initial = kf_allocate_zeroed(argument->count, argument->type.bytes);
    if (argument->fill == KF_T1_FILE)
        return read_values(problem, place, json, "DataSource", argument, argument->initial, error);
    return kf_t1_fill(problem, argument, 0, argument->count, argument->initial, error);
}

/* Reads the correct result that the file's author gives; NULL without that key. */
static kf_status read_answer(const kf_t1_problem *problem, kf_json_place place, const cJSON *json,
                             kf_t1_argument *argument, kf_error *error) {
    if (!cJSON_HasObjectItem(json, "ReferenceSource")) return KF_OK;
    if (!argument->output)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: %s.ReferenceSource: %s is not an output, so nothing would be compared with it; leave it out",
            place.file, place.path, argument->name);
    argument->answer = kf_allocate(argument->count * argument->type.bytes);
    return read_values(problem, place, json, "ReferenceSource", argument, argument->answer, error);
}

kf_status kf_t1_count(const kf_t1_problem *problem, const kf_t1_argument *argument, const kf_config *config,
                      size_t *count, kf_error *error) {
    char what[KF_NAME + 16];
    long values = 0;
    *count = argument->count;
    if (argument->size == NULL) return KF_OK;
    const size_t bytes = argument->type.bytes * (size_t)argument->type.components;
    (void)snprintf(what, sizeof what, "the Size of %s", argument->name);
    KF_TRY(kf_t1_evaluate(problem, what, argument->size, config, 1, (long)(MOST_BYTES / (double)bytes),
                          &values, error));
    *count = (size_t)values * (size_t)argument->type.components;
    return KF_OK;
}

/* Reads a number, or an expression. An expression that depends on the config is kept as it is. */
static kf_status read_count(const kf_t1_problem *problem, kf_json_place place, const cJSON *json,
                            kf_t1_argument *argument, kf_error *error) {
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(json, "Size");
    const double bytes = (double)argument->type.bytes * argument->type.components;
    double count = 1.0;
    char what[128];
    (void)snprintf(what, sizeof what, "%.80s.Size", place.path);
    if (!argument->scalar && cJSON_IsString(size)) {
        KF_TRY(kf_t1_expression(problem, what, size->valuestring, &argument->size, error));
        if (kf_t1_depends(problem, argument->size))
            return kf_t1_count(problem, argument, &problem->reference, &argument->count, error);
        kf_expression_free(argument->size);
        argument->size = NULL;
    }
    if (!argument->scalar) KF_TRY(kf_t1_constant(problem, what, size, &count, error));
    if (count >= 1.0 && count == floor(count) && count * bytes <= MOST_BYTES) {
        argument->count = (size_t)count * (size_t)argument->type.components;
        return KF_OK;
    }
    return kf_fail(error, KF_BAD_INPUT, "%s: %s.Size: comes to %g values, must be 1 to 16 GiB of them",
                   place.file, place.path, count);
}

static kf_status read_type(kf_json_place place, const cJSON *json, kf_t1_type *type, kf_error *error) {
    static const char *const known[] = {"float", "double", "half",   "int8",   "int16",  "int32",
                                        "int64", "uint8",  "uint16", "uint32", "uint64", "int",
                                        "uint",  "char",   "uchar",  "short",  "ushort", "long",
                                        "ulong", "bool",   "float2", "float3", "float4", "double2"};
    const char *name = NULL;
    int index = 0;
    KF_TRY(kf_json_string(place, json, "Type", true, &name, error));
    if (kf_t1_find_type(name, type)) return KF_OK;
    return kf_json_choice(place, json, "Type", true, known, sizeof known / sizeof *known, &index, error);
}

/* Reads where an argument lies and who writes it. */
static kf_status read_access(const kf_t1_problem *problem, kf_json_place place, const cJSON *json,
                             kf_t1_argument *argument, kf_error *error) {
    static const char *const memories[] = {"Vector", "Scalar", "Symbol", "Local"};
    static const char *const accesses[] = {"ReadOnly", "WriteOnly", "ReadWrite"};
    const char *kind = "";
    int memory = 0, access = 2;
    KF_TRY(kf_json_choice(place, json, "MemoryType", true, memories, 4, &memory, error));
    if (memory == 3)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.MemoryType: Local memory cannot be an argument; declare it in the kernel, or "
                       "give its bytes as SharedMemory",
                       place.file, place.path);
    KF_TRY(kf_json_choice(place, json, "AccessType", memory == 0, accesses, 3, &access, error));
    KF_TRY(kf_json_string(place, json, "MemType", false, &kind, error));
    argument->scalar = memory == 1;
    if (argument->scalar && argument->type.components > 1 && !kf_t1_needs_gpu(problem))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.Type: a scalar of type %s is CUDA's and OpenCL's; give a Vector of Size 1",
                       place.file, place.path, argument->type.name);
    argument->constant = memory == 2 || strcmp(kind, "Constant") == 0;
    if (memory == 2) access = 0;
    argument->read = argument->scalar || access != 1;
    argument->written = !argument->scalar && access != 0;
    return KF_OK;
}

static kf_status read_output(kf_json_place place, const cJSON *json, kf_t1_argument *argument,
                             kf_error *error) {
    const cJSON *output = cJSON_GetObjectItemCaseSensitive(json, "Output");
    const bool asked = cJSON_IsTrue(output) || (cJSON_IsNumber(output) && output->valuedouble != 0.0);
    argument->output = argument->written && (asked || output == NULL);
    argument->threshold = (double)NAN;
    if (argument->output && argument->size != NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.Size: depends on the config, so %s of two configs cannot be compared; give "
                       "it \"Output\": 0 or a size of its own",
                       place.file, place.path, argument->name);
    return kf_json_number(place, json, "ValidationThreshold", false, 0.0, 1e9, &argument->threshold, error);
}

/* Reads one argument: name, type, access, count, whether it is judged, what fills it, and an answer that
 * is known. */
static kf_status read_argument(kf_t1_problem *problem, const cJSON *json, int number, kf_error *error) {
    const char *name = NULL;
    char path[64], unnamed[KF_NAME];
    (void)snprintf(path, sizeof path, "KernelSpecification.Arguments[%d]", number);
    const kf_json_place place = {problem->file, path};
    if (problem->argument_count == KF_T1_ARGUMENTS)
        return kf_fail(error, KF_BAD_INPUT, "%s: more than %d arguments", problem->file, KF_T1_ARGUMENTS);
    kf_t1_argument *argument = &problem->arguments[problem->argument_count++];
    (void)snprintf(unnamed, sizeof unnamed, "argument_%d", number);
    name = unnamed;
    KF_TRY(kf_json_string(place, json, "Name", false, &name, error));
    kf_copy_text(argument->name, sizeof argument->name, name);
    KF_TRY(read_type(place, json, &argument->type, error));
    KF_TRY(read_access(problem, place, json, argument, error));
    KF_TRY(read_count(problem, place, json, argument, error));
    KF_TRY(read_output(place, json, argument, error));
    KF_TRY(fill(problem, place, json, number, argument, error));
    return read_answer(problem, place, json, argument, error);
}

kf_status kf_t1_read_arguments(kf_t1_problem *problem, const cJSON *list, kf_error *error) {
    const cJSON *item;
    int number = 0, outputs = 0;
    if (!cJSON_IsArray(list))
        return kf_fail(error, KF_BAD_INPUT, "%s: KernelSpecification.Arguments: must be a list of arguments",
                       problem->file);
    cJSON_ArrayForEach(item, list) KF_TRY(read_argument(problem, item, number++, error));
    for (int i = 0; i < problem->argument_count; i++)
        outputs += problem->arguments[i].output;
    if (outputs > 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: KernelSpecification.Arguments: none is written and an output, so no result could be "
                   "verified; give one the AccessType WriteOnly or ReadWrite",
                   problem->file);
}
