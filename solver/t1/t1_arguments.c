/* The kernel's arguments: what they hold before the first launch, and how results compare. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/random.h"
#include "solver/t1/t1.h"

static const kf_t1_type types[] = {
    {"float", 4, true, true},    {"double", 8, true, true},   {"int8", 1, false, true},
    {"int16", 2, false, true},   {"int32", 4, false, true},   {"int64", 8, false, true},
    {"uint8", 1, false, false},  {"uint16", 2, false, false}, {"uint32", 4, false, false},
    {"uint64", 8, false, false}, {"int", 4, false, true},     {"uint", 4, false, false},
};
enum { TYPES = sizeof types / sizeof *types };

double kf_t1_value(const kf_t1_type *type, const void *values, size_t index) {
    const char *at = (const char *)values + index * type->bytes;
    if (type->real) {
        float single = 0.0F;
        double value = 0.0;
        if (type->bytes == sizeof single) {
            memcpy(&single, at, sizeof single);
            return (double)single;
        }
        memcpy(&value, at, sizeof value);
        return value;
    }
    uint64_t bits = 0;
    memcpy(&bits, at, type->bytes); /* little-endian, as all machines that CUDA runs on */
    const unsigned width = 8 * (unsigned)type->bytes;
    if (!type->is_signed) return (double)bits;
    if (width < 64 && (bits >> (width - 1)) != 0) bits |= UINT64_MAX << width;
    return (double)(int64_t)bits;
}

static void set_value(const kf_t1_type *type, void *values, size_t index, double value) {
    char *at = (char *)values + index * type->bytes;
    const float single = (float)value;
    const int64_t whole = type->real ? 0 : (int64_t)value;
    if (!type->real)
        memcpy(at, &whole, type->bytes);
    else if (type->bytes == sizeof single)
        memcpy(at, &single, sizeof single);
    else
        memcpy(at, &value, sizeof value);
}

static bool fits(const kf_t1_type *type, double value) {
    static const double MOST_WHOLE = 9007199254740992.0; /* 2^53: beyond, a double skips whole numbers */
    if (type->real) return type->bytes == sizeof(double) || fabs(value) <= (double)FLT_MAX;
    const double range = ldexp(1.0, 8 * (int)type->bytes - (type->is_signed ? 1 : 0));
    return value == floor(value) && value >= (type->is_signed ? fmax(-range, -MOST_WHOLE) : 0.0) &&
           value <= fmin(range - 1.0, MOST_WHOLE);
}

/* --- reading -------------------------------------------------------------------------------------------- */

/* Uniform from 0 to value, the same for a seed wherever it runs. */
static void fill_random(kf_t1_argument *argument, double value, uint64_t seed) {
    uint64_t state = seed;
    for (size_t i = 0; i < argument->count; i++) {
        const double share = (double)(kf_random_next(&state) >> 11) * 0x1p-53;
        set_value(argument->type, argument->initial, i,
                  argument->type->real ? share * value : floor(share * (value + 1.0)));
    }
}

/* A file of exactly the argument's bytes, named by a key. */
static kf_status read_values(const kf_t1_problem *problem, kf_json_place place, const cJSON *json,
                             const char *key, const kf_t1_argument *argument, void *values, kf_error *error) {
    const char *name = NULL;
    char path[KF_PATH], *data = NULL;
    size_t size = 0, wanted = argument->count * argument->type->bytes;
    KF_TRY(kf_json_string(place, json, key, true, &name, error));
    const char *slash = strrchr(problem->file, '/');
    if (name[0] == '/' || slash == NULL)
        KF_TRY(kf_path(path, error, "%s", name));
    else
        KF_TRY(kf_path(path, error, "%.*s/%s", (int)(slash - problem->file), problem->file, name));
    KF_TRY(kf_file_read(path, wanted + 1, &data, &size, error));
    if (size == wanted) memcpy(values, data, wanted);
    free(data);
    if (size == wanted) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: has %zu bytes, %s of %s needs %zu", path, size, argument->name,
                   problem->file, wanted);
}

static kf_status fill(const kf_t1_problem *problem, kf_json_place place, const cJSON *json, int number,
                      kf_t1_argument *argument, kf_error *error) {
    static const char *const kinds[] = {"Constant", "Random", "BinaryRaw"};
    int kind = 0;
    double value = 0.0;
    long seed = number + 1;
    KF_TRY(kf_json_choice(place, json, "FillType", false, kinds, 3, &kind, error));
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(json, "FillValue");
    if (kind == 1) value = 1.0;
    if (given != NULL) KF_TRY(kf_t1_constant(problem, "FillValue", given, &value, error));
    if (!fits(argument->type, value))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.FillValue: %g is not a value of type %s", place.file,
                       place.path, value, argument->type->name);
    KF_TRY(kf_json_integer(place, json, "RandomSeed", false, 0, 1L << 53, &seed, error));
    argument->initial = kf_allocate_zeroed(argument->count, argument->type->bytes);
    argument->from_file = kind == 2;
    if (kind == 2) return read_values(problem, place, json, "DataSource", argument, argument->initial, error);
    if (kind == 1)
        fill_random(argument, value, (uint64_t)seed);
    else
        for (size_t i = 0; i < argument->count; i++)
            set_value(argument->type, argument->initial, i, value);
    return KF_OK;
}

