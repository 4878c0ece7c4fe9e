/* Works out what arguments hold, and how results compare. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
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
    const double whole = (double)KF_JSON_WHOLE;
    static const double MOST_HALF = 65504.0;
    if (type->real)
        return fabs(value) <= (type->bytes == sizeof(_Float16) ? MOST_HALF
                               : type->bytes == sizeof(float)  ? (double)FLT_MAX
                                                               : DBL_MAX);
    const double range = strncmp(type->name, "bool", 4) == 0
                             ? 2.0
                             : ldexp(1.0, 8 * (int)type->bytes - (type->is_signed ? 1 : 0));
    return value == floor(value) && value >= (type->is_signed ? fmax(-range, -whole) : 0.0) &&
           value <= fmin(range - 1.0, whole);
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

/* Returns how far a value is from the right one. Whole numbers of 64 bits are subtracted as such, because a
 * double lacks their last bits. */
static double difference_at(const kf_t1_argument *argument, const void *values, const void *reference,
                            size_t index, double value, double right) {
    uint64_t bits[2];
    if (argument->type.real || argument->type.bytes < sizeof bits[0]) {
        if (isnan(right)) return isnan(value) ? 0.0 : (double)INFINITY;
        return isinf(right) && value == right ? 0.0 : value - right;
    }
    memcpy(&bits[0], (const char *)values + index * sizeof bits[0], sizeof bits[0]);
    memcpy(&bits[1], (const char *)reference + index * sizeof bits[0], sizeof bits[0]);
    return value > right || (value == right && bits[0] > bits[1]) ? (double)(bits[0] - bits[1])
                                                                  : -(double)(bits[1] - bits[0]);
}

/* Sums over a part of the values. */
typedef struct kf_t1_sums {
    double difference, scale; /* sums of squares, each of what was multiplied by its unit */
    double largest, size;     /* the largest difference, and the largest finite right value */
    double single;            /* the largest difference of one value, of itself or of all */
    size_t worst, finite;     /* where it is; the number of finite right values */
} kf_t1_sums;

typedef struct comparison {
    const kf_t1_argument *argument;
    const void *values, *reference;
    double units[2];   /* by which differences and right values are multiplied before they are squared */
    double usual;      /* root mean square of the right values; 0: not known yet */
    kf_t1_sums *parts; /* [count / PART + 1] */
} comparison;

/* The number of values summed one after the other, in any thread. */
enum { PART = 1 << 16 };

/* Sums the differences of values begin to end - 1 to the reference; a NaN is right where the reference has
 * one. */
static kf_t1_sums compare_part(const comparison *c, size_t begin, size_t end) {
    kf_t1_sums sums = {.largest = -1.0, .single = -1.0};
    for (size_t i = begin; i < end; i++) {
        const double right = value_at(c->argument, c->reference, i),
                     value = value_at(c->argument, c->values, i),
                     off = difference_at(c->argument, c->values, c->reference, i, value, right),
                     scaled = off * c->units[0];
        sums.difference += scaled * scaled;
        if (isfinite(right)) {
            const double of_unit = right * c->units[1];
            sums.scale += of_unit * of_unit;
            sums.size = fmax(sums.size, fabs(right));
            sums.finite++;
        }
        /* The first NaN is kept. */
        if (c->usual == 0.0 && !isnan(sums.largest) && !(fabs(off) <= sums.largest)) {
            sums.largest = fabs(off);
            sums.worst = i;
        } else if (c->usual > 0.0 && off != 0.0) {
            const double single = fabs(off) / (isfinite(right) ? fmax(fabs(right), c->usual) : c->usual);
            if (!(single > sums.single)) continue;
            sums.single = single;
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

/* Adds up the parts, in their order. */
static kf_t1_sums compare(comparison *c) {
    enum { LEAST = 4 };
    const size_t parts = (c->argument->count + PART - 1) / PART;
    kf_t1_sums all = {.largest = -1.0, .single = -1.0};
    kf_in_parallel(parts, LEAST, compare_parts, c);
    for (size_t i = 0; i < parts; i++) {
        const kf_t1_sums *part = &c->parts[i];
        all.difference += part->difference;
        all.scale += part->scale;
        all.size = fmax(all.size, part->size);
        all.finite += part->finite;
        if (c->usual > 0.0 ? part->single <= all.single : part->largest <= all.largest || isnan(all.largest))
            continue;
        all.largest = part->largest;
        all.single = part->single;
        all.worst = part->worst;
    }
    return all;
}

/* Returns a power of two that brings a number near 1, so that squares neither vanish nor overflow; 1 for
 * usual numbers, which need none. */
static double unit_of(double number) {
    static const double LEAST = 1e-140, MOST = 1e140;
    enum { SMALLEST = -1000 }; /* the inverse of what is smaller overflows */
    int exponent = 0;
    if (!(number > 0.0) || isinf(number) || (number > LEAST && number < MOST)) return 1.0;
    (void)frexp(number, &exponent);
    return ldexp(1.0, exponent < SMALLEST ? -SMALLEST : -exponent);
}

double kf_t1_deviation(const kf_t1_argument *argument, const void *values, const void *reference,
                       size_t *worst) {
    /* How far one value may be off where all are off by 1: errors that average out reach 6 among a billion.
     */
    static const double ALONE = 100.0;
    const size_t parts = (argument->count + PART - 1) / PART;
    comparison c = {argument,   values, reference,
                    {1.0, 1.0}, 0.0,    kf_allocate_zeroed(parts + 1, sizeof *c.parts)};
    kf_t1_sums all = compare(&c), alone;
    c.units[0] = unit_of(all.largest);
    c.units[1] = unit_of(all.size);
    if (c.units[0] != 1.0 || c.units[1] != 1.0) all = compare(&c);
    *worst = all.worst;
    double off = sqrt(all.difference);
    if (off > 0.0) off *= (all.scale > 0.0 ? c.units[1] / sqrt(all.scale) : 1.0) / c.units[0];
    if (off > 0.0 && all.scale > 0.0) {
        c.usual = sqrt(all.scale / (double)all.finite) / c.units[1];
        /* No value alone is off by more than the largest difference makes of all. */
        if (isfinite(off) && all.largest / c.usual > ALONE * off) {
            alone = compare(&c);
            if (alone.single > ALONE * off) {
                off = alone.single / ALONE;
                *worst = alone.worst;
            }
        }
    }
    free(c.parts);
    return off;
}

/* Writes a value, a whole number with all of its digits. */
static void write_value(const kf_t1_type *type, const void *values, size_t index, int digits, char text[32]) {
    const double value = kf_t1_value(type, values, index);
    uint64_t bits = 0;
    if (type->real) {
        (void)snprintf(text, 32, "%.*g", digits, isnan(value) ? fabs(value) : value);
    } else if (type->bytes < sizeof bits) {
        (void)snprintf(text, 32, "%.0f", value);
    } else {
        memcpy(&bits, (const char *)values + index * sizeof bits, sizeof bits);
        (void)snprintf(text, 32, type->is_signed ? "%" PRId64 : "%" PRIu64, bits);
    }
}

void kf_t1_tell_difference(const kf_t1_argument *argument, const void *values, const void *right,
                           size_t index, char *text, size_t size) {
    char value[32], other[32];
    static const int digits[] = {6, 9, 17};
    for (int i = 0; i < 3; i++) {
        write_value(&argument->type, values, index, digits[i], value);
        write_value(&argument->type, right, index, digits[i], other);
        if (strcmp(value, other) != 0) break;
    }
    (void)snprintf(text, size, "%.24s[%zu] is %s, not %s", argument->name, index, value, other);
}
