#include "harness/search/features.h"

#include <math.h>
#include <stdlib.h>

#include "base/space/space_parts.h"
#include "base/util/memory.h"

/* The features of a single parameter: a row of `width` values for each position. */
typedef struct kf_parameter_features {
    int parameter, width;
    float *values;
} kf_parameter_features;

typedef struct kf_pair_feature {
    float sign;                /* 1: a product; -1: a quotient */
    const float *left, *right; /* logarithms by position */
    int left_parameter, right_parameter;
    float low, scale;
} kf_pair_feature;

struct kf_features {
    kf_parameter_features columns[2 * KF_CONFIG_VALUES];
    int column_count;
    float *logarithms[KF_CONFIG_VALUES]; /* of each numeric parameter; otherwise NULL */
    kf_pair_feature pairs[KF_FEATURES];
    int pair_count, count;
    int coarse, coarse_columns,
        coarse_pairs; /* numbers of coarse ones among all features, columns and pairs */
};

/* --- One parameter -------------------------------------------------------------------------------------- */

static bool is_number(const kf_parameter *parameter) {
    if (parameter->kind != KF_VALUE_INTEGER || parameter->value_count < 3) return false;
    for (int i = 0; i < parameter->value_count; i++)
        if (parameter->values[i].integer < 0) return false;
    return true;
}

/* Returns the logarithm. Zero counts as one half. */
static float logarithm(long long value) {
    return value > 0 ? (float)log2((double)value) : -1.0F;
}

static float twos(long long value) {
    return value > 0 ? (float)__builtin_ctzll((unsigned long long)value) : 0.0F;
}

static void scale_column(kf_parameter_features *columns, int column, int rows) {
    float low = columns->values[column], high = low;
    for (int i = 0; i < rows; i++) {
        low = fminf(low, columns->values[i * columns->width + column]);
        high = fmaxf(high, columns->values[i * columns->width + column]);
    }
    for (int i = 0; i < rows; i++) {
        float *value = &columns->values[i * columns->width + column];
        *value = high > low ? (*value - low) / (high - low) : 0.0F;
    }
}

/* Returns whether the powers of two contain more information than the logarithm. */
static bool has_odd_factors(const kf_parameter *parameter) {
    bool odd = false, two = false;
    for (int i = 0; i < parameter->value_count; i++) {
        long long value = parameter->values[i].integer;
        if (value <= 0) continue;
        odd = odd || (value & (value - 1)) != 0;
        two = two || value % 2 == 0;
    }
    return odd && two;
}

static void number_columns(const kf_parameter *parameter, float *logarithms, kf_parameter_features *columns) {
    columns->width = has_odd_factors(parameter) ? 2 : 1;
    columns->values = kf_allocate((size_t)parameter->value_count * (size_t)columns->width * sizeof(float));
    for (int i = 0; i < parameter->value_count; i++) {
        long long value = parameter->values[i].integer;
        logarithms[i] = logarithm(value);
        columns->values[i * columns->width] = logarithms[i];
        if (columns->width == 2) columns->values[i * 2 + 1] = twos(value);
    }
    for (int column = 0; column < columns->width; column++)
        scale_column(columns, column, parameter->value_count);
}

/* Makes the columns of names. Two values are 0 and 1; more are the corners of a simplex with edges of
 * length 1. */
static void name_columns(const kf_parameter *parameter, kf_parameter_features *columns) {
    columns->width = parameter->value_count == 2 ? 1 : parameter->value_count;
    columns->values =
        kf_allocate_zeroed((size_t)parameter->value_count * (size_t)columns->width, sizeof(float));
    for (int i = 0; i < parameter->value_count; i++)
        columns->values[i * columns->width + (columns->width > 1 ? i : 0)] =
            columns->width > 1 ? sqrtf(0.5F) : (float)i;
}

static void add_columns(kf_features *features, const kf_parameter_features *columns) {
    if (features->count + columns->width > KF_FEATURES) {
        free(columns->values);
        return;
    }
    features->columns[features->column_count++] = *columns;
    features->count += columns->width;
}

static bool has_zero(const kf_parameter *parameter) {
    for (int i = 0; i < parameter->value_count; i++)
        if (parameter->values[i].integer == 0) return true;
    return false;
}

