/* Works out what arguments hold, and how results compare. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "base/util/random.h"
#include "solver/t1/t1.h"

/* --- Types ---------------------------------------------------------------------------------------------- */

static const kf_t1_type scalars[] = {
    {"float", 4, 1, 4, true, true},    {"double", 8, 1, 8, true, true},   {"half", 2, 1, 2, true, true},
    {"int8", 1, 1, 1, false, true},    {"int16", 2, 1, 2, false, true},   {"int32", 4, 1, 4, false, true},
    {"int64", 8, 1, 8, false, true},   {"uint8", 1, 1, 1, false, false},  {"uint16", 2, 1, 2, false, false},
    {"uint32", 4, 1, 4, false, false}, {"uint64", 8, 1, 8, false, false}, {"int", 4, 1, 4, false, true},
    {"uint", 4, 1, 4, false, false},   {"char", 1, 1, 1, false, true},    {"uchar", 1, 1, 1, false, false},
    {"short", 2, 1, 2, false, true},   {"ushort", 2, 1, 2, false, false}, {"long", 8, 1, 8, false, true},
    {"ulong", 8, 1, 8, false, false},  {"bool", 1, 1, 1, false, false},
};
enum { SCALARS = sizeof scalars / sizeof *scalars };

/* Finds a type such as "float4": a scalar's name and 2, 3, 4, 8 or 16. Vectors of three components have the
 * alignment of one component, others that of all up to 16 bytes, as in CUDA. */
bool kf_t1_find_type(const char *name, kf_t1_type *type) {
    enum { MOST_ALIGNMENT = 16 };
    static const int sizes[] = {1, 2, 3, 4, 8, 16};
    for (int i = 0; i < SCALARS; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            char whole[2 * sizeof type->name];
            const int n = sizes[k];
            (void)snprintf(whole, sizeof whole, n == 1 ? "%s" : "%s%d", scalars[i].name, n);
            if (strcmp(whole, name) != 0) continue;
            *type = scalars[i];
            kf_copy_text(type->name, sizeof type->name, whole);
            type->components = n;
            if (n != 3) type->alignment *= (size_t)n;
            if (type->alignment > MOST_ALIGNMENT) type->alignment = MOST_ALIGNMENT;
            return true;
        }
    return false;
}

/* Returns a component's value as a double, whatever its type. */
double kf_t1_value(const kf_t1_type *type, const void *values, size_t index) {
    const char *at = (const char *)values + index * type->bytes;
    if (type->real) {
        float single = 0.0F;
        double value = 0.0;
        _Float16 half;
        if (type->bytes == sizeof half) {
            memcpy(&half, at, sizeof half);
            return (double)half;
        }
        if (type->bytes == sizeof single) {
            memcpy(&single, at, sizeof single);
            return (double)single;
        }
        memcpy(&value, at, sizeof value);
        return value;
    }
    uint64_t bits = 0;
    /* Little-endian, as on all machines with CUDA. */
    memcpy(&bits, at, type->bytes);
    const unsigned width = 8 * (unsigned)type->bytes;
    if (!type->is_signed) return (double)bits;
    if (width < 64 && (bits >> (width - 1)) != 0) bits |= UINT64_MAX << width;
    return (double)(int64_t)bits;
}

/* Sets a component to a value, in its type. */
static void set_value(const kf_t1_type *type, void *values, size_t index, double value) {
    char *at = (char *)values + index * type->bytes;
    const float single = (float)value;
    const _Float16 half = (_Float16)value;
    if (!type->real && type->is_signed) {
        const int64_t whole = (int64_t)value;
        memcpy(at, &whole, type->bytes);
    } else if (!type->real) {
        const uint64_t whole = (uint64_t)value;
        memcpy(at, &whole, type->bytes);
    } else if (type->bytes == sizeof half) {
        memcpy(at, &half, sizeof half);
    } else if (type->bytes == sizeof single) {
        memcpy(at, &single, sizeof single);
    } else {
        memcpy(at, &value, sizeof value);
    }
}

bool kf_t1_fits(const kf_t1_type *type, double value) {
    static const double MOST_WHOLE = 9007199254740992.0; /* 2^53: beyond, a double skips whole numbers */
    static const double MOST_HALF = 65504.0;
    if (type->real)
        return fabs(value) <= (type->bytes == sizeof(_Float16) ? MOST_HALF
                               : type->bytes == sizeof(float)  ? (double)FLT_MAX
                                                               : DBL_MAX);
    const double range = strncmp(type->name, "bool", 4) == 0
                             ? 2.0
                             : ldexp(1.0, 8 * (int)type->bytes - (type->is_signed ? 1 : 0));
    return value == floor(value) && value >= (type->is_signed ? fmax(-range, -MOST_WHOLE) : 0.0) &&
           value <= fmin(range - 1.0, MOST_WHOLE);
}

/* --- Filling -------------------------------------------------------------------------------------------- */

/* Returns n when one of n values of a Random argument is not zero in the last round. Sums then have about one
 * term, so low precision is fully visible: the first such argument has almost none, and its factors have
 * half. */
static uint64_t one_in(const kf_t1_problem *problem, const kf_t1_argument *argument) {
    enum { LEAST = 16, MOST = 512, LEFT = 64, OTHERS = 2 };
    const size_t share = argument->count / LEFT;
    for (int i = 0; i < problem->argument_count; i++) {
        const kf_t1_argument *first = &problem->arguments[i];
        if (first->fill != KF_T1_RANDOM || !first->read || first->scalar || first->constant) continue;
        if (first != argument) return OTHERS;
        return share < LEAST ? LEAST : share > MOST ? MOST : share;
    }
    return OTHERS;
}