/* What its author knows to be right; NULL where there is no such key. */
static kf_status read_answer(const kf_t1_problem *problem, kf_json_place place, const cJSON *json,
                             kf_t1_argument *argument, kf_error *error) {
    if (!cJSON_HasObjectItem(json, "ReferenceSource")) return KF_OK;
    if (!argument->output)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: %s.ReferenceSource: %s is no output, so nothing is compared with it; leave it out",
            place.file, place.path, argument->name);
    argument->answer = kf_allocate(argument->count * argument->type->bytes);
    return read_values(problem, place, json, "ReferenceSource", argument, argument->answer, error);
}

static kf_status read_count(const kf_t1_problem *problem, kf_json_place place, const cJSON *json,
                            kf_t1_argument *argument, kf_error *error) {
    static const double MOST_BYTES = 17179869184.0; /* 16 GiB */
    double count = 1.0;
    if (!argument->scalar)
        KF_TRY(
            kf_t1_constant(problem, "Size", cJSON_GetObjectItemCaseSensitive(json, "Size"), &count, error));
    if (count >= 1.0 && count == floor(count) && count * (double)argument->type->bytes <= MOST_BYTES) {
        argument->count = (size_t)count;
        return KF_OK;
    }
    return kf_fail(error, KF_BAD_INPUT, "%s: %s.Size: comes to %g values, must be 1 to 16 GiB of them",
                   place.file, place.path, count);
}

static kf_status read_argument(kf_t1_problem *problem, const cJSON *json, int number, kf_error *error) {
    static const char *const memories[] = {"Vector", "Scalar"};
    static const char *const accesses[] = {"ReadOnly", "WriteOnly", "ReadWrite"};
    const char *type_names[TYPES], *name = NULL, *kind = "";
    char path[64];
    (void)snprintf(path, sizeof path, "KernelSpecification.Arguments[%d]", number);
    const kf_json_place place = {problem->file, path};
    if (problem->argument_count == KF_T1_ARGUMENTS)
        return kf_fail(error, KF_BAD_INPUT, "%s: more than %d arguments", problem->file, KF_T1_ARGUMENTS);
    kf_t1_argument *argument = &problem->arguments[problem->argument_count++];
    int type = 0, memory = 0, access = 2;
    for (int i = 0; i < TYPES; i++)
        type_names[i] = types[i].name;
    KF_TRY(kf_json_string(place, json, "Name", true, &name, error));
    KF_TRY(kf_json_choice(place, json, "Type", true, type_names, TYPES, &type, error));
    KF_TRY(kf_json_choice(place, json, "MemoryType", true, memories, 2, &memory, error));
    KF_TRY(kf_json_choice(place, json, "AccessType", memory == 0, accesses, 3, &access, error));
    KF_TRY(kf_json_string(place, json, "MemType", false, &kind, error));
    kf_copy_text(argument->name, sizeof argument->name, name);
    argument->type = &types[type];
    argument->scalar = memory == 1;
    argument->constant = strcmp(kind, "Constant") == 0;
    argument->read = argument->scalar || access != 1;
    argument->written = !argument->scalar && access != 0;
    const cJSON *output = cJSON_GetObjectItemCaseSensitive(json, "Output");
    bool asked = cJSON_IsTrue(output) || (cJSON_IsNumber(output) && output->valuedouble != 0.0);
    argument->output = argument->written && (asked || output == NULL);
    argument->threshold = (double)NAN;
    KF_TRY(kf_json_number(place, json, "ValidationThreshold", false, 0.0, 1e9, &argument->threshold, error));
    KF_TRY(read_count(problem, place, json, argument, error));
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

/* --- comparing ------------------------------------------------------------------------------------------ */

/* Outputs are millions of floats mostly, and there is one comparison a config. */
static double value_at(const kf_t1_argument *argument, const void *values, size_t index) {
    float single;
    if (!argument->type->real || argument->type->bytes != sizeof single)
        return kf_t1_value(argument->type, values, index);
    memcpy(&single, (const char *)values + index * sizeof single, sizeof single);
    return (double)single;
}

double kf_t1_deviation(const kf_t1_argument *argument, const void *values, const void *reference,
                       size_t *worst) {
    double difference = 0.0, scale = 0.0, largest = -1.0;
    *worst = 0;
    for (size_t i = 0; i < argument->count; i++) {
        const double right = value_at(argument, reference, i), value = value_at(argument, values, i);
        double off = value - right;
        if (isnan(right) && isnan(off)) off = isnan(value) ? 0.0 : (double)INFINITY;
        if (!isnan(right) && isfinite(right)) scale += right * right;
        difference += off * off;
        if (!(fabs(off) <= largest)) { /* also true for NaN */
            largest = fabs(off);
            *worst = i;
        }
    }
    if (difference == 0.0) return 0.0;
    return sqrt(difference) / (scale > 0.0 ? sqrt(scale) : 1.0);
}