static void add_codes(kf_features *features, const kf_space *space) {
    for (int p = 0; p < space->parameter_count; p++) {
        if (features->logarithms[p] == NULL || !has_zero(&space->parameters[p])) continue;
        kf_parameter_features columns = {.parameter = p};
        name_columns(&space->parameters[p], &columns);
        add_columns(features, &columns);
    }
}

/* --- Pairs ---------------------------------------------------------------------------------------------- */

static void extent(const float *values, int count, float *low, float *high) {
    *low = *high = values[0];
    for (int i = 1; i < count; i++) {
        *low = fminf(*low, values[i]);
        *high = fmaxf(*high, values[i]);
    }
}

static void add_pair(kf_features *features, const kf_space *space, int p, int q, float sign) {
    float low[2], high[2];
    extent(features->logarithms[p], space->parameters[p].value_count, &low[0], &high[0]);
    extent(features->logarithms[q], space->parameters[q].value_count, &low[1], &high[1]);
    float range = high[0] - low[0] + high[1] - low[1];
    features->pairs[features->pair_count++] =
        (kf_pair_feature){.sign = sign,
                          .left = features->logarithms[p],
                          .right = features->logarithms[q],
                          .left_parameter = p,
                          .right_parameter = q,
                          .low = low[0] + (sign > 0 ? low[1] : -high[1]),
                          .scale = range > 0 ? 1 / range : 0};
    features->count++;
}

static void add_pairs(kf_features *features, const kf_space *space, float sign) {
    for (int p = 0; p < space->parameter_count; p++)
        for (int q = p + 1; q < space->parameter_count; q++)
            if (features->logarithms[p] != NULL && features->logarithms[q] != NULL &&
                features->count < KF_FEATURES)
                add_pair(features, space, p, q, sign);
}

/* --- Public --------------------------------------------------------------------------------------------- */

/* Opens the features of a space: first the coarse columns and their products, then the fine ones. */
kf_features *kf_features_open(const kf_space *space) {
    kf_features *features = kf_allocate_zeroed(1, sizeof *features);
    for (int p = 0; p < space->parameter_count; p++) {
        const kf_parameter *parameter = &space->parameters[p];
        kf_parameter_features columns = {.parameter = p};
        if (kf_parameter_choices(parameter) < 2) continue;
        if (is_number(parameter)) {
            features->logarithms[p] = kf_allocate((size_t)parameter->value_count * sizeof(float));
            number_columns(parameter, features->logarithms[p], &columns);
        } else {
            name_columns(parameter, &columns);
        }
        add_columns(features, &columns);
    }
    add_pairs(features, space, 1);
    features->coarse = features->count;
    features->coarse_columns = features->column_count;
    features->coarse_pairs = features->pair_count;
    add_codes(features, space);
    add_pairs(features, space, -1);
    return features;
}

void kf_features_close(kf_features *features) {
    if (features == NULL) return;
    for (int i = 0; i < features->column_count; i++)
        free(features->columns[i].values);
    for (int p = 0; p < KF_CONFIG_VALUES; p++)
        free(features->logarithms[p]);
    free(features);
}

int kf_features_coarse_count(const kf_features *features) {
    return features->coarse;
}

int kf_features_count(const kf_features *features) {
    return features->count;
}

bool kf_features_is_size(const kf_features *features, int parameter) {
    return features->logarithms[parameter] != NULL;
}

static float *columns_of(const kf_features *features, int first, int end, const int *positions,
                         float *values) {
    for (int i = first; i < end; i++) {
        const kf_parameter_features *columns = &features->columns[i];
        const float *row = columns->values + positions[columns->parameter] * columns->width;
        for (int column = 0; column < columns->width; column++)
            *values++ = row[column];
    }
    return values;
}

static float *pairs_of(const kf_features *features, int first, int end, const int *positions, float *values) {
    for (int i = first; i < end; i++) {
        const kf_pair_feature *pair = &features->pairs[i];
        float sum = pair->left[positions[pair->left_parameter]] +
                    pair->sign * pair->right[positions[pair->right_parameter]];
        *values++ = (sum - pair->low) * pair->scale;
    }
    return values;
}

void kf_features_of(const kf_features *features, const int positions[KF_CONFIG_VALUES], float *values) {
    values = columns_of(features, 0, features->coarse_columns, positions, values);
    values = pairs_of(features, 0, features->coarse_pairs, positions, values);
    values = columns_of(features, features->coarse_columns, features->column_count, positions, values);
    (void)pairs_of(features, features->coarse_pairs, features->pair_count, positions, values);
}