/* Fills an argument with values uniform from 0 to the file's value, the same for a seed on every machine. In
 * the last round only some of the values are not zero. */
static void fill_random(const kf_t1_problem *problem, const kf_t1_argument *argument, int round, size_t count,
                        void *values) {
    const uint64_t few = round < 2 ? 1 : one_in(problem, argument);
    uint64_t state = round == 0 ? argument->seed : kf_random_mix(argument->seed + 0x5eedU * (uint64_t)round);
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = kf_random_next(&state);
        const bool kept = few == 1 || word % few == 0;
        const double share = kept ? (double)(word >> 11) * 0x1p-53 : 0.0;
        set_value(&argument->type, values, i,
                  argument->type.real ? share * argument->fill_value
                                      : floor(share * (argument->fill_value + 1.0)));
    }
}

static bool look_up(void *context, const char *name, kf_scalar *value) {
    if (strcmp(name, "i") != 0) return false;
    *value = (kf_scalar){.kind = KF_SCALAR_INTEGER, .integer = (long long)*(const size_t *)context};
    return true;
}

/* Fills an argument by an expression. All components of a vector get the value of their position. */
static kf_status generate(const kf_t1_problem *problem, const kf_t1_argument *argument, size_t count,
                          void *values, kf_error *error) {
    const size_t components = (size_t)argument->type.components;
    for (size_t i = 0; i < count; i++) {
        kf_scalar scalar;
        size_t place = i / components;
        if (kf_expression_scalar(argument->generator, look_up, &place, &scalar, error) != KF_OK)
            return kf_fail_context(error, "%s: the DataSource of %s for i = %zu", problem->file,
                                   argument->name, place);
        const double value = scalar.kind == KF_SCALAR_FLOAT ? scalar.number : (double)scalar.integer;
        if (scalar.kind == KF_SCALAR_STRING || !kf_t1_fits(&argument->type, value))
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: the DataSource of %s gives %g for i = %zu, which is not a value of type %s",
                           problem->file, argument->name, value, place, argument->type.name);
        set_value(&argument->type, values, i, value);
    }
    return KF_OK;
}

kf_status kf_t1_fill(const kf_t1_problem *problem, const kf_t1_argument *argument, int round, size_t count,
                     void *values, kf_error *error) {
    switch (argument->fill) {
    case KF_T1_RANDOM:
        fill_random(problem, argument, round, count, values);
        return KF_OK;
    case KF_T1_GENERATOR:
        return generate(problem, argument, count, values, error);
    case KF_T1_FILE:
        memcpy(values, argument->initial, count * argument->type.bytes);
        return KF_OK;
    default:
        for (size_t i = 0; i < count; i++)
            set_value(&argument->type, values, i, argument->fill_value);
        return KF_OK;
    }
}

/* --- Comparing ------------------------------------------------------------------------------------------ */

/* Outputs are millions of floats mostly, and there is one comparison a config. */
static double value_at(const kf_t1_argument *argument, const void *values, size_t index) {
    float single;
    if (!argument->type.real || argument->type.bytes != sizeof single)
        return kf_t1_value(&argument->type, values, index);
    memcpy(&single, (const char *)values + index * sizeof single, sizeof single);
    return (double)single;
}

/* Sums over a part of the values. */
typedef struct kf_t1_sums {
    double difference, scale, largest;
    size_t worst;
} kf_t1_sums;

typedef struct comparison {
    const kf_t1_argument *argument;
    const void *values, *reference;
    kf_t1_sums *parts; /* [count / PART + 1] */
} comparison;

/* The number of values summed one after the other, in any thread. */
enum { PART = 1 << 16 };

/* Sums the differences of values begin to end - 1 to the reference; a NaN is right where the reference has
 * one. */
static kf_t1_sums compare_part(const comparison *c, size_t begin, size_t end) {
    kf_t1_sums sums = {.largest = -1.0};
    for (size_t i = begin; i < end; i++) {
        const double right = value_at(c->argument, c->reference, i),
                     value = value_at(c->argument, c->values, i);
        double off = value - right;
        if (isnan(right)) off = isnan(value) ? 0.0 : (double)INFINITY;
        if (isinf(right) && value == right) off = 0.0;
        if (isfinite(right)) sums.scale += right * right;
        sums.difference += off * off;
        /* The first NaN is kept. */
        if (!isnan(sums.largest) && !(fabs(off) <= sums.largest)) {
            sums.largest = fabs(off);
            sums.worst = i;
        }
    }
    return sums;
}

static void compare_parts(void *data, size_t begin, size_t end) {
    const comparison *c = data;
    for (size_t part = begin; part < end; part++) {
        const size_t last = (part + 1) * PART;
        c->parts[part] = compare_part(c, part * PART, last < c->argument->count ? last : c->argument->count);
    }
}

double kf_t1_deviation(const kf_t1_argument *argument, const void *values, const void *reference,
                       size_t *worst) {
    enum { LEAST = 4 };
    const size_t parts = (argument->count + PART - 1) / PART;
    comparison c = {argument, values, reference, kf_allocate_zeroed(parts + 1, sizeof *c.parts)};
    kf_in_parallel(parts, LEAST, compare_parts, &c);
    kf_t1_sums all = {.largest = -1.0};
    for (size_t i = 0; i < parts; i++) {
        all.difference += c.parts[i].difference;
        all.scale += c.parts[i].scale;
        if (c.parts[i].largest <= all.largest || isnan(all.largest)) continue;
        all.largest = c.parts[i].largest;
        all.worst = c.parts[i].worst;
    }
    free(c.parts);
    *worst = all.worst;
    if (all.difference == 0.0) return 0.0;
    return sqrt(all.difference) / (all.scale > 0.0 ? sqrt(all.scale) : 1.0);
}
