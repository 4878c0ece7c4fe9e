/* Expressions over named numbers, for domains and constraints. The language is a strict subset of Python,
 * that of T1 files: integers, floats, strings in quotes, True/False; + - * / // % ** with Python's meaning
 * (also for negative numbers); comparisons, also chained; and/or/not; in, not in; list literals, lists joined
 * by +, list(), range(), list comprehensions with one variable and `if`; min, max, abs, floor, ceil, log2
 * (floor of the binary logarithm). Lists contain single values only. Everything else is refused with its
 * column (in characters, from 1). Integers have 64 bits; overflow is an error. Length, nesting, list sizes
 * and work are bounded, so that any text is safe. */
#ifndef KF_BASE_EXPRESSION_EXPRESSION_H
#define KF_BASE_EXPRESSION_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/util/status.h"

typedef struct kf_expression kf_expression;

typedef enum kf_scalar_kind {
    KF_SCALAR_INTEGER,
    KF_SCALAR_FLOAT,
    KF_SCALAR_STRING,
    KF_SCALAR_BOOLEAN
} kf_scalar_kind;
typedef struct kf_scalar {
    kf_scalar_kind kind;
    long long integer; /* integer and boolean */
    double number;     /* float */
    const char *text;  /* string; not owned */
} kf_scalar;

/* Looks a name up; false when it is unknown. */
typedef bool (*kf_name_lookup)(void *context, const char *name, kf_scalar *value);

/* Errors are KF_BAD_INPUT: "column 12: unknown name 'alpa' (did you mean 'alpha'?)". */
kf_status kf_expression_parse(const char *text, kf_expression **expression, kf_error *error);
kf_status kf_expression_scalar(const kf_expression *expression, kf_name_lookup lookup, void *context,
                               kf_scalar *value, kf_error *error);
kf_status kf_expression_truth(const kf_expression *expression, kf_name_lookup lookup, void *context,
                              bool *truth, kf_error *error);
/* Evaluates an expression whose value is a list. The caller frees *values; its strings live as long as the
 * expression. More than `limit` entries are an error. */
kf_status kf_expression_list(const kf_expression *expression, kf_name_lookup lookup, void *context,
                             size_t limit, kf_scalar **values, size_t *count, kf_error *error);
/* Calls visit once for every free name. */
void kf_expression_names(const kf_expression *expression, void (*visit)(void *context, const char *name),
                         void *context);
/* KF_BAD_INPUT if a free name is not among names. The message has its column and the nearest right name. */
kf_status kf_expression_check_names(const kf_expression *expression, const char *const *names, int count,
                                    kf_error *error);
void kf_expression_free(kf_expression *expression);

#endif
